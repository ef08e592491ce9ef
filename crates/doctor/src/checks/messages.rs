//! What the kernel has said since boot.

use std::collections::BTreeSet;

use terms::diagnosis::{Place, Severity};

use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, number};

const LOOKS_AT: &str = "`dmesg`";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "drive-went-away",
        severity: Error,
        looks_at: "`dmesg`, `default_ps_max_latency_us`, `pcie_aspm.policy`, `d3cold_allowed`",
        rule: "an NVMe controller went down or did not come back from sleep",
        fixes: false,
        look: went_away,
    },
    Check {
        id: "checksum-messages",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "a checksum did not match",
        fixes: false,
        look: checksums,
    },
    Check {
        id: "read-write-errors",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "requests failed, timed out, a link was reset or made slower (warning), or an array lost a member (error)",
        fixes: false,
        look: requests,
    },
    Check {
        id: "bandwidth-message",
        severity: Warning,
        looks_at: "`dmesg`, `class` of the PCI devices that it names",
        rule: "the kernel says that a storage controller has less bandwidth than it can use, and its links were not read",
        fixes: false,
        look: bandwidth,
    },
    Check {
        id: "went-read-only",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "a file system was made read-only, was shut down, or found errors in itself",
        fixes: false,
        look: read_only,
    },
];

/// Messages of one kind: each has all the words of one of these lines, in small letters.
type Words = &'static [&'static [&'static str]];

const AWAY: Words = &[
    &["nvme", "controller is down"],
    &["csts=0xffffffff"],
    &["nvme", "device not ready"],
    &["nvme", "removing after probe failure"],
];

/// As btrfs, dm-integrity, ext4, jbd2 and XFS word it.
const CHECKSUMS: Words = &[
    &["btrfs", "csum failed"],
    &["btrfs", "checksum verify failed"],
    &["btrfs", "checksum error"],
    &["checksum failed at"],
    &["integrity aead error"],
    &["ext4-fs error", "checksum"],
    &["ext4", "checksum invalid"],
    &["ext4", "invalid checksum"],
    &["jbd2", "checksum error"],
    &["jbd2", "invalid checksum"],
    &["xfs", "crc error"],
];

const REQUESTS: Words = &[
    &["i/o error"],
    &["i/o timeout"],
    &["nvme", "qid", "timeout"],
    &["read error corrected"],
    &["not correctable"],
    &["hard resetting link"],
    &["limiting sata link speed"],
    &["ncq disabled due to"],
    &["uas_eh_"],
    &["btrfs error", "bdev ", "errs:"],
    &["pcie bus error"],
];

const THROWN_OUT: Words = &[&["disk failure on"], &["kicking non-fresh"]];

const READ_ONLY: Words = &[
    &["remounting filesystem read-only"],
    &["btrfs", "forced readonly"],
    &["xfs", "shutting down filesystem"],
    &["xfs", "has been shut down"],
    &["xfs_do_force_shutdown"],
];

const DAMAGED: Words =
    &[&["ext4-fs error"], &["xfs", "corruption"], &["xfs", "metadata i/o error"], &["btrfs critical", "corrupt"]];

/// Messages of a kind. Those of drives without a medium, and of ports without a drive, say nothing.
fn with<'a>(machine: &Machine<'a>, round: &mut Round, words: Words) -> Vec<&'a str> {
    let Some(messages) = round.ask(&Place::machine(), &machine.detail.linux.messages) else { return Vec::new() };
    round.look();
    let small: Vec<String> = messages.iter().map(|line| line.to_lowercase()).collect();
    let empty = empty_ports(&small);
    let wanted = |line: &str| {
        let is_empty =
            port(line).is_some_and(|port| empty.contains(port)) || NO_MEDIUM.iter().any(|of| line.contains(of));
        !is_empty && words.iter().any(|all| all.iter().all(|word| line.contains(word)))
    };
    let pairs = messages.iter().zip(&small);
    pairs.filter(|(_, small)| wanted(small)).map(|(line, _)| line.as_str()).collect()
}

