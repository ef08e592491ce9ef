//! What one drive gave, taken for what it can do: the ratings at which the model says just that.

use terms::machine::{Baseline, BaselineFiles, DriveGroup, DriveKind, Machine, Rated, Trust};
use terms::{Bytes, BytesPerSecond, Iops, Layer, LayerNode, Name, Nanos, Ref, Stack};

use crate::compiler::{Compiler, Conditions};
use crate::site::Site;
use crate::solve::solve;

/// Halvings: enough for twelve digits over the range that is searched.
const HALVINGS: u32 = 60;
/// How far from a usual drive is searched, as a factor either way.
const FAR: f64 = 1e3;
/// Rounds over all figures of a drive: one rating is part of what another's figure says.
const ROUNDS: u32 = 4;
/// Up to so many operations under way a figure tells the time of one; above, how many a drive can do.
const FEW: u64 = 4;
/// Blocks up to this size are work of the processor more than of the drive.
const SMALL: Bytes = Bytes::kib(16);
/// Seconds of a core for a read of 4 KiB among which one is looked for: of the fastest and the slowest machines.
const SUBMIT: (f64, f64) = (0.3e-6, 100e-6);
/// How far what comes out may be from what was given.
const CLOSE: f64 = 0.01;

/// The machine with drives that give what was measured of one of them, and in words what no drive can give on it.
///
/// A drive of which nothing else is known counts as measured; the figures' own noise is that of measured drives.
#[must_use]
pub fn with_baseline(mut machine: Machine) -> (Machine, Vec<String>) {
    let mut unexplained = Vec::new();
    for at in 0..machine.drives.len() {
        let baseline = std::mem::take(&mut machine.drives[at].baseline);
        if baseline.is_empty() {
            continue;
        }
        if machine.drives[at].rated == Rated::NOTHING {
            machine.drives[at].trust = Trust::Measured;
        }
        let told = machine.drives[at].rated;
        settle_all(&mut machine, at, &baseline);
        // Many small operations that no drive explains tell how long the processor takes for one.
        let of_processor = |figure: &&Baseline| !Rating::is_few(figure) && figure.work.block <= SMALL;
        if machine.submit.is_none()
            && let Some(figure) = baseline.iter().filter(of_processor).find(|figure| is_off(&machine, at, figure))
        {
            machine.submit = submit(&machine, at, figure);
            settle_all(&mut machine, at, &baseline);
        }
        let (off, met): (Vec<_>, Vec<_>) = baseline.iter().cloned().partition(|figure| is_off(&machine, at, figure));
        unexplained.extend(off.iter().map(|figure| words(&machine.drives[at], figure, said(&machine, at, figure))));
        if !off.is_empty() {
            // What no drive gives tells nothing of this one.
            machine.drives[at].rated = told;
            settle_all(&mut machine, at, &met);
        }
        machine.drives[at].baseline = baseline;
    }
    (machine, unexplained)
}

fn words(group: &DriveGroup, figure: &Baseline, said: Option<f64>) -> String {
    let most = said.map_or_else(String::new, |said| format!("; the nearest is {said:.0}"));
    let (given, work) = (figure.operations.0, figure.work.describe());
    format!("no drive `{}` gives {given:.0} operations a second of {work} on this machine{most}", group.name)
}

fn settle_all(machine: &mut Machine, at: usize, baseline: &[Baseline]) {
    for _ in 0..ROUNDS {
        for figure in baseline {
            settle(machine, at, figure);
        }
    }
}

/// The time of a core for a read of 4 KiB at which a figure is met; none where no such time meets it.
fn submit(machine: &Machine, at: usize, figure: &Baseline) -> Option<Nanos> {
    let mut tried = machine.clone();
    let (mut low, mut high) = (SUBMIT.0.ln(), SUBMIT.1.ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        tried.submit = Some(Nanos::from_seconds(middle.exp()));
        if said(&tried, at, figure)? > figure.operations.0 { low = middle } else { high = middle }
    }
    let is_met = (said(&tried, at, figure)? / figure.operations.0 - 1.0).abs() <= CLOSE;
    tried.submit.filter(|_| is_met)
}

