//! The guest as QEMU's command line.

use std::path::Path;

use terms::{LabDrive, LabDriveKind, LabSpec, Port};

use crate::accelerator::Accelerator;
use crate::error::LabError;
use crate::{disk, limit};

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

/// The serial number a lab drive gets: at most 20 characters, NVMe's limit.
#[must_use]
pub fn serial_of(index: usize, drive: &LabDrive) -> String {
    let name: String = drive.name.as_str().chars().filter(char::is_ascii_alphanumeric).take(13).collect();
    format!("BP{index:02}-{name}")
}

/// Files of a guest inside its directory.
pub(crate) mod file {
    pub(crate) const IMAGE: &str = "initramfs";
    pub(crate) const CONSOLE: &str = "console.log";
    pub(crate) const OUTPUT: &str = "qemu.log";
    pub(crate) const AGENT: &str = "agent.sock";
}

/// The program and its arguments. Ends with this program, whatever ends it: setpriv asks the kernel for that.
pub(crate) fn command(
    directory: &Path,
    spec: &LabSpec,
    first_drive: usize,
    accelerator: Accelerator,
    image: &str,
    console: Console,
    mode: &str,
) -> Result<Vec<String>, LabError> {
    let mut argv = Arguments::default();
    argv.words("setpriv --pdeathsig KILL -- qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot");
    argv.words("-machine q35");
    argv.words(accelerator.arguments());
    argv.pair("-m", &format!("{}B", spec.memory.0));
    argv.pair("-smp", &spec.cpus.to_string());
    argv.pair("-kernel", image);
    argv.pair("-initrd", &inside(directory, file::IMAGE));
    argv.pair("-append", &format!("console=ttyS0 panic=-1 quiet raid=noautodetect nowatchdog bedplate={mode}"));
    argv.pair("-chardev", &format!("file,id=console,path={}", inside(directory, file::CONSOLE)));
    argv.pair("-serial", "chardev:console");
    argv.pair("-virtfs", "local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap");
    argv.pair("-device", "virtio-serial-pci");
    argv.pair("-chardev", &format!("socket,id=agent,path={},server=on,wait=off", inside(directory, file::AGENT)));
    argv.pair("-device", "virtserialport,chardev=agent,name=bedplate");
    if console == Console::Terminal {
        argv.pair("-chardev", "stdio,id=terminal,signal=off");
        argv.pair("-device", "virtconsole,chardev=terminal");
    }
    drives(&mut argv, directory, spec, first_drive)?;
    Ok(argv.0)
}

/// The backing file of a drive.
pub(crate) fn inside(directory: &Path, name: &str) -> String {
    directory.join(name).to_string_lossy().into_owned()
}

#[derive(Default)]
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
fn drives(argv: &mut Arguments, directory: &Path, spec: &LabSpec, first_drive: usize) -> Result<(), LabError> {
    let mut switches: Vec<u8> = Vec::new();
    let mut sata = 0;
    let root_port = |argv: &mut Arguments, id: &str, chassis: usize| {
        argv.pair("-device", &format!("pcie-root-port,id={id},chassis={chassis},slot={chassis},x-speed=16,x-width=4"));
    };
    limit::groups(spec).iter().for_each(|group| argv.pair("-object", group));
    for (index, drive) in spec.drives.iter().enumerate() {
        if matches!(drive.kind, LabDriveKind::Ram | LabDriveKind::NvmeTcp) {
            continue;
        }
        let spins = drive.kind == LabDriveKind::Hdd;
        let path = inside(directory, &if spins { disk::socket(index) } else { format!("drive-{index}") });
        // The host's page cache is the drive: nothing in a lab is meant to outlive it.
        match limit::nodes(index, drive, spec, &path) {
            Some(nodes) => nodes.iter().for_each(|node| argv.pair("-blockdev", node)),
            None => {
                argv.pair("-drive", &format!("if=none,id=d{index},file={path},format=raw,cache=unsafe,discard=unmap"))
            }
        }
        let serial = serial_of(first_drive + index, drive);
        let physical = drive.lba.0.max(4096);
        if spins || drive.kind == LabDriveKind::Sata {
            if sata == SATA_PORTS {
                return Err(LabError::Drives(format!("at most {SATA_PORTS} SATA drives")));
            }
            let blocks = format!("logical_block_size={},physical_block_size={physical}", drive.lba.0);
            let turns = if spins { rotation(drive) } else { String::new() };
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

/// What the guest's kernel is told of a drive that spins: how fast, and that it knows no TRIM.
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
        let argv = command(Path::new("/lab"), &spec, 0, Accelerator::Tcg, "/k", Console::Log, "serve").unwrap();
        let line = argv.join(" ");
        assert_eq!(line.matches("pcie-root-port").count(), 2);
        assert_eq!(line.matches("x3130-upstream").count(), 1);
        assert_eq!(line.matches("xio3130-downstream").count(), 2);
        assert_eq!(line.matches("nvme-ns").count(), 3);
        assert!(line.contains("ide-hd,drive=d3,bus=ide.0") && !line.contains("drive-4"));
        assert!(line.contains("ide-hd,drive=d5,bus=ide.1") && line.matches("rotation_rate=7200").count() == 1);
        assert!(line.contains("server.path=/lab/head-5.sock") && !line.contains("file=/lab/drive-5"));
    }

    #[test]
    fn a_guest_is_given_nothing_of_this_machine_but_its_root_to_read() {
        let drives = vec![drive("a", LabDriveKind::Nvme, Port::Cpu)];
        let spec = LabSpec { drives, ..LabSpec::new(1, Bytes::gib(1)) };
        let argv = command(Path::new("/lab"), &spec, 0, Accelerator::Tcg, "/k", Console::Log, "serve").unwrap();
        for word in &argv {
            assert!(!word.contains("/dev/"), "{word}");
            assert!(!word.contains("path=/,") || word.contains("readonly=on"), "{word}");
            assert!(!word.contains("file=") || word.contains("file=/lab/"), "{word}");
        }
    }

    #[test]
    fn serials_fit_nvme() {
        let long = drive("a-very-long-drive-name-indeed", LabDriveKind::Nvme, Port::Cpu);
        assert!(serial_of(31, &long).len() <= 20);
    }
}
