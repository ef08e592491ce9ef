//! Which rounds there are, and which cells each of them has.
//!
//! The first rounds have every cell. Further ones, up to the policy's limit, have only those whose interval is still
//! wider than asked for or whose comparison is open: time goes where it decides. What a later round has follows from
//! the cells of the rounds before it and from nothing else, so a resumed run decides as the whole one would have.

use std::collections::BTreeSet;

use host::Host;
use record::RunReader;
use terms::Replicate;
use terms::event::EventKind;
use terms::finding::{ControlAction, Findings};

use crate::exit::Failure;
use crate::runner::{Runner, estimate, order};

/// Cells of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every one.
    All,
    /// These: slugs of stacks and names of workloads.
    Open(BTreeSet<(String, String)>),
}

impl Scope {
    /// Is a cell among them?
    pub(crate) fn has(&self, stack: &str, workload: &str) -> bool {
        match self {
            Self::All => true,
            Self::Open(cells) => cells.contains(&(stack.to_owned(), workload.to_owned())),
        }
    }
}

impl Runner<'_> {
    /// Runs every cell that is wanted and not finished.
    ///
    /// # Errors
    /// Where the person interrupts, the record cannot be written, or no guest can be had.
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        let result = match self.design.measure.replicate {
            Replicate::Single => self.run_single(),
            Replicate::Rebuild | Replicate::Slices => self.run_rounds(),
        };
        // What a failure left, and in any case how drives were set up.
        match (result, self.leave()) {
            // What came first is the cause.
            (Err(cause), Err(left)) => {
                self.settings.printer.say(&left.text());
                Err(cause)
            }
            (result, left) => result.and(left),
        }
    }

    /// Every stack once, all of its rounds while it stands.
    fn run_single(&mut self) -> Result<(), Failure> {
        let stacks = self.stacks();
        let rounds: Vec<u32> = (1..=self.design.measure.rounds).collect();
        let order = order::shuffled(stacks.len(), self.design.measure.seed, "stacks of the run");
        for (done, index) in order.into_iter().enumerate() {
            // The budget is shared out, or the last stacks would get nothing.
            self.share = estimate::real(done + 1) / estimate::real(stacks.len());
            self.over_budget = false;
            self.visit(&rounds, &[stacks[index]], &Scope::All)?;
        }
        Ok(())
    }

    fn run_rounds(&mut self) -> Result<(), Failure> {
        if self.any_pending(1, &self.stacks(), &Scope::All) {
            self.look_first()?;
        }
        let most = self.design.measure.most_rounds();
        // Guests side by side wait for nothing between rounds that come in any case.
        let together = if self.costs.lanes.is_some() { self.design.measure.rounds } else { 1 };
        let first = std::iter::once((1..=together).collect());
        // A discarded round is replaced; where every round is discarded something else is wrong.
        for rounds in first.chain((together + 1..=most.saturating_mul(2)).map(|round| vec![round])) {
            let round = rounds[0];
            let scope = self.scope(round)?;
            if let Some(scope) = &scope {
                self.extend_progress(round, scope);
                self.rounds(&rounds, scope)?;
            }
            if self.over_budget {
                self.progress.note("the budget is spent: what is open stays open");
                self.event("", round, EventKind::BudgetSpent {})?;
            }
            if scope.is_none() || self.over_budget || self.stopped.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// The cells of a round; `None` where there is no such round. Where cells are open and the budget holds none of
    /// them, it is spent.
    fn scope(&mut self, round: u32) -> Result<Option<Scope>, Failure> {
        let policy = &self.design.measure;
        let judges = policy.is_sequential() || policy.control == terms::Control::Discard;
        if round <= policy.rounds {
            return Ok(Some(Scope::All));
        }
        if !judges {
            return Ok(None);
        }
        let findings = self.findings_before(round)?;
        let discarded = findings.controls.iter().filter(|control| control.action == ControlAction::Discarded).count();
        let kept = (round - 1).saturating_sub(u32::try_from(discarded).unwrap_or(u32::MAX));
        if kept < policy.rounds {
            return Ok(Some(Scope::All));
        }
        if kept >= policy.most_rounds() {
            return Ok(None);
        }
        let open = analyse::open_cells(&findings);
        let wanted = !open.is_empty();
        let affordable = self.affordable(open);
        self.over_budget = wanted && affordable.is_empty();
        Ok((!affordable.is_empty()).then_some(Scope::Open(affordable)))
    }

    /// The most urgent of the open cells that the budget still holds.
    fn affordable(&self, open: Vec<(String, String)>) -> BTreeSet<(String, String)> {
        let mut chosen = BTreeSet::new();
        let mut seconds = 0.0;
        for (stack, workload) in open {
            if !chosen.iter().any(|(known, _)| known == &stack) {
                seconds += self.costs.stack(&stack, &self.design.measure);
            }
            let of = self.design.workloads.iter().find(|of| of.name.as_str() == workload);
            seconds += of.map_or(0.0, |of| self.costs.cell(&self.design.measure, of));
            if !self.fits(seconds) {
                break;
            }
            chosen.insert((stack, workload));
        }
        chosen
    }

    /// What the rounds before this one mean.
    fn findings_before(&self, round: u32) -> Result<Findings, Failure> {
        let reader = RunReader::open(self.writer.dir())?;
        let cells: Vec<_> = reader.cells()?.into_iter().filter(|cell| cell.key.round < round).collect();
        let inventory = reader.inventory()?.unwrap_or_default();
        Ok(analyse::study(reader.provenance(), &inventory, &cells, &reader.builds()?))
    }

    /// Stacks in the order of a round.
    fn ordered(&self, round: u32) -> Vec<usize> {
        let stacks = self.stacks();
        if self.design.measure.stop_beyond.is_some() {
            return stacks;
        }
        let seed = self.design.measure.seed;
        let mut shuffled = order::shuffled(stacks.len(), seed, &format!("stacks of round {round}"));
        // Others are measured until they are decided beside the first stack, and a virtual clock does not mind what came before.
        if self.design.measure.windows_decide() && self.site.as_ref().is_some_and(|site| site.has_own_clock()) {
            shuffled.sort_by_key(|index| *index > 0);
        }
        shuffled.into_iter().map(|index| stacks[index]).collect()
    }

    /// Rounds with builds of their own: several where each stack has a guest of its own, else one.
    fn rounds(&mut self, rounds: &[u32], scope: &Scope) -> Result<(), Failure> {
        if self.costs.lanes.is_some() {
            return self.side_by_side(rounds, scope);
        }
        rounds.iter().try_for_each(|round| self.round(*round, scope))
    }

    /// One round with builds of its own.
    fn round(&mut self, round: u32, scope: &Scope) -> Result<(), Failure> {
        let stacks = self.ordered(round);
        if self.design.measure.replicate == Replicate::Slices {
            return self.visit(&[round], &stacks, scope);
        }
        if !self.any_pending(round, &stacks, scope) {
            return Ok(());
        }
        if self.stopped.is_none() {
            self.bare_control(round, terms::record::CONTROL_FIRST)?;
        }
        for index in stacks {
            if self.over_budget {
                return Ok(());
            }
            if self.stopped.is_some() {
                self.leave_out(round, index)?;
                continue;
            }
            self.visit(&[round], &[index], scope)?;
            self.judge_step(round, index)?;
        }
        if self.over_budget { Ok(()) } else { self.bare_control(round, terms::record::CONTROL_LAST) }
    }

    /// Rounds beyond the first ones were not in the estimate.
    fn extend_progress(&self, round: u32, scope: &Scope) {
        if let (Scope::Open(cells), true) = (scope, round > self.design.measure.rounds) {
            let stacks: BTreeSet<&String> = cells.iter().map(|(stack, _)| stack).collect();
            self.progress.extend(self.costs.round(self.design, stacks.len(), cells.len()));
            self.progress.expect(cells.len());
            self.progress.note(&format!(
                "round {round}: {} of {} cells are still open",
                cells.len(),
                self.stacks().len() * self.design.workloads.len()
            ));
        }
    }
}
