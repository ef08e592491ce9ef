//! Nodes of a stack that are alike and are asked for the same: one station with several units stands for them.
//!
//! Ten thousand drives with a mapping on each are one kind of drive and one kind of mapping.

use std::collections::HashMap;

use terms::{LayerNode, Name, Stack};

use crate::flow::Flow;
use crate::network::{Network, Resource};

/// What a node rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Below {
    /// A drive of the machine.
    Drive(u32),
    /// A node, by its place.
    Layer(usize),
}

/// Nodes by their names: an index where there are many, a look at each where there are few.
pub(crate) struct Names<'a>(Option<HashMap<&'a str, usize>>);

/// Nodes up to which a look at each is quicker than an index.
const FEW: usize = 16;

impl<'a> Names<'a> {
    pub(crate) fn of(stack: &'a Stack) -> Self {
        let index = || stack.nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
        Self((stack.nodes.len() > FEW).then(index))
    }

    /// The place of a node before `end`.
    pub(crate) fn find(&self, stack: &Stack, end: usize, name: &Name) -> Option<usize> {
        match &self.0 {
            Some(index) => index.get(name.as_str()).copied().filter(|&at| at < end),
            None => stack.nodes[..end].iter().position(|other| &other.name == name),
        }
    }
}

/// Which nodes stand for which.
#[derive(Debug, Default)]
pub(crate) struct SymmetryClasses {
    /// For each node, the first that is alike: the same layer over the same.
    alike: Vec<u32>,
    /// The first of each kind.
    kinds: Vec<u32>,
    /// How many are alike, by the first of them.
    many: Vec<u32>,
    /// For each node, the one that stands for it.
    stands: Vec<u32>,
    /// How many a node stands for, by its number.
    units: Vec<u32>,
    /// For each node, the next of those that the same node stands for.
    next: Vec<Option<u32>>,
    /// Of kinds of which there are several: kind, who stands for those that are asked for the same.
    seen: Vec<(u32, u32)>,
}

impl SymmetryClasses {
    /// Forgets a stack.
    pub(crate) fn clear(&mut self) {
        self.alike.clear();
        self.kinds.clear();
        self.many.clear();
        self.begin();
    }

    /// Forgets what was asked for.
    pub(crate) fn begin(&mut self) {
        self.seen.clear();
        let len = self.alike.len();
        self.units.clear();
        self.units.resize(len, 0);
        self.next.clear();
        self.next.resize(len, None);
        self.stands.clear();
        self.stands.extend(0..narrow(len));
    }

    /// Takes the next node of a stack; `below` and `starts` tell what it and those before it rest on.
    pub(crate) fn meet(&mut self, stack: &Stack, node: &LayerNode, below: &[Below], starts: &[usize], classes: &[u32]) {
        let at = self.alike.len();
        let kind = |under: &Below| match *under {
            Below::Drive(drive) => (true, classes[drive as usize]),
            Below::Layer(place) => (false, self.alike[place]),
        };
        let own = &below[starts[at]..];
        let same = |&&other: &&u32| {
            let place = other as usize;
            let theirs = &below[starts[place]..starts[place + 1]];
            stack.nodes[place].layer == node.layer
                && theirs.len() == own.len()
                && theirs.iter().zip(own).all(|(a, b)| kind(a) == kind(b))
        };
        let first = self.kinds.iter().find(same).copied();
        let first = first.unwrap_or_else(|| {
            self.kinds.push(narrow(at));
            narrow(at)
        });
        self.alike.push(first);
        self.many.push(0);
        self.many[first as usize] += 1;
    }

    /// Finds who stands for a node; all of its kind have been asked for what `flows` says.
    pub(crate) fn locate(&mut self, at: usize, flows: &[Vec<Flow>]) {
        let kind = self.alike[at];
        if self.many[kind as usize] > 1 {
            let same = |&&(other, stands): &&(u32, u32)| other == kind && flows[stands as usize] == flows[at];
            match self.seen.iter().find(same) {
                Some(&(_, stands)) => {
                    self.stands[at] = stands;
                    self.next[at] = self.next[stands as usize].replace(narrow(at));
                }
                None => self.seen.push((kind, narrow(at))),
            }
        }
        self.units[self.stands[at] as usize] += 1;
    }

    /// How many a node stands for; `None` where another stands for it.
    pub(crate) fn units(&self, at: usize) -> Option<f64> {
        (self.stands[at] == narrow(at)).then(|| f64::from(self.units[at]))
    }

    /// The next of those that the same node stands for.
    pub(crate) fn next(&self, at: usize) -> Option<usize> {
        self.next[at].map(|next| next as usize)
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
            station.whole /= units;
        }
    }
}

/// Stacks have fewer nodes than 32 bits count.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
