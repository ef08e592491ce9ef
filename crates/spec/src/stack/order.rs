//! Building order: what others rest on comes first, and otherwise the order of the file.

use terms::Note;

use super::entry::{Entry, Links, To};

/// Indexes of entries in building order; `None` if they rest on each other in a circle, which is noted.
pub(super) fn order(entries: &[Entry<'_>], links: &[Links], notes: &mut Vec<Note>) -> Option<Vec<usize>> {
    let below: Vec<Vec<usize>> = links.iter().map(entries_below).collect();
    let mut order: Vec<usize> = Vec::new();
    while order.len() < entries.len() {
        // The first of the file that is ready: this keeps the order stable.
        let ready =
            (0..entries.len()).find(|i| !order.contains(i) && below[*i].iter().all(|needed| order.contains(needed)));
        match ready {
            Some(index) => order.push(index),
            None => {
                note_circle(entries, &below, &order, notes);
                return None;
            }
        }
    }
    Some(order)
}

fn entries_below(links: &Links) -> Vec<usize> {
    let all = links.on.iter().chain(&links.special);
    all.filter_map(|link| if let To::Entry(index) = link.to { Some(index) } else { None }).collect()
}

/// Walks down from any entry left over until one comes twice: those between are the circle.
fn note_circle(entries: &[Entry<'_>], below: &[Vec<usize>], done: &[usize], notes: &mut Vec<Note>) {
    let mut path: Vec<usize> = Vec::new();
    let mut next = (0..entries.len()).find(|i| !done.contains(i));
    while let Some(index) = next {
        if let Some(start) = path.iter().position(|known| *known == index) {
            path.drain(..start);
            break;
        }
        path.push(index);
        next = below[index].iter().copied().find(|i| !done.contains(i));
    }
    let Some(first) = path.iter().min().copied() else { return };
    path.push(path[0]);
    let names: Vec<String> = path.iter().map(|index| format!("`{}`", entries[*index].name)).collect();
    notes.push(
        Note::error(
            "study-circle",
            Some(entries[first].place()),
            format!("layers rest on each other in a circle: {}", names.join(" on ")),
        )
        .hint("let one of them rest on a drive"),
    );
}
