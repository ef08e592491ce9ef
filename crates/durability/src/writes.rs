//! What drives write for each byte that is written to a stack, and how long they take it.
//!
//! A write goes down the layers. Each makes more bytes of it, and changes how large the writes are that the next one sees.
//! What the drive's own flash translation makes of them comes on top ([`flash`]); endurance is rated with some of that in.

use std::collections::{BTreeMap, BTreeSet};

use terms::durability::{Amplification, Spread, WriteCost};
use terms::layer::{Btrfs, CacheKind, Integrity, IntegrityMode, Lvm, Raid, Raid10Layout, RaidLevel, Volume, Zfs};
use terms::{Bytes, Layer, Name, Stack};

use crate::rebuild::JOURNAL;

/// A kind of write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Bytes of each.
    pub block: Bytes,
    /// At random places?
    pub random: bool,
    /// Is each waited for until it is on stable storage (`fsync`, `O_SYNC`)?
    pub sync: bool,
}

/// A write on its way down.
#[derive(Debug, Clone, Copy)]
struct Going {
    /// Bytes of each.
    block: f64,
    random: bool,
}

/// Bytes of a page, and of the smallest thing that any layer here writes.
const PAGE: f64 = 4096.0;

/// What a stack makes of a kind of write.
#[must_use]
pub fn amplification(stack: &Stack, write: &Write) -> Amplification {
    let mut going = Going { block: write.block.as_f64().max(512.0), random: write.random };
    let mut layers: Vec<WriteCost> = Vec::new();
    let carriers = carriers(stack);
    let (mut left_out, mut counted) = (BTreeSet::new(), Vec::new());
    for node in stack.nodes.iter().rev() {
        // Layers of one kind below one layer write the same, and so does what is below them; one of them stands for all.
        if let Some(carrier) = carriers.get(&node.name) {
            let place = (*carrier, node.layer.kind());
            if left_out.contains(carrier) || counted.contains(&place) {
                left_out.insert(&node.name);
                continue;
            }
            counted.push(place);
        }
        let (factor, next, why) = cost(&node.layer, node.on.len(), going, write.sync);
        going = next;
        layers.push(WriteCost { layer: node.name.clone(), factor, why });
    }
    let product = |of: fn(&Spread<f64>) -> f64| layers.iter().map(|cost| of(&cost.factor)).product::<f64>();
    let total = Spread { low: product(|f| f.low), middle: product(|f| f.middle), high: product(|f| f.high) };
    Amplification { block: write.block, random: write.random, layers, total }
}

/// The first layer on each that has one.
fn carriers(stack: &Stack) -> BTreeMap<&Name, &Name> {
    let mut carriers = BTreeMap::new();
    for above in &stack.nodes {
        for on in above.below() {
            carriers.entry(on.name()).or_insert(&above.name);
        }
    }
    carriers
}

type Cost = (Spread<f64>, Going, String);

fn cost(layer: &Layer, members: usize, going: Going, sync: bool) -> Cost {
    let mut cost = own_cost(layer, members, going, sync);
    if let Some(cache) = layer.traits().cache {
        // Each write goes at most to the cache and below, with a page of metadata. Whole blocks that are copied to the cache
        // are left out: nothing tells how many they are.
        cost.0.high *= 2.0 + PAGE / going.block.max(PAGE);
        cost.0.middle = f64::midpoint(cost.0.low, cost.0.high);
        cost.2.push_str(match cache {
            CacheKind::Writes => "; first to the cache",
            CacheKind::Copies => "; what is cached, there too",
        });
    }
    cost
}

fn own_cost(layer: &Layer, members: usize, going: Going, sync: bool) -> Cost {
    let once = |why: &str| (Spread::exactly(1.0), going, why.to_owned());
    match layer {
        Layer::Luks(luks) if luks.integrity.is_some() => tags(IntegrityMode::Journal, 32.0, PAGE, going),
        Layer::Integrity(integrity) => integrity_cost(integrity, going),
        Layer::Raid(raid) => raid_cost(raid, members, going),
        Layer::Lvm(lvm) => lvm_cost(lvm, members, going),
        Layer::Ext4(_) | Layer::Xfs(_) => journalled(going, sync),
        Layer::Btrfs(btrfs) => btrfs_cost(btrfs, going, sync),
        Layer::Zfs(zfs) => zfs_cost(zfs, members, going, sync),
        _ => once("each byte once"),
    }
}

