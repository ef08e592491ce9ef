//! Setting drives up before anything is built on them, and putting back what they were.

use std::collections::BTreeMap;

use terms::design::Sanitize;
use terms::inventory::LbaFormat;
use terms::plan::{Act, Condition, Effect, PLAN_SCHEMA, Plan, PlanCommand, Prerequisite, Step, Undo, WorkTarget};
use terms::{Bytes, DriveSetup, DriveTransport, Name, Nanos, Word};

use crate::draft::{command, words};
use crate::error::PlanError;

/// The slug of the plan: no stack of a study can have it, because slugs have no underscore.
pub const PREPARED: &str = "drives_";

/// `nvme format` counts down ten seconds, and large drives take their time.
const FORMAT: Nanos = Nanos::seconds(600);

/// An overwrite takes as long as writing the whole drive; the largest take a day.
const SANITIZE: Nanos = Nanos::seconds(2 * 86_400);

/// What has to be known of a drive to set it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedDrive {
    /// The name that the study uses.
    pub name: Name,
    /// `nvme`, `sata` or other.
    pub transport: DriveTransport,
    /// Formats that it could have, as far as they are known.
    pub formats: Vec<LbaFormat>,
    /// Does formatting it format all namespaces of its controller? What is not known is yes.
    pub format_takes_all: bool,
    /// Ways in which its controller can be made to forget everything.
    pub sanitize: Vec<Sanitize>,
    /// Is there another namespace on its controller, seen from here or not? What is done to the whole controller is done
    /// to that, too. What is not known is yes.
    pub shares_controller: bool,
    /// Is its volatile cache on? `None` where it has none, or nobody can tell.
    pub cache_on: Option<bool>,
}

impl PreparedDrive {
    /// May formatting it take a namespace that is not this drive?
    #[must_use]
    pub const fn format_takes_others(&self) -> bool {
        self.format_takes_all && self.shares_controller
    }
}

/// Plans what the setups say; `None` where they say nothing.
///
/// # Errors
/// [`PlanError::Impossible`] where a drive cannot be set up so, or what it is now is not known and so could not be put
/// back.
pub fn prepare(setups: &[DriveSetup], drives: &[PreparedDrive]) -> Result<Option<Plan>, PlanError> {
    let mut steps = Vec::new();
    let known: BTreeMap<&Name, &PreparedDrive> = drives.iter().map(|drive| (&drive.name, drive)).collect();
    for setup in setups {
        let drive = known.get(&setup.name).copied();
        let drive = drive.ok_or_else(|| impossible(&setup.name, "nothing is known of this drive"))?;
        // Forgetting and formatting first: they may reset what else is set.
        steps.extend(setup.sanitize.map(|way| sanitize(drive, way)).transpose()?.into_iter().flatten());
        steps.extend(setup.lba.map(|lba| format(drive, lba)).transpose()?.flatten());
        steps.extend(setup.write_cache.map(|on| write_cache(drive, on)).transpose()?.flatten());
        steps.extend(setup.scheduler.as_deref().map(|name| scheduler(drive, name)));
    }
    let Some(first) = steps.first() else { return Ok(None) };
    let target = WorkTarget::Device(Word::drive(&first.layer));
    let mut names: Vec<Name> = steps.iter().map(|step: &Step| step.layer.clone()).collect();
    names.dedup();
    let mut needs: Vec<Prerequisite> = steps.iter().filter_map(program).collect();
    needs.sort();
    needs.dedup();
    Ok(Some(Plan {
        schema: PLAN_SCHEMA,
        stack: "setting up drives".to_owned(),
        slug: PREPARED.to_owned(),
        nodes: Vec::new(),
        drives: names,
        needs,
        options: Vec::new(),
        resyncs: Vec::new(),
        steps,
        target,
    }))
}

fn impossible(drive: &Name, why: &str) -> PlanError {
    PlanError::impossible(drive, why)
}

fn program(step: &Step) -> Option<Prerequisite> {
    match &step.act {
        Act::Run(command) => Some(Prerequisite::Program(command.argv.first()?.text()?.to_owned())),
        Act::Write { .. } | Act::Wait(_) => None,
    }
}

fn step(drive: &Name, act: &str, why: String, what: Act) -> Step {
    Step {
        id: format!("{drive}.{act}"),
        layer: drive.clone(),
        why,
        act: what,
        effect: None,
        undo: Vec::new(),
        erases: Vec::new(),
        marks: Vec::new(),
    }
}

