//! One job of a file, on its way to a workload.

use std::collections::BTreeSet;

use terms::workload::FioKey;
use terms::{Bytes, Engine, Nanos, Note, Pattern, Span, Workload, fio};

use super::advice;

use super::lines::Option_;
use super::names::Names;
use super::passed;
use super::pattern::unmeasured;
use super::rules::{self, Rule};
use super::units::{self, Base, Unread};
use super::values::{blocks, flag, offset, set, share, span, time, unreadable, within};
use crate::suggest;

/// Most of a number that a workload takes: what a study takes.
const DEPTHS: std::ops::RangeInclusive<u64> = 1..=4096;
const JOBS: std::ops::RangeInclusive<u64> = 1..=1024;

/// How fio names files where nothing is said (`filename_format`), and what it puts the number of a clone in the place of.
const FORMAT: &str = "$jobname.$jobnum.$filenum";
const CLONE: &str = "$jobnum";

/// What the clones of a job, and jobs at once, work on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Files {
    /// A file for each of them, in these directories in turn.
    Own(String, Path),
    /// All on this.
    Shared(String),
}

/// The name of a file: as it is said, or with the number of each clone in the place of `$jobnum`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    name: String,
    is_named: bool,
}

/// What decides what a job does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) pattern: Pattern,
    /// Of reads, then of writes.
    pub(super) blocks: [Bytes; 2],
    pub(super) depth: u32,
    engine: Engine,
    fsync: Option<u32>,
    pub(super) direct: bool,
    pub(super) runtime: Option<Nanos>,
    pub(super) ramp: Option<Nanos>,
    pub(super) size: Option<Bytes>,
    pub(super) offset: Bytes,
    pub(super) increment: Option<Bytes>,
    pub(super) keys: Vec<FioKey>,
}

impl Work {
    /// Is the order of its operations one of chance?
    pub(super) const fn is_random(&self) -> bool {
        self.pattern.random()
    }
}

/// What a job says of the sizes of its blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks {
    /// `bs`: of reads, then of writes.
    said: [Bytes; 2],
    /// A range from this to this: it counts wherever it stands.
    range: Option<Bytes>,
    /// The first is that of blocks in order, and the second that of blocks at random places.
    by_order: bool,
}

impl Blocks {
    /// Are those in order of another size than those at random places?
    pub(super) fn are_apart(self) -> bool {
        self.range.is_none() && self.by_order && self.said[0] != self.said[1]
    }

    /// Of reads, then of writes.
    const fn of(self, is_random: bool) -> [Bytes; 2] {
        match (self.range, self.by_order, is_random) {
            (Some(size), ..) => [size; 2],
            (None, false, _) => self.said,
            (None, true, false) => [self.said[0]; 2],
            (None, true, true) => [self.said[1]; 2],
        }
    }
}

/// A job of a file.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    /// The section's own name, which files are named after.
    section: String,
    pub(super) place: Span,
    pub(super) work: Work,
    pub(super) jobs: u32,
    pub(super) stonewall: Option<Span>,
    pub(super) wait_for: Option<(String, Span)>,
    pub(super) delay: Option<(Nanos, Span)>,
    pub(super) files: Files,
    pub(super) by_clock: bool,
    /// It keeps memory that the page cache would have.
    pub(super) locks: bool,
    /// fio writes its file from end to end before it begins.
    overwrites: bool,
    rw: String,
    reads: u8,
    pub(super) base: Base,
    pub(super) blocks: Blocks,
    filesize: Option<Bytes>,
    pub(super) filename: Option<String>,
    /// How names of files are made where none is given.
    format: Option<String>,
    directory: String,
    /// Where its file begins in the span, beside those of other jobs.
    pub(super) at: Bytes,
    /// Options that say something that could not be read.
    unread: BTreeSet<&'static str>,
}

impl Job {
    /// With fio's own defaults: 4 KiB, one under way, one job, synchronous calls through the page cache.
    pub(super) fn new() -> Self {
        let work = Work {
            pattern: Pattern::Read,
            blocks: [Bytes::kib(4); 2],
            depth: 1,
            engine: Engine::Psync,
            fsync: None,
            direct: false,
            runtime: None,
            ramp: None,
            size: None,
            offset: Bytes(0),
            increment: None,
            keys: Vec::new(),
        };
        Self {
            name: String::new(),
            section: String::new(),
            place: Span { start: 0, end: 0 },
            work,
            jobs: 1,
            stonewall: None,
            wait_for: None,
            delay: None,
            files: Files::Own(String::new(), Path::default()),
            by_clock: false,
            locks: false,
            overwrites: false,
            rw: "read".to_owned(),
            reads: 50,
            base: Base::Binary,
            blocks: Blocks { said: [Bytes::kib(4); 2], range: None, by_order: false },
            filesize: None,
            filename: None,
            format: None,
            directory: String::new(),
            at: Bytes(0),
            unread: BTreeSet::new(),
        }
    }

