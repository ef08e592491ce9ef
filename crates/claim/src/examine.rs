//! The look at a drive: everything that is asked, in one place.

use host::{Exclusivity, Host, HostError};

use crate::device::{self, Device};
use crate::examination::{Class, Examination, Finding};
use crate::identity::Identity;

/// Looks for everything that speaks against using a drive. Reads only.
///
/// # Errors
/// Where the machine is lost. Whatever else fails is a finding of [`Class::Unknown`].
pub fn examine(host: &dyn Host, identity: &Identity) -> Result<Examination, HostError> {
    look(host, identity, false)
}

/// The same for a drive that we hold: the lock is ours, and so is data without a signature.
pub(crate) fn examine_held(host: &dyn Host, identity: &Identity) -> Result<Examination, HostError> {
    look(host, identity, true)
}

fn look(host: &dyn Host, identity: &Identity, held: bool) -> Result<Examination, HostError> {
    let mut log = Log::new(&identity.node);
    if let Some(Some(device)) = log.proven("sysfs", Device::numbered(host, identity.devno))? {
        let free = log.proven("an exclusive open", host.open_exclusively(&device.node()))?;
        if free == Some(Exclusivity::Busy) {
            log.add(Class::InUse, "the kernel or a program has claimed it for itself alone (EBUSY)", "");
        }
        if !held {
            log.add(Class::Unknown, "signatures are not looked for yet", "");
        }
    } else {
        log.add(Class::Unfit, "it is no longer there", "");
    }
    log.findings.sort_by_key(|finding| finding.class);
    Ok(Examination { identity: identity.clone(), findings: log.findings })
}

/// Findings as they come, and doubts where a question could not be answered.
pub(crate) struct Log {
    node: String,
    pub(crate) findings: Vec<Finding>,
}

impl Log {
    pub(crate) fn new(node: &str) -> Self {
        Self { node: node.to_owned(), findings: Vec::new() }
    }

    pub(crate) fn add(&mut self, class: Class, what: impl Into<String>, hint: impl Into<String>) {
        self.findings.push(Finding::new(class, &self.node, what, hint));
    }

    /// The answer to a question; where there is none, that is what was found.
    pub(crate) fn proven<T>(&mut self, what: &str, answer: Result<T, HostError>) -> Result<Option<T>, HostError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if device::is_lost(&error) => Err(error),
            Err(error) => {
                self.add(Class::Unknown, format!("{what} could not be asked: {error}"), "");
                Ok(None)
            }
        }
    }
}
