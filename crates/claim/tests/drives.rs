//! May this drive be touched? Every kind of use and content, on a machine that is a model.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

use claim::{
    ClaimError, Class, Consent, Examination, Ours, Permission, candidates, confirm, examine, reclaim, resolve,
};
use fake::{FakeFault, FakeMachine};
use host::Host;
use terms::Bytes;

const A: &str = "/dev/nvme0n1";
const B: &str = "/dev/nvme1n1";
const S: &str = "/dev/sda";

/// Two NVMe drives, a SATA drive and a RAM drive.
fn machine() -> FakeMachine {
    let machine = FakeMachine::new();
    machine.nvme(Bytes::mib(256), Bytes::kib(4));
    machine.nvme(Bytes::mib(256), Bytes(512));
    machine.sata(Bytes::mib(256));
    machine.ram(Bytes::mib(16));
    machine
}

fn id(machine: &FakeMachine, node: &str) -> String {
    let drives = host::inspect::drives(machine).unwrap();
    claim::id_of(drives.iter().find(|drive| drive.node() == node).unwrap()).unwrap()
}

fn examined(machine: &FakeMachine, node: &str) -> Examination {
    examine(machine, &resolve(machine, &id(machine, node)).unwrap()).unwrap()
}

fn consent(machine: &FakeMachine, named: &[&str], erased: &[&str]) -> Consent {
    let ids = |nodes: &[&str]| nodes.iter().map(|node| id(machine, node)).collect::<Vec<_>>();
    Consent::given(machine, &ids(named), &ids(erased)).unwrap()
}

