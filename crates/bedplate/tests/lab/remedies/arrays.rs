//! Arrays of md, and of LVM.

use super::{After, FAULT, Fault};

/// Two processors, without which nothing is said of threads. `p`, `q` and `r` are as large as a partial parity log wants.
pub(crate) const LAB: &str = r#"
cpus = 2
memory = "2 GiB"
drives = [
    { name = "a", size = "2 GiB", lba = "512 B" },
    { name = "b", size = "2 GiB", lba = "512 B" },
    { name = "c", size = "2 GiB", lba = "512 B" },
    { name = "d", size = "2 GiB", lba = "512 B" },
    { name = "p", size = "10 GiB", lba = "4 KiB" },
    { name = "q", size = "10 GiB", lba = "4 KiB" },
    { name = "r", size = "10 GiB", lba = "4 KiB" },
]
"#;

pub(crate) const SCENES: &[&[Fault]] = &[
    &[
        Fault {
            check: "array-degraded",
            at: "md1",
            plant: "modprobe -a raid1 raid10 raid456 raid0; cut a1 $A 0 40; cut b1 $B 0 40; \
                mdadm --create /dev/md1 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/a1 /dev/mapper/b1; \
                noise /dev/md1 16; mdadm /dev/md1 --fail /dev/mapper/b1; sleep 1; mdadm /dev/md1 --remove /dev/mapper/b1; noise /dev/md1 4",
            data: "md5sum < /dev/md1",
            puts: &[("MEMBER", "/dev/mapper/b1")],
            leaves: &["--add NEW"],
            last: "mdadm --wait /dev/md1 || true; cold; cmp /dev/mapper/a1 /dev/mapper/b1 -i 1048576 -n 16777216",
            clean: "mdadm --stop /dev/md1; uncut a1 b1",
            ..FAULT
        },
        Fault {
            check: "array-degraded",
            at: "md2",
            plant: "cut a2 $A 40 40; cut b2 $B 40 40; cut c2 $C 40 40; \
                mdadm --create /dev/md2 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/a2 /dev/mapper/b2; \
                noise /dev/md2 16; mdadm /dev/md2 --fail /dev/mapper/b2; sleep 1; mdadm /dev/md2 --remove /dev/mapper/b2; uncut b2",
            data: "md5sum < /dev/md2",
            puts: &[("MEMBER", "/dev/mapper/a2"), ("NEW", "/dev/mapper/c2")],
            leaves: &["--re-add"],
            last: "mdadm --wait /dev/md2 || true",
            clean: "mdadm --stop /dev/md2; uncut a2 c2",
            ..FAULT
        },
        Fault {
            check: "array-not-running",
            at: "md3",
            plant: "cut a3 $A 80 40; cut b3 $B 80 40; \
                mdadm --create /dev/md3 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/a3 /dev/mapper/b3; \
                noise /dev/md3 16; md5sum < /dev/md3 > /tmp/md3; mdadm --stop /dev/md3; mdadm --incremental /dev/mapper/a3; ls /dev/md*",
            data: "if [ $(blockdev --getsize64 /dev/md3) -gt 0 ]; then md5sum < /dev/md3; else cat /tmp/md3; fi",
            puts: &[("MEMBER …", "'/dev/mapper/a3 /dev/mapper/b3'"), ("MEMBER", "/dev/mapper/b3")],
            leaves: &["--run"],
            clean: "mdadm --stop /dev/md3; uncut a3 b3",
            ..FAULT
        },
        Fault {
            check: "array-not-running",
            at: "md4",
            plant: "cut a4 $A 120 40; cut b4 $B 120 40; \
                mdadm --create /dev/md4 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/a4 /dev/mapper/b4; \
                noise /dev/md4 16; md5sum < /dev/md4 > /tmp/md4; mdadm --stop /dev/md4; mdadm --incremental /dev/mapper/a4; uncut b4",
            data: "if [ $(blockdev --getsize64 /dev/md4) -gt 0 ]; then md5sum < /dev/md4; else cat /tmp/md4; fi",
            puts: &[("MEMBER …", "/dev/mapper/a4")],
            leaves: &["--incremental"],
            clean: "mdadm --stop /dev/md4; uncut a4",
            ..FAULT
        },
        Fault {
            check: "array-resyncing",
            at: "md5",
            plant: "cut a5 $A 160 256; cut b5 $B 160 256; noise /dev/mapper/a5 32; \
                echo 1000 > /proc/sys/dev/raid/speed_limit_max; \
                mdadm --create /dev/md5 --quiet --run --level=1 --raid-devices=2 --bitmap=internal /dev/mapper/a5 /dev/mapper/b5; \
                echo 1000 > /sys/block/md5/md/sync_speed_max; echo 200000 > /proc/sys/dev/raid/speed_limit_max",
            data: "dd if=/dev/md5 bs=1M count=32 status=none | md5sum",
            first: "echo 900000 > /sys/block/md5/md/sync_speed_max; echo 900000 > /sys/block/md5/md/sync_speed_min",
            clean: "mdadm --stop /dev/md5; uncut a5 b5",
            ..FAULT
        },
        Fault {
            check: "array-mismatches",
            at: "md6",
            plant: "cut a6 $A 420 40; cut b6 $B 420 40; \
                mdadm --create /dev/md6 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/a6 /dev/mapper/b6; \
                noise /dev/md6 16; dd if=/dev/urandom of=/dev/mapper/b6 bs=1M seek=20 count=1 oflag=direct status=none; cold; \
                echo check > /sys/block/md6/md/sync_action; mdadm --wait /dev/md6 || true; cat /sys/block/md6/md/mismatch_cnt; \
                dd if=/dev/zero of=/dev/md6 bs=1M seek=16 count=20 oflag=direct status=none",
            data: "md5sum < /dev/md6",
            last: "mdadm --wait /dev/md6 || true",
            clean: "mdadm --stop /dev/md6; uncut a6 b6",
            ..FAULT
        },
        Fault {
            check: "array-no-bitmap",
            at: "md8",
            plant: "cut a8 $A 480 40; cut b8 $B 480 40; \
                mdadm --create /dev/md8 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=none /dev/mapper/a8 /dev/mapper/b8; noise /dev/md8 16",
            data: "md5sum < /dev/md8",
            clean: "mdadm --stop /dev/md8; uncut a8 b8",
            ..FAULT
        },
        Fault {
            check: "array-write-hole",
            at: "md9",
            plant: "for n in a b c d; do cut ${n}9 $(eval echo \\$${n^^}) 520 40; done; cut j9 $A 560 40; \
                mdadm --create /dev/md9 --quiet --run --level=6 --raid-devices=4 --assume-clean --bitmap=internal /dev/mapper/[abcd]9; \
                noise /dev/md9 16",
            data: "md5sum < /dev/md9",
            puts: &[("DEVICE", "/dev/mapper/j9")],
            answers: "y",
            clean: "mdadm --stop /dev/md9; uncut a9 b9 c9 d9 j9",
            ..FAULT
        },
        Fault {
            check: "array-write-hole",
            at: "md10",
            plant: "mdadm --create /dev/md10 --quiet --run --level=5 --raid-devices=3 --assume-clean --bitmap=none $P $Q $R; noise /dev/md10 16; mdadm --examine $P",
            data: "dd if=/dev/md10 bs=1M count=64 status=none | md5sum",
            // Made without a bitmap, members above 8 GiB have room for the log.
            leaves: &["--stop", "--update=no-bbl"],
            last: "grep ppl /sys/block/md10/md/consistency_policy || { mdadm --examine $P; false; }",
            clean: "mdadm --stop /dev/md10; mdadm --zero-superblock $P $Q $R",
            ..FAULT
        },
        Fault {
            check: "array-write-hole",
            at: "md12",
            plant: "for n in a b c; do cut ${n}12 $(eval echo \\$${n^^}) 660 40; done; \
                mdadm --create /dev/md12 --quiet --run --level=5 --raid-devices=3 --assume-clean --bitmap=internal /dev/mapper/[abc]12; \
                noise /dev/md12 16",
            data: "md5sum < /dev/md12",
            last: "grep ppl /sys/block/md12/md/consistency_policy || { mdadm --examine /dev/mapper/a12; false; }",
            clean: "mdadm --stop /dev/md12; uncut a12 b12 c12",
            ..FAULT
        },
        Fault {
            check: "array-stripe-cache",
            at: "md11",
            plant: "for n in a b c; do cut ${n}11 $(eval echo \\$${n^^}) 600 40; done; \
                mdadm --create /dev/md11 --quiet --run --level=5 --raid-devices=3 --assume-clean --bitmap=internal /dev/mapper/[abc]11; noise /dev/md11 16",
            data: "md5sum < /dev/md11",
            ..FAULT
        },
        Fault { check: "array-group-threads", at: "md11", data: "md5sum < /dev/md11", ..FAULT },
        Fault {
            check: "array-resync-cap",
            at: "md11",
            plant: "echo 20000 > /sys/block/md11/md/sync_speed_max",
            data: "md5sum < /dev/md11",
            clean: "mdadm --stop /dev/md11; uncut a11 b11 c11",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "array-member-errors",
            at: "md20",
            plant: "modprobe dm_integrity; for n in a b; do cut ${n}20 $(eval echo \\$${n^^}) 700 48; \
                integritysetup format --batch-mode --sector-size 4096 /dev/mapper/${n}20; \
                integritysetup open --integrity-bitmap-mode /dev/mapper/${n}20 ${n}21; done; \
                mdadm --create /dev/md20 --quiet --run --level=10 --raid-devices=2 --assume-clean --failfast --bitmap=internal /dev/mapper/[ab]21; \
                noise /dev/md20 16; for m in /sys/block/md20/md/dev-*; do echo -failfast > $m/state; done; cold; \
                dd if=/dev/urandom of=/dev/mapper/b20 bs=64k seek=$((30 * 16)) count=1 oflag=direct status=none; cold; \
                echo check > /sys/block/md20/md/sync_action; mdadm --wait /dev/md20 || true; \
                for m in /sys/block/md20/md/dev-*; do echo failfast > $m/state; done; cat /sys/block/md20/md/dev-*/errors; dmsetup status",
            data: "md5sum < /dev/md20",
            last: "mdadm --wait /dev/md20 || true",
            ..FAULT
        },
        Fault {
            check: "integrity-mismatches",
            at: "b21",
            data: "md5sum < /dev/md20",
            last: "mdadm --wait /dev/md20 || true",
            after: After::Stays("the mapping counts from when it was opened"),
            ..FAULT
        },
        Fault {
            check: "checksum-messages",
            data: "md5sum < /dev/md20",
            after: After::Stays("the kernel keeps its messages until the next start"),
            ..FAULT
        },
        Fault { check: "array-read-error-limit", at: "md20", data: "md5sum < /dev/md20", ..FAULT },
        Fault {
            check: "array-failfast-integrity",
            at: "md20",
            data: "md5sum < /dev/md20",
            clean: "mdadm --stop /dev/md20; for n in a b; do integritysetup close ${n}21; done; uncut a20 b20",
            ..FAULT
        },
        Fault {
            check: "array-degraded",
            at: "one-away",
            plant: "cut pa $A 800 64; cut pb $B 800 64; pvcreate -qq /dev/mapper/pa /dev/mapper/pb; vgcreate -qq one /dev/mapper/pa /dev/mapper/pb; \
                lvcreate -qq --yes --type raid1 -m 1 -L 32m -n away one; for t in 1 2 3 4 5 6 7 8 9 10 11 12; do lvs --noheadings -o sync_percent one/away | grep -q 100.00 && break; sleep 1; done; \
                noise /dev/one/away 16; dmsetup suspend pb; dmsetup load pb --table '0 131072 error'; dmsetup resume pb; \
                noise /dev/one/away 2 || true; sync; sleep 1; dmsetup status one-away",
            data: "md5sum < /dev/one/away",
            leaves: &["--repair"],
            first: "dmsetup suspend pb; dmsetup load pb --table \"0 131072 linear $B $((800 * 2048))\"; dmsetup resume pb",
            last: "for t in 1 2 3 4 5 6 7 8 9 10 11 12; do lvs --noheadings -o sync_percent one/away | grep -q 100.00 && break; sleep 1; done; dmsetup status one-away",
            clean: "vgremove -qq --force one; pvremove -qq /dev/mapper/pa /dev/mapper/pb; uncut pa pb",
            ..FAULT
        },
        Fault {
            check: "array-degraded",
            at: "two-gone",
            plant: "for n in a b c; do cut q$n $(eval echo \\$${n^^}) 900 64; pvcreate -qq /dev/mapper/q$n; done; vgcreate -qq two /dev/mapper/q[abc]; \
                lvcreate -qq --yes --type raid1 -m 1 -L 32m -n gone two /dev/mapper/qa /dev/mapper/qb; for t in 1 2 3 4 5 6 7 8 9 10 11 12; do lvs --noheadings -o sync_percent two/gone | grep -q 100.00 && break; sleep 1; done; \
                noise /dev/two/gone 16; dmsetup suspend qb; dmsetup load qb --table '0 131072 error'; dmsetup resume qb; \
                noise /dev/two/gone 2 || true; sync; sleep 1; dmsetup status two-gone",
            data: "md5sum < /dev/two/gone",
            leaves: &["--refresh"],
            answers: "y",
            last: "for t in 1 2 3 4 5 6 7 8 9 10 11 12; do lvs --noheadings -o sync_percent two/gone | grep -q 100.00 && break; sleep 1; done; dmsetup status two-gone",
            clean: "lvremove -qq --force two; vgreduce -qq --removemissing --force two; vgremove -qq --force two; uncut qa qb qc",
            ..FAULT
        },
    ],
];
