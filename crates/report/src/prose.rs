//! Sentences that only state facts: the label of emulated rates, who is highest where, what has no figure, how
//! to run it again.

use terms::command::quote;
use terms::finding::Findings;

use crate::answer;
use crate::evidence::{believe, count_of, hosts, predicted};
use crate::figure::Measure;
use crate::grid::{Grid, Lead, State};
use crate::style::Style;

/// The label that rates carry when the machine is emulated.
pub(crate) fn label(findings: &Findings) -> Option<String> {
    findings.emulation().map(|by| emulated(&by))
}

/// The same for what emulates it, which may be empty.
pub(crate) fn emulated(by: &str) -> String {
    let by = if by.is_empty() { String::new() } else { format!(" ({by})") };
    format!("rates under emulation{by}: good for comparing stacks, not for real drives")
}

/// What the command line made of the lab's drives; empty where they are the study's.
pub(crate) fn lab_drives(findings: &Findings) -> String {
    let made = findings.provenance.policy().lab_drives;
    made.map(|kind| format!(", drives of the lab made {}", kind.many())).unwrap_or_default()
}

/// How long loads settled: as asked for, or from that to the longest.
pub(crate) fn settling(findings: &Findings) -> String {
    let asked = findings.provenance.settle;
    let longest = findings.cells.iter().filter_map(|cell| cell.steady.settled).max();
    longest.map_or_else(|| asked.to_string(), |longest| format!("{asked} to {longest}"))
}

/// What figures and their intervals are of. Under a virtual clock a single round has the interval of its window.
pub(crate) fn figures(findings: &Findings) -> &'static str {
    let figures = || findings.cells.iter().filter_map(|cell| cell.throughput);
    let many = figures().any(|figure| figure.rounds > 1);
    let windows = figures().any(|figure| figure.rounds == 1 && figure.low.is_some());
    match (many, windows) {
        (true, true) => "geometric mean, 95 % interval between rounds or of one window",
        (true, false) => "geometric mean and 95 % interval between rounds",
        (false, true) => "one round and the 95 % interval of its window",
        (false, false) => "one round",
    }
}

/// A sentence, and the section of the page that has the evidence for it.
pub(crate) struct Sentence {
    /// What is said.
    pub(crate) text: String,
    /// The name of the section.
    pub(crate) evidence: &'static str,
}

/// The section of comparisons.
pub(crate) const RATIOS: &str = "ratios";
/// The section of figures of each workload.
pub(crate) const WORKLOADS: &str = "workloads";
/// The section of the table of all figures.
pub(crate) const FIGURES: &str = "figures";

/// The sentences of a short answer: who is highest where is left out where every stack is compared by name, and without
/// `leaders` where any is compared.
pub(crate) fn short(grid: &Grid, leaders: bool) -> Vec<String> {
    let sentences = answer(grid);
    let is_compared = sentences.iter().any(|sentence| sentence.evidence == RATIOS);
    let is_enough = is_compared && !(leaders && answer::is_crowd(grid));
    let told = sentences.into_iter().filter(|sentence| !is_enough || sentence.evidence != WORKLOADS);
    told.map(|sentence| sentence.text).collect()
}

/// The sentences as running text.
pub(crate) fn summary(grid: &Grid) -> String {
    answer(grid).into_iter().map(|sentence| sentence.text).collect::<Vec<_>>().join(" ")
}

