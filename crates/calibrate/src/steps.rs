//! What is measured, the steps that buy most first, and which constants of the model each gives.

use model::parameter::TABLE;
use model::{Conditions, Parameter, Site};
use terms::calibration::CalibrationStep;
use terms::layer::{
    Bitmap, Btrfs, Crypt, CryptFlags, Ext4, Integrity, IntegrityMode, Lvm, Raid, RaidLevel, Zfs, ZfsCache,
};
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::workload::{Engine, FioKey};
use terms::{Bytes, Layer, Nanos, Pattern, Stack, Workload};

use crate::error::CalibrateError;
use crate::point::{Point, Rig};
use crate::work::{RANDOM_DEPTH, SEQUENTIAL_DEPTH, stacked, telling, work};
use crate::{Bench, drives, processor, ram};

/// A step.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) needs_ram: bool,
    /// Seconds on a machine that is neither fast nor slow.
    usual: f64,
    pub(crate) run: fn(&mut Bench<'_>) -> Result<String, CalibrateError>,
}

const fn step(name: &'static str, usual: f64, run: fn(&mut Bench<'_>) -> Result<String, CalibrateError>) -> Step {
    Step { name, needs_ram: true, usual, run }
}

/// Every step.
pub(crate) const STEPS: &[Step] = &[
    Step { needs_ram: false, ..step("cipher alone", 3.0, processor::cipher) },
    step("calls and block layer", 7.0, calls),
    Step { needs_ram: false, ..step("drives, read only", 7.0, drives::read) },
    step("dm-crypt, inline", 7.0, inline),
    step("dm-crypt, workers", 7.0, workers),
    step("files", 4.0, files),
    step("dm-crypt, sectors of 512 B", 3.0, sectors),
    step("dm-integrity, no journal", 7.0, |bench| integrity(bench, IntegrityMode::NoJournal)),
    step("dm-integrity, journal", 7.0, |bench| integrity(bench, IntegrityMode::Journal)),
    Step { needs_ram: false, ..step("memory, parity, SHA-256", 1.5, processor::memory) },
    step("RAID-1", 3.0, mirror),
    step("RAID-5", 3.0, parity),
    step("LVM", 4.0, volume),
    step("btrfs", 6.0, btrfs),
    step("ZFS", 6.0, zfs),
];

/// How long a step will take here: as much longer than usual as those before it were.
pub(crate) fn cost(step: &Step, done: &[CalibrationStep]) -> f64 {
    let known: Vec<(f64, f64)> = done
        .iter()
        .filter(|past| past.done)
        .filter_map(|past| Some((past.seconds, STEPS.iter().find(|step| step.name == past.name)?.usual)))
        .collect();
    let (took, usual) = known.iter().fold((0.0, 0.0), |(a, b), (took, usual)| (a + took, b + usual));
    step.usual * if usual > 0.0 { took / usual } else { 1.0 }
}

/// How far a constant may be off that was measured with its layer on a RAM drive.
const ON_RAM: f64 = 0.08;
/// The same under emulation, where other work of the machine below is in every time.
const ON_EMULATED_RAM: f64 = 0.15;
/// Constants of one stack are in several of its figures: so often is each found anew from the others.
const PASSES: usize = 4;

/// Time in which some transaction groups of ZFS are written on RAM drives.
const GROUPS: Nanos = Nanos::seconds(1);

/// So little that the ARC holds it, and all of its records are dirty nearly all of that time.
const HELD: Bytes = Bytes::mib(1);

/// What is fitted to one figure.
struct Fit {
    parameter: Parameter,
    work: Workload,
}

fn large(pattern: Pattern) -> Result<Workload, CalibrateError> {
    work(pattern, Bytes::mib(1), SEQUENTIAL_DEPTH, 1)
}

/// dm-crypt, inline or by workers, with sectors of 4 KiB.
pub(crate) fn crypt(inline: bool) -> Crypt {
    let flags = CryptFlags {
        same_cpu_crypt: inline,
        submit_from_crypt_cpus: inline,
        no_read_workqueue: inline,
        no_write_workqueue: inline,
    };
    Crypt { sector: Bytes::kib(4), flags, ..Crypt::default() }
}

