//! The directory in which one attempt is made: a home, a path with programs that must not run, and what must not change.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::{Capture, inspect};

use crate::corpus::{self, Case, Kind};
use crate::made;

/// What no attempt may run. Most are what a payload would be, and the rest would take something away.
const FORBIDDEN: [&str; 16] = [
    "canary",
    "touch",
    "curl",
    "wget",
    "nc",
    "ssh",
    "python3",
    "perl",
    "mkfs.ext4",
    "mkfs.xfs",
    "mkfs.btrfs",
    "blkdiscard",
    "shred",
    "umount",
    "rmdir",
    "reboot",
];
/// Programs of the system that the product asks, behind those.
pub(crate) const SYSTEM: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Where a payload may try to write whatever the test is run in.
const ELSEWHERE: [&str; 3] = ["/etc/bedplate-hostile", "/tmp/bedplate-hostile", "/run/bedplate-hostile"];
/// What is the program's own to write.
const OWN: [&str; 2] = ["home/.local/state/bedplate", "home/.cache/bedplate"];

/// Where one attempt is made.
pub(crate) struct World {
    root: PathBuf,
    /// The file or record that attacks.
    file: PathBuf,
    /// How long a verb may take: what is large may take longer, and only not for ever.
    pub(crate) patience: Duration,
    _kept: Option<tempfile::TempDir>,
}

/// Path below the world to what is there.
pub(crate) type Look = BTreeMap<PathBuf, String>;

