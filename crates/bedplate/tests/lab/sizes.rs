//! Sizes of real devices and file systems are those of the arithmetic.
//!
//! The plans' own commands build every stack, on drives of several sizes. What passes over whole drives is left out
//! (first resync, wipe of tags), because a size does not depend on it and drives here are up to 2 TB and sparse.
//!
//! `cargo test -p bedplate --features lab-tests --test lab capacity -- --nocapture` prints every figure.

use build::{Consent, Memory};
use host::Host;
use lab::Guest;
use terms::account::Exactness;
use terms::layer::RaidLevel;
use terms::plan::{Act, Place, Plan};
use terms::{Cmd, Layer, Nanos, Stack, Word};

use crate::bench::Bench;

/// The plan without passes over whole drives.
fn hasten(plan: &mut Plan, stack: &Stack) {
    plan.steps.retain(|step| !matches!(step.act, Act::Wait(_)) && !step.id.contains("keep-members"));
    for step in &mut plan.steps {
        let Act::Run(command) = &mut step.act else { continue };
        let argv: Vec<String> = command.argv.iter().map(|word| word.0.clone()).collect();
        let mut insert = |at: usize, words: &[&str]| {
            command.argv.splice(at..at, words.iter().map(|word| Word((*word).to_owned())));
        };
        if argv[..2] == ["integritysetup", "format"] {
            insert(2, &["--no-wipe"]);
        }
        if argv[..2] == ["cryptsetup", "luksFormat"] && argv.iter().any(|word| word == "--integrity") {
            insert(2, &["--integrity-no-wipe"]);
        }
        let redundant = stack.nodes.iter().any(
            |node| matches!(&node.layer, Layer::Raid(raid) if raid.level != RaidLevel::Raid0 && step.layer == node.name),
        );
        if argv[..2] == ["mdadm", "--create"] && redundant && !argv.contains(&"--assume-clean".to_owned()) {
            insert(2, &["--assume-clean"]);
        }
        // LVM knows no such shortcut for RAID-6; its resync is slow enough to be stopped by taking the volume down.
        let raid = |kind: &str| argv.contains(&kind.to_owned());
        if argv[0] == "lvcreate" && !raid("--raidintegrity") && (raid("raid1") || raid("raid10") || raid("raid5")) {
            insert(1, &["--nosync"]);
        }
        if argv[0] == "mkfs.ext4" {
            command.argv.iter_mut().for_each(|word| word.0 = word.0.replace("_init=0", "_init=1"));
        }
    }
}

fn ask(guest: &Guest, argv: &[&str]) -> Vec<u64> {
    let outcome = guest.run_ok(&Cmd::new(argv.iter().copied()).limit(Nanos::seconds(20))).unwrap();
    outcome.text().split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// Size of the whole and what can be written, as the machine tells them.
fn told(guest: &Guest, place: &Place) -> (u64, u64) {
    match place {
        Place::Device(node) => {
            let size = ask(guest, &["blockdev", "--getsize64", node])[0];
            (size, size)
        }
        Place::Directory(directory) => {
            // Unit, blocks, blocks for everybody.
            let told = ask(guest, &["stat", "--file-system", "--format=%S %b %a", directory]);
            (told[0] * told[1], told[0] * told[2])
        }
    }
}

fn within(told: u64, expected: u64, exactness: Exactness) -> bool {
    match exactness {
        Exactness::Byte => told == expected,
        Exactness::Thousandth => told.abs_diff(expected) * 1000 <= told,
    }
}

#[test]
fn capacity_is_that_of_the_arithmetic() {
    let bench = Bench::new();
    let design = crate::bench::design("crates/bedplate/tests/studies/capacity.toml");
    let facts = plan::DriveFact::of_lab(&design.lab);
    let sizes: Vec<_> = facts
        .iter()
        .map(|fact| capacity::DriveSize {
            name: fact.name.clone(),
            size: fact.size,
            lba: fact.lba,
            slice: fact.slice,
        })
        .collect();
    let guest = bench.boot(&design);
    let consent = Consent(guest.drives().keys().cloned().collect());
    let (mut wrong, mut bytes, mut shares) = (Vec::new(), 0, 0);
    for stack in &design.stacks {
        let account = capacity::account(stack, &sizes).unwrap();
        assert!(account.entries.iter().all(terms::Entry::balances), "{account:#?}");
        let mut plan = plan::plan(stack, &facts).unwrap();
        hasten(&mut plan, stack);
        let mut journal = Memory::default();
        let built = match build::apply(&plan, &guest, guest.drives(), &consent, &[], &mut journal, &|_| {}) {
            Ok(built) => built,
            Err(error) => {
                wrong.push(format!("{}: {error}", stack.name));
                continue;
            }
        };
        let (total, available) = told(&guest, &built.target);
        let exactness = account.entries.last().unwrap().exactness;
        let good = within(total, account.total.0, exactness) && within(available, account.available.0, exactness);
        let line = format!(
            "{:44} told {total} {available} expected {} {} ({:+} {:+})",
            stack.name,
            account.total.0,
            account.available.0,
            total as i128 - i128::from(account.total.0),
            available as i128 - i128::from(account.available.0)
        );
        println!("{} {line}", if good { "ok " } else { "BAD" });
        if good {
            let exact = (total, available) == (account.total.0, account.available.0);
            (bytes, shares) = (bytes + usize::from(exact), shares + 1);
        } else {
            wrong.push(line);
        }
        let past = journal.0.clone();
        build::teardown(&plan, &guest, guest.drives(), &past, &mut journal).unwrap();
    }
    println!("{shares} of {} stacks, {bytes} of them to the byte", design.stacks.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    drop(guest);
    bench.assert_nothing_left();
}
