//! Every pair of stacks on every workload: which is faster, if either.
//!
//! With dᵢ = ln aᵢ − ln bᵢ over the n rounds that have both: `t = d̄ / (s / √n)`, its chance between equals from Student's
//! distribution; s and its degrees are learnt from all pairs with the first stack ([`crate::scatter`]). Chances are
//! corrected after Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
//! (1979): the smallest is multiplied by the number of comparisons, the next by one less, and so on, and none may be
//! smaller than one before it. Below 5 % the stack is *faster* or *slower*.
//!
//! There are two families: the pairs with the first stack, which every table shows, and all pairs. A table of 5 stacks
//! would otherwise pay for 10 pairs on each workload where it shows 4.
//!
//! The interval of a ratio is as sure as its correction wants it: it leaves out 1 where the stack is faster or slower, and
//! holds it where nobody can tell.
//!
//! A pair with one round has nothing to learn from, but under a virtual clock, where its windows tell ([`crate::window`]).
//!
//! *Equivalent* is decided by two one-sided tests (Schuirmann, 1987): the interval of the ratio by itself lies within the
//! margin.
//! The margin goes first: a difference that is certain and too small to matter is an equivalence.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal};
use terms::finding::{CellFinding, Compared, Comparison, Rank, Verdict};
use terms::{MeasurePolicy, Replicate};

use crate::interval::{self, Looks, real};
use crate::rounds::Rounds;
use crate::scatter::{self, Common, Moments};
use crate::window;

/// Chance of calling equals different, over the whole table.
pub(crate) const ERROR: f64 = 0.05;
/// More rounds than this are no advice.
const HOPELESS: f64 = 200.0;

/// Two stacks under a workload.
struct Pair {
    comparison: Comparison,
    /// Differences of logarithms, one for each round that has both.
    logs: Vec<f64>,
    /// Is the other the first stack that has a figure: does every table show the pair?
    shown: bool,
}

/// All comparisons of the table; workloads in the study's order, then pairs of stacks in the study's order.
pub(crate) fn all(
    findings: &[CellFinding],
    rounds: &Rounds<'_>,
    workloads: &[&str],
    policy: &MeasurePolicy,
    is_virtual: bool,
) -> Vec<Comparison> {
    let looks = Looks::of(policy);
    let pairs: Vec<Pair> = workloads.iter().flat_map(|workload| pairs(findings, rounds, workload, looks)).collect();
    if policy.replicate == Replicate::Single {
        return pairs.into_iter().map(|pair| without_interval(pair.comparison)).collect();
    }
    let common = Common::of(pairs.iter().filter(|pair| pair.shown).map(|pair| &pair.logs));
    let tell = |pair: &Pair| {
        let single = if is_virtual { single(pair, rounds) } else { None };
        single.or_else(|| scatter::with(common, &pair.logs))
    };
    let moments: Vec<Option<Moments>> = pairs.iter().map(tell).collect();
    let chances = Chances::of(&pairs, &moments, looks);
    let open = chances.corrected.iter().filter(|p| p.is_none_or(|p| p >= ERROR)).count();
    let judged = |(at, pair): (usize, Pair)| {
        let mut comparison = pair.comparison;
        let (Some(of), Some(raw), Some(corrected)) = (moments[at], chances.raw[at], chances.corrected[at]) else {
            return comparison;
        };
        let alone = interval_of(&of, comparison.ratio.rounds, looks.upper());
        let together = Known { of: &of, raw, corrected }.interval(comparison.ratio.rounds, looks);
        comparison.verdict = decide(comparison.ratio.value, alone, Some(corrected), policy);
        if comparison.verdict == Compared::CannotTell {
            comparison.more_rounds = more_rounds(&of, comparison.ratio.rounds, policy, looks, open);
        }
        (comparison.ratio.low, comparison.ratio.high) = together;
        comparison.p_value = Some(corrected);
        comparison
    };
    pairs.into_iter().enumerate().map(judged).collect()
}

fn pairs(findings: &[CellFinding], rounds: &Rounds<'_>, workload: &str, looks: Looks) -> Vec<Pair> {
    let measured: Vec<&str> = findings
        .iter()
        .filter(|of| of.workload == workload && of.verdict == Verdict::Measured)
        .map(|of| of.stack.as_str())
        .collect();
    let series: Vec<BTreeMap<u32, f64>> = measured.iter().map(|stack| rounds.throughput(stack, workload)).collect();
    let mut pairs = Vec::new();
    for (other, base) in measured.iter().enumerate() {
        for (stack, name) in measured.iter().enumerate().skip(other + 1) {
            let Some(ratio) = interval::paired_ratio(&series[stack], &series[other], looks) else { continue };
            let comparison = Comparison {
                workload: workload.to_owned(),
                stack: (*name).to_owned(),
                other: (*base).to_owned(),
                ratio,
                verdict: Compared::CannotTell,
                more_rounds: None,
                p_value: None,
            };
            let logs = interval::differences(&series[stack], &series[other]).unwrap_or_default();
            pairs.push(Pair { comparison, logs, shown: other == 0 });
        }
    }
    pairs
}

