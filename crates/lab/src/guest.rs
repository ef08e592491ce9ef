//! A running guest: gone without a trace when it is dropped.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use host::{Host, HostError, Process, Remote};
use terms::{Cmd, Name, Nanos, Speed};

use crate::accelerator::Accelerator;
use crate::disk::Disk;
use crate::enclosure::Enclosure;
use crate::error::LabError;
use crate::kernel::GuestKernel;
use crate::monitor::Monitor;
use crate::scratch::Scratch;
use crate::start::keep_drives;

/// A running guest.
pub struct Guest {
    // Fields drop in this order: first the agent's connection, then QEMU, then the hard disks, then the directory.
    pub(crate) remote: Remote,
    /// Where it was saved: QEMU forgets what it was asked on a connection that is closed.
    pub(crate) _monitor: Option<Monitor>,
    pub(crate) process: Mutex<Process>,
    pub(crate) disks: Vec<Disk>,
    pub(crate) scratch: Scratch,
    /// The other hosts of the lab; only the first has any.
    pub(crate) others: Vec<Self>,
    /// The guest that has the remote drives; it goes after the guests that use them.
    pub(crate) enclosure: Option<Enclosure>,
    /// What the other hosts reach it by.
    pub(crate) address: Option<String>,
    pub(crate) kernel: GuestKernel,
    pub(crate) accelerator: Accelerator,
    pub(crate) speed: Option<Speed>,
    pub(crate) drives: BTreeMap<Name, String>,
    /// From QEMU's start to the agent's first answer.
    pub(crate) boot_time: Duration,
}

impl Guest {
    /// Device nodes of the study's drives.
    #[must_use]
    pub const fn drives(&self) -> &BTreeMap<Name, String> {
        &self.drives
    }

    /// The other hosts of the lab, each with the same drives as this one, its own.
    #[must_use]
    pub fn take_others(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.others)
    }

    /// Where other hosts of the lab reach this one; `None` where nothing connects them.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// The kernel that runs.
    #[must_use]
    pub const fn kernel(&self) -> &GuestKernel {
        &self.kernel
    }

    /// What runs its instructions.
    #[must_use]
    pub const fn accelerator(&self) -> Accelerator {
        self.accelerator
    }

    /// The processor that it stands for under a virtual clock; `None` under ours.
    #[must_use]
    pub const fn speed(&self) -> Option<Speed> {
        self.speed
    }

    /// Takes the power away: the machine is gone in the middle of whatever it did. Its drives, with what they had
    /// been given by then, are linked into a directory on the same file system, for [`GuestSpec::drives_from`]. Other
    /// hosts go with their drives.
    ///
    /// # Errors
    /// Where the drives cannot be linked.
    pub fn cut_power(mut self, keep: &Path) -> Result<(), LabError> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).kill();
        // Hard disks forget what was in their caches.
        self.disks.clear();
        if let Some(enclosure) = &self.enclosure {
            enclosure.cut_power(keep)?;
        }
        keep_drives(self.directory(), keep)
    }

    /// From QEMU's start to the agent's first answer.
    #[must_use]
    pub fn boot_time(&self) -> Nanos {
        self.boot_time.into()
    }

    /// QEMU's process id.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.lock().id()
    }

    /// The guest's directory on this machine.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.scratch.path()
    }

    /// Opens a shell on the console and waits until the person leaves it.
    ///
    /// # Errors
    /// Where the guest is lost.
    pub fn shell(&self, rows: u16, columns: u16) -> Result<(), LabError> {
        let script = "for n in 0 1 2 3 4 5 6 7 8 9; do [ -c /dev/hvc0 ] && break; sleep 0.1; done; \
                      stty rows \"$0\" cols \"$1\" </dev/hvc0 2>/dev/null; \
                      export PS1='\\[\\e[1m\\]lab\\[\\e[0m\\]:\\w\\$ '; cd /root 2>/dev/null || cd /; \
                      exec setsid --ctty --wait bash --noprofile --norc -i </dev/hvc0 >/dev/hvc0 2>&1";
        let week = Nanos::seconds(7 * 24 * 3600);
        self.run(&Cmd::new(["sh", "-c", script, &rows.to_string(), &columns.to_string()]).limit(week))?;
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // Nothing in a guest is meant to outlive it, so there is nothing to shut down gently.
        self.lock().kill();
    }
}

impl Host for Guest {
    fn name(&self) -> String {
        "lab".to_owned()
    }
    host::forward_host!(own => own.remote);
    fn is_throwaway(&self) -> bool {
        true
    }
    fn network_path(&self, up: bool) -> Result<(), HostError> {
        match &self.enclosure {
            Some(enclosure) => enclosure.switch_last_port(up),
            None => Err(self.cannot("take a network path away: it has no remote drives")),
        }
    }
}
