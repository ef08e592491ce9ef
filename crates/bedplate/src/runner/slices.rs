//! Slices: a partition of every drive for every stack, so that all stacks stand side by side.
//!
//! Where on a drive a stack lies changes from round to round by a cyclic Latin square: after as many rounds as there
//! are stacks, each has lain everywhere once. What differs between the regions of a drive then falls on all alike.

use terms::plan::partition_of;
use terms::units::MIB;

use crate::exit::Failure;
use crate::runner::{Runner, order};
use crate::site::Site;
use crate::slices::{count, size};

/// How drives are sliced.
#[derive(Debug, Clone)]
pub(crate) struct Slices {
    /// Slices of every drive: one for each stack, and one that stays bare.
    count: usize,
    /// Which slice each stack has in round 0.
    start: Vec<usize>,
}

impl Slices {
    fn new(stacks: usize, seed: u64) -> Self {
        Self { count: count(stacks), start: order::shuffled(stacks, seed, "slices") }
    }

    /// The slice of a stack in a round, from 1.
    fn of(&self, round: u32, stack: usize) -> usize {
        (self.start[stack] + round as usize) % self.start.len() + 1
    }

    /// Every drive's slice for a stack.
    pub(crate) fn bindings(&self, site: &Site, round: u32, stack: usize) -> build::Bindings {
        let slice = self.of(round, stack);
        site.drives().iter().map(|(name, node)| (name.clone(), partition_of(node, slice))).collect()
    }

    /// The first drive and the slice of it that stays bare: name, whole drive, slice.
    pub(crate) fn bare(&self, site: &Site) -> Option<(String, String, String)> {
        let (name, node) = site.drives().iter().next()?;
        Some((name.to_string(), node.clone(), partition_of(node, self.count)))
    }
}

impl Runner<'_> {
    /// Partitions every drive.
    pub(crate) fn slice(&self, site: &Site, round: u32) -> Result<Slices, Failure> {
        let slices = Slices::new(self.plans.len(), self.design.measure.seed);
        self.progress.now(&format!("round {round}: slicing the drives in {}", slices.count));
        for drive in &self.design.lab.drives {
            let Some(node) = site.drives().get(&drive.name) else { continue };
            let size = size(drive.size, slices.count).0 / MIB;
            self.authority(site, site.drives())?.slice(&drive.name, size, slices.count as u64)?;
            for slice in 1..=slices.count {
                site.await_node(&partition_of(node, slice))?;
            }
        }
        Ok(slices)
    }
}

impl Runner<'_> {
    /// Takes the slices of a round away, and what the drives held.
    pub(crate) fn unslice(&self, site: &Site, round: u32) -> Result<(), Failure> {
        let authority = self.authority(site, site.drives())?;
        for name in site.drives().keys() {
            authority.unslice(name)?;
            self.forget(site, round, "", name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_stack_lies_everywhere_once() {
        let slices = Slices::new(5, 1);
        for stack in 0..5 {
            let places: BTreeSet<usize> = (1..=5).map(|round| slices.of(round, stack)).collect();
            assert_eq!(places, (1..=5).collect(), "stack {stack}");
        }
        for round in 1..=5 {
            let places: BTreeSet<usize> = (0..5).map(|stack| slices.of(round, stack)).collect();
            assert_eq!(places.len(), 5, "no two stacks share a slice in round {round}");
        }
    }
}
