//! What links carry: PCIe in each direction, and network ports.

use terms::inventory::{LEAST_PAYLOAD, Link};
use terms::prediction::Source;
use terms::{Bytes, BytesPerSecond};

use crate::parameter::{ACKNOWLEDGED, COMPLETION, COMPLETION_OF_FAST, COMPLETION_OVERHEAD, FAST, Unit};
use crate::parameters::Value;

/// A direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the processor: reads.
    Up,
    /// From it: writes.
    Down,
}

/// Payload that is taken where none is known: what most roots of Intel and many of AMD grant.
pub(crate) const USUAL_PAYLOAD: Bytes = Bytes(256);
/// How far a link may be off whose payload was told, and one whose payload is guessed (128 against 512 bytes: 13 %).
const TOLD: f64 = 0.01;
const GUESSED: f64 = 0.04;
/// Bytes of a packet of RDMA over Ethernet besides its payload: Ethernet 38, IP 20, UDP 8, transport 12, checksum 4.
const ROCE_OVERHEAD: f64 = 82.0;

/// A PCIe link in one direction; `usual` is its payload where none is told. Links of generation 6 are taken for twice those of generation 5 of the same width.
pub(crate) fn pcie(name: &str, link: Link, payload: Option<Bytes>, usual: Bytes, way: Direction) -> Value {
    let size = payload.unwrap_or(usual).max(LEAST_PAYLOAD);
    let raw = link.raw().map_or(f64::from(link.speed) * 1e6 / 8.0 * f64::from(link.lanes), |rate| rate.0);
    let (share, word, arithmetic) = match way {
        Direction::Up => {
            let size = size.as_f64();
            let share = size / (size + 24.0);
            (share, "to the processor", format!("{size}/({size} + 24)"))
        }
        Direction::Down => {
            let size = size.as_f64().min(if link.speed < FAST { COMPLETION } else { COMPLETION_OF_FAST });
            let share = size / (size + COMPLETION_OVERHEAD) * ACKNOWLEDGED;
            (share, "from the processor", format!("{size}/({size} + {COMPLETION_OVERHEAD}) × (1 - 8/214)"))
        }
    };
    let known = if payload.is_some() { "payload told" } else { "payload guessed" };
    Value {
        name: format!("link of {name} {word}"),
        unit: Unit::Rate,
        value: 1.0 / (raw * share),
        sigma: if payload.is_some() { TOLD } else { GUESSED },
        source: if payload.is_some() { Source::Told } else { Source::Guessed },
        origin: format!("{link}: {:.3} GB/s × {arithmetic}; {known}", raw / 1e9),
    }
}

/// A network port in each direction.
pub(crate) fn network(name: &str, line: BytesPerSecond, payload: Bytes) -> Value {
    let size = payload.as_f64();
    Value {
        name: format!("port {name}"),
        unit: Unit::Rate,
        value: (size + ROCE_OVERHEAD) / size / line.0,
        sigma: 0.1,
        source: Source::Told,
        origin: format!("{:.2} GB/s × {size}/({size} + {ROCE_OVERHEAD})", line.0 / 1e9),
    }
}