/// `None` where the drive has that block already.
fn format(drive: &PreparedDrive, lba: Bytes) -> Result<Option<Step>, PlanError> {
    let name = &drive.name;
    let now = drive.formats.iter().find(|format| format.in_use);
    let now = now.ok_or_else(|| impossible(name, "its formats could not be read, so its block cannot be changed"))?;
    if now.data == lba && now.metadata.0 == 0 {
        return Ok(None);
    }
    if drive.format_takes_others() {
        return Err(impossible(name, "formatting it would format other namespaces of its controller, too"));
    }
    // Of several, the one that the drive itself calls fastest.
    let fitting = drive.formats.iter().filter(|format| format.data == lba && format.metadata.0 == 0);
    let wanted = fitting.min_by_key(|format| format.relative_performance);
    let wanted = wanted.ok_or_else(|| impossible(name, &format!("it has no format with blocks of {lba}")))?;
    let to = |format: &LbaFormat| PlanCommand {
        // Without force: it counts down, and nothing is on the drive by then.
        argv: words!["nvme", "format", Word::drive(name), format!("--lbaf={}", format.index)],
        key: None,
        limit: FORMAT,
    };
    let why = format!("blocks of {lba} are asked for, it has {}; format {} is it", now.data, wanted.index);
    Ok(Some(Step {
        effect: Some(Effect::LogicalBlock { node: Word::drive(name), bytes: lba }),
        undo: vec![Undo { why: format!("it had blocks of {}", now.data), command: to(now) }],
        erases: vec![name.clone()],
        ..step(name, "format", why, Act::Run(to(wanted)))
    }))
}

/// `None` where it is so already.
fn write_cache(drive: &PreparedDrive, on: bool) -> Result<Option<Step>, PlanError> {
    let name = &drive.name;
    let now = drive.cache_on;
    let now = now.ok_or_else(|| impossible(name, "whether its write cache is on could not be read, or it has none"))?;
    if now == on {
        return Ok(None);
    }
    if drive.transport == DriveTransport::Nvme && drive.shares_controller {
        return Err(impossible(
            name,
            "its write cache is that of the whole controller, and other namespaces may be on it",
        ));
    }
    let set = |on: bool| match drive.transport {
        // Feature 6 of NVM Express, volatile write cache (NVM Command Set Specification, 5.27.1.4).
        DriveTransport::Nvme => Ok(command(words![
            "nvme",
            "set-feature",
            // The feature is the controller's: asked on a namespace it is refused (NVM Express Base, 5.27.1).
            Word::controller(name),
            "--feature-id=6",
            format!("--value={}", u8::from(on)),
        ])),
        DriveTransport::Sata => Ok(command(words!["hdparm", format!("-W{}", u8::from(on)), Word::drive(name)])),
        _ => Err(impossible(name, "only NVMe and SATA drives have a write cache that can be set")),
    };
    let word = |on: bool| if on { "on" } else { "off" };
    Ok(Some(Step {
        undo: vec![Undo { why: format!("it was {}", word(now)), command: set(now)? }],
        ..step(name, "write-cache", format!("its write cache is to be {}", word(on)), Act::Run(set(on)?))
    }))
}

/// The command only begins it; the drive says when it is done. Without `--ause`, a drive that fails at it stays locked
/// until it is sanitized with success, which is what whoever asks for it wants.
fn sanitize(drive: &PreparedDrive, way: Sanitize) -> Result<[Step; 2], PlanError> {
    let name = &drive.name;
    if !drive.sanitize.contains(&way) {
        return Err(impossible(name, &format!("its controller does not say that it knows `{}`", way.word())));
    }
    if drive.shares_controller {
        return Err(impossible(name, "sanitizing takes all namespaces of its controller, and it has others, too"));
    }
    let controller = Word::controller(name);
    let begin = command(words!["nvme", "sanitize", controller.clone(), format!("--sanact={}", way.action())]);
    let why = format!("everything on it is to be forgotten for good ({})", way.word());
    Ok([
        Step { erases: vec![name.clone()], ..step(name, "sanitize", why, Act::Run(begin)) },
        step(
            name,
            "sanitized",
            "It goes on in the drive by itself, and nothing can be written until it ends.".to_owned(),
            Act::Wait(Condition::Sanitized { controller, limit_ns: SANITIZE }),
        ),
    ])
}

