//! What a directory stands on: its file system, the devices under that, and the whole drives at the bottom.
//!
//! Read from procfs and sysfs only, so that it needs no rights.

use terms::Cmd;

use crate::escapes::unescape;
use crate::{Host, HostError};

/// What a directory stands on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Beneath {
    /// Where its file system is mounted.
    pub mount: String,
    /// Type of the file system, as the kernel names it.
    pub filesystem: String,
    /// Mount options of the file system.
    pub options: String,
    /// What it was mounted from: a device node, a dataset.
    pub source: String,
    /// Devices under it from the top down, each with what it is, such as `md127 (raid1)`; the same one once.
    pub devices: Vec<String>,
    /// Kernel names of the whole drives at the bottom; none for a file system of memory or of the network.
    pub drives: Vec<String>,
}

impl Beneath {
    /// In one line, the top first: `ext4 on dm-0 (crypt) on nvme0n1p2 on nvme0n1`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let devices = self.devices.iter().map(|device| format!(" on {device}"));
        std::iter::once(self.filesystem.clone()).chain(devices).collect()
    }
}

/// A line of mountinfo (proc_pid_mountinfo(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    device: String,
    at: String,
    filesystem: String,
    source: String,
    options: String,
}

/// What the file system of a directory calls itself (statfs(2), `f_fsid`), the same every time it is mounted on most.
///
/// # Errors
/// Where the directory is not there.
pub fn file_system_id(host: &dyn Host, directory: &str) -> Result<String, HostError> {
    Ok(host.run_ok(&Cmd::new(["stat", "--file-system", "--format=%i", "--", directory]))?.text())
}

/// File systems that make up the number of a file anew when they have forgotten it.
const NUMBERED_ANEW: [&str; 4] = ["msdos", "exfat", "fuseblk", "fuse"];

/// File system and inode of what a path names, a link not followed (stat(1)): the same at another mount, which may have another
/// device.
///
/// # Errors
/// Where nothing is there.
pub fn file_id(host: &dyn Host, path: &str) -> Result<String, HostError> {
    let system = host.run_ok(&Cmd::new(["stat", "--file-system", "--format=%i:%T", "--", path]))?.text();
    let kind = system.trim().rsplit(':').next().unwrap_or_default();
    let format = if NUMBERED_ANEW.contains(&kind) { "--format=%F" } else { "--format=%F:%i" };
    Ok(format!("{}:{}", system.trim(), host.run_ok(&Cmd::new(["stat", format, "--", path]))?.text().trim()))
}

/// Finds what a directory stands on; the path has its links followed first.
///
/// # Errors
/// Where the directory is not there, or procfs cannot be read.
pub fn beneath(host: &dyn Host, directory: &str) -> Result<Beneath, HostError> {
    let path = host.resolve(directory)?;
    let table = host.read_text("/proc/self/mountinfo")?;
    let mounts = table.lines().filter_map(mount);
    // The longest mount point that holds the path; of several at the same one, the last covers the others.
    let Some(mount) = mounts.filter(|mount| holds(&mount.at, &path)).max_by_key(|mount| mount.at.len()) else {
        return Ok(Beneath::default());
    };
    let mut found = Beneath {
        mount: mount.at.clone(),
        filesystem: mount.filesystem.clone(),
        options: mount.options.clone(),
        source: mount.source.clone(),
        ..Beneath::default()
    };
    for device in first_devices(host, &mount)? {
        descend(host, &device, &mut found)?;
    }
    Ok(found)
}

fn holds(mount: &str, path: &str) -> bool {
    mount == "/" || path == mount || path.strip_prefix(mount).is_some_and(|rest| rest.starts_with('/'))
}

fn mount(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(2);
    let (device, _root, at) = (head.next()?, head.next()?, head.next()?);
    let mut tail = tail.splitn(3, ' ');
    let (filesystem, source) = (tail.next()?, tail.next()?);
    Some(Mount {
        device: device.to_owned(),
        at: unescape(at),
        filesystem: filesystem.to_owned(),
        source: unescape(source),
        options: tail.next().unwrap_or_default().to_owned(),
    })
}

