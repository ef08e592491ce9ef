//! Hard disks inside the guest, under its own clock: the same head, asked by the guest's own kernel (`nbd`).
//!
//! The guest's first process serves them. Their bytes are in its memory, as far as anything was written; the head waits by
//! the guest's clock, on which everything of the machine takes a factor longer.

use std::fs;
use std::io;
use std::num::NonZero;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Instant;

use rustix::event::{self, PollFd, PollFlags};
use rustix::io::retry_on_intr;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use serde::{Deserialize, Serialize};
use terms::{Bytes, LabDriveKind, LabSpec, Nanos, Speed, Spindle};

use super::netlink::{self, Export};
use super::platter::Platter;
use super::protocol::{self, Request};
use super::queue::Queue;
use crate::machine::serial_of;

/// The kernel's driver, and what it is told: no drives but those that are asked for.
pub(crate) const MODULE: (&str, &std::ffi::CStr) = ("nbd", c"nbds_max=0");

/// Where the guest's first process finds what it is to serve.
pub(crate) const FILE: &str = "disks.json";

/// What the guest's first process serves.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InsideDisks {
    speed: Speed,
    disks: Vec<InsideDisk>,
}

/// A drive as its description has it, by the machine's time.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InsideDisk {
    size: Bytes,
    block: Bytes,
    spindle: Spindle,
    serial: String,
}

impl InsideDisks {
    /// Those of a guest; `None` where it has none.
    pub(crate) fn of(spec: &LabSpec, first_drive: usize) -> Option<Self> {
        let is_hdd = |drive: &terms::LabDrive| drive.kind == LabDriveKind::Hdd;
        let disks: Vec<InsideDisk> = (first_drive..)
            .zip(&spec.drives)
            .filter(|(_, drive)| is_hdd(drive))
            .map(|(index, drive)| InsideDisk {
                size: drive.size,
                block: drive.lba,
                spindle: drive.spindle.unwrap_or_default(),
                serial: serial_of(index, drive),
            })
            .collect();
        let speed = spec.speed()?;
        (!disks.is_empty()).then_some(Self { speed, disks })
    }
}

/// Makes the drives that the initial file system says, as `/dev/nbd0` and on. They are there as long as this process.
///
/// # Errors
/// Where the kernel does not take one, or there is no memory.
pub(crate) fn serve() -> io::Result<()> {
    let path = Path::new("/").join(FILE);
    if !path.exists() {
        return Ok(());
    }
    let InsideDisks { speed, disks } = serde_json::from_slice(&fs::read(path)?)?;
    (0..).zip(&disks).try_for_each(|(index, disk)| begin(index, disk, speed))
}

/// Tells the kernel what this thread is (prctl(2)). It may wake a sleeper 50 µs late to wake several at once, and where memory
/// is short it has whoever wants some wait for drives: a drive must not wait for itself. Where it refuses, nothing is wrong yet.
fn be_a_drive() {
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    let _ = rustix::process::configure_io_flusher_behavior(true);
}

fn begin(index: u32, disk: &InsideDisk, speed: Speed) -> io::Result<()> {
    let platter = Platter::in_memory(disk.size)?;
    let (own, kernel) = UnixStream::pair()?;
    let drive = Drive { queue: Queue::new(&disk.spindle, disk.size, platter), own, size: disk.size.0, speed };
    thread::Builder::new().name("drive".to_owned()).spawn(move || {
        be_a_drive();
        // Where it ends, the kernel sees that the drive is gone.
        let _ = drive.keep();
    })?;
    let without = if disk.spindle.write_through { protocol::CACHE } else { 0 };
    let flags = protocol::TRANSMISSION & !without;
    let export = Export { index, size: disk.size, block: disk.block, flags, serial: &disk.serial };
    netlink::connect(kernel.as_fd(), &export)?;
    // As a SATA drive has it. Kernels before 6.12 do not understand that a server's drive is a hard disk, and take 256
    // sectors at once.
    let queue = format!("/sys/block/nbd{index}/queue");
    fs::write(format!("{queue}/rotational"), "1")?;
    fs::write(format!("{queue}/max_sectors_kb"), "1280")
}

