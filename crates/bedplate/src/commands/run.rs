//! `bedplate run`

mod again;
mod kernels;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::site::{Claimed, Site};
use build::Claims;
use host::inspect;
use host::interrupt::Care;
use record::{RunReader, RunWriter};
use terms::event::EventKind;
use terms::finding::{Findings, Verdict};
use terms::inventory::Inventory;
use terms::record::{Provenance, RECORD_SCHEMA, StackEntry, UsedDrive};
use terms::{Design, DriveSetup, Plan};

use self::again::{Earlier, earlier, go_on};
use crate::cli::RunArguments;
use crate::commands::{report as reports, runs};
use crate::exit::{Exit, Failure};
use crate::proof::Proof;
use crate::runner::estimate::{self, Costs};
use crate::runner::{self, Runner, happened, lanes};
use crate::settings::Settings;
use crate::studies::Study;
use crate::target::drives::Loss;
use crate::target::{self, PreparedRun};
use crate::{BUILD, feature_checks, guest, predict, room};

/// Runs a study from its file to its report.
pub(crate) fn run(arguments: &RunArguments, settings: &Settings) -> Result<Exit, Failure> {
    let mut prepared_run = target::prepare(arguments, settings)?;
    let releases = kernels::meant(&prepared_run)?;
    if releases.len() > 1 {
        return kernels::side_by_side(&prepared_run, &releases, arguments, settings);
    }
    if arguments.fail_slower.is_some() {
        return Err(Failure::told(
            "error: `--fail-slower` needs a study on several kernels\n\n\
             hint: name them with `--kernel`; `bedplate compare` has it for two runs",
        ));
    }
    if !releases.is_empty() {
        prepared_run.study.design.lab.kernels = releases;
    }
    let earlier = match (&arguments.resume, arguments.more) {
        (None, None) => None,
        (run, _) => Some(earlier(run.as_deref().unwrap_or("latest"), &prepared_run.study, arguments, settings)?),
    };
    let directory = go(prepared_run, earlier, settings)?;
    let (findings, answer) = conclude(&directory, settings)?;
    show(&directory, &findings, arguments, settings)?;
    Ok(answer)
}

/// Makes a run, or goes on with one that is not whole or is to have more rounds. Its directory.
fn go(mut prepared_run: PreparedRun, earlier: Option<Earlier>, settings: &Settings) -> Result<PathBuf, Failure> {
    if let Some(earlier) = &earlier {
        if earlier.is_whole {
            return Ok(earlier.directory.clone());
        }
        prepared_run.study.design.measure = earlier.policy.clone();
    }
    measure_all(prepared_run, earlier, settings).map_err(|failure| match failure {
        Failure::Interrupted(_) => {
            Failure::Interrupted(Some("finished cells are kept; add --resume to the same command to go on".to_owned()))
        }
        other => other,
    })
}

/// What time is in the guest, where it is one.
fn say_clock(design: &terms::Design, site: &Site, settings: &Settings) {
    if site.is_lab() {
        let guest = terms::LabSpec { hosts: design.hosts(), ..design.lab.clone() };
        settings.printer.say(&guest.clock_in_words());
    }
}

/// Runs a prepared run to its record, and prints no report.
pub(crate) fn to_record(prepared_run: PreparedRun, settings: &Settings) -> Result<PathBuf, Failure> {
    measure_all(prepared_run, None, settings)
}

