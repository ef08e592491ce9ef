//! What the kernel has said since boot.

use std::collections::BTreeSet;

use terms::diagnosis::Place;

use super::message_kinds::{
    BAD_BLOCKS, BEHIND_CONTROLLER, BEYOND, CORRECTED, DEVICE_COUNTERS, DIFFERENT_PARITY, DIRTY_ARRAYS, FAILED_ARRAYS,
    FAILED_REQUESTS, Kind, LEFT_OUT, LOST_DEVICES, LOST_MEMBERS, LOST_SNAPSHOT, NO_REQUESTS, NO_ROOM, NOT_CORRECTED,
    OPTIONAL, OTHER_BLOCKS, REPORTED_MEMBERS, RESETS, SENT_TO_SLEEP, STARTED_SHORT, STOPPED, STUCK, SUSPENDED_POOLS,
    TOO_LARGE, UNMOUNTABLE, Words,
};
use super::{
    PCI, message_arrays, message_controllers, message_daemons, message_drives, message_file_systems, message_hosts,
    message_layers, message_names, message_pools, message_ports, message_programs, message_resets, message_tools,
};
use crate::check::{Check, Error, Round, Warning, finding};
use crate::machine::Machine;
use crate::remedy::Found;
use crate::words::{count, number};

const LOOKS_AT: &str = "`dmesg`, and what was posted of daemons (`mdadm --monitor`, ZED)";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "drive-went-away",
        severity: Error,
        looks_at: "`dmesg`, `default_ps_max_latency_us`, `pcie_aspm.policy`, `d3cold_allowed`, `config` of storage controllers",
        rule: "an NVMe controller went down or did not come back from sleep, a storage controller answers with nothing but ones, it or a SATA drive was given \
               up, or a SATA drive left its port (warning), or the kernel leaves a drive out for its duplicate identifiers (error) or for the size of its blocks (warning)",
        fixes: false,
        look: went_away,
    },
    Check {
        id: "checksum-messages",
        severity: Error,
        looks_at: LOOKS_AT,
        rule: "a checksum did not match (error), or parity or copies (warning)",
        fixes: false,
        look: checksums,
    },
    Check {
        id: "read-write-errors",
        severity: Error,
        looks_at: "`dmesg`, `class` of the PCI devices that it names, what was posted of daemons (`mdadm --monitor`, ZED, `smartd`) and of programs of RAID controllers",
        rule: "requests failed, timed out or went past the end of a device, a drive or a link was reset, made slower or lost packets, or \
               threads that read and write were stuck, a drive is locked, a partition goes on past its end, an array lost a member that it has again, paths of multipath failed, a trim failed, a drive's log tells of its cable or of blocks, a RAID controller lost a battery, nobody watches arrays, a network port receives damaged frames, or a \
               SAS drive or its controller is too warm (warning), errors of a link were corrected or a drive hides blocks (information), or the space below a device is full, an array, a pool or a \
               volume of a RAID controller lost a member, an array was started without one or was not started, or a drive behind a \
               controller fails its own assessment, an NVMe drive warns of itself, a drive is smaller than it says, or a bcache lost its cache (error); the power supply does not hold, interrupts of an NVMe drive or a connection over the network were lost, requests \
               to a device of a pool took longer than 30 s, a program could not read, an enclosure warns (warning), `smartctl` does not know a bridge (information), a drive could not be copied whole, no \
               path to a drive was left, a member of an array is out of date, the bitmap of an array cannot be read, or both sides of a DRBD wrote (error)",
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
        looks_at: "`dmesg`, options in `/proc/self/mountinfo`, and what was posted of daemons (`mdadm --monitor`, ZED)",
        rule: "a file system was made read-only, was shut down, found errors in itself, its check stopped (error) or it could not be mounted (warning), a pool \
               was suspended or not imported, a header of LUKS was not found, a device did not appear at the start (warning), a snapshot was lost, or a thin pool stopped taking writes (a warning where it takes them again); a cache or a pool of LVM is damaged, a VDO has no space or can only be read, \
               a copy of a header of LUKS2 is damaged (error), a pool is of another machine, an XFS has a log that was not replayed (warning), a check found what it would repair or btrfs a block that memory damaged (error), a file system was checked while mounted or a passphrase opens no key (information)",
        fixes: false,
        look: read_only,
    },
];

