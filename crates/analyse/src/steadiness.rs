//! How steady the windows of a cell were, and what follows.

use terms::evidence::State;
use terms::finding::{Burst, Steady, Verdict};
use terms::record::Cell;
use terms::units::BytesPerSecond;

/// A change of level by less than this is none worth two numbers.
const FALL: f64 = 0.9;

/// Counts over all rounds.
pub(crate) fn summary(cells: &[&Cell]) -> Steady {
    let judged: Vec<_> = cells.iter().filter_map(|cell| cell.steadiness.as_ref()).collect();
    let count = |holds: &dyn Fn(State) -> bool| small(judged.iter().filter(|of| holds(of.state)).count());
    let range = judged.iter().fold(None, |range: Option<(f64, f64)>, of| {
        let (low, high) = range.unwrap_or((of.low, of.high));
        Some((low.min(of.low), high.max(of.high)))
    });
    Steady {
        steady: count(&|state| state == State::Steady),
        unsteady: count(&|state| !state.usable()),
        unknown: count(&|state| state == State::Unknown),
        extended: small(cells.iter().filter(|cell| cell.extended).count()),
        settled: cells.iter().filter_map(|cell| cell.settled).max(),
        range,
    }
}

/// A cell of which more windows than not never settled has a range and no number.
pub(crate) fn verdict(cells: &[&Cell], steady: &Steady) -> Option<Verdict> {
    if steady.unsteady * 2 <= small(cells.len()) {
        return None;
    }
    let last = cells.iter().rev().filter_map(|cell| cell.steadiness.as_ref()).find(|of| !of.state.usable())?;
    let (low, high) = steady.range?;
    Some(Verdict::Unsteady(format!(
        "no steady state: {} of {} windows were not steady (the last one: {}), {} to {}",
        steady.unsteady,
        cells.len(),
        last.state.words(),
        BytesPerSecond(low),
        BytesPerSecond(high)
    )))
}

/// Writes before and after a cache was full: geometric means over the windows that show a fall.
pub(crate) fn burst(cells: &[&Cell]) -> Option<Burst> {
    let falls: Vec<_> = cells
        .iter()
        .filter_map(|cell| cell.steadiness.as_ref()?.cliff)
        .filter(|cliff| cliff.before > 0.0 && cliff.after > 0.0 && cliff.after < cliff.before * FALL)
        .collect();
    let cliff = *falls.last()?;
    let rounds = small(falls.len());
    let mean = |of: &dyn Fn(&terms::evidence::Cliff) -> f64| {
        (falls.iter().map(|cliff| of(cliff).ln()).sum::<f64>() / f64::from(rounds)).exp()
    };
    Some(Burst { burst: mean(&|cliff| cliff.before), sustained: mean(&|cliff| cliff.after), cliff, rounds })
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
