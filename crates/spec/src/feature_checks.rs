//! What is tried on each stack.

use terms::{Feature, Note};

use crate::fields::Fields;
use crate::suggest::{is_worth_it, meant};

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
                let note = Note::error("study-unknown-feature", Some(word.span), message);
                notes.push(match is_worth_it(notes) {
                    true => note.hint(meant(&word.text, all, || format!("features are {}", all.join(", ")))),
                    false => note,
                });
            }
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use terms::Feature;

    fn read(feature_checks: &str) -> (Vec<Feature>, String) {
        let text = format!(
            "question = \"?\"\nlab.drives = [{{ name = \"a\", size = \"512 MiB\" }}]\n{feature_checks}\n[[stack]]\nname = \"x\"\n\
             layers = [{{ ext4 = {{}}, on = \"a\" }}]\n"
        );
        let (design, notes) = crate::parse(&text);
        (design.map(|design| design.feature_checks).unwrap_or_default(), crate::render("s.toml", &text, &notes, false))
    }

    #[test]
    fn nothing_is_tried_unless_it_is_asked_for() {
        assert_eq!(read("").0, []);
        assert_eq!(read("[trials]").0, Feature::ALL);
        assert_eq!(read("[trials]\nfeatures = [\"snapshot\", \"snapshot\"]").0, [Feature::Snapshot]);
    }

    #[test]
    fn every_feature_that_there_is_not_is_told() {
        let (features, told) = read("[trials]\nfeatures = [\"encription\", \"speed\"]");
        assert_eq!(features, []);
        assert!(told.contains("did you mean `encryption`") && told.contains("`speed`"), "{told}");
    }
}
