//! Every check finds its fault, alone, and nothing on a clean machine; what cannot be read is unknown.

mod blind;
mod clean;
mod controllers;
mod excerpts;
mod faults;
mod healthy;
mod layers;
mod linear;
mod linked;
mod machines;
mod pastes;
mod perturbed;
mod plant;
mod posted;
mod posts;
mod preflight;
mod remedies;
mod rows;
mod sayings;
mod situations;
mod told;
mod unseen;

use std::collections::BTreeSet;

use terms::diagnosis::{CheckEnd, Diagnosis, Severity};
use terms::inventory::Inventory;

use crate::{checks, diagnose};
use clean::clean;

/// A fault, and what is found where it was planted.
struct Fault {
    check: &'static str,
    severity: Severity,
    plant: fn(&mut Inventory),
    /// Words of what is found, numbers among them.
    words: &'static [&'static str],
    /// Other checks that find the same fault in their own way.
    also: &'static [&'static str],
}

/// Evidence that is taken away.
struct Blind {
    check: &'static str,
    take: fn(&mut Inventory),
}

fn state(diagnosis: &Diagnosis, check: &str) -> CheckEnd {
    diagnosis.checks.iter().find(|known| known.check == check).unwrap().state
}

#[test]
fn a_clean_machine_gives_nothing() {
    let diagnosis = diagnose(&clean());
    assert_eq!(diagnosis.findings, Vec::new());
    assert_eq!(diagnosis.unknown, Vec::new());
    // Nothing passes only because there was nothing to look at.
    for check in &diagnosis.checks {
        assert_eq!(check.state, CheckEnd::Passed, "{}", check.check);
    }
}

/// What is wrong with what is said of a fault.
fn complaints(fault: &Fault) -> Vec<String> {
    let mut inventory = clean();
    (fault.plant)(&mut inventory);
    let diagnosis = diagnose(&inventory);
    let found: BTreeSet<&str> = diagnosis.findings.iter().map(|found| found.check.as_str()).collect();
    let expected: BTreeSet<&str> = fault.also.iter().copied().chain([fault.check]).collect();
    let mut wrong = Vec::new();
    if found != expected || !diagnosis.unknown.is_empty() || state(&diagnosis, fault.check) != CheckEnd::Found {
        wrong.push(format!("found {found:?}, unknown {:?}", diagnosis.unknown));
    }
    let own: Vec<_> = diagnosis.findings.iter().filter(|found| found.check == fault.check).collect();
    let [own] = own.as_slice() else {
        wrong.push(format!("{} findings and not one", own.len()));
        return wrong;
    };
    let told = format!("{} | {} | {:?} | {:?} | {}", own.what, own.why, own.seen, own.remedy, own.place);
    if own.severity != fault.severity {
        wrong.push(format!("{:?}", own.severity));
    }
    wrong.extend(
        fault.words.iter().filter(|words| !told.contains(**words)).map(|words| format!("no “{words}” in {told}")),
    );
    // Every finding has evidence, a cost with a number in it, and advice.
    if own.seen.is_empty() || own.remedy.advice.is_empty() || !own.why.chars().any(|c| c.is_ascii_digit()) {
        wrong.push(format!("without evidence, number or advice: {told}"));
    }
    wrong
}

#[test]
fn each_fault_is_found_alone_and_with_its_number() {
    let wrong = faults::all()
        .into_iter()
        .flat_map(|fault| complaints(&fault).into_iter().map(move |wrong| format!("{}: {wrong}", fault.check)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
#[test]
fn every_check_has_a_fault_and_something_to_be_blind_to() {
    let all: BTreeSet<&str> = checks().map(|check| check.id).collect();
    assert_eq!(all.len(), checks().count(), "two checks of one name");
    assert_eq!(faults::all().iter().map(|fault| fault.check).collect::<BTreeSet<_>>(), all);
    assert_eq!(blind::all().iter().map(|blind| blind.check).collect::<BTreeSet<_>>(), all);
    let kebab = |id: &str| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    assert!(all.iter().all(|id| kebab(id)), "{all:?}");
}

#[test]
fn evidence_that_is_missing_is_unknown_and_never_well() {
    for blind in blind::all() {
        let mut inventory = clean();
        (blind.take)(&mut inventory);
        let diagnosis = diagnose(&inventory);
        assert_eq!(state(&diagnosis, blind.check), CheckEnd::Unknown, "{}: {:?}", blind.check, diagnosis.findings);
        let own = diagnosis.unknown.iter().filter(|unknown| unknown.check == blind.check).collect::<Vec<_>>();
        assert!(own.iter().all(|unknown| !unknown.reason.is_empty()), "{own:?}");
    }
}

#[test]
fn an_inventory_without_details_is_unknown() {
    let diagnosis = diagnose(&Inventory::default());
    assert!(diagnosis.findings.is_empty());
    assert!(diagnosis.checks.iter().all(|check| check.state == CheckEnd::Unknown));
}

#[test]
fn what_a_check_says_it_can_fix_it_can() {
    let with_fix: BTreeSet<&str> = checks().filter(|check| check.fixes).map(|check| check.id).collect();
    let mut seen = BTreeSet::new();
    for fault in faults::all() {
        let mut inventory = clean();
        (fault.plant)(&mut inventory);
        for found in diagnose(&inventory).findings {
            for fix in &found.remedy.fixes {
                assert!(fix.path.starts_with("/sys/") && fix.old != fix.new, "{fix:?}");
                assert_eq!(found.remedy.destroys, None, "{}", found.check);
                let check = checks().find(|check| check.id == found.check).unwrap();
                assert!(with_fix.contains(check.id), "{}", check.id);
                seen.insert(check.id);
            }
        }
    }
    assert_eq!(seen, with_fix);
}

#[test]
fn severities_are_no_worse_than_the_table_says() {
    for fault in faults::all() {
        let check = checks().find(|check| check.id == fault.check).unwrap();
        assert!(fault.severity <= check.severity, "{}", check.id);
        let worst = faults::all().iter().filter(|other| other.check == check.id).map(|other| other.severity).max();
        assert_eq!(worst, Some(check.severity), "{}: no fault of the worst kind", check.id);
    }
}

/// The page is text written by hand, then the list. `BLESS=1` writes the list anew.
#[test]
fn the_page_is_up_to_date() {
    const BEGIN: &str = "<!-- checks: begin -->\n";
    const END: &str = "<!-- checks: end -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let fresh = format!("{before}{BEGIN}\n{}{END}{after}", crate::reference());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/doctor.md is out of date: run with BLESS=1");
    }
}
