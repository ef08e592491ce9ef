//! The machine's own work on its drives: what would share the drives with a measurement.

mod device_mapper;

use std::time::Duration;

use host::{Host, HostError};
use terms::layer::ArrayState;
use terms::{Cmd, Guard, Layer, LayerNode, Nanos};

use crate::counters::threads;
use crate::error::MeasureError;
use crate::mount::Mount;

/// Something that is busy: the guard against it and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Busy {
    pub(crate) guard: Guard,
    pub(crate) witness: String,
}

impl Busy {
    fn new(guard: Guard, witness: impl Into<String>) -> Self {
        Self { guard, witness: witness.into() }
    }
}

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// What the stack is meant to have: an array that lacks a member, or one out of step.
fn is_meant(nodes: &[LayerNode], busy: &Busy) -> bool {
    let state = match &busy.guard {
        Guard::Degraded => ArrayState::Degraded,
        Guard::Resync => ArrayState::Resync,
        _ => return false,
    };
    in_state(nodes, state)
}

/// Is an array of the stack to be in that state?
pub(crate) fn in_state(nodes: &[LayerNode], state: ArrayState) -> bool {
    nodes.iter().any(|node| node.layer.traits().state == state)
}

/// Waits until nothing of the machine's own work runs, or the limit is over. Gives what is still busy.
///
/// # Errors
/// Where the machine is lost.
pub fn idle(host: &dyn Host, nodes: &[LayerNode], limit: Nanos) -> Result<Vec<String>, MeasureError> {
    let begun = host.now()?;
    loop {
        let found = busy(host, nodes, &threads::census(host)?)?;
        let waited = Nanos(host.now()?.0.saturating_sub(begun.0));
        // An array that lacks a member lacks it however long one waits.
        if found.iter().all(|busy| busy.guard == Guard::Degraded) || waited >= limit || host::interrupt::raised() {
            return Ok(found.into_iter().map(|busy| busy.witness).collect());
        }
        host.pause(PAUSE.min(Duration::from_nanos(limit.0 - waited.0)))?;
    }
}

/// ext4 that may still be writing its tables. Its kernel thread alone is no proof. Where the tables were written when the file
/// system was made, the thread only reads bitmaps ahead, for some seconds after mounting. And the thread outlives the last file
/// system: it sleeps until its next turn, and ends then.
fn lazy(nodes: &[LayerNode], has_thread: bool, mounts: &str) -> Option<Busy> {
    let made_whole = |node: &LayerNode| matches!(&node.layer, Layer::Ext4(ext4) if !ext4.lazy_init);
    let mounted = Mount::all(mounts).any(|mount| mount.kind == "ext4");
    let witness = "the kernel thread `ext4lazyinit` is there: ext4 still writes its tables";
    (has_thread && mounted && !nodes.iter().any(made_whole)).then(|| Busy::new(Guard::LazyInit, witness))
}

/// All of the machine's own work that runs now, wherever on it: it reaches drives through names that change with every
/// build. `nodes` are the layers of the stack, none where they are not known; `census` was taken a moment ago.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn busy(host: &dyn Host, nodes: &[LayerNode], census: &threads::Census) -> Result<Vec<Busy>, HostError> {
    let mut found: Vec<Busy> = md(host, nodes)?.into_iter().collect();
    let mounts = text(host, "/proc/mounts")?;
    found.extend(lazy(nodes, census.has("ext4lazyinit"), &mounts));
    if host.list("/sys/block").unwrap_or_default().iter().any(|name| name.starts_with("dm-")) {
        found.extend(said(host, &["dmsetup", "status"])?.lines().filter_map(device_mapper::busy));
    }
    for Mount { target, .. } in Mount::all(&mounts).filter(|mount| mount.kind == "btrfs") {
        found.extend(btrfs_scrub(&said(host, &["btrfs", "scrub", "status", target])?));
        found.extend(btrfs_balance(&said(host, &["btrfs", "balance", "status", target])?));
    }
    if Mount::all(&mounts).any(|mount| mount.kind == "zfs") {
        found.extend(zpool(&said(host, &["zpool", "status"])?));
    }
    Ok(found)
}

/// What a program says; nothing where it is not there.
fn said(host: &dyn Host, argv: &[&str]) -> Result<String, HostError> {
    match host.run(&Cmd::new(argv.iter().copied())) {
        Ok(outcome) => Ok(outcome.text()),
        Err(error) if error.is_not_found() => Ok(String::new()),
        Err(error) => Err(error),
    }
}

fn text(host: &dyn Host, path: &str) -> Result<String, HostError> {
    match host.read_text(path) {
        Err(error) if error.is_not_found() => Ok(String::new()),
        read => read,
    }
}

/// An array of `/proc/mdstat` that is busy with something of its own, or is not where it is meant to be. Cheap enough
/// for looks while fio runs.
///
/// # Errors
/// Where the machine is lost.
fn md(host: &dyn Host, nodes: &[LayerNode]) -> Result<Option<Busy>, HostError> {
    Ok(busy_arrays(&text(host, MDSTAT)?, nodes))
}

/// Where the kernel tells of its arrays.
pub(crate) const MDSTAT: &str = "/proc/mdstat";

fn busy_arrays(text: &str, nodes: &[LayerNode]) -> Option<Busy> {
    mdstat(text).or_else(|| degraded(text)).filter(|busy| !is_meant(nodes, busy))
}

/// What the text of [`MDSTAT`], read while a measurement runs, says against it.
pub(crate) fn amid(text: &str, nodes: &[LayerNode]) -> impl Iterator<Item = Busy> + use<> {
    busy_arrays(text, nodes).into_iter().chain(over(text, nodes))
}

