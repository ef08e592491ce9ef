//! What limits each cell, what each layer costs, bursts, flushes.

use terms::evidence::LimiterKind;
use terms::finding::{Estimate, Finding};
use terms::record::Latency;
use terms::units::significant;

use super::{Panel, Table, stack, title};
use crate::figure::{Measure, spread};
use crate::grid::Grid;
use crate::style::Style;

/// What each cell was limited by.
pub(super) fn limits(grid: &Grid) -> Option<Panel> {
    let mut panel = Panel::new("limits", "What limits");
    let unknown = |of: &&Finding| of.limiter.as_ref().is_some_and(|of| of.kind == LimiterKind::Unknown);
    let open = grid.findings.cells.iter().filter(unknown).count();
    if open > 0 {
        panel.text.push(format!("In {open} cells nothing that was looked at was at its limit; the others:"));
    }
    let rows = rows(grid, |of| {
        let limiter = of.limiter.as_ref().filter(|of| of.kind != LimiterKind::Unknown)?;
        Some(vec![limiter.kind.word().to_owned(), limiter.witness.clone()])
    });
    let head = vec![("WORKLOAD", false), ("STACK", false), ("LIMITER", false), ("SEEN", false)];
    panel.table = Some(Table { head, rows: rows? });
    Some(panel)
}

/// What each layer costs, where two stacks differ by it alone.
pub(super) fn layers(grid: &Grid) -> Option<Panel> {
    let findings = grid.findings;
    if findings.layers.is_empty() {
        return None;
    }
    let mut panel = Panel::new("layers", "What a layer costs");
    panel.text.push(
        "Two stacks that differ by one layer: throughput with it over that without, paired within rounds, and processor \
         time of the whole system for each operation."
            .to_owned(),
    );
    let ratio = |of: &Estimate| format!("{}× {}", significant(of.value), spread(of)).trim_end().to_owned();
    let row = |of: &terms::finding::LayerCost| {
        let cpu = of.cpu_per_operation.map(micros);
        vec![
            of.layer.clone(),
            format!("{} over {}", stack(findings, &of.stack), stack(findings, &of.without)),
            title(grid, &of.workload).to_owned(),
            of.throughput_ratio.as_ref().map(ratio).unwrap_or_default(),
            cpu.unwrap_or_else(|| "not counted".to_owned()),
        ]
    };
    let head = vec![
        ("LAYER", false),
        ("SEEN IN", false),
        ("WORKLOAD", false),
        ("THROUGHPUT", true),
        ("CPU PER OPERATION", true),
    ];
    panel.table = Some(Table { head, rows: findings.layers.iter().map(row).collect() });
    Some(panel)
}

/// `+12.3 µs`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn micros(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "+" };
    format!("{sign}{} µs", significant(nanos.unsigned_abs() as f64 / 1000.0))
}

/// Writes before and after a cache was full.
pub(super) fn bursts(grid: &Grid, _style: &Style) -> Option<Panel> {
    let mut panel = Panel::new("bursts", "Bursts and what is sustained");
    let rows = rows(grid, |of| {
        let burst = of.burst?;
        Some(vec![
            Measure::rate_text(burst.burst),
            Measure::rate_text(burst.sustained),
            format!("{} into the window, after {}", burst.cliff.at, burst.cliff.moved),
            burst.rounds.to_string(),
        ])
    });
    let head = vec![
        ("WORKLOAD", false),
        ("STACK", false),
        ("BURST", true),
        ("SUSTAINED", true),
        ("THE LEVEL CHANGES", false),
        ("ROUNDS", true),
    ];
    panel.table = Some(Table { head, rows: rows? });
    Some(panel)
}

/// Latency of flushes.
pub(super) fn flushes(grid: &Grid) -> Option<Panel> {
    let mut panel = Panel::new("flushes", "Latency of flushes");
    let rows = rows(grid, |of| of.sync.as_ref().map(latency));
    let head = vec![("WORKLOAD", false), ("STACK", false), ("MEDIAN", true), ("P99", true), ("LARGEST", true)];
    panel.table = Some(Table { head, rows: rows? });
    Some(panel)
}

fn latency(of: &Latency) -> Vec<String> {
    let p99 = of.p99.map_or_else(|| "too few".to_owned(), |value| value.to_string());
    vec![of.p50.to_string(), p99, of.max.to_string()]
}

/// A row for each cell that has something, the workload named once; `None` where none has.
fn rows(grid: &Grid, of: impl Fn(&Finding) -> Option<Vec<String>>) -> Option<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for at in 0..grid.workloads().len() {
        let mut first = true;
        for (index, entry) in grid.stacks().iter().enumerate() {
            let Some(cells) = grid.finding(index, at).and_then(&of) else { continue };
            let heading = if first { grid.titles[at].clone() } else { String::new() };
            first = false;
            rows.push([vec![heading, entry.name.clone()], cells].concat());
        }
    }
    (!rows.is_empty()).then_some(rows)
}
