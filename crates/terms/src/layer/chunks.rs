//! Where btrfs puts the chunks of its profiles.

use super::BtrfsProfile;

const GIB: u64 = 1 << 30;
/// Bytes of stripes within a chunk (`BTRFS_STRIPE_LEN`).
pub const STRIPE: u64 = 64 << 10;
/// Chunks are at most a tenth of the file system (kernel, `btrfs_create_chunk`).
const CHUNK_SHARE: u64 = 10;
/// A stripe is counted as at least this part of the file system, so that many large devices take no longer than few. What
/// is left over for want of a second device is off by one stripe at most.
const STEPS: u64 = 4096;

/// How a chunk of a profile lies on devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkShape {
    /// Stripes on each device.
    pub on_each: u64,
    /// Devices of a chunk: at least…
    pub least: u64,
    /// …and at most…
    pub most: u64,
    /// …and a multiple of this.
    pub step: u64,
}

impl ChunkShape {
    /// Devices of a chunk where so many have room.
    #[must_use]
    pub fn devices(&self, with_room: u64) -> u64 {
        let most = with_room.min(self.most);
        most - most % self.step
    }
}

impl BtrfsProfile {
    /// Copies of each block.
    #[must_use]
    pub const fn copies(self) -> u64 {
        match self {
            Self::Single | Self::Raid0 => 1,
            Self::Dup | Self::Raid1 | Self::Raid10 => 2,
        }
    }

    /// How its chunks lie on devices (kernel, fs/btrfs/volumes.c, `btrfs_raid_array`; since Linux 5.15 a stripe over one
    /// device and striped mirrors over two or three are allowed).
    #[must_use]
    pub const fn shape(self) -> ChunkShape {
        let (on_each, least, most, step) = match self {
            Self::Single => (1, 1, 1, 1),
            Self::Dup => (2, 1, 1, 1),
            Self::Raid1 => (1, 2, 2, 2),
            Self::Raid0 => (1, 1, u64::MAX, 1),
            Self::Raid10 => (1, 2, u64::MAX, 2),
        };
        ChunkShape { on_each, least, most, step }
    }

    /// Stripes of data side by side in a chunk where so many devices have room. Striped mirrors over two or three devices
    /// have one: each chunk is a mirror of two.
    #[must_use]
    pub fn abreast(self, with_room: u64) -> u64 {
        match self {
            Self::Raid0 | Self::Raid10 => (self.shape().devices(with_room) / self.copies()).max(1),
            Self::Single | Self::Dup | Self::Raid1 => 1,
        }
    }

    /// Bytes that chunks take of devices with so many free, of a file system of so many in all: each chunk on those with the
    /// most room, in stripes of 1 GiB or of what the fullest of them has left, until too few have any (kernel,
    /// fs/btrfs/volumes.c, `btrfs_create_chunk`).
    #[must_use]
    pub fn taken(self, free: &[u64], raw: u64) -> Vec<u64> {
        let shape = self.shape();
        let stripe = GIB.min(raw / CHUNK_SHARE).max(raw / STEPS).max(STRIPE);
        let mut room: Vec<(usize, u64)> = free.iter().copied().enumerate().collect();
        let mut taken = vec![0; free.len()];
        loop {
            room.retain(|(_, free)| *free >= STRIPE * shape.on_each);
            room.sort_by_key(|(at, free)| (std::cmp::Reverse(*free), *at));
            let devices = shape.devices(room.len() as u64);
            let chosen = usize::try_from(devices).unwrap_or(room.len());
            let Some((_, fullest)) = room[..chosen].last().filter(|_| devices >= shape.least) else { return taken };
            let each = (fullest / shape.on_each).min(stripe) / STRIPE * STRIPE * shape.on_each;
            for (at, free) in &mut room[..chosen] {
                *free -= each;
                taken[*at] += each;
            }
        }
    }
}
