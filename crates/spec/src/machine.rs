//! A machine in a few lines: drives with their ratings and links, cores, memory.

use std::collections::HashSet;

use terms::inventory::Link;
use terms::machine::{Baseline, DriveGroup, DriveKind, Machine, Memory, Path, Rated, Transport, Trust, Uplink};
use terms::{Bytes, BytesPerSecond, Iops, Name, Nanos, Note, Pattern, Workload};

use crate::fields::Fields;
use crate::grammar::MACHINE;
use crate::known::{self, KnownDrive, KnownProcessor};

/// Payload of a packet of a network where none is told: the usual size of RDMA over Ethernet.
const NETWORK_PAYLOAD: Bytes = Bytes(1024);
/// Round trip of a network where none is told.
const ROUND_TRIP: Nanos = Nanos(10_000);
const TCP_ROUND_TRIP: Nanos = terms::machine::TCP_ROUND_TRIP;

/// Reads the description of a machine. Every problem of the text is noted; there is a machine only if none of them is
/// an error.
///
/// ```
/// let text = r#"
/// machine = "a board with four drives"
/// cores = 16
/// [[drive]]
/// name = "nvme"
/// count = 4
/// read = "7300 MB/s"
/// link = "16 GT/s x4"
/// payload = "512 B"
/// "#;
/// let (machine, notes) = spec::parse_machine(text);
/// assert_eq!(machine.map(|machine| machine.drives[0].count), Some(4));
/// assert!(notes.is_empty());
/// ```
#[must_use]
pub fn parse_machine(text: &str) -> (Option<Machine>, Vec<Note>) {
    crate::parse_by(&MACHINE, text, machine)
}

fn machine(fields: &Fields, notes: &mut Vec<Note>) -> Option<Machine> {
    let known = processor(fields, notes);
    let sockets = sockets(fields, known.as_ref());
    let cores = fields.number("cores").or_else(|| known.as_ref().map(|known| known.cores * sockets));
    let Some(cores) = cores else {
        if !fields.has("cpu") && !fields.has("cores") {
            let note = Note::error("machine-cores", Some(fields.span), "neither `cores` nor a `cpu` that is known");
            notes.push(note.hint("write cores = 16, or cpu = \"AMD EPYC 7502P\""));
        }
        return None;
    };
    let threads = fields.number("threads").unwrap_or_else(|| match &known {
        // As many for each core as that processor has.
        Some(known) => cores * (known.threads / known.cores).max(1),
        None => cores,
    });
    if threads < cores {
        let note = Note::error("machine-threads", Some(fields.place("threads")), "fewer threads than cores");
        notes.push(note.hint(format!("write threads = {cores} or more")));
    }
    let uplinks: Vec<Uplink> = fields.tables("uplink").iter().filter_map(|table| uplink(table, notes)).collect();
    let names: HashSet<&Name> = uplinks.iter().map(|uplink| &uplink.name).collect();
    for table in fields.tables("uplink") {
        behind(table, &names, table.name("name").as_ref(), notes);
    }
    let mut drives: Vec<DriveGroup> = Vec::new();
    let mut seen = HashSet::new();
    for table in fields.tables("drive") {
        let Some(group) = drive(table, notes) else { continue };
        behind(table, &names, None, notes);
        if !seen.insert(group.name.clone()) {
            let message = format!("two groups of drives are named `{}`", group.name);
            notes.push(Note::error("machine-same-drive", Some(table.place("name")), message));
            continue;
        }
        drives.push(group);
    }
    Some(Machine {
        name: fields.text("machine")?.to_owned(),
        kernel: text(fields, "kernel", "\"6.1\"", notes, kernel),
        cores,
        threads,
        processor: known.as_ref().map(|known| known.processor.clone()),
        memory: fields.table("memory").map_or_else(
            || usual_memory(known.as_ref(), sockets),
            |table| Memory {
                channels: table.number("channels"),
                speed: table.number("speed"),
                size: table.size("size"),
                sustained: None,
            },
        ),
        submit: fields.duration("submit"),
        cipher: text(fields, "cipher", "\"1.8 GB/s\"", notes, rate),
        uplinks,
        drives,
    })
}

