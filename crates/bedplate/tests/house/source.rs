//! Source files as the rules of the house see them: code apart from comments, strings and tests.
//!
//! Not a parser of Rust: it tells strings and comments from code, and relies on rustfmt for where items end.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A source file. The views have the lines of the file, with blanks in place of what they leave out.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path from the project's directory.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
    /// Without comments, contents of strings, and tests.
    pub(crate) code: String,
    /// Without comments and tests.
    pub(crate) words: String,
    /// Only comments.
    pub(crate) comments: String,
    /// Is all of it test code?
    pub(crate) is_test: bool,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let views = split(text);
        let tests = test_lines(&views.code);
        let parts: Vec<&str> = path.split('/').collect();
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code: blank_lines(&views.code, &tests),
            words: blank_lines(&views.words, &tests),
            comments: views.comments,
            is_test: parts.contains(&"tests") || parts.contains(&"examples"),
        }
    }

    /// The room it belongs to.
    pub(crate) fn room(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or("")
    }

    /// Is it part of what users run?
    pub(crate) fn is_product(&self) -> bool {
        !self.is_test && self.path.split('/').nth(2) == Some("src")
    }

    /// Lines that are not tests.
    pub(crate) fn length(&self) -> usize {
        let tests = test_lines(&split(&self.text).code);
        self.text.lines().count() - tests.len()
    }
}

/// The project's directory.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every source file of the workspace, sorted; read once for all rules.
pub(crate) fn all() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(read_all)
}

fn read_all() -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join("crates"), "rs", &mut files);
    let read = |path: &PathBuf| Source::new(&shown(path), &fs::read_to_string(path).unwrap());
    let mut sources: Vec<Source> = files.iter().map(read).collect();
    let tests: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        source.is_test |= tests.contains(&source.path);
    }
    sources
}

/// Files under a directory with this ending, sorted.
pub(crate) fn collect(directory: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, ending, files);
        } else if path.extension().is_some_and(|found| found == ending) {
            files.push(path);
        }
    }
}

/// A path as people of the project write it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned()
}

/// Files that hold a module which exists only in tests.
fn test_modules(source: &Source) -> Vec<String> {
    let code = split(&source.text).code;
    let lines: Vec<&str> = code.lines().collect();
    let (directory, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = file.trim_end_matches(".rs");
    let directory =
        if matches!(stem, "lib" | "main" | "mod") { directory.to_owned() } else { format!("{directory}/{stem}") };
    let declared = lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]");
    let names = declared.filter_map(|pair| pair[1].trim().strip_suffix(';')?.rsplit_once("mod ").map(|(_, name)| name));
    names.map(|name| format!("{directory}/{name}.rs")).collect()
}

struct Views {
    code: String,
    words: String,
    comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Code,
    LineComment,
    BlockComment(usize),
    /// A string, with the number of `#` of a raw one.
    Text(Option<usize>),
}

/// Tells code, strings and comments apart.
fn split(text: &str) -> Views {
    let mut views = Views { code: String::new(), words: String::new(), comments: String::new() };
    let mut state = State::Code;
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let (next, taken) = step(state, &chars, at);
        for &c in &chars[at..at + taken] {
            let show = |shown: bool| if shown || c == '\n' { c } else { ' ' };
            let is_comment = matches!(state, State::LineComment | State::BlockComment(_))
                || matches!(next, State::LineComment | State::BlockComment(_));
            let is_text = matches!(state, State::Text(_)) && matches!(next, State::Text(_));
            views.code.push(show(!is_comment && !is_text));
            views.words.push(show(!is_comment));
            views.comments.push(show(is_comment));
        }
        (state, at) = (next, at + taken);
    }
    views
}

