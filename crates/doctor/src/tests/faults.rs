//! For each check, faults and what is said of them.

use terms::diagnosis::Severity::{self, Error, Information, Warning};
use terms::inventory::*;
use terms::{Bytes, BytesPerSecond, Nanos};

use super::Fault;
use super::clean::{GEN3_X4, Known};
use super::plant::*;

type Plant = fn(&mut Inventory);

fn fault(check: &'static str, severity: Severity, plant: Plant, words: &'static [&'static str]) -> Fault {
    Fault { check, severity, plant, words, also: &[] }
}

fn twice(mut fault: Fault, also: &'static [&'static str]) -> Fault {
    fault.also = also;
    fault
}

pub(super) fn all() -> Vec<Fault> {
    [links(), power(), drives(), layers(), arrays(), volumes(), file_systems(), pools(), system_wide()]
        .into_iter()
        .flatten()
        .collect()
}

fn narrow(link: Link) -> Readout<Option<Link>> {
    Known(Some(link))
}

fn links() -> Vec<Fault> {
    vec![
        fault(
            "link-below-both-ends",
            Error,
            |m| pci(m, "0000:10:00.0").link = narrow(Link { lanes: 2, ..GEN3_X4 }),
            &[
                "runs at 8 GT/s x2 and both ends can do 8 GT/s x4",
                "1.8 GB/s of 3.6 GB/s",
                "reach 50 %",
                "0000:10:00.0 (nvme0n1)",
            ],
        ),
        fault(
            "link-below-both-ends",
            Error,
            |m| pci(m, "0000:20:00.0").link = narrow(Link { speed: 2_500, lanes: 8 }),
            &["2.5 GT/s x8", "both ends can do 8 GT/s x8", "1.83 GB/s of 7.2 GB/s"],
        ),
        fault(
            "slot-below-drive",
            Warning,
            |m| pci(m, "0000:10:00.0").best = narrow(Link { speed: 16_000, lanes: 4 }),
            &["can do 16 GT/s x4 and its port 8 GT/s x4", "3.6 GB/s of the 7.2 GB/s", "50 %"],
        ),
        fault(
            "link-below-drive",
            Warning,
            |m| {
                pci(m, "0000:00:00.0").best = Known(None);
                pci(m, "0000:10:00.0").best = narrow(Link { speed: 16_000, lanes: 4 });
            },
            &["runs at 8 GT/s x4 and the drive can do 16 GT/s x4", "Host port or training", "50 %"],
        ),
        fault(
            "uplink-oversubscribed",
            Warning,
            |m| {
                for address in ["0000:20:00.0", "0000:00:0a.0"] {
                    let port = pci(m, address);
                    (port.link, port.best) = (narrow(GEN3_X4), narrow(GEN3_X4));
                    let rate = GEN3_X4.carries(Bytes(256)).unwrap();
                    port.carries = Known(Some(Capacity { rate, payload: Bytes(256), payload_known: true }));
                }
            },
            &["nvme6n1 and nvme7n1", "7.2 GB/s together, and it carries 3.6 GB/s", "each gets 50 %"],
        ),
        fault(
            "drive-behind-chipset",
            Information,
            |m| pci(m, "0000:10:00.0").chipset = Some(Inference { because: "0000:00:1c.0 is in the hub".into() }),
            &["nvme0n1 hangs behind the chipset", "3.6 GB/s", "whose rate shows nowhere", "0000:00:1c.0 is in the hub"],
        ),
        fault(
            "payload-below-both-ends",
            Information,
            |m| {
                for address in ["0000:10:00.0", "0000:00:00.0"] {
                    pci(m, address).payload = Known(Some(Payload { current: Bytes(128), maximum: Bytes(512) }));
                }
            },
            &["carry 128 B and could carry 512 B", "3.32 GB/s instead of 3.76 GB/s, 11.8 % less", "pci=pcie_bus_safe"],
        ),
        fault(
            "link-errors",
            Warning,
            |m| pci(m, "0000:10:00.0").errors = errors(100, 0),
            &["100 errors", "one every 6 min", "BadTLP 100"],
        ),
        fault(
            "link-errors",
            Information,
            |m| pci(m, "0000:10:00.0").errors = errors(4, 0),
            &["4 errors", "one every 2 h 30 min"],
        ),
        fault("link-errors", Error, |m| pci(m, "0000:00:00.0").errors = errors(0, 1), &["1 error", "1 not corrected"]),
    ]
}

fn errors(correctable: u64, fatal: u64) -> Readout<Option<LinkErrors>> {
    let kinds = [("BadTLP".to_owned(), correctable + fatal)].into();
    Known(Some(LinkErrors { correctable, fatal, nonfatal: 0, kinds }))
}

fn power() -> Vec<Fault> {
    vec![
        fault(
            "link-power-saving",
            Information,
            |m| pci(m, "0000:10:00.0").link_power_saving = Known(vec!["l1_aspm".into()]),
            &["l1_aspm", "64 µs", "echo 0 > /sys/bus/pci/devices/0000:10:00.0/link/l1_aspm"],
        ),
        fault(
            "drive-power-saving",
            Information,
            |m| controller(m, "nvme0").latency_tolerance = Known(Some(Nanos::millis(100))),
            &[
                "100 ms",
                "5 power states",
                "echo 0 > /sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us",
                "\"100000\"",
            ],
        ),
        fault(
            "cpu-governor",
            Warning,
            |m| detail(m).cpu.governors = Known([("powersave".to_owned(), 8)].into()),
            &["`powersave` on 8 processors", "lowest frequency", "cpu7/cpufreq/scaling_governor"],
        ),
        fault(
            "cpu-governor",
            Information,
            |m| {
                detail(m).cpu.governors = Known([("powersave".to_owned(), 8)].into());
                detail(m).cpu.frequency_driver = Known(Some("intel_pstate".into()));
            },
            &["`powersave` on 8 processors", "10 µs"],
        ),
        fault(
            "platform-profile",
            Information,
            |m| detail(m).cpu.platform_profile = Known(Some("low-power".into())),
            &["`low-power`", "10 µs"],
        ),
        fault(
            "controller-not-live",
            Error,
            |m| controller(m, "nvme3").state = Some("dead".into()),
            &["`dead`", "1 namespace (nvme3n1)", "/remove", "/sys/bus/pci/rescan"],
        ),
        fault(
            "controller-not-live",
            Error,
            |m| namespace(m, "nvme10n1").paths[1].state = Some("inaccessible".into()),
            &["nvme10c11n1 is `inaccessible`", "1 of 2 ways"],
        ),
        fault(
            "paths-unused",
            Information,
            |m| controller(m, "nvme10").path_policy = Some("numa".into()),
            &[
                "1 of 2 good ways",
                "at most 1/2",
                "echo round-robin > /sys/class/nvme-subsystem/nvme10-subsystem/iopolicy",
            ],
        ),
        fault(
            "queues-below-processors",
            Information,
            |m| controller(m, "nvme0").queues = Known(4),
            &["8 processors share 3 I/O queues", "up to 3 processors"],
        ),
        fault(
            "interrupts-far",
            Warning,
            |m| pci(m, "0000:10:00.0").interrupts = Known(vec![Interrupt { number: 40, cpus: "4-5,7".into() }]),
            &["on NUMA node 0", "taken on node 1", "2.1 times as far", "40: 4-5,7"],
        ),
    ]
}

