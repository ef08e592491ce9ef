//! How far a run's answer can be believed, in one word, and the worst reason for it. One rule for every report.

use serde::Serialize;
use terms::finding::{CellFinding, Compared, ControlAction, Findings, WithInterval};

use crate::evidence::{count, count_of, predicted};
use crate::figure::{Spread, spread};
use crate::grid::{Grid, State};

/// Rounds from which an interval is worth more than the round that it lacks: with two, one odd round is half of all.
const FEW_ROUNDS: u32 = 3;
/// Figures flagged, or comparisons undecided, beyond which an answer rests on the lesser part: one in four.
const MANY: usize = 4;
/// An interval that reaches so far beyond its value leaves a rate without a second digit.
const WIDE: f64 = 1.25;
/// An interval that reaches so far leaves a rate without its first digit: what is said of it may be wrong in its direction.
const VAGUE: f64 = 2.0;

/// How far an answer can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// It may be wrong in its direction.
    Low,
    /// Its direction holds, as far as is known; figures may be off.
    Medium,
    /// Nothing that is looked for speaks against it.
    High,
}

impl Level {
    /// As it is printed.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The level and why it is no higher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Confidence {
    pub(crate) level: Level,
    pub(crate) because: String,
}

impl Confidence {
    /// `medium: 3 of 16 comparisons are undecided`.
    pub(crate) fn words(&self) -> String {
        format!("{}: {}", self.level.word(), self.because)
    }
}

/// What is counted of a run.
struct Counts {
    figures: usize,
    flagged: usize,
    doubtful: usize,
    missing: usize,
    compared: usize,
    open: usize,
    rounds: u32,
    unsettled: u32,
    windows: u32,
    drift: Option<f64>,
    widest: Option<WithInterval>,
    vague: usize,
}

/// The confidence of a run; `None` where it has no figure.
pub(crate) fn of(grid: &Grid) -> Option<Confidence> {
    let counts = counts(grid);
    if counts.figures == 0 {
        return None;
    }
    let low = low(grid.findings, &counts).map(|because| Confidence { level: Level::Low, because });
    let medium = || medium(grid.findings, &counts).map(|because| Confidence { level: Level::Medium, because });
    Some(low.or_else(medium).unwrap_or_else(|| Confidence {
        level: Level::High,
        because: format!(
            "{}, {}",
            count(counts.rounds, "round"),
            match counts.compared {
                0 => "no figure is flagged",
                _ => "no figure is flagged, and nothing is undecided",
            }
        ),
    }))
}

fn low(findings: &Findings, counts: &Counts) -> Option<String> {
    let is_translated = findings.emulator().is_some_and(|by| by != "kvm") && findings.provenance.cpu.is_none();
    if is_translated {
        return Some(
            "the processor is emulated by the clock of this machine: layers that compute look far too slow".into(),
        );
    }
    let sure = |of: &CellFinding| of.throughput.or(of.iops).is_some_and(|of| of.low.is_some());
    if counts.rounds < 2 && !findings.cells.iter().any(sure) {
        return Some("one round has no interval".into());
    }
    if let Some(widest) = counts.widest.filter(|_| counts.vague > 0) {
        return Some(format!(
            "the widest 95 % interval is {}, and {} of {} are not known to a factor of {VAGUE}",
            spread(&widest),
            counts.vague,
            count_of(counts.figures, "figure")
        ));
    }
    if let Some(drift) = counts.drift {
        return Some(format!("the bare drive changed by up to {:.0} % within a round", drift * 100.0));
    }
    if counts.doubtful > 0 {
        return Some(format!("{} above what the drives can do", are(counts.doubtful, "figure")));
    }
    if counts.flagged * MANY > counts.figures {
        return Some(format!("{} of {} are flagged", counts.flagged, count_of(counts.figures, "figure")));
    }
    (counts.open * MANY > counts.compared)
        .then(|| format!("{} of {} are undecided", counts.open, count_of(counts.compared, "comparison")))
}

fn medium(findings: &Findings, counts: &Counts) -> Option<String> {
    if let Some(cpu) = findings.provenance.cpu {
        return Some(format!("a virtual clock is one core of {cpu}, without cache misses or waiting between cores"));
    }
    if counts.missing > 0 {
        return Some(format!("{} missing", are(counts.missing, "figure")));
    }
    if counts.open > 0 {
        return Some(format!("{} undecided", are(counts.open, "comparison")));
    }
    if counts.flagged > 0 {
        return Some(format!("{} flagged", are(counts.flagged, "figure")));
    }
    if let Some(widest) = counts.widest.filter(|of| counts.compared == 0 && reach(of) > WIDE) {
        return Some(format!("the widest 95 % interval is {}", spread(&widest)));
    }
    if counts.rounds < FEW_ROUNDS {
        return Some(format!("only {}", count_of(counts.rounds as usize, "round")));
    }
    (counts.unsettled > 0).then(|| {
        format!("{} of {} windows are too short to check for a steady state", counts.unsettled, counts.windows)
    })
}

fn counts(grid: &Grid) -> Counts {
    let findings = grid.findings;
    let states: Vec<State> = (0..grid.workloads().len()).flat_map(|workload| grid.states(workload)).collect();
    let measured =
        || states.iter().filter_map(|state| if let State::Measured(of, _) = state { Some(*of) } else { None });
    let estimates = || measured().filter_map(|of| of.throughput.or(of.iops));
    let first = grid.stacks().first().map_or("", |stack| stack.slug.as_str());
    let beside = || findings.comparisons.iter().filter(|of| of.other == first);
    let odd = findings.controls.iter().filter(|control| control.action == ControlAction::Flagged);
    let steady = || findings.cells.iter().map(|cell| cell.steady);
    Counts {
        figures: measured().count(),
        flagged: measured().filter(|of| !of.guards.is_empty()).count(),
        doubtful: findings.cells.iter().filter(|cell| predicted::doubts(findings, cell).next().is_some()).count(),
        missing: states.len() - measured().count(),
        compared: beside().count(),
        open: beside().filter(|of| of.verdict == Compared::CannotTell).count(),
        rounds: estimates().map(|of| of.rounds).min().unwrap_or(0),
        unsettled: steady().map(|of| of.unknown).sum(),
        windows: steady().map(|of| of.steady + of.unsteady + of.unknown).sum(),
        drift: odd.filter_map(|control| control.drift).map(f64::abs).reduce(f64::max),
        widest: estimates().max_by(|a, b| reach(a).total_cmp(&reach(b))),
        vague: estimates().filter(|of| reach(of) > VAGUE).count(),
    }
}

/// The farther end of an interval as a multiple of its value, or the value as one of it; 1 without an interval.
fn reach(of: &WithInterval) -> f64 {
    match Spread::of(of) {
        Spread::Unknown => 1.0,
        Spread::Percent(percent) => 1.0 + percent / 100.0,
        Spread::Factor(factor) => factor,
    }
}

/// `1 figure is`, `3 figures are`.
fn are(number: usize, noun: &str) -> String {
    format!("{} {}", count_of(number, noun), if number == 1 { "is" } else { "are" })
}
