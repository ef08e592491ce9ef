//! Drives that outlive the run: what is taken back is what the run made, and nothing of anybody else's.

use build::{Authority, BuildError, Claims, JournalEntry, MemoryJournal};
use claim::ClaimError;
use fake::{FakeFault, Moment};
use host::Host;
use terms::plan::{Act, Effect, Placeholder, Step};
use terms::{Plan, Word};

use crate::yard::{EVERY_LAYER, Watching, Yard, apply};

/// Builds a stack on real drives, and lets the locks go.
pub(crate) fn built(yard: &Yard, plan: &Plan) -> Vec<JournalEntry> {
    let mut journal = MemoryJournal(vec![yard.begin(plan)]);
    let claims = yard.claims(plan);
    let authority = Authority::held(&yard.machine, &claims);
    apply(plan, &authority, &[], &mut journal).unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
    journal.0
}

/// Takes it down in another session.
pub(crate) fn down(
    yard: &Yard,
    plan: &Plan,
    past: &[JournalEntry],
    erase: bool,
) -> Result<Vec<terms::Name>, BuildError> {
    let claims = yard.reclaimed(plan, past, erase);
    build::teardown(plan, &Authority::held(&yard.machine, &claims), past, &mut MemoryJournal::default())
}

#[test]
fn a_stack_on_real_drives_is_taken_down_in_its_session_and_in_another() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for plan in yard.named() {
        for another in [false, true] {
            let yard = yard.at(&clean);
            let shape = yard.machine.shape();
            let mut journal = MemoryJournal(vec![yard.begin(plan)]);
            let claims = yard.claims(plan);
            let authority = Authority::held(&yard.machine, &claims);
            apply(plan, &authority, &[], &mut journal).unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
            let past = journal.0.clone();
            assert_eq!(apply(plan, &authority, &past, &mut journal).unwrap().changed, 0, "{}", plan.stack);
            let past = journal.0.clone();
            let ours = if another {
                drop(claims);
                down(&yard, plan, &past, false)
            } else {
                build::teardown(plan, &authority, &past, &mut journal)
            };
            let ours = ours.unwrap_or_else(|error| panic!("{} (another session: {another}): {error}", plan.stack));
            let all = if plan.steps.is_empty() { Vec::new() } else { plan.drives.clone() };
            assert_eq!(ours, all, "{}: nothing of anybody else's was on them", plan.stack);
            assert_eq!(yard.machine.shape(), shape, "{}", plan.stack);
            assert!(yard.is_clean(&plan.drives), "{}", plan.stack);
        }
    }
}

#[test]
fn after_a_loss_of_power_what_a_person_agrees_to_lose_is_taken_away() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (offset, plan) in yard.named().into_iter().enumerate() {
        let mut number = 1 + offset % 3;
        loop {
            let yard = yard.at(&clean);
            let mut journal = MemoryJournal(vec![yard.begin(plan)]);
            let claims = yard.claims(plan);
            yard.machine
                .fault(number, FakeFault::PowerCut(if number % 2 == 0 { Moment::Before } else { Moment::After }));
            let result = apply(plan, &Authority::held(&yard.machine, &claims), &[], &mut journal);
            if result.is_ok() {
                break;
            }
            drop(claims);
            yard.machine.hear();
            down(&yard, plan, &journal.0, true).unwrap_or_else(|error| panic!("{} at {number}: {error}", plan.stack));
            assert!(yard.is_clean(&plan.drives), "{} at {number}", plan.stack);
            number += 5;
        }
    }
}

/// Something that somebody does to what stands, and what the refusal says.
struct Stranger {
    stack: &'static str,
    does: &'static [&'static str],
    told: &'static str,
}

const ZFS: &str = "ZFS raidz1 with ashift 12";

