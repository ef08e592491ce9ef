//! What programs say where they fail, texts of which most was filtered away, and machines whose arrays have the same names.

use host::{inspect, posted};
use terms::diagnosis::Diagnosis;
use terms::diagnosis::Severity::{Error, Information, Warning};

use super::posts::{check, post};
use crate::diagnose;

fn diagnosis(text: &str) -> Diagnosis {
    diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap())
}

/// What is found: what is so, what to do, and what to type.
fn told(text: &str) -> String {
    let said = diagnosis(text).findings.into_iter();
    said.map(|found| format!("{} {} {}: {:?}\n", found.check, found.place, found.what, found.remedy)).collect()
}

#[test]
fn programs_that_could_not_do_what_they_were_asked_to() {
    let machine = "";
    for (text, found) in [
        (
            "mint systemd-fsck[512]: /dev/sda3: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n",
            ("went-read-only", machine, Error, "sda3"),
        ),
        (
            "cannot import 'tank': I/O error\n\tDestroy and re-create the pool\n",
            ("went-read-only", machine, Error, "readonly=on"),
        ),
        ("Device /dev/sdb1 is not a valid LUKS device.\n", ("went-read-only", machine, Warning, "sdb1")),
        (
            "mount: /mnt: wrong fs type, bad option, bad superblock on /dev/sdb1, missing codepage.\n",
            ("went-read-only", machine, Warning, "sdb1"),
        ),
        (
            "Mär 03 09:14:55 pc systemd[1]: Timed out waiting for device /dev/disk/by-uuid/1c5b0a5d-3d36.\n",
            ("went-read-only", machine, Warning, "1c5b0a5d-3d36"),
        ),
        (
            "mdadm: /dev/md1 assembled from 2 drives - not enough to start the array.\n",
            ("read-write-errors", machine, Error, "md1"),
        ),
        (
            "mdadm: Failed to restore critical section for reshape, sorry.\n",
            ("read-write-errors", machine, Error, "--backup-file"),
        ),
        (
            "Oct 07 00:11:51 desk fstrim[20311]: fstrim: /home: FITRIM ioctl failed: Input/output error\n",
            ("read-write-errors", machine, Warning, "trimmed"),
        ),
        (
            "# hdparm -N /dev/sdb\n\n/dev/sdb:\n max sectors   = 1953523055/1953525168, HPA is enabled\n",
            ("read-write-errors", machine, Information, "sdb"),
        ),
        (
            "hcil dev dev_t pri dm_st chk_st dev_st next_check\n2:0:0:1 sdd 8:48  50  failed faulty running XX........ 2/10\n",
            ("read-write-errors", machine, Warning, "sdd"),
        ),
        (
            "Bad news: The device `/dev/sdc' is a counterfeit of type limbo\n",
            ("read-write-errors", machine, Error, "sdc"),
        ),
        (
            "  WARNING: PV aaa on /dev/sdb4 was already found on /dev/sda4.\n  PV VG Fmt Attr PSize PFree\n  /dev/sda4 vg lvm2 a-- 1g 1g\n",
            ("duplicate-uuid", machine, Error, "sdb4 and sda4"),
        ),
        (
            "Apr 07 08:44:17 db2 mdadm[713]: RebuildFinished event detected on md device /dev/md1, component device  mismatches found: 1152 (on raid level 10)\n",
            ("checksum-messages", machine, Warning, "md1"),
        ),
        (
            "# smartctl -l xerror /dev/sdc\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n=== START OF READ SMART DATA SECTION ===\n\
             SMART Extended Comprehensive Error Log Version: 1 (4 sectors)\nDevice Error Count: 212\n\
               84 -- 51 00 00 00 00 9c 24 f1 00 00 00  Error: ICRC, ABRT at LBA = 0x9c24f100 = 2619666688\n",
            ("read-write-errors", machine, Warning, "cable"),
        ),
        (
            "Apr 29 07:10:12 titan mdadm[713]: mdadm: No mail address or alert command - not monitoring.\n",
            ("read-write-errors", machine, Warning, "MAILADDR"),
        ),
        (
            "# xfs_repair -n /dev/sdb1\nPhase 1 - find and verify superblock...\nPhase 2 - using internal log\n\
             ALERT: The filesystem has valuable metadata changes in a log which is being\nignored because the -n option was used.\n",
            ("went-read-only", machine, Warning, "Mount it and unmount it"),
        ),
        (
            "# xfs_repair -n /dev/sdb1\nPhase 1 - find and verify superblock...\nPhase 6 - check inode connectivity...\n\
             entry \"a\" in directory inode 128 points to free inode 99, would junk entry\nNo modify flag set, skipping filesystem flush and exiting.\n",
            ("went-read-only", machine, Error, "would repair"),
        ),
        (
            "Warning!  /dev/mapper/vg0-root is mounted.\nPass 1: Checking inodes, blocks, and sizes\nDeleted inode 393312 has zero dtime.  Fix? no\n\
             /dev/mapper/vg0-root: ********** WARNING: Filesystem still has errors **********\n\
             /dev/mapper/vg0-root: 211203/3276800 files (0.3% non-contiguous), 7986869/13107200 blocks\n",
            ("went-read-only", machine, Information, "while it is mounted"),
        ),
        (
            "e2fsck 1.47.0 (5-Feb-2023)\nPass 1: Checking inodes, blocks, and sizes\nInode 12 has zero dtime.  Fix? no\n\
             /dev/sdb1: ********** WARNING: Filesystem still has errors **********\n/dev/sdb1: 12/65536 files (0.0% non-contiguous), 8859/262144 blocks\n",
            ("went-read-only", machine, Error, "Have a copy first"),
        ),
        (
            "Oct 03 21:14:09 arch kernel: BTRFS critical (device dm-0): corrupt leaf: root=5 block=1482702848 slot=41, bad key order, prev (288230376155219034 96 8) current (3767130 96 9)\n\
             Oct 03 21:14:09 arch kernel: BTRFS error (device dm-0): block=1482702848 write time tree block corruption detected\n\
             Oct 03 21:14:09 arch kernel: BTRFS info (device dm-0: state E): forced readonly\n",
            ("went-read-only", machine, Error, "Test the memory first"),
        ),
        (
            "[  101.3] megaraid_sas 0000:03:00.0: 4113 (731312411s/0x0008/CRIT) - BBU disabled; changing WB virtual disks to WT, Forced WB VDs are not affected\n",
            ("read-write-errors", machine, Warning, "battery or capacitor replaced"),
        ),
        (
            "[    1.0] megaraid_sas 0000:02:00.0: 1234 (512345678s/0x0001/CRIT) - VD 01/1 is now DEGRADED\n",
            ("read-write-errors", machine, Error, "lost a drive"),
        ),
        (
            "# ip -s link show ens2f0\n4: ens2f0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether a0:36:9f:11:22:33 brd ff:ff:ff:ff:ff:ff\n\
             \u{20}   RX: bytes  packets  errors  dropped overrun mcast   \n    882110334112 601123441 48220   0       0       1120\n",
            ("read-write-errors", machine, Warning, "transceivers"),
        ),
        (
            "# mdadm -E /dev/sdc2\n/dev/sdc2:\n          Magic : a92b4efc\n        Version : 1.2\n     Array UUID : 0d1c2b3a:49586776:8594a3b2:c1d0e1f2\n   Super Offset : 8 sectors\n\
             \u{20} Bad Block Log : 512 entries available at offset 80 sectors - bad blocks present.\n         Events : 918233\n   Device Role : Active device 2\n   Array State : AAAAAA ('A' == active)\n",
            ("read-write-errors", machine, Warning, "examine-badblocks"),
        ),
    ] {
        let (id, place, severity, words) = found;
        let all = diagnosis(text).findings;
        let own: Vec<_> =
            all.iter().filter(|one| (one.check.as_str(), one.place.name.as_str()) == (id, place)).collect();
        assert_eq!(own.iter().map(|one| one.severity).collect::<Vec<_>>(), [severity], "{text}{all:?}");
        assert!(told(text).contains(words), "no {words}: {}", told(text));
        // Nobody is told to type what destroys.
        let typed: Vec<&String> = all.iter().flat_map(|one| &one.remedy.commands).collect();
        assert!(
            typed.iter().all(|line| !["create", "destroy", "mkfs", "wipefs -a"].iter().any(|word| line.contains(word)))
        );
    }
}

