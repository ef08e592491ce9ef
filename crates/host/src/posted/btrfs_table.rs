//! What `btrfs` tells in other shapes: tables of `filesystem usage -T` and `device stats -T`, paragraphs of `device usage`.

use super::btrfs::bytes;
use super::kept::Btrfs;

/// Where a text stands.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Kinds of blocks, of the first line of headings, and with their profiles of the second.
    kinds: Vec<String>,
    columns: Vec<(String, String)>,
    /// The sums of `usage -T`.
    totals: Vec<u64>,
    of_counters: bool,
    /// The device whose paragraph of `device usage` it is.
    device: Option<String>,
}

const KINDS: [&str; 4] = ["Data", "Metadata", "System", "Data+Metadata"];

/// As the kernel and `device stats` call them, in the order of the table (`cmd_device_stats` in btrfs-progs' `cmds/device.c`).
const COUNTERS: [&str; 5] = ["write_io_errs", "read_io_errs", "flush_io_errs", "corruption_errs", "generation_errs"];
const HEADING: &str = "Id Path Write errors Read errors Flush errors Corruption errors Generation errors";

pub(super) fn is_of_counters(line: &str) -> bool {
    line.split_whitespace().eq(HEADING.split(' '))
}

/// `/dev/sda, ID: 1`, or `missing, ID: 2`: the device, as `Btrfs::device` takes it, its number, and whether it is missing.
pub(super) fn used_device(line: &str) -> Option<(String, u32, bool)> {
    let (path, id) = line.trim_end().split_once(", ID: ")?;
    let id = id.parse().ok()?;
    match path {
        path if path.starts_with("/dev/") && !path.contains(' ') => Some((path.to_owned(), id, false)),
        "missing" | "<missing disk>" => Some((format!("devid:{id}"), id, true)),
        _ => None,
    }
}

impl Table {
    /// Is the line one of these shapes? What it tells is noted.
    pub(super) fn read(&mut self, line: &str, system: &mut Btrfs) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        if is_of_counters(line) {
            self.of_counters = true;
        } else if let Some((path, id, missing)) = used_device(line) {
            let device = system.device(&path);
            (device.id, device.missing) = (Some(id), missing);
            system.set_mounted();
            self.device = Some(path);
        } else if !words.is_empty() && words.iter().all(|word| KINDS.contains(word)) {
            self.kinds = words.into_iter().map(ToOwned::to_owned).collect();
        } else if let ["Id", "Path", profiles @ ..] = &words[..] {
            self.columns = self.kinds.drain(..).zip(profiles.iter().map(|word| (*word).to_owned())).collect();
        } else {
            return self.row(&words, system) || self.of_device(&words, system);
        }
        true
    }

    fn row(&mut self, words: &[&str], system: &mut Btrfs) -> bool {
        match words {
            [id, path, cells @ ..] if path.starts_with("/dev/") || *path == "missing" => {
                let Ok(id) = id.parse::<u32>() else { return false };
                let is_missing = *path == "missing";
                let path = if is_missing { format!("devid:{id}") } else { (*path).to_owned() };
                if self.of_counters {
                    return counters(&path, id, cells, system);
                }
                if self.columns.is_empty() || system.is_full() {
                    return false;
                }
                let sizes: Vec<u64> = cells.iter().map(|cell| bytes(cell).unwrap_or(0)).collect();
                // What is not set aside stands behind the kinds; newer versions have all and the slack behind it.
                let Some(free) = sizes.get(self.columns.len()).copied() else { return false };
                let device = system.device(&path);
                (device.id, device.missing) = (Some(id), is_missing);
                device.unallocated = Some(free);
                device.size = sizes.iter().take(self.columns.len() + 1).fold(0, |sum, size| sum.saturating_add(*size));
                true
            }
            ["Total", cells @ ..] if !self.columns.is_empty() => {
                self.totals = cells.iter().map_while(|cell| bytes(cell)).collect();
                true
            }
            ["Used", cells @ ..] if !self.totals.is_empty() => {
                let used = cells.iter().map_while(|cell| bytes(cell));
                for (((kind, profile), all), used) in self.columns.iter().zip(&self.totals).zip(used) {
                    system.share(kind, profile, Some([used, *all]));
                }
                true
            }
            _ => false,
        }
    }

    /// A line of a paragraph of `device usage`: `Data,RAID1: 1.56TiB`, `Unallocated: 1.16TiB`.
    fn of_device(&self, words: &[&str], system: &mut Btrfs) -> bool {
        let Some(path) = &self.device else { return false };
        let [key, size] = words else { return false };
        let (Some(key), Some(size)) = (key.strip_suffix(':'), bytes(size)) else { return false };
        if key == "Unallocated" {
            let device = system.device(path);
            device.unallocated = Some(size);
            device.size = device.size.saturating_add(size);
            return true;
        }
        let Some((kind, profile)) = key.split_once(',').filter(|(kind, _)| KINDS.contains(kind)) else { return false };
        // `RAID0/2` has two stripes.
        system.share(kind, profile.split('/').next().unwrap_or(profile), None);
        let device = system.device(path);
        device.size = device.size.saturating_add(size);
        true
    }
}

/// Versions before 6.2 print the last counter in all columns (github.com/kdave/btrfs-progs/issues/585).
fn counters(path: &str, id: u32, cells: &[&str], system: &mut Btrfs) -> bool {
    let counts: Vec<u64> = cells.iter().map_while(|cell| cell.parse().ok()).collect();
    if counts.len() != COUNTERS.len() || system.is_full() {
        return false;
    }
    let is_last = counts[0] > 0 && counts.iter().all(|count| *count == counts[0]);
    let rows = COUNTERS.iter().zip(counts).skip(if is_last { COUNTERS.len() - 1 } else { 0 });
    let device = system.device(path);
    device.id = Some(id);
    device.counters = rows.map(|(name, count)| format!("{name} {count}")).collect();
    system.set_mounted();
    true
}
