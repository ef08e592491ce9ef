//! How large the slices of a drive are, where every stack has a slice of each drive.

use terms::Bytes;
use terms::units::MIB;

/// Room for both copies of the partition table, and alignment.
const TABLES: u64 = 2 * MIB;
/// A slice smaller than this holds no stack.
const SMALLEST: Bytes = Bytes::mib(64);

/// The size of each of so many slices of a drive, in whole MiB.
pub(crate) const fn size(drive: Bytes, count: usize) -> Bytes {
    Bytes(drive.0.saturating_sub(TABLES) / (count as u64) / MIB * MIB)
}

/// Slices that a study with so many stacks needs.
pub(crate) const fn count(stacks: usize) -> usize {
    stacks + 1
}

/// Is every slice of a drive large enough to be one?
pub(crate) fn fit(drive: Bytes, stacks: usize) -> Result<Bytes, Bytes> {
    let size = size(drive, count(stacks));
    if size < SMALLEST { Err(size) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_leave_room_for_the_tables() {
        let size = size(Bytes::gib(1), 6);
        assert!(size.0 * 6 + TABLES <= Bytes::gib(1).0 && size.0.is_multiple_of(MIB));
        assert_eq!(fit(Bytes::mib(320), 5), Err(Bytes::mib(53)));
    }
}
