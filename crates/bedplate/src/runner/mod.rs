//! Takes a study through the house: round by round, stack by stack, build, fill, measure, record, take down.
//!
//! A round is every workload on every stack once. Which rounds there are is decided in `schedule`; what stands at the
//! same time, and in which order its cells come, in `visit`; the bare drive is watched in `control`.

pub(crate) mod cleanup;
mod control;
pub(crate) mod estimate;
mod journal;
pub(crate) mod lanes;
mod laps;
mod live;
pub(crate) mod order;
mod preflight;
mod schedule;
pub(crate) mod slices;
mod source;
mod stand;
mod step;
mod visit;

use std::sync::Arc;
use std::time::Instant;

use crate::site::Site;
use build::{Authority, Bindings, Claims};
use record::RunWriter;
use terms::event::{Event, EventKind};
use terms::plan::Plan;
use terms::record::CellKey;
use terms::{Design, Workload};

use crate::exit::Failure;
use crate::printer::Progress;
use crate::proof::Proof;
use crate::runner::estimate::Costs;
use crate::settings::Settings;

/// A study on its way.
pub(crate) struct Runner<'a> {
    pub(crate) design: &'a Design,
    /// One for each stack; on slices where the policy says so.
    pub(crate) plans: &'a [Plan],
    /// One for each source that files are copied from.
    pub(crate) sources: &'a [Plan],
    /// How drives are set up, if they are.
    pub(crate) prepared: Option<&'a Plan>,
    /// Are they, on the machine of now?
    pub(crate) is_prepared: bool,
    pub(crate) writer: &'a RunWriter,
    pub(crate) settings: &'a Settings,
    pub(crate) progress: &'a Progress,
    /// What parts of the run are expected to cost.
    pub(crate) costs: &'a Costs,
    /// Slugs of stacks that cannot be built here.
    pub(crate) missing: Vec<String>,
    /// The machine; `None` after something went wrong in a guest.
    pub(crate) site: Option<Arc<Site>>,
    /// Real drives, each permitted and locked; none in the lab.
    pub(crate) claims: &'a Claims<'a>,
    /// What lines of the journal are signed with where drives outlive the run.
    pub(crate) proof: Option<&'a Proof>,
    /// When this session of the run began to build.
    pub(crate) began: Instant,
    /// Seconds that earlier sessions of the run took.
    pub(crate) spent: f64,
    /// Share of the budget that may be spent by now.
    pub(crate) share: f64,
    /// Set where a step came out too far from what was predicted of it: why no other is begun.
    pub(crate) stopped: Option<String>,
    /// Set when the budget holds nothing more.
    pub(crate) over_budget: bool,
}

impl Runner<'_> {
    /// Indices of stacks that can be built here.
    fn stacks(&self) -> Vec<usize> {
        (0..self.plans.len()).filter(|index| !self.missing.contains(&self.plans[*index].slug)).collect()
    }

    /// Would work of so many seconds end within the budget?
    fn fits(&self, seconds: f64) -> bool {
        let Some(budget) = self.design.measure.budget else { return true };
        self.spent + self.began.elapsed().as_secs_f64() + seconds <= budget.as_seconds() * self.share
    }

    /// Something that happened, for whoever reads the record later.
    pub(crate) fn event(&self, stack: &str, round: u32, kind: EventKind) -> Result<(), Failure> {
        happened(self.writer, stack, round, kind)
    }

    /// The machine of now, its drives set up: a fresh guest where the last one is gone.
    pub(crate) fn ready(&mut self, round: u32) -> Result<Arc<Site>, Failure> {
        let site = match &self.site {
            Some(site) => Arc::clone(site),
            None => {
                self.progress.now("booting a fresh guest");
                self.is_prepared = false;
                let site = Arc::new(self.boot()?);
                self.site = Some(Arc::clone(&site));
                site
            }
        };
        if let (Some(plan), false) = (self.prepared, self.is_prepared) {
            for host in std::iter::once(&*site).chain(site.others()) {
                self.put_up(host, round, plan, host.drives())?;
            }
            self.is_prepared = true;
        }
        Ok(site)
    }

    /// What allows writing to drives: of a guest all are the study's own; anywhere else there is a permission for each, or
    /// none.
    pub(crate) fn authority<'s>(&'s self, site: &'s Site, drives: &Bindings) -> Result<Authority<'s>, Failure> {
        if site.is_lab() { Ok(Authority::lab(site, drives)?) } else { Ok(Authority::held(site, self.claims)) }
    }

    /// A fresh guest for everything that this study builds.
    pub(crate) fn boot(&self) -> Result<Site, Failure> {
        let plans: Vec<Plan> = self.plans.iter().chain(self.sources).cloned().collect();
        Ok(Site::lab(crate::guest::boot_all(self.design, &plans, self.settings)?))
    }
}

/// The time of day with its zone, RFC 3339.
pub(crate) fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn key(round: u32, plan: &Plan, workload: &Workload) -> CellKey {
    CellKey { round, stack: plan.slug.clone(), workload: workload.name.to_string() }
}

/// Writes down something that happened now.
pub(crate) fn happened(writer: &RunWriter, stack: &str, round: u32, kind: EventKind) -> Result<(), Failure> {
    let at = jiff::Timestamp::now().to_string();
    Ok(writer.event(&Event { at, stack: stack.to_owned(), round, kind })?)
}