/// What the devices of the btrfs have left.
fn leave(m: &mut Inventory, each: [Bytes; 2]) {
    btrfs(m).unallocated = Known(Bytes(each[0].0 + each[1].0));
    for (device, left) in btrfs(m).devices.iter_mut().zip(each) {
        device.unallocated = Some(left);
    }
}

fn small_blocks(m: &mut Inventory, performance: u32) {
    let format = |index, data, relative_performance, in_use| LbaFormat {
        index,
        data: Bytes(data),
        metadata: Bytes(0),
        relative_performance,
        in_use,
    };
    namespace(m, "nvme10n1").formats = Known(vec![format(0, 512, 2, true), format(4, 4096, performance, false)]);
    // Blank, and a part of nothing.
    for leaf in &mut vdev(m, 0).children[2..] {
        leaf.node = None;
    }
}

fn drives() -> Vec<Fault> {
    vec![
        fault(
            "lba-format",
            Warning,
            |m| small_blocks(m, 1),
            &[
                "blocks of 512 B are in use and blocks of 4 KiB",
                "8 blocks instead of 1",
                "“better” and these “good”",
                "nvme format /dev/nvme10n1 --lbaf=4",
                "everything on nvme10n1",
            ],
        ),
        fault(
            "lba-format",
            Information,
            |m| {
                small_blocks(m, 2);
                known(&mut controller(m, "nvme10").identity).format_takes_all = true;
            },
            &["rates both alike", "every other namespace of nvme10: this drive formats all at once"],
        ),
        fault(
            "scheduler",
            Warning,
            |m| node(m, "nvme4n1").queue.scheduler = Known(Some("bfq".into())),
            &["`bfq`", "50 %", "echo none > /sys/block/nvme4n1/queue/scheduler", "drive nvme4n1"],
        ),
        fault(
            "scheduler",
            Information,
            |m| node(m, "nvme4n1").queue.scheduler = Known(Some("mq-deadline".into())),
            &["`mq-deadline`"],
        ),
        fault(
            "write-cache-belief",
            Error,
            |m| node(m, "nvme4n1").queue.write_cache = Known("write through".into()),
            &["it has one that is on", "0 flushes", "echo 'write back' > /sys/block/nvme4n1/queue/write_cache"],
        ),
        fault(
            "write-cache-belief",
            Information,
            |m| drive(m, "nvme4n1").detail.as_mut().unwrap().write_cache_on = Known(None),
            &["has no volatile cache", "1 needless flush"],
        ),
        fault(
            "write-cache-off",
            Information,
            |m| drive(m, "nvme4n1").detail.as_mut().unwrap().write_cache_on = Known(Some(false)),
            &["switched off", "41 k random writes", "nvme set-feature /dev/nvme4 --feature-id=6 --value=1"],
        ),
        fault(
            "firmware-fault",
            Warning,
            |m| {
                let drive = drive(m, "nvme4n1");
                drive.model = Some("Samsung SSD 980 PRO 2TB                 ".into());
                drive.firmware = Some("3B2QGXA7".into());
            },
            &["3B2QGXA7", "5B2QGXA7", "https://"],
        ),
        fault(
            "drive-critical-warning",
            Error,
            |m| health(m).critical_warning = 5,
            &["spare capacity is low and it is not reliable any more", "critical_warning 5"],
        ),
        fault(
            "drive-critical-warning",
            Warning,
            |m| health(m).critical_warning = 2,
            &["too hot or too cold", "A heat sink or moving air"],
        ),
        fault(
            "drive-hot",
            Warning,
            |m| drive(m, "nvme0n1").detail.as_mut().unwrap().temperature = Known(Some(86)),
            &["85 °C is critical for it", "may vanish"],
        ),
        fault(
            "drive-hot",
            Information,
            |m| {
                smart(m).temperature_limit = Some(85);
                smart(m).recommended_temperature = Some(60);
                drive(m, "sda").detail.as_mut().unwrap().temperature = Known(Some(64));
            },
            &["at 64 °C, and its maker recommends 60 °C at most", "4 °C more"],
        ),
        fault(
            "drive-media-errors",
            Warning,
            |m| health(m).media_errors = Some(5),
            &["5 media errors", "one for each 9.09 TiB", "media_errors 5"],
        ),
        fault("drive-spare", Error, |m| health(m).spare = Some(9), &["9 % of the spare", "below 10 %"]),
        fault("drive-spare", Warning, |m| health(m).spare = Some(20), &["20 % of the spare"]),
        fault(
            "drive-wear",
            Warning,
            |m| health(m).used = Some(95),
            // 8000 h × 5 / 95 = 421 h 3 min.
            &["95 % of the drive's life", "18 days", "18.19 TiB were written"],
        ),
        fault("drive-wear", Information, |m| health(m).used = Some(80), &["80 %", "83 days"]),
        fault(
            "drive-hot",
            Warning,
            |m| drive(m, "nvme0n1").detail.as_mut().unwrap().temperature = Known(Some(81)),
            &["at 81 °C and warns from 80 °C"],
        ),
        // It tells when it stops, and not from when on it warns.
        fault(
            "drive-hot",
            Information,
            |m| {
                known(&mut controller(m, "nvme0").identity).warning_temperature = None;
                drive(m, "nvme0n1").detail.as_mut().unwrap().temperature = Known(Some(82));
            },
            &["at 82 °C, and 85 °C is critical for it", "3 °C are left before it stops"],
        ),
        fault(
            "drive-hot",
            Information,
            |m| drive(m, "nvme0n1").detail.as_mut().unwrap().temperature = Known(Some(76)),
            &["4 °C are left"],
        ),
        fault(
            "drive-hot",
            Warning,
            |m| drive(m, "sda").detail.as_mut().unwrap().temperature = Known(Some(61)),
            &["warns from 60 °C"],
        ),
        fault(
            "drive-media-errors",
            Warning,
            |m| {
                attribute(m, 5, 8);
                attribute(m, 197, 1);
            },
            &[
                "8 blocks given up and 1 block waiting to be given up",
                "9 in 8000 hours",
                "197 Current_Pending_Sector: 1",
                "smartctl -t long /dev/sda",
            ],
        ),
        fault(
            "drive-self-test",
            Error,
            |m| {
                let failed = SelfTest {
                    kind: "Extended".into(),
                    passed: Some(false),
                    hours: Some(7_990),
                    says: "read failure".into(),
                };
                smart(m).self_tests.as_mut().unwrap().insert(0, failed);
            },
            &["newest self-test failed", "10 hours ago", "read failure"],
        ),
        fault(
            "drive-self-test",
            Information,
            |m| {
                let failed = SelfTest {
                    kind: "Extended".into(),
                    passed: Some(false),
                    hours: Some(10),
                    says: "read failure".into(),
                };
                smart(m).self_tests.as_mut().unwrap().push(failed);
            },
            &["a later one passed", "7990 hours ago"],
        ),
        fault(
            "drive-line-errors",
            Warning,
            |m| attribute(m, 199, 400),
            &["400 transfers with a wrong checksum", "400 in 8000 hours", "cable"],
        ),
        fault(
            "drive-line-errors",
            Warning,
            |m| smart(m).invalid_words = Some(812_044),
            &["812044 invalid words", "812044 in 8000 hours", "smartctl -l sasphy /dev/sda"],
        ),
        fault("drive-line-errors", Information, |m| smart(m).invalid_words = Some(1000), &["1000 in 8000 hours"]),
        fault("drive-line-errors", Information, |m| attribute(m, 188, 1), &["1 command that ran out of time"]),
        fault(
            "drive-parks-heads",
            Warning,
            |m| attribute(m, 193, 1_239_994),
            &["parked its heads 1239994 times", "in 8000 hours under power, every 23 s", "smartctl -g apm /dev/sda"],
        ),
        fault(
            "drive-parks-heads",
            Information,
            |m| {
                attribute(m, 193, 300_000);
                let Known(Some(health)) = &mut drive(m, "sda").detail.as_mut().unwrap().health else { return };
                health.power_on_hours = Some(20_000);
            },
            &["300000 in 20000 hours"],
        ),
        fault(
            "shingled-in-array",
            Information,
            |m| drive(m, "sda").model = Some("WDC WD40EFAX-68JH4N0".into()),
            &["tracks overlap", "9 days", "smartctl -i /dev/sda"],
        ),
        twice(
            fault(
                "shingled-in-array",
                Warning,
                |m| {
                    drive(m, "sda").model = Some("ST8000DM004-2CX188".into());
                    md(m, "md3").sync_action = Known(Some("recover".into()));
                },
                &["array disks (md3)"],
            ),
            &["array-resyncing"],
        ),
        fault(
            "memory-errors",
            Error,
            |m| {
                let Known(messages) = &mut detail(m).linux.messages else { return };
                messages.push(
                    "EDAC MC1: 1 UE memory read error on CPU_SrcID#1_DIMM#0 (channel:0 slot:0 page:0xee30a0)".into(),
                );
            },
            &["CPU_SrcID#1_DIMM#0", "1 error could not be corrected", "replaced before anything is scrubbed"],
        ),
        fault(
            "drive-slower-than-peers",
            Warning,
            |m| {
                let work = |name: &str, wait: f64, busy: f64| {
                    format!("iostat: {name} reads 0.00 writes 38.67 await {wait} util {busy}")
                };
                let Known(messages) = &mut detail(m).linux.messages else { return };
                messages.extend([work("sda", 2.22, 7.33), work("sdb", 27.27, 92.63)]);
            },
            &["much later than sda", "27.3 ms for each request, and 2.22 ms there", "smartctl -x /dev/sdb"],
        ),
        fault(
            "line-below-drive",
            Information,
            |m| smart(m).line = Some(Line { best: 60, now: 30 }),
            &["at 3.0 Gb/s and the drive can do 6.0 Gb/s", "300 MB/s of 600 MB/s"],
        ),
        fault("line-below-drive", Warning, |m| smart(m).line = Some(Line { best: 60, now: 15 }), &["at 1.5 Gb/s"]),
        fault(
            "recovery-time-out",
            Warning,
            |m| smart(m).recovery = Known(Recovery::Off),
            &["nothing limits", "the kernel waits 30 s", "smartctl -l scterc,70,70 /dev/sda"],
        ),
        fault(
            "recovery-time-out",
            Warning,
            |m| smart(m).recovery = Known(Recovery::Unsupported),
            &["has no limit", "echo 180 > /sys/block/sda/device/timeout"],
        ),
        fault(
            "drive-error-log",
            Information,
            |m| health(m).error_log_entries = Some(9_000),
            &["9000 entries", "in 8000 hours", "nvme error-log /dev/nvme0"],
        ),
        fault(
            "lba-metadata",
            Information,
            |m| {
                for format in known(&mut namespace(m, "nvme4n1").formats) {
                    format.metadata = Bytes(if format.in_use { 8 } else { 0 });
                }
            },
            &["8 B of metadata each (no protection information)"],
        ),
        fault(
            "drives-hidden",
            Information,
            |m| drive(m, "sda").model = Some("PERC H730 Mini".into()),
            &["RAID controller", "smartctl --scan"],
        ),
        fault(
            "drives-hidden",
            Error,
            |m| {
                let target = &mut known(&mut dm(m, "dm-3").targets)[0];
                (target.kind, target.meaning) = ("multipath".into(), Meaning::Other);
                target.status = Known("2 0 1 0 2 1 A 0 1 2 9:9 F 3 0 1 E 0 1 2 9:10 F 3 0 1".into());
            },
            &["2 of its 2 paths failed", "0 paths are left", "`queue_if_no_path`"],
        ),
        fault(
            "drives-hidden",
            Warning,
            |m| {
                let number = node(m, "nvme7n1").number.clone();
                let target = &mut known(&mut dm(m, "dm-3").targets)[0];
                (target.kind, target.meaning) = ("multipath".into(), Meaning::Other);
                target.status = Known(format!("2 0 1 0 2 1 A 0 1 2 9:9 A 0 0 1 E 0 1 2 {number} F 3 0 1"));
            },
            &["1 of its 2 paths failed", "nvme7n1", "1 path left", "multipath -ll"],
        ),
        fault(
            "file-system-space",
            Warning,
            |m| known(&mut detail(m).usage)[0].used = 93,
            &["93 % of the space", "976.56 MiB are left", "du -xh --max-depth=1 /home"],
        ),
        fault(
            "file-system-space",
            Error,
            |m| {
                let usage = &mut known(&mut detail(m).usage)[0];
                (usage.used, usage.left) = (100, "0".to_owned());
            },
            &["100 %"],
        ),
        // `df` rounds up.
        fault("file-system-space", Warning, |m| known(&mut detail(m).usage)[0].used = 100, &["976.56 MiB are left"]),
        fault(
            "bandwidth-message",
            Warning,
            |m| {
                pci(m, "0000:10:00.0").link = Known(None);
                say(
                    m,
                    "pci 0000:10:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:00:00.0 \
                     (capable of 63.012 Gb/s with 16.0 GT/s PCIe x4 link)",
                );
            },
            &["carries 31.504 Gb/s", "63.012 Gb/s with 16.0 GT/s PCIe x4", "0000:00:00.0"],
        ),
        fault(
            "drive-throttled",
            Warning,
            |m| {
                health(m).thermal_slowdowns = Some(300);
                health(m).warning_temperature_minutes = Some(7);
            },
            &["slowed down 300 times", "7 minutes above its warning", "in 8000 hours"],
        ),
        fault(
            "drive-throttled",
            Information,
            |m| health(m).thermal_slowdowns = Some(3),
            &["slowed down 3 times, in 8000 hours"],
        ),
    ]
}

