//! Who imports whom: the table in ARCHITECTURE.md against the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::source::root;

/// The line before the table.
const MARK: &str = "<!-- house: edges -->";

/// What a room may use of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Anywhere.
    Any,
    /// In its tests only.
    Tests,
}

/// Allowed edges by importer and imported.
pub(crate) type Edges = BTreeMap<(String, String), Edge>;

/// The table of a document, and its rooms in order. What is wrong with the table goes into `wrong`.
pub(crate) fn table(document: &str, wrong: &mut Vec<String>) -> (Vec<String>, Edges) {
    let Some((before, after)) = document.split_once(MARK) else {
        wrong.push(format!("ARCHITECTURE.md: no line `{MARK}` before the table of edges"));
        return (Vec::new(), Edges::new());
    };
    let first = before.lines().count() + 1;
    let rows = after.trim_start().lines().take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.map(cells).collect();
    let columns: Vec<&str> = rows.first().map_or(Vec::new(), |row| row[1..].to_vec());
    let (mut rooms, mut edges) = (Vec::new(), Edges::new());
    for (number, row) in rows.iter().enumerate().skip(2) {
        let room = row[0].to_owned();
        for (column, cell) in columns.iter().zip(&row[1..]) {
            let edge = match *cell {
                "" => continue,
                "x" => Edge::Any,
                "t" => Edge::Tests,
                other => {
                    wrong.push(format!("ARCHITECTURE.md:{}: `{other}` is neither `x` nor `t`", first + number));
                    continue;
                }
            };
            edges.insert((room.clone(), (*column).to_owned()), edge);
        }
        rooms.push(room);
    }
    (rooms, edges)
}

fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Edges of a manifest that are not allowed.
pub(crate) fn breaches(room: &str, manifest: &str, rooms: &BTreeSet<String>, edges: &Edges) -> Vec<String> {
    let mut found = Vec::new();
    let mut section = String::new();
    for (number, line) in manifest.lines().enumerate() {
        if let Some(name) = line.trim().strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
            continue;
        }
        let name = line.split(['=', '.', ' ']).next().unwrap_or("").trim_matches('"').to_owned();
        if !section.ends_with("dependencies") || !rooms.contains(&name) {
            continue;
        }
        let only_tests = section.ends_with("dev-dependencies");
        let allowed = match edges.get(&(room.to_owned(), name.clone())) {
            Some(Edge::Any) => true,
            Some(Edge::Tests) => only_tests,
            None => false,
        };
        if !allowed {
            found.push(format!("crates/{room}/Cargo.toml:{}: {room} may not import {name} ({section})", number + 1));
        }
    }
    found
}

/// The directories under `crates`.
pub(crate) fn rooms() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap());
    entries.filter(|e| e.path().join("Cargo.toml").is_file()).map(|e| e.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_forbidden_edge_is_found() {
    let document =
        format!("# A\n\n{MARK}\n\n| | terms | plan |\n| - | - | - |\n| terms | | |\n| plan | x | |\n| lab | x | t |\n");
    let mut wrong = Vec::new();
    let (order, edges) = table(&document, &mut wrong);
    assert_eq!((order.join(" ").as_str(), wrong.len()), ("terms plan lab", 0));
    let rooms = order.into_iter().collect();
    let check = |room: &str, manifest: &str, expected: &[&str]| {
        assert_eq!(breaches(room, manifest, &rooms, &edges), expected, "{manifest}");
    };
    check("plan", "[dependencies]\nterms = { workspace = true }\nserde = \"1\"\n", &[]);
    check("lab", "[dev-dependencies]\nplan.workspace = true\n", &[]);
    check(
        "lab",
        "[dependencies]\nplan.workspace = true\n",
        &["crates/lab/Cargo.toml:2: lab may not import plan (dependencies)"],
    );
    check(
        "terms",
        "\n[dependencies]\nlab = {}\n",
        &["crates/terms/Cargo.toml:3: terms may not import lab (dependencies)"],
    );
}
