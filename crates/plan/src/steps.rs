//! The walk over a stack, bottom to top, in which each layer adds its steps.

use std::collections::{BTreeMap, BTreeSet};

use capacity::{DriveSize, SizeBounds};
use terms::layer::PartitionTables;
use terms::plan::{PLAN_SCHEMA, Plan, WorkTarget};
use terms::{Layer, LayerNode, Name, Ref, Stack, Word};

use crate::draft::Draft;
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place, sizes};
use crate::{block, mounted, need, setting};

/// Plans one stack on drives of known size: the commands that build it, in order, each with its reason and
/// its undo.
///
/// # Errors
/// [`PlanError`], when the stack is not well formed, when its options exclude each other, or when it could
/// only be built by switching off a guard.
pub fn plan(stack: &Stack, facts: &[DriveSize]) -> Result<Plan, PlanError> {
    of_stack(stack, &whole_drives(facts))
}

/// The plan of each stack, or why it has none, as [`plan`] makes them one by one: what is known of the drives is put in
/// order once for all of them.
pub fn plans(stacks: &[Stack], facts: &[DriveSize]) -> Vec<Result<Plan, PlanError>> {
    let drives = whole_drives(facts);
    stacks.iter().map(|stack| of_stack(stack, &drives)).collect()
}

/// Drives by name.
type Drives<'a> = BTreeMap<&'a Name, Place>;

fn whole_drives(facts: &[DriveSize]) -> Drives<'_> {
    facts.iter().map(|fact| (&fact.name, whole_drive(fact))).collect()
}

fn of_stack(stack: &Stack, drives: &Drives<'_>) -> Result<Plan, PlanError> {
    let mut walk = Walk::new(stack, drives);
    let mut target = None;
    for (index, node) in stack.nodes.iter().enumerate() {
        if target.is_some() {
            let layer = stack.nodes[index - 1].name.clone();
            return Err(PlanError::NotOnTop { layer });
        }
        target = walk.lay(node)?;
    }
    let top = stack.top().ok_or_else(|| PlanError::Empty { stack: stack.name.clone() })?;
    let target = match target {
        Some(directory) => WorkTarget::Directory(directory),
        None => WorkTarget::Device(walk.layers[&top.name].node.clone()),
    };
    Ok(Plan {
        schema: PLAN_SCHEMA,
        stack: stack.name.clone(),
        slug: stack.slug(),
        nodes: stack.nodes.clone(),
        drives: stack.drives(),
        needs: walk.draft.needs(),
        options: stack.nodes.iter().flat_map(setting::settings).collect(),
        resyncs: walk.draft.resyncs,
        steps: walk.draft.steps,
        target,
    })
}

/// What is known on the way up.
struct Walk<'a> {
    drives: &'a Drives<'a>,
    layers: BTreeMap<Name, Place>,
    used: BTreeSet<Ref>,
    tables: PartitionTables,
    draft: Draft,
}

impl<'a> Walk<'a> {
    fn new(stack: &Stack, drives: &'a Drives<'a>) -> Self {
        Self {
            drives,
            layers: BTreeMap::new(),
            used: BTreeSet::new(),
            tables: PartitionTables::default(),
            draft: Draft::new(&stack.slug()),
        }
    }

    /// Adds one layer. A file system answers with its directory.
    fn lay(&mut self, node: &LayerNode) -> Result<Option<String>, PlanError> {
        if self.layers.contains_key(&node.name) {
            return Err(PlanError::Duplicate { layer: node.name.clone() });
        }
        let on = self.members(node, &node.on)?;
        let special = self.members(node, &node.special)?;
        if !special.is_empty() && node.layer.beside().is_none() {
            return Err(PlanError::impossible(&node.name, "it takes no devices besides its members"));
        }
        if node.layer.is_file_system() {
            mounted::roomy(node, &[&on[..], &special].concat())?;
        }
        self.draft.modules(need::modules(&node.layer));
        self.draft.programs(need::programs(&node.layer));
        let (draft, name) = (&mut self.draft, &node.name);
        let place = match &node.layer {
            Layer::Bare => block::only(node, &on)?.place.clone(),
            Layer::Partition(partition) => {
                block::partition::lay(draft, name, partition, block::only(node, &on)?, &mut self.tables)?
            }
            Layer::Raid(raid) => block::raid::lay(draft, node, raid, &on)?,
            Layer::Luks(luks) => block::luks::lay(draft, name, luks, block::only(node, &on)?)?,
            Layer::Crypt(crypt) if crypt.format.is_plain() => {
                block::crypt::lay(draft, name, crypt, block::only(node, &on)?)
            }
            Layer::Crypt(crypt) => block::truecrypt::lay(draft, name, crypt, block::only(node, &on)?),
            Layer::Integrity(integrity) => block::integrity::lay(draft, name, integrity, block::only(node, &on)?)?,
            Layer::Lvm(lvm) => block::lvm::lay(draft, node, lvm, &on, &special)?,
            Layer::Bcache(bcache) => block::bcache::lay(draft, node, bcache, &on, &special)?,
            Layer::Writecache(cache) => block::writecache::lay(draft, node, cache, &on, &special)?,
            Layer::Ext4(ext4) => return mounted::ext4::lay(draft, name, ext4, block::only(node, &on)?).map(Some),
            Layer::Xfs(xfs) => return mounted::xfs::lay(draft, name, xfs, block::only(node, &on)?).map(Some),
            Layer::Btrfs(btrfs) => return mounted::btrfs::lay(draft, node, btrfs, &on).map(Some),
            Layer::Zfs(zfs) => return mounted::zfs::lay(draft, node, zfs, &on, &special).map(Some),
        };
        let size = if node.layer.shares_drive() { place.size } else { SizeBounds::of(&node.layer, &sizes(&on)) };
        self.layers.insert(node.name.clone(), Place { size, ..place });
        Ok(None)
    }

    /// Devices of these names. Each is given away only once: two layers on one device would overwrite each other. Only
    /// partitions share a drive.
    fn members(&mut self, node: &LayerNode, on: &[Ref]) -> Result<Vec<Member>, PlanError> {
        on.iter().map(|below| self.member(node, below)).collect()
    }

    fn member(&mut self, node: &LayerNode, below: &Ref) -> Result<Member, PlanError> {
        let layer = || node.name.clone();
        let place = match below {
            Ref::Drive(drive) => self
                .drives
                .get(drive)
                .ok_or_else(|| PlanError::UnknownDrive { layer: layer(), drive: drive.clone() })?,
            Ref::Layer(name) => {
                self.layers.get(name).ok_or_else(|| PlanError::UnknownLayer { layer: layer(), below: name.clone() })?
            }
        };
        let shares = node.layer.shares_drive() && self.tables.has(below.name());
        if !self.used.insert(below.clone()) && !shares {
            return Err(PlanError::UsedTwice { layer: layer(), below: below.name().clone() });
        }
        Ok(Member { name: below.name().clone(), place: place.clone() })
    }
}

/// A whole drive.
fn whole_drive(fact: &DriveSize) -> Place {
    Place {
        node: Word::drive(&fact.name),
        drive: Some(fact.name.clone()),
        kind: if fact.slice { BlockKind::Slice } else { BlockKind::Drive },
        exact: true,
        size: SizeBounds::exactly(fact.size),
        lba: fact.lba,
        stripe: None,
        detects: false,
        misaligned: false,
    }
}
