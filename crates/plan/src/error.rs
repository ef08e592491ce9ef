//! Why a stack cannot be planned.

use terms::{Bytes, Name};

/// Why a stack cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is nothing to build.
    #[error("stack `{stack}` has no layers")]
    Empty {
        /// The stack's name.
        stack: String,
    },
    /// A directory that cannot stand in a plan.
    #[error("`{path}` cannot be planned with: it has to be absolute and without braces")]
    Directory {
        /// The path.
        path: String,
    },
    /// Two layers share a name.
    #[error("two layers are named `{layer}`")]
    Duplicate {
        /// The name.
        layer: Name,
    },
    /// Nothing is known of a drive.
    #[error("layer `{layer}` rests on drive `{drive}`, of which nothing is known")]
    UnknownDrive {
        /// The layer.
        layer: Name,
        /// The drive.
        drive: Name,
    },
    /// A layer rests on one that does not come before it.
    #[error("layer `{layer}` rests on `{below}`, which is not built before it")]
    UnknownLayer {
        /// The layer.
        layer: Name,
        /// What it names.
        below: Name,
    },
    /// Two layers, or one twice, claim the same device.
    #[error("layer `{layer}` rests on `{below}`, which is already in use")]
    UsedTwice {
        /// The layer that comes second.
        layer: Name,
        /// The device.
        below: Name,
    },
    /// A file system is not the last layer.
    #[error("layer `{layer}` is a file system, so nothing may follow it")]
    NotOnTop {
        /// The file system.
        layer: Name,
    },
    /// The number of devices does not fit the layer.
    #[error("layer `{layer}` ({title}) takes {wanted}, not {found}")]
    Members {
        /// The layer.
        layer: Name,
        /// What it is.
        title: String,
        /// How many it takes, in words.
        wanted: String,
        /// How many it was given.
        found: usize,
    },
    /// `assume-clean` on something whose size is not certain, so that zeroes cannot be proved.
    #[error(
        "layer `{layer}` may not assume that `{member}` is clean: its exact size is not known before it is built, so it cannot be proved to be all zeroes"
    )]
    UnknownSize {
        /// The array.
        layer: Name,
        /// The member.
        member: Name,
    },
    /// There is certainly not enough room.
    #[error("layer `{layer}` needs at least {needed} and gets at most {found}")]
    TooSmall {
        /// The layer.
        layer: Name,
        /// What it needs.
        needed: Bytes,
        /// What there can be at most.
        found: Bytes,
    },
    /// Options that the tools refuse together, or that would need force.
    #[error("layer `{layer}` cannot be built: {why}")]
    Impossible {
        /// The layer.
        layer: Name,
        /// Why not, in words.
        why: String,
    },
}

impl PlanError {
    /// Options that do not go together.
    pub(crate) fn impossible(layer: &Name, why: impl Into<String>) -> Self {
        Self::Impossible { layer: layer.clone(), why: why.into() }
    }
}
