//! Stacks that a study wants to see side by side.

use terms::{Chart, Note, Workload, is_called, slug};

use crate::fields::{Fields, Word};
use crate::suggest::meant;

/// Reads every `[[chart]]`; those with errors are noted and left out.
pub(crate) fn read(study: &Fields, workloads: &[Workload], notes: &mut Vec<Note>) -> Vec<Chart> {
    // A stack with errors has been noted: that a chart names it is no second one.
    let names: Vec<&str> = study.tables("stack").iter().filter_map(|stack| stack.text("name")).collect();
    study.tables("chart").iter().filter_map(|fields| chart(fields, &names, workloads, notes)).collect()
}

fn chart(fields: &Fields, names: &[&str], workloads: &[Workload], notes: &mut Vec<Note>) -> Option<Chart> {
    let before = notes.len();
    let known: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    let stacks = expand(fields.names("stacks").unwrap_or_default(), names, "stack", notes);
    let wanted = expand(fields.names("workloads").unwrap_or_default(), &known, "workload", notes);
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
            .iter()
            .map(|of| &of.name)
            .filter(|name| wanted.contains(&name.as_str()))
            .cloned()
            .collect(),
        latency: fields.boolean("latency").unwrap_or_default(),
    })
}

/// The names that each word means, each name once, in the order of the words; words that mean none are noted.
fn expand<'n>(words: &[Word], names: &[&'n str], what: &str, notes: &mut Vec<Note>) -> Vec<&'n str> {
    let mut found: Vec<&str> = Vec::new();
    for word in words {
        let meant_by_it: Vec<&str> = names.iter().copied().filter(|name| is_called(name, &word.text)).collect();
        if meant_by_it.is_empty() {
            let message = format!("no {what} is called `{}`", word.text.escape_debug());
            let hint =
                meant(&word.text, names.iter().copied(), || format!("name a {what} of the study, or several with `*`"));
            notes.push(Note::error("study-unknown-in-chart", Some(word.span), message).hint(hint));
        }
        for name in meant_by_it {
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
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