const STRANGERS: [Stranger; 32] = [
    Stranger {
        stack: "plain dm-crypt",
        does: &[
            "mkdir /mnt/x",
            "umount /mnt/bedplate/plain-dm-crypt",
            "mount /dev/mapper/bp-plain-dm-crypt-crypt /mnt/x",
        ],
        told: "mounted at `/mnt/x`",
    },
    Stranger {
        stack: "LUKS with defaults",
        does: &[
            "umount /mnt/bedplate/luks-with-defaults",
            "wipefs --all /dev/mapper/bp-luks-with-defaults-luks",
            "mkfs.xfs /dev/mapper/bp-luks-with-defaults-luks",
        ],
        told: "which the run did not write",
    },
    Stranger {
        stack: "dm-integrity with xxhash64",
        does: &["mkfs.ext4 /dev/mapper/bp-dm-integrity-with-xxhash64-integrity"],
        told: "which the run did not write",
    },
    Stranger {
        stack: "dm-integrity with xxhash64",
        does: &["dmsetup suspend bp-dm-integrity-with-xxhash64-integrity"],
        told: "it is suspended",
    },
    Stranger {
        stack: "dm-integrity with xxhash64",
        does: &["integritysetup close bp-dm-integrity-with-xxhash64-integrity"],
        told: "DM_integrity",
    },
    // The name alone makes it nobody's: the format was finished long ago.
    Stranger {
        stack: "dm-integrity with xxhash64",
        does: &[
            "integritysetup close bp-dm-integrity-with-xxhash64-integrity",
            "integritysetup open {a} temporary-cryptsetup-1",
        ],
        told: "temporary-cryptsetup-1",
    },
    Stranger {
        stack: "LVM striped",
        does: &["pvcreate {e}", "vgextend bp-lvm-striped-lvm {e}"],
        told: "is not the run's",
    },
    // It is not active, and the pool takes it along.
    Stranger {
        stack: "LVM thin",
        does: &[
            "lvcreate --yes --activate n --type thin --virtualsize 16777216b --thinpool pool --name precious bp-lvm-thin-lvm",
        ],
        told: "its volume `precious` is not the run's",
    },
    Stranger {
        stack: "LVM thin",
        does: &["lvcreate --yes --type thin --virtualsize 16777216b --thinpool pool --name data_mine bp-lvm-thin-lvm"],
        told: "data_mine",
    },
    // cryptsetup names what is below an encryption so, and LVM lets anybody.
    Stranger {
        stack: "LVM thin",
        does: &[
            "lvcreate --yes --activate n --type thin --virtualsize 16777216b --thinpool pool --name data_dif bp-lvm-thin-lvm",
        ],
        told: "its volume `data_dif` is not the run's",
    },
    Stranger {
        stack: "RAID-6",
        does: &[
            "mdadm --manage /dev/md/bp-raid-6-raid --fail {a}",
            "mdadm --manage /dev/md/bp-raid-6-raid --remove {a}",
            "mdadm --manage /dev/md/bp-raid-6-raid --add {e}",
        ],
        told: "is part of it, and is not one of its drives",
    },
    Stranger {
        stack: "btrfs raid10 with xxhash",
        does: &["btrfs replace start -B -r 1 {e} /mnt/bedplate/btrfs-raid10-with-xxhash"],
        told: "is not one of its drives",
    },
    Stranger {
        stack: "ext4 on SATA",
        does: &["mkfs.ext4 {e}", "mount {e} /mnt/bedplate/ext4-on-sata"],
        told: "not on the run's drives",
    },
    Stranger {
        stack: "ext4 on SATA",
        does: &["umount /mnt/bedplate/ext4-on-sata", "wipefs --all {s}", "mkfs.ext4 {s}"],
        told: "ext4",
    },
    Stranger { stack: "bare NVMe", does: &["mkfs.ext4 {a}"], told: "ext4" },
    Stranger {
        stack: "plain dm-crypt",
        does: &[
            "umount /mnt/bedplate/plain-dm-crypt",
            "cryptsetup close bp-plain-dm-crypt-crypt",
            "cryptsetup open --type plain {e} bp-plain-dm-crypt-crypt",
        ],
        told: "does not rest on the run's drives",
    },
    // Whoever takes the cache away from what it was for may go on with it.
    Stranger {
        stack: "dm-writecache on a mirror",
        does: &[
            "umount /mnt/bedplate/dm-writecache-on-a-mirror",
            "dmsetup remove bp-dm-writecache-on-a-mirror-writecache",
        ],
        told: "DM_writecache",
    },
    Stranger {
        stack: "dm-writecache on a mirror",
        does: &["dmsetup suspend bp-dm-writecache-on-a-mirror-writecache"],
        told: "dmsetup resume",
    },
    // What is on it may be in use again, by whoever knows how to open it.
    Stranger {
        stack: "ext4 on SATA",
        does: &["umount /mnt/bedplate/ext4-on-sata"],
        told: "so somebody closed it since",
    },
    Stranger {
        stack: "LUKS with defaults",
        does: &["umount /mnt/bedplate/luks-with-defaults", "cryptsetup close bp-luks-with-defaults-luks"],
        told: "so somebody closed it since",
    },
    // It is mounted, and there is room in it.
    Stranger {
        stack: "ext4 on SATA",
        does: &["dd if=/dev/zero of=/mnt/bedplate/ext4-on-sata/precious bs=512 count=1"],
        told: "`/mnt/bedplate/ext4-on-sata/precious` is not the run's",
    },
    Stranger {
        stack: "ext4 on SATA",
        does: &["dd if=/dev/zero of=/mnt/bedplate/ext4-on-sata/bedplate-notes bs=512 count=1"],
        told: "`/mnt/bedplate/ext4-on-sata/bedplate-notes` is not the run's",
    },
    Stranger {
        stack: "btrfs raid10 with xxhash",
        does: &["dd if=/dev/zero of=/mnt/bedplate/btrfs-raid10-with-xxhash/a/precious bs=512 count=1"],
        told: "`/mnt/bedplate/btrfs-raid10-with-xxhash/a` is not the run's",
    },
    // Only a part of it is to be seen there.
    Stranger {
        stack: "btrfs raid10 with xxhash",
        does: &[
            "dd if=/dev/zero of=/mnt/bedplate/btrfs-raid10-with-xxhash/precious bs=512 count=1",
            "umount /mnt/bedplate/btrfs-raid10-with-xxhash",
            "mount --options subvol=empty {a} /mnt/bedplate/btrfs-raid10-with-xxhash",
        ],
        told: "of it only `/empty`",
    },
    // A pool takes along whatever is in it.
    Stranger {
        stack: ZFS,
        does: &["zfs create -V 16777216 bp-zfs-raidz1-with-ashift-12-zfs/precious"],
        told: "`bp-zfs-raidz1-with-ashift-12-zfs/precious` is not the run's",
    },
    Stranger {
        stack: ZFS,
        does: &["zfs create -o canmount=off bp-zfs-raidz1-with-ashift-12-zfs/mine"],
        told: "`bp-zfs-raidz1-with-ashift-12-zfs/mine` is not the run's",
    },
    Stranger {
        stack: ZFS,
        does: &["zfs create -o mountpoint=/srv/mine bp-zfs-raidz1-with-ashift-12-zfs/mine"],
        told: "mounted at `/srv/mine`",
    },
    Stranger {
        stack: ZFS,
        does: &["zfs snapshot bp-zfs-raidz1-with-ashift-12-zfs@precious"],
        told: "say `zfs destroy bp-zfs-raidz1-with-ashift-12-zfs@precious`, and the same command again",
    },
    Stranger {
        stack: ZFS,
        does: &[
            "zfs set mountpoint=/srv/mine bp-zfs-raidz1-with-ashift-12-zfs",
            "dd if=/dev/zero of=/srv/mine/precious bs=512 count=1",
        ],
        told: "mounted at `/srv/mine`",
    },
    Stranger {
        stack: ZFS,
        does: &["mkfs.ext4 {e}", "mount {e} /mnt/bedplate/zfs-raidz1-with-ashift-12"],
        told: "not on the run's drives",
    },
    Stranger {
        stack: "dm-integrity with xxhash64",
        does: &[
            "mdadm --create /dev/md/theirs --level=1 --raid-devices=2 /dev/mapper/bp-dm-integrity-with-xxhash64-integrity {e}",
        ],
        told: "md",
    },
    Stranger {
        stack: "XFS on RAID-0",
        does: &["fsfreeze --freeze /mnt/bedplate/xfs-on-raid-0"],
        told: "fsfreeze --unfreeze /mnt/bedplate/xfs-on-raid-0",
    },
];

