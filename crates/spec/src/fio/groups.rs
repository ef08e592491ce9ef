//! Which jobs run at once. fio starts all jobs of a file together; `stonewall` has a job wait for all before it.

use std::collections::BTreeSet;

use terms::Note;

use super::job::{Files, Job};

/// The jobs in the order in which they run, those that run at once made one where they do the same: as many jobs of one
/// workload. Others that run at once are noted: a workload has one kind of operation.
pub(super) fn one_after_another(jobs: Vec<Job>, notes: &mut Vec<Note>) -> Vec<Job> {
    let mut groups: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        match groups.last_mut() {
            Some(group) if !waits(&job, group, notes) => group.push(job),
            _ => groups.push(vec![job]),
        }
    }
    groups.into_iter().filter_map(|group| together(group, notes)).collect()
}

/// Does a job begin when all jobs of the group have ended?
fn waits(job: &Job, group: &[Job], notes: &mut Vec<Note>) -> bool {
    if job.stonewall.is_some() {
        return true;
    }
    let Some((name, span)) = &job.wait_for else { return false };
    let (before, others): (Vec<&Job>, Vec<&Job>) = group.iter().partition(|other| other.name == *name);
    if !before.is_empty() && !others.is_empty() {
        let message = format!("`{}` begins while others of those before it go on", job.name.escape_debug());
        notes.push(Note::error("fio-together", Some(*span), message).hint("say stonewall in place of wait_for"));
    }
    !before.is_empty()
}

fn together(group: Vec<Job>, notes: &mut Vec<Note>) -> Option<Job> {
    let mut jobs = group.iter();
    let first = jobs.next()?;
    for job in jobs {
        if let Some(note) = apart(first, job) {
            notes.push(note);
            return None;
        }
    }
    if group.len() == 1 {
        return group.into_iter().next();
    }
    let names: Vec<String> = group.iter().take(NAMED).map(|job| format!("`{}`", job.name.escape_debug())).collect();
    let names = names.join(", ") + if group.len() > NAMED { ", …" } else { "" };
    let all = group.iter().fold(0_u32, |sum, job| sum.saturating_add(job.jobs));
    let mut one = first.clone();
    one.jobs = all;
    if group.iter().any(|job| job.files != first.files) {
        // Each on a file of its own: parts of the span. Where several are on each of several files, it does not matter
        // only if the order is of chance which job is where.
        let files: BTreeSet<&Files> = group.iter().map(|job| &job.files).collect();
        let is_own = files.len() == group.len() && group.iter().all(|job| job.jobs == 1);
        if !is_own && !first.work.is_random() {
            let message = format!("{names} run at once in order, several on each of several files");
            notes.push(Note::error("fio-together", Some(first.place), message).hint("have one job for each file"));
            return None;
        }
        one.files = Files::Own;
    }
    let message = format!("{names} run at once and do the same: one workload of {all} jobs");
    notes.push(Note::error("fio-together", Some(first.place), message).as_warning());
    Some(one)
}

/// Why two jobs that run at once are not one workload.
fn apart(first: &Job, job: &Job) -> Option<Note> {
    let (name, other) = (job.name.escape_debug(), first.name.escape_debug());
    let error = |span, message| Some(Note::error("fio-together", Some(span), message));
    if job.delay.map(|(delay, _)| delay) != first.delay.map(|(delay, _)| delay) {
        let span = job.delay.map_or(job.place, |(_, span)| span);
        let note = error(span, format!("`{name}` and `{other}` begin at different times, and then run at once"))?;
        return Some(note.hint("say stonewall in place of startdelay"));
    }
    if job.work == first.work && job.size() == first.size() {
        return None;
    }
    let note = error(
        job.place,
        format!("`{name}` runs at once with `{other}` and does another thing: a workload has one kind of operation"),
    )?;
    Some(note.hint("say stonewall in it to measure one after another, or mix with rw=randrw and rwmixread"))
}

/// Jobs that are named in a message.
const NAMED: usize = 4;
