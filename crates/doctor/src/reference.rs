//! The table of checks as a page.

use std::fmt::Write as _;

use crate::checks;

/// Every check with what it looks at and when it finds something, as the list in docs/doctor.md.
#[must_use]
pub fn reference() -> String {
    checks().fold(String::new(), |mut out, check| {
        let fixes = if check.fixes { " `--fix` fixes it." } else { "" };
        let _ = write!(
            out,
            "### `{}`\n\n*{}.* {}.{fixes}\n\nLooks at {}.\n\n",
            check.id,
            check.severity.word(),
            capital(check.rule),
            check.looks_at
        );
        out
    })
}

/// The sentence with a capital letter where it begins with a letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
