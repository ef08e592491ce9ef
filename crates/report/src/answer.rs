//! What a study found, in sentences that follow from comparisons by one rule: each stack beside the first.

use terms::finding::Compared;
use terms::{MeasurePolicy, Replicate};

use crate::evidence::{count, count_of, ranking};
use crate::grid::Grid;
use crate::quantity::percent;

/// So many stacks beside the first are told one by one; of more, only the farthest.
const NAMED: usize = 4;

/// A stack beside the first: the ratios of the workloads in which it is slower or faster, and how many there are else.
pub(crate) struct Beside<'a> {
    name: &'a str,
    slower: Vec<f64>,
    faster: Vec<f64>,
    all: Vec<f64>,
    pub(crate) equal: usize,
    pub(crate) open: usize,
}

impl<'a> Beside<'a> {
    /// A stack beside the first.
    pub(crate) fn of(grid: &'a Grid, stack: usize) -> Self {
        let name = grid.stacks()[stack].name.as_str();
        let mut beside = Self { name, slower: Vec::new(), faster: Vec::new(), all: Vec::new(), equal: 0, open: 0 };
        for workload in 0..grid.workloads().len() {
            let against = ranking::against(grid, stack, 0, workload);
            beside.all.extend(against.iter().map(|(ratio, ..)| ratio.value));
            match against {
                Some((ratio, Compared::Slower, _)) => beside.slower.push(ratio.value),
                Some((ratio, Compared::Faster, _)) => beside.faster.push(ratio.value),
                Some((_, Compared::Equivalent, _)) => beside.equal += 1,
                Some((_, Compared::CannotTell, _)) => beside.open += 1,
                None => {}
            }
        }
        beside
    }

    /// Ratios of the workloads with that answer.
    pub(crate) fn ratios(&self, answer: Compared) -> &[f64] {
        match answer {
            Compared::Slower => &self.slower,
            Compared::Faster => &self.faster,
            Compared::Equivalent | Compared::CannotTell => &[],
        }
    }

    /// Is it slower or faster anywhere?
    pub(crate) fn is_moved(&self) -> bool {
        !self.slower.is_empty() || !self.faster.is_empty()
    }

    /// The lowest and the highest ratio.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let all = || self.all.iter().copied();
        all().reduce(f64::min).zip(all().reduce(f64::max))
    }

    /// Workloads in which both have a figure.
    pub(crate) fn compared(&self) -> usize {
        self.slower.len() + self.faster.len() + self.equal + self.open
    }

    /// `RAID-1 is faster in 1 of 4 workloads (1.9×) and equal in 3`.
    fn clause(&self) -> String {
        let compared = self.compared();
        let kinds = [
            ("slower", self.slower.len(), range(&self.slower)),
            ("faster", self.faster.len(), range(&self.faster)),
            ("equal", self.equal, String::new()),
            ("undecided", self.open, String::new()),
        ];
        let mut parts: Vec<String> = Vec::new();
        for (words, cells, range) in kinds.into_iter().filter(|kind| kind.1 > 0) {
            let place = match (cells == compared, parts.is_empty()) {
                (true, _) if cells > 1 => format!("all {}", count_of(compared, "workload")),
                (true, _) => "the one workload".to_owned(),
                (false, true) => format!("{cells} of {}", count_of(compared, "workload")),
                (false, false) => cells.to_string(),
            };
            parts.push(format!("{words} in {place}{range}"));
        }
        format!("{} is {}", self.name, joined(&parts))
    }
}

/// Stacks that are compared with the first.
fn others<'a>(grid: &'a Grid<'_>) -> Vec<Beside<'a>> {
    let others = (1..grid.stacks().len()).map(|stack| Beside::of(grid, stack));
    others.filter(|beside| beside.compared() > 0).collect()
}

/// Are there too many stacks for each to be told of?
pub(crate) fn is_crowd(grid: &Grid) -> bool {
    others(grid).len() > NAMED
}

