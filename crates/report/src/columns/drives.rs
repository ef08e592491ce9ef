//! Columns of the drives and programs of a machine.

use terms::drive::{Drive, DriveDetail};
use terms::inventory::{Health, LbaFormat, Program, Readout};

use crate::table::{Column, ColumnKind, Value};

/// A text that a drive may not tell.
fn told(text: Option<&String>) -> Value {
    Value::or_missing(text.cloned().map(Value::Text), "the drive does not tell")
}

/// A block. There is none of size 0: nobody read it.
fn block(size: terms::Bytes) -> Value {
    Value::or_missing((size.0 > 0).then_some(Value::Size(size)), "it was not read")
}

/// A column of words.
const fn words(
    name: &'static str,
    key: &'static str,
    title: &'static str,
    help: &'static str,
    value: fn(&Drive) -> Value,
) -> Column<Drive> {
    Column { name, key, title, help, kind: ColumnKind::Text, value }
}

/// A column of sizes.
const fn size(
    name: &'static str,
    key: &'static str,
    title: &'static str,
    help: &'static str,
    value: fn(&Drive) -> Value,
) -> Column<Drive> {
    Column { name, key, title, help, kind: ColumnKind::Size, value }
}

/// The columns of drives, in the order of their default table.
#[must_use]
pub fn drives() -> Vec<Column<Drive>> {
    vec![
        words("NAME", "kernel_name", "Name", "kernel name of today, not an identity", |d| {
            Value::Text(d.kernel_name.clone())
        }),
        words("TRAN", "transport", "Transport", "how it is attached", |d| Value::Text(d.transport.to_string())),
        size("SIZE", "size_bytes", "Size", "capacity", |d| Value::Size(d.size)),
        size("LBA", "logical_block_bytes", "LBA", "logical block size", |d| block(d.logical_block)),
        size("PHY-SEC", "physical_block_bytes", "Physical block", "physical block size", |d| block(d.physical_block)),
        words("MODEL", "model", "Model", "model", |d| told(d.model.as_ref())),
        words("SERIAL", "serial", "Serial", "serial number", |d| told(d.serial.as_ref())),
        words("WWID", "wwid", "WWID", "world-wide or namespace identifier", |d| told(d.wwid.as_ref())),
        words("FIRMWARE", "firmware", "Firmware", "firmware revision", |d| told(d.firmware.as_ref())),
        words("ROTA", "rotational", "Rotational", "is it a hard disk", |d| {
            Value::Text(if d.rotational { "yes" } else { "no" }.to_owned())
        }),
        words("SCHED", "scheduler", "Scheduler", "I/O scheduler in use", |d| told(d.scheduler.as_ref())),
        words("WCACHE", "write_cache", "Write cache", "what the block layer believes of its volatile cache", |d| {
            told(d.write_cache.as_ref())
        }),
        words("PCI", "pci_address", "PCI", "PCI address of its controller", |d| {
            Value::or_missing(d.pci_address.clone().map(Value::Text), "it has no PCI controller")
        }),
    ]
}

/// What nobody looked for.
const NOT_LOOKED: &str = "nobody looked";

/// What is known of a drive beyond its description.
fn detail(drive: &Drive) -> Option<&DriveDetail> {
    drive.detail.as_deref()
}

/// A fact, or why there is none: it is not known, or drives of this kind have none.
fn fact<T>(reading: Option<&Readout<Option<T>>>, value: impl Fn(&T) -> Option<Value>) -> Value {
    match reading {
        None => Value::Missing(NOT_LOOKED.into()),
        Some(Readout::Unknown(why)) => Value::Missing(why.clone().into()),
        Some(Readout::Known(fact)) => Value::or_missing(fact.as_ref().and_then(value), "the drive does not tell"),
    }
}

/// A number of its health.
fn health(drive: &Drive, value: fn(&Health) -> Option<Value>) -> Value {
    fact(detail(drive).map(|detail| &detail.health), value)
}

/// The formats in a few words: the one in use with a star, those without metadata, and how many more there are.
fn formats(all: &[LbaFormat]) -> Value {
    let wanted = |format: &&LbaFormat| format.in_use || format.metadata.0 == 0;
    let word = |format: &LbaFormat| {
        let metadata = if format.metadata.0 == 0 { String::new() } else { format!("+{}", format.metadata.0) };
        format!("{}{metadata}{}", format.data.0, if format.in_use { "*" } else { "" })
    };
    let mut words: Vec<String> = all.iter().filter(wanted).map(word).collect();
    if words.len() < all.len() {
        words.push(format!("{} more", all.len() - words.len()));
    }
    Value::List(words)
}

