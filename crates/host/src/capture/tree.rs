//! Where a path leads in a capture, and what is known not to be there.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::{Capture, Entry};

/// Links that may be followed on one way, as in the kernel (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// What is at a path.
pub(super) struct Found<'c> {
    /// The path with all links followed.
    pub(super) path: String,
    /// What is known of it; nothing of a directory that is only known to hold something.
    pub(super) entry: Option<&'c Entry>,
}

/// Why nothing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// It was looked for and is not there.
    Absent,
    /// Nobody looked.
    NotCaptured,
    /// Links lead in a circle.
    Circle,
}

/// Follows a path from the root, one name after the other.
pub(super) fn find<'c>(capture: &'c Capture, path: &str) -> Result<Found<'c>, Lack> {
    // Names that are still to be followed, the next one last.
    let mut open: Vec<String> = names_of(path);
    let mut at = String::new();
    let mut entry = None;
    let mut links = 0;
    while let Some(name) = open.pop() {
        if name == ".." {
            at.truncate(at.rfind('/').unwrap_or(0));
            entry = capture.entries.get(&at);
            continue;
        }
        let parent = at.len();
        at.push('/');
        at.push_str(&name);
        entry = look(capture, &at, parent)?;
        if let Some(Entry::Link(target)) = entry {
            links += 1;
            if links > MOST_LINKS {
                return Err(Lack::Circle);
            }
            at.truncate(if target.starts_with('/') { 0 } else { parent });
            open.extend(names_of(target));
        }
    }
    if let Some(Entry::Link(_)) = entry {
        entry = capture.entries.get(&at);
    }
    Ok(Found { path: if at.is_empty() { "/".to_owned() } else { at }, entry })
}

/// The names of a path, last one first.
fn names_of(path: &str) -> Vec<String> {
    path.rsplit('/').filter(|name| !name.is_empty() && *name != ".").map(ToOwned::to_owned).collect()
}

/// What is known of a path whose directory, the first `parent` bytes of it, was found.
fn look<'c>(capture: &'c Capture, path: &str, parent: usize) -> Result<Option<&'c Entry>, Lack> {
    if capture.unseen.contains(path) {
        return Err(Lack::NotCaptured);
    }
    match capture.entries.get(path) {
        Some(Entry::Absent) => Err(Lack::Absent),
        Some(entry) => Ok(Some(entry)),
        None if has_children(capture, path) || hides(capture, path) || capture.whole.contains(path) => Ok(None),
        None => Err(lack(capture, path, parent)),
    }
}

/// Why there is nothing at a path: because its directory is known whole, or because nobody looked.
fn lack(capture: &Capture, path: &str, parent: usize) -> Lack {
    let (directory, name) = (&path[..parent], &path[parent + 1..]);
    match capture.entries.get(if directory.is_empty() { "/" } else { directory }) {
        Some(Entry::Directory(names)) if !names.contains(name) => Lack::Absent,
        Some(Entry::File(_)) => Lack::Absent,
        Some(Entry::Directory(_)) => Lack::NotCaptured,
        _ if is_whole(capture, directory) => Lack::Absent,
        _ => Lack::NotCaptured,
    }
}

fn is_whole(capture: &Capture, directory: &str) -> bool {
    let mut above = Some(directory);
    while let Some(path) = above {
        if capture.whole.contains(if path.is_empty() { "/" } else { path }) {
            return true;
        }
        above = path.rfind('/').map(|end| &path[..end]);
    }
    false
}

/// Is there something below a path that nobody looked at?
fn hides(capture: &Capture, path: &str) -> bool {
    capture.unseen.iter().any(|unseen| unseen.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
}

pub(super) fn has_children(capture: &Capture, path: &str) -> bool {
    below(capture, path).next().is_some()
}

/// Entries below a path, whose paths begin with it and a slash.
fn below<'c>(capture: &'c Capture, path: &str) -> impl Iterator<Item = (&'c str, &'c Entry)> {
    let prefix = format!("{}/", path.trim_end_matches('/'));
    let from = (Bound::Included(prefix.clone()), Bound::Unbounded);
    capture
        .entries
        .range::<String, _>(from)
        .take_while(move |(path, _)| path.starts_with(&prefix))
        .map(|(path, entry)| (path.as_str(), entry))
}

/// The names in a directory; `None` where nobody listed it.
pub(super) fn names(capture: &Capture, path: &str) -> Option<BTreeSet<String>> {
    let directory = path.trim_end_matches('/');
    let mut names = match capture.entries.get(path) {
        Some(Entry::Directory(names)) => names.clone(),
        _ if is_whole(capture, directory) => BTreeSet::new(),
        _ => return None,
    };
    let start = directory.len() + 1;
    let mut prefix = format!("{directory}/");
    // What nobody looked at is there all the same.
    let inside = |unseen: &String| Some(unseen.strip_prefix(&prefix)?.split('/').next()?.to_owned());
    names.extend(capture.unseen.iter().filter_map(inside));
    // Jumps from name to name and leaves out all that lies below each.
    loop {
        let from = (Bound::Included(prefix.clone()), Bound::Unbounded);
        let Some((next, entry)) = capture.entries.range::<String, _>(from).next() else { break };
        if !next.starts_with(&prefix[..start]) {
            break;
        }
        let name = next[start..].split('/').next().unwrap_or_default();
        if next.len() > start + name.len() || *entry != Entry::Absent {
            names.insert(name.to_owned());
        }
        // `0` is the character after `/`: the first path that is not below this name. A name that continues with a
        // character before `/` was sorted before what is below it and is found by going on from there.
        prefix = if next.len() > start + name.len() { format!("{directory}/{name}0") } else { format!("{next}\u{0}") };
    }
    Some(names)
}
