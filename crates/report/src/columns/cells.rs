//! Columns of the findings: one row for every stack and workload of the study.

use std::borrow::Cow;

use terms::finding::{CellFinding, Compared, Findings, WithInterval};
use terms::record::{Latency, StackEntry};
use terms::units::{BytesPerSecond, Iops, Nanos};
use terms::workload::Workload;

use super::evidence::evidence;
use crate::evidence::ranking;
use crate::grid::{Grid, State};
use crate::table::{Column, ColumnKind, Value};

/// One workload on one stack.
#[derive(Debug, Clone)]
pub struct CellRow<'a> {
    /// The stack.
    pub stack: &'a StackEntry,
    /// Is it the first, with which the others are compared?
    pub first: bool,
    /// The workload.
    pub workload: &'a Workload,
    /// What was found, only where it may be believed.
    pub finding: Option<&'a CellFinding>,
    /// What there is even where the figure may not be believed: guards and sources.
    pub any: Option<&'a CellFinding>,
    /// `measured`, `unsteady`, `failed`, `missing` or `not-run`.
    pub verdict: &'static str,
    /// What comparisons say of it against the first stack, and how many rounds are still needed.
    pub against_first: Option<(Compared, Option<u32>)>,
    /// Why there is no figure.
    pub why: Cow<'a, str>,
    /// What emulates the machine, if anything does.
    pub emulator: Option<&'a str>,
}

/// A row for every stack and workload of the study: stacks in its order, then workloads.
#[must_use]
pub fn cell_rows(findings: &Findings) -> Vec<CellRow<'_>> {
    let grid = Grid::new(findings);
    let emulator = findings.emulator();
    let pairs = (0..grid.stacks().len()).flat_map(|s| (0..grid.workloads().len()).map(move |w| (s, w)));
    pairs.map(|(stack, workload)| row(&grid, stack, workload, emulator)).collect()
}

/// One row.
pub(crate) fn row<'a>(grid: &Grid<'a>, stack: usize, workload: usize, emulator: Option<&'a str>) -> CellRow<'a> {
    let (finding, verdict, why) = match grid.state(stack, workload) {
        State::Measured(finding, _) => (Some(finding), "measured", Cow::Borrowed("it was not counted")),
        State::Unsteady(_, why) => (None, "unsteady", why),
        State::Failed(why) => (None, "failed", why),
        State::Missing(why) => (None, "missing", why),
        State::NotRun => (None, "not-run", Cow::Borrowed("it was not run")),
    };
    CellRow {
        stack: &grid.stacks()[stack],
        first: stack == 0,
        workload: grid.workloads()[workload],
        finding,
        any: grid.finding(stack, workload),
        against_first: ranking::against_first(grid, stack, workload),
        verdict,
        why,
        emulator,
    }
}

impl CellRow<'_> {
    /// A value of the finding, or why there is none.
    fn value(&self, take: impl Fn(&CellFinding) -> Option<Value>) -> Value {
        Value::or_missing(self.finding.and_then(take), self.why.clone().into_owned())
    }

    /// A value, or why there is none: that of the cell where it has no figure, else this one.
    pub(super) fn or_why(&self, value: Option<Value>, why: &'static str) -> Value {
        let why = if self.finding.is_some() { Cow::Borrowed(why) } else { Cow::Owned(self.why.clone().into_owned()) };
        Value::or_missing(value, why)
    }

    /// An end of an interval, or why there is none.
    fn end(
        &self,
        take: impl Fn(&CellFinding) -> Option<WithInterval>,
        end: fn(&WithInterval) -> Option<f64>,
    ) -> Result<f64, Value> {
        let estimate =
            self.finding.and_then(take).ok_or_else(|| Value::Missing(self.why.clone().into_owned().into()))?;
        end(&estimate).ok_or(Value::Missing("1 round: no interval".into()))
    }

    /// The ratio to the first stack, or why there is none. That of the first stack is 1 and has no interval.
    fn ratio(&self, take: fn(&WithInterval) -> Option<f64>) -> Value {
        if self.first && self.finding.is_some() {
            let itself = WithInterval { value: 1.0, low: None, high: None, rounds: 0 };
            return Value::or_missing(take(&itself).map(Value::Ratio), "this is the first stack");
        }
        self.end(|f| f.ratio_to_first, take).map_or_else(|why| why, Value::Ratio)
    }

    /// A latency, or why there is none.
    fn latency(&self, take: fn(&Latency) -> Option<Nanos>, why: &'static str) -> Value {
        match self.finding.and_then(|finding| finding.latency.as_ref()) {
            Some(latency) => Value::or_missing(take(latency).map(Value::Time), why),
            None => Value::Missing(self.why.clone().into_owned().into()),
        }
    }
}