/// Directories in sysfs of the devices that a file system lies on: one, or those of a btrfs, or none.
fn first_devices(host: &dyn Host, mount: &Mount) -> Result<Vec<String>, HostError> {
    if mount.filesystem == "btrfs" {
        return btrfs_devices(host, &mount.source);
    }
    match host.resolve(&format!("/sys/dev/block/{}", mount.device)) {
        Ok(directory) => Ok(vec![directory]),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A btrfs has a device number of no device; sysfs lists those of every volume.
fn btrfs_devices(host: &dyn Host, source: &str) -> Result<Vec<String>, HostError> {
    let own = host.resolve(source).unwrap_or_else(|_| source.to_owned());
    let own = own.rsplit('/').next().unwrap_or_default().to_owned();
    for volume in host.list("/sys/fs/btrfs").or_else(none_if_not_found)? {
        let directory = format!("/sys/fs/btrfs/{volume}/devices");
        let devices = host.list(&directory).or_else(none_if_not_found)?;
        if devices.contains(&own) {
            return devices.iter().map(|device| host.resolve(&format!("{directory}/{device}"))).collect();
        }
    }
    Ok(Vec::new())
}

/// Goes down from a device through partitions, mappings and arrays to drives.
fn descend(host: &dyn Host, directory: &str, found: &mut Beneath) -> Result<(), HostError> {
    let name = directory.rsplit('/').next().unwrap_or_default().to_owned();
    let is_part = host.exists(&format!("{directory}/partition"))?;
    let told = match kind(host, directory)? {
        Some(kind) => format!("{name} ({kind})"),
        None => name.clone(),
    };
    if !found.devices.contains(&told) {
        found.devices.push(told);
    }
    if is_part {
        let parent = directory.rsplit_once('/').map_or(directory, |(parent, _)| parent);
        return descend(host, parent, found);
    }
    let below = host.list(&format!("{directory}/slaves")).or_else(none_if_not_found)?;
    if below.is_empty() && !found.drives.contains(&name) {
        found.drives.push(name);
    }
    for device in below {
        let directory = host.resolve(&format!("{directory}/slaves/{device}"))?;
        descend(host, &directory, found)?;
    }
    Ok(())
}

/// What makes a device of those below it: the level of an array, the maker of a mapping.
fn kind(host: &dyn Host, directory: &str) -> Result<Option<String>, HostError> {
    let read = |file: &str| match host.read_text(&format!("{directory}/{file}")) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    };
    if let Some(level) = read("md/level")? {
        return Ok(Some(level));
    }
    // `CRYPT-LUKS2-…`, `LVM-…`, `mpath-…`: whoever made the mapping puts its name first (libdevmapper's convention).
    Ok(read("dm/uuid")?.and_then(|uuid| uuid.split('-').next().map(str::to_lowercase)).filter(|kind| !kind.is_empty()))
}

fn none_if_not_found(error: HostError) -> Result<Vec<String>, HostError> {
    if error.is_not_found() { Ok(Vec::new()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    #[test]
    fn lines_of_mountinfo_are_understood() {
        let line = "36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue";
        let expect = Mount {
            device: "98:0".into(),
            at: "/mnt/a b".into(),
            filesystem: "ext3".into(),
            source: "/dev/root".into(),
            options: "rw,errors=continue".into(),
        };
        assert_eq!(mount(line), Some(expect));
        for broken in ["", "36 35 98:0", "a b c d e - f"] {
            assert_eq!(mount(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_mount_holds_what_is_in_it_and_no_namesake() {
        for (mount, path, expect) in
            [("/", "/x", true), ("/mnt", "/mnt", true), ("/mnt", "/mnt/x", true), ("/mnt", "/mnt2", false)]
        {
            assert_eq!(holds(mount, path), expect, "{mount} {path}");
        }
    }

    #[test]
    fn this_directory_stands_on_something() {
        let found = beneath(&Local::new(), env!("CARGO_MANIFEST_DIR")).unwrap();
        assert!(!found.filesystem.is_empty() && found.mount.starts_with('/'), "{found:?}");
        assert!(found.in_words().starts_with(&found.filesystem));
        let memory = beneath(&Local::new(), "/proc/self").unwrap();
        assert_eq!((memory.filesystem.as_str(), memory.drives), ("proc", Vec::new()));
    }
}
