//! `bedplate prove`

use terms::{Feature, StackTrials};

use crate::cli::ProveArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{studies, trials};

/// Tries every selected stack, prints what each showed, and answers whether all came as promised.
pub(crate) fn prove(arguments: &ProveArguments, settings: &Settings) -> Result<Exit, Failure> {
    let study = studies::load(&arguments.selection, settings)?;
    match arguments.place.on.as_str() {
        "lab" => {}
        "local" => return Err(refused("this machine")),
        other if other.starts_with("ssh://") => return Err(refused(other)),
        other => return Err(Failure::told(format!("error: `{other}` is not a place\n\nhint: use `--on lab`"))),
    }
    let design = &study.design;
    let features = match (&arguments.feature, &design.trials) {
        (typed, _) if !typed.is_empty() => typed.clone(),
        (_, asked) if !asked.is_empty() => asked.clone(),
        _ => Feature::ALL.to_vec(),
    };
    let progress =
        settings.printer.progress(trials::STACK * f64::from(u32::try_from(design.stacks.len()).unwrap_or(1)));
    let mut all: Vec<StackTrials> = Vec::new();
    for stack in &design.stacks {
        all.push(trials::hold(design, stack, &features, settings, &progress)?);
    }
    drop(progress);
    let text = if arguments.json {
        report::trials_json(&all)
    } else {
        report::trials_text(&all, arguments.steps, &settings.style)
    };
    settings.printer.drawn(&text)?;
    Ok(trials::answer(&all))
}

fn refused(place: &str) -> Failure {
    Failure::Refused(format!(
        "refused: feature checks change bytes on drives and pull them: they run in the lab only, and not on {place}\n\n\
         hint: leave out `--on`; the lab runs the same commands on drives that hold nothing"
    ))
}
