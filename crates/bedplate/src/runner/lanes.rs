//! Guests side by side: under a clock of its own a guest does not mind who else works on this machine, so a study's stacks
//! are shared out to as many guests as it has processors and memory for.

use std::thread;

use host::{Host, Local};
use terms::units::KIB;
use terms::{Bytes, Design, Replicate};

use crate::exit::Failure;
use crate::runner::Runner;
use crate::runner::schedule::Scope;
use crate::site::Site;

/// How many guests work at once. Where figures follow what else this machine does it is one; and where a budget, a step or
/// a source asks for an order.
pub(crate) fn count(design: &Design, site: &Site) -> usize {
    let policy = &design.measure;
    let in_order = policy.budget.is_some()
        || policy.stop_beyond.is_some()
        || policy.replicate != Replicate::Rebuild
        || !design.sources.is_empty();
    if site.speed().is_none() || in_order {
        return 1;
    }
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let free = Local::new().read_text("/proc/meminfo").ok().and_then(|text| available(&text)).unwrap_or_default();
    // The first guest has its memory already.
    let more = free.0 / design.lab.memory.0.max(1);
    processors.min(usize::try_from(more).unwrap_or(0) + 1).min(design.stacks.len()).max(1)
}

/// Memory that new programs can have without swapping (proc_meminfo(5)).
fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| Bytes(kib.saturating_mul(KIB)))
}

impl<'a> Runner<'a> {
    /// Visits, each a round and the index of a stack, in all guests: each guest has the same ones, in the same order,
    /// whenever this run is made again.
    pub(crate) fn side_by_side(&mut self, visits: &[(u32, usize)], scope: &Scope) -> Result<(), Failure> {
        if !visits.iter().any(|(round, stack)| self.any_pending(*round, &[*stack], scope)) {
            return Ok(());
        }
        let mut others = std::mem::take(&mut self.beside);
        while others.len() + 1 < self.costs.lanes {
            others.push(self.another());
        }
        let share = |lane: usize| visits.iter().copied().skip(lane).step_by(self.costs.lanes).collect::<Vec<_>>();
        let shares: Vec<Vec<(u32, usize)>> = (0..self.costs.lanes).map(share).collect();
        let results = thread::scope(|threads| {
            let work = |runner: &mut Self, visits: &[(u32, usize)]| {
                visits.iter().try_for_each(|(round, stack)| runner.visit(&[*round], &[*stack], scope))
            };
            let others: Vec<_> = others
                .iter_mut()
                .zip(&shares[1..])
                .map(|(runner, visits)| {
                    threads.spawn(move || {
                        let result = work(runner, visits);
                        // The kernel ends a guest with the thread that booted it (PR_SET_PDEATHSIG).
                        runner.site = None;
                        result
                    })
                })
                .collect();
            let mut results = vec![work(self, &shares[0])];
            let joined =
                others.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            results.extend(joined);
            results
        });
        self.beside = others;
        results.into_iter().collect()
    }

    /// A runner of the same study whose guest is yet to be booted.
    fn another(&self) -> Self {
        Self {
            site: None,
            is_prepared: false,
            beside: Vec::new(),
            missing: self.missing.clone(),
            stopped: None,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(Bytes::mib(2)));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
