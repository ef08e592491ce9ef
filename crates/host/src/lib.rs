//! The only door to a machine: run a command, read a file, write a file, ask the clock.
//!
//! No policy lives here: a host does what it is told and reports what came of it. Its bodies are
//! [`Local`] (this machine), [`Remote`] (an agent at the other end of a byte stream: a lab guest, or
//! another machine over ssh), [`Replay`] (a recorded conversation), [`Capture`] (a machine in one file) and [`DryRun`]
//! (nothing at all happens).

pub mod agent;
mod beneath;
pub mod capture;
mod device;
mod devno;
mod dry;
mod error;
mod escapes;
#[macro_use]
mod forward;
pub mod inspect;
pub mod interrupt;
mod local;
mod memory;
mod open_file;
pub mod orphan;
pub mod packages;
pub mod posted;
mod process;
mod random;
mod remote;
mod replay;
mod sampling;
mod secret;
mod setting;
mod ssh;
pub mod wire;

use serde::{Deserialize, Serialize};
use terms::{Cmd, Nanos, Outcome};

pub use beneath::{Beneath, beneath, file_id, file_system_id};
pub use capture::{BadCapture, Capture};
pub use devno::Devno;
pub use dry::DryRun;
pub use error::{CommandFailure, HostError};
pub use escapes::unescape;
pub use local::Local;
pub use memory::available_memory;
pub use open_file::open_file_of;
pub use process::{Process, Standard, await_all};
pub use random::draw_key;
pub use remote::Remote;
pub use replay::{Recording, Replay, Transcript};
pub use sampling::{CounterSample, Sampling};
pub use setting::in_force;
pub use ssh::{Rights, Ssh};

/// Where the kernel draws an identifier at every reading (random(4)).
pub const RANDOM_UUID: &str = "/proc/sys/kernel/random/uuid";

/// Tells one start of the machine from every other (random(4)).
pub const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// What an attempt to open a block device for oneself alone came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exclusivity {
    /// Nobody in the kernel had claimed it in that moment.
    Free,
    /// Somebody has: a mount, an array, a mapping, a pool, swap, a program.
    Busy,
}

/// A block device that is kept open with a lock on it, until it is released or the machine is let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Names it in [`Host::release`].
    pub id: u64,
    /// What was opened, which the name may no longer stand for.
    pub devno: Devno,
}

/// A text that was found in a file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedleHit {
    /// The byte at which it begins.
    pub offset: u64,
    /// Bytes from there on: as many as were asked for, fewer where the file ends.
    pub bytes: Vec<u8>,
}

/// What is looked for in a file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needle<'a> {
    /// Any of these texts.
    pub texts: &'a [Vec<u8>],
    /// It begins at this byte or after it …
    pub offset: u64,
    /// … and before so many bytes from there.
    pub length: u64,
    /// Bytes that are given back of each place, from its beginning; at least as many as the longest text has are looked at.
    pub keep: u32,
}

/// A machine behind the door. Paths are absolute.
pub trait Host: Send + Sync {
    /// What to call the machine in messages: `this machine`, `lab`, `ssh://nas`.
    fn name(&self) -> String;

    /// Runs a program to its end. A status other than 0 is an [`Outcome`], not an error.
    ///
    /// # Errors
    /// Where the program cannot be started or the machine cannot be reached.
    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause; [`HostError::is_not_found`] tells a missing file.
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError>;

    /// Writes a whole file, making it if it is not there.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError>;

    /// Names in a directory, sorted.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause.
    fn list(&self, path: &str) -> Result<Vec<String>, HostError>;

    /// The path with every symbolic link followed.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause; a dangling link is not found.
    fn resolve(&self, path: &str) -> Result<String, HostError>;

    /// The machine's monotonic clock.
    ///
    /// # Errors
    /// Where the machine cannot be reached.
    fn now(&self) -> Result<Nanos, HostError>;

    /// Does its clock run by itself: a guest that counts its instructions, whose second is not ours?
    fn has_own_clock(&self) -> bool {
        false
    }

    /// Lets the machine go on for so long before it is asked again.
    ///
    /// # Errors
    /// Where the machine cannot be reached.
    fn pause(&self, time: std::time::Duration) -> Result<(), HostError> {
        std::thread::sleep(time);
        Ok(())
    }

    /// Runs a program to its end, and reads files now and then while it runs: first when it begins.
    ///
    /// # Errors
    /// Those of [`Self::run`]; a file that cannot be read is [`None`].
    fn run_sampled(&self, cmd: &Cmd, sampling: &Sampling) -> Result<(Outcome, Vec<CounterSample>), HostError> {
        sampling::run(self, cmd, sampling)
    }

