//! A check, and what it writes its results into.

use terms::diagnosis::{About, Place, Severity, Unknown};
use terms::inventory::Readout;

use crate::machine::Machine;
use crate::remedy::Found;

/// A check.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name, which stays the same from version to version.
    pub id: &'static str,
    /// The worst that it finds.
    pub severity: Severity,
    /// Files and commands whose content it judges.
    pub looks_at: &'static str,
    /// When it finds something.
    pub rule: &'static str,
    /// Can what it finds be fixed by writes that can be taken back?
    pub fixes: bool,
    pub(crate) look: fn(&Machine, &mut Round),
}

impl Check {
    /// It, described.
    #[must_use]
    pub fn about(&self) -> About {
        About {
            check: self.id.to_owned(),
            severity: self.severity,
            looks_at: self.looks_at.to_owned(),
            rule: self.rule.to_owned(),
            fixes: self.fixes,
        }
    }
}

/// One check on one machine.
#[derive(Debug)]
pub(crate) struct Round {
    check: &'static Check,
    pub(crate) looked_at: u32,
    pub(crate) findings: Vec<Found>,
    /// What could not be judged, as often as a check came upon it.
    pub(crate) unknown: Vec<Unknown>,
}

impl Round {
    pub(crate) const fn new(check: &'static Check) -> Self {
        Self { check, looked_at: 0, findings: Vec::new(), unknown: Vec::new() }
    }

    /// There is something of the kind that the check wants, and it is looked at.
    pub(crate) const fn look(&mut self) {
        self.looked_at = self.looked_at.saturating_add(1);
    }

    /// The fact. Where it is not known that is written down, and there is no fact.
    pub(crate) fn ask<'r, T>(&mut self, place: &Place, reading: &'r Readout<T>) -> Option<&'r T> {
        match reading {
            Readout::Known(fact) => Some(fact),
            Readout::Unknown(why) => {
                self.unknown(place, why);
                None
            }
        }
    }

    /// Something could not be judged.
    pub(crate) fn unknown(&mut self, place: &Place, why: impl Into<String>) {
        self.unknown.push(Unknown { check: self.check.id.to_owned(), place: place.clone(), reason: why.into() });
    }

    /// Something was found.
    pub(crate) fn find(&mut self, mut found: Found) {
        found.check = self.check.id;
        self.findings.push(found);
    }
}

pub(crate) use crate::remedy::Loses::{Brought, Data, Meanwhile, Nothing};
pub(crate) use crate::remedy::finding;
pub(crate) use terms::diagnosis::Severity::{Error, Information, Warning};
