//! Texts that people post: what is found in them, and that a part of one neither passes a check nor finds what the whole
//! does not.

use std::collections::BTreeSet;

use host::{inspect, posted};
use proptest::prelude::*;
use terms::diagnosis::{CheckEnd, Diagnosis, Severity};

use crate::diagnose;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../host/src/posted/samples/", $name))
    };
}

const TEXTS: [&str; 20] = [
    sample!("lspci-vv.txt"),
    sample!("lspci-tv.txt"),
    sample!("lsblk.txt"),
    sample!("lsblk-topology.txt"),
    sample!("lsblk.json"),
    sample!("mdstat.txt"),
    sample!("mdadm-detail-old.txt"),
    sample!("zpool-status.txt"),
    sample!("zdb.txt"),
    sample!("nvme-list-old.txt"),
    sample!("nvme-id-ns-H.txt"),
    sample!("nvme-smart-log.txt"),
    sample!("nvme-smart-log-old.txt"),
    sample!("smartctl-x-sata.txt"),
    sample!("smartctl-a-desktop.txt"),
    sample!("smartctl-x-sas.txt"),
    sample!("luksDump2.txt"),
    sample!("grep-scheduler.txt"),
    sample!("df.txt"),
    sample!("dmesg.txt"),
];

fn diagnosis(text: &str) -> Diagnosis {
    diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap())
}

fn found(diagnosis: &Diagnosis) -> Vec<(&str, &str, Severity)> {
    diagnosis.findings.iter().map(|found| (found.check.as_str(), found.place.name.as_str(), found.severity)).collect()
}

#[test]
fn faults_are_found_in_what_was_posted() {
    use Severity::{Error, Information, Warning};
    for (text, wanted) in [
        (
            sample!("smartctl-x-sata.txt"),
            &[
                ("drive-media-errors", "sda", Warning),
                ("drive-self-test", "sda", Error),
                ("drive-line-errors", "sda", Information),
                ("line-below-drive", "sda", Information),
            ][..],
        ),
        (
            sample!("smartctl-a-desktop.txt"),
            &[("drive-critical-warning", "sdX", Error), ("drive-media-errors", "sdX", Warning)],
        ),
        (sample!("smartctl-x-sas.txt"), &[("drive-media-errors", "sdf", Warning), ("drive-self-test", "sdf", Error)]),
        (
            sample!("nvme-smart-log.txt"),
            &[("drive-wear", "nvme0n1", Information), ("drive-throttled", "nvme0n1", Information)],
        ),
        (
            sample!("nvme-smart-log-old.txt"),
            &[("drive-spare", "nvme1n1", Error), ("drive-critical-warning", "nvme1n1", Error)],
        ),
        (
            sample!("nvme-id-ns-H.txt"),
            &[("lba-format", "nvme2n1", Information), ("lba-metadata", "nvme2n1", Information)],
        ),
        (sample!("mdadm-detail.txt"), &[("array-degraded", "md0", Error), ("array-resyncing", "md0", Error)]),
        (sample!("luksDump2.txt"), &[("encryption-sector", "NAME (dm-X)", Information)]),
        (sample!("df.txt"), &[("file-system-space", "/srv", Warning)]),
        (sample!("lspci-vv.txt"), &[("link-below-both-ends", "0000:01:00.0", Error)]),
    ] {
        let diagnosis = diagnosis(text);
        let found = found(&diagnosis);
        for one in wanted {
            assert!(found.contains(one), "{one:?} not in {found:?}; unknown {:?}", diagnosis.unknown);
        }
    }
}

