//! Characters that steer a terminal, turn the direction of text or are not seen, and how they are shown.
//!
//! Names, labels, paths and records come from elsewhere. What they hold is shown, and does nothing. The spelling is
//! that of JSON (`\u202e`), so that JSON which is spelt is still JSON and means the same.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Beyond controls: formatting characters and blanks without width, from Unicode's `Default_Ignorable_Code_Point`
/// and `Bidi_Control` (16.0), with the separators of lines and paragraphs and the marks of annotations.
const UNSEEN: [(char, char); 19] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
    ('\u{fdd0}', '\u{fdef}'),
];

/// Does a character steer a terminal, turn text, or show nothing? Line ends and tabs are among them.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control() || (c > '\u{9f}' && UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&c)))
}

/// The text with what is not seen spelt out; line ends (LF, CR LF) and tabs stay.
#[must_use]
pub fn spell(text: &str) -> Cow<'_, str> {
    with(text, |c, next| matches!(c, '\n' | '\t') || (c == '\r' && next == Some('\n')))
}

/// The same without line ends and tabs: for what stands inside a line of ours, such as a name in a message.
#[must_use]
pub fn spell_inline(text: &str) -> Cow<'_, str> {
    with(text, |_, _| false)
}

/// A path as messages show it.
#[must_use]
pub fn spell_path(path: &Path) -> String {
    spell_inline(&path.to_string_lossy()).into_owned()
}

fn with(text: &str, stays: fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_unseen(c) && !stays(c, chars.peek().copied()) { put(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn put(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        _ => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
            // Writing into a text cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_hides_is_shown() {
        let table = [
            ("x\u{1b}]0;PWN\u{7}", "x\\u001b]0;PWN\\u0007"),
            ("a\u{9b}2J\u{7f}", "a\\u009b2J\\u007f"),
            ("exe\u{202e}gpj\u{2066}\u{200f}\u{61c}", "exe\\u202egpj\\u2066\\u200f\\u061c"),
            ("a\u{200b}b\u{ad}c\u{feff}\u{2028}", "a\\u200bb\\u00adc\\ufeff\\u2028"),
            ("tag \u{e0041}", "tag \\udb40\\udc41"),
            ("over\rwritten\u{8}", "over\\rwritten\\u0008"),
        ];
        for (text, spelt) in table {
            assert_eq!((spell(text), spell_inline(text)), (spelt.into(), spelt.into()), "{text:?}");
        }
    }

    #[test]
    fn what_is_seen_stays() {
        for text in ["", "plain", "镜像加密 é ± µ → ½", "x\u{a0}y", "e\u{301}", "😀"] {
            assert!(matches!(spell(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn line_ends_stay_in_texts_and_not_inside_lines() {
        assert_eq!(spell("a\tb\r\nc\nd\r"), "a\tb\r\nc\nd\\r");
        assert_eq!(spell_inline("a\tb\r\nc"), "a\\tb\\r\\nc");
        assert_eq!(spell_path(Path::new("/a\nerror: b")), "/a\\nerror: b");
    }

    #[test]
    fn spelt_json_is_json_and_means_the_same() {
        let text: String = ('\0'..='\u{10ffff}').filter(|c| is_unseen(*c)).collect();
        let json = serde_json::to_string(&text).unwrap();
        let spelt = spell(&json);
        assert!(!spelt.chars().any(is_unseen));
        assert_eq!(serde_json::from_str::<String>(&spelt).unwrap(), text);
    }
}
