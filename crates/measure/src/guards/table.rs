//! The table of guards. A new one is a name in `terms::guard`, a row here and a planted case in `tests.rs`.

use std::fmt::Write as _;

use terms::Guard;

use super::{Evidence, drives, machine, window};

/// A guard, and one of the ways in which it fires.
pub(crate) struct Row {
    pub(crate) guard: Guard,
    /// Is there no figure then? The figure is only labelled otherwise.
    pub(crate) voids: bool,
    /// Is it about work of others or of the machine itself, which ends? What such guards void is worth a second attempt;
    /// the others tell of the figure itself, and would say the same again.
    pub(crate) passes: bool,
    pub(crate) look: Look,
    /// What it looks at.
    pub(crate) witness: &'static str,
    /// When it fires.
    pub(crate) rule: &'static str,
}

/// Where a guard is looked for.
pub(crate) enum Look {
    /// In the evidence of a cell: gives what was seen.
    Evidence(Looks),
    /// In the list of the machine's own work.
    OwnWork,
    /// Not in the evidence of one fio run: by what measures several hosts, or a tree of files.
    Elsewhere,
}

type Looks = fn(&Evidence<'_>) -> Option<String>;

const fn voids(guard: Guard, look: Looks, witness: &'static str, rule: &'static str) -> Row {
    Row { guard, voids: true, passes: false, look: Look::Evidence(look), witness, rule }
}

const fn labels(guard: Guard, look: Looks, witness: &'static str, rule: &'static str) -> Row {
    Row { guard, voids: false, passes: false, look: Look::Evidence(look), witness, rule }
}

const fn passing(guard: Guard, look: Looks, witness: &'static str, rule: &'static str) -> Row {
    Row { guard, voids: true, passes: true, look: Look::Evidence(look), witness, rule }
}

const fn own_work(guard: Guard, passes: bool, witness: &'static str, rule: &'static str) -> Row {
    Row { guard, voids: true, passes, look: Look::OwnWork, witness, rule }
}

/// What fio says.
const FIO: &[Row] = &[
    voids(Guard::Jobs, window::jobs, "jobs in fio's output, jobs asked for", "the numbers differ"),
    voids(
        Guard::Identity,
        window::identity,
        "operations × block and bytes per second, of each job and of the sum",
        "they differ by more than 0.1 % and what the queues hold",
    ),
    voids(
        Guard::Sum,
        window::sum,
        "bytes of all jobs, the total that fio prints for the group",
        "they differ by more than its last digit",
    ),
    voids(
        Guard::Bins,
        window::bins,
        "reads, writes and flushes of each job, the sum of their bins of latency",
        "they differ by more than 0.1 % and what the queues hold",
    ),
    voids(
        Guard::LogSum,
        window::log_sum,
        "bytes of the throughput log, fio's total",
        "the log has more, beyond 1 % and two lines at the highest rate: lines of something else",
    ),
    voids(Guard::Short, window::short, "time of the shortest job, the window", "it is below 95 %"),
    labels(
        Guard::Queue,
        window::queue,
        "the window, the mean latency",
        "it is below ten times the latency, also after it was made up to ten times as long: what was under way at its ends counts",
    ),
    labels(
        Guard::RateNotReached,
        window::rate,
        "operations that were offered at a fixed rate, those that were done",
        "fewer were done, by 5 % and by three standard deviations of random arrivals: the latency then leaves out how long the others waited to begin",
    ),
    voids(Guard::NothingDone, window::direction, "each direction that was asked for", "one has no operation"),
    labels(
        Guard::LostLog,
        window::lost_log,
        "bytes of the throughput log, fio's total; windows from 1 s",
        "the log has less than half, and 1 KiB/s of each job, which fio rounds away, does not explain it",
    ),
    labels(
        Guard::Log,
        window::log,
        "the same",
        "the log has less, beyond 1 %, what is lost at the ends and 1 KiB/s of each job",
    ),
    labels(
        Guard::LogClock,
        window::clock,
        "the log's times, fio's life on the machine's clock",
        "the times lie outside of it",
    ),
    labels(
        Guard::Together,
        window::together,
        "the time in which the windows of all jobs lie",
        "it is longer than one by more than 5 % and two lines of the log. The rate is that of the time in which all jobs worked; where that is less than half of a window, that of all of the time",
    ),
    Row {
        guard: Guard::Together,
        voids: true,
        passes: true,
        look: Look::Elsewhere,
        witness: "the stretch that the windows of all hosts have in common",
        rule: "it is below 75 % of a window",
    },
    Row {
        guard: Guard::Together,
        voids: false,
        passes: false,
        look: Look::Elsewhere,
        witness: "the same",
        rule: "it is below 90 %, or a host's log does not tell when its window was",
    },
];

/// What the machine does itself.
const MACHINE: &[Row] = &[
    own_work(Guard::Resync, true, "`/proc/mdstat`", "it shows resync, recovery, check, repair or reshape"),
    own_work(Guard::Degraded, false, "`/proc/mdstat`", "an array lacks a member, as `[U_]`"),
    own_work(Guard::InStep, false, "`/proc/mdstat` of a stack with `state = \"resync\"`", "the array is in step"),
    own_work(Guard::LvmSync, true, "`dmsetup status` of raid and mirror targets", "one is being brought into step"),
    own_work(Guard::IntegrityRecalc, true, "`dmsetup status` of integrity targets", "checksums are calculated anew"),
    own_work(Guard::LazyInit, true, "kernel threads, mounts", "`ext4lazyinit` is there, and an ext4 is mounted"),
    own_work(
        Guard::Scrub,
        true,
        "`btrfs scrub status`, `btrfs balance status`, `zpool status`",
        "one tells of a scrub, a balance or a resilver",
    ),
];

/// What the hardware does.
const HARDWARE: &[Row] = &[
    voids(
        Guard::Impossible,
        machine::impossible,
        "bytes per second, what the links of all drives carry together",
        "there are more",
    ),
    passing(
        Guard::Thermal,
        machine::thermal,
        "NVMe counters of thermal transitions and of minutes above the warning temperature",
        "one moved",
    ),
    passing(
        Guard::Clock,
        machine::clock_changed,
        "the processors' governor and clock",
        "the governor changed, or a clock that is held fell by more than 10 %",
    ),
    labels(Guard::Clock, machine::clock_follows, "the processors' governor", "it is not `performance`"),
    labels(Guard::SlcCliff, machine::cliff, "writes over time", "they fell to another level, after so many bytes"),
    labels(Guard::Link, machine::link, "links on the way to the root", "one runs below what both its ends can do"),
    labels(Guard::Numa, machine::numa, "nodes of the drives", "there are several"),
    labels(Guard::Generator, machine::generator, "processor time of each job", "one used 95 % of a core or more"),
];

/// What the drives count.
const DRIVES: &[Row] = &[
    passing(
        Guard::ForeignIo,
        drives::foreign,
        "bytes on the drives, what the layers can explain",
        "there are more, by 1 %, the ends, and 4 MiB",
    ),
    voids(Guard::Unwritten, drives::unwritten, "bytes that a bare drive reads", "they are below 1 % of what arrives"),
    labels(
        Guard::DirectNotHonoured,
        drives::direct,
        "pages made dirty while direct writes were asked for",
        "they are 90 % of the writes or more",
    ),
    labels(
        Guard::Compression,
        drives::compression,
        "bytes written to the drives, where a file system compresses",
        "they are below 98 % of what was written, over 3 s or more",
    ),
    labels(Guard::Cache, drives::cache, "bytes read from the drives, the layers' least", "there are less"),
    Row {
        guard: Guard::Cache,
        voids: true,
        passes: false,
        look: Look::Elsewhere,
        witness: "bytes read from the drives while a tree of files is listed or read",
        rule: "there are none",
    },
    labels(Guard::WriteCache, drives::write_cache, "bytes written to the drives, the layers' least", "there are less"),
];

/// All of them, under the headings of docs/guards.md.
const TABLE: [(&str, &[Row]); 4] = [
    ("What fio says", FIO),
    ("What the machine does itself", MACHINE),
    ("What the hardware does", HARDWARE),
    ("What the drives count", DRIVES),
];

/// Every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().flat_map(|(_, rows)| *rows)
}

/// Every guard, what it looks at, when it fires and what comes of it: the tables of docs/guards.md.
#[must_use]
pub fn reference() -> String {
    TABLE.iter().fold(String::new(), |mut page, (heading, rows)| {
        let _ = writeln!(
            page,
            "## {heading}\n\n| guard | looks at | fires when | consequence |\n| --- | --- | --- | --- |"
        );
        for row in *rows {
            let consequence = match (row.voids, row.passes) {
                (true, true) => "voids, measured again",
                (true, false) => "voids",
                (false, _) => "labels",
            };
            let _ = writeln!(page, "| `{}` | {} | {} | {consequence} |", row.guard, row.witness, row.rule);
        }
        page.push('\n');
        page
    })
}