/// In the same session too: a run of hours has its file systems mounted for all to see.
#[test]
fn files_of_the_run_go_and_those_of_others_stay() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plan("ext4 on SATA");
    let file = |name: &str| {
        yard.machine.line(&format!("dd if=/dev/zero of=/mnt/bedplate/ext4-on-sata/{name} bs=512 count=1"));
    };
    let mut journal = MemoryJournal(vec![yard.begin(plan)]);
    let claims = yard.claims(plan);
    let authority = Authority::held(&yard.machine, &claims);
    apply(plan, &authority, &[], &mut journal).unwrap();
    ["bedplate.dat", "bedplate-tree-00000000000000ff/a", "lost+found/x", "precious"].into_iter().for_each(file);
    let past = journal.0.clone();
    let told = build::teardown(plan, &authority, &past, &mut journal).unwrap_err().to_string();
    assert!(told.contains("precious` is not the run's"), "{told}");
    assert_eq!(journal.0, past, "nothing was begun");
    yard.machine.line("rm /mnt/bedplate/ext4-on-sata/precious");
    build::teardown(plan, &authority, &past, &mut journal).unwrap();
}

/// Stacks whose own command mounts, and whose pool does, and where.
const MOUNTED: [(&str, &str); 2] =
    [("ext4 on SATA", "/mnt/bedplate/ext4-on-sata"), (ZFS, "/mnt/bedplate/zfs-raidz1-with-ashift-12")];

#[test]
fn a_directory_that_is_there_is_neither_mounted_over_nor_taken_away() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (stack, directory) in MOUNTED {
        let yard = yard.at(&clean);
        let plan = yard.plan(stack);
        yard.machine.line(&format!("mkdir {directory}"));
        let (before, shape) = (yard.machine.now_is(), yard.machine.shape());
        let claims = yard.claims(plan);
        let mut journal = MemoryJournal(vec![yard.begin(plan)]);
        let error = apply(plan, &Authority::held(&yard.machine, &claims), &[], &mut journal)
            .err()
            .unwrap_or_else(|| panic!("{stack}: it was mounted over"));
        assert!(error.is_refusal() && error.to_string().contains(&format!("`{directory}`, which is there")), "{error}");
        assert_eq!(yard.machine.shape(), shape);
        assert!(plan.drives.iter().all(|drive| yard.machine.holds_the_same(yard.node(drive.as_str()), &before)));
    }
}

