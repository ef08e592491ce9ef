//! Takes a study through the house: round by round, stack by stack, build, fill, measure, record, take down.

pub(crate) mod order;
pub(crate) mod weight;

use build::{Consent, Entry};
use host::{Host, HostError};
use lab::Guest;
use measure::{CellRequest, Filled};
use record::RunWriter;
use terms::plan::Place;
use terms::record::{BuildOutcome, CellKey};
use terms::{Cmd, Design, Name, Nanos, Plan, Workload};

use crate::exit::{Failure, chain};
use crate::printer::Progress;
use crate::settings::Settings;

/// A study on its way.
pub(crate) struct Runner<'a> {
    pub(crate) design: &'a Design,
    pub(crate) plans: &'a [Plan],
    pub(crate) writer: &'a RunWriter,
    pub(crate) settings: &'a Settings,
    pub(crate) progress: &'a Progress,
    /// Slugs of stacks that cannot be built here.
    pub(crate) missing: Vec<String>,
    /// The guest; `None` after something went wrong in one.
    pub(crate) guest: Option<Guest>,
}

/// The journal of a run: on disk before anything is done, and at hand for taking it back.
struct RunJournal<'a> {
    writer: &'a RunWriter,
    kept: Vec<Entry>,
}

impl build::Journal for RunJournal<'_> {
    fn note(&mut self, entry: &Entry) -> std::io::Result<()> {
        self.writer.journal(entry).map_err(std::io::Error::other)?;
        self.kept.push(entry.clone());
        Ok(())
    }
}

