//! What a job does otherwise than it looks, or measures of something else: warnings.

use terms::units::MIB;
use terms::workload::FioKey;
use terms::{Bytes, Engine, Note, Workload};

use super::job::Job;

/// What caches of hard disks hold: 256 or 512 MiB in their makers' data sheets. Those of controllers hold more.
const CACHED: Bytes = Bytes(512 * MIB);

/// A code, what is so, and what to do.
type Advice = (&'static str, String, &'static str);

/// What there is to say of a job and its workload, if anything.
type Look = fn(&Job, &Workload) -> Option<Advice>;

/// Each with the options that it follows from: of a value that was not read, nothing does.
const LOOKS: [(&[&str], Look); 10] = [
    (&["ioengine", "iodepth"], waits),
    (&["size", "filesize"], sizeless),
    (&["size", "filesize", "numjobs"], small),
    (&["direct", "buffered", "ioengine", "rw", "fsync", "fdatasync", "sync"], buffered),
    (&["direct", "buffered", "ioengine", "iodepth"], blocks_on_submission),
    (&["rw", "numjobs", "offset_increment", "filename", "filename_format"], in_step),
    (&["numjobs", "offset_increment", "size", "filesize"], farther),
    (&[], paced),
    (&["rw"], random_share),
    (&["rw"], random_share_of_none),
];

/// Notes what is worth saying of a job and of the workload that it becomes.
pub(super) fn note(job: &Job, workload: &Workload, notes: &mut Vec<Note>) {
    for (_, look) in LOOKS.iter().filter(|(keys, _)| !job.is_unsure(keys)) {
        if let Some((code, message, hint)) = look(job, workload) {
            notes.push(Note::error(code, Some(job.place), message).as_warning().hint(hint));
        }
    }
    notes.extend(crate::workload::too_many_buffers(workload, "fio-buffers", job.place));
}

fn waits(job: &Job, _: &Workload) -> Option<Advice> {
    let told = || {
        let (name, depth) = (job.name.escape_debug(), job.work.depth);
        format!("job `{name}` keeps one operation under way, and not {depth}: its engine waits for each")
    };
    (job.depth() < job.work.depth).then(|| ("fio-depth", told(), "say ioengine=libaio"))
}

fn sizeless(job: &Job, _: &Workload) -> Option<Advice> {
    let told = || {
        let name = job.name.escape_debug();
        format!("`{name}` says no size in bytes: it works within the span of the run, and not on a whole drive")
    };
    let hint = "say size in bytes, or --span: a span that fits a drive's cache is answered by the cache";
    job.span().is_none().then(|| ("fio-size", told(), hint))
}

fn small(job: &Job, workload: &Workload) -> Option<Advice> {
    // Through the page cache, memory is what is told of.
    let span = job.span().filter(|span| *span <= CACHED && !workload.is_buffered())?;
    let message = format!("`{}` works on {span}: caches of drives hold as much", job.name.escape_debug());
    Some(("fio-small", message, "say a size that is larger than the caches of all drives of a stack"))
}

fn buffered(job: &Job, workload: &Workload) -> Option<Advice> {
    if !workload.is_buffered() {
        return None;
    }
    let name = &workload.name;
    let flushed = workload.flushed_every().filter(|_| !workload.pattern.reads());
    let (message, hint) = match flushed {
        // Each write waits for the drives: that is what such a job measures.
        Some(1) => return None,
        _ if job.engine() == "mmap" => (
            format!("`{name}` maps its file: mmap goes through the page cache whatever `direct` says"),
            "say ioengine=psync and direct=1 to measure the drives alone",
        ),
        Some(every) => (
            format!("memory takes the writes of `{name}`, and every {every} of them wait for the drives"),
            "say fsync=1 to have each write wait, or direct=1 to pass by memory",
        ),
        None => (
            format!("`{name}` goes through the page cache, as fio would have it: memory answers too"),
            "say direct=1 to measure the drives alone",
        ),
    };
    Some(("fio-buffered", message, hint))
}

fn blocks_on_submission(job: &Job, workload: &Workload) -> Option<Advice> {
    let is_so = workload.is_buffered() && workload.engine == Engine::Libaio && workload.depth > 1;
    let told = || {
        let (name, depth) = (job.name.escape_debug(), workload.depth);
        format!("`{name}` does not keep {depth} under way: libaio waits within each submission to the page cache")
    };
    is_so.then(|| ("fio-submission", told(), "say direct=1, or ioengine=io_uring"))
}

fn in_step(job: &Job, _: &Workload) -> Option<Advice> {
    let is_so = job.jobs > 1 && !job.has_parts() && !job.work.is_random();
    let told = || {
        let (name, jobs) = (job.name.escape_debug(), job.jobs);
        format!("the {jobs} jobs of `{name}` go over the same bytes in step: caches answer all but the first of them")
    };
    let hint = "give each its part: offset_increment as large as size, or no filename";
    is_so.then(|| ("fio-in-step", told(), hint))
}

fn farther(job: &Job, _: &Workload) -> Option<Advice> {
    let (step, size) = (job.work.increment?, job.size()?);
    let told = || {
        let name = job.name.escape_debug();
        format!("the parts of the {} jobs of `{name}` begin {step} from one another in fio, and {size} here", job.jobs)
    };
    let hint = "make offset_increment as large as size, or size as large as it";
    (job.jobs > 1 && step > size).then(|| ("fio-offset", told(), hint))
}

fn paced(job: &Job, workload: &Workload) -> Option<Advice> {
    let FioKey { key, value } = workload.pace()?;
    let follows = match key.as_str() {
        "latency_target" => "fio looks for a queue depth of its own, which differs from stack to stack",
        "thinktime" | "thinktime_spin" => "the pauses are part of the figure, and the larger one the faster a stack is",
        _ => "stacks that are faster than that come out equal",
    };
    let message = format!("`{}` sets its own pace with `{key}={value}`: {follows}", job.name.escape_debug());
    Some(("fio-pace", message, "leave it out to measure what a stack can do"))
}

/// `percentage_random`, where the job has it.
fn percentage(workload: &Workload) -> Option<&str> {
    let said = workload.keys.iter().find(|key| key.key == "percentage_random");
    said.map(|key| key.value.as_str())
}

fn random_share(job: &Job, workload: &Workload) -> Option<Advice> {
    let [reads, writes, _] = job.random_shares().filter(|_| workload.pattern.random())?;
    let share = match (workload.pattern.reads(), workload.pattern.writes()) {
        (true, true) if reads != writes => format!("{reads} % of the reads and {writes} % of the writes"),
        (true, _) if reads < 100 => format!("{reads} % of the operations"),
        (false, _) if writes < 100 => format!("{writes} % of the operations"),
        _ => return None,
    };
    let name = job.name.escape_debug();
    let message = format!("{share} of `{name}` go to random places; its title says random of all");
    Some(("fio-random", message, "leave percentage_random out to have all go to random places"))
}

fn random_share_of_none(job: &Job, workload: &Workload) -> Option<Advice> {
    let share = percentage(workload).filter(|_| !workload.pattern.random())?;
    let name = job.name.escape_debug();
    let message =
        format!("`{name}` goes through its file in order: fio heeds percentage_random={share} in random jobs");
    Some(("fio-random", message, "say rw=randread or rw=randwrite, or leave percentage_random out"))
}
