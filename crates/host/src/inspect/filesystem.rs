//! File systems: what `dumpe2fs` and `xfs_info` say of their geometry, what sysfs says of a btrfs.

use terms::Bytes;
use terms::inventory::{FileSystem, Geometry, Mount, Node, Readout};

use super::btrfs;
use super::source::{Source, field};

/// Kinds that are file systems; other signatures are of members, encryption, swap and partition tables.
const KINDS: [&str; 9] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "ntfs"];

/// File systems that stand on nodes, mounted or not.
pub(super) fn read(source: &Source, nodes: &[Node], mounts: &Readout<Vec<Mount>>) -> Vec<FileSystem> {
    let mounts = mounts.known().map(Vec::as_slice).unwrap_or_default();
    let mut all: Vec<FileSystem> = Vec::new();
    for node in nodes {
        let found = node.signatures.known().into_iter().flatten().find(|found| KINDS.contains(&&*found.kind));
        let mounted = mounts.iter().find(|mount| mount.node.as_ref() == Some(&node.name));
        let Some(kind) = found.map(|found| &found.kind).or(mounted.map(|mount| &mount.kind)) else { continue };
        let (uuid, label) = found.map(|found| (found.uuid.clone(), found.label.clone())).unwrap_or_default();
        // Only a btrfs stands on several devices under one UUID; two others with one UUID are two.
        let known =
            all.iter_mut().find(|known| kind == "btrfs" && known.kind == *kind && uuid.is_some() && known.uuid == uuid);
        match known {
            Some(known) => known.nodes.push(node.name.clone()),
            None => all.push(FileSystem {
                kind: kind.clone(),
                uuid,
                label,
                nodes: vec![node.name.clone()],
                ..FileSystem::default()
            }),
        }
    }
    for system in &mut all {
        let here = |mount: &&Mount| mount.node.as_ref().is_some_and(|node| system.nodes.contains(node));
        system.targets = mounts.iter().filter(here).map(|mount| mount.target.clone()).collect();
        (system.geometry, system.errors) = geometry(source, nodes, system);
        if system.kind == "btrfs" {
            system.btrfs = btrfs::read(source, nodes, system);
        }
    }
    all
}

/// How it was made, and how many errors it counts.
fn geometry(source: &Source, nodes: &[Node], system: &FileSystem) -> (Readout<Geometry>, Option<u64>) {
    let Some(name) = system.nodes.first() else { return (Readout::default(), None) };
    let node = format!("/dev/{name}");
    // What lies on a suspended mapping was not read for its signatures, either.
    let suspended =
        nodes.iter().any(|known| known.name == *name && known.signatures.why_unknown() == Some(super::node::SUSPENDED));
    let read = |argv: &[&str], understood: fn(&str) -> Option<Geometry>| {
        let text = source.said(argv);
        let errors = text.known().and_then(|text| errors(text));
        let geometry = text.and_then(|text| match understood(&text) {
            Some(geometry) => Readout::Known(geometry),
            None => Readout::unknown(format!("`{}` does not tell all of its geometry", argv.join(" "))),
        });
        (geometry, errors)
    };
    match system.kind.as_str() {
        "ext2" | "ext3" | "ext4" if suspended => (Readout::unknown(super::node::SUSPENDED), None),
        "ext2" | "ext3" | "ext4" => read(&["dumpe2fs", "-h", &node], ext),
        // One that is mounted is asked where it is mounted, which needs no root.
        "xfs" => read(&["xfs_info", system.targets.first().unwrap_or(&node)], xfs),
        other => (Readout::unknown(format!("nothing is known here of the geometry of {other}")), None),
    }
}

fn ext(text: &str) -> Option<Geometry> {
    let number = |name: &str| field(text, name)?.parse::<u64>().ok();
    let block = number("Block size")?;
    // Told in blocks; absent where none was given.
    let blocks = |name: &str| Bytes(number(name).unwrap_or(0).saturating_mul(block));
    let features = field(text, "Filesystem features").unwrap_or_default();
    Some(Geometry {
        block: Bytes(block),
        stripe_unit: blocks("RAID stride"),
        stripe_width: blocks("RAID stripe width"),
        sector: None,
        features: features.split_whitespace().map(ToOwned::to_owned).collect(),
    })
}

/// It counts them, or only says that there were some (`list_super2` in e2fsprogs' `lib/e2p/ls.c`).
fn errors(text: &str) -> Option<u64> {
    let counted = field(text, "FS Error count").and_then(|count| count.parse().ok()).filter(|count| *count > 0);
    let is_told = field(text, "Filesystem state").is_some_and(|state| state.ends_with("with errors"));
    counted.or(is_told.then_some(0))
}

/// `section =name=value name=value, name=value blks`; the section stands on its first line only.
fn xfs(text: &str) -> Option<Geometry> {
    let section = |name: &str| {
        let begins = |line: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['=', ' ']));
        let mut lines = text.lines().skip_while(|line| !begins(line));
        let first = lines.next()?;
        // The next section begins at the start of a line.
        let rest = lines.take_while(|line| line.starts_with(char::is_whitespace));
        Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n"))
    };
    let value = |section: &str, key: &str| {
        let words = section.split([' ', ',', '=', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        let at = words.iter().position(|word| *word == key)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    let (data, meta) = (section("data")?, section("meta-data").unwrap_or_default());
    let (data, meta) = (data.as_str(), meta.as_str());
    let block = value(data, "bsize")?;
    let blocks = |key: &str| Some(Bytes(value(data, key)?.saturating_mul(block)));
    let features =
        ["crc", "finobt", "rmapbt", "reflink", "bigtime"].into_iter().filter(|key| value(meta, key) == Some(1));
    Some(Geometry {
        block: Bytes(block),
        stripe_unit: blocks("sunit")?,
        stripe_width: blocks("swidth")?,
        sector: value(meta, "sectsz").map(Bytes),
        features: features.map(ToOwned::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry_is_understood() {
        let text = "Filesystem features:      has_journal extent\nBlock size:               4096\nRAID stride:              128\n\
                    RAID stripe width:        384\n";
        let geometry = ext(text).unwrap();
        assert_eq!((geometry.stripe_unit, geometry.stripe_width), (Bytes::kib(512), Bytes::kib(1536)));
        let text = "meta-data=/dev/md0               isize=512    agcount=8, agsize=65408 blks\n         =                       sectsz=4096  \
                    attr=2, projid32bit=1\n         =                       crc=1        finobt=1, sparse=1, rmapbt=0\n         =                       \
                    reflink=1    bigtime=1\ndata     =                       bsize=4096   blocks=523264, imaxpct=25\n         =                       \
                    sunit=128    swidth=256 blks\nnaming   =version 2              bsize=4096   ascii-ci=0, ftype=1\nlog      =internal log           \
                    bsize=4096   blocks=16384, version=2\n         =                       sectsz=4096  sunit=1 blks, lazy-count=1\n";
        let geometry = xfs(text).unwrap();
        assert_eq!((geometry.block, geometry.sector), (Bytes(4096), Some(Bytes(4096))));
        assert_eq!((geometry.stripe_unit, geometry.stripe_width), (Bytes::kib(512), Bytes::mib(1)));
        assert_eq!(geometry.features, ["crc", "finobt", "reflink", "bigtime"]);
    }

    #[test]
    fn what_is_cut_is_no_geometry() {
        assert_eq!(ext("RAID stride:              128\n"), None);
        assert_eq!(ext("Block size:               4096\n").unwrap().stripe_unit, Bytes(0));
        assert_eq!(xfs("data     =                       bsize=4096   blocks=523264, imaxpct=25\n"), None);
    }
}
