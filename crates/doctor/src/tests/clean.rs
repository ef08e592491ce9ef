//! A machine with a bit of everything, on which nothing is wrong.

use std::collections::BTreeMap;

use terms::drive::DriveDetail;
use terms::inventory::*;
use terms::{Bytes, BytesPerSecond, Drive, DriveTransport, Nanos, NvmeTransport};

pub(super) use Readout::Known;

pub(super) const GEN3_X4: Link = Link { speed: 8_000, lanes: 4 };
const GEN3_X8: Link = Link { speed: 8_000, lanes: 8 };
const SIZE: Bytes = Bytes(1_000_000_000_000);

fn map<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.into_iter().map(ToOwned::to_owned).collect()
}

// --- the tree of links ---

fn device(address: &str, parent: Option<&str>, role: PciRole, link: Option<Link>) -> PciDevice {
    let carries = link.and_then(|link| link.carries(Bytes(256)));
    PciDevice {
        address: address.into(),
        parent: parent.map(ToOwned::to_owned),
        role,
        id: "1234:5678".into(),
        detail: Some(Box::new(PciDetail {
            link: Known(link),
            best: Known(link),
            payload: Known(Some(Payload { current: Bytes(256), maximum: Bytes(256) })),
            numa_node: Some(0),
            errors: Known(Some(LinkErrors::default())),
            d3cold_allowed: Known(Some(true)),
            link_power_saving: Known(Vec::new()),
            interrupts: Known(vec![Interrupt { number: 40, cpus: "0-7".into() }]),
            carries: Known(carries.map(|rate| Capacity { rate, payload: Bytes(256), payload_known: true })),
            ..PciDetail::default()
        })),
        ..PciDevice::default()
    }
}

/// A root port and a drive under it for the drives 0 to 5, 8 and 9; a switch with 6 and 7.
fn pci() -> Vec<PciDevice> {
    let mut all = Vec::new();
    for at in [0, 1, 2, 3, 4, 5, 8, 9] {
        let port = format!("0000:00:0{at}.0");
        all.push(device(&port, None, PciRole::RootPort, Some(GEN3_X4)));
        all.push(device(&address(at), Some(&port), PciRole::Nvme, Some(GEN3_X4)));
    }
    all.push(device("0000:00:0a.0", None, PciRole::RootPort, Some(GEN3_X8)));
    let mut upstream = device("0000:20:00.0", Some("0000:00:0a.0"), PciRole::SwitchUpstream, Some(GEN3_X8));
    upstream.detail.as_mut().unwrap().asked = GEN3_X4.carries(Bytes(256)).map(|rate| BytesPerSecond(rate.0 * 2.0));
    all.push(upstream);
    for at in [6, 7] {
        let port = format!("0000:21:0{at}.0");
        all.push(device(&port, Some("0000:20:00.0"), PciRole::SwitchDownstream, Some(GEN3_X4)));
        all.push(device(&address(at), Some(&port), PciRole::Nvme, Some(GEN3_X4)));
    }
    all
}

fn address(at: u32) -> String {
    format!("0000:1{at}:00.0")
}

// --- drives ---

fn health() -> Health {
    Health {
        critical_warning: 0,
        temperature: Some(40),
        spare: Some(100),
        spare_threshold: Some(10),
        used: Some(3),
        read: Some(Bytes(50_000_000_000_000)),
        written: Some(Bytes(20_000_000_000_000)),
        power_on_hours: Some(8_000),
        unsafe_shutdowns: Some(2),
        media_errors: Some(0),
        error_log_entries: Some(0),
        warning_temperature_minutes: Some(0),
        critical_temperature_minutes: Some(0),
        thermal_slowdowns: Some(0),
        smart: None,
    }
}

fn controller(name: &str, transport: NvmeTransport, pci_address: Option<String>) -> NvmeController {
    NvmeController {
        name: name.into(),
        subsystem: Some(format!("{name}-subsystem")),
        transport,
        path_policy: Some("numa".into()),
        pci_address,
        state: Some("live".into()),
        numa_node: Some(0),
        queues: Known(9),
        identity: Known(NvmeIdentity {
            volatile_cache: true,
            autonomous_power: true,
            power_states: 5,
            namespaces: 1,
            warning_temperature: Some(80),
            critical_temperature: Some(85),
            ..NvmeIdentity::default()
        }),
        health: Known(health()),
        write_cache_on: Known(Some(true)),
        latency_tolerance: Known(Some(Nanos(0))),
        ..NvmeController::default()
    }
}

