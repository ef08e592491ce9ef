//! A tree of files, copied onto the stack: bytes and time, from cold caches until everything is on the drives.

mod cold;
pub(crate) mod source;
mod tree;
pub(crate) mod walk;

use std::time::Instant;

use host::Host;
use terms::evidence::{Bottleneck, BottleneckKind};
use terms::plan::{WorkFile, WorkPlace};
use terms::record::{Cell, Flow, GuardNote, Latency, Reading};
use terms::units::significant;
use terms::workload::FileTree;
use terms::{Bytes, BytesPerSecond, Cmd, Iops, Nanos, Outcome};

use self::source::CopySource;
use crate::counters::snapshot;
use crate::counters::threads::census;
use crate::error::MeasureError;
use crate::own_work::{self, Busy};
use crate::request::{CellRequest, Measured};
use crate::workplace::Workplace;

/// Below it a source is made for one copy if no stack holds it: memory, on nearly every machine.
const IN_MEMORY: &str = "/dev/shm";
/// Longest time for any of the commands.
const LIMIT: Nanos = Nanos::seconds(1800);
/// A copy that takes at most this much longer than reading its source alone waits for the source.
const BOUND: f64 = 1.15;

/// Copies the tree once. A copy that failed is a failed cell.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn measure(host: &dyn Host, request: &CellRequest<'_>, wanted: &FileTree) -> Result<Measured, MeasureError> {
    let start = Instant::now();
    let WorkPlace::Directory(target) = request.filled.place() else {
        return Ok(Measured::failed(
            request,
            "files are copied onto file systems, and this stack is a device".to_owned(),
        ));
    };
    let plan = tree::plan(wanted);
    let memory = request.source.is_none().then(|| Workplace::below(host, IN_MEMORY)).transpose()?;
    let above = request.source.map_or(IN_MEMORY, CopySource::directory);
    let still = || request.source.map_or(Ok(()), |source| source.check(host));
    still()?;
    let source = WorkFile::Source(tree::digest(wanted)).to_string();
    let source = memory.as_ref().map_or_else(|| format!("{above}/{source}"), |memory| memory.path(&source));
    if let Some(why) = tree::make(host, &source, wanted)? {
        return Ok(Measured::failed(request, why));
    }
    let copy = format!("{target}/{}", WorkFile::Copy(request.seed));
    // Reading the source alone tells whether the copy could have been faster.
    still()?;
    cold::forget(host, above, request.source.is_some())?;
    let alone = host.run(&script("find \"$1\" -type f -exec cat {} + > /dev/null", &[&source]))?;
    still()?;
    cold::forget(host, above, request.source.is_some())?;
    let before = snapshot(host, request.drives, true)?;
    let mut busy = own_work::busy(host, request.nodes, &census(host)?)?;
    let cmd = script("cp -r \"$1\" \"$2\" && sync -f \"$2\"", &[&source, &copy]);
    let outcome = host.run(&cmd)?;
    let after = snapshot(host, request.drives, true)?;
    host.run(&Cmd::new(["rm", "-rf", &copy]).limit(LIMIT))?;
    if !outcome.ok() {
        return Ok(Measured::failed(
            request,
            format!("cp ended with status {}: {}", outcome.status, outcome.error_text()),
        ));
    }
    busy.extend(own_work::busy(host, request.nodes, &census(host)?)?);
    busy.extend(own_work::in_step(host, request.nodes)?);
    let voids = |busy: Busy| GuardNote { guard: busy.guard, witness: busy.witness, voids: true };
    let guards: Vec<GuardNote> = busy.into_iter().take(1).map(voids).collect();
    let failure = guards.first().map(|guard| format!("{}: {}", guard.guard, guard.witness));
    let reading =
        Reading { write: Some(flow(tree::bytes(&plan), tree::files(&plan), outcome.took)), ..Reading::default() };
    let cell = Cell {
        reading: failure.is_none().then_some(reading),
        failure,
        guards,
        bottleneck: Some(bottleneck(&alone, &outcome)),
        members: after.members_since(&before),
        cpu: Some(after.cpu_since(&before)),
        took: start.elapsed().into(),
        ..Cell::begun(request.key.clone(), request.started.clone(), cmd.argv, request.seed)
    };
    let said = format!("source alone {}\ncopy {}\n{}", alone.took, outcome.took, outcome.error_text());
    Ok(Measured { cell, raw: vec![("copy.txt".to_owned(), said.into_bytes())] })
}

/// A fixed script, with arguments beside it.
fn script(text: &str, arguments: &[&str]) -> Cmd {
    let words = ["sh", "-c", text, "sh"].into_iter().chain(arguments.iter().copied());
    Cmd::new(words).limit(LIMIT)
}

/// So many operations of so many bytes together.
fn flow(bytes: Bytes, operations: u64, took: Nanos) -> Flow {
    let seconds = took.as_seconds().max(1e-9);
    Flow {
        bytes,
        operations,
        runtime: took,
        throughput: BytesPerSecond(bytes.as_f64() / seconds),
        iops: Iops(Bytes(operations).as_f64() / seconds),
        latency: Latency::default(),
    }
}

/// A copy that is no slower than reading its source waits for the source.
fn bottleneck(alone: &Outcome, copy: &Outcome) -> Bottleneck {
    let ratio = copy.took.as_seconds() / alone.took.as_seconds().max(1e-9);
    let witness = format!("the copy took {} times as long as reading its source alone", significant(ratio));
    let bound = alone.ok() && ratio < BOUND;
    let (kind, word) = if bound {
        (BottleneckKind::Queue, ": the source is what it waited for")
    } else {
        (BottleneckKind::Unknown, "")
    };
    Bottleneck { kind, witness: witness + word }
}
