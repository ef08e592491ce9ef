//! Measures what predictions need of a machine, in a minute, and writes to nothing but RAM.
//!
//! A table of steps ([`steps`]), the ones that buy most accuracy first. After each it is asked how wide the intervals of
//! usual stacks have become ([`width`]); when time is up, what is left is left out and said so.

mod drives;
mod error;
mod point;
mod processor;
mod ram;
pub mod rates;
mod steps;
mod width;

use std::time::Instant;

use build::Bindings;
use host::{Host, inspect, interrupt};
use model::{Site, found, with_measured};
use terms::calibration::{CALIBRATION_SCHEMA, Calibration, CalibrationStep, Fingerprint};
use terms::inventory::Inventory;
use terms::{Bytes, Nanos};

pub use error::CalibrateError;
use point::Rig;

/// What to measure with.
#[derive(Debug, Clone)]
pub struct Means {
    /// RAM drives that are there for this and hold nothing, by the names `r0`, `r1`, `r2`; where there are none, the
    /// kernel is asked to make them, and they go away afterwards.
    pub ram: Bindings,
    /// A drive of a lab that may be written too.
    pub own_drive: Option<String>,
    /// Time for all of it; the step that is under way is finished.
    pub seconds: f64,
    /// When, for the record (RFC 3339).
    pub at: String,
    /// The program: a digest of its sources.
    pub build: String,
}

/// Window of each point, and its settling.
const WINDOW: Nanos = Nanos::millis(800);
const SETTLE: Nanos = Nanos::millis(200);
/// What is worked on in RAM.
const SPAN: Bytes = Bytes::mib(48);

/// What is known while it is measured.
pub(crate) struct Bench<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) inventory: Inventory,
    pub(crate) calibration: Calibration,
    pub(crate) rig: Option<Rig<'a>>,
    pub(crate) own_drive: Option<String>,
}

impl Bench<'_> {
    /// The machine with everything that is known by now.
    pub(crate) fn site(&self) -> Site {
        let machine = with_measured(found(&self.inventory), &self.inventory, &self.calibration);
        Site::calibrated(&machine, &self.calibration)
    }
}

/// Measures a machine. `told` hears of each step as it begins, and of each that is over.
///
/// # Errors
/// Where the machine is lost, or the person wants to stop. A step that fails is in the calibration with its reason.
pub fn calibrate(
    host: &dyn Host,
    means: &Means,
    told: &dyn Fn(&str, Option<&CalibrationStep>),
) -> Result<Calibration, CalibrateError> {
    let start = Instant::now();
    told("the machine", None);
    let inventory = inspect::examine(host)?;
    let mut bench = Bench {
        host,
        calibration: Calibration {
            schema: CALIBRATION_SCHEMA,
            at: means.at.clone(),
            build: means.build.clone(),
            of: Fingerprint::of(&inventory),
            seconds: 0.0,
            constants: Vec::new(),
            memory: None,
            drives: Vec::new(),
            steps: Vec::new(),
        },
        inventory,
        rig: None,
        own_drive: means.own_drive.clone(),
    };
    let mut before = start;
    let mut note = |bench: &mut Bench<'_>, name: &str, outcome: Result<String, String>| {
        let now = Instant::now();
        let step = CalibrationStep {
            name: name.to_owned(),
            seconds: (now - before).as_secs_f64(),
            done: outcome.is_ok(),
            found: outcome.unwrap_or_else(|why| why),
            half_width: width::half_width(bench),
        };
        before = now;
        told(name, Some(&step));
        bench.calibration.steps.push(step);
    };
    let topology = bench.calibration.of.describe();
    note(&mut bench, "topology", Ok(topology));
    let ram = ram::Ram::take(host, &means.ram);
    match &ram {
        Ok(ram) => bench.rig = Some(Rig::new(host, ram.drives())),
        Err(why) if why.is_lost() => return Err(ram.err().unwrap_or(CalibrateError::Interrupted)),
        Err(_) => {}
    }
    if let Err(why) = &ram {
        note(&mut bench, "layers on RAM drives", Err(why.to_string()));
    }
    for step in steps::STEPS.iter().filter(|step| ram.is_ok() || !step.needs_ram) {
        interrupt::check()?;
        let spent = start.elapsed().as_secs_f64();
        let usual = steps::cost(step, &bench.calibration.steps);
        if spent + usual > means.seconds {
            note(&mut bench, step.name, Err(format!("left out: no time for its {usual:.0} s")));
            continue;
        }
        told(step.name, None);
        let outcome = match (step.run)(&mut bench) {
            Err(error) if error.is_lost() => return Err(error),
            other => other.map_err(|error| error.to_string()),
        };
        note(&mut bench, step.name, outcome);
    }
    drop(bench.rig.take());
    if let Ok(ram) = ram {
        ram.give_back()?;
    }
    bench.calibration.seconds = start.elapsed().as_secs_f64();
    Ok(bench.calibration)
}
