//! Boots a guest with its enclosure and the other hosts, or resumes one that was saved.

use std::fs;
use std::io::PipeReader;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use host::{Host, Local, Process, Remote, interrupt};
use terms::Clock;

use crate::accelerator::Accelerator;
use crate::disk::inside::{self, InsideDisks};
use crate::disk::{self, Disk};
use crate::enclosure;
use crate::error::LabError;
use crate::guest::Guest;
use crate::guest_spec::{GuestSpec, is_remote};
use crate::kernel::{self, GuestKernel};
use crate::machine::{Begin, Mode};
use crate::monitor::Monitor;
use crate::network::{self, End};
use crate::post::{self, Bells, Outgoing};
use crate::saved::{self, Like, SaveBy, Saved, Saves};
use crate::scratch::Scratch;
use crate::start::{BOOT_TCG, NAME, find_drives, greet, greeted, make_files, not_up, reach, start_machine};
use crate::{check, file, image, probe};

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
    if let Some((saves, saved)) = find_saved(spec, &kernel, accelerator) {
        match resume(spec, &kernel, &saved) {
            // What does not work once is not tried again: a boot comes to the same, only later.
            Err(LabError::Boot { .. } | LabError::File { .. }) => saves.refuse(),
            result => return result,
        }
    }
    match boot_with(spec, kernel.clone(), accelerator) {
        // It worked in the small and not in the large: forget it, and do without.
        Err(LabError::Boot { .. }) if accelerator == Accelerator::Kvm => {
            let _ = fs::remove_file(&memory);
            boot_with(spec, kernel, Accelerator::Tcg)
        }
        result => result,
    }
}

/// A guest that this one may begin as.
fn find_saved<'a>(
    spec: &GuestSpec<'a>,
    kernel: &GuestKernel,
    accelerator: Accelerator,
) -> Option<(&'a Saves, Arc<Saved>)> {
    let saves = spec.saves.filter(|_| Mode::of(accelerator, spec.console) == Mode::Apart)?;
    Some((saves, saves.find(&Like::of(spec, &kernel.release))?))
}

/// The kernel for a study: with remote drives it has to know both ends of NVMe/TCP, with hard disks in it NBD.
fn choose_kernel(host: &dyn Host, spec: &GuestSpec<'_>) -> Result<GuestKernel, LabError> {
    let choose = |wanted: &[String]| kernel::choose(host, wanted, spec.machine.kernels.first().map(String::as_str));
    let (drives, modules): (_, &[&str]) = if spec.machine.drives.iter().any(is_remote) {
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
    /// Of a guest that talks through a mailbox: its bells, until it is greeted, and then what it may be saved by.
    bells: Option<Bells>,
    save_by: Option<SaveBy<'a>>,
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
        let process = start_machine(&spec, &scratch, accelerator, Begin::Boot(mode), networks)?;
        Ok(Self { spec, process, disks, bells, save_by: None, scratch })
    }

    fn greet(mut self, accelerator: Accelerator) -> Result<(Self, Remote), LabError> {
        let remote = match self.bells.take() {
            None => greet(&self.spec, &self.scratch, &mut self.process, accelerator)?,
            Some(bells) => {
                let (input, output) = mailbox(&self.scratch, &mut self.process, bells, 0)?;
                if let Some(saves) = self.spec.saves {
                    let monitor = Monitor::new(reach(file::MONITOR, &self.scratch, &mut self.process)?);
                    let tasks = output.tasks();
                    self.save_by = monitor.ok().map(|monitor| SaveBy { saves, monitor, tasks });
                }
                let remote = Remote::connect(NAME, self.spec.build, input, output, BOOT_TCG);
                apart(greeted(remote, &self.scratch, &mut self.process)?)
            }
        };
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
        // What is bound last goes first where something fails: the directory is the last to go.
        let Self { spec, scratch, disks, process, bells: _, save_by } = self;
        if connected {
            enclosure::connect(&remote, &spec)?;
        }
        let boot_time = start.elapsed();
        let drives = find_drives(&remote, &spec)?;
        let monitor = match save_by {
            Some(by) => saved::save(by, Like::of(&spec, &kernel.release), scratch.path(), &remote, &drives)?,
            None => None,
        };
        Ok(Guest {
            remote,
            _monitor: monitor,
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

/// An agent behind a mailbox.
fn apart(remote: Remote) -> Remote {
    remote.answers_in_turn().with_our_clock()
}

/// Begins to carry messages of a guest that comes to this bell first.
fn mailbox(
    scratch: &Scratch,
    process: &mut Process,
    bells: Bells,
    bell: usize,
) -> Result<(PipeReader, Outgoing), LabError> {
    let knocks = reach(file::AGENT, scratch, process)?;
    post::begin(knocks, bells, bell, process.id()).map_err(LabError::file("set up", scratch.path().join(file::AGENT)))
}

/// A guest that boots nothing: it begins where another one stood.
fn resume(spec: &GuestSpec<'_>, kernel: &GuestKernel, saved: &Saved) -> Result<Guest, LabError> {
    let start = Instant::now();
    let (accelerator, scratch) = (Accelerator::Icount, Scratch::make(&spec.base)?);
    image::make_console(scratch.path())?;
    let bells = Bells::make(scratch.path())?;
    let mut process = start_machine(spec, &scratch, accelerator, Begin::Resume, Vec::new())?;
    let (input, output) = mailbox(&scratch, &mut process, bells, saved.state.bell)?;
    let monitor = reach(file::MONITOR, &scratch, &mut process)?;
    let incoming = reach(file::INCOMING, &scratch, &mut process)?;
    if let Err(error) = saved.state.give(process.id(), monitor, incoming) {
        interrupt::check()?;
        return Err(not_up(&scratch, format!("it could not begin as another one: {error}")));
    }
    let remote = apart(Remote::resume(NAME, saved.next, input, output));
    // Who stood elsewhere than we believe does not answer.
    let remote = greeted(remote.now().map(|_| remote), &scratch, &mut process)?;
    Ok(Guest {
        remote,
        _monitor: None,
        process: Mutex::new(process),
        disks: Vec::new(),
        scratch,
        others: Vec::new(),
        enclosure: None,
        address: None,
        kernel: kernel.clone(),
        accelerator,
        speed: spec.machine.speed(),
        drives: saved.drives.clone(),
        boot_time: start.elapsed(),
    })
}