/// Finds the rating that a figure tells. Many small reads in order tell how many flash takes at least, where nobody rated it by
/// those; small writes in order do not, as a cache joins them.
fn settle(machine: &mut Machine, at: usize, figure: &Baseline) {
    let rating = Rating::of(figure, machine.drives[at].kind);
    find(machine, at, figure, rating);
    let group = &machine.drives[at];
    let tells = is_small_on_flash(figure, group.kind) && !Rating::is_few(figure);
    if !tells || rating != Rating::Read || group.rated.read_iops.is_some() {
        return;
    }
    if said(machine, at, figure).is_some_and(|said| said < figure.operations.0 * (1.0 - CLOSE)) {
        find(machine, at, figure, Rating::ReadOperation);
    }
}

fn find(machine: &mut Machine, at: usize, figure: &Baseline, rating: Rating) {
    let (mut low, mut high) = ((rating.usual() / FAR).ln(), (rating.usual() * FAR).ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        rating.put(&mut machine.drives[at].rated, middle.exp());
        let Some(said) = said(machine, at, figure) else { return };
        // More time is never faster.
        if said > figure.operations.0 { low = middle } else { high = middle }
    }
}

fn is_small_on_flash(figure: &Baseline, kind: DriveKind) -> bool {
    figure.work.block <= SMALL && kind != DriveKind::Hdd
}

/// Does the model say anything else than what was measured?
fn is_off(machine: &Machine, at: usize, figure: &Baseline) -> bool {
    said(machine, at, figure).is_none_or(|said| (said / figure.operations.0 - 1.0).abs() > CLOSE)
}

fn said(machine: &Machine, at: usize, figure: &Baseline) -> Option<f64> {
    let group = &machine.drives[at];
    let one = Machine { drives: vec![group.clone()], ..machine.clone() };
    let site = Site::new(&one);
    let name = Name::new(group.member(0)).ok()?;
    let layer = match figure.files {
        None => Layer::Bare,
        Some(BaselineFiles::Ext4) => Layer::Ext4(terms::layer::Ext4::default()),
        Some(BaselineFiles::Xfs) => Layer::Xfs(terms::layer::Xfs::default()),
    };
    let node = LayerNode { name: name.clone(), layer, on: vec![Ref::Drive(name)], special: Vec::new() };
    let stack = Stack { name: String::new(), note: None, nodes: vec![node] };
    let mut compiler = Compiler::new(&site);
    compiler.compile(&stack, &figure.work, &Conditions::default()).ok().map(|network| solve(network).throughput)
}

/// What of a drive a figure tells, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rating {
    Read,
    Write,
    ReadOperation,
    WriteOperation,
    ReadAlone,
    ReadOrdered,
    WriteAlone,
    Flush,
}

impl Rating {
    fn of(figure: &Baseline, kind: DriveKind) -> Self {
        let work = &figure.work;
        let few = Self::is_few(figure);
        match (work.fsync_every, work.pattern.writes(), work.pattern.random()) {
            (Some(_), ..) => Self::Flush,
            (None, false, false) if few && is_small_on_flash(figure, kind) => Self::ReadOrdered,
            (None, false, false) => Self::Read,
            (None, true, false) => Self::Write,
            (None, false, true) if few => Self::ReadAlone,
            (None, false, true) => Self::ReadOperation,
            (None, true, true) if few => Self::WriteAlone,
            (None, true, true) => Self::WriteOperation,
        }
    }

    /// Does the figure tell the time of an operation?
    fn is_few(figure: &Baseline) -> bool {
        u64::from(figure.work.jobs) * u64::from(figure.work.depth) <= FEW
    }

    /// Of some drive: 1 GB/s, 100 k operations in a second, 0.1 ms; the search goes far from it.
    const fn usual(self) -> f64 {
        match self {
            Self::Read | Self::Write => 1e-9,
            Self::ReadOperation | Self::WriteOperation => 1e-5,
            Self::ReadAlone | Self::ReadOrdered | Self::WriteAlone | Self::Flush => 1e-4,
        }
    }

