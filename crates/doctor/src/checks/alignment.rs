//! Where layers begin, and whether blocks and stripes of what is below them are cut.

use terms::Bytes;
use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{Node, Partition};

use crate::check::{Brought, Check, Data, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place, sectors};
use crate::remedy::Found;
use crate::reserved::{Purpose, purpose};
use crate::words::{count, list, number};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "partition-alignment",
        severity: Warning,
        looks_at: "`start` of each partition, `queue/physical_block_size`, `queue/optimal_io_size`, `alignment_offset`",
        rule: "a partition for files begins in the middle of a block, of 4096 bytes on flash (warning), or of a stripe (information)",
        fixes: false,
        look: partitions,
    },
    Check {
        id: "encryption-alignment",
        severity: Warning,
        looks_at: "offset in `dmsetup table` of dm-crypt, `queue/optimal_io_size` of the device below",
        rule: "data begins in the middle of a block, or of a stripe (a warning on parity)",
        fixes: false,
        look: encryption,
    },
    Check {
        id: "volume-alignment",
        severity: Warning,
        looks_at: "`pe_start` of `pvs`, `queue/optimal_io_size` of the device below",
        rule: "extents begin in the middle of a block, or of a stripe (a warning on parity)",
        fixes: false,
        look: volumes,
    },
    Check {
        id: "logical-blocks-mixed",
        severity: Error,
        looks_at: "`queue/logical_block_size` of members of each array, volume group, btrfs and virtual device",
        rule: "members have logical blocks of different sizes",
        fixes: false,
        look: mixed,
    },
];

/// Flash works in pages of this size or a multiple, whatever it tells.
const PAGE: u64 = 4096;

/// A full stripe, if a device tells a plausible one. Bridges of USB tell 65535 of their blocks, and SAS drives 4095 of 4096 bytes: the
/// most that a request's length can say, in so many bits.
fn stripe(optimal: Bytes) -> Option<u64> {
    let is_limit = |block: u64| {
        let blocks = optimal.0 / block;
        optimal.0.is_multiple_of(block) && blocks >= LEAST_LIMIT && (blocks + 1).is_power_of_two()
    };
    let is_stripe = optimal.0 > PAGE && optimal.0.is_multiple_of(PAGE);
    (is_stripe && !optimal.0.is_multiple_of(65535) && ![512, PAGE].into_iter().any(is_limit)).then_some(optimal.0)
}

/// Lengths of fewer bits are in no request, and 3 or 7 blocks may be a stripe.
const LEAST_LIMIT: u64 = 255;

/// What begins at `start` on `below`, judged.
struct Beginning<'a> {
    at: Place,
    start: Bytes,
    source: String,
    below: &'a Node,
    /// What is made anew, as it is typed: that on which the layer lies, be it a partition.
    device: String,
    /// What has to be closed before, or how it is made, as it is typed.
    name: String,
    advise: fn(Found, &Beginning) -> Found,
}

fn judge(machine: &Machine, round: &mut Round, layer: &Beginning) {
    round.look();
    let queue = &layer.below.queue;
    let Some(physical) = round.ask(&layer.at, &queue.physical_block) else { return };
    let file = |name: &str| format!("/sys/block/{}/queue/{name}", layer.below.name);
    let cuts = |found: Found| (layer.advise)(found.seen(layer.source.clone(), layer.start.0), layer);
    if !layer.start.0.is_multiple_of(physical.0.max(1)) {
        let found = cuts_blocks(layer, physical.0).seen(file("physical_block_size"), physical.0);
        return round.find(cuts(found));
    }
    let Some(flash) = machine.is_flash(round, &layer.at, &layer.below.name) else { return };
    if flash && !layer.start.0.is_multiple_of(PAGE) {
        return round.find(cuts(cuts_blocks(layer, PAGE).seen(file("rotational"), 0)));
    }
    let Some(optimal) = round.ask(&layer.at, &queue.optimal_io) else { return };
    let Some(stripe) = stripe(*optimal).filter(|stripe| !layer.start.0.is_multiple_of(*stripe)) else { return };
    let found = |severity, cost: String| {
        let what = format!("it begins {} behind a stripe of {}", Bytes(layer.start.0 % stripe), Bytes(stripe));
        finding(severity, &layer.at, what, cost).seen(file("optimal_io_size"), optimal.0)
    };
    if parity_below(machine, &layer.below.name) {
        let cost = format!(
            "a write of a full stripe of {} at a multiple of its size is parts of 2 stripes: parity is made from what is read first, \
             twice, instead of from what is written",
            Bytes(stripe)
        );
        return round.find(cuts(found(Warning, cost)));
    }
    // Where there is no parity it costs little: nothing that is there is worth being made anew for it.
    round.find(
        found(
            Information,
            format!("a request of {} at a multiple of its size is cut into 2 parts more", Bytes(stripe)),
        )
        .seen(layer.source.clone(), layer.start.0)
        .advise("Leave what is there; let what is made next begin at a multiple of the stripe.")
        .look(format!("lsblk -t {}", path(layer.below))),
    );
}