/// A layer on so many RAM drives.
fn stack(layer: Layer, drives: usize) -> Result<Stack, CalibrateError> {
    stacked(&ram::names(drives)?, &[layer])
}

impl Bench<'_> {
    /// The machine with nothing but RAM drives, as it is known by now.
    fn on_ram(&self) -> Result<Site, CalibrateError> {
        let size = self.rig.as_ref().and_then(Rig::size);
        let names = ram::names(ram::DRIVES)?;
        let drive = |name| DriveGroup { size, ..DriveGroup::unknown(name, DriveKind::Ram) };
        let drives = names.into_iter().map(drive).collect();
        let machine = Machine { drives, uplinks: Vec::new(), ..model::found(&self.inventory) };
        Ok(Site::calibrated(&machine, &self.calibration))
    }

    fn sigma(&self) -> f64 {
        if self.calibration.of.emulated.is_some() { ON_EMULATED_RAM } else { ON_RAM }
    }

    fn points(&self, stack: &Stack, works: &[Workload]) -> Result<Vec<Point>, CalibrateError> {
        match &self.rig {
            Some(rig) => rig.measure(stack, works),
            None => Err(CalibrateError::Told("left out: no RAM drives".to_owned())),
        }
    }

    /// Measures a stack and finds the constants at which the model says what was measured.
    fn learn(&mut self, stack: &Stack, fits: &[Fit]) -> Result<Vec<Point>, CalibrateError> {
        let points = self.measured(stack, fits)?;
        self.fit(stack, fits, &points)?;
        Ok(points)
    }

    fn measured(&self, stack: &Stack, fits: &[Fit]) -> Result<Vec<Point>, CalibrateError> {
        let works: Vec<Workload> = fits.iter().map(|fit| fit.work.clone()).collect();
        self.points(stack, &works)
    }

    /// Finds the constants at which the model says what was measured.
    fn fit(&mut self, stack: &Stack, fits: &[Fit], points: &[Point]) -> Result<(), CalibrateError> {
        let sigma = self.sigma();
        let origin = format!("{} on a RAM drive of this machine", stack.nodes[0].layer.title());
        for _ in 0..PASSES {
            for (Fit { parameter, work }, point) in fits.iter().zip(points) {
                let site = self.on_ram()?;
                if let Some(value) = telling(&site, *parameter, stack, work, point.operations) {
                    self.set(*parameter, value, sigma, &origin);
                }
            }
        }
        Ok(())
    }

    /// Small blocks at random on every thread.
    fn small(&self, pattern: Pattern) -> Result<Workload, CalibrateError> {
        work(pattern, Bytes::kib(4), RANDOM_DEPTH, self.inventory.cpus)
    }

    /// The four workloads, each with the constant that it tells.
    fn four(&self, [read, write, read_io, write_io]: [Parameter; 4]) -> Result<Vec<Fit>, CalibrateError> {
        Ok(vec![
            Fit { parameter: read, work: large(Pattern::Read)? },
            Fit { parameter: write, work: large(Pattern::Write)? },
            Fit { parameter: read_io, work: self.small(Pattern::RandRead)? },
            Fit { parameter: write_io, work: self.small(Pattern::RandWrite)? },
        ])
    }
}

fn micros(seconds: f64) -> f64 {
    seconds * 1e6
}

/// The share of all threads' time that an operation took.
fn own_time(bench: &Bench<'_>, point: Point) -> f64 {
    f64::from(bench.inventory.cpus) / point.operations
}

