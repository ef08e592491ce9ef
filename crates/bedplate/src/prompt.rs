//! Questions to a person on the terminal.

use std::io::{IsTerminal as _, stderr, stdin};

use crate::exit::Failure;

/// Is there a person to ask? Questions go to standard error, answers come from standard input.
pub(crate) fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Why a question has no answer.
#[expect(clippy::needless_pass_by_value, reason = "it stands where an error is mapped")]
pub(crate) fn failed(error: dialoguer::Error) -> Failure {
    Failure::told(format!("error: could not ask\n  because: {error}"))
}
