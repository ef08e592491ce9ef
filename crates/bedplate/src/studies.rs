//! From a study file to a design and its plans, with the choices of the command line applied.

pub(crate) mod job_file;
mod plan_file;

use std::path::Path;

use lab::SATA_PORTS;
use terms::spelling::spell_path;
use terms::{Clock, Design, LabDrive, LabDriveKind, LabSpec, Note, NoteLevel, Plan, Replicate, Stack, Workload};

use crate::cli::{RunArguments, Selection};
use crate::exit::Failure;
use crate::settings::Settings;
use crate::{input, library, slices};

/// A study that was read.
#[derive(Debug, Clone)]
pub(crate) struct Study {
    /// The exact text.
    pub(crate) text: String,
    /// The file's name without its ending.
    pub(crate) title: String,
    /// What it means, with only the stacks that were selected.
    pub(crate) design: Design,
}

/// Reads a study and selects stacks. Warnings are printed; errors are all told at once.
pub(crate) fn load(selection: &Selection, settings: &Settings) -> Result<Study, Failure> {
    let mut study = load_whole(&selection.study, settings)?;
    study.design.stacks = select(study.design.stacks, &selection.only, &selection.skip)?;
    Ok(study)
}

/// Reads a study, or a plan in its place, and selects stacks. Profiles, where any are named, stand in for the workloads of
/// the study; a plan has none, and gets those of a study that says nothing of them. A study without `[lab]` is of these drives.
pub(crate) fn load_or_plan(
    selection: &Selection,
    profiles: &[String],
    drives: &[LabDrive],
    settings: &Settings,
) -> Result<Design, Failure> {
    let path = &selection.study;
    let text = text(path)?;
    let is_plan = plan_file::is_one(&text) || path.extension().is_some_and(|ending| ending == "json");
    let mut design = if is_plan {
        let usual = spec::profile::named(USUAL).unwrap_or_default();
        understood(path, &text, plan_file::read(&text, usual), settings)?
    } else {
        understood(path, &text, spec::parse_on(&text, drives), settings)?
    };
    design.stacks = select(design.stacks, &selection.only, &selection.skip)?;
    replace_workloads(&mut design, profiles)?;
    Ok(design)
}

/// The profile of a study that names none.
const USUAL: &str = "quick";

/// Reads a study with all its stacks.
pub(crate) fn load_whole(path: &Path, settings: &Settings) -> Result<Study, Failure> {
    let text = text(path)?;
    let design = of_text(path, &text, settings)?;
    let title = path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(Study { text, title, design })
}

/// The design of a study's text; `path` is what it is called where something is wrong with it.
pub(crate) fn of_text(path: &Path, text: &str, settings: &Settings) -> Result<Design, Failure> {
    if plan_file::is_one(text) {
        return Err(Failure::told(format!(
            "error: `{}` is JSON, but a study is TOML\n\nhint: `bedplate expect` takes plans, too",
            spell_path(path)
        )));
    }
    understood(path, text, spec::parse(text), settings)
}

/// The text of a file, or of a study that comes with the program where no file of its name is here.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    if let Some(text) = library::text(path).filter(|_| !path.exists()) {
        return Ok(text.to_owned());
    }
    input::text(path, "study", |kind| match kind {
        std::io::ErrorKind::NotFound => library::hint(path),
        std::io::ErrorKind::IsADirectory => "name a file in it, ending in `.toml`".to_owned(),
        _ => String::new(),
    })
}

/// The design, where nothing is wrong with the text. Warnings are printed; errors are all told at once.
fn understood(
    path: &Path,
    text: &str,
    (design, notes): (Option<Design>, Vec<Note>),
    settings: &Settings,
) -> Result<Design, Failure> {
    let rendered = spec::render(&spell_path(path), text, &notes, settings.style.colour);
    let design = match design {
        Some(design) if !has_errors(&notes) => design,
        _ if spec::parse_machine(text).0.is_some() => {
            return Err(Failure::told(format!(
                "error: `{0}` describes a machine, and is not a study\n\nhint: use `--machine {0}`, and name a study",
                spell_path(path)
            )));
        }
        _ => return Err(Failure::Drawn(rendered)),
    };
    if !notes.is_empty() {
        settings.printer.show(rendered.trim_end());
    }
    Ok(design)
}

