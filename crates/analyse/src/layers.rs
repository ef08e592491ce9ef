//! What a layer costs: two stacks that differ by it alone, held against each other.
//!
//! Stacks are compared by structure, not by the names of their nodes: taking one node that rests on one thing out of a
//! stack, and joining what was above it to what was below, must give the other stack with every setting equal.

use std::collections::BTreeMap;

use terms::design::{LayerNode, Ref};
use terms::finding::{CellFinding, LayerCost, Verdict};
use terms::record::StackEntry;
use terms::{Layer, Replicate};

use crate::interval::{self, Looks};
use crate::rounds::Rounds;

/// What a node rests on, without names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Below {
    Drive(String),
    Node(usize),
}

#[derive(Debug, Clone, PartialEq)]
struct Plain<'a> {
    layer: &'a Layer,
    on: Vec<Below>,
    special: Vec<Below>,
}

/// Every pair of stacks that differ by one layer, on every workload that both have a number for.
pub(crate) fn costs(
    stacks: &[StackEntry],
    findings: &[CellFinding],
    rounds: &Rounds<'_>,
    looks: Looks,
    replicate: Replicate,
) -> Vec<LayerCost> {
    let mut costs = Vec::new();
    for with in stacks {
        for without in stacks {
            let Some(layer) = difference(&with.nodes, &without.nodes) else { continue };
            let of = |slug: &str| {
                findings
                    .iter()
                    .filter(move |of| of.stack == slug && of.verdict == Verdict::Measured && of.path_lost.is_none())
                    .map(|of| (of.workload.clone(), of))
                    .collect::<BTreeMap<_, _>>()
            };
            let (upper, lower) = (of(&with.slug), of(&without.slug));
            // In the order of the study, not of names.
            let order = findings.iter().filter(|of| of.stack == with.slug).map(|of| of.workload.as_str());
            for workload in order {
                let (Some(a), Some(b)) = (upper.get(workload), lower.get(workload)) else { continue };
                let ratio = interval::paired_ratio(
                    &rounds.throughput(&with.slug, workload),
                    &rounds.throughput(&without.slug, workload),
                    looks,
                );
                let alone = replicate == Replicate::Single;
                costs.push(LayerCost {
                    stack: with.slug.clone(),
                    without: without.slug.clone(),
                    layer: layer.to_owned(),
                    workload: workload.to_owned(),
                    throughput_ratio: ratio.map(|ratio| {
                        if alone { terms::finding::WithInterval { low: None, high: None, ..ratio } } else { ratio }
                    }),
                    cpu_per_operation: a
                        .cpu_per_operation
                        .zip(b.cpu_per_operation)
                        .and_then(|(a, b)| i64::try_from(a.0).ok()?.checked_sub(i64::try_from(b.0).ok()?)),
                });
            }
        }
    }
    costs
}

/// The layer that `with` has and `without` has not, if that is all.
fn difference(with: &[LayerNode], without: &[LayerNode]) -> Option<&'static str> {
    let (with, without) = (plain(with)?, plain(without)?);
    // The bare drive is a stack of one node that does nothing: any single layer on it differs from it by itself.
    if let ([node], [Plain { layer: Layer::Bare, on, .. }]) = (&with[..], &without[..])
        && node.on == *on
        && !matches!(node.layer, Layer::Bare)
    {
        return Some(node.layer.kind());
    }
    if with.len() != without.len() + 1 {
        return None;
    }
    (0..with.len()).find(|at| taken_out(&with, *at).as_ref() == Some(&without)).map(|at| with[at].layer.kind())
}

/// Nodes with what they rest on by position; `None` where a name is of nothing below.
fn plain(nodes: &[LayerNode]) -> Option<Vec<Plain<'_>>> {
    let below = |of: &Ref| match of {
        Ref::Drive(name) => Some(Below::Drive(name.to_string())),
        Ref::Layer(name) => nodes.iter().position(|node| &node.name == name).map(Below::Node),
    };
    let mut plain = Vec::new();
    for LayerNode { layer, on, special, .. } in nodes {
        let on = on.iter().map(below).collect::<Option<_>>()?;
        plain.push(Plain { layer, on, special: special.iter().map(below).collect::<Option<_>>()? });
    }
    Some(plain)
}

/// The nodes without one of them, what was above it joined to the one thing below it.
fn taken_out<'a>(nodes: &[Plain<'a>], at: usize) -> Option<Vec<Plain<'a>>> {
    let [through] = &nodes[at].on[..] else { return None };
    let join = |below: &Below| match below {
        Below::Node(index) if *index == at => through.clone(),
        other => other.clone(),
    };
    let shift = |below: Below| match below {
        Below::Node(index) if index > at => Below::Node(index - 1),
        other => other,
    };
    let moved = |list: &[Below]| list.iter().map(join).map(shift).collect();
    let kept = nodes.iter().enumerate().filter(|(index, _)| *index != at);
    Some(
        kept.map(|(_, node)| Plain { layer: node.layer, on: moved(&node.on), special: moved(&node.special) }).collect(),
    )
}

#[cfg(test)]
mod tests {
    use terms::Name;
    use terms::layer::{Ext4, Luks, Raid};

    use super::*;

    fn node(name: &str, layer: Layer, on: &[&str]) -> LayerNode {
        let below = |of: &&str| {
            let name = Name::new(of.trim_start_matches('/')).unwrap();
            if of.starts_with('/') { Ref::Drive(name) } else { Ref::Layer(name) }
        };
        LayerNode { name: Name::new(name).unwrap(), layer, on: on.iter().map(below).collect(), special: vec![] }
    }

    fn ext4(on: &str) -> LayerNode {
        node("fs", Layer::Ext4(Ext4::default()), &[on])
    }

    fn raid(on: &[&str]) -> LayerNode {
        node("r", Layer::Raid(Raid::default()), on)
    }

    fn luks(on: &str) -> LayerNode {
        node("c", Layer::Luks(Luks::default()), &[on])
    }

    #[test]
    fn one_layer_is_found_wherever_it_stands() {
        let plain = [ext4("/a")];
        let crypt = [luks("/a"), ext4("c")];
        assert_eq!(difference(&crypt, &plain), Some("luks"));
        assert_eq!(difference(&plain, &crypt), None);
        let mirror = [raid(&["/a", "/b"]), ext4("r")];
        let both = [raid(&["/a", "/b"]), luks("r"), ext4("c")];
        assert_eq!(difference(&both, &mirror), Some("luks"));
        assert_eq!(difference(&mirror, &plain), None, "an array joins several things");
        assert_eq!(difference(&[luks("/b"), ext4("c")], &plain), None, "another drive");
        let bare = [node("d", Layer::Bare, &["/a"])];
        assert_eq!(difference(&plain, &bare), Some("ext4"));
    }
}
