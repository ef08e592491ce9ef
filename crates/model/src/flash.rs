//! What flash that keeps up its rating makes of writes at random places in a part of it.

use terms::machine::DriveKind;

use crate::site::Class;

/// Bytes of a random operation that data sheets rate.
const BLOCK: f64 = 4096.0;
/// Steps, each of which halves where a share is sought.
const STEPS: u32 = 40;

impl Class {
    /// Time of a write at a random place among so many bytes, relative to its rating, which is of a drive that is written all over.
    /// Where only a part is written, that part has all of the spare flash to itself, and less is moved to make room. How much is moved
    /// all over, bytes in order tell beside writes at random. A drive needs some time to get there from what it held before, which
    /// nobody tells: half of the way, geometrically, which is a guess.
    pub(crate) fn within(&self, values: &[f64], span: f64) -> f64 {
        let Some(size) = self.size.filter(|_| self.rated_in_all) else { return 1.0 };
        let moved = values[self.write_op as usize] / (values[self.write as usize] * BLOCK);
        if moved <= 1.0 {
            return 1.0;
        }
        // What several drives share is taken for what each has: less is known to be written where they are many.
        let part = (span / size).clamp(1e-6, 1.0);
        if part >= 1.0 {
            return 1.0;
        }
        let spare = flash_for(moved) - 1.0;
        (moved_with(1.0 + spare / part) / moved).sqrt()
    }
}

/// Is it written in pages and erased in larger blocks?
pub(crate) const fn is_flash(kind: DriveKind) -> bool {
    !matches!(kind, DriveKind::Hdd | DriveKind::Ram | DriveKind::Optane)
}

/// Flash for each byte that can be addressed, where so many bytes are written for each: of the block that is made free next, that
/// which was written first, a share `v` is still valid, `v = e^(-f (1 - v))`, and `1 / (1 - v)` are written (Desnoyers, "Analytic
/// Modeling of SSD Write Performance", SYSTOR 2012).
fn flash_for(moved: f64) -> f64 {
    flash_of(1.0 - moved.recip())
}

fn flash_of(valid: f64) -> f64 {
    -valid.ln() / (1.0 - valid)
}

/// Bytes that are written for each where there is so much flash.
fn moved_with(flash: f64) -> f64 {
    // The more is valid, the less flash that tells of.
    let (low, _) = (0..STEPS).fold((0.0, 1.0), |(low, high), _| {
        let middle = f64::midpoint(low, high);
        if flash_of(middle) > flash { (middle, high) } else { (low, middle) }
    });
    (1.0 - low).recip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_spare_flash_moves_less_and_both_ways_agree() {
        for moved in [1.2, 2.0, 3.5, 20.0] {
            let flash = flash_for(moved);
            assert!((moved_with(flash) / moved - 1.0).abs() < 1e-3, "{moved}: {flash}");
            assert!(moved_with(flash * 1.2) < moved);
        }
    }
}
