//! Drives as a study wants them set up: what is known of each, and the plan that follows.

use build::Bindings;
use capacity::DriveSize;
use host::{Host, inspect};
use terms::design::Sanitize;
use terms::inventory::{Inventory, NvmeIdentity, Readout};
use terms::plan::{Effect, Step};
use terms::{Cmd, DriveSetup, Name, Plan};

use crate::exit::Failure;

/// Plans what the study's `[[drive]]` tables say; `None` where nothing is to be set.
///
/// # Errors
/// Where a drive cannot be set up so.
pub(crate) fn plan(host: &dyn Host, drives: &Bindings, setups: &[DriveSetup]) -> Result<Option<Plan>, Failure> {
    let setups: Vec<DriveSetup> = setups.iter().filter(|setup| drives.contains_key(&setup.name)).cloned().collect();
    if setups.is_empty() {
        return Ok(None);
    }
    plan::prepare(&setups, &all_known(host, drives)?)
        .map_err(|error| Failure::told(format!("error: {}", crate::exit::chain(&error))))
}

/// Refuses to format drives back to the block that they had, where somebody made another namespace since that the format
/// would take with it.
///
/// # Errors
/// [`Failure::Refused`] for such a drive; where the machine cannot be asked.
pub(crate) fn refuse_company(host: &dyn Host, drives: &Bindings, plan: &Plan) -> Result<(), Failure> {
    let is_format = |step: &&Step| matches!(step.effect, Some(Effect::LogicalBlock { .. }));
    let formatted: Vec<&Name> = plan.steps.iter().filter(is_format).flat_map(|step| &step.erases).collect();
    if formatted.is_empty() {
        return Ok(());
    }
    let known = all_known(host, drives)?;
    match known.iter().find(|drive| drive.format_takes_others() && formatted.contains(&&drive.name)) {
        None => Ok(()),
        Some(drive) => Err(Failure::Refused(format!(
            "refused: formatting drive `{}` back would format other namespaces of its controller, too\n\nhint: nvme list",
            drive.name
        ))),
    }
}

/// What the machine tells of its drives, of each that it tells anything of.
fn all_known(host: &dyn Host, drives: &Bindings) -> Result<Vec<plan::PreparedDrive>, Failure> {
    let inventory = inspect::examine(host)?;
    let allocated = |controller: &str| allocated(host, controller);
    Ok(drives.iter().filter_map(|(name, node)| known(name, node, &inventory, &allocated)).collect())
}

/// Drives as they will be once they are set up.
pub(crate) fn set_up(found: impl IntoIterator<Item = DriveSize>, setups: &[DriveSetup]) -> Vec<DriveSize> {
    let block = |found: DriveSize| {
        let lba = setups.iter().find(|setup| setup.name == found.name).and_then(|setup| setup.lba);
        DriveSize { lba: lba.unwrap_or(found.lba), ..found }
    };
    found.into_iter().map(block).collect()
}

/// Namespaces that a controller has, attached to it or not; `None` where it does not tell (NVM Express Base Specification
/// 2.0, 5.17.2.10: the allocated namespace list).
fn allocated(host: &dyn Host, controller: &str) -> Option<usize> {
    let list = Cmd::new(["nvme", "list-ns", "--all", &format!("/dev/{controller}")]);
    let outcome = host.run(&list).ok().filter(terms::Outcome::ok)?;
    // `[   0]:0x1`, a line for each.
    Some(outcome.text().lines().filter(|line| line.starts_with('[')).count())
}

fn known(
    name: &Name,
    node: &str,
    inventory: &Inventory,
    allocated: &dyn Fn(&str) -> Option<usize>,
) -> Option<plan::PreparedDrive> {
    let drive = inventory.drives.iter().find(|drive| drive.node() == node)?;
    let detail = drive.detail.as_deref()?;
    let nvme = detail.nvme.as_ref();
    let formats = nvme.and_then(|nvme| nvme.formats.known().cloned()).unwrap_or_default();
    let of_kernel = ["nullb", "nbd"].iter().any(|own| drive.kernel_name.starts_with(own));
    let cache_on = match &detail.write_cache_on {
        // Flash drives and hard disks in a guest tell nothing themselves, and its kernel knows what they have.
        Readout::Known(None) if of_kernel => drive.write_cache.as_ref().map(|cache| cache == "write back"),
        Readout::Known(on) => *on,
        Readout::Unknown(_) => None,
    };
    Some(plan::PreparedDrive {
        name: name.clone(),
        transport: drive.transport,
        formats,
        format_takes_all: nvme.is_none_or(|nvme| format_takes_all(&nvme.controllers, inventory)),
        sanitize: nvme.map(|nvme| ways_to_forget(&nvme.controllers, inventory)).unwrap_or_default(),
        shares_controller: nvme.is_none_or(|nvme| shares_controller(drive, &nvme.controllers, inventory, allocated)),
        cache_on,
    })
}

