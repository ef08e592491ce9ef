//! fio job files, out and in, with fio itself as the judge: `--parse-only` says whether it can read a file,
//! `--showcmd` what it read.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic and start programs")]

#[path = "fio_jobs/corpus.rs"]
mod corpus;
#[path = "fio_jobs/examples.rs"]
mod examples;

use std::collections::BTreeMap;
use std::process::Command;

use measure::WorkPlace;
use terms::{MeasurePolicy, Method, Workload};

/// Options of one job, as fio prints them.
type Options = BTreeMap<String, String>;

fn policy() -> MeasurePolicy {
    MeasurePolicy::default()
}

fn job(workload: &Workload) -> measure::Job {
    measure::job(workload, &WorkPlace::Directory("/mnt/stack".into()), &policy(), 7).unwrap()
}

/// What fio reads in a job file, job by job. fio runs nothing.
fn as_fio_reads(text: &str) -> Vec<Options> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let parsed = Command::new("fio").arg("--parse-only").arg(file.path()).output().unwrap();
    assert!(parsed.status.success(), "{}\n{text}", String::from_utf8_lossy(&parsed.stderr));
    let shown = Command::new("fio").arg("--showcmd").arg(file.path()).output().unwrap();
    assert!(shown.status.success());
    let line = String::from_utf8(shown.stdout).unwrap();
    let mut jobs: Vec<Options> = Vec::new();
    for word in line.split_whitespace().filter_map(|word| word.strip_prefix("--")) {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        if key == "name" {
            jobs.push(Options::new());
        }
        if let Some(job) = jobs.last_mut() {
            job.insert(key.to_owned(), value.to_owned());
        }
    }
    jobs
}

fn options(job: &measure::Job) -> Options {
    job.options().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn by_fio(workloads: Vec<Workload>) -> impl Iterator<Item = Workload> {
    workloads.into_iter().filter(|workload| workload.method == Method::Fio)
}

#[test]
fn every_job_of_every_profile_is_read_by_fio_as_it_is_run() {
    let mut jobs = 0;
    for profile in spec::profile::all() {
        // One file for each profile: starting fio is what takes the time.
        let made: Vec<measure::Job> = by_fio(profile.workloads).map(|workload| job(&workload)).collect();
        let text: String = made.iter().map(|job| job.file() + "\n").collect();
        let argvs: Vec<Options> = made.iter().map(options).collect();
        if !made.is_empty() {
            assert_eq!(as_fio_reads(&text), argvs, "{}", profile.name);
        }
        jobs += made.len();
    }
    assert!(jobs > 80, "{jobs} jobs are not all of them");
}

#[test]
fn every_setting_of_an_exported_job_has_a_reason() {
    for profile in spec::profile::all() {
        for workload in by_fio(profile.workloads) {
            let text = job(&workload).file();
            let lines: Vec<&str> = text.lines().collect();
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.starts_with(['#', '['])) {
                assert!(lines[at - 1].starts_with("# ") && lines[at - 1].len() > 4, "{line} in {text}");
            }
        }
    }
}

#[test]
fn an_exported_job_comes_back_as_the_same_workload() {
    for profile in spec::profile::all() {
        for workload in by_fio(profile.workloads) {
            let (imported, notes) = spec::fio::import(&job(&workload).file(), false);
            let imported = imported.unwrap_or_else(|| panic!("{}: {notes:?}", workload.name));
            assert_eq!(imported.workloads.len(), 1);
            // The window of a file is that of the run.
            let again = Workload { window: imported.window, ..imported.workloads[0].clone() };
            let (mut again, mut first) = (options(&job(&again)), options(&job(&workload)));
            if workload.reach != terms::Reach::Span {
                // The size of a file is that of the study's span; samples end with the last whole one.
                again.remove("size");
                first.remove("size");
            }
            assert_eq!(again, first, "{} of {}: {notes:?}", workload.name, profile.name);
        }
    }
}

#[test]
fn what_ran_at_once_is_exported_as_sections_and_comes_back_as_the_same_workload() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio_jobs/corpus");
    let mut parts = 0;
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let (Some(first), _) = spec::fio::import(&std::fs::read_to_string(&path).unwrap(), false) else { continue };
        let policy = MeasurePolicy {
            window: first.window.unwrap_or(policy().window),
            settle: first.settle.unwrap_or(policy().settle),
            span: first.span.unwrap_or(policy().span),
            ..policy()
        };
        let place = WorkPlace::Directory("/mnt/stack".into());
        for workload in first.workloads.iter().filter(|workload| !workload.parts.is_empty()) {
            let made = |workload: &Workload| measure::job(workload, &place, &policy, 7).unwrap();
            let text = made(workload).file();
            let shown: Vec<Options> = made(workload).sections().map(options).collect();
            assert_eq!(as_fio_reads(&text), shown, "{}", path.display());
            let (again, notes) = spec::fio::import(&text, true);
            let again = again.unwrap_or_else(|| panic!("{}: {notes:?}\n{text}", path.display()));
            assert_eq!(again.workloads.len(), 1, "{text}");
            assert_eq!(again.workloads[0].parts.len(), workload.parts.len());
            // Places and sizes are the same bytes, whichever of them a key or the span says.
            let back: Vec<Options> = made(&again.workloads[0]).sections().map(options).collect();
            assert_eq!(back, shown, "{}", path.display());
            parts += workload.parts.len();
        }
    }
    assert!(parts >= 16, "{parts} parts are too few to show anything");
}

/// A job file of somebody else's: a global section, jobs of its own, and keys that no study has a word for.
const FOREIGN: &str = "\
; a server's mix, at night
[global]
ioengine=io_uring
direct=1
bs=8k
runtime=60
time_based
random_distribution=zipf:1.2
norandommap=1

