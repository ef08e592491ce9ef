//! What stands at the same time, and in which order its cells come.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use terms::event::EventKind;
use terms::record::{BuildOutcome, Cell, CellKey};
use terms::{Bytes, Load, Name, Nanos, Replicate, Workload};

use crate::exit::{Failure, chain};
use crate::runner::schedule::Scope;
use crate::runner::source::Source;
use crate::runner::stand::Standing;
use crate::runner::{Runner, key, order};
use crate::site::Site;

/// So many figures of a stack are told while others are measured.
const TOLD: usize = 4;

/// What went wrong, and with which stack if it was one's own fault.
pub(crate) struct StackFailure {
    /// Index of the stack.
    pub(crate) stack: Option<usize>,
    /// Did it stand by then?
    pub(crate) stood: bool,
    /// What went wrong.
    pub(crate) failure: Failure,
}

impl<F: Into<Failure>> From<F> for StackFailure {
    fn from(failure: F) -> Self {
        Self { stack: None, stood: false, failure: failure.into() }
    }
}

/// Where in a round a cell comes: reads, then writes by their size, the largest first, and whether they are at random places;
/// what is at a share of a rate comes behind that rate.
type Place = (Option<(Reverse<Bytes>, bool)>, bool);

fn place(workload: &Workload) -> Place {
    let left = workload.pattern.writes().then(|| (Reverse(workload.block), workload.pattern.random()));
    (left, matches!(workload.load, Load::Share { .. }))
}

/// The same in words, from which a random order is drawn: they stay what they are.
fn words((left, share): Place) -> String {
    let share = if share { " at shares" } else { "" };
    match left {
        None => format!("reads{share}"),
        Some((Reverse(block), true)) => format!("random writes of {} bytes{share}", block.0),
        Some((Reverse(block), false)) => format!("sequential writes of {} bytes{share}", block.0),
    }
}

