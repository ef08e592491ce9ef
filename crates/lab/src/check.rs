//! What a lab needs of this machine: what is there, what is missing, and what brings it.

use host::{Host, HostError, find_program};
use serde::Serialize;

use crate::kernel::package;
use crate::{LabError, kernel, share};

/// One thing that a lab needs or can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirement {
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

/// Programs that a lab calls on this machine, all of them required.
const OUTSIDE: [(&str, &str); 3] = [
    ("qemu-system-x86_64", "runs the guest"),
    ("setpriv", "takes rights from QEMU, and ends it with this program"),
    ("prlimit", "bounds what QEMU writes"),
];

/// Programs that a lab, or a layer in it, calls in the guest; is it required?
const INSIDE: [(&str, &str, bool); 19] = [
    ("modprobe", "loads modules in the guest", true),
    ("blkid", "reads signatures", true),
    ("wipefs", "takes signatures away", true),
    ("fio", "is the load engine", true),
    ("mdadm", "makes arrays", false),
    ("cryptsetup", "makes LUKS and dm-crypt mappings", false),
    ("integritysetup", "makes dm-integrity mappings", false),
    ("lvm", "makes logical volumes", false),
    ("make-bcache", "makes bcache devices", false),
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
pub fn check(host: &dyn Host) -> Result<Vec<Requirement>, HostError> {
    let mut checks = vec![kernel_check(host)?];
    for (program, why) in OUTSIDE {
        let found = find_program(host, program)?;
        let remedy = found.is_none().then(|| package(host, program));
        checks.push(Requirement { what: program.to_owned(), why: why.to_owned(), found, required: true, remedy });
    }
    for (program, why, required) in INSIDE {
        checks.push(inside(host, program, why, required)?);
    }
    Ok(checks)
}

/// A program that guests need. One that is on this machine where guests do not see it is missing, too.
fn inside(host: &dyn Host, program: &str, why: &str, required: bool) -> Result<Requirement, HostError> {
    let found = find_program(host, program)?;
    if let Some(path) = found.as_deref().filter(|path| !share::is_seen(path)) {
        let target = host.resolve(path)?;
        let why = format!("{why}; guests do not see {target}, or may not read it");
        let remedy = format!("sudo install --mode=0755 {} /usr/local/sbin/{program}", terms::command::quote(&target));
        return Ok(Requirement { what: program.to_owned(), why, found: None, required, remedy: Some(remedy) });
    }
    let remedy = found.is_none().then(|| package(host, program));
    Ok(Requirement { what: program.to_owned(), why: why.to_owned(), found, required, remedy })
}

/// Is everything there that starts a guest, and can the guest see what it cannot do without?
pub(crate) fn require(host: &dyn Host) -> Result<(), LabError> {
    for (program, _) in OUTSIDE {
        if find_program(host, program)?.is_none() {
            let what = format!("`{program}` is not installed");
            return Err(LabError::Missing { what, remedy: package(host, program) });
        }
    }
    for (program, why, _) in INSIDE.iter().filter(|(_, _, required)| *required) {
        let there = find_program(host, program)?.is_some();
        let check = inside(host, program, why, true)?;
        if let (true, None, Some(remedy)) = (there, check.found, check.remedy) {
            return Err(LabError::Missing { what: format!("`{program}` {}", check.why), remedy });
        }
    }
    Ok(())
}

fn kernel_check(host: &dyn Host) -> Result<Requirement, HostError> {
    let (found, remedy) = match kernel::choose(host, &["zfs".to_owned()], None) {
        Ok(kernel) => {
            let zfs = if kernel.has_module("zfs") { "with ZFS" } else { "without ZFS" };
            (Some(format!("{} {zfs}", kernel.release)), None)
        }
        Err(LabError::Missing { remedy, .. }) => (None, Some(remedy)),
        Err(LabError::Host(error)) => return Err(error),
        Err(_) => (None, Some(package(host, "kernel"))),
    };
    let what = "a kernel with 9p, overlay, virtio and nvme".to_owned();
    Ok(Requirement { what, why: "runs in the guest".to_owned(), found, required: true, remedy })
}
