//! A study, understood: drives, stacks as graphs of layers, workloads, and how to measure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::drive::{LabDrive, LabDriveKind, LabSwitch, Port, RateLimit};
use crate::feature::Feature;
use crate::layer::Layer;
use crate::name::{Name, slug};
pub use crate::sanitize::Sanitize;
use crate::speed::Speed;
use crate::units::{Bytes, Hosts, Nanos, PerMille};
use crate::workload::Workload;

/// A study, understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// What the study wants to know.
    pub question: String,
    /// The guest to rehearse in.
    pub lab: LabSpec,
    /// How drives are set up before anything is built on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<DriveSetup>,
    /// What is compared.
    pub stacks: Vec<Stack>,
    /// Stacks that files are copied from; not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Stack>,
    /// What each stack is asked to do, reads before writes.
    pub workloads: Vec<Workload>,
    /// How it is measured.
    pub measure: MeasurePolicy,
    /// What is tried on each stack, after everything is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "trials")]
    pub feature_checks: Vec<Feature>,
    /// Stacks to be shown side by side, besides all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<Chart>,
}

/// How a drive is set up before anything is built on it. What it was before is put back at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveSetup {
    /// The drive.
    pub name: Name,
    /// Logical block that it is formatted to, which takes all that is on it.
    #[serde(rename = "lba_bytes")]
    pub lba: Option<Bytes>,
    /// Is its volatile write cache on?
    pub write_cache: Option<bool>,
    /// The I/O scheduler.
    pub scheduler: Option<String>,
    /// How the whole controller is made to forget first. What is forgotten does not come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanitize: Option<Sanitize>,
}

impl DriveSetup {
    /// The same for a lab drive of that kind: what it cannot be set to is left out.
    #[must_use]
    pub fn of_kind(&self, kind: LabDriveKind) -> Self {
        let has_formats = kind == LabDriveKind::Nvme;
        let has_cache = matches!(kind, LabDriveKind::Nvme | LabDriveKind::Sata | LabDriveKind::Hdd);
        Self {
            lba: self.lba.filter(|_| has_formats),
            sanitize: self.sanitize.filter(|_| has_formats),
            write_cache: self.write_cache.filter(|_| has_cache),
            ..self.clone()
        }
    }
}

impl Design {
    /// Hosts that its workloads need: as many as the one with the most.
    #[must_use]
    pub fn hosts(&self) -> Hosts {
        self.workloads.iter().map(|workload| workload.hosts).max().unwrap_or_default()
    }
}

/// What time is in a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Ours: a busy machine makes a guest slow.
    Real,
    /// The guest's own: each of its instructions takes one nanosecond, and waiting takes none of ours.
    Virtual,
}

/// A guest: processors, memory, drives and where they are plugged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabSpec {
    /// Virtual processors.
    pub cpus: u32,
    /// Memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
    /// Drives.
    pub drives: Vec<LabDrive>,
    /// Switches that are limited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<LabSwitch>,
    /// Guests like this one, each with drives of its own; remote drives of all are in one enclosure.
    #[serde(default, skip_serializing_if = "Hosts::is_one")]
    pub hosts: Hosts,
    /// What time is in it, where somebody said it.
    #[serde(default, rename = "clock", skip_serializing_if = "Option::is_none")]
    pub said_clock: Option<Clock>,
    /// The processor that it stands for under a virtual clock; `None` for [`Speed::USUAL`].
    #[serde(default, rename = "cpu_instructions_per_second", skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Speed>,
    /// Releases of kernels, or beginnings of them, such as `6.12`; none for the newest that has what is needed. A guest boots
    /// the first, and a study has a run on each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
}

impl LabSpec {
    /// One guest without drives.
    #[must_use]
    pub const fn new(cpus: u32, memory: Bytes) -> Self {
        Self {
            cpus,
            memory,
            drives: Vec::new(),
            switches: Vec::new(),
            hosts: Hosts::ONE,
            said_clock: None,
            cpu: None,
            kernels: Vec::new(),
        }
    }

    /// The same guest with all drives of one kind.
    #[must_use]
    pub fn of_kind(&self, kind: LabDriveKind) -> Self {
        let drives: Vec<LabDrive> = self.drives.iter().map(|drive| drive.as_kind(kind)).collect();
        let has = |number: u8| drives.iter().any(|drive| drive.port == Port::Switch(number));
        let switches = self.switches.iter().filter(|switch| has(switch.number)).cloned().collect();
        Self { drives, switches, ..self.clone() }
    }

