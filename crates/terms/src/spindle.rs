//! A hard disk: what its data sheet tells, and from it how long its head takes.
//!
//! Everything is on one spiral that begins at the outer edge: its bits are equally dense, so a turn holds as many bytes
//! as its radius is long, and the rate falls in the same proportion. Going on along the spiral costs nothing but the
//! transfer: what heads and tracks cost when they are switched is in the rates that data sheets give for large
//! transfers. Distances are shares of the full stroke, so that a small drive seeks as a large one does.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Radius of the innermost turn where the outermost is 1, and so the least rate beside the largest. 3.5-inch drives
/// record between about 46 and 23 mm; that rates fall so is measured in Van Meter, "Observing the Effects of
/// Multi-Zone Disks", USENIX 1997. The half is a round figure.
const INNER: f64 = 0.5;

/// A way to the next track beside the average way: 1.0 ms of 8.5 ms, as data sheets of 7200 rpm drives have it
/// (Seagate Barracuda ST1000DM003, product manual 100686584).
const NEXT_TRACK: f64 = 1.0 / 8.5;

/// The shape of a seek, from Ruemmler and Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994,
/// table 2: the HP 97560 with 1962 cylinders takes 3.24 + 0.400 √d ms for up to 383 cylinders, 8.00 + 0.008 d ms for
/// more. Here as a share of the stroke, beside what a seek of no length would take.
mod shape {
    /// Cylinders of the whole stroke.
    const CYLINDERS: f64 = 1962.0;
    /// Where short seeks end, as a share of the stroke.
    const JOIN: f64 = 383.0 / CYLINDERS;
    /// What both formulas have besides the way, ms: the first while the head still gains speed.
    const SHORT: f64 = 3.24;
    const LONG: f64 = 8.00;
    /// ms for the root of a cylinder, and for a cylinder.
    const ROOT: f64 = 0.400;
    const LINE: f64 = 0.008;

    /// What a way of that share of the stroke takes beyond the shortest, in the drive's own ms.
    pub(super) fn rise(share: f64) -> f64 {
        let root = ROOT * (share.min(JOIN) * CYLINDERS).sqrt();
        // Both formulas meet within 5 µs; the larger is taken, or a further way could take less.
        if share <= JOIN { root } else { root.max(LONG - SHORT + LINE * share * CYLINDERS) }
    }

    /// The mean of [`rise`] over all pairs of places on the stroke, whose distances have the density 2 (1 - d).
    pub(super) fn mean_rise() -> f64 {
        let root = 2.0 * ROOT * CYLINDERS.sqrt() * (JOIN.powf(1.5) / 1.5 - JOIN.powf(2.5) / 2.5);
        let (still, slope) = (LONG - SHORT, LINE * CYLINDERS);
        let until = |d: f64| still * d + (slope - still) * d * d / 2.0 - slope * d * d * d / 3.0;
        root + 2.0 * (until(1.0) - until(JOIN))
    }
}

/// Turns between the longest and the shortest lap of a stream with 2 to 8 MiB under way: 1.3 on the lab's own drive
/// (`laps_of_a_stream…` in crates/lab/src/disk/queue/tests.rs), and room for orders that were not tried. Their standard
/// deviation is that of what lies anywhere between.
const LAPS_APART: f64 = 2.0;

/// What the data sheet of a hard disk tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spindle {
    /// Turns in a minute.
    pub rpm: u32,
    /// Bytes in a second at the outermost turn.
    #[serde(rename = "outer_bytes_per_second")]
    pub outer: Bytes,
    /// The average way of the head, over all pairs of places.
    #[serde(rename = "seek_ns")]
    pub seek: Nanos,
    /// What its volatile write cache takes.
    #[serde(rename = "cache_bytes")]
    pub cache: Bytes,
    /// Is every write on the platter when it is answered? The cache then only sorts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub write_through: bool,
}

impl Default for Spindle {
    /// 7200 rpm, 200 MB/s and 8.5 ms: a desktop drive of the 2010s (Seagate ST1000DM003: 210 MB/s, under 8.5 ms). Its
    /// cache of 64 MiB is made smaller as lab drives are smaller: 8 MiB.
    fn default() -> Self {
        Self {
            rpm: 7200,
            outer: Bytes(200_000_000),
            seek: Nanos(8_500_000),
            cache: Bytes::mib(8),
            write_through: false,
        }
    }
}

