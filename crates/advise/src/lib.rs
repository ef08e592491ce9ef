//! Which stack is best, given what is needed?
//!
//! Every design that so many alike drives allow is listed ([`designs`]), those that meet the needs are scored by the
//! same arithmetic that `bedplate expect` prints ([`Search`]), and what no other beats is the front ([`advise`]), with
//! what differs by one choice and why that lost.
//!
//! Pure: no files, no clock, no threads. Whoever has threads has them search one [`LayoutQueue`].

mod design;
mod front;
mod likeness;
mod neighbour;
mod score;
mod search;
mod space;
mod stack;

use model::{Site, predict};
use terms::advice::{Advice, Advised, Need, Rate, Tie};
use terms::prediction::Flag;
use terms::{Name, Stack, slug};

pub use design::{Cipher, Files, Joint, Layout, Logical, Under};
pub use front::{front, simplest};
pub use score::{Judge, Question, Scored, Unmet};
pub use search::{Found, LayoutQueue, Search};
pub use space::designs;
pub use stack::{layers, stack, title};

use crate::neighbour::neighbours;

/// Neighbours that are told of each design.
const NEIGHBOURS: usize = 8;

/// Scores all designs and leaves none out but those that do not serve: what a [`Search`] is held against.
#[must_use]
pub fn exhaust(question: &Question<'_>, site: &Site, designs: &[Layout]) -> Vec<Scored> {
    let mut judge = Judge::new(question, site);
    designs.iter().filter_map(|design| judge.score(design).ok()).collect()
}

/// What is advised of what was found: at most so many designs of the front, and the simplest among them.
#[must_use]
pub fn advise(question: &Question<'_>, site: &Site, found: &Found, most: usize) -> Advice {
    let mut chosen = front(&found.best);
    chosen.extend(found.simplest.filter(|simplest| !chosen.contains(simplest)));
    front::rank(&mut chosen);
    thin(&mut chosen, most, found.simplest);
    let names: Vec<Name> = question.drives.iter().map(|drive| drive.name.clone()).collect();
    let mut judge = Judge::new(question, site);
    let fastest = chosen.iter().map(|one| one.speed).fold(f64::NEG_INFINITY, f64::max);
    let mut all: Vec<Advised> = Vec::new();
    for one in &chosen {
        let stack = stack(&one.design, &names);
        let neighbours = neighbours(&mut judge, question.needs, one, question.drives.len(), NEIGHBOURS);
        all.push(Advised { speed: (one.speed - fastest).exp(), neighbours, ..advised(question, site, one, &stack) });
    }
    number(&mut all);
    let ties: Vec<Vec<Tie>> = (0..all.len()).map(|at| ties(&all, at)).collect();
    for (one, ties) in all.iter_mut().zip(ties) {
        one.ties = ties;
    }
    Advice {
        needs: question.needs.clone(),
        designs: found.designs,
        fitting: found.fitting,
        kept_free: found.kept_free,
        fitting_but_for_risk: found.risky,
        is_limit_assumed: false,
        fewest_layers: found.simplest.and_then(|simplest| chosen.iter().position(|one| *one == simplest)),
        front: all,
        compromises: Vec::new(),
        safest: found.safest.map(|one| Box::new(advised(question, site, &one, &stack(&one.design, &names)))),
    }
}

/// The design of some advice that comes nearest to a need that it was given without.
#[must_use]
pub fn closest(advice: &Advice, need: Need) -> Option<&Advised> {
    let by = |worth: fn(&Advised) -> f64| {
        let best = |a: &&Advised, b: &&Advised| worth(a).total_cmp(&worth(b));
        advice.front.iter().max_by(best)
    };
    match need {
        Need::Capacity => by(|one| one.available.as_f64()),
        Need::Loss => advice.safest.as_deref(),
        Need::Life => by(|one| one.life_years.map_or(0.0, |life| life.middle)),
        Need::Encryption | Need::Survives | Need::Repairs | Need::Snapshots => advice.front.first(),
    }
}

/// Names for the stacks of a study: those that would be one file's get a number in front.
#[must_use]
pub fn study_names(front: &[Advised]) -> Vec<String> {
    let files: Vec<String> = front.iter().map(|one| slug(&one.name)).collect();
    let name = |(at, one): (usize, &Advised)| match before(&files, at) {
        0 => one.name.clone(),
        same => format!("{}: {}", same + 1, one.name),
    };
    front.iter().enumerate().map(name).collect()
}

