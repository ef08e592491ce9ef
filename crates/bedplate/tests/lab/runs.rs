//! Studies, run whole: every cell a number, nothing lost, nothing repeated.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::bench::{Bench, SHORT, text};

/// Cell directories of a run and when each was made.
fn cells(run: &std::path::Path) -> BTreeMap<String, std::time::SystemTime> {
    let entries = std::fs::read_dir(run.join("cells")).into_iter().flatten().flatten();
    let whole = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    whole.map(|e| (e.file_name().to_string_lossy().into_owned(), e.metadata().unwrap().modified().unwrap())).collect()
}

#[test]
fn the_quickstart_ends_with_a_report() {
    let bench = Bench::new();
    let output = bench.run(&["run", "studies/quickstart.toml", "--on", "lab", "--quick"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = bench.only_run();
    assert_eq!(cells(&run).len(), 20);
    let page = std::fs::read_to_string(run.join("reports/report.html")).unwrap();
    assert!(page.contains("mulat"), "the page must say that the rates were emulated");
    bench.assert_nothing_left();
    // The record is whole, the report comes out of it again byte for byte, and the catalogue can be thrown away.
    let run = run.to_string_lossy().into_owned();
    assert_eq!(bench.run(&["report", &run, "--verify"]).status.code(), Some(0));
    let again = bench.labs().join("../again.html").to_string_lossy().into_owned();
    assert_eq!(bench.run(&["report", &run, "--html", &again]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&again).unwrap(), page);
    let listed = bench.run(&["runs"]);
    assert!(text(&listed).contains("quickstart"));
    assert_eq!(bench.run(&["runs", "--rebuild"]).stdout, listed.stdout);
}

#[test]
fn a_killed_run_goes_on_where_it_stopped() {
    let bench = Bench::new();
    let arguments = ["run", "studies/quickstart.toml", "--quick", "--only", "1,2"];
    let mut child = bench.command(&arguments).stderr(std::process::Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    // Kill in the middle: some cells done, some not.
    let before = loop {
        assert!(start.elapsed() < Duration::from_secs(180), "no cell in three minutes");
        std::thread::sleep(Duration::from_millis(100));
        if bench.runs().is_dir()
            && std::fs::read_dir(bench.runs()).unwrap().flatten().any(|entry| entry.path().is_dir())
        {
            let done = cells(&bench.only_run());
            if done.len() >= 3 {
                break done;
            }
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let patience = Instant::now();
    while !bench.guests().is_empty() {
        assert!(patience.elapsed() < Duration::from_secs(5), "the guest outlived its owner");
        std::thread::sleep(Duration::from_millis(50));
    }
    let resumed = bench.run(&[&arguments[..], &["--resume"]].concat());
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    let after = cells(&bench.only_run());
    assert_eq!(after.len(), 8, "{after:?}");
    for (cell, made) in &before {
        assert_eq!(after.get(cell), Some(made), "{cell} was repeated");
    }
    bench.assert_nothing_left();
    // Nothing is left to do: the same command says so by showing the same report.
    let again = bench.run(&[&arguments[..], &["--resume"]].concat());
    assert_eq!((again.status.code(), &again.stdout), (Some(0), &resumed.stdout));
}

/// LVM and ZFS on drives of the guest's own kernel, each in a guest of its own.
#[test]
fn guests_side_by_side_build_the_same() {
    let bench = Bench::new();
    let arguments = ["run", "studies/long-term-storage.toml", "--only", "10,17", "--quick"];
    let output = bench.run(&[&arguments[..], &["--anchor", "off", "--span", "64MiB", "--no-trials"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(cells(&bench.only_run()).len(), 4);
    bench.assert_nothing_left();
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn every_cell_of_the_nineteen_is_a_number() {
    let bench = Bench::new();
    let output = bench.run(&[&["run", "studies/long-term-storage.toml", "--json"], &SHORT[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = bench.only_run();
    let reader = record::RunReader::open(&run).unwrap();
    let cells = reader.newest_cells().unwrap();
    assert_eq!(cells.len(), 20 * 4, "every cell once");
    for cell in &cells {
        let reading = cell.reading.as_ref().unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        assert!(reading.throughput().0 > 0.0 && reading.flows().all(|flow| flow.operations > 0), "{:?}", cell.key);
    }
    bench.assert_nothing_left();
}