[mix]
rw=randrw
rwmixread=65
iodepth=16
numjobs=4
hipri=0

[log]
stonewall
rw=write
bs=64k
iodepth=1
fdatasync=8
";

#[test]
fn a_foreign_job_keeps_what_it_says() {
    let theirs = as_fio_reads(FOREIGN);
    let (imported, notes) = spec::fio::import(FOREIGN, false);
    let imported = imported.unwrap_or_else(|| panic!("{notes:?}"));
    assert_eq!(imported.workloads.len(), 2, "{notes:?}");
    for workload in &imported.workloads {
        let theirs = theirs.iter().find(|job| job["name"] == workload.name.as_str()).unwrap();
        let ours = as_fio_reads(&job(workload).file()).remove(0);
        for key in [
            "ioengine",
            "random_distribution",
            "norandommap",
            "rw",
            "iodepth",
            "numjobs",
            "rwmixread",
            "fdatasync",
            "hipri",
        ] {
            if let Some(value) = theirs.get(key) {
                assert_eq!(ours.get(key), Some(value), "{key} of {}", workload.name);
            }
        }
    }
    assert_eq!(imported.window, Some(terms::Nanos::seconds(60)));
}

#[test]
fn what_defeats_measurement_is_refused_unless_forced_and_what_runs_programs_always() {
    for (line, forced_works) in [
        ("zero_buffers", true),
        ("dedupe_percentage=50", true),
        ("exec_prerun=touch /tmp/x", false),
        ("ioengine=external:/tmp/x.so", false),
    ] {
        let text = format!("[j]\nrw=randread\nbs=4k\n{line}\n");
        let (_, notes) = spec::fio::import(&text, false);
        assert!(notes.iter().any(|note| note.severity == terms::NoteLevel::Error), "{line}: {notes:?}");
        let (forced, notes) = spec::fio::import(&text, true);
        let refused = notes.iter().any(|note| note.severity == terms::NoteLevel::Error);
        assert_eq!(refused, !forced_works, "{line}: {notes:?}");
        assert_eq!(forced.is_some(), forced_works, "{line}");
    }
}

/// What `fio check` says of a text: its status, and standard error.
fn checked(text: impl AsRef<[u8]>) -> (bool, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_bedplate")).args(["fio", "check"]).arg(file.path()).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_check_ends_with_a_verdict_and_carets_are_below_what_they_mean() {
    let job = "[a]\ndirect=1\nrw=randread\nruntime=9\ntime_based\n";
    let (taken, told) = checked(job);
    assert!(taken && told.ends_with("\n1 workload can be measured: RND 4 KiB Q1 T1 read\n"), "{told}");
    let (taken, _) = checked([&b"; \xb2\xe2\xca\xd4\n"[..], job.as_bytes()].concat());
    assert!(taken, "fio takes comments in any encoding");
    let (taken, told) = checked(format!("\u{feff}[global]\nbs=8k\n{job}"));
    assert!(!taken && told.contains("\n1 | [global]\n  | ^\n"), "{told}");
    assert!(told.ends_with("\n1 error: nothing of this is measured\n"), "{told}");
}

/// What is asked of drives that are known is refused before a guest boots, and before a person agrees to lose what is on them.
#[test]
fn data_that_do_not_fit_the_stacks_are_refused_with_what_fits() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("many.fio");
    std::fs::write(&file, "[a]\ndirect=1\nrw=randwrite\nsize=64M\nnumjobs=16\nruntime=9\ntime_based\n").unwrap();
    let told = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
        let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/quickstart.toml");
        command.args(["run", study, "--only", "1"]).args(arguments).env("BEDPLATE_RUNS", home.path());
        let output = command.env("BEDPLATE_LAB", home.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, asked) in [(["--fio", file.to_str().unwrap()], "1 GiB"), (["--span", "300MiB"], "300 MiB")] {
        let told = told(&arguments);
        assert!(
            told.contains(&format!("error: data of {asked} do not fit\n  because: stack `ext4` holds 2")),
            "{told}"
        );
        assert!(told.contains(" 134 MiB or less"), "{told}");
    }
    let small = home.path().join("small.toml");
    let study = "question = '?'\n[lab]\ndrives = [{ name = 'a', size = '256 MiB' }, { name = 'b', size = '256 MiB' }]\n[measure]\nspan = '16 MiB'\n\
                 [[stack]]\nname = 'wide'\nlayers = [{ raid = { level = 0, chunk = '1 GiB' }, on = ['a', 'b'] }, { ext4 = {} }]\n\
                 [[stack]]\nname = 'thin'\nlayers = [{ lvm = { thin_chunk = '1 GiB' }, on = 'a' }, { ext4 = {} }]\n";
    std::fs::write(&small, study).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
    let output = command.arg("run").arg(small).env("BEDPLATE_RUNS", home.path()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("stack `wide`: layer") && told.contains("stack `thin`: layer"), "{told}");
}

/// An exported file tells its reader what to change, so what somebody changed stays.
#[test]
fn an_exported_job_that_somebody_edited_is_not_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let export = || {
        let arguments = ["fio", "export", concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/quickstart.toml"), "."];
        Command::new(env!("CARGO_BIN_EXE_bedplate")).args(arguments).current_dir(home.path()).output().unwrap()
    };
    assert!(export().status.success() && export().status.success(), "the same again is the same");
    let file = std::fs::read_dir(home.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "edited").unwrap();
    let again = export();
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(!again.status.success() && said.contains("says something else"), "{said}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "edited");
}
