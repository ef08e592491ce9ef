//! Takes a capture: examines a machine and keeps what it answered, with what other readers will ask.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use terms::{Cmd, Nanos, Outcome};

use super::mask::Masks;
use super::{Capture, Entry, Ran, reduce, tree};
use crate::{Host, HostError, inspect};

/// Bytes of configuration space that are kept: behind them some devices have their serial number.
const CONFIGURATION_SPACE: usize = 256;
/// Directories of which all files are kept, whether somebody asked or not: by the ends of their paths.
const WHOLE: [&str; 2] = ["/queue", "/md"];
/// Longest of those files.
const LONGEST: usize = 4096;

/// Captures a machine, identifiers masked.
///
/// # Errors
/// Where the machine is lost.
pub fn take(host: &dyn Host) -> Result<Capture, HostError> {
    let recorder = Recorder { inner: host, kept: Mutex::default(), places: Mutex::default() };
    inspect::examine(&recorder)?;
    recorder.complete()?;
    // They tell what else must be hidden.
    for file in ["/proc/sys/kernel/hostname", "/sys/class/dmi/id/product_serial", "/sys/class/dmi/id/board_serial"] {
        let _ = recorder.read(file);
    }
    let mut raw = recorder.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    // What lies below a directory says that it is there.
    let said = |(path, entry): (&String, &Entry)| *entry == Entry::There && tree::has_children(&raw, path);
    let said: Vec<String> = raw.entries.iter().filter(|pair| said(*pair)).map(|(path, _)| path.clone()).collect();
    said.iter().for_each(|path| drop(raw.entries.remove(path)));
    Ok(masked(raw))
}

/// A machine whose answers are kept.
struct Recorder<'h> {
    inner: &'h dyn Host,
    kept: Mutex<Capture>,
    /// Where paths lead, so that each is asked for once.
    places: Mutex<BTreeMap<String, Option<String>>>,
}

impl Recorder<'_> {
    fn kept(&self) -> MutexGuard<'_, Capture> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, path: &str) -> Option<String> {
        let known = self.places.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        known.unwrap_or_else(|| {
            let place = self.inner.resolve(path).ok();
            self.places.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), place.clone());
            place
        })
    }

    /// Keeps the links on the way to a path, and gives the path without them. The last name may be one that is not there.
    fn without_links(&self, path: &str) -> String {
        let mut at = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let next = format!("{at}/{name}");
            // It leads to whoever asks, under another number each time.
            if next == "/proc/self" {
                at = next;
                continue;
            }
            match self.place(&next) {
                Some(place) if place == next => at = next,
                Some(place) => {
                    self.kept().entries.insert(next, Entry::Link(place.clone()));
                    at = place;
                }
                None => at = next,
            }
        }
        at
    }

    fn keep<T>(&self, path: &str, result: &Result<T, HostError>, entry: impl FnOnce(&T) -> Option<Entry>) {
        let entry = match result {
            Ok(value) => entry(value),
            Err(error) if error.is_not_found() => Some(Entry::Absent),
            Err(HostError::File { source, .. }) => Some(Entry::Refused(source.to_string())),
            Err(_) => None,
        };
        let Some(entry) = entry else { return };
        let mut place = self.without_links(path);
        if entry == Entry::Absent {
            place = self.highest_absent(&place);
        }
        let mut kept = self.kept();
        let known = kept.entries.get(&place);
        // What was read stays, and a directory's names are more than that it is one.
        let better = matches!(known, Some(Entry::File(_) | Entry::Directory(_) | Entry::Link(_)));
        if !better || matches!(entry, Entry::File(_)) {
            kept.entries.insert(place, entry);
        }
    }

    /// What is missing on the way to a path that is not there: saying so of a directory says it of all below it.
    fn highest_absent(&self, place: &str) -> String {
        let ends = place.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        let above = ends.map(|end| &place[..end]).find(|above| self.place(above).is_none());
        above.unwrap_or(place).to_owned()
    }

    /// Reads what stands beside files that were asked for.
    fn complete(&self) -> Result<(), HostError> {
        let directories: BTreeSet<String> = {
            let kept = self.kept();
            let parents = kept.entries.iter().filter(|(_, entry)| matches!(entry, Entry::File(_)));
            let parents = parents.filter_map(|(path, _)| path.rsplit_once('/')).map(|(parent, _)| parent);
            parents.filter(|parent| WHOLE.iter().any(|end| parent.ends_with(end))).map(ToOwned::to_owned).collect()
        };
        for directory in directories {
            let names = match self.inner.list(&directory) {
                Err(HostError::Lost { host, what, source }) => return Err(HostError::Lost { host, what, source }),
                names => names.unwrap_or_default(),
            };
            for name in names {
                let path = format!("{directory}/{name}");
                if let Ok(content) = self.inner.read(&path)
                    && content.len() <= LONGEST
                {
                    self.keep(&path, &Ok(content), |content| Some(Entry::File(content.clone())));
                }
            }
        }
        Ok(())
    }
}

