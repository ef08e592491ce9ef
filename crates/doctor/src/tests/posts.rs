//! Short posts, each with what is found in it and what is not: a fault beside what looks like one.

use host::{inspect, posted};
use terms::diagnosis::CheckEnd;
use terms::diagnosis::Severity::{self, Error, Information, Warning};

use crate::diagnose;

pub(super) type Found = (&'static str, &'static str, Severity);

/// A post.
pub(super) struct Post {
    text: String,
    /// Findings that are among those made of it.
    found: &'static [Found],
    /// Checks that find nothing in it.
    not: &'static [&'static str],
}

pub(super) fn post(text: impl Into<String>, found: &'static [Found], not: &'static [&'static str]) -> Post {
    Post { text: text.into(), found, not }
}

fn complaints(post: &Post) -> Vec<String> {
    let diagnosis = diagnose(&inspect::examine(&posted::read([("post", post.text.as_str())]).machine).unwrap());
    let all: Vec<(&str, &str, Severity)> = diagnosis
        .findings
        .iter()
        .map(|found| (found.check.as_str(), found.place.name.as_str(), found.severity))
        .collect();
    let missed = post.found.iter().filter(|wanted| !all.contains(wanted)).map(|wanted| format!("no {wanted:?}"));
    let wrong = all.iter().filter(|(check, _, _)| post.not.contains(check)).map(|found| format!("{found:?}"));
    // What is posted may be a part.
    let passed = diagnosis.checks.iter().filter(|check| check.state == CheckEnd::Passed);
    let passed = passed.map(|check| format!("{} passed", check.check));
    missed.chain(wrong).chain(passed).map(|wrong| format!("{wrong}, but {all:?}, in\n{}", post.text)).collect()
}

pub(super) fn check(posts: &[Post]) {
    let wrong: Vec<String> = posts.iter().flat_map(complaints).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const HEADING: &str =
    "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n";

/// What `smartctl -x` says of a drive: what stands before its table, rows of that, and what comes behind.
pub(super) fn smart(before: &str, rows: &[&str], behind: &str) -> String {
    format!(
        "# smartctl -x /dev/sda\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
        === START OF INFORMATION SECTION ===\nDevice Model:     A Drive\nSerial Number:    S1\n\n\
        === START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: {before}\n\
        Vendor Specific SMART Attributes with Thresholds:\n{HEADING}{}\n\n{behind}\n",
        rows.join("\n")
    )
}

const PENDING: &str = "197 Current_Pending_Sector  0x0012   090   090   000    Old_age   Always       -       1712";

#[test]
fn drives() {
    const LIFE: &str = "231 SSD_Life_Left           0x0013   001   001   010    Pre-fail  Always   FAILING_NOW 1";
    let marginal = format!(
        "PASSED\nPlease note the following marginal Attributes:\n{HEADING}\
        190 Airflow_Temperature_Cel 0x0022   067   042   045    Old_age   Always   In_the_past 33 (Min/Max 20/58)\n\n"
    );
    let warm = "194 Temperature_Celsius     0x0022   036   049   000    Old_age   Always       -       36";
    let temperature = |most: u32| {
        format!(
            "Current Temperature:                    36 Celsius\nMin/Max recommended Temperature:     10/25 Celsius\n\
                Min/Max Temperature Limit:            5/{most} Celsius\n"
        )
    };
    check(&[
        // The first table is of those that once failed, and the second of all.
        post(smart(&marginal, &[PENDING], ""), &[("drive-media-errors", "sda", Warning)], &["drive-critical-warning"]),
        // What is recommended is no limit.
        post(smart("PASSED", &[warm], &temperature(70)), &[], &["drive-hot"]),
        post(smart("PASSED", &[warm], &temperature(36)), &[("drive-hot", "sda", Warning)], &[]),
        // Numbers of attributes are nobody's standard.
        post(
            smart(
                "PASSED",
                &[
                    "198 Read_Sectors_Tot_Ct     0x0000   211   211   000    Old_age   Offline      -       12334455123",
                    "199 Write_Sectors_Tot_Ct    0x0000   010   010   000    Old_age   Offline      -       8123311234",
                ],
                "",
            ),
            &[],
            &["drive-media-errors", "drive-line-errors"],
        ),
        // What some makers call it.
        post(
            smart(
                "PASSED",
                &[
                    "169 Remaining_Lifetime_Perc 0x0000   002   002   000    Old_age   Offline      -       98",
                    "187 Reported_UE_Counts      0x0032   100   100   000    Old_age   Always       -       40",
                ],
                "",
            ),
            &[("drive-wear", "sda", Warning), ("drive-media-errors", "sda", Warning)],
            &[],
        ),
        // The only table there is.
        post(
            format!(
                "# smartctl -H /dev/sda\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n\
                === START OF READ SMART DATA SECTION ===\nSMART overall-health self-assessment test result: PASSED\n\
                Please note the following marginal Attributes:\n{HEADING}\
                184 End-to-End_Error        0x0033   001   001   099    Pre-fail  Always   FAILING_NOW 120\n\n"
            ),
            &[("drive-critical-warning", "sda", Error)],
            &[],
        ),
        // It passes, and fails.
        post(
            smart("PASSED", &[LIFE], ""),
            &[("drive-critical-warning", "sda", Error), ("drive-wear", "sda", Warning)],
            &[],
        ),
        post(
            smart(
                "PASSED",
                &["202 Percent_Lifetime_Remain 0x0030   015   015   001    Old_age   Offline      -       85"],
                "",
            ),
            &[("drive-wear", "sda", Information)],
            &["drive-critical-warning"],
        ),
        post(
            smart(
                "PASSED",
                &["177 Wear_Leveling_Count     0x0013   098   098   000    Pre-fail  Always       -       31"],
                "",
            ),
            &[],
            &["drive-wear"],
        ),
    ]);
}

#[test]
fn partitions() {
    let list = |rows: &str| {
        format!(
            "# lsblk -o NAME,TYPE,START,SIZE,PHY-SEC,LOG-SEC,ROTA\nNAME   TYPE START   SIZE PHY-SEC LOG-SEC ROTA\n\
                sda    disk       465.8G    4096     512    0\n{rows}\n"
        )
    };
    let bios = "├─sda1 part    34  1007K    4096     512    0\n└─sda2 part  2048     1G    4096     512    0\n";
    let listed = "├─sda1 part  2048   243M    4096     512    0\n├─sda2 part 501758     1K    4096     512    0\n\
                  └─sda5 part 501760 465.5G    4096     512    0\n";
    let old = "└─sda1 part    63 465.8G    4096     512    0\n";
    check(&[
        post(list(bios), &[], &["partition-alignment"]),
        post(list(listed), &[], &["partition-alignment"]),
        post(list(old), &[("partition-alignment", "sda1", Warning)], &[]),
    ]);
}

#[test]
fn tables_of_partitions() {
    let table = |first: u64, physical: u32, kind: &str| {
        format!(
            "# fdisk -l /dev/sda\nDisk /dev/sda: 1.82 TiB, 2000398934016 bytes, 3907029168 sectors\n\
                Units: sectors of 1 * 512 = 512 bytes\nSector size (logical/physical): 512 bytes / {physical} bytes\n\
                I/O size (minimum/optimal): {physical} bytes / {physical} bytes\nDisklabel type: dos\n\n\
                Device     Boot Start        End    Sectors  Size Id Type\n\
                /dev/sda1       {first} 3907024064 {} 1.8T 83 {kind}\n",
            3_907_024_065 - first
        )
    };
    const OFF: &[Found] = &[("partition-alignment", "sda1", Warning)];
    const NOT: &[&str] = &["partition-alignment"];
    check(&[
        post(table(63, 4096, "Linux"), OFF, &[]),
        post(table(63, 512, "Linux"), &[], NOT),
        post(table(2048, 4096, "Linux"), &[], NOT),
        // A list of others, and what Windows keeps free.
        post(table(501_758, 4096, "Extended"), &[], NOT),
        post(table(34, 4096, "Microsoft reserved"), &[], NOT),
        post(table(63, 4096, "Linux").replace("sectors of 1 * 512", "cylinders of 16065 * 512"), &[], NOT),
        // A drive whose blocks begin behind its first sector.
        post(table(63, 4096, "Linux").replace("Disklabel", "Alignment offset: 3584 bytes\nDisklabel"), &[], NOT),
        post(table(2048, 4096, "Linux").replace("Disklabel", "Alignment offset: 3584 bytes\nDisklabel"), OFF, &[]),
    ]);
}

#[test]
fn tables_of_partitions_by_parted() {
    let heading = "# parted /dev/sda unit s print\nModel: ATA ST4000VN008-2DR1 (scsi)\nDisk /dev/sda: 7814037168s\n\
        Sector size (logical/physical): 512B/4096B\nPartition Table: msdos\nDisk Flags: \n\n";
    let dos = |rows: &str| {
        format!("{heading}Number  Start    End          Size         Type      File system  Flags\n{rows}\n")
    };
    let gpt = |row: &str| format!("{heading}Number  Start  End       Size      File system  Name      Flags\n{row}\n");
    const LOGICAL: &[Found] = &[("partition-alignment", "sda5", Warning)];
    const OFF: &[Found] = &[("partition-alignment", "sda1", Warning)];
    const NOT: &[&str] = &["partition-alignment"];
    let list = |flags: &str| {
        format!(
            " 2      501758s  7814035455s  7813533698s  extended               {flags}\n \
            5      501760s  7814035455s  7813533696s  logical   ext4\n"
        )
    };
    check(&[
        post(dos(&list("")), &[], NOT),
        post(dos(&list("lba")), &[], NOT),
        post(
            dos(&list("lba").replace("501760s  7814035455s  7813533696s", "501759s  7814035455s  7813533697s")),
            LOGICAL,
            &[],
        ),
        post(dos(" 1      63s      20971520s    20971458s    primary   ext4\n"), OFF, &[]),
        // A table of GPT tells no kinds: what stands there is a name.
        post(gpt(" 1      63s    2097152s  2097090s               extended\n"), OFF, &[]),
        post(gpt(" 1      34s    2047s     2014s                           bios_grub\n"), &[], NOT),
        post(gpt(" 1      63s    2097152s  2097090s               bios_grub\n"), OFF, &[]),
    ]);
}

/// `gdisk` tells the kind by its number; the name behind it is a person's.
#[test]
fn tables_of_partitions_by_gdisk() {
    let table = |start: u64, code: &str, name: &str| {
        format!(
            "# gdisk -l /dev/sda\nGPT fdisk (gdisk) version 1.0.9\n\nDisk /dev/sda: 7814037168 sectors, 3.6 TiB\n\
            Sector size (logical/physical): 512/4096 bytes\n\n\
            Number  Start (sector)    End (sector)  Size       Code  Name\n   \
            1            {start}      7814037134   3.6 TiB     {code}  {name}\n\n"
        )
    };
    const OFF: &[Found] = &[("partition-alignment", "sda1", Warning)];
    const NOT: &[&str] = &["partition-alignment"];
    check(&[
        post(table(63, "8300", "Extended"), OFF, &[]),
        post(table(63, "8300", "BIOS boot"), OFF, &[]),
        post(table(34, "EF02", "grub"), &[], NOT),
        post(table(34, "0C01", "Data"), &[], NOT),
        post(table(2048, "8300", "Linux filesystem"), &[], NOT),
    ]);
}

#[test]
fn messages() {
    const REQUESTS: Found = ("read-write-errors", "", Warning);
    const AWAY: Found = ("drive-went-away", "", Error);
    const DAMAGED: Found = ("went-read-only", "", Error);
    const UNMOUNTABLE: Found = ("went-read-only", "", Warning);
    let said = |lines: &[&str]| {
        lines.iter().enumerate().map(|(at, line)| format!("[ 10{at}.123456] {line}\n")).collect::<String>()
    };
    let found = |line: &str, found: &'static [Found]| post(said(&[line]), found, &[]);
    let silent = |lines: &[&str]| post(said(lines), &[], &["read-write-errors", "drive-went-away", "went-read-only"]);
    check(&[
        found("critical medium error, dev sdc, sector 242088336 op 0x0:(READ) flags 0x80700 phys_seg 1", &[REQUESTS]),
        found("blk_update_request: critical target error, dev sdb, sector 9 op 0x1:(WRITE) flags 0x0", &[REQUESTS]),
        found("recoverable transport error, dev sdb, sector 9 op 0x0:(READ) flags 0x0", &[REQUESTS]),
        found("protection error, dev sdb, sector 9 op 0x0:(READ) flags 0x0", &[REQUESTS]),
        found("timeout error, dev nvme0n1, sector 9 op 0x0:(READ) flags 0x0", &[REQUESTS]),
        found("device offline error, dev sdb, sector 9 op 0x0:(READ) flags 0x0", &[REQUESTS]),
        found(
            "critical space allocation error, dev dm-4, sector 9 op 0x1:(WRITE) flags 0x0",
            &[("read-write-errors", "", Error)],
        ),
        found("nvme0n1: Read(0x2) @ LBA 51, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR", &[REQUESTS]),
        found("sd 0:0:3:0: attempting task abort!scmd(0x00d2e1b0a3), outstanding for 30312 ms", &[REQUESTS]),
        found("sd 0:0:3:0: attempting device reset! scmd(0x00d2e1b0a3)", &[REQUESTS]),
        found("BTRFS info (device sdc): bdev /dev/sdc errs: wr 0, rd 1832, flush 0, corrupt 14, gen 0", &[REQUESTS]),
        // Nothing is lost that a drive does not know, or that the kernel does without.
        silent(&["operation not supported error, dev loop0, sector 9 op 0x9:(WRITE_ZEROES) flags 0x0"]),
        silent(&["critical target error, dev sdb, sector 9 op 0x3:(DISCARD) flags 0x0"]),
        silent(&["print_req_error: critical target error, dev sdb, sector 9"]),
        silent(&[
            "nvme0n1: Dataset Management(0x9) @ LBA 51, 8 blocks, Invalid Field in Command (sct 0x0 / sc 0x2) DNR",
        ]),
        found("nvme 0000:02:00.0: Unable to change power state from D3cold to D0, device inaccessible", &[AWAY]),
        found("nvme nvme0: Disabling device after reset failure: -19", &[AWAY]),
        silent(&["snd_hda_intel 0000:01:00.1: Unable to change power state from D3cold to D0, device inaccessible"]),
        found("EXT4-fs (sda2): warning: mounting fs with errors, running e2fsck is recommended", &[DAMAGED]),
        found("EXT4-fs (sda2): error count since last fsck: 14", &[DAMAGED]),
        found("EXT4-fs (sda2): bad geometry: block count 9 exceeds size of device (8 blocks)", &[DAMAGED]),
        found("EXT4-fs (sda2): group descriptors corrupted!", &[DAMAGED]),
        silent(&["EXT4-fs (sda2): warning: maximal mount count reached, running e2fsck is recommended"]),
        found(
            "BTRFS error (device sdb1): parent transid verify failed on logical 1 mirror 1 wanted 2 found 1",
            &[DAMAGED],
        ),
        found("BTRFS error (device sdb1): open_ctree failed", &[UNMOUNTABLE]),
        found("EXT4-fs (sda2): error loading journal", &[UNMOUNTABLE]),
        found("XFS (md0): log mount/recovery failed: error -117", &[DAMAGED]),
        found("XFS (md0): log mount/recovery failed: error -5", &[UNMOUNTABLE]),
        found("device-mapper: thin: 253:4: switching pool to out-of-data-space (queue IO) mode", &[DAMAGED]),
        found("device-mapper: thin: 253:4: switching pool to read-only mode", &[DAMAGED]),
        found("device-mapper: thin: 253:4: switching pool to fail mode", &[DAMAGED]),
        found("device-mapper: thin: 253:4: metadata operation 'dm_pool_commit' failed: error = -28", &[DAMAGED]),
        silent(&["device-mapper: thin: 253:4: switching pool to write mode"]),
        // Drivers of controllers, and the layers above them.
        found(
            "megaraid_sas 0000:03:00.0: 1540 (637234223s/0x0002/WARN) - Predictive failure: PD 03(e0x20/s3)",
            &[REQUESTS],
        ),
        found("megaraid_sas 0000:03:00.0: Found FW in FAULT state, will reset adapter scsi0", &[REQUESTS]),
        found("mpt2sas_cm0: fault_state(0x2622)!", &[REQUESTS]),
        found("smartpqi 0000:5c:00.0: resetting scsi 1:0:3:0 due to cmd 0x28", &[REQUESTS]),
        found("hpsa 0000:03:00.0: Controller lockup detected: 0x00130000 after 30", &[("drive-went-away", "", Error)]),
        found("aacraid: Host adapter abort request (0,0,3,0)", &[REQUESTS]),
        found("aacraid: Host adapter reset request. SCSI hang ?", &[REQUESTS]),
        found(" rport-7:0-3: blocked FC remote port time out: removing target and saving binding", &[REQUESTS]),
        silent(&[" rport-7:0-3: blocked FC remote port time out: removing rport"]),
        found("sd 2:0:0:0: [sdc] tag#10 Sense Key : Medium Error [current] ", &[REQUESTS]),
        silent(&["sr 1:0:0:0: [sr0] tag#10 Sense Key : Medium Error [current] "]),
        silent(&["sd 2:0:0:0: [sdc] tag#10 Sense Key : Illegal Request [current] "]),
        found("sd 0:0:0:0: Device offlined - not ready after error recovery", &[REQUESTS]),
        found("ata3.00: failed command: READ FPDMA QUEUED", &[REQUESTS]),
        silent(&["ata3.00: failed command: SMART"]),
        found("mmcblk0: error -84 transferring data, sector 1232, nr 8, cmd response 0x900", &[REQUESTS]),
        found("device-mapper: multipath: 253:2: Failing path 8:32.", &[REQUESTS]),
        found(" session2: session recovery timed out after 120 secs", &[REQUESTS]),
        found("zio pool=tank vdev=/dev/sda1 error=5 type=1 offset=270336 size=8192 flags=721601", &[REQUESTS]),
        found("WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended.", &[DAMAGED]),
        found("PANIC at zio.c:341:zio_buf_alloc()", &[DAMAGED]),
        found("BTRFS error (device sdb1): devid 2 uuid 5 is missing", &[UNMOUNTABLE]),
        found("md/raid:md0: Cannot continue operation (2/4 failed).", &[("read-write-errors", "", Error)]),
        silent(&["sd 0:0:5:0: Power-on or device reset occurred", "sd 0:0:6:0: Power-on or device reset occurred"]),
        post(said(&["sd 0:0:5:0: Power-on or device reset occurred"; 3]), &[REQUESTS], &[]),
        found("sd 2:0:0:0: [sdc] tag#10 Add. Sense: Information unit iuCRC error detected", &[REQUESTS]),
        found("md: disk3 read error, sector=123456", &[REQUESTS]),
        found("JBD2: Detected IO errors while flushing file data on dm-0-8", &[REQUESTS]),
        found("bcache: bch_count_io_errors() sdb: IO error on writing btree, recovering.", &[REQUESTS]),
        found("md/raid:md0: cannot start dirty degraded array.", &[("read-write-errors", "", Error)]),
        found("Aborting journal on device sda2-8.", &[DAMAGED]),
        found("FAT-fs (sdb1): Filesystem has been set read-only", &[DAMAGED]),
        silent(&["FAT-fs (sdb1): Volume was not properly unmounted. Some data may be corrupt. Please run fsck."]),
        found("BTRFS error (device dm-0): bad tree block start, mirror 1 want 30457856 have 0", &[DAMAGED]),
        found(
            "EXT4-fs (dm-0): failed to convert unwritten extents to written extents -- potential data loss!",
            &[DAMAGED],
        ),
        found("F2FS-fs (mmcblk0p3): inconsistent node block, nid:12, run fsck to fix.", &[DAMAGED]),
        // What was read cannot be, and no request failed.
        post(
            said(&["XFS (sdb1): metadata I/O error in \"xfs_imap_to_bp\" at daddr 0x1b8 len 32 error 117"]),
            &[DAMAGED],
            &["read-write-errors"],
        ),
        found("XFS (sdb1): metadata I/O error in \"xfs_imap_to_bp\" at daddr 0x1b8 len 32 error 5", &[REQUESTS]),
        // As old kernels write of discs.
        silent(&["Buffer I/O error on device sr0, logical block 184"]),
        // Links: of a network card, of a drive.
        silent(&[
            "rtw_8821ce 0000:02:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)",
        ]),
        silent(&["pcieport 0000:00:1d.5: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"]),
        found(
            "nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
            &[("read-write-errors", "", Information)],
        ),
        found(
            "nvme 10000:e1:00.0: AER: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer",
            &[REQUESTS],
        ),
    ]);
}

/// How often a drive was reset counts from one start of the machine to the next, and not over texts.
#[test]
fn drives_that_are_reset_at_each_start() {
    const RESET: &str = "sd 0:0:5:0: Power-on or device reset occurred";
    const OFTEN: &[Found] = &[("read-write-errors", "", Warning)];
    const NOT: &[&str] = &["read-write-errors"];
    let since = |times: &[&str]| times.iter().map(|time| format!("[{time}] {RESET}\n")).collect::<String>();
    let journal = |minute: u32| format!("Mar 03 12:{minute:02}:00 nas kernel: {RESET}\n");
    let three = since(&["    2.1", "   20.5", " 3000.1"]);
    let starts = [1, 2, 3, 4].map(journal).join("-- Boot 6c1f3f7a2b884d1f8f0e7a0f6d0c9c11 --\n");
    let banner = "Mar 03 12:00:00 nas kernel: Linux version 6.8.0-45-generic (buildd@lcy02)\n";
    let usb = |driver: &str| format!("[    1.5] scsi host0: {driver}\n{three}");
    check(&[
        post(three.clone(), OFTEN, &[]),
        post([1, 2, 3].map(journal).concat(), OFTEN, &[]),
        // Starts, as a journal shows them, as the kernel does, and as its times do.
        post(starts, &[], NOT),
        post([1, 2, 3].map(|at| format!("{banner}{}", journal(at))).concat(), &[], NOT),
        post(since(&["    2.1", "    2.2", "    2.0", "    2.1", "    1.9"]), OFTEN, &[]),
        post(since(&["  200.1", "  300.2", "    2.1", "    2.2", "    1.0"]), &[], NOT),
        // One text, posted twice.
        post(format!("$ dmesg\n{0}\n$ dmesg | tail\n{0}", since(&["    2.1", "   20.5"])), &[], NOT),
        // A drive that is plugged in.
        post(usb("usb-storage 2-1:1.0"), &[], NOT),
        post(usb("uas"), &[], NOT),
        post(usb("mpt3sas"), OFTEN, &[]),
    ]);
}

/// A drive that is put in resets its port once; one whose link was lost does the same, and was there before.
#[test]
fn a_drive_that_is_put_in() {
    let put_in = "[98211.331201] ata4: exception Emask 0x10 SAct 0x0 SErr 0x4040000 action 0xe frozen\n\
        [98211.331210] ata4: irq_stat 0x00000040, connection status changed\n\
        [98211.331215] ata4: SError: { CommWake DevExch }\n[98211.331222] ata4: hard resetting link\n\
        [98217.052611] ata4: SATA link up 6.0 Gbps (SStatus 133 SControl 300)\n";
    let named = "[98217.054410] ata4.00: ATA-9: WDC WD40EFRX-68N32N0, 82.00A82, max UDMA/133\n";
    let again = "[98217.055410] ata4.00: configured for UDMA/133\n";
    const LOST: &[Found] = &[("read-write-errors", "", Warning)];
    check(&[
        post(format!("{put_in}{named}{again}"), &[], &["read-write-errors"]),
        post(format!("{put_in}{again}"), LOST, &[]),
        post(format!("[    2.054410] ata4.00: ATA-9: WDC, 82, max UDMA/133\n{put_in}{named}{again}"), LOST, &[]),
        post(format!("{put_in}{put_in}{named}{again}"), LOST, &[]),
    ]);
}

#[test]
fn pools() {
    const GONE: &[Found] = &[("zfs-pool-state", "tank", Error)];
    let status = |state: &str, end: &str| {
        format!(
            "  pool: tank\n state: {state}\n  scan: none requested\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\
                \ttank        {state}      0     0     0\n\t  sda       ONLINE       0     0     0\n{end}\n"
        )
    };
    let import = |state: &str| {
        format!(
            "   pool: tank\n     id: 12345678901234567890\n  state: {state}\n action: The pool can be imported.\n config:\n\n\
                \ttank         {state}\n\t  sda        ONLINE\n\n"
        )
    };
    check(&[
        // Of a pool that cannot be opened no errors are told.
        post(status("UNAVAIL", ""), GONE, &[]),
        // What stands above a cut is true.
        post(status("DEGRADED", ""), GONE, &[]),
        post(status("ONLINE", ""), &[], &["zfs-pool-state"]),
        post(import("UNAVAIL"), GONE, &[]),
        post(import("ONLINE"), &[], &["zfs-pool-state"]),
    ]);
}

#[test]
fn full_file_systems() {
    const FULL: &[Found] = &[("file-system-space", "/", Error)];
    const NOT: &[&str] = &["file-system-space"];
    let heading = "Filesystem     Type      Size  Used Avail Use% Mounted on\n";
    check(&[
        post(format!("$ df -hT\n{heading}/dev/root      erofs     170M  170M     0 100% /\n"), &[], NOT),
        post(format!("$ df -hT\n{heading}/dev/root      ext4       29G   28G     0 100% /\n"), FULL, &[]),
        post("$ df -h\nFilesystem Size Used Available Use% Mounted on\n/dev/root 4.3M 4.3M 0 100% /rom\n", &[], NOT),
        post("$ df -h\nFilesystem Size Used Available Use% Mounted on\n/dev/root 170M 170M 0 100% /\n", &[], NOT),
        post("$ df -h\nFilesystem Size Used Available Use% Mounted on\n/dev/root 29G 28G 0 100% /\n", FULL, &[]),
        post("$ df -h\nFilesystem Size Used Avail Use% Mounted on\n/dev/root 7.6G 7.6G 0 100% /\n", FULL, &[]),
        // BusyBox.
        post(
            "$ df -i\nFilesystem Inodes Used Available Use% Mounted on\n/dev/ubi0_1 65536 65536 0 100% /\n",
            FULL,
            &[],
        ),
        post(
            "$ df -i\nFilesystem Inodes IUsed IFree IUse% Mounted on\n/dev/sda2 30531584 30531584 0 100% /\n",
            FULL,
            &[],
        ),
        post("$ df -i\nFilesystem Inodes IUsed IFree IUse% Mounted on\n/dev/sda2 0 0 0 - /\n", &[], NOT),
    ]);
}

#[test]
fn links_of_tunnels() {
    let text = |name: &str| {
        format!(
            "00:1d.0 PCI bridge: Intel Root Port\n\tBus: primary=00, secondary=05, subordinate=0a, sec-latency=0\n\
            \tCapabilities: [80] Express (v2) Root Port (Slot+), MSI 00\n\t\tLnkCap:\tPort #3, Speed 8GT/s, Width x4\n\
            \t\tLnkSta:\tSpeed 8GT/s, Width x4\n\n\
            05:00.0 PCI bridge: {name}\n\tBus: primary=05, secondary=09, subordinate=0a, sec-latency=0\n\
            \tCapabilities: [80] Express (v2) Upstream Port, MSI 00\n\t\tLnkCap:\tPort #3, Speed 8GT/s, Width x4\n\
            \t\tLnkSta:\tSpeed 8GT/s, Width x4\n\n\
            09:01.0 PCI bridge: {name}\n\tBus: primary=09, secondary=0a, subordinate=0a, sec-latency=0\n\
            \tCapabilities: [80] Express (v2) Downstream Port (Slot+), MSI 00\n\
            \t\tLnkCap:\tPort #3, Speed 2.5GT/s, Width x4\n\t\tLnkSta:\tSpeed 2.5GT/s, Width x4\n\n\
            0a:00.0 Non-Volatile memory controller: Samsung\n\tCapabilities: [70] Express (v2) Endpoint, MSI 00\n\
            \t\tLnkCap:\tPort #0, Speed 8GT/s, Width x4\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x4\n\n"
        )
    };
    check(&[
        post(
            text("Intel JHL6340 Thunderbolt 3 Bridge (C step) [Alpine Ridge 2C 2016]"),
            &[],
            &["slot-below-drive", "link-below-drive"],
        ),
        // By its number alone.
        post(text("Intel Device [8086:15da]"), &[], &["slot-below-drive", "link-below-drive"]),
        post(text("Intel Device [8086:15db]"), &[("slot-below-drive", "0000:0a:00.0", Warning)], &[]),
        post(text("ASMedia ASM1184e"), &[("slot-below-drive", "0000:0a:00.0", Warning)], &[]),
    ]);
}

#[test]
fn links_that_are_not_what_they_say() {
    let text = |port: &str, best: &str, now: &str| {
        format!(
            "00:1c.0 PCI bridge: {port}\n\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n\
            \tCapabilities: [54] Express (v2) Root Port (Slot+), MSI 00\n\t\tLnkCap:\tPort #16, {best}\n\t\tLnkSta:\t{now}\n\n\
            01:00.0 Non-Volatile memory controller: Samsung\n\tCapabilities: [70] Express (v2) Endpoint, MSI 00\n\
            \t\tLnkCap:\tPort #0, Speed 16GT/s, Width x4\n\t\tLnkSta:\t{now}\n\n"
        )
    };
    const ONE_SIDED: &[Found] = &[("link-below-drive", "0000:01:00.0", Warning)];
    const TRAINED: &[Found] = &[("link-below-both-ends", "0000:01:00.0", Error)];
    const SLOT: &[Found] = &[("slot-below-drive", "0000:01:00.0", Warning)];
    check(&[
        // A drive that was handed to a virtual machine.
        post(text("QEMU", "Speed 16GT/s, Width x32", "Speed 8GT/s, Width x4"), ONE_SIDED, &["link-below-both-ends"]),
        post(text("Intel", "Speed 16GT/s, Width x16", "Speed 8GT/s, Width x4"), TRAINED, &[]),
        // A port that was told to be faster than it says.
        post(text("BCM2712", "Speed 5GT/s, Width x1", "Speed 8GT/s, Width x1"), SLOT, &["link-below-both-ends"]),
        post(text("BCM2712", "Speed 5GT/s, Width x4", "Speed 16GT/s, Width x4"), &[], &["slot-below-drive"]),
    ]);
}

#[test]
fn a_controller_that_answers_nothing() {
    const GONE: &[Found] = &[("drive-went-away", "0000:02:00.0", Error)];
    let text = |rest: &str| {
        format!(
            "02:00.0 Non-Volatile memory controller: Samsung Electronics Co Ltd NVMe SSD Controller SM961/PM961 {rest}\n\
                \tKernel driver in use: nvme\n"
        )
    };
    check(&[
        post(text("(rev ff) (prog-if ff)\n\t!!! Unknown header type 7f"), GONE, &[]),
        post(text("(prog-if 02 [NVM Express])"), &[], &["drive-went-away"]),
    ]);
}

#[test]
fn a_pool_that_is_filled() {
    let text = |scan: &str| {
        format!(
            "  pool: tank\n state: ONLINE\n  scan: {scan}\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\
                \ttank        ONLINE       0     0     0\n\t  mirror-0  ONLINE       0     0     0\n\
                \t    sda     ONLINE       0     0     0\n\t    sdb     ONLINE       0     0     0  (resilvering)\n\n\
                errors: No known data errors\n"
        )
    };
    check(&[
        post(text("resilver in progress since Sun Nov 17 11:02:21 2024"), &[("zfs-pool-state", "tank", Warning)], &[]),
        post(text("resilvered 1.02T in 03:10:11 with 0 errors"), &[], &["zfs-pool-state"]),
    ]);
}

#[test]
fn journals_of_arrays() {
    let text = |last: &str| {
        format!(
            "# mdadm --detail /dev/md5\n/dev/md5:\n           Version : 1.2\n        Raid Level : raid5\n      Raid Devices : 3\n\
            \x20            State : clean \n            Layout : left-symmetric\n        Chunk Size : 512K\n\n\
            Consistency Policy : journal\n\n    Number   Major   Minor   RaidDevice State\n\
            \x20      0       8        1        0      active sync   /dev/sda1\n\
            \x20      1       8       17        1      active sync   /dev/sdb1\n\
            \x20      2       8       33        2      active sync   /dev/sdc1\n{last}"
        )
    };
    let listed = |flags: &str| {
        format!(
            "md5 : active raid5 nvme0n1p3[4]{flags} sdc1[3] sdb1[1] sda1[0]\n\
            \x20     200 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/3] [UUU]\n\nunused devices: <none>\n"
        )
    };
    const LOST: &[Found] = &[("array-degraded", "md5", Error)];
    check(&[
        post(text("\n       5     259        3        -      journal   /dev/nvme0n1p3\n"), &[], &["array-degraded"]),
        post(text("\n       5     259        3        -      faulty   /dev/nvme0n1p3\n"), LOST, &[]),
        // What comes behind the places was not posted.
        post(text(""), &[], &["array-degraded"]),
        post(listed("(J)(F)"), LOST, &[]),
        post(listed("(J)"), &[], &["array-degraded"]),
    ]);
}

#[test]
fn tables_of_attributes_without_what_stands_before_them() {
    const BAD: &[Found] = &[("drive-media-errors", "sdX", Warning)];
    let named = |name: &str| smart("PASSED", &[PENDING], "").replace("/dev/sda", name);
    let table = format!("{HEADING}{PENDING}\n");
    let result = "SMART overall-health self-assessment test result: PASSED\n";
    check(&[
        // A name that no drive has here, and one of FreeBSD.
        post(named("/dev/sg4"), BAD, &[]),
        post(named("/dev/ada1"), &[("drive-media-errors", "ada1", Warning)], &[]),
        post(named("/dev/sdaa"), &[("drive-media-errors", "sdaa", Warning)], &[]),
        post(table.clone(), BAD, &[]),
        post(
            "# smartctl -l selftest /dev/sdc\n=== START OF READ SMART DATA SECTION ===\n\
            Num  Test_Description    Status                  Remaining  LifeTime(hours)  LBA_of_first_error\n\
            # 1  Extended offline    Completed: read failure       90%     30002         3123123123\n",
            &[("drive-self-test", "sdc", Error)],
            &[],
        ),
        post(format!("{result}{table}"), BAD, &["drive-critical-warning"]),
        post(
            format!("=== START OF READ SMART DATA SECTION ===\n{}", result.replace("PASSED", "FAILED!")),
            &[("drive-critical-warning", "sdX", Error)],
            &[],
        ),
    ]);
}

#[test]
fn btrfs() {
    let usage = |command: &str, unallocated: &str, used: &str| {
        format!(
            "{command}Overall:\n    Device size:\t\t 512.00GiB\n    Device unallocated:\t\t {unallocated}\n    Device missing:\t\t     0.00B\n\
            \x20   Global reserve:\t\t 512.00MiB\t(used: 96.00KiB)\n\nData,single: Size:493.99GiB, Used:414.29GiB (82.86%)\n\
            \x20  /dev/vdb1\t 493.99GiB\n\nMetadata,DUP: Size:5.99GiB, Used:{used} (91.64%)\n   /dev/vdb1\t  11.98GiB\n\n\
            System,DUP: Size:8.00MiB, Used:80.00KiB (0.98%)\n   /dev/vdb1\t  16.00MiB\n\nUnallocated:\n   /dev/vdb1\t   {unallocated}\n"
        )
    };
    let stats = |written: u32| {
        format!("[/dev/sdb].write_io_errs    0\n[/dev/sdc].write_io_errs    {written}\n[/dev/sdc].corruption_errs  0\n")
    };
    let df = |data: &str, metadata: &str| {
        format!(
            "$ btrfs fi df /srv\nData, RAID1: total=1.20TiB, used=1.18TiB\n{data}System, {metadata}: total=32.00MiB, used=208.00KiB\n\
            Metadata, {metadata}: total=3.00GiB, used=2.22GiB\nGlobalReserve, single: total=512.00MiB, used=0.00B\n"
        )
    };
    let show = |more: &str| {
        format!(
            "Label: 'pool'  uuid: 3112349d-3cf0-4ccb-b3d3-6fbb1a872a4a\n\tTotal devices 2 FS bytes used 2.31TiB\n\
            \tdevid    1 size 2.73TiB used 1.56TiB path /dev/sdb\n{more}\n"
        )
    };
    const FULL: &[Found] = &[("btrfs-metadata-space", "/mnt (btrfs)", Error)];
    const MISSING: &[Found] = &[("btrfs-device-missing", "sdb (btrfs)", Error)];
    check(&[
        post(usage("$ sudo btrfs filesystem usage /mnt\n", "1.00MiB", "5.49GiB"), FULL, &[]),
        post(
            usage("", "1.00MiB", "5.49GiB"),
            &[("btrfs-metadata-space", "TARGET (btrfs)", Error)],
            &["btrfs-metadata-single"],
        ),
        post(usage("", "80.00GiB", "5.49GiB"), &[], &["btrfs-metadata-space"]),
        post(usage("", "1.00MiB", "3.49GiB"), &[], &["btrfs-metadata-space"]),
        post(stats(1204), &[("btrfs-device-errors", "2 (sdc) of TARGET", Error)], &[]),
        post(stats(0), &[], &["btrfs-device-errors"]),
        post(
            df("Data, single: total=80.00GiB, used=12.31GiB\n", "RAID1"),
            &[("btrfs-mixed-profiles", "/srv (btrfs)", Error)],
            &[],
        ),
        post(df("", "RAID1"), &[], &["btrfs-mixed-profiles", "btrfs-parity"]),
        post(df("", "RAID6"), &[("btrfs-parity", "/srv (btrfs)", Error)], &[]),
        post(show("\tdevid    2 size 0 used 0 path <missing disk> MISSING\n"), MISSING, &[]),
        post(show("\t*** Some devices missing\n"), MISSING, &[]),
        post(show("\tdevid    2 size 2.73TiB used 1.56TiB path /dev/sdc\n"), &[], &["btrfs-device-missing"]),
    ]);
}

#[test]
fn volumes() {
    let lvs = |rows: &str| {
        format!("# lvs\n  LV    VG  Attr       LSize   Pool Origin Data%  Meta%  Move Log Cpy%Sync Convert\n{rows}\n")
    };
    let pool = |attributes: &str, data: &str, metadata: &str| {
        lvs(&format!(
            "  data  pve {attributes} 794.30g             {data} {metadata}\n  vm-1  pve Vwi-aotz-- 500.00g data        100.00\n"
        ))
    };
    let at = |severity| -> &'static [Found] {
        match severity {
            Error => &[("thin-pool-space", "pve/data", Error)],
            _ => &[("thin-pool-space", "pve/data", Warning)],
        }
    };
    let vgs = |attributes: &str| {
        format!("  VG  #PV #LV #SN Attr   VSize VFree\n  vg0   2   1   0 {attributes} 1.82t    0 \n")
    };
    let pvs = |attributes: &str| {
        format!(
            "  PV         VG  Fmt  Attr PSize   PFree\n  /dev/sdb1  vg0 lvm2 a--  931.51g    0 \n  [unknown]  vg0 lvm2 {attributes}  931.51g    0 \n"
        )
    };
    const LOST: &[Found] = &[("volume-group", "vg0", Error)];
    check(&[
        post(pool("twi-aotz--", "42.17", "2.31"), &[], &["thin-pool-space"]),
        post(pool("twi-aotz--", "42.17", "88.31"), at(Warning), &[]),
        post(pool("twi-aotz--", "42,17", "88,31"), at(Warning), &[]),
        post(pool("twi-aotzD-", "100.00", "4.82"), at(Error), &[]),
        post(pool("twi-aotzM-", "12.00", "4.82"), at(Error), &[]),
        post(lvs("  snap  vg0 swi-I-s---  10.00g      root   100.00\n"), &[("snapshot-space", "vg0/snap", Error)], &[]),
        post(
            lvs("  data  vg0 rwi-aor---  10.00g                                    88.00\n"),
            &[],
            &["thin-pool-space", "snapshot-space"],
        ),
        post(vgs("wz-pn-"), LOST, &[]),
        post(vgs("wz--n-"), &[], &["volume-group"]),
        post(pvs("a-m"), LOST, &[]),
        post(pvs("a--"), &[], &["volume-group"]),
    ]);
}

#[test]
fn mounts() {
    let mount =
        |options: &str| format!("$ mount\nproc on /proc type proc (rw)\n/dev/sda1 on / type ext4 ({options})\n");
    let listed = |options: &str| format!("$ cat /proc/mounts\n/dev/sda1 / ext4 {options} 0 0\n");
    let found = |options: &str| {
        format!(
            "TARGET  SOURCE        FSTYPE OPTIONS\n/       /dev/sda1[/@] btrfs  {options}\n└─/home /dev/sda2     ext4   rw\n"
        )
    };
    const OFF: &[Found] = &[("barriers-off", "/ (ext4)", Error)];
    check(&[
        post(mount("rw,relatime,nobarrier"), OFF, &[]),
        post(mount("rw,relatime"), &[], &["barriers-off"]),
        post(listed("rw,barrier=0"), OFF, &[]),
        post(listed("rw,barrier=1"), &[], &["barriers-off"]),
        post(found("rw,nodatacow"), &[("btrfs-no-checksums", "/ (btrfs)", Warning)], &[]),
        post(found("rw"), &[], &["btrfs-no-checksums"]),
    ]);
}

/// The file names what the pool, the table or the kernel calls a device today.
#[test]
fn names_of_the_kernel() {
    let status = |command: &str| {
        format!(
            "# zpool status {command}\n  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME           STATE     READ WRITE CKSUM\n\
            \ttank           ONLINE       0     0     0\n\t  /dev/sdb1    ONLINE       0     0     0\n\nerrors: No known data errors\n"
        )
    };
    let table =
        |device: &str| format!("# /etc/fstab: static file system information.\n#\n{device} / ext4 defaults 0 1\n");
    const NAMED: &[Found] = &[("kernel-names-in-files", "/etc/fstab line 3", Warning)];
    check(&[
        post(status("-P"), &[("kernel-names-in-files", "zpool.cache", Warning)], &[]),
        post(status("-LP"), &[], &["kernel-names-in-files"]),
        post(table("/dev/sda1"), NAMED, &[]),
        post(table("UUID=11111111-2222-3333-4444-555555555555"), &[], &["kernel-names-in-files"]),
    ]);
}

/// A drive on two ways is one.
#[test]
fn ways_to_a_drive() {
    let list = |other: &str| {
        let uuid = "11111111-2222-3333-4444-555555555555";
        format!(
            "NAME MAJ:MIN FSTYPE UUID                                 WWN\nsda    8:0   ext4   {uuid} 0x5000cca25d000001\n\
            sdb    8:16  ext4   {uuid} {other}\n"
        )
    };
    check(&[
        post(list("0x5000cca25d000001"), &[], &["duplicate-uuid"]),
        post(list("0x5000cca25d000002"), &[("duplicate-uuid", "sda", Error)], &[]),
    ]);
}

#[test]
fn paths() {
    let text = |state: &str| {
        format!(
            "mpatha (360060160a62134001c1c1c1c1c1c1c1c) dm-2 DGC,VRAID\nsize=500G features='1 queue_if_no_path' hwhandler='1 alua' wp=rw\n\
            |-+- policy='service-time 0' prio=50 status=active\n| |- 1:0:0:1 sdb 8:16 {state} ready running\n\
            | `- 2:0:0:1 sdd 8:48 active ready running\n"
        )
    };
    check(&[
        post(text("failed"), &[("drives-hidden", "mpatha (dm-2)", Warning)], &[]),
        post(text("active"), &[("drives-hidden", "mpatha (dm-2)", Information)], &[]),
    ]);
}

#[test]
fn mappings_of_cryptsetup() {
    let text = |kind: &str, sector: u32| {
        format!(
            "/dev/mapper/home is active and is in use.\n  type:    {kind}\n  cipher:  aes-xts-plain64\n  keysize: 512 bits\n\
            \x20 key location: keyring\n  device:  /dev/sda2\n  sector size:  {sector}\n  offset:  32768 sectors\n  size:    976768000 sectors\n\
            \x20 mode:    read/write\n  flags:   discards no_read_workqueue\n"
        )
    };
    const SMALL: &[Found] = &[("encryption-sector", "home (dm-X)", Information)];
    check(&[
        post(text("LUKS2", 512), SMALL, &[]),
        post(text("LUKS1", 512), SMALL, &[]),
        post(text("LUKS2", 4096), &[], &["encryption-sector"]),
    ]);
}

/// A mail that answers a mail.
#[test]
fn quotations_within_other_words() {
    let text = "> On Sunday somebody wrote:\n> > md0 : active raid1 sdb1[1](F) sda1[0]\n> >       100 blocks super 1.2 [2/1] [U_]\n> >\n\
        > > unused devices: <none>\n> It is gone.\nReplace it.\n";
    check(&[post(text, &[("array-degraded", "md0", Error)], &[])]);
}

/// What the kernel says of drives that it leaves out, of what it cannot reach, and of what stays away.
#[test]
fn more_messages() {
    const LEFT_OUT: &[Found] = &[("drive-went-away", "", Error)];
    const BLOCKS: &[Found] = &[("drive-went-away", "", Warning)];
    const WAITS: &[Found] = &[("read-write-errors", "", Warning)];
    const LOST: &[Found] = &[("went-read-only", "", Error)];
    const ALL: &[&str] = &["read-write-errors", "drive-went-away", "went-read-only", "checksum-messages"];
    let said = |line: &str| format!("[  101.123456] {line}\n");
    check(&[
        post(said("nvme nvme0: globally duplicate IDs for nsid 1"), LEFT_OUT, &[]),
        post(
            said("nvme nvme1: ignoring ctrl due to duplicate subnqn (nqn.2017-12.org.nvmexpress:uuid:1)."),
            LEFT_OUT,
            &[],
        ),
        // Such a drive is used.
        post(said("nvme nvme0: Ignoring bogus Namespace Identifiers"), &[], ALL),
        post(said("nvme nvme0: missing or invalid SUBNQN field."), &[], ALL),
        post(said("sd 0:0:3:0: [sdd] Unsupported sector size 520."), BLOCKS, &[]),
        post(said("sd 0:0:3:0: [sdd] 4096-byte physical blocks"), &[], ALL),
        post(said("md3: rw=0, want=4913837584, limit=1465175040"), WAITS, &[]),
        post(
            "[  101.1] mount: attempt to access beyond end of device\n          sda5: rw=4096, sector=9, nr_sectors = 8 limit=8\n",
            WAITS,
            &[],
        ),
        post("sda5: rw=4096, sector=9, nr_sectors = 8 limit=8\n", WAITS, &[]),
        post(said("sr0: rw=0, want=1402376, limit=1402368"), &[], ALL),
        post(said("sdb: rw=0, want=8, limit=0"), &[], ALL),
        post(said("INFO: task txg_sync:9452 blocked for more than 120 seconds."), WAITS, &[]),
        post(said("INFO: task jbd2/dm-1-8:412 blocked for more than 120 seconds."), WAITS, &[]),
        post(said("INFO: task md0_raid5:412 blocked for more than 120 seconds."), WAITS, &[]),
        post(said("INFO: task Xorg:1822 blocked for more than 122 seconds."), &[], ALL),
        post(said("INFO: task mdns_helper:1822 blocked for more than 122 seconds."), &[], ALL),
        post(said("ata3: reset failed, giving up"), WAITS, &[]),
        post(said("ata3: link is slow to respond, please be patient (ready=0)"), &[], ALL),
        post(said("XFS (dm-3): Internal error xfs_trans_cancel at line 957 of file fs/xfs/xfs_trans.c."), LOST, &[]),
        post(said("device-mapper: snapshots: Invalidating snapshot: Unable to allocate exception."), LOST, &[]),
        post(said("device-mapper: snapshots: Snapshot merge complete."), &[], ALL),
        post(
            said("WARNING: MMP writes to pool 'tank' have not succeeded in over 60034 ms; suspending pool."),
            LOST,
            &[],
        ),
        post(
            said("BTRFS error (device sda4): unable to fixup (regular) error at logical 18701 on dev /dev/sda4"),
            &[("checksum-messages", "", Error)],
            &[],
        ),
        post(said("md: recovery thread: PQ corrected, sector=1962934168"), &[("checksum-messages", "", Warning)], &[]),
        post(said("md: recovery thread: exit status: 0"), &[], ALL),
    ]);
}

/// A drive that is left out does not sleep, whatever ends with it.
#[test]
fn what_is_left_out_is_not_told_to_stay_awake() {
    let text = "[    1.2] nvme nvme1: ignoring ctrl due to duplicate subnqn (nqn.1).\n[    1.3] nvme nvme1: Removing after probe failure status: -22\n";
    let asleep = text.replace("ignoring ctrl due to duplicate subnqn (nqn.1).", "Device not ready; aborting reset");
    let later =
        format!("{text}[ 4000.1] nvme nvme1: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10\n");
    for (text, wanted) in [(text, false), (asleep.as_str(), true), (later.as_str(), true)] {
        let diagnosis = diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap());
        let advised = diagnosis.findings.iter().any(|found| found.remedy.advice.contains("default_ps_max_latency_us"));
        assert_eq!(advised, wanted, "{text}");
    }
}

