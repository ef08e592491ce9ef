//! Sessions that never happened: rounds with noise, drift and correlation of which the truth is known, judged by the
//! same function that judges real ones.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use terms::finding::{Compared, Findings};
use terms::inventory::Inventory;
use terms::record::{Cell, CellKey, Flow, ICOUNT, Latency, Provenance, RECORD_SCHEMA, Reading, StackEntry};
use terms::{Bytes, BytesPerSecond, Control, Iops, MeasurePolicy, Name, Nanos, Pattern, Replicate, Workload};

/// The rate that is true.
pub(crate) const TRUTH: f64 = 1e8;

pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn even(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// From the standard normal distribution (Box and Muller, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let (a, b) = (self.even(), self.even());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Rounds from `rounds` to `most`.
pub(crate) fn policy(rounds: u32, most: u32) -> MeasurePolicy {
    MeasurePolicy {
        rounds,
        max_rounds: most,
        control: Control::Off,
        replicate: Replicate::Rebuild,
        ..MeasurePolicy::default()
    }
}

fn provenance(stacks: &[&str], policy: &MeasurePolicy) -> Provenance {
    let entry = |slug: &&str| StackEntry {
        slug: (*slug).to_owned(),
        name: (*slug).to_owned(),
        note: None,
        nodes: vec![],
        missing: None,
    };
    Provenance {
        schema: RECORD_SCHEMA,
        run: String::new(),
        question: String::new(),
        started: String::new(),
        command: vec![],
        version: String::new(),
        build: String::new(),
        study_sha256: String::new(),
        place: "local".to_owned(),
        accelerator: None,
        cpu: None,
        drives: Vec::new(),
        seed: 1,
        rounds: policy.rounds,
        settle: policy.settle,
        window: policy.window,
        span: policy.span,
        policy: Some(policy.clone()),
        stacks: stacks.iter().map(entry).collect(),
        workloads: vec![Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes::kib(4))],
        charts: Vec::new(),
    }
}

fn cell(round: u32, stack: &str, rate: f64) -> Cell {
    let operations = (rate * 3.0 / 4096.0) as u64;
    let flow = Flow {
        bytes: Bytes(operations * 4096),
        operations,
        runtime: Nanos::seconds(3),
        throughput: BytesPerSecond(rate),
        iops: Iops(rate / 4096.0),
        latency: Latency { mean: Nanos(1000), max: Nanos(1000), bins: vec![(1000, operations)], ..Latency::default() },
    };
    let key = CellKey { round, stack: stack.to_owned(), workload: "w".to_owned() };
    Cell {
        reading: Some(Reading { read: Some(flow), ..Reading::default() }),
        ..Cell::begun(key, String::new(), vec![], 1)
    }
}

/// Plays rounds until the rule that runs use says enough, and gives what it then finds. `rates` gives the rate of each
/// stack in a round.
pub(crate) fn session(stacks: &[&str], policy: &MeasurePolicy, mut rates: impl FnMut(u32) -> Vec<f64>) -> Findings {
    let provenance = provenance(stacks, policy);
    let mut cells = Vec::new();
    for round in 1..=policy.most_rounds() {
        for (stack, rate) in stacks.iter().zip(rates(round)) {
            cells.push(cell(round, stack, rate));
        }
        if round < policy.rounds {
            continue;
        }
        let findings = analyse::study(&provenance, &Inventory::default(), &cells, &[]);
        if round == policy.most_rounds() || analyse::open_cells(&findings).is_empty() {
            return findings;
        }
    }
    unreachable!("the last round gives an answer")
}

/// Share of sessions of one stack whose interval holds the truth, and their mean number of rounds. Rounds differ by
/// `noise` and are correlated by `between`; each is the mean of 60 samples correlated by `within`.
pub(crate) fn coverage(sessions: u32, rounds: (u32, u32), noise: f64, between: f64, within: f64) -> (f64, f64) {
    let mut dice = Dice::new(7);
    let (mut held, mut used) = (0.0, 0.0);
    for _ in 0..sessions {
        let mut last = dice.normal();
        let findings = session(&["a"], &policy(rounds.0, rounds.1), |_| {
            let now = last;
            last = between * last + (1.0 - between * between).sqrt() * dice.normal();
            let mut sample = dice.normal();
            let mut sum = 0.0;
            for _ in 0..60 {
                sum += sample;
                sample = within * sample + (1.0 - within * within).sqrt() * dice.normal();
            }
            vec![TRUTH * (noise * now + 0.02 * sum / 60.0).exp()]
        });
        let estimate = findings.cells[0].throughput.unwrap();
        held += f64::from(u8::from((estimate.low.unwrap()..=estimate.high.unwrap()).contains(&TRUTH)));
        used += f64::from(estimate.rounds);
    }
    (held / f64::from(sessions), used / f64::from(sessions))
}

