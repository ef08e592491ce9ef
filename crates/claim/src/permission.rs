//! Permission to use a drive, and the lock that keeps it worth something.

use host::{Hold, Host};

use crate::consent::Consent;
use crate::error::{ClaimError, Refusal};
use crate::examination::{Class, Examination, Finding};
use crate::examine;
use crate::identity::{self, Identity};

/// A person named this drive in this invocation, and nothing was found that speaks against using it but what the person
/// agreed to lose. There is no other way to make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    identity: Identity,
    erases: bool,
    accepted: Vec<Finding>,
}

impl Permission {
    /// Permits what was examined, named, and found free or agreed to be lost.
    ///
    /// # Errors
    /// [`ClaimError::NotConsented`], [`ClaimError::Refused`] with everything that was found.
    pub fn grant(examination: Examination, consent: &Consent) -> Result<Self, ClaimError> {
        consent.check(&examination.identity)?;
        let erases = consent.erases(&examination.identity);
        let accepted = accept(&examination, erases)?;
        Ok(Self { identity: examination.identity, erases, accepted })
    }

    /// The drive.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What is on the drive and may go.
    #[must_use]
    pub fn accepted(&self) -> &[Finding] {
        &self.accepted
    }

    /// Takes a lock on the drive that other programs heed, and looks once more under it: whoever came between the
    /// examination and the lock is found.
    ///
    /// # Errors
    /// [`ClaimError::Locked`], [`ClaimError::Moved`], [`ClaimError::Refused`].
    pub fn hold(self, host: &dyn Host) -> Result<Held<'_>, ClaimError> {
        let Some(hold) = host.hold(&self.identity.node)? else {
            let Identity { devno, node, .. } = &self.identity;
            let drive = self.identity.describe();
            return Err(ClaimError::Locked { drive, devno: devno.to_string(), node: node.clone() });
        };
        let held = Held { permission: self, host, hold };
        let Identity { devno, node, .. } = held.identity();
        if (devno.major, devno.minor) != (hold.major, hold.minor) {
            let changes = vec![format!("`{node}` was device {devno} and is {}:{}", hold.major, hold.minor)];
            return Err(ClaimError::Moved { drive: held.identity().describe(), changes });
        }
        held.confirm()?;
        held.recheck()?;
        Ok(held)
    }
}

/// A permission with an exclusive BSD lock on the drive, until it is dropped.
pub struct Held<'h> {
    permission: Permission,
    host: &'h dyn Host,
    hold: Hold,
}

impl Held<'_> {
    /// The drive.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.permission.identity
    }

    /// What it is permitted by.
    #[must_use]
    pub const fn permission(&self) -> &Permission {
        &self.permission
    }

    /// Is it still the same drive? To be asked before every step that destroys something.
    ///
    /// # Errors
    /// As [`confirm`](crate::confirm).
    pub fn confirm(&self) -> Result<(), ClaimError> {
        identity::confirm(self.host, self.identity())
    }

    /// Is the drive still free, or free again? Data without a signature is not looked for: what was written since the
    /// lock was taken is ours.
    ///
    /// # Errors
    /// [`ClaimError::Refused`] with everything that was found.
    pub fn recheck(&self) -> Result<(), ClaimError> {
        let examination = examine::examine_held(self.host, self.identity())?;
        accept(&examination, self.permission.erases).map(drop)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // A machine that is gone holds nothing any more.
        let _ = self.host.release(self.hold.id);
    }
}

/// What of an examination is accepted; all that is not is refused at once.
fn accept(examination: &Examination, erases: bool) -> Result<Vec<Finding>, ClaimError> {
    let is_accepted = |finding: &&Finding| erases && finding.class == Class::Holds;
    let (accepted, refused): (Vec<&Finding>, Vec<&Finding>) = examination.findings.iter().partition(is_accepted);
    if refused.is_empty() {
        return Ok(accepted.into_iter().cloned().collect());
    }
    // With what may be lost: a person who mends one thing should not learn of the next one only then.
    let identity = &examination.identity;
    let findings = examination.findings.clone();
    Err(Box::new(Refusal { drive: identity.describe(), id: identity.id.clone(), findings }).into())
}
