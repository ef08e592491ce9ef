//! From what a person typed to the drive that it names, and whether it is still the same one.

use host::{Devno, Host, HostError, inspect};
use terms::spelling::spell_inline;
use terms::{Bytes, Drive};

use crate::by_id;
use crate::device::{self, Device, present};
use crate::error::ClaimError;
use crate::file_id::FilePart;
use crate::identity::{Identity, PartitionOf, told};
use crate::name::{self, BY_ID, LinkSays, Name, NotAnId};
use crate::survey;

/// Finds the drive, or partition, that a name means.
///
/// # Errors
/// [`ClaimError`]: the name is not stable, no device or several devices have it, the device is no drive, or link and drive
/// disagree.
pub fn resolve(host: &dyn Host, id: &str) -> Result<Identity, ClaimError> {
    resolve_among(host, id, &inspect::drives(host)?)
}

/// The same among drives that were read already.
pub(crate) fn resolve_among(host: &dyn Host, id: &str, drives: &[Drive]) -> Result<Identity, ClaimError> {
    let name = match name::parse(id) {
        Ok(name) => name,
        Err(why) => return Err(not_an_id(host, id, &why, drives)?),
    };
    let (drive, device) = match &name {
        // Only udev keeps links; a name of the same form can be made without it.
        Name::Link(link) => match present(host.resolve(&format!("{BY_ID}{link}")))? {
            Some(node) => end_of_link(host, id, link, &node, drives)?,
            None => by_name(host, id, &name, drives)?,
        },
        _ => by_name(host, id, &name, drives)?,
    };
    refuse_twins(id, drive, drives)?;
    identity(host, id, drive, &device)
}

/// Reads everything again, and refuses if anything of it changed.
///
/// # Errors
/// [`ClaimError::Moved`] with what changed; otherwise as [`resolve`].
pub fn confirm(host: &dyn Host, identity: &Identity) -> Result<(), ClaimError> {
    let now = resolve(host, &identity.id)?;
    let changes = changes(identity, &now);
    if changes.is_empty() { Ok(()) } else { Err(ClaimError::Moved { drive: identity.describe(), changes }) }
}

/// The logical block is no part of it: a study may have the drive formatted to another.
fn changes(then: &Identity, now: &Identity) -> Vec<String> {
    let part = |part: &Option<PartitionOf>| match part {
        Some(part) => format!("partition {} from byte {} of {}", part.number, part.start.0, part.drive_devno),
        None => "the whole drive".to_owned(),
    };
    let behind = |of: &Identity| told(&of.file.map(|file| file.to_string()));
    let pairs = [
        ("serial number", told(&then.serial), told(&now.serial)),
        ("wwid", told(&then.wwid), told(&now.wwid)),
        ("model", told(&then.model), told(&now.model)),
        ("size", format!("{} bytes", then.size.0), format!("{} bytes", now.size.0)),
        ("device number", then.devno.to_string(), now.devno.to_string()),
        ("node", then.node.clone(), now.node.clone()),
        ("PCI path", told(&then.pci_path), told(&now.pci_path)),
        ("file behind it", behind(then), behind(now)),
        ("what is named", part(&then.part), part(&now.part)),
    ];
    let changed = pairs.into_iter().filter(|(_, then, now)| then != now);
    changed.map(|(what, then, now)| format!("{what}: was {then}, is {now}")).collect()
}

/// A drive that says the same of itself as another is either cloned or reached on two paths: either way nobody knows
/// which is which.
fn refuse_twins(id: &str, drive: &Drive, drives: &[Drive]) -> Result<(), ClaimError> {
    let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
    let twins = |other: &&Drive| {
        same(&drive.wwid, &other.wwid) || (same(&drive.serial, &other.serial) && drive.model == other.model)
    };
    let nodes: Vec<String> = drives.iter().filter(twins).map(Drive::node).collect();
    if nodes.len() > 1 { Err(ClaimError::Ambiguous { id: id.to_owned(), nodes }) } else { Ok(()) }
}