/// All columns of drives that `bedplate inspect` knows: those of a record, and what only an examination tells.
#[must_use]
pub fn machine_drives() -> Vec<Column<Drive>> {
    let mut columns = drives();
    columns.extend([
        words(
            "FORMATS",
            "lba_formats",
            "Formats",
            "LBA formats it can have, * in use; those with metadata are only counted",
            |d| {
                let known = detail(d).and_then(|detail| detail.nvme.as_ref()).map(|nvme| &nvme.formats);
                match known {
                    None => Value::Missing("it is no NVMe namespace".into()),
                    Some(Readout::Unknown(why)) => Value::Missing(why.clone().into()),
                    Some(Readout::Known(all)) => formats(all),
                }
            },
        ),
        Column {
            name: "QUEUES",
            key: "hardware_queues",
            title: "Queues",
            help: "hardware queues",
            kind: ColumnKind::Count,
            value: |d| {
                fact(detail(d).map(|detail| detail.hardware_queues.clone().map(Some)).as_ref(), |queues| {
                    Some(Value::Count(u64::from(*queues)))
                })
            },
        },
        Column {
            name: "NUMA",
            key: "numa_node",
            title: "NUMA node",
            help: "NUMA node of its controller",
            kind: ColumnKind::Count,
            value: |d| {
                let node = detail(d).and_then(|detail| detail.numa_node);
                Value::or_missing(node.map(|node| Value::Count(u64::from(node))), "the firmware tells none")
            },
        },
        words("CACHE-ON", "write_cache_on", "Cache on", "is its volatile cache on, as the drive says", |d| {
            fact(detail(d).map(|detail| &detail.write_cache_on), |on| {
                Some(Value::Text(if *on { "on" } else { "off" }.to_owned()))
            })
        }),
        Column {
            name: "TEMP",
            key: "temperature_celsius",
            title: "Temperature, °C",
            help: "temperature in degrees Celsius",
            kind: ColumnKind::Number,
            value: |d| {
                fact(detail(d).map(|detail| &detail.temperature), |degrees| Some(Value::Number(f64::from(*degrees))))
            },
        },
        Column {
            name: "WEAR",
            key: "used_percent",
            title: "Wear, %",
            help: "life used in percent, as the maker counts",
            kind: ColumnKind::Number,
            value: |d| health(d, |health| health.used.map(|used| Value::Number(f64::from(used)))),
        },
        size("WRITTEN", "written_bytes", "Written", "written to it in all its life", |d| {
            health(d, |health| health.written.map(Value::Size))
        }),
        Column {
            name: "HOURS",
            key: "power_on_hours",
            title: "Hours",
            help: "hours under power",
            kind: ColumnKind::Count,
            value: |d| health(d, |health| health.power_on_hours.map(Value::Count)),
        },
        Column {
            name: "MEDIA-ERR",
            key: "media_errors",
            title: "Media errors",
            help: "errors of the medium",
            kind: ColumnKind::Count,
            value: |d| health(d, |health| health.media_errors.map(Value::Count)),
        },
        words("LINE", "line_rate", "Line", "speed of the line to a SATA or SAS drive", |d| {
            let rate = detail(d).and_then(|detail| detail.line_rate.clone());
            Value::or_missing(rate.map(Value::Text), "it has no such line, or none is told")
        }),
        words("PATHS", "paths", "Paths", "ways to a namespace, with their states", |d| {
            let nvme = detail(d).and_then(|detail| detail.nvme.as_ref());
            let paths = nvme.map(|nvme| {
                nvme.paths
                    .iter()
                    .map(|path| format!("{} {}", path.controller, path.state.as_deref().unwrap_or("state not told")))
                    .collect::<Vec<_>>()
            });
            Value::or_missing(paths.filter(|paths| !paths.is_empty()).map(Value::List), "there is one way to it")
        }),
    ]);
    columns
}

/// The columns of programs.
#[must_use]
pub fn programs() -> Vec<Column<Program>> {
    vec![
        Column {
            name: "PROGRAM",
            key: "name",
            title: "Program",
            help: "name of the program",
            kind: ColumnKind::Text,
            value: |program| Value::Text(program.name.clone()),
        },
        Column {
            name: "VERSION",
            key: "version",
            title: "Version",
            help: "what it says of itself",
            kind: ColumnKind::Text,
            value: |program| Value::or_missing(program.version.clone().map(Value::Text), "it is not installed"),
        },
    ]
}