/// The raw RAM drive: what fio, the call and the block layer take, and one factor between this machine and the table's.
fn calls(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let stack = stack(Layer::Bare, 1)?;
    let small = bench.small(Pattern::RandRead)?;
    if bench.calibration.of.emulated.is_some() {
        // Instructions are all that counts there, and those for a page are counted as such.
        bench.set(Parameter::ApiByte, 0.0, 0.0, "no cache is missed where instructions are counted");
    }
    let one = Workload { depth: 1, ..large(Pattern::Read)? };
    let blocking = Workload { engine: Engine::Psync, ..work(Pattern::RandRead, Bytes::kib(4), 1, 1)? };
    let fits = [
        Fit { parameter: Parameter::CpuFactor, work: small.clone() },
        Fit { parameter: Parameter::RamByte, work: large(Pattern::Read)? },
        Fit { parameter: Parameter::ApiWrite, work: bench.small(Pattern::RandWrite)? },
        Fit { parameter: Parameter::PagePin, work: one },
        Fit { parameter: Parameter::Blocking, work: blocking },
    ];
    let points = bench.learn(&stack, &fits)?;
    // By definition: it is what all other times are relative to.
    for constant in bench.calibration.constants.iter_mut().filter(|one| one.key == Parameter::CpuFactor.key()) {
        constant.sigma = 0.02;
    }
    let sigma = bench.sigma();
    let site = bench.on_ram()?;
    bench.set(
        Parameter::ApiRead,
        site.parameters.get(Parameter::ApiRead),
        sigma,
        "a read of a RAM drive of this machine",
    );
    Ok(format!(
        "a 4 KiB read takes {:.2} µs of a thread, a write {:.2} µs; {:.1} GB/s of one job",
        micros(own_time(bench, points[0])),
        micros(own_time(bench, points[2])),
        points[1].operations * Bytes::mib(1).as_f64() / 1e9
    ))
}

/// What a file system adds to a read and a write in place. XFS and btrfs take about as much as ext4, which is measured.
fn files(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let fits = [
        Fit { parameter: Parameter::FileRead, work: bench.small(Pattern::RandRead)? },
        Fit { parameter: Parameter::FileWrite, work: bench.small(Pattern::RandWrite)? },
    ];
    let points = bench.learn(&stack(Layer::Ext4(Ext4::default()), 1)?, &fits)?;
    Ok(format!(
        "of ext4: a 4 KiB read takes {:.2} µs of a thread, a write {:.2} µs",
        micros(own_time(bench, points[0])),
        micros(own_time(bench, points[1]))
    ))
}

fn inline(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    use Parameter as P;
    let fits = bench.four([P::CryptReadByte, P::CryptWriteByte, P::CryptReadIo, P::CryptWriteIo])?;
    let points = bench.learn(&stack(Layer::Crypt(crypt(true)), 1)?, &fits)?;
    Ok(figures(&points))
}

/// What it adds that a block is encrypted in eight times as many sectors: the size that cryptsetup takes for most flash.
fn sectors(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let small = Crypt { sector: Bytes(512), ..crypt(true) };
    let fits = [Fit { parameter: Parameter::CryptSector, work: large(Pattern::Read)? }];
    let points = bench.learn(&stack(Layer::Crypt(small), 1)?, &fits)?;
    Ok(format!("{:.0} MB/s to read", points[0].operations * Bytes::mib(1).as_f64() / 1e6))
}

/// With its own workers: how many work for one stream, and what handing over takes.
fn workers(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    use Parameter as P;
    let lone = |pattern| work(pattern, Bytes::kib(4), 1, 1);
    // No kernel cuts these; parts of larger ones have workers of their own since Linux 6.11, which the model knows.
    let whole = Bytes::kib(128);
    let fits = [
        Fit { parameter: P::CryptWorkers, work: work(Pattern::Read, whole, SEQUENTIAL_DEPTH, 1)? },
        Fit { parameter: P::HandoffReadIo, work: bench.small(Pattern::RandRead)? },
        Fit { parameter: P::HandoffWriteIo, work: bench.small(Pattern::RandWrite)? },
        Fit { parameter: P::HandoffRead, work: lone(Pattern::RandRead)? },
        Fit { parameter: P::HandoffWrite, work: lone(Pattern::RandWrite)? },
    ];
    let stack = stack(Layer::Crypt(crypt(false)), 1)?;
    let points = bench.points(&stack, &fits.iter().map(|fit| fit.work.clone()).collect::<Vec<_>>())?;
    let sigma = bench.sigma();
    for (Fit { parameter, work }, point) in fits.iter().zip(&points) {
        let site = bench.on_ram()?;
        let value = if *parameter == P::CryptWorkers {
            // More workers are faster: the search goes the other way, and needs no search. So many were busy.
            let byte = site.parameters.get(P::CryptReadByte) * site.parameters.get(P::CpuFactor);
            Some((byte * work.block.as_f64() * point.operations).clamp(1.0, f64::from(bench.inventory.cpus)))
        } else if matches!(parameter, P::HandoffRead | P::HandoffWrite) {
            // What is left of a lone one; where processors alone take as long, nothing is.
            model::fit(&site, *parameter, &stack, work, &Conditions::default(), point.operations)
        } else {
            telling(&site, *parameter, &stack, work, point.operations)
        };
        if let Some(value) = value {
            bench.set(*parameter, value, sigma, "dm-crypt with workers on a RAM drive of this machine");
        }
    }
    Ok(format!(
        "one stream {:.0} MB/s; a lone read {:.0} µs, a lone write {:.0} µs; {:.1} k and {:.1} k IOPS to read and write",
        points[0].operations * whole.as_f64() / 1e6,
        micros(points[3].latency),
        micros(points[4].latency),
        points[1].operations / 1e3,
        points[2].operations / 1e3
    ))
}

