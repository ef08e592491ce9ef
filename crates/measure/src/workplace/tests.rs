//! fio's workplace, with the real fio.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use host::Local;
use terms::{Bytes, MeasurePolicy, Name, Pattern, Workload};

use super::*;
use crate::{WorkPlace, Writable};

fn on(directory: &Path, window: Nanos) -> Job {
    let mut workload = Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes::kib(4));
    workload.engine = terms::Engine::Psync;
    let policy = MeasurePolicy { span: Bytes::mib(1), window, settle: Nanos(0), ..MeasurePolicy::default() };
    crate::job(&workload, &WorkPlace::Directory(directory.to_str().unwrap().to_owned()), &policy, 7).unwrap()
}

/// What fio says that it was told, of the first job.
fn told(outcome: &Outcome) -> Vec<(String, String)> {
    let start = outcome.stdout.iter().position(|byte| *byte == b'{').unwrap();
    let said = serde_json::Deserializer::from_slice(&outcome.stdout[start..]).into_iter::<serde_json::Value>().next();
    let said = said.unwrap().unwrap();
    let options = said["jobs"][0]["job options"].as_object().unwrap().clone();
    let mut options: Vec<_> =
        options.into_iter().map(|(key, value)| (key, value.as_str().unwrap().to_owned())).collect();
    options.sort();
    options
}

fn meant(job: &Job) -> Vec<(String, String)> {
    // The name stands in the section.
    let mut options: Vec<_> =
        job.options().filter(|(key, _)| *key != "name").map(|(key, value)| (key.to_owned(), value)).collect();
    options.sort();
    options
}

fn files(directory: &Path) -> Vec<String> {
    let mut found: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    found
}

#[test]
fn whatever_a_directory_is_called_fio_works_in_it_and_nowhere_else() {
    let host = Local::new();
    for name in [
        "two words",
        "a:b",
        "a\\:b",
        "#hash",
        "a;b",
        "a=b,c%d",
        "$ncpus",
        "${HOME}",
        "$(id)`id`",
        "a\nexec_prerun=touch x",
        "[x]",
        "it's \"quoted\"",
        "end\\",
        " blanks ",
        "ü",
        "--output=x",
        "*?",
        "include x",
    ] {
        let bench = tempfile::tempdir().unwrap();
        let directory = bench.path().join(name);
        fs::create_dir(&directory).unwrap();
        let place = Writable::directory(directory.to_str().unwrap().to_owned());
        let filled = crate::fill(&host, (place.clone(), None), Bytes::mib(1), 1, 1)
            .unwrap_or_else(|error| panic!("{name:?}: {error}"));
        let size = fs::metadata(directory.join("bedplate.dat")).map(|file| file.len());
        assert!(size.as_ref().is_ok_and(|size| *size == 1 << 20), "{name:?}: {size:?}\n{}", filled.job);
        let job = on(&directory, Nanos::millis(50));
        let outcome = run(&host, &job, Nanos::seconds(60), On::Writable(&place)).unwrap();
        assert!(outcome.ok(), "{name:?}: {} {}", outcome.text(), outcome.error_text());
        assert_eq!(told(&outcome), meant(&job), "{name:?}");
        assert!(filled.job.contains("rw=write"));
        assert_eq!((files(bench.path()), files(&directory)), (vec![name.to_owned()], vec!["bedplate.dat".to_owned()]));
    }
}

/// Whoever may write beside a directory may put another in its place, or a link to one.
#[test]
fn what_was_not_built_is_not_filled() {
    let host = Local::new();
    let bench = tempfile::tempdir().unwrap();
    let (own, theirs) = (bench.path().join("own"), bench.path().join("theirs"));
    for directory in [&own, &theirs] {
        fs::create_dir(directory).unwrap();
    }
    let path = own.to_str().unwrap();
    let place = Writable::directory(path.to_owned());
    let built = host::file_id(&host, path).unwrap();
    let fill = || crate::fill(&host, (place.clone(), Some(&built)), Bytes::mib(1), 1, 1);
    assert!(fill().is_ok());
    fs::rename(&own, bench.path().join("away")).unwrap();
    let put: [fn(&Path, &Path); 2] = [
        |theirs, own| std::os::unix::fs::symlink(theirs, own).unwrap(),
        |theirs, own| {
            fs::remove_file(own).unwrap();
            fs::rename(theirs, own).unwrap();
        },
    ];
    for put in put {
        put(&theirs, &own);
        assert!(matches!(fill(), Err(crate::MeasureError::Replaced { .. })));
        assert_eq!(files(&own), Vec::<String>::new());
    }
}

