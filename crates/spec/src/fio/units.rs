//! Numbers, sizes and times as fio reads them (`str_to_decimal` in its `parse.c`).
//!
//! fio reads the digits that a value begins with, then the beginning of a unit, and drops the rest in silence: `4.5k` is
//! 4 bytes, `30sec` are 30 µs, `5min` are 5 µs. Nobody means that, so it is said and not read.

/// What fio takes for a thousand: `kb_base`. It swaps the two kinds of units: by default `k` is 1024 and `kib` is 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Base {
    /// 1024.
    #[default]
    Binary,
    /// 1000.
    Decimal,
}

/// Why a value is not read, for a person to read.
pub(super) type Unread = String;

/// Units of bytes: what begins so, and the power.
const POWERS: [(&str, u32); 5] = [("k", 1), ("m", 2), ("g", 3), ("t", 4), ("p", 5)];

/// Units of time in nanoseconds.
const TIMES: [(&str, u64); 8] = [
    ("us", 1_000),
    ("usec", 1_000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Is it a blank to fio (`isspace`)? One of another alphabet, such as U+00A0, is a part of what it stands in.
pub(super) fn is_blank(letter: char) -> bool {
    letter.is_ascii_whitespace() || letter == '\x0b'
}

/// A number or bytes, with an optional unit.
///
/// # Errors
/// Why it is not read.
pub(super) fn size(text: &str, base: Base) -> Result<u64, Unread> {
    let (number, unit) = split(text)?;
    let (plain, other) = match base {
        Base::Binary => (1024_u64, 1000_u64),
        Base::Decimal => (1000, 1024),
    };
    let lower = unit.to_ascii_lowercase();
    let factor = if lower.is_empty() || lower == "b" {
        Some(1)
    } else {
        POWERS.iter().find_map(|(letter, power)| match lower.strip_prefix(letter)? {
            "" | "b" | "i" => Some(plain.pow(*power)),
            "ib" => Some(other.pow(*power)),
            _ => None,
        })
    };
    if lower == "z" {
        return Err(format!("`{}` counts zones of a zoned drive, and no stack here has zones", text.escape_debug()));
    }
    let factor = factor.ok_or_else(|| dropped(text, unit, "k, m, g, t and p"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{}` is too large", text.escape_debug()))
}

/// Nanoseconds: a number with an optional unit, seconds without one.
///
/// # Errors
/// Why it is not read.
pub(super) fn time(text: &str) -> Result<u64, Unread> {
    let (number, unit) = split(text)?;
    if text.to_ascii_lowercase().trim_start_matches(is_blank).starts_with("0x") {
        return Err(format!("fio counts `{}` in microseconds", text.escape_debug()));
    }
    let lower = unit.to_ascii_lowercase();
    let nanos = if lower.is_empty() {
        Some(1_000_000_000)
    } else {
        TIMES.iter().find(|(name, _)| *name == lower).map(|(_, nanos)| *nanos)
    };
    let nanos = nanos.ok_or_else(|| dropped(text, unit, "us, ms, s, m, h and d"))?;
    number.checked_mul(nanos).ok_or_else(|| format!("`{}` is too long", text.escape_debug()))
}

fn dropped(text: &str, rest: &str, units: &str) -> Unread {
    let (text, rest) = (text.escape_debug(), rest.escape_debug());
    format!("`{text}` is not what it looks like: fio reads its digits and no unit `{rest}`; its units are {units}")
}

/// The digits, and what is behind them. Blanks before them are passed over, but then fio finds no unit.
fn split(text: &str) -> Result<(u64, &str), Unread> {
    let digits = text.trim_start_matches(is_blank);
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None => (10, digits),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (number, unit) = digits.split_at(end);
    let number = u64::from_str_radix(number, radix).map_err(|_| match text.trim() {
        "" => "there is no value".to_owned(),
        text if text.starts_with('(') => {
            format!("`{}` is evaluated by some builds of fio and refused by others", text.escape_debug())
        }
        text => format!("`{}` is no number", text.escape_debug()),
    })?;
    if radix == 16 && !unit.is_empty() {
        return Err(format!("fio reads no unit behind a number that begins with 0x: `{}`", text.trim().escape_debug()));
    }
    if !unit.is_empty() && text.starts_with(is_blank) {
        return Err(format!(
            "fio reads no unit where a blank stands before the number: `{}`",
            text.trim().escape_debug()
        ));
    }
    Ok((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        // Each was given to fio 3.33 with the engine `null`, which said how many bytes an operation had.
        for (text, expect) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4KiB", 4000),
            ("1M", 1 << 20),
            ("1MiB", 1_000_000),
            ("512", 512),
            ("512b", 512),
            ("0x1000", 4096),
            ("010", 10),
            (" 4096", 4096),
            ("\x0b4096", 4096),
        ] {
            assert_eq!(size(text, Base::Binary), Ok(expect), "{text}");
        }
        for (text, expect) in [("4k", 4000), ("4kb", 4000), ("4KiB", 4096)] {
            assert_eq!(size(text, Base::Decimal), Ok(expect), "{text}");
        }
        for text in [
            "4k,8k",
            "50%",
            "",
            "k",
            "4.5k",
            "4 k",
            " 4k",
            "4kk",
            "4x",
            "(4*1024)",
            "4*1024",
            "-4k",
            "99999999p",
            "0x1k",
            "0X1m",
            "0x10KiB",
            "\u{a0}4096",
        ] {
            assert!(size(text, Base::Binary).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_as_fio_reads_them() {
        for (text, expect) in [
            ("30", 30_000_000_000),
            ("30s", 30_000_000_000),
            ("30S", 30_000_000_000),
            (" 30", 30_000_000_000),
            ("500ms", 500_000_000),
            ("500msec", 500_000_000),
            ("2m", 120_000_000_000),
        ] {
            assert_eq!(time(text), Ok(expect), "{text}");
        }
        for text in ["x", "30sec", "5min", "1h30m", "00:01:00", "1.5", "0x1e", ""] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