#[test]
fn a_drive_without_a_limit_in_an_array_is_found_without_the_kernels_side() {
    let limit =
        "SCT Error Recovery Control:\n           Read:     70 (7.0 seconds)\n          Write:     70 (7.0 seconds)";
    let off = "SCT Error Recovery Control:\n           Read: Disabled\n          Write: Disabled";
    let smart = sample!("smartctl-x-sata.txt").replace(limit, off);
    assert!(smart.contains(off));
    let array = "Personalities : [raid1]\nmd0 : active raid1 sdb[1] sda[0]\n      100 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n";
    let diagnosis = diagnosis(&format!("{array}{smart}"));
    let found = diagnosis.findings.iter().find(|found| found.check == "recovery-time-out").unwrap();
    assert!(found.why.contains("was not read; it is 30 s unless"), "{}", found.why);
    assert_eq!(found.remedy.commands, ["smartctl -l scterc /dev/sda", "smartctl -l scterc,70,70 /dev/sda"]);
}

/// A rebuild reads all that is left.
#[test]
fn a_last_copy_that_cannot_be_read_is_copied_first() {
    let smart = sample!("smartctl-x-sata.txt");
    assert!(smart.contains("197 Current_Pending_Sector") || smart.contains("Current_Pending_Sector"));
    let array = |members: &str, map: &str| {
        format!(
            "Personalities : [raid1]\nmd0 : active raid1 {members}\n      3906764800 blocks super 1.2 {map}\n\nunused devices: <none>\n{smart}"
        )
    };
    let adds = |text: &str| {
        let diagnosis = diagnosis(text);
        let found = diagnosis.findings.into_iter().find(|found| found.check == "array-degraded").unwrap();
        let adds = found.remedy.commands.iter().any(|command| command.contains("add"));
        (adds, found.remedy.advice)
    };
    // The one that is left has pending sectors; another one is left; two are.
    let (added, advice) = adds(&array("sda1[1] sdb1[0](F)", "[2/1] [_U]"));
    assert!(!added && advice.contains("sda holds what the array has nowhere else"), "{advice}");
    let (added, advice) = adds(&array("sdc1[1] sda1[0](F)", "[2/1] [_U]"));
    assert!(added && !advice.contains("nowhere else"), "{advice}");
    let (added, _) = adds(&array("sda1[1] sdb1[0](F) sdc1[2]", "[3/2] [_UU]"));
    assert!(added);
}

const RAID5: &str = "Personalities : [raid6] [raid5] [raid4]\n\
    md0 : active raid5 sde1[4] sdd1[2] sdc1[1] sdb1[0]\n      8790402048 blocks super 1.2 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]\n\n\
    unused devices: <none>\n";

/// `mdadm --create` numbers the last member of a parity array past its places.
#[test]
fn a_member_that_is_gone_is_not_taken_for_one_that_is_filled() {
    for gone in ["", " sdd1[2](F)"] {
        let text = RAID5.replace(" sdd1[2]", gone).replace("[4/4] [UUUU]", "[4/3] [UU_U]");
        let diagnosis = diagnosis(&text);
        let found = diagnosis.findings.iter().find(|found| found.check == "array-degraded").unwrap();
        assert!(found.what.contains("1 of 4 members are missing or faulty"), "{}", found.what);
        assert!(found.remedy.commands.iter().any(|command| command == "mdadm /dev/md0 --re-add MEMBER"), "{found:?}");
        let removes = found.remedy.commands.iter().any(|command| command == "mdadm /dev/md0 --remove failed");
        assert_eq!(removes, !gone.is_empty());
    }
    // One of two is filled, and nothing tells which.
    let text = RAID5.replace(" sdd1[2]", " sdd1[5]").replace("[4/4] [UUUU]", "[4/3] [UU_U]");
    let diagnosis = diagnosis(&text);
    let found = diagnosis.findings.iter().find(|found| found.check == "array-degraded").unwrap();
    assert!(
        found.what.contains("3 of 4 members are in sync, and 1 of sdd1 and sde1 waits to be filled"),
        "{}",
        found.what
    );
    // A spare took the place of what failed.
    let bar = "[4/3] [UU_U]\n      [==>..] recovery = 12.6% (126/1000) finish=1.0min speed=100K/sec";
    let text = RAID5.replace(" sdd1[2]", " sdd1[5] sdf1[2](F)").replace("[4/4] [UUUU]", bar);
    let diagnosis = self::diagnosis(&text);
    let found = diagnosis.findings.iter().find(|found| found.check == "array-degraded").unwrap();
    let adds = found.remedy.commands.iter().any(|command| command.contains("--add"));
    assert!(found.remedy.advice.contains("Let it finish") && !adds, "{found:?}");
    assert!(
        RAID5.contains("[UUUU]") && self::diagnosis(RAID5).findings.iter().all(|found| found.check != "array-degraded")
    );
}

