//! Values of options, each read from what was typed.

use terms::Name;

/// Which drive of the study is which of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// What the study calls it.
    pub(crate) name: Name,
    /// What the person calls it: an id that stays.
    pub(crate) id: String,
}

/// Reads `NAME=ID`.
pub(crate) fn pairing(text: &str) -> Result<Pairing, String> {
    let how = "write NAME=ID: NAME as in the study, ID as in /dev/disk/by-id";
    let (name, id) = text.split_once('=').ok_or(how)?;
    let name = Name::new(name.trim()).map_err(|error| format!("{error}; {how}"))?;
    if id.trim().is_empty() { Err(how.to_owned()) } else { Ok(Pairing { name, id: id.trim().to_owned() }) }
}

/// `NAME=VALUE`, as `${NAME}` of a job file.
pub(crate) fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let plain = !name.is_empty() && !name.contains(['$', '{', '}']) && !value.contains(char::is_control);
    if plain { Ok((name.to_owned(), value.to_owned())) } else { Err("write NAME=VALUE, in one line".to_owned()) }
}

/// `2%`, `2.5 %`.
pub(crate) fn percent(text: &str) -> Result<terms::PerMille, String> {
    let number = text.trim().strip_suffix('%').ok_or("write a percentage such as `2%`")?;
    let percent: f64 = number.trim().parse().map_err(|_| "write a percentage such as `2%`")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    if (0.1..=100.0).contains(&percent) {
        Ok(terms::PerMille((percent * 10.0).round() as u32))
    } else {
        Err("a percentage from 0.1% to 100%".to_owned())
    }
}

pub(crate) fn time(text: &str) -> Result<terms::Nanos, String> {
    terms::Nanos::parse(text).map_err(|error| format!("{error}; write a time such as `500ms`, `2s` or `45min`"))
}

/// As long as a study's `window` may be.
pub(crate) fn window(text: &str) -> Result<terms::Nanos, String> {
    let (window, least) = (time(text)?, spec::SHORTEST_WINDOW);
    if window < least { Err(format!("a window is at least {least}")) } else { Ok(window) }
}

/// Smallest size that an option takes: the smallest span, and far below any drive.
const SMALLEST: terms::Bytes = terms::Bytes::mib(1);

pub(crate) fn size(text: &str) -> Result<terms::Bytes, String> {
    let size = terms::Bytes::parse(text).map_err(|error| format!("{error}; write a size such as `128MiB`"))?;
    if size < SMALLEST { Err(format!("a size of at least {SMALLEST}")) } else { Ok(size) }
}

/// A whole number within bounds, which a refusal names in words.
pub(crate) fn number(
    bounds: std::ops::RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| format!("a whole number from {} to {}", bounds.start(), bounds.end()))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_refused_number_or_size_names_its_bounds() {
        let number = super::number(0..=8);
        assert_eq!((number("0"), number(" 8 ")), (Ok(0), Ok(8)));
        for wrong in ["9", "-1", "", "1.5", "two", "99999999999999999999"] {
            assert_eq!(number(wrong), Err("a whole number from 0 to 8".to_owned()), "{wrong}");
        }
        assert_eq!(super::size("1B"), Err("a size of at least 1 MiB".to_owned()));
    }

    #[test]
    fn pairings_are_read() {
        let pairing = |text| super::pairing(text).map(|of| (of.name.to_string(), of.id));
        assert_eq!(pairing("a=nvme-X_1"), Ok(("a".into(), "nvme-X_1".into())));
        assert_eq!(pairing("b=serial=S 1"), Ok(("b".into(), "serial=S 1".into())));
        for wrong in ["a", "=x", "a=", "a b=x"] {
            assert!(super::pairing(wrong).unwrap_err().contains("NAME=ID"), "{wrong}");
        }
    }
}
