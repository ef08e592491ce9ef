//! Block devices of every kind and what each stands on.

use terms::Bytes;
use terms::inventory::{Backing, Node, Partition, Readout, RequestQueue};

use super::mapping::Mapper;
use super::source::{Source, needed};
use super::{drive, md, signature};

const BLOCK: &str = "/sys/class/block";

/// All of them: drives, their partitions, arrays, mappings, attached loop devices.
pub(super) fn read(source: &Source) -> Vec<Node> {
    let mut names = source.listed(BLOCK);
    names.retain(|name| is_wanted(source, name));
    names.sort_by_key(|name| drive::order(name));
    let mapper = if names.iter().any(|name| name.starts_with("dm-")) { Some(Mapper::ask(source)) } else { None };
    let suspended = suspended(source, &names);
    names.into_iter().map(|name| node(source, name, mapper.as_ref(), &suspended)).collect()
}

/// Mappings that are suspended. What reads one waits until somebody resumes it, and nothing can end it before.
fn suspended(source: &Source, names: &[String]) -> Vec<String> {
    let flag = |name: &&String| source.told(&format!("{BLOCK}/{name}/dm/suspended")).is_some_and(|flag| flag == "1");
    names.iter().filter(|name| name.starts_with("dm-")).filter(flag).cloned().collect()
}

/// Is it suspended, or something that it stands on? Only asked where something is.
fn waits(source: &Source, name: &str, suspended: &[String], depth: usize) -> bool {
    suspended.iter().any(|known| known == name)
        || depth > 0
            && !suspended.is_empty()
            && source
                .listed(&format!("{BLOCK}/{name}/slaves"))
                .iter()
                .any(|under| waits(source, under, suspended, depth - 1))
}

/// Layers that are looked through for one that is suspended: more than anybody stacks.
const LAYERS: usize = 16;
/// Why nothing that lies on a suspended mapping is read.
pub(super) const SUSPENDED: &str = "a mapping is suspended, and what reads it would wait until it is resumed";

