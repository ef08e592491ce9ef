//! Can it be believed: rounds and what an interval speaks of, steady windows, the bare drive, comparisons, SNIA.

use terms::design::Replicate;
use terms::finding::{Compared, ControlAction, ControlFinding, Findings, SniaFinding, Steady};

use super::{count, signed_percent, span};
use crate::listing::{Group, Listing, MISSING};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// What is known of how far the figures can be believed: what, and its value. Empty for findings of old.
pub(crate) fn facts(findings: &Findings) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut tell = |what, text: Option<String>| facts.extend(text.map(|text| (what, text)));
    tell("rounds", rounds(findings));
    tell("windows", windows(findings));
    tell("bare drive", controls(&findings.controls));
    tell("comparisons", comparisons(findings));
    tell("open", open(findings));
    tell("SNIA", snia(findings));
    tell("prediction", predicted(findings));
    facts
}

/// How predictions fared, or why there are none.
fn predicted(findings: &Findings) -> Option<String> {
    let card = findings.predicted.as_ref()?;
    if let Some(why) = &card.why_not {
        return Some(format!("nothing: {why}"));
    }
    let scored: Vec<f64> = card.cells.iter().filter_map(|score| score.measured).collect();
    let inside =
        card.cells.iter().filter(|score| score.measured.is_some_and(|rate| score.predicted.ninety.holds(rate)));
    let doubts = card.cells.iter().filter(|score| score.doubts().next().is_some()).count();
    let more = if doubts == 0 { String::new() } else { format!("; {} than the drives can do", are(doubts)) };
    Some(format!("{} of {} figures inside the predicted 90 % interval{more}", inside.count(), scored.len()))
}

/// `1 is more`, `3 are more`.
fn are(number: usize) -> String {
    if number == 1 { "1 is more".to_owned() } else { format!("{number} are more") }
}

/// How many rounds were asked for: `5`, `5 to 12`.
pub(crate) fn asked(findings: &Findings) -> String {
    let policy = findings.provenance.policy();
    let rounds = findings.provenance.rounds;
    if policy.is_sequential() { format!("{rounds} to {}", policy.most_rounds()) } else { rounds.to_string() }
}

/// Rounds that measured cells have, where one has fewer than every cell was to have: `1`, `1 to 2`.
pub(crate) fn fewer(findings: &Findings) -> Option<String> {
    // Who gives a run a time has asked for no more rounds than there is time for.
    if findings.provenance.policy().budget.is_some() {
        return None;
    }
    let had = || findings.cells.iter().filter_map(|cell| cell.throughput.or(cell.iops)).map(|figure| figure.rounds);
    had().any(|had| had < findings.provenance.rounds).then(|| span(had())).flatten()
}

/// How many rounds were asked for, and how many there are where the run is unfinished: `3`, `1 of 2, unfinished`.
pub(crate) fn rounds_of(findings: &Findings) -> String {
    let asked = asked(findings);
    fewer(findings).map_or(asked.clone(), |had| format!("{had} of {asked}, unfinished"))
}

/// What the replicates were.
pub(crate) const fn replicate(replicate: Replicate) -> &'static str {
    match replicate {
        Replicate::Rebuild => "rebuild: every stack is rebuilt in each round",
        Replicate::Slices => "slices: all stacks side by side on slices of every drive, which change places",
        Replicate::Single => "single: n = 1 build, stacks are not compared",
    }
}

/// How many rounds there were, and how many there might have been.
fn rounds(findings: &Findings) -> Option<String> {
    let policy = findings.provenance.policy.as_ref()?;
    let had = findings.cells.iter().filter_map(|cell| cell.throughput.or(cell.iops)).map(|figure| figure.rounds);
    let had = span(had).map_or_else(String::new, |had| format!("{had} for each figure; "));
    let until = if policy.is_sequential() { format!(", until ±{}", policy.precision) } else { String::new() };
    Some(format!("{had}{} asked for{until}; {}", asked(findings), replicate(policy.replicate)))
}

/// How many windows were steady.
fn windows(findings: &Findings) -> Option<String> {
    let mut all = Steady::default();
    for steady in findings.cells.iter().map(|cell| cell.steady) {
        all.steady += steady.steady;
        all.unsteady += steady.unsteady;
        all.unknown += steady.unknown;
        all.extended += steady.extended;
    }
    let total = all.steady + all.unsteady + all.unknown;
    (total > 0).then(|| format!("of {total}: {}", super::ranking::windows(&all)))
}

