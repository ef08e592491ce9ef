//! Reading a run, finished or being written. Takes no lock and changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use terms::StackTrials;
use terms::inventory::Inventory;
use terms::prediction::Foretold;
use terms::preflight::DriveCheck;
use terms::record::{BuildOutcome, Cell, CellKey, Provenance};

use crate::durable;
use crate::error::RecordError;
use crate::layout;
use crate::lines;
use crate::seal;

/// A run to be read.
#[derive(Debug, Clone)]
pub struct RunReader {
    dir: PathBuf,
    provenance: Provenance,
    study: String,
}

/// One attempt at a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Its directory within the run, such as `cells/1-raid-1-rnd4k.2`.
    pub dir: String,
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
        let path = dir.join(layout::PROVENANCE);
        let bytes = durable::read(&path)?.ok_or_else(|| RecordError::NotARun { dir: dir.to_owned() })?;
        layout::check_schema(&path, &bytes)?;
        let provenance = serde_json::from_slice(&bytes).map_err(RecordError::damaged(&path))?;
        let path = dir.join(layout::STUDY);
        let study = std::fs::read_to_string(&path).map_err(RecordError::io("read", &path))?;
        Ok(Self { dir: dir.to_owned(), provenance, study })
    }

    /// Where the run is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
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
        seal::is_sealed(&self.dir)
    }

    /// What the machine is; `None` if the run ended before it was looked at.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn inventory(&self) -> Result<Option<Inventory>, RecordError> {
        self.newest_json(&self.dir, "inventory")
    }

    /// What was said of the run before it began, and its digest; `None` where nothing was.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn foretold(&self) -> Result<Option<(Foretold, String)>, RecordError> {
        let path = self.dir.join(layout::FORETOLD);
        let Some(text) = durable::read(&path)? else { return Ok(None) };
        let foretold = serde_json::from_slice(&text).map_err(|source| RecordError::Damaged { path, source })?;
        Ok(Some((foretold, seal::sha256_hex(&text))))
    }

    /// What was looked at on drives before the first step; nothing where nobody looked.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn preflight(&self) -> Result<Vec<DriveCheck>, RecordError> {
        let path = self.dir.join(layout::PREFLIGHT);
        let Some(text) = durable::read(&path)? else { return Ok(Vec::new()) };
        serde_json::from_slice(&text).map_err(|source| RecordError::Damaged { path, source })
    }

    /// What was tried on each stack, the newest of each, in the study's order.
    ///
    /// # Errors
    /// As the file system has them, [`RecordError::Damaged`] or [`RecordError::Newer`].
    pub fn trials(&self) -> Result<Vec<StackTrials>, RecordError> {
        let dir = self.dir.join(layout::TRIALS);
        let mut found = Vec::new();
        if dir.is_dir() {
            for stack in &self.provenance.stacks {
                found.extend(self.newest_json(&dir, &stack.slug)?);
            }
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

    /// The same as [`RunReader::cells`], with where each is kept.
    ///
    /// # Errors
    /// As for [`RunReader::cells`].
    pub fn attempts(&self) -> Result<Vec<Attempt>, RecordError> {
        let found = cells::<Cell>(&self.dir, |cell| &cell.key)?;
        Ok(found.into_iter().map(|(dir, number, cell)| Attempt { dir, number, cell }).collect())
    }

    /// How builds went, older attempts at a round before newer ones.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::Damaged`].
    pub fn builds(&self) -> Result<Vec<BuildOutcome>, RecordError> {
        let dir = self.dir.join(layout::BUILDS);
        let mut found = Vec::new();
        for name in durable::names(&dir)?.into_iter().filter(|name| name.ends_with(".json")) {
            if let Some(outcome) = durable::read_json::<BuildOutcome>(&dir.join(&name))? {
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
        let names = durable::names(&self.dir.join(layout::PLANS))?;
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
        self.newest_json(&self.dir.join(layout::PLANS), layout::plain_slug(slug)?)
    }

    /// The newest plan of a stack as a script.
    ///
    /// # Errors
    /// As the file system has them.
    pub fn script(&self, slug: &str) -> Result<Option<String>, RecordError> {
        let dir = self.dir.join(layout::PLANS);
        let Some((name, _)) = layout::newest(&dir, layout::plain_slug(slug)?, ".sh")? else { return Ok(None) };
        Ok(durable::read(&dir.join(name))?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A raw file of a cell; `dir` is that of an [`Attempt`]. `None` if there is none of that name.
    ///
    /// # Errors
    /// As the file system has them; [`RecordError::BadName`] for what is not a cell's directory or a file in it.
    pub fn raw(&self, dir: &str, file: &str) -> Result<Option<Vec<u8>>, RecordError> {
        let name = dir.strip_prefix("cells/").ok_or_else(|| RecordError::BadName { name: dir.to_owned() })?;
        durable::read(&self.dir.join(layout::CELLS).join(layout::plain(name)?).join(layout::plain(file)?))
    }

    /// The journal's lines.
    ///
    /// # Errors
    /// As the file system has them, or [`RecordError::BrokenLine`]; a torn last line is passed over.
    pub fn journal(&self) -> Result<Vec<Value>, RecordError> {
        lines::read(&self.dir.join(layout::JOURNAL))
    }

    /// The events' lines.
    ///
    /// # Errors
    /// As for [`RunReader::journal`].
    pub fn events(&self) -> Result<Vec<Value>, RecordError> {
        lines::read(&self.dir.join(layout::EVENTS))
    }

    /// What is not as it was sealed, one sentence each; empty if all is well. A run without a seal has that problem.
    ///
    /// # Errors
    /// As the file system has them, or a seal that cannot be read.
    pub fn verify(&self) -> Result<Vec<String>, RecordError> {
        seal::verify(&self.dir, &self.provenance)
    }

    /// The newest of a numbered JSON file.
    fn newest_json<T: DeserializeOwned>(&self, dir: &Path, base: &str) -> Result<Option<T>, RecordError> {
        layout::newest(dir, base, ".json")?.map_or(Ok(None), |(name, _)| durable::read_json(&dir.join(name)))
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
pub(crate) fn outcomes(dir: &Path) -> Result<Vec<CellOutcome>, RecordError> {
    /// The part of a cell that tells.
    #[derive(Deserialize)]
    struct Short {
        key: CellKey,
        failure: Option<String>,
    }
    let found = cells::<Short>(dir, |cell| &cell.key)?;
    let outcome =
        |(_, number, cell): (String, u32, Short)| CellOutcome { key: cell.key, number, failed: cell.failure.is_some() };
    Ok(found.into_iter().map(outcome).collect())
}

/// Reads every cell of a run: directory, number of the attempt, content; sorted by key, then number.
fn cells<T: DeserializeOwned>(run: &Path, key: fn(&T) -> &CellKey) -> Result<Vec<(String, u32, T)>, RecordError> {
    let dir = run.join(layout::CELLS);
    let mut found: Vec<(String, u32, T)> = Vec::new();
    for name in durable::names(&dir)? {
        let path = dir.join(&name).join(layout::CELL);
        let bytes = std::fs::read(&path).map_err(RecordError::io("read", &path))?;
        layout::check_schema(&path, &bytes)?;
        let cell: T = serde_json::from_slice(&bytes).map_err(RecordError::damaged(&path))?;
        let number = layout::number(&name, &layout::cell_name(key(&cell))?, "").unwrap_or(0);
        found.push((format!("{}/{name}", layout::CELLS), number, cell));
    }
    found.sort_by(|a, b| (key(&a.2), a.1).cmp(&(key(&b.2), b.1)));
    Ok(found)
}
