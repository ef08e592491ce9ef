//! The whole room: runs written, interrupted in every way, resumed, sealed and read.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use terms::event::{Event, EventKind};
use terms::inventory::Inventory;
use terms::machine::Machine;
use terms::prediction::{PREDICTIONS_SCHEMA, Predictions};
use terms::record::{Cell, CellKey, Flow, Latency, Reading, Sample};
use terms::units::{Bytes, BytesPerSecond, Iops, Nanos};

use crate::samples::{build, cell, provenance};
use crate::{RecordError, RunReader, RunWriter};

/// Goes on with the run in a directory.
fn resume(dir: &Path) -> Result<RunWriter, RecordError> {
    RunWriter::resume(&RunReader::open(dir)?)
}

fn raw(name: &str, text: &str) -> (String, Vec<u8>) {
    (name.to_owned(), text.as_bytes().to_vec())
}

fn new(root: &Path) -> RunWriter {
    RunWriter::create(root, &provenance("r"), "x").unwrap()
}

/// Every path below a directory.
fn tree(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(dir).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name().into_string().unwrap())).unwrap();
        if path.is_dir() {
            found.extend(tree(&path).into_iter().map(|below| format!("{name}/{below}")));
        }
        found.insert(name);
    }
    found
}

fn event(round: u32, kind: EventKind) -> Event {
    Event { at: "2026-01-01T00:00:00Z".into(), stack: "a".into(), round, kind }
}

#[test]
fn what_is_put_is_read() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("deep/runs");
    let writer = new(&root);
    let inventory = Inventory { kernel: "6.1".into(), ..Inventory::default() };
    writer.put_inventory(&inventory).unwrap();
    writer.put_plan("raid-1", &json!({"steps": []}), "#!/bin/sh\n").unwrap();
    writer.put_build(&build(1, "raid-1", 2)).unwrap();
    let mut good = cell(1, "raid-1", "rnd4k", None);
    good.samples =
        vec![Sample { at: Nanos(7), throughput: BytesPerSecond(4_079_869.276_857_428_3), latency: Some(Nanos(9)) }];
    good.reading = Some(Reading {
        read: Some(Flow {
            bytes: Bytes(1),
            operations: 1,
            runtime: Nanos(1),
            throughput: BytesPerSecond(0.1 + 0.2),
            iops: Iops(1.0 / 3.0),
            latency: Latency { bins: vec![(10, 1)], ..Latency::default() },
        }),
        ..Reading::default()
    });
    let dir = writer.put_cell(&good, &[raw("fio.json", "{}"), raw("job.fio", "[job]")]).unwrap();
    assert_eq!(dir, root.join("r/cells/1-raid-1-rnd4k"));
    writer.journal(&json!({"step": "raid.create"})).unwrap();
    let happened = event(1, EventKind::BudgetSpent {});
    writer.event(&happened).unwrap();
    writer.seal().unwrap();

    let reader = RunReader::open(&root.join("r")).unwrap();
    assert_eq!((reader.provenance(), reader.study_text()), (&provenance("r"), "x"));
    assert_eq!(reader.inventory().unwrap(), Some(inventory));
    assert_eq!(reader.plan_slugs().unwrap(), ["raid-1"]);
    assert_eq!(reader.plan::<Value>("raid-1").unwrap(), Some(json!({"steps": []})));
    assert_eq!(reader.plan::<Value>("none").unwrap(), None);
    assert_eq!(reader.script("raid-1").unwrap().as_deref(), Some("#!/bin/sh\n"));
    assert_eq!(reader.builds().unwrap(), [build(1, "raid-1", 2)]);
    let kept = Cell { directory: Some("cells/1-raid-1-rnd4k".to_owned()), ..good };
    assert_eq!(reader.cells().unwrap(), [kept], "rates to the last bit");
    assert_eq!(reader.raw("cells/1-raid-1-rnd4k", "job.fio").unwrap().as_deref(), Some(&b"[job]"[..]));
    assert_eq!(reader.raw("cells/1-raid-1-rnd4k", "none").unwrap(), None);
    assert!(reader.raw("../x", "y").is_err() && reader.raw("cells/..", "y").is_err());
    assert_eq!(reader.journal().unwrap(), [json!({"step": "raid.create"})]);
    assert_eq!(reader.events().unwrap(), [happened]);
    assert!(reader.is_sealed());
    assert_eq!(reader.verify().unwrap(), [""; 0]);
}