impl Spindle {
    /// The mechanics of a drive of that size.
    #[must_use]
    pub fn mechanics(&self, size: Bytes) -> Mechanics {
        let turn = 60.0 / f64::from(self.rpm.max(1));
        let outer = self.outer.as_f64().max(1.0);
        let size = size.as_f64().max(1.0);
        let seek = self.seek.as_seconds();
        Mechanics {
            size,
            turn,
            outer,
            turns: size / (outer * turn * f64::midpoint(1.0, INNER)),
            next: seek * NEXT_TRACK,
            slope: seek * (1.0 - NEXT_TRACK) / shape::mean_rise(),
        }
    }
}

/// How long the head of a drive takes; places are bytes from the drive's beginning, which is at the outer edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mechanics {
    /// Bytes of the drive.
    size: f64,
    /// Seconds of a turn.
    turn: f64,
    /// Bytes in a second at the outer edge.
    outer: f64,
    /// Turns of the whole spiral.
    turns: f64,
    /// Seconds to the next track.
    next: f64,
    /// Seconds for what the shape calls a millisecond.
    slope: f64,
}

impl Mechanics {
    /// One turn.
    #[must_use]
    pub fn turn(&self) -> Nanos {
        Nanos::from_seconds(self.turn)
    }

    /// How sure the rate of accesses in order is that go round a span again and again, as a standard error of its logarithm. A
    /// lap from one place to the same place takes whole turns of the platter. What the drive takes first at the end of a lap, when
    /// requests for the end and the beginning wait together, makes it some turns more or less; every lap does the same.
    #[must_use]
    pub fn lap_error(&self, span: Bytes, rate: BytesPerSecond) -> f64 {
        self.turn * LAPS_APART / 12_f64.sqrt() * rate.0 / span.as_f64()
    }

    /// Radius at a place, the outermost being 1: the square falls evenly, as the area does.
    fn radius(&self, place: Bytes) -> f64 {
        let share = (place.as_f64() / self.size).clamp(0.0, 1.0);
        (1.0 - (1.0 - INNER * INNER) * share).sqrt()
    }

    /// How far along the stroke a place is, 0 to 1.
    fn stroke(&self, place: Bytes) -> f64 {
        (1.0 - self.radius(place)) / (1.0 - INNER)
    }

    /// Turns of the spiral before a place.
    fn turns_before(&self, place: Bytes) -> f64 {
        self.turns * self.stroke(place)
    }

    /// Bytes in a second where a place is.
    #[must_use]
    pub fn rate(&self, place: Bytes) -> BytesPerSecond {
        BytesPerSecond(self.outer * self.radius(place))
    }

    /// Bytes of the turn where a place is.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a turn is some MB, never below 0")]
    pub fn track(&self, place: Bytes) -> Bytes {
        Bytes((self.rate(place).0 * self.turn) as u64)
    }

    /// The way of the head between two places. None within a turn of one another: it is on that track already.
    #[must_use]
    pub fn seek(&self, from: Bytes, to: Bytes) -> Nanos {
        self.seek_along((self.stroke(to) - self.stroke(from)).abs())
    }

    /// The way of the head over that share of the stroke.
    fn seek_along(&self, way: f64) -> Nanos {
        if way * self.turns < 1.0 {
            return Nanos(0);
        }
        Nanos::from_seconds(self.next + self.slope * shape::rise(way))
    }

