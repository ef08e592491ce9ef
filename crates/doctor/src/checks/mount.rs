//! Mounts, swap, loop devices, and whether what is free reaches the drives.

use terms::command::quote;
use terms::diagnosis::{Place, Severity};
use terms::inventory::{Meaning, Node};

use crate::check::{Check, Data, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place, sysfs};
use crate::remedy::Found;
use crate::words::list;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "barriers-off",
        severity: Error,
        looks_at: "options in `/proc/self/mountinfo`, or in `/etc/fstab` where that was not read",
        rule: "`nobarrier` or `barrier=0`",
        fixes: false,
        look: barriers,
    },
    Check {
        id: "data-writeback",
        severity: Warning,
        looks_at: "options of ext4 in `/proc/self/mountinfo`, or in `/etc/fstab` where that was not read",
        rule: "`data=writeback`",
        fixes: false,
        look: writeback,
    },
    Check {
        id: "discard-blocked",
        severity: Information,
        looks_at: "`queue/discard_max_bytes` of each layer and of what is below it",
        rule: "0 at a layer, and more below it: trims do not get through",
        fixes: false,
        look: discard,
    },
    Check {
        id: "swap-on-mirror",
        severity: Information,
        looks_at: "`/proc/swaps`, levels of the arrays below",
        rule: "swap space lies on a mirror",
        fixes: false,
        look: swap,
    },
    Check {
        id: "swap-on-zfs",
        severity: Warning,
        looks_at: "`/proc/swaps`",
        rule: "swap space is a volume of ZFS",
        fixes: false,
        look: swap_on_zfs,
    },
    Check {
        id: "loop-buffered",
        severity: Information,
        looks_at: "`loop/dio` of loop devices that can be written",
        rule: "the page cache lies between the loop device and its file",
        fixes: false,
        look: loops,
    },
];

/// What a file system is mounted with, or is to be.
struct Set<'a> {
    target: &'a str,
    kind: &'a str,
    options: Vec<&'a str>,
    /// Where that stands.
    file: String,
    is_mounted: bool,
}

impl Set<'_> {
    fn place(&self) -> Place {
        Place::new("file system", format!("{} ({})", self.target, self.kind))
    }

    /// The finding, with where it was seen.
    fn found(&self, severity: Severity, what: String, cost: &str) -> Found {
        finding(severity, &self.place(), what, cost).seen(&self.file, self.options.join(","))
    }

    fn how(&self) -> &'static str {
        if self.is_mounted { "mounted" } else { "it is to be mounted" }
    }
}

/// File systems of devices with their options: those that are mounted, or those that the machine is told to mount where nobody read these.
fn set<'a>(machine: &Machine<'a>, round: &mut Round) -> Vec<Set<'a>> {
    let mounted = machine.mounted(round).into_iter().map(|mount| Set {
        target: &mount.target,
        kind: &mount.kind,
        options: mount.options.iter().map(String::as_str).collect(),
        file: "/proc/self/mountinfo".to_owned(),
        is_mounted: true,
    });
    let lines = machine.detail.configuration.fstab.known().and_then(Option::as_ref).into_iter().flatten();
    let listed = lines.filter_map(|line| {
        let [_, target, kind, options, ..] = &line.fields[..] else { return None };
        let options = options.split(',').collect();
        let file = format!("{} line {}", line.file, line.line);
        target.starts_with('/').then_some(Set { target, kind, options, file, is_mounted: false })
    });
    if machine.detail.mounts.known().is_some() { mounted.collect() } else { listed.collect() }
}

fn barriers(machine: &Machine, round: &mut Round) {
    for own in set(machine, round) {
        round.look();
        let off = |option: &&&str| ["nobarrier", "barrier=0", "barrier=off"].contains(*option);
        let Some(option) = own.options.iter().find(off) else { continue };
        let commit = own.options.iter().find_map(|option| option.strip_prefix("commit=")).unwrap_or("5");
        let cost = format!(
            "0 flushes reach the drives: after a power cut not only the last {commit} s are lost, the journal itself may be out of order, \
             and the file system damaged"
        );
        let found = own
            .found(Error, format!("{} with `{option}`", own.how()), &cost)
            .advise("Take the option out of `/etc/fstab` as well. Drives with protection against power loss answer a flush at once.");
        round.find(if own.is_mounted {
            let on = if own.kind.starts_with("ext") { "barrier=1" } else { "barrier" };
            found.run(Nothing, format!("mount -o remount,{on} {}", quote(own.target)))
        } else {
            found.look(format!("findmnt {}", quote(own.target)))
        });
    }
}