#[test]
fn what_a_killed_writer_left_is_cleared_and_all_else_kept() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    let writer = new(root);
    let dir = writer.dir().to_owned();
    writer.put_cell(&cell(1, "a", "w", None), &[raw("fio.json", "{}")]).unwrap();
    writer.journal(&1).unwrap();
    drop(writer);
    let before = tree(&dir);

    let half = dir.join("cells/.new-2-a-w");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("cell.json"), "{\"schema\":1,\"ke").unwrap();
    fs::write(dir.join("builds/.new-2-a.json"), "{").unwrap();
    fs::write(dir.join("plans/.new-a.json"), "{").unwrap();
    fs::write(dir.join(".new-inventory.json"), "{").unwrap();
    fs::write(dir.join(".new-sealed.json"), "{").unwrap();
    fs::write(dir.join("journal.jsonl"), "1\n{\"torn\":").unwrap();
    fs::write(dir.join("events.jsonl"), "{\"torn").unwrap();

    let reader = RunReader::open(&dir).unwrap();
    assert_eq!(reader.cells().unwrap().len(), 1, "readers see what is whole");
    assert_eq!(reader.journal().unwrap(), [json!(1)]);
    assert!(reader.inventory().unwrap().is_none());

    let writer = resume(&dir).unwrap();
    assert_eq!(tree(&dir), before);
    assert_eq!(writer.finished(), BTreeSet::from([cell(1, "a", "w", None).key]));
    writer.put_cell(&cell(2, "a", "w", None), &[]).unwrap();
    writer.journal(&2).unwrap();
    writer.event(&event(3, EventKind::BudgetSpent {})).unwrap();
    assert_eq!(writer.finished().len(), 2);
    assert_eq!(reader.journal().unwrap(), [json!(1), json!(2)]);
    assert_eq!(reader.events().unwrap(), [event(3, EventKind::BudgetSpent {})]);
}

#[test]
fn a_journal_cut_at_every_byte_resumes_with_all_whole_lines() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    let path = dir.join("journal.jsonl");
    let lines: Vec<Value> = (0..4).map(|n| json!({"step": n, "text": "\"}\n{"})).collect();
    lines.iter().for_each(|line| writer.journal(line).unwrap());
    drop(writer);
    let full = fs::read(&path).unwrap();
    for cut in 0..=full.len() {
        fs::write(&path, &full[..cut]).unwrap();
        let whole = full[..cut].iter().filter(|byte| **byte == b'\n').count();
        drop(resume(&dir).unwrap());
        assert_eq!(RunReader::open(&dir).unwrap().journal().unwrap(), lines[..whole], "cut at {cut}");
        assert_eq!(
            fs::read(&path).unwrap(),
            full[..full[..cut].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)]
        );
    }
}

#[test]
fn one_run_has_one_writer() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    let error = resume(&dir).unwrap_err();
    assert!(matches!(error, RecordError::Locked { pid: Some(pid), .. } if pid == std::process::id()), "{error:?}");
    assert!(error.to_string().ends_with(&format!("is being written by process {}", std::process::id())), "{error}");
    assert!(RunReader::open(&dir).is_ok(), "reading needs no lock");
    drop(writer);
    assert!(resume(&dir).is_ok());
}

