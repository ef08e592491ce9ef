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
mod root;
mod swaps;

use host::{Devno, Host, HostError, unescape};

use crate::device::{Device, is_lost};
use crate::doubt::{Doubt, with_cause};
use crate::examination::Owner;
use crate::name::BY_ID;

pub(crate) use files::FileUse;
pub(crate) use loops::{Backing, files as loop_files};
pub(crate) use mounts::{EROFS, Mount};
pub(crate) use processes::Open;
pub(crate) use registries::Listed;
use root::Root;

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
    /// Mounts of what is on a device. A file system of a pool has no device: its pool says what it is on.
    pub(crate) fn mounts_of(&self, devno: Devno) -> impl Iterator<Item = &Mount> {
        let is_of_pool = move |mount: &Mount| {
            let of = |listed: &Listed| matches!(&listed.owner, Owner::Pool(pool) if listed.devno == devno && mount.pool() == Some(pool.as_str()));
            self.listed.iter().any(of)
        };
        self.mounts.iter().filter(move |mount| mount.is_of(devno) || is_of_pool(mount))
    }

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
            survey.expect(host, &Root::Own)?;
            // Where the mounts are the same, numbers and all, so is the root, and a security module may keep it shut.
            let mounts = ["self", "1"].map(|process| format!("/proc/{process}/mountinfo"));
            let [own, first] = mounts.map(|path| survey.told(&path, host.read_text(&path).map_err(Doubt::from)));
            let (own, first) = (own?, first?);
            if own.is_none() || own != first {
                survey.expect(host, &Root::First)?;
            }
        }
        Ok(survey)
    }

    /// Reads what the tables and the units below a root expect.
    fn expect(&mut self, host: &dyn Host, root: &Root) -> Result<(), HostError> {
        let units = self.told(&root.shown(UNITS), units(host, root))?.unwrap_or_default();
        let units = units.into_iter().map(|file| (file, of_unit as fn(&str) -> Vec<String>));
        let tables = TABLES.map(|file| (file.to_owned(), of_table as fn(&str) -> Vec<String>));
        for (file, words) in tables.into_iter().chain(units) {
            let path = root.shown(&file);
            let text = self.told(&path, root.text(host, &file))?.flatten();
            for written in words(&text.unwrap_or_default()) {
                let word = bare(&written);
                let devno = if word.starts_with("/dev/") {
                    self.told(&word, root.device(host, &word))?.flatten()
                } else {
                    None
                };
                let is_known = |known: &Expected| known.written == written && known.devno == devno;
                if !self.expected.iter().any(|known| is_known(known) && known.file.ends_with(&file)) {
                    self.expected.push(Expected { written, word, file: path.clone(), devno });
                }
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

const TABLES: [&str; 2] = ["/etc/fstab", "/etc/crypttab"];
/// Where an administrator's units are, and directories of what is to be changed about others (systemd.unit(5)).
const UNITS: &str = "/etc/systemd/system";

/// Units of mounts and of swap, and what changes such a unit.
fn units(host: &dyn Host, root: &Root) -> Result<Vec<String>, Doubt> {
    let mut found = Vec::new();
    for name in root.names(host, UNITS)? {
        let file = format!("{UNITS}/{name}");
        if name.ends_with(".mount") || name.ends_with(".swap") {
            found.push(file);
        } else if name.ends_with(".mount.d") || name.ends_with(".swap.d") {
            let changes = root.names(host, &file)?.into_iter().filter(|name| name.ends_with(".conf"));
            found.extend(changes.map(|name| format!("{file}/{name}")));
        }
    }
    Ok(found)
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
