//! Who allows a plan to write to drives: the lab, whose drives are made for it, or permissions for real drives.

use std::collections::{BTreeMap, BTreeSet};

use claim::Held;
use host::Host;
use terms::{Name, Plan};

use crate::error::BuildError;
use crate::machine::{Bindings, prove_blank};

/// Drives of a lab whose content may go: they are consented to by being lab drives. It is worth nothing on a machine
/// that is not thrown away afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consent(pub BTreeSet<Name>);

/// Real drives by the study's names, each permitted and under a lock.
pub type Claims<'h> = BTreeMap<Name, Held<'h>>;

/// What allows a plan to write to drives.
#[derive(Clone, Copy)]
pub enum Authority<'a> {
    /// Drives of a machine that is thrown away.
    Lab(&'a Consent),
    /// RAM drives that this program had the kernel make a moment ago, on a machine of any kind.
    Memory(&'a Consent),
    /// Drives that outlive the run.
    Claims(&'a Claims<'a>),
}

/// Is it one of the kernel's RAM drives?
fn is_memory(node: &str) -> bool {
    node.strip_prefix("/dev/ram").is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

impl<'a> From<&'a Consent> for Authority<'a> {
    fn from(consent: &'a Consent) -> Self {
        Self::Lab(consent)
    }
}

impl<'a> From<&'a Claims<'a>> for Authority<'a> {
    fn from(claims: &'a Claims<'a>) -> Self {
        Self::Claims(claims)
    }
}

impl Authority<'_> {
    /// Refuses a plan that writes to a drive that nobody agreed to lose.
    pub(crate) fn check(&self, plan: &Plan, host: &dyn Host, drives: &Bindings) -> Result<(), BuildError> {
        let written = plan.steps.iter().flat_map(|step| &step.erases).chain(&plan.drives);
        match self {
            Self::Lab(_) if !host.is_throwaway() => Err(BuildError::NotThrowaway { host: host.name() }),
            Self::Memory(_) if drives.values().any(|node| !is_memory(node)) => {
                Err(BuildError::NotThrowaway { host: host.name() })
            }
            Self::Lab(consent) | Self::Memory(consent) => {
                match written.into_iter().find(|drive| !consent.0.contains(drive)) {
                    Some(drive) => Err(BuildError::NotConsented { drive: drive.to_string() }),
                    None => Ok(()),
                }
            }
            Self::Claims(claims) => written.into_iter().try_for_each(|drive| {
                let held = claims.get(drive).ok_or_else(|| BuildError::NotConsented { drive: drive.to_string() })?;
                let (permitted, node) = (&held.identity().node, drives.get(drive));
                if node == Some(permitted) {
                    return Ok(());
                }
                let node = node.map_or("nothing", String::as_str).to_owned();
                Err(BuildError::OtherNode { drive: drive.to_string(), permitted: permitted.clone(), node })
            }),
        }
    }

    /// Refuses drives that are not, or no longer, free. A real drive may hold what its permission says may go.
    pub(crate) fn prove_free(&self, plan: &Plan, host: &dyn Host, drives: &Bindings) -> Result<(), BuildError> {
        match self {
            Self::Lab(_) | Self::Memory(_) => prove_blank(host, drives, &plan.drives),
            Self::Claims(claims) => {
                let held = plan.drives.iter().filter_map(|drive| claims.get(drive));
                held.into_iter().try_for_each(|held| Ok(held.recheck()?))
            }
        }
    }

    /// Asks again, before a step destroys something, whether these are still the drives that were permitted. Drives of
    /// a lab are found by their serial numbers when it boots, and nobody can pull one.
    pub(crate) fn confirm(&self, erased: &[Name]) -> Result<(), BuildError> {
        match self {
            Self::Lab(_) | Self::Memory(_) => Ok(()),
            Self::Claims(claims) => erased.iter().try_for_each(|drive| match claims.get(drive) {
                Some(held) => Ok(held.confirm()?),
                None => Err(BuildError::NotConsented { drive: drive.to_string() }),
            }),
        }
    }
}
