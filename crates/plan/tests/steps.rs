//! Which steps a plan has, and what they say, where that hangs on a choice.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use plan::DriveFact;
use terms::plan::Step;

/// Steps of the only stack of a study on four drives.
fn steps(layers: &str) -> Vec<Step> {
    let drives: String = ["a", "b", "c", "d"].map(|name| format!("{{ name = '{name}', size = '1 GiB' }}, ")).concat();
    let text = format!("question = 'q'\n[lab]\ndrives = [{drives}]\n[[stack]]\nname = 's'\nlayers = [{layers}]\n");
    let (design, notes) = spec::parse(&text);
    let design = design.unwrap_or_else(|| panic!("{layers}: {notes:?}"));
    plan::plans(&design.stacks, &DriveFact::of_lab(&design.lab)).remove(0).unwrap().steps
}

/// What the only step of this name says.
fn why(layers: &str, id: &str) -> Option<String> {
    steps(layers).into_iter().find(|step| step.id == id).map(|step| step.why)
}

#[test]
fn members_with_checksums_are_kept_where_md_counts_their_errors_by_the_hour() {
    for (level, is_kept) in [(1, true), (10, true), (5, false), (6, false)] {
        let array = format!("{{ integrity = {{}}, on = ['a', 'b', 'c', 'd'] }}, {{ raid = {{ level = {level} }} }}");
        assert_eq!(why(&array, "raid.keep-members").is_some(), is_kept, "RAID-{level}");
    }
}
