//! What may be printed: text and colours.

use std::fmt::Write as _;

use crate::bounds::Ended;
use crate::world::World;

/// Markup that no page has.
const MARKUP: [&str; 3] = ["<script", "<img", "javascript:"];

/// What is wrong with what a verb printed, or wrote as a page.
pub(crate) fn judge(verb: &str, ended: &Ended, world: &World) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, bytes) in [("standard output", &ended.stdout), ("standard error", &ended.stderr)] {
        wrong.extend(not_text(bytes).map(|what| format!("PRINTS {what} on {name}")));
    }
    if verb == "csv" {
        let formulas = formulas(&String::from_utf8_lossy(&ended.stdout));
        wrong.extend(formulas.iter().map(|cell| format!("PRINTS the formula {cell:?}")));
    }
    if let Ok(page) = std::fs::read_to_string(world.at("out/page.html")) {
        wrong.extend(not_text(page.as_bytes()).map(|what| format!("WRITES {what} into the page")));
        let page = page.to_lowercase();
        wrong.extend(
            MARKUP.iter().filter(|tag| page.contains(**tag)).map(|tag| format!("WRITES `{tag}` into the page")),
        );
    }
    wrong
}

/// The first thing that a terminal would take for more than a letter or a colour.
pub(crate) fn not_text(bytes: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Some("bytes that are no text".to_owned()) };
    // Tables have the line ends of their standard (RFC 4180).
    let text = without_colours(text).replace("\r\n", "\n");
    let (at, letter) = text.char_indices().find(|(_, letter)| is_dangerous(*letter))?;
    let near: String = text[at..].chars().take(12).collect();
    Some(format!("{letter:?} of \"{}\"", near.escape_debug()))
}

/// C0 but for line ends and tabs, DEL, C1, and what turns the direction of writing.
fn is_dangerous(letter: char) -> bool {
    (letter.is_control() && letter != '\n' && letter != '\t')
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same text without colours: `ESC [`, digits and `;`, `m`.
pub(crate) fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        match rest.strip_prefix('m') {
            Some(rest) => plain.push_str(rest),
            None => write!(plain, "\x1b[{piece}").unwrap(),
        }
    }
    plain
}

/// Cells of a table that a spreadsheet would take for formulas. A number may have its sign.
pub(crate) fn formulas(csv: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut cell, mut quoted) = (String::new(), false);
    for letter in csv.chars() {
        match letter {
            '"' => quoted = !quoted,
            '\r' if !quoted && cell.is_empty() => {}
            ',' | '\n' if !quoted => {
                found.extend(is_formula(&cell).then(|| cell.clone()));
                cell.clear();
            }
            letter => cell.push(letter),
        }
    }
    found
}

fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err()
}