/// Follows a link of udev's, and asks the drive at its end whether it agrees.
fn end_of_link<'a>(
    host: &dyn Host,
    id: &str,
    link: &str,
    node: &str,
    drives: &'a [Drive],
) -> Result<(&'a Drive, Device), ClaimError> {
    let contradiction = |what: String| ClaimError::Contradiction { id: id.to_owned(), what };
    let name = node.trim_start_matches("/dev/").replace('/', "!");
    let Some(device) = Device::named(host, &name)? else {
        return Err(contradiction(format!("its link leads to `{node}`, which the kernel does not know")));
    };
    let Some(drive) = drives.iter().find(|drive| drive.kernel_name == device.whole_name()) else {
        return Err(ClaimError::WrongKind { id: id.to_owned(), node: node.to_owned() });
    };
    let (own, stated) = split_own(drive, link);
    if stated != device.partition {
        let what = device.partition.map_or("the whole drive".to_owned(), |number| format!("partition {number}"));
        return Err(contradiction(format!("its link leads to {what}, `{node}`")));
    }
    if let Some(why) = disagreement(own, drive, drives) {
        return Err(contradiction(format!("its link leads to `{node}`, {why}")));
    }
    let rivals = rivals(host, link, &device)?;
    if rivals.is_empty() {
        return Ok((drive, device));
    }
    Err(ClaimError::Ambiguous { id: id.to_owned(), nodes: [vec![device.node()], rivals].concat() })
}

/// Where udev keeps, for each link, which devices it is a name of, each by its number; the link leads to one of them. The
/// slashes of the name are spelt, with versions the first too or not (systemd, src/udev/udev-node.c,
/// `stack_directory_get_name`).
const CLAIMS: [&str; 2] = [r"/run/udev/links/disk\x2fby-id\x2f", r"/run/udev/links/\x2fdisk\x2fby-id\x2f"];

/// Other devices that have the same name: cheap memory sticks of one kind often tell all the same serial number.
fn rivals(host: &dyn Host, link: &str, device: &Device) -> Result<Vec<String>, HostError> {
    let mut found = Vec::new();
    for directory in CLAIMS {
        let claims = present(host.list(&format!("{directory}{}", link.replace('\\', r"\x5c"))))?.unwrap_or_default();
        for devno in claims.iter().filter_map(|name| Devno::parse(name.strip_prefix('b')?)) {
            let other = if devno == device.devno { None } else { Device::numbered(host, devno)? };
            found.extend(other.map(|other| other.node()));
        }
    }
    Ok(found)
}

/// The part of a link that names the drive, and the number of the partition that it speaks of. A drive whose own name or
/// serial number ends in `-partN` is a whole one.
fn split_own<'l>(drive: &Drive, link: &'l str) -> (&'l str, Option<u32>) {
    let ends_so = |serial: &String| {
        let serial = by_id::word(serial);
        name::split_part(&serial).is_some() && link.ends_with(&serial)
    };
    match name::split_part(link) {
        Some((own, number))
            if !by_id::names(drive).iter().any(|name| name == link) && !drive.serial.iter().any(ends_so) =>
        {
            (own, Some(number))
        }
        _ => (link, None),
    }
}

/// Why the drive at the end of a link is not the one that the link names. Links that do not say what a drive tells of itself
/// are believed.
fn disagreement(link: &str, drive: &Drive, drives: &[Drive]) -> Option<String> {
    let is_of = |drive: &Drive| by_id::names(drive).iter().any(|name| name == link);
    if is_of(drive) {
        return None;
    }
    if let Some(other) = drives.iter().find(|other| other.kernel_name != drive.kernel_name && is_of(other)) {
        return Some(format!("and it is the name of `{}`", other.node()));
    }
    let number = |wwid: &String| by_id::word(wwid.split_once('.').map_or(wwid.as_str(), |(_, number)| number));
    let serial = drive.serial.as_ref().map(|serial| ("serial number", serial, by_id::word(serial)));
    let wwid = drive.wwid.as_ref().map(|wwid| ("identifier", wwid, number(wwid)));
    let asked = match name::says(link) {
        LinkSays::Identifier => vec![wwid],
        LinkSays::Serial => vec![serial],
        LinkSays::Either => vec![serial, wwid],
        LinkSays::Nothing => Vec::new(),
    };
    let told: Vec<_> = asked.into_iter().flatten().collect();
    let (what, first, _) = told.first()?;
    let stands = match name::says(link) {
        // However it is attached: udev makes these names of the identifier alone.
        LinkSays::Identifier => told.iter().any(|(_, wwid, number)| {
            link == format!("nvme-{}", by_id::word(wwid)) || link == format!("wwn-0x{number}")
        }),
        _ => told.iter().any(|(.., word)| link.contains(word.as_str())),
    };
    (!stands).then(|| format!("which says that its {what} is `{}`", spell_inline(first)))
}

