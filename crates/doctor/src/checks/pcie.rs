//! Links: what they carry, what they could carry, who shares them.

use terms::inventory::{Link, PciDevice, PciRole};

use crate::check::{Check, Error, Information, Round, Warning, finding};
use crate::machine::{Lane, Machine, carried};
use crate::words::{count, list, number, percent, rate};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "link-below-both-ends",
        severity: Error,
        looks_at: "`current_link_speed`, `current_link_width`, `max_link_speed`, `max_link_width` of both ends of each link \
                   that leads to storage",
        rule: "the link is slower or narrower than both of its ends can do: it was trained down",
        fixes: false,
        look: trained_down,
    },
    Check {
        id: "slot-below-drive",
        severity: Warning,
        looks_at: "`max_link_speed`, `max_link_width` of each storage controller and of the port above it",
        rule: "the drive can do more than the port it is plugged in: the board's design, and no fault",
        fixes: false,
        look: slot,
    },
    Check {
        id: "link-below-drive",
        severity: Warning,
        looks_at: "`current_link_speed`, `current_link_width`, `max_link_speed`, `max_link_width` of each storage controller whose \
                   port does not tell what it can do",
        rule: "the link is slower or narrower than the drive can do; whether for the port or for training is not known",
        fixes: false,
        look: one_sided,
    },
    Check {
        id: "uplink-oversubscribed",
        severity: Warning,
        looks_at: "`current_link_speed`, `current_link_width` of each link with several storage controllers behind it, and of \
                   those controllers",
        rule: "drives behind a link can together send more than it carries",
        fixes: false,
        look: uplink,
    },
    Check {
        id: "drive-behind-chipset",
        severity: Information,
        looks_at: "the way from each NVMe drive to the processor",
        rule: "it goes through the chipset, whose own link is shared",
        fixes: false,
        look: chipset,
    },
    Check {
        id: "payload-below-both-ends",
        severity: Information,
        looks_at: "`DevCtl` and `DevCap` in `config` of each storage controller and of the ports above it",
        rule: "packets are smaller than all devices on the way can do",
        fixes: false,
        look: payload,
    },
];

fn files(address: &str, which: &str) -> String {
    format!("/sys/bus/pci/devices/{address}/{which}_link_{{speed,width}}")
}

/// Ends of a link and what it is now; nothing where it is none. Links of tunnels tell a made-up 2.5 GT/s.
fn ends(lane: &Lane, round: &mut Round) -> Option<(Link, Link, Link)> {
    let place = terms::diagnosis::Place::new("link", &lane.device.address);
    let Some(port) = lane.port.detail.as_deref() else {
        round.unknown(&place, format!("nothing is known of the port {} above it", lane.port.address));
        return None;
    };
    let now = (*round.ask(&place, &lane.detail.link)?)?;
    let tunnel = [lane.detail.removable.as_deref(), port.removable.as_deref()].contains(&Some("removable"));
    if tunnel && now.speed <= 2_500 {
        round.unknown(&place, "it goes through a tunnel, which does not tell its speed");
        return None;
    }
    let device = (*round.ask(&place, &lane.detail.best)?)?;
    let mut above = (*round.ask(&place, &port.best)?)?;
    if is_virtual(above) {
        if now.speed < device.speed || now.lanes < device.lanes {
            round.unknown(&place, "its port is one of a virtual machine, which does not tell what the drive hangs on");
            return None;
        }
        above = device;
    }
    round.look();
    // A link that is faster than a port says was told to be: what it runs at the port can do (Raspberry Pi 5, `pciex1_gen=3`).
    Some((now, device.at_least(now), above.at_least(now)))
}

/// No board has a link of 32 lanes. Root ports of virtual machines say that they could have one (QEMU's `hw/pci-bridge/pcie_root_port.c`,
/// `x-width`), whatever a drive that was handed to the machine hangs on.
const fn is_virtual(link: Link) -> bool {
    link.lanes >= 32
}

