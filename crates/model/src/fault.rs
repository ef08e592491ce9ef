//! Why nothing is said of a stack.

use terms::{Ref, Stack};

/// Why a stack could not be made into a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The machine has no drive of that name.
    NoDrive(String),
    /// The stack has no layer of that name below the one that rests on it.
    NoLayer(String),
    /// The stack has no layers.
    Empty,
    /// There is no rule for that layer.
    NoRule {
        /// Its name.
        layer: String,
        /// What is not known of it.
        why: &'static str,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoDrive(name) => write!(f, "the machine has no drive `{name}`"),
            Self::NoLayer(name) => write!(f, "no layer `{name}` is below the one that rests on it"),
            Self::Empty => write!(f, "the stack has no layers"),
            Self::NoRule { layer, why } => write!(f, "no rule for `{layer}`: {why}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Is there a rule for every layer?
///
/// # Errors
/// [`Fault::NoRule`] for the first that has none.
pub(crate) fn has_rules(stack: &Stack) -> Result<(), Fault> {
    let shares = |drive: &Ref| stack.nodes.iter().filter(|other| other.on.contains(drive)).count() > 1;
    stack.nodes.iter().try_for_each(|node| {
        let why = match &node.layer {
            layer if layer.traits().cache.is_some() => "it has a cache, and no rule tells what that will hold",
            layer if layer.shares_drive() && node.on.iter().any(shares) => {
                "other partitions share its drive, and no rule tells how a drive divides its time"
            }
            _ => return Ok(()),
        };
        Err(Fault::NoRule { layer: node.name.to_string(), why })
    })
}
