//! Every layer stands on a machine that is a model, changes nothing when it is built again, and leaves nothing.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

mod drives;
mod faults;
mod gone;
mod killed;
mod laws;
mod real;
mod yard;

use build::{Authority, MemoryJournal};
use yard::{EVERY_LAYER, Yard, apply};

#[test]
fn every_stack_stands_and_is_taken_down_again() {
    let yard = Yard::lab(EVERY_LAYER);
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    for plan in &yard.plans {
        let (before, shape) = (yard.machine.now_is(), yard.machine.shape());
        let mut journal = MemoryJournal::default();
        let built =
            apply(plan, &authority, &[], &mut journal).unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
        assert_eq!(built.changed, plan.steps.len(), "{}", plan.stack);
        let past = journal.0.clone();
        let again =
            apply(plan, &authority, &past, &mut journal).unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
        assert_eq!((again.changed, &again.target), (0, &built.target), "{}", plan.stack);
        for (name, node) in yard.drives.iter().filter(|(name, _)| !plan.drives.contains(name)) {
            assert!(yard.machine.holds_the_same(node, &before), "{}: `{name}` is no drive of it", plan.stack);
        }
        let past = journal.0.clone();
        // What a person would have to type has nodes and paths in it, and no `{sys:…}`.
        let is_open =
            |rest: &str| rest.split_once(':').is_some_and(|(word, _)| word.chars().all(|c| c.is_ascii_lowercase()));
        let left = build::commands_left(plan, &authority, &past);
        assert!(!left.iter().any(|line| line.split('{').skip(1).any(is_open)), "{}: {left:#?}", plan.stack);
        build::teardown(plan, &authority, &past, &mut journal)
            .unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
        assert_eq!(yard.machine.shape(), shape, "{}", plan.stack);
        assert!(yard.is_clean(&plan.drives), "{}", plan.stack);
        assert!(plan.drives.iter().all(|drive| authority.discard(drive).is_ok()));
    }
}
