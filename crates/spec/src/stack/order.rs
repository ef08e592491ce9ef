//! Building order: what others rest on comes first, and otherwise the order of the file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use terms::Note;

use super::entry::{Entry, Links, To};

/// Layers of a circle that are named.
const LONGEST: usize = 40;

/// Indexes of entries in building order; `None` if they rest on each other in a circle, which is noted.
pub(super) fn order(entries: &[Entry<'_>], links: &[Links], notes: &mut Vec<Note>) -> Option<Vec<usize>> {
    let below: Vec<Vec<usize>> = links.iter().map(entries_below).collect();
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    for (index, needed) in below.iter().enumerate() {
        needed.iter().for_each(|needed| above[*needed].push(index));
    }
    let mut missing: Vec<usize> = below.iter().map(Vec::len).collect();
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..entries.len()).filter(|index| missing[*index] == 0).map(Reverse).collect();
    let mut order: Vec<usize> = Vec::with_capacity(entries.len());
    // The first of the file that is ready: this keeps the order stable.
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for user in &above[index] {
            missing[*user] -= 1;
            if missing[*user] == 0 {
                ready.push(Reverse(*user));
            }
        }
    }
    if order.len() == entries.len() {
        return Some(order);
    }
    note_circle(entries, &below, &missing, notes);
    None
}

fn entries_below(links: &Links) -> Vec<usize> {
    let all = links.on.iter().chain(&links.special);
    all.filter_map(|link| if let To::Entry(index) = link.to { Some(index) } else { None }).collect()
}

/// Walks down from any entry left over until one comes twice: those between are the circle.
fn note_circle(entries: &[Entry<'_>], below: &[Vec<usize>], missing: &[usize], notes: &mut Vec<Note>) {
    let mut path: Vec<usize> = Vec::new();
    let mut places: Vec<Option<usize>> = vec![None; entries.len()];
    let is_left = |index: &usize| missing[*index] > 0;
    let mut next = (0..entries.len()).find(is_left);
    while let Some(index) = next {
        if let Some(start) = places[index] {
            path.drain(..start);
            break;
        }
        places[index] = Some(path.len());
        path.push(index);
        next = below[index].iter().copied().find(is_left);
    }
    let Some(first) = path.iter().min().copied() else { return };
    path.push(path[0]);
    let mut names: Vec<String> = path.iter().take(LONGEST).map(|index| format!("`{}`", entries[*index].name)).collect();
    if path.len() > LONGEST {
        names.push(format!("{} more", path.len() - LONGEST));
    }
    notes.push(
        Note::error(
            "study-circle",
            Some(entries[first].place()),
            format!("layers rest on each other in a circle: {}", names.join(" on ")),
        )
        .hint("let one of them rest on a drive"),
    );
}
