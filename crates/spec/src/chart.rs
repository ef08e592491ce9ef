//! Stacks that a study wants to see side by side.

use std::collections::{HashMap, HashSet};

use terms::{Chart, Name, Note, Workload, is_called, slug};

use crate::fields::{Fields, too_many};
use crate::suggest::{is_worth_it, meant};

/// Charts of a study, patterns of one of them, and what it shows, at most. Each chart may name all stacks in a few letters,
/// so without bounds a short text would become a long report.
const MOST_CHARTS: usize = 100;
const MOST_PATTERNS: usize = 32;
const MOST_SHOWN: usize = 256;

/// Reads every `[[chart]]`; those with errors are noted and left out.
pub(crate) fn read(study: &Fields, workloads: &[Workload], notes: &mut Vec<Note>) -> Vec<Chart> {
    // A stack with errors has been noted: that a chart names it is no second one.
    let stacks = Names::new("stack", study.tables("stack").iter().filter_map(|stack| stack.text("name")));
    let workloads = Names::new("workload", workloads.iter().map(|workload| workload.name.as_str()));
    let tables = study.tables("chart");
    if let Some(note) = too_many(tables, MOST_CHARTS, "study-too-many-charts", "charts") {
        notes.push(note.hint("leave some out: every stack has figures of its own"));
        return Vec::new();
    }
    tables.iter().filter_map(|fields| chart(fields, &stacks, &workloads, notes)).collect()
}

fn chart(fields: &Fields, known: &Names<'_>, workloads: &Names<'_>, notes: &mut Vec<Note>) -> Option<Chart> {
    let before = notes.len();
    let stacks = known.expand(fields, "stacks", notes);
    let wanted: HashSet<&str> = workloads.expand(fields, "workloads", notes).into_iter().collect();
    if notes.len() == before && fields.names("stacks").is_some() && stacks.len() < 2 {
        let message = "a chart compares at least two stacks";
        let note = Note::error("study-chart-of-one", Some(fields.place("stacks")), message);
        notes.push(note.hint("name another stack, or leave the chart out: every stack has figures of its own"));
    }
    if notes.len() > before {
        return None;
    }
    Some(Chart {
        title: fields.text("title")?.to_owned(),
        note: fields.text("note").map(str::to_owned),
        stacks: stacks.into_iter().map(slug).collect(),
        workloads: workloads
            .all
            .iter()
            .filter(|name| wanted.contains(*name))
            .filter_map(|name| Name::new(*name).ok())
            .collect(),
        latency: fields.boolean("latency").unwrap_or_default(),
    })
}

/// Names that words of a chart can mean.
struct Names<'n> {
    /// What they are of.
    what: &'static str,
    all: Vec<&'n str>,
    /// Which of them have this name in small letters, or this slug.
    places: HashMap<String, Vec<usize>>,
}

impl<'n> Names<'n> {
    fn new(what: &'static str, names: impl Iterator<Item = &'n str>) -> Self {
        let all: Vec<&str> = names.collect();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, name) in all.iter().enumerate() {
            let (plain, slug) = (name.to_ascii_lowercase(), slug(name));
            if slug != plain {
                places.entry(slug).or_default().push(at);
            }
            places.entry(plain).or_default().push(at);
        }
        Self { what, all, places }
    }

    /// The names that a word means.
    fn of(&self, word: &str) -> Vec<&'n str> {
        if word.contains('*') {
            return self.all.iter().copied().filter(|name| is_called(name, word)).collect();
        }
        let found = self.places.get(&word.trim().to_ascii_lowercase()).into_iter().flatten();
        found.map(|at| self.all[*at]).filter(|name| is_called(name, word)).collect()
    }

    /// The names that each word of a key means, each name once, in the order of the words; words that mean none are noted.
    fn expand(&self, fields: &Fields, key: &str, notes: &mut Vec<Note>) -> Vec<&'n str> {
        let Self { what, all, .. } = self;
        let words = fields.names(key).unwrap_or_default();
        let patterns = words.iter().filter(|word| word.text.contains('*'));
        if let Some(word) = patterns.clone().nth(MOST_PATTERNS) {
            let message = format!("more than {MOST_PATTERNS} patterns for one chart");
            notes.push(Note::error("study-too-many-patterns", Some(word.span), message).hint("name what it shows"));
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for word in words {
            let meant_by_it = self.of(&word.text);
            if meant_by_it.is_empty() {
                let message = format!("no {what} is called `{}`", word.text.escape_debug());
                let note = Note::error("study-unknown-in-chart", Some(word.span), message);
                let otherwise = || format!("name a {what} of the study, or several with `*`");
                notes.push(match is_worth_it(notes) {
                    true => note.hint(meant(&word.text, all.iter().copied(), otherwise)),
                    false => note,
                });
            }
            found.extend(meant_by_it.into_iter().filter(|name| seen.insert(*name)));
        }
        if found.len() > MOST_SHOWN {
            let message = format!("a chart of {} {what}s shows nothing", found.len());
            let note = Note::error("study-chart-of-many", Some(fields.place(key)), message);
            notes.push(note.hint(format!("name {MOST_SHOWN} at most")));
            found.truncate(MOST_SHOWN);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use terms::Chart;

    fn read(charts: &str) -> (Option<Vec<Chart>>, String) {
        let text = format!(
            "question = \"?\"\nlab.drives = [{{ name = \"a\", size = \"512 MiB\" }}]\nmeasure.profiles = \"seed-001\"\n\
             stack = [\n{}]\n{charts}",
            ["#1 ext4", "#2 XFS", "#10 btrfs"]
                .map(|name| format!("{{ name = \"{name}\", layers = [{{ ext4 = {{}}, on = \"a\" }}] }},\n"))
                .concat()
        );
        let (design, notes) = crate::parse(&text);
        (design.map(|design| design.charts), crate::render("s.toml", &text, &notes, false))
    }

    #[test]
    fn stacks_stand_in_the_order_in_which_they_are_named() {
        let (charts, told) = read("[[chart]]\ntitle = \"t\"\nstacks = [\"#10 *\", \"#1*\", \"#2 xfs\"]");
        assert_eq!(told, "");
        assert_eq!(charts.unwrap()[0].stacks, ["10-btrfs", "1-ext4", "2-xfs"]);
    }

    #[test]
    fn a_chart_may_be_of_some_workloads() {
        let (charts, told) = read("[[chart]]\ntitle = \"t\"\nstacks = [\"*\"]\nworkloads = \"seq-*-read\"");
        assert_eq!(told, "");
        let charts = charts.unwrap();
        assert_eq!(charts[0].stacks.len(), 3);
        assert_eq!(charts[0].workloads.iter().map(ToString::to_string).collect::<Vec<_>>(), ["seq-1m-q8-t1-read"]);
        assert_eq!(charts[0].note, None);
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let (charts, told) = read(
            "[[chart]]\ntitle = \"t\"\nstacks = [\"#3 *\", \"#2 XSF\"]\nworkloads = [\"speed\"]\n\
             [[chart]]\nstacks = \"#1 *\"\n[[chart]]\ntitle = \"t\"\nstacks = []",
        );
        assert_eq!(charts, None);
        for part in ["called `#3 *`", "did you mean `#2 XFS`?", "called `speed`", "at least two stacks", "`title`"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(told.matches("error[").count(), 6, "{told}");
    }
}
