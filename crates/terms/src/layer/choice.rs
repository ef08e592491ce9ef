//! What a study may choose of an array and of a mapping.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

words! {
    /// How an array with redundancy is while it is measured.
    #[derive(Default)]
    pub enum ArrayState {
        /// All members there and in step.
        #[default]
        Whole = "whole",
        /// The last member is gone.
        Degraded = "degraded",
        /// Members are being brought into step, all the time.
        #[serde(alias = "resyncing")]
        Resync = "resync",
    }
}

impl ArrayState {
    /// Is nothing missing and nothing out of step?
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

words! {
    /// What a [`Crypt`](super::Crypt) keeps on its device besides data.
    #[derive(Default)]
    pub enum CryptFormat {
        /// Nothing.
        #[default]
        Plain = "plain",
        /// Headers of TrueCrypt at both ends, which VeraCrypt opens up to 1.25.9.
        TrueCrypt = "truecrypt",
    }
}

impl CryptFormat {
    /// Is there no header?
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Bytes that are no data, at both ends together: a header of 64 KiB, one of a hidden volume, and a copy of both at
    /// the end (TrueCrypt 7.1a user's guide, "TrueCrypt Volume Format Specification").
    #[must_use]
    pub const fn reserved(self) -> Bytes {
        match self {
            Self::Plain => Bytes(0),
            Self::TrueCrypt => Bytes::kib(256),
        }
    }
}

/// Write-intent bitmap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bitmap {
    /// Kept on the members.
    Internal,
    /// None: a crash means a full resync.
    None,
}
