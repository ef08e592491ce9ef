//! Filters that templates use by name.

#![expect(unreachable_pub, reason = "the attribute makes an item of its own, and forgets who may see it")]

use std::fmt::Display;

use askama::filters::Safe;

/// Text as HTML, with what stands in `backticks` as code.
#[askama::filter_fn]
pub(crate) fn ticks(text: impl Display, _: &dyn askama::Values) -> askama::Result<Safe<String>> {
    Ok(Safe(in_code(&text.to_string())))
}

fn in_code(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some((before, code, after)) = first_pair(rest) {
        html.push_str(&escaped(before));
        html.push_str("<code>");
        html.push_str(&escaped(code));
        html.push_str("</code>");
        rest = after;
    }
    html.push_str(&escaped(rest));
    html
}

/// Text before the first pair of backticks, inside, and after it; `None` where a pair is not whole.
fn first_pair(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;").replace('"', "&#34;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_backticks_become_code_and_nothing_else_does() {
        for (text, expect) in [
            ("`vda` was busy", "<code>vda</code> was busy"),
            ("a `b` c `d<e`", "a <code>b</code> c <code>d&#60;e</code>"),
            ("one ` alone & <b>", "one ` alone &#38; &#60;b&#62;"),
            ("", ""),
        ] {
            assert_eq!(in_code(text), expect);
        }
    }
}
