//! What is advised, as text and as JSON.

use serde::Serialize;
use terms::advice::{Advice, Advised, Rate};
use terms::units::significant;

use crate::sheet::{self, Cell, Strip};
use crate::style::{Style, Tone};
use crate::width::{Align, paragraph, wrap};

/// What the JSON document says it is.
pub const SCHEMA: &str = "bedplate.advice";

/// Its version. Keys are never renamed or dropped within one.
pub const VERSION: u32 = 1;

/// Columns of names in the overview, which leaves room for all figures on 80.
const NAME: usize = 34;

/// The front as a table, then each design: its layers, its rates, why its neighbours lost, what would decide.
#[must_use]
pub fn text(advice: &Advice, style: &Style) -> String {
    let looked = format!(
        "{} designs looked at, {} meet the needs; of these {} are beaten by no other.",
        advice.designs,
        advice.fitting,
        advice.front.len()
    );
    let mut out = paragraph("", &style.spell(&looked), style.columns());
    if advice.front.is_empty() {
        return out;
    }
    out.push('\n');
    out.push_str(&overview(advice, style));
    for (at, one) in advice.front.iter().enumerate() {
        out.push('\n');
        out.push_str(&style.paint(Tone::Strong, &style.spell(&format!("{}. {}", at + 1, one.name))));
        out.push('\n');
        out.push_str(&design(one, advice, style));
    }
    out
}

fn overview(advice: &Advice, style: &Style) -> String {
    let strip = |heading: &str, align, text: &dyn Fn(usize, &Advised) -> String| Strip {
        heading: vec![heading.to_owned()],
        align,
        cells: advice.front.iter().enumerate().map(|(at, one)| Cell::plain(style.spell(&text(at, one)))).collect(),
    };
    let years = |life: f64| if life >= 100.0 { "> 100 a".to_owned() } else { format!("{} a", significant(life)) };
    let mut strips = vec![
        strip("DESIGN", Align::Left, &|at, one| wrap(&format!("{}. {}", at + 1, one.name), NAME).join("\n")),
        strip("SPEED", Align::Right, &|_, one| format!("{:.0} %", one.speed * 100.0)),
        strip("ROOM", Align::Right, &|_, one| style.size(one.available)),
        strip("LOSS, A YEAR", Align::Right, &|_, one| once(one.loss.middle)),
    ];
    if advice.front.iter().any(|one| one.life_years.is_some()) {
        strips.push(strip("WORN IN", Align::Right, &|_, one| {
            one.life_years.map_or_else(|| "–".to_owned(), |life| years(life.middle))
        }));
    }
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
}

/// `1 in 4800`.
fn once(probability: f64) -> String {
    match probability {
        p if p <= 0.0 => "never".to_owned(),
        p if p >= 0.1 => format!("{} %", significant(p * 100.0)),
        p => format!("1 in {}", significant_large(1.0 / p)),
    }
}

fn significant_large(number: f64) -> String {
    for (scale, unit) in [(1e9, " G"), (1e6, " M"), (1e4, " k")] {
        if number >= scale {
            let divisor = if scale < 1e6 { 1e3 } else { scale };
            return format!("{}{unit}", significant(number / divisor));
        }
    }
    significant(number)
}

fn design(one: &Advised, advice: &Advice, style: &Style) -> String {
    let mut out = String::new();
    for line in one.layers.lines() {
        out.push_str(&style.paint(Tone::Dim, &style.spell(line)));
        out.push('\n');
    }
    for rate in &one.rates {
        out.push_str(&paragraph("  ", &style.spell(&rate_words(rate, style)), style.columns()));
    }
    if let Some(rebuild) = one.rebuild {
        let words = format!("a rebuild takes {}, from {} to {}", rebuild.middle, rebuild.low, rebuild.high);
        out.push_str(&paragraph("  ", &style.spell(&words), style.columns()));
    }
    for neighbour in &one.neighbours {
        let words = format!("{}: {}", neighbour.change, neighbour.why);
        out.push_str(&paragraph("  - ", &style.spell(&words), style.columns()));
    }
    for tie in &one.ties {
        if let Some(other) = advice.front.get(tie.with) {
            let words =
                format!("no significant difference from {} ({}): measure {}", tie.with + 1, other.name, tie.decides);
            out.push_str(&paragraph("  = ", &style.spell(&words), style.columns()));
        }
    }
    out
}

fn rate_words(rate: &Rate, style: &Style) -> String {
    let said = (rate.throughput.value, rate.operations.value);
    let show = |bytes: f64| crate::quantity::by_block(bytes, said, style);
    let ninety = rate.throughput.ninety;
    let limit = rate.limiter.as_ref().map(|limit| format!("; limit: {limit}")).unwrap_or_default();
    format!(
        "{}: {}, 90 % {} to {}{limit}",
        rate.pattern,
        show(rate.throughput.value),
        show(ninety.low),
        show(ninety.high)
    )
}

/// The advice as a JSON document.
///
/// # Errors
/// Where a value cannot be written as JSON.
pub fn json(advice: &Advice) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        version: u32,
        #[serde(flatten)]
        advice: &'a Advice,
    }
    Ok(serde_json::to_string_pretty(&Document { schema: SCHEMA, version: VERSION, advice })? + "\n")
}
