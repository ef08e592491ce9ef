//! What several lines of a post tell together, and what none of them tells: names of devices, what waits, what may be one drive.

use terms::diagnosis::Severity::{Error, Information, Warning};

use super::controllers::found;
use super::posts::{Found, Post, check, post};

fn pool(leaves: &[&str], state: &str) -> String {
    let rows: String = leaves.iter().map(|leaf| format!("\t    {leaf}  ONLINE  0  0  0\n")).collect();
    format!(
        "  pool: tank\n state: ONLINE\n  scan: {state}\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0  0  0\n\
         \t  raidz1-0  ONLINE  0  0  0\n{rows}\nerrors: No known data errors\n"
    )
}

/// `zpool status` without `-P` prints the last part of a path.
#[test]
fn devices_of_pools_are_drives_by_any_name() {
    const OVERLAPS: &[Found] = &[("shingled-in-array", "sdc", Information)];
    const BY_NAME: &[Found] = &[("shingled-in-array", "ata-WDC_WD60EFAX-68SHWN0_WD-WX0002 of tank", Information)];
    const NOT: &[&str] = &["shingled-in-array"];
    let drives =
        |rows: &str| format!("# lsblk -o NAME,MODEL,SERIAL,WWN\nNAME MODEL               SERIAL    WWN\n{rows}\n");
    let one = "sdc  WDC_WD60EFAX-68SHWN0 WD-WX0001 0x50014ee2a1b2c3d4\n";
    let other = "sdd  WDC_WD60EFAX-68SHWN0 WD-WX0009 0x50014ee2a1b2c3d5\n";
    let heading =
        |text: &str| text.replace("NAME MODEL               SERIAL    WWN", "NAME MODEL                SERIAL    WWN");
    let with = |leaf: &str, rows: &str| format!("{}{}", pool(&["sdx", leaf], "none requested"), heading(&drives(rows)));
    let found = |leaf: &str, found: &'static [Found], not| post(with(leaf, one), found, not);
    check(&[
        found("sdc", OVERLAPS, &[]),
        found("sdc1", OVERLAPS, &[]),
        found("/dev/sdc1", OVERLAPS, &[]),
        found("wwn-0x50014ee2a1b2c3d4", OVERLAPS, &[]),
        found("wwn-0x50014ee2a1b2c3d4-part2", OVERLAPS, &[]),
        found("scsi-350014ee2a1b2c3d4", OVERLAPS, &[]),
        found("scsi-SATA_WDC_WD60EFAX-68SHWN0_WD-WX0001", OVERLAPS, &[]),
        found("ata-WDC_WD60EFAX-68SHWN0_WD-WX0001-part1", OVERLAPS, &[]),
        found("wwn-0x50014ee2a1b2c3d9", &[], NOT),
        found("sde", &[], NOT),
        // Such a name tells the model where nothing tells which drive it is.
        found("ata-WDC_WD60EFAX-68SHWN0_WD-WX0002", BY_NAME, &[]),
        found("ata-WDC_WD60EFRX-68SHWN0_WD-WX0003", &[], NOT),
        // Both have the number that somebody wrote over theirs.
        post(
            with("scsi-SATA_WDC_WD60EFAX-68SHWN0_XXXX", &format!("{one}{other}"))
                .replace("WD-WX0001", "XXXX     ")
                .replace("WD-WX0009", "XXXX     "),
            &[],
            &[],
        ),
    ]);
    let twice = with("scsi-SATA_WDC_WD60EFAX-68SHWN0_XXXX", &format!("{one}{other}"))
        .replace("WD-WX0001", "XXXX     ")
        .replace("WD-WX0009", "XXXX     ");
    let named = self::found(&twice).into_iter().filter(|found| found.check == "shingled-in-array");
    assert!(named.into_iter().all(|found| !found.place.name.starts_with("sd")), "{twice}");
}

/// A node of an array or of a volume has no size in a list of mounts.
#[test]
fn mounts_are_judged_without_their_devices() {
    const OFF: &[Found] = &[("barriers-off", "/srv/db (ext4)", Error), ("data-writeback", "/srv/db (ext4)", Warning)];
    let mount = |source: &str, options: &str| {
        format!("# mount\n/dev/sda1 on / type ext4 (rw,relatime)\n{source} on /srv/db type ext4 ({options})\n")
    };
    let sources = [
        "/dev/md0",
        "/dev/drbd3",
        "/dev/vg0/db",
        "/dev/mapper/vg0-db",
        "/dev/disk/by-uuid/1f6e",
        "/dev/sdb1",
        "/dev/nbd0",
    ];
    let off = |source: &&str| post(mount(source, "rw,nobarrier,data=writeback"), OFF, &[]);
    let healthy = |source: &&str| post(mount(source, "rw,noatime"), &[], &["barriers-off", "data-writeback"]);
    let posts: Vec<Post> = sources.iter().map(off).chain(sources.iter().map(healthy)).collect();
    check(&posts);
}

