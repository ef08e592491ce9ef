//! Every reader of files against thousands of damaged ones: no panic, no hang, and places that are in the text.
//!
//! The cases are the same each time. `FUZZ_CASES=N` tries so many of each reader, `FUZZ_FROM=N` begins at that one. The
//! bytes of a case that failed are kept, and its message says where.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/seeds.rs"]
mod seeds;

#[path = "../../host/tests/machines/mod.rs"]
mod machines;

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use measure::WorkPlace;
use mutate::Mutator;
use terms::{MeasurePolicy, Note, Plan};

/// Cases of each reader, unless `FUZZ_CASES` says otherwise.
const CASES: u64 = 2000;
/// Longest that one case may take on a busy machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(60);
/// As much as the program's own first thread has.
const STACK: usize = 8 << 20;

/// Gives a reader so many damaged files. What it panics on, or does not come back from, is kept and told.
fn fuzz(name: &str, share: u64, seeds: Vec<Vec<u8>>, read: impl Fn(&[u8]) + Send + 'static) {
    assert!(!seeds.is_empty(), "{name}: nothing to damage");
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().unwrap());
    let first = number("FUZZ_FROM").unwrap_or(0);
    let cases = first..first + number("FUZZ_CASES").unwrap_or(CASES / share);
    let mutator = Mutator::new(name, seeds);
    let (tell, told) = channel();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        for case in cases {
            let bytes = mutator.case(case);
            tell.send((case, bytes.clone())).unwrap();
            read(&bytes);
        }
    });
    let last = follow(name, &told);
    if worker.unwrap().join().is_err() {
        panic!("{name}: case {} panics; its bytes are {}", last.0, keep(name, &last.1));
    }
}

/// Follows a reader to its end; gives the last case that it was given.
fn follow(name: &str, told: &Receiver<(u64, Vec<u8>)>) -> (u64, Vec<u8>) {
    let mut last = (0, Vec::new());
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok(next) => last = next,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return last,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("{name}: case {} does not end; its bytes are {}", last.0, keep(name, &last.1));
            }
        }
    }
}

fn keep(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Notes point into their text, and can be drawn.
fn sound(text: &str, notes: &[Note]) {
    for span in notes.iter().filter_map(|note| note.span) {
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {}", text.len());
        assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{span:?}");
    }
    assert!(!spec::render("file", text, notes, false).contains('\u{1b}') || text.contains('\u{1b}'));
}

#[test]
fn studies_are_read_or_refused() {
    fuzz("study", 1, seeds::studies(), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (design, notes) = spec::parse(&text);
        sound(&text, &notes);
        let Some(design) = design else { return };
        let facts = plan::DriveSize::of_lab(&design.lab);
        for stack in &design.stacks {
            let Ok(plan) = plan::plan(stack, &facts) else { continue };
            assert_eq!(plan::lint(&plan), [], "{text}");
            no_payload(&plan::script(&plan));
        }
    });
}

/// No substitution that the dictionary put into a study is one in the script: all are between single quotes.
fn no_payload(script: &str) {
    for line in script.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let bare: String = line.replace(r"'\''", "").split('\'').step_by(2).collect();
        let runs = bare.contains("$(canary") || bare.contains("`canary") || bare.starts_with("canary");
        assert!(!runs, "{line}");
    }
}

#[test]
fn job_files_are_read_or_refused() {
    let place = WorkPlace::Directory("/mnt/stack".to_owned());
    fuzz("fio", 1, seeds::job_files(), move |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for forced in [false, true] {
            let (imported, notes) = spec::fio::import(&text, forced);
            sound(&text, &notes);
            for workload in imported.into_iter().flat_map(|imported| imported.workloads) {
                // What is refused here at the latest runs nothing.
                let Ok(job) = measure::job(&workload, &place, &MeasurePolicy::default(), 1) else { continue };
                let job = job.file();
                job.lines().for_each(|line| harmless(line, &job));
            }
        }
    });
}

/// Keys that run programs or reach elsewhere. fio takes the beginning of a name for the name.
const HARMFUL: [&str; 16] = [
    "exec_prerun",
    "exec_postrun",
    "opendir",
    "aux-path",
    "trigger-file",
    "trigger-timeout",
    "trigger-remote",
    "write_iolog",
    "read_iolog",
    "remote-config",
    "inflate-log",
    "ioscheduler",
    "daemonize",
    "iomem",
    "program",
    "verify_state_save",
];
/// Engines that do no more than read and write the file that they are given.
const ENGINES: [&str; 8] = ["libaio", "io_uring", "posixaio", "psync", "sync", "pvsync", "pvsync2", "mmap"];

