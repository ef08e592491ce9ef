//! One job of a file, on its way to a workload.

use terms::workload::FioKey;
use terms::{Bytes, Engine, Nanos, Note, Pattern, Span, Workload, fio};

use super::lines::Option_;
use super::names::Names;
use super::rules::{self, Rule};
use super::units::{self, Base, Unread};

/// Most of a number that a workload takes: what a study takes.
const DEPTHS: std::ops::RangeInclusive<u64> = 1..=4096;
const JOBS: std::ops::RangeInclusive<u64> = 1..=1024;

/// What the clones of a job, and jobs at once, work on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Files {
    /// A file for each of them.
    Own,
    /// All on this.
    Shared(String),
}

/// What decides what a job does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Work {
    pattern: Pattern,
    /// Reads, then writes.
    blocks: [Bytes; 2],
    depth: u32,
    engine: Engine,
    fsync: Option<u32>,
    direct: bool,
    pub(super) runtime: Option<Nanos>,
    pub(super) ramp: Option<Nanos>,
    size: Option<Bytes>,
    offset: Bytes,
    increment: Option<Bytes>,
    keys: Vec<FioKey>,
}

impl Work {
    /// Is the order of its operations one of chance?
    pub(super) const fn is_random(&self) -> bool {
        self.pattern.random()
    }
}

