//! How drives stand in for each other: the part of a stack that decides which failures it survives.

use std::collections::BTreeMap;

use terms::layer::{ArrayState, CacheKind, Over, Survives};
use terms::{LayerNode, Name, Ref, Stack};

/// Drives in groups of groups.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrangement<D> {
    /// One drive.
    Drive(D),
    /// Each is needed.
    All(Vec<Self>),
    /// Any `survives` of them may be missing.
    Group {
        /// What stands in for each other.
        members: Vec<Self>,
        /// How many may be missing.
        survives: usize,
    },
}

impl<D> Arrangement<D> {
    /// Each drive as something else.
    pub fn map<E>(&self, of: &impl Fn(&D) -> E) -> Arrangement<E> {
        let each = |members: &[Self]| members.iter().map(|member| member.map(of)).collect();
        match self {
            Self::Drive(drive) => Arrangement::Drive(of(drive)),
            Self::All(members) => Arrangement::All(each(members)),
            Self::Group { members, survives } => Arrangement::Group { members: each(members), survives: *survives },
        }
    }

    /// All drives, from left to right.
    pub fn drives(&self) -> Vec<&D> {
        match self {
            Self::Drive(drive) => vec![drive],
            Self::All(members) | Self::Group { members, .. } => members.iter().flat_map(Self::drives).collect(),
        }
    }

    /// The same without the last of those that may be missing; of pairs, without one of the last.
    fn without_last(self) -> Self {
        match self {
            Self::Group { mut members, survives } if survives > 0 => {
                members.pop();
                Self::Group { members, survives: survives - 1 }
            }
            Self::All(mut members) => {
                let last = members.pop().map(Self::without_last);
                members.extend(last);
                Self::All(members)
            }
            other => other,
        }
    }

    /// The same without what is needed twice over: two groups of the same drives, on partitions of them, are lost together.
    fn without_twins(self) -> Self
    where
        D: PartialEq,
    {
        let Self::All(members) = self else { return self };
        let mut once: Vec<Self> = Vec::new();
        for member in members.into_iter().map(Self::without_twins) {
            if !once.contains(&member) {
                once.push(member);
            }
        }
        if once.len() == 1 { once.remove(0) } else { Self::All(once) }
    }

    /// Is a drive in several places, by partitions of it? Those are lost together.
    pub fn shares_drives(&self) -> bool
    where
        D: PartialEq,
    {
        let drives = self.drives();
        drives.iter().enumerate().any(|(at, drive)| drives[..at].contains(drive))
    }

    /// Does it survive the loss of any drive?
    pub fn is_redundant(&self) -> bool {
        match self {
            Self::Drive(_) => false,
            Self::All(members) => members.iter().all(Self::is_redundant),
            Self::Group { members, survives } => *survives > 0 || members.iter().all(Self::is_redundant),
        }
    }

    /// The share of what drives hold that is data and not copy or parity.
    pub fn data_share(&self) -> f64 {
        let mean = |members: &[Self]| members.iter().map(Self::data_share).sum::<f64>() / members.len().max(1) as f64;
        match self {
            Self::Drive(_) => 1.0,
            Self::All(members) => mean(members),
            Self::Group { members, survives } => {
                let count = members.len().max(1) as f64;
                mean(members) * (count - *survives as f64) / count
            }
        }
    }
}

/// The arrangement of a stack's drives, by their names.
///
/// `None` where a layer rests on something that is not below it, or on nothing.
#[must_use]
pub fn arrangement(stack: &Stack) -> Option<Arrangement<Name>> {
    arranged(stack, ArrayState::Whole)
}

/// The same in a state that is asked for, beside those that arrays have by themselves.
pub(crate) fn arranged(stack: &Stack, asked: ArrayState) -> Option<Arrangement<Name>> {
    let mut layers: BTreeMap<&Name, Arrangement<Name>> = BTreeMap::new();
    for node in &stack.nodes {
        let members = below(&layers, &node.on)?;
        let special = below(&layers, &node.special)?;
        layers.insert(&node.name, of_node(node, members, special, asked)?);
    }
    Some(layers.remove(&stack.top()?.name)?.without_twins())
}

