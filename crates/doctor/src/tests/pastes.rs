//! More of what people post: parts of texts, texts of other programs, arrays under another name.

use terms::diagnosis::Severity::{Error, Warning};

use super::posts::{Found, check, post, smart};

const HEADING: &str = "Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util\n";

fn iostat(rows: &[(&str, f64, f64, f64)]) -> String {
    let row = |(name, writes, wait, busy): &(&str, f64, f64, f64)| {
        format!(
            "{name} 0.00 {writes:.2} 0.00 {:.2} 0.00 0.00 0.00 0.00 0.00 {wait:.2} 0.10 0.00 8.00 0.00 {busy:.2}\n",
            writes * 8.0
        )
    };
    format!("{HEADING}{}\n", rows.iter().map(row).collect::<String>())
}

#[test]
fn a_drive_that_holds_up_its_array() {
    const SLOW: &[Found] = &[("drive-slower-than-peers", "sdc", Warning)];
    const NOT: &[&str] = &["drive-slower-than-peers"];
    let md = "md0 : active raid5 sda1[0] sdb1[1] sdc1[2]\n      3906764800 blocks level 5, 512k chunk, algorithm 2 [3/3] [UUU]\n\n";
    let unlike = [("sda", 20.0, 9.0, 18.0), ("sdb", 24.0, 8.0, 20.0), ("sdc", 17.0, 240.0, 99.0)];
    let alike = [("sda", 20.0, 9.0, 18.0), ("sdb", 20.4, 8.0, 20.0), ("sdc", 20.1, 240.0, 99.0)];
    let kinds = |sdb: u8| {
        format!("{md}NAME TYPE SIZE ROTA\nsda  disk   2T    1\nsdb  disk   2T    {sdb}\nsdc  disk   2T    1\n\n")
    };
    let read = |name: &str, reads: f64, writes: f64, wait: f64, busy: f64| {
        format!(
            "{name} {reads:.2} {writes:.2} 0.00 0.00 0.00 0.00 0.00 0.00 {wait:.2} {wait:.2} 0.10 0.00 8.00 0.00 {busy:.2}\n"
        )
    };
    let two = |rows: String| format!("{}{HEADING}{rows}\n", kinds(0));
    check(&[
        // What an array is made of.
        post(format!("{}{}", kinds(1), iostat(&unlike)), SLOW, &[]),
        // Nothing tells that these do the same.
        post(iostat(&alike), &[], NOT),
        // Of one kind or not: two answer alike, and the third does not.
        post(format!("{md}{}", iostat(&unlike)), SLOW, &[]),
        post(format!("{md}{}", iostat(&unlike[1..])), &[], NOT),
        post(format!("{}{}", kinds(0), iostat(&unlike[1..])), &[], NOT),
        // A mirror that reads from one, and a log that is only written.
        post(two(read("sda", 0.0, 20.0, 3.0, 8.0) + &read("sdc", 18.0, 20.0, 33.0, 58.0)), &[], NOT),
        // A member that is filled.
        post(
            format!(
                "{}{}",
                kinds(1).replace(
                    "[3/3] [UUU]",
                    "[3/2] [UU_]\n      [=>...]  recovery = 9.0% (1/9) finish=9.0min speed=9K/sec"
                ),
                iostat(&unlike)
            ),
            &[],
            NOT,
        ),
        // The first report of several is of all the time before; a drive that a report leaves out did nothing; another machine's.
        post(
            format!(
                "{}{}{}",
                kinds(1),
                iostat(&unlike),
                iostat(&[("sda", 20.0, 9.0, 18.0), ("sdb", 24.0, 8.0, 20.0), ("sdc", 17.0, 8.0, 19.0)])
            ),
            &[],
            NOT,
        ),
        post(format!("{}{}{}{}", kinds(1), iostat(&[]), iostat(&unlike), iostat(&unlike[..2]).repeat(9)), &[], NOT),
        post(
            format!(
                "{}Linux 6.1.0 (nas1)\n\n{}Linux 6.1.0 (nas2)\n\n{}",
                kinds(1),
                iostat(&unlike[..2]),
                iostat(&unlike[2..])
            ),
            &[],
            NOT,
        ),
        // Both are busy, one is somewhat later, or nobody waits.
        post(iostat(&[("sda", 20.0, 90.0, 98.0), ("sdc", 20.0, 240.0, 99.0)]), &[], NOT),
        post(iostat(&[("sda", 20.0, 9.0, 40.0), ("sdc", 20.0, 27.0, 99.0)]), &[], NOT),
        post(iostat(&[("sda", 20.0, 0.1, 2.0), ("sdc", 20.0, 2.0, 40.0)]), &[], NOT),
        post(iostat(&[("sda", 20.0, 9.0, 2.0), ("sdc", 20.0, 90.0, 12.0)]), &[], NOT),
        post(iostat(&[("sda", 0.0, 0.0, 0.0), ("sdc", 0.0, 0.0, 0.0)]), &[], NOT),
        // One report of many, and partitions, arrays and names that nobody has.
        post(
            iostat(&alike) + &iostat(&unlike[..2]) + &"sdc 0 20 0 160 0 0 0 0 0 8 0.1 0 8 0 19\n".repeat(40),
            &[],
            NOT,
        ),
        post(iostat(&[("md0", 20.0, 9.0, 18.0), ("dm-0", 20.0, 240.0, 99.0)]), &[], NOT),
        post(iostat(&[("sda", 20.0, 9.0, 18.0), ("sdc;reboot", 20.0, 240.0, 99.0)]), &[], NOT),
    ]);
}

