//! What findings say besides their figures: ranks and comparisons, whether they can be believed, what limits and costs,
//! where a cache ends, what other tools would show, and how latency rises with load.
//!
//! Each part is words in a [`crate::listing::Listing`] or a list of facts. Findings of old have none of them.

pub(crate) mod believe;
pub(crate) mod burst;
pub(crate) mod chart;
pub(crate) mod compat;
pub(crate) mod curves;
pub(crate) mod drives;
pub(crate) mod feature_checks;
pub(crate) mod flush;
pub(crate) mod hosts;
pub(crate) mod layers;
pub(crate) mod parts;
pub(crate) mod path_lost;
pub(crate) mod places;
pub(crate) mod predicted;
pub(crate) mod preflight;
pub(crate) mod ranking;

use terms::finding::Findings;

/// The name of a stack, by its slug.
pub(crate) fn stack_name<'a>(findings: &'a Findings, slug: &'a str) -> &'a str {
    findings.provenance.stacks.iter().find(|entry| entry.slug == slug).map_or(slug, |entry| &entry.name)
}

/// The title of a workload, by its name.
fn workload_title(findings: &Findings, name: &str) -> String {
    let workload = findings.provenance.workloads.iter().find(|work| work.name.as_str() == name);
    workload.map_or_else(|| name.to_owned(), terms::Workload::title)
}

/// `1 round`, `3 rounds`.
pub(crate) fn count(number: impl Into<u64>, word: &str) -> String {
    let number = number.into();
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// The same of what a collection holds.
pub(crate) fn count_of(number: usize, word: &str) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX), word)
}

/// A change in per cent with its sign: `+1.2 %`, `−0.4 %`, `0 %`.
fn signed_percent(share: f64) -> String {
    let text = format!("{:.1}", share.abs() * 100.0);
    match text.as_str() {
        "0.0" => "0 %".to_owned(),
        text if share < 0.0 => format!("−{text} %"),
        text => format!("+{text} %"),
    }
}

/// `2`, or `2–5`; `None` for nothing.
fn span(numbers: impl Iterator<Item = u32>) -> Option<String> {
    let (low, high) = numbers.fold((u32::MAX, 0), |(low, high), n| (low.min(n), high.max(n)));
    match low.cmp(&high) {
        std::cmp::Ordering::Greater => None,
        std::cmp::Ordering::Equal => Some(low.to_string()),
        std::cmp::Ordering::Less => Some(format!("{low}–{high}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_signs() {
        assert_eq!([0.0123, -0.004, 0.0001].map(signed_percent), ["+1.2 %", "−0.4 %", "0 %"]);
    }

    #[test]
    fn spans_are_short() {
        assert_eq!(span([5, 8, 6].into_iter()).as_deref(), Some("5–8"));
        assert_eq!(span([5, 5].into_iter()).as_deref(), Some("5"));
        assert_eq!(span(std::iter::empty()), None);
    }
}
