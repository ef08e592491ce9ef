//! Reading a run, finished or being written. Takes no lock and changes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use terms::StackFeatureChecks;
use terms::event::Event;
use terms::inventory::Inventory;
use terms::prediction::Predictions;
use terms::preflight::DriveCheck;
use terms::record::{BuildOutcome, Cell, CellKey, Provenance};

use crate::durable;
use crate::error::RecordError;
use crate::folder::{self, Folder};
use crate::layout;
use crate::lines;
use crate::seal;

/// A run to be read.
#[derive(Debug, Clone)]
pub struct RunReader {
    folder: Folder,
    provenance: Provenance,
    study: String,
}

/// One attempt at a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Which attempt, from 1, growing but not always by one.
    pub number: u32,
    /// What came of it.
    pub cell: Cell,
}

impl RunReader {
    /// Opens a run.
    ///
    /// # Errors
    /// [`RecordError::NotARun`] without provenance, [`RecordError::Newer`] if a newer Bedplate wrote it.
    pub fn open(dir: &Path) -> Result<Self, RecordError> {
        let none = || RecordError::NotARun { dir: dir.to_owned() };
        let folder = match Folder::open(dir) {
            Err(RecordError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Err(none()),
            folder => folder?,
        };
        Self::of(folder)
    }

    /// The run in a directory.
    pub(crate) fn of(folder: Folder) -> Result<Self, RecordError> {
        let none = || RecordError::NotARun { dir: folder.path().to_owned() };
        let bytes = folder::document(&folder, layout::PROVENANCE)?.ok_or_else(none)?;
        let path = folder.at(layout::PROVENANCE)?;
        layout::check_schema(&path, &bytes)?;
        let provenance = serde_json::from_slice(&bytes).map_err(RecordError::damaged(&path))?;
        let path = folder.at(layout::STUDY)?;
        let unread = |kind: std::io::ErrorKind| RecordError::io("read", &path)(kind.into());
        let study = folder::document(&folder, layout::STUDY)?.ok_or_else(|| unread(std::io::ErrorKind::NotFound))?;
        let study = String::from_utf8(study).map_err(|_| unread(std::io::ErrorKind::InvalidData))?;
        Ok(Self { folder, provenance, study })
    }

    /// The run's directory, held open.
    pub(crate) fn folder(&self) -> Folder {
        self.folder.clone()
    }

    /// Where the run is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Where it came from.
    #[must_use]
    pub const fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The study's exact text.
    #[must_use]
    pub fn study_text(&self) -> &str {
        &self.study
    }

    /// Is it sealed?
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        seal::is_sealed(&self.folder).unwrap_or(false)
    }

