//! Shapes of identifiers in text: UUIDs in every spelling, LVM's own, MAC addresses, addresses of fabrics.

/// An identifier found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// 32 hexadecimal digits, in groups or not.
    Uuid,
    /// 32 letters and digits of LVM, in groups of 6, 4, 4, 4, 4, 4, 6.
    Lvm,
    /// Two of LVM's, one after the other, as device-mapper names have them.
    LvmPair,
    /// Six bytes.
    Mac,
    /// An address of a fabric after `addr=`.
    Address,
}

/// Groups of a UUID as everybody writes it, as `mdadm` does, and without any.
const UUIDS: [(&[usize], u8); 3] = [(&[8, 4, 4, 4, 12], b'-'), (&[8, 8, 8, 8], b':'), (&[32], b' ')];
const LVM: &[usize] = &[6, 4, 4, 4, 4, 4, 6];

/// What begins at a byte of the text, and how long it is. Nothing begins in the middle of a word.
pub(super) fn at(text: &str, start: usize) -> Option<(Shape, usize)> {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).map(|at| bytes[at]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = &bytes[start..];
    if text[..start].ends_with("addr=") {
        let length = rest.iter().position(|byte| *byte == b',' || byte.is_ascii_whitespace()).unwrap_or(rest.len());
        // A PCI address has this form, too, and is nobody's secret.
        let pci = crate::inspect::is_pci_address(&text[start..start + length]);
        return (length > 0 && !pci).then_some((Shape::Address, length));
    }
    let ends = |length: usize| rest.get(length).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let hex = |byte: u8| byte.is_ascii_hexdigit();
    for (groups, sign) in UUIDS {
        if let Some(length) = grouped(rest, groups, sign, hex).filter(|length| ends(*length)) {
            return Some((Shape::Uuid, length));
        }
    }
    if let Some(length) = grouped(rest, LVM, b'-', |byte| byte.is_ascii_alphanumeric()).filter(|length| ends(*length)) {
        return Some((Shape::Lvm, length));
    }
    let alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
    if text[..start].ends_with("LVM-") && grouped(rest, &[64], b' ', alphanumeric).is_some() && ends(64) {
        return Some((Shape::LvmPair, 64));
    }
    let colon = |byte: Option<&u8>| byte == Some(&b':');
    if let Some(length) = grouped(rest, &[2, 2, 2, 2, 2, 2], b':', hex)
        && ends(length)
        && !colon(rest.get(length))
        && before != Some(b':')
    {
        return Some((Shape::Mac, length));
    }
    None
}

/// The length of groups of characters with a sign between them.
fn grouped(bytes: &[u8], groups: &[usize], sign: u8, allowed: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = 0;
    for (number, group) in groups.iter().enumerate() {
        if number > 0 {
            if bytes.get(at) != Some(&sign) {
                return None;
            }
            at += 1;
        }
        if !bytes.get(at..at + group)?.iter().all(|byte| allowed(*byte)) {
            return None;
        }
        at += group;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_distinguished() {
        for (text, start, expected) in [
            ("6f8a1c7e-1111-4222-8333-0123456789ab", 0, Some((Shape::Uuid, 36))),
            ("3aaa0122:29827cfa:5331ad66:ca767371", 0, Some((Shape::Uuid, 35))),
            ("CRYPT-LUKS2-0123456789abcdef0123456789abcdef-root", 12, Some((Shape::Uuid, 32))),
            ("0123456789abcdef0123456789abcdef0", 0, None),
            ("aBcDeF-1234-5678-90ab-cdef-ghij-klmnop", 0, Some((Shape::Lvm, 38))),
            ("52:54:00:12:34:56", 0, Some((Shape::Mac, 17))),
            ("0000:01:00.0", 0, None),
            ("52:54:00:12:34:56:78", 0, None),
            ("traddr=10.1.2.3,x", 7, Some((Shape::Address, 8))),
            ("version=1.2.3.4", 8, None),
        ] {
            assert_eq!(at(text, start), expected, "{text}");
        }
        let pair = format!("LVM-{}", "a1B2".repeat(16));
        assert_eq!(at(&pair, 4), Some((Shape::LvmPair, 64)));
    }
}
