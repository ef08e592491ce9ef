//! NVMe controllers: their state, the ways to a namespace, queues, interrupts and the NUMA node they are on.

use std::collections::BTreeSet;

use terms::NvmeTransport;
use terms::diagnosis::Place;
use terms::inventory::{NumaNode, NvmeController, PciRole};

use crate::check::{Check, Error, Information, Meanwhile, Nothing, Round, Warning, finding};
use crate::machine::{Machine, drive_place};
use crate::remedy::Found;
use crate::words::{count, list, number, significant_ratio};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "controller-not-live",
        severity: Error,
        looks_at: "`/sys/class/nvme/nvme*/state`, `ana_state` of the ways to each namespace",
        rule: "a controller is not `live`, or a way is neither `optimized` nor `non-optimized`",
        fixes: false,
        look: live,
    },
    Check {
        id: "paths-unused",
        severity: Information,
        looks_at: "`/sys/class/nvme-subsystem/*/iopolicy` of namespaces with several good ways",
        rule: "the policy `numa` sends everything over one of them",
        fixes: true,
        look: paths,
    },
    Check {
        id: "queues-below-processors",
        severity: Information,
        looks_at: "`/sys/class/nvme/nvme*/queue_count`, the number of processors",
        rule: "there are fewer I/O queues than processors, so some share one",
        fixes: false,
        look: queues,
    },
    Check {
        id: "interrupts-far",
        severity: Warning,
        looks_at: "`numa_node` of each NVMe controller, `effective_affinity_list` of its interrupts, distances of NUMA nodes",
        rule: "no interrupt of the drive is taken on the NUMA node that it is plugged in",
        fixes: false,
        look: interrupts,
    },
];

/// How a controller comes back. `nvme reset` is for those that are live: the kernel refuses it for all others
/// (`nvme_change_ctrl_state` in its `drivers/nvme/host/core.c`).
fn brought_back(found: Found, controller: &NvmeController, state: &str) -> Found {
    match &controller.pci_address {
        None => found
            .advise(
                "The kernel tries again by itself until `ctrl_loss_tmo` is over, and takes the controller away then. Bring the \
                 network or the target back; when it was taken away, `nvme connect` again.",
            )
            .look("nvme list-subsys"),
        Some(address) if state == "dead" => found
            .advise("The kernel's messages say why. Where the drive still answers, it comes back as a new one.")
            .run(
                Meanwhile("what is under way on its namespaces fails, and an array may throw them out".to_owned()),
                format!("echo 1 | tee /sys/bus/pci/devices/{address}/remove"),
            )
            .run(Nothing, "echo 1 | tee /sys/bus/pci/rescan"),
        Some(_) => found.advise("It is between two states. Look again in a minute; the kernel's messages say why."),
    }
}

fn live(machine: &Machine, round: &mut Round) {
    for controller in &machine.detail.controllers {
        let place = Place::new("controller", &controller.name);
        let Some(state) = &controller.state else {
            round.unknown(&place, format!("`/sys/class/nvme/{}/state` tells nothing", controller.name));
            continue;
        };
        round.look();
        if state == "live" {
            continue;
        }
        let namespaces = machine.inventory.drives.iter().filter(|drive| {
            let nvme = drive.detail.as_ref().and_then(|detail| detail.nvme.as_ref());
            nvme.is_some_and(|nvme| nvme.controllers.contains(&controller.name))
        });
        let names: Vec<&str> = namespaces.map(|drive| drive.kernel_name.as_str()).collect();
        let cost =
            format!("{} ({}) cannot be reached through it", count(number(names.len()), "namespace"), list(&names));
        let found = finding(Error, &place, format!("the controller is `{state}`"), cost)
            .seen(format!("/sys/class/nvme/{}/state", controller.name), state);
        round.find(brought_back(found.look("dmesg"), controller, state));
    }
    for drive in &machine.inventory.drives {
        let paths = drive.detail.as_ref().and_then(|detail| detail.nvme.as_ref()).map(|nvme| &nvme.paths);
        for path in paths.into_iter().flatten() {
            let Some(state) = &path.state else { continue };
            if ["optimized", "non-optimized"].contains(&state.as_str()) {
                continue;
            }
            let all = paths.map_or(0, Vec::len);
            round.find(
                finding(
                    Error,
                    &drive_place(drive),
                    format!("the way {} is `{state}`", path.name),
                    format!("1 of {} is lost: what the others carry is all there is", count(number(all), "way")),
                )
                .seen(format!("/sys/class/nvme/{}/{}/ana_state", path.controller, path.name), state)
                .advise("See whether the target or the network took it away.")
                .look("nvme list-subsys"),
            );
        }
    }
}

