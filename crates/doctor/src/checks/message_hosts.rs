//! Controllers that the kernel gave up or that are too hot, and caches that it gave up: with each of them all that stands behind it.

use terms::diagnosis::Place;

use super::message_kinds::{Kind, Words};
use crate::check::{Error, Round, Warning};

/// As drivers say it when they do nothing more for a controller.
pub(super) const GIVEN_UP: Kind = Kind {
    words: &[
        USB[0],
        USB[1],
        // `ahci_is_device_present` in the kernel's `drivers/ata/libahci.c`.
        &["ahci", "controller unavailable"],
        // `_base_fault_reset_work` in its `drivers/scsi/mpt3sas/mpt3sas_base.c`.
        &["sas host is non-operational"],
        &["running mpt", "_dead_ioc"],
        // `pqi_take_ctrl_offline` in its `drivers/scsi/smartpqi/smartpqi_init.c`, `controller_lockup_detected` in its `drivers/scsi/hpsa.c`.
        &["smartpqi", "controller is offline"],
        &["smartpqi", "controller offline"],
        &["hpsa", "lockup detected"],
        // `megasas_reset_fusion` in its `drivers/scsi/megaraid/megaraid_sas_fusion.c`.
        &["megaraid_sas", "killing adapter"],
    ],
    severity: Error,
    what: "a controller of drives stopped answering, and the kernel gave it up",
    cost: "; 0 requests reach any of the drives behind it until it is started again",
    advice: "Drives behind it are not at fault for that. Stop what writes there, and start the machine again from without power. Look at what is common \
             to all of them: the controller's slot and power, its heat, its firmware; at USB the power of the ports and the hub. Members that \
             fell out of an array together are not added anew, and no array is made anew, before it is known what each holds.",
    command: "dmesg | grep -iE 'xhci|ahci|mpt[23]sas|megaraid|smartpqi|hpsa|aacraid'",
};

/// `xhci_hc_died` in its `drivers/usb/host/xhci-ring.c`, and what comes of it.
const USB: Words = &[&["xhci", "assume dead"], &["hc died; cleaning up"]];

/// `_scsih_temp_threshold_events` in its `drivers/scsi/mpt3sas/mpt3sas_scsih.c`.
pub(super) const TOO_HOT: Kind = Kind {
    words: &[&["temperature threshold flags", "exceeded for sensor"]],
    severity: Warning,
    what: "a SAS controller is hotter than its maker allows",
    cost: "; it loses drives or stops where it gets no cooler",
    advice: "Move air over its heat sink: such cards are made for the wind of a server's fans.",
    command: "dmesg | grep -iE 'temperature|current temp'",
};

/// `bch_cache_set_error` and `conditional_stop_bcache_device` in its `drivers/md/bcache/super.c`.
pub(super) const LOST_CACHE: Kind = Kind {
    words: &[&["bcache", "disabling caching"], &["bcache", "cache is dirty"]],
    severity: Error,
    what: "a bcache lost its cache",
    cost: "; where it was dirty, what was written last is in the cache alone and 0 bytes of that can be read",
    advice: "Detach, format and attach nothing, for that gives up what is in the cache alone. Find out why its device failed and bring it \
             back; only a cache that is `clean` can be done without.",
    command: "grep . /sys/block/*/bcache/state",
};

/// What a MegaRAID writes into its own log, as the driver repeats it (`megasas_decode_evt` in the kernel's
/// `drivers/scsi/megaraid/megaraid_sas_base.c`).
pub(super) const SHORT_VOLUME: Kind = Kind {
    words: &[
        &["megaraid_sas", "vd ", " is now degraded"],
        &["megaraid_sas", "vd ", " is now partially degraded"],
        &["megaraid_sas", "vd ", " is now offline"],
    ],
    severity: Error,
    what: "a volume of the RAID controller lost a drive",
    cost: "; 1 more lost drive may take data with it, and one that is offline cannot be reached",
    advice: "See first that there is a copy. Then look which drive it is and why: its health, its cable, its slot. The controller fills a new one in \
             the same slot by itself, or from a hot spare. Set no drive `good` that it calls bad, and neither delete nor import anything, before \
             that is known.",
    command: OF_MEGARAID,
};

/// The same log, of what keeps the cache without power.
pub(super) const NO_BATTERY: Kind = Kind {
    words: &[
        &["megaraid_sas", "bbu disabled", "changing wb"],
        &["megaraid_sas", "battery needs replacement"],
        &["megaraid_sas", "battery has failed"],
        &["megaraid_sas", "battery/charger problems"],
    ],
    severity: Warning,
    what: "what keeps the RAID controller's cache without power has failed",
    cost: "; 0 writes are gathered in its cache, and each waits for the drives, until it is replaced",
    advice: "No drive is at fault. Have the battery or capacitor replaced. Until then force no writing back (`AWB`, `CachedBadBBU`): what is in the \
             cache is lost with power.",
    command: OF_MEGARAID,
};

const OF_MEGARAID: &str = "dmesg | grep megaraid_sas";

/// Without those of USB at which nobody tells of a drive: keyboards hang on such a controller as well.
pub(super) fn of_drives<'a>(mut lines: Vec<&'a str>, messages: &[String], round: &mut Round) -> Vec<&'a str> {
    let is_of_drive = |line: &String| {
        let line = line.to_lowercase();
        [": uas", "uas_eh_", "usb-storage"].iter().any(|word| line.contains(word)) && !line.contains("interface driver")
    };
    if messages.iter().any(is_of_drive) {
        return lines;
    }
    let is_of_usb = |line: &&str| {
        let line = line.to_lowercase();
        USB.iter().any(|all| all.iter().all(|word| line.contains(word)))
    };
    if lines.iter().any(is_of_usb) {
        round.unknown(
            &Place::machine(),
            "whether drives are at the USB controller that died is not told: `lsusb -t` tells",
        );
        lines.retain(|line| !is_of_usb(line));
    }
    lines
}
