//! What was predicted of earlier runs, and what came of it.
//!
//! The records are the ledger: every run keeps what was predicted of it before its first cell, so nothing can be left
//! out that was measured.

use record::RunReader;
use terms::prediction::Estimate;
use terms::prediction::Standing;

use crate::commands::{report, runs};
use crate::exit::Failure;
use crate::settings::Settings;

/// Runs that are read at most, the newest first: reading one takes milliseconds, and the engine changes over the years.
const RUNS: usize = 200;

/// Pairs of what the engine itself said, before any widening, and what was measured.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// As it was printed.
    printed: Vec<(Estimate, f64)>,
    /// As the engine had it.
    own: Vec<(Estimate, f64)>,
    runs: u32,
}

impl Ledger {
    /// Reads the records that are known here. What cannot be read says nothing of predictions, and is told elsewhere.
    ///
    /// # Errors
    /// Where the catalogue cannot be read.
    pub(crate) fn read(settings: &Settings) -> Result<Self, Failure> {
        let mut ledger = Self::default();
        for row in runs::catalogue(settings)?.list().iter().take(RUNS) {
            let _ = RunReader::open(&row.dir).map(|reader| ledger.add(&reader));
        }
        Ok(ledger)
    }

    fn add(&mut self, reader: &RunReader) -> Result<(), Failure> {
        let Some((predicted, _)) = reader.predicted()?.filter(|(predicted, _)| !predicted.cells.is_empty()) else {
            return Ok(());
        };
        let Some(card) = report::findings(reader)?.predicted else { return Ok(()) };
        let pairs: Vec<_> = card.cells.iter().filter_map(|score| Some((score.predicted, score.measured?))).collect();
        self.own.extend(pairs.iter().map(|(said, measured)| (said.widened(1.0 / predicted.widened), *measured)));
        self.runs += u32::from(!pairs.is_empty());
        self.printed.extend(pairs);
        Ok(())
    }

    /// How what was printed fared.
    pub(crate) fn standing(&self) -> Option<Standing> {
        analyse::standing(&self.printed, self.runs)
    }

    /// By how much intervals are to be widened.
    pub(crate) fn widening(&self) -> f64 {
        analyse::widening(&self.own)
    }
}
