//! Feature checks of a study: each stack in a guest of its own, built for this alone and thrown away with the guest.
//!
//! They come after everything is measured, so nothing of what they break can reach a number.

use std::time::Instant;

use build::{Authority, MemoryJournal};
use feature_check::Subject;
use lab::{Console, Guest};
use record::RunWriter;
use terms::feature_check::FEATURE_CHECKS_SCHEMA;
use terms::record::Missing;
use terms::{Design, Feature, FeatureCheck, Plan, Replicate, Stack, StackFeatureChecks};

use crate::exit::{Exit, Failure, chain};
use crate::printer::Progress;
use crate::runner::{self, estimate, order};
use crate::settings::Settings;
use crate::{BUILD, guest, studies, target};

/// What a guest, a build and all feature checks of a stack take, in seconds under emulation.
pub(crate) const STACK: f64 = 75.0;

/// How long the feature checks of a run may take, in words; `None` where there are none.
pub(crate) fn expected(design: &Design) -> Option<String> {
    let stacks = u32::try_from(design.stacks.len()).unwrap_or(u32::MAX);
    let took = estimate::span(STACK * f64::from(stacks));
    (!design.feature_checks.is_empty()).then(|| format!("then feature checks of {stacks} stacks, about {took}"))
}

/// Holds the feature checks of a run that are not in its record yet.
///
/// # Errors
/// Where the person interrupts, no guest can be had, or the record cannot be written.
pub(crate) fn hold_all(design: &Design, writer: &RunWriter, settings: &Settings) -> Result<(), Failure> {
    if design.feature_checks.is_empty() {
        return Ok(());
    }
    let known = record::RunReader::open(writer.dir())?.feature_checks()?;
    let open = |stack: &&Stack| !known.iter().any(|of| of.stack == stack.slug());
    let stacks: Vec<&Stack> = design.stacks.iter().filter(open).collect();
    let progress = settings.printer.progress(STACK * f64::from(u32::try_from(stacks.len()).unwrap_or(u32::MAX)));
    for stack in stacks {
        let feature_checks = hold(design, stack, &design.feature_checks, settings, &progress)?;
        writer.put_feature_checks(&feature_checks)?;
    }
    Ok(())
}

/// Holds all feature checks of one stack.
///
/// # Errors
/// Where the person interrupts or no guest can be had. What goes wrong with the stack is what came of its feature
/// checks.
pub(crate) fn hold(
    design: &Design,
    stack: &Stack,
    features: &[Feature],
    settings: &Settings,
    progress: &Progress,
) -> Result<StackFeatureChecks, Failure> {
    let begin = Instant::now();
    let at = runner::now();
    progress.now(&format!("feature checks: {}", stack.name));
    let mut missing = None;
    let feature_checks = match held(design, stack, features, settings, progress) {
        Ok(feature_checks) => feature_checks,
        Err(Failure::Could(error)) => nothing(stack, features, &chain(&*error)),
        Err(Failure::Refused(why)) => nothing(stack, features, &why),
        Err(Failure::Missing { what, remedy }) => {
            let feature_checks = nothing(stack, features, &format!("{what}; to get it: {remedy}"));
            missing = Some(Missing { what, remedy });
            feature_checks
        }
        Err(other) => return Err(other),
    };
    for feature_check in feature_checks.iter().filter(|feature_check| !feature_check.is_as_expected()) {
        progress.note(&format!("feature checks: {}: {}: {}", stack.name, feature_check.feature, feature_check.says));
    }
    progress.done(STACK);
    Ok(StackFeatureChecks {
        schema: FEATURE_CHECKS_SCHEMA,
        stack: stack.slug(),
        name: stack.name.clone(),
        at,
        build: BUILD.to_owned(),
        took: begin.elapsed().into(),
        missing,
        feature_checks,
    })
}

/// Feature checks that could not be held, and why.
fn nothing(stack: &Stack, features: &[Feature], why: &str) -> Vec<FeatureCheck> {
    let of = |feature: &Feature| FeatureCheck {
        feature: *feature,
        expected: feature_check::expected::of(*feature, stack),
        came: None,
        says: format!("It could not be tried: {}", why.replace('\n', " ")),
        steps: Vec::new(),
    };
    features.iter().map(of).collect()
}

fn held(
    design: &Design,
    stack: &Stack,
    features: &[Feature],
    settings: &Settings,
    progress: &Progress,
) -> Result<Vec<FeatureCheck>, Failure> {
    // Nothing is timed, and whole drives are written again and again.
    let design = &Design { lab: design.lab.without_limits(), ..design.clone() };
    let plan = planned(design, stack)?;
    let roomy = if features.contains(&Feature::Snapshot) { feature_check::roomy(stack) } else { None };
    let guest = guest::boot(&design.lab, std::slice::from_ref(&plan), Console::Log, settings)?;
    if let Some(missing) = build::Prerequisites::new(&guest).missing(&plan)? {
        return Err(Failure::Missing { what: missing.what, remedy: missing.remedy });
    }
    let seed = order::job_seed(design.measure.seed, &format!("feature checks of {}", plan.slug));
    let scene = Scene { design, guest: &guest, seed, progress };
    scene.set_up()?;
    let mut feature_checks = Vec::new();
    let mut rest = features.to_vec();
    if let Some(roomy) = roomy {
        rest.retain(|feature| *feature != Feature::Snapshot);
        let plan = feature_check::without_snapshot(&planned(design, &roomy)?);
        feature_checks.extend(scene.snapshot(stack, &roomy, &plan)?);
    }
    if !rest.is_empty() {
        feature_checks.extend(scene.on(stack, &plan, &rest, &mut MemoryJournal::default())?);
    }
    feature_checks.sort_by_key(|feature_check| features.iter().position(|feature| *feature == feature_check.feature));
    Ok(feature_checks)
}

