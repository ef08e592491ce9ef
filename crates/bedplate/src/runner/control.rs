//! The bare drive, first and last in every round: what changed between was not the stacks.

use crate::site::Site;
use measure::{Filled, Writable};
use terms::event::EventKind;
use terms::record::{CONTROL, CellKey};
use terms::{Bytes, Control, Name, Pattern, Workload};

use crate::exit::{Failure, chain};
use crate::runner::Runner;
use crate::runner::slices::Slices;
use crate::runner::stand::Spot;

/// What the control is called where stacks have names.
const TITLE: &str = "the bare drive";

/// Random reads of 4 KiB, 32 under way: what depends on the drive, the link, the processor and the kernel together.
fn workload(name: &str) -> Result<Workload, Failure> {
    let name = Name::new(name).map_err(|error| Failure::told(format!("error: {error}")))?;
    Ok(Workload { depth: 32, ..Workload::new(name, Pattern::RandRead, Bytes::kib(4)) })
}

impl Runner<'_> {
    /// Measures the first drive while nothing stands on it. It is filled for it and discarded again.
    pub(crate) fn bare_control(&mut self, round: u32, which: &str) -> Result<(), Failure> {
        if !self.control_wanted(round, which) {
            return Ok(());
        }
        let site = self.ready(round)?;
        let Some((name, node)) = site.drives().iter().next() else { return Ok(()) };
        let bare = self.authority(&site, site.drives()).and_then(|authority| Ok(authority.bare(name)?));
        let done = bare.and_then(|bare| self.control(&site, round, which, name.as_str(), node, bare));
        let done = done.and_then(|()| self.forget(&site, round, CONTROL, name));
        self.forgive(round, done)
    }

    /// Measures the slice that was kept free.
    pub(crate) fn sliced_control(&self, site: &Site, round: u32, which: &str, slices: &Slices) -> Result<(), Failure> {
        if !self.control_wanted(round, which) {
            return Ok(());
        }
        let Some((name, whole, slice)) = slices.bare(site) else { return Ok(()) };
        self.control(site, round, which, &name, &whole, Writable::passing(site, &slice)?)
    }

    fn control_wanted(&self, round: u32, which: &str) -> bool {
        let cell = CellKey { round, stack: CONTROL.to_owned(), workload: which.to_owned() };
        self.design.measure.control != Control::Off && !self.writer.is_finished(&cell)
    }

    fn control(
        &self,
        site: &Site,
        round: u32,
        which: &str,
        name: &str,
        whole: &str,
        on: Writable,
    ) -> Result<(), Failure> {
        let workload = workload(which)?;
        if !self.fits(self.costs.cell(&self.design.measure, &workload)) {
            return Ok(());
        }
        let filled: Filled = self.fill(site, round, (CONTROL, TITLE), (on, None))?;
        let drives = [(name.to_owned(), whole.to_owned())];
        let key = CellKey { round, stack: CONTROL.to_owned(), workload: workload.name.to_string() };
        let spot = Spot { key, title: TITLE, nodes: &[], filled: &filled, resyncs: &[], drives: &drives, others: &[] };
        self.measure(site, &spot, &workload, None, None).map(drop)
    }

    /// A round without a control is told as such; it does not end the run.
    fn forgive(&mut self, round: u32, done: Result<(), Failure>) -> Result<(), Failure> {
        match done {
            Err(_) if host::interrupt::raised() => Err(Failure::Interrupted(None)),
            Err(Failure::Could(error)) => {
                let why = chain(&*error);
                self.progress.note(&format!("failed: {TITLE} in round {round}: {why}"));
                self.event(CONTROL, round, EventKind::Failed { why, stood: true })?;
                self.leave()?;
                Ok(())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_has_names_of_its_own() {
        for which in [terms::record::CONTROL_FIRST, terms::record::CONTROL_LAST] {
            assert_eq!(workload(which).unwrap().name.as_str(), which);
        }
        assert_ne!(terms::slug(CONTROL), CONTROL, "no stack of a study can have this slug");
    }
}
