//! Looking for bytes on a whole device.

use std::collections::BTreeMap;

use host::{Needle, interrupt};
use terms::Cmd;

use crate::error::FeatureCheckError;
use crate::scene::Scene;

/// Bytes of a device that are searched before anybody is asked whether to go on.
const STRETCH: u64 = 64 << 20;

/// What was found: for every text, the bytes of the device at which it stands.
pub(crate) type Places = BTreeMap<Vec<u8>, Vec<u64>>;

/// Every place of a device where one of these texts begins, with so many bytes from there on.
pub(crate) fn find(
    scene: &Scene<'_>,
    why: &str,
    node: &str,
    texts: &[Vec<u8>],
    keep: usize,
) -> Result<Places, FeatureCheckError> {
    let host = scene.subject.host;
    let size = host.run_ok(&Cmd::new(["blockdev", "--getsize64", node]))?.text();
    let size: u64 = size.parse().map_err(|_| FeatureCheckError::Strange(format!("`{node}` has no size: {size}")))?;
    let keep = u32::try_from(keep).unwrap_or(u32::MAX);
    let mut places = Places::new();
    for offset in (0..size).step_by(STRETCH as usize) {
        interrupt::check()?;
        let length = STRETCH.min(size - offset);
        for found in host.find(node, &Needle { texts, offset, length, keep })? {
            places.entry(found.bytes).or_default().push(found.offset);
        }
    }
    let count: usize = places.values().map(Vec::len).sum();
    scene.note(
        why,
        &format!("search {node}, all {size} bytes, for {}", in_words(texts)),
        match count {
            0 => "found nowhere".to_owned(),
            1 => "found in 1 place".to_owned(),
            count => format!("found in {count} places"),
        },
    );
    Ok(places)
}

/// Texts as a reader can take them.
fn in_words(texts: &[Vec<u8>]) -> String {
    let word = |text: &Vec<u8>| match std::str::from_utf8(text) {
        Ok(text) if text.chars().all(|c| !c.is_control()) => format!("`{text}`"),
        _ => text.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>() + "…",
    };
    match texts {
        [one, two, three, _, ..] => {
            format!("{}, {}, {} and {} others", word(one), word(two), word(three), texts.len() - 3)
        }
        few => few.iter().map(word).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_in_letters_or_digits() {
        assert_eq!(in_words(&[b"ab".to_vec(), vec![0, 255]]), "`ab`, 00ff…");
        assert!(in_words(&vec![b"x".to_vec(); 5]).ends_with("and 2 others"));
    }
}
