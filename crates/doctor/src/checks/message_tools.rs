//! What programs said that read, check and import what stands on drives: what it means, and what must not be done then.

use terms::a_program_says;

use super::message_kinds::Kind;
use crate::check::{Error, Information, Warning};

/// Those that tell of requests and of what carries them.
pub(super) const OF_REQUESTS: [Kind; 11] = [
    NEEDED,
    LEFT_BEHIND,
    LISTED,
    NO_PATHS,
    NOT_READ,
    NOT_COPIED,
    ENCLOSURE,
    UNKNOWN_BRIDGE,
    DAMAGED_ON_CABLE,
    UNREADABLE,
    NO_MONITOR,
];

/// Those that tell of what cannot be used.
pub(super) const OF_VOLUMES: [Kind; 8] =
    [OF_ANOTHER, NOT_CHECKED, ONE_HEADER, WRONG_WORD, NOT_REPLAYED, CHECKED_IN_USE, STILL_DAMAGED, WOULD_REPAIR];

/// `mdadm --examine` of several members: what one says of another (md(4), `Events`).
const LEFT_BEHIND: Kind = Kind {
    words: &[&[a_program_says!("mdadm --examine: "), "go on without it"]],
    severity: Error,
    what: "an array went on without a member, which is out of date",
    cost: "; what it holds is older than what the others hold, and the array has lost redundancy",
    advice: "Leave the member out until it is known why it left: its health, its cable, its power. Started from it the array would have what \
             was written before it left. What is added to the array is filled from the others; `--create` and `--zero-superblock` destroy \
             what is left, and `--force` takes what is out of date for good.",
    command: "mdadm --examine MEMBER …",
};

/// The same where the members that are up to date are too few (mdadm(8), `--force` of `--assemble`).
const NEEDED: Kind = Kind {
    words: &[&[a_program_says!("mdadm --examine: "), "cannot start without it"]],
    severity: Error,
    what: "an array cannot start without a member that it calls missing",
    cost: "; what was written in these events is on the others alone, and few events are seconds of writes",
    advice: "Create and zero nothing. Copy all members first, or put a snapshot over each, so that every try can be taken back. Then assemble the \
             array with the newest members and this one, and without those that are further behind: `mdadm --assemble --force` takes a member \
             that is out of date as if it were not. Look at what is there without writing (`fsck -n`, a mount to read). Only then are the \
             others added anew, and filled.",
    command: "mdadm --examine MEMBER …",
};

/// The list of md(4), “BAD BLOCK LIST”, as `examine_super1` of mdadm's `super1.c` tells of it.
const LISTED: Kind = Kind {
    words: &[&[a_program_says!("mdadm --examine: "), "has bad blocks on its list"]],
    severity: Warning,
    what: "blocks of a member are on its list of bad blocks",
    cost: "; 1 copy less of what is there: md reads them from the others only, and where they are on the lists of several members what is in \
           them is lost, with all members in sync",
    advice: "Compare the lists of all members, and ask the drives for their health. A block leaves the list when it is written anew and the drive \
             takes it. Replace the member where the list grows, or where other members have the same blocks.",
    command: "mdadm --examine-badblocks MEMBER",
};

/// `mpath_sigma` of multipath-tools' `multipathd/main.c`: all ways are lost.
const NO_PATHS: Kind = Kind {
    words: &[&[a_program_says!("multipathd: "), "remaining active paths: 0"]],
    severity: Error,
    what: "a drive was reached on no path any more",
    cost: "; its requests wait or fail until 1 path is back, as `no_path_retry` says",
    advice: "No drive need be at fault where all paths went at once: look at the switch, the storage, its power and what changed there. Bring \
             one path back, and check the file systems on it when they have stopped.",
    command: "multipath -ll",
};

/// EIO, as programs that read and write files and drives tell it (errno(3)).
const NOT_READ: Kind = Kind {
    words: &[
        &[a_program_says!("fio: "), "input/output error"],
        &[a_program_says!("dd: "), "input/output error"],
        &[a_program_says!("cp: "), "input/output error"],
        &[a_program_says!("mv: "), "input/output error"],
        &[a_program_says!("cat: "), "input/output error"],
        &[a_program_says!("ls: "), "input/output error"],
        &[a_program_says!("tar: "), "input/output error"],
        &[a_program_says!("rsync: "), "input/output error"],
    ],
    severity: Warning,
    what: "a program could not read or write something",
    cost: "; each is a request that failed, and nobody repeated it",
    advice: "The kernel's messages of that moment say why: a bad block, a link, a file system that stopped or a checksum that did not match. \
             Look there first. Where a drive fails copy what is needed before anything checks or repairs what is on it.",
    command: "dmesg",
};

