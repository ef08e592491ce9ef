//! Drives as they are, without a layer: read only, but for a drive of a lab, which may be written too.

use host::Host;
use measure::{On, WorkPlace, Writable};
use model::{Parameter, Site};
use terms::calibration::MeasuredDrive;
use terms::machine::Rated;
use terms::{Bytes, BytesPerSecond, Drive, DriveTransport, Iops, Layer, Nanos, Pattern, Workload};

use crate::Bench;
use crate::error::CalibrateError;
use crate::point::{Point, point};
use crate::work::{RANDOM_DEPTH, SEQUENTIAL_DEPTH, named, stacked, telling, work};

/// Blocks that are looked at, to see whether a drive holds anything.
const PLACES: u64 = 32;
/// A block.
const BLOCK: u32 = 4096;
/// How far the driver's time may be off: what fio and the machine did besides is in it.
const DRIVER: f64 = 0.15;
/// An operation's time is found anew once that of its bytes is known.
const PASSES: usize = 2;
/// A thread that is so busy sets the pace itself.
const BUSY: f64 = 0.9;

/// Reads the first drive of every model.
pub(crate) fn read(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let mut drives: Vec<Drive> = Vec::new();
    for drive in &bench.inventory.drives {
        let real = !matches!(drive.transport, DriveTransport::Ram | DriveTransport::Loop) && drive.size.0 > 0;
        if real && drives.iter().all(|other| other.model.is_none() || other.model != drive.model) {
            drives.push(drive.clone());
        }
    }
    let mut said: Vec<String> = Vec::new();
    for drive in drives {
        let own = bench.own_drive.as_deref() == Some(drive.node().as_str());
        let measured = if own { written(bench, &drive) } else { only_read(bench, &drive) };
        match measured {
            Ok(words) => said.push(words),
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => said.push(format!("{} left out: {error}", drive.kernel_name)),
        }
    }
    if said.is_empty() { Err(CalibrateError::Told("left out: no drives".to_owned())) } else { Ok(said.join("; ")) }
}

/// Reads of a drive that somebody may be using.
fn only_read(bench: &mut Bench<'_>, drive: &Drive) -> Result<String, CalibrateError> {
    let empty = empty_places(bench.host, drive)?;
    if empty * 5 > PLACES {
        return Err(CalibrateError::Told(format!(
            "{empty} of {PLACES} places hold nothing, and reads of what was never written say nothing of a drive"
        )));
    }
    let reads = reads(bench, drive, drive.size)?;
    keep(bench, drive, &reads, reads.rated())
}

/// A drive of a lab: written, then read, then written at random.
fn written(bench: &mut Bench<'_>, drive: &Drive) -> Result<String, CalibrateError> {
    let on = Writable::passing(bench.host, &drive.node()).map_err(measure::MeasureError::from)?;
    let span = Bytes(drive.size.0.min(Bytes::mib(256).0));
    measure::fill(bench.host, (on.clone(), None), span, 1, 1)?;
    let reads = reads(bench, drive, span)?;
    let mut rated = reads.rated();
    let threads = bench.inventory.cpus;
    let at = |work: Workload| point(bench.host, On::Writable(&on), &work, span, bench.window);
    let large = at(work(Pattern::Write, Bytes::mib(1), SEQUENTIAL_DEPTH, 1)?)?;
    let small = at(work(Pattern::RandWrite, Bytes::kib(4), RANDOM_DEPTH, threads)?)?;
    let lone = at(work(Pattern::RandWrite, Bytes::kib(4), 1, 1)?)?;
    rated.write = Some(BytesPerSecond(large.operations * Bytes::mib(1).as_f64()));
    rated.write_iops = Some(Iops(small.operations));
    rated.write_latency = Some(Nanos::from_seconds(lone.latency));
    // It has no cache that fills.
    (rated.sustained, rated.sustained_iops) = (rated.write, rated.write_iops);
    keep(bench, drive, &reads, rated)
}

/// What was read of a drive.
struct Reads {
    /// Large blocks.
    large: Point,
    /// Small ones by a job on every processor, by one job, and one after the other.
    small: Point,
    single: Point,
    lone: Point,
}

impl Reads {
    fn rated(&self) -> Rated {
        Rated {
            read: Some(BytesPerSecond(self.large.operations * Bytes::mib(1).as_f64())),
            read_iops: Some(Iops(self.small.operations.max(self.single.operations))),
            read_latency: Some(Nanos::from_seconds(self.lone.latency)),
            ..Rated::NOTHING
        }
    }
}

