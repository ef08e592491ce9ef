//! Trials of a study: each stack in a guest of its own, built for this alone and thrown away with the guest.
//!
//! They come after everything is measured, so nothing of what they break can reach a number.

use std::time::Instant;

use build::{Authority, MemoryJournal};
use lab::{Console, Guest};
use record::RunWriter;
use terms::record::Missing;
use terms::trial::TRIALS_SCHEMA;
use terms::{Design, Feature, Plan, Replicate, Stack, StackTrials, Trial};
use trial::Subject;

use crate::exit::{Exit, Failure, chain};
use crate::ground;
use crate::printer::Progress;
use crate::runner::{self, estimate, order};
use crate::settings::Settings;
use crate::{BUILD, guest};

/// What a guest, a build and all trials of a stack take, in seconds under emulation.
pub(crate) const STACK: f64 = 75.0;

/// How long the trials of a run may take, in words; `None` where there are none.
pub(crate) fn expected(design: &Design) -> Option<String> {
    let stacks = u32::try_from(design.stacks.len()).unwrap_or(u32::MAX);
    let took = estimate::span(STACK * f64::from(stacks));
    (!design.trials.is_empty()).then(|| format!("then feature checks of {stacks} stacks, about {took}"))
}

/// Holds the trials of a run that are not in its record yet.
///
/// # Errors
/// Where the person interrupts, no guest can be had, or the record cannot be written.
pub(crate) fn hold_all(design: &Design, writer: &RunWriter, settings: &Settings) -> Result<(), Failure> {
    if design.trials.is_empty() {
        return Ok(());
    }
    let known = record::RunReader::open(writer.dir())?.trials()?;
    let open = |stack: &&Stack| !known.iter().any(|of| of.stack == stack.slug());
    let stacks: Vec<&Stack> = design.stacks.iter().filter(open).collect();
    let progress = settings.printer.progress(STACK * f64::from(u32::try_from(stacks.len()).unwrap_or(u32::MAX)));
    for stack in stacks {
        let trials = hold(design, stack, &design.trials, settings, &progress)?;
        writer.put_trials(&trials)?;
    }
    Ok(())
}

/// Holds all trials of one stack.
///
/// # Errors
/// Where the person interrupts or no guest can be had. What goes wrong with the stack is what came of its trials.
pub(crate) fn hold(
    design: &Design,
    stack: &Stack,
    features: &[Feature],
    settings: &Settings,
    progress: &Progress,
) -> Result<StackTrials, Failure> {
    let begin = Instant::now();
    let at = runner::now();
    progress.now(&format!("feature checks: {}", stack.name));
    let mut missing = None;
    let trials = match held(design, stack, features, settings, progress) {
        Ok(trials) => trials,
        Err(Failure::Could(error)) => nothing(stack, features, &chain(&*error)),
        Err(Failure::Refused(why)) => nothing(stack, features, &why),
        Err(Failure::Missing { what, remedy }) => {
            let trials = nothing(stack, features, &format!("{what}; to get it: {remedy}"));
            missing = Some(Missing { what, remedy });
            trials
        }
        Err(other) => return Err(other),
    };
    for trial in trials.iter().filter(|trial| !trial.is_as_promised()) {
        progress.note(&format!("feature checks: {}: {}: {}", stack.name, trial.feature, trial.says));
    }
    progress.done(STACK);
    Ok(StackTrials {
        schema: TRIALS_SCHEMA,
        stack: stack.slug(),
        name: stack.name.clone(),
        at,
        build: BUILD.to_owned(),
        took: begin.elapsed().into(),
        missing,
        trials,
    })
}

