//! Drives: what they are, how they are attached, what they say of themselves.

use terms::drive::DriveDetail;
use terms::inventory::Readout;
use terms::{Bytes, Drive, DriveTransport, Nanos, NvmeTransport};

use super::nvme::{self, Controllers};
use super::pci::is_address;
use super::smart;
use super::source::Source;

const BLOCK: &str = "/sys/block";

/// Whole drives: NVMe, SCSI and SATA, virtio, RAM, memory cards, and loop devices that have a file; no partitions,
/// arrays, mappings or optical drives.
pub(super) fn read(source: &Source, controllers: &Controllers, detail: bool) -> Vec<Drive> {
    let mut names = source.listed(BLOCK);
    names.retain(|name| is_drive(source, name));
    names.sort_by_key(|name| order(name));
    names.into_iter().map(|name| drive(source, name, controllers, detail)).collect()
}

/// Letters before numbers, numbers by value: `nvme2n1` before `nvme10n1`, `sdz` before `sdaa`.
pub(super) fn order(name: &str) -> (String, usize, Vec<u64>, String) {
    let letters: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let kind: String = letters.chars().take(2).collect();
    (
        kind,
        if letters.starts_with("sd") || letters.starts_with("vd") { letters.len() } else { 0 },
        numbers,
        name.to_owned(),
    )
}

fn is_drive(source: &Source, name: &str) -> bool {
    let starts = |prefix: &str| name.starts_with(prefix);
    if starts("nvme") {
        // `nvme0c1n1` is a way to a namespace.
        return !name.contains('c');
    }
    if starts("loop") {
        return source.told(&format!("{BLOCK}/{name}/loop/backing_file")).is_some();
    }
    if ["zram", "mmcblk", "nbd"].iter().any(|prefix| starts(prefix)) {
        // Boot areas of memory cards are drives of their own, of a few MiB. Of network drives the kernel makes some in advance.
        return source.told(&format!("{BLOCK}/{name}/size")).is_some_and(|size| size != "0") && !name.contains("boot");
    }
    ["sd", "hd", "vd", "ram", "pmem", "nullb"].iter().any(|prefix| starts(prefix)) || is_of_freebsd(name)
}

