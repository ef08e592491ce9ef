//! Units as types: bytes, bytes per second, operations per second, nanoseconds.
//!
//! One parser and one printer for each. Bytes are bytes; MiB/s is not MB/s.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A span of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// A throughput in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

/// Operations completed per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Iops(pub f64);

/// Parts of a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerMille(pub u32);

/// Machines that do the same at once: one or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hosts(pub u8);

impl Hosts {
    /// The usual case.
    pub const ONE: Self = Self(1);

    /// Is it one machine and no more?
    #[must_use]
    pub const fn is_one(&self) -> bool {
        self.0 == 1
    }
}

impl Default for Hosts {
    fn default() -> Self {
        Self::ONE
    }
}

impl PerMille {
    /// As a share of 1.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl fmt::Display for PerMille {
    /// `2 %`, `2.5 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => f.pad(&format!("{} %", self.0 / 10)),
            tenth => f.pad(&format!("{}.{tenth} %", self.0 / 10)),
        }
    }
}

/// 1024 bytes.
pub const KIB: u64 = 1 << 10;
/// 1024 KiB.
pub const MIB: u64 = 1 << 20;
/// 1024 MiB.
pub const GIB: u64 = 1 << 30;
/// 1024 GiB.
pub const TIB: u64 = 1 << 40;

/// Why a text is not a size or a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUnit {
    /// There is no number in front.
    #[error("`{0}` does not begin with a number")]
    NoNumber(String),
    /// A number without a unit.
    #[error("`{0}` has no unit")]
    NoUnit(String),
    /// A unit that is not known.
    #[error("`{0}` is not a unit known here")]
    UnknownUnit(String),
    /// The value does not fit, or is a part of the smallest unit.
    #[error("`{0}` is too large, or a part of the smallest unit")]
    OutOfRange(String),
}

/// Splits `"4.5 KiB"` into `4.5` and `"KiB"`.
fn split(text: &str) -> Result<(f64, &str), BadUnit> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let value = number.parse::<f64>().map_err(|_| BadUnit::NoNumber(text.to_owned()))?;
    Ok((value, unit.trim()))
}

/// Scales a number to the nearest whole one, as tools print sizes (`lsblk`: `3.6T`); refuses parts of the smallest unit and what is
/// not exact in a double.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and checked to be below 2^53")]
fn whole(value: f64, scale: f64, text: &str) -> Result<u64, BadUnit> {
    let scaled = value * scale;
    let is_whole = scale > 1.0 || (scaled - scaled.round()).abs() < 1e-6;
    if (0.0..9_007_199_254_740_992.0).contains(&scaled) && is_whole {
        Ok(scaled.round() as u64)
    } else {
        Err(BadUnit::OutOfRange(text.to_owned()))
    }
}

impl Bytes {
    /// `n` KiB; too many are as many as there can be, as a captured number may say anything.
    #[must_use]
    pub const fn kib(n: u64) -> Self {
        Self(n.saturating_mul(KIB))
    }
    /// `n` MiB.
    #[must_use]
    pub const fn mib(n: u64) -> Self {
        Self(n.saturating_mul(MIB))
    }
    /// `n` GiB.
    #[must_use]
    pub const fn gib(n: u64) -> Self {
        Self(n.saturating_mul(GIB))
    }

    /// Reads `"512 KiB"`, `"2 TB"`, `"4k"`. Binary units and bare letters are powers of 1024,
    /// decimal units (`kB`, `MB`) powers of 1000; a bare number other than 0 is refused.
    ///
    /// # Errors
    /// [`BadUnit`], saying which part of the text is at fault.
    pub fn parse(text: &str) -> Result<Self, BadUnit> {
        let (value, unit) = split(text)?;
        let scale = match unit {
            "" if value == 0.0 => 1.0,
            "" => return Err(BadUnit::NoUnit(text.to_owned())),
            "B" | "byte" | "bytes" => 1.0,
            "KiB" | "K" | "k" => 1024.0,
            "MiB" | "M" | "m" => 1024f64.powi(2),
            "GiB" | "G" | "g" => 1024f64.powi(3),
            "TiB" | "T" | "t" => 1024f64.powi(4),
            "PiB" | "P" => 1024f64.powi(5),
            "kB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "TB" => 1e12,
            "PB" => 1e15,
            other => return Err(BadUnit::UnknownUnit(other.to_owned())),
        };
        whole(value, scale, text).map(Self)
    }

    /// As a double, for rates and ratios.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sizes beyond 2^53 bytes lose nothing that a ratio shows")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl fmt::Display for Bytes {
    /// Binary units: whole where the size is whole (`"512 KiB"`), else with two decimals (`"1.46 TiB"`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match [(TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")]
            .into_iter()
            .find(|(unit, _)| self.0 >= *unit)
        {
            None => format!("{} B", self.0),
            Some((unit, name)) if self.0.is_multiple_of(unit) => format!("{} {name}", self.0 / unit),
            Some((unit, name)) => format!("{:.2} {name}", self.as_f64() / Self(unit).as_f64()),
        };
        f.pad(&text)
    }
}

