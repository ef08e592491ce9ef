//! Streams on the lab's own hard disks go round the span again and again.

use terms::{BytesPerSecond, Design, LabDrive, LabDriveKind, Workload};

/// How sure the rate of a stream is where such disks are below it, as a standard error of its logarithm; nothing where the workload is none.
/// `below` has the study's name of each drive, and where it is.
pub(super) fn error(
    design: &Design,
    below: &[(String, String)],
    workload: &Workload,
    rate: BytesPerSecond,
) -> Option<f64> {
    if workload.kinds().iter().any(|kind| kind.pattern.random()) {
        return None;
    }
    let is_below = |drive: &&LabDrive| below.iter().any(|(name, _)| *name == drive.name.as_str());
    let spinning = design.lab.drives.iter().filter(is_below).filter(|drive| drive.kind == LabDriveKind::Hdd);
    let errors = spinning.map(|drive| {
        let mechanics = drive.spindle.unwrap_or_default().mechanics(drive.size);
        mechanics.lap_error(design.measure.span, rate)
    });
    errors.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_on_hard_disks_have_laps_and_nothing_else_has() {
        let text = "question = '?'\n[lab]\ndrives = [{ name = 'a', kind = 'hdd', size = '1 GiB' }, { name = 'b', kind = 'ram', size = '1 GiB' }]\n\
                    [measure]\nspan = '64 MiB'\nprofiles = ['quick']\n\
                    [[stack]]\nname = 'x'\nlayers = [{ ext4 = {}, on = 'a' }]\n[[stack]]\nname = 'y'\nlayers = [{ ext4 = {}, on = 'b' }]\n";
        let (design, notes) = spec::parse(text);
        let mut design = design.unwrap_or_else(|| panic!("{notes:?}"));
        let on = |name: &str| vec![(name.to_owned(), "/dev/any".to_owned())];
        let rate = BytesPerSecond(200e6);
        let find = |random: bool| {
            design
                .workloads
                .iter()
                .find(|of| of.kinds().iter().all(|kind| kind.pattern.random() == random))
                .unwrap()
                .clone()
        };
        let (stream, random) = (find(false), find(true));
        // 7200 turns in a minute: 2 turns are 16.7 ms of a lap of 336 ms, as a standard deviation of an even distribution.
        let known = error(&design, &on("a"), &stream, rate).unwrap();
        assert!((known - 2.0 / 12_f64.sqrt() * (60.0 / 7200.0) * 200e6 / 67_108_864.0).abs() < 1e-9, "{known}");
        assert_eq!((error(&design, &on("b"), &stream, rate), error(&design, &on("a"), &random, rate)), (None, None));
        design.measure.span = terms::Bytes::mib(256);
        assert!((error(&design, &on("a"), &stream, rate).unwrap() * 4.0 - known).abs() < 1e-9, "a longer lap");
    }
}
