//! What the kernel has said since boot.

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
        severity: Warning,
        looks_at: LOOKS_AT,
        rule: "requests failed, timed out, or a link was reset",
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
        rule: "a file system was made read-only because of errors",
        fixes: false,
        look: read_only,
    },
];

/// Messages with one of these words, in small letters.
fn with<'a>(machine: &Machine<'a>, round: &mut Round, words: &[&str]) -> Option<Vec<&'a str>> {
    let messages = round.ask(&Place::machine(), &machine.detail.linux.messages)?;
    round.look();
    let wanted = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word))
    };
    Some(messages.iter().map(String::as_str).filter(wanted).collect())
}

/// One finding for all of the messages; the first three are shown.
fn tell(round: &mut Round, severity: Severity, lines: &[&str], what: &str, why: String, advice: &str, command: &str) {
    let found = finding(severity, &Place::machine(), what, why);
    let found = lines.iter().take(3).fold(found, |found, line| found.seen("dmesg", line));
    round.find(found.advise(advice).look(command));
}

fn went_away(machine: &Machine, round: &mut Round) {
    let words = ["controller is down", "csts=0xffffffff", "device not ready"];
    let Some(lines) = with(machine, round, &words).filter(|lines| !lines.is_empty()) else { return };
    let aspm = machine.parameter("pcie_aspm.policy").unwrap_or("not told");
    let apst = machine.parameter("nvme_core.default_ps_max_latency_us").unwrap_or("not told");
    let nvme = machine.inventory.pci.iter().filter(|device| device.role == terms::inventory::PciRole::Nvme);
    let cold: Vec<bool> =
        nvme.filter_map(|nvme| nvme.detail.as_ref()?.d3cold_allowed.known().copied().flatten()).collect();
    let cold = match cold[..] {
        [] => "not told",
        _ if cold.contains(&true) => "allowed",
        _ => "not allowed",
    };
    tell(
        round,
        Error,
        &lines,
        "an NVMe drive went away or did not wake",
        format!(
            "{} since boot; every request that was under way failed. Three things put drives to sleep: the drive itself (APST, up to \
             {apst} µs), the link (ASPM, `{aspm}`), the slot's power (D3cold, {cold})",
            count(number(lines.len()), "message")
        ),
        "Switch them off one at a time, in this order, and see which it was: `nvme_core.default_ps_max_latency_us=0`, \
         `pcie_aspm=off`, `pcie_port_pm=off` on the kernel's command line. If none helps it is the power supply, the riser or the \
         drive.",
        "dmesg | grep -i nvme",
    );
}

fn checksums(machine: &Machine, round: &mut Round) {
    let words = ["checksum failed", "checksum error", "integrity aead error", "csum failed"];
    let Some(lines) = with(machine, round, &words).filter(|lines| !lines.is_empty()) else { return };
    tell(
        round,
        Error,
        &lines,
        "blocks were read that are not what was written",
        format!(
            "{} since boot, each a bad block that was read; a mirror repairs it, nothing else does",
            count(number(lines.len()), "message")
        ),
        "Scrub what they name, then ask the drives for their health; if several drives are named, test the memory.",
        "dmesg | grep -iE 'checksum|aead'",
    );
}

fn requests(machine: &Machine, round: &mut Round) {
    let words = ["i/o error", "i/o timeout", "read error corrected", "not correctable", "hard resetting link"];
    let Some(lines) = with(machine, round, &words).filter(|lines| !lines.is_empty()) else { return };
    tell(
        round,
        Warning,
        &lines,
        "requests to drives failed",
        format!(
            "{} since boot; each cost up to 30 s of waiting, and what was not repaired by an array failed",
            count(number(lines.len()), "message")
        ),
        "Ask the drives that they name for their health; look at cables first where links were reset.",
        "dmesg | grep -iE 'i/o error|timeout|resetting'",
    );
}

fn read_only(machine: &Machine, round: &mut Round) {
    let Some(lines) = with(machine, round, &["remounting filesystem read-only"]).filter(|lines| !lines.is_empty())
    else {
        return;
    };
    tell(
        round,
        Error,
        &lines,
        "a file system was made read-only",
        format!("{}: nothing has been written to it since", count(number(lines.len()), "time")),
        "Copy what is needed, find what failed below it, then check it while it is not mounted.",
        "fsck -n DEVICE",
    );
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
    let Some(lines) = with(machine, round, &["available pcie bandwidth"]) else { return };
    for line in lines {
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
