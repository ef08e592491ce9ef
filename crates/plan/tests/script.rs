//! Scripts are run by the shell itself, with every tool a stub: what is refused, and with which exit code.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and runs the shell")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use plan::DriveSize;

const STUDY: &str = r#"
question = "What does a script refuse?"
[lab]
drives = [ { name = "a", size = "1 GiB" }, { name = "b", size = "1 GiB" } ]
[measure]
span = "32 MiB"
[[stack]]
name = "btrfs raid1"
layers = [ { btrfs = { data = "raid1", metadata = "raid1" }, on = ["a", "b"] } ]
[[stack]]
name = "cache"
layers = [ { writecache = { cache = "b" }, on = "a" } ]
[[stack]]
name = "group"
layers = [ { lvm = {}, on = ["a", "b"] } ]
[[stack]]
name = "group alone"
layers = [ { lvm = {}, on = "a" } ]
[[stack]]
name = "pool"
layers = [ { zfs = { layout = "mirror" }, on = ["a", "b"] } ]
[[stack]]
name = "checked"
layers = [ { integrity = {}, on = "a" }, { ext4 = {} } ]
"#;

/// Tools that say what a machine with two blank drives would; what changes drives only writes down that it was called.
const TOOLS: &[(&str, &str)] = &[
    (
        "lsblk",
        r#"case "$*" in
            *WWN*) cat "$STATE/wwn" ;;
            *SERIAL*) cat "$STATE/serials" ;;
            *PATH,TYPE*) for of; do :; done; echo "$of disk" ;;
            *MAJ:MIN*) cat "$STATE/rests" ;;
            *) cat "$STATE/tree" ;;
        esac"#,
    ),
    ("stat", r#"case "$*" in *%t*) echo 103 ;; *%T*) echo 1 ;; esac"#),
    (
        "wipefs",
        r#"case "$1" in --noheadings) cat "$STATE/found" ;; *) echo "wipefs $*" >> "$STATE/log"; : > "$STATE/found" ;; esac"#,
    ),
    (
        "flock",
        r#"while :; do case "$1" in --conflict-exit-code) shift 2 ;; --*) shift ;; *) break ;; esac; done
        [ ! -e "$STATE/locked-${1##*/}" ] || exit 1
        shift; exec "$@""#,
    ),
    ("blkid", "exit 2"),
    ("ls", r#"case "$1" in */259:1/holders) cat "$STATE/holders" ;; esac"#),
    ("od", r#"cat "$STATE/bytes""#),
    ("dd", r#"cat "$STATE/raw""#),
    (
        "findmnt",
        r#"case "$1" in --list) cat "$STATE/mounts" ;; *) [ -e "$STATE/mounted" ] && cat "$STATE/source" || exit 1 ;; esac"#,
    ),
    (
        "mkfs.btrfs",
        r#"[ ! -e "$STATE/somebody" ] || { echo "0x438 ext4 9-9" > "$STATE/found"; exit 1; }
        echo "0x10040 btrfs" > "$STATE/found"; echo "mkfs.btrfs $*" >> "$STATE/log"
        [ ! -e "$STATE/deadly" ] || kill -9 "$PPID""#,
    ),
    (
        "integritysetup",
        r#"echo "integritysetup $1" >> "$STATE/log"
        case "$1" in format) echo DM_integrity > "$STATE/found" ;; *) exit 1 ;; esac"#,
    ),
    ("mount", r#"for at; do :; done; mkdir "$at"; : > "$STATE/mounted"; echo "mount $*" >> "$STATE/log""#),
    ("umount", r#"[ ! -e "$STATE/busy" ] || exit 32; rm "$STATE/mounted"; echo "umount $*" >> "$STATE/log""#),
    ("rmdir", r#"/bin/rmdir "$@"; echo "rmdir $*" >> "$STATE/log""#),
    ("blkdiscard", r#"echo "blkdiscard $*" >> "$STATE/log""#),
    (
        "dmsetup",
        r#"case "$1" in
            create) echo x > "$STATE/holders"; : > "$STATE/$2"; mkdir -p "$STATE/259:1"; echo 2048 > "$STATE/259:1/size" ;;
            remove) : > "$STATE/holders"; rm -r "$STATE/$2" "$STATE/259:1" ;;
        esac
        case "$1" in info) ;; status) cat "$STATE/status" ;; *) echo "dmsetup $1" >> "$STATE/log" ;; esac"#,
    ),
    ("blockdev", "echo 2048"),
    ("mountpoint", r#"[ -e "$STATE/mounted" ]"#),
    ("vgs", r#"cat "$STATE/groups""#),
    ("lvs", r#"cat "$STATE/volumes""#),
    ("pvcreate", r#"echo LVM2_member > "$STATE/found"; echo "pvcreate $*" >> "$STATE/log""#),
    ("vgcreate", r#"echo "vgcreate $*" >> "$STATE/log""#),
    ("lvcreate", r#"echo "lvcreate $*" >> "$STATE/log""#),
    ("lvremove", r#"echo "lvremove $*" >> "$STATE/log""#),
    ("vgremove", r#"echo "vgremove $*" >> "$STATE/log""#),
    ("pvremove", r#"echo "pvremove $*" >> "$STATE/log"; : > "$STATE/found""#),
];

struct Stage {
    state: std::path::PathBuf,
}

impl Stage {
    fn new(name: &str) -> Self {
        Self::of(name, "btrfs raid1")
    }

    /// Every path that the script looks at or keeps is below its own directory.
    fn of(name: &str, stack: &str) -> Self {
        let state = std::env::temp_dir().join(format!("bedplate-script-{}-{name}", std::process::id()));
        std::fs::create_dir_all(state.join("bin")).unwrap();
        for (tool, body) in TOOLS {
            let path = state.join("bin").join(tool);
            std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (design, notes) = spec::parse(STUDY);
        let design = design.unwrap_or_else(|| panic!("{notes:?}"));
        let stack = design.stacks.iter().find(|known| known.name == stack).unwrap();
        let plan = plan::plan(stack, &DriveSize::of_lab(&design.lab)).unwrap();
        let stage = Self { state };
        stage.follow(&plan);
        stage.blank();
        stage
    }

    /// Plays the script of this plan.
    fn follow(&self, plan: &terms::Plan) {
        let here = format!("{}/", self.state.display());
        let elsewhere = [
            "/run/",
            "/mnt/bedplate/",
            "/dev/mapper/",
            "/sys/dev/block/",
            "/proc/spl/kstat/zfs/",
            "/proc/sys/kernel/random/",
        ];
        let script = elsewhere.iter().fold(plan::script(plan), |script, path| script.replace(path, &here));
        self.put("script", &script);
    }

    /// Two drives with nothing on them, by nobody used.
    fn blank(&self) {
        self.put("serials", "/dev/x1 S1\n/dev/x2      S2  \n");
        self.put("tree", "disk \n");
        self.put("found", "");
        self.put("holders", "");
        self.put("groups", "");
        self.put("mounts", "/\n/home\n");
        // The file that stands for the mount stands for its device, too.
        self.put("source", &format!("{}[/sub]\n", self.state.join("mounted").display()));
        std::fs::create_dir_all(self.state.join("259:1")).unwrap();
        self.put("259:1/size", "2048\n");
        self.put("wwn", "S1 w1 MODEL 1024\n");
        self.put("rests", "259:1\n");
        self.put("boot_id", "first\n");
        self.put("uuid", "1-2\n");
        self.put("raw", "");
        self.put("bytes", " 00 00 00 00\n 00 00\n");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.state.join("bin").display());
        let script = self.state.join("script");
        let mut shell = Command::new("sh");
        // What the environment says of drives does not count.
        shell
            .arg(script)
            .args(arguments)
            .env("drive_b", "/dev/x9")
            .env("keys", self.state.join("bin"))
            .env("PATH", path)
            .env("STATE", &self.state);
        shell.output().unwrap()
    }

    fn code(&self, arguments: &[&str]) -> i32 {
        self.run(arguments).status.code().unwrap()
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(self.state.join("log")).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
    }

    /// The commands alone.
    fn log(&self) -> Vec<String> {
        self.lines().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
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
        (&["teardown", "a=S1", "b=S1"], 3),
        (&["build", "a=S1", "b=S2", "b=S2"], 2),
        (&["build", "a=S1", "c=S2"], 2),
        (&["destroy", "a=S1", "b=S2"], 2),
    ] {
        assert_eq!(stage.code(arguments), code, "{arguments:?}: {:?}", stage.run(arguments));
    }
    assert_eq!(stage.log(), Vec::<String>::new());
}

#[test]
fn serial_numbers_are_texts() {
    let stage = Stage::new("texts");
    stage.put("serials", "/dev/x1 1000\n/dev/x2 S  2\\n\n");
    assert_eq!(stage.code(&["build", "a=1e3", "b=S  2\\n"]), 3, "not a number");
    assert_eq!(stage.code(&["build", "a=01000", "b=S  2\\n"]), 3, "not a number");
    assert_eq!(stage.code(&["build", "a=1000", "b=S 2\\n"]), 3, "blanks count");
    assert_eq!(stage.log(), Vec::<String>::new());
    let built = stage.run(&["build", "a=1000", "b=S  2\\n"]);
    assert!(built.status.success(), "{built:?}");
}

#[test]
fn two_drives_of_one_serial_number_are_neither() {
    let stage = Stage::new("twins");
    stage.put("serials", "/dev/x1 S1\n/dev/x2 S2\n/dev/x3 S2\n");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 3);
    assert_eq!(stage.log(), Vec::<String>::new());
}

/// udev and others agree on a drive by its lock, and so does Bedplate while a run has it.
#[test]
fn a_drive_that_another_program_has_locked_is_left_alone() {
    let stage = Stage::new("locked");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    stage.put("locked-x2", "");
    for verb in ["build", "teardown"] {
        let refused = stage.run(&[verb, "a=S1", "b=S2"]);
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(3) && told.contains("/dev/x2 is locked"), "{verb}: {told}");
        assert_eq!(stage.log(), ["mkfs.btrfs", "mount"], "{verb}");
    }
    std::fs::remove_file(stage.state.join("locked-x2")).unwrap();
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0);
}

/// Another drive is plugged in under the name of one, in the middle: before the first step, and between two that take back.
#[test]
fn what_comes_under_the_name_of_a_drive_is_not_written_to() {
    let stage = Stage::new("exchanged");
    // An identifier is drawn between the look at the drives and the first step.
    let cat = "case $1 in */uuid) echo S9 > \"$STATE/wwn\" ;; esac; exec /bin/cat \"$@\"";
    stage.put("bin/cat", &format!("#!/bin/sh\n{cat}\n"));
    std::fs::set_permissions(stage.state.join("bin/cat"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = stage.run(&["build", "a=S1", "b=S2"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && told.contains("not the drive that was named"), "{told}");
    assert_eq!(stage.log(), Vec::<String>::new());
    let stage = Stage::new("exchanged-later");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    stage.put(
        "bin/umount",
        "#!/bin/sh\nrm \"$STATE/mounted\"; echo S9 > \"$STATE/wwn\"; echo umount >> \"$STATE/log\"\n",
    );
    let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(stage.log(), ["mkfs.btrfs", "mount", "umount", "rmdir"]);
}

#[test]
fn drives_that_hold_something_are_refused() {
    let stage = Stage::new("blank");
    for (file, text) in [
        ("found", "0x438 ext4\n"),
        ("holders", "md127\n"),
        ("tree", "disk /home\n"),
        ("tree", "disk [SWAP]\n"),
        ("tree", "disk \npart /home\n"),
        ("tree", "disk \npart \ncrypt \n"),
        ("tree", ""),
        // dm-writecache, at its first byte.
        ("bytes", " 21 93 48 23 01 00 00 00\n"),
    ] {
        stage.blank();
        stage.put(file, text);
        let refused = stage.run(&["build", "a=S1", "b=S2"]);
        assert_eq!(refused.status.code(), Some(3), "{file} {text:?}: {refused:?}");
    }
    stage.blank();
    // A copy of a superblock of bcachefs, wherever it lies.
    std::fs::write(stage.state.join("raw"), [&[0; 1000], terms::signature::BCACHEFS, &[0; 99]].concat()).unwrap();
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 3);
    assert_eq!(stage.log(), Vec::<String>::new());
}

/// What a tool cannot tell is not taken for nothing.
#[test]
fn not_knowing_is_not_blank() {
    let stage = Stage::new("unknown");
    for file in ["found", "holders", "tree", "bytes", "raw"] {
        stage.blank();
        std::fs::remove_file(stage.state.join(file)).unwrap();
        let stopped = stage.run(&["build", "a=S1", "b=S2"]);
        assert_eq!(stopped.status.code(), Some(2), "{file}: {stopped:?}");
    }
    stage.blank();
    std::fs::remove_file(stage.state.join("serials")).unwrap();
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 3);
    assert_eq!(stage.log(), Vec::<String>::new());
}

#[test]
fn blank_drives_are_built_on_and_taken_down_last_first() {
    let stage = Stage::new("whole");
    let built = stage.run(&["build", "a=S1", "b=S2"]);
    assert!(built.status.success(), "{built:?}");
    assert!(String::from_utf8(built.stdout).unwrap().starts_with("built: /"));
    assert_eq!(stage.log(), ["mkfs.btrfs", "mount"]);
    assert!(stage.lines()[0].ends_with(" /dev/x1 /dev/x2"), "{:?}", stage.lines());
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0);
    assert_eq!(stage.log()[2..], ["umount", "rmdir", "wipefs", "blkdiscard", "wipefs", "blkdiscard"]);
}

/// A teardown discards: a drive that is named for another by mistake keeps what is on it.
#[test]
fn only_drives_that_were_built_on_are_taken_down() {
    let stage = Stage::new("others");
    stage.put("serials", "/dev/x1 S1\n/dev/x2 S2\n/dev/x3 S3\n/dev/x4 S4\n");
    let refused = |arguments: &[&str]| {
        let log = stage.log();
        let output = stage.run(arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {output:?}");
        assert_eq!(stage.log(), log);
    };
    refused(&["teardown", "a=S1", "b=S2"]);
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    refused(&["build", "a=S3", "b=S4"]);
    refused(&["teardown", "a=S1", "b=S3"]);
    refused(&["teardown", "a=S2", "b=S1"]);
    assert_eq!(stage.code(&["teardown", "b=S2", "a=S1"]), 0, "in any order");
    refused(&["teardown", "a=S1", "b=S2"]);
}

/// A step that fails leaves what somebody wrote meanwhile, and what was written by this script is known by its identifier.
#[test]
fn what_somebody_wrote_while_it_was_built_stays() {
    let stage = Stage::new("meanwhile");
    stage.put("somebody", "");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 1);
    let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(stage.log(), Vec::<String>::new());
    stage.put("found", "0x438 ext4 1-2\n");
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0, "its own file system, half made");
    assert!(stage.log().contains(&"wipefs".to_owned()));
}

#[test]
fn one_script_is_at_work_at_a_time_and_takes_down_what_it_built() {
    let stage = Stage::new("one");
    stage.put("bedplate-btrfs-raid1-lock", "1\n");
    let refused = stage.run(&["build", "a=S1", "b=S2"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(stage.log(), Vec::<String>::new());
    // Its process is no more.
    stage.put("bedplate-btrfs-raid1-lock", "99999999\n");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    assert!(!stage.state.join("bedplate-btrfs-raid1-lock").exists());
    let script = std::fs::read_to_string(stage.state.join("script")).unwrap();
    stage.put("script", &format!("{script}# another of this name\n"));
    let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
    assert_eq!((refused.status.code(), stage.log().len()), (Some(3), 2), "{refused:?}");
}

/// Makes something under a name of the script's.
type Somebody = fn(&Stage);

/// Made by whomever: what a build would have to leave, a teardown by these names would take away.
#[test]
fn what_stands_under_a_name_of_the_script_stays_as_it_is() {
    let stands: [(&str, Somebody); 4] = [
        ("btrfs raid1", |stage| std::fs::create_dir(stage.state.join("btrfs-raid1")).unwrap()),
        ("cache", |stage| {
            stage.put("bp-cache-writecache", "");
            std::fs::create_dir_all(stage.state.join("259:1")).unwrap();
            stage.put("259:1/size", "2048\n");
        }),
        ("group", |stage| stage.put("groups", "  bp-group-lvm\n")),
        ("pool", |stage| stage.put("bp-pool-zfs", "")),
    ];
    for (number, (stack, somebody)) in stands.into_iter().enumerate() {
        let stage = Stage::of(&format!("stands-{number}"), stack);
        somebody(&stage);
        for verb in ["build", "teardown"] {
            let refused = stage.run(&[verb, "a=S1", "b=S2"]);
            assert_eq!(refused.status.code(), Some(3), "{stack}: {refused:?}");
            let told = String::from_utf8(refused.stderr).unwrap();
            assert!(verb == "teardown" || told.contains("is there already"), "{stack}: {told}");
        }
        assert_eq!(stage.log(), Vec::<String>::new(), "{stack}");
    }
    // What cannot be asked for is not new.
    let stage = Stage::of("stands-unknown", "group");
    std::fs::remove_file(stage.state.join("groups")).unwrap();
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 2);
    assert_eq!(stage.log(), Vec::<String>::new());
}

/// Somebody took it down by hand, and something else has its names now.
#[test]
fn what_came_under_its_names_later_stays_as_it_is() {
    let stage = Stage::new("later");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    stage.put("found", "");
    for arguments in [["build", "a=S1", "b=S2"], ["teardown", "a=S1", "b=S2"]] {
        assert_eq!(stage.code(&arguments), 3, "{arguments:?}");
        assert_eq!(stage.log(), ["mkfs.btrfs", "mount"], "{arguments:?}");
    }
}

/// By the names that it was built by there may be other drives, and on the same drives something else.
#[test]
fn what_is_not_as_it_was_built_stays_as_it_is() {
    for (file, text) in [
        ("boot_id", "second\n"),
        ("wwn", "S1 w2 MODEL 1024\n"),
        ("found", "0x10040 btrfs another\n"),
        ("found", "0x10040 btrfs\n0x200 gpt\n"),
        ("raw", "\u{0}"),
    ] {
        let stage = Stage::new("changed");
        assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
        stage.put(file, text);
        if file == "raw" {
            std::fs::write(stage.state.join("raw"), terms::signature::BCACHEFS).unwrap();
        }
        let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
        assert_eq!(refused.status.code(), Some(3), "{file} {text:?}: {refused:?}");
        assert_eq!(stage.log(), ["mkfs.btrfs", "mount"], "{file} {text:?}");
    }
    // A mapping of its name that is on other drives.
    let stage = Stage::of("moved", "cache");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    stage.put("rests", "8:0\n8:1\n");
    let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && told.contains("does not rest on these drives"), "{told}");
    assert_eq!(stage.log(), ["blkdiscard", "dmsetup"]);
}

/// A pool and an origin take along whatever was made of them.
#[test]
fn a_volume_that_somebody_added_to_the_group_stays() {
    let stage = Stage::of("added", "group alone");
    let built = stage.run(&["build", "a=S1"]);
    assert!(built.status.success(), "{built:?}");
    let log = stage.log();
    stage.put("groups", "  /dev/x1\n");
    stage.put("volumes", "  data\n  precious\n");
    let refused = stage.run(&["teardown", "a=S1"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && told.contains("did not make: precious"), "{told}");
    assert_eq!(stage.log(), log);
    std::fs::remove_file(stage.state.join("volumes")).unwrap();
    assert_eq!(stage.code(&["teardown", "a=S1"]), 2, "not knowing is not empty");
    stage.put("volumes", "  data\n");
    let down = stage.run(&["teardown", "a=S1"]);
    assert!(down.status.success() && stage.log().contains(&"lvremove".to_owned()), "{down:?}");
}

/// Whoever unmounts a file system in memory loses what is in it.
#[test]
fn what_somebody_mounted_over_it_stays_mounted() {
    for source in ["tmpfs\n", "//nas/photos\n", "nas:/photos\n"] {
        let stage = Stage::new("over");
        assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
        stage.put("source", &format!("{}\n{source}", stage.state.join("mounted").display()));
        let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(3) && told.contains("is mounted on"), "{told}");
        assert_eq!(stage.log(), ["mkfs.btrfs", "mount"], "{source}");
    }
}

/// What a killed script wrote nobody noted: it may be somebody else's.
#[test]
fn what_a_killed_build_left_is_a_persons_to_take_away() {
    let stage = Stage::new("killed");
    stage.put("deadly", "");
    assert!(stage.run(&["build", "a=S1", "b=S2"]).status.code().is_none());
    let refused = stage.run(&["teardown", "a=S1", "b=S2"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && told.contains("killed before it kept a note"), "{told}");
    assert_eq!(stage.log(), ["mkfs.btrfs"]);
}

/// What never came to be needs no undo, and what is below it does.
#[test]
fn what_could_not_be_made_keeps_nothing_standing() {
    let stage = Stage::of("unmade", "checked");
    let failed = stage.run(&["build", "a=S1"]);
    assert!(!failed.status.success(), "{failed:?}");
    assert_eq!(stage.log(), ["integritysetup", "integritysetup"]);
    let down = stage.run(&["teardown", "a=S1"]);
    assert!(down.status.success(), "{down:?}");
    assert_eq!(stage.lines()[2..][..2], ["integritysetup close", "wipefs --all /dev/x1"], "{:?}", stage.lines());
    assert!(stage.state.join("bin").exists(), "a variable of whoever runs it is no directory of keys");
    assert_eq!(stage.code(&["teardown", "a=S1"]), 3);
}

/// A directory that could not be made, and one that somebody made in its place.
#[test]
fn a_directory_that_was_not_made_is_not_missed_and_somebody_elses_stays() {
    for theirs in [false, true] {
        let stage = Stage::new(&format!("directory-{theirs}"));
        let inside = stage.state.join("absent/inside");
        let stack = terms::Stack { name: "directory".to_owned(), note: None, nodes: Vec::new() };
        stage.follow(&plan::existing(&stack, inside.to_str().unwrap(), "").unwrap());
        assert!(!stage.run(&["build"]).status.success());
        if theirs {
            std::fs::create_dir_all(&inside).unwrap();
        }
        let down = stage.run(&["teardown"]);
        assert_eq!(down.status.code(), Some(if theirs { 3 } else { 0 }), "{down:?}");
        assert_eq!(inside.exists(), theirs);
        assert_eq!(stage.code(&["teardown"]), 3, "as before, or taken down already");
    }
}

/// What is below something that stays is in use.
#[test]
fn what_cannot_be_taken_away_keeps_what_is_below_it() {
    let stage = Stage::new("busy");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    stage.put("busy", "");
    assert!(!stage.run(&["teardown", "a=S1", "b=S2"]).status.success());
    assert_eq!(stage.log(), ["mkfs.btrfs", "mount"]);
    std::fs::remove_file(stage.state.join("busy")).unwrap();
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0);
}

/// A teardown goes on where an earlier one ended, or a build did.
#[test]
fn what_is_not_mounted_any_more_is_taken_down_all_the_same() {
    let stage = Stage::new("unmounted");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    std::fs::remove_file(stage.state.join("mounted")).unwrap();
    std::fs::remove_dir(stage.state.join("btrfs-raid1")).unwrap();
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0);
    assert_eq!(stage.log()[2..], ["wipefs", "blkdiscard", "wipefs", "blkdiscard"]);
}

#[test]
fn writes_that_cannot_be_written_below_are_told_and_kept() {
    let stage = Stage::of("failed", "cache");
    assert_eq!(stage.code(&["build", "a=S1", "b=S2"]), 0);
    assert_eq!(stage.log(), ["blkdiscard", "dmsetup"]);
    stage.put("status", "0 2048 writecache 1 100 90 0\n");
    let stopped = stage.run(&["teardown", "a=S1", "b=S2"]);
    let told = String::from_utf8(stopped.stderr).unwrap();
    assert!(!stopped.status.success() && told.contains("dmsetup remove bp-cache-writecache"), "{told}");
    assert_eq!(stage.lines()[2..], ["dmsetup message", "dmsetup suspend"], "neither removed nor cleared");
    // The mapping is suspended still.
    stage.put("status", "0 2048 writecache 0 100 100 0\n");
    assert_eq!(stage.code(&["teardown", "a=S1", "b=S2"]), 0);
    let rest: Vec<String> = stage.log()[4..].to_vec();
    assert_eq!(rest, ["dmsetup", "dmsetup", "dmsetup", "blkdiscard"], "{:?}", stage.lines());
}

/// A removal goes through a bind mount of the same file system.
#[test]
fn a_directory_with_a_mount_of_somebodys_below_it_is_not_taken_away() {
    let stage = Stage::new("below");
    let inside = stage.state.join("in side");
    let stack = terms::Stack { name: "directory".to_owned(), note: None, nodes: Vec::new() };
    stage.follow(&plan::existing(&stack, inside.to_str().unwrap(), "").unwrap());
    std::fs::remove_file(stage.state.join("bin/stat")).unwrap();
    assert_eq!(stage.code(&["build"]), 0);
    for below in ["", "/photos"] {
        stage.put("mounts", &format!("/\n{}{below}\n", inside.display()));
        let refused = stage.run(&["teardown"]);
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(3) && told.contains("is mounted in"), "{told}");
        assert!(inside.exists());
    }
    stage.put("mounts", &format!("/\n{}2\n", inside.display()));
    let down = stage.run(&["teardown"]);
    assert!(down.status.success() && !inside.exists(), "{down:?}");
}

/// What a drive is set to is put back, and nothing is set of a drive that came under its name.
#[test]
fn settings_of_drives_are_put_back() {
    let stage = Stage::new("settings");
    let name = terms::Name::new("a").unwrap();
    let setup = terms::DriveSetup {
        name: name.clone(),
        lba: None,
        write_cache: None,
        scheduler: Some("mq-deadline".to_owned()),
        sanitize: None,
    };
    let drive = plan::PreparedDrive {
        name,
        transport: terms::DriveTransport::Sata,
        formats: Vec::new(),
        format_takes_all: false,
        sanitize: Vec::new(),
        shares_controller: false,
        cache_on: None,
    };
    stage.follow(&plan::prepare(&[setup], &[drive]).unwrap().unwrap());
    let at = "259:1/queue/scheduler";
    let now = || std::fs::read_to_string(stage.state.join(at)).unwrap();
    std::fs::create_dir_all(stage.state.join("259:1/queue")).unwrap();
    for was in ["[none] mq-deadline", "bfq"] {
        stage.put(at, &format!("{was}\n"));
        let built = stage.run(&["build", "a=S1"]);
        assert!(built.status.success() && now() == "mq-deadline\n", "{built:?}");
        stage.put("wwn", "S9 w1 MODEL 1024\n");
        assert_eq!(stage.code(&["teardown", "a=S1"]), 3);
        stage.put("wwn", "S1 w1 MODEL 1024\n");
        let down = stage.run(&["teardown", "a=S1"]);
        assert!(down.status.success() && now() == format!("{}\n", in_force(was)), "{down:?}: {}", now());
    }
}

fn in_force(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

/// Whatever a command does with a drive: what it opens, zeroes or joins on a partition is not said to erase the drive.
#[test]
fn every_step_that_names_a_drive_asks_for_it_again() {
    let (design, _) = spec::parse(include_str!("../../bedplate/tests/studies/every-layer.toml"));
    let design = design.unwrap();
    let facts = DriveSize::of_lab(&design.lab);
    let mut asked = 0;
    for stack in &design.stacks {
        let plan = plan::plan(stack, &facts).unwrap();
        let script = plan::script(&plan);
        let mut rest = script.split_once("\nbuild() {").unwrap().1;
        for (number, step) in plan.steps.iter().enumerate() {
            let (before, after) = rest.split_once(&format!("    note begun {number}\n")).unwrap();
            rest = after;
            let terms::plan::Act::Run(command) = &step.act else { continue };
            let names = command.argv.iter().any(terms::Word::is_of_drive);
            let asks = before.lines().rev().take_while(|line| !line.starts_with("    note"));
            let asks = asks.into_iter().any(|line| line.starts_with("    on ") || line == "    must_be_named");
            assert!(asks || !names, "{}: {}", plan.stack, step.id);
            asked += usize::from(names);
        }
    }
    assert!(asked > 50, "{asked}");
}