/// It begins in the middle of a block.
fn cuts_blocks(layer: &Beginning, block: u64) -> Found {
    finding(
        Warning,
        &layer.at,
        format!("it begins {} bytes behind a block of {}", layer.start.0 % block, Bytes(block)),
        format!(
            "each write of {0} touches 2 blocks of {0}, and each is read first: 4 operations instead of 1",
            Bytes(block)
        ),
    )
}

/// Is there an array with parity on the way down?
fn parity_below(machine: &Machine, name: &str) -> bool {
    let nodes = machine.down(name);
    nodes.iter().any(|node| node.md.as_ref().is_some_and(super::array::is_parity) || node.kind.starts_with("raid5"))
}

fn partitions(machine: &Machine, round: &mut Round) {
    for node in &machine.detail.nodes {
        let (Some(partition), Some(below)) = (&node.partition, node.on.first().and_then(|name| machine.node(name)))
        else {
            continue;
        };
        let at = place(node);
        match purpose(machine, below, node, partition) {
            Purpose::Files => {}
            // It is looked at, and what is written to it once may be slow.
            Purpose::Reserved => {
                round.look();
                continue;
            }
            Purpose::Unknown => {
                round.unknown(&at, "what it is for was not read: `lsblk -o NAME,PARTTYPENAME` tells");
                continue;
            }
        }
        // A drive's blocks may begin behind its first sector (`queue_limit_alignment_offset` in the kernel's `block/blk-settings.c`).
        let first = below.alignment_offset.known().map_or(0, |offset| offset.0);
        let less = match first {
            0 => String::new(),
            _ => format!(", less /sys/class/block/{}/alignment_offset ({first})", below.name),
        };
        let source = format!("/sys/class/block/{}/start (× 512){less}", node.name);
        let advise = |found: Found, layer: &Beginning| {
            found
                .advise(
                    "Copy what is on it elsewhere, then make it anew at a multiple of 1 MiB, or of the stripe. It ends where it ended: what \
                     is behind it stays where it is.",
                )
                .look(format!("lsblk -f {}", layer.device))
                .look(format!("parted --script {} unit B print", layer.device))
                .run(Data(format!("everything on {}", layer.at)), format!("parted --script {} {}", layer.device, layer.name))
        };
        let name = made_anew(below, partition, node.size, first);
        let start = Bytes(partition.start.0.saturating_sub(first));
        let layer = Beginning { at: at.clone(), start, source, below, device: path(below), name, advise };
        judge(machine, round, &layer);
        // What the kernel itself says, where the drive tells of an offset of its own.
        let Some(offset) = round.ask(&at, &node.alignment_offset) else { continue };
        if offset.0 != 0 && round.findings.iter().all(|found| found.place != at) {
            let found = finding(
                Warning,
                &at,
                format!("its start is {} bytes off the drive's own blocks", offset.0),
                "each write of a block touches 2, and each is read first: 4 operations instead of 1",
            )
            .seen(format!("/sys/class/block/{}/alignment_offset", node.name), offset.0);
            round.find(advise(found, &layer));
        }
    }
}

/// What `parted` is told: the partition goes, and comes again where a stripe begins. Tables of MS-DOS take `primary` for
/// its kind, those of GPT for its name. `first` is where the drive's first block begins.
fn made_anew(below: &Node, partition: &Partition, size: Bytes, first: u64) -> String {
    let told = below.queue.optimal_io.known().and_then(|optimal| stripe(*optimal)).unwrap_or(1);
    let step = common_multiple(told, 1 << 20);
    let end = partition.start.0.saturating_add(size.0).saturating_sub(1);
    let start = partition.start.0.saturating_sub(first).checked_next_multiple_of(step);
    match start.map(|start| start.saturating_add(first)).filter(|start| *start < end) {
        Some(start) => format!("rm {} mkpart primary {start}B {end}B", partition.number),
        None => format!("rm {} mkpart primary START END", partition.number),
    }
}