#[test]
fn hard_disks_that_park_and_hard_disks_with_overlapping_tracks() {
    let parked = |times: &str| {
        smart(
            "PASSED",
            &[
                "  9 Power_On_Hours          0x0032   048   048   000    Old_age   Always       -       38056",
                &format!(
                    "193 Load_Cycle_Count        0x0032   001   001   000    Old_age   Always       -       {times}"
                ),
            ],
            "",
        )
    };
    let array = |state: &str, model: &str| {
        format!(
            "md0 : active raid1 sdb1[1] sda1[0]\n      976630464 blocks super 1.2 {state}\n\nNAME TYPE MODEL\n\
             sda  disk {model}\n└─sda1 part \n\n"
        )
    };
    check(&[
        post(parked("1239994"), &[("drive-parks-heads", "sda", Warning)], &[]),
        post(parked("2900"), &[], &["drive-parks-heads"]),
        post(
            array("[2/2] [UU]", "ST4000DM004-2CV104"),
            &[("shingled-in-array", "sda", terms::diagnosis::Severity::Information)],
            &[],
        ),
        post(array("[2/2] [UU]", "ST4000NM0035-1V4107"), &[], &["shingled-in-array"]),
        // One whose name only begins so.
        post(array("[2/2] [UU]", "WD40EFAXX"), &[], &["shingled-in-array"]),
    ]);
}

