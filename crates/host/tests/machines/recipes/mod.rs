//! The machines. Five are those of published write-ups, rebuilt from what these say of them; what they do not say
//! (serial numbers, firmware, wear, the system drive) is made up.

mod desktops;
mod enclosure;
mod guests;
mod nas;
mod pools;
mod servers;

pub use enclosure::enclosure;

use super::Machine;

/// All of them by name.
pub fn all() -> Vec<(&'static str, Machine)> {
    vec![
        ("bifurcated-pair", desktops::bifurcated_pair()),
        ("four-firecuda", desktops::four_firecuda()),
        ("laptop", desktops::laptop()),
        ("laptop-as-user", desktops::laptop_as_user()),
        ("p500", servers::p500()),
        ("r720", servers::r720()),
        ("dl360", servers::dl360()),
        ("zfs-box", pools::zfs_box()),
        ("btrfs-box", pools::btrfs_box()),
        ("nas", nas::nas()),
        ("qemu-guest", guests::qemu_guest()),
        ("virtio-vm", guests::virtio_vm()),
        ("enclosure", enclosure()),
    ]
}

/// 4096-byte blocks on the way through a mapping or an array: what both of them say.
const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
