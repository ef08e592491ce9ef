//! The bytes of a hard disk: in a file of this machine, or in the memory of the guest that the disk is in.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memmap2::{Advice, MmapMut};
use terms::Bytes;

use super::cache::offset;

/// Where a disk keeps its bytes.
#[derive(Debug)]
pub(super) enum Platter {
    File(File),
    /// Read where it lies: a file in memory took a copy of each byte, and a page to copy it to.
    Memory(MmapMut),
}

impl Platter {
    /// Zeros in memory; they take none until they are written over.
    ///
    /// # Errors
    /// Where the kernel has no room for so many addresses.
    pub(super) fn in_memory(size: Bytes) -> io::Result<Self> {
        let memory = MmapMut::map_anon(offset(size.0))?;
        // Whoever starts a program would copy the tables of all these pages, and every page that is then written to.
        memory.advise(Advice::DontFork)?;
        // The first write to 2 MiB would clear all of them, in the time of the guest. Kernels without such pages refuse.
        let _ = memory.advise(Advice::NoHugePage);
        Ok(Self::Memory(memory))
    }

    /// The bytes of a range, which lies within the disk.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub(super) fn read(&self, range: &Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(memory) => Ok(Cow::Borrowed(&memory[offset(range.start)..offset(range.end)])),
            Self::File(file) => {
                let mut data = vec![0; offset(range.end - range.start)];
                file.read_exact_at(&mut data, range.start)?;
                Ok(Cow::Owned(data))
            }
        }
    }

    /// Puts bytes at a place; they end within the disk.
    ///
    /// # Errors
    /// Where the file cannot be written to.
    pub(super) fn write(&mut self, start: u64, data: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(memory) => {
                memory[offset(start)..][..data.len()].copy_from_slice(data);
                Ok(())
            }
            Self::File(file) => file.write_all_at(data, start),
        }
    }
}