fn layers() -> Vec<Fault> {
    vec![
        fault(
            "aes-instructions",
            Warning,
            |m| {
                m.aes = false;
                detail(m).cpu.flags.clear();
            },
            &["no AES instructions", "0.3 GB/s", "A Processor"],
        ),
        fault(
            "aes-instructions",
            Information,
            |m| {
                m.aes = false;
                crypt(m).cipher = "serpent-xts-plain64".into();
            },
            &["no AES instructions"],
        ),
        fault(
            "aes-driver",
            Warning,
            |m| known(&mut detail(m).linux.crypto)[0].driver = "xts(ecb(aes-generic))".into(),
            &["in software (`xts(ecb(aes-generic))`)", "0.3 GB/s", "modprobe aesni_intel"],
        ),
        fault(
            "aes-driver",
            Information,
            |m| known(&mut detail(m).linux.crypto)[0].driver = "xts-aes-aesni".into(),
            &["has VAES", "2.3 times"],
        ),
        fault(
            "memory-below-rating",
            Information,
            |m| known(&mut detail(m).memory.modules)[0].speed = Some(2400),
            &["2400 MT/s and is rated for 3200", "75 %"],
        ),
        fault(
            "memory-below-rating",
            Information,
            |m| detail(m).memory.channels = Known(1),
            &["2 modules share one channel"],
        ),
        fault(
            "encryption-sector",
            Warning,
            |m| crypt(m).sector = Bytes(512),
            &[
                "sectors of 512 B",
                "8 requests",
                "cryptsetup reencrypt --sector-size 4096 /dev/md/mirror",
                "destroys: None",
            ],
        ),
        fault(
            "encryption-sector",
            Information,
            |m| {
                crypt(m).sector = Bytes(512);
                node(m, "md0").queue.physical_block = Known(Bytes(512));
                dm(m, "dm-2").uuid = Some("CRYPT-TCRYPT-1".into());
            },
            &["VeraCrypt", "destroys: Some(\"everything on /dev/md/mirror\")"],
        ),
        fault(
            "encryption-flags",
            Warning,
            |m| m.kernel = "6.1.0-18-amd64".into(),
            &["no_read_workqueue and no_write_workqueue", "from 5.9 to before 6.8", "6.1.0-18-amd64"],
        ),
        fault(
            "encryption-flags",
            Warning,
            |m| crypt(m).flags.push("same_cpu_crypt".into()),
            &["`same_cpu_crypt` over 2 drives", "1 of 8 processors"],
        ),
        fault(
            "encryption-queues",
            Information,
            |m| crypt(m).flags.clear(),
            &["handed to other threads", "41 µs a read and 89 µs a write", "--perf-no_read_workqueue"],
        ),
        fault(
            "integrity-sector",
            Warning,
            |m| integrity(m).block = Bytes(512),
            &[
                "covers 512 B",
                "8 checksums instead of 1",
                "0.775 % of the capacity instead of 0.0976 %",
                "a part of the array mirror (md0)",
            ],
        ),
        fault(
            "integrity-direct",
            Error,
            |m| integrity(m).mode = "D".into(),
            &["without journal or bitmap", "1 to 3 blocks", "--integrity-bitmap-mode /dev/nvme0n1 int0"],
        ),
        fault("integrity-journal", Information, |m| integrity(m).mode = "J".into(), &["twice", "248 MB/s", "123 MB/s"]),
        fault(
            "integrity-recalculating",
            Warning,
            |m| integrity(m).recalculated_sectors = Known(Some(1_953_125_000 / 4)),
            &["25 % of the checksums", "698.49 GiB are not protected"],
        ),
        fault(
            "integrity-mismatches",
            Error,
            |m| integrity(m).mismatches = Known(3),
            &["3 checksums did not match", "12 KiB", "int0 (dm-0)"],
        ),
    ]
}

