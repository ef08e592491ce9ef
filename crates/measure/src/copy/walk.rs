//! A tree of files on the stack: listed, or every file read, after everything that memory held of it is forgotten.

use std::time::Instant;

use host::Host;
use terms::evidence::{Bottleneck, BottleneckKind};
use terms::plan::{WorkFile, WorkPlace};
use terms::record::{Cell, GuardNote, Reading};
use terms::units::significant;
use terms::workload::{FileTree, TreeWork};
use terms::{Bytes, Guard, Nanos};

use super::{cold, flow, script, tree};
use crate::counters::snapshot;
use crate::error::MeasureError;
use crate::request::{CellRequest, Measured};
use crate::workplace::Workplace;

/// What is run in the tree, `$1`, with the list of its files in `$2`. `LC_ALL=C` holds for all programs.
const LIST: &str = "ls -lR \"$1\" > /dev/null";
/// The order is made before, so that finding the files is not in the time that counts.
const READ: &str = "xargs -0 cat < \"$2\" > /dev/null";
/// Every file in an order that the bytes of `$3` decide.
const ORDER: &str = "find \"$1\" -type f -print0 | sort -z --random-sort --random-source=\"$3\" > \"$2\"";

/// Makes the tree where it is not yet, forgets it, and does the work once.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn measure(
    host: &dyn Host,
    request: &CellRequest<'_>,
    work: TreeWork,
    wanted: &FileTree,
) -> Result<Measured, MeasureError> {
    let start = Instant::now();
    let WorkPlace::Directory(target) = request.filled.place() else {
        return Ok(Measured::failed(request, "files are on file systems, and this stack is a device".to_owned()));
    };
    let plan = tree::plan(wanted);
    let files = tree::files(&plan);
    let top = format!("{target}/{}", WorkFile::Tree(tree::digest(wanted)));
    if let Some(why) = tree::make(host, &top, wanted)? {
        return Ok(Measured::failed(request, why));
    }
    let workplace = Workplace::new(host)?;
    let (order, seed) = (workplace.path("order"), workplace.path("seed"));
    if work == TreeWork::Read {
        host.write(&seed, request.seed.to_string().repeat(64).as_bytes())?;
        host.run_ok(&script(ORDER, &[&top, &order, &seed]))?;
    }
    cold::forget(host, target, !request.nodes.is_empty())?;
    let before = snapshot(host, request.drives, false)?;
    let cmd = match work {
        TreeWork::List => script(LIST, &[&top]),
        TreeWork::Read => script(READ, &[&top, &order]),
    };
    let outcome = host.run(&cmd)?;
    let after = snapshot(host, request.drives, false)?;
    if !outcome.ok() {
        return Ok(Measured::failed(request, format!("`{}` failed: {}", cmd.line(), outcome.error_text())));
    }
    let members = after.members_since(&before);
    let read: u64 = members.iter().map(|member| member.read.0).sum();
    // What memory kept would have been told as the speed of drives.
    let cold = read > 0 || !after.counts();
    let guards = if cold { Vec::new() } else { vec![warm(files)] };
    let failure = guards.first().map(|guard| format!("{}: {}", guard.guard, guard.witness));
    let size = plan.first().map_or(Bytes(0), |(size, _)| *size);
    let reading = Reading {
        read: Some(flow(Bytes(files.saturating_mul(work.block(size).0)), files, outcome.took)),
        ..Reading::default()
    };
    let cell = Cell {
        reading: failure.is_none().then_some(reading),
        failure,
        guards,
        bottleneck: Some(bottleneck(read, files, outcome.took)),
        members,
        cpu: Some(after.cpu_since(&before)),
        took: start.elapsed().into(),
        ..Cell::begun(request.key.clone(), request.started.clone(), cmd.argv, request.seed)
    };
    let said = format!("{files} files in {}\n{}", outcome.took, outcome.error_text());
    Ok(Measured { cell, raw: vec![("tree.txt".to_owned(), said.into_bytes())] })
}

fn warm(files: u64) -> GuardNote {
    let witness = format!("the drives read nothing while {files} files were looked at: memory still held them");
    GuardNote { guard: Guard::Cache, witness, voids: true }
}

fn bottleneck(read: u64, files: u64, took: Nanos) -> Bottleneck {
    let each = Bytes(read).as_f64() / Bytes(files.max(1)).as_f64();
    let witness = format!("{} bytes were read from the drives for each file, in {took} for all", significant(each));
    Bottleneck { kind: BottleneckKind::Unknown, witness }
}
