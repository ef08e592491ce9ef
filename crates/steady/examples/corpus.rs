//! Prints how often each rule calls a window steady: `cargo run -p steady --release --example corpus`.

#![allow(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints")]

#[path = "../tests/corpus/mod.rs"]
mod corpus;

use corpus::{LENGTHS, SHAPES, tallies};

fn main() {
    let tallies = tallies();
    println!("called steady, in per cent of {} windows each", corpus::EACH);
    println!(
        "{:<12} {:>8} {:>9} {:>12} {:>14} {:>7}",
        "windows", "samples", "bedplate", "fio 10 %", "fio 10 %/(n-1)", "SNIA"
    );
    for shape in SHAPES.into_iter().chain(["steady"]) {
        for count in LENGTHS {
            let tally = tallies[&(shape.to_owned(), count)];
            let percent = |count| tally.share(count) * 100.0;
            println!(
                "{shape:<12} {count:>8} {:>9.1} {:>12.1} {:>14.1} {:>7.1}",
                percent(tally.ours),
                percent(tally.fio),
                percent(tally.fio_corrected),
                percent(tally.snia)
            );
        }
    }
}
