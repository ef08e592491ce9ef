//! Reads a machine's inventory through the door: sysfs, procfs and what programs say of themselves.
//!
//! What cannot be read is left empty; only a lost machine is an error.

use terms::inventory::{Inventory, PciDevice, Program};
use terms::{Bytes, Cmd, Drive, Nanos};

use crate::{Host, HostError};

/// Programs whose versions belong in every record, and how to ask them.
const PROGRAMS: [(&str, &[&str]); 9] = [
    ("fio", &["fio", "--version"]),
    ("mdadm", &["mdadm", "--version"]),
    ("cryptsetup", &["cryptsetup", "--version"]),
    ("lvm", &["lvm", "version"]),
    ("mkfs.ext4", &["mkfs.ext4", "-V"]),
    ("mkfs.xfs", &["mkfs.xfs", "-V"]),
    ("mkfs.btrfs", &["mkfs.btrfs", "--version"]),
    ("zfs", &["zfs", "--version"]),
    ("nvme", &["nvme", "version"]),
];

/// The whole inventory.
///
/// # Errors
/// Where the machine is lost.
pub fn inspect(host: &dyn Host) -> Result<Inventory, HostError> {
    let cpuinfo = text(host, "/proc/cpuinfo")?.unwrap_or_default();
    let drives = drives(host)?;
    Ok(Inventory {
        emulated: emulator(host, &cpuinfo)?,
        kernel: text(host, "/proc/sys/kernel/osrelease")?.unwrap_or_default(),
        system: system(&text(host, "/etc/os-release")?.unwrap_or_default()),
        cpu_model: field(&cpuinfo, "model name").unwrap_or_default(),
        cpus: u32::try_from(cpuinfo.lines().filter(|line| line.starts_with("processor")).count()).unwrap_or(0),
        aes: field(&cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "aes")),
        memory: memory(&text(host, "/proc/meminfo")?.unwrap_or_default()),
        drives,
        pci: pci(host)?,
        programs: programs(host)?,
        detail: None,
    })
}

/// Whole drives: NVMe, SCSI and SATA, virtio, RAM; no partitions, mappings, loop or optical devices.
///
/// # Errors
/// Where the machine is lost.
pub fn drives(host: &dyn Host) -> Result<Vec<Drive>, HostError> {
    let names = host.list("/sys/block").or_else(empty_if_not_found)?;
    let wanted = names.into_iter().filter(|name| transport_of(name).is_some());
    wanted.map(|name| drive(host, &name)).collect()
}

fn transport_of(kernel_name: &str) -> Option<&'static str> {
    let starts = |prefix: &str| kernel_name.starts_with(prefix);
    if starts("nvme") && !kernel_name.contains('c') {
        Some("nvme")
    } else if starts("sd") {
        Some("sata")
    } else if starts("vd") {
        Some("virtio")
    } else if starts("ram") {
        Some("ram")
    } else {
        None
    }
}

fn drive(host: &dyn Host, name: &str) -> Result<Drive, HostError> {
    let read = |file: &str| text(host, &format!("/sys/block/{name}/{file}"));
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let serial = match read("device/serial")? {
        Some(serial) => Some(serial),
        None => scsi_serial(host, name)?,
    };
    Ok(Drive {
        kernel_name: name.to_owned(),
        serial: serial.filter(|serial| !serial.is_empty()),
        wwid: read("wwid")?.or(read("device/wwid")?).filter(|wwid| !wwid.is_empty()),
        model: read("device/model")?.map(|model| model.trim().to_owned()),
        firmware: read("device/firmware_rev")?.or(read("device/rev")?),
        transport: transport_of(name).unwrap_or("other").to_owned(),
        // sysfs counts in 512-byte units whatever the drive's block.
        size: Bytes(number(read("size")?) * 512),
        logical_block: Bytes(number(read("queue/logical_block_size")?)),
        physical_block: Bytes(number(read("queue/physical_block_size")?)),
        rotational: read("queue/rotational")?.is_some_and(|flag| flag == "1"),
        scheduler: read("queue/scheduler")?.map(|line| active_scheduler(&line)),
        write_cache: read("queue/write_cache")?,
        pci_address: pci_address(host, name)?,
        detail: None,
    })
}