fn paths(machine: &Machine, round: &mut Round) {
    for drive in &machine.inventory.drives {
        let Some(nvme) = drive.detail.as_ref().and_then(|detail| detail.nvme.as_ref()) else { continue };
        let good = nvme.paths.iter().filter(|path| path.state.as_deref() == Some("optimized")).count();
        if good < 2 {
            continue;
        }
        let place = drive_place(drive);
        round.look();
        let Some(controller) = machine.controller(drive) else {
            round.unknown(&place, "its controllers are not known");
            continue;
        };
        let (Some(policy), Some(subsystem)) = (&controller.path_policy, &controller.subsystem) else {
            round.unknown(&place, "its subsystem tells no `iopolicy`");
            continue;
        };
        if policy != "numa" {
            continue;
        }
        let file = format!("/sys/class/nvme-subsystem/{subsystem}/iopolicy");
        round.find(
            finding(
                Information,
                &place,
                format!("1 of {good} good ways is used"),
                format!("the others carry nothing: at most 1/{good} of what they could together"),
            )
            .seen(file.clone(), policy)
            .advise("Let requests take turns.")
            .fix(file, policy.clone(), "round-robin"),
        );
    }
}

fn queues(machine: &Machine, round: &mut Round) {
    for controller in machine.detail.controllers.iter().filter(|controller| controller.transport == NvmeTransport::Pcie)
    {
        let place = Place::new("controller", &controller.name);
        let Some(queues) = round.ask(&place, &controller.queues) else { continue };
        round.look();
        let cpus = machine.inventory.cpus;
        // One of them is the admin queue.
        let queues = queues.saturating_sub(1);
        if queues >= cpus || queues == 0 {
            continue;
        }
        round.find(
            finding(
                Information,
                &place,
                format!("{cpus} processors share {}", count(u64::from(queues), "I/O queue")),
                format!(
                    "up to {} processors wait for one another's lock at each request",
                    cpus.div_ceil(queues)
                ),
            )
            .seen(format!("/sys/class/nvme/{}/queue_count", controller.name), queues + 1)
            .advise("Most drives have a fixed number. `nvme.poll_queues` and `nvme.write_queues` take from it: see whether they are set."),
        );
    }
}

fn interrupts(machine: &Machine, round: &mut Round) {
    let Some(nodes) = round.ask(&Place::machine(), &machine.detail.numa) else { return };
    // All memory and every processor is equally near.
    if nodes.len() < 2 {
        return;
    }
    for device in machine.inventory.pci.iter().filter(|device| device.role == PciRole::Nvme) {
        let place = machine.link_place(&device.address);
        let Some(detail) = device.detail.as_deref() else { continue };
        round.look();
        let Some(home) = detail.numa_node else {
            round.unknown(&place, format!("`/sys/bus/pci/devices/{}/numa_node` tells none", device.address));
            continue;
        };
        let Some(interrupts) = round.ask(&place, &detail.interrupts) else { continue };
        let Some(near) = nodes.iter().find(|node| node.node == home) else {
            round.unknown(&place, format!("there is no NUMA node {home}"));
            continue;
        };
        let taken: BTreeSet<u32> = interrupts.iter().flat_map(|interrupt| numbers(&interrupt.cpus)).collect();
        let own = numbers(&near.cpus);
        if taken.is_empty() || own.is_empty() || taken.iter().any(|cpu| own.contains(cpu)) {
            continue;
        }
        let far = nodes.iter().find(|node| numbers(&node.cpus).iter().any(|cpu| taken.contains(cpu)));
        let distance = far.and_then(|far| distance(near, far, nodes));
        let times = distance.map_or_else(
            || "farther".to_owned(),
            // A node's distance to itself is 10 (ACPI Specification, System Locality Information Table).
            |distance| format!("{} times as far", significant_ratio(f64::from(distance), 10.0)),
        );
        let shown: Vec<String> = interrupts.iter().take(4).map(|irq| format!("{}: {}", irq.number, irq.cpus)).collect();
        let other = far.map_or(0, |far| far.node);
        round.find(
            finding(
                Warning,
                &place,
                format!("the drive is on NUMA node {home} and all its interrupts are taken on node {other}"),
                format!("every completion crosses between sockets; memory there is {times} from the drive as its own"),
            )
            .seen(format!("/sys/bus/pci/devices/{}/numa_node", device.address), home)
            .seen("/proc/irq/*/effective_affinity_list", list(&shown))
            .advise(format!(
                "Run what uses the drive on node {home}. The kernel places the interrupts of NVMe queues itself; see whether \
                 processors of node {home} are offline or isolated."
            ))
            .run(Nothing, format!("numactl --cpunodebind={home} --membind={home} …")),
        );
    }
}

/// From the list of the node's distances, which are in the order of nodes.
fn distance(from: &NumaNode, to: &NumaNode, all: &[NumaNode]) -> Option<u32> {
    let at = all.iter().position(|node| node.node == to.node)?;
    from.distances.get(at).copied()
}

/// The numbers of a list such as `0-3,8`. A range of more than 8192 processors is no list of a real machine.
fn numbers(list: &str) -> BTreeSet<u32> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?);
        (to.checked_sub(from)? <= 8192).then_some(from..=to)
    };
    list.split(',').filter_map(range).flatten().collect()
}
