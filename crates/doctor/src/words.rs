//! Numbers and lists as words.

use terms::units::significant;

/// A rate as makers of drives and links write it: `3.32 GB/s`, `206 MB/s`.
pub(crate) fn rate(bytes_per_second: f64) -> String {
    if bytes_per_second >= 1e9 {
        format!("{} GB/s", significant(bytes_per_second / 1e9))
    } else {
        format!("{} MB/s", significant(bytes_per_second / 1e6))
    }
}

/// A share of 1 in percent: `49.9 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// How many times one number is another: `2.1`.
pub(crate) fn significant_ratio(number: f64, other: f64) -> String {
    significant(number / other)
}

/// Time as people say it: `2 h 47 min`, `81 s`.
pub(crate) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds > 1e9 {
        return "many years".to_owned();
    }
    if seconds < 120.0 {
        return format!("{} s", significant(seconds));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 2 and 1.7e7 minutes")]
    let minutes = (seconds / 60.0).round() as u64;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        // Three days and more.
        (hours @ 72.., _) => format!("{} days", (hours + 12) / 24),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// `1 drive`, `3 drives`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list<T: AsRef<str>>(words: &[T]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

/// A count of things of a machine, for arithmetic.
pub(crate) fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A large counter, for ratios.
#[expect(clippy::cast_precision_loss, reason = "ratios do not show what is lost beyond 2^53")]
pub(crate) const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_words() {
        assert_eq!((rate(3.3166e9), rate(205e6)), ("3.32 GB/s".to_owned(), "205 MB/s".to_owned()));
        assert_eq!((percent(0.499), duration(81.0)), ("49.9 %".to_owned(), "81 s".to_owned()));
        assert_eq!((duration(10_020.0), duration(600.0)), ("2 h 47 min".to_owned(), "10 min".to_owned()));
        assert_eq!((list(&["a", "b", "c"]), count(1, "drive")), ("a, b and c".to_owned(), "1 drive".to_owned()));
        assert_eq!(duration(f64::INFINITY), "many years");
    }
}
