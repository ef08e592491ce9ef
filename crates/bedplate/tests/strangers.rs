//! Records, names and files from somebody else, as a person meets them: what is printed, where it is looked for, and
//! that every verb ends when it is told to.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use record::{RunWriter, sha256_hex};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

fn bedplate(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
    command.args(arguments).current_dir(at).env("BEDPLATE_RUNS", at.join("runs")).stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn run(at: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = bedplate(at, arguments).output().unwrap();
    (output.status.code(), text(&output))
}

/// A record of nothing, in `below`.
fn record(below: &Path, name: &str, question: &str, started: &str) -> RunWriter {
    let workload = &spec::profile::all()[0].workloads[0];
    let provenance = json!({
        "schema": 1, "run": name, "question": question, "started": started, "command": ["x\u{1b}[2J"], "version": "0",
        "build": "b", "study_sha256": sha256_hex(b"x"), "place": "lab", "accelerator": null, "seed": 1, "rounds": 1,
        "settle_ns": 0, "window_ns": 0, "span_bytes": 0,
        "stacks": [{"slug": "a", "name": "=cmd()\u{1b}]0;PWN\u{7}\u{202e}", "note": null, "nodes": [], "missing": null}],
        "workloads": [workload],
    });
    RunWriter::create(below, &serde_json::from_value(provenance).unwrap(), "x").unwrap()
}

const THEN: &str = "2026-01-02T00:00:00Z";

#[test]
fn a_name_means_a_run_and_a_path_means_a_directory() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    drop(record(&at.join("runs"), "mine", "Is it mine?", THEN));
    drop(record(at, "latest", "Is it theirs?", THEN));
    drop(record(at, "other", "Is it theirs?", THEN));
    for (said, question) in
        [("latest", "mine?"), ("mine", "mine?"), ("mi", "mine?"), ("./latest", "theirs?"), ("runs/mine", "mine?")]
    {
        let (code, text) = run(at, &["report", said]);
        assert!(code == Some(0) && text.contains(question), "{said}: {text}");
    }
    let (code, text) = run(at, &["report", "other"]);
    assert!(code == Some(2) && text.contains("the folder here is `./other`"), "{text}");
    let (code, text) = run(&at.join("latest"), &["report", "."]);
    assert!(code == Some(0) && text.contains("theirs?"), "{text}");
}

#[test]
fn a_record_of_the_future_is_not_the_latest() {
    let home = tempfile::tempdir().unwrap();
    drop(record(&home.path().join("runs"), "mine", "Is it mine?", THEN));
    drop(record(&home.path().join("runs"), "theirs", "Is it theirs?", "2099-01-01T00:00:00Z"));
    let (code, text) = run(home.path(), &["report"]);
    assert!(code == Some(0) && text.contains("mine?"), "{text}");
}

#[test]
fn a_full_disk_keeps_nobody_from_reading() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    drop(record(&at.join("runs"), "mine", "Is it mine?", THEN));
    for arguments in ["runs", "report", "report mine", "teardown", "teardown mine"] {
        // No file can grow, and whoever tries is told so instead of being ended.
        let line = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {arguments} | cat; exit \"${{PIPESTATUS[0]}}\"");
        let mut shell = Command::new("bash");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_bedplate")]).env("BEDPLATE_RUNS", at.join("runs"));
        let output = shell.current_dir(at).output().unwrap();
        assert!(output.status.success() && text(&output).contains("mine"), "{arguments}: {}", text(&output));
    }
    // A directory in which nobody can make a file.
    let (code, text) = run(at, &["runs", "--runs", "/proc/sys"]);
    assert!(code == Some(0) && text.contains("no runs yet"), "{text}");
}