/// What the windows of a pair with a single round tell.
fn single(pair: &Pair, rounds: &Rounds<'_>) -> Option<Moments> {
    let [logarithm] = pair.logs[..] else { return None };
    let of = |stack| rounds.of(stack, &pair.comparison.workload).into_iter().filter(|cell| cell.reading.is_some());
    let (ours, theirs) = of(&pair.comparison.stack)
        .find_map(|ours| Some((ours, of(&pair.comparison.other).find(|other| other.key.round == ours.key.round)?)))?;
    window::ratio(logarithm, ours, theirs).map(window::no_surer_than_runs_repeat)
}

fn without_interval(mut comparison: Comparison) -> Comparison {
    (comparison.ratio.low, comparison.ratio.high) = (None, None);
    comparison
}

/// The interval of a ratio between that quantile and its mirror.
pub(crate) fn interval_of(of: &Moments, rounds: u32, upper: f64) -> (Option<f64>, Option<f64>) {
    let half = interval::student(of.degrees, upper).map(|t| t * of.deviation / f64::from(rounds).sqrt());
    (half.map(|half| (of.mean - half).exp()), half.map(|half| (of.mean + half).exp()))
}

/// What is known of a ratio, and its chance between equals: by itself, and as one of a family.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) of: &'a Moments,
    pub(crate) raw: f64,
    pub(crate) corrected: f64,
}

impl Known<'_> {
    /// The interval that leaves out 1 where the corrected chance is small enough, and holds it where it is not.
    pub(crate) fn interval(self, rounds: u32, looks: Looks) -> (Option<f64>, Option<f64>) {
        let share = if self.corrected > 0.0 { self.raw / self.corrected } else { 1.0 };
        interval_of(self.of, rounds, 1.0 - ERROR / 2.0 / looks.penalty() * share)
    }
}

/// Chances of each pair between equals.
struct Chances {
    /// Corrected for looking more than once.
    raw: Vec<Option<f64>>,
    /// Corrected for the size of the family as well.
    corrected: Vec<Option<f64>>,
}

