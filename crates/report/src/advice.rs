//! What is advised, as text and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use terms::advice::{ACCEPTED_LOSS, Advice, Advised, Compromise, Need, Rate};
use terms::units::significant;

use crate::outlook::common_words;
use crate::sheet::{self, Cell, Strip};
use crate::style::{Style, Tone};
use crate::width::{Align, paragraph};

/// What the JSON document says it is.
pub const SCHEMA: &str = "bedplate.advice";

/// Its version. Keys are never renamed or dropped within one: the first called `speed_ratio` of a layout `speed`.
pub const VERSION: u32 = 2;

/// Columns of names in the overview, which leaves room for all figures on 80: with the years until drives are worn, and
/// without.
const NAME: [usize; 2] = [34, 44];

/// What to build and why, the others in a table, and what to do next (with the study that was `written`, if any); or why nothing
/// fits, and what nearly would.
#[must_use]
pub fn text(advice: &Advice, written: Option<&str>, style: &Style) -> String {
    let Some(first) = advice.front.first() else { return none(advice, style) };
    let mut out = style.paint(Tone::Strong, &style.spell(&format!("Build {}.", first.name)));
    out.push('\n');
    out.push_str(&said(&reasons(first, advice, style), style));
    out.push('\n');
    out.push_str(&overview(advice, style));
    out.push_str("\nThe layers of 1., as a study has them:\n");
    out.push_str(&layers(first, style));
    out.push_str(&warnings(first, style));
    out.push_str(&kept_free(advice, style));
    out.push('\n');
    let next = match written {
        None => {
            "`--explain` shows predicted rates, and why other layouts lost. `--write-study FILE` writes a study of these \
             layouts, for `bedplate plan` and `bedplate run`."
                .to_owned()
        }
        Some(study) => {
            format!("`bedplate advise {study} --explain` shows predicted rates, and why other layouts lost.")
        }
    };
    out + &said(&format!("SPEED is relative to the fastest. {next}"), style)
}

/// Each design of the front: its layers, its rates, why its neighbours lost, what would decide.
#[must_use]
pub fn explain(advice: &Advice, written: Option<&str>, style: &Style) -> String {
    let mut out = text(advice, written, style);
    for (at, one) in advice.front.iter().enumerate() {
        out.push('\n');
        out.push_str(&style.paint(Tone::Strong, &style.spell(&format!("{}. {}", at + 1, one.name))));
        out.push('\n');
        out.push_str(&layers(one, style));
        out.push_str(&design(one, advice, style));
    }
    out
}

fn said(words: &str, style: &Style) -> String {
    paragraph("", &style.spell(words), style.columns())
}

/// Why the first is advised.
fn reasons(first: &Advised, advice: &Advice, style: &Style) -> String {
    let fails = match first.survives {
        0 => "It need not survive the failure of a drive (`--survive N`).".to_owned(),
        1 => "It survives the failure of any one drive.".to_owned(),
        number => format!("It survives the failure of any {number} drives at once."),
    };
    let fastest = match advice.fitting {
        1 => "It is the only layout that meets your requirements.".to_owned(),
        fitting if first.speed < 1.0 => {
            format!("Of {fitting} layouts that meet your requirements it is the simplest that is about as fast as any.")
        }
        fitting => format!("Of {fitting} layouts that meet your requirements it is predicted to be the fastest."),
    };
    let risk = match advice.needs.loss {
        Some(most) => risk_limit(1.0 / most, advice),
        None if first.loss.middle > ACCEPTED_LOSS => {
            format!("; that is high, and no layout that meets your requirements is below {}", once(ACCEPTED_LOSS))
        }
        None => String::new(),
    };
    // One unreadable block counts as much as all drives: this figure says which of them it is.
    let all = first
        .everything
        .map(|all| format!(" The risk of losing everything is {}.", once(all.middle)))
        .unwrap_or_default();
    let common = common_words(&advice.needs.common);
    format!(
        "{fails} Its usable capacity is {}. The estimated risk of losing any data in a year is {} ({} to {}){risk}. Part of each risk: {common}.{all} \
         {fastest}{}{}",
        style.size(first.available),
        once(first.loss.middle),
        once(first.loss.low),
        once(first.loss.high),
        fewest_layers(first, advice),
        barely_too_risky(first)
    )
}