impl World {
    /// Makes everything that a case needs.
    pub(crate) fn of(case: &Case) -> Self {
        // On a disk: fio wants to go past the page cache.
        let directory = tempfile::Builder::new().prefix("hostile-").tempdir_in("/var/tmp").unwrap();
        let root = directory.path().canonicalize().unwrap();
        let kept = match corpus::wanted() {
            Some(_) => {
                let _ = directory.keep();
                None
            }
            None => Some(directory),
        };
        let mut world = Self { root, file: PathBuf::new(), patience: patience(case), _kept: kept };
        for name in ["home", "tmp", "bin", "case", "data", "out", "work", "outside/empty"] {
            fs::create_dir_all(world.at(name)).unwrap();
        }
        // A journal of which something stands, and whose last line is torn.
        let journal = "{\"entry\":\"before\",\"stack\":\"s\",\"step\":\"ext4.make\",\"line\":\"true\"}\ntorn";
        for (name, text) in [("victim", "precious\n"), ("second", "precious, too\n"), ("journal", journal)] {
            fs::write(world.at("outside").join(name), text).unwrap();
        }
        FORBIDDEN.iter().for_each(|name| world.forbid("bin", name));
        world.file = world.put(case);
        world
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What the forbidden programs leave when they run.
    pub(crate) fn canary(&self) -> PathBuf {
        self.at("canary.log")
    }

    /// A program that leaves its name and arguments.
    pub(crate) fn forbid(&self, directory: &str, name: &str) {
        // Asking for a version does nothing.
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in -V | --version) exit 1 ;; esac\nprintf '%s %s\\n' '{name}' \"$*\" >> '{}'\n",
            self.canary().display()
        );
        self.program(directory, name, &text);
    }

    pub(crate) fn program(&self, directory: &str, name: &str, text: &str) {
        let path = self.at(directory).join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Arguments with paths in the place of capitals.
    pub(crate) fn filled(&self, arguments: &[&str]) -> Vec<String> {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = |argument: &str| match argument {
            "FILE" => self.file.clone(),
            "DATA" => self.at("data"),
            "OUT" => self.at("out"),
            "PAGE" => self.at("out/page.html"),
            "STUDY" => tree.join("../../studies/quickstart.toml"),
            "MACHINE" => tree.join("../model/tests/machines/two-sn770.toml"),
            "CAPTURE" => corpus::root().join("captures/control.capture"),
            word => PathBuf::from(word),
        };
        arguments.iter().map(|argument| path(argument).to_string_lossy().into_owned()).collect()
    }

    // --- what attacks ---

    /// Puts the case where its verbs look for it.
    fn put(&self, case: &Case) -> PathBuf {
        let state = self.at("home/.local/state/bedplate");
        if let Some(name) = case.made() {
            return self.made(case.kind, name, &state);
        }
        match case.kind {
            Kind::Record => self.record(case, self.at("case/record")),
            Kind::Runs => self.run(case, &state.join("runs")),
            Kind::Catalogue => self.catalogue(case, &state.join("runs")),
            Kind::Calibration => self.calibration(case, &state.join("calibrations")),
            Kind::Fio | Kind::Study | Kind::Plan | Kind::Machine | Kind::Capture => {
                let place = self.at("case").join(&case.name);
                self.copy(&case.source(), &place);
                place
            }
        }
    }

    fn made(&self, kind: Kind, name: &str, state: &Path) -> PathBuf {
        let place = match kind {
            Kind::Catalogue => state.join("runs/catalogue.sqlite"),
            Kind::Record => self.at("case/record"),
            Kind::Calibration => Self::calibrated(&state.join("calibrations")),
            _ => self.at("case/file"),
        };
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        if kind == Kind::Record {
            self.base(&place);
        }
        made::make(kind, name, &place, &self.at("outside"));
        place
    }

    /// A good record, with the directories that a tree of files cannot hold empty.
    fn base(&self, place: &Path) {
        self.copy(&corpus::root().join("records/base"), place);
        for name in ["plans", "builds", "trials"] {
            fs::create_dir_all(place.join(name)).unwrap();
        }
    }

    /// A record: the base, over it the case's own files, and what cannot be kept in a tree.
    fn record(&self, case: &Case, place: PathBuf) -> PathBuf {
        self.base(&place);
        self.copy(&case.source(), &place);
        for (name, target) in &case.links {
            symlink(self.substituted(target, &place), made::free(&place.join(name))).unwrap();
        }
        for name in &case.fifos {
            made::pipe(&made::free(&place.join(name)));
        }
        place
    }

    /// A record among the person's runs, in the working directory, or behind a link.
    fn run(&self, case: &Case, runs: &Path) -> PathBuf {
        fs::create_dir_all(runs).unwrap();
        let (root, name) = case.at.as_ref().unwrap().split_once('/').unwrap();
        match root {
            "state" => self.record(case, runs.join(name)),
            "work" => self.record(case, self.at("work").join(name)),
            "link" => {
                let record = self.record(case, self.at("case/record"));
                symlink(&record, runs.join(name)).unwrap();
                record
            }
            other => panic!("no place is called {other}"),
        }
    }

    /// A catalogue that leads to a record which would do harm.
    fn catalogue(&self, case: &Case, runs: &Path) -> PathBuf {
        fs::create_dir_all(runs).unwrap();
        let record = self.at("case/record");
        self.base(&record);
        self.copy(&corpus::root().join("records/undo-shell"), &record);
        let sql = self.substituted(&fs::read_to_string(case.source()).unwrap(), &record);
        let place = runs.join("catalogue.sqlite");
        rusqlite::Connection::open(&place).unwrap().execute_batch(&sql).unwrap();
        place
    }

    fn calibration(&self, case: &Case, directory: &Path) -> PathBuf {
        fs::create_dir_all(directory).unwrap();
        let place = Self::calibrated(directory);
        self.copy(&case.source(), &place);
        place
    }

    /// Where the program looks for what was measured of the machine that the verb names.
    fn calibrated(directory: &Path) -> PathBuf {
        let text = fs::read(corpus::root().join("captures/control.capture")).unwrap();
        let inventory = inspect::examine(&Capture::parse("control", &text).unwrap()).unwrap();
        let of = terms::calibration::Fingerprint::of(&inventory);
        let name = format!("{}\n{}\n{}\n{:?}", of.processor, of.threads, of.kernel, of.emulated);
        directory.join(format!("{}.json", &record::sha256_hex(name.as_bytes())[..16]))
    }

    /// Copies a file or a directory, with paths in the place of marks.
    fn copy(&self, from: &Path, to: &Path) {
        if from.is_dir() {
            fs::create_dir_all(to).unwrap();
            for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
                if entry.file_name() != "ATTEMPT" {
                    self.copy(&entry.path(), &to.join(entry.file_name()));
                }
            }
            return;
        }
        let bytes = fs::read(from).unwrap();
        // What is not text has no marks in it.
        let bytes = match std::str::from_utf8(&bytes) {
            Ok(text) => self.substituted(text, to).into_bytes(),
            Err(_) => bytes,
        };
        fs::write(to, bytes).unwrap();
    }

    fn substituted(&self, text: &str, case: &Path) -> String {
        text.replace("@OUTSIDE@", &self.at("outside").to_string_lossy())
            .replace("@BIN@", &self.at("bin").to_string_lossy())
            .replace("@CASE@", &case.to_string_lossy())
    }

    // --- what must not change ---

    /// Everything in the world, and what is in it.
    pub(crate) fn look(&self) -> Look {
        let mut found = Look::new();
        look_at(&self.root, &self.root, &mut found);
        found
    }

    /// What is not as it was and is not the program's own.
    pub(crate) fn changes(&self, before: &Look) -> Vec<String> {
        let after = self.look();
        let mut wrong = Vec::new();
        if let Ok(ran) = fs::read_to_string(self.canary()) {
            wrong.push(format!("RAN {:?}", ran.trim_end()));
        }
        for (path, was) in before.iter().filter(|(path, _)| !may_change(path)) {
            match after.get(path) {
                None => wrong.push(format!("REMOVED {}", path.display())),
                Some(is) if is != was => wrong.push(format!("CHANGED {}", path.display())),
                Some(_) => {}
            }
        }
        let made = after.keys().filter(|path| !before.contains_key(*path) && !may_change(path));
        wrong.extend(made.filter(|path| !is_lock(path, &after)).map(|path| format!("MADE {}", path.display())));
        // Taken away again: it is the payload's, and the next attempt starts clean.
        let elsewhere = ELSEWHERE.iter().filter(|path| fs::remove_file(path).is_ok());
        wrong.extend(elsewhere.map(|path| format!("MADE {path}")));
        wrong
    }
}

/// Longest in a build without optimisation, on a machine that does other things too.
fn patience(case: &Case) -> Duration {
    Duration::from_secs(if case.made().is_some() { 120 } else { 30 })
}

fn may_change(path: &Path) -> bool {
    let own = OWN.iter().any(|own| path.starts_with(own) || Path::new(own).starts_with(path));
    own || path.starts_with("out") || path == Path::new("canary.log")
}

/// A lock is a file in the record itself, and may be made there.
fn is_lock(path: &Path, after: &Look) -> bool {
    path == Path::new("case/record/lock") && after[path].starts_with("file")
}

fn look_at(root: &Path, directory: &Path, found: &mut Look) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let what = if kind.is_symlink() {
            format!("link to {}", fs::read_link(&path).unwrap().display())
        } else if kind.is_dir() {
            look_at(root, &path, found);
            "directory".to_owned()
        } else if kind.is_file() {
            format!("file {}", record::sha256_hex(&fs::read(&path).unwrap()))
        } else {
            "something else".to_owned()
        };
        found.insert(path.strip_prefix(root).unwrap().to_owned(), what);
    }
}