fn format(index: u32, data: u64, relative_performance: u32, in_use: bool) -> LbaFormat {
    LbaFormat { index, data: Bytes(data), metadata: Bytes(0), relative_performance, in_use }
}

fn drive(at: u32) -> Drive {
    Drive {
        kernel_name: format!("nvme{at}n1"),
        serial: Some(format!("S{at}")),
        model: Some("WD Red SN700 1000GB".into()),
        firmware: Some("111150WD".into()),
        transport: DriveTransport::Nvme,
        size: SIZE,
        logical_block: Bytes(4096),
        physical_block: Bytes(4096),
        pci_address: Some(address(at)),
        detail: Some(Box::new(DriveDetail {
            hardware_queues: Known(8),
            numa_node: Some(0),
            nvme: Some(NvmeNamespace {
                nsid: Some(1),
                formats: Known(vec![format(0, 512, 2, false), format(1, 4096, 1, true)]),
                protection: Known(0),
                metadata: Known(Some(Bytes(0))),
                paths: Vec::new(),
                controllers: vec![format!("nvme{at}")],
            }),
            health: Known(Some(health())),
            write_cache_on: Known(Some(true)),
            temperature: Known(Some(40)),
            line_rate: None,
            command_timeout: Known(None),
        })),
        ..Drive::default()
    }
}

/// A SATA hard disk, half of a mirror.
fn disk(name: &str) -> Drive {
    let attributes = [
        (5, "Reallocated_Sector_Ct"),
        (187, "Reported_Uncorrect"),
        (188, "Command_Timeout"),
        (193, "Load_Cycle_Count"),
        (197, "Current_Pending_Sector"),
        (198, "Offline_Uncorrectable"),
        (199, "UDMA_CRC_Error_Count"),
    ]
    .map(|(id, name)| Attribute { id, name: name.into(), ..Attribute::default() });
    let smart = Smart {
        assessed: true,
        attributes: attributes.into(),
        self_tests: Some(vec![SelfTest {
            kind: "Short".into(),
            passed: Some(true),
            hours: Some(7_000),
            says: "Completed".into(),
        }]),
        temperature_limit: Some(60),
        recovery: Known(Recovery::Limited(Nanos::seconds(7))),
        line: Some(Line { best: 60, now: 60 }),
        ..Smart::default()
    };
    Drive {
        kernel_name: name.into(),
        serial: Some(format!("D-{name}")),
        model: Some("A Disk".into()),
        firmware: Some("1".into()),
        transport: DriveTransport::Sata,
        size: SIZE,
        logical_block: Bytes(512),
        physical_block: Bytes(4096),
        rotational: true,
        detail: Some(Box::new(DriveDetail {
            hardware_queues: Known(1),
            health: Known(Some(Health {
                temperature: Some(35),
                power_on_hours: Some(8_000),
                media_errors: Some(0),
                smart: Some(Box::new(smart)),
                ..Health::default()
            })),
            write_cache_on: Known(Some(true)),
            temperature: Known(Some(35)),
            line_rate: Some("6.0 Gbps".into()),
            command_timeout: Known(Some(Nanos::seconds(30))),
            ..DriveDetail::default()
        })),
        ..Drive::default()
    }
}

/// The mirror of them.
fn disks() -> Vec<Node> {
    let mut nodes = Vec::new();
    for name in ["sda", "sdb"] {
        let mut below = block(name, "drive", &[]);
        below.queue.rotational = Known(true);
        below.queue.scheduler = Known(Some("mq-deadline".into()));
        below.signatures = signed("linux_raid_member", "array-disks");
        nodes.push(below);
    }
    let mut md = array("md3", "disks", "raid1", &["sda", "sdb"]);
    md.queue.rotational = Known(true);
    md.signatures = signed("ext4", "fs-disks");
    nodes.push(md);
    nodes
}

/// A namespace over a network, with two ways to it.
fn remote_drive() -> Drive {
    let mut drive = drive(10);
    drive.transport = DriveTransport::NvmeTcp;
    drive.pci_address = None;
    let detail = drive.detail.as_mut().unwrap();
    detail.health = Known(None);
    let nvme = detail.nvme.as_mut().unwrap();
    nvme.controllers = words(["nvme10", "nvme11"]);
    nvme.paths = [10, 11]
        .map(|at| NvmePath {
            name: format!("nvme10c{at}n1"),
            controller: format!("nvme{at}"),
            state: Some("optimized".into()),
        })
        .to_vec();
    drive
}

