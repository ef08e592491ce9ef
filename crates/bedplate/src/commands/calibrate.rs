//! `bedplate calibrate`

use std::fmt::Write as _;
use std::path::Path;

use calibrate::Means;
use host::interrupt::Care;
use host::{Host, Rights, inspect};
use lab::Console;
use terms::calibration::{Calibration, CalibrationStep};
use terms::inventory::Inventory;
use terms::spelling::spell_path;
use terms::{Bytes, Hosts, LabDrive, LabDriveKind, LabSpec, Name, Nanos};

use crate::address::Address;
use crate::cli::CalibrateArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::site::Site;
use crate::{BUILD, calibrations, guest, runner, studies};

/// RAM drives of a lab's calibration.
const RAM_DRIVES: usize = 3;
/// Size of each.
const RAM_SIZE: Bytes = Bytes::mib(192);
/// Size of a flash drive in the guest's memory.
const FLASH_SIZE: Bytes = Bytes::mib(256);
/// The lab's drive that shows what drives without a limit do.
const OWN_DRIVE: &str = "own";
/// Window of a figure under a clock that counts instructions: nothing wanders.
const WINDOW: Nanos = Nanos::millis(200);

/// Measures what predictions need of a machine, and keeps it for them.
pub(crate) fn calibrate(arguments: &CalibrateArguments, settings: &Settings) -> Result<Exit, Failure> {
    let site = open(arguments, settings)?;
    let _care = Care::take();
    if !arguments.json {
        settings.printer.say(&format!("calibrating {}: writes to RAM only", site.name()));
        settings.printer.data(&heading())?;
    }
    if let Some(warning) = site.read_text("/proc/loadavg").ok().filter(|_| !site.is_lab()).and_then(|load| busy(&load))
    {
        settings.printer.say(&warning);
    }
    let progress = settings.printer.progress(1.0);
    let told = |name: &str, step: Option<&CalibrationStep>| match step {
        Some(step) if !arguments.json => drop(settings.printer.data(&line(step))),
        None => progress.now(name),
        Some(_) => {}
    };
    let calibration = measure(&site, f64::from(arguments.seconds), calibrate::WINDOW, &told)?;
    drop((site, progress));
    // The first step reads what the machine is, and measures nothing.
    let has_figures = calibration.steps.iter().skip(1).any(|step| step.done);
    let kept = if has_figures { Some(calibrations::keep(&calibration, settings)?) } else { None };
    if arguments.json {
        settings.printer.data(&(serde_json::to_string_pretty(&calibration)? + "\n"))?;
    } else {
        settings.printer.data(&ending(&calibration))?;
    }
    settings.printer.say(&match &kept {
        Some(path) => format!("kept for `expect`, `advise` and `run` on this machine: {}", spell_path(path)),
        None => "nothing was measured and nothing is kept; an earlier calibration stays".to_owned(),
    });
    Ok(if has_figures { Exit::Yes } else { Exit::NotHere })
}

/// Programs that work beside it, on average over a minute, above which a machine is not idle.
const BUSY: f64 = 0.5;

/// What is said of a machine that is not idle, from `/proc/loadavg`.
fn busy(load: &str) -> Option<String> {
    let load: f64 = load.split_whitespace().next()?.parse().ok()?;
    (load > BUSY).then(|| {
        format!(
            "warning: the load average is {load}: other programs make figures lower; calibrate again on an idle machine"
        )
    })
}

/// Measures a guest like that of a study under the study's own clock, which has to end an instruction in a nanosecond:
/// nothing is converted. Gives what the guest is, and what was measured of it. `told` hears of each step. What `known` has of
/// such a guest is not measured again.
pub(crate) fn of_guest(
    study: &Path,
    seconds: f64,
    settings: &Settings,
    known: &dyn Fn(&Inventory) -> Result<Option<Calibration>, Failure>,
    told: &Told<'_>,
) -> Result<(Inventory, Calibration), Failure> {
    let spec = studies::load_whole(study, settings)?.design.lab;
    // Such a guest has no drive that QEMU serves, but may have those of its own kernel.
    let flash = spec.drives.iter().find(|drive| drive.kind == LabDriveKind::Flash);
    // Without a limit: the guest's processor is what is to be known.
    let own =
        flash.map(|flash| Ok::<_, Failure>(LabDrive { lba: flash.lba, ..drive(OWN_DRIVE, flash.kind, FLASH_SIZE)? }));
    settings.printer.say("booting a guest");
    let site = Site::lab(guest::boot(&bench(&spec, own.transpose()?)?, &[], Console::Log, settings)?);
    let inventory = inspect::examine(&site)?;
    let calibration = match known(&inventory)? {
        Some(calibration) => calibration,
        None => measure(&site, seconds, WINDOW, told)?,
    };
    Ok((inventory, calibration))
}

