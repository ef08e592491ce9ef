//! Each feature kept, not kept, and not to be tried, on a machine that is a model.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

use std::sync::Arc;

use build::{Authority, Bindings, MemoryJournal};
use fake::FakeMachine;
use feature_check::{FeatureCheckError, Subject, hold, roomy, without_snapshot};
use terms::LabDriveKind;
use terms::{Bytes, Feature, FeatureCheck, Plan, Showing, Stack};

/// A stack that stands.
struct Standing {
    machine: FakeMachine,
    stack: Stack,
    plan: Plan,
    drives: Bindings,
    target: terms::plan::WorkPlace,
}

fn stand(layers: &str) -> Standing {
    let drives = ["a", "b"].map(|name| format!("{{ name = \"{name}\", size = \"160 MiB\" }}")).join(", ");
    let text = format!(
        "question = \"Does it hold?\"\n[lab]\ndrives = [{drives}, {{ name = \"s\", kind = \"sata\", size = \"160 MiB\" }}]\n\
         [measure]\nspan = \"32 MiB\"\n[[stack]]\nname = \"it\"\nlayers = [ {layers} ]\n"
    );
    let (design, notes) = spec::parse(&text);
    let design = design.unwrap_or_else(|| panic!("{notes:?}"));
    let machine = FakeMachine::throwaway();
    machine.line("modprobe zfs");
    let node =
        |kind, size| if kind == LabDriveKind::Sata { machine.sata(size) } else { machine.nvme(size, Bytes(512)) };
    let drives = design.lab.drives.iter().map(|drive| (drive.name.clone(), node(drive.kind, drive.size))).collect();
    let asked = &design.stacks[0];
    let stack = roomy(asked).unwrap_or_else(|| asked.clone());
    let plan = without_snapshot(&plan::plan(&stack, &plan::DriveSize::of_lab(&design.lab)).unwrap());
    let authority = Authority::lab(&machine, &drives).unwrap();
    let built = build::apply(&plan, &authority, &[], &mut MemoryJournal::default(), &|_| ()).unwrap();
    Standing { target: built.target.place().clone(), machine, stack: asked.clone(), plan, drives }
}

impl Standing {
    fn held(&self, features: &[Feature]) -> Vec<FeatureCheck> {
        let subject = Subject {
            host: &self.machine,
            stack: &self.stack,
            plan: &self.plan,
            drives: &self.drives,
            target: &self.target,
            seed: 7,
        };
        hold(subject, features, &|_| ()).unwrap()
    }

    fn one(&self, feature: Feature) -> FeatureCheck {
        self.held(&[feature]).remove(0)
    }
}

use Showing::{Detected, Hidden, Kept, Lost, NotOffered, NotRebuilt, Readable, Repaired, Silent, Survived};

const TWO_LUKS: &str = r#"{ luks = { pbkdf = "pbkdf2" }, on = ["a", "b"] }"#;
const TWO_TAGS: &str = r#"{ integrity = { sector = "4 KiB" }, on = ["a", "b"] }"#;

/// Layers, and what comes of encryption, redundancy, corruption and snapshot.
fn shows(layers: &str, wanted: [Showing; 4]) {
    let standing = stand(layers);
    let feature_checks =
        standing.held(&[Feature::Encryption, Feature::Redundancy, Feature::Corruption, Feature::Snapshot]);
    let told = |feature_check: &FeatureCheck| {
        format!(
            "{layers}: {}: {} {:#?}",
            feature_check.feature,
            feature_check.says,
            feature_check.steps.iter().map(|step| (&step.line, &step.seen, step.status)).collect::<Vec<_>>()
        )
    };
    for (feature_check, wanted) in feature_checks.iter().zip(wanted) {
        assert_eq!(feature_check.came, Some(wanted), "{}", told(feature_check));
        assert!(feature_check.is_as_expected(), "{}", told(feature_check));
        assert!(!feature_check.steps.is_empty() || wanted == NotOffered, "{}", told(feature_check));
    }
}

