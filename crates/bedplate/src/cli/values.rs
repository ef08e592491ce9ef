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
    terms::Nanos::parse(text).map_err(|error| format!("{error}; write a time such as `2s` or `500ms`"))
}

/// As long as a study's `window` may be.
pub(crate) fn window(text: &str) -> Result<terms::Nanos, String> {
    let (window, least) = (time(text)?, spec::SHORTEST_WINDOW);
    if window < least { Err(format!("a window is at least {least}")) } else { Ok(window) }
}

pub(crate) fn size(text: &str) -> Result<terms::Bytes, String> {
    let size = terms::Bytes::parse(text).map_err(|error| format!("{error}; write a size such as `128MiB`"))?;
    if size < terms::Bytes::mib(1) { Err("a span is at least 1 MiB".to_owned()) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
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
