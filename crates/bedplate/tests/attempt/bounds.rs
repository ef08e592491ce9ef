//! Running the program, and scripts that it made, in bounded time and memory.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::printed;
use crate::world::{SYSTEM, World};

/// How a fault begins that is none of the program's own ends.
pub(crate) const ENDLESS: &str = "did not end by itself:";
/// Address space in KiB.
const MEMORY: &str = "2500000";
/// Most that is read of one stream.
const MOST: u64 = 64 << 20;

/// How a program ended, and what it printed.
pub(crate) struct Ended {
    /// Its exit code, where it ended by itself.
    pub(crate) code: Option<i32>,
    /// In words.
    pub(crate) how: String,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    /// Is any of these in what was printed, colours aside?
    pub(crate) fn says_any(&self, words: &[&str]) -> bool {
        let text = printed::without_colours(&String::from_utf8_lossy(&[&self.stdout[..], &self.stderr].concat()));
        words.iter().any(|word| text.contains(word))
    }

    /// The attempt for a person to repeat, with the beginning of the output, as text.
    pub(crate) fn told(&self, world: &World, arguments: &[&str]) -> String {
        let shown = |bytes: &[u8]| {
            let text: String = String::from_utf8_lossy(bytes).chars().take(600).collect();
            text.escape_debug().to_string().replace("\\n", "\n")
        };
        let line = world.filled(arguments).join(" ");
        format!("$ bedplate {line}\n{}\n{}{}", self.how, shown(&self.stdout), shown(&self.stderr))
    }
}

/// Runs Bedplate on what the world holds, with colours, which is when nothing is cut out of what it prints.
pub(crate) fn run(world: &World, arguments: &[String]) -> Ended {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -v {MEMORY} && exec \"$@\""), "sh", env!("CARGO_BIN_EXE_bedplate")]);
    command.args(["--color", "always"]).args(arguments);
    bounded(world, command, &format!("{}:{SYSTEM}", world.at("bin").display()))
}

/// Programs that do nothing while a script is tried.
const NOTHING: [&str; 20] = [
    "wipefs",
    "ls",
    "cryptsetup",
    "mkfs.ext4",
    "mkfs.xfs",
    "mkfs.btrfs",
    "mount",
    "mkdir",
    "udevadm",
    "mdadm",
    "blockdev",
    "blkid",
    "sync",
    "sleep",
    "blkdiscard",
    "dmsetup",
    "chmod",
    "dd",
    "cksum",
    "findmnt",
];
/// Programs that only read texts.
const READERS: [&str; 8] = ["awk", "grep", "sort", "uniq", "cat", "head", "rm", "tr"];

/// Runs a script that builds a stack, where every program but those that read texts does nothing. Gives what it ran that
/// it should not have.
pub(crate) fn run_script(world: &World, text: &[u8]) -> Vec<String> {
    let kept = world.at("out/bedplate").display().to_string();
    let text = String::from_utf8_lossy(text).replace("/run/bedplate", &kept);
    fs::write(world.at("out/script.sh"), text).unwrap();
    fs::create_dir_all(world.at("out/bin")).unwrap();
    fs::create_dir_all(world.at("out/keys")).unwrap();
    NOTHING.iter().for_each(|name| world.program("out/bin", name, "#!/bin/sh\nexit 0\n"));
    world.program("out/bin", "mktemp", &format!("#!/bin/sh\necho '{}'\n", world.at("out/keys").display()));
    world.program("out/bin", "stat", "#!/bin/sh\ncase \"$*\" in *%t*) echo 1 ;; *) echo 3 ;; esac\n");
    world.program("out/bin", "od", "#!/bin/sh\necho 00 00\n");
    let lsblk = "#!/bin/sh\ncase \"$*\" in *SERIAL*) echo '/dev/null S1' ;; *) echo disk ;; esac\n";
    world.program("out/bin", "lsblk", lsblk);
    // A lock is had at once, and what was to be run under it is.
    let flock = "#!/bin/sh\nwhile :; do case $1 in --conflict-exit-code) shift 2 ;; --*) shift ;; *) break ;; esac; done\n\
                 shift\n[ \"$1\" = true ] || exec \"$@\"\n";
    world.program("out/bin", "flock", flock);
    ["canary", "touch"].iter().for_each(|name| world.forbid("out/bin", name));
    for name in READERS {
        symlink(format!("/usr/bin/{name}"), world.at("out/bin").join(name)).unwrap();
    }
    let mut command = Command::new("/bin/sh");
    command.arg(world.at("out/script.sh")).args(["build", "a=S1"]);
    let ended = bounded(world, command, &world.at("out/bin").to_string_lossy());
    let ran = fs::read_to_string(world.canary()).ok().map(|ran| format!("the script RAN {ran:?}"));
    let said = String::from_utf8_lossy(&ended.stderr).escape_debug().to_string();
    let odd = (ended.code != Some(0)).then(|| format!("the script ends with {}: {said}", ended.how));
    ran.into_iter().chain(odd).collect()
}

fn bounded(world: &World, mut command: Command, path: &str) -> Ended {
    // What is printed goes into files: a pipe that nobody empties would stop the program.
    let streams = ["out/.stdout", "out/.stderr"].map(|name| world.at(name));
    command.env_clear().env("PATH", path).env("HOME", world.at("home")).env("TMPDIR", world.at("tmp"));
    command.current_dir(world.at("work")).process_group(0).stdin(Stdio::null());
    command.stdout(File::create(&streams[0]).unwrap()).stderr(File::create(&streams[1]).unwrap());
    let mut child = command.spawn().unwrap();
    let (how, code) = await_end(&mut child, world.patience);
    let [stdout, stderr] = streams.map(|path| {
        let mut bytes = Vec::new();
        File::open(&path).unwrap().take(MOST).read_to_end(&mut bytes).unwrap();
        fs::remove_file(path).unwrap();
        bytes
    });
    Ended { code, how, stdout, stderr }
}

/// Waits for the end, and brings it about where it does not come.
fn await_end(child: &mut Child, patience: Duration) -> (String, Option<i32>) {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let how = status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"));
            return (how, status.code());
        }
        if start.elapsed() > patience {
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            child.wait().unwrap();
            return (format!("still ran after {} s", patience.as_secs()), None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