fn trained_down(machine: &Machine, round: &mut Round) {
    for lane in machine.links() {
        let Some((now, device, port)) = ends(&lane, round) else { continue };
        let both = device.common(port);
        if now.speed >= both.speed && now.lanes >= both.lanes {
            continue;
        }
        let place = machine.link_place(&lane.device.address);
        // Bytes that packets leave of the wire's rate; the formula and its sources are at `Link::carries`.
        let cost = match (carried(now, lane.detail), carried(both, lane.detail)) {
            (Some(now), Some(both)) if both > now => format!(
                "it carries {} of {}: large sequential reads reach {} of what they could",
                rate(now),
                rate(both),
                percent(now / both)
            ),
            _ => format!("it has {} of {} lanes at {} of {} MT/s", now.lanes, both.lanes, now.speed, both.speed),
        };
        let address = &lane.device.address;
        let mut advice = "What is read does not tell why. These look alike: lanes that are not wired in the slot, the riser or the \
                          cable, or go to another slot; a bad contact; a limit that the firmware set (`LnkCtl2`, the slot's \
                          setting). Look at the board's manual and the setting, then seat the drive anew, then change riser or cable."
            .to_owned();
        // Width is not given up to save power.
        if now.lanes >= both.lanes {
            advice.push_str(" Some links rest at a lower speed: read it again under load.");
        }
        round.find(
            finding(Error, &place, format!("the link runs at {now} and both ends can do {both}"), cost)
                .seen(files(address, "current"), now)
                .seen(files(address, "max"), device)
                .seen(files(&lane.port.address, "max"), port)
                .advise(advice)
                .look(format!("grep . {}", files(address, "current")))
                .look(format!("lspci -vv -s {}", lane.port.address)),
        );
    }
}

/// What is at the lower end of a link.
struct End {
    name: &'static str,
    /// What a link that is slower than that end takes a share of.
    most: &'static str,
}

impl End {
    const DRIVE: Self = Self { name: "the drive", most: "the drive's sequential rate" };
    const CONTROLLER: Self = Self { name: "the controller", most: "what its whole link carries" };

    fn of(device: &PciDevice) -> Self {
        if device.role == PciRole::Nvme { Self::DRIVE } else { Self::CONTROLLER }
    }
}

/// Links of which only the drive's end tells what it can do.
fn one_sided(machine: &Machine, round: &mut Round) {
    for device in machine.inventory.pci.iter().filter(|device| !device.role.is_bridge()) {
        let place = machine.link_place(&device.address);
        let Some(detail) = device.detail.as_deref() else { continue };
        let port = device.parent.as_deref().and_then(|parent| machine.inventory.pci_device(parent));
        let above = port.and_then(|port| port.detail.as_deref()).map(|port| &port.best);
        if above.and_then(|best| best.known().copied().flatten()).is_some_and(|best| !is_virtual(best)) {
            round.look();
            continue;
        }
        let Some(Some(now)) = round.ask(&place, &detail.link).copied() else { continue };
        let Some(Some(best)) = round.ask(&place, &detail.best).copied() else { continue };
        // Links of tunnels tell a made-up 2.5 GT/s.
        let port_removable = port.and_then(|port| port.detail.as_deref()?.removable.as_deref());
        if [detail.removable.as_deref(), port_removable].contains(&Some("removable")) && now.speed <= 2_500 {
            round.unknown(&place, "it goes through a tunnel, which does not tell its speed");
            continue;
        }
        round.look();
        if now.speed >= best.speed && now.lanes >= best.lanes {
            continue;
        }
        let end = End::of(device);
        let cost = match (carried(now, detail), carried(best, detail)) {
            (Some(now), Some(best)) if best > now => {
                format!("it carries {} of {}: at most {} of {}", rate(now), rate(best), percent(now / best), end.most)
            }
            _ => format!("it has {} of {} lanes at {} of {} MT/s", now.lanes, best.lanes, now.speed, best.speed),
        };
        let port = device.parent.as_deref();
        let mut found = finding(Warning, &place, format!("the link runs at {now} and {} can do {best}", end.name), cost)
            .seen(files(&device.address, "current"), now)
            .seen(files(&device.address, "max"), best)
            .advise(format!(
                "Host port or training: what the port can do is not known, and decides it. A port that can do no more is the board's \
                 design, and so are lanes that are not wired. If it can do more the link was trained down: seat {} anew, then change \
                 riser or cable.{}",
                end.name,
                // Width is not given up to save power.
                if now.lanes < best.lanes { "" } else { " Some links rest at a lower speed: read it again under load." }
            ));
        found = match port {
            Some(port) => found.look(format!("lspci -vv -s {port}")),
            None => found.look("lspci -tv").look("lspci -vv -s PORT"),
        };
        round.find(found);
    }
}

