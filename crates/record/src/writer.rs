//! Writing a run: the one process that holds its lock adds files, lines and cells, and seals it at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use terms::event::Event;
use terms::inventory::Inventory;
use terms::prediction::Predictions;
use terms::preflight::DriveCheck;
use terms::record::{BuildOutcome, Cell, CellKey, Provenance};
use terms::{MeasurePolicy, StackFeatureChecks};

use crate::durable;
use crate::error::RecordError;
use crate::folder::{self, Folder};
use crate::layout;
use crate::lines::Lines;
use crate::lock::Lock;
use crate::reader::{self, RunReader};
use crate::seal;

/// A run being written. Methods take `&self`, so that a journal can be kept while cells are put.
#[derive(Debug)]
pub struct RunWriter {
    folder: Folder,
    state: Mutex<State>,
    _lock: Lock,
}

/// What changes while writing.
#[derive(Debug)]
struct State {
    journal: Lines,
    events: Lines,
    /// Number of the newest attempt of every cell, and whether it failed.
    cells: BTreeMap<CellKey, (u32, bool)>,
}

impl RunWriter {
    /// Begins a run at `root/<provenance.run>`. `root` is made if need be.
    ///
    /// # Errors
    /// [`RecordError::Exists`] if the name is taken, [`RecordError::BadName`] if it cannot name a directory.
    pub fn create(root: &Path, provenance: &Provenance, study_text: &str) -> Result<Self, RecordError> {
        let name = layout::plain(&provenance.run)?;
        let runs = Folder::open_or_make(root)?;
        if runs.kind(name)?.is_some() {
            return Err(RecordError::Exists { dir: root.join(name) });
        }
        let unfinished = format!("{}{}-{name}", durable::UNFINISHED, std::process::id());
        runs.remove(&unfinished)?;
        let begun = Self::begin(&runs, &unfinished, provenance, study_text);
        if begun.is_err() {
            let _ = runs.remove(&unfinished);
        }
        begun
    }

    /// Fills the directory under its unfinished name and puts it in place.
    fn begin(runs: &Folder, unfinished: &str, provenance: &Provenance, study_text: &str) -> Result<Self, RecordError> {
        let run = runs.make(unfinished)?;
        let lock = Lock::take(&run)?;
        for name in [layout::PLANS, layout::BUILDS, layout::CELLS] {
            run.make(name)?;
        }
        let text = durable::json(&run.at(layout::PROVENANCE)?, provenance)?;
        durable::write_synced(&run, layout::PROVENANCE, &text)?;
        durable::write_synced(&run, layout::STUDY, study_text.as_bytes())?;
        for name in [layout::JOURNAL, layout::EVENTS] {
            durable::write_synced(&run, name, b"")?;
        }
        run.sync()?;
        runs.rename(unfinished, &provenance.run)?;
        Self::open(run.renamed(runs.at(&provenance.run)?), lock)
    }

    /// Goes on with a run that was interrupted: clears what is unfinished and cuts torn lines. It writes into the directory that was
    /// read, whatever its path leads to by now.
    ///
    /// # Errors
    /// [`RecordError::Sealed`], [`RecordError::Locked`] with the process that writes it.
    pub fn resume(reader: &RunReader) -> Result<Self, RecordError> {
        let run = reader.folder();
        let lock = Lock::take(&run)?;
        if seal::is_sealed(&run)? {
            return Err(RecordError::Sealed { dir: run.path().to_owned() });
        }
        durable::clear_unfinished(&run)?;
        for below in [layout::PLANS, layout::BUILDS, layout::CELLS, layout::FEATURE_CHECKS] {
            run.below(below)?.as_ref().map_or(Ok(()), durable::clear_unfinished)?;
        }
        Self::open(run, lock)
    }

