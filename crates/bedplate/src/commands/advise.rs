//! `bedplate advise`

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::thread;

use advise::{Design, Found, Question, Queue};
use capacity::DriveSize;
use durability::DriveModel;
use model::{Conditions, Site};
use terms::advice::{Advice, Needs};
use terms::spelling::spell_path;

use crate::cli::AdviseArguments;
use crate::commands::expect::{self, holdings};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::{calibrations, studies};

/// Searches all stacks on the study's drives for those that meet the needs and that no other beats.
pub(crate) fn advise(arguments: &AdviseArguments, settings: &Settings) -> Result<Exit, Failure> {
    let mut study = studies::load_whole(&arguments.study, settings)?;
    study.design.workloads.retain(terms::Workload::can_be_foretold);
    let (machine, inventory, known) = expect::open(arguments.machine.as_deref(), settings)?;
    let (machine, seats) = model::seat(&machine, &study.design.lab.drives, study.design.measure.span);
    let sizes = holdings::sizes(&study.design, &seats, inventory.as_ref(), arguments.drive_size);
    let models = holdings::models(&sizes, &machine);
    let (sizes, models) = alike(sizes, models, arguments, settings)?;
    let needs = needs(arguments);
    let policy = &study.design.measure;
    let speed = sizes.first().and_then(|size| holdings::speed_of(&size.name, &machine));
    let question = Question {
        needs: &needs,
        drives: &sizes,
        models: &models,
        workloads: &study.design.workloads,
        conditions: Conditions { span: policy.span, window: policy.window, warm: false, ..Conditions::default() },
        rebuild: speed.unwrap_or(holdings::FLASH),
    };
    let site = calibrations::ready(&machine, known.as_ref());
    let designs = advise::designs(sizes.len(), sizes.iter().map(|size| size.lba).max().unwrap_or_default(), &needs);
    let found = search(&question, &site, &designs);
    let advice = advise::advise(&question, &site, &found, arguments.most as usize);
    if let Some(path) = &arguments.write_study {
        write_study(path, &advice, &study.design.question, &sizes, &arguments.study)?;
        settings.printer.say(&format!("study: {}", spell_path(path)));
    }
    let style = report::Style { width: settings.style.width.min(80), ..settings.style };
    let text = if arguments.json { report::advice::json(&advice)? } else { report::advice::text(&advice, &style) };
    settings.printer.drawn(&text)?;
    Ok(if advice.front.is_empty() { Exit::No } else { Exit::Yes })
}

fn needs(arguments: &AdviseArguments) -> Needs {
    Needs {
        encryption: arguments.encrypted,
        survives: arguments.survive,
        repairs: arguments.repair,
        snapshots: arguments.snapshots,
        capacity: arguments.capacity,
        loss: arguments.once_in.map(|years| 1.0 / years),
        life_years: arguments.last,
        daily: arguments.daily,
    }
}

/// Drives that are like the first, as many as may be used: the search takes all to be alike.
fn alike(
    sizes: Vec<DriveSize>,
    models: Vec<DriveModel>,
    arguments: &AdviseArguments,
    settings: &Settings,
) -> Result<(Vec<DriveSize>, Vec<DriveModel>), Failure> {
    let Some((first, of)) = sizes.first().cloned().zip(models.first().cloned()) else {
        return Err(Failure::told("error: the study has no drives to advise on"));
    };
    let most = arguments.drives.map_or(usize::MAX, |drives| drives as usize);
    let (mut kept, mut left) = ((Vec::new(), Vec::new()), Vec::new());
    for (size, model) in sizes.into_iter().zip(models) {
        if size.size != first.size || size.lba != first.lba || model.class != of.class {
            left.push(size.name.to_string());
        } else if kept.0.len() < most {
            kept.0.push(size);
            kept.1.push(model);
        }
    }
    if !left.is_empty() {
        let left = left.join(", ");
        settings.printer.say(&format!("left out, because they are not like `{}`: {left}", first.name));
    }
    Ok(kept)
}

/// Every processor takes part.
fn search(question: &Question<'_>, site: &Site, designs: &[Design]) -> Found {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let queue = Queue::new(designs);
    thread::scope(|scope| {
        let searches: Vec<_> = (0..threads).map(|_| scope.spawn(|| queue.search(question, site))).collect();
        let join = |search: thread::ScopedJoinHandle<'_, Found>| {
            search.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        searches.into_iter().map(join).fold(Found::default(), Found::join)
    })
}

/// A study of the advised stacks on the same drives, with everything else as in the study that was asked with.
fn write_study(path: &Path, advice: &Advice, question: &str, drives: &[DriveSize], from: &Path) -> Result<(), Failure> {
    let text = crate::input::text(from, "study", |_| "")?;
    let mut out = String::new();
    let _ = writeln!(out, "# Stacks advised by Bedplate for: {question}");
    let _ = writeln!(out, "question = \"Which of those that were advised?\"\n\n[lab]\ndrives = [");
    for drive in drives {
        // In a guest their size does not matter; real drives have their own.
        let _ = writeln!(out, "    {{ name = \"{}\", size = \"1 GiB\", lba = \"{} B\" }},", drive.name, drive.lba.0);
    }
    let _ = writeln!(out, "]");
    for one in &advice.front {
        let _ = writeln!(out, "\n[[stack]]\nname = \"{}\"\nlayers = [\n{}]", one.name, one.layers);
    }
    out.push_str(&kept(&text));
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(Failure::file("make", path))?;
    file.write_all(out.as_bytes()).map_err(Failure::file("write", path))
}

/// The tables of a study that say what is measured: `[measure]` and each `[[workload]]`, as they stand there.
fn kept(text: &str) -> String {
    let mut out = String::new();
    let mut keep = false;
    for line in text.lines() {
        if line.starts_with('[') {
            keep = line.starts_with("[measure]") || line.starts_with("[[workload]]");
            if keep {
                out.push('\n');
            }
        }
        if keep {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
