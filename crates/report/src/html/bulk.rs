//! What a page leaves out where it would be too large to send or to open on a phone.

use terms::command::quote;
use terms::finding::Findings;

/// So large a page is sent by mail and opened on a phone without a thought.
const MOST: usize = 500_000;

/// What answers rest on least and takes most room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bulk {
    /// The table of every drive under every cell.
    Drives,
    /// Throughput and latency over time of every cell.
    Time,
    /// Commands of feature checks that came out as expected.
    Steps,
    /// What each place of a drive gave.
    Places,
    /// Drawings of predictions and their limits; the table stays.
    Limits,
    /// Ranks, comparisons, windows and limits of each workload.
    Details,
    /// Drawings of throughput and latency of each workload: ratios, and the table of all figures, stay.
    Workloads,
}

/// In the order in which they go.
const ORDER: [Bulk; 7] =
    [Bulk::Drives, Bulk::Time, Bulk::Steps, Bulk::Places, Bulk::Limits, Bulk::Details, Bulk::Workloads];

impl Bulk {
    fn name(self) -> &'static str {
        match self {
            Self::Drives => "drives at work",
            Self::Time => "throughput over time",
            Self::Steps => "commands of feature checks that came out as expected",
            Self::Places => "drawings over places",
            Self::Limits => "drawings of limits",
            Self::Details => "ranks, comparisons and windows of each workload",
            Self::Workloads => "drawings of each workload",
        }
    }
}

/// The page that `made` makes without as much as has to go. What makes it no smaller stays.
pub(super) fn fitting(made: impl Fn(&[Bulk]) -> String) -> String {
    let mut left_out = Vec::new();
    let mut page = made(&left_out);
    for bulk in ORDER {
        if page.len() <= MOST {
            break;
        }
        left_out.push(bulk);
        let without = made(&left_out);
        // What is told of the omission is a sentence.
        if without.len() + SENTENCE < page.len() {
            page = without;
        } else {
            left_out.pop();
        }
    }
    page
}

/// More than what a page says of something that it leaves out.
const SENTENCE: usize = 400;

/// What is left out, and how to have it.
pub(super) fn words(left_out: &[Bulk], findings: &Findings) -> Option<String> {
    let names: Vec<&str> = left_out.iter().map(|bulk| bulk.name()).collect();
    let run = quote(&findings.provenance.run);
    (!names.is_empty()).then(|| {
        format!(
            "Left out to keep this page small: {}. `bedplate report {run} --details --html page.html` makes it whole.",
            names.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{Bulk, MOST, fitting};

    #[test]
    fn as_little_goes_as_has_to() {
        let parts = [(Bulk::Drives, 100_000), (Bulk::Time, 0), (Bulk::Steps, 150_000), (Bulk::Places, 90_000)];
        let made = |rest: usize| {
            move |left_out: &[Bulk]| {
                let kept =
                    parts.iter().filter(|(bulk, _)| !left_out.contains(bulk)).map(|(_, size)| size).sum::<usize>();
                format!("{left_out:?}{}", "x".repeat(kept + rest))
            }
        };
        for (rest, left_out) in [(100_000, "[]"), (200_000, "[Drives]"), (300_000, "[Drives, Steps]")] {
            let page = fitting(made(rest));
            assert!(page.len() <= MOST && page.starts_with(&format!("{left_out}x")), "{rest}: {}", &page[..40]);
        }
    }
}
