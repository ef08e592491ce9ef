//! Requests that the kernel has for a drive at once.

use terms::machine::{DriveGroup, DriveKind};
use terms::{Bytes, FlashQueue};

use crate::parameter::QUEUE;

/// Requests that the kernel hands out for a drive at a time. Drives with one queue have an elevator, and that twice as many
/// as the drive takes at once, or as 128 (`blk_mq_init_sched` in block/blk-mq-sched.c): 32 of SATA's commands, 254 and more of SAS.
/// NVMe has none, and more for each processor than anybody asks for; a RAM drive has no requests. A flash drive of the lab has
/// as many as operations that it is at work on (`hw_queue_depth` of null_blk), unless it has a [`queue`].
pub(crate) fn requests(group: &DriveGroup) -> f64 {
    const EACH: f64 = 2.0;
    const MOST: f64 = 128.0;
    match group.kind {
        DriveKind::SataSsd | DriveKind::SataEnterprise | DriveKind::Hdd => EACH * QUEUE,
        DriveKind::SasSsd => EACH * MOST,
        DriveKind::Ram => {
            let flash = flash_queue(group).filter(|flash| !flash.has_elevator());
            flash.map_or(f64::INFINITY, |flash| f64::from(flash.places))
        }
        DriveKind::Nvme | DriveKind::NvmeEnterprise | DriveKind::Optane => f64::INFINITY,
    }
}

/// Operations that a flash drive of the lab is at work on where more wait in a queue of the guest's kernel.
pub(crate) fn queue(group: &DriveGroup) -> Option<f64> {
    let flash = flash_queue(group).filter(FlashQueue::has_elevator)?;
    Some(f64::from(flash.places))
}

/// The queue of a flash drive of the lab: one in memory with an answer that comes after a while.
pub(crate) fn flash_queue(group: &DriveGroup) -> Option<FlashQueue> {
    /// Of a drive whose block nobody told.
    const BLOCK: Bytes = Bytes::kib(4);
    let rated = group.rated;
    let is_flash = group.kind == DriveKind::Ram && rated.read_latency.is_some();
    is_flash.then(|| FlashQueue::of(rated.read, rated.read_iops, group.block.unwrap_or(BLOCK)))
}
