//! States of drives in which they must not be touched, and what has to be found on each.

use claim::Class::{self, Holds, InUse};

/// Drives of the study in its order, and the serial numbers that the lab gives them.
pub(crate) const DRIVES: [(&str, &str); 4] = [("A", "BP00-a"), ("B", "BP01-b"), ("C", "BP02-c"), ("S", "BP03-s")];

/// A state that a drive can be in.
pub(crate) struct State {
    pub(crate) what: &'static str,
    /// Shell, with the nodes in `$A`, `$B`, `$C`, `$S`.
    pub(crate) prepare: &'static str,
    pub(crate) clean: &'static str,
    /// The drive that is looked at, as an index into [`DRIVES`].
    pub(crate) victim: usize,
    /// What has to be found, each with words of it.
    pub(crate) expect: &'static [(Class, &'static str)],
}

/// The same state in fewer lines.
const fn state(
    what: &'static str,
    victim: usize,
    expect: &'static [(Class, &'static str)],
    prepare: &'static str,
    clean: &'static str,
) -> State {
    State { what, prepare, clean, victim, expect }
}

/// Everything that can be the matter with a drive that is there and correctly named.
pub(crate) const STATES: [State; 38] = [
    state(
        "an ext4 at rest",
        0,
        &[(Holds, "ext4"), (Holds, "UUID"), (Holds, "label `old`"), (Holds, "last mounted at `/mnt/x`")],
        "mkfs.ext4 -q -F -L old -M /mnt/x $A",
        "",
    ),
    state(
        "a mounted ext4",
        0,
        &[(InUse, "mounted at `/mnt/x` (ext4)"), (InUse, "EBUSY"), (Holds, "ext4")],
        "mkfs.ext4 -q -F $A; mount -o ro $A /mnt/x",
        "umount /mnt/x",
    ),
    state(
        "mounted in another namespace only",
        0,
        &[(InUse, "mounted at `/mnt/x` (ext4)")],
        "mkfs.ext4 -q -F $A; setsid unshare --mount sh -c \"mount -o ro $A /mnt/x; exec sleep 600\" >/dev/null 2>&1 & \
         echo $! >/tmp/pid; for n in 1 2 3 4 5 6 7 8 9; do grep -q ext4 /proc/$(cat /tmp/pid)/mounts && break; sleep 0.2; done",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "mounted by a partition",
        0,
        &[(InUse, "p1: mounted at `/mnt/x`"), (Holds, "gpt"), (Holds, "p1: ext4")],
        "parted -s $A mklabel gpt mkpart x 1MiB 64MiB; mkfs.ext4 -q -F ${A}p1; mount -o ro ${A}p1 /mnt/x",
        "umount /mnt/x",
    ),
    state("an XFS at rest", 2, &[(Holds, "xfs"), (Holds, "UUID")], "mkfs.xfs -q $C", ""),
    state("swap in use", 0, &[(InUse, "swaps to it"), (InUse, "EBUSY")], "mkswap -q $A; swapon $A", "swapoff $A"),
    state("swap at rest", 0, &[(Holds, "swap")], "mkswap -q $A", ""),
    state(
        "a member of a running array",
        1,
        &[(InUse, "the array `md5`, raid1"), (InUse, "EBUSY"), (Holds, "linux_raid_member")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=1.2 --run $A $B; \
         mdadm --readonly /dev/md5; sleep 0.5",
        "mdadm --stop --quiet /dev/md5",
    ),
    state(
        "a member of a stopped array",
        0,
        &[(Holds, "linux_raid_member"), (Holds, "UUID"), (Holds, "of 2 devices")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=1.2 --run $A $B; \
         mdadm --stop --quiet /dev/md5",
        "",
    ),
    state(
        "an array's superblock at the end",
        1,
        &[(Holds, "linux_raid_member"), (Holds, "at byte 201318400")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=1.0 --run $A $B; \
         mdadm --stop --quiet /dev/md5",
        "",
    ),
    state(
        "an array's superblock of version 0.90",
        1,
        &[(Holds, "linux_raid_member")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=0.90 --run $A $B; \
         mdadm --stop --quiet /dev/md5",
        "",
    ),
    state(
        "a physical volume of no group",
        0,
        &[(Holds, "LVM2_member"), (Holds, "of no volume group")],
        "pvcreate -qq $A",
        "",
    ),
    state(
        "a physical volume at rest",
        0,
        &[(Holds, "LVM2_member"), (Holds, "of the volume group `tank`")],
        "pvcreate -qq $A; vgcreate -qq tank $A",
        "",
    ),
    state(
        "a physical volume in use",
        0,
        &[(InUse, "the logical volume `tank-one`"), (InUse, "EBUSY")],
        "pvcreate -qq $A; vgcreate -qq tank $A; lvcreate -qq --yes --name one --extents 4 tank",
        "vgchange -qq --activate n tank; vgremove -qq --force tank",
    ),
    state(
        "a LUKS header",
        0,
        &[(Holds, "crypto_LUKS"), (Holds, "LUKS2")],
        "echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $A -",
        "",
    ),
    state(
        "an opened LUKS",
        0,
        &[(InUse, "the opened encryption `secret`"), (InUse, "EBUSY"), (Holds, "crypto_LUKS")],
        "echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $A -; \
         echo k | cryptsetup open $A secret --key-file -",
        "cryptsetup close secret",
    ),
    state(
        "a LUKS2 whose first header is destroyed",
        0,
        &[(Holds, "crypto_LUKS"), (Holds, "first header is destroyed")],
        "echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $A -; \
         dd if=/dev/zero of=$A bs=4096 count=4 conv=fsync status=none",
        "",
    ),
    state(
        "a device of an imported pool",
        0,
        &[(InUse, "the imported pool `pond`"), (InUse, "EBUSY"), (Holds, "zfs_member")],
        "parted -s $A mklabel gpt mkpart z 1MiB 100%; zpool create -f -m none pond ${A}p1; zpool export pond; \
         zpool import -o readonly=on -d /dev pond",
        "zpool export pond",
    ),
    state(
        "a device of an exported pool",
        0,
        &[(Holds, "p1: zfs_member"), (Holds, "of the pool `pond`")],
        "parted -s $A mklabel gpt mkpart z 1MiB 100%; zpool create -f -m none pond ${A}p1; zpool export pond",
        "",
    ),
    state(
        "labels of a pool at the end only",
        1,
        &[(Holds, "zfs_member"), (Holds, "2 of 4 labels are left")],
        "parted -s $A mklabel gpt mkpart z 1MiB 191MiB; zpool create -f -m none pond ${A}p1; zpool export pond; \
         dd if=${A}p1 of=$B bs=512K skip=379 seek=383 count=1 conv=fsync status=none",
        "",
    ),
    state(
        "the second device of a mounted btrfs",
        1,
        &[(InUse, "the mounted btrfs"), (InUse, "EBUSY"), (Holds, "device 2 of 2")],
        "mkfs.btrfs -q -m raid1 -d raid1 $A $B; btrfs device scan $A $B; mount -o ro $A /mnt/x",
        "umount /mnt/x; btrfs device scan --forget",
    ),
    state("a GPT", 0, &[(Holds, "gpt, a partition table")], "parted -s $A mklabel gpt", ""),
    state(
        "a GPT whose primary is destroyed",
        0,
        &[(Holds, "gpt"), (Holds, "primary copy is destroyed")],
        "parted -s $A mklabel gpt; dd if=/dev/zero of=$A bs=512 count=34 conv=fsync status=none",
        "",
    ),
    state("an MBR", 3, &[(Holds, "dos, a partition table")], "parted -s $S mklabel msdos", ""),
    state(
        "an EFI system partition",
        0,
        &[(InUse, "EFI system partition")],
        "parted -s $A mklabel gpt mkpart e 1MiB 64MiB set 1 esp on",
        "",
    ),
    state(
        "a loop device on a blank drive",
        0,
        &[(InUse, "the loop device `loop7`")],
        "losetup /dev/loop7 $A",
        "losetup -d /dev/loop7",
    ),
    state(
        "opened by a program, as a virtual machine would",
        0,
        &[(InUse, "(`sleep`) has it open")],
        "setsid sleep 600 <$A >/dev/null 2>&1 & echo $! >/tmp/pid",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "opened by a program whose first thread has ended",
        0,
        &[(InUse, "(`perl`) has it open")],
        "setsid perl -Mthreads -e 'open(F, \"<\", $ARGV[0]) or die; threads->create(sub { sleep 600 })->detach; \
         syscall(60, 0)' $A </dev/null >/dev/null 2>&1 & \
         echo $! >/tmp/pid; for n in $(seq 50); do grep -q ' Z ' /proc/$(cat /tmp/pid)/stat && break; sleep 0.2; done; \
         grep -q ' Z ' /proc/$(cat /tmp/pid)/stat",
        "kill -9 $(cat /tmp/pid); sleep 0.2",
    ),
    state(
        "opened by its generic device, as a virtual machine may have a namespace",
        0,
        &[(InUse, "(`sleep`) has it open")],
        "setsid sleep 600 </dev/ng${A#/dev/nvme} >/dev/null 2>&1 & echo $! >/tmp/pid",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "opened by its controller",
        0,
        &[(InUse, "(`sleep`) has it open")],
        "setsid sleep 600 <${A%n*} >/dev/null 2>&1 & echo $! >/tmp/pid",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "opened by its generic device, as a virtual machine gets a SCSI disk",
        3,
        &[(InUse, "(`sleep`) has it open")],
        "modprobe sg; n=$(ls /sys/class/block/${S#/dev/}/device/scsi_generic); [ -e /dev/$n ]; \
         setsid sleep 600 </dev/$n >/dev/null 2>&1 & echo $! >/tmp/pid",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "behind a USB gadget",
        0,
        &[(InUse, "the USB gadget `stick` says it is its own")],
        "modprobe usb_f_mass_storage; c=/sys/kernel/config; mountpoint -q $c || mount -t configfs configfs $c; \
         mkdir -p $c/usb_gadget/stick/functions/mass_storage.0; echo $A >$c/usb_gadget/stick/functions/mass_storage.0/lun.0/file",
        "cd /sys/kernel/config/usb_gadget; echo >stick/functions/mass_storage.0/lun.0/file; rmdir stick/functions/mass_storage.0 stick",
    ),
    state(
        "behind an NVMe target",
        0,
        &[(InUse, "the NVMe target `away` says it is its own")],
        "modprobe nvmet; c=/sys/kernel/config; mountpoint -q $c || mount -t configfs configfs $c; \
         mkdir -p $c/nvmet/subsystems/away/namespaces/1; cd $c/nvmet/subsystems/away/namespaces/1; \
         ln -s $A /tmp/away; printf /tmp/away >device_path; echo 1 >enable",
        "cd /sys/kernel/config/nvmet/subsystems; echo 0 >away/namespaces/1/enable; rmdir away/namespaces/1 away; rm /tmp/away",
    ),
    state(
        "the file of a SCSI target",
        0,
        &[(InUse, "the SCSI target `one` says it is its own")],
        "modprobe target_core_file; c=/sys/kernel/config; mountpoint -q $c || mount -t configfs configfs $c; \
         mkdir -p $c/target/core/fileio_0/one; cd $c/target/core/fileio_0/one; echo fd_dev_name=$A,fd_dev_size=67108864 >control; echo 1 >enable",
        "cd /sys/kernel/config/target/core; rmdir fileio_0/one fileio_0",
    ),
    state(
        "opened by a program for itself alone",
        0,
        &[(InUse, "EBUSY"), (InUse, "(`perl`) has it open")],
        "setsid perl -e 'use Fcntl; sysopen(F, $ARGV[0], O_RDONLY | O_EXCL) or die; sleep 600' $A </dev/null >/dev/null 2>&1 & \
         echo $! >/tmp/pid; for n in $(seq 50); do ls -l /proc/$(cat /tmp/pid)/fd | grep -q $A && break; sleep 0.2; done",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "locked by a program",
        0,
        &[(InUse, "locked by another program")],
        "setsid flock --exclusive $A sleep 600 </dev/null >/dev/null 2>&1 & \
         echo $! >/tmp/pid; for n in $(seq 50); do flock --nonblock $A true || break; sleep 0.2; done",
        "kill -- -$(cat /tmp/pid)",
    ),
    state(
        "data without a header",
        0,
        &[(Holds, "data nobody knows"), (Holds, "encrypted or compressed")],
        "dd if=/dev/urandom of=$A bs=1M seek=24 count=12 conv=fsync status=none",
        "",
    ),
    state(
        "a mapping on a blank drive",
        0,
        &[(InUse, "the mapping `held`"), (InUse, "EBUSY")],
        "echo 0 2048 linear $A 0 | dmsetup create held",
        "dmsetup remove held",
    ),
];
