//! What is wrong with how a machine is set up: a table of checks over an [`Inventory`].
//!
//! A check looks at evidence that was read, says what it found, what that costs in numbers and what fixes it. It never
//! takes what could not be read for "all is well". Nothing here reads a machine or changes one.

mod check;
mod checks;
mod condition;
mod group;
mod guard;
mod machine;
pub mod preflight;
mod redundancy;
mod reference;
mod remedy;
mod reserved;
mod words;

pub use check::Check;
pub use reference::reference;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use terms::diagnosis::{CheckEnd, Checked, Diagnosis, Place};
use terms::inventory::{Detail, Inventory, UnreadFile};

use crate::check::Round;
use crate::guard::Guard;
use crate::machine::Machine;
use crate::remedy::Found;

/// The table of checks, in the order in which they are listed.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    checks::ALL.iter().flat_map(|part| part.checks)
}

/// Every check on a machine.
#[must_use]
pub fn diagnose(inventory: &Inventory) -> Diagnosis {
    diagnose_with(inventory, |_| true)
}

/// The checks that are wanted on a machine.
#[must_use]
pub fn diagnose_with(inventory: &Inventory, wanted: impl Fn(&Check) -> bool) -> Diagnosis {
    let (found, mut diagnosis) = look(inventory, wanted);
    diagnosis.findings = found.into_iter().map(Found::told).collect();
    diagnosis
}

/// What the checks found, with remedies step by step, and all else of the diagnosis.
fn look(inventory: &Inventory, wanted: impl Fn(&Check) -> bool) -> (Vec<Found>, Diagnosis) {
    let detail = inventory.detail.as_deref();
    let mut diagnosis = Diagnosis {
        emulated: inventory.emulated.clone(),
        as_root: detail.is_some_and(|detail| detail.as_root) || inventory.why_unread("/proc/self/status").is_some(),
        ..Diagnosis::default()
    };
    let machine = detail.map(|detail| Machine::new(inventory, detail));
    let guard = machine.as_ref().map(Guard::new);
    let mut findings: Vec<Found> = Vec::new();
    let parts = checks::ALL.iter().flat_map(|part| part.checks.iter().map(|check| (check, part.roots)));
    for (check, roots) in parts.filter(|(check, _)| wanted(check)) {
        let mut round = Round::new(check);
        match &machine {
            Some(machine) => {
                (check.look)(machine, &mut round);
                roots.iter().filter_map(|root| unread(machine.detail, root)).for_each(|why| {
                    round.unknown(&Place::machine(), why);
                });
            }
            None => round.unknown(&Place::machine(), "the inventory has no details: it was taken by an older version"),
        }
        diagnosis.checks.push(Checked { check: check.id.to_owned(), state: ended(&round), looked_at: round.looked_at });
        findings.extend(round.findings.into_iter().map(|found| match &guard {
            Some(guard) => guard.pass(found),
            None => found,
        }));
        let mut told = BTreeSet::new();
        diagnosis.unknown.extend(round.unknown.into_iter().filter(|unknown| told.insert(unknown.clone())));
    }
    // A stable sort: within a severity findings stay in the order of the table.
    findings.sort_by_key(|found| Reverse(found.severity));
    (findings, diagnosis)
}

/// What was not read at a path and below it, in one sentence.
fn unread(detail: &Detail, root: &str) -> Option<String> {
    let below =
        |gap: &&UnreadFile| gap.path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut gaps = detail.gaps.iter().filter(below);
    let first = gaps.next()?;
    let more = gaps.count();
    Some(if more == 0 { first.why.clone() } else { format!("{}; so were {more} more below `{root}`", first.why) })
}

fn ended(round: &Round) -> CheckEnd {
    if !round.findings.is_empty() {
        CheckEnd::Found
    } else if !round.unknown.is_empty() {
        CheckEnd::Unknown
    } else if round.looked_at > 0 {
        CheckEnd::Passed
    } else {
        CheckEnd::NothingThere
    }
}

#[cfg(test)]
mod tests;