/// FreeBSD, and TrueNAS CORE with it, calls SATA drives `ada1` and SAS drives `da7` (ada(4), da(4)): so what was posted calls them.
pub(crate) fn is_of_freebsd(name: &str) -> bool {
    let number = ["ada", "da"].iter().find_map(|start| name.strip_prefix(start));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn drive(source: &Source, name: String, controllers: &Controllers, wants_detail: bool) -> Drive {
    let told = |file: &str| source.told(&format!("{BLOCK}/{name}/{file}"));
    let number = |file: &str| told(file).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let path = source.resolved(&format!("{BLOCK}/{name}")).unwrap_or_default();
    let namespace = name.starts_with("nvme").then(|| nvme::namespace(source, &name, controllers, wants_detail));
    let first = namespace.as_ref().and_then(|namespace| namespace.controllers.first());
    let controller = first.and_then(|first| controllers.all.iter().find(|controller| controller.name == *first));
    let on_way = path.split('/').rfind(|part| is_address(part)).map(ToOwned::to_owned);
    let transport = transport(&name, &path, controller.map(|controller| controller.transport));
    let serial = told("device/serial").or_else(|| told("serial")).or_else(|| scsi_serial(source, &name));
    // A network drive has a word for what is behind it.
    let serial = serial.or_else(|| if name.starts_with("nbd") { told("backend") } else { None });
    Drive {
        serial,
        wwid: told("wwid").or_else(|| told("device/wwid")),
        model: told("device/model"),
        firmware: told("device/firmware_rev").or_else(|| told("device/rev")),
        // sysfs counts in 512-byte units whatever the drive's block.
        size: Bytes(number("size").saturating_mul(512)),
        logical_block: Bytes(number("queue/logical_block_size")),
        physical_block: Bytes(number("queue/physical_block_size")),
        rotational: told("queue/rotational").is_some_and(|flag| flag == "1"),
        scheduler: told("queue/scheduler").map(|line| crate::in_force(&line).to_owned()),
        write_cache: told("queue/write_cache"),
        pci_address: on_way.or_else(|| controller.and_then(|controller| controller.pci_address.clone())),
        detail: wants_detail.then(|| {
            let mut detail = detail(source, &name, &path, transport);
            if transport == DriveTransport::Nvme && controller.is_none() {
                let why = "its controller is not known";
                (detail.health, detail.write_cache_on) = (Readout::unknown(why), Readout::unknown(why));
                detail.temperature = Readout::unknown(why);
            }
            if let Some(controller) = controller {
                detail.health = controller.health.clone().map(Some);
                detail.write_cache_on = controller.write_cache_on.clone();
                detail.temperature = controller.health.clone().map(|health| health.temperature);
                detail.numa_node = controller.numa_node.or(detail.numa_node);
            }
            detail.nvme = namespace.clone();
            Box::new(detail)
        }),
        transport,
        kernel_name: name,
    }
}

/// How a drive is attached, by its name and its place among devices.
fn transport(name: &str, path: &str, nvme: Option<NvmeTransport>) -> DriveTransport {
    let starts = |prefix: &str| name.starts_with(prefix);
    let on = |part: &str| path.contains(part);
    let is_scsi = starts("sd") || is_of_freebsd(name);
    if starts("nvme") {
        return nvme.unwrap_or_default().of_drive();
    }
    match name {
        _ if starts("vd") => DriveTransport::Virtio,
        _ if starts("ram") || starts("zram") => DriveTransport::Ram,
        _ if starts("loop") => DriveTransport::Loop,
        // A SATA drive behind a SAS controller has an expander or an end device on its way, and no `ata`.
        _ if is_scsi && on("/usb") => DriveTransport::Usb,
        _ if is_scsi && on("/session") => DriveTransport::Iscsi,
        _ if is_scsi && on("/end_device-") => DriveTransport::Sas,
        _ if is_scsi && on("/virtio") => DriveTransport::Virtio,
        // Old drivers of ATA had names of their own.
        _ if (is_scsi || starts("hd")) && on("/ata") => DriveTransport::Sata,
        _ => DriveTransport::Other,
    }
}

/// Page 0x80 of a SCSI device: four bytes of head, then the serial number.
fn scsi_serial(source: &Source, name: &str) -> Option<String> {
    let page = source.bytes(&format!("{BLOCK}/{name}/device/vpd_pg80")).known().cloned().flatten()?;
    let serial = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ', '\n']).to_owned();
    (!serial.is_empty()).then_some(serial)
}

fn detail(source: &Source, name: &str, path: &str, transport: DriveTransport) -> DriveDetail {
    let has_health = transport.is_serial_line();
    let smart = match transport {
        transport if transport.is_serial_line() => smart::read(source, &format!("/dev/{name}")),
        // Many bridges hand the question on to their drive, and of sticks there is nothing to know.
        DriveTransport::Usb => Readout::Known(smart::read(source, &format!("/dev/{name}")).known().cloned().flatten()),
        _ => Readout::Known(None),
    };
    let sensor = sensor(source, name);
    let nodes = path.rsplit('/').scan(path.len(), |end, part| {
        let directory = path.get(..*end)?;
        *end = end.saturating_sub(part.len() + 1);
        Some(directory)
    });
    let mut numa = nodes.filter(|directory| directory.rsplit('/').next().is_some_and(is_address));
    DriveDetail {
        hardware_queues: hardware_queues(source, name),
        numa_node: numa.next().and_then(|device| source.told(&format!("{device}/numa_node"))?.parse().ok()),
        temperature: match (&sensor, &smart) {
            (Some(degrees), _) => Readout::Known(Some(*degrees)),
            (None, smart) => smart.clone().map(|health| health.and_then(|health| health.temperature)),
        },
        health: smart,
        write_cache_on: if has_health { scsi_cache(source, name) } else { Readout::Known(None) },
        line_rate: line_rate(source, path),
        command_timeout: if has_health { timeout(source, name) } else { Readout::Known(None) },
        ..DriveDetail::default()
    }
}

/// Directories below `mq/`, one for each hardware queue.
pub(super) fn hardware_queues(source: &Source, name: &str) -> Readout<u32> {
    let directory = format!("{BLOCK}/{name}/mq");
    super::source::needed(&directory, source.names(&directory))
        .map(|names| u32::try_from(names.len()).unwrap_or(u32::MAX))
}

/// In seconds, whatever the drive (`sd_probe` in `drivers/scsi/sd.c`).
fn timeout(source: &Source, name: &str) -> Readout<Option<Nanos>> {
    source.parsed(&format!("{BLOCK}/{name}/device/timeout"), |text| Some(Nanos::seconds(text.parse().ok()?)))
}

/// The sensor that the kernel offers for a SATA drive (`drivetemp`), in whole degrees.
fn sensor(source: &Source, name: &str) -> Option<i32> {
    let directory = format!("{BLOCK}/{name}/device/hwmon");
    let sensor = source.listed(&directory).into_iter().next()?;
    source.told(&format!("{directory}/{sensor}/temp1_input"))?.parse::<i32>().ok().map(|thousandths| thousandths / 1000)
}

/// What the drive's caching mode page says, as the kernel last read it: `write back` is on.
fn scsi_cache(source: &Source, name: &str) -> Readout<Option<bool>> {
    let directory = format!("{BLOCK}/{name}/device/scsi_disk");
    let Some(disk) = source.listed(&directory).into_iter().next() else {
        return Readout::unknown(format!("there is no `{directory}`"));
    };
    source.parsed(&format!("{directory}/{disk}/cache_type"), |text| Some(text.starts_with("write back")))
}

/// Speed of the line to a SATA or SAS drive, which stands beside it among the devices of its port.
fn line_rate(source: &Source, path: &str) -> Option<String> {
    let (before, port) = match path.split_once("/ata") {
        Some((before, rest)) => (before, rest.split('/').next()?),
        None => return sas_rate(source, path),
    };
    // /sys/devices/…/ata3/link3/dev3.0/ata_device/dev3.0/ has no speed; the link's own directory does.
    source
        .told(&format!("{before}/ata{port}/link{port}/ata_link/link{port}/sata_spd"))
        .filter(|rate| rate != "<unknown>")
}

/// A SAS port names its lines in its own directory.
fn sas_rate(source: &Source, path: &str) -> Option<String> {
    let (port, _) = path.split_once("/end_device-")?;
    let line = source.listed(port).into_iter().find(|name| name.starts_with("phy-"))?;
    source.told(&format!("/sys/class/sas_phy/{line}/negotiated_linkrate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_come_in_the_order_of_people() {
        let mut names = ["sdaa", "nvme10n1", "sdb", "nvme2n1", "sda", "ram0"];
        names.sort_by_key(|name| order(name));
        assert_eq!(names, ["nvme2n1", "nvme10n1", "ram0", "sda", "sdb", "sdaa"]);
    }

    #[test]
    fn drives_are_told_by_their_place() {
        let pci = "/sys/devices/pci0000:00/0000:00:17.0";
        assert_eq!(
            transport("sda", &format!("{pci}/ata1/host0/target0:0:0/0:0:0:0/block/sda"), None),
            DriveTransport::Sata
        );
        assert_eq!(
            transport("sda", &format!("{pci}/host0/port-0:0/end_device-0:0/target0:0:0/block/sda"), None),
            DriveTransport::Sas
        );
        assert_eq!(transport("sda", &format!("{pci}/usb2/2-1/2-1:1.0/host6/block/sda"), None), DriveTransport::Usb);
        assert_eq!(transport("nvme0n1", "", Some(NvmeTransport::Tcp)), DriveTransport::NvmeTcp);
        assert_eq!(crate::in_force("none [mq-deadline] bfq"), "mq-deadline");
        assert_eq!(crate::in_force("none"), "none");
    }
}