/// Left out: ways to a namespace (the kernel hides them), optical and floppy drives, devices of size 0 that wait for
/// something to be attached.
fn is_wanted(source: &Source, name: &str) -> bool {
    let hidden = source.told(&format!("{BLOCK}/{name}/hidden")).is_some_and(|flag| flag == "1");
    let foreign = ["sr", "fd"].iter().any(|kind| {
        name.strip_prefix(kind).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let waits = ["loop", "zram", "nbd", "rbd", "md", "drbd"].iter().any(|kind| name.starts_with(kind));
    let empty = || source.told(&format!("{BLOCK}/{name}/size")).is_none_or(|size| size == "0");
    // An array that is assembled and not started has size 0 and still holds its members.
    let holds = || !source.listed(&format!("{BLOCK}/{name}/slaves")).is_empty();
    // One that says how it is is there, whatever of it was captured. `clear` is one that was stopped.
    let is_array = || source.told(&format!("{BLOCK}/{name}/md/array_state")).is_some_and(|state| state != "clear");
    !hidden && !foreign && (!waits || !empty() || holds() || is_array())
}

fn node(source: &Source, name: String, mapper: Option<&Mapper>, suspended: &[String]) -> Node {
    let directory = format!("{BLOCK}/{name}");
    let file = |file: &str| format!("{directory}/{file}");
    let told = |name: &str| source.told(&file(name));
    let number = told("dev").unwrap_or_default();
    let partition = partition(source, &directory, &number);
    let parent = partition.is_some().then(|| parent(source, &directory)).flatten();
    let md = source.resolved(&file("md")).map(|_| md::read(source, &directory));
    let dm = mapper.and_then(|mapper| mapper.mapping(source, &directory));
    let backing = backing(source, &directory);
    let label = dm.as_ref().map(|dm| dm.name.clone()).or_else(|| md.as_ref().and_then(|_| array_name(source, &number)));
    let kind = if partition.is_some() {
        "partition".to_owned()
    } else if let Some(md) = &md {
        md.level.clone()
    } else if let Some(dm) = &dm {
        let kinds = dm.targets.known().map(|targets| targets.first().map_or("empty", |target| target.kind.as_str()));
        kinds.unwrap_or("mapping").to_owned()
    } else if name.starts_with("loop") {
        "loop".to_owned()
    } else {
        "drive".to_owned()
    };
    Node {
        label: label.filter(|label| *label != name),
        kind,
        size: Bytes(told("size").and_then(|text| text.parse::<u64>().ok()).unwrap_or(0).saturating_mul(512)),
        on: match &parent {
            Some(parent) => vec![parent.clone()],
            None => source.listed(&file("slaves")),
        },
        read_only: told("ro").is_some_and(|flag| flag == "1"),
        queue: queue(source, &parent.as_ref().map_or(directory.clone(), |parent| format!("{BLOCK}/{parent}"))),
        alignment_offset: needed(&file("alignment_offset"), source.size(&file("alignment_offset"), 1)),
        partition,
        md,
        dm,
        backing,
        signatures: if waits(source, &name, suspended, LAYERS) {
            Readout::unknown(SUSPENDED)
        } else {
            signature::read(source, &name, &number)
        },
        number,
        name,
    }
}

fn partition(source: &Source, directory: &str, number: &str) -> Option<Partition> {
    let told = |file: &str| source.told(&format!("{directory}/{file}"));
    let index = told("partition")?.parse().ok()?;
    let udev = signature::udev(source, number).known().cloned().unwrap_or_default();
    Some(Partition {
        number: index,
        // Where that is not told it is a gap, and none of the checks that ask for it can pass.
        start: Bytes(told("start").and_then(|start| start.parse::<u64>().ok()).unwrap_or(0).saturating_mul(512)),
        uuid: udev.get("ID_PART_ENTRY_UUID").cloned(),
        label: udev.get("ID_PART_ENTRY_NAME").cloned(),
        kind: udev.get("ID_PART_ENTRY_TYPE").map(|kind| kind.to_ascii_lowercase()),
    })
}

/// A partition's directory lies in that of its drive.
fn parent(source: &Source, directory: &str) -> Option<String> {
    source.resolved(directory)?.rsplit('/').nth(1).map(ToOwned::to_owned)
}

/// The name that an array goes by, of which only udev's links tell without root.
fn array_name(source: &Source, number: &str) -> Option<String> {
    let udev = signature::udev(source, number).known().cloned()?;
    udev.get("MD_DEVNAME").cloned()
}

fn backing(source: &Source, directory: &str) -> Option<Backing> {
    Some(Backing {
        file: source.told(&format!("{directory}/loop/backing_file"))?,
        offset: source.size(&format!("{directory}/loop/offset"), 1).known().copied().flatten().unwrap_or_default(),
        direct: source.needed::<u8>(&format!("{directory}/loop/dio")).map(|flag| flag == 1),
    })
}

fn queue(source: &Source, directory: &str) -> RequestQueue {
    let file = |file: &str| format!("{directory}/queue/{file}");
    let size = |name: &str, unit| needed(&file(name), source.size(&file(name), unit));
    let text = |name: &str| needed(&file(name), source.text(&file(name)));
    let name = directory.rsplit('/').next().unwrap_or_default();
    RequestQueue {
        logical_block: size("logical_block_size", 1),
        physical_block: size("physical_block_size", 1),
        minimum_io: size("minimum_io_size", 1),
        optimal_io: size("optimal_io_size", 1),
        largest_io: size("max_sectors_kb", 1024),
        discard_max: size("discard_max_bytes", 1),
        discard_granularity: size("discard_granularity", 1),
        // Devices that pass requests on have no scheduler; older kernels say `none` for them.
        scheduler: source.text(&file("scheduler")).map(|line| line.map(|line| crate::in_force(&line).to_owned())),
        write_cache: text("write_cache"),
        rotational: source.needed::<u8>(&file("rotational")).map(|flag| flag == 1),
        requests: source.needed(&file("nr_requests")),
        read_ahead: size("read_ahead_kb", 1024),
        hardware_queues: hardware_queues(source, directory, name),
        zoned: text("zoned"),
    }
}

/// Mappings and arrays have none of their own.
fn hardware_queues(source: &Source, directory: &str, name: &str) -> Readout<u32> {
    if name.starts_with("dm-") || name.starts_with("md") {
        return Readout::Known(0);
    }
    let queues = format!("{directory}/mq");
    source.names(&queues).map(|names| names.map_or(0, |names| u32::try_from(names.len()).unwrap_or(u32::MAX)))
}
