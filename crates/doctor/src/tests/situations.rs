//! Situations that people bring, in the words of their tools: each with what is found, and beside it what looks like it and is none.

use terms::diagnosis::Severity::{Error, Information, Warning};

use super::controllers::found;
use super::posts::{Found, check, post};

const AWAY: &[Found] = &[("drive-went-away", "", Error)];
const REQUESTS: &[&str] = &["read-write-errors"];

/// All that is said of what is found in a post.
fn said(text: &str) -> String {
    found(text).iter().map(|found| format!("{} {} {:?}\n", found.what, found.why, found.remedy)).collect()
}

#[test]
fn a_controller_that_the_kernel_gave_up() {
    let dead = "[1.0] xhci_hcd 0000:02:00.0: xHCI host controller not responding, assume dead\n[1.1] xhci_hcd 0000:02:00.0: HC died; cleaning up\n";
    check(&[
        post(format!("[0.5] scsi host1: uas\n{dead}"), AWAY, &[]),
        // A keyboard hangs there as well, and the driver of drives is loaded everywhere.
        post(dead, &[], &["drive-went-away"]),
        post(format!("[0.5] usbcore: registered new interface driver usb-storage\n{dead}"), &[], &["drive-went-away"]),
        post("[1.0] ahci 0000:03:00.0: AHCI controller unavailable!\n", AWAY, &[]),
        post("[1.0] mpt3sas_cm0: SAS host is non-operational !!!!\n", AWAY, &[]),
        post("[1.0] smartpqi 0000:5c:00.0: controller is offline: status code 0x6100c\n", AWAY, &[]),
        post("[1.0] hpsa 0000:03:00.0: Controller lockup detected: 0x00130000 after 30\n", AWAY, &[]),
        post(
            "[1.0] mpt3sas_cm0: sending port enable !!\n[2.0] mpt3sas_cm0: port enable: SUCCESS\n",
            &[],
            &["drive-went-away", "read-write-errors"],
        ),
        // What stands behind it is not at fault.
        post(
            "[1.0] mpt3sas_cm0: Temperature Threshold flags a   exceeded for Sensor: 0 !!!\n",
            &[("read-write-errors", "", Warning)],
            &[],
        ),
        // Without the time before them.
        post("kernel: aacraid: Host bus reset request. SCSI hang ?\n", &[("read-write-errors", "", Warning)], &[]),
        post("kernel: 6.1.0-26-amd64\n", &[], REQUESTS),
    ]);
}

#[test]
fn a_cache_that_bcache_gave_up() {
    let text = "[1.0] bcache: bch_cache_set_error() error on 3f0d0b3e: IO error writing journal, disabling caching\n";
    check(&[
        post(text, &[("read-write-errors", "", Error)], &[]),
        post("[1.0] bcache: register_bdev() registered backing device sdb1\n", &[], REQUESTS),
    ]);
    let said = said(text);
    assert!(said.contains("Detach, format and attach nothing") && !said.contains("--add"), "{said}");
}

#[test]
fn memory_that_errs() {
    let error = |count: u32, kind: &str| {
        format!(
            "[1.0] EDAC MC0: {count} {kind} error on CPU#0Channel#2_DIMM#0 (channel:2 slot:0 page:0x0 offset:0x0)\n"
        )
    };
    const MEMORY: &[&str] = &["memory-errors"];
    check(&[
        post(error(1, "CE"), &[("memory-errors", "", Information)], &[]),
        post(error(9, "CE"), &[("memory-errors", "", Information)], &[]),
        post(error(4, "CE") + &error(6, "CE"), &[("memory-errors", "", Warning)], &[]),
        post(error(1, "UE"), &[("memory-errors", "", Error)], &[]),
        post(
            "[1.0] EDAC MC0: CE page 0x2a3, offset 0x0, grain 0, row 0, label \"\": amd64_edac\n",
            &[("memory-errors", "", Information)],
            &[],
        ),
        post(
            "[1.0] Memory failure: 0xee30a0: recovery action for dirty LRU page: Recovered\n",
            &[("memory-errors", "", Error)],
            &[],
        ),
        post(
            "mc0: csrow0: 0 Uncorrected Errors\nmc0: csrow0: DIMM_A1: 2817 Corrected Errors\n",
            &[("memory-errors", "", Warning)],
            &[],
        ),
        post("Label\tCE\tUE\nmc#0csrow#3channel#0\t0\t1\n", &[("memory-errors", "", Error)], &[]),
        post("/sys/devices/system/edac/mc/mc0/ce_count:12\n", &[("memory-errors", "", Warning)], &[]),
        // A start of the machine, and counters that are 0.
        post(
            "[1.0] EDAC MC0: Giving out device to module amd64_edac controller F17h_M70h: DEV 0000:00:18.3 (INTERRUPT)\n[2.0] EDAC amd64: Node 0: DRAM ECC disabled.\n[3.0] mce: [Hardware Error]: Machine check events logged\n",
            &[],
            MEMORY,
        ),
        post("mc0: 0 Uncorrected Errors with no DIMM info\nmc0: csrow0: DIMM_A1: 0 Corrected Errors\n", &[], MEMORY),
    ]);
    let said = said(&error(4, "CE"));
    assert!(said.contains("CPU#0Channel#2_DIMM#0") && said.contains("4 errors were corrected"), "{said}");
}