/// A few sentences: whether the run is unfinished; what hosts keep beside one another and how predictions came; how each
/// stack compares with the first; who is ahead of all others in which workload; and what has no figure.
pub(crate) fn answer(grid: &Grid) -> Vec<Sentence> {
    let (alone, leaders): (Vec<_>, Vec<_>) = (0..grid.workloads().len())
        .filter_map(|workload| grid.leader(workload).map(|leader| (workload, leader.stack, leader.lead)))
        .partition(|leader| leader.2 == Lead::Alone);
    let from = |evidence| move |text| Sentence { text, evidence };
    let compared = answer::sentences(grid);
    let mut out: Vec<Sentence> = unfinished(grid).into_iter().map(from(FIGURES)).collect();
    // What the study was made for comes before stacks beside the first.
    out.extend(hosts::sentence(grid.findings).map(from("hosts")));
    out.extend(predicted::sentence(grid.findings).map(from("foretold")));
    out.extend(compared.into_iter().map(from(RATIOS)));
    let rest = match grid.stacks() {
        _ if leaders.is_empty() && alone.is_empty() => vec!["Nothing was measured.".to_owned()],
        [_] => vec![figures_of_one(grid)],
        // The highest of one is none.
        _ if leaders.is_empty() => vec!["No workload has figures of two stacks.".to_owned()],
        _ => vec![highest(grid, &leaders)],
    };
    out.extend(rest.into_iter().map(from(WORKLOADS)));
    out.extend(without_figure(grid).map(from(FIGURES)));
    out
}

/// So many figures of the only stack are told; the table has them all.
const TOLD: usize = 4;

/// That cells were not run, and where all of the first stack's were not, that nothing is compared with it.
fn unfinished(grid: &Grid) -> Option<String> {
    let cells = grid.stacks().len() * grid.workloads().len();
    let open = |stack: usize| {
        let workloads = 0..grid.workloads().len();
        workloads.filter(|workload| matches!(grid.state(stack, *workload), State::NotRun)).count()
    };
    let not_run: usize = (0..grid.stacks().len()).map(open).sum();
    let first = grid.stacks().first().filter(|_| grid.stacks().len() > 1 && open(0) == grid.workloads().len());
    let first = first.map_or_else(String::new, |first| {
        format!(", among them all of the baseline {}: nothing is compared with it", first.name)
    });
    let were = if not_run == 1 { "was" } else { "were" };
    (not_run > 0).then(|| format!("Unfinished: {not_run} of {} {were} not run{first}.", count_of(cells, "cell")))
}

/// The figures of the only stack.
fn figures_of_one(grid: &Grid) -> String {
    let style = Style::default();
    let figure = |(at, title): (usize, &String)| match grid.state(0, at) {
        State::Measured(_, estimate) => {
            let measure = Measure::of(grid.workloads()[at]);
            Some(format!("{title} {} {}", measure.number(estimate.value, &style), measure.unit(&style)))
        }
        _ => None,
    };
    let figures: Vec<String> = grid.titles.iter().enumerate().filter_map(figure).collect();
    let more = figures.len().saturating_sub(TOLD);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!("{}{more}.", figures[..figures.len().min(TOLD)].join("; "))
}

/// Who is faster than all others where, stacks in the study's order. The highest of figures that may be equal, or that are
/// flagged, is nobody's merit.
fn highest(grid: &Grid, leaders: &[(usize, usize, Lead)]) -> String {
    if leaders.iter().all(|leader| leader.2 == Lead::Unknown) {
        return "Which stack is fastest cannot be told without intervals.".to_owned();
    }
    let clear: Vec<_> = leaders.iter().filter(|leader| leader.2 == Lead::Clear).collect();
    let is_whole = leaders.iter().all(|l| grid.states(l.0).iter().all(|state| matches!(state, State::Measured(..))));
    let others = if is_whole { "every other stack" } else { "every other stack with a figure" };
    let parts: Vec<String> = grid
        .stacks()
        .iter()
        .enumerate()
        .filter_map(|(stack, entry)| {
            let led: Vec<usize> = clear.iter().filter(|l| l.1 == stack).map(|l| l.0).collect();
            (!led.is_empty()).then(|| format!("{} in {}", entry.name, places(grid, &led)))
        })
        .collect();
    match leaders.len() - clear.len() {
        _ if clear.is_empty() => format!("No stack is certainly faster than {others} in any workload."),
        0 => format!("Faster than {others}: {}.", parts.join("; ")),
        open => format!("Faster than {others}: {}; in {} no stack is.", parts.join("; "), count_of(open, "workload")),
    }
}

