//! The jobs of other tools, and what of the tools they cannot repeat.

use terms::workload::{Engine, Reach, Tool};
use terms::{Bytes, Pattern};

use crate::job::{Job, base};
use crate::probe::{one_pass, with_places};
use crate::request::CellRequest;

/// Size of the file that KDiskMark and CrystalDiskMark make by default.
const FILE: Bytes = Bytes::gib(1);
/// Seconds that both measure by default.
const SECONDS: u32 = 5;
/// Samples that GNOME Disks takes by default (its gschema).
const SAMPLES: u32 = 100;

fn size(request: &CellRequest<'_>) -> Bytes {
    let block = request.workload.block.0.max(1);
    Bytes(FILE.min(request.filled.span).0 / block * block)
}

/// The fio job that does what the tool does.
pub(super) fn of(request: &CellRequest<'_>, tool: Tool) -> Job {
    match tool {
        Tool::KdiskMark => kdiskmark(request),
        Tool::CrystalDiskMark => crystal(request),
        Tool::GnomeDisks => gnome(request),
    }
}

fn shape(job: &mut Job, request: &CellRequest<'_>) {
    let workload = request.workload;
    job.set("rw", workload.pattern.fio_rw(), "the test's direction and order")
        .set("bs", workload.block.0, "the test's block")
        .set("iodepth", workload.depth, "the test's queues")
        .set("numjobs", workload.jobs, "the test's threads");
    if let Pattern::Mixed(read) | Pattern::RandMixed(read) = workload.pattern {
        job.set("rwmixread", read, "the test's mix");
    }
}

/// Not by the clock: on a fast drive the test ends with its file, after a fraction of a second.
fn kdiskmark(request: &CellRequest<'_>) -> Job {
    let mut job = base(request.workload.name.as_str(), request.filled.place(), Engine::Libaio, request.seed);
    shape(&mut job, request);
    job.set("size", size(request).0, "the tool's file, as far as there is room for it")
        .set("runtime", SECONDS, "a limit only: the tool does not say time_based")
        .set("end_fsync", 1, "as the tool has it")
        .set("refill_buffers", 0, "as the tool has it")
        .set("group_reporting", 1, "as the tool has it");
    job
}

/// DiskSpd by the clock: all threads on the same file, sequential ones sharing one position.
fn crystal(request: &CellRequest<'_>) -> Job {
    let mut job = base(request.workload.name.as_str(), request.filled.place(), Engine::Libaio, request.seed);
    shape(&mut job, request);
    job.set("size", size(request).0, "the tool's file, as far as there is room for it")
        .set("runtime", SECONDS, "as long as the tool measures")
        .set("time_based", 1, "DiskSpd goes by the clock")
        .set("overwrite", 1, "only blocks that the fill has written")
        .set("group_reporting", 1, "one sum over its threads");
    job
}

/// One pass over samples, one call at a time.
fn gnome(request: &CellRequest<'_>) -> Job {
    let workload = request.workload;
    let wanted = match workload.reach {
        Reach::Samples(samples) => samples,
        Reach::Span => SAMPLES,
    };
    let mut job = base(workload.name.as_str(), request.filled.place(), Engine::Psync, request.seed);
    job.set("rw", if workload.pattern.writes() { "write" } else { "read" }, "the test's direction");
    one_pass(&mut job, request, wanted);
    if workload.pattern.writes() {
        job.set("overwrite", 1, "only blocks that the fill has written").set(
            "sync",
            "sync",
            "every sample is on the drive before its time is taken: the tool's O_SYNC and fsync",
        );
    }
    with_places(job, request)
}

/// What of the tool was not repeated.
pub(super) fn differs(request: &CellRequest<'_>, tool: Tool) -> Vec<String> {
    let mut list = Vec::new();
    let small = request.filled.span < FILE;
    match tool {
        Tool::KdiskMark | Tool::CrystalDiskMark => {
            if small {
                list.push(format!("its file is {FILE}, here {}: what was filled", size(request)));
            }
            list.push("it waits 5 s between tests, here there is no pause".to_owned());
        }
        Tool::GnomeDisks => {
            list.push(
                "it reads one page before each sample without counting it, here nothing is read before".to_owned(),
            );
            list.push("its samples lie over the whole device, here over what was filled".to_owned());
            if request.workload.pattern.writes() {
                list.push("it writes back what it has read, here other data".to_owned());
            }
        }
    }
    if tool == Tool::CrystalDiskMark {
        list.push("it runs on Windows with DiskSpd and NTFS, here fio does the same accesses on this stack".to_owned());
    }
    if tool == Tool::KdiskMark {
        list.push("it empties the page cache before each loop, here every access goes past it".to_owned());
    }
    list
}
