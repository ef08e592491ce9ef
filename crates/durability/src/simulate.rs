//! The same year, drawn many times: events in time instead of closed forms.
//!
//! Failures of each drive come at its rate, multiplied while another drive of its arrangement is missing. Each is back
//! after the window. Whenever the drives that are missing leave the arrangement without data, everything is lost, and all
//! begins anew. Whenever they leave it with nothing to spare, what is left is read, and may hold unreadable blocks.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use terms::durability::{Cause, Healing};

use crate::arrangement::Arrangement;
use crate::loss::{Circumstances, Hazards};

/// What was seen in so many simulated years.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Years.
    pub years: f64,
    /// By cause: events, and bytes lost.
    pub causes: Vec<(Cause, u64, f64)>,
}

impl Simulated {
    /// Events of a cause in a year.
    #[must_use]
    pub fn a_year(&self, cause: Cause) -> f64 {
        self.events(cause) as f64 / self.years
    }

    /// Standard error of [`Self::a_year`], as of a Poisson count.
    #[must_use]
    pub fn error(&self, cause: Cause) -> f64 {
        (self.events(cause).max(1) as f64).sqrt() / self.years
    }

    /// Bytes lost in a year, whatever the cause.
    #[must_use]
    pub fn bytes_a_year(&self) -> f64 {
        self.causes.iter().map(|(_, _, bytes)| bytes).sum::<f64>() / self.years
    }

    fn events(&self, cause: Cause) -> u64 {
        self.causes.iter().find(|(of, _, _)| *of == cause).map_or(0, |(_, events, _)| *events)
    }
}

/// Draws that many years; the same seed gives the same years.
#[must_use]
pub fn simulate(circumstances: &Circumstances, years: f64, seed: u64) -> Simulated {
    let mut run = Run::new(circumstances, seed);
    while run.now < years {
        run.step(years);
    }
    let (together, unreadable) = (run.together, run.unreadable);
    let mut poisson = |mean: f64| draw_count(&mut run.random, mean);
    let common = poisson(circumstances.common * years);
    let silent_alone = if circumstances.healing == Healing::Repaired {
        0
    } else {
        let all: f64 = circumstances.drives.drives().iter().map(|drive| drive.silent).sum();
        poisson(all * circumstances.drives.data_share() * years)
    };
    let unreadable_alone = poisson(alone(&circumstances.drives) * years);
    let (stored, region) = (circumstances.stored, circumstances.region.min(circumstances.stored));
    let cause = |cause, events: u64, bytes: f64| (cause, events, events as f64 * bytes);
    Simulated {
        years,
        causes: vec![
            cause(Cause::DrivesTogether, together, stored),
            cause(Cause::UnreadableBlock, unreadable + unreadable_alone, circumstances.block),
            cause(Cause::SilentCorruption, run.waiting + silent_alone, region),
            cause(Cause::CommonCause, common, stored),
        ],
    }
}

/// Unreadable blocks in a year on drives that nothing stands in for.
fn alone(arrangement: &Arrangement<Hazards>) -> f64 {
    match arrangement {
        Arrangement::Drive(drive) => drive.latent,
        Arrangement::Group { survives, .. } if *survives > 0 => 0.0,
        Arrangement::All(members) | Arrangement::Group { members, .. } => members.iter().map(alone).sum(),
    }
}

struct Run<'a> {
    of: &'a Circumstances,
    /// Drives by number, so that a drive can be told from one with the same figures.
    numbered: Arrangement<usize>,
    hazards: Vec<Hazards>,
    /// Drives that share a group, by drive: whose failures raise whose hazard.
    peers: Vec<Vec<usize>>,
    random: ChaCha8Rng,
    now: f64,
    /// When each drive is back; none while it is there.
    back: Vec<Option<f64>>,
    together: u64,
    unreadable: u64,
    waiting: u64,
}

impl<'a> Run<'a> {
    fn new(of: &'a Circumstances, seed: u64) -> Self {
        let hazards: Vec<Hazards> = of.drives.drives().into_iter().copied().collect();
        let count = std::cell::Cell::new(0);
        let numbered = of.drives.map(&|_| count.replace(count.get() + 1));
        let mut peers = vec![Vec::new(); hazards.len()];
        share(&numbered, &mut peers);
        let back = vec![None; hazards.len()];
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { of, numbered, hazards, peers, random, now: 0.0, back, together: 0, unreadable: 0, waiting: 0 }
    }

