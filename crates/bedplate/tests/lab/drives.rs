//! What may be touched: drives that hold data are refused and keep every byte; failures are taken back.

use build::{Authority, BuildError, Journal, MemoryJournal};
use host::{Host, Recording, Replay};
use lab::Guest;
use terms::plan::{Act, PlanCommand};
use terms::{Cmd, Nanos, Plan};

use crate::bench::{Bench, design};

fn shell(guest: &dyn Host, script: &str) -> String {
    guest.run_ok(&Cmd::new(["bash", "-c", script]).limit(Nanos::seconds(120))).unwrap().text()
}

fn lab(guest: &Guest) -> Authority<'_> {
    Authority::lab(guest, guest.drives()).unwrap()
}

fn first_plan(study: &str, name: &str) -> Plan {
    let design = design(study);
    let stack = design.stacks.iter().find(|stack| stack.name == name).unwrap();
    plan::plan(stack, &plan::DriveSize::of_lab(&design.lab)).unwrap()
}

const STUDY: &str = crate::bench::TWO_NVME;

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn drives_that_hold_something_are_refused_and_keep_every_byte() {
    let bench = Bench::new();
    let design = design(STUDY);
    let plan = plan::plan(&design.stacks[2], &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let guest = bench.boot(&design);
    let nodes: Vec<String> = plan.drives.iter().map(|name| guest.drives()[name].clone()).collect();
    let node = nodes[0].as_str();
    let sum = |guest: &Guest| shell(guest, &format!("sha256sum {}", nodes.join(" ")));
    let states = [
        ("an ext4 at rest", format!("mkfs.ext4 -q -F {node}"), "ext4", format!("wipefs -aq {node}")),
        (
            "a mounted ext4",
            // Read-only: ext4 writes into a mounted file system by itself.
            format!("mkfs.ext4 -q -F {node}; mkdir -p /mnt/x; mount -o ro {node} /mnt/x"),
            "ext4",
            format!("umount /mnt/x; wipefs -aq {node}"),
        ),
        ("a partition table", format!("parted -s {node} mklabel gpt"), "gpt", format!("wipefs -aq {node}")),
        (
            "a LUKS header",
            format!("echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 {node} -"),
            "crypto_LUKS",
            format!("wipefs -aq {node}"),
        ),
        ("a physical volume", format!("pvcreate -qq {node}"), "LVM2_member", format!("pvremove -qq {node}")),
        (
            "a mapping on a blank drive",
            format!("echo 0 2048 linear {node} 0 | dmsetup create held"),
            "held",
            "dmsetup remove held".to_owned(),
        ),
    ];
    for (what, prepare, expect, clean) in states {
        shell(&guest, &prepare);
        let before = sum(&guest);
        let mut journal = MemoryJournal::default();
        let error = build::apply(&plan, &lab(&guest), &[], &mut journal, &|_| {}).unwrap_err();
        assert!(matches!(&error, BuildError::NotBlank { found, .. } if found.contains(expect)), "{what}: {error}");
        assert!(journal.0.is_empty(), "{what}: something was begun");
        assert_eq!(sum(&guest), before, "{what}: bytes changed");
        shell(&guest, &clean);
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_step_that_fails_is_taken_back_whole() {
    let bench = Bench::new();
    let design = design(STUDY);
    let stack = design.stacks.iter().max_by_key(|stack| stack.nodes.len()).unwrap();
    let plan = plan::plan(stack, &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let guest = bench.boot(&design);
    for failing in 1..plan.steps.len() {
        let mut broken = plan.clone();
        let argv = ["sh", "-c", "echo broken on purpose >&2; exit 7"].map(terms::Word::from).to_vec();
        broken.steps[failing].act = Act::Run(PlanCommand { argv, key: None, limit: Nanos::seconds(5) });
        let mut journal = MemoryJournal::default();
        let error = build::apply(&broken, &lab(&guest), &[], &mut journal, &|_| {}).unwrap_err();
        assert!(
            error.to_string().contains("broken on purpose") && !matches!(error, BuildError::Rollback { .. }),
            "step {failing}: {error}"
        );
        build::prove_blank(&guest, guest.drives(), &plan.drives).unwrap();
    }
}

/// Checksums are written to both drives at once; the lane that fails stops the other, and both are taken back.
#[test]
fn what_is_made_side_by_side_is_taken_back_together() {
    let bench = Bench::new();
    let mut design = crate::bench::understood(crate::places::DEEP);
    // Large enough that a format is still going on when it is to be stopped.
    design.lab.drives.iter_mut().for_each(|drive| drive.size = terms::Bytes(512 << 20));
    let plan = plan::plan(&design.stacks[0], &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let guest = bench.boot(&design);
    assert_eq!(build::Prerequisites::new(&guest).missing(&plan).unwrap(), None);
    let place = |journal: &MemoryJournal, wanted: &str, begins: bool| {
        journal.0.iter().position(|entry| match entry {
            build::JournalEntry::Before { step, .. } => begins && step == wanted,
            build::JournalEntry::After { step, .. } => !begins && step == wanted,
            _ => false,
        })
    };
    let mut journal = MemoryJournal::default();
    build::apply(&plan, &lab(&guest), &[], &mut journal, &|_| {}).unwrap();
    let (a, b) = ("integrity-a.format", "integrity-b.format");
    let (first, last) = (place(&journal, a, true).max(place(&journal, b, true)), place(&journal, a, false));
    assert!(first < last.min(place(&journal, b, false)), "both begin before one ends: {:?}", journal.0);
    assert!(place(&journal, "raid.create", true) > last.max(place(&journal, b, false)), "{:?}", journal.0);
    build::teardown(&plan, &lab(&guest), &journal.0.clone(), &mut journal).unwrap();

    // One is at its real format, through a mapping that it makes for a while, when the other fails.
    let script =
        "until dmsetup ls | grep -q temporary-cryptsetup; do sleep 0.05; done; echo broken on purpose >&2; exit 7";
    let mut broken = plan.clone();
    for step in broken.steps.iter_mut().filter(|step| step.id == b) {
        let argv = ["bash", "-c", script].map(terms::Word::from).to_vec();
        step.act = Act::Run(PlanCommand { argv, key: None, limit: Nanos::seconds(60) });
    }
    let mut journal = MemoryJournal::default();
    let error = build::apply(&broken, &lab(&guest), &[], &mut journal, &|_| {}).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("broken on purpose") && !matches!(error, BuildError::Rollback { .. }), "{told}");
    assert!(place(&journal, a, true).is_some() && place(&journal, a, false).is_none(), "stopped: {:?}", journal.0);
    let left = shell(&guest, "dmsetup ls; pgrep -a integritysetup; true");
    assert!(!left.contains("cryptsetup") && !left.contains("format"), "{left}");
    build::prove_blank(&guest, guest.drives(), &plan.drives).unwrap();

    // A format that is killed does not take its mapping away. It is looked at while it stands still: it has a mapping more than once,
    // and none in between. The other lane only waits until it is stopped.
    let node = &guest.drives()[&plan.drives[0]];
    let killed = format!(
        "integritysetup format --batch-mode --sector-size 4096 --integrity crc32c {node} & \
         until kill -STOP $!; until grep -q '^State:.[TZ]' /proc/$!/status; do sleep 0.01; done; \
         ls /sys/block/{}/holders/* >/dev/null 2>&1; do kill -CONT $!; sleep 0.05; done; kill -KILL $!; exit 7",
        node.trim_start_matches("/dev/")
    );
    for (id, script) in [(a, killed.as_str()), (b, "sleep 600")] {
        for step in broken.steps.iter_mut().filter(|step| step.id == id) {
            let argv = ["bash", "-c", script].map(terms::Word::from).to_vec();
            step.act = Act::Run(PlanCommand { argv, key: None, limit: Nanos::seconds(600) });
        }
    }
    let mut journal = MemoryJournal::default();
    let error = build::apply(&broken, &lab(&guest), &[], &mut journal, &|_| {}).unwrap_err();
    assert!(!matches!(error, BuildError::Rollback { .. }), "{error}");
    let removed = |entry: &build::JournalEntry| matches!(entry, build::JournalEntry::Undoing { line, .. } if line.starts_with("dmsetup remove temporary-cryptsetup-"));
    assert!(journal.0.iter().any(removed), "{:?}", journal.0);
    build::prove_blank(&guest, guest.drives(), &plan.drives).unwrap();
}

/// A journal that breaks after so many entries, as if the program were killed or the disk were full there.
struct Short(MemoryJournal, usize);

impl Journal for Short {
    fn note(&mut self, entry: &build::JournalEntry) -> std::io::Result<()> {
        if self.0.0.len() == self.1 {
            return Err(std::io::Error::from_raw_os_error(28));
        }
        self.0.note(entry)
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn teardown_finishes_from_whatever_the_journal_kept() {
    let bench = Bench::new();
    let design = design(STUDY);
    let stack = design.stacks.iter().max_by_key(|stack| stack.nodes.len()).unwrap();
    let plan = plan::plan(stack, &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let guest = bench.boot(&design);
    let mut whole = MemoryJournal::default();
    build::apply(&plan, &lab(&guest), &[], &mut whole, &|_| {}).unwrap();
    build::teardown(&plan, &lab(&guest), &whole.0.clone(), &mut whole).unwrap();
    let entries = whole.0.iter().position(|entry| matches!(entry, build::JournalEntry::Undoing { .. })).unwrap();
    for kept in [1, 2, entries / 2, entries - 2, entries - 1] {
        let mut short = Short(MemoryJournal::default(), kept);
        // It cannot even take back what it did: the journal is as good as gone.
        build::apply(&plan, &lab(&guest), &[], &mut short, &|_| {}).unwrap_err();
        let left = short.0.0;
        build::teardown(&plan, &lab(&guest), &left, &mut MemoryJournal::default())
            .unwrap_or_else(|error| panic!("after {kept} entries: {error}"));
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn teardown_cut_short_anywhere_is_finished_by_the_next() {
    let bench = Bench::new();
    let design = design(STUDY);
    let stack = design.stacks.iter().max_by_key(|stack| stack.nodes.len()).unwrap();
    let plan = plan::plan(stack, &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let guest = bench.boot(&design);
    let undos: usize = plan.steps.iter().map(|step| step.undo.len()).sum();
    for cut in 1..undos {
        let mut journal = MemoryJournal::default();
        build::apply(&plan, &lab(&guest), &[], &mut journal, &|_| {}).unwrap();
        // Killed after so many entries of the teardown; each is written before its command runs.
        let mut short = Short(MemoryJournal::default(), cut);
        build::teardown(&plan, &lab(&guest), &journal.0, &mut short).unwrap_err();
        let past: Vec<_> = journal.0.iter().chain(&short.0.0).cloned().collect();
        build::teardown(&plan, &lab(&guest), &past, &mut MemoryJournal::default())
            .unwrap_or_else(|error| panic!("cut after {cut} entries: {error}"));
    }
}

#[test]
fn what_ran_in_a_guest_replays_without_one() {
    let bench = Bench::new();
    let plan = first_plan(STUDY, &design(STUDY).stacks[1].name);
    let guest = bench.boot(&design(STUDY));
    let body = |host: &dyn Host| {
        let mut journal = MemoryJournal::default();
        let authority = Authority::lab(host, guest.drives()).unwrap();
        build::apply(&plan, &authority, &[], &mut journal, &|_| {}).unwrap();
        let past = journal.0.clone();
        build::teardown(&plan, &authority, &past, &mut journal).unwrap();
        let steps = journal.0.iter().filter(|entry| !matches!(entry, build::JournalEntry::After { .. }));
        steps.cloned().collect::<Vec<_>>()
    };
    let recording = Recording::new(&guest);
    let real = body(&recording);
    let replay = Replay::new("recorded", recording.transcript());
    assert_eq!(body(&replay), real);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_module_that_is_not_there_is_told_with_what_brings_it() {
    let bench = Bench::new();
    let mut plan = first_plan(STUDY, &design(STUDY).stacks[0].name);
    let guest = bench.boot(&design(STUDY));
    assert_eq!(build::Prerequisites::new(&guest).missing(&plan).unwrap(), None);
    plan.needs.push(terms::plan::Prerequisite::Module("no-such-module".to_owned()));
    let missing = build::Prerequisites::new(&guest).missing(&plan).unwrap().unwrap();
    assert!(missing.what.contains("no-such-module") && !missing.remedy.is_empty(), "{missing:?}");
}

/// What a drive leaves unanswered, the kernel says after 30 seconds; fio does not end before.
#[test]
fn an_emulated_drive_answers_every_command() {
    let bench = Bench::new();
    let guest = bench.boot(&design(STUDY));
    let said = shell(
        &guest,
        "cd /tmp && for depth in 1 4 16; do fio --name=x --filename=/dev/nvme0n1 --rw=randwrite --bs=16k --ioengine=libaio \
         --direct=1 --iodepth=$depth --fdatasync=$((depth < 16)) --runtime=7 --time_based --minimal >/dev/null; done; \
         dmesg | grep -i nvme | grep -iE 'timeout|abort|reset' || true",
    );
    assert_eq!(said, "", "the kernel waited for a drive of QEMU's in vain");
}