/// Share of sessions of equal stacks in which any is called faster or slower, while the machine slows down by `drift`
/// from the first cell to the last. Rounds in random order, as runs have them.
pub(crate) fn false_winners(sessions: u32, stacks: &[&str], rounds: (u32, u32), drift: f64, noise: f64) -> f64 {
    let mut dice = Dice::new(11);
    let mut false_ones = 0.0;
    for _ in 0..sessions {
        let count = stacks.len() as f64;
        let findings = session(stacks, &policy(rounds.0, rounds.1), |round| {
            let mut order: Vec<(f64, usize)> = (0..stacks.len()).map(|at| (dice.even(), at)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut rates = vec![0.0; stacks.len()];
            for (slot, (_, at)) in order.into_iter().enumerate() {
                let time = (f64::from(round - 1) * count + slot as f64) / (f64::from(rounds.1) * count);
                rates[at] = TRUTH * (1.0 - drift * time) * (noise * dice.normal()).exp();
            }
            rates
        });
        let winner = |verdict| matches!(verdict, Compared::Faster | Compared::Slower);
        false_ones += f64::from(u8::from(findings.comparisons.iter().any(|of| winner(of.verdict))));
    }
    false_ones / f64::from(sessions)
}

/// The same machine, one stack after the other, each measured `rounds` times in a row, compared by Welch's test at 5 %:
/// what a person with a script does.
pub(crate) fn one_after_the_other(sessions: u32, rounds: u32, drift: f64, noise: f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, StudentsT};
    let mut dice = Dice::new(13);
    let n = f64::from(rounds);
    let mut false_ones = 0.0;
    for _ in 0..sessions {
        let mut series = |first: f64| -> (f64, f64) {
            let values: Vec<f64> = (0..rounds)
                .map(|round| {
                    (1.0 - drift * (first + f64::from(round)) / (2.0 * n - 1.0)) * (noise * dice.normal()).exp()
                })
                .collect();
            let mean = values.iter().sum::<f64>() / n;
            (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0))
        };
        let ((a, of_a), (b, of_b)) = (series(0.0), series(n));
        let error = (of_a + of_b) / n;
        let degrees = error * error / ((of_a / n).powi(2) + (of_b / n).powi(2)) * (n - 1.0);
        let chance = 2.0 * StudentsT::new(0.0, 1.0, degrees).unwrap().sf(((a - b) / error.sqrt()).abs());
        false_ones += f64::from(u8::from(chance < 0.05));
    }
    false_ones / f64::from(sessions)
}

/// Share of sessions in which a stack that is really faster by `difference` is called so.
pub(crate) fn power(sessions: u32, rounds: (u32, u32), difference: f64, noise: f64) -> f64 {
    let mut dice = Dice::new(17);
    let mut found = 0.0;
    for _ in 0..sessions {
        let findings = session(&["a", "b"], &policy(rounds.0, rounds.1), |_| {
            vec![TRUTH * (noise * dice.normal()).exp(), TRUTH * (1.0 + difference) * (noise * dice.normal()).exp()]
        });
        found += f64::from(u8::from(findings.comparisons[0].verdict == Compared::Faster));
    }
    found / f64::from(sessions)
}

/// Noise of five stacks: alike, wild, and unlike. Stacks that scatter little must not lend to those that scatter much.
pub(crate) const NOISES: [[f64; 5]; 4] =
    [[0.05; 5], [0.15; 5], [0.02, 0.02, 0.2, 0.02, 0.2], [0.3, 0.01, 0.01, 0.01, 0.01]];

/// What a table of five stacks says of their four ratios to the first.
pub(crate) struct Told {
    /// Share of the ratios whose interval holds the truth.
    pub(crate) held: f64,
    /// Share of the sessions in which a stack that is equal to the first is called faster or slower.
    pub(crate) wrong: f64,
    /// Share of the ratios that are not 1 of which the answer is right.
    pub(crate) decided: f64,
}

