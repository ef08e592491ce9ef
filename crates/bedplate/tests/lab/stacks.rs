//! Every layer is really built, stands, changes nothing when built again, and leaves nothing when taken down.

use crate::bench::{Bench, text};

/// `bedplate build` proves all of it for each stack; a stack that is missing a module or fails gives another code.
pub(crate) fn every_stack_stands(study: &str, stacks: usize) {
    let bench = Bench::new();
    let output = bench.run(&["build", &bench.with_one_processor(study)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("ok  ").count(), stacks, "{}", text(&output));
    bench.assert_nothing_left();
}

// The run of the nineteen builds them all too; this one also builds each twice and compares the machine.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn the_nineteen_configurations_stand_and_come_down() {
    every_stack_stands("studies/long-term-storage.toml", 20);
}

#[test]
fn every_other_layer_stands_and_comes_down() {
    every_stack_stands("crates/bedplate/tests/studies/every-layer.toml", 28);
}
