//! What a failure leaves on a machine that is not a guest: taken back from the run's own journal.
//!
//! The journal lies where the person who called `sudo` can put another in its place. So it is read once, each line is
//! proven, and what was proven is what is taken back: nothing here reads it a second time.
//!
//! A guest goes with all that stands in it. A machine of its own has to be taken back step by step, and where that
//! cannot be done, the commands are told that a person has to run.

use build::{Authority, BuildError, JournalEntry};
use host::interrupt;
use record::{RunReader, RunWriter};
use terms::Plan;

use crate::exit::{Failure, chain};
use crate::proof::Proof;
use crate::runner::Runner;
use crate::runner::journal::{RunJournal, entries};
use crate::target::prepared::refuse_company;

impl Runner<'_> {
    /// Leaves the machine as it was found: a guest is let go, anything else is taken back, drives last.
    ///
    /// # Errors
    /// Where something stands that could not be taken down.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        let Some(site) = self.site.clone() else { return Ok(()) };
        if site.is_lab() {
            self.site = None;
            return Ok(());
        }
        self.is_prepared = false;
        let plans: Vec<Plan> = self.plans.iter().chain(self.sources).chain(self.prepared).cloned().collect();
        let authority = self.authority(&site, site.drives())?;
        let past = proven(self.writer, self.proof)?;
        take_back(&authority, &plans, &past, self.writer, self.proof).map(drop)
    }
}

/// The journal of a run that is being written, every line of it proven where there is something to prove it by.
fn proven(writer: &RunWriter, proof: Option<&Proof>) -> Result<Vec<JournalEntry>, Failure> {
    let reader = RunReader::open(writer.dir())?;
    proof.map_or_else(|| entries(&reader), |proof| proof.entries(&reader))
}

/// Takes down every stack that stands by `past`, the lines of a run's journal that were proven, the last begun first.
/// Gives the names of those that it took down.
///
/// # Errors
/// What could not be taken down, and the commands that are left.
pub(crate) fn take_back(
    authority: &Authority<'_>,
    plans: &[Plan],
    past: &[JournalEntry],
    writer: &RunWriter,
    proof: Option<&Proof>,
) -> Result<Vec<String>, Failure> {
    // Somebody who interrupts wants it cleaned up, and then to stop.
    let interrupted = interrupt::raised();
    interrupt::clear();
    let result = take_all_back(authority, plans, past, writer, proof);
    if interrupted {
        interrupt::raise();
    }
    result
}

fn take_all_back(
    authority: &Authority<'_>,
    plans: &[Plan],
    past: &[JournalEntry],
    writer: &RunWriter,
    proof: Option<&Proof>,
) -> Result<Vec<String>, Failure> {
    let mut down = Vec::new();
    let (mut left, mut refused) = (Vec::new(), Vec::new());
    for slug in build::standing(past).into_iter().rev() {
        let Some(plan) = plans.iter().find(|plan| plan.slug == slug) else {
            left.push(format!("error: `{slug}` stands, and its plan is not known here\n\nhint: bedplate teardown"));
            continue;
        };
        if let Err(failure) = refuse_company(authority.host(), authority.drives(), plan) {
            refused.push(failure.text().to_owned());
            continue;
        }
        let mut journal = RunJournal { writer: Some(writer), proof, kept: Vec::new() };
        match build::teardown(plan, authority, past, &mut journal) {
            Ok(ours) => {
                down.push(plan.stack.clone());
                // As a run that ends well does.
                let kept = ours.iter().filter_map(|drive| authority.discard(drive).err());
                left.extend(kept.map(|error| format!("error: `{}` is taken down, and {}", plan.stack, chain(&error))));
            }
            // Nothing was touched; what is on the drives is told, and what to say if it may go.
            Err(error)
                if error.is_refusal() && !journal.kept.iter().any(|of| matches!(of, JournalEntry::Undoing { .. })) =>
            {
                refused.push(format!("`{}` stays as it is\n{}", plan.stack, chain(&error)))
            }
            Err(error @ BuildError::Unwritten(_)) => {
                left.push(format!("error: of `{}`, {}", plan.stack, chain(&error)));
            }
            Err(error) => {
                let all: Vec<JournalEntry> = past.iter().chain(&journal.kept).cloned().collect();
                left.push(told(plan, &chain(&error), &build::commands_left(plan, authority, &all)));
            }
        }
    }
    match (left.is_empty(), refused.is_empty()) {
        (true, true) => Ok(down),
        (true, false) => Err(Failure::Refused(refused.join("\n\n"))),
        _ => Err(Failure::Told([refused, left].concat().join("\n\n"))),
    }
}

fn told(plan: &Plan, why: &str, left: &[String]) -> String {
    let commands: Vec<String> = left.iter().map(|command| format!("  {command}")).collect();
    format!(
        "error: `{}` could not be taken down\n  because: {why}\n\nleft to do, in this order:\n{}\n\n\
         hint: run these, or fix the cause and say `bedplate teardown`",
        plan.stack,
        commands.join("\n")
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use build::Claims;
    use host::Local;
    use serde_json::json;

    use super::*;

    /// A record of nothing.
    pub(crate) fn writer(below: &std::path::Path) -> RunWriter {
        let provenance = json!({
            "schema": 1, "run": "r", "question": "?", "started": "2026-01-02T00:00:00Z", "command": [], "version": "0",
            "build": "b", "study_sha256": record::sha256_hex(b"x"), "place": "local", "accelerator": null, "seed": 1,
            "rounds": 1, "settle_ns": 0, "window_ns": 0, "span_bytes": 0, "stacks": [], "workloads": [],
        });
        RunWriter::create(below, &serde_json::from_value(provenance).unwrap(), "x").unwrap()
    }

    /// A step of a stack that stands.
    pub(crate) fn begun(stack: &str) -> JournalEntry {
        let (stack, line) = (stack.to_owned(), String::new());
        JournalEntry::Before { stack, step: "make".to_owned(), line, old: None, makes: Vec::new() }
    }

    #[test]
    fn a_journal_that_was_put_in_place_since_it_was_proven_takes_nothing_back() {
        let home = tempfile::tempdir().unwrap();
        let writer = writer(&home.path().join("runs"));
        writer.journal(&begun("theirs")).unwrap();
        let (machine, claims) = (Local::new(), Claims::new());
        let down = take_back(&Authority::held(&machine, &claims), &[], &[], &writer, None);
        assert!(down.is_ok_and(|down| down.is_empty()), "what was proven says that nothing stands");
    }

    #[test]
    fn a_run_that_ends_believes_no_line_that_it_did_not_write() {
        let home = tempfile::tempdir().unwrap();
        let (writer, proof) = (writer(&home.path().join("runs")), Proof::open(&home.path().join("state")).unwrap());
        let proof = proof.of_run(&RunReader::open(writer.dir()).unwrap()).unwrap();
        proof.write(&begun("ours"), &writer).unwrap();
        assert_eq!(proven(&writer, Some(&proof)).ok(), Some(vec![begun("ours")]));
        writer.journal(&begun("theirs")).unwrap();
        assert!(matches!(proven(&writer, Some(&proof)), Err(Failure::Refused(_))));
    }
}
