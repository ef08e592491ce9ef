//! The guest as QEMU's command line.

use terms::{Bytes, LabDrive, LabDriveKind, LabSpec, Port};

use crate::accelerator::Accelerator;
use crate::error::LabError;
use crate::{cage, disk, file, limit, mailbox, share};

/// Ports of a guest's AHCI controller (QEMU's q35).
pub const SATA_PORTS: usize = 6;

/// Who talks with the guest's own console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// Nobody: it goes to a file.
    Log,
    /// The person at this terminal.
    Terminal,
}

/// Memory that a guest under a virtual clock has on top of the study's, for the programs and modules that it brings along.
pub const BROUGHT: Bytes = Bytes::mib(320);

/// What the guest's first process is to do: a word of its kernel's command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Say that it is there, and end.
    Probe,
    /// Share this machine's programs, and serve a port that our words come to at any time.
    Shared,
    /// Share nothing, and serve a [mailbox](crate::mailbox).
    Apart,
}

impl Mode {
    /// What a guest does that is to be measured or built in.
    pub(crate) fn of(accelerator: Accelerator, console: Console) -> Self {
        if accelerator == Accelerator::Icount && console == Console::Log { Self::Apart } else { Self::Shared }
    }

    /// `bedplate=…` on the kernel's command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Probe => "bedplate=probe",
            Self::Shared => "bedplate=shared",
            Self::Apart => "bedplate=apart",
        }
    }
}

/// How a guest begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It boots.
    Boot(Mode),
    /// It goes on from where another one stood that shares nothing ([`saved`](crate::saved)).
    Resume,
}

impl Begin {
    /// Does it share nothing with this machine?
    const fn is_apart(self) -> bool {
        matches!(self, Self::Boot(Mode::Apart) | Self::Resume)
    }
}

/// The serial number a lab drive gets: at most 20 characters, NVMe's limit.
#[must_use]
pub fn serial_of(index: usize, drive: &LabDrive) -> String {
    let name: String = drive.name.as_str().chars().filter(char::is_ascii_alphanumeric).take(13).collect();
    format!("BP{index:02}-{name}")
}

/// The program and its arguments, to be started in the guest's directory.
pub(crate) fn command(
    spec: &LabSpec,
    first_drive: usize,
    accelerator: Accelerator,
    console: Console,
    begin: Begin,
) -> Result<Vec<String>, LabError> {
    // What a guest brings along lies in its memory, which is a file then: its mailbox is reached by it.
    let memory = Bytes(spec.memory.0.saturating_add(if begin.is_apart() { BROUGHT.0 } else { 0 }));
    let file = begin.is_apart().then_some(memory);
    let mut argv = Arguments(cage::around(spec, accelerator, file));
    argv.words("qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -machine q35");
    argv.0.extend(cage::within().map(str::to_owned));
    argv.words(accelerator.arguments());
    if accelerator == Accelerator::Icount {
        argv.pair("-icount", counting(begin));
    }
    argv.pair("-m", &format!("{}B", memory.0));
    argv.pair("-smp", &processors(spec, accelerator));
    match begin {
        Begin::Boot(mode) => boots(&mut argv, accelerator, mode),
        Begin::Resume => resumes(&mut argv),
    }
    argv.pair("-chardev", &format!("file,id=console,path={}", file::CONSOLE));
    argv.pair("-serial", "chardev:console");
    match file {
        Some(memory) => apart(&mut argv, memory),
        None => shared(&mut argv),
    }
    if console == Console::Terminal {
        argv.pair("-chardev", "stdio,id=terminal,signal=off");
        argv.pair("-device", "virtconsole,chardev=terminal");
    }
    drives(&mut argv, spec, first_drive)?;
    Ok(argv.0)
}

/// How instructions are counted: each is a nanosecond, and a processor with nothing to do is at the next timer at once
/// (QEMU, docs/devel/tcg-icount.rst).
///
/// QEMU has one thread for the guest and one for timers. Where the guest waits, the second moves the clock to the next timer.
/// It may see that the guest waits before the first has counted the guest's last instructions, some fifteen since it set its timer,
/// and then moves the clock by as much too far (QEMU 7.2: `icount_start_warp_timer`, `icount_process_data`). A recording keeps
/// the two apart: each holds one lock while it works (docs/devel/replay.rst). Nobody wants the recording itself.
const fn counting(begin: Begin) -> &'static str {
    if begin.is_apart() { "shift=0,sleep=off,rr=record,rrfile=/dev/null" } else { "shift=0,sleep=off" }
}