/// Whoever changes where a path leads after a run was read changes nothing of which run is written to.
#[test]
fn the_run_that_was_read_is_gone_on_with() {
    let home = tempfile::tempdir().unwrap();
    let dir = new(home.path()).dir().to_owned();
    let reader = RunReader::open(&dir).unwrap();
    let moved = home.path().join("moved");
    fs::rename(&dir, &moved).unwrap();
    fs::create_dir(&dir).unwrap();
    RunWriter::resume(&reader).unwrap().journal(&1).unwrap();
    assert_eq!(RunReader::open(&moved).unwrap().journal().unwrap(), [json!(1)]);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn failed_cells_are_tried_again_beside() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    writer.put_cell(&cell(1, "a", "w", Some("no space")), &[raw("fio.json", "one")]).unwrap();
    assert!(writer.finished().is_empty());
    drop(writer);
    let writer = resume(&dir).unwrap();
    let second = writer.put_cell(&cell(1, "a", "w", None), &[raw("fio.json", "two")]).unwrap();
    assert_eq!(second, dir.join("cells/1-a-w.2"));
    assert_eq!(writer.finished().len(), 1);
    for _ in 3..=10 {
        writer.put_cell(&cell(1, "a", "w", Some("again")), &[]).unwrap();
    }
    writer.put_cell(&cell(1, "a", "w", None), &[]).unwrap();

    let reader = RunReader::open(&dir).unwrap();
    let attempts = reader.attempts().unwrap();
    assert_eq!(attempts.iter().map(|of| of.number).collect::<Vec<_>>(), (1..=11).collect::<Vec<_>>());
    assert_eq!(attempts[9].cell.directory.as_deref(), Some("cells/1-a-w.10"));
    let newest = Cell { directory: Some("cells/1-a-w.11".to_owned()), ..cell(1, "a", "w", None) };
    assert_eq!(reader.newest_cell(&newest.key).unwrap(), Some(newest.clone()));
    assert_eq!(reader.newest_cell(&CellKey { round: 2, ..newest.key.clone() }).unwrap(), None);
    assert_eq!(reader.newest_cells().unwrap(), [newest]);
    assert_eq!(reader.raw("cells/1-a-w", "fio.json").unwrap().unwrap(), b"one", "the first stays as it was");
}

#[test]
fn cells_whose_names_meet_stay_apart() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    let cells = [cell(1, "a", "b-c", None), cell(1, "a-b", "c", None), cell(1, "a", "b-c.2", Some("x"))];
    cells.iter().for_each(|cell| drop(writer.put_cell(cell, &[]).unwrap()));
    let again = writer.put_cell(&cell(1, "a", "b-c", Some("later")), &[]).unwrap();
    assert!(again.ends_with("1-a-b-c.3"), "{again:?}");
    drop(writer);
    let reader = RunReader::open(&dir).unwrap();
    let newest = reader.newest_cells().unwrap();
    assert_eq!(newest.len(), 3);
    assert!(newest.iter().all(|cell| reader.newest_cell(&cell.key).unwrap().as_ref() == Some(cell)));
    for cell in reader.cells().unwrap() {
        let kept = reader.raw(cell.directory.as_deref().unwrap(), "cell.json").unwrap().unwrap();
        assert_eq!(serde_json::from_slice::<Cell>(&kept).unwrap().key, cell.key);
    }
    let finished = resume(&dir).unwrap().finished();
    assert_eq!(finished, BTreeSet::from([cells[1].key.clone()]));
}

#[test]
fn nothing_is_edited_only_put_beside() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    for kernel in ["6.1", "6.1", "6.12"] {
        writer.put_inventory(&Inventory { kernel: kernel.into(), ..Inventory::default() }).unwrap();
    }
    for step in [1, 1, 2] {
        writer.put_plan("a", &step, "same").unwrap();
    }
    for seconds in [5, 5] {
        writer.put_build(&build(1, "a", seconds)).unwrap();
    }
    let found = tree(writer.dir());
    assert!(found.contains("inventory.2.json") && !found.contains("inventory.3.json"), "{found:?}");
    assert!(found.contains("plans/a.2.json") && !found.contains("plans/a.2.sh"), "{found:?}");
    assert!(found.contains("builds/1-a.2.json"), "every build is an event: {found:?}");
    let reader = RunReader::open(writer.dir()).unwrap();
    assert_eq!(reader.inventory().unwrap().unwrap().kernel, "6.12");
    assert_eq!((reader.plan::<u32>("a").unwrap(), reader.plan_slugs().unwrap()), (Some(2), vec!["a".to_owned()]));
    assert_eq!(reader.builds().unwrap().len(), 2);
}

