//! The enclosure: a guest that exports its drives over NVMe/TCP to the hosts of the lab.
//!
//! Every drive is a subsystem of its own with one namespace: so it has a serial number of its own, by which it is
//! found as every other drive, and a list of hosts of its own. Each host has its own drives, and no other host may
//! connect to them. A subsystem that is exported on two ports has two
//! controllers on the host, and the kernel's native multipath makes one device of both ways to the namespace.
//!
//! How the target is set up: the kernel's `drivers/nvme/target/configfs.c`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use host::{Host, HostError, Process, Remote};
use terms::{Bytes, Cmd, LabDrive, LabDriveKind, LabSpec, Name, Nanos, Port};

use crate::accelerator::Accelerator;
use crate::error::LabError;
use crate::guest_spec::{GuestSpec, is_remote};
use crate::kernel::GuestKernel;
use crate::machine::{Begin, Console, Mode, serial_of};
use crate::network::{self, End};
use crate::scratch::Scratch;
use crate::start::{find_drives, greet, keep_drives, make_files, start_machine};

/// Modules that remote drives need in either guest.
pub(crate) const MODULES: [&str; 3] = ["virtio_net", "nvme_tcp", "nvmet_tcp"];
/// Memory of the enclosure: a kernel, an agent and the target's buffers. What it exports is not cached there.
const MEMORY: Bytes = Bytes::gib(1);
/// Its processors.
const PROCESSORS: u32 = 2;
/// Where the drives of the enclosure are kept when power is cut, beside those of the guest.
const KEPT: &str = "enclosure";
/// Where the kernel's target is set up.
const TARGET: &str = "/sys/kernel/config/nvmet";

/// A host by the identifier that the enclosure knows it by.
fn host_id(host: u8) -> String {
    format!("00000000-0000-4000-8000-{:012}", u16::from(host) + 1)
}

/// Its qualified name, made of that identifier as the NVMe base specification has it.
fn host_name(host: u8) -> String {
    format!("nqn.2014-08.org.nvmexpress:uuid:{}", host_id(host))
}

/// Qualified name of a drive's subsystem. `.invalid` is nobody's domain (RFC 2606).
fn subsystem(serial: &str) -> String {
    format!("nqn.2024-01.invalid.bedplate:{serial}")
}

/// An enclosure whose QEMU runs and whose agent was not greeted yet: it boots while the guest does.
pub(crate) struct Started {
    machine: LabSpec,
    process: Process,
    scratch: Scratch,
}

/// An enclosure at work.
pub(crate) struct Enclosure {
    // Fields drop in this order: the agent's connection, then QEMU, then the directory.
    remote: Remote,
    process: Mutex<Process>,
    scratch: Scratch,
}

/// The enclosure's own machine: every remote drive of every host is an NVMe drive in it.
fn machine(study: &LabSpec) -> Result<LabSpec, LabError> {
    let drives = exports(study).map(|export| {
        let name = Name::new(&export.serial).map_err(|error| LabError::Drives(error.to_string()))?;
        Ok(LabDrive { name, kind: LabDriveKind::Nvme, port: Port::Cpu, paths: 1, ..export.drive.clone() })
    });
    Ok(LabSpec { drives: drives.collect::<Result<_, LabError>>()?, ..LabSpec::new(PROCESSORS, MEMORY) })
}

/// Starts the enclosure of a study, if it has remote drives. Called by the thread that started everything else: QEMU
/// is ended when its thread is.
pub(crate) fn start(
    spec: &GuestSpec<'_>,
    kernel: &GuestKernel,
    accelerator: Accelerator,
) -> Result<Option<Started>, LabError> {
    if !spec.machine.drives.iter().any(is_remote) {
        return Ok(None);
    }
    let machine = machine(spec.machine)?;
    let from = spec.drives_from.map(|from| from.join(KEPT));
    let own = own(spec, &machine, from.as_deref());
    let scratch = Scratch::make(&spec.base)?;
    make_files(&own, scratch.path(), kernel, Mode::Shared)?;
    let networks = network::enclosure_arguments(scratch.path(), spec.machine.hosts.0);
    let process = start_machine(&own, &scratch, accelerator, Begin::Boot(Mode::Shared), networks)?;
    let started = Started { machine, process, scratch };
    network::await_listening(started.directory(), spec.machine.hosts.0)?;
    Ok(Some(started))
}

/// What the enclosure is booted with.
fn own<'a>(spec: &GuestSpec<'a>, machine: &'a LabSpec, drives_from: Option<&'a Path>) -> GuestSpec<'a> {
    GuestSpec { machine, console: Console::Log, drives_from, host: 0, ..spec.clone() }
}

