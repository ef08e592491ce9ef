//! `bedplate prove`

use terms::{Feature, StackFeatureChecks};

use crate::cli::ProveArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{feature_checks, studies};

/// Tries every selected stack, prints what each showed, and answers whether all came as expected.
pub(crate) fn prove(arguments: &ProveArguments, settings: &Settings) -> Result<Exit, Failure> {
    let study = studies::load(&arguments.selection, settings)?;
    match arguments.place.on.as_str() {
        "lab" => {}
        "local" => return Err(refused("this machine")),
        other if other.starts_with("ssh://") => return Err(refused(other)),
        other => return Err(Failure::told(format!("error: `{other}` is not a place\n\nhint: use `--on lab`"))),
    }
    let design = &study.design;
    let features = match (&arguments.feature, &design.feature_checks) {
        (typed, _) if !typed.is_empty() => typed.clone(),
        (_, asked) if !asked.is_empty() => asked.clone(),
        _ => Feature::ALL.to_vec(),
    };
    let progress =
        settings.printer.progress(feature_checks::STACK * f64::from(u32::try_from(design.stacks.len()).unwrap_or(1)));
    let mut all: Vec<StackFeatureChecks> = Vec::new();
    for stack in &design.stacks {
        all.push(feature_checks::hold(design, stack, &features, settings, &progress)?);
    }
    drop(progress);
    let text = if arguments.json {
        report::feature_checks_json(&all)
    } else {
        report::feature_checks_text(&all, arguments.steps, &settings.style)
    };
    settings.printer.drawn(&text)?;
    Ok(feature_checks::answer(&all))
}

fn refused(place: &str) -> Failure {
    Failure::Refused(format!(
        "refused: feature checks change bytes on drives and pull them: they run in the lab only, and not on {place}\n\n\
         hint: leave out `--on`; the lab runs the same commands on drives that hold nothing"
    ))
}