#[test]
fn a_workplace_is_for_its_owner_alone_and_gone_afterwards() {
    let host = Local::new();
    let (first, second) = (Workplace::new(&host).unwrap(), Workplace::new(&host).unwrap());
    assert_ne!(first.path, second.path);
    let path = first.path.clone();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o700);
    assert_eq!(host.run_ok(&first.command(&["pwd"])).unwrap().text(), path);
    fs::write(first.path("x"), "").unwrap();
    drop(first);
    assert!(!Path::new(&path).exists());
}

#[test]
fn one_that_is_asked_to_end_takes_its_directory_with_it() {
    let host = Local::new();
    let workplace = Workplace::new(&host).unwrap();
    let outcome = host.run(&workplace.command(&["sleep", "60"]).limit(Nanos::millis(300))).unwrap();
    assert!(outcome.timed_out && !Path::new(&workplace.path).exists());
}

#[test]
fn one_whose_run_was_killed_is_gone_when_its_program_has_ended() {
    let host = Local::new();
    let workplace = Workplace::new(&host).unwrap();
    // The shell in between stands for a run that is killed.
    let killed = ["sh", "-c", "\"$@\" >/dev/null 2>&1 & sleep 0.3", "sh"].map(str::to_owned);
    let inside = workplace.command(&["sleep", "1"]);
    host.run_ok(&Cmd::new([killed.to_vec(), inside.argv].concat())).unwrap();
    assert!(Path::new(&workplace.path).exists(), "the program works in it");
    let gone = |_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        !Path::new(&workplace.path).exists()
    };
    assert!((0..200).any(gone), "it was left behind");
}

#[test]
fn logs_of_a_job_are_its_own() {
    let host = Local::new();
    let bench = tempfile::tempdir().unwrap();
    let place = Writable::directory(bench.path().to_str().unwrap().to_owned());
    crate::fill(&host, (place.clone(), None), Bytes::mib(1), 1, 1).unwrap();
    let job = on(bench.path(), Nanos::seconds(1));
    let workplace = Workplace::new(&host).unwrap();
    assert!(host.run(&workplace.fio(&job, On::Writable(&place)).unwrap()).unwrap().ok());
    assert!(!workplace.take(&job.log("bw")).is_empty() && !workplace.take(&job.log("lat")).is_empty());
    assert!(workplace.take("nothing").is_empty());
    assert_eq!(files(bench.path()), ["bedplate.dat"]);
}

/// What may only be read is not written to, whatever the job says, and no job writes beside what it may write to.
#[test]
fn a_job_writes_nowhere_but_where_it_may() {
    let (host, bench) = (Local::new(), tempfile::tempdir().unwrap());
    let at = |name: &str| {
        let path = bench.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (own, theirs) = (at("own"), at("theirs"));
    let job = |pattern, directory: &str| {
        let mut workload = Workload::new(Name::new("w").unwrap(), pattern, Bytes::kib(4));
        workload.engine = terms::Engine::Psync;
        let policy = MeasurePolicy {
            span: Bytes::mib(1),
            window: Nanos::millis(50),
            settle: Nanos(0),
            ..MeasurePolicy::default()
        };
        crate::job(&workload, &WorkPlace::Directory(directory.to_owned()), &policy, 7).unwrap()
    };
    let (place, allowed) = (WorkPlace::Directory(theirs.clone()), Writable::directory(own.clone()));
    for pattern in [Pattern::Write, Pattern::RandWrite, Pattern::Mixed(70), Pattern::RandMixed(70)] {
        for on in [On::ReadOnly(&place), On::Writable(&allowed)] {
            let result = run(&host, &job(pattern, &theirs), Nanos::seconds(60), on);
            assert!(matches!(result, Err(MeasureError::Unallowed { .. })), "{pattern:?} {on:?}: {result:?}");
        }
        let result = run(&host, &job(pattern, &own), Nanos::seconds(60), On::Writable(&allowed));
        assert!(result.as_ref().is_ok_and(Outcome::ok), "{pattern:?}: {result:?}");
    }
    assert_eq!(files(Path::new(&theirs)), Vec::<String>::new());
    assert_eq!(job(Pattern::Read, &theirs).argv().get(2).map(String::as_str), Some("--readonly"));
}