/// ext4 and XFS write data in place, once. A write that is waited for and changes metadata (a file that grows) adds
/// descriptor, inode and commit to the journal, and the inode later in its place: up to four pages.
fn journalled(going: Going, sync: bool) -> Cost {
    let (pages, why) = if sync { (4.0, "in place, and a journal commit with each") } else { (0.0, "in place") };
    let worst = 1.0 + pages * PAGE / going.block;
    // Journal commits of ordinary times: every few seconds, whatever was written.
    (Spread { low: 1.0, middle: f64::midpoint(1.0, worst), high: worst.max(1.02) }, going, why.to_owned())
}

/// A stand-alone dm-integrity.
fn integrity_cost(integrity: &Integrity, going: Going) -> Cost {
    let sector = Bytes(integrity.sector.0.max(512)).as_f64();
    tags(integrity.mode, f64::from(integrity.tag.size()), sector, going)
}

/// Tags go with data: at worst a page of tags for each random write. The journal doubles both; 2.01 was measured for
/// sequential writes of 4 KiB sectors.
fn tags(mode: IntegrityMode, tag: f64, sector: f64, going: Going) -> Cost {
    let least = 1.0 + tag / sector;
    let most = if going.random { 1.0 + PAGE / going.block.max(PAGE) } else { least };
    let middle = (least + most) / 2.0;
    let (twice, why) = match mode {
        IntegrityMode::Journal => (JOURNAL - 1.0, "into the journal, then in place, with tags"),
        IntegrityMode::NoJournal => (0.0, "in place, with tags"),
        IntegrityMode::Bitmap => (0.0, "in place, with tags; now and then the bitmap"),
    };
    let spread = Spread { low: least, middle, high: most };
    (spread.map(|once| once + twice), going, why.to_owned())
}

fn raid_cost(raid: &Raid, members: usize, going: Going) -> Cost {
    let chunk = raid.chunk.as_f64();
    match raid.level {
        RaidLevel::Raid0 => (Spread::exactly(1.0), split(going, chunk), "each byte once".to_owned()),
        RaidLevel::Raid1 => copies(members as f64, going, "a copy on every member"),
        RaidLevel::Raid10 => {
            let why = if raid.layout == Raid10Layout::Near { "two copies" } else { "two copies, apart" };
            copies(2.0, split(going, chunk), why)
        }
        RaidLevel::Raid5 => parity(members, 1, chunk, going),
        RaidLevel::Raid6 => parity(members, 2, chunk, going),
    }
}

fn lvm_cost(lvm: &Lvm, members: usize, going: Going) -> Cost {
    let stripe = lvm.stripe.as_f64();
    let mut cost = match lvm.volume {
        Volume::Linear => (Spread::exactly(1.0), going, "each byte once".to_owned()),
        Volume::Striped => (Spread::exactly(1.0), split(going, stripe), "each byte once".to_owned()),
        Volume::Raid1 => copies(members as f64, going, "a copy on every leg"),
        Volume::Raid10 => copies(2.0, split(going, stripe), "two copies"),
        Volume::Raid5 => parity(members, 1, stripe, going),
        Volume::Raid6 => parity(members, 2, stripe, going),
    };
    if let Some(integrity) = &lvm.integrity {
        let (factor, going, why) = tags(integrity.mode, 4.0, Bytes(integrity.block.0.max(512)).as_f64(), cost.1);
        let both = Spread {
            low: cost.0.low * factor.low,
            middle: cost.0.middle * factor.middle,
            high: cost.0.high * factor.high,
        };
        cost = (both, going, format!("{}; {why}", cost.2));
    }
    if let Some(chunk) = lvm.copied_chunk() {
        // The first write to a chunk copies what was there and notes it; later ones do not.
        let copied = chunk.as_f64().max(going.block) / going.block + PAGE / going.block.max(PAGE);
        cost.0.high *= 1.0 + copied;
        cost.0.middle *= 1.0 + Lvm::FIRST_WRITES * copied;
        cost.2.push_str("; the first write to a chunk copies it for the snapshot");
    }
    cost
}

fn copies(count: f64, going: Going, why: &str) -> Cost {
    (Spread::exactly(count), going, why.to_owned())
}

/// Pieces no longer than a chunk.
fn split(going: Going, chunk: f64) -> Going {
    Going { block: going.block.min(chunk.max(512.0)), ..going }
}

