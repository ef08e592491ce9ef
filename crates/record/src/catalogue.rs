//! The catalogue: which runs there are. It is read from the runs' own directories whenever it is asked for, so that it
//! needs no room on a disk and nothing beside the runs is believed.
//!
//! For other programs the same is kept as a SQLite file, made anew each time and put in place whole. Nothing here reads
//! it; it may be deleted at any time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use rustix::fs::FileType;

use crate::durable;
use crate::error::RecordError;
use crate::folder::Folder;
use crate::naming;
use crate::reader::{self, RunReader};

/// Version of the tables, kept in SQLite's `user_version`.
const VERSION: i32 = 1;

/// The tables.
const TABLES: &str = "
    CREATE TABLE runs (
        run         TEXT PRIMARY KEY,
        dir         TEXT NOT NULL,
        started     TEXT NOT NULL,
        started_utc TEXT NOT NULL,
        question    TEXT NOT NULL,
        place       TEXT NOT NULL,
        accelerator TEXT,
        rounds      INTEGER NOT NULL,
        stacks      INTEGER NOT NULL,
        workloads   INTEGER NOT NULL,
        cells       INTEGER NOT NULL,
        failed      INTEGER NOT NULL,
        sealed      INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_time ON runs (started_utc DESC, run DESC);
";

/// Seconds that a run's start may lie after its directory came to be: clocks are set.
const CLOCKS: i64 = 60;

/// All runs in a directory.
#[derive(Debug, Default)]
pub struct Catalogue {
    rows: Vec<RunRow>,
    unread: Vec<RecordError>,
}

/// One run in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its name.
    pub run: String,
    /// Its directory.
    pub dir: PathBuf,
    /// When it began, RFC 3339, as the run has it.
    pub started: String,
    /// What it asks.
    pub question: String,
    /// Where it ran.
    pub place: String,
    /// For the lab: `kvm` or `tcg`.
    pub accelerator: Option<String>,
    /// Rounds asked for.
    pub rounds: u32,
    /// Stacks in the study.
    pub stacks: u32,
    /// Workloads in the study.
    pub workloads: u32,
    /// Cells that were run, each counted once.
    pub cells: u32,
    /// Of those, how many failed in their newest attempt.
    pub failed: u32,
    /// Is it sealed?
    pub sealed: bool,
}

impl Catalogue {
    /// Reads every run below `root`, and changes nothing. Where there is no such directory there are no runs. Links to
    /// directories are passed over: a run is where its name is.
    ///
    /// # Errors
    /// As the file system has them for `root` itself.
    pub fn read(root: &Path) -> Result<Self, RecordError> {
        let runs = match Folder::open(root) {
            Err(RecordError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            runs => runs?,
        };
        let (mut rows, mut unread) = (Vec::new(), Vec::new());
        for name in runs.names()? {
            if runs.kind(&name)? == Some(FileType::Directory) {
                match row(&runs, name) {
                    Ok(row) => rows.push(row),
                    // A directory that never was a run is no news.
                    Err(RecordError::NotARun { .. }) => {}
                    Err(error) => unread.push(error),
                }
            }
        }
        rows.sort_by(|(one, a), (two, b)| (b, &two.run).cmp(&(a, &one.run)));
        Ok(Self { rows: rows.into_iter().map(|(row, _)| row).collect(), unread })
    }

    /// All runs, newest first.
    #[must_use]
    pub fn list(&self) -> &[RunRow] {
        &self.rows
    }

    /// What could not be read; those runs are left out.
    #[must_use]
    pub fn unread(&self) -> &[RecordError] {
        &self.unread
    }

    /// The run of that name, the newest for `latest`, or the only one whose name begins so.
    ///
    /// # Errors
    /// [`RecordError::NoRun`], or [`RecordError::Ambiguous`] with the names that fit.
    pub fn find(&self, wanted: &str) -> Result<&RunRow, RecordError> {
        let none = || RecordError::NoRun { wanted: wanted.to_owned() };
        if let Some(exact) = self.rows.iter().find(|row| row.run == wanted) {
            return Ok(exact);
        }
        if wanted == "latest" {
            return self.rows.first().ok_or_else(none);
        }
        let fits: Vec<&RunRow> = self.rows.iter().filter(|row| row.run.starts_with(wanted)).collect();
        match fits[..] {
            [] => Err(none()),
            [one] => Ok(one),
            _ => Err(RecordError::Ambiguous {
                wanted: wanted.to_owned(),
                found: fits.iter().map(|row| row.run.clone()).collect(),
            }),
        }
    }

    /// Keeps it as a SQLite file, in place of what is there.
    ///
    /// # Errors
    /// [`RecordError::Catalogue`] or [`RecordError::Io`] where that cannot be written.
    pub fn keep(&self, path: &Path) -> Result<(), RecordError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = Folder::open(path.parent().unwrap_or(Path::new("/")))?;
        let bytes = database(&self.rows).map_err(|source| RecordError::Catalogue { path: path.to_owned(), source })?;
        // What a program that had the old file open may have left would be taken for a part of the new one.
        for suffix in ["-journal", "-wal", "-shm"] {
            folder.remove(&format!("{name}{suffix}"))?;
        }
        durable::put_file(&folder, &name, &bytes)
    }
}

