//! The guest of a study: its drives, and whether they can be.

use std::collections::{HashMap, HashSet};

use terms::text::Alphabet;
use terms::units::KIB;
use terms::{
    Bytes, Clock, Hosts, LabDrive, LabDriveKind, LabSpec, LabSwitch, Name, Note, Port, RateLimit, Speed, Spindle,
};

use crate::fields::Fields;
use crate::machine::in_a_second;

/// A limit below this makes drives of which nothing can be read in time.
const SLOWEST: u64 = 64 * KIB;

/// Rates of the outermost turn that are drives'. Of what is faster, small drives would have but a few turns.
const OUTER: [u64; 2] = [1_000_000, 1_000_000_000];

/// The guest as read. A size of 0 stands for one that was refused.
#[derive(Debug)]
pub(crate) struct Lab {
    /// The guest.
    pub(crate) spec: LabSpec,
    /// Was every drive understood? If not, an unknown name may well be one of them.
    pub(crate) complete: bool,
    /// Where each drive stands in the list.
    places: HashMap<String, usize>,
    /// Logical blocks that drives are formatted to.
    pub(crate) formats: HashMap<Name, Bytes>,
}

impl Lab {
    /// The logical block of a drive once it is set up; `None` of one that nobody tells of.
    pub(crate) fn block(&self, name: &Name) -> Option<Bytes> {
        self.formats.get(name).copied().or_else(|| self.drive(name.as_str()).map(|drive| drive.lba))
    }

    /// The drive of that name.
    pub(crate) fn drive(&self, name: &str) -> Option<&LabDrive> {
        self.places.get(name).and_then(|at| self.spec.drives.get(*at))
    }
}

/// Reads `[lab]`; without one, the drives are these.
pub(crate) fn read(study: &Fields, drives: &[LabDrive], notes: &mut Vec<Note>) -> Lab {
    let mut spec = LabSpec::new(2, Bytes::gib(3));
    let Some(lab) = study.table("lab") else {
        if !study.has("lab") && !drives.is_empty() {
            spec.drives = drives.to_vec();
            let places = drives.iter().enumerate().map(|(at, drive)| (drive.name.to_string(), at)).collect();
            return Lab { spec, complete: true, places, formats: HashMap::new() };
        }
        if !study.has("lab") {
            notes.push(
                Note::error("study-no-drives", None, "the study has no drives")
                    .hint("add [lab] with drives = [ { name = \"a\", size = \"512 MiB\" } ]"),
            );
        }
        return Lab { spec, complete: study.has("lab"), places: HashMap::new(), formats: HashMap::new() };
    };
    let mut places = HashMap::new();
    spec.cpus = lab.number("cpus").unwrap_or(spec.cpus);
    spec.memory = lab.size("memory").unwrap_or(spec.memory);
    let drives = lab.tables("drives");
    let mut complete = lab.has("drives") && !lab.is_wrong("drives");
    for fields in drives {
        let Some(name) = fields.name("name") else {
            complete = false;
            continue;
        };
        if places.contains_key(name.as_str()) {
            notes.push(
                Note::error("study-same-drive", Some(fields.place("name")), format!("two drives are named `{name}`"))
                    .label("the second of that name")
                    .hint("give every drive a name of its own"),
            );
            continue;
        }
        places.insert(name.to_string(), spec.drives.len());
        spec.drives.push(drive(fields, name, notes));
    }
    let ports: HashSet<u8> = spec.drives.iter().filter_map(|drive| number_of(&drive.port)).collect();
    spec.switches = lab.tables("switches").iter().filter_map(|fields| switch(fields, &ports, notes)).collect();
    spec.hosts = hosts(lab, &spec, notes);
    spec.said_clock = lab.word("clock");
    spec.cpu = cpu(lab, &spec, notes);
    spec.kernels = kernels(lab, notes);
    if let (Some(why), true) = (spec.clock_refused(), complete) {
        notes.push(
            Note::error(
                "study-clock",
                Some(if lab.has("clock") { lab.place("clock") } else { lab.key("drives") }),
                why,
            )
            .hint("make the drives kind = \"flash\", \"hdd\" or \"ram\", or the clock = \"real\""),
        );
    }
    check_memory(lab, &spec, notes);
    Lab { spec, complete, places, formats: HashMap::new() }
}