#[test]
fn what_programs_say_of_no_fault() {
    check(&[
        post(
            "hcil dev dev_t\n1:0:0:1 sdb 8:16 50 active ready running XXXX 11/20\n\nNAME TYPE\nsdb disk\n",
            &[],
            &["read-write-errors"],
        ),
        post(
            "# hdparm -N /dev/sda\n\n/dev/sda:\n max sectors   = 7/7, HPA is disabled\n\nNAME TYPE\nsda disk\n",
            &[],
            &["read-write-errors"],
        ),
        post(
            "fstrim: /: FITRIM ioctl failed: Operation not supported\n\nNAME TYPE\nsda disk\n",
            &[],
            &["read-write-errors"],
        ),
        // What is not LUKS and holds something else.
        post(
            "Device /dev/sdb is not a valid LUKS device.\n# wipefs --no-act /dev/sdb\n\
             DEVICE OFFSET        TYPE              UUID                                 LABEL\n\
             sdb    0x218         LVM2_member       kQm7Jp-2Wb1-8zC2-c0aX-N1Yt-9zQh-R0pQxA\n\
             sdb    0x1000        linux_raid_member 1f5d1c9d-8a7f-2a11-bb32-1f5c112d6c0e nas:0\n",
            &[],
            &["went-read-only"],
        ),
        // A later check found nothing any more.
        post(
            "Apr 07 08:44:17 db2 mdadm[7]: RebuildFinished event detected on md device /dev/md1, component device  mismatches found: 8 (on raid level 1)\n\
             May 05 08:44:17 db2 mdadm[7]: RebuildFinished event detected on md device /dev/md1\n",
            &[],
            &["checksum-messages"],
        ),
    ]);
}

