//! KVM or emulation. `/dev/kvm` that opens is not KVM that boots, so the answer comes from a boot with a deadline.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use host::{Host, Local, Process, Standard};
use terms::{Bytes, Cmd, LabSpec};

use crate::guest::{lend, write_image};
use crate::kernel::Kernel;
use crate::machine::{self, Console, file};
use crate::scratch::Scratch;
use crate::{LabError, image};

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor.
    Kvm,
    /// QEMU's translator: rates mean nothing.
    Tcg,
    /// QEMU's translator under a virtual clock.
    Icount,
}

/// A kernel under working KVM says its first words at once; one that has said nothing by then never will.
const FIRST_WORDS: Duration = Duration::from_millis(1500);
/// And has reached our first process by then.
const WHOLE_BOOT: Duration = Duration::from_secs(8);
/// What the guest's first process says in probe mode.
pub(crate) const PROBE_WORDS: &str = "bedplate: probe reached";

impl Accelerator {
    /// Its name in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
            Self::Icount => terms::record::ICOUNT,
        }
    }

    pub(crate) const fn arguments(self) -> &'static str {
        match self {
            Self::Kvm => "-accel kvm -cpu host",
            // A page that holds translated code is written to the slow way until nothing of it is left, some 20 µs each
            // time. Memory that a program's code was in is soon a buffer, and a kernel that is told of fast string
            // copies (ERMS, FSRM) fills it byte by byte: 80 ms for a page, and minutes for what was dropped from its
            // caches. Without them it copies eight bytes at a time, which is faster everywhere.
            Self::Tcg => "-accel tcg,thread=multi -cpu max,-erms,-fsrm",
            // Each instruction is a nanosecond, and a processor with nothing to do is at the next timer at once
            // (QEMU, docs/devel/tcg-icount.rst). Whatever differs between two runs, or two versions of QEMU, differs in
            // instructions: so a processor by name, without what only some versions know, a seed for whatever is drawn,
            // and a date of its own.
            Self::Icount => {
                "-accel tcg,thread=single -icount shift=0,sleep=off -cpu Haswell-noTSX,-erms,-pcid,-tsc-deadline,-invpcid,\
                 -x2apic,-spec-ctrl -seed 1 -rtc base=2026-01-01T00:00:00,clock=vm"
            }
        }
    }

    /// Words for the kernel: nothing that is drawn at boot, and no clock but the processor's.
    pub(crate) const fn kernel(self) -> &'static str {
        match self {
            Self::Kvm | Self::Tcg => "",
            Self::Icount => {
                " clocksource=tsc tsc=reliable hpet=disable nokaslr norandmaps randomize_kstack_offset=off mitigations=off"
            }
        }
    }
}

/// Finds out which works. The answer is kept in `cache` for as long as this boot of this machine, this QEMU and
/// this kernel last.
pub(crate) fn choose(kernel: &Kernel, agent: &Path, base: &Path, cache: &Path) -> Result<Accelerator, LabError> {
    let host = Local::new();
    if !host.run(&Cmd::new(["test", "-r", "/dev/kvm", "-a", "-w", "/dev/kvm"]))?.ok() {
        return Ok(Accelerator::Tcg);
    }
    let boot = host.read_text(host::BOOT_ID).unwrap_or_default();
    let qemu = host.run(&Cmd::new(["qemu-system-x86_64", "--version"]))?.text();
    let key = format!("{boot} {} {}", kernel.release, qemu.lines().next().unwrap_or_default());
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
fn probe(kernel: &Kernel, agent: &Path, base: &Path) -> Result<bool, LabError> {
    let scratch = Scratch::make(base)?;
    let probe = scratch.path();
    write_image(probe, &image::pack(&Local::new(), agent, kernel)?)?;
    lend(Path::new(&kernel.image), &probe.join(file::KERNEL))?;
    let spec = LabSpec::new(1, Bytes::mib(512));
    let mut argv = machine::command(&spec, 0, Accelerator::Kvm, Console::Log, "probe")?;
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
