//! `bedplate completion` and `bedplate man`: made from the same definition as the help.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::{Cli, pages};
use crate::complete;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::printer::Printer;

/// Prints completions for a shell.
pub(crate) fn completion(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    Printer::new(false).data(&complete::registration(shell)?)?;
    Ok(Exit::Yes)
}

/// Prints the manual page, or writes the pages of all verbs into a directory.
pub(crate) fn man(directory: Option<&Path>) -> Result<Exit, Failure> {
    // Examples and exit status, which help ends with, have sections of their own.
    let mut command = Cli::command().disable_help_subcommand(true);
    // Usage lines name the whole way to a verb only once the definition is built.
    command.build();
    let Some(directory) = directory else {
        Printer::new(false).data(&page(&command, None)?)?;
        return Ok(Exit::Yes);
    };
    std::fs::create_dir_all(directory).map_err(Failure::file("make", directory))?;
    write(&command, None, directory)?;
    Ok(Exit::Yes)
}

/// The page of a verb, and those of the verbs below it.
fn write(command: &clap::Command, verb: Option<&str>, directory: &Path) -> Result<(), Failure> {
    let name = clap_mangen::Man::new(command.clone()).get_filename();
    output::put(directory, &name, &page(command, verb)?)?;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write(below, Some(below.get_name()), directory)?;
    }
    Ok(())
}

/// A page: what the definition says, and the sections that every page ends with.
fn page(command: &clap::Command, verb: Option<&str>) -> Result<String, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut text)
        .map_err(Failure::system("could not draw the manual page"))?;
    Ok(String::from_utf8_lossy(&text).into_owned() + &pages::manual(verb))
}
