//! Predictions made before the run, beside what was measured.

use terms::finding::{CellFinding, Findings, Score, Scorecard};
use terms::workload::Workload;

use super::stack_name;
use crate::listing::{Group, Listing, MISSING};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Every cell that something was said of; `None` where nothing was.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let card = findings.predicted.as_ref()?;
    let group = |workload: &Workload| {
        let cells = card.cells.iter().filter(|score| score.workload == workload.name.as_str());
        let rows = cells.map(|score| row(findings, score, workload, style)).collect();
        Group { title: workload.title(), rows }
    };
    Listing {
        id: "foretold",
        title: "Predicted before the run".to_owned(),
        hint: format!(
            "Throughput as predicted at {}, before the first measurement, with its 90 % interval, and as measured: in or \
             out of it.",
            card.at
        ),
        columns: vec![
            ("Stack", Align::Left),
            ("Predicted", Align::Right),
            ("90 %", Align::Right),
            ("Measured", Align::Right),
            ("Off", Align::Right),
            ("Limit", Align::Left),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        remarks: remarks(findings, card),
        ..Listing::default()
    }
    .where_missing("the cell has no figure, or no bottleneck was probable enough to be named")
    .if_any()
}

fn row(findings: &Findings, score: &Score, workload: &Workload, style: &Style) -> Vec<String> {
    let show = |rate: f64| quantity::own(rate, workload, style);
    let missing = || MISSING.to_owned();
    let off = |ratio: f64| {
        let inside = score.measured.is_some_and(|measured| score.predicted.ninety.holds(measured));
        format!("{}, {}", super::signed_percent(ratio - 1.0), if inside { "in" } else { "out" })
    };
    vec![
        stack_name(findings, &score.stack).to_owned(),
        show(score.predicted.value),
        quantity::own_range(score.predicted.ninety.low, score.predicted.ninety.high, workload, style),
        score.measured.map_or_else(missing, |rate| quantity::own_number(rate, workload, style)),
        score.ratio().map_or_else(missing, off),
        score.bottleneck.clone().unwrap_or_else(missing),
    ]
}

/// How many figures came as predicted and which did the least, where a study asks for that: it stops at figures that are
/// too far off.
pub(crate) fn sentence(findings: &Findings) -> Option<String> {
    findings.provenance.policy().stop_beyond?;
    let scored: Vec<(&Score, f64)> =
        findings.predicted.iter().flat_map(|card| &card.cells).filter_map(|of| Some((of, of.ratio()?))).collect();
    let (far, ratio) = scored.iter().max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()))?;
    let inside = scored.iter().filter(|(of, _)| of.measured.is_some_and(|rate| of.predicted.ninety.holds(rate)));
    Some(format!(
        "Inside the predicted 90 % interval: {} of {}; farthest from its prediction: {} under {}, {}.",
        inside.count(),
        super::count_of(scored.len(), "figure"),
        stack_name(findings, &far.stack),
        super::workload_title(findings, &far.workload),
        super::signed_percent(ratio - 1.0)
    ))
}

/// So many cells are drawn; the table and the JSON have the limits of all.
const DRAWN: usize = 24;

/// Predictions with limits over them; records of old have none.
fn limited(findings: &Findings) -> impl Iterator<Item = &Score> {
    findings.predicted.iter().flat_map(|card| &card.cells).filter(|score| !score.ceilings.is_empty())
}

/// Predictions that are drawn, in their order: those that were farthest from what was measured.
pub(crate) fn drawn(findings: &Findings) -> Vec<&Score> {
    let mut all: Vec<(usize, &Score)> = limited(findings).enumerate().collect();
    let far = |score: &Score| score.ratio().map_or(0.0, |ratio| ratio.ln().abs());
    all.sort_by(|(_, a), (_, b)| far(b).total_cmp(&far(a)));
    all.truncate(DRAWN);
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, score)| score).collect()
}

/// How many are drawn, where not all are.
fn left_out(findings: &Findings) -> Option<String> {
    let all = limited(findings).count();
    (all > DRAWN).then(|| format!("Drawn are the {DRAWN} of {all} cells that were farthest from their prediction."))
}

/// Why the figure of a cell is doubtful: it is more than the drives can do.
pub(crate) fn doubts<'a>(findings: &'a Findings, of: &'a CellFinding) -> impl Iterator<Item = &'a str> {
    let cells = findings.predicted.iter().flat_map(|card| &card.cells);
    let own = cells.filter(|score| score.stack == of.stack && score.workload == of.workload);
    own.flat_map(Score::doubts).map(|flag| flag.message.as_str())
}

/// Figures that are more than the drives can do, each with its cell. What is out of its interval says so in its row, and
/// what failed where its figure would be.
fn odd(findings: &Findings, card: &Scorecard) -> Vec<String> {
    let cell = |score: &Score| {
        let title = super::workload_title(findings, &score.workload);
        format!("{}, {title}", stack_name(findings, &score.stack))
    };
    let doubts = card.cells.iter().flat_map(|score| score.doubts().map(move |flag| (score, flag)));
    doubts.map(|(score, flag)| format!("Doubtful: {}: {}", cell(score), flag.message)).collect()
}

/// What is odd, and how it fared, here and over all runs.
fn remarks(findings: &Findings, card: &Scorecard) -> Vec<String> {
    let mut remarks = odd(findings, card);
    remarks.extend(left_out(findings));
    if let Some(standing) = card.standing {
        remarks.push(format!(
            "Over {} with such predictions: {} figures, median error {:.0} %, {:.0} % inside 90 % intervals, {:.0} % \
             inside 50 %.",
            if standing.runs == 1 { "1 earlier run".to_owned() } else { format!("{} earlier runs", standing.runs) },
            standing.figures,
            standing.median_error * 100.0,
            standing.in_ninety * 100.0,
            standing.in_half * 100.0,
        ));
    }
    if card.widened > 1.0 {
        remarks.push(format!(
            "Intervals were made {:.1} times as wide as the engine had them, because earlier ones held too little.",
            card.widened
        ));
    }
    remarks.push(format!("SHA-256 of the prediction: {}", card.sha256));
    remarks
}
