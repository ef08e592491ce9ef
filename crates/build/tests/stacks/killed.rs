//! Whatever a run was killed at, the plan and the journal take back what it made.

use build::{Authority, BuildError, JournalEntry, MemoryJournal};
use fake::FakeSnapshot;
use terms::Plan;

use crate::yard::{EVERY_LAYER, Watching, Yard, apply};

/// Places of a journal that are tried for a stack: with those of the other stacks nearly every line of every layer is.
const TRIED: usize = 4;

/// Some of so many lines, others for another stack.
fn some_of(lines: usize, stack: usize) -> impl Iterator<Item = usize> {
    let step = lines.div_ceil(TRIED).max(1);
    (stack % step..lines).step_by(step)
}

/// Builds a stack and keeps the machine at each line, and at the end.
fn built<'y>(yard: &'y Yard, plan: &Plan) -> (Watching<'y>, FakeSnapshot) {
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let mut journal = Watching::new(&yard.machine);
    apply(plan, &authority, &[], &mut journal).unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
    let end = yard.machine.now_is();
    (journal, end)
}

fn taken_down(yard: &Yard, plan: &Plan, past: &[JournalEntry], clean: &FakeSnapshot, told: &str) {
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let result = build::teardown(plan, &authority, past, &mut MemoryJournal::default());
    result.unwrap_or_else(|error| panic!("{} {told}: {error}\n{:#?}", plan.stack, past.last()));
    assert_eq!(yard.machine.shape(), yard.machine.as_of(clean).shape(), "{} {told}", plan.stack);
    assert!(yard.is_clean(&plan.drives), "{} {told}", plan.stack);
}

#[test]
fn a_journal_that_ends_anywhere_is_enough() {
    let yard = Yard::lab(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (number, plan) in yard.plans.iter().enumerate() {
        let yard = yard.at(&clean);
        let (journal, end) = built(&yard, plan);
        let (entries, lines) = (journal.entries(), &journal.lines);
        for at in some_of(lines.len(), number) {
            let next = lines.get(at + 1).map_or(&end, |(_, moment)| moment);
            for (moment, told) in [(&lines[at].1, "as it was written"), (next, "when the next would have been")] {
                taken_down(&yard.at(moment), plan, &entries[..=at], &clean, &format!("line {at} {told}"));
            }
        }
    }
}

#[test]
fn a_teardown_that_is_killed_is_finished_by_the_next() {
    let yard = Yard::lab(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (number, plan) in yard.plans.iter().enumerate() {
        let yard = yard.at(&clean);
        let (journal, end) = built(&yard, plan);
        let past = journal.entries();
        let down = yard.at(&end);
        let mut undone = Watching::new(&down.machine);
        let authority = Authority::lab(&down.machine, &down.drives).unwrap();
        build::teardown(plan, &authority, &past, &mut undone).unwrap();
        let entries = [past.clone(), undone.entries()].concat();
        for at in some_of(undone.lines.len().saturating_sub(1), number) {
            let cut = &entries[..=past.len() + at];
            taken_down(&yard.at(&undone.lines[at + 1].1), plan, cut, &clean, &format!("undoing {at}"));
        }
    }
}

#[test]
fn a_build_goes_on_where_it_was_killed() {
    let yard = Yard::lab(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for (number, plan) in yard.plans.iter().enumerate() {
        let yard = yard.at(&clean);
        let (journal, _) = built(&yard, plan);
        let after = |(entry, _): &&(JournalEntry, FakeSnapshot)| matches!(entry, JournalEntry::After { .. });
        let places: Vec<usize> = (0..journal.lines.len()).filter(|at| after(&&journal.lines[*at])).collect();
        for at in some_of(places.len(), number).map(|place| places[place]) {
            let yard = yard.at(&journal.lines[at].1);
            let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
            let mut more = MemoryJournal(journal.entries()[..=at].to_vec());
            let past = more.0.clone();
            match apply(plan, &authority, &past, &mut more) {
                Ok(built) => assert!(built.changed < plan.steps.len(), "{}", plan.stack),
                // What was locked with a key that is gone cannot be opened.
                Err(BuildError::KeyGone { .. }) => {}
                Err(error) => panic!("{} from line {at}: {error}", plan.stack),
            }
            taken_down(&yard, plan, &more.0, &clean, &format!("gone on from {at}"));
        }
    }
}
