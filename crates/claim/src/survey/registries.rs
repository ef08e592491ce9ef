//! What layers themselves say they are made of: a second opinion beside sysfs' holders.

use host::{Devno, Host, HostError, find_program};
use terms::{Cmd, Nanos};

use super::files::Named;
use crate::device::{Device, behind_node, present};
use crate::doubt::Doubt;
use crate::examination::Owner;

/// A device that some layer says is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The device.
    pub(crate) devno: Devno,
    /// Whose it is.
    pub(crate) owner: Owner,
}

type Answer = Result<Vec<Listed>, Doubt>;

/// Every registry, with a name for messages.
pub(crate) fn all(host: &dyn Host) -> [(&'static str, Answer); 5] {
    [
        ("/proc/mdstat", arrays(host)),
        ("mappings (`dmsetup deps`)", mappings(host)),
        ("btrfs", btrfs(host)),
        ("ZFS pools", pools(host)),
        ("targets for other machines", targets(host)),
    ]
}

/// Files that pools and targets are made of, as they name them.
pub(super) fn files(host: &dyn Host) -> Result<Vec<Named>, Doubt> {
    let pools = vdevs(host)?.into_iter().map(|(pool, path)| (path, Owner::Pool(pool)));
    let owned = pools.chain(served(host)?.into_iter().map(|(path, words)| (path, Owner::Target(words))));
    // Memory that is mounted there has files.
    let files = owned.filter(|(path, _)| !path.starts_with("/dev/") || path.starts_with("/dev/shm/"));
    Ok(files.map(|(path, owner)| Named { path, user: owner.to_string() }).collect())
}

fn arrays(host: &dyn Host) -> Answer {
    let Some(text) = present(host.read_text("/proc/mdstat"))? else { return Ok(Vec::new()) };
    let mut listed = Vec::new();
    for (array, member) in members(&text) {
        // An array keeps the name of a member that was pulled out: a device that is not there is not the one asked for.
        let Some(device) = Device::named(host, &member)? else { continue };
        listed.push(Listed { devno: device.devno, owner: Owner::Array(array) });
    }
    Ok(listed)
}

/// `md0 : active raid1 nvme1n1[1](F) nvme0n1[0]`: arrays and their members (kernel, drivers/md/md.c, `md_seq_show`).
fn members(mdstat: &str) -> Vec<(String, String)> {
    let lines = mdstat.lines().filter_map(|line| line.split_once(" : ")).filter(|(array, _)| array.starts_with("md"));
    let member = |word: &str| word.split_once('[').map(|(name, _)| name.to_owned());
    lines.flat_map(|(array, rest)| rest.split(' ').filter_map(member).map(|name| (array.to_owned(), name))).collect()
}

fn mappings(host: &dyn Host) -> Answer {
    let any = names(host, "/sys/block")?.iter().any(|name| name.starts_with("dm-"));
    // Without the program, holders in sysfs and the exclusive open are the witnesses.
    if !any || find_program(host, "dmsetup")?.is_none() {
        return Ok(Vec::new());
    }
    dependencies(&host.run_ok(&Cmd::new(["dmsetup", "deps", "--options", "devno"]))?.text())
}

/// `name: 2 dependencies : (259, 0) (8, 1)`, with a tab before the second colon (dmsetup(8)).
fn dependencies(text: &str) -> Answer {
    let mut listed = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("No devices found")) {
        let doubt = || Doubt::words(format!("a line is not understood: {line}"));
        let (head, devices) = line.rsplit_once(':').ok_or_else(doubt)?;
        let (name, count) = head.rsplit_once(": ").ok_or_else(doubt)?;
        let count: usize = count.split(' ').next().and_then(|count| count.parse().ok()).ok_or_else(doubt)?;
        let devices = numbers(devices).filter(|devices| devices.len() == count).ok_or_else(doubt)?;
        listed.extend(devices.into_iter().map(|devno| Listed { devno, owner: Owner::Mapping(name.to_owned()) }));
    }
    Ok(listed)
}

/// `(259, 0) (8, 1)`; `None` where a pair is not understood.
fn numbers(text: &str) -> Option<Vec<Devno>> {
    let pair = |rest: &str| Devno::parse(&rest.split_once(')')?.0.replace(", ", ":"));
    text.split('(').skip(1).map(pair).collect()
}

