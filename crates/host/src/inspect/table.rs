//! Lines of device-mapper tables and what they mean. Formats: the kernel's `Documentation/admin-guide/device-mapper`.

use std::collections::BTreeMap;

use terms::Bytes;
use terms::inventory::{CryptMapping, DmRaid, IntegrityHeader, Meaning, Readout, ThinPool};

/// Size of the device mapper's sector.
const SECTOR: u64 = 512;

/// A line of a table or of a status, without key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) kind: String,
    /// Parameters or status, key removed.
    pub(super) rest: String,
}

/// The lines of each mapping: `NAME: START LENGTH KIND …`. A name may hold colons and the rest may, too.
pub(super) fn by_mapping(text: &str) -> BTreeMap<String, Vec<Line>> {
    let mut all: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for whole in text.lines() {
        let parts = whole.match_indices(": ").find_map(|(at, _)| Some((&whole[..at], line(&whole[at + 2..])?)));
        if let Some((name, line)) = parts {
            all.entry(name.to_owned()).or_default().push(line);
        }
    }
    all
}

fn line(text: &str) -> Option<Line> {
    let mut words = text.splitn(4, ' ');
    let start = words.next()?.parse().ok()?;
    let length = words.next()?.parse().ok()?;
    let kind = words.next()?.to_owned();
    let rest = without_key(&kind, words.next().unwrap_or_default());
    Some(Line { start, length, kind, rest })
}

/// The parameters with `-` where a key stands: second word of a crypt table, third part of an algorithm of integrity.
pub(crate) fn without_key(kind: &str, rest: &str) -> String {
    let mut words: Vec<String> = rest.split(' ').map(ToOwned::to_owned).collect();
    match kind {
        // A status has other words, and none of them is a key; a table has five at least.
        "crypt" if words.len() >= 5 => words[1] = mask_of_key(&words[1]),
        "integrity" => {
            for word in &mut words {
                let mut parts: Vec<&str> = word.split(':').collect();
                if ["internal_hash", "journal_crypt", "journal_mac"].contains(&parts[0]) && parts.len() > 2 {
                    parts.truncate(2);
                    *word = parts.join(":") + ":-";
                }
            }
        }
        _ => {}
    }
    words.join(" ")
}

/// `-` and, where the table tells it, the size of the key in bytes: a reference to a key ring is `:64:logon:NAME`.
fn mask_of_key(key: &str) -> String {
    if key == "-" || key.strip_prefix("-:").is_some_and(|size| size.parse::<u32>().is_ok()) {
        return key.to_owned();
    }
    let size = match key.strip_prefix(':') {
        Some(reference) => reference.split(':').next().and_then(|size| size.parse::<usize>().ok()),
        None => Some(key.len() / 2).filter(|size| *size > 0),
    };
    size.map_or_else(|| "-".to_owned(), |bytes| format!("-:{bytes}"))
}

/// What a line of a table says, with its status.
pub(super) fn meaning(line: &Line, status: &Readout<String>) -> Meaning {
    let words: Vec<&str> = line.rest.split(' ').filter(|word| !word.is_empty()).collect();
    let status = status.as_ref().map(|text| text.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>());
    let understood = match line.kind.as_str() {
        "crypt" => crypt(&words),
        "integrity" => integrity(&words, &status),
        "linear" => {
            words.get(1).and_then(|offset| offset.parse().ok()).map(|offset_sectors| Meaning::Linear { offset_sectors })
        }
        "striped" => striped(&words),
        "raid" => raid(&words, &status),
        "thin-pool" => pool(&words, &status),
        _ => None,
    };
    understood.unwrap_or(Meaning::Other)
}

/// `CIPHER KEY IV_OFFSET DEVICE OFFSET [COUNT FLAG…]`
fn crypt(words: &[&str]) -> Option<Meaning> {
    let key_bytes = words.get(1)?.strip_prefix("-:").and_then(|bytes| bytes.parse::<u32>().ok());
    let flags = words.get(6..).unwrap_or_default();
    let value = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name)?.strip_prefix(':'));
    let plain = |flag: &&&str| !flag.contains(':');
    Some(Meaning::CryptMapping(CryptMapping {
        cipher: (*words.first()?).to_owned(),
        key_bits: key_bytes.and_then(|bytes| bytes.checked_mul(8)),
        offset_sectors: words.get(4)?.parse().ok()?,
        sector: value("sector_size").map_or(Some(Bytes(SECTOR)), |size| size.parse().ok().map(Bytes))?,
        flags: flags.iter().filter(plain).map(|flag| (*flag).to_owned()).collect(),
        integrity: value("integrity").map(ToOwned::to_owned),
    }))
}

