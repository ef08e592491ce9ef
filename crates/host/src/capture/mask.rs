//! Identifiers replaced by others: the same one by the same one, wherever and however it is written.
//!
//! What has a shape of its own (UUIDs, MAC addresses) is found by it. Serial numbers have none: they are collected first
//! from where they are told, and then found everywhere. Masks are numbered in the order of their first appearance, so two
//! captures of one machine have the same.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::pattern::{self, Shape};
use crate::secret;

/// Serial numbers shorter than this are left: they are found in anything, and tell nobody apart.
const SHORTEST: usize = 4;
/// Those shorter than this are replaced only where they stand as a word.
const SHORTEST_INSIDE: usize = 8;

/// Which identifier became which.
#[derive(Debug, Default)]
pub(super) struct Masks {
    /// Identifiers with a shape, in one spelling, with their numbers: one count for each shape.
    shaped: [HashMap<String, usize>; 4],
    /// Serial numbers and their masks.
    serials: HashMap<Vec<u8>, String>,
    /// How the serial numbers begin, and how long those are that begin so: longest first, one may be a part of another.
    lengths: HashMap<[u8; SHORTEST], Vec<usize>>,
    /// How many there were, spellings left out.
    numbered: usize,
    host: Option<String>,
}

impl Masks {
    /// A serial number that was told somewhere.
    pub(super) fn learn_serial(&mut self, serial: &str) {
        let serial = serial.trim();
        let plain = !serial.is_empty() && serial.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        let said_nothing =
            ["None", "Unknown", "Not Specified", "Default string", "To Be Filled By O.E.M."].contains(&serial);
        let empty = serial.bytes().all(|byte| byte == b'0' || byte == b' ');
        if serial.len() < SHORTEST || !plain || said_nothing || empty || self.serials.contains_key(serial.as_bytes()) {
            return;
        }
        self.numbered += 1;
        let mask = mask_of(serial, self.numbered);
        // NVMe names that the kernel makes up hold the serial number as the digits of its bytes.
        self.hide(digits(serial), digits(&mask));
        self.hide(serial.to_owned(), mask);
    }

    fn hide(&mut self, serial: String, mask: String) {
        let Some(start) = serial.as_bytes().first_chunk() else { return };
        let lengths = self.lengths.entry(*start).or_default();
        if !lengths.contains(&serial.len()) {
            lengths.push(serial.len());
            lengths.sort_unstable_by(|one, other| other.cmp(one));
        }
        self.serials.insert(serial.into_bytes(), mask);
    }

    /// The mask of the longest serial number that begins at a byte of the content, and how long the serial number is.
    fn serial(&self, content: &[u8], at: usize) -> Option<(&str, usize)> {
        let lengths = self.lengths.get(content[at..].first_chunk::<SHORTEST>()?)?;
        let found = lengths.iter().filter_map(|length| {
            let found = content.get(at..at + length)?;
            Some((self.serials.get(found)?.as_str(), *length))
        });
        let mut fits = found.filter(|(_, length)| *length >= SHORTEST_INSIDE || stands_alone(content, at, *length));
        fits.next()
    }

    /// The machine's name, which arrays and volumes carry.
    pub(super) fn learn_host(&mut self, name: &str) {
        let name = name.trim();
        if name.len() >= SHORTEST {
            self.host = Some(name.to_owned());
        }
    }

    /// The text with all identifiers replaced.
    pub(super) fn text(&mut self, text: &str) -> String {
        let shaped = self.shapes(&secret::without_logins(text));
        let mut out = self.known(&shaped);
        if let Some(host) = &self.host {
            out = replace_words(&out, &format!("{host}:"), "machine:");
        }
        out
    }

    /// Content with all identifiers replaced. In what is not text only serial numbers are, by masks as long as they are.
    pub(super) fn bytes(&mut self, content: &[u8]) -> Vec<u8> {
        if let Ok(text) = std::str::from_utf8(content) {
            return self.text(text).into_bytes();
        }
        let mut out = content.to_vec();
        let mut at = 0;
        while at < content.len() {
            at += match self.serial(content, at).filter(|(mask, length)| mask.len() == *length) {
                Some((mask, length)) => {
                    out[at..at + length].copy_from_slice(mask.as_bytes());
                    length
                }
                None => 1,
            };
        }
        out
    }

