//! Writing a run: the one process that holds its lock adds files, lines and cells, and seals it at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use terms::StackTrials;
use terms::inventory::Inventory;
use terms::prediction::Foretold;
use terms::preflight::DriveCheck;
use terms::record::{BuildOutcome, Cell, CellKey, Provenance};

use crate::durable;
use crate::error::RecordError;
use crate::layout;
use crate::lines::Lines;
use crate::lock::Lock;
use crate::reader::{self, RunReader};
use crate::seal;

/// A run being written. Methods take `&self`, so that a journal can be kept while cells are put.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
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
        let dir = root.join(layout::plain(&provenance.run)?);
        if dir.symlink_metadata().is_ok() {
            return Err(RecordError::Exists { dir });
        }
        fs::create_dir_all(root).map_err(RecordError::io("create", root))?;
        let unfinished = root.join(format!("{}{}-{}", durable::UNFINISHED, std::process::id(), provenance.run));
        durable::remove(&unfinished)?;
        let begun = Self::begin(&unfinished, &dir, provenance, study_text);
        if begun.is_err() {
            let _ = durable::remove(&unfinished);
        }
        begun
    }

    /// Fills the directory under its unfinished name and puts it in place.
    fn begin(unfinished: &Path, dir: &Path, provenance: &Provenance, study_text: &str) -> Result<Self, RecordError> {
        fs::create_dir(unfinished).map_err(RecordError::io("create", unfinished))?;
        let lock = Lock::take(unfinished)?;
        for name in [layout::PLANS, layout::BUILDS, layout::CELLS] {
            let path = unfinished.join(name);
            fs::create_dir(&path).map_err(RecordError::io("create", &path))?;
        }
        let path = unfinished.join(layout::PROVENANCE);
        durable::write_synced(&path, &durable::json(&path, provenance)?)?;
        durable::write_synced(&unfinished.join(layout::STUDY), study_text.as_bytes())?;
        for name in [layout::JOURNAL, layout::EVENTS] {
            durable::write_synced(&unfinished.join(name), b"")?;
        }
        durable::sync_directory(unfinished)?;
        durable::rename(unfinished, dir)?;
        Self::open(dir.to_owned(), lock)
    }

    /// Goes on with a run that was interrupted: clears what is unfinished and cuts torn lines.
    ///
    /// # Errors
    /// [`RecordError::Sealed`], [`RecordError::Locked`] with the process that writes it, [`RecordError::NotARun`],
    /// [`RecordError::Newer`].
    pub fn resume(dir: &Path) -> Result<Self, RecordError> {
        RunReader::open(dir)?;
        let lock = Lock::take(dir)?;
        if seal::is_sealed(dir) {
            return Err(RecordError::Sealed { dir: dir.to_owned() });
        }
        for below in ["", layout::PLANS, layout::BUILDS, layout::CELLS] {
            durable::clear_unfinished(&dir.join(below))?;
        }
        if dir.join(layout::TRIALS).is_dir() {
            durable::clear_unfinished(&dir.join(layout::TRIALS))?;
        }
        Self::open(dir.to_owned(), lock)
    }

    /// Opens the lines and learns which cells there are.
    fn open(dir: PathBuf, lock: Lock) -> Result<Self, RecordError> {
        let attempts = reader::outcomes(&dir)?;
        let cells = attempts.into_iter().map(|of| (of.key, (of.number, of.failed))).collect();
        let journal = Lines::open(&dir.join(layout::JOURNAL), true)?;
        let events = Lines::open(&dir.join(layout::EVENTS), false)?;
        Ok(Self { dir, state: Mutex::new(State { journal, events, cells }), _lock: lock })
    }

    /// Where the run is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Cells that need not be run again: those whose newest attempt did not fail.
    #[must_use]
    pub fn finished(&self) -> BTreeSet<CellKey> {
        let state = self.state();
        state.cells.iter().filter(|(_, (_, failed))| !failed).map(|(key, _)| key.clone()).collect()
    }

    /// Keeps what the machine is.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn put_inventory(&self, inventory: &Inventory) -> Result<(), RecordError> {
        let path = self.dir.join(layout::INVENTORY);
        self.put(&self.dir, "inventory", ".json", &durable::json(&path, inventory)?)
    }

    /// Keeps what is said of a run before it begins, once and for all. Gives the digest of what was written.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::Io`] where something was said already, or a cell is there.
    pub fn put_foretold(&self, foretold: &Foretold) -> Result<String, RecordError> {
        let path = self.dir.join(layout::FORETOLD);
        let text = durable::json(&path, foretold)?;
        let too_late = path.exists() || !self.state().cells.is_empty();
        if too_late {
            let source = std::io::Error::other("a prediction is made before the first cell, and once");
            return Err(RecordError::Io { doing: "write", path, source });
        }
        durable::put_file(&path, &text)?;
        Ok(seal::sha256_hex(&text))
    }

    /// Keeps what was looked at on drives before the first step. A run that goes on looks again, and the last look counts.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn put_preflight(&self, checks: &[DriveCheck]) -> Result<(), RecordError> {
        let path = self.dir.join(layout::PREFLIGHT);
        durable::put_file(&path, &durable::json(&path, &checks)?)
    }

    /// Keeps how a stack is built: the plan and the same as a script.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a slug that is none.
    pub fn put_plan(&self, slug: &str, plan: &impl Serialize, script: &str) -> Result<(), RecordError> {
        let dir = self.dir.join(layout::PLANS);
        let slug = layout::plain_slug(slug)?;
        self.put(&dir, slug, ".json", &durable::json(&dir.join(slug), plan)?)?;
        self.put(&dir, slug, ".sh", script.as_bytes())
    }

    /// Keeps how a build went.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a slug that is none.
    pub fn put_build(&self, outcome: &BuildOutcome) -> Result<(), RecordError> {
        let dir = self.dir.join(layout::BUILDS);
        let base = format!("{}-{}", outcome.round, layout::plain_slug(&outcome.stack)?);
        let _state = self.state();
        // A build done again is kept even if it reads the same: it is another event.
        let number = layout::newest(&dir, &base, ".json")?.map_or(1, |(_, number)| number + 1);
        let path = dir.join(layout::numbered(&base, ".json", number));
        durable::put_file(&path, &durable::json(&path, outcome)?)
    }

    /// Keeps what was tried on a stack. What was kept before stays; this becomes the newest.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a slug that is none.
    pub fn put_trials(&self, trials: &StackTrials) -> Result<(), RecordError> {
        let dir = self.dir.join(layout::TRIALS);
        let slug = layout::plain_slug(&trials.stack)?;
        match fs::create_dir(&dir) {
            Ok(()) => durable::sync_directory(&self.dir)?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(RecordError::io("create", &dir)(error)),
        }
        self.put(&dir, slug, ".json", &durable::json(&dir.join(slug), trials)?)
    }

    /// Keeps a cell with its raw files, given as name and content. When this returns, the cell is on the disk.
    ///
    /// A cell that was there already stays; this becomes its newest attempt. Gives the cell's directory.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for a raw file called `cell.json`, twice the same, or not
    /// staying in the directory.
    pub fn put_cell(&self, cell: &Cell, raw: &[(String, Vec<u8>)]) -> Result<PathBuf, RecordError> {
        let cells = self.dir.join(layout::CELLS);
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
        let mut free = (after + 1..).map(|number| (number, cells.join(layout::numbered(&base, "", number))));
        let (number, dir) = free
            .find(|(_, dir)| dir.symlink_metadata().is_err())
            .ok_or_else(|| RecordError::Exists { dir: cells.join(&base) })?;
        let mut files = vec![(layout::CELL.to_owned(), durable::json(&dir.join(layout::CELL), cell)?)];
        files.extend_from_slice(raw);
        durable::put_directory(&dir, &files)?;
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
    pub fn event<T: Serialize>(&self, event: &T) -> Result<(), RecordError> {
        self.state().events.append(event)
    }

    /// Ends the run: writes the digest of every file. Nothing can be added afterwards.
    ///
    /// # Errors
    /// As the file system has them. The run then stays open and can be resumed.
    pub fn seal(self) -> Result<(), RecordError> {
        seal::write(&self.dir)
    }

    /// Puts a file; where one of that name has other content, puts the next number beside it.
    fn put(&self, dir: &Path, base: &str, suffix: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let _state = self.state();
        let number = match layout::newest(dir, base, suffix)? {
            Some((name, _)) if durable::read(&dir.join(&name))?.as_deref() == Some(bytes) => return Ok(()),
            newest => newest.map_or(1, |(_, number)| number + 1),
        };
        durable::put_file(&dir.join(layout::numbered(base, suffix, number)), bytes)
    }

    /// The state. A thread that panicked while holding it left it usable: lines remember being torn.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
