//! docs/profiles.md lists every profile as the program knows it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Where the hand-written part ends.
const MARK: &str = "\n## `";

fn reference() -> String {
    let mut text = String::new();
    for profile in spec::profile::all() {
        let count = profile.workloads.len();
        let plural = if count == 1 { "" } else { "s" };
        let (name, help, source) = (profile.name, profile.help, profile.source);
        writeln!(text, "\n## `{name}`\n\n{help} {count} workload{plural}. Exact to: {source}.").unwrap();
        if !profile.differs.is_empty() {
            text.push('\n');
        }
        for difference in profile.differs {
            writeln!(text, "- {difference}").unwrap();
        }
    }
    text
}

/// `BLESS=1` writes the page anew.
#[test]
fn the_page_has_every_profile() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles.md");
    let page = fs::read_to_string(&path).unwrap();
    let (hand_written, _) = page.split_once(MARK).unwrap();
    let fresh = format!("{hand_written}{}", reference());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/profiles.md is out of date: run with BLESS=1");
    }
}