    /// A job that begins with what this one says.
    pub(super) fn named(&self, name: &str, place: Span) -> Self {
        Self { name: name.to_owned(), section: name.to_owned(), place, ..self.clone() }
    }

    /// Takes a section's options. A later one wins, and those of a job win over those of a global section.
    pub(super) fn take(&mut self, options: &[Option_], notes: &mut Vec<Note>) {
        let known = self.base;
        // fio reads these two before all others: they decide how others are read.
        for option in options {
            match (fio::canonical(&option.key), option.text()) {
                _ if option.unread => {}
                ("kb_base", "1000") => self.base = Base::Decimal,
                ("kb_base", "1024") => self.base = Base::Binary,
                ("kb_base", _) => notes.push(unreadable(option, "it is to be 1024 or 1000")),
                ("ioengine", engine) => self.take_engine(engine),
                _ => {}
            }
        }
        if let Some(option) = options.iter().rfind(|option| option.key == "kb_base" && self.base != known) {
            notes.extend(self.other_base(known, option.span));
        }
        for option in options {
            if option.unread {
                self.unread.extend(rules::field(&option.key));
            } else if let Err(why) = self.take_one(option) {
                self.unread.extend(rules::field(&option.key));
                notes.push(unreadable(option, &why));
            } else {
                self.unread.remove(fio::canonical(&option.key));
            }
            self.unread.extend(option.meant);
        }
        self.work.pattern = self.pattern(options, notes);
        self.work.blocks = self.blocks.of(self.work.is_random());
        self.files = self.files();
    }

    /// Values with a unit that were read with another `kb_base` are said in bytes, for they are passed on with this one. Notes one
    /// that is no list of sizes.
    fn other_base(&mut self, known: Base, place: Span) -> Option<Note> {
        let mut has_unit = self.work.keys.iter_mut().filter(|known| passed::has_unit(&known.key, &known.value));
        let FioKey { key, value } = has_unit.find_map(|key| match passed::in_bytes(&key.value, known) {
            Some(bytes) => {
                key.value = bytes;
                None
            }
            None => Some(key),
        })?;
        let message =
            format!("`{key}={value}` was read with another `kb_base` than this: it would be passed on with this one");
        let hint = format!("say one kb_base, in [global] before all others, or {key} without a unit");
        Some(Note::error("fio-kb-base", Some(place), message).hint(hint))
    }

    /// Names differ from one clone to the next, unless the job names a file or a format says otherwise. fio counts the clones of
    /// each section from 0, so sections may meet on one file, and deals those without a `filename` out to directories in turn
    /// (`make_filename` in its `init.c`, `set_name_idx` in its `filesetup.c`).
    fn files(&self) -> Files {
        let format = self.format.as_deref().filter(|format| !format.is_empty()).unwrap_or(FORMAT);
        let is_named = self.filename.is_some();
        let name = self.filename.clone().unwrap_or_else(|| format.replace("$jobname", &self.section));
        let are_apart = !is_named && (name.contains(CLONE) || self.directories().len() > 1);
        let path = Path { name, is_named };
        if self.jobs > 1 && are_apart {
            Files::Own(self.directory.clone(), path)
        } else {
            Files::Shared(self.path(&path, 0))
        }
    }

    /// Where files lie, in turn. A colon behind a backslash is a part of a name.
    fn directories(&self) -> Vec<String> {
        let names = self.directory.replace("\\:", "\0");
        let names: Vec<String> = names.split(':').map(|name| name.replace('\0', ":")).collect();
        let told: Vec<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
        if told.is_empty() { names } else { told }
    }

    fn path(&self, path: &Path, clone: u32) -> String {
        let directories = self.directories();
        let directory = &directories[clone as usize % directories.len()];
        let name = if path.is_named { path.name.clone() } else { path.name.replace(CLONE, &clone.to_string()) };
        format!("{directory}/{name}")
    }

    /// The files of all its clones.
    pub(super) fn paths(&self) -> Vec<String> {
        match &self.files {
            Files::Shared(path) => vec![path.clone()],
            Files::Own(_, path) => (0..self.jobs).map(|clone| self.path(path, clone)).collect(),
        }
    }

