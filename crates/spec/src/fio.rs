//! fio job files, read into workloads.
//!
//! What has a word here becomes it; what has none is passed on if it is on the list of [`terms::fio`], and refused if
//! not: a job file of a stranger's runs no program and touches nothing but what is measured. Options that defeat
//! measurement are refused unless forced. Everything wrong in a file is told at once.

mod lines;
mod rules;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use terms::workload::FioKey;
use terms::{Bytes, Engine, Load, Name, Nanos, Note, Pattern, Severity, Span, Workload};

use lines::Option_;
use rules::Rule;

/// What a job file asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// One workload for each job, reads before writes.
    pub workloads: Vec<Workload>,
    /// `runtime` of the first job that has one.
    pub window: Option<Nanos>,
    /// `ramp_time` of the first job that has one.
    pub settle: Option<Nanos>,
    /// `size` of the first job that has one, times its jobs where each has a part of its own.
    pub span: Option<Bytes>,
}

/// Reads a job file. `forced` turns refusals into warnings, but for what is never run. There is a result only if no
/// note is an error.
#[must_use]
pub fn import(text: &str, forced: bool) -> (Option<Imported>, Vec<Note>) {
    let mut notes = Vec::new();
    let mut imported = Imported { workloads: Vec::new(), window: None, settle: None, span: None };
    let mut names = Names::default();
    // A global section speaks for the jobs behind it.
    let mut shared = Job::new();
    let mut any = false;
    for section in lines::read(text, &mut notes) {
        rules::check(&section.options, forced, &mut notes);
        if section.is_global() {
            shared.take(&section.options, &mut notes);
            continue;
        }
        any = true;
        let mut job = Job { name: section.name, place: section.span, ..shared.clone() };
        job.take(&section.options, &mut notes);
        imported.window = imported.window.or(job.runtime);
        imported.settle = imported.settle.or(job.ramp);
        imported.span = imported.span.or(job.span());
        imported.workloads.extend(job.workload(&mut names, &mut notes));
    }
    if !any {
        notes.push(Note::error("fio-no-job", None, "the file has no job").hint("begin one with [name]"));
    }
    imported.workloads.sort_by_key(|workload| workload.pattern.writes());
    notes.sort_by_key(|note| (note.span, note.severity));
    notes.dedup();
    let sound = notes.iter().all(|note| note.severity != Severity::Error) && !imported.workloads.is_empty();
    (sound.then_some(imported), notes)
}

/// A job on its way to a workload.
#[derive(Clone)]
struct Job {
    name: String,
    place: Span,
    pattern: Option<(String, Span)>,
    reads: Option<u8>,
    block: Bytes,
    depth: u32,
    jobs: u32,
    engine: Engine,
    fsync: Option<u32>,
    rate: Option<u64>,
    runtime: Option<Nanos>,
    ramp: Option<Nanos>,
    size: Option<Bytes>,
    apart: bool,
    keys: Vec<FioKey>,
}

impl Job {
    /// With fio's own defaults: 4 KiB, one under way, one job, synchronous calls.
    const fn new() -> Self {
        Self {
            name: String::new(),
            place: Span { start: 0, end: 0 },
            pattern: None,
            reads: None,
            block: Bytes::kib(4),
            depth: 1,
            jobs: 1,
            engine: Engine::Psync,
            fsync: None,
            rate: None,
            runtime: None,
            ramp: None,
            size: None,
            apart: false,
            keys: Vec::new(),
        }
    }

    /// Takes options. Those of the job itself come after those of the global section and win.
    fn take(&mut self, options: &[Option_], notes: &mut Vec<Note>) {
        for option in options {
            self.take_one(option, notes);
        }
    }

    fn take_one(&mut self, option: &Option_, notes: &mut Vec<Note>) {
        let value = option.value.as_str();
        match terms::fio::canonical(&option.key) {
            "name" => self.name = value.to_owned(),
            "rw" => self.pattern = Some((value.to_owned(), option.span)),
            "rwmixread" => self.reads = number(option, notes).and_then(|n| u8::try_from(n).ok()).filter(|n| *n <= 100),
            "rwmixwrite" => {
                self.reads =
                    number(option, notes).and_then(|n| u8::try_from(n).ok()).and_then(|n| 100u8.checked_sub(n));
            }
            "bs" => set(&mut self.block, units::size(value).map(Bytes), option, notes),
            "iodepth" => set(&mut self.depth, small(option, notes), option, notes),
            "numjobs" => set(&mut self.jobs, small(option, notes), option, notes),
            "ioengine" => self.take_engine(value),
            "fsync" => self.fsync = small(option, notes).filter(|every| *every > 0),
            "runtime" => self.runtime = time(option, notes),
            "ramp_time" => self.ramp = time(option, notes),
            "size" => self.size = units::size(value).map(Bytes),
            "offset_increment" => self.apart = true,
            "rate_iops" if value.parse::<u64>().is_ok() => self.rate = value.parse().ok(),
            // Two words for one thing, and fio takes the last of them.
            "buffered" if value != "0" => self.keep("direct", "0"),
            key => match rules::of(key, value) {
                Rule::Field | Rule::Ours | Rule::Target | Rule::Never(_) => {}
                Rule::Kept(name) | Rule::Defeats(name, _) => self.keep(name, value),
            },
        }
    }