impl Runner<'_> {
    /// Some stacks at once, for some rounds. What goes wrong with one is recorded, and the others go on with a fresh
    /// guest; a guest that cannot be had or a record that cannot be written ends the run.
    pub(crate) fn visit(&mut self, rounds: &[u32], stacks: &[usize], scope: &Scope) -> Result<(), Failure> {
        let mut stacks = stacks.to_vec();
        loop {
            stacks.retain(|index| rounds.iter().any(|round| self.any_pending(*round, &[*index], scope)));
            if stacks.is_empty() || self.over_budget {
                return Ok(());
            }
            let policy = &self.design.measure;
            let building: f64 = stacks.iter().map(|index| self.costs.stack(&self.plans[*index].slug, policy)).sum();
            if !self.fits(building + policy.settle.as_seconds() + policy.window.as_seconds()) {
                self.over_budget = true;
                return Ok(());
            }
            self.ready(rounds[0])?;
            let Err(failure) = self.attempt(rounds, &stacks, scope) else { return Ok(()) };
            let index = failure.stack.unwrap_or(stacks[0]);
            self.stack_failed(rounds[0], index, failure)?;
            stacks.retain(|other| *other != index);
        }
    }

    /// What the first round of each of these stacks came to: a reader has figures long before there is a report. One target
    /// needs none, its rates are seen while they are measured.
    fn tell_first(&self, stacks: &[usize]) -> Result<(), Failure> {
        if self.design.stacks.len() == 1 {
            return Ok(());
        }
        let cells = record::RunReader::open(self.writer.dir())?.newest_cells()?;
        for index in stacks {
            let plan = &self.plans[*index];
            let figure = |workload: &Workload| {
                let cell = cells.iter().find(|cell| cell.key == key(1, plan, workload))?;
                let rate = report::measured(workload, cell.reading.as_ref()?, &self.settings.style);
                Some(format!("{} {rate}", workload.title()))
            };
            let figures: Vec<String> = self.design.workloads.iter().filter_map(figure).collect();
            let more = figures.len().saturating_sub(TOLD);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let told = figures.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
            if !told.is_empty() {
                self.progress.note(&format!("first figures of {}: {told}{more}", plan.stack));
            }
        }
        Ok(())
    }

    /// Writes down what went wrong with a stack.
    fn stack_failed(&mut self, round: u32, index: usize, failure: StackFailure) -> Result<(), Failure> {
        if host::interrupt::raised() {
            return Err(Failure::Interrupted(None));
        }
        let why = match failure.failure {
            Failure::Could(error) => chain(&*error),
            Failure::Refused(why) => why,
            other => return Err(other),
        };
        let plan = &self.plans[index];
        self.progress.note(&format!("failed: {} in round {round}: {why}", plan.stack));
        self.event(&plan.slug, round, EventKind::Failed { why: why.clone(), stood: failure.stood })?;
        // Whatever is left in a guest goes with it, and the next stack gets a fresh one.
        self.leave()?;
        // A stack that stood was built, whatever happened to it later: its finished cells stay what they are.
        if !failure.stood {
            let (stack, failure) = (plan.slug.clone(), Some(why));
            self.writer.put_build(&BuildOutcome { round, stack, build: Nanos(0), fill: Nanos(0), failure })?;
        }
        Ok(())
    }

    /// Is a cell of these stacks wanted in this round and not finished?
    pub(crate) fn any_pending(&self, round: u32, stacks: &[usize], scope: &Scope) -> bool {
        stacks.iter().any(|index| !self.pending(round, *index, scope).is_empty())
    }

    /// Workloads of a stack that are wanted in this round and have no finished cell.
    fn pending(&self, round: u32, index: usize, scope: &Scope) -> Vec<&Workload> {
        let plan = &self.plans[index];
        let open = |workload: &&Workload| {
            let base = match &workload.load {
                Load::Share { of, .. } => of.as_str(),
                _ => workload.name.as_str(),
            };
            (scope.has(&plan.slug, workload.name.as_str()) || scope.has(&plan.slug, base))
                && !self.writer.is_finished(&key(round, plan, workload))
        };
        self.design.workloads.iter().filter(open).collect()
    }

    fn attempt(&mut self, rounds: &[u32], stacks: &[usize], scope: &Scope) -> Result<(), StackFailure> {
        let Some(site) = self.site.clone() else { return Err(Failure::told("error: there is no machine").into()) };
        let site = &*site;
        let round = rounds[0];
        let slices = match self.design.measure.replicate {
            Replicate::Slices => Some(self.slice(site, round)?),
            _ => None,
        };
        let source = self.source(site, round)?;
        let mut standing = Vec::new();
        for index in stacks {
            let stack = self.stand(site, round, *index, slices.as_ref()).map_err(|failure| StackFailure {
                stack: Some(*index),
                stood: false,
                failure,
            })?;
            standing.push(stack);
        }
        let mut over = false;
        for round in rounds {
            over = over || self.cells(site, *round, &standing, slices.as_ref(), source.as_ref(), scope)?;
        }
        if round == 1 {
            self.tell_first(stacks)?;
        }
        self.clear(site, round, standing, slices.is_some(), source)?;
        self.over_budget = over;
        Ok(())
    }

    /// All cells of a round on what stands; says whether the budget ran out.
    fn cells(
        &self,
        site: &Site,
        round: u32,
        standing: &[Standing<'_>],
        slices: Option<&crate::runner::slices::Slices>,
        source: Option<&Source<'_>>,
        scope: &Scope,
    ) -> Result<bool, StackFailure> {
        let mut rates: BTreeMap<(usize, String), f64> = BTreeMap::new();
        if let Some(slices) = slices {
            self.sliced_control(site, round, terms::record::CONTROL_FIRST, slices)?;
        }
        for (at, workload) in self.in_order(round, standing, scope) {
            let stack = &standing[at];
            if !self.fits(self.costs.cell(&self.design.measure, workload) + self.costs.teardown) {
                return Ok(true);
            }
            let rate = self.rate(round, stack, workload, &rates)?;
            let iops = self.cell(site, round, stack, workload, rate, source).map_err(|failure| StackFailure {
                stack: Some(stack.index),
                stood: true,
                failure,
            })?;
            if let Some(iops) = iops {
                rates.insert((stack.index, workload.name.to_string()), iops);
            }
        }
        if let Some(slices) = slices {
            self.sliced_control(site, round, terms::record::CONTROL_LAST, slices)?;
        }
        Ok(false)
    }

    /// Cells of a round: reads, then writes, the largest first. A write leaves a file system that copies on write in pieces of
    /// its size, and one that is larger then takes a change of the trees for each. What comes at the same place is in a fresh
    /// random order over all stacks that stand.
    fn in_order(&self, round: u32, standing: &[Standing<'_>], scope: &Scope) -> Vec<(usize, &Workload)> {
        let mut places: BTreeMap<Place, Vec<(usize, &Workload)>> = BTreeMap::new();
        for (at, stack) in standing.iter().enumerate() {
            for workload in self.pending(round, stack.index, scope) {
                places.entry(place(workload)).or_default().push((at, workload));
            }
        }
        let who: Vec<&str> = standing.iter().map(|stack| stack.plan.slug.as_str()).collect();
        let mut ordered = Vec::new();
        for (place, group) in places {
            let label = format!("{} of {} in round {round}", words(place), who.join(", "));
            let order = order::shuffled(group.len(), self.design.measure.seed, &label);
            ordered.extend(order.into_iter().map(|index| group[index]));
        }
        ordered
    }

    /// Operations per second that a cell is offered, if not as many as it takes.
    fn rate(
        &self,
        round: u32,
        stack: &Standing<'_>,
        workload: &Workload,
        rates: &BTreeMap<(usize, String), f64>,
    ) -> Result<Option<f64>, Failure> {
        let (of, percent) = match &workload.load {
            Load::Closed => return Ok(None),
            #[expect(clippy::cast_precision_loss, reason = "no drive does 2^53 operations in a second")]
            Load::Rate(rate) => return Ok(Some(*rate as f64)),
            Load::Share { of, percent } => (of, percent),
        };
        let largest = match rates.get(&(stack.index, of.to_string())) {
            Some(largest) => Some(*largest),
            None => {
                let key = CellKey { round, stack: stack.plan.slug.clone(), workload: of.to_string() };
                self.recorded(&key)?.and_then(|cell| Some(cell.reading?.iops().0))
            }
        };
        Ok(largest.map(|largest| largest * f64::from(*percent) / 100.0))
    }

    /// A cell that this run measured, now or in an earlier session.
    pub(crate) fn recorded(&self, key: &CellKey) -> Result<Option<Cell>, Failure> {
        Ok(record::RunReader::open(self.writer.dir())?.newest_cell(key)?)
    }

    /// Takes everything down, the newest first, and forgets what the drives held.
    fn clear(
        &self,
        site: &Site,
        round: u32,
        standing: Vec<Standing<'_>>,
        sliced: bool,
        source: Option<Source<'_>>,
    ) -> Result<(), StackFailure> {
        for stack in standing.into_iter().rev() {
            let index = stack.index;
            self.take_down(site, round, stack, !sliced).map_err(|failure| StackFailure {
                stack: Some(index),
                stood: true,
                failure,
            })?;
        }
        if let Some(source) = source {
            self.drop_source(site, round, source)?;
        }
        if sliced {
            self.unslice(site, round)?;
        }
        Ok(())
    }

    /// Discards a drive that is free again; one that cannot discard (a RAM drive may not) keeps its bytes.
    pub(crate) fn forget(&self, site: &Site, round: u32, stack: &str, name: &Name) -> Result<(), Failure> {
        let worked = self.authority(site, site.drives())?.discard(name)?;
        self.event(stack, round, EventKind::Discarded { drive: name.clone(), worked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terms::Pattern;

    #[test]
    fn what_leaves_the_smallest_pieces_comes_last() {
        let of = |pattern, block| Workload::new(Name::new("w").unwrap(), pattern, block);
        let (large, small) = (Bytes::mib(1), Bytes::kib(4));
        let share =
            Workload { load: Load::Share { of: Name::new("w").unwrap(), percent: 50 }, ..of(Pattern::Write, large) };
        let expected = [
            of(Pattern::RandRead, small),
            of(Pattern::Write, large),
            share,
            of(Pattern::RandMixed(70), large),
            of(Pattern::Mixed(70), small),
            of(Pattern::RandWrite, small),
        ];
        assert!(expected.is_sorted_by(|before, after| place(before) < place(after)));
        assert_eq!(place(&of(Pattern::Read, large)), place(&of(Pattern::RandRead, small)));
    }
}