/// Boots, begins or resumes the record, runs every open cell, and seals.
fn measure_all(prepared_run: PreparedRun, resume: Option<Earlier>, settings: &Settings) -> Result<PathBuf, Failure> {
    let _care = Care::take();
    let all_plans = prepared_run.all_plans();
    let PreparedRun { study, plans, sources, site } = prepared_run;
    let study = &study;
    let boot = settings.printer.progress(estimate::BEGIN);
    let site = match site {
        Some(site) => site,
        None => {
            boot.now("booting a guest");
            Site::lab(guest::boot_all(&study.design, &all_plans, settings)?)
        }
    };
    boot.done(estimate::BEGIN / 2.0);
    boot.now("reading the machine");
    let mut inventory = inspect::inspect(&site)?;
    if site.is_lab() {
        inventory.programs.push(lab::emulator()?);
    }
    room::for_buffers(&study.design.workloads, inventory.memory)?;
    boot.done(estimate::BEGIN / 4.0);
    boot.now("looking for what each stack needs");
    let entries = stack_entries(&study.design, &plans, &site)?;
    sources_ready(&sources, &site)?;
    drop(boot);
    let missing: Vec<String> =
        entries.iter().filter(|entry| entry.missing.is_some()).map(|entry| entry.slug.clone()).collect();
    let resumed = resume.is_some();
    let proof = if site.is_lab() { None } else { Some(Proof::open(&settings.state)?) };
    let kind = estimate::Kind {
        place: &site.place(),
        accelerator: site.accelerator(),
        hard_disks: estimate::has_hard_disks(&inventory),
        windows_decide: study.design.measure.windows_decide(),
    };
    let costs = estimate::learn(kind, &all_plans, settings);
    let costs = costs.in_lanes(lanes::count(&study.design, site.speed().is_some()));
    let site = Arc::new(site);
    // Each stack of a guest with lanes has a guest of its own, which needs the room of this one.
    let kept = costs.lanes.is_none().then(|| Arc::clone(&site));
    // The locks are held to the end, so other programs see the drives in use. A refused run leaves no record.
    let mut held = kept.as_deref().map(hold).transpose()?.unwrap_or_default();
    let writer = match resume {
        Some(earlier) => go_on(&earlier, &all_plans, &inventory, &entries, &site, proof.as_ref())?,
        None => {
            let writer = begin(study, &all_plans, &inventory, entries, &site, settings)?;
            let predicted = predict::predict(&site, &study.design, &inventory, settings)?;
            let sha256 = writer.put_predictions(&predicted)?;
            happened(&writer, "", 0, EventKind::Predictions { cells: predicted.cells.len(), sha256 })?;
            writer
        }
    };
    let directory = writer.dir().to_owned();
    let proof = proof.map(|proof| proof.of_run(&writer.reader()?)).transpose()?;
    let feature_checks =
        feature_checks::expected(&study.design).map(|feature_checks| format!("; {feature_checks}")).unwrap_or_default();
    say_clock(&study.design, &site, settings);
    settings.printer.say(&format!("estimate: {}{feature_checks}", estimate::words(&costs, &study.design, &missing)));
    let expected = costs.run(&study.design, &missing);
    let progress = settings.printer.progress_in_lanes(costs.work(&study.design, &missing), costs.at_once());
    let finished = writer.finished().iter().filter(|cell| !cell.is_control()).count();
    progress.expect(estimate::cells(&study.design, &missing).max(finished));
    progress.begin(finished);
    let is_lab = site.is_lab();
    let setups = settable(&study.design.setups, &site, settings);
    let set_up = |site: &Site| target::prepared::plan(site, site.drives(), &setups);
    erase(&mut held, &writer)?;
    let prepared = set_up(&site)?;
    drop(site);
    if let Some(plan) = &prepared {
        writer.put_plan(&plan.slug, plan, &plan::script(plan))?;
    }
    let mut runner = Runner {
        design: &study.design,
        plans: &plans,
        sources: &sources,
        prepared: prepared.as_ref(),
        is_prepared: false,
        writer: &writer,
        settings,
        progress: &progress,
        costs: &costs,
        missing,
        site: kept.clone(),
        claims: &held,
        proof: proof.as_ref(),
        began: Instant::now(),
        spent: spent(&directory)?,
        share: 1.0,
        stopped: None,
        over_budget: false,
    };
    let result = runner.run();
    let took = runner.began.elapsed();
    let told = runner.event("", 0, session(&costs, expected, took, resumed));
    result?;
    told?;
    drop(runner);
    drop(progress);
    drop(held);
    // The guest that was measured in goes before those of the feature checks come.
    drop(kept);
    if is_lab {
        feature_checks::hold_all(&study.design, &writer, settings)?;
    }
    writer.seal()?;
    if !resumed {
        let (took, expected) = (estimate::span(took.as_secs_f64()), estimate::span(expected));
        settings.printer.say(&format!("took {took}, {expected} were estimated for the first rounds"));
    }
    Ok(directory)
}

/// Drives of a guest are files, new and empty: there is nothing that they could forget.
fn settable(setups: &[DriveSetup], site: &Site, settings: &Settings) -> Vec<DriveSetup> {
    let mut setups = setups.to_vec();
    for setup in setups.iter_mut().filter(|setup| site.is_lab() && setup.sanitize.is_some()) {
        settings.printer.say(&format!("drive {}: sanitizing is skipped: an emulated drive cannot do it", setup.name));
        setup.sanitize = None;
    }
    setups
}

/// Takes the locks on real drives, and looks under each once more.
fn hold(site: &Site) -> Result<Claims<'_>, Failure> {
    let mut held = Claims::new();
    for of in site.claims() {
        held.insert(of.name.clone(), of.permission.clone().hold(site)?);
    }
    Ok(held)
}

/// Takes away what people agreed to lose, and writes down what it was. From then on nobody has agreed to anything.
fn erase(held: &mut Claims<'_>, writer: &RunWriter) -> Result<(), Failure> {
    // Where one of them is refused none is erased.
    held.values().try_for_each(|held| held.confirm_content().map(drop))?;
    for (name, held) in held {
        if let Some(kind) = Loss::of(name, held.permission()).event() {
            happened(writer, "", 0, kind)?;
        }
        build::erase(held)?;
    }
    Ok(())
}

fn used(of: &Claimed) -> UsedDrive {
    let identity = of.permission.identity();
    UsedDrive {
        name: of.name.clone(),
        id: identity.id.clone(),
        serial: identity.serial.clone(),
        wwid: identity.wwid.clone(),
        model: identity.model.clone(),
        size: identity.size,
        erased: !of.permission.accepted().is_empty(),
    }
}

