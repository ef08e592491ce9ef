//! The walk over a stack, bottom to top, in which each layer takes devices and hands one up.

use std::collections::BTreeMap;

use terms::account::Account;
use terms::{Bytes, Layer, LayerNode, Name, Ref, Stack};

use crate::place::{Laid, Place, Uses, total};
use crate::{CapacityError, btrfs, ext4, integrity, luks, lvm, md, xfs, zfs};

/// What has to be known of a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveSize {
    /// The name that stacks use.
    pub name: Name,
    /// Its size, as `blockdev --getsize64` tells it.
    pub size: Bytes,
    /// Its logical block.
    pub lba: Bytes,
    /// Is it a partition, which is not partitioned again?
    pub slice: bool,
}

/// Accounts for every byte of a stack on drives of known size.
///
/// # Errors
/// [`CapacityError`], when the stack is not well formed or does not fit.
pub fn account(stack: &Stack, drives: &[DriveSize]) -> Result<Account, CapacityError> {
    let top = stack.top().ok_or_else(|| CapacityError::Empty { stack: stack.name.clone() })?;
    let mut walk = Walk { drives, layers: BTreeMap::new() };
    let mut entries = Vec::with_capacity(stack.nodes.len());
    let (mut whole, mut available) = (0, 0);
    for node in &stack.nodes {
        let (members, special) = (walk.members(node, &node.on)?, walk.members(node, &node.special)?);
        let below = total(&members) + total(&special);
        let laid = lay(node, &members, &special)?.ok_or_else(|| CapacityError::too_small(&node.name, below))?;
        entries.push(laid.entry(&node.name, node.layer.title(), below)?);
        if let Some(place) = laid.place {
            walk.layers.insert(&node.name, place);
        }
        if node.name == top.name {
            (whole, available) = (laid.total, laid.above);
        }
    }
    let drives = stack.drives().iter().filter_map(|name| walk.drive(name)).map(|drive| drive.size.0).sum();
    Ok(Account {
        stack: stack.name.clone(),
        drives: Bytes(drives),
        entries,
        total: Bytes(whole),
        available: Bytes(available),
    })
}

struct Walk<'a> {
    drives: &'a [DriveSize],
    layers: BTreeMap<&'a Name, Place>,
}

impl Walk<'_> {
    fn drive(&self, name: &Name) -> Option<&DriveSize> {
        self.drives.iter().find(|drive| &drive.name == name)
    }

    fn members(&self, node: &LayerNode, on: &[Ref]) -> Result<Vec<Place>, CapacityError> {
        on.iter().map(|below| self.member(node, below)).collect()
    }

    fn member(&self, node: &LayerNode, below: &Ref) -> Result<Place, CapacityError> {
        let layer = || node.name.clone();
        match below {
            Ref::Drive(name) => {
                let unknown = || CapacityError::UnknownDrive { layer: layer(), drive: name.clone() };
                let drive = self.drive(name).ok_or_else(unknown)?;
                let (size, lba) = (drive.size.0, drive.lba.0);
                Ok(Place { size, certain: size, lba, stripe: None, optimal: 0, drive: !drive.slice })
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
    Ok(match &node.layer {
        Layer::Bare => Some(Laid::device(*only()?, Uses::none())),
        Layer::Raid(raid) => {
            at_least(raid.level.fewest())?;
            md::lay(raid, members)
        }
        Layer::Luks(luks) => luks::lay(luks, only()?),
        Layer::Crypt(crypt) => Some(luks::lay_plain(crypt, only()?)),
        Layer::Integrity(integrity) => integrity::lay(integrity, only()?),
        Layer::Lvm(lvm) => {
            at_least(lvm.volume.fewest())?;
            lvm::lay(lvm, members, special)
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
    })
}
