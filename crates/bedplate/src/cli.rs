//! What can be typed.

mod advise;
mod calibrate;
mod check_model;
mod choice;
mod expect;
mod machine;
pub(crate) mod pages;
mod prove;
mod records;
mod run;
mod start;
pub(crate) mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use advise::{AdviseArguments, InitArguments, NeedsArguments};
pub(crate) use calibrate::CalibrateArguments;
pub(crate) use check_model::{CheckModelArguments, Requirement};
pub(crate) use choice::{Place, Selection};
pub(crate) use expect::ExpectArguments;
pub(crate) use machine::{CaptureArguments, DoctorArguments, InspectArguments, MachineArguments};
pub(crate) use prove::ProveArguments;
pub(crate) use records::{CompareArguments, ReportArguments, RunsArguments};
pub(crate) use run::RunArguments;
pub(crate) use start::{BenchArguments, DemoArguments};

/// Designs, builds, measures and proves Linux storage stacks.
#[derive(Debug, Parser)]
#[command(name = "bedplate", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Colour on the terminal
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Draw with ASCII only
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Directory of runs [default: $XDG_STATE_HOME/bedplate/runs]
    #[arg(long, global = true, env = "BEDPLATE_RUNS", value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
    /// Directory for the files of lab guests [default: /var/tmp/bedplate-UID]
    #[arg(long, global = true, env = "BEDPLATE_LAB", value_name = "DIR")]
    pub(crate) lab_directory: Option<PathBuf>,
    /// Command that reaches other machines, with its arguments
    #[arg(long, global = true, env = "BEDPLATE_SSH", value_name = "COMMAND", default_value = "ssh")]
    pub(crate) ssh: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure an existing directory: no root, no lab, nothing left
    Bench(BenchArguments),
    /// Build and compare five small stacks in a virtual machine
    Demo(DemoArguments),
    /// Build every stack of a study, measure it, take it down, and report
    Run(Box<RunArguments>),
    /// List the studies that come with the program, or print one
    Studies {
        /// The study to print
        #[arg(value_name = "STUDY")]
        name: Option<String>,
    },
    /// Show every command that builds a stack, its reason and its undo
    Plan(PlanArguments),
    /// Build the stacks of a study, check them, and take them down again
    Build(BuildArguments),
    /// Inject faults into stacks and check that their features work
    ///
    /// What is tested: encryption, redundancy, silent corruption and snapshots, in guests of the lab.
    Prove(ProveArguments),
    /// Clean up after a run that was killed
    Teardown(TeardownArguments),
    /// Show a saved run again: a screen, all details, a page, CSV or JSON
    Report(ReportArguments),
    /// Compare two runs: what is slower or faster, and what differs
    Compare(CompareArguments),
    /// List runs
    Runs(RunsArguments),
    /// Show a machine: CPU, PCIe tree, drives and what is on them
    Inspect(InspectArguments),
    /// Find storage misconfiguration, what it costs, and the fix
    Doctor(DoctorArguments),
    /// Predict speed, bottleneck, capacity, SSD life and risk of stacks
    ///
    /// All from a study and the figures of its drives, before anything is built.
    Expect(ExpectArguments),
    /// Measure this machine for a minute to make predictions narrower
    ///
    /// Nothing is written but memory. `expect` takes what was measured here in place of a table's figures.
    Calibrate(CalibrateArguments),
    /// Predict random stacks, measure them in the lab, show the errors
    CheckModel(CheckModelArguments),
    /// Find the best layout of your drives for your requirements
    Advise(AdviseArguments),
    /// Write a first study: asks for your drives and requirements
    Init(InitArguments),
    /// Pack a machine into one text file, serial numbers masked
    Capture(CaptureArguments),
    /// Check that a virtual machine can run here, or open a shell in one
    Lab(LabArguments),
    /// List built-in workload profiles, or show one
    Profiles(ProfilesArguments),
    /// Check a fio job file, or export a study's workloads as job files
    Fio(FioArguments),
    /// Print the JSON Schema of study files, for editors
    Schema,
    /// Measure what a calibration asks of the processors
    #[command(hide = true)]
    Rates,
    /// Do what another Bedplate asks over standard input and output
    #[command(hide = true)]
    Agent,
    /// Print shell completions
    Completion {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all pages into a directory
    Man {
        /// Where to write all pages
        directory: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// As a shell script; for one stack
    #[arg(long, conflicts_with_all = ["json", "diff"])]
    pub(crate) script: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the differences from the plans of another study
    #[arg(long, value_name = "STUDY", conflicts_with = "json")]
    pub(crate) diff: Option<PathBuf>,
    /// Which drive of the machine the study's drive NAME is, as in `run`: plans for its size and its block, and for what
    /// `[[drive]]` asks of it. Nothing is touched
    #[arg(long, value_name = "NAME=ID", value_parser = values::pairing)]
    pub(crate) drive: Vec<values::Pairing>,
    /// The machine of these drives: `local`, or `ssh://host`
    #[arg(long, default_value = "local", value_name = "PLACE", requires = "drive")]
    pub(crate) on: String,
    /// The machine of these drives: a captured one, see `bedplate capture`
    #[arg(long, value_name = "FILE", requires = "drive", conflicts_with = "on")]
    pub(crate) machine: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Open a shell on each stack while it stands
    #[arg(long)]
    pub(crate) shell: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TeardownArguments {
    /// The run: a directory, the beginning of a name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Erase what the run left on this drive although the machine has rebooted since, and something else may be on it
    /// by now
    #[arg(long, value_name = "ID")]
    pub(crate) erase: Vec<String>,
    /// Do not ask on the terminal before drives are erased
    #[arg(long, requires = "erase")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabArguments {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Open a shell in a guest; leaving it ends the guest
    Shell {
        /// The study whose drives the guest has [default: two NVMe drives of 1 GiB]
        study: Option<PathBuf>,
    },
    /// Show what is installed, what is missing and what installs it; exit status 4 if no lab can run
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what a killed lab left behind
    Sweep,
}

#[derive(Debug, Args)]
pub(crate) struct FioArguments {
    #[command(subcommand)]
    pub(crate) command: FioCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FioCommand {
    /// Show what of a job file can be measured, and the jobs that would be run
    Check {
        /// The job file
        #[arg(required_unless_present = "command_line", conflicts_with = "command_line")]
        file: Option<PathBuf>,
        /// Keep options that defeat measurement, with a warning
        #[arg(long)]
        force: bool,
        /// What `${NAME}` stands for; repeat
        #[arg(long, value_name = "NAME=VALUE", value_parser = values::variable)]
        set: Vec<(String, String)>,
        /// A command line of fio's in place of a file: `-- --name=a --rw=randread`
        #[arg(last = true, value_name = "FIO'S ARGUMENTS")]
        command_line: Vec<String>,
    },
    /// Write a job file with comments for every workload of a study
    Export {
        /// The study file
        study: PathBuf,
        /// Where to write them
        #[arg(default_value = ".")]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    /// Show this profile with its exact fio jobs
    #[arg(value_name = "PROFILE")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        pages::command().debug_assert();
    }
}
