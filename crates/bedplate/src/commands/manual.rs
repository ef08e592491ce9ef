//! `bedplate completion` and `bedplate man`: made from the same definition as the help.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Prints completions for a shell.
pub(crate) fn completion(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "bedplate", &mut text);
    Printer::new(false).data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Yes)
}

/// Prints the manual page, or writes the pages of all verbs into a directory.
pub(crate) fn man(directory: Option<&Path>) -> Result<Exit, Failure> {
    match directory {
        Some(directory) => {
            std::fs::create_dir_all(directory).map_err(Failure::file("make", directory))?;
            clap_mangen::generate_to(Cli::command(), directory)
                .map_err(Failure::file("write pages into", directory))?;
        }
        None => {
            let mut page = Vec::new();
            let man = clap_mangen::Man::new(Cli::command());
            man.render(&mut page).map_err(Failure::system("could not draw the manual page"))?;
            Printer::new(false).data(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Exit::Yes)
}
