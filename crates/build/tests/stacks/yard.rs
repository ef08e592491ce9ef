//! A machine of a study's drives, and its plans.
#![allow(dead_code, reason = "each test uses a part of it")]

use build::{Authority, Bindings, BuildError, Built, Claims, Journal, JournalEntry, MemoryJournal, Origin};
use claim::{Consent, Examination, Permission};
use fake::{FakeMachine, FakeSnapshot};
use host::Host;
use terms::LabDriveKind;
use terms::{Design, Name, Plan};

/// Every layer and variant that there is.
pub(crate) const EVERY_LAYER: &str = include_str!("../../../bedplate/tests/studies/every-layer.toml");

/// A machine, the nodes of the study's drives on it, and the plans of its stacks.
pub(crate) struct Yard {
    pub(crate) machine: FakeMachine,
    pub(crate) drives: Bindings,
    pub(crate) plans: Vec<Plan>,
}

pub(crate) fn design(study: &str) -> Design {
    let (design, notes) = spec::parse(study);
    design.unwrap_or_else(|| panic!("{notes:?}"))
}

impl Yard {
    pub(crate) fn new(machine: FakeMachine, study: &str) -> Self {
        let design = design(study);
        let mut drives = Bindings::new();
        for drive in &design.lab.drives {
            let node = match drive.kind {
                LabDriveKind::Sata => machine.sata(drive.size),
                LabDriveKind::Ram => machine.ram(drive.size),
                _ => machine.nvme(drive.size, drive.lba),
            };
            drives.insert(drive.name.clone(), node);
        }
        let facts = plan::DriveSize::of_lab(&design.lab);
        let plans = design.stacks.iter().map(|stack| plan::plan(stack, &facts).unwrap()).collect();
        // Modules stay when a stack goes, and so does the directory that all are mounted in.
        machine.line("modprobe zfs");
        machine.line("mkdir /mnt/bedplate");
        Self { machine, drives, plans }
    }

    pub(crate) fn lab(study: &str) -> Self {
        Self::new(FakeMachine::throwaway(), study)
    }

    pub(crate) fn real(study: &str) -> Self {
        Self::new(FakeMachine::new(), study)
    }

    /// The same drives on the machine as it was at another moment.
    pub(crate) fn at(&self, moment: &FakeSnapshot) -> Self {
        Self { machine: self.machine.as_of(moment), drives: self.drives.clone(), plans: self.plans.clone() }
    }

    pub(crate) fn plan(&self, stack: &str) -> &Plan {
        self.plans.iter().find(|plan| plan.stack == stack).unwrap()
    }

    pub(crate) fn node(&self, drive: &str) -> &str {
        &self.drives[&Name::new(drive).unwrap()]
    }

    /// What a person would call a drive; `None` for one that tells no name.
    pub(crate) fn id(&self, name: &Name) -> Option<String> {
        let drives = host::inspect::drives(&self.machine).unwrap();
        claim::id_of(drives.iter().find(|drive| drive.node() == self.drives[name])?)
    }

    /// Plans on drives that a person can name.
    pub(crate) fn named(&self) -> Vec<&Plan> {
        self.plans.iter().filter(|plan| plan.drives.iter().all(|drive| self.id(drive).is_some())).collect()
    }

    pub(crate) fn examine(&self, name: &Name) -> Examination {
        let identity = claim::resolve(&self.machine, &self.id(name).unwrap()).unwrap();
        claim::examine(&self.machine, &identity).unwrap()
    }

    /// Locks on the drives of a plan, for building on them.
    pub(crate) fn claims(&self, plan: &Plan) -> Claims<'_> {
        let take = |name: &Name| {
            let consent = Consent::given(&self.machine, &[self.id(name).unwrap()], &[]).unwrap();
            (name.clone(), Permission::grant(self.examine(name), &consent).unwrap().hold(&self.machine).unwrap())
        };
        plan.drives.iter().map(take).collect()
    }

    /// Locks on those that are there, for taking down what an earlier run left.
    pub(crate) fn reclaimed(&self, plan: &Plan, past: &[JournalEntry], erase: bool) -> Claims<'_> {
        let origin = build::origin(past, &plan.slug).unwrap();
        let mut claims = Claims::new();
        for name in &plan.drives {
            let Ok(identity) = claim::resolve(&self.machine, &origin.drives[name].id) else { continue };
            let ids = [identity.id.clone()];
            let none: [String; 0] = [];
            let consent = Consent::given(&self.machine, &ids, if erase { &ids } else { &none }).unwrap();
            let examination = claim::examine(&self.machine, &identity).unwrap();
            claims.insert(name.clone(), claim::reclaim(&self.machine, examination, &consent).unwrap());
        }
        claims
    }

    /// How a journal of a build on real drives begins.
    pub(crate) fn begin(&self, plan: &Plan) -> JournalEntry {
        let identity = |name: &Name| (name.clone(), self.examine(name).identity);
        JournalEntry::Begin {
            stack: plan.slug.clone(),
            round: 1,
            drives: Vec::new(),
            origin: Some(Box::new(Origin {
                place: "local".to_owned(),
                machine: None,
                owner: None,
                boot: self.machine.read_text(host::BOOT_ID).unwrap(),
                plan_sha256: String::new(),
                drives: plan.drives.iter().map(identity).collect(),
            })),
        }
    }

    pub(crate) fn is_clean(&self, drives: &[Name]) -> bool {
        drives.iter().all(|drive| self.machine.kinds(&self.drives[drive]).is_empty())
    }
}

pub(crate) fn apply(
    plan: &Plan,
    over: &Authority<'_>,
    past: &[JournalEntry],
    journal: &mut dyn Journal,
) -> Result<Built, BuildError> {
    build::apply(plan, over, past, journal, &|_| ())
}

/// A journal that keeps the machine as it was at each line.
pub(crate) struct Watching<'a> {
    pub(crate) machine: &'a FakeMachine,
    pub(crate) lines: Vec<(JournalEntry, FakeSnapshot)>,
}

impl<'a> Watching<'a> {
    pub(crate) fn new(machine: &'a FakeMachine) -> Self {
        Self { machine, lines: Vec::new() }
    }

    pub(crate) fn entries(&self) -> Vec<JournalEntry> {
        self.lines.iter().map(|(entry, _)| entry.clone()).collect()
    }
}

impl Journal for Watching<'_> {
    fn note(&mut self, entry: &JournalEntry) -> std::io::Result<()> {
        self.lines.push((entry.clone(), self.machine.now_is()));
        Ok(())
    }
}

/// A journal on a disk that is full after so many lines.
pub(crate) struct Full(pub(crate) usize, pub(crate) MemoryJournal);

impl Journal for Full {
    fn note(&mut self, entry: &JournalEntry) -> std::io::Result<()> {
        if self.1.0.len() >= self.0 {
            return Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
        }
        self.1.note(entry)
    }
}
