//! Conditions under which a number may not be believed, each with its witness.
//!
//! Which there are, what each looks at and when it fires is the table in `table.rs`, from which docs/guards.md is made.

mod drives;
mod machine;
mod table;
mod window;

pub use self::table::reference;
use self::table::{Look, Row};
pub(crate) use self::window::{TURNS, joint, queue_time, turns};
use terms::evidence::{CellConditions, Steadiness};
use terms::record::{Cell, CpuDelta, GuardNote, MemberDelta, Reading};
use terms::{Bytes, LayerNode, Nanos, Workload};

use crate::amplification::Bounds;
use crate::fio::{FioOutput, JobOutputs};
use crate::job::Offered;
use crate::log::Log;
use crate::own_work::Busy;

/// What guards look at.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub(crate) workload: &'a Workload,
    /// Layers of the stack; none for the bare drive.
    pub(crate) nodes: &'a [LayerNode],
    /// Time that was asked for.
    pub(crate) window: Nanos,
    pub(crate) output: &'a FioOutput,
    pub(crate) log: &'a Log,
    /// Is the log on the clock by which the counters were read?
    pub(crate) aligned: bool,
    /// From when the first job's window began until the last one's ended, where that is known.
    pub(crate) worked: Option<Nanos>,
    /// What was offered, where the rate was fixed.
    pub(crate) offered: Option<Offered>,
    /// From before fio began until after it ended.
    pub(crate) lifetime: (Nanos, Nanos),
    pub(crate) members: &'a [MemberDelta],
    pub(crate) cpu: Option<&'a CpuDelta>,
    /// Bytes per second that the application read and wrote between the readings of the counters.
    pub(crate) application: [f64; 2],
    pub(crate) bounds: Bounds,
    /// The machine's own work, before, inside and after.
    pub(crate) busy: &'a [Busy],
    /// Bytes made dirty in the page cache between the readings.
    pub(crate) dirtied: Option<Bytes>,
    /// `/proc/version`, shortened.
    pub(crate) kernel: &'a str,
    pub(crate) conditions: &'a CellConditions,
    pub(crate) governor_change: Option<&'a str>,
    pub(crate) steadiness: Option<&'a Steadiness>,
}

impl Evidence<'_> {
    /// Seconds between the readings of the counters, where there were two.
    fn wall(&self) -> Option<f64> {
        self.cpu.map(|cpu| cpu.wall.as_seconds()).filter(|wall| *wall > 0.0)
    }
}

/// One kind of job, and what fio says of it.
struct Section<'a> {
    kind: Workload,
    /// Nothing where fio does not speak of it.
    reading: Option<&'a Reading>,
    jobs: Vec<&'a JobOutputs>,
    /// Who did what is told: `a job of `w``.
    of: String,
}

impl<'a> Evidence<'a> {
    /// Each part of the workload, or all of it.
    fn sections(&self) -> Vec<Section<'a>> {
        let output = self.output;
        if self.workload.parts.is_empty() {
            let (kind, jobs) = (self.workload.clone(), output.jobs.iter().collect());
            return vec![Section { kind, reading: Some(&output.reading), jobs, of: String::new() }];
        }
        let section = |kind: Workload| {
            let name = kind.name.as_str();
            let reading = output.sections.iter().find(|(known, _)| known == name).map(|(_, reading)| reading);
            let jobs = output.jobs.iter().filter(|job| job.name == name).collect();
            Section { reading, jobs, of: format!(" of `{name}`"), kind }
        };
        self.workload.kinds().into_iter().map(section).collect()
    }
}

/// Was a cell voided by nothing but what passes?
#[must_use]
pub fn may_pass(cell: &Cell) -> bool {
    let passes = |note: &GuardNote| table::rows().any(|row| row.guard == note.guard && row.voids && row.passes);
    let mut voiding = cell.guards.iter().filter(|note| note.voids).peekable();
    voiding.peek().is_some() && voiding.all(passes)
}

/// All guards that fire; those that void come first, so that the first one is the reason of a failure.
pub(crate) fn check(evidence: &Evidence<'_>) -> Vec<GuardNote> {
    let mut notes: Vec<GuardNote> = table::rows().filter_map(|row| fire(row, evidence)).collect();
    notes.sort_by_key(|note| !note.voids);
    notes
}

fn fire(row: &Row, evidence: &Evidence<'_>) -> Option<GuardNote> {
    let witness = match row.look {
        Look::Evidence(look) => look(evidence)?,
        Look::OwnWork => evidence.busy.iter().find(|busy| busy.guard == row.guard)?.witness.clone(),
        Look::Elsewhere => return None,
    };
    Some(GuardNote { guard: row.guard.clone(), witness, voids: row.voids })
}

#[cfg(test)]
mod tests;