/// The kernel prints `resync=DELAYED` of a check, too.
#[test]
fn what_waits_in_a_whole_array_may_be_a_check() {
    let array = |state: &str, work: &str| {
        format!(
            "Personalities : [raid1]\nmd2 : active raid1 sdb2[1] sda2[0]\n      48794624 blocks super 1.2 {state}\n      \
             \t{work}\n      bitmap: 0/1 pages [0KB], 65536KB chunk\n\nunused devices: <none>\n"
        )
    };
    const WAITS: &[Found] = &[("array-resyncing", "md2", Information)];
    const LACKS: &[Found] = &[("array-resyncing", "md2", Error), ("array-degraded", "md2", Error)];
    const PENDING: &[Found] = &[("array-resyncing", "md2", Error)];
    check(&[
        post(array("[2/2] [UU]", "resync=DELAYED"), WAITS, &["array-degraded"]),
        post(array("[2/1] [U_]", "resync=DELAYED"), LACKS, &[]),
        post(array("[2/2] [UU]", "resync=PENDING"), PENDING, &[]),
    ]);
    let said = found(&array("[2/2] [UU]", "resync=DELAYED"));
    let said = said.iter().find(|found| found.check == "array-resyncing").unwrap();
    assert!(said.what.contains("which work is not told") && said.why.contains("2 members"), "{said:?}");
    let detail = "/dev/md2:\n           Version : 1.2\n        Raid Level : raid1\n        Array Size : 48794624 (46.53 GiB 49.97 GB)\n      \
                  Raid Devices : 2\n     Total Devices : 2\n             State : clean, resyncing (DELAYED) \n    Active Devices : 2\n   \
                  Working Devices : 2\n    Failed Devices : 0\n     Spare Devices : 0\n\nConsistency Policy : resync\n\n     Resync Status : DELAYED\n\n    \
                  Number   Major   Minor   RaidDevice State\n       0       8        2        0      active sync   /dev/sda2\n       \
                  1       8       18        1      active sync   /dev/sdb2\n";
    check(&[post(detail, WAITS, &["array-degraded"])]);
}

#[test]
fn snapshots_of_the_device_mapper() {
    const LOST: &[Found] = &[("snapshot-space", "vg0-root--snap (dm-X)", Error)];
    const FULL: &[Found] = &[("snapshot-space", "vg0-root--snap (dm-X)", Warning)];
    let status = |said: &str| {
        format!(
            "# dmsetup status\nvg0-root--snap: 0 18874368 {said}\nvg0-root: 0 18874368 snapshot-origin\nvg0-data: 0 8 linear\n"
        )
    };
    check(&[
        post(status("snapshot Invalid"), LOST, &[]),
        post(status("snapshot Overflow"), LOST, &[]),
        post(status("snapshot-merge Merge failed"), LOST, &[]),
        post(status("snapshot 4608000/5120000 18008"), FULL, &[]),
        post(status("snapshot 1560768/5120000 6088"), &[], &["snapshot-space"]),
    ]);
    let odd = "# dmsetup status\nvg0-data: 0 8 linear\ndocker-253:4-77-0df1: 0 20971520 thin 1922048 20971519\nbad: 0 2048 flakey\n";
    let posted = host::posted::read([("post", odd)]);
    assert_eq!(posted.pieces.iter().map(|piece| piece.told).sum::<usize>(), 2, "{:?}", posted.refused);
    assert!(posted.refused.iter().any(|refused| refused.contains("`flakey`")), "{:?}", posted.refused);
}

/// LVM's snapshots carry what their origin does.
#[test]
fn a_snapshot_is_no_clone() {
    let rows = |other: &str| {
        format!("/dev/mapper/vg0-root: UUID=\"3e55\" TYPE=\"ext4\"\n/dev/mapper/{other}: UUID=\"3e55\" TYPE=\"ext4\"\n")
    };
    check(&[
        post(rows("vg0-root--snap"), &[], &["duplicate-uuid"]),
        post(rows("vg1-root"), &[("duplicate-uuid", "vg0-root (dm-X)", Error)], &[]),
    ]);
}