/// The striped volume is a cache on a lone drive over the mirror.
fn cached(m: &mut Inventory, mode: &str, end: &str) {
    let number = |m: &mut Inventory, name: &str| node(m, name).number.clone();
    let (fast, origin) = (number(m, "nvme10n1"), number(m, "md0"));
    let target = &mut known(&mut dm(m, "dm-3").targets)[0];
    (target.kind, target.meaning) = ("cache".into(), Meaning::Other);
    target.parameters = format!("{fast} {fast} {origin} 128 2 metadata2 {mode} smq 0");
    target.status =
        Known(format!("8 1/9 128 5/9 1 1 1 1 1 1 100 2 metadata2 {mode} 2 migration_threshold 2048 smq 0 rw {end}"));
}

fn arrays() -> Vec<Fault> {
    vec![
        fault(
            "array-mixed-media",
            Warning,
            |m| node(m, "sda").queue.rotational = Known(false),
            &["reads from sdb as well", "echo writemostly > /sys/block/md3/md/dev-sdb/state"],
        ),
        fault(
            "array-degraded",
            Error,
            |m| md(m, "md1").degraded = Known(Some(1)),
            &["1 of 4 members", "no redundancy is left", "array parity (md1)", "mdadm /dev/md/parity --add NEW"],
        ),
        fault(
            "array-degraded",
            Error,
            |m| md(m, "md1").degraded = Known(Some(3)),
            &[
                "3 of 4 members are gone, and it cannot do without them",
                "0 bytes",
                "Write nothing",
                "commands: [\"mdadm --detail",
            ],
        ),
        fault(
            "array-degraded",
            Information,
            |m| {
                let md = md(m, "md0");
                (md.devices, md.degraded) = (Known(16), Known(Some(14)));
                md.level = "raid1".to_owned();
            },
            &["2 members of 16 places", "a place for every bay"],
        ),
        fault(
            "array-degraded",
            Error,
            |m| raid(m).health = Known("AD".into()),
            &["1 of 2 images", "no redundancy is left", "lvconvert --repair"],
        ),
        fault(
            "array-degraded",
            Error,
            |m| (raid(m).level, raid(m).health) = ("raid5_ls".into(), Known("ADD".into())),
            &["2 of 3 images are dead, and it cannot do without them", "Replace and repair nothing"],
        ),
        fault(
            "array-not-running",
            Error,
            |m| md(m, "md1").state = Known("inactive".into()),
            &["`inactive`", "4 members"],
        ),
        fault(
            "array-resyncing",
            Error,
            |m| {
                let md = md(m, "md0");
                md.sync_action = Known(Some("resync".into()));
                md.sync_completed_sectors = Known(Some([500_000_000, 2_000_000_000]));
            },
            // 768 GB at 4.096 GB/s.
            &[
                "a resync is going on",
                "25 % are done, the rest takes 3 min or more",
                "291 MB/s",
                "500000000 / 2000000000",
            ],
        ),
        fault(
            "array-resyncing",
            Information,
            |m| md(m, "md0").sync_action = Known(Some("check".into())),
            &["a check is going on"],
        ),
        fault(
            "array-resyncing",
            Warning,
            |m| md(m, "md1").sync_action = Known(Some("reshape".into())),
            &["a reshape is going on", "redundancy is whole"],
        ),
        fault(
            "array-resyncing",
            Information,
            |m| {
                let md = md(m, "md0");
                md.state = Known("read-auto".into());
                md.sync_action = Known(Some("resync".into()));
            },
            &["a resync waits for the first write", "`mdadm --readwrite`"],
        ),
        fault("array-resyncing", Error, |m| raid(m).sync_action = Known("recover".into()), &["a rebuild is going on"]),
        fault(
            "array-mismatches",
            Warning,
            |m| md(m, "md0").mismatch_sectors = Known(Some(384)),
            &["192 KiB", "384 sectors", "members have checksums"],
        ),
        fault(
            "array-mismatches",
            Warning,
            |m| raid(m).mismatches = Known(8),
            &["cannot tell which copy is right", "4 KiB"],
        ),
        fault(
            "array-member-errors",
            Warning,
            |m| md(m, "md0").members[1].errors = Known(7),
            &["7 reads", "dm-1 of mirror", "after 100000 in an hour"],
        ),
        fault(
            "array-no-bitmap",
            Warning,
            |m| {
                let md = md(m, "md0");
                (md.bitmap, md.consistency_policy) = (Known(Some("none".into())), Known(Some("resync".into())));
                md.sync_speed_max = Known(Some(Bytes::kib(2_000_000)));
            },
            // 1 TB at 2.048 GB/s.
            &["931.32 GiB on each member", "8 min at 2.05 GB/s", "mdadm --grow --bitmap=internal /dev/md/mirror"],
        ),
        fault(
            "array-write-hole",
            Information,
            |m| {
                let md = md(m, "md1");
                (md.bitmap, md.consistency_policy) = (Known(Some("+8".into())), Known(Some("bitmap".into())));
            },
            &["write hole is open", "512 KiB", "30 to 40 %", "--consistency-policy=ppl"],
        ),
        fault(
            "array-read-error-limit",
            Error,
            |m| md(m, "md0").max_read_errors = Known(Some(20)),
            &["after 20 read errors", "echo 100000 > /sys/block/md0/md/max_read_errors", "int0 and int1", "6.12.5"],
        ),
        fault(
            "array-failfast-integrity",
            Error,
            |m| md(m, "md0").members[0].state.push("failfast".into()),
            &["dm-0 are `failfast`", "0 of the bad blocks"],
        ),
        fault(
            "array-stripe-cache",
            Warning,
            |m| md(m, "md1").stripe_cache_size = Known(Some(256)),
            // 1 MiB in flight: 1.05 GB/s at 1 ms, 3.5 GB/s at 0.3 ms; 8192 × 4 KiB × 4 drives.
            &[
                "256 pages",
                "1.05 GB/s a member at 1 ms",
                "3.5 GB/s at 0.3 ms",
                "128 MiB",
                "echo 8192 > /sys/block/md1/md/stripe_cache_size",
            ],
        ),
        fault(
            "array-group-threads",
            Warning,
            |m| md(m, "md1").group_thread_cnt = Known(Some(0)),
            &["1 of 8 processors", "1.14 GB/s", "echo 4 > /sys/block/md1/md/group_thread_cnt"],
        ),
        fault(
            "array-resync-cap",
            Information,
            |m| md(m, "md1").sync_speed_max = Known(Some(Bytes::kib(200_000))),
            // 1 TB at 204.8 MB/s and at 3.6 GB/s; 3.6009e9 / 1024.
            &["205 MB/s", "1 h 21 min instead of 5 min", "3.6 GB/s", "echo 3516", "old: \"system\""],
        ),
        twice(
            fault(
                "array-resync-cap",
                Warning,
                |m| {
                    md(m, "md1").sync_speed_max = Known(Some(Bytes::kib(100_000)));
                    md(m, "md1").sync_action = Known(Some("recover".into()));
                },
                &["102 MB/s", "old: \"100000\""],
            ),
            &["array-resyncing"],
        ),
    ]
}

