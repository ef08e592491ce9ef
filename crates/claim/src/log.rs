//! Findings as they come, and doubts where a question was not answered.

use host::HostError;

use crate::device::is_lost;
use crate::doubt::with_cause;
use crate::examination::{Class, Evidence, Objection};

/// Findings as they come.
pub(crate) struct Log {
    node: String,
    findings: Vec<Objection>,
}

impl Log {
    /// Begins with what is found on this node.
    pub(crate) fn new(node: &str) -> Self {
        Self { node: node.to_owned(), findings: Vec::new() }
    }

    /// What follows was found on this node.
    pub(crate) fn at(&mut self, node: &str) {
        node.clone_into(&mut self.node);
    }

    /// Writes down what was found. The same is not said twice.
    pub(crate) fn add(&mut self, class: Class, what: impl Into<String>, hint: impl Into<String>) {
        self.push(Objection::new(class, &self.node, what, hint));
    }

    /// The same with what it is made of.
    pub(crate) fn show(&mut self, class: Class, evidence: Evidence, what: impl Into<String>, hint: impl Into<String>) {
        self.push(Objection { evidence: Some(evidence), ..Objection::new(class, &self.node, what, hint) });
    }

    fn push(&mut self, finding: Objection) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Writes down that something is not known.
    pub(crate) fn unknown(&mut self, what: impl Into<String>) {
        self.add(Class::Unknown, what, "");
    }

    /// The answer to a question; where there is none, that is what was found.
    pub(crate) fn proven<T>(&mut self, what: &str, answer: Result<T, HostError>) -> Result<Option<T>, HostError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => {
                self.unknown(format!("{what} could not be asked: {}", with_cause(&error)));
                Ok(None)
            }
        }
    }

    /// Everything, the gravest first.
    pub(crate) fn findings(mut self) -> Vec<Objection> {
        self.findings.sort_by_key(|finding| finding.class);
        self.findings
    }
}