/// ddrescue(1) counts them while it copies.
const NOT_COPIED: Kind = Kind {
    words: &[&[a_program_says!("ddrescue: ")]],
    severity: Error,
    what: "a drive could not be read everywhere while it was copied",
    cost: "; what is there is lost unless it can be read when it is tried again",
    advice: "Keep the map file: with it the copy goes on where it stopped, and `-r3` tries the bad places again. Write nothing to the drive that is \
             copied, and repair nothing on it: check the copy, or a copy of that.",
    command: "dmesg",
};

/// SES-3, 7.2.2: what an element of an enclosure says of itself, as `sg_ses` prints it.
const ENCLOSURE: Kind = Kind {
    words: &[&[a_program_says!("sg_ses: ")]],
    severity: Warning,
    what: "an enclosure says that a part of it has failed or is about to",
    cost: "; it may be a fan, a power supply, an expander or a bay, and drives may go with it",
    advice: "Have that part replaced: most can be while it runs. Pull no drive for it. Where a power supply or a fan is gone the other carries \
             all.",
    command: "sg_ses --page=es DEVICE",
};

/// smartctl(8), `-d TYPE`.
const UNKNOWN_BRIDGE: Kind = Kind {
    words: &[&[a_program_says!("smartctl: "), "unknown usb bridge"]],
    severity: Information,
    what: "`smartctl` does not know the bridge before a drive at USB, and tells nothing of its health",
    cost: "; 0 attributes of it were read, which says nothing of the drive",
    advice: "Name the kind of bridge: `-d sat` for most with SATA drives, `-d sntjmicron`, `-d sntasmedia` or `-d sntrealtek` for those with NVMe \
             drives. Some let nothing through: put the drive in a port of its own to ask it.",
    command: "smartctl --scan-open",
};

/// Bit 7 of an ATA drive's error register, `ICRC` (ATA8-ACS, 6.2).
const DAMAGED_ON_CABLE: Kind = Kind {
    words: &[&[a_program_says!("smartctl: "), "error: icrc"]],
    severity: Warning,
    what: "a drive's own log tells of data that came damaged over its cable",
    cost: "; each was sent again, and 0 bytes of it were written wrong",
    advice: "Look at the cable and at both its plugs, then at the backplane and the power; the drive itself is hardly at fault. The log keeps its \
             entries for ever: only hours that are not far from the drive's own tell of a fault that goes on.",
    command: "smartctl -x DEVICE",
};

/// Bit 6 of the same register, `UNC`.
const UNREADABLE: Kind = Kind {
    words: &[&[a_program_says!("smartctl: "), "error: unc"]],
    severity: Warning,
    what: "a drive's own log tells of blocks that it could not read",
    cost: "; what was in them is lost unless a copy has it",
    advice: "Copy what is needed, or scrub what has redundancy. Then see whether sectors wait to be written again (`Current_Pending_Sector`), and \
             replace the drive where they come again.",
    command: "smartctl -x DEVICE",
};

/// `mdadm --monitor` ends where it has nobody to tell (`Monitor` in mdadm's `Monitor.c`).
const NO_MONITOR: Kind = Kind {
    words: &[&[a_program_says!("mdadm monitor: ")]],
    severity: Warning,
    what: "nobody watches the arrays: the monitor ended, because it has nobody to tell",
    cost: "; 0 messages come of a lost drive until the next one fails",
    advice: "Write `MAILADDR` with an address that is read, or `PROGRAM`, into `mdadm.conf`, start the monitor again, and let it send a test.",
    command: "mdadm --monitor --scan --oneshot --test",
};

/// `zpool_do_import` in OpenZFS's `cmd/zpool/zpool_main.c`.
const OF_ANOTHER: Kind = Kind {
    words: &[&[a_program_says!("zpool: "), "cannot import"]],
    severity: Warning,
    what: "a pool is of another machine, or was not exported by the one that used it last",
    cost: "; 0 bytes of it are damaged by that. Two machines that write it at once destroy it",
    advice: "See that the other machine, which the message names, is off or does not have it any more. Only then it is imported with `-f`; until \
             that is sure at most to be read (`-o readonly=on`). Where it is the same machine give it a host id that stays (zgenhostid(8)).",
    command: "zpool import",
};