/// The same, read now.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn amid_now(host: &dyn Host, nodes: &[LayerNode]) -> Result<impl Iterator<Item = Busy> + use<>, HostError> {
    Ok(amid(&text(host, MDSTAT)?, nodes))
}

/// The guard of a measurement during a resynchronisation, which must not be over before it.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn in_step(host: &dyn Host, nodes: &[LayerNode]) -> Result<Option<Busy>, HostError> {
    Ok(over(&text(host, MDSTAT)?, nodes))
}

fn over(text: &str, nodes: &[LayerNode]) -> Option<Busy> {
    let is_over = in_state(nodes, ArrayState::Resync) && mdstat(text).is_none();
    is_over.then(|| {
        Busy::new(
            Guard::InStep,
            "the resynchronisation was over before the measurement was: larger drives or a shorter window let it last",
        )
    })
}

/// A member is missing: `[2/1] [U_]` (kernel, drivers/md/md.c, `md_seq_show`). No work, and it does not pass by waiting.
fn degraded(text: &str) -> Option<Busy> {
    let of_members = |word: &str| {
        let inside = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inside.is_some_and(|marks| marks.contains('_') && marks.chars().all(|mark| matches!(mark, 'U' | '_')))
    };
    let line = text.lines().find(|line| line.split_whitespace().any(of_members))?;
    Some(Busy::new(Guard::Degraded, format!("/proc/mdstat: {}", line.trim())))
}

fn mdstat(text: &str) -> Option<Busy> {
    let works = ["resync", "recovery", "check", "reshape", "repair"];
    // `resync=DELAYED` and `resync=PENDING` wait for another array or for the first write.
    let line = text.lines().find(|line| {
        works.iter().any(|work| line.contains(&format!("{work} =")) || line.contains(&format!("{work}=")))
    })?;
    Some(Busy::new(Guard::Resync, format!("/proc/mdstat: {}", line.trim())))
}

fn btrfs_scrub(text: &str) -> Option<Busy> {
    let running = |line: &&str| line.trim_start().to_lowercase().starts_with("status:") && line.contains("running");
    text.lines().find(running).map(|line| Busy::new(Guard::Scrub, format!("btrfs scrub: {}", line.trim())))
}

fn btrfs_balance(text: &str) -> Option<Busy> {
    let line = text.lines().find(|line| line.contains("is running"))?;
    Some(Busy::new(Guard::Scrub, format!("btrfs balance: {}", line.trim())))
}

fn zpool(text: &str) -> Option<Busy> {
    let line = text.lines().find(|line| line.trim_start().starts_with("scan:") && line.contains("in progress"))?;
    Some(Busy::new(Guard::Scrub, format!("zpool: {}", line.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_study_asks_for_is_not_foreign() {
        let node = |state| LayerNode {
            name: terms::Name::new("m").unwrap(),
            layer: Layer::Raid(terms::layer::Raid { state, ..terms::layer::Raid::default() }),
            on: Vec::new(),
            special: Vec::new(),
        };
        let (resync, lost) = (Busy::new(Guard::Resync, ""), Busy::new(Guard::Degraded, ""));
        for (state, resyncs, loses) in
            [(ArrayState::Whole, false, false), (ArrayState::Resync, true, false), (ArrayState::Degraded, false, true)]
        {
            let nodes = [node(state)];
            assert_eq!((is_meant(&nodes, &resync), is_meant(&nodes, &lost)), (resyncs, loses), "{state:?}");
            assert!(!is_meant(&nodes, &Busy::new(Guard::Scrub, "")));
        }
    }

    #[test]
    fn work_is_seen_and_rest_is_rest() {
        let cases: [(Option<Busy>, Option<Guard>); 16] = [
            (lazy(&[], true, "/dev/vda1 / ext4 rw 0 0\n"), Some(Guard::LazyInit)),
            (lazy(&[], true, "rootfs / rootfs rw 0 0\n"), None),
            (lazy(&[], false, "/dev/vda1 / ext4 rw 0 0\n"), None),
            (degraded("md0 : active raid1 a[0]\n  523264 blocks super 1.2 [2/1] [U_]"), Some(Guard::Degraded)),
            (degraded("md0 : active raid1 a[0] b[1]\n  523264 blocks [2/2] [UU]\n  bitmap: 0/1 pages"), None),
            (degraded("md0 : active raid0 a[0] b_c[1]\n  [=>....] x"), None),
            (mdstat("md0 : active raid1 a[0] b[1]\n  [=>...] resync = 9.5% (1/2)"), Some(Guard::Resync)),
            (mdstat("md0 : active raid5\n  [=>...]  check = 1.0%"), Some(Guard::Resync)),
            (mdstat("md0 : active raid1\n  resync=DELAYED"), Some(Guard::Resync)),
            (mdstat("md0 : active raid1 a[0] b[1]\n  523264 blocks [2/2] [UU]\n  bitmap: 0/1 pages"), None),
            (btrfs_scrub("UUID: x\nStatus:           running\nDuration: 0:00:01"), Some(Guard::Scrub)),
            (btrfs_scrub("UUID: x\nStatus:           finished"), None),
            (btrfs_balance("Balance on '/mnt' is running\n1 out of about 3 chunks"), Some(Guard::Scrub)),
            (btrfs_balance("No balance found on '/mnt'"), None),
            (zpool("  pool: a\n  scan: resilver in progress since Sun\n"), Some(Guard::Scrub)),
            (zpool("  pool: a\n  scan: scrub repaired 0B in 00:00:01 with 0 errors"), None),
        ];
        for (number, (found, expected)) in cases.into_iter().enumerate() {
            assert_eq!(found.as_ref().map(|busy| busy.guard.clone()), expected, "case {number}: {found:?}");
        }
    }
}
