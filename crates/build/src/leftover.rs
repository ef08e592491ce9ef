//! What a formatter that was killed leaves open on the device that it formatted.

use std::collections::BTreeMap;

use host::{Host, HostError};
use terms::Nanos;
use terms::plan::{Act, Effect, Plan, PlanCommand, Step, Undo, Word};

use crate::error::BuildError;
use crate::journal::{self, JournalEntry};
use crate::machine::Machine;

/// `integritysetup format` and `cryptsetup luksFormat --integrity` write every block through a mapping of this name and
/// something random, which they remove at their end (cryptsetup, src/integritysetup.c and src/cryptsetup.c,
/// `_wipe_data_device`).
const PREFIX: &str = "temporary-cryptsetup-";

/// A mapping of the device mapper.
pub(crate) struct Mapping {
    /// Its name.
    pub(crate) name: String,
    /// Its node, by the kernel's name.
    pub(crate) node: String,
}

/// Mappings by the step that left them.
pub(crate) type Leftovers = BTreeMap<String, Vec<Mapping>>;

/// Temporary mappings that rest on a device whose format was begun and came to no end, uppermost first. On any other device
/// such a mapping is somebody else's.
///
/// # Errors
/// Where the machine cannot be asked.
pub(crate) fn find(machine: &Machine<'_>, plan: &Plan, past: &[JournalEntry]) -> Result<Leftovers, BuildError> {
    let cut_short = journal::cut_short(past, &plan.slug);
    let steps = plan.steps.iter().filter(|step| cut_short.contains(&step.id));
    let formats = steps.filter_map(|step| Some((&step.id, formats_with_tags(step)?)));
    formats.map(|(id, node)| Ok((id.clone(), on_device(machine, id, node)?))).collect()
}

/// The device that a step formats with a checksum for each sector.
fn formats_with_tags(step: &Step) -> Option<&Word> {
    let Some(Effect::Signature { node, kind }) = &step.effect else { return None };
    let asks = matches!(&step.act, Act::Run(command) if command.argv.iter().any(|word| *word == "--integrity"));
    (kind == "DM_integrity" || (kind == "crypto_LUKS" && asks)).then_some(node)
}

fn on_device(machine: &Machine<'_>, step: &str, node: &Word) -> Result<Vec<Mapping>, BuildError> {
    let node = match machine.word(step, node) {
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
    let holders = match host.list(&format!("{directory}/holders")) {
        // It is gone by now.
        Err(error) if error.is_not_found() => Vec::new(),
        holders => holders?,
    };
    for holder in holders {
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

/// What takes a step back: what removes the mappings that it left, and its own undos.
pub(crate) fn undos(leftovers: &Leftovers, step: &Step) -> Vec<Undo> {
    let left = leftovers.get(&step.id).into_iter().flatten();
    left.map(Mapping::undo).chain(step.undo.iter().cloned()).collect()
}

impl Mapping {
    fn undo(&self) -> Undo {
        Undo {
            why: "The mapping that the format was writing through holds the device.".to_owned(),
            command: PlanCommand {
                argv: ["dmsetup", "remove", &self.name].map(Word::from).to_vec(),
                key: None,
                limit: Nanos::seconds(60),
            },
        }
    }
}
