//! A prediction: the network solved, with intervals, the limit, what more would buy, and where everything is from.

mod account;
mod rule;
mod tail;
mod warnings;

use terms::layer::ArrayState;
use terms::prediction::{Ceiling, CeilingKind, Elasticity, Limit, Prediction};
use terms::workload::{FioKey, Load};
use terms::{Stack, Workload};

use crate::compiler::{Compiler, Conditions, precise};
use crate::fault::Fault;
use crate::monte_carlo::{Draw, Evaluated, demands, draws, estimate, evaluate};
use crate::network::{Network, Resource};
use crate::site::Site;
use crate::solve::{Solution, solve, solve_demands};

/// What a stack will do under a workload on a machine.
///
/// # Errors
/// [`Fault`], where the stack names what the machine does not have.
pub fn predict(site: &Site, stack: &Stack, work: &Workload, conditions: &Conditions) -> Result<Prediction, Fault> {
    let conditions = &Conditions { state: own_state(stack).unwrap_or(conditions.state), ..*conditions };
    let mut compiler = Compiler::new(site);
    let network = ready(&mut compiler, stack, work, conditions)?;
    let solution = solve(&network);
    let all = draws(&network, &site.parameters);
    let values = evaluate(&network, site.parameters.values());
    let shown = |x: f64| drained(x, &network, work, conditions);
    let rule = rule::share(site, stack, work, &network);
    let operations = estimate(shown(solution.throughput), all.iter().map(|draw| shown(draw.solution.throughput)));
    let operations = rule.widening(operations);
    // Little's law holds of what the workload sees, whatever a layer makes of its operations.
    let seen = |of: &Solution| if network.arrivals.is_some() { of.response } else { network.given / of.throughput };
    let latency = estimate(seen(&solution), all.iter().map(|draw| seen(&draw.solution))).scaled(1e9);
    let latency = rule.turned().widening(latency);
    let cpu = processor_time(&network, &values);
    let busy = estimate(cpu * solution.throughput, all.iter().map(|draw| draw.cpu * draw.solution.throughput));
    let label = |at: usize| account::label(site, stack, &network, at);
    let wanted = if compiler.asks_one_by_one(stack, work) { &JOBS } else { &DEPTH };
    let mut prediction = Prediction {
        stack: stack.name.clone(),
        workload: work.name.to_string(),
        pattern: work.title(),
        state: state(stack, conditions.state),
        throughput: operations.scaled(network.bytes),
        operations,
        latency,
        p99: tail::p99(latency, &network, solution),
        cpu: estimate(cpu, all.iter().map(|draw| draw.cpu)).scaled(1e9),
        threads_busy: busy,
        sustained: None,
        resync: resync(&network, solution, &all),
        write_amplification: (network.written > 0.0).then(|| network.write_bytes / network.written),
        limits: limits((&network, wanted.limit), &values, solution, &all, label),
        elasticities: elasticities((&network, wanted.more), &values, solution),
        ceilings: ceilings(&network, &values, label),
        demands: Vec::new(),
        inputs: Vec::new(),
        flags: Vec::new(),
    };
    rule::cap(&mut prediction, site, stack, work, &network);
    prediction.p99 = tail::above(&prediction.latency, prediction.p99);
    account::write(&mut prediction, site, stack, &network);
    if fades(site, &network) && !conditions.sustained {
        let later = predict(site, stack, work, &Conditions { sustained: true, ..*conditions })?;
        prediction.sustained = Some(later.throughput);
    }
    warnings::note(&mut prediction, site, stack, work, conditions);
    Ok(prediction)
}

/// The state that the study asks for, if it does.
fn own_state(stack: &Stack) -> Option<ArrayState> {
    let mut states = stack.nodes.iter().map(|node| node.layer.traits().state);
    states.rfind(|state| !state.is_whole())
}

/// The network, with the rate where the workload is a share of its largest.
fn ready(
    compiler: &mut Compiler<'_>,
    stack: &Stack,
    work: &Workload,
    conditions: &Conditions,
) -> Result<Network, Fault> {
    let mut network = compiler.compile(stack, work, conditions)?.clone();
    if let Load::Share { percent, .. } = work.load {
        network.arrivals = Some(solve(&network).throughput * f64::from(percent) / 100.0);
    }
    Ok(network)
}

/// What fio shows: with `end_fsync` the time counts in which a journal is written back, and nothing more is done in it.
fn drained(x: f64, network: &Network, work: &Workload, conditions: &Conditions) -> f64 {
    let waits = |key: &FioKey| key.key == "end_fsync" && key.value != "0";
    if network.backlog <= 0.0 || !work.keys.iter().any(waits) {
        return x;
    }
    let window = work.window.unwrap_or(conditions.window).as_seconds();
    // No more can be left than was written.
    let left = network.backlog.min(x * window) / x;
    x * window / (window + left)
}

