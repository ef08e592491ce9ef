//! What a shell is told could be typed next, and that the program takes it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and starts the program")]

use std::path::Path;
use std::process::Command;

/// What completes the last of these words, asked as bash asks.
fn completed(directory: &Path, words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_bedplate"))
        .current_dir(directory)
        .env("HOME", directory)
        .env_remove("XDG_STATE_HOME")
        .env_remove("BEDPLATE_RUNS")
        .env("BEDPLATE_COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .args(["--", "bedplate"])
        .args(words)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{words:?}: {told}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn values_that_this_machine_knows_complete() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("mine.toml"), include_str!("../../../studies/hard-disks.toml")).unwrap();
    std::fs::create_dir_all(directory.join(".local/state/bedplate/runs/empty")).unwrap();
    for (words, wanted) in [
        (&["run", "qui"][..], &["quickstart"][..]),
        (&["plan", "mi"], &["mine.toml"]),
        (&["lab", "shell", "hard"], &["hard-disks"]),
        (&["studies", "work"], &["workstation"]),
        (&["profiles", "snia-i"], &["snia-iops"]),
        (&["run", "quickstart", "--only", "ext4-on-r"], &["ext4-on-raid-1"]),
        (&["expect", "quickstart", "--skip", "ext4,btr"], &["ext4,btrfs-raid-1"]),
        (&["bench", ".", "--profile", "kdiskmark-nvme-r"], &["kdiskmark-nvme-real-world"]),
        (&["doctor", "--fix", "array-write"], &["array-write-hole"]),
        (&["report", "lat"], &["latest"]),
        (&["run", "quickstart", "--on", "loc"], &["local"]),
    ] {
        assert_eq!(completed(directory, words), wanted, "{words:?}");
    }
}

#[test]
fn stacks_that_complete_are_taken() {
    let directory = tempfile::tempdir().unwrap();
    for study in ["quickstart", "long-term-storage"] {
        let stacks = completed(directory.path(), &["plan", study, "--only", ""]);
        assert!(stacks.len() > 4, "{stacks:?}");
        let program =
            |only: &str| Command::new(env!("CARGO_BIN_EXE_bedplate")).args(["plan", study, "--only", only]).output();
        for stack in stacks {
            assert_eq!(program(&stack).unwrap().status.code(), Some(0), "{stack}");
        }
    }
}

/// Whatever stands on the line is somebody's, and may be no study or have no end.
#[test]
fn what_is_no_study_has_no_stacks() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("broken.toml"), "[[stack]\nname = 3").unwrap();
    assert!(Command::new("mkfifo").arg(directory.path().join("pipe.toml")).status().unwrap().success());
    for study in ["broken.toml", "pipe.toml", "/dev/zero", "none.toml"] {
        assert_eq!(completed(directory.path(), &["run", study, "--only", "e"]), [""; 0], "{study}");
    }
}

#[test]
fn every_shell_is_given_what_makes_it_ask() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = Command::new(env!("CARGO_BIN_EXE_bedplate")).args(["completion", shell]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("BEDPLATE_COMPLETE"), "{shell}: {text}");
    }
}