// --- block devices ---

fn queue() -> RequestQueue {
    RequestQueue {
        logical_block: Known(Bytes(4096)),
        physical_block: Known(Bytes(4096)),
        minimum_io: Known(Bytes(4096)),
        optimal_io: Known(Bytes(0)),
        discard_max: Known(Bytes::gib(2)),
        scheduler: Known(Some("none".into())),
        write_cache: Known("write back".into()),
        rotational: Known(false),
        ..RequestQueue::default()
    }
}

fn signed(kind: &str, uuid: &str) -> Readout<Vec<Signature>> {
    Known(vec![Signature {
        offset: Some(Bytes(0)),
        kind: kind.into(),
        uuid: Some(uuid.to_owned()).filter(|uuid| !uuid.is_empty()),
        label: None,
    }])
}

fn block(name: &str, kind: &str, on: &[&str]) -> Node {
    Node {
        name: name.into(),
        kind: kind.into(),
        number: format!("1:{}", name.bytes().map(u32::from).sum::<u32>()),
        size: SIZE,
        on: on.iter().map(|name| (*name).to_owned()).collect(),
        queue: queue(),
        alignment_offset: Known(Bytes(0)),
        signatures: Known(Vec::new()),
        ..Node::default()
    }
}

fn partition(name: &str, on: &str, number: u32, start: Bytes) -> Node {
    let uuid = Some(format!("part-{name}"));
    Node {
        partition: Some(Partition { number, start, uuid, ..Partition::default() }),
        ..block(name, "partition", &[on])
    }
}

fn mapping(name: &str, label: &str, uuid: &str, on: &[&str], kind: &str, meaning: Meaning) -> Node {
    Node {
        label: Some(label.into()),
        dm: Some(Mapping {
            name: label.into(),
            uuid: Some(uuid.into()),
            suspended: Known(false),
            targets: Known(vec![Target {
                start_sectors: 0,
                length_sectors: SIZE.0 / 512,
                kind: kind.into(),
                parameters: String::new(),
                status: Known(String::new()),
                meaning,
            }]),
            luks: Known(None),
        }),
        ..block(name, kind, on)
    }
}

fn integrity() -> Meaning {
    Meaning::IntegrityHeader(IntegrityHeader {
        mode: "B".into(),
        block: Bytes(4096),
        tag: Some(Bytes(4)),
        hash: Some("crc32c".into()),
        mismatches: Known(0),
        recalculated_sectors: Known(None),
        ..IntegrityHeader::default()
    })
}

fn member(device: &str, slot: u32) -> MdMember {
    MdMember {
        device: device.into(),
        slot: Some(slot),
        state: words(["in_sync"]),
        errors: Known(0),
        bad_blocks: Some(0),
        data_offset: Known(Bytes::mib(128)),
    }
}

fn array(name: &str, label: &str, level: &str, on: &[&str]) -> Node {
    let members = (0..).zip(on).map(|(slot, device)| member(device, slot)).collect();
    Node {
        label: Some(label.into()),
        md: Some(Md {
            level: level.into(),
            uuid: Some(format!("array-{label}")),
            metadata: Some("1.2".into()),
            chunk: Known(Bytes(0)),
            devices: Known(u32::try_from(on.len()).unwrap()),
            state: Known("active".into()),
            degraded: Known(Some(0)),
            sync_action: Known(Some("idle".into())),
            sync_completed_sectors: Known(None),
            mismatch_sectors: Known(Some(0)),
            bitmap: Known(Some("+8".into())),
            consistency_policy: Known(Some("bitmap".into())),
            stripe_cache_size: Known(None),
            group_thread_cnt: Known(None),
            max_read_errors: Known(Some(100_000)),
            sync_speed_max: Known(Some(Bytes::kib(4_000_000))),
            members,
            ..Md::default()
        }),
        ..block(name, level, on)
    }
}

