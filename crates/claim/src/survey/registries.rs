//! What layers themselves say they are made of: a second opinion beside sysfs' holders.

use host::{Devno, Host, HostError, find_program};
use terms::{Cmd, Nanos};

use super::exports;
use super::files::Named;
use super::listing::{Owned, names};
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

/// What a registry lists.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Devices.
    pub(crate) devices: Vec<Listed>,
    /// Files that pools and targets are made of, as they name them.
    pub(super) files: Vec<Named>,
}

type Answer = Result<Vec<Listed>, Doubt>;

/// Every registry, with a name for messages.
pub(crate) fn all(host: &dyn Host) -> [(&'static str, Result<Registry, Doubt>); 5] {
    let devices = |answer: Answer| Ok(Registry { devices: answer?, files: Vec::new() });
    let paths = |answer: Result<Owned, Doubt>| sorted(host, answer?);
    [
        ("/proc/mdstat", devices(arrays(host))),
        ("mappings (`dmsetup deps`)", devices(mappings(host))),
        ("btrfs", devices(btrfs(host))),
        ("ZFS pools", paths(vdevs(host))),
        ("targets for other machines", paths(exports::read(host))),
    ]
}

/// Adds what is not there yet: two files may tell the same.
fn add<T: PartialEq>(found: &mut Vec<T>, one: T) {
    if !found.contains(&one) {
        found.push(one);
    }
}

/// Devices and files among paths. A node is one wherever it lies, and behind a link too. One of a pool that is not there was
/// taken away with its device, and nobody can name it either. A target keeps the path that somebody typed: it may have been a
/// link that is gone, and what it led to is served still.
fn sorted(host: &dyn Host, owned: Owned) -> Result<Registry, Doubt> {
    let mut registry = Registry::default();
    for (path, owner) in owned {
        // Memory that is mounted there has files.
        let is_node = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
        match behind_node(host, &path)? {
            Some(devno) => add(&mut registry.devices, Listed { devno, owner }),
            None if matches!(owner, Owner::Target(_)) && !host.exists(&path)? => {
                return Err(Doubt::words(format!("{owner} has `{path}`, which leads nowhere now")));
            }
            None if is_node => {}
            None => add(&mut registry.files, Named { path, user: owner.to_string() }),
        }
    }
    Ok(registry)
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

/// Pools and the paths in them. Nothing to ask where the module is not loaded.
fn vdevs(host: &dyn Host) -> Result<Owned, Doubt> {
    if !host.exists("/proc/spl/kstat/zfs")? {
        return Ok(Vec::new());
    }
    let status = Cmd::new(["zpool", "status", "-P", "-L"]).limit(Nanos::seconds(30));
    Ok(paths_of_pools(&host.run_ok(&status)?.text()))
}

/// Pools and the paths in them, of `zpool status -P -L`. A path may have blanks in it: names end where the head of their
/// table says (cmd/zpool/zpool_main.c of OpenZFS, `print_status_config`).
fn paths_of_pools(text: &str) -> Owned {
    let (mut pool, mut width) = ("", None);
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix("pool: ") {
            (pool, width) = (name, None);
        } else if line.trim_start().starts_with("NAME ") {
            width = line.find(" STATE ");
        } else if let Some(name) = width.map(|width| line.get(..width).unwrap_or(line).trim())
            && name.starts_with('/')
        {
            found.push((name.to_owned(), Owner::Pool(pool.to_owned())));
        }
    }
    found
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
        let table = |rows: &[&str]| {
            let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
            let row = |name: &str, state: &str| format!("\t{name}{:1$}  {state}\n", "", width - name.len());
            let rows: String = rows.iter().map(|name| row(name, "UNAVAIL    0     0     0  was /dev/old")).collect();
            format!("config:\n\n{}{rows}", row("NAME", "STATE     READ WRITE CKSUM"))
        };
        let tank = table(&["tank", "  mirror-0", "    /dev/nvme0n1p1", "    /dev/sdb1"]);
        let other = table(&["b", "  /dev/sdc", "  /srv/my images/\u{e4}", "cache", "  /srv/b"]);
        let text = format!("  pool: tank\n state: ONLINE\n{tank}\nerrors: No known data errors\n\n  pool: b\n{other}");
        let found: Vec<String> =
            paths_of_pools(&text).into_iter().map(|(path, pool)| format!("{pool} {path}")).collect();
        let of = |pool: &str, path: &str| format!("the imported pool `{pool}` {path}");
        assert_eq!(found[..2], [of("tank", "/dev/nvme0n1p1"), of("tank", "/dev/sdb1")]);
        assert_eq!(found[2..], [of("b", "/dev/sdc"), of("b", "/srv/my images/\u{e4}"), of("b", "/srv/b")]);
        assert!(paths_of_pools("no pools available").is_empty());
    }

    proptest! {
        #[test]
        fn whatever_tools_say_nothing_panics(text in "[a-z:(), 0-9\\[\\]\n/]{0,120}") {
            let _ = (members(&text), paths_of_pools(&text), dependencies(&text).is_ok());
        }
    }
}