#[test]
fn arrays_that_are_started_short() {
    let starts = |lines: &[&str]| lines.iter().map(|line| format!("[    2.1] {line}\n")).collect::<String>();
    const SHORT: &[Found] = &[("read-write-errors", "", Error)];
    const NOT: &[&str] = &["read-write-errors"];
    check(&[
        post(starts(&["md/raid1:md127: active with 1 out of 2 mirrors"]), SHORT, &[]),
        post(starts(&["md/raid:md0: raid level 5 active with 2 out of 3 devices, algorithm 2"]), SHORT, &[]),
        post(starts(&["md/raid10:md1: active with 3 out of 4 devices"]), SHORT, &[]),
        post(starts(&["md/raid1:md127: active with 2 out of 2 mirrors"]), &[], NOT),
        // A new RAID-5 is made so, and filled at once.
        post(
            starts(&[
                "md/raid:md0: raid level 5 active with 2 out of 3 devices, algorithm 2",
                "md: recovery of RAID array md0",
                "md: md0: recovery done.",
            ]),
            &[],
            NOT,
        ),
        // A box with twelve bays, and one that has a single drive left.
        post(starts(&["md/raid1:md0: active with 4 out of 12 mirrors"]), &[], NOT),
        post(starts(&["md/raid1:md0: active with 1 out of 12 mirrors"]), SHORT, &[]),
        // Whole the next time; another is not.
        post(
            starts(&["md/raid1:md2: active with 1 out of 2 mirrors", "md/raid1:md2: active with 2 out of 2 mirrors"]),
            &[],
            NOT,
        ),
        post(
            starts(&["md/raid1:md2: active with 1 out of 2 mirrors", "md/raid1:md3: active with 2 out of 2 mirrors"]),
            SHORT,
            &[],
        ),
    ]);
}

