//! `bedplate run --dir`: what is there already is measured, and left as it was, however the program ends.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and talk")]
#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A directory on a disk of this machine: a file system of memory would do for fio, and tell less.
fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("bedplate-dir").tempdir_in("/var/tmp").unwrap()
}

fn command(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
    command.args(arguments).arg("--runs").arg(at.join("runs")).stdin(Stdio::null());
    command
}

fn run(at: &Path, arguments: &[&str]) -> Output {
    let output = command(at, arguments).output().unwrap();
    eprintln!("$ bedplate {}\n{}", arguments.join(" "), text(&output));
    output
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const BRIEF: [&str; 8] = ["--profile", "quick", "--rounds", "2", "--window", "500ms", "--settle", "100ms"];

#[test]
fn a_directory_is_measured_and_left_as_it_was() {
    let bench = directory();
    let data = bench.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("mine"), "precious").unwrap();
    let path = data.to_string_lossy().into_owned();
    let output = run(bench.path(), &[&["run", "--dir", &path, "--span", "16MiB", "--json"][..], &BRIEF].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = findings["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4, "{findings}");
    assert!(findings["provenance"]["place"] == "local", "{}", findings["provenance"]);
    assert_eq!(names(&data), ["mine"]);
    assert_eq!(std::fs::read(data.join("mine")).unwrap(), b"precious");
}

#[test]
fn what_a_killed_run_left_is_taken_down() {
    let bench = directory();
    let data = bench.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let path = data.to_string_lossy().into_owned();
    let arguments = ["run", "--dir", &path, "--span", "16MiB", "--profile", "quick", "--window", "20s"];
    let mut child = command(bench.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while names(&data).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was begun in a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(&data).len(), 1, "what was begun is still there");
    for expect in ["down", "nothing of run"] {
        let output = run(bench.path(), &["teardown"]);
        assert!(output.status.success() && text(&output).contains(expect), "{}", text(&output));
        assert_eq!(names(&data), Vec::<String>::new());
    }
}

#[test]
fn a_run_that_goes_on_is_not_taken_down_beneath_itself() {
    let bench = directory();
    let path = bench.path().join("data");
    std::fs::create_dir(&path).unwrap();
    let name = path.to_string_lossy().into_owned();
    let arguments = ["run", "--dir", &name, "--span", "16MiB", "--profile", "quick", "--window", "20s"];
    let mut child = command(bench.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while names(&path).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was begun in a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = run(bench.path(), &["teardown"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(names(&path).len(), 1, "it was taken away");
    // Asked to stop, it takes everything away itself.
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(&path), Vec::<String>::new());
}

#[test]
fn directories_that_cannot_be_measured_are_refused_with_what_to_do() {
    let bench = directory();
    let path = bench.path().to_string_lossy().into_owned();
    for (arguments, expect) in [
        (vec!["run", "--dir", "/nonexistent"], "/nonexistent"),
        (vec!["run", "--dir", "/proc", "--span", "1MiB"], "hint"),
        (vec!["run", "--dir", &path, "--on", "lab"], "--on local"),
        (vec!["run", "--dir", &path, "--span", "100000TiB"], "--span"),
        (vec!["run"], "STUDY"),
    ] {
        let output = run(bench.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expect), "{arguments:?}: {}", text(&output));
    }
}
