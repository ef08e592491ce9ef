//! A running guest: booted, greeted, its drives found by serial number, and gone without a trace afterwards.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::{Host, HostError, Local, Process, Remote, Standard, inspect, interrupt};
use terms::{Clock, Cmd, LabDrive, LabDriveKind, LabSpec, Name, Nanos, Speed};

use crate::accelerator::Accelerator;
use crate::console::last_words;
use crate::disk::inside::{self, InsideDisks};
use crate::disk::{self, Disk};
use crate::enclosure::{self, Enclosure};
use crate::error::LabError;
use crate::kernel::{self, GuestKernel};
use crate::machine::{self, Console, Mode, serial_of};
use crate::network::{self, End};
use crate::post::{self, Bells};
use crate::scratch::Scratch;
use crate::{cage, check, file, image, probe, vmlinux, within};

/// What to boot, and with what.
#[derive(Debug, Clone)]
pub struct GuestSpec<'a> {
    /// Processors, memory and drives.
    pub machine: &'a LabSpec,
    /// Kernel modules that would be good to have: the choice among kernels.
    pub wanted_modules: &'a [String],
    /// This program's file: the guest's first process is the same.
    pub agent: &'a Path,
    /// This program's build id.
    pub build: &'a str,
    /// Directory for the directories of guests.
    pub base: PathBuf,
    /// Directory for what is worth keeping between guests: whether KVM works, the kernel unpacked.
    pub cache: PathBuf,
    /// Who talks with the guest's console.
    pub console: Console,
    /// Directory that [`Guest::cut_power`] filled: drives begin with what was on them when power went.
    pub drives_from: Option<&'a Path>,
    /// Its number among the hosts of the lab, from 0: [`boot`] begins with the first.
    pub host: u8,
}

impl GuestSpec<'_> {
    /// The number of its first drive among those of all hosts: every drive has a serial number of its own.
    pub(crate) fn first_drive(&self) -> usize {
        usize::from(self.host) * self.machine.drives.len()
    }
}

/// How long a guest may take to greet us. Where other work had priority an emulated one took more than 90 s.
const BOOT_KVM: Duration = Duration::from_secs(30);
const BOOT_TCG: Duration = Duration::from_secs(300);
/// How long drives may take to appear.
const DRIVES: Duration = Duration::from_secs(20);

/// A running guest.
pub struct Guest {
    // Fields drop in this order: first the agent's connection, then QEMU, then the drives that spin, then the directory.
    remote: Remote,
    process: Mutex<Process>,
    disks: Vec<Disk>,
    scratch: Scratch,
    /// The other hosts of the lab; only the first has any.
    others: Vec<Self>,
    /// The guest that has the remote drives; it goes after the guests that use them.
    enclosure: Option<Enclosure>,
    /// What the other hosts reach it by.
    address: Option<String>,
    kernel: GuestKernel,
    accelerator: Accelerator,
    speed: Option<Speed>,
    drives: BTreeMap<Name, String>,
    /// From QEMU's start to the agent's greeting.
    boot_time: Duration,
}

/// Boots a guest and finds its drives.
///
/// # Errors
/// [`LabError`]; whatever was begun is gone again.
pub fn boot(spec: &GuestSpec<'_>) -> Result<Guest, LabError> {
    let host = Local::new();
    check::require(&host)?;
    let kernel = choose_kernel(&host, spec)?;
    let memory = spec.cache.join("accelerator");
    if let Some(why) = spec.machine.clock_refused() {
        return Err(LabError::Drives(why));
    }
    let accelerator = match spec.machine.clock() {
        Clock::Virtual => Accelerator::Icount,
        Clock::Real => probe::choose(&kernel, spec.agent, &spec.base, &memory)?,
    };
    match boot_with(spec, kernel.clone(), accelerator) {
        // It worked in the small and not in the large: forget it, and do without.
        Err(LabError::Boot { .. }) if accelerator == Accelerator::Kvm => {
            let _ = fs::remove_file(&memory);
            boot_with(spec, kernel, Accelerator::Tcg)
        }
        result => result,
    }
}

