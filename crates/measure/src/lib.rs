//! Runs fio on a stack that stands and keeps what it and the machine say, raw.
//!
//! No statistics live here beyond what is needed to refuse a number: a job that failed, fell short or contradicts
//! itself yields no reading. A cell can only be measured on what [`fill`] wrote, because it wants what `fill` gives.

mod cell;
mod counters;
mod error;
mod fio;
mod guards;
mod job;

pub use cell::{CellRequest, Measured, measure};
pub use counters::{Snapshot, snapshot};
pub use error::MeasureError;
pub use fio::{FioOutput, parse};
pub use job::{Filled, Job, fill, fill_job, job};
pub use terms::plan::Place;
