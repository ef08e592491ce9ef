//! Going on with a run: the one that is meant, and whether what would be added to it is of the same machine.

use std::path::PathBuf;

use record::{RunReader, RunWriter};
use terms::inventory::Inventory;
use terms::record::{Provenance, StackEntry, UsedDrive};
use terms::{MeasurePolicy, Nanos, Plan, Replicate};

use super::used;
use crate::BUILD;
use crate::cli::RunArguments;
use crate::commands::{report as reports, runs};
use crate::exit::Failure;
use crate::proof::Proof;
use crate::settings::Settings;
use crate::site::Site;
use crate::studies::Study;

/// A run that is gone on with.
pub(super) struct Earlier {
    pub(super) directory: PathBuf,
    /// Has it all that is asked for?
    pub(super) is_whole: bool,
    /// By which it goes on.
    pub(super) policy: MeasurePolicy,
}

impl Earlier {
    /// The run with so many rounds more, and a budget that is larger now. One that is not finished has the rounds that it was
    /// begun for.
    fn of(reader: &RunReader, study: &Study, arguments: &RunArguments) -> Result<Self, Failure> {
        let (begun, is_sealed) = (reader.provenance().policy(), reader.is_sealed());
        let now = study.design.measure.budget;
        if let Some(asked) = now.filter(|_| arguments.budget.is_some()) {
            may_be_spent(&reader.provenance().run, begun.budget, asked)?;
        }
        let policy = MeasurePolicy { budget: budget(begun.budget, now, arguments), ..begun.clone() };
        let policy = match arguments.more.filter(|_| is_sealed) {
            Some(more) => {
                let had = reader.cells()?.iter().map(|cell| cell.key.round).max().unwrap_or(0);
                longer(policy, had.saturating_add(more))
            }
            None => policy,
        };
        let is_whole = is_sealed && arguments.more.is_none() && policy == begun;
        Ok(Self { directory: reader.dir().to_owned(), is_whole, policy })
    }
}

/// Refuses a budget that would take away time that the run was begun with: what is measured already chose its cells by that.
fn may_be_spent(run: &str, begun: Option<Nanos>, asked: Nanos) -> Result<(), Failure> {
    let had = match begun {
        Some(begun) if asked >= begun => return Ok(()),
        Some(begun) => format!("a budget of {begun}, and {asked} is less"),
        None => "no budget, and takes as long as it takes".to_owned(),
    };
    Err(Failure::told(format!(
        "error: run `{run}` was begun with {had}\n\n\
         hint: leave out --budget to go on as it was begun, say a longer one, or leave out --resume to begin a new run"
    )))
}

/// The larger of what a run had and of what is said now; none is as long as it takes. Whoever says neither a time nor more rounds goes on
/// with what it had.
fn budget(then: Option<Nanos>, now: Option<Nanos>, arguments: &RunArguments) -> Option<Nanos> {
    match (arguments.budget, arguments.more) {
        (None, None) => then,
        _ => then.zip(now).map(|(then, now)| then.max(now)),
    }
}

/// The policy with rounds up to that one. They are those of a run that looks again after each (docs/statistics.md), and go to
/// what is open. Where one build is measured again and again nothing is compared, and all
/// of it is.
fn longer(policy: MeasurePolicy, last: u32) -> MeasurePolicy {
    match policy.replicate {
        Replicate::Single => MeasurePolicy { rounds: last, max_rounds: last, ..policy },
        Replicate::Rebuild | Replicate::Slices => MeasurePolicy { max_rounds: last, ..policy },
    }
}

/// The run to go on with: the newest, or the named one, of this very study with these very choices; where rounds are added
/// their number may be another.
pub(super) fn earlier(
    run: &str,
    study: &Study,
    arguments: &RunArguments,
    settings: &Settings,
) -> Result<Earlier, Failure> {
    if run != "latest" {
        let reader = reports::open(run, settings)?;
        if !fits(&reader, study, arguments.more.is_some())? {
            let begun = reader.provenance();
            return Err(Failure::told(format!(
                "error: run `{}` is of another study, or was started with other options\n\nhint: its command was `{}`",
                begun.run,
                begun.command_line()
            )));
        }
        return Earlier::of(&reader, study, arguments);
    }
    newest(study, arguments, settings)?.ok_or_else(|| {
        Failure::told(
            "error: there is no run of this study with the same options to resume\n\n\
             hint: leave out --resume and --more to begin one",
        )
    })
}

