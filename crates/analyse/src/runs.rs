//! Two runs side by side.
//!
//! Rounds of different runs have nothing in common. With the logarithms x of n rounds of one run and y of m of the other:
//! `ratio = exp(ȳ − x̄)`, its error `e = √(s²x/n + s²y/m)`, and Student's distribution with the degrees of freedom of
//! Welch, "The generalization of Student's problem when several different population variances are involved", Biometrika
//! 34 (1947): `e⁴ / ((s²x/n)²/(n−1) + (s²y/m)²/(m−1))`. Chances are corrected over all cells after Holm.
//!
//! Two runs under a virtual clock with the same seed, drives and windows ask for the same work, and mostly do it instruction by
//! instruction. Where all rounds of a cell are the same in both, nothing is in doubt. Where one differs, threads may have taken turns
//! in another order: who runs first follows from what the guest did before.
//!
//! Where a run under a virtual clock has one round, the scatter is that within the windows ([`crate::window`]), and a window that
//! is too short to show any has none. It is never less than two runs differ by.

use std::collections::BTreeMap;

use terms::finding::{
    CellComparison, CellFinding, Change, Compared, Figures, Findings, Quantity, RunComparison, RunHead, Verdict,
    WithInterval,
};
use terms::record::Cell;
use terms::{MeasurePolicy, Workload};

use crate::compare::{ERROR, Known, chance_among_looks, decide, holm, interval_of};
use crate::interval::{self, Looks, real};
use crate::rounds::Rounds;
use crate::scatter::Moments;
use crate::{controls, differences, window};

/// A run: what was found, and the cells that it was found in.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// What was found.
    pub findings: &'a Findings,
    /// The raw cells.
    pub cells: &'a [Cell],
}

/// Compares the run `b` with the run `a`.
///
/// # Errors
/// Why they must not be compared: every reason.
pub fn runs(a: Run<'_>, b: Run<'_>) -> Result<RunComparison, Vec<String>> {
    let refusals = differences::refusals(a.findings, b.findings);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let (of_a, of_b) = (&a.findings.provenance, &b.findings.provenance);
    let is_virtual = of_a.has_virtual_clock() && of_b.has_virtual_clock();
    let repeats = is_virtual && differences::same_work(a.findings, b.findings);
    let pair = Pair { a, b, rounds: [counted(a), counted(b)], is_virtual, repeats };
    let names = pair.names();
    let titles = titles(&names);
    let cell = |of: Named<'_>| pair.cell(of, titles.get(of.2.name.as_str()).cloned().unwrap_or_default());
    let mut cells: Vec<(CellComparison, Option<Moments>)> = names.iter().map(|name| cell(*name)).collect();
    let looks = pair.looks();
    let raw: Vec<Option<f64>> = cells.iter().map(|(_, of)| chance_among_looks(of.as_ref()?, 1, looks)).collect();
    for (((cell, of), raw), corrected) in cells.iter_mut().zip(&raw).zip(holm(&raw)) {
        if let Some(ratio) = &mut cell.ratio {
            let known = of.as_ref().zip(*raw).zip(corrected).map(|((of, raw), corrected)| Known { of, raw, corrected });
            let alone = known.map(|known| interval_of(known.of, 1, looks.upper())).unwrap_or_default();
            cell.verdict = Some(answer(repeats, ratio.value, alone, corrected, &of_a.policy()));
            (ratio.low, ratio.high) = known.map(|known| known.interval(1, looks)).unwrap_or_default();
        }
        cell.p_value = corrected;
        pair.explain(cell);
    }
    let cells: Vec<CellComparison> = cells.into_iter().map(|cell| cell.0).collect();
    if cells.iter().all(|cell| cell.ratio.is_none()) {
        return Err(vec!["no stack and workload has a figure in both".to_owned()]);
    }
    Ok(RunComparison {
        a: head(a.findings),
        b: head(b.findings),
        repeats,
        differences: differences::all(a.findings, b.findings),
        cells,
    })
}