#[test]
fn an_array_of_firmware_is_no_array_that_does_not_start() {
    let text = "Personalities : [raid1]\nmd126 : active raid1 sda[1] sdb[0]\n      976759808 blocks super external:/md127/0 [2/2] [UU]\n\n\
        md127 : inactive sdb[1](S) sda[0](S)\n      6306 blocks super external:imsm\n\nunused devices: <none>\n";
    assert!(found(&diagnosis(text)).iter().all(|(check, _, _)| *check != "array-not-running"));
    let detail = "/dev/md127:\n           Version : imsm\n        Raid Level : container\n     Total Devices : 2\n\n   Working Devices : 2\n\n\
        \x20    Member Arrays : /dev/md/Volume1_0\n\n    Number   Major   Minor   RaidDevice\n\n       -       8       16        -        /dev/sdb\n\
        \x20      -       8        0        -        /dev/sda\n";
    assert!(posted::read([("post", detail)]).refused.is_empty());
    assert!(found(&diagnosis(detail)).iter().all(|(check, _, _)| *check != "array-not-running"));
    let other = text.replace("external:imsm", "1.2");
    assert!(found(&diagnosis(&other)).contains(&("array-not-running", "md127", Severity::Error)));
}

/// The header's version decides what can be done to it.
#[test]
fn a_header_that_tells_its_version_is_encrypted_anew_and_not_made_anew() {
    for version in ["", "Version:       \t2\n", "Version:       \t1\n"] {
        let text = format!(
            "# cryptsetup luksDump /dev/sda2\nLUKS header information\n{version}Data segments:\n  0: crypt\n\tsector: 512 [bytes]\n"
        );
        for found in diagnosis(&text).findings.iter().filter(|found| found.check == "encryption-sector") {
            let commands = found.remedy.commands.join("\n");
            assert!(
                commands.contains("cryptsetup reencrypt") && !commands.contains("luksFormat"),
                "{version}: {commands}"
            );
            assert_eq!(commands.contains("cryptsetup convert"), version.contains('1'), "{version}: {commands}");
        }
    }
}

#[test]
fn a_part_of_what_smartctl_prints_tells_of_its_drive() {
    let all = sample!("smartctl-x-sata.txt");
    let start = all.find("ID# ATTRIBUTE_NAME").unwrap();
    let end = start + all[start..].find("\n\n").unwrap();
    let text = |table: &str| {
        format!(
            "# smartctl -A /dev/sda\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
            === START OF READ SMART DATA SECTION ===\nVendor Specific SMART Attributes with Thresholds:\n{table}\n\n"
        )
    };
    let table = &all[start..end];
    let bad = ("drive-media-errors", "sda", Severity::Warning);
    assert!(found(&diagnosis(&text(table))).contains(&bad));
    // A row that was wrapped hides no other.
    let odd = table.replacen(
        '\n',
        "\n  3 Spin_Up_Time            0x0027   178   172   021    Pre-fail  Always       -\n6091\n",
        1,
    );
    assert!(found(&diagnosis(&text(&odd))).contains(&bad));
    let failed = "# smartctl -H /dev/sda\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
        === START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: FAILED!\n\n";
    assert!(found(&diagnosis(failed)).contains(&("drive-critical-warning", "sda", Severity::Error)));
}

