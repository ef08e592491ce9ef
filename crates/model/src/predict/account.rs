//! The account of a prediction: names of resources, the sum behind each demand, every value that was put in.

use terms::Stack;
use terms::prediction::{Demand, Prediction, Term};

use crate::monte_carlo::used;
use crate::network::{Network, Part, Resource, Station};
use crate::parameter::Parameter;
use crate::site::Site;

/// The name of a resource.
pub(super) fn label(site: &Site, stack: &Stack, network: &Network, at: usize) -> String {
    let station = &network.stations[at];
    let node = |at: u32| stack.nodes.get(at as usize).map_or_else(String::new, |node| node.layer.title());
    match station.resource {
        Resource::Drive(class, _) => format!("drive {}", group(site, stack, class, station)),
        Resource::Turns(class, _) => format!("turns of {}", group(site, stack, class, station)),
        Resource::LinkUp(class, _) => format!("link of {} to the processor", group(site, stack, class, station)),
        Resource::LinkDown(class, _) => format!("link of {} from the processor", group(site, stack, class, station)),
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
        Resource::Serial(what, _) => what.word().to_owned(),
        Resource::Vdev(_) => "writes under way on a vdev".to_owned(),
    }
}

/// A drive by its own name, several by that of their class: drives that are alike are one class, named after one.
fn group(site: &Site, stack: &Stack, class: u32, station: &Station) -> String {
    let all = &site.classes[class as usize].name;
    if station.units > 1.0 {
        return format!("{all} ({} of them)", station.units);
    }
    let own = stack.drives().into_iter().find(|name| {
        let drive = site.drive(name.as_str());
        drive.is_some_and(|drive| site.drives.get(drive as usize) == Some(&class))
    });
    own.map_or_else(|| all.clone(), |name| name.to_string())
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