/// A mirror of drives with checksums, with an encrypted volume on it.
fn mirror() -> Vec<Node> {
    let mut nodes = Vec::new();
    for (at, name) in [(0, "dm-0"), (1, "dm-1")] {
        let mut below = block(&format!("nvme{at}n1"), "drive", &[]);
        below.signatures = signed("DM_integrity", "");
        nodes.push(below);
        let label = format!("int{at}");
        let on = format!("nvme{at}n1");
        let mut node = mapping(name, &label, &format!("CRYPT-INTEGRITY-{label}"), &[&on], "integrity", integrity());
        node.signatures = signed("linux_raid_member", "array-mirror");
        nodes.push(node);
    }
    let mut md = array("md0", "mirror", "raid1", &["dm-0", "dm-1"]);
    md.signatures = signed("crypto_LUKS", "luks-1");
    nodes.push(md);
    let crypt = CryptMapping {
        cipher: "aes-xts-plain64".into(),
        key_bits: Some(512),
        offset_sectors: 32_768,
        sector: Bytes(4096),
        flags: words(["allow_discards", "no_read_workqueue", "no_write_workqueue"]),
        integrity: None,
    };
    let mut secret = mapping("dm-2", "secret", "CRYPT-LUKS2-1-secret", &["md0"], "crypt", Meaning::CryptMapping(crypt));
    secret.signatures = signed("ext4", "fs-home");
    nodes.push(secret);
    nodes
}

/// Four partitions, and parity over them.
fn parity() -> Vec<Node> {
    let mut nodes = Vec::new();
    for at in 2..6 {
        let drive = format!("nvme{at}n1");
        nodes.push(block(&drive, "drive", &[]));
        let mut part = partition(&format!("{drive}p1"), &drive, 1, Bytes::mib(1));
        part.signatures = signed("linux_raid_member", "array-parity");
        nodes.push(part);
    }
    let mut md = array("md1", "parity", "raid5", &["nvme2n1p1", "nvme3n1p1", "nvme4n1p1", "nvme5n1p1"]);
    md.size = Bytes(SIZE.0 * 3);
    md.queue.minimum_io = Known(Bytes::kib(512));
    md.queue.optimal_io = Known(Bytes::kib(1536));
    md.signatures = signed("xfs", "fs-data");
    let settings = md.md.as_mut().unwrap();
    settings.chunk = Known(Bytes::kib(512));
    settings.layout = Some(2);
    settings.bitmap = Known(Some("none".into()));
    settings.consistency_policy = Known(Some("ppl".into()));
    settings.stripe_cache_size = Known(Some(8192));
    settings.group_thread_cnt = Known(Some(4));
    nodes.push(md);
    // A stripe without redundancy, with an ext4 that knows of it.
    nodes.extend((2..4).map(|at| partition(&format!("nvme{at}n1p2"), &format!("nvme{at}n1"), 2, Bytes::gib(500))));
    let mut stripe = array("md2", "stripe", "raid0", &["nvme2n1p2", "nvme3n1p2"]);
    stripe.queue.optimal_io = Known(Bytes::mib(1));
    stripe.signatures = signed("ext4", "fs-scratch");
    let settings = stripe.md.as_mut().unwrap();
    settings.chunk = Known(Bytes::kib(512));
    (settings.bitmap, settings.consistency_policy) = (Known(None), Known(None));
    (settings.degraded, settings.sync_action) = (Known(None), Known(None));
    (settings.mismatch_sectors, settings.sync_speed_max) = (Known(None), Known(None));
    nodes.push(stripe);
    let mut swap = partition("nvme5n1p2", "nvme5n1", 2, Bytes::gib(500));
    swap.signatures = signed("swap", "swap-1");
    nodes.push(swap);
    nodes
}

const GROUP: &str = "LVM-0123456789abcdef0123456789abcdef";

