//! Partitions of drives, and where each lies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::units::Bytes;

/// A partition of a GPT, behind those before it on its drive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GptPartition {
    /// Its size, a multiple of [`GptPartition::ALIGNMENT`]; `None` is the rest of the drive.
    #[serde(rename = "size_bytes")]
    pub size: Option<Bytes>,
}

impl GptPartition {
    /// Partitions begin and end at multiples of this: parted's `--align optimal` where a drive asks for nothing else, and
    /// a multiple of the blocks, pages and stripes in use.
    pub const ALIGNMENT: Bytes = Bytes::mib(1);
}

/// Bytes of the entries of the second table, at the end of a drive (UEFI 2.10, 5.3.2: 128 entries of 128 bytes). Its
/// header, of one logical block, comes on top.
const ENTRIES: u64 = 128 * 128;

/// Where a partition lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its number on its drive; the first has 1.
    pub number: u32,
    /// Its first byte.
    pub start: Bytes,
    /// The byte behind its last.
    pub end: Bytes,
}

impl Extent {
    /// How large it is.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        Bytes(self.end.0 - self.start.0)
    }
}

/// The partitions of every drive of a stack so far.
#[derive(Debug, Clone, Default)]
pub struct PartitionTables(BTreeMap<Name, Extent>);

impl PartitionTables {
    /// Has this drive partitions yet?
    #[must_use]
    pub fn has(&self, drive: &Name) -> bool {
        self.0.contains_key(drive)
    }

    /// The next partition of a drive of this size and logical block; `None` where no room is left for it.
    pub fn next(&mut self, drive: &Name, size: Bytes, lba: Bytes, partition: &GptPartition) -> Option<Extent> {
        let unit = GptPartition::ALIGNMENT.0;
        let before = self.0.get(drive).copied();
        let start = before.map_or(unit, |before| before.end.0);
        let last = size.0.checked_sub(lba.0 + ENTRIES)? / unit * unit;
        let end = partition.size.map_or(Some(last), |size| start.checked_add(size.0))?;
        let number = before.map_or(1, |before| before.number + 1);
        let extent = Extent { number, start: Bytes(start), end: Bytes(end) };
        let fits = start < end && end <= last && number <= crate::word::GPT_ENTRIES;
        fits.then(|| {
            self.0.insert(drive.clone(), extent);
            extent
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_lie_one_behind_the_other_and_before_the_second_table() {
        let (mut tables, drive) = (PartitionTables::default(), Name::new("a").unwrap());
        let mut next = |size: Option<u64>| {
            let size = size.map(Bytes::mib);
            tables.next(&drive, Bytes::mib(64), Bytes(512), &GptPartition { size })
        };
        let extent = |number, start, end| Some(Extent { number, start: Bytes::mib(start), end: Bytes::mib(end) });
        assert_eq!(next(Some(16)), extent(1, 1, 17));
        assert_eq!(next(Some(47)), None, "the last MiB holds the second table");
        assert_eq!(next(Some(16)), extent(2, 17, 33));
        assert_eq!(next(None), extent(3, 33, 63));
        assert_eq!(next(None), None, "nothing is left");
    }
}