/// The state after the next few characters, and how many they are.
fn step(state: State, chars: &[char], at: usize) -> (State, usize) {
    let starts = |with: &str| with.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c));
    match state {
        State::Code if starts("//") => (State::LineComment, 2),
        State::Code if starts("/*") => (State::BlockComment(1), 2),
        State::Code if starts("\"") => (State::Text(None), 1),
        State::Code if starts("r\"") || starts("r#") => raw_string(chars, at),
        State::Code if starts("'") => (State::Code, character(chars, at)),
        // The whole word, so that the `r` at the end of one begins no raw string.
        State::Code if chars[at].is_alphanumeric() => {
            (State::Code, chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count())
        }
        State::Code => (State::Code, 1),
        State::LineComment if starts("\n") => (State::Code, 1),
        State::LineComment => (state, 1),
        State::BlockComment(depth) if starts("/*") => (State::BlockComment(depth + 1), 2),
        State::BlockComment(1) if starts("*/") => (State::Code, 2),
        State::BlockComment(depth) if starts("*/") => (State::BlockComment(depth - 1), 2),
        State::BlockComment(_) => (state, 1),
        State::Text(None) if starts("\\") => (state, 2.min(chars.len() - at)),
        State::Text(None) if starts("\"") => (State::Code, 1),
        State::Text(Some(marks)) if starts("\"") && chars[at + 1..].iter().take(marks).all(|c| *c == '#') => {
            (State::Code, (1 + marks).min(chars.len() - at))
        }
        State::Text(_) => (state, 1),
    }
}

fn raw_string(chars: &[char], at: usize) -> (State, usize) {
    let marks = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    // `r#type` is a word, not a string.
    if chars.get(at + 1 + marks) == Some(&'"') { (State::Text(Some(marks)), marks + 2) } else { (State::Code, 1) }
}

/// The length of a character literal, or of the quote that begins a lifetime.
fn character(chars: &[char], at: usize) -> usize {
    if chars.get(at + 1) == Some(&'\\') {
        return chars[at + 3..].iter().position(|c| *c == '\'').map_or(1, |end| end + 4);
    }
    if chars.get(at + 2) == Some(&'\'') { 3 } else { 1 }
}

/// Lines, from 0, of items under `#[cfg(test)]`.
fn test_lines(code: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = code.lines().collect();
    let mut tests = BTreeSet::new();
    for (start, line) in lines.iter().enumerate() {
        if line.trim() == "#[cfg(test)]" {
            let indent = line.len() - line.trim_start().len();
            tests.extend(start..=end_of_item(&lines, start, indent));
        }
    }
    tests
}

/// Where the item that an attribute stands over ends: its closing brace has its indent, or it ends with a semicolon.
fn end_of_item(lines: &[&str], start: usize, indent: usize) -> usize {
    let closes = |line: &str| {
        let trimmed = line.trim();
        let outside = line.len() - line.trim_start().len() == indent;
        outside && (trimmed.starts_with('}') || trimmed.ends_with(';') || trimmed.ends_with(" {}"))
    };
    (start + 1..lines.len()).find(|&n| closes(lines[n])).unwrap_or(lines.len().saturating_sub(1))
}

fn blank_lines(view: &str, lines: &BTreeSet<usize>) -> String {
    let kept = view.lines().enumerate().map(|(n, line)| if lines.contains(&n) { "" } else { line });
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn code_strings_and_comments_are_distinguished() {
    let check = |text: &str, code: &str, words: &str| {
        let views = split(text);
        assert_eq!((views.code.trim_end(), views.words.trim_end()), (code, words), "{text}");
    };
    check("a(); // b", "a();", "a();");
    check("a /* b /* c */ d */ e", "a                   e", "a                   e");
    check(r#"f("x // y \" z");"#, r#"f("           ");"#, r#"f("x // y \" z");"#);
    check("r#\"a \" b\"# + c", "r#\"     \"# + c", "r#\"a \" b\"# + c");
    check("for \"x\"", "for \" \"", "for \"x\"");
    check("let c: &'a str = '\"'; d", "let c: &'a str = '\"'; d", "let c: &'a str = '\"'; d");
    check("'\\'' // x", "'\\''", "'\\''");
    check("r#type", "r#type", "r#type");
}

#[test]
fn tests_are_told_from_code() {
    let text = "fn a() {}\n#[cfg(test)]\nmod samples;\nfn b() {}\n#[cfg(test)]\nmod tests {\n    x.y()\n}\nfn c() {}\n";
    let source = Source::new("crates/plan/src/lib.rs", text);
    assert_eq!(source.code.replace('\n', "|"), "fn a() {}|||fn b() {}|||||fn c() {}");
    assert_eq!(source.length(), 3);
    assert_eq!(test_modules(&source), ["crates/plan/src/samples.rs"]);
}