fn volumes() -> Vec<Fault> {
    vec![
        twice(
            fault(
                "cache-state",
                Error,
                |m| cached(m, "writethrough", "needs_check"),
                &["the cache needs a check", "lvs -a -o +cache_mode"],
            ),
            &["drives-hidden"],
        ),
        twice(
            fault(
                "cache-state",
                Warning,
                |m| cached(m, "writeback", "-"),
                // 100 blocks of 128 sectors.
                &["6.25 MiB are in the cache", "1 lost drive (nvme10n1)", "lvchange --cachemode writethrough vg0/fast"],
            ),
            &["drives-hidden"],
        ),
        fault(
            "linear-volume",
            Warning,
            |m| group(m).logical[0].segments[0].kind = "linear".into(),
            &["nvme6n1 and nvme7n1", "1 of 2 drives: at most 1/2", "lvcreate --type striped -i 2"],
        ),
        fault(
            "linear-volume",
            Warning,
            |m| {
                let md = md(m, "md2");
                (md.level, md.chunk) = ("linear".into(), Known(Bytes(0)));
            },
            &["at most 1/2", "everything on its members"],
        ),
        fault(
            "thin-pool-space",
            Warning,
            |m| thin(m).data_blocks = Known([850, 1_000]),
            &["85 % of the data and 1 % of the metadata", "9.38 MiB are left", "60 s"],
        ),
        fault("thin-pool-space", Error, |m| thin(m).metadata_blocks = Known([960, 1_000]), &["96 % of the metadata"]),
        fault("thin-pool-space", Error, |m| thin(m).mode = Known("out_of_data_space".into()), &["`out_of_data_space`"]),
        fault("snapshot-space", Warning, |m| group(m).logical[3].data = Some(91.0), &["91 %", "vg0/before"]),
        fault("snapshot-space", Error, |m| group(m).logical[3].data = Some(100.0), &["100 %"]),
        fault(
            "snapshot-space",
            Error,
            |m| {
                let snapshot = &mut group(m).logical[3];
                (snapshot.data, snapshot.attributes) = (Some(100.0), "swi-I-s---".to_owned());
            },
            &["has become invalid", "Nothing brings it back"],
        ),
        fault("volume-group", Error, |m| group(m).missing = 1, &["1 of 2 physical volumes"]),
        fault(
            "volume-group",
            Warning,
            |m| group(m).metadata = Some([Bytes::mib(1), Bytes::kib(50)]),
            &["50 KiB of 1 MiB"],
        ),
        fault("mapping-suspended", Error, |m| dm(m, "dm-2").suspended = Known(true), &["dmsetup resume secret"]),
        fault(
            "partition-alignment",
            Warning,
            |m| node(m, "nvme2n1p1").partition.as_mut().unwrap().start = Bytes(63 * 512),
            &["3584 bytes behind a block of 4 KiB", "4 operations instead of 1", "partition nvme2n1p1"],
        ),
        fault(
            "partition-alignment",
            Information,
            |m| {
                node(m, "nvme2n1").queue.optimal_io = Known(Bytes::kib(768));
                node(m, "nvme2n1p2").partition.as_mut().unwrap().start = Bytes::gib(600);
            },
            &["256 KiB behind a stripe of 768 KiB", "destroys: None", "lsblk -t /dev/nvme2n1"],
        ),
        fault(
            "partition-alignment",
            Warning,
            |m| node(m, "nvme2n1p1").alignment_offset = Known(Bytes(512)),
            &["512 bytes off"],
        ),
        fault(
            "encryption-alignment",
            Warning,
            |m| crypt(m).offset_sectors = 4097,
            &["512 bytes behind a block of 4 KiB", "--offset 32768 /dev/md/mirror"],
        ),
        fault(
            "encryption-alignment",
            Warning,
            |m| {
                // LUKS on the array with parity: 16 MiB are no multiple of 1.5 MiB.
                dm(m, "dm-2").uuid = Some("CRYPT-LUKS2-2-secret".into());
                node(m, "dm-2").on = vec!["md1".into()];
                geometry(m, "/home").stripe_unit = Bytes::kib(512);
                geometry(m, "/home").stripe_width = Bytes::kib(1536);
            },
            &["1 MiB behind a stripe of 1.50 MiB", "parts of 2 stripes", "--offset 33792 /dev/md/parity"],
        ),
        twice(
            fault(
                "volume-alignment",
                Information,
                |m| node(m, "nvme6n1").queue.optimal_io = Known(Bytes::mib(4)),
                &["2 MiB behind a stripe of 4 MiB"],
            ),
            &["partition-alignment"],
        ),
        fault(
            "volume-alignment",
            Warning,
            |m| group(m).physical[0].start = Bytes(192 * 1024 + 512),
            &["512 bytes behind a block of 4 KiB", "pvcreate --dataalignment"],
        ),
        fault(
            "logical-blocks-mixed",
            Error,
            |m| node(m, "nvme3n1p1").queue.logical_block = Known(Bytes(512)),
            &["nvme3n1p1 have logical blocks of 512 B", "1 member alone", "array parity (md1)"],
        ),
    ]
}

