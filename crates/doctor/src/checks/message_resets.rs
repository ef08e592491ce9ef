//! Drives that were reset: which of them more often than a start of the machine asks for.

use std::collections::{BTreeMap, BTreeSet};

/// So often a drive may be reset while the machine starts or wakes: by its power, and by its controller.
const AT_START: usize = 2;

/// What to do where requests failed through UAS. `u` makes the kernel leave it alone (`IGNORE_UAS` in its
/// `Documentation/admin-guide/kernel-parameters.txt`, `usb-storage.quirks`).
pub(super) const AT_USB: &str = "Ask the drives that they name for their health; look at cables and at the power of the port first, then at the \
    bridge in the drive's case. Some bridges fail only with UAS: `usb-storage.quirks=VENDOR:PRODUCT:u` on the kernel's command line, with the \
    numbers of `lsusb`, drives one without it, and slower.";

/// What was reset more often than that in one run of the machine.
#[derive(Debug, Default)]
pub(super) struct Often<'a> {
    /// Lines of drives.
    pub(super) of_drives: Vec<&'a str>,
    /// Ports of USB at which nobody tells whether there is a drive: cameras and keyboards are reset, too.
    pub(super) of_unknown: BTreeSet<&'a str>,
}

/// Of lines with the words of `RESETS`. A drive at USB tells of its power each time that it is plugged in, so that only resets of its
/// port count, since it was plugged in.
pub(super) fn often<'a>(lines: &[&'a str]) -> Often<'a> {
    let mut run = 0_usize;
    let (mut hosts, mut ports) = (BTreeSet::new(), BTreeSet::new());
    let mut resets = Vec::new();
    let mut plugged: BTreeMap<&str, usize> = BTreeMap::new();
    let mut counts: BTreeMap<(usize, usize, &str), usize> = BTreeMap::new();
    // `uas_eh_device_reset_handler` of the kernel's `drivers/usb/storage/uas.c` says that it starts, resets its port, and says what came of it.
    let mut by_driver = false;
    for line in lines {
        let said = Said::of(line);
        if let (true, Said::Reset(port)) = (by_driver, &said) {
            ports.insert((plugged.get(port).copied().unwrap_or(0), *port));
        }
        by_driver = line.contains("reset_handler start");
        match said {
            Said::Start => run += 1,
            Said::Usb { host, port } => {
                hosts.extend(host);
                ports.extend(port.map(|port| (plugged.get(port).copied().unwrap_or(0), port)));
            }
            Said::PluggedIn(port) => *plugged.entry(port).or_default() += 1,
            Said::Reset(what) => {
                let key = (run, plugged.get(what).copied().unwrap_or(0), what);
                resets.push((key, *line));
                *counts.entry(key).or_default() += 1;
            }
            Said::Nothing => {}
        }
    }
    let mut often = Often::default();
    for (key, line) in resets {
        let is_often = counts.get(&key).is_some_and(|count| *count > AT_START);
        match (is_often, host(line)) {
            (false, _) => {}
            (true, Some(host)) if hosts.contains(host) => {}
            (true, None) if !ports.contains(&(key.1, key.2)) => drop(often.of_unknown.insert(key.2)),
            (true, _) => often.of_drives.push(line),
        }
    }
    often
}

/// What a line says.
enum Said<'a> {
    Start,
    /// A host is one of USB, and at which port, where that is told.
    Usb {
        host: Option<&'a str>,
        port: Option<&'a str>,
    },
    /// At a port of USB.
    PluggedIn(&'a str),
    /// Of a drive, by the line itself, or of what is at a port of USB.
    Reset(&'a str),
    Nothing,
}

impl<'a> Said<'a> {
    fn of(line: &'a str) -> Self {
        // `usb 2-1.3: reset high-speed USB device number 4 using xhci_hcd`.
        if let Some((port, said)) = line.split_once("usb ").and_then(|(_, rest)| rest.split_once(": ")) {
            return match said.split(' ').next() {
                Some("reset") => Self::Reset(port),
                Some("new") => Self::PluggedIn(port),
                _ => Self::Nothing,
            };
        }
        // `scsi host6: usb-storage 2-1:1.0`, `scsi6 : …` of old kernels, `scsi host6: uas`, `usb-storage 2-1:1.0: USB Mass Storage …`.
        let port = line.split_once("usb-storage ").and_then(|(_, rest)| rest.split_once(':')).map(|(port, _)| port);
        let driver = [": usb-storage", ": uas"].iter().find_map(|driver| line.split_once(driver));
        let number = driver.and_then(|(before, _)| before.split_once("scsi"));
        let host = number.map(|(_, host)| host.trim().trim_start_matches("host"));
        let small = line.to_lowercase();
        match () {
            () if host.is_some() || port.is_some() => Self::Usb { host, port },
            () if small.contains("device reset occurred") => Self::Reset(line),
            () if STARTS.iter().any(|start| small.contains(start)) => Self::Start,
            () => Self::Nothing,
        }
    }
}

/// The machine starts, or wakes.
const STARTS: [&str; 4] = ["-- boot", "-- reboot", "linux version ", "restarting tasks"];

/// The number of its host, of `sd 6:0:0:0: Power-on or device reset occurred`.
fn host(line: &str) -> Option<&str> {
    let address = line.split_whitespace().find(|word| word.matches(':').count() >= 3)?;
    address.split(':').next()
}
