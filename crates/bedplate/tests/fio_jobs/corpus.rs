//! Job files of the kind that guides, makers and clouds publish, held against fio's own reading of them.
//!
//! `fio --parse-only --debug=parse` says what number fio makes of every value. A file that is taken has to come out so;
//! a file that fio refuses has to be refused. The first words of each file say which, and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure::WorkPlace;
use spec::fio::{Imported, Reader};
use terms::{MeasurePolicy, Note, NoteLevel, Workload};

/// Values of one job by fio's first names of the options: numbers as fio reckoned them, words as they are.
type Values = BTreeMap<String, String>;

/// What fio makes of a job file.
struct Read {
    accepted: bool,
    jobs: Vec<(String, Values)>,
}

/// A file and what is said of it.
struct Case {
    name: String,
    text: String,
    /// The code of the reason; none where it is taken.
    refused: Option<String>,
    variables: BTreeMap<String, String>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio_jobs/corpus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| case(file)).collect()
}

fn case(file: &Path) -> Case {
    let text = std::fs::read_to_string(file).unwrap();
    let said = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).map(|rest| rest.trim().to_owned());
    let refused = said("; refused:");
    assert!(refused.is_some() != text.starts_with("; taken"), "{} says what it is", file.display());
    let pairs = said("; with").unwrap_or_default();
    let variables = pairs.split_whitespace().filter_map(|pair| pair.split_once('='));
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Case { name: file.file_stem().unwrap().to_string_lossy().into_owned(), refused, variables, text }
}

/// Asks fio. It runs nothing.
fn ask(text: &str, variables: &BTreeMap<String, String>) -> Read {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut command = Command::new("fio");
    command.args(["--parse-only", "--debug=parse"]).arg(file.path()).envs(variables);
    let output = command.output().unwrap();
    let mut read = Read { accepted: output.status.success(), jobs: Vec::new() };
    let (mut shared, mut name, mut key) = (Values::new(), String::new(), String::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let said =
            line.strip_prefix("parse").map_or(line, |rest| rest.trim_start().trim_start_matches(char::is_numeric));
        let said = said.trim_start();
        if let Some(section) = said.strip_prefix("Parsing section [") {
            name = section.trim_end_matches(']').to_owned();
            if !name.starts_with("global") {
                read.jobs.push((name.clone(), shared.clone()));
            }
            continue;
        }
        let values =
            if name.starts_with("global") { Some(&mut shared) } else { read.jobs.last_mut().map(|job| &mut job.1) };
        let Some(values) = values else { continue };
        if let Some((option, value)) = said.strip_prefix("handle_option=").and_then(|rest| rest.split_once(", ptr=")) {
            key = option.to_owned();
            values.insert(key.clone(), value.to_owned());
        } else if let Some((_, number)) = said.split_once("ret=0, out=") {
            // A list has a number for each of its parts.
            let Some(known) = values.get_mut(&key) else { continue };
            let listed = known.starts_with('=');
            *known = if listed { format!("{known},{number}") } else { format!("={number}") };
        }
    }
    read
}

fn import(case: &Case) -> (Option<Imported>, Vec<Note>) {
    let nothing = |_: &str| Err("there is none".to_owned());
    Reader { forced: false, variables: &case.variables, include: &nothing }.read(&case.text)
}

fn errors(notes: &[Note]) -> Vec<&Note> {
    notes.iter().filter(|note| note.severity == NoteLevel::Error).collect()
}

