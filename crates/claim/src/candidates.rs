//! The drives of a machine as somebody may name them, each with what speaks against using it.

use host::{Host, HostError, inspect};
use terms::Drive;

use crate::by_id;
use crate::error::{ClaimError, Refusal};
use crate::examination::{Class, Examination};
use crate::examine::examine_with;
use crate::resolve::resolve_among;
use crate::survey::Survey;

/// A drive that is there.
#[derive(Debug)]
pub struct Candidate {
    /// A name that goes with it; `None` where it tells none.
    pub id: Option<String>,
    /// What it says of itself.
    pub drive: Drive,
    /// What was found on it and around it, or why its name means no one drive.
    pub found: Result<Examination, ClaimError>,
}

impl Candidate {
    /// May it be named: is it free, or does it only hold what somebody may agree to lose?
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.found.as_ref().is_ok_and(|found| found.gravest().is_none_or(|class| class == Class::Holds))
    }

    /// In a few words: `free`, or the gravest thing that was found.
    #[must_use]
    pub fn status(&self) -> String {
        match &self.found {
            Ok(found) => {
                found.findings.first().map_or_else(|| "free".to_owned(), |one| format!("{}: {}", one.class, one.what))
            }
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// All drives of a machine, those that may be named first.
///
/// # Errors
/// Where the machine is lost.
pub fn candidates(host: &dyn Host) -> Result<Vec<Candidate>, HostError> {
    let (drives, survey) = (inspect::drives(host)?, Survey::read(host)?);
    let mut all = Vec::new();
    for drive in drives.clone() {
        let id = id_of(&drive);
        let named = id.clone().unwrap_or_else(|| drive.node());
        let found = match resolve_among(host, &named, &drives) {
            Ok(identity) => Ok(examine_with(host, &survey, &identity)?),
            Err(ClaimError::Host(error)) => return Err(error),
            Err(error) => Err(error),
        };
        all.push(Candidate { id, drive, found });
    }
    all.sort_by_key(|candidate| (!candidate.is_offered(), candidate.drive.kernel_name.clone()));
    Ok(all)
}

/// What to do on a machine about what is up there under names that runs give, drive by drive: for a run whose directory is gone.
///
/// # Errors
/// Where the machine is lost.
pub fn left_by_runs(host: &dyn Host) -> Result<Vec<String>, HostError> {
    let found = candidates(host)?.into_iter().filter_map(|of| of.found.ok());
    let line = |of: Examination| Some(format!("on {}, {}", of.identity.describe(), Refusal::of(&of).left_by_a_run()?));
    Ok(found.filter_map(line).collect())
}

/// The name of a whole drive that goes with it, if it tells one: as under `/dev/disk/by-id`, else its serial number.
#[must_use]
pub fn id_of(drive: &Drive) -> Option<String> {
    let serial = || drive.serial.as_deref().map(|serial| format!("serial={serial}"));
    by_id::names(drive).into_iter().next().or_else(serial)
}
