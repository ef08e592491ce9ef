//! Designs that one figure cannot distinguish share a form for it, so that the figure is computed once for all of them.
//!
//! For each figure the choices that do not enter into it are put to one value. A test holds the figures of likenesses
//! against those of the designs themselves.

use terms::Bytes;
use terms::layer::{BtrfsChecksum, IntegrityMode, ZfsCompression};

use crate::design::{Cipher, Files, Joint, Layout, Logical, Under};

/// Stands for every way of encrypting.
const USUAL: Cipher = Cipher { sector: Bytes::kib(4), inline: false };
/// Stands for every size of a sector, a block or a record.
const BLOCK: Bytes = Bytes::kib(4);
/// Stands for every size of a chunk or a stripe.
const CHUNK: Bytes = Bytes::kib(64);

/// Of room: flags, sectors of the encryption of the whole, compression and kinds
/// of checksum, for which btrfs keeps the same room whatever it is; and chunks and stripes, to which devices are rounded,
/// so that the room is off by a chunk.
pub(crate) fn of_room(design: &Layout) -> Layout {
    let under = match design.under {
        // Its sector is the block of what is above, which may have to be small.
        Under::Luks(cipher) => Under::Luks(Cipher { inline: false, ..cipher }),
        other => other,
    };
    let joint = match design.joint {
        Joint::Md { level, chunk } => Joint::Md { level, chunk: chunk.map(|_| Bytes::kib(512)) },
        Joint::Lvm { volume, stripe, integrity } => Joint::Lvm { volume, stripe: stripe.map(|_| CHUNK), integrity },
        Joint::Btrfs { data, metadata, .. } => Joint::Btrfs { data, metadata, checksum: BtrfsChecksum::Crc32c },
        Joint::Zfs { layout, .. } => Joint::Zfs { layout, record: Bytes::kib(128), compression: ZfsCompression::Off },
        Joint::Alone => Joint::Alone,
    };
    let files = design.files.map(|files| match files {
        Files::Btrfs(_) => Files::Btrfs(BtrfsChecksum::Crc32c),
        other => other,
    });
    Layout { under, joint, over: design.over.map(|_| USUAL), files, ..*design }
}

/// Of losses: only what is redundant, what checks, and what a rebuild has to read and to write.
pub(crate) fn of_loss(design: &Layout) -> Layout {
    // A journal makes rebuilds longer; other modes do not differ.
    let mode = |mode| if mode == IntegrityMode::Journal { mode } else { IntegrityMode::Bitmap };
    let under = match design.under {
        Under::Nothing | Under::Luks(_) => Under::Nothing,
        Under::Integrity(of, _) => Under::Integrity(mode(of), BLOCK),
        Under::Sealed(_) => Under::Sealed(BLOCK),
    };
    let joint = match of_room(design).joint {
        Joint::Lvm { volume, stripe, integrity } => {
            Joint::Lvm { volume, stripe, integrity: integrity.map(|(of, _)| (mode(of), BLOCK)) }
        }
        other => other,
    };
    Layout { under, joint, over: None, volume: None, files: design.files.map(written_alike), ..*design }
}

/// Of lives: what makes more bytes of those that are written, which chunks and records do.
pub(crate) fn of_life(design: &Layout) -> Layout {
    let under = match design.under {
        Under::Luks(_) => Under::Nothing,
        Under::Sealed(_) => Under::Sealed(BLOCK),
        other => other,
    };
    let joint = match design.joint {
        Joint::Btrfs { data, metadata, .. } => Joint::Btrfs { data, metadata, checksum: BtrfsChecksum::Crc32c },
        Joint::Zfs { layout, record, .. } => Joint::Zfs { layout, record, compression: ZfsCompression::Off },
        other => other,
    };
    Layout { under, joint, over: None, volume: None, files: design.files.map(written_alike), ..*design }
}

/// Of speed: ext4 and XFS take the same, as far as is known, and so do pools of any chunk and the two long checksums.
pub(crate) fn of_speed(design: &Layout) -> Layout {
    let checksum = |checksum| if checksum == BtrfsChecksum::Blake2 { BtrfsChecksum::Sha256 } else { checksum };
    let files = design.files.map(|files| match files {
        Files::Ext4 | Files::Xfs => Files::Xfs,
        Files::Btrfs(of) => Files::Btrfs(checksum(of)),
    });
    let volume = design.volume.map(|volume| match volume {
        Logical::Linear => Logical::Linear,
        Logical::Thin(_) => Logical::Thin(CHUNK),
    });
    Layout { volume, files, ..*design }
}

const fn written_alike(files: Files) -> Files {
    match files {
        Files::Ext4 | Files::Xfs => Files::Xfs,
        Files::Btrfs(_) => Files::Btrfs(BtrfsChecksum::Crc32c),
    }
}
