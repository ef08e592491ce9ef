//! Tests that boot real guests. Those that assert figures take turns: two guests on two cores measure each other.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "a test may panic and talk")]

#[path = "lab/bench.rs"]
mod bench;
#[path = "lab/beside.rs"]
mod beside;
#[path = "lab/cage.rs"]
mod cage;
#[path = "lab/claims.rs"]
mod claims;
#[path = "lab/clock.rs"]
mod clock;
#[path = "lab/crashes.rs"]
mod crashes;
#[path = "lab/drives.rs"]
mod drives;
#[path = "lab/ending.rs"]
mod ending;
#[path = "lab/feature_checks.rs"]
mod feature_checks;
#[path = "lab/guards.rs"]
mod guards;
#[path = "lab/hdd.rs"]
mod hdd;
#[path = "lab/hostile.rs"]
mod hostile;
#[path = "lab/hosts.rs"]
mod hosts;
#[path = "lab/kernels.rs"]
mod kernels;
#[path = "lab/overhead.rs"]
mod overhead;
#[path = "lab/places.rs"]
mod places;
#[path = "lab/policies.rs"]
mod policies;
#[path = "lab/predicted.rs"]
mod predicted;
#[path = "lab/remedies.rs"]
mod remedies;
#[path = "lab/remote.rs"]
mod remote;
#[path = "lab/reuse.rs"]
mod reuse;
#[path = "lab/runs.rs"]
mod runs;
#[path = "lab/saved.rs"]
mod saved;
#[path = "lab/scripts.rs"]
mod scripts;
#[path = "lab/sizes.rs"]
mod sizes;
#[path = "lab/stacks.rs"]
mod stacks;
#[path = "lab/states.rs"]
mod states;
#[path = "lab/writes.rs"]
mod writes;