/// Why a high percentile is missing.
pub(super) const FEW: &str = "fewer than 100 operations lie beyond it";
/// Why a percentile that is always kept is zero.
const NOT_KEPT: &str = "it was not kept";

/// A latency that is zero only where it was not kept.
pub(crate) fn kept(time: Nanos) -> Option<Nanos> {
    (time.0 > 0).then_some(time)
}

/// The columns, in the order of CSV and JSON.
#[must_use]
pub fn cells<'a>() -> Vec<Column<CellRow<'a>>> {
    let mut columns = identity();
    columns.extend(rates());
    columns.extend(latencies());
    columns.extend(costs());
    columns.extend(evidence());
    columns
}

/// Shorthand for a column.
pub(super) const fn column<'a>(
    [name, key, title, help]: [&'static str; 4],
    kind: ColumnKind,
    value: fn(&CellRow<'a>) -> Value,
) -> Column<CellRow<'a>> {
    Column { name, key, title, help, kind, value }
}

/// Which cell, and may it be believed.
fn identity<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["STACK", "stack", "Stack", "name of the stack"], ColumnKind::Text, |r| {
            Value::Text(r.stack.name.clone())
        }),
        column(["SLUG", "stack_slug", "Slug", "name of the stack in files and device nodes"], ColumnKind::Text, |r| {
            Value::Text(r.stack.slug.clone())
        }),
        column(["WORKLOAD", "workload", "Workload", "name of the workload"], ColumnKind::Text, |r| {
            Value::Text(r.workload.name.to_string())
        }),
        column(["PATTERN", "pattern", "Pattern", "order, block, depth, jobs and direction"], ColumnKind::Text, |r| {
            Value::Text(r.workload.title())
        }),
        column(
            ["VERDICT", "verdict", "Verdict", "measured, unsteady, failed, missing or not-run"],
            ColumnKind::Text,
            |r| Value::Text(r.verdict.to_owned()),
        ),
        column(["REASON", "reason", "Reason", "why there is no figure"], ColumnKind::Text, |r| {
            let reason = r.finding.is_none().then(|| Value::Text(r.why.clone().into_owned()));
            Value::or_missing(reason, "it was measured")
        }),
        column(
            ["EMULATED", "emulated_by", "Emulated by", "what emulates the machine, if anything"],
            ColumnKind::Text,
            |r| {
                let by = r.emulator.map(|by| Value::Text(if by.is_empty() { "unknown" } else { by }.to_owned()));
                Value::or_missing(by, "the machine is real")
            },
        ),
    ]
}

