//! The lines of a job file: sections, options, comments, as fio reads them (`__parse_jobs_ini` in its `init.c`).

use std::collections::BTreeSet;

use terms::{Note, Span, fio};

use super::units::is_blank;
use super::{Reader, rules};

/// A section and its options in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) options: Vec<Option_>,
}

impl Section {
    /// Does it speak for the jobs behind it? fio looks at the beginning of its name only.
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// One option. Its value is as fio sees it, with the blanks before it; `None` where there is no `=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Option_ {
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) span: Span,
    /// Its value could not be read, which was told: nothing follows from it.
    pub(super) unread: bool,
    /// The option that was likely meant, where fio has none of this name.
    pub(super) meant: Option<&'static str>,
}

impl Option_ {
    /// The value; empty where there is none.
    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }
}

/// Files within files that are read at most. fio ends after ten levels.
const MOST_INCLUDED: usize = 10;
/// Longest line, in bytes: fio takes what is behind it for another line.
const LONGEST: usize = 4095;

/// Most jobs of a file: as many as fio has at most (`REAL_MAX_JOBS` in its `os/os.h`). Global sections are none.
const JOBS: usize = 4096;
/// What some editors of other systems write before a text: U+FEFF.
const MARK: char = '\u{feff}';

/// Words that fio puts in the place of by itself: what they are depends on the machine that runs it.
const KEYWORDS: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

/// A text on its way to sections.
pub(super) struct Lines<'a> {
    reader: &'a Reader<'a>,
    notes: &'a mut Vec<Note>,
    sections: Vec<Section>,
    wanted: BTreeSet<String>,
    used: BTreeSet<String>,
    included: usize,
    /// Sections that are jobs.
    jobs: usize,
    /// It has more jobs than are read: what is behind them is passed over.
    full: bool,
}

/// Reads every line. What is none of these is noted and passed over.
pub(super) fn read(text: &str, reader: &Reader<'_>, notes: &mut Vec<Note>) -> Vec<Section> {
    let (wanted, used) = (BTreeSet::new(), BTreeSet::new());
    let mut lines = Lines { reader, notes, sections: Vec::new(), wanted, used, included: 0, jobs: 0, full: false };
    lines.take(text, None);
    let unused = |name: &&String| !lines.used.contains(*name) && !lines.full;
    for name in reader.variables.keys().filter(unused) {
        let note = Note::error("fio-variable", None, format!("nothing asks for `{name}`"));
        lines.notes.push(note.hint(format!("leave out --set {name}=…")));
    }
    lines.sections
}