/// What a mapping says that it is made of; nothing for what is no mapping.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn made_of(host: &dyn Host, devno: Devno) -> Result<Vec<Devno>, HostError> {
    let (major, minor) = (devno.major.to_string(), devno.minor.to_string());
    let outcome =
        host.run(&Cmd::new(["dmsetup", "deps", "--options", "devno", "--major", &major, "--minor", &minor]))?;
    Ok(if outcome.ok() { numbers(&outcome.text()).unwrap_or_default() } else { Vec::new() })
}

/// Devices of mounted btrfs file systems, the second and later ones too, which no other table has
/// (kernel, fs/btrfs/sysfs.c).
fn btrfs(host: &dyn Host) -> Answer {
    let mut listed = Vec::new();
    for id in names(host, "/sys/fs/btrfs")?.into_iter().filter(|name| name.contains('-')) {
        for name in names(host, &format!("/sys/fs/btrfs/{id}/devices"))? {
            let device = Device::named(host, &name)?;
            let device = device.ok_or_else(|| Doubt::words(format!("{id} lists `{name}`, which is not there")))?;
            listed.push(Listed { devno: device.devno, owner: Owner::Btrfs(id.clone()) });
        }
    }
    Ok(listed)
}

/// Devices of imported pools. A device that is missing from its pool has a node that is gone, and nobody can name it either.
fn pools(host: &dyn Host) -> Answer {
    devices(host, vdevs(host)?.into_iter().map(|(pool, node)| (node, Owner::Pool(pool))))
}

/// Those of these paths that are devices.
fn devices(host: &dyn Host, owned: impl Iterator<Item = (String, Owner)>) -> Answer {
    let mut listed = Vec::new();
    for (node, owner) in owned.filter(|(path, _)| path.starts_with("/dev/")) {
        listed.extend(behind_node(host, &node)?.map(|devno| Listed { devno, owner }));
    }
    Ok(listed)
}

/// Pools and the paths in them. Nothing to ask where the module is not loaded.
fn vdevs(host: &dyn Host) -> Result<Vec<(String, String)>, Doubt> {
    if !host.exists("/proc/spl/kstat/zfs")? {
        return Ok(Vec::new());
    }
    let status = Cmd::new(["zpool", "status", "-P", "-L"]).limit(Nanos::seconds(30));
    Ok(paths_of_pools(&host.run_ok(&status)?.text()))
}

/// Pools and the paths in them, of `zpool status -P -L`.
fn paths_of_pools(text: &str) -> Vec<(String, String)> {
    let mut pool = "";
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("pool: ") {
            pool = name;
        } else if let Some(node) = line.split_whitespace().next().filter(|word| word.starts_with('/')) {
            found.push((pool.to_owned(), node.to_owned()));
        }
    }
    found
}

/// Devices that this kernel serves to other machines: NVMe and SCSI targets open them without claiming them
/// (kernel, drivers/nvme/target/configfs.c; drivers/target/target_core_configfs.c).
fn targets(host: &dyn Host) -> Answer {
    devices(host, served(host)?.into_iter().map(|(path, words)| (path, Owner::Target(words))))
}

/// Paths that targets serve, each with the target in words.
fn served(host: &dyn Host) -> Result<Vec<(String, String)>, Doubt> {
    let mut found = Vec::new();
    let nvme = "/sys/kernel/config/nvmet/subsystems";
    let scsi = "/sys/kernel/config/target/core";
    // What is served is told only where configfs is mounted.
    for (module, directory) in [("nvmet", nvme), ("target_core_mod", scsi)] {
        if host.exists(&format!("/sys/module/{module}"))? && !host.exists(directory)? {
            return Err(Doubt::words(format!(
                "`{module}` is loaded, and `{directory}` is not there to tell what it serves"
            )));
        }
    }
    for subsystem in names(host, nvme)? {
        for namespace in names(host, &format!("{nvme}/{subsystem}/namespaces"))? {
            let path = present(host.read_text(&format!("{nvme}/{subsystem}/namespaces/{namespace}/device_path")))?;
            found.extend(path.map(|path| (path, format!("the NVMe target `{subsystem}`"))));
        }
    }
    for backstore in names(host, scsi)?.into_iter().filter(|name| name.contains('_')) {
        // Beside them are files of the backstore itself (`hba_info`).
        for device in names(host, &format!("{scsi}/{backstore}"))?.into_iter().filter(|name| !name.starts_with("hba_"))
        {
            let told = |file| present(host.read_text(&format!("{scsi}/{backstore}/{device}/{file}")));
            let path = match told("udev_path")?.filter(|path| path.starts_with('/')) {
                Some(path) => Some(path),
                None => told("info")?.and_then(|info| backing_file(&info)),
            };
            found.extend(path.map(|path| (path, format!("the SCSI target `{device}`"))));
        }
    }
    Ok(found.into_iter().filter(|(path, _)| path.starts_with('/')).collect())
}