/// `_check_metadata` of LVM's `lib/activate/dev_manager.c`, for pools of thin volumes and caches.
const NOT_CHECKED: Kind = Kind {
    words: &[&[a_program_says!("lvm check: ")]],
    severity: Error,
    what: "the metadata of a pool of LVM is damaged, and the pool is not started",
    cost: "; 0 bytes of its volumes can be read until it is repaired",
    advice: "Remove nothing and make no pool anew: the data is there, and only the metadata says what is where. Copy its metadata first, see that the \
             group has room for another copy, then let it be repaired while it is not in use (`lvconvert --repair`), as lvmthin(7) says \
             (“Metadata check and repair”), and keep the old metadata until all is read.",
    command: "lvs -a",
};

/// LUKS2 keeps its header twice (`LUKS2_disk_hdr_read` in cryptsetup's `lib/luks2/luks2_disk_metadata.c`).
const ONE_HEADER: Kind = Kind {
    words: &[&[a_program_says!("cryptsetup: "), "header checksum error"]],
    severity: Error,
    what: "a copy of a header of LUKS2 is damaged",
    cost: "; 1 copy is left, and without it 0 bytes can be decrypted",
    advice: "Save the header to another drive first (`luksHeaderBackup`), then see what wrote there and ask the drive for its health. `cryptsetup repair` \
             writes the good copy over the bad one. `luksFormat` destroys both.",
    command: "cryptsetup luksDump DEVICE",
};

/// `crypt_keyslot_open` found none (cryptsetup(8), “NOTES ON PASSPHRASES”).
const WRONG_WORD: Kind = Kind {
    words: &[&[a_program_says!("cryptsetup: "), "no key available"]],
    severity: Information,
    what: "a passphrase opens none of the keys of a header",
    cost: "; the header was read and 0 bytes are damaged by that",
    advice: "Try the keyboard as it was when it was set: layout, caps lock, digits. See which keyslots there are, and whether a header that was saved \
             has another. Neither format nor remove a keyslot: what the right passphrase opens would be lost.",
    command: "cryptsetup luksDump DEVICE",
};

/// xfs_repair(8), “Dirty log”.
const NOT_REPLAYED: Kind = Kind {
    words: &[&[a_program_says!("xfs_repair: "), "metadata changes in a log"]],
    severity: Warning,
    what: "an XFS has changes in its log that were not made yet",
    cost: "; what they change is lost where the log is thrown away",
    advice: "Mount it and unmount it again: that makes them. Only where it cannot be mounted, and when a copy of the device is made, is `-L` left, which \
             throws the log away and may lose files that were just written.",
    command: "dmesg | grep -i xfs",
};

/// `check_mount` in e2fsprogs' `e2fsck/unix.c`.
const CHECKED_IN_USE: Kind = Kind {
    words: &[&[a_program_says!("e2fsck: "), "is mounted"]],
    severity: Information,
    what: "a file system was checked while it was mounted",
    cost: "; what such a check finds need not be there: it reads while others write, and leaves the journal out. 0 bytes were changed by `-n`",
    advice: "Do not let it repair (`-y`, `-p`) while it is mounted: that damages it. Check it again while it is not mounted, or at the next start \
             (`fsck.mode=force` on the kernel's command line).",
    command: "findmnt",
};

/// e2fsck(8), `-n`.
const STILL_DAMAGED: Kind = Kind {
    words: &[&[a_program_says!("e2fsck: "), "still has errors"]],
    severity: Error,
    what: "a check of a file system found errors, and they are still there",
    cost: "; 0 bytes were changed where `-n` was said, and what is damaged cannot be trusted until it is repaired",
    advice: "Have a copy first, and ask the drive for its health: where blocks cannot be read a repair makes it worse. Then let it be repaired while \
             it is not mounted.",
    command: "fsck -n DEVICE",
};

/// xfs_repair(8), `-n`.
const WOULD_REPAIR: Kind = Kind {
    words: &[&[a_program_says!("xfs_repair: "), "would "]],
    severity: Error,
    what: "a check of an XFS found what it would repair",
    cost: "; 0 bytes were changed by `-n`",
    advice: "Have a copy first. A log that was not replayed makes a check find what is not there: mount it and unmount it, and check again. Ask the \
             drive for its health before anything is repaired, and repair while it is not mounted.",
    command: "dmesg | grep -i xfs",
};
