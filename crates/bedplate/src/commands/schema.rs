//! `bedplate schema`

use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Prints the JSON Schema of study files.
pub(crate) fn schema() -> Result<Exit, Failure> {
    Printer::new(false).data(&serde_json::to_string_pretty(&spec::schema())?)?;
    Ok(Exit::Yes)
}
