//! What a run will take, estimated before it begins.
//!
//! Learned from earlier runs of the same kind ([`Kind`]): what a cell takes beyond its window, or a second of a guest under a virtual
//! clock, how long windows are that are made longer, what building, filling and taking down take. What was never seen is taken from
//! a table that was measured once under emulation.

use std::collections::BTreeMap;

use record::RunReader;
use terms::event::{Event, EventKind};
use terms::inventory::Inventory;
use terms::record::{CONTROL, Cell, ICOUNT, Provenance, Reading};
use terms::{Design, MeasurePolicy, Method, Plan, Replicate, Workload};

mod parts;

use crate::runner::estimate::parts::{Mean, Parts};
use crate::runner::journal;
use crate::settings::Settings;

/// Booting, reading the machine and looking for what the stacks need, in seconds under emulation.
pub(crate) const BEGIN: f64 = 10.0;
/// Newest runs that are learned from.
const RUNS: usize = 6;
/// Time that a tool's own test takes beside the honest one: five loops of five seconds, and starting fio as often.
const IMITATED: f64 = 30.0;
/// What a cell of several hosts takes beside its windows, in seconds: servers, and the wait for one moment.
const GATHERING: f64 = 8.0;

/// What parts of a run cost, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Costs {
    /// A cell beyond settling and window.
    overhead: f64,
    /// Time of windows that are made longer, settling included, as a share of that of the windows asked for.
    longer: f64,
    /// The same for workloads that were seen.
    longer_of: BTreeMap<String, f64>,
    build: f64,
    builds: BTreeMap<String, f64>,
    /// Filling one MiB once.
    fill: f64,
    fills: BTreeMap<String, f64>,
    /// Taking a stack down.
    pub(crate) teardown: f64,
    /// Runs that this was learned from.
    pub(crate) runs: usize,
    /// Seconds that one under load takes.
    pace: f64,
    /// Guests that work at once, each on a stack of its own; `None` where one machine has them all.
    pub(crate) lanes: Option<usize>,
}

impl Default for Costs {
    /// Two cores, TCG, the drives of the quickstart.
    fn default() -> Self {
        Self {
            overhead: 1.5,
            // One in five is made twice as long.
            longer: 0.4,
            longer_of: BTreeMap::new(),
            build: 4.0,
            builds: BTreeMap::new(),
            fill: 1.5 / 64.0,
            fills: BTreeMap::new(),
            teardown: 2.0,
            runs: 0,
            pace: 1.0,
            lanes: None,
        }
    }
}

#[derive(Debug, Default)]
struct Seen {
    /// Of a guest under a virtual clock, what a cell takes beyond its window, in seconds: what is more is its pace.
    counted: Option<f64>,
    pace: Mean,
    overhead: Mean,
    longer: Mean,
    longer_of: BTreeMap<String, Mean>,
    parts: Parts,
    build: Mean,
    builds: BTreeMap<String, Mean>,
    fill: Mean,
    fills: BTreeMap<String, Mean>,
    teardown: Mean,
    runs: usize,
}

/// What two runs have in common where one tells how long the other takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind<'a> {
    pub(crate) place: &'a str,
    pub(crate) accelerator: Option<&'a str>,
    /// Has the machine drives with heads?
    pub(crate) hard_disks: bool,
    /// Are windows as long as comparisons need ([`MeasurePolicy::windows_decide`])?
    pub(crate) windows_decide: bool,
}

impl<'a> Kind<'a> {
    fn of(run: &'a Provenance, inventory: &Inventory) -> Self {
        Self {
            place: &run.place,
            accelerator: run.accelerator.as_deref(),
            hard_disks: has_hard_disks(inventory),
            windows_decide: run.policy().windows_decide(),
        }
    }

    fn is_counted(&self) -> bool {
        self.accelerator == Some(ICOUNT)
    }
}

/// Learns from the newest runs of a kind. What cannot be read is passed over: an estimate is not worth an error.
///
/// What these plans need that was never built as a whole is put together from parts.
pub(crate) fn learn(kind: Kind<'_>, plans: &[Plan], settings: &Settings) -> Costs {
    let base = if kind.is_counted() { Costs::counted(kind) } else { Costs::default() };
    let counted = kind.is_counted().then_some(base.overhead);
    let mut seen = Seen { counted, ..Seen::default() };
    let catalogue = crate::commands::runs::catalogue(settings).unwrap_or_default();
    for row in catalogue.list() {
        let Ok(reader) = RunReader::open(&row.dir) else { continue };
        let inventory = reader.inventory().ok().flatten();
        let is_like = inventory.is_some_and(|inventory| Kind::of(reader.provenance(), &inventory) == kind);
        if is_like && seen.add(&reader) {
            seen.runs += 1;
        }
        if seen.runs == RUNS {
            break;
        }
    }
    seen.costs(plans, base)
}

