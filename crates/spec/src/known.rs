//! Drives and processors that a name tells of: tables of published figures in `data/`, found by the words of the name.

use std::collections::BTreeSet;

use terms::inventory::Link;
use terms::machine::{DriveKind, Memory, Processor, Rated};
use terms::{Bytes, BytesPerSecond, Iops, Nanos};

/// `data/drives.csv`: drives by model, with the figures that their makers publish.
const DRIVES: &str = include_str!("../data/drives.csv");
/// `data/processors.csv`: processors by name.
const PROCESSORS: &str = include_str!("../data/processors.csv");
/// `data/architectures.csv`: what one core does in a cycle.
const ARCHITECTURES: &str = include_str!("../data/architectures.csv");
/// Largest clock of the processor that all are relative to (Xeon E5-1620 v3), in MHz.
const REFERENCE_CLOCK: f64 = 3600.0;

/// What is published of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownDrive {
    pub(crate) kind: DriveKind,
    pub(crate) rated: Rated,
    pub(crate) link: Option<Link>,
}

/// What a processor's name says, for one socket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownProcessor {
    pub(crate) processor: Processor,
    pub(crate) cores: u32,
    pub(crate) threads: u32,
    /// Channels that a socket has, and the fastest modules that it takes.
    pub(crate) memory: Memory,
}

/// The drive of a model, of the nearest size that is known.
pub(crate) fn drive(model: &str) -> Option<KnownDrive> {
    let row = best(DRIVES, model, &[])?;
    let cell = |at: usize| row.get(at).copied().filter(|text| !text.is_empty());
    let rate = |at: usize| Some(BytesPerSecond(cell(at)?.parse::<f64>().ok()? * 1e6));
    let operations = |at: usize| Some(Iops(cell(at)?.parse().ok()?));
    let rated = Rated {
        read: rate(2),
        write: rate(3),
        read_iops: operations(4),
        write_iops: operations(5),
        rpm: cell(7).and_then(|text| text.parse().ok()),
        read_latency: cell(8).and_then(micros),
        flush: cell(9).and_then(micros),
        fua: cell(10).and_then(micros),
        ..Rated::NOTHING
    };
    Some(KnownDrive { kind: kind(cell(1)?)?, rated, link: cell(6).and_then(crate::machine::link) })
}

/// The processor of a name, as people or `lscpu` write it.
pub(crate) fn processor(name: &str) -> Option<KnownProcessor> {
    processor_by(name, &[])
}

/// The processor that is named among other words, which tell its model and often neither maker nor family: `i7-4770K, four disks`.
pub(crate) fn processor_among(words: &str) -> Option<KnownProcessor> {
    processor_by(words, &["intel", "amd", "core", "xeon", "embedded", "raspberry", "pi", "3", "5", "7", "9"])
}

fn processor_by(name: &str, left_out: &[&str]) -> Option<KnownProcessor> {
    let row = best(PROCESSORS, name, left_out)?;
    let [title, cores, threads, clock, arch, place, payload @ ..] = row.as_slice() else { return None };
    let core = rows(ARCHITECTURES).find(|row| row.first() == Some(arch))?;
    let number = |at: usize| core.get(at)?.parse::<f64>().ok();
    let (channels, speed) = if *place == "server" { (5, 6) } else { (7, 8) };
    Some(KnownProcessor {
        processor: Processor {
            name: (*title).to_owned(),
            pace: number(1)? * clock.parse::<f64>().ok()? / REFERENCE_CLOCK,
            aes: number(2)?,
            xts: number(3)?,
            sha: core.get(4) == Some(&"yes"),
            payload: payload.first().and_then(|bytes| bytes.parse().ok()).map(Bytes),
        },
        cores: cores.parse().ok()?,
        threads: threads.parse().ok()?,
        memory: Memory {
            channels: core.get(channels)?.parse().ok(),
            speed: core.get(speed)?.parse().ok(),
            ..Memory::default()
        },
    })
}

/// Models and names that are nearly what was written, for a hint.
pub(crate) fn like(models: bool, text: &str) -> Vec<&'static str> {
    let wanted = words(text);
    let table = if models { DRIVES } else { PROCESSORS };
    let mut near: Vec<(usize, &str)> = rows(table)
        .filter_map(|row| Some((words(row.first()?).intersection(&wanted).count(), *row.first()?)))
        .filter(|(common, _)| *common > 1)
        .collect();
    near.sort_by_key(|(common, _)| std::cmp::Reverse(*common));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The row whose name's words are all in a text, but for some that may be left out; of several the one with the most words, and of
/// these the one of that size.
fn best(table: &'static str, text: &str, left_out: &[&str]) -> Option<Vec<&'static str>> {
    let wanted = words(text);
    rows(table)
        .filter_map(|row| {
            let mut own = words(row.first()?);
            own.retain(|word| !left_out.contains(&word.as_str()));
            let (sizes, model): (BTreeSet<String>, BTreeSet<String>) = own.into_iter().partition(|word| is_size(word));
            let same = sizes.iter().all(|size| wanted.contains(size));
            model.is_subset(&wanted).then_some(((model.len(), same), row))
        })
        .max_by_key(|(fit, _)| *fit)
        .map(|(_, row)| row)
}

/// Rows of a table, without remarks and the names of its columns.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(';').collect())
}

