//! What a cell is measured with, and what comes of it.

use host::Host;
use terms::evidence::Steadiness;
use terms::record::{Cell, CellKey, MemberDelta};
use terms::{LayerNode, MeasurePolicy, Nanos, Workload};

use crate::copy::source::CopySource;
use crate::job::Filled;

/// How many times as long a window has to be that gave so many bytes per second; 1 where it is long enough.
pub type LongerRule<'a> = dyn Fn(f64, &Steadiness) -> f64 + 'a;

/// What to measure.
#[derive(Clone)]
pub struct CellRequest<'a> {
    /// Which cell it is.
    pub key: CellKey,
    /// The workload.
    pub workload: &'a Workload,
    /// Settling and window.
    pub policy: &'a MeasurePolicy,
    /// What it works on.
    pub filled: &'a Filled,
    /// Layers of the stack in building order; none for the bare drive.
    pub nodes: &'a [LayerNode],
    /// Operations per second over all jobs that are offered where the workload's load is not closed. A workload with a
    /// rate of its own needs none.
    pub rate: Option<f64>,
    /// Which window has to be longer. None where windows are as long as asked.
    pub longer: Option<&'a LongerRule<'a>>,
    /// Gets what each drive did since it was last looked at, now and then while fio runs.
    pub watch: &'a dyn Fn(&[MemberDelta], Nanos),
    /// Directory that a tree of files is copied from, for workloads that copy; in memory if `None`.
    pub source: Option<&'a CopySource>,
    /// Where other hosts reach this one, if there are any.
    pub address: Option<&'a str>,
    /// The other hosts, for workloads of several.
    pub others: &'a [Companion<'a>],
    /// Arrays that resynchronise while it is measured.
    pub resyncs: &'a [String],
    /// Drives of the stack: the study's names and the nodes of today.
    pub drives: &'a [(String, String)],
    /// fio's seed.
    pub seed: u64,
    /// When it begins, RFC 3339.
    pub started: String,
}

impl std::fmt::Debug for CellRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellRequest").field("key", &self.key).finish_non_exhaustive()
    }
}

impl CellRequest<'_> {
    pub(crate) fn window(&self) -> Nanos {
        self.workload.window.unwrap_or(self.policy.window)
    }
}

/// Another host that does the same at the same time, on a stack that was built from the same plan.
#[derive(Clone, Copy)]
pub struct Companion<'a> {
    /// The host.
    pub host: &'a dyn Host,
    /// Where the first host reaches it.
    pub address: &'a str,
    /// What it works on.
    pub filled: &'a Filled,
    /// Drives of its stack: the study's names and the nodes of today.
    pub drives: &'a [(String, String)],
}

/// A cell and its raw files.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What goes into the record.
    pub cell: Cell,
    /// Names and bytes of the raw files.
    pub raw: Vec<(String, Vec<u8>)>,
}

impl Measured {
    /// A cell that failed before anything was run for it.
    pub(crate) fn failed(request: &CellRequest<'_>, why: String) -> Self {
        let begun = Cell::begun(request.key.clone(), request.started.clone(), Vec::new(), request.seed);
        Self { cell: Cell { status: 1, failure: Some(why), ..begun }, raw: Vec::new() }
    }
}
