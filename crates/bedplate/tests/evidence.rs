//! Records that are kept under `evidence/`: each is whole, and makes a page and a report that hold what it holds.
//!
//! `BLESS=1 cargo test -p bedplate --test evidence` makes the list anew.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

mod program;
#[path = "evidence/published.rs"]
mod published;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use terms::Workload;
use unicode_width::UnicodeWidthStr as _;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evidence")
}

/// Names of the records, in order.
fn studies() -> Vec<String> {
    let files = fs::read_dir(kept()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|name| Some(name.strip_suffix(".tar.zst")?.to_owned())).collect();
    names.sort();
    names
}

/// Unpacks a record; gives its directory.
#[expect(clippy::disallowed_methods, reason = "a test unpacks what is kept beside it")]
fn unpacked(study: &str, into: &Path) -> PathBuf {
    let archive = kept().join(format!("{study}.tar.zst"));
    let output =
        Command::new("tar").arg("--zstd").arg("-xf").arg(&archive).arg("-C").arg(into).output().expect("tar runs");
    assert!(output.status.success(), "{}: {}", archive.display(), String::from_utf8_lossy(&output.stderr));
    let mut found: Vec<PathBuf> = fs::read_dir(into).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{study}: one record in each archive");
    found.remove(0)
}

fn read(record: &Path, file: &str) -> Value {
    serde_json::from_slice(&fs::read(record.join(file)).unwrap()).unwrap()
}

/// A row of the list: what was run, when, and on what.
fn row(study: &str, record: &Path) -> String {
    let provenance = read(record, "provenance.json");
    let inventory = read(record, "inventory.json");
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let words = provenance["command"].as_array().unwrap().iter().map(text);
    // Wherever the program was.
    let command: Vec<String> = std::iter::once("bedplate".to_owned()).chain(words.skip(1)).collect();
    let cells = fs::read_dir(record.join("cells")).unwrap().count();
    let mut row = String::new();
    write!(
        row,
        "| [{study}]({study}.tar.zst) | `{}` | {} | {} cells | {} | {} | bedplate {} ({}) |",
        command.join(" "),
        text(&provenance["started"]).split('T').next().unwrap_or_default(),
        cells,
        text(&inventory["cpu_model"]),
        text(&inventory["kernel"]),
        text(&provenance["version"]),
        text(&provenance["build"]),
    )
    .unwrap();
    row
}

/// So large a page may be at most: a mail takes it, and a phone opens it.
const LARGEST: usize = 500_000;

#[test]
fn records_are_whole_and_make_pages_of_all_their_stacks() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut rows = Vec::new();
    let names = studies();
    assert!(!names.is_empty(), "records are kept");
    for study in &names {
        let directory = tempfile::tempdir().unwrap();
        let record = unpacked(study, directory.path());
        let (status, _, said) = program::run(&["report", record.to_str().unwrap(), "--verify"]);
        assert_eq!(status, 0, "{study}: {said}");
        let page = directory.path().join("page.html");
        let (status, _, said) = program::run(&["report", record.to_str().unwrap(), "--html", page.to_str().unwrap()]);
        assert!(matches!(status, 0 | 1), "{study}: {said}");
        let page = fs::read_to_string(&page).unwrap();
        holds(study, &page, &read(&record, "provenance.json"));
        if rows.is_empty() {
            let (_, printed, said) = program::run(&["report", record.to_str().unwrap(), "--html", "-"]);
            assert!(printed.trim_end() == page.trim_end(), "as it was written: {said}");
        }
        // Whatever older programs wrote of what happened is still understood.
        let events = record::RunReader::open(&record).unwrap().events().unwrap();
        assert_eq!(events.len(), fs::read_to_string(record.join("events.jsonl")).unwrap().lines().count(), "{study}");
        rows.push(row(study, &record));
    }
    let list = format!("{HEAD}\n{}\n", rows.join("\n"));
    if bless {
        fs::write(kept().join("README.md"), &list).unwrap();
    }
    assert_eq!(fs::read_to_string(kept().join("README.md")).unwrap(), list);
}

