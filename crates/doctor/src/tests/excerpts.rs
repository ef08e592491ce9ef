//! Parts of what programs print, as people cut them out, and what their remedies do to the machine that they show.

use terms::diagnosis::Severity::{Error, Information, Warning};

use super::controllers::found;
use super::posts::{Found, check, post, smart};

#[test]
fn a_drive_with_overlapping_tracks_that_is_only_read() {
    const READ: &[Found] = &[("shingled-in-array", "sda", Information)];
    const FILLED: &[Found] = &[("shingled-in-array", "sdd", Warning)];
    let models = |first: &str, last: &str| {
        format!("# lsblk -o NAME,ROTA,MODEL\nNAME ROTA MODEL\nsda     1 {first}\nsdd     1 {last}\n")
    };
    let (shingled, other) = ("WDC WD40EFAX-68JH4N0", "WDC WD40EFRX-68N32N0");
    let array = "md0 : active raid5 sdd[3] sdb[1] sda[0]\n      7813772288 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]\n      \
                 [===>.....]  recovery = 17.6% (687654321/3906886144) finish=912.4min speed=58811K/sec\n      bitmap: 3/30 pages [12KB], 65536KB chunk\n\n";
    let pool = "  pool: tank\n state: DEGRADED\n  scan: resilver in progress since Tue Feb 14 20:11:03 2023\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\
                \ttank DEGRADED 0 0 0\n\t  raidz1-0 DEGRADED 0 0 0\n\t    /dev/sda ONLINE 0 0 0\n\t    replacing-1 DEGRADED 0 0 0\n\t      /dev/sdb UNAVAIL 0 0 0\n\
                \t      /dev/sdd ONLINE 0 0 0  (resilvering)\n\nerrors: No known data errors\n";
    for text in [array, pool] {
        check(&[
            post(format!("{text}{}", models(shingled, other)), READ, &[]),
            post(format!("{text}{}", models(other, shingled)), FILLED, &[]),
            // In one that lacks a member nobody knows what comes into its place.
            post(format!("{}{}", text.replace("(resilvering)", ""), models(other, shingled)), FILLED, &[]),
        ]);
    }
}

/// `lsblk -D` tells neither types nor numbers.
#[test]
fn trims_that_lsblk_tells_of() {
    let tree = |crypt: &str| {
        format!(
            "NAME          DISC-ALN DISC-GRAN DISC-MAX DISC-ZERO\nnvme0n1              0      512B       2T         0\n└─nvme0n1p2          0      512B       2T         0\n  \
             └─cryptroot        0        0B       {crypt}         0\nloop0                0        0B       0B         0\n"
        )
    };
    check(&[
        post(tree("0B"), &[("discard-blocked", "cryptroot (dm-X)", Information)], &[]),
        post(tree("2T"), &[], &["discard-blocked"]),
    ]);
    // What another text tells exactly holds, and is no other machine's.
    let exact = format!("{}\n# grep . /sys/block/nvme0n1/queue/discard_max_bytes\n2199023255040\n", tree("0B"));
    check(&[post(exact.clone(), &[("discard-blocked", "cryptroot (dm-X)", Information)], &[])]);
    let refused = host::posted::read([("post", exact.as_str())]).refused;
    assert!(refused.iter().all(|why| !why.contains("in another")), "{refused:?}");
}

#[test]
fn how_large_a_posted_array_is() {
    const SMALL: &[Found] = &[("array-no-bitmap", "md0", Information)];
    const LARGE: &[Found] = &[("array-no-bitmap", "md0", Warning)];
    let detail = |size: &str| {
        format!(
            "/dev/md0:\n           Version : 1.2\n        Raid Level : raid1\n        Array Size : {size}\n      Raid Devices : 2\n             State : clean\n\
             \nConsistency Policy : resync\n\n    Number   Major   Minor   RaidDevice State\n       0     254        1        0      active sync   /dev/vda1\n       \
             1     254        2        1      active sync   /dev/vda2\n"
        )
    };
    check(&[
        post(detail("101376 (99.00 MiB 103.81 MB)"), SMALL, &[]),
        post(detail("976630464 (931.39 GiB 1000.07 GB)"), LARGE, &[]),
    ]);
}

