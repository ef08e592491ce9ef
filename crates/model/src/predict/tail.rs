//! The latency that 99 of 100 operations stay under.

use terms::prediction::Estimate;

use super::rule::Share;
use crate::network::Network;
use crate::parameter::TAIL;
use crate::solve::Solution;

/// Spread of a drive's own time relative to its mean: that of flash under mixed work, a guess.
const OWN: f64 = 0.35;
/// Standard deviations of a normal that 99 of 100 stay under.
const NORMAL: f64 = 2.326;

/// The 99th percentile of a gamma distribution with the mean, and a spread of the drive's own time and of waiting.
///
/// With a fixed number under way all wait for about as long, so waiting adds spread only where operations arrive at
/// random moments.
pub(super) fn p99(mean: Estimate, network: &Network, solution: Solution) -> Estimate {
    let waiting = match network.arrivals {
        Some(rate) if rate < solution.throughput * 1.001 => 1.0 - (network.delay / solution.response).clamp(0.0, 1.0),
        _ => 0.0,
    };
    Share::normal(TAIL).widening(mean.scaled(quantile(OWN.hypot(waiting))))
}

/// Operations that are among the slowest take no less than the mean does, at every end of an interval.
pub(super) fn above(mean: &Estimate, mut p99: Estimate) -> Estimate {
    for (range, least) in [(&mut p99.half, mean.half), (&mut p99.ninety, mean.ninety)] {
        range.low = range.low.max(least.low);
        range.high = range.high.max(least.high);
    }
    p99
}

/// How many means the 99th percentile of a gamma distribution is, by its coefficient of variation (Wilson and Hilferty).
fn quantile(spread: f64) -> f64 {
    let shape = 1.0 / (spread * spread);
    (1.0 - 1.0 / (9.0 * shape) + NORMAL / (3.0 * shape.sqrt())).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_an_exponential_is_known() {
        // ln 100 means.
        assert!((quantile(1.0) - 4.605).abs() < 0.1);
        assert!(quantile(0.35) > 1.8 && quantile(0.35) < 2.2);
    }
}
