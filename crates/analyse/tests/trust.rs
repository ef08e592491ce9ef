//! What is printed holds as often as it says.
//!
//! `cargo run -p analyse --release --example trust` prints the table.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "simulated counts are small, and a test may panic"
)]

#[path = "trust/mod.rs"]
mod trust;

use trust::{NOISES, SCATTERS, coverage, false_winners, one_after_the_other, power, table, windows};

const SESSIONS: u32 = 1000;

#[test]
fn printed_intervals_hold_the_truth_in_93_of_100() {
    for (noise, between, within) in [(0.01, 0.0, 0.0), (0.03, 0.0, 0.0), (0.02, 0.0, 0.9), (0.02, 0.2, 0.7)] {
        for rounds in [(5, 5), (5, 12)] {
            // A fixed number of rounds has no allowance for correlation between rounds to hide in.
            if rounds.0 == rounds.1 && between > 0.0 {
                continue;
            }
            let (held, _) = coverage(SESSIONS, rounds, noise, between, within);
            assert!(held >= 0.93, "noise {noise}, {between} between, {within} within, rounds {rounds:?}: {held}");
        }
    }
}

#[test]
fn drift_makes_no_winners_in_rounds_and_many_one_after_the_other() {
    for (stacks, rounds) in [(&["a", "b"][..], (5, 5)), (&["a", "b"], (5, 12)), (&["a", "b", "c", "d"], (5, 12))] {
        let share = false_winners(SESSIONS, stacks, rounds, 0.06, 0.01);
        assert!(share <= 0.05, "{} stacks, rounds {rounds:?}: {share}", stacks.len());
    }
    let three = one_after_the_other(SESSIONS, 3, 0.06, 0.01);
    let five = one_after_the_other(SESSIONS, 5, 0.06, 0.01);
    assert!(three > 0.3 && five > 0.8, "{three} {five}");
}

#[test]
fn a_true_difference_is_found_within_eight_rounds() {
    for rounds in [(8, 8), (5, 8)] {
        let share = power(SESSIONS, rounds, 0.05, 0.02);
        assert!(share >= 0.9, "rounds {rounds:?}: {share}");
    }
}

#[test]
fn tables_of_three_rounds_decide_and_are_right() {
    for (noise, decided) in NOISES.into_iter().zip([0.95, 0.35, 0.75, 0.15]) {
        let told = table(SESSIONS, 3, noise);
        assert!(told.held >= 0.95, "noise {noise:?}: {}", told.held);
        // 5 % of 1000 sessions is 50, give or take 7: three times that is allowed for.
        assert!(told.wrong <= 0.07, "noise {noise:?}: {}", told.wrong);
        assert!(told.decided >= decided, "noise {noise:?}: {}", told.decided);
    }
}

#[test]
fn windows_of_one_round_decide_and_are_right() {
    for (scatter, decided) in SCATTERS.into_iter().zip([0.95, 0.7, 0.3]) {
        let told = windows(SESSIONS / 2, scatter);
        assert!(told.held >= 0.95, "{scatter:?}: {}", told.held);
        assert!(told.wrong <= 0.07, "{scatter:?}: {}", told.wrong);
        assert!(told.decided >= decided, "{scatter:?}: {}", told.decided);
    }
}