#[test]
fn every_flipped_byte_is_found() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    writer.put_cell(&cell(1, "a", "w", None), &[raw("fio.json", "{}")]).unwrap();
    assert_eq!(RunReader::open(&dir).unwrap().verify().unwrap().len(), 1, "not sealed");
    writer.seal().unwrap();
    let reader = RunReader::open(&dir).unwrap();
    for file in ["cells/1-a-w/fio.json", "cells/1-a-w/cell.json", "provenance.json"] {
        let good = fs::read(dir.join(file)).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(dir.join(file), bad).unwrap();
            assert_eq!(reader.verify().unwrap(), [format!("{file} was changed after sealing")], "byte {at}");
        }
        fs::write(dir.join(file), good).unwrap();
    }
    fs::write(dir.join("study.toml"), "y").unwrap();
    fs::write(dir.join("cells/extra"), "").unwrap();
    fs::remove_file(dir.join("cells/1-a-w/fio.json")).unwrap();
    let problems = reader.verify().unwrap();
    for about in ["study.toml is not the text", "study.toml was changed", "cells/extra was added", "fio.json is gone"] {
        assert!(problems.iter().any(|problem| problem.contains(about)), "{about}: {problems:?}");
    }
}

#[test]
fn a_sealed_run_takes_nothing_more() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    writer.seal().unwrap();
    assert!(matches!(resume(&dir), Err(RecordError::Sealed { .. })));
    assert_eq!(RunReader::open(&dir).unwrap().verify().unwrap(), [""; 0], "the refused writer left no trace");
}

#[test]
fn a_finished_run_can_be_given_more_rounds_and_keeps_all_it_has() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    let key = CellKey { round: 1, stack: "raid-1".into(), workload: "rnd4k".into() };
    writer.put_cell(&Cell::begun(key.clone(), String::new(), Vec::new(), 1), &[]).unwrap();
    writer.seal().unwrap();
    let before = RunReader::open(&dir).unwrap().provenance().clone();
    let policy = terms::MeasurePolicy { max_rounds: before.policy().rounds + 2, ..before.policy() };
    let writer = RunWriter::extend(&RunReader::open(&dir).unwrap(), policy.clone()).unwrap();
    assert!(matches!(
        RunWriter::extend(&RunReader::open(&dir).unwrap(), policy.clone()),
        Err(RecordError::Locked { .. })
    ));
    assert!(!RunReader::open(&dir).unwrap().is_sealed());
    writer.seal().unwrap();
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!(reader.provenance().policy(), policy);
    assert_eq!(reader.provenance().study_sha256, before.study_sha256);
    assert_eq!((reader.cells().unwrap().len(), &reader.cells().unwrap()[0].key), (1, &key));
    assert_eq!(reader.verify().unwrap().len(), RunReader::open(&dir).unwrap().verify().unwrap().len());
    assert!(reader.is_sealed());
}

#[test]
fn taken_and_bad_names_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    let writer = new(root);
    assert!(matches!(RunWriter::create(root, &provenance("r"), "x"), Err(RecordError::Exists { .. })));
    for name in ["", "..", "a/b", ".x"] {
        assert!(matches!(RunWriter::create(root, &provenance(name), "x"), Err(RecordError::BadName { .. })));
    }
    for files in [vec![raw("cell.json", "")], vec![raw("a", ""), raw("a", "")], vec![raw("../a", "")]] {
        let put = writer.put_cell(&cell(1, "a", "w", None), &files);
        assert!(matches!(put, Err(RecordError::BadName { .. })), "{put:?}");
    }
    assert!(writer.put_cell(&cell(1, "../a", "w", None), &[]).is_err());
    assert!(writer.put_cell(&cell(1, "a", "/w", None), &[]).is_err());
    assert!(writer.put_plan("a/b", &1, "").is_err() && writer.put_plan("a.2", &1, "").is_err());
    assert!(writer.finished().is_empty());
    assert_eq!(tree(root).iter().filter(|path| path.contains(".new-")).count(), 0);
}

