//! Why a drive may not be touched.

use std::fmt;

use host::HostError;
use terms::command::quote;
use terms::plan::{MOUNT_ROOT, OUR_NAMES};
use terms::spelling::spell_inline;

use crate::examination::{Evidence, Examination, Objection, Owner};
use crate::name::in_command;

/// Why a drive may not be touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// A name that does not go with a drive.
    #[error("refused: `{id}` is not a name of a drive\n  because: {why}\n\nhint: {}", instead_of(instead.as_deref()))]
    NotAnId {
        /// What was given.
        id: String,
        /// What it is.
        why: &'static str,
        /// A name of the same drive that goes with it, if one is known.
        instead: Option<String>,
    },
    /// Nothing has that name.
    #[error("refused: no drive is `{id}`\n  because: {}\n\nhint: bedplate inspect", known_are(known))]
    NotFound {
        /// What was given.
        id: String,
        /// Names that there are.
        known: Vec<String>,
    },
    /// Several drives have that name, or say the same of themselves.
    #[error(
        "refused: `{id}` is more than one drive\n  because: {} say the same of themselves: clones, or paths to one drive\n\n\
         hint: lsblk -o NAME,MODEL,SERIAL,WWN,SIZE {}",
        nodes.join(" and "), nodes.join(" ")
    )]
    Ambiguous {
        /// What was given.
        id: String,
        /// Nodes of today.
        nodes: Vec<String>,
    },
    /// What the name says and what the machine says do not agree.
    #[error(
        "refused: `{id}` is not what it says\n  because: {what}\n\nhint: udevadm trigger --subsystem-match=block --settle"
    )]
    Contradiction {
        /// What was given.
        id: String,
        /// What differs.
        what: String,
    },
    /// What has that name is not a drive.
    #[error("refused: `{id}` is `{node}`, which is not a drive\n\nhint: lsblk --inverse {}", in_command(node))]
    WrongKind {
        /// What was given.
        id: String,
        /// Node of today.
        node: String,
    },
    /// The drive is not the one that was looked at.
    #[error("refused: drive {drive} is no longer what it was\n  because: {}\n\nhint: bedplate inspect", changes.join("\n  because: "))]
    Moved {
        /// The drive as it was.
        drive: String,
        /// What changed, one sentence each.
        changes: Vec<String>,
    },
    /// Nobody agreed, in this invocation, that this drive may be used.
    #[error(
        "refused: drive {drive} was not named in this invocation\n  because: {why}\n\nhint: name `{}` if all that is on it may go",
        in_command(id)
    )]
    NotConsented {
        /// The drive.
        drive: String,
        /// What was named instead, if anything near.
        why: String,
        /// The name to give.
        id: String,
    },
    /// A drive was to be erased that is not used.
    #[error(
        "refused: `--erase {}` names a drive that this command does not use\n  because: it is {drive}\n\n\
         hint: leave it out, or name the drive that you mean",
        in_command(id)
    )]
    NotUsed {
        /// The drive.
        drive: String,
        /// The name that was given for it, or another that it has.
        id: String,
    },
    /// Something came onto the drive after a person agreed to lose what was on it then.
    #[error(
        "refused: something came onto drive {drive} since you were told what will be lost\n  because: {}\n\n\
         hint: if that may go too, say the same command again",
        findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  because: ")
    )]
    Arrived {
        /// The drive.
        drive: String,
        /// What came.
        findings: Vec<Objection>,
    },
    /// Somebody else has it locked.
    #[error(
        "refused: drive {drive} is locked by another program\n\nhint: lslocks | grep {devno}; fuser --verbose {node}"
    )]
    Locked {
        /// The drive.
        drive: String,
        /// Its device number.
        devno: String,
        /// Its node.
        node: String,
    },
    /// A device rests on what nobody locked for it.
    #[error(
        "refused: `{node}` may not be written to\n  because: it rests on {on}, which this run does not hold\n\nhint: lsblk --inverse {}",
        in_command(node)
    )]
    NotHeld {
        /// Its node.
        node: String,
        /// What is below it.
        on: String,
    },
    /// Something was found that speaks against it.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The machine failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl ClaimError {
    /// Was it a refusal, before anything was touched? Everything but a failure of the machine is.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        !matches!(self, Self::Host(_))
    }
}

fn instead_of(name: Option<&str>) -> String {
    name.map_or("bedplate inspect".to_owned(), |name| format!("name `{}` instead", in_command(name)))
}

fn known_are(known: &[String]) -> String {
    if known.is_empty() {
        "no drive here tells a name of its own".to_owned()
    } else {
        format!("here are {}", spell_inline(&known.join(", ")))
    }
}

/// A drive with everything that speaks against using it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The drive in one line.
    pub drive: String,
    /// Its name, as it was given.
    pub id: String,
    /// What speaks against it; what consent overrode is not here.
    pub findings: Vec<Objection>,
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: drive {} may not be touched", self.drive)?;
        for finding in &self.findings {
            write!(f, "\n  because: {finding}")?;
        }
        let mut hints: Vec<&str> = Vec::new();
        for hint in self.findings.iter().map(|finding| finding.hint.as_str()).filter(|hint| !hint.is_empty()) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        let left = self.left_by_a_run();
        for (number, hint) in hints.into_iter().chain(left.as_deref()).enumerate() {
            write!(f, "{}hint: {hint}", if number == 0 { "\n\n" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Refusal {
    /// With all that was found.
    pub(crate) fn of(examination: &Examination) -> Self {
        let identity = &examination.identity;
        Self { drive: identity.describe(), id: identity.id.clone(), findings: examination.findings.clone() }
    }

    /// What to do where what is up has names that a run gives. Findings begin with what is lowest.
    pub(crate) fn left_by_a_run(&self) -> Option<String> {
        let is_below = |point: &str| point.strip_prefix(MOUNT_ROOT).is_some_and(|rest| rest.starts_with('/'));
        let closes = |finding: &Objection| match &finding.evidence {
            Some(Evidence::Mount(point)) => Some((format!("umount {}", quote(point)), is_below(point))),
            Some(Evidence::Upper { name, .. }) => Some((finding.hint.clone(), is_ours(name))),
            Some(Evidence::Listed(Owner::Pool(name))) => Some((format!("zpool export {}", quote(name)), is_ours(name))),
            _ => None,
        };
        let found: Vec<(String, bool)> = self.findings.iter().rev().filter_map(closes).collect();
        found.iter().any(|(_, ours)| *ours).then(|| {
            let mut lines: Vec<&str> = Vec::new();
            // One closes several, such as every volume of a group: after whatever is above any of them.
            for (line, _) in found.iter().rev() {
                if !lines.contains(&line.as_str()) {
                    lines.push(line);
                }
            }
            lines.reverse();
            format!(
                "some of it has a name that Bedplate gives: `bedplate teardown RUN` takes it down. If the directory of that run is gone, \
                 and nobody uses what is there, say `{}`, and name the drive with `--erase {}`",
                spell_inline(&lines.join(" && ")),
                in_command(&self.id)
            )
        })
    }
}

/// The device mapper has the name of a group with every dash twice.
fn is_ours(name: &str) -> bool {
    name.replace("--", "-").starts_with(OUR_NAMES)
}
