//! A btrfs that is mounted: files below `/sys/fs/btrfs/UUID`, and `btrfs device stats` where they do not tell.

use std::collections::BTreeMap;

use terms::Bytes;
use terms::inventory::{BtrfsDevice, BtrfsState, FileSystem, Node, Readout};

use super::source::{Source, needed};

/// What it says of itself; nothing of one that is not mounted.
pub(super) fn read(source: &Source, nodes: &[Node], system: &FileSystem) -> Option<BtrfsState> {
    let directory = format!("/sys/fs/btrfs/{}", system.uuid.as_ref()?);
    source.resolved(&directory)?;
    // `crc32c (crc32c-intel)`: algorithm and driver.
    let checksum = source.text(&format!("{directory}/checksum"));
    let sector = format!("{directory}/sectorsize");
    Some(BtrfsState {
        profiles: profiles(source, &directory),
        operation: source.text(&format!("{directory}/exclusive_operation")),
        checksum: checksum.map(|text| text.and_then(|text| Some(text.split(' ').next()?.to_owned()))),
        sector: needed(&sector, source.size(&sector, 1)),
        used: used(source, &directory),
        unallocated: unallocated(source, system),
        reserve: source
            .told(&format!("{directory}/allocation/global_rsv_size"))
            .and_then(|text| text.parse().ok())
            .map(Bytes),
        scrub: super::btrfs_scrub::read(source, system.targets.first()),
        devices: devices(source, nodes, &directory, system),
    })
}

/// How much of what is set aside for a kind of block is in use.
fn used(source: &Source, directory: &str) -> Readout<BTreeMap<String, [u64; 2]>> {
    let mut all = BTreeMap::new();
    for kind in ["data", "metadata", "system"] {
        let number = |name: &str| source.needed::<u64>(&format!("{directory}/allocation/{kind}/{name}"));
        match (number("bytes_used"), number("total_bytes")) {
            (Readout::Known(used), Readout::Known(total)) => drop(all.insert(kind.to_owned(), [used, total])),
            (Readout::Unknown(why), _) | (_, Readout::Unknown(why)) => return Readout::Unknown(why),
        }
    }
    Readout::Known(all)
}

/// `devid 1 size 1000 used 300 path /dev/sda`: what is used there is set aside for some kind.
fn unallocated(source: &Source, system: &FileSystem) -> Readout<Bytes> {
    let Some(target) = system.targets.first() else { return Readout::unknown("it is not mounted") };
    source.said(&["btrfs", "filesystem", "show", "--raw", target]).and_then(|text| match free(&text) {
        Some(free) => Readout::Known(free),
        None => Readout::unknown("`btrfs filesystem show` does not tell how much of its devices is used"),
    })
}

fn free(text: &str) -> Option<Bytes> {
    let each = free_of_each(text);
    let whole = !each.is_empty() && each.len() == text.lines().filter(|line| is_device(line)).count();
    whole.then(|| Bytes(each.values().fold(0, |sum: u64, free| sum.saturating_add(free.0))))
}

fn is_device(line: &str) -> bool {
    line.trim().starts_with("devid")
}

/// By the number of the device.
fn free_of_each(text: &str) -> BTreeMap<u32, Bytes> {
    let number = |line: &str, key: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != key);
        words.nth(1)?.parse::<u64>().ok()
    };
    let one = |line: &str| {
        let id = u32::try_from(number(line, "devid")?).ok()?;
        Some((id, Bytes(number(line, "size")?.saturating_sub(number(line, "used")?))))
    };
    text.lines().filter(|line| is_device(line)).filter_map(one).collect()
}

