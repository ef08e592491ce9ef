//! Flash drives of the guest's own kernel (`null_blk`, Documentation/block/null_blk.rst): their content is in the guest's
//! memory, and each answer comes after a while by the guest's clock. So they are as fast under a virtual clock as under
//! ours.
//!
//! The module knows one latency, so many operations at once, and a largest operation; what is larger is split. A data
//! sheet's rates follow: operations in a second are places by latency, bytes in a second as many times the largest
//! operation. Its own `mbps` counts in ticks of 20 ms, forgives what a tick left over, and never serves an operation that
//! is larger than a tick.

use std::collections::BTreeMap;

use host::{Host, Remote};
use terms::{
    Bytes, Cmd, FLASH_HANDLING, FLASH_LATENCY, FLASH_QUEUE, LabDrive, LabDriveKind, LabSpec, Name, Nanos, RateLimit,
    Speed,
};

use crate::error::LabError;

/// Where the kernel takes orders for such drives.
const CONFIG: &str = "/sys/kernel/config";

/// Operations at once of a drive whose rates nobody told.
const PLACES: u32 = 256;
/// The most that the module has (`null_validate_conf`).
const MOST_PLACES: u32 = 1024;
/// The largest operation where operations in a second are not told: a drive of 7 GB/s then does 210 thousand of them, which
/// is about what one processor asks for.
const PIECE: Bytes = Bytes::kib(32);
/// And where bytes in a second are not.
const LARGEST: Bytes = Bytes::mib(1);
/// The kernel splits nothing smaller than a page.
const PAGE: u64 = 4096;

/// What the module is told of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Queue {
    latency: Nanos,
    places: u32,
    /// The largest operation.
    piece: Bytes,
}

impl Queue {
    /// The queue of a drive with these rates, both directions together. Bytes in a second come out as told; operations as
    /// near as whole blocks allow.
    fn of(limit: &RateLimit, block: Bytes) -> Self {
        let latency = FLASH_LATENCY.as_seconds();
        let (bytes, operations) = (limit.read.map(|rate| rate.as_f64()), limit.read_iops.map(f64::from));
        let Some(bytes) = bytes else {
            let places = operations.map_or(PLACES, |operations| whole(operations * latency).clamp(1, MOST_PLACES));
            let latency = operations.map_or(latency, |operations| f64::from(places) / operations);
            return Self { latency: nanos(latency), places, piece: LARGEST };
        };
        let wanted = operations.map_or_else(|| PIECE.as_f64().min(bytes * latency), |operations| bytes / operations);
        let blocks = whole(wanted / block.as_f64());
        let piece = Bytes((u64::from(blocks) * block.0).clamp(PAGE, LARGEST.0));
        let places = whole(bytes * latency / piece.as_f64()).clamp(1, MOST_PLACES);
        Self { latency: nanos(f64::from(places) * piece.as_f64() / bytes), places, piece }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, and callers clamp")]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of one operation")]
fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
}