/// `BLK_STS_NOSPC` in the kernel's `block/blk-core.c`: of a thin volume, or a loop device whose file may grow no further.
const NO_SPACE: Kind = Kind {
    words: &[&["critical space allocation error, dev"]],
    severity: Error,
    what: "what a device takes its space from is full",
    cost: "; each may be a write that was lost, and file systems on the device may be damaged or read-only",
    advice: "Give space to what is below the device that they name: a thin pool, or the file system of the file behind a loop device. \
             Then check the file systems on it. No drive has failed.",
    command: "dmesg | grep -i 'space allocation error'",
};

/// Messages of a kind. Those of drives without a medium, of ports without a drive, and of requests that the kernel does without, say
/// nothing.
fn with<'a>(machine: &Machine<'a>, round: &mut Round, words: Words) -> Vec<&'a str> {
    let Some(messages) = round.ask(&Place::machine(), &machine.detail.linux.messages) else { return Vec::new() };
    round.look();
    let small: Vec<String> = messages.iter().map(|line| line.to_lowercase()).collect();
    let quiet = message_ports::quiet(&small);
    let says_nothing = |line: &str| NO_MEDIUM.iter().chain(&OPTIONAL).any(|of| line.contains(of));
    let wanted = |(at, line): &(usize, &String)| {
        !quiet.contains(at)
            && !says_nothing(line)
            && words.iter().any(|all| all.iter().all(|word| line.contains(word)) && message_programs::is_of(all, line))
    };
    let found = small.iter().enumerate().filter(wanted);
    found.filter_map(|(at, _)| messages.get(at).map(String::as_str)).collect()
}

/// Floppies and discs, which fail to be read when there is none in them. Old kernels write the word out.
const NO_MEDIUM: [&str; 6] = ["dev fd", "dev sr", "[sr", "device fd", "device sr", "/dev/sr"];

/// One finding for all messages of a kind; the first three are shown. `more` is added to what it costs.
fn tell(round: &mut Round, kind: &Kind, lines: &[&str], more: &str) {
    if lines.is_empty() {
        return;
    }
    // Of daemons nobody knows when they wrote it.
    let since = if lines.iter().all(|line| message_daemons::source(line) == "dmesg") { " since boot" } else { "" };
    let cost = format!("{}{since}{}{more}", count(number(lines.len()), "message"), kind.cost);
    let what = match message_daemons::devices(lines).or_else(|| message_names::of(lines)) {
        Some(names) => format!("{} ({names})", kind.what),
        None => kind.what.to_owned(),
    };
    let found = finding(kind.severity, &Place::machine(), what, cost);
    let found =
        lines.iter().take(3).fold(found, |found, line| found.seen(message_daemons::source(line), beginning(line)));
    let command = message_names::put_into(kind.command, lines);
    let commands: BTreeSet<&str> = lines.iter().map(|line| message_daemons::command(line, &command)).collect();
    round.find(commands.into_iter().fold(found.advise(kind.advice), |found, command| found.look(command)));
}

/// What of a message is shown: no kernel writes as much as this (`PRINTKRB_RECORD_MAX` in its `kernel/printk/internal.h` is 1024).
fn beginning(line: &str) -> &str {
    let line = message_programs::parts(line).map_or(line, |(_, said)| said);
    line.char_indices().nth(1024).map_or(line, |(at, _)| &line[..at])
}

/// Finds all messages of a kind, and gives them.
fn look_for<'a>(machine: &Machine<'a>, round: &mut Round, kind: &Kind) -> Vec<&'a str> {
    let lines = with(machine, round, kind.words);
    tell(round, kind, &lines, "");
    lines
}