/// The kernel for a study: with remote drives it has to know both ends of NVMe/TCP, with hard disks in it NBD.
fn choose_kernel(host: &dyn Host, spec: &GuestSpec<'_>) -> Result<GuestKernel, LabError> {
    let choose = |wanted: &[String]| kernel::choose(host, wanted, spec.machine.kernels.first().map(String::as_str));
    let (drives, modules): (_, &[&str]) = if spec.machine.drives.iter().any(enclosure::is_remote) {
        for program in ["nvme", "ip"] {
            if host::find_program(host, program)?.is_none() {
                let what = format!("`{program}` is not installed, and remote drives need it");
                return Err(LabError::Missing { what, remedy: kernel::package(host, program) });
            }
        }
        ("remote drives need", &enclosure::MODULES)
    } else if InsideDisks::of(spec.machine, 0).is_some() {
        ("hard disks under a virtual clock need", &[inside::MODULE.0])
    } else {
        return choose(spec.wanted_modules);
    };
    let wanted: Vec<String> = modules.iter().map(|module| (*module).to_owned()).collect();
    let kernel = choose(&[spec.wanted_modules, &wanted].concat())?;
    match modules.iter().find(|module| !kernel.has_module(module)) {
        None => Ok(kernel),
        Some(module) => {
            let what = format!("kernel {} has no {module}, and {drives} it", kernel.release);
            Err(LabError::Missing { what, remedy: kernel::package(host, "kernel") })
        }
    }
}

fn boot_with(spec: &GuestSpec<'_>, kernel: GuestKernel, accelerator: Accelerator) -> Result<Guest, LabError> {
    let start = Instant::now();
    let enclosure = enclosure::start(spec, &kernel, accelerator)?;
    let network = enclosure.as_ref().map(enclosure::Started::directory);
    let mut booting = Vec::new();
    for host in 0..spec.machine.hosts.0 {
        booting.push(Booting::start(GuestSpec { host, ..spec.clone() }, &kernel, accelerator, network)?);
    }
    // All boot while the first is waited for.
    let greeted = booting.into_iter().map(|one| one.greet(accelerator)).collect::<Result<Vec<_>, _>>()?;
    let enclosure = enclosure.map(|started| started.open(spec, accelerator)).transpose()?;
    if enclosure.is_some() {
        // All before any connects. A hub gives every frame to every card, and one that takes none yet fills its wire
        // until the enclosure's QEMU waits for it, and with it everybody.
        for (booted, remote) in &greeted {
            network::set_up(remote, End::Initiator(booted.spec.host))?;
        }
    }
    let mut guests = Vec::new();
    for (booted, remote) in greeted {
        guests.push(booted.guest(remote, enclosure.is_some(), &kernel, accelerator, start)?);
    }
    let others = guests.split_off(1);
    let mut first = guests.pop().ok_or_else(|| LabError::Drives("a lab without hosts".to_owned()))?;
    (first.enclosure, first.others) = (enclosure, others);
    Ok(first)
}

/// A host of the lab whose QEMU runs and whose agent was not greeted yet.
struct Booting<'a> {
    spec: GuestSpec<'a>,
    process: Process,
    disks: Vec<Disk>,
    /// Those of a guest that talks through a mailbox.
    bells: Option<Bells>,
    scratch: Scratch,
}

impl<'a> Booting<'a> {
    /// `network`: where the sockets of the enclosure are, if there is one.
    fn start(
        spec: GuestSpec<'a>,
        kernel: &GuestKernel,
        accelerator: Accelerator,
        network: Option<&Path>,
    ) -> Result<Self, LabError> {
        let scratch = Scratch::make(&spec.base)?;
        let mode = Mode::of(accelerator, spec.console);
        make_files(&spec, scratch.path(), kernel, mode)?;
        let bells = (mode == Mode::Apart).then(|| Bells::make(scratch.path())).transpose()?;
        let networks = network.map(|of| network::host_arguments(of, spec.host)).unwrap_or_default();
        let disks = disk::start(scratch.path(), spec.machine)?;
        let process = start_machine(&spec, &scratch, accelerator, mode, networks)?;
        Ok(Self { spec, process, disks, bells, scratch })
    }

