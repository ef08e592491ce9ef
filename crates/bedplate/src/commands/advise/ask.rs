//! The questions of `bedplate init`.

use dialoguer::{Confirm, Input};

use crate::cli::NeedsArguments;
use crate::drives::DriveSet;
use crate::exit::Failure;
use crate::prompt::{self, failed};

/// Asks for drives, and for the needs that were not said.
pub(super) fn ask(said: &NeedsArguments) -> Result<(DriveSet, NeedsArguments), Failure> {
    if !prompt::can_ask() {
        return Err(Failure::told(
            "error: there is no terminal to ask on\n\nhint: `bedplate init --drives 4x4TB:hdd --encrypted --survive 1`",
        ));
    }
    let set: DriveSet = Input::<String>::new()
        .with_prompt("Drives, such as 4x4TB:hdd or 2x2TB:nvme")
        .validate_with(|text: &String| text.parse::<DriveSet>().map(|_| ()))
        .interact_text()
        .map_err(failed)?
        .parse()
        .map_err(|why: String| Failure::told(format!("error: {why}")))?;
    let mut needs = said.clone();
    if needs.survive.is_none() {
        let most = set.count.saturating_sub(1).min(8);
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number <= most);
        let is_possible =
            |text: &String| if number(text).is_some() { Ok(()) } else { Err(format!("a number from 0 to {most}")) };
        let prompt = "Drives that may fail without loss of data";
        let asked = Input::new().with_prompt(prompt).default(most.min(1).to_string()).validate_with(is_possible);
        needs.survive = number(&asked.interact_text().map_err(failed)?);
    }
    let confirm = |said: bool, prompt: &str| -> Result<bool, Failure> {
        Ok(said || Confirm::new().with_prompt(prompt).default(false).interact().map_err(failed)?)
    };
    needs.encrypted = confirm(needs.encrypted, "Encrypt, so that a stolen drive shows nothing?")?;
    needs.repair = confirm(needs.repair, "Notice and repair data that a drive returns wrong?")?;
    needs.snapshots = confirm(needs.snapshots, "Snapshots?")?;
    Ok((set, needs))
}
