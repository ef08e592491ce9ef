//! Where files are copied from: a stack of its own, on drives of its own, that is not compared.

use crate::site::Site;
use terms::Method;
use terms::plan::{Plan, WorkPlace};

use crate::exit::Failure;
use crate::runner::Runner;
use crate::runner::journal::RunJournal;

/// A source that stands.
pub(crate) struct Source<'a> {
    plan: &'a Plan,
    from: measure::CopySource,
    journal: RunJournal<'a>,
}

impl Source<'_> {
    /// Where files are.
    pub(crate) const fn from(&self) -> &measure::CopySource {
        &self.from
    }
}

impl<'a> Runner<'a> {
    /// Builds the source that this study's copies come from; `None` where they come from memory, or there are none.
    pub(crate) fn source(&self, site: &Site, round: u32) -> Result<Option<Source<'a>>, Failure> {
        let named = self.design.workloads.iter().find_map(|workload| match &workload.method {
            Method::Copy(tree) => tree.source.as_ref(),
            Method::Fio | Method::Tree(..) => None,
        });
        let Some(plan) = named.and_then(|slug| self.sources.iter().find(|plan| &plan.slug == slug)) else {
            return Ok(None);
        };
        let (built, journal) = self.put_up(site, round, plan, site.drives())?;
        match built.target.place() {
            WorkPlace::Directory(directory) => {
                Ok(Some(Source { plan, from: measure::CopySource::built(site, directory.clone())?, journal }))
            }
            WorkPlace::Device(node) => {
                let why = format!("source `{}` is a device ({node}), files need a file system", plan.stack);
                Err(Failure::Could(why.into()))
            }
        }
    }

    /// Takes the source down.
    pub(crate) fn drop_source(&self, site: &Site, round: u32, source: Source<'_>) -> Result<(), Failure> {
        let Source { plan, mut journal, .. } = source;
        let past = journal.kept.clone();
        let authority = self.authority(site, site.drives())?;
        for name in build::teardown(plan, &authority, &past, &mut journal)? {
            self.forget(site, round, &plan.slug, &name)?;
        }
        Ok(())
    }
}
