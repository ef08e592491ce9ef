//! How building went: the plain mean of build and fill times over rounds, and why a build failed.
//!
//! Of several attempts at a round the newest counts. A stack that failed in a round has no times.

use std::collections::BTreeMap;

use terms::finding::BuildFinding;
use terms::record::BuildOutcome;
use terms::units::Nanos;

/// The newest outcome of every stack and round.
pub(crate) type Newest<'a> = BTreeMap<(&'a str, u32), &'a BuildOutcome>;

/// Sorts outcomes. Later ones in the slice are newer attempts.
pub(crate) fn newest(builds: &[BuildOutcome]) -> Newest<'_> {
    builds.iter().map(|outcome| ((outcome.stack.as_str(), outcome.round), outcome)).collect()
}

/// Why builds of a stack failed, by round.
pub(crate) fn failures(stack: &str, built: &Newest<'_>) -> Vec<String> {
    of(stack, built)
        .filter_map(|outcome| Some(format!("round {}: not built: {}", outcome.round, outcome.failure.as_ref()?)))
        .collect()
}

/// How building a stack went over all rounds.
pub(crate) fn finding(stack: &str, built: &Newest<'_>) -> BuildFinding {
    let failure =
        of(stack, built).find_map(|outcome| Some(format!("round {}: {}", outcome.round, outcome.failure.as_ref()?)));
    let mean = |time: fn(&BuildOutcome) -> Nanos| {
        if failure.is_some() { None } else { mean(of(stack, built).map(time)) }
    };
    BuildFinding {
        stack: stack.to_owned(),
        build: mean(|outcome| outcome.build),
        fill: mean(|outcome| outcome.fill),
        failure: failure.clone(),
    }
}

/// Outcomes of a stack by round.
fn of<'a>(stack: &str, built: &Newest<'a>) -> impl Iterator<Item = &'a BuildOutcome> {
    built.iter().filter(move |((of, _), _)| *of == stack).map(|(_, outcome)| *outcome)
}

/// The mean, rounded to whole nanoseconds; `None` of nothing.
fn mean(times: impl Iterator<Item = Nanos>) -> Option<Nanos> {
    let (sum, count) = times.fold((0u128, 0u128), |(sum, count), time| (sum + u128::from(time.0), count + 1));
    let mean = (sum + count / 2).checked_div(count)?;
    u64::try_from(mean).ok().map(Nanos)
}
