//! A machine made ready for arithmetic: drives by name, each with the places of its values in the book.

use std::collections::HashMap;

use terms::machine::{DriveGroup, DriveKind, Machine, Path, Transport, Trust};
use terms::prediction::Source;
use terms::{Bytes, BytesPerSecond, Iops, Nanos};

use crate::flash::is_flash;
use crate::link::{Direction, pcie};
use crate::parameter::{Parameter, RATED_AT_LINK, Unit};
use crate::parameters::{Parameters, Value};
use crate::queue::{flash_queue, queue, requests};
use crate::sheet::{ANSWERED, Sheet, UNSENT, sheet};

/// A machine made ready.
#[derive(Debug, Clone)]
pub struct Site {
    /// Values.
    pub parameters: Parameters,
    pub(crate) machine: Machine,
    pub(crate) classes: Vec<Class>,
    pub(crate) uplinks: Vec<Shared>,
    /// Group of each drive.
    pub(crate) drives: Vec<u32>,
    /// Class of each group: groups that differ in nothing but their name are one.
    groups: Vec<u32>,
    names: HashMap<String, u32>,
    pub(crate) memory: Option<u32>,
    /// Was it measured in a guest whose instructions are counted?
    pub(crate) counted: bool,
    /// Is the time of a processor that of a whole core, by its name?
    pub(crate) named: bool,
}

/// A group of equal drives, its values by their place in the book.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) kind: DriveKind,
    pub(crate) read: u32,
    pub(crate) write: u32,
    pub(crate) read_op: u32,
    pub(crate) write_op: u32,
    pub(crate) sustained: u32,
    pub(crate) sustained_op: u32,
    pub(crate) read_delay: u32,
    pub(crate) write_delay: u32,
    /// A small read alone, in order.
    pub(crate) ahead: u32,
    pub(crate) flush: u32,
    /// A write that is past the cache when it has ended: on flash a write and a flush.
    pub(crate) commit: u32,
    pub(crate) flush_told: bool,
    /// Of a hard disk: a random read and a random write with nothing to sort.
    pub(crate) unsorted: [u32; 2],
    /// Of a hard disk: half a turn and a short way.
    pub(crate) position: u32,
    /// Of a hard disk, seconds of a turn.
    pub(crate) turn: f64,
    /// Were random reads and writes told, and one of each alone? Then they are as they are, however far the head goes.
    pub(crate) told: [bool; 2],
    pub(crate) told_alone: [bool; 2],
    /// Own link towards the processor and from it.
    pub(crate) link: Option<[u32; 2]>,
    pub(crate) uplink: Option<u32>,
    /// Do writes change once a cache is full?
    pub(crate) fades: bool,
    /// Are its writes at random known as it keeps them up? Makers of drives with a quick part tell of that part.
    pub(crate) keeps_up: bool,
    /// Is its rating of writes at random that of its maker, who rates what it keeps up all over?
    pub(crate) rated_in_all: bool,
    /// Is its write cache on, or does it need none?
    pub(crate) cached: bool,
    /// Bytes of each, where known.
    pub(crate) size: Option<f64>,
    /// Of a drive in memory that answers after a while, and not in the call: bytes that it takes at once.
    pub(crate) piece: Option<f64>,
    /// Requests that the kernel hands out for it at a time: who wants one more sleeps.
    pub(crate) requests: f64,
    /// Operations that it is at work on, where the guest's kernel keeps the others in a queue.
    pub(crate) queue: Option<f64>,
    /// Spread of the time of an operation relative to its mean.
    pub(crate) spread: f64,
    /// Share of its busy time that an operation waits less than it would behind exponential times: see
    /// [`EVEN`].
    pub(crate) even: f64,
}

/// An operation that finds another at work waits for what is left of it: all of a mean time where times are
/// exponential, `(1 + c²)/2` of it in general, half of it where all are the same (residual life; Kleinrock, *Queueing
/// Systems* I, 5.2). So much is taken off for a drive, or a thread, whose operations all take as long.
pub(crate) const EVEN: f64 = 0.5;

