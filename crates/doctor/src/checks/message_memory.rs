//! Errors of the machine's memory, as the kernel's drivers of memory controllers (EDAC) count them.

use std::collections::BTreeSet;

use terms::diagnosis::{Place, Severity};

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, list};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "memory-errors",
    severity: Error,
    looks_at: "`dmesg`, and what was posted of `edac-util -v`, of `ras-mc-ctl --error-count` and of files below `/sys/devices/system/edac`",
    rule: "errors of memory that could not be corrected (error), 10 or more that were (warning), or fewer (information)",
    fixes: false,
    look,
}];

/// So many corrected errors of a module `mcelog` lets pass without a word within a day (`ce-error-threshold` of `[dimm]` in its `mcelog.conf`).
const MANY: u64 = 10;

/// What a line tells.
struct Told<'a> {
    corrected: bool,
    count: u64,
    module: Option<&'a str>,
}

/// `EDAC MC0: 4 CE error on CPU#0Channel#2_DIMM#0 (channel:2 …)`, `EDAC MC0: UE page 0x2a3, …, label "": …` of kernels before 3.5
/// (`edac_ce_error` in the kernel's `drivers/edac/edac_mc.c`), and pages that were taken out of use (`memory_failure` in its
/// `mm/memory-failure.c`).
fn told(line: &str) -> Option<Told<'_>> {
    if line.contains("Memory failure: 0x") && line.contains("recovery action") {
        return Some(Told { corrected: false, count: 1, module: None });
    }
    let (_, said) = line.split_once("EDAC MC")?.1.split_once(": ")?;
    let (first, rest) = said.split_once(' ')?;
    let (count, kind) = match first.parse() {
        Ok(count) => (count, rest.split(' ').next()?),
        Err(_) => (1, first),
    };
    let corrected = ["UE", "CE"].iter().position(|own| *own == kind)? == 1;
    let module = said.split_once(" on ").and_then(|(_, rest)| rest.split(" (").next()).map(str::trim);
    Some(Told { corrected, count, module: module.filter(|module| !module.is_empty()) })
}

fn look(machine: &Machine, round: &mut Round) {
    let Some(messages) = round.ask(&Place::machine(), &machine.detail.linux.messages) else { return };
    round.look();
    let all: Vec<(&str, Told)> = messages
        .iter()
        .filter_map(|line| Some((line.as_str(), told(line)?)))
        .filter(|(_, told)| told.count > 0)
        .collect();
    for corrected in [false, true] {
        let own: Vec<&(&str, Told)> = all.iter().filter(|(_, told)| told.corrected == corrected).collect();
        let sum = own.iter().fold(0, |sum: u64, (_, told)| sum.saturating_add(told.count));
        if sum > 0 {
            judge(&own, corrected, sum, round);
        }
    }
}

fn judge(own: &[&(&str, Told)], corrected: bool, sum: u64, round: &mut Round) {
    let severity: Severity = match corrected {
        false => Error,
        true if sum >= MANY => Warning,
        true => Information,
    };
    let modules: BTreeSet<&str> = own.iter().filter_map(|(_, told)| told.module).collect();
    let modules: Vec<&str> = modules.into_iter().take(MOST).collect();
    let how = if corrected { "were corrected" } else { "could not be corrected" };
    let names = if modules.is_empty() { String::new() } else { format!(" ({})", list(&modules)) };
    let cost = format!(
        "{} {how}; {}",
        count(sum, "error"),
        if corrected {
            "0 bytes are wrong so far, and a module that errs goes on to err"
        } else {
            "what passed through it may be wrong on its way to the drives, with a checksum that says it is right"
        }
    );
    let found = finding(severity, &Place::machine(), format!("memory had errors that {how}{names}"), cost);
    let found = own.iter().take(3).fold(found, |found, (line, _)| {
        let counted = line.strip_prefix(COUNTED);
        found.seen(if counted.is_some() { "edac-util" } else { "dmesg" }, counted.unwrap_or(line))
    });
    let advice = if corrected {
        "Count again in a day. One error in months is chance; a number that grows is a module that fails: have it replaced, or put it in \
         anew. The board's manual says which one the label is."
    } else {
        "Stop what writes, and have the module replaced before anything is scrubbed, repaired or rebuilt: with bad memory a repair may write \
         what is wrong. Scrub after that, and compare with a copy what was written meanwhile."
    };
    round.find(
        found
            .advise(advice)
            .look("dmesg | grep -iE 'edac|mce:|memory failure'")
            .look("grep . /sys/devices/system/edac/mc/mc*/[cu]e_count"),
    );
}

/// How a line begins that tells what a program counts.
const COUNTED: &str = "edac-util: ";
/// More modules are not listed.
const MOST: usize = 4;