    fn put(self, rated: &mut Rated, seconds: f64) {
        match self {
            Self::Read => rated.read = Some(BytesPerSecond(1.0 / seconds)),
            Self::Write => rated.write = Some(BytesPerSecond(1.0 / seconds)),
            Self::ReadOperation => rated.read_iops = Some(Iops(1.0 / seconds)),
            Self::WriteOperation => rated.write_iops = Some(Iops(1.0 / seconds)),
            Self::ReadAlone => rated.read_latency = Some(Nanos::from_seconds(seconds)),
            Self::ReadOrdered => rated.ordered_latency = Some(Nanos::from_seconds(seconds)),
            Self::WriteAlone => rated.write_latency = Some(Nanos::from_seconds(seconds)),
            // Of that drive, and not of others of its name.
            Self::Flush => (rated.flush, rated.fua) = (Some(Nanos::from_seconds(seconds)), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use terms::machine::DriveKind;
    use terms::{Pattern, Workload};

    use super::*;

    fn figure(pattern: Pattern, kib: u64, depth: u32, every: Option<u32>, operations: f64) -> Baseline {
        let work =
            Workload { depth, fsync_every: every, ..Workload::new(Name::new("w").unwrap(), pattern, Bytes::kib(kib)) };
        Baseline { work, files: every.map(|_| BaselineFiles::Ext4), operations: Iops(operations) }
    }

    fn machine(kind: DriveKind, baseline: Vec<Baseline>) -> Machine {
        let group = DriveGroup { count: 2, baseline, ..DriveGroup::unknown(Name::new("d").unwrap(), kind) };
        Machine { cores: 8, threads: 16, drives: vec![group], ..Machine::default() }
    }

    #[test]
    fn a_drive_gives_what_it_gave() {
        let nvme = vec![
            figure(Pattern::Read, 1024, 1, None, 2960.0),
            figure(Pattern::Write, 1024, 8, None, 3215.0),
            figure(Pattern::Read, 4, 1, None, 60_000.0),
            figure(Pattern::RandRead, 4, 1, None, 18_280.0),
            figure(Pattern::RandRead, 4, 64, None, 300_000.0),
            figure(Pattern::RandWrite, 4, 1, Some(16), 2663.0),
        ];
        let hdd = vec![figure(Pattern::Read, 1024, 8, None, 200.0), figure(Pattern::RandRead, 4, 32, None, 300.0)];
        for (kind, list) in [(DriveKind::Nvme, nvme), (DriveKind::Hdd, hdd)] {
            let (machine, unexplained) = with_baseline(machine(kind, list.clone()));
            assert!(unexplained.is_empty(), "{unexplained:?}");
            assert_eq!(machine.drives[0].trust, Trust::Measured);
            for figure in &list {
                let said = said(&machine, 0, figure).unwrap();
                assert!((said / figure.operations.0 - 1.0).abs() < CLOSE, "{said} and not {:?}", figure.operations);
            }
        }
    }

    /// As published of a drive behind a processor that is slower or faster than those of the table.
    #[test]
    fn a_figure_that_no_drive_explains_is_of_the_processor() {
        for operations in [150_000.0, 900_000.0] {
            let rate = figure(Pattern::Read, 512, 32, None, 13_600.0);
            let small = figure(Pattern::Read, 4, 256, None, operations);
            let (machine, unexplained) = with_baseline(machine(DriveKind::Nvme, vec![small.clone(), rate.clone()]));
            assert!(unexplained.is_empty() && machine.submit.is_some(), "{unexplained:?}");
            for figure in [small, rate] {
                let said = said(&machine, 0, &figure).unwrap();
                assert!((said / figure.operations.0 - 1.0).abs() < CLOSE, "{said} and not {:?}", figure.operations);
            }
        }
    }

    #[test]
    fn what_no_drive_can_give_is_told() {
        let (machine, unexplained) =
            with_baseline(machine(DriveKind::Nvme, vec![figure(Pattern::RandRead, 4, 1, None, 1e9)]));
        assert_eq!(unexplained.len(), 1);
        assert_eq!(machine.drives[0].rated, Rated::NOTHING, "and tells nothing of the drive");
        assert!(unexplained[0].contains("no drive `d` gives 1000000000"), "{unexplained:?}");
    }
}
