//! What file systems were told of the arrays under them.

use terms::Bytes;
use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{FileSystem, Geometry, Md, Meaning, Node};

use crate::check::{Check, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path};
use crate::remedy::Found;
use crate::words::count;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ext4-geometry",
        severity: Warning,
        looks_at: "`RAID stride` and `RAID stripe width` of `dumpe2fs -h`, `md/chunk_size`, stripes in `dmsetup table`",
        rule: "they are not chunk and full stripe of what is below: a warning on parity",
        fixes: false,
        look: ext4,
    },
    Check {
        id: "ext4-errors",
        severity: Error,
        looks_at: "`FS Error count` and `Filesystem state` of `dumpe2fs -h`",
        rule: "its superblock counts errors that it found in itself since it was checked last",
        fixes: false,
        look: ext4_errors,
    },
    Check {
        id: "xfs-geometry",
        severity: Warning,
        looks_at: "`sunit` and `swidth` of `xfs_info`, `md/chunk_size`, stripes in `dmsetup table`",
        rule: "they are not chunk and full stripe of what is below: a warning on parity",
        fixes: false,
        look: xfs,
    },
];

/// Stripes of something under a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stripes {
    chunk: Bytes,
    /// Chunks of data in a stripe.
    data: u64,
    parity: bool,
    name: String,
}

impl Stripes {
    const fn full(&self) -> Bytes {
        Bytes(self.chunk.0.saturating_mul(self.data))
    }
}

/// Chunks of data in a stripe of an array; `None` for levels without stripes.
fn data_chunks(md: &Md) -> Option<u64> {
    let devices = u64::from(*md.devices.known()?);
    match md.level.as_str() {
        "raid0" => Some(devices),
        "raid4" | "raid5" => devices.checked_sub(1),
        "raid6" => devices.checked_sub(2),
        "raid10" => {
            // Near copies in the lowest byte of the layout, far copies in the next (md(4), RAID10).
            let layout = md.layout.unwrap_or(0x102);
            let copies = (layout & 0xff).max(1) * (layout >> 8 & 0xff).max(1);
            Some(devices / copies)
        }
        _ => None,
    }
}

/// The first thing with stripes on the way down, through layers that stand on one device.
fn stripes(machine: &Machine, round: &mut Round, at: &Place, name: &str) -> Option<Stripes> {
    let mut next = machine.node(name)?;
    for _ in 0..machine.detail.nodes.len() {
        if let Some(md) = &next.md {
            if !["raid0", "raid10"].contains(&md.level.as_str()) && !super::array::is_parity(md) {
                return None;
            }
            let chunk = *round.ask(at, &md.chunk)?;
            round.ask(at, &md.devices)?;
            let data = data_chunks(md).filter(|data| *data > 1 && chunk.0 > 0)?;
            let parity = super::array::is_parity(md);
            return Some(Stripes { chunk, data, parity, name: name_of(next) });
        }
        if let Some(Meaning::Striped { stripes, chunk_bytes }) = only_meaning(next) {
            return Some(Stripes {
                chunk: *chunk_bytes,
                data: u64::from(*stripes),
                parity: false,
                name: name_of(next),
            });
        }
        let [below] = next.on.as_slice() else { return None };
        next = machine.node(below)?;
    }
    None
}

fn name_of(node: &Node) -> String {
    node.label.clone().unwrap_or_else(|| node.name.clone())
}

fn only_meaning(node: &Node) -> Option<&Meaning> {
    match node.dm.as_ref()?.targets.known()?.as_slice() {
        [only] => Some(&only.meaning),
        _ => None,
    }
}

fn ext4(machine: &Machine, round: &mut Round) {
    each(machine, round, &["ext4", "ext3"], "dumpe2fs -h", |found, device, stripes, geometry, _| {
        let stride = stripes.chunk.0 / geometry.block.0.max(1);
        found
            .advise("It is a hint for where new files begin; what is there stays where it is.")
            .run(Nothing, format!("tune2fs -E stride={stride},stripe_width={} {device}", stride * stripes.data))
    });
}