impl Chances {
    fn of(pairs: &[Pair], moments: &[Option<Moments>], looks: Looks) -> Self {
        let chance = |(pair, of): (&Pair, &Option<Moments>)| {
            chance_among_looks(of.as_ref()?, pair.comparison.ratio.rounds, looks)
        };
        let raw: Vec<Option<f64>> = pairs.iter().zip(moments).map(chance).collect();
        let shown: Vec<Option<f64>> = raw.iter().zip(pairs).map(|(p, pair)| p.filter(|_| pair.shown)).collect();
        let corrected = holm(&shown).into_iter().zip(holm(&raw)).map(|(shown, all)| shown.or(all)).collect();
        Self { raw, corrected }
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

/// The chance of a mean this far from 0 between equals, corrected for looking more than once.
pub(crate) fn chance_among_looks(of: &Moments, rounds: u32, looks: Looks) -> Option<f64> {
    Some((chance(of, rounds)? * looks.penalty()).min(1.0))
}

/// The chance of a mean this far from 0 between equals.
fn chance(of: &Moments, rounds: u32) -> Option<f64> {
    if of.deviation <= 0.0 {
        // Rounds that agree to the last bit: no noise was seen, and none can be ruled out.
        return Some(if of.mean == 0.0 { 1.0 } else { 0.0 });
    }
    interval::tails(of.degrees, of.mean / (of.deviation / f64::from(rounds).sqrt()))
}

/// The answer on a ratio: `alone` is its interval as though it were the only one, `chance` the corrected one, if any.
pub(crate) fn decide(
    ratio: f64,
    alone: (Option<f64>, Option<f64>),
    chance: Option<f64>,
    policy: &MeasurePolicy,
) -> Compared {
    let margin = 1.0 + policy.margin.share();
    let within = |(low, high): (f64, f64)| low >= 1.0 / margin && high <= margin;
    match chance {
        _ if alone.0.zip(alone.1).is_some_and(within) => Compared::Equivalent,
        Some(p) if p < ERROR && ratio > 1.0 => Compared::Faster,
        Some(p) if p < ERROR => Compared::Slower,
        _ => Compared::CannotTell,
    }
}

/// Rounds still needed, about: until the interval, made as sure as the table wants it, leaves out 1 or lies within the
/// margin, whichever the ratio seen so far is nearer to. `None` where that would take too many, or nothing is known.
fn more_rounds(of: &Moments, rounds: u32, policy: &MeasurePolicy, looks: Looks, open: usize) -> Option<u32> {
    let margin = policy.margin.share().ln_1p();
    let distance = of.mean.abs().max(margin - of.mean.abs());
    let error = ERROR / looks.penalty() / real(open.max(1));
    let quantile = Normal::new(0.0, 1.0).ok()?.inverse_cdf(1.0 - error / 2.0);
    let needed = (quantile * of.deviation / distance).powi(2).ceil().max(2.0);
    let more = (needed - f64::from(rounds)).max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 200")]
    (more <= HOPELESS).then_some(more as u32)
}

/// The place of a stack among those measured on its workload.
pub(crate) fn rank(finding: &CellFinding, findings: &[CellFinding], comparisons: &[Comparison]) -> Option<Rank> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn holm_multiplies_by_what_is_left() {
        let close = |found: &[Option<f64>], expect: &[Option<f64>]| {
            found
                .iter()
                .zip(expect)
                .all(|(a, b)| a.is_some() == b.is_some() && (a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-12)
        };
        assert!(close(&holm(&[Some(0.01), None, Some(0.02), Some(0.5)]), &[Some(0.03), None, Some(0.04), Some(0.5)]));
        assert!(
            close(&holm(&[Some(0.02), Some(0.011)]), &[Some(0.022), Some(0.022)]),
            "none is smaller than one before it"
        );
        assert!(close(&holm(&[Some(0.9), Some(0.8)]), &[Some(1.0), Some(1.0)]));
    }

    #[test]
    fn the_margin_goes_first() {
        let policy = MeasurePolicy::default();
        let judge =
            |low: f64, high: f64, p: f64| decide((low * high).sqrt(), (Some(low), Some(high)), Some(p), &policy);
        assert_eq!(judge(1.01, 1.02, 0.001), Compared::Equivalent);
        assert_eq!(judge(1.04, 1.08, 0.001), Compared::Faster);
        assert_eq!(judge(0.90, 0.95, 0.001), Compared::Slower);
        assert_eq!(judge(0.95, 1.08, 0.4), Compared::CannotTell);
        assert_eq!(judge(1.01, 1.08, 0.06), Compared::CannotTell);
        assert_eq!(judge(0.99, 1.02, 0.2), Compared::Equivalent);
        assert_eq!(judge(1.05, 1.15, 0.001), Compared::Faster);
        assert_eq!(judge(0.8, 1.01, 0.06), Compared::CannotTell);
    }

    #[test]
    fn advice_is_a_number_of_rounds_or_none() {
        let policy = MeasurePolicy::default();
        let more = |logs: &[f64]| more_rounds(&scatter::with(None, logs).unwrap(), 5, &policy, Looks::Once, 1);
        let few = more(&[0.06, -0.01, 0.05, 0.0, 0.04]).unwrap();
        assert!((1..=10).contains(&few), "{few}");
        assert_eq!(more(&[0.5, -0.49, 0.5, -0.49, 0.06]), None);
    }

    proptest! {
        /// A 95 % interval that leaves out 1 beside "cannot tell" would be two answers to one question.
        #[test]
        fn interval_and_answer_agree(
            rates in prop::collection::vec(prop::collection::vec(0.5_f64..2.0, 4), 3..6), sequential: bool,
        ) {
            let stacks: Vec<String> = (0..4).map(|at| format!("s{at}")).collect();
            let mut of = crate::tests::provenance(&stacks.iter().map(String::as_str).collect::<Vec<_>>(), &["w"]);
            let rounds = u32::try_from(rates.len()).unwrap();
            let max_rounds = if sequential { rounds + 3 } else { rounds };
            of.policy = Some(MeasurePolicy { rounds, max_rounds, ..MeasurePolicy::default() });
            let cells: Vec<terms::record::Cell> = (1..)
                .zip(&rates)
                .flat_map(|(round, rates)| stacks.iter().zip(rates).map(move |(stack, rate)| {
                    crate::tests::cell(round, stack, "w", 1e8 * rate)
                }))
                .collect();
            let found = crate::study(&of, &terms::inventory::Inventory::default(), &cells, &[]);
            prop_assert_eq!(found.comparisons.len(), 6);
            for of in &found.comparisons {
                let leaves_out = of.ratio.low.unwrap() > 1.0 || of.ratio.high.unwrap() < 1.0;
                match of.verdict {
                    Compared::Faster | Compared::Slower => prop_assert!(leaves_out, "{:?}", of),
                    Compared::CannotTell => prop_assert!(!leaves_out, "{:?}", of),
                    Compared::Equivalent => {}
                }
            }
        }
    }
}
