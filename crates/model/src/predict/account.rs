//! The account of a prediction: names of resources, the sum behind each demand, every value that was put in.

use terms::Stack;
use terms::prediction::{Demand, Prediction, Term};

use crate::monte_carlo::used;
use crate::network::{Network, Part, Resource, Serial, Station};
use crate::parameter::Parameter;
use crate::site::Site;

/// The name of a resource.
pub(super) fn label(site: &Site, stack: &Stack, network: &Network, at: usize) -> String {
    let station = &network.stations[at];
    let node = |at: u32| stack.nodes.get(at as usize).map_or_else(String::new, |node| node.layer.title());
    match station.resource {
        Resource::Drive(class, _) => drives(site, stack, class, station),
        // Who hands out pieces sleeps while one of them has no room, and the others have nothing to do.
        Resource::Turns(class, _) => format!("{}, which wait for one another", drives(site, stack, class, station)),
        Resource::LinkUp(class, _) => format!("{} to the processor", links(site, stack, class, station)),
        Resource::LinkDown(class, _) => format!("{} from the processor", links(site, stack, class, station)),
        Resource::Uplink(at, write) => {
            let way = if write { "from" } else { "to" };
            format!("{} {way} the processor", site.uplinks[at as usize].name)
        }
        Resource::Memory => "memory".to_owned(),
        Resource::Cores => "all cores".to_owned(),
        Resource::Thread if station.units > 1.0 => format!("threads of {} jobs", station.units),
        Resource::Thread => "submitting thread".to_owned(),
        Resource::Completions(at) => format!("completions under {}", node(at)),
        Resource::Workers(at) => format!("workers of {}", node(at)),
        // No other level is without redundancy, and RAID-0 has no lock: each operation is counted in one place.
        Resource::Serial(Serial::ArrayLock, at) if !stack.nodes[at as usize].layer.is_redundant() => {
            format!("operations counter of {}", node(at))
        }
        Resource::Serial(what, _) => what.word().to_owned(),
        Resource::Vdev(_) => "writes under way on a vdev".to_owned(),
    }
}

/// So many drives are called by their own names.
const NAMED: usize = 3;

/// `drive a`, `drives a and b`, `4 drives like a`: drives that are alike are one class, named after one.
fn drives(site: &Site, stack: &Stack, class: u32, station: &Station) -> String {
    let (names, all) = (names(site, stack, class), &site.classes[class as usize].name);
    match names.as_slice() {
        _ if station.units <= 1.0 => format!("drive {}", names.first().unwrap_or(all)),
        [first @ .., last] if names.len() <= NAMED && is_all(&names, station) => {
            format!("drives {} and {last}", first.join(", "))
        }
        _ => format!("{} drives like {all}", station.units),
    }
}

/// The same of their links.
fn links(site: &Site, stack: &Stack, class: u32, station: &Station) -> String {
    match drives(site, stack, class, station) {
        one if station.units <= 1.0 => one.replacen("drive ", "link of ", 1),
        several => format!("links of {several}"),
    }
}

/// Drives of a class that the stack has, in its order.
fn names(site: &Site, stack: &Stack, class: u32) -> Vec<String> {
    let is_of = |name: &str| site.drive(name).is_some_and(|drive| site.drives.get(drive as usize) == Some(&class));
    stack.drives().into_iter().map(|name| name.to_string()).filter(|name| is_of(name)).collect()
}

/// Are these all that the station has?
#[expect(clippy::cast_precision_loss, reason = "drives of a stack are few beside 2^53")]
fn is_all(names: &[String], station: &Station) -> bool {
    (names.len() as f64 - station.units).abs() < 0.5
}

/// Writes the demands and the inputs into a prediction.
pub(super) fn write(prediction: &mut Prediction, site: &Site, stack: &Stack, network: &Network) {
    let values = site.parameters.values();
    let used = used(network);
    let place = |value: u32| used.binary_search(&value).ok();
    let term = |part: &Part| Term {
        why: part.why.to_owned(),
        factor: part.factor,
        inputs: [part.by[0], part.by[1], part.over]
            .into_iter()
            .filter(|&value| value != Parameter::One.place())
            .filter_map(place)
            .collect(),
        product: part.worth(values) * 1e9,
    };
    let of = |at: u16| network.parts.iter().filter(move |part| part.station == at).map(term).collect::<Vec<_>>();
    prediction.demands = network
        .stations
        .iter()
        .enumerate()
        .map(|(at, station)| Demand {
            resource: label(site, stack, network, at),
            units: station.units,
            demand: station.demand * 1e9,
            terms: of(u16::try_from(at).unwrap_or(u16::MAX)),
        })
        .filter(|demand| !demand.terms.is_empty())
        .collect();
    let waits = of(crate::network::DELAY);
    if !waits.is_empty() {
        let demand = waits.iter().map(|term| term.product).sum();
        prediction.demands.push(Demand { resource: "waiting".to_owned(), units: 1.0, demand, terms: waits });
    }
    prediction.inputs = used.iter().map(|&value| site.parameters.input(value)).collect();
}
