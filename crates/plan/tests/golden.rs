//! Plans and scripts of well-known stacks, word for word: a change of any command shows up in review.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use plan::DriveSize;
use terms::{Design, Plan};

const STUDY: &str = r#"
question = "Which words does each layer become?"
[lab]
drives = [
    { name = "a", size = "1 GiB", lba = "4 KiB" }, { name = "b", size = "1 GiB", lba = "4 KiB" },
    { name = "c", size = "1 GiB", lba = "4 KiB" }, { name = "d", size = "1 GiB", lba = "4 KiB" },
]
[measure]
span = "32 MiB"
[[stack]]
name = "RAID-1 + LUKS"
layers = [ { raid = { level = 1 }, on = ["a", "b"] }, { luks = {} }, { ext4 = {} } ]
[[stack]]
name = "everything at once"
layers = [
    { luks = { pbkdf = "pbkdf2", no_read_workqueue = true, no_write_workqueue = true }, on = ["a", "b"] },
    { integrity = { sector = "4 KiB", commit = "5 s" } }, { raid = { level = 1 } }, { lvm = {} }, { ext4 = {} },
]
[[stack]]
name = "btrfs raid1 on LUKS"
layers = [ { luks = {}, on = ["a", "b"] }, { btrfs = { data = "raid1", metadata = "raid1", commit = "5 s" } } ]
[[stack]]
name = "ZFS mirror with special vdev"
layers = [ { zfs = { layout = "mirror", special = ["c", "d"], ashift = 12 }, on = ["a", "b"] } ]
[[stack]]
name = "LVM thin with snapshot"
layers = [ { lvm = { thin_chunk = "64 KiB", snapshot = true }, on = ["a", "b"] }, { xfs = {} } ]
[[stack]]
name = "RAID-5 proven clean"
layers = [ { raid = { level = 5, assume_clean = true, chunk = "64 KiB" }, on = ["a", "b", "c"] }, { ext4 = {} } ]
[[stack]]
name = "TrueCrypt on a lost mirror"
layers = [ { raid = { level = 1, state = "degraded" }, on = ["a", "b"] }, { crypt = { format = "truecrypt" } }, { ext4 = {} } ]
[[stack]]
name = "cached"
layers = [ { lvm = { cache = ["c"], cache_mode = "writeback" }, on = ["a", "b"] }, { xfs = {} } ]
[[stack]]
name = "bcache"
layers = [ { bcache = { cache = "c", mode = "writeback", sequential_cutoff = "0" }, on = "a" }, { ext4 = {} } ]
[[stack]]
name = "writecache"
layers = [ { writecache = { cache = "c", writeback_jobs = 64 }, on = "a" }, { ext4 = {} } ]
"#;

fn design(text: &str) -> Design {
    let (design, notes) = spec::parse(text);
    design.unwrap_or_else(|| panic!("{}", spec::render("study", text, &notes, false)))
}

fn plans(design: &Design) -> Vec<Plan> {
    let facts = DriveSize::of_lab(&design.lab);
    design.stacks.iter().map(|stack| plan::plan(stack, &facts).unwrap()).collect()
}

#[test]
fn plans_read_as_reviewed() {
    for plan in plans(&design(STUDY)) {
        insta::assert_snapshot!(format!("plan-{}", plan.slug), plan::render(&plan));
        insta::assert_snapshot!(format!("script-{}", plan.slug), plan::script(&plan));
    }
}

#[test]
fn a_difference_names_the_step() {
    let other = STUDY.replace(
        "chunk = \"64 KiB\" }, on = [\"a\", \"b\", \"c\"]",
        "chunk = \"128 KiB\" }, on = [\"a\", \"b\", \"c\"]",
    );
    let (old, new) = (plans(&design(STUDY)), plans(&design(&other)));
    assert_eq!(plan::diff(&old[0], &new[0]), "");
    assert_ne!(plan::digest(&old[5]), plan::digest(&new[5]));
    insta::assert_snapshot!(plan::diff(&old[5], &new[5]));
}

#[test]
fn every_study_of_the_project_can_be_planned() {
    let mut count = 0;
    // The second has each layer and variant that a guest builds.
    for directory in ["../../studies", "../bedplate/tests/studies"] {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        for entry in std::fs::read_dir(directory).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for plan in plans(&design(&text)) {
                assert_eq!(plan::lint(&plan), [], "{}", plan.stack);
                count += 1;
            }
        }
    }
    assert!(count >= 100, "{count}");
}
