//! What the whole machine says of its block devices: read once, asked for every drive.
//!
//! Each table is read and understood whole, or a doubt stands in its place.

mod exports;
mod files;
mod listing;
mod loops;
pub(crate) mod mounts;
mod processes;
pub(crate) mod registries;
mod swaps;

use host::{Devno, Host, HostError};

use terms::Cmd;

use crate::device::{Device, behind_node, is_lost, present};
use crate::doubt::{Doubt, with_cause};
use crate::name::BY_ID;

pub(crate) use files::FileUse;
pub(crate) use loops::{Backing, files as loop_files};
pub(crate) use mounts::Mount;
use mounts::unescape;
pub(crate) use processes::Open;
pub(crate) use registries::Listed;

/// A device that a table of the system names.
#[derive(Debug)]
pub(crate) struct Expected {
    /// As it is written there: `UUID="…"`, `/dev/…`.
    pub(crate) written: String,
    /// What that means: a tag without quotes and escapes, or a path.
    pub(crate) word: String,
    /// The table.
    pub(crate) file: String,
    /// What a path leads to now.
    pub(crate) devno: Option<Devno>,
}

impl Expected {
    /// Does it lead to this very device, by whatever path?
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.devno == Some(device.devno) || self.word == device.node()
    }
}

/// Tables of the machine.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Mounts in every mount namespace that a process is in.
    pub(crate) mounts: Vec<Mount>,
    /// Devices that are swapped to.
    pub(crate) swaps: Vec<Devno>,
    /// Block devices that other processes have open.
    pub(crate) opens: Vec<Open>,
    /// Loop devices and what is behind them.
    pub(crate) loops: Vec<Backing>,
    /// Other uses of the files behind them.
    pub(crate) file_uses: Vec<FileUse>,
    /// Why they are not known: a doubt about loop devices, and about no other drive.
    pub(crate) file_doubt: Option<String>,
    /// Devices that some registry of a layer lists: arrays, mappings, pools, file systems, targets.
    pub(crate) listed: Vec<Listed>,
    /// What `/etc/fstab`, `/etc/crypttab` and units of systemd expect.
    pub(crate) expected: Vec<Expected>,
    /// Questions that were not answered.
    pub(crate) doubts: Vec<String>,
}

impl Survey {
    /// Reads all tables.
    ///
    /// # Errors
    /// Where the machine is lost.
    pub(crate) fn read(host: &dyn Host) -> Result<Self, HostError> {
        let mut survey = Self::default();
        let processes = survey.told("processes", processes::read(host))?.unwrap_or_default();
        survey.mounts = survey.told("mounts", mounts::read(host, &processes.namespaces))?.unwrap_or_default();
        survey.opens = processes.opens;
        survey.loops = survey.told("loop devices", loops::read(host))?.unwrap_or_default();
        let swaps = survey.told("swap", swaps::read(host))?.unwrap_or_default();
        survey.swaps = swaps.devices;
        let mut named = swaps.files;
        for (what, registry) in registries::all(host) {
            let registry = survey.told(what, registry)?.unwrap_or_default();
            survey.listed.extend(registry.devices);
            named.extend(registry.files);
        }
        named.extend(files::mounted(&survey.mounts));
        let uses = files::uses(host, &survey.loops, named);
        match survey.told("files in use", uses)? {
            Some(uses) => survey.file_uses = uses,
            None => survey.file_doubt = survey.doubts.pop(),
        }
        // A lab guest has the tables of the machine that lends it its root, and other drives.
        if !host.is_throwaway() {
            survey.expect(host, "")?;
            // Where the mounts are the same, numbers and all, so is the root, and a security module may keep it shut.
            let mounts = ["self", "1"].map(|process| format!("/proc/{process}/mountinfo"));
            let [own, first] = mounts.map(|path| survey.told(&path, table(host, &path)));
            if own? != first? {
                survey.expect(host, FIRST)?;
            }
        }
        Ok(survey)
    }

    /// Reads what the tables and the units below a root expect.
    fn expect(&mut self, host: &dyn Host, root: &str) -> Result<(), HostError> {
        let directory = format!("{root}{UNITS}");
        let units = self.told(&directory, listing::names(host, &directory).map_err(Doubt::from))?.unwrap_or_default();
        let units = units.into_iter().filter(|name| name.ends_with(".mount") || name.ends_with(".swap"));
        let units = units.map(|name| (format!("{UNITS}/{name}"), &UNIT));
        let tables = TABLES.map(|file| (file.to_owned(), &TABLE));
        for (file, Kind { text, words }) in tables.into_iter().chain(units) {
            let path = format!("{root}{file}");
            let text = self.told(&path, text(host, &path))?.flatten();
            for written in words(&text.unwrap_or_default()) {
                if self.expected.iter().any(|known| known.written == written && known.file.ends_with(&file)) {
                    continue;
                }
                let word = bare(&written);
                let devno = if word.starts_with("/dev/") {
                    self.told(&word, behind_node(host, &word).map_err(Doubt::from))?.flatten()
                } else {
                    None
                };
                self.expected.push(Expected { written, word, file: path.clone(), devno });
            }
        }
        Ok(())
    }

