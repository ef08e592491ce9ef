//! What is tried on each stack.

use terms::{Feature, Note};

use crate::fields::Fields;
use crate::suggest::nearest;

/// Reads `[trials]`: without `features` all of them.
pub(crate) fn read(study: &Fields, notes: &mut Vec<Note>) -> Vec<Feature> {
    let Some(fields) = study.table("trials") else { return Vec::new() };
    let Some(words) = fields.names("features") else { return Feature::ALL.to_vec() };
    let mut wanted = Vec::new();
    for word in words {
        match Feature::from_word(&word.text) {
            Some(feature) if wanted.contains(&feature) => {}
            Some(feature) => wanted.push(feature),
            None => {
                let all = Feature::ALL.map(Feature::word);
                let message = format!("there is no feature `{}` to try", word.text.escape_debug());
                let hint = match nearest(&word.text, all) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("features are {}", all.join(", ")),
                };
                notes.push(Note::error("study-unknown-feature", Some(word.span), message).hint(hint));
            }
        }
    }
    wanted
}
