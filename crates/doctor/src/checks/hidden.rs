//! What stands between the kernel's drives and the real ones, and hides them.

use terms::inventory::{Node, Readout};
use terms::{Drive, DriveTransport};

use crate::check::{Check, Information, Round, finding};
use crate::machine::{Machine, drive_place, place};
use crate::words::{count, number};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "drives-hidden",
    severity: Information,
    looks_at: "names of block devices, kinds of lines in `dmsetup table`, models of drives",
    rule: "bcache, a cache or several paths of the device mapper, or a RAID controller stand before drives: no verdict on what they hide",
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
        found.into_iter().for_each(|(_, what, command)| tell(node, what, (*command).to_owned(), round));
    }
}

fn tell(node: &Node, what: &str, command: String, round: &mut Round) {
    let below = count(number(node.on.len()), "device");
    round.find(
        finding(
            Information,
            &place(node),
            format!("this is {what}"),
            format!("{below} below it, and which of them answers a request is not known: no check here judges that"),
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
