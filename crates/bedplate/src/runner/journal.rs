//! The journal of a run: what was done to drives, written before it is done.

use build::JournalEntry;
use record::{RunReader, RunWriter};

use crate::exit::Failure;
use crate::proof::Proof;

/// The journal of a run: on disk before anything is done, and at hand for taking it back.
pub(crate) struct RunJournal<'a> {
    /// `None` on other hosts of the lab than the first: they go with everything that stands on them.
    pub(crate) writer: Option<&'a RunWriter>,
    /// `None` in the lab.
    pub(crate) proof: Option<&'a Proof>,
    pub(crate) kept: Vec<JournalEntry>,
}

impl build::Journal for RunJournal<'_> {
    fn note(&mut self, entry: &JournalEntry) -> std::io::Result<()> {
        if let Some(writer) = self.writer {
            match self.proof {
                Some(proof) => proof.write(entry, writer).map_err(|failure| std::io::Error::other(failure.text()))?,
                None => writer.journal(entry).map_err(std::io::Error::other)?,
            }
        }
        self.kept.push(entry.clone());
        Ok(())
    }
}

/// What the journal of a run holds.
pub(crate) fn entries(reader: &RunReader) -> Result<Vec<JournalEntry>, Failure> {
    reader.journal()?.into_iter().map(|line| Ok(serde_json::from_value(line)?)).collect()
}