/// Throughput, operations and ratios with their intervals.
fn rates<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(
            ["THROUGHPUT", "throughput_bytes_per_second", "Throughput", "geometric mean over rounds"],
            ColumnKind::Rate,
            |r| as_rate(r.end(|f| f.throughput, |e| Some(e.value))),
        ),
        column(
            ["LOW", "throughput_low_bytes_per_second", "Low", "lower end of the 95 % interval"],
            ColumnKind::Rate,
            |r| as_rate(r.end(|f| f.throughput, |e| e.low)),
        ),
        column(
            ["HIGH", "throughput_high_bytes_per_second", "High", "upper end of the 95 % interval"],
            ColumnKind::Rate,
            |r| as_rate(r.end(|f| f.throughput, |e| e.high)),
        ),
        column(["IOPS", "iops_per_second", "IOPS", "operations per second, geometric mean"], ColumnKind::Iops, |r| {
            as_iops(r.end(|f| f.iops, |e| Some(e.value)))
        }),
        column(["IOPS-LOW", "iops_low_per_second", "IOPS low", "lower end of its interval"], ColumnKind::Iops, |r| {
            as_iops(r.end(|f| f.iops, |e| e.low))
        }),
        column(
            ["IOPS-HIGH", "iops_high_per_second", "IOPS high", "upper end of its interval"],
            ColumnKind::Iops,
            |r| as_iops(r.end(|f| f.iops, |e| e.high)),
        ),
        column(
            ["RATIO", "ratio_to_first", "Ratio", "throughput relative to the first stack, paired within rounds"],
            ColumnKind::Ratio,
            |r| r.ratio(|e| Some(e.value)),
        ),
        column(["RATIO-LOW", "ratio_to_first_low", "Ratio low", "lower end of its interval"], ColumnKind::Ratio, |r| {
            r.ratio(|e| e.low)
        }),
        column(
            ["RATIO-HIGH", "ratio_to_first_high", "Ratio high", "upper end of its interval"],
            ColumnKind::Ratio,
            |r| r.ratio(|e| e.high),
        ),
        column(["ROUNDS", "rounds", "Rounds", "rounds behind the throughput"], ColumnKind::Count, |r| {
            r.value(|f| f.throughput.or(f.iops).map(|e| Value::Count(u64::from(e.rounds))))
        }),
    ]
}

/// A throughput, or why there is none.
fn as_rate(value: Result<f64, Value>) -> Value {
    value.map_or_else(|why| why, |value| Value::Rate(BytesPerSecond(value)))
}

/// Operations per second, or why there are none.
fn as_iops(value: Result<f64, Value>) -> Value {
    value.map_or_else(|why| why, |value| Value::Iops(Iops(value)))
}

/// Completion latency.
fn latencies<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["LAT-MEAN", "latency_mean_ns", "Mean", "mean completion latency"], ColumnKind::Time, |r| {
            r.latency(|l| kept(l.mean), NOT_KEPT)
        }),
        column(["P50", "latency_p50_ns", "p50", "median completion latency"], ColumnKind::Time, |r| {
            r.latency(|l| kept(l.p50), NOT_KEPT)
        }),
        column(["P99", "latency_p99_ns", "p99", "99th percentile of completion latency"], ColumnKind::Time, |r| {
            r.latency(|l| l.p99, FEW)
        }),
        column(
            ["P999", "latency_p999_ns", "p99.9", "99.9th percentile of completion latency"],
            ColumnKind::Time,
            |r| r.latency(|l| l.p999, FEW),
        ),
        column(["LAT-MAX", "latency_max_ns", "Max", "largest completion latency"], ColumnKind::Time, |r| {
            r.latency(|l| kept(l.max), NOT_KEPT)
        }),
    ]
}

/// What it cost, and what is to be kept in mind.
fn costs<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(
            ["CPU", "cpu_per_operation_ns", "CPU per op", "processor time of the whole system for each operation"],
            ColumnKind::Time,
            |r| r.value(|f| f.cpu_per_operation.map(Value::Time)),
        ),
        column(
            ["DRIVE-BYTES", "drive_bytes_ratio", "Drive bytes", "bytes on the drives for each byte of the application"],
            ColumnKind::Ratio,
            |r| r.value(|f| f.drive_bytes_ratio.map(Value::Ratio)),
        ),
        column(["GUARDS", "guards", "Guards", "guards that fired"], ColumnKind::Text, |r| {
            Value::List(r.any.map(|f| f.guards.iter().map(|g| g.guard.to_string()).collect()).unwrap_or_default())
        }),
        column(["SOURCES", "sources", "Sources", "cell directories in the record"], ColumnKind::Text, |r| {
            Value::List(r.any.map(|f| f.sources.clone()).unwrap_or_default())
        }),
    ]
}
