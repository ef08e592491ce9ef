//! How long will it last? Rebuilds and scrubs, what is written and how soon drives are worn, and what is lost in a year.
//!
//! Pure arithmetic over a stack, its drives and a few speeds, with every constant's source beside it, and a simulation
//! that checks the closed forms. What is not known is a spread, and spreads are carried through to the end.
#![expect(clippy::cast_precision_loss, reason = "counts of drives and of events are far below 2^53")]

mod arrangement;
mod classes;
mod healing;
mod loss;
mod outlook;
mod parts;
mod rebuild;
mod simulate;
mod writes;

pub use arrangement::{Arrangement, arrangement};
pub use classes::{class, classes, of_daily, of_written};
pub use healing::healing;
pub use loss::{Circumstances, Hazards, loss};
pub use outlook::{CORRELATION, Daily, DriveModel, Given, REPLACE, lifetime, outlook};
pub use rebuild::{RESYNC_CAP, RESYNC_FLOOR, Speeds, rebuild, scrub};
pub use simulate::{Simulated, simulate};
pub use writes::{Write, amplification, flash, life};