/// What the workloads of both runs are called, by their names.
fn titles<'a>(names: &[Named<'a>]) -> BTreeMap<&'a str, String> {
    let workloads: BTreeMap<&str, &Workload> = names.iter().map(|(_, _, of)| (of.name.as_str(), *of)).collect();
    let titles = Workload::titles(&workloads.values().copied().collect::<Vec<_>>());
    workloads.into_keys().zip(titles).collect()
}

fn head(findings: &Findings) -> RunHead {
    let of = &findings.provenance;
    RunHead {
        run: of.run.clone(),
        started: of.started.clone(),
        question: of.question.clone(),
        emulated: findings.emulation(),
    }
}

/// Rounds that count.
fn counted<'a>(run: Run<'a>) -> Rounds<'a> {
    let controls = controls::find(run.cells, &run.findings.provenance.policy());
    let discarded = controls::discarded(&controls);
    Rounds::sort(run.cells.iter().filter(|cell| !cell.key.is_control() && !discarded.contains(&cell.key.round)))
}

/// Of work that repeats itself any difference that is certain is one, however small: the margin decides on the others.
fn answer(
    repeats: bool,
    ratio: f64,
    alone: (Option<f64>, Option<f64>),
    chance: Option<f64>,
    policy: &MeasurePolicy,
) -> Compared {
    match chance {
        Some(p) if repeats && p < ERROR && ratio > 1.0 => Compared::Faster,
        Some(p) if repeats && p < ERROR => Compared::Slower,
        _ => decide(ratio, alone, chance, policy),
    }
}

struct Pair<'a> {
    a: Run<'a>,
    b: Run<'a>,
    rounds: [Rounds<'a>; 2],
    /// Had both runs a clock that no other work moves?
    is_virtual: bool,
    /// Did both ask for the same work, too?
    repeats: bool,
}

/// Slug and name of the stack, and the workload.
type Named<'a> = (&'a str, &'a str, &'a Workload);

impl<'a> Pair<'a> {
    /// Cells of `a`, then those that only `b` has.
    fn names(&self) -> Vec<Named<'a>> {
        let mut names = Vec::new();
        for of in [self.a, self.b].map(|run| &run.findings.provenance) {
            for stack in &of.stacks {
                for workload in &of.workloads {
                    if !names
                        .iter()
                        .any(|(slug, _, known): &Named<'_>| *slug == stack.slug && known.name == workload.name)
                    {
                        names.push((&stack.slug, &stack.name, workload));
                    }
                }
            }
        }
        names
    }

    /// How often the rounds of either run were looked at.
    fn looks(&self) -> Looks {
        let mut policies = [self.a, self.b].into_iter().map(|run| run.findings.provenance.policy());
        if !self.repeats && policies.any(|of| of.is_sequential()) { Looks::Again } else { Looks::Once }
    }

    /// The cell without its answer and interval, and what is known of its ratio.
    fn cell(&self, (stack, name, of): Named<'_>, title: String) -> (CellComparison, Option<Moments>) {
        let workload = of.name.as_str();
        let [a, b] = [self.a, self.b].map(|run| run.findings.cell(stack, workload));
        let why_not = missing("A", a).or_else(|| missing("B", b)).or_else(|| self.other_work(workload));
        let compared = if why_not.is_none() { self.ratio(stack, workload) } else { None };
        let alone = compared.is_some_and(|(_, of)| of.is_none());
        let one_round = || self.undecided().to_owned();
        let cell = CellComparison {
            stack: stack.to_owned(),
            name: name.to_owned(),
            workload: workload.to_owned(),
            title,
            a: a.and_then(figures),
            b: b.and_then(figures),
            ratio: compared.map(|(ratio, _)| ratio),
            verdict: None,
            why_not: why_not.or_else(|| alone.then(one_round)),
            p_value: None,
            changes: Vec::new(),
            bottlenecks: None,
        };
        (cell, compared.and_then(|(_, of)| of))
    }

