//! A hard disk, from its description: what its head does for accesses in order and at random.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use terms::machine::{DriveGroup, DriveKind, Rated, Trust};
use terms::{Bytes, BytesPerSecond, Iops, LabDrive, Mechanics, Nanos};

use crate::site::{Class, SHORT_WAY};

/// Reads that the drive sorts at once: QEMU keeps 16 requests under way on the socket that it reaches such a drive by
/// (`MAX_NBD_REQUESTS` in its `block/nbd.c`), fewer than the 32 tags of SATA.
const READS: usize = 16;
/// Writes of the cache that the drive sorts at once.
const WRITES: usize = 32;
/// Accesses that are gone through: the mean is then within a percent or two.
const ACCESSES: u32 = 2000;
/// Seed of the places: the same description has the same figures.
const SEED: u64 = 0x7370_696e_6e69_6e67;
/// A block of a random access.
const BLOCK: u64 = 4096;

/// Seconds of the average way over all of a hard disk (data sheets: 8.0 to 9.0 ms), which grows with the root of the distance
/// (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994).
const LONG_WAY: f64 = 8.5e-3;
/// What is smaller is a partition of a hard disk, in bytes: they are sold from 1 TB up.
const SMALLEST: f64 = 1e12;

impl Class {
    /// How many times as long a head takes to a place of so many bytes as with a short way.
    pub(crate) fn reach(&self, span: f64) -> f64 {
        let Some(size) = self.size.filter(|_| self.kind == DriveKind::Hdd) else { return 1.0 };
        self.way(span / size.max(SMALLEST))
    }

    /// The same over a share of a file system that has all of a drive; one of which no size is known is no partition.
    pub(crate) fn reach_in_all(&self, share: f64) -> f64 {
        self.way(share * self.size.map_or(1.0, |size| size / size.max(SMALLEST)))
    }

    fn way(&self, share: f64) -> f64 {
        let way = SHORT_WAY + (LONG_WAY - SHORT_WAY) * share.clamp(0.0, 1.0).sqrt();
        (self.turn / 2.0 + way) / (self.turn / 2.0 + SHORT_WAY)
    }
}

/// What is known of a lab hard disk; `None` for all others. Accesses lie within its first `span` bytes: that is
/// where file systems begin to write.
pub(crate) fn described(drive: &LabDrive, span: Bytes) -> Option<DriveGroup> {
    let spindle = drive.spindle?;
    let mechanics = spindle.mechanics(drive.size);
    let span = Bytes(span.0.clamp(BLOCK, drive.size.0.max(BLOCK)));
    let stream = BytesPerSecond(span.as_f64() / mechanics.transfer(Bytes(0), span).as_seconds().max(1e-9));
    let alone = mechanics.alone(span, Bytes(BLOCK));
    let write_iops = sorted(&mechanics, span, WRITES);
    let rated = Rated {
        read: Some(stream),
        write: Some(stream),
        read_iops: Some(sorted(&mechanics, span, READS)),
        write_iops: Some(write_iops),
        read_latency: Some(alone),
        // Its cache takes it; over time one is answered for each that reaches the platter.
        write_latency: Some(Nanos::from_seconds(1.0 / write_iops.0)),
        flush: Some(alone),
        write_cache: Some(true),
        ..Rated::NOTHING
    };
    // The mechanics are exact; where a file system puts things is not known. As sure as a data sheet.
    let group = DriveGroup::unknown(drive.name.clone(), DriveKind::Hdd);
    Some(DriveGroup { rated, trust: Trust::Sheet, ..group })
}

/// Random accesses in a second when so many are waiting and the next is always the one that is reached soonest.
fn sorted(mechanics: &Mechanics, span: Bytes, waiting: usize) -> Iops {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut place = || Bytes(rng.next_u64() % (span.0 / BLOCK).max(1) * BLOCK);
    let mut queue: Vec<Bytes> = (0..waiting).map(|_| place()).collect();
    let (mut clock, mut head) = (Nanos(0), Bytes(0));
    for _ in 0..ACCESSES {
        let ways = queue.iter().map(|to| mechanics.access(clock, head, *to)).enumerate();
        let Some((at, way)) = ways.min_by_key(|(_, way)| *way) else { break };
        let (from, to) = (queue[at], Bytes(queue[at].0 + BLOCK));
        clock = Nanos(clock.0 + way.0 + mechanics.transfer(from, to).0);
        (head, queue[at]) = (to, place());
    }
    Iops(f64::from(ACCESSES) / clock.as_seconds().max(1e-9))
}

#[cfg(test)]
mod tests {
    use terms::{LabDriveKind, Name, Spindle};

    use super::*;

    fn group(spindle: Spindle, span: Bytes) -> Rated {
        let plain = LabDrive::new(Name::new("a").unwrap(), Bytes::mib(768));
        described(&LabDrive { kind: LabDriveKind::Hdd, spindle: Some(spindle), ..plain }, span).unwrap().rated
    }

    #[test]
    fn a_drive_is_known_by_its_description() {
        let usual = group(Spindle::default(), Bytes::mib(768));
        let alone = 1.0 / usual.read_latency.unwrap().as_seconds();
        let (reads, writes) = (usual.read_iops.unwrap().0, usual.write_iops.unwrap().0);
        assert!(alone * 1.5 < reads && reads < writes && writes < alone * 5.0, "{alone} {reads} {writes}");
        let faster = group(Spindle { rpm: 15_000, ..Spindle::default() }, Bytes::mib(768));
        assert!(faster.read_iops.unwrap().0 > reads);
        let near = group(Spindle::default(), Bytes::mib(128));
        assert!(near.read_iops.unwrap().0 > reads && near.read.unwrap().0 > usual.read.unwrap().0);
        assert_eq!(described(&LabDrive::new(Name::new("a").unwrap(), Bytes::gib(1)), Bytes::gib(1)), None);
    }
}
