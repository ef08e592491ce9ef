//! Caches of the device mapper: whether they are in order, and what is lost with the drive that they lie on.

use terms::Bytes;
use terms::inventory::{Node, Target};

use crate::check::{Check, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, place, volume};
use crate::redundancy::of_level;
use crate::words::list;

pub(super) const CHECKS: &[Check] = &[Check {
    id: "cache-state",
    severity: Error,
    looks_at: "`dmsetup table` and `dmsetup status` of caches, levels of the arrays below them",
    rule: "a cache has failed or needs a check (error), or what was written is on a lone drive and not yet on the array that it caches \
           (warning; information where nothing waits to be written there)",
    fixes: false,
    look: state,
}];

fn state(machine: &Machine, round: &mut Round) {
    for node in &machine.detail.nodes {
        let Some(dm) = &node.dm else { continue };
        let at = place(node);
        round.look();
        let Some(targets) = round.ask(&at, &dm.targets) else { continue };
        for target in targets.iter().filter(|target| ["cache", "writecache"].contains(&target.kind.as_str())) {
            let Some(status) = round.ask(&at, &target.status) else { continue };
            if target.kind == "cache" {
                judge(machine, round, node, target, status);
            } else {
                judge_writes(round, node, status);
            }
        }
    }
}

/// What a status says where the cache does not work, and at its end where its metadata was not closed in order (`cache_status` in the
/// kernel's `drivers/md/dm-cache-target.c`).
const FAILED: [&str; 3] = ["Fail", "Error", "needs_check"];

/// The first word of a cache for writes is the error after which it stopped, and 0 where there was none (the kernel's
/// `Documentation/admin-guide/device-mapper/writecache.rst`).
fn judge_writes(round: &mut Round, node: &Node, status: &str) {
    match status.split_whitespace().next().map(str::parse::<i64>) {
        Some(Ok(0)) => {}
        Some(Ok(error)) => round.find(
            finding(
                Error,
                &place(node),
                "the cache for writes has failed",
                "0 requests are answered any more, and what is in it and not below it is at risk",
            )
            .seen(source(node), format!("error {error}"))
            .advise(
                "Do not take the cache off: what it holds is not below it yet. Look why its drive failed, and copy what can be read of \
                 both first; lvmcache(7) says how a cache is taken off.",
            )
            .look(LIST)
            .look("dmesg"),
        ),
        _ => round.unknown(&place(node), "the status of the cache for writes tells no error and no 0"),
    }
}

fn source(node: &Node) -> String {
    format!("dmsetup status {}", node.label.as_deref().unwrap_or(&node.name))
}

fn judge(machine: &Machine, round: &mut Round, node: &Node, target: &Target, status: &str) {
    let at = place(node);
    let source = source(node);
    let words: Vec<&str> = status.split_whitespace().collect();
    if let Some(word) = words.iter().find(|word| FAILED.contains(word)) {
        return round.find(
            finding(
                Error,
                &at,
                if *word == "needs_check" { "the cache needs a check" } else { "the cache has failed" },
                "0 changes of its metadata are kept until then: what is in it and not below it is at risk",
            )
            .seen(source, *word)
            .advise(
                "Copy what is needed first. LVM checks the cache when the volume is activated anew, and lvmcache(7) says how it is repaired \
                 or taken off.",
            )
            .look(LIST),
        );
    }
    let devices: Vec<&Node> =
        target.parameters.split_whitespace().take(3).filter_map(|of| by_number(machine, of)).collect();
    let [_, cache, origin] = devices[..] else {
        return round.unknown(&at, "it is not known what the cache lies on");
    };
    let keeps = target.parameters.split_whitespace().any(|word| word == "writeback");
    if !keeps || survives(machine, cache) || !survives(machine, origin) {
        return;
    }
    let drives: Vec<&str> = machine.bottom(&cache.name).iter().map(|drive| drive.name.as_str()).collect();
    let dirty = dirty(&words);
    let takes = format!("1 lost drive ({}) takes", list(&drives));
    let found = if dirty == Some(Bytes(0)) {
        let cost = format!(
            "0 B are only in the cache now; {takes} what is written from now on until it is on what it caches, though the array below \
             survives a loss"
        );
        finding(Information, &at, "what is written stands on a lone drive first", cost)
    } else {
        let cost = format!(
            "{} are in the cache and not yet on what it caches: {takes} them, and the file system with them, though the array below \
             survives a loss",
            dirty.map_or_else(|| "an unknown number of blocks".to_owned(), |bytes| bytes.to_string())
        );
        finding(Warning, &at, "what was written last is on a lone drive", cost)
    };
    round.find(
        found
            .seen(source, status.trim())
            .advise("Let it write through, which first writes what is only in the cache; or put the cache on a mirror.")
            .look(LIST)
            .run(Nothing, format!("lvchange --cachemode writethrough {}", volume(node))),
    );
}

const LIST: &str = "lvs -a -o +cache_mode,cache_dirty_blocks";

/// Blocks that are only in the cache: the eleventh word, in blocks of so many sectors as the third says.
fn dirty(words: &[&str]) -> Option<Bytes> {
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    Some(Bytes(number(10)?.checked_mul(number(2)?)?.checked_mul(512)?))
}

fn by_number<'a>(machine: &Machine<'a>, number: &str) -> Option<&'a Node> {
    machine.detail.nodes.iter().find(|node| node.number == number)
}

/// Does something below a device survive the loss of a drive?
fn survives(machine: &Machine, node: &Node) -> bool {
    machine.down(&node.name).into_iter().any(|under| {
        let md = under.md.as_ref().map(|md| (md.level.as_str(), md.devices.known().copied().unwrap_or(0)));
        let mapped = machine.raid_of(under).map(|raid| (raid.level.as_str(), 2));
        md.or(mapped).is_some_and(|(level, devices)| of_level(level, devices).is_some_and(|lose| lose > 0))
    })
}
