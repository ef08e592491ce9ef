//! What looks like a fault and is none, beside the fault that it looks like.

use terms::Bytes;
use terms::diagnosis::Severity;
use terms::inventory::*;

use super::clean::Known;
use super::plant::*;
use super::rows::{found, has, one};
use crate::diagnose;

/// What a table calls the first partition of a drive, where that begins, and how large it is.
fn first(m: &mut Inventory, kind: Option<&str>, start: u64, sectors: u64) {
    let node = node(m, "nvme2n1p1");
    node.size = Bytes(sectors * 512);
    node.signatures = Known(Vec::new());
    let partition = node.partition.as_mut().unwrap();
    (partition.kind, partition.start) = (kind.map(ToOwned::to_owned), Bytes(start * 512));
}

#[test]
fn a_partition_in_which_nobody_keeps_files_may_begin_anywhere() {
    const BIOS: &str = "21686148-6449-6e6f-744e-656564454649";
    const WINDOWS: &str = "e3c9e316-0b5c-4db8-817d-f92df00215ae";
    const LINUX: &str = "0fc63daf-8483-4772-8e79-3d69d8477de4";
    for (kind, start, sectors, is_fault) in [
        (Some(BIOS), 34, 2014, false),
        (Some(WINDOWS), 34, 32_734, false),
        (Some("0x5"), 501_758, 2, false),
        (Some("0xf"), 501_758, 0, false),
        // Without the kind it is known by its size or its place.
        (None, 501_758, 2, false),
        (None, 34, 2014, false),
        (None, 34, 0, true),
        (Some(LINUX), 34, 32_734, true),
        (Some("0x83"), 63, 976_000, true),
        (None, 63, 976_000, true),
    ] {
        let found = found("partition-alignment", |m| first(m, kind, start, sectors));
        assert_eq!(found.len(), usize::from(is_fault), "{kind:?} {start} {sectors}: {found:?}");
    }
}

#[test]
fn what_a_partition_behind_the_table_is_for_is_not_guessed() {
    let mut inventory = super::clean();
    first(&mut inventory, None, 34, 32_734);
    detail(&mut inventory).nodes.iter_mut().for_each(|node| node.on.retain(|under| under != "nvme2n1p1"));
    let said = diagnose(&inventory);
    let own = |check: &str| check == "partition-alignment";
    assert!(said.findings.iter().all(|found| !own(&found.check)), "{:?}", said.findings);
    assert!(said.unknown.iter().any(|unknown| own(&unknown.check) && unknown.reason.contains("PARTTYPENAME")));
}

#[test]
fn the_longest_request_is_no_stripe() {
    let at = |optimal: u64| {
        move |m: &mut Inventory| {
            node(m, "nvme2n1").queue.optimal_io = Known(Bytes(optimal));
            node(m, "nvme2n1p2").partition.as_mut().unwrap().start = Bytes::gib(600);
        }
    };
    for blocks in [4095, 8191, 65535] {
        assert_eq!(found("partition-alignment", at(blocks * 4096)), [], "{blocks}");
    }
    // Three and seven data drives have stripes of as many chunks.
    for stripe in [3 * 4096, 7 * 4096, 3 << 18] {
        assert!(!found("partition-alignment", at(stripe)).is_empty(), "{stripe}");
    }
}

#[test]
fn whole_blocks_of_the_largest_may_go_to_blocks_of_two_sizes() {
    const CHECK: &str = "logical-blocks-mixed";
    let small = |m: &mut Inventory| node(m, "nvme9n1p2").queue.logical_block = Known(Bytes(512));
    assert_eq!(found(CHECK, small), []);
    let below = found(CHECK, |m| {
        small(m);
        (0..3).for_each(|at| vdev(m, at).ashift = Known(9));
    });
    assert!(!below.is_empty());
    let small = |m: &mut Inventory| {
        let name = system(m, "/pics").nodes[0].clone();
        node(m, &name).queue.logical_block = Known(Bytes(512));
    };
    assert_eq!(found(CHECK, small), []);
}

#[test]
fn spare_capacity_of_which_nothing_is_used_is_enough() {
    assert_eq!(found("drive-spare", |m| (health(m).spare, health(m).spare_threshold) = (Some(100), Some(99))), []);
    one("drive-spare", |m| (health(m).spare, health(m).spare_threshold) = (Some(99), Some(99)));
}

#[test]
fn an_attribute_fails_by_what_it_tells() {
    use terms::diagnosis::Severity::{Error, Warning};
    let plant = |id: u32, pre_failure: Option<bool>| {
        move |m: &mut Inventory| {
            let name = "SSD_Life_Left".to_owned();
            smart(m).attributes.push(Attribute { id, name, raw: 1, failing: true, pre_failure });
        }
    };
    for (pre_failure, severity) in [(Some(true), Error), (None, Error), (Some(false), Warning)] {
        let said = one("drive-critical-warning", plant(231, pre_failure));
        assert_eq!(said.severity, severity, "{said:?}");
        assert!(said.what.contains("SSD_Life_Left is below its threshold"), "{said:?}");
    }
    assert_eq!(found("drive-critical-warning", plant(190, Some(false))), []);
}

