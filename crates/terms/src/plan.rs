//! The plan: the exact commands that build one stack, each with its reason and its undo.
//!
//! A plan is a value. It names drives by the study's names; the machine's nodes are put in
//! only when a step runs, from identities that were checked a moment before.

use serde::{Deserialize, Serialize};

use crate::design::LayerNode;
use crate::name::Name;
use crate::units::{Bytes, Nanos};
pub use crate::word::{Piece, Placeholder, Unresolved, Word};

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
    pub nodes: Vec<LayerNode>,
    /// Drives that the plan writes to.
    pub drives: Vec<Name>,
    /// Kernel modules and programs that it needs.
    pub needs: Vec<Prerequisite>,
    /// Every option in force and where it came from.
    pub options: Vec<Setting>,
    /// Building steps, in order. Taking down is their undos, last first.
    pub steps: Vec<Step>,
    /// Arrays that are made to resynchronise, again and again, while the stack is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resyncs: Vec<Word>,
    /// What workloads use when all steps are done.
    pub target: WorkTarget,
}

impl Plan {
    /// Where a step of the plan mounts something. A pool is mounted by its own tools where the workloads use it.
    #[must_use]
    pub fn mount_point<'p>(&'p self, step: &'p Step) -> Option<&'p str> {
        match (&step.effect, &self.target) {
            (Some(Effect::Mount(directory)), _) | (Some(Effect::Pool(_)), WorkTarget::Directory(directory)) => {
                Some(directory)
            }
            _ => None,
        }
    }
}

/// Something that must be on the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prerequisite {
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
    /// Signatures that it writes, by which its work is known again before it is taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// A signature that a step writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The device.
    pub node: Word,
    /// blkid's `TYPE`, or `PTTYPE` for a partition table.
    pub kind: String,
    /// The identifier that the step gives it; `None` where its tool draws one, or it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Word>,
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

/// The node of a drive's partition, as the kernel names it (`disk_name` in block/partitions/core.c).
#[must_use]
pub fn partition_of(node: &str, number: impl std::fmt::Display) -> String {
    let joint = if node.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
    format!("{node}{joint}{number}")
}

/// How the names of all arrays, mappings, groups and pools begin that a plan gives.
pub const OUR_NAMES: &str = "bp-";
/// Where a plan mounts file systems.
pub const MOUNT_ROOT: &str = "/mnt/bedplate";

/// The device mapper's name of a logical volume: dashes within a name are doubled (lvm(8), VALID NAMES).
#[must_use]
pub fn mapping_of_volume(group: &str, volume: &str) -> String {
    format!("{}-{}", group.replace('-', "--"), volume.replace('-', "--"))
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
    /// A raid logical volume is in sync, with its legs.
    LvSynced {
        /// Its group, which has no other.
        #[serde(alias = "volume")]
        group: String,
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
    /// A directory on a file system that was there before.
    Directory {
        /// Which.
        path: String,
        /// What that file system calls itself: without it, a directory that is not there says nothing.
        file_system: String,
    },
    /// A volume group of LVM.
    Group(String),
    /// An imported pool of ZFS.
    Pool(String),
    /// A drive with that logical block.
    LogicalBlock {
        /// The drive.
        node: Word,
        /// Its block.
        bytes: Bytes,
    },
}

impl Effect {
    /// In words, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Node(node) => format!("`{node}`"),
            Self::Signature { node, kind } => format!("a signature `{kind}` on `{node}`"),
            Self::Mount(directory) => format!("a mount at `{directory}`"),
            Self::Directory { path, .. } => format!("`{path}`"),
            Self::Group(name) => format!("the volume group `{name}`"),
            Self::Pool(name) => format!("the pool `{name}`"),
            Self::LogicalBlock { node, bytes } => format!("blocks of {bytes} on `{node}`"),
        }
    }
}

/// One command that takes a step back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Why.
    pub why: String,
    /// What is done. For an [`Act::Write`] step there is none: the journalled text is put back.
    pub command: PlanCommand,
}

/// What workloads put into a [`WorkTarget::Directory`]. Whatever has another name there is somebody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkFile {
    /// The file that loads read and write.
    Data,
    /// A tree of files that is listed or read, by what tells it from others.
    Tree(u64),
    /// A tree of files that is copied.
    Source(u64),
    /// The copy of one, by the seed of its cell.
    Copy(u64),
}

impl WorkFile {
    /// What is added to its name while it is made.
    pub const UNFINISHED: &'static str = ".unfinished";

    /// Which of them has this name?
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.strip_suffix(Self::UNFINISHED).unwrap_or(name);
        let of = |kind: &str, radix| u64::from_str_radix(name.strip_prefix(kind)?, radix).ok();
        let tree = of("bedplate-tree-", 16).map(Self::Tree).or_else(|| of("bedplate-source-", 16).map(Self::Source));
        let file = tree.or_else(|| of("bedplate-copy-", 10).map(Self::Copy)).unwrap_or(Self::Data);
        (name == file.to_string()).then_some(file)
    }
}

impl std::fmt::Display for WorkFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Data => f.write_str("bedplate.dat"),
            Self::Tree(digest) => write!(f, "bedplate-tree-{digest:016x}"),
            Self::Source(digest) => write!(f, "bedplate-source-{digest:016x}"),
            Self::Copy(seed) => write!(f, "bedplate-copy-{seed}"),
        }
    }
}

/// What workloads use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkTarget {
    /// A file in this directory.
    Directory(String),
    /// The block device itself.
    Device(Word),
}

/// A [`WorkTarget`] on one machine: what workloads really use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkPlace {
    /// A file in this directory.
    Directory(String),
    /// This block device.
    Device(String),
}

impl WorkPlace {
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
            Self::Directory(directory) => format!("{directory}/{}", WorkFile::Data),
            Self::Device(node) => node.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_workloads_are_known_by_their_whole_names() {
        for file in [WorkFile::Data, WorkFile::Tree(7), WorkFile::Source(u64::MAX), WorkFile::Copy(42)] {
            assert_eq!(WorkFile::named(&file.to_string()), Some(file));
            assert_eq!(WorkFile::named(&format!("{file}{}", WorkFile::UNFINISHED)), Some(file));
            for other in ["2", " ", "~", "/x", ".unfinished.unfinished"] {
                assert_eq!(WorkFile::named(&format!("{file}{other}")).filter(|of| *of == file), None, "{file}{other}");
            }
        }
        for theirs in [
            "bedplate",
            "bedplate-notes.txt",
            "bedplate-tree-",
            "bedplate-tree-7",
            "bedplate-copy-+1",
            "bedplate-copy-007",
        ] {
            assert_eq!(WorkFile::named(theirs), None, "{theirs}");
        }
    }

    #[test]
    fn partitions_of_numbered_drives_get_a_p() {
        assert_eq!(partition_of("/dev/nvme0n1", 1), "/dev/nvme0n1p1");
        assert_eq!(partition_of("/dev/sda", 12), "/dev/sda12");
    }
}
