//! Partitions in which nobody keeps files: what loaders start from, and what a table needs for itself.

use terms::Bytes;
use terms::inventory::{Node, Partition};

use crate::machine::Machine;

/// Kinds by what the table calls them: UUIDs of GPT and numbers of MS-DOS (`include/pt-gpt-partnames.h` and
/// `include/pt-mbr-partnames.h` of util-linux).
const KINDS: [&str; 9] = [
    // Where GRUB puts its image on machines with a BIOS, and what FreeBSD and PowerPC start from.
    "21686148-6449-6e6f-744e-656564454649",
    "83bd6b9d-7f41-11dc-be0b-001560b84f0f",
    "9e1a2d38-c612-4316-aa26-8b49521e5a8b",
    "0x41",
    // Room that Windows and ZFS keep free.
    "e3c9e316-0b5c-4db8-817d-f92df00215ae",
    "6a945a3b-1dd2-11b2-99a6-080020736631",
    // A list of other partitions.
    "0x5",
    "0xf",
    "0x85",
];

/// What the kernel gives an extended partition to itself at most: two sectors or one of 4096 bytes. The rest are its logical ones
/// (`parse_extended` in the kernel's `block/partitions/msdos.c`).
const EXTENDED: Bytes = Bytes(4096);
/// Where partitions for files begin since 2009 (`parted`, `fdisk`): below it only loaders have room.
const FIRST: Bytes = Bytes::mib(1);
/// The first sector that a GPT with 128 entries leaves free (UEFI Specification, "GPT overview"): installers put there what they reserve.
const BEHIND_TABLE: Bytes = Bytes(34 * 512);

/// Does somebody keep files in a partition?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Files,
    Reserved,
    /// It stands where what is reserved stands, and what it is for was not read.
    Unknown,
}

/// What a partition of a drive is for.
pub(crate) fn purpose(machine: &Machine, drive: &Node, node: &Node, partition: &Partition) -> Purpose {
    if partition.kind.as_deref().is_some_and(|kind| KINDS.contains(&kind)) {
        return Purpose::Reserved;
    }
    let is_list = node.size.0 > 0 && node.size <= EXTENDED;
    if is_list || end(machine, drive, node, partition).is_some_and(|end| end <= FIRST) {
        return Purpose::Reserved;
    }
    let is_signed = node.signatures.known().is_some_and(|all| !all.is_empty());
    let is_open = partition.kind.is_none() && !is_signed && machine.on_top_of(&node.name).is_empty();
    if is_open && partition.start == BEHIND_TABLE { Purpose::Unknown } else { Purpose::Files }
}

/// Where it ends, or where the next one begins.
fn end(machine: &Machine, drive: &Node, node: &Node, partition: &Partition) -> Option<Bytes> {
    if node.size.0 > 0 {
        return Some(Bytes(partition.start.0.saturating_add(node.size.0)));
    }
    let others = machine.on_top_of(&drive.name).iter().filter_map(|other| Some(other.partition.as_ref()?.start));
    others.filter(|start| *start > partition.start).min()
}