fn integrity(bench: &mut Bench<'_>, mode: IntegrityMode) -> Result<String, CalibrateError> {
    use Parameter as P;
    let parameters = match mode {
        IntegrityMode::Journal => [P::JournalReadByte, P::JournalWriteByte, P::JournalReadIo, P::JournalWriteIo],
        _ => [P::NoJournalReadByte, P::NoJournalWriteByte, P::NoJournalReadIo, P::NoJournalWriteIo],
    };
    let layer = Layer::Integrity(Integrity { mode, sector: Bytes::kib(4), ..Integrity::default() });
    let points = bench.learn(&stack(layer, 1)?, &bench.four(parameters)?)?;
    if mode == IntegrityMode::Journal {
        let small = Layer::Integrity(Integrity { mode, sector: Bytes(512), ..Integrity::default() });
        bench.learn(&stack(small, 1)?, &[Fit { parameter: P::JournalSector, work: large(Pattern::Write)? }])?;
    }
    if mode == IntegrityMode::NoJournal {
        // What a bitmap adds are few writes: the processors do the same.
        let same = [
            (P::NoJournalReadByte, P::BitmapReadByte),
            (P::NoJournalWriteByte, P::BitmapWriteByte),
            (P::NoJournalReadIo, P::BitmapReadIo),
            (P::NoJournalWriteIo, P::BitmapWriteIo),
        ];
        let sigma = bench.sigma();
        let parameters = bench.on_ram()?.parameters;
        for (from, to) in same {
            bench.set(to, parameters.get(from), sigma * 1.5, "as without journal on a RAM drive of this machine");
        }
    }
    Ok(figures(&points))
}

fn mirror(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let raid = Raid { level: RaidLevel::Raid1, bitmap: Bitmap::None, assume_clean: true, ..Raid::default() };
    let fits = [
        Fit { parameter: Parameter::MdIo, work: bench.small(Pattern::RandRead)? },
        Fit { parameter: Parameter::MirrorWrite, work: bench.small(Pattern::RandWrite)? },
    ];
    let points = bench.learn(&stack(Layer::Raid(raid), 2)?, &fits)?;
    Ok(format!("{:.1} k reads/s, {:.1} k writes/s", points[0].operations / 1e3, points[1].operations / 1e3))
}

/// The parity thread: what bytes of members take in rows that are written whole, what more there is in large requests, and
/// what a row takes of which a part is written.
fn parity(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let chunk = Bytes::kib(64);
    let raid = Raid { level: RaidLevel::Raid5, chunk, bitmap: Bitmap::None, assume_clean: true, ..Raid::default() };
    let row = Bytes(chunk.0 * u64::try_from(ram::DRIVES - 1).unwrap_or(1));
    let fits = [
        Fit { parameter: Parameter::ParityMember, work: work(Pattern::Write, row, SEQUENTIAL_DEPTH, 1)? },
        Fit { parameter: Parameter::ParityWalk, work: large(Pattern::Write)? },
        Fit { parameter: Parameter::ParityPart, work: bench.small(Pattern::RandWrite)? },
        Fit { parameter: Parameter::ParityVisit, work: work(Pattern::RandWrite, chunk, SEQUENTIAL_DEPTH, 1)? },
    ];
    let stack = stack(Layer::Raid(raid), ram::DRIVES)?;
    let points = bench.measured(&stack, &fits)?;
    // Both may be near nothing, and from the table's value so small a figure would be refused.
    let little = [Parameter::ParityPart, Parameter::ParityVisit].map(|of| (of, TABLE[of as usize].value / 100.0));
    for (parameter, value) in little {
        bench.set(parameter, value, bench.sigma(), "");
    }
    let fitted = bench.fit(&stack, &fits, &points);
    for (parameter, _) in little {
        // What no figure told stays the table's.
        bench.calibration.constants.retain(|constant| constant.key != parameter.key() || !constant.origin.is_empty());
    }
    fitted?;
    Ok(format!(
        "{:.0} MB/s and {:.1} k IOPS to write",
        points[1].operations * Bytes::mib(1).as_f64() / 1e6,
        points[2].operations / 1e3
    ))
}

