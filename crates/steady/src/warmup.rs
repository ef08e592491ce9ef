//! How much of a window is warm-up.
//!
//! MSER-5 (White, "An effective truncation heuristic for bias reduction in simulation output", 1997; White, Cobb &
//! Spratt, 2000): of means of five samples each, cut as many from the front as make the squared standard error of what
//! is left smallest. Windows of few samples take smaller batches. On pure noise the rule likes to cut something, so a cut
//! counts only if what it cuts lies clearly apart from the rest.

use crate::series::{mean, real, squares};

/// Samples in a batch of a window that is long enough.
const BATCH: usize = 5;
/// Batches that a window should have.
const BATCHES: usize = 12;
/// A cut part whose mean is nearer than this to that of the rest is no warm-up.
const APART: f64 = 0.03;
/// Share of what the best cut takes away from the error that another cut may leave and be as good.
const AS_GOOD: f64 = 0.05;
/// Nor is one that lies fewer standard deviations of the rest away.
const CLEAR: f64 = 2.0;

/// The beginning of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Warmup {
    /// Samples to cut from the front; 0 where more than an eighth of the window would go.
    pub(crate) cut: usize,
    /// Would more than that go?
    pub(crate) late: bool,
}

/// Looks for warm-up.
pub(crate) fn find(rates: &[f64]) -> Warmup {
    let batch = (rates.len() / BATCHES).clamp(1, BATCH);
    let means: Vec<f64> = rates.chunks_exact(batch).map(mean).collect();
    let error = |from: usize| squares(&means[from..]) / real(means.len() - from).powi(2);
    // Few batches at the end always look alike: the second half is not offered.
    let offered = 0..=means.len() / 2;
    let least = offered.clone().map(error).fold(f64::INFINITY, f64::min);
    // The rule wanders among cuts that are as good as equal: the shortest of them is taken.
    let best = offered.into_iter().find(|from| error(*from) <= least + AS_GOOD * (error(0) - least)).unwrap_or(0);
    if best == 0 || !is_apart(&means[..best], &means[best..]) {
        return Warmup { cut: 0, late: false };
    }
    // An eighth of the window is as much as a settling time that was a little short explains; beyond it a change of
    // level would pass for warm-up.
    if best * 8 > means.len() { Warmup { cut: 0, late: true } } else { Warmup { cut: best * batch, late: false } }
}

/// Is what was cut clearly another level?
fn is_apart(cut: &[f64], rest: &[f64]) -> bool {
    let level = mean(rest);
    let deviation = (squares(rest) / real(rest.len().max(2) - 1)).sqrt();
    let distance = (mean(cut) - level).abs();
    distance > APART * level && distance > CLEAR * deviation
}
