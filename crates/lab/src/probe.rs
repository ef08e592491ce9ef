//! Which accelerator works on this machine. `/dev/kvm` that opens is not KVM that boots, so the answer comes from a boot with
//! a deadline, and is kept.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use host::{Host, HostError, Local, Process, Standard};
use terms::inventory::Program;
use terms::{Bytes, Cmd, LabSpec};

use crate::accelerator::Accelerator;
use crate::cage::lend;
use crate::image::{self, write_image};
use crate::kernel::GuestKernel;
use crate::machine::{self, Begin, Console, Mode};
use crate::scratch::Scratch;
use crate::{LabError, file};

/// What the guest's first process says in probe mode.
pub(crate) const PROBE_WORDS: &str = "bedplate: probe reached";
/// A kernel under working KVM says its first words at once; one that has said nothing by then never will.
const FIRST_WORDS: Duration = Duration::from_millis(1500);
/// And has reached our first process by then.
const WHOLE_BOOT: Duration = Duration::from_secs(8);

/// The program that guests run in, and its version.
///
/// # Errors
/// Where it cannot be asked.
pub fn emulator() -> Result<Program, HostError> {
    const NAME: &str = "qemu-system-x86_64";
    let told = Local::new().run(&Cmd::new([NAME, "--version"]))?.text();
    Ok(Program { name: NAME.to_owned(), version: told.lines().next().map(str::to_owned) })
}

/// Finds out which works. The answer is kept in `cache` for as long as this boot of this machine, this QEMU and
/// this kernel last.
pub(crate) fn choose(kernel: &GuestKernel, agent: &Path, base: &Path, cache: &Path) -> Result<Accelerator, LabError> {
    let host = Local::new();
    if !host.run(&Cmd::new(["test", "-r", "/dev/kvm", "-a", "-w", "/dev/kvm"]))?.ok() {
        return Ok(Accelerator::Tcg);
    }
    let boot = host.read_text(host::BOOT_ID).unwrap_or_default();
    let key = format!("{boot} {} {}", kernel.release, emulator()?.version.unwrap_or_default());
    let known = fs::read_to_string(cache).unwrap_or_default();
    match known.strip_prefix(&key).map(str::trim) {
        Some("kvm") => return Ok(Accelerator::Kvm),
        Some("tcg") => return Ok(Accelerator::Tcg),
        _ => {}
    }
    let found = if probe(kernel, agent, base)? { Accelerator::Kvm } else { Accelerator::Tcg };
    // Only a memory: without it the next start probes again.
    if let Some(parent) = cache.parent() {
        let _ = fs::create_dir_all(parent);
    }
    let _ = fs::write(cache, format!("{key} {}\n", found.word()));
    Ok(found)
}

/// Does a guest under KVM reach our first process?
fn probe(kernel: &GuestKernel, agent: &Path, base: &Path) -> Result<bool, LabError> {
    let scratch = Scratch::make(base)?;
    let probe = scratch.path();
    write_image(probe, &image::pack(&Local::new(), agent, kernel, None, Mode::Probe)?)?;
    lend(Path::new(&kernel.image), &probe.join(file::KERNEL))?;
    let spec = LabSpec::new(1, Bytes::mib(512));
    let mut argv = machine::command(&spec, 0, Accelerator::Kvm, Console::Log, Begin::Boot(Mode::Probe))?;
    for word in &mut argv {
        // Its first words have to come out at once.
        *word = word.replace(" quiet ", " earlyprintk=serial,ttyS0 ");
    }
    let output = probe.join(file::OUTPUT);
    let log = File::create(&output).map_err(LabError::file("make", &output))?;
    let Ok(mut process) = Process::start(&Cmd::new(argv), Standard::Log(log), probe) else { return Ok(false) };
    let start = Instant::now();
    let console = probe.join(file::CONSOLE);
    let answer = loop {
        let said = fs::read_to_string(&console).unwrap_or_default();
        if said.contains(PROBE_WORDS) {
            break true;
        }
        let silent = !said.contains("Linux version");
        let over = start.elapsed() > WHOLE_BOOT || (silent && start.elapsed() > FIRST_WORDS);
        if over || !matches!(process.ended(), Ok(None)) {
            // It may have said the words in its last breath.
            break fs::read_to_string(&console).unwrap_or_default().contains(PROBE_WORDS);
        }
        if let Err(error) = host::interrupt::check() {
            process.kill();
            return Err(error.into());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    process.kill();
    Ok(answer)
}
