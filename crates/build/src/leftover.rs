//! What a formatter that was killed leaves open on the device that it formatted.

use host::{Host, HostError};
use terms::Nanos;
use terms::plan::{Effect, PlanCommand, Step, Undo, Word};

use crate::error::BuildError;
use crate::machine::Machine;

/// `integritysetup format` and `cryptsetup luksFormat --integrity` write every block through a mapping of this name and a
/// random number, which they remove at their end (cryptsetup, src/integritysetup.c and src/cryptsetup.c,
/// `_wipe_data_device`).
const PREFIX: &str = "temporary-cryptsetup-";

/// A mapping of the device mapper.
pub(crate) struct Mapping {
    /// Its name.
    pub(crate) name: String,
    /// Its number, as sysfs has it.
    pub(crate) node: String,
}

/// Temporary mappings that rest on the device that a step formats, uppermost first. To be asked for steps that were begun
/// and not finished: on the device of any other step such a mapping is somebody else's.
///
/// # Errors
/// Where the machine cannot be asked.
pub(crate) fn find(machine: &Machine<'_>, step: &Step) -> Result<Vec<Mapping>, BuildError> {
    let Some(Effect::Signature { node, .. }) = &step.effect else { return Ok(Vec::new()) };
    let node = match machine.word(&step.id, node) {
        // Its drive is not there.
        Err(BuildError::Unresolved { .. }) => return Ok(Vec::new()),
        node => node?,
    };
    if !machine.lives(&node)? {
        return Ok(Vec::new());
    }
    Ok(above(machine.host, &machine.sysfs(&node)?)?)
}

fn above(host: &dyn Host, directory: &str) -> Result<Vec<Mapping>, HostError> {
    let mut found = Vec::new();
    for holder in host.list(&format!("{directory}/holders"))? {
        let directory = format!("/sys/class/block/{holder}");
        match host.read_text(&format!("{directory}/dm/name")) {
            Ok(name) if name.starts_with(PREFIX) => {
                found.extend(above(host, &directory)?);
                found.push(Mapping { name, node: format!("/dev/{holder}") });
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The commands that remove them.
pub(crate) fn undos(found: Vec<Mapping>) -> impl Iterator<Item = Undo> {
    found.into_iter().map(|Mapping { name, .. }| Undo {
        why: "The mapping that the format was writing through holds the device.".to_owned(),
        command: PlanCommand {
            argv: ["dmsetup".to_owned(), "remove".to_owned(), name].map(Word::from).to_vec(),
            key: None,
            limit: Nanos::seconds(60),
        },
    })
}
