//! Do the drives' own counters agree with what the application moved?

use terms::layer::{Layer, ZfsCompression};

use super::Evidence;

/// Bytes beyond what the layers can explain, as a share of them, that somebody else must have moved.
const FOREIGN: f64 = 1.01;
/// Bytes in the same sense that a machine at rest moves now and then: superblocks, a log file.
const FOREIGN_BYTES: f64 = 4_194_304.0;

/// Bytes made dirty for each byte written from which on writes went through the page cache: then it is one for one, and
/// metadata of a file system alone seldom comes to that.
const BUFFERED: f64 = 0.9;

/// Shares of the least below which something above the drives answered. The finer ones want readings that lie far
/// apart: each may be off by the length of a line of fio's log.
fn least(wall: f64) -> f64 {
    match wall {
        wall if wall >= 3.0 => 0.98,
        wall if wall >= 1.0 => 0.9,
        _ => 0.5,
    }
}

/// Bytes per second of all drives: read and written.
fn moved(evidence: &Evidence<'_>, wall: f64) -> [f64; 2] {
    let read: f64 = evidence.members.iter().map(|member| member.read.as_f64()).sum();
    let written: f64 = evidence.members.iter().map(|member| member.written.as_f64()).sum();
    [read / wall, written / wall]
}

/// The drives moved more than the layers can explain.
pub(super) fn foreign(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall().filter(|_| !evidence.members.is_empty())?;
    let bounds = evidence.bounds;
    // On a machine that has no time for fio, lines of its log come late and cover less than the readings do: what fio
    // says of the whole window stands in where it says more.
    let whole = &evidence.output.reading;
    let mean = |flow: Option<&terms::record::Flow>| flow.map_or(0.0, |flow| flow.throughput.0);
    let read = evidence.application[0].max(mean(whole.read.as_ref()));
    let written = evidence.application[1].max(mean(whole.write.as_ref()));
    let most =
        [read * bounds.read.1 + written * bounds.read_by_write, written * bounds.write.1 + read * bounds.write_by_read];
    // Either end may be off by a line of the log, at its highest rate.
    let peak = evidence.log.sums().into_iter().fold(read + written, f64::max);
    let ends = (2.0 * evidence.log.step.as_seconds().max(0.1) / wall).min(1.0);
    let factors = [bounds.read.1 + bounds.write_by_read, bounds.write.1 + bounds.read_by_write];
    let wrong = |index: &usize| {
        let allowed = most[*index] * FOREIGN + peak * ends * factors[*index].max(1.0) + FOREIGN_BYTES / wall;
        moved(evidence, wall)[*index] > allowed
    };
    let index = [0, 1].into_iter().find(wrong)?;
    let witness = format!(
        "the drives {} {:.0} bytes/s, the work explains at most {:.0}: something else used them",
        ["read", "wrote"][index],
        moved(evidence, wall)[index],
        most[index]
    );
    Some(witness)
}

/// A filled drive without layers that reads nothing while its data arrives: blocks that were never written, or that
/// were discarded, are answered without looking.
pub(super) fn unwritten(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall().filter(|_| !evidence.members.is_empty() && !evidence.workload.is_buffered())?;
    let bare = evidence.nodes.iter().all(|node| node.layer.is_bare());
    let (asked, [read, _]) = (evidence.application[0], moved(evidence, wall));
    // At least a few operations for each reading, or nothing can be told.
    if !bare || asked * wall < 100.0 * evidence.workload.block.as_f64() || read > asked * 0.01 {
        return None;
    }
    let witness = format!("the application read {asked:.0} bytes/s and the drive {read:.0}: nothing is there to read");
    Some(witness)
}

/// Direct writes went through the page cache.
pub(super) fn direct(evidence: &Evidence<'_>) -> Option<String> {
    let wall = evidence.wall().filter(|_| !evidence.workload.is_buffered())?;
    let (written, dirtied) = (evidence.application[1], evidence.dirtied?.as_f64() / wall);
    if written * wall < 100.0 * evidence.workload.block.as_f64() || dirtied < written * BUFFERED {
        return None;
    }
    let witness = format!(
        "{dirtied:.0} bytes/s became dirty in the page cache while direct writes were {written:.0} bytes/s: the file system may \
         ignore O_DIRECT on {}, or other programs wrote",
        evidence.kernel
    );
    Some(witness)
}

fn compresses(evidence: &Evidence<'_>) -> bool {
    evidence.nodes.iter().any(|node| matches!(&node.layer, Layer::Zfs(zfs) if zfs.compression != ZfsCompression::Off))
}

/// Layers that gather writes for longer than a short window.
fn gathers(evidence: &Evidence<'_>) -> bool {
    evidence.nodes.iter().any(|node| node.layer.traits().tree)
}

/// Bytes on the drives for each byte of the application, where it moved enough to tell.
fn ratio(evidence: &Evidence<'_>, direction: usize) -> Option<(f64, f64)> {
    let wall = evidence.wall().filter(|_| !evidence.members.is_empty())?;
    let asked = evidence.application[direction];
    (asked > 0.0).then(|| (moved(evidence, wall)[direction] / asked, wall))
}

/// A file system that compresses wrote less than it was given: the data was not as incompressible as it has to be.
pub(super) fn compression(evidence: &Evidence<'_>) -> Option<String> {
    let (ratio, wall) = ratio(evidence, 1).filter(|_| compresses(evidence))?;
    if wall < 3.0 || ratio >= 0.98 {
        return None;
    }
    Some(format!("the drives wrote {ratio:.2} bytes for each byte, and compression is on"))
}

fn word(ratio: f64, least: f64, direction: &str) -> String {
    format!(
        "the drives {direction} {ratio:.2} bytes for each byte of the application, at least {least:.2} were expected: \
         a cache answered for the rest"
    )
}

/// Reads were answered above the drives.
pub(super) fn cache(evidence: &Evidence<'_>) -> Option<String> {
    let (ratio, wall) = ratio(evidence, 0)?;
    let expected = evidence.bounds.read.0;
    if ratio >= expected * least(wall) {
        return None;
    }
    Some(word(ratio, expected, "read"))
}

/// Writes had not arrived at the drives when the window ended.
pub(super) fn write_cache(evidence: &Evidence<'_>) -> Option<String> {
    let (ratio, wall) = ratio(evidence, 1)?;
    let expected = evidence.bounds.write.0;
    // Groups of transactions take seconds to arrive; what is missing then is only late.
    let share = if gathers(evidence) { 0.5 } else { least(wall) };
    if ratio >= expected * share || (gathers(evidence) && wall < 3.0) {
        return None;
    }
    Some(word(ratio, expected, "wrote"))
}
