//! A person who interrupts wants everything taken back, and then to stop. One flag stands for the whole process, so this
//! test has one of its own.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "stacks/yard.rs"]
mod yard;

use build::{Authority, BuildError, MemoryJournal};
use fake::{FakeFault, Moment};
use host::{HostError, interrupt};
use yard::{EVERY_LAYER, Yard, apply};

#[test]
fn an_interrupt_at_any_step_is_heeded_and_everything_taken_back() {
    let yard = Yard::lab(EVERY_LAYER);
    let (clean, shape) = (yard.machine.now_is(), yard.machine.shape());
    for stack in ["RAID-6", "LVM raid1 with a cache that holds writes", "ZFS beside its special vdev on partitions"] {
        let plan = yard.plan(stack);
        for number in 1.. {
            let yard = yard.at(&clean);
            let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
            let moment = if number % 2 == 0 { Moment::Before } else { Moment::After };
            yard.machine.fault(number, FakeFault::Interrupt(moment));
            let result = apply(plan, &authority, &[], &mut MemoryJournal::default());
            let raised = interrupt::raised();
            interrupt::clear();
            let Err(error) = result else {
                assert!(!raised, "{stack} at {number}: nobody heeded it");
                break;
            };
            assert!(matches!(error, BuildError::Host(HostError::Interrupted)), "{stack} at {number}: {error}");
            assert!(raised, "{stack} at {number}: whoever comes next has to stop, too");
            assert_eq!(yard.machine.shape(), shape, "{stack} at {number}");
            assert!(yard.is_clean(&plan.drives), "{stack} at {number}");
        }
    }
    // One that comes between two programs is heeded before the next step.
    interrupt::raise();
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let error = apply(yard.plan("LVM thin"), &authority, &[], &mut MemoryJournal::default()).unwrap_err();
    interrupt::clear();
    assert!(matches!(error, BuildError::Host(HostError::Interrupted)), "{error}");
}