impl Seen {
    /// Adds what a run tells; `false` where it tells nothing.
    fn add(&mut self, reader: &RunReader) -> bool {
        let (Ok(cells), Ok(builds), Ok(events)) = (reader.newest_cells(), reader.builds(), reader.events()) else {
            return false;
        };
        let run = reader.provenance();
        for cell in &cells {
            self.cell(cell, run);
        }
        for build in builds.iter().filter(|build| build.failure.is_none()) {
            self.build.add(build.build.as_seconds());
            self.builds.entry(build.stack.clone()).or_default().add(build.build.as_seconds());
        }
        if let Ok(entries) = journal::entries(reader) {
            self.parts.journal(&entries);
        }
        let mebibytes = run.span.as_f64() / terms::Bytes::mib(1).as_f64() * f64::from(run.policy().fill_passes);
        for Event { stack, kind, .. } in events {
            match kind {
                EventKind::Filled { took, .. } => {
                    let took = took.as_seconds() / mebibytes.max(1.0);
                    self.fill.add(took);
                    if let Ok(Some(plan)) = reader.plan::<Plan>(&stack) {
                        self.parts.fill(&plan, took);
                    }
                    self.fills.entry(stack).or_default().add(took);
                }
                EventKind::TakenDown { took } => self.teardown.add(took.as_seconds()),
                _ => {}
            }
        }
        !cells.is_empty()
    }

    fn cell(&mut self, cell: &Cell, run: &Provenance) {
        let workload = run.workloads.iter().find(|workload| workload.name.as_str() == cell.key.workload);
        let other = |workload: &Workload| workload.method != Method::Fio || !workload.hosts.is_one();
        if workload.is_some_and(other) || cell.imitated.is_some() {
            return;
        }
        let window = workload.and_then(|workload| workload.window).unwrap_or(run.window).as_seconds();
        let asked = run.settle.as_seconds() + window;
        let longer = longer(cell, run.settle.as_seconds(), window);
        self.longer.add(longer / asked);
        self.longer_of.entry(cell.key.workload.clone()).or_default().add(longer / asked);
        let (took, inside) = (cell.took.as_seconds(), asked + longer);
        match self.counted {
            Some(overhead) => self.pace.add((took - overhead).max(0.0) / inside),
            None => self.overhead.add((took - inside).max(0.0)),
        }
    }

    /// What the parts of a run cost by what was seen; what was not seen as the table has it.
    fn costs(self, plans: &[Plan], base: Costs) -> Costs {
        let means = |means: BTreeMap<String, Mean>| -> BTreeMap<String, f64> {
            means.into_iter().map(|(name, mean)| (name, mean.or(0.0))).collect()
        };
        let (mut builds, mut fills) = (means(self.builds), means(self.fills));
        for plan in plans {
            builds.entry(plan.slug.clone()).or_insert_with(|| self.parts.build(plan));
            if let (false, Some(seconds)) = (fills.contains_key(&plan.slug), self.parts.fill_of(plan)) {
                fills.insert(plan.slug.clone(), seconds);
            }
        }
        Costs {
            overhead: self.overhead.or(base.overhead),
            pace: self.pace.or(base.pace),
            longer: self.longer.or(base.longer),
            longer_of: means(self.longer_of),
            build: self.build.or(base.build),
            builds,
            fill: self.fill.or(base.fill),
            fills,
            teardown: self.teardown.or(base.teardown),
            runs: self.runs,
            ..base
        }
    }
}

impl Costs {
    /// The same of a guest under a virtual clock, until a run was seen. A guest that waits for a hard disk does nothing, and its
    /// clock jumps: of `run long-term-storage --rounds 1 --skip '#20*'` on two idle cores a cell on hard disks took 5.0 s for 2.9 s of
    /// settling and windows (`--lab-drives hdd`), and 9.7 s for 11.2 s (`--window 1s --settle 300ms` as well).
    ///
    /// Where windows are as long as comparisons need, 12 cells of it on hard disks (`--only 1,5,10,14 --window 1s --settle 300ms`, two cores
    /// beside compilers, ended in the last stack) had windows 28 times as long as asked, and took some 90 s of a processor each.
    fn counted(kind: Kind<'_>) -> Self {
        let (overhead, pace, longer) = match (kind.hard_disks, kind.windows_decide) {
            (true, true) => (3.4, 2.2, 28.0),
            (true, false) => (3.4, 0.6, 0.4),
            (false, _) => (4.0, 12.0, 0.4),
        };
        Self { overhead, pace, longer, teardown: 2.0, ..Self::default() }
    }

