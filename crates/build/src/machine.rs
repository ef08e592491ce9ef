//! Where a plan's words meet a machine: nodes of drives, signatures, mounts, sysfs directories.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use claim::WrittenMark;
use host::{Host, HostError};
use terms::plan::{Effect, Placeholder, Word, partition_of};
use terms::{Cmd, Name};

use crate::error::BuildError;

/// Nodes of today for the study's drives, each found by identity a moment before.
pub type Bindings = BTreeMap<Name, String>;

/// Kind of the mark of a directory.
pub(crate) const DIRECTORY: &str = "directory";

/// A plan's words on one machine.
pub(crate) struct Machine<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) drives: &'a Bindings,
    /// Identifiers that were drawn, by what they are for.
    uuids: Mutex<BTreeMap<Name, String>>,
}

impl<'a> Machine<'a> {
    /// Nothing is drawn yet.
    pub(crate) const fn new(host: &'a dyn Host, drives: &'a Bindings) -> Self {
        Self { host, drives, uuids: Mutex::new(BTreeMap::new()) }
    }

    /// A word with its placeholders filled in.
    pub(crate) fn word(&self, step: &str, word: &Word) -> Result<String, BuildError> {
        let mut failure = None;
        let filled = word.resolve(|place| {
            let asked = match place {
                Placeholder::Drive(name) => Ok(self.drives.get(name)?.clone()),
                Placeholder::Partition(name, number) => Ok(partition_of(self.drives.get(name)?, *number)),
                Placeholder::Sysfs(node) => self.sysfs(node),
                Placeholder::Controller(name) => self.controller(self.drives.get(name)?),
                Placeholder::SysfsOf(name) => self.sysfs(self.drives.get(name)?),
                Placeholder::Uuid(layer) => self.uuid(layer),
            };
            asked.map_err(|error| failure = Some(error)).ok()
        });
        match (filled, failure) {
            (_, Some(error)) => Err(error.into()),
            (filled, None) => filled.map_err(|source| BuildError::Unresolved { step: step.to_owned(), source }),
        }
    }

    fn uuid(&self, of: &Name) -> Result<String, HostError> {
        let mut known = self.uuids.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(uuid) = known.get(of) {
            return Ok(uuid.clone());
        }
        let uuid = self.host.read_text(host::RANDOM_UUID)?;
        known.insert(of.clone(), uuid.clone());
        Ok(uuid)
    }

    /// The sysfs directory of a block device node, by its device number: nodes of mappings are not always links.
    pub(crate) fn sysfs(&self, node: &str) -> Result<String, HostError> {
        Ok(self.host.block_device(node)?.sysfs())
    }

    /// The node of a namespace's controller.
    fn controller(&self, node: &str) -> Result<String, HostError> {
        let device = self.host.resolve(&format!("{}/device", self.sysfs(node)?))?;
        Ok(format!("/dev/{}", device.rsplit('/').next().unwrap_or_default()))
    }