/// Floppies and discs, which fail to be read when there is none in them.
const NO_MEDIUM: [&str; 2] = ["dev fd", "dev sr"];

/// `ata5: hard resetting link`: the port.
fn port(line: &str) -> Option<&str> {
    let at = line.match_indices("ata").map(|(at, _)| &line[at..]);
    at.filter_map(|rest| rest.split([':', '.']).next()).find(|word| {
        word.strip_prefix("ata")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Ports whose link is down, and of which no message is of a drive (`ata5.00`) or of a link that was up.
fn empty_ports(lines: &[String]) -> BTreeSet<&str> {
    let of = |word: &str| {
        lines.iter().filter(|line| line.contains(word)).filter_map(|line| port(line)).collect::<BTreeSet<_>>()
    };
    let drives = lines.iter().filter_map(|line| port(line).filter(|port| line.contains(&format!("{port}."))));
    &(&of("sata link down") - &of("sata link up")) - &drives.collect()
}

/// What messages of a kind mean.
struct Kind {
    words: Words,
    severity: Severity,
    /// What is so.
    what: &'static str,
    /// What it costs, behind how many messages there are.
    cost: &'static str,
    advice: &'static str,
    /// What shows more of it.
    command: &'static str,
}

const SENT_TO_SLEEP: Kind = Kind {
    words: AWAY,
    severity: Error,
    what: "an NVMe drive went away or did not wake",
    cost: "; every request that was under way failed. Three things put drives to sleep: ",
    advice: "Switch them off one at a time, in this order, and see which it was: `nvme_core.default_ps_max_latency_us=0`, \
             `pcie_aspm=off`, `pcie_port_pm=off` on the kernel's command line. If none helps it is the power supply, the riser or the \
             drive.",
    command: "dmesg | grep -i nvme",
};

const BAD_BLOCKS: Kind = Kind {
    words: CHECKSUMS,
    severity: Error,
    what: "blocks were read that are not what was written",
    cost: ", each a bad block that was read; a mirror repairs it, nothing else does",
    advice: "Scrub what they name, then ask the drives for their health; if several drives are named, test the memory.",
    command: "dmesg | grep -iE 'checksum|csum|crc|aead'",
};

const FAILED_REQUESTS: Kind = Kind {
    words: REQUESTS,
    severity: Warning,
    what: "requests to drives failed or had to be repeated",
    cost: "; each cost up to 30 s of waiting, and what was not repaired by an array failed",
    advice: "Ask the drives that they name for their health; look at cables first where a link was reset or made slower.",
    command: "dmesg | grep -iE 'i/o error|timeout|resetting|link speed|ncq|uas|pcie bus error'",
};

const LOST_MEMBERS: Kind = Kind {
    words: THROWN_OUT,
    severity: Error,
    what: "an array went on without a member",
    cost: "; what stands on it has lost redundancy, if it had any",
    advice: "Find out why the member failed before it is added again: its health, its cable, its power.",
    command: "cat /proc/mdstat",
};

const STOPPED: Kind = Kind {
    words: READ_ONLY,
    severity: Error,
    what: "a file system was made read-only or was shut down",
    cost: ": nothing has been written to it since",
    advice: "Copy what is needed, find what failed below it, then check it while it is not mounted.",
    command: OF_FILE_SYSTEMS,
};

const INCONSISTENT: Kind = Kind {
    words: DAMAGED,
    severity: Error,
    what: "a file system found errors in itself",
    cost: ", each of a place whose content cannot be trusted",
    advice: "Copy what is needed. Ask the drives below it for their health, then check it while it is not mounted: first without \
             changing anything.",
    command: OF_FILE_SYSTEMS,
};

const OF_FILE_SYSTEMS: &str = "dmesg | grep -iE 'ext4|btrfs|xfs'";

/// One finding for all messages of a kind; the first three are shown. `more` is added to what it costs.
fn tell(round: &mut Round, kind: &Kind, lines: &[&str], more: &str) {
    if lines.is_empty() {
        return;
    }
    let cost = format!("{} since boot{}{more}", count(number(lines.len()), "message"), kind.cost);
    let found = finding(kind.severity, &Place::machine(), kind.what, cost);
    let found = lines.iter().take(3).fold(found, |found, line| found.seen("dmesg", line));
    round.find(found.advise(kind.advice).look(kind.command));
}

/// Finds all messages of a kind, and gives them.
fn look_for<'a>(machine: &Machine<'a>, round: &mut Round, kind: &Kind) -> Vec<&'a str> {
    let lines = with(machine, round, kind.words);
    tell(round, kind, &lines, "");
    lines
}

fn went_away(machine: &Machine, round: &mut Round) {
    let lines = with(machine, round, SENT_TO_SLEEP.words);
    let aspm = machine.parameter("pcie_aspm.policy").unwrap_or("not told");
    let apst = machine.parameter("nvme_core.default_ps_max_latency_us");
    let apst = apst.map_or("its limit was not told".to_owned(), |limit| format!("up to {limit} µs"));
    let nvme = machine.inventory.pci.iter().filter(|device| device.role == terms::inventory::PciRole::Nvme);
    let cold: Vec<bool> =
        nvme.filter_map(|nvme| nvme.detail.as_ref()?.d3cold_allowed.known().copied().flatten()).collect();
    let cold = match cold[..] {
        [] => "not told",
        _ if cold.contains(&true) => "allowed",
        _ => "not allowed",
    };
    let more = format!("the drive itself (APST, {apst}), the link (ASPM, `{aspm}`), the slot's power (D3cold, {cold})");
    tell(round, &SENT_TO_SLEEP, &lines, &more);
}

fn checksums(machine: &Machine, round: &mut Round) {
    look_for(machine, round, &BAD_BLOCKS);
}

fn requests(machine: &Machine, round: &mut Round) {
    look_for(machine, round, &FAILED_REQUESTS);
    look_for(machine, round, &LOST_MEMBERS);
}

fn read_only(machine: &Machine, round: &mut Round) {
    let known: BTreeSet<&str> = look_for(machine, round, &STOPPED).into_iter().collect();
    let mut damaged = with(machine, round, INCONSISTENT.words);
    damaged.retain(|line| !known.contains(line));
    tell(round, &INCONSISTENT, &damaged, "");
}

/// `pci 0000:01:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:00:1b.4 (capable of
/// 63.012 Gb/s with 16.0 GT/s PCIe x4 link)` (`__pcie_print_link_status` in `drivers/pci/pci.c`).
struct Limited<'a> {
    address: &'a str,
    has: &'a str,
    at: &'a str,
    can: &'a str,
}

