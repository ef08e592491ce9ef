//! Words of our own for which the field has a term: none of them in what a person reads. STYLE.md has the list.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::none;
use super::source::{all, collect, root, shown};

/// The words on the left of the table.
fn refused() -> Vec<String> {
    let style = fs::read_to_string(root().join("STYLE.md")).unwrap();
    let table = style.split_once("<!-- house: words -->").unwrap().1;
    let rows = table.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let words = rows.flat_map(|row| row.split('|').nth(1).unwrap().split(','));
    words.map(|word| word.trim().to_owned()).collect()
}

/// The first of the words that occurs in a text, as a whole.
fn first<'w>(text: &str, words: &'w [String]) -> Option<&'w str> {
    let text = text.to_lowercase();
    let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let whole = |word: &str| {
        text.match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter))
    };
    words.iter().find(|word| whole(word)).map(String::as_str)
}

/// Prose of a document: without code, and without where links lead.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !(fenced || fence) {
            let parts = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            let parts = parts.split("](").enumerate();
            out.extend(parts.map(|(at, part)| if at == 0 { part } else { part.split_once(')').map_or("", |of| of.1) }));
        }
        out.push('\n');
    }
    out
}

/// Text of a template: what stands between tags, without the template's own code.
fn between_tags(text: &str) -> String {
    let outside = |text: &str, open: &str, close: &str| -> String {
        let pieces = text.split(open).enumerate();
        pieces.map(|(at, piece)| if at == 0 { piece } else { piece.split_once(close).map_or("", |of| of.1) }).collect()
    };
    outside(&outside(&outside(text, "{{", "}}"), "{%", "%}"), "<", ">")
}

/// Lines of code with their numbers, from 0; strings that go on after a `\` are in one line.
fn logical(code: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (at, line) in code.lines().enumerate() {
        match lines.last_mut().filter(|(_, before)| before.ends_with('\\')) {
            Some((_, before)) => {
                before.pop();
                before.push_str(line.trim_start());
            }
            None => lines.push((at, line.to_owned())),
        }
    }
    lines
}

/// Sentences in the strings of a source file, without values that are put in and keys in backticks: strings of one word are
/// keys.
fn strings(code: &str) -> impl Iterator<Item = String> {
    let sentences = code.split('"').skip(1).step_by(2).filter(|string| string.contains(' '));
    let values = |text: &str| -> String {
        let pieces = text.split('{').enumerate();
        pieces.map(|(at, of)| if at == 0 { of } else { of.split_once('}').map_or("", |of| of.1) }).collect()
    };
    sentences.map(move |text| values(&text.split('`').step_by(2).collect::<Vec<_>>().join("`")))
}

/// Identifiers as words: `LimitKind` and `limit_kind` are both "limit kind".
fn spelt(code: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in code.chars() {
        if c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            out.push(' ');
        }
        out.push(if c == '_' { ' ' } else { c });
        before = c;
    }
    out
}

#[test]
fn who_reads_the_source_finds_the_words_of_the_field() {
    let words = refused();
    let mut found = Vec::new();
    for source in all() {
        let comments = source.comments.lines().map(|line| line.split('`').step_by(2).collect::<Vec<_>>().join("`"));
        let names = source.code.lines().map(spelt);
        for (at, (comment, name)) in comments.zip(names).enumerate() {
            let word = first(&comment, &words).or_else(|| first(&name, &words));
            found.extend(word.map(|word| format!("{}:{}: {word}", source.path, at + 1)));
        }
    }
    none(&found);
}

#[test]
fn what_a_person_reads_is_in_the_words_of_the_field() {
    let words = refused();
    assert!(words.len() > 10, "{words:?}");
    let mut found = Vec::new();
    let mut documents: Vec<PathBuf> = vec![root().join("README.md")];
    collect(&root().join("docs"), "md", &mut documents);
    for path in &documents {
        let text = prose(&fs::read_to_string(path).unwrap());
        let lines = text.lines().enumerate();
        found.extend(
            lines.filter_map(|(at, line)| Some(format!("{}:{}: {}", shown(path), at + 1, first(line, &words)?))),
        );
    }
    let mut templates = Vec::new();
    collect(&root().join("crates/report/templates"), "html", &mut templates);
    for path in &templates {
        let text = between_tags(&fs::read_to_string(path).unwrap());
        found.extend(first(&text, &words).map(|word| format!("{}: {word}", shown(path))));
    }
    for source in all().iter().filter(|source| source.is_product()) {
        found.extend(logical(&source.words).iter().filter_map(|(at, line)| {
            let word = strings(line).find_map(|string| first(&string, &words).map(str::to_owned))?;
            Some(format!("{}:{}: {word}", source.path, at + 1))
        }));
    }
    found.extend(manual().iter().filter_map(|(page, text)| Some(format!("{page}: {}", first(text, &words)?))));
    none(&found);
}

/// Pages for who works on the program.
const FOR_DEVELOPERS: [&str; 1] = ["docs/figures.md"];

#[test]
fn pages_for_users_need_no_sources() {
    let mut pages = vec![root().join("README.md")];
    collect(&root().join("docs"), "md", &mut pages);
    let mut found = Vec::new();
    for path in pages.iter().filter(|path| !FOR_DEVELOPERS.contains(&shown(path).as_str())) {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().enumerate();
        let inside = |line: &str| line.contains("cargo ") || line.contains("crates/") || line.contains("::");
        found.extend(
            lines.filter(|(_, line)| inside(line)).map(|(at, line)| format!("{}:{}: {line}", shown(path), at + 1)),
        );
    }
    none(&found);
}

/// The manual pages, which hold all that help says.
#[expect(clippy::disallowed_methods, reason = "a test starts the program")]
fn manual() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual");
    let _ = fs::remove_dir_all(&directory);
    let made = Command::new(env!("CARGO_BIN_EXE_bedplate")).arg("man").arg(&directory).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let pages = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let plain = |text: String| text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "");
    let code = |text: String| text.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let pages: Vec<(String, String)> =
        pages.map(|path| (shown(&path), code(plain(fs::read_to_string(&path).unwrap())))).collect();
    assert!(pages.len() > 25, "{}", pages.len());
    for (page, text) in &pages {
        for title in ["EXIT STATUS", "FILES", "ENVIRONMENT"] {
            assert!(text.contains(&format!(".SH \"{title}\"")), "{page}: {title}");
        }
    }
    pages
}