/// `DEVICE OFFSET TAG MODE COUNT ARGUMENT…`; status `MISMATCHES PROVIDED RECALCULATED`.
fn integrity(words: &[&str], status: &Readout<Vec<String>>) -> Option<Meaning> {
    let arguments = words.get(5..).unwrap_or_default();
    let value = |name: &str| arguments.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
    let number = |at: usize| {
        status.as_ref().and_then(|words| match words.get(at).and_then(|word| word.parse().ok()) {
            Some(number) => Readout::Known(number),
            None => Readout::unknown("the status of the mapping does not tell"),
        })
    };
    let recalculated = status.as_ref().and_then(|words| match words.get(2).map(String::as_str) {
        Some("-") => Readout::Known(None),
        Some(word) => word
            .parse()
            .map_or_else(|_| Readout::unknown(format!("its status says `{word}`")), |at| Readout::Known(Some(at))),
        None => Readout::unknown("the status of the mapping does not tell"),
    });
    Some(Meaning::IntegrityHeader(IntegrityHeader {
        mode: (*words.get(3)?).to_owned(),
        block: value("block_size").map_or(Some(Bytes(SECTOR)), |size| size.parse().ok().map(Bytes))?,
        tag: words.get(2)?.parse().ok().map(Bytes),
        hash: value("internal_hash").map(|hash| hash.split(':').next().unwrap_or(hash).to_owned()),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        mismatches: number(0),
        recalculated_sectors: recalculated,
    }))
}

/// `COUNT CHUNK (DEVICE OFFSET)…`
fn striped(words: &[&str]) -> Option<Meaning> {
    let chunk: u64 = words.get(1)?.parse().ok()?;
    Some(Meaning::Striped { stripes: words.first()?.parse().ok()?, chunk_bytes: Bytes(chunk.checked_mul(SECTOR)?) })
}

/// `LEVEL COUNT CHUNK …`; status `LEVEL IMAGES HEALTH DONE/ALL ACTION MISMATCHES OFFSET …`.
fn raid(words: &[&str], status: &Readout<Vec<String>>) -> Option<Meaning> {
    let word = |at: usize| {
        status.as_ref().and_then(|words| match words.get(at) {
            Some(word) => Readout::Known((*word).clone()),
            None => Readout::unknown("the status of the mapping does not tell"),
        })
    };
    let chunk: u64 = words.get(2)?.parse().ok()?;
    Some(Meaning::Raid(DmRaid {
        level: (*words.first()?).to_owned(),
        chunk: Bytes(chunk.checked_mul(SECTOR)?),
        health: word(2),
        sync_action: word(4),
        mismatches: word(5).and_then(|text| {
            text.parse().map_or_else(|_| Readout::unknown(format!("its status says `{text}`")), Readout::Known)
        }),
    }))
}

/// The mode of a pool that has failed.
const FAILED: &str = "fail";

