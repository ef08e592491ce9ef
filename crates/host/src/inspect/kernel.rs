//! The kernel: modules, parameters, crypto drivers, messages.

use std::collections::BTreeMap;

use terms::Bytes;
use terms::inventory::{Arc, CryptoDriver, Kernel, Module, OF_CONTROLLER, OF_PROGRAM, Readout};

use super::source::{Source, field, needed};
use crate::secret;

/// Modules that matter to storage: by the beginnings of their names.
const MODULES: [&str; 36] = [
    "nvme",
    "ahci",
    "libata",
    "sd_mod",
    "mpt3sas",
    "megaraid_sas",
    "virtio_blk",
    "virtio_scsi",
    "brd",
    "loop",
    "zram",
    "md_mod",
    "raid",
    "linear",
    "multipath",
    "dm_",
    "xts",
    "aesni_intel",
    "aes",
    "vaes",
    "crc32",
    "crct10dif",
    "xxhash",
    "sha",
    "blake2b",
    "xor",
    "async_",
    "ext4",
    "xfs",
    "btrfs",
    "zfs",
    "spl",
    "vmd",
    "pcie_aspm",
    "drivetemp",
    "null_blk",
];

/// Parameters that checks ask for.
const PARAMETERS: [(&str, &str); 22] = [
    ("nvme_core", "default_ps_max_latency_us"),
    ("nvme_core", "multipath"),
    ("nvme_core", "iopolicy"),
    ("nvme_core", "io_timeout"),
    ("nvme", "poll_queues"),
    ("nvme", "write_queues"),
    ("nvme", "use_threaded_interrupts"),
    ("pcie_aspm", "policy"),
    ("raid456", "devices_handle_discard_safely"),
    ("md_mod", "start_ro"),
    ("dm_mod", "use_blk_mq"),
    ("dm_crypt", "max_read_size"),
    ("dm_crypt", "max_write_size"),
    ("scsi_mod", "use_blk_mq"),
    ("zfs", "zfs_arc_max"),
    ("zfs", "zfs_arc_min"),
    ("zfs", "zfs_nocacheflush"),
    ("zfs", "zfs_dirty_data_max"),
    ("zfs", "zfs_txg_timeout"),
    ("zfs", "zfs_vdev_async_write_max_active"),
    ("zfs", "zfs_dmu_offset_next_sync"),
    ("zfs", "zfs_bclone_enabled"),
];

/// Limits of resyncs, which are no module's.
const RESYNC: [&str; 2] = ["speed_limit_min", "speed_limit_max"];

/// Algorithms that encryption and checksums of drives use.
const ALGORITHMS: [&str; 9] = [
    "xts(aes)",
    "cbc(aes)",
    "aes",
    "sha256",
    "hmac(sha256)",
    "crc32c",
    "xxhash64",
    "blake2b-256",
    "adiantum(xchacha12,aes)",
];