fn limited(line: &str) -> Option<Limited<'_>> {
    let (before, rest) = line.split_once(" available PCIe bandwidth, limited by ")?;
    let (head, has) = before.rsplit_once(": ")?;
    let (at, can) = rest.split_once(" (capable of ")?;
    Some(Limited { address: head.rsplit(' ').next()?, has, at, can: can.strip_suffix(')')? })
}

fn bandwidth(machine: &Machine, round: &mut Round) {
    for line in with(machine, round, &[&["available pcie bandwidth"]]) {
        let Some(said) = limited(line) else { continue };
        let place = Place::new("link", said.address);
        let Some(device) = machine.inventory.pci_device(said.address) else {
            // A graphics card says the same of itself; where all devices were read it is none of storage.
            if let Some(why) = machine.inventory.why_unread("/sys/bus/pci/devices") {
                round.unknown(
                    &place,
                    format!("whether it is of storage was not read: {why}; `lspci -s {}` tells", said.address),
                );
            }
            continue;
        };
        let read = device.detail.as_deref().is_some_and(|detail| detail.link.known().is_some_and(Option::is_some));
        if device.role.is_bridge() || read {
            continue;
        }
        round.find(
            finding(
                Warning,
                &place,
                format!("the kernel says that its way carries {}", said.has),
                format!("it can use {}; the narrowest link on the way is {}", said.can, said.at),
            )
            .seen("dmesg", line)
            .advise("That was so when the kernel found it. Look at both ends of that link now: a slower slot is no fault, a link that was trained down is.")
            .look(format!("lspci -vv -s {}", said.address)),
        );
    }
}