/// A drive with its only client, in one thread: where the clock counts instructions, one that listens and wakes another
/// is a part of what each operation costs.
struct Drive {
    queue: Queue<u64>,
    own: UnixStream,
    size: u64,
    /// How much of the guest's clock the drive's time takes.
    speed: Speed,
}

impl Drive {
    /// Serves until the kernel has enough.
    fn keep(mut self) -> io::Result<()> {
        let begin = Instant::now();
        let speed = self.speed;
        let time = || speed.on_machine(begin.elapsed().into());
        // A limit of poll(2) may pass a thousandth late, so that several sleepers wake at once; a timer's does not.
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        let mut set = None;
        loop {
            let next = self.queue.next();
            if next != set {
                let left = |at: Nanos| speed.in_guest(Nanos(at.0.saturating_sub(time().0))).max(Nanos(1));
                set_timer(&timer, next.map_or(Nanos(0), left))?;
                set = next;
            }
            let mut ready = [PollFd::new(&self.own, PollFlags::IN), PollFd::new(&timer, PollFlags::IN)];
            retry_on_intr(|| event::poll(&mut ready, None))?;
            let is_asked = !ready[0].revents().is_empty();
            if !is_asked {
                self.queue.advance(time());
            } else if !self.listen(time)? {
                return Ok(());
            }
            for done in self.queue.answers() {
                let result = done.result.and_then(|range| range.map(|range| self.queue.bytes(&range)).transpose());
                protocol::answer(&mut self.own, done.ticket, &result.map(Option::unwrap_or_default))?;
            }
        }
    }

    /// Takes a request. `false` where there will be no other.
    fn listen(&mut self, time: impl Fn() -> Nanos) -> io::Result<bool> {
        let (cookie, ask) = match protocol::request(&mut self.own, self.size)? {
            Request::Disconnect => return Ok(false),
            Request::Refused { cookie, code } => {
                protocol::refuse(&mut self.own, cookie, code)?;
                return Ok(true);
            }
            Request::Ask(cookie, ask) => (cookie, ask),
        };
        self.queue.submit(time(), cookie, ask);
        Ok(true)
    }
}

/// Makes a timer's file readable after a time, or never where that is none.
fn set_timer(timer: &OwnedFd, left: Nanos) -> io::Result<()> {
    let it_value = Timespec::try_from(left.to_duration()).map_err(io::Error::other)?;
    let once = Itimerspec { it_interval: Timespec::default(), it_value };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &once)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use terms::{Clock, LabDrive, Name, Nanos};

    use super::*;

    #[test]
    fn a_guest_serves_its_hard_disks_where_its_clock_is_its_own() {
        let drive = |name: &str, kind| LabDrive { kind, ..LabDrive::new(Name::new(name).unwrap(), Bytes::mib(64)) };
        let spindle = Some(Spindle { seek: Nanos::millis(8), ..Spindle::default() });
        let disk = LabDrive { spindle, ..drive("d", LabDriveKind::Hdd) };
        let guest = LabSpec { drives: vec![drive("f", LabDriveKind::Flash), disk], ..LabSpec::new(1, Bytes::gib(1)) };
        let told = InsideDisks::of(&guest, 4).unwrap();
        assert_eq!((told.speed, told.disks.len(), told.disks[0].serial.as_str()), (Speed::USUAL, 1, "BP05-d"));
        assert_eq!((told.disks[0].size, Some(told.disks[0].spindle)), (Bytes::mib(64), spindle));
        let heard: InsideDisks = serde_json::from_slice(&serde_json::to_vec(&told).unwrap()).unwrap();
        assert_eq!(heard, told);
        assert_eq!(InsideDisks::of(&LabSpec { said_clock: Some(Clock::Real), ..guest.clone() }, 0), None);
        assert_eq!(InsideDisks::of(&LabSpec { drives: guest.drives[..1].to_vec(), ..guest }, 0), None);
    }
}