#[test]
fn programs_of_controllers_in_other_forms() {
    const NOT: &[&str] = &["read-write-errors"];
    let groups = |state: &str, drive: &str| {
        format!(
            "Controller = 0\n\nTOPOLOGY :\n========\n\n---\nDG Arr Row EID:Slot DID Type  State BT     Size PDC  PI SED DS3  FSpace TR\n---\n \
             0 -   -   -        -   RAID5 {state}  N  7.276 TB enbl N  N   none N      N\n \
             0 0   -   -        -   RAID5 {state}  N  7.276 TB enbl N  N   none N      N\n \
             0 0   1   {drive}  N  3.637 TB enbl N  N   none -      N\n---\n\n"
        )
    };
    let second = |status: &str| {
        format!(
            "PD LIST :\n=======\n\nEID:Slt PID State Status DG     Size Intf Med SED_Type SeSz Model  Sp LU/NS Count Alt-EID\n---\n\
             308:4   287 Conf  {status}  0 1.745 TiB SATA SSD -        512B A DRIVE U 1 -\n---\n"
        )
    };
    let json = |state: &str| {
        format!(
            "{{\"Controllers\":[{{\"Command Status\":{{\"Controller\":1,\"Status\":\"Success\"}},\"Response Data\":{{\"PD LIST\":[\
             {{\"EID:Slt\":\"252:3\",\"DID\":9,\"State\":\"{state}\",\"DG\":0,\"Size\":\"3.637 TB\",\"Model\":\"A DRIVE\"}}]}}}}]}}\n"
        )
    };
    let mega = |state: &str, errors: u32| {
        format!(
            "Adapter #0\n\nEnclosure Device ID: 32\nSlot Number: 6\nMedia Error Count: {errors}\nOther Error Count: 9\n\
             Predictive Failure Count: 0\nFirmware state: {state}\nForeign State: None\nDrive has flagged a S.M.A.R.T alert : No\n\n"
        )
    };
    check(&[
        post(groups("Dgrd", "252:1   4   DRIVE Onln "), &[("read-write-errors", "/c0/d0", Error)], &[]),
        post(groups("Optl", "252:1   4   DRIVE Failed"), &[("read-write-errors", "/c0/e252/s1", Error)], &[]),
        post(groups("Dgrd", "-       -   DRIVE Msng "), &[("read-write-errors", "/c0/d0", Error)], &[]),
        post(groups("Optl", "252:1   4   DRIVE Onln "), &[], NOT),
        post(second("Failed"), &[("read-write-errors", "/c0/e308/s4", Error)], &[]),
        post(second("Online"), &[], NOT),
        post(json("UBad"), &[("read-write-errors", "/c1/e252/s3", Warning)], &[]),
        post(json("Onln"), &[], NOT),
        post(mega("Failed", 0), &[("read-write-errors", "/c0/e32/s6", Error)], &[]),
        post(mega("Online, Spun Up", 71), &[("read-write-errors", "/c0/e32/s6", Warning)], &[]),
        post(mega("Online, Spun Up", 0), &[], NOT),
        post(
            "Adapter 0 -- Virtual Drive Information:\nVirtual Drive: 2 (Target Id: 2)\nName                :\nState               : Degraded\n",
            &[("read-write-errors", "/c0/v2", Error)],
            &[],
        ),
    ]);
}

#[test]
fn an_array_under_another_name() {
    let detail = |name: &str, second: &str| {
        format!(
            "{name}           Version : 1.2\n        Raid Level : raid1\n      Raid Devices : 2\n     Total Devices : 1\n             \
             State : clean, degraded\n\nConsistency Policy : bitmap\n\n    Number   Major   Minor   RaidDevice State\n       \
             0       8       17        0      active sync   /dev/sdb1\n       {second}\n\n"
        )
    };
    let gone = "-       0        0        1      removed";
    let mdstat = "Personalities : [raid1]\nmd127 : active raid1 sdb1[0]\n      976630464 blocks super 1.2 [2/1] [U_]\n\nunused devices: <none>\n";
    check(&[
        // The same array, whichever text comes first.
        post(format!("{mdstat}{}", detail("/dev/md/data:\n", gone)), &[("array-degraded", "md127", Error)], &[]),
        post(format!("{}{mdstat}", detail("/dev/md/data:\n", gone)), &[("array-degraded", "md127", Error)], &[]),
        // Cut before the member that is missing.
        post(
            detail("/dev/md5:\n", "").replace(" Total Devices : 1", "Active Devices : 1"),
            &[("array-degraded", "md5", Error)],
            &[],
        ),
        // Nothing tells its name.
        post(detail("", gone), &[("array-degraded", "mdX", Error)], &[]),
        post(detail("", "1       8       33        1      active sync   /dev/sdc1"), &[], &["array-degraded"]),
    ]);
    let all = host::posted::read([("post", format!("{}{mdstat}", detail("/dev/md/data:\n", gone)).as_str())]);
    let found = crate::diagnose(&host::inspect::examine(&all.machine).unwrap()).findings;
    assert_eq!(found.iter().filter(|found| found.check == "array-degraded").count(), 1, "{found:?}");
    assert!(all.refused.is_empty(), "{:?}", all.refused);
}

