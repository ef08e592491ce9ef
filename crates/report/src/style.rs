//! How text is to look: colour, width, glyphs and units.

use terms::spelling::spell;
use terms::units::{Bytes, BytesPerSecond, significant};

/// How text is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Use ANSI colours. Nothing is told by colour alone.
    pub colour: bool,
    /// Columns of the terminal. Fewer than 40 are taken as 40.
    pub width: usize,
    /// Draw with ASCII characters only. Names that people gave stay as they are.
    pub ascii: bool,
    /// Print MB/s and GB rather than MiB/s and GiB.
    pub si: bool,
}

impl Default for Style {
    /// No colour, 80 columns, Unicode, binary units.
    fn default() -> Self {
        Self { colour: false, width: 80, ascii: false, si: false }
    }
}

/// What a piece of text is, for those who see colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// A heading.
    Strong,
    /// Small print.
    Dim,
    /// Ahead of all others.
    Good,
    /// Failed.
    Bad,
    /// To be read with care.
    Warn,
}

/// Glyphs of ours and how they are spelt in ASCII.
const SPELLING: [(char, &str); 16] = [
    ('±', "+-"),
    ('×', "x"),
    ('÷', "/"),
    ('µ', "u"),
    ('–', "-"),
    ('·', ","),
    ('…', "..."),
    ('→', "->"),
    ('’', "'"),
    ('−', "-"),
    ('≈', "~"),
    ('✓', "+"),
    ('✗', "x"),
    ('“', "\""),
    ('”', "\""),
    ('†', "!"),
];

impl Style {
    /// The width to lay out for: at least 40 columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.max(40)
    }

    /// The text with our glyphs spelt in ASCII if that is asked for, and with what is not seen spelt out, before it is
    /// measured and laid out: serial numbers and names come from elsewhere and must not steer a terminal.
    pub(crate) fn spell(&self, text: &str) -> String {
        let spelt = spell(text);
        if !self.ascii {
            return spelt.into_owned();
        }
        let glyph = |c: char| SPELLING.iter().find(|(glyph, _)| *glyph == c).map(|(_, ascii)| *ascii);
        spelt.chars().fold(String::with_capacity(spelt.len()), |mut out, c| {
            match glyph(c) {
                Some(ascii) => out.push_str(ascii),
                None => out.push(c),
            }
            out
        })
    }

    /// The text in its tone's colour (ECMA-48 select graphic rendition), if colours are asked for.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Dim => "2",
            Tone::Good => "1;32",
            Tone::Bad => "31",
            Tone::Warn => "33",
        };
        if self.colour && !text.trim().is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The unit of throughput.
    pub(crate) const fn rate_unit(&self) -> &'static str {
        if self.si { "MB/s" } else { "MiB/s" }
    }

    /// A throughput in [`Self::rate_unit`].
    pub(crate) fn rate(&self, rate: BytesPerSecond) -> f64 {
        rate.0 / if self.si { 1e6 } else { Bytes::mib(1).as_f64() }
    }

    /// A size with its unit.
    pub(crate) fn size(&self, size: Bytes) -> String {
        if !self.si {
            return size.to_string();
        }
        match [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")].into_iter().find(|(unit, _)| size.as_f64() >= *unit)
        {
            None => format!("{} B", size.0),
            Some((unit, name)) => format!("{} {name}", significant(size.as_f64() / unit)),
        }
    }
}
