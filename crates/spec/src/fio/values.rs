//! Values of the options that become fields of a workload.

use terms::{Bytes, Nanos, Note};

use super::lines::Option_;
use super::units::{self, Base, Unread};

/// What is right for an option whose value is not.
const RIGHT: [(&[&str], &str); 9] = [
    (&["buffered", "direct", "stonewall", "time_based"], "write 1 or 0: fio knows no other word for on and off"),
    (&["bs", "bsrange"], "write one size, such as bs=4k"),
    (&["filesize", "offset", "offset_increment", "size"], "write one size in bytes, such as 1g"),
    (&["ramp_time", "runtime", "startdelay"], "write one time, such as 30s or 2m"),
    (&["fsync", "iodepth", "numjobs"], "write one whole number"),
    (&["rwmixread", "rwmixwrite"], "write one whole number: a share of 100"),
    (&["nrfiles"], "write nrfiles=1, or leave it out: a job works on one file of the stack that is measured"),
    (&["filename"], "leave it out: every stack of the study is measured on a file or device of its own"),
    (&["kb_base"], "write kb_base=1024, or leave it out"),
];

/// Notes that a value was not understood, and what is right in its place.
pub(super) fn unreadable(option: &Option_, why: &str) -> Note {
    let key = terms::fio::canonical(&option.key);
    let shown = option.value.as_ref().map_or(option.key.clone(), |value| format!("{}={value}", option.key));
    let message = format!("`{}` cannot be measured: {why}", shown.escape_debug());
    let right = RIGHT.iter().find(|(keys, _)| keys.contains(&key)).map(|(_, right)| *right);
    Note::error("fio-bad-value", Some(option.span), message).hint(right.unwrap_or("write one value that fio takes"))
}

/// Sizes of blocks for reads and for writes: `4k`, `4k,64k`. Trims, the third, are never measured.
pub(super) fn blocks(text: &str, base: Base) -> Result<[Bytes; 2], Unread> {
    let parts: Vec<&str> = text.split(',').collect();
    let (reads, writes) = match parts[..] {
        [one] => (one, one),
        [reads, writes] | [reads, writes, _] => (reads, writes),
        _ => return Err("there are three kinds of operations at most".to_owned()),
    };
    let read = |text| match units::size(text, base)? {
        0 => Err("it is a block of no bytes".to_owned()),
        bytes => Ok(Bytes(bytes)),
    };
    Ok([read(reads)?, read(writes)?])
}

/// Bytes of a file, if a number says so: a share of a device is that of another device.
pub(super) fn span(text: &str, base: Base) -> Result<Option<Bytes>, Unread> {
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.parse::<u8>() {
            Ok(1..=100) => Ok(None),
            _ => Err("a share is from 1% to 100%".to_owned()),
        };
    }
    Ok(Some(Bytes(units::size(text, base)?)).filter(|bytes| bytes.0 > 0))
}

/// Where in a file a job begins: in bytes, as a share is that of another file.
pub(super) fn offset(text: &str, base: Base) -> Result<Bytes, Unread> {
    match text.strip_suffix('%') {
        Some(percent) if percent.parse() == Ok(0_u8) => Ok(Bytes(0)),
        Some(_) => Err("a share of a file is that of another file; say bytes".to_owned()),
        None => units::size(text, base).map(Bytes),
    }
}

pub(super) fn time(text: &str) -> Result<Option<Nanos>, Unread> {
    Ok(Some(Nanos(units::time(text)?)).filter(|time| time.0 > 0))
}

pub(super) fn within(text: &str, base: Base, range: std::ops::RangeInclusive<u64>) -> Result<u32, Unread> {
    let number = units::size(text, base)?;
    let outside = || format!("it is to be from {} to {}", range.start(), range.end());
    u32::try_from(number).ok().filter(|_| range.contains(&number)).ok_or_else(outside)
}

pub(super) fn share(text: &str) -> Result<u8, Unread> {
    within(text, Base::Binary, 0..=100).and_then(|share| u8::try_from(share).map_err(|error| error.to_string()))
}

pub(super) fn flag(option: &Option_) -> Result<bool, Unread> {
    match option.text() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("it is to be 0 or 1".to_owned()),
    }
}

/// An option that is said by its name alone.
pub(super) fn set(option: &Option_) -> Result<bool, Unread> {
    if option.value.is_none() { Ok(true) } else { flag(option) }
}