#[test]
fn parts_of_texts() {
    check(&[
        post(
            "`kernel: XFS (dm-4): Corruption detected. Unmount and run xfs_repair`\n",
            &[("went-read-only", "", Error)],
            &[],
        ),
        post(
            "md4 : inactive raid1 sda3[0] sdb3[1]\n      4883648 blocks\n\n",
            &[("array-not-running", "md4", Error)],
            &[],
        ),
        post(
            "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\n\
             tank  998150  304618  693531        -         -      9     30   1.00  DEGRADED  -\n",
            &[("zfs-pool-state", "tank", Error)],
            &[],
        ),
        // What stands above a cut is true.
        post(
            "  pool: tank\n state: DEGRADED\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  DEGRADED  0  0  0\n",
            &[("zfs-pool-state", "tank", Error)],
            &[],
        ),
        post(
            "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0  0  0\n",
            &[],
            &["zfs-pool-state"],
        ),
        post(
            "# vgchange -ay\n  WARNING: Couldn't find device with uuid qy0Bgu-o8Ck.\n  WARNING: VG data is missing PV qy0Bgu-o8Ck (last written to /dev/sdb).\n",
            &[("volume-group", "data", Error)],
            &[],
        ),
        // The same that its table tells.
        post(
            "  WARNING: VG data is missing PV qy0Bgu-o8Ck (last written to [unknown]).\n  PV         VG   Fmt  Attr PSize   PFree\n  \
             /dev/sda1  data lvm2 a--  931.51g 0 \n  [unknown]  data lvm2 a-m  931.51g 0 \n",
            &[("volume-group", "data", Error)],
            &[],
        ),
        post(
            "# smartctl -A /dev/nvme0n1\nSMART/Health Information (NVMe Log 0x02)\nCritical Warning:                   0x04\n\
             Available Spare:                    100%\nAvailable Spare Threshold:          10%\nPercentage Used:                    104%\n",
            &[("drive-critical-warning", "nvme0n1", Warning), ("drive-wear", "nvme0n1", Warning)],
            &[],
        ),
        post(
            "[ +18,993611] BTRFS info (device sdb2): first mount\n[  +0,000002] BTRFS critical (device sdb2): corrupt leaf: root=7 slot=16\n",
            &[("went-read-only", "", Error)],
            &[],
        ),
        post(
            "kernel: XFS (dm-4): Corruption detected. Unmount and run xfs_repair\n",
            &[("went-read-only", "", Error)],
            &[],
        ),
        post(
            "10.0.0.7: kern:   alert: [2024-05-13T15:13:11.99477118Z]: XFS (sdb6): Filesystem has been shut down due to log error (0x2).\n",
            &[("went-read-only", "", Error)],
            &[],
        ),
        post("[39648.163360] XFS (dm-0): xfs_log_force: error -5 returned.\n", &[("went-read-only", "", Error)], &[]),
        post(
            "[ 12.5] BTRFS: error (device sdb) in btrfs_commit_transaction:2564: errno=-5 IO failure\n",
            &[("went-read-only", "", Error)],
            &[],
        ),
        post(
            "[ 12.5] BTRFS error (device dm-1): fixed up error at logical 1024 on dev /dev/dm-2 physical 2048\n",
            &[("read-write-errors", "", Warning)],
            &[],
        ),
        post(
            "parent transid verify failed on 1087918 wanted 731540 found 731528\n",
            &[("went-read-only", "", Error)],
            &[],
        ),
        post(
            "Device: /dev/sg1 [cciss_disk_02] [SCSI], SMART Failure: HARDWARE IMPENDING FAILURE GENERAL HARD DRIVE FAILURE\n",
            &[("read-write-errors", "", Error)],
            &[],
        ),
        post(
            "Device: /dev/sda [megaraid_disk_07], FAILED SMART self-check. BACK UP DATA NOW!\n",
            &[("read-write-errors", "", Error)],
            &[],
        ),
        post(
            "Jan 02 03:04:05 nas smartd[1]: Device: /dev/sdf, SMART Failure: WARNING - SPECIFIED TEMPERATURE EXCEEDED\n",
            &[("read-write-errors", "", Warning)],
            &["drive-critical-warning"],
        ),
        post(
            "Jan 02 03:04:05 nas smartd[1]: Device: /dev/sdf, SMART Failure: FAILURE PREDICTION THRESHOLD EXCEEDED (FALSE)\n[ 1.5] I/O error, dev sda, sector 5\n",
            &[("read-write-errors", "", Warning)],
            &["drive-critical-warning"],
        ),
        post(
            "Device: /dev/sdf, SMART Failure: DATA CHANNEL IMPENDING FAILURE\n",
            &[("drive-critical-warning", "sdf", Error)],
            &[],
        ),
    ]);
}

