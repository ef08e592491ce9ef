//! fio job files, read into workloads.
//!
//! What has a word here becomes it; what has none is passed on if it is on the list of [`terms::fio`], and refused if
//! not: a job file of a stranger's runs no program and touches nothing but what is measured. A file is read as fio reads
//! it, or refused with the reason. Options that defeat measurement are refused unless forced. Everything wrong in a file
//! is told at once.

mod advice;
mod check;
mod command;
mod distribution;
mod groups;
mod job;
mod lines;
mod names;
mod never;
mod parts;
mod passed;
mod pattern;
mod rules;
mod together;
mod units;
mod values;

use std::collections::BTreeMap;

use terms::{Bytes, Nanos, Note, NoteLevel, Span, Workload, fio};

use job::Job;
use lines::Section;

pub use command::job_file;

/// What a job file asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// One workload for each job, reads before writes; one for all jobs that run at once: of as many jobs where they do
    /// the same, and otherwise of as many parts.
    pub workloads: Vec<Workload>,
    /// `runtime` of the first job that has one. Jobs with another have a window of their own.
    pub window: Option<Nanos>,
    /// The longest `ramp_time`.
    pub settle: Option<Nanos>,
    /// The longest stretch that jobs at once work on, all their clones together. Jobs with less say so.
    pub span: Option<Bytes>,
}

/// How a job file is read.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// Turns refusals of what defeats measurement into warnings.
    pub forced: bool,
    /// What `${NAME}` stands for.
    pub variables: &'a BTreeMap<String, String>,
    /// Gives the text of a file beside the job file, or why not.
    pub include: &'a dyn Fn(&str) -> Result<String, String>,
}

/// Reads a job file that stands for itself: without variables and without other files.
#[must_use]
pub fn import(text: &str, forced: bool) -> (Option<Imported>, Vec<Note>) {
    let nothing = |_: &str| Err("nothing is read beside it".to_owned());
    Reader { forced, variables: &BTreeMap::new(), include: &nothing }.read(text)
}

impl Reader<'_> {
    /// Reads a job file. There is a result only if no note is an error.
    #[must_use]
    pub fn read(&self, text: &str) -> (Option<Imported>, Vec<Note>) {
        let mut notes = Vec::new();
        // A global section speaks for the jobs behind it.
        let mut shared = Job::new();
        let mut jobs = Vec::new();
        let sections = lines::read(text, self, &mut notes);
        // What a file that is not there would have said is not known, and nothing follows from its lack.
        let is_whole = notes.iter().all(|note| note.code != "fio-include");
        for mut section in sections {
            rules::check(&mut section.options, shared.filename.is_some(), self.forced, &mut notes);
            let mut job = shared.named(&section.name, section.span);
            job.take(&section.options, &mut notes);
            if is_whole {
                check_engine(&section, &job, &mut notes);
            }
            if section.is_global() {
                shared = job;
            } else {
                jobs.push(job);
            }
        }
        // What is behind a byte order mark, or is no section, was told.
        if jobs.is_empty() && notes.iter().all(|note| note.code != "fio-no-section") {
            notes.push(Note::error("fio-no-job", None, "the file has no job").hint("begin one with [name]"));
        }
        let imported = arranged(if is_whole { jobs } else { Vec::new() }, &mut notes);
        notes.sort_by_key(|note| (note.span, note.severity));
        notes.dedup();
        let sound = notes.iter().all(|note| note.severity != NoteLevel::Error) && !imported.workloads.is_empty();
        (sound.then_some(imported), notes)
    }
}

/// The workloads of jobs, and the run that they ask for.
fn arranged(jobs: Vec<Job>, notes: &mut Vec<Note>) -> Imported {
    if let Some(job) = jobs.iter().find(|job| job.ends_with_data()) {
        let message =
            format!("fio ends `{}` when all its data has moved; here the clock ends it", job.name.escape_debug());
        notes.push(Note::error("fio-clock", Some(job.place), message).as_warning().hint("say time_based and runtime"));
    }
    if let Some(job) = jobs.iter().find(|job| job.allocates()) {
        let message = format!(
            "`{}` overwrites what the fill has written; fio allocates blocks of a new file at their first write, and the \
             figure has nothing of that",
            job.name.escape_debug()
        );
        let hint = "say overwrite=1: fio then writes the file first, too";
        notes.push(Note::error("fio-overwrite", Some(job.place), message).as_warning().hint(hint));
    }
    let groups = groups::one_after_another(jobs, notes);
    let jobs = || groups.iter().flatten();
    for job in jobs() {
        job.check(notes);
    }
    let window = jobs().find_map(|job| job.work.runtime);
    let settle = jobs().filter_map(|job| job.work.ramp).max();
    let span = groups.iter().filter_map(|group| parts::end(group)).max();
    let settles_otherwise = |job: &&Job| job.work.ramp != settle && !job.is_unsure(&["ramp_time"]);
    if let Some(job) = jobs().find(settles_otherwise).filter(|_| settle.is_some()) {
        let message = format!("`{}` settles as long as the job that settles longest", job.name.escape_debug());
        notes.push(Note::error("fio-ramp", Some(job.place), message).as_warning());
    }
    let mut names = names::Names::default();
    let mut workloads: Vec<Workload> = Vec::new();
    for group in groups {
        let place = group.first().map(|job| job.place);
        let Some(workload) = parts::workload(group, &mut names, span, window, notes) else { continue };
        let writer = workloads.iter().find(|before| before.pattern.writes() && !workload.pattern.writes());
        notes.extend(writer.map(|writer| reordered(&workload, writer, place)));
        workloads.push(workload);
    }
    workloads.sort_by_key(|workload| workload.pattern.writes());
    Imported { workloads, window, settle, span }
}

/// Notes that a workload runs before one that stands before it.
fn reordered(workload: &Workload, writer: &Workload, place: Option<Span>) -> Note {
    let message = format!(
        "`{}` stands behind `{}` and runs before it here: it reads what the fill has written, and not what that leaves",
        workload.name, writer.name
    );
    Note::error("fio-order", place, message).as_warning()
}

/// Notes options of other engines than the section's: fio refuses these.
fn check_engine(section: &Section, job: &Job, notes: &mut Vec<Note>) {
    if job.is_unsure(&["ioengine"]) {
        return;
    }
    for option in &section.options {
        let name = fio::canonical(&option.key);
        let engines = fio::engines_with(name).filter(|engines| !engines.contains(&job.engine()));
        notes.extend(engines.map(|engines| {
            let message = format!("`{name}` is no option of the engine {}: fio refuses it", job.engine());
            let hint = format!("it is one of {}, which is to be said in this section or before it", engines.join(", "));
            Note::error("fio-engine", Some(option.span), message).hint(hint)
        }));
    }
}

#[cfg(test)]
mod tests;
