//! Why there is no account of a stack.

use terms::{Bytes, Name};

/// Why there is no account of a stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// The size of a drive was not given.
    #[error("layer `{layer}` rests on drive `{drive}`, whose size is not known")]
    UnknownDrive {
        /// Who rests on it.
        layer: Name,
        /// The drive.
        drive: Name,
    },
    /// A layer rests on one that comes later, is a file system, or is not there.
    #[error("layer `{layer}` rests on `{below}`, which is no device below it")]
    UnknownLayer {
        /// Who rests on it.
        layer: Name,
        /// The other.
        below: Name,
    },
    /// Too few, or more than one where one is taken.
    #[error("layer `{layer}` rests on {found} devices, which it cannot")]
    Members {
        /// The layer.
        layer: Name,
        /// How many.
        found: usize,
    },
    /// Nothing would be left.
    #[error("layer `{layer}` does not fit the {found} below it")]
    TooSmall {
        /// The layer.
        layer: Name,
        /// All that it rests on.
        found: Bytes,
    },
    /// LVM makes no thin pool of that size with chunks as small.
    #[error("layer `{layer}` has `thin_chunk` too small for a pool of that size: LVM takes {least} or more")]
    ThinChunk {
        /// The layer.
        layer: Name,
        /// The smallest chunk.
        least: Bytes,
    },
    /// A stack without layers.
    #[error("stack `{stack}` has no layers")]
    Empty {
        /// Its name.
        stack: String,
    },
}

impl CapacityError {
    pub(crate) fn too_small(layer: &Name, found: u64) -> Self {
        Self::TooSmall { layer: layer.clone(), found: Bytes(found) }
    }
}
