//! Values of the options that become fields of a workload.

use terms::{Bytes, Nanos, Note};

use super::lines::Option_;
use super::units::{self, Base, Unread};

/// What is right for an option whose value is not.
const RIGHT: [(&[&str], &str); 9] = [
    (&["bs_is_seq_rand", "buffered", "direct", "overwrite", "stonewall", "time_based"], "write 1 for on, or 0 for off"),
    (&["bs", "bsrange"], "write one size, such as bs=4k"),
    (&["filesize", "lockmem", "offset", "offset_increment", "size"], "write one size in bytes, such as 1g"),
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

/// What an option says of reads, of writes and of trims.
pub(super) type ByDirection = [u64; 3];

/// Numbers for reads, writes and trims: `4k`, `4k,64k`, `,64k`. The last goes for what stands behind it, and a place that is
/// left empty for what was `known` before.
pub(super) fn by_direction(text: &str, base: Base, mut known: ByDirection) -> Result<ByDirection, Unread> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > known.len() {
        return Err("there are three kinds of operations at most".to_owned());
    }
    if parts.iter().all(|part| part.is_empty()) {
        return Err("there is no value".to_owned());
    }
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let number = units::size(part, base)?;
        let until = if at + 1 == parts.len() { known.len() } else { at + 1 };
        known[at..until].fill(number);
    }
    Ok(known)
}

/// Sizes of blocks. Trims are never measured.
pub(super) fn blocks(text: &str, base: Base, known: [Bytes; 2]) -> Result<[Bytes; 2], Unread> {
    // fio divides such a list here, too, and nobody means that.
    if let Some((reads, writes)) = text.split_once(['-', ':']).filter(|(reads, writes)| reads != writes) {
        if reads.is_empty() || writes.is_empty() {
            return Err("a size is missing before or behind the `-` or `:`".to_owned());
        }
        let (reads, writes) = (reads.escape_debug(), writes.escape_debug());
        return Err(format!("fio takes it for blocks of {reads} to read and of {writes} to write, and for no range"));
    }
    let text = text.split(['-', ':']).next().unwrap_or_default();
    let [reads, writes, _] = by_direction(text, base, [known[0].0, known[1].0, 1])?;
    if reads == 0 || writes == 0 {
        return Err("it is a block of no bytes".to_owned());
    }
    Ok([Bytes(reads), Bytes(writes)])
}

/// Bytes of a file, if a number says so: a share of a device is that of another device.
pub(super) fn span(text: &str, base: Base) -> Result<Option<Bytes>, Unread> {
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.parse::<u8>() {
            Ok(1..=100) => Ok(None),
            _ => Err("a share is a whole number without a unit, from 1% to 100%".to_owned()),
        };
    }
    Ok(Some(Bytes(units::size(text, base)?)).filter(|bytes| bytes.0 > 0))
}

/// Where in a file a job begins, or how far behind the one before it: in bytes, as a share is that of another file.
pub(super) fn offset(text: &str, base: Base) -> Result<Bytes, Unread> {
    match text.strip_suffix('%') {
        Some(percent) if percent.parse() == Ok(0_u8) => Ok(Bytes(0)),
        Some(_) => Err("a share of a file is that of another file; say bytes".to_owned()),
        None => units::size(text, base).map(Bytes),
    }
}

/// What is counted here in whole milliseconds.
pub(super) fn time(text: &str) -> Result<Option<Nanos>, Unread> {
    let time = Nanos(units::time(text)?);
    if time != Nanos::millis(time.as_millis()) {
        return Err("it is to be whole milliseconds".to_owned());
    }
    Ok(Some(time).filter(|time| time.0 > 0))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was given to fio 3.33, which tells the sizes that it takes when it begins to run.
    #[test]
    fn sizes_are_those_that_fio_takes_for_each_direction() {
        let known = [Bytes(16), Bytes(32)];
        for (text, reads, writes) in [
            ("8k", 8192, 8192),
            ("8k,4k", 8192, 4096),
            ("8k,4k,2k", 8192, 4096),
            (",8k", 16, 8192),
            ("8k,", 8192, 32),
            ("8k,4k,", 8192, 4096),
            (",,8k", 16, 32),
            ("4k-4k", 4096, 4096),
        ] {
            assert_eq!(blocks(text, Base::Binary, known), Ok([Bytes(reads), Bytes(writes)]), "{text}");
        }
        for text in ["", ",", "0", "4k,0", "4k,4k,4k,4k", "4kx", "4k-8k", "4k:8k"] {
            assert!(blocks(text, Base::Binary, known).is_err(), "{text}");
        }
        for text in ["1m-", "-1m", "1m:"] {
            assert!(blocks(text, Base::Binary, known).is_err_and(|why| why.contains("is missing")), "{text}");
        }
        assert!(blocks("4k-8k", Base::Binary, known).is_err_and(|why| why.contains("4k to read and of 8k to write")));
    }

    /// fio 3.33 drops the `%` behind a unit: `1t%` is 1 TiB.
    #[test]
    fn a_share_has_no_unit() {
        assert_eq!((span("10%", Base::Binary), span("10k", Base::Binary)), (Ok(None), Ok(Some(Bytes::kib(10)))));
        for text in ["1t%", "10k%", "1.5%", "0x5%", "0%", "150%"] {
            assert!(span(text, Base::Binary).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_whole_milliseconds() {
        assert_eq!(time("1500us"), Err("it is to be whole milliseconds".to_owned()));
        assert_eq!((time("2ms"), time("0")), (Ok(Some(Nanos::millis(2))), Ok(None)));
    }
}
