//! What fixes a finding, step by step, and what each step can lose.
//!
//! A step cannot be made without saying so: one that only asks is [`Found::look`], one that can be put back is
//! [`Found::fix`], every other is [`Found::run`] and begins with what it [`Loses`].

use terms::diagnosis::{Finding, Fix, Place, Remedy, Seen, Severity};

use crate::words::list;

/// What carrying out a command can lose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Loses {
    /// Nothing, also where it is stopped in the middle.
    Nothing,
    /// Nothing if all goes well; until it is done, this is so and was not before.
    Meanwhile(String),
    /// What is on something that a person brings. Nothing of what is there already.
    Brought(String),
    /// These data.
    Data(String),
}

/// What a step is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only asks.
    Asks,
    /// A setting of the kernel, which is put back by writing what was there.
    Sets,
    /// It changes something else.
    Changes(Loses),
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) effect: Effect,
}

/// A finding with what fixes it, before it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) check: &'static str,
    pub(crate) severity: Severity,
    pub(crate) place: Place,
    what: String,
    why: String,
    seen: Vec<Seen>,
    pub(crate) advice: String,
    pub(crate) steps: Vec<Step>,
    /// Does the advice end with the drive being replaced?
    pub(crate) replaces: bool,
    fixes: Vec<Fix>,
}

/// A finding without evidence and a fix, which are added to it: what is so, and what it costs.
pub(crate) fn finding(severity: Severity, place: &Place, what: impl Into<String>, why: impl Into<String>) -> Found {
    Found {
        check: "",
        severity,
        place: place.clone(),
        what: what.into(),
        why: why.into(),
        seen: Vec::new(),
        advice: String::new(),
        steps: Vec::new(),
        replaces: false,
        fixes: Vec::new(),
    }
}

impl Found {
    /// Adds a piece of evidence.
    pub(crate) fn seen(mut self, source: impl Into<String>, value: impl std::fmt::Display) -> Self {
        self.seen.push(Seen { source: source.into(), value: value.to_string() });
        self
    }

    /// Says what is to be done.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// The same where that may be to replace the drive.
    pub(crate) fn advise_to_replace(self, advice: impl Into<String>) -> Self {
        Self { replaces: true, ..self.advise(advice) }
    }

    /// Adds a command that only asks: what to know before the next one, or whether the last one did it.
    pub(crate) fn look(self, command: impl Into<String>) -> Self {
        self.step(command, Effect::Asks)
    }

    /// Adds a command that changes something.
    pub(crate) fn run(self, loses: Loses, command: impl Into<String>) -> Self {
        self.step(command, Effect::Changes(loses))
    }

    /// Adds a write to a file of the kernel that fixes it and can be taken back, and the command for a person.
    pub(crate) fn fix(self, path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        let fix = Fix { path: path.into(), old: old.into(), new: new.into() };
        let command = fix.command();
        self.fix_silently(fix).step(command, Effect::Sets)
    }

    /// Adds such a write, where one command for a person stands for many of them.
    pub(crate) fn fix_silently(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Adds a command that does what such writes do.
    pub(crate) fn set(self, command: impl Into<String>) -> Self {
        self.step(command, Effect::Sets)
    }

    fn step(mut self, command: impl Into<String>, effect: Effect) -> Self {
        self.steps.push(Step { command: command.into(), effect });
        self
    }

    /// It as it is told to people and programs.
    pub(crate) fn told(self) -> Finding {
        let (mut weakens, mut destroys) = (Vec::new(), Vec::new());
        for step in &self.steps {
            match &step.effect {
                Effect::Changes(Loses::Meanwhile(what)) if !weakens.contains(what) => weakens.push(what.clone()),
                Effect::Changes(Loses::Brought(what) | Loses::Data(what)) if !destroys.contains(what) => {
                    destroys.push(what.clone());
                }
                _ => {}
            }
        }
        let told = |all: Vec<String>| (!all.is_empty()).then(|| list(&all));
        Finding {
            check: self.check.to_owned(),
            severity: self.severity,
            place: self.place,
            what: self.what,
            why: self.why,
            seen: self.seen,
            remedy: Remedy {
                advice: self.advice,
                commands: self.steps.into_iter().map(|step| step.command).collect(),
                destroys: told(destroys),
                weakens: told(weakens),
                fixes: self.fixes,
            },
        }
    }
}
