//! Scripts are run by the shell itself, with every tool a stub: what is refused, and with which exit code.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and runs the shell")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use plan::DriveFact;

const STUDY: &str = r#"
question = "What does a script refuse?"
[lab]
drives = [ { name = "a", size = "1 GiB" }, { name = "b", size = "1 GiB" } ]
[measure]
span = "32 MiB"
[[stack]]
name = "btrfs raid1"
layers = [ { btrfs = { data = "raid1", metadata = "raid1" }, on = ["a", "b"] } ]
"#;

/// Tools that say what a machine with two blank drives would; what changes drives only writes down that it was called.
const TOOLS: &[(&str, &str)] = &[
    (
        "lsblk",
        r#"case "$*" in *SERIAL*) echo "/dev/x1 S1"; echo "/dev/x2 S2" ;; *) cat "$STATE/mounts" 2>/dev/null ;; esac; true"#,
    ),
    ("stat", "echo 259:0"),
    (
        "wipefs",
        r#"case "$1" in --noheadings) cat "$STATE/found" 2>/dev/null; true ;; *) echo "wipefs $*" >> "$STATE/log" ;; esac"#,
    ),
    ("ls", "true"),
    ("mkfs.btrfs", r#"echo "mkfs.btrfs $*" >> "$STATE/log""#),
    ("mount", r#"echo "mount $*" >> "$STATE/log""#),
    ("umount", r#"echo "umount $*" >> "$STATE/log""#),
    ("rmdir", r#"echo "rmdir $*" >> "$STATE/log""#),
];

struct Stage {
    state: std::path::PathBuf,
}

impl Stage {
    fn new(name: &str) -> Self {
        let state = std::env::temp_dir().join(format!("bedplate-script-{}-{name}", std::process::id()));
        std::fs::create_dir_all(state.join("bin")).unwrap();
        for (tool, body) in TOOLS {
            let path = state.join("bin").join(tool);
            std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (design, notes) = spec::parse(STUDY);
        let design = design.unwrap_or_else(|| panic!("{notes:?}"));
        let plan = plan::plan(&design.stacks[0], &DriveFact::of_lab(&design.lab)).unwrap();
        std::fs::write(state.join("script"), plan::script(&plan)).unwrap();
        Self { state }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.state.join("bin").display());
        let script = self.state.join("script");
        Command::new("sh").arg(script).args(arguments).env("PATH", path).env("STATE", &self.state).output().unwrap()
    }

    fn code(&self, arguments: &[&str]) -> i32 {
        self.run(arguments).status.code().unwrap()
    }

    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.state.join("log")).unwrap_or_default();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }

    fn put(&self, file: &str, text: &str) {
        std::fs::write(Path::new(&self.state).join(file), text).unwrap();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.state);
    }
}

#[test]
fn drives_are_named_once_each_or_nothing_is_done() {
    let stage = Stage::new("named");
    for (arguments, code) in [
        (&[][..], 2),
        (&["build"], 2),
        (&["build", "a=S1"], 2),
        (&["build", "a=S1", "b=S9"], 3),
        (&["build", "a=S1", "b="], 3),
        (&["build", "a=S1", "b=S1"], 3),
        (&["build", "a=S1", "c=S2"], 2),
        (&["destroy", "a=S1", "b=S2"], 2),
    ] {
        assert_eq!(stage.code(arguments), code, "{arguments:?}: {:?}", stage.run(arguments));
    }
    assert_eq!(stage.log(), Vec::<String>::new());
}

#[test]
fn drives_that_hold_something_are_refused() {
    let stage = Stage::new("blank");
    stage.put("found", "0x438 ext4\n");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 3);
    stage.put("found", "");
    stage.put("mounts", "/home\n");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 3);
    assert_eq!(stage.log(), Vec::<String>::new());
}

#[test]
fn blank_drives_are_built_on_and_taken_down_last_first() {
    let stage = Stage::new("whole");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0, "{:?}", stage.run(&["build", "a=S1", "b=S2"]));
    assert_eq!(stage.log(), ["mkfs.btrfs", "mount"]);
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0);
    assert_eq!(stage.log()[2..], ["umount", "rmdir", "wipefs", "wipefs"]);
}