/// `METADATA DATA BLOCK …`; status `TRANSACTION USED/ALL USED/ALL HELD MODE …`, metadata first.
fn pool(words: &[&str], status: &Readout<Vec<String>>) -> Option<Meaning> {
    let share = |at: usize| {
        status.as_ref().and_then(|words| {
            let pair = words.get(at).and_then(|word| word.split_once('/'));
            match pair.and_then(|(used, all)| Some([used.parse().ok()?, all.parse().ok()?])) {
                Some(pair) => Readout::Known(pair),
                None => Readout::unknown("the status of the pool does not tell"),
            }
        })
    };
    let block: u64 = words.get(2)?.parse().ok()?;
    Some(Meaning::ThinPool(ThinPool {
        block: Bytes(block.checked_mul(SECTOR)?),
        metadata_blocks: share(1),
        data_blocks: share(2),
        // A pool that failed tells that, and nothing else (`pool_status` in the kernel's `drivers/md/dm-thin.c`).
        mode: status.as_ref().and_then(|words| match (words.first(), words.get(4)) {
            (Some(word), _) if word == "Fail" => Readout::Known(FAILED.to_owned()),
            (_, Some(mode)) => Readout::Known(mode.clone()),
            (_, None) => Readout::unknown("the status of the pool does not tell"),
        }),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str, status: &str) -> Meaning {
        let lines = by_mapping(text);
        meaning(&lines.values().next().unwrap()[0], &Readout::Known(status.to_owned()))
    }

    #[test]
    fn keys_are_cut_out() {
        let key = "0f".repeat(64);
        let text = format!(
            "a: 0 8 crypt aes-xts-plain64 {key} 0 259:1 32768 1 sector_size:4096\n\
                            b: 0 8 integrity 8:1 0 4 J 2 internal_hash:hmac(sha256):{key} journal_crypt:ctr(aes):{key}\n\
                            c: 0 8 crypt aes-xts-plain64 :64:logon:cryptsetup:secret 0 259:1 32768"
        );
        let lines = format!("{:?}", by_mapping(&text));
        assert!(!lines.contains("0f0f") && !lines.contains("secret"), "{lines}");
        let Meaning::CryptMapping(crypt) = only(&text, "") else { panic!("{lines}") };
        assert_eq!((crypt.key_bits, crypt.sector, crypt.offset_sectors), (Some(512), Bytes(4096), 32768));
    }

    #[test]
    fn tables_are_understood() {
        let Meaning::CryptMapping(crypt) =
            only("a: 0 8 crypt aes-xts-plain64 :64:logon:x 0 259:1 32768 2 allow_discards no_read_workqueue", "")
        else {
            panic!()
        };
        assert_eq!((crypt.sector, crypt.flags.len()), (Bytes(512), 2));
        let Meaning::IntegrityHeader(integrity) =
            only("i: 0 8 integrity 8:1 0 4 B 3 block_size:4096 internal_hash:crc32c fix_padding", "7 99 1024")
        else {
            panic!()
        };
        assert_eq!(
            (integrity.mode.as_str(), integrity.block, integrity.hash.as_deref()),
            ("B", Bytes(4096), Some("crc32c"))
        );
        assert_eq!(
            (integrity.mismatches, integrity.recalculated_sectors),
            (Readout::Known(7), Readout::Known(Some(1024)))
        );
        let Meaning::Raid(raid) =
            only("r: 0 8 raid raid5_ls 3 128 region_size 4096 3 8:1 8:2", "raid5_ls 3 AAa 1/2 resync 5 0 -")
        else {
            panic!()
        };
        assert_eq!(
            (raid.chunk, raid.health, raid.mismatches),
            (Bytes(65536), Readout::Known("AAa".into()), Readout::Known(5))
        );
        let Meaning::ThinPool(pool) =
            only("p: 0 8 thin-pool 253:1 253:2 128 0 1 skip_block_zeroing", "1 12/2048 90/100 - rw")
        else {
            panic!()
        };
        assert_eq!((pool.data_blocks, pool.metadata_blocks), (Readout::Known([90, 100]), Readout::Known([12, 2048])));
        let Meaning::ThinPool(pool) = only("p: 0 8 thin-pool 253:1 253:2 128 0 0", "Fail") else { panic!() };
        assert_eq!((pool.mode, pool.data_blocks.known().is_some()), (Readout::Known("fail".into()), false));
        assert_eq!(only("l: 0 8 linear 8:1 2048", ""), Meaning::Linear { offset_sectors: 2048 });
        assert_eq!(
            only("s: 0 8 striped 2 1024 8:1 0 8:2 0", ""),
            Meaning::Striped { stripes: 2, chunk_bytes: Bytes(524_288) }
        );
        assert_eq!(only("z: 0 8 zero", ""), Meaning::Other);
    }

    #[test]
    fn names_may_hold_colons() {
        let lines = by_mapping("a: b: 0 8 linear 8:1 0\nNo devices found");
        assert_eq!(lines.keys().collect::<Vec<_>>(), ["a: b"]);
    }
}
