//! What is expected of stacks before they are built: a table, the account of a figure, JSON.

use serde::Serialize;
use terms::account::Account;
use terms::durability::Outlook;
use terms::prediction::{Demand, Estimate, Input, Prediction, Range, Term};
use terms::units::significant;
use terms::{Iops, Nanos, Stack};

use crate::account::account_table;
use crate::fastest::fastest;
use crate::outlook::outlook_table;
use crate::sheet::{self, Cell, Strip};
use crate::style::{Style, Tone};
use crate::width::{Align, paragraph};

/// What the JSON document says it is.
pub const SCHEMA: &str = "bedplate.expectation";

/// Its version. Keys are never renamed or dropped within one.
pub const VERSION: u32 = 1;

/// Predictions of a study on a machine.
#[derive(Debug, Serialize)]
pub struct Expectation<'a> {
    /// The machine.
    pub machine: &'a str,
    /// What stands for each drive of the study, in words.
    pub drives: &'a [String],
    /// Stacks in the study's order, each under every workload.
    pub predictions: &'a [Prediction],
    /// The stacks, for what their layers say of an order.
    #[serde(skip)]
    pub stacks: &'a [Stack],
    /// Stacks of which nothing is predicted, and why.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub unpredicted: &'a [Unpredicted],
    /// Bytes of the stacks, layer by layer, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<&'a Account>,
    /// What is to be expected of the stacks over the years, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outlooks: Vec<&'a Outlook>,
    /// What the outlooks take for granted, in a sentence.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub assumptions: &'a str,
}

/// A stack of which nothing is predicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unpredicted {
    /// The stack.
    pub stack: String,
    /// Why.
    pub because: String,
}

/// Every prediction: figures with their 90 % interval, and what limits.
#[must_use]
pub fn text(expectation: &Expectation<'_>, style: &Style) -> String {
    let mut out = head(expectation, style);
    out.push_str(&fastest(expectation, style));
    let stacks = expectation.predictions.chunk_by(|a, b| a.stack == b.stack);
    for stack in stacks {
        let state = if stack[0].state.is_whole() { String::new() } else { format!(", {}", stack[0].state.word()) };
        out.push('\n');
        out.push_str(&style.paint(Tone::Strong, &style.spell(&format!("{}{state}", stack[0].stack))));
        out.push('\n');
        out.push_str(&table(stack, style));
        flags(&mut out, stack, style);
        if let Some(account) = expectation.accounts.iter().find(|account| account.stack == stack[0].stack) {
            out.push('\n');
            out.push_str(&account_table(account, style));
        }
        if let Some(outlook) = expectation.outlooks.iter().find(|outlook| outlook.stack == stack[0].stack) {
            out.push('\n');
            out.push_str(&outlook_table(outlook, style));
            out.push_str(&paragraph("", &style.spell(expectation.assumptions), style.columns()));
        }
    }
    unpredicted(&mut out, expectation, style);
    out
}

fn unpredicted(out: &mut String, expectation: &Expectation<'_>, style: &Style) {
    for of in expectation.unpredicted {
        out.push('\n');
        out.push_str(&style.paint(Tone::Strong, &style.spell(&of.stack)));
        out.push('\n');
        out.push_str(&paragraph("  ", &style.spell(&format!("no prediction: {}", of.because)), style.columns()));
    }
}

fn head(expectation: &Expectation<'_>, style: &Style) -> String {
    let mut out = paragraph("Predicted for ", &style.spell(expectation.machine), style.columns());
    for drive in expectation.drives {
        out.push_str(&paragraph("  ", &style.spell(drive), style.columns()));
    }
    out
}

fn table(stack: &[Prediction], style: &Style) -> String {
    let strip = |heading: &str, align, cells: Vec<String>| Strip {
        heading: vec![heading.to_owned()],
        align,
        cells: cells.into_iter().map(|text| Cell::plain(style.spell(&text))).collect(),
    };
    let each = |text: &dyn Fn(&Prediction) -> String| stack.iter().map(text).collect::<Vec<_>>();
    let strips = [
        strip("", Align::Left, each(&|p| format!("  {}", p.pattern))),
        strip("expected", Align::Right, each(&|p| figure(p, p.throughput.value, style))),
        strip("90 %", Align::Right, each(&|p| range(p, p.throughput.ninety, style))),
        strip("mean", Align::Right, each(&|p| time(p.latency.value))),
        strip("p99", Align::Right, each(&|p| time(p.p99.value))),
    ];
    let drawn = sheet::render(&strips.iter().collect::<Vec<_>>(), style);
    let mut lines = drawn.lines();
    let mut out = lines.next().map(|heading| format!("{heading}\n")).unwrap_or_default();
    // What limits is too long for a column: it stands below.
    for (line, prediction) in lines.zip(stack) {
        out.push_str(line);
        out.push('\n');
        let below = paragraph("    ", &style.spell(&limit(prediction)), style.columns());
        out.push_str(&style.paint(Tone::Dim, below.trim_end()));
        out.push('\n');
        if let Some(later) = prediction.sustained {
            let figures =
                format!("{}, 90 % {}", figure(prediction, later.value, style), range(prediction, later.ninety, style));
            let text = paragraph("    ", &style.spell(&format!("caches full: {figures}")), style.columns());
            out.push_str(&style.paint(Tone::Dim, text.trim_end()));
            out.push('\n');
        }
    }
    out
}

/// A throughput of a prediction.
pub(crate) fn figure(p: &Prediction, throughput: f64, style: &Style) -> String {
    crate::quantity::by_block(throughput, (p.throughput.value, p.operations.value), style)
}