/// Releases of kernels, or beginnings of them.
fn kernels(lab: &Fields, notes: &mut Vec<Note>) -> Vec<String> {
    let one = lab.text("kernel").map(str::to_owned);
    let Some(several) = lab.names("kernels") else { return one.into_iter().collect() };
    if one.is_some() {
        notes.push(
            Note::error("study-kernels", Some(lab.key("kernel")), "`kernel` and `kernels` say the same")
                .hint("keep one of them"),
        );
    }
    for word in several {
        if let Err(unfit) = Alphabet::Figure.check(&word.text) {
            let message = format!("`{}` is no release of a kernel: it {unfit}", word.text.escape_debug());
            notes.push(
                Note::error("study-kernels", Some(word.span), message)
                    .hint("write it like \"6.12\" or \"6.1.0-56-amd64\""),
            );
        }
    }
    several.iter().map(|word| word.text.trim().to_owned()).collect()
}

/// The processor that a guest under a virtual clock stands for.
fn cpu(lab: &Fields, spec: &LabSpec, notes: &mut Vec<Note>) -> Option<Speed> {
    let text = lab.text("cpu")?;
    let speed = Speed::parse(text);
    if speed.is_none() {
        notes.push(
            Note::error("study-cpu", Some(lab.place("cpu")), format!("`cpu` cannot be `{}`", text.escape_debug()))
                .hint(format!("write it like \"{}\"; {} to {}", Speed::USUAL, Speed::GUEST, Speed::MOST)),
        );
    } else if spec.clock() == Clock::Real {
        notes.push(
            Note::error("study-cpu", Some(lab.key("cpu")), "`cpu` is of guests under a virtual clock")
                .label("under a real clock a guest is as fast as this machine makes it")
                .as_warning()
                .hint("leave it out, or make the drives kind = \"flash\", \"hdd\" or \"ram\""),
        );
    }
    speed
}

fn drive(fields: &Fields, name: Name, notes: &mut Vec<Note>) -> LabDrive {
    let kind = fields.word("kind").unwrap_or(LabDriveKind::Nvme);
    let lba = fields.size("lba").unwrap_or(Bytes(512));
    if !kind.has_blocks() && lba.0 == 4 * KIB {
        notes.push(
            Note::error("study-lba", Some(fields.place("lba")), format!("drive `{name}` cannot have 4 KiB blocks"))
                .label("only NVMe and flash drives offer them here")
                .hint("write \"512 B\", or make the drive kind = \"nvme\""),
        );
    }
    let port = fields.text("port").and_then(port).unwrap_or(Port::Cpu);
    let portless = match kind {
        LabDriveKind::Ram => Some("RAM"),
        LabDriveKind::Flash => Some("flash"),
        LabDriveKind::NvmeTcp => Some("remote"),
        LabDriveKind::Nvme | LabDriveKind::Sata | LabDriveKind::Hdd => None,
    };
    if let (Some(word), true) = (portless, fields.has("port")) {
        notes.push(
            Note::error("study-port", Some(fields.key("port")), format!("{word} drive `{name}` has no port"))
                .hint("leave `port` out"),
        );
    } else if matches!(kind, LabDriveKind::Sata | LabDriveKind::Hdd) && port != Port::Cpu {
        notes.push(
            Note::error(
                "study-port",
                Some(fields.place("port")),
                format!("SATA drive `{name}` cannot be in a PCIe switch"),
            )
            .hint("leave `port` out, or make the drive kind = \"nvme\""),
        );
    }
    let limit = limit(fields, notes);
    let paths = paths(fields, &name, kind, notes);
    let spindle = spindle(fields, &name, kind, notes);
    if kind == LabDriveKind::Ram && !limit.is_none() {
        notes.push(
            Note::error("study-limit", Some(fields.span), format!("RAM drive `{name}` cannot be limited"))
                .label("it is the guest's own memory")
                .hint("leave its rates out, or make it kind = \"nvme\""),
        );
    }
    if kind == LabDriveKind::Flash && limit != limit.of_reads() {
        notes.push(
            Note::error(
                "study-limit",
                Some(fields.span),
                format!("flash drive `{name}` has one speed for both directions"),
            )
            .label("reads and writes share its places in the queue")
            .hint("give `read` and `write` one rate, and `read_iops` and `write_iops` one number"),
        );
    }
    let (size, stands_for) = (fields.size("size").unwrap_or_default(), fields.size("stands_for"));
    LabDrive { name, kind, size, stands_for, lba, port, limit, paths, spindle }
}

fn port(word: &str) -> Option<Port> {
    Some(Port::Switch(word.strip_prefix("switch")?.parse().ok()?))
}

const fn number_of(port: &Port) -> Option<u8> {
    match port {
        Port::Switch(number) => Some(*number),
        Port::Cpu => None,
    }
}