    fn take_one(&mut self, option: &Option_) -> Result<(), Unread> {
        let (text, base) = (option.text(), self.base);
        let work = &mut self.work;
        match fio::canonical(&option.key) {
            "name" => self.name = text.to_owned(),
            "rw" => self.rw = text.to_owned(),
            "rwmixread" => self.reads = share(text)?,
            "rwmixwrite" => self.reads = 100 - share(text)?,
            "bs" => self.blocks.said = blocks(text, base, self.blocks.said)?,
            "bs_is_seq_rand" => self.blocks.by_order = flag(option)?,
            // A range from one size to the same is that size.
            "bsrange" if matches!(rules::of("bsrange", text), Rule::Kept(_)) => {
                self.blocks.range = Some(blocks(text, base, self.blocks.said)?[0]);
            }
            "iodepth" => work.depth = within(text, base, DEPTHS)?,
            "numjobs" => self.jobs = within(text, base, JOBS)?,
            "direct" => work.direct = flag(option)?,
            "buffered" => work.direct = !flag(option)?,
            "fsync" => {
                work.fsync = Some(within(text, base, 0..=u64::from(u32::MAX))?).filter(|every| *every > 0);
            }
            "runtime" => work.runtime = time(text)?,
            "ramp_time" => work.ramp = time(text)?,
            "startdelay" => self.delay = time(text)?.map(|delay| (delay, option.span)),
            "size" => work.size = span(text, base)?,
            "filesize" => {
                let bytes = units::size(text, base)?;
                self.filesize = Some(Bytes(bytes)).filter(|bytes| bytes.0 > 0);
                self.filesize.ok_or("a file of no bytes")?;
            }
            "offset" => work.offset = offset(text, base)?,
            "offset_increment" => work.increment = Some(offset(text, base)?),
            // 0 files are one: fio makes it so.
            "nrfiles" if units::size(text, base)? > 1 => {
                return Err("it works on several files in turn, and a workload has one".to_owned());
            }
            "time_based" => self.by_clock = set(option)?,
            "lockmem" => self.locks = units::size(text, base)? > 0,
            "overwrite" => self.overwrites = flag(option)?,
            "stonewall" => self.stonewall = set(option)?.then_some(option.span),
            "wait_for" => self.wait_for = Some((text.to_owned(), option.span)),
            "filename" => {
                if rules::is_several(text) {
                    return Err("it works on several files in turn, and a workload has one".to_owned());
                }
                self.filename = Some(text.to_owned());
            }
            "filename_format" => self.format = Some(text.to_owned()),
            "directory" => self.directory = text.to_owned(),
            "nrfiles" | "ioengine" | "kb_base" => {}
            key => {
                if let Rule::Kept(name) | Rule::Defeats(name, _) = rules::of(key, text) {
                    self.keep(name, text);
                }
            }
        }
        Ok(())
    }

    /// Engines without a word here are kept. What is no engine for this was refused.
    fn take_engine(&mut self, engine: &str) {
        self.work.keys.retain(|known| known.key != "ioengine");
        match engine {
            "libaio" => self.work.engine = Engine::Libaio,
            "io_uring" => self.work.engine = Engine::IoUring,
            "posixaio" => self.work.engine = Engine::PosixAio,
            "psync" => self.work.engine = Engine::Psync,
            other => {
                // All of them wait for each operation.
                self.work.engine = Engine::Psync;
                self.keep("ioengine", other);
            }
        }
    }

    /// Its engine by fio's name.
    pub(super) fn engine(&self) -> &str {
        self.kept("ioengine").unwrap_or(self.work.engine.fio())
    }

    fn keep(&mut self, key: &'static str, value: &str) {
        let value = passed::over(key, self.kept(key), value);
        self.work.keys.retain(|known| known.key != key);
        self.work.keys.push(FioKey { key: key.to_owned(), value });
    }

    /// What is passed on of an option.
    pub(super) fn kept(&self, key: &str) -> Option<&str> {
        self.work.keys.iter().find(|known| known.key == key).map(|known| known.value.as_str())
    }

    /// Bytes that each of its jobs touches, where the file says so.
    pub(super) fn size(&self) -> Option<Bytes> {
        match (self.work.size, self.filesize) {
            (Some(size), Some(file)) => Some(size.min(file)),
            (size, file) => size.or(file),
        }
    }

    /// Bytes that all of its jobs together touch, where the file says so.
    pub(super) fn span(&self) -> Option<Bytes> {
        let size = self.size()?;
        let parts = if self.has_parts() { u64::from(self.jobs) } else { 1 };
        Some(Bytes(size.0.saturating_mul(parts)))
    }

    /// Where the first byte that it touches lies in the span.
    fn begins(&self) -> Bytes {
        Bytes(self.at.0.saturating_add(self.work.offset.0))
    }

    /// Where the last byte that it touches ends in its file, where the file says so.
    pub(super) fn end_in_file(&self) -> Option<Bytes> {
        Some(Bytes(self.work.offset.0.saturating_add(self.span()?.0)))
    }

