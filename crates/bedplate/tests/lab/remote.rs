//! Remote drives: a second guest exports them, both go together, and nothing of this machine's network is in reach.

#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::process::Stdio;

use host::{Host, inspect};
use lab::Guest;
use terms::{Bytes, Drive};

use crate::bench::{Bench, text};
use crate::places::shell;

/// One drive over both networks, one over the first alone, and a local one before them.
const STUDY: &str = r#"
    question = "Are remote drives drives?"

    [lab]
    memory = "1 GiB"
    drives = [
        { name = "near", size = "64 MiB" },
        { name = "far", size = "96 MiB", kind = "nvme-tcp" },
        { name = "single", size = "96 MiB", kind = "nvme-tcp", lba = "4 KiB", paths = 1 },
    ]

    [[stack]]
    name = "far"
    layers = [{ ext4 = {}, on = "far" }]

    [measure]
    span = "16 MiB"
"#;

/// A drive of the study as the guest sees it.
fn seen<'a>(drives: &'a [Drive], guest: &Guest, name: &str) -> &'a Drive {
    let (_, node) = guest.drives().iter().find(|(known, _)| known.as_str() == name).unwrap();
    drives.iter().find(|drive| drive.node() == *node).unwrap()
}

#[test]
fn remote_drives_are_found_with_all_their_paths() {
    let bench = Bench::new();
    let (design, notes) = spec::parse(STUDY);
    let guest = bench.boot(&design.unwrap_or_else(|| panic!("{notes:?}")));
    assert_eq!(bench.guests().len(), 2, "a guest and its enclosure");
    let inventory = inspect::examine(&guest).unwrap();
    let far = seen(&inventory.drives, &guest, "far");
    let single = seen(&inventory.drives, &guest, "single");
    assert_eq!(seen(&inventory.drives, &guest, "near").transport.word(), "nvme");
    for (drive, paths, block) in [(far, 2, 512), (single, 1, 4096)] {
        assert_eq!((drive.transport.word(), drive.size), ("nvme-tcp", Bytes::mib(96)));
        assert_eq!(drive.logical_block, Bytes(block));
        let nvme = drive.detail.as_ref().unwrap().nvme.clone().unwrap();
        assert_eq!(nvme.controllers.len(), paths, "{nvme:?}");
        let states = nvme.paths.iter().map(|path| path.state.as_deref());
        assert!(states.clone().all(|state| state == Some("optimized")), "{nvme:?}");
    }
    let controllers = &inventory.detail.as_ref().unwrap().controllers;
    let remote: Vec<_> =
        controllers.iter().filter(|controller| controller.transport == terms::NvmeTransport::Tcp).collect();
    assert_eq!(remote.len(), 3);
    assert!(remote.iter().all(|controller| controller.path_policy.as_deref() == Some("round-robin")));
    both_paths_carry_the_load(&guest, far);
    let cards = guest.list("/sys/class/net").unwrap();
    let routes = shell(&guest, "ip route show table main; ip route show default");
    assert_eq!(cards.len(), 3, "two networks and the loopback: {cards:?}");
    assert!(!routes.contains("default"), "{routes}");
    drop(guest);
    bench.assert_nothing_left();
}

fn both_paths_carry_the_load(guest: &Guest, drive: &Drive) {
    let counted = |guest: &Guest| -> Vec<u64> {
        let paths = drive.detail.as_ref().unwrap().nvme.as_ref().unwrap().paths.clone();
        let stat = |name: &str| guest.read_text(&format!("/sys/block/{name}/stat")).unwrap();
        let reads = |name: &str| stat(name).split_whitespace().next().unwrap().parse().unwrap();
        paths.iter().map(|path| reads(&path.name)).collect()
    };
    let before = counted(guest);
    shell(guest, &format!("dd if={} of=/dev/null bs=64k count=200 iflag=direct", drive.node()));
    let after = counted(guest);
    assert!(before.iter().zip(&after).all(|(before, after)| after > before), "{before:?} {after:?}");
}

#[test]
fn what_a_killed_owner_of_two_guests_left_is_swept_by_the_next() {
    let bench = Bench::new();
    let directory = tempfile::tempdir().unwrap();
    let study = directory.path().join("study.toml");
    std::fs::write(&study, STUDY).unwrap();
    let mut child = bench
        .command(&["run", &study.to_string_lossy(), "--quick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    bench.await_that("both guests", || bench.guests().len() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let swept = bench.run(&["lab", "sweep"]);
    assert_eq!(swept.status.code(), Some(0), "{}", text(&swept));
    bench.assert_nothing_left();
}

/// Half a minute without the second path, in the middle of a window.
const LOST: &str = r#"
    question = "What happens when a path is lost?"

    [lab]
    memory = "1 GiB"
    drives = [{ name = "far", size = "64 MiB", kind = "nvme-tcp" }]

    [[stack]]
    name = "far"
    layers = [{ ext4 = {}, on = "far" }]

    [[workload]]
    name = "lost"
    pattern = "randmixed"
    block = "8 KiB"
    depth = 4
    window = "50 s"
    path_lost = { at = "5 s", back = "30 s" }

    [measure]
    rounds = 1
    anchor = "off"
    span = "16 MiB"
    settle = "500 ms"
"#;

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_lost_path_fails_no_operation_and_comes_back() {
    let bench = Bench::alone();
    let directory = tempfile::tempdir().unwrap();
    let study = directory.path().join("study.toml");
    std::fs::write(&study, LOST).unwrap();
    let output = bench.run(&["run", &study.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = bench.only_run();
    let reader = record::RunReader::open(&run).unwrap();
    let cells = reader.newest_cells().unwrap();
    let cell = &cells[0];
    // fio ends with an error at the first operation that fails, and then there is no reading.
    assert!(cell.failure.is_none() && cell.reading.is_some(), "{:?}", cell.failure);
    assert_eq!((cell.steadiness.as_ref(), cell.extended), (None, false), "it is not judged as a window left alone");
    let loss = cell.path_lost.unwrap();
    assert!(loss.at < loss.back, "{loss:?}");
    let late = cell.samples.iter().filter(|sample| sample.at > loss.back);
    assert!(late.clone().any(|sample| sample.throughput.0 > 0.0), "nothing moved after the path was back");
    let report = text(&bench.run(&["report", &run.to_string_lossy(), "--details"]));
    for said in [&text(&output), &report] {
        assert!(!said.contains("aster than every other stack"), "there is one: {said}");
    }
    assert!(report.contains("A path lost"), "{report}");
    bench.assert_nothing_left();
}

/// All levels of mdraid and LVM over remote namespaces.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn every_stack_of_the_study_of_remote_flash_stands() {
    crate::stacks::every_stack_stands("studies/remote-flash.toml", &[], 9);
}