    /// The same where each stack has a guest of its own, and so many work at once.
    pub(crate) fn in_lanes(self, lanes: Option<usize>) -> Self {
        Self { lanes, ..self }
    }

    /// Machines that work at once.
    pub(crate) fn at_once(&self) -> usize {
        self.lanes.unwrap_or(1)
    }

    /// Building a stack.
    pub(crate) fn build(&self, stack: &str) -> f64 {
        self.builds.get(stack).copied().unwrap_or(self.build)
    }

    /// Filling a stack.
    pub(crate) fn fill(&self, stack: &str, policy: &MeasurePolicy) -> f64 {
        let each = self.fills.get(stack).copied().unwrap_or(self.fill);
        each * policy.span.as_f64() / terms::Bytes::mib(1).as_f64() * f64::from(policy.fill_passes)
    }

    /// Building, filling and taking down a stack.
    pub(crate) fn stack(&self, stack: &str, policy: &MeasurePolicy) -> f64 {
        self.build(stack) + self.fill(stack, policy) + self.teardown
    }

    /// One cell.
    pub(crate) fn cell(&self, policy: &MeasurePolicy, workload: &Workload) -> f64 {
        let asked = policy.settle.as_seconds() + workload.window.unwrap_or(policy.window).as_seconds();
        let longer = self.longer_of.get(workload.name.as_str()).copied().unwrap_or(self.longer);
        let imitation = if policy.compat && workload.imitates.is_some() { IMITATED } else { 0.0 };
        let gathering = if workload.hosts.is_one() { 0.0 } else { GATHERING };
        asked * (1.0 + longer) * self.pace + self.overhead + imitation + gathering
    }

    /// A round with so many stacks and so many cells: as far as cells are alike.
    pub(crate) fn round(&self, design: &Design, stacks: usize, cells: usize) -> f64 {
        let policy = &design.measure;
        let all: f64 = design.workloads.iter().map(|workload| self.cell(policy, workload)).sum();
        let mean = all / real(design.workloads.len().max(1));
        real(stacks) * self.stack("", policy) + real(cells) * mean + self.controls(design)
    }

    /// What the control adds to every round.
    fn controls(&self, design: &Design) -> f64 {
        let policy = &design.measure;
        let each = policy.settle.as_seconds() + policy.window.as_seconds() + self.overhead + self.fill(CONTROL, policy);
        f64::from(controls(policy)) * each
    }

    /// Seconds of the first rounds of a run, without the stacks that cannot be built.
    pub(crate) fn run(&self, design: &Design, missing: &[String]) -> f64 {
        self.work(design, missing) / real(self.at_once())
    }

    /// The same, of all guests together.
    pub(crate) fn work(&self, design: &Design, missing: &[String]) -> f64 {
        let policy = &design.measure;
        let slugs = design.stacks.iter().map(terms::Stack::slug).filter(|slug| !missing.contains(slug));
        let cells: f64 = design.workloads.iter().map(|workload| self.cell(policy, workload)).sum();
        let rounds = f64::from(policy.rounds);
        let builds = if policy.replicate == Replicate::Single { 1.0 } else { rounds };
        // Every host builds every stack, one after the other.
        let hosts = f64::from(design.hosts().0);
        let boot = if self.lanes.is_some() { BEGIN } else { 0.0 };
        let stacks: f64 = slugs.map(|slug| boot + builds * hosts * self.stack(&slug, policy) + rounds * cells).sum();
        stacks + rounds * self.controls(design)
    }

    /// The longest that a run may take: every round that the policy allows, for every cell.
    pub(crate) fn longest(&self, design: &Design, missing: &[String]) -> f64 {
        let once = self.run(design, missing);
        let policy = &design.measure;
        if policy.replicate == Replicate::Single {
            return once;
        }
        once * f64::from(policy.most_rounds()) / f64::from(policy.rounds.max(1))
    }
}

/// Has this machine drives with heads?
pub(crate) fn has_hard_disks(inventory: &Inventory) -> bool {
    inventory.drives.iter().any(|drive| drive.rotational)
}

/// Seconds that the longer window of a cell took, settling included; 0 where it had none. What was read of a cell is of its last
/// window.
fn longer(cell: &Cell, settle: f64, window: f64) -> f64 {
    let flows = cell.reading.iter().flat_map(Reading::flows);
    let settled = cell.settled.map_or(settle, terms::Nanos::as_seconds);
    if cell.extended { settled + flows.map(|flow| flow.runtime.as_seconds()).fold(window, f64::max) } else { 0.0 }
}

/// Cells of the first rounds.
pub(crate) fn cells(design: &Design, missing: &[String]) -> usize {
    (design.stacks.len() - missing.len()) * design.workloads.len() * design.measure.rounds as usize
}

