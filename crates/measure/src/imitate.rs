//! What another tool would have shown: its own test as it does it, faults included, beside the honest figure.
//!
//! KDiskMark calls fio; CrystalDiskMark calls DiskSpd, and GNOME Disks calls udisks, whose accesses fio repeats. Facts
//! of the tools are those of their sources: KDiskMark 3.3, CrystalDiskMark 9.0.1, gnome-disk-utility of August 2026.

mod jobs;

use host::Host;
use terms::evidence::{Imitated, ImitatedLoop};
use terms::workload::{Imitation, Tool};
use terms::{Bytes, Nanos};

use crate::error::MeasureError;
use crate::fio::{self, FioOutput};
use crate::job::Job;
use crate::on::On;
use crate::request::CellRequest;
use crate::workplace::Workplace;

/// What an imitation gave: nothing where one of its loops failed, and the raw files in either case.
pub(crate) struct Shown {
    pub(crate) imitated: Option<Imitated>,
    pub(crate) raw: Vec<(String, Vec<u8>)>,
}

/// Runs the tool's own test on what was filled.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn run(host: &dyn Host, request: &CellRequest<'_>, imitation: Imitation) -> Result<Shown, MeasureError> {
    let job = jobs::of(request, imitation.tool);
    let (mut loops, mut raw) = (Vec::new(), vec![("imitated.fio".to_owned(), job.file().into_bytes())]);
    // CrystalDiskMark throws a whole first run away.
    let discarded = u32::from(imitation.tool == Tool::CrystalDiskMark);
    // One test of GNOME Disks is one pass over its samples.
    let wanted = if imitation.tool == Tool::GnomeDisks { 1 } else { imitation.loops.max(1) };
    for number in 0..wanted + discarded {
        let (found, files) = once(host, request, &job, imitation.tool, number)?;
        raw.extend(files);
        match found {
            None => return Ok(Shown { imitated: None, raw }),
            Some(_) if number < discarded => {}
            Some(found) => loops.push(found),
        }
    }
    let taken = taken(&loops, imitation.best);
    let (printed, promised) = printed(imitation.tool, taken);
    let imitated = Imitated {
        tool: imitation.tool,
        argv: job.line(),
        loops,
        best: imitation.best,
        printed,
        unit: "MB/s".to_owned(),
        promised,
        differs: jobs::differs(request, imitation.tool),
    };
    Ok(Shown { imitated: Some(imitated), raw })
}

/// A loop, if it worked, and its raw files.
type Once = (Option<ImitatedLoop>, Vec<(String, Vec<u8>)>);

fn once(host: &dyn Host, request: &CellRequest<'_>, job: &Job, tool: Tool, number: u32) -> Result<Once, MeasureError> {
    // A drive as slow as an SD card writes the tool's whole file within this time.
    let workplace = Workplace::new(host)?;
    let outcome = host.run(&workplace.fio(job, On::Writable(&request.filled.on))?.limit(Nanos::seconds(900)))?;
    let mut raw = vec![(format!("imitated-{number}.json"), outcome.stdout.clone())];
    let mut log = Vec::new();
    if tool == Tool::GnomeDisks {
        log = workplace.take(&job.log("lat"));
        raw.push((format!("imitated-{number}-latency.log"), log.clone()));
    }
    let parsed = fio::parse(&outcome.stdout).ok().filter(|output| outcome.ok() && output.error.is_none());
    let found = parsed.and_then(|output| measured(request, tool, &output, &String::from_utf8_lossy(&log)));
    Ok((found, raw))
}

fn measured(request: &CellRequest<'_>, tool: Tool, output: &FioOutput, log: &str) -> Option<ImitatedLoop> {
    let flows: Vec<_> = output.reading.flows().collect();
    let runtime = flows.iter().map(|flow| flow.runtime).max()?;
    let throughput = output.reading.throughput().0;
    let taken = match tool {
        Tool::GnomeDisks => mean_of_rates(log, request.workload.block)?,
        // With a mix both tools weigh reads and writes by their shares instead of adding them.
        Tool::KdiskMark | Tool::CrystalDiskMark => match (&output.reading.read, &output.reading.write) {
            (Some(read), Some(write)) => {
                let share = request.workload.pattern.read_share();
                read.throughput.0 * share + write.throughput.0 * (1.0 - share)
            }
            _ => throughput,
        },
    };
    Some(ImitatedLoop { throughput, taken, runtime })
}

/// The arithmetic mean of the samples' own rates, as GNOME Disks shows it; time in fio's log is in ns.
fn mean_of_rates(log: &str, block: Bytes) -> Option<f64> {
    let latency = |line: &str| line.split(',').nth(1)?.trim().parse::<u64>().ok().filter(|nanos| *nanos > 0);
    let rates: Vec<f64> =
        log.lines().filter_map(latency).map(|nanos| block.as_f64() / Nanos(nanos).as_seconds()).collect();
    mean(&rates)
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(values.len()).ok().filter(|count| *count > 0)?);
    Some(values.iter().sum::<f64>() / count)
}

/// What the tool takes from its loops.
fn taken(loops: &[ImitatedLoop], best: bool) -> f64 {
    let rates: Vec<f64> = loops.iter().map(|one| one.taken).collect();
    if best { rates.iter().copied().fold(0.0, f64::max) } else { mean(&rates).unwrap_or(0.0) }
}

/// The number that the tool prints before "MB/s", and what that promises in bytes per second. KDiskMark divides fio's
/// KiB/s by 1000; the others divide bytes by 1,000,000.
fn printed(tool: Tool, taken: f64) -> (f64, f64) {
    let number = match tool {
        Tool::KdiskMark => (taken / 1024.0).floor() / 1000.0,
        Tool::CrystalDiskMark | Tool::GnomeDisks => taken / 1e6,
    };
    (number, number * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(taken: f64) -> ImitatedLoop {
        ImitatedLoop { throughput: taken, taken, runtime: Nanos::seconds(5) }
    }

    #[test]
    fn each_tool_prints_its_own_unit() {
        // 497.0 operations of 1 MiB in a second are 521.1 MB/s, and KDiskMark says 508.9.
        let (number, promised) = printed(Tool::KdiskMark, 497.0 * 1_048_576.0);
        assert!((number - 508.928).abs() < 1e-6 && (promised - 508_928_000.0).abs() < 1.0);
        assert!((printed(Tool::CrystalDiskMark, 521.1e6).0 - 521.1).abs() < 1e-9);
    }

    #[test]
    fn the_best_or_the_mean_is_taken() {
        let loops = [one(1.0), one(3.0)];
        assert!((taken(&loops, true) - 3.0).abs() < 1e-9 && (taken(&loops, false) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_mean_of_rates_is_not_bytes_over_time() {
        // Two samples of 1000 bytes, in 1 ms and in 9 ms: 556 kB/s shown, 200 kB/s true.
        let shown = mean_of_rates("1, 1000000, 0, 1000\n10, 9000000, 0, 1000\n", Bytes(1000)).unwrap();
        assert!((shown - 555_555.6).abs() < 1.0, "{shown}");
        assert_eq!(mean_of_rates("", Bytes(1000)), None);
    }
}
