//! How fast a stack will be, before it is built.
//!
//! A stack under a workload becomes a closed network of queues (drives, links, threads, cores, locks), one demand for
//! each: [`Compiler`]. [`solve`](solve::solve) tells throughput and latency; [`predict`] adds intervals, the limit, and
//! what everything came from. Every constant is in [`parameter`], with its source.
//!
//! Pure: the same stack on the same machine gives the same prediction, to the last bit.

mod assignment;
mod baseline;
mod cached;
mod calibrated;
mod calls;
mod compile;
mod compiler;
pub mod exact;
mod fault;
mod fit;
mod flash;
mod flow;
mod found;
mod hdd;
mod layer;
mod limited;
mod link;
mod monte_carlo;
mod network;
mod page_cache;
pub mod parameter;
pub mod parameters;
mod predict;
mod processor;
mod queue;
mod sheet;
mod site;
pub mod solve;
mod symmetry;
mod work;

pub use assignment::{Assignment, assignment, drives};
pub use baseline::with_baseline;
pub use calibrated::with_measured;
pub use compiler::{Compiler, Conditions};
pub use fault::Fault;
pub use fit::fit;
pub use found::found;
pub use limited::limited;
pub use network::{Network, Resource, Serial, Station};
pub use parameter::Parameter;
pub use parameters::Parameters;
pub use predict::predict;
pub use site::Site;
