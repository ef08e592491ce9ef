//! The example of docs/durability.md, by hand: four drives of 2 TB, of which one in a hundred fails in a year, back after
//! 48 hours, one unreadable block in 1e16 bits.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use durability::{Arrangement, Circumstances, Hazards, loss};
use terms::durability::{Cause, Healing, Spread};

/// Bytes of each drive.
const DRIVE: f64 = 2e12;
/// Hours of a year.
const YEAR: f64 = 8766.0;

fn drive() -> Arrangement<Hazards> {
    let unreadable = DRIVE * 8.0 * 1e-16;
    Arrangement::Drive(Hazards { failures: 0.01, unreadable, latent: 0.0, silent: 0.0, waiting: 0.0 })
}

fn group(count: usize, survives: usize) -> Arrangement<Hazards> {
    Arrangement::Group { members: vec![drive(); count], survives }
}

/// Too many drives at once, and an unreadable block in a rebuild, in a year.
fn year(drives: Arrangement<Hazards>, correlation: f64) -> (f64, f64) {
    let circumstances = Circumstances {
        drives,
        window: 48.0 / YEAR,
        correlation,
        common: 0.0,
        healing: Healing::Repaired,
        stored: DRIVE,
        block: 4096.0,
        region: 65536.0,
    };
    let loss = loss(Spread::exactly(&circumstances));
    let of = |cause| loss.of(cause).unwrap().probability.middle;
    (of(Cause::DrivesTogether), of(Cause::UnreadableBlock))
}

#[test]
fn four_drives_of_two_terabytes_lose_what_the_table_says() {
    let pairs = || Arrangement::All(vec![group(2, 1), group(2, 1)]);
    let stripe = || Arrangement::All(vec![drive(); 4]);
    for (name, drives, alone, together, unreadable) in [
        ("RAID-0", stripe(), 3.9e-2, 3.9e-2, 0.0),
        ("RAID-10", pairs(), 2.2e-6, 2.2e-4, 6.4e-5),
        ("RAID-5", group(4, 1), 6.6e-6, 6.6e-4, 1.9e-4),
        ("RAID-6", group(4, 2), 3.6e-10, 3.6e-6, 2e-8),
    ] {
        let near = |found: f64, expected: f64| (found - expected).abs() <= 0.055 * expected;
        let (independent, correlated) = (year(drives.clone(), 1.0), year(drives, 100.0));
        assert!(near(independent.0, alone), "{name}: {independent:?}");
        assert!(near(correlated.0, together), "{name}: {correlated:?}");
        assert!(near(independent.1, unreadable), "{name}: {independent:?}");
    }
    // Two of four have to be missing first, so this grows with their correlation.
    assert!((year(group(4, 2), 100.0).1 - 2.1e-6).abs() < 1e-7);
}