    /// Is there a block device of some size behind a node? Without udev nodes and links stay behind when an array is
    /// stopped, so that the node alone says nothing.
    pub(crate) fn lives(&self, node: &str) -> Result<bool, HostError> {
        let Some(devno) = claim::devno_of(self.host, node)? else { return Ok(false) };
        match self.host.read_text(&format!("{}/size", devno.sysfs())) {
            Ok(sectors) => Ok(sectors != "0"),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A directory of the plan without links: some systems have `/mnt` as one.
    pub(crate) fn real(&self, directory: &str) -> Result<String, HostError> {
        match self.host.resolve(directory) {
            Err(error) if error.is_not_found() => Ok(directory.to_owned()),
            result => result,
        }
    }

    /// Which directory a path names, as a mark: in its place another may be, or a link to one.
    pub(crate) fn directory_mark(&self, path: &str) -> Result<WrittenMark, HostError> {
        Ok(WrittenMark { kind: DIRECTORY.to_owned(), uuid: Some(host::file_id(self.host, path)?) })
    }

    /// What is mounted on a directory.
    pub(crate) fn mounted(&self, directory: &str) -> Result<Option<String>, HostError> {
        let real = self.real(directory)?;
        Ok(mounts(self.host)?.into_iter().rev().find_map(|(source, mounted)| (mounted == real).then_some(source)))
    }

    /// Where something is mounted on or below a directory.
    pub(crate) fn mounted_below(&self, directory: &str) -> Result<Option<String>, HostError> {
        let real = self.real(directory)?;
        let is_below =
            |point: &String| point.strip_prefix(&real).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        Ok(mounts(self.host)?.into_iter().map(|(_, point)| point).find(is_below))
    }

    /// Does LVM know a volume group of this name?
    pub(crate) fn has_group(&self, name: &str) -> Result<bool, HostError> {
        let select = format!("vg_name={name}");
        let ask = Cmd::new(["vgs", "--noheadings", "--options", "vg_name", "--select", &select]);
        Ok(self.host.run_ok(&ask)?.text().lines().any(|line| line.trim() == name))
    }

    /// Is a pool of this name imported? A kernel without ZFS has none.
    pub(crate) fn has_pool(&self, name: &str) -> Result<bool, HostError> {
        if !self.host.exists("/proc/spl/kstat/zfs")? {
            return Ok(false);
        }
        let list = Cmd::new(["zpool", "list", "-H", "-o", "name"]);
        Ok(self.host.run_ok(&list)?.text().lines().any(|line| line.trim() == name))
    }

    /// Is an effect there?
    pub(crate) fn sees(&self, step: &str, effect: &Effect) -> Result<bool, BuildError> {
        match effect {
            Effect::Node(node) => Ok(self.lives(&self.word(step, node)?)?),
            Effect::Signature { node, kind } => {
                let node = self.word(step, node)?;
                Ok(self.lives(&node)? && found_on(self.host, &node)?.iter().any(|found| found == kind))
            }
            Effect::LogicalBlock { node, bytes } => {
                let directory = self.sysfs(&self.word(step, node)?)?;
                let told = self.host.read_text(&format!("{directory}/queue/logical_block_size"))?;
                Ok(told == bytes.0.to_string())
            }
            Effect::Mount(directory) => Ok(self.mounted(directory)?.is_some()),
            Effect::Directory { path, .. } => Ok(self.host.exists(path)?),
            Effect::Group(name) => Ok(self.has_group(name)?),
            // Imported, and its top dataset mounted.
            Effect::Pool(name) => Ok(mounts(self.host)?.iter().any(|(source, _)| source == name)),
        }
    }
}

/// Signatures on a device, as `blkid` names them when it looks at the device itself: what udev believes may be old.
///
/// # Errors
/// Where the device cannot be probed. A blank device is no error.
pub fn found_on(host: &dyn Host, node: &str) -> Result<Vec<String>, HostError> {
    let probe =
        Cmd::new(["blkid", "--probe", "--match-tag", "TYPE", "--match-tag", "PTTYPE", "--output", "value", node]);
    let outcome = host.run(&probe)?;
    match outcome.status {
        // Nothing found.
        2 if outcome.stdout.is_empty() => Ok(Vec::new()),
        // Several signatures contradict one another: as far from blank as can be.
        8 => Ok(vec!["several signatures".to_owned()]),
        0 => Ok(outcome.text().lines().map(ToOwned::to_owned).collect()),
        _ => Err(host::CommandFailure::new(&host.name(), &probe, outcome).into()),
    }
}

/// Refuses drives that hold a signature, are used by anybody, or of which that could not be proven.
///
/// # Errors
/// [`BuildError::NotBlank`] with everything that was found on the first such drive.
pub fn prove_blank(host: &dyn Host, drives: &Bindings, wanted: &[Name]) -> Result<(), BuildError> {
    let machine = Machine::new(host, drives);
    let nodes: Vec<String> =
        wanted.iter().map(|name| machine.word("prove-blank", &Word::drive(name))).collect::<Result<_, _>>()?;
    let findings = claim::examine_nodes(host, &nodes)?;
    for ((name, node), findings) in wanted.iter().zip(nodes).zip(findings) {
        if !findings.is_empty() {
            let found = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  because: ");
            return Err(BuildError::NotBlank { drive: name.to_string(), node, found });
        }
    }
    Ok(())
}

/// What is mounted, and where.
fn mounts(host: &dyn Host) -> Result<Vec<(String, String)>, HostError> {
    let table = host.read_text("/proc/mounts")?;
    let pair = |line: &str| {
        let mut words = line.split(' ');
        Some((host::unescape(words.next()?), host::unescape(words.next()?)))
    };
    Ok(table.lines().filter_map(pair).collect())
}
