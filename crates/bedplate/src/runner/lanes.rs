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
    let more = free.0 / design.lab.memory.0.saturating_add(lab::BROUGHT.0);
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
        // What a visit takes follows from what is built and how often it is measured; no more has to be known of it.
        let weight = |stack: usize| self.plans[stack].steps.len() + self.design.workloads.len();
        let shares = shares(visits, self.costs.lanes, weight);
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

/// Visits shared out: the heaviest first, each to whoever has least by then (Graham, "Bounds on multiprocessing timing
/// anomalies", SIAM Journal on Applied Mathematics 17, 1969). Each share keeps the order of all.
fn shares(visits: &[(u32, usize)], lanes: usize, weight: impl Fn(usize) -> usize) -> Vec<Vec<(u32, usize)>> {
    let mut heaviest: Vec<usize> = (0..visits.len()).collect();
    heaviest.sort_by_key(|at| std::cmp::Reverse(weight(visits[*at].1)));
    let mut shares = vec![(0, Vec::new()); lanes];
    for at in heaviest {
        if let Some((load, share)) = shares.iter_mut().min_by_key(|(load, _)| *load) {
            *load += weight(visits[at].1);
            share.push(at);
        }
    }
    let in_order = |(_, mut share): (usize, Vec<usize>)| {
        share.sort_unstable();
        share.into_iter().map(|at| visits[at]).collect()
    };
    shares.into_iter().map(in_order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_guest_has_much_more_to_do_than_another() {
        let visits: Vec<(u32, usize)> =
            [3, 1, 0, 4, 2, 2, 0, 4, 1, 3].into_iter().zip(1..).map(|(s, r)| (r, s)).collect();
        let weights = [6, 8, 8, 10, 6];
        let found = shares(&visits, 2, |stack| weights[stack]);
        let loads: Vec<usize> = found.iter().map(|share| share.iter().map(|visit| weights[visit.1]).sum()).collect();
        assert_eq!(loads, [38, 38]);
        assert!(found.iter().all(|share| share.is_sorted()), "in the order of all: {found:?}");
        let mut all = found.concat();
        all.sort_unstable();
        assert_eq!(all, visits);
        assert_eq!(shares(&visits[..1], 3, |_| 1), [vec![visits[0]], vec![], vec![]]);
    }

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(Bytes::mib(2)));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
