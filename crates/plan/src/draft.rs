//! The plan in the making: steps, undos and needs as layers add them.

use std::collections::{BTreeMap, BTreeSet};

use terms::plan::{Act, Condition, Effect, Mark, PlanCommand, Prerequisite, Step, Undo};
use terms::{Bytes, Name, Nanos, Word};

use crate::naming::Naming;

/// Words of a command.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(terms::Word::from($word)),*] };
}
pub(crate) use words;

/// The plan in the making.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Names of this stack.
    pub(crate) naming: Naming,
    /// Steps so far.
    pub(crate) steps: Vec<Step>,
    /// Ids of the steps, and for those that were wanted again the number that the last one got.
    ids: BTreeMap<String, usize>,
    /// Kernel modules so far; most programs are read off the steps.
    pub(crate) modules: BTreeSet<String>,
    /// Programs that scripts among the steps run.
    programs: BTreeSet<String>,
    /// Arrays that are kept resynchronising while they are measured.
    pub(crate) resyncs: Vec<Word>,
}

impl Draft {
    /// Nothing yet.
    pub(crate) fn new(slug: &str) -> Self {
        Self {
            naming: Naming::new(slug),
            steps: Vec::new(),
            ids: BTreeMap::new(),
            modules: BTreeSet::new(),
            programs: BTreeSet::new(),
            resyncs: Vec::new(),
        }
    }

    /// Kernel modules that a layer needs.
    pub(crate) fn modules<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.modules.extend(names.into_iter().map(str::to_owned));
    }

    /// Programs that a layer's scripts run.
    pub(crate) fn programs(&mut self, names: &[&str]) {
        self.programs.extend(names.iter().map(|name| (*name).to_owned()));
    }

    /// Adds a step. Ids stay unique whatever names people give to their layers.
    pub(crate) fn push(&mut self, doing: StepBuilder) {
        let mut step = doing.0;
        let wanted = step.id.clone();
        let mut count = self.ids.get(&wanted).copied().unwrap_or(1);
        while self.ids.contains_key(&step.id) {
            count += 1;
            step.id = format!("{wanted}-{count}");
        }
        self.ids.insert(wanted, count);
        self.ids.entry(step.id.clone()).or_insert(1);
        self.steps.push(step);
    }

    /// Modules and every program that a step, a wait or an undo runs, each once.
    pub(crate) fn needs(&self) -> Vec<Prerequisite> {
        let mut needs: BTreeSet<Prerequisite> = self.modules.iter().cloned().map(Prerequisite::Module).collect();
        needs.extend(self.programs.iter().cloned().map(Prerequisite::Program));
        let program =
            |command: &PlanCommand| command.argv.first()?.text().map(|name| Prerequisite::Program(name.to_owned()));
        for step in &self.steps {
            match &step.act {
                Act::Run(command) => needs.extend(program(command)),
                Act::Wait(Condition::LvSynced { .. }) => needs.extend([Prerequisite::Program("lvs".to_owned())]),
                Act::Wait(Condition::Sanitized { .. }) => needs.extend([Prerequisite::Program("nvme".to_owned())]),
                Act::Wait(Condition::MdIdle { .. }) | Act::Write { .. } => {}
            }
            needs.extend(step.undo.iter().filter_map(|undo| program(&undo.command)));
        }
        needs.into_iter().collect()
    }
}

/// A command that takes no key and at most a minute.
pub(crate) fn command(argv: Vec<Word>) -> PlanCommand {
    PlanCommand { argv, key: None, limit: Nanos::seconds(60) }
}

/// A time limit for work that reads or writes all of a device: ten minutes, or longer where even 10 MB/s would
/// need longer. (An emulated drive under software encryption does several times that.)
pub(crate) fn whole_device(size: Bytes) -> Nanos {
    Nanos::seconds((size.0 / 10_000_000).max(600))
}

/// A step being described.
#[derive(Debug)]
pub(crate) struct StepBuilder(Step);

impl StepBuilder {
    fn new(layer: &Name, act: &str, why: impl Into<String>, what: Act) -> Self {
        Self(Step {
            id: format!("{layer}.{act}"),
            layer: layer.clone(),
            why: why.into(),
            act: what,
            effect: None,
            undo: Vec::new(),
            erases: Vec::new(),
            marks: Vec::new(),
        })
    }

    /// A command to run.
    pub(crate) fn run(layer: &Name, act: &str, why: impl Into<String>, argv: Vec<Word>) -> Self {
        Self::new(layer, act, why, Act::Run(command(argv)))
    }

    /// Something to wait for.
    pub(crate) fn wait(layer: &Name, act: &str, why: impl Into<String>, condition: Condition) -> Self {
        Self::new(layer, act, why, Act::Wait(condition))
    }

    /// A text to write into sysfs.
    pub(crate) fn write(layer: &Name, act: &str, why: impl Into<String>, path: Word, text: &str) -> Self {
        Self::new(layer, act, why, Act::Write { path, text: text.to_owned() })
    }

    /// A longer limit.
    pub(crate) fn limit(mut self, limit: Nanos) -> Self {
        if let Act::Run(command) = &mut self.0.act {
            command.limit = limit;
        }
        self
    }

    /// A key on standard input.
    pub(crate) fn key(mut self, name: &Name) -> Self {
        if let Act::Run(command) = &mut self.0.act {
            command.key = Some(name.clone());
        }
        self
    }

    /// The node that is there afterwards.
    pub(crate) fn makes_node(mut self, node: &Word) -> Self {
        self.0.effect = Some(Effect::Node(node.clone()));
        self
    }

    /// The signature that is there afterwards, with the identifier that the step gives it.
    pub(crate) fn makes_signature(mut self, node: &Word, kind: &str, uuid: Option<Word>) -> Self {
        self.0.effect = Some(Effect::Signature { node: node.clone(), kind: kind.to_owned() });
        self.marks(node, kind, uuid)
    }

    /// One more signature that it writes.
    pub(crate) fn marks(mut self, node: &Word, kind: &str, uuid: Option<Word>) -> Self {
        self.0.marks.push(Mark { node: node.clone(), kind: kind.to_owned(), uuid });
        self
    }

    /// The volume group or the pool that is there afterwards.
    pub(crate) fn makes(mut self, effect: Effect) -> Self {
        self.0.effect = Some(effect);
        self
    }

    /// The directory that is mounted afterwards.
    pub(crate) fn makes_mount(mut self, directory: &str) -> Self {
        self.0.effect = Some(Effect::Mount(directory.to_owned()));
        self
    }

    /// One more command that takes it back.
    pub(crate) fn undo(self, why: impl Into<String>, argv: Vec<Word>) -> Self {
        self.undo_within(why, argv, Nanos::seconds(60))
    }

    /// One more command that takes it back, with its own limit.
    pub(crate) fn undo_within(mut self, why: impl Into<String>, argv: Vec<Word>, limit: Nanos) -> Self {
        self.0.undo.push(Undo { why: why.into(), command: PlanCommand { limit, ..command(argv) } });
        self
    }

    /// Drives whose content it destroys.
    pub(crate) fn erases(mut self, drives: Vec<Name>) -> Self {
        self.0.erases = drives;
        self
    }
}
