//! Ranks with ties, what comparisons with the first stack say, and what limited each cell.

use terms::evidence::BottleneckKind;
use terms::finding::{Compared, Rank, Steady, WithInterval};

use crate::grid::{Grid, State};
use crate::listing::{Group, Listing, MISSING};
use crate::width::Align;

/// Stacks that share a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Their rank.
    pub(crate) rank: Rank,
    /// Their names, in the study's order.
    pub(crate) stacks: Vec<String>,
    /// Is it the only place, shared by all that were ranked?
    pub(crate) all: bool,
}

/// So many stacks that share the only place are named one by one; more would say nothing at length.
const NAMED: usize = 3;

/// The ranking of a workload, the fastest first; empty where nothing was ranked.
pub(crate) fn places(grid: &Grid, workload: usize) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (stack, entry) in grid.stacks().iter().enumerate() {
        let Some(rank) = grid.finding(stack, workload).and_then(|finding| finding.rank) else { continue };
        match places.iter_mut().find(|place| place.rank == rank) {
            Some(place) => place.stacks.push(entry.name.clone()),
            None => places.push(Place { rank, stacks: vec![entry.name.clone()], all: false }),
        }
    }
    places.sort_by_key(|place| (place.rank.best, place.rank.worst));
    if let [only] = places.as_mut_slice() {
        only.all = only.stacks.len() > NAMED;
    }
    places
}

/// A rank in words: `1`, `2–3`.
pub(crate) fn rank(rank: Rank) -> String {
    if rank.best == rank.worst { rank.best.to_string() } else { format!("{}–{}", rank.best, rank.worst) }
}

impl Place {
    /// `2–3 ext4 on LUKS2 = RAID-1`.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", rank(self.rank), self.names())
    }

    /// Who is there: `ext4 on LUKS2 = RAID-1`.
    pub(crate) fn names(&self) -> String {
        if self.all {
            format!("all {}, without a significant difference", self.stacks.len())
        } else {
            self.stacks.join(" = ")
        }
    }
}

/// What is said of a stack against the first on a workload, and how many rounds are still needed for it.
pub(crate) fn against_first(grid: &Grid, stack: usize, workload: usize) -> Option<(Compared, Option<u32>)> {
    let answer = |(_, answer, more)| (answer, more);
    (stack > 0).then(|| against(grid, stack, 0, workload)).flatten().map(answer)
}

/// How a stack stands to another under a workload: the ratio, the answer, and how many more rounds would give one.
/// `None` where they were not compared.
pub(crate) fn against(
    grid: &Grid,
    stack: usize,
    other: usize,
    workload: usize,
) -> Option<(WithInterval, Compared, Option<u32>)> {
    let slug = |at: usize| grid.stacks().get(at).map(|entry| entry.slug.as_str());
    let (stack, other) = slug(stack).zip(slug(other))?;
    let name = grid.workloads()[workload].name.as_str();
    grid.findings.comparisons.iter().filter(|pair| pair.workload == name).find_map(|pair| {
        let (ratio, answer) = pair.seen_from(stack, other)?;
        Some((ratio, answer, pair.more_rounds))
    })
}

/// The answer in words: `slower`, `undecided, about 4 more rounds`.
pub(crate) fn words(answer: Compared, more: Option<u32>) -> String {
    match (answer, more) {
        (Compared::CannotTell, Some(more)) => {
            format!("{}, about {}", answer.words(), super::count(more, "more round"))
        }
        _ => answer.words().to_owned(),
    }
}

/// The answer as a mark beside a ratio.
pub(crate) fn mark(answer: Compared, more: Option<u32>) -> String {
    match answer {
        Compared::Faster => ">".to_owned(),
        Compared::Slower => "<".to_owned(),
        Compared::Equivalent => "≈".to_owned(),
        Compared::CannotTell => more.map_or_else(|| "?".to_owned(), |more| format!("?{more}")),
    }
}

/// Is there a bottleneck to tell of?
pub(crate) fn any_bottleneck(grid: &Grid) -> bool {
    grid.findings.cells.iter().any(|finding| finding.bottleneck.is_some())
}

/// The bottleneck of a cell in a word.
pub(crate) fn bottleneck(grid: &Grid, stack: usize, workload: usize) -> Option<BottleneckKind> {
    grid.finding(stack, workload).and_then(|finding| finding.bottleneck.as_ref()).map(|bottleneck| bottleneck.kind)
}

/// Windows in words: `5 steady, 1 measured again`.
pub(crate) fn windows(steady: &Steady) -> String {
    let counts = [
        (steady.steady, "steady"),
        (steady.unsteady, "never steady"),
        (steady.unknown, "too short to tell"),
        (steady.extended, "measured again"),
    ];
    let parts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if parts.is_empty() { "not looked at".to_owned() } else { parts.join(", ") }
}

/// What is known of each cell of a workload besides its figure; `None` for findings of old.
pub(crate) fn details(grid: &Grid, workload: usize) -> Option<Listing> {
    let known = (0..grid.stacks().len()).filter_map(|stack| grid.finding(stack, workload));
    let any = known.into_iter().any(|f| f.rank.is_some() || f.bottleneck.is_some() || f.steady != Steady::default());
    let rows = (0..grid.stacks().len()).map(|stack| detail(grid, stack, workload)).collect();
    let left = |heading| (heading, Align::Left);
    let listing = Listing {
        title: grid.titles[workload].clone(),
        columns: ["Stack", "Rank", "Against the first", "Windows", "Limited by", "What was seen"].map(left).to_vec(),
        groups: vec![Group { title: String::new(), rows }],
        ..Listing::default()
    };
    any.then_some(listing)
}

/// One row of [`details`].
fn detail(grid: &Grid, stack: usize, workload: usize) -> Vec<String> {
    let missing = || MISSING.to_owned();
    let finding = grid.finding(stack, workload);
    let state = grid.state(stack, workload);
    let against = match (state.word(), against_first(grid, stack, workload)) {
        (Some(word), _) => word.to_owned(),
        (None, _) if stack == 0 => "it is the first".to_owned(),
        (None, Some((answer, more))) => words(answer, more),
        (None, None) => "not compared".to_owned(),
    };
    let bottleneck = finding.and_then(|finding| finding.bottleneck.as_ref());
    let ran = matches!(state, State::Measured(..) | State::Unsteady(..));
    vec![
        grid.stacks()[stack].name.clone(),
        finding.and_then(|finding| finding.rank).map_or_else(missing, rank),
        against,
        finding.filter(|_| ran).map_or_else(missing, |finding| windows(&finding.steady)),
        bottleneck.map_or_else(missing, |bottleneck| bottleneck.kind.word().to_owned()),
        bottleneck.map_or_else(missing, |bottleneck| bottleneck.witness.clone()),
    ]
}