    fn greet(mut self, accelerator: Accelerator) -> Result<(Self, Remote), LabError> {
        let remote = greet(&self.spec, &self.scratch, &mut self.process, self.bells.take(), accelerator)?;
        Ok((self, remote))
    }

    /// Connects to remote drives, where there are any, and finds all drives.
    fn guest(
        self,
        remote: Remote,
        connected: bool,
        kernel: &GuestKernel,
        accelerator: Accelerator,
        start: Instant,
    ) -> Result<Guest, LabError> {
        let Self { spec, process, disks, scratch, bells: _ } = self;
        if connected {
            enclosure::connect(&remote, &spec)?;
        }
        let boot_time = start.elapsed();
        let drives = find_drives(&remote, &spec)?;
        Ok(Guest {
            remote,
            process: Mutex::new(process),
            disks,
            scratch,
            others: Vec::new(),
            enclosure: None,
            address: connected.then(|| network::address(spec.host)),
            kernel: kernel.clone(),
            accelerator,
            speed: spec.machine.speed(),
            drives,
            boot_time,
        })
    }
}

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
        if !spec.machine.is_within(drive) && !enclosure::is_remote(drive) {
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
    mode: Mode,
    networks: Vec<String>,
) -> Result<Process, LabError> {
    let mut argv = machine::command(spec.machine, spec.first_drive(), accelerator, spec.console, mode)?;
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

/// Connects to the agent's socket as soon as QEMU has made it, and greets.
pub(crate) fn greet(
    spec: &GuestSpec<'_>,
    scratch: &Scratch,
    process: &mut Process,
    bells: Option<Bells>,
    accelerator: Accelerator,
) -> Result<Remote, LabError> {
    let patience = if accelerator == Accelerator::Kvm { BOOT_KVM } else { BOOT_TCG };
    let socket = scratch.path().join(file::AGENT);
    let failed = |what: String| LabError::Boot { what, console: last_words(scratch.path()) };
    let start = Instant::now();
    let stream = loop {
        if let Ok(stream) = UnixStream::connect(&socket) {
            break stream;
        }
        interrupt::check()?;
        if let Ok(Some(status)) = process.ended() {
            return Err(failed(format!("QEMU ended with {status}")));
        }
        if start.elapsed() > Duration::from_secs(10) {
            return Err(failed("QEMU made no socket in 10 s".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let remote = match bells {
        Some(bells) => {
            let (input, output) =
                post::begin(stream, bells, process.id()).map_err(LabError::file("set up", &socket))?;
            Remote::connect("lab", spec.build, input, output, patience).map(Remote::answers_in_turn)
        }
        None => {
            // A guest that takes nothing more must not hold us for ever.
            stream.set_write_timeout(Some(Duration::from_secs(60))).map_err(LabError::file("set up", &socket))?;
            let input = stream.try_clone().map_err(LabError::file("connect to", &socket))?;
            Remote::connect("lab", spec.build, input, stream, patience)
        }
    };
    let remote = if accelerator == Accelerator::Icount { remote.map(Remote::with_our_clock) } else { remote };
    remote.map_err(|error| match error {
        HostError::Lost { what, .. } => {
            let ended =
                process.ended().ok().flatten().map_or(String::new(), |status| format!(" (QEMU ended with {status})"));
            failed(format!("its agent did not answer: {what}{ended}"))
        }
        other => other.into(),
    })
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
        // Drives that spin forget what was in their caches.
        self.disks.clear();
        if let Some(enclosure) = &self.enclosure {
            enclosure.cut_power(keep)?;
        }
        keep_drives(self.directory(), keep)
    }

    /// From QEMU's start to the agent's greeting.
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