    /// Gives hard disks the write cache that the study wants them to have: nobody can switch that of a disk in the guest.
    pub fn set_caches(&mut self, setups: &[DriveSetup]) {
        for drive in self.drives.iter_mut().filter(|drive| drive.kind == LabDriveKind::Hdd) {
            let is_off = |setup: &DriveSetup| setup.name == drive.name && setup.write_cache == Some(false);
            drive.spindle.get_or_insert_default().write_through = setups.iter().any(is_off);
        }
    }

    /// The same guest with all drives and links as fast as they go, and drives that can be pulled: those of the guest's kernel
    /// become NVMe drives and hard disks SATA drives, which need our time.
    #[must_use]
    pub fn without_limits(&self) -> Self {
        let fast = |drive: &LabDrive| {
            let drive = drive.as_kind(match drive.kind {
                LabDriveKind::Hdd => LabDriveKind::Sata,
                LabDriveKind::Flash | LabDriveKind::Ram => LabDriveKind::Nvme,
                kind => kind,
            });
            LabDrive { limit: RateLimit::default(), ..drive }
        };
        let drives: Vec<LabDrive> = self.drives.iter().map(fast).collect();
        let said_clock = self.said_clock.filter(|_| drives.iter().all(LabDrive::can_be_within));
        Self { drives, switches: Vec::new(), said_clock, ..self.clone() }
    }

    /// Memory that drives take of the guest. The kernel and the tools need as much again.
    #[must_use]
    pub fn drives_in_memory(&self) -> Bytes {
        memory_of(&self.drives, |drive| self.is_within(drive))
    }

    /// Is enough memory left beside drives in it?
    #[must_use]
    pub fn drives_in_memory_fit(&self) -> bool {
        self.drives_in_memory().0 <= self.memory.0 / 2
    }

    /// The drive of that name.
    #[must_use]
    pub fn drive(&self, name: &Name) -> Option<&LabDrive> {
        self.drives.iter().find(|drive| &drive.name == name)
    }
}

pub(crate) fn memory_of(drives: &[LabDrive], counts: impl Fn(&LabDrive) -> bool) -> Bytes {
    let counted = drives.iter().filter(|drive| counts(drive));
    Bytes(counted.fold(0, |sum: u64, drive| sum.saturating_add(drive.size.0)))
}

/// Layers on drives. Nodes are in building order: each rests only on drives and on nodes before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Its name in tables.
    pub name: String,
    /// What the study says of it, if anything.
    pub note: Option<String>,
    /// Layers in building order; the last is what workloads see.
    pub nodes: Vec<LayerNode>,
}

impl Stack {
    /// The name made fit for files and device nodes. Unique in a study.
    #[must_use]
    pub fn slug(&self) -> String {
        slug(&self.name)
    }

    /// What direct I/O to the top must be a multiple of, where `lba` tells the logical blocks of drives. btrfs and ZFS take any size, by way of
    /// the page cache.
    #[must_use]
    pub fn direct_block(&self, lba: impl Fn(&Name) -> Option<Bytes>) -> Option<Bytes> {
        let mut above: BTreeMap<&Name, Bytes> = BTreeMap::new();
        let mut top = None;
        for node in &self.nodes {
            let blocks = node.below().filter_map(|below| match below {
                Ref::Drive(name) => lba(name),
                Ref::Layer(name) => above.get(name).copied(),
            });
            let below = blocks.max().unwrap_or(Bytes(512));
            let traits = node.layer.traits();
            top = match (traits.tree, traits.file_system) {
                (true, _) => None,
                (false, true) => Some(below),
                (false, false) => Some(below.max(traits.sector)),
            };
            above.insert(&node.name, below.max(traits.sector));
        }
        top
    }

    /// The node of that name.
    #[must_use]
    pub fn node(&self, name: &Name) -> Option<&LayerNode> {
        self.nodes.iter().find(|node| &node.name == name)
    }

    /// What workloads see. Stacks are never empty.
    #[must_use]
    pub fn top(&self) -> Option<&LayerNode> {
        self.nodes.last()
    }