impl Started {
    /// Where the sockets of the networks are.
    pub(crate) fn directory(&self) -> &Path {
        self.scratch.path()
    }

    /// Greets the enclosure's agent and exports the drives of the study.
    pub(crate) fn open(mut self, spec: &GuestSpec<'_>, accelerator: Accelerator) -> Result<Enclosure, LabError> {
        let own = own(spec, &self.machine, None);
        let remote = greet(&own, &self.scratch, &mut self.process, accelerator)?;
        let enclosure = Enclosure { remote, process: Mutex::new(self.process), scratch: self.scratch };
        network::set_up(&enclosure.remote, End::Enclosure)?;
        enclosure.export(&own, spec.machine)?;
        Ok(enclosure)
    }
}

impl Enclosure {
    /// Sets up the kernel's target: ports, a subsystem for each drive, and which subsystem is on which port.
    fn export(&self, own: &GuestSpec<'_>, study: &LabSpec) -> Result<(), LabError> {
        let remote = &self.remote;
        remote.run_ok(&Cmd::new(["modprobe", "nvmet_tcp"]))?;
        remote.run_ok(&Cmd::new(["mount", "-t", "configfs", "configfs", "/sys/kernel/config"]))?;
        let nodes = find_drives(remote, own)?;
        let exports: Vec<Export<'_>> = exports(study).collect();
        let ports = network::PORTS.map(|port| format!("{TARGET}/ports/{port}"));
        let each = exports.iter().flat_map(|export| [export.directory(), export.namespace()]);
        let hosts = (0..study.hosts.0).map(|host| format!("{TARGET}/hosts/{}", host_name(host)));
        let directories: Vec<String> = ports.into_iter().chain(hosts).chain(each).collect();
        remote.run_ok(&Cmd::new(std::iter::once("mkdir".to_owned()).chain(directories)))?;
        for port in network::PORTS {
            for (key, value) in [
                ("trtype", "tcp"),
                ("adrfam", "ipv4"),
                ("traddr", &End::Enclosure.address(port)),
                ("trsvcid", network::SERVICE),
            ] {
                remote.write(&format!("{TARGET}/ports/{port}/addr_{key}"), value.as_bytes())?;
            }
        }
        for export in &exports {
            let node = nodes.iter().find(|(name, _)| name.as_str() == export.serial).map_or("", |(_, node)| node);
            self.export_one(export, node)?;
        }
        Ok(())
    }

    fn export_one(&self, export: &Export<'_>, node: &str) -> Result<(), LabError> {
        let (directory, namespace) = (export.directory(), export.namespace());
        for (path, value) in [
            (format!("{directory}/attr_serial"), export.serial.as_str()),
            (format!("{directory}/attr_model"), "Bedplate remote drive"),
            (format!("{namespace}/device_path"), node),
            (format!("{namespace}/enable"), "1"),
        ] {
            self.remote.write(&path, value.as_bytes())?;
        }
        let link = |from: &str, to: String| self.remote.run_ok(&Cmd::new(["ln", "-s", from, &to]));
        let host = host_name(export.host);
        link(&format!("{TARGET}/hosts/{host}"), format!("{directory}/allowed_hosts/{host}"))?;
        for port in export.ports() {
            link(&directory, format!("{TARGET}/ports/{port}/subsystems/{}", export.nqn))?;
        }
        Ok(())
    }

    /// Switches the card of the last port off or on. The other end keeps its link, as behind a switch: it has to notice
    /// by itself that nobody answers.
    pub(crate) fn switch_last_port(&self, up: bool) -> Result<(), HostError> {
        network::switch(&self.remote, End::Enclosure, network::PORTS[1], up)
    }

    /// Takes the power away, and links its drives into a directory below `keep`.
    pub(crate) fn cut_power(&self, keep: &Path) -> Result<(), LabError> {
        self.lock().kill();
        let below: PathBuf = keep.join(KEPT);
        std::fs::create_dir_all(&below).map_err(LabError::file("make", &below))?;
        keep_drives(self.scratch.path(), &below)
    }

    fn lock(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Enclosure {
    fn drop(&mut self) {
        self.lock().kill();
    }
}

/// A drive as it is exported.
struct Export<'a> {
    host: u8,
    drive: &'a LabDrive,
    serial: String,
    nqn: String,
}

/// Every remote drive of every host. Serial numbers are those of its place among all drives of all hosts.
fn exports(study: &LabSpec) -> impl Iterator<Item = Export<'_>> {
    let each = (0..study.hosts.0).flat_map(|host| study.drives.iter().map(move |drive| (host, drive)));
    let remote = each.enumerate().filter(|(_, (_, drive))| is_remote(drive));
    remote.map(|(index, (host, drive))| {
        let serial = serial_of(index, drive);
        Export { host, drive, nqn: subsystem(&serial), serial }
    })
}