/// A member that failed is back where the same machine's kernel started the array with all of them later.
#[test]
fn arrays_that_are_whole_again() {
    const LOST: &[Found] = &[("read-write-errors", "", Error)];
    const WHOLE: &str = "md/raid1:md0: active with 2 out of 2 mirrors";
    let monitored = |after: &str| {
        format!(
            "Nov  1 10:00:00 nas mdadm[812]: Fail event detected on md device /dev/md0, component device /dev/sdb1\n\
             Nov  {after} nas kernel: {WHOLE}\n"
        )
    };
    check(&[
        post(monitored("2 10:00:00"), &[], &["read-write-errors"]),
        post(monitored("1 09:00:00"), LOST, &[]),
        // Lines of the kernel do not name their machine, and every array of LVM is `mdX` there.
        post(format!("[1.0] md/raid1:md0: Disk failure on sdb1, disabling device.\n[2.0] {WHOLE}\n"), LOST, &[]),
        post(
            "[1.0] md/raid1:mdX: Disk failure on dm-25, disabling device.\n[2.0] md/raid1:mdX: active with 2 out of 2 mirrors\n"
                .to_owned(),
            LOST,
            &[],
        ),
    ]);
}

/// Many bridges to USB hand on what is asked of their drive.
#[test]
fn drives_at_usb_that_fail() {
    const USB: &str = "$ lsblk -o NAME,TYPE,TRAN\nNAME TYPE TRAN\nsda  disk usb\n\n";
    const FOUND: &[Found] = &[("drive-media-errors", "sda", Warning)];
    let smartd = "Nov  4 07:12:01 nas smartd[812]: Device: /dev/sda [SAT], 8 Currently unreadable (pending) sectors\n";
    check(&[
        post(format!("{USB}{}", smart("PASSED", &[PENDING], "")), FOUND, &[]),
        post(format!("{USB}{smartd}"), FOUND, &[]),
    ]);
}