#[test]
fn texts_of_which_most_was_filtered_away() {
    check(&[
        post(
            "$ sudo smartctl -A /dev/sdd | egrep 'Reall|Pend'\n  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       88\n\
             197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       40\n",
            &[("drive-media-errors", "sdd", Warning)],
            &[],
        ),
        post(
            "$ smartctl -i /dev/sdb | egrep 'Model|Serial'\nDevice Model:     ST8000DM004-2CX188\nSerial Number:    WCT2K1ZQ\n\
             $ cat /proc/mdstat\nmd5 : active raid6 sdb[0] sdc[1] sdd[2] sde[3]\n      23441682432 blocks super 1.2 level 6, 512k chunk, algorithm 2 [4/4] [UUUU]\n\n",
            &[("shingled-in-array", "sdb", Information)],
            &[],
        ),
        post(
            "# nvme id-ctrl /dev/nvme0 | grep -E '^(mn|fr|sn)'\nsn        : S5GXNX0R812345Z     \nmn        : Samsung SSD 980 PRO 1TB                 \nfr        : 3B2QGXA7\n",
            &[("firmware-fault", "nvme0n1", Warning)],
            &["drive-power-saving"],
        ),
        post(
            "# cat /etc/mdadm/mdadm.conf\nDEVICE /dev/sda1 /dev/sdb1\nMAILADDR root\nARRAY /dev/md0 level=raid5 num-devices=3 UUID=1:2:3:4\n",
            &[("kernel-names-in-files", "/etc/mdadm/mdadm.conf line 1", Warning)],
            &[],
        ),
    ]);
}

#[test]
fn two_machines_with_arrays_of_one_name() {
    let array = |host: &str, health: &str| {
        format!(
            "root@{host}:~# cat /proc/mdstat\nPersonalities : [raid1]\nmd0 : active raid1 sda1[0]{}\n      3906884608 blocks super 1.2 {health}\n\nunused devices: <none>\n\n",
            if health.contains("[2/2]") { " sdb1[1]" } else { "" }
        )
    };
    let (whole, short) = (array("nas1", "[2/2] [UU]"), array("nas2", "[2/1] [U_]"));
    check(&[
        post(format!("{whole}{short}"), &[("array-degraded", "mdX", Error)], &[]),
        post(format!("{short}{whole}"), &[("array-degraded", "md0", Error)], &[]),
        // Of one machine that is two times, and nothing tells which is now.
        post(format!("{whole}{}", short.replace("nas2", "nas1")), &[], &["array-degraded"]),
    ]);
}

