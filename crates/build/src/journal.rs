//! What was done to a machine, written down before it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use claim::{Identity, WrittenMark};
use serde::{Deserialize, Serialize};
use terms::{Name, Word};

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "entry")]
pub enum JournalEntry {
    /// A plan begins to be carried out.
    Begin {
        /// Slug of the stack.
        stack: String,
        /// Round, from 1.
        round: u32,
        /// Nodes of the plan's drives: name and node of today.
        drives: Vec<(String, String)>,
        /// Where it is carried out; `None` in a guest, which goes with all that stands in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Box<Origin>>,
    },
    /// A step is about to run.
    Before {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
        /// What will be done.
        line: String,
        /// For a setting: the text to put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old: Option<String>,
        /// What it will write on devices, with the identifiers that it gives.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        makes: Vec<Made>,
    },
    /// A step ran and its effect was seen.
    After {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
        /// How long it took.
        took_ns: terms::Nanos,
        /// What it wrote, where its tool drew the identifier.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        made: Vec<Made>,
    },
    /// A step was found done by us before, and left alone.
    Found {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
    },
    /// A step failed.
    Failed {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
        /// Why.
        why: String,
    },
    /// A step is about to be taken back.
    Undoing {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
        /// What will be done.
        line: String,
    },
    /// A step was taken back.
    Undone {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
    },
    /// The stack is down and its drives are blank.
    Down {
        /// Slug of the stack.
        stack: String,
    },
}

impl JournalEntry {
    /// Where a plan was begun on drives that outlive the run.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Begin { origin, .. } => origin.as_deref(),
            _ => None,
        }
    }
}

/// The machine and the drives that a plan is carried out on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `local`, `ssh://…`.
    pub place: String,
    /// What the machine's own system calls it (machine-id(5)), where it tells.
    pub machine: Option<String>,
    /// Which start of the machine (random(4)).
    pub boot: String,
    /// By what programs are marked that are started for it (`host::orphan::mark`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// SHA-256 of the plan as it stands in the record.
    pub plan_sha256: String,
    /// The drives that may be written, each as it was looked at.
    pub drives: BTreeMap<Name, Identity>,
}

/// A signature on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The device, as the plan names it.
    pub node: Word,
    /// What is written on it.
    #[serde(flatten)]
    pub signature: WrittenMark,
}

/// Somewhere to write entries that survive the writer.
pub trait Journal: Send {
    /// Keeps an entry; when this returns, it is on stable storage.
    ///
    /// # Errors
    /// Where it cannot be kept. The caller then does nothing more.
    fn note(&mut self, entry: &JournalEntry) -> io::Result<()>;
}

/// A journal in memory, for tests and for guests that are gone when this program is.
#[derive(Debug, Default)]
pub struct MemoryJournal(pub Vec<JournalEntry>);

impl Journal for MemoryJournal {
    fn note(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.0.push(entry.clone());
        Ok(())
    }
}

/// Steps of a stack that were begun and not taken back since, in the order in which they were begun, and the old
/// texts of settings. A step that was begun and not finished counts: it may have done a part.
pub(crate) fn begun(entries: &[JournalEntry], slug: &str) -> Vec<(String, Option<String>)> {
    let mut steps: Vec<(String, Option<String>)> = Vec::new();
    for entry in entries {
        match entry {
            JournalEntry::Before { stack, step, old, .. }
                if stack == slug && !steps.iter().any(|(known, _)| known == step) =>
            {
                steps.push((step.clone(), old.clone()));
            }
            JournalEntry::Undone { stack, step } if stack == slug => steps.retain(|(known, _)| known != step),
            JournalEntry::Down { stack } if stack == slug => steps.clear(),
            _ => {}
        }
    }
    steps
}

