//! What a study may choose of an array and of a mapping.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// How an array with redundancy is while it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayState {
    /// All members there and in step.
    #[default]
    Whole,
    /// The last member is gone.
    Degraded,
    /// Members are being brought into step, all the time.
    #[serde(alias = "resyncing")]
    Resync,
}

impl ArrayState {
    /// As studies write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Degraded => "degraded",
            Self::Resync => "resync",
        }
    }

    /// Is nothing missing and nothing out of step?
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

/// What a [`Crypt`](super::Crypt) keeps on its device besides data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CryptFormat {
    /// Nothing.
    #[default]
    Plain,
    /// Headers of TrueCrypt, which VeraCrypt opens too, at both ends.
    #[serde(rename = "truecrypt")]
    TrueCrypt,
}

impl CryptFormat {
    /// As studies write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::TrueCrypt => "truecrypt",
        }
    }

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
