//! `bedplate build`

use build::{Consent, Memory};
use host::Host;
use lab::{Console, Guest};
use terms::{Cmd, Plan};

use crate::cli::BuildArguments;
use crate::commands::only_in_the_lab;
use crate::exit::{Exit, Failure};
use crate::settings::{Settings, terminal_size};
use crate::{guest, studies};

/// Builds each stack, proves that applying its plan again changes nothing, takes it down, and proves that the machine
/// is as it was.
pub(crate) fn build(arguments: &BuildArguments, settings: &Settings) -> Result<Exit, Failure> {
    only_in_the_lab(&arguments.place.on)?;
    let study = studies::load(&arguments.selection, settings)?;
    let plans = studies::plans(&study.design)?;
    let console = if arguments.shell { Console::Terminal } else { Console::Log };
    settings.printer.say("booting a guest");
    let guest = guest::boot(&study.design.lab, &plans, console, settings)?;
    let mut answer = Exit::Yes;
    let mut needs = build::Needs::new(&guest);
    for plan in &plans {
        if let Some(missing) = needs.missing(plan)? {
            settings
                .printer
                .data(&format!("missing  {}: {}\n         get it: {}", plan.stack, missing.what, missing.remedy))?;
            answer = Exit::NotHere;
            continue;
        }
        rehearse(plan, &guest, arguments.shell, settings)?;
    }
    Ok(answer)
}

fn rehearse(plan: &Plan, guest: &Guest, shell: bool, settings: &Settings) -> Result<(), Failure> {
    let consent = Consent(guest.drives().keys().cloned().collect());
    let mut journal = Memory::default();
    let before = fingerprint(guest)?;
    let progress = settings.printer.progress(0.0);
    let on_step = |step: &terms::Step| progress.detail(&format!("{}: {}", plan.stack, step.id));
    let built = build::apply(plan, guest, guest.drives(), &consent, &[], &mut journal, &on_step)?;
    let past = journal.0.clone();
    let again = build::apply(plan, guest, guest.drives(), &consent, &past, &mut journal, &on_step)?;
    drop(progress);
    if again.changed > 0 {
        return Err(Failure::told(format!(
            "error: applying the plan of `{}` again changed {} steps",
            plan.stack, again.changed
        )));
    }
    if shell {
        let (rows, columns) = terminal_size();
        settings.printer.say(&format!("{} stands at {:?}\r", plan.stack, built.target));
        guest.shell(rows, columns)?;
    }
    let past = journal.0.clone();
    build::teardown(plan, guest, guest.drives(), &past, &mut journal)?;
    let after = fingerprint(guest)?;
    if before != after {
        return Err(Failure::told(format!(
            "error: `{}` left something behind\n  before: {before}\n  after:  {after}",
            plan.stack
        )));
    }
    settings.printer.data(&format!(
        "ok       {}: {} steps in {}, again changed 0, down again",
        plan.stack, built.changed, built.took
    ))?;
    Ok(())
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
        guest.run(&mappings)?.text(),
        arrays.join(" "),
        mounts.join("\n")
    ))
}