/// An array takes hours to come in sync.
#[test]
fn a_directory_that_comes_while_it_is_built_is_somebodys_too() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (stack, directory) in MOUNTED {
        let yard = yard.at(&clean);
        let plan = yard.plan(stack);
        let claims = yard.claims(plan);
        let comes = |step: &Step| {
            if plan.mount_point(step).is_some() {
                yard.machine.line(&format!("mkdir {directory}"));
            }
        };
        let mut journal = MemoryJournal(vec![yard.begin(plan)]);
        let error = build::apply(plan, &Authority::held(&yard.machine, &claims), &[], &mut journal, &comes)
            .err()
            .unwrap_or_else(|| panic!("{stack}: it was mounted over"));
        assert!(error.to_string().contains(&format!("`{directory}`, which is there")), "{stack}: {error}");
        assert!(yard.machine.exists(directory).unwrap() && yard.is_clean(&plan.drives), "{stack}: {error}");
    }
}

#[test]
fn what_somebody_did_since_is_refused_and_left_as_it_is() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for Stranger { stack, does, told } in &STRANGERS {
        let yard = yard.at(&clean);
        let plan = yard.plan(stack);
        let past = built(&yard, plan);
        for line in *does {
            let line = ["a", "e", "s"]
                .iter()
                .fold((*line).to_owned(), |line, drive| line.replace(&format!("{{{drive}}}"), yard.node(drive)));
            yard.machine.line(&line);
        }
        let (before, shape, deeds) = (yard.machine.now_is(), yard.machine.shape(), yard.machine.deeds().len());
        let error = down(&yard, plan, &past, false).err().unwrap_or_else(|| panic!("{stack}: {does:?} was taken away"));
        assert!(error.is_refusal() && error.to_string().contains(told), "{stack}: {does:?}: {error}");
        assert_eq!((yard.machine.shape(), yard.machine.deeds().len()), (shape, deeds), "{stack}");
        assert!(yard.drives.values().all(|node| yard.machine.holds_the_same(node, &before)), "{stack}");
    }
}

/// At whatever moment the run was killed before it had the file system mounted: what is as its format left it goes, and what
/// somebody mounted since stays.
#[test]
fn a_file_system_that_somebody_mounted_before_the_run_came_to_it_stays() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (stack, layer) in [
        ("ext4 on SATA", "ext4"),
        ("XFS on RAID-0", "xfs"),
        ("btrfs raid10 with xxhash", "btrfs"),
        ("LUKS with defaults", "xfs"),
    ] {
        let yard = yard.at(&clean);
        let plan = yard.plan(stack);
        let mut journal = Watching::new(&yard.machine);
        build::Journal::note(&mut journal, &yard.begin(plan)).unwrap();
        let claims = yard.claims(plan);
        apply(plan, &Authority::held(&yard.machine, &claims), &[], &mut journal).unwrap();
        drop(claims);
        let of = |step: &str| plan.steps.iter().find(|of| of.id == format!("{layer}.{step}")).unwrap();
        let Some(Effect::Signature { node, .. }) = &of("make").effect else { panic!("{stack}") };
        let node = node.resolve(|place| yard.drives.get(place.drive()?).cloned()).unwrap();
        let places: Vec<usize> = (0..journal.lines.len())
            .filter(|at| match &journal.lines[*at].0 {
                JournalEntry::After { step, .. } => *step == of("make").id,
                JournalEntry::Before { step, .. } => *step == of("mount").id,
                _ => false,
            })
            .collect();
        assert_eq!(places.len(), 2, "{stack}");
        for at in places {
            for mounts in [false, true] {
                let (yard, past) = (yard.at(&journal.lines[at].1), &journal.entries()[..=at]);
                (0..64).for_each(|hold| yard.machine.release(hold).unwrap());
                if mounts {
                    for line in ["mkdir /mnt/x".to_owned(), format!("mount {node} /mnt/x"), "umount /mnt/x".to_owned()]
                    {
                        yard.machine.line(&line);
                    }
                }
                let before = yard.machine.now_is();
                let result = down(&yard, plan, past, false);
                if !mounts {
                    result.unwrap_or_else(|error| panic!("{stack} at {at}: {error}"));
                    continue;
                }
                let error = result.err().unwrap_or_else(|| panic!("{stack} at {at}: it was taken away"));
                assert!(
                    error.is_refusal() && error.to_string().contains("so somebody may have used it"),
                    "{stack}: {error}"
                );
                assert!(yard.drives.values().all(|node| yard.machine.holds_the_same(node, &before)), "{stack} at {at}");
                down(&yard, plan, past, true).unwrap_or_else(|error| panic!("{stack} at {at}, agreed: {error}"));
            }
        }
    }
}

