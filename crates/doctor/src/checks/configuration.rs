//! Files in which people name drives.

use terms::diagnosis::Place;
use terms::inventory::{ConfigLine, Pool};

use crate::check::{Check, Nothing, Round, Warning, finding};
use crate::group::leaves;
use crate::machine::Machine;
use crate::remedy::Found;
use crate::words::{count, number};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "kernel-names-in-files",
    severity: Warning,
    looks_at: "`/etc/fstab`, `/etc/crypttab`, `/etc/mdadm/mdadm.conf`, paths of devices in `zpool status -P`",
    rule: "a device is named as the kernel calls it today, such as `/dev/nvme0n1p2` or `/dev/sda`",
    fixes: false,
    look,
}];

fn look(machine: &Machine, round: &mut Round) {
    let files = &machine.detail.configuration;
    for (name, file, take) in [
        ("fstab", &files.fstab, first as fn(&ConfigLine) -> Vec<&str>),
        ("crypttab", &files.crypttab, second),
        ("mdadm.conf", &files.mdadm, devices),
    ] {
        let Some(Some(lines)) = round.ask(&Place::new("file", name), file) else { continue };
        round.look();
        for line in lines {
            for device in take(line).into_iter().filter(|device| is_kernel_name(device)) {
                let at = Place::new("file", format!("{} line {}", line.file, line.line));
                judge(machine, round, &at, device, &line.file);
            }
        }
    }
    let Some(paths) = round.ask(&Place::new("file", "zpool.cache"), &files.zpool_paths) else { return };
    if paths.is_empty() {
        return;
    }
    round.look();
    let named: Vec<&str> = paths.iter().map(String::as_str).filter(|device| is_kernel_name(device)).collect();
    let (of_root, others): (Vec<&str>, Vec<&str>) = named.into_iter().partition(|device| is_of_root(machine, device));
    if !others.is_empty() {
        round.find(of_pools(&others, false));
    }
    if !of_root.is_empty() {
        round.find(of_pools(&of_root, true));
    }
}

/// Is a device of the pool that the machine runs from? One that no pool tells of may be.
fn is_of_root(machine: &Machine, device: &str) -> bool {
    let mounts = machine.detail.mounts.known().into_iter().flatten();
    let mut roots = mounts.filter(|mount| mount.kind == "zfs" && mount.target == "/");
    let Some(root) = roots.next().and_then(|mount| mount.source.split('/').next()) else { return false };
    let holds = |pool: &&Pool| {
        let mut all = Vec::new();
        pool.vdevs.known().into_iter().flatten().for_each(|vdev| leaves(vdev, &mut all));
        all.iter().any(|leaf| leaf.name == device)
    };
    let mut pools = machine.detail.pools.known().into_iter().flatten();
    pools.find(holds).is_none_or(|pool| pool.name == root)
}

/// Pools keep the paths by which they were opened. ZFS finds its devices by their labels where a path is wrong, so that nothing is lost by
/// it, but what `zpool status` shows may then be another drive's name.
fn of_pools(named: &[&str], runs_from_it: bool) -> Found {
    let found = finding(
        Warning,
        &Place::new("file", "zpool.cache"),
        format!("pools name {} as the kernel calls them today", count(number(named.len()), "device")),
        "1 drive more or less, and it is another's name: the pool is found by its labels all the same, and whoever replaces a drive takes \
         the wrong one",
    );
    let found = named.iter().fold(found, |found, device| found.seen("zpool status -P", device));
    if runs_from_it {
        return found
            .advise(
                "The machine runs from this pool, so that nobody can export it. What imports it when the machine starts is to look in \
                 `/dev/disk/by-id`: on Debian and Ubuntu by `ZPOOL_IMPORT_PATH` in `/etc/default/zfs`, after which the first file system \
                 is made anew (`update-initramfs -u`). Until then compare serial numbers before a drive is replaced.",
            )
            .look("zpool status -P")
            .look("lsblk -o NAME,MODEL,SERIAL");
    }
    found
        .advise(
            "Export the pool when nothing uses it, and import it by lasting names: what is on it stays. One that the machine runs from cannot \
             be exported.",
        )
        .look("zpool status -P")
        .run(Nothing, "zpool export POOL")
        .run(Nothing, "zpool import -d /dev/disk/by-id POOL")
}

fn first(line: &ConfigLine) -> Vec<&str> {
    line.fields.first().map(String::as_str).into_iter().collect()
}

/// The first field is the mapping's name.
fn second(line: &ConfigLine) -> Vec<&str> {
    line.fields.get(1).map(String::as_str).into_iter().collect()
}

/// `DEVICE /dev/sda1 …`, `ARRAY … devices=/dev/sda1,/dev/sdb1`. The name of the array itself is no drive's.
fn devices(line: &ConfigLine) -> Vec<&str> {
    match line.fields.first().map(String::as_str) {
        Some("DEVICE") => line.fields.iter().skip(1).map(String::as_str).collect(),
        Some("ARRAY") => {
            let lists = line.fields.iter().filter_map(|field| field.strip_prefix("devices="));
            lists.flat_map(|list| list.split(',')).collect()
        }
        _ => Vec::new(),
    }
}

/// Names that are given in the order in which drives are found. Patterns with `*` name no drive.
fn is_kernel_name(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    let letters = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
        end > 0 && rest[end..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let digits_first = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    ["sd", "vd", "hd", "xvd"].iter().any(|kind| name.strip_prefix(kind).is_some_and(letters))
        || ["nvme", "dm-", "mmcblk"].iter().any(|kind| name.strip_prefix(kind).is_some_and(digits_first))
}

fn judge(machine: &Machine, round: &mut Round, at: &Place, device: &str, source: &str) {
    let kind: String = device.trim_start_matches("/dev/").chars().take(2).collect();
    let alike = machine.inventory.drives.iter().filter(|drive| drive.kernel_name.starts_with(&kind)).count();
    let cost = format!(
        "this machine has {} of that kind, named in the order of probing: when one is added or removed, this name may go to another",
        count(number(alike), "drive")
    );
    round.find(
        finding(Warning, at, format!("it names `{device}`"), cost)
            .seen(source, device)
            .advise("Name it by UUID, or by its link in `/dev/disk/by-id`.")
            .look(format!("lsblk -o NAME,UUID,PARTUUID {device}")),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_today_are_told_from_lasting_ones() {
        for name in ["/dev/sda", "/dev/sdab12", "/dev/nvme0n1p2", "/dev/vdb1", "/dev/dm-3", "/dev/mmcblk0p1"] {
            assert!(is_kernel_name(name), "{name}");
        }
        for name in [
            "/dev/disk/by-id/x",
            "UUID=1",
            "/dev/mapper/a",
            "/dev/vg/lv",
            "/dev/sd*",
            "/dev/md/fast",
            "tmpfs",
            "/dev/sdcard/x",
        ] {
            assert!(!is_kernel_name(name), "{name}");
        }
    }
}
