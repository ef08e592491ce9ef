//! What the kernel and daemons say of layers between drives and file systems, and of what carries and feeds them.

use terms::a_program_says;

use super::message_kinds::Kind;
use crate::check::{Error, Warning};

/// Those that tell of requests and of what carries them.
pub(super) const OF_REQUESTS: [Kind; 7] = [LOST_INTERRUPTS, SLOW, CUT_OFF, DAMAGED_FRAMES, SUPPLY, BAD_BITMAP, SPLIT];

/// Those that tell of what takes no more writes.
pub(super) const OF_VOLUMES: [Kind; 3] = [CACHE, VDO, WRONG_IN_MEMORY];

/// `nvme_timeout` in the kernel's `drivers/nvme/host/pci.c`: the answer was there.
const LOST_INTERRUPTS: Kind = Kind {
    words: &[&["nvme", "timeout, completion polled"]],
    severity: Warning,
    what: "an NVMe drive answered, and its interrupt did not arrive",
    cost: "; each request waited 30 s for an answer that was there. No block is bad and nothing was lost",
    advice: "It is the way of interrupts: firmware of the board and of the drive, the kernel, or what emulates the drive in a virtual machine. Look \
             for newer ones of each, and whether one processor takes all that are late. Format and replace nothing for it.",
    command: "grep nvme /proc/interrupts",
};

/// Is it told by one of those above? Then it is no request that failed.
pub(super) fn is_lost_interrupt(line: &str) -> bool {
    LOST_INTERRUPTS.words[0].iter().all(|word| line.contains(word))
}

/// ZED and `zpool events`: `zio_slow_io_ms` (30 s) and `zfs_deadman_ziotime_ms` (300 s) of zfs(4).
const SLOW: Kind = Kind {
    words: &[
        &["eid=", "class=delay", "pool="],
        &["eid=", "class=deadman", "pool="],
        &["ereport.fs.zfs.delay"],
        &["ereport.fs.zfs.deadman"],
    ],
    severity: Warning,
    what: "devices of a pool took longer than 30 s for requests",
    cost: "; each held up what waited for it",
    advice: "One device that is late alone fails, or its cable does: ask it for its health and its errors of line. Hard disks with overlapping tracks are \
             late while they rearrange what was written. Where all are late it is the controller, its power, or too much work.",
    command: "zpool iostat -v -l",
};

/// Drives over a network: `nvme_tcp_error_recovery` and others in `drivers/nvme/host`, and `iscsi_conn_error_event` in
/// `drivers/scsi/scsi_transport_iscsi.c` (1011 and 1022 are lost connections and pings in `include/scsi/iscsi_if.h`; others come at the end of a session).
pub(super) const CUT_OFF: Kind = Kind {
    words: &[
        &["nvme nvme", "starting error recovery"],
        &["nvme nvme", ": reconnecting in "],
        &["nvme nvme", "failed reconnect attempt"],
        &["nvme nvme", "failed to connect socket"],
        &["nvme nvme", "keep_alive_end_io error"],
        &["detected conn error (1011)"],
        &["detected conn error (1022)"],
    ],
    severity: Warning,
    what: "the connection to a drive over the network was lost",
    cost: "; its requests wait for it, and fail when it is not back in time",
    advice: "No drive is at fault before its storage is asked. Look at the network between both: errors and lost packets of ports, one MTU on the whole \
             way, and what else uses it; then at the storage itself. Check file systems on it that were stopped.",
    command: "ip -s link",
};

/// `hwmon` of a Raspberry Pi and others (`drivers/hwmon/raspberrypi-hwmon.c`), and hubs of USB (`port_event` in `drivers/usb/core/hub.c`).
const SUPPLY: Kind = Kind {
    words: &[&["undervoltage detected"], &["under-voltage detected"], &["over-current condition"]],
    severity: Warning,
    what: "the power supply does not hold",
    cost: "; drives at it may be lost or forget what they were writing",
    advice: "Give the machine a stronger supply and a shorter cable, and drives at USB a supply of their own. Believe errors of drives only \
             after that; check file systems on those that went away.",
    command: "dmesg | grep -iE 'voltage|over-current'",
};

/// `md_bitmap_read_sb` in the kernel's `drivers/md/md-bitmap.c`, and what `md_run` in its `md.c` makes of it.
const BAD_BITMAP: Kind = Kind {
    words: &[
        &["invalid bitmap file superblock"],
        &["bitmap superblock uuid mismatch"],
        &["md", "failed to create bitmap"],
    ],
    severity: Error,
    what: "an array was not started, for its bitmap cannot be read",
    cost: "; 0 bytes on it can be read until it is started. The bitmap only tells what to resync, and members and data are as they were",
    advice: "Zero no superblock and make nothing anew. See that all members agree (`Events`) and are sound; then it is assembled without its bitmap \
             (`--update=no-bitmap`), and gets another when it runs.",
    command: "mdadm --examine MEMBER …",
};

