//! Columns of the drives and programs of a machine.

use terms::drive::Drive;
use terms::inventory::Program;

use crate::table::{Column, Kind, Value};

/// A text that a drive may not tell.
fn told(text: Option<&String>) -> Value {
    Value::or_missing(text.cloned().map(Value::Text), "the drive does not tell")
}

/// A column of words.
const fn words(
    name: &'static str,
    key: &'static str,
    title: &'static str,
    help: &'static str,
    value: fn(&Drive) -> Value,
) -> Column<Drive> {
    Column { name, key, title, help, kind: Kind::Text, value }
}

/// A column of sizes.
const fn size(
    name: &'static str,
    key: &'static str,
    title: &'static str,
    help: &'static str,
    value: fn(&Drive) -> Value,
) -> Column<Drive> {
    Column { name, key, title, help, kind: Kind::Size, value }
}

/// The columns of drives, in the order of their default table.
#[must_use]
pub fn drives() -> Vec<Column<Drive>> {
    vec![
        words("NAME", "kernel_name", "Name", "kernel name of today, not an identity", |d| {
            Value::Text(d.kernel_name.clone())
        }),
        words("TRAN", "transport", "Transport", "how it is attached", |d| Value::Text(d.transport.clone())),
        size("SIZE", "size_bytes", "Size", "capacity", |d| Value::Size(d.size)),
        size("LBA", "logical_block_bytes", "LBA", "logical block size", |d| Value::Size(d.logical_block)),
        size("PHY-SEC", "physical_block_bytes", "Physical block", "physical block size", |d| {
            Value::Size(d.physical_block)
        }),
        words("MODEL", "model", "Model", "model", |d| told(d.model.as_ref())),
        words("SERIAL", "serial", "Serial", "serial number", |d| told(d.serial.as_ref())),
        words("WWID", "wwid", "WWID", "world-wide or namespace identifier", |d| told(d.wwid.as_ref())),
        words("FIRMWARE", "firmware", "Firmware", "firmware revision", |d| told(d.firmware.as_ref())),
        words("ROTA", "rotational", "Spins", "does it spin", |d| {
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

/// The columns of programs.
#[must_use]
pub fn programs() -> Vec<Column<Program>> {
    vec![
        Column {
            name: "PROGRAM",
            key: "name",
            title: "Program",
            help: "name of the program",
            kind: Kind::Text,
            value: |program| Value::Text(program.name.clone()),
        },
        Column {
            name: "VERSION",
            key: "version",
            title: "Version",
            help: "what it says of itself",
            kind: Kind::Text,
            value: |program| Value::or_missing(program.version.clone().map(Value::Text), "it is not installed"),
        },
    ]
}
