//! What the kernel says of storage, and what it means: kinds of messages by their words.

use terms::a_program_says;
use terms::diagnosis::Severity::{self, Error, Information, Warning};

/// Messages of one kind: each has all the words of one of these lines, in small letters.
pub(super) type Words = &'static [&'static [&'static str]];

const AWAY: Words = &[
    &["nvme", "controller is down"],
    &["csts=0xffffffff"],
    &["nvme", "device not ready"],
    &["nvme", "removing after probe failure"],
    // Of the driver and of the PCI core, where it has lost power or fell off its link.
    &["nvme", "disabling device after reset failure"],
    &["nvme", "unable to change power state", "inaccessible"],
];

/// As btrfs and dm-integrity word it, which keep checksums of data.
const CHECKSUMS: Words = &[
    &["btrfs", "csum failed"],
    &["btrfs", "checksum verify failed"],
    &["btrfs", "checksum error"],
    &["btrfs error", "bdev ", NO_REQUESTS],
    &["checksum failed at"],
    &["integrity aead error"],
    // What a scrub found, and no copy made up for (`scrub_stripe_report_errors` in the kernel's `fs/btrfs/scrub.c`).
    &["btrfs", "unable to fixup"],
    &["bcachefs", "bad checksum"],
    &["bcachefs", "checksum error"],
    // BlueStore of Ceph, of a block that it read (`_verify_csum` in its `src/os/bluestore/BlueStore.cc`).
    &[a_program_says!("ceph-osd: "), "_verify_csum bad"],
    // Events of a pool, as ZED writes them and as `zpool events` lists them.
    &["eid=", "class=checksum", "pool="],
    &["ereport.fs.zfs.checksum"],
];

const REQUESTS: Words = &[
    &["i/o error"],
    &["i/o timeout"],
    &["nvme", "qid", "timeout"],
    &["read error corrected"],
    &["btrfs", "fixed up error at logical"],
    &["not correctable"],
    &["hard resetting link"],
    &["limiting sata link speed"],
    &["ncq disabled due to"],
    &["uas_eh_"],
    &["btrfs error", "bdev ", "errs:"],
    // What becomes of a request in the end (`blk_errors` in the kernel's `block/blk-core.c`). What a drive does not know is none of these.
    // Before Linux 5.3 this one does not tell what was asked for, and the kernel trims drives that do not know how.
    &["critical target error, dev", " op 0x"],
    &["recoverable transport error, dev"],
    &["protection error, dev"],
    &["timeout error, dev"],
    &["device offline error, dev"],
    // `nvme_log_error` in its `drivers/nvme/host/core.c`.
    &["@ lba", "(sct 0x"],
    // Drivers of SAS controllers, before they take back a request or reset what it waits for.
    &["attempting task abort"],
    &["attempting", "reset! scmd"],
    &["mpt", "fault_state("],
    &["megaraid_sas", "predictive failure"],
    &["megaraid_sas", "fault state"],
    &["megaraid_sas", "fatal error"],
    &["megaraid_sas", "fatal firmware error"],
    &["smartpqi", "resetting scsi"],
    &["hpsa", "resetting "],
    &["aacraid", "host adapter abort"],
    &["aacraid", "host adapter reset"],
    &["aacraid", "host device reset"],
    &["aacraid", "host target reset"],
    &["aacraid", "host bus reset"],
    // Of the layers above them: what a drive answered, and one that answers no more.
    &["sense key : hardware error"],
    &["timing out command, waited"],
    &["device offlined"],
    &["rejecting i/o to offline device"],
    &["failed command: read fpdma"],
    &["failed command: read dma"],
    &["failed command: write fpdma"],
    &["failed command: write dma"],
    &["failed command: flush cache"],
    &["mmcblk", "error -"],
    // Ways over a network or a fabric.
    &["device-mapper: multipath", "failing path"],
    &["session recovery timed out"],
    // A port that is no target goes away and comes back (`fc_timeout_deleted_rport` in the kernel's `drivers/scsi/scsi_transport_fc.c`).
    &["blocked fc remote port time out", "removing target"],
    // ZFS, of a device of a pool.
    &["zio pool=", "error="],
    &["eid=", "class=io", "pool="],
    &["ereport.fs.zfs.io"],
    // The driver of Unraid's array.
    &["md: disk", " read error"],
    &["md: disk", " write error"],
    // What came damaged over the line to a drive (0x4703 in the kernel's `drivers/scsi/sense_codes.h`).
    &["iucrc error detected"],
    // Data that a journal waited for (`journal_finish_inode_data_buffers` in its `fs/jbd2/commit.c`).
    &["jbd2: detected io errors"],
    // `bch_count_io_errors` in its `drivers/md/bcache`.
    &["bcache", ": io error on "],
    // A drive that never answered (`ata_eh_reset` in its `drivers/ata/libata-eh.c`).
    &["ata", ": reset failed, giving up"],
];

/// At the start every drive at a SAS controller says so. The others say when that is due: starts of the machine, and hosts at which drives
/// are plugged in.
const RESET: Words = &[
    &["power-on or device reset occurred"],
    &["-- boot"],
    &["-- reboot"],
    &["linux version "],
    &["scsi", ": usb-storage"],
    &["scsi", ": uas"],
    &["usb-storage ", "mass storage device detected"],
    // A drive at USB (`hub_port_init` in its `drivers/usb/core/hub.c`), and the machine that wakes (`thaw_processes`).
    &["usb ", "usb device number"],
    &["restarting tasks"],
];

/// What a request asked for that failed, where the kernel does without it.
pub(super) const OPTIONAL: [&str; 5] =
    ["(discard)", "(write_zeroes)", "(write_same)", "dataset management(0x9)", "write zeroes(0x8)"];

/// At each mount btrfs tells of the counters that it keeps.
const COUNTED: Words = &[&["btrfs info", "bdev ", "errs:"]];

/// An array that stops (`drivers/md/raid5.c`, `raid10.c`).
const TOO_FEW: Words = &[&["md/raid", "cannot continue operation"], &["md/raid", "not enough operational"]];
/// One that is not started, for what was being written when power went cannot be told without all members (`raid5_run`).
const DIRTY: Words = &[&["md/raid", "cannot start dirty degraded array"]];

/// `zio_suspend` in OpenZFS's `module/zfs/zio.c`.
const SUSPENDED: Words = &[&["pool '", "has been suspended"], &["mmp writes to pool", "suspending pool"]];

/// Namespaces and controllers that are not used, for another has their identifiers (`nvme_init_ns_head`, `nvme_init_subsystem` and
/// `nvme_validate_cntlid` in the kernel's `drivers/nvme/host/core.c`).
const DUPLICATE_IDS: Words = &[
    &["nvme", "globally duplicate ids"],
    &["nvme", "duplicate ids in subsystem"],
    &["nvme", "because of duplicate ids"],
    &["nvme", "duplicate subnqn"],
    &["nvme", "duplicate cntlid"],
];

/// What comes past the end of a device (`bio_check_eod` in its `block/blk-core.c`), now and before Linux 5.19.
const PAST_END: Words = &[&[": rw=", "sector=", "limit="], &[": rw=", "want=", "limit="]];

/// Threads that do nothing but read and write (`check_hung_task` in its `kernel/hung_task.c`).
const WAITING: Words = &[
    &["task jbd2/", "blocked for more than"],
    &["task xfsaild/", "blocked for more than"],
    &["task btrfs-", "blocked for more than"],
    &["task txg_sync:", "blocked for more than"],
    &["task z_", "blocked for more than"],
    &["task md", "_raid", "blocked for more than"],
    &["task md", "_resync", "blocked for more than"],
    &["task dmcrypt_write", "blocked for more than"],
    &["task scsi_eh_", "blocked for more than"],
];

const THROWN_OUT: Words = &[&["disk failure on"], &["kicking non-fresh"]];
/// `mdadm --monitor` of an array (`alert` in mdadm's `Monitor.c`).
const MONITORED: Words = &[&[" event ", "detected on md device"]];
/// ZED of a pool (`cmd/zed/zed.d/all-syslog.sh` of OpenZFS), and `zpool events`.
const POOL_DEVICES: Words = &[&["eid=", " class="], &["ereport.fs.zfs."]];

const READ_ONLY: Words = &[
    &["remounting filesystem read-only"],
    &["btrfs", "forced readonly"],
    &["xfs", "shutting down filesystem"],
    &["xfs", "has been shut down"],
    &["xfs_do_force_shutdown"],
    // What it answers from then on.
    &["xfs", "xfs_log_force: error"],
    // What btrfs cannot go on from (`__btrfs_handle_fs_error` in the kernel's `fs/btrfs/messages.c`).
    &["btrfs: error (device", ": errno=-"],
    // `jbd2_journal_abort` in the kernel's `fs/jbd2/journal.c`, `__fat_fs_error` in its `fs/fat/misc.c`.
    &["aborting journal on device"],
    &["filesystem has been set read-only"],
    &["bcachefs", "emergency read only"],
    &["bcachefs", "emergency read-only"],
];

const NOT_MOUNTED: Words = &[
    &["btrfs", "open_ctree failed"],
    &["btrfs error", "devid", "is missing"],
    &["btrfs", "failed to read chunk tree"],
    &["ext4-fs", "error loading journal"],
    // Its device failed: EIO. What is damaged is told otherwise.
    &["xfs", "log mount/recovery failed: error -5"],
];

const DAMAGED: Words = &[
    &["f2fs-fs", "run fsck to fix"],
    &["bcachefs", "error validating btree node"],
    &["bcachefs", "btree node read error"],
    &["bcachefs", "inconsistency detected"],
    // ZFS stops where what it reads cannot be.
    &["panic at ", ".c:"],
    &["panic: zfs"],
];

/// What messages of a kind mean.
pub(super) struct Kind {
    pub(super) words: Words,
    pub(super) severity: Severity,
    /// What is so.
    pub(super) what: &'static str,
    /// What it costs, behind how many messages there are.
    pub(super) cost: &'static str,
    pub(super) advice: &'static str,
    /// What shows more of it. `DRIVE` and `DEVICE` become what the messages name, where that is one: the drive whole, or as it is.
    pub(super) command: &'static str,
}

pub(super) const SENT_TO_SLEEP: Kind = Kind {
    words: AWAY,
    severity: Error,
    what: "an NVMe drive went away or did not wake",
    cost: "; every request that was under way failed. Three things put drives to sleep: ",
    advice: "Switch them off one at a time, in this order, and see which it was: `nvme_core.default_ps_max_latency_us=0`, \
             `pcie_aspm=off`, `pcie_port_pm=off` on the kernel's command line. If none helps it is the power supply, the riser or the \
             drive.",
    command: "dmesg | grep -i nvme",
};

/// Counters of a device of a btrfs (`btrfs_dev_stat_inc_and_print` in the kernel's `fs/btrfs/volumes.c`) among which only those of content are
/// not 0.
pub(super) const NO_REQUESTS: &str = "errs: wr 0, rd 0, flush 0,";

pub(super) const BAD_BLOCKS: Kind = Kind {
    words: CHECKSUMS,
    severity: Error,
    what: "blocks were read that are not what was written",
    cost: ", each a bad block that was read; a mirror repairs it, nothing else does",
    advice: "Scrub what they name, then ask the drives for their health; if several drives are named, test the memory.",
    command: "dmesg | grep -iE 'checksum|csum|crc|aead|errs:'",
};

pub(super) const FAILED_REQUESTS: Kind = Kind {
    words: REQUESTS,
    severity: Warning,
    what: "requests to drives failed or had to be repeated",
    cost: "; each may have cost up to 30 s of waiting, and what was not repaired by an array failed",
    advice: "Ask the drives that they name for their health; look at cables first where a link was reset or made slower.",
    command: "dmesg | grep -iE -e 'error, dev|i/o error|timeout|reset|link speed|ncq|uas' -e 'abort|sense key|failed|offline'",
};

/// Of `smartd`. What stands before the brackets is a volume, or any drive of the controller.
pub(super) const BEHIND_CONTROLLER: Kind = Kind {
    words: &[&["device: /dev/", "], smart failure: "], &["device: /dev/", "failed smart self-check"]],
    severity: Error,
    what: "a drive behind a controller fails its own assessment",
    cost: "; it may fail at any time, and 1 drive less holds what stands on it",
    advice: "See first that there is a copy, then have it replaced. The number in brackets is that of the drive at its controller.",
    command: "smartctl --scan-open",
};

pub(super) const DEVICE_COUNTERS: Kind = Kind {
    words: COUNTED,
    severity: Warning,
    what: "a btrfs keeps counters of errors of its devices",
    cost: "; they are kept over restarts until somebody resets them, so that only growth tells of a fault now",
    advice: "Scrub it and ask the drives for their health. Reset the counters when it is known why they counted.",
    command: OF_FILE_SYSTEMS,
};

pub(super) const CORRECTED: Kind = Kind {
    words: &[&["pcie bus error", "severity=correct"]],
    severity: Information,
    what: "links of storage had errors that were corrected",
    cost: "; what was damaged on the way was sent again, and nothing was lost",
    advice: "A few do no harm. Many are a bad contact, a riser or a cable, or a link that saves power badly: count them.",
    command: OF_LINKS,
};

pub(super) const NOT_CORRECTED: Kind = Kind {
    words: &[&["pcie bus error", "severity=uncorrect"], &["pcie bus error", "severity=fatal"]],
    severity: Warning,
    what: "links of storage had errors that were not corrected",
    cost: "; each is a request that failed or a link that was lost",
    advice: "Look at what the device is plugged into first: its slot, its riser, its cable, its power.",
    command: OF_LINKS,
};

const OF_LINKS: &str = "dmesg | grep -iE 'pcie bus error|aer:'";

pub(super) const LOST_MEMBERS: Kind = Kind {
    words: THROWN_OUT,
    severity: Error,
    what: "an array went on without a member",
    cost: "; what stands on it has lost redundancy, if it had any",
    advice: "Find out why the member failed before it is added again: its health, its cable, its power.",
    command: "cat /proc/mdstat",
};

pub(super) const REPORTED_MEMBERS: Kind = Kind {
    words: MONITORED,
    cost: "; what stands on it has lost redundancy, if it had any, and how many members are left is not told",
    advice: "See which member is missing and why before anything is added: its health, its cable, its power. Another may have failed since.",
    ..LOST_MEMBERS
};

pub(super) const LOST_DEVICES: Kind = Kind {
    words: POOL_DEVICES,
    severity: Error,
    what: "a pool went on without a device",
    cost: "; what stands on it has lost redundancy, if it had any",
    advice: "See which device it is and why it left: its health, its cable, its power. One that was away for a moment is brought back \
             with `zpool online`.",
    command: "zpool status -v",
};

pub(super) const RESETS: Kind = Kind {
    words: RESET,
    severity: Warning,
    what: "drives were reset again and again",
    cost: "; at the start each says so once, and later each is power that went away, or the end of requests that were not answered",
    advice: "Look at power, backplane and cables first, then at the firmware of the controller and of the drives; at USB at the power of \
             its port, and at the bridge in its case (with UAS also `usb-storage.quirks=VENDOR:PRODUCT:u` of the kernel).",
    command: "dmesg | grep -iE 'device reset|usb device number|abort'",
};

pub(super) const FAILED_ARRAYS: Kind = Kind {
    words: TOO_FEW,
    severity: Error,
    what: "an array has lost more members than it can do without",
    cost: "; 0 bytes on it are sure to be read",
    advice: "Write nothing to its members: `--add` and `--create` destroy what is left. Find out what took them away at once; a cable, a \
             controller or its power takes several.",
    command: "cat /proc/mdstat",
};

pub(super) const DIRTY_ARRAYS: Kind = Kind {
    words: DIRTY,
    severity: Error,
    what: "an array that lacks a member and was not stopped in order was not started",
    cost: "; 0 bytes on it can be read until it is; parity of what was being written when it stopped may be wrong",
    advice: "Bring back the member that is missing: with all of them it starts. Ask each what it knows of the array before anything is \
             decided. `--create` destroys what is left.",
    command: "mdadm --examine MEMBER …",
};

pub(super) const SUSPENDED_POOLS: Kind = Kind {
    words: SUSPENDED,
    severity: Error,
    what: "a pool was suspended",
    cost: "; every request to it waits until it is let go on",
    advice: "Bring back the devices that went away; then `zpool clear` lets it go on. Replace nothing before.",
    command: "zpool status -v",
};

pub(super) const STOPPED: Kind = Kind {
    words: READ_ONLY,
    severity: Error,
    what: "a file system was made read-only or was shut down",
    cost: ": nothing has been written to it since",
    advice: "Copy what is needed, find what failed below it, then check it while it is not mounted.",
    command: OF_FILE_SYSTEMS,
};

/// `ENOSPC` of what btrfs cannot go on from (`__btrfs_handle_fs_error` in the kernel's `fs/btrfs/messages.c`).
pub(super) const NO_ROOM: Kind = Kind {
    words: &[&["btrfs: error (device", "errno=-28"]],
    severity: Error,
    what: "a btrfs had no room for its own metadata, and was made read-only",
    cost: ": nothing has been written to it since",
    advice: "No drive has failed, and nothing is to be repaired. Mount it again, and give it room at once: remove snapshots and files, or add \
             a device for as long as it takes; then gather what its blocks of data hold (`btrfs balance start -dusage=10`), which gives \
             back room that metadata can take. Do not balance metadata.",
    command: "btrfs filesystem usage TARGET",
};

pub(super) const INCONSISTENT: Kind = Kind {
    words: DAMAGED,
    severity: Error,
    what: "a file system found errors in itself",
    cost: ", each of a place whose content cannot be trusted",
    advice: "Copy what is needed. Ask the drives below it for their health, then check it while it is not mounted: first without \
             changing anything.",
    command: OF_FILE_SYSTEMS,
};

pub(super) const UNMOUNTABLE: Kind = Kind {
    words: NOT_MOUNTED,
    severity: Warning,
    what: "a file system could not be mounted",
    cost: "; the messages before it say why: a device that is missing, or damage",
    advice: "Bring back what is missing. Where it is damaged copy the devices before anything tries to repair it.",
    command: OF_FILE_SYSTEMS,
};

pub(super) const LEFT_OUT: Kind = Kind {
    words: DUPLICATE_IDS,
    severity: Error,
    what: "an NVMe drive is not used, for another has the same identifiers",
    cost: "; 0 bytes on it can be reached, and it need not be at fault: its firmware gives several drives the same identifiers",
    advice: "Look for newer firmware of both. Linux 6.5 and later uses a drive at PCIe whose namespaces have the identifiers of another's: \
             name its partitions by their own UUID then, and not by `/dev/disk/by-id`.",
    command: "dmesg | grep -iE 'nvme.*duplicate'",
};

pub(super) const OTHER_BLOCKS: Kind = Kind {
    words: &[&["unsupported sector size"]],
    severity: Warning,
    what: "a drive has blocks of a size that the kernel cannot use",
    cost: "; 0 bytes on it can be reached: 520 or 528 bytes hold 512 and a checksum, as storage systems want it",
    advice: "If it holds what somebody needs, put it back into what it is from. If not it can be formatted to blocks of 512 bytes \
             (sg_format(8)), which destroys all on it, takes hours and may not be stopped.",
    command: "dmesg | grep -i 'sector size'",
};

pub(super) const BEYOND: Kind = Kind {
    words: PAST_END,
    severity: Warning,
    what: "requests went past the end of a device",
    cost: "; each failed: the device is smaller than what stands on it was made for, or what stands there is damaged",
    advice: "Repair nothing yet, for that cuts off what is out of reach. Compare its size with what the file system, the array or the table \
             of partitions on it wants. What was made smaller (a partition, a volume, a drive with a hidden area) is made larger \
             again first. If the sizes agree, copy what is needed, then check it while it is not mounted.",
    command: "lsblk -b",
};

/// `ext4_check_geometry` in its `fs/ext4/super.c`.
pub(super) const TOO_LARGE: Kind = Kind {
    words: &[&["ext4-fs", "bad geometry", "exceeds size of device"]],
    severity: Error,
    what: "a file system is larger than its device",
    cost: "; it is not mounted: the device is smaller than when it was made, or was never as large",
    ..BEYOND
};

pub(super) const STUCK: Kind = Kind {
    words: WAITING,
    severity: Warning,
    what: "threads that read and write were stuck",
    cost: "; each waited for 2 minutes or longer, and with it all who write there. The kernel tells of the first 10 only",
    advice: "Look for what they wait for: a drive that answers late or not at all, a path that is lost, a pool that was suspended. Hard disks \
             with overlapping tracks and full drives of flash answer so late without a fault.",
    command: "dmesg | grep -A 20 'blocked for more'",
};

pub(super) const DIFFERENT_PARITY: Kind = Kind {
    words: &[&["md: recovery thread:", " corrected, sector="], &["md: recovery thread:", " incorrect, sector="]],
    severity: Warning,
    what: "parity is not what its data say",
    cost: ", each of a stripe from which a lost drive would not have been rebuilt as it was",
    advice: "After power went while something was written a few are to be expected. Otherwise check again without correcting: where \
             other places are named, test the memory and look at the controller and its cables; ask all drives for their health.",
    command: "dmesg | grep 'recovery thread'",
};

pub(super) const STARTED_SHORT: Kind = Kind {
    words: &[&["md/raid", " active with "], &["md: md", ": recovery done"]],
    severity: Error,
    what: "an array was started without all its members",
    cost: "; what stands on it has lost redundancy unless they came back later",
    advice: "See which is missing, and why, before anything is added: its health, its cable, its power.",
    command: "cat /proc/mdstat",
};

pub(super) const LOST_SNAPSHOT: Kind = Kind {
    words: &[&["device-mapper: snapshots:", "invalidating snapshot"]],
    severity: Error,
    what: "a snapshot is lost",
    cost: "; 0 bytes of what it kept can be read. The volume that it was of is whole",
    advice: "It had no room left for what changed, or its device failed. It cannot be repaired; give the next one more room.",
    command: "lvs -a",
};

pub(super) const OF_FILE_SYSTEMS: &str = "dmesg | grep -iE 'ext4|btrfs|xfs|zfs|bcachefs|panic at'";
