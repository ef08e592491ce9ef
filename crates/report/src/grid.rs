//! The study's grid: every stack against every workload, none left out, and what is known of each.

use std::borrow::Cow;

use terms::finding::{CellFinding, Findings, Verdict, WithInterval};
use terms::record::StackEntry;
use terms::workload::{Load, Workload};

use crate::evidence::predicted;
use crate::figure::Measure;

/// The grid of a study.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    /// What it shows.
    pub(crate) findings: &'a Findings,
    /// Titles of the workloads, each once.
    pub(crate) titles: Vec<String>,
    /// The workloads that it shows, in the study's order.
    workloads: Vec<&'a Workload>,
}

/// What is known of one cell.
#[derive(Debug, Clone)]
pub(crate) enum State<'a> {
    /// A figure, and the finding it stands in.
    Measured(&'a CellFinding, WithInterval),
    /// It ran without fault and never settled: a range and no number. The finding, and what was seen.
    Unsteady(&'a CellFinding, Cow<'a, str>),
    /// It ran and the number may not be believed, and why.
    Failed(Cow<'a, str>),
    /// It cannot be built here: what is missing and how to get it.
    Missing(Cow<'a, str>),
    /// It was not run.
    NotRun,
}

impl State<'_> {
    /// The word that stands in place of a figure; `None` where there is one.
    pub(crate) const fn word(&self) -> Option<&'static str> {
        match self {
            Self::Measured(..) => None,
            Self::Unsteady(..) => Some("no steady state"),
            Self::Failed(_) => Some("failed"),
            Self::Missing(_) => Some("missing"),
            Self::NotRun => Some("not run"),
        }
    }
}

/// Who has the highest throughput in a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leader {
    /// Its place among the stacks.
    pub(crate) stack: usize,
    /// How it stands to the others.
    pub(crate) lead: Lead,
}

/// How the highest figure stands to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lead {
    /// It is faster than every other by the corrected comparisons; in findings without ranks, its interval is above
    /// every other.
    Clear,
    /// It is not distinguished from another; in findings without ranks, its interval meets another.
    Overlaps,
    /// There are no intervals to compare.
    Unknown,
    /// A guard or what the drives can do speaks against it.
    Flagged,
    /// No other stack has a figure.
    Alone,
}

impl<'a> Grid<'a> {
    /// The grid of these findings.
    pub(crate) fn new(findings: &'a Findings) -> Self {
        Self::of(findings, findings.provenance.workloads.iter().collect())
    }

    /// The grid without the points of load curves, which are shown as curves.
    pub(crate) fn without_points(findings: &'a Findings) -> Self {
        let is_point = |work: &&Workload| match &work.load {
            Load::Share { of, .. } => findings.curves.iter().any(|curve| {
                curve.workload == of.as_str() && curve.points.iter().any(|point| point.workload == work.name.as_str())
            }),
            _ => false,
        };
        Self::of(findings, findings.provenance.workloads.iter().filter(|work| !is_point(work)).collect())
    }

    /// The grid of some workloads.
    fn of(findings: &'a Findings, workloads: Vec<&'a Workload>) -> Self {
        Self { findings, titles: Workload::titles(&workloads), workloads }
    }

