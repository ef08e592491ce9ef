//! Reads a machine's inventory through the door: sysfs, procfs and what programs say of themselves.
//!
//! [`inspect`] is quick and is what every record has; [`examine`] reads all that can be known. What cannot be read is
//! left empty or carries its reason; only a lost machine is an error. Nothing here changes a machine: files are only
//! read, and programs are only asked to show.

mod btrfs;
mod btrfs_scrub;
mod config_space;
pub(crate) mod configuration;
mod cpu;
mod drive;
mod filesystem;
pub(crate) mod kernel;
mod luks;
mod lvm;
mod mapping;
mod md;
mod memory;
pub(crate) mod mount;
mod node;
mod nvme;
mod pci;
mod signature;
mod smart;
mod source;
mod system;
pub(crate) mod table;
mod topology;
mod usage;
mod vdev;
mod zfs;

use terms::Drive;
use terms::inventory::{Detail, Inventory, Node, Taken};

pub use self::nvme::namespace_of;

pub(crate) use self::drive::is_of_freebsd;
pub(crate) use self::lvm::reports as lvm_reports;
pub(crate) use self::pci::{ONES, is_address as is_pci_address};
pub(crate) use self::smart::SPECIFIED;
pub(crate) use self::table::without_key;
pub(crate) use self::usage::usage;
pub(crate) use self::vdev::CLASSES;
pub(crate) use self::zfs::{PROPERTIES, UNTOLD, ask_for_datasets};

use self::nvme::Controllers;
use self::pci::Wanted;
use self::source::{Source, field};
use crate::{Host, HostError};

/// What every record has: processors, memory, PCIe tree, drives, versions of programs.
///
/// # Errors
/// Where the machine is lost.
pub fn inspect(host: &dyn Host) -> Result<Inventory, HostError> {
    let source = Source::new(host);
    let controllers = nvme::controllers(&source, false);
    let inventory = inventory(&source, &controllers, Wanted { network: false, detail: false });
    source.unless_lost(inventory)
}

/// Everything that can be known: the same, and all that hangs below `detail`. It asks many programs, and most tell more
/// to root.
///
/// # Errors
/// Where the machine is lost.
pub fn examine(host: &dyn Host) -> Result<Inventory, HostError> {
    let source = Source::new(host);
    let controllers = nvme::controllers(&source, true);
    let remote = controllers.all.iter().any(|controller| controller.pci_address.is_none());
    let mut inventory = inventory(&source, &controllers, Wanted { network: remote, detail: true });
    let mut detail = detail(&source, controllers);
    detail.gaps = source.gaps();
    inventory.detail = Some(Box::new(detail));
    topology::conclude(&mut inventory);
    source.unless_lost(inventory)
}

/// Whole drives: NVMe, SCSI and SATA, virtio, RAM, attached loop devices; no partitions, arrays or mappings.
///
/// # Errors
/// Where the machine is lost.
pub fn drives(host: &dyn Host) -> Result<Vec<Drive>, HostError> {
    let source = Source::new(host);
    let controllers = nvme::controllers(&source, false);
    let drives = drive::read(&source, &controllers, false);
    source.unless_lost(drives)
}

fn inventory(source: &Source, controllers: &Controllers, wanted: Wanted) -> Inventory {
    let told = |path: &str| source.told(path).unwrap_or_default();
    let cpuinfo = told("/proc/cpuinfo");
    let has_flag = |name: &str| field(&cpuinfo, name).is_some_and(|flags| flags.split(' ').any(|flag| flag == "aes"));
    Inventory {
        emulated: system::emulator(source, &cpuinfo),
        kernel: told("/proc/sys/kernel/osrelease"),
        system: system::name(&told("/etc/os-release")),
        cpu_model: field(&cpuinfo, "model name").unwrap_or_default().to_owned(),
        cpus: u32::try_from(cpuinfo.lines().filter(|line| line.starts_with("processor")).count()).unwrap_or(0),
        aes: has_flag("flags") || has_flag("Features"),
        memory: system::memory(&told("/proc/meminfo")),
        drives: drive::read(source, controllers, wanted.detail),
        pci: pci::read(source, wanted),
        programs: system::programs(source),
        detail: None,
    }
}

fn detail(source: &Source, controllers: Controllers) -> Detail {
    let cpuinfo = source.told("/proc/cpuinfo").unwrap_or_default();
    let nodes = node::read(source);
    let mounts = mount::read(source, &nodes);
    let pools = zfs::read(source, &nodes);
    Detail {
        taken: Taken { at: source.now() },
        as_root: system::as_root(source),
        board: system::board(source),
        cpu: cpu::read(source, &cpuinfo),
        memory: memory::read(source),
        numa: system::numa(source),
        controllers: controllers.all,
        volume_groups: lvm::read(source, &nodes),
        file_systems: filesystem::read(source, &nodes, &mounts),
        swaps: mount::swaps(source, &nodes),
        usage: usage::read(source),
        linux: kernel::read(source),
        units: configuration::units(source),
        configuration: configuration::read(source, &pools),
        pools,
        mounts,
        nodes,
        gaps: Vec::new(),
    }
}

/// The kernel name of the device that a path names: its own name, a mapping's or an array's, or where a link leads.
fn node_of(source: &Source, nodes: &[Node], path: &str) -> Option<String> {
    let name = path.strip_prefix("/dev/")?;
    let named = |node: &&Node| {
        node.name == name
            || node.label.as_deref().is_some_and(|label| {
                Some(label) == name.strip_prefix("mapper/")
                    || Some(label) == name.strip_prefix("md/")
                    || Some(label) == volume(name).as_deref()
            })
    };
    if let Some(node) = nodes.iter().find(named) {
        return Some(node.name.clone());
    }
    let name = source.resolved_name(path)?;
    nodes.iter().find(|node| node.name == name).map(|node| node.name.clone())
}

/// The mapping's name of `GROUP/VOLUME`: hyphens in either are doubled.
fn volume(path: &str) -> Option<String> {
    let (group, volume) = path.split_once('/')?;
    Some(format!("{}-{}", group.replace('-', "--"), volume.replace('-', "--")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    #[test]
    fn this_machine_has_an_inventory() {
        let inventory = inspect(&Local::new()).unwrap();
        assert!(!inventory.kernel.is_empty() && inventory.cpus > 0 && inventory.memory > terms::Bytes::mib(64));
        assert_eq!((inventory.programs.len(), inventory.detail), (9, None));
    }

    #[test]
    fn this_machine_can_be_examined() {
        let inventory = examine(&Local::new()).unwrap();
        let detail = inventory.detail.unwrap();
        assert!(inventory.drives.iter().all(|drive| detail.nodes.iter().any(|node| node.name == drive.kernel_name)));
    }

    #[test]
    fn paths_are_found_among_nodes() {
        let node = |name: &str, label: Option<&str>| Node {
            name: name.into(),
            label: label.map(ToOwned::to_owned),
            ..Node::default()
        };
        let nodes = [node("sda1", None), node("dm-0", Some("vg--a-root")), node("md127", Some("fast"))];
        let host = crate::DryRun::new();
        let find = |path: &str| node_of(&Source::new(&host), &nodes, path);
        assert_eq!(find("/dev/sda1").as_deref(), Some("sda1"));
        assert_eq!(find("/dev/vg-a/root").as_deref(), Some("dm-0"));
        assert_eq!(find("/dev/mapper/vg--a-root").as_deref(), Some("dm-0"));
        assert_eq!(find("/dev/md/fast").as_deref(), Some("md127"));
        assert_eq!(find("[unknown]"), None);
    }
}