    /// What the machine is; `None` if the run ended before it was looked at.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn inventory(&self) -> Result<Option<Inventory>, RecordError> {
        self.newest_json(Some(&self.folder), "inventory")
    }

    /// What was predicted of the run before it began, and its digest; `None` where nothing was.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn predicted(&self) -> Result<Option<(Predictions, String)>, RecordError> {
        let Some(text) = folder::document(&self.folder, layout::PREDICTIONS)? else { return Ok(None) };
        let path = self.folder.at(layout::PREDICTIONS)?;
        let predicted = serde_json::from_slice(&text).map_err(RecordError::damaged(&path))?;
        Ok(Some((predicted, seal::sha256_hex(&text))))
    }

    /// What was looked at on drives before the first step; nothing where nobody looked.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn preflight(&self) -> Result<Vec<DriveCheck>, RecordError> {
        Ok(durable::read_json(&self.folder, layout::PREFLIGHT)?.unwrap_or_default())
    }

    /// What was tried on each stack, the newest of each, in the study's order.
    ///
    /// # Errors
    /// As the file system has them, [`RecordError::Damaged`] or [`RecordError::Newer`].
    pub fn feature_checks(&self) -> Result<Vec<StackFeatureChecks>, RecordError> {
        let feature_checks = self.folder.below(layout::FEATURE_CHECKS)?;
        let mut found = Vec::new();
        for stack in &self.provenance.stacks {
            found.extend(self.newest_json(feature_checks.as_ref(), &stack.slug)?);
        }
        Ok(found)
    }

    /// Every attempt at every cell, by round, stack and workload, older attempts before newer ones: the last of a key
    /// counts.
    ///
    /// # Errors
    /// As the file system has them, [`RecordError::Damaged`] or [`RecordError::Newer`].
    pub fn cells(&self) -> Result<Vec<Cell>, RecordError> {
        Ok(self.attempts()?.into_iter().map(|attempt| attempt.cell).collect())
    }

    /// The newest attempt of every cell, by round, stack and workload.
    ///
    /// # Errors
    /// As for [`RunReader::cells`].
    pub fn newest_cells(&self) -> Result<Vec<Cell>, RecordError> {
        let newest: BTreeMap<CellKey, Cell> = self.cells()?.into_iter().map(|cell| (cell.key.clone(), cell)).collect();
        Ok(newest.into_values().collect())
    }

    /// The newest attempt of one cell, without a look at others; `None` where it was not measured.
    ///
    /// # Errors
    /// As for [`RunReader::cells`]; [`RecordError::BadName`] for a key that can have no cell.
    pub fn newest_cell(&self, key: &CellKey) -> Result<Option<Cell>, RecordError> {
        let Some(cells) = self.folder.below(layout::CELLS)? else { return Ok(None) };
        let base = layout::cell_name(key)?;
        let number = |name: String| Some((layout::number(&name, &base, "")?, name));
        let mut attempts: Vec<(u32, String)> = cells.names()?.into_iter().filter_map(number).collect();
        attempts.sort_unstable();
        for (_, name) in attempts.into_iter().rev() {
            let cell: Cell = read_cell(&cells, &name)?;
            // Another key may make the same name.
            if cell.key == *key {
                return Ok(Some(Cell { directory: Some(format!("{}/{name}", layout::CELLS)), ..cell }));
            }
        }
        Ok(None)
    }

    /// The same as [`RunReader::cells`], with their numbers.
    ///
    /// # Errors
    /// As for [`RunReader::cells`].
    pub fn attempts(&self) -> Result<Vec<Attempt>, RecordError> {
        let found = cells::<Cell>(&self.folder, |cell| &cell.key)?;
        let attempt = |(directory, number, cell): (String, u32, Cell)| Attempt {
            number,
            cell: Cell { directory: Some(directory), ..cell },
        };
        Ok(found.into_iter().map(attempt).collect())
    }

    /// How builds went, older attempts at a round before newer ones.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn builds(&self) -> Result<Vec<BuildOutcome>, RecordError> {
        let Some(builds) = self.folder.below(layout::BUILDS)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in builds.names()?.into_iter().filter(|name| name.ends_with(".json")) {
            if let Some(outcome) = durable::read_json::<BuildOutcome>(&builds, &name)? {
                let base = format!("{}-{}", outcome.round, outcome.stack);
                let number = layout::number(&name, &base, ".json").unwrap_or(0);
                found.push((number, outcome));
            }
        }
        found.sort_by(|(a, one), (b, two)| (one.round, &one.stack, a).cmp(&(two.round, &two.stack, b)));
        Ok(found.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// Slugs of the stacks that there is a plan of.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn plan_slugs(&self) -> Result<Vec<String>, RecordError> {
        let names = self.folder.below(layout::PLANS)?.map_or_else(|| Ok(Vec::new()), |plans| plans.names())?;
        Ok(names
            .iter()
            .filter_map(|name| name.strip_suffix(".json"))
            .filter(|slug| !slug.contains('.'))
            .map(Into::into)
            .collect())
    }

    /// The newest plan of a stack.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn plan<T: DeserializeOwned>(&self, slug: &str) -> Result<Option<T>, RecordError> {
        self.newest_json(self.folder.below(layout::PLANS)?.as_ref(), layout::plain_slug(slug)?)
    }

    /// The newest plan of a stack as a script.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn script(&self, slug: &str) -> Result<Option<String>, RecordError> {
        let Some(plans) = self.folder.below(layout::PLANS)? else { return Ok(None) };
        let Some((name, _)) = plans.newest(layout::plain_slug(slug)?, ".sh")? else { return Ok(None) };
        Ok(folder::document(&plans, &name)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A raw file of a cell; `dir` is the cell's directory. `None` if there is none of that name.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for what is not a cell's directory or a file in it.
    pub fn raw(&self, dir: &str, file: &str) -> Result<Option<Vec<u8>>, RecordError> {
        let name = dir.strip_prefix("cells/").ok_or_else(|| RecordError::BadName { name: dir.to_owned() })?;
        let (name, file) = (layout::plain(name)?, layout::plain(file)?);
        let Some(cells) = self.folder.below(layout::CELLS)? else { return Ok(None) };
        let Some(cell) = cells.below(name)? else { return Ok(None) };
        cell.read(file, layout::CELL_FILE)
    }

    /// Is there a journal? Every run has one from its beginning; it has no lines where nothing was begun.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn has_journal(&self) -> Result<bool, RecordError> {
        Ok(self.folder.kind(layout::JOURNAL)?.is_some())
    }

    /// The journal's lines.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::BrokenLine`]; a torn last line is passed over.
    pub fn journal(&self) -> Result<Vec<Value>, RecordError> {
        lines::read(&self.folder, layout::JOURNAL)
    }

    /// What happened. A line of a kind that this program does not know is passed over.
    ///
    /// # Errors
    /// As for [`RunReader::journal`].
    pub fn events(&self) -> Result<Vec<Event>, RecordError> {
        let lines: Vec<Value> = lines::read(&self.folder, layout::EVENTS)?;
        Ok(lines.into_iter().filter_map(|line| serde_json::from_value(line).ok()).collect())
    }

    /// What is not as it was sealed, one sentence each; empty if all is well. A run without a seal has that problem.
    ///
    /// # Errors
    /// As the file system has them, or a seal that cannot be read.
    pub fn verify(&self) -> Result<Vec<String>, RecordError> {
        seal::verify(&self.folder, &self.provenance)
    }

    /// The newest of a numbered JSON file.
    fn newest_json<T: DeserializeOwned>(&self, folder: Option<&Folder>, base: &str) -> Result<Option<T>, RecordError> {
        let Some(folder) = folder else { return Ok(None) };
        folder.newest(base, ".json")?.map_or(Ok(None), |(name, _)| durable::read_json(folder, &name))
    }
}