/// The newest run of this very study with these very choices.
pub(super) fn newest(study: &Study, arguments: &RunArguments, settings: &Settings) -> Result<Option<Earlier>, Failure> {
    for row in runs::catalogue(settings)?.list() {
        let reader = RunReader::open(&row.dir)?;
        if fits(&reader, study, arguments.more.is_some())? {
            return Earlier::of(&reader, study, arguments).map(Some);
        }
    }
    Ok(None)
}

/// Was this run begun from the same text with the same choices, but for the budget, and the number of rounds where that may be
/// another? A kernel that was asked for is a choice; records of a lab know theirs.
fn fits(reader: &RunReader, study: &Study, any_rounds: bool) -> Result<bool, Failure> {
    let run = reader.provenance();
    Ok(same_choices(run, study, any_rounds)
        && match study.design.lab.kernels.first().filter(|_| run.is_emulated()) {
            None => true,
            Some(asked) => reader.inventory()?.is_none_or(|machine| machine.kernel == *asked),
        })
}

fn same_choices(run: &Provenance, study: &Study, any_rounds: bool) -> bool {
    let stacks = study.design.stacks.iter().map(terms::Stack::slug);
    let (now, mut then) = (&study.design.measure, run.policy());
    then.budget = now.budget;
    if any_rounds {
        (then.rounds, then.max_rounds) = (now.rounds, now.max_rounds);
    }
    run.study_sha256 == record::sha256_hex(study.text.as_bytes())
        && run.stacks.iter().map(|stack| stack.slug.clone()).eq(stacks)
        && run.workloads == study.design.workloads
        && then == *now
}

/// Opens the record of an unfinished run, if what would be added to it comes from the same program on the same machine
/// and the same drives.
pub(super) fn go_on(
    earlier: &Earlier,
    plans: &[Plan],
    inventory: &Inventory,
    stacks: &[StackEntry],
    site: &Site,
    proof: Option<&Proof>,
) -> Result<RunWriter, Failure> {
    let reader = RunReader::open(&earlier.directory)?;
    same_place(&reader, site, proof)?;
    nothing_stands(&reader, proof)?;
    let (run, machine) = (reader.provenance(), reader.inventory()?.unwrap_or_default());
    let missing = |stacks: &[StackEntry]| {
        let names = stacks.iter().filter(|stack| stack.missing.is_some()).map(|stack| stack.slug.clone());
        names.collect::<Vec<_>>().join(", ")
    };
    let differences = [
        ("build of bedplate", run.build.clone(), BUILD.to_owned()),
        ("accelerator", run.accelerator.clone().unwrap_or_default(), site.accelerator().unwrap_or_default().to_owned()),
        ("kernel", machine.kernel.clone(), inventory.kernel.clone()),
        ("programs", versions(&machine), versions(inventory)),
        ("stacks that cannot be built", missing(&run.stacks), missing(stacks)),
    ];
    if let Some((what, then, now)) = differences.into_iter().find(|(_, then, now)| then != now) {
        return Err(Failure::told(format!(
            "error: run `{}` was begun with another {what}: then {then:?}, now {now:?}; one record holds one machine\n\n\
             hint: leave out --resume to begin a new run",
            run.run
        )));
    }
    let writer = if reader.is_sealed() || earlier.policy != run.policy() {
        RunWriter::extend(&reader, earlier.policy.clone())?
    } else {
        RunWriter::resume(&reader)?
    };
    writer.put_inventory(inventory)?;
    for plan in plans {
        writer.put_plan(&plan.slug, plan, &plan::script(plan))?;
    }
    Ok(writer)
}

