//! Ways to the parts of a machine, for those who plant faults.

use terms::Drive;
use terms::inventory::*;

pub(super) fn detail(inventory: &mut Inventory) -> &mut Detail {
    inventory.detail.as_mut().unwrap()
}

pub(super) fn node<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut Node {
    detail(inventory).nodes.iter_mut().find(|node| node.name == name).unwrap()
}

pub(super) fn md<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut Md {
    node(inventory, name).md.as_mut().unwrap()
}

pub(super) fn dm<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut Mapping {
    node(inventory, name).dm.as_mut().unwrap()
}

pub(super) fn meaning<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut Meaning {
    &mut known(&mut dm(inventory, name).targets)[0].meaning
}

pub(super) fn crypt(inventory: &mut Inventory) -> &mut CryptMapping {
    let Meaning::CryptMapping(crypt) = meaning(inventory, "dm-2") else { panic!() };
    crypt
}

pub(super) fn integrity(inventory: &mut Inventory) -> &mut IntegrityHeader {
    let Meaning::IntegrityHeader(integrity) = meaning(inventory, "dm-0") else { panic!() };
    integrity
}

pub(super) fn raid(inventory: &mut Inventory) -> &mut DmRaid {
    let Meaning::Raid(raid) = meaning(inventory, "dm-5") else { panic!() };
    raid
}

pub(super) fn thin(inventory: &mut Inventory) -> &mut ThinPool {
    let Meaning::ThinPool(pool) = meaning(inventory, "dm-4") else { panic!() };
    pool
}

pub(super) fn pci<'a>(inventory: &'a mut Inventory, address: &str) -> &'a mut PciDetail {
    let device = inventory.pci.iter_mut().find(|device| device.address == address).unwrap();
    device.detail.as_mut().unwrap()
}

pub(super) fn drive<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut Drive {
    inventory.drives.iter_mut().find(|drive| drive.kernel_name == name).unwrap()
}

pub(super) fn namespace<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut NvmeNamespace {
    drive(inventory, name).detail.as_mut().unwrap().nvme.as_mut().unwrap()
}

pub(super) fn health(inventory: &mut Inventory) -> &mut Health {
    let detail = drive(inventory, "nvme0n1").detail.as_mut().unwrap();
    known(&mut detail.health).as_mut().unwrap()
}

/// What the first disk tells of itself.
pub(super) fn smart(inventory: &mut Inventory) -> &mut Smart {
    let detail = drive(inventory, "sda").detail.as_mut().unwrap();
    known(&mut detail.health).as_mut().unwrap().smart.as_mut().unwrap()
}

pub(super) fn attribute(inventory: &mut Inventory, id: u32, raw: u64) {
    smart(inventory).attributes.iter_mut().find(|attribute| attribute.id == id).unwrap().raw = raw;
}

pub(super) fn controller<'a>(inventory: &'a mut Inventory, name: &str) -> &'a mut NvmeController {
    detail(inventory).controllers.iter_mut().find(|controller| controller.name == name).unwrap()
}

pub(super) fn group(inventory: &mut Inventory) -> &mut VolumeGroup {
    &mut known(&mut detail(inventory).volume_groups)[0]
}

pub(super) fn pool(inventory: &mut Inventory) -> &mut Pool {
    &mut known(&mut detail(inventory).pools)[0]
}

pub(super) fn vdev(inventory: &mut Inventory, at: usize) -> &mut Vdev {
    &mut known(&mut pool(inventory).vdevs)[at]
}

pub(super) fn dataset(inventory: &mut Inventory, at: usize) -> &mut Dataset {
    &mut known(&mut pool(inventory).datasets)[at]
}

pub(super) fn system<'a>(inventory: &'a mut Inventory, target: &str) -> &'a mut FileSystem {
    let systems = &mut detail(inventory).file_systems;
    systems.iter_mut().find(|system| system.targets.iter().any(|known| known == target)).unwrap()
}

pub(super) fn geometry<'a>(inventory: &'a mut Inventory, target: &str) -> &'a mut Geometry {
    known(&mut system(inventory, target).geometry)
}

pub(super) fn btrfs(inventory: &mut Inventory) -> &mut BtrfsState {
    system(inventory, "/pics").btrfs.as_mut().unwrap()
}

pub(super) fn profile(inventory: &mut Inventory, kind: &str, profiles: &[&str]) {
    let profiles = profiles.iter().map(|profile| (*profile).to_owned()).collect();
    known(&mut btrfs(inventory).profiles).insert(kind.to_owned(), profiles);
}

pub(super) fn mount<'a>(inventory: &'a mut Inventory, target: &str) -> &'a mut Mount {
    known(&mut detail(inventory).mounts).iter_mut().find(|mount| mount.target == target).unwrap()
}

pub(super) fn say(inventory: &mut Inventory, message: &str) {
    known(&mut detail(inventory).linux.messages).push(message.to_owned());
}

pub(super) fn without_unit(inventory: &mut Inventory, start: &str) {
    known(&mut detail(inventory).units).retain(|unit| !unit.name.starts_with(start));
}

pub(super) fn parameter(inventory: &mut Inventory, name: &str, value: &str) {
    detail(inventory).linux.parameters.insert(name.to_owned(), value.to_owned());
}

pub(super) fn known<T>(reading: &mut Readout<T>) -> &mut T {
    match reading {
        Readout::Known(fact) => fact,
        Readout::Unknown(why) => panic!("{why}"),
    }
}

/// Nobody could look.
pub(super) fn unknown<T>() -> Readout<T> {
    Readout::unknown("Permission denied")
}
