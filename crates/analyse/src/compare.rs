//! Every pair of stacks on every workload: which is faster, if either.
//!
//! With dᵢ = ln aᵢ − ln bᵢ over the n rounds that have both: `t = d̄ / (s / √n)`, its chance between equals from Student's
//! distribution with n−1 degrees. The chances of the whole table are corrected after Holm, "A simple sequentially
//! rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979): the smallest is multiplied by the
//! number of comparisons, the next by one less, and so on, and none may be smaller than one before it. Below 5 % the
//! stack is *faster* or *slower*.
//!
//! *Equivalent* is decided by two one-sided tests (Schuirmann, 1987): the interval of the ratio lies within the margin.
//! The margin goes first: a difference that is certain and too small to matter is an equivalence.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal};
use terms::finding::{Compared, Comparison, Finding, Rank, Verdict};
use terms::{MeasurePolicy, Replicate};

use crate::interval::{self, Looks};
use crate::rounds::Rounds;

/// Chance of calling equals different, over the whole table.
pub(crate) const ERROR: f64 = 0.05;
/// More rounds than this are no advice.
const HOPELESS: f64 = 200.0;

/// All comparisons of the table; workloads in the study's order, then pairs of stacks in the study's order.
pub(crate) fn all(
    findings: &[Finding],
    rounds: &Rounds<'_>,
    workloads: &[&str],
    policy: &MeasurePolicy,
) -> Vec<Comparison> {
    let looks = Looks::of(policy);
    let mut found = Vec::new();
    let mut logs = Vec::new();
    for workload in workloads {
        let measured: Vec<&str> = findings
            .iter()
            .filter(|of| of.workload == *workload && of.verdict == Verdict::Measured)
            .map(|of| of.stack.as_str())
            .collect();
        let series: Vec<BTreeMap<u32, f64>> = measured.iter().map(|stack| rounds.throughput(stack, workload)).collect();
        for (other, base) in measured.iter().enumerate() {
            for (stack, name) in measured.iter().enumerate().skip(other + 1) {
                let Some(ratio) = interval::paired_ratio(&series[stack], &series[other], looks) else { continue };
                logs.push(interval::differences(&series[stack], &series[other]).unwrap_or_default());
                found.push(Comparison {
                    workload: (*workload).to_owned(),
                    stack: (*name).to_owned(),
                    other: (*base).to_owned(),
                    ratio,
                    verdict: Compared::CannotTell,
                    more_rounds: None,
                    p_value: None,
                });
            }
        }
    }
    if policy.replicate == Replicate::Single {
        for comparison in &mut found {
            (comparison.ratio.low, comparison.ratio.high) = (None, None);
        }
        return found;
    }
    correct(&mut found, &logs, looks);
    let open = found.iter().filter(|of| of.p_value.is_none_or(|p| p >= ERROR)).count();
    for (comparison, logs) in found.iter_mut().zip(&logs) {
        decide(comparison, policy);
        if comparison.verdict == Compared::CannotTell {
            comparison.more_rounds = more_rounds(logs, policy, looks, open);
        }
    }
    found
}

/// Chances, corrected for the size of the table and for looking more than once.
fn correct(found: &mut [Comparison], logs: &[Vec<f64>], looks: Looks) {
    let chances: Vec<Option<f64>> = logs.iter().map(|logs| Some(chance(logs)? * looks.penalty())).collect();
    for (comparison, chance) in found.iter_mut().zip(holm(&chances)) {
        comparison.p_value = chance;
    }
}

/// Chances as they came, each corrected for the number of all that there are (Holm); none may exceed 1.
pub(crate) fn holm(chances: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut raw: Vec<(usize, f64)> = chances.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    raw.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = vec![None; chances.len()];
    let (mut left, mut floor) = (real(raw.len()), 0.0_f64);
    for (at, p) in raw {
        floor = floor.max((p * left).min(1.0));
        corrected[at] = Some(floor);
        left -= 1.0;
    }
    corrected
}

