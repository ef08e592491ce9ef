//! Block devices as sysfs shows them: numbers, sizes, partitions, what is on top of what.

use host::{Devno, Host, HostError};
use terms::Bytes;

/// sysfs counts in units of 512 bytes whatever the drive's block
/// (kernel, Documentation/ABI/stable/sysfs-block, `size`).
pub(crate) const SECTOR: u64 = 512;

/// A block device of today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    /// Kernel name.
    pub(crate) name: String,
    /// Its directory in sysfs, without links.
    pub(crate) directory: String,
    /// Its number.
    pub(crate) devno: Devno,
    /// Its size of today.
    pub(crate) size: Bytes,
    /// Number in the partition table, where it is a partition.
    pub(crate) partition: Option<u32>,
}

impl Device {
    /// The device of a kernel name; `None` where there is none.
    pub(crate) fn named(host: &dyn Host, name: &str) -> Result<Option<Self>, HostError> {
        Self::at(host, &format!("/sys/class/block/{name}"))
    }

    /// The device of a number; `None` where there is none.
    pub(crate) fn numbered(host: &dyn Host, devno: Devno) -> Result<Option<Self>, HostError> {
        Self::at(host, &devno.sysfs())
    }

    fn at(host: &dyn Host, link: &str) -> Result<Option<Self>, HostError> {
        let Some(directory) = present(host.resolve(link))? else { return Ok(None) };
        let Some(number) = present(host.read_text(&format!("{directory}/dev")))? else { return Ok(None) };
        let sectors = host.read_text(&format!("{directory}/size"))?;
        let partition = present(host.read_text(&format!("{directory}/partition")))?;
        let nonsense = |what: &str| HostError::File {
            host: host.name(),
            doing: "understand",
            path: format!("{directory}/{what}"),
            source: std::io::Error::other("it is not a number"),
        };
        Ok(Some(Self {
            name: directory.rsplit('/').next().unwrap_or_default().to_owned(),
            devno: Devno::parse(&number).ok_or_else(|| nonsense("dev"))?,
            size: Bytes(sectors.parse::<u64>().map_err(|_| nonsense("size"))?.saturating_mul(SECTOR)),
            partition: partition.map(|text| text.parse().map_err(|_| nonsense("partition"))).transpose()?,
            directory,
        }))
    }

    /// Its node. The kernel writes `!` where a name has a slash.
    pub(crate) fn node(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// The directory of the whole drive, which is its own unless it is a partition.
    pub(crate) fn whole_directory(&self) -> &str {
        match self.partition {
            Some(_) => self.directory.rsplit_once('/').map_or("", |(whole, _)| whole),
            None => &self.directory,
        }
    }

    /// The kernel name of the whole drive.
    pub(crate) fn whole_name(&self) -> &str {
        self.whole_directory().rsplit('/').next().unwrap_or_default()
    }

    /// An attribute of the device itself; `None` where it has none.
    pub(crate) fn attribute(&self, host: &dyn Host, file: &str) -> Result<Option<String>, HostError> {
        present(host.read_text(&format!("{}/{file}", self.directory)))
    }

    /// Where on its drive a partition begins; `None` where it does not say so.
    pub(crate) fn start(&self, host: &dyn Host) -> Result<Option<Bytes>, HostError> {
        let sectors = self.attribute(host, "start")?.and_then(|text| text.parse::<u64>().ok());
        Ok(sectors.map(|sectors| Bytes(sectors.saturating_mul(SECTOR))))
    }

    /// Its partitions that the kernel knows.
    pub(crate) fn partitions(&self, host: &dyn Host) -> Result<Vec<Self>, HostError> {
        let mut found = Vec::new();
        for name in host.list(&self.directory)?.iter().filter(|name| name.starts_with(&self.name)) {
            let device = Self::at(host, &format!("{}/{name}", self.directory))?;
            found.extend(device.filter(|device| device.partition.is_some()));
        }
        Ok(found)
    }

    /// Devices that are made of it: arrays, mappings, caches.
    pub(crate) fn holders(&self, host: &dyn Host) -> Result<Vec<String>, HostError> {
        host.list(&format!("{}/holders", self.directory))
    }
}

/// What is there; `None` for what is not. Everything else stays an error.
pub(crate) fn present<T>(result: Result<T, HostError>) -> Result<Option<T>, HostError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Is the machine itself gone, or the person? Then no answer is one.
pub(crate) const fn is_lost(error: &HostError) -> bool {
    matches!(error, HostError::Lost { .. } | HostError::BuildMismatch { .. } | HostError::Interrupted)
}

/// The device behind a node, by the node's own number: names under `/dev` may be old. `None` where nothing is there, or
/// no block device is; what is there and cannot be looked at stays an error.
pub(crate) fn behind_node(host: &dyn Host, node: &str) -> Result<Option<Devno>, HostError> {
    Ok(present(host.device_number(node))?.flatten())
}
