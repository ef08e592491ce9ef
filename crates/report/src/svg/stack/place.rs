//! Where the boxes of a stack stand: levels from the drives upwards, each box above what it rests on.
//!
//! A line that passes a level without resting there gets a narrow place of its own in it (as in Sugiyama, Tagawa and
//! Toda 1981, "Methods for visual understanding of hierarchical system structures"), so no line runs behind a box.

use terms::design::{LayerNode, Ref};
use terms::name::Name;

use crate::stack::below;

/// Share of a cluster that a passing line takes, beside 1 for a box.
const NARROW: f64 = 0.2;

/// What stands in a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'a> {
    /// A drive.
    Drive(&'a Name),
    /// A layer.
    Layer(&'a LayerNode),
    /// A line passing by.
    Via,
}

/// A place. Lengths are in widths of a drive.
#[derive(Debug)]
pub(super) struct Box<'a> {
    /// What stands there.
    pub(super) item: Item<'a>,
    /// 0 for drives, then upwards.
    pub(super) level: usize,
    /// Left edge.
    pub(super) start: f64,
    /// Right edge.
    pub(super) end: f64,
    /// What it rests on, all on the level below; `true` for what is not a member, such as a cache.
    pub(super) below: Vec<(usize, bool)>,
}

/// The places of a stack. Drives stand in the order in which they are first named.
pub(super) fn place(nodes: &[LayerNode]) -> Vec<Box<'_>> {
    let mut boxes: Vec<Box> = Vec::new();
    for (reference, _) in nodes.iter().flat_map(below) {
        if let Ref::Drive(name) = reference
            && find(&boxes, reference).is_none()
        {
            boxes.push(Box { item: Item::Drive(name), level: 0, start: 0.0, end: 0.0, below: Vec::new() });
        }
    }
    for node in nodes {
        let rests: Vec<(usize, bool)> =
            below(node).filter_map(|(reference, part)| Some((find(&boxes, reference)?, part.is_some()))).collect();
        let level = rests.iter().map(|(at, _)| boxes[*at].level + 1).max().unwrap_or(0);
        let below = rests.into_iter().map(|(at, special)| (reach(&mut boxes, at, level), special)).collect();
        boxes.push(Box { item: Item::Layer(node), level, start: 0.0, end: 0.0, below });
    }
    spread(&mut boxes);
    boxes
}

/// The place of what a node rests on.
fn find(boxes: &[Box], reference: &Ref) -> Option<usize> {
    boxes.iter().position(|b| match (b.item, reference) {
        (Item::Drive(name), Ref::Drive(wanted)) => name == wanted,
        (Item::Layer(node), Ref::Layer(wanted)) => node.name == *wanted,
        _ => false,
    })
}

/// What stands just below `level` on the way to `at`: itself, or a passing line; lines to the same place are shared.
fn reach(boxes: &mut Vec<Box<'_>>, mut at: usize, level: usize) -> usize {
    while boxes[at].level + 1 < level {
        let up = boxes[at].level + 1;
        let shared = boxes.iter().position(|b| matches!(b.item, Item::Via) && b.level == up && b.below[0].0 == at);
        at = shared.unwrap_or_else(|| {
            boxes.push(Box { item: Item::Via, level: up, start: 0.0, end: 0.0, below: vec![(at, false)] });
            boxes.len() - 1
        });
    }
    at
}

/// Gives every place its edges, level by level.
fn spread(boxes: &mut [Box<'_>]) {
    let levels = boxes.iter().map(|b| b.level + 1).max().unwrap_or(0);
    for level in 0..levels {
        let mut here: Vec<usize> = (0..boxes.len()).filter(|at| boxes[*at].level == level).collect();
        let mut free = 0.0;
        for &at in &here {
            let spans = boxes[at].below.iter().map(|(below, _)| (boxes[*below].start, boxes[*below].end));
            let (start, end) = spans.fold((f64::INFINITY, 0.0_f64), |(a, b), (start, end)| (start.min(a), b.max(end)));
            // Drives, and layers that rest on nothing, stand one beside the other.
            let (start, end) = if start.is_finite() { (start, end) } else { (free, free + 1.0) };
            free = end.max(free);
            (boxes[at].start, boxes[at].end) = (start, end);
        }
        let middle = |boxes: &[Box], at: usize| boxes[at].start + boxes[at].end;
        here.sort_by(|a, b| middle(boxes, *a).total_cmp(&middle(boxes, *b)).then(a.cmp(b)));
        for cluster in clusters(boxes, &here) {
            share(boxes, &cluster);
        }
    }
}

/// Neighbours of a level whose places overlap, from left to right.
fn clusters(boxes: &[Box<'_>], here: &[usize]) -> Vec<Vec<usize>> {
    let mut out: Vec<(Vec<usize>, f64)> = Vec::new();
    for &at in here {
        let (mut cluster, mut end) = (vec![at], boxes[at].end);
        // They come in the order of their middles: a wide one may reach back over several.
        while let Some((before, edge)) = out.pop_if(|(_, edge)| *edge > boxes[at].start + 1e-9) {
            cluster.splice(0..0, before);
            end = end.max(edge);
        }
        out.push((cluster, end));
    }
    out.into_iter().map(|(cluster, _)| cluster).collect()
}

/// Divides the room of overlapping places among them.
fn share(boxes: &mut [Box<'_>], cluster: &[usize]) {
    if cluster.len() < 2 {
        return;
    }
    let weight = |item: &Item| if matches!(item, Item::Via) { NARROW } else { 1.0 };
    let start = cluster.iter().map(|at| boxes[*at].start).fold(f64::INFINITY, f64::min);
    let end = cluster.iter().map(|at| boxes[*at].end).fold(0.0, f64::max);
    let unit = (end - start) / cluster.iter().map(|at| weight(&boxes[*at].item)).sum::<f64>();
    let mut left = start;
    for &at in cluster {
        let right = left + unit * weight(&boxes[at].item);
        (boxes[at].start, boxes[at].end) = (left, right);
        left = right;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use terms::layer::Layer;

    use super::*;

    fn name(text: String) -> Name {
        Name::new(text).unwrap()
    }

    proptest! {
        #[test]
        fn no_two_boxes_overlap(rests in prop::collection::vec(prop::collection::vec(0_usize..12, 1..4), 1..7)) {
            let nodes: Vec<LayerNode> = rests.iter().enumerate().map(|(at, below)| {
                // Numbers below the node's own name a layer, the others a drive.
                let on = below.iter().map(|&n| {
                    if n < at { Ref::Layer(name(format!("n{n}"))) } else { Ref::Drive(name(format!("d{}", n % 5))) }
                });
                LayerNode { name: name(format!("n{at}")), layer: Layer::Bare, on: on.collect(), special: Vec::new() }
            }).collect();
            let boxes = place(&nodes);
            for (at, a) in boxes.iter().enumerate() {
                prop_assert!(a.end > a.start);
                prop_assert!(a.below.iter().all(|(below, _)| boxes[*below].level + 1 == a.level));
                for b in boxes[..at].iter().filter(|b| b.level == a.level) {
                    prop_assert!(a.start >= b.end - 1e-6 || b.start >= a.end - 1e-6, "{boxes:?}");
                }
            }
        }
    }
}
