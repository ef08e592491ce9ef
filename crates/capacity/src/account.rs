//! The walk over a stack, bottom to top, in which each layer takes devices and hands one up.

use std::collections::BTreeMap;

use terms::account::{Account, Purpose};
use terms::layer::{GptPartition, PartitionTables};
use terms::{Bytes, Layer, LayerNode, Name, Ref, Stack};

use crate::place::{Laid, Place, Uses, bounds, largest_lba, total};
use crate::{CapacityError, DriveSize, SizeBounds, btrfs, ext4, integrity, luks, lvm, md, xfs, zfs};

/// Accounts for every byte of a stack on drives of known size.
///
/// # Errors
/// [`CapacityError`], when the stack is not well formed or does not fit.
pub fn account(stack: &Stack, drives: &[DriveSize]) -> Result<Account, CapacityError> {
    let top = stack.top().ok_or_else(|| CapacityError::Empty { stack: stack.name.clone() })?;
    let mut walk = Walk { drives, layers: BTreeMap::new(), tables: PartitionTables::default() };
    let mut entries = Vec::with_capacity(stack.nodes.len());
    let (mut whole, mut available, mut shown) = (0, 0, None);
    for node in &stack.nodes {
        let (below, laid) = match &node.layer {
            Layer::Partition(partition) => walk.partition(stack, node, partition)?,
            _ => {
                let (members, special) = (walk.members(node, &node.on)?, walk.members(node, &node.special)?);
                let below = total(&members) + total(&special);
                (below, lay(node, &members, &special)?.ok_or_else(|| CapacityError::too_small(&node.name, below))?)
            }
        };
        entries.push(laid.entry(&node.name, node.layer.title(), below)?);
        if let Some(place) = laid.place {
            walk.layers.insert(&node.name, place);
        }
        if node.name == top.name {
            (whole, available, shown) = (laid.total, laid.above, laid.shown);
        }
    }
    let drives = stack.drives().iter().filter_map(|name| walk.drive(name)).map(|drive| drive.size.0).sum();
    Ok(Account {
        stack: stack.name.clone(),
        drives: Bytes(drives),
        entries,
        total: Bytes(whole),
        available: Bytes(available),
        shown: shown.map(Bytes),
    })
}

struct Walk<'a> {
    drives: &'a [DriveSize],
    layers: BTreeMap<&'a Name, Place>,
    tables: PartitionTables,
}

impl Walk<'_> {
    fn drive(&self, name: &Name) -> Option<&DriveSize> {
        self.drives.iter().find(|drive| &drive.name == name)
    }

    fn members(&self, node: &LayerNode, on: &[Ref]) -> Result<Vec<Place>, CapacityError> {
        on.iter().map(|below| self.member(node, below)).collect()
    }

    /// A partition, and the bytes that it answers for: its own, the first table and its alignment where it is the first of
    /// its drive, and what is behind it where it is the last.
    fn partition(
        &mut self,
        stack: &Stack,
        node: &LayerNode,
        partition: &GptPartition,
    ) -> Result<(u64, Laid), CapacityError> {
        let [on @ Ref::Drive(name)] = node.on.as_slice() else {
            return Err(CapacityError::Members { layer: node.name.clone(), found: node.on.len() });
        };
        let drive = self.member(node, on)?;
        let extent = self.tables.next(name, Bytes(drive.size), Bytes(drive.lba), partition).filter(|_| drive.drive);
        let extent = extent.ok_or_else(|| CapacityError::too_small(&node.name, drive.size))?;
        let is_last = stack.nodes.iter().rev().find(|other| other.on.contains(on)).is_some_and(|last| last == node);
        let before = if extent.number == 1 { extent.start.0 } else { 0 };
        let behind = if is_last { drive.size - extent.end.0 } else { 0 };
        // Without a size it takes all that the second table leaves.
        let purpose = if partition.size.is_some() { Purpose::Unused } else { Purpose::Header };
        let uses = Uses::none().and(Purpose::Header, before).and(purpose, behind);
        let size = extent.size().0;
        let place = Place { size, bounds: SizeBounds::exactly(extent.size()), drive: false, ..drive };
        Ok((before + size + behind, Laid::device(place, uses)))
    }

    fn member(&self, node: &LayerNode, below: &Ref) -> Result<Place, CapacityError> {
        let layer = || node.name.clone();
        match below {
            Ref::Drive(name) => {
                let unknown = || CapacityError::UnknownDrive { layer: layer(), drive: name.clone() };
                let drive = self.drive(name).ok_or_else(unknown)?;
                let (size, lba) = (drive.size.0, drive.lba.0);
                let bounds = SizeBounds::exactly(drive.size);
                Ok(Place { size, bounds, lba, stripe: None, optimal: 0, drive: !drive.slice })
            }
            Ref::Layer(name) => {
                let unknown = || CapacityError::UnknownLayer { layer: layer(), below: name.clone() };
                self.layers.get(name).copied().ok_or_else(unknown)
            }
        }
    }
}

/// What a layer makes of its members; nothing where they are too small.
fn lay(node: &LayerNode, members: &[Place], special: &[Place]) -> Result<Option<Laid>, CapacityError> {
    let members_wrong = || CapacityError::Members { layer: node.name.clone(), found: members.len() };
    let only = || if let [member] = members { Ok(member) } else { Err(members_wrong()) };
    let at_least = |fewest: usize| if members.len() < fewest { Err(members_wrong()) } else { Ok(()) };
    let (found, all) = (node.layer.traits(), [members, special].concat());
    let laid = match &node.layer {
        Layer::Raid(raid) => {
            at_least(raid.level.fewest())?;
            md::lay(raid, members)
        }
        Layer::Luks(luks) => luks::lay(luks, only()?),
        Layer::Crypt(crypt) => Some(luks::lay_plain(crypt, only()?)),
        Layer::Integrity(integrity) => integrity::lay(integrity, only()?),
        Layer::Lvm(lvm) => {
            at_least(lvm.volume.fewest())?;
            if let Some(least) = lvm::larger_chunk(lvm, &bounds(members)) {
                return Err(CapacityError::ThinChunk { layer: node.name.clone(), least });
            }
            lvm::lay(lvm, members)
        }
        Layer::Ext4(ext4) => ext4::lay(ext4, only()?.size),
        Layer::Xfs(xfs) => xfs::lay(xfs, only()?),
        Layer::Btrfs(btrfs) => {
            at_least(btrfs.data.fewest().max(btrfs.metadata.fewest()))?;
            btrfs::lay(btrfs, members)
        }
        Layer::Zfs(zfs) => {
            at_least(zfs.layout.fewest())?;
            zfs::lay(zfs, members, special)
        }
        // A device on one device, which keeps no more than what is in front of its data.
        _ => {
            let (below, header) = (only()?, found.header.0);
            let lba = largest_lba(&all).max(found.sector.0);
            let above = |size: u64| Place { size, lba, drive: node.layer.is_bare() && below.drive, ..*below };
            let size = below.size.checked_sub(header).filter(|size| *size > 0);
            size.map(|size| Laid::device(above(size), Uses::none().and(Purpose::Header, header)))
        }
    };
    // A cache has copies, whole.
    let cache = if found.cache.is_some() { total(special) } else { 0 };
    let bounds = SizeBounds::of(&node.layer, &bounds(members));
    Ok(laid.map(|laid| Laid {
        place: laid.place.map(|place| Place { bounds, ..place }),
        uses: laid.uses.and(Purpose::Copies, cache),
        ..laid
    }))
}
