//! What becomes of each option that is not a field of a workload.

use terms::fio::{self, Takes};
use terms::{Note, NoteLevel};

use super::distribution;
use super::lines::Option_;
use super::never::NEVER;
use super::units::{self, Base};
use crate::suggest;

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

/// Values that are never passed on, whatever is forced: the option, the value, and why.
const NEVER_SO: [(&str, &str, &str); 1] = [("stats", "0", "fio would keep no figures of the job")];

/// With which values an option defeats the measurement.
#[derive(Clone, Copy)]
enum When {
    Always,
    On,
    Off,
    Is(&'static str),
    IsNot(&'static [&'static str]),
    /// A range with two ends.
    Uneven,
}

impl When {
    fn holds(self, value: &str) -> bool {
        // `0`, `0%`, `0k`: nothing, in whatever unit.
        let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        let off = !digits.is_empty() && digits.chars().all(|c| c == '0');
        match self {
            Self::Always => true,
            Self::On => !off,
            Self::Off => off,
            Self::Is(word) => value == word,
            Self::IsNot(words) => !words.contains(&value),
            Self::Uneven => value.split_once(['-', ':']).is_none_or(|(least, most)| least != most),
        }
    }
}

const SIZES: &str = "operations of several sizes: operations and bytes cannot be held against each other";
/// What makes the number mean something else, and why.
const DEFEATS: [(When, &[&str], &str); 11] = [
    (When::On, &["zero_buffers"], "zeros compress to nothing wherever something compresses"),
    (When::Off, &["scramble_buffers"], "zeros compress to nothing wherever something compresses"),
    (When::Always, &["buffer_pattern"], "data that compresses or repeats measures the compression"),
    (
        When::On,
        &["buffer_compress_percentage", "dedupe_percentage"],
        "data that compresses or repeats measures the compression",
    ),
    (When::IsNot(&["none", "0"]), &["continue_on_error"], "failed operations would count as done"),
    (When::Always, &["ignore_error"], "failed operations would count as done"),
    (When::Uneven, &["bsrange"], SIZES),
    (When::On, &["bssplit", "bs_unaligned"], SIZES),
    (When::On, &["file_append", "fill_device", "create_only", "verify_only"], "it does another thing than measure"),
    (
        When::IsNot(&["0"]),
        &["verify", "verify_pattern"],
        "checksums are part of the figure, and what is read is not what such a job has written",
    ),
    (When::Is("zbd"), &["zonemode"], "no stack here has zones"),
];

/// What becomes a field of the workload, or window, settling and span of the run, or says what runs when.
const FIELDS: &[&str] = &[
    "bs",
    "bs_is_seq_rand",
    "buffered",
    "direct",
    "filesize",
    "fsync",
    "ioengine",
    "iodepth",
    "kb_base",
    "lockmem",
    "name",
    "nrfiles",
    "numjobs",
    "offset",
    "offset_increment",
    "overwrite",
    "ramp_time",
    "runtime",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
    "startdelay",
    "stonewall",
    "time_based",
    "wait_for",
];

const TARGET: &[&str] = &["directory", "filename", "filename_format"];

/// What is set here in every job, or is of no matter to what is measured, with the values that fio takes.
const OURS: &[(Takes, &[&str])] = &[
    (
        Takes::Flag,
        &[
            "allrandrepeat",
            "block_error_percentiles",
            "clat_percentiles",
            "disable_bw_measurement",
            "disable_clat",
            "disable_lat",
            "disable_slat",
            "disk_util",
            "gtod_reduce",
            "lat_percentiles",
            "log_alternate_epoch",
            "log_max_value",
            "log_offset",
            "log_prio",
            "log_store_compressed",
            "log_unix_epoch",
            "per_job_logs",
            "randrepeat",
            "slat_percentiles",
            "unique_filename",
            "unlink",
            "unlink_each_loop",
        ],
    ),
    (Takes::Set, &["exitall", "exitall_on_error", "group_reporting", "new_group"]),
    (
        Takes::Numbers,
        &[
            // fio takes it and heeds it no longer.
            "flow_watermark",
            // Where the clock ends the job, no amount of work does.
            "io_size",
            "log_alternate_epoch_clock_id",
            "log_avg_msec",
            "log_compression",
            "log_entries",
            "log_hist_coarseness",
            "log_hist_msec",
            "loops",
            "number_ios",
            "openfiles",
            "percentile_list",
            "randseed",
            "significant_figures",
            // An option of the profile `tiobench`, which fio takes in every job and heeds in none.
            "threads",
        ],
    ),
    (Takes::Word(&["group", "stonewall", "all"]), &["exit_what"]),
    (Takes::Word(&["none", "mixed", "both", "0", "1", "2"]), &["unified_rw_reporting"]),
    (Takes::Word(&["0", "8", "1"]), &["unit_base"]),
];

