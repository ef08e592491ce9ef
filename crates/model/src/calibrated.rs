//! A machine with what was measured of it in the place of tables.

use terms::calibration::Calibration;
use terms::inventory::Inventory;
use terms::machine::{Machine, Rated, Trust};
use terms::prediction::Source;

use crate::parameter::{Parameter, TABLE, Unit};
use crate::site::Site;

/// How far processor times of the table may be off on another processor than that they are from, once one factor
/// between both is known: AES alone differs by more than twice on one core, by code and by instructions.
const TRANSFER: f64 = 0.3;
/// The same where every instruction is emulated: some take ten times as long as others do.
const EMULATED: f64 = 0.6;

impl Site {
    /// Makes a machine ready, its constants as they were measured.
    ///
    /// Times of the table that were not measured get wider intervals: they are those of another processor.
    #[must_use]
    pub fn calibrated(machine: &Machine, calibration: &Calibration) -> Self {
        let mut site = Self::new(machine);
        site.counted = calibration.of.is_counted();
        let transfer = if calibration.of.emulated.is_some() { EMULATED } else { TRANSFER };
        let factor = calibration.constants.iter().any(|constant| constant.key == Parameter::CpuFactor.key());
        // What was measured is how the threads of that machine are.
        site.named &= !factor;
        for (parameter, entry) in Parameter::ALL.iter().zip(TABLE) {
            if factor && matches!(entry.unit, Unit::Time | Unit::PerByte) {
                site.parameters.widen(*parameter, transfer);
            }
        }
        for constant in &calibration.constants {
            if let Some(parameter) = Parameter::by_key(&constant.key) {
                site.parameters.set(parameter, constant.value, constant.sigma, Source::Measured, &constant.origin);
            }
        }
        site
    }
}

/// The machine with what was measured of its memory and drives. `inventory` tells which drive is which.
#[must_use]
pub fn with_measured(mut machine: Machine, inventory: &Inventory, calibration: &Calibration) -> Machine {
    machine.memory.sustained = machine.memory.sustained.or(calibration.memory);
    for group in &mut machine.drives {
        let Some(drive) = inventory.drives.iter().find(|drive| drive.kernel_name == group.name.as_str()) else {
            continue;
        };
        if let Some(measured) = calibration.drive(drive.serial.as_deref(), drive.model.as_deref()) {
            group.rated = over(measured.rated, group.rated);
            group.trust = Trust::Measured;
        }
    }
    machine
}

/// What was measured, and beside it what is known otherwise.
const fn over(measured: Rated, known: Rated) -> Rated {
    macro_rules! first {
        ($($field:ident),*) => { Rated { $($field: if measured.$field.is_some() { measured.$field } else { known.$field },)* } };
    }
    first!(
        read,
        write,
        read_iops,
        write_iops,
        sustained,
        sustained_iops,
        cache,
        read_latency,
        ordered_latency,
        write_latency,
        flush,
        fua,
        write_cache,
        rpm
    )
}
