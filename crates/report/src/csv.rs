//! CSV: one row for every stack and workload, units in the heading, empty where there is nothing.

use terms::finding::Findings;
use terms::spelling::spell;

use crate::columns::{cell_rows, cells, comparison_rows, comparisons};
use crate::table::{Column, select};

/// The findings as CSV (RFC 4180, lines end in CR LF): one row for every stack and workload of the study. Numbers are
/// unscaled, their unit stands in the heading; `reason` tells why a row has no figures and `emulated_by` labels rates
/// that say nothing of real drives. Text that a spreadsheet would take for a formula begins with `'`.
#[must_use]
pub fn csv(findings: &Findings) -> String {
    rows(&cells(), &cell_rows(findings))
}

/// What most spreadsheets are made of, by column.
const SHORT: &str = "STACK,WORKLOAD,VERDICT,THROUGHPUT,LOW,HIGH,IOPS,RATIO,RATIO-LOW,RATIO-HIGH,P50,P99,LAT-MAX,GUARDS";

/// The columns that are asked for most, of every stack and workload, to six digits.
pub(crate) fn short(findings: &Findings) -> String {
    let columns = select(&cells(), SHORT).expect("a test reads every name");
    table(&columns, &cell_rows(findings), |text| rounded(&text))
}

/// A broken number to six significant digits: no measurement has more, and a page holds hundreds of them.
fn rounded(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if text.contains('.') => {
            let before = text.trim_start_matches('-').find('.').unwrap_or(0);
            format!("{number:.*}", 6usize.saturating_sub(before))
        }
        _ => text.to_owned(),
    }
}

/// All comparisons as CSV: one row for every workload and pair of stacks.
#[must_use]
pub fn comparisons_csv(findings: &Findings) -> String {
    rows(&comparisons(), &comparison_rows(findings))
}

/// Heading and rows.
fn rows<R>(columns: &[Column<R>], rows: &[R]) -> String {
    table(columns, rows, |text| text)
}

/// The same with each value made of what it is.
fn table<R>(columns: &[Column<R>], rows: &[R], made: impl Fn(String) -> String) -> String {
    let heading = columns.iter().map(|column| column.key.to_owned()).collect();
    let values = rows.iter().map(|row| columns.iter().map(|c| inert(made((c.value)(row).raw()))).collect());
    let lines: Vec<Vec<String>> = std::iter::once(heading).chain(values).collect();
    let line = |line: &Vec<String>| line.iter().map(|text| field(text)).collect::<Vec<_>>().join(",") + "\r\n";
    spell(&lines.iter().map(line).collect::<String>()).into_owned()
}

/// What spreadsheets take for the beginning of a formula; the wide forms where their language has them.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// A value that is text to every spreadsheet, unless it is a number: one that would be a formula gets a `'` in front.
fn inert(text: String) -> String {
    if text.starts_with(FORMULA) && text.parse::<f64>().is_err() { format!("'{text}") } else { text }
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
    use super::{SHORT, field, inert, rounded};
    use crate::columns::cells;
    use crate::table::select;

    #[test]
    fn short_tables_have_columns_that_there_are() {
        assert_eq!(select(&cells(), SHORT).unwrap().len(), SHORT.split(',').count());
    }

    #[test]
    fn broken_numbers_have_six_digits() {
        for (text, told) in [
            ("360082237.0000002", "360082237"),
            ("338.80499000000003", "338.805"),
            ("-0.123456789", "-0.12346"),
            ("22937600", "22937600"),
            ("kdm.seq", "kdm.seq"),
        ] {
            assert_eq!(rounded(text), told);
        }
    }

    #[test]
    fn fields_are_quoted_where_needed() {
        for (text, quoted) in [("a", "a"), ("a,b", "\"a,b\""), ("say \"a\"", "\"say \"\"a\"\"\""), ("", "")] {
            assert_eq!(field(text), quoted);
        }
    }

    #[test]
    fn formulas_are_text_and_numbers_are_numbers() {
        for text in ["=HYPERLINK(\"http://evil\",\"open\")", "+1+cmd", "-2+3", "@SUM(A1)", "\tx", "\r=1", "＝1", "-"] {
            assert_eq!(inert(text.to_owned()), format!("'{text}"));
        }
        for text in ["-1.5", "+3", "1e-9", "raid=1", "", "a-b"] {
            assert_eq!(inert(text.to_owned()), text);
        }
    }
}
