//! Settings of drives and formats of their blocks.

use super::{After, FAULT, Fault};

pub(crate) const LAB: &str = r#"
memory = "2 GiB"
drives = [
    { name = "a", size = "32 MiB", lba = "512 B" },
    { name = "b", size = "32 MiB", lba = "512 B" },
    { name = "c", size = "32 MiB", lba = "512 B" },
    { name = "d", size = "32 MiB", lba = "4 KiB" },
    { name = "e", size = "32 MiB", lba = "4 KiB" },
    { name = "s", kind = "sata", size = "64 MiB" },
    { name = "t", kind = "sata", size = "64 MiB" },
    { name = "u", kind = "sata", size = "64 MiB" },
]
"#;

/// One time that doctor looks, and looks again.
pub(crate) const SCENES: &[&[Fault]] = &[&[
    Fault {
        check: "scheduler",
        at: "$A",
        plant: "noise $A 16; echo mq-deadline > /sys/block/$(name $A)/queue/scheduler",
        data: "md5sum $A",
        ..FAULT
    },
    Fault {
        check: "write-cache-off",
        at: "$B",
        plant: "noise $B 16; nvme set-feature ${B%n1} --feature-id=6 --value=0",
        data: "md5sum $B",
        ..FAULT
    },
    Fault {
        check: "write-cache-off",
        at: "$S",
        plant: "noise $S 16; hdparm -W 0 $S; echo 1 > /sys/block/$(name $S)/device/rescan",
        data: "md5sum $S",
        ..FAULT
    },
    Fault {
        check: "write-cache-belief",
        at: "$E",
        plant: "noise $E 16; echo write through > /sys/block/$(name $E)/queue/write_cache",
        data: "md5sum $E",
        ..FAULT
    },
    Fault {
        check: "lba-format",
        at: "$C",
        plant: "noise $C 16",
        data: "md5sum $C",
        first: "cat $C > /tmp/lba-format",
        last: "dd if=/tmp/lba-format of=$C bs=1M conv=fsync status=none; blockdev --flushbufs $C",
        ..FAULT
    },
    Fault {
        check: "lba-metadata",
        at: "$D",
        plant: "nvme format $D --lbaf=5 --force; blockdev --getsize64 $D; noise $D 16; blockdev --flushbufs $D",
        data: "dd if=$D bs=1M count=16 status=none | md5sum",
        first: "dd if=$D of=/tmp/lba-metadata bs=1M count=16 status=none",
        last: "dd if=/tmp/lba-metadata of=$D bs=1M conv=fsync status=none; blockdev --flushbufs $D",
        ..FAULT
    },
    Fault {
        check: "recovery-time-out",
        at: "$T",
        plant: "modprobe raid1; for d in $T $U; do echo 1 > /sys/block/$(name $d)/queue/rotational; done; mdadm --create /dev/md1 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal $T $U; noise /dev/md1 16",
        data: "md5sum /dev/md1",
        clean: "mdadm --stop /dev/md1; mdadm --zero-superblock $T $U",
        ..FAULT
    },
    Fault {
        check: "read-write-errors",
        plant: "modprobe dm_mod; echo '0 8192 error' | dmsetup create broken; ! dd if=/dev/mapper/broken of=/dev/null count=8 2>/dev/null",
        data: "md5sum $A",
        after: After::Stays("the kernel keeps its messages until the next start"),
        clean: "uncut broken",
        ..FAULT
    },
]];
