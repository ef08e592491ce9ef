//! What somebody chose, or let go too far: caches, mirrors of two kinds, modes of mounts, properties of datasets.

use super::{FAULT, Fault};

pub(crate) const SCENES: &[&[Fault]] = &[
    &[
        Fault {
            check: "data-writeback",
            at: "/mnt/j",
            plant: "modprobe -a raid1 dm_cache dm_cache_smq zfs; mkdir -p /mnt/j; cut j $A 0 64; mkfs.ext4 -q /dev/mapper/j; \
                echo '/dev/mapper/j /mnt/j ext4 data=writeback 0 0' >> /etc/fstab; mount /mnt/j; noise /mnt/j/file 16",
            data: "md5sum /mnt/j/file",
            between: ("umount", "sed -i 's/data=writeback/defaults/' /etc/fstab"),
            clean: "umount /mnt/j; sed -i '/mapper.j/d' /etc/fstab; uncut j",
            ..FAULT
        },
        Fault {
            check: "array-mixed-media",
            at: "md7",
            plant: "cut k1 $A 100 64; cut k2 $B 100 64; echo 1 > /sys/block/$(name $B)/queue/rotational; \
                mdadm --create /dev/md7 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/k1 /dev/mapper/k2; \
                noise /dev/md7 16",
            data: "md5sum /dev/md7",
            clean: "mdadm --stop /dev/md7; uncut k1 k2; echo 0 > /sys/block/$(name $B)/queue/rotational",
            ..FAULT
        },
        Fault {
            check: "cache-state",
            at: "hot",
            plant: "cut h1 $A 200 128; cut h2 $C 200 128; cut h3 $B 200 64; pvcreate -qq /dev/mapper/h[123]; vgcreate -qq hot /dev/mapper/h[123]; \
                lvcreate -qq --yes --type raid1 -m1 --nosync -L 64m -n vol hot /dev/mapper/h1 /dev/mapper/h2; \
                lvcreate -qq --yes -L 32m -n fast hot /dev/mapper/h3; \
                lvconvert -qq --yes --type cache --cachemode writeback --cachevol fast hot/vol; noise /dev/hot/vol 16; dmsetup status hot-vol",
            data: "md5sum /dev/hot/vol",
            clean: "vgremove -qq -fy hot; pvremove -qq /dev/mapper/h[123]; uncut h1 h2 h3",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "zfs-special-all-data",
            at: "own",
            plant: "cut p1 $A 600 256; cut p2 $B 600 256; cut p3 $A 900 128; cut p4 $B 900 128; \
                zpool create -o ashift=12 own mirror /dev/mapper/p1 /dev/mapper/p2 special mirror /dev/mapper/p3 /dev/mapper/p4; \
                zfs set special_small_blocks=128K own; noise /own/file 16; zpool sync own",
            data: "md5sum /own/file",
            ..FAULT
        },
        Fault {
            check: "zfs-dedup",
            at: "own",
            plant: "zfs set dedup=on own; noise /own/again 4; zpool sync own",
            data: "md5sum /own/file /own/again",
            clean: "zpool destroy own; uncut p1 p2 p3 p4",
            ..FAULT
        },
    ],
];
