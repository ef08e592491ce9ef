//! CSV: one row for every stack and workload, units in the heading, empty where there is nothing.

use terms::finding::Findings;

use crate::columns::{cell_rows, cells, comparison_rows, comparisons};
use crate::table::Column;

/// The findings as CSV (RFC 4180, lines end in CR LF): one row for every stack and workload of the study. Numbers are
/// unscaled, their unit stands in the heading; `reason` tells why a row has no figures and `emulated_by` labels rates
/// that say nothing of real drives.
#[must_use]
pub fn csv(findings: &Findings) -> String {
    rows(&cells(), &cell_rows(findings))
}

/// All comparisons as CSV: one row for every workload and pair of stacks.
#[must_use]
pub fn comparisons_csv(findings: &Findings) -> String {
    rows(&comparisons(), &comparison_rows(findings))
}

/// Heading and rows.
fn rows<R>(columns: &[Column<R>], rows: &[R]) -> String {
    let heading = columns.iter().map(|column| column.key.to_owned()).collect();
    let values = rows.iter().map(|row| columns.iter().map(|c| (c.value)(row).raw()).collect());
    let lines: Vec<Vec<String>> = std::iter::once(heading).chain(values).collect();
    lines.iter().map(|line| line.iter().map(|text| field(text)).collect::<Vec<_>>().join(",") + "\r\n").collect()
}

/// A field, quoted where RFC 4180 asks for it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_quoted_where_needed() {
        for (text, quoted) in [("a", "a"), ("a,b", "\"a,b\""), ("say \"a\"", "\"say \"\"a\"\"\""), ("", "")] {
            assert_eq!(field(text), quoted);
        }
    }
}
