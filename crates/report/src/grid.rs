//! The study's grid: every stack against every workload, none left out, and what is known of each.

use std::borrow::Cow;

use terms::finding::{Estimate, Finding, Findings, Verdict};
use terms::record::StackEntry;
use terms::workload::Workload;

use crate::figure::Measure;

/// The grid of a study.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    /// What it shows.
    pub(crate) findings: &'a Findings,
    /// Titles of the workloads, each once.
    pub(crate) titles: Vec<String>,
}

/// What is known of one cell.
#[derive(Debug, Clone)]
pub(crate) enum State<'a> {
    /// A figure, and the finding it stands in.
    Measured(&'a Finding, Estimate),
    /// It ran without fault and never settled: the range that was seen.
    Unsteady(Cow<'a, str>),
    /// It ran and the number may not be believed, and why.
    Failed(Cow<'a, str>),
    /// It cannot be built here: what is missing and how to get it.
    Missing(Cow<'a, str>),
    /// It was not run.
    NotRun,
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
    /// Its interval is above every other.
    Clear,
    /// Its interval meets another.
    Overlaps,
    /// There are no intervals to compare.
    Unknown,
    /// No other stack has a figure.
    Alone,
}

impl<'a> Grid<'a> {
    /// The grid of these findings.
    pub(crate) fn new(findings: &'a Findings) -> Self {
        let workloads = &findings.provenance.workloads;
        let plain: Vec<String> = workloads.iter().map(title).collect();
        let titles = plain.iter().zip(workloads).map(|(text, workload)| {
            let twice = plain.iter().filter(|other| *other == text).count() > 1;
            if twice { format!("{text} ({})", workload.name) } else { text.clone() }
        });
        Self { findings, titles: titles.collect() }
    }

    /// The stacks in the study's order.
    pub(crate) fn stacks(&self) -> &'a [StackEntry] {
        &self.findings.provenance.stacks
    }

    /// The workloads in the study's order.
    pub(crate) fn workloads(&self) -> &'a [Workload] {
        &self.findings.provenance.workloads
    }

    /// The finding of a cell, if there is one.
    pub(crate) fn finding(&self, stack: usize, workload: usize) -> Option<&'a Finding> {
        let slug = &self.stacks()[stack].slug;
        let name = self.workloads()[workload].name.as_str();
        self.findings.cells.iter().find(|cell| &cell.stack == slug && cell.workload == name)
    }

    /// What is known of a cell.
    pub(crate) fn state(&self, stack: usize, workload: usize) -> State<'a> {
        let missing = self.stacks()[stack].missing.as_ref();
        let Some(finding) = self.finding(stack, workload) else {
            return missing.map_or(State::NotRun, |missing| State::Missing(remedy(&missing.what, &missing.remedy)));
        };
        match &finding.verdict {
            Verdict::Measured => match figure(finding, Measure::of(&self.workloads()[workload])) {
                Some(estimate) => State::Measured(finding, estimate),
                None => State::Failed(Cow::Borrowed("it ran, and no throughput was kept")),
            },
            Verdict::Unsteady(why) => State::Unsteady(Cow::Borrowed(why)),
            Verdict::Failed(why) => State::Failed(Cow::Borrowed(why)),
            Verdict::Missing(_) if missing.is_some_and(|missing| !missing.remedy.is_empty()) => {
                let missing = missing.expect("the guard has just looked");
                State::Missing(remedy(&missing.what, &missing.remedy))
            }
            Verdict::Missing(why) => State::Missing(Cow::Borrowed(why)),
            Verdict::NotRun => State::NotRun,
        }
    }

    /// The states of a workload, one for each stack.
    pub(crate) fn states(&self, workload: usize) -> Vec<State<'a>> {
        (0..self.stacks().len()).map(|stack| self.state(stack, workload)).collect()
    }

    /// Who has the highest figure, if any stack has one. Among equals the first.
    pub(crate) fn leader(&self, workload: usize) -> Option<Leader> {
        let figures: Vec<(usize, Estimate)> = self
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
        let lead = match best.1.low {
            _ if others.is_empty() => Lead::Alone,
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
fn figure(finding: &Finding, measure: Measure) -> Option<Estimate> {
    match measure {
        Measure::Rate => finding.throughput,
        Measure::Iops => finding.iops,
    }
}

/// A workload in words, with its flushes.
pub(crate) fn title(workload: &Workload) -> String {
    match workload.fsync_every {
        None | Some(0) => workload.describe(),
        Some(1) => format!("{} fsync each", workload.describe()),
        Some(every) => format!("{} fsync/{every}", workload.describe()),
    }
}