#[test]
fn what_is_not_seen_is_shown_wherever_it_is_printed() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    let writer = record(&at.join("runs"), "a\u{1b}[2Jb\u{202e}", "Which?\u{9b}2J\nrun  4 cells", THEN);
    drop(writer);
    fs::write(at.join("study.toml"), "question = \"\u{202e}x\"\n[[stack]]\nname = \"a\"\nlayers = [\"\u{1b}[2J\"]\n")
        .unwrap();
    let path = "./no\u{1b}]0;PWN\u{7}\nerror: all is lost";
    for arguments in [
        &["runs"][..],
        &["runs", "--json"],
        &["report"],
        &["report", "--csv"],
        &["report", "--json"],
        &["report", "-o", "stack"],
        &["report", "--verify"],
        &["report", path],
        &["report", "no\u{1b}[2J"],
        &["teardown"],
        &["plan", "study.toml"],
        &["plan", path],
        &["inspect", "--machine", path],
        &["fio", "check", path],
        &["no\u{1b}[2Jverb"],
        &["run", "--no\u{202e}flag"],
    ] {
        for colour in ["never", "always"] {
            let (_, mut text) = run(at, &[arguments, &["--color", colour]].concat());
            for code in ["0", "1", "2", "31", "33", "36", "1;32", "4", "32", "91", "93", "94", "96"] {
                text = text.replace(&format!("\x1b[{code}m"), "");
            }
            let hidden = |c: &char| terms::spelling::is_unseen(*c) && !matches!(c, '\n' | '\t' | '\r');
            assert_eq!(text.chars().find(hidden), None, "{arguments:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("error: all is lost")), "{arguments:?}: {text}");
            assert!(!text.lines().any(|line| line.starts_with("run  4 cells")), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn csv_in_a_pipe_is_whole_and_no_formula() {
    let home = tempfile::tempdir().unwrap();
    drop(record(&home.path().join("runs"), "mine", "Is it mine?", THEN));
    let output = bedplate(home.path(), &["report", "--csv"]).output().unwrap();
    let csv = String::from_utf8(output.stdout).unwrap();
    assert!(csv.ends_with("\r\n") && csv.matches("\r\n").count() == 2, "{csv:?}");
    assert!(csv.contains("'=cmd()\\u001b]0;PWN\\u0007\\u202e"), "{csv:?}");
}

// --- ending ---

/// Asks a program to end, once, after it has been at work for a while; `None` if it works on.
fn terminated(mut child: Child) -> Option<ExitStatus> {
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(child.try_wait().unwrap(), None, "it is at work");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn one_signal_ends_a_verb_that_has_nothing_to_clean_up() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    record(&at.join("runs"), "mine", "Is it mine?", THEN).seal().unwrap();
    // A GiB is the most that is read of one file. Without content 64 take no room, and long to digest on any machine.
    for extra in 0..64 {
        fs::File::create(at.join(format!("runs/mine/extra-{extra}"))).unwrap().set_len(1 << 30).unwrap();
    }
    for arguments in [
        &["report", "mine", "--verify"][..],
        // Nobody writes into it, and nobody closes it.
        &["plan", "/dev/stdin"],
        &["run", "/dev/stdin"],
        &["fio", "check", "/dev/stdin"],
        &["expect", "--machine", "/dev/stdin", "/dev/stdin"],
    ] {
        let mut command = bedplate(at, arguments);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let status = terminated(child).unwrap_or_else(|| panic!("{arguments:?} goes on"));
        assert_eq!(status.signal(), Some(15), "{arguments:?}");
    }
}

#[test]
fn one_signal_ends_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let child = bedplate(home.path(), &["agent"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    assert!(terminated(child).is_some());
}

// --- output that cannot be written ---

#[test]
fn output_that_cannot_be_written_is_told_with_what_and_where() {
    let home = tempfile::tempdir().unwrap();
    for arguments in
        [&["--help"][..], &["--version"], &["run", "--help"], &["help", "run"], &["schema"], &["runs", "--json"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = bedplate(home.path(), arguments).stdout(full).output().unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with("error: could not write to standard output"), "{arguments:?}: {said}");
    }
    let (code, said) = run(home.path(), &["--help"]);
    assert!(code == Some(0) && said.contains("Usage: bedplate"), "{said}");
    let (code, said) = run(home.path(), &["no-such-verb"]);
    assert!(code == Some(2) && said.starts_with("error: "), "{said}");
}