/// The chance of a mean this far from 0 between equals; `None` of fewer than two rounds.
fn chance(logs: &[f64]) -> Option<f64> {
    let (mean, deviation) = interval::moments(logs)?;
    let n = real(logs.len());
    if deviation <= 0.0 {
        // Rounds that agree to the last bit: no noise was seen, and none can be ruled out.
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    interval::tails(n - 1.0, mean / (deviation / n.sqrt()))
}

fn decide(comparison: &mut Comparison, policy: &MeasurePolicy) {
    let margin = 1.0 + policy.margin.share();
    let within = |low: f64, high: f64| low >= 1.0 / margin && high <= margin;
    let equivalent = comparison.ratio.low.zip(comparison.ratio.high).is_some_and(|(low, high)| within(low, high));
    comparison.verdict = match comparison.p_value {
        _ if equivalent => Compared::Equivalent,
        Some(p) if p < ERROR && comparison.ratio.value > 1.0 => Compared::Faster,
        Some(p) if p < ERROR => Compared::Slower,
        _ => Compared::CannotTell,
    };
}

/// Rounds still needed, about: until the interval, made as sure as the table wants it, leaves out 1 or lies within the
/// margin, whichever the ratio seen so far is nearer to. `None` where that would take too many, or nothing is known.
fn more_rounds(logs: &[f64], policy: &MeasurePolicy, looks: Looks, open: usize) -> Option<u32> {
    let (mean, deviation) = interval::moments(logs)?;
    let margin = policy.margin.share().ln_1p();
    let distance = mean.abs().max(margin - mean.abs());
    let error = ERROR / looks.penalty() / real(open.max(1));
    let quantile = Normal::new(0.0, 1.0).ok()?.inverse_cdf(1.0 - error / 2.0);
    let needed = (quantile * deviation / distance).powi(2).ceil().max(2.0);
    let more = (needed - real(logs.len())).max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 200")]
    (more <= HOPELESS).then_some(more as u32)
}

/// The place of a stack among those measured on its workload.
pub(crate) fn rank(finding: &Finding, findings: &[Finding], comparisons: &[Comparison]) -> Option<Rank> {
    if finding.verdict != Verdict::Measured {
        return None;
    }
    let of = findings.iter().filter(|of| of.workload == finding.workload && of.verdict == Verdict::Measured).count();
    let seen = |comparison: &&Comparison, wanted: Compared| {
        comparison.workload == finding.workload
            && ((comparison.stack == finding.stack && comparison.verdict == wanted)
                || (comparison.other == finding.stack && comparison.verdict == wanted.reversed()))
    };
    let count = |wanted| comparisons.iter().filter(|comparison| seen(comparison, wanted)).count();
    let (of, faster, slower) = (small(of), small(count(Compared::Slower)), small(count(Compared::Faster)));
    Some(Rank { best: 1 + faster, worst: of - slower, of })
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts of rounds and comparisons are small")]
const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        Comparison {
            workload: "w".into(),
            stack: "b".into(),
            other: "a".into(),
            ratio: terms::finding::Estimate { value: 1.1, low: Some(1.05), high: Some(1.15), rounds: 5 },
            verdict: Compared::CannotTell,
            more_rounds: None,
            p_value: None,
        }
    }

    #[test]
    fn holm_multiplies_by_what_is_left() {
        // Chances of t with 4 degrees: made from logs with known t by choosing mean over deviation.
        let logs = |mean: f64| vec![mean - 0.01, mean - 0.005, mean, mean + 0.005, mean + 0.01];
        let all = [logs(0.05), logs(0.01), logs(0.001)];
        let mut found = vec![comparison(), comparison(), comparison()];
        correct(&mut found, &all, Looks::Once);
        let raw: Vec<f64> = all.iter().map(|logs| chance(logs).unwrap()).collect();
        let corrected: Vec<f64> = found.iter().map(|of| of.p_value.unwrap()).collect();
        assert!((corrected[0] - 3.0 * raw[0]).abs() < 1e-12);
        assert!((corrected[1] - 2.0 * raw[1]).abs() < 1e-12);
        assert!((corrected[2] - raw[2]).abs() < 1e-12);
    }

    #[test]
    fn the_margin_goes_first() {
        let policy = MeasurePolicy::default();
        let judge = |low: f64, high: f64, p: f64| {
            let mut of = comparison();
            of.ratio =
                terms::finding::Estimate { value: (low * high).sqrt(), low: Some(low), high: Some(high), rounds: 5 };
            of.p_value = Some(p);
            decide(&mut of, &policy);
            of.verdict
        };
        assert_eq!(judge(1.01, 1.02, 0.001), Compared::Equivalent);
        assert_eq!(judge(1.04, 1.08, 0.001), Compared::Faster);
        assert_eq!(judge(0.90, 0.95, 0.001), Compared::Slower);
        assert_eq!(judge(0.95, 1.08, 0.4), Compared::CannotTell);
        assert_eq!(judge(1.01, 1.08, 0.06), Compared::CannotTell);
    }

    #[test]
    fn advice_is_a_number_of_rounds_or_none() {
        let policy = MeasurePolicy::default();
        let noisy = [0.06, -0.01, 0.05, 0.0, 0.04];
        let more = more_rounds(&noisy, &policy, Looks::Once, 1).unwrap();
        assert!((1..=10).contains(&more), "{more}");
        let hopeless = [0.5, -0.49, 0.5, -0.49, 0.06];
        assert_eq!(more_rounds(&hopeless, &policy, Looks::Once, 1), None);
        assert_eq!(more_rounds(&[0.1], &policy, Looks::Once, 1), None);
    }
}
