//! What is said of a run before it begins.

use build::Bindings;
use host::inspect;
use model::{Conditions, Site as Ready};
use terms::calibration::Calibration;
use terms::inventory::Inventory;
use terms::machine::Machine;
use terms::prediction::{PREDICTIONS_SCHEMA, PredictedCell, Predictions};
use terms::{Design, Name, Stack};

use crate::exit::Failure;
use crate::ledger::Ledger;
use crate::settings::Settings;
use crate::site::Site;
use crate::{BUILD, calibrations, runner};

/// Says of every stack under every workload what will come of it, or why nothing can be said.
///
/// # Errors
/// Where the machine or earlier records cannot be read.
pub(crate) fn predict(
    site: &Site,
    design: &Design,
    inventory: &Inventory,
    settings: &Settings,
) -> Result<Predictions, Failure> {
    let known = calibrations::of(inventory, settings)?;
    let remote = behind_networks(inventory, site.drives());
    let nothing = Predictions {
        schema: PREDICTIONS_SCHEMA,
        at: runner::now(),
        build: BUILD.to_owned(),
        machine: Machine::default(),
        widened: 1.0,
        standing: None,
        why_not: silent(inventory, &design.stacks, &remote, known.is_some()),
        calibrated: known.as_ref().map(|known| known.at.clone()),
        cells: Vec::new(),
    };
    if nothing.why_not.is_some() {
        return Ok(nothing);
    }
    // Links and memory, which a run's own inventory leaves out.
    let inventory = inspect::examine(site)?;
    let mut machine = described(&inventory, site.drives(), known.as_ref());
    if site.is_lab() {
        machine = model::limited(machine, &design.lab, design.measure.span);
    }
    let ledger = Ledger::read(settings)?;
    let widened = ledger.widening();
    let cells = cells(&calibrations::ready(&machine, known.as_ref()), design, &remote, widened);
    Ok(Predictions { machine, widened, standing: ledger.standing(), cells, ..nothing })
}

/// The same machine and study as this program predicts them, in the place of what another version did.
pub(crate) fn anew(then: Predictions, design: &Design, known: Option<&Calibration>) -> Predictions {
    let cells = cells(&calibrations::ready(&then.machine, known), design, &[], then.widened);
    Predictions { build: BUILD.to_owned(), cells, ..then }
}

/// Drives that are reached over a network, whose rate and delay no machine tells.
fn behind_networks(inventory: &Inventory, drives: &Bindings) -> Vec<Name> {
    let is_remote = |node: &str| {
        let own = inventory.drives.iter().find(|drive| is_node_of(node, &drive.kernel_name));
        own.is_some_and(|drive| drive.transport.is_nvme_of())
    };
    drives.iter().filter(|(_, node)| is_remote(node)).map(|(name, _)| name.clone()).collect()
}

/// Is a node that of a drive by its kernel name?
fn is_node_of(node: &str, kernel_name: &str) -> bool {
    node.strip_prefix("/dev/") == Some(kernel_name)
}

/// Does a stack rest on one of these?
fn rests_on(stack: &Stack, drives: &[Name]) -> bool {
    stack.drives().iter().any(|drive| drives.contains(drive))
}

/// Why nothing can be said.
fn silent(inventory: &Inventory, stacks: &[Stack], remote: &[Name], calibrated: bool) -> Option<String> {
    if let (Some(by), false) = (&inventory.emulated, calibrated) {
        return Some(format!(
            "the machine is emulated ({by}), no data sheet tells how fast that is, and it was not calibrated \
             (`bedplate calibrate --on lab`)"
        ));
    }
    if !remote.is_empty() && stacks.iter().all(|stack| rests_on(stack, remote)) {
        return Some("the drives are reached over a network of unknown speed".to_owned());
    }
    let nothing = stacks.iter().all(|stack| stack.drives().is_empty());
    nothing.then(|| "what is measured stood before, and not all of it is known".to_owned())
}

/// The machine with the study's names for the drives that it uses.
fn described(inventory: &Inventory, drives: &Bindings, known: Option<&Calibration>) -> Machine {
    let mut machine = model::found(inventory);
    if let Some(known) = known {
        machine = model::with_measured(machine, inventory, known);
    }
    for group in &mut machine.drives {
        let own = drives.iter().find(|(_, node)| is_node_of(node, group.name.as_str()));
        if let Some((name, _)) = own {
            group.name = name.clone();
        }
    }
    machine
}

