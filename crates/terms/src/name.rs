//! Names that people write in a study and that end up in device nodes and file names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A short name of a drive, layer or workload: letters, digits, `-`, `_` and `.`,
/// beginning with a letter or digit, at most 48 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// Why a text is not a [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name: use letters, digits, `-`, `_` and `.`, starting with a letter or digit, at most 48")]
pub struct BadName(pub String);

impl Name {
    /// Checks a text and makes it a name.
    ///
    /// # Errors
    /// [`BadName`] when a character or the length does not fit.
    pub fn new(text: impl Into<String>) -> Result<Self, BadName> {
        let text = text.into();
        let fits = !text.is_empty()
            && text.len() <= 48
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            && text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if fits { Ok(Self(text)) } else { Err(BadName(text)) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = BadName;
    fn try_from(text: String) -> Result<Self, BadName> {
        Self::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

/// A text made fit for file names and device names: lower-case letters and digits joined by
/// single dashes, at most 40 characters. `"RAID-1 + LUKS"` becomes `"raid-1-luks"`.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
        if out.len() == 40 {
            break;
        }
    }
    let trimmed = out.trim_end_matches('-');
    if trimmed.is_empty() { "x".to_owned() } else { trimmed.to_owned() }
}

/// Does a pattern mean something of that name: the name itself in whatever case, its [`slug`], or a text in which each
/// `*` stands for anything?
#[must_use]
pub fn is_called(name: &str, pattern: &str) -> bool {
    let pattern = pattern.trim();
    if pattern.contains('*') {
        return fits(&pattern.to_lowercase(), &name.to_lowercase());
    }
    pattern.eq_ignore_ascii_case(name) || pattern == slug(name)
}

/// `*` stands for anything. What a star took is only ever taken back for the last one: that finds whatever there is to
/// find, in a time that grows with the product of both lengths and no faster.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut here) = (0, 0);
    let mut star = None;
    while here < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(c) if *c == text[here] => (at, here) = (at + 1, here + 1),
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, here) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["a", "nvme0", "raid-1.x", "0"] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a b", "a/b", "..", "é", &"x".repeat(49)] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn slugs_are_file_names() {
        for (text, expect) in [
            ("RAID-1 + LUKS", "raid-1-luks"),
            ("#13: ext4 on LVM", "13-ext4-on-lvm"),
            ("++", "x"),
            ("ext4 (bitmap)", "ext4-bitmap"),
        ] {
            assert_eq!(slug(text), expect);
        }
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name, expect) in [
            ("a*c", "abc", true),
            ("A*c", "aBC", true),
            ("a*c", "abcd", false),
            ("*", "", true),
            ("*é*", "caféx", true),
            ("a", "b", false),
            ("#1 EXT4", "#1 ext4", true),
            ("1-ext4", "#1 ext4", true),
            ("#1 *", "#10 ext4", false),
            ("*ab*b", "xabab", true),
            ("*a*a*", "ba", false),
            ("***", "x", true),
        ] {
            assert_eq!(is_called(name, pattern), expect, "{pattern} {name}");
        }
    }

    /// Tried star by star, this would not end.
    #[test]
    fn many_stars_take_no_longer() {
        assert!(!is_called(&"a".repeat(200), &("*a".repeat(60) + "*b")));
    }
}