impl Runner<'_> {
    /// Runs every cell that is not finished.
    ///
    /// # Errors
    /// Where the person interrupts, the record cannot be written, or no guest can be had.
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        let (rounds, seed) = (self.design.measure.rounds, self.design.measure.seed);
        let plans = self.plans;
        for round in 1..=rounds {
            for index in order::shuffled(plans.len(), seed, &format!("stacks of round {round}")) {
                if !self.missing.contains(&plans[index].slug) {
                    self.visit(round, &plans[index])?;
                }
            }
        }
        Ok(())
    }

    /// One stack in one round. What goes wrong with it is recorded, and the study goes on with a fresh guest; a guest
    /// that cannot be had or a record that cannot be written ends the run.
    fn visit(&mut self, round: u32, plan: &Plan) -> Result<(), Failure> {
        let pending = self.pending(round, plan);
        if pending.is_empty() {
            return Ok(());
        }
        if self.guest.is_none() {
            self.progress.now("booting a fresh guest");
            self.guest = Some(self.boot()?);
        }
        let mut outcome =
            BuildOutcome { round, stack: plan.slug.clone(), build: Nanos(0), fill: Nanos(0), failure: None };
        let mut stands = false;
        match self.work(round, plan, &pending, &mut outcome, &mut stands) {
            Ok(()) => return Ok(()),
            Err(_) if host::interrupt::raised() => return Err(Failure::Interrupted(None)),
            Err(failure @ (Failure::Could(_) | Failure::Refused(_))) => {
                let why = match failure {
                    Failure::Could(error) => chain(&*error),
                    Failure::Refused(why) => why,
                    _ => String::new(),
                };
                self.progress.note(&format!("failed: {} in round {round}: {why}", plan.stack));
                self.event("failed", plan, round, serde_json::json!({ "why": why, "stood": stands }))?;
                outcome.failure = Some(why);
                // Whatever is left in this guest goes with it; the next stack gets a fresh one.
                self.guest = None;
            }
            Err(other) => return Err(other),
        }
        // A stack that stood was built, whatever happened to it later: its finished cells stay what they are.
        if !stands {
            self.writer.put_build(&outcome)?;
        }
        Ok(())
    }

    /// Something that happened, for whoever reads the record later.
    fn event(&self, what: &str, plan: &Plan, round: u32, more: serde_json::Value) -> Result<(), Failure> {
        let at = jiff::Timestamp::now().to_string();
        let event = serde_json::json!({ "at": at, "event": what, "stack": plan.slug, "round": round, "more": more });
        Ok(self.writer.event(&event)?)
    }

    /// Workloads without a finished cell: reads before writes, each group in a fresh random order.
    fn pending(&self, round: u32, plan: &Plan) -> Vec<Workload> {
        let finished = self.writer.finished();
        let mut pending = Vec::new();
        for writes in [false, true] {
            let group: Vec<&Workload> = self.design.workloads.iter().filter(|w| w.pattern.writes() == writes).collect();
            let label = format!("{} of {} in round {round}", if writes { "writes" } else { "reads" }, plan.slug);
            let order = order::shuffled(group.len(), self.design.measure.seed, &label);
            let open = order.into_iter().map(|index| group[index]).filter(|w| !finished.contains(&key(round, plan, w)));
            pending.extend(open.cloned());
        }
        pending
    }

    fn work(
        &mut self,
        round: u32,
        plan: &Plan,
        pending: &[Workload],
        outcome: &mut BuildOutcome,
        stands: &mut bool,
    ) -> Result<(), Failure> {
        let Some(guest) = &self.guest else { return Err(Failure::told("error: there is no guest")) };
        let drives = guest.drives();
        let named: Vec<(String, String)> = drives.iter().map(|(name, node)| (name.to_string(), node.clone())).collect();
        let mut journal = RunJournal { writer: self.writer, kept: Vec::new() };
        self.writer.journal(&Entry::Begin { stack: plan.slug.clone(), round, drives: named })?;
        self.progress.now(&format!("round {round}: building {}", plan.stack));
        let consent = Consent(drives.keys().cloned().collect());
        let on_step = |step: &terms::Step| self.progress.detail(&format!("round {round}: {}: {}", plan.stack, step.id));
        let built = build::apply(plan, guest, drives, &consent, &[], &mut journal, &on_step)?;
        outcome.build = built.took;
        self.progress.done(weight::BUILD);
        let filled = self.fill(guest, round, plan, built.target, outcome)?;
        self.writer.put_build(outcome)?;
        *stands = true;
        for workload in pending {
            self.cell(guest, round, plan, workload, &filled)?;
        }
        self.progress.detail(&format!("round {round}: taking {} down", plan.stack));
        self.take_down(guest, round, plan, &mut journal)?;
        self.progress.done(weight::TEARDOWN);
        Ok(())
    }

    pub(crate) fn boot(&self) -> Result<Guest, Failure> {
        crate::guest::boot(&self.design.lab, self.plans, lab::Console::Log, self.settings)
    }

    fn fill(
        &self,
        guest: &Guest,
        round: u32,
        plan: &Plan,
        target: Place,
        outcome: &mut BuildOutcome,
    ) -> Result<Filled, Failure> {
        let policy = &self.design.measure;
        self.progress.detail(&format!("round {round}: filling {} of {}", policy.span, plan.stack));
        let seed = order::job_seed(policy.seed, &format!("fill of {} in round {round}", plan.slug));
        let filled = measure::fill(guest, target, policy.span, seed)?;
        outcome.fill = filled.took;
        let more =
            serde_json::json!({ "argv": filled.argv, "seed": seed, "took_ns": filled.took, "fio": filled.output });
        self.event("filled", plan, round, more)?;
        self.progress.done(weight::FILL);
        Ok(filled)
    }

    fn cell(
        &self,
        guest: &Guest,
        round: u32,
        plan: &Plan,
        workload: &Workload,
        filled: &Filled,
    ) -> Result<(), Failure> {
        let policy = &self.design.measure;
        self.progress.now(&format!("round {round}: {}: {}", plan.stack, workload.describe()));
        let drives = plan.drives.iter().filter_map(|name| drive(guest, name)).collect::<Vec<_>>();
        let key = key(round, plan, workload);
        let seed = order::job_seed(policy.seed, &format!("{} on {} in round {round}", key.workload, key.stack));
        let started = now();
        let request = CellRequest { key, workload, policy, filled, drives: &drives, seed, started };
        let measured = measure::measure(guest, &request)?;
        if let Some(why) = &measured.cell.failure {
            self.progress.note(&format!("failed: {} on {} in round {round}: {why}", workload.name, plan.stack));
        }
        self.writer.put_cell(&measured.cell, &measured.raw)?;
        let more = serde_json::json!({ "workload": workload.name, "took_ns": measured.cell.took });
        self.event("measured", plan, round, more)?;
        self.progress.done(weight::cell(policy));
        Ok(())
    }

    /// Takes the stack down and forgets what the drives held, so that the next stack finds them as this one did.
    fn take_down(&self, guest: &Guest, round: u32, plan: &Plan, journal: &mut RunJournal<'_>) -> Result<(), Failure> {
        let past = journal.kept.clone();
        build::teardown(plan, guest, guest.drives(), &past, journal)?;
        for (name, node) in plan.drives.iter().filter_map(|name| drive(guest, name)) {
            let discarded = forget(guest, &node)?;
            self.event("discarded", plan, round, serde_json::json!({ "drive": name, "worked": discarded }))?;
        }
        Ok(())
    }
}

/// Discards a lab drive; one that cannot discard (a RAM drive may not) keeps its bytes.
fn forget(guest: &Guest, node: &str) -> Result<bool, HostError> {
    Ok(guest.run(&Cmd::new(["blkdiscard", node]).limit(Nanos::seconds(60)))?.ok())
}

fn drive(guest: &Guest, name: &Name) -> Option<(String, String)> {
    guest.drives().get(name).map(|node| (name.to_string(), node.clone()))
}

/// The time of day with its zone, RFC 3339.
pub(crate) fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn key(round: u32, plan: &Plan, workload: &Workload) -> CellKey {
    CellKey { round, stack: plan.slug.clone(), workload: workload.name.to_string() }
}
