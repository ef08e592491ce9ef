//! Mounts and swap.

use terms::Bytes;
use terms::inventory::{Mount, Node, Readout, Swap};

use super::source::{Source, needed};

/// File systems of networks, which are kept though they have no device.
const REMOTE: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs"];

/// Mounts of devices, of ZFS datasets and of networks. Of a device that only the list of mounts names nothing else is known, and its
/// options are as good.
pub(super) fn read(source: &Source, nodes: &[Node]) -> Readout<Vec<Mount>> {
    const FILE: &str = "/proc/self/mountinfo";
    needed(FILE, source.text(FILE)).map(|text| {
        let mounts = text.lines().filter_map(|line| parse(source, line, nodes));
        let is_device = |mount: &Mount| mount.node.is_some() || mount.source.starts_with("/dev/");
        mounts.filter(|mount| is_device(mount) || mount.kind == "zfs" || REMOTE.contains(&&*mount.kind)).collect()
    })
}

/// `ID PARENT MAJOR:MINOR ROOT TARGET OPTIONS [FIELD…] - KIND SOURCE OPTIONS` (proc_pid_mountinfo(5)).
fn parse(source: &Source, line: &str, nodes: &[Node]) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let mut after = after.splitn(3, ' ');
    let (kind, mount_source) = (after.next()?, plain(after.next()?));
    let mut options: Vec<String> = Vec::new();
    for option in before.get(5)?.split(',').chain(after.next().unwrap_or_default().split(',')) {
        let option = without_secret(option);
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    // btrfs has a number of its own for each subvolume, which is that of no device.
    let by_number = nodes.iter().find(|node| node.number == before[2]).map(|node| node.name.clone());
    Some(Mount {
        node: by_number.or_else(|| super::node_of(source, nodes, &mount_source)),
        source: mount_source,
        target: plain(before.get(4)?),
        kind: kind.to_owned(),
        options,
        root: plain(before.get(3)?),
    })
}

/// An option whose value may be a secret keeps its name only.
pub(crate) fn without_secret(option: &str) -> String {
    match option.split_once('=') {
        Some((name, _)) if ["password", "pass", "passwd", "secret", "password2"].contains(&name) => format!("{name}=-"),
        _ => crate::secret::without_login(option),
    }
}

/// Blanks, tabs, line ends and backslashes are written as three octal digits.
fn plain(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (written, meant)| text.replace(written, meant))
}

/// Swap space in use.
pub(super) fn swaps(source: &Source, nodes: &[Node]) -> Readout<Vec<Swap>> {
    const FILE: &str = "/proc/swaps";
    needed(FILE, source.text(FILE))
        .map(|text| text.lines().skip(1).filter_map(|line| swap(source, line, nodes)).collect())
}

/// `DEVICE KIND SIZE USED PRIORITY`, sizes in KiB.
fn swap(source: &Source, line: &str, nodes: &[Node]) -> Option<Swap> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [device, kind, size, used, priority] = words[..] else { return None };
    let kib = |text: &str| text.parse::<u64>().ok()?.checked_mul(1024).map(Bytes);
    Some(Swap {
        device: plain(device),
        node: if kind == "partition" { super::node_of(source, nodes, device) } else { None },
        size: kib(size)?,
        used: kib(used)?,
        priority: priority.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_understood() {
        let node = Node { name: "vda1".into(), number: "254:1".into(), ..Node::default() };
        let line = r"27 1 254:1 / /mnt/a\040b rw,noatime shared:1 - ext4 /dev/root rw,stripe=16";
        let mount = parse(&Source::new(&crate::DryRun::new()), line, &[node]).unwrap();
        assert_eq!((mount.node.as_deref(), mount.target.as_str()), (Some("vda1"), "/mnt/a b"));
        assert_eq!(mount.options, ["rw", "noatime", "stripe=16"]);
        assert_eq!(without_secret("password=hunter2"), "password=-");
    }
}
