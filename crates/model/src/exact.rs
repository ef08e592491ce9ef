//! Exact mean value analysis of one class: the oracle of the approximate solver.
//!
//! Reiser and Lavenberg's recursion over the population. It takes time in proportion to it, and the approximation does not.

/// Operations per second of a closed network with these demands (seconds), each a queue with one server.
#[must_use]
pub fn exact(demands: &[f64], delay: f64, population: u32) -> f64 {
    let mut queues = vec![0.0; demands.len()];
    let mut throughput = 0.0;
    for customers in 1..=population {
        let responses: Vec<f64> = demands.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).collect();
        throughput = f64::from(customers) / (delay + responses.iter().sum::<f64>());
        for (queue, response) in queues.iter_mut().zip(&responses) {
            *queue = throughput * response;
        }
    }
    throughput
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::solve::{Demands, SLOTS, closed};

    fn demands(list: &[f64], delay: f64) -> Demands {
        let mut all = Demands {
            len: list.len(),
            demand: [0.0; SLOTS],
            residence: [0.0; SLOTS],
            following: [0.0; SLOTS],
            even: [0.0; SLOTS],
            classes: [1.0; SLOTS],
            delay,
            bound: 0.0,
            pieces: 1.0,
        };
        all.demand[..list.len()].copy_from_slice(list);
        all.residence[..list.len()].copy_from_slice(list);
        all
    }

    #[test]
    fn one_queue_is_always_busy() {
        assert!((exact(&[1e-3], 0.0, 8) - 1000.0).abs() < 1e-9);
        // Two equal queues, N operations: N / (N + 1) of the rate of one.
        assert!((exact(&[1e-3, 1e-3], 0.0, 4) - 800.0).abs() < 1e-9);
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few stations")]
    fn pick(chance: f64, stations: usize) -> usize {
        ((chance * f64::from(u32::try_from(stations).unwrap())) as usize).min(stations - 1)
    }

    /// Utilisation of stations that take one unit of time for everything, `population` going from one to any other.
    fn simulated(stations: usize, population: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut chance = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
        let mut queues = vec![0_u32; stations];
        for at in 0..population {
            queues[at % stations] += 1;
        }
        // Begun at once they would end in step: ends are spread over the unit instead.
        let mut ends: Vec<f64> = (0..stations).map(|_| chance()).collect();
        let (mut done, horizon) = (0_u32, 20_000.0);
        loop {
            let busy = (0..stations).filter(|at| queues[*at] > 0);
            let Some(at) = busy.min_by(|one, other| ends[*one].total_cmp(&ends[*other])) else { unreachable!() };
            let now = ends[at];
            if now > horizon {
                return f64::from(done) / horizon / f64::from(u32::try_from(stations).unwrap());
            }
            queues[at] -= 1;
            ends[at] = now + 1.0;
            done += 1;
            let next = pick(chance(), stations);
            if queues[next] == 0 {
                ends[next] = now + 1.0;
            }
            queues[next] += 1;
        }
    }

    #[test]
    fn equal_times_make_shorter_queues() {
        for (stations, population) in [(2, 8), (4, 8), (4, 32), (8, 32)] {
            let simulated = simulated(stations, population);
            let units = f64::from(u32::try_from(stations).unwrap());
            let mut one = demands(&[1.0 / units], 0.0);
            one.residence[0] = 1.0;
            let at =
                |demands: &Demands| closed(demands, f64::from(u32::try_from(population).unwrap())).throughput / units;
            let usual = at(&one);
            one.even[0] = 0.5;
            let even = at(&one);
            assert!((even - simulated).abs() < 0.06, "{stations} {population}: {simulated} {usual} {even}");
            assert!(
                (even - simulated).abs() < (usual - simulated).abs(),
                "{stations} {population}: {simulated} {usual} {even}"
            );
        }
    }

    #[test]
    fn a_thread_serves_its_own_job_alone() {
        // Four jobs of one operation each: 10 µs in the job's thread, 90 µs in a drive that none waits for.
        let mut jobs = demands(&[10e-6 / 4.0], 90e-6);
        jobs.residence[0] = 10e-6;
        assert!(closed(&jobs, 4.0).throughput < 39_900.0, "one queue for all");
        jobs.classes[0] = 4.0;
        assert!((closed(&jobs, 4.0).throughput - 40_000.0).abs() < 1e-3);
        // With two each, a job is a network of its own.
        let alone = exact(&[10e-6], 90e-6, 2);
        assert!((closed(&jobs, 8.0).throughput / (4.0 * alone) - 1.0).abs() < 0.01);
    }

    proptest! {
        /// The note that the solver was chosen by found 6.7 % at most on such networks.
        #[test]
        fn the_approximation_is_near(
            list in prop::collection::vec(1.0e-6..1.0e-4_f64, 2..8), delay in 0.0..1.0e-3_f64, population in 1u32..129,
        ) {
            let truth = exact(&list, delay, population);
            let near = closed(&demands(&list, delay), f64::from(population)).throughput;
            prop_assert!((near / truth - 1.0).abs() < 0.08, "{near} and {truth}");
        }

        #[test]
        fn nothing_is_busier_than_always(
            list in prop::collection::vec(1.0e-7..1.0e-3_f64, 1..8), delay in 0.0..1.0e-3_f64, population in 1.0..2000.0_f64,
        ) {
            let demands = demands(&list, delay);
            let found = closed(&demands, population).throughput;
            prop_assert!(found * demands.largest() <= 1.0 + 1e-9);
            prop_assert!(closed(&demands, population + 1.0).throughput >= found * (1.0 - 1e-5), "more depth is slower");
        }
    }
}
