//! Whatever fails, nothing is left that cannot be taken away.

use build::{Authority, BuildError, MemoryJournal};
use fake::{FakeFault, Moment};
use terms::Plan;

use crate::yard::{EVERY_LAYER, Full, Yard, apply};

/// Stacks with a layer of every tool.
const STACKS: [&str; 7] = [
    "RAID-5 proven clean",
    "LUKS with defaults",
    "LVM snapshot",
    "bcache on a mirror",
    "dm-writecache on a mirror",
    "ZFS mirror with special mirror",
    "btrfs raid10 with xxhash",
];

/// Applies a plan with something going wrong at its change of this number. `None` where nothing did: there are not so
/// many changes.
fn broken(yard: &Yard, plan: &Plan, number: usize, fault: FakeFault) -> Option<(BuildError, MemoryJournal)> {
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let mut journal = MemoryJournal::default();
    yard.machine.fault(number, fault);
    let before = yard.machine.deeds().len();
    let error = apply(plan, &authority, &[], &mut journal).err();
    let all = yard.machine.deeds().len() - before;
    assert!(error.is_some() || all < number, "{}: change {number} failed, and nobody said so", plan.stack);
    error.map(|error| (error, journal))
}

#[test]
fn a_program_that_fails_is_taken_back_with_all_before_it() {
    let yard = Yard::lab(EVERY_LAYER);
    let (clean, shape) = (yard.machine.now_is(), yard.machine.shape());
    for plan in STACKS.map(|stack| yard.plan(stack)) {
        for number in 1.. {
            // Every other program does its work and says that it did not.
            let fault = if number % 2 == 0 { FakeFault::Half(1, "no") } else { FakeFault::Refused(1, "no") };
            let yard = yard.at(&clean);
            let Some((error, _)) = broken(&yard, plan, number, fault) else { break };
            assert!(matches!(error, BuildError::Host(_)), "{} at {number}: {error}", plan.stack);
            assert_eq!(yard.machine.shape(), shape, "{} at {number}: {error}", plan.stack);
            assert!(yard.is_clean(&plan.drives), "{} at {number}", plan.stack);
        }
    }
}

#[test]
fn what_a_lost_machine_holds_is_taken_down_when_it_is_heard_of_again() {
    let yard = Yard::lab(EVERY_LAYER);
    let (clean, shape) = (yard.machine.now_is(), yard.machine.shape());
    for (offset, plan) in STACKS.map(|stack| yard.plan(stack)).into_iter().enumerate() {
        for number in (1 + offset % 2..).step_by(2) {
            let moment = if number % 4 < 2 { Moment::Before } else { Moment::After };
            let yard = yard.at(&clean);
            let Some((error, mut journal)) = broken(&yard, plan, number, FakeFault::Lost(moment)) else { break };
            assert!(matches!(error, BuildError::Rollback { .. } | BuildError::Host(_)), "{error}");
            yard.machine.hear();
            let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
            let past = journal.0.clone();
            build::teardown(plan, &authority, &past, &mut journal)
                .unwrap_or_else(|error| panic!("{} at {number}: {error}", plan.stack));
            assert_eq!(yard.machine.shape(), shape, "{} at {number}", plan.stack);
            assert!(yard.is_clean(&plan.drives), "{} at {number}", plan.stack);
        }
    }
}

#[test]
fn where_the_journal_cannot_be_written_nothing_is_done() {
    let yard = Yard::lab(EVERY_LAYER);
    let (clean, shape) = (yard.machine.now_is(), yard.machine.shape());
    let plan = yard.plan("LVM snapshot");
    for lines in 0..6 {
        let yard = yard.at(&clean);
        let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
        let mut journal = Full(lines, MemoryJournal::default());
        let before = yard.machine.deeds().len();
        let error = apply(plan, &authority, &[], &mut journal).unwrap_err();
        assert!(matches!(error, BuildError::Journal(_)), "{error}");
        assert!(lines > 0 || yard.machine.deeds().len() == before, "{:?}", yard.machine.deeds());
        assert_eq!(yard.machine.shape(), shape, "full after {lines} lines");
    }
    // A teardown goes on all the same: what is undone twice does no harm.
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let mut journal = MemoryJournal::default();
    apply(plan, &authority, &[], &mut journal).unwrap();
    let error = build::teardown(plan, &authority, &journal.0, &mut Full(0, MemoryJournal::default())).unwrap_err();
    assert!(matches!(error, BuildError::Unwritten(_)), "{error}");
    assert_eq!(yard.machine.shape(), shape);
}

#[test]
fn what_cannot_be_taken_back_is_told_as_commands() {
    let yard = Yard::lab(EVERY_LAYER);
    let plan = yard.plan("LUKS with defaults");
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    // Formatting is done; opening it fails, and so does whatever follows.
    yard.machine.fault(2, FakeFault::Refused(1, "no"));
    yard.machine.fault(3, FakeFault::Refused(1, "no"));
    yard.machine.fault(4, FakeFault::Refused(1, "no"));
    let error = apply(plan, &authority, &[], &mut MemoryJournal::default()).unwrap_err();
    let BuildError::Rollback { cause, left, .. } = &error else { panic!("{error}") };
    assert!(cause.to_string().contains("cryptsetup open"), "{cause}");
    let wanted = ["cryptsetup close", "cryptsetup erase", "wipefs --all"];
    assert!(left.iter().zip(wanted).all(|(line, wanted)| line.starts_with(wanted)) && left.len() == 3, "{left:?}");
    assert!(left[2].ends_with(yard.node("a")), "{left:?}");
}

#[test]
fn what_is_busy_for_a_moment_is_tried_again() {
    let yard = Yard::lab(EVERY_LAYER);
    let plan = yard.plan("ext4 on SATA");
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let mut journal = MemoryJournal::default();
    apply(plan, &authority, &[], &mut journal).unwrap();
    for number in 1..4 {
        yard.machine.fault(number, FakeFault::Refused(32, "umount: target is busy."));
    }
    let past = journal.0.clone();
    build::teardown(plan, &authority, &past, &mut journal).unwrap();
    assert!(yard.is_clean(&plan.drives));
    // What stays so is an error in the end.
    apply(plan, &authority, &[], &mut journal).unwrap();
    yard.machine.open("/mnt/bedplate/ext4-on-sata", "sleeper", false);
    let past = journal.0.clone();
    let error = build::teardown(plan, &authority, &past, &mut journal).unwrap_err();
    assert!(error.to_string().contains("target is busy"), "{error}");
}
