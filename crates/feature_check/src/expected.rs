//! What is expected of layers, by what they are.

use std::collections::BTreeMap;

use durability::Arrangement;
use terms::durability::Healing;
use terms::{Feature, Name, Ref, Showing, Stack};

/// What is expected of a stack's feature.
///
/// Encryption: every way from a drive to the top leads through dm-crypt. Redundancy and corruption: as `durability` has
/// them. Snapshot: a layer takes them, by its traits.
#[must_use]
pub fn of(feature: Feature, stack: &Stack) -> Showing {
    match feature {
        Feature::Encryption if encrypts(stack) => Showing::Hidden,
        Feature::Encryption => Showing::Readable,
        Feature::Redundancy if is_redundant(stack) => Showing::Survived,
        Feature::Redundancy => Showing::Lost,
        Feature::Corruption => match durability::healing(stack) {
            Healing::Unnoticed => Showing::Silent,
            Healing::Noticed => Showing::Detected,
            Healing::Repaired => Showing::Repaired,
        },
        Feature::Snapshot if stack.nodes.iter().any(|node| node.layer.traits().snapshots) => Showing::Kept,
        Feature::Snapshot => Showing::NotOffered,
    }
}

fn is_redundant(stack: &Stack) -> bool {
    durability::arrangement(stack).is_some_and(|arrangement| arrangement.is_redundant())
}

/// Is the loss of this drive survived?
pub(crate) fn survives(stack: &Stack, drive: &Name) -> bool {
    durability::arrangement(stack).is_some_and(|arrangement| stands_without(&arrangement, drive))
}

fn stands_without(arrangement: &Arrangement<Name>, drive: &Name) -> bool {
    match arrangement {
        Arrangement::Drive(name) => name != drive,
        Arrangement::All(members) => members.iter().all(|member| stands_without(member, drive)),
        Arrangement::Group { members, survives } => {
            members.iter().filter(|member| !stands_without(member, drive)).count() <= *survives
        }
    }
}

fn encrypts(stack: &Stack) -> bool {
    let mut hidden: BTreeMap<&Name, bool> = BTreeMap::new();
    for node in &stack.nodes {
        let own = node.layer.traits().encrypts;
        let below = node.below().all(|below| match below {
            Ref::Drive(_) => false,
            Ref::Layer(name) => hidden.get(name).copied().unwrap_or(false),
        });
        hidden.insert(&node.name, own || below);
    }
    stack.top().and_then(|top| hidden.get(&top.name)).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use terms::layer::{Integrity, Luks, Lvm, Raid};
    use terms::{Layer, LayerNode};

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn node(text: &str, layer: Layer, on: &[&str]) -> LayerNode {
        let on = on.iter().map(|of| if of.len() == 1 { Ref::Drive(name(of)) } else { Ref::Layer(name(of)) });
        LayerNode { name: name(text), layer, on: on.collect(), special: Vec::new() }
    }

    fn stack(nodes: Vec<LayerNode>) -> Stack {
        Stack { name: "s".to_owned(), note: None, nodes }
    }

    fn all(stack: &Stack) -> [Showing; 4] {
        Feature::ALL.map(|feature| of(feature, stack))
    }

    #[test]
    fn what_is_expected_follows_from_the_layers() {
        let plain = stack(vec![node("ext4", Layer::Ext4(Default::default()), &["a"])]);
        assert_eq!(all(&plain), [Showing::Readable, Showing::Lost, Showing::Silent, Showing::NotOffered]);
        let full = stack(vec![
            node("la", Layer::Luks(Luks::default()), &["a"]),
            node("lb", Layer::Luks(Luks::default()), &["b"]),
            node("ia", Layer::Integrity(Integrity::default()), &["la"]),
            node("ib", Layer::Integrity(Integrity::default()), &["lb"]),
            node("raid", Layer::Raid(Raid::default()), &["ia", "ib"]),
            node("lvm", Layer::Lvm(Lvm::default()), &["raid"]),
            node("ext4", Layer::Ext4(Default::default()), &["lvm"]),
        ]);
        assert_eq!(all(&full), [Showing::Hidden, Showing::Survived, Showing::Repaired, Showing::Kept]);
        assert!(survives(&full, &name("a")) && !survives(&plain, &name("a")));
    }

    #[test]
    fn half_an_encrypted_mirror_hides_nothing() {
        let half = stack(vec![
            node("la", Layer::Luks(Luks::default()), &["a"]),
            node("raid", Layer::Raid(Raid::default()), &["la", "b"]),
        ]);
        assert_eq!(of(Feature::Encryption, &half), Showing::Readable);
    }
}
