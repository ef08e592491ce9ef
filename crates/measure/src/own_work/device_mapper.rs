//! Lines of `dmsetup status`: `name: start length target …`.

use terms::Guard;

use super::Busy;

/// Synchronising mirrors and raid volumes, and checksums that are being made anew.
pub(super) fn busy(line: &str) -> Option<Busy> {
    let (name, rest) = line.split_once(": ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    match *fields.get(2)? {
        // raid1 2 AA 8192/8192 idle …: type, devices, health, in sync, action (dm-raid.rst).
        "raid" => {
            let (done, action) = (fields.get(6)?, fields.get(7)?);
            let working = !matches!(*action, "idle" | "frozen");
            working.then(|| Busy::new(Guard::LvmSync, format!("dmsetup: `{name}` is at {done}: {action}")))
        }
        // mirror 2 254:3 254:4 7/8 …: so many regions are in sync.
        "mirror" => {
            let done = fields.iter().skip(4).find(|field| field.contains('/'))?;
            let (synced, all) = done.split_once('/')?;
            (synced != all).then(|| Busy::new(Guard::LvmSync, format!("dmsetup: mirror `{name}` is at {done}")))
        }
        // integrity mismatches data_sectors recalculated_to (dm-integrity.rst): `-` where nothing is recalculated.
        "integrity" => {
            let data: u64 = fields.get(4)?.parse().ok()?;
            let at: u64 = fields.get(5)?.parse().ok()?;
            let witness = format!("dmsetup: checksums of `{name}` are recalculated: sector {at} of {data}");
            (at < data).then(|| Busy::new(Guard::IntegrityRecalc, witness))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_work_for_themselves_are_seen() {
        let cases = [
            ("vg-lv: 0 8192 raid raid1 2 Aa 512/8192 resync 0 0 -", Some(Guard::LvmSync)),
            ("vg-lv: 0 8192 raid raid1 2 AA 8192/8192 idle 0 0 -", None),
            ("vg-lv: 0 8192 mirror 2 254:3 254:4 7/8 1 AA 1 core", Some(Guard::LvmSync)),
            ("vg-lv: 0 8192 mirror 2 254:3 254:4 8/8 1 AA 1 core", None),
            ("i: 0 8192 integrity 0 8192 128", Some(Guard::IntegrityRecalc)),
            ("i: 0 8192 integrity 0 8192 8192", None),
            ("i: 0 8192 integrity 0 8192 -", None),
            ("c: 0 8192 crypt", None),
            ("No devices found", None),
        ];
        for (line, expected) in cases {
            assert_eq!(busy(line).map(|busy| busy.guard), expected, "{line}");
        }
    }
}