/// Sessions of five stacks: two are equal to the first, one gives 0.7 of it, one 0.5. Each has a noise of its own.
pub(crate) fn table(sessions: u32, rounds: u32, noise: [f64; 5]) -> Told {
    const RATIOS: [f64; 5] = [1.0, 1.0, 1.0, 0.7, 0.5];
    let stacks = ["a", "b", "c", "d", "e"];
    let mut dice = Dice::new(19);
    let mut told = Told { held: 0.0, wrong: 0.0, decided: 0.0 };
    for _ in 0..sessions {
        let findings = session(&stacks, &policy(rounds, rounds), |_| {
            RATIOS.iter().zip(noise).map(|(ratio, noise)| TRUTH * ratio * (noise * dice.normal()).exp()).collect()
        });
        let mut wrong = false;
        for (stack, truth) in stacks.iter().zip(RATIOS).skip(1) {
            let of = findings.comparisons.iter().find(|of| of.stack == *stack && of.other == "a").unwrap();
            let (low, high) = (of.ratio.low.unwrap(), of.ratio.high.unwrap());
            told.held += f64::from(u8::from((low..=high).contains(&truth))) / 4.0;
            let answered = matches!(of.verdict, Compared::Faster | Compared::Slower);
            if truth < 1.0 {
                told.decided += f64::from(u8::from(of.verdict == Compared::Slower)) / 2.0;
            } else {
                wrong |= answered;
            }
        }
        told.wrong += f64::from(u8::from(wrong));
    }
    let share = |sum: f64| sum / f64::from(sessions);
    Told { held: share(told.held), wrong: share(told.wrong), decided: share(told.decided) }
}

/// How samples of a window scatter: each by itself, and in waves that last some samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    pub(crate) each: f64,
    pub(crate) slow: f64,
    /// How much of a wave is left after one sample.
    pub(crate) lasts: f64,
}

/// From a disk's large reads to writes that a journal holds up.
pub(crate) const SCATTERS: [Scatter; 3] = [
    Scatter { each: 0.05, slow: 0.0, lasts: 0.0 },
    Scatter { each: 0.10, slow: 0.05, lasts: 0.8 },
    Scatter { each: 0.30, slow: 0.10, lasts: 0.9 },
];

/// Tables of five stacks with one round under a virtual clock: windows of 32 samples, and as much longer as a comparison
/// needs, at most 64 times, in at most four windows. Two stacks are equal to the first, one gives 0.9 of it, one 0.5.
pub(crate) fn windows(sessions: u32, scatter: Scatter) -> Told {
    const RATIOS: [f64; 5] = [1.0, 1.0, 1.0, 0.9, 0.5];
    let stacks = ["a", "b", "c", "d", "e"];
    let policy = MeasurePolicy { precision: terms::PerMille(1000), ..policy(1, 1) };
    let provenance = Provenance { accelerator: Some(ICOUNT.to_owned()), ..provenance(&stacks, &policy) };
    let mut dice = Dice::new(23);
    let mut told = Told { held: 0.0, wrong: 0.0, decided: 0.0 };
    for _ in 0..sessions {
        let mut cells: Vec<Cell> = Vec::new();
        for (at, (stack, ratio)) in stacks.iter().zip(RATIOS).enumerate() {
            let pairs = stacks.len() - 1;
            let wanted = match at {
                0 => analyse::Wanted::of_first(&policy, pairs, pairs),
                _ => analyse::Wanted::beside(&policy, pairs, cells.first()),
            };
            let mut window = |samples: usize| {
                let mut wave = dice.normal();
                let rates: Vec<f64> = (0..samples)
                    .map(|_| {
                        wave = scatter.lasts * wave + (1.0 - scatter.lasts.powi(2)).sqrt() * dice.normal();
                        TRUTH * ratio * (1.0 + scatter.each * dice.normal() + scatter.slow * wave).max(0.0)
                    })
                    .collect();
                let mean = rates.iter().sum::<f64>() / samples as f64;
                (mean, steady::judge(&rates, Nanos::millis(31)))
            };
            let mut samples = 32.0;
            let (mut rate, mut of) = window(32);
            for _ in 1..4 {
                let wanted = (samples * wanted.times(rate, &of).ceil()).min(64.0 * 32.0);
                if wanted <= samples {
                    break;
                }
                samples = wanted;
                (rate, of) = window(samples as usize);
            }
            cells.push(Cell { steadiness: Some(of), ..cell(1, stack, rate) });
        }
        let findings = analyse::study(&provenance, &Inventory::default(), &cells, &[]);
        let mut wrong = false;
        for (stack, truth) in stacks.iter().zip(RATIOS).skip(1) {
            let Some(of) = findings.comparisons.iter().find(|of| of.stack == *stack && of.other == "a") else {
                // A window that was no single thing has no comparison.
                told.held += 0.25;
                continue;
            };
            let (low, high) = (of.ratio.low.unwrap(), of.ratio.high.unwrap());
            told.held += f64::from(u8::from((low..=high).contains(&truth))) / 4.0;
            let right = if truth < 1.0 { Compared::Slower } else { Compared::Equivalent };
            told.decided += f64::from(u8::from(of.verdict == right)) / 4.0;
            wrong |= ![right, Compared::CannotTell].contains(&of.verdict);
        }
        told.wrong += f64::from(u8::from(wrong));
    }
    let share = |sum: f64| sum / f64::from(sessions);
    Told { held: share(told.held), wrong: share(told.wrong), decided: share(told.decided) }
}
