//! What each drive did under each workload, as iostat(1) shows it.

use terms::finding::{DriveWork, Findings};
use terms::units::significant;
use terms::workload::Workload;

use super::stack_name;
use crate::listing::{Form, Group, Listing};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Every drive of every cell; `None` where nothing was counted.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let group = |workload: &Workload| Group { title: workload.title(), rows: rows(findings, workload, style) };
    Listing {
        id: "drives",
        // As many rows as all cells have drives.
        only: Some(Form::Page),
        title: "Drives at work".to_owned(),
        hint: "Counters of each drive inside the window, all rounds together, as iostat shows them: what it moved, \
               the share of the time with something under way, and how many operations were under way in the mean. A \
               drive that serves many at once may be busy all the time and far from its limit."
            .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Drive", Align::Left),
            ("Read", Align::Right),
            ("Written", Align::Right),
            ("Operations", Align::Right),
            ("Busy", Align::Right),
            ("Queue", Align::Right),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        ..Listing::default()
    }
    .if_any()
}

/// Drives under a workload, stack by stack.
fn rows(findings: &Findings, workload: &Workload, style: &Style) -> Vec<Vec<String>> {
    let cells = findings.cells.iter().filter(|cell| cell.workload == workload.name.as_str());
    let of = |(stack, drive): (&str, &DriveWork)| row(stack_name(findings, stack), drive, style);
    cells.flat_map(|cell| cell.drives.iter().map(|drive| (cell.stack.as_str(), drive))).map(of).collect()
}

/// One drive.
fn row(stack: &str, drive: &DriveWork, style: &Style) -> Vec<String> {
    vec![
        stack.to_owned(),
        drive.drive.clone(),
        quantity::rate(drive.read.0, style),
        quantity::rate(drive.written.0, style),
        drive.operations.to_string(),
        format!("{:.0} %", drive.busy * 100.0),
        significant(drive.queue),
    ]
}
