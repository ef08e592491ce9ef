//! What `bedplate doctor` says of machines built by hand, and how the program ends.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "../../host/tests/machines/mod.rs"]
mod machines;
mod program;

use host::{Capture, inspect};
use program::run;
use report::{Style, diagnosis};
use terms::diagnosis::Diagnosis;

fn diagnoses() -> Vec<(&'static str, Diagnosis)> {
    let diagnosis = |(name, machine): (&'static str, machines::Machine)| {
        let capture = Capture::parse(name, machine.text().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        (name, doctor::diagnose(&inspect::examine(&capture).unwrap()))
    };
    machines::all().into_iter().map(diagnosis).collect()
}

#[test]
fn machines_are_diagnosed_in_80_columns() {
    for (name, found) in diagnoses() {
        let text = diagnosis::text(&found, &Style::default());
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{name}: {wide:#?}");
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn the_program_ends_with_what_it_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("machine");
    for (name, machine) in machines::all() {
        std::fs::write(&file, machine.text()).unwrap();
        let path = file.to_str().unwrap();
        let (status, json, said) = run(&["doctor", "--machine", path, "--json"]);
        let found: Diagnosis = serde_json::from_str(&json).unwrap();
        let bad = found.worst() >= Some(terms::diagnosis::Severity::Warning);
        assert_eq!(status, i32::from(bad), "{name}: {said}");
        let (status, text, _) = run(&["doctor", "--machine", path, "--severity", "error"]);
        let errors = found.counts().errors;
        assert_eq!(status, i32::from(errors > 0), "{name}");
        let last = text.lines().last().unwrap();
        assert!(last.starts_with(&format!("{errors} error")) && last.contains("0 warnings"), "{name}: {last}");
    }
}

#[test]
fn checks_are_chosen_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("machine");
    std::fs::write(&file, machines::all().remove(0).1.text()).unwrap();
    let path = file.to_str().unwrap();
    let (_, json, _) = run(&["doctor", "--machine", path, "--json", "--only", "scheduler,lba-format"]);
    let found: Diagnosis = serde_json::from_str(&json).unwrap();
    assert_eq!(found.checks.len(), 2);
    let (status, _, said) = run(&["doctor", "--machine", path, "--only", "schedular"]);
    assert_eq!(status, 2);
    assert!(said.contains("no check is called `schedular`"), "{said}");
    let (status, list, _) = run(&["doctor", "--list"]);
    assert!(status == 0 && doctor::checks().all(|check| list.contains(check.id)));
    let (status, list, _) = run(&["doctor", "--list", "--json", "--only", "scheduler"]);
    let list: Vec<terms::diagnosis::About> = serde_json::from_str(&list).unwrap();
    assert!(status == 0 && list.len() == 1 && list[0].fixes);
}

#[test]
fn what_cannot_be_put_back_is_not_mended() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("machine");
    std::fs::write(&file, machines::all().remove(0).1.text()).unwrap();
    let (status, _, said) = run(&["doctor", "--machine", file.to_str().unwrap(), "--fix", "scheduler"]);
    assert!(status == 3 && said.contains("in a file"), "{said}");
    for check in ["lba-format", "link-below-both-ends", "array-degraded"] {
        let (status, out, said) = run(&["doctor", "--fix", check]);
        assert!(status == 3 && said.starts_with("refused: ") && out.is_empty(), "{said}");
    }
    let (status, _, said) = run(&["doctor", "--fix", "scheduler,lba-format"]);
    assert!(status == 3 && said.contains("lba-format"), "{said}");
}

/// On whatever machine this runs, it says something in the right form and panics nowhere.
#[test]
fn this_machine_is_diagnosed() {
    let (status, text, said) = run(&["doctor"]);
    assert!(status == 0 || status == 1, "{said}");
    assert!(text.trim_end().ends_with("passed"), "{text}");
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}