/// What is said of storage in trouble or in setting up. A line with one of these is kept.
const NOTABLE: [&str; 163] = [
    "write time tree block corruption",
    "bbu disabled; changing wb",
    "battery needs replacement",
    "battery has failed",
    ") - vd ",
    ": recovery done",
    "controller is down",
    "csts=0xffffffff",
    "device not ready",
    "removing after probe failure",
    "qid",
    "i/o timeout",
    "i/o error",
    "csum failed",
    "checksum",
    "crc error",
    "integrity aead error",
    "default/read/poll queues",
    "available pcie bandwidth",
    // How the kernel lists a device of mass storage: `[1000:00af] type 00 class 0x010700` (PCI Code and ID Assignment Specification, 1.2).
    " class 0x01",
    "pcie bus error",
    "aer:",
    "link is down",
    "sata link",
    "exception emask",
    // What the kernel says of a drive at a port of ATA: `ata5.00: disabled`.
    ".00: ",
    "limiting sata link speed",
    "ncq disabled",
    "hard resetting link",
    "uas_eh_",
    "read error corrected",
    "not correctable",
    "kicking non-fresh",
    "disk failure on",
    "remounting filesystem read-only",
    "forced readonly",
    "shutting down filesystem",
    "has been shut down",
    "force_shutdown",
    "corrupt",
    "ext4-fs error",
    "bdev ",
    "unaligned",
    "d3cold",
    "disabling device after reset",
    // How the block layer ends a request: `critical medium error, dev sda`.
    " error, dev ",
    "@ lba",
    "attempting task abort",
    "reset! scmd",
    "connection status changed",
    "devexch",
    "transid",
    "open_ctree failed",
    "error count since last fsck",
    "mounting fs with errors",
    "bad geometry",
    "error loading journal",
    "log mount/recovery failed",
    "switching pool to",
    "metadata operation",
    "predictive failure",
    "fault state",
    "fault_state(",
    "fatal error",
    "lockup detected",
    "aacraid: host",
    "resetting ",
    "sense key :",
    "timing out command",
    "device offlined",
    "to offline device",
    "failed command:",
    "mmcblk",
    "failing path",
    "recovery timed out",
    "remote port time out",
    "zio pool=",
    "has been suspended",
    "cannot continue operation",
    "not enough operational",
    "is missing",
    "failed to read chunk",
    "panic at",
    "panic: zfs",
    "power-on or device reset",
    // When that is due: at each start of the machine, and where drives are plugged in.
    "linux version ",
    "-- boot",
    "-- reboot",
    "usb-storage",
    ": uas",
    "fatal firmware",
    "cannot start dirty",
    "aborting journal",
    "detected io errors",
    "has been set read-only",
    "bad tree block",
    "potential data loss",
    "data will be lost",
    "run fsck to fix",
    ": io error on ",
    "disabling caching",
    "md: disk",
    // Drives that are left out, for their identifiers or their blocks.
    "duplicate id",
    "duplicate subnqn",
    "duplicate cntlid",
    "unsupported sector size",
    // Requests past the end: `sda5: rw=4096, sector=…, nr_sectors = 8 limit=…`.
    " limit=",
    " blocked for more than ",
    " active with ",
    "md: recovery thread",
    "invalidating snapshot",
    "suspending pool",
    "reset failed, giving up",
    "unable to fixup",
    "internal error",
    // Drives at USB that are reset, and when that is due: where they are plugged in, and where the machine wakes.
    "usb device number",
    "restarting tasks",
    // What daemons write into the same journal, of arrays and pools.
    "detected on md device",
    "ereport.fs.zfs.",
    "eid=",
    // And what the program of a RAID controller says.
    OF_CONTROLLER,
    OF_PROGRAM,
    // Of `iostat`, and of `smartd` on drives behind a controller.
    "iostat: ",
    "smart failure: ",
    "failed smart self-check",
    "fixed up error at logical",
    "xfs_log_force: error",
    ": errno=-",
    // Controllers that were given up or are too hot, and caches.
    "assume dead",
    "hc died",
    "controller unavailable",
    "host is non-operational",
    "dead_ioc",
    "controller is offline",
    "controller offline",
    "critical warning (0x",
    "killing adapter",
    "temperature threshold",
    "cache is dirty",
    // Drives that are smaller than what is on them.
    " beyond eod",
    "hpa detected",
    // Errors of memory.
    "edac mc",
    "memory failure: 0x",
    // Power, and connections over a network.
    "undervoltage detected",
    "under-voltage detected",
    "over-current condition",
    "starting error recovery",
    ": reconnecting in ",
    "reconnect attempt",
    "failed to connect socket",
    "keep_alive",
    "detected conn error",
    // Bitmaps, caches, deduplication and replication.
    "bitmap file superblock",
    "bitmap superblock",
    "failed to create bitmap",
    "switching cache to",
    "until repaired",
    "device-mapper: cache metadata",
    "read-only mode",
    "out of space",
    "split-brain",
    "bcachefs",
    // Which driver took a device at PCIe.
    ": pci function ",
];

/// All about the kernel.
pub(super) fn read(source: &Source) -> Kernel {
    Kernel {
        version: source.told("/proc/version").unwrap_or_default(),
        command_line: needed("/proc/cmdline", source.text("/proc/cmdline")).map(|line| secret::without_secrets(&line)),
        modules: modules(source),
        parameters: parameters(source),
        crypto: needed("/proc/crypto", source.text("/proc/crypto")).map(|text| crypto(&text)),
        raid_levels: levels(source),
        mapper_targets: targets(source),
        messages: source.said(&["dmesg"]).map(|text| messages(source, &text)),
        arc: source.parsed("/proc/spl/kstat/zfs/arcstats", arc),
    }
}

/// The line above what somebody posted of a program that lists all there is: it may be an excerpt.
pub(crate) const EXCERPT: &str = "# posted";

fn messages(source: &Source, text: &str) -> Vec<String> {
    if text.starts_with(EXCERPT) {
        source.partial("dmesg", "what was posted of `dmesg` may not be all of it");
    }
    text.lines().filter(|line| is_notable(line)).map(plain).collect()
}