/// A SQLite file of rows. It is made in memory, so that no file that is there already is opened.
fn database(rows: &[RunRow]) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(&format!("{TABLES} PRAGMA user_version = {VERSION};"))?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare(
            "INSERT INTO runs (run, dir, started, started_utc, question, place, accelerator, rounds, stacks,
             workloads, cells, failed, sealed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        )?;
        for row in rows {
            insert.execute(params![
                row.run,
                row.dir.to_string_lossy(),
                row.started,
                naming::timestamp(&row.started).map(naming::sortable).unwrap_or_default(),
                row.question,
                row.place,
                row.accelerator,
                row.rounds,
                row.stacks,
                row.workloads,
                row.cells,
                row.failed,
                row.sealed,
            ])?;
        }
    }
    transaction.commit()?;
    connection.serialize("main").map(|data| data.to_vec())
}

/// What runs are sorted by: is the start that the record tells possible, and the start as text that sorts.
type Age = (bool, String);

/// A run's row and its age. Its name is that of its directory, whatever the record says.
///
/// A run began before its directory came to be. One that says that it began later says something false, and is older
/// than all others: a record that somebody put among one's own does not become the latest by its word.
fn row(runs: &Folder, name: String) -> Result<(RunRow, Age), RecordError> {
    let folder = runs.below(&name)?.ok_or_else(|| RecordError::NoRun { wanted: name.clone() })?;
    let born = folder.born()?;
    let reader = RunReader::of(folder.clone())?;
    let newest: BTreeMap<_, _> = reader::outcomes(&folder)?.into_iter().map(|of| (of.key, of.failed)).collect();
    let provenance = reader.provenance();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let row = RunRow {
        run: name,
        dir: reader.dir().to_owned(),
        started: provenance.started.clone(),
        question: provenance.question.clone(),
        place: provenance.place.clone(),
        accelerator: provenance.accelerator.clone(),
        rounds: provenance.rounds,
        stacks: count(provenance.stacks.len()),
        workloads: count(provenance.workloads.len()),
        cells: count(newest.len()),
        failed: count(newest.values().filter(|failed| **failed).count()),
        sealed: reader.is_sealed(),
    };
    let started = naming::timestamp(&provenance.started)?;
    Ok((row, (started.as_second() <= born.saturating_add(CLOCKS), naming::sortable(started))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::RunWriter;
    use crate::samples::{cell, provenance};

    fn run(root: &Path, name: &str, started: &str) -> RunWriter {
        let mut provenance = provenance(name);
        provenance.started = started.into();
        RunWriter::create(root, &provenance, "x").unwrap()
    }

    fn names(catalogue: &Catalogue) -> Vec<&str> {
        catalogue.list().iter().map(|row| row.run.as_str()).collect()
    }

    #[test]
    fn runs_are_listed_newest_first_and_found() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("runs");
        let empty = Catalogue::read(&root).unwrap();
        assert!(empty.list().is_empty() && !root.exists());
        assert!(matches!(empty.find("latest"), Err(RecordError::NoRun { .. })));
        run(&root, "a-one", "2026-01-02T00:30:00+01:00").seal().unwrap();
        let two = run(&root, "a-two", "2026-01-02T00:00:00Z");
        two.put_cell(&cell(1, "s", "w", Some("no")), &[]).unwrap();
        two.put_cell(&cell(1, "s", "v", Some("no")), &[]).unwrap();
        two.put_cell(&cell(1, "s", "v", None), &[]).unwrap();
        fs::create_dir(root.join("not-a-run")).unwrap();
        fs::create_dir(root.join(".new-9-x")).unwrap();
        let catalogue = Catalogue::read(&root).unwrap();
        assert!(catalogue.unread().is_empty());
        assert_eq!(names(&catalogue), ["a-two", "a-one"]);
        let latest = catalogue.find("latest").unwrap();
        assert_eq!((latest.run.as_str(), latest.cells, latest.failed, latest.sealed), ("a-two", 2, 1, false));
        let one = catalogue.find("a-o").unwrap();
        assert!(one.sealed && one.dir == root.join("a-one"));
        assert!(matches!(catalogue.find("a-"), Err(RecordError::Ambiguous { found, .. }) if found.len() == 2));
        assert!(matches!(catalogue.find("b"), Err(RecordError::NoRun { .. })));
    }

    #[test]
    fn a_record_does_not_become_the_latest_by_its_word() {
        let home = tempfile::tempdir().unwrap();
        drop(run(home.path(), "mine", "2026-01-02T00:00:00Z"));
        drop(run(home.path(), "theirs", "2099-01-01T00:00:00Z"));
        let catalogue = Catalogue::read(home.path()).unwrap();
        assert_eq!(
            (names(&catalogue), catalogue.find("latest").unwrap().run.as_str()),
            (vec!["mine", "theirs"], "mine")
        );
    }

    #[test]
    fn a_run_is_called_as_its_directory_is() {
        let home = tempfile::tempdir().unwrap();
        drop(run(home.path(), "mine", "2026-01-02T00:00:00Z"));
        fs::rename(home.path().join("mine"), home.path().join("theirs")).unwrap();
        drop(run(home.path(), "mine", "2026-01-01T00:00:00Z"));
        let catalogue = Catalogue::read(home.path()).unwrap();
        assert_eq!(names(&catalogue), ["theirs", "mine"]);
        assert_eq!(catalogue.find("mine").unwrap().dir, home.path().join("mine"));
    }

    #[test]
    fn links_among_runs_lead_nowhere() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        drop(run(elsewhere.path(), "r", "2026-01-02T00:00:00Z"));
        std::os::unix::fs::symlink(elsewhere.path().join("r"), home.path().join("r")).unwrap();
        assert!(Catalogue::read(home.path()).unwrap().list().is_empty());
    }

    #[test]
    fn whatever_stands_in_place_of_the_kept_file_is_replaced_and_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let (root, path) = (home.path().join("runs"), home.path().join("catalogue.sqlite"));
        drop(run(&root, "r", "2026-01-02T00:00:00Z"));
        let victim = home.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let view = "CREATE VIEW runs AS SELECT 'evil' AS run, '/elsewhere' AS dir;
            CREATE TRIGGER swallow INSTEAD OF INSERT ON runs BEGIN SELECT 1; END; PRAGMA user_version = 1;";
        let damages: [&dyn Fn(); 4] = [
            &|| {},
            &|| fs::write(&path, "this is not a database").unwrap(),
            &|| Connection::open(&path).unwrap().execute_batch(view).unwrap(),
            &|| std::os::unix::fs::symlink(&victim, &path).unwrap(),
        ];
        for (number, damage) in damages.iter().enumerate() {
            let _ = fs::remove_file(&path);
            damage();
            let catalogue = Catalogue::read(&root).unwrap();
            assert_eq!(names(&catalogue), ["r"], "damage {number}");
            catalogue.keep(&path).unwrap();
            let kept = Connection::open(&path).unwrap();
            let dir: String = kept.query_row("SELECT dir FROM runs", [], |row| row.get(0)).unwrap();
            assert_eq!(Path::new(&dir), root.join("r"), "damage {number}");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }

    #[test]
    fn runs_that_cannot_be_read_are_told_and_left_out() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        drop(run(root, "good", "2026-01-02T00:00:00Z"));
        drop(run(root, "bad", "2026-01-02T00:00:00Z"));
        fs::write(root.join("bad/provenance.json"), "{").unwrap();
        let catalogue = Catalogue::read(root).unwrap();
        assert!(matches!(catalogue.unread(), [RecordError::Damaged { .. }]), "{:?}", catalogue.unread());
        assert_eq!(names(&catalogue), ["good"]);
    }
}