/// Caches and paths of which only the status was posted.
#[test]
fn statuses_of_the_device_mapper() {
    let of = |status: &str| format!("$ dmsetup status\nvg-main: 0 41943040 {status}\n");
    const FAILED: &[Found] = &[("cache-state", "vg-main (dm-X)", Error)];
    const NOT: &[&str] = &["cache-state"];
    const CACHE: &str = "8 27/1024 128 1200/8192 10 20 30 40 0 0 0 1 writethrough 2 migration_threshold 2048 smq 0 rw";
    check(&[
        post(of("cache Fail"), FAILED, &[]),
        post(of(&format!("cache {CACHE} needs_check ")), FAILED, &[]),
        post(of(&format!("cache {CACHE} - ")), &[], NOT),
        post(of("writecache 1 131072 0 0"), FAILED, &[]),
        post(of("writecache -5 131072 0 0 0 0 0 0 0 0 0 0 0 0"), FAILED, &[]),
        post(of("writecache 0 131072 131000 0"), &[], NOT),
        post(
            of("multipath 2 0 0 0 2 1 A 0 1 2 8:16 A 0 0 1 E 0 1 2 8:32 F 1 0 1 "),
            &[("drives-hidden", "vg-main (dm-X)", Warning)],
            &[],
        ),
    ]);
}

