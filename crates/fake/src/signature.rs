//! By what formats are known: magic numbers and identifiers at the places where the real tools put them.

use crate::state::State;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// How a format writes its identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    Nothing,
    /// 16 bytes.
    Bytes(u64),
    /// Letters and digits, so many.
    Text(u64, usize),
    /// A number of 8 bytes.
    Number(u64),
}

/// A format, as libblkid knows it (util-linux, libblkid/src).
struct Format {
    kind: &'static str,
    /// Magic numbers and where they stand, from the start; from the end where that is negative.
    magics: &'static [(i64, &'static [u8])],
    /// Those after so many are copies that `wipefs` does not know.
    known: usize,
    id: Id,
}

const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0];
const UBERBLOCK: &[u8] = &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];
const BCACHE: &[u8] = &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];

const fn at(place: u64) -> i64 {
    place as i64
}

const FORMATS: [Format; 12] = [
    Format { kind: "ext4", magics: &[(0x438, &[0x53, 0xef])], known: 1, id: Id::Bytes(1024 + 0x68) },
    Format { kind: "xfs", magics: &[(0, b"XFSB")], known: 1, id: Id::Bytes(32) },
    Format {
        kind: "btrfs",
        magics: &[(at(64 * KIB + 0x40), b"_BHRfS_M"), (at(64 * MIB + 0x40), b"_BHRfS_M")],
        known: 1,
        id: Id::Bytes(64 * KIB + 0x20),
    },
    Format { kind: "swap", magics: &[(4086, b"SWAPSPACE2")], known: 1, id: Id::Bytes(1036) },
    Format {
        kind: "crypto_LUKS",
        magics: &[(0, b"LUKS\xba\xbe\0\x02"), (at(16 * KIB), b"SKUL\xba\xbe\0\x02")],
        known: 2,
        id: Id::Text(168, 36),
    },
    Format { kind: "linux_raid_member", magics: &[(4096, MD)], known: 1, id: Id::Bytes(4096 + 16) },
    // Version 1.0, 8 KiB before the end.
    Format { kind: "linux_raid_member", magics: &[(-8192, MD)], known: 1, id: Id::Bytes(u64::MAX - 8192 + 1 + 16) },
    Format { kind: "LVM2_member", magics: &[(512, b"LABELONE"), (536, b"LVM2 001")], known: 2, id: Id::Text(544, 32) },
    Format { kind: "DM_integrity", magics: &[(0, b"integrt\0")], known: 1, id: Id::Nothing },
    Format {
        kind: "zfs_member",
        magics: &[
            (at(128 * KIB), UBERBLOCK),
            (at(384 * KIB), UBERBLOCK),
            (-at(384 * KIB), UBERBLOCK),
            (-at(128 * KIB), UBERBLOCK),
        ],
        known: 4,
        id: Id::Number(120 * KIB),
    },
    Format { kind: "bcache", magics: &[(4096 + 24, BCACHE)], known: 1, id: Id::Bytes(4096 + 40) },
    Format { kind: "gpt", magics: &[(-512, b"EFI PART")], known: 1, id: Id::Nothing },
];

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: String,
    pub(crate) places: Vec<u64>,
    /// Bytes of the magic numbers, as long as their places.
    lengths: Vec<u64>,
    known: usize,
    pub(crate) uuid: Option<String>,
}

impl Found {
    pub(crate) fn is_table(&self) -> bool {
        self.kind == "gpt"
    }
}

impl Format {
    fn place(&self, place: i64, size: u64, block: u64) -> Option<u64> {
        match (self.kind, u64::try_from(place)) {
            // The backup is in the last block, whatever its size.
            ("gpt", _) => size.checked_sub(block),
            // Labels lie on whole multiples of their size (OpenZFS, `vdev_label_offset`).
            ("zfs_member", Err(_)) => (size / (256 * KIB) * 256 * KIB).checked_sub(place.unsigned_abs()),
            (_, Ok(place)) => Some(place),
            (_, Err(_)) => (size / 4096 * 4096).checked_sub(place.unsigned_abs()),
        }
    }

    fn id_place(&self, size: u64) -> Option<u64> {
        match self.id {
            Id::Nothing => None,
            Id::Bytes(place) | Id::Text(place, _) | Id::Number(place) if place < u64::MAX / 2 => Some(place),
            Id::Bytes(place) | Id::Text(place, _) | Id::Number(place) => Some((size / 4096 * 4096).wrapping_add(place)),
        }
    }
}

