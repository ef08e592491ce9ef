//! Guests for verbs: booted with this program as their first process.

use lab::{Console, Guest, GuestSpec};
use terms::plan::Need;
use terms::{Design, Hosts, LabSpec, Plan};

use crate::exit::Failure;
use crate::settings::Settings;

/// Boots one guest with these drives; `plans` tell which modules its kernel should have.
pub(crate) fn boot(machine: &LabSpec, plans: &[Plan], console: Console, settings: &Settings) -> Result<Guest, Failure> {
    boot_hosts(Hosts::ONE, machine, plans, console, settings)
}

/// Boots as many hosts as the workloads of a study need.
pub(crate) fn boot_all(design: &Design, plans: &[Plan], settings: &Settings) -> Result<Guest, Failure> {
    boot_hosts(design.hosts(), &design.lab, plans, Console::Log, settings)
}

fn boot_hosts(
    hosts: Hosts,
    machine: &LabSpec,
    plans: &[Plan],
    console: Console,
    settings: &Settings,
) -> Result<Guest, Failure> {
    let machine = LabSpec { hosts, ..machine.clone() };
    let agent = std::env::current_exe()?;
    let modules = plans.iter().flat_map(|plan| &plan.needs).filter_map(|need| match need {
        Need::Module(module) => Some(module.clone()),
        Need::Program(_) => None,
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
        host: 0,
    })?)
}
