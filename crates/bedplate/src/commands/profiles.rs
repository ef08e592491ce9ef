//! `bedplate profiles`

use measure::Place;
use terms::MeasurePolicy;

use crate::cli::ProfilesArguments;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// Lists profiles, or shows one with its fio jobs.
pub(crate) fn profiles(arguments: &ProfilesArguments, settings: &Settings) -> Result<Exit, Failure> {
    let all = spec::profile::all();
    let Some(name) = &arguments.name else {
        if arguments.json {
            let rows: Vec<_> = all
                .iter()
                .map(|profile| serde_json::json!({ "name": profile.name, "about": profile.help, "workloads": profile.workloads }))
                .collect();
            settings.printer.data(&serde_json::to_string_pretty(&rows)?)?;
        } else {
            let line = |profile: &spec::profile::Profile| format!("{}\n    {}\n", profile.name, profile.help);
            settings.printer.data(&all.iter().map(line).collect::<String>())?;
        }
        return Ok(Exit::Yes);
    };
    let Some(profile) = all.iter().find(|profile| profile.name == name.as_str()) else {
        let names: Vec<_> = all.iter().map(|profile| profile.name).collect();
        return Err(Failure::told(format!(
            "error: no profile is called `{name}`\n\nhint: there are {}",
            names.join(", ")
        )));
    };
    if arguments.json {
        settings.printer.data(&serde_json::to_string_pretty(&profile.workloads)?)?;
        return Ok(Exit::Yes);
    }
    let policy = MeasurePolicy::default();
    let shown = Place::Directory("/mnt/stack".to_owned());
    let jobs = profile
        .workloads
        .iter()
        .map(|workload| format!("# {}\n{}\n", workload.describe(), measure::job(workload, &shown, &policy, 1).file()));
    settings.printer.data(&jobs.collect::<String>())?;
    Ok(Exit::Yes)
}