/// Below each kind of allocation stands a directory for each profile that has chunks.
fn profiles(source: &Source, directory: &str) -> Readout<BTreeMap<String, Vec<String>>> {
    const PROFILES: [&str; 10] =
        ["single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6", "unknown"];
    let mut all = BTreeMap::new();
    for kind in ["data", "metadata", "system"] {
        let below = format!("{directory}/allocation/{kind}");
        match needed(&below, source.names(&below)) {
            Readout::Known(names) => {
                let found = names.into_iter().filter(|name| PROFILES.contains(&&**name)).collect();
                all.insert(kind.to_owned(), found);
            }
            Readout::Unknown(why) => return Readout::Unknown(why),
        }
    }
    Readout::Known(all)
}

fn devices(source: &Source, nodes: &[Node], directory: &str, system: &FileSystem) -> Vec<BtrfsDevice> {
    let below = format!("{directory}/devinfo");
    let mut ids: Vec<u32> = source.listed(&below).iter().filter_map(|name| name.parse().ok()).collect();
    ids.sort_unstable();
    // Only `btrfs` tells which device has which number, and old kernels leave the counters to it, too.
    let told = system.targets.first().map(|target| source.said(&["btrfs", "device", "stats", target]));
    let stats = told.as_ref().and_then(Readout::known).map(|text| stats(text)).unwrap_or_default();
    let shown = system.targets.first().map(|target| source.said(&["btrfs", "filesystem", "show", "--raw", target]));
    let shown = shown.as_ref().and_then(Readout::known);
    let paths = shown.map(|text| paths(text)).unwrap_or_default();
    let free = shown.map(|text| free_of_each(text)).unwrap_or_default();
    let device = |id: u32| {
        let missing = format!("{below}/{id}/missing");
        let path = paths.get(&id);
        let node = path.and_then(|path| super::node_of(source, nodes, path));
        let errors =
            needed("error_stats", source.text(&format!("{below}/{id}/error_stats"))).map(|text| counters(&text));
        let errors = match (errors, path.and_then(|path| stats.get(path))) {
            (Readout::Unknown(_), Some(counters)) => Readout::Known(counters.clone()),
            (errors, _) => errors,
        };
        BtrfsDevice {
            id,
            missing: source.needed::<u8>(&missing).map(|flag| flag == 1),
            unallocated: free.get(&id).copied(),
            node,
            errors,
        }
    };
    ids.into_iter().map(device).collect()
}

/// `NAME NUMBER` on each line. `btrfs` says `write_io_errs` where the kernel says `write_errs`.
fn counters(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.lines().filter_map(|line| line.trim().rsplit_once(char::is_whitespace));
    pairs.filter_map(|(name, number)| Some((name.trim().replace("_io_errs", "_errs"), number.parse().ok()?))).collect()
}

/// `[/dev/sda].write_io_errs    0` on each line.
fn stats(text: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut all: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for line in text.lines() {
        let Some((path, rest)) = line.strip_prefix('[').and_then(|line| line.split_once("].")) else { continue };
        all.entry(path.to_owned()).or_default().extend(counters(rest));
    }
    all
}

/// `devid 1 size … path /dev/sda`, by number.
fn paths(text: &str) -> BTreeMap<u32, String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("devid"));
    let pair = |line: &str| {
        Some((line.split_whitespace().next()?.parse().ok()?, line.split_once("path ")?.1.trim().to_owned()))
    };
    lines.filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_btrfs_says_is_understood() {
        let all = stats("[/dev/sda].write_io_errs    0\n[/dev/sda].corruption_errs  4\n");
        assert_eq!(all["/dev/sda"]["corruption_errs"], 4);
        assert_eq!(counters("write_errs 0\nread_errs 3\n")["read_errs"], 3);
        let text = "Label: none  uuid: x\n\tTotal devices 2 FS bytes used 1\n\tdevid    1 size 9 used 3 path /dev/sda\n\tdevid    2 size 0 used 0 path <missing disk> MISSING\n";
        assert_eq!((free(text), free("Label: none")), (Some(Bytes(6)), None));
        assert_eq!(paths(text)[&1], "/dev/sda");
        assert!(paths(text)[&2].ends_with("MISSING"));
    }
}
