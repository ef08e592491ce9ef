//! Which steps a plan has, and what they say, where that hangs on a choice.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use plan::DriveSize;
use terms::plan::Step;

/// Steps of the only stack of a study on four drives.
fn steps(layers: &str) -> Vec<Step> {
    let drives: String = ["a", "b", "c", "d"].map(|name| format!("{{ name = '{name}', size = '1 GiB' }}, ")).concat();
    let text = format!("question = 'q'\n[lab]\ndrives = [{drives}]\n[[stack]]\nname = 's'\nlayers = [{layers}]\n");
    let (design, notes) = spec::parse(&text);
    let design = design.unwrap_or_else(|| panic!("{layers}: {notes:?}"));
    plan::plans(&design.stacks, &DriveSize::of_lab(&design.lab)).remove(0).unwrap().steps
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

#[test]
fn who_starts_a_resync_is_said() {
    let array =
        |state: &str| format!("{{ raid = {{ level = 1, bitmap = 'none', state = '{state}' }}, on = ['a', 'b'] }}");
    assert!(why(&array("resync"), "raid.sync").unwrap().contains("no step starts a resync"));
    assert!(!why(&array("whole"), "raid.sync").unwrap().contains("no step starts"));
}

#[test]
fn a_snapshot_of_a_thin_volume_copies_nothing() {
    let volume = |thin: &str| format!("{{ lvm = {{ snapshot = true{thin} }}, on = 'a' }}, {{ ext4 = {{}} }}");
    assert!(why(&volume(""), "lvm.snapshot").unwrap().contains("copies what was there"));
    assert!(why(&volume(", thin_chunk = '64 KiB'"), "lvm.snapshot").unwrap().contains("no write copies"));
}

#[test]
fn records_that_an_older_version_refuses_name_the_version() {
    let pool = |size: &str| format!("{{ zfs = {{ recordsize = '{size}' }}, on = 'a' }}");
    assert!(why(&pool("2 MiB"), "zfs.create").unwrap().contains("OpenZFS 2.2"));
    assert!(!why(&pool("1 MiB"), "zfs.create").unwrap().contains("OpenZFS"));
}