/// What only tells how warm a drive is says nothing of its health, and is no text of an unknown program.
#[test]
fn what_smartd_writes_each_half_hour() {
    let text = "Nov 01 23:20:46 nas smartd[1381]: Device: /dev/sdb [SAT], SMART Usage Attribute: 194 Temperature_Celsius changed from 119 to 120\n";
    let read = host::posted::read([("post", text)]);
    assert!(read.refused.is_empty(), "{:?}", read.refused);
    check(&[post(
        format!("{text}[ 1.5] I/O error, dev sda, sector 5\n"),
        &[("read-write-errors", "", Warning)],
        &["drive-hot"],
    )]);
}

/// A document of `storcli`, of the controllers that are given, each with its number and what it answered.
fn controllers(of: &[(&str, &str)]) -> String {
    let one = |(number, data): &(&str, &str)| {
        format!("{{\"Command Status\":{{{number}\"Status\":\"Success\"}},\"Response Data\":{data}}}")
    };
    format!("{{\"Controllers\":[{}]}}\n", of.iter().map(one).collect::<Vec<_>>().join(","))
}

const FAILED2: &str =
    "{\"PD LIST\":[{\"EID:Slt\":\"306:1\",\"PID\":280,\"State\":\"Conf\",\"Status\":\"Failed\",\"DG\":0}]}";
const NO_RAID: &[&str] = &["read-write-errors"];

#[test]
fn a_controllers_number_is_told_as_a_number_or_as_text_or_nothing_of_it_is_named() {
    const DRIVE: &[Found] = &[("read-write-errors", "/c1/e306/s1", Error)];
    check(&[
        post(controllers(&[("\"Controller\":\"1\",", FAILED2)]), DRIVE, &[]),
        post(controllers(&[("\"Controller\":1,", FAILED2)]), DRIVE, &[]),
        // Two documents in one, and one that says no number is not the one before it.
        post(controllers(&[("\"Controller\":\"0\",", "{}"), ("\"Controller\":\"1\",", FAILED2)]), DRIVE, &[]),
        post(controllers(&[("\"Controller\":\"3\",", "{}"), ("", FAILED2)]), &[], NO_RAID),
        post(controllers(&[("\"Controller\":\"1;reboot\",", FAILED2)]), &[], NO_RAID),
    ]);
    let nameless = controllers(&[("\"Controller\":2,", FAILED2), ("\"Controller\":\"1;reboot\",", FAILED2)]);
    let refused = host::posted::read([("post", nameless.as_str())]).refused;
    assert!(refused.len() == 1 && refused[0].contains("no number"), "{refused:?}");
}