    /// Why a ratio has no interval.
    const fn undecided(&self) -> &'static str {
        if self.is_virtual {
            "one round of so short a window has no interval: run more rounds of both, or longer windows"
        } else {
            "one round has no interval, so nothing is decided: run more rounds of both"
        }
    }

    /// A workload that is another under the same name.
    fn other_work(&self, workload: &str) -> Option<String> {
        let [a, b] = [self.a, self.b]
            .map(|run| run.findings.provenance.workloads.iter().find(|of| of.name.as_str() == workload));
        (a != b).then(|| "the workload of that name is another in B".to_owned())
    }

    /// The ratio of `b` to `a` without its interval, and what is known of it.
    fn ratio(&self, stack: &str, workload: &str) -> Option<(WithInterval, Option<Moments>)> {
        let [mut a, mut b] = [0, 1].map(|at| self.rounds[at].throughput(stack, workload));
        if self.repeats {
            // Round by round the same work: a round that only one of them has says nothing of the other.
            a.retain(|round, _| b.contains_key(round));
            b.retain(|round, _| a.contains_key(round));
        }
        let difference = mean(&b)? - mean(&a)?;
        let rounds = u32::try_from(a.len().min(b.len())).ok()?;
        let of = if self.repeats && a == b {
            Some(Moments { mean: 0.0, deviation: 0.0, degrees: f64::INFINITY })
        } else if self.is_virtual && rounds == 1 {
            self.windows(stack, workload, [&a, &b], difference)
        } else {
            welch(&a, &b)
        };
        let of = if self.is_virtual { of.map(window::no_surer_than_runs_repeat) } else { of };
        // Rounds that agree to the last bit: no noise was seen, and none can be ruled out.
        let of = of.filter(|of| of.deviation > 0.0);
        Some((WithInterval { value: difference.exp(), low: None, high: None, rounds }, of))
    }

    /// What the windows of the first of these rounds of either run tell.
    fn windows(
        &self,
        stack: &str,
        workload: &str,
        rounds: [&BTreeMap<u32, f64>; 2],
        difference: f64,
    ) -> Option<Moments> {
        let [a, b] = [0, 1].map(|at| {
            let first = rounds[at].keys().next()?;
            self.rounds[at].of(stack, workload).into_iter().find(|cell| cell.key.round == *first)
        });
        window::ratio(difference, b?, a?)
    }

    /// What changed with the throughput of a cell that is faster or slower.
    fn explain(&self, cell: &mut CellComparison) {
        let Some(ratio) = cell.ratio.filter(|_| matches!(cell.verdict, Some(Compared::Faster | Compared::Slower)))
        else {
            return;
        };
        let [a, b] = [self.a, self.b].map(|run| run.findings.cell(&cell.stack, &cell.workload));
        let Some((a, b)) = a.zip(b) else { return };
        let quantities = [Quantity::CpuPerOperationNs, Quantity::DriveBytesRatio, Quantity::DriveQueueOperations];
        let change = |what| Some(Change { what, a: quantity(a, what)?, b: quantity(b, what)? });
        let size = |change: &Change| (change.b / change.a).ln().abs();
        let least = ratio.value.ln().abs() * SHARE;
        cell.changes = quantities.into_iter().filter_map(change).filter(|change| size(change) >= least).collect();
        cell.changes.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let kinds = a.bottleneck.as_ref().map(|of| of.kind).zip(b.bottleneck.as_ref().map(|of| of.kind));
        cell.bottlenecks = kinds.filter(|(a, b)| a != b);
    }
}

/// A quantity that changed by less than this share of what the throughput changed by, on a logarithmic scale, explains
/// little of it.
const SHARE: f64 = 0.25;

/// Why a run has no figure for a cell.
fn missing(run: &str, finding: Option<&CellFinding>) -> Option<String> {
    match finding {
        None => Some(format!("{run} does not have it")),
        Some(of) => match &of.verdict {
            Verdict::Measured => None,
            Verdict::Failed(why) | Verdict::Unsteady(why) | Verdict::Missing(why) => {
                Some(format!("no figure in {run}: {why}"))
            }
            Verdict::NotRun => Some(format!("{run} did not measure it")),
        },
    }
}

