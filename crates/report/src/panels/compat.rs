//! What other tools would have shown, beside the honest figure, and why they differ.

use terms::finding::{Gap, ImitationFinding};
use terms::units::significant;

use super::{Panel, Table};
use crate::grid::Grid;

/// The panel; `None` where nothing was imitated.
pub(super) fn panel(grid: &Grid) -> Option<Panel> {
    let mut rows = Vec::new();
    let mut differs: Vec<String> = Vec::new();
    for at in 0..grid.workloads().len() {
        for (index, entry) in grid.stacks().iter().enumerate() {
            let Some(of) = grid.finding(index, at).and_then(|finding| finding.imitation.as_ref()) else { continue };
            rows.push(row(&grid.titles[at], &entry.name, of));
            for text in &of.differs {
                let said = format!("{}: {text}", of.tool.name());
                if !differs.contains(&said) {
                    differs.push(said);
                }
            }
        }
    }
    if rows.is_empty() {
        return None;
    }
    let mut panel = Panel::new("compat", "What other tools would show");
    panel.text.push(
        "The tool’s own test run beside ours, its number printed as it would print it. The factors multiply to the gap."
            .to_owned(),
    );
    panel.text.extend(differs);
    let head = vec![
        ("TOOL", false),
        ("WORKLOAD", false),
        ("STACK", false),
        ("IT SHOWS", true),
        ("HONEST", true),
        ("BECAUSE", false),
    ];
    panel.table = Some(Table { head, rows });
    Some(panel)
}

fn row(title: &str, stack: &str, of: &ImitationFinding) -> Vec<String> {
    let because = |gap: &Gap| format!("×{} {}", significant(gap.factor), gap.cause);
    vec![
        of.tool.name().to_owned(),
        title.to_owned(),
        stack.to_owned(),
        format!("{} {}", significant(of.printed), of.unit),
        format!("{} {}", significant(of.honest), of.unit),
        of.gaps.iter().map(because).collect::<Vec<_>>().join("; "),
    ]
}
