//! Columns of what is known of a cell besides its figures.

use terms::finding::{Burst, ImitationFinding, Steady};
use terms::units::{Bytes, BytesPerSecond};

use super::cells::{CellRow, FEW, column, kept};
use crate::evidence::ranking;
use crate::table::{Column, ColumnKind, Value};

/// Why there is no rank and no answer.
const NOT_COMPARED: &str = "it was not compared";
/// Why the first stack is not held against the first.
const FIRST: &str = "this is the first stack";
/// Why there is no cliff.
const NO_CLIFF: &str = "no window shows a change of level";
/// Why there is nothing of another tool.
const NOT_IMITATED: &str = "no other tool was imitated";
/// Why there is no flush.
const NO_FLUSH: &str = "no flush was counted";

/// The columns, in the order of CSV and JSON.
pub(super) fn evidence<'a>() -> Vec<Column<CellRow<'a>>> {
    let mut columns = ranks();
    columns.extend(windows());
    columns.extend(flushes());
    columns.extend(bursts());
    columns.extend(imitations());
    columns
}

/// Its place among the stacks, and what limits it.
fn ranks<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["RANK", "rank", "Rank", "place on the workload, ties as 2-3"], ColumnKind::Text, |r| {
            let rank = r.any.and_then(|f| f.rank).map(|rank| Value::Text(ranking::rank(rank).replace('–', "-")));
            r.or_why(rank, NOT_COMPARED)
        }),
        column(
            ["RANK-BEST", "rank_best", "Best rank", "one more than the stacks that are faster"],
            ColumnKind::Count,
            |r| r.or_why(r.any.and_then(|f| f.rank).map(|rank| Value::Count(u64::from(rank.best))), NOT_COMPARED),
        ),
        column(["RANK-WORST", "rank_worst", "Worst rank", "stacks that are not slower"], ColumnKind::Count, |r| {
            r.or_why(r.any.and_then(|f| f.rank).map(|rank| Value::Count(u64::from(rank.worst))), NOT_COMPARED)
        }),
        column(
            ["VS-FIRST", "against_first", "Against the first", "faster, slower, equivalent or undecided"],
            ColumnKind::Text,
            |r| {
                let answer = r.against_first.map(|(answer, _)| Value::Text(answer.words().to_owned()));
                r.or_why(answer, if r.first { FIRST } else { NOT_COMPARED })
            },
        ),
        column(
            ["MORE", "more_rounds", "More rounds", "rounds still needed against the first"],
            ColumnKind::Count,
            |r| {
                let more = r.against_first.and_then(|(_, more)| more).map(|more| Value::Count(u64::from(more)));
                r.or_why(more, "it is decided, or was not compared")
            },
        ),
        column(["OPEN", "open", "Open", "does it want more rounds"], ColumnKind::Text, |r| {
            Value::or_missing(r.any.map(|f| yes(f.open)), r.why.clone().into_owned())
        }),
        column(["LIMITER", "limiter", "Limited by", "what most rounds were limited by"], ColumnKind::Text, |r| {
            let bottleneck = r.any.and_then(|f| f.bottleneck.as_ref());
            r.or_why(
                bottleneck.map(|bottleneck| Value::Text(bottleneck.kind.word().to_owned())),
                "it was not looked for",
            )
        }),
        column(["WITNESS", "limiter_witness", "What was seen", "what shows the bottleneck"], ColumnKind::Text, |r| {
            let bottleneck = r.any.and_then(|f| f.bottleneck.as_ref());
            r.or_why(bottleneck.map(|bottleneck| Value::Text(bottleneck.witness.clone())), "it was not looked for")
        }),
    ]
}

/// `yes` or `no`.
fn yes(is: bool) -> Value {
    Value::Text(if is { "yes" } else { "no" }.to_owned())
}

/// How steady its windows were.
fn windows<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["STEADY", "windows_steady", "Steady", "windows that were steady"], ColumnKind::Count, |r| {
            window(r, |steady| steady.steady)
        }),
        column(["UNSTEADY", "windows_unsteady", "Unsteady", "windows that never settled"], ColumnKind::Count, |r| {
            window(r, |steady| steady.unsteady)
        }),
        column(["TOO-SHORT", "windows_unknown", "Too short", "windows too short to tell"], ColumnKind::Count, |r| {
            window(r, |steady| steady.unknown)
        }),
        column(
            [
                "EXTENDED",
                "windows_extended",
                "Extended",
                "windows that were measured again, longer or after longer settling",
            ],
            ColumnKind::Count,
            |r| window(r, |steady| steady.extended),
        ),
        column(
            ["LEVEL-LOW", "level_low_bytes_per_second", "Lowest level", "lowest level over all windows"],
            ColumnKind::Rate,
            |r| level(r, |range| range.0),
        ),
        column(
            ["LEVEL-HIGH", "level_high_bytes_per_second", "Highest level", "highest level over all windows"],
            ColumnKind::Rate,
            |r| level(r, |range| range.1),
        ),
        column(
            ["SNIA", "snia_steady_at_round", "SNIA", "round in which SNIA's steady state was reached"],
            ColumnKind::Count,
            |r| match r.any.and_then(|f| f.snia) {
                Some(snia) => Value::or_missing(
                    snia.steady_at.map(|at| Value::Count(u64::from(at))),
                    "no five rounds in a row are steady",
                ),
                None => r.or_why(None, "fewer than five rounds, or it was not looked for"),
            },
        ),
    ]
}

