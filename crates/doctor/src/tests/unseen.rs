//! What nobody looked at is unknown. Each directory and each command of each machine is taken away in turn: no check
//! passes for it, none finds what it did not find, and no sentence says that something is not there.

#[path = "../../../host/tests/machines/mod.rs"]
mod machines;

use std::collections::{BTreeMap, BTreeSet};

use host::{Capture, inspect};
use report::{Style, diagnosis};
use terms::diagnosis::CheckEnd;

use crate::diagnose;

/// Words with which the sheet of a machine and a diagnosis say that there is none of something.
const NONE: [&str; 8] = [
    "no drives",
    "none of AES",
    "no AES",
    "0 ×",
    " 0 B ",
    "are not scaled",
    "without the rights of root",
    "Root can read more",
];

struct Said {
    states: BTreeMap<String, CheckEnd>,
    text: String,
}

fn said(capture: &Capture) -> Said {
    let inventory = inspect::examine(capture).unwrap();
    let found = diagnose(&inventory);
    let style = Style::default();
    let text = report::machine_sheet(&inventory, &style) + &diagnosis::text(&found, &style);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Said { states: found.checks.into_iter().map(|check| (check.check, check.state)).collect(), text }
}

/// What is claimed now and was not before.
fn claims(before: &Said, after: &Said) -> Vec<String> {
    let state = |(check, now): (&String, &CheckEnd)| {
        let was = before.states[check];
        let claimed = match (was, now) {
            // The nearer end of a link tells less than both, and more than nothing.
            (_, CheckEnd::Found) if check == "link-below-drive" => false,
            (CheckEnd::Found, CheckEnd::Found) | (_, CheckEnd::Unknown) => false,
            (was, now) => was != *now,
        };
        claimed.then(|| format!("{check} was {was:?} and is {now:?}"))
    };
    let words = |words: &&&str| after.text.matches(**words).count() > before.text.matches(**words).count();
    let states = after.states.iter().filter_map(state);
    states.chain(NONE.iter().filter(words).map(|words| format!("it says `{words}`"))).collect()
}

/// The first of those that differ in numbers only: what is true of one drive is true of the next.
fn first_of_each(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let plain = |text: &String| {
        let known: String = text.chars().filter(|c| !c.is_ascii_hexdigit()).collect();
        known
    };
    all.filter(|text| seen.insert(plain(text))).collect()
}

#[test]
fn what_nobody_looked_at_neither_passes_nor_is_absent() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tried = 0;
    for (name, machine) in machines::all() {
        let whole = Capture::parse(name, machine.text().as_bytes()).unwrap();
        let before = said(&whole);
        let directories = first_of_each(whole.directories().into_iter());
        let directories = directories.into_iter().map(|path| (path.clone(), whole.without(&path)));
        let commands = first_of_each(whole.runs().map(ToOwned::to_owned));
        let commands = commands.into_iter().map(|line| (line.clone(), whole.without_run(&line)));
        for (what, less) in directories.chain(commands) {
            tried += 1;
            for claim in claims(&before, &said(&less)) {
                wrong.entry(claim).or_default().push(format!("{name} without {what}"));
            }
        }
    }
    let count: usize = wrong.values().map(Vec::len).sum();
    let shown: Vec<String> = wrong.iter().map(|(claim, all)| format!("{} × {claim}: {}", all.len(), all[0])).collect();
    assert!(wrong.is_empty(), "{count} claims in {tried} tries\n{}", shown.join("\n"));
}