/// Storage controllers that answer with nothing but ones.
fn silent(machine: &Machine, round: &mut Round) {
    for device in machine.inventory.pci.iter().filter(|device| !device.role.is_bridge()) {
        if !device.detail.as_deref().is_some_and(|detail| detail.silent) {
            continue;
        }
        round.find(
            finding(
                Error,
                &machine.link_place(&device.address),
                "the device answers with nothing but ones",
                "0 requests reach it: it lost its power, or fell off its link, and the kernel still lists it",
            )
            .seen(format!("/sys/bus/pci/devices/{}/config", device.address), "ff ff ff ff …")
            .advise(
                "A restart is not enough: switch the machine off, and on again. If it comes back, look at what puts it to sleep, at its slot and at its \
                 power; if not, it has failed.",
            )
            .look(format!("lspci -vv -s {}", device.address))
            .look("dmesg | grep -i nvme"),
        );
    }
}

/// Devices that LVM calls the same.
pub(super) fn same_volumes(machine: &Machine, round: &mut Round) {
    // The kernel's own messages tell nothing of it, so that those that cannot be read are not missed.
    let messages = machine.detail.linux.messages.known();
    if messages.into_iter().flatten().any(|line| message_programs::parts(line).is_some()) {
        look_for(machine, round, &message_programs::SAME_VOLUMES);
    }
}