/// A range of throughputs of a prediction, without its unit.
pub(crate) fn range(p: &Prediction, range: Range, style: &Style) -> String {
    let text = |value| {
        let text = figure(p, value, style);
        text.split_once(' ').map_or(text.clone(), |(number, _)| number.to_owned())
    };
    format!("{} – {}", text(range.low), text(range.high))
}

/// A time of so many nanoseconds.
fn time(nanos: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    Nanos(nanos.round() as u64).to_string()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// What limits, as sure as it is.
fn limit(p: &Prediction) -> String {
    match (p.bottleneck(), p.limits.as_slice()) {
        (Some(first), [_, second, ..]) => {
            format!("limit: {} ({}); next: {}", first.resource, percent(first.probability), second.resource)
        }
        (Some(first), _) => format!("limit: {} ({})", first.resource, percent(first.probability)),
        (None, [first, second, ..]) => format!(
            "limit: {} ({}) or {} ({})",
            first.resource,
            percent(first.probability),
            second.resource,
            percent(second.probability)
        ),
        _ => "no limit stands out".to_owned(),
    }
}

fn flags(out: &mut String, stack: &[Prediction], style: &Style) {
    let mut said: Vec<&str> = Vec::new();
    for flag in stack.iter().flat_map(|prediction| &prediction.flags) {
        if !said.contains(&flag.message.as_str()) {
            said.push(&flag.message);
            let text = paragraph("  ! ", &style.spell(&flag.message), style.columns());
            out.push_str(&style.paint(Tone::Warn, text.trim_end()));
            out.push('\n');
        }
    }
}

/// The account of every prediction: each ceiling as the sum that it is, what more would buy, and where each value is
/// from.
#[must_use]
pub fn explain(expectation: &Expectation<'_>, style: &Style) -> String {
    let mut out = head(expectation, style);
    for prediction in expectation.predictions {
        account(&mut out, prediction, style);
    }
    unpredicted(&mut out, expectation, style);
    out
}

fn account(out: &mut String, p: &Prediction, style: &Style) {
    let columns = style.columns();
    let mut say = |first: &str, text: &str| out.push_str(&paragraph(first, &style.spell(text), columns));
    say("\n", &format!("{}: {}", p.stack, p.pattern));
    say("  ", &format!("{}, 90 % {}", figure(p, p.throughput.value, style), range(p, p.throughput.ninety, style)));
    say("  ", &format!("50 % {}", range(p, p.throughput.half, style)));
    say("  ", &times("latency", p.latency));
    say("  ", &times("p99", p.p99));
    say("  ", &times("processor time of an operation", p.cpu));
    say("  ", &format!("{} hardware threads busy", significant(p.threads_busy.value)));
    if let Some(later) = p.sustained {
        say(
            "  ",
            &format!(
                "{} once the caches are full, 90 % {}",
                figure(p, later.value, style),
                range(p, later.ninety, style)
            ),
        );
    }
    if let Some(rate) = p.resync {
        say("  ", &format!("{:.0} MB/s of each member resynchronised", rate.value / 1e6));
    }
    if let Some(times) = p.write_amplification {
        say("  ", &format!("drives write {}× the bytes written", significant(times)));
    }
    say("  ", "limits, by share of draws:");
    for limit in p.limits.iter().take(4) {
        say(
            "    ",
            &format!("{}: {}, busy {}", limit.resource, percent(limit.probability), percent(limit.utilisation)),
        );
    }
    say("  ", "10 % more of this buys:");
    for gain in &p.elasticities {
        say("    ", &format!("{}: {:+.1} %", gain.of, gain.buys_percent));
    }
    say("  ", "limits, the lowest first:");
    for ceiling in &p.ceilings {
        say(
            "    ",
            &format!(
                "{}: {} ({})",
                ceiling.resource,
                Iops(ceiling.operations_per_second),
                crate::quantity::rate(ceiling.throughput, style)
            ),
        );
    }
    say("  ", "time of each for one operation:");
    for demand in &p.demands {
        say("    ", &total(demand));
        for term in &demand.terms {
            say("      ", &product(term, &p.inputs));
        }
    }
    say("  ", "values that went in:");
    for (at, input) in p.inputs.iter().enumerate() {
        say(&format!("    [{at}] "), &value(input));
    }
}

fn times(what: &str, of: Estimate) -> String {
    format!("{what} {}, 90 % {} – {}", time(of.value), time(of.ninety.low), time(of.ninety.high))
}

fn total(demand: &Demand) -> String {
    let each = if demand.units > 1.0 { format!(" each of {}", demand.units) } else { String::new() };
    format!("{}{each}: {} ns", demand.resource, significant(demand.demand))
}

fn product(term: &Term, inputs: &[Input]) -> String {
    let names: Vec<String> =
        term.inputs.iter().map(|&at| format!("[{at}] {}", inputs.get(at).map_or_else(String::new, shown))).collect();
    format!(
        "{}: {} with {} = {} ns",
        term.why,
        significant(term.factor),
        names.join(" and "),
        significant(term.product)
    )
}

fn shown(input: &Input) -> String {
    let number = if input.value.abs() >= 1e6 { format!("{:.4e}", input.value) } else { significant(input.value) };
    if input.unit.is_empty() { number } else { format!("{number} {}", input.unit) }
}

fn value(input: &Input) -> String {
    let origin = if input.origin.is_empty() { String::new() } else { format!(": {}", input.origin) };
    format!("{}, {} (± {}), {}{origin}", input.name, shown(input), percent(input.sigma), input.source.word())
}

/// The document of `--json`.
///
/// # Errors
/// Where a figure is no number, which no prediction has.
pub fn json(expectation: &Expectation<'_>) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        version: u32,
        #[serde(flatten)]
        expectation: &'a Expectation<'a>,
    }
    serde_json::to_string_pretty(&Document { schema: SCHEMA, version: VERSION, expectation })
}