/// Attributes of a drive and their values, in the order in which they are written; the last makes it. Its latency is by
/// the guest's clock.
fn attributes(drive: &LabDrive, speed: Option<Speed>) -> Result<[(&'static str, u64); 10], LabError> {
    const MIB: u64 = 1 << 20;
    if !drive.size.0.is_multiple_of(MIB) {
        return Err(LabError::Drives(format!("flash drive `{}` is not of whole MiB", drive.name)));
    }
    let Queue { latency, places, piece } = Queue::of(&drive.limit, drive.lba);
    let latency = speed.map_or(latency, |speed| Nanos(speed.in_guest(latency).0.saturating_sub(FLASH_HANDLING.0)));
    Ok([
        ("size", drive.size.0 / MIB),
        ("blocksize", drive.lba.0),
        ("memory_backed", 1),
        ("discard", 1),
        ("submit_queues", 1),
        // 2: answers come by a timer.
        ("irqmode", 2),
        ("completion_nsec", latency.0),
        ("hw_queue_depth", u64::from(places)),
        // Of 512 bytes, whatever the block.
        ("max_sectors", piece.0 / 512),
        ("power", 1),
    ])
}

/// Makes the flash drives of a guest; gives their nodes.
pub(crate) fn make(guest: &Remote, machine: &LabSpec) -> Result<BTreeMap<Name, String>, LabError> {
    let drives: Vec<&LabDrive> = machine.drives.iter().filter(|drive| drive.kind == LabDriveKind::Flash).collect();
    if drives.is_empty() {
        return Ok(BTreeMap::new());
    }
    guest.run_ok(&Cmd::new(["modprobe", "configfs"]))?;
    guest.run_ok(&Cmd::new(["mount", "-t", "configfs", "configfs", CONFIG]))?;
    guest.run_ok(&Cmd::new(["modprobe", "null_blk", "nr_devices=0"]))?;
    let mut nodes = BTreeMap::new();
    for (index, drive) in drives.into_iter().enumerate() {
        let name = format!("nullb{index}");
        let directory = format!("{CONFIG}/nullb/{name}");
        guest.run_ok(&Cmd::new(["mkdir", &directory]))?;
        for (attribute, value) in attributes(drive, machine.speed())? {
            guest.write(&format!("{directory}/{attribute}"), value.to_string().as_bytes())?;
        }
        no_throttling(guest, &name)?;
        if Queue::of(&drive.limit, drive.lba).places < FLASH_QUEUE {
            queue_as_drives_do(guest, &name)?;
        }
        nodes.insert(drive.name.clone(), format!("/dev/{name}"));
    }
    Ok(nodes)
}

/// Turns off write-back throttling. The kernel gives writes of md and of the page cache half of a drive's queue, or a quarter
/// (`calc_wb_limits` in block/blk-wbt.c), because a queue is many times what a drive does at once. Here it is just that.
fn no_throttling(guest: &Remote, name: &str) -> Result<(), LabError> {
    let attribute = format!("/sys/block/{name}/queue/wbt_lat_usec");
    // A kernel without it has no such attribute, or one that cannot be read.
    if guest.read_text(&attribute).is_ok() {
        guest.write(&attribute, b"0")?;
    }
    Ok(())
}

/// What waits for a place of a drive waits in its queue, in the order in which it came, and whoever asks goes on. An
/// elevator that does not sort has room for it, where the module has no more requests than places.
fn queue_as_drives_do(guest: &Remote, name: &str) -> Result<(), LabError> {
    for (attribute, value) in [
        ("scheduler", "mq-deadline"),
        ("nr_requests", "1024"),
        // 1: what one thread hands over together is merged, as without an elevator, and little else.
        ("nomerges", "1"),
        ("iosched/fifo_batch", "1"),
        ("iosched/writes_starved", "1"),
        ("iosched/read_expire", "0"),
        ("iosched/write_expire", "0"),
        ("iosched/front_merges", "0"),
        // The elevator reckons what writes may have from `nr_requests` as it was before.
        ("iosched/async_depth", "1024"),
    ] {
        guest.write(&format!("/sys/block/{name}/queue/{attribute}"), value.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and operations in a second that a queue gives.
    fn rates(queue: Queue) -> (f64, f64) {
        let operations = f64::from(queue.places) / queue.latency.as_seconds();
        (operations * queue.piece.as_f64(), operations)
    }

    #[test]
    fn a_data_sheet_comes_out_of_places_and_pieces() {
        for (megabytes, operations) in
            [(100, 25_000), (550, 90_000), (2333, 500_000), (3500, 600_000), (7000, 1_000_000)]
        {
            let limit = RateLimit {
                read: Some(Bytes(megabytes * 1_000_000)),
                read_iops: Some(operations),
                ..RateLimit::default()
            };
            let queue = Queue::of(&limit, Bytes(512));
            let (bytes, found) = rates(queue);
            assert!((bytes / limit.read.unwrap().as_f64() - 1.0).abs() < 0.001, "{queue:?}: {bytes}");
            assert!((found / f64::from(operations) - 1.0).abs() < 0.06, "{queue:?}: {found}");
            let latency = queue.latency.as_seconds() / FLASH_LATENCY.as_seconds();
            assert!((0.6..1.5).contains(&latency), "{queue:?}");
        }
    }

    #[test]
    fn what_is_not_told_is_as_fast_as_it_goes() {
        let free = Queue::of(&RateLimit::default(), Bytes(4096));
        assert_eq!(free, Queue { latency: FLASH_LATENCY, places: PLACES, piece: LARGEST });
        let slow = Queue::of(&RateLimit { read: Some(Bytes(57_000_000)), ..RateLimit::default() }, Bytes(4096));
        assert_eq!((slow.places, slow.piece), (1, Bytes(4096)));
        assert!((rates(slow).0 / 57e6 - 1.0).abs() < 0.001);
        let (_, operations) =
            rates(Queue::of(&RateLimit { read_iops: Some(9000), ..RateLimit::default() }, Bytes(4096)));
        assert!((operations / 9000.0 - 1.0).abs() < 0.001);
    }
}
