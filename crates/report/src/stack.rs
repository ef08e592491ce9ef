//! A stack as a drawing: its graph of layers, from what workloads see down to the drives.

use terms::design::{LayerNode, Ref};
use terms::name::Name;

use crate::tree;

/// What a node rests on, in order, and the part of what is not a member, such as a cache.
pub(crate) fn below(node: &LayerNode) -> impl Iterator<Item = (&Ref, Option<&'static str>)> {
    let part = node.layer.beside();
    node.on.iter().map(|below| (below, None)).chain(node.special.iter().map(move |below| (below, part)))
}

/// The stack as a tree of text: the layer that workloads see at the top, each layer above what it rests on. A layer
/// on which several rest is drawn out once and named again after that, so a graph stays readable.
#[must_use]
pub fn stack_drawing(nodes: &[LayerNode], ascii: bool) -> String {
    let mut drawing = Drawing { nodes, ascii, drawn: vec![false; nodes.len()], out: String::new() };
    // The last node is what workloads see; anything that nothing rests on is a top of its own.
    let rested_on = |node: &LayerNode| {
        nodes.iter().any(|n| below(n).any(|(r, _)| matches!(r, Ref::Layer(name) if *name == node.name)))
    };
    for (at, _) in nodes.iter().enumerate().rev().filter(|(_, node)| !rested_on(node)) {
        drawing.layer(at, &mut Vec::new(), None);
    }
    drawing.out
}

/// A drawing under way.
struct Drawing<'a> {
    nodes: &'a [LayerNode],
    ascii: bool,
    drawn: Vec<bool>,
    out: String,
}

impl Drawing<'_> {
    /// A layer and all that it rests on.
    fn layer(&mut self, at: usize, more: &mut Vec<bool>, part: Option<&str>) {
        let nodes = self.nodes;
        let node = &nodes[at];
        let again = std::mem::replace(&mut self.drawn[at], true);
        let mut title = format!("{} [{}]", node.layer.title(), node.name);
        if again {
            title.push_str(" as above");
        }
        self.line(&title, more, part);
        if again {
            return;
        }
        let count = below(node).count();
        for (number, (reference, part)) in below(node).enumerate() {
            more.push(number + 1 < count);
            match reference {
                Ref::Drive(name) => self.line(&format!("drive {name}"), more, part),
                Ref::Layer(name) => self.named(name, more, part),
            }
            more.pop();
        }
    }

    /// A layer by its name.
    fn named(&mut self, name: &Name, more: &mut Vec<bool>, part: Option<&str>) {
        match self.nodes.iter().position(|node| node.name == *name) {
            Some(at) => self.layer(at, more, part),
            None => self.line(&format!("{name} (not in this stack)"), more, part),
        }
    }

    /// One line.
    fn line(&mut self, title: &str, more: &[bool], part: Option<&str>) {
        self.out.push_str(&tree::lead(more, self.ascii));
        self.out.push_str(title);
        self.out.push_str(&part.map_or_else(|| "\n".to_owned(), |part| format!(" ({part})\n")));
    }
}

#[cfg(test)]
mod tests {
    use terms::layer::{Layer, Luks, Raid, Zfs};

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn node(text: &str, layer: Layer, on: Vec<Ref>, special: Vec<Ref>) -> LayerNode {
        LayerNode { name: name(text), layer, on, special }
    }

    fn drive(text: &str) -> Ref {
        Ref::Drive(name(text))
    }

    fn layer(text: &str) -> Ref {
        Ref::Layer(name(text))
    }

    /// One array under two layers, and a pool over both.
    fn shared() -> Vec<LayerNode> {
        vec![
            node("md", Layer::Raid(Raid::default()), vec![drive("a"), drive("b")], vec![]),
            node("k1", Layer::Luks(Luks::default()), vec![layer("md")], vec![]),
            node("k2", Layer::Luks(Luks::default()), vec![layer("md")], vec![]),
            node("pool", Layer::Zfs(Zfs::default()), vec![layer("k1"), layer("k2")], vec![drive("c")]),
        ]
    }

    #[test]
    fn shared_layers_are_drawn_once() {
        insta::assert_snapshot!(stack_drawing(&shared(), false), @r"
        ZFS [pool]
        ├─LUKS2 [k1]
        │ └─RAID-1 [md]
        │   ├─drive a
        │   └─drive b
        ├─LUKS2 [k2]
        │ └─RAID-1 [md] as above
        └─drive c (special)
        ");
    }

    #[test]
    fn ascii_has_no_other_glyphs() {
        assert!(stack_drawing(&shared(), true).is_ascii());
    }
}
