//! Every layer is really built, stands, changes nothing when built again, and leaves nothing when taken down.

use crate::bench::{Bench, text};

/// `bedplate build` proves all of it for each stack; a stack that is missing a module or fails gives another code.
pub(crate) fn every_stack_stands(study: &str, only: &str, stacks: usize) {
    let bench = Bench::new();
    let output = bench.run(&["build", &bench.with_one_processor(study), "--only", only]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("ok  ").count(), stacks, "{}", text(&output));
    bench.assert_nothing_left();
}

// The run of the nineteen builds them all too; this one also builds each twice and compares the machine.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn the_nineteen_configurations_stand_and_come_down() {
    every_stack_stands("studies/long-term-storage.toml", "*", 20);
}

/// Numbers of stacks of the study of every layer. In two parts, which two processors share.
fn numbers(of: std::ops::RangeInclusive<usize>) -> String {
    of.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

const EVERY_LAYER: &str = "crates/bedplate/tests/studies/every-layer.toml";

#[test]
fn every_other_layer_stands_and_comes_down() {
    every_stack_stands(EVERY_LAYER, &numbers(1..=14), 14);
}

#[test]
fn every_other_layer_stands_and_comes_down_too() {
    every_stack_stands(EVERY_LAYER, &numbers(15..=28), 14);
}
