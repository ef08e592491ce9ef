//! Bedplate: designs, builds, measures and proves Linux storage stacks.
//!
//! The binary reads what was typed, asks the rooms, and prints. In a lab guest it is also the first process.

mod address;
mod calibrations;
mod cli;
mod commands;
mod complete;
mod drives;
mod exit;
mod feature_checks;
mod guest;
mod input;
mod ledger;
mod library;
mod machine;
mod output;
mod paint;
mod predict;
mod printer;
mod prompt;
mod proof;
mod room;
mod runner;
mod settings;
mod site;
mod slices;
mod studies;
mod target;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::cli::{Cli, Command, pages};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::settings::Settings;

/// Digest of the sources that this binary was built from.
const BUILD: &str = env!("BEDPLATE_BUILD");

fn main() -> ExitCode {
    if lab::init::is_first_process() {
        lab::init::live(BUILD);
    }
    complete::answer();
    let typed = pages::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    exit::report(match typed {
        Ok(cli) => begin(&cli),
        Err(_) if std::env::args_os().len() < 2 => Err(Failure::told(pages::START)),
        Err(said) => answer(&said),
    })
}

fn begin(cli: &Cli) -> Result<Exit, Failure> {
    let settings = Settings::resolve(&cli.global)?;
    settings::catch_interrupts()?;
    act(&cli.command, &settings)
}

/// Help and version are data; what was typed wrongly is an error.
fn answer(said: &clap::Error) -> Result<Exit, Failure> {
    let drawn = said.render().ansi().to_string();
    if said.use_stderr() {
        let hint = pages::meant(said).map(|command| format!("\nhint: {command}\n")).unwrap_or_default();
        return Err(Failure::Drawn(drawn + &hint));
    }
    let colour = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    Printer::new(false).drawn(&if colour { drawn } else { said.render().to_string() })?;
    Ok(Exit::Yes)
}

fn act(command: &Command, settings: &Settings) -> Result<Exit, Failure> {
    match command {
        Command::Bench(arguments) => commands::run::run(&arguments.as_run(), settings),
        Command::Demo(arguments) => commands::run::run(&arguments.as_run(), settings),
        Command::Studies { name } => commands::studies::studies(name.as_deref(), settings),
        Command::Run(arguments) => commands::run::run(arguments, settings),
        Command::Plan(arguments) => commands::plan::plan(arguments, settings),
        Command::Build(arguments) => commands::build::build(arguments, settings),
        Command::Prove(arguments) => commands::prove::prove(arguments, settings),
        Command::Teardown(arguments) => commands::teardown::teardown(arguments, settings),
        Command::Compare(arguments) => commands::compare::compare(arguments, settings),
        Command::Report(arguments) => commands::report::report(arguments, settings),
        Command::Runs(arguments) => commands::runs::runs(arguments, settings),
        Command::Inspect(arguments) => commands::inspect::inspect(arguments, settings),
        Command::Doctor(arguments) => commands::doctor::doctor(arguments, settings),
        Command::Advise(arguments) => commands::advise::advise(arguments, settings),
        Command::Init(arguments) => commands::advise::init(arguments, settings),
        Command::Calibrate(arguments) => commands::calibrate::calibrate(arguments, settings),
        Command::CheckModel(arguments) => commands::check_model::check_model(arguments, settings),
        Command::Rates => commands::rates::rates(settings),
        Command::Expect(arguments) => commands::expect::expect(arguments, settings),
        Command::Capture(arguments) => commands::capture::capture(arguments, settings),
        Command::Lab(arguments) => commands::lab::lab(arguments, settings),
        Command::Profiles(arguments) => commands::profiles::profiles(arguments, settings),
        Command::Fio(arguments) => commands::fio::fio(arguments, settings),
        Command::Schema => commands::schema::schema(),
        Command::Agent => commands::agent::agent(),
        Command::Completion { shell } => commands::manual::completion(*shell),
        Command::Man { directory } => commands::manual::man(directory.as_deref()),
    }
}