/// How fast a drive or a link may be.
fn limit(fields: &Fields, notes: &mut Vec<Note>) -> RateLimit {
    let mut rate = |key: &str| {
        let text = fields.text(key)?;
        let rate = in_a_second(text);
        if rate.is_none_or(|rate| rate.0 < SLOWEST) {
            let message = format!("`{key}` cannot be `{}`", text.escape_debug());
            notes.push(
                Note::error("study-limit", Some(fields.place(key)), message)
                    .hint(format!("write it like \"180 MB/s\"; at least {}/s", Bytes(SLOWEST))),
            );
        }
        rate
    };
    let (read, write) = (rate("read"), rate("write"));
    RateLimit { read, write, read_iops: fields.number("read_iops"), write_iops: fields.number("write_iops") }
}

fn switch(fields: &Fields, ports: &HashSet<u8>, notes: &mut Vec<Note>) -> Option<LabSwitch> {
    let number = fields.text("port").and_then(port).as_ref().and_then(number_of)?;
    if !ports.contains(&number) {
        notes.push(
            Note::error("study-empty-switch", Some(fields.place("port")), "no drive is behind this switch")
                .as_warning()
                .hint(format!("give drives port = \"switch{number}\", or leave the switch out")),
        );
    }
    Some(LabSwitch { number, limit: limit(fields, notes) })
}

/// What makes a drive as slow as a hard disk, and nothing of any other drive.
fn spindle(fields: &Fields, name: &Name, kind: LabDriveKind, notes: &mut Vec<Note>) -> Option<Spindle> {
    if kind != LabDriveKind::Hdd {
        for key in ["rpm", "outer", "seek", "cache"].into_iter().filter(|key| fields.has(key)) {
            let message = format!("`{key}` is of hard disks, and `{name}` is none");
            notes.push(
                Note::error("study-spindle", Some(fields.key(key)), message)
                    .hint(format!("leave `{key}` out, or make the drive kind = \"hdd\"")),
            );
        }
        return None;
    }
    let usual = Spindle::default();
    let outer = fields.text("outer").and_then(|text| {
        let rate = in_a_second(text).filter(|rate| (OUTER[0]..=OUTER[1]).contains(&rate.0));
        if rate.is_none() {
            let message = format!("`outer` cannot be `{}`", text.escape_debug());
            notes.push(
                Note::error("study-spindle", Some(fields.place("outer")), message)
                    .hint("write it like \"200 MB/s\"; 1 MB/s to 1 GB/s"),
            );
        }
        rate
    });
    Some(Spindle {
        rpm: fields.number("rpm").unwrap_or(usual.rpm),
        outer: outer.unwrap_or(usual.outer),
        seek: fields.duration("seek").unwrap_or(usual.seek),
        cache: fields.size("cache").unwrap_or(usual.cache),
        ..usual
    })
}

/// Network paths: only a remote drive has any to choose.
fn paths(fields: &Fields, name: &Name, kind: LabDriveKind, notes: &mut Vec<Note>) -> u8 {
    if kind == LabDriveKind::NvmeTcp {
        return fields.number("paths").unwrap_or(2);
    }
    if fields.has("paths") {
        notes.push(
            Note::error(
                "study-paths",
                Some(fields.key("paths")),
                format!("drive `{name}` is not reached over a network"),
            )
            .hint("leave `paths` out, or make the drive kind = \"nvme-tcp\""),
        );
    }
    1
}

/// Several hosts are connected by the network of their enclosure, so there has to be one.
fn hosts(lab: &Fields, spec: &LabSpec, notes: &mut Vec<Note>) -> Hosts {
    let hosts = lab.number("hosts").map_or(Hosts::ONE, Hosts);
    if !hosts.is_one() && spec.drives.iter().all(|drive| drive.kind != LabDriveKind::NvmeTcp) {
        notes.push(
            Note::error("study-hosts", Some(lab.place("hosts")), "hosts that have nothing in common")
                .label("no drive is remote")
                .hint("make drives kind = \"nvme-tcp\", or leave `hosts` out"),
        );
    }
    hosts
}

/// Drives of the guest's own kernel live in its memory, where the kernel and the tools must live too.
fn check_memory(lab: &Fields, spec: &LabSpec, notes: &mut Vec<Note>) {
    let taken = spec.drives_in_memory();
    if !spec.drives_in_memory_fit() {
        let place = if lab.has("memory") { lab.place("memory") } else { lab.key("drives") };
        notes.push(
            Note::error("study-memory", Some(place), format!("drives in memory take {taken} of {}", spec.memory))
                .label("more than half")
                .hint(format!("give the guest {} or make the drives smaller", Bytes(taken.0.saturating_mul(2)))),
        );
    }
}