/// The processor by its name, or by that of the machine. One that is not known is a usual one, which is said.
fn processor(fields: &Fields, notes: &mut Vec<Note>) -> Option<KnownProcessor> {
    let Some(name) = fields.text("cpu") else { return known::processor_among(fields.text("machine")?) };
    let found = known::processor(name);
    if found.is_none() {
        let message = format!("the processor `{}` is in no table here", name.escape_debug());
        let place = Some(fields.place("cpu"));
        if fields.has("cores") {
            notes.push(Note::error("machine-cpu", place, message).as_warning().hint("a usual one is taken"));
        } else {
            notes.push(Note::error("machine-cpu", place, message).hint(instead(false, name, "add cores = 16")));
        }
    }
    found
}

/// What is like a name that is not known, for a hint.
fn instead(models: bool, name: &str, otherwise: &str) -> String {
    match known::like(models, name).as_slice() {
        [] => otherwise.to_owned(),
        near => format!("did you mean {}? Otherwise {otherwise}", crate::suggest::either(near.iter().copied())),
    }
}

fn sockets(fields: &Fields, known: Option<&KnownProcessor>) -> u32 {
    let by_cores = || Some(fields.number::<u32>("cores")? / known?.cores);
    fields.number("sockets").or_else(by_cores).unwrap_or(1).max(1)
}

/// Every channel of that processor filled with the fastest modules it takes.
fn usual_memory(known: Option<&KnownProcessor>, sockets: u32) -> Memory {
    let Some(known) = known else { return Memory::default() };
    Memory { channels: known.memory.channels.map(|channels| channels * sockets), ..known.memory }
}

/// A text that means something of its own; what does not is noted.
fn text<T>(
    fields: &Fields,
    key: &str,
    like: &str,
    notes: &mut Vec<Note>,
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let word = fields.text(key)?;
    let meaning = read(word);
    if meaning.is_none() {
        let message = format!("`{key}` cannot be `{}`", word.escape_debug());
        notes.push(
            Note::error("machine-bad-value", Some(fields.place(key)), message).hint(format!("write it like {like}")),
        );
    }
    meaning
}