#[test]
fn a_checksum_that_did_not_match_is_no_request_that_failed() {
    let read = "[1.0] BTRFS info (device sdb1): read error corrected: ino 59747 off 1602211840 (dev /dev/sdc1 sector 1709502656)\n";
    let block = |at: u64| {
        format!(
            "[1.0] BTRFS warning (device sdb1): csum failed root 1562 ino 59747 off {at} csum 0x1 expected csum 0x2 mirror 2\n"
        )
    };
    check(&[
        post(block(1_602_211_840) + read, &[("checksum-messages", "", Error)], REQUESTS),
        post(read, &[("read-write-errors", "", Warning)], &[]),
        post(block(4096) + read, &[("read-write-errors", "", Warning)], &[]),
    ]);
}

#[test]
fn what_smartd_says_of_nvme_drives() {
    let line =
        |byte: &str| format!("Nov 02 03:12:01 nas smartd[700]: Device: /dev/nvme0, Critical Warning (0x{byte}): x\n");
    check(&[
        post(line("04"), &[("read-write-errors", "", Warning)], &[]),
        post(line("09"), &[("read-write-errors", "", Error)], &[]),
        post(
            "Nov 02 03:12:01 nas smartd[700]: Device: /dev/nvme0, number of Error Log entries increased from 203 to 206\n",
            &[],
            REQUESTS,
        ),
    ]);
}

#[test]
fn what_arcconf_says() {
    let config = |volume: &str, drive: &str, battery: &str| {
        format!(
            "# arcconf GETCONFIG 2 AL\nControllers found: 2\n{0}\nController information\n{0}\n   Controller Status                        : Optimal\n   {0}\n   Controller Battery Information\n   {0}\n   Status                                   : {battery}\n{0}\nLogical device information\n{0}\nLogical device number 0\n   Logical device name                      : Device 0\n   RAID level                               : 1\n   Status of logical device                 : {volume}\n   Failed stripes                           : No\n\n{0}\nPhysical Device information\n{0}\n      Device #1\n         Device is a Hard drive\n         State                              : {drive}\n         S.M.A.R.T. warnings                : 0\n",
            "-".repeat(70)
        )
    };
    check(&[
        post(config("Optimal", "Online", "Optimal"), &[], REQUESTS),
        post(config("Optimal", "Hot Spare", "Not Installed"), &[], REQUESTS),
        post(config("Degraded", "Online", "Optimal"), &[("read-write-errors", "/c2/v0", Error)], &[]),
        post(
            config("Suboptimal, Rebuilding ( Rebuild : 1 % )", "Online", "Optimal"),
            &[("read-write-errors", "/c2/v0", Error)],
            &[],
        ),
        post(config("Optimal", "Failed", "Optimal"), &[("read-write-errors", "/c2/s1", Error)], &[]),
        post(config("Optimal", "Online", "Failed"), &[("read-write-errors", "/c2", Warning)], &[]),
    ]);
    let said = said(&config("Degraded", "Online", "Optimal"));
    assert!(said.contains("arcconf GETCONFIG 2 LD"), "{said}");
}

