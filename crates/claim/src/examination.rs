//! What was found on a drive and around it.

use std::fmt;

use host::Devno;
use serde::{Deserialize, Serialize};
use terms::Bytes;
use terms::spelling::spell_inline;

use crate::identity::Identity;
use crate::mark::WrittenMark;

/// What no examination looks at, and a person has to know: docs/safety.md lists it, and who names a drive is told so.
pub const UNCHECKED: [&str; 14] = [
    "other machines that reach the same drive (shared SAS, Fibre Channel, NVMe over fabrics, a second host of a dual-port drive)",
    "programs that let go of the node and kept it (registered with io_uring, mapped, passed between processes), or whose threads do not share what they have open",
    "processes that a security module hides from root itself",
    "who opens it only when asked (a virtual machine that is off, a server without clients)",
    "drives that SCST passes through whole, and heartbeats of OCFS2",
    "drives given to a guest or to user space as PCI devices: those have no node here and cannot be named",
    "data between the samples, where it has no signature",
    "data without a signature that is written between the examination and the lock, on a drive that holds a signature",
    "in `teardown` after a kill: somebody's new dm-integrity, which has no UUID, on an array or a mapping of the run's that still stands",
    "in `teardown`: an array or a volume that the run was killed while making, and that somebody opened, used and closed since",
    "what is behind a loop device of a container, where its path leads to something else here",
    "who has the file behind a loop device by another file system (a layer of an overlay, FUSE, a network share)",
    "what a program that heeds no lock does between the examination and the command that follows it",
    "in `teardown`: data without a signature on a drive whose signatures are still the run's",
];

/// How a finding speaks against using a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Somebody uses it. Nothing overrides that.
    InUse,
    /// It cannot serve. Nothing overrides that.
    Unfit,
    /// It could not be proven that it is free. Nothing overrides that but proving it.
    Unknown,
    /// Something is on it. A person may agree to lose it.
    Holds,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::InUse => "in use",
            Self::Unfit => "unfit",
            Self::Unknown => "not proven",
            Self::Holds => "holds",
        })
    }
}

/// What a finding is made of, where a run may know it for its own work ([`crate::Ours`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// An array, a mapping, a loop device on top.
    Upper {
        /// Its device number.
        devno: Devno,
        /// What the device mapper calls it; empty for others.
        name: String,
    },
    /// A mount at this directory.
    Mount(String),
    /// A mount at this directory in the mount namespace of another program.
    MountElsewhere(String),
    /// A registry of the kernel or of a layer lists the device.
    Listed(Owner),
    /// An exclusive open is refused.
    Exclusive,
    /// A signature.
    Signature(WrittenMark),
}

/// Who lists a device as its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// An array, by its kernel name.
    Array(String),
    /// A mapping, by its name.
    Mapping(String),
    /// A mounted btrfs, by its UUID.
    Btrfs(String),
    /// An imported ZFS pool, by its name.
    Pool(String),
    /// A target that other machines may reach, in words.
    Target(String),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(name) => write!(f, "the array `{name}`"),
            Self::Mapping(name) => write!(f, "the mapping `{name}`"),
            Self::Btrfs(id) => write!(f, "the mounted btrfs {id}"),
            Self::Pool(name) => write!(f, "the imported pool `{name}`"),
            Self::Target(words) => f.write_str(words),
        }
    }
}

/// One thing that speaks against using a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// How it does.
    pub class: Class,
    /// The node of what it was found on: the drive, or a partition of it.
    pub node: String,
    /// What was found, with its owner.
    pub what: String,
    /// A command that shows more or fixes it; may be empty.
    pub hint: String,
    /// What it is made of, where that can be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl Objection {
    pub(crate) fn new(class: Class, node: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        // A label is a stranger's: it makes no line of its own.
        let inline = |text: String| spell_inline(&text).into_owned();
        Self { class, node: node.to_owned(), what: inline(what.into()), hint: inline(hint.into()), evidence: None }
    }

    /// Is it the same thing as when it was found before? What has an identifier may tell something else of itself while it is in use.
    pub(crate) fn is(&self, before: &Self) -> bool {
        let has_identifier = matches!(&self.evidence, Some(Evidence::Signature(mark)) if mark.uuid.is_some());
        self == before
            || (has_identifier
                && (self.class, &self.node, &self.evidence) == (before.class, &before.node, &before.evidence))
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.class, self.node, self.what)
    }
}

/// Everything that speaks against using a drive; nothing, where it is free.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examination {
    /// The drive that was looked at.
    pub identity: Identity,
    /// What was found, the gravest first.
    pub findings: Vec<Objection>,
    /// Numbers of its partitions that the kernel knows.
    #[serde(default)]
    pub partitions: Vec<u32>,
}

impl Examination {
    /// Is the drive free, without anybody's consent to lose anything?
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.findings.is_empty()
    }

    /// The class of the gravest finding; `None` where the drive is free.
    #[must_use]
    pub fn gravest(&self) -> Option<Class> {
        self.findings.iter().map(|finding| finding.class).min()
    }

    /// Was this found, on the drive or on anything made of it?
    #[must_use]
    pub fn shows(&self, is_it: impl Fn(&Evidence) -> bool) -> bool {
        self.findings.iter().filter_map(|finding| finding.evidence.as_ref()).any(is_it)
    }

    /// What was found of one class.
    pub fn of(&self, class: Class) -> impl Iterator<Item = &Objection> {
        self.findings.iter().filter(move |finding| finding.class == class)
    }

    /// The same for somebody who needs so much room.
    #[must_use]
    pub fn at_least(mut self, least: Bytes) -> Self {
        if self.identity.size < least {
            let what = format!("it is too small: {} where {least} are needed", self.identity.size);
            let hint = format!("lsblk --bytes --output NAME,SIZE {}", self.identity.node);
            self.findings.push(Objection::new(Class::Unfit, &self.identity.node, what, hint));
            self.findings.sort_by_key(|finding| finding.class);
        }
        self
    }
}

impl fmt::Display for Examination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.identity.describe())?;
        if self.is_free() {
            return write!(f, ": free");
        }
        self.findings.iter().try_for_each(|finding| write!(f, "\n  {finding}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_makes_no_line_of_its_own() {
        let finding = Objection::new(Class::Holds, "/dev/a", "ext4, label `x\nerror: all is lost\u{1b}[2J`", "");
        assert!(!finding.to_string().contains(['\n', '\u{1b}']), "{finding}");
    }

    #[test]
    fn what_was_found_is_found_again_and_a_drive_of_just_the_size_will_do() {
        let finding =
            Objection { evidence: Some(Evidence::Exclusive), ..Objection::new(Class::Holds, "/dev/a", "x", "") };
        let examination =
            Examination { identity: crate::identity::tests::any(), findings: vec![finding], partitions: Vec::new() };
        assert!(examination.shows(|evidence| *evidence == Evidence::Exclusive) && !examination.shows(|_| false));
        assert_eq!((examination.of(Class::Holds).count(), examination.of(Class::InUse).count()), (1, 0));
        let size = examination.identity.size;
        let unfit = |least: Bytes| examination.clone().at_least(least).of(Class::Unfit).count();
        assert_eq!((unfit(Bytes(size.0 - 1)), unfit(size), unfit(Bytes(size.0 + 1))), (0, 0, 1));
    }

    #[test]
    fn the_page_on_safety_tells_what_no_look_can_find() {
        let page = include_str!("../../../docs/safety.md");
        let list = page.split("<!-- unchecked: begin -->").nth(1).and_then(|rest| rest.split("<!--").next()).unwrap();
        let told: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        assert_eq!(told, UNCHECKED);
    }
}