/// What a RAID controller hides from the kernel its own program tells.
#[test]
fn what_the_program_of_a_controller_says() {
    const NOT: &[&str] = &["read-write-errors"];
    const HEAD: &str = "CLI Version = 007.1912.0000.0000 Nov 23, 2021\nController = 1\nStatus = Success\n\n";
    const LEGEND: &str = "EID-Enclosure Device ID|Slt-Slot No.|DID-Device ID|DG-DriveGroup\nUGood-Unconfigured Good|UBad-Unconfigured Bad\n";
    let of =
        |heading: &str, row: &str| format!("# storcli64 /c1 show\n{HEAD}{heading}\n-----\n{row}\n-----\n\n{LEGEND}");
    let volume = |row: &str| of("DG/VD TYPE  State Access Consist Cache Cac sCC       Size Name", row);
    let drive = |row: &str| of("EID:Slt DID State DG     Size Intf Med SED PI SeSz Model               Sp Type", row);
    let battery = |row: &str| of("Model  State   Temp Mode MfgDate", row);
    let counts = |line: &str| format!("{HEAD}Drive /c1/e252/s2 State :\n=======\nShield Counter = 0\n{line}\n");
    check(&[
        post(
            volume("0/0   RAID5 Dgrd  RW     Yes     RWBD  -   ON  10.914 TB data"),
            &[("read-write-errors", "/c1/v0", Error)],
            &[],
        ),
        post(
            volume("0/0   RAID5 Dgrd  RW     Yes     RWBD  -   ON  10.914 TB data").replace('\n', "\n\n"),
            &[("read-write-errors", "/c1/v0", Error)],
            &[],
        ),
        post(volume("0/0   RAID5 Optl  RW     Yes     RWBD  -   ON  10.914 TB Dgrd"), &[], NOT),
        // Commands name what was posted.
        post(counts("Media Error Count = 12").replace("/c1/e252/s2", "/c1;reboot"), &[], NOT),
        post(
            volume("0/239 RAID1 OfLn  RW     Yes     RWBD  -   ON  10.914 TB"),
            &[("read-write-errors", "/c1/v239", Error)],
            &[],
        ),
        post(
            drive("252:2    10 UBad   - 3.637 TB SATA HDD N   N  512B WDC WD40EFRX-68N32N0 U  -"),
            &[("read-write-errors", "/c1/e252/s2", Warning)],
            &[],
        ),
        post(drive("252:2    10 Onln   0 3.637 TB SATA HDD N   N  512B WDC WD40EFRX-68N32N0 U  -"), &[], NOT),
        // A controller without an enclosure.
        post(
            drive(" :0       1 Failed 0 3.637 TB SATA HDD N   N  512B A Drive          U  -"),
            &[("read-write-errors", "/c1/s0", Error)],
            &[],
        ),
        post(drive("252:3    11 GHS    - 3.637 TB SATA HDD N   N  512B A Drive          U  -"), &[], NOT),
        post(battery("CVPM02 Failed  28C  -    2016/11/04"), &[("read-write-errors", "/c1", Warning)], &[]),
        post(battery("CVPM02 Optimal 28C  -    2016/11/04"), &[], NOT),
        post(counts("Media Error Count = 12"), &[("read-write-errors", "/c1/e252/s2", Warning)], &[]),
        post(counts("S.M.A.R.T alert flagged by drive = Yes"), &[("read-write-errors", "/c1/e252/s2", Warning)], &[]),
        post(counts("Media Error Count = 0\nS.M.A.R.T alert flagged by drive = No"), &[], NOT),
        post(
            of(
                "Ctl Model      Ports PDs DGs DNOpt VDs VNOpt BBU sPR DS  EHS ASOs Hlth",
                "  1 PERCH730   8   4   1     1   1     1 Opt On  1&2 Y      3 NdAtn",
            ),
            &[("read-write-errors", "/c1", Warning)],
            &[],
        ),
    ]);
}

/// A port of USB is reset for many reasons; often, and with a drive at it, for one.
#[test]
fn drives_at_usb_that_are_reset() {
    const OFTEN: &[Found] = &[("read-write-errors", "", Warning)];
    const NOT: &[&str] = &["read-write-errors"];
    let reset =
        |at: u32| format!("[{:5}.25] usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd\n", 900 + at * 37);
    let resets = |times: u32| (0..times).map(reset).collect::<String>();
    let drive = "[    2.1] usb-storage 2-1:1.0: USB Mass Storage device detected\n";
    let camera = "[    2.1] uvcvideo 2-1:1.0: Found UVC 1.00 device\n";
    let woken = |at: u32| format!("{}[{:5}.1] Restarting tasks ... done.\n", reset(at), 905 + at * 37);
    check(&[
        post(format!("{drive}{}", resets(4)), OFTEN, &[]),
        post(format!("{drive}{}", resets(2)), &[], NOT),
        post(format!("{camera}{}", resets(9)), &[], NOT),
        post(format!("{}{}", drive.replace("2-1:", "2-2:"), resets(9)), &[], NOT),
        // The drive went, and a camera came to its port.
        post(
            format!("{drive}[  700.1] usb 2-1: new high-speed USB device number 7 using xhci_hcd\n{}", resets(4)),
            &[],
            NOT,
        ),
        // Once each time that the machine wakes, or that it is plugged in.
        post(format!("{drive}{}", (0..6).map(woken).collect::<String>()), &[], NOT),
        post(
            format!(
                "{drive}{}",
                (0..6)
                    .map(|at| format!(
                        "[{:5}.1] usb 2-1: new SuperSpeed USB device number 2 using xhci_hcd\n{}",
                        890 + at * 37,
                        reset(at)
                    ))
                    .collect::<String>()
            ),
            &[],
            NOT,
        ),
    ]);
}

/// Times in whatever form, and none.
#[test]
fn times_of_messages() {
    const FAILED: &[Found] = &[("read-write-errors", "", Warning)];
    const MESSAGE: &str = "blk_update_request: I/O error, dev sdc, sector 1953503 op 0x0:(READ) flags 0x0";
    let told = |before: &str| post(format!("{before}{MESSAGE}\n"), FAILED, &[]);
    check(&[
        told("[Mar12 09:14] "),
        told("[  +0.004113] "),
        told("<3>[ 4411.103002] "),
        told("kern  :err   : [ 4411.103002] "),
        told("kern  :err   : [Sun Mar  3 12:00:00 2024] "),
        told("2024-03-03T12:00:02,123456+01:00 "),
        told("2024-03-03T12:00:02.123456+01:00 nas kernel: "),
        told(""),
        post("ata1.00: failed command: READ DMA\n", FAILED, &[]),
        post("sd 2:0:0:0: [sdc] tag#10 Sense Key : Medium Error [current]\n", FAILED, &[]),
        // What a person writes, and another program.
        post("I think there was an I/O error, dev sdc maybe.\n", &[], &["read-write-errors"]),
        post("2024-03-03T12:00:02.1+01:00 app: I/O error, dev sdc\n", &[], &["read-write-errors"]),
    ]);
}

#[test]
fn what_smartd_writes() {
    let journal = |said: &str| format!("Jul 24 03:12:46 nas smartd[1443]: Device: /dev/sda [SAT], {said}\n");
    const BAD: &[Found] = &[("drive-media-errors", "sda", Warning)];
    const NOT: &[&str] = &["drive-media-errors", "drive-critical-warning"];
    let kernel = "Jul 24 03:12:47 nas kernel: ata1.00: failed command: READ FPDMA QUEUED\n";
    check(&[
        post(journal("8 Currently unreadable (pending) sectors (changed +2)"), BAD, &[]),
        post(journal("1 Offline uncorrectable sectors"), BAD, &[]),
        post(
            format!("{}{kernel}", journal("8 Currently unreadable (pending) sectors")),
            &[("drive-media-errors", "sda", Warning), ("read-write-errors", "", Warning)],
            &[],
        ),
        post(
            "Device: /dev/sdb [SAT], FAILED SMART self-check. BACK UP DATA NOW!\n",
            &[("drive-critical-warning", "sdb", Error)],
            &[],
        ),
        post(journal("SMART Usage Attribute: 194 Temperature_Celsius changed from 64 to 65"), &[], NOT),
        post(
            format!(
                "{}{}",
                journal("8 Currently unreadable (pending) sectors"),
                journal("No more Currently unreadable (pending) sectors, warning condition reset after 1 email")
            ),
            &[],
            NOT,
        ),
        // They went away again, as the last line says, and as the drive does.
        post(
            format!(
                "{}{}",
                journal("8 Currently unreadable (pending) sectors"),
                journal("0 Currently unreadable (pending) sectors")
            ),
            &[],
            NOT,
        ),
        post(
            format!(
                "{}{}",
                smart("PASSED", &[&PENDING.replace("1712", "0")], ""),
                journal("8 Currently unreadable (pending) sectors")
            ),
            &[],
            NOT,
        ),
        // A drive behind a controller, whose volume has that name.
        post(journal("1 Offline uncorrectable sectors").replace("[SAT]", "[megaraid_disk_04] [SAT]"), &[], NOT),
    ]);
}

#[test]
fn btrfs_in_other_shapes() {
    let usage = |free: &str, more: &str| {
        format!(
            "# btrfs fi usage -T /mnt\nOverall:\n    Device size:\t\t   7.28TiB\n    Device missing:\t\t     0.00B\n    Global reserve:\t\t 512.00MiB\t(used: 0.00B)\n\n\
            \x20           Data     Metadata{} System              \nId Path     RAID1    RAID1   {} RAID1    Unallocated\n\
            -- -------- -------- -------- -------- -----------\n 1 /dev/sdb  3.63TiB  4.00GiB {} 32.00MiB     {free}\n\
            \x202 /dev/sdc  3.63TiB  4.00GiB {} 32.00MiB     {free}\n-- -------- -------- -------- -------- -----------\n\
            \x20  Total     3.63TiB  4.00GiB {} 32.00MiB     {free}\n   Used      3.60TiB  3.95GiB {} 544.00KiB\n",
            if more.is_empty() { "" } else { " Metadata" },
            if more.is_empty() { "" } else { " single" },
            if more.is_empty() { "" } else { "1.00GiB" },
            if more.is_empty() { "" } else { "-" },
            more,
            if more.is_empty() { "" } else { "31.00MiB" },
        )
    };
    let table = |counts: [u32; 5]| {
        let counts: String = counts.iter().map(|count| format!("  {count:8}")).collect();
        format!(
            "# btrfs device stats -T /srv\nId Path      Write errors Read errors Flush errors Corruption errors Generation errors\n\
            -- --------- ------------ ----------- ------------ ----------------- -----------------\n 1 /dev/sdc1     0   0   0   0   0\n 2 /dev/sdb1{counts}\n"
        )
    };
    let json = |count: u32| {
        format!(
            "$ btrfs --format json device stats /srv\n{{\n  \"device-stats\": [\n    {{\"device\": \"/dev/sdb1\", \"devid\": 2, \"write_io_errs\": 0, \"corruption_errs\": {count}}}\n  ]\n}}\n"
        )
    };
    let devices = |second: &str| {
        let paragraph = |name: &str| {
            format!(
                "{name}\n   Device size:             2.73TiB\n   Data,RAID1:              1.56TiB\n   Unallocated:             1.16TiB\n\n"
            )
        };
        format!("# btrfs device usage /mnt\n{}{}", paragraph("/dev/sdb, ID: 1"), paragraph(second))
    };
    let stats = |count: u32| {
        let row = |at: usize| format!("[/dev/mapper/c{at}].read_io_errs  {}\n", if at == 5 { count } else { 0 });
        format!("# btrfs device stats /srv\n{}", (0..6).map(row).collect::<String>())
    };
    const BAD: &[Found] = &[("btrfs-device-errors", "2 (sdb1) of /srv", Error)];
    const NOT: &[&str] = &[
        "btrfs-device-errors",
        "btrfs-device-missing",
        "btrfs-metadata-space",
        "btrfs-mixed-profiles",
        "btrfs-metadata-single",
    ];
    check(&[
        post(usage("1.00MiB", ""), &[("btrfs-metadata-space", "/mnt (btrfs)", Error)], &[]),
        post(usage("1.20TiB", ""), &[], NOT),
        post(usage("1.20TiB", "1.00GiB"), &[("btrfs-mixed-profiles", "/mnt (btrfs)", Error)], &[]),
        post(table([0, 0, 0, 4, 0]), BAD, &[]),
        post(table([25; 5]), BAD, &[]),
        post(table([0; 5]), &[], NOT),
        post(json(17), BAD, &[]),
        post(json(0), &[], NOT),
        post(devices("missing, ID: 7"), &[("btrfs-device-missing", "/mnt (btrfs)", Error)], &[]),
        post(devices("/dev/sdc, ID: 7"), &[], NOT),
        // Mappings past the third.
        post(stats(12), &[("btrfs-device-errors", "6 (c5) of /srv", Error)], &[]),
        post(stats(0), &[], NOT),
        post(
            "# btrfs device stats /srv\n[/dev/sdb].read_io_errs  0\n[devid:7].read_io_errs  412\n",
            &[("btrfs-device-errors", "7 (name not known) of /srv", Error)],
            &[],
        ),
    ]);
    // What old versions print in all columns is one counter.
    let posted = posted::read([("post", table([25; 5]).as_str())]);
    let diagnosis = diagnose(&inspect::examine(&posted.machine).unwrap());
    let found = diagnosis.findings.iter().find(|found| found.check == "btrfs-device-errors").unwrap();
    assert!(found.what.starts_with("25 errors"), "{found:?}");
}