/// Parity is written with every write: all of it for part of a row, its share for whole rows.
fn parity(members: usize, parities: usize, chunk: f64, going: Going) -> Cost {
    let (data, parities) = ((members.saturating_sub(parities)).max(1) as f64, parities as f64);
    let full = 1.0 + parities / data;
    // A write of part of a row writes parity as long as itself, or as a chunk if it is longer.
    let part = 1.0 + parities * going.block.min(chunk) / going.block;
    let (low, high) = (full, part.max(full));
    // Sequential writes gather into whole rows in the stripe cache; random ones do not.
    let middle = if going.random { high } else { low };
    let why = if high > low && going.random { "parity for part of a row" } else { "parity for whole rows" };
    let spread = Spread { low: if going.random { high } else { low }, middle, high };
    (spread, split(going, chunk), why.to_owned())
}

/// Copies of data and of metadata. A random write changes a leaf of 16 KiB in each of four trees (files, extents,
/// checksums, free space), and a commit every 30 s writes each changed leaf once. So at worst, over much space, each write
/// pays for four leaves; at best leaves are full of what was written, and each pays for its own items: of a file extent
/// (25 + 53 bytes), of an extent (25 + 53) and of a checksum (4). What is believed is the geometric mean, for want of more.
fn btrfs_cost(btrfs: &Btrfs, going: Going, sync: bool) -> Cost {
    /// Bytes of a leaf (`nodesize` of mkfs.btrfs).
    const LEAF: f64 = 16.0 * 1024.0;
    /// Trees that a random write changes.
    const TREES: f64 = 4.0;
    /// Bytes of their items together (fs/btrfs, on-disk format).
    const ITEMS: f64 = 2.0 * (25.0 + 53.0) + 4.0;
    let [copies, of_metadata] = [btrfs.data, btrfs.metadata].map(|profile| profile.copies() as f64);
    let changes = btrfs.copy_on_write && going.random;
    let of_block = |bytes: f64| if changes { bytes / going.block } else { 0.0 };
    let (best, worst) = (of_block(of_metadata * ITEMS), of_block(of_metadata * TREES * LEAF));
    let log = if sync { of_metadata * LEAF / going.block } else { 0.0 };
    let spread = Spread { low: best, middle: (best * worst).sqrt(), high: worst };
    let spread = spread.map(|leaves| copies + leaves + log);
    let why = if btrfs.copy_on_write { "copied on write, with leaves of trees" } else { "in place" };
    (spread, going, why.to_owned())
}

/// Whole records are written anew, and in whole rows; what is waited for goes into the intent log first.
fn zfs_cost(zfs: &Zfs, members: usize, going: Going, sync: bool) -> Cost {
    let record = zfs.recordsize.as_f64().max(512.0);
    let rewritten = if going.random { (record / going.block).max(1.0) } else { 1.0 };
    let sectors = (zfs.recordsize.0 >> zfs.ashift.unwrap_or(12).min(16)).max(1);
    let redundancy = zfs.layout.allocated(sectors, members) as f64 / sectors as f64;
    let log = if sync { 1.0 } else { 0.0 };
    // A record that is written several times before its transaction group closes is written once; at worst, and at
    // random over much space, never. Pointers to records add little beside records of 128 KiB.
    let spread = Spread { low: 1.0, middle: rewritten, high: rewritten * 1.1 };
    let why = if rewritten > 1.0 { "whole records for parts of them" } else { "whole records" };
    let next = Going { block: record, random: false };
    (spread.map(|records| (records + log) * redundancy), next, why.to_owned())
}

/// Bytes of flash for each byte written to it: about (1 + spare) / (2 spare) for random writes over the whole drive with
/// greedy cleaning, next to nothing for sequential ones. `spare` is the share of hidden flash, such as 0.07.
#[must_use]
pub fn flash(random: bool, spare: f64) -> f64 {
    if random { ((1.0 + spare) / (2.0 * spare.max(0.001))).max(1.0) } else { 1.0 }
}

/// Years until a drive that may be written so many bytes in its life has been; `None` where nothing is written to it.
///
/// `a_day` is what all drives of a stack write in a day, and `share` what of it goes to this one.
#[must_use]
pub fn life(endurance: Spread<f64>, a_day: Spread<f64>, share: f64) -> Option<Spread<f64>> {
    /// Days of a year.
    const YEAR: f64 = 365.25;
    let a_year = a_day.map(|bytes| bytes * YEAR * share);
    if a_year.high <= 0.0 {
        return None;
    }
    Some(Spread {
        low: endurance.low / a_year.high,
        middle: endurance.middle / a_year.middle,
        high: endurance.high / a_year.low,
    })
}
