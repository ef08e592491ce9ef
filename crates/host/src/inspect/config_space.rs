//! What the PCI Express capability in a device's configuration space says.
//!
//! Bytes are numbered as in PCI Express Base Specification, 7.5.3. Only root can read more than the first 64 of them,
//! and those hold no capability.

use terms::Bytes;
use terms::inventory::{Payload, PciRole};

/// Offset of the pointer to the first capability.
const FIRST_CAPABILITY: usize = 0x34;
/// Identifier of the PCI Express capability.
const EXPRESS: u8 = 0x10;
/// Capabilities are at least four bytes long and lie in 192 bytes, so a longer chain is a circle.
const MOST_CAPABILITIES: usize = 48;
/// Bytes that anybody can read.
pub(super) const PUBLIC: usize = 64;

/// What the capability says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Express {
    /// Type of port: 0 endpoint, 4 root port, 5 switch upstream, 6 switch downstream…
    pub(super) port_type: u8,
    /// Largest payload.
    pub(super) payload: Payload,
    /// Number of the slot that a port leads to, if it leads to one.
    pub(super) slot: Option<u16>,
}

/// Finds and reads the capability; `None` where there is none in these bytes.
pub(super) fn read(config: &[u8]) -> Option<Express> {
    let mut at = usize::from(*config.get(FIRST_CAPABILITY)?) & !3;
    for _ in 0..MOST_CAPABILITIES {
        match (*config.get(at)?, *config.get(at + 1)?) {
            (EXPRESS, _) => return express(config.get(at..)?),
            (_, 0) => return None,
            (_, next) => at = usize::from(next) & !3,
        }
    }
    None
}

fn express(capability: &[u8]) -> Option<Express> {
    let word = |at: usize| Some(u16::from_le_bytes([*capability.get(at)?, *capability.get(at + 1)?]));
    let flags = word(2)?;
    let (able, set) = (word(4)?, word(8)?);
    Some(Express {
        port_type: (flags >> 4 & 0xf) as u8,
        payload: Payload { current: size(set >> 5), maximum: size(able) },
        // Bits 31:19 of the slot capabilities; there only if bit 8 of the flags says so.
        slot: if flags & 0x100 == 0 { None } else { word(0x16).map(|high| high >> 3).filter(|slot| *slot != 0) },
    })
}

/// Three bits: 128 bytes and its doubles.
const fn size(bits: u16) -> Bytes {
    Bytes(128 << (bits & 7))
}

/// What a type of port is.
pub(super) const fn role(port_type: u8) -> PciRole {
    match port_type {
        4 => PciRole::RootPort,
        5 => PciRole::SwitchUpstream,
        6 => PciRole::SwitchDownstream,
        _ => PciRole::Bridge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(bytes: &[(usize, &[u8])]) -> Vec<u8> {
        let mut config = vec![0; 256];
        for (at, bytes) in bytes {
            config[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        config
    }

    #[test]
    fn a_capability_is_found_behind_others() {
        // Power management at 0x40, then a root port of slot 2: able of 512 bytes, set to 256.
        let port = [0x10, 0, 0x42, 0x01, 2, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0];
        let express = read(&config(&[(0x34, &[0x40]), (0x40, &[1, 0x50]), (0x50, &port)])).unwrap();
        assert_eq!((role(express.port_type), express.slot), (PciRole::RootPort, Some(2)));
        assert_eq!((express.payload.current, express.payload.maximum), (Bytes(256), Bytes(512)));
    }

    #[test]
    fn circles_and_stumps_end() {
        assert_eq!(read(&config(&[(0x34, &[0x40]), (0x40, &[1, 0x40])])), None);
        assert_eq!(read(&config(&[(0x34, &[0xfc]), (0xfc, &[0x10, 0, 0x42])])), None);
        assert_eq!(read(&config(&[])[..PUBLIC]), None);
        assert_eq!(read(&[]), None);
    }
}
