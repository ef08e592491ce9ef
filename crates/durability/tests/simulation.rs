//! The simulation and the closed forms agree where both hold: while windows are short beside the time between failures.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use durability::{Arrangement, Circumstances, Hazards, loss, simulate};
use terms::durability::{Cause, Healing, Spread};

/// Drives that fail far too often, so that what is rare happens often enough to be counted.
const DRIVE: Hazards = Hazards { failures: 0.1, unreadable: 0.02, latent: 0.01, silent: 0.005, waiting: 0.003 };

fn group(count: usize, survives: usize) -> Arrangement<Hazards> {
    Arrangement::Group { members: vec![Arrangement::Drive(DRIVE); count], survives }
}

fn circumstances(drives: Arrangement<Hazards>, correlation: f64, healing: Healing) -> Circumstances {
    Circumstances {
        drives,
        window: 0.01,
        correlation,
        common: 0.002,
        healing,
        stored: 1e12,
        block: 4096.0,
        region: 65536.0,
    }
}

/// Events in a year: a probability of 1 - exp(-x) is x.
fn expected(circumstances: &Circumstances, cause: Cause) -> f64 {
    let loss = loss(Spread::exactly(circumstances));
    -(-loss.of(cause).unwrap().probability.middle).ln_1p()
}

#[test]
fn closed_forms_agree_with_drawn_years() {
    let pairs = Arrangement::All(vec![group(2, 1), group(2, 1)]);
    let striped = Arrangement::All(vec![Arrangement::Drive(DRIVE); 3]);
    let nested = Arrangement::Group { members: vec![striped.clone(), striped.clone()], survives: 1 };
    for (name, drives, correlation) in [
        ("one", Arrangement::Drive(DRIVE), 1.0),
        ("striped", striped, 1.0),
        ("mirror", group(2, 1), 1.0),
        ("mirror, correlated", group(2, 1), 10.0),
        ("mirrors, striped", pairs, 5.0),
        ("three ways", group(3, 2), 10.0),
        ("one parity", group(4, 1), 1.0),
        ("one parity, correlated", group(6, 1), 5.0),
        ("two parities, correlated", group(6, 2), 10.0),
        ("mirror of stripes", nested, 1.0),
    ] {
        for healing in [Healing::Unnoticed, Healing::Repaired] {
            let given = circumstances(drives.clone(), correlation, healing);
            let drawn = simulate(&given, 300_000.0, 42);
            for cause in [Cause::DrivesTogether, Cause::UnreadableBlock, Cause::SilentCorruption, Cause::CommonCause] {
                let (closed, seen) = (expected(&given, cause), drawn.a_year(cause));
                // Four standard errors, and what the closed form leaves out: n L c T of each overlapping window.
                let count = given.drives.drives().len() as f64;
                let left_out = 1.5 * count * DRIVE.failures * correlation * given.window;
                let allowed = 4.0 * drawn.error(cause) + left_out * closed;
                assert!((closed - seen).abs() <= allowed, "{name}, {cause:?}: {closed:e} by form, {seen:e} drawn");
            }
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_years() {
    let given = circumstances(group(4, 1), 2.0, Healing::Repaired);
    assert_eq!(simulate(&given, 10_000.0, 7), simulate(&given, 10_000.0, 7));
    assert_ne!(simulate(&given, 10_000.0, 7), simulate(&given, 10_000.0, 8));
}

#[test]
fn bytes_lost_are_those_of_the_closed_forms() {
    let given = circumstances(group(4, 1), 1.0, Healing::Repaired);
    let closed = loss(Spread::exactly(&given)).bytes.middle;
    let drawn = simulate(&given, 300_000.0, 3).bytes_a_year();
    assert!((closed / drawn - 1.0).abs() < 0.15, "{closed:e} by form, {drawn:e} drawn");
}
