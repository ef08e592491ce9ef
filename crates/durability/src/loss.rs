//! Probability of losing data in a year, and bytes lost, by closed forms.
//!
//! For a group of n that survives k, each of whose members fails L times a year and is back after T:
//!
//! ```text
//! degraded to its last   n L · Π(i = 1 … k-1) (n-i) L c T / i           times a year
//! too many at once       n L · Π(i = 1 … k)   (n-i) L c T / i
//! a block unreadable     degraded to its last · expected blocks in n-k members
//! ```
//!
//! c multiplies the hazard of the others while one is missing: drives of one batch, age, load and room do not fail
//! independently, and 1 to 100 is the honest range. T is the time until the replaced drive is full again. The product
//! with 1/i is the volume of overlapping windows of fixed length. It holds while n L c T is small; `simulate` does not
//! need that, and agrees (tests). Model and example: Elerath, Pecht, DSN 2007; Greenan, Plank, Wylie, HotStorage 2010.

use terms::durability::{Cause, CauseLoss, Healing, Loss, Spread};

use crate::arrangement::Arrangement;

/// One drive's figures at one end of their spreads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hazards {
    /// Failures in a year.
    pub failures: f64,
    /// Blocks that cannot be read, expected in one reading of all that is read for a rebuild.
    pub unreadable: f64,
    /// Times in a year that it comes to hold such a block, or that one is met because everything is read once a year.
    pub latent: f64,
    /// Times in a year that it returns wrong data.
    pub silent: f64,
    /// Wrong data that wait in it, expected at any time.
    pub waiting: f64,
}

/// One stack's figures at one end of their spreads.
#[derive(Debug, Clone, PartialEq)]
pub struct Circumstances {
    /// Drives and how they stand in for each other.
    pub drives: Arrangement<Hazards>,
    /// Years until a failed drive's share is whole again: until it is replaced, and the rebuild.
    pub window: f64,
    /// How much more often others fail while one is missing.
    pub correlation: f64,
    /// Times in a year that something takes everything.
    pub common: f64,
    /// What becomes of wrong data.
    pub healing: Healing,
    /// Bytes stored.
    pub stored: f64,
    /// Bytes lost with one unreadable block.
    pub block: f64,
    /// Bytes lost with one silent corruption.
    pub region: f64,
}

/// Events of one cause in a year, and bytes with each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Events {
    pub(crate) cause: Cause,
    pub(crate) a_year: f64,
    pub(crate) bytes: f64,
}

impl Circumstances {
    /// Events in a year, by cause.
    pub(crate) fn events(&self) -> [Events; 4] {
        let silent = match self.healing {
            Healing::Repaired => self.unreadable(&self.drives, &|drive| drive.waiting, &|_| 0.0),
            Healing::Noticed | Healing::Unnoticed => {
                // What lies in copies and parity is not served, unless something is missing.
                let all: f64 = self.drives.drives().iter().map(|drive| drive.silent).sum();
                all * self.drives.data_share()
            }
        };
        let unreadable = self.unreadable(&self.drives, &|drive| drive.unreadable, &|drive| drive.latent);
        [
            Events { cause: Cause::DrivesTogether, a_year: self.failures(&self.drives), bytes: self.stored },
            Events { cause: Cause::UnreadableBlock, a_year: unreadable, bytes: self.block },
            Events { cause: Cause::SilentCorruption, a_year: silent, bytes: self.region.min(self.stored) },
            Events { cause: Cause::CommonCause, a_year: self.common, bytes: self.stored },
        ]
    }

    /// Failures of a whole arrangement in a year.
    fn failures(&self, arrangement: &Arrangement<Hazards>) -> f64 {
        match arrangement {
            Arrangement::Drive(drive) => drive.failures,
            Arrangement::All(members) => members.iter().map(|member| self.failures(member)).sum(),
            Arrangement::Group { members, survives } => self.overlapping(members, *survives),
        }
    }

    /// Times in a year that more than `others` of the members are missing at once.
    fn overlapping(&self, members: &[Arrangement<Hazards>], others: usize) -> f64 {
        let count = members.len() as f64;
        let each = members.iter().map(|member| self.failures(member)).sum::<f64>() / count.max(1.0);
        let overlap = |i: usize| (count - i as f64).max(0.0) * each * self.correlation * self.window / i as f64;
        (1..=others).fold(count * each, |rate, i| rate * overlap(i))
    }

    /// Blocks in a year that cannot be had from anywhere: `met` in one reading of a drive's share, `alone` in a year on a
    /// drive that nothing stands in for.
    fn unreadable(
        &self,
        arrangement: &Arrangement<Hazards>,
        met: &dyn Fn(&Hazards) -> f64,
        alone: &dyn Fn(&Hazards) -> f64,
    ) -> f64 {
        match arrangement {
            Arrangement::Drive(drive) => alone(drive),
            Arrangement::All(members) => members.iter().map(|member| self.unreadable(member, met, alone)).sum(),
            Arrangement::Group { members, survives: 0 } => {
                members.iter().map(|member| self.unreadable(member, met, alone)).sum()
            }
            Arrangement::Group { members, survives } => {
                let drives = members.iter().flat_map(Arrangement::drives).map(met).sum::<f64>();
                let left = members.len().saturating_sub(*survives) as f64 / members.len().max(1) as f64;
                self.overlapping(members, survives - 1) * drives * left
            }
        }
    }
}

/// Probability of at least one of so many expected events, which come independently.
pub(crate) fn probability(expected: f64) -> f64 {
    -(-expected).exp_m1()
}

/// The loss in a year, from circumstances at each end.
#[must_use]
pub fn loss(ends: Spread<&Circumstances>) -> Loss {
    let events = ends.map(Circumstances::events);
    let spread = |of: &dyn Fn(&[Events; 4]) -> f64| Spread {
        low: of(&events.low),
        middle: of(&events.middle),
        high: of(&events.high),
    };
    let causes = (0..events.middle.len()).map(|index| CauseLoss {
        cause: events.middle[index].cause,
        probability: spread(&|events| probability(events[index].a_year)),
        bytes: spread(&|events| events[index].a_year * events[index].bytes),
    });
    let all = |events: &[Events; 4]| events.iter().map(|events| events.a_year).sum::<f64>();
    let whole = |events: &[Events; 4]| {
        let whole = events.iter().filter(|events| events.cause.takes_everything());
        whole.map(|events| events.a_year).sum::<f64>()
    };
    let bytes = |events: &[Events; 4]| events.iter().map(|events| events.a_year * events.bytes).sum::<f64>();
    let stored = ends.middle.stored;
    let bytes = spread(&bytes);
    Loss {
        period_years: 1,
        causes: causes.collect(),
        any: spread(&|events| probability(all(events))),
        everything: spread(&|events| probability(whole(events))),
        bytes,
        per_byte: bytes.map(|bytes| if stored > 0.0 { bytes / stored } else { 0.0 }),
    }
}