/// Does formatting one namespace of these controllers format all of them? What is not known is taken for yes.
fn format_takes_all(controllers: &[String], inventory: &Inventory) -> bool {
    let known: Vec<_> = of_controllers(controllers, inventory).collect();
    known.is_empty() || known.into_iter().any(|identity| identity.is_none_or(|identity| identity.format_takes_all))
}

/// Namespaces of these controllers that the machine sees.
fn namespaces(controllers: &[String], inventory: &Inventory) -> usize {
    let on_one = |drive: &&terms::Drive| {
        let nvme = drive.detail.as_deref().and_then(|detail| detail.nvme.as_ref());
        nvme.is_some_and(|nvme| nvme.controllers.iter().any(|name| controllers.contains(name)))
    };
    inventory.drives.iter().filter(on_one).count()
}

/// May there be another namespace, seen from here or not? None is where every controller can have but one, or lists but
/// one, or where this one is as large as all that it has. What is not known is taken for yes.
fn shares_controller(
    drive: &terms::Drive,
    controllers: &[String],
    inventory: &Inventory,
    allocated: &dyn Fn(&str) -> Option<usize>,
) -> bool {
    let is_all = |identity: &NvmeIdentity| {
        // What a drive keeps for itself is a few per cent at most.
        let whole = |all: terms::Bytes| drive.size.0 >= all.0 / 100 * 95;
        identity.namespaces == 1 || identity.capacity.is_some_and(whole)
    };
    let known: Vec<_> = of_controllers(controllers, inventory).collect();
    let by_itself = !known.is_empty() && known.into_iter().all(|identity| identity.is_some_and(is_all));
    let by_list = || !controllers.is_empty() && controllers.iter().all(|name| allocated(name) == Some(1));
    let alone = by_itself || by_list();
    namespaces(controllers, inventory) != 1 || !alone
}

/// What these controllers say of themselves, where they do.
fn of_controllers<'a>(
    controllers: &'a [String],
    inventory: &'a Inventory,
) -> impl Iterator<Item = Option<&'a NvmeIdentity>> {
    let all = inventory.detail.as_deref().map(|detail| detail.controllers.as_slice()).unwrap_or_default();
    let own = all.iter().filter(|controller| controllers.contains(&controller.name));
    own.map(|controller| controller.identity.known())
}