/// The estimate in words.
pub(crate) fn words(costs: &Costs, design: &Design, missing: &[String]) -> String {
    let policy = &design.measure;
    let cells = cells(design, missing);
    let (least, most) = (costs.run(design, missing), costs.longest(design, missing));
    let time = match policy.budget.map(terms::Nanos::as_seconds) {
        Some(budget) if budget < least => {
            format!("{}, the budget; all rounds would take {}", span(budget), span(least))
        }
        Some(budget) if budget < most => format!("{} to {}, the budget", span(least), span(budget)),
        _ if most > least => format!("{} to {}, as many rounds as it takes", span(least), span(most)),
        _ => span(least),
    };
    let learned = match costs.runs {
        0 => "a guess: no earlier run here to learn from".to_owned(),
        1 => "learned from one earlier run".to_owned(),
        runs => format!("learned from {runs} earlier runs"),
    };
    let rounds = if policy.rounds == 1 { "round" } else { "rounds" };
    format!("{cells} cells in {} {rounds}: {time} ({learned})", policy.rounds)
}

/// Cells that controls add to every round.
const fn controls(policy: &terms::MeasurePolicy) -> u32 {
    match (policy.control, policy.replicate) {
        (terms::Control::Off, _) | (_, Replicate::Single) => 0,
        _ => 2,
    }
}

/// A time in minutes and seconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a run are small and positive")]
pub(crate) fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of stacks and cells are small")]
pub(crate) const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use terms::record::{CellKey, Flow, Latency};
    use terms::{Bytes, BytesPerSecond, Iops, Name, Nanos, Pattern};

    use super::*;

    fn design(rounds: u32, most: u32) -> Design {
        let workload = Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes::kib(4));
        let stack = |name: &str| terms::Stack { name: name.to_owned(), note: None, nodes: Vec::new() };
        Design {
            question: String::new(),
            lab: terms::LabSpec::new(2, Bytes::gib(1)),
            setups: Vec::new(),
            stacks: vec![stack("a"), stack("b")],
            sources: Vec::new(),
            workloads: vec![workload],
            measure: MeasurePolicy {
                rounds,
                max_rounds: most,
                control: terms::Control::Off,
                ..MeasurePolicy::default()
            },
            feature_checks: Vec::new(),
            charts: Vec::new(),
        }
    }

    #[test]
    fn an_estimate_grows_with_rounds_and_shrinks_with_what_is_missing() {
        let costs = Costs::default();
        let once = costs.run(&design(1, 1), &[]);
        assert!((costs.run(&design(3, 3), &[]) - 3.0 * once).abs() < 1e-9);
        assert!((costs.run(&design(1, 1), &["a".to_owned()]) - once / 2.0).abs() < 1e-9);
        assert!((costs.longest(&design(1, 4), &[]) - 4.0 * once).abs() < 1e-9);
    }

    #[test]
    fn a_longer_window_costs_what_it_took() {
        let key = CellKey { round: 1, stack: "a".to_owned(), workload: "w".to_owned() };
        let flow = Flow {
            bytes: Bytes(0),
            operations: 0,
            runtime: Nanos::seconds(32),
            throughput: BytesPerSecond(0.0),
            iops: Iops(0.0),
            latency: Latency::default(),
        };
        let reading = Reading { read: Some(flow), write: None, sync: None, fio_cpu_cores: 0.0 };
        let mut cell = Cell { reading: Some(reading), ..Cell::begun(key, String::new(), Vec::new(), 0) };
        let once = longer(&cell, 0.5, 1.0);
        cell.extended = true;
        let again = longer(&cell, 0.5, 1.0);
        cell.settled = Some(Nanos::seconds(3));
        let found = [once, again, longer(&cell, 0.5, 1.0)];
        assert_eq!(found.map(f64::to_bits), [0.0, 32.5, 35.0].map(f64::to_bits));

        let design = design(1, 1);
        let none = Costs { longer: 0.0, overhead: 0.0, ..Costs::default() };
        let learned = Costs { longer_of: BTreeMap::from([("w".to_owned(), 9.0)]), ..none.clone() };
        let [shorter, longer] =
            [none, learned].map(|costs| costs.cell(&design.measure, design.workloads.first().unwrap()));
        assert!((longer - 10.0 * shorter).abs() < 1e-9, "{longer} is not ten times {shorter}");
    }

    #[test]
    fn an_estimate_says_where_it_comes_from() {
        let text = words(&Costs::default(), &design(5, 12), &[]);
        assert!(text.starts_with("10 cells in 5 rounds: ") && text.contains("a guess"), "{text}");
        assert_eq!([span(9.4), span(61.0), span(3700.0)], ["9 s", "1 min 01 s", "1 h 01 min"]);
    }
}