    /// From one place to a later one under the head.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    pub fn transfer(&self, from: Bytes, to: Bytes) -> Nanos {
        // Rounded down: what follows is then still a little ahead of the head, and not just past it.
        Nanos(((self.turns_before(to) - self.turns_before(from)).max(0.0) * self.turn * 1e9) as u64)
    }

    /// What lies between the head and a transfer that begins at `to`: the way, and the rest of the turn until that
    /// place comes by. `at` is the time on a clock by which the drive has always turned.
    #[must_use]
    pub fn access(&self, at: Nanos, from: Bytes, to: Bytes) -> Nanos {
        self.accesses(at, from)(to)
    }

    /// The same for all places that the head could go to from one place.
    pub fn accesses(&self, at: Nanos, from: Bytes) -> impl Fn(Bytes) -> Nanos {
        /// What rounding may take from a turn, in turns: a place missed by less was not missed.
        const SLACK: f64 = 1e-5;
        let head = self.stroke(from);
        move |to| {
            let place = self.stroke(to);
            let seek = self.seek_along((place - head).abs());
            let arrived = Nanos(at.0.saturating_add(seek.0)).as_seconds() / self.turn;
            let ahead = fraction(self.turns * place - arrived);
            let wait = if ahead > 1.0 - SLACK { 0.0 } else { ahead };
            Nanos(seek.0.saturating_add(Nanos::from_seconds(wait * self.turn).0))
        }
    }

    /// Where the head is after it followed the spiral for a time; the end of the drive is the furthest.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the drive")]
    pub fn follow(&self, from: Bytes, time: Nanos) -> Bytes {
        let turns = self.turns_before(from) + time.as_seconds() / self.turn;
        let radius = 1.0 - (1.0 - INNER) * (turns / self.turns).min(1.0);
        let share = (1.0 - radius * radius) / (1.0 - INNER * INNER);
        Bytes((share * self.size) as u64).max(from)
    }

    /// The average time of a random access of some bytes with nothing else under way, within the first `span` bytes.
    /// Half a turn is waited for on average.
    #[must_use]
    pub fn alone(&self, span: Bytes, bytes: Bytes) -> Nanos {
        /// Places that stand for the span: all pairs of them.
        const PLACES: u64 = 32;
        let place = |at: u64| Bytes(span.0 / PLACES * at);
        let pairs = (0..PLACES).flat_map(|a| (0..PLACES).map(move |b| (a, b)));
        let sum: f64 = pairs.map(|(a, b)| self.seek(place(a), place(b)).as_seconds()).sum();
        let count = f64::from(u32::try_from(PLACES * PLACES).unwrap_or(u32::MAX));
        Nanos::from_seconds(sum / count + self.turn / 2.0 + bytes.as_f64() / self.rate(Bytes(span.0 / 2)).0)
    }
}

