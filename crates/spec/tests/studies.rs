//! The studies that come with the program are read without a word of complaint.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

use terms::layer::{Integrity, IntegrityMode, Luks, LuksIntegrity, Zfs, ZfsCache, ZfsLayout};
use terms::{Bytes, Design, Layer, Nanos};

fn study(name: &str) -> Design {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let (design, notes) = spec::parse(&text);
    assert_eq!(notes, [], "{}", spec::render(name, &text, &notes, false));
    design.unwrap()
}

/// Layers of a stack from the drives upwards, with how many nodes each has.
fn titles(design: &Design, index: usize) -> Vec<String> {
    design.stacks[index].nodes.iter().map(|node| format!("{}: {}", node.name, node.layer.title())).collect()
}

#[test]
fn every_study_is_clean() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".toml") {
            study(&name);
            seen += 1;
        }
    }
    assert!(seen >= 2);
}

#[test]
fn quickstart_is_small() {
    let design = study("quickstart.toml");
    assert_eq!(design.stacks.len(), 5);
    assert_eq!(design.workloads.len(), 4);
    assert_eq!(design.measure.rounds, 2);
    // Its windows alone stay under ten seconds of the machine that the guest stands for, each of which takes many of ours.
    let cells = u64::from(design.measure.rounds) * (design.stacks.len() * design.workloads.len()) as u64;
    let loaded = cells * (design.measure.settle.0 + design.measure.window.0);
    assert!(loaded <= Nanos::seconds(10).0, "{}", Nanos(loaded));
    assert!(design.measure.span <= Bytes::mib(128));
    assert_eq!(titles(&design, 3), ["raid: RAID-1", "luks: LUKS2", "ext4: ext4"]);
}

#[test]
fn long_term_storage_has_the_nineteen_configurations() {
    let design = study("long-term-storage.toml");
    let names: Vec<&str> = design.stacks.iter().map(|stack| stack.name.as_str()).collect();
    assert_eq!(names.len(), 20, "and what a search finds with the needs of the last three");
    for (i, name) in names.iter().enumerate() {
        assert!(name.starts_with(&format!("#{} ", i + 1)), "{name}");
    }
    assert_eq!(
        titles(&design, 12),
        [
            "luks-a: LUKS2",
            "luks-b: LUKS2",
            "integrity-luks-a: dm-integrity",
            "integrity-luks-b: dm-integrity",
            "raid: RAID-1",
            "lvm: LVM",
            "ext4: ext4"
        ]
    );
    assert_eq!(titles(&design, 15), ["luks-a: LUKS2", "luks-b: LUKS2", "btrfs: btrfs (raid1)"]);
    assert_eq!(titles(&design, 6), ["integrity: dm-integrity", "luks: LUKS2", "ext4: ext4"]);
}

#[test]
fn long_term_storage_has_the_published_settings() {
    let design = study("long-term-storage.toml");
    for stack in &design.stacks[..19] {
        for node in &stack.nodes {
            match &node.layer {
                Layer::Integrity(Integrity { mode, sector, commit, bitmap_flush, .. }) => {
                    assert_eq!(*sector, Bytes::kib(4), "{}", stack.name);
                    match mode {
                        IntegrityMode::Journal => assert_eq!(*commit, Nanos::seconds(5), "{}", stack.name),
                        IntegrityMode::Bitmap => assert_eq!(*bitmap_flush, Nanos::seconds(5), "{}", stack.name),
                        IntegrityMode::NoJournal => {}
                    }
                }
                Layer::Luks(Luks { flags, integrity, .. }) => {
                    assert!(flags.same_cpu_crypt && flags.submit_from_crypt_cpus, "{}", stack.name);
                    assert!(flags.no_read_workqueue && flags.no_write_workqueue, "{}", stack.name);
                    let authenticated = stack.name.starts_with("#6 ").then_some(LuksIntegrity::HmacSha256);
                    assert_eq!(*integrity, authenticated, "{}", stack.name);
                }
                Layer::Btrfs(btrfs) => assert_eq!(btrfs.commit, Nanos::seconds(5), "{}", stack.name),
                Layer::Zfs(Zfs { primarycache, layout, .. }) => {
                    assert_eq!(*primarycache, ZfsCache::Metadata, "{}", stack.name);
                    let mirrored = !stack.name.starts_with("#17 ");
                    assert_eq!(*layout == ZfsLayout::Mirror, mirrored, "{}", stack.name);
                }
                _ => {}
            }
        }
    }
}
