//! What programs said where they could not do what they were asked to.

use terms::a_program_says;
use terms::inventory::OF_PROGRAM;

use super::message_kinds::Kind;
use super::message_names;
use crate::check::{Error, Information, Warning};
use crate::machine::Machine;

/// The program, and what it said.
pub(super) fn parts(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix(OF_PROGRAM)?.split_once(": ")
}

/// Whatever words it has, what a program said is none of the kernel's messages.
pub(super) fn is_of(words: &[&str], line: &str) -> bool {
    line.starts_with(OF_PROGRAM) == words.first().is_some_and(|word| word.starts_with(OF_PROGRAM))
}

/// `e2fsck` and others with `-p` give up where a repair may lose something (`e2fsck(8)`, `-p`).
pub(super) const WANTS_A_PERSON: Kind = Kind {
    words: &[&[a_program_says!("fsck: "), "run fsck manually"]],
    severity: Error,
    what: "the check of a file system stopped: what it found may not be repaired without a person",
    cost: "; it is not mounted, and the machine may not start without it",
    advice: "Ask the drive for its health first: where blocks cannot be read a repair makes it worse. Have a copy of the device, look at what \
             would be changed (`-n` changes nothing), and only then let it be repaired while it is not mounted.",
    command: "fsck -n DEVICE",
};

/// `zpool_import_props` and `zpool_standard_error` in OpenZFS's `lib/libzfs`.
pub(super) const NOT_IMPORTED: Kind = Kind {
    words: &[&[a_program_says!("zpool import: ")]],
    severity: Error,
    what: "a pool could not be imported",
    cost: "; 0 bytes of it can be reached, and what is on its devices is as it was",
    advice: "Do not make it anew, whatever the message says: that destroys it. See which devices it misses, and whether the kernel tells of \
             errors of those that are there. It may be imported to be read only (`-o readonly=on`); what a step back in time would do \
             `zpool import -Fn` says without doing it. A log device that is gone is done without by `-m`, which gives up the last seconds \
             of what programs were told is safe. Copy the devices before anything else is tried.",
    command: "zpool import",
};

/// `LUKS_read_phdr` and `crypt_load` in cryptsetup's `lib`.
pub(super) const NO_HEADER: Kind = Kind {
    words: &[&[a_program_says!("cryptsetup: "), "is not a valid luks device"]],
    severity: Warning,
    what: "no header of LUKS was found where one was looked for",
    cost: "; without it 0 bytes can be decrypted. It may be on another device, or have been overwritten",
    advice: "Write nothing to it and format nothing. See first whether it is the right device or partition. If it is, look whether somebody has \
             a copy of the header (`cryptsetup luksHeaderBackup`). LUKS2 keeps a second one a little behind the first: on a copy of the \
             device `cryptsetup repair` puts it back. Where it is still open somewhere leave it open, and copy what is on it.",
    command: "lsblk -f",
};

/// mount(8). What the kernel says beside it tells why.
pub(super) const NOT_KNOWN: Kind = Kind {
    words: &[&[a_program_says!("mount: ")]],
    severity: Warning,
    what: "a file system could not be mounted",
    cost: "; the kernel's messages say why, and 0 bytes were changed by that",
    advice: "See what is on the device: a member of an array, of a volume group or of a pool, or something encrypted, is not mounted itself. Make \
             no file system there. Where there should be one copy the device before anything tries to repair it.",
    command: "lsblk -f",
};

/// systemd.device(5).
pub(super) const NOT_THERE: Kind = Kind {
    words: &[&[a_program_says!("systemd: timed out waiting for device")]],
    severity: Warning,
    what: "a device that was to be used at the start did not appear",
    cost: "; what names it in `/etc/fstab` or `/etc/crypttab` was not used, and without `nofail` the start waits 90 s and stops there",
    advice: "See whether the drive is there and has this UUID still: a new file system, a copy or a new header has another. Correct the line, and \
             give `nofail` to what the machine can do without.",
    command: "lsblk -o NAME,SIZE,FSTYPE,LABEL,UUID,PARTUUID",
};

/// `start_array` in mdadm's `Assemble.c`.
pub(super) const TOO_FEW_FOUND: Kind = Kind {
    words: &[&[a_program_says!("mdadm: "), "not enough to start the array"]],
    severity: Error,
    what: "an array was not started, for too few of its members agree",
    cost: "; 0 bytes on it can be read until they are back",
    advice: "Write nothing to its members: `--create`, `--add` and `--zero-superblock` destroy what is left. Ask each what it knows (`Events`, \
             `Update Time`): one that is long out of date was gone before and stays out. Bring back what is missing; a cable, a controller \
             or its power takes several at once.",
    command: "mdadm --examine MEMBER …",
};

/// `Grow_restart` in mdadm's `Grow.c`.
pub(super) const CRITICAL_SECTION: Kind = Kind {
    words: &[&[a_program_says!("mdadm: "), "failed to restore critical section"]],
    severity: Error,
    what: "an array was not started: it was changing its shape, and what it was moving is not there",
    cost: "; 0 bytes on it can be read until it is assembled with its backup",
    advice: "Assemble it with the file that the change was begun with (`--backup-file=FILE`), and with all its members. Have a copy of each member \
             first. Neither `--create` nor a start without that file knows which part has which shape.",
    command: "mdadm --examine MEMBER …",
};