/// Only root is told of a device what `zdb` tells.
#[test]
fn the_block_that_a_pool_gives() {
    let asked = |shift: u32| {
        format!(
            "# zpool get ashift tank\nNAME  PROPERTY  VALUE  SOURCE\ntank  ashift  {shift}  local\n# zpool status\n{}\
             # lsblk -o NAME,PHY-SEC,LOG-SEC,ROTA\nNAME PHY-SEC LOG-SEC ROTA\nsda     4096     512    1\nsdb     4096     512    1\n",
            pool(&["sda", "sdb"], "none requested")
        )
    };
    const SMALL: &[Found] = &[("zfs-ashift", "raidz1-0 of tank", Warning)];
    check(&[post(asked(9), SMALL, &[]), post(asked(12), &[], &["zfs-ashift"]), post(asked(0), &[], &["zfs-ashift"])]);
    // Blocks of 4096 bytes are those of nearly all drives.
    let native = pool(&["sda", "sdb", "sdc"], "none requested")
        .replace("sdc  ONLINE  0  0  0", "sdc  ONLINE  0  0  0  block size: 4096B configured, 16384B native");
    check(&[post(native.clone(), SMALL, &[])]);
    let said = found(&native);
    let said = said.iter().find(|found| found.check == "zfs-ashift").unwrap();
    assert!(said.remedy.advice.starts_with("Compare `PHY-SEC`") && said.remedy.advice.contains("room"), "{said:?}");
    assert!(said.remedy.commands.iter().all(|command| !command.contains("zpool create")), "{said:?}");
}

#[test]
fn the_kernel_tells_what_a_device_is() {
    const NARROW: &[Found] = &[("bandwidth-message", "0000:04:00.0", Warning)];
    let said = |class: &str| {
        format!(
            "[    1.213906] pci 0000:04:00.0: [1b4b:9230] type 00 class {class}\n\
             [    1.214254] pci 0000:04:00.0: 3.938 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:00:1c.4 \
             (capable of 7.876 Gb/s with 5.0 GT/s PCIe x2 link)\n"
        )
    };
    check(&[
        post(said("0x010601"), NARROW, &[]),
        post(said("0x010802 PCIe Endpoint"), NARROW, &[]),
        post(said("0x030000"), &[], &["bandwidth-message"]),
        post(said("0x010601").replace("04:00.0: [1b4b", "05:00.0: [1b4b"), &[], &["bandwidth-message"]),
    ]);
}

/// `-l scterc` and `-A` of a drive tell of it together.
#[test]
fn limits_of_recovery_alone() {
    let head = "smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0-20-amd64] (local build)\nCopyright (C) 2002-20\n\n";
    let limits = |of: &str| {
        format!(
            "# smartctl -l scterc /dev/sda\n{head}SCT Error Recovery Control:\n           Read: {of}\n          Write: {of}\n\n"
        )
    };
    let table = format!(
        "# smartctl -A /dev/sda\n{head}=== START OF READ SMART DATA SECTION ===\n\
         ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
         197 Current_Pending_Sector  0x0012   100   098   000    Old_age   Always       -       216\n\n"
    );
    let rest = "# lsblk -o NAME,ROTA\nNAME ROTA\nsda     1\nsdb     1\n# cat /proc/mdstat\nPersonalities : [raid1]\n\
                md0 : active raid1 sda[0] sdb[1]\n      100 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n";
    const LONG: &[Found] = &[("recovery-time-out", "sda", Warning)];
    const BOTH: &[Found] = &[("recovery-time-out", "sda", Warning), ("drive-media-errors", "sda", Warning)];
    check(&[
        post(format!("{}{rest}", limits("Disabled")), LONG, &[]),
        post(format!("{}{table}{rest}", limits("Disabled")), BOTH, &[]),
        post(format!("{table}{}{rest}", limits("Disabled")), BOTH, &[]),
        post(format!("{}{rest}", limits("    70 (7.0 seconds)")), &[], &["recovery-time-out"]),
    ]);
}

