//! What `bedplate expect` prints, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

mod program;

use program::run;

const STUDY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/quickstart.toml");
const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../model/tests/machines/two-sn770.toml");

fn narrow(text: &str) {
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn a_study_is_expected_in_80_columns() {
    let (status, text, said) = run(&["expect", STUDY, "--machine", MACHINE]);
    assert_eq!(status, 0, "{said}");
    narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn the_arithmetic_is_shown_with_its_sources() {
    let (status, text, said) = run(&["expect", STUDY, "--machine", MACHINE, "--only", "1", "--explain"]);
    assert_eq!(status, 0, "{said}");
    narrow(&text);
    for words in
        ["roofs, the lowest first", "3.938 GB/s × 256/(256 + 24)", "guessed", "published", "10 % more of this buys"]
    {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {text}");
    }
    let (_, ascii, _) = run(&["expect", STUDY, "--machine", MACHINE, "--ascii", "--explain"]);
    assert!(ascii.is_ascii(), "{:?}", ascii.lines().find(|line| !line.is_ascii()));
}

#[test]
fn json_has_units_in_its_keys() {
    let (status, text, _) = run(&["expect", STUDY, "--machine", MACHINE, "--state", "resync", "--json"]);
    assert_eq!(status, 0);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "bedplate.expectation");
    let predictions = document["predictions"].as_array().unwrap();
    let resyncing = predictions.iter().filter(|one| one["resync_bytes_per_second"]["value"].is_number()).count();
    assert!(resyncing > 0 && resyncing < predictions.len(), "arrays are out of step, and only they");
    for key in ["throughput_bytes_per_second", "operations_per_second", "latency_mean_ns", "latency_p99_ns"] {
        assert!(predictions.iter().all(|one| one[key]["ninety"]["low"].is_number()), "{key}");
    }
}

#[test]
fn this_machine_is_read_where_none_is_named() {
    let (status, text, said) = run(&["expect", STUDY, "--only", "1"]);
    assert_eq!(status, 0, "{said}");
    assert!(text.starts_with("Expected on "), "{text}");
}

#[test]
fn a_description_with_faults_is_refused_with_their_places() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("board.toml");
    std::fs::write(&file, "machine = \"m\"\ncores = 4\n[[drive]]\nname = \"a\"\nread = \"fast\"\n").unwrap();
    let (status, text, said) = run(&["expect", STUDY, "--machine", file.to_str().unwrap()]);
    assert_eq!((status, text.as_str()), (2, ""));
    assert!(said.contains("machine-bad-value") && said.contains("^^^^^^"), "{said}");
}
