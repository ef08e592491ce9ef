//! Carries out a plan through the door, and takes it back.
//!
//! Nothing runs that is not in the plan; nothing is written to a drive, and nothing on it taken away, past the
//! [`Authority`] over it. Every step is journalled before it runs. A step whose effect is there already is left alone if this plan's
//! journal says that we made it, and refused otherwise.

mod above;
mod apply;
mod authority;
mod error;
mod journal;
mod lanes;
mod leftover;
mod machine;
mod needs;
mod orphans;
mod retry;
mod sanitize;
mod standing;
mod teardown;

pub use apply::{Built, apply};
pub use authority::{Authority, Claims, erase};
pub use error::BuildError;
pub use journal::{Journal, JournalEntry, Made, MemoryJournal, Origin, has_unmarked, origin, owners, standing};
pub use lanes::{Lane, waves};
pub use machine::{Bindings, found_on, prove_blank};
pub use needs::Prerequisites;
pub use orphans::settle;
pub use teardown::{commands_left, commands_then, teardown};
