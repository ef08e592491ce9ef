//! Loop devices: what each is made of, and who else has its file.

use std::collections::BTreeMap;

use host::{Devno, Host, HostError, find_program};
use serde::{Deserialize, Serialize};
use terms::{Cmd, Nanos};

use super::processes::{self, LIMIT, process};
use super::registries::names;
use crate::device::{behind_node, present};
use crate::doubt::Doubt;

/// Which file it is, whatever path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// The device of its file system.
    pub device: Devno,
    /// Its number there.
    pub inode: u64,
}

impl std::fmt::Display for FileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inode {} of device {}", self.inode, self.device)
    }
}

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

/// A process that has the file behind a loop device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileOpen {
    /// The file.
    pub(crate) file: FileId,
    /// The process.
    pub(crate) process: u32,
    /// What it calls itself.
    pub(crate) program: String,
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

/// Open files of these numbers, each with its process. The last word tells an answer that was cut short; what was closed
/// meanwhile is in nobody's use.
const LOOK: &str = r#"find -L /proc/[0-9]*/fd -mindepth 1 -maxdepth 1 -type f \( "$@" \) \
  -exec stat -L --format='open %Hd:%Ld %i %n' {} + 2>/dev/null
echo end"#;

/// Who has the files behind these loop devices open.
pub(crate) fn opens(host: &dyn Host, loops: &[Backing]) -> Result<Vec<FileOpen>, Doubt> {
    let files: Vec<FileId> = loops.iter().filter(|of| of.devno.is_none()).filter_map(|of| of.file).collect();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let inodes = files.iter().map(|file| format!("-inum {}", file.inode)).collect::<Vec<_>>().join(" -o ");
    let argv = ["sh", "-c", LOOK, "sh"].into_iter().chain(inodes.split(' '));
    let mut opens = open_files(&host.run_ok(&Cmd::new(argv).limit(LIMIT))?.text())?;
    opens.retain(|open| files.contains(&open.file));
    for open in &mut opens {
        open.program = processes::program(host, open.process)?;
    }
    Ok(opens)
}

/// `open 8:1 1234 /proc/12/fd/3`, a line for each.
fn open_files(text: &str) -> Result<Vec<FileOpen>, Doubt> {
    let Some(text) = text.strip_suffix("end") else { return Err(Doubt::words("the look into them was cut short")) };
    let mut found: Vec<FileOpen> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let open = match words.as_slice() {
            ["open", device, inode, path] => Devno::parse(device).zip(inode.parse().ok()).zip(process(path)),
            _ => None,
        };
        let Some(((device, inode), process)) = open else { return Err(processes::not_understood(line)) };
        let open = FileOpen { file: FileId { device, inode }, process, program: String::new() };
        if !found.contains(&open) {
            found.push(open);
        }
    }
    Ok(found)
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

    #[test]
    fn who_has_a_file_open_is_listed_once_and_what_is_not_understood_is_a_doubt() {
        let text = "open 8:1 77 /proc/12/fd/3\nopen 8:1 77 /proc/12/fd/4\nopen 8:1 78 /proc/7/fd/0\nend";
        let opens = open_files(text).unwrap();
        assert_eq!(opens.iter().map(|open| (open.process, open.file.inode)).collect::<Vec<_>>(), [(12, 77), (7, 78)]);
        for text in ["", "open 8:1 77 /proc/12/fd/3", "open 8:1 /proc/12/fd/3\nend", "open 8:1 77 /etc/x\nend"] {
            assert!(open_files(text).is_err(), "{text}");
        }
    }
}