/// Is a message of the kernel one that a check asks for?
pub(crate) fn is_notable(line: &str) -> bool {
    let line = line.to_lowercase();
    NOTABLE.iter().any(|word| line.contains(word))
}

/// A message without its time: it says when and not what, and no two starts are alike.
fn plain(line: &str) -> String {
    let rest = line.strip_prefix('[').and_then(|line| line.split_once("] ")).map_or(line, |(_, rest)| rest);
    rest.trim().to_owned()
}

fn modules(source: &Source) -> Readout<Vec<Module>> {
    const BELOW: &str = "/sys/module";
    needed(BELOW, source.names(BELOW)).map(|names| {
        let wanted = names.into_iter().filter(|name| MODULES.iter().any(|start| name.starts_with(start)));
        let module = |name: String| Module {
            version: source.told(&format!("{BELOW}/{name}/version")),
            // Those built in have no state.
            loaded: source.told(&format!("{BELOW}/{name}/initstate")).is_some(),
            name,
        };
        wanted.map(module).collect()
    })
}

fn parameters(source: &Source) -> BTreeMap<String, String> {
    let of_module = |(module, name): &(&str, &str)| {
        let value = source.told(&format!("/sys/module/{module}/parameters/{name}"))?;
        Some((format!("{module}.{name}"), value))
    };
    let resync = |name: &&str| Some((format!("dev.raid.{name}"), source.told(&format!("/proc/sys/dev/raid/{name}"))?));
    PARAMETERS.iter().filter_map(of_module).chain(RESYNC.iter().filter_map(resync)).collect()
}

/// Blocks of `key : value`, separated by empty lines.
fn crypto(text: &str) -> Vec<CryptoDriver> {
    let mut found: Vec<CryptoDriver> = text
        .split("\n\n")
        .filter_map(|block| {
            let name = field(block, "name").filter(|name| ALGORITHMS.contains(name))?;
            Some(CryptoDriver {
                name: name.to_owned(),
                driver: field(block, "driver")?.to_owned(),
                priority: field(block, "priority")?.parse().ok()?,
            })
        })
        // Helpers that no one may use by themselves begin with two underscores.
        .filter(|driver| !driver.driver.starts_with("__"))
        .collect();
    found.sort_by(|a, b| (&a.name, -a.priority, &a.driver).cmp(&(&b.name, -b.priority, &b.driver)));
    found.dedup();
    found
}

/// `Personalities : [raid1] [raid6] [raid5]`; no file, no md.
fn levels(source: &Source) -> Readout<Vec<String>> {
    source.text("/proc/mdstat").map(|text| {
        let text = text.unwrap_or_default();
        let line = field(&text, "Personalities").unwrap_or_default().to_owned();
        line.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect()
    })
}

/// `crypt            v1.24.0` on each line.
fn targets(source: &Source) -> Readout<BTreeMap<String, String>> {
    source.said(&["dmsetup", "targets"]).map(|text| {
        let pairs = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
        pairs.map(|(name, version)| (name.to_owned(), version.trim().to_owned())).collect()
    })
}

/// `c_max  4  8589934592` among other lines.
fn arc(text: &str) -> Option<Arc> {
    let value = |name: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
        line.split_whitespace().nth(2)?.parse().ok().map(Bytes)
    };
    Some(Arc { max: value("c_max")?, size: value("size")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_come_best_first() {
        let text = "name         : xts(aes)\ndriver       : xts(ecb(aes-generic))\npriority     : 100\n\n\
                    name         : xts(aes)\ndriver       : xts-aes-aesni\npriority     : 401\n\nname         : cmac(aes)\n\
                    driver       : c\npriority     : 1\n\nname         : xts(aes)\ndriver       : __xts\npriority     : 900\n";
        let found = crypto(text);
        assert_eq!((found.len(), found[0].driver.as_str()), (2, "xts-aes-aesni"));
    }

    #[test]
    fn secrets_and_noise_are_left_out() {
        assert!(is_notable("[  1.0] nvme nvme0: controller is down; will reset: CSTS=0xffffffff"));
        assert!(!is_notable("[  1.0] usb 1-1: new device"));
        assert_eq!(
            plain("[   12.345678] nvme nvme0: 8/0/0 default/read/poll queues"),
            "nvme nvme0: 8/0/0 default/read/poll queues"
        );
        let stats = "13 1 0x01 147 39984 1 2\nname type data\nsize 4 1000\nc_max 4 8589934592\n";
        assert_eq!(arc(stats), Some(Arc { max: Bytes::gib(8), size: Bytes(1000) }));
    }
}
