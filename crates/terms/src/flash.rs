//! The queue of a flash drive of the lab: what the guest's kernel makes of a data sheet, and what is predicted of it.
//!
//! The kernel's driver (`null_blk`, Documentation/block/null_blk.rst) knows one latency, so many operations at once, and a
//! largest operation; what is larger is split. A data sheet's rates follow: operations in a second are places by latency, bytes
//! in a second as many times the largest operation.

use crate::units::{Bytes, BytesPerSecond, Iops, Nanos};

/// What an operation of a flash drive of the lab takes at least: flash cells of three bits are read in some 50 µs, and
/// firmware and transfer take as long again (WD ZN540, and others, in `ssd_config.h` of NVMeVirt).
pub const FLASH_LATENCY: Nanos = Nanos(80_000);
/// A flash drive of the lab that works on fewer operations at once has a queue of the guest's kernel in front. Such are memory
/// cards, whose queue is the kernel's too. What waits there takes the guest's processor: so drives that do more have none.
const FLASH_QUEUE: u32 = 3;
/// What the guest's processor needs to hand such an operation over, copy it and take its answer, on a guest's own clock: the
/// drive answers that much earlier. Found by trying: with it drives give what docs/virtual-time.md has (kernel 6.1, QEMU 7.2,
/// crates/bedplate/tests/studies/flash.toml).
pub const FLASH_HANDLING: Nanos = Nanos(17_000);

/// Operations at once of a drive whose rates nobody told.
const PLACES: u32 = 256;
/// The most that the driver has (`null_validate_conf`).
const MOST_PLACES: u32 = 1024;
/// The largest operation where operations in a second are not told: a drive of 7 GB/s then does 210 thousand of them, which
/// is about what one processor asks for.
const PIECE: Bytes = Bytes::kib(32);
/// And where bytes in a second are not.
const LARGEST: Bytes = Bytes::mib(1);
/// The kernel splits nothing smaller than a page.
const PAGE: u64 = 4096;

/// What the kernel's driver is told of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashQueue {
    /// What an operation takes.
    pub latency: Nanos,
    /// Operations that the drive is at work on at once.
    pub places: u32,
    /// The largest operation.
    pub piece: Bytes,
}

impl FlashQueue {
    /// The queue of a drive with these rates, both directions together. Bytes in a second come out as told; operations as
    /// near as whole blocks allow.
    #[must_use]
    pub fn of(bytes: Option<BytesPerSecond>, operations: Option<Iops>, block: Bytes) -> Self {
        let latency = FLASH_LATENCY.as_seconds();
        let operations = operations.map(|rate| rate.0);
        let Some(BytesPerSecond(bytes)) = bytes else {
            let places = operations.map_or(PLACES, |operations| whole(operations * latency).clamp(1, MOST_PLACES));
            let latency = operations.map_or(latency, |operations| f64::from(places) / operations);
            return Self { latency: Nanos::from_seconds(latency), places, piece: LARGEST };
        };
        let wanted = operations.map_or_else(|| PIECE.as_f64().min(bytes * latency), |operations| bytes / operations);
        let blocks = whole(wanted / block.as_f64());
        let piece = Bytes((u64::from(blocks) * block.0).clamp(PAGE, LARGEST.0));
        let places = whole(bytes * latency / piece.as_f64()).clamp(1, MOST_PLACES);
        Self { latency: Nanos::from_seconds(f64::from(places) * piece.as_f64() / bytes), places, piece }
    }

    /// Does what waits for a place wait in a queue of the guest's kernel, and not whoever asks?
    #[must_use]
    pub const fn has_elevator(&self) -> bool {
        self.places < FLASH_QUEUE
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, and callers clamp")]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and operations in a second that a queue gives.
    fn rates(queue: FlashQueue) -> (f64, f64) {
        let operations = f64::from(queue.places) / queue.latency.as_seconds();
        (operations * queue.piece.as_f64(), operations)
    }

    #[test]
    fn a_data_sheet_comes_out_of_places_and_pieces() {
        for (bytes, operations) in [(100e6, 25e3), (550e6, 90e3), (2333e6, 500e3), (3500e6, 600e3), (7000e6, 1e6)] {
            let queue = FlashQueue::of(Some(BytesPerSecond(bytes)), Some(Iops(operations)), Bytes(512));
            let (given, found) = rates(queue);
            assert!((given / bytes - 1.0).abs() < 0.001, "{queue:?}: {given}");
            assert!((found / operations - 1.0).abs() < 0.06, "{queue:?}: {found}");
            let latency = queue.latency.as_seconds() / FLASH_LATENCY.as_seconds();
            assert!((0.6..1.5).contains(&latency), "{queue:?}");
        }
    }

    #[test]
    fn what_is_not_told_is_as_fast_as_it_goes() {
        let free = FlashQueue::of(None, None, Bytes(4096));
        assert_eq!(free, FlashQueue { latency: FLASH_LATENCY, places: PLACES, piece: LARGEST });
        let slow = FlashQueue::of(Some(BytesPerSecond(57e6)), None, Bytes(4096));
        assert_eq!((slow.places, slow.piece), (1, Bytes(4096)));
        assert!((rates(slow).0 / 57e6 - 1.0).abs() < 0.001 && slow.has_elevator());
        let (_, operations) = rates(FlashQueue::of(None, Some(Iops(9000.0)), Bytes(4096)));
        assert!((operations / 9000.0 - 1.0).abs() < 0.001);
    }
}
