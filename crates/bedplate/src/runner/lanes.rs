//! Guests side by side: under a clock of its own a guest does not mind who else works on this machine, so each stack has a
//! guest of its own, and as many work at once as there are processors and memory for. What a cell finds then follows from
//! its stack alone: not from other stacks, and not from how many processors this machine has.

use std::sync::{Mutex, PoisonError};
use std::thread;

use host::Local;
use terms::{Design, Replicate};

use crate::exit::Failure;
use crate::runner::Runner;
use crate::runner::schedule::Scope;

/// How many guests work at once where each stack has one of its own. `None` where one machine has them all: where figures
/// follow what else this machine does, and where a budget, a step or a source asks for an order.
pub(crate) fn count(design: &Design, is_virtual: bool) -> Option<usize> {
    let policy = &design.measure;
    let in_order = policy.budget.is_some()
        || policy.stop_beyond.is_some()
        || policy.replicate != Replicate::Rebuild
        || !design.sources.is_empty();
    if !is_virtual || in_order {
        return None;
    }
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let free = host::available_memory(&Local::new()).unwrap_or_default();
    // That of the guest that looked at the machine is free before the first of these.
    let more = free.0 / design.lab.memory.0.saturating_add(lab::BROUGHT.0);
    Some(processors.min(usize::try_from(more).unwrap_or(0) + 1).min(design.stacks.len()).max(1))
}

/// A stack by its index, and its rounds.
type Job = (usize, Vec<u32>);

impl<'a> Runner<'a> {
    /// Rounds of stacks, each stack in a fresh guest.
    pub(crate) fn side_by_side(&mut self, rounds: &[u32], scope: &Scope) -> Result<(), Failure> {
        let pending = |round: &u32, stack| self.any_pending(*round, &[stack], scope);
        let jobs = self.stacks().into_iter().map(|stack| {
            let rounds: Vec<u32> = rounds.iter().copied().filter(|round| pending(round, stack)).collect();
            (stack, rounds)
        });
        let mut jobs: Vec<Job> = jobs.filter(|(_, rounds)| !rounds.is_empty()).collect();
        // Others are measured until they are decided beside the first stack.
        if self.design.measure.windows_decide() && jobs.first().map(|(stack, _)| stack) == self.stacks().first() {
            self.in_guest_of_its_own(&jobs.remove(0), scope)?;
        }
        // What a stack takes follows from what is built and how often it is measured; no more has to be known of it.
        let jobs = Mutex::new(heaviest_last(jobs, |stack| self.plans[stack].steps.len() + self.design.workloads.len()));
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = |runner: &mut Self| {
            while let Some(job) = next() {
                let result = runner.in_guest_of_its_own(&job, scope);
                if result.is_err() {
                    jobs.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    return result;
                }
            }
            Ok(())
        };
        thread::scope(|threads| {
            let others = 1..self.costs.at_once();
            let others: Vec<_> = others
                .map(|_| {
                    let mut runner = self.another();
                    threads.spawn(move || work(&mut runner))
                })
                .collect();
            let mut results = vec![work(self)];
            let joined =
                others.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            results.extend(joined);
            results.into_iter().collect()
        })
    }

    /// The rounds of a stack. The kernel ends a guest with the thread that booted it (PR_SET_PDEATHSIG).
    fn in_guest_of_its_own(&mut self, (stack, rounds): &Job, scope: &Scope) -> Result<(), Failure> {
        let result = rounds.iter().try_for_each(|round| self.visit(&[*round], &[*stack], scope));
        self.site = None;
        result
    }

    /// A runner of the same study whose guest is yet to be booted.
    fn another(&self) -> Self {
        Self { site: None, is_prepared: false, missing: self.missing.clone(), stopped: None, ..*self }
    }
}

/// The heaviest is taken first, from the end (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied
/// Mathematics 17, 1969).
fn heaviest_last(mut jobs: Vec<Job>, weight: impl Fn(usize) -> usize) -> Vec<Job> {
    jobs.sort_by_key(|(stack, rounds)| weight(*stack) * rounds.len());
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_that_takes_longest_is_taken_first() {
        let jobs = vec![(0, vec![1, 2]), (1, vec![1]), (2, vec![1, 2, 3])];
        let found = heaviest_last(jobs, |stack| [6, 8, 5][stack]);
        assert_eq!(found.into_iter().map(|(stack, _)| stack).collect::<Vec<_>>(), [1, 0, 2]);
    }
}
