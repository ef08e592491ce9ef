//! Sizes of real devices and file systems are those of the arithmetic.
//!
//! The plans' own commands build every stack, on drives of several sizes. What passes over whole drives is left out
//! (first resync, wipe of tags), because a size does not depend on it, and drives here are sparse and up to 2 TB.
//!
//! `cargo test -p bedplate --features lab-tests --test lab capacity -- --nocapture` prints every figure. The long tests
//! build all stacks of `studies/capacity.toml`, the others every seventh.

use host::Host;
use lab::Guest;
use terms::account::{Exactness, Purpose};
use terms::layer::RaidLevel;
use terms::plan::{Act, Placeholder, Plan, PlanCommand, Prerequisite, WorkTarget, partition_of};
use terms::{Cmd, Layer, Name, Nanos, Stack, Word};

use crate::bench::{Bench, design};

/// The plan without passes over whole drives.
pub(crate) fn hasten(plan: &mut Plan, stack: &Stack) {
    plan.steps.retain(|step| matches!(step.act, Act::Run(_)));
    let redundant =
        |node: &&terms::LayerNode| matches!(&node.layer, Layer::Raid(raid) if raid.level != RaidLevel::Raid0);
    let arrays: Vec<_> = stack.nodes.iter().filter(redundant).map(|node| node.name.clone()).collect();
    for step in &mut plan.steps {
        let Act::Run(command) = &mut step.act else { continue };
        let argv: Vec<String> = command.argv.iter().map(ToString::to_string).collect();
        let has = |option: &str| argv.iter().any(|word| word == option);
        let more = match (argv[0].as_str(), argv[1].as_str()) {
            ("integritysetup", "format") => Some((2, "--no-wipe")),
            ("cryptsetup", "luksFormat") if has("--integrity") => Some((2, "--integrity-no-wipe")),
            ("mdadm", "--create") if arrays.contains(&step.layer) => Some((2, "--assume-clean")),
            // RAID-6 does not go without a first pass.
            ("lvcreate", _) if has("raid1") || has("raid10") || has("raid5") => Some((1, "--nosync")),
            _ => None,
        };
        if let Some((at, option)) = more {
            command.argv.insert(at, Word::from(option));
        }
        if argv[0] == "mkfs.ext4" {
            command.argv = argv.iter().map(|word| Word::parse(&word.replace("_init=0", "_init=1")).unwrap()).collect();
        }
    }
}

/// A stack in a guest, built and taken down without a journal, which would take most of the time.
pub(crate) struct Standing<'a> {
    pub(crate) guest: &'a Guest,
    pub(crate) plan: &'a Plan,
}

