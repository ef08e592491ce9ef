//! Encryption: sectors, and flags that do not suit the kernel or the drives.

use terms::Bytes;
use terms::command::quote;
use terms::inventory::{CryptMapping, Node, Target};

use crate::check::{Check, Data, Information, Meanwhile, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place};
use crate::remedy::Found;
use crate::words::{count, list, number};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "encryption-sector",
        severity: Warning,
        looks_at: "`sector_size` in `dmsetup table`, `queue/physical_block_size` of the device below",
        rule: "sectors of 512 bytes are encrypted: a warning where the device below has blocks of 4096",
        fixes: false,
        look: sector,
    },
    Check {
        id: "encryption-flags",
        severity: Warning,
        looks_at: "flags in `dmsetup table`, the kernel's version",
        rule: "a flag that is at fault in this kernel, or that binds several drives to one processor",
        fixes: false,
        look: flags,
    },
    Check {
        id: "encryption-queues",
        severity: Information,
        looks_at: "flags in `dmsetup table`, `queue/rotational` of the drives below, the kernel's version",
        rule: "on flash, requests are handed to other threads, which `no_read_workqueue` and `no_write_workqueue` leave out",
        fixes: false,
        look: queues,
    },
];

const PAGE: Bytes = Bytes(4096);
const SMALL: Bytes = Bytes(512);

/// The sector of a mapping whose table was not read, and from where: the header tells it, and dm-crypt makes it the
/// least logical block of the mapping (`crypt_io_hints` in the kernel's `drivers/md/dm-crypt.c`).
fn told_elsewhere<'a>(machine: &Machine<'a>, node: &'a Node) -> Option<(CryptMapping, String, String)> {
    let dm = node.dm.as_ref().filter(|dm| dm.targets.known().is_none())?;
    dm.uuid.as_deref().filter(|uuid| uuid.starts_with("CRYPT-LUKS"))?;
    let header = dm.luks.known().and_then(Option::as_ref);
    let below = node.on.first().and_then(|name| machine.node(name))?;
    if let Some(sector) = header.and_then(|header| header.sector) {
        let crypt = CryptMapping { sector, ..CryptMapping::default() };
        // The first version has sectors of 512 bytes and does not say so.
        let said = if luks(node) == Some(Luks::One) {
            "Version: 1".to_owned()
        } else {
            format!("sector: {} [bytes]", sector.0)
        };
        return Some((crypt, format!("cryptsetup luksDump {}", path(below)), said));
    }
    let logical = *node.queue.logical_block.known()?;
    let own = logical == SMALL || below.queue.logical_block.known().is_some_and(|below| *below < logical);
    let file = format!("/sys/block/{}/queue/logical_block_size", node.name);
    own.then(|| (CryptMapping { sector: logical, ..CryptMapping::default() }, file, logical.0.to_string()))
}

fn sector(machine: &Machine, round: &mut Round) {
    let table = |(node, target, crypt): (_, &Target, &CryptMapping)| {
        (node, crypt.clone(), format!("dmsetup table {}", name(node)), format!("{} …, no sector_size", target.kind))
    };
    let mut all: Vec<(&Node, CryptMapping, String, String)> = machine.crypts(round).into_iter().map(table).collect();
    all.extend(machine.detail.nodes.iter().filter_map(|node| {
        let (crypt, source, value) = told_elsewhere(machine, node)?;
        Some((node, crypt, source, value))
    }));
    for (node, crypt, source, value) in all {
        let at = place(node);
        round.look();
        if crypt.sector != SMALL || format(node) == Format::Foreign {
            continue;
        }
        let Some(below) = node.on.first().and_then(|name| machine.node(name)) else {
            round.unknown(&at, "it is not known what it stands on");
            continue;
        };
        let physical = round.ask(&at, &below.queue.physical_block).copied();
        let severity = if physical.is_some_and(|physical| physical >= PAGE) { Warning } else { Information };
        let device = physical.map_or("a device whose blocks were not read".to_owned(), |physical| {
            format!("a device with blocks of {physical}")
        });
        let found = finding(
            severity,
            &at,
            format!("sectors of {SMALL} are encrypted on {device}"),
            format!("each {PAGE} are 8 requests to the cipher with 8 initial vectors instead of 1"),
        )
        .seen(source, value);
        let found = physical.iter().fold(found, |found, physical| {
            found.seen(format!("/sys/block/{}/queue/physical_block_size", below.name), physical.0)
        });
        round.find(advised(found, node, below, &crypt, !machine.on_top_of(&node.name).is_empty()));
    }
}

