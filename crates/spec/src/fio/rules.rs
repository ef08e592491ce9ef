//! What becomes of each option that is not a field of a workload.

use terms::{Note, fio};

use super::lines::Option_;

/// What becomes of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    /// Becomes a field of the workload or of the run.
    Field,
    /// Set by us in every job.
    Ours,
    /// The stack is the target, whatever the file names.
    Target,
    /// Passed on, under this name.
    Kept(&'static str),
    /// Makes the number mean something else: refused, or passed on under this name where forced. Why.
    Defeats(&'static str, &'static str),
    /// Never passed on. Why.
    Never(String),
}

/// What is never passed on, with the reason. Whatever is on no list here and not on that of [`terms::fio`] is not
/// passed on either; these are those that somebody may look for.
pub(super) const NEVER: [(&str, &[&str]); 7] = [
    ("it runs a program", &["arguments", "exec_postrun", "exec_prerun", "program"]),
    (
        "it reads or writes other files than the one that is measured",
        &[
            "error_dump",
            "merge_blktrace_file",
            "merge_blktrace_iters",
            "merge_blktrace_scalars",
            "read_iolog",
            "read_iolog_chunked",
            "replay_align",
            "replay_no_stall",
            "replay_redirect",
            "replay_scale",
            "replay_skip",
            "replay_time_scale",
            "verify_dump",
            "verify_state_load",
            "verify_state_save",
            "write_iolog",
        ],
    ),
    (
        "it changes the machine or who runs the job",
        &["allow_mounted_write", "cgroup", "cgroup_nodelete", "cgroup_weight", "gid", "ioscheduler", "uid"],
    ),
    ("it reaches for other machines", &["hostname", "listen", "pingpong", "port", "protocol", "uri"]),
    ("it takes the place of the job", &["profile"]),
    (
        "fio would end the window by a rule of its own, which tests each sample and not the window",
        &["steadystate", "steadystate_duration", "steadystate_ramp_time"],
    ),
    (
        "it belongs to fio's command line and to no job",
        &[
            "alloc-size",
            "append-terse",
            "aux-path",
            "bandwidth-log",
            "client",
            "daemonize",
            "debug",
            "eta",
            "idle-prof",
            "inflate-log",
            "latency-log",
            "max-jobs",
            "merge-blktrace-only",
            "minimal",
            "parse-only",
            "readonly",
            "remote-config",
            "section",
            "server",
            "showcmd",
            "terse-version",
            "trigger",
            "trigger-file",
            "trigger-remote",
            "trigger-timeout",
            "warnings-fatal",
        ],
    ),
];

/// When an option defeats the measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    On,
    Off,
}

/// What makes the number mean something else, and why.
const DEFEATS: [(When, &[&str], &str); 14] = [
    (When::Off, &["direct"], "the page cache answers in place of the drives"),
    (When::On, &["buffered"], "the page cache answers in place of the drives"),
    (When::On, &["zero_buffers"], "zeros compress to nothing wherever something compresses"),
    (When::Off, &["scramble_buffers"], "zeros compress to nothing wherever something compresses"),
    (
        When::Always,
        &["buffer_compress_percentage", "dedupe_percentage", "buffer_pattern", "dedupe_working_set_percentage"],
        "data that compresses or repeats measures the compression",
    ),
    (When::Off, &["invalidate"], "what the page cache holds is not dropped first"),
    (When::On, &["disable_lat", "disable_clat", "disable_slat", "gtod_reduce"], "latency would not be counted"),
    (When::Off, &["clat_percentiles"], "there would be no latency bins to merge over rounds"),
    (When::Always, &["continue_on_error", "ignore_error"], "failed operations would count as done"),
    (
        When::Always,
        &["bsrange", "bssplit", "bs_unaligned"],
        "operations of several sizes: operations and bytes cannot be held against each other",
    ),
    (When::Always, &["loops", "number_ios", "io_size"], "the job would end before its window does"),
    (When::Always, &["file_append", "fill_device", "create_only", "verify_only"], "it does another thing than measure"),
    (When::On, &["unlink", "unlink_each_loop"], "the file that was filled would be gone"),
    (
        When::Always,
        &["offset", "nrfiles", "openfiles", "filesize"],
        "it touches something else than the span that was filled",
    ),
];

/// What becomes a field of the workload, or window, settling and span of the run.
const FIELDS: &[&str] = &[
    "bs",
    "fsync",
    "iodepth",
    "numjobs",
    "offset_increment",
    "ramp_time",
    "runtime",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
];

const TARGET: &[&str] = &["directory", "filename", "filename_format", "opendir", "unique_filename"];

const OURS: &[&str] = &[
    "allrandrepeat",
    "block_error_percentiles",
    "buffered",
    "clat_percentiles",
    "description",
    "direct",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "disk_util",
    "end_fsync",
    "exit_what",
    "exitall",
    "exitall_on_error",
    "group_reporting",
    "gtod_reduce",
    "invalidate",
    "kb_base",
    "lat_percentiles",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_avg_msec",
    "log_compression",
    "log_compression_cpus",
    "log_entries",
    "log_hist_coarseness",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_store_compressed",
    "log_unix_epoch",
    "name",
    "new_group",
    "output",
    "output-format",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "randrepeat",
    "randseed",
    "rate_process",
    "significant_figures",
    "slat_percentiles",
    "startdelay",
    "status-interval",
    "stonewall",
    "thread",
    "time_based",
    "unified_rw_reporting",
    "unit_base",
    "unlink",
    "unlink_each_loop",
    "wait_for",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// The rule of an option, by fio's first name.
pub(super) fn of(key: &str, value: &str) -> Rule {
    if let Some((why, _)) = NEVER.iter().find(|(_, names)| names.contains(&key)) {
        return Rule::Never((*why).to_owned());
    }
    let off = value == "0";
    let holds = |when: When| when == When::Always || off == (when == When::Off);
    let defeats = DEFEATS.iter().find(|(when, names, _)| names.contains(&key) && holds(*when));
    if FIELDS.contains(&key) {
        return Rule::Field;
    }
    if TARGET.contains(&key) {
        return Rule::Target;
    }
    if OURS.contains(&key) && defeats.is_none() {
        return Rule::Ours;
    }
    match (fio::checked(key, value), defeats) {
        (Err(why), _) => Rule::Never(why.to_string()),
        (Ok(name), Some((.., why))) => Rule::Defeats(name, why),
        (Ok(name), None) => Rule::Kept(name),
    }
}

/// Notes what is refused, what is overridden and what is told.
pub(super) fn check(options: &[Option_], forced: bool, notes: &mut Vec<Note>) {
    for option in options {
        let key = fio::canonical(&option.key);
        let shown = if option.value.is_empty() { key.to_owned() } else { format!("{key}={}", option.value) };
        match of(key, &option.value) {
            Rule::Never(why) => {
                let note =
                    Note::error("fio-refused", Some(option.span), format!("`{shown}` is never passed on: {why}"));
                notes.push(note.hint("take it out of the file"));
            }
            Rule::Defeats(_, why) => {
                let note =
                    Note::error("fio-defeats", Some(option.span), format!("`{shown}` defeats the measurement: {why}"));
                notes.push(if forced {
                    note.as_warning()
                } else {
                    note.hint("take it out of the file, or say --force to measure that")
                });
            }
            Rule::Target => {
                let message = format!("`{shown}` has no effect: the stack is what is measured");
                notes.push(Note::error("fio-target", Some(option.span), message).as_warning());
            }
            Rule::Field | Rule::Ours | Rule::Kept(_) => {}
        }
    }
}
