//! What was measured of a machine itself, for predictions: processor times of layers, memory, drives read-only.

use serde::{Deserialize, Serialize};

use crate::inventory::Inventory;
use crate::machine::Rated;
use crate::units::BytesPerSecond;

/// What was measured of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// [`CALIBRATION_SCHEMA`].
    pub schema: u32,
    /// When it began, with the zone (RFC 3339).
    pub at: String,
    /// The program that did it: a digest of its sources.
    pub build: String,
    /// The machine that it holds for.
    pub of: Fingerprint,
    /// How long it took.
    pub seconds: f64,
    /// Constants of the model that were measured.
    pub constants: Vec<MeasuredConstant>,
    /// What all cores together move between memory and themselves, both ways.
    #[serde(rename = "memory_bytes_per_second")]
    pub memory: Option<BytesPerSecond>,
    /// Drives that were read.
    pub drives: Vec<MeasuredDrive>,
    /// What was done, in order.
    pub steps: Vec<CalibrationStep>,
}

/// Version of [`Calibration`].
pub const CALIBRATION_SCHEMA: u32 = 1;

impl Calibration {
    /// One that begins: nothing is measured yet.
    #[must_use]
    pub const fn begun(at: String, build: String, of: Fingerprint) -> Self {
        Self {
            schema: CALIBRATION_SCHEMA,
            at,
            build,
            of,
            seconds: 0.0,
            constants: Vec::new(),
            memory: None,
            drives: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// What was measured of drives like this one: itself, or one of its model.
    #[must_use]
    pub fn drive(&self, serial: Option<&str>, model: Option<&str>) -> Option<&MeasuredDrive> {
        let own = |drive: &&MeasuredDrive| serial.is_some() && drive.serial.as_deref() == serial;
        let like = |drive: &&MeasuredDrive| model.is_some() && drive.model.as_deref() == model;
        self.drives.iter().find(own).or_else(|| self.drives.iter().find(like))
    }
}

/// QEMU's `Haswell-noTSX` in its own words: what the lab gives a guest whose instructions are counted, and no other guest.
pub const COUNTED_PROCESSOR: &str = "Intel Core Processor (Haswell, no TSX)";

/// What must be the same for processor times to be the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The processor, in its own words.
    pub processor: String,
    /// Hardware threads.
    pub threads: u32,
    /// Release of the kernel.
    pub kernel: String,
    /// What emulates the machine, if anything.
    pub emulated: Option<String>,
}

impl Fingerprint {
    /// Is it a guest whose instructions are counted? Those have one processor, of a fixed model.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.emulated.is_some() && self.threads == 1 && self.processor == COUNTED_PROCESSOR
    }

    /// That of a machine.
    #[must_use]
    pub fn of(inventory: &Inventory) -> Self {
        Self {
            processor: inventory.cpu_model.clone(),
            threads: inventory.cpus,
            kernel: inventory.kernel.clone(),
            emulated: inventory.emulated.clone(),
        }
    }

    /// In words, for a line of text.
    #[must_use]
    pub fn describe(&self) -> String {
        let processor = self.emulated.as_deref().unwrap_or(&self.processor);
        format!("{processor}, {} threads, Linux {}", self.threads, self.kernel)
    }
}

/// A constant of the model as measured here, in seconds, seconds per byte, or as a ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredConstant {
    /// Its key in the model.
    pub key: String,
    /// Its value in the model's own units.
    pub value: f64,
    /// How far it may be off: geometric standard deviation less 1.
    pub sigma: f64,
    /// From what.
    pub origin: String,
}

/// What was measured of a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredDrive {
    /// Model, if told.
    pub model: Option<String>,
    /// Serial number, if told.
    pub serial: Option<String>,
    /// What it does.
    pub rated: Rated,
}

/// One step of a calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationStep {
    /// What was measured.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
    /// What was found, or why nothing was.
    pub found: String,
    /// Was it measured?
    pub done: bool,
    /// Median half-width of 90 % intervals over usual stacks after it, as a share: 0.2 for ±20 %.
    pub half_width: f64,
}
