//! What this kernel serves to other machines. Most of its parts that do so open what they serve without claiming it, so
//! nothing but their own tables tells.

use host::{Host, HostError, inspect};

use super::listing::{Owned, names};
use crate::device::present;
use crate::doubt::Doubt;
use crate::examination::Owner;

/// Where a part of the kernel tells what it serves.
struct Table {
    /// Its module; empty where the table is there with the kernel itself.
    module: &'static str,
    /// The directory of all that it serves.
    directory: &'static str,
    /// Below it, from the name of what is served to the file that tells the path. A `*` stands for the end of any name.
    way: &'static str,
    /// Which part of the way is the name, from 0, and what goes by it.
    named: (usize, &'static str),
    /// What the file tells.
    tells: fn(&dyn Host, &str) -> Result<Vec<String>, Doubt>,
}

/// Kernel, drivers/nvme/target/configfs.c, drivers/target/target_core_configfs.c, drivers/usb/gadget/function/f_mass_storage.c
/// (the gadgets of drivers/usb/gadget/legacy have theirs below the controller); SCST, scst/src/dev_handlers/scst_vdisk.c. What is mapped over RDMA stands
/// in a directory that is there once something is (kernel, Documentation/ABI/testing/sysfs-class-rnbd-server).
const TABLES: [Table; 8] = [
    Table {
        module: "nvmet",
        directory: "/sys/kernel/config/nvmet/subsystems",
        way: "*/namespaces/*/device_path",
        named: (0, "the NVMe target"),
        tells: path,
    },
    Table {
        module: "nvmet",
        directory: "/sys/kernel/config/nvmet/subsystems",
        way: "*/passthru/device_path",
        named: (0, "the NVMe target"),
        tells: namespaces,
    },
    Table {
        module: "target_core_mod",
        directory: "/sys/kernel/config/target/core",
        way: "*/*/udev_path",
        named: (1, "the SCSI target"),
        tells: path,
    },
    Table {
        module: "target_core_mod",
        directory: "/sys/kernel/config/target/core",
        way: "*/*/info",
        named: (1, "the SCSI target"),
        tells: backing_file,
    },
    Table {
        module: "usb_f_mass_storage",
        directory: "/sys/kernel/config/usb_gadget",
        way: "*/functions/mass_storage.*/lun.*/file",
        named: (0, "the USB gadget"),
        tells: path,
    },
    Table {
        module: "",
        directory: "/sys/class/udc",
        way: "*/device/gadget*/lun*/file",
        named: (0, "the USB gadget of"),
        tells: path,
    },
    Table {
        module: "",
        directory: "/sys/class/rnbd-server/ctl/devices",
        way: "*/block_dev",
        named: (0, "the RNBD target"),
        tells: linked,
    },
    Table {
        module: "scst",
        directory: "/sys/kernel/scst_tgt/devices",
        way: "*/filename",
        named: (0, "the SCST device"),
        tells: path,
    },
];

/// Paths that are served, each with who serves it.
pub(super) fn read(host: &dyn Host) -> Result<Owned, Doubt> {
    let mut found = Owned::new();
    for table in &TABLES {
        let Table { module, directory, way, named: (at, what), tells } = table;
        // What is served is told only where configfs is mounted.
        if !module.is_empty() && host.exists(&format!("/sys/module/{module}"))? && !host.exists(directory)? {
            return Err(Doubt::words(format!(
                "`{module}` is loaded, and `{directory}` is not there to tell what it serves"
            )));
        }
        let way: Vec<&str> = way.split('/').collect();
        for names in ways(host, directory, &way)? {
            let owner = Owner::Target(format!("{what} `{}`", names[*at]));
            let paths = tells(host, &format!("{directory}/{}", names.join("/")))?;
            found.extend(paths.into_iter().filter(|path| path.starts_with('/')).map(|path| (path, owner.clone())));
        }
    }
    Ok(found)
}

/// Every way there may be along these names, the last of which need not be there.
fn ways(host: &dyn Host, directory: &str, way: &[&str]) -> Result<Vec<Vec<String>>, HostError> {
    let Some((first, rest)) = way.split_first() else { return Ok(vec![Vec::new()]) };
    let here = match first.strip_suffix('*') {
        Some(start) => names(host, directory)?.into_iter().filter(|name| name.starts_with(start)).collect(),
        None => vec![(*first).to_owned()],
    };
    let mut found = Vec::new();
    for name in here {
        for further in ways(host, &format!("{directory}/{name}"), rest)? {
            found.push([vec![name.clone()], further].concat());
        }
    }
    Ok(found)
}

/// What a file says; `None` where there is none, or where what would have it is itself a file.
fn told(host: &dyn Host, file: &str) -> Result<Option<String>, HostError> {
    match present(host.read_text(file)) {
        Err(HostError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        told => told,
    }
}

/// A path in the first line.
fn path(host: &dyn Host, file: &str) -> Result<Vec<String>, Doubt> {
    Ok(told(host, file)?.iter().filter_map(|text| text.lines().next()).map(str::to_owned).collect())
}

/// A link to the device in sysfs.
fn linked(host: &dyn Host, link: &str) -> Result<Vec<String>, Doubt> {
    let device = present(host.resolve(link))?;
    Ok(device
        .iter()
        .filter_map(|path| path.rsplit('/').next())
        .map(|name| format!("/dev/{}", name.replace('!', "/")))
        .collect())
}

/// A controller's node: all of its namespaces are served.
fn namespaces(host: &dyn Host, file: &str) -> Result<Vec<String>, Doubt> {
    let mut found = Vec::new();
    for node in path(host, file)? {
        let Some(node) = present(host.resolve(&node))? else { continue };
        let controller = node.rsplit('/').next().unwrap_or_default();
        found.extend(namespaces_of(host, controller)?.iter().map(|name| format!("/dev/{name}")));
    }
    Ok(found)
}

/// Names of the namespaces that are reached through an NVMe controller; none of anything else.
pub(super) fn namespaces_of(host: &dyn Host, controller: &str) -> Result<Vec<String>, HostError> {
    let below = names(host, &format!("/sys/class/nvme/{controller}"))?;
    Ok(below.iter().filter_map(|name| inspect::namespace_of(name)).collect())
}

/// The file of a target: `TCM FILEIO ID: 0        File: /srv/a.img  Size: 67108864  Mode: O_DSYNC`
/// (kernel, drivers/target/target_core_file.c, `fd_show_configfs_dev_params`).
fn backing_file(host: &dyn Host, file: &str) -> Result<Vec<String>, Doubt> {
    Ok(told(host, file)?.as_deref().and_then(file_in).into_iter().collect())
}

fn file_in(info: &str) -> Option<String> {
    let (path, _) = info.split_once(" File: ")?.1.split_once("  Size: ")?;
    Some(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_tells_its_file() {
        let info = "Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 16384\n        \
                    TCM FILEIO ID: 0        File: /srv/a b.img  Size: 67108864  Mode: O_DSYNC Async: 0";
        assert_eq!(file_in(info).as_deref(), Some("/srv/a b.img"));
        assert_eq!(file_in("iBlock device: sda  UDEV PATH: /dev/sda  readonly: 0"), None);
    }
}
