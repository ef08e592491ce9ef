//! What is wrong with how a machine is set up: a table of checks over an [`Inventory`].
//!
//! A check looks at evidence that was read, says what it found, what that costs in numbers and what mends it. It never
//! takes what could not be read for "all is well". Nothing here reads a machine or changes one.

mod check;
mod checks;
mod machine;
pub mod preflight;
mod reference;
mod words;

pub use check::Check;
pub use reference::reference;

use std::cmp::Reverse;

use terms::diagnosis::{Checked, Diagnosis, Place, State};
use terms::inventory::Inventory;

use crate::check::Round;
use crate::machine::Machine;

/// The table of checks, in the order in which they are listed.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    checks::ALL.iter().copied().flatten()
}

/// Every check on a machine.
#[must_use]
pub fn diagnose(inventory: &Inventory) -> Diagnosis {
    diagnose_with(inventory, |_| true)
}

/// The checks that are wanted on a machine.
#[must_use]
pub fn diagnose_with(inventory: &Inventory, wanted: impl Fn(&Check) -> bool) -> Diagnosis {
    let detail = inventory.detail.as_deref();
    let mut diagnosis = Diagnosis {
        emulated: inventory.emulated.clone(),
        as_root: detail.is_some_and(|detail| detail.as_root),
        ..Diagnosis::default()
    };
    let machine = detail.map(|detail| Machine::new(inventory, detail));
    for check in checks().filter(|check| wanted(check)) {
        let mut round = Round::new(check);
        match &machine {
            Some(machine) => (check.look)(machine, &mut round),
            None => round.unknown(&Place::machine(), "the inventory has no details: it was taken by an older version"),
        }
        diagnosis.checks.push(Checked { check: check.id.to_owned(), state: ended(&round), looked_at: round.looked_at });
        diagnosis.findings.append(&mut round.findings);
        diagnosis.unknown.append(&mut round.unknown);
    }
    // A stable sort: within a severity findings stay in the order of the table.
    diagnosis.findings.sort_by_key(|finding| Reverse(finding.severity));
    diagnosis
}

fn ended(round: &Round) -> State {
    if !round.findings.is_empty() {
        State::Found
    } else if !round.unknown.is_empty() {
        State::Unknown
    } else if round.looked_at > 0 {
        State::Passed
    } else {
        State::NothingThere
    }
}

#[cfg(test)]
mod tests;
