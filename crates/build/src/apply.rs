//! Carrying out a plan.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use claim::{Writable, WrittenMark};
use host::{in_force, interrupt};
use terms::plan::{Act, Condition, Effect, Mark, Plan, Step, WorkPlace};
use terms::{Cmd, Name, Nanos, Word, WorkTarget};

use crate::authority::Authority;
use crate::error::BuildError;
use crate::journal::{self, Journal, JournalEntry, Made};
use crate::lanes::{self, Lane};
use crate::machine::Machine;
use crate::retry::{again, is_refused_table};
use crate::{sanitize, teardown};

/// How long an effect may take to be seen after its command ended.
const EFFECT_PATIENCE: Duration = Duration::from_secs(10);
/// How soon what is waited for is asked for again, at the soonest and at the latest. A question that takes long is asked less
/// often, for it slows what it asks about: `lvs` reads the drives that a resync copies.
const ASK_AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Bytes of a key for a test volume.
const KEY_BYTES: usize = 64;

/// A stack that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// What workloads use, on this machine: a directory or a device.
    pub target: Writable,
    /// Which directory that is ([`host::file_id`]); `None` for a node, and in a guest, which nobody else is in.
    pub directory: Option<String>,
    /// Steps that ran; 0 means that everything stood already.
    pub changed: usize,
    /// Time it took.
    pub took: Nanos,
}

/// Carries out a plan on the drives of an authority. `past` is what the journal says of earlier attempts at the same stack
/// on the same machine. Layers that have every block of their devices written are made side by side
/// where none rests on another, and so are drives set up; `progress` then hears of steps from several threads.
///
/// # Errors
/// [`BuildError`]. What this call did is taken back first; where that fails too, the commands left are in the error.
pub fn apply(
    plan: &Plan,
    authority: &Authority<'_>,
    past: &[JournalEntry],
    journal: &mut dyn Journal,
    progress: &(dyn Fn(&Step) + Sync),
) -> Result<Built, BuildError> {
    let start = Instant::now();
    let finished = journal::finished(past, &plan.slug);
    authority.check(plan)?;
    if finished.is_empty() {
        authority.prove_free(&plan.drives)?;
    }
    check_keys(plan, &finished)?;
    let machine = authority.machine();
    check_mount_points(plan, &machine, past)?;
    let notes = Mutex::new(Notes { journal, done: past.to_vec() });
    let run = Run { plan, machine, authority, finished, progress, notes, keys: Mutex::default() };
    let mut changed = 0;
    for wave in lanes::waves(plan) {
        changed += run.wave(&wave).map_err(|failed| run.take_back(failed))?;
    }
    match (run.target(), plan.steps.last()) {
        (Err(error), Some(step)) => Err(run.take_back(Failed { step, error })),
        (target, _) => {
            let (target, directory) = target?;
            Ok(Built { target, directory, changed, took: start.elapsed().into() })
        }
    }
}

/// Keys live only as long as the run that made them: what was locked with one cannot be opened by a later run.
fn check_keys(plan: &Plan, finished: &[String]) -> Result<(), BuildError> {
    let key = |step: &Step| match &step.act {
        Act::Run(command) => command.key.clone(),
        _ => None,
    };
    let is_done = |step: &&Step| finished.contains(&step.id);
    let used: Vec<Name> = plan.steps.iter().filter(is_done).filter_map(key).collect();
    let wanted =
        plan.steps.iter().filter(|step| !is_done(step)).find(|step| key(step).is_some_and(|key| used.contains(&key)));
    match wanted {
        Some(step) => Err(BuildError::KeyGone { step: step.id.clone() }),
        None => Ok(()),
    }
}

/// A directory that is there already is somebody's: what is in it would be hidden, and it would be taken away at the end.
fn check_mount_points(plan: &Plan, machine: &Machine<'_>, past: &[JournalEntry]) -> Result<(), BuildError> {
    plan.steps.iter().try_for_each(|step| check_mount_point(plan, step, machine, past))
}

/// The same for one step, where it was not begun: then it may have made the directory itself.
fn check_mount_point(plan: &Plan, step: &Step, machine: &Machine<'_>, past: &[JournalEntry]) -> Result<(), BuildError> {
    let Some(directory) = plan.mount_point(step) else { return Ok(()) };
    let is_begun = journal::begun(past, &plan.slug).iter().any(|(id, _)| *id == step.id);
    if is_begun || !machine.host.exists(directory)? {
        return Ok(());
    }
    Err(BuildError::AlreadyThere { step: step.id.clone(), what: format!("`{directory}`") })
}

