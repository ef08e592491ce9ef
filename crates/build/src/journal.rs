//! What was done to a machine, written down before it is done.

use std::io;

use serde::{Deserialize, Serialize};

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "entry")]
pub enum Entry {
    /// A plan begins to be carried out.
    Begin {
        /// Slug of the stack.
        stack: String,
        /// Round, from 1.
        round: u32,
        /// Nodes of the plan's drives: name and node of today.
        drives: Vec<(String, String)>,
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
    },
    /// A step ran and its effect was seen.
    After {
        /// Slug of the stack.
        stack: String,
        /// The step.
        step: String,
        /// How long it took.
        took_ns: terms::Nanos,
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

/// Somewhere to write entries that survive the writer.
pub trait Journal: Send {
    /// Keeps an entry; when this returns, it is on stable storage.
    ///
    /// # Errors
    /// Where it cannot be kept. The caller then does nothing more.
    fn note(&mut self, entry: &Entry) -> io::Result<()>;
}

/// A journal in memory, for tests and for guests that are gone when this program is.
#[derive(Debug, Default)]
pub struct Memory(pub Vec<Entry>);

impl Journal for Memory {
    fn note(&mut self, entry: &Entry) -> io::Result<()> {
        self.0.push(entry.clone());
        Ok(())
    }
}

/// Steps of a stack that were begun and not taken back since, in the order in which they were begun, and the old
/// texts of settings. A step that was begun and not finished counts: it may have done a part.
pub(crate) fn begun(entries: &[Entry], slug: &str) -> Vec<(String, Option<String>)> {
    let mut steps: Vec<(String, Option<String>)> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Before { stack, step, old, .. }
                if stack == slug && !steps.iter().any(|(known, _)| known == step) =>
            {
                steps.push((step.clone(), old.clone()));
            }
            Entry::Undone { stack, step } if stack == slug => steps.retain(|(known, _)| known != step),
            Entry::Down { stack } if stack == slug => steps.clear(),
            _ => {}
        }
    }
    steps
}

/// Slugs of stacks that have steps which were begun and not taken back, in the order in which they were begun.
#[must_use]
pub fn standing(entries: &[Entry]) -> Vec<String> {
    let mut stacks: Vec<&String> = Vec::new();
    for entry in entries {
        if let Entry::Before { stack, .. } = entry {
            stacks.retain(|known| *known != stack);
            stacks.push(stack);
        }
    }
    stacks.retain(|stack| !begun(entries, stack).is_empty());
    stacks.into_iter().cloned().collect()
}

/// Steps of a stack whose effect was seen and that were not taken back since.
pub(crate) fn finished(entries: &[Entry], slug: &str) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for entry in entries {
        match entry {
            Entry::After { stack, step, .. } if stack == slug => steps.push(step.clone()),
            Entry::Undoing { stack, step, .. } if stack == slug => steps.retain(|known| known != step),
            Entry::Down { stack } if stack == slug => steps.clear(),
            _ => {}
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_stand_are_told_in_the_order_of_building() {
        let before = |stack: &str, step: &str| Entry::Before {
            stack: stack.into(),
            step: step.into(),
            line: String::new(),
            old: None,
        };
        let down = Entry::Down { stack: "b".into() };
        let entries = [before("a", "1"), before("b", "1"), down, before("c", "1"), before("a", "2")];
        assert_eq!(standing(&entries), ["c", "a"]);
    }

    #[test]
    fn a_step_begun_and_not_taken_back_is_left_to_take_back() {
        let before =
            |step: &str| Entry::Before { stack: "s".into(), step: step.into(), line: String::new(), old: None };
        let after = |step: &str| Entry::After { stack: "s".into(), step: step.into(), took_ns: terms::Nanos(1) };
        let undone = |step: &str| Entry::Undone { stack: "s".into(), step: step.into() };
        let entries = [before("a"), after("a"), before("b"), after("b"), undone("b"), before("c")];
        let names: Vec<_> = begun(&entries, "s").into_iter().map(|(step, _)| step).collect();
        assert_eq!(names, ["a", "c"]);
        assert!(begun(&entries, "other").is_empty());
        assert!(begun(&[before("a"), Entry::Down { stack: "s".into() }], "s").is_empty());
        assert_eq!(finished(&entries[..3], "s"), ["a"]);
    }
}
