//! LUKS headers, from `cryptsetup luksDump`. Salts and digests are never looked at.

use terms::Bytes;
use terms::inventory::{LuksHeader, Readout};

use super::source::{Source, field};

/// The header on a device.
pub(super) fn read(source: &Source, node: &str) -> Readout<LuksHeader> {
    source.said(&["cryptsetup", "luksDump", node]).and_then(|text| match parse(&text) {
        Some(header) => Readout::Known(header),
        None => Readout::unknown(format!("`cryptsetup luksDump {node}` tells no version")),
    })
}

/// Both versions name alike what both have; the segment of version 2 is indented under `Data segments:`.
fn parse(text: &str) -> Option<LuksHeader> {
    let version = field(text, "Version")?.parse().ok()?;
    let segments = text.split_once("Data segments:").map(|(_, rest)| rest);
    let number = |value: &str| value.split_whitespace().next()?.parse::<u64>().ok();
    let cipher = match segments {
        Some(segments) => field(segments, "cipher").map(ToOwned::to_owned),
        None => field(text, "Cipher name").zip(field(text, "Cipher mode")).map(|(name, mode)| format!("{name}-{mode}")),
    };
    let offset = match segments {
        Some(segments) => field(segments, "offset").and_then(number),
        // Version 1 counts in sectors of 512 bytes.
        None => field(text, "Payload offset").and_then(number).and_then(|sectors| sectors.checked_mul(512)),
    };
    let derivations =
        text.lines().filter_map(|line| line.trim().strip_prefix("PBKDF:")).map(|name| name.trim().to_owned());
    let flags = field(text, "Flags").filter(|flags| *flags != "(no flags)").unwrap_or_default();
    Some(LuksHeader {
        version,
        uuid: field(text, "UUID").map(ToOwned::to_owned),
        cipher,
        sector: segments
            .and_then(|segments| field(segments, "sector"))
            .and_then(number)
            .or((version == 1).then_some(512))
            .map(Bytes),
        offset: offset.map(Bytes),
        flags: flags.split_whitespace().map(ToOwned::to_owned).collect(),
        key_derivations: derivations.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_understood() {
        let two = "LUKS header information\nVersion:       \t2\nUUID:          \tabc\nFlags:       \tallow-discards no-read-workqueue\n\n\
                   Data segments:\n  0: crypt\n\toffset: 16777216 [bytes]\n\tlength: (whole device)\n\tcipher: aes-xts-plain64\n\t\
                   sector: 4096 [bytes]\n\nKeyslots:\n  0: luks2\n\tCipher: aes-xts-plain64\n\tPBKDF:      argon2id\n";
        let header = parse(two).unwrap();
        assert_eq!((header.version, header.sector, header.offset), (2, Some(Bytes(4096)), Some(Bytes::mib(16))));
        assert_eq!((header.flags.len(), header.key_derivations), (2, vec!["argon2id".to_owned()]));
        let one = "Version:       \t1\nCipher name:   \taes\nCipher mode:   \txts-plain64\nPayload offset:\t4096\n";
        let header = parse(one).unwrap();
        assert_eq!((header.cipher.as_deref(), header.offset), (Some("aes-xts-plain64"), Some(Bytes::mib(2))));
    }
}
