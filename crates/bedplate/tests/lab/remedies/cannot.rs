//! Checks whose fault no guest of the lab can have, why, and the page that tells of the remedy.

/// QEMU's root ports and drives tell one speed and one width for good.
const LINKS: &str = "links of emulated devices are not trained";
/// QEMU's NVMe drives tell of a drive that is new for as long as they live.
const HEALTH: &str = "emulated drives are in perfect health";
const REPLACED: &str = "nothing is typed but what asks: the drive is replaced; nvme-smart-log(1), smartctl(8)";

const UNITS: &str = "the lab's guests have a first process of the lab's own, and no systemd";

/// Name of the check, reason, page.
pub(crate) const CANNOT: &[(&str, &str, &str)] = &[
    ("link-below-both-ends", LINKS, "lspci(8), `-vv`: LnkCap and LnkSta of both ends"),
    ("slot-below-drive", LINKS, "no command: another slot"),
    ("link-below-drive", LINKS, "lspci(8), `-vv`"),
    ("uplink-oversubscribed", "no drive of a guest changes its slot", "no command: another slot"),
    ("drive-behind-chipset", "an emulated board has no chipset with a link of its own", "no command: another slot"),
    (
        "payload-below-both-ends",
        "emulated devices agree on 128 bytes",
        "the kernel's kernel-parameters.txt, `pci=pcie_bus_safe`",
    ),
    ("link-errors", LINKS, "the kernel's PCI/pcieaer-howto.rst, statistics"),
    ("link-power-saving", LINKS, "the kernel's ABI/testing/sysfs-bus-pci, `link/l1_aspm`"),
    (
        "drive-power-saving",
        "QEMU's NVMe drives have no autonomous power states",
        "the kernel's ABI/testing/sysfs-devices-power, `pm_qos_latency_tolerance_us`",
    ),
    (
        "cpu-governor",
        "a guest does not scale its processor",
        "the kernel's admin-guide/pm/cpufreq.rst, `scaling_governor`",
    ),
    ("platform-profile", "a guest has no firmware with profiles", "the kernel's ABI/testing/sysfs-platform_profile"),
    ("queues-below-processors", "QEMU's NVMe drives have 64 queues", "no command: a drive has as many as it has"),
    ("interrupts-far", "the lab's guests have one NUMA node", "numactl(8), `--cpunodebind`"),
    (
        "ext4-errors",
        "a guest's file systems are made for it and sound",
        "nothing is typed but what asks: dumpe2fs(8), fsck(8)",
    ),
    (
        "btrfs-scrub",
        "nothing is typed but what asks; what a scrub finds is repaired as for `btrfs-device-errors`",
        "btrfs-scrub(8), `status`",
    ),
    (
        "btrfs-metadata-space",
        "of what a small file system has for metadata most is kept in reserve, and is never used",
        "btrfs-balance(8), filter `usage`",
    ),
    ("firmware-fault", "emulated drives have no maker's firmware", "the maker's own pages, named in the table"),
    ("drive-critical-warning", HEALTH, REPLACED),
    ("drive-media-errors", HEALTH, "smartctl(8), `-t long`"),
    ("drive-spare", HEALTH, REPLACED),
    ("drive-wear", HEALTH, REPLACED),
    ("drive-hot", HEALTH, "no command: moving air"),
    ("drive-throttled", HEALTH, "no command: moving air"),
    ("drive-error-log", HEALTH, "nvme-error-log(1)"),
    ("drive-self-test", HEALTH, "smartctl(8), `-t long`, `-l selftest`"),
    ("drive-line-errors", HEALTH, "smartctl(8), `-A`"),
    ("drive-parks-heads", HEALTH, "smartctl(8), `-g apm`, `-A`"),
    ("shingled-in-array", "no drive of a guest has a maker's model", "smartctl(8), `-i`"),
    ("drive-slower-than-peers", "it is found in posted text alone", "smartctl(8), `-x`; iostat(1)"),
    ("line-below-drive", HEALTH, "no command: the cable, the port"),
    ("aes-instructions", "the lab's processor has them", "cryptsetup-benchmark(8)"),
    ("memory-errors", "memory of a guest does not err", "no command: the module"),
    ("memory-below-rating", "memory of a guest has no rating", "no command: the firmware's profile"),
    ("no-monitor", UNITS, "systemctl(1), `enable --now`; mdadm.conf(5), MAILADDR"),
    ("no-scrub-timer", UNITS, "systemctl(1), `enable --now`; crontab(5); btrfs-scrub(8)"),
    ("no-trim-timer", UNITS, "systemctl(1), `enable --now`; zpoolprops(7), `autotrim`"),
    ("bandwidth-message", LINKS, "lspci(8), `-vv`"),
];
