//! Every magic number that `wipefs` would wipe, which it is not asked to do.

use host::Host;
use serde::Deserialize;
use terms::Cmd;

use crate::doubt::Doubt;
use crate::mark::{Mark, merge};

#[derive(Debug, Deserialize)]
struct Listing {
    signatures: Vec<Signature>,
}

#[derive(Debug, Deserialize)]
struct Signature {
    offset: String,
    #[serde(rename = "type")]
    kind: String,
    uuid: Option<String>,
    label: Option<String>,
}

/// Lists magic numbers. Without `--all` it only ever lists; `--no-act` says so twice.
pub(super) fn list(host: &dyn Host, node: &str) -> Result<Vec<Mark>, Doubt> {
    let outcome = host.run(&Cmd::new(["wipefs", "--no-act", "--json", node]))?;
    if !outcome.ok() || !outcome.error_text().is_empty() {
        return Err(Doubt::words(format!("it ended with {}: {}", outcome.status, outcome.error_text())));
    }
    parse(&outcome.text())
}

fn parse(text: &str) -> Result<Vec<Mark>, Doubt> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let listing: Listing =
        serde_json::from_str(text).map_err(|error| Doubt::words(format!("its list is not understood: {error}")))?;
    let mut marks = Vec::new();
    for Signature { offset, kind, uuid, label } in listing.signatures {
        let place = offset.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let place = place.ok_or_else(|| Doubt::words(format!("an offset is not understood: {offset}")))?;
        merge(&mut marks, Mark { kind, places: vec![place], uuid, label, details: Vec::new() });
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn magic_numbers_of_one_kind_are_one_mark() {
        let text = r#"{"signatures": [
            {"device":"nvme0n1", "offset":"0x200", "type":"gpt", "uuid":null, "label":null},
            {"device":"nvme0n1", "offset":"0xffffe00", "type":"gpt", "uuid":null, "label":null},
            {"device":"nvme0n1", "offset":"0x438", "type":"ext4", "uuid":"1-2", "label":"x"}]}"#;
        let marks = parse(text).unwrap();
        assert_eq!(marks.len(), 2);
        assert_eq!(marks[0].places, [0x200, 0x0fff_fe00]);
        assert_eq!(marks[1].label.as_deref(), Some("x"));
        assert!(parse(" \n").unwrap().is_empty());
        for broken in ["{}", "[]", "{\"signatures\":[{}]}", "nothing", &text.replace("0x200", "512")] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    proptest! {
        #[test]
        fn whatever_it_says_only_silence_is_blank(text in ".{1,80}") {
            let blank = parse(&text).is_ok_and(|marks| marks.is_empty());
            prop_assert!(!blank || text.trim().is_empty());
        }
    }
}
