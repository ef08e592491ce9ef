//! Posts whose fault stands in options, tables and configurations, or is over, and what is advised where a remedy could cost data.

use host::{inspect, posted};
use terms::diagnosis::Finding;
use terms::diagnosis::Severity::{Error, Information, Warning};

use super::posts::{check, post, smart};
use crate::diagnose;

fn findings(text: &str) -> Vec<Finding> {
    diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap()).findings
}

/// What is said of a check's finding, with its commands.
fn said(text: &str, check: &str) -> String {
    let own = findings(text).into_iter().find(|found| found.check == check);
    own.map_or_else(String::new, |own| {
        format!("{} | {} | {} | {}", own.what, own.why, own.remedy.advice, own.remedy.commands.join("; "))
    })
}

#[test]
fn tables_of_integrity() {
    let table =
        "# dmsetup table\nint: 0 4096 integrity 8:16 0 32 D 7 block_size:4096 internal_hash:crc32c fix_padding\n";
    let status = |mismatches: u32| format!("{table}# dmsetup status\nint: 0 4096 integrity {mismatches} 4096 -\n");
    check(&[
        post(
            status(3),
            &[("integrity-direct", "int (dm-X)", Error), ("integrity-mismatches", "int (dm-X)", Error)],
            &["integrity-sector"],
        ),
        post(status(0).replace(" D 7", " B 7"), &[], &["integrity-direct", "integrity-mismatches"]),
    ]);
}

#[test]
fn a_pool_of_which_only_the_configuration_is_told() {
    let blocks = "$ lsblk -o NAME,TYPE,PHY-SEC\nNAME   TYPE PHY-SEC\nsda    disk    4096\n└─sda1 part    4096\nsdb    disk    4096\n└─sdb1 part    4096\n";
    let devices = |shift: u32| {
        format!(
            "    name: 'store'\n    vdev_children: 1\n    vdev_tree:\n        type: 'root'\n        children[0]:\n            \
            type: 'mirror'\n            ashift: {shift}\n            is_log: 0\n            children[0]:\n                \
            type: 'disk'\n                path: '/dev/sda1'\n            children[1]:\n                type: 'disk'\n                \
            path: '/dev/sdb1'\n"
        )
    };
    let with_heading =
        |shift| format!("{blocks}$ zdb -C store\nMOS Configuration:\n    version: 5000\n{}", devices(shift));
    check(&[
        post(with_heading(9), &[("zfs-ashift", "mirror-0 of store", Error)], &["zfs-pool-state"]),
        post(with_heading(12), &[], &["zfs-ashift", "zfs-pool-state"]),
        // As `zdb` alone prints what the machine keeps of it.
        post(
            format!("{blocks}$ zdb\nstore:\n    version: 5000\n{}", devices(9)),
            &[("zfs-ashift", "mirror-0 of store", Error)],
            &["zfs-pool-state"],
        ),
    ]);
}

#[test]
fn options_of_mounts_and_of_what_is_to_be_mounted() {
    let fstab =
        "$ cat /etc/fstab\nUUID=1 / ext4 defaults,nobarrier 0 1\nUUID=2 /data ext4 defaults,data=writeback 0 2\n";
    check(&[
        post(fstab, &[("barriers-off", "/ (ext4)", Error), ("data-writeback", "/data (ext4)", Warning)], &[]),
        // How it is mounted counts before how it is to be.
        post(
            format!("{fstab}$ mount\n/dev/sda1 on / type ext4 (rw,relatime)\n"),
            &[],
            &["barriers-off", "data-writeback"],
        ),
        post(
            "$ mount\n/dev/sda1 on / type ext4 (rw,relatime,emergency_ro,errors=remount-ro)\n",
            &[("went-read-only", "/ (ext4)", Error)],
            &[],
        ),
        post("$ mount\n/dev/sda1 on / type ext4 (rw,relatime,errors=remount-ro)\n", &[], &["went-read-only"]),
    ]);
    assert!(!said(fstab, "data-writeback").contains("umount"));
}