fn boots(argv: &mut Arguments, accelerator: Accelerator, mode: Mode) {
    argv.pair("-kernel", file::KERNEL);
    argv.pair("-initrd", file::IMAGE);
    // A kernel that waits for ten ticks of its timer in vain panics. On a busy machine an emulated one may come too late.
    // Before ZFS lets a write into a transaction it makes sure that 24 times as much is free (`spa_asize_inflation`, zfs(4)), for
    // three copies in a wide raidz3 whose blocks are all in pieces. On a pool of terabytes nobody sees it; on one of
    // 256 MiB each transaction was of two operations of 1 MiB. Three cover what lab drives are arranged in.
    let kernel = "console=ttyS0 panic=-1 quiet raid=noautodetect nowatchdog no_timer_check zfs.spa_asize_inflation=3";
    let reserved = if mode == Mode::Apart { format!(" {}", mailbox::reserve()) } else { String::new() };
    argv.pair("-append", &format!("{kernel}{}{reserved} {}", accelerator.kernel(), mode.word()));
}

/// Where a guest that boots nothing has the state of its devices from. `xen-save-devices-state` writes neither a section on
/// the configuration nor a description of the state, so QEMU is told to expect neither.
fn resumes(argv: &mut Arguments) {
    argv.words("-S -global migration.send-configuration=off -machine suppress-vmdesc=on");
    argv.pair("-incoming", &format!("unix:{}", file::INCOMING));
}

/// What a guest shares with this machine, and the port of its agent.
fn shared(argv: &mut Arguments) {
    for directory in share::shared() {
        let tag = share::tag(directory);
        let share = format!("local,path={directory},mount_tag={tag},security_model=none,readonly=on,multidevs=remap");
        argv.pair("-virtfs", &share);
    }
    argv.pair("-device", "virtio-serial-pci");
    argv.pair("-chardev", &format!("socket,id=agent,path={},server=on,wait=off", file::AGENT));
    argv.pair("-device", "virtserialport,chardev=agent,name=bedplate");
}

/// The mailbox of a guest that shares nothing: its memory as a file, the knock and the bells; and QEMU's monitor, which saves
/// it.
fn apart(argv: &mut Arguments, memory: Bytes) {
    argv.pair("-object", &format!("memory-backend-memfd,id=memory,size={}B,share=on", memory.0));
    argv.pair("-machine", "memory-backend=memory");
    argv.pair("-chardev", &format!("socket,id=knock,path={},server=on,wait=on", file::AGENT));
    argv.pair("-device", &format!("isa-debugcon,iobase={:#x},chardev=knock", mailbox::KNOCK));
    for (number, (port, path)) in mailbox::BELLS.iter().zip(file::BELLS).enumerate() {
        argv.pair("-chardev", &format!("file,id=bell{number},path={path}"));
        argv.pair("-device", &format!("isa-debugcon,iobase={port:#x},chardev=bell{number}"));
    }
    argv.pair("-qmp", &format!("unix:{},server=on,wait=off", file::MONITOR));
}

struct Arguments(Vec<String>);

impl Arguments {
    fn words(&mut self, text: &str) {
        self.0.extend(text.split(' ').map(ToOwned::to_owned));
    }
    fn pair(&mut self, option: &str, value: &str) {
        self.0.extend([option.to_owned(), value.to_owned()]);
    }
}

/// Ports, switches and drives. Root ports get chassis 1 up; downstream ports of a switch chassis 100 up.
fn drives(argv: &mut Arguments, spec: &LabSpec, first_drive: usize) -> Result<(), LabError> {
    let mut switches: Vec<u8> = Vec::new();
    let mut sata = 0;
    let root_port = |argv: &mut Arguments, id: &str, chassis: usize| {
        argv.pair("-device", &format!("pcie-root-port,id={id},chassis={chassis},slot={chassis},x-speed=16,x-width=4"));
    };
    limit::groups(spec).iter().for_each(|group| argv.pair("-object", group));
    for (index, drive) in spec.drives.iter().enumerate() {
        if spec.is_within(drive) || drive.kind == LabDriveKind::NvmeTcp {
            continue;
        }
        let is_hdd = drive.kind == LabDriveKind::Hdd;
        let path = if is_hdd { disk::socket(index) } else { file::drive(index) };
        // The host's page cache is the drive: nothing in a lab is meant to outlive it.
        match limit::nodes(index, drive, spec, &path) {
            Some(nodes) => nodes.iter().for_each(|node| argv.pair("-blockdev", node)),
            None => {
                argv.pair("-drive", &format!("if=none,id=d{index},file={path},format=raw,cache=unsafe,discard=unmap"))
            }
        }
        let serial = serial_of(first_drive + index, drive);
        let physical = drive.lba.0.max(4096);
        if is_hdd || drive.kind == LabDriveKind::Sata {
            if sata == SATA_PORTS {
                return Err(LabError::Drives(format!("at most {SATA_PORTS} SATA drives")));
            }
            let blocks = format!("logical_block_size={},physical_block_size={physical}", drive.lba.0);
            let turns = if is_hdd { rotation(drive) } else { String::new() };
            argv.pair("-device", &format!("ide-hd,drive=d{index},bus=ide.{sata},serial={serial},{blocks}{turns}"));
            sata += 1;
            continue;
        }
        let bus = match drive.port {
            Port::Cpu => {
                root_port(argv, &format!("rp{index}"), index + 1);
                format!("rp{index}")
            }
            Port::Switch(number) => {
                if !switches.contains(&number) {
                    switches.push(number);
                    root_port(argv, &format!("srp{number}"), 50 + usize::from(number));
                    argv.pair("-device", &format!("x3130-upstream,id=up{number},bus=srp{number}"));
                }
                let port = format!("xio3130-downstream,id=dn{index},bus=up{number},chassis={},slot=0", 100 + index);
                argv.pair("-device", &port);
                format!("dn{index}")
            }
        };
        argv.pair("-device", &format!("nvme,serial={serial},id=n{index},bus={bus}"));
        let blocks = format!("logical_block_size={},physical_block_size={physical}", drive.lba.0);
        argv.pair("-device", &format!("nvme-ns,drive=d{index},bus=n{index},{blocks}"));
    }
    Ok(())
}