/// A count of windows. Where none was looked at there is none.
fn window(row: &CellRow, take: fn(&Steady) -> u32) -> Value {
    let steady = row.any.map(|f| f.steady).filter(|steady| *steady != Steady::default());
    row.or_why(steady.map(|steady| Value::Count(u64::from(take(&steady)))), "no window was looked at")
}

/// An end of the range of levels.
fn level(row: &CellRow, take: fn((f64, f64)) -> f64) -> Value {
    let range = row.any.and_then(|f| f.steady.range);
    row.or_why(range.map(|range| Value::Rate(BytesPerSecond(take(range)))), "no range was kept")
}

/// Latency of flushes.
fn flushes<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["SYNC-P50", "sync_p50_ns", "Flush p50", "median latency of flushes"], ColumnKind::Time, |r| {
            r.or_why(r.finding.and_then(|f| f.sync.as_ref()).and_then(|l| kept(l.p50)).map(Value::Time), NO_FLUSH)
        }),
        column(
            ["SYNC-P99", "sync_p99_ns", "Flush p99", "99th percentile of latency of flushes"],
            ColumnKind::Time,
            |r| {
                let sync = r.finding.and_then(|f| f.sync.as_ref());
                let why = if sync.is_some() { FEW } else { NO_FLUSH };
                r.or_why(sync.and_then(|l| l.p99).map(Value::Time), why)
            },
        ),
        column(["SYNC-MAX", "sync_max_ns", "Flush max", "largest latency of flushes"], ColumnKind::Time, |r| {
            r.or_why(r.finding.and_then(|f| f.sync.as_ref()).and_then(|l| kept(l.max)).map(Value::Time), NO_FLUSH)
        }),
    ]
}

/// Before and after a cache was full.
fn bursts<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["BURST", "burst_bytes_per_second", "Burst", "throughput before the cliff"], ColumnKind::Rate, |r| {
            burst(r, |burst| Value::Rate(BytesPerSecond(burst.burst)))
        }),
        column(
            ["SUSTAINED", "sustained_bytes_per_second", "Sustained", "throughput after it"],
            ColumnKind::Rate,
            |r| burst(r, |burst| Value::Rate(BytesPerSecond(burst.sustained))),
        ),
        column(
            ["CLIFF", "cliff_bytes", "Cliff after", "bytes moved in the window before the cliff"],
            ColumnKind::Size,
            |r| burst(r, |burst| Value::Size(Bytes(burst.cliff.moved.0))),
        ),
        column(["CLIFF-AT", "cliff_at_ns", "Cliff at", "time in the window before the cliff"], ColumnKind::Time, |r| {
            burst(r, |burst| Value::Time(burst.cliff.at))
        }),
    ]
}

/// Something of a burst; an unsteady cell may have one.
fn burst(row: &CellRow, take: fn(&Burst) -> Value) -> Value {
    row.or_why(row.any.and_then(|f| f.burst.as_ref()).map(take), NO_CLIFF)
}

/// What another tool would have shown.
fn imitations<'a>() -> Vec<Column<CellRow<'a>>> {
    vec![
        column(["TOOL", "imitated_tool", "Tool", "the tool that was imitated"], ColumnKind::Text, |r| {
            imitation(r, |imitation| Value::Text(imitation.tool.name().to_owned()))
        }),
        column(
            ["TOOL-SHOWS", "imitated_printed", "Shown", "the number that it would print"],
            ColumnKind::Number,
            |r| imitation(r, |imitation| Value::Number(imitation.printed)),
        ),
        column(["TOOL-UNIT", "imitated_unit", "Unit", "the unit that it would print"], ColumnKind::Text, |r| {
            imitation(r, |imitation| Value::Text(imitation.unit.clone()))
        }),
        column(["HONEST", "imitated_honest", "Honest", "the honest figure in that unit"], ColumnKind::Number, |r| {
            imitation(r, |imitation| Value::Number(imitation.honest))
        }),
        column(["GAPS", "imitated_gaps", "Why they differ", "factors from honest to shown"], ColumnKind::Text, |r| {
            imitation(r, |imitation| Value::List(imitation.gaps.iter().map(crate::evidence::compat::gap).collect()))
        }),
    ]
}

/// Something of an imitation.
fn imitation(row: &CellRow, take: fn(&ImitationFinding) -> Value) -> Value {
    row.or_why(row.any.and_then(|f| f.imitation.as_ref()).map(take), NOT_IMITATED)
}