#[test]
fn what_posting_put_before_each_line_goes_and_what_it_took_is_not_guessed() {
    let wanted = found(&diagnosis(sample!("zpool-status.txt"))).len();
    assert!(wanted > 0);
    let before =
        |sign: &str| sample!("zpool-status.txt").lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    for text in [before("> "), before("    "), before("> > "), format!("\u{feff}{}", sample!("zpool-status.txt"))] {
        assert_eq!(found(&diagnosis(&text)).len(), wanted, "{text}");
    }
    let flat = "  pool: tank\n state: ONLINE\nconfig:\n\nNAME STATE READ WRITE CKSUM\ntank ONLINE 0 0 0\nmirror-0 ONLINE 0 0 0\n\
        sda ONLINE 0 0 0\nsdb ONLINE 0 0 37\nspares\nsdc AVAIL\n\nerrors: No known data errors\n";
    let posted = posted::read([("post", flat)]);
    let is_refused = posted.refused.iter().any(|refused| refused.contains("blanks before its devices are lost"));
    assert!(is_refused, "{:?}", posted.refused);
    let stripe = flat.replace("mirror-0 ONLINE 0 0 0\n", "");
    let diagnosis = diagnosis(&stripe);
    let state = diagnosis.findings.iter().find(|found| found.check == "zfs-pool-state").unwrap();
    assert!(state.why.contains("sdb 0/0/37"), "{}", state.why);
}

#[test]
fn an_array_that_was_not_started_says_so_in_both_texts() {
    let text = "/dev/md0:\n           Version : 1.2\n        Raid Level : raid0\n     Total Devices : 2\n\n             State : inactive\n\
        \n    Number   Major   Minor   RaidDevice\n\n       -       8       33        -        /dev/sdc1\n       -       8       17        -        /dev/sdb1\n";
    assert!(found(&diagnosis(text)).contains(&("array-not-running", "md0", Severity::Error)));
}

#[test]
fn drives_behind_a_controller_are_not_its_volume() {
    let of = |number: u32, serial: &str, pending: u32| {
        format!(
            "# smartctl -a -d megaraid,{number} /dev/sda\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\
             === START OF INFORMATION SECTION ===\nDevice Model:     ST4000NM0035\nSerial Number:    {serial}\n\
             === START OF READ SMART DATA SECTION ===\n\
             ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
             197 Current_Pending_Sector  0x0012   100   098   000    Old_age   Always       -       {pending}\n\n"
        )
    };
    let diagnosis = diagnosis(&(of(4, "ZC1AAAA1", 0) + &of(5, "ZC1BBBB2", 216)));
    assert!(found(&diagnosis).contains(&("drive-media-errors", "sdY", Severity::Warning)), "{:?}", found(&diagnosis));
}

#[test]
fn a_drive_that_died_is_no_empty_port() {
    let port = "[ 1000.1] ata5: hard resetting link\n[ 1001.0] ata5: SATA link down (SStatus 0 SControl 300)\n";
    let told = |text: &str| found(&diagnosis(text)).iter().any(|(check, _, _)| *check == "read-write-errors");
    assert!(!told(port) && told(&format!("{port}[ 1007.0] ata5.00: disabled\n")));
}

#[test]
fn a_partition_is_made_anew_where_a_block_of_a_shifted_drive_begins() {
    let text = "# fdisk -l /dev/sda\nDisk /dev/sda: 1.82 TiB, 2000398934016 bytes, 3907029168 sectors\n\
        Sector size (logical/physical): 512 bytes / 4096 bytes\nI/O size (minimum/optimal): 4096 bytes / 4096 bytes\n\
        Alignment offset: 3584 bytes\nDisklabel type: dos\n\n\
        Device     Boot Start        End    Sectors  Size Id Type\n/dev/sda1       2048 3907024064 3907022017 1.8T 83 Linux\n\n";
    let diagnosis = diagnosis(text);
    let found = diagnosis.findings.iter().find(|found| found.check == "partition-alignment").unwrap();
    assert!(found.seen.iter().any(|seen| seen.source.ends_with("alignment_offset (3584)")), "{found:?}");
    // 1 MiB and 3584 bytes.
    assert!(found.remedy.commands.iter().any(|command| command.contains("mkpart primary 1052160B ")), "{found:?}");
}

