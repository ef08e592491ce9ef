//! LUKS2 and plain dm-crypt.

use terms::account::Purpose;
use terms::layer::{Crypt, Luks, LuksIntegrity};

use crate::integrity::Format;
use crate::place::{Laid, Place, SECTOR, Uses, down};

/// Bytes of a LUKS2 header: two copies of 16 KiB of metadata and the area of key slots (cryptsetup 2.6,
/// `LUKS2_DEFAULT_HDR_SIZE`).
pub(crate) const HEADER: u64 = 16 << 20;
/// Bytes of an HMAC-SHA-256.
pub(crate) const HMAC: u64 = 32;

/// The mapping of a LUKS2 device.
pub(crate) fn lay(luks: &Luks, below: &Place) -> Option<Laid> {
    let room = below.size.checked_sub(HEADER).filter(|room| *room > 0)?;
    let sector = luks.sector.map_or(below.lba.max(SECTOR), |sector| sector.0);
    match luks.integrity {
        None => {
            let place = above(below, down(room, SECTOR), sector);
            Some(Laid::device(place, Uses::none().and(Purpose::Header, HEADER)))
        }
        Some(LuksIntegrity::HmacSha256) => {
            let split = Format { tag: HMAC, sector }.split(below.size, HEADER)?;
            let place = above(below, split.data, sector);
            Some(Laid::device(place, split.uses().and(Purpose::Header, HEADER)))
        }
    }
}

/// A mapping without LUKS: as long as the device less the headers of its format, cut to whole encryption sectors.
pub(crate) fn lay_plain(crypt: &Crypt, below: &Place) -> Laid {
    let sector = crypt.sector.0;
    let data = down(below.size.saturating_sub(crypt.format.reserved().0), sector);
    let uses = Uses::none().and(Purpose::Header, crypt.format.reserved().0);
    Laid::device(above(below, data, sector), uses)
}

fn above(below: &Place, size: u64, sector: u64) -> Place {
    Place { size, lba: below.lba.max(sector), drive: false, ..*below }
}
