//! Load curves: latency against what is asked for.

use terms::finding::{Curve, CurvePoint};
use terms::units::significant;

use super::{Panel, Table, stack, title};
use crate::grid::Grid;
use crate::svg;

/// The panel; `None` where no curve was taken.
pub(super) fn panel(grid: &Grid) -> Option<Panel> {
    let curves = &grid.findings.curves;
    if curves.is_empty() {
        return None;
    }
    let mut panel = Panel::new("curves", "Latency under load");
    panel.text.push(
        "Operations at random moments at a share of the largest rate, latency from the moment at which each was due; the \
         last row of each is the largest rate itself, latency from submission."
            .to_owned(),
    );
    panel.table = Some(Table {
        head: vec![
            ("WORKLOAD", false),
            ("STACK", false),
            ("LOAD", true),
            ("OFFERED/S", true),
            ("DONE/S", true),
            ("MEDIAN", true),
            ("P99", true),
        ],
        rows: curves.iter().flat_map(|curve| rows(grid, curve)).collect(),
    });
    panel.drawings = drawings(grid, curves);
    Some(panel)
}

fn rows(grid: &Grid, curve: &Curve) -> Vec<Vec<String>> {
    let row = |(at, point): (usize, &CurvePoint)| {
        let first = |text: &str| if at == 0 { text.to_owned() } else { String::new() };
        let latency = point.latency.as_ref();
        vec![
            first(title(grid, &curve.workload)),
            first(stack(grid.findings, &curve.stack)),
            point.percent.map_or_else(|| "largest".to_owned(), |percent| format!("{percent} %")),
            point.offered_iops.map(significant).unwrap_or_default(),
            point.iops.map(|iops| significant(iops.value)).unwrap_or_default(),
            latency.map(|of| of.p50.to_string()).unwrap_or_default(),
            latency.and_then(|of| of.p99).map_or_else(|| "too few".to_owned(), |p99| p99.to_string()),
        ]
    };
    curve.points.iter().enumerate().map(row).collect()
}

/// One drawing for each workload, a line for each stack.
fn drawings(grid: &Grid, curves: &[Curve]) -> Vec<(String, String)> {
    let mut workloads: Vec<&str> = curves.iter().map(|curve| curve.workload.as_str()).collect();
    workloads.dedup();
    workloads.sort_unstable();
    workloads.dedup();
    let drawing = |workload: &&str| {
        let of: Vec<(&str, &Curve)> = curves
            .iter()
            .filter(|curve| curve.workload == **workload)
            .map(|curve| (stack(grid.findings, &curve.stack), curve))
            .collect();
        (title(grid, workload).to_owned(), svg::curve::draw(&of, title(grid, workload)))
    };
    workloads.iter().map(drawing).collect()
}