fn slot(machine: &Machine, round: &mut Round) {
    for lane in machine.links().into_iter().filter(|lane| !lane.device.role.is_bridge()) {
        let Some((_, device, port)) = ends(&lane, round) else { continue };
        let (Some(drive), Some(slot)) = (carried(device, lane.detail), carried(device.common(port), lane.detail))
        else {
            continue;
        };
        if slot >= drive {
            continue;
        }
        let place = machine.link_place(&lane.device.address);
        let end = End::of(lane.device);
        let cost = format!(
            "the slot carries {} of the {} that the link of {} could: at most {} of {}",
            rate(slot),
            rate(drive),
            end.name,
            percent(slot / drive),
            end.most
        );
        round.find(
            finding(Warning, &place, format!("{} can do {device} and its port {port}", end.name), cost)
                .seen(files(&lane.device.address, "max"), device)
                .seen(files(&lane.port.address, "max"), port)
                .advise("The board is made so. A slot with more lanes or a newer generation, if there is one, lets it do more."),
        );
    }
}

fn uplink(machine: &Machine, round: &mut Round) {
    for lane in machine.links() {
        let behind = machine.endpoints(&lane.device.address);
        if behind.len() < 2 {
            continue;
        }
        let place = machine.link_place(&lane.device.address);
        round.look();
        let Some(Some(carries)) = round.ask(&place, &lane.detail.carries) else { continue };
        let Some(asked) = lane.detail.asked else {
            round.unknown(&place, "a controller behind it does not tell what its link carries");
            continue;
        };
        if asked.0 <= carries.rate.0 * 1.001 {
            // The lines of SATA drives that nobody saw may ask for more.
            for sata in behind.iter().filter(|device| device.role == PciRole::Sata) {
                if machine.drives_behind(&sata.address).is_empty()
                    && machine.inventory.why_unread("/sys/block").is_some()
                {
                    round.unknown(&place, format!("what the drives of {} ask for is not known", sata.address));
                }
            }
            continue;
        }
        let drives = machine.named_behind(&lane.device.address);
        let cost = format!(
            "{} behind it can send {} together, and it carries {}: read at once, each gets {} of its rate",
            count(number(behind.len()), "controller"),
            rate(asked.0),
            rate(carries.rate.0),
            percent(carries.rate.0 / asked.0)
        );
        let link = lane.detail.link.known().copied().flatten().map_or_else(String::new, |link| link.to_string());
        round.find(
            finding(Warning, &place, format!("{} share a link that cannot feed them", list(&drives)), cost)
                .seen(files(&lane.device.address, "current"), link)
                .seen("sum over the controllers' links", rate(asked.0))
                .advise(
                    "Move drives that work at the same time, members of one array first, to ports of the processor.",
                ),
        );
    }
}

