//! Runs fio on a stack that stands and keeps what it and the machine say, raw.
//!
//! No statistics live here beyond what is needed to refuse a number: a job that failed, fell short or contradicts
//! itself yields no reading. A cell can only be measured on what [`fill`] wrote, because it wants what `fill` gives.

mod amplification;
mod bottleneck;
mod cell;
mod conditions;
mod copy;
mod counted;
mod counters;
mod error;
mod fio;
mod gate;
mod guards;
mod imitate;
mod job;
mod latency_log;
mod log;
mod longer;
mod mount;
mod on;
mod own_work;
mod path;
mod probe;
mod request;
mod resync;
mod together;
mod watch;
mod workplace;

pub use cell::measure;
pub use claim::Writable;
pub use copy::source::CopySource;
pub use counters::{Snapshot, snapshot};
pub use error::MeasureError;
pub use fio::{FioOutput, JobOutputs, parse};
pub use gate::{Told, told};
pub use guards::{may_pass, reference as guards_reference};
pub use job::{Filled, Job, fill, fill_job, job, job_at};
pub use on::On;
pub use own_work::idle;
pub use request::{CellRequest, Companion, LongerRule, Measured};
pub use terms::plan::WorkPlace;
pub use workplace::run;