#[test]
fn lines_of_the_device_mapper() {
    let pool = |used: u64, mode: &str| {
        format!(
            "pve-data-tpool: 0 1667000000 thin-pool 4 12288/4161600 {used}/1302343 - {mode} no_discard_passdown error_if_no_space - 1024 \npve-root: 0 201326592 linear \n"
        )
    };
    let raid =
        |health: &str| format!("vg0-data: 0 1953120256 raid raid1 2 {health} 1953120256/1953120256 idle 0 0 -\n");
    let crypt = |sector: &str| {
        format!("home: 0 1000181760 crypt aes-xts-plain64 :64:logon:cryptsetup:1-d0 0 8:3 32768 {sector}\n")
    };
    const POOL: &[Found] = &[("thin-pool-space", "pve-data-tpool (dm-X)", Error)];
    const DEAD: &[Found] = &[("array-degraded", "vg0-data (dm-X)", Error)];
    check(&[
        post(pool(1_302_343, "out_of_data_space"), POOL, &[]),
        post(pool(1_280_000, "rw"), POOL, &[]),
        post(pool(302_343, "rw"), &[], &["thin-pool-space"]),
        post("pve-data-tpool: 0 1667000000 thin-pool Fail\n", POOL, &[]),
        // Other blocks than fit there: how much is left is not guessed.
        post(pool(1_302_343, "rw").replace("/1302343", "/1302344"), &[], &["thin-pool-space"]),
        post(raid("AD"), DEAD, &[]),
        post(raid("AA"), &[], &["array-degraded"]),
        // What it stands on is told by a number alone.
        post(crypt("1 allow_discards"), &[], &["encryption-sector"]),
        post(crypt("2 allow_discards sector_size:4096"), &[], &["encryption-sector"]),
        // Posted twice, both ways.
        post(
            format!(
                "# dmsetup table\n{0}# dmsetup status\n{1}{1}",
                "vg0-data: 0 1953120256 raid raid1 3 0 region_size 4096 2 253:0 253:1 253:2 253:3\n",
                raid("AD")
            ),
            DEAD,
            &[],
        ),
    ]);
}

#[test]
fn properties_of_datasets() {
    let text = |property: &str, value: &str| {
        format!("# zfs get {property}\nNAME     PROPERTY  VALUE  SOURCE\ntank/vm  {property}  {value}  local\n")
    };
    const NOT: &[&str] = &["zfs-sync-disabled", "zfs-dedup", "zfs-pool-state", "zfs-record-amplification"];
    let pool = |state: &str| {
        format!(
            "NAME  SIZE  ALLOC  FREE  FRAG  CAP  HEALTH  ALTROOT\ntank  10T   1T     9T    0%    10%  {state}  -\n\n"
        )
    };
    check(&[
        post(text("sync", "disabled"), &[("zfs-sync-disabled", "tank/vm", Error)], &[]),
        post(text("sync", "standard"), &[], NOT),
        post(text("dedup", "on"), &[("zfs-dedup", "tank/vm", Information)], &[]),
        post(text("dedup", "off"), &[], NOT),
        post(text("recordsize", "128K"), &[], NOT),
        // The state that another text tells, before and behind.
        post(format!("{}{}", text("sync", "standard"), pool("DEGRADED")), &[("zfs-pool-state", "tank", Error)], &[]),
        post(format!("{}{}", pool("DEGRADED"), text("sync", "standard")), &[("zfs-pool-state", "tank", Error)], &[]),
        post(format!("{}{}", pool("ONLINE"), text("sync", "standard")), &[], NOT),
    ]);
}

#[test]
fn columns_in_another_order() {
    let text = |data: &str| {
        format!(
            "# lvs -o lv_name,data_percent,metadata_percent,vg_name,lv_attr,lv_size\n  LV            Data%  Meta%  VG  Attr       LSize  \n\
            \x20 data          {data:6} 41.02  pve twi-aotz-- 794.30g\n  root                        pve -wi-ao----  96.00g\n\
            \x20 vm-100-disk-0 100.00        pve Vwi-aotz-- 500.00g\n"
        )
    };
    const FULL: &[Found] = &[("thin-pool-space", "pve/data", Error)];
    check(&[
        post(text("98.71"), FULL, &[]),
        post(text("98,71"), FULL, &[]),
        post(text("42.17"), &[], &["thin-pool-space"]),
        // Blanks that were lost: what stands where is not known.
        post(text("42.17").replace("  ", " "), &[], &["thin-pool-space"]),
        post(text("98.71").replace("  ", " "), &[], &["thin-pool-space"]),
    ]);
}

#[test]
fn languages_of_df() {
    const FULL: &[Found] = &[("file-system-space", "/", Error)];
    const NOT: &[&str] = &["file-system-space"];
    let text = |heading: &str, row: &str| {
        format!(
            "$ df\n{heading}\nudev 7,8G 0 7,8G 0% /dev\n/dev/sda2 {row} /\n/dev/loop3 56M 56M 0 100% /snap/core18/2284\n"
        )
    };
    let german = "Dateisystem          Größe Benutzt Verf. Verw% Eingehängt auf";
    check(&[
        post(text(german, "94G 94G 0 100%"), FULL, &[]),
        post(text(german, "94G 9,4G 80G 11%"), &[], NOT),
        post(text("Dateisystem Typ Größe Benutzt Verf. Verw% Eingehängt auf", "ext4 94G 94G 0 100%"), FULL, &[]),
        post(text("Sys. de fichiers Taille Utilisé Dispo Uti% Monté sur", "20G 19G 0 100%"), FULL, &[]),
        post(text("S.ficheros     Tamaño Usados  Disp Uso% Montado en", "228G 61G 156G 29%"), &[], NOT),
        post(text("文件系统        容量  已用  可用 已用% 挂载点", "20G 19G 0 100%"), FULL, &[]),
        post(
            text("Dateisystem  1K-Blöcke Benutzt Verfügbar Verw% Eingehängt auf", "98566144 98566144 0 100%"),
            FULL,
            &[],
        ),
        post(text("I lost some used% of it", "94G 94G 0 100%"), &[], NOT),
    ]);
}

#[test]
fn names_with_blanks() {
    let post_of =
        |target: &str, name: &'static [Found]| post(format!("/dev/sdb1 {target} ext4 rw,nobarrier 0 0\n"), name, &[]);
    check(&[
        post_of("/mnt/My\\040Disk", &[("barriers-off", "/mnt/My Disk (ext4)", Error)]),
        post_of("/mnt/a\\134b", &[("barriers-off", "/mnt/a\\b (ext4)", Error)]),
        post_of("/mnt/plain", &[("barriers-off", "/mnt/plain (ext4)", Error)]),
        post(
            "/dev/sdb1 on /mnt/My Disk type ext4 (rw,nobarrier)\n",
            &[("barriers-off", "/mnt/My Disk (ext4)", Error)],
            &[],
        ),
    ]);
}

#[test]
fn paths_of_other_times() {
    let old = |state: &str| {
        format!(
            "mpath1 (3600d0230003228bc000339414edb8101) dm-1 WINSYS,SF2372\n[size=10 GB][features=\"0\"][hwhandler=\"0\"]\n\
            \\_ round-robin 0 [prio=1][active]\n \\_ 2:0:0:6 sdb 8:16 [active][ready]\n\
            \\_ round-robin 0 [prio=1][enabled]\n \\_ 3:0:0:6 sdc 8:64 {state}\n"
        )
    };
    let gone = "mpathb (360060160a62134001c1c1c1c1c1c1c1d) dm-3 ##,##\nsize=500G features='1 queue_if_no_path' hwhandler='1 alua' wp=rw\n\
        `-+- policy='service-time 0' prio=0 status=enabled\n  |- #:#:#:# -   #:#  failed undef unknown\n  `- #:#:#:# -   #:#  failed undef unknown\n";
    check(&[
        post(old("[failed][faulty]"), &[("drives-hidden", "mpath1 (dm-1)", Warning)], &[]),
        post(old("[active][ready]"), &[("drives-hidden", "mpath1 (dm-1)", Information)], &[]),
        post(gone, &[("drives-hidden", "mpathb (dm-3)", Error)], &[]),
    ]);
}

#[test]
fn arrays_without_redundancy_that_lost_a_drive() {
    let listed = |state: &str| {
        format!(
            "Personalities : [raid0]\nmd0 : {state} raid0 sdd1[1] sde1[0]\n      7813770240 blocks super 1.2 512k chunks\n\nunused devices: <none>\n"
        )
    };
    let detail = |state: &str| {
        format!(
            "/dev/md0:\n           Version : 1.2\n        Raid Level : raid0\n      Raid Devices : 2\n             State : {state}\n        Chunk Size : 512K\n\n\
            Consistency Policy : none\n\n    Number   Major   Minor   RaidDevice State\n       0       8       65        0      active sync   /dev/sde1\n\
            \x20      1       8       49        1      active sync   /dev/sdd1\n"
        )
    };
    const BROKEN: &[Found] = &[("array-not-running", "md0", Error)];
    check(&[
        post(listed("broken"), BROKEN, &[]),
        post(listed("active"), &[], &["array-not-running"]),
        post(detail("broken, FAILED"), BROKEN, &[]),
        post(detail("clean"), &[], &["array-not-running"]),
    ]);
    let diagnosis =
        diagnose(&inspect::examine(&posted::read([("post", detail("broken, FAILED").as_str())]).machine).unwrap());
    let found = diagnosis.findings.iter().find(|found| found.check == "array-not-running").unwrap();
    assert!(!found.remedy.commands.iter().any(|command| command.contains("--run")), "{found:?}");
}

/// ZFS refuses to replace either of the two of a replacement.
#[test]
fn a_replacement_whose_device_is_gone() {
    let text = |group: &str| {
        format!(
            "  pool: tank\n state: DEGRADED\n  scan: resilvered 136K in 0h0m with 0 errors on Mon Dec  7 06:23:52 2015\nconfig:\n\n\
            \tNAME                      STATE     READ WRITE CKSUM\n\ttank                      DEGRADED     0     0     0\n\
            \t  raidz2-0                DEGRADED     0     0     0\n\t    ata-A                 ONLINE       0     0     0\n\
            \t    ata-B                 ONLINE       0     0     0\n\t    {group}           DEGRADED     0     0     0\n\
            \t      ata-C               ONLINE       0     0     0\n\t      127286639182292558  UNAVAIL      0     0     0  was /dev/sdx1\n\nerrors: No known data errors\n"
        )
    };
    for (group, replaced) in [("replacing-2", false), ("spare-2    ", true)] {
        let diagnosis = diagnose(&inspect::examine(&posted::read([("post", text(group).as_str())]).machine).unwrap());
        let found = diagnosis.findings.iter().find(|found| found.check == "zfs-pool-state").unwrap();
        let commands = &found.remedy.commands;
        assert!(commands.contains(&"zpool online tank 127286639182292558".to_owned()), "{found:?}");
        assert_eq!(commands.iter().any(|command| command.starts_with("zpool replace")), replaced, "{found:?}");
    }
}

/// `smartctl -A` of a SAS drive names no protocol.
#[test]
fn what_is_told_of_a_sas_drive_alone() {
    let text = |count: u32| {
        format!(
            "# smartctl -A /dev/sdd\nsmartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)\n\n=== START OF READ SMART DATA SECTION ===\n\
            Current Drive Temperature:     31 C\nDrive Trip Temperature:        60 C\n\nElements in grown defect list: {count}\n\n"
        )
    };
    check(&[
        post(text(1204), &[("drive-media-errors", "sdd", Warning)], &[]),
        post(text(0), &[], &["drive-media-errors"]),
    ]);
}

