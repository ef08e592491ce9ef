//! However a guest ends, nothing of it stays; and a person gets a prompt.

#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use host::Host;
use terms::Cmd;

use crate::bench::{Bench, design, text};

#[test]
fn a_shell_gives_a_prompt_and_goes() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["lab", "shell"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Typed ahead; the console keeps it until the shell reads.
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(12));
        let _ = stdin.write_all(b"echo marker-$((40+2)); lsblk -dno NAME; exit\n");
        std::thread::sleep(Duration::from_secs(20));
    });
    let output = child.wait_with_output().unwrap();
    let said = text(&output);
    assert!(said.contains("marker-42") && said.contains("nvme1n1"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
    bench.assert_nothing_left();
}

#[test]
fn an_interrupt_cleans_up_and_says_how_to_go_on() {
    let bench = Bench::new();
    let child = bench
        .command(&["run", "studies/quickstart.toml", "--quick"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while bench.guests().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "no guest in a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(10));
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
        .command(&["run", "studies/quickstart.toml", "--quick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while bench.guests().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "no guest in a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let swept = bench.run(&["lab", "sweep"]);
    assert_eq!(swept.status.code(), Some(0));
    bench.assert_nothing_left();
}

#[test]
fn a_guest_sees_this_machine_but_cannot_write_to_it() {
    let bench = Bench::new();
    let guest = bench.boot(&design("studies/quickstart.toml"));
    let probe = bench.labs().join("../probe");
    std::fs::write(&probe, "outside").unwrap();
    // /var/tmp is the guest's own; the project's directory is this machine's, read-only below a layer in memory.
    let marker = crate::bench::root().join("Cargo.toml");
    let script = format!("test -s {0} && echo inside >> {0} && tail -n1 {0}", marker.display());
    assert_eq!(guest.run_ok(&Cmd::new(["bash", "-c", &script])).unwrap().text(), "inside");
    assert!(!std::fs::read_to_string(marker).unwrap().contains("inside\n"));
    let mount = guest.read_text("/proc/mounts").unwrap();
    assert!(mount.lines().any(|line| line.contains("overlay")), "{mount}");
    assert_eq!(std::fs::read_to_string(&probe).unwrap(), "outside");
    drop(guest);
    bench.assert_nothing_left();
}