/// Does a program tell that an array which changes its shape lacks what it was moving?
pub(super) fn is_of_change(line: &str) -> bool {
    let small = line.to_lowercase();
    CRITICAL_SECTION.words.iter().any(|all| all.iter().all(|word| small.contains(word)))
}

/// fstrim(8). What the kernel says of the same request it says of drives that do not know how, too.
pub(super) const NOT_TRIMMED: Kind = Kind {
    words: &[&[a_program_says!("fstrim: ")]],
    severity: Warning,
    what: "a file system could not be trimmed",
    cost: "; the drive refused 1 request or more, and is not told what is free. Nothing is lost by that",
    advice: "A bridge at USB, a controller or the drive says that it can be trimmed and fails to do it: look for newer firmware, and see which layer \
             passes trims on. Where it never works switch `fstrim.timer` off, or leave that file system out.",
    command: "lsblk -D",
};

pub(super) const HIDDEN_BLOCKS: Kind = Kind {
    words: &[&[a_program_says!("hdparm: ")]],
    severity: Information,
    command: "hdparm -N DEVICE",
    ..super::message_drives::HIDDEN_AREA
};

/// `path_discovery` and `print_path` in multipath-tools.
pub(super) const LOST_PATHS: Kind = Kind {
    words: &[&[a_program_says!("multipathd: "), "failed"], &[a_program_says!("multipathd: "), "faulty"]],
    severity: Warning,
    what: "paths to a drive have failed",
    cost: "; it is reached on those that are left, and not at all when the last one fails",
    advice: "No drive is at fault where another path to it works. Look at the port, the cable, the switch and the controller of the storage that they \
             have in common.",
    command: "multipath -ll",
};

/// `f3probe(1)`.
pub(super) const COUNTERFEIT: Kind = Kind {
    words: &[&[a_program_says!("f3probe: ")]],
    severity: Error,
    what: "a drive holds less than it says",
    cost: "; what was written past its real end is lost, and 0 bytes of that come back",
    advice: "Copy off what can still be read and compare it with where it came from; then give the drive back. Made smaller it may be used for what \
             nobody needs.",
    command: "lsblk -b DEVICE",
};

/// `lvmcache_update_pv` in LVM's `lib/cache/lvmcache.c`.
pub(super) const SAME_VOLUMES: Kind = Kind {
    words: &[&[a_program_says!("lvm: ")]],
    severity: Error,
    what: "several devices say that they are the same physical volume",
    cost: "; LVM takes 1 of them, and the other may be an old copy",
    advice: "Compare WWN and serial number first. Where they are the same it is one drive on several paths, or a member of a mirror below: set up \
             multipath or leave the members out by a filter (lvmdevices(8)), and rename and wipe nothing. Where they differ one is a copy: \
             unplug it, or rename it with `vgimportclone` while the group is not in use.",
    command: "lsblk -o NAME,SIZE,TYPE,WWN,SERIAL,MOUNTPOINT",
};

/// `mdadm --monitor`, when a check has ended (`check_array` in mdadm's `Monitor.c`).
pub(super) const DIFFERENT_COPIES: Kind = Kind {
    words: &[&["rebuildfinished event", "detected on md device"]],
    severity: Warning,
    what: "a check of an array found copies or parity that differ",
    cost: ", each of sectors of 512 bytes of which it cannot be told which copy is right",
    advice: "Do not repair before it is known what is wrong: `repair` may write the bad copy over the good one. Check again, ask all drives for \
             their health, and test the memory; swap space on a mirror is a harmless cause.",
    command: "cat /sys/block/md*/md/mismatch_cnt",
};

/// Of lines that tell how checks ended the last one of each array, where it found something and the array itself does not tell.
pub(super) fn differing<'a>(machine: &Machine, lines: &[&'a str]) -> Vec<&'a str> {
    let array = |line: &'a str| Some(line.split_once("/dev/")?.1.split([',', ' ']).next()?.trim_end_matches('.'));
    let is_last = |at: usize| lines[at + 1..].iter().all(|later| array(later) != array(lines[at]));
    let is_told = |line: &'a str| {
        machine
            .arrays()
            .any(|(node, md)| array(line) == Some(&node.name) && matches!(md.mismatch_sectors.known(), Some(Some(_))))
    };
    let all = lines.iter().enumerate().filter(|(at, line)| is_last(*at) && line.contains(FOUND) && !is_told(line));
    all.map(|(_, line)| *line).collect()
}

const FOUND: &str = "mismatches found: ";

/// Without devices that another text shows to hold something else: nobody lost a header there.
pub(super) fn of_nobody<'a>(machine: &Machine, mut lines: Vec<&'a str>) -> Vec<&'a str> {
    let holds =
        |name: &str| machine.node(name).is_some_and(|node| node.signatures.known().is_some_and(|all| !all.is_empty()));
    lines.retain(|line| !message_names::of(&[line]).is_some_and(|name| holds(&name)));
    lines
}

/// Without arrays that another text shows as they are.
pub(super) fn untold<'a>(machine: &Machine, mut lines: Vec<&'a str>) -> Vec<&'a str> {
    lines.retain(|line| !machine.arrays().any(|(node, _)| line.contains(&format!("/dev/{} ", node.name))));
    lines
}
