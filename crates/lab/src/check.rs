//! What a lab needs of this machine: what is there, what is missing, and what brings it.

use host::packages;
use host::{Host, HostError, find_program};
use serde::Serialize;

use crate::LabError;
use crate::kernel;

/// One thing that a lab needs or can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub what: String,
    /// What for.
    pub why: String,
    /// What was found; `None` where it is missing.
    pub found: Option<String>,
    /// Does no lab run without it?
    pub required: bool,
    /// The command that brings it, where it is missing.
    pub remedy: Option<String>,
}

/// Programs that a lab, or a layer in it, calls.
const PROGRAMS: [(&str, &str, bool); 20] = [
    ("qemu-system-x86_64", "runs the guest", true),
    ("setpriv", "ends the guest with this program", true),
    ("modprobe", "loads modules in the guest", true),
    ("blkid", "reads signatures", true),
    ("wipefs", "takes signatures away", true),
    ("fio", "is the load engine", true),
    ("mdadm", "makes arrays", false),
    ("cryptsetup", "makes LUKS and dm-crypt mappings", false),
    ("integritysetup", "makes dm-integrity mappings", false),
    ("lvm", "makes logical volumes", false),
    ("mkfs.ext4", "makes ext4", false),
    ("mkfs.xfs", "makes XFS", false),
    ("mkfs.btrfs", "makes btrfs", false),
    ("zpool", "makes ZFS pools", false),
    ("thin_check", "checks thin pools before they are used", false),
    ("parted", "makes the partition that a ZFS pool rests on", false),
    ("nvme", "connects to remote drives and formats NVMe drives", false),
    ("ip", "sets up the network to remote drives", false),
    ("xz", "unpacks kernels and modules", false),
    ("zstd", "unpacks kernels and modules", false),
];

/// Everything a lab needs or can use, in a fixed order.
///
/// # Errors
/// Where this machine cannot be read.
pub fn check(host: &dyn Host) -> Result<Vec<Check>, HostError> {
    let family = packages::family(host)?;
    let mut checks = vec![kernel_check(host)?];
    for (program, why, required) in PROGRAMS {
        let found = find_program(host, program)?;
        let remedy = found.is_none().then(|| packages::install_line(family, &[program]));
        checks.push(Check { what: program.to_owned(), why: why.to_owned(), found, required, remedy });
    }
    Ok(checks)
}

fn kernel_check(host: &dyn Host) -> Result<Check, HostError> {
    let (found, remedy) = match kernel::choose(host, &["zfs".to_owned()]) {
        Ok(kernel) => {
            let zfs = if kernel.has_module("zfs") { "with ZFS" } else { "without ZFS" };
            (Some(format!("{} {zfs}", kernel.release)), None)
        }
        Err(LabError::Missing { remedy, .. }) => (None, Some(remedy)),
        Err(LabError::Host(error)) => return Err(error),
        Err(_) => (None, Some(package(host, "kernel"))),
    };
    let what = "a kernel with 9p, overlay, virtio and nvme".to_owned();
    Ok(Check { what, why: "runs in the guest".to_owned(), found, required: true, remedy })
}

/// The command that brings a thing on this machine.
pub(crate) fn package(host: &dyn Host, thing: &str) -> String {
    packages::install_line(packages::family(host).unwrap_or(None), &[thing])
}