/// Finds a drive by what it says of itself, without udev.
fn by_name<'a>(host: &dyn Host, id: &str, name: &Name, drives: &'a [Drive]) -> Result<(&'a Drive, Device), ClaimError> {
    let mut found = having(host, name, drives)?;
    let mut part = None;
    if let (true, Some((name, number))) = (found.is_empty(), name.split_part()) {
        found = having(host, &name, drives)?;
        part = Some(number);
    }
    let drive = match found.as_slice() {
        [drive] => *drive,
        [] => return Err(not_found(id, drives)),
        several => {
            let nodes = several.iter().map(|drive| drive.node()).collect();
            return Err(ClaimError::Ambiguous { id: id.to_owned(), nodes });
        }
    };
    let Some(device) = Device::named(host, &drive.kernel_name)? else { return Err(not_found(id, drives)) };
    let Some(number) = part else { return Ok((drive, device)) };
    match device.partitions(host)?.into_iter().find(|partition| partition.partition == Some(number)) {
        Some(partition) => Ok((drive, partition)),
        None => Err(not_found(id, drives)),
    }
}

fn having<'a>(host: &dyn Host, name: &Name, drives: &'a [Drive]) -> Result<Vec<&'a Drive>, HostError> {
    let is = |told: &Option<String>, wanted: &str| told.as_deref().map(str::trim) == Some(wanted);
    let mut found = Vec::new();
    for drive in drives {
        let has = match name {
            Name::Link(link) => by_id::names(drive).contains(link),
            Name::Serial(serial) => is(&drive.serial, serial),
            Name::Wwid(wwid) => is(&drive.wwid, wwid),
            Name::Nqn(nqn) => {
                let path = format!("/sys/block/{}/device/subsysnqn", drive.kernel_name);
                is(&present(host.read_text(&path))?, nqn)
            }
        };
        found.extend(has.then_some(drive));
    }
    Ok(found)
}

fn not_found(id: &str, drives: &[Drive]) -> ClaimError {
    let known = drives.iter().filter_map(|drive| by_id::names(drive).into_iter().next()).collect();
    ClaimError::NotFound { id: id.to_owned(), known }
}

fn not_an_id(host: &dyn Host, id: &str, why: &NotAnId, drives: &[Drive]) -> Result<ClaimError, HostError> {
    let said = match why {
        NotAnId::Empty => "it says nothing",
        NotAnId::Kernel(_) => {
            "the kernel gives such names in the order of finding, and another drive may have it tomorrow"
        }
        NotAnId::Content => "it is made of what is on the drive, and goes when that is erased",
        NotAnId::Path => "it goes with a port, a file system or a partition table, and not with the drive",
    };
    let mut instead = Vec::new();
    if let NotAnId::Kernel(name) = why
        && let Some(device) = Device::named(host, &name.replace('/', "!"))?
        && let Some(drive) = drives.iter().find(|drive| drive.kernel_name == device.whole_name())
    {
        instead = names(drive, &device);
    }
    Ok(ClaimError::NotAnId { id: id.to_owned(), why: said, instead: instead.into_iter().next() })
}

fn names(drive: &Drive, device: &Device) -> Vec<String> {
    let part = device.partition.map(|number| format!("-part{number}")).unwrap_or_default();
    let mut names = by_id::names(drive);
    names.extend(drive.serial.as_deref().filter(|_| names.is_empty()).map(|serial| format!("serial={serial}")));
    names.into_iter().map(|name| name + &part).collect()
}

fn identity(host: &dyn Host, id: &str, drive: &Drive, device: &Device) -> Result<Identity, ClaimError> {
    let node = device.node();
    // Without udev, and sometimes with it, a node can outlive what it was made for.
    let behind = device::behind_node(host, &node)?;
    if behind != Some(device.devno) {
        let behind = behind.map_or("no block device".to_owned(), |devno| devno.to_string());
        let what = format!("`{node}` should be device {} and is {behind}", device.devno);
        return Err(ClaimError::Contradiction { id: id.to_owned(), what });
    }
    let part = match device.partition {
        Some(number) => Some(part(host, id, device, number)?),
        None => None,
    };
    Ok(Identity {
        id: id.to_owned(),
        serial: drive.serial.clone(),
        wwid: drive.wwid.clone(),
        model: drive.model.clone(),
        size: device.size,
        logical_block: drive.logical_block,
        devno: device.devno,
        pci_path: pci_path(host, device)?,
        file: file(host, device)?,
        names: names(drive, device),
        node,
        part,
    })
}

