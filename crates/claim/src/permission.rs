//! Permission to use a drive, and the lock that keeps it worth something.

use host::{Hold, Host};

use crate::consent::Consent;
use crate::error::{ClaimError, Refusal};
use crate::examination::{Class, Examination, Objection};
use crate::examine;
use crate::identity::Identity;
use crate::ours::Ours;

/// A person named this drive in this invocation, and nothing was found that speaks against using it but what the person
/// agreed to lose. There is no other way to make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    identity: Identity,
    /// May what is on it go? Used up by the erasing.
    erases: bool,
    accepted: Vec<Objection>,
}

/// Takes the lock on a drive for taking back what a run made. With it nothing on the drive may be touched yet: whoever
/// does says by [`LockedDrive::look`] what is the run's, and what else is found is refused unless `consent` has the
/// drive erased, and it was found by the examination, which that person saw.
///
/// # Errors
/// [`ClaimError::Locked`], [`ClaimError::Moved`].
pub fn reclaim<'h>(
    host: &'h dyn Host,
    examination: Examination,
    consent: &Consent,
) -> Result<LockedDrive<'h>, ClaimError> {
    let erases = consent.erases(&examination.identity);
    let accepted = if erases { examination.of(Class::Holds).cloned().collect() } else { Vec::new() };
    Permission { identity: examination.identity, erases, accepted }.lock(host, false)
}

impl Permission {
    /// Permits what was examined, named, and found free or agreed to be lost.
    ///
    /// # Errors
    /// [`ClaimError::NotConsented`], [`ClaimError::Refused`] with everything that was found.
    pub fn grant(examination: Examination, consent: &Consent) -> Result<Self, ClaimError> {
        consent.check(&examination.identity)?;
        let erases = consent.erases(&examination.identity);
        let accepted = accept(&examination, erases, &Ours::default())?;
        Ok(Self { identity: examination.identity, erases, accepted })
    }

    /// The drive.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What is on the drive and may go, as it was looked at last.
    #[must_use]
    pub fn accepted(&self) -> &[Objection] {
        &self.accepted
    }

    /// Takes a lock on the drive that other programs heed, and looks once more under it: whoever came between the
    /// examination and the lock is found. A person who agreed to lose what was found then did not agree to more.
    ///
    /// # Errors
    /// [`ClaimError::Locked`], [`ClaimError::Moved`], [`ClaimError::Refused`], [`ClaimError::Arrived`].
    pub fn hold(self, host: &dyn Host) -> Result<LockedDrive<'_>, ClaimError> {
        let mut held = self.lock(host, true)?;
        held.permission.accepted = held.confirm_content()?;
        Ok(held)
    }

    fn lock(self, host: &dyn Host, from_the_start: bool) -> Result<LockedDrive<'_>, ClaimError> {
        let mut held = LockedDrive { permission: self, host, holds: Vec::new(), from_the_start };
        held.take_locks()?;
        held.confirm()?;
        Ok(held)
    }
}

/// A permission with an exclusive BSD lock on the drive, until it is dropped.
pub struct LockedDrive<'h> {
    permission: Permission,
    host: &'h dyn Host,
    /// Of the whole drive too, where a partition of it was named: that is the one that udev and others heed
    /// (systemd, docs/BLOCK_DEVICE_LOCKING.md).
    holds: Vec<Hold>,
    /// Was it taken before anything was made on the drive?
    from_the_start: bool,
}