/// A volume group on two drives behind the switch.
fn volumes() -> Vec<Node> {
    let mut nodes = Vec::new();
    for at in [6, 7] {
        let drive = format!("nvme{at}n1");
        nodes.push(block(&drive, "drive", &[]));
        let mut part = partition(&format!("{drive}p1"), &drive, 1, Bytes::mib(1));
        part.signatures = signed("LVM2_member", &format!("pv-{at}"));
        nodes.push(part);
    }
    let on = ["nvme6n1p1", "nvme7n1p1"];
    let uuid = |volume: &str| format!("{GROUP}{volume}");
    let striped = Meaning::Striped { stripes: 2, chunk_bytes: Bytes::kib(64) };
    let mut fast = mapping("dm-3", "vg0-fast", &uuid("fast"), &on, "striped", striped);
    fast.signatures = signed("ext4", "fs-fast");
    nodes.push(fast);
    let pool = Meaning::ThinPool(ThinPool {
        block: Bytes::kib(64),
        data_blocks: Known([100, 1_000]),
        metadata_blocks: Known([10, 1_000]),
        mode: Known("rw".into()),
    });
    nodes.push(mapping("dm-4", "vg0-pool-tpool", &uuid("pool-tpool"), &on, "thin-pool", pool));
    let raid = Meaning::Raid(DmRaid {
        level: "raid1".into(),
        chunk: Bytes(0),
        health: Known("AA".into()),
        sync_action: Known("idle".into()),
        mismatches: Known(0),
    });
    nodes.push(mapping("dm-5", "vg0-safe", &uuid("safe"), &on, "raid", raid));
    nodes
}

fn rest() -> Vec<Node> {
    let mut nodes = Vec::new();
    for at in [8, 9] {
        let drive = format!("nvme{at}n1");
        nodes.push(block(&drive, "drive", &[]));
        let mut part = partition(&format!("{drive}p1"), &drive, 1, Bytes::mib(1));
        part.signatures = signed("btrfs", "fs-pics");
        nodes.push(part);
        let mut part = partition(&format!("{drive}p2"), &drive, 2, Bytes::gib(500));
        part.signatures = signed("zfs_member", "pool-1");
        nodes.push(part);
    }
    nodes.push(block("nvme10n1", "drive", &[]));
    let mut image = block("loop0", "loop", &[]);
    image.backing = Some(Backing { file: "/data/image".into(), offset: Bytes(0), direct: Known(true) });
    nodes.push(image);
    nodes
}

fn volume_group() -> VolumeGroup {
    let segment = |kind: &str, stripes| Segment {
        kind: kind.into(),
        stripes,
        stripe: Bytes::kib(64),
        devices: words(["/dev/nvme6n1p1", "/dev/nvme7n1p1"]),
    };
    let volume = |name: &str, node: Option<&str>, segments, attributes: &str| LogicalVolume {
        name: name.into(),
        node: node.map(ToOwned::to_owned),
        segments,
        size: Bytes::gib(100),
        attributes: attributes.into(),
        ..LogicalVolume::default()
    };
    let mut snapshot = volume("before", None, vec![segment("striped", 2)], "swi-a-s---");
    snapshot.data = Some(10.0);
    VolumeGroup {
        name: "vg0".into(),
        uuid: "vg-1".into(),
        size: Bytes(SIZE.0 * 2),
        free: Bytes::gib(100),
        extent: Bytes::mib(4),
        metadata: Some([Bytes::mib(1), Bytes::kib(900)]),
        missing: 0,
        physical: [6, 7]
            .map(|at| PhysicalVolume {
                device: format!("/dev/nvme{at}n1p1"),
                node: Some(format!("nvme{at}n1p1")),
                uuid: format!("pv-{at}"),
                start: Bytes::mib(1),
                size: SIZE,
                free: Bytes::gib(50),
            })
            .to_vec(),
        logical: vec![
            volume("fast", Some("dm-3"), vec![segment("striped", 2)], "-wi-ao----"),
            volume("pool", Some("dm-4"), vec![segment("thin-pool", 1)], "twi-aotz--"),
            volume("safe", Some("dm-5"), vec![segment("raid1", 2)], "rwi-aor---"),
            snapshot,
        ],
    }
}

// --- file systems ---

fn system(kind: &str, node: &str, target: &str, unit: Bytes, width: Bytes) -> FileSystem {
    FileSystem {
        kind: kind.into(),
        uuid: Some(format!("fs-{}", target.trim_start_matches('/'))),
        nodes: words([node]),
        targets: words([target]),
        geometry: Known(Geometry { block: Bytes(4096), stripe_unit: unit, stripe_width: width, ..Geometry::default() }),
        ..FileSystem::default()
    }
}

