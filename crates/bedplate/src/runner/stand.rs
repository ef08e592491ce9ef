//! One stack: built, filled, measured on, taken down.

use std::time::Instant;

use crate::site::Site;
use analyse::Wanted;
use build::{BuildError, JournalEntry};
use host::Host;
use measure::{CellRequest, Companion, Filled, Writable};
use terms::event::EventKind;
use terms::evidence::Steadiness;
use terms::plan::Plan;
use terms::record::{BuildOutcome, Cell, CellKey, MemberDelta};
use terms::{LayerNode, Nanos, Speed, Workload};

use crate::exit::Failure;
use crate::runner::journal::RunJournal;
use crate::runner::slices::Slices;
use crate::runner::source::Source;
use crate::runner::{Runner, key, laps, live, now, order};

/// How long the machine's own work may keep a cell waiting before it runs anyway and its guards tell.
const PATIENCE: Nanos = Nanos::seconds(120);

/// A stack that stands and is filled.
pub(crate) struct Standing<'a> {
    /// Its place in the study.
    pub(crate) index: usize,
    /// What was carried out.
    pub(crate) plan: &'a Plan,
    /// What was filled.
    pub(crate) filled: Filled,
    /// Where its drives, or slices of them, are.
    pub(crate) bindings: build::Bindings,
    /// What was done, for taking it back.
    pub(crate) journal: RunJournal<'a>,
    /// The same on other hosts, where workloads need them.
    pub(crate) others: Vec<RemoteHost<'a>>,
}

/// The same stack on another host.
pub(crate) struct RemoteHost<'a> {
    pub(crate) filled: Filled,
    pub(crate) drives: Vec<(String, String)>,
    pub(crate) journal: RunJournal<'a>,
}

/// What a cell works on.
pub(crate) struct Spot<'a> {
    /// Which cell.
    pub(crate) key: CellKey,
    /// What it is called on the screen.
    pub(crate) title: &'a str,
    /// Layers; none for the bare drive.
    pub(crate) nodes: &'a [LayerNode],
    /// What was filled.
    pub(crate) filled: &'a Filled,
    /// Arrays that resynchronise while they are measured.
    pub(crate) resyncs: &'a [String],
    /// Drives, whole.
    pub(crate) drives: &'a [(String, String)],
    /// The same on other hosts.
    pub(crate) others: &'a [RemoteHost<'a>],
}