fn harmless(line: &str, job: &str) {
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    if key.is_empty() || key.starts_with(['#', '[']) {
        return;
    }
    assert!(!HARMFUL.iter().any(|name| name.starts_with(key)), "{line:?} in {job}");
    assert!(key != "ioengine" || ENGINES.contains(&value), "{line:?} in {job}");
}

#[test]
fn descriptions_of_machines_are_read_or_refused() {
    fuzz("machine", 1, seeds::machines(), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (machine, notes) = spec::parse_machine(&text);
        sound(&text, &notes);
        if let Some(machine) = machine {
            let _ = model::Site::new(&machine);
        }
    });
}

#[test]
fn plans_are_read_or_refused() {
    fuzz("plan", 1, seeds::plans(), |bytes| {
        let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
        let _ = (plan::lint(&plan), plan::render(&plan), plan::script(&plan));
        assert_eq!(plan::diff(&plan, &plan).trim(), "");
    });
}

#[test]
fn captures_are_read_or_refused() {
    fuzz("capture", 4, seeds::captures(machines::all().into_iter().map(|(_, machine)| machine.text())), |bytes| {
        let Ok(capture) = host::Capture::parse("file", bytes) else { return };
        let printed = capture.print();
        assert_eq!(host::Capture::parse("file", printed.as_bytes()).unwrap().print(), printed);
        let inventory = host::inspect::examine(&capture).unwrap();
        let style = report::Style::default();
        let _ = report::machine_sheet(&inventory, &style);
        let _ = report::diagnosis::text(&doctor::diagnose(&inventory), &style);
        let _ = model::found(&inventory);
    });
}

#[test]
fn what_fio_says_is_understood_or_refused() {
    fuzz("output", 1, seeds::outputs(), |bytes| {
        let Ok(output) = measure::parse(bytes) else { return };
        let rate = output.reading.throughput().0;
        assert!(rate.is_finite() && rate >= 0.0, "{rate}");
    });
}

#[test]
fn calibrations_are_read_or_refused() {
    fuzz("calibration", 1, seeds::calibrations(), |bytes| {
        let Ok(known) = serde_json::from_slice::<terms::calibration::Calibration>(bytes) else { return };
        let (machine, _) = spec::parse_machine(seeds::MACHINE);
        let _ = model::Site::calibrated(&machine.unwrap(), &known);
    });
}

#[test]
fn lines_of_journals_are_read_or_refused() {
    fuzz("journal", 1, seeds::journals(), |bytes| {
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries: Vec<build::JournalEntry> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let standing = build::standing(&entries);
        assert!(standing.len() <= entries.len());
    });
}

/// A record with one damaged file: whatever is still read is still shown.
#[test]
fn records_are_read_or_refused() {
    let room = tempfile::tempdir().unwrap();
    let files = seeds::record();
    for (name, seeds) in files.clone() {
        let at = room.path().join(name.replace('/', "-"));
        files.iter().for_each(|(file, seeds)| seeds::put(&at, file, &seeds[0]));
        fuzz(&format!("record-{}", name.replace('/', "-")), 20, seeds, move |bytes| {
            seeds::put(&at, &name, bytes);
            read_all(&at);
        });
    }
}

/// Everything that is asked of a record.
fn read_all(record: &Path) {
    let Ok(reader) = record::RunReader::open(record) else { return };
    let _ = (
        reader.verify(),
        reader.journal(),
        reader.events(),
        reader.plan_slugs(),
        reader.feature_checks(),
        reader.preflight(),
    );
    let _ = (reader.plan::<Plan>("s"), reader.script("s"), reader.predicted());
    let inventory = reader.inventory().ok().flatten().unwrap_or_default();
    let (Ok(cells), Ok(builds)) = (reader.cells(), reader.builds()) else { return };
    let findings = analyse::study(reader.provenance(), &inventory, &cells, &builds);
    let _ = report::terminal(&findings, &report::Style::default());
    let _ = (report::csv(&findings), report::comparisons_csv(&findings), report::json(&findings));
    let page = report::html(&findings);
    assert!(!page.contains("<script") && !page.contains("<img"), "a page has no markup of a record's");
}

#[test]
fn damage_is_the_same_each_time_and_is_damage() {
    let seeds = || vec![b"question = \"?\"\n".to_vec(), b"[lab]\n".to_vec()];
    let (one, two) = (Mutator::new("x", seeds()), Mutator::new("x", seeds()));
    let cases = |mutator: &Mutator| (0..200).map(|case| mutator.case(case)).collect::<Vec<_>>();
    assert_eq!(cases(&one), cases(&two));
    assert_ne!(cases(&one), cases(&Mutator::new("y", seeds())));
    let unchanged = cases(&one).iter().filter(|case| seeds().contains(case)).count();
    assert!(unchanged < 20, "{unchanged} of 200 are whole");
}