/// The same with texts: names of logs, and what is for people.
const TEXTS: &[&str] =
    &["description", "log_compression_cpus", "write_bw_log", "write_hist_log", "write_iops_log", "write_lat_log"];

/// Does nothing depend on its value?
pub(super) fn has_no_effect(key: &str) -> bool {
    let key = fio::canonical(key);
    TARGET.contains(&key) || TEXTS.contains(&key)
}

/// Names of all options that are known here, to look for the one that was meant.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    let ours = OURS.iter().flat_map(|(_, names)| names.iter());
    [FIELDS, TARGET, TEXTS].into_iter().flatten().chain(ours).copied().chain(fio::allowed().map(|(name, _)| name))
}

/// The rule of an option, by fio's first name.
pub(super) fn of(key: &str, value: &str) -> Rule {
    if let Some((why, _)) = NEVER.iter().find(|(_, names)| names.contains(&key)) {
        return Rule::Never((*why).to_owned());
    }
    if let Some((.., why)) = NEVER_SO.iter().find(|(name, so, _)| (*name, *so) == (key, value)) {
        return Rule::Never((*why).to_owned());
    }
    if FIELDS.contains(&key) && key != "ioengine" {
        return Rule::Field;
    }
    if TARGET.contains(&key) {
        return Rule::Target;
    }
    if TEXTS.contains(&key) {
        return Rule::Ours;
    }
    if let Some((takes, _)) = OURS.iter().find(|(_, names)| names.contains(&key)) {
        return takes.check(value).map_or_else(|why| Rule::Never(why.to_string()), |()| Rule::Ours);
    }
    let defeats = DEFEATS.iter().find(|(when, names, _)| names.contains(&key) && when.holds(value));
    match (fio::checked(key, value), defeats) {
        (Err(why), _) => Rule::Never(why.to_string()),
        (Ok(_), None) if key == "ioengine" => Rule::Field,
        (Ok(name), Some((.., why))) => Rule::Defeats(name, why),
        (Ok(name), None) => Rule::Kept(name),
    }
}

/// Notes what is refused, what is overridden and what is told, of a section that has a file from one before it or not.
pub(super) fn check(options: &mut [Option_], mut has_file: bool, forced: bool, notes: &mut Vec<Note>) {
    for option in options.iter_mut().filter(|option| !option.unread) {
        let is_file = fio::canonical(&option.key) == "filename";
        let note = if is_file && has_file { Some(another(option)) } else { noted(option, forced, notes) };
        has_file |= is_file;
        option.unread = note.as_ref().is_some_and(|note| note.severity == NoteLevel::Error);
        notes.extend(note);
    }
}

/// A second `filename`: fio adds its file to those that were named before, also to those of `[global]`
/// (`str_filename_cb` in its `options.c`).
fn another(option: &Option_) -> Note {
    let message = format!(
        "`filename={}` cannot be measured: fio adds it to the one that was named before, and works on both in turn: a \
         workload has one file",
        option.text().escape_debug()
    );
    Note::error("fio-bad-value", Some(option.span), message).hint("leave it out, or the one before it")
}

