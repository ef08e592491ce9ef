//! What a report says, in order: one table that the terminal and the page both walk.

use crate::evidence::{
    burst, compat, curves, drives, flush, hosts, layers, parts, path_lost, places, predicted, preflight,
};
use crate::grid::Grid;
use crate::listing::Listing;
use crate::style::Style;

/// A section of the report. Each form draws it in its way, or has nothing for it.
#[derive(Clone, Copy)]
pub(crate) enum Section {
    /// Figures of every stack, and their ratios to the first.
    Ratios,
    /// Each workload: figures, latency, ranks, what limits.
    Workloads,
    /// Stacks side by side, as the study asks for.
    SideBySide,
    /// How far the figures can be believed.
    Trust,
    /// Throughput over time.
    Time,
    /// What was tried on each stack.
    FeatureChecks,
    /// The table of all figures.
    Figures,
    /// Tables of words, which both forms lay out.
    Tables(fn(&Grid, &Style) -> Vec<Listing>),
    /// What each stack is made of.
    Stacks,
    /// How long building took.
    Builds,
    /// The machine.
    Machine,
    /// What nobody should believe was checked.
    NotChecked,
    /// How it was measured, and how to run it again.
    Method,
}

/// All sections, in the order in which every form of the report has them.
pub(crate) const SECTIONS: [Section; 24] = [
    Section::Ratios,
    Section::Workloads,
    Section::SideBySide,
    Section::Trust,
    Section::Time,
    Section::FeatureChecks,
    Section::Figures,
    Section::Tables(|grid, _| one(preflight::listing(grid.findings))),
    Section::Tables(|grid, style| one(predicted::listing(grid.findings, style))),
    Section::Tables(|grid, _| one(flush::listing(grid))),
    Section::Tables(|grid, style| one(burst::listing(grid.findings, style))),
    Section::Tables(|grid, style| one(places::listing(grid.findings, style))),
    Section::Tables(|grid, style| one(hosts::listing(grid.findings, style))),
    Section::Tables(|grid, style| one(parts::listing(grid.findings, style))),
    Section::Tables(|grid, style| one(path_lost::listing(grid.findings, style))),
    Section::Tables(|grid, style| one(drives::listing(grid.findings, style))),
    Section::Tables(|grid, _| one(layers::listing(grid.findings))),
    Section::Tables(|grid, _| one(curves::listing(grid.findings))),
    Section::Tables(|grid, _| compat::listings(grid.findings)),
    Section::Stacks,
    Section::Builds,
    Section::Machine,
    Section::NotChecked,
    Section::Method,
];

fn one(listing: Option<Listing>) -> Vec<Listing> {
    listing.into_iter().collect()
}
