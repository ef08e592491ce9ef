//! What a person agreed to in this invocation, drive by drive.

use host::Host;

use crate::error::ClaimError;
use crate::identity::Identity;
use crate::resolve::resolve;

/// Drives that a person named in this invocation, and those of them whose content may go. It is not stored anywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consent {
    named: Vec<Identity>,
    erased: Vec<Identity>,
}

impl Consent {
    /// Resolves the names that a person gave: `named` may be used if they are free, `erase` may be used even though they
    /// hold something. To erase is to use: a drive of `erase` need not be in `named`.
    ///
    /// # Errors
    /// As [`resolve`], for the first name that means no drive.
    pub fn given(host: &dyn Host, named: &[String], erase: &[String]) -> Result<Self, ClaimError> {
        let all = |ids: &[String]| ids.iter().map(|id| resolve(host, id)).collect::<Result<Vec<_>, _>>();
        Ok(Self { named: all(named)?, erased: all(erase)? })
    }

    /// May the content of this very device go?
    #[must_use]
    pub fn erases(&self, identity: &Identity) -> bool {
        self.erased.iter().any(|erased| erased.is_same_device(identity))
    }

    /// Is all that may go used? A drive that is to be erased and is not is a slip: another one is meant.
    ///
    /// # Errors
    /// [`ClaimError::NotUsed`] with the first that is not.
    pub fn erases_only(&self, used: &[&Identity]) -> Result<(), ClaimError> {
        let is_used = |erased: &&Identity| used.iter().any(|used| used.is_same_device(erased));
        match self.erased.iter().find(|erased| !is_used(erased)) {
            Some(erased) => Err(ClaimError::NotUsed { drive: erased.describe(), id: erased.id.clone() }),
            None => Ok(()),
        }
    }

    /// Was exactly this device named? A partition is not its drive, and a drive is not its partitions.
    pub(crate) fn check(&self, identity: &Identity) -> Result<(), ClaimError> {
        let mut named = self.named.iter().chain(&self.erased);
        if named.clone().any(|named| named.is_same_device(identity)) {
            return Ok(());
        }
        let why = match named.find(|named| named.drive_devno() == identity.drive_devno()) {
            Some(near) if near.part.is_some() && identity.part.is_none() => {
                format!("consent was given for a partition of it, `{}`, and not for the whole drive", near.id)
            }
            Some(near) if near.part.is_some() => format!("consent was given for another partition, `{}`", near.id),
            Some(near) => format!("consent was given for the whole drive, `{}`, and not for this partition", near.id),
            None => "a drive that a study names is not yet a drive that a person agreed to lose".to_owned(),
        };
        Err(ClaimError::NotConsented { drive: identity.describe(), why, id: identity.id.clone() })
    }
}
