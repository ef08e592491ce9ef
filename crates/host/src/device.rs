//! Files and block devices of this machine: read whole or in part, opened for oneself alone, held under a lock. Never
//! opened for writing, and nothing without an end is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, FlockOperation, Mode, OFlags, fadvise, flock, fstat, open, stat};
use rustix::io::Errno;

use crate::{Devno, Exclusivity, Hold, Needle, NeedleHit, wire};

/// Devices held by this program; its copies share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holds(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    last: u64,
    open: BTreeMap<u64, OwnedFd>,
}

impl Holds {
    /// Locks a block device; `None` where somebody else did.
    pub(crate) fn take(&self, path: &str) -> io::Result<Option<Hold>> {
        let descriptor = open_block(path, OFlags::empty())?;
        match flock(&descriptor, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
        let devno = fstat(&descriptor)?.st_rdev.into();
        let mut kept = self.lock();
        kept.last += 1;
        let id = kept.last;
        kept.open.insert(id, descriptor);
        Ok(Some(Hold { id, devno }))
    }

    /// Unlocks it: the lock goes with the descriptor.
    pub(crate) fn release(&self, id: u64) {
        self.lock().open.remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of a block device; `None` for anything else.
pub(crate) fn number(path: &str) -> io::Result<Option<Devno>> {
    let found = stat(path)?;
    let is_block = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
    Ok(is_block.then(|| found.st_rdev.into()))
}

/// Can a block device be opened for oneself alone?
pub(crate) fn open_exclusively(path: &str) -> io::Result<Exclusivity> {
    match open_block(path, OFlags::EXCL) {
        Ok(descriptor) => {
            drop(descriptor);
            Ok(Exclusivity::Free)
        }
        Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => Ok(Exclusivity::Busy),
        Err(error) => Err(error),
    }
}

/// Most bytes that are read at a time: what fits into an answer.
const MOST: u64 = wire::LONGEST as u64 - 4096;

fn too_long(what: &str) -> io::Error {
    let text = format!("{what} more than {} MiB, the most that is read at a time", wire::LONGEST >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// A whole file. Those of procfs and sysfs say that they have no size, so the bound is for what comes.
pub(crate) fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(open_kind(path, OFlags::empty(), &[FileType::RegularFile])?).take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST { Err(too_long("it has")) } else { Ok(bytes) }
}

/// Bytes from a place in a file or a block device; fewer only where it ends. Of a device they come from the device itself.
pub(crate) fn read_at(path: &str, offset: u64, length: u32) -> io::Result<Vec<u8>> {
    if u64::from(length) > MOST {
        return Err(too_long("it is asked for"));
    }
    let file = File::from(open_kind(path, OFlags::empty(), &[FileType::RegularFile, FileType::BlockDevice])?);
    if file.metadata()?.file_type().is_block_device() {
        forget(&file)?;
    }
    let mut bytes = vec![0; length as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Has the kernel let go of what it has read of a device before. It keeps that while anybody has the device open, and whoever
/// writes to it by another way (another machine, another path, something made of the device) does not change it. All of it:
/// the kernel keeps what is in a range in part, and new kernels keep a device in pieces of many pages.
fn forget(device: &File) -> io::Result<()> {
    Ok(fadvise(device, 0, None, Advice::DontNeed)?)
}

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// Places where any of some texts begins, in their order.
pub(crate) fn find(path: &str, wanted: &Needle<'_>) -> io::Result<Vec<NeedleHit>> {
    let finders: Vec<memmem::Finder<'_>> = wanted.texts.iter().map(memmem::Finder::new).collect();
    let longest = wanted.texts.iter().map(Vec::len).max().unwrap_or(0).max(wanted.keep as usize);
    let end = wanted.offset.saturating_add(wanted.length);
    let (mut found, mut kept) = (Vec::new(), 0);
    let mut at = wanted.offset;
    while at < end {
        let own = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
        // What begins in this piece may end in the next.
        let bytes = read_at(path, at, u32::try_from(own + longest).unwrap_or(u32::MAX))?;
        let mut here: Vec<usize> = finders.iter().flat_map(|finder| finder.find_iter(&bytes)).collect();
        here.retain(|place| *place < own);
        here.sort_unstable();
        here.dedup();
        kept += here.len() as u64 * u64::from(wanted.keep).max(1);
        if kept > MOST {
            return Err(too_long("what was found has"));
        }
        found.extend(here.into_iter().map(|place| NeedleHit {
            offset: at + place as u64,
            bytes: bytes[place..(place + wanted.keep as usize).min(bytes.len())].to_vec(),
        }));
        if bytes.len() < own {
            break;
        }
        at += own as u64;
    }
    Ok(found)
}

/// Opens a block device: on anything else `O_EXCL` and locks mean other things.
fn open_block(path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    open_kind(path, flags, &[FileType::BlockDevice])
}

/// Opens for reading what is of such a kind before and after. To open a device of another kind may do something, and a
/// pipe waits for whoever writes into it.
fn open_kind(path: &str, flags: OFlags, kinds: &[FileType]) -> io::Result<OwnedFd> {
    let is_one = |mode| kinds.contains(&FileType::from_raw_mode(mode));
    let other = || match kinds {
        [FileType::BlockDevice] => io::Error::other("it is not a block device"),
        _ => io::Error::other("it is not a regular file"),
    };
    if !is_one(stat(path)?.st_mode) {
        return Err(other());
    }
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let descriptor = open(path, flags, Mode::empty())?;
    if is_one(fstat(&descriptor)?.st_mode) { Ok(descriptor) } else { Err(other()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_files_are_read_and_ends_are_short() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"0123456789").unwrap();
        let path = file.path().to_str().unwrap();
        assert_eq!(read_at(path, 3, 4).unwrap(), b"3456");
        assert_eq!(read_at(path, 8, 4).unwrap(), b"89");
        assert_eq!(read_at(path, 20, 4).unwrap(), b"");
    }

    #[test]
    fn texts_are_found_across_pieces_and_only_where_they_begin_inside() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = vec![0; PIECE * 2 + 10];
        for at in [5, PIECE - 2, PIECE * 2 + 7] {
            bytes[at..at + 3].copy_from_slice(b"abc");
        }
        bytes[100..102].copy_from_slice(b"xy");
        std::fs::write(file.path(), &bytes).unwrap();
        let texts = [b"abc".to_vec(), b"xy".to_vec()];
        let places = |offset, length| {
            let wanted = Needle { texts: &texts, offset, length, keep: 4 };
            let found = find(file.path().to_str().unwrap(), &wanted).unwrap();
            found.into_iter().map(|found| (found.offset, found.bytes)).collect::<Vec<_>>()
        };
        let (across, last) = (PIECE as u64 - 2, PIECE as u64 * 2 + 7);
        let all =
            [(5, b"abc\0".to_vec()), (100, b"xy\0\0".to_vec()), (across, b"abc\0".to_vec()), (last, b"abc".to_vec())];
        assert_eq!(places(0, u64::MAX), all);
        assert_eq!(places(6, across - 5), all[1..3]);
        assert_eq!(places(6, across - 6), all[1..2]);
    }

    #[test]
    fn what_is_no_block_device_is_neither_opened_nor_held() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        assert!(open_exclusively(path).unwrap_err().to_string().contains("block device"));
        assert!(Holds::default().take("/dev/null").unwrap_err().to_string().contains("block device"));
        assert_eq!((number(path).unwrap(), number("/dev/null").unwrap()), (None, None));
        assert_eq!(number("/nonexistent").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(open_exclusively("/nonexistent").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
