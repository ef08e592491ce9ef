//! Flash drives of the guest's own kernel (`null_blk`, Documentation/block/null_blk.rst): their content is in the guest's
//! memory, and each answer comes after a while by the guest's clock. So they are as fast under a virtual clock as under
//! ours.
//!
//! What the module is told follows from a data sheet's rates ([`FlashQueue`]). Its own `mbps` counts in ticks of 20 ms, forgives
//! what a tick left over, and never serves an operation that is larger than a tick.

use std::collections::BTreeMap;

use host::{Host, Remote};
use terms::{Cmd, FLASH_HANDLING, FlashQueue, LabDrive, LabDriveKind, LabSpec, Name, Nanos, Speed};

use crate::error::LabError;

/// Where the kernel takes orders for such drives.
const CONFIG: &str = "/sys/kernel/config";

/// Attributes of a drive and their values, in the order in which they are written; the last makes it. Its latency is by
/// the guest's clock.
fn attributes(drive: &LabDrive, speed: Option<Speed>) -> Result<[(&'static str, u64); 10], LabError> {
    const MIB: u64 = 1 << 20;
    if !drive.size.0.is_multiple_of(MIB) {
        return Err(LabError::Drives(format!("flash drive `{}` is not of whole MiB", drive.name)));
    }
    let FlashQueue { latency, places, piece } = drive.flash_queue();
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
        if drive.flash_queue().has_elevator() {
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