#[test]
fn counters_of_content_are_no_failed_requests() {
    const LINE: &str = "[1.5] BTRFS error (device sdb): bdev /dev/sdb errs: wr 0, rd 0, flush 0, corrupt 12, gen 0\n";
    check(&[
        post(LINE, &[("checksum-messages", "", Error)], &["read-write-errors"]),
        // Beside the block that it counts it says nothing more.
        post(
            format!(
                "[1.4] BTRFS warning (device sdb): csum failed root 5 ino 257 off 0 csum 0x1 expected csum 0x2 mirror 1\n{LINE}"
            ),
            &[("checksum-messages", "", Error)],
            &["read-write-errors"],
        ),
        post(LINE.replace("rd 0", "rd 3"), &[("read-write-errors", "", Warning)], &["checksum-messages"]),
    ]);
}

/// `sgdisk` begins a new table on what is no whole drive, and a machine whose own file system is renamed starts no more.
#[test]
fn what_is_in_use_is_not_renamed() {
    let twice = |rows: &str| {
        format!(
            "# lsblk -o NAME,MAJ:MIN,TYPE,SERIAL,FSTYPE,UUID,MOUNTPOINT\nNAME   MAJ:MIN TYPE SERIAL FSTYPE UUID                                 MOUNTPOINT\n{rows}"
        )
    };
    let row = |drive: &str, number: u32, at: &str| {
        format!(
            "{drive}    8:{number:<3}   disk Z{drive}\n└─{drive}1 8:{:<3}   part        ext4   5c9e3a3e-7e0d-4a0b-8c1c-2d0e5a6b7c8d {at}\n",
            number + 1
        )
    };
    let commands = |text: &str| {
        let all = found(text).into_iter().filter(|found| found.check == "duplicate-uuid");
        all.flat_map(|found| found.remedy.commands).collect::<Vec<_>>().join("\n")
    };
    let used = |first: &str, second: &str| {
        let mounts = [("sda", first), ("sdb", second)].map(|(drive, at)| {
            if at.is_empty() { String::new() } else { format!("/dev/{drive}1 on {at} type ext4 (rw)\n") }
        });
        commands(&format!(
            "{}\n{}",
            twice(&format!("{}{}", row("sda", 0, first), row("sdb", 16, second))),
            mounts.concat()
        ))
    };
    assert!(used("", "/").contains("tune2fs -U random /dev/sda1"), "{}", used("", "/"));
    assert!(used("/", "").contains("tune2fs -U random /dev/sdb1"));
    assert!(used("", "").contains("tune2fs -U random COPY"));
    assert!(used("/", "/mnt").contains("tune2fs -U random COPY"));
    // Nothing tells that they are two: both may be one drive on two paths.
    let untold = "/dev/sda1: UUID=\"5c9e3a3e-7e0d-4a0b-8c1c-2d0e5a6b7c8d\" TYPE=\"ext4\" PARTUUID=\"1\"\n";
    let tree = "NAME   FSTYPE FSVER LABEL UUID                                 FSAVAIL FSUSE% MOUNTPOINTS\n\
        sda\n└─sda1 ext4   1.0         5c9e3a3e-7e0d-4a0b-8c1c-2d0e5a6b7c8d    1.2T    31% /srv\n\
        sdb\n└─sdb1 ext4   1.0         5c9e3a3e-7e0d-4a0b-8c1c-2d0e5a6b7c8d\n";
    for text in [format!("{untold}{}", untold.replace("sda1", "sdb1")), format!("# lsblk -f\n{tree}")] {
        let commands = commands(&text);
        assert!(commands.starts_with("lsblk -o NAME,WWN,SERIAL") && !commands.contains("tune2fs"), "{text}{commands}");
    }
}

#[test]
fn a_bad_drive_of_an_array_that_is_not_whole_stays_in_it() {
    let array = |marks: &str| {
        format!(
            "md0 : active raid5 sdd[3] sdb[1] sda[0]\n      7813772288 blocks super 1.2 level 5, 512k chunk, algorithm 2 {marks}\n      bitmap: 3/30 pages [12KB], 65536KB chunk\n\n"
        )
    };
    let advice = |array: &str| {
        let text = format!(
            "{array}{}",
            smart(
                "PASSED",
                &["197 Current_Pending_Sector  0x0012   090   090   000    Old_age   Always       -       1712"],
                ""
            )
        );
        let all = found(&text).into_iter().find(|found| found.check == "drive-media-errors").unwrap();
        all.remedy.advice
    };
    assert!(
        advice(&array("[4/3] [UU_U]")).starts_with("The array md0 is not whole"),
        "{}",
        advice(&array("[4/3] [UU_U]"))
    );
    assert!(!advice(&array("[3/3] [UUU]")).contains("not whole"));
}
