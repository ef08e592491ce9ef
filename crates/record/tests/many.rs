//! A long run has more cells than a process may have files open: login shells allow 1024.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault")]

mod provenance;

use std::fs;

use record::{RunReader, RunWriter};
use rustix::process::{Resource, getrlimit, setrlimit};
use terms::record::{Cell, CellKey};

use provenance::provenance;

/// Files that may be open, and more cells than that.
const OPEN: u64 = 64;
const CELLS: u32 = 100;

/// The limit is the whole process's, so this file has one test.
#[test]
fn a_run_of_many_cells_is_sealed_and_verified_with_few_files_open() {
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: Some(OPEN), ..getrlimit(Resource::Nofile) })
        .unwrap();
    let home = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(home.path(), &provenance(), "x").unwrap();
    let dir = writer.dir().to_owned();
    for round in 1..=CELLS {
        let key = CellKey { round, stack: "a".into(), workload: "w".into() };
        writer.put_cell(&Cell::begun(key, String::new(), vec![], 1), &[]).unwrap();
    }
    writer.seal().unwrap();
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!((reader.verify().unwrap(), reader.cells().unwrap().len()), (Vec::<String>::new(), CELLS as usize));
    // Directories in one another without end: what nobody wrote is told, and ends.
    let mut deep = dir.join("cells/1-a-w/x");
    for _ in 0..OPEN {
        fs::create_dir(&deep).unwrap();
        deep.push("x");
    }
    let told = reader.verify().unwrap();
    assert!(told.len() == 1 && told[0].contains("cells/1-a-w/x"), "{told:?}");
}