    /// Goes on with a run, finished or not, by another policy: one of more rounds. Its seal goes, and comes back with
    /// [`Self::seal`].
    ///
    /// # Errors
    /// As [`Self::resume`], but for a seal.
    pub fn extend(reader: &RunReader, policy: MeasurePolicy) -> Result<Self, RecordError> {
        let provenance = Provenance { rounds: policy.rounds, policy: Some(policy), ..reader.provenance().clone() };
        let run = reader.folder();
        let lock = Lock::take(&run)?;
        // Without a seal and with its old policy it is a run that can be resumed, and has nothing left to do.
        run.remove(layout::SEALED)?;
        durable::put_json(&run, layout::PROVENANCE, &provenance)?;
        drop(lock);
        Self::resume(reader)
    }

    /// Opens the lines and learns which cells there are.
    fn open(folder: Folder, lock: Lock) -> Result<Self, RecordError> {
        let attempts = reader::outcomes(&folder)?;
        let cells = attempts.into_iter().map(|of| (of.key, (of.number, of.failed))).collect();
        let journal = Lines::open(&folder, layout::JOURNAL, true)?;
        let events = Lines::open(&folder, layout::EVENTS, false)?;
        Ok(Self { folder, state: Mutex::new(State { journal, events, cells }), _lock: lock })
    }

    /// Where the run is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// The run as it is now, to be read.
    ///
    /// # Errors
    /// As [`RunReader::open`].
    pub fn reader(&self) -> Result<RunReader, RecordError> {
        RunReader::of(self.folder.clone())
    }

    /// Cells that need not be run again: those whose newest attempt did not fail.
    #[must_use]
    pub fn finished(&self) -> BTreeSet<CellKey> {
        let state = self.state();
        state.cells.iter().filter(|(_, (_, failed))| !failed).map(|(key, _)| key.clone()).collect()
    }

    /// Is that one of them?
    #[must_use]
    pub fn is_finished(&self, cell: &CellKey) -> bool {
        self.state().cells.get(cell).is_some_and(|(_, failed)| !failed)
    }

