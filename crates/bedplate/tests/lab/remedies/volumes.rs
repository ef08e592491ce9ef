//! Volumes of LVM, mappings, partitions, who is who.

use super::{FAULT, Fault};

pub(crate) const LAB: &str = r#"
memory = "3 GiB"
drives = [
    { name = "a", size = "12 GiB", lba = "512 B" },
    { name = "b", size = "2 GiB", lba = "512 B" },
    { name = "c", size = "2 GiB", lba = "512 B" },
    { name = "d", size = "2 GiB", lba = "4 KiB" },
    { name = "e", size = "64 MiB", lba = "512 B" },
    { name = "f", size = "64 MiB", lba = "4 KiB" },
    { name = "g", size = "64 MiB", lba = "512 B" },
]
"#;

pub(crate) const SCENES: &[&[Fault]] = &[
    &[
        Fault {
            check: "linear-volume",
            at: "lin/old",
            plant: "modprobe -a raid1 raid456 linear dm_thin_pool dm_snapshot; \
                cut la $A 11000 128; cut lb $B 1800 128; pvcreate -qq /dev/mapper/la /dev/mapper/lb; vgcreate -qq lin /dev/mapper/la /dev/mapper/lb; \
                lvcreate -qq --yes -L 64m -n old lin /dev/mapper/la; lvextend -qq -L 96m lin/old /dev/mapper/lb; noise /dev/lin/old 96",
            data: "cat /dev/lin/old /dev/lin/new 2> /dev/null | head -c 100663296 | md5sum",
            puts: &[("NEW", "new")],
            answers: "y",
            last: "dd if=/dev/lin/old of=/dev/lin/new bs=1M conv=fsync status=none; cmp -n 100663296 /dev/lin/old /dev/lin/new; lvremove -qq --yes lin/old",
            clean: "vgremove -qq --force lin; pvremove -qq /dev/mapper/la /dev/mapper/lb; uncut la lb",
            ..FAULT
        },
        Fault {
            check: "linear-volume",
            at: "md1",
            plant: "cut lc $A 140 32; cut ld $B 140 32; mdadm --create /dev/md1 --quiet --run --level=linear --raid-devices=2 /dev/mapper/lc /dev/mapper/ld; noise /dev/md1 16",
            data: "if [ -e /sys/block/md2 ]; then d=/dev/md2; else d=/dev/md1; fi; dd if=$d bs=1M count=16 status=none | md5sum",
            puts: &[("NEW", "/dev/md2")],
            answers: "y",
            first: "cat /dev/md1 > /tmp/md1",
            last: "dd if=/tmp/md1 of=/dev/md2 bs=1M count=16 conv=fsync status=none; cmp -n 16777216 /tmp/md1 /dev/md2",
            clean: "mdadm --stop /dev/md2; uncut lc ld",
            ..FAULT
        },
        Fault {
            check: "thin-pool-space",
            at: "thin-pool",
            plant: "cut t1 $A 180 256; pvcreate -qq /dev/mapper/t1; vgcreate -qq thin /dev/mapper/t1; \
                lvcreate -qq --yes --type thin-pool -L 32m -n pool thin; lvcreate -qq --yes -V 64m -T thin/pool -n vol; \
                mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/thin/vol; mkdir -p /mnt/thin; mount /dev/thin/vol /mnt/thin; noise /mnt/thin/file 22; lvs -a thin",
            data: "md5sum /mnt/thin/file",
            puts: &[("SIZE", "64m")],
            clean: "umount /mnt/thin; vgremove -qq --force thin; pvremove -qq /dev/mapper/t1; uncut t1",
            ..FAULT
        },
        Fault {
            check: "thin-pool-space",
            at: "many-pool",
            plant: "cut t2 $A 500 9800; pvcreate -qq /dev/mapper/t2; vgcreate -qq --physicalextentsize 1m many /dev/mapper/t2; \
                lvcreate -qq --yes --type thin-pool -L 9500m --chunksize 64k --poolmetadatasize 2m --zero n -n pool many; lvcreate -qq --yes -V 9000m -T many/pool -n vol; \
                holes() { fio --name=holes --filename=/dev/many/vol --rw=write:60k --bs=4k --offset=$1m --size=$2m --io_size=$(($2 / 16 - 1))m --direct=1 --ioengine=libaio --iodepth=32 --minimal > /dev/null; }; \
                holes 0 3700; at=3700; while set $(dmsetup status many-pool-tpool); [ ${5%/*} -lt 430 ] && [ $at -lt 7400 ]; do holes $at 400; at=$((at + 400)); done; lvs -a many; dmsetup status many-pool-tpool",
            data: "dd if=/dev/many/vol bs=1M count=64 status=none | md5sum",
            puts: &[("SIZE", "4m")],
            clean: "vgremove -qq --force many; pvremove -qq /dev/mapper/t2; uncut t2",
            ..FAULT
        },
        Fault {
            check: "snapshot-space",
            at: "snap/old",
            plant: "cut s1 $C 1800 128; pvcreate -qq /dev/mapper/s1; vgcreate -qq snap /dev/mapper/s1; lvcreate -qq --yes -L 32m -n vol snap; noise /dev/snap/vol 16; \
                lvcreate -qq --yes -s -L 12m -n old snap/vol; noise /dev/snap/vol 10; lvs snap",
            data: "md5sum < /dev/snap/vol; md5sum < /dev/snap/old",
            puts: &[("SIZE", "16m")],
            clean: "vgremove -qq --force snap; pvremove -qq /dev/mapper/s1; uncut s1",
            ..FAULT
        },
        Fault {
            check: "volume-group",
            at: "away",
            plant: "cut g1 $C 140 32; cut g2 $B 180 32; pvcreate -qq /dev/mapper/g1 /dev/mapper/g2; vgcreate -qq away /dev/mapper/g1 /dev/mapper/g2; \
                lvcreate -qq --yes -L 16m -n vol away /dev/mapper/g1; noise /dev/away/vol 16; uncut g2",
            data: "md5sum < /dev/away/vol",
            last: "cut g2 $B 180 32; pvs",
            clean: "vgremove -qq --force away; pvremove -qq /dev/mapper/g1 /dev/mapper/g2; uncut g1 g2",
            ..FAULT
        },
        Fault {
            check: "volume-group",
            at: "brim",
            // An area is as large as the alignment of the data behind it leaves it, and half of it can be written to.
            plant: "cut g3 $C 180 64; cut g4 $B 220 64; pvcreate -qq --dataalignment 64k --metadatasize 8k /dev/mapper/g3; vgcreate -qq brim /dev/mapper/g3; \
                lvcreate -qq --yes -L 16m -n vol brim; noise /dev/brim/vol 16; n=0; \
                while [ $(vgs --noheadings --nosuffix --units b -o vg_mda_free brim) -gt 5000 ]; do \
                n=$((n + 1)); vgchange -qq --addtag $(head -c 700 /dev/zero | tr '\\0' x)$n brim; done; vgs -o name,vg_mda_size,vg_mda_free brim",
            data: "md5sum < /dev/brim/vol",
            puts: &[("DEVICE", "/dev/mapper/g4")],
            answers: "y",
            clean: "vgremove -qq --force brim; pvremove -qq /dev/mapper/g3 /dev/mapper/g4; uncut g3 g4",
            ..FAULT
        },
        Fault {
            check: "volume-alignment",
            at: "md5",
            plant: "for n in a b c; do cut ${n}v $(eval echo \\$${n^^}) $([ $n = a ] && echo 5600 || echo 300) 64; done; \
                mdadm --create /dev/md5 --quiet --run --level=5 --raid-devices=3 --assume-clean --chunk=64 /dev/mapper/[abc]v; \
                cut other $C 1600 128; pvcreate -qq --dataalignment 68k /dev/md5; pvcreate -qq /dev/mapper/other; vgcreate -qq ali /dev/md5 /dev/mapper/other; \
                lvcreate -qq --yes -L 32m -n vol ali /dev/md5; noise /dev/ali/vol 16",
            data: "md5sum < /dev/ali/vol",
            answers: "y",
            between: ("pvcreate", "vgreduce -qq ali /dev/md5; pvremove -qq /dev/md5"),
            clean: "vgremove -qq --force ali; pvremove -qq /dev/mapper/other /dev/md5; mdadm --stop /dev/md5; uncut av bv cv other",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "partition-alignment",
            at: "$E",
            plant: "parted --script $E mklabel msdos unit s mkpart primary 63s 65599s mkpart primary 67584s 131071s; sleep 1; noise ${E}p1 16; noise ${E}p2 8",
            data: "dd if=${E}p1 bs=1M count=16 status=none | md5sum; md5sum < ${E}p2",
            first: "dd if=${E}p1 of=/tmp/part bs=1M count=16 status=none",
            last: "sleep 1; dd if=/tmp/part of=${E}p1 bs=1M conv=fsync status=none",
            clean: "dd if=/dev/zero of=$E bs=1M count=1 conv=fsync status=none; blockdev --rereadpt $E",
            ..FAULT
        },
        Fault {
            check: "logical-blocks-mixed",
            at: "md7",
            plant: "mdadm --create /dev/md7 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal $F $G; noise /dev/md7 16",
            data: "dd if=/dev/md7 bs=1M count=16 status=none | md5sum",
            puts: &[("DEVICE", "$G")],
            first: "dd if=/dev/md7 of=/tmp/md7 bs=1M count=16 status=none; mdadm --stop /dev/md7",
            last: "mdadm --create /dev/md7 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal $F $G; dd if=/tmp/md7 of=/dev/md7 bs=1M conv=fsync status=none",
            clean: "mdadm --stop /dev/md7; mdadm --zero-superblock $F $G",
            ..FAULT
        },
        Fault {
            check: "duplicate-uuid",
            at: "(ext4)",
            plant: "cut u1 $C 400 32; cut u2 $C 440 32; mkfs.ext4 -q /dev/mapper/u1; mkdir -p /mnt/u; mount /dev/mapper/u1 /mnt/u; noise /mnt/u/file 4; umount /mnt/u; dd if=/dev/mapper/u1 of=/dev/mapper/u2 bs=1M conv=fsync status=none",
            data: "for d in u1 u2; do mount -o ro /dev/mapper/$d /mnt/u; md5sum /mnt/u/file; umount /mnt/u; done",
            clean: "uncut u1 u2",
            puts: &[("COPY", "/dev/mapper/u2")],
            ..FAULT
        },
        Fault {
            check: "duplicate-uuid",
            at: "(xfs)",
            plant: "cut u3 $C 480 320; cut u4 $C 800 320; mkfs.xfs -q /dev/mapper/u3; mount /dev/mapper/u3 /mnt/u; noise /mnt/u/file 4; umount /mnt/u; dd if=/dev/mapper/u3 of=/dev/mapper/u4 bs=1M conv=fsync status=none",
            data: "for d in u3 u4; do mount -o ro /dev/mapper/$d /mnt/u; md5sum /mnt/u/file; umount /mnt/u; done",
            clean: "uncut u3 u4",
            puts: &[("COPY", "/dev/mapper/u4")],
            ..FAULT
        },
        Fault {
            check: "duplicate-uuid",
            at: "(swap)",
            plant: "cut u5 $C 1130 32; cut u6 $C 1170 32; mkswap -q /dev/mapper/u5; dd if=/dev/mapper/u5 of=/dev/mapper/u6 bs=1M conv=fsync status=none",
            data: "md5sum < /dev/mapper/u5",
            clean: "uncut u5 u6",
            puts: &[("COPY", "/dev/mapper/u6")],
            ..FAULT
        },
        Fault {
            check: "duplicate-uuid",
            at: "(crypto_LUKS)",
            plant: "cut u7 $C 1210 32; cut u8 $C 1250 32; echo secret | cryptsetup luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/mapper/u7; \
                echo secret | cryptsetup open /dev/mapper/u7 clone; noise /dev/mapper/clone 8; cryptsetup close clone; dd if=/dev/mapper/u7 of=/dev/mapper/u8 bs=1M conv=fsync status=none",
            data: "for d in u7 u8; do echo secret | cryptsetup open --readonly /dev/mapper/$d clone; md5sum < /dev/mapper/clone; cryptsetup close clone; done",
            answers: "YES",
            clean: "uncut u7 u8",
            puts: &[("COPY", "/dev/mapper/u8")],
            ..FAULT
        },
        Fault {
            check: "duplicate-uuid",
            at: "(LVM2_member)",
            plant: "cut u9 $C 1290 32; pvcreate -qq /dev/mapper/u9; vgcreate -qq twin /dev/mapper/u9; lvcreate -qq --yes -L 16m -n vol twin; noise /dev/twin/vol 8; vgchange -qq -an twin; \
                cut u10 $C 1330 32; dd if=/dev/mapper/u9 of=/dev/mapper/u10 bs=1M conv=fsync status=none",
            data: "dd if=/dev/mapper/u9 bs=1M skip=1 status=none | md5sum; dd if=/dev/mapper/u10 bs=1M skip=1 status=none | md5sum",
            clean: "uncut u9 u10",
            puts: &[("COPY", "/dev/mapper/u10")],
            ..FAULT
        },
        Fault {
            check: "leftover-signatures",
            at: "both",
            plant: "cut both $C 1380 32; mkfs.ext4 -q /dev/mapper/both; cut sb $C 1420 32; cut sc $C 1460 32; \
                mdadm --create /dev/md9 --quiet --run --level=1 --raid-devices=2 --assume-clean --metadata=1.2 /dev/mapper/sb /dev/mapper/sc; mdadm --stop /dev/md9; \
                dd if=/dev/mapper/sb of=/dev/mapper/both bs=4096 skip=1 seek=1 count=1 conv=fsync,notrunc status=none; uncut sb sc; \
                wipefs --no-act /dev/mapper/both",
            data: "mount -t ext4 -o ro /dev/mapper/both /mnt/u; find /mnt/u | md5sum; umount /mnt/u",
            puts: &[("OFFSET", "0x1000")],
            clean: "uncut both",
            ..FAULT
        },
    ],
    &[Fault {
        check: "mapping-suspended",
        at: "halted",
        plant: "cut halted $C 260 32; noise /dev/mapper/halted 8; md5sum < /dev/mapper/halted > /tmp/halted; cold; dmsetup suspend halted",
        data: "if dmsetup info halted | grep -q SUSPENDED; then cat /tmp/halted; else md5sum < /dev/mapper/halted; fi",
        clean: "uncut halted",
        ..FAULT
    }],
];