fn noted(option: &mut Option_, forced: bool, notes: &[Note]) -> Option<Note> {
    let (key, value) = (fio::canonical(&option.key), option.text());
    let shown = if value.is_empty() { key.to_owned() } else { format!("{key}={}", value.escape_debug()) };
    let error = |code, message: String| Note::error(code, Some(option.span), message);
    match of(key, value) {
        Rule::Field | Rule::Ours | Rule::Target | Rule::Kept(_) if lacks_value(key, option) => {
            let message = format!("`{shown}` has no value, and fio refuses it");
            Some(error("fio-bad-value", message).hint(format!("write {key}=…, or leave it out")))
        }
        Rule::Never(why) => {
            let is_worth_it = suggest::is_worth_it(notes);
            let (meant, hint) = remedy(key, value, is_worth_it);
            let note = error("fio-refused", format!("`{shown}` is never passed on: {why}")).hint(hint);
            option.meant = meant.and_then(field);
            Some(note)
        }
        Rule::Defeats(_, why) => {
            let note = error("fio-defeats", format!("`{shown}` defeats the measurement: {why}"));
            let hint = "leave it out, or say --force to measure that";
            Some(if forced { note.as_warning() } else { note.hint(hint) })
        }
        // That it names several was told.
        Rule::Target if key == "filename" && is_several(value) => None,
        Rule::Target => {
            let message = format!("`{shown}` has no effect: the stack is what is measured");
            Some(error("fio-target", message).as_warning())
        }
        Rule::Kept(_) | Rule::Ours => {
            misread(key, value).map(|why| error("fio-bad-value", why).hint("write a value that fio takes"))
        }
        Rule::Field => None,
    }
}

/// The option that was meant, and what to do about one that is not passed on.
fn remedy(key: &str, value: &str, is_worth_it: bool) -> (Option<&'static str>, String) {
    let out = || "leave it out".to_owned();
    let near =
        |word: &str, words: &[&'static str]| suggest::nearest(word, words.iter().copied()).filter(|_| is_worth_it);
    let asked = |word: &str| format!("did you mean `{key}={word}`?");
    match (fio::checked(key, value), takes(key)) {
        // It is an option of fio's, and was meant.
        _ if NEVER.iter().any(|(_, names)| names.contains(&key)) => (None, out()),
        (_, Some(Takes::Flag | Takes::Set)) if value != "0" => (None, format!("write {key}=1 or {key}=0")),
        (_, Some(Takes::Word(words))) => (None, near(value, words).map_or_else(out, asked)),
        (Err(fio::Refused::Engine), _) => {
            (None, near(value, &fio::ENGINES).map_or_else(|| "say one of these engines".to_owned(), asked))
        }
        (Err(fio::Refused::Unknown), None) if is_worth_it => {
            let meant = suggest::nearest(key, known());
            (meant, meant.map_or_else(out, |meant| format!("did you mean `{meant}`?")))
        }
        _ => (None, out()),
    }
}

/// Options that whole jobs are judged by and that become no field.
const JUDGED: [&str; 9] =
    ["fdatasync", "filename", "rate", "rate_iops", "rate_iops_min", "rate_min", "sync", "zonemode", "zonesize"];

/// The name of an option that whole jobs are judged by.
pub(super) fn field(key: &str) -> Option<&'static str> {
    let key = fio::canonical(key);
    FIELDS.iter().chain(&JUDGED).find(|name| **name == key).copied()
}

/// Does a `filename` name several files?
pub(super) fn is_several(name: &str) -> bool {
    name.replace("\\:", "").contains(':')
}

/// Numbers of which fio takes some only, and which these are (`fio --cmdhelp=all` and `--enghelp=…` of 3.33).
const RANGES: [(&str, std::ops::RangeInclusive<u64>); 20] = [
    ("ba", 1..=u64::MAX),
    ("cmdprio", 0..=7),
    ("cmdprio_class", 1..=3),
    ("cmdprio_percentage", 0..=100),
    ("dedupe_working_set_percentage", 0..=100),
    ("flow", 0..=1000),
    ("hipri_percentage", 0..=100),
    ("job_max_open_zones", 0..=4096),
    ("latency_percentile", 0..=100),
    ("log_compression", 1024..=536_870_912),
    ("log_entries", 1024..=1_048_576),
    ("max_open_zones", 0..=4096),
    ("percentage_random", 0..=100),
    ("percentile_list", 0..=100),
    ("prio", 0..=7),
    ("significant_figures", 1..=10),
    ("verify_interval", 80..=u64::MAX),
    ("verify_offset", 40..=u64::MAX),
    ("zone_reset_frequency", 0..=1),
    ("zone_reset_threshold", 0..=1),
];

