//! The shape of a stack: file systems on top, one user for each device, and one top.

use std::collections::{HashMap, HashSet};

use terms::{Name, Note, Ref};

use super::grow::Growth;
use crate::suggest::all_of;

/// Notes what is wrong with the graph as such.
pub(super) fn check(growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
    check_tops_below(growth, notes);
    check_users(growth, notes);
    check_one_top(growth, notes);
}

/// Layers that end in a directory, and the bare drive, have nothing above them.
fn check_tops_below(growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
    let mut first: HashMap<&Name, &Growth<'_, '_>> = HashMap::new();
    for grown in growth {
        first.entry(&grown.node.name).or_insert(grown);
    }
    for grown in growth {
        for (below, place) in grown.node.below().zip(&grown.places) {
            let Ref::Layer(name) = below else { continue };
            let Some(under) = first.get(name) else { continue };
            let kind = under.node.layer.kind();
            if under.node.layer.is_file_system() {
                notes.push(
                    Note::error(
                        "study-on-file-system",
                        Some(*place),
                        format!("`{}` cannot rest on `{name}`", grown.node.name),
                    )
                    .label(format!("{kind} is a file system: it ends the stack"))
                    .hint(format!("put {kind} last, or say with `on` what is below")),
                );
            } else if under.node.layer.is_bare() {
                notes.push(
                    Note::error(
                        "study-on-bare",
                        Some(*place),
                        format!("`{}` cannot rest on `{name}`", grown.node.name),
                    )
                    .label("`bare` is the drive itself, measured as it is")
                    .hint("leave the `bare` entry out and rest on the drive"),
                );
            }
        }
    }
}

/// A block device has one user: two would overwrite each other. A drive may have several partitions.
fn check_users(growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
    let mut users: HashMap<&Ref, &Growth<'_, '_>> = HashMap::new();
    for grown in growth {
        for (below, place) in grown.node.below().zip(&grown.places) {
            let Some(other) = users.get(below) else {
                users.insert(below, grown);
                continue;
            };
            if grown.node.layer.shares_drive() && other.node.layer.shares_drive() && matches!(below, Ref::Drive(_)) {
                continue;
            }
            let what = if matches!(below, Ref::Drive(_)) { "drive" } else { "layer" };
            let (name, other) = (below.name(), &other.node.name);
            let message = if *other == grown.node.name {
                format!("{what} `{name}` is used twice by `{other}`")
            } else {
                format!("{what} `{name}` is used by `{other}` and by `{}`", grown.node.name)
            };
            notes.push(
                Note::error("study-used-twice", Some(*place), message)
                    .label("already in use")
                    .hint("a device carries one layer; use another, or rest this one on the other"),
            );
        }
    }
}

/// Workloads run on one thing.
fn check_one_top(growth: &[Growth<'_, '_>], notes: &mut Vec<Note>) {
    // What rests on something that was refused may have lost the very link that would have joined it.
    if growth.iter().any(|grown| grown.broken) {
        return;
    }
    let below: HashSet<&Ref> = growth.iter().flat_map(|other| other.node.below()).collect();
    let is_top = |grown: &&Growth<'_, '_>| !below.contains(&Ref::Layer(grown.node.name.clone()));
    let tops: Vec<&Growth<'_, '_>> = growth.iter().filter(is_top).collect();
    let [loose @ .., last] = tops.as_slice() else { return };
    let parts: Vec<&&Growth<'_, '_>> = tops.iter().filter(|grown| std::ptr::eq(grown.entry, last.entry)).collect();
    if parts.len() > 1 {
        notes.push(
            Note::error(
                "study-two-tops",
                Some(last.entry.place()),
                format!("nothing joins {}", all_of(parts.iter().map(|grown| grown.node.name.as_str()))),
            )
            .label("the stack ends in more than one device")
            .hint("join them with raid, lvm, btrfs or zfs, or use one drive"),
        );
    }
    for grown in loose.iter().filter(|grown| !std::ptr::eq(grown.entry, last.entry)) {
        notes.push(
            Note::error("study-two-tops", Some(grown.entry.place()), format!("nothing rests on `{}`", grown.node.name))
                .label(format!("and `{}` ends the stack", last.node.name))
                .hint("name it in the `on` of a layer above, or make it a stack of its own"),
        );
    }
}