#[test]
fn of_a_bare_file_system_nothing_is_expected_nor_shown() {
    shows(r#"{ ext4 = {}, on = "s" }"#, [Readable, Lost, Silent, NotOffered]);
}

#[test]
fn encryption_hides_in_each_of_its_forms() {
    shows(r#"{ luks = { pbkdf = "pbkdf2" }, on = "a" }, { ext4 = {} }"#, [Hidden, Lost, Silent, NotOffered]);
    shows(r#"{ crypt = {}, on = "a" }, { ext4 = {} }"#, [Hidden, Lost, Silent, NotOffered]);
    shows(r#"{ crypt = { format = "truecrypt" }, on = "a" }"#, [Hidden, Lost, Silent, NotOffered]);
}

#[test]
fn a_mirror_outlives_a_drive_and_notices_nothing() {
    shows(r#"{ raid = { level = 1 }, on = ["a", "b"] }, { ext4 = {} }"#, [Readable, Survived, Silent, NotOffered]);
}

#[test]
fn checksums_notice_and_a_mirror_over_them_repairs() {
    shows(r#"{ integrity = { sector = "4 KiB" }, on = "a" }"#, [Readable, Lost, Detected, NotOffered]);
    shows(
        &format!("{TWO_TAGS}, {{ raid = {{ level = 1 }} }}, {{ ext4 = {{}} }}"),
        [Readable, Survived, Repaired, NotOffered],
    );
}

#[test]
fn an_encrypted_mirror_is_rebuilt_with_a_new_key() {
    shows(
        &format!("{TWO_LUKS}, {{ raid = {{ level = 1 }} }}, {{ ext4 = {{}} }}"),
        [Hidden, Survived, Silent, NotOffered],
    );
}

#[test]
fn lvm_mirrors_repairs_and_takes_snapshots() {
    shows(r#"{ lvm = { volume = "raid1" }, on = ["a", "b"] }, { ext4 = {} }"#, [Readable, Survived, Silent, Kept]);
    shows(r#"{ lvm = {}, on = "a" }, { ext4 = {} }"#, [Readable, Lost, Silent, Kept]);
    shows(r#"{ lvm = { thin_chunk = "64 KiB" }, on = "a" }, { ext4 = {} }"#, [Readable, Lost, Silent, Kept]);
}

#[test]
fn file_systems_with_checksums_keep_all_of_it() {
    shows(
        r#"{ btrfs = { data = "raid1", metadata = "raid1" }, on = ["a", "b"] }"#,
        [Readable, Survived, Repaired, Kept],
    );
    shows(r#"{ zfs = { layout = "mirror" }, on = ["a", "b"] }"#, [Readable, Survived, Repaired, Kept]);
}

#[test]
fn what_is_not_kept_is_found_out() {
    // Whatever key is tried is taken.
    let standing = stand(r#"{ luks = { pbkdf = "pbkdf2" }, on = "a" }, { ext4 = {} }"#);
    standing.machine.answer("cryptsetup", Arc::new(|_: &[String], _: &[u8]| Vec::new()));
    let feature_check = standing.one(Feature::Encryption);
    assert_eq!((feature_check.came, feature_check.is_as_expected()), (Some(Readable), false), "{}", feature_check.says);
    // Nothing rebuilds.
    let standing = stand(r#"{ raid = { level = 1 }, on = ["a", "b"] }, { ext4 = {} }"#);
    standing.machine.answer("mdadm", Arc::new(|_: &[String], _: &[u8]| Vec::new()));
    standing.machine.without("blkdiscard");
    let feature_check = standing.one(Feature::Redundancy);
    assert_eq!(
        (feature_check.came, feature_check.is_as_expected()),
        (None, false),
        "a drive could not be emptied: {}",
        feature_check.says
    );
    let standing = stand(r#"{ zfs = { layout = "mirror" }, on = ["a", "b"] }"#);
    standing.machine.answer("parted", Arc::new(|_: &[String], _: &[u8]| Vec::new()));
    let feature_check = standing.one(Feature::Redundancy);
    assert_eq!(
        (feature_check.came, feature_check.is_as_expected()),
        (Some(NotRebuilt), false),
        "{}",
        feature_check.says
    );
    assert!(feature_check.says.contains("The rebuild failed"), "{}", feature_check.says);
    // A snapshot that is none.
    let standing = stand(r#"{ btrfs = { data = "single", metadata = "single" }, on = "a" }"#);
    standing.machine.answer("btrfs", Arc::new(|_: &[String], _: &[u8]| Vec::new()));
    let feature_check = standing.one(Feature::Snapshot);
    assert_eq!(
        (feature_check.came, feature_check.is_as_expected()),
        (Some(Showing::NotKept), false),
        "{}",
        feature_check.says
    );
    // A scrub that repairs nothing: what was changed stays, and is read right from the other member.
    let standing = stand(&format!("{TWO_TAGS}, {{ raid = {{ level = 1 }} }}, {{ ext4 = {{}} }}"));
    let feature_check = standing.one(Feature::Corruption);
    assert_eq!(feature_check.came, Some(Repaired), "{}", feature_check.says);
}

#[test]
fn what_cannot_be_tried_says_why() {
    for (program, feature, words) in [
        ("dd", Feature::Encryption, "dd"),
        ("cmp", Feature::Redundancy, "cmp"),
        ("dmsetup", Feature::Corruption, "dmsetup"),
        ("lvcreate", Feature::Snapshot, "lvcreate"),
    ] {
        let standing = stand(r#"{ luks = { pbkdf = "pbkdf2" }, on = "a" }, { lvm = {} }, { ext4 = {} }"#);
        standing.machine.without(program);
        let feature_check = standing.one(feature);
        assert!(
            feature_check.came.is_none() && feature_check.says.contains(words),
            "{program}: {:?} {}",
            feature_check.came,
            feature_check.says
        );
    }
    // A drive that is no plugged-in drive cannot be pulled.
    let standing = stand(r#"{ ext4 = {}, on = "s" }"#);
    let drives = standing.drives.keys().map(|name| (name.clone(), "/dev/elsewhere".to_owned())).collect();
    let subject = Subject {
        host: &standing.machine,
        stack: &standing.stack,
        plan: &standing.plan,
        drives: &drives,
        target: &standing.target,
        seed: 7,
    };
    let feature_check = hold(subject, &[Feature::Redundancy], &|_| ()).unwrap().remove(0);
    assert!(feature_check.came.is_none() && feature_check.says.contains("cannot be pulled"), "{}", feature_check.says);
}

#[test]
fn nothing_is_tried_where_drives_outlive_it_and_nothing_after_the_machine_is_lost() {
    let standing = stand(r#"{ ext4 = {}, on = "s" }"#);
    let real = FakeMachine::new();
    let subject = |host| Subject {
        host,
        stack: &standing.stack,
        plan: &standing.plan,
        drives: &standing.drives,
        target: &standing.target,
        seed: 7,
    };
    let error = hold(subject(&real), &Feature::ALL, &|_| ()).unwrap_err();
    assert!(matches!(error, FeatureCheckError::NotThrowaway { .. }), "{error}");
    assert!(real.deeds().is_empty());
    standing.machine.fault(4, fake::FakeFault::Lost(fake::Moment::After));
    let error = hold(subject(&standing.machine), &Feature::ALL, &|_| ()).unwrap_err();
    assert!(error.ends_all(), "{error}");
}
