//! Before, while and after a network path was lost.

use terms::finding::{Findings, PathLossFinding, Stretch};
use terms::workload::Workload;

use crate::listing::{Group, Listing};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Throughput and latency around the loss, and the longest silence, of every cell that lost a path; `None` where none
/// did.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let group = |workload: &Workload| {
        let rows = findings.provenance.stacks.iter().filter_map(|entry| {
            let lost = findings.cell(&entry.slug, workload.name.as_str())?.path_lost?;
            Some(row(&entry.name, &lost, workload, style))
        });
        Group { title: workload.title(), rows: rows.collect() }
    };
    Listing {
        id: "path-lost",
        title: "A path lost".to_owned(),
        hint: "One of two network paths was lost in the window, and came back. Of the last round: throughput and mean \
               latency before, while and after, and the longest time in which nothing was completed. A cell with a \
               failed operation is failed, and not here."
            .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Before", Align::Right),
            ("While lost", Align::Right),
            ("After", Align::Right),
            ("Silence", Align::Right),
            ("Lost", Align::Right),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        ..Listing::default()
    }
    .if_any()
}

/// One stack.
fn row(name: &str, lost: &PathLossFinding, workload: &Workload, style: &Style) -> Vec<String> {
    let stretch = |of: &Stretch| {
        let rate = of.throughput.map_or_else(|| "no sample".to_owned(), |rate| quantity::own(rate, workload, style));
        of.latency.map_or(rate.clone(), |latency| format!("{rate}, {latency}"))
    };
    vec![
        name.to_owned(),
        stretch(&lost.before),
        stretch(&lost.during),
        stretch(&lost.after),
        lost.longest_silence.to_string(),
        format!("{} to {}", lost.loss.at, lost.loss.back),
    ]
}