impl Export<'_> {
    fn directory(&self) -> String {
        format!("{TARGET}/subsystems/{}", self.nqn)
    }

    fn namespace(&self) -> String {
        format!("{}/namespaces/1", self.directory())
    }

    fn ports(&self) -> impl Iterator<Item = u8> {
        network::PORTS.into_iter().take(usize::from(self.drive.paths))
    }
}

/// Connects a guest to its drives in the enclosure, over every path. Its network is set up, and so are those of all
/// other hosts.
pub(crate) fn connect(guest: &dyn Host, spec: &GuestSpec<'_>) -> Result<(), LabError> {
    guest.run_ok(&Cmd::new(["modprobe", "nvme_tcp"]))?;
    for export in exports(spec.machine).filter(|export| export.host == spec.host) {
        for port in export.ports() {
            guest.run_ok(&connection(&export, port))?;
        }
    }
    balance(guest)
}

/// The command that connects to one drive over one port.
fn connection(export: &Export<'_>, port: u8) -> Cmd {
    let (address, name, id) = (End::Enclosure.address(port), host_name(export.host), host_id(export.host));
    let words = [
        ("--transport", "tcp"),
        ("--traddr", &address),
        ("--trsvcid", network::SERVICE),
        ("--nqn", &export.nqn),
        ("--hostnqn", &name),
        ("--hostid", &id),
        // A path that went is tried again every second, instead of every ten, so that a window sees it come back.
        ("--reconnect-delay", "1"),
    ];
    let pairs = words.iter().flat_map(|(option, value)| [*option, *value]);
    Cmd::new(["nvme", "connect"].into_iter().chain(pairs)).limit(Nanos::seconds(30))
}

/// Operations go over all live paths in turn. The kernel's default (`numa`) would use the nearest one alone.
fn balance(guest: &dyn Host) -> Result<(), LabError> {
    const SUBSYSTEMS: &str = "/sys/class/nvme-subsystem";
    for name in guest.list(SUBSYSTEMS)? {
        let directory = format!("{SUBSYSTEMS}/{name}");
        if guest.read_text(&format!("{directory}/subsysnqn"))?.starts_with(&subsystem("")) {
            guest.write(&format!("{directory}/iopolicy"), b"round-robin")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> LabSpec {
        let new = |name: &str| LabDrive::new(Name::new(name).unwrap(), Bytes::mib(64));
        let drive = |name: &str, kind, paths| LabDrive { kind, lba: Bytes(4096), paths, ..new(name) };
        let drives = vec![
            drive("near", LabDriveKind::Nvme, 1),
            drive("far", LabDriveKind::NvmeTcp, 2),
            drive("single", LabDriveKind::NvmeTcp, 1),
        ];
        LabSpec { drives, ..LabSpec::new(4, Bytes::gib(3)) }
    }

    #[test]
    fn the_enclosure_has_the_remote_drives_and_no_others() {
        let machine = machine(&study()).unwrap();
        let names: Vec<&str> = machine.drives.iter().map(|drive| drive.name.as_str()).collect();
        assert_eq!(names, ["BP01-far", "BP02-single"]);
        assert!(machine.drives.iter().all(|drive| drive.kind == LabDriveKind::Nvme && drive.lba == Bytes(4096)));
    }

    #[test]
    fn every_host_has_drives_of_its_own_that_no_other_may_use() {
        let study = LabSpec { hosts: terms::Hosts(2), ..study() };
        let lines: Vec<(u8, String)> = exports(&study).map(|of| (of.host, connection(&of, 1).line())).collect();
        assert_eq!(machine(&study).unwrap().drives.len(), 4);
        let nqns: std::collections::BTreeSet<String> = exports(&study).map(|export| export.nqn).collect();
        assert_eq!(nqns.len(), 4);
        for (host, line) in lines {
            assert!(line.contains(&format!("--hostid {}", host_id(host))) && line.contains(&host_name(host)), "{line}");
        }
    }

    #[test]
    fn every_path_of_a_drive_is_a_connection() {
        let study = study();
        let lines: Vec<String> = exports(&study)
            .flat_map(|export| export.ports().map(|port| connection(&export, port).line()).collect::<Vec<_>>())
            .collect();
        let on = |nqn: &str, address: &str| lines.iter().filter(|l| l.contains(nqn) && l.contains(address)).count();
        assert_eq!(lines.len(), 3);
        assert_eq!((on("BP01-far", "10.0.1.1"), on("BP01-far", "10.0.2.1"), on("BP02-single", "10.0.1.1")), (1, 1, 1));
    }
}
