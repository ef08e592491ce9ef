//! Entries become nodes: a layer that takes one device, given several, makes one node on each.

use std::collections::HashMap;

use terms::{Layer, LayerNode, Name, Note, Ref, Span};

use super::entry::{Entry, Link, Links, To};
use crate::lab::Lab;
use crate::layer;

/// A node with where it came from.
#[derive(Debug)]
pub(super) struct Growth<'g, 'f> {
    /// The node.
    pub(super) node: LayerNode,
    /// Its entry.
    pub(super) entry: &'g Entry<'f>,
    /// Where each of `on` and then `special` is named.
    pub(super) places: Vec<Span>,
    /// Is something below it missing? Counting its members would mislead.
    pub(super) broken: bool,
}

/// Something below, with where it is named.
type Below = (Ref, Span);

/// The nodes of a stack in building order.
pub(super) fn grow<'g, 'f>(
    entries: &'g [Entry<'f>],
    links: &[Links],
    order: &[usize],
    lab: &Lab,
    notes: &mut Vec<Note>,
) -> Vec<Growth<'g, 'f>> {
    let mut growth: Vec<Growth<'g, 'f>> = Vec::new();
    // Nodes of each entry, by index of the entry.
    let mut made: Vec<Vec<Name>> = vec![Vec::new(); entries.len()];
    let mut broken: Vec<bool> = links.iter().map(|links| links.broken).collect();
    let mut given: Vec<bool> = vec![false; entries.len()];
    let mut names = Names::default();
    for &index in order {
        let entry = &entries[index];
        for link in links[index].on.iter().chain(&links[index].special) {
            if let To::Entry(below) = link.to {
                broken[index] |= broken[below] | given[below];
            }
        }
        let on = expand(&links[index].on, &made, &mut given);
        let special = expand(&links[index].special, &made, &mut given);
        let Some(layer) = layer::build(entry.kind, entry.options, on.len()) else { continue };
        layer::check(&layer, entry.options, notes);
        for node in nodes(entry, layer, on, special, broken[index], notes) {
            names.take(&node, lab, notes);
            made[index].push(node.node.name.clone());
            growth.push(node);
        }
    }
    growth
}

/// What is below, with the nodes of an entry in place of its name. Those of one that was given away before are in use:
/// the first of them is enough to say so, and keeps a short text from becoming a large graph.
fn expand(links: &[Link], made: &[Vec<Name>], given: &mut [bool]) -> Vec<Below> {
    let mut below = Vec::new();
    for link in links {
        match &link.to {
            To::Drive(name) => below.push((Ref::Drive(name.clone()), link.place)),
            To::Entry(index) => {
                let most = if std::mem::replace(&mut given[*index], true) { 1 } else { usize::MAX };
                below.extend(made[*index].iter().take(most).map(|name| (Ref::Layer(name.clone()), link.place)));
            }
        }
    }
    below
}

fn nodes<'g, 'f>(
    entry: &'g Entry<'f>,
    layer: Layer,
    on: Vec<Below>,
    special: Vec<Below>,
    broken: bool,
    notes: &mut Vec<Note>,
) -> Vec<Growth<'g, 'f>> {
    if !layer.is_one_on_one() || on.len() < 2 {
        let places = on.iter().chain(&special).map(|(_, place)| *place).collect();
        let (on, special) = (names(on), names(special));
        let node = LayerNode { name: entry.name.clone(), layer, on, special };
        return vec![Growth { node, entry, places, broken }];
    }
    let mut grown = Vec::new();
    for (below, place) in on {
        match Name::new(format!("{}-{}", entry.name, below.name())) {
            Ok(name) => {
                let node = LayerNode { name, layer: layer.clone(), on: vec![below], special: Vec::new() };
                grown.push(Growth { node, entry, places: vec![place], broken });
            }
            Err(_) => notes.push(
                Note::error(
                    "study-long-name",
                    Some(entry.place()),
                    format!("`{}-{}` is too long for a name", entry.name, below.name()),
                )
                .hint("give this layer, or those below it, a shorter `name`"),
            ),
        }
    }
    grown
}

fn names(below: Vec<Below>) -> Vec<Ref> {
    below.into_iter().map(|(name, _)| name).collect()
}

/// Who has which name.
#[derive(Debug, Default)]
struct Names<'g, 'f> {
    taken: HashMap<Name, Taken<'g, 'f>>,
}

/// Whose a name is.
#[derive(Debug)]
struct Taken<'g, 'f> {
    /// The entry that had it first.
    entry: &'g Entry<'f>,
    /// Has another entry got it, too?
    shared: bool,
    /// Is it the name of an entry, and not made up?
    written: bool,
}

impl<'g, 'f> Names<'g, 'f> {
    /// Made-up names of mappings can meet names that were written.
    fn take(&mut self, new: &Growth<'g, 'f>, lab: &Lab, notes: &mut Vec<Note>) {
        let name = &new.node.name;
        let written = *name == new.entry.name;
        let drive = !written && lab.drive(name.as_str()).is_some();
        let known = self.taken.get_mut(name);
        let other = known.as_ref().is_some_and(|known| known.shared || !std::ptr::eq(known.entry, new.entry));
        // Two written names that are the same were noted when they were read.
        let both_written = written && known.as_ref().is_some_and(|known| known.written);
        match known {
            Some(known) => {
                known.shared |= other;
                known.written |= written;
            }
            None => {
                self.taken.insert(name.clone(), Taken { entry: new.entry, shared: false, written });
            }
        }
        if drive || (other && !both_written) {
            notes.push(
                Note::error("study-same-layer", Some(new.entry.place()), format!("two things are named `{name}`"))
                    .label("this makes the second of that name")
                    .hint("give this layer another `name`"),
            );
        }
    }
}