/// What the mark of the highest says.
pub(crate) fn highest_means(grid: &Grid) -> &'static str {
    if grid.is_ranked() {
        "highest, and faster than every other stack in comparisons paired within rounds"
    } else {
        "highest, and its interval is clear of every other stack’s"
    }
}

/// Workloads by title, or how many where they are more than three.
fn places(grid: &Grid, workloads: &[usize]) -> String {
    let all = grid.workloads().len();
    match workloads {
        _ if workloads.len() == all && all == 2 => "both workloads".to_owned(),
        _ if workloads.len() == all && all > 2 => format!("all {all} workloads"),
        _ if workloads.len() > 3 => format!("{} of {all} workloads", workloads.len()),
        [rest @ .., last] if !rest.is_empty() => {
            let rest: Vec<&str> = rest.iter().map(|&at| grid.titles[at].as_str()).collect();
            format!("{} and {}", rest.join(", "), grid.titles[*last])
        }
        _ => workloads.iter().map(|&at| grid.titles[at].clone()).collect(),
    }
}

/// How many cells that were run have no figure, if any.
fn without_figure(grid: &Grid) -> Option<String> {
    let mut counts = [0_usize; 3];
    for workload in 0..grid.workloads().len() {
        for state in grid.states(workload) {
            match state {
                State::Measured(..) | State::NotRun => {}
                State::Unsteady(..) => counts[0] += 1,
                State::Failed(_) => counts[1] += 1,
                State::Missing(_) => counts[2] += 1,
            }
        }
    }
    let words = ["never settled", "failed", "could not be built here"];
    let parts: Vec<String> =
        counts.iter().zip(words).filter(|(n, _)| **n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let cells = grid.stacks().len() * grid.workloads().len();
    (!parts.is_empty()).then(|| format!("Of {cells} cells, {}.", parts.join(", ")))
}

/// Digits of a checksum that people compare by eye.
const DIGITS: usize = 12;

/// That the command reads a study that may have changed, and what tells whether it has. [`kept_path`] goes below it.
pub(crate) fn kept(findings: &Findings) -> String {
    let sum = &findings.provenance.study_sha256;
    let begin = sum.get(..DIGITS).unwrap_or(sum);
    format!(
        "The command reads its study anew, which may have changed since. The text that was run, with a SHA-256 that \
         begins with {begin}, is kept in the run’s directory:"
    )
}

/// The text of the study that was run, below the directory of all runs.
pub(crate) fn kept_path(findings: &Findings) -> String {
    quote(&format!("{}/study.toml", findings.provenance.run))
}

/// How to go on where cells were not run, or not as often as asked for: the run was stopped, or its budget was spent.
pub(crate) fn resume(grid: &Grid) -> Option<String> {
    let states = (0..grid.workloads().len()).flat_map(|workload| grid.states(workload));
    let open = states.filter(|state| matches!(state, State::NotRun)).count();
    let cells = if open == 1 { "1 cell was".to_owned() } else { format!("{open} cells were") };
    let open = (open > 0).then(|| format!("{cells} not run"));
    let few = believe::fewer(grid.findings)
        .map(|had| format!("measured cells have {had} of {} rounds", believe::asked(grid.findings)));
    let parts: Vec<String> = open.into_iter().chain(few).collect();
    let parts = parts.join(", and ");
    let command = &grid.findings.provenance.command;
    let of_directory = ["bench", "--dir"].iter().any(|word| command.iter().any(|typed| typed == word));
    let then = match grid.findings.provenance.policy().budget {
        _ if of_directory => "run it again",
        Some(_) => "the same command with --resume and a larger --budget goes on with this run",
        None => "the same command with --resume goes on with this run",
    };
    (!parts.is_empty()).then(|| format!("{parts}: {then}"))
}
