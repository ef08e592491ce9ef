//! Writes the text of a capture.

use std::fmt::Write as _;

use super::parse::TITLE;
use super::{Capture, Entry, Ran};

/// Bytes of content on a line of hexadecimal digits.
const BYTES_A_LINE: usize = 16;

/// The whole text: files first, then commands.
pub(super) fn print(capture: &Capture) -> String {
    let mut out = format!("{TITLE}\n\n");
    if let Some(clock) = capture.clock {
        let _ = writeln!(out, "clock {}\n", clock.0);
    }
    for path in &capture.whole {
        let _ = writeln!(out, "whole {}", shown(path));
    }
    for (path, entry) in &capture.entries {
        put(&mut out, path, entry);
    }
    out.push('\n');
    for program in &capture.missing {
        let _ = writeln!(out, "missing {}", shown(program));
    }
    for (command, ran) in &capture.runs {
        run(&mut out, command, ran);
    }
    out
}

fn put(out: &mut String, path: &str, entry: &Entry) {
    let path = shown(path);
    // Writing into a text cannot fail.
    let _ = match entry {
        Entry::Link(target) => writeln!(out, "link {path} -> {}", shown(target)),
        Entry::Absent => writeln!(out, "absent {path}"),
        Entry::There => writeln!(out, "there {path}"),
        Entry::Refused(why) => writeln!(out, "refused {path} : {}", why.replace(char::is_control, " ")),
        Entry::Directory(names) => {
            let _ = writeln!(out, "directory {path}");
            // A name with a control character cannot be written on a line; nothing of ours has one.
            for name in names.iter().filter(|name| !name.chars().any(char::is_control)) {
                let _ = writeln!(out, "|{name}");
            }
            Ok(())
        }
        Entry::File(content) => match plain(content) {
            Some(text) if is_value(text) => writeln!(out, "file {path} = {}", text.trim_end_matches('\n')),
            Some(text) => {
                let _ = writeln!(out, "file {path}");
                lines(out, text);
                Ok(())
            }
            None => {
                let _ = writeln!(out, "hex {path}");
                for (number, bytes) in content.chunks(BYTES_A_LINE).enumerate() {
                    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    let _ = writeln!(out, "|{:04x}: {}", number * BYTES_A_LINE, digits.join(" "));
                }
                Ok(())
            }
        },
    };
}

fn run(out: &mut String, command: &str, ran: &Ran) {
    let _ = writeln!(
        out,
        "run {}",
        if command.contains(char::is_control) || command.starts_with('"') { json(command) } else { command.to_owned() }
    );
    if ran.status != 0 {
        let _ = writeln!(out, "status {}", ran.status);
    }
    if ran.timed_out {
        out.push_str("status timeout\n");
    }
    // What programs say is for people: what is not text in it is replaced.
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect::<String>()
    };
    lines(out, &text(&ran.stdout));
    for line in text(&ran.stderr).lines() {
        let _ = writeln!(out, "!{line}");
    }
}

/// `|` before every line, `:` before a last one that does not end.
fn lines(out: &mut String, text: &str) {
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => _ = writeln!(out, "|{line}"),
            None => _ = writeln!(out, ":{line}"),
        }
    }
}

/// The content as text, if a text file can hold it.
fn plain(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content).ok()?;
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    (!text.contains(odd)).then_some(text)
}

/// Does it fit behind `=`: one line that ends and does not begin with a blank?
fn is_value(text: &str) -> bool {
    text.strip_suffix('\n').is_some_and(|line| !line.contains('\n') && !line.starts_with(' '))
}

/// A path as it is, or in quotation marks where it would be misunderstood.
fn shown(path: &str) -> String {
    let odd = path.starts_with('"')
        || path.contains(char::is_control)
        || [" = ", " -> ", " : "].iter().any(|sign| path.contains(sign) || path.ends_with(sign.trim_end()))
        || path.trim() != path;
    if odd { json(path) } else { path.to_owned() }
}

fn json(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