#[test]
fn drives_that_end_too_early_or_are_locked() {
    let short = "[    1.5] ata3.00: HPA detected: current 3907027055, native 3907029168\n\
                 [    1.6] sdc: p1 size 3907027120 extends beyond EOD, truncated\n";
    let locked = "[    3.1] nvme0n1: I/O Cmd(0x2) @ LBA 0, 8 blocks, I/O Error (sct 0x2 / sc 0x86) DNR \n\
                  [    3.2] critical medium error, dev nvme0n1, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2\n";
    check(&[
        post(short, &[("read-write-errors", "", Warning), ("read-write-errors", "", Information)], &[]),
        post(locked, &[("read-write-errors", "", Warning)], &[]),
    ]);
    let all = findings(&format!("{locked}[    4.1] I/O error, dev sda, sector 8 op 0x0:(READ)\n"));
    let own: Vec<&str> = all.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(
        own,
        [
            "a drive lets nobody at its data: it is locked (nvme0n1)",
            "requests to drives failed or had to be repeated (sda)"
        ]
    );
    assert!(said(short, "read-write-errors").contains("Repair nothing yet"));
}

#[test]
fn a_sata_drive_that_is_given_up() {
    let gone = "[  812.1] ata4: reset failed, giving up\n[  812.2] ata4.00: disable device\n";
    check(&[
        post(gone, &[("drive-went-away", "", Error)], &[]),
        // Taken out, or back.
        post(
            "[  812.1] ata4: SATA link down (SStatus 0 SControl 300)\n[  812.2] ata4.00: disable device\n",
            &[],
            &["drive-went-away"],
        ),
        post(format!("{gone}[  900.1] ata4.00: configured for UDMA/133\n"), &[], &["drive-went-away"]),
    ]);
}

#[test]
fn a_member_that_is_there_again() {
    let failed = "[   10.1] md/raid1:md0: Disk failure on sdb1, disabling device.\n";
    let array = |state: &str| {
        format!(
            "$ cat /proc/mdstat\nPersonalities : [raid1]\nmd0 : active raid1 sdb1[2] sda1[0]\n      100 blocks super 1.2 {state}\n\nunused devices: <none>\n"
        )
    };
    check(&[
        post(failed, &[("read-write-errors", "", Error)], &[]),
        post(format!("{}{failed}", array("[2/2] [UU]")), &[("read-write-errors", "", Warning)], &["array-degraded"]),
        post(
            format!("{}{failed}", array("[2/1] [U_]").replace(" sdb1[2]", "")),
            &[("read-write-errors", "", Error), ("array-degraded", "md0", Error)],
            &[],
        ),
    ]);
}

#[test]
fn signatures_that_wipefs_lists() {
    let table =
        "# wipefs /dev/sdb\nDEVICE OFFSET        TYPE              UUID                                 LABEL\n";
    let member = "sdb    0x1000        linux_raid_member 1f5d1c9d-8a7f-2a11-bb32-1f5c112d6c0e nas:0\n";
    let physical = "sdb    0x218         LVM2_member       kQm7Jp-2Wb1-8zC2-c0aX-N1Yt-9zQh-R0pQxA \n";
    check(&[
        post(format!("{table}{physical}{member}"), &[("leftover-signatures", "sdb", Warning)], &[]),
        post(format!("{table}{member}"), &[], &["leftover-signatures"]),
    ]);
}

#[test]
fn a_pool_that_waits_to_be_imported() {
    let listed = |state: &str| {
        format!(
            "# zpool import\n   pool: backup\n     id: 1\n  state: {state}\nstatus: The pool was last accessed by another system.\n \
            action: The pool can be imported.\n config:\n\n\tbackup  {state}\n\t  sda   ONLINE\n"
        )
    };
    check(&[
        post(listed("DEGRADED"), &[("zfs-pool-state", "backup", Error)], &[]),
        post(listed("ONLINE"), &[], &["zfs-pool-state"]),
    ]);
    let said = said(&listed("DEGRADED"), "zfs-pool-state");
    assert!(said.contains("Export it where it was used last") && !said.contains("zpool online"), "{said}");
}

#[test]
fn an_image_on_a_device_that_is_missing() {
    let volumes = "  WARNING: VG data is missing PV k (last written to /dev/sdc1).\n  LV   VG   Attr       LSize Cpy%Sync Health\n  \
                   r1   data rwi-aor-p- 1.00t 100.00   partial\n  root data -wi-ao---- 1.00g\n";
    check(&[post(volumes, &[("array-degraded", "data/r1", Error), ("volume-group", "data", Error)], &[])]);
    let said = said(volumes, "volume-group");
    assert!(said.contains("have 1 copy less") && !said.contains("has 0 B"), "{said}");
}