fn part(host: &dyn Host, id: &str, device: &Device, number: u32) -> Result<PartitionOf, ClaimError> {
    let start = device.start(host)?;
    let whole = Device::named(host, device.whole_name())?;
    match (start, whole) {
        (Some(start), Some(whole)) => Ok(PartitionOf { number, start, drive: whole.node(), drive_devno: whole.devno }),
        _ => {
            let what = format!("`{}` does not say where on which drive it begins", device.node());
            Err(ClaimError::Contradiction { id: id.to_owned(), what })
        }
    }
}

/// What of which file is behind a loop device (kernel, drivers/block/loop.c, `loop_attrs`).
fn file(host: &dyn Host, device: &Device) -> Result<Option<FilePart>, HostError> {
    let whole = device.whole_name();
    if !whole.starts_with("loop") {
        return Ok(None);
    }
    let Some(file) = survey::loop_files(host)?.remove(whole) else { return Ok(None) };
    let bytes = |attribute: &str| {
        let text = present(host.read_text(&format!("{}/loop/{attribute}", device.whole_directory())))?;
        Ok::<_, HostError>(Bytes(text.and_then(|text| text.parse().ok()).unwrap_or_default()))
    };
    Ok(Some(FilePart { file, offset: bytes("offset")?, limit: bytes("sizelimit")? }))
}

/// PCI addresses on the way to the drive. A namespace with several controllers hangs under none of them in sysfs, but
/// under its subsystem, which links to all.
fn pci_path(host: &dyn Host, device: &Device) -> Result<Option<String>, HostError> {
    let whole = device.whole_directory();
    if let Some(path) = addresses(whole) {
        return Ok(Some(path));
    }
    let Some((subsystem, _)) = whole.rsplit_once('/').filter(|(above, _)| above.contains("/nvme-subsys")) else {
        return Ok(None);
    };
    let mut paths = Vec::new();
    for name in host.list(subsystem)? {
        let number = name.strip_prefix("nvme").unwrap_or_default();
        if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) {
            paths.extend(present(host.resolve(&format!("{subsystem}/{name}")))?.as_deref().and_then(addresses));
        }
    }
    Ok((!paths.is_empty()).then(|| paths.join("+")))
}

fn addresses(directory: &str) -> Option<String> {
    let is_address = |part: &&str| {
        let bytes = part.as_bytes();
        // 0000:01:00.0
        bytes.len() == 12 && bytes[4] == b':' && bytes[7] == b':' && bytes[10] == b'.'
    };
    let parts: Vec<&str> = directory.split('/').filter(is_address).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use terms::DriveTransport;

    use super::*;

    /// udev makes these names of the identifier, however the drive is attached; what a drive does not tell it cannot deny.
    #[test]
    fn names_of_identifiers_are_right_however_a_drive_is_attached() {
        let drive = |transport, wwid: Option<&str>| Drive {
            kernel_name: "sda".to_owned(),
            wwid: wwid.map(ToOwned::to_owned),
            transport,
            ..Drive::default()
        };
        for (transport, wwid, link, is_right) in [
            (DriveTransport::NvmeTcp, Some("uuid.5b3c"), "nvme-uuid.5b3c", true),
            (DriveTransport::NvmeTcp, Some("uuid.5b3c"), "nvme-uuid.5b3d", false),
            (DriveTransport::Virtio, Some("naa.5000c5"), "wwn-0x5000c5", true),
            (DriveTransport::Virtio, Some("naa.5000c5"), "wwn-0x5000c6", false),
            (DriveTransport::Usb, None, "wwn-0x5000c5", true),
        ] {
            let drive = drive(transport, wwid);
            let told = disagreement(link, &drive, std::slice::from_ref(&drive));
            assert_eq!(told.is_none(), is_right, "{link}: {told:?}");
        }
    }
}
