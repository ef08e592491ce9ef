//! How fast a processor is, in instructions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

const GIGA: u64 = 1_000_000_000;

/// Instructions that one processor ends in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Speed(pub u64);

impl Speed {
    /// A guest by its own clock: QEMU counts no less than a nanosecond for an instruction (`-icount shift=0`).
    pub const GUEST: Self = Self(GIGA);
    /// A processor of 3.2 GHz that ends an instruction in each cycle: a choice of ours. Kernels that move blocks end about
    /// as many, encryption more.
    pub const USUAL: Self = Self(3 * GIGA + GIGA / 5);
    /// The fastest that a study may ask for.
    pub const MOST: Self = Self(100 * GIGA);

    /// How many times as fast as a guest by its own clock.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "at most 1e11")]
    pub fn factor(self) -> f64 {
        self.0 as f64 / GIGA as f64
    }

    /// A time of the machine, on the guest's clock.
    #[must_use]
    pub fn in_guest(self, time: Nanos) -> Nanos {
        Nanos::from_seconds(time.as_seconds() * self.factor())
    }

    /// A time of the guest's clock, on the machine.
    #[must_use]
    pub fn on_machine(self, time: Nanos) -> Nanos {
        Nanos::from_seconds(time.as_seconds() / self.factor())
    }

    /// A rate of the machine, in a second of the guest.
    #[must_use]
    pub fn rate_in_guest(self, rate: f64) -> f64 {
        rate / self.factor()
    }

    /// Reads `"3.2 G instructions/s"`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds that were checked")]
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.trim().strip_suffix("instructions/s")?.trim_end().strip_suffix('G')?.trim_end();
        let speed = number.parse::<f64>().ok()? * Self::GUEST.factor();
        let most = Self::MOST.factor();
        (1.0..=most).contains(&speed).then(|| Self((speed * 1e9).round() as u64))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} G instructions/s", self.factor())
    }
}