/// A stack of which nothing can be said (on a partition or over a network, say) has no cells: the report lists what was
/// said.
fn cells(site: &Ready, design: &Design, remote: &[Name], widening: f64) -> Vec<PredictedCell> {
    let conditions = Conditions { span: design.measure.span, window: design.measure.window, ..Conditions::default() };
    let predicted = design.workloads.iter().filter(|work| work.unpredictable().is_none());
    let near = design.stacks.iter().filter(|stack| !rests_on(stack, remote));
    let pairs = near.flat_map(|stack| predicted.clone().map(move |work| (stack, work)));
    let cell = |(stack, work): (&Stack, &terms::Workload)| {
        let prediction = model::predict(site, stack, work, &conditions).ok()?;
        Some(PredictedCell {
            stack: stack.slug(),
            workload: work.name.to_string(),
            prediction: prediction.widened(widening),
        })
    };
    pairs.filter_map(cell).collect()
}

#[cfg(test)]
mod tests {
    use terms::{Bytes, Drive};

    use super::*;

    const STUDY: &str = r#"
        question = "How fast?"
        [lab]
        drives = [{ name = "left", size = "1 GiB" }, { name = "right", size = "1 GiB" }]
        [[stack]]
        name = "mirror"
        layers = [{ raid = { level = 1 }, on = ["left", "right"] }, { ext4 = {} }]
        [measure]
        profiles = ["quick"]
        "#;

    fn machine() -> Inventory {
        let drive = |name: &str| Drive {
            kernel_name: name.to_owned(),
            transport: terms::DriveTransport::Nvme,
            size: Bytes::gib(1),
            ..Drive::default()
        };
        Inventory { cpus: 8, drives: vec![drive("nvme0n1"), drive("nvme1n1")], ..Inventory::default() }
    }

    #[test]
    fn drives_get_the_names_of_the_study_and_every_cell_a_prediction() {
        let (design, _) = spec::parse(STUDY);
        let design = design.unwrap();
        let bindings: Bindings = [("left", "/dev/nvme1n1"), ("right", "/dev/nvme0n1")]
            .map(|(n, d)| (Name::new(n).unwrap(), d.to_owned()))
            .into();
        let described = described(&machine(), &bindings, None);
        let names: Vec<&str> = described.drives.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["right", "left"]);
        let ready = Ready::new(&described);
        let cells = cells(&ready, &design, &[], 2.0);
        assert_eq!(cells.len(), design.workloads.len());
        let narrow = super::cells(&ready, &design, &[], 1.0);
        let width = |cell: &PredictedCell| cell.prediction.throughput.ninety.high / cell.prediction.throughput.value;
        assert!(cells.iter().zip(&narrow).all(|(wide, narrow)| width(wide) > width(narrow)));
    }

    #[test]
    fn nothing_is_said_of_emulated_machines() {
        let (design, _) = spec::parse(STUDY);
        let stacks = design.unwrap().stacks;
        let emulated = Inventory { emulated: Some("QEMU TCG".to_owned()), ..machine() };
        assert!(silent(&emulated, &stacks, &[], false).unwrap().contains("QEMU TCG"));
        assert_eq!(silent(&emulated, &stacks, &[], true), None);
        assert_eq!(silent(&machine(), &stacks, &[], false), None);
        assert!(silent(&machine(), &[], &[], false).is_some());
    }

    #[test]
    fn nothing_is_said_of_drives_behind_a_network() {
        let (design, _) = spec::parse(STUDY);
        let design = design.unwrap();
        let mut machine = machine();
        machine.drives[1].transport = terms::DriveTransport::NvmeTcp;
        let bindings: Bindings = [("left", "/dev/nvme1n1"), ("right", "/dev/nvme0n1")]
            .map(|(n, d)| (Name::new(n).unwrap(), d.to_owned()))
            .into();
        let remote = behind_networks(&machine, &bindings);
        assert_eq!(remote, [Name::new("left").unwrap()]);
        assert!(silent(&machine, &design.stacks, &remote, true).unwrap().contains("network"));
        assert!(cells(&Ready::new(&described(&machine, &bindings, None)), &design, &remote, 1.0).is_empty());
    }
}
