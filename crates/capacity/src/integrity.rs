//! dm-integrity: superblock, journal, and runs of tags between runs of data, as the kernel lays them out.

use terms::account::Purpose;
use terms::layer::Integrity;

use crate::place::{Laid, Place, SECTOR, Uses};

// Sectors of 512 bytes; names in brackets are those of drivers/md/dm-integrity.c.

/// The superblock (`SB_SECTORS`).
const SUPERBLOCK: u64 = 8;
/// The journal takes this share of the device, as a shift (`DEFAULT_JOURNAL_SIZE_FACTOR`)…
const JOURNAL_SHIFT: u32 = 7;
/// …and at most 64 MiB (`DEFAULT_MAX_JOURNAL_SECTORS`).
const JOURNAL_MOST: u64 = 131_072;
/// Sectors that describe one section of the journal (`JOURNAL_BLOCK_SECTORS`).
const SECTION_HEAD: u64 = 8;
/// Bytes for entries in each of them: a commit id of 8 takes the rest (`JOURNAL_SECTOR_DATA`).
const ENTRY_ROOM: u64 = 504;
/// Bytes to which entries are rounded (`JOURNAL_ENTRY_ROUNDUP`).
const ENTRY_ROUNDING: u64 = 8;
/// Data sectors between two runs of tags, as a shift (`DEFAULT_INTERLEAVE_SECTORS` is 32768).
const INTERLEAVE_SHIFT: u32 = 15;
/// Runs of tags are rounded to 4 KiB since `fix_padding`, which integritysetup has asked for since 2.4; before, to
/// 128 KiB (`METADATA_PADDING_SECTORS`).
const RUN_ROUNDING: u64 = 8;
/// Tags have to end this far before the device does, which only matters on the smallest (`METADATA_PADDING_SECTORS`).
const PADDING: u64 = 8;
/// The size is found bit by bit down to this one: a multiple of 4 KiB (`get_provided_data_sectors`).
const LAST_BIT: u32 = 3;

/// What is said when a device is formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bytes of a tag.
    pub(crate) tag: u64,
    /// Bytes of a protected sector.
    pub(crate) sector: u64,
}

/// A device of its own: journal and bitmap mode have the same size, because the journal's room holds the bitmap, and
/// without either the room stays.
pub(crate) fn lay(integrity: &Integrity, below: &Place) -> Option<Laid> {
    let format = Format { tag: u64::from(integrity.tag.size()), sector: integrity.sector.0 };
    let split = format.split(below.size, 0)?;
    let place = Place { size: split.data, lba: below.lba.max(integrity.sector.0), drive: false, ..*below };
    Some(Laid::device(place, split.uses()))
}

/// A device split into its parts, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// What it provides.
    pub(crate) data: u64,
    /// Tags, with what rounds their runs.
    tags: u64,
    /// The journal, or the bitmap in its place.
    journal: u64,
}

impl Split {
    /// As uses of an entry.
    pub(crate) fn uses(&self) -> Uses {
        let header = SECTOR * SUPERBLOCK;
        Uses::none().and(Purpose::Header, header).and(Purpose::Journal, self.journal).and(Purpose::Tags, self.tags)
    }
}

impl Format {
    /// What a device of that many bytes is split into behind a start; `None` where it is too small. The journal is a
    /// share of the whole device, start and all.
    pub(crate) fn split(self, device: u64, start: u64) -> Option<Split> {
        let journal = self.journal(device / SECTOR);
        let device = device.checked_sub(start)? / SECTOR;
        let mut data = 0;
        for bit in (LAST_BIT..u64::BITS - device.leading_zeros()).rev() {
            let more = data | 1 << bit;
            if self.fits(more, journal, device) {
                data = more;
            }
        }
        let runs = data.div_ceil(1 << INTERLEAVE_SHIFT);
        let tags = SECTOR * runs * self.run();
        (data > 0).then_some(Split { data: SECTOR * data, tags, journal: SECTOR * journal })
    }

    /// Sectors of the journal: whole sections.
    fn journal(self, device: u64) -> u64 {
        let per_block = self.sector / SECTOR;
        // An entry has the sector's number, the last 8 bytes of each of its sectors, and the tag.
        let entry = (8 + 8 * per_block + self.tag).next_multiple_of(ENTRY_ROUNDING);
        let entries = ENTRY_ROOM / entry * SECTION_HEAD;
        let section = entries * per_block + SECTION_HEAD;
        (JOURNAL_MOST.min(device >> JOURNAL_SHIFT) / section).max(1) * section
    }

    /// Sectors of one run of tags.
    fn run(self) -> u64 {
        let blocks = (SECTOR << INTERLEAVE_SHIFT) / self.sector;
        (self.tag * blocks).next_multiple_of(SECTOR * RUN_ROUNDING) / SECTOR
    }

    fn fits(self, data: u64, journal: u64, device: u64) -> bool {
        let front = SUPERBLOCK + journal;
        let last = data - 1;
        let runs = (last >> INTERLEAVE_SHIFT) + 1;
        front + PADDING < device && front + runs * self.run() + last < device
    }
}