/// Trials that could not be held, and why.
fn nothing(stack: &Stack, features: &[Feature], why: &str) -> Vec<Trial> {
    let of = |feature: &Feature| Trial {
        feature: *feature,
        promised: trial::promise::of(*feature, stack),
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
) -> Result<Vec<Trial>, Failure> {
    // Nothing is timed, and whole drives are written again and again.
    let design = &Design { lab: design.lab.without_limits(), ..design.clone() };
    let plan = planned(design, stack)?;
    let roomy = if features.contains(&Feature::Snapshot) { trial::roomy(stack) } else { None };
    let guest = guest::boot(&design.lab, std::slice::from_ref(&plan), Console::Log, settings)?;
    if let Some(missing) = build::Prerequisites::new(&guest).missing(&plan)? {
        return Err(Failure::Missing { what: missing.what, remedy: missing.remedy });
    }
    let seed = order::job_seed(design.measure.seed, &format!("feature checks of {}", plan.slug));
    let scene = Scene { design, guest: &guest, seed, progress };
    scene.set_up()?;
    let mut trials = Vec::new();
    let mut rest = features.to_vec();
    if let Some(roomy) = roomy {
        rest.retain(|feature| *feature != Feature::Snapshot);
        let plan = trial::without_snapshot(&planned(design, &roomy)?);
        trials.extend(scene.snapshot(stack, &roomy, &plan)?);
    }
    if !rest.is_empty() {
        trials.extend(scene.on(stack, &plan, &rest, &mut MemoryJournal::default())?);
    }
    trials.sort_by_key(|trial| features.iter().position(|feature| *feature == trial.feature));
    Ok(trials)
}

/// The plan of one stack on whole drives, however the study measures.
fn planned(design: &Design, stack: &Stack) -> Result<Plan, Failure> {
    let mut alone = Design { stacks: vec![stack.clone()], sources: Vec::new(), ..design.clone() };
    alone.measure.replicate = Replicate::Rebuild;
    let (plans, _) = ground::staked::planned(&alone, plan::DriveFact::of_lab(&design.lab))?;
    plans.into_iter().next().ok_or_else(|| Failure::told("error: a stack has no plan"))
}

/// A guest for the trials of one stack.
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
        if let Some(plan) = ground::prepared::plan(self.guest, self.guest.drives(), &setups)? {
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
    ) -> Result<Vec<Trial>, Failure> {
        let built = self.apply(plan, journal)?;
        let subject = Subject {
            host: self.guest,
            stack,
            plan,
            drives: self.guest.drives(),
            target: &built.target,
            seed: self.seed,
        };
        let on_trial = |what: &str| self.progress.now(&format!("feature checks: {}: {what}", stack.name));
        Ok(trial::hold(subject, features, &on_trial)?)
    }

    /// The snapshot in a build with room for it, which is taken down again before the stack itself is built.
    fn snapshot(&self, stack: &Stack, roomy: &Stack, plan: &Plan) -> Result<Vec<Trial>, Failure> {
        let features = [Feature::Snapshot];
        let mut journal = MemoryJournal::default();
        let held = self.on(roomy, plan, &features, &mut journal).and_then(|trials| {
            let past = journal.0.clone();
            build::teardown(plan, &Authority::lab(self.guest, self.guest.drives())?, &past, &mut journal)?;
            Ok(trials)
        });
        let mut trials = match held {
            Ok(trials) => trials,
            Err(Failure::Could(error)) => nothing(stack, &features, &chain(&*error)),
            Err(other) => return Err(other),
        };
        for trial in &mut trials {
            trial.says.push_str(" Built for this with half of the volume group left free.");
        }
        Ok(trials)
    }
}

/// Whether all came as promised.
pub(crate) fn answer(trials: &[StackTrials]) -> Exit {
    let one = |of: &StackTrials| match &of.missing {
        Some(_) => Exit::NotHere,
        None if of.trials.iter().all(Trial::is_as_promised) => Exit::Yes,
        None => Exit::No,
    };
    trials.iter().map(one).max().unwrap_or(Exit::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use terms::Showing;

    fn trials(came: Option<Showing>) -> StackTrials {
        let trial =
            Trial { feature: Feature::Snapshot, promised: Showing::Kept, came, says: String::new(), steps: Vec::new() };
        StackTrials {
            schema: TRIALS_SCHEMA,
            stack: "s".to_owned(),
            name: "s".to_owned(),
            at: String::new(),
            build: String::new(),
            took: terms::Nanos(0),
            missing: None,
            trials: vec![trial],
        }
    }

    #[test]
    fn what_came_otherwise_or_showed_nothing_is_no() {
        let kept = trials(Some(Showing::Kept));
        assert_eq!(answer(std::slice::from_ref(&kept)), Exit::Yes);
        assert_eq!(answer(&[trials(Some(Showing::NotKept)), kept.clone()]), Exit::No);
        assert_eq!(answer(&[trials(None)]), Exit::No);
        let missing = Some(Missing { what: "x".to_owned(), remedy: "y".to_owned() });
        assert_eq!(answer(&[kept, StackTrials { missing, ..trials(None) }]), Exit::NotHere);
    }
}