#[test]
fn a_cache_of_a_controller_is_no_drive() {
    let policy = |default: &str, now: &str| {
        format!(
            "Adapter 0 -- Virtual Drive Information:\nVirtual Drive: 0 (Target Id: 0)\nState               : Optimal\nDefault Cache Policy: {default}, ReadAhead, Direct\nCurrent Cache Policy: {now}, ReadAhead, Direct\n"
        )
    };
    let property = |state: &str| {
        format!(
            "Controller = 0\nStatus = Success\n\nBBU_Info :\n========\n\n----------------------\nProperty      Value   \n----------------------\nType          iBBU08  \nBattery State {state}\n----------------------\n"
        )
    };
    check(&[
        post(property("Failed "), &[("read-write-errors", "/c0", Warning)], &[]),
        post(property("Optimal"), &[], REQUESTS),
        post(policy("WriteBack", "WriteThrough"), &[("read-write-errors", "/c0/v0", Warning)], &[]),
        // As somebody wants it.
        post(policy("WriteThrough", "WriteThrough"), &[], REQUESTS),
        post(policy("WriteBack", "WriteBack"), &[], REQUESTS),
    ]);
    let battery = "BBU status for Adapter: 0\n\nBattery State: Failed\n";
    for text in [policy("WriteBack", "WriteThrough"), battery.to_owned()] {
        let said = said(&text);
        assert!(said.contains("force no writing back") && !said.contains("Set no drive `good`"), "{said}");
    }
}

#[test]
fn rows_of_controllers_without_their_headings() {
    const VOLUME: &[Found] = &[("read-write-errors", "/c0/v1", Error)];
    check(&[
        post(
            "0/0   RAID1 Optl  RW     Yes     RWBD  -   ON  446.625 GB os   \n1/1   RAID5 Dgrd  RW     No      RWTD  -   ON    5.455 TB data \n",
            VOLUME,
            &[],
        ),
        post(
            "252:4    17 UBad   1   7.276 TB SATA HDD N   N  512B ST8000NM0055-1RM112 U  -    \n",
            &[("read-write-errors", "/c0/e252/s4", Warning)],
            &[],
        ),
        post("252:4    17 Onln   1   7.276 TB SATA HDD N   N  512B ST8000NM0055-1RM112 U  -    \n", &[], REQUESTS),
        post(
            "IR Volume information\n------\nIR volume 1\n  Volume ID                               : 79\n  Status of volume                        : Degraded (DGD)\n",
            VOLUME,
            &[],
        ),
        post("IR volume 1\n  Status of volume                        : Okay (OKY)\n", &[], REQUESTS),
    ]);
}

#[test]
fn arrays_of_lvm_of_which_lvs_alone_tells() {
    let rows = |health: char| {
        format!(
            "  LV   VG  Attr       LSize   Pool Origin Data%  Meta%  Move Log Cpy%Sync Convert\n  home vg0 rwi-aor-{health}- 400.00g                                    100.00          \n  root vg0 rwi-aor---  60.00g                                    100.00          \n"
        )
    };
    let json = |health: &str| {
        format!(
            "# lvs --reportformat json -o full_name,lv_layout,lv_health_status\n  {{\n      \"report\": [\n          {{\n              \"lv\": [\n                  {{\"lv_full_name\":\"vg0/home\", \"lv_layout\":\"raid,raid5,raid5_ls\", \"lv_health_status\":\"{health}\"}},\n                  {{\"lv_full_name\":\"vg0/root\", \"lv_layout\":\"linear\", \"lv_health_status\":\"\"}}\n              ]\n          }}\n      ]\n  }}\n"
        )
    };
    const LEFT: &[Found] = &[("array-degraded", "vg0/home", Error)];
    const DIFFER: &[Found] = &[("array-mismatches", "vg0/home", Warning)];
    const NOT: &[&str] = &["array-degraded", "array-mismatches", "volume-group"];
    check(&[
        post(rows('r'), LEFT, &["array-mismatches"]),
        post(rows('m'), DIFFER, &["array-degraded"]),
        post(rows('-'), &[], NOT),
        // Somebody wants it: written to it is mostly the other.
        post(rows('w'), &[], NOT),
        post(json("refresh needed"), LEFT, &[]),
        post(json("mismatches exist"), DIFFER, &[]),
        post(json(""), &[], NOT),
    ]);
    assert!(said(&rows('r')).contains("lvchange --refresh vg0/home"));
    assert!(!said(&rows('m')).contains("lvchange --syncaction repair"), "either copy may be the wrong one");
}

