//! What is given as a study: files, what is handed over on standard input, and nothing that has no end.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and starts the program")]

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STUDY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/quickstart.toml");

/// Runs `plan` on a study with something on its standard input, and ends it where it does not end.
fn plan(study: &str, input: Stdio) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bedplate"))
        .args(["plan", study])
        .env("NO_COLOR", "1")
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_has_no_end_is_no_study() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["/dev/zero", pipe.to_str().unwrap()] {
        let (code, told) = plan(path, Stdio::null());
        assert_eq!(code, Some(2), "{path}: {told}");
        assert!(told.contains("not a regular file") && told.contains("hint: "), "{told}");
    }
    let (code, told) = plan("/dev/stdin", File::open("/dev/zero").unwrap().into());
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("longer than 16 MiB"), "{told}");
    let long = directory.path().join("long.toml");
    File::create(&long).unwrap().set_len((16 << 20) + 1).unwrap();
    let (code, told) = plan(long.to_str().unwrap(), Stdio::null());
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("longer than 16 MiB"), "{told}");
}

#[test]
fn a_study_may_be_handed_over() {
    let (code, told) = plan("/dev/stdin", File::open(STUDY).unwrap().into());
    assert_eq!(code, Some(0), "{told}");
    let mut cat = Command::new("cat").arg(STUDY).stdout(Stdio::piped()).spawn().unwrap();
    let (code, told) = plan("/dev/stdin", cat.stdout.take().unwrap().into());
    assert_eq!(code, Some(0), "{told}");
    assert!(cat.wait().unwrap().success());
}
