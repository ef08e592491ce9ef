//! Free texts of a study: each key takes the characters of its own kind, and says where others stand.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use terms::Note;

/// A study with a text in each place that takes one.
fn study(place: &str, text: &str) -> String {
    let at = |here: &str, usual: &str| if here == place { toml(text) } else { toml(usual) };
    format!(
        "question = {}\nlab.drives = [{{ name = {}, size = '1 GiB', read = {} }}]\n\
         [[stack]]\nname = {}\nnote = {}\nlayers = [{{ luks = {{ cipher = {} }}, name = {}, on = 'a' }}, {{ ext4 = {{}} }}]\n\
         [[stack]]\nname = 'two'\nlayers = [{{ ext4 = {{}}, on = 'a' }}]\n\
         [[workload]]\nname = {}\npattern = 'read'\nblock = '4 KiB'\n\
         [[chart]]\ntitle = {}\nnote = {}\nstacks = ['*']\n",
        at("question", "q"),
        at("drive", "a"),
        at("rate", "180 MB/s"),
        at("stack", "one"),
        at("note", "n"),
        at("cipher", "aes-xts-plain64"),
        at("layer", "l"),
        at("workload", "w"),
        at("title", "t"),
        at("chart note", "n"),
    )
}

fn toml(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

const PLACES: [&str; 10] =
    ["question", "drive", "rate", "stack", "note", "cipher", "layer", "workload", "title", "chart note"];
/// Those that take any text that can be seen.
const PROSE: [&str; 5] = ["question", "stack", "note", "title", "chart note"];
/// Those that are shown as names.
const TITLES: [&str; 2] = ["stack", "title"];

/// The notes on a text in its place, each with its caret on it.
fn notes(place: &str, text: &str) -> Vec<Note> {
    let study = study(place, text);
    let (design, notes) = spec::parse(&study);
    let errors: Vec<Note> = notes.into_iter().filter(|note| note.severity == terms::NoteLevel::Error).collect();
    assert_eq!(design.is_none(), !errors.is_empty());
    for note in errors.iter().filter(|note| note.code == "study-bad-text") {
        let span = note.span.unwrap();
        assert_eq!(study[span.start..span.end], toml(text), "{note:?}");
    }
    errors
}

#[test]
fn what_is_not_seen_is_refused_everywhere() {
    for hidden in ['\u{1b}', '\u{7}', '\n', '\t', '\u{7f}', '\u{9b}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'] {
        for place in PLACES {
            assert!(!notes(place, &format!("a{hidden}b")).is_empty(), "{place} took {hidden:?}");
        }
    }
    for mark in ['\u{200e}', '\u{200f}', '\u{61c}', '\u{2028}', '\u{feff}', '\u{200b}'] {
        for place in PLACES {
            assert!(!notes(place, &format!("a{mark}b")).is_empty(), "{place} took {mark:?}");
        }
    }
}

#[test]
fn what_can_be_seen_is_taken_where_people_write_for_people() {
    for text in ["Größe + Preis = ?", "עברית", "100 % \"sure\" <b>", "it's `x`; $(y)"] {
        for place in PLACES {
            assert_eq!(notes(place, text).is_empty(), PROSE.contains(&place), "{place}: {text}");
        }
    }
}

#[test]
fn names_are_no_formulas() {
    for start in ["=", "+", "-", "@", " ="] {
        let text = format!("{start}HYPERLINK(\"http://x\")");
        for place in PROSE {
            assert_eq!(!notes(place, &text).is_empty(), TITLES.contains(&place), "{place}: {text}");
        }
    }
}

#[test]
fn a_cipher_is_made_of_what_ciphers_are() {
    for cipher in ["aes-xts-plain64", "serpent-cbc-essiv:sha256", "capi:xts(aes)-plain64-x"] {
        assert_eq!(notes("cipher", cipher), [], "{cipher}");
    }
    for cipher in ["aes{drive:a}$(touch x)`touch y`-xts-plain64", "a b-c-d", "aes-xts-plain64;x", "aes-xts-plain64\\"] {
        let notes = notes("cipher", cipher);
        assert!(notes.iter().any(|note| note.code == "study-bad-text"), "{cipher}: {notes:?}");
    }
}

/// A million notes are counted, and some of them drawn: errors first, in the order of the text.
#[test]
fn of_very_many_notes_the_first_are_drawn_and_all_are_told() {
    let text = (0..300).map(|i| format!("key{i} = 1\n")).collect::<String>();
    let (_, notes) = spec::parse(&text);
    assert!(notes.len() >= 300, "{}", notes.len());
    let drawn = spec::render("s.toml", &text, &notes, false);
    assert_eq!(drawn.matches("error[").count(), 50);
    assert!(drawn.ends_with(&format!("\n{} more errors are not drawn\n", notes.len() - 50)), "{drawn}");
    let warnings: Vec<Note> = (0..60).map(|_| notes[5].clone().as_warning()).chain([notes[9].clone()]).collect();
    let drawn = spec::render("s.toml", &text, &warnings, false);
    assert!(drawn.contains("error[study-unknown-key]: `key"), "{drawn}");
    assert!(drawn.ends_with("\n11 more warnings are not drawn\n"), "{drawn}");
}

#[test]
fn lines_too_long_to_draw_are_told_by_their_place() {
    let text = format!("question = \"{}\"\n", "é".repeat(5000));
    let (_, notes) = spec::parse(&text);
    let drawn = spec::render("s.toml", &text, &notes, false);
    assert!(drawn.contains("--> s.toml:1:12") && drawn.len() < 2000, "{drawn}");
}