/// Between any two lines of the journal, with the locks let go: what cannot be shown to be the run's is refused, and whoever
/// names the drives gets them back blank.
#[test]
fn a_killed_cache_of_writes_is_taken_back_or_told() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plan("dm-writecache on a mirror");
    let mut journal = Watching::new(&yard.machine);
    build::Journal::note(&mut journal, &yard.begin(plan)).unwrap();
    let claims = yard.claims(plan);
    let authority = Authority::held(&yard.machine, &claims);
    apply(plan, &authority, &[], &mut journal).unwrap();
    let past = journal.entries();
    build::teardown(plan, &authority, &past, &mut journal).unwrap();
    drop(claims);
    let mut refusals = 0;
    for (at, (_, moment)) in journal.lines.iter().enumerate().skip(1) {
        let (yard, past) = (yard.at(moment), &journal.entries()[..=at]);
        // Locks go with whoever is killed.
        (0..64).for_each(|hold| yard.machine.release(hold).unwrap());
        let before = yard.machine.now_is();
        if let Err(error) = down(&yard, plan, past, false) {
            assert!(error.is_refusal() && error.to_string().contains("DM_writecache"), "line {at}: {error}");
            assert!(yard.drives.values().all(|node| yard.machine.holds_the_same(node, &before)), "line {at}");
            refusals += 1;
            down(&yard, plan, past, true).unwrap_or_else(|error| panic!("line {at}: {error}"));
        }
        assert!(yard.is_clean(&plan.drives) && yard.machine.is_blank(yard.node("c")), "line {at}");
    }
    assert_eq!(refusals, 1, "after the mapping was removed, before the cache was cleared");
}

#[test]
fn what_a_killed_format_left_open_goes_with_it() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    let plan = yard.plan("dm-integrity with xxhash64");
    let past = built(&yard, plan);
    let begun = past.iter().position(|entry| matches!(entry, JournalEntry::Before { .. })).unwrap();
    for name in ["temporary-cryptsetup-1", "somebody-else"] {
        let yard = yard.at(&clean);
        let node = yard.node(plan.drives[0].as_str());
        yard.machine.line(&format!("integritysetup format --batch-mode {node}"));
        yard.machine.line(&format!("integritysetup open {node} {name}"));
        let before = yard.machine.now_is();
        let past = &past[..=begun];
        let claims = yard.reclaimed(plan, past, false);
        let left = build::commands_left(plan, &Authority::held(&yard.machine, &claims), past);
        let removes = left.iter().position(|line| *line == format!("dmsetup remove {name}"));
        assert_eq!(removes, (name != "somebody-else").then_some(0), "{left:?}");
        drop(claims);
        let result = down(&yard, plan, past, false);
        if name == "somebody-else" {
            let error = result.unwrap_err();
            assert!(error.is_refusal() && error.to_string().contains(name), "{error}");
            assert!(yard.machine.holds_the_same(node, &before));
        } else {
            result.unwrap();
            assert_eq!(yard.machine.shape(), yard.machine.as_of(&clean).shape());
        }
    }
}

#[test]
fn what_somebody_mounted_over_a_pulled_drive_stays_mounted() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plan("ext4 on SATA");
    let past = built(&yard, plan);
    yard.machine.line(&format!("mkfs.ext4 {}", yard.node("e")));
    yard.machine.line(&format!("mount {} /mnt/bedplate/ext4-on-sata", yard.node("e")));
    yard.machine.pull(yard.node(plan.drives[0].as_str()));
    let (shape, deeds) = (yard.machine.shape(), yard.machine.deeds().len());
    let error = down(&yard, plan, &past, false).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("not on the run's drives"), "{error}");
    assert_eq!((yard.machine.shape(), yard.machine.deeds().len()), (shape, deeds));
}

#[test]
fn a_pulled_drive_is_finished_with_when_it_is_back() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for stack in ["RAID-6", "LUKS with defaults"] {
        let yard = yard.at(&clean);
        let plan = yard.plan(stack);
        let past = built(&yard, plan);
        yard.machine.pull(yard.node(plan.drives[0].as_str()));
        let mut journal = MemoryJournal(past.clone());
        let claims = yard.reclaimed(plan, &past, false);
        let error = build::teardown(plan, &Authority::held(&yard.machine, &claims), &past, &mut journal).unwrap_err();
        drop(claims);
        assert!(matches!(error, BuildError::DriveAbsent { .. }) && !error.is_refusal(), "{stack}: {error}");
        yard.machine.plug();
        // What it is called now is found by what it is.
        let claims = yard.reclaimed(plan, &past, false);
        let past = journal.0.clone();
        build::teardown(plan, &Authority::held(&yard.machine, &claims), &past, &mut journal)
            .unwrap_or_else(|error| panic!("{stack}: {error}"));
        for held in claims.values() {
            assert!(yard.machine.kinds(&held.identity().node).is_empty(), "{stack}");
        }
    }
}