/// Channels of memory where nobody told: two, as desktops have, and in servers one for each eight cores (EPYC 7003 and Xeon
/// of the third generation: eight channels for up to 64 and 40 cores).
const CHANNELS: f64 = 2.0;
const CORES: f64 = 8.0;
/// Bytes per second of a channel of DDR4-3200.
const USUAL_CHANNEL: f64 = 25.6e9;
/// Turns in a minute of a usual hard disk, and seconds of a way from track to track with settling.
const USUAL_TURNS: u32 = 7200;
pub(crate) const SHORT_WAY: f64 = 1.0e-3;
/// How far drives of one name differ in flushes, geometric: of a 970 EVO Plus 2TB 0.7 and 2.2 ms were published.
const SAME_NAME: f64 = 0.45;
/// Bytes of a random operation that data sheets rate.
const BLOCK: f64 = 4096.0;

/// A shared link.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) ways: [u32; 2],
    pub(crate) round_trip: Option<u32>,
    /// Do processors move the bytes?
    pub(crate) tcp: bool,
    pub(crate) behind: Option<u32>,
}

impl Site {
    /// By how much a flush may be quicker than predicted, geometric: of the drive whose flush is known least.
    pub(crate) fn flush_sigma(&self) -> f64 {
        self.classes.iter().map(|class| self.parameters.sigma(class.flush)).fold(0.0, f64::max)
    }

