//! File systems, swap, loop devices, files in which drives are named, paths over a network.

use super::{After, FAULT, Fault};

pub(crate) const LAB: &str = r#"
memory = "3 GiB"
drives = [
    { name = "a", size = "4 GiB", lba = "512 B" },
    { name = "b", size = "4 GiB", lba = "512 B" },
    { name = "c", size = "4 GiB", lba = "512 B" },
    { name = "d", size = "4 GiB", lba = "512 B" },
]
"#;

const LOG: &str = "the kernel keeps its messages until the next start";

pub(crate) const SCENES: &[&[Fault]] = &[
    &[
        Fault {
            check: "ext4-geometry",
            at: "/mnt/e",
            plant: "modprobe -a raid0 raid1 raid456 loop xfs btrfs; mkdir -p /mnt/e /mnt/x /mnt/o /mnt/f; cut e1 $A 0 64; cut e2 $B 0 64; \
                mdadm --create /dev/md1 --quiet --run --level=0 --raid-devices=2 --chunk=64 /dev/mapper/e1 /dev/mapper/e2; \
                mkfs.ext4 -q -E stride=4,stripe_width=4 /dev/md1; mount /dev/md1 /mnt/e; noise /mnt/e/file 16",
            data: "md5sum /mnt/e/file",
            clean: "umount /mnt/e; mdadm --stop /dev/md1; uncut e1 e2",
            ..FAULT
        },
        Fault {
            check: "xfs-geometry",
            at: "/mnt/x",
            plant: "for n in a b c; do cut x$n $(eval echo \\$${n^^}) 100 320; done; \
                mdadm --create /dev/md2 --quiet --run --level=5 --raid-devices=3 --assume-clean --chunk=64 /dev/mapper/x[abc]; \
                mkfs.xfs -q -d su=64k,sw=1 /dev/md2; mount /dev/md2 /mnt/x; noise /mnt/x/file 16",
            data: "md5sum /mnt/x/file",
            ..FAULT
        },
        Fault {
            check: "discard-blocked",
            at: "md2",
            data: "md5sum /mnt/x/file",
            last: "umount /mnt/x; mdadm --stop /dev/md2; modprobe -r raid456; modprobe raid456; mdadm --assemble /dev/md2 /dev/mapper/x[abc]; mount /dev/md2 /mnt/x",
            ..FAULT
        },
        Fault {
            check: "barriers-off",
            at: "/mnt/o",
            plant: "cut o $A 500 64; mkfs.ext4 -q /dev/mapper/o; mount -o barrier=0 /dev/mapper/o /mnt/o; noise /mnt/o/file 16",
            data: "md5sum /mnt/o/file",
            ..FAULT
        },
        Fault {
            check: "loop-buffered",
            at: "loop0",
            plant: "noise /mnt/o/image 16; losetup /dev/loop0 /mnt/o/image",
            data: "md5sum < /dev/loop0",
            clean: "losetup --detach /dev/loop0; umount /mnt/o; uncut o",
            ..FAULT
        },
        Fault {
            check: "swap-on-mirror",
            plant: "cut w1 $A 600 32; cut w2 $B 600 32; mdadm --create /dev/md3 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/w1 /dev/mapper/w2; \
                mkswap -q /dev/md3; swapon /dev/md3",
            data: "dd if=/dev/md3 bs=4k count=1 status=none | md5sum",
            clean: "mdadm --stop /dev/md3; uncut w1 w2",
            ..FAULT
        },
        Fault {
            check: "file-system-space",
            at: "/mnt/f",
            plant: "cut f $A 650 64; mkfs.ext4 -q /dev/mapper/f; mount /dev/mapper/f /mnt/f; noise /mnt/f/file 4; mkdir /mnt/f/ballast; noise /mnt/f/ballast/much 46; df -P /mnt/f",
            data: "md5sum /mnt/f/file",
            last: "rm -r /mnt/f/ballast; sync",
            ..FAULT
        },
        Fault {
            check: "kernel-names-in-files",
            at: "fstab",
            plant: "echo '/dev/nvme0n1 /mnt/nowhere ext4 noauto 0 0' >> /etc/fstab",
            data: "md5sum /mnt/f/file",
            last: "sed -i /nowhere/d /etc/fstab",
            clean: "umount /mnt/f; uncut f",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "btrfs-metadata-single",
            at: "/mnt/b1",
            plant: "mkdir -p /mnt/b1 /mnt/b2 /mnt/b3 /mnt/b4 /mnt/b5 /mnt/b6; cut m1 $A 1000 256; cut m2 $B 1000 256; mkfs.btrfs -q -d single -m single /dev/mapper/m1 /dev/mapper/m2; \
                mount /dev/mapper/m1 /mnt/b1; noise /mnt/b1/file 16",
            data: "md5sum /mnt/b1/file",
            clean: "umount /mnt/b1; wipefs -aq /dev/mapper/m1 /dev/mapper/m2; uncut m1 m2",
            ..FAULT
        },
        Fault {
            check: "btrfs-parity",
            at: "/mnt/b2",
            plant: "for n in a b c; do cut p$n $(eval echo \\$${n^^}) 1300 256; done; mkfs.btrfs -q -d raid1 -m raid5 /dev/mapper/p[abc]; mount /dev/mapper/pa /mnt/b2; noise /mnt/b2/file 16",
            data: "md5sum /mnt/b2/file",
            clean: "umount /mnt/b2; wipefs -aq /dev/mapper/p[abc]; uncut pa pb pc",
            ..FAULT
        },
        Fault {
            check: "btrfs-mixed-profiles",
            at: "/mnt/b3",
            plant: "cut q1 $A 1600 512; cut q2 $B 1600 512; mkfs.btrfs -q -d single -m raid1 /dev/mapper/q1 /dev/mapper/q2; mount /dev/mapper/q1 /mnt/b3; \
                noise /mnt/b3/file 16; noise /mnt/b3/more 100; btrfs balance start -dconvert=raid1,limit=1 /mnt/b3; btrfs filesystem df /mnt/b3; ls -d /sys/fs/btrfs/*/allocation/data/*",
            data: "md5sum /mnt/b3/file /mnt/b3/more",
            clean: "umount /mnt/b3; wipefs -aq /dev/mapper/q1 /dev/mapper/q2; uncut q1 q2",
            ..FAULT
        },
        Fault {
            check: "btrfs-no-checksums",
            at: "/mnt/b4",
            plant: "cut n1 $C 1600 128; mkfs.btrfs -q /dev/mapper/n1; echo '/dev/mapper/n1 /mnt/b4 btrfs nodatasum 0 0' >> /etc/fstab; mount /mnt/b4; noise /mnt/b4/file 16",
            data: "md5sum /mnt/b4/file",
            first: "sed -i s/nodatasum/defaults/ /etc/fstab",
            clean: "umount /mnt/b4; sed -i /b4/d /etc/fstab; wipefs -aq /dev/mapper/n1; uncut n1",
            ..FAULT
        },
        Fault {
            check: "btrfs-device-errors",
            at: "/mnt/b5",
            plant: "cut r1 $A 2200 256; cut r2 $B 2200 256; mkfs.btrfs -q -d raid1 -m raid1 /dev/mapper/r1 /dev/mapper/r2; mount /dev/mapper/r1 /mnt/b5; noise /mnt/b5/file 16; umount /mnt/b5; \
                for part in \"5 58\" \"66 180\"; do set $part; dd if=/dev/urandom of=/dev/mapper/r2 bs=1M seek=$1 count=$2 oflag=direct status=none; done; mount /dev/mapper/r1 /mnt/b5; \
                btrfs scrub start -B /mnt/b5 || true; btrfs device stats /mnt/b5",
            data: "md5sum /mnt/b5/file",
            clean: "umount /mnt/b5; wipefs -aq /dev/mapper/r1 /dev/mapper/r2; uncut r1 r2",
            ..FAULT
        },
        Fault {
            check: "btrfs-device-missing",
            at: "/mnt/b6",
            plant: "cut s1 $A 2500 256; cut s2 $B 2500 256; cut s3 $C 2500 256; mkfs.btrfs -q -d raid1 -m raid1 /dev/mapper/s1 /dev/mapper/s2; mount /dev/mapper/s1 /mnt/b6; noise /mnt/b6/file 16; umount /mnt/b6; \
                btrfs device scan --forget; uncut s2; mount -o degraded /dev/mapper/s1 /mnt/b6",
            data: "md5sum /mnt/b6/file",
            puts: &[("NEW", "/dev/mapper/s3")],
            last: "for t in $(seq 60); do btrfs replace status -1 /mnt/b6 | grep -q finished && break; sleep 1; done; btrfs replace status -1 /mnt/b6",
            clean: "umount /mnt/b6; wipefs -aq /dev/mapper/s1 /dev/mapper/s3; uncut s1 s3",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "went-read-only",
            plant: "mkdir -p /mnt/ro; cut ro $D 0 64; mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/ro; mount -o errors=remount-ro /dev/mapper/ro /mnt/ro; noise /mnt/ro/file 8; sync; \
                dmsetup suspend --nolockfs ro; dmsetup load ro --table '0 131072 error'; dmsetup resume ro; noise /mnt/ro/more 4 || true; sync || true; ls /mnt/ro || true; \
                dmsetup suspend --nolockfs ro; dmsetup load ro --table \"0 131072 linear $D 0\"; dmsetup resume ro; umount /mnt/ro; dmesg | tail -5",
            data: "mount -o ro /dev/mapper/ro /mnt/ro; md5sum /mnt/ro/file; umount /mnt/ro",
            puts: &[("DEVICE", "/dev/mapper/ro")],
            after: After::Stays(LOG),
            clean: "uncut ro",
            ..FAULT
        },
        Fault {
            check: "drive-went-away",
            plant: "echo '<3>nvme nvme9: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff' > /dev/kmsg",
            data: "md5sum < /dev/mapper/ro",
            after: After::Stays(LOG),
            ..FAULT
        },
        Fault {
            check: "drives-hidden",
            at: "cached",
            plant: "cut c1 $A 3000 128; cut c2 $B 3000 64; pvcreate -qq /dev/mapper/c1 /dev/mapper/c2; vgcreate -qq cached /dev/mapper/c1 /dev/mapper/c2; \
                lvcreate -qq --yes -L 64m -n vol cached /dev/mapper/c1; lvcreate -qq --yes --type cache -L 24m -n fast cached/vol /dev/mapper/c2; noise /dev/cached/vol 16",
            data: "md5sum < /dev/cached/vol",
            after: After::Stays("a cache is no fault: what it hides is told"),
            clean: "vgremove -qq --force cached; pvremove -qq /dev/mapper/c1 /dev/mapper/c2; uncut c1 c2",
            ..FAULT
        },
    ],
];