#[test]
fn mappings_that_lsblk_tells_without_their_numbers() {
    let rows = |most: &str| {
        format!(
            "NAME              SIZE TYPE  FSTYPE      PHY-SEC DISC-MAX MOUNTPOINTS\nnvme0n1         931.5G disk                 4096       2T \n└─nvme0n1p3       930G part  crypto_LUKS    4096       2T \n  └─luks-4e0a0d9c 930G crypt btrfs          4096       {most} /home\n"
        )
    };
    check(&[
        post(rows("0B"), &[("discard-blocked", "luks-4e0a0d9c (dm-X)", Information)], &[]),
        post(rows("2T"), &[], &["discard-blocked"]),
    ]);
}

#[test]
fn an_array_that_stopped_in_the_middle_of_a_change_of_its_shape() {
    let detail = |more: &str| {
        format!(
            "/dev/md227:\n        Version : 1.2\n     Raid Level : raid0\n  Total Devices : 3\n    Persistence : Superblock is persistent\n\n          State : inactive\n\n{more}           Name : nas:227\n           UUID : 837da647:3c4431c9:607feb30:b887f4fd\n         Events : 1901220\n\n    Number   Major   Minor   RaidDevice\n\n       -       8      176        -        /dev/sdl\n       -       8       17        -        /dev/sdb1\n       -       8       33        -        /dev/sdc1\n"
        )
    };
    const STOPPED: &[Found] = &[("array-not-running", "md227", Error)];
    let reshaped = detail("      New Level : raid6\n     New Layout : left-symmetric\n\n");
    check(&[post(reshaped.clone(), STOPPED, &["array-resyncing"]), post(detail(""), STOPPED, &["array-resyncing"])]);
    let said = [said(&reshaped), said(&detail(""))];
    assert!(said[0].contains("--backup-file") && !said[0].contains("mdadm --run"), "{}", said[0]);
    assert!(said[1].contains("mdadm --run"), "{}", said[1]);
}

#[test]
fn swap_space_by_itself() {
    let arrays = "Personalities : [raid1] \nmd1 : active raid1 sdb2[1] sda2[0]\n      16760832 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n";
    const SWAP: &[Found] = &[("swap-on-mirror", "/dev/md1", Information)];
    check(&[
        post(
            format!(
                "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/md1                                partition\t16760828\t1048576\t\t-2\n\n{arrays}"
            ),
            SWAP,
            &[],
        ),
        post(format!("NAME     TYPE      SIZE USED PRIO\n/dev/md1 partition  16G   0B   -2\n\n{arrays}"), SWAP, &[]),
        post(
            format!("NAME      TYPE SIZE USED PRIO\n/swapfile file   2G   0B   -2\n\n{arrays}"),
            &[],
            &["swap-on-mirror"],
        ),
    ]);
}

#[test]
fn a_drive_that_holds_up_its_group_of_a_pool() {
    let report = |sdc: &str| {
        let row = |name: &str, waits: &str| {
            format!(
                "    {name:10}    -      -     69     65  8.02M  3.60M   61ms   74ms  {waits}    6us    1us    1ms    2ms      -      -\n"
            )
        };
        format!(
            "                capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub   trim\npool          alloc   free   read  write   read  write   read  write   read  write   read  write   read  write   wait   wait\n------------  -----  -----  -----  -----  -----  -----  -----  -----\ntank          31.2T  12.4T    412    388  48.1M  21.6M   61ms   74ms   58ms   66ms    6us    1us    2ms    8ms      -      -\n  raidz2-0    31.2T  12.4T    412    388  48.1M  21.6M   61ms   74ms   58ms   66ms    6us    1us    2ms    8ms      -      -\n{}{}{}{}",
            row("sda", "11ms    9ms"),
            row("sdb", "12ms    9ms"),
            row("sdc", sdc),
            row("sdd", "11ms    9ms")
        )
    };
    const NOT: &[&str] = &["drive-slower-than-peers"];
    check(&[
        post(report("298ms  402ms"), &[("drive-slower-than-peers", "sdc", Warning)], &[]),
        post(report("31ms   20ms"), &[], NOT),
        // Flash: five times nearly nothing is nearly nothing.
        post(report("298us  402us"), &[], NOT),
    ]);
}