fn writeback(machine: &Machine, round: &mut Round) {
    for own in set(machine, round).into_iter().filter(|own| ["ext3", "ext4"].contains(&own.kind)) {
        round.look();
        if !own.options.contains(&"data=writeback") {
            continue;
        }
        // The kernel's Documentation/admin-guide/ext4.rst, `data=`. A mount keeps its mode until it is unmounted.
        let found = own
            .found(
                Warning,
                "metadata may be written before the data that it is of".to_owned(),
                "after 1 crash or power cut files may hold what stood in their blocks before, also what others had deleted, and no check finds \
                 it",
            )
            .advise(
                "Take `data=writeback` out of `/etc/fstab`, where it stands, and mount anew: `data=ordered` is the default. Where it does \
                 not stand there it is a default of the file system itself (tune2fs(8), `-o`), or of the kernel's command line \
                 (`rootflags=`).",
            )
            .look("grep data= /etc/fstab");
        // What the machine runs from is mounted anew when it starts.
        round.find(if own.target == "/" || !own.is_mounted {
            found
        } else {
            found.run(Nothing, format!("umount {0} && mount {0}", quote(own.target)))
        });
    }
}

/// What ext4 shows among the options of one that it writes no more to, or has shut down (`_ext4_show_options` in the kernel's
/// `fs/ext4/super.c`, since Linux 6.15). The others are `rw` still.
const STOPPED: [&str; 2] = ["emergency_ro", "shutdown"];

/// File systems that were stopped, as their options tell.
pub(super) fn stopped(machine: &Machine, round: &mut Round) {
    for mount in machine.mounted(round) {
        round.look();
        if !mount.options.iter().any(|option| STOPPED.contains(&option.as_str())) {
            continue;
        }
        round.find(
            finding(
                Error,
                &Place::new("file system", format!("{} ({})", mount.target, mount.kind)),
                "the kernel stopped it after an error",
                "0 bytes are written to it since then, and what programs had not yet written is lost",
            )
            .seen("/proc/self/mountinfo", mount.options.join(","))
            .advise("Copy what is needed, find what failed below it, then check it while it is not mounted.")
            .look("dmesg | grep -i ext4"),
        );
    }
}

fn discard(machine: &Machine, round: &mut Round) {
    for node in machine.detail.nodes.iter().filter(|node| node.partition.is_none() && !node.on.is_empty()) {
        let at = place(node);
        let below: Vec<&Node> = node.on.iter().filter_map(|name| machine.node(name)).collect();
        if below.is_empty() {
            continue;
        }
        let mut reaches = true;
        for under in &below {
            reaches &= round.ask(&at, &under.queue.discard_max).is_some_and(|most| most.0 > 0);
        }
        if !reaches {
            continue;
        }
        round.look();
        let Some(most) = round.ask(&at, &node.queue.discard_max) else { continue };
        if most.0 > 0 {
            continue;
        }
        let names: Vec<&str> = below.iter().map(|under| under.name.as_str()).collect();
        // Nobody told how large it is.
        let all = if node.size.0 == 0 { "what was ever written".to_owned() } else { format!("all of {}", node.size) };
        let found = finding(
            Information,
            &at,
            format!("trims do not get through to {}", list(&names)),
            format!(
                "the drives take {all} for used for ever: they have only their spare blocks to work with, and copy more for each \
                 write"
            ),
        )
        .seen(sysfs(node, "queue/discard_max_bytes"), 0)
        .seen(format!("/sys/class/block/{}/queue/discard_max_bytes", names.first().unwrap_or(&"")), "more than 0");
        round.find(let_through(machine, found, node));
    }
}

fn let_through(machine: &Machine, found: Found, node: &Node) -> Found {
    let name = quote(node.dm.as_ref().map_or(node.name.as_str(), |dm| dm.name.as_str()));
    if node.kind == "crypt" {
        let found = found
            .advise("A choice: whoever holds the drive then sees which blocks are in use. Never with a hidden volume of VeraCrypt.");
        let targets = node.dm.as_ref().and_then(|dm| dm.targets.known()).into_iter().flatten();
        let crypt = targets.into_iter().find_map(|target| match &target.meaning {
            Meaning::CryptMapping(crypt) => Some(crypt),
            _ => None,
        });
        match crypt {
            Some(crypt) => super::crypt::with_flags(found, node, crypt, &["allow_discards"], &[]),
            // Which flags it has, and would lose, is not known.
            None => found.look(format!("cryptsetup status {name}")),
        }
    } else if node.md.as_ref().is_some_and(super::array::is_parity) {
        found
            .advise(
                "Parity is only right if the drives give noughts for what was trimmed. Where the makers of all members say that they \
                 do, the kernel can be told, before the array is assembled.",
            )
            .look("lsblk --discard")
            .run(
                Data("what is rebuilt from parity, if one of the drives gives anything but noughts".to_owned()),
                "echo options raid456 devices_handle_discard_safely=Y > /etc/modprobe.d/raid456.conf",
            )
    } else if node.kind == "integrity" {
        let targets = node.dm.as_ref().and_then(|dm| dm.targets.known()).into_iter().flatten();
        let mode = targets.into_iter().find_map(|target| match &target.meaning {
            Meaning::IntegrityHeader(integrity) => Some(integrity.mode.as_str()),
            _ => None,
        });
        // The mode is not stored: what is opened anew without it has a journal.
        let mode = match mode {
            Some("B") => " --integrity-bitmap-mode",
            Some("D") => " --integrity-no-journal",
            _ => "",
        };
        let device = node.on.first().and_then(|name| machine.node(name)).map_or_else(|| "DEVICE".to_owned(), path);
        found.advise("It has to be asked for each time the device is opened. Unmount or stop what is on it first.").run(
            Nothing,
            format!("integritysetup close {name} && integritysetup open --allow-discards{mode} {device} {name}"),
        )
    } else {
        found.advise("See what this layer needs to pass them on.").look(format!("lsblk --discard {}", path(node)))
    }
}

