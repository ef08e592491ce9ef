//! One access pattern: what fio calls a job.

mod page_cache;
mod part;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use page_cache::PageCache;
pub use part::Part;

use crate::name::Name;
use crate::units::{Bytes, Hosts, Nanos};

/// One access pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in tables and file names.
    pub name: Name,
    /// Direction and order.
    pub pattern: Pattern,
    /// Bytes of one operation.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Operations that each job keeps under way.
    pub depth: u32,
    /// Parallel jobs.
    pub jobs: u32,
    /// Flush after every so many writes, if at all.
    pub fsync_every: Option<u32>,
    /// The profile it came from, if any.
    pub profile: Option<String>,
    /// A window of its own, where the profile asks for one.
    #[serde(rename = "window_ns")]
    pub window: Option<Nanos>,
    /// How operations reach the kernel.
    #[serde(default, skip_serializing_if = "is_default")]
    pub engine: Engine,
    /// When operations are issued.
    #[serde(default, skip_serializing_if = "is_default")]
    pub load: Load,
    /// Which part of the span is touched, and when the work ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reach: Reach,
    /// What does the work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub method: Method,
    /// Further fio options, passed on as they are: those of an imported job that nothing here has a word for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<FioKey>,
    /// The tool whose test this is: run beside the honest one in compat mode, faults included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imitates: Option<Imitation>,
    /// A network path to the drives that is lost in the window, and comes back in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_lost: Option<PathLoss>,
    /// Machines that do it at once, each on the same stack of drives of its own.
    #[serde(default, skip_serializing_if = "Hosts::is_one")]
    pub hosts: Hosts,
    /// Different jobs that run at once, where it has several kinds. The fields above then sum them up; see
    /// [`Workload::of_parts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// When a network path was lost and when it was there again, from the start of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathLoss {
    /// It was lost.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// It was there again.
    #[serde(rename = "back_ns")]
    pub back: Nanos,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How operations reach the kernel: fio's I/O engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// `libaio`: Linux's asynchronous calls of old, everywhere.
    #[default]
    Libaio,
    /// `io_uring`: rings shared with the kernel.
    IoUring,
    /// `posixaio`: the C library's asynchronous calls, made of threads.
    PosixAio,
    /// `psync`: one blocking call after another.
    Psync,
}

impl Engine {
    /// fio's name for it.
    #[must_use]
    pub const fn fio(self) -> &'static str {
        match self {
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
            Self::PosixAio => "posixaio",
            Self::Psync => "psync",
        }
    }
}

/// When operations are issued.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// As soon as an earlier one is done: the largest throughput at this depth.
    #[default]
    Closed,
    /// At this many operations per second over all jobs, at random moments (Poisson).
    Rate(u64),
    /// At this share of what another workload reached on the same stack in the same round.
    Share {
        /// The workload with [`Load::Closed`].
        of: Name,
        /// Per cent of its operations per second.
        percent: u8,
    },
}

/// Which part of the span is touched, and when the work ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// All of it, again and again until the window ends.
    #[default]
    Span,
    /// This many stretches of one block each, evenly over the span, again and again until the window ends.
    Samples(u32),
}

/// What does the work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// fio.
    #[default]
    Fio,
    /// A tree of files, copied onto the stack.
    Copy(FileTree),
    /// A tree of files that is on the stack, from cold caches.
    Tree(TreeWork, FileTree),
}

impl Method {
    /// The tree of files that it is about, if any.
    #[must_use]
    pub const fn tree(&self) -> Option<&FileTree> {
        match self {
            Self::Fio => None,
            Self::Copy(tree) | Self::Tree(_, tree) => Some(tree),
        }
    }
}

/// What is done with a tree of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeWork {
    /// `ls -lR`: every directory, and what the file system knows of every file.
    List,
    /// Every file is read once, in an order of chance.
    Read,
}

impl TreeWork {
    /// Bytes that a file counts for in a rate.
    ///
    /// Listing reads what the kernel tells of a file: a `struct statx` has 256 bytes (statx(2)).
    #[must_use]
    pub const fn block(self, file: Bytes) -> Bytes {
        match self {
            Self::List => Bytes(256),
            Self::Read => file,
        }
    }
}