#[test]
fn members_are_partitions_of_drives_by_their_names() {
    let drive = smart("PASSED", &[PENDING], "SCT Error Recovery Control command not supported\n").replace(
        "Serial Number:    S1",
        "Serial Number:    S1\nRotation Rate:    5400 rpm\nSATA Version is:  SATA 3.1, 6.0 Gb/s (current: 6.0 Gb/s)",
    );
    let array = "$ cat /proc/mdstat\nPersonalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      100 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n";
    let wait = "$ cat /sys/block/sda/device/timeout\n30\n";
    check(&[post(format!("{array}{wait}{drive}"), &[("recovery-time-out", "sda", Warning)], &[])]);
}

#[test]
fn single_values() {
    let scheduler = |line: &str| format!("$ cat /sys/block/nvme0n1/queue/scheduler\n{line}\n");
    let cache = |value: &str| {
        format!("# nvme get-feature -f 6 /dev/nvme0\nget-feature:0x06 (Volatile Write Cache), Current value:{value}\n")
    };
    let pool = |share: &str, state: &str| {
        format!(
            "# zpool get all tank\nNAME  PROPERTY       VALUE    SOURCE\ntank  size           10.9T    -\ntank  capacity       {share}  -\n\
            tank  health         {state}   -\ntank  fragmentation  47%      -\ntank  ashift         12       local\n"
        )
    };
    check(&[
        post(scheduler("none mq-deadline kyber [bfq]"), &[("scheduler", "nvme0n1", Warning)], &[]),
        post(scheduler("[none] mq-deadline kyber bfq"), &[], &["scheduler"]),
        post(cache("00000000"), &[("write-cache-off", "nvme0n1", Information)], &[]),
        post(cache("0x00000001"), &[], &["write-cache-off"]),
        post(pool("91%", "ONLINE"), &[("zfs-pool-space", "tank", Warning)], &["zfs-pool-state"]),
        post(pool("41%", "DEGRADED"), &[("zfs-pool-state", "tank", Error)], &["zfs-pool-space"]),
        post(pool("41%", "ONLINE"), &[], &["zfs-pool-state", "zfs-pool-space"]),
    ]);
}

#[test]
fn signatures_of_blkid() {
    let text = |kind: &str, other: &str| {
        let row = |device: &str, uuid: &str| {
            format!(
                "/dev/{device}: LABEL=\"a b\" UUID=\"{uuid}\" UUID_SUB=\"{device}\" TYPE=\"{kind}\" PARTUUID=\"1\"\n"
            )
        };
        format!("{}{}", row("sda2", "1111-2222"), row("sdb2", other))
    };
    const TWICE: &[Found] = &[("duplicate-uuid", "sda2", Error)];
    const NOT: &[&str] = &["duplicate-uuid"];
    check(&[
        post(text("ext4", "1111-2222"), TWICE, &[]),
        post(text("ext4", "3333-2222"), &[], NOT),
        // Members of one have the same.
        post(text("btrfs", "1111-2222"), &[], NOT),
        post(text("linux_raid_member", "1111-2222"), &[], NOT),
        post(text("zfs_member", "1111-2222"), &[], NOT),
    ]);
}

#[test]
fn words_of_other_times() {
    let pvs = |name: &str, attributes: &str| {
        format!(
            "  PV             VG   Fmt  Attr PSize   PFree\n  /dev/sda2      vg0  lvm2 a--  931.51g    0 \n  {name} vg0  lvm2 {attributes}  931.51g    0 \n"
        )
    };
    let mount = |options: &str| {
        format!(
            "$ mount | column -t\nproc       on  /proc  type  proc  (rw)\n/dev/sda1  on  /      type  ext4  ({options})\n"
        )
    };
    check(&[
        post(pvs("unknown device", "a-m"), &[("volume-group", "vg0", Error)], &[]),
        post(pvs("/dev/sdb2     ", "a--"), &[], &["volume-group"]),
        post(mount("rw,nobarrier"), &[("barriers-off", "/ (ext4)", Error)], &[]),
        post(mount("rw"), &[], &["barriers-off"]),
    ]);
}

/// Counters begin anew at each import; what a scrub found stays.
#[test]
fn what_a_scrub_repaired() {
    let text = |scan: &str| {
        format!(
            "  pool: tank\n state: ONLINE\n  scan: {scan}\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n\
            \t  mirror-0  ONLINE       0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     ONLINE       0     0     0\n\nerrors: No known data errors\n"
        )
    };
    const REPAIRED: &[Found] = &[("zfs-pool-state", "tank", Information)];
    const NOT: &[&str] = &["zfs-pool-state"];
    check(&[
        post(text("scrub repaired 1.21M in 02:03:04 with 0 errors on Sun May 12 02:27:05 2024"), REPAIRED, &[]),
        post(
            text("scrub repaired 128K in 02:03:04 with 3 errors on Sun May 12 02:27:05 2024"),
            &[("zfs-pool-state", "tank", Warning)],
            &[],
        ),
        post(text("scrub repaired 0B in 02:03:04 with 0 errors on Sun May 12 02:27:05 2024"), &[], NOT),
        post(text("scrub repaired 0 in 2h3m with 0 errors on Sun May 12 02:27:05 2024"), &[], NOT),
        post(text("scrub canceled on Sun May 12 02:27:05 2024"), &[], NOT),
        post(text("resilvered 1.21M in 02:03:04 with 0 errors on Sun May 12 02:27:05 2024"), &[], NOT),
    ]);
}

/// What daemons write of arrays and pools.
#[test]
fn daemons() {
    let mail = |event: &str| {
        format!(
            "A {event} event had been detected on md device /dev/md1.\n\nIt could be related to component device /dev/sdb1.\n\n"
        )
    };
    let array = |up: &str| {
        let here = up.matches('U').count();
        format!(
            "Personalities : [raid1]\nmd1 : active raid1 sda1[0] sdb1[1]\n      976630464 blocks super 1.2 [2/{here}] [{up}]\n\nunused devices: <none>\n"
        )
    };
    let zed = |states: &[&str]| {
        let line = |state: &&str| {
            format!(
                "Apr 10 15:10:16 nas zed[2509]: eid=15 class=statechange pool='tank' vdev=sdd1 vdev_state={state}\n"
            )
        };
        states.iter().map(line).collect::<String>()
    };
    let zed_mail = |state: &str| {
        format!("   eid: 44\n class: statechange\n state: {state}\n vpath: /dev/sdd1\n  pool: tank (0x1122)\n")
    };
    const LOST: &[Found] = &[("read-write-errors", "", Error)];
    const NOT: &[&str] = &["read-write-errors", "checksum-messages"];
    check(&[
        post(mail("Fail"), LOST, &[]),
        post("Nov  3 12:00:01 nas mdadm[812]: DegradedArray event detected on md device /dev/md1\n", LOST, &[]),
        post(mail("RebuildFinished"), &[], NOT),
        post(format!("{}{}", mail("Fail"), mail("SpareActive")), &[], NOT),
        // Without times nobody knows which was last.
        post(format!("{}{}", mail("SpareActive"), mail("Fail")), &[], NOT),
        // What the array itself says counts.
        post(format!("{}{}", mail("Fail"), array("UU")), &[], NOT),
        post(format!("{}{}", mail("Fail"), array("U_")), &[("array-degraded", "md1", Error)], NOT),
        post(zed(&["ONLINE", "UNAVAIL"]), LOST, &[]),
        post(zed(&["UNAVAIL", "ONLINE"]), &[], NOT),
        post(zed_mail("FAULTED"), LOST, &[]),
        post(zed_mail("ONLINE"), &[], NOT),
        post("Mar  3 2024 02:11:10.123456789 ereport.fs.zfs.checksum\n", &[("checksum-messages", "", Error)], &[]),
        post("Mar  3 2024 02:11:10.123456789 sysevent.fs.zfs.pool_import\n", &[], NOT),
    ]);
}

/// Which of two events was last is told by their times and numbers, not by their places in the text.
#[test]
fn daemons_in_any_order() {
    let md = |time: &str, host: &str, said: &str| format!("{time} {host} mdadm[812]: {said}\n");
    let on = |event: &str, member: &str| format!("{event} event detected on md device /dev/md0{member}");
    let fail = on("Fail", ", component device /dev/sdb1");
    let active = on("SpareActive", ", component device /dev/sdb1");
    let zed = |time: &str, host: &str, said: &str| format!("{time} {host} zed[25]: {said}\n");
    let state =
        |number: u32, state: &str| format!("eid={number} class=statechange pool='tank' vdev=sdd1 vdev_state={state}");
    const LOST: &[Found] = &[("read-write-errors", "", Error)];
    const NOT: &[&str] = &["read-write-errors"];
    let (first, later, last) = ("Nov  3 12:00:01", "Nov  4 12:00:01", "Nov  5 12:00:01");
    check(&[
        // The newest line first.
        post(md(later, "nas", &active) + &md(first, "nas", &fail), &[], NOT),
        post(md(later, "nas", &fail) + &md(first, "nas", &active), LOST, &[]),
        post(zed(later, "nas", &state(20, "ONLINE")) + &zed(first, "nas", &state(15, "UNAVAIL")), &[], NOT),
        post(zed(first, "nas", &state(13, "UNAVAIL")) + &zed(first, "nas", &state(12, "ONLINE")), LOST, &[]),
        // The year may have turned, or the lines have turned.
        post(md("Dec 31 12:00:01", "nas", &fail) + &md("Jan  1 12:00:01", "nas", &active), &[], NOT),
        // Another machine's array.
        post(md(first, "nas1", &fail) + &md(later, "nas2", &active), LOST, &[]),
        post(zed(first, "nas1", &state(15, "UNAVAIL")) + &zed(later, "nas2", &state(16, "ONLINE")), LOST, &[]),
        // One spare for two members, and the member itself, which is no spare.
        post(
            md(first, "nas", &fail)
                + &md(first, "nas", &on("Fail", ", component device /dev/sdd1"))
                + &md(later, "nas", &on("RebuildStarted", ""))
                + &md(last, "nas", &on("SpareActive", ", component device /dev/sdc1")),
            LOST,
            &[],
        ),
        post(md(first, "nas", &fail) + &md(first, "nas", &active), LOST, &[]),
        post(
            md(first, "nas", &fail)
                + &md(first, "nas", &on("RebuildStarted", ""))
                + &md(later, "nas", &on("SpareActive", ", component device /dev/sdc1")),
            &[],
            NOT,
        ),
        // A pool with other devices than before, and none.
        post(
            zed(first, "nas", &state(15, "UNAVAIL")) + &zed(later, "nas", "eid=20 class=vdev_attach pool='tank'"),
            &[],
            NOT,
        ),
        post(
            zed(first, "nas", &state(15, "UNAVAIL")) + &zed(later, "nas", "eid=20 class=pool_destroy pool='tank'"),
            &[],
            NOT,
        ),
        // What a person writes.
        post(format!("Yesterday I saw a {fail} but that was a test.\n"), &[], NOT),
        // Devices without a pool's name, and a mail without the pool's number.
        post(
            zed(first, "nas", "eid=8 class=statechange pool_guid=0x1 vdev_path=/dev/sdb1 vdev_state=FAULTED")
                + &zed(later, "nas", "eid=9 class=statechange pool_guid=0x1 vdev_path=/dev/sdc1 vdev_state=ONLINE"),
            LOST,
            &[],
        ),
        post("    eid: 10\n  class: statechange\n  state: REMOVED\n  vpath: /dev/sdd1\n   pool: tank\n", LOST, &[]),
    ]);
}

/// What was told of a drive and taken back, in whichever order, and what another machine told.
#[test]
fn what_smartd_and_alerts_take_back() {
    let journal = |day: u32, host: &str, said: &str| {
        format!("Nov {day:2} 12:00:01 {host} smartd[900]: Device: /dev/sda [SAT], {said}\n")
    };
    let bad = "8 Currently unreadable (pending) sectors";
    let gone = "No more Currently unreadable (pending) sectors, warning condition reset after 1 email";
    let alert = |heading: &str, said: &str| format!("{heading}\n  * {said}\n\n");
    let cleared = "The following alert has been cleared:";
    let degraded = "Pool tank state is DEGRADED: One or more devices has been removed.";
    const BAD: &[Found] = &[("drive-media-errors", "sda", Warning)];
    const NOT: &[&str] = &["drive-media-errors", "drive-self-test", "zfs-pool-state"];
    check(&[
        post(journal(4, "nas", gone) + &journal(3, "nas", bad), &[], NOT),
        post(journal(4, "nas", bad) + &journal(3, "nas", gone), BAD, &[]),
        post(journal(3, "nas", bad) + &journal(4, "web", gone), &[], NOT),
        post(
            journal(3, "nas", "Self-Test Log error count increased from 0 to 1")
                + &journal(9, "nas", "Self-Test Log error count decreased from 1 to 0"),
            &[],
            NOT,
        ),
        post(alert("New alerts:", degraded), &[("zfs-pool-state", "tank", Error)], &[]),
        post(alert("New alerts:", degraded) + &alert(cleared, degraded), &[], NOT),
        post(alert("New alert:", &format!("Device: /dev/sda [SAT], {bad}.")), BAD, &[]),
        post(
            alert("New alert:", &format!("Device: /dev/sda [SAT], {bad}."))
                + &alert(cleared, &format!("Device: /dev/sda [SAT], {bad}.")),
            &[],
            NOT,
        ),
    ]);
}

