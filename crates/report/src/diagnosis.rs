//! A diagnosis as text and as JSON, and the list of checks.

use std::collections::BTreeSet;

use serde::Serialize;
use terms::diagnosis::{About, Counts, Diagnosis, Finding, Severity, Unknown};

use crate::grouped::by_key;
use crate::style::{Style, Tone};
use crate::width::{paragraph, width, wrap};

mod alike;

use alike::Alike;

/// What the JSON document says it is.
pub const SCHEMA: &str = "bedplate.diagnosis";

/// Its version. Keys are never renamed or dropped within one.
pub const VERSION: u32 = 1;

/// How many findings there are, then each by severity, then what is unknown.
#[must_use]
pub fn text(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut out = verdict(diagnosis.counts(), style);
    if let Some(by) = &diagnosis.emulated {
        let label = format!("an emulated machine ({by}): links, drives and processors are not what real ones are");
        out.push_str(&style.paint(Tone::Warn, paragraph("! ", &style.spell(&label), style.columns()).trim_end()));
        out.push_str("\n\n");
    }
    for (severity, title, tone) in [
        (Severity::Error, "Errors", Tone::Bad),
        (Severity::Warning, "Warnings", Tone::Warn),
        (Severity::Information, "Notes", Tone::Strong),
    ] {
        let findings: Vec<&Finding> = diagnosis.findings.iter().filter(|found| found.severity == severity).collect();
        if findings.is_empty() {
            continue;
        }
        out.push_str(&style.paint(tone, title));
        out.push('\n');
        alike::group(&findings).iter().for_each(|alike| one(&mut out, alike, tone, style));
        out.push('\n');
    }
    unknown(&mut out, diagnosis, style);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// One finding, or several alike: the check and the places, then what, at what cost, from what, and what fixes it.
fn one(out: &mut String, alike: &Alike, tone: Tone, style: &Style) {
    let found = alike.first;
    out.push('\n');
    for line in wrap(&style.spell(&alike.heading()), style.columns() - 2) {
        out.push_str("  ");
        out.push_str(&style.paint(if tone == Tone::Strong { Tone::Plain } else { tone }, &line));
        out.push('\n');
    }
    let mut part = |label: &str, text: &str| {
        let first = format!("    {label:<6}");
        out.push_str(&paragraph(&first, &style.spell(text), style.columns()));
    };
    part("what", &sentence(&found.what));
    part("cost", &sentence(&found.why));
    for seen in &found.seen {
        part("seen", &format!("{}: {}", seen.source, seen.value));
    }
    if let Some(more) = alike.more() {
        part("", &more);
    }
    if !found.remedy.advice.is_empty() {
        part("fix", &found.remedy.advice);
    }
    for command in alike.commands() {
        out.push_str(&pasted(&style.spell(command), style.columns()));
    }
    if !found.remedy.fixes.is_empty() {
        out.push_str(&format!("          or: bedplate doctor --fix {}\n", found.check));
    }
    let risk = alike.weakens().map(|weaker| ("    RISK  ", format!("until it is done, {weaker}"), Tone::Warn));
    let lost = alike.destroys().map(|lost| ("    LOST  ", format!("the fix destroys {lost}"), Tone::Bad));
    for (label, text, tone) in [risk, lost].into_iter().flatten() {
        for line in paragraph(label, &style.spell(&text), style.columns()).lines() {
            out.push_str(&style.paint(tone, line));
            out.push('\n');
        }
    }
}

/// With a capital letter, except where a name begins it.
fn sentence(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.chars().any(|c| !c.is_ascii_lowercase()) || first.is_empty() {
        return text.to_owned();
    }
    text[..1].to_uppercase() + &text[1..]
}

/// A command behind `$`, broken so that it can be pasted: at blanks outside quotes, with a backslash at the end of each line.
fn pasted(command: &str, columns: usize) -> String {
    let room = columns.saturating_sub(14);
    let mut lines: Vec<String> = vec![String::new()];
    for word in words(command) {
        let line = lines.last().map_or(0, |line| width(line));
        match lines.last_mut() {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) if line + 1 + width(word) <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let last = lines.len() - 1;
    lines.iter().enumerate().fold(String::new(), |out, (at, line)| {
        let first = if at == 0 { "          $ " } else { "              " };
        out + first + line + if at == last { "\n" } else { " \\\n" }
    })
}

/// A command cut at its blanks, but for those between quotes: a backslash there would be one of the text. What stands behind a backslash is
/// itself, but between single quotes (POSIX, Shell Command Language, 2.2).
fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let mut is_plain = false;
    command.split(move |c| {
        if std::mem::take(&mut is_plain) {
            return false;
        }
        match (quote, c) {
            (None | Some('"'), '\\') => is_plain = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        c == ' ' && quote.is_none()
    })
}

/// What is unknown: checks that lack the same of the same places, for the same reason, are told together, and all that only lack
/// what nobody posted in one line.
fn unknown(out: &mut String, diagnosis: &Diagnosis, style: &Style) {
    if diagnosis.unknown.is_empty() {
        return;
    }
    out.push_str(&style.paint(Tone::Strong, "Unknown"));
    out.push_str("\n\n");
    let (unposted, rest): (Vec<&Unknown>, Vec<&Unknown>) =
        diagnosis.unknown.iter().partition(|unknown| is_not_posted(&unknown.reason));
    let unposted: BTreeSet<&str> = unposted.iter().map(|unknown| unknown.check.as_str()).collect();
    if !unposted.is_empty() {
        let text = format!(
            "{} not posted: `bedplate doctor --list` says what each looks at, and `bedplate capture FILE` takes all of it along",
            if unposted.len() == 1 {
                "1 check looks at what was".to_owned()
            } else {
                format!("{} checks look at what was", unposted.len())
            },
        );
        out.push_str(&paragraph("  ? ", &text, style.columns()));
    }
    let lacks = by_key(rest, |unknown| (unknown.check.as_str(), unknown.reason.as_str()));
    let told = |lack: &Vec<&Unknown>| {
        let places: Vec<String> = lack.iter().map(|unknown| unknown.place.to_string()).collect();
        (lack[0].reason.clone(), places.join(", "))
    };
    for group in by_key(lacks, told) {
        let (reason, places) = told(&group[0]);
        let checks: Vec<&str> = group.iter().map(|lack| lack[0].check.as_str()).collect();
        let checks = match checks.len() {
            all @ MANY.. => format!("{}, … ({all} checks)", checks[..SHOWN].join(", ")),
            _ => checks.join(", "),
        };
        let text = format!("{places}: {reason} ({checks})");
        out.push_str(&paragraph("  ? ", &style.spell(&text), style.columns()));
    }
    if !diagnosis.as_root {
        out.push_str(&paragraph("    ", "Root can read more than was read here.", style.columns()));
    }
    out.push('\n');
}

/// So many checks that lack one thing are counted, and so many of them named.
const MANY: usize = 9;
const SHOWN: usize = 3;

/// How a reason says that a text of programs does not tell something (`capture/mod.rs` of `host`).
const NOT_POSTED: &str = "was not captured in what was posted";

/// Does a reason say no more than that? Others say what was judged without it.
fn is_not_posted(reason: &str) -> bool {
    let asks = ["list `", "read `", "run `", "follow `"];
    asks.iter().any(|verb| reason.starts_with(verb)) && reason.contains(NOT_POSTED)
}

/// How many findings there are, before any is told.
fn verdict(counts: Counts, style: &Style) -> String {
    let parts = [
        (number(counts.errors, "error"), Tone::Bad, counts.errors),
        (number(counts.warnings, "warning"), Tone::Warn, counts.warnings),
        (number(counts.notes, "note"), Tone::Strong, counts.notes),
        (format!("{} unknown", counts.unknown), Tone::Strong, counts.unknown),
        (format!("{} passed", number(counts.passed, "check")), Tone::Good, counts.passed),
    ];
    let words = parts.iter().map(|(text, tone, count)| style.paint(if *count > 0 { *tone } else { Tone::Dim }, text));
    let mut out = words.collect::<Vec<_>>().join(", ") + "\n";
    if counts.nothing_there > 0 {
        let nothing = format!("{} had nothing to look at", number(counts.nothing_there, "check"));
        out.push_str(&style.paint(Tone::Dim, &nothing));
        out.push('\n');
    }
    out + "\n"
}

fn number(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The checks with what they look at and when they find something.
#[must_use]
pub fn list(checks: &[About], style: &Style) -> String {
    checks.iter().fold(String::new(), |mut out, about| {
        let fixes = if about.fixes { ", --fix fixes it" } else { "" };
        out.push_str(&style.paint(Tone::Strong, &about.check));
        out.push_str(&format!("  ({}{fixes})\n", about.severity.word()));
        out.push_str(&paragraph("    ", &style.spell(&about.rule), style.columns()));
        out.push_str(&paragraph("    looks at ", &style.spell(&about.looks_at), style.columns()));
        out
    })
}

/// A diagnosis as a JSON document.
///
/// # Errors
/// Where a value cannot be written as JSON.
pub fn json(diagnosis: &Diagnosis) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        version: u32,
        counts: Counts,
        #[serde(flatten)]
        diagnosis: &'a Diagnosis,
    }
    let document = Document { schema: SCHEMA, version: VERSION, counts: diagnosis.counts(), diagnosis };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        let text =
            pasted("cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue NAME-OF-A-MAPPING", 80);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        let joined = text.trim().trim_start_matches("$ ").replace(" \\\n", " ");
        assert_eq!(
            joined.split_whitespace().collect::<Vec<_>>().join(" "),
            "cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue NAME-OF-A-MAPPING"
        );
    }

    #[test]
    fn what_stands_between_quotes_is_not_broken() {
        let quoted = ["'error, dev|link speed'", "\"a 'b' c\"", "'a \"b'"];
        for text in quoted.map(|quoted| pasted(&format!("dmesg | grep -iE {quoted} | tail"), 30)) {
            assert!(quoted.iter().any(|quoted| text.contains(quoted)), "{text}");
            assert!(text.lines().count() > 1, "{text}");
        }
    }

    #[test]
    fn what_stands_behind_a_backslash_opens_no_quotes() {
        let cut = |command| words(command).collect::<Vec<_>>();
        assert_eq!(cut(r"a\'b c d"), [r"a\'b", "c", "d"]);
        assert_eq!(cut(r"'it'\''s one' two"), [r"'it'\''s one'", "two"]);
        assert_eq!(cut(r#""a \" b" c"#), [r#""a \" b""#, "c"]);
        assert_eq!(cut(r"'a\' b c"), [r"'a\'", "b", "c"]);
        assert_eq!(cut(r"one\ word two"), [r"one\ word", "two"]);
    }

    #[test]
    fn sentences_begin_with_a_capital_and_names_do_not() {
        assert_eq!(sentence("the link runs"), "The link runs");
        assert_eq!(sentence("nvme0n1 runs"), "nvme0n1 runs");
        assert_eq!(sentence("`sync` is off"), "`sync` is off");
    }
}