#[test]
fn a_file_system_has_the_name_that_was_posted() {
    let text = "# tune2fs -l /dev/mapper/vg0-home\ntune2fs 1.46.5 (30-Dec-2021)\nFilesystem state:         clean with errors\n\
                Block size:               4096\nFS Error count:           14\nLast checked:             Tue Jan  7 03:12:11 2025\n";
    check(&[post(text, &[("ext4-errors", "vg0-home (ext4)", Error)], &[])]);
}

#[test]
fn a_drive_that_fails_is_copied_before_all_of_it_is_read() {
    const PENDING: &str = "197 Current_Pending_Sector  0x0012   090   090   000    Old_age   Always       -       17";
    let sound = smart("PASSED", &[PENDING], "");
    assert!(said(&sound, "drive-media-errors").contains("smartctl -t long /dev/sda"));
    let failing = said(&smart("FAILED!", &[PENDING], ""), "drive-media-errors");
    assert!(failing.contains("before anything reads all of it") && !failing.contains("-t long"), "{failing}");
    // It holds the only copy.
    let array = "$ cat /proc/mdstat\nPersonalities : [raid1]\nmd0 : active raid1 sda1[0]\n      100 blocks super 1.2 [2/1] [U_]\n\nunused devices: <none>\n";
    let last = said(&format!("{sound}\n{array}"), "drive-media-errors");
    assert!(
        last.contains("take it out of nothing") && !last.contains("-t long") && !last.contains("Read all of"),
        "{last}"
    );
}

#[test]
fn parity_that_differs_is_no_copy_and_no_swap_space() {
    let text = |level: &str| {
        format!(
            "$ cat /proc/mdstat\nPersonalities : [{level}]\nmd0 : active {level} sdc1[2] sdb1[1] sda1[0]\n      100 blocks super 1.2 [3/3] [UUU]\n\n\
            unused devices: <none>\n$ cat /sys/block/md0/md/mismatch_cnt\n128\n"
        )
    };
    let (parity, mirror) = (said(&text("raid5"), "array-mismatches"), said(&text("raid1"), "array-mismatches"));
    assert!(parity.starts_with("data and parity differ") && !parity.contains("swap"), "{parity}");
    assert!(mirror.starts_with("copies differ") && mirror.contains("swap"), "{mirror}");
}

#[test]
fn a_drive_whose_model_says_that_it_is_flash() {
    let text = |model: &str| {
        format!(
            "# fdisk -l /dev/sda\nDisk /dev/sda: 111.79 GiB, 120034123776 bytes, 234441648 sectors\nDisk model: {model}\n\
            Units: sectors of 1 * 512 = 512 bytes\nSector size (logical/physical): 512 bytes / 512 bytes\n\
            I/O size (minimum/optimal): 512 bytes / 512 bytes\n\nDevice     Boot Start    End Sectors  Size Id Type\n\
            /dev/sda1  *       63 208844  208782  102M 83 Linux\n"
        )
    };
    check(&[
        post(text("Samsung SSD 840 "), &[("partition-alignment", "sda1", Warning)], &[]),
        post(text("ST1000DX001-SSHD"), &[], &["partition-alignment"]),
        post(
            "Festplatte /dev/sda: 111,79 GiB, 120034123776 Bytes, 234441648 Sektoren\nFestplattenmodell: Samsung SSD 840 \n\
            Einheiten: Sektoren von 1 * 512 = 512 Bytes\nSektorgröße (logisch/physikalisch): 512 Bytes / 512 Bytes\n\n\
            Gerät      Boot    Anfang      Ende  Sektoren Größe Kn Typ\n/dev/sda1  *           63    208844    208782  102M 83 Linux\n",
            &[("partition-alignment", "sda1", Warning)],
            &[],
        ),
    ]);
}

#[test]
fn less_than_nothing_is_left() {
    let text =
        "$ df -h\nFilesystem      Size  Used Avail Use% Mounted on\n/dev/sda1       916G  871G  -1.2G 100% /srv\n";
    check(&[post(text, &[("file-system-space", "/srv", Error)], &[])]);
    assert!(said(text, "file-system-space").contains("0 B are left"));
}
