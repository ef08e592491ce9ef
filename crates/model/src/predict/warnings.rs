//! What is odd about a prediction, said unprompted.

use terms::layer::{ArrayState, Checksums, ZfsCache};
use terms::machine::DriveGroup;
use terms::prediction::{CeilingKind, Flag, Prediction};
use terms::workload::{Engine, PageCache};
use terms::{Layer, Stack, Workload};

use crate::compiler::Conditions;
use crate::page_cache::{is_zfs, takes_part};
use crate::parameter::Parameter;
use crate::site::{Site, cache};

/// Utilisation from which something other than the drives is close to being the limit.
const CLOSE: f64 = 0.9;

/// A rate is slower that is below this share of another.
const SLOWER: f64 = 0.98;

pub(super) fn note(prediction: &mut Prediction, site: &Site, stack: &Stack, work: &Workload, conditions: &Conditions) {
    let mut flags = Vec::new();
    memory(prediction, site, &mut flags);
    resync(prediction, site, conditions, &mut flags);
    encryption(prediction, &mut flags);
    // Where nothing is slower once a write cache is full, nothing is to be warned of.
    let later = prediction.sustained.map_or(f64::INFINITY, |later| later.value);
    caches(site, stack, work, (conditions, later < SLOWER * prediction.throughput.value), &mut flags);
    page_cache(site, stack, work, conditions, &mut flags);
    depth_on_zfs(stack, work, &mut flags);
    links(prediction, &mut flags);
    journal(prediction, stack, work, &mut flags);
    prediction.flags = flags;
}

fn memory(prediction: &Prediction, site: &Site, flags: &mut Vec<Flag>) {
    if site.machine.memory.channels == Some(1) {
        let ceiling = prediction.ceilings.iter().find(|ceiling| ceiling.kind == CeilingKind::Memory);
        let most = ceiling
            .map_or_else(String::new, |ceiling| format!("; it allows {:.1} GB/s here", ceiling.throughput / 1e9));
        flags.push(Flag::new("one-memory-channel", format!("memory has one channel{most}")));
    }
}

fn resync(prediction: &Prediction, site: &Site, conditions: &Conditions, flags: &mut Vec<Flag>) {
    let Some(rate) = prediction.resync.filter(|_| conditions.state == ArrayState::Resync) else { return };
    let cap = 1.0 / site.parameters.get(Parameter::ResyncCap);
    if rate.value > 0.97 * cap {
        let message =
            format!("the resync runs at the kernel's cap of {:.0} MB/s and not at what the drives can do", cap / 1e6);
        flags.push(Flag::new("resync-cap", message));
    }
    flags.push(Flag::new("resync-running", "a figure taken while an array is resynchronised is not one of the array"));
}

fn encryption(prediction: &Prediction, flags: &mut Vec<Flag>) {
    let is = |name: &str| name.starts_with("workers of LUKS") || name.starts_with("workers of dm-crypt");
    if let Some(limit) = prediction.limits.iter().find(|limit| is(&limit.resource))
        && (limit.probability >= 0.4 || limit.utilisation >= CLOSE)
    {
        let message =
            "how many workers encrypt one stream limits it, not the drives below: more jobs help, more drives do not";
        flags.push(Flag::new("encryption-parallelism", message));
    }
}

fn caches(
    site: &Site,
    stack: &Stack,
    work: &Workload,
    (conditions, fades): (&Conditions, bool),
    flags: &mut Vec<Flag>,
) {
    let cached =
        stack.nodes.iter().any(|node| matches!(&node.layer, Layer::Zfs(zfs) if zfs.primarycache == ZfsCache::All));
    if cached && conditions.warm && work.read_share() > 0.0 {
        flags.push(Flag::new(
            "read-cache",
            "reads are answered by the ARC where the span fits in it: this is memory, not drives",
        ));
    }
    if work.read_share() >= 1.0 || !fades {
        return;
    }
    let used = stack.drives();
    let holds =
        |group: &&DriveGroup| used.iter().any(|name| (0..group.count).any(|at| group.member(at) == name.as_str()));
    let groups = site.machine.drives.iter().filter(holds);
    let filling = groups.filter_map(|group| Some((&group.name, cache(group)?)));
    let filling: Vec<_> = filling.filter(|(_, cache)| conditions.span.0 < cache.0).collect();
    if let Some((_, size)) = filling.iter().min_by_key(|(_, cache)| cache.0) {
        let names: Vec<String> = filling.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!(
            "writes are this fast for about {size}, while the write cache of {} takes them; sustained ones are slower",
            names.join(", ")
        );
        flags.push(Flag::new("burst", message));
    }
}

/// What memory does of buffered I/O.
fn page_cache(site: &Site, stack: &Stack, work: &Workload, conditions: &Conditions, flags: &mut Vec<Flag>) {
    if !takes_part(stack, work) {
        return;
    }
    let (cache, memory) = (work.page_cache(), site.machine.memory.size);
    let mut push = |message: String| flags.push(Flag::new("page-cache", message));
    let span = work.reach_of(conditions.span);
    let (reads, writes) = (work.pattern.reads(), work.pattern.writes());
    if reads && cache == PageCache::Warm && memory.is_none_or(|memory| span <= memory) {
        push(format!("reads are answered by the page cache, which holds all {span}: this is memory, not drives"));
    }
    if cache == PageCache::Warm && !stack.top().is_some_and(|top| top.layer.is_file_system()) {
        push(
            "a device without a file system forgets its pages when it is closed: a first pass over the span is cold"
                .to_owned(),
        );
    }
    if writes && work.flushed_every().is_none() {
        push(match memory {
            Some(_) => "writes end in memory: what is dirty there when the time is over counts as written".to_owned(),
            None => {
                "what memory takes before writers wait for drives is not known: say its `size` in [memory]".to_owned()
            }
        });
    }
    if work.depth > 1 && (writes || work.engine != Engine::IoUring) {
        push(format!("buffered I/O waits for each operation: a depth of {} is one of 1", work.depth));
    }
}

/// ZFS has no asynchronous way in (`zpl_iter_read` and `zpl_iter_write` in module/os/linux/zfs/zpl_file.c); what would wait io_uring
/// leaves to workers of its own, but does writes of a file one after the other.
fn depth_on_zfs(stack: &Stack, work: &Workload, flags: &mut Vec<Flag>) {
    let by_workers = work.engine == Engine::IoUring && work.pattern.reads();
    if is_zfs(stack) && work.depth > 1 && work.engine != Engine::Psync && !by_workers {
        let message = format!("ZFS does each call of a job before the next: a depth of {} is one of 1", work.depth);
        flags.push(Flag::new("zfs-depth", message));
    }
}

fn links(prediction: &Prediction, flags: &mut Vec<Flag>) {
    let shared = prediction.ceilings.iter().find(|ceiling| ceiling.kind == CeilingKind::Uplink);
    if let Some(ceiling) = shared
        && prediction.operations.value > CLOSE * ceiling.operations_per_second
    {
        flags.push(Flag::new("shared-link", format!("{} is what all drives behind it share", ceiling.resource)));
    }
}

fn journal(prediction: &Prediction, stack: &Stack, work: &Workload, flags: &mut Vec<Flag>) {
    let journalled = stack.nodes.iter().any(|node| node.layer.traits().checksums == Checksums::Journalled);
    if journalled && work.read_share() < 1.0 && prediction.write_amplification.is_some_and(|times| times > 1.5) {
        let message = "a journal has two latencies: short until it is full, seconds while it is written back";
        flags.push(Flag::new("two-latencies", message));
    }
}