    fn told<T>(&mut self, what: &str, answer: Result<T, Doubt>) -> Result<Option<T>, HostError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(Doubt::Host(error)) if is_lost(&error) => Err(error),
            Err(Doubt::Host(error)) => {
                self.doubts.push(format!("{what}: {}", with_cause(&error)));
                Ok(None)
            }
            Err(Doubt::Words(words)) => {
                self.doubts.push(format!("{what}: {words}"));
                Ok(None)
            }
        }
    }
}

/// What is read for what somebody expects: how, and which of its words name devices.
struct Kind {
    text: fn(&dyn Host, &str) -> Result<Option<String>, Doubt>,
    words: fn(&str) -> Vec<String>,
}

const TABLE: Kind = Kind { text: table, words: of_table };
const UNIT: Kind = Kind { text: unit, words: of_unit };

/// The root of the machine's first process: a container and a `chroot` have tables of their own.
const FIRST: &str = "/proc/1/root";
const TABLES: [&str; 2] = ["/etc/fstab", "/etc/crypttab"];
/// Where an administrator's units are (systemd.unit(5)).
const UNITS: &str = "/etc/systemd/system";

/// The text of a table; `None` where there is none. In another's root a link may lead to where only that one finds it.
fn table(host: &dyn Host, path: &str) -> Result<Option<String>, Doubt> {
    if let Some(text) = present(host.read_text(path))? {
        return Ok(Some(text));
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or_default();
    match present(host.list(directory))? {
        // In our own root nobody else finds it either.
        Some(names) if path.starts_with(FIRST) && names.iter().any(|known| known == name) => {
            Err(Doubt::words("it is a link that leads nowhere here"))
        }
        _ => Ok(None),
    }
}

/// The text of a unit. One that leads to `/dev/null` is masked, and mounts nothing (systemd.unit(5)).
fn unit(host: &dyn Host, path: &str) -> Result<Option<String>, Doubt> {
    let leads = host.run(&Cmd::new(["readlink", "--", path]))?;
    if leads.text().trim_end() == "/dev/null" { Ok(None) } else { table(host, path) }
}

/// What lines of a table name: `UUID=…`, `/dev/…`, `logdev=/dev/…`. The first word is the device in `fstab`, the second in
/// `crypttab`, where the third is that of its key. Options, the fourth word, name further ones. All are looked at in both files:
/// that is cheaper than telling the files apart, and errs towards no.
fn of_table(table: &str) -> Vec<String> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    // Commas are between options. In a label or a path they are what they are.
    let words = lines.flat_map(|line| {
        let words = || line.split_whitespace();
        words().take(3).chain(words().skip(3).take(1).flat_map(|options| options.split(',')))
    });
    words.filter(|word| word.contains('=') || word.starts_with("/dev/")).map(str::to_owned).collect()
}

/// What a unit mounts or swaps to: `What=/dev/…` (systemd.mount(5), systemd.swap(5)).
fn of_unit(unit: &str) -> Vec<String> {
    let what = |line: &str| {
        line.split_once('=').filter(|(key, _)| key.trim() == "What").map(|(_, value)| value.trim().to_owned())
    };
    unit.lines().filter_map(what).filter(|value| !value.is_empty()).collect()
}

/// What a word of a table means: without escapes and quotes (fstab(5)), and the path where it leads to one.
fn bare(written: &str) -> String {
    let word = unescape(written);
    let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.starts_with('/')) else { return word };
    let quoted = |quote| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    match name {
        "ID" => format!("{BY_ID}{value}"),
        _ if value.starts_with("/dev/") => value.to_owned(),
        _ => format!("{name}={value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_system_expect_devices() {
        let table = "# UUID=no /\nUUID=1-2 / ext4 defaults 0 1\n/dev/sdb1 /data xfs logdev=/dev/sdc1,noatime\nproc /proc proc\n\n\
                     LABEL=a,b /b ext4\ncrypt PARTUUID=\"7\" /dev/sdd luks,header=/dev/sde";
        let words = of_table(table);
        let devices = ["UUID=1-2", "/dev/sdb1", "logdev=/dev/sdc1", "LABEL=a,b", "PARTUUID=\"7\"", "/dev/sdd"];
        assert_eq!(words, [&devices[..], &["header=/dev/sde"]].concat());
    }

    #[test]
    fn words_are_read_as_mount_does() {
        for (written, word) in [
            (r#"LABEL="two\040words""#, "LABEL=two words"),
            ("UUID='3f6a'", "UUID=3f6a"),
            (r#"LABEL=a"b"#, r#"LABEL=a"b"#),
            ("ID=nvme-of-somebody", "/dev/disk/by-id/nvme-of-somebody"),
            ("logdev=/dev/sdc1", "/dev/sdc1"),
            ("/dev/disk/by-label/a=b", "/dev/disk/by-label/a=b"),
        ] {
            assert_eq!(bare(written), word);
        }
    }
}