/// How the sector of a mapping can be changed, by how its UUID begins.
/// Where other layers stand on it, `cryptsetup` sees no file system.
fn advised(found: Found, node: &Node, below: &Node, crypt: &CryptMapping, is_covered: bool) -> Found {
    let device = path(below);
    let version = match format(node) {
        Format::Luks(version) => version,
        Format::Plain => return plain(found, node, &device),
        Format::Fixed(who) => {
            return found
                .advise(format!(
                    "{who} knows only these. Copy what is on it elsewhere; a LUKS2 volume in its place can have larger ones."
                ))
                .look(format!("lsblk -f {device}"))
                .run(
                    Data(format!("everything on {device}")),
                    format!("cryptsetup luksFormat --type luks2 --sector-size 4096 {device}"),
                );
        }
        Format::Foreign | Format::Unknown => {
            return found
                .advise("Who opened it knows whether it can have others: its name does not tell which format it has.")
                .look(format!("cryptsetup status {}", name(node)));
        }
    };
    if crypt.integrity.is_some() {
        // cryptsetup-reencrypt(8): not for devices with authenticated encryption.
        return found.advise(
            "A volume with authentication cannot be encrypted anew in place. Copy what is on it elsewhere before it is made anew.",
        );
    }
    // cryptsetup-reencrypt(8), `--sector-size`: larger sectors are refused while the volume is closed, unless forced, as
    // only of an open one it can be seen whether the file system takes them. Tried with 2.6.1: so it is, data is kept.
    let looks = if is_covered {
        "through the layers on it `cryptsetup` cannot look: a file system with smaller ones (`sectsz=512` of `xfs_info`, `Block size: 1024` \
         of `dumpe2fs -h`) mounts no more"
    } else {
        "`cryptsetup` looks, and refuses where it does not"
    };
    let advice = format!(
        "What stands on it must take blocks of 4096 bytes; {looks}. The header is \
                  kept in a file, then the volume is encrypted anew in place while it is open, for hours, and keeps its data. Do not \
                  force it while it is closed."
    );
    let name = name(node);
    let found = found
        .advise(match version {
            Luks::One => format!("LUKS1 becomes LUKS2 first, while it is closed. {advice}"),
            Luks::Two => advice,
            Luks::Unknown => {
                format!("If `luksDump` tells version 1, it becomes LUKS2 first (`cryptsetup convert`, while it is closed). {advice}")
            }
        })
        .look(format!("cryptsetup luksDump {device}"))
        .look(format!("lsblk -o NAME,FSTYPE,LOG-SEC {}", path(node)))
        .run(Nothing, format!("cryptsetup luksHeaderBackup {device} --header-backup-file FILE"));
    let found = if version == Luks::One {
        let open = "a header that is damaged is only in the file".to_owned();
        found
            .run(Nothing, format!("cryptsetup close {name}"))
            .run(Meanwhile(open), format!("cryptsetup convert --type luks2 {device}"))
            .run(Nothing, format!("cryptsetup open {device} {name}"))
    } else {
        found
    };
    let meanwhile = "all of it is written anew: have a copy of what is on it".to_owned();
    found.run(Meanwhile(meanwhile), format!("cryptsetup reencrypt --sector-size 4096 {device}"))
}

/// A volume without a header takes its sector from whoever opens it (cryptsetup-open(8), `--sector-size`; crypttab(5),
/// `sector-size=`). What was written with one cannot be read with another.
fn plain(found: Found, node: &Node, device: &str) -> Found {
    let is_swap = node.signatures.known().into_iter().flatten().any(|signature| signature.kind == "swap");
    let found = found.look("grep -v '^#' /etc/crypttab").look(format!("lsblk -f {device}"));
    found.advise(if is_swap {
        "It has no header, and its sector is what it is opened with: `sector-size=4096` among its options in `/etc/crypttab`. Swap with a \
         random key is made anew at each start, and has it from the next one on."
    } else {
        "It has no header, and its sector is what it is opened with: `--sector-size 4096`, or `sector-size=4096` in `/etc/crypttab`. What was \
         written with 512 can then not be read any more: copy it elsewhere, and make the file system anew."
    })
}