    /// Where that is in the span.
    pub(super) fn end(&self) -> Option<Bytes> {
        Some(Bytes(self.at.0.saturating_add(self.end_in_file()?.0)))
    }

    /// Puts its file at a place of the span; where its size is not said, it goes over all of the file.
    pub(super) fn put(&mut self, at: Bytes, length: Bytes) {
        self.at = at;
        if self.size().is_none() {
            self.work.size = Some(Bytes(length.0.saturating_sub(self.work.offset.0)));
        }
    }

    /// Has each of its jobs bytes of its own?
    pub(super) fn has_parts(&self) -> bool {
        matches!(self.files, Files::Own(..)) || self.work.increment.is_some_and(|bytes| bytes.0 > 0)
    }

    /// Does fio end it when its data was gone over once?
    pub(super) fn ends_with_data(&self) -> bool {
        !self.by_clock && !self.is_unsure(&["time_based", "runtime"])
    }

    /// Does fio make a new file of it and allocate each block at its first write? A file that is also read, or mapped, is
    /// written before (`fixup_options` in its `init.c`, `extend_file` in its `filesetup.c`).
    pub(super) fn allocates(&self) -> bool {
        let is_device = self.filename.as_ref().is_some_and(|name| name.starts_with("/dev/"));
        let only_writes = self.work.pattern.writes() && !self.work.pattern.reads();
        let is_sure = !self.is_unsure(&["rw", "overwrite", "filename", "ioengine"]);
        only_writes && is_sure && !self.overwrites && !is_device && self.engine() != "mmap"
    }

    /// Operations that each of its jobs keeps under way: an engine that waits for each keeps one, unless others submit.
    pub(super) fn depth(&self) -> u32 {
        let is_offloaded = self.kept("io_submit_mode") == Some("offload");
        if self.work.engine == Engine::Psync && !is_offloaded { 1 } else { self.work.depth }
    }

    /// Does one of these options say what could not be read?
    pub(super) fn is_unsure(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.unread.contains(key))
    }

    pub(super) fn block(&self) -> Bytes {
        let [reads, writes] = self.work.blocks;
        if self.work.pattern.reads() { reads } else { writes }
    }

    /// The workload, in a run on `span`.
    pub(super) fn workload(
        mut self,
        names: &mut Names,
        whole: Option<Bytes>,
        window: Option<Nanos>,
        notes: &mut Vec<Note>,
    ) -> Option<Workload> {
        let name = names.unique(&self.name)?;
        let (span, shares) = (self.span(), self.jobs > 1 && !self.has_parts());
        let as_read = self.clone();
        let begins = self.begins();
        if begins.0 > 0 {
            self.keep("offset", &begins.0.to_string());
        }
        if let Some(span) = span.filter(|span| begins.0 > 0 || Some(*span) != whole) {
            self.keep("size", &span.0.to_string());
        }
        if shares && !(self.work.pattern.random() && self.work.direct) {
            self.keep("offset_increment", "0");
        }
        // Of mmap fio takes both, as more than one word: with 1 it writes out and unmaps what it touched (`engines/mmap.c`).
        if !self.work.direct || self.engine() == "mmap" {
            self.keep("direct", if self.work.direct { "1" } else { "0" });
        }
        if self.base == Base::Decimal && self.work.keys.iter().any(|key| passed::has_unit(&key.key, &key.value)) {
            self.keep("kb_base", "1000");
        }
        let block = self.block();
        let depth = self.depth();
        let Self { work, jobs, .. } = self;
        let workload = Workload {
            depth,
            jobs,
            fsync_every: work.fsync.filter(|_| work.pattern.writes()),
            engine: work.engine,
            window: work.runtime.filter(|own| Some(*own) != window),
            keys: work.keys,
            ..Workload::new(name, work.pattern, block)
        };
        advice::note(&as_read, &workload, notes);
        Some(workload)
    }

    fn pattern(&mut self, options: &[Option_], notes: &mut Vec<Note>) -> Pattern {
        match self.rw.as_str() {
            "read" => Pattern::Read,
            "write" => Pattern::Write,
            "randread" => Pattern::RandRead,
            "randwrite" => Pattern::RandWrite,
            "rw" | "readwrite" => Pattern::Mixed(self.reads),
            "randrw" => Pattern::RandMixed(self.reads),
            other => {
                // Where a global section says it, it is told there.
                if let Some(said) = options.iter().rfind(|option| fio::canonical(&option.key) == "rw") {
                    notes.push(unmeasured(other, said.span, suggest::is_worth_it(notes)));
                }
                self.unread.insert("rw");
                Pattern::Read
            }
        }
    }
}