    fn shapes(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let Some(c) = text[at..].chars().next() else { break };
            match if c.is_ascii() { pattern::at(text, at) } else { None } {
                Some((shape, length)) => {
                    out.push_str(&self.shaped(shape, &text[at..at + length]));
                    at += length;
                }
                None => {
                    out.push(c);
                    at += c.len_utf8();
                }
            }
        }
        out
    }

    /// The mask of an identifier with a shape, in the spelling it has.
    fn shaped(&mut self, shape: Shape, found: &str) -> String {
        match shape {
            Shape::Uuid => {
                let plain: String = found.chars().filter(char::is_ascii_hexdigit).collect::<String>().to_lowercase();
                // Nobody's: all noughts say that there is none.
                if plain.bytes().all(|byte| byte == b'0') {
                    return found.to_owned();
                }
                let number = self.number(0, &plain);
                spell(found, &format!("000000000000400080000000{number:08x}"))
            }
            Shape::Lvm => {
                let number = self.number(1, &found.replace('-', ""));
                spell(found, &format!("{number:032}"))
            }
            Shape::LvmPair => {
                let (group, volume) = found.split_at(32);
                let (group, volume) = (self.number(1, group), self.number(1, volume));
                format!("{group:032}{volume:032}")
            }
            Shape::Mac => {
                let number = self.number(2, &found.to_lowercase());
                // 02: locally administered, so it is no maker's.
                spell(found, &format!("0200{number:08x}"))
            }
            Shape::Address => {
                let number = self.number(3, found);
                if found.parse::<Ipv4Addr>().is_ok() {
                    // For documentation (RFC 5737); a machine has fewer portals than that.
                    format!("192.0.2.{}", number % 255)
                } else if found.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok() {
                    // For documentation (RFC 3849).
                    format!("2001:db8::{number:x}")
                } else {
                    // `nn-0x…:pn-0x…` of Fibre Channel and whatever else.
                    found.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>()
                        + &format!("-{number}")
                }
            }
        }
    }

    fn number(&mut self, kind: usize, plain: &str) -> usize {
        let known = &mut self.shaped[kind];
        let next = known.len() + 1;
        *known.entry(plain.to_owned()).or_insert(next)
    }

    /// The text with serial numbers replaced. They are ASCII, so none begins or ends inside of a character.
    fn known(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let (mut at, mut kept) = (0, 0);
        while at < text.len() {
            let Some((mask, length)) = self.serial(text.as_bytes(), at) else {
                at += 1;
                continue;
            };
            out.push_str(&text[kept..at]);
            out.push_str(mask);
            at += length;
            kept = at;
        }
        out.push_str(&text[kept..]);
        out
    }
}

/// Has it no letter or digit beside it?
fn stands_alone(content: &[u8], at: usize, length: usize) -> bool {
    let is_beside = |at: Option<usize>| at.and_then(|at| content.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let ends_word = content[at + length - 1].is_ascii_alphanumeric();
    !(is_beside(at.checked_sub(1)) || ends_word && is_beside(Some(at + length)))
}

fn digits(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// A mask as long as the serial number. One of hexadecimal digits stays one: some tools read it as a number.
fn mask_of(serial: &str, number: usize) -> String {
    let (prefix, body) = if let Some(body) = serial.strip_prefix("0x") { ("0x", body) } else { ("", serial) };
    let number = if body.len() >= 12 && body.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let width = body.len() - 2;
        format!("fd{number:0width$x}")
    } else {
        let width = body.len() - 1;
        format!("S{number:0width$}")
    };
    format!("{prefix}{number}")
}

/// The letters and digits of `mask` in the groups of `found`.
fn spell(found: &str, mask: &str) -> String {
    let mut mask = mask.chars();
    found.chars().map(|c| if c.is_ascii_alphanumeric() { mask.next().unwrap_or('0') } else { c }).collect()
}

/// Replaces what stands by itself, with no letter or digit beside it.
fn replace_words(text: &str, wanted: &str, mask: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(wanted) {
        let end = at + wanted.len();
        let beside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let ends_word = wanted.ends_with(|c: char| c.is_ascii_alphanumeric());
        let inside = beside(before) || ends_word && beside(rest[end..].chars().next());
        out.push_str(&rest[..at]);
        out.push_str(if inside { wanted } else { mask });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_identifier_has_one_mask_in_every_spelling() {
        let mut masks = Masks::default();
        masks.learn_serial("S6Z1NF0W123456");
        masks.learn_host("nas-of-alice");
        let text = "md 3aaa0122:29827cfa:5331ad66:ca767371 is 3aaa0122-2982-7cfa-5331-ad66ca767371\n\
                    serial S6Z1NF0W123456 wwid nvme.144d-53365a314e463057313233343536-x\n\
                    mac 52:54:00:12:34:56 name=nas-of-alice:0 other 6f8a1c7e-1111-4222-8333-0123456789AB";
        let masked = masks.text(text);
        assert_eq!(
            masked,
            "md 00000000:00004000:80000000:00000001 is 00000000-0000-4000-8000-000000000001\n\
             serial S0000000000001 wwid nvme.144d-5330303030303030303030303031-x\n\
             mac 02:00:00:00:00:01 name=machine:0 other 00000000-0000-4000-8000-000000000002"
        );
        // A captured machine that is captured again is the same.
        let mut again = Masks::default();
        again.learn_serial("S0000000000001");
        assert_eq!(again.text(&masked), masked);
    }

    #[test]
    fn short_serials_are_words_and_shorter_ones_are_left() {
        let mut masks = Masks::default();
        for serial in ["abc", "abcd", "None", "0000000000000000"] {
            masks.learn_serial(serial);
        }
        assert_eq!(
            masks.text("abc abcd xabcd abcd_1 None 0000000000000000"),
            "abc S001 xabcd S001_1 None 0000000000000000"
        );
    }

    #[test]
    fn masks_are_as_long_as_what_they_hide() {
        let mut masks = Masks::default();
        for serial in ["WD-WX12A3456789", "0x5000c500a1b2c3d4", "0025385b01402a5d"] {
            masks.learn_serial(serial);
        }
        let mut page = vec![0, 0x80, 0, 15];
        page.extend(b"WD-WX12A3456789\xff");
        assert_eq!(masks.bytes(&page)[4..19], *b"S00000000000001");
        assert_eq!(
            masks.text("traddr=10.0.0.7,host_traddr=fe80::1 addr=10.0.0.7"),
            "traddr=192.0.2.1,host_traddr=2001:db8::2 addr=192.0.2.1"
        );
        assert_eq!(masks.text("0x5000c500a1b2c3d4 eui.0025385b01402a5d"), "0xfd00000000000002 eui.fd00000000000003");
    }
}
