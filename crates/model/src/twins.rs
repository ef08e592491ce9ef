//! Nodes of a stack that are alike and are asked for the same: one station with several units stands for them.
//!
//! Ten thousand drives with a mapping on each are one kind of drive and one kind of mapping.

use terms::{Node, Ref, Stack};

use crate::flow::Flow;
use crate::network::{Network, Resource};

/// Which nodes stand for which.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    /// For each node, the first that is alike: the same layer over the same.
    alike: Vec<u32>,
    /// How many are alike, by the first of them.
    many: Vec<u32>,
    /// For each node, the one that stands for it.
    stands: Vec<u32>,
    /// How many a node stands for, by its number.
    units: Vec<u32>,
    /// Of kinds of which there are several: kind, what they are asked for, who stands for them.
    seen: Vec<(u32, Vec<Flow>, u32)>,
}

impl Twins {
    pub(crate) fn clear(&mut self) {
        for list in [&mut self.alike, &mut self.many, &mut self.stands, &mut self.units] {
            list.clear();
        }
        self.seen.clear();
    }

    /// Takes the next node of a stack.
    pub(crate) fn meet(&mut self, stack: &Stack, node: &Node, class: impl Fn(&str) -> Option<u32>) {
        let at = self.alike.len();
        let under = |below: &Ref| match below {
            Ref::Drive(name) => (true, class(name.as_str())),
            Ref::Layer(name) => {
                let place = stack.nodes[..at].iter().position(|other| &other.name == name);
                (false, place.map(|place| self.alike[place]))
            }
        };
        let same = |&other: &usize| {
            let other = &stack.nodes[other];
            other.layer == node.layer
                && other.on.len() == node.on.len()
                && other.on.iter().zip(&node.on).all(|(a, b)| under(a) == under(b))
        };
        let first = (0..at).filter(|&other| self.alike[other] as usize == other).find(same).unwrap_or(at);
        self.alike.push(narrow(first));
        self.many.push(0);
        self.many[first] += 1;
        self.stands.push(narrow(at));
        self.units.push(0);
    }

    /// Finds who stands for a node that is asked for this.
    pub(crate) fn locate(&mut self, at: usize, flows: &[Flow]) {
        let kind = self.alike[at];
        if self.many[kind as usize] > 1 {
            match self.seen.iter().find(|(other, asked, _)| *other == kind && asked == flows) {
                Some((.., stands)) => self.stands[at] = *stands,
                None => self.seen.push((kind, flows.to_vec(), narrow(at))),
            }
        }
        self.units[self.stands[at] as usize] += 1;
    }

    /// The number of the node that stands for one.
    pub(crate) fn of(&self, at: usize) -> u32 {
        self.stands.get(at).copied().unwrap_or(0)
    }

    /// Shares the work of stations that stand for several.
    pub(crate) fn share(&self, network: &mut Network) {
        if self.seen.is_empty() {
            return;
        }
        let units = |resource: Resource| match resource {
            Resource::Workers(at) | Resource::Completions(at) | Resource::Serial(_, at) | Resource::Vdev(at) => {
                f64::from(self.units.get(at as usize).copied().unwrap_or(1).max(1))
            }
            _ => 1.0,
        };
        for part in &mut network.parts {
            if let Some(station) = network.stations.get(usize::from(part.station)) {
                part.factor /= units(station.resource);
            }
        }
        for station in &mut network.stations {
            let units = units(station.resource);
            station.units *= units;
            station.demand /= units;
            station.residence /= units;
        }
    }
}

/// Stacks have fewer nodes than 32 bits count.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
