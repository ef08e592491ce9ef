//! Loop devices: what each is made of.

use std::collections::BTreeMap;

use host::{Devno, Host, HostError, find_program};
use terms::{Cmd, Nanos};

use super::listing::names;
use crate::device::{behind_node, present};
use crate::doubt::Doubt;
use crate::file_id::FileId;

/// What a loop device is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backing {
    /// The loop device's kernel name.
    pub(crate) name: String,
    /// The device behind it; `None` for a file.
    pub(crate) devno: Option<Devno>,
    /// The path behind it.
    pub(crate) path: String,
    /// The file behind it; `None` where that is not told.
    pub(crate) file: Option<FileId>,
}

/// Loop devices with something behind them.
pub(crate) fn read(host: &dyn Host) -> Result<Vec<Backing>, Doubt> {
    let mut found = Vec::new();
    for name in names(host, "/sys/block")?.into_iter().filter(|name| name.starts_with("loop")) {
        let Some(path) = present(host.read_text(&format!("/sys/block/{name}/loop/backing_file")))? else { continue };
        // A node is one wherever it lies: below `/dev`, or in the tree of a container.
        let devno = behind_node(host, &path)?;
        // What is gone was a node only where nodes lie; an image that was deleted keeps no drive.
        let of_devices = path.split('/').any(|part| part == "dev") && !path.contains("/dev/shm/");
        if devno.is_none() && of_devices && (path.starts_with("/dev/") || !host.exists(&path)?) {
            return Err(Doubt::words(format!(
                "`{name}` is made of `{path}`, and what that was is not known now: `losetup --detach /dev/{name}` where nobody needs it"
            )));
        }
        found.push(Backing { name, devno, path, file: None });
    }
    if !found.is_empty() {
        let files = files(host)?;
        for backing in &mut found {
            backing.file = files.get(&backing.name).copied();
        }
    }
    Ok(found)
}

/// The file behind each loop device, by the device's kernel name. A path may lead to something else by now, so the kernel is
/// asked for the number (`LOOP_GET_STATUS64`, which losetup(8) tells). Who is not told is not among them.
pub(crate) fn files(host: &dyn Host) -> Result<BTreeMap<String, FileId>, HostError> {
    if find_program(host, "losetup")?.is_none() {
        return Ok(BTreeMap::new());
    }
    let list = ["losetup", "--list", "--noheadings", "--output", "NAME,BACK-MAJ:MIN,BACK-INO"];
    let outcome = host.run(&Cmd::new(list).limit(Nanos::seconds(30)))?;
    Ok(if outcome.ok() { listed(&outcome.text()) } else { BTreeMap::new() })
}

/// `/dev/loop0      8:1    1234`, a line for each.
fn listed(text: &str) -> BTreeMap<String, FileId> {
    let file = |line: &str| {
        let [name, device, inode] = <[&str; 3]>::try_from(line.split_whitespace().collect::<Vec<_>>()).ok()?;
        let file = FileId { device: Devno::parse(device)?, inode: inode.parse().ok()? };
        Some((name.strip_prefix("/dev/")?.to_owned(), file))
    };
    text.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId { device: Devno { major: 8, minor: 1 }, inode: 77 };

    #[test]
    fn loop_devices_say_their_files() {
        let files =
            listed("/dev/loop0      8:1      77\n/dev/loop12 0:53 9\nloop3 8:1 77\n/dev/loop4 8:1\n/dev/loop5 x 1\n");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["loop0", "loop12"]);
        assert_eq!(files["loop0"], FILE);
    }
}