fn has_errors(notes: &[Note]) -> bool {
    notes.iter().any(|note| note.severity == NoteLevel::Error)
}

/// The plan of every stack, linted. All that is wrong is told at once.
///
/// `whole` is what is known of the drives.
pub(crate) fn plans(design: &Design, whole: &[plan::DriveSize]) -> Result<Vec<Plan>, Failure> {
    planned(&design.stacks, &placed(design, whole)?)
}

/// The plan of every source that files are copied from, linted.
pub(crate) fn source_plans(design: &Design, whole: &[plan::DriveSize]) -> Result<Vec<Plan>, Failure> {
    planned(&design.sources, whole)
}

/// What each stack stands on: slices of the drives where stacks stand side by side.
///
/// # Errors
/// Drives that are too small for so many slices.
pub(crate) fn placed(design: &Design, whole: &[plan::DriveSize]) -> Result<Vec<plan::DriveSize>, Failure> {
    if design.measure.replicate != Replicate::Slices {
        return Ok(whole.to_vec());
    }
    if !design.sources.is_empty() {
        return Err(Failure::told(
            "error: slices use every drive, so none is left for a source to copy from\n\nhint: leave out `replicate = \"slices\"`",
        ));
    }
    let stacks = design.stacks.len();
    let slice = |fact: &plan::DriveSize| match slices::fit(fact.size, stacks) {
        Ok(size) => Ok(fact.sliced(size)),
        Err(size) => Err(Failure::told(format!(
            "error: drive `{}` is too small for {} slices: {size} each\n\n\
             hint: make the drives larger, select fewer stacks, or leave out `replicate = \"slices\"`",
            fact.name,
            slices::count(stacks)
        ))),
    };
    whole.iter().map(slice).collect()
}

fn planned(stacks: &[Stack], facts: &[plan::DriveSize]) -> Result<Vec<Plan>, Failure> {
    let mut wrong = Vec::new();
    let mut plans = Vec::new();
    for (stack, planned) in stacks.iter().zip(plan::plans(stacks, facts)) {
        match planned {
            Ok(plan) => {
                let notes = plan::lint(&plan);
                let errors = notes.iter().filter(|note| note.severity == NoteLevel::Error);
                wrong.extend(errors.map(|note| format!("error: plan of `{}`: {}", stack.name, note.message)));
                plans.push(plan);
            }
            Err(error) => wrong.push(format!("error: `{}`: {}", stack.name, crate::exit::chain(&error))),
        }
    }
    if wrong.is_empty() { Ok(plans) } else { Err(Failure::Told(wrong.join("\n"))) }
}

