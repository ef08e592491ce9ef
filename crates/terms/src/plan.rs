//! The plan: the exact commands that build one stack, each with its reason and its undo.
//!
//! A plan is a value. It names drives by the study's names; the machine's nodes are put in
//! only when a step runs, from identities that were checked a moment before.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::design::Node;
use crate::name::Name;
use crate::units::{Bytes, Nanos};

/// Version of the plan's JSON.
pub const PLAN_SCHEMA: u32 = 1;

/// How to build one stack and how to take it down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_SCHEMA`].
    pub schema: u32,
    /// The stack's name.
    pub stack: String,
    /// The stack's name for files and nodes.
    pub slug: String,
    /// The stack itself, as understood.
    pub nodes: Vec<Node>,
    /// Drives that the plan writes to.
    pub drives: Vec<Name>,
    /// Kernel modules and programs that it needs.
    pub needs: Vec<Need>,
    /// Every option in force and where it came from.
    pub options: Vec<Setting>,
    /// Building steps, in order. Taking down is their undos, last first.
    pub steps: Vec<Step>,
    /// Arrays that are made to resynchronise, again and again, while the stack is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resyncs: Vec<Word>,
    /// What workloads use when all steps are done.
    pub target: Target,
}

/// Something that must be on the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// A kernel module, loaded or built in.
    Module(String),
    /// A program on the path.
    Program(String),
}

/// An option in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The layer it belongs to.
    pub layer: Name,
    /// The option, in the study's word.
    pub option: String,
    /// Its value, with its unit.
    pub value: String,
    /// Is it the tool's own default?
    pub default: bool,
}

/// One step: an act, why, what is there afterwards, and how it is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Stable within the plan: `<layer>.<act>`, such as `raid.create`.
    pub id: String,
    /// The layer it serves.
    pub layer: Name,
    /// Why it is done, in one sentence.
    pub why: String,
    /// What is done.
    pub act: Act,
    /// What must be there afterwards, if it can be seen.
    pub effect: Option<Effect>,
    /// What takes it back, in order.
    pub undo: Vec<Undo>,
    /// Drives whose content it destroys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erases: Vec<Name>,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Run a program.
    Run(PlanCommand),
    /// Write a text into a file of sysfs; the old text is journalled and put back by the undo.
    Write {
        /// The file.
        path: Word,
        /// The new text.
        text: String,
    },
    /// Wait until something is so.
    Wait(Condition),
}

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCommand {
    /// Program and arguments.
    pub argv: Vec<Word>,
    /// A key to write to its standard input. Keys are random, made when the plan is carried out, and never recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// When to give up.
    #[serde(rename = "limit_ns")]
    pub limit: Nanos,
}

/// A text in which `{drive:a}` stands for the node of drive `a`, `{part:a}` for its first partition,
/// `{sys:/dev/…}` for the sysfs directory of a node, `{sysof:a}` for that of drive `a`,
/// and `{controller:a}` for the node of its NVMe controller.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Word(pub String);

/// A placeholder that could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing is known for `{{{0}}}`")]
pub struct Unresolved(pub String);

impl Word {
    /// The node of a drive.
    #[must_use]
    pub fn drive(name: &Name) -> Self {
        Self(format!("{{drive:{name}}}"))
    }

    /// The first partition of a drive.
    #[must_use]
    pub fn partition(name: &Name) -> Self {
        Self(format!("{{part:{name}}}"))
    }

    /// Puts in what stands for each placeholder; `fill` gets its kind and its argument.
    ///
    /// # Errors
    /// [`Unresolved`] for the first placeholder that `fill` does not know or that is not closed.
    pub fn resolve(&self, mut fill: impl FnMut(&str, &str) -> Option<String>) -> Result<String, Unresolved> {
        let mut out = String::new();
        let mut rest = self.0.as_str();
        while let Some(start) = rest.find('{') {
            let (before, after) = rest.split_at(start);
            out.push_str(before);
            let end = after.find('}').ok_or_else(|| Unresolved(after.to_owned()))?;
            let inside = &after[1..end];
            let filled = inside.split_once(':').and_then(|(kind, argument)| fill(kind, argument));
            out.push_str(&filled.ok_or_else(|| Unresolved(inside.to_owned()))?);
            rest = &after[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }
}

impl<S: Into<String>> From<S> for Word {
    fn from(text: S) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The node of a drive's first partition, as the kernel names it.
#[must_use]
pub fn first_partition(node: &str) -> String {
    let joint = if node.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
    format!("{node}{joint}1")
}

/// Something to wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// An md array has no resync, recovery or check under way.
    MdIdle {
        /// The array's node.
        node: Word,
        /// When to give up.
        limit_ns: Nanos,
    },
    /// An NVMe controller is done with sanitizing, and says that it worked.
    Sanitized {
        /// The controller's node.
        controller: Word,
        /// When to give up.
        limit_ns: Nanos,
    },
    /// A raid logical volume is in sync.
    LvSynced {
        /// `group/volume`.
        volume: String,
        /// When to give up.
        limit_ns: Nanos,
    },
}

/// What is there after a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// A device node.
    Node(Word),
    /// A signature on a device, as `blkid -p` names it.
    Signature {
        /// The device.
        node: Word,
        /// blkid's `TYPE`, or `PTTYPE` for a partition table.
        kind: String,
    },
    /// A mounted directory.
    Mount(String),
    /// A drive with that logical block.
    LogicalBlock {
        /// The drive.
        node: Word,
        /// Its block.
        bytes: Bytes,
    },
}

/// One command that takes a step back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Why.
    pub why: String,
    /// What is done. For an [`Act::Write`] step there is none: the journalled text is put back.
    pub command: PlanCommand,
}

/// What workloads use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file in this directory.
    Directory(String),
    /// The block device itself.
    Device(Word),
}

/// A [`Target`] on one machine: what workloads really use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file in this directory.
    Directory(String),
    /// This block device.
    Device(String),
}

impl Place {
    /// The directory or the node.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Directory(path) | Self::Device(path) => path,
        }
    }

    /// The file that a load opens.
    #[must_use]
    pub fn file(&self) -> String {
        match self {
            Self::Directory(directory) => format!("{directory}/bedplate.dat"),
            Self::Device(node) => node.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_of_numbered_drives_get_a_p() {
        assert_eq!(first_partition("/dev/nvme0n1"), "/dev/nvme0n1p1");
        assert_eq!(first_partition("/dev/sda"), "/dev/sda1");
    }

    #[test]
    fn words_are_filled_in() {
        let fill = |kind: &str, argument: &str| (kind == "drive" && argument == "a").then(|| "/dev/nvme0n1".to_owned());
        assert_eq!(Word::from("x{drive:a}y").resolve(fill), Ok("x/dev/nvme0n1y".to_owned()));
        assert_eq!(Word::from("{drive:b}").resolve(fill), Err(Unresolved("drive:b".to_owned())));
        assert!(Word::from("{drive:a").resolve(fill).is_err());
        assert_eq!(Word::from("plain").resolve(fill), Ok("plain".to_owned()));
    }
}
