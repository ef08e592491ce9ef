//! Different jobs that run at once: one workload of several parts, each with its own stretch of the span.

use std::collections::BTreeMap;

use terms::units::MIB;
use terms::{Bytes, Nanos, Note, Part, Workload};

use super::job::{Files, Job};
use super::names::Names;

/// Files begin at multiples of this in the span: no block of one lies across another's end.
const ALIGNED: u64 = MIB;

/// Lays the files of jobs behind one another into the span, as they are beside one another in fio. `false`, with a note,
/// where nobody can know how large they are.
pub(super) fn place(group: &mut [Job], notes: &mut Vec<Note>) -> bool {
    // Jobs on each file, by the first of them: the order of the job file.
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, job) in group.iter().enumerate() {
        let first = match &job.files {
            Files::Own(..) => at,
            Files::Shared(name) => *known.entry(name).or_insert(at),
        };
        files.entry(first).or_default().push(at);
    }
    if files.len() == 1 {
        return true;
    }
    // What was not read was told, and nothing follows from it.
    if group.iter().any(|job| job.is_unsure(&["size", "filesize", "filename"])) {
        return false;
    }
    let mut begin = 0_u64;
    for (first, jobs) in files {
        let Some(length) = jobs.iter().filter_map(|at| group[*at].end_in_file()).max() else {
            let message = format!(
                "`{}` runs at once with others on files of their own, and nothing says how large its file is",
                group[first].name.escape_debug()
            );
            notes.push(Note::error("fio-together", Some(group[first].place), message).hint("say size in each of them"));
            return false;
        };
        jobs.iter().for_each(|at| group[*at].put(Bytes(begin), length));
        begin = begin.saturating_add(length.0).div_ceil(ALIGNED).saturating_mul(ALIGNED);
    }
    true
}

/// What all jobs of a group touch of the span, where the file says so.
pub(super) fn end(group: &[Job]) -> Option<Bytes> {
    group.iter().filter_map(Job::end).max()
}

/// How long jobs that run at once do so.
pub(super) fn runtime(group: &[Job]) -> Option<Nanos> {
    group.iter().find_map(|job| job.work.runtime)
}

/// The workload of jobs that run at once: that of a job, or one of several parts.
pub(super) fn workload(
    mut group: Vec<Job>,
    names: &mut Names,
    whole: Option<Bytes>,
    window: Option<Nanos>,
    notes: &mut Vec<Note>,
) -> Option<Workload> {
    if group.len() == 1 {
        return group.pop()?.workload(names, whole, window, notes);
    }
    let own = runtime(&group).filter(|own| Some(*own) != window);
    let mut within = Names::default();
    let parts: Option<Vec<Part>> =
        group.into_iter().map(|job| Some(Part::of(job.workload(&mut within, whole, None, notes)?))).collect();
    let parts = parts?;
    let name = names.unique(&name(&parts))?;
    Some(Workload { window: own, ..Workload::of_parts(name, parts) })
}

/// Letters of each part's name that are kept in that of the workload: names are cut at 36.
const KEPT: usize = 15;

fn name(parts: &[Part]) -> String {
    let short = |part: &Part| part.name.as_str().chars().take(KEPT).collect::<String>();
    match parts {
        [first, second] => format!("{}-and-{}", short(first), short(second)),
        [first, others @ ..] => format!("{}-and-{}-more", short(first), others.len()),
        [] => String::new(),
    }
}
