//! `bedplate advise` and `bedplate init`

mod ask;
mod written;

use std::cmp::Reverse;
use std::path::PathBuf;
use std::thread;

use advise::{Found, LayoutQueue, Question};
use capacity::DriveSize;
use durability::DriveModel;
use model::{Conditions, Site};
use terms::advice::{ACCEPTED_LOSS, Advice, Advised, Compromise, Need, Needs};
use terms::calibration::Calibration;
use terms::machine::Machine;
use terms::spelling::spell_path;
use terms::{Bytes, BytesPerSecond, Design, Workload};

use crate::cli::{AdviseArguments, InitArguments, NeedsArguments};
use crate::commands::expect::{self, holdings};
use crate::drives::{self, DriveSet};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{calibrations, library, output, studies};

/// Searches all stacks on the drives for those that meet the needs and that no other beats.
pub(crate) fn advise(arguments: &AdviseArguments, settings: &Settings) -> Result<Exit, Failure> {
    let text = study(arguments)?;
    let name = arguments.study.clone().unwrap_or_else(|| PathBuf::from("drives.toml"));
    let mut design = studies::of_text(&name, &text, settings)?;
    expect::leave_out(&mut design, settings)?;
    let (mut machine, inventory, known) = expect::open(arguments.machine.as_deref(), settings)?;
    if arguments.drives.is_some() {
        // Drives that were named are not those that happen to be there.
        machine.drives.clear();
    }
    let (machine, assignments) = model::assignment(&machine, &design.lab.drives, design.measure.span);
    let size = arguments.drives.map(|set| set.size).or(arguments.drive_size);
    if let Some(note) = size.and_then(drives::as_sold) {
        settings.printer.say(&note);
    }
    let seated = (&machine, &assignments[..]);
    holdings::want_sizes(&design, seated, inventory.as_ref(), (size, true))?;
    let sizes = holdings::sizes(&design, seated, inventory.as_ref(), size);
    let models = holdings::models(&sizes, &machine);
    let (sizes, models) = alike(sizes, models, arguments, settings)?;
    expect::say_span(&mut design, size, arguments.drives.is_none(), settings);
    if let Some(bytes) = arguments.needs.daily {
        settings.printer.say(&holdings::written(bytes, &design.workloads));
    }
    // Of many drives this takes seconds.
    let searched = arguments.drives.map_or_else(|| "the study's drives".to_owned(), DriveSet::describe);
    settings.printer.say(&format!("searching the layouts of {searched}"));
    let search = Search::new(&design, (&sizes, &models), &machine, known.as_ref(), arguments.most as usize);
    let advice = search.answer(arguments.needs.of(sizes.len()));
    if let Some(path) = &arguments.write_study
        && !advice.front.is_empty()
    {
        written::write(path, &advice, (&design.lab.drives, size), &text)?;
        settings.printer.say(&format!("study: {}", spell_path(path)));
    }
    let is_unknown = |one: &Advised| one.life_years.is_none();
    if arguments.needs.last.is_some() && advice.front.iter().any(is_unknown) {
        settings
            .printer
            .say("`--last` rules out nothing here: how much may be written to drives of this kind is not known");
    }
    let written = arguments.write_study.as_deref().map(|path| arguments.again(&spell_path(path)));
    let style = report::Style { width: settings.style.width.min(80), ..settings.style };
    let text = match () {
        () if arguments.json => report::advice::json(&advice)?,
        () if arguments.explain => report::advice::explain(&advice, written.as_deref(), &style),
        () => report::advice::text(&advice, written.as_deref(), &style),
    };
    settings.printer.drawn(&text)?;
    Ok(if advice.front.is_empty() { Exit::No } else { Exit::Yes })
}

/// The best of all layouts on the drives of a study, each taken to be this large, on a machine and what was measured of it.
pub(crate) fn best(
    design: &Design,
    (machine, known): (&Machine, Option<&Calibration>),
    size: Bytes,
    needs: &NeedsArguments,
    most: usize,
) -> Advice {
    let sizes = holdings::sizes(design, (machine, &[]), None, Some(size));
    let models = holdings::models(&sizes, machine);
    Search::new(design, (&sizes, &models), machine, known, most).answer(needs.of(sizes.len()))
}

/// Asks for drives and needs, advises, and writes the study.
pub(crate) fn init(arguments: &InitArguments, settings: &Settings) -> Result<Exit, Failure> {
    let file = &arguments.file;
    if file.exists() {
        return Err(Failure::told(format!(
            "error: {}\n\nhint: name another, such as `bedplate init second.toml`",
            output::taken(file)
        )));
    }
    let (drives, needs) = match arguments.drives {
        Some(drives) => (drives, arguments.needs.clone()),
        None => ask::ask(&arguments.needs)?,
    };
    let status = advise(&arguments.as_advise(drives, needs), settings)?;
    if file.exists() {
        let path = spell_path(file);
        let next = [
            (format!("bedplate expect {path} --years"), "speed, rebuilds, wear and risk of each"),
            (format!("bedplate plan {path}"), "every command that they take"),
            (format!("bedplate run {path}"), "build and compare them in a virtual machine"),
        ];
        let width = next.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
        let lines = next.map(|(command, does)| format!("  {command:<width$}   {does}"));
        settings.printer.say(&format!("\n{}", lines.join("\n")));
    }
    Ok(status)
}