#[test]
fn a_file_at_the_name_of_a_pulled_drive_is_no_drive() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plan("RAID-6");
    let past = built(&yard, plan);
    let node = yard.node(plan.drives[0].as_str());
    yard.machine.pull(node);
    yard.machine.put_file(node, "what dd wrote");
    let error = down(&yard, plan, &past, false).unwrap_err();
    assert!(matches!(error, BuildError::DriveAbsent { .. }), "{error}");
}

#[test]
fn another_drive_in_the_place_of_one_is_found_out_before_anything_is_destroyed() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plan("LVM striped");
    let claims = yard.claims(plan);
    yard.machine.swap_drive(yard.node("b"));
    let before = yard.machine.now_is();
    let authority = Authority::held(&yard.machine, &claims);
    let error = apply(plan, &authority, &[], &mut MemoryJournal::default()).unwrap_err();
    assert!(matches!(error, BuildError::Claim(ClaimError::NotFound { .. } | ClaimError::Moved { .. })), "{error}");
    assert!(yard.machine.holds_the_same(yard.node("b"), &before));
}

/// Whatever a command does with a drive: what it opens, zeroes or joins on a partition is not said to erase the drive.
#[test]
fn no_command_reaches_a_drive_that_was_exchanged_before_it() {
    let yard = Yard::real(EVERY_LAYER);
    let start = yard.machine.now_is();
    for plan in yard.named() {
        for step in &plan.steps {
            let Act::Run(command) = &step.act else { continue };
            let Some(drive) = command.argv.iter().flat_map(Word::places).find_map(Placeholder::drive) else { continue };
            let yard = yard.at(&start);
            let claims = yard.claims(plan);
            let exchange = |now: &Step| {
                if now.id == step.id {
                    yard.machine.swap_drive(yard.node(drive.as_str()));
                }
            };
            let authority = Authority::held(&yard.machine, &claims);
            let mut journal = MemoryJournal::default();
            let error = build::apply(plan, &authority, &[], &mut journal, &exchange).unwrap_err().to_string();
            assert!(yard.machine.is_blank(yard.node(drive.as_str())), "{}: {}: {error}", plan.stack, step.id);
            let done =
                |entry: &JournalEntry| matches!(entry, JournalEntry::After { step: done, .. } if *done == step.id);
            assert!(!journal.0.iter().any(done), "{}: {}: {error}", plan.stack, step.id);
        }
    }
}

/// The table is the run's, and a partition that somebody added to it is not.
#[test]
fn a_partition_that_somebody_added_stays() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plans.iter().find(|plan| plan.steps.iter().any(|step| step.id.contains("partition"))).unwrap();
    let past = built(&yard, plan);
    let node = yard.node(plan.drives[0].as_str());
    yard.machine.line(&format!("parted --script {node} mkpart mine 150MiB 170MiB"));
    let before = yard.machine.now_is();
    let error = down(&yard, plan, &past, false).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("partition"), "{error}");
    assert!(yard.machine.holds_the_same(node, &before));
}

#[test]
fn what_a_person_agreed_to_lose_is_erased_once() {
    let yard = Yard::real(EVERY_LAYER);
    let name = terms::Name::new("a").unwrap();
    let id = yard.id(&name).unwrap();
    let take = || {
        let consent = claim::Consent::given(&yard.machine, &[], std::slice::from_ref(&id)).unwrap();
        claim::Permission::grant(yard.examine(&name), &consent).unwrap().hold(&yard.machine).unwrap()
    };
    // Nothing on it: nothing is done.
    let deeds = yard.machine.deeds().len();
    build::erase(&mut take()).unwrap();
    assert_eq!(yard.machine.deeds().len(), deeds);
    yard.machine
        .line(&format!("parted --script {} mklabel gpt mkpart x 1MiB 100MiB mkpart y 100MiB 100%", yard.node("a")));
    yard.machine.line("mkfs.ext4 /dev/nvme0n1p2");
    let mut held = take();
    assert!(held.may_erase() && held.permission().accepted().len() >= 2);
    build::erase(&mut held).unwrap();
    assert!(yard.machine.is_blank(yard.node("a")) && !held.may_erase());
    // The consent is used up: what came since is refused.
    yard.machine.line(&format!("mkfs.ext4 {}", yard.node("a")));
    build::erase(&mut held).unwrap();
    assert_eq!(yard.machine.kinds(yard.node("a")), ["ext4"]);
    let claims = Claims::from([(name, held)]);
    let error =
        apply(yard.plan("bare NVMe"), &Authority::held(&yard.machine, &claims), &[], &mut MemoryJournal::default())
            .unwrap_err();
    assert!(matches!(error, BuildError::Claim(ClaimError::Refused(_))), "{error}");
}