impl LockedDrive<'_> {
    fn take_locks(&mut self) -> Result<(), ClaimError> {
        let identity = self.identity().clone();
        let whole = identity.part.as_ref().map(|part| (&part.drive, part.drive_devno));
        for (node, devno) in whole.into_iter().chain([(&identity.node, identity.devno)]) {
            let drive = identity.describe();
            let Some(hold) = self.host.hold(node)? else {
                return Err(ClaimError::Locked { drive, devno: devno.to_string(), node: node.clone() });
            };
            self.holds.push(hold);
            if devno != hold.devno {
                let changes = vec![format!("`{node}` was device {devno} and is {}", hold.devno)];
                return Err(ClaimError::Moved { drive, changes });
            }
        }
        Ok(())
    }

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
        crate::resolve::confirm(self.host, self.identity())
    }

    /// Is nothing on the drive but what a person agreed to lose? Looks for everything once more, data without a signature too, and
    /// gives what was found.
    ///
    /// # Errors
    /// [`ClaimError::Refused`], [`ClaimError::Arrived`].
    pub fn confirm_content(&self) -> Result<Vec<Objection>, ClaimError> {
        let examination = examine::examine_unlocked(self.host, self.identity())?;
        let found = accept(&examination, self.permission.erases, &Ours::default())?;
        self.agreed(found, |agreed, found| agreed == found)
    }

    /// Refuses what is not among the things that a person agreed to lose.
    fn agreed(
        &self,
        found: Vec<Objection>,
        is_same: fn(&Objection, &Objection) -> bool,
    ) -> Result<Vec<Objection>, ClaimError> {
        let is_new = |found: &&Objection| !self.permission.accepted.iter().any(|agreed| is_same(found, agreed));
        let findings: Vec<Objection> = found.iter().filter(is_new).cloned().collect();
        if findings.is_empty() {
            return Ok(found);
        }
        Err(ClaimError::Arrived { drive: self.identity().describe(), findings })
    }

    /// Is the drive still free, or free again? Data without a signature is not looked for: what was written since the
    /// lock was taken is ours.
    ///
    /// # Errors
    /// [`ClaimError::Refused`] with everything that was found.
    pub fn recheck(&self) -> Result<(), ClaimError> {
        self.look(&Ours::default()).map(drop)
    }

    /// Is what is on the drive what a run made, and nothing else but what a person agreed to lose? Gives what was found.
    ///
    /// # Errors
    /// As [`LockedDrive::recheck`], and [`ClaimError::Arrived`].
    pub fn look(&self, ours: &Ours) -> Result<Examination, ClaimError> {
        let examination = examine::examine_held(self.host, self.identity())?;
        self.agreed(accept(&examination, self.permission.erases, ours)?, Objection::is)?;
        Ok(examination)
    }

    /// Is there no signature on the drive, whatever a person agreed to?
    ///
    /// # Errors
    /// As [`LockedDrive::recheck`].
    pub fn prove_blank(&self) -> Result<(), ClaimError> {
        let examination = examine::examine_held(self.host, self.identity())?;
        accept(&examination, false, &Ours::default()).map(drop)
    }

    /// Was the lock taken before the run made anything on the drive, and kept?
    #[must_use]
    pub const fn is_from_the_start(&self) -> bool {
        self.from_the_start
    }

    /// Is there nothing on the drive, data without a signature included? What was written under a lock that was kept is
    /// the run's.
    ///
    /// # Errors
    /// As [`LockedDrive::recheck`].
    pub fn prove_empty(&self) -> Result<(), ClaimError> {
        if self.from_the_start {
            return self.recheck();
        }
        let examination = examine::examine_unlocked(self.host, self.identity())?;
        accept(&examination, self.permission.erases, &Ours::default()).map(drop)
    }

    /// May what is on the drive go, whatever it is?
    #[must_use]
    pub const fn may_erase(&self) -> bool {
        self.permission.erases
    }

    /// The consent to lose what is on the drive, which is given for one erasing. `false` where there was none, or it was
    /// used already.
    pub fn use_up_consent(&mut self) -> bool {
        self.permission.accepted.clear();
        std::mem::take(&mut self.permission.erases)
    }

    /// The machine that the drive is on.
    #[must_use]
    pub fn host(&self) -> &dyn Host {
        self.host
    }
}

impl Drop for LockedDrive<'_> {
    fn drop(&mut self) {
        // A machine that is gone holds nothing any more.
        for hold in &self.holds {
            let _ = self.host.release(hold.id);
        }
    }
}

/// What of an examination is accepted; all that is not is refused at once.
fn accept(examination: &Examination, erases: bool, ours: &Ours) -> Result<Vec<Objection>, ClaimError> {
    let is_accepted = |finding: &&Objection| erases && finding.class == Class::Holds;
    let (accepted, refused): (Vec<&Objection>, Vec<&Objection>) =
        ours.strange(examination).into_iter().partition(is_accepted);
    if refused.is_empty() {
        return Ok(accepted.into_iter().cloned().collect());
    }
    // With what may be lost: a person who fixes one thing should not learn of the next one only then.
    Err(Box::new(Refusal::of(examination)).into())
}