/// Bytes of a UUID, of whatever form.
fn bytes_of(uuid: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        uuid.bytes().filter_map(|byte| char::from(byte).to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

fn dashed(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

impl State {
    /// Writes what a format is known by. `metadata` tells versions of md.
    pub(crate) fn sign(&mut self, name: &str, kind: &str, uuid: &str) -> std::io::Result<()> {
        let (kind, last) = match kind {
            "linux_raid_member 1.0" => ("linux_raid_member", true),
            kind => (kind, false),
        };
        let fits = |format: &&Format| format.kind == kind && (!last || format.magics[0].0 < 0);
        let Some(format) = FORMATS.iter().find(fits) else { return Ok(()) };
        let (size, block) = (self.size(name), self.devices[name].block);
        for (place, magic) in format.magics {
            let Some(place) =
                format.place(*place, size, block).filter(|place| place + 4096 <= size.next_multiple_of(4096))
            else {
                continue;
            };
            self.write(name, place, magic)?;
        }
        if kind == "ext4" {
            // Extents, 64 bit and flexible groups tell it from its forebears.
            self.write(name, 1024 + 0x60, &0x2c0_u32.to_le_bytes())?;
        }
        let Some(place) = format.id_place(size) else { return Ok(()) };
        let id = match format.id {
            Id::Text(..) => uuid.as_bytes().to_vec(),
            Id::Number(_) => bytes_of(uuid)[..8].to_vec(),
            _ => bytes_of(uuid),
        };
        self.write(name, place, &id)
    }

    /// Everything that a device is known by. What cannot be read is not there.
    pub(crate) fn signatures(&mut self, name: &str) -> Vec<Found> {
        let (size, block) = (self.size(name), self.devices.get(name).map_or(512, |device| device.block));
        let mut all: Vec<Found> = Vec::new();
        for format in &FORMATS {
            let mut found =
                Found { kind: format.kind.to_owned(), places: Vec::new(), lengths: Vec::new(), known: 0, uuid: None };
            for (number, (place, magic)) in format.magics.iter().enumerate() {
                let Some(place) = format.place(*place, size, block) else { continue };
                let bytes = self.read(name, place, magic.len() as u64).unwrap_or_default();
                if bytes == *magic {
                    found.places.push(place);
                    found.lengths.push(magic.len() as u64);
                    found.known += usize::from(number < format.known);
                }
            }
            if found.known == 0 || (format.kind == "LVM2_member" && found.places.len() < 2) {
                continue;
            }
            found.uuid = self.id_of(name, format, size);
            if format.kind == "gpt" {
                self.complete_table(name, block, &mut found);
            }
            all.push(found);
        }
        all
    }

    fn id_of(&mut self, name: &str, format: &Format, size: u64) -> Option<String> {
        let place = format.id_place(size)?;
        let mut read = |length| self.read(name, place, length).ok();
        match format.id {
            Id::Nothing => None,
            Id::Bytes(_) => Some(dashed(&read(16)?)),
            Id::Text(_, length) => {
                let text = String::from_utf8(read(length as u64)?).ok()?;
                Some(if format.kind == "LVM2_member" { lvm_uuid(&text) } else { text })
            }
            Id::Number(_) => Some(u64::from_le_bytes(read(8)?.try_into().ok()?).to_string()),
        }
    }

    /// The first table and the protective one before it.
    fn complete_table(&mut self, name: &str, block: u64, found: &mut Found) {
        found.uuid = self.read(name, found.places[0] + 56, 16).ok().map(|bytes| dashed(&bytes));
        for (place, magic) in [(block, &b"EFI PART"[..]), (510, &[0x55, 0xaa])] {
            if self.read(name, place, magic.len() as u64).is_ok_and(|bytes| bytes == magic) {
                found.places.push(place);
                found.lengths.push(magic.len() as u64);
                found.known += 1;
            }
        }
    }

    /// Takes away the magic numbers that `wipefs` knows, and gives whether a partition table was among them.
    pub(crate) fn wipe(&mut self, name: &str) -> std::io::Result<bool> {
        let mut table = false;
        for found in self.signatures(name) {
            table |= found.is_table();
            for (place, length) in found.places.iter().zip(&found.lengths).take(found.known) {
                self.write(name, *place, &vec![0; *length as usize])?;
            }
        }
        Ok(table)
    }
}

/// As LVM writes identifiers: six, five times four, and six characters (lvm2, lib/uuid/uuid.c).
pub(crate) fn lvm_uuid(text: &str) -> String {
    let mut parts = vec![&text[..6]];
    parts.extend((0..5).map(|part| &text[6 + part * 4..10 + part * 4]));
    parts.push(&text[26..]);
    parts.join("-")
}