fn words(text: &str) -> BTreeSet<String> {
    let spelt = text.to_lowercase();
    let parts: Vec<&str> =
        spelt.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|part| !part.is_empty()).collect();
    let mut found: BTreeSet<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    // `Raspberry Pi 3, 4 cores` is no `Pi 4`.
    for pair in parts.windows(2) {
        if ["pi", "module"].contains(&pair[0]) && pair[1].starts_with(|digit: char| digit.is_ascii_digit()) {
            found.insert(pair.concat());
        }
    }
    // A size may stand apart from its unit.
    for pair in parts.windows(2) {
        if pair[1] == "tb" || pair[1] == "gb" {
            found.insert(pair.concat());
        }
    }
    found
}

fn is_size(word: &str) -> bool {
    let digits = word.strip_suffix("tb").or_else(|| word.strip_suffix("gb"));
    digits.is_some_and(|digits| digits.parse::<f64>().is_ok())
}

fn kind(text: &str) -> Option<DriveKind> {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    let word: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    DriveKind::deserialize(word).ok()
}

fn micros(text: &str) -> Option<Nanos> {
    let (number, unit) = text.split_once(' ')?;
    (unit == "us").then_some(())?;
    Some(Nanos(number.parse::<u64>().ok()? * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_has_its_source() {
        assert!(rows(DRIVES).count() >= 60);
        for row in rows(DRIVES) {
            assert_eq!(row.len(), 12, "{row:?}");
            let known = drive(row[0]).unwrap();
            assert!(known.rated.read.is_some_and(|rate| (100e6..20e9).contains(&rate.0)), "{row:?}");
            assert_eq!(known.link.is_some(), !row[6].is_empty(), "{row:?}");
            assert_eq!(known.rated.rpm.is_some(), known.kind == DriveKind::Hdd, "{row:?}");
            assert!(row[11].contains(' '), "{row:?} has no source");
            assert_eq!(known.rated.flush.is_some(), known.rated.fua.is_some(), "{row:?}");
        }
        for row in rows(PROCESSORS) {
            let known = processor(row[0]).unwrap();
            assert_eq!(known.processor.name, row[0]);
            assert!((0.1..5.0).contains(&known.processor.pace) && known.threads >= known.cores, "{row:?}");
        }
    }

    #[test]
    fn names_are_found_as_people_and_programs_write_them() {
        let read = |model: &str| drive(model).and_then(|drive| drive.rated.read_iops).map(|rate| rate.0);
        assert_eq!(read("Samsung SSD 990 PRO 2TB"), Some(1_400_000.0));
        assert_eq!(read("samsung 990 pro 2 TB"), Some(1_400_000.0));
        assert_eq!(read("Samsung 970 EVO Plus 1TB"), Some(600_000.0));
        assert_eq!(read("Samsung 970 EVO 1TB"), Some(500_000.0));
        assert_eq!(read("Nobody's 1TB"), None);
        let name = |text: &str| processor(text).map(|known| known.processor.name);
        assert_eq!(name("AMD EPYC 7502P 32-Core Processor").as_deref(), Some("AMD EPYC 7502P"));
        assert_eq!(name("Intel(R) Xeon(R) CPU E5-1620 v3 @ 3.50GHz").as_deref(), Some("Intel Xeon E5-1620 v3"));
        assert_eq!(name("AMD Ryzen 9 7900X 12-Core Processor").as_deref(), Some("AMD Ryzen 9 7900X"));
        assert_eq!(name("Raspberry Pi Compute Module 4 Rev 1.0").as_deref(), Some("Raspberry Pi Compute Module 4"));
        assert_eq!(name("Rockchip RK3588S").as_deref(), None);
        let payload = |text: &str| processor(text).and_then(|known| known.processor.payload);
        assert_eq!(payload("RK3588"), Some(Bytes(128)), "a board without firmware that raises it");
        assert_eq!((payload("Raspberry Pi 5"), payload("AMD EPYC 7502P")), (None, None));
        let among = |text: &str| processor_among(text).map(|known| known.processor.name);
        for (machine, expect) in [
            ("i7-4770K, four WD2002FYPS", Some("Intel Core i7-4770K")),
            ("Ryzen 7900 with a FireCuda 530", Some("AMD Ryzen 9 7900")),
            ("Compute Module 4 with a Samsung 980", Some("Raspberry Pi Compute Module 4")),
            ("Raspberry Pi 5, Kioxia Exceria G2", Some("Raspberry Pi 5")),
            ("VisionFive 2, XG6 of 1 TB", Some("VisionFive 2")),
            ("four 980 PRO of 2 TB, 9.4", None),
            ("two Xeons of 48 cores, 5 drives", None),
            ("Core 2, 3 disks, 7200 rpm", None),
            ("home server", None),
        ] {
            assert_eq!(among(machine).as_deref(), expect, "{machine}");
        }
        assert_eq!(name("Rockchip RK3588, 8 cores").as_deref(), Some("RK3588"));
        assert_eq!(name("Raspberry Pi 4 Model B Rev 1.5").as_deref(), Some("Raspberry Pi 4"));
        for other in [
            "Raspberry Pi 3 Model B, 4 cores",
            "Raspberry Pi Zero 2 W (4 x Cortex-A53)",
            "Raspberry Pi Compute Module 3, 4 cores",
        ] {
            assert_eq!(name(other), None, "{other}");
        }
        assert_eq!(name("Intel(R) Core(TM)2 Duo CPU E7500 @ 2.93GHz").as_deref(), Some("Intel Core 2 Duo E7500"));
        assert!((processor("Intel Xeon E5-1620 v3").unwrap().processor.pace - 1.0).abs() < 1e-9);
        assert!(like(true, "Samsung 990 2TB").contains(&"Samsung 990 PRO 2TB"));
    }
}
