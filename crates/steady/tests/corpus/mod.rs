//! Made-up windows of which it is known whether they are steady, shared by the test and the program that prints the
//! table.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use steady::rules;
use terms::Nanos;

/// Lengths of windows, in samples.
pub(crate) const LENGTHS: [usize; 4] = [30, 60, 100, 300];
/// Windows of each shape and length.
pub(crate) const EACH: usize = 1000;

/// Shapes.
pub(crate) const SHAPES: [&str; 6] = ["ramp up", "ramp down", "decay", "cliff", "sawtooth", "two levels"];

struct Dice(ChaCha8Rng);

impl Dice {
    /// Evenly from `low` to `high`.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From the standard normal distribution (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.between(1e-12, 1.0), self.between(0.0, std::f64::consts::TAU));
        (-2.0 * a.ln()).sqrt() * b.cos()
    }

    /// Autoregressive noise of that deviation and lag-1 correlation.
    fn noise(&mut self, count: usize, deviation: f64, correlation: f64) -> Vec<f64> {
        let own = (1.0 - correlation * correlation).sqrt();
        let mut last = self.normal();
        let mut next = || {
            let value = last;
            last = correlation * last + own * self.normal();
            value * deviation
        };
        (0..count).map(|_| next()).collect()
    }
}

/// A window that is steady: noise of 1 to 15 % with a correlation between samples of 0 to 0.7; of 0 to 0.5 where there
/// are only 30 samples, because strongly correlated noise of that length is a shape to anybody who looks at it.
fn steady_window(dice: &mut Dice, count: usize) -> Vec<f64> {
    let most = if count < 60 { 0.5 } else { 0.7 };
    let (deviation, correlation) = (dice.between(0.01, 0.15), dice.between(0.0, most));
    dice.noise(count, deviation, correlation).into_iter().map(|noise| (1.0 + noise).max(0.01)).collect()
}

/// A window of a shape: 20 to 100 % of the mean from its lowest to its highest, with noise of 1 to 3 %, correlated by
/// 0 to 0.3.
fn shaped_window(dice: &mut Dice, shape: &str, count: usize) -> Vec<f64> {
    let size = dice.between(0.2, 1.0);
    let (deviation, correlation) = (dice.between(0.01, 0.03), dice.between(0.0, 0.3));
    let place = |n: usize| n as f64 / (count - 1) as f64;
    let (edge, constant) = (dice.between(0.15, 0.85), dice.between(0.1, 0.6));
    let (cycles, phase) = (dice.between(1.5, 4.0), dice.between(0.0, 1.0));
    let curve = |n: usize| match shape {
        "ramp up" => place(n),
        "ramp down" => 1.0 - place(n),
        "decay" => (-place(n) / constant).exp(),
        "cliff" => f64::from(u8::from(place(n) < edge)),
        "sawtooth" => (place(n) * cycles + phase).fract(),
        _ => f64::from(u8::from((place(n) * cycles + phase).fract() < 0.5)),
    };
    let noise = dice.noise(count, deviation, correlation);
    (0..count).map(|n| (1.0 + size * (curve(n) - 0.5) + noise[n]).max(0.01)).collect()
}

/// How many windows each rule called steady.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) windows: usize,
    pub(crate) ours: usize,
    pub(crate) fio: usize,
    pub(crate) fio_corrected: usize,
    pub(crate) snia: usize,
}

impl Tally {
    fn count(&mut self, window: &[f64]) {
        self.windows += 1;
        let judged = steady::judge(window, Nanos::millis(100));
        self.ours += usize::from(judged.state.usable());
        self.fio += usize::from(rules::fio_slope(window, 10.0));
        self.fio_corrected += usize::from(rules::fio_slope(window, rules::fio_limit(window.len())));
        self.snia += usize::from(rules::snia(&rules::fifths(window)).is_some_and(|snia| snia.holds));
    }

    pub(crate) fn share(&self, count: usize) -> f64 {
        count as f64 / self.windows as f64
    }
}

/// Tallies by shape (`steady` among them) and length.
pub(crate) fn tallies() -> BTreeMap<(String, usize), Tally> {
    let mut tallies = BTreeMap::new();
    for count in LENGTHS {
        for shape in SHAPES.into_iter().chain(["steady"]) {
            let seed = shape.bytes().fold(count as u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
            let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
            let mut tally = Tally::default();
            for _ in 0..EACH {
                let window = match shape {
                    "steady" => steady_window(&mut dice, count),
                    _ => shaped_window(&mut dice, shape, count),
                };
                tally.count(&window);
            }
            tallies.insert((shape.to_owned(), count), tally);
        }
    }
    tallies
}
