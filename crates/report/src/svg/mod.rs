//! Drawings as SVG text, made by hand: no scripts, no fonts, nothing from elsewhere.
//!
//! Charts have no `viewBox`: they are as wide as the page lets them be, horizontal places are percentages, and text
//! keeps its size on every screen. Colours come from classes of the page's style sheet, so dark and print follow it.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod canvas;
pub(crate) mod ceilings;
pub(crate) mod curve;
pub(crate) mod latency;
pub(crate) mod layout;
pub(crate) mod machine;
pub(crate) mod places;
pub(crate) mod ratios;
pub(crate) mod spark;
pub(crate) mod stack;
