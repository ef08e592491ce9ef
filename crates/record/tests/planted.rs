//! What somebody else may put into a record: links, pipes, devices, files without end. None of it is followed, waited
//! for or read, and nothing outside the record's directory is changed.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault")]

mod provenance;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use record::catalogue::Catalogue;
use record::{RecordError, RunReader, RunWriter, put_report};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use terms::record::{Cell, CellKey, Provenance};

use provenance::provenance;

const VICTIM: &str = "one\ntwo\nno line end";

/// A run with a cell, and a file outside of it.
struct Bench {
    home: tempfile::TempDir,
    run: PathBuf,
    victim: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let writer = RunWriter::create(&home.path().join("runs"), &provenance(), "x").unwrap();
        let key = CellKey { round: 1, stack: "a".into(), workload: "w".into() };
        writer.put_cell(&Cell::begun(key, String::new(), vec![], 1), &[]).unwrap();
        writer.journal(&1).unwrap();
        let (run, victim) = (writer.dir().to_owned(), home.path().join("victim"));
        fs::write(&victim, VICTIM).unwrap();
        Self { run, victim, home }
    }

    fn seal(self) -> Self {
        RunWriter::resume(&RunReader::open(&self.run).unwrap()).unwrap().seal().unwrap();
        self
    }

    /// Puts something in place of a file of the run.
    fn plant(&self, name: &str, make: impl FnOnce(&Path)) {
        let path = self.run.join(name);
        let _ = fs::remove_file(&path);
        make(&path);
    }

    fn is_untouched(&self) -> bool {
        fs::read_to_string(&self.victim).unwrap() == VICTIM
    }
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn endless(path: &Path) {
    symlink("/dev/zero", path).unwrap();
}

/// Three GiB that take no room.
fn huge(path: &Path) {
    fs::File::create(path).unwrap().set_len(3 << 30).unwrap();
}

/// Reads a part of a record.
type Read = fn(&RunReader) -> Option<RecordError>;

/// What has to come to an end.
fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(work()));
    told.recv_timeout(Duration::from_secs(20)).expect("it ends")
}

fn resume(run: &Path) -> Result<(), RecordError> {
    let run = run.to_owned();
    soon(move || RunWriter::resume(&RunReader::open(&run)?).map(drop))
}

#[test]
fn a_writer_writes_into_no_link() {
    for name in ["lock", "journal.jsonl", "events.jsonl"] {
        for second_name in [false, true] {
            let bench = Bench::new();
            bench.plant(name, |path| {
                if second_name { fs::hard_link(&bench.victim, path) } else { symlink(&bench.victim, path) }.unwrap();
            });
            let error = resume(&bench.run).unwrap_err();
            assert!(matches!(error, RecordError::NotAFile { .. }), "{name}: {error:?}");
            assert!(bench.is_untouched(), "{name}");
        }
    }
}

#[test]
fn a_writer_waits_for_no_pipe_and_reads_nothing_without_end() {
    for name in ["lock", "journal.jsonl", "events.jsonl", "provenance.json", "study.toml", "cells/1-a-w/cell.json"] {
        for (what, plant) in [("pipe", pipe as fn(&Path)), ("endless", endless), ("huge", huge)] {
            let bench = Bench::new();
            bench.plant(name, plant);
            // A lock's content is nothing to anybody.
            let fine = (name, what) == ("lock", "huge");
            let resumed = resume(&bench.run);
            let refused = matches!(resumed, Err(RecordError::NotAFile { .. } | RecordError::TooLarge { .. }));
            assert!(refused || (fine && resumed.is_ok()), "{what} as {name}: {resumed:?}");
        }
    }
}

#[test]
fn a_reader_follows_no_link_waits_for_no_pipe_and_reads_nothing_without_end() {
    let read: [(&str, Read); 5] = [
        ("journal.jsonl", |reader| reader.journal().err()),
        ("inventory.json", |reader| reader.inventory().err()),
        ("prediction.json", |reader| reader.predicted().err()),
        ("preflight.json", |reader| reader.preflight().err()),
        ("cells/1-a-w/cell.json", |reader| reader.cells().err()),
    ];
    for (name, read) in read {
        for plant in [pipe as fn(&Path), endless, huge] {
            let bench = Bench::new();
            let reader = RunReader::open(&bench.run).unwrap();
            bench.plant(name, plant);
            let error = soon(move || read(&reader)).unwrap();
            assert!(matches!(error, RecordError::NotAFile { .. } | RecordError::TooLarge { .. }), "{name}: {error:?}");
        }
        let bench = Bench::new();
        let reader = RunReader::open(&bench.run).unwrap();
        bench.plant(name, |path| symlink(&bench.victim, path).unwrap());
        assert!(matches!(read(&reader), Some(RecordError::NotAFile { .. })), "{name}");
    }
}

#[test]
fn directories_of_a_record_are_no_links() {
    for name in ["cells", "builds", "plans"] {
        let bench = Bench::new();
        let elsewhere = bench.home.path().join("elsewhere");
        fs::rename(bench.run.join(name), &elsewhere).unwrap();
        symlink(&elsewhere, bench.run.join(name)).unwrap();
        fs::write(elsewhere.join(".new-precious"), "").unwrap();
        resume(&bench.run).unwrap_err();
        assert!(elsewhere.join(".new-precious").exists(), "{name}: what is elsewhere is not cleared");
    }
}

#[test]
fn verifying_tells_what_cannot_be_read() {
    for (what, plant) in [("pipe", pipe as fn(&Path)), ("endless", endless), ("huge", huge)] {
        let bench = Bench::new().seal();
        bench.plant("extra", plant);
        let reader = RunReader::open(&bench.run).unwrap();
        let problems = soon(move || reader.verify()).unwrap();
        assert_eq!(problems.len(), 1, "{what}: {problems:?}");
        bench.plant("study.toml", |path| symlink(&bench.victim, path).unwrap());
        assert!(RunReader::open(&bench.run).is_err());
    }
    let bench = Bench::new().seal();
    let reader = RunReader::open(&bench.run).unwrap();
    bench.plant("cells/1-a-w/cell.json", endless);
    let problems = soon(move || reader.verify()).unwrap();
    assert!(problems.iter().any(|problem| problem.contains("links, pipes and devices")), "{problems:?}");
}

#[test]
fn reports_stay_among_the_reports() {
    let bench = Bench::new();
    let elsewhere = bench.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, bench.run.join("reports")).unwrap();
    put_report(&bench.run, "report.csv", b"x").unwrap_err();
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(bench.run.join("reports")).unwrap();
    fs::create_dir(bench.run.join("reports")).unwrap();
    symlink(&bench.victim, bench.run.join("reports/report.csv")).unwrap();
    let path = put_report(&bench.run, "report.csv", b"x").unwrap();
    assert_eq!((fs::read(path).unwrap().as_slice(), bench.is_untouched()), (&b"x"[..], true));
    for name in ["../x", "/x", "..", ""] {
        assert!(matches!(put_report(&bench.run, name, b"x"), Err(RecordError::BadName { .. })), "{name}");
    }
}

#[test]
fn one_bad_record_hides_no_other() {
    let bench = Bench::new();
    bench.plant("cells/1-a-w/cell.json", pipe);
    let good = Provenance { run: "good".into(), ..provenance() };
    let runs = bench.home.path().join("runs");
    drop(RunWriter::create(&runs, &good, "x").unwrap());
    let catalogue = soon(move || Catalogue::read(&runs)).unwrap();
    assert_eq!((catalogue.list().len(), catalogue.unread().len()), (1, 1));
}