impl Lines<'_> {
    /// Takes a text; where it is another file's, `place` is where that is named.
    fn take(&mut self, text: &str, place: Option<Span>) {
        let mut start = 0;
        let mut rest = text;
        if let Some(behind) = text.strip_prefix(MARK) {
            (start, rest) = (MARK.len_utf8(), behind);
            let span = place.unwrap_or(Span { start: 0, end: start });
            let message = "the file begins with a byte order mark: fio takes it for a part of the first line";
            self.wrong("fio-byte-order-mark", span, message, "save the file as UTF-8 without a byte order mark");
        }
        for whole in rest.split_inclusive('\n') {
            if self.full {
                return;
            }
            // A comment begins anywhere in a line.
            let end = whole.find(['#', ';']).unwrap_or(whole.len());
            let (line, comment) = whole.split_at(end);
            let line = trimmed_end(line).trim_start_matches(is_blank);
            let begin = start + whole.find(line).unwrap_or(0);
            let span = place.unwrap_or(Span { start: begin, end: begin + line.len() });
            start += whole.len();
            if whole.len() > LONGEST {
                self.wrong("fio-long-line", span, "the line is longer than fio reads", "4095 bytes are the most");
            } else if !line.is_empty() {
                self.take_line(line, comment, span, place.is_some());
            }
        }
    }

    fn take_line(&mut self, line: &str, comment: &str, span: Span, within: bool) {
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').unwrap_or(rest);
            if name.len() == rest.len() {
                self.open_name(comment, span);
            } else if within {
                let message = "fio takes no section in a file that is included";
                self.wrong("fio-include", span, message, "keep options only");
                return;
            }
            // What stands behind a name that does not end is a part of its section, too.
            let section = Section { name: name.to_owned(), span, options: Vec::new() };
            self.jobs += usize::from(!section.is_global());
            self.full = self.jobs > JOBS;
            if self.full {
                let message = format!("the file has more than {JOBS} jobs, and fio takes no more");
                self.wrong("fio-sections", span, &message, "divide it into several files");
            } else {
                self.sections.push(section);
            }
        } else if self.sections.is_empty() {
            self.wrong("fio-no-section", span, "an option before any section", "begin with [global] or [name]");
        } else if line.starts_with("include") {
            // fio passes over one letter, whatever it is.
            let name: String = line.chars().skip("include".len() + 1).collect();
            self.include(name.trim_matches(is_blank), span);
        } else {
            let option = self.option(line, span);
            if let Some(section) = self.sections.last_mut() {
                section.options.push(option);
            }
        }
    }

    /// A section whose name does not end.
    fn open_name(&mut self, comment: &str, span: Span) {
        if comment.contains(']') {
            let letter = &comment[..1];
            let message = format!("the section's name ends at `{letter}`, which begins a comment");
            self.wrong("fio-section", span, &message, &format!("write a name without `{letter}`"));
        } else {
            self.wrong("fio-section", span, "the section's name does not end with `]`", "write [name]");
        }
    }

    /// Another file beside this one. A file of a stranger's names none elsewhere.
    fn include(&mut self, name: &str, span: Span) {
        let outside = name.is_empty() || name.starts_with('/') || name.split('/').any(|part| part == "..");
        self.included += 1;
        if outside {
            let message = format!("`{}` lies outside of the job file's folder", name.escape_debug());
            self.wrong("fio-include", span, &message, "put what it holds into this file");
        } else if self.included > MOST_INCLUDED {
            self.wrong("fio-include", span, "too many files are included", "put what they hold into this file");
        } else {
            match (self.reader.include)(name) {
                Ok(text) => self.take(&text, Some(span)),
                Err(why) => {
                    let message = format!("`{}` cannot be included: {why}", name.escape_debug());
                    self.wrong("fio-include", span, &message, "put what it holds into this file");
                }
            }
        }
    }

    fn option(&mut self, line: &str, span: Span) -> Option_ {
        let names = line.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
        self.used.extend(names.map(|(name, _)| name.to_owned()));
        // fio fills in variables anywhere in a line: one may stand for the name of an option, or for all of it.
        let is_named = line.split('=').next().is_some_and(|key| key.contains("${"));
        let filled = if is_named { self.filled(line, span) } else { Some(line.to_owned()) };
        let Some(line) = filled else {
            return Option_ { key: line.to_owned(), value: None, span, unread: true, meant: None };
        };
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (trimmed_end(key), Some(value)),
            None => (line.as_str(), None),
        };
        let read = value.map(|value| self.value(key, value, span));
        let unread = read == Some(None);
        let value = read.flatten();
        let value = if key == "ioengine" { value.map(|name| fio::engine(&name).to_owned()) } else { value };
        Option_ { key: key.to_owned(), value, span, unread, meant: None }
    }

    /// A value as fio sees it; `None`, with a note, where it would see another than the one that is written.
    fn value(&mut self, key: &str, value: &str, span: Span) -> Option<String> {
        // What has no effect is not asked for.
        let has_effect = !rules::has_no_effect(key);
        let text = if has_effect && value.contains('$') { self.filled(value, span)? } else { value.to_owned() };
        let plain = text.trim_start_matches(is_blank);
        // Blanks are passed over before a number, and in no other value. They cost it its unit, and seconds need none.
        let number = if rules::is_time(key) { plain.strip_suffix('s').unwrap_or(plain) } else { plain };
        let is_number = number.chars().all(|c| c.is_ascii_digit()) && !rules::is_word(key);
        if plain.len() < text.len() && has_effect && !is_number {
            let message = format!("fio takes the blank behind `=` for a part of the value: `{}`", text.escape_debug());
            self.wrong("fio-blank", span, &message, &format!("write {key}={}", plain.escape_debug()));
            return None;
        }
        Some(plain.to_owned())
    }

    /// The value with variables in their places, if all are known. fio knows `${NAME}` and no `$NAME`.
    fn filled(&mut self, value: &str, span: Span) -> Option<String> {
        let (mut text, mut rest, mut whole) = (String::new(), value, true);
        while let Some((before, behind)) = rest.split_once("${") {
            let Some((name, after)) = behind.split_once('}') else {
                let message = format!("`${{{}` has no `}}`: fio fills in `${{NAME}}`", behind.escape_debug());
                self.wrong("fio-variable", span, &message, "close it with `}`, or write the value");
                return None;
            };
            text.push_str(before);
            match self.reader.variables.get(name) {
                Some(known) => text.push_str(known),
                None => {
                    whole = false;
                    if self.wanted.insert(name.to_owned()) {
                        let message = format!("there is no value for `{}`", name.escape_debug());
                        self.wrong("fio-variable", span, &message, &format!("say --set {}=…", name.escape_debug()));
                    }
                }
            }
            rest = after;
        }
        text.push_str(rest);
        if let Some(keyword) = KEYWORDS.iter().find(|keyword| text.contains(**keyword)) {
            let message = format!("`{keyword}` is whatever it is where fio runs");
            self.wrong("fio-variable", span, &message, "write the value");
            return None;
        }
        if whole && text.contains('$') {
            self.wrong("fio-variable", span, "fio fills in `${NAME}`, and nothing else with a `$`", "write the value");
            return None;
        }
        whole.then_some(text)
    }

    fn wrong(&mut self, code: &str, span: Span, message: &str, hint: &str) {
        self.notes.push(Note::error(code, Some(span), message).hint(hint));
    }
}

/// A text without what fio passes over behind it (`strip_blank_end` in its `parse.c`).
fn trimmed_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| is_blank(c) || c.is_ascii_control())
}