fn file_systems() -> Vec<Fault> {
    vec![
        fault(
            "data-writeback",
            Warning,
            |m| mount(m, "/home").options.push("data=writeback".into()),
            &["file system /home (ext4)", "umount /home && mount /home"],
        ),
        fault(
            "btrfs-metadata-space",
            Error,
            |m| {
                btrfs(m).used = Known([("metadata".to_owned(), [990, 1_000])].into());
                leave(m, [Bytes::mib(1), Bytes(0)]);
            },
            &["100 % of the space for metadata", "1 MiB of its devices", "btrfs balance start -dusage=5 /pics"],
        ),
        // A mirror wants room on two devices, however much one of them has.
        fault(
            "btrfs-metadata-space",
            Warning,
            |m| {
                btrfs(m).reserve = Some(Bytes::mib(100));
                btrfs(m).used = Known([("metadata".to_owned(), [1900 << 20, 2100 << 20])].into());
                leave(m, [Bytes::gib(400), Bytes::mib(300)]);
            },
            &["95.2 % of the space for metadata", "100 MiB of them kept back", "finds 300 MiB", "wants 1 GiB"],
        ),
        fault(
            "ext4-geometry",
            Information,
            |m| geometry(m, "/scratch").stripe_unit = Bytes(0),
            &["a chunk of none", "1 of 2 drives", "tune2fs -E stride=128,stripe_width=256 /dev/md/stripe"],
        ),
        fault(
            "ext4-geometry",
            Warning,
            |m| {
                system(m, "/data").kind = "ext4".into();
                geometry(m, "/data").stripe_width = Bytes::mib(1);
            },
            &["parity has 512 KiB and 1.50 MiB", "any of its 384 blocks", "stride=128,stripe_width=384"],
        ),
        fault(
            "ext4-errors",
            Error,
            |m| system(m, "/scratch").errors = Some(14),
            &["counts 14 errors", "dumpe2fs -h /dev/md/stripe", "fsck -n /dev/md/stripe"],
        ),
        fault("ext4-errors", Error, |m| system(m, "/scratch").errors = Some(0), &["says that it found errors"]),
        fault(
            "xfs-geometry",
            Warning,
            |m| geometry(m, "/data").stripe_unit = Bytes(0),
            &["a full stripe is 1.50 MiB", "384 blocks", "mount -o sunit=1024,swidth=3072 /dev/md/parity /data"],
        ),
        fault(
            "barriers-off",
            Error,
            |m| mount(m, "/home").options.push("barrier=0".into()),
            &["`barrier=0`", "last 5 s", "mount -o remount,barrier=1 /home"],
        ),
        fault(
            "discard-blocked",
            Information,
            |m| node(m, "dm-2").queue.discard_max = Known(Bytes(0)),
            &[
                "trims do not get through to md0",
                "931.32 GiB",
                "--allow-discards --perf-no_read_workqueue --perf-no_write_workqueue --persistent secret",
            ],
        ),
        fault(
            "discard-blocked",
            Information,
            |m| node(m, "md1").queue.discard_max = Known(Bytes(0)),
            &["devices_handle_discard_safely=Y"],
        ),
        fault(
            "swap-on-mirror",
            Information,
            |m| {
                let swaps = known(&mut detail(m).swaps);
                (swaps[0].node, swaps[0].used) = (Some("md0".into()), Bytes::gib(1));
            },
            &["mirror /dev/md/mirror", "1 GiB of 8 GiB", "swapoff"],
        ),
        fault(
            "swap-on-zfs",
            Warning,
            |m| {
                let swaps = known(&mut detail(m).swaps);
                (swaps[0].node, swaps[0].device, swaps[0].used) = (None, "/dev/zd0".into(), Bytes::gib(1));
            },
            &["/dev/zd0", "1 GiB of 8 GiB", "swapoff"],
        ),
        fault(
            "loop-buffered",
            Information,
            |m| node(m, "loop0").backing.as_mut().unwrap().direct = Known(false),
            &["2 times in memory", "/data/image", "losetup --direct-io=on /dev/loop0"],
        ),
        fault(
            "btrfs-metadata-single",
            Warning,
            |m| profile(m, "metadata", &["dup"]),
            &["metadata survive", "any 1 of 2 devices", "-mconvert=raid1 /pics"],
        ),
        fault("btrfs-parity", Warning, |m| profile(m, "data", &["raid5"]), &["data has parity", "data raid5"]),
        fault("btrfs-parity", Error, |m| profile(m, "metadata", &["raid6"]), &["metadata has parity"]),
        fault(
            "btrfs-mixed-profiles",
            Error,
            |m| profile(m, "data", &["raid1", "raid10"]),
            &["data is partly raid1 and raid10", "2 profiles", "-dconvert=raid10,soft /pics"],
        ),
        fault(
            "btrfs-no-checksums",
            Warning,
            |m| mount(m, "/pics").options.push("nodatacow".into()),
            &["`nodatacow`", "0 checksums"],
        ),
        fault(
            "btrfs-device-errors",
            Error,
            |m| {
                known(&mut btrfs(m).devices[1].errors).insert("corruption_errs".into(), 12);
            },
            &["12 errors", "corruption_errs 12", "2 (nvme9n1p1) of /pics"],
        ),
        fault(
            "btrfs-scrub",
            Error,
            |m| btrfs(m).scrub = scrubbed(12, 2),
            &["found 2 errors on /dev/nvme9n1p1", "no copy makes up for", "csum 14; corrected 12, uncorrectable 2"],
        ),
        fault(
            "btrfs-scrub",
            Warning,
            |m| btrfs(m).scrub = scrubbed(14, 0),
            &["repaired 14 errors", "0 bytes are lost"],
        ),
        fault(
            "btrfs-mixed-profiles",
            Warning,
            |m| btrfs(m).operation = Known(Some("balance paused".into())),
            &["a balance is paused", "btrfs balance resume /pics"],
        ),
        fault(
            "btrfs-device-missing",
            Error,
            |m| btrfs(m).devices[1].missing = Known(true),
            &["device 2 is missing", "1 of 2 devices", "btrfs replace start 2 NEW /pics"],
        ),
    ]
}

