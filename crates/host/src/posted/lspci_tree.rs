//! `lspci -tv`: which device hangs under which port, drawn with lines.

use std::collections::BTreeMap;

use super::kept::PciDevice;
use super::{Machine, Text};

/// A bus: its domain and its number.
#[derive(Debug, Clone)]
struct Bus {
    domain: String,
    number: u8,
}

/// `-[0000:00]-+-00.0  …`, or `-+-[0000:80]-…` where there are several domains.
pub(super) fn begins(line: &str) -> bool {
    let rest = line.strip_prefix("-+-[").or_else(|| line.strip_prefix("-["));
    rest.is_some_and(|rest| bus(rest).is_some())
}

/// `0000:00]`: a bus, and what follows.
fn bus(text: &str) -> Option<(Bus, &str)> {
    let (inside, rest) = text.split_once(']')?;
    let (domain, number) = inside.split_once(':')?;
    // A bus with all that are behind it: `00-ff`.
    let number = number.split('-').next()?;
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let fits = (4..=8).contains(&domain.len()) && number.len() == 2 && hexadecimal(domain);
    Some((Bus { domain: domain.to_owned(), number: u8::from_str_radix(number, 16).ok().filter(|_| fits)? }, rest))
}

/// Words with which makers call controllers in the PCI ID database, and their class.
const NAMES: [(&str, &str); 4] =
    [("NVMe", "0x010802"), ("[AHCI mode]", "0x010601"), ("SATA AHCI Controller", "0x010601"), ("MegaRAID", "0x010400")];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut columns: BTreeMap<usize, Option<Bus>> = BTreeMap::new();
    let mut told = 0;
    for line in &text.lines {
        let mut devices = Vec::new();
        if walk(line, &mut columns, &mut devices).is_none() && !line.trim().is_empty() {
            machine.refused.push(format!("`{}`: it cannot be followed", line.trim()));
        }
        told += devices.len();
        devices.into_iter().for_each(|device| machine.pci(device));
    }
    told
}

/// One line, from the branch at which it leaves what is drawn above it.
fn walk(line: &str, columns: &mut BTreeMap<usize, Option<Bus>>, devices: &mut Vec<PciDevice>) -> Option<()> {
    if !line.is_ascii() && !line.split("  ").next().is_some_and(str::is_ascii) {
        return None;
    }
    let at = line.find(['[', '+', '\\'])?;
    let mut bus_here: Option<Bus> = None;
    let mut at = at;
    if line.starts_with("-[") {
        columns.clear();
    } else if line.starts_with("-+-[") {
        columns.clear();
        columns.insert(1, None);
        at = 3;
    } else {
        // Deeper branches end where this one goes on.
        columns.retain(|column, _| *column <= at);
        bus_here = columns.get(&at)?.clone();
        at += 2;
    }
    loop {
        let rest = line.get(at..)?;
        if let Some(root) = rest.strip_prefix('[') {
            let (root, after) = bus(root)?;
            bus_here = Some(root);
            at = line.len() - after.len();
        } else {
            let own = bus_here.clone()?;
            let place = rest.get(..4).filter(|place| place.as_bytes()[2] == b'.')?;
            let address = format!("{}:{:02x}:{place}", own.domain, own.number);
            if !crate::inspect::is_pci_address(&address) {
                return None;
            }
            let after = rest.get(4..)?;
            let Some(behind) = after.strip_prefix("-[") else {
                // A name may be missing where `-v` was left out.
                let class = NAMES.iter().find(|(word, _)| after.contains(word)).map(|(_, class)| *class);
                devices.extend(class.map(|class| PciDevice::placed(address, class, None)));
                return Some(());
            };
            let (inside, after) = behind.split_once(']')?;
            let number = |text: &str| u8::from_str_radix(text, 16).ok();
            let (first, last) = inside.split_once('-').unwrap_or((inside, inside));
            // Other domains behind a bridge are written with their number.
            let (first, last) = (number(first)?, number(last)?);
            devices.push(PciDevice::placed(address, "0x060400", Some((first, last))));
            bus_here = Some(Bus { domain: own.domain, number: first });
            at = line.len() - after.len();
        }
        let dashes = line.get(at..)?.bytes().take_while(|byte| *byte == b'-').count();
        at += dashes;
        match line.get(at..)?.bytes().next() {
            None => return Some(()),
            Some(b'+') => {
                columns.insert(at, bus_here.clone());
                at += 2;
            }
            Some(c) if c.is_ascii_hexdigit() => {}
            Some(_) => return None,
        }
    }
}
