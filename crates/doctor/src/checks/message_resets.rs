//! Drives that were reset: which of them more often than a start of the machine asks for.

use std::collections::{BTreeMap, BTreeSet};

/// So often a drive may be reset while the machine starts: by its power, and by its controller.
const AT_START: usize = 2;

/// Of lines with the words of `RESETS`, those of drives that were reset more often than that in one run of the machine. A drive at USB says so each
/// time that it is plugged in.
pub(super) fn often<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut run = 0_usize;
    let mut usb = BTreeSet::new();
    let mut resets = Vec::new();
    let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for line in lines {
        match Said::of(line) {
            Said::Start => run += 1,
            Said::Usb(host) => drop(usb.insert(host)),
            Said::Reset => {
                resets.push((run, *line));
                *counts.entry((run, line)).or_default() += 1;
            }
        }
    }
    let is_often = |reset: &(usize, &str)| counts.get(reset).is_some_and(|count| *count > AT_START);
    let is_usb = |line: &str| host(line).is_some_and(|host| usb.contains(host));
    resets.into_iter().filter(|reset| is_often(reset) && !is_usb(reset.1)).map(|(_, line)| line).collect()
}

/// What a line says.
enum Said<'a> {
    Start,
    /// A host is one of USB.
    Usb(&'a str),
    Reset,
}

impl<'a> Said<'a> {
    fn of(line: &'a str) -> Self {
        // `scsi host6: usb-storage 2-1:1.0`, and `scsi6 : …` of old kernels.
        let driver = [": usb-storage", ": uas"].iter().find_map(|driver| line.split_once(driver));
        let number = driver.and_then(|(before, _)| before.split_once("scsi"));
        match number {
            Some((_, host)) => Self::Usb(host.trim().trim_start_matches("host")),
            None if line.to_lowercase().contains("device reset occurred") => Self::Reset,
            None => Self::Start,
        }
    }
}

/// The number of its host, of `sd 6:0:0:0: Power-on or device reset occurred`.
fn host(line: &str) -> Option<&str> {
    let address = line.split_whitespace().find(|word| word.matches(':').count() >= 3)?;
    address.split(':').next()
}