/// Puts the choices of the command line over those of the study.
///
/// # Errors
/// Where they contradict each other or name what there is not.
pub(crate) fn adjust(design: &mut Design, arguments: &RunArguments, settings: &Settings) -> Result<(), Failure> {
    replace_workloads(design, &arguments.profile)?;
    if let Some(file) = &arguments.fio {
        take_jobs(design, job_file::import(file, arguments.force, &arguments.set, settings)?)?;
    }
    let policy = &mut design.measure;
    if arguments.quick {
        keep_quick(policy, &mut design.workloads);
        policy.rounds = 1;
        policy.max_rounds = 1;
        policy.control = terms::Control::Off;
        policy.settle = policy.settle.min(terms::Nanos::millis(300));
        policy.window = policy.window.min(terms::Nanos::seconds(1));
        policy.any_precision = arguments.precision.is_none();
    }
    adjust_rounds(policy, arguments)?;
    policy.precision = arguments.precision.unwrap_or(policy.precision);
    policy.margin = arguments.margin.unwrap_or(policy.margin);
    policy.budget = arguments.budget.or(policy.budget);
    policy.replicate = arguments.replicate.map_or(policy.replicate, Into::into);
    policy.control = arguments.control.map_or(policy.control, Into::into);
    policy.compat |= arguments.compat;
    if policy.replicate == Replicate::Single {
        // One build has nothing to be precise about beyond itself, and no bare drive beside it.
        policy.max_rounds = policy.rounds;
        policy.control = terms::Control::Off;
    }
    policy.window = arguments.window.unwrap_or(policy.window);
    policy.settle = arguments.settle.unwrap_or(policy.settle);
    policy.span = arguments.span.unwrap_or(policy.span);
    let span = policy.span;
    design.workloads.iter_mut().for_each(|workload| *workload = workload.clone().within(span));
    policy.seed = arguments.seed.unwrap_or(policy.seed);
    if arguments.window.is_some() || arguments.quick {
        // A path that is lost and comes back needs its time.
        for workload in design.workloads.iter_mut().filter(|workload| workload.path_lost.is_none()) {
            workload.window = None;
        }
    }
    if arguments.curve {
        add_curves(&mut design.workloads);
    }
    check_slices(design)
}

/// Puts the choices of the command line that are of the lab over those of the study.
///
/// # Errors
/// Where a guest cannot be so.
pub(crate) fn adjust_lab(design: &mut Design, arguments: &RunArguments) -> Result<(), Failure> {
    design.measure.lab_drives = arguments.lab_drives.map(Into::into);
    design.lab.said_clock = arguments.clock.map(Into::into).or(design.lab.said_clock);
    if !arguments.kernel.is_empty() {
        design.lab.kernels.clone_from(&arguments.kernel);
    }
    // What QEMU serves as flash has a body in the guest.
    let is_served = |drive: &LabDrive| matches!(drive.kind, LabDriveKind::Nvme | LabDriveKind::Sata);
    if design.lab.said_clock == Some(Clock::Virtual) && design.lab.drives.iter().all(is_served) {
        design.measure.lab_drives.get_or_insert(LabDriveKind::Flash);
    }
    change_drives(design)?;
    check_memory(&design.lab)?;
    let guest = LabSpec { hosts: design.hosts(), ..design.lab.clone() };
    if guest.clock() == Clock::Virtual {
        // Nothing comes between two looks at the bare drive where time is instructions.
        design.measure.control = terms::Control::Off;
        check_timed_options(&design.workloads)?;
    }
    match guest.clock_refused() {
        None => Ok(()),
        Some(why) => Err(Failure::told(format!(
            "error: the lab cannot have a virtual clock\n  because: {why}\n\nhint: use `--lab-drives flash`, `hdd` or `ram`, or `--clock real`"
        ))),
    }
}

fn check_timed_options(workloads: &[Workload]) -> Result<(), Failure> {
    let timed =
        |workload: &Workload| workload.all_keys().find(|key| terms::fio::TIMED.contains(&key.key.as_str())).cloned();
    match workloads.iter().find_map(|workload| Some((workload, timed(workload)?))) {
        None => Ok(()),
        Some((workload, option)) => Err(Failure::told(format!(
            "error: `{}` of `{}` needs real time, and the lab has a virtual clock\n\nhint: use `--clock real`",
            option.key, workload.name
        ))),
    }
}

/// Makes the drives of the lab what the command line says, if they can be that.
fn change_drives(design: &mut Design) -> Result<(), Failure> {
    let Some(kind) = design.measure.lab_drives else { return Ok(()) };
    design.lab = design.lab.of_kind(kind);
    design.lab.set_caches(&design.setups);
    design.setups = design.setups.iter().map(|setup| setup.of_kind(kind)).collect();
    let sizes: std::collections::BTreeSet<_> = design.lab.drives.iter().map(|drive| drive.size).collect();
    if kind == LabDriveKind::Ram && sizes.len() > 1 {
        return Err(Failure::told(
            "error: all RAM drives of a guest have the same size, and those of the study differ\n\n\
             hint: give them one size, or name another kind",
        ));
    }
    let count = design.lab.drives.len();
    if matches!(kind, LabDriveKind::Sata | LabDriveKind::Hdd) && count > SATA_PORTS {
        return Err(Failure::told(format!(
            "error: a guest has {SATA_PORTS} SATA ports, and the study has {count} drives\n\nhint: name another kind"
        )));
    }
    match design.workloads.iter().find(|workload| !workload.hosts.is_one() || workload.path_lost.is_some()) {
        None => Ok(()),
        Some(workload) => Err(Failure::told(format!(
            "error: workload `{}` needs drives behind a network, and `--lab-drives` replaces them\n\n\
             hint: leave it out",
            workload.name
        ))),
    }
}