    /// Makes a machine ready.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let mut site = Self {
            parameters: Parameters::default(),
            machine: machine.clone(),
            classes: Vec::new(),
            uplinks: Vec::new(),
            drives: Vec::new(),
            groups: Vec::new(),
            names: HashMap::new(),
            memory: None,
            counted: false,
            named: false,
        };
        site.add_memory();
        site.add_processor();
        for uplink in &machine.uplinks {
            site.add_uplink(uplink);
        }
        for at in 0..machine.uplinks.len() {
            let behind = machine.uplinks[at].behind.as_ref();
            site.uplinks[at].behind = behind.and_then(|name| site.uplink(name.as_str()));
        }
        for group in &machine.drives {
            site.add_group(group);
        }
        site
    }

    /// Is there a drive of that name?
    #[must_use]
    pub fn has_drive(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    pub(crate) fn drive(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Says how far the times of a group's operations spread around their mean.
    pub fn set_spread(&mut self, group: &str, spread: f64) {
        for class in self.classes.iter_mut().filter(|class| class.name == group) {
            class.spread = spread;
        }
    }

    pub(crate) fn threads(&self) -> f64 {
        f64::from(self.machine.threads.max(1))
    }

    /// Is the kernel at least that? An unknown one is taken for a new one.
    pub(crate) fn kernel_from(&self, version: (u32, u32)) -> bool {
        self.machine.kernel.is_none_or(|kernel| kernel >= version)
    }

    fn uplink(&self, name: &str) -> Option<u32> {
        let at = self.uplinks.iter().position(|uplink| uplink.name == name)?;
        u32::try_from(at).ok()
    }

    fn add_memory(&mut self) {
        let memory = self.machine.memory;
        let rate = |value: f64, sigma, source, origin: String| Value {
            name: "memory".to_owned(),
            unit: Unit::Rate,
            value: 1.0 / value,
            sigma,
            source,
            origin,
        };
        let value = match (memory.sustained, memory.channels, memory.speed) {
            (Some(sustained), ..) => rate(sustained.0, 0.04, Source::Measured, "measured".to_owned()),
            (None, Some(channels), Some(speed)) => {
                let peak = f64::from(channels) * f64::from(speed) * 8e6;
                let share = self.parameters.get(Parameter::MemoryShare);
                let origin =
                    format!("{channels} × {speed} MT/s × 8 B = {:.1} GB/s, of which {share} is sustained", peak / 1e9);
                rate(peak * share, 0.06, Source::Told, origin)
            }
            _ => {
                let channels = (f64::from(self.machine.cores) / CORES).max(CHANNELS);
                let value = channels * USUAL_CHANNEL * self.parameters.get(Parameter::MemoryShare);
                let origin = format!("not told: {channels:.0} channels of DDR4-3200 for {} cores", self.machine.cores);
                rate(value, 0.5, Source::Guessed, origin)
            }
        };
        self.memory = Some(self.parameters.add(value));
    }

    fn add_uplink(&mut self, uplink: &terms::machine::Uplink) {
        let name = uplink.name.to_string();
        let (ways, round_trip) = match uplink.path {
            Path::Pcie { link, payload } => {
                let usual = self.usual_payload();
                let ways = [Direction::Up, Direction::Down]
                    .map(|way| self.parameters.add(pcie(&name, link, payload, usual, way)));
                (ways, None)
            }
            Path::Told { read, write } => {
                let mut way = |rate: Option<BytesPerSecond>, what: &str| {
                    self.parameters.add(Value {
                        name: format!("{name}, {what}"),
                        unit: Unit::Rate,
                        // What was not told does not limit.
                        value: rate.map_or(f64::MIN_POSITIVE, |rate| 1.0 / rate.0),
                        sigma: 0.02,
                        source: Source::Told,
                        origin: "told".to_owned(),
                    })
                };
                ([way(read, "towards the processor"), way(write, "from the processor")], None)
            }
            Path::Network { line, payload, round_trip, .. } => {
                let at = self.parameters.add(crate::link::network(&name, line, payload));
                (
                    [at, at],
                    Some(self.parameters.add(Value {
                        name: format!("round trip over {name}"),
                        unit: Unit::Delay,
                        value: round_trip.as_seconds(),
                        sigma: 0.3,
                        source: Source::Told,
                        origin: "described".to_owned(),
                    })),
                )
            }
        };
        let tcp = matches!(uplink.path, Path::Network { transport: Transport::Tcp, .. });
        self.uplinks.push(Shared { name, ways, round_trip, tcp, behind: None });
    }

    fn add_group(&mut self, group: &DriveGroup) {
        let like = |other: &&DriveGroup| {
            DriveGroup { name: group.name.clone(), count: group.count, ..(*other).clone() } == *group
        };
        let known = self.machine.drives.iter().take(self.groups.len()).position(|other| like(&other));
        let at = match known {
            Some(known) => self.groups[known],
            None => self.add_class(group),
        };
        self.groups.push(at);
        for number in 0..group.count {
            let drive = u32::try_from(self.drives.len()).unwrap_or(u32::MAX);
            self.drives.push(at);
            self.names.insert(group.member(number), drive);
        }
    }

    fn add_class(&mut self, group: &DriveGroup) -> u32 {
        let usual = self.usual_payload();
        let link = group.link.map(|link| {
            [Direction::Up, Direction::Down]
                .map(|way| self.parameters.add(pcie(group.name.as_str(), link, group.payload, usual, way)))
        });
        let class = self.class(group, link);
        let at = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        self.classes.push(class);
        at
    }

    fn class(&mut self, group: &DriveGroup, link: Option<[u32; 2]>) -> Class {
        let table = sheet(group.kind);
        let rated = &group.rated;
        let mut facts = Facts { parameters: &mut self.parameters, group, table };
        let read = facts.rate("reads", rated.read, table.read, link.map(|ways| ways[0]));
        let write = facts.rate("writes", rated.write, table.write, link.map(|ways| ways[1]));
        let turn = 60.0 / f64::from(rated.rpm.unwrap_or(USUAL_TURNS).max(1));
        let usual_turn = 60.0 / f64::from(USUAL_TURNS);
        let is_hdd = group.kind == DriveKind::Hdd;
        // Drives that turn faster get their heads to a sector as much sooner.
        let sooner = if is_hdd { (usual_turn / 2.0 + SHORT_WAY) / (turn / 2.0 + SHORT_WAY) } else { 1.0 };
        let read_op = facts.operations("random reads", rated.read_iops, table.read_iops * sooner);
        let write_op = facts.operations("random writes", rated.write_iops, table.write_iops * sooner);
        let position = match rated.rpm {
            Some(rpm) if is_hdd => facts.position(rpm, turn / 2.0 + SHORT_WAY),
            _ => Parameter::Position.place(),
        };
        let fades = table.fade < 1.0 || rated.sustained.is_some() || rated.sustained_iops.is_some();
        let faded = |rate: u32, told: Option<f64>, facts: &mut Facts<'_>, what: &str| match told {
            _ if !fades => rate,
            Some(told) => facts.faded(what, 1.0 / told, None),
            None => {
                let value = facts.parameters.value(rate) / table.fade;
                facts.faded(what, value, Some(table))
            }
        };
        let sustained = faded(write, rated.sustained.map(|rate| rate.0), &mut facts, "writes");
        let sustained_op = match rated.sustained_iops {
            Some(told) => faded(write_op, Some(told.0), &mut facts, "random writes"),
            None if fades => facts.faded_operations(write_op, sustained),
            None => write_op,
        };
        let cached = rated.write_cache.unwrap_or(true);
        let read_delay = facts.delay("a read alone", rated.read_latency, table.read_delay);
        // No read is longer for its place in an order.
        let ahead = table.ahead.min(facts.parameters.value(read_delay));
        let ahead = facts.delay("a read alone, in order", rated.ordered_latency, ahead);
        let program = facts.parameters.get(Parameter::Program);
        let flash = matches!(group.kind, DriveKind::Nvme | DriveKind::SataSsd);
        let uncached = if flash && !cached { program } else { table.write_delay };
        let write_delay = facts.delay("a write alone", rated.write_latency, uncached);
        let usual_flush = match (cached, is_hdd) {
            (true, true) => turn,
            // One that was told to have a cache that may lose something is sent each flush.
            (true, false) if rated.write_cache == Some(true) => table.flush.max(ANSWERED),
            (true, false) => table.flush,
            (false, true) => table.read_delay,
            (false, false) => UNSENT,
        };
        let flush = facts.flush("a flush", rated.flush, usual_flush);
        let past = rated.fua.map(|_| facts.flush("a write past the cache", rated.fua, 0.0)).filter(|_| !is_hdd);
        let commit = if is_hdd { flush } else { past.unwrap_or_else(|| facts.write_and_flush(write_delay, flush)) };
        Class {
            name: group.name.to_string(),
            kind: group.kind,
            read,
            write,
            read_op,
            write_op,
            sustained,
            sustained_op,
            read_delay,
            write_delay,
            ahead,
            flush,
            commit,
            flush_told: rated.flush.is_some(),
            unsorted: [
                rated.read_latency.map_or(position, |_| read_delay),
                rated.write_latency.map_or(position, |_| write_delay),
            ],
            position,
            turn,
            told: [rated.read_iops.is_some(), rated.write_iops.is_some()],
            told_alone: [rated.read_latency.is_some(), rated.write_latency.is_some()],
            link,
            uplink: group.behind.as_ref().and_then(|name| self.uplink(name.as_str())),
            fades,
            keeps_up: table.fade >= 1.0 || rated.sustained_iops.is_some(),
            rated_in_all: group.trust == Trust::Sheet && table.fade >= 1.0 && is_flash(group.kind),
            cached,
            size: group.size.map(Bytes::as_f64),
            piece: flash_queue(group).map(|flash| flash.piece.as_f64()),
            requests: requests(group),
            queue: queue(group),
            spread: if group.trust == Trust::Held { 0.0 } else { table.spread },
            even: if group.trust == Trust::Held { EVEN } else { 0.0 },
        }
    }
}

