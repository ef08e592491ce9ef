//! Places: block devices that the next layer can rest on, and what is certain about them.

use capacity::SizeBounds;
use terms::{Bytes, Name, Word};

/// A block device that the next layer can rest on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its node.
    pub(crate) node: Word,
    /// The drive, where this is the whole drive itself: writing here destroys what was on it.
    pub(crate) drive: Option<Name>,
    /// What it is to the tools that refuse some devices.
    pub(crate) kind: BlockKind,
    /// Is the most of [`Place::size`] its size to the byte, whatever version of a tool makes it?
    pub(crate) exact: bool,
    /// What is certain of its size.
    pub(crate) size: SizeBounds,
    /// Logical block size.
    pub(crate) lba: Bytes,
    /// Striping beneath, if a file system on it can make use of it.
    pub(crate) stripe: Option<Stripe>,
    /// Does it answer a damaged block with a read error rather than with wrong data?
    pub(crate) detects: bool,
    /// Does it begin between two chunks of the array beneath? The kernel then reports an `alignment_offset`.
    pub(crate) misaligned: bool,
}

/// What a block device is to the tools that refuse some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A whole drive.
    Drive,
    /// A partition or a slice of a drive: it cannot be partitioned again.
    Slice,
    /// A logical volume: LVM looks for no physical volumes on it (`scan_lvs` of lvm.conf(5)).
    Volume,
    /// An array, a mapping, a cached device.
    Mapping,
}

/// How consecutive bytes are dealt out to drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stripe {
    /// Consecutive bytes on one drive.
    pub(crate) unit: Bytes,
    /// Drives' worth of data in a full stripe.
    pub(crate) data: u64,
}

impl Stripe {
    /// A stripe, if it is one: of two or more units.
    pub(crate) fn new(unit: Bytes, data: usize) -> Option<Self> {
        (data > 1 && unit.0 > 0).then_some(Self { unit, data: data as u64 })
    }
}

/// A device that a layer rests on, under the name that the stack gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Drive or layer.
    pub(crate) name: Name,
    /// The device.
    pub(crate) place: Place,
}

/// Nodes of the members, in order.
pub(crate) fn nodes(members: &[Member]) -> impl Iterator<Item = Word> + '_ {
    members.iter().map(|member| member.place.node.clone())
}

/// Drives among the members: writing to these members destroys what was on the drives.
pub(crate) fn drives(members: &[Member]) -> Vec<Name> {
    members.iter().filter_map(|member| member.place.drive.clone()).collect()
}

/// What is certain of the size of each member.
pub(crate) fn sizes(members: &[Member]) -> Vec<SizeBounds> {
    members.iter().map(|member| member.place.size).collect()
}

/// What all members together do not exceed.
pub(crate) fn most(members: &[Member]) -> Bytes {
    Bytes(members.iter().map(|member| member.place.size.most.0).fold(0, u64::saturating_add))
}

/// The largest logical block size of all members: stacking block devices takes the largest.
pub(crate) fn largest_lba(members: &[Member]) -> Bytes {
    members.iter().map(|member| member.place.lba).max().unwrap_or(Bytes(512))
}
