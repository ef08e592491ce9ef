//! A study with the choices of the command line, planned for its target.

use capacity::DriveSize;

use crate::cli::RunArguments;
use crate::exit::Failure;
use crate::room;
use crate::settings::Settings;
use crate::site::Site;
use crate::studies::{self, Study};
use crate::target::prepared;

/// A study on its target.
pub(crate) struct PreparedRun {
    /// What is to be done, with the choices of the command line.
    pub(crate) study: Study,
    /// One plan for each stack.
    pub(crate) plans: Vec<terms::Plan>,
    /// One for each source that files are copied from.
    pub(crate) sources: Vec<terms::Plan>,
    /// The machine, if it is there already; a guest is booted for the plans.
    pub(crate) site: Option<Site>,
}

impl PreparedRun {
    /// Plans a study for these drives, once its data fit every stack on them.
    ///
    /// # Errors
    /// Every stack that they do not fit, or that cannot be planned.
    pub(super) fn on(study: Study, found: Vec<DriveSize>, site: Option<Site>) -> Result<Self, Failure> {
        let design = &study.design;
        let drives = prepared::set_up(found, &design.setups);
        room::for_jobs(&design.workloads, design.measure.span)?;
        room::for_blocks(&design.workloads, &design.stacks, &drives)?;
        room::for_data(&design.stacks, &studies::placed(design, &drives)?, design.measure.span)?;
        let (plans, sources) = (studies::plans(design, &drives)?, studies::source_plans(design, &drives)?);
        Ok(Self { study, plans, sources, site })
    }

    /// The same in a guest of this kernel, with that part of the study's time.
    pub(crate) fn on_kernel(&self, release: &str, share: u64) -> Self {
        let mut study = self.study.clone();
        study.design.lab.kernels = vec![release.to_owned()];
        study.design.measure.budget = study.design.measure.budget.map(|budget| terms::Nanos(budget.0 / share));
        Self { study, plans: self.plans.clone(), sources: self.sources.clone(), site: None }
    }

    /// Plans of everything that is built.
    pub(crate) fn all_plans(&self) -> Vec<terms::Plan> {
        self.plans.iter().chain(&self.sources).cloned().collect()
    }
}

/// The study that was named, with the choices of the command line.
pub(super) fn named(arguments: &RunArguments, settings: &Settings) -> Result<Study, Failure> {
    let Some(path) = &arguments.study else {
        return Err(Failure::told(
            "error: no study is named\n\nhint: `bedplate studies` lists those that come with the program",
        ));
    };
    let mut study = studies::load_whole(path, settings)?;
    study.design.stacks = studies::select(study.design.stacks, &arguments.only, &arguments.skip)?;
    studies::adjust(&mut study.design, arguments, settings)?;
    if arguments.quick && !arguments.no_feature_checks && !study.design.feature_checks.is_empty() {
        settings.printer.say("a quick run has no feature checks; `bedplate prove` with the same study runs them");
    }
    if arguments.quick || arguments.no_feature_checks {
        study.design.feature_checks.clear();
    }
    Ok(study)
}