/// The limit of the risk, whose it is, and what it rules out.
fn risk_limit(years: f64, advice: &Advice) -> String {
    let limit = significant_large(years);
    match advice.fitting_but_for_risk {
        _ if !advice.is_limit_assumed => format!("; the limit is 1 in {limit} (`--once-in`)"),
        0 => format!("; the limit of 1 in {limit} is assumed (`--once-in`)"),
        more => {
            format!(
                "; the limit of 1 in {limit} is assumed, and rules out {more} more layouts (`--once-in 1` allows them)"
            )
        }
    }
}

/// The simpler one that its risk alone rules out, by less than is known of risks.
fn barely_too_risky(first: &Advised) -> String {
    let known = first.neighbours.iter().filter_map(|other| Some((other.barely_too_risky?, &other.change)));
    let Some((loss, change)) = known.min_by(|(a, _), (b, _)| a.total_cmp(b)) else { return String::new() };
    let (risk, years) = (once(loss), safest(loss));
    format!(" The same with {change} has a risk of {risk}, a little above the limit (`--once-in {years}` allows it).")
}

/// The one with the fewest layers, where the first has more.
fn fewest_layers(first: &Advised, advice: &Advice) -> String {
    let layers = |one: &Advised| one.layers.lines().count();
    let Some((at, one)) = advice.fewest_layers.and_then(|at| Some((at, advice.front.get(at)?))) else {
        return String::new();
    };
    let (few, many) = (layers(one), layers(first));
    if few >= many {
        return String::new();
    }
    let speed = one.speed * 100.0;
    format!(" Layout {} has the fewest layers: {few} instead of {many}, at {speed:.0} % of the speed.", at + 1)
}

/// Why nothing fits: what would be left if one requirement were given up.
fn none(advice: &Advice, style: &Style) -> String {
    let mut out = style.paint(Tone::Strong, &style.spell("No layout of these drives meets all requirements."));
    out.push('\n');
    if !advice.compromises.is_empty() {
        out.push_str(&said("With one of them changed:", style));
    }
    for one in &advice.compromises {
        let closest = &one.closest;
        let layouts = if one.fitting == 1 { "1 layout".to_owned() } else { format!("{} layouts", one.fitting) };
        let alone = if common_alone(one, advice) {
            "; without what takes all drives at once it would meet the requirement"
        } else {
            ""
        };
        let words = format!(
            "{}: {layouts}, of which the closest is {}{}{alone}",
            given_up(one, style),
            closest.name,
            risk(closest)
        );
        out.push_str(&paragraph("  - ", &style.spell(&words), style.columns()));
    }
    out.push_str(&match advice.compromises.as_slice() {
        [] => said("Dropping any single one of them is not enough.", style),
        _ => said(&format!("Of each risk, {}.", common_words(&advice.needs.common)), style),
    });
    out + &kept_free(advice, style)
}

/// The risk of a layout in a few words.
fn risk(one: &Advised) -> String {
    let all = one.everything.map(|all| format!(", of losing everything {}", once(all.middle))).unwrap_or_default();
    format!("; risk a year {}{all}", once(one.loss.middle))
}

/// Would the risk be low enough, did nothing take all drives at once?
fn common_alone(one: &Compromise, advice: &Advice) -> bool {
    let rest = advice.needs.common.taken_off(one.closest.loss.middle);
    one.need == Need::Loss && advice.needs.loss.is_some_and(|most| rest <= most)
}

/// Layouts that are too small only by what is left for snapshots.
fn kept_free(advice: &Advice, style: &Style) -> String {
    let layouts = match advice.kept_free {
        0 => return String::new(),
        1 => "1 layout with a thin volume is".to_owned(),
        many => format!("{many} layouts with thin volumes are"),
    };
    said(
        &format!(
            "{layouts} left out because a part of a thin pool stays free for snapshots. That is a choice, and a thin volume made by hand \
             can be larger; btrfs and ZFS keep nothing free for snapshots."
        ),
        style,
    )
}