#[test]
fn arrays_that_stand_still() {
    let reshape = |speed: &str| {
        format!(
            "md127 : active raid5 sde[4] sdd[3] sdc[1] sdb[0]\n      15627788288 blocks super 1.2 level 5, 512k chunk, algorithm 2 [4/4] [UUUU]\n      \
             [>...]  reshape =  0.0% (1024/7813894144) finish=11392342.8min speed={speed}K/sec\n\n"
        )
    };
    let stands = told(&reshape("0"));
    assert!(stands.contains("stands still") && stands.contains("--grow --continue /dev/md127"), "{stands}");
    assert!(!stands.contains("--wait") && !told(&reshape("90000")).contains("stands still"), "{stands}");
    let detail = "/dev/md0:\n           Version : 1.2\n        Raid Level : raid6\n      Raid Devices : 4\n     Total Devices : 3\n             \
                  State : active, degraded, Not Started \n    Active Devices : 3\n\n    Number   Major   Minor   RaidDevice State\n       \
                  0       8       17        0      active sync   /dev/sdb1\n       1       8       33        1      active sync   /dev/sdc1\n       \
                  -       0        0        2      removed\n       3       8       65        3      active sync   /dev/sde1\n";
    check(&[post(detail, &[("array-not-running", "md0", Error)], &["array-degraded"])]);
    assert!(!told(detail).contains("--add"), "{}", told(detail));
}

#[test]
fn one_fault_is_told_once_and_with_its_own_advice() {
    let full = "[1.0] device-mapper: thin: 252:4: switching pool to out-of-data-space (error IO) mode\n\
                [1.1] Buffer I/O error on dev dm-7, logical block 68157440, lost async page write\n\
                [1.2] critical space allocation error, dev dm-7, sector 545259520 op 0x1:(WRITE) flags 0x800\n";
    assert!(!told(full).contains("requests to drives failed"), "{}", told(full));
    // Another device than the one whose space is full.
    let other = full.replace("Buffer I/O error on dev dm-7", "Buffer I/O error on dev sda");
    assert!(told(&other).contains("requests to drives failed"), "{}", told(&other));
    // A btrfs that had no room is not sent to its drives.
    let room = "[1.0] BTRFS: error (device sda2: state A) in btrfs_create_pending_block_groups:2732: errno=-28 No space left\n\
                [1.1] BTRFS info (device sda2: state EA): forced readonly\n";
    assert!(told(room).contains("No drive has failed") && !told(room).contains("find what failed"), "{}", told(room));
    let failed = room.replace("errno=-28 No space left", "errno=-5 IO failure");
    assert!(
        told(&failed).contains("find what failed") && !told(&failed).contains("No drive has failed"),
        "{}",
        told(&failed)
    );
    // What can only be read is not made larger.
    let read = "[1.0] device-mapper: thin: 253:4: switching pool to read-only mode\n";
    assert!(told(read).contains("lvmthin(7)") && !told(read).contains("make larger what is full"), "{}", told(read));
    let larger =
        "[1.0] EXT4-fs (sdb1): bad geometry: block count 488378368 exceeds size of device (488378112 blocks)\n";
    assert!(told(larger).contains("Repair nothing yet") && told(larger).contains("lsblk -b"), "{}", told(larger));
}

#[test]
fn drives_that_left_their_ports() {
    let left = "[91.1] ata4: SATA link down (SStatus 0 SControl 300)\n[96.5] ata4.00: disable device\n\
                [96.6] ata4.00: detaching (SCSI 3:0:0:0)\n";
    let taken = "[91.0] sd 3:0:0:0: [sdb] Synchronizing SCSI cache\n[96.5] ata4.00: disable device\n\
                 [97.1] ata4: SATA link down (SStatus 0 SControl 300)\n";
    check(&[
        post(left, &[("drive-went-away", "", Warning)], &[]),
        post(
            format!("{left}[99.0] ata4: SATA link up 6.0 Gbps\n[99.1] ata4.00: configured for UDMA/133\n"),
            &[],
            &["drive-went-away"],
        ),
        post(taken, &[], &["drive-went-away"]),
    ]);
}