/// How many processors. The translator leaves out memory barriers for a machine that can have only one, and an NVMe drive,
/// which is a thread of its own, then misses what was asked of it: the command hangs until the kernel resets the drive.
fn processors(spec: &LabSpec, accelerator: Accelerator) -> String {
    let processors = spec.processors();
    match accelerator {
        Accelerator::Tcg => format!("{processors},maxcpus={}", processors.max(2)),
        Accelerator::Kvm | Accelerator::Icount => processors.to_string(),
    }
}

/// What the guest's kernel is told of a hard disk: how fast, and that it knows no TRIM.
fn rotation(drive: &LabDrive) -> String {
    format!(",rotation_rate={},discard_granularity=0", drive.spindle.unwrap_or_default().rpm)
}

#[cfg(test)]
mod tests {
    use terms::{Bytes, Name};

    use super::*;

    fn drive(name: &str, kind: LabDriveKind, port: Port) -> LabDrive {
        LabDrive { kind, lba: Bytes(4096), port, ..LabDrive::new(Name::new(name).unwrap(), Bytes::mib(64)) }
    }

    #[test]
    fn topology_becomes_ports_and_switches() {
        let spec = LabSpec {
            drives: vec![
                drive("a", LabDriveKind::Nvme, Port::Cpu),
                drive("b", LabDriveKind::Nvme, Port::Switch(0)),
                drive("c", LabDriveKind::Nvme, Port::Switch(0)),
                drive("d", LabDriveKind::Sata, Port::Cpu),
                drive("r", LabDriveKind::Ram, Port::Cpu),
                drive("h", LabDriveKind::Hdd, Port::Cpu),
            ],
            ..LabSpec::new(2, Bytes::gib(1))
        };
        let argv = command(&spec, 0, Accelerator::Tcg, Console::Log, Begin::Boot(Mode::Shared)).unwrap();
        let line = argv.join(" ");
        assert!(line.contains("-smp 2,maxcpus=2 "), "{line}");
        assert_eq!(line.matches("pcie-root-port").count(), 2);
        assert_eq!(line.matches("x3130-upstream").count(), 1);
        assert_eq!(line.matches("xio3130-downstream").count(), 2);
        assert_eq!(line.matches("nvme-ns").count(), 3);
        assert!(line.contains("ide-hd,drive=d3,bus=ide.0") && !line.contains("drive-4"));
        assert!(line.contains("ide-hd,drive=d5,bus=ide.1") && line.matches("rotation_rate=7200").count() == 1);
        assert!(line.contains("server.path=head-5.sock") && !line.contains("file=drive-5"));
    }

    #[test]
    fn a_guest_is_given_nothing_of_this_machine_but_programs_and_libraries_to_read() {
        let drives = vec![drive("a", LabDriveKind::Nvme, Port::Cpu)];
        let spec = LabSpec { drives, ..LabSpec::new(1, Bytes::gib(1)) };
        let argv = command(&spec, 0, Accelerator::Tcg, Console::Log, Begin::Boot(Mode::Shared)).unwrap();
        let (shares, rest): (Vec<_>, Vec<_>) = argv.iter().partition(|word| word.starts_with("local,"));
        for share in shares {
            let path = share.split(',').find_map(|part| part.strip_prefix("path=")).unwrap();
            assert!(share.contains(",readonly=on,") && share::DIRECTORIES.contains(&path), "{share}");
        }
        assert!(
            rest.iter().all(|word| !word.starts_with('/') && !word.contains("=/")),
            "no other path leads out of its directory: {rest:?}"
        );
        assert!(argv.join(" ").contains(" -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,"));
    }

    #[test]
    fn serials_fit_nvme() {
        let long = drive("a-very-long-drive-name-indeed", LabDriveKind::Nvme, Port::Cpu);
        assert!(serial_of(31, &long).len() <= 20);
    }
}