fn volume(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let fits = [
        Fit { parameter: Parameter::LinearRead, work: bench.small(Pattern::RandRead)? },
        Fit { parameter: Parameter::LinearWrite, work: bench.small(Pattern::RandWrite)? },
    ];
    let points = bench.learn(&stack(Layer::Lvm(Lvm::default()), 1)?, &fits)?;
    Ok(format!("{:.1} k reads/s, {:.1} k writes/s", points[0].operations / 1e3, points[1].operations / 1e3))
}

fn btrfs(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    use Parameter as P;
    let fits = bench.four([P::BtrfsReadByte, P::BtrfsWriteByte, P::BtrfsReadIo, P::BtrfsTree])?;
    let points = bench.learn(&stack(Layer::Btrfs(Btrfs::default()), 1)?, &fits)?;
    Ok(figures(&points))
}

/// What the ARC holds, and then what drives give. Of writes nothing on a machine with time of its own: what is written in a second
/// is held in memory, and says nothing of what a pool keeps up. Where one processor's instructions are the time, all that a
/// write takes is in it, once some transaction groups were written.
fn zfs(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let keys = vec![FioKey { key: "size".to_owned(), value: HELD.0.to_string() }];
    let held = |work| Workload { keys: keys.clone(), ..work };
    let long = |work| Workload { window: Some(GROUPS), ..work };
    let mut hits = vec![Fit { parameter: Parameter::ZfsReadIo, work: held(bench.small(Pattern::RandRead)?) }];
    let mut misses = vec![Fit { parameter: Parameter::ZfsReadByte, work: large(Pattern::Read)? }];
    let is_counted = bench.calibration.of.is_counted();
    if is_counted {
        let small = long(held(work(Pattern::Write, Bytes::kib(4), 1, 1)?));
        hits.push(Fit { parameter: Parameter::ZfsWriteAgain, work: small });
        misses.push(Fit { parameter: Parameter::ZfsWriteByte, work: long(large(Pattern::Write)?) });
    }
    let pool = stack(Layer::Zfs(Zfs::default()), ram::DRIVES)?;
    let small = bench.measured(&pool, &hits)?;
    for _ in 0..if is_counted { PASSES } else { 1 } {
        bench.fit(&pool, &hits, &small)?;
        if is_counted {
            // The first write to a record takes its bytes besides, and they are counted. One of 32 of these writes is the
            // first, so both are found together.
            let again = bench.on_ram()?.parameters.get(Parameter::ZfsWriteAgain);
            bench.set(Parameter::ZfsWriteIo, again, bench.sigma(), "as for a record that is dirty already");
        }
    }
    let zfs = Zfs { primarycache: ZfsCache::Metadata, ..Zfs::default() };
    let large = bench.learn(&stack(Layer::Zfs(zfs), ram::DRIVES)?, &misses)?;
    let held: Vec<String> = small.iter().map(|point| format!("{:.1} k", point.operations / 1e3)).collect();
    let rate = large[0].operations * Bytes::mib(1).as_f64() / 1e6;
    Ok(format!("{rate:.0} MB/s to read; of what is in memory {} operations/s", held.join(" and ")))
}

/// The four figures in a line.
fn figures(points: &[Point]) -> String {
    let [read, write, small_read, small_write] = points else { return String::new() };
    let rate = |point: &Point| point.operations * Bytes::mib(1).as_f64() / 1e6;
    format!(
        "{:.0} and {:.0} MB/s, {:.1} k and {:.1} k IOPS to read and write",
        rate(read),
        rate(write),
        small_read.operations / 1e3,
        small_write.operations / 1e3
    )
}