/// The least number that both divide; `other` is a power of two.
fn common_multiple(one: u64, other: u64) -> u64 {
    one.saturating_mul(other >> one.trailing_zeros().min(other.trailing_zeros()))
}

fn encryption(machine: &Machine, round: &mut Round) {
    for (node, _, crypt) in machine.crypts(round) {
        let at = place(node);
        let Some(below) = node.on.first().and_then(|name| machine.node(name)) else {
            round.unknown(&at, "it is not known what it stands on");
            continue;
        };
        let device = path(below);
        let (start, below) = on_whole_device(machine, sectors(crypt.offset_sectors), below);
        let source = format!("dmsetup table {}", node.label.as_deref().unwrap_or(&node.name));
        let advise = if super::crypt::is_luks(node) { luks_elsewhere } else { without_header };
        let name = quote(node.label.as_deref().unwrap_or(&node.name));
        judge(machine, round, &Beginning { at, start, source, below, device, name, advise });
    }
}

/// LUKS2 keeps its data where it is told to.
fn luks_elsewhere(found: Found, layer: &Beginning) -> Found {
    let stripe = layer.below.queue.optimal_io.known().map_or(0, |optimal| optimal.0);
    // LUKS2 wants 16 MiB for its header; `--offset` counts in sectors of 512 bytes.
    let offset = (16_u64 << 20).checked_next_multiple_of(stripe.max(PAGE)).unwrap_or(16 << 20) / 512;
    let device = &layer.device;
    found
        .advise("Copy what is on it elsewhere, then make it anew with data at a multiple of the stripe.")
        .look(format!("lsblk -f {device}"))
        .run(Nothing, format!("cryptsetup close {}", layer.name))
        .run(
            Data(format!("everything on {}", layer.at)),
            format!("cryptsetup luksFormat --type luks2 --offset {offset} {device}"),
        )
}

/// Other formats begin where their device does, or where whoever opens them says.
fn without_header(found: Found, layer: &Beginning) -> Found {
    found
        .advise(
            "It begins where its device begins, or at the offset that it is opened with. Copy what is on it elsewhere before either is \
             changed: at another place it cannot be read.",
        )
        .look(format!("lsblk -f {}", layer.device))
        .look(format!("cryptsetup status {}", layer.name))
}

/// Where something on a partition begins on the partition's drive.
fn on_whole_device<'a>(machine: &Machine<'a>, start: Bytes, below: &'a Node) -> (Bytes, &'a Node) {
    match (&below.partition, below.on.first().and_then(|name| machine.node(name))) {
        (Some(partition), Some(drive)) => (Bytes(start.0.saturating_add(partition.start.0)), drive),
        _ => (start, below),
    }
}

fn volumes(machine: &Machine, round: &mut Round) {
    for group in round.ask(&Place::machine(), &machine.detail.volume_groups).into_iter().flatten() {
        for physical in &group.physical {
            let at = Place::new("physical volume", &physical.device);
            let Some(below) = physical.node.as_deref().and_then(|name| machine.node(name)) else {
                // A missing one is another check's affair.
                continue;
            };
            let device = path(below);
            let (start, below) = on_whole_device(machine, physical.start, below);
            let source = format!("pvs -o pe_start {}", physical.device);
            let advise = |found: Found, layer: &Beginning| {
                let stripe = layer.below.queue.optimal_io.known().map_or(0, |optimal| optimal.0.max(1 << 20));
                found
                    .advise(
                        "Move its extents to others, take it out of the group when none are left (lvm(8) has what does), make it anew \
                         with extents at a multiple of the stripe, and add it again.",
                    )
                    .look("pvs -o +pv_used")
                    .run(Nothing, format!("pvmove {}", layer.device))
                    .run(
                        Brought(format!("what was put on {} since", layer.at)),
                        format!("pvcreate --dataalignment {stripe}b {}", layer.device),
                    )
                    .run(Nothing, format!("vgextend {} {}", layer.name, layer.device))
            };
            let name = quote(&group.name);
            judge(machine, round, &Beginning { at, start, source, below, device, name, advise });
        }
    }
}

/// What mkfs.btrfs(8) takes at least, `--sectorsize`.
const BTRFS_SECTOR: Bytes = Bytes(4096);