#[test]
fn rows_of_a_document_stand_below_whatever_key() {
    let of = |data: &str| controllers(&[("\"Controller\":0,", data)]);
    let all = |state: &str, drive: &str| {
        of(&format!(
            "{{\"/c0/v0\":[{{\"DG/VD\":\"0/0\",\"TYPE\":\"RAID5\",\"State\":\"{state}\"}}],\
             \"PDs for VD 0\":[{{\"EID:Slt\":\"252:1\",\"DID\":2,\"State\":\"{drive}\",\"DG\":0}}]}}"
        ))
    };
    let all2 = |state: &str, drive: &str| {
        of(&format!(
            "{{\"Virtual Drives\":[{{\"VD Info\":{{\"DG/VD\":\"0/1\",\"TYPE\":\"RAID1\",\"State\":\"{state}\",\"Name\":\"\"}},\
             \"PDs\":[{{\"EID:Slt\":\"306:1\",\"PID\":280,\"State\":\"Conf\",\"Status\":\"{drive}\",\"DG\":0}}]}}]}}"
        ))
    };
    let list2 = |status: &str| {
        of(&format!(
            "{{\"Drives List\":[{{\"Drive Information\":{{\"EID:Slt\":\"306:1\",\"PID\":280,\"State\":\"Conf\",\
             \"Status\":\"{status}\",\"DG\":0,\"Model\":\"A\"}},\"Drive Detailed Information\":{{}}}}]}}"
        ))
    };
    let counts = |drive: &str, count: &str| {
        of(&format!("{{\"Drive {drive} - Detailed\":{{\"Drive {drive} State\":{{\"Media Error Count\":{count}}}}}}}"))
    };
    const BOTH: &[Found] = &[("read-write-errors", "/c0/v0", Error), ("read-write-errors", "/c0/e252/s1", Error)];
    const BOTH2: &[Found] = &[("read-write-errors", "/c0/v1", Error), ("read-write-errors", "/c0/e306/s1", Error)];
    check(&[
        post(all("Dgrd", "Offln"), BOTH, &[]),
        post(all("Optl", "Onln"), &[], NO_RAID),
        post(all2("Dgrd", "Failed"), BOTH2, &[]),
        post(all2("Optl", "Online"), &[], NO_RAID),
        post(list2("Failed"), &BOTH2[1..], &[]),
        post(list2("Online"), &[], NO_RAID),
        // A cell that is empty shifts none.
        post(all("Dgrd", "Offln").replace("\"DG\":0", "\"DG\":\"\""), BOTH, &[]),
        post(counts("/c0/e1/s2", "3"), &[("read-write-errors", "/c0/e1/s2", Warning)], &[]),
        post(counts("/c0/e1/s2", "0"), &[], NO_RAID),
        post(counts("/c0/e1/s2;reboot", "3"), &[], NO_RAID),
        // A model and a state are no battery, and words of a row no line of a program.
        post(of("{\"X\":[{\"Model\":\"A\",\"State\":\"Failed\"}]}"), &[], NO_RAID),
        post(
            of("{\"X\":[{\"DG/VD\":\"Controller\",\"TYPE\":\"=\",\"State\":\"7\"},\
                {\"DG/VD\":\"0/0\",\"TYPE\":\"RAID5\",\"State\":\"Dgrd\"}]}"),
            &BOTH[..1],
            &[],
        ),
    ]);
    let refused = |text: &str| host::posted::read([("post", text)]).refused;
    for read in [all("Optl", "Onln"), all2("Optl", "Online"), list2("Online"), counts("/c0/e1/s2", "0")] {
        assert!(refused(&read).is_empty(), "{:?} of {read}", refused(&read));
    }
    let deep = |levels: usize| {
        let row = "{\"EID:Slt\":\"252:1\",\"DID\":2,\"State\":\"Offln\",\"DG\":0}";
        of(&format!("{}{row}{}", "[".repeat(levels), "]".repeat(levels)))
    };
    assert!(refused(&deep(5)).is_empty());
    for unread in [of("{}"), of("{\"X\":[{\"EID:Slt\":\"252:1\",\"State\":\"Offln\"}]}"), of("null"), deep(60)] {
        assert_eq!(refused(&unread).len(), 1, "{unread}");
    }
}

