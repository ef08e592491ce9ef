//! `bedplate expect`

pub(crate) mod holdings;

use std::path::Path;

use host::inspect;
use model::{Assignment, Conditions, Fault, Site};
use report::expectation::{self, Expectation, Unpredicted};
use terms::calibration::Calibration;
use terms::inventory::Inventory;
use terms::machine::{Machine, Rated};
use terms::prediction::Prediction;
use terms::spelling::spell_path;
use terms::{Bytes, Design, LabDrive, NoteLevel};

use crate::cli::{ExpectArguments, MachineArguments, Selection};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{calibrations, drives, machine, studies};

/// Says how fast the stacks of a study or of plans will be, before they are built.
pub(crate) fn expect(arguments: &ExpectArguments, settings: &Settings) -> Result<Exit, Failure> {
    let (study, only, skip) = (arguments.study.clone(), arguments.only.clone(), arguments.skip.clone());
    let (machine, inventory, known) = open(arguments.machine.as_deref(), settings)?;
    let selection = Selection { study, only, skip };
    let mut design = studies::load_or_plan(&selection, &arguments.profile, &model::drives(&machine), settings)?;
    if let Some(file) = &arguments.fio {
        studies::take_jobs(&mut design, studies::job_file::import(file, arguments.force, &arguments.set, settings)?)?;
    }
    leave_out(&mut design, settings)?;
    let (machine, assignments) = model::assignment(&machine, &design.lab.drives, design.measure.span);
    holdings::want_room(&design, &machine)?;
    if let Some(note) = arguments.drive_size.and_then(drives::as_sold) {
        settings.printer.say(&note);
    }
    say_span(&mut design, arguments.drive_size, true, settings);
    let (predictions, unpredicted) = predict(&calibrations::ready(&machine, known.as_ref()), &design, arguments)?;
    let drives = taken(&assignments, &machine, if arguments.drive_size.is_none() { &design.lab.drives } else { &[] });
    let holdings = if arguments.space || arguments.years {
        let said = (arguments.drive_size, arguments.years);
        holdings::want_sizes(&design, (&machine, &assignments), inventory.as_ref(), said)?;
        holdings::holdings(&design, (&machine, &assignments), inventory.as_ref(), arguments)?
    } else {
        Vec::new()
    };
    let assumptions = holdings::assumptions(arguments, &design.workloads);
    let expectation = Expectation {
        machine: &machine.name,
        drives: &drives,
        predictions: &predictions,
        stacks: &design.stacks,
        unpredicted: &unpredicted,
        accounts: holdings.iter().filter(|_| arguments.space).map(|holding| &holding.account).collect(),
        outlooks: holdings.iter().filter(|_| arguments.years).filter_map(|holding| holding.outlook.as_ref()).collect(),
        assumptions: if arguments.years { &assumptions } else { "" },
    };
    let style = report::Style { width: settings.style.width.min(80), ..settings.style };
    let text = if arguments.json {
        expectation::json(&expectation)?
    } else if arguments.explain {
        expectation::explain(&expectation, &style)
    } else {
        expectation::text(&expectation, &style)
    };
    settings.printer.drawn(&text)?;
    Ok(Exit::Yes)
}

/// A machine, its inventory where it has one, and what was measured of it.
pub(crate) type Opened = (Machine, Option<Inventory>, Option<Calibration>);

/// A described machine, a captured one, or this one.
pub(crate) fn open(file: Option<&Path>, settings: &Settings) -> Result<Opened, Failure> {
    if let Some(file) = file
        && file.extension().is_some_and(|ending| ending == "toml")
    {
        return Ok((described(file, settings)?, None, None));
    }
    let which = MachineArguments { on: "local".to_owned(), study: None, machine: file.map(Path::to_owned) };
    let host = machine::open(&which, settings)?;
    let inventory = inspect::examine(&*host)?;
    let known = calibrations::of(&inventory, settings)?;
    let mut machine = model::found(&inventory);
    match &known {
        Some(known) => {
            machine = model::with_measured(machine, &inventory, known);
            settings.printer.say(&format!("calibrated {}", known.at));
        }
        None if file.is_none() => settings.printer.say("not calibrated: `bedplate calibrate` narrows the intervals"),
        None => {}
    }
    Ok((machine, Some(inventory), known))
}

fn described(file: &Path, settings: &Settings) -> Result<Machine, Failure> {
    let text = crate::input::text(file, "machine", |_| "")?;
    let (machine, notes) = spec::parse_machine(&text);
    let drawn = spec::render(&spell_path(file), &text, &notes, settings.style.colour);
    match machine {
        Some(machine) if notes.iter().all(|note| note.severity != NoteLevel::Error) => {
            if !notes.is_empty() {
                settings.printer.show(drawn.trim_end());
            }
            let (machine, unexplained) = model::with_baseline(machine);
            for figure in unexplained {
                settings.printer.say(&format!("warning: {figure}"));
            }
            Ok(machine)
        }
        _ if spec::parse(&text).0.is_some() => Err(Failure::told(format!(
            "error: `{}` is a study, and does not describe a machine\n\nhint: docs/expect.md has such descriptions; name the study \
             without `--machine`",
            spell_path(file)
        ))),
        _ => Err(Failure::Drawn(drawn)),
    }
}