impl Nanos {
    /// `n` whole seconds; the longest time where that is shorter.
    #[must_use]
    pub const fn seconds(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }
    /// So many seconds, to the nearest nanosecond; what is below 0 is 0.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64)
    }
    /// `n` milliseconds; the longest time where that is shorter.
    #[must_use]
    pub const fn millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// Reads `"2s"`, `"250 ms"`, `"20 min"`, `"1.5 h"`; a bare number other than 0 is refused.
    ///
    /// # Errors
    /// [`BadUnit`], saying which part of the text is at fault.
    pub fn parse(text: &str) -> Result<Self, BadUnit> {
        let (value, unit) = split(text)?;
        let scale = match unit {
            "" if value == 0.0 => 1.0,
            "" => return Err(BadUnit::NoUnit(text.to_owned())),
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" | "sec" | "second" | "seconds" => 1e9,
            "min" | "minute" | "minutes" => 6e10,
            "h" | "hour" | "hours" => 3.6e12,
            other => return Err(BadUnit::UnknownUnit(other.to_owned())),
        };
        whole(value, scale, text).map(Self)
    }

    /// In seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// So many times as long.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self(self.0.saturating_mul(u64::from(count)))
    }

    /// In whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// As the standard library's duration.
    #[must_use]
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Nanos {
    /// Durations beyond 584 years saturate.
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits in the largest fitting unit: `"1.24 ms"`, `"2 s"`, `"3 min 5 s"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.as_seconds();
        let text = if self.0 < 1_000 {
            format!("{} ns", self.0)
        } else if self.0 < 999_500 {
            format!("{} µs", significant(seconds * 1e6))
        } else if self.0 < 999_500_000 {
            format!("{} ms", significant(seconds * 1e3))
        } else if seconds < 59.95 {
            format!("{} s", significant(seconds))
        } else if seconds < 3600.0 {
            let whole = seconds.round();
            format!("{} min {} s", (whole / 60.0).floor(), whole % 60.0)
        } else {
            format!("{} h {} min", self.0 / 3_600_000_000_000, self.0 / 60_000_000_000 % 60)
        };
        f.pad(&text)
    }
}

impl fmt::Display for BytesPerSecond {
    /// MiB/s with three significant digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} MiB/s", significant(self.0 / Bytes::mib(1).as_f64())))
    }
}

impl fmt::Display for Iops {
    /// With three significant digits, thousands as `k`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.0 >= 999.5e3 {
            format!("{}M", significant(self.0 / 1e6))
        } else if self.0 >= 1e4 {
            format!("{}k", significant(self.0 / 1e3))
        } else {
            significant(self.0)
        };
        f.pad(&format!("{text} IOPS"))
    }
}

/// Places behind the point at which a number is small enough to be none: 10⁻¹² of any unit here.
const MOST_PLACES: f64 = 12.0;

/// A number with three significant digits and no needless zeros: `1.24`, `12.4`, `124`, `1240`, `2`.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 2 to 12")]
pub fn significant(value: f64) -> String {
    let magnitude = value.abs();
    let text = if magnitude >= 99.95 {
        format!("{value:.0}")
    } else if magnitude >= 9.995 {
        format!("{value:.1}")
    } else if magnitude >= 0.9995 {
        format!("{value:.2}")
    } else if magnitude == 0.0 {
        "0".to_owned()
    } else {
        // A ratio of 0.00128 has three digits, too: so many places as its first digit and two more take.
        let places = (2.0 - magnitude.log10().floor()).min(MOST_PLACES);
        format!("{value:.*}", places as usize)
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("512 KiB", 512 * KIB),
            ("4k", 4096),
            ("2 TB", 2_000_000_000_000),
            ("1.5 GiB", GIB + GIB / 2),
            ("0", 0),
            ("64B", 64),
            // As lsblk prints them.
            ("3.6T", 3_958_241_859_994),
            ("931.5G", 1_000_190_509_056),
        ] {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn sizes_are_refused() {
        assert_eq!(Bytes::parse("512"), Err(BadUnit::NoUnit("512".into())));
        assert_eq!(Bytes::parse("5 parsec"), Err(BadUnit::UnknownUnit("parsec".into())));
        assert_eq!(Bytes::parse("KiB"), Err(BadUnit::NoNumber("KiB".into())));
        assert_eq!(Bytes::parse("0.3 B"), Err(BadUnit::OutOfRange("0.3 B".into())));
        assert_eq!(Bytes::parse("9 XiB").map_err(|e| e.to_string()), Err("`XiB` is not a unit known here".into()));
    }

    #[test]
    fn times_are_read() {
        for (text, nanos) in [("2s", 2_000_000_000), ("250 ms", 250_000_000), ("20 min", 1_200_000_000_000), ("0", 0)] {
            assert_eq!(Nanos::parse(text), Ok(Nanos(nanos)), "{text}");
        }
        assert_eq!(Nanos::parse("2"), Err(BadUnit::NoUnit("2".into())));
    }

    #[test]
    fn numbers_are_printed_with_three_digits() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (1.239, "1.24"), (12.36, "12.4"), (99.96, "100"), (1239.6, "1240"), (0.5, "0.5")]
        {
            assert_eq!(significant(value), text);
        }
        for (value, text) in [(0.99949, "0.999"), (0.0634, "0.0634"), (0.001_284, "0.00128"), (-0.000_999_9, "-0.001")]
        {
            assert_eq!(significant(value), text);
        }
        assert_eq!(Nanos(1_240_000).to_string(), "1.24 ms");
        assert_eq!(Nanos::seconds(185).to_string(), "3 min 5 s");
        assert_eq!(BytesPerSecond(1_048_576_000.0).to_string(), "1000 MiB/s");
        assert_eq!(Iops(12_400.0).to_string(), "12.4k IOPS");
    }

    proptest! {
        #[test]
        fn whole_sizes_survive_print_and_parse(n in 1u64..2048, unit in prop::sample::select(vec![1, KIB, MIB, GIB])) {
            let size = Bytes(n * unit);
            // Sizes that are not whole in the largest fitting unit are rounded on paper, so only whole ones must return.
            if !size.to_string().contains('.') {
                prop_assert_eq!(Bytes::parse(&size.to_string()), Ok(size));
            }
        }

        #[test]
        fn parsing_never_panics(text in ".{0,24}") {
            let _ = Bytes::parse(&text);
            let _ = Nanos::parse(&text);
        }
    }
}