#[test]
fn each_file_is_taken_or_refused_for_its_reason_and_none_is_taken_that_fio_refuses() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 60);
    for case in &cases {
        let (imported, notes) = import(case);
        let fio = ask(&case.text, &case.variables);
        let codes: Vec<&str> = errors(&notes).iter().map(|note| note.code.as_str()).collect();
        match &case.refused {
            Some(code) if !codes.contains(&code.as_str()) => {
                wrong.push(format!("{}: {code} is not in {notes:?}", case.name))
            }
            None if !codes.is_empty() => wrong.push(format!("{}: refused for {notes:?}", case.name)),
            _ => {}
        }
        if imported.is_some() && !fio.accepted {
            wrong.push(format!("{}: taken, and fio refuses it", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What differs on purpose, and what is compared by itself.
const OTHERWISE: &[&str] = &[
    "allrandrepeat",
    "buffered",
    "bs",
    "bsrange",
    "buffer_compress_percentage",
    "continue_on_error",
    "dedupe_percentage",
    "description",
    "directory",
    "end_fsync",
    "exitall",
    "filename",
    "filename_format",
    "filesize",
    "group_reporting",
    "gtod_reduce",
    "io_size",
    "kb_base",
    "log_avg_msec",
    "loops",
    "name",
    "new_group",
    "nrfiles",
    "number_ios",
    "numjobs",
    "offset",
    "offset_increment",
    "openfiles",
    "ramp_time",
    "size",
    "startdelay",
    "stonewall",
    "threads",
    "wait_for",
    "verify",
];
/// What is set in every job, whatever the file says.
const OURS: [&str; 12] = [
    "filename",
    "invalidate",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "randrepeat",
    "randseed",
    "runtime",
    "time_based",
    "unlink",
    "write_bw_log",
    "write_lat_log",
];

/// Jobs of a file that run at once, as fio would: `stonewall` ends a group, and so does waiting for one.
fn groups(jobs: Vec<(String, Values)>) -> Vec<Vec<Values>> {
    let mut groups: Vec<Vec<Values>> = Vec::new();
    for (_, values) in jobs {
        let waits = values.get("stonewall").is_some_and(|said| said == "=1") || values.contains_key("wait_for");
        match groups.last_mut() {
            Some(group) if !waits => group.push(values),
            _ => groups.push(vec![values]),
        }
    }
    groups
}

fn value<'v>(values: &'v Values, key: &str, default: &'v str) -> &'v str {
    values.get(key).map_or(default, String::as_str)
}

fn number(values: &Values, key: &str, default: u64) -> u64 {
    let said = value(values, key, "").trim_start_matches('=');
    said.split(',').next().and_then(|said| said.parse().ok()).unwrap_or(default)
}

/// How what would be run differs from what fio would run.
fn differences(group: &[Values], workload: &Workload, ours: &Values) -> Vec<String> {
    let theirs = &group[0];
    let mut found = Vec::new();
    let mut same = |what: &str, theirs: String, ours: String| {
        if theirs != ours {
            found.push(format!("{what}: {theirs} in fio, {ours} here"));
        }
    };
    let text = |values: &Values, key, default: &str| value(values, key, default).to_owned();
    // An engine that waits for each operation keeps one under way, whatever depth is said: fio takes it and heeds it not.
    let waits = !["libaio", "io_uring", "posixaio"].contains(&value(theirs, "ioengine", "psync"));
    let depth = if waits && value(theirs, "io_submit_mode", "inline") == "inline" {
        "=1"
    } else {
        value(theirs, "iodepth", "=1")
    };
    same("iodepth", depth.to_owned(), text(ours, "iodepth", "=1"));
    for (key, default) in [("rw", "read"), ("ioengine", "psync"), ("fsync", "=0"), ("runtime", "")] {
        let fallback = if key == "runtime" { text(ours, key, "") } else { default.to_owned() };
        let direction = |text: String| if text == "readwrite" { "rw".to_owned() } else { text };
        same(key, direction(text(theirs, key, &fallback)), direction(text(ours, key, &fallback)));
    }
    let sizes = value(theirs, "bs", "=4096").trim_start_matches('=').to_owned();
    let sizes: Vec<&str> = sizes.split(',').collect();
    let block = if workload.pattern.reads() { sizes.first() } else { sizes.get(1).or(sizes.first()) };
    same("bs", (*block.unwrap()).to_owned(), text(ours, "bs", "").trim_start_matches('=').to_owned());
    // Of the two words for one thing the later one counts, which a map cannot tell: files with both say so themselves.
    let direct = match (theirs.get("direct"), theirs.get("buffered")) {
        (Some(direct), _) => direct.clone(),
        (None, Some(buffered)) => if buffered == "=0" { "=1" } else { "=0" }.to_owned(),
        (None, None) => "=0".to_owned(),
    };
    same("direct", direct, text(ours, "direct", "=0"));
    let jobs: u64 = group.iter().map(|values| number(values, "numjobs", 1)).sum();
    same("numjobs", jobs.to_string(), number(ours, "numjobs", 1).to_string());
    let size = number(theirs, "size", u64::MAX).min(number(theirs, "filesize", u64::MAX));
    // fio keeps shares of a device as numbers that no device has.
    if size < u64::MAX / 2 {
        let apart = number(theirs, "offset_increment", 0) > 0 || !theirs.contains_key("filename") || {
            group.len() > 1 && group.iter().any(|values| values.get("filename") != theirs.get("filename"))
        };
        let here = number(ours, "size", 0);
        let parts = if number(ours, "offset_increment", 0) > 0 { number(ours, "numjobs", 1) } else { 1 };
        same("all bytes", (size * if apart { jobs } else { 1 }).to_string(), (here * parts).to_string());
    }
    let rest = theirs.keys().chain(ours.keys()).filter(|key| {
        let key = key.as_str();
        let log = key.starts_with("log_") || key.starts_with("write_") && key.ends_with("_log");
        let compared = ["rw", "iodepth", "ioengine", "fsync", "direct", "rwmixwrite", "rwmixread"].contains(&key);
        !log && !compared && !OTHERWISE.contains(&key) && !OURS.contains(&key)
    });
    for key in rest {
        same(key, text(theirs, key, "nothing"), text(ours, key, "nothing"));
    }
    if theirs.contains_key("rwmixread") || theirs.contains_key("rwmixwrite") {
        let reads = 100 - number(theirs, "rwmixwrite", 100 - number(theirs, "rwmixread", 50));
        same("rwmixread", reads.to_string(), number(ours, "rwmixread", 50).to_string());
    }
    found
}

#[test]
fn what_is_taken_is_run_as_fio_reads_it_option_by_option() {
    let (mut wrong, mut taken, mut at_once) = (Vec::new(), 0, 0);
    for case in cases().iter().filter(|case| case.refused.is_none()) {
        let Some(imported) = import(case).0 else { continue };
        let policy = MeasurePolicy {
            window: imported.window.unwrap_or(MeasurePolicy::default().window),
            settle: imported.settle.unwrap_or(MeasurePolicy::default().settle),
            span: imported.span.unwrap_or(MeasurePolicy::default().span),
            ..MeasurePolicy::default()
        };
        // Reads come before writes here, and fio keeps the order of the file.
        let mut groups = groups(ask(&case.text, &case.variables).jobs);
        groups.sort_by_key(|group| group.iter().any(|job| !["read", "randread"].contains(&value(job, "rw", "read"))));
        assert_eq!(groups.len(), imported.workloads.len(), "{}", case.name);
        for (group, workload) in groups.iter().zip(&imported.workloads) {
            let job = measure::job(workload, &WorkPlace::Directory("/mnt/stack".into()), &policy, 7).unwrap();
            let ours = ask(&job.file(), &BTreeMap::new());
            assert!(ours.accepted, "{}: fio refuses what would be run\n{}", case.name, job.file());
            // Jobs that do the same are one; different ones are a section each, in the order of the file.
            let kinds = workload.kinds();
            assert_eq!(ours.jobs.len(), kinds.len(), "{}", case.name);
            let groups: Vec<&[Values]> = if kinds.len() == 1 {
                vec![group.as_slice()]
            } else {
                group.iter().map(std::slice::from_ref).collect()
            };
            assert_eq!(groups.len(), kinds.len(), "{}", case.name);
            for ((group, kind), (_, values)) in groups.iter().zip(&kinds).zip(&ours.jobs) {
                let found = differences(group, kind, values);
                wrong.extend(found.into_iter().map(|what| format!("{} / {}: {what}", case.name, kind.name)));
            }
            at_once += usize::from(kinds.len() > 1);
        }
        taken += 1;
    }
    assert!(wrong.is_empty() && taken >= 45 && at_once >= 8, "{taken}, {at_once}\n{}", wrong.join("\n"));
}

/// Values that some options take and others do not.
const VALUES: [&str; 16] =
    ["", "=", "=0", "=1", "=2", "=-1", "=abc", "=4k", "=10%", "=1:2", "=1-2", "=101", "=none", "=5000", "=1.5", "= 1"];

#[test]
fn no_value_of_any_option_is_taken_that_fio_refuses() {
    let more =
        ["bs", "fsync", "iodepth", "numjobs", "offset_increment", "ramp_time", "runtime", "rw", "rwmixread", "size"];
    let more =
        more.into_iter().chain(["filesize", "nrfiles", "startdelay", "stonewall", "kb_base", "loops", "randrepeat"]);
    let more =
        more.chain(["log_avg_msec", "log_entries", "percentile_list", "unit_base", "group_reporting", "gtod_reduce"]);
    let names: Vec<&str> = terms::fio::allowed().map(|(name, _)| name).chain(more).collect();
    let (mut file, mut taken) = (String::new(), 0);
    for name in names {
        for value in VALUES {
            // Each option of an engine with one that has it.
            let engine = terms::fio::engines_with(name).map_or("libaio", |engines| engines[0]);
            let options = format!("ioengine={engine}\ndirect=1\nsize=1g\nruntime=5\nrw=randwrite\n{name}{value}\n");
            // The fio of today has never heard of this one.
            if name != "libaio_vectored" && spec::fio::import(&format!("[j]\n{options}"), false).0.is_some() {
                taken += 1;
                file.push_str(&format!("[{name}{}]\n{options}", value.replace('=', "-")));
            }
        }
    }
    let file_of = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file_of.path(), &file).unwrap();
    let output = Command::new("fio").arg("--parse-only").arg(file_of.path()).output().unwrap();
    assert!(output.status.success() && taken > 300, "of {taken}: {}", String::from_utf8_lossy(&output.stderr));
}