fn file_systems() -> Vec<FileSystem> {
    let no_errors = || Known(["write_errs", "read_errs", "corruption_errs"].map(|key| (key.to_owned(), 0)).into());
    let device = |id, node: &str| BtrfsDevice {
        id,
        node: Some(node.into()),
        missing: Known(false),
        unallocated: Some(Bytes::gib(50)),
        errors: no_errors(),
    };
    let profiles = ["data", "metadata", "system"].map(|kind| (kind.to_owned(), words(["raid1"])));
    let mut pictures = system("btrfs", "nvme8n1p1", "/pics", Bytes(0), Bytes(0));
    pictures.nodes.push("nvme9n1p1".into());
    pictures.btrfs = Some(BtrfsState {
        scrub: Known(Some(Scrub::default())),
        profiles: Known(profiles.into()),
        operation: Known(Some("none".into())),
        checksum: Known(Some("crc32c".into())),
        sector: Known(Bytes(4096)),
        used: Known([("metadata".to_owned(), [1 << 30, 2 << 30])].into()),
        unallocated: Known(Bytes::gib(100)),
        reserve: Some(Bytes(512 << 20)),
        devices: vec![device(1, "nvme8n1p1"), device(2, "nvme9n1p1")],
    });
    vec![
        system("ext4", "dm-2", "/home", Bytes(0), Bytes(0)),
        system("xfs", "md1", "/data", Bytes::kib(512), Bytes::kib(1536)),
        system("ext4", "md2", "/scratch", Bytes::kib(512), Bytes::mib(1)),
        system("ext4", "dm-3", "/fast", Bytes::kib(64), Bytes::kib(128)),
        pictures,
    ]
}

fn mounts() -> Vec<Mount> {
    let mount = |node: &str, target: &str, kind: &str| Mount {
        source: format!("/dev/{node}"),
        node: Some(node.into()),
        target: target.into(),
        kind: kind.into(),
        options: words(["rw", "noatime"]),
        root: "/".into(),
    };
    vec![
        mount("dm-2", "/home", "ext4"),
        mount("md1", "/data", "xfs"),
        mount("dm-3", "/fast", "ext4"),
        mount("nvme8n1p1", "/pics", "btrfs"),
    ]
}

fn pool() -> Pool {
    let leaf = |name: &str, node: &str, class: &str| Vdev {
        name: name.into(),
        kind: "disk".into(),
        class: class.into(),
        state: "ONLINE".into(),
        ashift: Known(12),
        node: Some(node.into()),
        ..Vdev::default()
    };
    let group = |name: &str, kind: &str, class: &str, nodes: &[&str]| Vdev {
        name: name.into(),
        kind: kind.into(),
        class: class.into(),
        state: "ONLINE".into(),
        ashift: Known(12),
        children: nodes.iter().map(|node| leaf(&format!("/dev/disk/by-id/{node}"), node, class)).collect(),
        ..Vdev::default()
    };
    let settings = || map([("sync", "standard"), ("primarycache", "all")]);
    let dataset = |name: &str, kind: &str, record| Dataset {
        name: name.into(),
        kind: kind.into(),
        record: Some(record),
        properties: settings(),
    };
    Pool {
        name: "tank".into(),
        state: "ONLINE".into(),
        properties: Known(map([("capacity", "40"), ("fragmentation", "5"), ("autotrim", "on"), ("ashift", "12")])),
        status: None,
        scan: None,
        errors: Some("No known data errors".into()),
        damaged: Vec::new(),
        dedup: None,
        vdevs: Known(vec![
            group("raidz1-0", "raidz1", "data", &["nvme8n1p2", "nvme9n1p2", "nvme10n1", "nvme10n1", "nvme10n1"]),
            group("mirror-1", "mirror", "special", &["nvme8n1p2", "nvme9n1p2"]),
            group("mirror-2", "mirror", "log", &["nvme8n1p2", "nvme9n1p2"]),
        ]),
        datasets: Known(vec![
            dataset("tank", "filesystem", Bytes::kib(128)),
            dataset("tank/disk", "volume", Bytes::kib(64)),
        ]),
    }
}

// --- the system ---

fn linux() -> Kernel {
    Kernel {
        modules: Known(vec![Module { name: "zfs".into(), version: Some("2.2.6-1".into()), loaded: true }]),
        parameters: map([
            ("zfs.zfs_nocacheflush", "0"),
            ("zfs.zfs_txg_timeout", "5"),
            ("dev.raid.speed_limit_max", "200000"),
            ("nvme_core.default_ps_max_latency_us", "0"),
            ("pcie_aspm.policy", "default"),
        ]),
        crypto: Known(vec![CryptoDriver {
            name: "xts(aes)".into(),
            driver: "xts-aes-vaes-avx2".into(),
            priority: 600,
        }]),
        messages: Known(words([
            "nvme nvme0: 8/0/0 default/read/poll queues",
            "iostat: nvme0n1 reads 0.00 writes 20.00 await 0.10 util 1.00",
        ])),
        arc: Known(Some(Arc { max: Bytes::gib(32), size: Bytes::gib(4) })),
        ..Kernel::default()
    }
}

