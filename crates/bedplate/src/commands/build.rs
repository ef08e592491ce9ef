//! `bedplate build`

use build::{Authority, MemoryJournal};
use host::Host;
use lab::{Console, Guest};
use terms::{Cmd, Plan};

use crate::cli::BuildArguments;
use crate::commands::only_in_the_lab;
use crate::exit::{Exit, Failure, chain};
use crate::settings::{Settings, terminal_size};
use crate::{guest, studies};

/// Builds each stack, proves that applying its plan again changes nothing, takes it down, and proves that the machine
/// is as it was.
pub(crate) fn build(arguments: &BuildArguments, settings: &Settings) -> Result<Exit, Failure> {
    only_in_the_lab(&arguments.place.on)?;
    let study = studies::load(&arguments.selection, settings)?;
    let plans = studies::plans(&study.design, &plan::DriveSize::of_lab(&study.design.lab))?;
    let console = if arguments.shell { Console::Terminal } else { Console::Log };
    settings.printer.say("booting a guest");
    let mut guest = guest::boot(&study.design.lab, &plans, console, settings)?;
    let mut answer = Exit::Yes;
    for plan in &plans {
        if let Some(missing) = build::Prerequisites::new(&guest).missing(plan)? {
            let line = format!("missing  {}: {}\n         get it: {}", plan.stack, missing.what, missing.remedy);
            settings.printer.data(&line)?;
            answer = answer.max(Exit::NotHere);
            continue;
        }
        match rehearse(plan, &guest, arguments.shell, settings) {
            Ok(line) => settings.printer.data(&line)?,
            Err(Failure::Could(error)) => {
                let why = chain(&*error);
                settings.printer.data(&format!("FAILED   {}: {why}", plan.stack))?;
                answer = Exit::No;
                // Whatever is left goes with this guest.
                drop(guest);
                guest = guest::boot(&study.design.lab, &plans, console, settings)?;
            }
            Err(other) => return Err(other),
        }
    }
    Ok(answer)
}

/// A proof that failed.
#[derive(Debug, thiserror::Error)]
enum Disproof {
    #[error("applying the plan again changed {0} steps")]
    Changed(usize),
    #[error("something was left behind\n  before: {before}\n  after:  {after}")]
    Left { before: String, after: String },
}

/// Builds, builds again, takes down, and compares. Gives the line to print.
fn rehearse(plan: &Plan, guest: &Guest, shell: bool, settings: &Settings) -> Result<String, Failure> {
    let authority = Authority::lab(guest, guest.drives())?;
    let mut journal = MemoryJournal::default();
    let before = fingerprint(guest)?;
    // Every step twice: to build, and to find it built.
    let progress = settings.printer.progress(f64::from(u32::try_from(2 * plan.steps.len()).unwrap_or(u32::MAX)));
    let on_step = |step: &terms::Step| {
        progress.detail(&format!("{}: {}", plan.stack, step.id));
        progress.done(1.0);
    };
    let built = build::apply(plan, &authority, &[], &mut journal, &on_step)?;
    let past = journal.0.clone();
    let again = build::apply(plan, &authority, &past, &mut journal, &on_step)?;
    drop(progress);
    if again.changed > 0 {
        return Err(Failure::Could(Disproof::Changed(again.changed).into()));
    }
    if shell {
        let (rows, columns) = terminal_size();
        settings.printer.say(&format!("{} stands at {}\r", plan.stack, built.target.place().path()));
        guest.shell(rows, columns)?;
    }
    let past = journal.0.clone();
    build::teardown(plan, &authority, &past, &mut journal)?;
    let after = fingerprint(guest)?;
    if before != after {
        return Err(Failure::Could(Disproof::Left { before, after }.into()));
    }
    Ok(format!("ok       {}: {} steps in {}, again changed 0, down again", plan.stack, built.changed, built.took))
}

/// Everything of block devices, mappings, arrays and mounts that a stack could leave behind.
fn fingerprint(guest: &Guest) -> Result<String, Failure> {
    let devices = Cmd::new(["lsblk", "--noheadings", "--raw", "--output", "NAME,SIZE,TYPE,MOUNTPOINTS"]);
    let mappings = Cmd::new(["dmsetup", "ls"]);
    let arrays = guest.list("/sys/block")?.into_iter().filter(|name| name.starts_with("md")).collect::<Vec<_>>();
    let mounts = guest.read_text("/proc/mounts")?;
    let mounts: Vec<&str> = mounts.lines().filter(|line| line.contains(" /mnt/")).collect();
    Ok(format!(
        "{}\n{}\n{}\n{}",
        guest.run_ok(&devices)?.text(),
        guest.run_ok(&mappings)?.text(),
        arrays.join(" "),
        mounts.join("\n")
    ))
}
