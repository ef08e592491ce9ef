//! How large is it? Pure arithmetic, layer by layer, from the sizes of drives to what a person can use.
//!
//! Block devices come out to the byte, because their tools define them; file systems as `df` shows them when they are
//! empty. Every constant says where it comes from. It knows nothing of speed and nothing of a machine.

mod account;
mod bounds;
mod btrfs;
mod drive;
mod error;
mod ext4;
mod integrity;
mod luks;
mod lvm;
mod md;
mod place;
mod room;
mod sizes;
mod xfs;
mod zfs;

pub use account::account;
pub use bounds::smallest_device;
pub use drive::DriveSize;
pub use error::CapacityError;
pub use lvm::{larger_chunk, thin_size, volume_share};
pub use room::room_to_work;
pub use sizes::SizeBounds;