/// What a run wrote on devices, by its journal: whatever has an identifier. Without one the kind alone tells it, and only
/// while the step that writes it is begun and not taken back: where it was cut short before its tool's choice could be
/// read, or there is nothing to choose.
pub(crate) fn signatures(entries: &[JournalEntry], slug: &str) -> Vec<WrittenMark> {
    let begun = begun(entries, slug);
    let (mut known, mut nameless) = (Vec::new(), Vec::new());
    for entry in entries {
        let (JournalEntry::Before { stack, step, makes: made, .. } | JournalEntry::After { stack, step, made, .. }) =
            entry
        else {
            continue;
        };
        // What is read after a step says more than what was announced before it.
        nameless.retain(|(of, _)| *of != (stack, step));
        for Made { signature, .. } in made {
            match &signature.uuid {
                Some(_) => known.push(signature.clone()),
                None if stack == slug && begun.iter().any(|(begun, _)| begun == step) => {
                    nameless.push(((stack, step), signature.clone()));
                }
                None => {}
            }
        }
    }
    known.extend(nameless.into_iter().map(|(_, signature)| signature));
    known
}

/// The origin of the newest build of a stack.
#[must_use]
pub fn origin<'e>(entries: &'e [JournalEntry], slug: &str) -> Option<&'e Origin> {
    entries.iter().rev().find_map(|entry| match entry {
        JournalEntry::Begin { stack, .. } if stack == slug => Some(entry.origin()),
        _ => None,
    })?
}

