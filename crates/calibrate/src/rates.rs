//! What the processors do with bytes in memory: copying, exclusive or, SHA-256. Runs on the machine that is measured.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Bytes read and written by copies of large blocks on all threads, in a second.
    pub copied_bytes_per_second: f64,
    /// Bytes of a block that one thread combines with another block by exclusive or, data from memory, in a second.
    pub xored_bytes_per_second: f64,
    /// Bytes of which one thread makes SHA-256, in a second.
    pub sha256_bytes_per_second: f64,
}

/// Larger than any cache of a core.
const BLOCK: usize = 32 << 20;
/// What SHA-256 is made of: sectors.
const SECTOR: usize = 4096;
/// How long each is measured.
const WHILE: Duration = Duration::from_millis(400);

/// Measures all of them, in somewhat more than a second.
#[must_use]
pub fn rates(threads: usize) -> Rates {
    Rates {
        copied_bytes_per_second: copied(threads.clamp(1, 64)),
        xored_bytes_per_second: xored(),
        sha256_bytes_per_second: hashed(),
    }
}

fn copied(threads: usize) -> f64 {
    let one = || {
        let (from, mut to) = (vec![1_u8; BLOCK], vec![0_u8; BLOCK]);
        rate(2 * BLOCK, || {
            to.copy_from_slice(black_box(&from));
            // A copy that nobody looks at need not be made.
            black_box(&to);
        })
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    })
}

fn xored() -> f64 {
    let words = BLOCK / size_of::<u64>();
    let (from, mut to) = (vec![3_u64; words], vec![5_u64; words]);
    rate(BLOCK, || {
        for (to, from) in to.iter_mut().zip(black_box(&from)) {
            *to ^= from;
        }
        black_box(&to);
    })
}

fn hashed() -> f64 {
    let block = vec![7_u8; SECTOR];
    rate(SECTOR, || {
        black_box(Sha256::digest(black_box(&block)));
    })
}

/// Bytes per second of something that is done to so many bytes, once to warm up and then for a while.
#[expect(clippy::cast_precision_loss, reason = "bytes of less than a second")]
fn rate(bytes: usize, mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    let mut times: u64 = 0;
    while start.elapsed() < WHILE {
        work();
        times += 1;
    }
    times as f64 * bytes as f64 / start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_is_one() {
        let rates = rates(1);
        for rate in [rates.copied_bytes_per_second, rates.xored_bytes_per_second, rates.sha256_bytes_per_second] {
            assert!(rate.is_finite() && rate > 0.0);
        }
        // Both move about as many bytes; a copy that the compiler left out would take no time at all.
        assert!(rates.copied_bytes_per_second < rates.xored_bytes_per_second * 1e3, "{rates:?}");
    }
}