    /// Drives it rests on, each once, in the order in which they are first named.
    #[must_use]
    pub fn drives(&self) -> Vec<Name> {
        let mut seen = BTreeSet::new();
        let all = self.nodes.iter().flat_map(LayerNode::below);
        let drives = all.filter_map(|below| if let Ref::Drive(name) = below { Some(name) } else { None });
        drives.filter(|name| seen.insert(*name)).cloned().collect()
    }
}

/// One layer in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerNode {
    /// Its name, unique in the stack.
    pub name: Name,
    /// What it is.
    pub layer: Layer,
    /// What it rests on, in order.
    pub on: Vec<Ref>,
    /// Devices that are not members: a ZFS pool's special vdev, the cache of an LVM volume.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special: Vec<Ref>,
}

impl LayerNode {
    /// What it rests on, in order: members, then the others.
    pub fn below(&self) -> impl Iterator<Item = &Ref> {
        self.on.iter().chain(&self.special)
    }
}

/// Something that a layer rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ref {
    /// A drive of the machine.
    Drive(Name),
    /// A layer of the same stack.
    Layer(Name),
}

impl Ref {
    /// The name, whichever it is.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Drive(name) | Self::Layer(name) => name,
        }
    }
}

/// How a study is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurePolicy {
    /// Rounds that every cell gets: every workload on every stack once in each.
    pub rounds: u32,
    /// Rounds that a cell gets at most while its interval is wider than [`Self::precision`] or a comparison is open.
    /// Equal to [`Self::rounds`] where the number of rounds is fixed.
    #[serde(default = "no_more_rounds")]
    pub max_rounds: u32,
    /// Half-width of the interval at which a cell has had enough rounds.
    #[serde(default = "precision", rename = "precision_per_mille")]
    pub precision: PerMille,
    /// Is the window of an only round as short as asked, however far from [`Self::precision`]? So it is in a quick run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_precision: bool,
    /// Ratios within this of 1 are as good as equal.
    #[serde(default = "margin", rename = "margin_per_mille")]
    pub margin: PerMille,
    /// No cell is begun that would not end within this time.
    #[serde(default, rename = "budget_ns")]
    pub budget: Option<Nanos>,
    /// What is done anew for every round.
    #[serde(default)]
    pub replicate: Replicate,
    /// Go by steps: one stack after the other in the study's order, and no further once a figure is farther than this
    /// from what was predicted of it.
    #[serde(default, rename = "stop_beyond_per_mille", skip_serializing_if = "Option::is_none")]
    pub stop_beyond: Option<PerMille>,
    /// What the bare drive tells of the session.
    #[serde(default)]
    #[serde(rename = "anchor")]
    pub control: Control,
    /// Is what other tools would have shown measured beside the honest figure?
    #[serde(default)]
    pub compat: bool,
    /// Time under load before the window, not counted.
    #[serde(rename = "settle_ns")]
    pub settle: Nanos,
    /// Time under load that is counted.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// Bytes that are filled and then worked on.
    #[serde(rename = "span_bytes")]
    pub span: Bytes,
    /// How often the span is written before anything is measured on it.
    #[serde(default = "one_pass")]
    pub fill_passes: u32,
    /// Seed of every random choice.
    pub seed: u64,
    /// Workloads that a quick run keeps; all of them where it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quick: Vec<Name>,
    /// Workloads of the study that this run leaves out because it is quick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Name>,
    /// What all drives of the lab were made, where that is not what the study says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_drives: Option<LabDriveKind>,
}

/// Records from before there was a limit had a fixed number of rounds; a reader takes the larger of both.
const fn no_more_rounds() -> u32 {
    0
}

const fn one_pass() -> u32 {
    1
}

const fn precision() -> PerMille {
    PerMille(20)
}

const fn margin() -> PerMille {
    PerMille(30)
}

impl Default for MeasurePolicy {
    fn default() -> Self {
        Self {
            rounds: 5,
            max_rounds: 12,
            precision: precision(),
            any_precision: false,
            margin: margin(),
            budget: None,
            replicate: Replicate::Rebuild,
            stop_beyond: None,
            control: Control::Note,
            compat: false,
            settle: Nanos::seconds(1),
            window: Nanos::seconds(3),
            span: Bytes::mib(128),
            fill_passes: one_pass(),
            seed: 1,
            quick: Vec::new(),
            left_out: Vec::new(),
            lab_drives: None,
        }
    }
}