    /// The stacks in the study's order.
    pub(crate) fn stacks(&self) -> &'a [StackEntry] {
        &self.findings.provenance.stacks
    }

    /// The workloads in the study's order.
    pub(crate) fn workloads(&self) -> &[&'a Workload] {
        &self.workloads
    }

    /// The finding of a cell, if there is one.
    pub(crate) fn finding(&self, stack: usize, workload: usize) -> Option<&'a CellFinding> {
        let slug = &self.stacks()[stack].slug;
        let name = self.workloads()[workload].name.as_str();
        self.findings.cell(slug, name)
    }

    /// What is known of a cell.
    pub(crate) fn state(&self, stack: usize, workload: usize) -> State<'a> {
        let missing = self.stacks()[stack].missing.as_ref();
        let Some(finding) = self.finding(stack, workload) else {
            return missing.map_or(State::NotRun, |missing| State::Missing(remedy(&missing.what, &missing.remedy)));
        };
        match &finding.verdict {
            Verdict::Measured => match figure(finding, Measure::of(self.workloads()[workload])) {
                Some(estimate) => State::Measured(finding, estimate),
                None => State::Failed(Cow::Borrowed("it ran, and no throughput was kept")),
            },
            Verdict::Unsteady(why) => State::Unsteady(finding, Cow::Borrowed(why)),
            Verdict::Failed(why) => State::Failed(Cow::Borrowed(why)),
            Verdict::Missing(_) if missing.is_some_and(|missing| !missing.remedy.is_empty()) => {
                let missing = missing.expect("the guard has just looked");
                State::Missing(remedy(&missing.what, &missing.remedy))
            }
            Verdict::Missing(why) => State::Missing(Cow::Borrowed(why)),
            Verdict::NotRun => State::NotRun,
        }
    }

    /// Does a guard or what the drives can do speak against this figure?
    pub(crate) fn is_flagged(&self, stack: usize, workload: usize) -> bool {
        let State::Measured(finding, _) = self.state(stack, workload) else { return false };
        !finding.guards.is_empty() || predicted::doubts(self.findings, finding).next().is_some()
    }

    /// Have comparisons of pairs made ranks?
    pub(crate) fn is_ranked(&self) -> bool {
        self.findings.cells.iter().any(|finding| finding.rank.is_some())
    }

    /// The states of a workload, one for each stack.
    pub(crate) fn states(&self, workload: usize) -> Vec<State<'a>> {
        (0..self.stacks().len()).map(|stack| self.state(stack, workload)).collect()
    }

    /// Who has the highest figure, if any stack has one. Among equals the first. Nobody leads where a path was lost on
    /// purpose.
    pub(crate) fn leader(&self, workload: usize) -> Option<Leader> {
        if self.workloads[workload].path_lost.is_some() {
            return None;
        }
        let figures: Vec<(usize, WithInterval)> = self
            .states(workload)
            .into_iter()
            .enumerate()
            .filter_map(
                |(stack, state)| if let State::Measured(_, estimate) = state { Some((stack, estimate)) } else { None },
            )
            .collect();
        let mut best = *figures.first()?;
        for figure in &figures {
            if figure.1.value > best.1.value {
                best = *figure;
            }
        }
        let others: Vec<Option<f64>> = figures.iter().filter(|f| f.0 != best.0).map(|f| f.1.high).collect();
        let rank = self.finding(best.0, workload).and_then(|finding| finding.rank);
        let lead = match best.1.low {
            _ if others.is_empty() => Lead::Alone,
            _ if self.is_flagged(best.0, workload) => Lead::Flagged,
            _ if rank.is_some_and(|rank| rank.worst == 1) => Lead::Clear,
            _ if self.is_ranked() => Lead::Overlaps,
            Some(low) if others.iter().all(|high| high.is_some_and(|high| low > high)) => Lead::Clear,
            Some(_) if others.iter().all(Option::is_some) => Lead::Overlaps,
            _ => Lead::Unknown,
        };
        Some(Leader { stack: best.0, lead })
    }

    /// Does this stack's interval stand above every other in this workload?
    pub(crate) fn is_clear_best(&self, stack: usize, workload: usize) -> bool {
        self.leader(workload) == Some(Leader { stack, lead: Lead::Clear })
    }
}

/// What is missing, and the command that brings it.
fn remedy(what: &str, remedy: &str) -> Cow<'static, str> {
    Cow::Owned(format!("{what}; to get it: {remedy}"))
}

/// The estimate that a workload is told by.
fn figure(finding: &CellFinding, measure: Measure) -> Option<WithInterval> {
    match measure {
        Measure::Rate => finding.throughput,
        Measure::Iops | Measure::Files => finding.iops,
    }
}