/// Hours may lie between the examination and the erasing.
#[test]
fn what_came_onto_a_drive_since_it_was_told_what_will_be_lost_is_not_erased() {
    let yard = Yard::real(EVERY_LAYER);
    let name = terms::Name::new("a").unwrap();
    let id = yard.id(&name).unwrap();
    yard.machine.line(&format!("mkfs.ext4 {}", yard.node("a")));
    let consent = claim::Consent::given(&yard.machine, &[], std::slice::from_ref(&id)).unwrap();
    let permission = claim::Permission::grant(yard.examine(&name), &consent).unwrap();
    let mut held = permission.hold(&yard.machine).unwrap();
    yard.machine.line(&format!("wipefs --all {}", yard.node("a")));
    yard.machine.line(&format!("mkfs.xfs {}", yard.node("a")));
    let (before, deeds) = (yard.machine.now_is(), yard.machine.deeds().len());
    let error = build::erase(&mut held).unwrap_err();
    assert!(matches!(error, BuildError::Claim(ClaimError::Arrived { .. })) && error.is_refusal(), "{error}");
    assert!(yard.machine.holds_the_same(yard.node("a"), &before) && yard.machine.deeds().len() == deeds);
}

/// A person who named a drive was told what was on it then.
#[test]
fn what_came_onto_a_drive_since_a_teardown_was_agreed_to_stays() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = yard.plan("LUKS with defaults");
    let past = built(&yard, plan);
    yard.machine.restart();
    let claims = yard.reclaimed(plan, &past, true);
    let node = yard.node(plan.drives[0].as_str());
    yard.machine.line(&format!("wipefs --all {node}"));
    yard.machine.line(&format!("mkfs.ext4 {node}"));
    let (before, deeds) = (yard.machine.now_is(), yard.machine.deeds().len());
    let authority = Authority::held(&yard.machine, &claims);
    let error = build::teardown(plan, &authority, &past, &mut MemoryJournal::default()).unwrap_err();
    assert!(matches!(error, BuildError::Claim(ClaimError::Arrived { .. })) && error.is_refusal(), "{error}");
    assert!(yard.machine.holds_the_same(node, &before) && yard.machine.deeds().len() == deeds);
}

#[test]
fn a_named_drive_that_holds_nothing_of_the_run_is_left_as_it_is() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for stack in ["RAID-6", "LVM striped", "LUKS with defaults", "dm-integrity with xxhash64"] {
        let yard = yard.at(&clean);
        let plan = yard.plan(stack);
        let past = built(&yard, plan);
        yard.machine.restart();
        let theirs = &plan.drives[0];
        for (place, length) in claim::places_of_marks(terms::Bytes(512 << 20)) {
            yard.machine.poke(yard.node(theirs.as_str()), place, &vec![0; length as usize]);
        }
        yard.machine.line(&format!("mkfs.ext4 {}", yard.node(theirs.as_str())));
        let before = yard.machine.now_is();
        let ours = down(&yard, plan, &past, true).unwrap_or_else(|error| panic!("{stack}: {error}"));
        assert!(!ours.contains(theirs), "{stack}: nobody discards it");
        assert!(yard.machine.holds_the_same(yard.node(theirs.as_str()), &before), "{stack}");
        assert!(yard.is_clean(&plan.drives[1..]), "{stack}");
    }
}

/// Somebody's link to a drive is gone, and the drive is there, with all that stands on it.
#[test]
fn what_stands_on_drives_that_are_not_to_be_found_is_looked_at_all_the_same() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    let plan = yard.plan("LUKS with defaults");
    for (lines, told) in [
        (&["dd if=/dev/zero of=/mnt/bedplate/luks-with-defaults/precious bs=512 count=1"][..], "precious"),
        (
            &[
                "umount /mnt/bedplate/luks-with-defaults",
                "wipefs --all /dev/mapper/bp-luks-with-defaults-luks",
                "mkfs.ext4 /dev/mapper/bp-luks-with-defaults-luks",
            ],
            "which the run did not write",
        ),
    ] {
        let yard = yard.at(&clean);
        let past = built(&yard, plan);
        lines.iter().for_each(|line| drop(yard.machine.line(line)));
        let (before, shape, deeds) = (yard.machine.now_is(), yard.machine.shape(), yard.machine.deeds().len());
        let none = Claims::new();
        let authority = Authority::held(&yard.machine, &none);
        let error = build::teardown(plan, &authority, &past, &mut MemoryJournal::default()).unwrap_err();
        assert!(error.is_refusal() && error.to_string().contains(told), "{error}");
        assert_eq!((yard.machine.shape(), yard.machine.deeds().len()), (shape, deeds));
        assert!(yard.machine.holds_the_same(yard.node(plan.drives[0].as_str()), &before));
    }
}