/// Page 0x80 of a SCSI device: four bytes of head, then the serial number.
fn scsi_serial(host: &dyn Host, name: &str) -> Result<Option<String>, HostError> {
    match host.read(&format!("/sys/block/{name}/device/vpd_pg80")) {
        Ok(page) => Ok(page.get(4..).map(|serial| String::from_utf8_lossy(serial).trim().to_owned())),
        Err(error) if !is_lost(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The last PCI address on the way to the device.
fn pci_address(host: &dyn Host, name: &str) -> Result<Option<String>, HostError> {
    let path = match host.resolve(&format!("/sys/block/{name}")) {
        Ok(path) => path,
        Err(error) if !is_lost(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(path.split('/').rfind(|part| is_pci_address(part)).map(ToOwned::to_owned))
}

fn is_pci_address(part: &str) -> bool {
    // 0000:01:00.0
    part.len() == 12 && part.as_bytes()[4] == b':' && part.as_bytes()[7] == b':' && part.as_bytes()[10] == b'.'
}

fn active_scheduler(line: &str) -> String {
    line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(line, |(name, _)| name).to_owned()
}

/// Bridges and storage controllers.
fn pci(host: &dyn Host) -> Result<Vec<PciDevice>, HostError> {
    let mut devices = Vec::new();
    for address in host.list("/sys/bus/pci/devices").or_else(empty_if_not_found)? {
        let directory = format!("/sys/bus/pci/devices/{address}");
        let class = text(host, &format!("{directory}/class"))?.unwrap_or_default();
        let Some(role) = role(host, &directory, &class)? else { continue };
        let read = |file: &str| text(host, &format!("{directory}/{file}"));
        let id = |text: Option<String>| text.unwrap_or_default().trim_start_matches("0x").to_owned();
        let path = host.resolve(&directory)?;
        let parent = path.rsplit('/').nth(1).filter(|part| is_pci_address(part));
        devices.push(PciDevice {
            parent: parent.map(ToOwned::to_owned),
            role: role.to_owned(),
            id: format!("{}:{}", id(read("vendor")?), id(read("device")?)),
            link: link(read("current_link_speed")?, read("current_link_width")?),
            max_link: link(read("max_link_speed")?, read("max_link_width")?),
            address,
            detail: None,
        });
    }
    Ok(devices)
}

/// What a PCI device is to storage; `None` for what is neither a bridge nor a storage controller.
fn role(host: &dyn Host, directory: &str, class: &str) -> Result<Option<&'static str>, HostError> {
    Ok(match class.get(2..6) {
        Some("0604") => Some(bridge_role(host, directory)?),
        Some("0108") => Some("nvme"),
        Some("0106") => Some("sata"),
        Some("0107" | "0104" | "0100") => Some("other"),
        _ => None,
    })
}

/// The port type stands in bits 7:4 of the PCI Express capability register, the capability 0x10 of the
/// chain that begins at 0x34 (PCI Express Base Specification, 7.5.3.2).
fn bridge_role(host: &dyn Host, directory: &str) -> Result<&'static str, HostError> {
    let config = match host.read(&format!("{directory}/config")) {
        Ok(config) => config,
        Err(error) if !is_lost(&error) => return Ok("bridge"),
        Err(error) => return Err(error),
    };
    let mut at = config.get(0x34).copied().unwrap_or(0) as usize & !3;
    for _ in 0..48 {
        match (config.get(at), config.get(at + 1), config.get(at + 2)) {
            (Some(0x10), _, Some(flags)) => {
                return Ok(match flags >> 4 {
                    4 => "root port",
                    5 => "switch upstream",
                    6 => "switch downstream",
                    _ => "bridge",
                });
            }
            (Some(_), Some(&next), _) if next != 0 => at = next as usize & !3,
            _ => break,
        }
    }
    Ok("bridge")
}

fn link(speed: Option<String>, width: Option<String>) -> Option<String> {
    let speed = speed?.replace(" PCIe", "");
    Some(format!("{speed} x{}", width?))
}

fn programs(host: &dyn Host) -> Result<Vec<Program>, HostError> {
    let mut found = Vec::new();
    for (name, argv) in PROGRAMS {
        let version = match host.run(&Cmd::new(argv.iter().copied()).limit(Nanos::seconds(20))) {
            // Some tell their version on standard error.
            Ok(outcome) => [outcome.text(), outcome.error_text()]
                .iter()
                .flat_map(|text| text.lines())
                .map(str::trim)
                .find(|line| line.chars().any(|c| c.is_ascii_digit()))
                .map(ToOwned::to_owned),
            Err(error) if is_lost(&error) => return Err(error),
            Err(_) => None,
        };
        found.push(Program { name: name.to_owned(), version });
    }
    Ok(found)
}

fn emulator(host: &dyn Host, cpuinfo: &str) -> Result<Option<String>, HostError> {
    if field(cpuinfo, "model name").is_some_and(|model| model.contains("QEMU TCG")) {
        return Ok(Some("QEMU TCG".to_owned()));
    }
    let vendor = text(host, "/sys/class/dmi/id/sys_vendor")?.unwrap_or_default();
    Ok((vendor == "QEMU").then(|| "QEMU".to_owned()))
}

fn system(os_release: &str) -> String {
    let line = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

fn memory(meminfo: &str) -> Bytes {
    let kib = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"));
    Bytes::kib(kib.and_then(|kib| kib.trim().parse().ok()).unwrap_or(0))
}

/// The value of the first `name : value` line.
fn field(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

/// A file's text; `None` where it cannot be read, an error only where the machine is lost.
fn text(host: &dyn Host, path: &str) -> Result<Option<String>, HostError> {
    match host.read_text(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if is_lost(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

const fn is_lost(error: &HostError) -> bool {
    !matches!(error, HostError::File { .. } | HostError::Start { .. } | HostError::Command(_))
}

fn empty_if_not_found(error: HostError) -> Result<Vec<String>, HostError> {
    if error.is_not_found() { Ok(Vec::new()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    #[test]
    fn this_machine_has_an_inventory() {
        let inventory = inspect(&Local::new()).unwrap();
        assert!(!inventory.kernel.is_empty() && inventory.cpus > 0 && inventory.memory > Bytes::mib(64));
        assert_eq!(inventory.programs.len(), PROGRAMS.len());
    }

    #[test]
    fn lines_are_understood() {
        assert_eq!(active_scheduler("none [mq-deadline]"), "mq-deadline");
        assert_eq!(active_scheduler("none"), "none");
        assert_eq!(memory("MemTotal:        3042300 kB\nMemFree: 1 kB"), Bytes::kib(3_042_300));
        assert_eq!(field("model name\t: QEMU x\nflags\t: a aes", "flags").as_deref(), Some("a aes"));
        assert_eq!(link(Some("8.0 GT/s PCIe".into()), Some("4".into())).as_deref(), Some("8.0 GT/s x4"));
        assert!(is_pci_address("0000:01:00.0") && !is_pci_address("pci0000:00"));
        assert_eq!(transport_of("nvme0c0n1"), None);
    }
}