/// Hears of a step as it begins, and of one that is over.
type Told<'a> = dyn Fn(&str, Option<&CalibrationStep>) + 'a;

fn measure(site: &Site, seconds: f64, window: Nanos, told: &Told<'_>) -> Result<Calibration, Failure> {
    let own = |name: &Name| name.as_str() == OWN_DRIVE;
    let means = Means {
        ram: site.drives().iter().filter(|(name, _)| !own(name)).map(|(a, b)| (a.clone(), b.clone())).collect(),
        own_drive: site.drives().iter().find(|(name, _)| own(name)).map(|(_, node)| node.clone()),
        seconds,
        window,
        at: runner::now(),
        build: BUILD.to_owned(),
    };
    calibrate::calibrate(site, &means, told).map_err(|error| Failure::Could(Box::new(error)))
}

/// The machine: one that is there, or a guest with RAM drives and a drive of its own.
fn open(arguments: &CalibrateArguments, settings: &Settings) -> Result<Site, Failure> {
    match Address::parse(&arguments.on)? {
        Address::Lab => {
            let spec = match &arguments.study {
                Some(path) => studies::load_whole(path, settings)?.design.lab,
                None => LabSpec::new(2, Bytes::gib(3)),
            };
            let own = drive(OWN_DRIVE, LabDriveKind::Nvme, Bytes::mib(512))?;
            settings.printer.say("booting a guest");
            Ok(Site::lab(guest::boot(&bench(&spec, Some(own))?, &[], Console::Log, settings)?))
        }
        _ if arguments.study.is_some() => {
            Err(Failure::told("error: `--study` needs `--on lab`\n\nhint: leave it out, or use `--on lab`"))
        }
        // Without root the steps that need it say so, and the rest is measured.
        address => Site::open(&address, Rights::Root, settings),
    }
}

/// A drive of a guest for calibrating.
fn drive(name: &str, kind: LabDriveKind, size: Bytes) -> Result<LabDrive, Failure> {
    let name = Name::new(name).map_err(|error| Failure::told(format!("error: {error}")))?;
    Ok(LabDrive { kind, lba: Bytes(4096), ..LabDrive::new(name, size) })
}

/// A guest like that of the study, with drives to calibrate on: RAM drives, and one of its own.
fn bench(spec: &LabSpec, own: Option<LabDrive>) -> Result<LabSpec, Failure> {
    let mut drives: Vec<LabDrive> = own.into_iter().collect();
    for number in 0..RAM_DRIVES {
        drives.push(LabDrive { lba: Bytes(512), ..drive(&format!("r{number}"), LabDriveKind::Ram, RAM_SIZE)? });
    }
    let memory = Bytes(spec.memory.0.max(Bytes::gib(2).0));
    Ok(LabSpec { drives, switches: Vec::new(), memory, hosts: Hosts::ONE, ..spec.clone() })
}

fn heading() -> String {
    format!("{:<24} {:>7} {:>9}  found\n", "STEP", "SECONDS", "INTERVAL")
}

pub(crate) fn line(step: &CalibrationStep) -> String {
    let width = format!("±{:.0} %", step.half_width * 100.0);
    format!("{:<24} {:>7.1} {width:>9}  {}\n", step.name, step.seconds, step.found.lines().next().unwrap_or(""))
}

fn ending(calibration: &Calibration) -> String {
    let mut text = String::new();
    let first = calibration.steps.first().map_or(0.0, |step| step.half_width);
    let last = calibration.steps.last().map_or(0.0, |step| step.half_width);
    let _ = writeln!(
        text,
        "\n{:.0} s: the median 90 % interval over usual stacks went from ±{:.0} % to ±{:.0} %.",
        calibration.seconds,
        first * 100.0,
        last * 100.0
    );
    text
}

#[cfg(test)]
mod tests {
    use super::busy;

    #[test]
    fn a_machine_that_is_at_work_is_told_of() {
        assert!(busy("5.12 3.00 1.00 3/900 12345\n").is_some_and(|text| text.contains("5.12")));
        for idle in ["0.05 0.01 0.00 1/300 4242\n", "", "?"] {
            assert_eq!(busy(idle), None, "{idle}");
        }
    }
}
