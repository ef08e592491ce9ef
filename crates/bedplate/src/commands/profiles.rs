//! `bedplate profiles`

use spec::profile::Profile;
use terms::MeasurePolicy;

use crate::cli::ProfilesArguments;
use crate::commands::fio;
use crate::exit::{Exit, Failure};
use crate::library;
use crate::settings::Settings;

/// Lists profiles, or shows one with its fio jobs.
pub(crate) fn profiles(arguments: &ProfilesArguments, settings: &Settings) -> Result<Exit, Failure> {
    let all = spec::profile::all();
    let Some(name) = &arguments.name else {
        let text = if arguments.json {
            serde_json::to_string_pretty(&all.iter().map(row).collect::<Vec<_>>())?
        } else {
            let line = |profile: &Profile| {
                let count = profile.workloads.len();
                let workloads = if count == 1 { "1 workload".to_owned() } else { format!("{count} workloads") };
                let help = format!("{} ({workloads})", profile.help);
                format!("{}\n{}", profile.name, report::paragraph("    ", &help, settings.style.columns()))
            };
            all.iter().map(line).collect::<String>()
        };
        settings.printer.data(&text)?;
        return Ok(Exit::Yes);
    };
    let Some(profile) = all.iter().find(|profile| profile.name == name.as_str()) else {
        return Err(library::no_profile(name));
    };
    if arguments.json {
        settings.printer.data(&serde_json::to_string_pretty(&profile.workloads)?)?;
        return Ok(Exit::Yes);
    }
    settings.printer.data(&shown(profile)?)?;
    Ok(Exit::Yes)
}

fn row(profile: &Profile) -> serde_json::Value {
    serde_json::json!({
        "name": profile.name,
        "about": profile.help,
        "exact_to": profile.source,
        "differs": profile.differs,
        "workloads": profile.workloads,
    })
}

/// What the profile is, what it is exact to, and its jobs; the whole is a job file.
fn shown(profile: &Profile) -> Result<String, Failure> {
    let mut text = format!("# {}: {}\n# exact to: {}\n", profile.name, profile.help, profile.source);
    for difference in profile.differs {
        text.push_str(&format!("# not the same: {difference}\n"));
    }
    text.push('\n');
    for workload in &profile.workloads {
        if let Some(tree) = workload.method.tree() {
            let class = |class: &terms::workload::FileClass| format!("{} ({} of 1000)", class.size, class.per_mille);
            let sizes: Vec<String> = tree.sizes.iter().map(class).collect();
            text.push_str(&format!("# {}: files of {}; no fio job\n\n", workload.title(), sizes.join(", ")));
        }
    }
    Ok(text + &fio::text(&profile.workloads, &MeasurePolicy::default())?)
}