/// What a session was expected to take and took.
fn session(costs: &Costs, expected: f64, took: Duration, resumed: bool) -> EventKind {
    EventKind::Session { estimated_seconds: expected, took: took.into(), resumed, learned_from_runs: costs.runs }
}

/// Seconds that earlier sessions of a run took. One that was killed is counted by its cells alone.
fn spent(directory: &Path) -> Result<f64, Failure> {
    let reader = RunReader::open(directory)?;
    let sessions = reader.events()?.into_iter().filter_map(|event| match event.kind {
        EventKind::Session { took, .. } => Some(took.as_seconds()),
        _ => None,
    });
    let cells: f64 = reader.cells()?.iter().map(|cell| cell.took.as_seconds()).sum();
    Ok(sessions.sum::<f64>().max(cells))
}

/// A source that cannot be built here leaves nothing to copy.
fn sources_ready(sources: &[Plan], site: &Site) -> Result<(), Failure> {
    let mut needs = build::Prerequisites::new(site);
    for plan in sources {
        if let Some(missing) = needs.missing(plan)? {
            let what = format!("source `{}`: {}", plan.stack, missing.what);
            return Err(Failure::Missing { what, remedy: missing.remedy });
        }
    }
    Ok(())
}

/// What of each stack can be built here, and what is missing for the others.
fn stack_entries(design: &Design, plans: &[Plan], site: &Site) -> Result<Vec<StackEntry>, Failure> {
    let mut needs = build::Prerequisites::new(site);
    let entry = |(stack, plan): (&terms::Stack, &Plan)| {
        Ok(StackEntry {
            slug: plan.slug.clone(),
            name: stack.name.clone(),
            note: stack.note.clone(),
            nodes: stack.nodes.clone(),
            missing: needs.missing(plan)?,
        })
    };
    design.stacks.iter().zip(plans).map(entry).collect()
}

fn begin(
    study: &Study,
    plans: &[Plan],
    inventory: &Inventory,
    stacks: Vec<StackEntry>,
    site: &Site,
    settings: &Settings,
) -> Result<RunWriter, Failure> {
    let started = runner::now();
    let policy = &study.design.measure;
    let provenance = Provenance {
        schema: RECORD_SCHEMA,
        run: record::run_name(&settings.runs, &started, &study.title)?,
        question: study.design.question.clone(),
        started,
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: BUILD.to_owned(),
        study_sha256: record::sha256_hex(study.text.as_bytes()),
        place: site.place(),
        accelerator: site.accelerator().map(str::to_owned),
        cpu: site.speed(),
        drives: site.claims().iter().map(used).collect(),
        seed: policy.seed,
        rounds: policy.rounds,
        settle: policy.settle,
        window: policy.window,
        span: policy.span,
        policy: Some(policy.clone()),
        stacks,
        workloads: study.design.workloads.clone(),
        charts: study.design.charts.clone(),
    };
    let writer = RunWriter::create(&settings.runs, &provenance, &study.text)?;
    writer.put_inventory(inventory)?;
    for plan in plans {
        writer.put_plan(&plan.slug, plan, &plan::script(plan))?;
    }
    Ok(writer)
}

/// Writes the reports, and answers whether every cell is a number or says what it misses.
fn conclude(directory: &Path, settings: &Settings) -> Result<(Findings, Exit), Failure> {
    let findings = reports::findings(&RunReader::open(directory)?)?;
    reports::write_all(&findings, directory)?;
    // The catalogue can be made again at any time; a finished run does not fail for it.
    if let Err(Failure::Fatal(error) | Failure::Could(error)) =
        runs::catalogue(settings).and_then(|catalogue| runs::keep(&catalogue, settings))
    {
        settings.printer.say(&format!("warning: the catalogue could not be updated: {error}"));
    }
    // A stack that cannot be built has told so by its cells.
    let built: Vec<_> = findings.feature_checks.iter().filter(|of| of.missing.is_none()).cloned().collect();
    let answer = answer(&findings).max(feature_checks::answer(&built));
    Ok((findings, answer))
}

/// Prints the table.
fn show(directory: &Path, findings: &Findings, arguments: &RunArguments, settings: &Settings) -> Result<(), Failure> {
    let style = &settings.style;
    let text = if arguments.json { report::json(findings) } else { reports::shown(findings, arguments.details, style) };
    settings.printer.drawn(&text)?;
    settings.printer.say(&reports::more(
        &runs::told(directory, settings),
        findings,
        directory,
        arguments.details,
        style,
    ));
    Ok(())
}

fn answer(findings: &Findings) -> Exit {
    let all_missing = findings.cells.iter().all(|cell| matches!(cell.verdict, Verdict::Missing(_)));
    if findings.cells.iter().any(|cell| matches!(cell.verdict, Verdict::Failed(_) | Verdict::NotRun)) {
        Exit::No
    } else if all_missing && !findings.cells.is_empty() {
        Exit::NotHere
    } else {
        Exit::Yes
    }
}