#[test]
fn a_group_of_one_controller_is_told_beside_volumes_of_another() {
    const LIST: &str = "Controller = 0\nVD LIST :\n=======\n\nDG/VD TYPE  State Access\n0/0   RAID1 Optl  RW\n\n";
    const TOPOLOGY: &str =
        "TOPOLOGY :\n========\n\nDG Arr Row EID:Slot DID Type  State BT\n 0 -   -   -        -   RAID5 Dgrd  N\n\n";
    check(&[
        post(format!("{LIST}Controller = 1\n{TOPOLOGY}"), &[("read-write-errors", "/c1/d0", Error)], &[]),
        post(format!("Controller = 1\n{TOPOLOGY}{LIST}"), &[("read-write-errors", "/c1/d0", Error)], &[]),
        // Its own volumes tell the same.
        post(format!("{LIST}{TOPOLOGY}"), &[], NO_RAID),
    ]);
}

#[test]
fn what_megacli_says_of_volumes_and_of_drives() {
    const DRIVES: &str = "Adapter #0\n\nEnclosure Device ID: 252\nSlot Number: 3\nMedia Error Count: 0\n\
                          Predictive Failure Count: 0\nFirmware state: Online, Spun Up\n\
                          Drive has flagged a S.M.A.R.T alert : No\n\n";
    const VOLUME: &[Found] = &[("read-write-errors", "/c0/v0", Error)];
    let volume = |heading: &str, state: &str| {
        format!(
            "Adapter 0 -- Virtual Drive Information:\n{heading}\nName                :\nState               : {state}\n"
        )
    };
    let headings = [
        "Virtual Disk: 0 (Target Id:0)",
        "Virtual Drive: 0 (Target Id: 0)",
        "CacheCade Virtual Drive: 0 (Target Id: 0)",
    ];
    let states = ["Offline", "Degraded", "Partially Degraded", "Partially degraded", "Partial Degraded"];
    for (heading, state) in headings.iter().flat_map(|heading| states.map(|state| (heading, state))) {
        let volume = volume(heading, state);
        let only = volume.split_once('\n').map_or("", |(_, rest)| rest);
        let posts = [volume.clone(), only.to_owned(), format!("{DRIVES}{volume}"), format!("{DRIVES}{only}")];
        check(&posts.map(|text| post(text, VOLUME, &[])));
        let read = host::posted::read([("post", format!("{DRIVES}{volume}").as_str())]);
        assert!(!format!("{:?}", read.machine).contains("/s3 is"), "{heading} {state}");
    }
    let other = DRIVES.replace("#0", "#1").replace("Enclosure Device ID: 252\n", "");
    check(&[
        post(format!("{DRIVES}{}", volume(headings[0], "Optimal")), &[], NO_RAID),
        // What cannot be asked counts nothing.
        post(DRIVES.replace("Count: 0", "Count: N/A"), &[], NO_RAID),
        post(
            DRIVES.replace("Media Error Count: 0", "Media Error Count: 2"),
            &[("read-write-errors", "/c0/e252/s3", Warning)],
            &[],
        ),
        // The state of what is no volume, and that of a drive behind a volume without a number.
        post(format!("{DRIVES}State : Offline\n"), &[], NO_RAID),
        post(format!("{DRIVES}Adapter #1\nFirmware state: Failed\n"), &[], NO_RAID),
        post(format!("{DRIVES}Virtual Drive: x (Target Id: 0)\nFirmware state: Failed\n"), &[], NO_RAID),
        // An enclosure is of its own adapter, and counters of their own drive.
        post(
            format!("{DRIVES}{}", other.replace("Online, Spun Up", "Failed")),
            &[("read-write-errors", "/c1/s3", Error)],
            &[],
        ),
        post(
            "Slot Number: 1\nMedia Error Count: 2\nSlot Number: 2\nMedia Error Count: 0\n",
            &[("read-write-errors", "/c0/s1", Warning)],
            &[],
        ),
    ]);
}
