//! The catalogue: which runs there are, in a SQLite file that may be thrown away at any time.
//!
//! Everything in it comes from the runs' directories. A file that is broken or of another version is not repaired but
//! deleted and made anew.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Row, params};

use crate::durable;
use crate::error::RecordError;
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

/// Every column, in the order of [`RunRow`].
const SELECT: &str = "SELECT run, dir, started, question, place, accelerator, rounds, stacks, workloads, cells, failed,
    sealed FROM runs ORDER BY started_utc DESC, run DESC";

/// An open catalogue.
#[derive(Debug)]
pub struct Catalogue {
    path: PathBuf,
    connection: Connection,
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
    /// Opens a catalogue, making it if need be. One that is broken or of another version is thrown away: it is then
    /// empty until [`Catalogue::rebuild`].
    ///
    /// # Errors
    /// [`RecordError::Catalogue`] or [`RecordError::Io`] if not even a new one can be made.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(RecordError::io("create", parent))?;
        }
        if let Ok(connection) = connect(path)
            && is_good(&connection)
        {
            return Ok(Self { path: path.to_owned(), connection });
        }
        Self::fresh(path)
    }

    /// Deletes what is there and makes an empty one.
    fn fresh(path: &Path) -> Result<Self, RecordError> {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut file = path.as_os_str().to_owned();
            file.push(suffix);
            durable::remove(Path::new(&file))?;
        }
        let make = || {
            let connection = connect(path)?;
            connection.execute_batch(&format!("BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"))?;
            Ok(connection)
        };
        let connection = make().map_err(failed("make", path))?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Reads every run under `root` anew. Gives what could not be read; those runs are left out.
    ///
    /// # Errors
    /// As the file system or the database has them.
    pub fn rebuild(&mut self, root: &Path) -> Result<Vec<RecordError>, RecordError> {
        let (mut rows, mut unread) = (Vec::new(), Vec::new());
        for name in durable::names(root)? {
            let dir = root.join(name);
            if dir.is_dir() {
                match row(&dir) {
                    Ok(row) => rows.push(row),
                    // A directory that never was a run is no news.
                    Err(RecordError::NotARun { .. }) => {}
                    Err(error) => unread.push(error),
                }
            }
        }
        let stored = self.store(&rows).or_else(|error| {
            if !is_broken(&error) {
                return Err(failed("write", &self.path)(error));
            }
            *self = Self::fresh(&self.path)?;
            self.store(&rows).map_err(failed("write", &self.path))
        });
        stored.map(|()| unread)
    }

    /// Replaces all rows.
    fn store(&mut self, rows: &[(RunRow, String)]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM runs", [])?;
        {
            let mut insert = transaction.prepare(
                "INSERT OR REPLACE INTO runs (run, dir, started, started_utc, question, place, accelerator, rounds,
                 stacks, workloads, cells, failed, sealed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?;
            for (row, utc) in rows {
                insert.execute(params![
                    row.run,
                    row.dir.to_string_lossy(),
                    row.started,
                    utc,
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
        transaction.commit()
    }

    /// All runs, newest first.
    ///
    /// # Errors
    /// [`RecordError::Catalogue`].
    pub fn list(&self) -> Result<Vec<RunRow>, RecordError> {
        let query = || self.connection.prepare(SELECT)?.query_map([], from_row)?.collect::<rusqlite::Result<_>>();
        query().map_err(failed("read", &self.path))
    }

    /// The run of that name, the newest for `latest`, or the only one whose name begins so.
    ///
    /// # Errors
    /// [`RecordError::NoRun`], [`RecordError::Ambiguous`] with the names that fit, or [`RecordError::Catalogue`].
    pub fn find(&self, wanted: &str) -> Result<RunRow, RecordError> {
        let none = || RecordError::NoRun { wanted: wanted.to_owned() };
        let all = self.list()?;
        if let Some(exact) = all.iter().find(|row| row.run == wanted) {
            return Ok(exact.clone());
        }
        if wanted == "latest" {
            return all.into_iter().next().ok_or_else(none);
        }
        let fits: Vec<&RunRow> = all.iter().filter(|row| row.run.starts_with(wanted)).collect();
        match fits[..] {
            [] => Err(none()),
            [one] => Ok(one.clone()),
            _ => Err(RecordError::Ambiguous {
                wanted: wanted.to_owned(),
                found: fits.iter().map(|row| row.run.clone()).collect(),
            }),
        }
    }
}

/// Opens the file. Losing it costs nothing, so it need not be synced.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute_batch("PRAGMA synchronous = OFF;")?;
    Ok(connection)
}

/// Is it of this version, with tables that can be read?
fn is_good(connection: &Connection) -> bool {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0));
    let check = || connection.pragma_query_value(None, "quick_check", |row| row.get::<_, String>(0));
    version == Ok(VERSION) && check().is_ok_and(|said| said == "ok") && connection.prepare(SELECT).is_ok()
}

/// Is the file itself at fault?
fn is_broken(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Makes an error of a failed operation on the database.
fn failed(doing: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> RecordError {
    move |source| RecordError::Catalogue { doing, path: path.to_owned(), source }
}

/// A run's row, and its start as text that sorts.
fn row(dir: &Path) -> Result<(RunRow, String), RecordError> {
    let reader = RunReader::open(dir)?;
    let provenance = reader.provenance();
    let newest: std::collections::BTreeMap<_, _> =
        reader::outcomes(dir)?.into_iter().map(|of| (of.key, of.failed)).collect();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let row = RunRow {
        run: provenance.run.clone(),
        dir: dir.to_owned(),
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
    let utc = naming::sortable(naming::timestamp(&provenance.started)?);
    Ok((row, utc))
}

/// A row of [`SELECT`].
fn from_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        run: row.get(0)?,
        dir: PathBuf::from(row.get::<_, String>(1)?),
        started: row.get(2)?,
        question: row.get(3)?,
        place: row.get(4)?,
        accelerator: row.get(5)?,
        rounds: row.get(6)?,
        stacks: row.get(7)?,
        workloads: row.get(8)?,
        cells: row.get(9)?,
        failed: row.get(10)?,
        sealed: row.get(11)?,
    })
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

    fn names(catalogue: &Catalogue) -> Vec<String> {
        catalogue.list().unwrap().into_iter().map(|row| row.run).collect()
    }

    #[test]
    fn runs_are_listed_newest_first_and_found() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("runs");
        run(&root, "a-one", "2026-01-02T00:30:00+01:00").seal().unwrap();
        let two = run(&root, "a-two", "2026-01-02T00:00:00Z");
        two.put_cell(&cell(1, "s", "w", Some("no")), &[]).unwrap();
        two.put_cell(&cell(1, "s", "v", Some("no")), &[]).unwrap();
        two.put_cell(&cell(1, "s", "v", None), &[]).unwrap();
        fs::create_dir(root.join("not-a-run")).unwrap();
        fs::create_dir(root.join(".new-9-x")).unwrap();
        let mut catalogue = Catalogue::open(&home.path().join("state/catalogue.db")).unwrap();
        assert!(catalogue.list().unwrap().is_empty());
        assert!(matches!(catalogue.find("latest"), Err(RecordError::NoRun { .. })));
        assert!(catalogue.rebuild(&root).unwrap().is_empty());
        assert_eq!(names(&catalogue), ["a-two", "a-one"]);
        let latest = catalogue.find("latest").unwrap();
        assert_eq!((latest.run.as_str(), latest.cells, latest.failed, latest.sealed), ("a-two", 2, 1, false));
        let one = catalogue.find("a-o").unwrap();
        assert!(one.sealed && one.dir == root.join("a-one"));
        assert!(matches!(catalogue.find("a-"), Err(RecordError::Ambiguous { found, .. }) if found.len() == 2));
        assert!(matches!(catalogue.find("b"), Err(RecordError::NoRun { .. })));
    }

    #[test]
    fn a_lost_broken_or_foreign_file_is_made_anew() {
        let home = tempfile::tempdir().unwrap();
        let (root, path) = (home.path().join("runs"), home.path().join("catalogue.db"));
        drop(run(&root, "r", "2026-01-02T00:00:00Z"));
        let damages: [&dyn Fn(); 5] = [
            &|| fs::remove_file(&path).unwrap(),
            &|| fs::write(&path, "this is not a database, and long enough to be sure of it".repeat(100)).unwrap(),
            &|| fs::write(&path, &fs::read(&path).unwrap()[..5000]).unwrap(),
            &|| Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap(),
            &|| Connection::open(&path).unwrap().execute_batch("DROP TABLE runs").unwrap(),
        ];
        Catalogue::open(&path).unwrap().rebuild(&root).unwrap();
        for (number, damage) in damages.iter().enumerate() {
            damage();
            let mut catalogue = Catalogue::open(&path).unwrap();
            assert!(catalogue.list().unwrap().is_empty(), "damage {number}");
            catalogue.rebuild(&root).unwrap();
            assert_eq!(names(&catalogue), ["r"], "damage {number}");
            assert_eq!(names(&Catalogue::open(&path).unwrap()), ["r"], "damage {number}, opened again");
        }
    }

    #[test]
    fn runs_that_cannot_be_read_are_told_and_left_out() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        drop(run(root, "good", "2026-01-02T00:00:00Z"));
        drop(run(root, "bad", "2026-01-02T00:00:00Z"));
        fs::write(root.join("bad/provenance.json"), "{").unwrap();
        let mut catalogue = Catalogue::open(&root.join("catalogue.db")).unwrap();
        let unread = catalogue.rebuild(root).unwrap();
        assert!(matches!(unread[..], [RecordError::Damaged { .. }]), "{unread:?}");
        assert_eq!(names(&catalogue), ["good"]);
    }
}