fn chipset(machine: &Machine, round: &mut Round) {
    let mut asked = 0.0;
    let mut drives: Vec<String> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    let mut uplink = None;
    for device in machine.inventory.pci.iter().filter(|device| device.role == PciRole::Nvme) {
        round.look();
        let Some(detail) = device.detail.as_deref() else {
            round.unknown(&machine.link_place(&device.address), "nothing more is known of the controller");
            continue;
        };
        let Some(chipset) = &detail.chipset else { continue };
        asked += detail.carries.known().copied().flatten().map_or(0.0, |capacity| capacity.rate.0);
        drives.extend(machine.named_behind(&device.address));
        if !reasons.contains(&chipset.because) {
            reasons.push(chipset.because.clone());
        }
        // The port nearest to the processor that is a part of the chipset and has a link of its own.
        let parts = machine.way(&device.address).into_iter().filter(|above| above.role == PciRole::SwitchUpstream);
        let rates = parts.filter_map(|above| above.detail.as_ref()?.chipset.as_ref().and(above.detail.as_ref()));
        uplink = rates.filter_map(|detail| detail.carries.known().copied().flatten()).next_back().or(uplink);
    }
    if reasons.is_empty() {
        return;
    }
    let link = uplink.map_or_else(
        || "a link whose rate shows nowhere".to_owned(),
        |capacity| format!("a link that carries {}", rate(capacity.rate.0)),
    );
    let cost = format!(
        "they can ask {} of {link}, which SATA, network and USB use as well; each request takes 0.1 to 0.2 µs longer each way",
        rate(asked)
    );
    let place = terms::diagnosis::Place::new("link", "chipset");
    let found = finding(
        Information,
        &place,
        format!("{} {} behind the chipset", list(&drives), if drives.len() == 1 { "hangs" } else { "hang" }),
        cost,
    )
    .advise("Where speed matters, put them into slots of the processor.");
    round.find(reasons.into_iter().fold(found, |found, reason| found.seen("/sys/bus/pci/devices", reason)));
}

fn payload(machine: &Machine, round: &mut Round) {
    for device in machine.inventory.pci.iter().filter(|device| !device.role.is_bridge()) {
        let place = machine.link_place(&device.address);
        let way = machine.way(&device.address);
        // What is a part of the processor sends no packets over a link.
        if way.len() < 2 {
            continue;
        }
        let mut payloads = Vec::new();
        for part in &way {
            match part.detail.as_deref().map(|detail| &detail.payload) {
                Some(reading) => payloads.extend(round.ask(&place, reading).map(|payload| payload.map(|p| (part, p)))),
                None => round.unknown(&place, format!("nothing is known of {}", part.address)),
            }
        }
        if payloads.len() < way.len() {
            continue;
        }
        let payloads: Vec<_> = payloads.into_iter().flatten().collect();
        let (Some(now), Some(possible)) =
            (payloads.iter().map(|(_, p)| p.current).min(), payloads.iter().map(|(_, p)| p.maximum).min())
        else {
            continue;
        };
        round.look();
        let Some(link) = device.detail.as_deref().and_then(|detail| detail.link.known().copied().flatten()) else {
            continue;
        };
        let (Some(carries), Some(could)) = (link.carries(now), link.carries(possible)) else { continue };
        if now >= possible {
            continue;
        }
        // Packets of P bytes leave P / (P + 24) of the link (`Link::carries`).
        let cost = format!(
            "a link of {link} carries {} instead of {}, {} less",
            rate(carries.0),
            rate(could.0),
            percent(1.0 - carries.0 / could.0)
        );
        let found = payloads.iter().fold(
            finding(Information, &place, format!("packets carry {now} and could carry {possible}"), cost),
            |found, (part, payload)| {
                let value = format!("MaxPayload {} of {} bytes", payload.current.0, payload.maximum.0);
                found.seen(format!("lspci -vv -s {}", part.address), value)
            },
        );
        round.find(found.advise(
            // The kernel's Documentation/admin-guide/kernel-parameters.txt, `pci=`.
            "The firmware chose the payload. A setting there (“Max Payload Size”), or `pci=pcie_bus_safe` on the kernel's command \
             line, gives all the largest that they can do. `pcie_bus_perf` may give more; it sets read requests as well, and may break \
             hot-plugging and what devices send to one another.",
        ));
    }
}
