//! Tests that boot real guests. They take turns: two guests on two cores measure each other.

#[path = "lab/bench.rs"]
mod bench;
#[path = "lab/drives.rs"]
mod drives;
#[path = "lab/ending.rs"]
mod ending;
#[path = "lab/overhead.rs"]
mod overhead;
#[path = "lab/runs.rs"]
mod runs;
#[path = "lab/stacks.rs"]
mod stacks;
