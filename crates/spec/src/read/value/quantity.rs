//! Sizes, times and numbers, held to the bounds of their keys.

use terms::units::BadUnit;
use terms::{Bytes, Nanos, Note, NoteLevel, PerMille, Span};
use toml::de::DeInteger;

use super::Read;
use super::words::{expected, time};
use crate::grammar::{Key, Kind, Step};
use crate::suggest::nearest;

/// Units of sizes that are worth recommending.
const SIZE_UNITS: &[&str] = &["B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB"];

/// A number without a unit; only nothing needs none.
pub(super) fn bare_size(key: &Key, number: &DeInteger<'_>, place: Span) -> Read<Bytes> {
    match number_of(number) {
        Some(0) => within(key, 0, place, &|n| Bytes(n).to_string()).map(Bytes),
        Some(n) if n > 0 => Err(no_unit(key, place, &likely_size(key, n.unsigned_abs()))),
        _ => Err(out_of_range(key, place, format!("`{}` cannot be {number}", key.name))),
    }
}

/// The size that was likely meant by a bare number: that many bytes where the key takes them, else the smallest unit
/// with which it takes the number.
fn likely_size(key: &Key, n: u64) -> String {
    // No drive has blocks of less: whoever writes 64 means 64 of something larger.
    if n >= 512 && takes(key, n) {
        return Bytes(n).to_string();
    }
    let units = [(1024, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1, "B")];
    let fits = |(unit, _): &&(u64, &str)| n.checked_mul(*unit).is_some_and(|size| takes(key, size));
    let name = units.iter().find(fits).map_or("KiB", |(_, name)| name);
    format!("{n} {name}")
}

/// The same for times.
pub(super) fn bare_duration(key: &Key, number: &DeInteger<'_>, place: Span) -> Read<Nanos> {
    match number_of(number) {
        Some(0) => within(key, 0, place, &time).map(Nanos),
        Some(n) if n > 0 => Err(no_unit(key, place, &format!("{n} s"))),
        _ => Err(out_of_range(key, place, format!("`{}` cannot be {number}", key.name))),
    }
}

fn no_unit(key: &Key, place: Span, meant: &str) -> Box<Note> {
    let note = Note::error("study-no-unit", Some(place), format!("`{}` has no unit", key.name))
        .label("a number alone")
        .hint(format!("write \"{meant}\""));
    Box::new(note)
}

fn out_of_range(key: &Key, place: Span, message: String) -> Box<Note> {
    Box::new(Note::error("study-out-of-range", Some(place), message).hint(expected(key)))
}

/// A size with its unit. A bare letter is taken, and said.
pub(super) fn size(key: &Key, text: &str, place: Span, notes: &mut Vec<Note>) -> Read<Bytes> {
    let size = Bytes::parse(text).map_err(|fault| bad_unit(key, &fault, text, place))?;
    let size = within(key, size.0, place, &|n| Bytes(n).to_string()).map(Bytes)?;
    if text.trim_end().ends_with(['K', 'k', 'M', 'm', 'G', 'g', 'T', 't', 'P']) {
        let mut note = Note::error("study-bare-letter", Some(place), format!("`{text}` is read as {size}"))
            .hint(format!("write \"{size}\" to say so"));
        note.severity = NoteLevel::Info;
        notes.push(note);
    }
    Ok(size)
}

/// A time with its unit.
pub(super) fn duration(key: &Key, text: &str, place: Span) -> Read<Nanos> {
    let read = Nanos::parse(text).map_err(|fault| bad_unit(key, &fault, text, place))?;
    within(key, read.0, place, &time).map(Nanos)
}