/// What is above the next lower whole number, as `rem_euclid(1.0)` has it: a drive asks this for all places that it could
/// go to, and the remainder of a division was half of that.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "turns of a drive are few beside 2^53"
)]
fn fraction(number: f64) -> f64 {
    let rest = number - (number as i64) as f64;
    if rest < 0.0 { rest + 1.0 } else { rest }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::drive::{LabDrive, LabDriveKind};
    use crate::name::Name;

    fn usual() -> Mechanics {
        Spindle::default().mechanics(Bytes::mib(768))
    }

    #[test]
    fn the_average_way_is_the_one_that_was_told() {
        // Places evenly along the stroke, as the average is defined.
        let shape = |share: f64| Nanos::from_seconds(usual().next + usual().slope * shape::rise(share)).as_seconds();
        let steps = 2000;
        let at = |step: i32| f64::from(step) / f64::from(steps);
        let mean: f64 = (0..steps).map(|step| shape(at(step)) * 2.0 * (1.0 - at(step)) / f64::from(steps)).sum();
        assert!((mean - 8.5e-3).abs() < 0.05e-3, "{mean}");
        // The full stroke takes about twice the average, as data sheets of such drives have it.
        let full = usual().seek(Bytes(0), Bytes::mib(768)).as_seconds();
        assert!((1.8..2.3).contains(&(full / 8.5e-3)), "{full}");
    }

    #[test]
    fn a_record_keeps_it_and_older_ones_have_none() {
        let plain = LabDrive::new(Name::new("a").unwrap(), Bytes::mib(64));
        let hdd = LabDrive { kind: LabDriveKind::Hdd, spindle: Some(Spindle::default()), ..plain.clone() };
        let text = serde_json::to_string(&hdd).unwrap();
        assert!(text.contains(r#""kind":"hdd""#) && text.contains(r#""seek_ns":8500000"#), "{text}");
        assert_eq!(serde_json::from_str::<LabDrive>(&text).unwrap(), hdd);
        let text = serde_json::to_string(&plain).unwrap();
        assert!(!text.contains("spindle"), "{text}");
        assert_eq!(serde_json::from_str::<LabDrive>(&text).unwrap(), plain);
    }

    #[test]
    fn the_inner_edge_has_half_the_rate_of_the_outer() {
        let drive = usual();
        let (outer, inner) = (drive.rate(Bytes(0)).0, drive.rate(Bytes::mib(768)).0);
        assert!((outer - 200e6).abs() < 1.0 && (inner - 100e6).abs() < 1.0, "{outer} {inner}");
        let whole = drive.transfer(Bytes(0), Bytes::mib(768)).as_seconds();
        let mean = Bytes::mib(768).as_f64() / whole;
        assert!((mean - 150e6).abs() < 1e5, "{mean}");
    }

    #[test]
    fn half_a_turn_is_waited_for_on_average() {
        let drive = usual();
        let waits = (0..5000u64).map(|at| {
            let (time, to) = (Nanos(at * 7_777_777), Bytes((at * 104_729 * 4096) % Bytes::mib(768).0));
            drive.access(time, to, to).as_seconds()
        });
        let mean = waits.sum::<f64>() / 5000.0;
        assert!((mean / drive.turn().as_seconds() - 0.5).abs() < 0.02, "{mean}");
    }

    fn spindles() -> impl Strategy<Value = (Mechanics, u64)> {
        let sizes = (32u64..4_000_000).prop_map(Bytes::mib);
        (5400u32..=15_000, 20u64..300, 2u64..20, sizes).prop_map(|(rpm, outer, seek, size)| {
            let (outer, seek) = (Bytes(outer * 1_000_000), Nanos::millis(seek));
            (Spindle { rpm, outer, seek, ..Spindle::default() }.mechanics(size), size.0)
        })
    }

    proptest! {
        #[test]
        fn a_further_way_never_takes_less((drive, size) in spindles(), places in any::<[u64; 3]>()) {
            let mut places = places.map(|place| Bytes(place % size));
            places.sort_unstable();
            let [a, b, c] = places;
            prop_assert!(drive.seek(a, b) <= drive.seek(a, c));
            prop_assert!(drive.seek(b, c) <= drive.seek(a, c));
            prop_assert_eq!(drive.seek(a, c), drive.seek(c, a));
        }

        #[test]
        fn going_on_where_the_last_ended_is_transfer_only(
            (drive, size) in spindles(), from in any::<u64>(), blocks in prop::collection::vec(1u64..256, 1..200),
        ) {
            let mut place = Bytes(from % (size / 2));
            let mut clock = drive.access(Nanos(0), Bytes(0), place);
            let (start, first) = (clock, place);
            for block in blocks {
                let end = Bytes((place.0 + block * 4096).min(size));
                let access = drive.access(clock, place, place);
                prop_assert!(access.0 < 2000, "{}", access);
                clock = Nanos(clock.0 + access.0 + drive.transfer(place, end).0);
                place = end;
            }
            let whole = drive.transfer(first, place);
            prop_assert!((clock.0 - start.0).abs_diff(whole.0) < 2000 + whole.0 / 1000);
        }

        #[test]
        fn an_access_is_at_most_its_way_and_a_turn((drive, size) in spindles(), at: u32, places in any::<[u64; 2]>()) {
            let [from, to] = places.map(|place| Bytes(place % size));
            let (way, whole) = (drive.seek(from, to), drive.access(Nanos(u64::from(at)), from, to));
            prop_assert!(whole >= way && whole.0 <= way.0 + drive.turn().0 + 1);
        }

        #[test]
        fn the_head_is_where_the_transfer_ends((drive, size) in spindles(), from in any::<u64>(), len in 1u64..4096) {
            let from = Bytes(from % (size / 2));
            let to = Bytes((from.0 + len * 4096).min(size));
            let reached = drive.follow(from, drive.transfer(from, to));
            // Whole nanoseconds: less than a few bytes, and less than a block at any rate.
            prop_assert!(reached.0.abs_diff(to.0) < 512, "{} {}", reached.0, to.0);
        }
    }
}
