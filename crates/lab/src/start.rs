//! What a host of the lab and its enclosure share: files, QEMU, the agent's greeting, drives.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::{Host, HostError, Local, Process, Remote, Standard, inspect, interrupt};
use terms::{Cmd, LabDrive, LabDriveKind, Name};

use crate::accelerator::Accelerator;
use crate::console::last_words;
use crate::disk::inside::InsideDisks;
use crate::error::LabError;
use crate::guest_spec::{GuestSpec, is_remote};
use crate::kernel::GuestKernel;
use crate::machine::{self, Begin, Console, Mode, serial_of};
use crate::scratch::Scratch;
use crate::{cage, file, image, vmlinux, within};

/// How long a guest may take to greet us. Where other work had priority an emulated one took more than 90 s.
const BOOT_KVM: Duration = Duration::from_secs(30);
pub(crate) const BOOT_TCG: Duration = Duration::from_secs(300);
/// How long drives may take to appear.
const DRIVES: Duration = Duration::from_secs(20);

pub(crate) fn make_files(
    spec: &GuestSpec<'_>,
    directory: &Path,
    kernel: &GuestKernel,
    mode: Mode,
) -> Result<(), LabError> {
    let host = Local::new();
    let disks = InsideDisks::of(spec.machine, spec.first_drive());
    image::write_image(directory, &image::pack(&host, spec.agent, kernel, disks.as_ref(), mode)?)?;
    let unpacked = vmlinux::unpacked(&host, kernel, &spec.cache);
    cage::lend(&unpacked.unwrap_or_else(|| PathBuf::from(&kernel.image)), &directory.join(file::KERNEL))?;
    for (index, drive) in spec.machine.drives.iter().enumerate() {
        if !spec.machine.is_within(drive) && !is_remote(drive) {
            let path = directory.join(file::drive(index));
            match spec.drives_from {
                Some(from) => {
                    fs::hard_link(from.join(file::drive(index)), &path).map_err(LabError::file("link", &path))?;
                }
                // Sparse: it takes room only where the guest writes.
                None => File::create(&path)
                    .and_then(|file| file.set_len(drive.size.0))
                    .map_err(LabError::file("make", &path))?,
            }
            cage::give(&path)?;
        }
    }
    Ok(())
}

pub(crate) fn start_machine(
    spec: &GuestSpec<'_>,
    scratch: &Scratch,
    accelerator: Accelerator,
    begin: Begin,
    networks: Vec<String>,
) -> Result<Process, LabError> {
    let mut argv = machine::command(spec.machine, spec.first_drive(), accelerator, spec.console, begin)?;
    argv.extend(networks);
    let standard = match spec.console {
        Console::Terminal => Standard::Inherit,
        Console::Log => {
            let path = scratch.path().join(file::OUTPUT);
            Standard::Log(File::create(&path).map_err(LabError::file("make", path))?)
        }
    };
    let cmd = Cmd::new(argv);
    let process = Process::start(&cmd, standard, scratch.path()).map_err(|source| HostError::Start {
        host: "this machine".to_owned(),
        line: cmd.line(),
        source,
    })?;
    Ok(process)
}

/// Links the drives of a guest into a directory on the same file system.
pub(crate) fn keep_drives(directory: &Path, keep: &Path) -> Result<(), LabError> {
    for entry in fs::read_dir(directory).map_err(LabError::file("list", directory))?.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("drive-") {
            let to = keep.join(&name);
            fs::hard_link(entry.path(), &to).map_err(LabError::file("link", &to))?;
        }
    }
    Ok(())
}

/// What hosts of the lab call themselves.
pub(crate) const NAME: &str = "lab";

/// Connects to the agent's socket as soon as QEMU has made it, and greets.
pub(crate) fn greet(
    spec: &GuestSpec<'_>,
    scratch: &Scratch,
    process: &mut Process,
    accelerator: Accelerator,
) -> Result<Remote, LabError> {
    let patience = if accelerator == Accelerator::Kvm { BOOT_KVM } else { BOOT_TCG };
    let stream = reach(file::AGENT, scratch, process)?;
    let socket = scratch.path().join(file::AGENT);
    // A guest that takes nothing more must not hold us for ever.
    stream.set_write_timeout(Some(Duration::from_secs(60))).map_err(LabError::file("set up", &socket))?;
    let input = stream.try_clone().map_err(LabError::file("connect to", &socket))?;
    let remote = greeted(Remote::connect(NAME, spec.build, input, stream, patience), scratch, process)?;
    Ok(if accelerator == Accelerator::Icount { remote.with_our_clock() } else { remote })
}

/// What came of a greeting.
pub(crate) fn greeted(
    remote: Result<Remote, HostError>,
    scratch: &Scratch,
    process: &mut Process,
) -> Result<Remote, LabError> {
    remote.map_err(|error| match error {
        HostError::Lost { what, .. } => {
            let ended =
                process.ended().ok().flatten().map_or(String::new(), |status| format!(" (QEMU ended with {status})"));
            not_up(scratch, format!("its agent did not answer: {what}{ended}"))
        }
        other => other.into(),
    })
}

pub(crate) fn not_up(scratch: &Scratch, what: String) -> LabError {
    LabError::Boot { what, console: last_words(scratch.path()) }
}

/// Connects to a socket as soon as QEMU has made it.
pub(crate) fn reach(socket: &str, scratch: &Scratch, process: &mut Process) -> Result<UnixStream, LabError> {
    let (path, start) = (scratch.path().join(socket), Instant::now());
    loop {
        if let Ok(stream) = UnixStream::connect(&path) {
            return Ok(stream);
        }
        interrupt::check()?;
        if let Ok(Some(status)) = process.ended() {
            return Err(not_up(scratch, format!("QEMU ended with {status}")));
        }
        if start.elapsed() > Duration::from_secs(10) {
            return Err(not_up(scratch, "QEMU made no socket in 10 s".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Loads drivers and finds each drive of the study: those of the guest's own kernel are made, all others have a serial number.
pub(crate) fn find_drives(remote: &Remote, spec: &GuestSpec<'_>) -> Result<BTreeMap<Name, String>, LabError> {
    let machine = spec.machine;
    let is_ata =
        |drive: &LabDrive| matches!(drive.kind, LabDriveKind::Sata | LabDriveKind::Hdd) && !machine.is_within(drive);
    if machine.drives.iter().any(is_ata) {
        remote.run_ok(&Cmd::new(["modprobe", "--all", "ahci", "sd_mod"]))?;
    }
    let mut nodes = within::make(remote, machine)?;
    let start = Instant::now();
    loop {
        let found = inspect::drives(remote)?;
        let mut absent = None;
        for (index, drive) in machine.drives.iter().enumerate() {
            if drive.kind.in_guest() {
                continue;
            }
            let serial = serial_of(spec.first_drive() + index, drive);
            match found.iter().find(|found| found.serial.as_deref() == Some(&serial) && found.size == drive.size) {
                Some(found) => drop(nodes.insert(drive.name.clone(), found.node())),
                None => absent = Some((drive.name.to_string(), serial)),
            }
        }
        match absent {
            None => return Ok(nodes),
            Some((name, serial)) if start.elapsed() > DRIVES => {
                return Err(LabError::DriveAbsent { name, serial, seconds: DRIVES.as_secs() });
            }
            Some(_) => remote.pause(Duration::from_millis(50))?,
        }
    }
}
