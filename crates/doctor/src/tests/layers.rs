//! Layers between drives and files, what carries and feeds them, and programs that could not read: what is found of each, what stands beside
//! it and is no fault, and what nobody is told to type.

use host::{inspect, posted};
use terms::diagnosis::Finding;
use terms::diagnosis::Severity::{Error, Information, Warning};

use super::posts::{Found, check, post};
use crate::diagnose;

fn findings(text: &str) -> Vec<Finding> {
    diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap()).findings
}

/// A text, what is found of it, and a word of what is so, what it costs, what to do or what to type.
type Row = (&'static str, &'static [Found], &'static str);

const REQUESTS: &[Found] = &[("read-write-errors", "", Warning)];
const LOST: &[Found] = &[("read-write-errors", "", Error)];
const STOPPED: &[Found] = &[("went-read-only", "", Error)];

const ROWS: &[Row] = &[
    // Power, interrupts and networks.
    ("[ 11.2] hwmon hwmon1: Undervoltage detected!\n", REQUESTS, "supply"),
    ("[ 4.1] Under-voltage detected! (0x00050005)\n", REQUESTS, "supply"),
    ("[ 5.2] usb usb2-port1: over-current condition\n", REQUESTS, "supply"),
    (
        "Feb  2 11:02:08 pve3 kernel: [ 1811.2] nvme nvme2: I/O 22 QID 5 timeout, completion polled\n",
        REQUESTS,
        "interrupt",
    ),
    (
        "[55102.3] nvme nvme2: starting error recovery\n[55102.4] nvme nvme2: Reconnecting in 10 seconds...\n",
        REQUESTS,
        "network was lost (nvme2)",
    ),
    ("kernel: connection1:0: detected conn error (1022)\n", REQUESTS, "network"),
    // Arrays, LVM, VDO, DRBD.
    (
        "[1.2] md1: invalid bitmap file superblock: bad magic\n[1.3] md1: failed to create bitmap (-22)\n",
        LOST,
        "no-bitmap",
    ),
    (
        "# mdadm --examine /dev/sd[bcd]1 | egrep 'Event|/dev/sd|Array State|Device Role'\n/dev/sdb1:\n         Events : 118232\n   Device Role : Active device 0\n   \
         Array State : A.A ('A' == active, '.' == missing, 'R' == replacing)\n/dev/sdc1:\n         Events : 97021\n   Device Role : Active device 1\n   \
         Array State : AAA ('A' == active, '.' == missing, 'R' == replacing)\n/dev/sdd1:\n         Events : 118232\n   Device Role : Active device 2\n   \
         Array State : A.A ('A' == active, '.' == missing, 'R' == replacing)\n",
        LOST,
        "out of date",
    ),
    ("  Check of pool pve/data failed (status:1). Manual repair required!\n", STOPPED, "lvmthin(7)"),
    (
        "[ 8.3] device-mapper: cache: 253:7: unable to switch cache to write mode until repaired.\n[ 8.4] device-mapper: cache metadata: dm_cache_metadata_open: superblock checksum failed\n",
        STOPPED,
        "writeback",
    ),
    (
        "Jan 17 03:33:10 v kernel: device-mapper: vdo0:journalQ: entering read-only mode: VDO status 2055\n",
        STOPPED,
        "VDO",
    ),
    (
        "  LV       VG     Attr       LSize   Pool   Origin Data%  Meta%  Move Log Cpy%Sync Convert\n  \
         vdolv    vgvdo  vwi-aov---  20.00t vpool0        48.12\n  vpool0   vgvdo  dwi------- <10.00t               98.61\n",
        &[("thin-pool-space", "vgvdo/vpool0", Error)],
        "lvextend -L +SIZE vgvdo/vpool0",
    ),
    // A cell that is too wide moves only those behind it.
    (
        "  LV       Attr       Cpy%Sync Devices      Health\n  home     rwi-aor-r- 100.00   home_rimage_0(0),home_rimage_1(0) refresh needed\n",
        &[("array-degraded", "VG/home", Error)],
        "lvchange --refresh",
    ),
    (
        "Aug 22 11:41:09 ha1 kernel: drbd r0/0 drbd0 ha2: Split-Brain detected but unresolved, dropping connection!\n",
        LOST,
        "drbd0",
    ),
    // Pools and file systems.
    (
        "root@nas:~# zpool import\n   pool: tank\n     id: 7293847562910384756\n  state: UNAVAIL\nstatus: One or more devices are missing from the system.\n action: The pool cannot be imported. Attach the missing\n\tdevices and try again.\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-6X\n config:\n\n\ttank                    UNAVAIL  missing device\n\t  mirror-0              ONLINE\n\t    ata-A               ONLINE\n\t    ata-B               ONLINE\n\tlogs\n\t  11398472610938475610  UNAVAIL\n\n\tAdditional devices are known to be part of this pool, though their\n\texact configuration cannot be determined.\n",
        &[("zfs-pool-state", "tank", Error)],
        "zpool import -m tank",
    ),
    (
        "root@nas:~# zpool import\n   pool: tank\n     id: 7293847562910384756\n  state: UNAVAIL\nstatus: One or more devices are missing from the system.\n action: The pool cannot be imported. Attach the missing\n\tdevices and try again.\n   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-6X\n config:\n\n\ttank                    UNAVAIL  missing device\n\t  raidz1-0              UNAVAIL  insufficient replicas\n\t    ata-A               ONLINE\n\t    ata-B               UNAVAIL\n\t    ata-C               UNAVAIL\n\n\tAdditional devices are known to be part of this pool, though their\n\texact configuration cannot be determined.\n",
        &[("zfs-pool-state", "tank", Error)],
        "2 devices of 3 not in order",
    ),
    (
        "# zpool status -D rpool2\n  pool: rpool2\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\trpool2      ONLINE       0     0     0\n\t  raidz1-0  ONLINE       0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     ONLINE       0     0     0\n\t    sdc     ONLINE       0     0     0\n\nerrors: No known data errors\n\n dedup: DDT entries 149238912, size 532B on disk, 343B in core\n\n# free -g\n               total        used        free      shared  buff/cache   available\nMem:              31          27           1           0           2           3\nSwap:              7           5           2\n",
        &[("zfs-dedup", "rpool2", Warning)],
        "47.67 GiB of memory",
    ),
    (
        "# zpool status -D rpool2\n  pool: rpool2\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\trpool2      ONLINE       0     0     0\n\t  raidz1-0  ONLINE       0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     ONLINE       0     0     0\n\t    sdc     ONLINE       0     0     0\n\nerrors: No known data errors\n\n dedup: DDT entries 149238912, size 532B on disk, 343B in core\n\n# free -g\n               total        used        free      shared  buff/cache   available\nMem:              128          27           1           0           2           3\nSwap:              7           5           2\n",
        &[("zfs-dedup", "rpool2", Information)],
        "the machine has 128 GiB",
    ),
    (
        "# btrfs filesystem usage -T /mnt/data\nOverall:\n    Device size:\t\t   7.28TiB\n    Device allocated:\t\t   4.74TiB\n    Device unallocated:\t\t   2.54TiB\n    Device missing:\t\t   3.64TiB\n    Used:\t\t\t   4.65TiB\n    Multiple profiles:\t\t       yes\t(data, metadata, system)\n\n            Data      Data     Metadata Metadata System   System\nId Path     single    RAID1    single   RAID1    single   RAID1     Unallocated Total   Slack\n-- -------- --------- -------- -------- -------- -------- --------- ----------- ------- -----\n 1 /dev/sdb  78.00GiB  2.33TiB  1.00GiB  4.00GiB 32.00MiB   8.00MiB     1.23TiB 3.64TiB     -\n 2 missing          -  2.33TiB        -  4.00GiB        -   8.00MiB     1.31TiB 3.64TiB     -\n-- -------- --------- -------- -------- -------- -------- --------- ----------- ------- -----\n   Total     78.00GiB  2.33TiB  1.00GiB  4.00GiB 32.00MiB   8.00MiB     2.54TiB 7.28TiB 0.00B\n   Used      69.41GiB  2.29TiB 702.11MiB 3.61GiB 16.00KiB 352.00KiB\n",
        &[
            ("btrfs-mixed-profiles", "/mnt/data (btrfs)", Error),
            ("btrfs-device-missing", "/mnt/data (btrfs)", Error),
            ("btrfs-metadata-single", "/mnt/data (btrfs)", Warning),
        ],
        "`btrfs balance start -dconvert=raid1,soft -mconvert=raid1,soft /mnt/data` gives it all",
    ),
    (
        "[ 10.1] device-mapper: snapshots: Invalidating snapshot: Unable to allocate exception.\n[ 10.2] EXT4-fs error (device dm-7): __ext4_find_entry:1664: inode #1310722: comm rsync: reading directory lblock 0\n[ 10.3] Buffer I/O error on dev dm-7, logical block 5275648, async page read\n",
        &[("went-read-only", "", Error), ("went-read-only", "", Error), ("read-write-errors", "", Warning)],
        "neither check nor repair anything",
    ),
    (
        "Mar  1 06:01:22 nas zed[20112]: eid=91 class=delay pool='vault' vdev=sdc1 size=1048576 delay=41233ms\n",
        REQUESTS,
        "sdc1 of pool vault",
    ),
    (
        "cannot import 'tank': pool was previously in use from another system.\nLast accessed by nas1 (hostid=8a2f1c33) at Sat Nov 23 20:10:11 2024\n",
        &[("went-read-only", "", Warning)],
        "readonly=on",
    ),
    (
        "ERROR: The filesystem has valuable metadata changes in a log which needs to\nbe replayed.\n",
        &[("went-read-only", "", Warning)],
        "Mount it and unmount it",
    ),
    (
        "[811.2] bcachefs (sdc): error validating btree node on sdc at btree extents level 0/1\n",
        STOPPED,
        "errors in itself",
    ),
    (
        "[811.3] bcachefs (sdc): inconsistency detected - emergency read only at journal seq 128812\n",
        STOPPED,
        "read-only",
    ),
    (
        "2024-10-02T08:11:02.220+0000 7f12 -1 bluestore(/var/lib/ceph/osd/ceph-12) _verify_csum bad crc32c/0x1000 checksum at blob offset 0x0\n",
        &[("checksum-messages", "", Error)],
        "not what was written",
    ),
    ("# LUKS2 header checksum error (offset 0).\n", STOPPED, "luksHeaderBackup"),
    ("No key available with this passphrase.\n", &[("went-read-only", "", Information)], "0 bytes are damaged"),
    // Programs that could not read, enclosures, bridges, paths.
    ("fio: io_u error on file /dev/sdf: Input/output error: write offset=88112312320, buflen=4096\n", REQUESTS, "sdf"),
    ("rsync: [sender] read errors mapping \"/data/a\": Input/output error (5)\n", REQUESTS, "could not read"),
    ("  rescued:    2000 GB,   bad areas:       18,        run time: 17h 18m 22s\n", LOST, "map file"),
    ("        Predicted failure=0, Disabled=0, Swap=0, status: Critical\n", REQUESTS, "enclosure"),
    ("/dev/sdd: Unknown USB bridge [0x152d:0xa583 (0x8103)]\n", &[("read-write-errors", "", Information)], "-d sat"),
    ("Jun 14 22:10:36 db1 multipathd[1182]: mpathb: remaining active paths: 0\n", LOST, "no path"),
    // A driver of storage took the device that has less bandwidth than it can use.
    (
        "[2.2] pci 0000:04:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x2 link at 0000:00:1c.4 (capable of 63.012 Gb/s with 16.0 GT/s PCIe x4 link)\n\
         [2.3] nvme nvme1: pci function 0000:04:00.0\n",
        &[("bandwidth-message", "0000:04:00.0", Warning)],
        "15.752 Gb/s",
    ),
];

#[test]
fn layers_and_programs_that_fail() {
    for (text, found, word) in ROWS {
        check(&[post(*text, found, &[])]);
        let said = format!("{:?}", findings(text));
        assert!(said.contains(word), "no {word}: {said}");
        let all = findings(text);
        let typed: Vec<&String> = all.iter().flat_map(|one| &one.remedy.commands).collect();
        let destroys = [
            "--create",
            "--zero-superblock",
            "--force",
            "mkfs",
            "wipefs -a",
            "luksFormat",
            "xfs_repair -L",
            "lvremove",
            " -f ",
            "discard-my-data",
        ];
        assert!(!typed.iter().any(|line| destroys.iter().any(|word| line.contains(word))), "{typed:?}");
    }
}

#[test]
fn layers_and_programs_that_are_in_order() {
    let quiet: &[&str] = &[
        "read-write-errors",
        "went-read-only",
        "checksum-messages",
        "bandwidth-message",
        "thin-pool-space",
        "array-degraded",
    ];
    for text in [
        "[22.5] bcachefs (dm-5): starting version 1.13: inode_has_child_snapshots\n[22.6] bcachefs (dm-5): going read-write\n",
        "[1.1] nvme nvme0: pci function 0000:01:00.0\n[1.2] nvme nvme0: 8/0/0 default/read/poll queues\n",
        // A session that ends in order.
        "kernel: connection1:0: detected conn error (1020)\n",
        "Aug 22 11:41:09 ha1 kernel: drbd r0/0 drbd0 ha2: Split-Brain detected, 0 primaries, automatically solved. Sync from peer node\n",
        "Jun 14 22:10:31 db1 multipathd[1182]: mpathb: remaining active paths: 2\n[1.0] Linux version 6.1.0\n",
        "  LV     VG    Attr       LSize  Pool Origin Data%\n  vpool0 vgvdo dwi------- 10.00t             48.12\n",
        // Members of two arrays without names, of which each is whole.
        "/dev/sda1:\n         Events : 12\n   Device Role : Active device 0\n   Array State : AA ('A' == active, '.' == missing, 'R' == replacing)\n\
         /dev/sda2:\n         Events : 99\n   Device Role : Active device 0\n   Array State : A. ('A' == active, '.' == missing, 'R' == replacing)\n[1.0] Linux version 6.1.0\n",
    ] {
        let all = findings(text);
        assert!(!all.iter().any(|one| quiet.contains(&one.check.as_str())), "{text}{all:?}");
    }
}

/// An array that lacks what it was moving is started without it by nobody, also where its state does not tell of a change.
#[test]
fn an_inactive_array_whose_change_was_not_restored() {
    let inactive = "Personalities : [raid6]\nmd127 : inactive sdb1[0](S) sdc1[1](S) sdd1[3](S)\n      11720270616 blocks super 1.2\n\nunused devices: <none>\n";
    let typed =
        |text: &str| findings(text).into_iter().flat_map(|one| one.remedy.commands).collect::<Vec<_>>().join("\n");
    assert!(typed(inactive).contains("mdadm --run"), "{}", typed(inactive));
    let told = format!("{inactive}\nmdadm: Failed to restore critical section for reshape, sorry.\n");
    assert!(!typed(&told).contains("--run"), "{}", typed(&told));
}

/// One device whose space is full, also where the kernel names a loop device, and a drive that fails beside it.
#[test]
fn space_that_is_out_is_told_once() {
    let full = "[1.1] critical space allocation error, dev loop0, sector 8 op 0x1:(WRITE) flags 0x800\n[1.2] Buffer I/O error on dev loop0, logical block 1, lost async page write\n";
    let own = |text: &str| findings(text).into_iter().filter(|one| one.check == "read-write-errors").count();
    assert_eq!(own(full), 1, "{:?}", findings(full));
    let both = format!("{full}[1.3] critical medium error, dev loop0, sector 8 op 0x0:(READ) flags 0x0\n");
    assert_eq!(own(&both), 2, "{:?}", findings(&both));
}

/// What one fault makes the kernel say in several places is one finding, with the advice of that fault and the device in its command.
#[test]
fn one_fault_is_told_once_and_with_its_own_advice() {
    let unreadable = "[1.1] ata3.00: failed command: READ FPDMA QUEUED\n[1.2] ata3.00: error: { UNC }\n\
        [1.3] sd 2:0:0:0: [sdc] tag#16 Sense Key : Medium Error [current] [descriptor]\n\
        [1.4] blk_update_request: I/O error, dev sdc, sector 1283348016\n[1.5] Buffer I/O error on dev sdc1, logical block 160418246, async page read\n";
    let xfs = "[1.1] XFS (md3p1): Metadata CRC error detected at xfs_agi_read_verify+0x7d/0xdd [xfs], xfs_agi block 0x1d1c10fa2\n\
        [1.2] XFS (md3p1): Unmount and run xfs_repair\n[1.3] XFS (md3p1): log mount finish failed\n";
    let btrfs = "$ sudo mount /dev/sdc1 /mnt\nmount: /mnt: wrong fs type, bad option, bad superblock on /dev/sdc1, missing codepage or helper program, or other error.\n\
        $ dmesg | tail\n[1.1] BTRFS error (device sdc1): parent transid verify failed on 1144783314944 wanted 184433 found 184420\n\
        [1.2] BTRFS error (device sdc1): open_ctree failed\n";
    for (text, check, advice, command) in [
        (unreadable, "read-write-errors", "neither its cable", "smartctl -x /dev/sdc"),
        (xfs, "went-read-only", "Do not format it", "xfs_repair -n /dev/md3p1"),
        (btrfs, "went-read-only", "usebackuproot", "btrfs check --readonly /dev/sdc1"),
    ] {
        let all = findings(text);
        let [only] = &all[..] else { panic!("{text}{all:?}") };
        assert_eq!(only.check, check, "{text}");
        assert!(only.remedy.advice.contains(advice), "{only:?}");
        assert_eq!(only.remedy.commands, [command], "{text}");
    }
    // Another fault of the same drive, and a drive that nothing says more of.
    let reset = format!("{unreadable}[9.1] ata3: hard resetting link\n");
    assert_eq!(findings(&reset).len(), 2, "{:?}", findings(&reset));
    let other = format!("{unreadable}[9.1] blk_update_request: I/O error, dev sdd, sector 8\n");
    assert_eq!(findings(&other).len(), 2, "{:?}", findings(&other));
}

/// A pool of one device has nothing to repair it from, and its drive is named where the pool names it.
#[test]
fn damage_of_a_pool_without_a_second_copy() {
    let status = |vdevs: &str| {
        format!(
            "  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n{vdevs}\n\
             errors: Permanent errors have been detected in the following files:\n\n        /tank/a.mkv\n"
        )
    };
    let said = |vdevs: &str| {
        findings(&status(vdevs)).into_iter().find(|one| one.check == "zfs-pool-state").expect("it is found").remedy
    };
    let alone = said("\t  ata-A_S1-part1  ONLINE       0     0     4\n");
    assert!(alone.advice.contains("cannot repair it"), "{alone:?}");
    assert!(alone.commands.contains(&"smartctl -x /dev/disk/by-id/ata-A_S1".to_owned()), "{alone:?}");
    let mirror = "\t  mirror-0  ONLINE       0     0     0\n\t    sda     ONLINE       0     0     4\n\t    sdb     ONLINE       0     0     4\n";
    assert!(!said(mirror).advice.contains("cannot repair it"));
}

/// A drive that failed its test for blocks that still wait is not tested again.
#[test]
fn a_drive_that_cannot_read_is_not_tested_again() {
    let posted = |pending: u64, result: &str| {
        format!(
            "# smartctl -a /dev/sdf\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n=== START OF INFORMATION SECTION ===\nDevice Model:     A Drive\nSerial Number:    S1\n\n\
             === START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: PASSED\n\nVendor Specific SMART Attributes with Thresholds:\n\
             ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
             \x20 9 Power_On_Hours          0x0032   061   061   000    Old_age   Always       -       28733\n\
             197 Current_Pending_Sector  0x0032   200   200   000    Old_age   Always       -       {pending}\n\n\
             SMART Self-test log structure revision number 1\nNum  Test_Description    Status                  Remaining  LifeTime(hours)  LBA_of_first_error\n\
             # 1  Extended offline    {result}       90%     28731         3123123123\n"
        )
    };
    let tests_again = |pending, result| {
        let all = findings(&posted(pending, result));
        assert!(!all.is_empty());
        all.iter().any(|one| one.remedy.commands.iter().any(|command| command.contains("-t long")))
    };
    assert!(!tests_again(24, "Completed: read failure"));
    assert!(tests_again(0, "Completed: read failure"));
    assert!(tests_again(24, "Completed without error"));
}
