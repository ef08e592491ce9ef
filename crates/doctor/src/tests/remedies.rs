//! Rules for every remedy of every check: what may be typed, what it may lose, when it is not to be typed.

use terms::DriveTransport;
use terms::inventory::{Inventory, Md, MdMember, Meaning};

use super::clean::{Known, clean};
use super::plant::*;
use super::{blind, faults};
use crate::look;
use crate::redundancy::{PROFILES, most, of_profile};
use crate::remedy::{Effect, Found, Loses};

/// How much a command can lose at least, from nothing to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Least {
    Asks,
    Nothing,
    Meanwhile,
    Brought,
    Data,
}

use Least::{Asks, Brought, Data, Meanwhile, Nothing};

/// Every command that may be advised: its words in their order, others between them. What is not here is refused, so a
/// new remedy is weighed by whoever adds it. The first row that fits counts.
const KNOWN: &[(&str, Least)] = &[
    ("btrfs balance start --force", Data),
    ("btrfs balance start -f", Data),
    ("btrfs balance start", Nothing),
    ("btrfs balance resume", Nothing),
    ("btrfs balance status", Asks),
    ("btrfs device stats --reset", Nothing),
    ("btrfs device stats", Asks),
    ("btrfs filesystem usage", Asks),
    ("btrfs replace start", Brought),
    ("btrfs replace status", Asks),
    ("btrfs scrub start -B", Nothing),
    ("cat", Asks),
    ("cryptsetup benchmark", Asks),
    ("cryptsetup close", Nothing),
    ("cryptsetup convert --type luks2", Meanwhile),
    ("cryptsetup luksDump", Asks),
    ("cryptsetup luksFormat", Data),
    ("cryptsetup luksHeaderBackup --header-backup-file", Nothing),
    ("cryptsetup luksUUID --uuid", Nothing),
    ("cryptsetup open", Nothing),
    ("cryptsetup reencrypt --sector-size", Meanwhile),
    ("cryptsetup refresh", Nothing),
    ("cryptsetup status", Asks),
    ("dmesg", Asks),
    ("dmsetup info", Asks),
    ("dmsetup resume", Nothing),
    ("dmsetup status", Asks),
    ("du --inodes", Asks),
    ("du -xh", Asks),
    ("e2fsck -f -p", Nothing),
    ("echo -failfast > /sys/", Nothing),
    ("echo check > /sys/", Nothing),
    ("btrfs scrub status", Asks),
    ("dumpe2fs -h", Asks),
    ("echo * * root btrfs scrub start -B > /etc/cron.d/btrfs-scrub", Nothing),
    ("echo options raid456 devices_handle_discard_safely=Y >", Data),
    ("echo > /sys/", Nothing),
    ("echo | tee /sys/bus/pci/devices/", Meanwhile),
    ("echo | tee /sys/", Nothing),
    ("findmnt", Asks),
    ("btrfs check --readonly", Asks),
    ("e2fsck -fn", Asks),
    ("fsck -n", Asks),
    ("fstrim --all", Nothing),
    ("grep", Asks),
    ("ip -s link", Asks),
    ("hdparm -W 1", Nothing),
    ("hdparm -W", Asks),
    ("integritysetup close", Nothing),
    ("integritysetup format", Data),
    ("integritysetup open", Nothing),
    ("losetup --direct-io=on", Nothing),
    ("lsblk", Asks),
    ("lspci", Asks),
    ("lvchange --cachemode writethrough", Nothing),
    ("lvchange --refresh", Nothing),
    ("lvconvert --repair", Brought),
    ("lvcreate", Nothing),
    ("lvextend", Nothing),
    ("lvs", Asks),
    ("mdadm --add-journal", Brought),
    ("mdadm --add", Brought),
    ("mdadm --assemble --update=no-bbl", Meanwhile),
    ("mdadm --create", Data),
    ("mdadm --detail", Asks),
    ("mdadm --examine-badblocks", Asks),
    ("mdadm --examine", Asks),
    ("mdadm --grow --bitmap=internal", Nothing),
    ("mdadm --grow --bitmap=none", Meanwhile),
    ("mdadm --grow --consistency-policy=ppl", Nothing),
    ("mdadm --incremental", Nothing),
    ("mdadm --remove failed", Nothing),
    ("mdadm --readonly", Nothing),
    ("mdadm --readwrite", Nothing),
    ("mdadm --re-add", Nothing),
    ("mdadm --run", Data),
    ("mdadm --stop", Nothing),
    ("mdadm --wait", Asks),
    ("modprobe", Nothing),
    ("mount", Nothing),
    ("mountpoint -q", Nothing),
    ("multipath -ll", Asks),
    ("numactl", Nothing),
    ("nvme error-log", Asks),
    ("nvme format", Data),
    ("nvme get-feature", Asks),
    ("nvme id-ns", Asks),
    ("nvme list-subsys", Asks),
    ("nvme set-feature --feature-id=6 --value=1", Nothing),
    ("nvme smart-log", Asks),
    ("parted --script print", Asks),
    ("parted --script rm mkpart", Data),
    ("pvchange --metadataignore y", Meanwhile),
    ("pvcreate", Brought),
    ("pvmove", Nothing),
    ("pvs", Asks),
    ("sdparm --get", Asks),
    ("sdparm --set WCE", Nothing),
    ("sfdisk", Data),
    ("sgdisk -G", Nothing),
    ("smartctl --scan", Asks),
    ("iostat -x", Asks),
    ("smartctl -A", Asks),
    ("smartctl -g apm", Asks),
    ("smartctl -i", Asks),
    ("smartctl -l scterc,70,70", Nothing),
    ("smartctl -l", Asks),
    ("smartctl -t long", Nothing),
    ("smartctl -x", Asks),
    ("sort", Asks),
    ("swaplabel -U", Nothing),
    ("swapoff", Nothing),
    ("systemctl enable --now", Nothing),
    ("tail", Asks),
    ("tune2fs", Nothing),
    ("umount", Nothing),
    ("vgextend", Nothing),
    ("vgimportclone", Nothing),
    ("vgrename", Nothing),
    ("vgs", Asks),
    ("wipefs --no-act", Asks),
    ("wipefs", Data),
    ("xfs_admin -U generate", Nothing),
    ("zfs create", Nothing),
    ("zfs list", Asks),
    ("zfs receive -F", Data),
    ("zfs receive -u", Nothing),
    ("zfs send", Asks),
    ("zfs set", Nothing),
    ("zfs snapshot", Nothing),
    ("zpool add", Brought),
    ("zpool attach", Brought),
    ("zpool clear", Nothing),
    ("zpool create", Data),
    ("zpool export", Nothing),
    ("zpool get", Asks),
    ("zpool import", Asks),
    ("zpool iostat -v -l", Asks),
    ("zpool import -d /dev/disk/by-id", Nothing),
    ("zpool list", Asks),
    ("zpool online", Nothing),
    ("zpool remove", Nothing),
    ("zpool replace", Brought),
    ("zpool scrub -w", Nothing),
    ("zpool set autotrim=on", Nothing),
    ("xfs_repair -n", Asks),
    ("zpool status", Asks),
    ("zpool wait", Asks),
];

