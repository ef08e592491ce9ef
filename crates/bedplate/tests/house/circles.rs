//! Files of a room that import each other in a circle: two at most.
//!
//! A file may use what the modules around it define: that is what they are for. A re-export is no use.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{self, Source};

/// Most files in one circle.
const MOST: usize = 2;

/// A module by its names from the room's root, which has none.
type Path = Vec<String>;

/// What a file defines, takes and hands on.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    /// Names that `use` brings in, each with its path as written; those handed on by `pub use` are among them.
    brought: BTreeMap<String, Path>,
    /// Paths that the code takes.
    taken: Vec<Path>,
}

/// Modules of a room.
struct Room(BTreeMap<Path, Module>);

impl Room {
    fn of(sources: &[&Source]) -> Self {
        let path = |source: &Source| -> Path {
            let below = source.path.split('/').skip(3).collect::<Vec<_>>().join("/");
            let names = below.trim_end_matches(".rs").split('/').map(str::to_owned);
            names.filter(|name| !["lib", "main", "mod"].contains(&name.as_str())).collect()
        };
        let mut room = Self(sources.iter().map(|source| (path(source), Module::of(source))).collect());
        // What is brought in is a path of its own where it is no module's.
        let paths: Vec<Path> = room.0.keys().cloned().collect();
        for at in &paths {
            let module = &room.0[at];
            let more: Vec<Path> = module.taken.iter().map(|path| module.whole(path)).collect();
            if let Some(module) = room.0.get_mut(at) {
                module.taken = more;
            }
        }
        room
    }

    /// The file that defines what a path names.
    fn find(&self, from: &Path, path: &Path, steps: usize) -> Option<Path> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Path::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let up = path.iter().take_while(|name| *name == "super").count();
                (from[..from.len().checked_sub(up)?].to_vec(), &path[up..])
            }
            // A child by its name, or a crate of somebody else's.
            name => {
                (from.clone(), self.0.contains_key(&[&from[..], &[name.to_owned()]].concat()).then_some(&path[..])?)
            }
        };
        while let Some(name) = rest.first() {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if !self.0.contains_key(&child) {
                break;
            }
            (at, rest) = (child, &rest[1..]);
        }
        let module = self.0.get(&at)?;
        let Some(name) = rest.first().filter(|name| !module.items.contains(*name)) else { return Some(at) };
        match module.brought.get(name) {
            Some(brought) if steps > 0 => self.find(&at, &[&brought[..], &rest[1..]].concat(), steps - 1),
            _ => Some(at),
        }
    }

    /// Files that a file takes something of, without those around it.
    fn takes(&self, from: &Path) -> BTreeSet<Path> {
        let found = self.0[from].taken.iter().filter_map(|path| self.find(from, path, 8));
        found.filter(|at| !from.starts_with(at)).collect()
    }

    /// Circles: files from each of which each other can be reached.
    fn circles(&self) -> Vec<Vec<&str>> {
        let takes: BTreeMap<&Path, BTreeSet<Path>> = self.0.keys().map(|path| (path, self.takes(path))).collect();
        let reach = |from: &Path| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(at) = next.pop() {
                next.extend(takes[&at].iter().filter(|to| seen.insert((*to).clone())).cloned());
            }
            seen
        };
        let reach: BTreeMap<&Path, BTreeSet<Path>> = self.0.keys().map(|path| (path, reach(path))).collect();
        let mut circles = BTreeSet::new();
        for (from, all) in reach.iter().filter(|(from, all)| all.contains(**from)) {
            let circle = all.iter().filter(|to| reach[to].contains(*from));
            circles.insert(circle.map(|path| self.0[path].file.as_str()).collect::<Vec<_>>());
        }
        circles.into_iter().collect()
    }
}

impl Module {
    fn of(source: &Source) -> Self {
        let mut module = Self { file: source.path.clone(), ..Self::default() };
        let mut rest = String::new();
        let mut code = source.code.as_str();
        while let Some((before, is_public, tree, after)) = next_use(code) {
            rest.push_str(before);
            for (path, name) in expand(tree, &Path::new()) {
                if !is_public {
                    module.taken.push(path.clone());
                }
                module.brought.insert(name, path);
            }
            code = after;
        }
        rest.push_str(code);
        let words: Vec<&str> = rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).collect();
        for pair in words.windows(2) {
            if ["fn", "struct", "enum", "trait", "type", "const", "static"].contains(&pair[0]) {
                module.items.insert(pair[1].trim_end_matches(':').to_owned());
            }
        }
        let paths = words.iter().filter(|word| word.contains("::") && !word.starts_with(':'));
        module.taken.extend(paths.map(|word| word.split("::").map(str::to_owned).collect::<Path>()));
        module
    }

    /// A path with its first name put in full, where `use` brought that in.
    fn whole(&self, path: &Path) -> Path {
        self.brought.get(&path[0]).map_or_else(|| path.clone(), |brought| [brought, &path[1..]].concat())
    }
}

