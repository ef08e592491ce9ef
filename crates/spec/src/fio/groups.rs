//! Which jobs run at once. fio starts all jobs of a file together; `stonewall` has a job wait for all before it.

use std::collections::{BTreeMap, BTreeSet};

use terms::{Nanos, Note};

use super::job::{Files, Job, Path};
use super::parts;

/// Most jobs at once, clones among them: fio's `REAL_MAX_JOBS`.
const AT_ONCE: u32 = 4096;

/// The jobs so far that have one name.
#[derive(Clone, Copy, Default)]
struct Named {
    count: usize,
    /// The group of the last of them, counted from 1.
    group: usize,
}

/// The jobs in the order in which they run, in groups of those that run at once. Those that do the same are made one job
/// with as many clones; others stay beside one another.
pub(super) fn one_after_another(jobs: Vec<Job>, notes: &mut Vec<Note>) -> Vec<Vec<Job>> {
    let mut groups: Vec<Vec<Job>> = Vec::new();
    let mut known: BTreeMap<String, Named> = BTreeMap::new();
    for job in jobs {
        let waits = waits_for(&job, &known, &groups, notes) || job.stonewall.is_some();
        if waits || groups.is_empty() {
            groups.push(Vec::new());
        }
        let named = known.entry(job.name.clone()).or_default();
        *named = Named { count: named.count + 1, group: groups.len() };
        if let Some(group) = groups.last_mut() {
            group.push(job);
        }
    }
    groups.into_iter().filter_map(|group| together(group, notes)).collect()
}

/// Does a job begin when those of the last group have ended, as it waits for one of them? fio waits for one job that
/// stands before it, and refuses all else when it begins to run (`wait_for_ok` in its `init.c`).
fn waits_for(job: &Job, known: &BTreeMap<String, Named>, groups: &[Vec<Job>], notes: &mut Vec<Note>) -> bool {
    let Some((name, span)) = &job.wait_for else { return false };
    let named = known.get(name).copied().unwrap_or_default();
    let refused = match named.count {
        _ if *name == job.name => Some("no job waits for itself"),
        0 => Some("no job before it has this name"),
        1 => None,
        _ => Some("several jobs before it have this name"),
    };
    if let Some(why) = refused {
        let message = format!("fio refuses `wait_for={}`: {why}", name.escape_debug());
        let hint = "name one job that stands before it in the file, or say stonewall";
        notes.push(Note::error("fio-wait-for", Some(*span), message).hint(hint));
        return false;
    }
    let Some(group) = groups.last().filter(|_| named.group == groups.len()) else { return false };
    if group.len() > 1 {
        let message = format!("`{}` begins while others of those before it go on", job.name.escape_debug());
        notes.push(Note::error("fio-together", Some(*span), message).hint("say stonewall in place of wait_for"));
    }
    true
}

fn together(mut group: Vec<Job>, notes: &mut Vec<Note>) -> Option<Vec<Job>> {
    let (first, runtime) = (group.first()?, parts::runtime(&group));
    if let Some(note) = group.iter().find_map(|job| apart(first, job, runtime)) {
        notes.push(note);
        return None;
    }
    let jobs = group.iter().fold(0_u32, |sum, job| sum.saturating_add(job.jobs));
    if jobs > AT_ONCE {
        let message = format!("{jobs} jobs run at once, and fio runs {AT_ONCE} at most");
        notes.push(Note::error("fio-together", Some(first.place), message).hint("lower numjobs, or say stonewall"));
        return None;
    }
    if let Some(note) = some_shared(&group) {
        notes.push(note);
        return None;
    }
    if group.len() == 1 {
        return Some(group);
    }
    let names: Vec<String> = group.iter().take(NAMED).map(|job| format!("`{}`", job.name.escape_debug())).collect();
    let names = names.join(", ") + if group.len() > NAMED { ", …" } else { "" };
    let place = first.place;
    let told =
        |what: String| Note::error("fio-together", Some(place), format!("{names} run at once{what}")).as_warning();
    // Whether they do may hang on a word that was misspelt.
    let is_sure = group.iter().all(|job| !job.is_unsure(&["stonewall", "wait_for"]));
    if let Some(one) = same(&group) {
        notes.extend(is_sure.then(|| told(format!(" and do the same: one workload of {} jobs", one.jobs))));
        return Some(vec![one]);
    }
    notes.extend(is_sure.then(|| told(format!(": one workload of {} parts", group.len()))));
    parts::place(&mut group, notes).then_some(group)
}

/// One job in the place of all, where they do the same on the same bytes, or each on bytes of its own.
fn same(group: &[Job]) -> Option<Job> {
    let mut one = group.first()?.clone();
    if group.iter().any(|job| job.work != one.work || job.size() != one.size()) {
        return None;
    }
    one.jobs = group.iter().fold(0_u32, |sum, job| sum.saturating_add(job.jobs));
    if group.iter().any(|job| job.files != one.files) {
        // Each on a file of its own: parts of the span. Where several are on each of several files, it does not matter
        // only if the order is of chance which job is where.
        let files: BTreeSet<&Files> = group.iter().map(|job| &job.files).collect();
        let has_own = |job: &Job| job.jobs == 1 || matches!(job.files, Files::Own(..));
        let is_own = files.len() == group.len() && group.iter().all(has_own);
        if !is_own && !one.work.is_random() {
            return None;
        }
        one.files = Files::Own(String::new(), Path::default());
    }
    Some(one)
}

/// Why jobs of which some clones meet on a file and others do not cannot be laid out.
fn some_shared(group: &[Job]) -> Option<Note> {
    if group.iter().any(|job| job.is_unsure(&["filename", "filename_format", "directory", "numjobs"])) {
        return None;
    }
    let mut known: BTreeMap<String, &Job> = BTreeMap::new();
    for job in group {
        let paths = job.paths();
        let has_several = paths.len() > 1;
        for path in paths {
            if let Some(other) = known.get(&path).filter(|other| has_several || other.files != job.files) {
                let (name, other) = (job.name.escape_debug(), other.name.escape_debug());
                let message = format!("some jobs of `{other}` and `{name}` are on one file, and others are not");
                let hint = "give each job a file, by filename_format with $jobname and $jobnum, or all the same";
                return Some(Note::error("fio-together", Some(job.place), message).hint(hint));
            }
            known.insert(path, job);
        }
    }
    None
}

/// Why two jobs that run at once cannot be measured in one window.
fn apart(first: &Job, job: &Job, runtime: Option<Nanos>) -> Option<Note> {
    if [first, job].iter().any(|job| job.is_unsure(&["runtime", "startdelay", "stonewall"])) {
        return None;
    }
    let (name, other) = (job.name.escape_debug(), first.name.escape_debug());
    if job.delay.map(|(delay, _)| delay) != first.delay.map(|(delay, _)| delay) {
        let span = job.delay.map_or(job.place, |(_, span)| span);
        let message = format!("`{name}` and `{other}` begin at different times, and then run at once");
        return Some(Note::error("fio-together", Some(span), message).hint("say stonewall in place of startdelay"));
    }
    let own = job.work.runtime.filter(|own| Some(*own) != runtime)?;
    let message = format!("`{name}` runs at once with others for {own}, and not as long as they: one goes on alone");
    Some(Note::error("fio-together", Some(job.place), message).hint("give them one runtime, or say stonewall"))
}

/// Jobs that are named in a message.
const NAMED: usize = 4;
