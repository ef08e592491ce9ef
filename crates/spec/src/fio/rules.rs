//! What becomes of each option that is not a field of a workload.

use terms::Note;

use super::lines::Option_;

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Set by us in every job.
    Ours,
    /// The stack is the target, whatever the file names.
    Target,
    /// Passed on as it is.
    Kept,
    /// Makes the number mean something else: refused, or passed on where forced. Why.
    Defeats(&'static str),
    /// Never passed on. Why.
    Never(&'static str),
}

/// fio's first name for an option that has several.
pub(super) fn canonical(key: &str) -> &str {
    match key {
        "readwrite" => "rw",
        "blocksize" => "bs",
        "filesize" | "io_size" | "io_limit" => "io_size",
        "iodepth_batch" => "iodepth_batch_submit",
        other => other,
    }
}

/// The rule of an option.
pub(super) fn of(key: &str, value: &str) -> Rule {
    let off = value == "0";
    match key {
        "exec_prerun" | "exec_postrun" => Rule::Never("it runs a program"),
        "ioengine" if value.starts_with("external") => Rule::Never("it loads code from a file"),
        "read_iolog" | "write_iolog" | "merge_blktrace_file" => Rule::Never("it reads or writes files elsewhere"),
        "trigger" | "trigger_file" | "trigger_timeout" | "trigger_remote" => Rule::Never("it runs a program"),
        "cgroup" | "cgroup_weight" | "uid" | "gid" => Rule::Never("it changes the machine or who runs the job"),
        "steadystate" | "ss" | "steadystate_duration" | "ss_dur" | "steadystate_ramp_time" | "ss_ramp" => {
            Rule::Never("fio would end the window by a rule of its own, which tests each sample and not the window")
        }
        "client" | "server" | "daemonize" => Rule::Never("it runs elsewhere"),

        "direct" if off => Rule::Defeats("the page cache answers in place of the drives"),
        "buffered" if !off => Rule::Defeats("the page cache answers in place of the drives"),
        "zero_buffers" | "scramble_buffers" if zeroes(key, value) => {
            Rule::Defeats("zeros compress to nothing wherever something compresses")
        }
        "buffer_compress_percentage" | "dedupe_percentage" | "buffer_pattern" | "dedupe_working_set_percentage" => {
            Rule::Defeats("data that compresses or repeats measures the compression")
        }
        "invalidate" if off => Rule::Defeats("what the page cache holds is not dropped first"),
        "disable_lat" | "disable_clat" | "disable_slat" | "gtod_reduce" if !off => {
            Rule::Defeats("latency would not be counted")
        }
        "clat_percentiles" if off => Rule::Defeats("there would be no latency bins to merge over rounds"),
        "continue_on_error" | "ignore_error" => Rule::Defeats("failed operations would count as done"),
        "bsrange" | "blocksize_range" | "bssplit" | "bs_unaligned" => {
            Rule::Defeats("operations of several sizes: operations and bytes cannot be held against each other")
        }
        "loops" | "number_ios" | "io_size" => Rule::Defeats("the job would end before its window does"),
        "file_append" | "fill_device" | "create_only" | "readonly" => {
            Rule::Defeats("it does another thing than measure")
        }
        "unlink" | "unlink_each_loop" if !off => Rule::Defeats("the file that was filled would be gone"),
        "offset" | "size_percent" | "nrfiles" | "openfiles" | "filename_format" => {
            Rule::Defeats("it touches something else than the span that was filled")
        }

        "filename" | "directory" | "opendir" | "filename_size" => Rule::Target,
        "direct"
        | "buffered"
        | "invalidate"
        | "randrepeat"
        | "randseed"
        | "allrandrepeat"
        | "time_based"
        | "group_reporting"
        | "overwrite"
        | "percentile_list"
        | "log_avg_msec"
        | "per_job_logs"
        | "write_bw_log"
        | "write_lat_log"
        | "write_iops_log"
        | "write_hist_log"
        | "log_hist_msec"
        | "name"
        | "description"
        | "stonewall"
        | "wait_for_previous"
        | "new_group"
        | "unlink"
        | "disable_lat"
        | "disable_clat"
        | "disable_slat"
        | "gtod_reduce"
        | "clat_percentiles"
        | "lat_percentiles"
        | "output"
        | "output-format"
        | "status-interval"
        | "log_alternate_epoch"
        | "log_alternate_epoch_clock_id"
        | "log_unix_epoch"
        | "disk_util"
        | "exitall"
        | "rate_process"
        | "startdelay"
        | "thread"
        | "end_fsync"
        | "kb_base"
        | "unified_rw_reporting" => Rule::Ours,
        _ => Rule::Kept,
    }
}

fn zeroes(key: &str, value: &str) -> bool {
    if key == "zero_buffers" { value != "0" } else { value == "0" }
}

/// Notes what is refused, what is overridden and what is told.
pub(super) fn check(options: &[Option_], forced: bool, notes: &mut Vec<Note>) {
    for option in options {
        let key = canonical(&option.key);
        let shown = if option.value.is_empty() { key.to_owned() } else { format!("{key}={}", option.value) };
        match of(key, &option.value) {
            Rule::Never(why) => {
                let note =
                    Note::error("fio-refused", Some(option.span), format!("`{shown}` is never passed on: {why}"));
                notes.push(note.hint("take it out of the file"));
            }
            Rule::Defeats(why) => {
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
            Rule::Ours | Rule::Kept => {}
        }
    }
}