/// Who laid out an encrypted volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Luks(Luks),
    /// No header.
    Plain,
    /// It has one sector, whatever is wished; its name.
    Fixed(&'static str),
    /// Another system made it and has to read it.
    Foreign,
    Unknown,
}

/// Formats by how `cryptsetup` begins the UUIDs of their mappings (`lib/libdevmapper.c`).
const FORMATS: [(&str, Format); 5] = [
    ("CRYPT-PLAIN", Format::Plain),
    ("CRYPT-TCRYPT", Format::Fixed("VeraCrypt")),
    ("CRYPT-LOOPAES", Format::Fixed("loop-AES")),
    ("CRYPT-BITLK", Format::Foreign),
    ("CRYPT-FVAULT2", Format::Foreign),
];

fn format(node: &Node) -> Format {
    let uuid = node.dm.as_ref().and_then(|dm| dm.uuid.as_deref()).unwrap_or_default();
    let known = FORMATS.iter().find(|(start, _)| uuid.starts_with(start));
    luks(node).map(Format::Luks).or(known.map(|(_, format)| *format)).unwrap_or(Format::Unknown)
}

/// Version of a LUKS header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Luks {
    One,
    Two,
    /// What was posted does not tell it.
    Unknown,
}

/// Version of the LUKS header of a mapping; `None` of one that has none.
fn luks(node: &Node) -> Option<Luks> {
    let uuid = node.dm.as_ref().and_then(|dm| dm.uuid.as_deref())?;
    match uuid.strip_prefix("CRYPT-LUKS")?.as_bytes().first() {
        Some(b'1') => Some(Luks::One),
        Some(b'2') => Some(Luks::Two),
        Some(_) => None,
        None => Some(Luks::Unknown),
    }
}

/// Does a mapping have a LUKS header, which can be made anew elsewhere on its device?
pub(super) fn is_luks(node: &Node) -> bool {
    luks(node).is_some()
}

/// The mapping's name, as it is typed.
fn name(node: &Node) -> String {
    quote(node.dm.as_ref().map_or(node.name.as_str(), |dm| dm.name.as_str()))
}

fn has(crypt: &CryptMapping, flag: &str) -> bool {
    crypt.flags.iter().any(|known| known == flag)
}

/// Flags of a table and the options of `cryptsetup` that set them (cryptsetup-refresh(8)).
const OPTIONS: [(&str, &str); 6] = [
    ("allow_discards", "--allow-discards"),
    ("same_cpu_crypt", "--perf-same_cpu_crypt"),
    ("submit_from_crypt_cpus", "--perf-submit_from_crypt_cpus"),
    ("no_read_workqueue", "--perf-no_read_workqueue"),
    ("no_write_workqueue", "--perf-no_write_workqueue"),
    ("high_priority", "--perf-high_priority"),
];

/// How an open volume gets flags and loses others. All that it is to have are named: what is not named is gone, and
/// `--persistent` forgets it in the header, too (cryptsetup-refresh(8)). Only LUKS2 has room for them there.
pub(super) fn with_flags(found: Found, node: &Node, crypt: &CryptMapping, more: &[&str], less: &[&str]) -> Found {
    let wanted = |flag: &str| (has(crypt, flag) || more.contains(&flag)) && !less.contains(&flag);
    let mut words = vec!["cryptsetup refresh"];
    words.extend(OPTIONS.iter().filter(|(flag, _)| wanted(flag)).map(|(_, option)| *option));
    let name = name(node);
    match luks(node) {
        Some(Luks::Two) => words.push("--persistent"),
        Some(_) => {}
        None => return found.look(format!("cryptsetup status {name}")),
    }
    words.push(&name);
    found.look(format!("cryptsetup status {name}")).run(Nothing, words.join(" "))
}

