//! Random choices, all from one recorded seed: the same seed gives the same order on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A generator for one choice. Choices are distinguished by their label, so that none depends on how many came before:
/// a resumed run chooses as the whole one would have.
fn generator(seed: u64, label: &str) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(label.as_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}

/// The numbers below `count` in a random order (Fisher and Yates).
pub(crate) fn shuffled(count: usize, seed: u64, label: &str) -> Vec<usize> {
    let mut generator = generator(seed, label);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, below(&mut generator, last + 1));
    }
    order
}

/// A number below `bound`; the bias of the remainder is below 2^-50 for any count of stacks.
fn below(generator: &mut ChaCha8Rng, bound: usize) -> usize {
    usize::try_from(generator.next_u64() % bound as u64).unwrap_or(0)
}

/// A seed for one fio job: below 2^31, which every fio takes.
pub(crate) fn job_seed(seed: u64, label: &str) -> u64 {
    generator(seed, label).next_u64() >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_whole_and_repeatable() {
        let order = shuffled(19, 1, "stacks of round 1");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..19).collect::<Vec<_>>());
        assert_eq!(order, shuffled(19, 1, "stacks of round 1"));
        assert_ne!(order, shuffled(19, 1, "stacks of round 2"));
        assert_ne!(order, shuffled(19, 2, "stacks of round 1"));
        assert!(shuffled(0, 1, "none").is_empty());
    }

    #[test]
    fn every_place_is_reached_by_everyone() {
        // 4000 shuffles of 4: each number stands first about 1000 times.
        let mut first = [0; 4];
        for label in 0..4000 {
            first[shuffled(4, 7, &label.to_string())[0]] += 1;
        }
        assert!(first.iter().all(|count| (850..1150).contains(count)), "{first:?}");
    }
}