/// A tree of files to copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileTree {
    /// Bytes of all files together, at most.
    #[serde(rename = "total_bytes")]
    pub total: Bytes,
    /// Sizes and how many files of a thousand have each.
    pub sizes: Vec<FileClass>,
    /// Slug of the stack that holds the source; in memory if `None`.
    pub source: Option<String>,
    /// In how many goes it is made, each on the drives before the next. In a tree that has grown, what belongs to one
    /// directory lies apart.
    #[serde(default = "at_once", skip_serializing_if = "is_at_once")]
    pub goes: u32,
}

const fn at_once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
const fn is_at_once(goes: &u32) -> bool {
    *goes <= 1
}

/// Files of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileClass {
    /// Size of each.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// How many of a thousand files.
    pub per_mille: u32,
}

/// A fio option as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FioKey {
    /// Its name.
    pub key: String,
    /// Its value; empty for options without one.
    pub value: String,
}

/// A test of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Imitation {
    /// The tool.
    pub tool: Tool,
    /// How often it runs the test.
    pub loops: u32,
    /// Does it show the best loop? The mean otherwise.
    pub best: bool,
}

/// A tool that can be imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// KDiskMark 3.3 on Linux, which calls fio.
    KdiskMark,
    /// CrystalDiskMark 9 on Windows, which calls DiskSpd.
    CrystalDiskMark,
    /// The benchmark of GNOME Disks.
    GnomeDisks,
}

impl Tool {
    /// Its name as it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KdiskMark => "KDiskMark 3.3",
            Self::CrystalDiskMark => "CrystalDiskMark 9",
            Self::GnomeDisks => "GNOME Disks",
        }
    }
}

/// Direction and order of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential, with this percentage of reads.
    Mixed(u8),
    /// Random, with this percentage of reads.
    RandMixed(u8),
}

impl Pattern {
    /// fio's name for it.
    #[must_use]
    pub const fn fio_rw(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Mixed(_) => "rw",
            Self::RandMixed(_) => "randrw",
        }
    }

    /// Does it read?
    #[must_use]
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite | Self::Mixed(0) | Self::RandMixed(0))
    }

    /// Does it write?
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead | Self::Mixed(100) | Self::RandMixed(100))
    }

    /// Share of its operations that read.
    #[must_use]
    pub fn read_share(self) -> f64 {
        match self {
            Self::Mixed(percent) | Self::RandMixed(percent) => f64::from(percent) / 100.0,
            Self::Read | Self::RandRead => 1.0,
            Self::Write | Self::RandWrite => 0.0,
        }
    }

    /// Is it random?
    #[must_use]
    pub const fn random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandMixed(_))
    }
}

/// Parts of a workload that its description names; the others are counted.
const TOLD: usize = 3;

/// Shares of the largest throughput at which a load curve is taken, in per cent.
pub const CURVE: [u8; 4] = [25, 50, 70, 90];

impl Workload {
    /// Bytes of the span that it works on, all jobs together: an imported job may work on less than the longest of its
    /// file.
    #[must_use]
    pub fn reach_of(&self, span: Bytes) -> Bytes {
        self.own_span().map_or(span, |own| own.min(span))
    }

    /// The part of the span that it works on, where that is not all of it.
    #[must_use]
    pub fn own_span(&self) -> Option<Bytes> {
        let own: u64 = self.keys.iter().find(|key| key.key == "size")?.value.parse().ok()?;
        (own > 0).then_some(Bytes(own))
    }

    /// Within a span that is no larger than its own, which then is all of it.
    #[must_use]
    pub fn within(mut self, span: Bytes) -> Self {
        let is_all = self.begins_at().0 == 0 && self.own_span().is_some_and(|own| own >= span);
        self.keys.retain(|key| !is_all || key.key != "size");
        self
    }