/// A percentage: `2 %`, `2.5%`.
pub(super) fn percent(key: &Key, text: &str, place: Span) -> Read<PerMille> {
    let Kind::Percent { least, most } = key.kind else { return Err(out_of_range(key, place, String::new())) };
    let Some(number) = text.trim().strip_suffix('%') else {
        return Err(no_unit(key, place, &format!("{} %", text.trim())));
    };
    let share: f64 = number.trim().parse::<f64>().map_or(f64::NAN, |percent| percent * 10.0);
    if !share.is_finite() {
        let message = format!("`{}` does not begin with a number", key.name);
        return Err(Box::new(Note::error("study-bad-unit", Some(place), message).hint("write it like \"2 %\"")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let whole = share.round() as u32;
    if (share - share.round()).abs() > 1e-6 || !(least..=most).contains(&whole) {
        return Err(out_of_range(key, place, format!("`{}` cannot be {}", key.name, text.trim())));
    }
    Ok(PerMille(whole))
}

fn bad_unit(key: &Key, fault: &BadUnit, written: &str, place: Span) -> Box<Note> {
    let is_time = matches!(key.kind, Kind::Duration { .. });
    match fault {
        BadUnit::NoUnit(text) => {
            let text = text.trim();
            let meant = match text.parse::<u64>() {
                _ if is_time => format!("{text} s"),
                Ok(n) => likely_size(key, n),
                Err(_) => format!("{text} KiB"),
            };
            no_unit(key, place, &meant)
        }
        BadUnit::NoNumber(_) => {
            let message = format!("`{}` does not begin with a number", key.name);
            let like = if is_time { "5 s" } else { "512 KiB" };
            Box::new(Note::error("study-bad-unit", Some(place), message).hint(format!("write it like \"{like}\"")))
        }
        BadUnit::UnknownUnit(unit) => {
            let units: &[&str] = if is_time { &["ms", "s", "min", "h"] } else { SIZE_UNITS };
            let message = format!("`{}` is not a unit of `{}`", unit.escape_debug(), key.name);
            let note = Note::error("study-bad-unit", Some(place), message);
            let number = written.trim().trim_end_matches(unit.as_str()).trim();
            let fits =
                |unit: &&str| is_time || Bytes::parse(&format!("{number} {unit}")).is_ok_and(|size| takes(key, size.0));
            Box::new(match nearest(unit, units.iter().copied().filter(fits)) {
                Some(meant) => note.hint(format!("did you mean \"{number} {meant}\"?")),
                None => note.hint(format!("units are {}", units.join(", "))),
            })
        }
        BadUnit::OutOfRange(_) => out_of_range(key, place, format!("`{}` is too large or not whole", key.name)),
    }
}

/// Does the key take a size of so many bytes?
fn takes(key: &Key, size: u64) -> bool {
    within(key, size, Span { start: 0, end: 0 }, &|n| n.to_string()).is_ok()
}

/// A size to the byte, in the largest binary unit that it is a whole number of.
fn exact(n: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| n > 0 && n.is_multiple_of(*unit)).unwrap_or((1, "B"));
    format!("{} {name}", n / unit)
}

/// Holds a size or time to the bounds of its key.
fn within(key: &Key, n: u64, place: Span, show: &dyn Fn(u64) -> String) -> Read<u64> {
    let wrong = |what: &str, hint: String| {
        let message = format!("`{}` cannot be {}", key.name, show(n));
        Err(Box::new(Note::error("study-out-of-range", Some(place), message).label(what.to_owned()).hint(hint)))
    };
    match key.kind {
        Kind::Sizes(sizes) if !sizes.contains(&n) => {
            let near = sizes.iter().min_by_key(|size| size.abs_diff(n)).map(|size| Bytes(*size).to_string());
            wrong(
                "not one of the sizes it takes",
                format!("{}; the nearest is {}", expected(key), near.unwrap_or_default()),
            )
        }
        Kind::Size { least, .. } | Kind::Duration { least, .. } if n < least => wrong("too small", expected(key)),
        Kind::Size { most, .. } | Kind::Duration { most, .. } if n > most => wrong("too large", expected(key)),
        Kind::Size { step: Step::PowerOfTwo, least, .. } if n != 0 && !n.is_power_of_two() => {
            // The largest power of two below, which exists because n is none and not zero.
            let lower = (1u64 << n.ilog2()).max(least);
            wrong(
                "not a power of two",
                format!("the powers of two around it are {} and {}", show(lower), show(lower.saturating_mul(2))),
            )
        }
        // `10 GB` is shown as 9.31 GiB, and no unit of a thousand helps to find what is meant.
        Kind::Size { step: Step::Multiple(unit), .. } if !n.is_multiple_of(unit) => {
            let next = n - n % unit;
            wrong(
                "not a whole number of steps",
                format!("it must be a multiple of {}: \"{}\" is the next below", show(unit), exact(next)),
            )
        }
        Kind::Duration { step: unit, .. } if !n.is_multiple_of(unit) => {
            wrong("not a whole number of steps", format!("it must be a multiple of {}", show(unit)))
        }
        _ => Ok(n),
    }
}

/// The number, if it fits.
fn number_of(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A whole number.
pub(super) fn integer(key: &Key, number: &DeInteger<'_>, place: Span) -> Read<i64> {
    let value = number_of(number);
    let fits = value.is_some_and(|n| match key.kind {
        Kind::Integer { least, most } => (least..=most).contains(&n),
        Kind::Integers(numbers) => numbers.contains(&n),
        _ => false,
    });
    match value {
        Some(n) if fits => Ok(n),
        _ => Err(out_of_range(key, place, format!("`{}` cannot be {number}", key.name))),
    }
}
