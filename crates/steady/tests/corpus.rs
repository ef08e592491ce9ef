//! False *steady* and missed *steady* over thousands of made-up windows, ours and others'.
//!
//! `cargo run -p steady --release --example corpus` prints the table.

#![allow(clippy::cast_precision_loss, reason = "counts are small")]

#[path = "corpus/mod.rs"]
mod corpus;

use corpus::{LENGTHS, SHAPES, tallies};

#[test]
fn shapes_are_refused_and_noise_is_not() {
    let tallies = tallies();
    let mut false_steady = (0, 0);
    for count in LENGTHS {
        for shape in SHAPES {
            let tally = tallies[&(shape.to_owned(), count)];
            let share = tally.share(tally.ours);
            assert!(share <= 0.02, "{shape} of {count} samples: {:.1} % called steady", share * 100.0);
            false_steady = (false_steady.0 + tally.ours, false_steady.1 + tally.windows);
        }
        let tally = tallies[&("steady".to_owned(), count)];
        let missed = 1.0 - tally.share(tally.ours);
        assert!(missed <= 0.05, "steady windows of {count} samples: {:.1} % refused", missed * 100.0);
    }
    assert!(false_steady.0 * 50 <= false_steady.1, "{false_steady:?}");
}

#[test]
fn fios_slope_of_ten_percent_refuses_next_to_nothing() {
    let tallies = tallies();
    for count in LENGTHS.into_iter().filter(|count| *count >= 60) {
        for shape in SHAPES {
            let tally = tallies[&(shape.to_owned(), count)];
            assert!(tally.share(tally.fio) > 0.99, "{shape} of {count} samples");
        }
    }
}