/// Scrubs of btrfs, and balances.
#[test]
fn scrubs_of_btrfs() {
    let new = |summary: &str| {
        format!(
            "# btrfs scrub status /srv\nUUID:             7b1c6b0b-4e3c-4c0b-a0b3-6a2b6c0b4e3c\nScrub started:    Sun Mar  3 01:00:02 2024\nStatus:           finished\n{summary}\n"
        )
    };
    let old = |errors: u32, more: &str| {
        format!(
            "scrub status for 7b1c6b0b-4e3c-4c0b-a0b3-6a2b6c0b4e3c\n\ttotal bytes scrubbed: 1.22TiB with {errors} errors\n{more}"
        )
    };
    check(&[
        post(
            new("Error summary:    csum=5\n  Corrected:      0\n  Uncorrectable:  5\n  Unverified:     0"),
            &[("btrfs-scrub", "/srv (btrfs)", Error)],
            &[],
        ),
        post(
            old(3, "\terror details: csum=3\n\tcorrected errors: 3, uncorrectable errors: 0, unverified errors: 0\n"),
            &[("btrfs-scrub", "TARGET (btrfs)", Warning)],
            &[],
        ),
        post(new("Error summary:    no errors found"), &[], &["btrfs-scrub"]),
        post(
            new("Error summary:    super=2\n  Corrected:      0\n  Uncorrectable:  0\n  Unverified:     0"),
            &[("btrfs-scrub", "/srv (btrfs)", Warning)],
            &[],
        ),
        // The later one is the last.
        post(
            new("Error summary:    csum=5\n  Corrected:      0\n  Uncorrectable:  5")
                + &new("Error summary:    no errors found").replace("Mar  3", "Mar 10"),
            &[],
            &["btrfs-scrub"],
        ),
        post(
            new("Error summary:    no errors found")
                + &new("Error summary:    csum=5\n  Corrected:      0\n  Uncorrectable:  5")
                    .replace("Mar  3", "Mar 10"),
            &[("btrfs-scrub", "/srv (btrfs)", Error)],
            &[],
        ),
        // What the shell does with it.
        post(
            new("Error summary:    csum=5\n  Corrected:      5\n  Uncorrectable:  0")
                .replace(" /srv", " /srv 2>&1 | tee /tmp/x"),
            &[("btrfs-scrub", "/srv (btrfs)", Warning)],
            &[],
        ),
        post(
            "Balance on '/srv' is paused\n\n# btrfs balance status /srv\nNo balance found on '/srv'\n",
            &[],
            &["btrfs-mixed-profiles"],
        ),
        post(old(0, ""), &[], &["btrfs-scrub"]),
        post("Balance on '/srv' is paused\n", &[("btrfs-mixed-profiles", "/srv (btrfs)", Warning)], &[]),
        post("Balance on '/srv' is running\n", &[], &["btrfs-mixed-profiles"]),
        post("No balance found on '/srv'\n", &[], &["btrfs-mixed-profiles"]),
    ]);
}

const ONLINE: &str = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\
                      \ttank        ONLINE       0     0     0\n\t  sda       ONLINE       0     0     0\n\n\
                      errors: No known data errors\n";

/// Two drives, of which one tells of a cache.
const UDEV: &str = "P: /devices/pci0000:00/usb2/2-1/block/sda\nE: DEVPATH=/devices/pci0000:00/usb2/2-1/block/sda\nE: DEVNAME=/dev/sda\n\n\
                    P: /devices/pci0000:00/ata1/block/sdb\nE: DEVPATH=/devices/pci0000:00/ata1/block/sdb\nE: DEVNAME=/dev/sdb\n\
                    E: ID_ATA_WRITE_CACHE_ENABLED=0\n";

/// Programs that say the same as others, in other words.
#[test]
fn other_programs() {
    let none = r#""read_errors": "0", "write_errors": "0", "checksum_errors": "0""#;
    let pool_with = |state: &str, checksums: &str, other: &str| {
        format!(
            r#"{{"output_version": {{"command": "zpool status"}}, "pools": {{"tank": {{"name": "tank", "state": "{state}", "vdevs": {{"tank": {{
            "name": "tank", "vdev_type": "root", "state": "{state}", "vdevs": {{"mirror-0": {{"name": "mirror-0", "state": "{state}", "vdevs": {{
            "sda": {{"name": "sda", "state": "ONLINE", "read_errors": "0", "write_errors": "0", "checksum_errors": "{checksums}"}},
            "{other}": {{"state": "ONLINE", "read_errors": "0", "write_errors": "0", "checksum_errors": "0"}}}}, {none}}}}}, {none}}}}},
            "error_count": "0"}}}}}}"#
        )
    };
    let pool = |state: &str, checksums: &str| pool_with(state, checksums, "sdb");
    let paragraph = |shares: &str| {
        format!(
            "  --- Logical volume ---\n  LV Name                data\n  VG Name                pve\n  # open                 0\n\
            \x20 LV Size                <794.30 GiB\n{shares}  Segments               1\n"
        )
    };
    let thin = |share: &str| {
        paragraph(&format!(
            "  LV Pool metadata       data_tmeta\n  Allocated pool data    {share}%\n  Allocated metadata     2.91%\n"
        ))
    };
    let snapshot = |status: &str| {
        paragraph(&format!(
            "  LV snapshot status     {status} destination for root\n  LV Status              available\n"
        ))
    };
    let group = |here: u32| {
        format!(
            "  --- Volume group ---\n  VG Name               vg0\n  Cur PV                3\n  Act PV                {here}\n\
            \x20 VG Size               <5.46 TiB\n  Free  PE / Size       0 / 0\n"
        )
    };
    let hdparm = |flag: &str| {
        format!(
            "# hdparm -W /dev/sd[ab]\n\n/dev/sda:\n write-caching =  1 (on)\n\n/dev/sdb:\n write-caching =  {flag}\n"
        )
    };
    let alert = |heading: &str| format!("{heading}\n* Pool tank state is DEGRADED: One or more devices are faulted.\n");
    let scan = |word: &str| format!("# mdadm --detail --scan\n{word} /dev/md127 metadata=1.2 UUID=1:2:3:4\n");
    let one_share = |share: &str| format!("  LV   Attr       LSize   Data%\n  data twi-aotz-- 794.30g {share}\n");
    check(&[
        post(pool("DEGRADED", "0"), &[("zfs-pool-state", "tank", Error)], &[]),
        post(pool("ONLINE", "7"), &[("zfs-pool-state", "tank", Error)], &[]),
        post(pool("ONLINE", "0"), &[], &["zfs-pool-state"]),
        post(pool("ONLINE", "18446744073709551615"), &[("zfs-pool-state", "tank", Error)], &[]),
        post(pool_with("ONLINE", "7", "disk two"), &[], &["zfs-pool-state"]),
        post(pool_with("ONLINE", "7", "-f"), &[], &["zfs-pool-state"]),
        post(pool("DEGRADED", "0") + "\n" + ONLINE, &[], &["zfs-pool-state"]),
        post(thin("98.71"), &[("thin-pool-space", "pve/data", Error)], &[]),
        post(thin("41.71"), &[], &["thin-pool-space"]),
        post(snapshot("INACTIVE"), &[("snapshot-space", "pve/data", Error)], &[]),
        post(snapshot("active"), &[], &["snapshot-space"]),
        post(snapshot("INACTIVE").replace(" available", " NOT available"), &[], &["snapshot-space"]),
        post(group(2), &[("volume-group", "vg0", Error)], &[]),
        post(group(2) + &group(3), &[], &["volume-group"]),
        post(group(3), &[], &["volume-group"]),
        post(hdparm("0 (off)"), &[("write-cache-off", "sdb", Information)], &[]),
        post(hdparm("1 (on)"), &[], &["write-cache-off"]),
        post(hdparm("0 (off)") + "\n" + &hdparm("1 (on)"), &[], &["write-cache-off"]),
        post(UDEV, &[("write-cache-off", "sdb", Information)], &[]),
        post(alert("New alert:"), &[("zfs-pool-state", "tank", Error)], &[]),
        post(alert("New alert:") + "\n" + ONLINE, &[], &["zfs-pool-state"]),
        post(alert("The following alert has been cleared:"), &[], &["zfs-pool-state"]),
        post(scan("INACTIVE-ARRAY"), &[("array-not-running", "md127", Error)], &[]),
        post(scan("ARRAY"), &[], &["array-not-running"]),
        post(one_share("96.41"), &[("thin-pool-space", "VG/data", Error)], &[]),
        post(one_share("36.41"), &[], &["thin-pool-space"]),
    ]);
}

/// What was not read is not cited.
#[test]
fn evidence_is_that_of_the_text() {
    let text = "Personalities : [raid1]\nmd1 : active raid1 sda1[0]\n      976630464 blocks super 1.2 [2/1] [U_]\n\nunused devices: <none>\n";
    let posted = posted::read([("post", text)]);
    let found = diagnose(&inspect::examine(&posted.machine).unwrap()).cited(|path| posted.machine.told_by(path));
    let degraded = found.findings.iter().find(|found| found.check == "array-degraded").unwrap();
    assert_eq!(degraded.seen[0].source, "cat /proc/mdstat (`md/degraded`)");
    let text = "  --- Volume group ---\n  VG Name               vg0\n  Cur PV                3\n  Act PV                2\n\
                \x20 VG Size               <5.46 TiB\n  Free  PE / Size       0 / 0\n";
    let group = posted::read([("post", text)]).machine;
    let of_group = diagnose(&inspect::examine(&group).unwrap()).cited(|path| group.told_by(path));
    assert!(of_group.findings[0].seen[0].source.starts_with("lvdisplay (`vgs "), "{of_group:?}");
    // A program that nobody ran is not cited, also where what it would say is of one device.
    for (text, check, by) in [
        (
            "# tune2fs -l /dev/sdb1\ntune2fs 1.46.5 (30-Dec-2021)\nFilesystem volume name:   data\n\
             Filesystem state:         clean with errors\nBlock size:               4096\nFS Error count:           14\n\
             Last checked:             Sat Nov  1 03:10:21 2025\n",
            "ext4-errors",
            "tune2fs -l (`",
        ),
        (
            "Nov  4 07:12:01 nas smartd[812]: Device: /dev/sdb [SAT], FAILED SMART self-check. BACK UP DATA NOW!\n",
            "drive-critical-warning",
            "smartd (`",
        ),
        (
            "mpatha (36001405c2a4e3fb5f0d4b2cb8d800000) dm-3 LIO-ORG,disk1\nsize=500G features='0' hwhandler='1 alua' wp=rw\n\
             `-+- policy='service-time 0' prio=0 status=enabled\n  `- 4:0:0:0 sdc 8:32 failed faulty running\n",
            "drives-hidden",
            "multipath -ll (`",
        ),
        ("$ dmsetup status\nvg-main: 0 41943040 cache Fail\n", "cache-state", "dmsetup status vg-main"),
    ] {
        let posted = posted::read([("post", text)]).machine;
        let told = diagnose(&inspect::examine(&posted).unwrap()).cited(|path| posted.told_by(path));
        let found = told.findings.iter().find(|found| found.check == check).unwrap();
        assert!(found.seen[0].source.starts_with(by), "{:?}", found.seen);
    }
    let of_files = |source: &str| source.starts_with("/sys/");
    assert!(!found.findings.iter().flat_map(|found| &found.seen).any(|seen| of_files(&seen.source)), "{found:?}");
}

/// What superblocks say of an array that nothing else tells of: all that are left say the same, or nothing is concluded.
#[test]
fn members_that_are_left_of_an_array() {
    let member = |device: char, events: u32, place: u32, state: &str| {
        format!(
            "# mdadm --examine /dev/sd{device}\n/dev/sd{device}:\n          Magic : a92b4efc\n        Version : 1.2\n\
            \x20    Array UUID : 8397999f:cd6b31f4:64d31961:759bded9\n     Raid Level : raid10\n   Raid Devices : 4\n   Super Offset : 8 sectors\n\
            \x20        Events : {events}\n   Device Role : Active device {place}\n   Array State : {state} ('A' == active, '.' == missing, 'R' == replacing)\n\n"
        )
    };
    let old = format!("{}{}", member('c', 6527, 1, "AAAA"), member('e', 6527, 3, "AAAA"));
    let left = format!("{}{}", member('b', 6531, 0, "A.A."), member('d', 6531, 2, "A.A."));
    let array = "Personalities : [raid10]\nmd0 : active raid10 sdd[2] sdb[0] sdc[1] sde[3]\n      585850880 blocks super 1.2 512K chunks 2 near-copies [4/4] [UUUU]\n\nunused devices: <none>\n";
    const SHORT: &[Found] = &[("array-degraded", "mdX", Error)];
    const NOT: &[&str] = &["array-degraded", "array-not-running"];
    check(&[
        post(format!("{left}{old}"), SHORT, &[]),
        post(left.clone(), SHORT, &[]),
        // One of them is not posted, or was written later: it may be whole without the other.
        post(member('b', 6531, 0, "A.A."), &[], NOT),
        post(format!("{}{}", member('b', 6531, 0, "A.A."), member('d', 6532, 2, "A.A.")), &[], NOT),
        post(old, &[], NOT),
        // It runs, and has all.
        post(format!("{left}{array}"), &[], NOT),
    ]);
    let posted = posted::read([("post", left.as_str())]);
    let diagnosis = diagnose(&inspect::examine(&posted.machine).unwrap());
    let found = diagnosis.findings.iter().find(|found| found.check == "array-degraded").unwrap();
    // Whether such an array can do without two of four only the kernel knows that runs it.
    assert!(!found.remedy.commands.iter().any(|command| command.contains("add")), "{found:?}");
}
