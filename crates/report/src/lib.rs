//! Findings to text: a terminal table, one self-contained HTML page, CSV and JSON.
//!
//! Everything here is a pure function of [`terms::finding::Findings`]: no clock, no files, no randomness, so the same
//! findings give the same bytes. There is no arithmetic except layout and the scaling of units; what a number means
//! was decided by `analyse`.
//!
//! Three promises hold in every form of the report: no stack and no workload of the study is ever silently absent, a
//! cell that failed has a reason and no figure, and rates from an emulated machine carry a label that says so.

pub mod advice;
pub mod columns;
mod confidence;
pub mod diagnosis;
pub mod expectation;
pub mod machine;
pub mod stack;
pub mod style;
pub mod table;

mod account;
mod answer;
mod brief;
mod csv;
mod evidence;
mod fastest;
mod feature_checks;
mod figure;
mod grid;
mod grouped;
mod html;
mod json;
mod listing;
mod notes;
mod options;
mod outlook;
mod prose;
mod quantity;
mod runs;
mod sections;
mod share;
mod sheet;
mod svg;
mod terminal;
mod tree;
mod width;

pub use account::account_table;
pub use brief::brief;
pub use csv::{comparisons_csv, csv};
pub use feature_checks::{feature_checks_json, feature_checks_text};
pub use figure::measured;
pub use html::{html, html_whole};
pub use json::{JSON_SCHEMA, JSON_VERSION, json};
pub use machine::{machine_sheet, machine_tree};
pub use outlook::outlook_table;
pub use runs::{runs_html, runs_json, runs_limit, runs_text};
pub use share::{card, markdown};
pub use stack::stack_drawing;
pub use style::Style;
pub use terminal::terminal;
pub use width::{paragraph, shorten_middle};
