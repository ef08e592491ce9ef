//! Guests for verbs: booted with this program as their first process.

use std::path::Path;

use host::Local;
use lab::{Console, Guest, GuestSpec};
use terms::plan::Prerequisite;
use terms::spelling::spell_path;
use terms::{Bytes, Design, Hosts, LabSpec, Plan};

use crate::exit::Failure;
use crate::room;
use crate::settings::Settings;

/// Boots one guest with these drives; `plans` tell which modules its kernel should have.
pub(crate) fn boot(machine: &LabSpec, plans: &[Plan], console: Console, settings: &Settings) -> Result<Guest, Failure> {
    boot_hosts(Hosts::ONE, machine, plans, console, settings)
}

/// Boots as many hosts as the workloads of a study need.
pub(crate) fn boot_all(design: &Design, plans: &[Plan], settings: &Settings) -> Result<Guest, Failure> {
    let (needed, free) = (room(design), room::free(&Local::new(), &there(&settings.lab))?);
    if free < needed {
        return Err(Failure::told(format!(
            "error: the study may write {needed} to `{}`, where {free} are free\n\n\
             hint: use `--lab-directory` with a directory that has room, or a smaller `--span`",
            spell_path(&settings.lab)
        )));
    }
    boot_hosts(design.hosts(), &design.lab, plans, Console::Log, settings)
}

/// What files of the guest's drives may come to: the span on each, and what file systems add. A drive is no
/// larger than its file.
fn room(design: &Design) -> Bytes {
    let most = room::with_margin(design.measure.span).0;
    let files = design.lab.drives.iter().filter(|drive| !design.lab.is_within(drive));
    let each = files.fold(0_u64, |sum, drive| sum.saturating_add(drive.size.0.min(most)));
    Bytes(each.saturating_mul(u64::from(design.hosts().0)))
}

/// The directory, or where it will be made.
fn there(directory: &Path) -> String {
    directory.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/")).to_string_lossy().into_owned()
}

fn boot_hosts(
    hosts: Hosts,
    machine: &LabSpec,
    plans: &[Plan],
    console: Console,
    settings: &Settings,
) -> Result<Guest, Failure> {
    let machine = LabSpec { hosts, ..machine.clone() };
    let agent = std::env::current_exe().map_err(Failure::system("could not find this program's own file"))?;
    let modules = plans.iter().flat_map(|plan| &plan.needs).filter_map(|need| match need {
        Prerequisite::Module(module) => Some(module.clone()),
        Prerequisite::Program(_) => None,
    });
    let wanted_modules: Vec<String> = modules.collect();
    Ok(lab::boot(&GuestSpec {
        machine: &machine,
        wanted_modules: &wanted_modules,
        agent: &agent,
        build: crate::BUILD,
        base: settings.lab.clone(),
        cache: settings.cache.clone(),
        console,
        drives_from: None,
        saves: Some(&settings.saves),
        host: 0,
    })?)
}
