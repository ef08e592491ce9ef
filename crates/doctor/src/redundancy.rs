//! How many members, devices or copies may be lost before data is.

use terms::inventory::Vdev;

use crate::words::number;

/// Members that an array of md or of the device mapper may lose for sure, when it is whole. `None`: it has no
/// redundancy, or its level is not known. What follows the level's name (`raid5_ls`) is its layout.
pub(crate) fn of_level(level: &str, devices: u32) -> Option<u32> {
    match level.split('_').next().unwrap_or_default() {
        "raid1" => Some(devices.saturating_sub(1)),
        "raid4" | "raid5" | "raid10" => Some(1),
        "raid6" => Some(2),
        _ => None,
    }
}

/// Members that such an array may lose at most. Of RAID-10 it depends on which: the kernel lets none fail that holds a last copy
/// (`_enough` in `drivers/md/raid10.c`).
pub(crate) fn at_most_of_level(level: &str, devices: u32) -> Option<u32> {
    if level.starts_with("raid10") { None } else { of_level(level, devices) }
}

/// Devices that a virtual device of a pool may lose.
pub(crate) fn of_vdev(vdev: &Vdev) -> u64 {
    let digit = |rest: &str| rest.chars().next().and_then(|digit| digit.to_digit(10)).map_or(1, u64::from);
    if vdev.kind == "mirror" {
        number(vdev.children.len()).saturating_sub(1)
    } else if let Some(rest) = vdev.kind.strip_prefix("raidz").or_else(|| vdev.kind.strip_prefix("draid")) {
        digit(rest)
    } else {
        0
    }
}

/// A profile of btrfs: how many devices it may lose, how many copies of a block it keeps, and on how many devices it
/// can be made (mkfs.btrfs(8), PROFILES).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) may_lose: u32,
    pub(crate) copies: u32,
    pub(crate) devices: usize,
}

const fn profile(name: &'static str, may_lose: u32, copies: u32, devices: usize) -> Profile {
    Profile { name, may_lose, copies, devices }
}

/// From the least redundancy to the most. Copies come before parity, which has a write hole.
pub(crate) const PROFILES: [Profile; 9] = [
    profile("raid0", 0, 1, 1),
    profile("single", 0, 1, 1),
    profile("dup", 0, 2, 1),
    profile("raid5", 1, 1, 2),
    profile("raid1", 1, 2, 2),
    profile("raid10", 1, 2, 2),
    profile("raid6", 2, 1, 3),
    profile("raid1c3", 2, 3, 3),
    profile("raid1c4", 3, 4, 4),
];

/// The profile of a name; `None` where nobody here knows it.
pub(crate) fn of_profile(name: &str) -> Option<Profile> {
    PROFILES.into_iter().find(|profile| profile.name == name)
}

/// The one of several with the most redundancy; `None` where one of them is not known.
pub(crate) fn most<T: AsRef<str>>(names: &[T]) -> Option<Profile> {
    let known: Option<Vec<Profile>> = names.iter().map(|name| of_profile(name.as_ref())).collect();
    known?.into_iter().max_by_key(|profile| PROFILES.iter().position(|other| other == profile))
}
