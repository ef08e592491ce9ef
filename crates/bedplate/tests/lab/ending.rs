//! However a guest ends, nothing of it stays; and a person gets a prompt.

#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use host::Host;
use terms::Cmd;

use crate::bench::{Bench, design, text};

#[test]
fn a_shell_gives_a_prompt_and_goes() {
    let bench = Bench::new();
    let start = Instant::now();
    let mut child = bench
        .command(&["lab", "shell"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut said = Vec::new();
    let mut until = |said: &mut Vec<u8>, wanted: &str| {
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(said).contains(wanted) {
            let count = stdout.read(&mut buffer).unwrap();
            assert!(count > 0, "the shell ended before {wanted:?}: {}", String::from_utf8_lossy(said));
            said.extend_from_slice(&buffer[..count]);
        }
    };
    until(&mut said, "~#");
    println!("a prompt after {:.1} s", start.elapsed().as_secs_f64());
    stdin.write_all(b"echo marker-$((40+2)); echo /dev/nvme?n1; exit\n").unwrap();
    until(&mut said, "marker-42");
    until(&mut said, "/dev/nvme0n1 /dev/nvme1n1");
    assert!(child.wait().unwrap().success());
    bench.assert_nothing_left();
}

#[test]
fn an_interrupt_cleans_up_and_says_how_to_go_on() {
    let bench = Bench::new();
    let child = bench
        .command(&["run", crate::bench::TWO_NVME, "--quick"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Only a run that has begun can be gone on with.
    bench.await_that("a record", || std::fs::read_dir(bench.runs()).is_ok_and(|mut entries| entries.next().is_some()));
    std::thread::sleep(Duration::from_secs(2));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(text(&output).contains("--resume"), "{}", text(&output));
    bench.assert_nothing_left();
}

#[test]
fn what_a_killed_owner_left_is_swept_by_the_next() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["run", crate::bench::TWO_NVME, "--quick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    bench.await_that("a guest", || !bench.guests().is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let swept = bench.run(&["lab", "sweep"]);
    assert_eq!(swept.status.code(), Some(0));
    bench.assert_nothing_left();
}

#[test]
fn a_guest_sees_this_machine_but_cannot_write_to_it() {
    let bench = Bench::new();
    let guest = bench.boot(&design(crate::bench::TWO_NVME));
    // This machine's own file, read-only below a layer in memory.
    let file = "/etc/os-release";
    let before = std::fs::read(file).unwrap();
    let script = format!("test -s {file} && echo inside >> {file} && tail -n1 {file}");
    assert_eq!(guest.run_ok(&Cmd::new(["bash", "-c", &script])).unwrap().text(), "inside");
    assert_eq!(std::fs::read(file).unwrap(), before);
    let mount = guest.read_text("/proc/mounts").unwrap();
    assert!(mount.lines().any(|line| line.contains("overlay")), "{mount}");
    drop(guest);
    bench.assert_nothing_left();
}