    /// Where in the span those bytes begin.
    #[must_use]
    pub fn begins_at(&self) -> Bytes {
        let own = self.keys.iter().find(|key| key.key == "offset").and_then(|key| key.value.parse().ok());
        Bytes(own.unwrap_or(0))
    }

    /// Do all jobs go over the same bytes? Each has a part of its own otherwise, where one would find in a cache what another
    /// has just read: in order, and through the page cache.
    #[must_use]
    pub fn shares_bytes(&self) -> bool {
        self.pattern.random() && !self.is_buffered()
            || self.keys.iter().any(|key| key.key == "offset_increment" && key.value == "0")
    }

    /// After how many writes something is flushed, whichever option asks for it: an imported job may say `fdatasync`, or
    /// that each write waits (`sync`).
    #[must_use]
    pub fn flushed_every(&self) -> Option<u32> {
        let of = |key: &FioKey| match (key.key.as_str(), key.value.as_str()) {
            ("fdatasync", every) => every.parse().ok().filter(|every| *every > 0),
            ("sync", "none" | "0") => None,
            ("sync", _) => Some(1),
            _ => None,
        };
        self.keys.iter().filter_map(of).chain(self.fsync_every).min()
    }

    /// Memory that its buffers take: one of a block for each operation under way.
    #[must_use]
    pub fn buffers(&self) -> Bytes {
        if !self.parts.is_empty() {
            return Bytes(self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.alone().buffers().0)));
        }
        let depth = if matches!(self.engine, Engine::Psync) { 1 } else { self.depth as u64 };
        Bytes(self.block.0.saturating_mul(depth).saturating_mul(self.jobs as u64))
    }

    /// A workload of one job with one operation under way, as fast as it goes, until the window ends.
    #[must_use]
    pub const fn new(name: Name, pattern: Pattern, block: Bytes) -> Self {
        Self {
            name,
            pattern,
            block,
            depth: 1,
            jobs: 1,
            fsync_every: None,
            profile: None,
            window: None,
            engine: Engine::Libaio,
            load: Load::Closed,
            reach: Reach::Span,
            method: Method::Fio,
            keys: Vec::new(),
            imitates: None,
            path_lost: None,
            hosts: Hosts::ONE,
            parts: Vec::new(),
        }
    }

    /// Share of its operations that read, of what it does to the stack. What copies files only writes there.
    #[must_use]
    pub fn read_share(&self) -> f64 {
        if self.method == Method::Fio { self.pattern.read_share() } else { 0.0 }
    }

    /// The points of its load curve: the same accesses at fixed rates. Empty for what has no largest throughput of its
    /// own, and where a point's name would be too long.
    #[must_use]
    pub fn curve(&self) -> Vec<Self> {
        if self.load != Load::Closed || self.method != Method::Fio || !self.hosts.is_one() || !self.parts.is_empty() {
            return Vec::new();
        }
        let point = |percent: u8| {
            let name = Name::new(format!("{}.at-{percent}", self.name)).ok()?;
            let load = Load::Share { of: self.name.clone(), percent };
            Some(Self { name, load, imitates: None, ..self.clone() })
        };
        CURVE.into_iter().filter_map(point).collect()
    }

    /// Its flushes in words, with a blank before them; nothing where it has none, or each of its parts its own.
    #[must_use]
    pub fn flushes(&self) -> String {
        match self.fsync_every {
            None | Some(0) => String::new(),
            Some(1) => " fsync each".to_owned(),
            Some(every) => format!(" fsync/{every}"),
        }
    }

    /// What it is called where people read: its pattern with its flushes, as in `RND 4 KiB Q1 T1 write fsync each`.
    #[must_use]
    pub fn title(&self) -> String {
        self.describe() + &self.flushes()
    }

    /// What each of several is called where people read: its [title](Self::title), and its name in brackets where others
    /// have the same.
    #[must_use]
    pub fn titles(workloads: &[&Self]) -> Vec<String> {
        let plain: Vec<String> = workloads.iter().map(|of| of.title()).collect();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        plain.iter().for_each(|title| *times.entry(title).or_default() += 1);
        let is_shared = |title: &str| times.get(title).is_some_and(|times| *times > 1);
        let told = plain.iter().zip(workloads);
        told.map(|(title, of)| if is_shared(title) { format!("{title} ({})", of.name) } else { title.clone() })
            .collect()
    }

    /// The pattern in the words people use: `RND 4 KiB Q32 T16 read`.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.method {
            Method::Fio => {}
            Method::Copy(tree) => return format!("copy of {} in files", tree.total),
            Method::Tree(TreeWork::List, _) => return "ls -lR, caches cold".to_owned(),
            Method::Tree(TreeWork::Read, _) => return format!("files of {}, caches cold", self.block),
        }
        if !self.parts.is_empty() {
            let told = self.parts.iter().take(TOLD).map(Part::alone);
            let parts: Vec<String> = told.map(|part| part.title()).collect();
            let more = self.parts.len().saturating_sub(TOLD);
            return parts.join(" + ") + &if more > 0 { format!(" + {more} more") } else { String::new() };
        }
        let order = if self.pattern.random() { "RND" } else { "SEQ" };
        let direction = match self.pattern {
            Pattern::Mixed(r) | Pattern::RandMixed(r) => format!("{r} % read"),
            p if p.reads() => "read".to_owned(),
            _ => "write".to_owned(),
        };
        let load = match &self.load {
            Load::Closed => String::new(),
            Load::Rate(rate) => format!(" at {rate}/s"),
            Load::Share { percent, .. } => format!(" at {percent} % load"),
        };
        let event = if self.path_lost.is_some() { ", a path lost" } else { "" };
        let hosts = if self.hosts.is_one() { String::new() } else { format!(" on each of {} hosts", self.hosts.0) };
        let cache = self.page_cache().words();
        let span = self.own_span().map_or_else(String::new, |own| format!(" in {own}"));
        format!("{order} {} Q{} T{} {direction}{load}{span}{cache}{event}{hosts}", self.block, self.depth, self.jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload() -> Workload {
        Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes::kib(4))
    }

    #[test]
    fn a_curve_has_its_points_at_shares_of_the_largest() {
        let names: Vec<String> = workload().curve().iter().map(|point| point.name.to_string()).collect();
        assert_eq!(names, ["w.at-25", "w.at-50", "w.at-70", "w.at-90"]);
        assert!(workload().curve().iter().all(|point| point.curve().is_empty()), "a point has no curve");
        assert_eq!(workload().curve()[1].describe(), "RND 4 KiB Q1 T1 read at 50 % load");
    }

    #[test]
    fn a_flush_counts_whichever_option_asks_for_it() {
        let with = |key: &str, value: &str| {
            let keys = vec![FioKey { key: key.into(), value: value.into() }];
            Workload { fsync_every: Some(8), keys, ..workload() }.flushed_every()
        };
        assert_eq!(with("fdatasync", "2"), Some(2));
        assert_eq!((with("sync", "dsync"), with("sync", "0"), with("fdatasync", "0")), (Some(1), Some(8), Some(8)));
        assert_eq!(workload().flushed_every(), None);
    }

    #[test]
    fn a_span_of_its_own_is_told_where_it_is_less_than_all() {
        let keys = vec![FioKey { key: "size".into(), value: Bytes::mib(64).0.to_string() }];
        let own = Workload { keys, ..workload() };
        let titles = [32, 64, 128].map(|span| own.clone().within(Bytes::mib(span)).title());
        assert_eq!(titles, ["RND 4 KiB Q1 T1 read", "RND 4 KiB Q1 T1 read", "RND 4 KiB Q1 T1 read in 64 MiB"]);
    }

    #[test]
    fn what_an_old_record_does_not_say_is_the_default() {
        let old = r#"{"name":"w","pattern":"rand-read","block_bytes":4096,"depth":1,"jobs":1,
                      "fsync_every":null,"profile":null,"window_ns":null}"#;
        let read: Workload = serde_json::from_str(old).unwrap();
        assert_eq!(read, workload());
        let again = serde_json::to_string(&read).unwrap();
        assert!(!again.contains("engine") && !again.contains("keys"), "defaults take no room: {again}");
    }
}