/// Refuses to go on elsewhere: a record never credits one machine or drive with another's figures.
fn same_place(reader: &RunReader, site: &Site, proof: Option<&Proof>) -> Result<(), Failure> {
    let run = reader.provenance();
    let mut differences = Vec::new();
    if run.place != site.place() {
        differences.push(format!("it ran on `{}`, and this is `{}`", run.place, site.place()));
    }
    for of in site.claims() {
        let now = used(of);
        match run.drives.iter().find(|then| then.name == now.name) {
            Some(then) if is_same(then, &now) => {}
            _ => differences.push(format!(
                "drive `{}` was another than {}",
                now.name,
                of.permission.identity().describe()
            )),
        }
    }
    if run.drives.len() != site.claims().len() {
        differences.push(format!("it had {} drives, and {} are named", run.drives.len(), site.claims().len()));
    }
    if let Some(proof) = proof {
        let machine = site.machine_id()?;
        for origin in proof.entries(reader)?.iter().filter_map(build::JournalEntry::origin) {
            if origin.machine != machine {
                differences.push("it was begun on another machine (machine-id)".to_owned());
            }
            for of in site.claims() {
                let then = origin.drives.get(&of.name).map(|then| then.differences(of.permission.identity()));
                differences.extend(then.into_iter().flatten().map(|what| format!("drive `{}`: {what}", of.name)));
            }
        }
    }
    differences.dedup();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "refused: run `{}` cannot go on here\n  because: {}\n\n\
         hint: leave out --resume to begin a new run; `bedplate teardown {0}` takes down what this one left",
        run.run,
        differences.join("\n  because: ")
    )))
}

/// Refuses to go on while something of a killed session stands: its plan may be another than the one that is made now, and
/// would be forgotten.
fn nothing_stands(reader: &RunReader, proof: Option<&Proof>) -> Result<(), Failure> {
    let entries = proof.map(|proof| proof.entries(reader)).transpose()?.unwrap_or_default();
    if build::standing(&entries).is_empty() {
        return Ok(());
    }
    let run = &reader.provenance().run;
    Err(Failure::Refused(format!(
        "refused: something of run `{run}` still stands\n\nhint: run `bedplate teardown {run}` first, then --resume again"
    )))
}

/// By what a drive says of itself, whatever name it was given.
fn is_same(then: &UsedDrive, now: &UsedDrive) -> bool {
    (&then.serial, &then.wwid, &then.model, then.size) == (&now.serial, &now.wwid, &now.model, now.size)
}

fn versions(inventory: &Inventory) -> String {
    let version = |program: &terms::inventory::Program| {
        format!("{} {}", program.name, program.version.as_deref().unwrap_or("not installed"))
    };
    inventory.programs.iter().map(version).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_only_grows() {
        let of = |seconds| Some(Nanos::seconds(seconds));
        let told = RunArguments { budget: of(1), ..RunArguments::default() };
        assert_eq!((budget(of(60), of(90), &told), budget(of(60), of(30), &told)), (of(90), of(60)));
        let more = RunArguments { more: Some(2), ..RunArguments::default() };
        assert_eq!((budget(of(60), None, &more), budget(None, of(60), &more)), (None, None), "as long as it takes");
        assert_eq!(budget(of(60), None, &RunArguments::default()), of(60), "a plain --resume lifted it");
    }

    #[test]
    fn a_budget_that_would_take_time_away_is_refused_and_not_passed_over() {
        let asked = |begun: Option<u64>, asked| may_be_spent("r", begun.map(Nanos::seconds), Nanos::seconds(asked));
        assert!(asked(Some(60), 60).is_ok() && asked(Some(60), 90).is_ok());
        for (begun, words) in
            [(Some(60), "begun with a budget of 1 min 0 s, and 30 s is less"), (None, "with no budget")]
        {
            let Err(Failure::Told(text)) = asked(begun, 30) else { panic!("{begun:?}") };
            assert!(text.contains(words) && text.contains("hint: "), "{text}");
        }
    }
}