/// Drives of the guest are in its memory.
fn check_memory(lab: &LabSpec) -> Result<(), Failure> {
    if lab.drives_in_memory_fit() {
        return Ok(());
    }
    let (taken, memory) = (lab.drives_in_memory(), lab.memory);
    Err(Failure::told(format!(
        "error: drives in memory take {taken} of {memory}, more than half\n\n\
         hint: make `memory` of [lab] larger, or its drives smaller"
    )))
}

/// Slices are of one host, also where the command line asks for them.
fn check_slices(design: &Design) -> Result<(), Failure> {
    let several = design.workloads.iter().find(|workload| !workload.hosts.is_one());
    match several.filter(|_| design.measure.replicate == Replicate::Slices) {
        None => Ok(()),
        Some(workload) => Err(Failure::told(format!(
            "error: workload `{}` needs several hosts, and slices are on one\n\nhint: leave `--replicate` out",
            workload.name
        ))),
    }
}

/// Leaves out what the study does not want of a quick run. A profile of the command line is taken whole.
fn keep_quick(policy: &mut terms::MeasurePolicy, workloads: &mut Vec<terms::Workload>) {
    if !workloads.iter().any(|workload| policy.quick.contains(&workload.name)) {
        return;
    }
    let (kept, left): (Vec<_>, Vec<_>) =
        std::mem::take(workloads).into_iter().partition(|workload| policy.quick.contains(&workload.name));
    *workloads = kept;
    policy.left_out = left.into_iter().map(|workload| workload.name).collect();
}

fn adjust_rounds(policy: &mut terms::MeasurePolicy, arguments: &RunArguments) -> Result<(), Failure> {
    match (arguments.rounds, arguments.max_rounds) {
        (Some(rounds), None) => (policy.rounds, policy.max_rounds) = (rounds, rounds),
        (Some(rounds), Some(most)) if most < rounds => {
            return Err(Failure::told(format!("error: `--max-rounds {most}` is less than `--rounds {rounds}`")));
        }
        (Some(rounds), Some(most)) => (policy.rounds, policy.max_rounds) = (rounds, most),
        (None, Some(most)) => (policy.rounds, policy.max_rounds) = (policy.rounds.min(most), most),
        (None, None) => {}
    }
    Ok(())
}

/// Workloads of profiles in place of the study's.
fn replace_workloads(design: &mut Design, profiles: &[String]) -> Result<(), Failure> {
    if profiles.is_empty() {
        return Ok(());
    }
    design.workloads.clear();
    for name in profiles {
        let Some(workloads) = spec::profile::named(name) else {
            return Err(library::no_profile(name));
        };
        for workload in workloads {
            if !design.workloads.iter().any(|known| known.name == workload.name) {
                design.workloads.push(workload);
            }
        }
    }
    design.workloads.sort_by_key(|workload| workload.pattern.writes());
    fits(design)
}

/// Is what the choices of the command line make of a study still one that may be run?
fn fits(design: &Design) -> Result<(), Failure> {
    match spec::too_many_cells(design.stacks.len(), design.workloads.len()) {
        Some(message) => {
            Err(Failure::told(format!("error: {message}\n\nhint: name fewer stacks with `--only`, or fewer profiles")))
        }
        None => Ok(()),
    }
}

