//! Uncertainty by drawing: every value is log-normal around what the book says, and the network is solved anew.

use std::cell::RefCell;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use terms::prediction::{Estimate, Range};

use crate::network::{Network, Resource};
use crate::parameter::{Parameter, REPEATABILITY};
use crate::parameters::Parameters;
use crate::solve::{Demands, Solution, solve_demands};

/// Draws for one prediction: ends of a 90 % interval are then within some 2 % of a standard deviation.
const DRAWS: usize = 500;
/// Seed of every prediction: the same question has the same answer.
const SEED: u64 = 0x6265_6470_6c61_7465;
/// Below this share of time no resource is the limit: what is under way is too little, or takes its time.
const BUSY: f64 = 0.7;

/// One draw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) solution: Solution,
    /// Processor time of an operation, seconds.
    pub(crate) cpu: f64,
    /// Place of the limiting station; `None` where nothing is busy.
    pub(crate) limit: Option<usize>,
}

/// Draws of a network, by the values that it uses.
pub(crate) fn draws(network: &Network, parameters: &Parameters) -> Vec<Draw> {
    let used: Vec<(u32, f64)> = used(network).into_iter().map(|at| (at, parameters.sigma(at).ln_1p())).collect();
    let mut values = parameters.values().to_vec();
    let width = used.len() + 1;
    NORMALS.with_borrow_mut(|(rng, known)| {
        while known.len() < DRAWS * width {
            known.push(normal(rng));
        }
        let draw = |normals: &[f64]| {
            for (&(at, sigma), normal) in used.iter().zip(normals) {
                values[at as usize] = parameters.value(at) * (normal * sigma).exp();
            }
            let again = (normals[used.len()] * REPEATABILITY.ln_1p()).exp();
            let (mut draw, demands) = at_values(network, &values);
            draw.limit = limit(network, &demands, draw.solution.throughput);
            draw.solution.throughput *= again;
            draw.solution.response /= again;
            draw.solution.resync *= again;
            draw
        };
        known.chunks_exact(width).take(DRAWS).map(draw).collect()
    })
}

thread_local! {
    /// The normals that every prediction draws, in order. The list grows when a prediction needs more.
    static NORMALS: RefCell<(ChaCha8Rng, Vec<f64>)> = RefCell::new((ChaCha8Rng::seed_from_u64(SEED), Vec::new()));
}

/// Values that a network uses, each once.
pub(crate) fn used(network: &Network) -> Vec<u32> {
    let mut used: Vec<u32> = network.parts.iter().flat_map(|part| [part.by[0], part.by[1], part.over]).collect();
    if network.resync.is_some() {
        used.push(Parameter::ResyncCap.place());
    }
    used.sort_unstable();
    used.dedup();
    used.retain(|&at| at != Parameter::One.place());
    used
}

/// Demand of every station at other values, and how it adds to the time of an operation.
pub(crate) struct Evaluated {
    pub(crate) demand: Vec<f64>,
    pub(crate) residence: Vec<f64>,
    pub(crate) delay: f64,
}

pub(crate) fn evaluate(network: &Network, values: &[f64]) -> Evaluated {
    let mut found = Evaluated {
        demand: vec![0.0; network.stations.len()],
        residence: vec![0.0; network.stations.len()],
        delay: 0.0,
    };
    for part in &network.parts {
        let worth = part.worth(values);
        match found.demand.get_mut(usize::from(part.station)) {
            Some(demand) => {
                *demand += worth;
                found.residence[usize::from(part.station)] += worth * part.share;
            }
            None => found.delay += worth,
        }
    }
    found
}

/// The network at demands that were changed.
pub(crate) fn demands(network: &Network, at: &Evaluated) -> Demands {
    Demands::made(network, at.delay, network.pieces, |place, _| (at.demand[place], at.residence[place]))
}

fn at_values(network: &Network, values: &[f64]) -> (Draw, Evaluated) {
    let evaluated = evaluate(network, values);
    let mut copy = network.resync;
    if let Some(resync) = &mut copy {
        resync.cap = values[Parameter::ResyncCap as usize] * resync.bytes;
    }
    let solution = match copy == network.resync {
        true => solve_demands(network, &demands(network, &evaluated)),
        false => {
            let changed = Network { resync: copy, ..network.clone() };
            solve_demands(&changed, &demands(network, &evaluated))
        }
    };
    let cpu = network
        .stations
        .iter()
        .zip(&evaluated.demand)
        .filter(|(station, _)| station.resource == Resource::Cores)
        .map(|(station, demand)| demand * station.servers)
        .sum();
    (Draw { solution, cpu, limit: None }, evaluated)
}

/// The busiest station, where it is busy enough.
pub(crate) fn limit(network: &Network, at: &Evaluated, throughput: f64) -> Option<usize> {
    let busiest = (0..network.stations.len()).max_by(|&a, &b| at.demand[a].total_cmp(&at.demand[b]))?;
    (at.demand[busiest] * throughput >= BUSY).then_some(busiest)
}

/// A standard normal, after Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    /// 2^-32: a 32-bit number as a share of 1.
    const UNIT: f64 = 1.0 / 4_294_967_296.0;
    let first = (f64::from(rng.next_u32()) + 0.5) * UNIT;
    let second = f64::from(rng.next_u32()) * UNIT;
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// A figure with the intervals of its draws.
pub(crate) fn estimate(value: f64, draws: impl Iterator<Item = f64>) -> Estimate {
    let mut sorted: Vec<f64> = draws.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied();
    let range =
        |low, high| Range { low: at(low).unwrap_or(value).min(value), high: at(high).unwrap_or(value).max(value) };
    Estimate { value, half: range(25, 75), ninety: range(5, 95) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_normal_and_always_the_same() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let list: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let mean = list.iter().sum::<f64>() / 20_000.0;
        let spread = (list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!(mean.abs() < 0.03 && (spread - 1.0).abs() < 0.03, "{mean} {spread}");
        let mut again = ChaCha8Rng::seed_from_u64(1);
        assert!((normal(&mut again) - list[0]).abs() < 1e-15);
    }
}
