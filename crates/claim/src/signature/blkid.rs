//! What `blkid` finds when it looks at the device itself: what udev believes may be old.

use std::collections::BTreeMap;

use host::Host;
use terms::Cmd;

use crate::doubt::Doubt;
use crate::mark::Mark;

/// Names and values, as `blkid` calls them.
pub(crate) type Tags = BTreeMap<String, String>;

/// Statuses of `blkid` (blkid(8)): nothing found, several things that contradict one another.
const NOTHING: i32 = 2;
const SEVERAL: i32 = 8;
/// What such a find is called.
pub(super) const SEVERAL_KINDS: &str = "several signatures";

/// Probes a device. A blank one has no tags.
pub(super) fn probe(host: &dyn Host, node: &str) -> Result<Tags, Doubt> {
    let outcome = host.run(&Cmd::new(["blkid", "--probe", "--output", "export", node]))?;
    // It says "nothing" too when it could not look, and then why.
    let silent = outcome.error_text().is_empty() && !outcome.timed_out;
    match outcome.status {
        NOTHING if outcome.stdout.is_empty() && silent => Ok(Tags::new()),
        SEVERAL => Ok(Tags::from([("TYPE".to_owned(), SEVERAL_KINDS.to_owned())])),
        0 if silent => parse(&outcome.text()),
        status => Err(Doubt::words(format!("it ended with {status}: {}", outcome.error_text()))),
    }
}

/// `NAME=value` lines; a backslash stands before what a shell would take for itself.
fn parse(text: &str) -> Result<Tags, Doubt> {
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.replace('\\', "")))
    };
    let lines = text.lines().filter(|line| !line.is_empty());
    let tags: Tags = lines
        .map(|line| pair(line).ok_or_else(|| Doubt::words(format!("a line is not understood: {line}"))))
        .collect::<Result<_, _>>()?;
    if tags.keys().any(|name| name != "DEVNAME") {
        Ok(tags)
    } else {
        Err(Doubt::words("it found something and did not say what"))
    }
}

/// What the tags say is on the device. Those that begin with `PART_ENTRY` are of the table that lists it.
pub(super) fn marks(tags: &Tags) -> Vec<Mark> {
    let tag = |name: &str| tags.get(name).cloned();
    let content = tag("TYPE").map(|kind| Mark { kind, uuid: tag("UUID"), label: tag("LABEL"), ..Mark::default() });
    let table = tag("PTTYPE").map(|kind| Mark { kind, uuid: tag("PTUUID"), ..Mark::default() });
    // Nothing with a type, and yet something: a mark as well.
    let other = tags.keys().find(|name| *name != "DEVNAME" && !name.starts_with("PART_ENTRY_"));
    let other = other.filter(|_| content.is_none() && table.is_none());
    let other = other.map(|name| Mark { kind: format!("something with {name}"), ..Mark::default() });
    content.into_iter().chain(table).chain(other).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tags_become_marks() {
        let tags = parse("DEVNAME=/dev/a\nUUID=1-2\nLABEL=my\\ data\nTYPE=ext4\nUSAGE=filesystem\n").unwrap();
        let found = marks(&tags);
        assert_eq!((found.len(), found[0].kind.as_str(), found[0].label.as_deref()), (1, "ext4", Some("my data")));
        let table = marks(&parse("PTUUID=7\nPTTYPE=gpt").unwrap());
        assert_eq!((table[0].kind.as_str(), table[0].uuid.as_deref()), ("gpt", Some("7")));
        assert!(marks(&parse("PART_ENTRY_SIZE=7\nPART_ENTRY_TYPE=x").unwrap()).is_empty());
        assert_eq!(marks(&parse("USAGE=other").unwrap())[0].kind, "something with USAGE");
        for broken in ["", "what", "DEVNAME=/dev/a", "=x"] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    proptest! {
        #[test]
        fn whatever_it_says_it_is_a_mark_or_a_doubt(text in ".{0,120}") {
            if let Ok(tags) = parse(&text) {
                let only_of_its_table = tags.keys().all(|name| name == "DEVNAME" || name.starts_with("PART_ENTRY_"));
                prop_assert!(!marks(&tags).is_empty() || only_of_its_table);
            }
        }
    }
}