fn processor_time(network: &Network, at: &Evaluated) -> f64 {
    let cores = network.stations.iter().zip(&at.demand).filter(|(station, _)| station.resource == Resource::Cores);
    cores.map(|(station, demand)| demand * station.servers).sum()
}

/// How the stack is; one that can lose no member is always whole.
fn state(stack: &Stack, state: ArrayState) -> ArrayState {
    if stack.nodes.iter().any(|node| node.layer.is_redundant()) { state } else { ArrayState::Whole }
}

fn fades(site: &Site, network: &Network) -> bool {
    network.written > 0.0
        && network.stations.iter().any(|station| match station.resource {
            Resource::Drive(class, _) => site.classes[class as usize].fades,
            _ => false,
        })
}

fn resync(network: &Network, solution: Solution, all: &[Draw]) -> Option<terms::prediction::Estimate> {
    let resync = network.resync?;
    Some(estimate(solution.resync, all.iter().map(|draw| draw.solution.resync)).scaled(resync.bytes))
}

/// What there are too few of where nothing is busy: as a limit, and as what there could be more of.
struct Wanted {
    limit: &'static str,
    more: &'static str,
}

const DEPTH: Wanted = Wanted { limit: "queue depth", more: "depth" };
/// Where depth is without effect.
const JOBS: Wanted = Wanted { limit: "number of jobs", more: "jobs" };

fn limits(
    (network, waiting): (&Network, &str),
    at: &Evaluated,
    solution: Solution,
    all: &[Draw],
    label: impl Fn(usize) -> String,
) -> Vec<Limit> {
    let share = |limit: Option<usize>| {
        precise(all.iter().filter(|draw| draw.limit == limit).count() as u64) / precise(all.len().max(1) as u64)
    };
    let mut found: Vec<Limit> = (0..network.stations.len())
        .map(|place| Limit {
            resource: label(place),
            utilisation: (at.demand[place] * solution.throughput).min(1.0),
            probability: share(Some(place)),
        })
        .filter(|limit| limit.utilisation >= 0.01 || limit.probability > 0.0)
        .collect();
    // How much of an operation's time is not spent in a queue.
    let working = demands(network, at).alone() / solution.response;
    found.push(Limit { resource: waiting.to_owned(), utilisation: working.min(1.0), probability: share(None) });
    found.retain(|limit| limit.resource != waiting || limit.probability > 0.0);
    found.sort_by(|a, b| {
        (b.probability, b.utilisation).partial_cmp(&(a.probability, a.utilisation)).unwrap_or(std::cmp::Ordering::Equal)
    });
    found
}

/// Ten per cent more.
const MORE: f64 = 1.1;

fn elasticities((network, more): (&Network, &str), at: &Evaluated, solution: Solution) -> Vec<Elasticity> {
    let kinds: [(&str, &[CeilingKind]); 4] = [
        ("drives", &[CeilingKind::Drive]),
        ("links", &[CeilingKind::Link, CeilingKind::Uplink]),
        ("memory", &[CeilingKind::Memory]),
        ("cores", &[CeilingKind::Cores, CeilingKind::Thread, CeilingKind::Serial]),
    ];
    let gain = |x: f64| (x / solution.throughput - 1.0) * 100.0;
    let mut found: Vec<Elasticity> = kinds
        .into_iter()
        .map(|(of, kinds)| {
            let mut faster = Evaluated { demand: at.demand.clone(), residence: at.residence.clone(), delay: at.delay };
            for (place, station) in network.stations.iter().enumerate() {
                if kinds.contains(&station.resource.kind()) {
                    faster.demand[place] /= MORE;
                    faster.residence[place] /= MORE;
                }
            }
            let x = solve_demands(network, &demands(network, &faster)).throughput;
            Elasticity { of: of.to_owned(), buys_percent: gain(x) }
        })
        .collect();
    let deeper = Network { population: network.population * MORE, ..network.clone() };
    let x = solve_demands(&deeper, &demands(network, at)).throughput;
    found.push(Elasticity { of: more.to_owned(), buys_percent: gain(x) });
    found.sort_by(|a, b| b.buys_percent.total_cmp(&a.buys_percent));
    found
}

fn ceilings(network: &Network, at: &Evaluated, label: impl Fn(usize) -> String) -> Vec<Ceiling> {
    let mut found: Vec<Ceiling> = network
        .stations
        .iter()
        .zip(&at.demand)
        .enumerate()
        .filter(|(_, (_, demand))| **demand > 0.0)
        .map(|(place, (station, demand))| Ceiling {
            resource: label(place),
            kind: station.resource.kind(),
            operations_per_second: 1.0 / demand,
            throughput: network.bytes / demand,
        })
        .collect();
    let alone = demands(network, at).alone();
    found.push(Ceiling {
        resource: format!("{} under way", network.population),
        kind: CeilingKind::Depth,
        operations_per_second: network.population / alone,
        throughput: network.bytes * network.population / alone,
    });
    found.sort_by(|a, b| a.operations_per_second.total_cmp(&b.operations_per_second));
    found
}