fn units() -> Vec<SystemdUnit> {
    let names = [
        "mdmonitor.service",
        "zfs-zed.service",
        "dm-event.socket",
        "mdcheck_start.timer",
        "btrfs-scrub@-.timer",
        "zfs-scrub-monthly@tank.timer",
        "fstrim.timer",
    ];
    names.map(|name| SystemdUnit { name: name.into(), active: "active".into(), sub: "waiting".into() }).to_vec()
}

fn configuration() -> Configuration {
    let line = |file: &str, fields: &[&str]| {
        let fields = fields.iter().map(|field| (*field).to_owned()).collect();
        Known(Some(vec![ConfigLine { file: file.into(), line: 1, fields }]))
    };
    Configuration {
        fstab: line("/etc/fstab", &["UUID=fs-data", "/data", "xfs", "noatime"]),
        crypttab: line("/etc/crypttab", &["secret", "UUID=luks-1", "none", "luks"]),
        mdadm: line("/etc/mdadm/mdadm.conf", &["ARRAY", "/dev/md/parity", "UUID=array-parity"]),
        cron: Known(Vec::new()),
        zpool_paths: Known(words(["/dev/disk/by-id/nvme8n1p2"])),
    }
}

/// The machine.
pub(super) fn clean() -> Inventory {
    let mut controllers: Vec<NvmeController> =
        (0..10).map(|at| controller(&format!("nvme{at}"), NvmeTransport::Pcie, Some(address(at)))).collect();
    for name in ["nvme10", "nvme11"] {
        let mut remote = controller(name, NvmeTransport::Tcp, None);
        remote.path_policy = Some("round-robin".into());
        controllers.push(remote);
    }
    let module = |slot: &str| MemoryModule {
        slot: slot.into(),
        bank: slot.into(),
        size: Bytes::gib(32),
        kind: "DDR4".into(),
        speed: Some(3200),
        rated: Some(3200),
    };
    let node = |node, cpus: &str, distances: [u32; 2]| NumaNode {
        node,
        cpus: cpus.into(),
        memory: Bytes::gib(32),
        distances: distances.to_vec(),
    };
    Inventory {
        kernel: "6.12.5".into(),
        system: "Linux".into(),
        cpu_model: "A Processor".into(),
        cpus: 8,
        aes: true,
        memory: Bytes::gib(64),
        drives: (0..10).map(drive).chain([remote_drive(), disk("sda"), disk("sdb")]).collect(),
        pci: pci(),
        detail: Some(Box::new(Detail {
            taken: Taken { at: Nanos::seconds(36_000) },
            as_root: true,
            cpu: Cpu {
                flags: words(["aes", "avx2", "vaes"]),
                governors: Known([("performance".to_owned(), 8)].into()),
                frequency_driver: Known(Some("acpi-cpufreq".into())),
                platform_profile: Known(Some("performance".into())),
                ..Cpu::default()
            },
            memory: FirmwareMemory { modules: Known(vec![module("A1"), module("B1")]), channels: Known(2) },
            numa: Known(vec![node(0, "0-3", [10, 21]), node(1, "4-7", [21, 10])]),
            controllers,
            nodes: [mirror(), parity(), volumes(), rest(), disks()].concat(),
            usage: Known(vec![usage("/dev/dm-2", "/home"), usage("/dev/md1", "/data")]),
            volume_groups: Known(vec![volume_group()]),
            file_systems: file_systems(),
            pools: Known(vec![pool()]),
            mounts: Known(mounts()),
            swaps: Known(vec![Swap {
                device: "/dev/nvme5n1p2".into(),
                node: Some("nvme5n1p2".into()),
                size: Bytes::gib(8),
                used: Bytes(0),
                priority: -2,
            }]),
            linux: linux(),
            units: Known(units()),
            configuration: configuration(),
            ..Detail::default()
        })),
        ..Inventory::default()
    }
}

fn usage(source: &str, target: &str) -> Usage {
    Usage { source: source.into(), target: target.into(), used: 40, left: "1000000".into(), of: Used::Space }
}