/// The file of a target: `TCM FILEIO ID: 0        File: /srv/a.img  Size: 67108864  Mode: O_DSYNC`
/// (kernel, drivers/target/target_core_file.c, `fd_show_configfs_dev_params`).
fn backing_file(info: &str) -> Option<String> {
    let (path, _) = info.split_once(" File: ")?.1.split_once("  Size: ")?;
    Some(path.to_owned())
}

/// Names in a directory; none where there is no directory.
pub(super) fn names(host: &dyn Host, directory: &str) -> Result<Vec<String>, HostError> {
    match present(host.list(directory)) {
        Ok(names) => Ok(names.unwrap_or_default()),
        // Files among directories, as in configfs.
        Err(HostError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arrays_say_their_members() {
        let text = "Personalities : [raid1] [raid6]\nmd0 : active (auto-read-only) raid1 nvme1n1[1](F) sda2[0]\n      \
                    262080 blocks super 1.2 [2/2] [UU]\n\nmd127 : inactive vdb[0](S)\nunused devices: <none>\n";
        let pair = |array: &str, member: &str| (array.to_owned(), member.to_owned());
        assert_eq!(members(text), [pair("md0", "nvme1n1"), pair("md0", "sda2"), pair("md127", "vdb")]);
    }

    #[test]
    fn mappings_say_what_they_are_made_of() {
        let text = "held: 1 dependencies\t: (259, 0)\na: b: 2 dependencies\t: (8, 1) (8, 2)\nempty: 0 dependencies\t:";
        let listed = dependencies(text).unwrap();
        let words: Vec<String> = listed.iter().map(|listed| format!("{} {}", listed.devno, listed.owner)).collect();
        assert_eq!(words, ["259:0 the mapping `held`", "8:1 the mapping `a: b`", "8:2 the mapping `a: b`"]);
        assert!(dependencies("No devices found").unwrap().is_empty());
        for broken in ["held", "held: 1 dependencies : ", "held: 1 dependencies : (259 0)", "held: x : (1, 2)"] {
            assert!(dependencies(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn pools_say_their_devices() {
        let text = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE\n\ttank  ONLINE\n\t  mirror-0  ONLINE\n\t    /dev/nvme0n1p1  ONLINE 0\n\t    /dev/sdb1 ONLINE\n\n  pool: b\n\t /dev/sdc UNAVAIL\n\t /srv/a.img ONLINE\n";
        let found: Vec<String> = paths_of_pools(text).into_iter().map(|(pool, node)| pool + " " + &node).collect();
        assert_eq!(found, ["tank /dev/nvme0n1p1", "tank /dev/sdb1", "b /dev/sdc", "b /srv/a.img"]);
        assert!(paths_of_pools("no pools available").is_empty());
    }

    #[test]
    fn a_target_tells_its_file() {
        let info = "Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 16384\n        \
                    TCM FILEIO ID: 0        File: /srv/a b.img  Size: 67108864  Mode: O_DSYNC Async: 0";
        assert_eq!(backing_file(info).as_deref(), Some("/srv/a b.img"));
        assert_eq!(backing_file("iBlock device: sda  UDEV PATH: /dev/sda  readonly: 0"), None);
    }

    proptest! {
        #[test]
        fn whatever_tools_say_nothing_panics(text in "[a-z:(), 0-9\\[\\]\n/]{0,120}") {
            let _ = (members(&text), paths_of_pools(&text), backing_file(&text), dependencies(&text).is_ok());
        }
    }
}
