//! What may go to a terminal: text that is spelt, and colours.
//!
//! Text from outside is spelt where it is printed, whatever was done to it before. Only drawings of our own hand keep
//! their colours, and of escape sequences nothing but colours.

use std::borrow::Cow;
use std::io::Write as _;

use terms::spelling::spell;

/// Writes text that is spelt on standard error. If that fails there is nobody to tell.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A drawing of ours: all is spelt but colours.
pub(crate) fn keep_colours(drawing: &str) -> Cow<'_, str> {
    if !drawing.contains('\x1b') {
        return spell(drawing);
    }
    let mut out = String::with_capacity(drawing.len());
    let mut rest = drawing;
    while let Some(at) = rest.find('\x1b') {
        let colour = colour(&rest[at..]);
        let end = at + colour.map_or(1, str::len);
        out.push_str(&spell(&rest[..at]));
        out.push_str(&colour.map_or_else(|| spell(&rest[at..end]), Cow::Borrowed));
        rest = &rest[end..];
    }
    Cow::Owned(out + &spell(rest))
}

/// The colour that a text begins with (ECMA-48, select graphic rendition): weight, underline and foreground. Nothing that hides,
/// blinks or lies under letters.
fn colour(text: &str) -> Option<&str> {
    let codes = text.strip_prefix("\x1b[")?;
    let codes = &codes[..codes.find('m')?];
    let known = |code: &str| matches!(code, "" | "0" | "1" | "2" | "4" | "22" | "24" | "39") || is_foreground(code);
    codes.split(';').all(known).then(|| &text[..codes.len() + 3])
}

fn is_foreground(code: &str) -> bool {
    code.parse().is_ok_and(|number: u8| matches!(number, 30..=37 | 90..=97))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_and_nothing_else_does() {
        for kept in ["plain", "\x1b[1;32mgood\x1b[0m\n", "\x1b[1m\x1b[91merror\x1b[0m: a\tb", "\x1b[m"] {
            assert_eq!(keep_colours(kept), kept);
        }
        for (text, shown) in [
            ("a\x1b]0;PWN\x07b", "a\\u001b]0;PWN\\u0007b"),
            ("\x1b[2J\x1b[31mred\x1b[0m", "\\u001b[2J\x1b[31mred\x1b[0m"),
            ("\x1b[8mhidden\x1b[1;41m", "\\u001b[8mhidden\\u001b[1;41m"),
            ("\x1b[31", "\\u001b[31"),
            ("\x1b", "\\u001b"),
            ("\u{202e}\x1b[0m\u{9b}2J", "\\u202e\x1b[0m\\u009b2J"),
        ] {
            assert_eq!(keep_colours(text), shown, "{text:?}");
        }
    }
}
