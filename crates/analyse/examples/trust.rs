//! Prints how often printed intervals and verdicts hold: `cargo run -p analyse --release --example trust`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that prints simulated shares"
)]

#[path = "../tests/trust/mod.rs"]
mod trust;

use trust::{NOISES, SCATTERS, coverage, false_winners, one_after_the_other, power, table, windows};

const SESSIONS: u32 = 4000;

fn main() {
    println!("{SESSIONS} simulated sessions each");
    println!("\ncoverage of the printed 95 % interval");
    println!("{:>8} {:>9} {:>9} {:>9} {:>9} {:>12}", "rounds", "noise", "between", "within", "covers", "mean rounds");
    for (noise, between, within) in
        [(0.01, 0.0, 0.0), (0.03, 0.0, 0.0), (0.02, 0.0, 0.9), (0.02, 0.1, 0.7), (0.02, 0.2, 0.7), (0.02, 0.3, 0.7)]
    {
        for rounds in [(5, 5), (5, 12)] {
            let (held, used) = coverage(SESSIONS, rounds, noise, between, within);
            println!(
                "{:>8} {:>7} % {between:>9} {within:>9} {:>7.1} % {used:>12.1}",
                format!("{}-{}", rounds.0, rounds.1),
                noise * 100.0,
                held * 100.0
            );
        }
    }
    println!("\nfalse winners among equals, 6 % drift over the session, 1 % noise");
    for (stacks, rounds) in
        [(&["a", "b"][..], (3, 3)), (&["a", "b"], (5, 5)), (&["a", "b"], (5, 12)), (&["a", "b", "c", "d"], (5, 12))]
    {
        let share = false_winners(SESSIONS, stacks, rounds, 0.06, 0.01);
        println!("  {} stacks, rounds {}-{}, random order: {:.1} %", stacks.len(), rounds.0, rounds.1, share * 100.0);
    }
    for rounds in [3, 5] {
        let share = one_after_the_other(SESSIONS, rounds, 0.06, 0.01);
        println!("  A {rounds} times, then B {rounds} times: {:.1} %", share * 100.0);
    }
    println!("\npower: a stack that is 5 % faster is called so, 2 % noise");
    for rounds in [(5, 5), (5, 8), (8, 8), (5, 12)] {
        println!("  rounds {}-{}: {:.1} %", rounds.0, rounds.1, power(SESSIONS, rounds, 0.05, 0.02) * 100.0);
    }
    println!("\nfive stacks in three rounds, two of them equal to the first, the others 0.7 and 0.5 of it");
    println!("{:>28} {:>9} {:>15} {:>9}", "noise of each", "covers", "false winners", "decided");
    for noise in NOISES {
        let told = table(SESSIONS, 3, noise);
        let each = noise.map(|noise| format!("{} %", noise * 100.0)).join(", ");
        println!(
            "{each:>28} {:>7.1} % {:>13.1} % {:>7.1} %",
            told.held * 100.0,
            told.wrong * 100.0,
            told.decided * 100.0
        );
    }
    println!("\nfive stacks in one round under a virtual clock, two equal to the first, the others 0.9 and 0.5 of it");
    println!("{:>9} {:>9} {:>9} {:>9} {:>15} {:>9}", "each", "slow", "lasts", "covers", "false winners", "decided");
    for scatter in SCATTERS {
        let told = windows(SESSIONS, scatter);
        println!(
            "{:>7} % {:>7} % {:>9} {:>7.1} % {:>13.1} % {:>7.1} %",
            scatter.each * 100.0,
            scatter.slow * 100.0,
            scatter.lasts,
            told.held * 100.0,
            told.wrong * 100.0,
            told.decided * 100.0
        );
    }
}