impl MeasurePolicy {
    /// The most rounds that a cell may get.
    #[must_use]
    pub fn most_rounds(&self) -> u32 {
        self.max_rounds.max(self.rounds)
    }

    /// May a cell get more rounds than [`Self::rounds`]?
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        self.most_rounds() > self.rounds
    }

    /// Is there an only round, whose windows are as long as comparisons need? Where the clock is virtual they decide alone.
    #[must_use]
    pub fn windows_decide(&self) -> bool {
        self.most_rounds() == 1 && !self.any_precision
    }
}

words! {
    /// What is done anew for every round: the unit that an interval speaks of.
    #[derive(Default)]
    pub enum Replicate {
        /// Every stack is built anew: the interval holds for builds.
        #[default]
        Rebuild = "rebuild",
        /// All stacks stand side by side, each on a slice of every drive; slices change places from round to round.
        Slices = "slices",
        /// Every stack is built once: intervals hold for this one build, and none is given between stacks.
        Single = "single",
    }
}

/// What happens with a round between whose ends the bare drive changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// The bare drive is not measured.
    Off,
    /// The change is told.
    #[default]
    Note,
    /// Beyond [`CONTROL_DISCARD`] the round does not count and another takes its place.
    Discard,
}

/// A change of the bare drive within a round that is told.
pub const CONTROL_FLAG: PerMille = PerMille(30);
/// A change of the bare drive within a round that discards it, where the study says so.
pub const CONTROL_DISCARD: PerMille = PerMille(60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spindle::Spindle;

    #[test]
    fn direct_io_is_of_the_largest_block_below() {
        use crate::layer::{Ext4, Integrity, Zfs};
        let block = |sector: u64, top: Layer| {
            let [a, b, sums, name] = ["a", "b", "sums", "top"].map(|name| Name::new(name).unwrap());
            let integrity = Layer::Integrity(Integrity { sector: Bytes(sector), ..Integrity::default() });
            let on = vec![Ref::Drive(a), Ref::Drive(b)];
            let top = LayerNode { name, layer: top, on: vec![Ref::Layer(sums.clone())], special: vec![] };
            let sums = LayerNode { name: sums, layer: integrity, on, special: vec![] };
            let stack = Stack { name: "x".to_owned(), note: None, nodes: vec![sums, top] };
            let lba = |b: Option<u64>| move |name: &Name| if name.as_str() == "a" { Some(512) } else { b }.map(Bytes);
            [None, Some(512), Some(4096)].map(|b| stack.direct_block(lba(b)).map_or(0, |block| block.0))
        };
        assert_eq!(block(512, Layer::Bare), [512, 512, 4096]);
        assert_eq!(block(4096, Layer::Bare), [4096; 3]);
        assert_eq!(block(512, Layer::Ext4(Ext4::default())), [512, 512, 4096]);
        assert_eq!(block(4096, Layer::Zfs(Zfs::default())), [0; 3]);
    }

    #[test]
    fn without_limits_nothing_is_a_hard_disk_and_nothing_waits() {
        let limit = RateLimit { read: Some(Bytes::mib(1)), ..RateLimit::default() };
        let drive = |name: &str| LabDrive::new(Name::new(name).unwrap(), Bytes::mib(64));
        let slow = LabDrive { limit, lba: Bytes(4096), port: Port::Switch(0), ..drive("a") };
        let disk = LabDrive { kind: LabDriveKind::Hdd, spindle: Some(Spindle::default()), ..drive("b") };
        let flash = LabDrive { kind: LabDriveKind::Flash, ..drive("c") };
        let lab = LabSpec { drives: vec![slow.clone(), disk, flash], ..LabSpec::new(2, Bytes::gib(1)) };
        let lab = LabSpec { switches: vec![LabSwitch { number: 0, limit }], ..lab }.without_limits();
        assert_eq!(lab.drives[0], LabDrive { limit: RateLimit::default(), ..slow });
        assert_eq!((lab.drives[1].kind, lab.drives[1].spindle), (LabDriveKind::Sata, None));
        assert_eq!(lab.drives[2].kind, LabDriveKind::Nvme);
        assert!(lab.switches.is_empty());
    }
}
