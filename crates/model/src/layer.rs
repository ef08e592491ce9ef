//! The algebra of layers: what each makes of what it is asked for. One file for each kind.

pub(crate) mod array;
mod btrfs;
mod crypt;
pub(crate) mod drive;
mod flush;
mod integrity;
mod resync;
pub(crate) mod turns;
mod volume;
mod zfs;