/// The text of the study that is asked with: a file's, or one made of the drives that were named.
fn study(arguments: &AdviseArguments) -> Result<String, Failure> {
    if let Some(unknown) = arguments.profile.iter().find(|name| spec::profile::named(name).is_none()) {
        return Err(library::no_profile(unknown));
    }
    match (&arguments.study, arguments.drives) {
        (Some(path), _) => studies::text(path),
        (None, Some(drives)) => Ok(drives.study(&arguments.profile)),
        (None, None) => Err(Failure::told(
            "error: no drives are named\n\nhint: `bedplate advise --drives 4x4TB:hdd`, or name a study",
        )),
    }
}

/// The largest group of drives that are alike, of several the first, as many as may be used: the search takes all to be alike.
fn alike(
    sizes: Vec<DriveSize>,
    models: Vec<DriveModel>,
    arguments: &AdviseArguments,
    settings: &Settings,
) -> Result<(Vec<DriveSize>, Vec<DriveModel>), Failure> {
    type Of = (DriveSize, DriveModel);
    let is_like = |(a, of): &Of, (b, other): &Of| a.size == b.size && a.lba == b.lba && of.class == other.class;
    let mut groups: Vec<Vec<Of>> = Vec::new();
    for drive in sizes.into_iter().zip(models) {
        match groups.iter_mut().find(|group| is_like(&group[0], &drive)) {
            Some(group) => group.push(drive),
            None => groups.push(vec![drive]),
        }
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    let mut groups = groups.into_iter();
    let Some(mut group) = groups.next() else {
        return Err(Failure::told("error: the study has no drives to advise on"));
    };
    let left: Vec<String> = groups.flatten().map(|(size, _)| size.name.to_string()).collect();
    if !left.is_empty() {
        settings.printer.say(&format!(
            "left out, because they differ from `{}` in size, block or kind: {} (caches and special vdevs are not searched)",
            group[0].0.name,
            left.join(", ")
        ));
    }
    group.truncate(arguments.max_drives.map_or(usize::MAX, |drives| drives as usize));
    Ok(group.into_iter().unzip())
}

/// All that a search takes but the needs.
struct Search<'a> {
    drives: &'a [DriveSize],
    models: &'a [DriveModel],
    workloads: &'a [Workload],
    conditions: Conditions,
    rebuild: BytesPerSecond,
    site: Site,
    most: usize,
}

impl<'a> Search<'a> {
    fn new(
        design: &'a Design,
        (drives, models): (&'a [DriveSize], &'a [DriveModel]),
        machine: &Machine,
        known: Option<&Calibration>,
        most: usize,
    ) -> Self {
        let policy = &design.measure;
        let speed = drives.first().and_then(|size| holdings::speed_of(&size.name, machine));
        Self {
            drives,
            models,
            workloads: &design.workloads,
            conditions: Conditions { span: policy.span, window: policy.window, warm: false, ..Conditions::default() },
            rebuild: speed.unwrap_or(holdings::FLASH),
            site: calibrations::ready(machine, known),
            most,
        }
    }

    /// What is advised; where nothing meets the needs, with what would if one of them were given up. Where no risk was asked
    /// for, a usual one, if any layout has it.
    fn answer(&self, needs: Needs) -> Advice {
        if needs.loss.is_none() {
            let safe = self.advise(&Needs { loss: Some(ACCEPTED_LOSS), ..needs.clone() });
            if !safe.front.is_empty() {
                return Advice { is_limit_assumed: true, ..safe };
            }
        }
        let advice = self.advise(&needs);
        if !advice.front.is_empty() {
            return advice;
        }
        let compromises = needs.asked().into_iter().filter_map(|need| self.compromise(&needs, need)).collect();
        Advice { compromises, ..advice }
    }

    fn compromise(&self, needs: &Needs, need: Need) -> Option<Compromise> {
        let mut rest = needs.without(need);
        let mut advice = self.advise(&rest);
        // Of drives that fail, as few fewer as will do.
        while need == Need::Survives && advice.front.is_empty() && rest.survives > 0 {
            rest = rest.without(need);
            advice = self.advise(&rest);
        }
        let closest = advise::closest(&advice, need)?.clone();
        Some(Compromise { need, needs: rest, fitting: advice.fitting, closest })
    }

    fn advise(&self, needs: &Needs) -> Advice {
        let Self { drives, models, workloads, conditions, rebuild, ref site, most } = *self;
        let question = Question { needs, drives, models, workloads, conditions, rebuild };
        let block = drives.iter().map(|size| size.lba).max().unwrap_or_default();
        let designs = advise::designs(drives.len(), block, needs);
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let queue = LayoutQueue::new(&designs);
        // Every processor takes part.
        let found = thread::scope(|scope| {
            let searches: Vec<_> = (0..threads).map(|_| scope.spawn(|| queue.search(&question, site))).collect();
            let join = |search: thread::ScopedJoinHandle<'_, Found>| {
                search.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            searches.into_iter().map(join).fold(Found::default(), Found::join)
        });
        advise::advise(&question, site, &found, most)
    }
}