/// What is needed to know whether a cell must be run again.
#[derive(Debug)]
pub(crate) struct CellOutcome {
    /// Which.
    pub(crate) key: CellKey,
    /// Which attempt.
    pub(crate) number: u32,
    /// Did it fail?
    pub(crate) failed: bool,
}

/// What came of every attempt, in the order of [`RunReader::cells`].
pub(crate) fn outcomes(run: &Folder) -> Result<Vec<CellOutcome>, RecordError> {
    /// The part of a cell that tells.
    #[derive(Deserialize)]
    struct Short {
        key: CellKey,
        failure: Option<String>,
    }
    let found = cells::<Short>(run, |cell| &cell.key)?;
    let outcome =
        |(_, number, cell): (String, u32, Short)| CellOutcome { key: cell.key, number, failed: cell.failure.is_some() };
    Ok(found.into_iter().map(outcome).collect())
}

/// Reads every cell of a run: directory, number of the attempt, content; sorted by key, then number.
fn cells<T: DeserializeOwned>(run: &Folder, key: fn(&T) -> &CellKey) -> Result<Vec<(String, u32, T)>, RecordError> {
    let Some(cells) = run.below(layout::CELLS)? else { return Ok(Vec::new()) };
    let mut found: Vec<(String, u32, T)> = Vec::new();
    for name in cells.names()? {
        let cell: T = read_cell(&cells, &name)?;
        let number = layout::number(&name, &layout::cell_name(key(&cell))?, "").unwrap_or(0);
        found.push((format!("{}/{name}", layout::CELLS), number, cell));
    }
    found.sort_by(|a, b| (key(&a.2), a.1).cmp(&(key(&b.2), b.1)));
    Ok(found)
}

/// The cell in a directory of that name.
fn read_cell<T: DeserializeOwned>(cells: &Folder, name: &str) -> Result<T, RecordError> {
    let path = cells.at(name)?.join(layout::CELL);
    let gone = || RecordError::io("read", &path)(std::io::ErrorKind::NotFound.into());
    let folder = cells.below(name)?.ok_or_else(gone)?;
    let bytes = folder.read(layout::CELL, layout::CELL_FILE)?.ok_or_else(gone)?;
    layout::check_schema(&path, &bytes)?;
    serde_json::from_slice(&bytes).map_err(RecordError::damaged(&path))
}
