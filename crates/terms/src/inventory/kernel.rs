//! The kernel and the system on it: modules, parameters, crypto drivers, messages, services, files of configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Readout;
use crate::units::{Bytes, Nanos};

/// The kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// `/proc/version`.
    pub version: String,
    /// `/proc/cmdline`, values that are secrets removed.
    pub command_line: Readout<String>,
    /// Modules that are loaded or built in, of those that matter to storage.
    pub modules: Readout<Vec<Module>>,
    /// Parameters that matter, such as `nvme_core.default_ps_max_latency_us`, `pcie_aspm.policy`,
    /// `raid456.devices_handle_discard_safely`, `zfs.zfs_arc_max`, `zfs.zfs_nocacheflush`. Those of modules that are not
    /// there are left out.
    pub parameters: BTreeMap<String, String>,
    /// `/proc/crypto`, of the algorithms that encryption and checksums of drives use.
    pub crypto: Readout<Vec<CryptoDriver>>,
    /// `/proc/mdstat` personalities.
    pub raid_levels: Readout<Vec<String>>,
    /// `dmsetup targets` with their versions.
    pub mapper_targets: Readout<BTreeMap<String, String>>,
    /// Messages since boot that a check looks for: drives that went away, checksums that failed, links that were found
    /// slow, queues that were given.
    pub messages: Readout<Vec<String>>,
    /// Largest and present size of the ZFS cache: `c_max` and `size` of `arcstats`.
    pub arc: Readout<Option<Arc>>,
}

/// How a line of [`Kernel::messages`] begins that tells what a program said: with the words behind it, of which the first is the program's name.
#[macro_export]
macro_rules! a_program_says {
    ($words:literal) => {
        concat!("a program says: ", $words)
    };
}

/// How a line of [`Kernel::messages`] begins that tells what a program said, before its name.
pub const OF_PROGRAM: &str = a_program_says!("");
/// How a line of [`Kernel::messages`] begins that tells what the program of a RAID controller says, before its name.
pub const OF_CONTROLLER: &str = "of a raid controller: ";

/// The ZFS cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Arc {
    /// Largest size.
    #[serde(rename = "max_bytes")]
    pub max: Bytes,
    /// Size now.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
}

/// A kernel module.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Module {
    /// Name.
    pub name: String,
    /// `/sys/module/NAME/version`, where it tells one.
    pub version: Option<String>,
    /// Can it be unloaded? Those built in cannot.
    pub loaded: bool,
}

/// An implementation of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CryptoDriver {
    /// Algorithm, such as `xts(aes)`.
    pub name: String,
    /// Driver, such as `xts-aes-aesni`.
    pub driver: String,
    /// The driver with the highest one is used.
    pub priority: i64,
}

/// A service or timer of systemd.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemdUnit {
    /// Name, such as `mdmonitor.service`, `fstrim.timer`.
    pub name: String,
    /// `active`, `inactive`, `failed`.
    pub active: String,
    /// `running`, `waiting`, `dead`.
    pub sub: String,
}

/// Files in which people name drives and arrays. `Known(None)`: there is no such file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Configuration {
    /// `/etc/fstab`.
    pub fstab: Readout<Option<Vec<ConfigLine>>>,
    /// `/etc/crypttab`.
    pub crypttab: Readout<Option<Vec<ConfigLine>>>,
    /// `/etc/mdadm/mdadm.conf` or `/etc/mdadm.conf`.
    pub mdadm: Readout<Option<Vec<ConfigLine>>>,
    /// Lines of `/etc/crontab`, `/etc/cron.d` and scripts of `/etc/cron.daily` and so on that scrub or trim. Fields are the
    /// words of [`CRON_WORDS`](super::CRON_WORDS) in them, and nothing else.
    pub cron: Readout<Vec<ConfigLine>>,
    /// Device paths in the pools' cache file, as `zpool status -P` names them.
    pub zpool_paths: Readout<Vec<String>>,
}

/// What is looked for in tables of cron: programs that scrub and trim, and what they do it to.
pub const CRON_WORDS: [&str; 9] =
    ["checkarray", "mdcheck", "raid-check", "zpool", "zfs", "btrfs", "scrub", "fstrim", "trim"];

/// A line of a configuration file that says something, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigLine {
    /// The file.
    pub file: String,
    /// Its number, from 1.
    pub line: u32,
    /// Its fields.
    pub fields: Vec<String>,
}

/// When an inventory was taken, so that two of them tell how fast a counter grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Taken {
    /// The machine's monotonic clock.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
}

/// A file or directory that was asked for and could not be read. One that is known not to be there is none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct UnreadFile {
    /// Its path.
    pub path: String,
    /// Why it could not be read.
    pub why: String,
}
