//! A table for forums, issues and chats.

use std::fmt::Write as _;

use terms::finding::Findings;
use terms::spelling::spell;

use super::Shared;

/// The findings as Markdown: question, label, a table with the first stack's rates and the others in per cent of it, the
/// answer, and what it was had with.
#[must_use]
pub fn markdown(findings: &Findings) -> String {
    let of = Shared::of(findings);
    let mut out = format!("**{}**\n\n", plain(&of.question));
    if let Some(label) = &of.label {
        let _ = writeln!(out, "> {}\n", plain(label));
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = of.workloads.iter().map(|name| plain(name));
    out.push_str(&line(std::iter::once("stack".to_owned()).chain(names).collect()));
    let rule = std::iter::once("---".to_owned()).chain(of.workloads.iter().map(|_| "---:".to_owned()));
    out.push_str(&line(rule.collect()));
    for row in &of.rows {
        let cells = row.cells.iter().map(|cell| plain(&cell.text));
        out.push_str(&line(std::iter::once(plain(&row.name)).chain(cells).collect()));
    }
    if let [first, _, ..] = of.rows.as_slice() {
        let _ = writeln!(out, "\nPer cent of {}; `=` equal, `?` undecided.", plain(&first.name));
    }
    if let Some(flags) = of.flags() {
        let _ = writeln!(out, "\n{flags}");
    }
    let _ = writeln!(out, "\n{}", sentence(&of.answer.join(" ")));
    if let Some(trust) = &of.trust {
        let _ = writeln!(out, "\n**Trust** {}", sentence(trust));
    }
    let _ = writeln!(out, "\n<sub>{} · {}</sub>", plain(&of.machine), plain(&of.run));
    spell(&out).into_owned()
}

/// A sentence of ours: what stands in backticks is code, all else is text.
fn sentence(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return plain(text);
    }
    let part = |(at, part): (usize, &&str)| if at % 2 == 0 { plain(part) } else { format!("`{part}`") };
    parts.iter().enumerate().map(part).collect()
}

/// A text of a study's as text: nothing in it is markup.
fn plain(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::{plain, sentence};

    #[test]
    fn a_command_in_a_sentence_is_code() {
        assert_eq!(sentence("with `--more 2`: #1"), "with `--more 2`: \\#1");
        assert_eq!(sentence("a ` alone"), "a \\` alone");
    }

    #[test]
    fn a_name_is_no_markup() {
        assert_eq!(plain("a|b <img src=x>\n# c"), "a\\|b &lt;img src=x&gt; \\# c");
    }
}
