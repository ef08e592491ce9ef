//! Whether the numbers can be believed: rounds, windows, the bare drive.

use terms::Replicate;
use terms::finding::{AnchorAction, AnchorFinding, Findings};

use super::{Panel, Table, counted, signed};
use crate::figure::Measure;

/// The panel; `None` for records that tell nothing of it.
pub(super) fn panel(findings: &Findings) -> Option<Panel> {
    let policy = findings.provenance.policy.as_ref()?;
    let mut panel = Panel::new("belief", "Can it be believed");
    panel.text.push(rounds(findings));
    panel.text.push(match policy.replicate {
        Replicate::Rebuild => "Every stack was built anew in each round: intervals hold for builds.",
        Replicate::Slices => {
            "All stacks stood side by side on slices of every drive, built anew and in other places in each round."
        }
        Replicate::Single => {
            "Every stack was built once (n = 1 build): intervals hold for that build, and nothing is said between stacks."
        }
    }
    .to_owned());
    panel.text.extend(windows(findings));
    panel.text.extend(snia(findings));
    panel.table = anchors(&findings.anchors);
    Some(panel)
}

/// How many rounds cells have, and how many want more.
fn rounds(findings: &Findings) -> String {
    let counts: Vec<u32> = findings.cells.iter().filter_map(|of| Some(of.throughput?.rounds)).collect();
    let (Some(least), Some(most)) = (counts.iter().min(), counts.iter().max()) else {
        return "No cell has a number.".to_owned();
    };
    let span = if least == most { counted(*least, "round") } else { format!("{least} to {most} rounds") };
    let open = findings.cells.iter().filter(|of| of.open).count();
    let policy = findings.provenance.policy();
    match (policy.is_sequential(), open) {
        (false, _) => format!("Numbers rest on {span}."),
        (true, 0) => format!("Numbers rest on {span}: as many as it took for ±{}.", policy.precision),
        (true, open) => format!(
            "Numbers rest on {span}; {open} of {} are wider than ±{} or undecided still.",
            counts.len(),
            policy.precision
        ),
    }
}

fn windows(findings: &Findings) -> Option<String> {
    let sum = |of: fn(&terms::finding::Steady) -> u32| findings.cells.iter().map(|cell| of(&cell.steady)).sum::<u32>();
    let (steady, unsteady, unknown, extended) =
        (sum(|of| of.steady), sum(|of| of.unsteady), sum(|of| of.unknown), sum(|of| of.extended));
    let all = steady + unsteady + unknown;
    (all > 0).then(|| {
        let mut text = format!("Of {}, {steady} were steady", counted(all, "window"));
        if extended > 0 {
            text.push_str(&format!(", {extended} were run again with twice the length"));
        }
        if unsteady > 0 {
            text.push_str(&format!(", {unsteady} never settled"));
        }
        if unknown > 0 {
            text.push_str(&format!(", {unknown} were too short to tell"));
        }
        text + "."
    })
}

/// SNIA's name, where five rounds allow it.
fn snia(findings: &Findings) -> Option<String> {
    let asked: Vec<bool> = findings.cells.iter().filter_map(|of| Some(of.snia?.steady_at.is_some())).collect();
    let holds = asked.iter().filter(|holds| **holds).count();
    (!asked.is_empty()).then(|| {
        format!(
            "By SNIA’s rule over five rounds (range 20 %, slope 10 %), {holds} of {} cells are steady.",
            asked.len()
        )
    })
}

/// The bare drive round by round.
fn anchors(anchors: &[AnchorFinding]) -> Option<Table> {
    let rate = |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), Measure::rate_text);
    let row = |of: &AnchorFinding| {
        vec![
            of.round.to_string(),
            rate(of.first),
            rate(of.last),
            of.drift.map_or_else(String::new, signed),
            match of.action {
                AnchorAction::Kept => "kept",
                AnchorAction::Flagged => "kept, more than 3 %",
                AnchorAction::Discarded => "discarded and run again, more than 6 %",
                AnchorAction::Unknown => "kept, not known",
            }
            .to_owned(),
        ]
    };
    let head =
        vec![("ROUND", true), ("BARE DRIVE, FIRST", true), ("LAST", true), ("CHANGE", true), ("THE ROUND IS", false)];
    (!anchors.is_empty()).then(|| Table { head, rows: anchors.iter().map(row).collect() })
}
