//! When a line was written, and on which machine.

/// A time by the clock. Most journals tell no year.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct When {
    year: Option<u32>,
    month: u32,
    day: u32,
    time: String,
}

/// So many days are no turn of the year.
const HALF_A_YEAR: u32 = 183;

impl When {
    /// `Mar 03 12:00:00 …`, `2024-03-03T12:00:02 …`.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (month, day, time) = clock(line)?;
        let year = line.split_once('-').and_then(|(year, _)| year.parse().ok());
        Some(Self { month, day, time, year })
    }

    /// Days into the year, nearly.
    fn days(&self) -> u32 {
        self.month * 31 + self.day
    }
}

/// What puts lines in order: all tell their years, or all are of less than half a year, which may have turned in between otherwise.
pub(super) fn in_order<T>(mut lines: Vec<(Option<When>, T)>, number: impl Fn(&T) -> Option<u64>) -> Option<Vec<T>> {
    if lines.iter().all(|(when, _)| when.is_some()) {
        let mut times: Vec<&mut When> = lines.iter_mut().filter_map(|(when, _)| when.as_mut()).collect();
        if times.iter().any(|when| when.year.is_none()) {
            let days = || times.iter().map(|when| when.days());
            if days().max()? - days().min()? >= HALF_A_YEAR {
                return None;
            }
            times.iter_mut().for_each(|when| when.year = None);
        }
        // Within a second they stand as in the text, which may begin with the newest.
        if times.first() > times.last() {
            lines.reverse();
        }
        lines.sort_by(|(a, of), (b, with)| (a, number(of)).cmp(&(b, number(with))));
    } else if lines.len() > 1 {
        if lines.iter().any(|(_, of)| number(of).is_none()) {
            return None;
        }
        lines.sort_by_key(|(_, of)| number(of));
    }
    Some(lines.into_iter().map(|(_, of)| of).collect())
}

/// `nas` of `Mar  3 12:00:15 nas ` and of `2024-03-03T12:00:02.1+01:00 nas `, which stand before a program's name.
pub(super) fn host(before: &str) -> Option<&str> {
    let (time, host) = before.trim_end().rsplit_once(' ')?;
    let is_time = host.contains(':') || host.bytes().all(|byte| byte.is_ascii_digit());
    (is_clock(time) && !is_time).then_some(host)
}

/// A time of day with a date, in whichever order, and perhaps the host's name.
pub(super) fn is_clock(text: &str) -> bool {
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_day = |word: &str| {
        let time = word.split_once('T').map_or(word, |(_, time)| time);
        let time = time.get(..8).unwrap_or_default();
        time.split(':').count() == 3 && time.split(':').all(digits)
    };
    let words = text.split_whitespace();
    words.clone().count() <= 6 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && words.into_iter().any(of_day)
}

pub(super) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// `Mar 03 12:00:00`, `[Sun Mar  3 12:00:00 2024]`, `2024-03-03T12:00:02.123456+01:00`: month, day and time of day.
pub(super) fn clock(line: &str) -> Option<(u32, u32, String)> {
    let words: Vec<&str> = line.trim_start_matches('[').split_whitespace().take(4).collect();
    // `Tue` and `Thu` have that letter, too.
    let iso = words.first().and_then(|word| word.split_once('T')).filter(|(date, _)| date.contains('-'));
    if let Some((date, time)) = iso {
        let mut parts = date.split('-').skip(1).map(|part| part.parse().ok());
        return Some((parts.next()??, parts.next()??, time.get(..8)?.to_owned()));
    }
    let (at, month) =
        words.iter().enumerate().find_map(|(at, word)| Some((at, MONTHS.iter().position(|of| of == word)?)))?;
    Some((u32::try_from(month).ok()?, words.get(at + 1)?.parse().ok()?, words.get(at + 2)?.get(..8)?.to_owned()))
}