#[test]
fn pools_whose_status_says_why() {
    let gone = "   pool: tank\n     id: 13906513988257520913\n  state: UNAVAIL\nstatus: The pool uses the following feature(s) not supported on this system:\n\tcom.klarasystems:vdev_zaps_v2\naction: The pool cannot be imported.\n config:\n\n\ttank    UNAVAIL  unsupported feature(s)\n\t  sda2  ONLINE\n";
    let log = "status: An intent log record could not be read.\n        Waiting for adminstrator intervention to fix the faulted pool.\naction: Either restore the affected device(s) and run 'zpool online',\n        or ignore the intent log records by running 'zpool clear'.\nconfig:\n\n        NAME        STATE     READ WRITE CKSUM\n        zdata       FAULTED      0     0     0  bad intent log\n          sdb       ONLINE       0     0     0\n        logs\n          sdh2      FAULTED      0     0     0  corrupted data\n";
    let host = "  pool: tank\n state: ONLINE\nstatus: Mismatch between pool hostid and system hostid on imported pool.\n\tThis pool was previously imported into a system with a different hostid.\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n\t  sda       ONLINE       0     0     0\n\nerrors: No known data errors\n";
    check(&[
        post(gone, &[("zfs-pool-state", "tank", Error)], &[]),
        post(log, &[("zfs-pool-state", "zdata", Error)], &[]),
        post(host, &[("zfs-pool-state", "tank", Information)], &[]),
        // Its head was left away, and all is well.
        post(
            "        NAME        STATE     READ WRITE CKSUM\n        zdata       ONLINE       0     0     0\n          sdb       ONLINE       0     0     0\n\nerrors: No known data errors\n",
            &[],
            &["zfs-pool-state"],
        ),
        post("NAME STATE READ WRITE CKSUM\n", &[], &["zfs-pool-state"]),
    ]);
    assert!(said(gone).contains("No device is at fault") && !said(gone).contains("bring them back"), "{}", said(gone));
    assert!(said(log).contains("gives that up"), "{}", said(log));
}

#[test]
fn fdisk_in_other_languages() {
    let german = |start: u32| {
        format!(
            "Festplatte /dev/sda: 111,79 GiB, 120034123776 Bytes, 234441648 Sektoren\nFestplattenmodell: Samsung SSD 840 \nEinheiten: Sektoren von 1 * 512 = 512 Bytes\nSektorgröße (logisch/physikalisch): 512 Bytes / 4096 Bytes\nE/A-Größe (minimal/optimal): 4096 Bytes / 4096 Bytes\nFestplattenbezeichnungstyp: dos\n\nGerät      Boot    Anfang      Ende  Sektoren Größe Kn Typ\n/dev/sda1  *     {start:>8}  20480062  {} 9,8G 83 Linux\n",
            20_480_063 - start
        )
    };
    let french = "Disque /dev/sda : 931,51 GiB, 1000204886016 octets, 1953525168 secteurs\nTaille de secteur (logique / physique) : 512 octets / 4096 octets\ntaille d'E/S (minimale / optimale) : 4096 octets / 4096 octets\n\nPériphérique Amorçage Début        Fin   Secteurs Taille Id Type\n/dev/sda1               63  20480062  20480000   9,8G 83 Linux\n/dev/sda2         20480063  40960062  20480000   9,8G  5 Étendue\n";
    const OFF: &[Found] = &[("partition-alignment", "sda1", Warning)];
    check(&[
        post(german(63), OFF, &[]),
        post(german(2048), &[], &["partition-alignment"]),
        post(french, OFF, &[]),
        post(
            "Disk /dev/sda：476.94 GiB，512110190592 字节，1000215216 个扇区\n扇区大小(逻辑/物理)：512 字节 / 4096 字节\nI/O 大小(最小/最佳)：4096 字节 / 4096 字节\n\n设备        起点     末尾     扇区  大小 类型\n/dev/sda1   1049  20480062  20479014  9.8G Linux 文件系统\n",
            OFF,
            &[],
        ),
        post("Backup /dev/sda: 12, 34 Bytes\n", &[], &["partition-alignment"]),
    ]);
    assert!(!said(french).contains("sda2"), "{}", said(french));
}

