//! What loads may write to: of a device only by the locks on every drive below it.

use host::{Devno, Host, HostError};
use terms::plan::WorkPlace;

use crate::device::{Device, behind_node, present};
use crate::error::ClaimError;
use crate::identity::Identity;
use crate::permission::LockedDrive;

/// Somewhere that loads may write to: a directory, through files of their own; or a device that rests on drives that go with their
/// machine, or that are permitted and locked, and on nothing else. Nothing else makes one, and nothing writes without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writable {
    place: WorkPlace,
    /// Real drives that it rests on, as they were when they were locked.
    drives: Vec<Identity>,
}

impl Writable {
    /// A directory: what is written is a file in it, and never a device.
    #[must_use]
    pub const fn directory(path: String) -> Self {
        Self { place: WorkPlace::Directory(path), drives: Vec::new() }
    }

    /// A device of a machine that is thrown away, or one that rests on nothing but the kernel's RAM drives.
    ///
    /// # Errors
    /// [`ClaimError::NotHeld`] for any other.
    pub fn passing(host: &dyn Host, node: &str) -> Result<Self, ClaimError> {
        let place = WorkPlace::Device(node.to_owned());
        if !host.is_throwaway() {
            rests_on(host, node, &[])?;
        }
        Ok(Self { place, drives: Vec::new() })
    }

    /// A device that rests on locked drives and on nothing else.
    ///
    /// # Errors
    /// [`ClaimError::NotHeld`] for any other.
    pub fn held<'l>(
        host: &dyn Host,
        node: &str,
        locked: impl IntoIterator<Item = &'l LockedDrive<'l>>,
    ) -> Result<Self, ClaimError> {
        let drives: Vec<Identity> = locked.into_iter().map(|held| held.identity().clone()).collect();
        rests_on(host, node, &drives)?;
        Ok(Self { place: WorkPlace::Device(node.to_owned()), drives })
    }

    /// Where it is.
    #[must_use]
    pub const fn place(&self) -> &WorkPlace {
        &self.place
    }

    /// Is it still on the very drives that were locked? To be asked before every load.
    ///
    /// # Errors
    /// As [`confirm`](crate::confirm) for each of them; [`ClaimError::NotHeld`].
    pub fn confirm(&self, host: &dyn Host) -> Result<(), ClaimError> {
        if self.drives.is_empty() {
            return Ok(());
        }
        self.drives.iter().try_for_each(|drive| crate::resolve::confirm(host, drive))?;
        rests_on(host, self.place.path(), &self.drives)
    }
}

/// Refuses a device that rests on anything but these drives and the kernel's own RAM drives.
fn rests_on(host: &dyn Host, node: &str, drives: &[Identity]) -> Result<(), ClaimError> {
    let not_held = |on: String| ClaimError::NotHeld { node: node.to_owned(), on };
    let devno = behind_node(host, node)?.ok_or_else(|| not_held("no block device".to_owned()))?;
    let held: Vec<Devno> = drives.iter().map(|drive| drive.devno).collect();
    match stranger_below(host, devno, &held)? {
        None => Ok(()),
        Some(stranger) => Err(not_held(format!("`{stranger}`"))),
    }
}

/// The first device at the bottom that is neither held nor a RAM drive. Of what rests on nothing sysfs lists nothing below.
fn stranger_below(host: &dyn Host, devno: Devno, held: &[Devno]) -> Result<Option<String>, HostError> {
    if held.contains(&devno) {
        return Ok(None);
    }
    let Some(device) = Device::numbered(host, devno)? else { return Ok(Some(devno.to_string())) };
    if device.partition.is_some() {
        let whole = Device::named(host, device.whole_name())?;
        return whole.map_or(Ok(Some(device.node())), |whole| stranger_below(host, whole.devno, held));
    }
    let below = present(host.list(&format!("{}/slaves", device.directory)))?.unwrap_or_default();
    if below.is_empty() {
        return Ok(Some(device.node()).filter(|node| !is_memory(node)));
    }
    for name in below {
        let found = match Device::named(host, &name)? {
            Some(below) => stranger_below(host, below.devno, held)?,
            None => Some(name),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Is it one of the kernel's RAM drives?
#[must_use]
pub fn is_memory(node: &str) -> bool {
    node.strip_prefix("/dev/ram").is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use fake::FakeMachine;
    use terms::Bytes;

    use super::*;
    use crate::{Consent, Permission, examine, id_of, resolve};

    fn locked<'h>(machine: &'h FakeMachine, node: &str) -> LockedDrive<'h> {
        let drives = host::inspect::drives(machine).unwrap();
        let id = id_of(drives.iter().find(|drive| drive.node() == node).unwrap()).unwrap();
        let consent = Consent::given(machine, std::slice::from_ref(&id), &[]).unwrap();
        let identity = resolve(machine, &id).unwrap();
        Permission::grant(examine(machine, &identity).unwrap(), &consent).unwrap().hold(machine).unwrap()
    }

    #[test]
    fn a_device_may_be_written_by_the_locks_on_all_that_it_rests_on() {
        let machine = FakeMachine::new();
        let [a, b] = [0, 1].map(|_| machine.nvme(Bytes::mib(64), Bytes(4096)));
        let ram = machine.ram(Bytes::mib(64));
        let held = locked(&machine, &a);
        let no = |result: Result<Writable, ClaimError>, on: &str| {
            let error = result.unwrap_err();
            assert!(error.is_refusal() && error.to_string().contains(on), "{error}");
        };
        let bare = Writable::held(&machine, &a, [&held]).unwrap();
        assert_eq!(bare.place(), &WorkPlace::Device(a.clone()));
        bare.confirm(&machine).unwrap();
        no(Writable::held(&machine, &b, [&held]), &b);
        no(Writable::held(&machine, "/dev/nothing", [&held]), "no block device");
        no(Writable::held(&machine, &a, []), &a);
        no(Writable::passing(&machine, &a), &a);
        Writable::passing(&machine, &ram).unwrap();
        Writable::passing(&FakeMachine::throwaway(), "/dev/whatever").unwrap();
        // Half of it is somebody else's.
        let create = "mdadm --create /dev/md/x --level=1 --raid-devices=2";
        machine.line(&format!("{create} {a} {b}"));
        no(Writable::held(&machine, "/dev/md/x", [&held]), &b);
    }

    #[test]
    fn a_device_is_not_written_once_another_drive_has_its_name() {
        let machine = FakeMachine::new();
        let a = machine.nvme(Bytes::mib(64), Bytes(4096));
        let place = Writable::held(&machine, &a, [&locked(&machine, &a)]).unwrap();
        place.confirm(&machine).unwrap();
        machine.pull(&a);
        assert!(place.confirm(&machine).is_err_and(|error| error.is_refusal()));
    }

    #[test]
    fn only_the_kernels_ram_drives_are_written_to_without_consent() {
        for node in ["/dev/ram0", "/dev/ram15"] {
            assert!(is_memory(node), "{node}");
        }
        let others =
            ["/dev/ram", "/dev/ramdisk", "/dev/ram0p1", "/dev/ram-1", "/dev/ram/0", "/dev/zram0", "/dev/sda", "ram0"];
        for node in others {
            assert!(!is_memory(node), "{node}");
        }
    }
}