fn swap(machine: &Machine, round: &mut Round) {
    for swap in round.ask(&Place::machine(), &machine.detail.swaps).into_iter().flatten() {
        let Some(name) = &swap.node else { continue };
        round.look();
        let on = machine.down(name);
        let mirror = |node: &&Node| {
            let level = node.md.as_ref().map(|md| md.level.as_str());
            level.is_some_and(|level| ["raid1", "raid10"].contains(&level)) || node.kind == "raid1"
        };
        let Some(array) = on.iter().copied().find(mirror) else { continue };
        round.find(
            finding(
                Information,
                &Place::new("swap", &swap.device),
                format!("it lies on the mirror {}", path(array)),
                format!(
                    "{} of {} are in use: pages that change while they are written leave copies that differ, which a check counts as \
                     mismatches, and swapping shares the drives with what is measured",
                    swap.used, swap.size
                ),
            )
            .seen("/proc/swaps", format!("{} {} used", swap.device, swap.used.0))
            .advise("Leave it, and know where mismatches come from; switch it off while measuring.")
            .run(Nothing, format!("swapoff {}", quote(&swap.device))),
        );
    }
}

/// OpenZFS's manual, “FAQ”, “Using a zvol for a swap device on Linux”: writing to a volume takes memory, which is what swapping is to free.
fn swap_on_zfs(machine: &Machine, round: &mut Round) {
    for swap in round.ask(&Place::machine(), &machine.detail.swaps).into_iter().flatten() {
        round.look();
        let name = swap.node.as_ref().map_or(swap.device.clone(), |node| format!("/dev/{node}"));
        if !["/dev/zd", "/dev/zvol/"].iter().any(|start| name.starts_with(start)) {
            continue;
        }
        round.find(
            finding(
                Warning,
                &Place::new("swap", &swap.device),
                "it is a volume of ZFS",
                format!(
                    "{} of {} are in use: to write a page out ZFS needs memory, which a machine that swaps has not, and both may wait for each \
                     other for ever",
                    swap.used, swap.size
                ),
            )
            .seen("/proc/swaps", format!("{} {} used", swap.device, swap.used.0))
            .advise("Give it a partition or an array of its own, or do without; switch this one off while memory is free.")
            .run(Nothing, format!("swapoff {}", quote(&swap.device))),
        );
    }
}

fn loops(machine: &Machine, round: &mut Round) {
    for node in machine.detail.nodes.iter().filter(|node| !node.read_only) {
        let Some(backing) = &node.backing else { continue };
        let at = place(node);
        round.look();
        if round.ask(&at, &backing.direct) != Some(&false) {
            continue;
        }
        round.find(
            finding(
                Information,
                &at,
                "the page cache lies between it and its file",
                "what is read is kept 2 times in memory, and a rate measured here is that of memory",
            )
            .seen(sysfs(node, "loop/dio"), 0)
            .seen(sysfs(node, "loop/backing_file"), &backing.file)
            .advise("Leave the cache out. The file's own file system must be able to.")
            .run(Nothing, format!("losetup --direct-io=on {}", path(node))),
        );
    }
}

/// Is something mounted that lies on drives to which trims get through, and that nobody trims while it is used?
pub(super) fn wants_trim(machine: &Machine, round: &mut Round) -> Vec<String> {
    let mut targets = Vec::new();
    for mount in round.ask(&Place::machine(), &machine.detail.mounts).into_iter().flatten() {
        let Some(node) = mount.node.as_deref().and_then(|name| machine.node(name)) else { continue };
        let while_used = mount.options.iter().any(|option| option.starts_with("discard"));
        let read_only = mount.options.iter().any(|option| option == "ro");
        let at = Place::new("file system", format!("{} ({})", mount.target, mount.kind));
        if while_used || read_only || targets.contains(&mount.target) {
            continue;
        }
        let reaches = round.ask(&at, &node.queue.discard_max).is_some_and(|most| most.0 > 0);
        if reaches && machine.is_flash(round, &at, &node.name) == Some(true) {
            targets.push(mount.target.clone());
        }
    }
    targets
}