/// Is a member of it missing? As in predictions, that is the last of each array.
pub(crate) fn is_degraded(node: &LayerNode, asked: ArrayState) -> bool {
    let found = node.layer.traits();
    found.survives != Survives::Nothing && [asked, found.state].contains(&ArrayState::Degraded)
}

fn below(layers: &BTreeMap<&Name, Arrangement<Name>>, on: &[Ref]) -> Option<Vec<Arrangement<Name>>> {
    let one = |below: &Ref| match below {
        Ref::Drive(name) => Some(Arrangement::Drive(name.clone())),
        Ref::Layer(name) => layers.get(name).cloned(),
    };
    on.iter().map(one).collect()
}

fn of_node(
    node: &LayerNode,
    mut members: Vec<Arrangement<Name>>,
    special: Vec<Arrangement<Name>>,
    asked: ArrayState,
) -> Option<Arrangement<Name>> {
    if members.is_empty() {
        return None;
    }
    let count = members.len();
    let found = node.layer.traits();
    let whole = match found.survives {
        _ if found.over != Over::All => (count == 1).then(|| members.remove(0))?,
        // Metadata of btrfs may survive; the files do not.
        Survives::Nothing => Arrangement::All(members),
        Survives::Any(losses) => group(members, losses),
        Survives::AllButOne => group(members, count - 1),
        Survives::OneOfEachPair if count.is_multiple_of(2) => pairs(members),
        Survives::OneOfEachPair => group(members, 1),
    };
    let whole = if is_degraded(node, asked) { whole.without_last() } else { whole };
    Some(match (found.cache, special.len()) {
        (_, 0) | (Some(CacheKind::Copies), _) => whole,
        // Losing a cache loses the writes that only it has, and with them what is above.
        (Some(CacheKind::Writes), _) => Arrangement::All([vec![whole], special].concat()),
        // A special vdev is lost with one device where the pool is, and a mirror otherwise.
        (None, _) if found.survives == Survives::Nothing => Arrangement::All([vec![whole], special].concat()),
        (None, ways) => Arrangement::All(vec![whole, group(special, ways - 1)]),
    })
}

fn group(members: Vec<Arrangement<Name>>, survives: usize) -> Arrangement<Name> {
    Arrangement::Group { members, survives }
}

fn pairs(members: Vec<Arrangement<Name>>) -> Arrangement<Name> {
    Arrangement::All(members.chunks(2).map(|pair| group(pair.to_vec(), 1)).collect())
}

#[cfg(test)]
mod tests {
    use terms::Layer;
    use terms::layer::{CacheMode, Lvm, Volume};

    use super::*;

    #[test]
    fn a_cache_that_alone_has_writes_is_as_needed_as_the_volume() {
        let name = |text: &str| Name::new(text).unwrap();
        let drive = |text: &str| Arrangement::Drive(name(text));
        let arranged = |mode| {
            let layer = Layer::Lvm(Lvm { cache: Some(mode), volume: Volume::Raid1, ..Lvm::default() });
            let on = ["a", "b"].map(|text| Ref::Drive(name(text))).to_vec();
            let node = LayerNode { name: name("lvm"), layer, on, special: vec![Ref::Drive(name("c"))] };
            arrangement(&Stack { name: "x".into(), note: None, nodes: vec![node] }).unwrap()
        };
        let mirror = Arrangement::Group { members: vec![drive("a"), drive("b")], survives: 1 };
        assert_eq!(arranged(CacheMode::Writethrough), mirror);
        for mode in [CacheMode::Writeback, CacheMode::Writecache] {
            assert_eq!(arranged(mode), Arrangement::All(vec![mirror.clone(), drive("c")]));
        }
    }
}
