//! What is damaged: the studies that come along, the hostile corpus, machines built by hand, and a kept record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the room is.
const ROOM: &str = env!("CARGO_MANIFEST_DIR");
/// A record that is kept, and a cell of it.
const KEPT: (&str, &str) = ("remote-two-hosts", "cells/1-native-read");

/// A machine for what needs one.
pub(crate) const MACHINE: &str = "machine = \"m\"\ncores = 4\n[[drive]]\nname = \"nvme\"\ncount = 2\n";

/// Every file in these directories, each below the room.
fn files(directories: &[&str]) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for directory in directories {
        paths.extend(fs::read_dir(Path::new(ROOM).join(directory)).unwrap().map(|entry| entry.unwrap().path()));
    }
    // In one order on every machine.
    paths.sort();
    paths.iter().filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()).collect()
}

pub(crate) fn studies() -> Vec<Vec<u8>> {
    files(&["../../studies", "tests/studies", "tests/hostile/studies", "../spec/tests/broken"])
}

/// Those of the corpus, and what every profile is as a job file.
pub(crate) fn job_files() -> Vec<Vec<u8>> {
    let place = measure::WorkPlace::Directory("/mnt/stack".to_owned());
    let mut found = files(&["tests/hostile/fio"]);
    for profile in spec::profile::all() {
        let fio = profile.workloads.iter().filter(|workload| workload.method == terms::Method::Fio).take(2);
        let text =
            |workload| measure::job(workload, &place, &terms::MeasurePolicy::default(), 1).unwrap().file().into_bytes();
        found.extend(fio.map(text));
    }
    found
}

pub(crate) fn machines() -> Vec<Vec<u8>> {
    files(&["../model/tests/machines", "tests/hostile/machines"])
}

/// Those of the corpus, and those of every stack of two studies.
pub(crate) fn plans() -> Vec<Vec<u8>> {
    let mut found = files(&["tests/hostile/plans"]);
    for study in ["../../studies/quickstart.toml", "tests/studies/every-layer.toml"] {
        let text = fs::read_to_string(Path::new(ROOM).join(study)).unwrap();
        let design = spec::parse(&text).0.unwrap();
        let facts = plan::DriveSize::of_lab(&design.lab);
        let plans = design.stacks.iter().map(|stack| plan::plan(stack, &facts).unwrap());
        found.extend(plans.map(|plan| serde_json::to_vec_pretty(&plan).unwrap()));
    }
    found
}

pub(crate) fn captures(built: impl Iterator<Item = String>) -> Vec<Vec<u8>> {
    let mut found = files(&["tests/hostile/captures"]);
    found.extend(built.map(String::into_bytes));
    found
}

pub(crate) fn calibrations() -> Vec<Vec<u8>> {
    files(&["tests/hostile/calibrations"])
}

pub(crate) fn journals() -> Vec<Vec<u8>> {
    let records = fs::read_dir(Path::new(ROOM).join("tests/hostile/records")).unwrap();
    let mut paths: Vec<PathBuf> = records.map(|entry| entry.unwrap().path().join("journal.jsonl")).collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// What fio printed in the cells of the kept record.
pub(crate) fn outputs() -> Vec<Vec<u8>> {
    let (_room, record) = unpacked();
    let mut cells: Vec<PathBuf> =
        fs::read_dir(record.join("cells")).unwrap().map(|cell| cell.unwrap().path()).collect();
    cells.sort();
    cells.iter().take(8).filter_map(|cell| fs::read(cell.join("fio.json")).ok()).collect()
}

/// Files of a small record, the whole one of each first: name, and what may be damaged.
pub(crate) fn record() -> Vec<(String, Vec<Vec<u8>>)> {
    let (_room, kept) = unpacked();
    let base = Path::new(ROOM).join("tests/hostile/records");
    let own = |record: &str, name: &str| fs::read(base.join(record).join(name)).unwrap();
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        (
            "provenance.json".to_owned(),
            vec![fs::read(kept.join("provenance.json")).unwrap(), own("base", "provenance.json")],
        ),
        ("study.toml".to_owned(), vec![fs::read(kept.join("study.toml")).unwrap()]),
        ("inventory.json".to_owned(), vec![fs::read(kept.join("inventory.json")).unwrap()]),
        (format!("{}/cell.json", KEPT.1), vec![fs::read(kept.join(KEPT.1).join("cell.json")).unwrap()]),
        ("builds/1-native.json".to_owned(), vec![fs::read(kept.join("builds/1-native.json")).unwrap()]),
        ("journal.jsonl".to_owned(), vec![own("undo-shell", "journal.jsonl")]),
        ("plans/s.json".to_owned(), vec![own("undo-shell", "plans/s.json")]),
        ("sealed.json".to_owned(), vec![own("seal-paths", "sealed.json"), text("{\"schema\": 1, \"files\": {}}")]),
        ("events.jsonl".to_owned(), vec![text("{\"event\": \"begun\", \"more\": {\"boot_id\": \"x\"}}\n{}\n")]),
    ]
}

/// Writes a file of a record.
pub(crate) fn put(record: &Path, name: &str, bytes: &[u8]) {
    let path = record.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The kept record, and the directory that goes with it.
#[expect(clippy::disallowed_methods, reason = "a test unpacks what is kept beside it")]
fn unpacked() -> (tempfile::TempDir, PathBuf) {
    let room = tempfile::tempdir().unwrap();
    let archive = Path::new(ROOM).join("../../evidence").join(format!("{}.tar.zst", KEPT.0));
    let tar = Command::new("tar").arg("--zstd").arg("-xf").arg(&archive).arg("-C").arg(room.path()).status().unwrap();
    assert!(tar.success(), "{}", archive.display());
    let record = fs::read_dir(room.path()).unwrap().next().unwrap().unwrap().path();
    (room, record)
}