/// Leaves out the workloads of which nothing is predicted, and says why.
///
/// # Errors
/// Where none is left.
pub(crate) fn leave_out(design: &mut Design, settings: &Settings) -> Result<(), Failure> {
    let (mut kept, mut lines) = (Vec::new(), Vec::new());
    for work in std::mem::take(&mut design.workloads) {
        match work.unpredictable() {
            Some(why) => lines.push(format!("`{}` is not predicted: {why}", work.name)),
            None => kept.push(work),
        }
    }
    if kept.is_empty() && !lines.is_empty() {
        return Err(Failure::told(format!("error: {}", lines.join("\nerror: "))));
    }
    lines.iter().for_each(|line| settings.printer.say(line));
    design.workloads = kept;
    Ok(())
}

/// Takes the span for that of drives as large as they really are, and says so where that is another. A study that nobody wrote is not
/// named.
pub(crate) fn say_span(design: &mut Design, said: Option<Bytes>, is_written: bool, settings: &Settings) {
    let (span, own) = (holdings::span(design, said), design.measure.span);
    if span == own {
        return;
    }
    let share = match said.filter(|_| !is_written) {
        Some(size) => format!("1/{:.0} of a drive", size.as_f64() / span.as_f64()),
        None => format!("the same share of a drive as the {own} of the study"),
    };
    settings.printer.say(&format!("these predictions are for {span} of data, {share}"));
    design.measure.span = span;
}

/// Predictions of every stack, and the stacks for which there is no rule.
///
/// # Errors
/// Where there is a rule for none, or one fails.
fn predict(
    site: &Site,
    design: &Design,
    arguments: &ExpectArguments,
) -> Result<(Vec<Prediction>, Vec<Unpredicted>), Failure> {
    let conditions = Conditions {
        state: arguments.state.into(),
        sustained: arguments.sustained,
        span: design.measure.span,
        window: design.measure.window,
        warm: true,
    };
    let (mut predictions, mut unpredicted) = (Vec::new(), Vec::new());
    for stack in &design.stacks {
        let of = |work| model::predict(site, stack, work, &conditions);
        match design.workloads.iter().map(of).collect::<Result<Vec<_>, _>>() {
            Ok(of) => predictions.extend(of),
            Err(fault @ Fault::NoRule { .. }) => {
                unpredicted.push(Unpredicted { stack: stack.name.clone(), because: fault.to_string() });
            }
            Err(fault) => return Err(no_prediction(&stack.name, &fault.to_string())),
        }
    }
    match unpredicted.first().filter(|_| predictions.is_empty()) {
        Some(of) => Err(no_prediction(&of.stack, &of.because)),
        None => Ok((predictions, unpredicted)),
    }
}

fn no_prediction(stack: &str, because: &str) -> Failure {
    Failure::told(format!("error: could not predict `{stack}`\n  because: {because}"))
}

/// What stands for the drives of the study, those of which the same is said together.
fn taken(assignments: &[Assignment], machine: &Machine, drives: &[LabDrive]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for assignment in assignments {
        let size = drives.iter().find(|drive| drive.name == assignment.name).and_then(|drive| drive.stands_for);
        let size = size.map(|size| format!(", its size taken as {size} (`stands_for`)")).unwrap_or_default();
        let words = words(assignment, (machine, assignments)) + &size;
        match groups.iter_mut().find(|(same, _)| *same == words) {
            Some((_, names)) => names.push(assignment.name.as_str()),
            None => groups.push((words, vec![assignment.name.as_str()])),
        }
    }
    groups.into_iter().map(|(words, names)| format!("{}: {words}", names.join(", "))).collect()
}

/// What stands for a drive of the study.
fn words(assignment: &Assignment, (machine, all): (&Machine, &[Assignment])) -> String {
    let group = |of: &Assignment| machine.drives.iter().find(|group| group.name == of.name);
    let (kind_of, group) = (|of: &Assignment| group(of).map(|group| group.kind), group(assignment));
    let is_taken = |of: &Assignment| of.drive.is_some() && kind_of(of) == kind_of(assignment);
    let kind = group.map_or("", |group| group.kind.word());
    let is_told = group.is_some_and(|group| group.rated != Rated::NOTHING);
    match &assignment.drive {
        Some(drive) => format!("{drive} of the machine ({kind})"),
        None if is_told => format!("as the study describes it ({kind})"),
        None if all.iter().any(is_taken) => {
            format!("a typical drive ({kind}), as the machine has no other of this kind")
        }
        None => format!("a typical drive ({kind}), as the machine has none of this kind"),
    }
}