/// Designs that differ only in choices which no name has get a number behind.
fn number(all: &mut [Advised]) {
    let names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
    for (at, one) in all.iter_mut().enumerate() {
        match before(&names, at) {
            0 => {}
            same => one.name = format!("{} ({})", one.name, same + 1),
        }
    }
}

/// How many of those before it are the same.
fn before(all: &[String], at: usize) -> usize {
    all[..at].iter().filter(|other| **other == all[at]).count()
}

/// Leaves so many: the fastest, the simplest, the roomiest and the safest, then whatever is farthest from those that stay.
fn thin(front: &mut Vec<Scored>, most: usize, simplest: Option<Scored>) {
    if front.len() <= most {
        return;
    }
    let place = |one: &Scored| [one.speed, one.available.as_f64().max(1.0).ln(), -one.loss.max(1e-12).ln() / 4.0];
    let distance =
        |a: &Scored, b: &Scored| -> f64 { place(a).iter().zip(place(b)).map(|(a, b)| (a - b).powi(2)).sum() };
    let best = |of: fn(&Scored) -> f64| front.iter().copied().max_by(|a, b| of(a).total_cmp(&of(b)));
    let ends = [best(|one| one.speed), simplest, best(|one| one.available.as_f64()), best(|one| -one.loss)];
    let mut kept: Vec<Scored> = Vec::new();
    for end in ends.into_iter().flatten() {
        if !kept.contains(&end) && kept.len() < most {
            kept.push(end);
        }
    }
    while kept.len() < most {
        let away = |one: &Scored| kept.iter().map(|known| distance(one, known)).fold(f64::INFINITY, f64::min);
        let next = front.iter().filter(|one| !kept.contains(one)).max_by(|a, b| away(a).total_cmp(&away(b)));
        let Some(next) = next.copied() else { break };
        kept.push(next);
    }
    front.retain(|one| kept.contains(one));
}

fn advised(question: &Question<'_>, site: &Site, one: &Scored, stack: &Stack) -> Advised {
    let names: Vec<Name> = question.drives.iter().map(|drive| drive.name.clone()).collect();
    let rates = question.workloads.iter().filter_map(|work| {
        let prediction = predict(site, stack, work, &question.conditions).ok()?;
        Some(Rate {
            workload: work.name.to_string(),
            pattern: prediction.pattern.clone(),
            throughput: prediction.throughput,
            operations: prediction.operations,
            bottleneck: prediction.bottleneck().map(|limit| limit.resource.clone()),
            flags: prediction.flags,
        })
    });
    let outlook = score::outlook(question, stack, one.available);
    let never = terms::durability::Spread::exactly(one.loss);
    Advised {
        name: title(&one.design),
        layers: layers(&one.design, &names),
        drives: u32::try_from(one.design.members).unwrap_or(u32::MAX),
        survives: u32::try_from(one.design.survives()).unwrap_or(u32::MAX),
        rates: rates.collect(),
        speed: 1.0,
        // The search rounds to a usual chunk; what is told is to the byte.
        available: capacity::account(stack, question.drives).map_or(one.available, |account| account.available),
        loss: outlook.as_ref().map_or(never, |outlook| outlook.loss.any),
        everything: outlook.as_ref().map(|outlook| outlook.loss.everything),
        life_years: outlook.as_ref().and_then(|outlook| outlook.life_years),
        rebuild: outlook.and_then(|outlook| outlook.rebuild),
        caveats: stack.caveats().into_iter().map(|of| Flag::new(of.code(), of.words())).collect(),
        neighbours: Vec::new(),
        ties: Vec::new(),
    }
}

/// Later designs of the front that may be faster: under no workload do the 90 % intervals lie apart. The workload with
/// the largest difference for its width decides soonest.
fn ties(all: &[Advised], at: usize) -> Vec<Tie> {
    let mut ties = Vec::new();
    for (with, other) in all.iter().enumerate().skip(at + 1) {
        let pairs = || all[at].rates.iter().zip(&other.rates);
        let apart = |(one, other): (&Rate, &Rate)| {
            let (one, other) = (one.throughput.ninety, other.throughput.ninety);
            one.low > other.high || other.low > one.high
        };
        if pairs().any(apart) {
            continue;
        }
        let says = |(one, other): &(&Rate, &Rate)| {
            let width = |rate: &Rate| (rate.throughput.ninety.high / rate.throughput.ninety.low).ln().max(1e-9);
            (one.throughput.value / other.throughput.value).ln().abs() / (width(one) + width(other))
        };
        if let Some((one, _)) = pairs().max_by(|a, b| says(a).total_cmp(&says(b))) {
            ties.push(Tie { with, decides: one.pattern.clone() });
        }
    }
    ties
}