#[test]
fn pools_that_another_zfs_has_to_write() {
    let text = "   pool: zroot\n     id: 55\n  state: UNAVAIL\nstatus: The pool can only be accessed in read-only mode on this system. It\n\
                \tcannot be accessed in read-write mode because it uses the following\n\tfeature(s) not supported on this system:\n config:\n\n\
                \tzroot       UNAVAIL  unsupported feature(s)\n\t  nvd0p4    ONLINE\n";
    assert!(told(text).contains("readonly=on") && !told(text).contains("gone to be read"), "{}", told(text));
    let faulted = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n\
                   \t  mirror-0  ONLINE       0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     FAULTED     12   753    83  too many errors\n\n\
                   errors: No known data errors\n";
    assert!(told(faulted).contains("1 device out of order"), "{}", told(faulted));
}

#[test]
fn file_systems_with_next_to_nothing_left() {
    let df =
        |left: &str| format!("Filesystem Size Used Avail Use% Mounted on\n/dev/mapper/root 50G 50G {left} 100% /\n");
    check(&[
        post(df("20K"), &[("file-system-space", "/", Error)], &[]),
        post(df("200M"), &[("file-system-space", "/", Warning)], &[]),
    ]);
}

/// Four members of a RAID-5: one left long ago, another in the last moment.
#[test]
fn a_member_without_which_nothing_starts_is_not_left_out() {
    let member = |name: &str, place: u32, events: u32, state: &str| {
        format!(
            "/dev/{name}:\n     Raid Level : raid5\n         Events : {events}\n   Device Role : Active device {place}\n   Array State : {state} ('A' == active)\n"
        )
    };
    let of = |second: u32, state: &str| {
        [("sdb1", 0, 48213), ("sdc1", 1, second), ("sdd1", 2, 31002), ("sde1", 3, 48213)]
            .map(|(name, place, events)| member(name, place, events, state))
            .concat()
    };
    let text = told(&of(48211, "A..A"));
    assert!(text.contains("cannot start without a member that it calls missing (sdc1)"), "{text}");
    assert!(text.contains("went on without a member, which is out of date (sdd1)"), "{text}");
    let text = told(&of(48213, "AA.A"));
    assert!(!text.contains("cannot start") && text.contains("out of date (sdd1)"), "{text}");
}

#[test]
fn drives_that_count_alike_are_not_replaced() {
    let pool = |third: u32| {
        format!(
            "  pool: big\n state: DEGRADED\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\tbig DEGRADED 0 0 0\n\t  raidz1-0 DEGRADED 0 0 0\n\
             \t    a DEGRADED 0 0 38 too many errors\n\t    b DEGRADED 0 0 38 too many errors\n\t    c DEGRADED 0 0 {third} too many errors\n\n\
             errors: Permanent errors have been detected in the following files:\n\n        /big/Фильмы/видео.mkv\n        big/vm@auto:<0x1>\n"
        )
    };
    let text = told(&pool(38));
    assert!(text.contains("Replace none of them") && !text.contains("zpool replace"), "{text}");
    let said = diagnosis(&pool(38)).findings.into_iter().find(|found| found.check == "zfs-pool-state").unwrap();
    assert!(format!("{:?}", said.seen).contains("/big/Фильмы/видео.mkv"), "{:?}", said.seen);
    assert!(said.why.contains("2 files permanently damaged"), "{}", said.why);
    assert!(told(&pool(3)).contains("zpool replace"), "one of them counted otherwise");
    let online = |third: u32| told(&pool(third).replace("DEGRADED", "ONLINE").replace(" too many errors", ""));
    assert!(
        online(30).contains("Replace none of them") && !online(3).contains("Replace none of them"),
        "{}",
        online(30)
    );
}

#[test]
fn a_rebuild_at_its_limit_is_told_of_it() {
    let text = |speed: u32| {
        told(&format!(
            "# cat /proc/mdstat; sysctl dev.raid\nPersonalities : [raid1]\nmd1 : active raid1 sdb1[2] sda1[0]\n      7813891413 blocks super 1.2 [2/1] [U_]\n      \
             [>....]  recovery =  1.4% (116311040/7813891413) finish=25661.2min speed={speed}K/sec\n\nunused devices: <none>\n\
             dev.raid.speed_limit_max = 5000\ndev.raid.speed_limit_min = 1000\n"
        ))
    };
    assert!(text(4999).contains("Raise it") && !text(3000).contains("Raise it"), "{}", text(4999));
}
