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
mod work;

use std::time::Instant;

use build::Bindings;
use host::{Host, inspect, interrupt};
use model::{Site, found, with_measured};
use terms::calibration::{Calibration, CalibrationStep, Fingerprint};
use terms::inventory::Inventory;
use terms::machine::Machine;
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
    /// Window of each point, by the clock of the machine; a quarter of it before is not counted.
    pub window: Nanos,
    /// When, for the record (RFC 3339).
    pub at: String,
    /// The program: a digest of its sources.
    pub build: String,
}

/// Window of each point on a machine whose time is ours.
pub const WINDOW: Nanos = Nanos::millis(800);
/// What is worked on in RAM.
const SPAN: Bytes = Bytes::mib(48);

/// What is known while it is measured.
pub(crate) struct Bench<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) inventory: Inventory,
    pub(crate) calibration: Calibration,
    pub(crate) rig: Option<Rig<'a>>,
    pub(crate) own_drive: Option<String>,
    pub(crate) window: Nanos,
    /// Hears of each step.
    told: &'a dyn Fn(&str, Option<&CalibrationStep>),
    /// When the last step was over.
    noted: Instant,
}

impl Bench<'_> {
    /// The machine with what is known of its memory and drives by now.
    pub(crate) fn machine(&self) -> Machine {
        with_measured(found(&self.inventory), &self.inventory, &self.calibration)
    }

    /// The same with the constants that are known, ready for predictions.
    pub(crate) fn site(&self) -> Site {
        Site::calibrated(&self.machine(), &self.calibration)
    }

    /// Writes down what came of a step, and how sure usual predictions are after it.
    fn note(&mut self, name: &str, outcome: Result<String, String>) -> Result<(), CalibrateError> {
        let now = Instant::now();
        let step = CalibrationStep {
            name: name.to_owned(),
            seconds: (now - self.noted).as_secs_f64(),
            done: outcome.is_ok(),
            found: outcome.unwrap_or_else(|why| why),
            half_width: width::half_width(self)?,
        };
        self.noted = now;
        (self.told)(name, Some(&step));
        self.calibration.steps.push(step);
        Ok(())
    }

    /// Every step that can be taken here, until so many seconds after `start` are over.
    fn measure(&mut self, start: Instant, seconds: f64) -> Result<(), CalibrateError> {
        let has_ram = self.rig.is_some();
        for step in steps::STEPS.iter().filter(|step| has_ram || !step.needs_ram) {
            interrupt::check()?;
            let usual = steps::cost(step, &self.calibration.steps);
            if start.elapsed().as_secs_f64() + usual > seconds {
                self.note(step.name, Err(format!("left out: no time for its {usual:.0} s")))?;
                continue;
            }
            (self.told)(step.name, None);
            let outcome = match (step.run)(self) {
                Err(error) if error.is_lost() => return Err(error),
                other => other.map_err(|error| error.to_string()),
            };
            self.note(step.name, outcome)?;
        }
        Ok(())
    }
}

/// Was every step of this program measured?
#[must_use]
pub fn is_whole(calibration: &Calibration) -> bool {
    let done = |name| calibration.steps.iter().any(|past| past.done && past.name == name);
    steps::STEPS.iter().all(|step| done(step.name))
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
        calibration: Calibration::begun(means.at.clone(), means.build.clone(), Fingerprint::of(&inventory)),
        inventory,
        rig: None,
        own_drive: means.own_drive.clone(),
        window: means.window,
        told,
        noted: start,
    };
    let topology = bench.calibration.of.describe();
    bench.note("topology", Ok(topology))?;
    let ram = match ram::Ram::take(host, &means.ram) {
        Ok(ram) => Some(ram),
        Err(why) if why.is_lost() => return Err(why),
        Err(why) => {
            bench.note("layers on RAM drives", Err(why.to_string()))?;
            None
        }
    };
    bench.rig = ram.as_ref().map(|ram| Rig::new(host, ram.drives(), means.window));
    let measured = bench.measure(start, means.seconds);
    // Also where the person wants to stop: what was made for this goes with it.
    let given_back = ram.map_or(Ok(()), ram::Ram::give_back);
    measured.and(given_back)?;
    bench.calibration.seconds = start.elapsed().as_secs_f64();
    Ok(bench.calibration)
}
