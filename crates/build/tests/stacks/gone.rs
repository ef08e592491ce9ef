//! The directory of a run is gone, and nothing says any more what it made: its drives are in use like any others.

use build::{Authority, MemoryJournal};
use claim::{ClaimError, Consent, Permission};
use host::Host;
use terms::plan::Effect;
use terms::{Name, Plan};

use crate::yard::{EVERY_LAYER, Yard, apply};

/// Some of each kind that a machine closes by a command of its own.
const FORGOTTEN: [&str; 8] = [
    "ext4 on SATA",
    "XFS on RAID-0",
    "RAID-6",
    "plain dm-crypt",
    "dm-integrity with xxhash64",
    "LVM striped",
    "LVM raid1 with integrity",
    "LVM thin",
];

/// Builds a stack and forgets that it did.
fn build_and_forget(yard: &Yard, plan: &Plan) {
    let claims = yard.claims(plan);
    let authority = Authority::held(&yard.machine, &claims);
    apply(plan, &authority, &[], &mut MemoryJournal::default())
        .unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
}

/// What a person is told to say, command by command.
fn told(yard: &Yard) -> Option<Vec<String>> {
    let line = claim::left_by_runs(&yard.machine).unwrap().into_iter().next()?;
    let (_, lines) = line.split_once("nobody uses what is there, say `").unwrap();
    Some(lines.split_once("`, and name the drive").unwrap().0.split(" && ").map(str::to_owned).collect())
}

/// Takes a drive whose content may go.
fn taken<'y>(yard: &'y Yard, name: &Name, erases: bool) -> Result<claim::LockedDrive<'y>, ClaimError> {
    let id = [yard.id(name).unwrap()];
    let none: [String; 0] = [];
    let consent = Consent::given(&yard.machine, &id, if erases { &id } else { &none }).unwrap();
    Permission::grant(yard.examine(name), &consent)?.hold(&yard.machine)
}

/// Nobody's word frees a drive while it is in use, and every byte is kept; what is told frees it.
#[test]
fn what_a_forgotten_run_left_is_in_use_until_what_is_told_was_done() {
    let yard = Yard::real(EVERY_LAYER);
    let clean = yard.machine.now_is();
    for stack in FORGOTTEN {
        let (plan, yard) = (yard.plan(stack), yard.at(&clean));
        build_and_forget(&yard, plan);
        let is_up = |effect: &Effect| match effect {
            Effect::Node(node) => !node.is_of_drive(),
            Effect::Mount(_) | Effect::Group(_) | Effect::Pool(_) => true,
            Effect::Signature { .. } | Effect::Directory { .. } | Effect::LogicalBlock { .. } => false,
        };
        let stands = plan.steps.iter().filter_map(|step| step.effect.as_ref()).any(is_up);
        let (before, shape, deeds) = (yard.machine.now_is(), yard.machine.shape(), yard.machine.deeds().len());
        let drives: Vec<&Name> = plan.drives.iter().collect();
        for name in drives.iter().filter(|_| stands) {
            for erases in [false, true] {
                let refused = taken(&yard, name, erases).err();
                assert!(matches!(refused, Some(ClaimError::Refused(_))), "{}: `{name}`: {refused:?}", plan.stack);
            }
        }
        assert_eq!((yard.machine.shape(), yard.machine.deeds().len()), (shape, deeds), "{}", plan.stack);
        assert!(drives.iter().all(|name| yard.machine.holds_the_same(yard.node(name.as_str()), &before)));
        let mut rounds = 0;
        while let Some(lines) = told(&yard) {
            rounds += 1;
            assert!(rounds <= drives.len(), "{}: it is told again and again: {lines:?}", plan.stack);
            for line in &lines {
                let outcome = yard.machine.run(&terms::Cmd::new(line.split_whitespace())).unwrap();
                assert!(outcome.ok(), "{}: `{line}` of {lines:?}: {}", plan.stack, outcome.error_text());
            }
        }
        assert!(rounds > 0 || !stands, "{}: nothing was told", plan.stack);
        // What is on them is still on them, and goes by the word of whoever names each.
        for name in drives.iter().filter(|_| stands) {
            let mut held = taken(&yard, name, true).unwrap_or_else(|error| panic!("{}: {error}", plan.stack));
            build::erase(&mut held).unwrap_or_else(|error| panic!("{}: `{name}`: {error}", plan.stack));
        }
        assert!(yard.is_clean(&plan.drives), "{}", plan.stack);
    }
}