/// What became of a round, where something did.
pub(crate) const fn action(action: ControlAction) -> &'static str {
    match action {
        ControlAction::Kept => "kept",
        ControlAction::Flagged => "flagged",
        ControlAction::Discarded => "discarded",
        ControlAction::Unknown => "an end is missing",
    }
}

/// The bare drive from the beginning to the end of each round, in a sentence.
fn controls(controls: &[ControlFinding]) -> Option<String> {
    if controls.is_empty() {
        return None;
    }
    let drifts: Vec<f64> = controls.iter().filter_map(|control| control.drift).collect();
    let low = drifts.iter().copied().fold(f64::INFINITY, f64::min);
    let high = drifts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut text = format!("measured first and last in {}", count(controls.len() as u64, "round"));
    if !drifts.is_empty() {
        let (low, high) = (signed_percent(low), signed_percent(high));
        let range = if low == high { low } else { format!("{low} to {high}") };
        text.push_str(&format!("; its speed changed by {range} within a round"));
    }
    let odd = controls.iter().filter(|control| control.action != ControlAction::Kept).map(|control| {
        let drift = control.drift.map(|drift| format!(" ({})", signed_percent(drift))).unwrap_or_default();
        format!("; round {}{drift}: {}", control.round, action(control.action))
    });
    Some(odd.fold(text, |text, odd| text + &odd))
}

/// The bare drive round by round, as a table for the page.
pub(crate) fn control_table(findings: &Findings) -> Option<Listing> {
    let missing = || MISSING.to_owned();
    let rate = |rate: Option<f64>| rate.map_or_else(missing, |rate| quantity::rate(rate, &Style::default()));
    let row = |control: &ControlFinding| {
        vec![
            control.round.to_string(),
            rate(control.first),
            rate(control.last),
            control.drift.map_or_else(missing, signed_percent),
            action(control.action).to_owned(),
        ]
    };
    Listing {
        title: "The bare drive in each round".to_owned(),
        columns: vec![
            ("Round", Align::Left),
            ("At the beginning", Align::Right),
            ("At the end", Align::Right),
            ("Change", Align::Right),
            ("The round is", Align::Left),
        ],
        groups: vec![Group { title: String::new(), rows: findings.controls.iter().map(row).collect() }],
        ..Listing::default()
    }
    .where_missing("it could not be measured")
    .if_any()
}

/// How many comparisons are decided.
fn comparisons(findings: &Findings) -> Option<String> {
    let all = findings.comparisons.len();
    if all == 0 {
        return None;
    }
    let open = || findings.comparisons.iter().filter(|pair| pair.verdict == Compared::CannotTell);
    let margin = findings.provenance.policy().margin;
    let more = open().filter_map(|pair| pair.more_rounds).max();
    let more = more.map(|more| format!(" (up to about {})", count(more, "more round"))).unwrap_or_default();
    let left = open().count();
    Some(format!(
        "{} of {all} pairs decided, {left} open{more}; corrected for their number (Holm), equivalent means within \
         ±{margin}",
        all - left
    ))
}

/// Cells that want more rounds.
fn open(findings: &Findings) -> Option<String> {
    let open = findings.cells.iter().filter(|cell| cell.open).count();
    (open > 0).then(|| {
        let want = if open == 1 { "1 cell wants".to_owned() } else { format!("{open} cells want") };
        format!("{want} more rounds: an interval is wide or a comparison undecided")
    })
}

/// SNIA's verdict.
fn snia(findings: &Findings) -> Option<String> {
    let all: Vec<SniaFinding> = findings.cells.iter().filter_map(|cell| cell.snia).collect();
    if all.is_empty() {
        return None;
    }
    let steady = all.iter().filter(|snia| snia.steady_at.is_some()).count();
    let at =
        span(all.iter().filter_map(|snia| snia.steady_at)).map(|at| format!(", at round {at}")).unwrap_or_default();
    Some(format!(
        "{steady} of {} reach its steady state over rounds{at} (five in a row within 20 % of their mean, the line \
         through them rising at most 10 %)",
        count(all.len() as u64, "cell")
    ))
}