/// A page is of bounded size, fetches nothing, closes what it opens, and names each stack.
fn holds(study: &str, page: &str, provenance: &Value) {
    assert!(page.len() <= LARGEST, "{study}: {} bytes", page.len());
    // A pattern of the page's own is named as `url(#…)`.
    let page = &page.replace("url(#", "");
    for fetched in [" src=", "<link", "@import", "url("] {
        assert!(!page.contains(fetched), "{study}: {fetched}");
    }
    for element in ["html", "table", "tr", "svg", "section", "details"] {
        let opened = [' ', '>'].iter().map(|end| page.matches(&format!("<{element}{end}")).count()).sum::<usize>();
        assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{study}: {element}");
    }
    for stack in provenance["stacks"].as_array().unwrap() {
        let name = stack["name"].as_str().unwrap().replace('&', "&amp;");
        assert!(page.contains(&name), "{study}: {name}");
    }
}

/// Throughput of each round of a cell of a record, and how far its window's interval reaches, as a logarithm.
type Windows = std::collections::BTreeMap<String, Vec<(f64, f64)>>;

/// What is kept of each cell is what fio wrote, and rate and interval are made of it anew: the law is of what the program does
/// today.
fn windows(record: &Path) -> Windows {
    let workloads: Vec<Workload> =
        serde_json::from_value(read(record, "provenance.json")["workloads"].clone()).unwrap();
    let mut of = Windows::new();
    for cell in fs::read_dir(record.join("cells")).unwrap().map(|cell| cell.unwrap().path()) {
        let kept: terms::record::Cell = serde_json::from_slice(&fs::read(cell.join("cell.json")).unwrap()).unwrap();
        let workload = workloads.iter().find(|workload| workload.name.as_str() == kept.key.workload).unwrap();
        let measured = kept.reading.as_ref().filter(|_| kept.steadiness.is_some());
        if let Some((rate, half)) = measured.and_then(|_| window(&cell, workload)) {
            let key = format!("{} {}", kept.key.stack, kept.key.workload);
            of.entry(key).or_default().push((rate, half));
        }
    }
    of
}

/// Bytes per second of the window that counts, by the guest's clock, and half of its interval as `crates/analyse/src/window.rs` has
/// it: no better than the rate and the log agree.
fn window(cell: &Path, workload: &Workload) -> Option<(f64, f64)> {
    let read = |name: &str| {
        let files = ["extended-", ""].map(|prefix| cell.join(format!("{prefix}{name}")));
        files.iter().find_map(|file| fs::read_to_string(file).ok())
    };
    let job = read("job.fio")?;
    let window =
        job.lines().find_map(|line| line.strip_prefix("runtime=")?.strip_suffix("ms")).unwrap().parse().unwrap();
    let logs = [read("throughput.log")?, read("latency.log")?];
    let stdout = read("fio.json")?;
    let told = measure::told(workload, stdout.as_bytes(), [&logs[0], &logs[1]], terms::Nanos::millis(window))?;
    let apart = (told.rate.0 / told.logged.0).ln();
    Some((told.rate.0, told.steadiness.half_width?.ln_1p().hypot(apart)))
}

/// What `crates/analyse/src/window.rs` says of a single round: that another differs from it by no more than both intervals
/// together, in 95 of 100 pairs of rounds under a virtual clock.
#[expect(clippy::print_stdout, reason = "the figure of docs/statistics.md")]
#[test]
fn the_interval_of_a_window_is_that_of_a_round_under_a_virtual_clock() {
    let (mut halves, mut apart, mut held) = (Vec::new(), Vec::new(), 0_u32);
    let mut on_a_disk = (0_u32, 0_u32);
    for study in studies() {
        let directory = tempfile::tempdir().unwrap();
        let record = unpacked(&study, directory.path());
        if read(&record, "provenance.json")["accelerator"] != terms::record::ICOUNT {
            continue;
        }
        for rounds in windows(&record).values() {
            for (at, (rate, half)) in rounds.iter().enumerate() {
                halves.push(*half);
                for (other, theirs) in &rounds[..at] {
                    let distance = (rate / other).ln().abs();
                    let holds = u32::from(distance <= half.hypot(*theirs).max(terms::record::REPEATS));
                    held += holds;
                    apart.push(distance);
                    if study.starts_with("hard-disk") {
                        on_a_disk = (on_a_disk.0 + holds, on_a_disk.1 + 1);
                    }
                }
            }
        }
    }
    let all = u32::try_from(apart.len()).unwrap();
    let share = f64::from(held) / f64::from(all);
    let median = |mut of: Vec<f64>| {
        of.sort_by(f64::total_cmp);
        of[of.len() / 2] * 100.0
    };
    println!(
        "{held} of {all} pairs of rounds: {:.1} %; {} of {} on a hard disk",
        share * 100.0,
        on_a_disk.0,
        on_a_disk.1
    );
    println!("medians: half of an interval {:.1} %, two rounds apart {:.1} %", median(halves), median(apart));
    assert!(all > 500, "{all} pairs of rounds");
    assert!((0.93..=0.99).contains(&share), "{held} of {all}");
    assert!(on_a_disk.1 >= 30 && on_a_disk.0 * 100 >= on_a_disk.1 * 90, "{on_a_disk:?}");
}