#[test]
fn messages_in_other_forms() {
    const FAILED: &[Found] = &[("read-write-errors", "", Warning)];
    check(&[
        post(
            "{\n   \"dmesg\": [\n      {\n         \"pri\": 3,\n         \"time\":    912.110201,\n         \"msg\": \"I/O error, dev sdb, sector 9120 op 0x0:(READ)\"\n      }\n   ]\n}\n",
            FAILED,
            &[],
        ),
        post(
            "<4>1 2024-11-02T03:12:01.123456+01:00 srv01 kernel - - - [88121.221231] I/O error, dev sdb, sector 9120\n",
            FAILED,
            &[],
        ),
        post("<4>1 2024-11-02T03:12:01.123456+01:00 srv01 sshd 1 - - I/O error, dev sdb, sector 9120\n", &[], REQUESTS),
        post(
            "# smartctl -g wcache /dev/sdb\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\nWrite cache is:   Disabled\n",
            &[("write-cache-off", "sdb", Information)],
            &[],
        ),
    ]);
}

#[test]
fn parts_of_what_programs_print() {
    let member = |name: &str, events: u32, place: u32, state: &str| {
        format!(
            "/dev/{name}:\n     Array UUID : 8397999f:cd6b31f4:64d31961:759bded9\n     Raid Level : raid5\n   Raid Devices : 3\n         Events : {events}\n   Device Role : Active device {place}\n   Array State : {state} ('A' == active, '.' == missing, 'R' == replacing)\n"
        )
    };
    let text = member("sdb1", 6531, 0, "AA.") + &member("sdc1", 6531, 1, "AA.") + &member("sdd1", 5212, 2, "AAA");
    check(&[
        post(
            format!("# mdadm --examine /dev/sd[bcd]1 | egrep 'Event|/dev/sd|State|Role|Level|Raid Dev|UUID'\n{text}"),
            &[("array-degraded", "mdX", Error)],
            &[],
        ),
        post(member("sdb1", 6531, 0, "AA") + &member("sdc1", 6531, 1, "AA"), &[], &["array-degraded"]),
        // `smartctl -c`.
        post(
            "$ smartctl -c /dev/nvme0n1\nsmartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.8.0] (local build)\nCopyright (C) 2002-23\n\n=== START OF INFORMATION SECTION ===\nFirmware Updates (0x16):            3 Slots, no Reset required\n\nSupported LBA Sizes (NSID 0x1)\nId Fmt  Data  Metadt  Rel_Perf\n 0 +     512       0         1\n 1 -    4096       0         0\n\n",
            &[("lba-format", "nvme0n1", Information)],
            &[],
        ),
        // Two commands for one drive on one line.
        post(
            "# nvme smart-log -o json /dev/nvme1 ; nvme id-ctrl /dev/nvme1 | grep wctemp\n{\"critical_warning\":4,\"temperature\":311,\"avail_spare\":100,\"spare_thresh\":10,\"percent_used\":4}\nwctemp    : 355\n",
            &[("drive-critical-warning", "nvme1n1", Error)],
            &[],
        ),
    ]);
}

#[test]
fn a_limit_of_a_drive_of_which_nobody_tells_whether_it_turns() {
    let array = "md0 : active raid6 sdd1[3] sdc1[2] sdb1[1] sda1[0]\n      7813770240 blocks super 1.2 level 6, 512k chunk, algorithm 2 [4/4] [UUUU]\n      bitmap: 0/30 pages [0KB], 65536KB chunk\n\nunused devices: <none>\n";
    let limit = |read: &str| {
        format!(
            "# smartctl -l scterc /dev/sdb\nsmartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\nSCT Error Recovery Control:\n           Read: {read}\n          Write: {read}\n\n# cat /proc/mdstat\n{array}"
        )
    };
    check(&[
        post(limit("Disabled"), &[("recovery-time-out", "sdb", Information)], &[]),
        post(limit("    70 (7.0 seconds)"), &[], &["recovery-time-out"]),
    ]);
}

#[test]
fn firmware_that_fails_after_hours() {
    let drive = |revision: &str| {
        format!(
            "# smartctl -i -H /dev/sdd\nsmartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)\n\n=== START OF INFORMATION SECTION ===\nVendor:               HP\nProduct:              VO0480JFDGT\nRevision:             {revision}\nSerial number:        0SWV00001\nRotation Rate:        Solid State Device\nTransport protocol:   SAS (SPL-3)\n\n=== START OF READ SMART DATA SECTION ===\nSMART Health Status: OK\n\n"
        )
    };
    check(&[
        post(drive("HPD5"), &[("firmware-fault", "sdd", Warning)], &[]),
        post(drive("HPD8"), &[], &["firmware-fault"]),
        post(drive("HPD9"), &[], &["firmware-fault"]),
    ]);
}