#[test]
fn newer_formats_are_refused_and_unknown_fields_passed_over() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    let put = writer.put_cell(&cell(1, "a", "w", None), &[]).unwrap().join("cell.json");
    drop(writer);
    let with = |path: &Path, field: &str, value: Value| {
        let mut json: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        json[field] = value;
        fs::write(path, json.to_string()).unwrap();
    };
    with(&put, "mood", json!("sunny"));
    with(&dir.join("provenance.json"), "weather", json!({"rain": false}));
    let kept = Cell { directory: Some("cells/1-a-w".to_owned()), ..cell(1, "a", "w", None) };
    assert_eq!(RunReader::open(&dir).unwrap().cells().unwrap(), [kept]);

    with(&put, "schema", json!(2));
    let error = RunReader::open(&dir).unwrap().cells().unwrap_err();
    assert!(matches!(error, RecordError::Newer { found: 2, known: 1, .. }), "{error:?}");
    assert!(error.to_string().ends_with("has record format 2, this Bedplate reads up to 1: use a newer one"));
    with(&dir.join("provenance.json"), "schema", json!(7));
    assert!(matches!(resume(&dir), Err(RecordError::Newer { found: 7, .. })));
    assert!(matches!(RunReader::open(home.path()), Err(RecordError::NotARun { .. })));
}

#[test]
fn errors_of_the_file_system_carry_path_and_cause() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    let dir = writer.dir().to_owned();
    fs::remove_dir(dir.join("cells")).unwrap();
    fs::write(dir.join("cells"), "in the way").unwrap();
    let error = writer.put_cell(&cell(1, "a", "w", None), &[]).unwrap_err();
    assert!(error.to_string().ends_with("r/cells"), "{error}");
    assert!(error.source().is_some_and(|cause| cause.to_string().contains("os error")), "{error:?}");
    assert!(writer.finished().is_empty());
}

#[test]
fn threads_may_share_a_writer() {
    let home = tempfile::tempdir().unwrap();
    let writer = new(home.path());
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let writer = &writer;
            scope.spawn(move || {
                for n in 0..10 {
                    writer.event(&event(thread, EventKind::TakenDown { took: Nanos(n) })).unwrap();
                }
                writer.put_cell(&cell(thread, "a", "w", None), &[]).unwrap();
            });
        }
    });
    let reader = RunReader::open(writer.dir()).unwrap();
    assert_eq!((reader.events().unwrap().len(), reader.cells().unwrap().len()), (40, 4));
}

#[test]
fn what_is_said_is_said_once_and_before_the_first_cell() {
    let home = tempfile::tempdir().unwrap();
    let predicted = Predictions {
        calibrated: None,
        schema: PREDICTIONS_SCHEMA,
        at: "2026-11-20T19:21:34Z".into(),
        build: "b".into(),
        machine: Machine::default(),
        widened: 1.0,
        standing: None,
        why_not: Some("nobody knows".into()),
        cells: Vec::new(),
    };
    let writer = new(home.path());
    let sha256 = writer.put_predictions(&predicted).unwrap();
    assert!(writer.put_predictions(&predicted).is_err(), "a second thought");
    writer.put_cell(&cell(1, "s", "w", None), &[]).unwrap();
    writer.seal().unwrap();
    let dir = home.path().join("r");
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!(reader.predicted().unwrap(), Some((predicted.clone(), sha256)));
    fs::write(dir.join("prediction.json"), "{}").unwrap();
    assert!(!reader.verify().unwrap().is_empty(), "what was said is sealed with the rest");

    let late = RunWriter::create(home.path(), &provenance("late"), "x").unwrap();
    late.put_cell(&cell(1, "s", "w", None), &[]).unwrap();
    assert!(late.put_predictions(&predicted).is_err(), "after the event");
}