/// Neither `blkid` nor `wipefs` knows these, and such a drive keeps whatever is not written over.
#[test]
fn what_no_tool_takes_away_goes_from_a_drive_that_cannot_discard() {
    let yard = Yard::real(EVERY_LAYER);
    let name = terms::Name::new("s").unwrap();
    let id = yard.id(&name).unwrap();
    yard.machine.poke(yard.node("s"), 0, &0x2348_9321_u32.to_le_bytes());
    yard.machine.poke(yard.node("s"), (64 << 20) + 0x40, b"_BHRfS_M");
    let consent = claim::Consent::given(&yard.machine, &[], &[id]).unwrap();
    let permission = claim::Permission::grant(yard.examine(&name), &consent).unwrap();
    build::erase(&mut permission.hold(&yard.machine).unwrap()).unwrap();
    assert!(yard.machine.is_blank(yard.node("s")));
}

/// The kernel knows partitions of a table that is gone until it reads the drive again.
#[test]
fn a_partition_that_the_kernel_still_knows_is_left_where_its_drive_holds_nothing_of_the_run() {
    const STUDY: &str = r#"
        question = "Is a partition its drive?"
        lab = { drives = [ { name = "a", size = "512 MiB" }, { name = "b", size = "512 MiB" } ] }
        measure = { span = "32 MiB" }
        [[stack]]
        name = "s"
        layers = [
            { partition = { size = "128 MiB" }, on = "a", name = "front" },
            { writecache = { cache = "front" }, on = "b" },
        ]
    "#;
    let yard = Yard::real(STUDY);
    let (plan, a) = (yard.plan("s"), yard.node("a"));
    let mut past = built(&yard, plan);
    let begun = |entry: &JournalEntry| matches!(entry, JournalEntry::Before { step, .. } if step.ends_with(".create"));
    past.truncate(past.iter().position(begun).unwrap() + 1);
    // Killed before the mapping was there; then somebody uses the whole drive for something without a signature.
    yard.machine.line("dmsetup remove bp-s-writecache");
    let size = 512 << 20;
    for (place, length) in [(0, 1 << 20), (size - (1 << 20), 1 << 20)] {
        yard.machine.poke(a, place, &vec![0; length]);
    }
    yard.machine.poke(a, 1 << 20, &[7; 8192]);
    assert!(yard.machine.exists(&format!("{a}p1")).unwrap());
    let before = yard.machine.now_is();
    let _ = down(&yard, plan, &past, false);
    assert!(yard.machine.holds_the_same(a, &before), "it is somebody else's");
}

/// No tool takes these marks away with the volume that they were in.
#[test]
fn what_an_earlier_stack_left_where_a_partition_begins_stops_nobody_who_kept_the_lock() {
    const STUDY: &str = r#"
        question = "Whose is a mark that no tool takes away?"
        lab = { drives = [ { name = "a", size = "512 MiB" } ] }
        measure = { span = "32 MiB" }
        [[stack]]
        name = "s"
        layers = [ { partition = { size = "128 MiB" }, on = "a", name = "front" }, { ext4 = {} } ]
    "#;
    let yard = Yard::real(STUDY);
    let clean = yard.machine.now_is();
    for kept in [true, false] {
        let yard = yard.at(&clean);
        let (plan, a) = (yard.plan("s"), yard.node("a"));
        let mut journal = MemoryJournal(vec![yard.begin(plan)]);
        let claims = yard.claims(plan);
        yard.machine.poke(a, (1 << 20) + 32, &0o6_142_003_u64.to_le_bytes());
        apply(plan, &Authority::held(&yard.machine, &claims), &[], &mut journal).unwrap();
        if kept {
            build::teardown(plan, &Authority::held(&yard.machine, &claims), &journal.0.clone(), &mut journal).unwrap();
            assert!(yard.machine.kinds(a).is_empty());
        } else {
            drop(claims);
            let before = yard.machine.now_is();
            let error = down(&yard, plan, &journal.0, false).unwrap_err();
            assert!(error.is_refusal() && error.to_string().contains("DM_cache_metadata"), "{error}");
            assert!(yard.machine.holds_the_same(a, &before));
        }
    }
}

/// A removal goes through a bind mount of the same file system.
#[test]
fn a_directory_with_a_mount_of_somebodys_below_it_is_not_taken_away() {
    let yard = Yard::real(EVERY_LAYER);
    let stack = terms::Stack { name: "there".to_owned(), note: None, nodes: Vec::new() };
    let plan = plan::existing(&stack, "/srv/own", "7f").unwrap();
    let past = built(&yard, &plan);
    yard.machine.line(&format!("mkfs.ext4 {}", yard.node("e")));
    yard.machine.line("mkdir /srv/own/photos");
    yard.machine.line(&format!("mount {} /srv/own/photos", yard.node("e")));
    let (shape, deeds) = (yard.machine.shape(), yard.machine.deeds().len());
    let error = down(&yard, &plan, &past, false).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("something is mounted at `/srv/own/photos`"), "{error}");
    assert_eq!((yard.machine.shape(), yard.machine.deeds().len()), (shape, deeds));
}