#[test]
fn what_is_only_read_may_be_full() {
    let plant = |change: fn(&mut Mount)| {
        move |m: &mut Inventory| {
            let target = known(&mut detail(m).usage)[0].target.clone();
            (known(&mut detail(m).usage)[0].used, known(&mut detail(m).usage)[0].left) = (100, "0".into());
            change(mount(m, &target));
        }
    };
    one("file-system-space", plant(|_| {}));
    assert_eq!(found("file-system-space", plant(|mount| mount.kind = "squashfs".into())), []);
    let read_only = found("file-system-space", plant(|mount| mount.options.push("ro".into())));
    assert_eq!(read_only, []);
}

#[test]
fn what_zfs_takes_by_itself_it_gives_back() {
    let plant = |limit: &'static str| {
        move |m: &mut Inventory| {
            if let Known(Some(arc)) = &mut detail(m).linux.arc {
                arc.max = Bytes::gib(63);
            }
            parameter(m, "zfs.zfs_arc_max", limit);
        }
    };
    assert_eq!(found("zfs-cache-limit", plant("0")), []);
    one("zfs-cache-limit", plant("67645734912"));
}

#[test]
fn a_cache_loses_nothing_that_is_written_through_or_lies_on_a_mirror() {
    let plant = |m: &mut Inventory, mode: &str, fast: &str| {
        let (fast, origin) = (node(m, fast).number.clone(), node(m, "md0").number.clone());
        let target = &mut known(&mut dm(m, "dm-3").targets)[0];
        (target.kind, target.meaning) = ("cache".into(), Meaning::Other);
        target.parameters = format!("{fast} {fast} {origin} 128 1 {mode} smq 0");
        target.status = Known("8 1/9 128 5/9 1 1 1 1 1 1 100 1 x 0 smq 0 rw -".into());
    };
    assert_eq!(found("cache-state", |m| plant(m, "writethrough", "nvme10n1")), []);
    assert_eq!(found("cache-state", |m| plant(m, "writeback", "dm-5")), []);
    assert_eq!(one("cache-state", |m| plant(m, "writeback", "nvme10n1")).severity, Severity::Warning);
    let said = one("cache-state", |m| {
        plant(m, "writeback", "nvme10n1");
        let target = &mut known(&mut dm(m, "dm-3").targets)[0];
        target.status = Known("8 1/9 128 5/9 1 1 1 1 1 1 0 1 x 0 smq 0 rw -".into());
    });
    assert_eq!(said.severity, Severity::Information);
    has(&said, &["0 B are only in the cache now"]);
}

#[test]
fn metadata_that_can_grow_is_not_full() {
    let plant = |left: Bytes| {
        move |m: &mut Inventory| {
            btrfs(m).used = Known([("metadata".to_owned(), [995, 1_000])].into());
            btrfs(m).unallocated = Known(Bytes(left.0 * 2));
            btrfs(m).devices.iter_mut().for_each(|device| device.unallocated = Some(left));
        }
    };
    assert_eq!(found("btrfs-metadata-space", plant(Bytes::gib(1))), []);
    one("btrfs-metadata-space", plant(Bytes::mib(900)));
}

#[test]
fn small_blocks_are_those_below_a_record() {
    let plant = |at: usize, small: &'static str| {
        move |m: &mut Inventory| {
            let mut more = dataset(m, 0).clone();
            more.name = "tank/mail".into();
            known(&mut pool(m).datasets).push(more);
            dataset(m, at).properties.insert("special_small_blocks".into(), small.into());
        }
    };
    assert_eq!(found("zfs-special-all-data", plant(0, "65536")), []);
    one("zfs-special-all-data", plant(0, "131072"));
    // A part of a pool is put there on purpose, mostly.
    assert_eq!(one("zfs-special-all-data", plant(2, "131072")).severity, terms::diagnosis::Severity::Information);
}

#[test]
fn a_marked_hard_disk_is_not_read_from() {
    let plant = |marked: bool| {
        move |m: &mut Inventory| {
            node(m, "sda").queue.rotational = Known(false);
            let members = &mut md(m, "md3").members;
            let slow = members.iter_mut().find(|member| member.device == "sdb").unwrap();
            slow.state.extend(marked.then(|| "write_mostly".to_owned()));
        }
    };
    assert_eq!(found("array-mixed-media", plant(true)), []);
    one("array-mixed-media", plant(false));
    // A storage box starts from a mirror with a place for every bay, on whatever drives are in them.
    let of_box = |m: &mut Inventory| {
        plant(false)(m);
        (md(m, "md3").devices, md(m, "md3").degraded) = (Known(32), Known(Some(30)));
    };
    assert_eq!(found("array-mixed-media", of_box), []);
}
