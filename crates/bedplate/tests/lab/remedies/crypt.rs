//! Encryption, and checksums of blocks.

use super::{After, FAULT, Fault};

pub(crate) const LAB: &str = r#"
memory = "3 GiB"
drives = [
    { name = "a", size = "2 GiB", lba = "512 B" },
    { name = "b", size = "2 GiB", lba = "512 B" },
    { name = "c", size = "2 GiB", lba = "512 B" },
    { name = "d", size = "2 GiB", lba = "4 KiB" },
]
"#;

pub(crate) const SCENES: &[&[Fault]] = &[
    &[
        Fault {
            check: "aes-driver",
            // That its driver does not use all of a processor's instructions is another finding.
            at: "runs in software",
            plant: "grep -q -w aes /proc/cpuinfo; mkdir -p /etc/modprobe.d; echo install aesni_intel /bin/false > /etc/modprobe.d/slow.conf; \
                cut k1 $C 2000 8; noise /dev/mapper/k1 8",
            data: "md5sum < /dev/mapper/k1",
            first: "rm /etc/modprobe.d/slow.conf",
            clean: "uncut k1",
            ..FAULT
        },
        Fault {
            check: "encryption-sector",
            at: "two",
            plant: "modprobe -a dm_crypt raid0 raid456; \
                luks() { echo secret | cryptsetup luksFormat --batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \"$@\"; }; \
                cut x2 $D 0 48; luks --type luks2 --sector-size 512 /dev/mapper/x2; echo secret | cryptsetup open /dev/mapper/x2 two; \
                mkfs.ext4 -q -b 4096 /dev/mapper/two; mkdir -p /mnt/two; mount /dev/mapper/two /mnt/two; noise /mnt/two/file 8",
            data: "md5sum /mnt/two/file",
            puts: &[("FILE", "/tmp/two.header")],
            clean: "umount /mnt/two; cryptsetup close two; uncut x2",
            ..FAULT
        },
        Fault {
            check: "encryption-sector",
            at: "one",
            plant: "cut x1 $D 48 48; echo secret | cryptsetup luksFormat --batch-mode --type luks1 --pbkdf-force-iterations 1000 /dev/mapper/x1; \
                echo secret | cryptsetup open /dev/mapper/x1 one; mkfs.ext4 -q -b 4096 /dev/mapper/one; mkdir -p /mnt/one; \
                mount /dev/mapper/one /mnt/one; noise /mnt/one/file 8",
            data: "mountpoint -q /mnt/one || mount /dev/mapper/one /mnt/one; md5sum /mnt/one/file",
            puts: &[("FILE", "/tmp/one.header")],
            first: "umount /mnt/one",
            clean: "umount /mnt/one; cryptsetup close one; uncut x1",
            ..FAULT
        },
        Fault {
            check: "encryption-flags",
            at: "inline",
            plant: "luks() { echo secret | cryptsetup luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \"$@\"; }; \
                cut x3 $D 100 32; luks --sector-size 4096 /dev/mapper/x3; \
                echo secret | cryptsetup open --allow-discards --perf-no_read_workqueue --perf-no_write_workqueue --persistent /dev/mapper/x3 inline; \
                noise /dev/mapper/inline 8",
            data: "md5sum < /dev/mapper/inline; dmsetup table inline | grep -c allow_discards",
            clean: "cryptsetup close inline; uncut x3",
            ..FAULT
        },
        Fault {
            check: "encryption-flags",
            at: "same",
            plant: "luks() { echo secret | cryptsetup luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \"$@\"; }; \
                cut a4 $A 0 32; cut b4 $B 0 32; mdadm --create /dev/md4 --quiet --run --level=0 --raid-devices=2 --chunk=64 /dev/mapper/a4 /dev/mapper/b4; \
                luks --sector-size 4096 /dev/md4; echo secret | cryptsetup open --perf-same_cpu_crypt /dev/md4 same; noise /dev/mapper/same 8",
            data: "md5sum < /dev/mapper/same",
            clean: "cryptsetup close same; mdadm --stop /dev/md4; uncut a4 b4",
            ..FAULT
        },
        Fault {
            check: "encryption-queues",
            at: "queued",
            plant: "luks() { echo secret | cryptsetup luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \"$@\"; }; \
                cut x5 $D 140 32; luks --sector-size 4096 /dev/mapper/x5; echo secret | cryptsetup open /dev/mapper/x5 queued; noise /dev/mapper/queued 8",
            data: "md5sum < /dev/mapper/queued",
            after: After::Stays("this guest's kernel may have the fault of the flags"),
            ..FAULT
        },
        Fault {
            check: "discard-blocked",
            at: "queued",
            data: "md5sum < /dev/mapper/queued",
            clean: "cryptsetup close queued; uncut x5",
            ..FAULT
        },
        Fault {
            check: "encryption-alignment",
            at: "crooked",
            plant: "luks() { echo secret | cryptsetup luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \"$@\"; }; \
                for n in a b c; do cut ${n}6 $(eval echo \\$${n^^}) 40 32; done; \
                mdadm --create /dev/md6 --quiet --run --level=5 --raid-devices=3 --assume-clean --chunk=64 /dev/mapper/[abc]6; \
                luks --sector-size 512 --offset 32776 /dev/md6; echo secret | cryptsetup open /dev/md6 crooked; noise /dev/mapper/crooked 8",
            data: "dd if=/dev/mapper/crooked bs=1M count=8 status=none | md5sum",
            first: "dd if=/dev/mapper/crooked of=/tmp/crooked bs=1M count=8 status=none",
            last: "echo secret | cryptsetup open /dev/md6 crooked; dd if=/tmp/crooked of=/dev/mapper/crooked bs=1M conv=fsync,notrunc status=none",
            clean: "cryptsetup close crooked; mdadm --stop /dev/md6; uncut a6 b6 c6",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "integrity-sector",
            at: "small",
            plant: "modprobe -a dm_integrity dm_delay; cut y1 $D 200 32; integritysetup format --batch-mode --sector-size 512 /dev/mapper/y1; \
                integritysetup open /dev/mapper/y1 small; noise /dev/mapper/small 8",
            data: "dd if=/dev/mapper/small bs=1M count=8 status=none | md5sum",
            first: "dd if=/dev/mapper/small of=/tmp/small bs=1M count=8 status=none",
            last: "integritysetup open /dev/mapper/y1 small; dd if=/tmp/small of=/dev/mapper/small bs=1M conv=fsync,notrunc status=none",
            clean: "integritysetup close small; uncut y1",
            ..FAULT
        },
        Fault {
            check: "integrity-direct",
            at: "direct",
            plant: "cut y2 $D 240 32; integritysetup format --batch-mode --sector-size 4096 /dev/mapper/y2; \
                integritysetup open --integrity-no-journal /dev/mapper/y2 direct; noise /dev/mapper/direct 8",
            data: "md5sum < /dev/mapper/direct",
            clean: "integritysetup close direct; uncut y2",
            ..FAULT
        },
        Fault {
            check: "integrity-journal",
            at: "journal",
            plant: "cut y3 $D 280 32; integritysetup format --batch-mode --sector-size 4096 /dev/mapper/y3; \
                integritysetup open /dev/mapper/y3 journal; noise /dev/mapper/journal 8",
            data: "md5sum < /dev/mapper/journal",
            clean: "integritysetup close journal; uncut y3",
            ..FAULT
        },
        Fault {
            check: "discard-blocked",
            at: "bitmap",
            plant: "cut y4 $D 320 32; integritysetup format --batch-mode --sector-size 4096 /dev/mapper/y4; \
                integritysetup open --integrity-bitmap-mode /dev/mapper/y4 bitmap; noise /dev/mapper/bitmap 8",
            data: "md5sum < /dev/mapper/bitmap; dmsetup table bitmap | awk '{print $7}'",
            clean: "integritysetup close bitmap; uncut y4",
            ..FAULT
        },
        Fault {
            check: "integrity-recalculating",
            at: "slow",
            plant: "cut y5 $D 360 128; integritysetup format --batch-mode --no-wipe --sector-size 4096 /dev/mapper/y5; \
                dmsetup create y6 --table '0 262144 delay /dev/mapper/y5 0 200'; \
                integritysetup open --integrity-bitmap-mode --integrity-recalculate /dev/mapper/y6 slow; \
                dmsetup suspend --nolockfs y6; dmsetup load y6 --table '0 262144 delay /dev/mapper/y5 0 3000'; dmsetup resume y6; dmsetup status slow",
            data: "md5sum < $C",
            first: "dmsetup suspend y6; dmsetup load y6 --table '0 262144 linear /dev/mapper/y5 0'; dmsetup resume y6; \
                for t in $(seq 60); do set $(dmsetup status slow); [ $6 = - ] || [ $6 = $5 ] && break; sleep 1; done",
            clean: "integritysetup close slow; uncut y6 y5",
            ..FAULT
        },
    ],
];
