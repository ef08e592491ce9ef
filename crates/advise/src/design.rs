//! A design: what is chosen on the way from drives to files. Small and copied freely, because a search makes millions.

use terms::Bytes;
use terms::layer::{BtrfsChecksum, BtrfsProfile, IntegrityMode, RaidLevel, Volume, ZfsCompression, ZfsLayout};

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Drives, the first so many of the given.
    pub members: usize,
    /// On each drive.
    pub under: Under,
    /// What makes one of several.
    pub joint: Joint,
    /// Encryption of the whole.
    pub over: Option<Cipher>,
    /// The volume on it.
    pub volume: Option<Logical>,
    /// The file system, where the joint is none itself.
    pub files: Option<Files>,
}

/// What is on each drive, below what joins them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Under {
    /// Nothing.
    Nothing,
    /// Checksums, by the kernel's dm-integrity.
    Integrity(IntegrityMode, Bytes),
    /// Encryption.
    Luks(Cipher),
    /// Encryption that authenticates every sector.
    Sealed(Bytes),
}

/// How sectors are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cipher {
    /// Sector.
    pub sector: Bytes,
    /// In the context of the caller rather than in workers?
    pub inline: bool,
}

/// What makes one device or one file system of several drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Joint {
    /// There is one drive.
    Alone,
    /// mdraid.
    Md {
        /// Level.
        level: RaidLevel,
        /// Chunk; RAID-1 has none.
        chunk: Option<Bytes>,
    },
    /// A volume group.
    Lvm {
        /// Kind of volume.
        volume: Volume,
        /// Stripe, where it has one.
        stripe: Option<Bytes>,
        /// Checksums under each leg, and their block.
        integrity: Option<(IntegrityMode, Bytes)>,
    },
    /// btrfs.
    Btrfs {
        /// Profile of data.
        data: BtrfsProfile,
        /// Profile of metadata.
        metadata: BtrfsProfile,
        /// Checksum.
        checksum: BtrfsChecksum,
    },
    /// ZFS.
    Zfs {
        /// Layout.
        layout: ZfsLayout,
        /// Record size.
        record: Bytes,
        /// Compression.
        compression: ZfsCompression,
    },
}

/// A logical volume on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Logical {
    /// All of it.
    Linear,
    /// Thin, in a pool of this chunk.
    Thin(Bytes),
}

/// A file system on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Files {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// btrfs, with its checksum.
    Btrfs(BtrfsChecksum),
}

impl Under {
    /// Can all be read after a power cut? dm-integrity without a journal or a bitmap leaves sectors whose checksums are wrong,
    /// on all members alike (integritysetup(8), `--integrity-no-journal`). That is no layout to advise, however fast.
    #[must_use]
    pub const fn survives_power_cut(&self) -> bool {
        !matches!(self, Self::Integrity(IntegrityMode::NoJournal, _))
    }
}

impl Layout {
    /// Is nothing readable on a drive that is stolen?
    #[must_use]
    pub const fn is_encrypted(&self) -> bool {
        self.over.is_some() || matches!(self.under, Under::Luks(_) | Under::Sealed(_))
    }

    /// Can the state of a moment be kept beside what is written later?
    #[must_use]
    pub const fn has_snapshots(&self) -> bool {
        let copies = matches!(self.joint, Joint::Zfs { .. } | Joint::Btrfs { .. });
        copies || matches!(self.files, Some(Files::Btrfs(_))) || matches!(self.volume, Some(Logical::Thin(_)))
    }

    /// How many drives may fail, whichever they are.
    #[must_use]
    pub const fn survives(&self) -> usize {
        match self.joint {
            Joint::Alone => 0,
            Joint::Md { level, .. } => match level {
                RaidLevel::Raid0 => 0,
                RaidLevel::Raid1 => self.members - 1,
                RaidLevel::Raid10 | RaidLevel::Raid5 => 1,
                RaidLevel::Raid6 => 2,
            },
            Joint::Lvm { volume, .. } => match volume {
                Volume::Linear | Volume::Striped => 0,
                Volume::Raid1 => self.members - 1,
                Volume::Raid10 | Volume::Raid5 => 1,
                Volume::Raid6 => 2,
            },
            Joint::Btrfs { data, .. } => match data {
                BtrfsProfile::Raid1 | BtrfsProfile::Raid10 => 1,
                BtrfsProfile::Single | BtrfsProfile::Dup | BtrfsProfile::Raid0 => 0,
            },
            Joint::Zfs { layout, .. } => layout.survives(self.members),
        }
    }

    /// Is wrong data that a drive returns as right noticed and put right?
    #[must_use]
    pub const fn repairs(&self) -> bool {
        let below = matches!(self.under, Under::Integrity(..) | Under::Sealed(_));
        let own = match self.joint {
            Joint::Alone | Joint::Md { .. } => false,
            Joint::Lvm { integrity, .. } => integrity.is_some(),
            Joint::Btrfs { .. } | Joint::Zfs { .. } => true,
        };
        // Two copies on one drive are copies all the same.
        let copies = matches!(self.joint, Joint::Btrfs { data: BtrfsProfile::Dup, .. });
        (below || own) && (self.survives() > 0 || copies)
    }

    /// How much there is to build and to understand: layers, then choices that nobody's defaults make.
    #[must_use]
    pub fn burden(&self) -> u32 {
        let layers = u32::from(self.under != Under::Nothing)
            + u32::from(!matches!(self.joint, Joint::Alone))
            + u32::from(self.over.is_some())
            + u32::from(self.volume.is_some())
            + u32::from(self.files.is_some());
        layers * 10 + self.odd_choices()
    }

    fn odd_choices(&self) -> u32 {
        let of_cipher = |cipher: Cipher| u32::from(cipher.inline) + u32::from(cipher.sector != Bytes::kib(4));
        let under = match self.under {
            Under::Nothing => 0,
            Under::Integrity(mode, sector) => {
                u32::from(mode != IntegrityMode::Journal) + u32::from(sector != Bytes::kib(4))
            }
            Under::Luks(cipher) => of_cipher(cipher),
            Under::Sealed(sector) => 1 + u32::from(sector != Bytes::kib(4)),
        };
        let joint = match self.joint {
            Joint::Alone => 0,
            Joint::Md { chunk, .. } => u32::from(chunk.is_some_and(|chunk| chunk != Bytes::kib(512))),
            Joint::Lvm { stripe, integrity, .. } => {
                let usual = stripe.is_none_or(|stripe| stripe == Bytes::kib(64));
                u32::from(!usual) + integrity.map_or(0, |(mode, _)| u32::from(mode != IntegrityMode::Journal))
            }
            Joint::Btrfs { checksum, .. } => u32::from(checksum != BtrfsChecksum::Crc32c),
            Joint::Zfs { record, compression, .. } => {
                u32::from(record != Bytes::kib(128)) + u32::from(compression == ZfsCompression::Zstd)
            }
        };
        let files = u32::from(matches!(self.files, Some(Files::Btrfs(sum)) if sum != BtrfsChecksum::Crc32c));
        let pool = u32::from(matches!(self.volume, Some(Logical::Thin(chunk)) if chunk != Bytes::kib(64)));
        under + joint + self.over.map_or(0, of_cipher) + files + pool
    }
}
