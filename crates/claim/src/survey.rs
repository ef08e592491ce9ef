//! What the whole machine says of its block devices: read once, asked for every drive.
//!
//! Each table is read and understood whole, or a doubt stands in its place.

mod exports;
mod files;
mod listing;
mod loops;
mod mounts;
mod processes;
pub(crate) mod registries;
mod swaps;

use host::{Devno, Host, HostError};

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
    pub(crate) file: &'static str,
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
    /// What `/etc/fstab` and `/etc/crypttab` expect.
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
        let files: &[&'static str] = if host.is_throwaway() { &[] } else { &["/etc/fstab", "/etc/crypttab"] };
        for file in files {
            let text = survey.told(file, present(host.read_text(file)).map_err(Doubt::from))?.flatten();
            for written in expectations(&text.unwrap_or_default()) {
                let word = bare(&written);
                let devno = if word.starts_with("/dev/") {
                    survey.told(&word, behind_node(host, &word).map_err(Doubt::from))?.flatten()
                } else {
                    None
                };
                survey.expected.push(Expected { written, word, file, devno });
            }
        }
        Ok(survey)
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

/// What lines of a table name: `UUID=…`, `/dev/…`, `logdev=/dev/…`. The first word is the device in `fstab`, the second in
/// `crypttab`, where the third is that of its key. Options, the fourth word, name further ones. All are looked at in both files:
/// that is cheaper than telling the files apart, and errs towards no.
fn expectations(table: &str) -> impl Iterator<Item = String> + '_ {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    // Commas are between options. In a label or a path they are what they are.
    let words = lines.flat_map(|line| {
        let words = || line.split_whitespace();
        words().take(3).chain(words().skip(3).take(1).flat_map(|options| options.split(',')))
    });
    words.filter(|word| word.contains('=') || word.starts_with("/dev/")).map(str::to_owned)
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
        let words: Vec<String> = expectations(table).collect();
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