#[test]
fn posts_that_lost_blanks_and_ends_of_lines() {
    let squeezed = "$ smartctl -A -l selftest /dev/sda\nsmartctl 6.6 2017-11-05 r4594 [x86_64-linux-4.19.0] (local build)\n\
        ID# ATTRIBUTE_NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW_VALUE\n\
        197 Current_Pending_Sector 0x0012 100 100 000 Old_age Always - 8\n\
        SMART Self-test log structure revision number 1\n\
        Num Test_Description Status Remaining LifeTime(hours) LBA_of_first_error\n\
        # 1 Extended offline Completed: read failure 80% 9120 77120944\n\n";
    const FAILED: &[Found] = &[("drive-self-test", "sda", Error), ("drive-media-errors", "sda", Warning)];
    let arrays = "md3 : active raid1 sdb1[1] sda1[0] 20478912 blocks [2/2] [UU]\n\
        md4 : active raid5 sdc2[3] sdb2[1] sda2[0] 1444129728 blocks level 5, 64k chunk, algorithm 2 [3/2] [UU_] \
        [=>...................] recovery = 5.0% (1039872/20478912) finish=4.6min speed=69324K/sec\n";
    const FILLED: &[Found] = &[("array-degraded", "md4", Error), ("array-resyncing", "md4", Error)];
    let glued = "[CODE]md5 : active raid1 sdb1[1] sda1[0](F)\n      20478912 blocks [2/1] [_U]\n\nunused devices: <none>[/CODE]\n";
    check(&[
        post(squeezed, FAILED, &[]),
        post(arrays, FILLED, &[]),
        post(glued, &[("array-degraded", "md5", Error)], &[]),
    ]);
    assert!(host::posted::read([("post", squeezed)]).refused.is_empty());
    assert!(found(arrays).iter().all(|found| !found.place.name.contains("md3") || found.check == "array-no-bitmap"));
}

/// A drive that holds something is not formatted, and one that counts its life as used is not broken.
#[test]
fn words_about_namespaces() {
    let format = "# nvme id-ns -H /dev/nvme0n1\nNVME Identify Namespace 1:\nnsze    : 0x1bf1f72b0\nncap    : 0x1bf1f72b0\nnuse    : 0x1bf1f72b0\nnlbaf   : 1\n\
        flbas   : 0\n\nLBA Format  0 : Metadata Size: 0   bytes - Data Size: 512 bytes - Relative Performance: 0x2 Good (in use)\n\
        LBA Format  1 : Metadata Size: 0   bytes - Data Size: 4096 bytes - Relative Performance: 0x1 Better \n\n";
    let tree = "# lsblk -f\nNAME        FSTYPE FSVER LABEL UUID FSAVAIL FSUSE% MOUNTPOINTS\nnvme0n1\n└─nvme0n1p1 ext4   1.0         1f6e    1.2T    31% /\n";
    for (text, formats) in [(format.to_owned(), true), (format!("{tree}{format}"), false)] {
        let said = found(&text);
        let said = said.iter().find(|found| found.check == "lba-format").unwrap();
        assert_eq!(said.remedy.commands.iter().any(|command| command.starts_with("nvme format")), formats, "{said:?}");
        assert!(said.remedy.advice.contains("destroys all that is on the drive"), "{said:?}");
    }
    let health = |warning: u32, spare: u32, used: u32, errors: u32| {
        format!(
            "# smartctl -a /dev/nvme0n1\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
             === START OF SMART DATA SECTION ===\nSMART overall-health self-assessment test result: FAILED!\n\n\
             SMART/Health Information (NVMe Log 0x02)\nCritical Warning:                   0x0{warning}\nTemperature:                        41 Celsius\n\
             Available Spare:                    {spare}%\nAvailable Spare Threshold:          10%\nPercentage Used:                    {used}%\n\
             Media and Data Integrity Errors:    {errors}\n\n"
        )
    };
    let warns = |text: String, severity: &'static [Found]| post(text, severity, &[]);
    const OLD: &[Found] = &[("drive-critical-warning", "nvme0n1", Warning), ("drive-wear", "nvme0n1", Warning)];
    const BROKEN: &[Found] = &[("drive-critical-warning", "nvme0n1", Error)];
    check(&[
        warns(health(4, 100, 103, 0), OLD),
        warns(health(4, 100, 40, 0), BROKEN),
        warns(health(4, 100, 103, 7), BROKEN),
        warns(health(4, 60, 103, 0), BROKEN),
        warns(health(8, 100, 103, 0), BROKEN),
    ]);
}

#[test]
fn bridges_of_usb_are_named() {
    let said = "[  311.100001] sd 6:0:0:0: [sdd] tag#3 uas_eh_abort_handler 0 uas-tag 4 inflight: CMD IN\n\
        [  311.100009] sd 6:0:0:0: [sdd] tag#3 CDB: Read(10) 28 00 00 01 00 00 00 04 00 00\n";
    let advice = |text: &str| {
        let all = found(text);
        all.into_iter().find(|found| found.check == "read-write-errors").unwrap().remedy.advice
    };
    assert!(advice(said).contains("usb-storage.quirks") && advice(said).contains("bridge"));
    let other =
        "[  311.100001] critical medium error, dev sdc, sector 242088336 op 0x0:(READ) flags 0x80700 phys_seg 1\n";
    assert!(!advice(other).contains("usb-storage.quirks"));
}
