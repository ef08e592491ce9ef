//! Saving power: what links and drives save, and what it costs to wake them.

use terms::NvmeTransport;
use terms::diagnosis::Place;

use crate::check::{Check, Information, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, list};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "link-power-saving",
        severity: Information,
        looks_at: "`link/l0s_aspm`, `link/l1_aspm` and so on of NVMe drives (ASPM)",
        rule: "the link may go to sleep between requests",
        fixes: true,
        look: links,
    },
    Check {
        id: "drive-power-saving",
        severity: Information,
        looks_at: "`apsta` of `nvme id-ctrl`; `power/pm_qos_latency_tolerance_us` (APST)",
        rule: "the drive may go to sleep by itself between requests",
        fixes: true,
        look: drives,
    },
    Check {
        id: "cpu-governor",
        severity: Warning,
        looks_at: "`cpufreq/scaling_governor` of every processor, `scaling_driver`",
        rule: "another governor than `performance`; a warning where it holds processors at their lowest frequency",
        fixes: true,
        look: governor,
    },
    Check {
        id: "platform-profile",
        severity: Information,
        looks_at: "`/sys/firmware/acpi/platform_profile`",
        rule: "the machine is told to save power or to be quiet",
        fixes: false,
        look: profile,
    },
];

fn links(machine: &Machine, round: &mut Round) {
    for device in machine.inventory.pci.iter().filter(|device| device.role == terms::inventory::PciRole::Nvme) {
        let place = machine.link_place(&device.address);
        let Some(detail) = device.detail.as_deref() else { continue };
        round.look();
        let Some(states) = round.ask(&place, &detail.link_power_saving) else { continue };
        if states.is_empty() {
            continue;
        }
        // PCI Express Base Specification 7.5.3.6: the exit latencies that a device can tell end at "more than 64 µs".
        let cost = "waking from L1 may take 64 µs or more, as long as a 4 KiB read from flash takes (40 to 120 µs); a drive \
                    that is never idle pays nothing";
        let directory = format!("/sys/bus/pci/devices/{}/link", device.address);
        let found = finding(Information, &place, format!("the link may enter {}", list(states)), cost)
            .advise("For measuring at low queue depth, switch it off.");
        round.find(states.iter().fold(found, |found, state| {
            let file = format!("{directory}/{state}");
            found.seen(file.clone(), "1").fix(file, "1", "0")
        }));
    }
}

fn drives(machine: &Machine, round: &mut Round) {
    for controller in machine.detail.controllers.iter().filter(|controller| controller.transport == NvmeTransport::Pcie)
    {
        let place = Place::new("controller", &controller.name);
        round.look();
        let Some(identity) = round.ask(&place, &controller.identity) else { continue };
        let Some(tolerance) = round.ask(&place, &controller.latency_tolerance) else { continue };
        let Some(tolerance) = tolerance.filter(|tolerance| identity.autonomous_power && tolerance.0 > 0) else {
            continue;
        };
        let file = format!("/sys/class/nvme/{}/power/pm_qos_latency_tolerance_us", controller.name);
        let microseconds = (tolerance.0 / 1000).to_string();
        round.find(
            finding(
                Information,
                &place,
                format!("the drive may sleep so deep that it takes {tolerance} to wake"),
                format!(
                    "the first request after a pause may wait up to {tolerance}; the drive has {} power states, and a read from \
                     flash that is awake takes 40 to 120 µs",
                    identity.power_states
                ),
            )
            .seen(file.clone(), &microseconds)
            .seen(format!("nvme id-ctrl /dev/{}", controller.name), "apsta 1")
            .advise("For measuring latency, or where a drive does not come back from sleep, allow none.")
            .fix(file, microseconds, "0"),
        );
    }
}

fn governor(machine: &Machine, round: &mut Round) {
    let place = Place::machine();
    let cpu = &machine.detail.cpu;
    let Some(governors) = round.ask(&place, &cpu.governors) else { return };
    // Guests and some boards do not scale frequencies.
    if governors.is_empty() {
        return;
    }
    round.look();
    let Some(driver) = round.ask(&place, &cpu.frequency_driver) else { return };
    let driver = driver.as_deref().unwrap_or("no driver");
    let others: Vec<(&String, &u32)> = governors.iter().filter(|(name, _)| *name != "performance").collect();
    if others.is_empty() {
        return;
    }
    // With these drivers `powersave` scales with the load (the kernel's admin-guide/pm/intel_pstate and amd-pstate).
    let scales = ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"].contains(&driver);
    let pinned = others.iter().any(|(name, _)| name.as_str() == "powersave") && !scales;
    let names: Vec<String> =
        others.iter().map(|(name, cpus)| format!("`{name}` on {}", count(u64::from(**cpus), "processor"))).collect();
    // fio with interrupts and a file system on a processor of 3.6 GHz took 11.6 µs of a thread for 4 KiB.
    let cost = if pinned {
        "`powersave` under this driver holds the lowest frequency. A request takes about 10 µs of a core at full clock; at a \
         third of the clock it takes 30"
    } else {
        "a request takes about 10 µs of a core at full clock, and at queue depth 1 the clock falls between requests: latency \
         grows and differs from run to run"
    };
    let severity = if pinned { Warning } else { Information };
    let mut found = finding(severity, &place, format!("the frequency governor is {}", list(&names)), cost)
        .seen("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", list(&names))
        .seen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", driver)
        .advise("While measuring, let processors run at full clock.");
    // What each processor had is known only where all had the same.
    if let [(old, cpus)] = others[..]
        && *cpus == machine.inventory.cpus
        && governors.len() == 1
    {
        for cpu in 0..*cpus {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
            let fix = terms::diagnosis::Fix { path: file, old: old.clone(), new: "performance".to_owned() };
            found = found.fix_silently(fix);
        }
    }
    round.find(found.set("echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"));
}

fn profile(machine: &Machine, round: &mut Round) {
    let place = Place::machine();
    let Some(Some(profile)) = round.ask(&place, &machine.detail.cpu.platform_profile) else { return };
    round.look();
    if !["low-power", "cool", "quiet"].contains(&profile.as_str()) {
        return;
    }
    round.find(
        finding(
            Information,
            &place,
            format!("the platform profile is `{profile}`"),
            "the firmware may hold processors below their full clock however the governor is set: a request that takes 10 µs of a \
             core at full clock takes 20 at half of it",
        )
        .seen("/sys/firmware/acpi/platform_profile", profile)
        .advise("While measuring, choose the profile for speed.")
        .set("echo performance > /sys/firmware/acpi/platform_profile"),
    );
}
