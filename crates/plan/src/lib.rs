//! From a stack to the exact commands that build it, each with its reason and its undo.
//!
//! Pure: no input or output, no clock, no randomness; the same stack and the same drives give the same bytes.
//! A plan names drives by the study's names and never by a kernel name, runs nothing with force, and keeps
//! every key out of its words. Who runs a plan, and whether it may, is decided elsewhere.

mod block;
mod diff;
mod digest;
mod draft;
mod error;
mod existing;
mod line;
mod lint;
mod mounted;
mod naming;
mod need;
mod place;
mod prepare;
mod render;
mod script;
mod setting;
mod steps;

pub use capacity::DriveSize;
pub use diff::diff;
pub use digest::digest;
pub use error::PlanError;
pub use existing::existing;
pub use lint::lint;
pub use prepare::{PREPARED, PreparedDrive, prepare};
pub use render::render;
pub use script::script;
pub use steps::{plan, plans};
