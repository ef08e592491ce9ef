//! What stands between the kernel's drives and the real ones, and hides them.

use terms::command::quote;
use terms::inventory::{Node, Readout};
use terms::{Drive, DriveTransport};

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::{Machine, drive_place, place};
use crate::remedy::Found;
use crate::words::{count, number};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "drives-hidden",
    severity: Error,
    looks_at: "names of block devices, kinds of lines in `dmsetup table`, paths in `dmsetup status`, models of drives",
    rule: "bcache, a cache or several paths of the device mapper, or a RAID controller stand before drives: no verdict on what they hide; a \
           warning where one of the paths has failed, an error where all have",
    fixes: false,
    look: hidden,
}];

/// Kinds of lines of the device mapper, what they are, and what tells more.
const TARGETS: [(&str, &str, &str); 4] = [
    ("cache", "a cache (dm-cache)", "lvs -a -o +cache_mode,cache_dirty_blocks"),
    ("writecache", "a cache for writes (dm-writecache)", "lvs -a"),
    ("multipath", "several paths to one drive (multipath)", "multipath -ll"),
    ("vdo", "deduplication (VDO)", "lvs -a"),
];

/// How RAID controllers call the volumes that they show as drives (their models in INQUIRY).
const VOLUMES: [&str; 6] = ["PERC ", "MegaRAID", "ServeRAID", "LOGICAL VOLUME", "MR9", "RAID "];

fn hidden(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        round.look();
        volume(drive, round);
    }
    for node in &machine.detail.nodes {
        round.look();
        if node.name.starts_with("bcache") {
            let command = format!("grep . /sys/block/{}/bcache/{{state,cache_mode,dirty_data}}", node.name);
            tell(node, "a cache (bcache)", command, round);
        }
        let Some(dm) = &node.dm else { continue };
        let targets = match &dm.targets {
            Readout::Known(targets) => targets,
            Readout::Unknown(why) => {
                round.unknown(&place(node), why);
                continue;
            }
        };
        let found = targets.iter().find_map(|target| TARGETS.iter().find(|(kind, _, _)| *kind == target.kind));
        let mut paths = targets.iter().filter(|target| target.kind == "multipath");
        let status = paths.find_map(|target| round.ask(&place(node), &target.status));
        match status.and_then(|status| failed_paths(machine, node, status)) {
            Some(failed) => round.find(failed),
            None => found.into_iter().for_each(|(_, what, command)| tell(node, what, (*command).to_owned(), round)),
        }
    }
}

/// Each path is told by its number, whether it is active or failed, and how often it failed (`multipath_status` in the kernel's
/// `drivers/md/dm-mpath.c`).
fn failed_paths(machine: &Machine, node: &Node, status: &str) -> Option<Found> {
    let words: Vec<&str> = status.split_whitespace().collect();
    let paths: Vec<(&str, &str)> = words
        .windows(2)
        .filter(|pair| pair[0].contains(':') && ["A", "F"].contains(&pair[1]))
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let name = |number: &str| {
        let below = machine.detail.nodes.iter().find(|below| below.number == number);
        below.map_or_else(|| number.to_owned(), |below| below.name.clone())
    };
    let failed: Vec<String> = paths.iter().filter(|(_, state)| *state == "F").map(|(number, _)| name(number)).collect();
    if failed.is_empty() {
        return None;
    }
    // multipath.conf(5), `no_path_retry`.
    let (severity, cost) = match paths.len() - failed.len() {
        0 => (Error, "0 paths are left: requests wait where it has `queue_if_no_path`, and fail where not".to_owned()),
        left => (Warning, format!("{} left, over which everything goes", count(number(left), "path"))),
    };
    Some(
        finding(
            severity,
            &place(node),
            format!("{} of its {} failed", failed.len(), count(number(paths.len()), "path")),
            cost,
        )
        .seen(format!("dmsetup status {}", quote(node.label.as_deref().unwrap_or(&node.name))), format!("F: {}", failed.join(", ")))
        .advise("Look at what the failed ones go over: the cable, the switch, the port of the storage. They come back by themselves when it does.")
        .look("multipath -ll")
        .look("dmesg"),
    )
}

fn tell(node: &Node, what: &str, command: String, round: &mut Round) {
    let below = match node.on.len() {
        0 => "how many devices are below it is not told".to_owned(),
        some => format!("{} below it", count(number(some), "device")),
    };
    round.find(
        finding(
            Information,
            &place(node),
            format!("this is {what}"),
            format!("{below}; which of them answers a request is not known, and 0 checks here judge that"),
        )
        .seen(format!("/sys/block/{}/slaves", node.name), if node.on.is_empty() { "nothing".to_owned() } else { node.on.join(", ") })
        .advise("Figures of this device are those of whatever answered. Ask it for its state, and measure what is below alone.")
        .look(command),
    );
}

fn volume(drive: &Drive, round: &mut Round) {
    let Some(model) = &drive.model else { return };
    if !VOLUMES.iter().any(|word| model.contains(word))
        || !(drive.transport.is_serial_line() || drive.transport == DriveTransport::Other)
    {
        return;
    }
    round.find(
        finding(
            Information,
            &drive_place(drive),
            "a RAID controller shows a volume as a drive",
            "1 drive is seen; how many there are, their health, the cache and what is missing only the controller knows, and no check \
             here sees it",
        )
        .seen(format!("/sys/block/{}/device/model", drive.kernel_name), model)
        .advise("Ask the maker's own program (`storcli`, `perccli`, `ssacli`). `smartctl` gets to drives behind some controllers.")
        .look("smartctl --scan"),
    );
}