/// Ways that the first of them knows; several controllers of one drive know the same.
fn ways_to_forget(controllers: &[String], inventory: &Inventory) -> Vec<Sanitize> {
    of_controllers(controllers, inventory)
        .flatten()
        .next()
        .map(|identity| identity.sanitize.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use terms::drive::DriveDetail;
    use terms::inventory::{Detail, LbaFormat, NvmeController, NvmeIdentity, NvmeNamespace};
    use terms::{Bytes, Drive};

    use super::*;

    fn drive(kernel_name: &str, controller: &str) -> Drive {
        let format = LbaFormat { data: Bytes(512), in_use: true, ..LbaFormat::default() };
        let nvme = NvmeNamespace {
            formats: Readout::Known(vec![format]),
            controllers: vec![controller.to_owned()],
            ..NvmeNamespace::default()
        };
        let detail =
            DriveDetail { nvme: Some(nvme), write_cache_on: Readout::Known(Some(true)), ..DriveDetail::default() };
        Drive {
            kernel_name: kernel_name.to_owned(),
            transport: terms::DriveTransport::Nvme,
            detail: Some(Box::new(detail)),
            ..Drive::default()
        }
    }

    fn machine(drives: Vec<Drive>, format_takes_all: bool) -> Inventory {
        let identity = NvmeIdentity { format_takes_all, ..NvmeIdentity::default() };
        let controller = NvmeController {
            name: "nvme0".to_owned(),
            identity: Readout::Known(identity),
            ..NvmeController::default()
        };
        let detail = Detail { controllers: vec![controller], ..Detail::default() };
        Inventory { drives, detail: Some(Box::new(detail)), ..Inventory::default() }
    }

    fn known(name: &Name, node: &str, inventory: &Inventory) -> Option<plan::PreparedDrive> {
        super::known(name, node, inventory, &|_| None)
    }

    #[test]
    fn formatting_that_takes_a_neighbour_is_known_before() {
        let name = Name::new("a").unwrap();
        for (drives, takes_all, expect) in [
            (vec![drive("nvme0n1", "nvme0")], true, true),
            (vec![drive("nvme0n1", "nvme0"), drive("nvme0n2", "nvme0")], true, true),
            (vec![drive("nvme0n1", "nvme0"), drive("nvme0n2", "nvme0")], false, false),
            (vec![drive("nvme0n1", "nvme7")], false, true),
        ] {
            let known = known(&name, "/dev/nvme0n1", &machine(drives, takes_all)).unwrap();
            assert_eq!((known.format_takes_all, known.cache_on), (expect, Some(true)));
        }
        assert_eq!(known(&name, "/dev/sda", &machine(Vec::new(), false)), None);
    }

    #[test]
    fn the_cache_of_a_drive_in_a_guest_is_what_its_kernel_says() {
        let name = Name::new("a").unwrap();
        let cache = |kernel_name: &str, told: &str| {
            let mut drive = Drive { write_cache: Some(told.to_owned()), ..drive(kernel_name, "") };
            drive.detail.as_mut().unwrap().write_cache_on = Readout::Known(None);
            known(&name, &format!("/dev/{kernel_name}"), &machine(vec![drive], false)).unwrap().cache_on
        };
        assert_eq!(cache("nullb0", "write through"), Some(false));
        assert_eq!(cache("nbd1", "write back"), Some(true));
        assert_eq!(cache("sdb", "write back"), None, "behind USB a drive may have another than the kernel thinks");
    }

    #[test]
    fn a_controller_is_shared_unless_it_says_that_there_is_no_other_namespace() {
        let name = Name::new("a").unwrap();
        let shares = |drives: Vec<Drive>, namespaces, capacity: Option<u64>| {
            let mut machine = machine(drives, false);
            let controllers = &mut machine.detail.as_mut().unwrap().controllers;
            let identity = NvmeIdentity { namespaces, capacity: capacity.map(Bytes), ..NvmeIdentity::default() };
            controllers[0].identity = Readout::Known(identity);
            known(&name, "/dev/nvme0n1", &machine).unwrap().shares_controller
        };
        let one = || vec![Drive { size: Bytes(960), ..drive("nvme0n1", "nvme0") }];
        assert!(!shares(one(), 1, None), "it can have but one");
        assert!(!shares(one(), 32, Some(1000)), "it is all that there is");
        assert!(shares(one(), 32, Some(2000)), "as much again lies somewhere");
        assert!(shares(one(), 32, None), "not known");
        let listed = |count| {
            let mut machine = machine(one(), true);
            let identity = NvmeIdentity { namespaces: 32, ..NvmeIdentity::default() };
            machine.detail.as_mut().unwrap().controllers[0].identity = Readout::Known(identity);
            super::known(&name, "/dev/nvme0n1", &machine, &|_| count).unwrap().shares_controller
        };
        assert!(!listed(Some(1)), "it lists no other, attached or not");
        assert!(listed(Some(2)) && listed(None) && listed(Some(0)), "one that is not attached here, or no answer");
        assert!(shares(vec![drive("nvme0n1", "nvme7")], 1, None), "nothing is known of its controller");
        assert!(shares(vec![drive("nvme0n1", "nvme0"), drive("nvme0n2", "nvme0")], 1, None));
    }

    #[test]
    fn stacks_are_planned_for_the_block_that_will_be() {
        let name = Name::new("a").unwrap();
        let fact = plan::DriveSize { name: name.clone(), size: Bytes::gib(1), lba: Bytes(512), slice: false };
        let setup = DriveSetup { name, lba: Some(Bytes(4096)), write_cache: None, scheduler: None, sanitize: None };
        assert_eq!(super::set_up([fact.clone()], &[setup])[0].lba, Bytes(4096));
        assert_eq!(super::set_up([fact], &[])[0].lba, Bytes(512));
    }
}
