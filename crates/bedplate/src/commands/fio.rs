//! `bedplate fio`: job files of fio, in and out.

use std::fs;
use std::path::Path;

use measure::WorkPlace;
use spec::fio::{Imported, Reader};
use terms::spelling::spell_path;
use terms::{Clock, MeasurePolicy, Method, Workload};

use crate::cli::{FioArguments, FioCommand};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::settings::Settings;
use crate::studies::job_file::{import, read, variables};

/// Where exported jobs work: the place of a stack that a person mounts there.
const SHOWN: &str = "/mnt/stack";

/// Checks a job file or a command line of fio's, or writes job files.
pub(crate) fn fio(arguments: &FioArguments, settings: &Settings) -> Result<Exit, Failure> {
    match &arguments.command {
        FioCommand::Check { file: Some(file), force, set, .. } => {
            check(&import(file, *force, set, settings)?, settings)
        }
        FioCommand::Check { file: None, force, set, command_line } => {
            let nothing = |_: &str| Err("a command line has no folder".to_owned());
            let text = spec::fio::job_file(command_line).map_err(|why| Failure::told(format!("error: {why}")))?;
            let reader = Reader { forced: *force, variables: &variables(set), include: &nothing };
            check(&read(&reader, "command line", &text, settings)?, settings)
        }
        FioCommand::Export { study, directory } => export(study, directory, settings),
    }
}

fn check(imported: &Imported, settings: &Settings) -> Result<Exit, Failure> {
    settings.printer.data(&text(&imported.workloads, &policy(imported))?)?;
    settings.printer.say(&verdict(&imported.workloads));
    Ok(Exit::Yes)
}

/// Titles that are named in one line.
const NAMED: usize = 3;

/// What the file comes to, in one line.
fn verdict(workloads: &[Workload]) -> String {
    let mut titles: Vec<String> = workloads.iter().take(NAMED).map(Workload::title).collect();
    if let Some(more) = workloads.len().checked_sub(NAMED).filter(|more| *more > 0) {
        titles.push(format!("{more} more"));
    }
    let what = if workloads.len() == 1 { "workload" } else { "workloads" };
    format!("{} {what} can be measured: {}", workloads.len(), titles.join("; "))
}

/// The usual policy with what the file says of times and sizes.
fn policy(imported: &Imported) -> MeasurePolicy {
    let base = MeasurePolicy::default();
    MeasurePolicy {
        window: imported.window.unwrap_or(base.window),
        settle: imported.settle.unwrap_or(base.settle),
        span: imported.span.unwrap_or(base.span),
        ..base
    }
}

/// One job file for every workload of a study.
fn export(study: &Path, directory: &Path, settings: &Settings) -> Result<Exit, Failure> {
    let study = crate::studies::load_whole(study, settings)?;
    fs::create_dir_all(directory).map_err(Failure::file("create", directory))?;
    let policy = &study.design.measure;
    let mut jobs = Vec::new();
    for workload in by_fio(&study.design.workloads) {
        let name = format!("{}.fio", workload.name);
        let job = text(std::slice::from_ref(workload), policy)?;
        let job = match study.design.lab.clock() {
            Clock::Virtual => of_its_clock(workload, policy) + &job,
            Clock::Real => job,
        };
        let path = directory.join(&name);
        if fs::read(&path).is_ok_and(|there| there != job.as_bytes()) {
            let what = output::taken(&path);
            return Err(Failure::told(format!(
                "error: {what}, and it says something else\n\nhint: name another directory"
            )));
        }
        jobs.push((name, job));
    }
    for (name, job) in jobs {
        output::put(directory, &name, &job)?;
        settings.printer.say(&format!("wrote {}", spell_path(&directory.join(name))));
    }
    Ok(Exit::Yes)
}

/// What somebody has to change who runs a job of a lab with its own clock on drives.
fn of_its_clock(workload: &Workload, policy: &MeasurePolicy) -> String {
    let window = workload.window.unwrap_or(policy.window);
    format!(
        "# A window of {window} on {} is enough for the virtual clock of the study's lab.\n\
         # On drives set `runtime` to 30s or more, and `size` above what their caches hold.\n",
        policy.span
    )
}

/// A job file of workloads that run one after another, each setting with its reason.
pub(crate) fn text(workloads: &[Workload], policy: &MeasurePolicy) -> Result<String, Failure> {
    let place = WorkPlace::Directory(SHOWN.to_owned());
    let job = |(number, workload): (usize, &Workload)| {
        let job = measure::job(workload, &place, policy, policy.seed)?;
        // fio starts all jobs of a file at once, but for those that wait.
        let job = if number == 0 { job } else { job.after_others() };
        Ok(format!("# {}\n{}\n", workload.title(), job.file()))
    };
    by_fio(workloads).enumerate().map(job).collect()
}

/// Workloads that fio does.
fn by_fio(workloads: &[Workload]) -> impl Iterator<Item = &Workload> {
    workloads.iter().filter(|workload| workload.method == Method::Fio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_virtual_clock_makes_enough_is_told_in_the_file() {
        let workload = spec::fio::import("[j]\nrw=read\ndirect=1\n", false).0.unwrap().workloads.remove(0);
        let policy = MeasurePolicy { window: terms::Nanos::millis(100), ..MeasurePolicy::default() };
        let said = of_its_clock(&workload, &policy);
        assert!(said.contains("100 ms") && said.contains("`runtime` to 30s"), "{said}");
        assert!(said.lines().all(|line| line.starts_with("# ")), "{said}");
    }

    #[test]
    fn a_verdict_counts_workloads_and_names_some() {
        let of = |jobs: usize| spec::fio::import(&"[j]\nrw=read\ndirect=1\nstonewall\n".repeat(jobs), false).0;
        let said = |jobs: usize| of(jobs).map(|imported| verdict(&imported.workloads)).unwrap_or_default();
        assert_eq!(said(1), "1 workload can be measured: SEQ 4 KiB Q1 T1 read");
        assert!(
            said(5).starts_with("5 workloads can be measured: ") && said(5).ends_with("read; 2 more"),
            "{}",
            said(5)
        );
    }
}
