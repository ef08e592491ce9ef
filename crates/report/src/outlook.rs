//! What is to be expected of a stack over the years, as a table of text.

use terms::durability::{Cause, CommonCause, Healing, Outlook, Spread};
use terms::units::{Bytes, Nanos, significant};

use crate::sheet::{self, Cell, Strip};
use crate::style::Style;
use crate::width::{Align, paragraph};

/// A cause, its probability, the bytes that it takes.
type Row<'a> = (&'a str, Spread<f64>, Spread<f64>);

/// Columns of the longest word of a cause and more, below which nothing is broken.
const NARROWEST: usize = 17;

/// Losses in a year by cause, at best, estimated and at worst, then times, life and writes.
#[must_use]
pub fn outlook_table(outlook: &Outlook, style: &Style) -> String {
    let loss = &outlook.loss;
    let mut rows: Vec<Row<'_>> =
        loss.causes.iter().map(|loss| (words(loss.cause, &outlook.common), loss.probability, loss.bytes)).collect();
    rows.push(("any loss", loss.any, loss.bytes));
    rows.push((otherwise(outlook.healing), outlook.otherwise.any, outlook.otherwise.bytes));
    let strip = |heading: &[&str], align, text: &dyn Fn(&Row<'_>) -> String| Strip {
        heading: heading.iter().map(|line| (*line).to_owned()).collect(),
        align,
        cells: rows.iter().map(|row| Cell::plain(style.spell(&text(row)))).collect(),
    };
    let figures = [
        strip(&["AT BEST"], Align::Right, &|row| probability(row.1.low)),
        strip(&["ESTIMATE"], Align::Right, &|row| probability(row.1.middle)),
        strip(&["AT WORST"], Align::Right, &|row| probability(row.1.high)),
        strip(&["EXPECTED", "LOSS"], Align::Right, &|row| bytes(row.2.middle, style)),
    ];
    // Figures are never broken: causes have what is left beside them.
    let beside: usize = figures.iter().map(|strip| strip.width() + sheet::GAP).sum();
    let left = style.columns().saturating_sub(beside).max(NARROWEST);
    let causes = strip(&["LOSS IN A YEAR BY"], Align::Left, &|row| paragraph("", row.0, left).trim_end().to_owned());
    let table = sheet::render(&std::iter::once(&causes).chain(&figures).collect::<Vec<_>>(), style);
    let remarks: String =
        remarks(outlook).iter().map(|remark| paragraph("", &style.spell(remark), style.columns())).collect();
    format!("{table}\n{remarks}")
}

/// A cause, and whether its figure is a guess.
const fn words(cause: Cause, common: &CommonCause) -> &'static str {
    match cause {
        Cause::CommonCause if common.is_assumed => "common cause, assumed",
        Cause::CommonCause => "common cause, as given",
        _ => cause.words(),
    }
}

/// What a common cause is, and who says how often it comes.
pub(crate) fn common_words(common: &CommonCause) -> String {
    let once = probability(-(-common.rate.middle).exp_m1());
    if common.is_assumed {
        format!("{once} a year is assumed for what takes all drives at once: `--common-cause YEARS`")
    } else {
        format!("{once} a year is given for what takes all drives at once (`--common-cause`)")
    }
}

fn otherwise(healing: Healing) -> &'static str {
    match healing {
        Healing::Repaired => "any, if corruption were not repaired",
        Healing::Noticed | Healing::Unnoticed => "any, if corruption were repaired",
    }
}

/// `1 in 4,800` is read more easily than `2.1e-4`.
fn probability(probability: f64) -> String {
    if probability <= 0.0 {
        return "never".to_owned();
    }
    // From one in two on a share is read more easily.
    if probability >= 0.5 {
        return format!("{} %", significant(probability * 100.0));
    }
    format!("1 in {}", rounded(1.0 / probability))
}

/// Two digits, in thousands, millions and so on where it is large.
fn rounded(number: f64) -> String {
    const SCALES: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")];
    let step = 10_f64.powf((number.log10().floor() - 1.0).max(-1.0));
    let number = (number / step).round() * step;
    match SCALES.into_iter().find(|(scale, _)| number >= *scale) {
        Some((scale, unit)) => format!("{}{unit}", significant(number / if unit == " k" { 1e3 } else { scale })),
        None => significant(number),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, above 0 and far below 2^64")]
fn bytes(bytes: f64, style: &Style) -> String {
    match bytes {
        0.0 => "0 B".to_owned(),
        // A part of a byte is a probability, and stands beside it.
        _ if bytes < 1.0 => "< 1 B".to_owned(),
        _ => style.size(Bytes(bytes as u64)),
    }
}

/// A time, and the range where there is one.
fn times(of: Spread<Nanos>) -> String {
    let (low, middle, high) = (of.low.to_string(), of.middle.to_string(), of.high.to_string());
    if low == high { middle } else { format!("{middle}, from {low} to {high}") }
}

fn remarks(outlook: &Outlook) -> Vec<String> {
    let mut remarks = Vec::new();
    if outlook.degraded {
        remarks.push("Degraded: the last member of each array is taken to be missing all year.".to_owned());
    }
    remarks.push(format!("Of any loss, {}.", common_words(&outlook.common)));
    if let Some(rebuild) = outlook.rebuild {
        remarks.push(format!("A rebuild takes {}.", times(rebuild)));
    } else {
        remarks.push("Nothing is redundant: the first drive that fails loses everything.".to_owned());
    }
    if let Some(scrub) = outlook.scrub {
        remarks.push(format!("A scrub takes {}.", times(scrub)));
    }
    for writes in &outlook.amplification {
        let (kind, total) = (if writes.random { "random" } else { "sequential" }, writes.total);
        let of = |factor: f64| significant(factor);
        remarks.push(format!(
            "Drives write {}× the bytes of {kind} writes of {}, from {}× to {}×.",
            of(total.middle),
            writes.block,
            of(total.low),
            of(total.high)
        ));
    }
    if let Some(life) = outlook.life_years {
        let of = |years: f64| significant(years);
        remarks.push(format!(
            "The first drive is worn after {} years, from {} to {}.",
            of(life.middle),
            of(life.low),
            of(life.high)
        ));
    }
    if !outlook.unknown_life.is_empty() {
        let names: Vec<String> = outlook.unknown_life.iter().map(|name| format!("`{name}`")).collect();
        remarks.push(format!(
            "The life of {} is not predicted: nothing tells how many metadata and small blocks a special vdev takes.",
            names.join(", ")
        ));
    }
    remarks
}