impl<'a> Runner<'a> {
    /// Builds and fills a stack.
    pub(crate) fn stand(
        &self,
        site: &Site,
        round: u32,
        index: usize,
        slices: Option<&Slices>,
    ) -> Result<Standing<'a>, Failure> {
        let plan = &self.plans[index];
        let bindings = match slices {
            Some(slices) => slices.bindings(site, round, index),
            None => site.drives().clone(),
        };
        let (built, journal) = self.put_up(site, round, plan, &bindings)?;
        let mut outcome =
            BuildOutcome { round, stack: plan.slug.clone(), build: built.took, fill: Nanos(0), failure: None };
        self.progress.done(self.costs.build(&plan.slug));
        let filled = self.fill(site, round, (&plan.slug, &plan.stack), (built.target, built.directory.as_deref()))?;
        outcome.fill = filled.took;
        self.progress.done(self.costs.fill(&plan.slug, &self.design.measure));
        let others = if slices.is_none() { self.elsewhere(site, round, plan)? } else { Vec::new() };
        self.writer.put_build(&outcome)?;
        Ok(Standing { index, plan, filled, bindings, journal, others })
    }

    /// Builds and fills the same stack on every other host.
    fn elsewhere(&self, site: &Site, round: u32, plan: &'a Plan) -> Result<Vec<RemoteHost<'a>>, Failure> {
        let each = site.others().iter().map(|other| {
            let (built, journal) = self.put_up(other, round, plan, other.drives())?;
            let filled =
                self.fill(other, round, (&plan.slug, &plan.stack), (built.target, built.directory.as_deref()))?;
            Ok(RemoteHost { filled, drives: other.drives_of(plan), journal })
        });
        each.collect()
    }

    /// Carries a plan out.
    pub(crate) fn put_up(
        &self,
        site: &Site,
        round: u32,
        plan: &'a Plan,
        bindings: &build::Bindings,
    ) -> Result<(build::Built, RunJournal<'a>), Failure> {
        let named: Vec<(String, String)> =
            bindings.iter().map(|(name, node)| (name.to_string(), node.clone())).collect();
        let writer = site.is_first().then_some(self.writer);
        let mut journal = RunJournal { writer, proof: self.proof, kept: Vec::new() };
        let begin = JournalEntry::Begin { stack: plan.slug.clone(), round, drives: named, origin: site.origin(plan)? };
        build::Journal::note(&mut journal, &begin).map_err(BuildError::Journal)?;
        let doing = if plan.drives.is_empty() { "making a directory for" } else { "building" };
        self.progress.now(&format!("round {round}: {doing} {}", plan.stack));
        // A fresh kernel has no module loaded. What is missing here was missing from the run's first guest.
        if site.is_lab() {
            build::Prerequisites::new(site).missing(plan)?;
        }
        let authority = self.authority(site, bindings)?;
        let on_step = |step: &terms::Step| self.progress.detail(&format!("round {round}: {}: {}", plan.stack, step.id));
        let built = build::apply(plan, &authority, &[], &mut journal, &on_step)?;
        Ok((built, journal))
    }

    /// Writes the span of something that stands, as often as the policy says.
    pub(crate) fn fill(
        &self,
        site: &Site,
        round: u32,
        (slug, title): (&str, &str),
        target: (Writable, Option<&str>),
    ) -> Result<Filled, Failure> {
        let policy = &self.design.measure;
        self.progress.detail(&format!("round {round}: filling {} of {title}", policy.span));
        let seed = order::job_seed(policy.seed, &format!("fill of {slug} in round {round}"));
        let filled = measure::fill(site, target, policy.span, policy.fill_passes, seed)?;
        let (argv, job, fio) = (filled.argv.clone(), filled.job.clone(), filled.output.clone());
        self.event(slug, round, EventKind::Filled { argv, job, seed, took: filled.took, fio })?;
        Ok(filled)
    }

    /// One cell on a stack; gives the operations per second that it did.
    pub(crate) fn cell(
        &self,
        site: &Site,
        round: u32,
        stack: &Standing<'_>,
        workload: &Workload,
        rate: Option<f64>,
        source: Option<&Source<'_>>,
    ) -> Result<Option<f64>, Failure> {
        let nodes = &self.design.stacks[stack.index].nodes;
        let drives = site.members(stack.plan);
        let resyncs: Vec<String> = stack.plan.resyncs.iter().map(ToString::to_string).collect();
        let spot = Spot {
            key: key(round, stack.plan, workload),
            title: &stack.plan.stack,
            nodes,
            filled: &stack.filled,
            resyncs: &resyncs,
            drives: &drives,
            others: &stack.others,
        };
        self.measure(site, &spot, workload, rate, source.map(Source::from))
    }

    /// Measures and records one cell.
    pub(crate) fn measure(
        &self,
        site: &Site,
        spot: &Spot<'_>,
        workload: &Workload,
        rate: Option<f64>,
        source: Option<&measure::CopySource>,
    ) -> Result<Option<f64>, Failure> {
        self.progress.begin(usize::from(!spot.key.is_control()));
        let first = self.measure_once(site, spot, workload, rate, source)?;
        // What was voided by somebody else's work is measured once more, whatever the number was; both attempts are kept.
        let last =
            if measure::may_pass(&first) { self.measure_once(site, spot, workload, rate, source)? } else { first };
        self.progress.done(self.costs.cell(&self.design.measure, workload));
        Ok(last.reading.map(|reading| reading.iops().0))
    }

    /// What the window of a cell is to be known for, where windows decide.
    fn known_for(&self, site: &Site, key: &CellKey) -> Result<Option<Wanted>, Failure> {
        let policy = &self.design.measure;
        if !site.has_own_clock() || !policy.windows_decide() {
            return Ok(None);
        }
        let slugs: Vec<&str> = self.stacks().into_iter().map(|index| self.plans[index].slug.as_str()).collect();
        let pairs = slugs.len().saturating_sub(1) * self.design.workloads.len();
        Ok(Some(match slugs[..] {
            _ if key.is_control() => Wanted::alone(policy),
            [first, _, ..] if first == key.stack => Wanted::of_first(policy, slugs.len() - 1, pairs),
            [first, _, ..] => {
                let first = CellKey { stack: first.to_owned(), ..key.clone() };
                Wanted::beside(policy, pairs, self.recorded(&first)?.as_ref())
            }
            _ => Wanted::alone(policy),
        }))
    }

    fn measure_once(
        &self,
        site: &Site,
        spot: &Spot<'_>,
        workload: &Workload,
        rate: Option<f64>,
        source: Option<&measure::CopySource>,
    ) -> Result<Cell, Failure> {
        let policy = &self.design.measure;
        let CellKey { round, stack, .. } = &spot.key;
        self.progress.now_on(&format!("round {round}: "), spot.title, &workload.title());
        let watch = |members: &[MemberDelta], took| self.progress.rate(&live::rates(members, took));
        let seed = order::job_seed(policy.seed, &format!("{} on {stack} in round {round}", spot.key.workload));
        let mut busy = Vec::new();
        // Other hosts too, whoever works: they share the enclosure and this machine.
        for host in std::iter::once(site).chain(site.others()) {
            busy.extend(measure::idle(host, spot.nodes, PATIENCE)?);
        }
        if !busy.is_empty() {
            self.progress.note(&format!("{} does not come to rest: {}", spot.title, busy.join("; ")));
        }
        let others: Vec<Companion<'_>> = companions(site, spot.others);
        // A guest under a clock of its own is asked for what comes to the same there, and what it counted is converted.
        let speed = site.speed().unwrap_or(Speed::GUEST);
        let (asked, by) = (workload.in_guest(speed), policy.in_guest(speed));
        let known_for = self.known_for(site, &spot.key)?;
        let longer = known_for.map(|wanted| move |rate: f64, of: &Steadiness| wanted.times(rate * speed.factor(), of));
        let request = CellRequest {
            address: site.address(),
            others: &others,
            key: spot.key.clone(),
            workload: &asked,
            policy: &by,
            filled: spot.filled,
            resyncs: spot.resyncs,
            drives: spot.drives,
            seed,
            started: now(),
            nodes: spot.nodes,
            rate: rate.map(|rate| speed.rate_in_guest(rate)),
            longer: longer.as_ref().map(|longer| longer as _),
            watch: &watch,
            source,
        };
        let measured = measure::measure(site, &request)?;
        let cell = measured.cell.on_machine(speed);
        let rate = cell.reading.as_ref().filter(|_| site.speed().is_some()).map(|reading| reading.throughput());
        let lap_error = rate.and_then(|rate| laps::error(self.design, spot.drives, workload, rate));
        let cell = Cell { lap_error, ..cell };
        if let Some(why) = &cell.failure {
            self.progress.note(&format!("failed: {} on {} in round {round}: {why}", workload.name, spot.title));
        }
        self.writer.put_cell(&cell, &measured.raw)?;
        self.event(stack, *round, EventKind::Measured { workload: spot.key.workload.clone(), took: cell.took })?;
        Ok(cell)
    }

    /// Takes a stack down and, where its drives are its own, forgets what they held, so that the next stack finds them
    /// as this one did.
    pub(crate) fn take_down(
        &self,
        site: &Site,
        round: u32,
        stack: Standing<'_>,
        whole_drives: bool,
    ) -> Result<(), Failure> {
        let begin = Instant::now();
        let Standing { plan, bindings, mut journal, others, .. } = stack;
        self.progress.detail(&format!("round {round}: taking {} down", plan.stack));
        let past = journal.kept.clone();
        let ours = build::teardown(plan, &self.authority(site, &bindings)?, &past, &mut journal)?;
        for name in ours.iter().filter(|_| whole_drives) {
            self.forget(site, round, &plan.slug, name)?;
        }
        for (other, mut stack) in site.others().iter().zip(others) {
            let past = stack.journal.kept.clone();
            let authority = self.authority(other, other.drives())?;
            for name in build::teardown(plan, &authority, &past, &mut stack.journal)? {
                self.forget(other, round, &plan.slug, &name)?;
            }
        }
        let took = Nanos::from(begin.elapsed());
        self.event(&plan.slug, round, EventKind::TakenDown { took })?;
        self.progress.done(self.costs.teardown);
        Ok(())
    }
}

/// The other hosts of a cell, as measuring wants them.
fn companions<'a>(site: &'a Site, others: &'a [RemoteHost<'_>]) -> Vec<Companion<'a>> {
    let each = site.others().iter().zip(others).filter_map(|(host, stack)| {
        Some(Companion { host, address: host.address()?, filled: &stack.filled, drives: &stack.drives })
    });
    each.collect()
}
