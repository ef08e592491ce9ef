//! ZFS.

use super::{FAULT, Fault};

pub(crate) const LAB: &str = r#"
memory = "4 GiB"
drives = [
    { name = "a", size = "4 GiB", lba = "512 B" },
    { name = "b", size = "4 GiB", lba = "512 B" },
    { name = "c", size = "4 GiB", lba = "512 B" },
]
"#;

pub(crate) const SCENES: &[&[Fault]] = &[
    &[
        Fault {
            check: "zfs-version",
            plant: "modprobe zfs; cat /sys/module/zfs/version; cut base $A 0 512; zpool create -o ashift=12 -O compression=off base /dev/mapper/base; noise /base/file 16; zpool sync base",
            data: "md5sum /base/file",
            ..FAULT
        },
        Fault {
            check: "zfs-sync-disabled",
            at: "base",
            plant: "zfs set sync=disabled base",
            data: "md5sum /base/file",
            ..FAULT
        },
        Fault {
            check: "zfs-sync-disabled",
            at: "caches of drives",
            plant: "echo 1 > /sys/module/zfs/parameters/zfs_nocacheflush",
            data: "md5sum /base/file",
            ..FAULT
        },
        Fault {
            check: "zfs-record-amplification",
            at: "base",
            plant: "zfs set primarycache=metadata base",
            data: "md5sum /base/file",
            ..FAULT
        },
        Fault {
            check: "zfs-cache-limit",
            plant: "echo 134217728 > /sys/module/zfs/parameters/zfs_arc_max; grep c_max /proc/spl/kstat/zfs/arcstats",
            data: "md5sum /base/file",
            ..FAULT
        },
        Fault {
            check: "zfs-volume-padding",
            at: "pad/vol",
            plant: "cut z1 $B 0 256; cut z2 $B 256 256; cut z3 $B 512 256; cut z4 $B 768 256; zpool create -o ashift=12 pad raidz1 /dev/mapper/z1 /dev/mapper/z2 /dev/mapper/z3 /dev/mapper/z4; \
                zfs create -V 32m -o volblocksize=8k pad/vol; zpool sync pad; mkdir -p /dev/zvol/pad; ln -s /dev/zd0 /dev/zvol/pad/vol; ln -s /dev/zd16 /dev/zvol/pad/vol-new; dd if=/dev/urandom of=/dev/zd0 bs=1M count=16 conv=fsync status=none",
            data: "cat $(ls /dev/zd* | head -1) | md5sum; zfs list -H -o name pad/vol",
            puts: &[("SIZE", "32m")],
            last: "dd if=/dev/zvol/pad/vol of=/dev/zvol/pad/vol-new bs=1M conv=fsync status=none; cmp /dev/zvol/pad/vol /dev/zvol/pad/vol-new; zfs destroy pad/vol; zfs rename pad/vol-new pad/vol",
            clean: "zpool destroy pad; uncut z1 z2 z3 z4",
            ..FAULT
        },
        Fault {
            check: "zfs-pool-space",
            at: "full",
            plant: "cut zf $B 3000 1024; zpool create -o ashift=12 -O compression=off full /dev/mapper/zf; noise /full/file 4; dd if=/dev/zero of=/full/ballast bs=1M count=790 status=none; zpool sync full; zpool list full",
            data: "md5sum /full/file",
            last: "rm /full/ballast; zpool sync full",
            clean: "zpool destroy full; uncut zf",
            ..FAULT
        },
    ],
    &[
        Fault {
            check: "swap-on-zfs",
            plant: "cut sw $B 3400 256; zpool create -o ashift=12 swp /dev/mapper/sw; noise /swp/file 4; zfs create -V 64m -o volblocksize=4k swp/swap; zpool sync swp; \
                mkswap -q /dev/zd0; swapon /dev/zd0",
            data: "md5sum /swp/file",
            clean: "zpool destroy swp; uncut sw",
            ..FAULT
        },
        Fault {
            check: "zfs-pool-state",
            at: "away",
            plant: "cut a1 $B 1300 128; cut a2 $C 1300 128; zpool create -o ashift=12 away mirror /dev/mapper/a1 /dev/mapper/a2; noise /away/file 8; zpool offline away /dev/mapper/a2; noise /away/more 8",
            data: "md5sum /away/file /away/more",
            leaves: &["zpool replace"],
            last: "zpool wait -t resilver away",
            clean: "zpool destroy away; uncut a1 a2",
            ..FAULT
        },
        Fault {
            check: "zfs-pool-state",
            at: "gone",
            plant: "for n in 1 2 3; do cut g$n $C $((1300 + n * 130)) 128; done; zpool create -o ashift=12 gone mirror /dev/mapper/g1 /dev/mapper/g2; noise /gone/file 8; zpool offline gone /dev/mapper/g2",
            data: "md5sum /gone/file",
            puts: &[("NEW", "/dev/mapper/g3")],
            leaves: &["zpool online"],
            last: "zpool wait -t resilver gone",
            clean: "zpool destroy gone; uncut g1 g2 g3",
            ..FAULT
        },
        Fault {
            check: "zfs-pool-state",
            at: "bits",
            plant: "cut b1 $B 1800 128; cut b2 $C 1800 128; zpool create -o ashift=12 -O compression=off bits mirror /dev/mapper/b1 /dev/mapper/b2; noise /bits/file 40; zpool sync bits; zpool export bits; \
                dd if=/dev/urandom of=/dev/mapper/b2 bs=1M seek=10 count=20 oflag=direct status=none; zpool import -d /dev/mapper bits; zpool scrub -w bits; zpool status bits",
            data: "md5sum /bits/file",
            clean: "zpool destroy bits; uncut b1 b2",
            ..FAULT
        },
        Fault {
            check: "zfs-special-redundancy",
            at: "special",
            plant: "for n in 1 2 3 4; do cut s$n $B $((2000 + n * 130)) 128; done; zpool create -o ashift=12 -f special mirror /dev/mapper/s1 /dev/mapper/s2 special /dev/mapper/s3; noise /special/file 8",
            data: "md5sum /special/file",
            puts: &[("NEW", "/dev/mapper/s4")],
            last: "zpool wait -t resilver special",
            clean: "zpool destroy special; uncut s1 s2 s3 s4",
            ..FAULT
        },
        Fault {
            check: "zfs-ashift",
            at: "nine",
            plant: "modprobe sd_mod; modprobe scsi_debug dev_size_mb=128 physblk_exp=3; sleep 3; s=$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/* | xargs basename); cat /sys/block/$s/queue/physical_block_size; \
                cut n9 /dev/$s 0 120; zpool create -o ashift=9 nine /dev/mapper/n9; zfs create nine/data; noise /nine/data/file 16; cut o1 $C 2600 256; zpool create -o ashift=12 other /dev/mapper/o1",
            data: "md5sum /nine/data/file",
            puts: &[("OTHER", "other")],
            between: (
                "zpool create",
                "cmp /nine/data/file /other/nine/data/file || { zfs mount other/nine; zfs mount other/nine/data; ls -R /other; }; zpool destroy nine",
            ),
            clean: "zpool destroy nine || true; zpool destroy other; uncut o1 n9",
            ..FAULT
        },
    ],
];