/// The next `use`: what is before it, whether it hands on, its tree, and what is behind it.
fn next_use(code: &str) -> Option<(&str, bool, &str, &str)> {
    let mut at = 0;
    loop {
        let found = at + code[at..].find("use ")?;
        let line = code[..found].rsplit('\n').next().unwrap_or("").trim();
        if line.is_empty() || line.starts_with("pub") && !line.contains(['{', ';', '=']) {
            let (tree, after) = code[found + 4..].split_once(';')?;
            return Some((&code[..found], !line.is_empty(), tree, after));
        }
        at = found + 4;
    }
}

/// Paths of a tree of `use`, each with the name that it gets.
fn expand(tree: &str, before: &Path) -> Vec<(Path, String)> {
    let names = |text: &str| -> Path {
        text.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    parts(tree)
        .into_iter()
        .flat_map(|part| match part.split_once('{') {
            Some((head, inner)) => {
                let head = [before.clone(), names(head)].concat();
                expand(inner.trim_end().trim_end_matches('}'), &head)
            }
            None => {
                let (path, name) = part.split_once(" as ").map_or((part, None), |(path, name)| (path, Some(name)));
                let mut path = [before.clone(), names(path)].concat();
                if path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let name = name.map_or_else(|| path.last().cloned(), |name| Some(name.trim().to_owned()));
                name.map(|name| (path, name)).into_iter().collect()
            }
        })
        .collect()
}

/// Parts between commas that are in no braces.
fn parts(tree: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(tree[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(tree[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[test]
fn files_import_each_other_in_no_circle_of_three() {
    let sources = source::all();
    let mut rooms: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_product() && !source.path.ends_with("/tests.rs")) {
        rooms.entry(source.room()).or_default().push(source);
    }
    let circles: Vec<String> = rooms
        .values()
        .flat_map(|files| Room::of(files).circles().iter().map(|circle| circle.join(", ")).collect::<Vec<_>>())
        .collect();
    let large: Vec<&String> = circles.iter().filter(|circle| circle.split(", ").count() > MOST).collect();
    assert!(
        large.is_empty(),
        "circles of more than {MOST} files:\n{large:#?}\nof {} circles:\n{circles:#?}",
        circles.len()
    );
}

#[test]
fn circles_are_found_through_re_exports_and_whole_paths() {
    let source = |name: &str, text: &str| Source::new(&format!("crates/x/src/{name}.rs"), text);
    let circles = |files: &[Source]| {
        let files: Vec<&Source> = files.iter().collect();
        Room::of(&files).circles().iter().map(|circle| circle.join(" ")).collect::<Vec<_>>()
    };
    let all = |names: &[&str]| names.iter().map(|n| format!("crates/x/src/{n}.rs")).collect::<Vec<_>>().join(" ");
    let files = [
        source("lib", "mod a;\nmod b;\nmod c;\npub use a::A;\n"),
        source("a", "use crate::b::{self, C as D};\npub struct A;\nfn f() -> D { b::g() }\n"),
        source("b", "pub(crate) struct C;\npub(crate) fn g() -> C { crate::c::h(); C }\n"),
        source("c", "use super::A;\npub(crate) fn h() -> A { A }\n"),
    ];
    assert_eq!(circles(&files), [all(&["a", "b", "c"])]);
    // What a module defines for those inside it is no circle, and what it hands on neither.
    let files = [
        source("lib", "mod a;\npub(crate) fn f() {}\n"),
        source("a", "mod b;\npub(crate) use b::g;\npub(crate) struct A;\nfn h() { b::g(A) }\n"),
        source("a/b", "use super::A;\npub(crate) fn g(_: A) { crate::f() }\n"),
    ];
    assert_eq!(circles(&files), [""; 0]);
}
