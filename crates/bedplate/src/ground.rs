//! Where a study is to run, as it was typed, and what is known of the drives there before anything is begun.

use terms::{Design, LabDriveKind};

use crate::cli::RunArguments;
use crate::exit::Failure;
use crate::site::Site;
use crate::studies::{self, Study};

pub(crate) mod directory;
pub(crate) mod drives;
pub(crate) mod prepared;

/// A machine by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A guest that can harm nothing.
    Lab,
    /// This machine.
    Local,
    /// Another one: `ssh://[user@]host[:port]`.
    Ssh(String),
}

impl Address {
    /// Reads `lab`, `local`, `ssh://[user@]host[:port]`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "lab" => Ok(Self::Lab),
            "local" => Ok(Self::Local),
            uri if uri.strip_prefix("ssh://").is_some_and(names_a_host) => Ok(Self::Ssh(uri.to_owned())),
            other => {
                let host = if names_a_host(other) { other } else { "host" };
                Err(Failure::told(format!(
                    "error: `{other}` is not a place\n\nhint: use `--on lab`, `--on local` or `--on ssh://{host}`"
                )))
            }
        }
    }
}

/// Is it `[user@]host[:port]`, and nothing that ssh or a shell would take for something else?
fn names_a_host(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._@:[]%".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

/// A study on its ground.
pub(crate) struct Staked {
    /// What is to be done, with the choices of the command line.
    pub(crate) study: Study,
    /// One plan for each stack.
    pub(crate) plans: Vec<terms::Plan>,
    /// One for each source that files are copied from.
    pub(crate) sources: Vec<terms::Plan>,
    /// The machine, if it is there already; a guest is booted for the plans.
    pub(crate) site: Option<Site>,
}

impl Staked {
    /// Plans of everything that is built.
    pub(crate) fn all_plans(&self) -> Vec<terms::Plan> {
        self.plans.iter().chain(&self.sources).cloned().collect()
    }
}

/// Reads the study and finds the ground that it is to run on.
///
/// # Errors
/// [`Failure::Refused`] for drives that may not be touched; what is wrong with the study or the choices.
pub(crate) fn stake(arguments: &RunArguments, settings: &crate::settings::Settings) -> Result<Staked, Failure> {
    let default = if arguments.dir.is_some() { "local" } else { "lab" };
    let address = Address::parse(arguments.on.as_deref().unwrap_or(default))?;
    if let Some(path) = &arguments.dir {
        return directory::stake(path, &address, arguments, settings);
    }
    match address {
        Address::Lab => in_the_lab(arguments, settings),
        Address::Local | Address::Ssh(_) if arguments.lab_drives.is_some() => Err(Failure::told(
            "error: `--lab-drives` is of the lab, and drives of a machine are what they are\n\nhint: leave it out",
        )),
        Address::Local | Address::Ssh(_) => drives::stake(&address, arguments, settings),
    }
}

fn in_the_lab(arguments: &RunArguments, settings: &crate::settings::Settings) -> Result<Staked, Failure> {
    let study = named(arguments, settings)?;
    let whole = plan::DriveFact::of_lab(&study.design.lab);
    let (plans, sources) = planned(&study.design, whole)?;
    Ok(Staked { study, plans, sources, site: None })
}

/// The study that was named, with the choices of the command line.
fn named(arguments: &RunArguments, settings: &crate::settings::Settings) -> Result<Study, Failure> {
    let Some(path) = &arguments.study else { return Err(Failure::told("error: no study is named")) };
    let mut study = studies::load_whole(path, settings)?;
    study.design.stacks = studies::select(study.design.stacks, &arguments.only, &arguments.skip)?;
    studies::adjust(&mut study.design, arguments, settings)?;
    let unasked = if arguments.quick {
        Some("no feature checks in a quick run; `bedplate prove` with the same study runs them")
    } else if study.design.measure.lab_drives.is_some_and(LabDriveKind::in_guest) {
        Some("no feature checks on drives of the guest's kernel: nobody can pull them")
    } else {
        None
    };
    if let Some(why) = unasked.filter(|_| !arguments.no_trials && !study.design.trials.is_empty()) {
        settings.printer.say(why);
    }
    if arguments.no_trials || unasked.is_some() {
        study.design.trials.clear();
    }
    Ok(study)
}

/// Plans of all stacks and sources of a design, for drives as they will be once they are set up.
pub(crate) fn planned(
    design: &Design,
    found: Vec<plan::DriveFact>,
) -> Result<(Vec<terms::Plan>, Vec<terms::Plan>), Failure> {
    let whole: Vec<plan::DriveFact> = found.into_iter().map(|fact| prepared::fact(fact, &design.setups)).collect();
    let whole = whole.as_slice();
    Ok((studies::plans(design, whole)?, studies::source_plans(design, whole)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        assert_eq!(Address::parse("lab").unwrap(), Address::Lab);
        assert_eq!(Address::parse("local").unwrap(), Address::Local);
        for uri in ["ssh://nas", "ssh://root@nas.home:2222", "ssh://[fe80::1%eth0]"] {
            assert_eq!(Address::parse(uri).unwrap(), Address::Ssh(uri.to_owned()));
        }
        for wrong in ["", "nas", "ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://$(x)", "LAB"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
