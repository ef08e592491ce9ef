//! Every layer is really built, stands, changes nothing when built again, and leaves nothing when taken down.

use crate::bench::{Bench, text};

/// `bedplate build` proves all of it for each stack; a stack that is missing a module or fails gives another code.
pub(crate) fn every_stack_stands(study: &str, chosen: &[&str], stacks: usize) {
    let bench = Bench::new();
    let output = bench.run(&[&["build", &bench.with_one_processor(study)], chosen].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("ok  ").count(), stacks, "{}", text(&output));
    bench.assert_nothing_left();
}

// The run of the nineteen builds them all too; this one also builds each twice and compares the machine.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn the_nineteen_configurations_stand_and_come_down() {
    every_stack_stands("studies/long-term-storage.toml", &[], 20);
}

/// Every layer that the nineteen lack, in two parts, which two processors share: the second has whatever the first has not.
const EVERY_LAYER: &str = "crates/bedplate/tests/studies/every-layer.toml";
const FIRST: &str = "1,2,3,4,5,6,7,8,9,10,11,12,13,14";

#[test]
fn every_other_layer_stands_and_comes_down_first_part() {
    every_stack_stands(EVERY_LAYER, &["--only", FIRST], 14);
}

#[test]
fn every_other_layer_stands_and_comes_down_second_part() {
    every_stack_stands(EVERY_LAYER, &["--skip", FIRST], 15);
}