    /// Reads part of a file or device: fewer bytes than asked for only where it ends.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause; [`HostError::Cannot`] where the machine does not know how.
    fn read_at(&self, _path: &str, _offset: u64, _length: u32) -> Result<Vec<u8>, HostError> {
        Err(self.cannot("read parts of files"))
    }

    /// Finds texts in part of a file or device, in the order of their places. Whole drives are searched where they are,
    /// and never carried through the door.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause; [`HostError::Cannot`] where the machine does not know how.
    fn find(&self, _path: &str, _wanted: &Needle<'_>) -> Result<Vec<NeedleHit>, HostError> {
        Err(self.cannot("look for texts"))
    }

    /// The number of the block device behind a path, links followed; `None` where what is there is something else.
    ///
    /// # Errors
    /// [`HostError::File`] with the cause; [`HostError::Cannot`] where the machine does not know how.
    fn device_number(&self, _path: &str) -> Result<Option<Devno>, HostError> {
        Err(self.cannot("tell device numbers"))
    }

    /// Opens a block device for reading and for oneself alone (`O_EXCL`), and closes it at once. Never for writing, not
    /// even for a moment: that would wake udev.
    ///
    /// # Errors
    /// [`HostError::File`] where it cannot be opened at all or is no block device; [`HostError::Cannot`].
    fn open_exclusively(&self, _path: &str) -> Result<Exclusivity, HostError> {
        Err(self.cannot("open a device for itself alone"))
    }

    /// Opens a block device for reading and keeps an exclusive BSD lock on it, which udev, systemd and other programs
    /// heed; `None` where somebody else has it locked.
    ///
    /// # Errors
    /// [`HostError::File`] where it cannot be opened or is no block device; [`HostError::Cannot`].
    fn hold(&self, _path: &str) -> Result<Option<Hold>, HostError> {
        Err(self.cannot("hold a device"))
    }

    /// Lets a held device go. One that is not held is no error.
    ///
    /// # Errors
    /// Where the machine cannot be reached.
    fn release(&self, _hold: u64) -> Result<(), HostError> {
        Err(self.cannot("hold a device"))
    }

    /// Is the machine, with all its drives, made for this run and thrown away after it? Nobody is asked before drives of
    /// such a machine are written.
    fn is_throwaway(&self) -> bool {
        false
    }

    /// Takes the last network path to the machine's remote drives away, or gives it back. Only a machine that was made
    /// together with its network can.
    ///
    /// # Errors
    /// [`HostError::Cannot`] on all others; where the far end cannot be reached.
    fn network_path(&self, _up: bool) -> Result<(), HostError> {
        Err(self.cannot("take a network path away"))
    }

    /// What a machine says that does not know how.
    fn cannot(&self, what: &'static str) -> HostError {
        HostError::Cannot { host: self.name(), what }
    }

    /// Runs a program that must succeed.
    ///
    /// # Errors
    /// [`HostError::Command`] with argument vector, status and output where it did not.
    fn run_ok(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let outcome = self.run(cmd)?;
        if outcome.ok() { Ok(outcome) } else { Err(CommandFailure::new(&self.name(), cmd, outcome).into()) }
    }

    /// Reads a file as text, without white space at its end.
    ///
    /// # Errors
    /// As [`Host::read`].
    fn read_text(&self, path: &str) -> Result<String, HostError> {
        Ok(String::from_utf8_lossy(&self.read(path)?).trim_end().to_owned())
    }

    /// The number of the block device that must be behind a path.
    ///
    /// # Errors
    /// As [`Host::device_number`], and where something else is there.
    fn block_device(&self, path: &str) -> Result<Devno, HostError> {
        self.device_number(path)?.ok_or_else(|| HostError::File {
            host: self.name(),
            doing: "tell the device number of",
            path: path.to_owned(),
            source: std::io::Error::other("it is not a block device"),
        })
    }

    /// Is there anything at that path?
    ///
    /// # Errors
    /// Where the question could not be answered, which is not the same as "no".
    fn exists(&self, path: &str) -> Result<bool, HostError> {
        match self.resolve(path) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Where programs are looked for: the system's directories and not the path of whoever asks, which often lacks `sbin`.
const PROGRAM_DIRECTORIES: [&str; 7] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin"];

/// Where a program is on a machine; `None` where it is not installed.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn find_program(host: &dyn Host, program: &str) -> Result<Option<String>, HostError> {
    for directory in PROGRAM_DIRECTORIES {
        let path = format!("{directory}/{program}");
        if host.exists(&path)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

impl<H: Host + ?Sized> Host for &H {
    fn name(&self) -> String {
        (**self).name()
    }
    fn is_throwaway(&self) -> bool {
        (**self).is_throwaway()
    }
    fn network_path(&self, up: bool) -> Result<(), HostError> {
        (**self).network_path(up)
    }
    forward_host!(own => (**own));
}
