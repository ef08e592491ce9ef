//! Whatever the text: no panic, notes within it, and a design only where nothing is wrong.

use proptest::prelude::*;
use terms::{NoteLevel, Ref};

const QUICKSTART: &str = include_str!("../../../studies/quickstart.toml");
const LONG_TERM: &str = include_str!("../../../studies/long-term-storage.toml");
const DOZEN: &str = include_str!("broken/dozen.toml");

/// What holds of every answer.
fn check(text: &str) -> Result<(), TestCaseError> {
    let (design, notes) = spec::parse(text);
    for note in &notes {
        if let Some(span) = note.span {
            prop_assert!(span.start <= span.end && span.end <= text.len(), "{note:?}");
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{note:?}");
        }
        prop_assert!(!note.message.is_empty() && !note.message.contains('\n'), "{note:?}");
    }
    let wrong = notes.iter().any(|note| note.severity == NoteLevel::Error);
    prop_assert_eq!(design.is_none(), wrong);
    let drawn = spec::render("study.toml", text, &notes, false);
    // Of very many the first are drawn, and the rest are counted.
    prop_assert!(drawn.matches("[study-").count() >= notes.len().min(50));
    prop_assert_eq!(spec::render("study.toml", text, &notes, true).is_empty(), notes.is_empty());
    prop_assert_eq!(spec::parse(text).1, notes);
    for stack in design.iter().flat_map(|design| &design.stacks) {
        let mut before = Vec::new();
        for node in &stack.nodes {
            for below in node.on.iter().chain(&node.special) {
                match below {
                    Ref::Layer(name) => prop_assert!(before.contains(&name), "{} before {name}", node.name),
                    Ref::Drive(name) => prop_assert!(design.as_ref().is_some_and(|d| d.lab.drive(name).is_some())),
                }
            }
            prop_assert!(!before.contains(&&node.name));
            before.push(&node.name);
        }
    }
    Ok(())
}

/// Pieces that studies are made of, to be thrown together.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "question",
        "lab",
        "drives",
        "stack",
        "layers",
        "measure",
        "workload",
        "name",
        "size",
        "on",
        "raid",
        "luks",
        "ext4",
        "zfs",
        "btrfs",
        "lvm",
        "integrity",
        "level",
        "special",
        "profiles",
        "span",
        "block",
        "pattern",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ",",
        ".",
        "\n",
        " ",
        "'",
        "\"",
        "\"\"\"",
        "#",
        "1",
        "-5",
        "0x10",
        "1.5",
        "true",
        "\"a\"",
        "\"b\"",
        "\"raid\"",
        "\"1 GiB\"",
        "\"5 s\"",
        "\"quick\"",
        "1979-05-27",
        "é",
        "\u{1F9F1}",
        "\u{0}",
        "\r\n",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

/// A study with some of its bytes removed, doubled, or replaced by a piece.
fn mutated() -> impl Strategy<Value = String> {
    let study = prop::sample::select(vec![QUICKSTART, LONG_TERM, DOZEN]);
    let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, piece()), 1..6);
    (study, cuts).prop_map(|(study, cuts)| {
        let mut text = study.to_owned();
        for (at, long, piece) in cuts {
            let start = text.floor_char_boundary(at.index(text.len().max(1)));
            let end = text.ceil_char_boundary((start + long).min(text.len()));
            text.replace_range(start..end, &piece);
        }
        text
    })
}

/// Entries of a stack that rest on anything at all.
fn graph() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "luks = {}",
        "crypt = {}",
        "integrity = {}",
        "raid = { level = 1 }",
        "lvm = {}",
        "ext4 = {}",
        "btrfs = {}",
        "zfs = { special = 'c' }",
        "bare = {}",
    ]);
    let on = prop::sample::subsequence(vec!["'a'", "'b'", "'c'", "'luks'", "'raid'", "'lvm'", "'m'"], 0..4);
    let entry = (kind, prop::option::of(on), prop::bool::weighted(0.1)).prop_map(|(kind, on, named)| {
        let on = on.map(|on| format!(", on = [{}]", on.join(", "))).unwrap_or_default();
        format!("{{ {kind}{on}{} }}", if named { ", name = 'm'" } else { "" })
    });
    prop::collection::vec(entry, 1..7).prop_map(|entries| {
        format!(
            "question = 'q'\nlab.drives = [{{ name = 'a', size = '1 GiB' }}, {{ name = 'b', size = '1 GiB' }}, \
             {{ name = 'c', size = '400 MiB', lba = '4 KiB' }}]\n\
             stack = [{{ name = 'x', layers = [{}] }}]\n",
            entries.join(", ")
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(&text)?;
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec(piece(), 0..60)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn any_damage(text in mutated()) {
        check(&text)?;
    }

    #[test]
    fn any_graph(text in graph()) {
        check(&text)?;
    }
}
