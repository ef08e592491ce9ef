//! Mounts, in every namespace that some process is in.

use std::collections::BTreeMap;

use host::{Devno, Host, unescape};

use crate::device::{Device, present};
use crate::doubt::Doubt;

/// A file system that is mounted from a device or from a file (kernel, fs/erofs, `CONFIG_EROFS_FS_BACKED_BY_FILE`).
pub(crate) const EROFS: &str = "erofs";

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The device, as the file system says; some file systems have a number of their own.
    pub(crate) devno: Devno,
    /// The device of its source, where that is another.
    pub(crate) source_devno: Option<Devno>,
    /// Which directory of the file system: `/`, unless it is a part of it.
    pub(crate) root: String,
    /// Where.
    pub(crate) point: String,
    /// What it was mounted from.
    pub(crate) source: String,
    /// `ext4`, `btrfs`.
    pub(crate) kind: String,
    /// Is it in the mount namespace of other programs, and not in ours?
    pub(crate) elsewhere: bool,
}

impl Mount {
    pub(crate) fn is_of(&self, devno: Devno) -> bool {
        self.devno == devno || self.source_devno == Some(devno)
    }

    /// The pool that it is of: a source is `POOL`, `POOL/DATASET` or `POOL@SNAPSHOT`.
    pub(crate) fn pool(&self) -> Option<&str> {
        if self.kind == "zfs" { self.source.split(['/', '@']).next() } else { None }
    }
}

/// The table of our own namespace.
const OWN: &str = "/proc/self/mountinfo";

/// Reads the table of our own namespace, and that of each through the first of its processes that is still there.
pub(crate) fn read(host: &dyn Host, namespaces: &BTreeMap<u64, Vec<u32>>) -> Result<Vec<Mount>, Doubt> {
    if namespaces.is_empty() {
        return Err(Doubt::words("no mount namespace is known"));
    }
    let mut mounts: Vec<Mount> = Vec::new();
    let mut sources = BTreeMap::new();
    let without_device = without_device(host)?;
    let own = parse(&host.read_text(OWN)?)?;
    let mut tables = vec![(false, own)];
    for processes in namespaces.values() {
        tables.push((true, parse(&table(host, processes)?)?));
    }
    for (elsewhere, table) in tables {
        for mut mount in table {
            // What has no device may call its source as it likes, and anybody may mount it in a namespace of their own.
            if mount.source.starts_with("/dev/") && !without_device.contains(&mount.kind) {
                let known = sources.entry(mount.source.clone());
                mount.source_devno = match known {
                    std::collections::btree_map::Entry::Occupied(known) => *known.get(),
                    std::collections::btree_map::Entry::Vacant(new) => *new.insert(source(host, &mount.source)?),
                };
            }
            // Most of what another namespace has is what ours has.
            if !mounts.contains(&mount) {
                mounts.push(Mount { elsewhere, ..mount });
            }
        }
    }
    Ok(mounts)
}

/// Kinds of file systems that are on no device (proc(5), `filesystems`); ZFS, whose pools say what they are on, among them.
fn without_device(host: &dyn Host) -> Result<Vec<String>, Doubt> {
    let table = host.read_text("/proc/filesystems")?;
    Ok(table.lines().filter_map(|line| line.strip_prefix("nodev")).map(|kind| kind.trim().to_owned()).collect())
}

/// The table of a namespace; empty where all its processes have ended meanwhile, and it with them.
fn table(host: &dyn Host, processes: &[u32]) -> Result<String, Doubt> {
    let mut failure = None;
    for process in processes {
        match present(host.read_text(&format!("/proc/{process}/mountinfo"))) {
            Ok(Some(text)) if !text.is_empty() => return Ok(text),
            Ok(_) => {}
            // A process that is ending has no mounts any more and answers with an error of its own.
            Err(error) => failure = Some((process, error)),
        }
    }
    match failure {
        Some((process, error)) if host.exists(&format!("/proc/{process}"))? => Err(error.into()),
        _ => Ok(String::new()),
    }
}

/// The number of a source. The path may be gone, or be of another namespace: then there is none.
fn source(host: &dyn Host, path: &str) -> Result<Option<Devno>, Doubt> {
    let Some(node) = present(host.resolve(path))? else { return Ok(None) };
    let name = node.trim_start_matches("/dev/").replace('/', "!");
    Ok(Device::named(host, &name)?.map(|device| device.devno))
}

/// Understands `mountinfo` (proc(5)).
fn parse(text: &str) -> Result<Vec<Mount>, Doubt> {
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let rest = words.iter().position(|word| *word == "-").map(|at| &words[at + 1..]);
            match (words.as_slice(), rest) {
                ([_, _, devno, root, point, ..], Some([kind, source, ..])) => Devno::parse(devno).map(|devno| Mount {
                    devno,
                    source_devno: None,
                    root: unescape(root),
                    point: unescape(point),
                    source: unescape(source),
                    kind: (*kind).to_owned(),
                    elsewhere: false,
                }),
                _ => None,
            }
            .ok_or_else(|| Doubt::words(format!("a line is not understood: {line}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_understood_or_doubted() {
        let text = "22 1 259:1 / /mnt/a\\040b rw,noatime shared:1 master:2 - ext4 /dev/nvme0n1p1 rw\n\
                    23 1 0:45 /sub /srv rw - btrfs /dev/sdb rw,ssd\n24 1 0:46 / /t rw - zfs tank/a@b rw";
        let mounts = parse(text).unwrap();
        assert_eq!((mounts[0].point.as_str(), mounts[0].devno.minor), ("/mnt/a b", 1));
        assert_eq!((mounts[1].source.as_str(), mounts[1].kind.as_str()), ("/dev/sdb", "btrfs"));
        assert_eq!((mounts[1].root.as_str(), mounts[1].pool(), mounts[2].pool()), ("/sub", None, Some("tank")));
        for broken in
            ["22 1 259:1 / /mnt rw ext4 /dev/a rw", "x", "22 1 259 / /mnt rw - ext4 /dev/a", "1 2 3:4 / /m rw -"]
        {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_table_says_it_is_understood_or_doubted(text in ".{0,200}") {
            if let Ok(mounts) = parse(&text) {
                prop_assert_eq!(mounts.len(), text.lines().count());
            }
        }
    }
}