fn ext4_errors(machine: &Machine, round: &mut Round) {
    for system in machine.detail.file_systems.iter().filter(|system| system.kind.starts_with("ext")) {
        let at = crate::machine::system_place(machine, system);
        let Some(errors) = system.errors else {
            // What was not read is not without errors.
            let _ = round.ask(&at, &system.geometry);
            round.look();
            continue;
        };
        round.look();
        let node = system.nodes.first().and_then(|name| machine.node(name));
        let device = node.map_or_else(|| "DEVICE".to_owned(), path);
        let what = match errors {
            0 => "its superblock says that it found errors in itself".to_owned(),
            errors => format!("its superblock counts {} that it found in itself", count(errors, "error")),
        };
        let cost = "each is a place whose content cannot be trusted, or a block that could not be read; nothing but a check takes the count back to 0";
        let found = finding(Error, &at, what, cost)
            .seen(format!("dumpe2fs -h {device}"), if errors == 0 { "with errors".to_owned() } else { errors.to_string() })
            .advise(
                "Copy what is needed, and ask the drives below it for their health. Then unmount it and check it: first without changing \
                 anything.",
            )
            .look(format!("dumpe2fs -h {device}"))
            .look(format!("fsck -n {device}"));
        round.find(found);
    }
}

fn xfs(machine: &Machine, round: &mut Round) {
    each(machine, round, &["xfs"], "xfs_info", |found, device, stripes, _, target| {
        // `mount -o` counts in sectors of 512 bytes (xfs(5)).
        let (unit, width) = (stripes.chunk.0 / 512, stripes.full().0 / 512);
        found
            .advise("Mounted once with these, it keeps them; what is there stays where it is. It refuses where the first inode would have to move: then it is mounted as it was, and only making it anew helps.")
            .run(Nothing, format!("umount {target} && mount -o sunit={unit},swidth={width} {device} {target}"))
            .run(Nothing, format!("mountpoint -q {target} || mount {device} {target}"))
    });
}

type Advised = fn(Found, &str, &Stripes, &Geometry, &str) -> Found;

fn each(machine: &Machine, round: &mut Round, kinds: &[&str], program: &str, advised: Advised) {
    for system in machine.detail.file_systems.iter().filter(|system| kinds.contains(&system.kind.as_str())) {
        let at = crate::machine::system_place(machine, system);
        let Some(stripes) = system.nodes.first().and_then(|name| stripes(machine, round, &at, name)) else { continue };
        round.look();
        let Some(geometry) = round.ask(&at, &system.geometry) else { continue };
        if geometry.stripe_unit == stripes.chunk && geometry.stripe_width == stripes.full() {
            continue;
        }
        round.find(differs(machine, system, &stripes, geometry, program, advised));
    }
}

fn differs(
    machine: &Machine,
    system: &FileSystem,
    stripes: &Stripes,
    geometry: &Geometry,
    program: &str,
    advised: Advised,
) -> Found {
    let at = crate::machine::system_place(machine, system);
    let device = system.nodes.first().and_then(|name| machine.node(name)).map(path).unwrap_or_default();
    let target = system.targets.first().map_or_else(|| "TARGET".to_owned(), |target| quote(target));
    let (severity, why) = if stripes.parity {
        (
            Warning,
            format!(
                "a full stripe is {}, and a file may begin at any of its {} blocks: a write that does not begin with the stripe makes \
                 the array read before it writes",
                stripes.full(),
                stripes.full().0 / geometry.block.0.max(1)
            ),
        )
    } else {
        let why = format!(
            "metadata may gather on 1 of {} drives, and a request of {} is cut in 2 where it crosses a chunk",
            stripes.data, stripes.chunk
        );
        (Information, why)
    };
    let told = |unit: Bytes| if unit.0 == 0 { "none".to_owned() } else { unit.to_string() };
    let found = finding(
        severity,
        &at,
        format!(
            "it was made for a chunk of {} and a stripe of {}; {} has {} and {}",
            told(geometry.stripe_unit),
            told(geometry.stripe_width),
            stripes.name,
            stripes.chunk,
            stripes.full()
        ),
        why,
    )
    .seen(format!("{program} {device}"), format!("{} B and {} B", geometry.stripe_unit.0, geometry.stripe_width.0))
    .seen(format!("chunk and stripe of {}", stripes.name), format!("{} B and {} B", stripes.chunk.0, stripes.full().0));
    advised(found, &device, stripes, geometry, &target)
}