/// The plan of one stack on whole drives, however the study measures.
fn planned(design: &Design, stack: &Stack) -> Result<Plan, Failure> {
    let mut alone = Design { stacks: vec![stack.clone()], sources: Vec::new(), ..design.clone() };
    alone.measure.replicate = Replicate::Rebuild;
    let drives = target::prepared::set_up(plan::DriveSize::of_lab(&design.lab), &design.setups);
    studies::plans(&alone, &drives)?.into_iter().next().ok_or_else(|| Failure::told("error: a stack has no plan"))
}

/// A guest for the feature checks of one stack.
struct Scene<'a> {
    design: &'a Design,
    guest: &'a Guest,
    seed: u64,
    progress: &'a Progress,
}

impl Scene<'_> {
    /// Sets drives up as the study wants them. They are thrown away as they are.
    fn set_up(&self) -> Result<(), Failure> {
        let mut setups = self.design.setups.clone();
        setups.iter_mut().for_each(|setup| setup.sanitize = None);
        if let Some(plan) = target::prepared::plan(self.guest, self.guest.drives(), &setups)? {
            self.apply(&plan, &mut MemoryJournal::default())?;
        }
        Ok(())
    }

    fn apply(&self, plan: &Plan, journal: &mut MemoryJournal) -> Result<build::Built, Failure> {
        let on_step =
            |step: &terms::Step| self.progress.detail(&format!("feature checks: {}: {}", plan.stack, step.id));
        Ok(build::apply(plan, &Authority::lab(self.guest, self.guest.drives())?, &[], journal, &on_step)?)
    }

    /// Builds a stack and tries features on it.
    fn on(
        &self,
        stack: &Stack,
        plan: &Plan,
        features: &[Feature],
        journal: &mut MemoryJournal,
    ) -> Result<Vec<FeatureCheck>, Failure> {
        let built = self.apply(plan, journal)?;
        let subject = Subject {
            host: self.guest,
            stack,
            plan,
            drives: self.guest.drives(),
            target: built.target.place(),
            seed: self.seed,
        };
        let with_feature_checks = |what: &str| self.progress.now(&format!("feature checks: {}: {what}", stack.name));
        Ok(feature_check::hold(subject, features, &with_feature_checks)?)
    }

    /// The snapshot in a build with room for it, which is taken down again before the stack itself is built.
    fn snapshot(&self, stack: &Stack, roomy: &Stack, plan: &Plan) -> Result<Vec<FeatureCheck>, Failure> {
        let features = [Feature::Snapshot];
        let mut journal = MemoryJournal::default();
        let held = self.on(roomy, plan, &features, &mut journal).and_then(|feature_checks| {
            let past = journal.0.clone();
            build::teardown(plan, &Authority::lab(self.guest, self.guest.drives())?, &past, &mut journal)?;
            Ok(feature_checks)
        });
        let mut feature_checks = match held {
            Ok(feature_checks) => feature_checks,
            Err(Failure::Could(error)) => nothing(stack, &features, &chain(&*error)),
            Err(other) => return Err(other),
        };
        for feature_check in &mut feature_checks {
            feature_check.says.push_str(" Built for this with half of the volume group left free.");
        }
        Ok(feature_checks)
    }
}

/// Whether all came as expected.
pub(crate) fn answer(feature_checks: &[StackFeatureChecks]) -> Exit {
    let one = |of: &StackFeatureChecks| match &of.missing {
        Some(_) => Exit::NotHere,
        None if of.feature_checks.iter().all(FeatureCheck::is_as_expected) => Exit::Yes,
        None => Exit::No,
    };
    feature_checks.iter().map(one).max().unwrap_or(Exit::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use terms::Showing;

    fn feature_checks(came: Option<Showing>) -> StackFeatureChecks {
        let feature_check = FeatureCheck {
            feature: Feature::Snapshot,
            expected: Showing::Kept,
            came,
            says: String::new(),
            steps: Vec::new(),
        };
        StackFeatureChecks {
            schema: FEATURE_CHECKS_SCHEMA,
            stack: "s".to_owned(),
            name: "s".to_owned(),
            at: String::new(),
            build: String::new(),
            took: terms::Nanos(0),
            missing: None,
            feature_checks: vec![feature_check],
        }
    }

    #[test]
    fn what_came_otherwise_or_showed_nothing_is_no() {
        let kept = feature_checks(Some(Showing::Kept));
        assert_eq!(answer(std::slice::from_ref(&kept)), Exit::Yes);
        assert_eq!(answer(&[feature_checks(Some(Showing::NotKept)), kept.clone()]), Exit::No);
        assert_eq!(answer(&[feature_checks(None)]), Exit::No);
        let missing = Some(Missing { what: "x".to_owned(), remedy: "y".to_owned() });
        assert_eq!(answer(&[kept, StackFeatureChecks { missing, ..feature_checks(None) }]), Exit::NotHere);
    }
}