/// Words with which values of numbers may begin.
const WORDED: [(&str, &[&str]); 1] = [("sync_file_range", &["wait_before", "write", "wait_after"])];

/// What `nice` takes.
const NICE: std::ops::RangeInclusive<i64> = -20..=19;

/// Options whose values are texts to fio.
const FREE: [&str; 3] = ["cpus_allowed", "numa_cpu_nodes", "numa_mem_policy"];

/// Options of engines that are on or off and need a 0 or a 1 all the same.
const NEEDY: [&str; 4] = ["force_async", "nonvectored", "nowait", "uncached"];

/// Options that say "as usual" without a value: logs get names of their own.
const BARE: [&str; 4] = ["write_bw_log", "write_hist_log", "write_iops_log", "write_lat_log"];

/// Is its value missing? fio takes no `key=`, and a name alone only from what can be nothing but on.
fn lacks_value(key: &str, option: &Option_) -> bool {
    let alone = fio::is_set(key) && !NEEDY.contains(&key) || BARE.contains(&key);
    option.value.as_ref().map_or(!alone, String::is_empty)
}

fn takes(key: &str) -> Option<Takes> {
    let ours = OURS.iter().find(|(_, names)| names.contains(&key)).map(|(takes, _)| *takes);
    ours.or_else(|| fio::allowed().find(|(name, _)| *name == key).map(|(_, takes)| takes))
}

/// Does fio take it as a word, even where it is a number?
pub(super) fn is_word(key: &str) -> bool {
    let key = fio::canonical(key);
    ["rw", "kb_base", "wait_for", "name"].contains(&key)
        || matches!(takes(key), Some(Takes::Word(_) | Takes::Shares | Takes::Engine))
}

/// Is it a time in seconds, where no unit is said?
pub(super) fn is_time(key: &str) -> bool {
    ["ramp_time", "runtime", "startdelay"].contains(&fio::canonical(key))
}

/// Why fio would refuse a number, or take another than the one that was written.
fn misread(key: &str, value: &str) -> Option<String> {
    if distribution::is_one(key) {
        return distribution::misread(key, value);
    }
    if key == "nice" {
        let fits = value.trim().parse().is_ok_and(|nice| NICE.contains(&nice));
        return (!fits)
            .then(|| format!("`nice` is from {} to {}, and not {}", NICE.start(), NICE.end(), value.escape_debug()));
    }
    if let Some((_, words)) = WORDED.iter().find(|(name, _)| *name == key) {
        let word = value.split([':', ',']).next().unwrap_or_default();
        return (!words.contains(&word)).then(|| format!("`{key}` begins with one of {}", words.join(", ")));
    }
    if takes(key) != Some(Takes::Numbers) || FREE.contains(&key) {
        return None;
    }
    let range = RANGES.iter().find(|(name, _)| *name == key).map_or(0..=u64::MAX, |(_, range)| range.clone());
    if value.starts_with('-') {
        return Some(format!("`{key}` is no number below 0"));
    }
    let mut parts = value.split([',', ':', '-', '%']).filter(|part| !part.is_empty());
    parts.find_map(|part| {
        // Places behind a point are for lists of shares.
        let (whole, more) = match part.split_once('.') {
            Some((whole, places)) if *range.end() < u64::MAX && places.chars().all(|c| c.is_ascii_digit()) => {
                (whole, u64::from(places.contains(|c| c != '0')))
            }
            _ => (part, 0),
        };
        let outside = |number: u64| !range.contains(&number) || number.saturating_add(more) > *range.end();
        match units::size(whole, Base::Binary) {
            Ok(number) if outside(number) => {
                Some(format!("`{key}` is from {} to {}, and not {}", range.start(), range.end(), part.escape_debug()))
            }
            Ok(_) => None,
            Err(why) => units::time(whole).is_err().then_some(why),
        }
    })
}
