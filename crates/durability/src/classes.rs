//! Kinds of drives, and what is known of each before there is one. Every figure says where it comes from; spreads are
//! wide because published populations differ by factors, and a drive of yours may be none of them.

use terms::Bytes;
use terms::durability::{DriveClass, Spread};

/// Data sheets say one unreadable block in so many bits *at most*. Fields see far fewer (Gray, van Ingen, "Empirical
/// measurements of disk failure rates and error rates", 2005; 3 x 20 TB read at 1e-14 would fail 99 times of 100), so the
/// data sheet is the worst and a tenth of it is believed.
const fn unreadable(sheet: f64) -> Spread<f64> {
    Spread { low: sheet / 100.0, middle: sheet / 10.0, high: sheet }
}

/// Years for which vendors mostly state drive writes per day.
const WARRANTY_YEARS: f64 = 5.0;

/// Whole drive writes of a data sheet's *terabytes written*.
#[must_use]
pub fn of_written(written: Bytes, size: Bytes) -> Spread<f64> {
    Spread::exactly(written.as_f64() / size.as_f64().max(1.0))
}

/// Whole drive writes of a data sheet's *drive writes per day*, over the years that it is given for.
#[must_use]
pub fn of_daily(drive_writes_per_day: f64, years: f64) -> Spread<f64> {
    Spread::exactly(drive_writes_per_day * years * 365.0)
}

/// 400,000 checksum mismatches on 1.53 million drives in 41 months cluster on few drives: in 17 months 0.66 % of nearline
/// and 0.06 % of enterprise drives had any (Bairavasundaram et al., FAST 2008), here for 12 months.
const SILENT_NEARLINE: f64 = 0.0066 * 12.0 / 17.0;
const SILENT_ENTERPRISE: f64 = 0.0006 * 12.0 / 17.0;
/// 3.45 % of drives had a latent sector error in 32 months (Bairavasundaram et al., SIGMETRICS 2007).
const LATENT: f64 = 0.0345 * 12.0 / 32.0;

/// No population of flash drives has been published for silent corruption, so theirs spans both kinds of discs.
const SILENT_FLASH: Spread<f64> = Spread { low: SILENT_ENTERPRISE, middle: 0.0015, high: SILENT_NEARLINE };

/// The kinds that are known.
#[must_use]
pub fn classes() -> Vec<DriveClass> {
    vec![client(), datacentre(), nearline(), disc(), memory()]
}

/// The kind of that name.
#[must_use]
pub fn class(name: &str) -> Option<DriveClass> {
    classes().into_iter().find(|class| class.name == name)
}

fn entry(name: &str, what: &str, sources: &[&str]) -> DriveClass {
    let none = Spread::exactly(0.0);
    DriveClass {
        name: name.to_owned(),
        what: what.to_owned(),
        failures_per_year: none,
        unreadable_per_bit: none,
        latent_per_year: none,
        silent_per_year: none,
        drive_writes: None,
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
    }
}

const FLASH_LATENT: &str = "unreadable blocks: Schroeder et al., FAST 2016: 20 to 63 % of drives in four years";
const SILENT_SOURCE: &str =
    "silent corruption: Bairavasundaram et al., FAST 2008, both populations; no flash population is published";

fn client() -> DriveClass {
    DriveClass {
        failures_per_year: Spread { low: 0.003, middle: 0.01, high: 0.02 },
        unreadable_per_bit: unreadable(1e-15),
        latent_per_year: Spread { low: 0.05, middle: 0.1, high: 0.2 },
        silent_per_year: SILENT_FLASH,
        // 1 TB: Samsung 990 Pro 600 TB, WD SN770 600 TB, Seagate FireCuda 530 1275 TB, WD SN700 2000 TB.
        drive_writes: Some(Spread { low: 300.0, middle: 600.0, high: 1275.0 }),
        ..entry(
            "client-ssd",
            "flash for notebooks and desktops, NVMe or SATA",
            &[
                "failures: Backblaze boot SSDs, just under 1 % in 2022; range of vendors' and fleets' reports",
                FLASH_LATENT,
                SILENT_SOURCE,
                "writes: data sheets, terabytes written for each terabyte",
            ],
        )
    }
}

fn datacentre() -> DriveClass {
    DriveClass {
        failures_per_year: Spread { low: 0.002, middle: 0.005, high: 0.01 },
        unreadable_per_bit: unreadable(1e-17),
        latent_per_year: Spread { low: 0.05, middle: 0.1, high: 0.2 },
        silent_per_year: SILENT_FLASH,
        drive_writes: Some(of_daily(1.0, WARRANTY_YEARS)),
        ..entry(
            "datacentre-ssd",
            "flash for servers, with capacitors, one drive write a day for five years",
            &[
                "failures: data sheets (MTBF of 2 million hours is 0.44 % a year); Maneas et al., FAST 2020",
                FLASH_LATENT,
                SILENT_SOURCE,
                "writes: JESD218 classes of endurance, one drive write a day",
            ],
        )
    }
}

fn nearline() -> DriveClass {
    DriveClass {
        failures_per_year: Spread { low: 0.005, middle: 0.014, high: 0.05 },
        unreadable_per_bit: unreadable(1e-15),
        latent_per_year: Spread { low: LATENT / 3.0, middle: LATENT, high: LATENT * 3.0 },
        silent_per_year: Spread { low: SILENT_NEARLINE / 3.0, middle: SILENT_NEARLINE, high: SILENT_NEARLINE * 3.0 },
        ..entry(
            "nearline-hdd",
            "large discs of 7200 revolutions a minute",
            &[
                "failures: Backblaze, 1.36 % for 2025 over 344,196 drives, models from 0.5 to 5 % and beyond",
                "unreadable blocks: Bairavasundaram et al., SIGMETRICS 2007; data sheets",
                "silent corruption: Bairavasundaram et al., FAST 2008",
            ],
        )
    }
}

fn disc() -> DriveClass {
    DriveClass {
        unreadable_per_bit: unreadable(1e-14),
        ..DriveClass { name: "client-hdd".to_owned(), what: "discs for desktops".to_owned(), ..nearline() }
    }
}

fn memory() -> DriveClass {
    DriveClass {
        failures_per_year: Spread { low: 0.001, middle: 0.003, high: 0.01 },
        unreadable_per_bit: unreadable(1e-17),
        latent_per_year: Spread { low: 0.001, middle: 0.01, high: 0.05 },
        silent_per_year: SILENT_FLASH,
        drive_writes: Some(of_daily(6.0, WARRANTY_YEARS)),
        ..entry(
            "optane",
            "3D XPoint, such as Intel P1600X",
            &[
                "failures and unreadable blocks: data sheets; no population is published",
                SILENT_SOURCE,
                "writes: data sheet of the P1600X, six drive writes a day",
            ],
        )
    }
}