/// Makes values of what is known of a group.
struct Facts<'a> {
    parameters: &'a mut Parameters,
    group: &'a DriveGroup,
    table: &'static Sheet,
}

impl Facts<'_> {
    /// Uncertainty and source of what was told.
    fn told(&self) -> (f64, Source, String) {
        match self.group.trust {
            Trust::Measured => (0.04, Source::Measured, "measured on the drive".to_owned()),
            Trust::Held => (0.04, Source::Measured, "what it is held at".to_owned()),
            Trust::Sheet => (self.table.sheet_sigma, Source::Told, "data sheet".to_owned()),
        }
    }

    fn add(&mut self, what: &str, unit: Unit, told: Option<f64>, table: f64) -> u32 {
        self.add_within(what, unit, told, table, self.table.sigma)
    }

    /// The same of what drives of a kind differ in by so much.
    fn add_within(&mut self, what: &str, unit: Unit, told: Option<f64>, table: f64, sigma: f64) -> u32 {
        let (sigma, source, origin) = match told {
            Some(_) => self.told(),
            None => (sigma, Source::Guessed, format!("a usual {}", self.table.name)),
        };
        let name = format!("drive {}: {what}", self.group.name);
        self.parameters.add(Value { name, unit, value: told.unwrap_or(table), sigma, source, origin })
    }

    fn rate(&mut self, what: &str, told: Option<BytesPerSecond>, table: f64, link: Option<u32>) -> u32 {
        let known = told.map(|rate| 1.0 / rate.0);
        if let (Some(link), Some(known), Trust::Sheet) = (link, known, self.group.trust) {
            let least = self.parameters.value(link);
            if (least * RATED_AT_LINK..=least / RATED_AT_LINK).contains(&known) {
                let origin =
                    format!("rated {:.0} MB/s: what such a link carries, so it tells of the link", 1e-6 / known);
                return self.parameters.add(Value {
                    name: format!("drive {}: {what}", self.group.name),
                    unit: Unit::Rate,
                    value: known.min(least),
                    sigma: 0.01,
                    source: Source::Told,
                    origin,
                });
            }
        }
        self.add(what, Unit::Rate, known, 1.0 / table)
    }

    /// Half a turn and a short way, of a drive whose turns were told.
    fn position(&mut self, rpm: u32, seconds: f64) -> u32 {
        let name = format!("drive {}: half a turn and a short way", self.group.name);
        let origin = format!("{rpm} turns in a minute, 1 ms from track to track and to settle");
        self.parameters.add(Value { name, unit: Unit::Time, value: seconds, sigma: 0.15, source: Source::Told, origin })
    }

    fn operations(&mut self, what: &str, told: Option<Iops>, table: f64) -> u32 {
        self.add(what, Unit::Operations, told.map(|rate| 1.0 / rate.0), 1.0 / table)
    }

    fn delay(&mut self, what: &str, told: Option<Nanos>, table: f64) -> u32 {
        self.add(what, Unit::Delay, told.map(Nanos::as_seconds), table)
    }

    /// No data sheet tells of flushes: who does has measured some drive of that name.
    fn flush(&mut self, what: &str, told: Option<Nanos>, usual: f64) -> u32 {
        let at = self.add_within(what, Unit::Delay, told.map(Nanos::as_seconds), usual, self.table.flush_sigma);
        if told.is_some() && self.group.trust == Trust::Sheet {
            self.parameters.widen_at(at, SAME_NAME);
            self.parameters.told_of(at, "measured on a drive of that name: no data sheet tells it");
        }
        at
    }

    /// A write, and the flush after it.
    fn write_and_flush(&mut self, write: u32, flush: u32) -> u32 {
        let value = self.parameters.value(write) + self.parameters.value(flush);
        let name = format!("drive {}: a write and a flush", self.group.name);
        let (unit, sigma) = (Unit::Delay, self.table.sigma.max(self.parameters.sigma(flush)));
        let origin = "one after the other".to_owned();
        self.parameters.add(Value { name, unit, value, sigma, source: Source::Guessed, origin })
    }

    /// Random writes once the cache is full, of which nobody told: it is bytes that the flash behind it takes more slowly.
    fn faded_operations(&mut self, operation: u32, byte: u32) -> u32 {
        let value = self.parameters.value(byte) * BLOCK;
        if value <= self.parameters.value(operation) {
            return operation;
        }
        let name = format!("drive {}: random writes, cache full", self.group.name);
        let origin = "as many bytes as large writes once the cache is full".to_owned();
        self.parameters.add(Value { name, unit: Unit::Operations, value, sigma: 0.7, source: Source::Guessed, origin })
    }

    /// Writes once the cache is full.
    fn faded(&mut self, what: &str, value: f64, guessed: Option<&Sheet>) -> u32 {
        let (sigma, source, origin) = match guessed {
            None => self.told(),
            Some(table) => {
                (0.7, Source::Guessed, format!("{} of the rate before, for a usual {}", table.fade, table.name))
            }
        };
        let name = format!("drive {}: {what}, cache full", self.group.name);
        let unit = if what == "writes" { Unit::Rate } else { Unit::Operations };
        self.parameters.add(Value { name, unit, value, sigma, source, origin })
    }
}

/// What a drive's cache takes, where that matters.
pub(crate) fn cache(group: &DriveGroup) -> Option<Bytes> {
    group.rated.cache.or_else(|| {
        let table = sheet(group.kind);
        (table.fade < 1.0).then_some(table.cache)
    })
}