/// From when `no_read_workqueue` and `no_write_workqueue` exist (kernel commit 39d42fa96ba1).
const INLINE_SINCE: (u32, u32) = (5, 9);
/// From when their tasklets do not touch memory that was given back (kernel commit 0a9bab391e33).
const INLINE_SOUND: (u32, u32) = (6, 8);

fn flags(machine: &Machine, round: &mut Round) {
    for (node, _, crypt) in machine.crypts(round) {
        let at = place(node);
        let Some(kernel) = machine.kernel() else {
            round.unknown(&at, format!("the kernel's version `{}` cannot be understood", machine.inventory.kernel));
            continue;
        };
        round.look();
        let inline: Vec<&str> =
            ["no_read_workqueue", "no_write_workqueue"].into_iter().filter(|flag| has(crypt, flag)).collect();
        let source = format!("dmsetup table {}", name(node));
        if !inline.is_empty() && (INLINE_SINCE..INLINE_SOUND).contains(&kernel) {
            let found = finding(
                    Warning,
                    &at,
                    format!("{} on a kernel that may have the fault of their tasklets", list(&inline)),
                    "kernels from 5.9 to before 6.8 may write to memory that was given back when a request ends in an interrupt; \
                     branches with long support got the change in the spring of 2024",
                )
                .seen(source.clone(), crypt.flags.join(" "))
                .seen("/proc/sys/kernel/osrelease", &machine.inventory.kernel)
                .advise(
                    "See whether the kernel's change log has “dm-crypt, dm-verity: disable tasklets”. If not, bring it up to date or \
                     open the volume without the flags.",
                );
            round.find(with_flags(found, node, crypt, &[], &inline));
        }
        let drives = machine.bottom(&node.name).len();
        if drives > 1 && has(crypt, "same_cpu_crypt") {
            let found = finding(
                    Warning,
                    &at,
                    format!("`same_cpu_crypt` over {}", count(number(drives), "drive")),
                    format!(
                        "what one thread asks for is encrypted by 1 of {} processors, which has to feed {drives} drives: one stream \
                         is no faster than on 1 drive",
                        machine.inventory.cpus
                    ),
                )
                .seen(source, crypt.flags.join(" "))
                .advise("Open it without the flag, and measure both.");
            round.find(with_flags(found, node, crypt, &[], &["same_cpu_crypt"]));
        }
    }
}

fn queues(machine: &Machine, round: &mut Round) {
    for (node, _, crypt) in machine.crypts(round) {
        let at = place(node);
        let Some(flash) = machine.is_flash(round, &at, &node.name) else { continue };
        let Some(kernel) = machine.kernel() else {
            round.unknown(&at, format!("the kernel's version `{}` cannot be understood", machine.inventory.kernel));
            continue;
        };
        if !flash || kernel < INLINE_SINCE {
            continue;
        }
        round.look();
        if has(crypt, "no_read_workqueue") || has(crypt, "no_write_workqueue") {
            continue;
        }
        // Mail with the patch that brought the flags (dm-devel, 2020): 4 KiB at queue depth 1 on a RAM drive, null cipher.
        let found = finding(
                Information,
                &at,
                "requests are handed to other threads to be encrypted",
                "on 4 KiB at queue depth 1 the handing over cost 41 µs a read and 89 µs a write, and 6 µs each without; with many \
                 requests at a time it spreads the work and can be faster",
            )
            .seen(format!("dmsetup table {}", name(node)), if crypt.flags.is_empty() { "no flags".to_owned() } else { crypt.flags.join(" ") });
        round.find(if kernel < INLINE_SOUND {
            found
                .advise(
                    "There are flags that leave the other threads out, and kernels before 6.8 may write to memory that was given back \
                     with them: first see whether this one's change log has “dm-crypt, dm-verity: disable tasklets”.",
                )
                .look(format!("cryptsetup status {}", name(node)))
        } else {
            let found = found.advise("Measure both: it depends on processor, drive and load.");
            with_flags(found, node, crypt, &["no_read_workqueue", "no_write_workqueue"], &[])
        });
    }
}
