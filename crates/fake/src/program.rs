//! Programs as changes of state. What each does, says and ends with is that of the tool of its name.

pub(crate) mod bcache;
mod btrfs;
mod copy;
mod crypt;
mod drive;
mod integrity;
mod look;
mod lvm;
pub(crate) mod md;
mod mount;
pub(crate) mod script;
mod writecache;
mod zfs;

use std::io;

use crate::state::State;

/// A program as it is called.
pub(crate) struct Call<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) stdin: &'a [u8],
}

impl Call<'_> {
    /// The value of an option: the word behind it, or what follows its `=`.
    pub(crate) fn value(&self, option: &str) -> Option<&str> {
        let at = self
            .argv
            .iter()
            .position(|word| word == option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')))?;
        match self.argv[at].split_once('=').filter(|(name, _)| *name == option) {
            Some((_, value)) => Some(value),
            None => self.argv.get(at + 1).map(String::as_str),
        }
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.argv.iter().any(|word| word == option)
    }

    pub(crate) fn word(&self, at: usize) -> &str {
        self.argv.get(at).map_or("", String::as_str)
    }

    pub(crate) fn last(&self) -> &str {
        self.argv.last().map_or("", String::as_str)
    }

    /// Words that name nodes.
    pub(crate) fn nodes(&self) -> Vec<&str> {
        self.argv.iter().skip(1).map(String::as_str).filter(|word| word.starts_with("/dev/")).collect()
    }

    /// A number, with `b` for bytes or not.
    pub(crate) fn number(&self, option: &str) -> Option<u64> {
        self.value(option)?.trim_end_matches('b').parse().ok()
    }
}

/// What a program says and how it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

pub(crate) type Did = Result<Reply, Reply>;

pub(crate) fn done() -> Did {
    Ok(Reply::default())
}

pub(crate) fn say(text: impl Into<Vec<u8>>) -> Did {
    Ok(Reply { stdout: text.into(), ..Reply::default() })
}

pub(crate) fn fail(status: i32, stderr: impl Into<String>) -> Reply {
    Reply { status, stderr: stderr.into(), ..Reply::default() }
}

/// A program that cannot do with a device what it wants to.
pub(crate) fn broken(error: &io::Error) -> Reply {
    fail(1, error.to_string())
}

/// The device of a node.
pub(crate) fn device(state: &State, path: &str) -> Result<String, Reply> {
    state.device_at(path).ok_or_else(|| fail(1, format!("{path}: No such file or directory")))
}

/// One that nobody has claimed.
pub(crate) fn free_device(state: &State, path: &str) -> Result<String, Reply> {
    let name = device(state, path)?;
    if state.is_claimed(&name) {
        return Err(fail(1, format!("{path} is busy: Device or resource busy")));
    }
    Ok(name)
}

/// One on which nothing is.
pub(crate) fn blank_device(state: &mut State, path: &str) -> Result<String, Reply> {
    let name = free_device(state, path)?;
    match state.signatures(&name).first() {
        Some(found) => Err(fail(1, format!("{path} appears to contain an existing {}", found.kind))),
        None => Ok(name),
    }
}

type Program = fn(&mut State, &Call<'_>) -> Did;

/// Programs that are installed.
pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("blkdiscard", drive::discard),
    ("blkid", look::blkid),
    ("blockdev", drive::blockdev),
    ("btrfs", btrfs::btrfs),
    ("cache_check", look::nothing),
    ("cat", look::cat),
    ("cmp", copy::cmp),
    ("cryptsetup", crypt::cryptsetup),
    ("dd", copy::dd),
    ("dmsetup", look::dmsetup),
    ("fsfreeze", mount::freeze),
    ("hdparm", drive::hdparm),
    ("integritysetup", integrity::integritysetup),
    ("kill", look::kill),
    ("ln", look::nothing),
    ("losetup", look::losetup),
    ("lvchange", lvm::lvchange),
    ("lvconvert", lvm::lvconvert),
    ("lvcreate", lvm::lvcreate),
    ("lvremove", lvm::lvremove),
    ("lvs", lvm::lvs),
    ("make-bcache", bcache::make),
    ("mdadm", md::mdadm),
    ("mkdir", mount::mkdir),
    ("mkfs.btrfs", btrfs::make),
    ("mkfs.ext4", mount::ext4),
    ("mkfs.xfs", mount::xfs),
    ("mktemp", mount::mktemp),
    ("modprobe", drive::modprobe),
    ("mount", mount::mount),
    ("nvme", drive::nvme),
    ("parted", drive::parted),
    ("pvcreate", lvm::pvcreate),
    ("pvremove", lvm::pvremove),
    ("pvs", lvm::pvs),
    ("readlink", look::readlink),
    ("rm", mount::rm),
    ("rmdir", mount::rmdir),
    ("rmmod", drive::rmmod),
    ("setsid", look::nothing),
    ("sh", script::sh),
    ("stat", look::stat),
    ("sync", look::nothing),
    ("tcplay", look::nothing),
    ("umount", mount::umount),
    ("vgcreate", lvm::vgcreate),
    ("vgextend", lvm::vgextend),
    ("vgreduce", lvm::vgreduce),
    ("vgchange", lvm::vgchange),
    ("vgremove", lvm::vgremove),
    ("vgs", lvm::vgs),
    ("wipefs", look::wipefs),
    ("zfs", zfs::zfs),
    ("zpool", zfs::zpool),
    ("fio", look::nothing),
];

/// The program of a name, where it is installed.
pub(crate) fn program(state: &State, name: &str) -> Option<Program> {
    let found = PROGRAMS.iter().find(|(program, _)| *program == name)?;
    (!state.absent.contains(name)).then_some(found.1)
}