fn figures(finding: &CellFinding) -> Option<Figures> {
    let latency = finding.latency.as_ref().map(|of| of.mean.as_seconds() * 1e9);
    Some(Figures { throughput: finding.throughput?, iops: finding.iops?.value, latency })
}

/// A quantity of a cell; `None` where it is not known, or nothing.
fn quantity(of: &CellFinding, what: Quantity) -> Option<f64> {
    let value = match what {
        Quantity::CpuPerOperationNs => of.cpu_per_operation?.as_seconds() * 1e9,
        Quantity::DriveBytesRatio => of.drive_bytes_ratio?,
        Quantity::DriveQueueOperations => of.drives.iter().map(|drive| drive.queue).sum(),
    };
    (value > 0.0).then_some(value)
}

/// Mean of the logarithms.
fn mean(of: &BTreeMap<u32, f64>) -> Option<f64> {
    (!of.is_empty()).then(|| of.values().map(|value| value.ln()).sum::<f64>() / real(of.len()))
}

/// The logarithm of the ratio of `b` to `a` from rounds that have nothing in common, with its error. `None` of a single round.
fn welch(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>) -> Option<Moments> {
    let [x, y] = [a, b].map(|of| of.values().map(|value| value.ln()).collect::<Vec<f64>>());
    let ((mean_x, sx), (mean_y, sy)) = (interval::moments(&x)?, interval::moments(&y)?);
    let (vx, vy) = (sx * sx / real(x.len()), sy * sy / real(y.len()));
    let degrees = interval::satterthwaite([(vx, real(x.len()) - 1.0), (vy, real(y.len()) - 1.0)]);
    Some(Moments { mean: mean_y - mean_x, deviation: (vx + vy).sqrt(), degrees })
}

#[cfg(test)]
mod tests {
    use terms::inventory::Inventory;

    use super::*;
    use crate::tests::{cell, provenance};

    /// What a run gave: throughput of each round, for the stacks `a` and `b` under one workload.
    struct Made {
        findings: Findings,
        cells: Vec<Cell>,
    }

    impl Made {
        fn new(run: &str, clock: Option<&str>, seed: u64, rounds: &[(f64, f64)]) -> Self {
            let rounds: Vec<Vec<f64>> = rounds.iter().map(|(a, b)| vec![*a, *b]).collect();
            Self::of(run, clock, seed, &["a".to_owned(), "b".to_owned()], &rounds)
        }

        /// The same of any stacks.
        fn of(run: &str, clock: Option<&str>, seed: u64, stacks: &[String], rounds: &[Vec<f64>]) -> Self {
            let mut of = provenance(&stacks.iter().map(String::as_str).collect::<Vec<_>>(), &["w"]);
            (of.run, of.seed) = (run.to_owned(), seed);
            if let Some(clock) = clock {
                (of.place, of.accelerator) = ("lab".to_owned(), Some(clock.to_owned()));
            }
            let cells: Vec<Cell> = (1..)
                .zip(rounds)
                .flat_map(|(round, rates)| {
                    rates.iter().zip(stacks).map(move |(rate, stack)| cell(round, stack, "w", *rate))
                })
                .collect();
            Self { findings: crate::study(&of, &Inventory::default(), &cells, &[]), cells }
        }

        /// The same, from windows whose means are known to these shares of them.
        fn known_to(mut self, half_widths: [f64; 2]) -> Self {
            for (cell, half) in self.cells.iter_mut().zip(half_widths.into_iter().cycle()) {
                cell.steadiness = Some(terms::evidence::Steadiness {
                    state: terms::evidence::State::Steady,
                    samples: 20,
                    warmup: terms::Nanos::default(),
                    effective_samples: 18.0,
                    half_width: Some(half),
                    drift: 0.0,
                    cliff: None,
                    low: 1.0,
                    high: 1.0,
                    snia: true,
                });
            }
            self
        }