/// Programs and options that nothing here may ever advise.
const NEVER: [&str; 15] = [
    "--force",
    "--assume-clean",
    "--zero-superblock",
    "--fail",
    "--remove /",
    "--remove MEMBER",
    "zpool destroy",
    "zpool detach",
    "mkfs",
    "dd if=",
    "blkdiscard",
    "sanitize",
    "vgreduce",
    "lvremove",
    "labelclear",
];

/// What one of the programs of a command line can lose at least; `None` where it is not known.
fn least(command: &str) -> Option<Least> {
    let fits = |row: &str| {
        let mut words = command.split_whitespace();
        let mut wanted = row.split_whitespace();
        words.next() == wanted.next()
            && wanted
                .all(|wanted| words.any(|word| word == wanted || wanted.ends_with('/') && word.starts_with(wanted)))
    };
    KNOWN.iter().find(|(row, _)| fits(row)).map(|(_, least)| *least)
}

/// The worst of the programs of a command line.
fn least_of_line(line: &str) -> Option<Least> {
    let line = line.split("   # ").next().unwrap_or_default();
    let parts = line
        .split(" && ")
        .flat_map(|part| if part.contains("| tee ") { vec![part] } else { part.split(" | ").collect() });
    parts.map(least).collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn said(effect: &Effect) -> Least {
    match effect {
        Effect::Asks => Asks,
        Effect::Sets | Effect::Changes(Loses::Nothing) => Nothing,
        Effect::Changes(Loses::Meanwhile(_)) => Meanwhile,
        Effect::Changes(Loses::Brought(_)) => Brought,
        Effect::Changes(Loses::Data(_)) => Data,
    }
}

fn found(inventory: &Inventory) -> Vec<Found> {
    look(inventory, |_| true).0
}

/// Everything that is planted anywhere, and all variants of advice that depend on what a machine is.
fn planted() -> Vec<Inventory> {
    let mut all: Vec<Inventory> = Vec::new();
    let mut plant = |change: &dyn Fn(&mut Inventory)| {
        let mut inventory = clean();
        change(&mut inventory);
        all.push(inventory);
    };
    for fault in faults::all() {
        plant(&fault.plant);
    }
    for blind in blind::all() {
        plant(&blind.take);
    }
    // An array of firmware with a member that failed, and one that lost its journal with a member.
    for (metadata, policy, degraded) in [("external:/md127/0", "resync", 0), ("1.2", "journal", 1)] {
        plant(&|m| {
            let md = md(m, "md1");
            md.metadata = Some(metadata.into());
            (md.consistency_policy, md.degraded) = (Known(Some(policy.into())), Known(Some(degraded)));
            let failed = MdMember { slot: None, state: vec!["faulty".into()], ..md.members[0].clone() };
            md.members.push(MdMember { device: "sdz".into(), ..failed });
            md.members[1].state.push("want_replacement".into());
        });
    }
    for (level, policy) in
        [("raid5", "bitmap"), ("raid5", "resync"), ("raid6", "bitmap"), ("raid6", "resync"), ("raid4", "bitmap")]
    {
        plant(&|m| {
            let md = md(m, "md1");
            (md.level, md.consistency_policy) = (level.into(), Known(Some(policy.into())));
            md.bitmap = Known(Some("none".into()));
        });
    }
    for uuid in ["CRYPT-LUKS1-1-a", "CRYPT-LUKS2-1-a", "CRYPT-LUKS", "CRYPT-PLAIN-a", "CRYPT-TCRYPT-a", "CRYPT-BITLK-a"]
    {
        plant(&|m| {
            dm(m, "dm-2").uuid = Some(uuid.into());
            crypt(m).sector = terms::Bytes(512);
            crypt(m).flags = vec!["same_cpu_crypt".into(), "no_read_workqueue".into()];
            node(m, "dm-2").queue.discard_max = Known(terms::Bytes(0));
            m.kernel = "6.1.0".into();
        });
    }
    for degraded in [1, 3] {
        plant(&|m| {
            let md = md(m, "md1");
            md.degraded = Known(Some(degraded));
            md.members.last_mut().unwrap().state = vec!["faulty".into()];
        });
    }
    for mode in ["rw", "ro", "out_of_data_space", "fail"] {
        plant(&|m| {
            let pool = thin(m);
            (pool.data_blocks, pool.metadata_blocks, pool.mode) =
                (Known([99, 100]), Known([99, 100]), Known(mode.into()));
        });
    }
    for state in ["ONLINE", "DEGRADED", "UNAVAIL", "SUSPENDED", "FAULTED"] {
        for leaf in ["ONLINE", "FAULTED", "UNAVAIL", "REMOVED", "OFFLINE"] {
            plant(&|m| {
                pool(m).state = state.into();
                vdev(m, 0).children[1].state = leaf.into();
                vdev(m, 0).children[1].errors = [1, 2, 3];
            });
        }
    }
    for (transport, belief) in [
        (DriveTransport::Nvme, "write back"),
        (DriveTransport::Sata, "write back"),
        (DriveTransport::Sas, "write through"),
    ] {
        plant(&|m| {
            let drive = drive(m, "nvme4n1");
            drive.transport = transport;
            drive.detail.as_mut().unwrap().write_cache_on = Known(Some(false));
            node(m, "nvme4n1").queue.write_cache = Known(belief.into());
        });
    }
    for kind in ["xfs", "ext4", "swap", "crypto_LUKS", "DM_integrity", "vfat"] {
        plant(&|m| {
            for name in ["nvme10n1", "md2"] {
                let signature =
                    terms::inventory::Signature { kind: kind.into(), uuid: Some("same".into()), ..Default::default() };
                known(&mut node(m, name).signatures).push(signature);
            }
        });
    }
    for line in [
        "critical medium error, dev sda, sector 8 op 0x0:(READ) flags 0x0",
        "XFS (sda1): Metadata CRC error detected at xfs_agi_read_verify+0x7d/0xdd [xfs], xfs_agi block 0x2",
        "BTRFS error (device sda1): parent transid verify failed on 8192 wanted 9 found 7",
    ] {
        plant(&|m| say(m, line));
    }
    all
}

#[test]
fn no_command_loses_more_than_its_remedy_says() {
    let mut wrong = Vec::new();
    for inventory in planted() {
        for found in found(&inventory) {
            for step in &found.steps {
                let command = &step.command;
                match least_of_line(command) {
                    None => wrong.push(format!("{}: `{command}` is not in the table", found.check)),
                    Some(least) if said(&step.effect) < least => {
                        wrong.push(format!(
                            "{}: `{command}` can lose {least:?} and says {:?}",
                            found.check, step.effect
                        ));
                    }
                    Some(_) => {}
                }
                if let Some(never) = NEVER.iter().find(|never| command.contains(**never)) {
                    wrong.push(format!("{}: `{command}` has `{never}`", found.check));
                }
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_loses_data_is_looked_at_first_and_told_as_lost() {
    for inventory in planted() {
        for found in found(&inventory) {
            let losing = found.steps.iter().position(|step| said(&step.effect) >= Brought);
            let Some(at) = losing else { continue };
            assert!(
                found.steps[..at].iter().any(|step| step.effect == Effect::Asks),
                "{}: {:?}",
                found.check,
                found.steps
            );
            let told = found.told();
            assert!(told.remedy.destroys.is_some(), "{told:?}");
        }
    }
}

#[test]
fn the_table_refuses_what_it_does_not_know() {
    for command in [
        "rm -rf /",
        "mkfs.ext4 /dev/sda",
        "zpool destroy tank",
        "mdadm --zero-superblock /dev/sda",
        "nvme sanitize /dev/nvme0",
    ] {
        assert_eq!(least_of_line(command), None, "{command}");
    }
    assert_eq!(least_of_line("zpool status t && wipefs -a /dev/sda"), Some(Data));
    assert_eq!(least_of_line("mdadm /dev/md0 --add NEW"), Some(Brought));
}

/// Profiles that a command converts to, by the letter of what is converted.
fn targets(command: &str) -> Vec<(char, &str)> {
    let filters = command.split_whitespace().filter_map(|word| word.split_once("convert="));
    filters.map(|(letter, to)| (letter.chars().nth(1).unwrap(), to.split(',').next().unwrap())).collect()
}

#[test]
fn no_conversion_of_btrfs_takes_redundancy_away_or_wants_more_devices_than_there_are() {
    let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).chain(["unknown"]).collect();
    for devices in 2..=4 {
        for one in &names {
            for other in &names {
                for kind in ["data", "metadata", "system"] {
                    let mut m = clean();
                    profile(&mut m, kind, &[one, other]);
                    for _ in 2..devices {
                        let more = btrfs(&mut m).devices[0].clone();
                        btrfs(&mut m).devices.push(more);
                    }
                    let has = known(&mut btrfs(&mut m).profiles).clone();
                    for step in found(&m).iter().flat_map(|found| &found.steps) {
                        for (letter, to) in targets(&step.command) {
                            let kinds = if letter == 'd' { &["data"][..] } else { &["metadata", "system"] };
                            let names: Vec<&String> = kinds.iter().flat_map(|kind| &has[*kind]).collect();
                            let (to, best) = (of_profile(to).unwrap(), most(&names).unwrap());
                            assert!(to.may_lose >= best.may_lose && to.devices <= devices, "{has:?}: {}", step.command);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_order_of_profiles_is_that_of_what_they_survive() {
    assert!(PROFILES.is_sorted_by_key(|profile| profile.may_lose));
}

/// All arrays and pools at work, or waiting for it.
fn at_work(m: &mut Inventory, waits: bool) {
    let fill = |md: &mut Md| {
        md.degraded = Known(Some(1));
        md.sync_action = Known(Some("recover".into()));
        md.sync_waits = waits;
        md.members.last_mut().unwrap().state = vec!["spare".into()];
    };
    for node in &mut detail(m).nodes {
        node.md.iter_mut().filter(|md| md.level != "raid0" && md.level != "linear").for_each(fill);
        for target in node.dm.iter_mut().filter_map(|dm| match &mut dm.targets {
            Known(targets) => Some(targets),
            _ => None,
        }) {
            for target in target {
                if let Meaning::Raid(raid) = &mut target.meaning {
                    (raid.health, raid.sync_action) = (Known("Aa".into()), Known("recover".into()));
                }
            }
        }
    }
    if let Known(pools) = &mut detail(m).pools {
        pools.iter_mut().for_each(|pool| pool.scan = Some("resilver in progress since today".into()));
    }
    for system in &mut detail(m).file_systems {
        system.btrfs.iter_mut().for_each(|btrfs| btrfs.operation = Known(Some("device replace".into())));
    }
}

/// Kinds of places that are an array, a pool or a btrfs, or a part of one.
const OWN: [&str; 6] = ["array", "pool", "virtual device", "member", "device", "dataset"];
/// Kinds of places that stand under such, or on it.
const NEAR: [&str; 5] = ["drive", "mapping", "physical volume", "volume group", "file system"];
/// What of the clean machine has no part in any of them.
const APART: [&str; 4] = ["md2", "loop", "/scratch", "nvme10n1"];

#[test]
fn what_is_rebuilding_or_waiting_is_not_repaired() {
    for waits in [false, true] {
        for mut inventory in planted() {
            at_work(&mut inventory, waits);
            for found in
                found(&inventory).iter().filter(|found| APART.iter().all(|apart| !found.place.name.contains(apart)))
            {
                let kind = found.place.kind.as_str();
                let most = match (OWN.contains(&kind), NEAR.contains(&kind)) {
                    (true, _) => Asks,
                    (false, true) => Nothing,
                    _ => continue,
                };
                for step in found.steps.iter().filter(|step| step.effect != Effect::Sets) {
                    assert!(said(&step.effect) <= most, "{} ({}): {step:?}", found.check, found.place);
                }
            }
        }
    }
}

#[test]
fn what_has_lost_a_member_does_not_lose_another() {
    let mut m = clean();
    crypt(&mut m).sector = terms::Bytes(512);
    integrity(&mut m).block = terms::Bytes(512);
    md(&mut m, "md0").degraded = Known(Some(1));
    let all = found(&m);
    let of = |check: &str| all.iter().find(|found| found.check == check).unwrap();
    assert!(of("integrity-sector").steps.iter().all(|step| step.effect == Effect::Asks));
    assert!(of("integrity-sector").advice.starts_with("First make the array mirror (md0) whole"));
    assert!(of("encryption-sector").steps.iter().all(|step| step.effect == Effect::Asks));
    // What makes it whole is allowed.
    assert!(of("array-degraded").steps.iter().any(|step| said(&step.effect) == Brought));
}

#[test]
fn a_member_of_something_with_redundancy_is_not_overwritten() {
    let mut m = clean();
    integrity(&mut m).block = terms::Bytes(512);
    node(&mut m, "nvme2n1p1").partition.as_mut().unwrap().start = terms::Bytes(63 * 512);
    for (check, group) in [("integrity-sector", "array mirror (md0)"), ("partition-alignment", "array parity (md1)")] {
        let found = found(&m).into_iter().find(|found| found.check == check).unwrap();
        assert!(found.steps.iter().all(|step| step.effect == Effect::Asks), "{found:?}");
        assert!(found.advice.starts_with(&format!("It is a part of the {group}")), "{found:?}");
    }
}

#[test]
fn what_is_lost_with_a_member_is_said() {
    let mut m = clean();
    node(&mut m, "nvme2n1p2").partition.as_mut().unwrap().start = terms::Bytes(63 * 512);
    let found = found(&m).into_iter().find(|found| found.check == "partition-alignment").unwrap().told();
    assert!(found.remedy.destroys.unwrap().contains("with it what the array stripe (md2) has there"));
}

/// A word outside quotation marks that a shell would act on.
fn acts(command: &str) -> bool {
    let outside = command.split('\'').step_by(2).collect::<String>();
    outside.contains("EVIL")
}

#[test]
fn names_of_a_machine_are_never_words_of_a_shell() {
    let evil = "x;$(EVIL)";
    for mut m in planted() {
        for node in &mut detail(&mut m).nodes {
            node.label.iter_mut().for_each(|label| *label = evil.into());
            node.dm.iter_mut().for_each(|dm| dm.name = evil.into());
        }
        for system in &mut detail(&mut m).file_systems {
            system.targets.iter_mut().for_each(|target| *target = evil.into());
        }
        if let Known(mounts) = &mut detail(&mut m).mounts {
            mounts.iter_mut().for_each(|mount| mount.target = evil.into());
        }
        if let Known(pools) = &mut detail(&mut m).pools {
            for pool in pools {
                pool.name = evil.into();
                if let Known(datasets) = &mut pool.datasets {
                    datasets.iter_mut().for_each(|dataset| dataset.name = evil.into());
                }
            }
        }
        if let Known(groups) = &mut detail(&mut m).volume_groups {
            for group in groups {
                group.name = evil.into();
                group.logical.iter_mut().for_each(|volume| volume.name = evil.into());
            }
        }
        if let Known(swaps) = &mut detail(&mut m).swaps {
            swaps.iter_mut().for_each(|swap| swap.device = evil.into());
        }
        for found in found(&m) {
            for step in found.steps {
                assert!(!acts(&step.command), "{}: {}", found.check, step.command);
            }
        }
    }
}