/// What is done to a machine, the gravest that is found of drive `A`, and words of it.
type Case = (&'static str, fn(&FakeMachine), Class, &'static [&'static str]);

/// What a look into processes says of a character device that is open.
const WAY: &[u8] = b"char 15:0 /proc/12/fd/3\nchar 1:8 /proc/12/fd/4\nrights 000001ffffffffff\n\
                     within pid:[4026531836]\nnamespace 4026531841 /proc/1/ns/mnt\nend";

/// Where a container says that its own root is.
const IN_A_CONTAINER: &str = "922 921 0:50 / / rw - overlay overlay rw";

const CASES: &[Case] = &[
    ("ext4", |m| drop(m.line("mkfs.ext4 /dev/nvme0n1")), Class::Holds, &["ext4, UUID"]),
    ("XFS", |m| drop(m.line("mkfs.xfs /dev/nvme0n1")), Class::Holds, &["xfs"]),
    (
        "btrfs, not mounted",
        |m| drop(m.line("mkfs.btrfs --data single --uuid 1-2 /dev/nvme0n1")),
        Class::Holds,
        &["btrfs"],
    ),
    (
        "LUKS",
        |m| drop(m.line("cryptsetup luksFormat --uuid 12-34 /dev/nvme0n1")),
        Class::Holds,
        &["crypto_LUKS, encryption"],
    ),
    ("dm-integrity", |m| drop(m.line("integritysetup format /dev/nvme0n1")), Class::Holds, &["DM_integrity"]),
    (
        "a physical volume",
        |m| drop(m.line("pvcreate /dev/nvme0n1")),
        Class::Holds,
        &["LVM2_member", "of no volume group"],
    ),
    (
        "one of a group",
        |m| {
            m.line("pvcreate /dev/nvme0n1");
            m.line("vgcreate theirs /dev/nvme0n1");
            m.line("lvcreate --yes --activate n --size 16777216b --name photos theirs");
        },
        Class::Holds,
        &["of the volume group `theirs`, with `photos`"],
    ),
    (
        "a bcache that is not registered",
        |m| drop(m.line("make-bcache --cache /dev/nvme0n1")),
        Class::Holds,
        &["bcache"],
    ),
    (
        "a partition table and what is on a partition",
        |m| {
            m.line("parted --script /dev/nvme0n1 mklabel gpt mkpart x 1MiB 100%");
            m.line("mkfs.ext4 /dev/nvme0n1p1");
        },
        Class::Holds,
        &["gpt, a partition table", "/dev/nvme0n1p1: ext4"],
    ),
    (
        "a cache of a dm-writecache that is not open",
        |m| m.poke(A, 0, &0x2348_9321_u32.to_le_bytes()),
        Class::Holds,
        &["DM_writecache, the cache of a dm-writecache, which may hold writes that are nowhere else, at byte 0"],
    ),
    (
        "what is in a thin pool, without the pool",
        |m| m.poke(A, 32, &27_022_010_u64.to_le_bytes()),
        Class::Holds,
        &["DM_thin_metadata, where the device mapper keeps what is in a thin pool"],
    ),
    ("data nobody knows", |m| m.poke(A, 4096 * 9, &[7; 64]), Class::Holds, &["data nobody knows"]),
    // An erasing writes over all of it.
    (
        "data nobody knows between the last place of a mark and the end",
        |m| m.poke(A, Bytes::mib(256).0 - 4096 * 900, &[7; 64]),
        Class::Holds,
        &["data nobody knows"],
    ),
    (
        "data nobody knows behind the first MiB",
        |m| m.poke(A, 4096 * 800, &[7; 64]),
        Class::Holds,
        &["data nobody knows"],
    ),
    ("swap", |m| m.swap_on(A), Class::InUse, &["swaps to it"]),
    (
        "a member of an array that is stopped",
        |m| {
            m.line("mdadm --create /dev/md/x --level=1 --raid-devices=2 --uuid=00000000000000000000000000000001 /dev/nvme0n1 /dev/nvme1n1");
            m.line("mdadm --stop /dev/md/x");
        },
        Class::Holds,
        &["linux_raid_member, a member of an md array", "of 2 devices"],
    ),
    (
        "one of an array that runs",
        |m| drop(m.line("mdadm --create /dev/md/x --level=1 --raid-devices=2 /dev/nvme0n1 /dev/nvme1n1")),
        Class::InUse,
        &["held by the array `md127`, raid1", "the array `md127` says it is its own", "EBUSY"],
    ),
    (
        "an opened encryption",
        |m| drop(m.line("cryptsetup open --type plain /dev/nvme0n1 theirs")),
        Class::InUse,
        &["held by the opened encryption `theirs`", "the mapping `theirs` says it is its own"],
    ),
    (
        "a logical volume",
        |m| {
            m.line("pvcreate /dev/nvme0n1");
            m.line("vgcreate theirs /dev/nvme0n1");
            m.line("lvcreate --type linear --extents 100%FREE --name data theirs");
        },
        Class::InUse,
        &["held by the logical volume `theirs-data`"],
    ),
    (
        "a mount",
        |m| {
            m.line("mkfs.ext4 /dev/nvme0n1");
            m.line("mount --options X-mount.mkdir /dev/nvme0n1 /srv");
        },
        Class::InUse,
        &["mounted at `/srv` (ext4)"],
    ),
    (
        "a mount of a partition",
        |m| {
            m.line("parted --script /dev/nvme0n1 mklabel gpt mkpart x 1MiB 100%");
            m.line("mkfs.xfs /dev/nvme0n1p1");
            m.line("mount --options X-mount.mkdir /dev/nvme0n1p1 /srv");
        },
        Class::InUse,
        &["/dev/nvme0n1p1: mounted at `/srv` (xfs)"],
    ),
    (
        "the second device of a btrfs",
        |m| {
            m.line("mkfs.btrfs --data raid1 --uuid 12345678-1234-1234-1234-123456789abc /dev/nvme1n1 /dev/nvme0n1");
            m.line("mount --options X-mount.mkdir,device=/dev/nvme0n1 /dev/nvme1n1 /srv");
        },
        Class::InUse,
        &["the mounted btrfs 12345678-1234-1234-1234-123456789abc says it is its own", "EBUSY"],
    ),
    (
        "a pool",
        |m| {
            m.line("modprobe zfs");
            m.line("zpool create -O mountpoint=/tank tank mirror /dev/nvme0n1 /dev/nvme1n1");
            m.line("zfs create -V 16777216 tank/vm");
            m.line("zfs snapshot tank@monday");
        },
        Class::InUse,
        &["the imported pool `tank` says it is its own", "of the pool `tank`", "with `tank/vm`, `tank@monday`"],
    ),
    (
        "a cached device",
        |m| {
            m.line("make-bcache --bdev /dev/nvme0n1");
            let up = "sh -c register_quiet_script sh /dev/nvme0n1 /dev/x";
            let script = "echo \"$1\" > register_quiet && top=";
            let words = up.split(' ').map(|word| if word == "register_quiet_script" { script } else { word });
            assert!(m.run(&terms::Cmd::new(words)).unwrap().ok());
        },
        Class::InUse,
        &["held by the cache `bcache0`", "registered as part of a bcache"],
    ),
    ("a program for itself alone", |m| m.open(A, "qemu", true), Class::InUse, &["(`qemu`) has it open", "EBUSY"]),
    ("a program beside others", |m| m.open(A, "dd", false), Class::InUse, &["process 100 (`dd`) has it open"]),
    (
        "a virtual machine that has it by its generic device",
        |m| {
            m.put_file("/sys/dev/char/21:0/device/block/nvme0n1", "");
            m.put_file("/proc/12/comm", "qemu");
            m.answer("sh", std::sync::Arc::new(|_: &[String], _: &[u8]| WAY.to_vec()));
        },
        Class::InUse,
        &["process 12 (`qemu`) has it open"],
    ),
    ("udev that does not end", |m| m.open(A, "systemd-udevd", false), Class::InUse, &["systemd-udevd"]),
    ("a lock", |m| m.lock_device(A), Class::InUse, &["locked by another program"]),
    (
        "a loop device on a node in the tree of a container",
        |m| {
            m.link("/srv/root/dev/sdb", A);
            m.loop_over(A);
            m.tell("/dev/loop0", "loop/backing_file", "/srv/root/dev/sdb");
        },
        Class::InUse,
        &["held by the loop device `loop0`"],
    ),
    (
        "a loop device on what is not there any more",
        |m| {
            m.loop_over(B);
            m.tell("/dev/loop0", "loop/backing_file", "/srv/root/dev/sdb (deleted)");
        },
        Class::Unknown,
        &["`loop0` is made of `/srv/root/dev/sdb (deleted)`, and what that was is not known now"],
    ),
    (
        "a loop device, and a mount of it",
        |m| {
            let node = m.loop_over(A);
            m.line(&format!("mkfs.ext4 {node}"));
            m.line(&format!("mount --options X-mount.mkdir {node} /srv"));
        },
        Class::InUse,
        &["held by the loop device `loop0`", "/dev/loop0: mounted at `/srv`"],
    ),
    (
        "an NVMe target",
        |m| m.put_file("/sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path", A),
        Class::InUse,
        &["the NVMe target `nqn` says it is its own"],
    ),
    (
        "a SCSI target",
        |m| m.put_file("/sys/kernel/config/target/core/iblock_0/disk/udev_path", A),
        Class::InUse,
        &["the SCSI target `disk` says it is its own"],
    ),
    (
        "an NVMe target by a link of its own",
        |m| {
            m.link("/srv/disk", A);
            m.put_file("/sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path", "/srv/disk");
        },
        Class::InUse,
        &["the NVMe target `nqn` says it is its own"],
    ),
    (
        "an NVMe target that passes a controller through",
        |m| {
            m.put_file("/dev/nvme0", "");
            m.put_file("/sys/kernel/config/nvmet/subsystems/nqn/passthru/device_path", "/dev/nvme0");
        },
        Class::InUse,
        &["the NVMe target `nqn` says it is its own"],
    ),
    (
        "a SCSI target that tells its path in words only",
        |m| {
            let told = "TCM FILEIO ID: 0        File: /dev/nvme0n1  Size: 1  Mode: O_DSYNC Async: 0";
            m.put_file("/sys/kernel/config/target/core/fileio_0/one/info", told);
            m.put_file("/sys/kernel/config/target/core/fileio_0/hba_info", "HBA Index: 1");
            m.put_file("/sys/kernel/config/target/core/alua/lu_gps/x", "");
        },
        Class::InUse,
        &["the SCSI target `one` says it is its own"],
    ),
    (
        "a USB gadget",
        |m| m.put_file("/sys/kernel/config/usb_gadget/stick/functions/mass_storage.0/lun.0/file", A),
        Class::InUse,
        &["the USB gadget `stick` says it is its own"],
    ),
    (
        "a USB gadget of a module of its own",
        |m| m.put_file("/sys/class/udc/dummy_udc.0/device/gadget.0/lun0/file", A),
        Class::InUse,
        &["the USB gadget of `dummy_udc.0` says it is its own"],
    ),
    (
        "an SCST device",
        |m| m.put_file("/sys/kernel/scst_tgt/devices/disk/filename", "/dev/nvme0n1\n[key]\n"),
        Class::InUse,
        &["the SCST device `disk` says it is its own"],
    ),
    (
        "a target over RDMA",
        |m| m.link("/sys/class/rnbd-server/ctl/devices/!dev!nvme0n1/block_dev", A),
        Class::InUse,
        &["the RNBD target `!dev!nvme0n1` says it is its own"],
    ),
    (
        "a target by a link that is gone",
        |m| {
            m.put_file("/sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path", "/dev/disk/by-label/gone");
        },
        Class::Unknown,
        &["the NVMe target `nqn` has `/dev/disk/by-label/gone`, which leads nowhere now"],
    ),
    (
        "a target that nothing is told of",
        |m| m.put_file("/sys/module/nvmet/refcnt", "1"),
        Class::Unknown,
        &["`nvmet` is loaded, and `/sys/kernel/config/nvmet/subsystems` is not there"],
    ),
    (
        "a line of fstab",
        |m| {
            m.line("mkfs.ext4 -U 12345678-1234-1234-1234-123456789abc /dev/nvme0n1");
            m.put_file("/etc/fstab", "UUID=\"12345678-1234-1234-1234-123456789abc\" /srv ext4");
        },
        Class::InUse,
        &["`/etc/fstab` of this machine expects it as `UUID=\"12345678-1234-1234-1234-123456789abc\"`"],
    ),
    (
        "a line of the machine's fstab, in a container with one of its own",
        |m| {
            m.line("mkfs.ext4 -U 12345678-1234-1234-1234-123456789abc /dev/nvme0n1");
            m.put_file("/proc/self/mountinfo", IN_A_CONTAINER);
            m.put_file("/etc/fstab", "LABEL=of-the-container / ext4");
            m.put_file("/proc/1/root/etc/fstab", "UUID=12345678-1234-1234-1234-123456789abc /srv ext4");
        },
        Class::InUse,
        &["`/proc/1/root/etc/fstab` of this machine expects it as `UUID=12345678-1234-1234-1234-123456789abc`"],
    ),
    (
        "a table of the machine that lies where only the machine finds it, and the container has one of that name",
        |m| {
            m.put_file("/proc/self/mountinfo", IN_A_CONTAINER);
            m.link("/proc/1/root/etc/crypttab", "/nix/store/x/crypttab");
            m.put_file("/nix/store/x/crypttab", "x /dev/sda none");
            m.put_file("/proc/1/root/nix/store/x/crypttab", "x /dev/nvme0n1 none");
        },
        Class::InUse,
        &["`/proc/1/root/etc/crypttab` of this machine expects it as `/dev/nvme0n1`"],
    ),
    (
        "a table of the machine behind a link that leads above its root",
        |m| {
            m.put_file("/proc/self/mountinfo", IN_A_CONTAINER);
            m.link("/proc/1/root/etc/fstab", "../../../../srv/fstab");
            m.put_file("/proc/1/root/srv/fstab", "/dev/nvme0n1 /srv ext4");
        },
        Class::InUse,
        &["`/proc/1/root/etc/fstab` of this machine expects it as `/dev/nvme0n1`"],
    ),
    (
        "a table of the machine behind links without an end",
        |m| {
            m.put_file("/proc/self/mountinfo", IN_A_CONTAINER);
            m.put_file("/proc/1/root/etc/passwd", "");
            m.link("/proc/1/root/etc/fstab", "/etc/fstab");
        },
        Class::Unknown,
        &["/proc/1/root/etc/fstab: `/etc/fstab` goes through more than 40 links"],
    ),
    (
        "units of the machine in a directory that only the machine finds",
        |m| {
            m.put_file("/proc/self/mountinfo", IN_A_CONTAINER);
            m.link("/proc/1/root/etc/systemd/system", "/etc/static/units");
            m.link("/proc/1/root/etc/static/units/srv.mount", "/usr/lib/srv.mount");
            m.put_file("/proc/1/root/usr/lib/srv.mount", "[Mount]\nWhat=/dev/nvme0n1\n");
        },
        Class::InUse,
        &["`/proc/1/root/etc/systemd/system/srv.mount` of this machine expects it as `/dev/nvme0n1`"],
    ),
    (
        "a name of the machine's that means another drive in the container",
        |m| {
            m.put_file("/proc/self/mountinfo", IN_A_CONTAINER);
            m.put_file("/proc/1/root/etc/fstab", "/dev/disk/by-id/of-the-machine /srv ext4");
            m.link("/proc/1/root/dev/disk/by-id/of-the-machine", "../../nvme0n1");
            m.link("/dev/disk/by-id/of-the-machine", B);
        },
        Class::InUse,
        &["`/proc/1/root/etc/fstab` of this machine expects it as `/dev/disk/by-id/of-the-machine`"],
    ),
    (
        "a container that does not see the mounts of the first process",
        |m| {
            m.link("/proc/1/mountinfo", "/nowhere");
            m.put_file("/proc/1/root/etc/fstab", "");
        },
        Class::Unknown,
        &["could not read `/proc/1/mountinfo`"],
    ),
    (
        "a container that does not see the root of the first process",
        |m| m.put_file("/proc/self/mountinfo", IN_A_CONTAINER),
        Class::Unknown,
        &["/proc/1/root/etc/fstab: the root of the first process is not to be seen"],
    ),
    (
        "a unit that is changed to mount it",
        |m| m.put_file("/etc/systemd/system/srv.mount.d/disk.conf", "[Mount]\nWhat=/dev/nvme0n1\n"),
        Class::InUse,
        &["`/etc/systemd/system/srv.mount.d/disk.conf` of this machine expects it as `/dev/nvme0n1`"],
    ),
    (
        "a unit that mounts it",
        |m| m.put_file("/etc/systemd/system/srv.mount", "[Mount]\nWhat = /dev/nvme0n1\nWhere = /srv\n"),
        Class::InUse,
        &["`/etc/systemd/system/srv.mount` of this machine expects it as `/dev/nvme0n1`"],
    ),
    (
        "bcachefs whose first superblock is gone",
        |m| m.poke(A, (1 << 20) + 4096 + 24, terms::signature::BCACHEFS),
        Class::Holds,
        &["bcachefs, its first superblock is destroyed"],
    ),
    (
        "the second copy of a table of 16 KiB blocks",
        |m| m.poke(A, (256 << 20) - (16 << 10), b"EFI PART"),
        Class::Holds,
        &["gpt, a partition table, its primary copy is destroyed"],
    ),
    (
        "a copy of a superblock of ext4, and nothing else of it",
        |m| m.poke(A, (32 << 20) + 0x38, &[0x53, 0xef]),
        Class::Holds,
        &["data nobody knows"],
    ),
    (
        "a node in crypttab",
        |m| m.put_file("/etc/crypttab", "x /dev/nvme0n1 none"),
        Class::InUse,
        &["`/etc/crypttab` of this machine expects it as `/dev/nvme0n1`"],
    ),
    (
        "a link in fstab to a file system that is not mounted",
        |m| {
            m.link("/dev/disk/by-id/nvme-of-somebody", A);
            m.put_file("/etc/fstab", "/dev/disk/by-id/nvme-of-somebody /srv ext4 noauto");
        },
        Class::InUse,
        &["`/etc/fstab` of this machine expects it as `/dev/disk/by-id/nvme-of-somebody`"],
    ),
    (
        "a path in fstab that is there and cannot be looked at",
        |m| {
            m.link("/dev/disk/by-id/nvme-of-somebody", "/dev/disk/by-id/nvme-of-somebody");
            m.put_file("/etc/fstab", "/dev/disk/by-id/nvme-of-somebody /srv ext4 noauto");
        },
        Class::Unknown,
        &["/dev/disk/by-id/nvme-of-somebody", "Too many levels of symbolic links"],
    ),
    (
        "an EFI system partition",
        |m| {
            m.line("parted --script /dev/nvme0n1 mklabel gpt mkpart x 1MiB 100%");
            m.tell("/dev/nvme0n1p1", "type", "c12a7328-f81f-11d2-ba4b-00a0c93ec93b");
        },
        Class::InUse,
        &["an EFI system partition"],
    ),
    ("a drive that is read-only", |m| m.tell(A, "ro", "1"), Class::Unfit, &["it is read-only"]),
    ("one that does not say so", |m| m.tell(A, "ro", "?"), Class::Unknown, &["does not say whether it may be written"]),
    ("a zoned drive", |m| m.tell(A, "queue/zoned", "host-managed"), Class::Unfit, &["it is zoned"]),
    (
        "swap that cannot be read",
        |m| m.put_file("/proc/swaps", "nothing"),
        Class::Unknown,
        &["swap: its table has no head"],
    ),
    (
        "a swap that is gone",
        |m| m.put_file("/proc/swaps", "Filename Type\n/dev/gone partition 1 0 -2"),
        Class::Unknown,
        &["/dev/gone"],
    ),
    ("no blkid", |m| m.without("blkid"), Class::Unknown, &["`blkid` could not be asked"]),
    ("no wipefs", |m| m.without("wipefs"), Class::Unknown, &["`wipefs` could not be asked"]),
    (
        "a look into processes that is cut short",
        |m| m.answer("sh", std::sync::Arc::new(|_: &[String], _: &[u8]| b"open".to_vec())),
        Class::Unknown,
        &["processes: the look into them was cut short"],
    ),
    (
        "a tool that says strange things",
        |m| m.answer("wipefs", std::sync::Arc::new(|_: &[String], _: &[u8]| b"{".to_vec())),
        Class::Unknown,
        &["`wipefs`: its list is not understood"],
    ),
];

#[test]
fn whoever_uses_a_drive_is_found_and_whatever_is_on_it() {
    for (what, does, class, words) in CASES {
        let machine = machine();
        assert!(examined(&machine, A).is_free(), "{}", examined(&machine, A));
        does(&machine);
        let before = machine.now_is();
        let found = examined(&machine, A);
        let told = found.to_string();
        assert_eq!(found.gravest(), Some(*class), "{what}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{what}: {told}");
        assert!(machine.holds_the_same(A, &before), "{what}: a look writes nothing");
        // Consent to lose what is on it is no consent to take it from whoever uses it.
        let granted = Permission::grant(found, &consent(&machine, &[], &[A]));
        assert_eq!(granted.is_ok(), *class == Class::Holds, "{what}: {granted:?}");
        let named = Permission::grant(examined(&machine, A), &consent(&machine, &[A], &[]));
        assert!(matches!(named, Err(ClaimError::Refused(_))), "{what}");
    }
}

/// Nothing is left that says which run it was, and whoever comes next is told what to do.
#[test]
fn what_a_run_without_its_directory_left_is_told_from_the_top_down() {
    let up = |name: &str, point: &str| {
        let machine = machine();
        machine.line(&format!("cryptsetup open --type plain {A} {name}"));
        machine.line(&format!("mkfs.ext4 /dev/mapper/{name}"));
        machine.line(&format!("mount --options X-mount.mkdir /dev/mapper/{name} {point}"));
        let granted = Permission::grant(examined(&machine, A), &consent(&machine, &[], &[A]));
        let told = granted.unwrap_err().to_string();
        // The same is told where nobody named the drive, because nothing else says which it is.
        let left = claim::left_by_runs(&machine).unwrap();
        assert_eq!(left.len(), usize::from(name.starts_with("bp-")), "{left:?}");
        assert!(
            left.iter().all(|line| line.contains(A) && told.contains(line.split_once("), ").unwrap().1)),
            "{left:?}"
        );
        told
    };
    let told = up("bp-x-crypt", "/mnt/bedplate/x");
    let lines = "say `umount /mnt/bedplate/x && dmsetup remove bp-x-crypt`";
    let closed = lines.replace("dmsetup remove", "cryptsetup close");
    assert!(told.contains("`bedplate teardown RUN`") && (told.contains(lines) || told.contains(&closed)), "{told}");
    let told = up("mine", "/mnt/bedplates");
    assert!(!told.contains("teardown"), "{told}");
}

#[test]
fn a_loop_device_on_a_file_keeps_no_drive() {
    let machine = machine();
    machine.loop_over(B);
    machine.put_file("/srv/image", "");
    machine.tell("/dev/loop0", "loop/backing_file", "/srv/image");
    assert!(examined(&machine, A).is_free(), "{}", examined(&machine, A));
}

#[test]
fn a_loop_device_is_used_by_whoever_has_its_file_and_is_known_by_it() {
    const MINE: &str = "mine";
    let machine = machine();
    let image = |node: &str, path: &str| {
        machine.loop_over(node);
        machine.put_file(path, "");
        let name = format!("/dev/loop{}", usize::from(node == B));
        machine.tell(&name, "loop/backing_file", path);
        name
    };
    let first = image(A, "/srv/one");
    machine.link("/dev/disk/by-id/mine", &first);
    let look = || examine(&machine, &resolve(&machine, MINE).unwrap()).unwrap();
    assert!(look().is_free(), "{}", look());
    let then = resolve(&machine, MINE).unwrap();
    assert!(then.caveat().unwrap().contains("the file behind it"));
    // Consent to lose what is on it is no consent to take it from whoever has its file.
    let is_refused = |words: &str| {
        let consent = Consent::given(&machine, &[MINE.to_owned()], &[MINE.to_owned()]).unwrap();
        let refused = Permission::grant(look(), &consent).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    };
    machine.open("/srv/one", "qemu", false);
    is_refused("its file is `/srv/one`, and process");
    is_refused("(`qemu`) has it open");
    machine.close_all();
    assert!(look().is_free());
    let second = image(B, "/srv/one");
    is_refused("`/dev/loop1` is made of the same file, `/srv/one`");
    machine.tell(&second, "loop/backing_file", "/srv/two");
    assert!(look().is_free());
    machine.swap_on("/srv/one");
    is_refused("the swap of this machine uses it as `/srv/one`");
    machine.swap_off();
    machine.swap_on("/srv/three");
    is_refused("the swap of this machine uses it as `/srv/three`, and which file that is cannot be told");
    machine.swap_off();
    let served = "/sys/kernel/config/usb_gadget/stick/functions/mass_storage.0/lun.0/file";
    machine.put_file(served, "/srv/one");
    is_refused("the USB gadget `stick` uses it as `/srv/one`");
    machine.put_file(served, "");
    assert!(look().is_free(), "{}", look());
    // An image is mounted from a file that lay at a path where another lies by now: it may be ours, if ours is an image.
    machine.put_file("/srv/other", "");
    let mounts =
        |line: &str| ["self", "1"].iter().for_each(|of| machine.put_file(&format!("/proc/{of}/mountinfo"), line));
    mounts("30 1 0:60 / /mnt/image ro - erofs /srv/other ro\n");
    assert!(look().is_free(), "{}", look());
    machine.poke(A, 1024, &0xe0f5_e1e2_u32.to_le_bytes());
    is_refused("it is an erofs, and the one mounted at `/mnt/image` is of a file that was `/srv/other` then");
    machine.poke(A, 1024, &[0; 4]);
    // The same device on another part of the same file: what the run made is in the first.
    for (attribute, told) in [("offset", "from byte 4096"), ("sizelimit", "4096 bytes at most")] {
        machine.tell(&first, &format!("loop/{attribute}"), "4096");
        let now = resolve(&machine, MINE).unwrap();
        let differences = then.differences(&now).join(" ");
        assert!(differences.contains("file behind it") && differences.contains(told), "{differences}");
        assert!(matches!(confirm(&machine, &then), Err(ClaimError::Moved { .. })), "{attribute}");
        machine.tell(&first, &format!("loop/{attribute}"), "0");
        confirm(&machine, &then).unwrap();
    }
    // The link leads to another, of the same size: that is another drive.
    machine.link("/dev/disk/by-id/mine", &second);
    let now = resolve(&machine, MINE).unwrap();
    assert_eq!(then.size, now.size);
    assert!(then.differences(&now).join(" ").contains("file behind it"), "{:?}", then.differences(&now));
    machine.tell(&second, "loop/backing_file", A);
    is_refused("it is a loop device on the device `/dev/nvme0n1`");
}

#[test]
fn a_unit_that_is_masked_or_whose_link_leads_nowhere_keeps_no_drive() {
    let machine = machine();
    machine.link("/etc/systemd/system/tmp.mount", "/dev/null");
    machine.link("/etc/systemd/system/dev-sda3.swap", "/dev/not-there");
    let granted = Permission::grant(examined(&machine, A), &consent(&machine, &[A], &[]));
    assert!(granted.is_ok(), "{granted:?}");
}

#[test]
fn a_path_in_fstab_that_leads_nowhere_keeps_no_drive() {
    let machine = machine();
    machine.put_file("/etc/fstab", "/dev/disk/by-id/nvme-of-nobody /srv ext4 noauto");
    let granted = Permission::grant(examined(&machine, A), &consent(&machine, &[A], &[]));
    assert!(granted.is_ok(), "{granted:?}");
}

#[test]
fn a_drive_is_found_by_what_goes_with_it_and_by_nothing_else() {
    let machine = machine();
    for node in [A, B, S] {
        let identity = resolve(&machine, &id(&machine, node)).unwrap();
        assert_eq!(identity.node, node);
        assert_eq!(resolve(&machine, &format!("serial={}", identity.serial.clone().unwrap())).unwrap().node, node);
        assert_eq!(resolve(&machine, &format!("wwid={}", identity.wwid.clone().unwrap())).unwrap().node, node);
        assert!(identity.pci_path.is_some() && confirm(&machine, &identity).is_ok(), "{identity:?}");
        assert!(identity.names.contains(&id(&machine, node)), "{identity:?}");
    }
    let nqn = machine.read_text("/sys/class/nvme/nvme0/subsysnqn").unwrap();
    assert_eq!(resolve(&machine, &format!("nqn={nqn}")).unwrap().node, A);
    for today in ["nvme0n1", A, "/dev/disk/by-path/pci-1", "dm-uuid-1", "", "serial="] {
        let error = resolve(&machine, today).unwrap_err();
        assert!(matches!(error, ClaimError::NotAnId { .. }) && error.is_refusal(), "{today}: {error}");
    }
    let told = resolve(&machine, A).unwrap_err().to_string();
    assert!(told.contains(&id(&machine, A)), "it says what to write instead: {told}");
    let told = resolve(&machine, "serial=nobody").unwrap_err();
    assert!(matches!(&told, ClaimError::NotFound { known, .. } if known.len() == 3), "{told}");
    machine.clone_identity(A, B);
    let twins = resolve(&machine, "serial=S0F10000000").unwrap_err();
    assert!(matches!(twins, ClaimError::Ambiguous { .. }), "{twins}");
}

#[test]
fn links_of_udev_are_followed_and_asked_again() {
    let machine = machine();
    let link = |name: &str, node: &str| machine.link(&format!("/dev/disk/by-id/{name}"), node);
    let serial = resolve(&machine, &id(&machine, A)).unwrap().serial.unwrap();
    link(&format!("nvme-Old_Name_{serial}"), A);
    assert_eq!(resolve(&machine, &format!("nvme-Old_Name_{serial}")).unwrap().node, A);
    machine.line("parted --script /dev/nvme0n1 mklabel gpt mkpart x 1MiB 100%");
    link(&format!("nvme-Old_Name_{serial}-part1"), "/dev/nvme0n1p1");
    let part = resolve(&machine, &format!("nvme-Old_Name_{serial}-part1")).unwrap();
    assert_eq!(part.part.as_ref().map(|part| (part.number, part.start)), Some((1, Bytes::mib(1))));
    assert_eq!(resolve(&machine, &format!("{}-part1", id(&machine, A))).unwrap().node, "/dev/nvme0n1p1");
    assert!(matches!(resolve(&machine, &format!("{}-part7", id(&machine, A))), Err(ClaimError::NotFound { .. })));
    link("nvme-Another_S999", A);
    link(&format!("nvme-Whole_{serial}"), "/dev/nvme0n1p1");
    for contradicts in ["nvme-Another_S999".to_owned(), format!("nvme-Whole_{serial}")] {
        let error = resolve(&machine, &contradicts).unwrap_err();
        assert!(matches!(error, ClaimError::Contradiction { .. }), "{contradicts}: {error}");
    }
    machine.line("cryptsetup open --type plain /dev/nvme1n1 theirs");
    link("scsi-mapped", "/dev/dm-0");
    assert!(matches!(resolve(&machine, "scsi-mapped"), Err(ClaimError::WrongKind { .. })));
}

/// Two memory sticks of one kind tell all the same: udev gives the link to the one that came last.
#[test]
fn a_link_that_is_the_name_of_two_devices_is_the_name_of_none() {
    for start in [r"disk\x2fby-id\x2f", r"\x2fdisk\x2fby-id\x2f"] {
        let machine = machine();
        let link = r"usb-ACME_Stick\x21-0:0";
        machine.link(&format!("/dev/disk/by-id/{link}"), A);
        let claims = |node: &str| {
            let number = machine.device_number(node).unwrap().unwrap();
            machine.put_file(&format!(r"/run/udev/links/{start}usb-ACME_Stick\x5cx21-0:0/b{number}"), "");
        };
        claims(A);
        machine.put_file(&format!(r"/run/udev/links/{start}usb-ACME_Stick\x5cx21-0:0/b250:9"), "");
        assert_eq!(resolve(&machine, link).unwrap().node, A, "what was unplugged claims nothing");
        claims(S);
        let told = resolve(&machine, link).unwrap_err();
        assert!(matches!(&told, ClaimError::Ambiguous { nodes, .. } if nodes[..] == [A, S]), "{told}");
    }
}

#[test]
fn a_link_that_says_what_another_drive_is_leads_to_none() {
    let machine = machine();
    let link = |name: &str, node: &str| machine.link(&format!("/dev/disk/by-id/{name}"), node);
    let (a, s) = (resolve(&machine, &id(&machine, A)).unwrap(), resolve(&machine, &id(&machine, S)).unwrap());
    let before = machine.now_is();
    let eui = format!("nvme-{}", a.wwid.clone().unwrap());
    for stale in
        [id(&machine, A), eui.clone(), "nvme-eui.0123".to_owned(), "nvme-uuid.0123".to_owned()].into_iter().chain(
            ["wwn-0x5000c500aaaaaaaa", "scsi-SACME_disk_AAAA", "scsi-35000c500aaaaaaaa", "virtio-AAAA"]
                .map(str::to_owned),
        )
    {
        for (name, node) in [(stale.clone(), B), (format!("{stale}-part1"), "/dev/nvme1n1p1")] {
            if node != B && !machine.exists(node).unwrap() {
                machine.line("parted --script /dev/nvme1n1 mklabel gpt mkpart x 1MiB 100%");
            }
            link(&name, node);
            let told = resolve(&machine, &name).unwrap_err();
            assert!(matches!(told, ClaimError::Contradiction { .. }) && told.to_string().contains(B), "{name}: {told}");
            let told = Consent::given(&machine, &[], &[name]).unwrap_err();
            assert!(told.is_refusal());
        }
    }
    assert!(machine.holds_the_same(A, &before));
    // What a drive tells of itself is in the link, in the forms that udev has.
    link(&eui, A);
    assert_eq!(resolve(&machine, &eui).unwrap().node, A);
    let word = |text: &Option<String>| text.clone().unwrap().split_whitespace().collect::<Vec<_>>().join("_");
    let number = word(&s.wwid).split_once('.').unwrap().1.to_owned();
    for name in [format!("scsi-SATA_disk_{}", word(&s.serial)), format!("scsi-1{number}"), "usb-Stick_1-0:0".to_owned()]
    {
        link(&name, S);
        assert_eq!(resolve(&machine, &name).unwrap().node, S, "{name}");
    }
}

#[test]
fn a_name_of_a_partition_leads_to_no_whole_drive() {
    let machine = machine();
    let serial = resolve(&machine, &id(&machine, A)).unwrap().serial.unwrap();
    for name in [format!("nvme-Old_Name_{serial}-part1"), "usb-Stick-part1".to_owned()] {
        machine.link(&format!("/dev/disk/by-id/{name}"), A);
        let told = resolve(&machine, &name).unwrap_err();
        assert!(matches!(told, ClaimError::Contradiction { .. }), "{name}: {told}");
        assert!(told.to_string().contains("leads to the whole drive"), "{told}");
    }
}

#[test]
fn consent_is_for_the_very_device_that_was_named() {
    let machine = machine();
    machine.line("parted --script /dev/nvme0n1 mklabel gpt mkpart x 1MiB 100MiB mkpart y 100MiB 100%");
    let [one, two] = [1, 2].map(|part| format!("{}-part{part}", id(&machine, A)));
    let examined_as = |id: &str| examine(&machine, &resolve(&machine, id).unwrap()).unwrap();
    let given = |id: &str| Consent::given(&machine, &[id.to_owned()], &[]).unwrap();
    for (asked, named, why) in [
        (id(&machine, A), one.clone(), "for a partition of it"),
        (one.clone(), two.clone(), "for another partition"),
        (one.clone(), id(&machine, A), "for the whole drive"),
        (one.clone(), id(&machine, B), "not yet a drive that a person agreed to lose"),
    ] {
        let error = Permission::grant(examined_as(&asked), &given(&named)).unwrap_err();
        assert!(matches!(error, ClaimError::NotConsented { .. }) && error.to_string().contains(why), "{error}");
    }
    let permission = Permission::grant(examined_as(&one), &given(&one)).unwrap();
    assert_eq!(permission.identity().node, "/dev/nvme0n1p1");
    assert!(Consent::given(&machine, &["serial=nobody".to_owned()], &[]).is_err());
}

#[test]
fn a_drive_that_is_to_be_erased_and_not_used_is_a_slip() {
    let machine = machine();
    let [a, b] = [A, B].map(|drive| id(&machine, drive));
    let used = resolve(&machine, &a).unwrap();
    let given = |erase: &[String]| Consent::given(&machine, std::slice::from_ref(&a), erase).unwrap();
    given(&[]).erases_only(&[&used]).unwrap();
    given(std::slice::from_ref(&a)).erases_only(&[&used]).unwrap();
    let error = given(&[a.clone(), b.clone()]).erases_only(&[&used]).unwrap_err();
    assert!(matches!(&error, ClaimError::NotUsed { .. }) && error.to_string().contains(&b), "{error}");
}

/// Two partitions of drive `A`, and what the first is called.
fn parted(machine: &FakeMachine) -> String {
    machine.line("parted --script /dev/nvme0n1 mklabel gpt mkpart x 1MiB 100MiB mkpart y 100MiB 200MiB");
    format!("{}-part1", id(machine, A))
}

#[test]
fn whoever_uses_the_whole_drive_uses_its_partitions() {
    // A superblock of version 1.0, where an array keeps it: 8 KiB before the end.
    let md = [&0xa92b_4efc_u32.to_le_bytes()[..], &1_u32.to_le_bytes()].concat();
    type Use = (&'static str, fn(&FakeMachine, &[u8]), Class, &'static str);
    let cases: [Use; 6] = [
        (
            "a line of crypttab",
            |m, _| m.put_file("/etc/crypttab", "swap /dev/nvme0n1 /dev/urandom plain"),
            Class::InUse,
            "nvme0n1: `/etc/crypttab` of this machine expects it as `/dev/nvme0n1`",
        ),
        ("a guest that writes to it", |m, _| m.open(A, "qemu", false), Class::InUse, "nvme0n1: process 100 (`qemu`)"),
        ("a lock", |m, _| m.lock_device(A), Class::InUse, "nvme0n1: locked by another program"),
        ("a loop device", |m, _| drop(m.loop_over(A)), Class::InUse, "nvme0n1: held by the loop device `loop0`"),
        (
            "a target",
            |m, _| m.put_file("/sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path", A),
            Class::InUse,
            "nvme0n1: the NVMe target `nqn`",
        ),
        (
            "an array that is not assembled",
            |m, md| m.poke(A, Bytes::mib(256).0 - 8192, md),
            Class::Unknown,
            "across the whole drive is linux_raid_member",
        ),
    ];
    for (what, uses, class, words) in cases {
        let machine = machine();
        let part = parted(&machine);
        uses(&machine, &md);
        let before = machine.now_is();
        let found = examine(&machine, &resolve(&machine, &part).unwrap()).unwrap();
        assert_eq!(found.gravest(), Some(class), "{what}: {found}");
        assert!(found.to_string().contains(words), "{what}: {found}");
        let erase = Consent::given(&machine, &[], std::slice::from_ref(&part)).unwrap();
        assert!(Permission::grant(found, &erase).is_err(), "{what}");
        assert!(machine.holds_the_same(A, &before), "{what}");
    }
}

#[test]
fn neighbours_on_a_drive_are_nobody_to_a_partition_and_its_drive_is_locked_with_it() {
    let machine = machine();
    let part = parted(&machine);
    machine.line("mkfs.ext4 /dev/nvme0n1p2");
    machine.line("mount --options X-mount.mkdir /dev/nvme0n1p2 /srv");
    let granted = || {
        let found = examine(&machine, &resolve(&machine, &part).unwrap()).unwrap();
        Permission::grant(found, &Consent::given(&machine, std::slice::from_ref(&part), &[]).unwrap())
    };
    let held = granted().unwrap().hold(&machine).unwrap();
    held.recheck().unwrap();
    for node in [A, "/dev/nvme0n1p1"] {
        assert!(machine.hold(node).unwrap().is_none(), "{node}");
    }
    drop(held);
    let permission = granted().unwrap();
    machine.lock_device(A);
    assert!(matches!(permission.hold(&machine), Err(ClaimError::Locked { node, .. }) if node == A));
}

/// udev locks a drive for a moment whenever something about it changes; whoever keeps it is told.
#[test]
fn a_lock_that_passes_is_waited_for() {
    for (millis, is_free) in [(0, true), (350, true), (450, false)] {
        let machine = machine();
        machine.lock_device_for(A, std::time::Duration::from_millis(millis));
        let found = examined(&machine, A);
        assert_eq!(found.is_free(), is_free, "{millis} ms: {:?}", found.findings);
    }
}

#[test]
fn whatever_comes_between_the_look_and_the_use_is_found() {
    let permitted =
        |machine: &FakeMachine| Permission::grant(examined(machine, A), &consent(machine, &[A], &[])).unwrap();
    // Somebody was faster.
    let between = machine();
    let permission = permitted(&between);
    between.line("mkfs.ext4 /dev/nvme0n1");
    assert!(matches!(permission.hold(&between), Err(ClaimError::Refused(_))));
    let between = machine();
    let permission = permitted(&between);
    between.lock_device(A);
    assert!(matches!(permission.hold(&between), Err(ClaimError::Locked { .. })));
    // Consent is for what was told then, and not for what came since.
    let between = machine();
    between.line("mkfs.xfs /dev/nvme0n1");
    let erased = |machine: &FakeMachine| Permission::grant(examined(machine, A), &consent(machine, &[], &[A])).unwrap();
    let permission = erased(&between);
    let told = permission.accepted().to_vec();
    assert_eq!(permission.hold(&between).unwrap().permission().accepted(), told);
    for comes in ["mkfs.ext4 /dev/nvme0n1", "mkfs.xfs -f /dev/nvme0n1"] {
        let permission = erased(&between);
        between.line("wipefs --all --quiet /dev/nvme0n1");
        between.line(comes);
        let before = between.now_is();
        let told = permission.hold(&between).err().unwrap();
        assert!(matches!(&told, ClaimError::Arrived { findings, .. } if findings.len() == 1), "{comes}: {told}");
        assert!(between.holds_the_same(A, &before) && told.is_refusal());
    }
    let between = machine();
    let permission = erased(&between);
    between.poke(A, 1 << 16, &[7; 4096]);
    assert!(matches!(permission.hold(&between), Err(ClaimError::Arrived { .. })), "data without a signature too");
    // Another drive is in its place.
    let between = machine();
    let permission = permitted(&between);
    between.swap_drive(A);
    assert!(matches!(permission.hold(&between), Err(ClaimError::NotFound { .. })));
    // It is out.
    let between = machine();
    let permission = permitted(&between);
    between.pull(A);
    assert!(permission.hold(&between).is_err());
    // It changes under the lock, before something is destroyed.
    let machine = machine();
    let held = permitted(&machine).hold(&machine).unwrap();
    held.confirm().unwrap();
    held.prove_empty().unwrap();
    assert!(held.is_from_the_start() && !held.may_erase());
    machine.tell(A, "size", "1024");
    let moved = held.confirm().unwrap_err();
    assert!(matches!(&moved, ClaimError::Moved { changes, .. } if changes[0].starts_with("size")), "{moved}");
}

#[test]
fn a_lock_is_kept_until_it_is_let_go() {
    let machine = machine();
    let identity = resolve(&machine, &id(&machine, A)).unwrap();
    let seen = || examine(&machine, &identity).unwrap();
    let held = reclaim(&machine, seen(), &Consent::default()).unwrap();
    assert!(!held.is_from_the_start());
    assert!(matches!(reclaim(&machine, seen(), &Consent::default()), Err(ClaimError::Locked { .. })));
    machine.poke(A, 1 << 20, &[1; 4096]);
    held.recheck().unwrap();
    assert!(held.prove_empty().is_err(), "data without a signature may be somebody's since");
    machine.line("mkfs.ext4 /dev/nvme0n1");
    assert!(held.recheck().is_err() && held.prove_blank().is_err() && held.look(&Ours::default()).is_err());
    drop(held);
    let before = seen();
    let held = reclaim(&machine, before.clone(), &consent(&machine, &[], &[A])).unwrap();
    held.recheck().unwrap();
    assert!(held.prove_blank().is_err());
    machine.line("wipefs --all /dev/nvme0n1");
    machine.line("mkfs.xfs /dev/nvme0n1");
    assert!(matches!(held.look(&Ours::default()), Err(ClaimError::Arrived { .. })), "nobody was told of it");
    assert!(matches!(held.confirm_content(), Err(ClaimError::Arrived { .. })));
    drop(held);
    let mut held = reclaim(&machine, seen(), &consent(&machine, &[], &[A])).unwrap();
    held.recheck().unwrap();
    assert!(held.use_up_consent() && !held.use_up_consent());
    assert!(held.recheck().is_err());
}

#[test]
fn drives_are_offered_in_the_order_of_their_use() {
    let machine = machine();
    machine.line("mkfs.ext4 /dev/nvme0n1");
    machine.line("mount --options X-mount.mkdir /dev/nvme0n1 /srv");
    machine.line("mkfs.xfs /dev/nvme1n1");
    let all = candidates(&machine).unwrap();
    let told: Vec<(String, bool)> = all.iter().map(|one| (one.drive.kernel_name.clone(), one.is_offered())).collect();
    let wanted = [("nvme1n1", true), ("sda", true), ("nvme0n1", false), ("ram0", false)];
    assert_eq!(told, wanted.map(|(name, offered)| (name.to_owned(), offered)));
    let status: Vec<String> = all.iter().map(claim::Candidate::status).collect();
    assert!(
        status[0].starts_with("holds: xfs") && status[1] == "free" && status[2].starts_with("in use:"),
        "{status:?}"
    );
    assert!(status[3].starts_with("refused:"), "a RAM drive tells no name: {status:?}");
    let too_small = examined(&machine, B).at_least(Bytes::gib(1));
    assert_eq!(too_small.gravest(), Some(Class::Unfit));
    assert_eq!(too_small.of(Class::Holds).count(), 1);
}

#[test]
fn a_machine_that_is_lost_is_no_finding() {
    let machine = machine();
    let identity = resolve(&machine, &id(&machine, A)).unwrap();
    machine.fault(1, FakeFault::Lost(fake::Moment::Before));
    assert!(machine.run(&terms::Cmd::new(["sync"])).is_err());
    assert!(examine(&machine, &identity).is_err() && candidates(&machine).is_err());
    assert!(claim::signatures(&machine, A).is_err());
}

#[test]
fn signatures_and_what_things_are_made_of_are_read() {
    let machine = machine();
    assert!(claim::signatures(&machine, "/dev/nothing").is_err());
    machine.line("mkfs.ext4 -U 12345678-1234-1234-1234-123456789abc /dev/nvme0n1");
    let found = claim::signatures(&machine, A).unwrap();
    assert_eq!((found.len(), found[0].uuid.as_deref()), (1, Some("12345678-1234-1234-1234-123456789abc")));
    machine.line("cryptsetup open --type plain /dev/nvme1n1 theirs");
    let [b, mapping] = [B, "/dev/mapper/theirs"].map(|node| claim::devno_of(&machine, node).unwrap().unwrap());
    assert_eq!(claim::made_of(&machine, mapping).unwrap(), [b]);
    assert!(claim::made_of(&machine, b).unwrap().is_empty());
    assert_eq!(claim::node_of_devno(&machine, mapping).unwrap().as_deref(), Some("/dev/dm-0"));
    let ours = Ours { names: vec!["theirs".to_owned()], ..Ours::default() };
    let members = claim::members(&machine, &ours).unwrap();
    assert_eq!(members.iter().map(|(devno, _)| *devno).collect::<Vec<_>>(), [b]);
    assert!(claim::members(&machine, &Ours::default()).unwrap().is_empty());
}

/// A security module may keep root itself from looking at the first process, and where nothing is elsewhere nothing is lost.
#[test]
fn the_root_of_the_first_process_is_asked_where_it_is_another() {
    for (own, class) in [("22 1 259:1 / / rw - ext4 /dev/sdz rw\n", None), ("", Some(Class::Unknown))] {
        let machine = machine();
        machine.put_file("/proc/1/mountinfo", "22 1 259:1 / / rw - ext4 /dev/sdz rw\n");
        machine.put_file("/proc/self/mountinfo", own);
        machine.link("/proc/1/root/etc/fstab", "/etc/fstab");
        let examination = examined(&machine, A);
        assert_eq!(examination.gravest(), class, "{examination}");
    }
}