/// The smallest block that is sent to members, where what they belong to tells it.
type Sends = Option<Bytes>;

fn mixed(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays() {
        let members: Vec<&str> = md.members.iter().map(|member| member.device.as_str()).collect();
        compare(machine, round, &place(node), &members, |_| None);
    }
    for group in machine.detail.volume_groups.known().into_iter().flatten() {
        let members: Vec<&str> = group.physical.iter().filter_map(|physical| physical.node.as_deref()).collect();
        compare(machine, round, &Place::new("volume group", &group.name), &members, |_| None);
    }
    for system in machine.detail.file_systems.iter().filter(|system| system.nodes.len() > 1) {
        let members: Vec<&str> = system.nodes.iter().map(String::as_str).collect();
        let at = crate::machine::system_place(machine, system);
        let sector = system.btrfs.as_ref().and_then(|btrfs| btrfs.sector.known().copied());
        compare(machine, round, &at, &members, |_| Some(sector.unwrap_or(BTRFS_SECTOR)));
    }
    for pool in round.ask(&Place::machine(), &machine.detail.pools).into_iter().flatten() {
        for vdev in round.ask(&Place::new("pool", &pool.name), &pool.vdevs).into_iter().flatten() {
            let members: Vec<&str> = vdev.children.iter().filter_map(|leaf| leaf.node.as_deref()).collect();
            let at = Place::new("virtual device", format!("{} of {}", vdev.name, pool.name));
            compare(machine, round, &at, &members, |round| {
                round.ask(&at, &vdev.ashift).map(|shift| Bytes(1_u64.checked_shl(*shift).unwrap_or(u64::MAX)))
            });
        }
    }
}

/// Members have blocks of several sizes. That is a fault unless all that is sent to them is whole blocks of the largest.
fn compare(machine: &Machine, round: &mut Round, at: &Place, members: &[&str], sends: impl Fn(&mut Round) -> Sends) {
    let nodes: Vec<&Node> = members.iter().filter_map(|name| machine.node(name)).collect();
    if nodes.len() < 2 {
        return;
    }
    round.look();
    let blocks: Option<Vec<Bytes>> =
        nodes.iter().map(|node| round.ask(at, &node.queue.logical_block).copied()).collect();
    let Some(blocks) = blocks else { return };
    let (Some(least), Some(most)) = (blocks.iter().min(), blocks.iter().max()) else { return };
    if least == most {
        return;
    }
    let before = round.unknown.len();
    let sent = sends(round);
    // What it sends is told and large enough, or nobody could read it.
    if sent.is_some_and(|sent| sent >= *most) || round.unknown.len() > before {
        return;
    }
    let of = |size: &Bytes| {
        let names = nodes.iter().zip(&blocks).filter(|(_, block)| *block == size).map(|(node, _)| node.name.as_str());
        names.collect::<Vec<_>>()
    };
    let small = of(least);
    let found = finding(
        Error,
        at,
        format!("{} have logical blocks of {least} and {} of {most}", list(&small), list(&of(most))),
        format!(
            "as a whole it has blocks of {most}: requests of {least} fail, and a file system that was made on {} alone does not \
             mount any more",
            count(number(small.len()), "member")
        ),
    );
    let found = nodes.iter().zip(&blocks).fold(found, |found, (node, block)| {
        found.seen(format!("/sys/class/block/{}/queue/logical_block_size", node.name), block.0)
    });
    round.find(same_blocks(found, machine, &small));
}

/// How members come to blocks of one size. Only NVMe drives are told with one command; others are told in their makers' ways, if at all.
fn same_blocks(found: Found, machine: &Machine, small: &[&str]) -> Found {
    let found = found.advise(
        "Copy what stands on it elsewhere, give all its members the same blocks, or take others, make it anew and bring it back. To \
         take out one member after the other leaves it with one less each time, and what was made on small blocks may not work on \
         large ones.",
    );
    let drives: Vec<&Node> = small.iter().flat_map(|name| machine.bottom(name)).collect();
    let all_nvme = !drives.is_empty()
        && drives.iter().all(|node| machine.drive(&node.name).is_some_and(|drive| drive.transport.is_nvme()));
    if !all_nvme {
        return found.look("lsblk -o NAME,TRAN,MODEL,LOG-SEC,PHY-SEC");
    }
    found
        .look("nvme id-ns -H DEVICE")
        .run(Data("everything on each member that is formatted".to_owned()), "nvme format DEVICE --block-size=4096")
}
