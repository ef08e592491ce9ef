//! Writes before and after a cache was full.

use terms::finding::{Burst, Findings};
use terms::workload::Workload;

use crate::listing::{Group, Listing};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Burst, sustained and the cliff of every cell that shows one; `None` where none does.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let group = |workload: &Workload| {
        let rows = findings.provenance.stacks.iter().filter_map(|entry| {
            let burst = findings.cell(&entry.slug, workload.name.as_str())?.burst?;
            Some(row(&entry.name, &burst, workload, style))
        });
        Group { title: workload.title(), rows: rows.collect() }
    };
    Listing {
        id: "burst",
        title: "Burst and sustained".to_owned(),
        hint:
            "These changed their level once within a window, as writes do where a cache is full. The cliff is that of \
               the last round that shows one."
                .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Burst", Align::Right),
            ("Sustained", Align::Right),
            ("Cliff after", Align::Right),
            ("Rounds", Align::Right),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        ..Listing::default()
    }
    .if_any()
}

/// One stack.
fn row(name: &str, burst: &Burst, workload: &Workload, style: &Style) -> Vec<String> {
    vec![
        name.to_owned(),
        quantity::own(burst.burst, workload, style),
        quantity::own(burst.sustained, workload, style),
        format!("{}, {}", style.size(burst.cliff.moved), burst.cliff.at),
        burst.rounds.to_string(),
    ]
}