struct Run<'a> {
    plan: &'a Plan,
    machine: Machine<'a>,
    authority: &'a Authority<'a>,
    /// Steps that earlier runs finished.
    finished: Vec<String>,
    progress: &'a (dyn Fn(&Step) + Sync),
    notes: Mutex<Notes<'a>>,
    /// Random keys of this run; they live here and nowhere else.
    keys: Mutex<BTreeMap<Name, Vec<u8>>>,
}

/// What is written down, and what was.
struct Notes<'a> {
    journal: &'a mut dyn Journal,
    /// What earlier runs and this one wrote down, for taking it back.
    done: Vec<JournalEntry>,
}

/// A step that failed.
struct Failed<'a> {
    step: &'a Step,
    error: BuildError,
}

impl Run<'_> {
    fn note(&self, entry: JournalEntry) -> Result<(), BuildError> {
        lock(&self.notes).note(&entry).map_err(BuildError::Journal)
    }

    /// Does the lanes of a wave side by side, and gives how many steps ran. Where one fails the others are stopped: what
    /// they do would be taken back.
    fn wave<'s>(&self, wave: &[Lane<'s>]) -> Result<usize, Failed<'s>> {
        let abreast = u32::try_from(wave.len()).unwrap_or(u32::MAX);
        if let [lane] = wave {
            return self.lane(lane, abreast);
        }
        let stop = Arc::<AtomicBool>::default();
        let first = Mutex::new(None);
        let work = |lane: Lane<'s>| {
            let _guard = StopInPanic(&stop);
            interrupt::with_flag(Arc::clone(&stop), || {
                self.lane(lane, abreast).unwrap_or_else(|failed| {
                    lock(&first).get_or_insert(failed);
                    stop.store(true, Ordering::Relaxed);
                    0
                })
            })
        };
        let changed = thread::scope(|scope| {
            let work = &work;
            let lanes: Vec<_> = wave.iter().map(|lane| scope.spawn(move || work(lane))).collect();
            lanes.into_iter().map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
        });
        first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(changed), Err)
    }

    /// Does the steps of a layer in their order. Those of several abreast share the machine, and so each may take as many
    /// times as long.
    fn lane<'s>(&self, lane: Lane<'s>, abreast: u32) -> Result<usize, Failed<'s>> {
        let mut changed = 0;
        for step in lane {
            (self.progress)(step);
            let ours = self.finished.contains(&step.id);
            let did = self.step(step, ours, abreast).map_err(|error| Failed { step, error })?;
            changed += usize::from(did);
        }
        Ok(changed)
    }

    /// Runs one step; `false` where it was found done.
    fn step(&self, step: &Step, ours: bool, abreast: u32) -> Result<bool, BuildError> {
        interrupt::check()?;
        let stack = self.plan.slug.clone();
        let there = match &step.effect {
            Some(effect) => self.machine.sees(&step.id, effect)?,
            None => ours,
        };
        match (there, ours, &step.effect) {
            (true, true, _) => {
                self.note(JournalEntry::Found { stack, step: step.id.clone() })?;
                return Ok(false);
            }
            (true, false, Some(effect)) => {
                return Err(BuildError::AlreadyThere { step: step.id.clone(), what: effect.describe() });
            }
            _ => {}
        }
        // Hours may have gone by since the first look.
        check_mount_point(self.plan, step, &self.machine, &lock(&self.notes).done)?;
        let start = Instant::now();
        self.act(step, abreast)?;
        if let Some(effect) = &step.effect {
            self.await_effect(step, effect)?;
        }
        let made = self.made(step)?;
        self.note(JournalEntry::After { stack, step: step.id.clone(), took_ns: start.elapsed().into(), made })?;
        Ok(true)
    }

    /// What workloads use, and which directory that is.
    fn target(&self) -> Result<(Writable, Option<String>), BuildError> {
        let target = match &self.plan.target {
            WorkTarget::Directory(directory) => Writable::directory(directory.clone()),
            WorkTarget::Device(word) => self.authority.writable(&self.machine.word("target", word)?)?,
        };
        let directory = self.directory(target.place())?;
        Ok((target, directory))
    }

    /// Which directory workloads use, while all that was mounted is mounted.
    fn directory(&self, target: &WorkPlace) -> Result<Option<String>, BuildError> {
        let WorkPlace::Directory(path) = target else { return Ok(None) };
        if self.machine.host.is_throwaway() {
            return Ok(None);
        }
        let directory = host::file_id(self.machine.host, path)?;
        for step in &self.plan.steps {
            if let Some(effect @ Effect::Mount(_)) = &step.effect
                && !self.machine.sees(&step.id, effect)?
            {
                return Err(BuildError::NotMounted { path: path.clone() });
            }
        }
        Ok(Some(directory))
    }

    /// Signatures that the step will write, with the identifiers that it gives.
    fn makes(&self, step: &Step) -> Result<Vec<Made>, BuildError> {
        let make = |mark: &Mark| {
            let uuid = mark.uuid.as_ref().map(|word| self.machine.word(&step.id, word)).transpose()?;
            Ok(Made { node: mark.node.clone(), signature: WrittenMark { kind: mark.kind.clone(), uuid } })
        };
        step.marks.iter().map(make).collect()
    }

    /// Signatures whose identifiers the step's tool drew, as they stand now. A guest goes with all that is in it, and
    /// nobody asks for them.
    fn made(&self, step: &Step) -> Result<Vec<Made>, BuildError> {
        let mut made = Vec::new();
        if let Some(Effect::Directory { path, .. }) = &step.effect {
            made.push(Made { node: Word::from(path.as_str()), signature: self.machine.directory_mark(path)? });
        }
        for mark in step.marks.iter().filter(|mark| mark.uuid.is_none() && self.authority.claims().is_some()) {
            let node = self.machine.word(&step.id, &mark.node)?;
            let found =
                claim::signatures(self.machine.host, &node)?.into_iter().filter(|found| found.kind == mark.kind);
            made.extend(found.map(|signature| Made { node: mark.node.clone(), signature }));
        }
        Ok(made)
    }

    fn act(&self, step: &Step, abreast: u32) -> Result<(), BuildError> {
        let makes = self.makes(step)?;
        let before = |line: String, old| JournalEntry::Before {
            stack: self.plan.slug.clone(),
            step: step.id.clone(),
            line,
            old,
            makes: makes.clone(),
        };
        match &step.act {
            Act::Run(command) => {
                let entry = before(self.authority.line(&self.machine, &step.id, command)?, None);
                self.note(entry)?;
                let key = command.key.as_ref().map(|key| self.key(key)).transpose()?.unwrap_or_default();
                let command = (step.id.as_str(), command);
                again(self.machine.host, is_refused_table, || {
                    self.authority.run(&self.machine, command, &step.erases, key.clone(), abreast)
                })?;
            }
            Act::Write { path, text } => {
                let file = self.machine.word(&step.id, path)?;
                let old = in_force(&self.machine.host.read_text(&file)?).to_owned();
                let entry = before(format!("echo {text} > {file}"), Some(old));
                self.note(entry)?;
                self.authority.set(&self.machine, (&step.id, path), text)?;
            }
            Act::Wait(condition) => {
                let entry = before(format!("wait: {}", waiting_for(condition)), None);
                self.note(entry)?;
                self.wait(step, condition, abreast)?;
            }
        }
        Ok(())
    }

    fn key(&self, name: &Name) -> Result<Vec<u8>, BuildError> {
        let mut keys = lock(&self.keys);
        if let Some(key) = keys.get(name) {
            return Ok(key.clone());
        }
        let key = host::draw_key(self.machine.host, KEY_BYTES)?;
        keys.insert(name.clone(), key.clone());
        Ok(key)
    }

    fn await_effect(&self, step: &Step, effect: &Effect) -> Result<(), BuildError> {
        let start = Instant::now();
        while !self.machine.sees(&step.id, effect)? {
            if start.elapsed() > EFFECT_PATIENCE {
                let seconds = EFFECT_PATIENCE.as_secs();
                return Err(BuildError::NoEffect { step: step.id.clone(), what: effect.describe(), seconds });
            }
            interrupt::check()?;
            self.machine.host.pause(Duration::from_millis(50))?;
        }
        Ok(())
    }

    fn wait(&self, step: &Step, condition: &Condition, abreast: u32) -> Result<(), BuildError> {
        let start = Instant::now();
        let (Condition::MdIdle { limit_ns, .. }
        | Condition::LvSynced { limit_ns, .. }
        | Condition::Sanitized { limit_ns, .. }) = condition;
        let limit = limit_ns.times(abreast);
        let host = self.machine.host;
        loop {
            let asked = host.now()?;
            if self.holds(step, condition)? {
                return Ok(());
            }
            if start.elapsed() > limit.to_duration() {
                let what = waiting_for(condition);
                return Err(BuildError::Timeout { step: step.id.clone(), what, limit });
            }
            interrupt::check()?;
            // Timed by the machine's clock, so that under a virtual one every round asks at the same moments.
            let took = Nanos(host.now()?.0.saturating_sub(asked.0)).to_duration();
            host.pause(took.saturating_mul(2).clamp(ASK_AGAIN.0, ASK_AGAIN.1))?;
        }
    }

    fn holds(&self, step: &Step, condition: &Condition) -> Result<bool, BuildError> {
        let host = self.machine.host;
        match condition {
            Condition::MdIdle { node, .. } => {
                let directory = self.machine.sysfs(&self.machine.word(&step.id, node)?)?;
                // Right after creation the action may still say idle; where the resync stands does not lie.
                let idle = host.read_text(&format!("{directory}/md/sync_action"))? == "idle";
                // A new RAID-5 does not resync but recovers its last member, and is degraded until then.
                let whole = host.read_text(&format!("{directory}/md/degraded"))? == "0";
                Ok(idle && whole && host.read_text(&format!("{directory}/md/resync_start"))? == "none")
            }
            Condition::Sanitized { controller, .. } => {
                let node = self.machine.word(&step.id, controller)?;
                sanitize::is_done(host, node, &step.id)
            }
            Condition::LvSynced { group, .. } => {
                // Legs have a figure of their own while their checksums are made.
                let line = ["lvs", "--all", "--noheadings", "--options", "sync_percent", group];
                let text = host.run_ok(&Cmd::new(line).step(&step.id))?.text();
                let mut parts = text.split_whitespace().peekable();
                Ok(parts.peek().is_some() && parts.all(|percent| percent.starts_with("100")))
            }
        }
    }

    /// Takes back what this run did, and says what could not be taken back.
    fn take_back(&self, Failed { step, error }: Failed<'_>) -> BuildError {
        let failed =
            JournalEntry::Failed { stack: self.plan.slug.clone(), step: step.id.clone(), why: error.to_string() };
        let _ = self.note(failed);
        let mut notes = lock(&self.notes);
        if journal::begun(&notes.done, &self.plan.slug).is_empty() {
            return error;
        }
        // Somebody who interrupts wants it taken back, and then to stop.
        let interrupted = interrupt::raised();
        interrupt::clear();
        let result = self.take_back_all(&mut notes, error);
        if interrupted {
            interrupt::raise();
        }
        result
    }

    fn take_back_all(&self, notes: &mut Notes<'_>, error: BuildError) -> BuildError {
        let past = notes.done.clone();
        match teardown::teardown(self.plan, self.authority, &past, notes) {
            // What could not be written is what the error tells already.
            Ok(_) | Err(BuildError::Unwritten(_)) => error,
            Err(rollback) => {
                let left = teardown::commands_left(self.plan, self.authority, &notes.done);
                BuildError::Rollback { cause: Box::new(error), rollback: Box::new(rollback), left }
            }
        }
    }
}

/// Keeps entries at hand beside the journal.
impl Journal for Notes<'_> {
    fn note(&mut self, entry: &JournalEntry) -> std::io::Result<()> {
        self.journal.note(entry)?;
        self.done.push(entry.clone());
        Ok(())
    }
}

/// Stops the other lanes where one panics: whoever waits for all of them would wait for a day.
struct StopInPanic<'a>(&'a AtomicBool);

impl Drop for StopInPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn waiting_for(condition: &Condition) -> String {
    match condition {
        Condition::MdIdle { node, .. } => format!("`{node}` to be in sync"),
        Condition::LvSynced { group, .. } => format!("all of `{group}` to be in sync"),
        Condition::Sanitized { controller, .. } => format!("`{controller}` to be sanitized"),
    }
}