/// Columns of a terminal that nobody made wider, and what is taken where there is none.
const COLUMNS: usize = 80;

/// The report of a record as a terminal of 80 columns gets it, both outputs.
#[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
fn printed(record: &Path, more: &[&str]) -> Vec<String> {
    let run = format!("./{}", record.file_name().unwrap().to_str().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
    command.args(["report", &run]).args(more).current_dir(record.parent().unwrap()).env("NO_COLOR", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_report_fits_a_screen_of_25_lines_and_80_columns() {
    for study in studies() {
        let directory = tempfile::tempdir().unwrap();
        let record = unpacked(&study, directory.path());
        let lines = printed(&record, &[]);
        assert!(lines.len() <= 25, "{study}: {} lines\n{}", lines.len(), lines.join("\n"));
        // One stack is compared with nothing.
        let alone = read(&record, "provenance.json")["stacks"].as_array().unwrap().len() == 1;
        let last = if alone { "Trust" } else { "Answer" };
        let answer = lines.iter().position(|line| line.starts_with(last)).expect(last);
        assert!(
            lines[answer + 1..].iter().all(|line| line.starts_with(' ') || line.contains("bedplate report ")),
            "{study}: nothing but the command for details comes after the answer\n{}",
            lines.join("\n")
        );
        // What is to be copied is never broken: commands and paths.
        let copied = |line: &str| line.starts_with("bedplate ") || !line.contains(' ');
        let wide = |lines: Vec<String>| lines.into_iter().filter(|line| line.width() > COLUMNS && !copied(line));
        assert_eq!(wide(lines).collect::<Vec<_>>(), Vec::<String>::new(), "{study}");
        assert_eq!(wide(printed(&record, &["--details"])).collect::<Vec<_>>(), Vec::<String>::new(), "{study}");
    }
}

const HEAD: &str = "# Records of runs

What `scripts/keep-evidence` kept: each archive is the record of one run, whole, with fio's own output and every command;
a page and a report are made of nothing else. Rates are those of an emulated machine and compare stacks at best. A record holds
the run's command line, paths, and models and serial numbers of real drives in clear: look through it before you pass one on.

    scripts/pages /tmp/pages                          # the page of each

    tar --zstd -xf evidence/pcie-switch.tar.zst
    bedplate report ./2026*-pcie-switch

| record | command | day | | machine | kernel | made by |
| --- | --- | --- | --- | --- | --- | --- |";

/// Width and height stand in the first chunk, IHDR (<https://www.w3.org/TR/png-3/#11IHDR>).
#[test]
fn a_card_is_a_picture_for_those_that_take_no_svg() {
    let directory = tempfile::tempdir().unwrap();
    let record = unpacked("remote-two-hosts", directory.path());
    let drawn = directory.path().join("card.PNG");
    let arguments = ["report", record.to_str().unwrap(), "--card", drawn.to_str().unwrap()];
    let (status, _, said) = program::run(&arguments);
    assert_eq!(status, 0, "{said}");
    let bytes = fs::read(&drawn).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((&bytes[1..4], number(16), number(20)), (b"PNG".as_slice(), 1200, 630));
}