/// What to ask for in the place of what cannot be had.
fn given_up(one: &Compromise, style: &Style) -> String {
    let closest = &one.closest;
    match one.need {
        Need::Encryption => "without `--encrypted`".to_owned(),
        Need::Survives => format!("with `--survive {}`", one.needs.survives),
        Need::Repairs => "without `--repair`".to_owned(),
        Need::Snapshots => "without `--snapshots`".to_owned(),
        Need::Capacity => format!("with `--capacity` of {} or less", style.size(closest.available)),
        Need::Loss => format!("with `--once-in {}` or less", safest(closest.loss.middle)),
        Need::Life => format!(
            "with `--last {}` or less",
            closest.life_years.map_or_else(|| "0".to_owned(), |life| significant(life.middle))
        ),
    }
}

/// Years between losses that a layout does have: three digits, rounded so that asking for them finds it.
fn safest(probability: f64) -> f64 {
    let years = 1.0 / probability;
    let unit = 10.0_f64.powf((years.log10().floor() - 2.0).max(0.0));
    (years / unit).floor() * unit
}

fn overview(advice: &Advice, style: &Style) -> String {
    let strip = |heading: &str, align, text: &dyn Fn(usize, &Advised) -> String| Strip {
        heading: vec![heading.to_owned()],
        align,
        cells: advice.front.iter().enumerate().map(|(at, one)| Cell::plain(style.spell(&text(at, one)))).collect(),
    };
    let has_life = advice.front.iter().any(|one| one.life_years.is_some());
    let name = if has_life { NAME[0] } else { NAME[1] };
    let years = |life: f64| if life >= 100.0 { "> 100 a".to_owned() } else { format!("{} a", significant(life)) };
    let mut strips = vec![
        strip("LAYOUT", Align::Left, &|at, one| {
            paragraph(&format!("{}. ", at + 1), &one.name, name).trim_end().to_owned()
        }),
        strip("SPEED", Align::Right, &|_, one| format!("{:.0} %", one.speed * 100.0)),
        strip("CAPACITY", Align::Right, &|_, one| style.size(one.available)),
        strip("RISK A YEAR", Align::Right, &|_, one| once(one.loss.middle)),
    ];
    if has_life {
        strips.push(strip("WORN IN", Align::Right, &|_, one| {
            one.life_years.map_or_else(|| "–".to_owned(), |life| years(life.middle))
        }));
    }
    sheet::render(&strips.iter().collect::<Vec<_>>(), style)
}

/// `1 in 4800`: two digits, for a risk is known to a factor of several.
fn once(probability: f64) -> String {
    if probability <= 0.0 {
        return "none".to_owned();
    }
    let years = 1.0 / probability;
    let unit = 10.0_f64.powf(years.log10().floor() - 1.0);
    format!("1 in {}", significant_large((years / unit).round() * unit))
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

fn layers(one: &Advised, style: &Style) -> String {
    one.layers.lines().map(|line| style.paint(Tone::Dim, &style.spell(line)) + "\n").collect()
}

/// What has to be known of its layers; then what `expect` warns of, each once, with the workloads under which it does.
fn warnings(one: &Advised, style: &Style) -> String {
    let flags = one.rates.iter().flat_map(|rate| &rate.flags);
    let once: BTreeMap<&str, &str> = flags.map(|flag| (flag.code.as_str(), flag.message.as_str())).collect();
    let under = |code: &str| {
        let has = |rate: &&Rate| rate.flags.iter().any(|flag| flag.code == code);
        one.rates.iter().filter(has).map(|rate| rate.workload.as_str()).collect::<Vec<_>>().join(", ")
    };
    let caveats = one.caveats.iter().map(|caveat| caveat.message.clone());
    let lines = caveats.chain(once.into_iter().map(|(code, message)| format!("{message} ({})", under(code))));
    lines.map(|words| paragraph("  ! ", &style.spell(&words), style.columns())).collect()
}

fn design(one: &Advised, advice: &Advice, style: &Style) -> String {
    let mut out = warnings(one, style);
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
    let limit = rate.bottleneck.as_ref().map(|limit| format!("; limit: {limit}")).unwrap_or_default();
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
