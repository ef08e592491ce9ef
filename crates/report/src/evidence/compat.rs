//! What other tools would have shown, beside the honest figure in the same unit, and why they differ.

use terms::finding::{CellFinding, Findings, Gap, ImitationFinding};
use terms::units::significant;
use terms::workload::{Tool, Workload};

use crate::listing::{Group, Listing};
use crate::width::Align;

/// Tools, in the order in which they are told of.
const TOOLS: [Tool; 3] = [Tool::KdiskMark, Tool::CrystalDiskMark, Tool::GnomeDisks];

/// A table for every tool that was imitated.
pub(crate) fn listings(findings: &Findings) -> Vec<Listing> {
    TOOLS.into_iter().filter_map(|tool| listing(findings, tool)).collect()
}

/// The findings of a workload that imitate a tool, with the names of their stacks.
fn imitations<'a>(
    findings: &'a Findings,
    workload: &'a Workload,
    tool: Tool,
) -> impl Iterator<Item = (&'a str, &'a ImitationFinding)> {
    findings.provenance.stacks.iter().filter_map(move |entry| {
        let is = |cell: &&CellFinding| cell.stack == entry.slug && cell.workload == workload.name.as_str();
        let imitation = findings.cells.iter().find(is)?.imitation.as_ref()?;
        (imitation.tool == tool).then_some((entry.name.as_str(), imitation))
    })
}

/// The table of a tool.
fn listing(findings: &Findings, tool: Tool) -> Option<Listing> {
    let workloads = &findings.provenance.workloads;
    let group = |workload: &Workload| Group {
        title: workload.title(),
        rows: imitations(findings, workload, tool).map(|(name, imitation)| row(name, imitation)).collect(),
    };
    let (mut remarks, mut details): (Vec<String>, Vec<(String, String)>) = Default::default();
    for (workload, (name, imitation)) in
        workloads.iter().flat_map(|work| imitations(findings, work, tool).map(move |found| (work, found)))
    {
        for what in &imitation.differs {
            let remark = format!("not as {} does it: {what}", tool.name());
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        let words: Vec<String> = imitation.argv.iter().map(|word| terms::command::quote(word)).collect();
        details.push((format!("{}, {name}", workload.title()), words.join(" ")));
    }
    Listing {
        id: match tool {
            Tool::KdiskMark => "kdiskmark",
            Tool::CrystalDiskMark => "crystaldiskmark",
            Tool::GnomeDisks => "gnome-disks",
        },
        title: format!("What {} would show", tool.name()),
        hint:
            "Honest is our figure in the unit that the tool prints, by that unit’s own meaning. The factors multiply \
               to what was shown over it."
                .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Shown", Align::Right),
            ("Honest", Align::Right),
            ("Why they differ", Align::Left),
        ],
        groups: workloads.iter().map(group).collect(),
        remarks,
        details,
        ..Listing::default()
    }
    .if_any()
}

/// One stack.
fn row(name: &str, imitation: &ImitationFinding) -> Vec<String> {
    let number = |value: f64| format!("{} {}", significant(value), imitation.unit);
    let why = if imitation.gaps.is_empty() {
        "they agree".to_owned()
    } else {
        imitation.gaps.iter().map(gap).collect::<Vec<_>>().join("; ")
    };
    vec![name.to_owned(), number(imitation.printed), number(imitation.honest), why]
}

/// One cause: `×0.977 KiB/1000 called MB`.
pub(crate) fn gap(gap: &Gap) -> String {
    let factor = if gap.factor >= 10.0 { significant(gap.factor) } else { format!("{:.3}", gap.factor) };
    format!("×{factor} {}", gap.cause)
}