/// Workloads of a job file in place of the study's, and its times and size with them.
pub(crate) fn take_jobs(design: &mut Design, imported: spec::fio::Imported) -> Result<(), Failure> {
    let policy = &mut design.measure;
    policy.window = imported.window.unwrap_or(policy.window);
    policy.settle = imported.settle.unwrap_or(policy.settle);
    policy.span = imported.span.unwrap_or(policy.span);
    design.workloads = imported.workloads;
    design.workloads.sort_by_key(|workload| workload.pattern.writes());
    fits(design)
}

/// Adds the points of the load curves of all random workloads.
fn add_curves(workloads: &mut Vec<Workload>) {
    let points: Vec<Workload> =
        workloads.iter().filter(|workload| workload.pattern.random()).flat_map(Workload::curve).collect();
    for point in points {
        if !workloads.iter().any(|known| known.name == point.name) {
            workloads.push(point);
        }
    }
    workloads.sort_by_key(|workload| workload.pattern.writes());
}

pub(crate) fn select(stacks: Vec<Stack>, only: &[String], skip: &[String]) -> Result<Vec<Stack>, Failure> {
    let wanted = |patterns: &[String]| patterns.iter().filter(|p| !p.trim().is_empty()).cloned().collect::<Vec<_>>();
    if !only.is_empty() && wanted(only).is_empty() {
        return Err(Failure::told("error: `--only` names no stack\n\nhint: leave it out to select all stacks"));
    }
    let (only, skip) = (&wanted(only), &wanted(skip));
    for pattern in only.iter().chain(skip) {
        if !stacks.iter().enumerate().any(|(index, stack)| matches(pattern, index, stack)) {
            let names: Vec<String> =
                stacks.iter().enumerate().map(|(index, stack)| format!("  {:>2}  {}", index + 1, stack.name)).collect();
            let list = names.join("\n");
            let near = spec::did_you_mean(pattern, stacks.iter().map(|stack| stack.name.as_str()));
            return Err(Failure::told(format!(
                "error: no stack of the study is `{pattern}`\n\nhint: {near}its stacks are\n{list}"
            )));
        }
    }
    let any = |patterns: &[String], index: usize, stack: &Stack| patterns.iter().any(|p| matches(p, index, stack));
    let chosen: Vec<Stack> = stacks
        .into_iter()
        .enumerate()
        .filter(|(index, stack)| (only.is_empty() || any(only, *index, stack)) && !any(skip, *index, stack))
        .map(|(_, stack)| stack)
        .collect();
    if chosen.is_empty() { Err(Failure::told("error: `--only` and `--skip` leave no stack")) } else { Ok(chosen) }
}

/// Is it this stack: by number in the study, by name or slug, or by a pattern with `*` over the name?
fn matches(pattern: &str, index: usize, stack: &Stack) -> bool {
    let pattern = pattern.trim();
    if pattern.chars().all(|c| c.is_ascii_digit()) {
        return pattern.parse() == Ok(index + 1);
    }
    terms::is_called(&stack.name, pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<Stack> {
        ["#1 ext4", "#2 ext4 on LUKS", "btrfs"]
            .map(|name| Stack { name: name.to_owned(), note: None, nodes: Vec::new() })
            .to_vec()
    }

    fn names(only: &[&str], skip: &[&str]) -> Vec<String> {
        let owned = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        select(stacks(), &owned(only), &owned(skip)).unwrap().into_iter().map(|stack| stack.name).collect()
    }

    #[test]
    fn stacks_are_selected_by_number_name_and_pattern() {
        assert_eq!(names(&["2", "btrfs"], &[]), ["#2 ext4 on LUKS", "btrfs"]);
        assert_eq!(names(&["*ext4*"], &["*luks"]), ["#1 ext4"]);
        assert_eq!(names(&[], &["1-ext4"]), ["#2 ext4 on LUKS", "btrfs"]);
        assert!(select(stacks(), &["zfs".to_owned()], &[]).is_err());
        assert!(select(stacks(), &[], &["*".to_owned()]).is_err());
    }
}