    /// Engines without a word here are kept. What is no engine for this was refused.
    fn take_engine(&mut self, value: &str) {
        self.keys.retain(|known| known.key != "ioengine");
        match value {
            "libaio" => self.engine = Engine::Libaio,
            "io_uring" => self.engine = Engine::IoUring,
            "posixaio" => self.engine = Engine::PosixAio,
            "psync" | "sync" => self.engine = Engine::Psync,
            other => self.keep("ioengine", other),
        }
    }

    fn keep(&mut self, key: &'static str, value: &str) {
        self.keys.retain(|known| known.key != key);
        self.keys.push(FioKey { key: key.to_owned(), value: value.to_owned() });
    }

    /// Bytes that all jobs together touch.
    fn span(&self) -> Option<Bytes> {
        let parts = if self.apart { u64::from(self.jobs) } else { 1 };
        self.size.map(|size| Bytes(size.0.saturating_mul(parts))).filter(|span| span.0 > 0)
    }

    fn workload(self, names: &mut Names, notes: &mut Vec<Note>) -> Option<Workload> {
        let pattern = self.pattern(notes)?;
        let name = names.unique(&self.name)?;
        if self.engine == Engine::Psync && self.depth > 1 {
            let message = format!("job `{}` keeps one operation under way: its engine waits for each", self.name);
            notes.push(Note::error("fio-depth", Some(self.place), message).as_warning().hint("say ioengine=libaio"));
        }
        // A rate in a job file is that of each job.
        let load = self.rate.map_or(Load::Closed, |rate| Load::Rate(rate.saturating_mul(u64::from(self.jobs))));
        let workload = Workload {
            depth: self.depth,
            jobs: self.jobs,
            fsync_every: self.fsync.filter(|_| pattern.writes()),
            engine: self.engine,
            load,
            keys: self.keys,
            ..Workload::new(name, pattern, self.block)
        };
        notes.extend(crate::workload::too_many_buffers(&workload, "fio-buffers", self.place));
        Some(workload)
    }

    fn pattern(&self, notes: &mut Vec<Note>) -> Option<Pattern> {
        let reads = self.reads.unwrap_or(50);
        let (word, span) = self.pattern.clone().unwrap_or_else(|| ("read".to_owned(), self.place));
        // `rw=randread:8` changes the order of accesses: there is no word for it.
        Some(match word.as_str() {
            "read" => Pattern::Read,
            "write" => Pattern::Write,
            "randread" => Pattern::RandRead,
            "randwrite" => Pattern::RandWrite,
            "rw" | "readwrite" => Pattern::Mixed(reads),
            "randrw" => Pattern::RandMixed(reads),
            other => {
                let message = format!("`rw={}` cannot be measured", other.escape_debug());
                let hint = "it takes read, write, randread, randwrite, rw or randrw";
                notes.push(Note::error("fio-rw", Some(span), message).hint(hint));
                return None;
            }
        })
    }
}

/// Puts a value in its place; one that cannot be read is noted.
fn set<T>(place: &mut T, value: Option<T>, option: &Option_, notes: &mut Vec<Note>) {
    match value {
        Some(value) => *place = value,
        None => notes.push(unreadable(option)),
    }
}

fn unreadable(option: &Option_) -> Note {
    let message = format!("`{}={}` cannot be read", option.key, option.value.escape_debug());
    Note::error("fio-bad-value", Some(option.span), message)
        .hint("one size, time or number; ranges, lists and variables are not read")
}

fn number(option: &Option_, notes: &mut Vec<Note>) -> Option<u64> {
    let read = option.value.parse().ok();
    if read.is_none() {
        notes.push(unreadable(option));
    }
    read
}

fn small(option: &Option_, notes: &mut Vec<Note>) -> Option<u32> {
    number(option, notes).and_then(|number| u32::try_from(number).ok())
}

fn time(option: &Option_, notes: &mut Vec<Note>) -> Option<Nanos> {
    let read = units::time(&option.value).map(Nanos);
    if read.is_none() {
        notes.push(unreadable(option));
    }
    read.filter(|time| time.0 > 0)
}

/// Names of jobs so far.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    /// How often each was asked for: where to look for the next number.
    asked: BTreeMap<String, usize>,
}

impl Names {
    /// A job's name made a name here, and told apart from those before it.
    fn unique(&mut self, text: &str) -> Option<Name> {
        let fit: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
        let fit = fit.trim_start_matches(['-', '_', '.']);
        let base: String = if fit.is_empty() { "job".to_owned() } else { fit.chars().take(36).collect() };
        let asked = self.asked.entry(base.clone()).or_insert(1);
        let numbered = |n: usize| if n == 1 { base.clone() } else { format!("{base}-{n}") };
        let (number, free) = (*asked..).map(|n| (n, numbered(n))).find(|(_, name)| !self.taken.contains(name))?;
        *asked = number + 1;
        self.taken.insert(free.clone());
        Name::new(free).ok()
    }
}

#[cfg(test)]
mod tests;