fn reads(bench: &Bench<'_>, drive: &Drive, span: Bytes) -> Result<Reads, CalibrateError> {
    let place = WorkPlace::Device(drive.node());
    let at = |work: Workload| point(bench.host, On::ReadOnly(&place), &work, span, bench.window);
    Ok(Reads {
        large: at(work(Pattern::Read, Bytes::mib(1), SEQUENTIAL_DEPTH, 1)?)?,
        small: at(work(Pattern::RandRead, Bytes::kib(4), RANDOM_DEPTH, bench.inventory.cpus)?)?,
        single: at(single()?)?,
        lone: at(work(Pattern::RandRead, Bytes::kib(4), 1, 1)?)?,
    })
}

/// Small blocks by one job.
fn single() -> Result<Workload, CalibrateError> {
    work(Pattern::RandRead, Bytes::kib(4), RANDOM_DEPTH, 1)
}

/// What the driver takes: of a large block the pages; of a small one so much that the model says what a busy thread
/// did. Where the drive set the pace the thread says little, and what it does not need for the call is the driver's.
fn driver(bench: &mut Bench<'_>, drive: &Drive, reads: &Reads) -> Result<(), CalibrateError> {
    let pages = reads.large.busy / Bytes::mib(1).as_f64();
    bench.set(Parameter::ApiByte, pages, DRIVER, "processor time of large reads of a drive");
    let site = bench.site();
    let bare = stacked(&[named(&drive.kernel_name)?], &[Layer::Bare])?;
    let paced = reads.single.cores > BUSY;
    let told = telling(&site, Parameter::NvmeIo, &bare, &single()?, reads.single.operations);
    if let Some(value) = told.filter(|_| paced) {
        bench.set(Parameter::NvmeIo, value, DRIVER, "small reads of a drive by one busy thread");
        return Ok(());
    }
    let factor = site.parameters.get(Parameter::CpuFactor);
    let call = site.parameters.get(Parameter::ApiRead) * factor + pages * f64::from(BLOCK);
    let small = reads.single.busy;
    // Not all that ran was for the drive; at least a tenth was.
    let left = (small - call).max(small * 0.1) / factor;
    bench.set(Parameter::NvmeIo, left, DRIVER, "processor time of small reads of a drive, less the call");
    Ok(())
}

/// What a drive in memory that answers after a while takes of the processor, where nothing else sets the pace: of an
/// operation, and of its bytes.
fn in_memory(bench: &mut Bench<'_>, drive: &Drive, reads: &Reads) -> Result<(), CalibrateError> {
    let name = named(&drive.kernel_name)?;
    let bare = stacked(std::slice::from_ref(&name), &[Layer::Bare])?;
    let large = work(Pattern::Read, Bytes::mib(1), SEQUENTIAL_DEPTH, 1)?;
    for _ in 0..PASSES {
        for (parameter, work, point) in
            [(Parameter::FlashIo, &single()?, reads.single), (Parameter::FlashByte, &large, reads.large)]
        {
            // That it answers late makes it such a drive; its rates are the processor's, which is what is sought.
            let mut machine = bench.machine();
            for group in machine.drives.iter_mut().filter(|group| group.name == name) {
                group.rated = Rated { read_latency: reads.rated().read_latency, ..Rated::NOTHING };
            }
            let site = Site::calibrated(&machine, &bench.calibration);
            if let Some(value) = telling(&site, parameter, &bare, work, point.operations) {
                bench.set(parameter, value, DRIVER, "reads of a flash drive in the guest's memory that knows no limit");
            }
        }
    }
    Ok(())
}

/// Keeps what was measured of a drive, and what that tells of its driver.
fn keep(bench: &mut Bench<'_>, drive: &Drive, reads: &Reads, rated: Rated) -> Result<String, CalibrateError> {
    let measured = MeasuredDrive { model: drive.model.clone(), serial: drive.serial.clone(), rated };
    bench.calibration.drives.push(measured);
    if drive.transport.is_nvme() {
        driver(bench, drive, reads)?;
    } else if drive.kernel_name.starts_with("nullb") {
        in_memory(bench, drive, reads)?;
    }
    let rate = |of: Option<BytesPerSecond>| of.map_or(0.0, |rate| rate.0 / 1e6);
    let iops = |rate: f64| rate / 1e3;
    Ok(format!(
        "{} {:.0} MB/s, {:.1} k reads/s, {:.1} k by one thread, {:.0} µs alone",
        drive.kernel_name,
        rate(rated.read),
        iops(reads.small.operations),
        iops(reads.single.operations),
        reads.lone.latency * 1e6
    ))
}

/// Of some places all over a drive, how many hold nothing but zeros.
fn empty_places(host: &dyn Host, drive: &Drive) -> Result<u64, CalibrateError> {
    let blocks = drive.size.0 / u64::from(BLOCK);
    let mut empty = 0;
    for place in 0..PLACES {
        let at = blocks / PLACES * place + blocks / (2 * PLACES);
        let bytes = host.read_at(&drive.node(), at * u64::from(BLOCK), BLOCK)?;
        empty += u64::from(bytes.iter().all(|byte| *byte == 0));
    }
    Ok(empty)
}
