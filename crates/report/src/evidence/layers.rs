//! What a layer costs, where two stacks differ by it alone.

use terms::finding::{Findings, LayerCost};

use super::{stack_name, workload_title};
use crate::listing::{Group, Listing, MISSING};
use crate::quantity;
use crate::width::Align;

/// The cost of every layer on every workload; `None` where no two stacks differ by one layer.
pub(crate) fn listing(findings: &Findings) -> Option<Listing> {
    let mut groups: Vec<Group> = Vec::new();
    for cost in &findings.layers {
        let (with, without) = (stack_name(findings, &cost.stack), stack_name(findings, &cost.without));
        let title = format!("{}: {with} over {without}", cost.layer);
        let row = row(findings, cost);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { title, rows: vec![row] }),
        }
    }
    Listing {
        id: "layers",
        title: "What a layer costs".to_owned(),
        hint: "Two stacks that differ by the layer alone: throughput with it over that without, paired within rounds, \
               and the processor time of the whole system that it adds to each operation, which has no interval."
            .to_owned(),
        columns: vec![("Workload", Align::Left), ("Throughput", Align::Right), ("CPU per I/O", Align::Right)],
        groups,
        ..Listing::default()
    }
    .where_missing("one of both stacks has no figure")
    .if_any()
}

/// One workload.
fn row(findings: &Findings, cost: &LayerCost) -> Vec<String> {
    let missing = || MISSING.to_owned();
    vec![
        workload_title(findings, &cost.workload),
        cost.throughput_ratio.as_ref().map_or_else(missing, quantity::ratio),
        cost.cpu_per_operation.map_or_else(missing, quantity::difference),
    ]
}