/// What a scrub found on the second device.
fn scrubbed(corrected: u64, uncorrectable: u64) -> Readout<Option<Scrub>> {
    let devices = vec!["/dev/nvme9n1p1".to_owned()];
    Known(Some(Scrub { errors: [("csum".to_owned(), 14)].into(), corrected, uncorrectable, devices }))
}

fn pools() -> Vec<Fault> {
    vec![
        fault(
            "zfs-version",
            Error,
            |m| known(&mut detail(m).linux.modules)[0].version = Some("2.1.11-1".into()),
            &["OpenZFS 2.1.11-1", "2.1.14 and 2.2.2", "issues/15526"],
        ),
        fault(
            "zfs-version",
            Error,
            |m| known(&mut detail(m).linux.modules)[0].version = Some("2.2.1".into()),
            &["OpenZFS 2.2.1"],
        ),
        fault(
            "zfs-sync-disabled",
            Error,
            |m| {
                dataset(m, 0).properties.insert("sync".into(), "disabled".into());
            },
            &["up to 5 s", "zfs set sync=standard tank"],
        ),
        fault(
            "zfs-sync-disabled",
            Error,
            |m| parameter(m, "zfs.zfs_nocacheflush", "1"),
            &["0 flushes", "echo 0 > /sys/module/zfs/parameters/zfs_nocacheflush"],
        ),
        fault(
            "zfs-record-amplification",
            Warning,
            |m| {
                dataset(m, 0).properties.insert("primarycache".into(), "metadata".into());
            },
            &["records of 128 KiB", "32 times as much"],
        ),
        fault(
            "zfs-volume-padding",
            Warning,
            |m| dataset(m, 1).record = Some(Bytes::kib(8)),
            // 2 of data, 1 of parity, 1 of padding; 4 of 5 at best.
            &[
                "blocks of 8 KiB waste space on raidz1 of 5",
                "16 KiB",
                "50 % of what is allocated is data, where 80 % could be",
            ],
        ),
        fault(
            "zfs-special-all-data",
            Warning,
            |m| {
                dataset(m, 0).properties.insert("special_small_blocks".into(), "131072".into());
            },
            &["all of its files go to the special device", "zfs set special_small_blocks=32768 tank"],
        ),
        fault(
            "zfs-dedup",
            Warning,
            |m| pool(m).dedup = Some(DedupTable { entries: 400_000_000, memory: m.memory }),
            &["takes 64 GiB of memory", "pool tank", "400000000 entries"],
        ),
        fault(
            "zfs-dedup",
            Information,
            |m| {
                dataset(m, 0).properties.insert("dedup".into(), "on".into());
                dataset(m, 1).properties.insert("dedup".into(), "on".into());
            },
            // 2^40 / 2^17 blocks of 320 bytes.
            &["2.50 GiB of memory", "dataset tank"],
        ),
        fault(
            "zfs-cache-limit",
            Information,
            |m| known(&mut detail(m).linux.arc).as_mut().unwrap().max = Bytes::gib(63),
            &["98.4 % of memory", "1 GiB are left"],
        ),
        fault(
            "zfs-cache-limit",
            Information,
            |m| known(&mut detail(m).linux.arc).as_mut().unwrap().max = Bytes::gib(2),
            &["held at 3.12 %", "2 GiB of 64 GiB"],
        ),
        fault(
            "zfs-pool-state",
            Error,
            |m| {
                pool(m).state = "DEGRADED".into();
                vdev(m, 0).children[1].state = "FAULTED".into();
                vdev(m, 0).children[1].errors = [0, 0, 9];
            },
            &["the pool is DEGRADED", "1 device of", "0/0/9"],
        ),
        fault(
            "zfs-pool-state",
            Error,
            |m| pool(m).errors = Some("3 data errors, use '-v' for a list".into()),
            &["data is damaged", "3 data errors"],
        ),
        fault(
            "zfs-ashift",
            Error,
            |m| vdev(m, 1).ashift = Known(9),
            &["512 bytes", "is 4096", "8 times as much", "-o ashift=12 tank", "everything on pool tank"],
        ),
        fault(
            "zfs-special-redundancy",
            Error,
            |m| {
                let special = vdev(m, 1);
                special.kind = "disk".into();
                special.node = special.children[0].node.clone();
                special.children.clear();
            },
            &[
                "has no redundancy, and the data survives the loss of 1",
                "1 lost drive is enough",
                "zpool attach tank mirror-1 NEW",
            ],
        ),
        fault(
            "zfs-special-redundancy",
            Warning,
            |m| {
                let log = vdev(m, 2);
                log.kind = "disk".into();
                log.node = log.children[0].node.clone();
                log.children.clear();
            },
            &["log device has no mirror", "5 s"],
        ),
        fault(
            "zfs-pool-space",
            Warning,
            |m| {
                known(&mut pool(m).properties).insert("capacity".into(), "91".into());
            },
            &["91 % of the pool", "their fragmentation is 5 %"],
        ),
    ]
}