/// A job of a file.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) place: Span,
    pub(super) work: Work,
    pub(super) jobs: u32,
    pub(super) stonewall: Option<Span>,
    pub(super) wait_for: Option<(String, Span)>,
    pub(super) delay: Option<(Nanos, Span)>,
    pub(super) files: Files,
    by_clock: bool,
    rw: String,
    reads: u8,
    base: Base,
    filesize: Option<Bytes>,
    filename: Option<String>,
    /// How names of files are made where none is given.
    format: Option<String>,
    directory: String,
    /// Where its file begins in the span, beside those of other jobs.
    pub(super) at: Bytes,
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
            place: Span { start: 0, end: 0 },
            work,
            jobs: 1,
            stonewall: None,
            wait_for: None,
            delay: None,
            files: Files::Own,
            by_clock: false,
            rw: "read".to_owned(),
            reads: 50,
            base: Base::Binary,
            filesize: None,
            filename: None,
            format: None,
            directory: String::new(),
            at: Bytes(0),
        }
    }

    /// A job that begins with what this one says.
    pub(super) fn named(&self, name: &str, place: Span) -> Self {
        Self { name: name.to_owned(), place, ..self.clone() }
    }

    /// Takes a section's options. A later one wins, and those of a job win over those of a global section.
    pub(super) fn take(&mut self, options: &[Option_], notes: &mut Vec<Note>) {
        // fio reads these two before all others: they decide how others are read.
        for option in options {
            match (fio::canonical(&option.key), option.text()) {
                ("kb_base", "1000") => self.base = Base::Decimal,
                ("kb_base", "1024") => self.base = Base::Binary,
                ("kb_base", _) => notes.push(unreadable(option, "it is to be 1024 or 1000")),
                ("ioengine", engine) => self.take_engine(engine),
                _ => {}
            }
        }
        for option in options {
            if let Err(why) = self.take_one(option) {
                notes.push(unreadable(option, &why));
            }
        }
        self.work.pattern = self.pattern(options, notes);
        self.files = self.files();
    }

    /// Names differ from one clone to the next, unless the job names a file or a format says otherwise.
    fn files(&self) -> Files {
        let shared = |name: &str| Files::Shared(format!("{}/{name}", self.directory));
        match (&self.filename, &self.format) {
            (Some(name), _) => shared(name),
            (None, Some(format)) if !format.is_empty() && !format.contains("$jobnum") => {
                shared(&format.replace("$jobname", &self.name))
            }
            _ => Files::Own,
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
            "bs" => work.blocks = blocks(text, base)?,
            // A range from one size to the same is that size.
            "bsrange" if matches!(rules::of("bsrange", text), Rule::Kept(_)) => {
                let size = text.split(['-', ':']).next().unwrap_or_default();
                work.blocks = blocks(size, base)?;
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
            "offset_increment" => work.increment = Some(Bytes(units::size(text, base)?)),
            // 0 files are one: fio makes it so.
            "nrfiles" if units::size(text, base)? > 1 => {
                return Err("it works on several files in turn, and a workload has one".to_owned());
            }
            "time_based" => self.by_clock = set(option)?,
            "stonewall" => self.stonewall = set(option)?.then_some(option.span),
            "wait_for" => self.wait_for = Some((text.to_owned(), option.span)),
            "filename" => {
                if text.replace("\\:", "").contains(':') {
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
        let kept = self.work.keys.iter().find(|key| key.key == "ioengine");
        kept.map_or(self.work.engine.fio(), |key| &key.value)
    }

    fn keep(&mut self, key: &'static str, value: &str) {
        self.work.keys.retain(|known| known.key != key);
        self.work.keys.push(FioKey { key: key.to_owned(), value: value.to_owned() });
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
    fn has_parts(&self) -> bool {
        self.files == Files::Own || self.work.increment.is_some_and(|bytes| bytes.0 > 0)
    }

    /// Does fio end it when its data was gone over once?
    pub(super) fn ends_with_data(&self) -> bool {
        !self.by_clock
    }

    /// Notes what cannot be meant or cannot be measured of a whole job.
    pub(super) fn check(&self, notes: &mut Vec<Note>) {
        let mut error = |code, message: String, hint: &str| {
            notes.push(Note::error(code, Some(self.place), message).hint(hint));
        };
        let Work { size, increment, pattern, direct, .. } = &self.work;
        let name = self.name.escape_debug();
        let block = self.block();
        if pattern.reads() && pattern.writes() && self.work.blocks[0] != self.work.blocks[1] {
            let message = format!("`{name}` reads and writes blocks of two sizes: a workload has one");
            error("fio-blocks", message, "give both one size");
        }
        if *direct && !block.0.is_multiple_of(512) {
            let message =
                format!("`{name}` works past the page cache with blocks of {} bytes: no drive takes these", block.0);
            error(
                "fio-bad-value",
                message,
                "blocks are multiples of 512 bytes; fio reads `KiB` as 1000 and `k` as 1024",
            );
        }
        if let Some(span) = self.span().filter(|span| span.0 < block.0.saturating_mul(u64::from(self.jobs))) {
            let message = format!("`{name}` works on {span}: its blocks are larger");
            error("fio-bad-value", message, "make the size larger, or the blocks smaller");
        }
        if self.jobs > 1 && increment.is_some_and(|step| step.0 > 0 && size.is_none_or(|size| step < size)) {
            let message = format!("the jobs of `{name}` begin within one another's parts");
            error("fio-offset", message, "make offset_increment as large as size, or leave it out");
        }
        if self.work.offset.0 > 0 && (size.is_none() && self.filesize.is_none()) {
            let message = format!("`{name}` begins within its file and does not say how much of it it works on");
            error("fio-offset", message, "say size; an offset in bytes lies within the span that is filled");
        }
        if self.by_clock && self.work.runtime.is_none() {
            error("fio-bad-value", format!("`{name}` is time_based and has no runtime"), "add runtime=60");
        }
    }

    fn block(&self) -> Bytes {
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
        let warn = |code, message: String| Note::error(code, Some(self.place), message).as_warning();
        let shown = self.name.escape_debug();
        if self.work.engine == Engine::Psync && self.work.depth > 1 {
            let message = format!("job `{shown}` keeps one operation under way: its engine waits for each");
            notes.push(warn("fio-depth", message).hint("say ioengine=libaio"));
        }
        let (span, shares) = (self.span(), self.jobs > 1 && !self.has_parts());
        if span.is_none() {
            let message = format!(
                "`{shown}` says no size in bytes: it works within the span of the run, and not on a whole drive"
            );
            notes.push(
                warn("fio-size", message)
                    .hint("say size in bytes, or --span: a span that fits a drive's cache is answered by the cache"),
            );
        }
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
        if !self.work.direct && self.engine() != "mmap" {
            self.keep("direct", "0");
        }
        let block = self.block();
        let Self { work, jobs, place, .. } = self;
        let workload = Workload {
            depth: work.depth,
            jobs,
            fsync_every: work.fsync.filter(|_| work.pattern.writes()),
            engine: work.engine,
            window: work.runtime.filter(|own| Some(*own) != window),
            keys: work.keys,
            ..Workload::new(name, work.pattern, block)
        };
        if workload.is_buffered() {
            let message =
                format!("`{}` goes through the page cache, as fio would have it: memory answers too", workload.name);
            let note = Note::error("fio-buffered", Some(place), message).as_warning();
            notes.push(note.hint("say direct=1 to measure the drives alone"));
        }
        notes.extend(crate::workload::too_many_buffers(&workload, "fio-buffers", place));
        Some(workload)
    }

    fn pattern(&self, options: &[Option_], notes: &mut Vec<Note>) -> Pattern {
        // `rw=randread:8` changes the order of accesses: there is no word for it.
        match self.rw.as_str() {
            "read" => Pattern::Read,
            "write" => Pattern::Write,
            "randread" => Pattern::RandRead,
            "randwrite" => Pattern::RandWrite,
            "rw" | "readwrite" => Pattern::Mixed(self.reads),
            "randrw" => Pattern::RandMixed(self.reads),
            other => {
                let said = options.iter().rfind(|option| fio::canonical(&option.key) == "rw");
                let message = format!("`rw={}` cannot be measured", other.escape_debug());
                let hint = "it takes read, write, randread, randwrite, rw or randrw";
                // Where a global section says it, it is told there.
                notes.extend(said.map(|option| Note::error("fio-rw", Some(option.span), message).hint(hint)));
                Pattern::Read
            }
        }
    }
}

fn unreadable(option: &Option_, why: &str) -> Note {
    let shown = option.value.as_ref().map_or(option.key.clone(), |value| format!("{}={value}", option.key));
    let message = format!("`{}` cannot be measured: {why}", shown.escape_debug());
    Note::error("fio-bad-value", Some(option.span), message).hint("one size, time or number; no ranges and no lists")
}

/// Sizes of blocks for reads and for writes: `4k`, `4k,64k`. Trims, the third, are never measured.
fn blocks(text: &str, base: Base) -> Result<[Bytes; 2], Unread> {
    let parts: Vec<&str> = text.split(',').collect();
    let (reads, writes) = match parts[..] {
        [one] => (one, one),
        [reads, writes] | [reads, writes, _] => (reads, writes),
        _ => return Err("there are three kinds of operations at most".to_owned()),
    };
    let read = |text| match units::size(text, base)? {
        0 => Err("a block of no bytes".to_owned()),
        bytes => Ok(Bytes(bytes)),
    };
    Ok([read(reads)?, read(writes)?])
}

/// Bytes of a file, if a number says so: a share of a device is that of another device.
fn span(text: &str, base: Base) -> Result<Option<Bytes>, Unread> {
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.parse::<u8>() {
            Ok(1..=100) => Ok(None),
            _ => Err("a share is from 1% to 100%".to_owned()),
        };
    }
    Ok(Some(Bytes(units::size(text, base)?)).filter(|bytes| bytes.0 > 0))
}

/// Where in a file a job begins: in bytes, as a share is that of another file.
fn offset(text: &str, base: Base) -> Result<Bytes, Unread> {
    match text.strip_suffix('%') {
        Some(percent) if percent.parse() == Ok(0_u8) => Ok(Bytes(0)),
        Some(_) => Err("a share of a file is that of another file; say bytes".to_owned()),
        None => units::size(text, base).map(Bytes),
    }
}

fn time(text: &str) -> Result<Option<Nanos>, Unread> {
    Ok(Some(Nanos(units::time(text)?)).filter(|time| time.0 > 0))
}

fn within(text: &str, base: Base, range: std::ops::RangeInclusive<u64>) -> Result<u32, Unread> {
    let number = units::size(text, base)?;
    let outside = || format!("it is to be from {} to {}", range.start(), range.end());
    u32::try_from(number).ok().filter(|_| range.contains(&number)).ok_or_else(outside)
}

fn share(text: &str) -> Result<u8, Unread> {
    within(text, Base::Binary, 0..=100).and_then(|share| u8::try_from(share).map_err(|error| error.to_string()))
}

fn flag(option: &Option_) -> Result<bool, Unread> {
    match option.text() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err("it is to be 0 or 1".to_owned()),
    }
}

/// An option that is said by its name alone.
fn set(option: &Option_) -> Result<bool, Unread> {
    if option.value.is_none() { Ok(true) } else { flag(option) }
}
