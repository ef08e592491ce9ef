//! What programs said that read, check and import what stands on drives: what it means, and what must not be done then.

use terms::a_program_says;

use super::message_kinds::Kind;
use crate::check::{Error, Information, Warning};

/// Those that tell of requests and of what carries them.
pub(super) const OF_REQUESTS: [Kind; 6] = [LEFT_BEHIND, NO_PATHS, NOT_READ, NOT_COPIED, ENCLOSURE, UNKNOWN_BRIDGE];

/// Those that tell of what cannot be used.
pub(super) const OF_VOLUMES: [Kind; 5] = [OF_ANOTHER, NOT_CHECKED, ONE_HEADER, WRONG_WORD, NOT_REPLAYED];

/// `mdadm --examine` of several members: what one says of another (md(4), `Events`).
const LEFT_BEHIND: Kind = Kind {
    words: &[&[a_program_says!("mdadm --examine: ")]],
    severity: Error,
    what: "an array went on without a member, which is out of date",
    cost: "; what it holds is older than what the others hold, and the array has lost redundancy",
    advice: "Leave the member out until it is known why it left: its health, its cable, its power. Started from it the array would have what \
             was written before it left. What is added to the array is filled from the others; `--create` and `--zero-superblock` destroy \
             what is left, and `--force` takes what is out of date for good.",
    command: "mdadm --examine MEMBER …",
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
    advice: "See which element it is, above that line, and have that part replaced: most can be while it runs. Pull no drive for it. Where a power \
             supply or a fan is gone the other carries all.",
    command: "dmesg",
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