/// The other device may have the number that is guessed, and would be replaced.
#[test]
fn the_number_of_a_missing_device_is_not_guessed() {
    let text = "Overall:\n    Device missing:\t\t   2.73TiB\n\nData,single: Size:3.01TiB, Used:2.89TiB\n   /dev/sda\t   1.51TiB\n\
        \x20  missing\t   1.51TiB\n";
    let diagnosis = diagnosis(text);
    let found = diagnosis.findings.iter().find(|found| found.check == "btrfs-device-missing").unwrap();
    assert!(found.remedy.commands.contains(&"btrfs replace start DEVID NEW TARGET".to_owned()), "{found:?}");
}

/// The numbers of those that are there are no help: one between them may have been removed long ago.
#[test]
fn a_missing_device_has_no_number_that_is_free_and_what_it_has_is_not_lost() {
    let show = "Label: none  uuid: 3112349d-3cf0-4ccb-b3d3-6fbb1a872a4a\n\tTotal devices 3 FS bytes used 5.11TiB\n\
        \tdevid    1 size 2.73TiB used 2.61TiB path /dev/sdb\n\tdevid    3 size 2.73TiB used 2.61TiB path /dev/sdd\n\
        \t*** Some devices missing\n\n";
    let scrub = "# btrfs scrub status /srv\nUUID:             3112349d-3cf0-4ccb-b3d3-6fbb1a872a4a\n\
        Scrub started:    Sun Nov  1 03:10:02 2026\nStatus:           finished\nDuration:         4:11:19\n\
        Total to scrub:   5.11TiB\nRate:             355.00MiB/s\nError summary:    csum=18\n  Corrected:      0\n  Uncorrectable:  18\n\
        \x20 Unverified:     0\n\n";
    for (text, lacks) in [(format!("{show}{scrub}"), true), (scrub.to_owned(), false)] {
        let diagnosis = diagnosis(&text);
        let of = |check: &str| diagnosis.findings.iter().find(|found| found.check == check);
        assert_eq!(of("btrfs-device-missing").is_some(), lacks);
        if let Some(found) = of("btrfs-device-missing") {
            assert_eq!(found.remedy.commands.last().unwrap(), "btrfs replace start DEVID NEW /srv", "{found:?}");
            assert!(found.remedy.commands.contains(&"btrfs device usage /srv".to_owned()), "{found:?}");
        }
        let advice = &of("btrfs-scrub").unwrap().remedy.advice;
        assert_eq!((advice.contains("Remove nothing"), advice.contains("or remove them")), (lacks, !lacks), "{advice}");
    }
}

/// What several texts together may tell, and none of them alone; and the nearer end of a link, which tells less than both.
const JOINED: [&str; 5] =
    ["bandwidth-message", "recovery-time-out", "link-below-both-ends", "encryption-sector", "link-below-drive"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_part_of_what_was_posted_passes_nothing_and_finds_nothing_else(
        parts in prop::collection::vec((0..TEXTS.len(), any::<prop::sample::Index>()), 1..4),
    ) {
        let (mut part, mut whole) = (String::new(), BTreeSet::new());
        for (which, lines) in parts {
            let all: Vec<&str> = TEXTS[which].split_inclusive('\n').collect();
            part.extend(all.iter().take(3 + lines.index(all.len())).copied());
            whole.extend(diagnosis(TEXTS[which]).findings.into_iter().map(|found| found.check));
        }
        let diagnosis = diagnosis(&part);
        for check in &diagnosis.checks {
            prop_assert!(check.state != CheckEnd::Passed, "{} passed", check.check);
        }
        for found in &diagnosis.findings {
            let known = whole.contains(&found.check) || JOINED.contains(&found.check.as_str());
            prop_assert!(known, "{}: {}", found.check, found.what);
        }
    }
}
