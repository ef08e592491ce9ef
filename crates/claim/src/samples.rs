//! Data that no signature tells of: encryption without a header, a raw database, a file system nobody knows.

use host::{Host, HostError};
use terms::signature::{HEAD, TAIL};
use terms::units::{KIB, MIB};

use crate::device::Device;
use crate::examination::Class;
use crate::log::Log;
use crate::signature::places_of_marks;

/// One sample, as long as the blocks of most file systems.
const SAMPLE: u64 = 4 * KIB;
/// Samples between the ends. Something that fills 5 % of a drive in one piece is missed by none of them; scattered over it,
/// in less than 0.2 % of cases (0.95 to the power of 128).
const SPREAD: u64 = 128;
/// Bits per byte from which data looks like chance: 4 KiB of chance have 7.95 (measured), text has 4 to 5.
const CHANCE: f64 = 7.5;

/// Reads samples and reports what is not zero. Wherever a format may keep a mark all is read: that is where most things begin and
/// end, where those keep theirs that no tool knows, and what an erasing writes over whole.
pub(crate) fn report(host: &dyn Host, device: &Device, log: &mut Log) -> Result<(), HostError> {
    let node = device.node();
    let mut seen = Seen::default();
    let mut places = places_of_marks(device.size);
    places.extend(spread(device.size.0).into_iter().map(|place| (place, SAMPLE)));
    for (place, length) in places {
        // A few MiB at most, so it fits.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let Some(bytes) = log.proven("its content", host.read_at(&node, place, length))? else { return Ok(()) };
        if bytes.len() != length as usize {
            log.unknown(format!("its content ends at byte {} already", place + bytes.len() as u64));
            return Ok(());
        }
        for (at, block) in bytes.chunks(SAMPLE as usize).enumerate() {
            seen.take(place + at as u64 * SAMPLE, block);
        }
    }
    if seen.filled > 0 {
        log.add(Class::Holds, seen.describe(), format!("hexdump -C -n 4096 -s {} {node}", seen.first.unwrap_or(0)));
    }
    Ok(())
}

/// Where ext4 keeps the first copy of its superblock, by blocks of 1, 2 and 4 KiB (kernel, Documentation/filesystems/ext4,
/// "Super Block"), and XFS that of a quarter (xfsprogs, libxfs/topology.c, `calc_default_ag_geometry`): what is left of a file
/// system whose beginning is gone. No mark is made of them, for nothing takes them away with the file system.
fn copies(size: u64) -> impl Iterator<Item = u64> {
    let quarter = (size / SAMPLE).div_ceil(4) * SAMPLE;
    [8 * MIB, 32 * MIB, 128 * MIB].into_iter().chain((1..4).map(move |number| number * quarter))
}

/// Places between the ends: one somewhere in each of equal parts, and where copies lie. Always the same for the same size.
fn spread(size: u64) -> Vec<u64> {
    let end = size.saturating_sub(TAIL);
    if end < HEAD + SAMPLE {
        return Vec::new();
    }
    let last = (end - SAMPLE) / SAMPLE;
    let first = HEAD / SAMPLE;
    let part = (last - first) / SPREAD;
    // Not at equal distances: what is written in equal strides should not slip through.
    let jitter = |n: u64| if part == 0 { 0 } else { n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % part };
    let mut places: Vec<u64> = (0..SPREAD).map(|n| (first + n * part + jitter(n)) * SAMPLE).collect();
    places.extend(copies(size).filter(|place| *place >= HEAD && place + SAMPLE <= end));
    places.sort_unstable();
    places.dedup();
    places
}

/// What the samples were.
#[derive(Debug, Default)]
struct Seen {
    all: u64,
    filled: u64,
    first: Option<u64>,
    counts: Vec<u64>,
}

impl Seen {
    fn take(&mut self, place: u64, block: &[u8]) {
        self.all += 1;
        if block.iter().all(|byte| *byte == 0) {
            return;
        }
        self.filled += 1;
        self.first.get_or_insert(place);
        self.counts.resize(256, 0);
        for byte in block {
            self.counts[usize::from(*byte)] += 1;
        }
    }

    fn describe(&self) -> String {
        let entropy = entropy(&self.counts);
        let kind = match self.counts.iter().filter(|count| **count > 0).count() {
            1 => "all of one byte".to_owned(),
            _ if entropy >= CHANCE => format!("entropy {entropy:.2} bits per byte: encrypted or compressed"),
            _ => format!("entropy {entropy:.2} bits per byte"),
        };
        format!("data nobody knows: {} of {} samples are not zero, {kind}", self.filled, self.all)
    }
}

/// Shannon's, in bits per byte.
fn entropy(counts: &[u64]) -> f64 {
    let all: u64 = counts.iter().sum();
    let share = |count: &u64| *count as f64 / all as f64;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use terms::Bytes;

    use super::*;

    #[test]
    fn data_is_told_by_its_entropy() {
        let mut seen = Seen::default();
        seen.take(0, &[0; 4096]);
        assert_eq!((seen.all, seen.filled), (1, 0));
        seen.take(4096, &[0xff; 4096]);
        assert!(seen.describe().contains("1 of 2 samples are not zero, all of one byte"), "{}", seen.describe());
        // xorshift64: as good as chance for this.
        let mut state = 88_172_645_463_325_252_u64;
        let mut chance = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        };
        let mut seen = Seen::default();
        seen.take(0, &std::iter::repeat_with(&mut chance).take(4096).collect::<Vec<_>>());
        assert!(seen.describe().contains("encrypted or compressed"), "{}", seen.describe());
        assert!((entropy(&[1, 1, 1, 1]) - 2.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn samples_are_between_the_ends_which_are_read_whole(size in 0_u64..1 << 44) {
            let places = spread(size);
            prop_assert!(places.iter().all(|place| *place >= HEAD && place + SAMPLE <= size - TAIL));
            prop_assert_eq!(places.is_empty(), size < HEAD + TAIL + SAMPLE);
            let read = places_of_marks(Bytes(size));
            let is_read = |byte: u64| read.iter().any(|(place, length)| (*place..place + length).contains(&byte));
            for near in [0, 1, HEAD - 1, TAIL - 1].into_iter().filter(|near| *near < size) {
                prop_assert!(is_read(near) && is_read(size - 1 - near.min(TAIL - 1)));
            }
        }
    }
}