fn went_away(machine: &Machine, round: &mut Round) {
    silent(machine, round);
    let left_out: BTreeSet<&str> = look_for(machine, round, &LEFT_OUT).into_iter().filter_map(controller).collect();
    look_for(machine, round, &OTHER_BLOCKS);
    let given_up = with(machine, round, message_hosts::GIVEN_UP.words);
    let messages = machine.detail.linux.messages.known().map_or(&[][..], Vec::as_slice);
    let given_up = message_hosts::of_drives(given_up, messages, round);
    tell(round, &message_hosts::GIVEN_UP, &given_up, "");
    let disabled = message_drives::given_up(&with(machine, round, message_drives::DISABLED.words));
    tell(round, &message_drives::DISABLED, &disabled, "");
    let mut left = message_drives::left(&with(machine, round, message_drives::LEFT.words));
    left.retain(|line| !disabled.iter().any(|told| message_names::of(&[told]) == message_names::of(&[line])));
    tell(round, &message_drives::LEFT, &left, "");
    let mut lines = with(machine, round, SENT_TO_SLEEP.words);
    // What is left out is removed after that, and does not sleep.
    let is_end = |line: &str| line.to_lowercase().contains("removing after probe failure");
    lines.retain(|line| !(is_end(line) && controller(line).is_some_and(|own| left_out.contains(own))));
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

/// `nvme1` of `nvme nvme1: …`.
fn controller(line: &str) -> Option<&str> {
    line.split_once("nvme nvme").map(|(before, _)| &line[before.len() + "nvme ".len()..])?.split(':').next()
}

fn checksums(machine: &Machine, round: &mut Round) {
    // A block that btrfs tells of is counted beside that.
    let mut blocks = with(machine, round, BAD_BLOCKS.words);
    if blocks.iter().any(|line| !line.contains(NO_REQUESTS)) {
        blocks.retain(|line| !line.contains(NO_REQUESTS));
    }
    tell(round, &BAD_BLOCKS, &blocks, "");
    look_for(machine, round, &DIFFERENT_PARITY);
    let checked = with(machine, round, message_programs::DIFFERENT_COPIES.words);
    let differing = message_programs::differing(machine, &checked);
    tell(round, &message_programs::DIFFERENT_COPIES, &differing, "");
}

fn requests(machine: &Machine, round: &mut Round) {
    let mut failed = with(machine, round, FAILED_REQUESTS.words);
    let blocks = with(machine, round, BAD_BLOCKS.words);
    // What the layers above say of a drive that is locked.
    let locked: BTreeSet<String> = look_for(machine, round, &message_drives::LOCKED)
        .iter()
        .filter_map(|line| message_names::of(&[line]))
        .collect();
    let is_locked = |line: &str| message_names::of(&[line]).is_some_and(|drive| locked.contains(&drive));
    // And what they say of one whose space is full.
    let full: BTreeSet<String> =
        with(machine, round, NO_SPACE.words).iter().filter_map(|line| message_names::of(&[line])).collect();
    let is_full = |line: &str| message_names::of(&[line]).is_some_and(|device| full.contains(&device));
    let mut unreadable = with(machine, round, message_drives::UNREADABLE.words);
    unreadable.retain(|line| !is_locked(line));
    tell(round, &message_drives::UNREADABLE, &unreadable, "");
    let unreadable: BTreeSet<String> = unreadable
        .iter()
        .filter_map(|line| message_names::of(&[line]))
        .map(|name| message_names::drive(&name).to_owned())
        .collect();
    let is_told = |line: &str| is_locked(line) || is_full(line) || message_drives::is_of_unreadable(line, &unreadable);
    failed.retain(|line| {
        !is_of_content(line)
            && !is_of_bad_block(line, &blocks)
            && !is_told(line)
            && !message_layers::is_lost_interrupt(line)
    });
    let has = |words: Words, round: &mut Round| !with(machine, round, words).is_empty();
    let advice = if failed.iter().any(|line| line.contains("uas_eh_")) {
        message_resets::AT_USB
    } else if has(message_layers::CUT_OFF.words, round) {
        message_layers::CUT_OFF.advice
    } else if has(message_pools::STOPPED.words, round) || has(LOST_SNAPSHOT.words, round) {
        message_pools::ABOVE
    } else {
        FAILED_REQUESTS.advice
    };
    tell(round, &Kind { advice, ..FAILED_REQUESTS }, &failed, "");
    let mut failing = with(machine, round, BEHIND_CONTROLLER.words);
    failing.retain(|line| !line.contains("SPECIFIED TEMPERATURE"));
    tell(round, &BEHIND_CONTROLLER, &failing, "");
    let warn = with(machine, round, message_daemons::WARNS.words);
    tell(round, &message_daemons::warns(&warn), &warn, "");
    for kind in [
        NO_SPACE,
        message_daemons::TOO_WARM,
        message_hosts::TOO_HOT,
        message_hosts::LOST_CACHE,
        message_hosts::SHORT_VOLUME,
        message_hosts::NO_BATTERY,
        DEVICE_COUNTERS,
        STUCK,
        message_drives::TOO_LONG,
        message_drives::HIDDEN_AREA,
        message_programs::HIDDEN_BLOCKS,
        message_programs::NOT_TRIMMED,
        message_programs::LOST_PATHS,
        message_programs::COUNTERFEIT,
        message_programs::CRITICAL_SECTION,
        FAILED_ARRAYS,
        DIRTY_ARRAYS,
    ] {
        look_for(machine, round, &kind);
    }
    for kind in message_layers::OF_REQUESTS.iter().chain(&message_tools::OF_REQUESTS) {
        look_for(machine, round, kind);
    }
    let few = message_programs::untold(machine, with(machine, round, message_programs::TOO_FEW_FOUND.words));
    tell(round, &message_programs::TOO_FEW_FOUND, &few, "");
    message_controllers::judge(&with(machine, round, message_controllers::WORDS), round);
    let [lost, back] = message_arrays::thrown_out(machine, &with(machine, round, LOST_MEMBERS.words));
    tell(round, &LOST_MEMBERS, &lost, "");
    tell(round, &message_arrays::MEMBERS_CAME_BACK, &back, "");
    let reported = with(machine, round, REPORTED_MEMBERS.words);
    let reported = message_daemons::of_short_arrays(machine, &reported, round);
    tell(round, &REPORTED_MEMBERS, &reported, "");
    let told = with(machine, round, LOST_DEVICES.words);
    let lost = message_daemons::of_lost_devices(machine, &told, round);
    tell(round, &LOST_DEVICES, &lost, "");
    let mut short = message_arrays::short(&with(machine, round, STARTED_SHORT.words));
    short.retain(|line| !message_arrays::is_whole(machine, |name| line.contains(&format!(":{name}:"))));
    tell(round, &STARTED_SHORT, &short, "");
    let mut beyond = with(machine, round, BEYOND.words);
    beyond.retain(|line| !is_empty_drive(line));
    tell(round, &BEYOND, &beyond, "");
    let resets = message_resets::often(&with(machine, round, RESETS.words));
    tell(round, &RESETS, &resets.of_drives, "");
    for port in resets.of_unknown {
        round.unknown(
            &Place::new("port", port),
            "what was reset there again and again is not known to be a drive; `lsusb -t` tells",
        );
    }
    for kind in [NOT_CORRECTED, CORRECTED] {
        let mut lines = with(machine, round, kind.words);
        lines.retain(|line| is_of_storage(machine, round, line));
        tell(round, &kind, &lines, "");
    }
}

/// `sr0: rw=0, want=8, limit=0`: a drive whose medium ends earlier than it says, as many discs do, or which has none.
fn is_empty_drive(line: &str) -> bool {
    let device = line.split_once(": rw=").and_then(|(before, _)| before.rsplit(' ').next()).unwrap_or_default();
    line.ends_with("limit=0") || ["sr", "fd"].iter().any(|start| device.starts_with(start))
}

/// XFS calls it an error of I/O as well where it read what cannot be: EFSCORRUPTED and EFSBADCRC (the kernel's `fs/xfs/xfs_linux.h`), and
/// btrfs has counters of both on one line.
fn is_of_content(line: &str) -> bool {
    if line.contains(NO_REQUESTS) {
        return true;
    }
    line.contains("metadata I/O error") && ["error 117", "error 74"].iter().any(|error| line.ends_with(error))
}

/// `BTRFS info (device sdb1): read error corrected: ino 59747 off 1602211840 (dev …)` of a block whose checksum did not match: no request
/// failed (`btrfs_repair_io_failure` in the kernel's `fs/btrfs/bio.c` words both alike).
fn is_of_bad_block(line: &str, blocks: &[&str]) -> bool {
    let place = line.split_once("read error corrected: ino ").and_then(|(_, rest)| rest.split(" (").next());
    place.is_some_and(|place| blocks.iter().any(|block| block.contains(&format!(" ino {place} "))))
}

/// Drivers of storage controllers, as the kernel puts them before its messages.
const DRIVERS: [&str; 21] = [
    "nvme",
    "ahci",
    "sata_mv",
    "sata_sil24",
    "isci",
    "mptsas",
    "pm80xx",
    "qla2xxx",
    "lpfc",
    "esas2r",
    "3w-9xxx",
    "vmd",
    "mpt2sas",
    "mpt3sas",
    "mpi3mr",
    "megaraid_sas",
    "smartpqi",
    "hpsa",
    "aacraid",
    "arcmsr",
    "mvsas",
];

/// Is a message of a link (`nvme 0000:01:00.0: PCIe Bus Error: …`) one of storage, or of a port above it? Where neither the devices were
/// read nor the driver tells, that is written down.
fn is_of_storage(machine: &Machine, round: &mut Round, line: &str) -> bool {
    let mut words = line.split_whitespace().map(|word| word.trim_end_matches(':'));
    let is_address = |word: &str| word.len() >= 12 && word.matches(':').count() == 2 && word.contains('.');
    let mut driver = "";
    let address = words.find(|word| {
        let found = is_address(word);
        driver = if found { driver } else { word };
        found
    });
    let Some(address) = address else { return false };
    if DRIVERS.contains(&driver) || !machine.endpoints(address).is_empty() {
        return true;
    }
    if let Some(why) = machine.inventory.why_unread(PCI).filter(|_| driver == "pcieport") {
        round.unknown(
            &Place::new("link", address),
            format!("whether storage is behind it was not read: {why}; `lspci -tv` tells"),
        );
    }
    false
}

fn read_only(machine: &Machine, round: &mut Round) {
    super::mount::stopped(machine, round);
    for (kind, lines) in message_pools::stopped(with(machine, round, message_pools::STOPPED.words)) {
        tell(round, &kind, &lines, "");
    }
    look_for(machine, round, &SUSPENDED_POOLS);
    let is_lost = !look_for(machine, round, &LOST_SNAPSHOT).is_empty();
    let of_snapshot = if is_lost { message_file_systems::OF_SNAPSHOT } else { "" };
    for kind in [message_programs::WANTS_A_PERSON, message_programs::NOT_IMPORTED, message_programs::NOT_THERE] {
        look_for(machine, round, &kind);
    }
    for kind in message_layers::OF_VOLUMES.iter().chain(&message_tools::OF_VOLUMES) {
        look_for(machine, round, kind);
    }
    let headless = message_programs::of_nobody(machine, with(machine, round, message_programs::NO_HEADER.words));
    tell(round, &message_programs::NO_HEADER, &headless, "");
    let too_large = look_for(machine, round, &TOO_LARGE);
    let names = |lines: &[&str]| lines.iter().filter_map(|line| message_names::of(&[line])).collect::<BTreeSet<_>>();
    let full = names(&look_for(machine, round, &NO_ROOM));
    let messages = machine.detail.linux.messages.known().map_or(&[][..], Vec::as_slice);
    let mut stopped = message_layers::beyond_memory(with(machine, round, STOPPED.words), messages);
    let known: BTreeSet<&str> = stopped.iter().copied().chain(too_large).collect();
    stopped.retain(|line| message_names::of(&[line]).is_none_or(|device| !full.contains(&device)));
    tell(round, &STOPPED, &stopped, of_snapshot);
    let mut on = BTreeSet::new();
    for kind in &message_file_systems::DAMAGED {
        let mut damaged = message_layers::beyond_memory(with(machine, round, kind.words), messages);
        damaged.retain(|line| !known.contains(line));
        tell(round, kind, &damaged, of_snapshot);
        on.extend(names(&damaged));
    }
    for kind in [UNMOUNTABLE, message_programs::NOT_KNOWN] {
        let lines = message_file_systems::beside(with(machine, round, kind.words), &on);
        tell(round, &kind, &lines, "");
    }
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
            if is_listed(machine, said.address) {
                round.find(narrow(&place, &said, line));
                continue;
            }
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
        round.find(narrow(&place, &said, line));
    }
}

/// Did the kernel list a device as one of storage when it found it (`pci 0000:01:00.0: [1000:00af] type 00 class 0x010700`), or did a driver of
/// storage take it (`nvme nvme1: pci function 0000:01:00.0`, `mpt3sas 0000:01:00.0: …`)?
fn is_listed(machine: &Machine, address: &str) -> bool {
    let (own, taken) = (format!(" {address}: ["), format!(": pci function {address}"));
    let is_of = |line: &str| DRIVERS.iter().any(|driver| line.starts_with(&format!("{driver} {address}: ")));
    let messages = machine.detail.linux.messages.known();
    messages
        .into_iter()
        .flatten()
        .any(|line| (line.contains(&own) && line.contains(" class 0x01")) || line.ends_with(&taken) || is_of(line))
}

fn narrow(place: &Place, said: &Limited, line: &str) -> Found {
    finding(
        Warning,
        place,
        format!("the kernel says that its way carries {}", said.has),
        format!("it can use {}; the narrowest link on the way is {}", said.can, said.at),
    )
    .seen("dmesg", line)
    .advise("That was so when the kernel found it. Look at both ends of that link now: a slower slot is no fault, a link that was trained down is.")
    .look(format!("lspci -vv -s {}", said.address))
}