/// `drbd_asb_recover` and others in the kernel's `drivers/block/drbd/drbd_receiver.c`.
const SPLIT: Kind = Kind {
    words: &[&["split-brain detected but unresolved"]],
    severity: Error,
    what: "two machines wrote to the same DRBD device apart from each other",
    cost: "; each has changes that the other has not, and 1 side loses its own when they are joined",
    advice: "Stop what writes on the side that will lose, and copy what only it has. Decide which side is kept before anything is connected: \
             `--discard-my-data` throws away all that the side on which it is typed has alone. Find out why both could write: fencing was missing.",
    command: "dmesg | grep -i drbd",
};

/// `set_cache_mode` in the kernel's `drivers/md/dm-cache-target.c`, `dm_cache_metadata_open` in its `dm-cache-metadata.c`.
const CACHE: Kind = Kind {
    words: &[
        &["device-mapper: cache", "switching cache to read-only mode"],
        &["device-mapper: cache", "switching cache to fail mode"],
        &["device-mapper: cache", "until repaired"],
        &["device-mapper: cache metadata", "failed"],
    ],
    severity: Error,
    what: "a cache of LVM has failed, or its metadata is damaged",
    cost: "; what was written and is only in the cache cannot be reached until it is repaired",
    advice: "Take the cache away by no force: in mode `writeback` what was written last is in it alone, and the volume behind it is old. Copy both \
             devices, ask the cache's drive for its health, then check and repair its metadata while it is not in use (`lvconvert --repair`).",
    command: "lvs -a",
};

/// The kernel's `drivers/md/dm-vdo`, and `kvdo` before Linux 6.9.
const VDO: Kind = Kind {
    words: &[&["vdo", "enter", "read-only mode"], &["vdo", "out of space"]],
    severity: Error,
    what: "a volume with deduplication (VDO) can only be read, or has no physical space left",
    cost: "; what was written then failed, and file systems on it may be damaged",
    advice: "Stop what writes. Where space is out make the pool larger, or give back what is not used (`fstrim` of what is on it), and watch it: its volumes \
             promise more than it has. One that can only be read goes on so until it is rebuilt, which is for when a copy is made.",
    command: "lvs -a",
};

/// IEEE 802.3, 3.2.9: what a port receives with a wrong checksum it throws away, and somebody sends it again.
const DAMAGED_FRAMES: Kind = Kind {
    words: &[&[a_program_says!("network port: ")]],
    severity: Warning,
    what: "a network port receives damaged frames",
    cost: "; each was lost and had to be sent again, so that drives behind it answer late, and 0 bytes of them are wrong by it",
    advice: "Look at the cable, its plugs and the transceivers at both ends, then at the port. They count since the port was started: look again in a \
             while, and see whether they grow. No drive is at fault.",
    command: "ip -s link",
};

/// What btrfs checks before it writes (`btree_csum_one_bio` in the kernel's `fs/btrfs/disk-io.c`).
const WRONG_IN_MEMORY: Kind = Kind {
    words: &[&["btrfs", WRITE_TIME]],
    severity: Error,
    what: "a btrfs found in memory, before it was written, a block of its tree that cannot be right",
    cost: "; it was not written, and the file system takes no more writes. What was not on the drives yet is lost, and 0 bytes there are damaged by it",
    advice: "Test the memory first, all of it for some hours (memtest86+): a bit that changed there is the usual cause, and what else passed through it \
             may be wrong on the drives. A fault of the kernel is the other. Then start again and scrub. No drive is at fault.",
    command: "dmesg | grep -i btrfs",
};

const WRITE_TIME: &str = "write time tree block corruption";

/// Those that do not tell of a block that `messages` say was wrong before it was written, nor that its file system stopped for it.
pub(super) fn beyond_memory<'a>(lines: Vec<&'a str>, messages: &[String]) -> Vec<&'a str> {
    let told: Vec<&str> = messages.iter().map(String::as_str).filter(|line| line.contains(WRITE_TIME)).collect();
    let is_told = |line: &str| {
        told.iter().any(|own| {
            let block = behind(line, "block=");
            behind(line, "(device ").is_some()
                && behind(line, "(device ") == behind(own, "(device ")
                && (block.is_none() || block == behind(own, "block="))
        })
    };
    lines.into_iter().filter(|line| !is_told(line)).collect()
}

/// The word behind another.
fn behind<'t>(line: &'t str, start: &str) -> Option<&'t str> {
    line.split_once(start)?.1.split([' ', ')', ':']).next()
}