fn system_wide() -> Vec<Fault> {
    vec![
        fault(
            "duplicate-uuid",
            Error,
            |m| known(&mut node(m, "nvme10n1").signatures).push(signature("xfs", Some("fs-data"))),
            &[
                "/dev/md/parity and /dev/nvme10n1 carry one UUID (xfs)",
                "1 of 2 devices",
                "xfs_admin -U generate /dev/nvme10n1",
            ],
        ),
        fault(
            "leftover-signatures",
            Warning,
            |m| known(&mut node(m, "md1").signatures).push(signature("LVM2_member", Some("old"))),
            &["xfs and LVM2_member", "1 of 2 owners", "wipefs --backup --offset OFFSET /dev/md/parity"],
        ),
        fault(
            "leftover-signatures",
            Warning,
            |m| {
                let all = known(&mut detail(m).volume_groups);
                all.push(VolumeGroup { name: "vg0".into(), uuid: "vg-2".into(), ..VolumeGroup::default() });
            },
            &["2 volume groups are called `vg0`"],
        ),
        fault(
            "kernel-names-in-files",
            Warning,
            |m| rename(&mut detail(m).configuration.fstab, 0, "/dev/nvme2n1p1"),
            &["it names `/dev/nvme2n1p1`", "11 drives of that kind", "/etc/fstab line 1"],
        ),
        fault(
            "kernel-names-in-files",
            Warning,
            |m| rename(&mut detail(m).configuration.crypttab, 1, "/dev/sda2"),
            &["/etc/crypttab line 1", "2 drives"],
        ),
        fault(
            "kernel-names-in-files",
            Warning,
            |m| rename(&mut detail(m).configuration.mdadm, 2, "devices=/dev/sda1"),
            &["/etc/mdadm/mdadm.conf line 1"],
        ),
        fault(
            "kernel-names-in-files",
            Warning,
            |m| known(&mut detail(m).configuration.zpool_paths).push("/dev/sdc1".into()),
            &["zpool.cache", "/dev/sdc1"],
        ),
        fault(
            "no-monitor",
            Warning,
            |m| without_unit(m, "mdmonitor"),
            &["nobody watches 3 arrays", "enable --now mdmonitor"],
        ),
        fault("no-monitor", Warning, |m| without_unit(m, "zfs-zed"), &["1 ZFS pool"]),
        fault("no-scrub-timer", Warning, |m| without_unit(m, "mdcheck"), &["no timer scrubs", "mdcheck_start.timer"]),
        fault("no-scrub-timer", Information, |m| without_unit(m, "zfs-scrub"), &["1 ZFS pool"]),
        fault(
            "no-trim-timer",
            Warning,
            |m| without_unit(m, "fstrim"),
            &["4 file systems", "/home, /data, /fast and /pics", "100 %"],
        ),
        fault(
            "no-trim-timer",
            Information,
            |m| {
                known(&mut pool(m).properties).insert("autotrim".into(), "off".into());
            },
            &["never trimmed", "zpool set autotrim=on tank"],
        ),
        fault(
            "drive-went-away",
            Error,
            |m| {
                parameter(m, "nvme_core.default_ps_max_latency_us", "100000");
                say(m, "nvme nvme0: controller is down; will reset: CSTS=0xffffffff");
            },
            &["1 message", "up to 100000 µs", "`default`", "D3cold, allowed"],
        ),
        fault(
            "checksum-messages",
            Error,
            |m| say(m, "device-mapper: crypt: dm-2: INTEGRITY AEAD ERROR, sector 8"),
            &["1 message", "sector 8"],
        ),
        fault(
            "read-write-errors",
            Warning,
            |m| say(m, "I/O error, dev sda, sector 9 op 0x0:(READ)"),
            &["1 message", "dev sda"],
        ),
        fault(
            "read-write-errors",
            Error,
            |m| say(m, "md: kicking non-fresh sdb1 from array!"),
            &["an array went on without a member", "sdb1"],
        ),
        fault(
            "went-read-only",
            Error,
            |m| say(m, "EXT4-fs (md0): Remounting filesystem read-only"),
            &["1 message", "md0"],
        ),
        fault(
            "went-read-only",
            Error,
            |m| say(m, "EXT4-fs error (device sda1): htree_dirblock_to_tree:1080: inode #2: bad entry"),
            &["found errors in itself", "sda1"],
        ),
        fault(
            "uplink-oversubscribed",
            Warning,
            |m| pci(m, "0000:20:00.0").asked = Some(BytesPerSecond(14.4e9)),
            &["14.4 GB/s together, and it carries 7.2 GB/s"],
        ),
    ]
}

fn signature(kind: &str, uuid: Option<&str>) -> Signature {
    Signature { offset: Some(Bytes(0)), kind: kind.into(), uuid: uuid.map(ToOwned::to_owned), label: None }
}

fn rename(file: &mut Readout<Option<Vec<ConfigLine>>>, field: usize, to: &str) {
    known(file).as_mut().unwrap()[0].fields[field] = to.to_owned();
}