fn scheduler(drive: &PreparedDrive, scheduler: &str) -> Step {
    let path = Word::sysfs_of(&drive.name).then("/queue/scheduler");
    let why = format!("requests are to be ordered by `{scheduler}`");
    step(&drive.name, "scheduler", why, Act::Write { path, text: scheduler.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> PreparedDrive {
        let format = |index, data, metadata, in_use| LbaFormat {
            index,
            data: Bytes(data),
            metadata: Bytes(metadata),
            relative_performance: 0,
            in_use,
        };
        PreparedDrive {
            name: Name::new("a").unwrap(),
            transport: DriveTransport::Nvme,
            formats: vec![format(0, 512, 0, true), format(3, 4096, 64, false), format(4, 4096, 0, false)],
            format_takes_all: true,
            sanitize: vec![Sanitize::BlockErase],
            shares_controller: false,
            cache_on: Some(true),
        }
    }

    fn setup() -> DriveSetup {
        DriveSetup { name: Name::new("a").unwrap(), lba: None, write_cache: None, scheduler: None, sanitize: None }
    }

    #[test]
    fn what_is_asked_for_is_set_and_put_back() {
        let setup = DriveSetup {
            lba: Some(Bytes(4096)),
            write_cache: Some(false),
            scheduler: Some("none".to_owned()),
            ..setup()
        };
        let plan = prepare(&[setup], &[drive()]).unwrap().unwrap();
        let told = crate::render(&plan);
        for line in [
            "nvme format {drive:a} --lbaf=4",
            "undo: nvme format {drive:a} --lbaf=0",
            "--feature-id=6 --value=0",
            "--value=1",
            "echo none > {sysof:a}/queue/scheduler",
        ] {
            assert!(told.contains(line), "{line} in\n{told}");
        }
        assert_eq!(plan.steps[0].erases, plan.drives, "formatting takes everything, and says so");
        assert_eq!(crate::lint(&plan), []);
    }

    #[test]
    fn what_is_to_be_forgotten_is_forgotten_before_anything_else() {
        let setup = DriveSetup { lba: Some(Bytes(4096)), sanitize: Some(Sanitize::BlockErase), ..setup() };
        let plan = prepare(&[setup], &[drive()]).unwrap().unwrap();
        let ids: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["a.sanitize", "a.sanitized", "a.format"]);
        assert_eq!(plan.steps[0].erases, plan.drives, "it takes everything, and says so");
        assert!(crate::render(&plan).contains("nvme sanitize {controller:a} --sanact=2"));
        assert!(crate::script(&plan).contains("--log-id=0x81"), "{}", crate::script(&plan));
        assert_eq!(crate::lint(&plan), []);
    }

    #[test]
    fn what_is_so_already_needs_no_step() {
        let same = DriveSetup { lba: Some(Bytes(512)), write_cache: Some(true), ..setup() };
        assert_eq!(prepare(&[same], &[drive()]).unwrap(), None);
        assert_eq!(prepare(&[], &[]).unwrap(), None);
    }

    #[test]
    fn what_could_not_be_put_back_is_not_begun() {
        let lba = DriveSetup { lba: Some(Bytes(4096)), ..setup() };
        let forget = DriveSetup { sanitize: Some(Sanitize::BlockErase), ..setup() };
        let cache = DriveSetup { write_cache: Some(false), ..setup() };
        for (setup, drive) in [
            (&forget, PreparedDrive { sanitize: vec![Sanitize::Overwrite], ..drive() }),
            (&forget, PreparedDrive { shares_controller: true, ..drive() }),
            (&lba, PreparedDrive { formats: Vec::new(), ..drive() }),
            (&lba, PreparedDrive { shares_controller: true, ..drive() }),
            (&cache, PreparedDrive { shares_controller: true, ..drive() }),
            (&lba, PreparedDrive { formats: drive().formats[..2].to_vec(), ..drive() }),
            (&cache, PreparedDrive { cache_on: None, ..drive() }),
            (&cache, PreparedDrive { transport: DriveTransport::Virtio, ..drive() }),
        ] {
            assert!(prepare(std::slice::from_ref(setup), std::slice::from_ref(&drive)).is_err(), "{drive:?}");
        }
    }
}