fn kernel(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn rate(text: &str) -> Option<BytesPerSecond> {
    in_a_second(text).filter(|size| size.0 > 0).map(|size| BytesPerSecond(size.as_f64()))
}

/// Bytes in a second, such as `180 MB/s`.
pub(crate) fn in_a_second(text: &str) -> Option<Bytes> {
    Bytes::parse(text.trim().strip_suffix("/s")?).ok()
}

pub(crate) fn link(text: &str) -> Option<Link> {
    let (speed, width) = text.rsplit_once('x')?;
    speed.contains("GT/s").then(|| Link::parse(speed, width)).flatten()
}

/// How rates and links are written, for hints.
const RATE: &str = "\"7300 MB/s\"";
const LINK: &str = "\"16 GT/s x4\"";

fn uplink(table: &Fields, notes: &mut Vec<Note>) -> Option<Uplink> {
    let payload = table.size("payload");
    let path = match (text(table, "link", LINK, notes, link), text(table, "line", "\"12.5 GB/s\"", notes, rate)) {
        (Some(link), _) => Path::Pcie { link, payload },
        (None, Some(line)) => {
            let transport = table.word("transport").unwrap_or_default();
            let usual = if transport == Transport::Tcp { TCP_ROUND_TRIP } else { ROUND_TRIP };
            Path::Network {
                line,
                payload: payload.unwrap_or(NETWORK_PAYLOAD),
                round_trip: table.duration("round_trip").unwrap_or(usual),
                transport,
            }
        }
        (None, None) => return None,
    };
    Some(Uplink { name: table.name("name")?, path, behind: table.name("behind") })
}

fn behind(table: &Fields, known: &HashSet<&Name>, itself: Option<&Name>, notes: &mut Vec<Note>) {
    let Some(name) = table.name("behind") else { return };
    if !known.contains(&name) || itself == Some(&name) {
        let message = format!("no uplink is named `{name}`");
        notes.push(
            Note::error("machine-unknown-uplink", Some(table.place("behind")), message).hint("add an [[uplink]]"),
        );
    }
}

fn drive(table: &Fields, notes: &mut Vec<Note>) -> Option<DriveGroup> {
    let model = model(table, notes);
    let sheet = model.as_ref().map_or(Rated::NOTHING, |model| model.rated);
    let operations = |key: &str| table.number::<u32>(key).map(|rate| Iops(f64::from(rate)));
    let mut bytes = |key: &str| text(table, key, RATE, notes, rate);
    // What the name tells of flushes is of its cache, and of a drive that nobody told of or measured: others were.
    let flushes =
        !table.has("flush") && table.boolean("write_cache") != Some(false) && table.boolean("measured") != Some(true);
    let rated = Rated {
        read: bytes("read").or(sheet.read),
        write: bytes("write").or(sheet.write),
        sustained: bytes("sustained"),
        read_iops: operations("read_iops").or(sheet.read_iops),
        write_iops: operations("write_iops").or(sheet.write_iops),
        sustained_iops: operations("sustained_iops"),
        cache: table.size("cache"),
        read_latency: table.duration("read_latency").or(sheet.read_latency),
        ordered_latency: sheet.ordered_latency,
        write_latency: table.duration("write_latency"),
        flush: table.duration("flush").or(sheet.flush.filter(|_| flushes)),
        fua: table.duration("fua").or(sheet.fua.filter(|_| flushes)),
        write_cache: table.boolean("write_cache"),
        rpm: table.number("rpm").or(sheet.rpm),
    };
    slower_when_full(table, &rated, notes);
    Some(DriveGroup {
        name: table.name("name")?,
        count: table.number("count").unwrap_or(1),
        kind: table.word::<DriveKind>("kind").or(model.as_ref().map(|model| model.kind)).unwrap_or_default(),
        rated,
        size: table.size("size"),
        block: None,
        link: text(table, "link", LINK, notes, link).or(model.and_then(|model| model.link)),
        payload: table.size("payload"),
        behind: table.name("behind"),
        trust: if table.boolean("measured") == Some(true) { Trust::Measured } else { Trust::Sheet },
        baseline: table.tables("baseline").iter().filter_map(|one| baseline(one, notes)).collect(),
    })
}

/// What a drive keeps up once its cache is full is no more than what it does while the cache has room.
fn slower_when_full(table: &Fields, rated: &Rated, notes: &mut Vec<Note>) {
    let rate = |told: Option<BytesPerSecond>| told.map(|rate| rate.0);
    let operations = |told: Option<Iops>| told.map(|rate| rate.0);
    for (key, full, whole, first) in [
        ("sustained", rate(rated.sustained), "write", rate(rated.write)),
        ("sustained_iops", operations(rated.sustained_iops), "write_iops", operations(rated.write_iops)),
    ] {
        if full.zip(first).is_some_and(|(full, first)| full > first) {
            let message = format!("`{key}` is more than the drive's `{whole}`");
            let note = Note::error("machine-sustained", Some(table.place(key)), message);
            notes.push(
                note.hint(format!("a cache that is full makes no drive faster: write the larger one as `{whole}`")),
            );
        }
    }
}

fn model(table: &Fields, notes: &mut Vec<Note>) -> Option<KnownDrive> {
    let name = table.text("model")?;
    let found = known::drive(name);
    if found.is_none() {
        let message = format!("no data sheet of `{}` is known here", name.escape_debug());
        let note = Note::error("machine-model", Some(table.place("model")), message);
        notes.push(note.hint(instead(true, name, "leave it out, and write `kind` and what its data sheet says")));
    }
    found
}

fn baseline(table: &Fields, notes: &mut Vec<Note>) -> Option<Baseline> {
    let pattern = match table.text("pattern")? {
        "read" => Pattern::Read,
        "write" => Pattern::Write,
        "randread" => Pattern::RandRead,
        _ => Pattern::RandWrite,
    };
    let block = table.size("block")?;
    let fsync_every = table.number("fsync_every");
    if fsync_every.is_some() && !pattern.writes() {
        let note =
            Note::error("machine-baseline-fsync", Some(table.place("fsync_every")), "reads have nothing to flush");
        notes.push(note.hint("leave it out, or change `pattern`"));
    }
    let whole = text(table, "rate", RATE, notes, rate).map(|rate| Iops(rate.0 / block.as_f64()));
    let operations = whole.or_else(|| table.number::<u32>("iops").map(|rate| Iops(f64::from(rate))))?;
    let work = Workload {
        depth: table.number("depth").unwrap_or(1),
        jobs: table.number("jobs").unwrap_or(1),
        engine: table.word("engine").unwrap_or_default(),
        fsync_every,
        ..Workload::new(Name::new("baseline").ok()?, pattern, block)
    };
    Some(Baseline { work, files: table.word("files"), operations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_rates_are_read() {
        assert_eq!(link("16 GT/s x4"), Some(Link { speed: 16_000, lanes: 4 }));
        assert_eq!(link("8.0 GT/s PCIe x16"), Some(Link { speed: 8_000, lanes: 16 }));
        assert_eq!(link("x4"), None);
        assert_eq!(rate("1.5 GB/s"), Some(BytesPerSecond(1.5e9)));
        assert_eq!(rate("1.5 GB"), None);
        assert_eq!(kernel("6.1.0-9-amd64"), Some((6, 1)));
    }

    #[test]
    fn what_one_drive_gave_is_read() {
        let text = "machine = \"m\"\ncores = 4\n[[drive]]\nname = \"a\"\nbaseline = [{ pattern = \"read\", block = \"1 MiB\", \
                    depth = 8, rate = \"1048.576 MB/s\" }, { pattern = \"randwrite\", block = \"4 KiB\", engine = \"psync\", \
                    fsync_every = 16, files = \"ext4\", iops = 2663 }]\n";
        let (machine, notes) = parse_machine(text);
        assert!(notes.is_empty(), "{notes:#?}");
        let baseline = &machine.unwrap().drives[0].baseline;
        assert_eq!((baseline[0].operations, baseline[0].work.depth, baseline[0].files), (Iops(1000.0), 8, None));
        assert_eq!((baseline[1].operations, baseline[1].work.fsync_every), (Iops(2663.0), Some(16)));
        let wrong =
            text.replace(", iops = 2663", "").replace("pattern = \"read\"", "fsync_every = 1, pattern = \"read\"");
        let (machine, notes) = parse_machine(&wrong);
        assert!(machine.is_none() && notes.len() == 2, "{notes:#?}");
    }

    #[test]
    fn a_full_cache_makes_no_drive_faster() {
        let of = |more: &str| parse_machine(&format!("machine = \"m\"\ncores = 4\n[[drive]]\nname = \"a\"\n{more}"));
        for more in [
            "write = \"1 GB/s\"\nsustained = \"2 GB/s\"\n",
            "write_iops = 1000\nsustained_iops = 1001\n",
            "model = \"Samsung 990 PRO 2TB\"\nsustained = \"7 GB/s\"\n",
        ] {
            let (machine, notes) = of(more);
            assert!(machine.is_none() && notes.len() == 1 && notes[0].code == "machine-sustained", "{notes:#?}");
            assert!(notes[0].span.is_some());
        }
        assert!(of("write = \"1 GB/s\"\nsustained = \"1 GB/s\"\nsustained_iops = 5\n").1.is_empty());
    }

    #[test]
    fn a_name_tells_of_flushes_where_nobody_else_does() {
        let of = |more: &str| {
            let text =
                format!("machine = \"m\"\ncores = 4\n[[drive]]\nname = \"a\"\nmodel = \"Samsung 980 PRO 1TB\"\n{more}");
            let rated = parse_machine(&text).0.unwrap().drives[0].rated;
            (rated.flush.map(|time| time.0), rated.fua.map(|time| time.0))
        };
        assert_eq!(of(""), (Some(1_900_000), Some(4_450_000)));
        assert_eq!(of("flush = \"1 ms\"\n"), (Some(1_000_000), None), "it is another drive than those");
        assert_eq!(of("flush = \"1 ms\"\nfua = \"2 ms\"\n"), (Some(1_000_000), Some(2_000_000)));
        assert_eq!(of("write_cache = false\n"), (None, None), "nothing is in a cache");
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        let text = "machine = \"m\"\ncores = 4\nthreads = 2\n[[uplink]]\nname = \"s\"\nlink = \"fast\"\n[[drive]]\nname = \
                    \"a\"\nread = \"7300\"\nbehind = \"t\"\nkindd = \"hdd\"\n";
        let (machine, notes) = parse_machine(text);
        assert!(machine.is_none());
        let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
        let all = [
            "machine-threads",
            "machine-bad-value",
            "machine-bad-value",
            "machine-unknown-uplink",
            "study-unknown-key",
        ];
        assert_eq!(codes, all, "{notes:#?}");
        assert!(notes.iter().all(|note| note.span.is_some()));
        insta::assert_snapshot!(crate::render("machine.toml", text, &notes, false));
    }
}