impl Standing<'_> {
    pub(crate) fn word(&self, word: &Word) -> String {
        let node = |name: &Name| self.guest.drives().get(name);
        let fill = |place: &Placeholder| match place {
            Placeholder::Uuid(layer) => Some(self.uuid(layer)),
            Placeholder::Drive(name) => node(name).cloned(),
            Placeholder::Partition(name, number) => Some(partition_of(node(name)?, *number)),
            Placeholder::Controller(_) | Placeholder::SysfsOf(_) | Placeholder::Sysfs(_) => None,
        };
        word.resolve(fill).unwrap()
    }

    /// One for each layer, the same wherever the plan names it.
    fn uuid(&self, layer: &Name) -> String {
        let place = self.plan.steps.iter().position(|step| step.layer == *layer).unwrap();
        format!("00000000-0000-4000-8000-{place:012x}")
    }

    pub(crate) fn run(&self, command: &PlanCommand) -> Result<String, host::HostError> {
        let argv: Vec<String> = command.argv.iter().map(|word| self.word(word)).collect();
        let key: &[u8] = if command.key.is_some() { &[7; 64] } else { &[] };
        // A size does not depend on the time it takes.
        let cmd = Cmd::new(argv).stdin(key).limit(Nanos::seconds(600));
        Ok(self.guest.run_ok(&cmd)?.text())
    }

    fn ask(&self, argv: &[&str]) -> Vec<u64> {
        let command = PlanCommand {
            argv: argv.iter().map(|word| Word::parse(word).unwrap()).collect(),
            key: None,
            limit: Nanos::seconds(20),
        };
        self.run(&command).unwrap().split_whitespace().map(|word| word.parse().unwrap()).collect()
    }

    pub(crate) fn build(&self) -> Result<(), host::HostError> {
        for need in &self.plan.needs {
            if let Prerequisite::Module(module) = need {
                self.guest.run_ok(&Cmd::new(["modprobe", module.as_str()]).limit(Nanos::seconds(60)))?;
            }
        }
        for step in &self.plan.steps {
            if let Act::Run(command) = &step.act {
                self.run(command)?;
            }
        }
        Ok(())
    }

    /// Size of the whole and what can be written, as the machine tells them.
    fn told(&self) -> (u64, u64) {
        match &self.plan.target {
            WorkTarget::Device(node) => {
                let size = self.ask(&["blockdev", "--getsize64", &node.to_string()])[0];
                (size, size)
            }
            WorkTarget::Directory(directory) => {
                // Unit, blocks, blocks for everybody.
                let told = self.ask(&["stat", "--file-system", "--format=%S %b %a", directory]);
                (told[0] * told[1], told[0] * told[2])
            }
        }
    }

    /// What is left in the only volume group, in bytes.
    fn left_in_group(&self) -> u64 {
        self.ask(&["vgs", "--noheadings", "--nosuffix", "--units", "b", "--options", "vg_free"])[0]
    }

    /// Takes everything down.
    pub(crate) fn take_down(&self) {
        for undo in self.plan.steps.iter().rev().flat_map(|step| &step.undo) {
            // What a failed build did not make cannot be undone; the next stack would not stand on what is left.
            let _ = self.run(&undo.command);
        }
    }

    /// Takes the content of the drives away.
    pub(crate) fn blank(&self) {
        for drive in &self.plan.drives {
            self.ask(&["blkdiscard", "--force", &format!("{{drive:{drive}}}")]);
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
    let design = design("crates/bedplate/tests/studies/capacity.toml");
    let facts = plan::DriveSize::of_lab(&design.lab);
    let size = |fact: &plan::DriveSize| capacity::DriveSize {
        name: fact.name.clone(),
        size: fact.size,
        lba: fact.lba,
        slice: fact.slice,
    };
    let sizes: Vec<_> = facts.iter().map(size).collect();
    let guest = bench.boot(&design);
    let (mut wrong, mut good, mut exact) = (Vec::new(), 0, 0);
    let every = crate::bench::every(7);
    for stack in design.stacks.iter().step_by(every) {
        let account = capacity::account(stack, &sizes).unwrap();
        assert!(account.entries.iter().all(terms::LayerAccount::balances), "{account:#?}");
        let mut plan = plan::plan(stack, &facts).unwrap();
        hasten(&mut plan, stack);
        let standing = Standing { guest: &guest, plan: &plan };
        if let Err(error) = standing.build() {
            wrong.push(format!("{}: {error}", stack.name));
            println!("BAD {}: {error}", stack.name);
        } else {
            let told = standing.told();
            let expected = (account.total.0, account.shown.unwrap_or(account.available).0);
            // Of volume groups also what is beside the volume.
            let unused = account.used_for(Purpose::Unused).0;
            if unused > 0 && standing.left_in_group() != unused {
                wrong.push(format!("{}: {} left in the group, not {unused}", stack.name, standing.left_in_group()));
            }
            let exactness = account.entries.last().unwrap().exactness;
            let line = format!("{:44} told {told:?} expected {expected:?}", stack.name);
            if within(told.0, expected.0, exactness) && within(told.1, expected.1, exactness) {
                (good, exact) = (good + 1, exact + usize::from(told == expected));
                println!("{} {line}", if told == expected { "byte" } else { "near" });
            } else {
                println!("BAD  {line}");
                wrong.push(line);
            }
        }
        standing.take_down();
        standing.blank();
    }
    println!("{good} stacks as expected, {exact} of them to the byte");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    drop(guest);
    bench.assert_nothing_left();
}