    /// Goes on to the next failure or return.
    fn step(&mut self, end: f64) {
        let rates: Vec<f64> = (0..self.hazards.len()).map(|drive| self.rate(drive)).collect();
        let all: f64 = rates.iter().sum();
        let next = if all > 0.0 { self.now - self.uniform().ln() / all } else { f64::INFINITY };
        let returning = self.back.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        if returning <= next {
            self.now = returning;
            self.back.iter_mut().filter(|back| **back == Some(returning)).for_each(|back| *back = None);
            return;
        }
        self.now = next;
        if next >= end {
            return;
        }
        let mut at = self.uniform() * all;
        let drive = rates.iter().position(|rate| {
            at -= rate;
            at <= 0.0
        });
        self.fail(drive.unwrap_or(rates.len() - 1));
    }

    /// Failures of a drive in a year, now.
    fn rate(&self, drive: usize) -> f64 {
        if self.back[drive].is_some() {
            return 0.0;
        }
        let missing = self.peers[drive].iter().any(|peer| self.back[*peer].is_some());
        self.hazards[drive].failures * if missing { self.of.correlation } else { 1.0 }
    }

    fn fail(&mut self, drive: usize) {
        self.back[drive] = Some(self.now + self.of.window);
        if is_lost(&self.numbered, &self.back) {
            self.together += 1;
            self.back.fill(None);
            return;
        }
        let mut last = Vec::new();
        last_of(&self.numbered, &self.back, drive, &mut last);
        let sum = |of: &dyn Fn(&Hazards) -> f64| last.iter().map(|drive| of(&self.hazards[*drive])).sum::<f64>();
        let (unreadable, waiting) = (sum(&|drive| drive.unreadable), sum(&|drive| drive.waiting));
        self.unreadable += draw_count(&mut self.random, unreadable);
        if self.of.healing == Healing::Repaired {
            self.waiting += draw_count(&mut self.random, waiting);
        }
    }

    fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}

/// Notes for each drive who shares a group with it.
fn share(arrangement: &Arrangement<usize>, peers: &mut [Vec<usize>]) {
    match arrangement {
        Arrangement::Drive(_) => {}
        Arrangement::All(members) => members.iter().for_each(|member| share(member, peers)),
        Arrangement::Group { .. } => {
            let drives: Vec<usize> = arrangement.drives().into_iter().copied().collect();
            for drive in &drives {
                peers[*drive].extend(drives.iter().filter(|peer| *peer != drive));
            }
        }
    }
}

fn is_lost(arrangement: &Arrangement<usize>, back: &[Option<f64>]) -> bool {
    match arrangement {
        Arrangement::Drive(drive) => back[*drive].is_some(),
        Arrangement::All(members) => members.iter().any(|member| is_lost(member, back)),
        Arrangement::Group { members, survives } => missing(members, back) > *survives,
    }
}

fn missing(members: &[Arrangement<usize>], back: &[Option<f64>]) -> usize {
    members.iter().filter(|member| is_lost(member, back)).count()
}

/// Drives that have to be read without fail after this one failed: those of its group, if that has nothing to spare now.
fn last_of(arrangement: &Arrangement<usize>, back: &[Option<f64>], failed: usize, last: &mut Vec<usize>) {
    match arrangement {
        Arrangement::Drive(_) => {}
        Arrangement::All(members) => members.iter().for_each(|member| last_of(member, back, failed, last)),
        Arrangement::Group { members, survives } => {
            if *survives > 0 && missing(members, back) == *survives && arrangement.drives().contains(&&failed) {
                let left = members.iter().filter(|member| !is_lost(member, back));
                last.extend(left.flat_map(Arrangement::drives).copied());
            }
        }
    }
}

/// Even between 0 and 1, above 0 so that it has a logarithm: the upper 53 bits, as many as a double holds.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// How many of events that come independently, with that mean: waits are added up until they pass it.
fn draw_count(random: &mut ChaCha8Rng, mean: f64) -> u64 {
    // One draw for each event would take for ever beyond this; there the normal distribution is as good.
    const MANY: f64 = 1e6;
    if mean > MANY {
        let (a, b) = (uniform(random), uniform(random));
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        return rounded(mean + mean.sqrt() * normal);
    }
    let (mut count, mut sum) = (0, 0.0);
    loop {
        sum -= uniform(random).ln();
        if sum > mean {
            return count;
        }
        count += 1;
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, far below 2^53 and above 0")]
fn rounded(count: f64) -> u64 {
    count.max(0.0).round() as u64
}