/// What comparisons with the first stack say; empty where there are none.
pub(crate) fn sentences(grid: &Grid) -> Vec<String> {
    let others = others(grid);
    let Some(first) = grid.stacks().first().filter(|_| !others.is_empty()) else { return Vec::new() };
    let all: usize = others.iter().map(Beside::compared).sum();
    let open: usize = others.iter().map(|beside| beside.open).sum();
    let mut out = Vec::new();
    if !grid.findings.comparisons.iter().any(|of| of.ratio.low.is_some()) {
        let why = if grid.findings.provenance.policy().replicate == Replicate::Single {
            "each stack was built once (`replicate = \"single\"`), and another build may be faster or slower."
        } else {
            "one round has no interval. The same command with `--more 2` adds rounds."
        };
        return vec![format!("No comparison with {} is decided: {why}", first.name)];
    }
    if open == all {
        out.push(format!("No stack differs significantly from {}.", first.name));
    } else if others.len() <= NAMED {
        let clauses: Vec<String> = others.iter().map(Beside::clause).collect();
        out.push(format!("In per cent of the throughput of {}: {}.", first.name, clauses.join("; ")));
    } else {
        out.push(crowd(&first.name, &others));
    }
    if open > 0 {
        out.push(format!("Undecided: {open} of {}.{}", count_of(all, "comparison"), remedy(grid)));
    }
    out
}

/// Many stacks in one sentence: how many are slower or faster, and which the farthest.
fn crowd(first: &str, others: &[Beside<'_>]) -> String {
    let mut parts = Vec::new();
    for (answer, end) in [(Compared::Slower, "down to"), (Compared::Faster, "up to")] {
        let far = |of: &Beside<'_>| of.ratios(answer).iter().map(|ratio| ratio.ln().abs()).fold(0.0, f64::max);
        let moved: Vec<&Beside<'_>> = others.iter().filter(|of| !of.ratios(answer).is_empty()).collect();
        let Some(farthest) = moved.iter().max_by(|a, b| far(a).total_cmp(&far(b))) else { continue };
        let ratio = if answer == Compared::Slower { (-far(farthest)).exp() } else { far(farthest).exp() };
        let (noun, whose) = if parts.is_empty() { (" workload", " of its throughput") } else { ("", "") };
        parts.push(format!(
            "{} in at least one{noun} ({end} {} %{whose}: {})",
            are(moved.len(), answer.words()),
            percent(ratio),
            farthest.name
        ));
    }
    let equal = others.iter().filter(|of| of.equal == of.compared()).count();
    if equal > 0 {
        parts.push(format!("{} in all", are(equal, "equal")));
    }
    format!("Of {} compared with {first}, {}.", count_of(others.len(), "stack"), joined(&parts))
}

/// `1 is slower`, `7 are slower`.
fn are(number: usize, how: &str) -> String {
    format!("{number} {} {how}", if number == 1 { "is" } else { "are" })
}

/// How many more rounds may decide what is open. A number of rounds that no study has by itself is told and not advised.
fn remedy(grid: &Grid) -> String {
    let first = grid.stacks().first().map_or("", |stack| stack.slug.as_str());
    let shown = grid.findings.comparisons.iter().filter(|of| of.other == first && of.verdict == Compared::CannotTell);
    let most = MeasurePolicy::default().max_rounds;
    let (near, far): (Vec<u32>, Vec<u32>) = shown.filter_map(|of| of.more_rounds).partition(|more| *more <= most);
    let rounds = |more: u32| count(more, "more round");
    match (near.iter().max(), far.iter().max()) {
        (Some(more), None) => {
            format!(" About {} may decide them: the same command with `--more {more}`.", rounds(*more))
        }
        (Some(more), Some(all)) => format!(
            " About {} may decide {} of them: the same command with `--more {more}`. Others would take about {all}.",
            rounds(*more),
            near.len()
        ),
        (None, Some(all)) => format!(" Deciding them would take about {}.", rounds(*all)),
        (None, None) => String::new(),
    }
}

/// ` (44 %)`, ` (44 to 91 %)`: of the first, as in the table.
pub(crate) fn range(ratios: &[f64]) -> String {
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(0.0, f64::max);
    let (low, high) = (percent(low), percent(high));
    if low == high { format!(" ({low} %)") } else { format!(" ({low} to {high} %)") }
}

fn joined(parts: &[String]) -> String {
    match parts {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        parts => parts.concat(),
    }
}
