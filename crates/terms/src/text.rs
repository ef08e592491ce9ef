//! Which characters a free text may hold: what people write travels into tables, pages, scripts and terminals.

/// What a free text is for, which decides what it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// A sentence on one line.
    Sentence,
    /// A name for people, in tables, files and pages: a sentence that no spreadsheet takes for a formula.
    Title,
    /// A cipher in the kernel's notation.
    Cipher,
    /// A number with its unit, or the numbers of a version.
    Figure,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// There is nothing but blanks.
    #[error("is empty")]
    Empty,
    /// It has more characters than this.
    #[error("is longer than {0} characters")]
    Long(usize),
    /// It begins with a character that makes a formula of it.
    #[error("begins with `{0}`, which makes it a formula in a spreadsheet")]
    Formula(char),
    /// It holds a character that nobody sees, which is not what the text seems to say.
    #[error("holds U+{code:04X}, {what}", code = u32::from(*.0), what = hidden(*.0))]
    Hidden(char),
    /// It holds a character that does not belong to its alphabet.
    #[error("cannot hold `{0}`")]
    Foreign(char),
}

fn hidden(c: char) -> &'static str {
    if c.is_control() { "a line end or another control character" } else { "which is not seen and changes what is" }
}

impl Alphabet {
    /// Most characters.
    #[must_use]
    pub const fn longest(self) -> usize {
        match self {
            Self::Sentence => 4000,
            Self::Title => 200,
            Self::Cipher | Self::Figure => 64,
        }
    }

    /// Characters that it is restricted to, as a regular expression has them; without, any that can be seen.
    #[must_use]
    pub const fn only(self) -> Option<&'static str> {
        match self {
            Self::Sentence | Self::Title => None,
            Self::Cipher => Some("[A-Za-z0-9:,()_-]"),
            Self::Figure => Some("[A-Za-z0-9./ +~_-]"),
        }
    }

    /// Does the text fit, blanks around it left out?
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn check(self, text: &str) -> Result<(), BadText> {
        if let Some(hidden) = text.chars().find(|c| is_hidden(*c)) {
            return Err(BadText::Hidden(hidden));
        }
        let text = text.trim();
        let first = text.chars().next().ok_or(BadText::Empty)?;
        if self == Self::Title && "=+-@".contains(first) {
            return Err(BadText::Formula(first));
        }
        let fits = |c: char| match self {
            Self::Sentence | Self::Title => true,
            Self::Cipher => c.is_ascii_alphanumeric() || ":,()_-".contains(c),
            Self::Figure => c.is_ascii_alphanumeric() || "./ +~_-".contains(c),
        };
        if let Some(foreign) = text.chars().find(|c| !fits(*c)) {
            return Err(BadText::Foreign(foreign));
        }
        // A sentence is short, whatever the file: it stands in tables.
        if text.chars().nth(self.longest()).is_some() {
            return Err(BadText::Long(self.longest()));
        }
        Ok(())
    }
}

/// Is it a character that is not seen and changes what is: a control character, one that turns the direction of text,
/// breaks lines, or has no width? Joiners of letters (U+200C, U+200D), which some scripts need, are not.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_found() {
        for c in "\u{1b}\t\n\u{7f}\u{9b}\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}\u{feff}".chars() {
            assert_eq!(Alphabet::Sentence.check(&format!("a{c}b")), Err(BadText::Hidden(c)), "{c:?}");
        }
        for text in ["Größe", "עברית", "日本語", "می\u{200c}خواهم", "#1: RAID-1 + LUKS (ext4)", "100 % = all"]
        {
            assert_eq!(Alphabet::Title.check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn names_are_no_formulas() {
        for (text, first) in [("=1+1", '='), (" +1", '+'), ("-1", '-'), ("@sum", '@')] {
            assert_eq!(Alphabet::Title.check(text), Err(BadText::Formula(first)), "{text}");
            assert_eq!(Alphabet::Sentence.check(text), Ok(()), "{text}");
        }
        assert_eq!(Alphabet::Title.check("\tx"), Err(BadText::Hidden('\t')));
    }

    #[test]
    fn each_has_its_letters_and_its_length() {
        for cipher in ["aes-xts-plain64", "aes-cbc-essiv:sha256", "capi:authenc(hmac(sha256),xts(aes))-random"] {
            assert_eq!(Alphabet::Cipher.check(cipher), Ok(()), "{cipher}");
        }
        for (cipher, foreign) in [("aes-$(x)-y", '$'), ("aes{drive:a}-x-y", '{'), ("a b-c-d", ' '), ("a`-b-c", '`')] {
            assert_eq!(Alphabet::Cipher.check(cipher), Err(BadText::Foreign(foreign)), "{cipher}");
        }
        for figure in ["6.1.0-9-amd64", "180 MB/s", "16 GT/s x4"] {
            assert_eq!(Alphabet::Figure.check(figure), Ok(()), "{figure}");
        }
        assert_eq!(Alphabet::Title.check(&"é".repeat(200)), Ok(()));
        assert_eq!(Alphabet::Title.check(&"é".repeat(201)), Err(BadText::Long(200)));
        assert_eq!(Alphabet::Title.check("  "), Err(BadText::Empty));
    }
}
