//! How a guest under a virtual clock talks with whoever booted it: nothing of ours reaches it at a moment of its clock that
//! could have been another.
//!
//! A guest that waits for a device of QEMU's waits in our time, and its clock runs on meanwhile by as much as that takes.
//! So this guest has no such device. It puts a message into memory that its kernel keeps out of, and writes one byte to
//! each of two ports of `isa-debugcon`: the knock says what it wants, and the bell does not take its byte before the
//! answer lies in that memory. QEMU tries such a byte again until it is taken, within the guest's one instruction
//! (`qemu_chr_fe_write_all`), and a clock that counts instructions stands still.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use terms::Bytes;

/// Where the memory begins, in the guest's physical addresses, which are those of its first bytes in QEMU's file.
pub(crate) const ADDRESS: u64 = 256 << 20;
/// All of it: a page for the lengths, then what the guest says, then what it is told.
const SIZE: Bytes = Bytes::mib(1);
/// The most that is said at once.
pub(crate) const LONGEST: usize = (512 << 10) - 4096;
/// Where the length of what the guest says stands, from [`ADDRESS`] on.
pub(crate) const SAID_LENGTH: u64 = 0;
/// Where the length of what it is told stands.
pub(crate) const TOLD_LENGTH: u64 = 8;
/// Where what it says begins.
pub(crate) const SAID: u64 = 4096;
/// Where what it is told begins.
pub(crate) const TOLD: u64 = SAID + LONGEST as u64;

/// The port of the knock.
pub(crate) const KNOCK: u16 = 0xe9;
/// The ports of two bells, rung in turn: one is made ready while the guest waits at the other.
pub(crate) const BELLS: [u16; 2] = [0xea, 0xeb];

/// The guest has said something.
pub(crate) const SAYS: u8 = b's';
/// The guest wants to be told something.
pub(crate) const ASKS: u8 = b'a';

/// The word for the kernel that keeps it out of that memory (Documentation/admin-guide/kernel-parameters.txt, `memmap`).
pub(crate) fn reserve() -> String {
    format!("memmap={}M${}M", SIZE.0 >> 20, ADDRESS >> 20)
}

/// The guest's end: what is written is said, what is read was told. Both wait on a clock that stands still.
#[derive(Clone)]
pub(crate) struct Mailbox(Arc<Mutex<Slot>>);

struct Slot {
    memory: File,
    ports: File,
    /// Which bell is next.
    bell: usize,
}

impl Mailbox {
    /// # Errors
    /// Where the kernel gives no access to memory and ports.
    pub(crate) fn open() -> io::Result<Self> {
        let open = |path: &str| OpenOptions::new().read(true).write(true).open(path);
        Ok(Self(Arc::new(Mutex::new(Slot { memory: open("/dev/mem")?, ports: open("/dev/port")?, bell: 0 }))))
    }
}

impl Slot {
    /// Knocks, and is through when whoever booted us has answered.
    fn exchange(&mut self, knock: u8) -> io::Result<()> {
        self.ports.write_all_at(&[knock], u64::from(KNOCK))?;
        self.ports.write_all_at(&[0], u64::from(BELLS[self.bell]))?;
        self.bell = 1 - self.bell;
        Ok(())
    }
}

impl Read for Mailbox {
    /// As much as was told at once, which fits where `buffer` holds [`LONGEST`] bytes; nothing where nobody is there any
    /// more.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.exchange(ASKS)?;
        let mut length = [0; 8];
        slot.memory.read_exact_at(&mut length, ADDRESS + TOLD_LENGTH)?;
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
        let told = buffer.get_mut(..length).ok_or_else(|| io::Error::other("told more than there is room for"))?;
        slot.memory.read_exact_at(told, ADDRESS + TOLD)?;
        Ok(length)
    }
}

impl Write for Mailbox {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        slot.memory.write_all_at(bytes, ADDRESS + SAID)?;
        slot.memory.write_all_at(&(bytes.len() as u64).to_le_bytes(), ADDRESS + SAID_LENGTH)?;
        slot.exchange(SAYS)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
