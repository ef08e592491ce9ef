//! A device on the way up: how large it is, and what of its geometry the next layer looks at.

use terms::account::{Exactness, LayerAccount, Purpose, Use};
use terms::{Bytes, Name};

use crate::{CapacityError, SizeBounds};

/// The kernel's sector, in bytes, whatever the drive's own block is (include/linux/blk_types.h, `SECTOR_SHIFT`).
pub(crate) const SECTOR: u64 = 512;

/// A block device that the next layer can rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its size, in bytes.
    pub(crate) size: u64,
    /// What is certain of its size: thin volumes are made no larger than that.
    pub(crate) bounds: SizeBounds,
    /// Its logical block, in bytes.
    pub(crate) lba: u64,
    /// Striping beneath that file systems are told of.
    pub(crate) stripe: Option<Stripe>,
    /// `queue/optimal_io_size`, in bytes; 0 where none is told.
    pub(crate) optimal: u64,
    /// Is it a whole drive? ZFS gets a partition of one.
    pub(crate) drive: bool,
}

/// What is certain of the sizes of members.
pub(crate) fn bounds(members: &[Place]) -> Vec<SizeBounds> {
    members.iter().map(|member| member.bounds).collect()
}

/// How consecutive bytes are dealt out, as the planner tells it to file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stripe {
    /// Consecutive bytes on one member.
    pub(crate) unit: u64,
    /// Members' worth of data in a full stripe.
    pub(crate) data: u64,
}

impl Stripe {
    /// A stripe, if it is one: of two or more units.
    pub(crate) fn new(unit: u64, data: u64) -> Option<Self> {
        (data > 1 && unit > 0).then_some(Self { unit, data })
    }
}

/// What a layer made of what is below.
pub(crate) struct Laid {
    /// Size of the device, or of the file system as `df` shows it.
    pub(crate) total: u64,
    /// What can be written; of a device the same.
    pub(crate) above: u64,
    /// What `df` says instead, where that is something else.
    pub(crate) shown: Option<u64>,
    /// The device, where it is one.
    pub(crate) place: Option<Place>,
    /// Where the difference went.
    pub(crate) uses: Uses,
    /// How far this is to be believed.
    pub(crate) exactness: Exactness,
}

impl Laid {
    /// A block device, exact to the byte.
    pub(crate) fn device(place: Place, uses: Uses) -> Self {
        let (total, above) = (place.size, place.size);
        Self { total, above, shown: None, place: Some(place), uses, exactness: Exactness::Byte }
    }

    /// A file system.
    pub(crate) fn files(total: u64, available: u64, uses: Uses) -> Self {
        Self { total, above: available, shown: None, place: None, uses, exactness: Exactness::Thousandth }
    }

    /// The entry for the account. What no use claims is left over from rounding; using more than there is, is an error.
    pub(crate) fn entry(&self, layer: &Name, title: String, below: u64) -> Result<LayerAccount, CapacityError> {
        let claimed = self.uses.sum() + self.above;
        let rest = below.checked_sub(claimed).ok_or_else(|| CapacityError::too_small(layer, below))?;
        let uses = self.uses.clone().and(Purpose::Rounding, rest);
        let (below, above) = (Bytes(below), Bytes(self.above));
        Ok(LayerAccount { layer: layer.clone(), title, below, above, uses: uses.0, exactness: self.exactness })
    }
}

/// What a layer keeps, each purpose once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses(Vec<Use>);

impl Uses {
    /// None yet.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// All of them together.
    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|used| used.bytes.0).sum()
    }

    /// With the uses of another, too.
    pub(crate) fn merge(self, other: Self) -> Self {
        other.0.into_iter().fold(self, |uses, used| uses.and(used.purpose, used.bytes.0))
    }

    /// These bytes more; nothing where there are none.
    pub(crate) fn and(mut self, purpose: Purpose, bytes: u64) -> Self {
        if bytes == 0 {
            return self;
        }
        match self.0.iter_mut().find(|used| used.purpose == purpose) {
            Some(used) => used.bytes.0 += bytes,
            None => self.0.push(Use { purpose, bytes: Bytes(bytes) }),
        }
        self
    }
}

/// All members together.
pub(crate) fn total(members: &[Place]) -> u64 {
    members.iter().map(|member| member.size).sum()
}

/// The largest logical block: stacking block devices takes the largest.
pub(crate) fn largest_lba(members: &[Place]) -> u64 {
    members.iter().map(|member| member.lba).max().unwrap_or(SECTOR)
}

/// `optimal_io_size` of members stacked: their least common multiple (block/blk-settings.c, `blk_stack_limits`).
pub(crate) fn stacked_optimal(members: &[Place]) -> u64 {
    members.iter().map(|member| member.optimal).filter(|optimal| *optimal > 0).reduce(common_multiple).unwrap_or(0)
}

pub(crate) fn common_multiple(a: u64, b: u64) -> u64 {
    let (mut high, mut low) = (a, b);
    while low > 0 {
        (high, low) = (low, high % low);
    }
    a.checked_div(high).map_or(0, |share| share * b)
}

/// Rounded down to a multiple.
pub(crate) const fn down(value: u64, to: u64) -> u64 {
    if to == 0 { value } else { value - value % to }
}
