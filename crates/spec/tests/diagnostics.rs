//! How broken studies are reported: everything at once, with carets and advice.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

fn rendered(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/broken").join(name);
    let text = fs::read_to_string(path).unwrap();
    let (design, notes) = spec::parse(&text);
    assert_eq!(design, None);
    spec::render(name, &text, &notes, false)
}

#[test]
fn a_dozen_problems_at_once() {
    insta::assert_snapshot!(rendered("dozen.toml"));
}