/// Marks of the programs that the sessions of a run started since this start of the machine.
#[must_use]
pub fn owners(entries: &[JournalEntry], boot: &str) -> Vec<String> {
    let origins = entries.iter().filter_map(JournalEntry::origin).filter(|origin| origin.boot == boot);
    origins.filter_map(|origin| origin.owner.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Is there a session since this start of the machine whose programs nobody can tell? Journals of early versions do not say.
#[must_use]
pub fn has_unmarked(entries: &[JournalEntry], boot: &str) -> bool {
    entries.iter().filter_map(JournalEntry::origin).any(|origin| origin.boot == boot && origin.owner.is_none())
}

/// Slugs of stacks that have steps which were begun and not taken back, in the order in which they were begun.
#[must_use]
pub fn standing(entries: &[JournalEntry]) -> Vec<String> {
    let mut stacks: Vec<&String> = Vec::new();
    for entry in entries {
        if let JournalEntry::Before { stack, .. } = entry {
            stacks.retain(|known| *known != stack);
            stacks.push(stack);
        }
    }
    stacks.retain(|stack| !begun(entries, stack).is_empty());
    stacks.into_iter().cloned().collect()
}

/// Steps of a stack whose effect was seen and that were not taken back since.
pub(crate) fn finished(entries: &[JournalEntry], slug: &str) -> Vec<String> {
    steps(entries, slug, |entry| match entry {
        JournalEntry::After { stack, step, .. } => Some((stack, step, true)),
        JournalEntry::Undoing { stack, step, .. } => Some((stack, step, false)),
        _ => None,
    })
}

/// Steps of a stack that were begun, came to no end, and were not taken back since.
pub(crate) fn cut_short(entries: &[JournalEntry], slug: &str) -> Vec<String> {
    steps(entries, slug, |entry| match entry {
        JournalEntry::Before { stack, step, .. } => Some((stack, step, true)),
        JournalEntry::After { stack, step, .. } | JournalEntry::Undone { stack, step } => Some((stack, step, false)),
        _ => None,
    })
}

/// Steps of a stack that were done, or that a teardown began to take back, whether they are taken back by now or not.
pub(crate) fn had(entries: &[JournalEntry], slug: &str) -> Vec<String> {
    steps(entries, slug, |entry| match entry {
        JournalEntry::After { stack, step, .. } | JournalEntry::Undoing { stack, step, .. } => {
            Some((stack, step, true))
        }
        JournalEntry::Before { stack, step, .. } => Some((stack, step, false)),
        _ => None,
    })
}

/// Steps of a stack that are left: an entry adds its step, takes it away, or says nothing of it.
fn steps(
    entries: &[JournalEntry],
    slug: &str,
    says: fn(&JournalEntry) -> Option<(&String, &String, bool)>,
) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for entry in entries {
        match says(entry) {
            Some((stack, step, true)) if stack == slug => steps.push(step.clone()),
            Some((stack, step, false)) if stack == slug => steps.retain(|known| known != step),
            _ => {}
        }
        if matches!(entry, JournalEntry::Down { stack } if stack == slug) {
            steps.clear();
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_stand_are_told_in_the_order_of_building() {
        let before = |stack: &str, step: &str| JournalEntry::Before {
            stack: stack.into(),
            step: step.into(),
            line: String::new(),
            old: None,
            makes: Vec::new(),
        };
        let down = JournalEntry::Down { stack: "b".into() };
        let entries = [before("a", "1"), before("b", "1"), down, before("c", "1"), before("a", "2")];
        assert_eq!(standing(&entries), ["c", "a"]);
    }

    #[test]
    fn programs_of_a_session_are_told_by_its_mark_or_not_at_all() {
        let begin = |boot: &str, owner: Option<&str>| JournalEntry::Begin {
            stack: "s".into(),
            round: 1,
            drives: Vec::new(),
            origin: Some(Box::new(Origin {
                place: "local".into(),
                machine: None,
                boot: boot.into(),
                owner: owner.map(str::to_owned),
                plan_sha256: String::new(),
                drives: BTreeMap::new(),
            })),
        };
        let entries = [begin("today", Some("1:2:3")), begin("before", None)];
        assert_eq!(owners(&entries, "today"), ["1:2:3"]);
        assert!(!has_unmarked(&entries, "today") && has_unmarked(&entries, "before"));
    }

    #[test]
    fn a_step_begun_and_not_taken_back_is_left_to_take_back() {
        let before = |step: &str| JournalEntry::Before {
            stack: "s".into(),
            step: step.into(),
            line: String::new(),
            old: None,
            makes: Vec::new(),
        };
        let after = |step: &str| JournalEntry::After {
            stack: "s".into(),
            step: step.into(),
            took_ns: terms::Nanos(1),
            made: Vec::new(),
        };
        let undone = |step: &str| JournalEntry::Undone { stack: "s".into(), step: step.into() };
        let entries = [before("a"), after("a"), before("b"), after("b"), undone("b"), before("c")];
        let names: Vec<_> = begun(&entries, "s").into_iter().map(|(step, _)| step).collect();
        assert_eq!(names, ["a", "c"]);
        assert!(begun(&entries, "other").is_empty());
        assert!(begun(&[before("a"), JournalEntry::Down { stack: "s".into() }], "s").is_empty());
        assert_eq!(finished(&entries[..3], "s"), ["a"]);
        assert_eq!(had(&entries, "s"), ["a", "b"], "also what is taken back, and not what was cut short");
        assert_eq!(cut_short(&entries, "s"), ["c"]);
        assert!(cut_short(&[before("a"), undone("a")], "s").is_empty(), "its device may be somebody else's by now");
    }

    #[test]
    fn what_was_written_is_known_by_its_identifier() {
        let made = |kind: &str, uuid: Option<&str>| Made {
            node: Word::from("{drive:a}"),
            signature: WrittenMark { kind: kind.to_owned(), uuid: uuid.map(str::to_owned) },
        };
        let before = |step: &str, makes: &[Made]| JournalEntry::Before {
            stack: "s".into(),
            step: step.into(),
            line: String::new(),
            old: None,
            makes: makes.to_vec(),
        };
        let after = |step: &str, made: &[Made]| JournalEntry::After {
            stack: "s".into(),
            step: step.into(),
            took_ns: terms::Nanos(1),
            made: made.to_vec(),
        };
        let undone = |step: &str| JournalEntry::Undone { stack: "s".into(), step: step.into() };
        let told = |entries: &[JournalEntry]| {
            let found = signatures(entries, "s").into_iter();
            found.map(|of| format!("{} {}", of.kind, of.uuid.unwrap_or_default())).collect::<Vec<_>>()
        };
        let chosen = [before("fs", &[made("ext4", Some("1"))]), after("fs", &[])];
        assert_eq!(told(&chosen), ["ext4 1"]);
        let drawn = [before("part", &[made("gpt", None)]), after("part", &[made("gpt", Some("2"))])];
        assert_eq!(told(&drawn[..1]), ["gpt "], "cut short: the kind is all that is known");
        assert_eq!(told(&drawn), ["gpt 2"]);
        assert_eq!(told(&[drawn[0].clone(), undone("part")]), [""; 0], "taken back: another's would be taken for ours");
        assert_eq!(told(&[drawn[0].clone(), drawn[1].clone(), undone("part")]), ["gpt 2"]);
        let nameless = [before("sum", &[made("DM_integrity", None)]), after("sum", &[made("DM_integrity", None)])];
        assert_eq!(told(&nameless), ["DM_integrity "]);
    }
}
