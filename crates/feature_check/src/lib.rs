//! Does a stack do what people build it for? Each feature is exercised on the stack itself, and what came is held against
//! what is expected of its layers.
//!
//! [`hold`] takes a stack that stands and a few features, and does to it what time does to stacks: looks for what was
//! written on the bare drives, changes bytes under it, pulls a drive. Nothing is believed of a tool's output that
//! can be seen in the data instead. A feature check that could not fail shows nothing, so each has its control: what is
//! to be found nowhere on the drives is found above the encryption; bytes that are said to be changed are read again.

mod corruption;
mod data;
mod encryption;
mod error;
mod place;
mod pull;
mod redundancy;
mod replace;
mod scene;
mod scrub;
mod search;
mod snapshot;
mod wiring;

pub mod expected;

pub use error::FeatureCheckError;
pub use snapshot::{roomy, without_snapshot};

use std::collections::BTreeMap;

use host::Host;
use terms::plan::WorkPlace;
use terms::{Feature, FeatureCheck, Name, Plan, Showing, Stack};

use crate::scene::Scene;

/// A stack that stands in a guest.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The guest. It is worth nothing afterwards.
    pub host: &'a dyn Host,
    /// The stack.
    pub stack: &'a Stack,
    /// How it was built.
    pub plan: &'a Plan,
    /// Nodes of its drives.
    pub drives: &'a BTreeMap<Name, String>,
    /// What it ends in.
    pub target: &'a WorkPlace,
    /// What data are made of.
    pub seed: u64,
}

/// What came of a feature check: the showing, or none where it showed nothing, and what was seen.
type Came = (Option<Showing>, String);

/// Tries features on a stack, in the order in which each leaves the stack fit for the next: encryption, snapshot,
/// corruption, redundancy. Gives them in the order in which they were asked for.
///
/// # Errors
/// [`FeatureCheckError::NotThrowaway`] on a machine that outlives the feature check; where the machine is lost or the
/// person interrupts. What fails within a feature check is what came of that feature check.
pub fn hold(
    subject: Subject<'_>,
    features: &[Feature],
    progress: &dyn Fn(&str),
) -> Result<Vec<FeatureCheck>, FeatureCheckError> {
    if !subject.host.is_throwaway() {
        return Err(FeatureCheckError::NotThrowaway { host: subject.host.name() });
    }
    let mut held = Vec::new();
    for feature in [Feature::Encryption, Feature::Snapshot, Feature::Corruption, Feature::Redundancy] {
        if features.contains(&feature) {
            progress(feature.word());
            held.push(hold_one(subject, feature)?);
        }
    }
    held.sort_by_key(|feature_check| features.iter().position(|feature| *feature == feature_check.feature));
    Ok(held)
}

fn hold_one(subject: Subject<'_>, feature: Feature) -> Result<FeatureCheck, FeatureCheckError> {
    let expected = expected::of(feature, subject.stack);
    let scene = Scene::new(subject);
    let came = match feature {
        Feature::Encryption => encryption::hold(&scene),
        Feature::Redundancy => redundancy::hold(&scene),
        Feature::Corruption => corruption::hold(&scene),
        Feature::Snapshot => snapshot::hold(&scene),
    };
    let (came, says) = match came {
        Ok(came) => came,
        Err(error) if error.ends_all() => return Err(error),
        Err(error) => (None, told(&error)),
    };
    Ok(FeatureCheck { feature, expected, came, says, steps: scene.into_steps() })
}

/// An error with its causes, in one line.
fn told(error: &FeatureCheckError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
