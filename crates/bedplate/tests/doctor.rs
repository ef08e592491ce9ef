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
        let first = text.lines().next().unwrap();
        assert!(first.starts_with(&format!("{errors} error")) && first.contains("0 warnings"), "{name}: {first}");
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
fn what_cannot_be_put_back_is_not_fixed() {
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

/// The findings of a check in a capture, as JSON.
fn found_in(capture: &str, check: &str) -> Vec<terms::diagnosis::Finding> {
    let capture = Capture::parse("planted", capture.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let found = doctor::diagnose(&inspect::examine(&capture).unwrap()).findings;
    found.into_iter().filter(|found| found.check == check).collect()
}

/// An array of three, with what its files say.
fn array(files: &str, third: &str) -> String {
    let mut text = "bedplate capture 1\n\nwhole /sys\nwhole /proc\nwhole /etc\nwhole /run\n".to_owned();
    let md = "/sys/devices/virtual/block/md0";
    for name in ["block", "class/block"] {
        text += &format!("link /sys/{name}/md0 -> {md}\n");
    }
    for (slot, name) in ["sda", "sdb", "sdc"].into_iter().enumerate() {
        let drive = format!("/sys/devices/pci0000:00/0000:00:17.0/ata{slot}/block/{name}");
        text += &format!("link /sys/block/{name} -> {drive}\nlink /sys/class/block/{name} -> {drive}\n");
        text += &format!("file {drive}/dev = 8:{}\nfile {drive}/size = 1953525168\n", 16 * slot);
        text += &format!("link {md}/slaves/{name} -> {drive}\nlink {md}/md/dev-{name}/block -> {drive}\n");
        let state = if slot == 2 { third } else { "in_sync" };
        text += &format!("file {md}/md/dev-{name}/slot = {slot}\nfile {md}/md/dev-{name}/state = {state}\n");
    }
    text += &format!("file {md}/dev = 9:0\nfile {md}/size = 3906250000\n");
    files.lines().fold(text, |text, line| text + &format!("file {md}/md/{line}\n"))
}

const RAID5: &str = "level = raid5\nraid_disks = 3\narray_state = clean\ndegraded = 1";

#[test]
fn a_member_that_waits_for_its_turn_is_neither_missing_nor_at_the_beginning() {
    let capture = array(&format!("{RAID5}\nsync_action = recover\nsync_completed = delayed"), "spare");
    let said = found_in(&capture, "array-degraded");
    assert!(said[0].what.starts_with("2 of 3 members are in sync"), "{said:?}");
    assert!(said[0].remedy.commands.iter().all(|command| !command.contains("--add")), "{said:?}");
    let said = found_in(&capture, "array-resyncing");
    assert_eq!(said[0].what, "a rebuild waits for another");
    assert!(!said[0].why.contains("% are done"), "{said:?}");
}

#[test]
fn a_container_of_firmware_is_no_array_that_did_not_start() {
    let container = "array_state = inactive\nmetadata_version = external:imsm\nraid_disks = 0\nlevel =";
    assert_eq!(found_in(&array(container, "spare"), "array-not-running"), []);
}

#[test]
fn a_table_of_cron_that_checks_arrays_is_read() {
    let alone = array(&format!("{RAID5}\nsync_action = idle"), "in_sync");
    let said = |capture: &str| {
        // Units are asked of a program, which the capture has to have.
        let units =
            "run systemctl list-units --all --type=service,timer,socket --plain --no-legend --no-pager --full\n";
        found_in(&format!("{capture}{units}"), "no-scrub-timer").len()
    };
    assert_eq!(said(&alone), 1);
    let cron = "file /etc/cron.d/mdadm\n|57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all --idle --quiet\n";
    assert_eq!(said(&format!("{alone}{cron}")), 0);
    let comment = "file /etc/cron.d/mdadm\n|# 57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all\n";
    assert_eq!(said(&format!("{alone}{comment}")), 1);
}

/// On whatever machine this runs, it says something in the right form and panics nowhere.
#[test]
fn this_machine_is_diagnosed() {
    let (status, text, said) = run(&["doctor"]);
    assert!(status == 0 || status == 1, "{said}");
    assert!(text.lines().next().is_some_and(|line| line.ends_with("passed")), "{text}");
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}