        fn run(&self) -> Run<'_> {
            Run { findings: &self.findings, cells: &self.cells }
        }
    }

    const VIRTUAL: Option<&str> = Some(terms::record::ICOUNT);

    fn verdicts(of: &RunComparison) -> Vec<Option<Compared>> {
        of.cells.iter().map(|cell| cell.verdict).collect()
    }

    #[test]
    fn one_round_in_virtual_time_finds_a_planted_percent() {
        let known = |run, rates| Made::new(run, VIRTUAL, 7, &[rates]).known_to([0.001, 0.001]);
        let (one, other) = (known("r1", (1e8, 2e8)), known("r2", (1.002e8, 1.98e8)));
        let of = runs(one.run(), other.run()).unwrap();
        assert!(of.repeats);
        assert_eq!(verdicts(&of), [Some(Compared::Equivalent), Some(Compared::Slower)]);
        assert_eq!([0.003, 0.01].map(|share| of.slower_by(share).count()), [1, 0], "{:?}", of.cells[1].ratio);
        assert_eq!(of.cells[1].changes.first().map(|change| change.what), Some(Quantity::CpuPerOperationNs));
        assert!(of.cells[0].changes.is_empty());
    }

    #[test]
    fn another_window_or_drive_is_other_work() {
        let one = Made::new("r1", VIRTUAL, 7, &[(1e8, 2e8)]);
        let mut other = Made::new("r2", VIRTUAL, 7, &[(1e8, 1.98e8)]);
        other.findings.provenance.window = terms::Nanos(one.findings.provenance.window.0 * 10);
        let of = runs(one.run(), other.run()).unwrap();
        assert!(!of.repeats);
        assert_eq!(verdicts(&of), [Some(Compared::CannotTell); 2], "one round of each, and short");
        let of = runs(one.known_to([0.01; 2]).run(), other.known_to([0.001; 2]).run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::Equivalent); 2], "the margin goes first: {:?}", of.cells);
    }

    #[test]
    fn what_scatters_within_a_virtual_run_is_no_difference_between_two() {
        // 4 KiB writes through LUKS2 on RAID-1, in thousands a second, six rounds of each of two runs.
        let rounds = |of: [f64; 6]| of.map(|rate| (rate * 1e3, 7.15e4));
        let one = Made::new("r1", VIRTUAL, 7, &rounds([58.74, 66.88, 58.37, 58.68, 58.59, 58.31]));
        let other = Made::new("r2", VIRTUAL, 7, &rounds([65.21, 58.54, 58.47, 59.73, 65.54, 60.51]));
        let of = runs(one.run(), other.run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::CannotTell), Some(Compared::Equivalent)]);
        assert!(of.cells[1].ratio.unwrap().high.unwrap() < 1.0051, "{:?}", of.cells[1].ratio);
    }

    #[test]
    fn rounds_that_are_the_same_in_both_runs_leave_no_doubt_however_far_they_scatter() {
        let made = |run| Made::new(run, VIRTUAL, 7, &[(5e7, 1e8), (6e7, 1e8)]);
        let of = runs(made("r1").run(), made("r2").run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::Equivalent); 2]);
        let different = Made::new("r2", VIRTUAL, 7, &[(5e7, 1e8), (6.1e7, 1e8)]);
        let of = runs(made("r1").run(), different.run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::CannotTell), Some(Compared::Equivalent)]);
    }

    #[test]
    fn one_round_has_the_scatter_within_its_window() {
        let scattered = |run, rate| Made::new(run, VIRTUAL, 7, &[(rate, rate)]).known_to([0.05, 0.01]);
        let of = runs(scattered("r1", 1e8).run(), scattered("r2", 1.03e8).run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::CannotTell), Some(Compared::Faster)]);
        // A window without one says nothing, except of itself.
        let short = |rate| Made::new("r", VIRTUAL, 7, &[(1e8, rate)]);
        let of = runs(short(1e8).run(), short(1.2e8).run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::Equivalent), Some(Compared::CannotTell)]);
        assert!(of.cells[1].why_not.as_ref().is_some_and(|why| why.contains("short")), "{:?}", of.cells[1]);
    }

    #[test]
    fn of_many_cells_one_that_is_a_little_off_is_no_difference() {
        let found = |stacks: usize| {
            let names: Vec<String> = (0..stacks).map(|at| format!("s{at}")).collect();
            let made = |run, last: f64| {
                let rates = (0..stacks).map(|at| if at + 1 == stacks { last } else { 1e8 }).collect();
                Made::of(run, VIRTUAL, 7, &names, &[rates]).known_to([0.01, 0.01])
            };
            runs(made("r1", 1e8).run(), made("r2", 1.016e8).run()).unwrap().cells.pop().unwrap()
        };
        assert_eq!(found(1).verdict, Some(Compared::Faster));
        let one_of_forty = found(40);
        assert_ne!(one_of_forty.verdict, Some(Compared::Faster), "{one_of_forty:?}");
        assert!(
            one_of_forty.ratio.unwrap().low.unwrap() < 1.0,
            "the interval says what the answer says: {one_of_forty:?}"
        );
    }

    #[test]
    fn rounds_that_only_one_run_has_say_nothing_of_the_other() {
        let one = Made::new("r1", VIRTUAL, 7, &[(5e7, 1e8)]);
        let more = Made::new("r2", VIRTUAL, 7, &[(5e7, 1e8), (9e7, 1.5e8)]);
        let of = runs(one.run(), more.run()).unwrap();
        assert_eq!(verdicts(&of), [Some(Compared::Equivalent); 2]);
        assert!(of.cells.iter().all(|cell| cell.ratio.is_some_and(|ratio| (ratio.value - 1.0).abs() < 1e-12)));
    }

    #[test]
    fn another_seed_is_another_sample() {
        let (one, other) = (Made::new("r1", VIRTUAL, 7, &[(1e8, 2e8)]), Made::new("r2", VIRTUAL, 8, &[(1e8, 1.8e8)]));
        let of = runs(one.run(), other.run()).unwrap();
        assert_eq!((of.repeats, verdicts(&of)), (false, vec![Some(Compared::CannotTell); 2]));
        assert!(of.cells[0].why_not.is_some());
    }

    #[test]
    fn rounds_of_real_clocks_decide_by_their_scatter() {
        let rounds = |slow: f64| -> Vec<(f64, f64)> {
            [1.0, 1.01, 0.99, 1.005, 0.995].iter().map(|noise| (1e8 * noise, 2e8 * noise * slow)).collect()
        };
        let (one, other) = (Made::new("r1", None, 7, &rounds(1.0)), Made::new("r2", None, 7, &rounds(0.9)));
        let of = runs(one.run(), other.run()).unwrap();
        assert_eq!((of.repeats, verdicts(&of)), (false, vec![Some(Compared::Equivalent), Some(Compared::Slower)]));
    }

    #[test]
    fn equals_are_called_different_in_one_table_of_twenty_at_most() {
        // A multiplicative generator (Park and Miller, 1988); sums of twelve uniform draws are near enough to normal.
        let mut state = 1_u64;
        let mut draw = move || {
            (0..12)
                .map(|_| {
                    state = state * 16_807 % 2_147_483_647;
                    f64::from(u32::try_from(state).unwrap()) / 2_147_483_647.0
                })
                .sum::<f64>()
                - 6.0
        };
        let mut made = |run: &str| {
            let rounds: Vec<(f64, f64)> =
                (0..4).map(|_| (1e8 * (0.05 * draw()).exp(), 2e8 * (0.05 * draw()).exp())).collect();
            Made::new(run, None, 7, &rounds)
        };
        let wrong = (0..400).filter(|_| {
            let of = runs(made("r1").run(), made("r2").run()).unwrap();
            of.cells.iter().any(|cell| matches!(cell.verdict, Some(Compared::Faster | Compared::Slower)))
        });
        let wrong = wrong.count();
        assert!(wrong <= 28, "{wrong} of 400");
    }

    #[test]
    fn what_means_nothing_side_by_side_is_refused() {
        let rounds = [(1e8, 2e8)];
        let refused = |a: &Made, b: &Made| runs(a.run(), b.run()).unwrap_err().join("; ");
        let real = Made::new("r1", None, 7, &rounds);
        let tcg = Made::new("r2", Some("tcg"), 7, &rounds);
        let kvm = Made::new("r3", Some("kvm"), 7, &rounds);
        let counted = Made::new("r4", VIRTUAL, 7, &rounds);
        assert!(refused(&real, &tcg).contains("real drives"));
        assert!(refused(&tcg, &counted).contains("a second is not the same"));
        assert!(refused(&tcg, &kvm).contains("their processors"));
        assert!(refused(&real, &Made::new("r5", None, 7, &[])).contains("no stack and workload"));
    }

    #[test]
    fn a_workload_of_the_same_name_may_be_another() {
        let (one, mut other) = (Made::new("r1", VIRTUAL, 7, &[(1e8, 2e8)]), Made::new("r2", VIRTUAL, 7, &[(1e8, 2e8)]));
        other.findings.provenance.workloads[0].depth += 1;
        assert_eq!(runs(one.run(), other.run()).unwrap_err().len(), 1);
    }

    fn rounds(values: &[f64]) -> BTreeMap<u32, f64> {
        (1..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn welch_worked_by_hand() {
        // Logarithms 0, 0.1, 0.2 and 1, 1.2: means 0.1 and 1.1, variances 0.01 and 0.02; e² = 0.01/3 + 0.02/2 = 0.013333;
        // degrees 0.013333² / (0.0033333²/2 + 0.01²/1) = 1.6842.
        let exp = |logs: &[f64]| rounds(&logs.iter().map(|log: &f64| log.exp()).collect::<Vec<_>>());
        let of = welch(&exp(&[0.0, 0.1, 0.2]), &exp(&[1.0, 1.2])).unwrap();
        assert!((of.mean - 1.0).abs() < 1e-9 && (of.degrees - 1.684_210_5).abs() < 1e-6, "{of:?}");
        let half = interval::student(1.684_210_5, 0.975).unwrap() * 0.013_333_333_f64.sqrt();
        let high = interval_of(&of, 1, Looks::Once.upper()).1.unwrap();
        assert!((high.ln() - 1.0 - half).abs() < 1e-6, "{high}");
        let chance = chance_among_looks(&of, 1, Looks::Once).unwrap();
        assert!(chance < 0.05 && chance > 0.01, "{chance}");
    }

    #[test]
    fn one_round_has_no_moments() {
        assert_eq!(welch(&rounds(&[1.0]), &rounds(&[2.0, 2.1])), None);
        assert_eq!(welch(&rounds(&[]), &rounds(&[1.0])), None);
        assert_eq!(mean(&rounds(&[])), None);
    }

    #[test]
    fn answers_follow_from_chances_and_intervals() {
        let answer = |value: f64, low: f64, high: f64, p: f64| {
            super::answer(true, value, (Some(low), Some(high)), Some(p), &MeasurePolicy::default())
        };
        assert_eq!(answer(1.002, 0.992, 1.012, 0.5), Compared::Equivalent);
        assert_eq!(answer(1.02, 1.01, 1.03, 0.01), Compared::Faster, "certain, though within the margin");
        assert_eq!(answer(0.9, 0.89, 0.91, 0.01), Compared::Slower);
        assert_eq!(answer(1.02, 0.9, 1.15, 0.3), Compared::CannotTell);
        assert_eq!(answer(1.05, 1.01, 1.09, 0.2), Compared::CannotTell, "one of many");
    }
}