impl Host for Recorder<'_> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let result = self.inner.run(cmd);
        match &result {
            Ok(outcome) => {
                let text = String::from_utf8_lossy(&outcome.stdout);
                let ran = Ran {
                    status: outcome.status,
                    timed_out: outcome.timed_out,
                    stdout: reduce::output(&cmd.argv, &text).into_bytes(),
                    // Complaints of a program that did its work are noise, unless they are all that it said.
                    stderr: if outcome.ok() && !outcome.stdout.is_empty() {
                        Vec::new()
                    } else {
                        outcome.stderr.clone()
                    },
                };
                self.kept().runs.insert(cmd.line(), ran);
            }
            Err(error) if error.is_not_found() => {
                self.kept().missing.extend(cmd.argv.first().cloned());
            }
            Err(_) => {}
        }
        result
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let result = self.inner.read(path);
        self.keep(path, &result, |content| {
            Some(Entry::File(match std::str::from_utf8(content) {
                _ if path.ends_with("/config") => content.iter().take(CONFIGURATION_SPACE).copied().collect(),
                Ok(text) => reduce::file(path, text).into_bytes(),
                Err(_) => content.clone(),
            }))
        });
        result
    }

    fn write(&self, path: &str, _bytes: &[u8]) -> Result<(), HostError> {
        let source = std::io::ErrorKind::ReadOnlyFilesystem.into();
        Err(HostError::File { host: self.name(), doing: "write", path: path.to_owned(), source })
    }

    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        let result = self.inner.list(path);
        self.keep(path, &result, |names| Some(Entry::Directory(names.iter().cloned().collect())));
        result
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        let result = self.inner.resolve(path);
        if result.is_ok() {
            let place = self.without_links(path);
            self.kept().entries.entry(place).or_insert(Entry::There);
        } else {
            self.keep(path, &result, |_| None);
        }
        result
    }

    fn now(&self) -> Result<Nanos, HostError> {
        let now = self.inner.now();
        self.kept().clock = now.as_ref().ok().copied();
        now
    }
}

/// The capture with identifiers masked: in contents, paths, links, names and commands.
fn masked(raw: Capture) -> Capture {
    let mut masks = learn(&raw);
    let mut out = Capture { clock: raw.clock, missing: raw.missing, whole: raw.whole, ..Capture::default() };
    for (path, entry) in raw.entries {
        let entry = match entry {
            Entry::File(content) => Entry::File(masks.bytes(&content)),
            Entry::Link(target) => Entry::Link(masks.text(&target)),
            Entry::Directory(names) => Entry::Directory(names.iter().map(|name| masks.text(name)).collect()),
            Entry::Absent => Entry::Absent,
            Entry::Refused(why) => Entry::Refused(masks.text(&why)),
            Entry::There => Entry::There,
        };
        if !is_only_secret(&path) {
            out.entries.insert(masks.text(&path), entry);
        }
    }
    for (command, ran) in raw.runs {
        let ran = Ran { stdout: masks.bytes(&ran.stdout), stderr: masks.bytes(&ran.stderr), ..ran };
        out.runs.insert(masks.text(&command), ran);
    }
    out
}

/// Files that nothing but their secret is in.
fn is_only_secret(path: &str) -> bool {
    path == "/proc/sys/kernel/hostname" || path.ends_with("/product_serial") || path.ends_with("/board_serial")
}

/// Collects serial numbers from where machines tell them.
fn learn(raw: &Capture) -> Masks {
    let mut masks = Masks::default();
    for (path, entry) in &raw.entries {
        let Entry::File(content) = entry else { continue };
        let text = String::from_utf8_lossy(content);
        match path.rsplit('/').next().unwrap_or_default() {
            "serial" | "product_serial" | "board_serial" | "backend" => masks.learn_serial(&text),
            "hostname" => masks.learn_host(&text),
            // `eui.0025385b01402a5d`, `naa.5000c500a1b2c3d4`, `t10.ATA     MODEL     SERIAL`.
            "wwid" => {
                let known = text.trim().strip_prefix("eui.").or_else(|| text.trim().strip_prefix("naa."));
                known.into_iter().for_each(|name| masks.learn_serial(name));
                if let Some(rest) = text.trim().strip_prefix("t10.") {
                    rest.split_whitespace().next_back().into_iter().for_each(|serial| masks.learn_serial(serial));
                }
            }
            "vpd_pg80" => {
                masks.learn_serial(&String::from_utf8_lossy(content.get(4..).unwrap_or_default()).replace('\0', ""))
            }
            _ if path.starts_with("/run/udev/data/") => {
                let facts = text.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='));
                for (_, value) in facts.filter(|(key, _)| {
                    ["ID_SERIAL_SHORT", "ID_WWN", "ID_WWN_WITH_EXTENSION", "ID_SCSI_SERIAL"].contains(key)
                }) {
                    masks.learn_serial(value.trim_start_matches("eui.").trim_start_matches("naa."));
                }
            }
            _ => {}
        }
    }
    for ran in raw.runs.values() {
        if let Ok(said) = serde_json::from_slice::<Value>(&ran.stdout) {
            learn_json(&said, &mut masks);
        }
    }
    masks
}

/// Serial numbers under the names that `nvme` and `smartctl` give them, at any depth.
fn learn_json(said: &Value, masks: &mut Masks) {
    match said {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text)
                        if ["sn", "serial_number", "nguid", "eui64", "logical_unit_id"].contains(&key.as_str()) =>
                    {
                        masks.learn_serial(text);
                    }
                    _ => learn_json(value, masks),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| learn_json(value, masks)),
        _ => {}
    }
}
