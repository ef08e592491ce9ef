//! What a failure leaves on a machine that is not a guest: taken back from the run's own journal.
//!
//! A guest goes with all that stands in it. A machine of its own has to be taken back step by step, and where that
//! cannot be done, the commands are told that a person has to run.

use build::{Bindings, BuildError, Entry};
use host::{Host, interrupt};
use record::{RunReader, RunWriter};
use terms::Plan;

use crate::exit::{Failure, chain};
use crate::ground::erase::discard;
use crate::runner::Runner;
use crate::runner::stand::RunJournal;

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
        take_back(&*site, site.drives(), &plans, self.writer).map(drop)
    }
}

/// Takes down every stack that a run's journal says stands, the last begun first. Gives the names of those that it
/// took down.
///
/// # Errors
/// What could not be taken down, and the commands that are left.
pub(crate) fn take_back(
    host: &dyn Host,
    drives: &Bindings,
    plans: &[Plan],
    writer: &RunWriter,
) -> Result<Vec<String>, Failure> {
    // Somebody who interrupts wants it cleaned up, and then to stop.
    let interrupted = interrupt::raised();
    interrupt::clear();
    let result = take_all_back(host, drives, plans, writer);
    if interrupted {
        interrupt::raise();
    }
    result
}

fn take_all_back(
    host: &dyn Host,
    drives: &Bindings,
    plans: &[Plan],
    writer: &RunWriter,
) -> Result<Vec<String>, Failure> {
    let past = entries(&RunReader::open(writer.dir())?)?;
    let mut down = Vec::new();
    let mut left = Vec::new();
    for slug in build::standing(&past).into_iter().rev() {
        let Some(plan) = plans.iter().find(|plan| plan.slug == slug) else { continue };
        let mut journal = RunJournal { writer: Some(writer), kept: Vec::new() };
        match build::teardown(plan, host, drives, &past, &mut journal) {
            Ok(()) => {
                forget(host, drives, plan)?;
                down.push(plan.stack.clone());
            }
            Err(error @ BuildError::Unwritten(_)) => {
                left.push(format!("error: of `{}`, {}", plan.stack, chain(&error)));
            }
            Err(error) => {
                let all: Vec<Entry> = past.iter().chain(&journal.kept).cloned().collect();
                left.push(told(plan, &chain(&error), &build::commands_left(plan, drives, &all)));
            }
        }
    }
    if left.is_empty() { Ok(down) } else { Err(Failure::Told(left.join("\n\n"))) }
}

/// Discards drives that were just taken down and proven blank, as a run that ends well does.
fn forget(host: &dyn Host, drives: &Bindings, plan: &Plan) -> Result<(), Failure> {
    for node in plan.drives.iter().filter_map(|name| drives.get(name)) {
        discard(host, node)?;
    }
    Ok(())
}

/// The journal of a run.
pub(crate) fn entries(reader: &RunReader) -> Result<Vec<Entry>, Failure> {
    reader.journal()?.into_iter().map(|line| Ok(serde_json::from_value(line)?)).collect()
}

fn told(plan: &Plan, why: &str, left: &[String]) -> String {
    let commands: Vec<String> = left.iter().map(|command| format!("  {command}")).collect();
    format!(
        "error: `{}` could not be taken down\n  because: {why}\n\nleft to do, in this order:\n{}\n\n\
         hint: run these, or mend the cause and say `bedplate teardown`",
        plan.stack,
        commands.join("\n")
    )
}
