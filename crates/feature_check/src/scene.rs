//! Where a feature check happens: the machine, with everything that is done written down.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use host::interrupt;
use terms::command::edges;
use terms::plan::{Placeholder, PlanCommand, Word, WorkPlace, partition_of};
use terms::{Cmd, Effect, FeatureCheckStep, Layer, LayerNode, Name, Nanos, Outcome, Ref};

use crate::Subject;
use crate::error::FeatureCheckError;

/// Characters of a command's output that are kept: enough for a table of twenty lines.
const SAID: usize = 1600;
/// How long a command may take that works through a whole drive: a mirror of several GiB under emulation.
pub(crate) const WHOLE: Nanos = Nanos::seconds(900);
/// How often something that is waited for is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// The machine, the stack, and what was done so far.
pub(crate) struct Scene<'a> {
    pub(crate) subject: Subject<'a>,
    /// Nodes of the drives of now: one that was put back may have another.
    drives: RefCell<BTreeMap<Name, String>>,
    steps: RefCell<Vec<FeatureCheckStep>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(subject: Subject<'a>) -> Self {
        Self { subject, drives: RefCell::new(subject.drives.clone()), steps: RefCell::new(Vec::new()) }
    }

    pub(crate) fn into_steps(self) -> Vec<FeatureCheckStep> {
        self.steps.into_inner()
    }

    /// Runs a program and writes it down. A status other than 0 is an outcome.
    pub(crate) fn run(&self, why: &str, cmd: &Cmd) -> Result<Outcome, FeatureCheckError> {
        let outcome = self.subject.host.run(cmd)?;
        let text = [outcome.text(), outcome.error_text()].join("\n");
        let late = if outcome.timed_out { "ended because its time was up\n" } else { "" };
        self.steps.borrow_mut().push(FeatureCheckStep {
            why: why.to_owned(),
            line: cmd.line(),
            argv: cmd.argv.clone(),
            status: Some(outcome.status),
            said: edges(&format!("{late}{}", text.trim()), SAID).into_owned(),
            seen: None,
        });
        Ok(outcome)
    }

    /// The same for a program that must succeed.
    pub(crate) fn run_ok(&self, why: &str, cmd: &Cmd) -> Result<Outcome, FeatureCheckError> {
        let outcome = self.run(why, cmd)?;
        if outcome.ok() {
            return Ok(outcome);
        }
        Err(host::HostError::from(host::CommandFailure::new(&self.subject.host.name(), cmd, outcome)).into())
    }

    /// Writes a text into a file of the kernel, and writes that down.
    pub(crate) fn echo(&self, why: &str, text: &str, path: &str) -> Result<(), FeatureCheckError> {
        self.subject.host.write(path, text.as_bytes())?;
        self.steps.borrow_mut().push(FeatureCheckStep {
            why: why.to_owned(),
            line: format!("echo {} > {path}", terms::command::quote(text)),
            argv: Vec::new(),
            status: Some(0),
            said: String::new(),
            seen: None,
        });
        Ok(())
    }

    /// Writes down something that was done without a program.
    pub(crate) fn note(&self, why: &str, line: &str, seen: String) {
        self.steps.borrow_mut().push(FeatureCheckStep {
            why: why.to_owned(),
            line: line.to_owned(),
            argv: Vec::new(),
            status: None,
            said: String::new(),
            seen: Some(seen),
        });
    }

    /// Says what was made of the step before.
    pub(crate) fn seen(&self, what: impl Into<String>) {
        if let Some(step) = self.steps.borrow_mut().last_mut() {
            step.seen = Some(what.into());
        }
    }

    /// Binary output is of no use to a reader: says how much there was instead.
    pub(crate) fn hide_output(&self, bytes: usize) {
        if let Some(step) = self.steps.borrow_mut().last_mut() {
            step.said = format!("({bytes} bytes)");
        }
    }

    /// Waits until something is so.
    pub(crate) fn await_that(
        &self,
        what: &str,
        limit: Nanos,
        mut holds: impl FnMut() -> Result<bool, FeatureCheckError>,
    ) -> Result<(), FeatureCheckError> {
        let start = Instant::now();
        while !holds()? {
            interrupt::check()?;
            if start.elapsed() > limit.to_duration() {
                return Err(FeatureCheckError::Late { what: what.to_owned(), seconds: limit.to_duration().as_secs() });
            }
            self.subject.host.pause(PAUSE)?;
        }
        Ok(())
    }

    /// The layers, in building order.
    pub(crate) fn nodes(&self) -> &'a [LayerNode] {
        &self.subject.stack.nodes
    }

    /// The layer that rests on something.
    pub(crate) fn above(&self, below: &Ref) -> Option<&'a LayerNode> {
        self.nodes().iter().find(|node| node.on.contains(below) || node.special.contains(below))
    }

    /// Today's node of a drive.
    pub(crate) fn drive(&self, name: &Name) -> Result<String, FeatureCheckError> {
        let found = self.drives.borrow().get(name).cloned();
        found.ok_or_else(|| FeatureCheckError::Strange(format!("drive `{name}` is not known")))
    }

    /// The drive that was put back has this node.
    pub(crate) fn rebind(&self, name: &Name, node: String) {
        self.drives.borrow_mut().insert(name.clone(), node);
    }

    /// Where data go: a directory or a device.
    pub(crate) const fn target(&self) -> &'a WorkPlace {
        self.subject.target
    }

    /// The device that a layer of the plan made, where it made one.
    pub(crate) fn device(&self, layer: &Name) -> Result<Option<String>, FeatureCheckError> {
        let steps = self.subject.plan.steps.iter().filter(|step| &step.layer == layer);
        // A drive that ZFS partitions is no device of that layer's own.
        let is_part = self.nodes().iter().any(|node| &node.name == layer && node.layer.shares_drive());
        let made = steps.filter_map(|step| match &step.effect {
            Some(Effect::Node(word)) if is_part || !word.is_of_drive() => Some((step.id.as_str(), word)),
            _ => None,
        });
        // A volume comes before its snapshot.
        made.map(|(id, word)| self.word(id, word)).next().transpose()
    }

    /// What rests under a layer: today's nodes of its members.
    pub(crate) fn device_of(&self, below: &Ref) -> Result<String, FeatureCheckError> {
        match below {
            Ref::Drive(name) => self.drive(name),
            Ref::Layer(name) => {
                let device = self.device(name)?;
                device.ok_or_else(|| FeatureCheckError::Strange(format!("layer `{name}` makes no device")))
            }
        }
    }

    /// A word of the plan on this machine.
    pub(crate) fn word(&self, step: &str, word: &Word) -> Result<String, FeatureCheckError> {
        let drives = self.drives.borrow();
        let filled = word.resolve(|place| match place {
            Placeholder::Drive(name) => drives.get(name).cloned(),
            Placeholder::Partition(name, number) => drives.get(name).map(|node| partition_of(node, *number)),
            // What is made anew is another than what was lost.
            Placeholder::Uuid(_) => self.subject.host.read_text(host::RANDOM_UUID).ok(),
            Placeholder::Controller(_) | Placeholder::SysfsOf(_) | Placeholder::Sysfs(_) => None,
        });
        filled.map_err(|source| FeatureCheckError::Unresolved { step: step.to_owned(), source })
    }

    /// A command of the plan on this machine, without its key.
    pub(crate) fn command(&self, step: &str, command: &PlanCommand) -> Result<Cmd, FeatureCheckError> {
        let argv = command.argv.iter().map(|word| self.word(step, word)).collect::<Result<Vec<_>, _>>()?;
        Ok(Cmd::new(argv).limit(command.limit).step(step))
    }

    /// The pool of a stack whose top is ZFS.
    pub(crate) fn pool(&self) -> Option<String> {
        let node = self.nodes().iter().find(|node| matches!(node.layer, Layer::Zfs(_)))?;
        let steps = self.subject.plan.steps.iter().filter(|step| step.layer == node.name);
        let destroy = steps.flat_map(|step| &step.undo).find(|undo| {
            undo.command.argv.first().is_some_and(|word| word == "zpool")
                && undo.command.argv.get(1).is_some_and(|word| word == "destroy")
        })?;
        destroy.command.argv.last()?.text().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_is_cut_in_its_middle() {
        let text = format!("begin{}end", "é".repeat(4000));
        let short = edges(&text, SAID);
        assert!(short.len() < 1700 && short.starts_with("begin") && short.ends_with("end"), "{short}");
        assert_eq!(edges("short", SAID), "short");
    }
}