    /// Keeps what the machine is.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn put_inventory(&self, inventory: &Inventory) -> Result<(), RecordError> {
        let path = self.folder.at(layout::INVENTORY)?;
        self.put(&self.folder, "inventory", ".json", &durable::json(&path, inventory)?)
    }

    /// Keeps what is said of a run before it begins, once and for all. Gives the digest of what was written.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::Io`] where something was said already, or a cell is there.
    pub fn put_predictions(&self, predicted: &Predictions) -> Result<String, RecordError> {
        let path = self.folder.at(layout::PREDICTIONS)?;
        let text = durable::json(&path, predicted)?;
        let too_late = self.folder.kind(layout::PREDICTIONS)?.is_some() || !self.state().cells.is_empty();
        if too_late {
            let source = std::io::Error::other("a prediction is made before the first cell, and once");
            return Err(RecordError::Io { doing: "write", path, source });
        }
        durable::put_file(&self.folder, layout::PREDICTIONS, &text)?;
        Ok(seal::sha256_hex(&text))
    }

    /// Keeps what was looked at on drives before the first step. A run that goes on looks again, and the last look counts.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn put_preflight(&self, checks: &[DriveCheck]) -> Result<(), RecordError> {
        durable::put_json(&self.folder, layout::PREFLIGHT, &checks)
    }

    /// Keeps how a stack is built: the plan and the same as a script.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a slug that is none.
    pub fn put_plan(&self, slug: &str, plan: &impl Serialize, script: &str) -> Result<(), RecordError> {
        let slug = layout::plain_slug(slug)?;
        let plans = self.below(layout::PLANS)?;
        self.put(&plans, slug, ".json", &durable::json(&plans.at(slug)?, plan)?)?;
        self.put(&plans, slug, ".sh", script.as_bytes())
    }

    /// Keeps how a build went.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a slug that is none.
    pub fn put_build(&self, outcome: &BuildOutcome) -> Result<(), RecordError> {
        let base = format!("{}-{}", outcome.round, layout::plain_slug(&outcome.stack)?);
        let builds = self.below(layout::BUILDS)?;
        let _state = self.state();
        // A build done again is kept even if it reads the same: it is another event.
        let number = builds.newest(&base, ".json")?.map_or(1, |(_, number)| number + 1);
        durable::put_json(&builds, &layout::numbered(&base, ".json", number), outcome)
    }

    /// Keeps what was tried on a stack. What was kept before stays; this becomes the newest.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a slug that is none.
    pub fn put_feature_checks(&self, feature_checks: &StackFeatureChecks) -> Result<(), RecordError> {
        let slug = layout::plain_slug(&feature_checks.stack)?;
        let folder = self.below(layout::FEATURE_CHECKS)?;
        self.put(&folder, slug, ".json", &durable::json(&folder.at(slug)?, feature_checks)?)
    }

    /// Keeps a cell with its raw files, given as name and content. When this returns, the cell is on the disk.
    ///
    /// A cell that was there already stays; this becomes its newest attempt. Gives the cell's directory.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a raw file called `cell.json`, twice the same, or not
    /// staying in the directory.
    pub fn put_cell(&self, cell: &Cell, raw: &[(String, Vec<u8>)]) -> Result<PathBuf, RecordError> {
        let base = layout::cell_name(&cell.key)?;
        let mut names = BTreeSet::from([layout::CELL]);
        for (name, _) in raw {
            if !names.insert(layout::plain(name)?) {
                return Err(RecordError::BadName { name: name.clone() });
            }
        }
        let mut state = self.state();
        let after = state.cells.get(&cell.key).map_or(0, |(number, _)| *number);
        // Stacks `a` and `a-b` with workloads `b-c` and `c` share a name: go on to the first free number.
        let cells = self.below(layout::CELLS)?;
        let (mut number, mut name) = (after + 1, layout::numbered(&base, "", after + 1));
        while cells.kind(&name)?.is_some() {
            number += 1;
            name = layout::numbered(&base, "", number);
        }
        let dir = cells.at(&name)?;
        let mut files = vec![(layout::CELL.to_owned(), durable::json(&dir.join(layout::CELL), cell)?)];
        files.extend_from_slice(raw);
        durable::put_directory(&cells, &name, &files)?;
        state.cells.insert(cell.key.clone(), (number, cell.failure.is_some()));
        Ok(dir)
    }

    /// Adds a line to the journal. When this returns, it is on the disk.
    ///
    /// # Errors
    /// As the file system has them. A line that could not be written whole is cut off before the next.
    pub fn journal<T: Serialize>(&self, entry: &T) -> Result<(), RecordError> {
        self.state().journal.append(entry)
    }

    /// Adds a line to the events, which a power loss may cost: they tell progress, nothing is undone from them.
    ///
    /// # Errors
    /// As for [`RunWriter::journal`].
    pub fn event(&self, event: &Event) -> Result<(), RecordError> {
        self.state().events.append(event)
    }

    /// Ends the run: writes the digest of every file. Nothing can be added afterwards.
    ///
    /// # Errors
    /// As the file system has them. The run then stays open and can be resumed.
    pub fn seal(self) -> Result<(), RecordError> {
        // A digest of lines that a power loss takes back would call the record changed.
        self.state().events.sync()?;
        seal::write(&self.folder)
    }

    /// A directory of the run, made if need be.
    fn below(&self, name: &str) -> Result<Folder, RecordError> {
        if let Some(folder) = self.folder.below(name)? {
            return Ok(folder);
        }
        let made = self.folder.make(name)?;
        self.folder.sync().map(|()| made)
    }

    /// Puts a file; where one of that name has other content, puts the next number beside it.
    fn put(&self, folder: &Folder, base: &str, suffix: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let _state = self.state();
        let number = match folder.newest(base, suffix)? {
            Some((name, _)) if folder::document(folder, &name)?.as_deref() == Some(bytes) => return Ok(()),
            newest => newest.map_or(1, |(_, number)| number + 1),
        };
        durable::put_file(folder, &layout::numbered(base, suffix, number), bytes)
    }

    /// The state. A thread that panicked while holding it left it usable: lines remember being torn.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what is made from a run's record, whole and in place of what was made before. Gives where it is.
///
/// # Errors
/// As the file system has them; [`RecordError::BadName`] for a name that does not stay among the reports.
pub fn put_report(run: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
    let reports = Folder::open(run)?.make(layout::REPORTS)?;
    let path = reports.at(layout::plain(name)?)?;
    durable::put_file(&reports, name, bytes).map(|()| path)
}
