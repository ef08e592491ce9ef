//! What the lab tests stand on: the built binary, directories of their own, a turn, a guest.

#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lab::{Console, Guest, GuestSpec};
use terms::{Design, LabSpec};

static TURN: RwLock<()> = RwLock::new(());
static ZFS: OnceLock<Vec<String>> = OnceLock::new();

/// Every which case of a table is tried, where the others are long.
pub(crate) const fn every(of: usize) -> usize {
    if cfg!(feature = "long-tests") { 1 } else { of }
}

/// Directories of one test, and its turn.
pub(crate) struct Bench {
    directory: tempfile::TempDir,
    _turn: Turn,
}

/// Tests that assert figures have the machine to themselves, the others share it.
enum Turn {
    Shared { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Turn::Shared { _guard: TURN.read().unwrap_or_else(PoisonError::into_inner) })
    }

    /// For a test whose figures another guest would change.
    pub(crate) fn alone() -> Self {
        Self::with(Turn::Alone { _guard: TURN.write().unwrap_or_else(PoisonError::into_inner) })
    }

    fn with(turn: Turn) -> Self {
        // Not under a path of random length: the agent's socket has to fit 108 characters.
        Self { directory: tempfile::Builder::new().prefix("bp").tempdir_in("/var/tmp").unwrap(), _turn: turn }
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.directory.path().join("runs")
    }

    pub(crate) fn labs(&self) -> PathBuf {
        self.directory.path().join("labs")
    }

    /// The program with this bench's directories.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
        command.args(arguments).current_dir(root());
        command.arg("--runs").arg(self.runs()).arg("--lab-directory").arg(self.labs());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        eprintln!("$ bedplate {}\n{}", arguments.join(" "), text(&output));
        output
    }

    /// Waits for something, at most a minute and a half.
    pub(crate) fn await_that(&self, what: &str, holds: impl Fn() -> bool) {
        let start = std::time::Instant::now();
        while !holds() {
            assert!(start.elapsed().as_secs() < 90, "no sign of {what} in a minute and a half");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// All runs, the oldest first: their names begin with their time.
    pub(crate) fn all_runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.runs()).unwrap().map(|entry| entry.unwrap().path());
        let mut runs: Vec<PathBuf> = entries.filter(|path| path.is_dir() && !path.is_symlink()).collect();
        runs.sort();
        runs
    }

    /// The only run.
    pub(crate) fn only_run(&self) -> PathBuf {
        let directories = std::fs::read_dir(self.runs()).unwrap().map(|entry| entry.unwrap().path());
        let runs: Vec<PathBuf> = directories.filter(|path| path.is_dir()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    /// A guest with a study's drives and one processor. Emulated processors wait for one another whenever memory is mapped
    /// anew: with two, each program that starts takes three times as long, and these tests start thousands.
    pub(crate) fn boot(&self, design: &Design) -> Guest {
        self.boot_from(design, None)
    }

    /// The same with what was on the drives when a guest's power was cut.
    pub(crate) fn boot_from(&self, design: &Design, drives_from: Option<&Path>) -> Guest {
        let machine = LabSpec { cpus: 1, ..design.lab.clone() };
        lab::boot(&GuestSpec { drives_from, machine: &machine, ..self.spec(design) }).unwrap()
    }

    /// A guest as the study wants it, for a test of figures.
    pub(crate) fn boot_as_asked(&self, design: &Design) -> Guest {
        lab::boot(&self.spec(design)).unwrap()
    }

    /// A copy of a study for a test of no figures, whose guest has one processor as [`Self::boot`] gives it.
    pub(crate) fn with_one_processor(&self, study: &str) -> String {
        let path = self.directory.path().join("study.toml");
        let text = std::fs::read_to_string(root().join(study)).unwrap();
        std::fs::write(&path, text.replacen("[lab]", "[lab]\ncpus = 1", 1)).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// What a guest with a study's drives is booted with.
    pub(crate) fn spec<'a>(&self, design: &'a Design) -> GuestSpec<'a> {
        GuestSpec {
            machine: &design.lab,
            wanted_modules: ZFS.get_or_init(|| vec!["zfs".to_owned()]),
            agent: Path::new(env!("CARGO_BIN_EXE_bedplate")),
            build: env!("BEDPLATE_BUILD"),
            base: self.labs(),
            // One for all: whether KVM works, and the unpacked kernel, are found out once.
            cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab"),
            console: Console::Log,
            drives_from: None,
            saves: None,
            host: 0,
        }
    }

    /// No process, file or mount of any guest is left.
    pub(crate) fn assert_nothing_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.labs()).map(|d| d.flatten().collect()).unwrap_or_default();
        assert!(left.is_empty(), "files left: {left:?}");
        assert_eq!(self.guests(), Vec::<String>::new(), "processes left");
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        assert!(!mounts.contains(&*self.labs().to_string_lossy()), "mounts left");
    }

    /// Process ids of guests of this bench, each in a directory of its own.
    pub(crate) fn guests(&self) -> Vec<String> {
        let ours = self.labs().to_string_lossy().into_owned();
        let processes =
            std::fs::read_dir("/proc").unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        let is_guest = |id: &String| {
            let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            let directory = std::fs::read_link(format!("/proc/{id}/cwd")).unwrap_or_default();
            line.contains("qemu-system") && directory.to_string_lossy().contains(&ours)
        };
        processes.filter(|name| name.chars().all(|c| c.is_ascii_digit())).filter(is_guest).collect()
    }
}

/// What makes a run of every stack short: one round of short windows on a small span, and no feature checks.
pub(crate) const SHORT: [&str; 9] =
    ["--rounds", "1", "--window", "500ms", "--settle", "200ms", "--span", "64MiB", "--no-trials"];

/// What makes windows brief, where nothing is asked of their figures.
pub(crate) const BRIEF: [&str; 4] = ["--window", "200ms", "--settle", "50ms"];

/// The project's directory.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All that a program said.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A study with the stacks of the quickstart on two NVMe drives, from the project's directory.
pub(crate) const TWO_NVME: &str = "crates/bedplate/tests/studies/two-nvme.toml";

/// A study's design.
pub(crate) fn design(path: &str) -> Design {
    understood(&std::fs::read_to_string(root().join(path)).unwrap())
}

/// What a study's text means.
pub(crate) fn understood(text: &str) -> Design {
    let (design, notes) = spec::parse(text);
    design.unwrap_or_else(|| panic!("{notes:?}"))
}
