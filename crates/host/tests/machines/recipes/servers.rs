//! Workstations and servers of published write-ups.

use super::super::{Cpu, Disk, Limits, Machine, Nvme, Pci, Port};
use super::{GIB, MIB};

const GEN3_X4: (&str, u32) = ("8.0", 4);
const GEN3_X8: (&str, u32) = ("8.0", 8);
const GEN3_X16: (&str, u32) = ("8.0", 16);

/// A Lenovo ThinkStation P500 with a SATA SSD, four hard disks, an SN700 and a RAM drive. On two of the disks stands the
/// deepest of its stacks: ext4 on LVM on RAID-1 on dm-integrity on dm-crypt.
pub(super) fn p500() -> Machine {
    let mut m = Machine::new("Debian GNU/Linux 12 (bookworm)", "6.1.0-11-amd64");
    m.board("LENOVO", "30A7 ThinkStation P500");
    m.cpu(Cpu {
        model: "Intel(R) Xeon(R) CPU E5-1620 v3 @ 3.50GHz",
        sockets: 1,
        cores: 4,
        threads: 2,
        flags: "ssse3 sse4_2 aes avx avx2 pclmulqdq",
        governor: "schedutil",
    });
    m.memory(3, 16, "DDR4", 2133);
    m.file("/sys/module/zfs/version", "2.1.11-1");
    m.says("zfs --version", "zfs-2.1.11-1\nzfs-kmod-2.1.11-1");
    m.says("zpool list -H -o name,health", "");
    let sata = m.pci("pci0000:00", "0000:00:1f.2", Pci::sata("8086:8d02").numa(0));
    let ssd = Disk {
        model: "TS512GSSD370S",
        firmware: "P1225CA",
        size: 512_110_190_592,
        physical: 512,
        rotational: false,
        cache: "write back",
        scheduler: "[mq-deadline] none",
    };
    let system = m.disk(&sata, 1, "sda", "C123456789", ssd);
    let part = m.partition(&system, 1, MIB, 512_108_789_760);
    m.ext4(&part, "", 0, 0);
    m.mount(&part, "/", "ext4", "errors=remount-ro");
    for (at, name) in ["sdb", "sdc", "sdd", "sde"].into_iter().enumerate() {
        // The cache of the two test drives was switched off.
        let (cache, scheduler) =
            if at < 2 { ("write through", "[none] mq-deadline") } else { ("write back", "none [mq-deadline]") };
        let disk = Disk {
            model: "WDC WD120EFBX-68",
            firmware: "85.00A85",
            size: 12_000_138_625_024,
            physical: 4096,
            rotational: true,
            cache,
            scheduler,
        };
        m.disk(&sata, u32::try_from(at).unwrap() + 2, name, &format!("D7J0{at}XYZ"), disk);
    }
    let port = m.pci("pci0000:00", "0000:00:02.0", Pci::port(Port::Root, "8086:2f04", GEN3_X4, GEN3_X8).numa(0));
    let pci = m.pci(&port, "0000:03:00.0", Pci::nvme("15b7:5006", GEN3_X4, GEN3_X4).numa(0));
    let drive = Nvme { model: "WD Red SN700 1000GB", firmware: "11C120WD", format: 1, ..Nvme::default() };
    let drive = m.nvme(&pci, 0, "22140T801234", drive);
    m.partition(&drive, 1, MIB, 8 * GIB);
    m.plain(
        "/sys/devices/virtual",
        "ram0",
        1,
        8 * GIB,
        Limits {
            physical: 4096,
            minimum_io: 4096,
            scheduler: "",
            write_cache: "write through",
            queues: 0,
            ..Limits::default()
        },
    );
    m.says("wipefs --no-act --json /dev/ram0", "");
    let limits = Limits {
        physical: 4096,
        minimum_io: 4096,
        logical: 4096,
        rotational: true,
        discard_max: 0,
        ..Limits::default()
    };
    let mut members = Vec::new();
    for drive in ["sdb", "sdc"] {
        let part = m.partition(drive, 1, MIB, 8 * GIB);
        let open =
            m.luks(&format!("crypt_{part}"), &part, 8 * GIB, 4096, "no_read_workqueue no_write_workqueue", limits);
        let table = "integrity {} 0 4 J 5 journal_sectors:130944 interleave_sectors:32768 buffer_sectors:128 block_size:4096 internal_hash:crc32c";
        let name =
            m.mapping((&format!("integrity_{part}"), ""), 8 * GIB - 64 * MIB, &[&open], table, "0 16510976 -", limits);
        m.signature(&open, "0x0", "DM_integrity", "", "");
        members.push(name);
    }
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    m.array("md0", "raid1", 0, &members, 8 * GIB - 65 * MIB, limits);
    let volumes = m.volumes("vg0", "md0", &[("data", 7 * GIB)], 8 * GIB - 68 * MIB);
    m.ext4(&volumes[0], "", 0, 0);
    m.mount(&volumes[0], "/mnt/hdd", "ext4", "");
    m
}

/// A Dell R720 with four P1600X: two on root ports, two behind an ASM2812 that has four lanes upwards. Each pair is a
/// mirror of ZFS. It is one of the last generation that cannot split slots.
pub(super) fn r720() -> Machine {
    let mut m = Machine::new("TrueNAS SCALE 22.12.2", "5.15.79+truenas");
    m.board("Dell Inc.", "PowerEdge R720");
    m.cpu(Cpu {
        model: "Intel(R) Xeon(R) CPU E5-2697 v2 @ 2.70GHz",
        sockets: 2,
        cores: 12,
        threads: 2,
        flags: "ssse3 sse4_2 aes avx pclmulqdq",
        governor: "performance",
    });
    m.memory(8, 16, "DDR3", 1600);
    m.numa(&["0-11,24-35", "12-23,36-47"]);
    let one = m.pci("pci0000:00", "0000:00:02.0", Pci::port(Port::Root, "8086:0e04", GEN3_X4, GEN3_X8).numa(0).slot(4));
    let two = m.pci("pci0000:40", "0000:40:01.0", Pci::port(Port::Root, "8086:0e02", GEN3_X4, GEN3_X8).numa(1).slot(2));
    let three =
        m.pci("pci0000:40", "0000:40:03.0", Pci::port(Port::Root, "8086:0e08", GEN3_X4, GEN3_X16).numa(1).slot(6));
    let switch = m.pci(&three, "0000:44:00.0", Pci::port(Port::Upstream, "1b21:2812", GEN3_X4, GEN3_X4).numa(1));
    let left = m.pci(&switch, "0000:45:00.0", Pci::port(Port::Downstream, "1b21:2812", GEN3_X4, GEN3_X4).numa(1));
    let right = m.pci(&switch, "0000:45:08.0", Pci::port(Port::Downstream, "1b21:2812", GEN3_X4, GEN3_X4).numa(1));
    let drive = Nvme {
        model: "INTEL SSDPEK1A118GA",
        firmware: "U5110550",
        size: 118_410_444_800,
        formats: &[(9, 0, 0)],
        volatile_cache: false,
        used: 0,
        queues: 17,
        ..Nvme::default()
    };
    for (number, (port, address, node)) in
        [(one, "0000:04:00.0", 0), (two, "0000:43:00.0", 1), (left, "0000:46:00.0", 1), (right, "0000:47:00.0", 1)]
            .into_iter()
            .enumerate()
    {
        let pci = m.pci(&port, address, Pci::nvme("8086:2525", GEN3_X4, GEN3_X4).numa(node));
        let number = u32::try_from(number).unwrap();
        let name = m.nvme(&pci, number, &format!("PHOC1234000{number}118B"), drive);
        let part = m.partition(&name, 1, MIB, 118_408_347_648);
        let pool = if number < 2 { "direct" } else { "switched" };
        m.signature(&part, "0x3f000", "zfs_member", &format!("1234567890123{}", number / 2), pool);
    }
    m.zfs("2.1.9-1");
    for (pool, drives) in [("direct", ["nvme0n1p1", "nvme1n1p1"]), ("switched", ["nvme2n1p1", "nvme3n1p1"])] {
        let leaves = drives.map(|drive| format!("\t    /dev/{drive}  ONLINE       0     0     0\n")).concat();
        m.pool(
            pool,
            &format!("\t  mirror-0      ONLINE       0     0     0\n{leaves}"),
            &[("mirror", 12, &[])],
            "131072",
        );
    }
    m
}

/// An HPE DL360 Gen10 with five namespaces of a flash enclosure over RoCE, each on two paths of native multipathing;
/// RAID-6 over them.
pub(super) fn dl360() -> Machine {
    let mut m = Machine::new("Red Hat Enterprise Linux 8.1 (Ootpa)", "4.18.0-147.el8.x86_64");
    m.board("HPE", "ProLiant DL360 Gen10");
    m.cpu(Cpu {
        model: "Intel(R) Xeon(R) Bronze 3104 CPU @ 1.70GHz",
        sockets: 1,
        cores: 6,
        threads: 1,
        flags: "ssse3 sse4_2 aes avx avx2 avx512f pclmulqdq",
        governor: "performance",
    });
    m.memory(1, 16, "DDR4", 2133);
    m.numa(&["0-5"]);
    let port =
        m.pci("pci0000:11", "0000:11:00.0", Pci::port(Port::Root, "8086:2030", GEN3_X16, GEN3_X16).numa(0).slot(1));
    let card = Pci { class: "0x020700", driver: "mlx5_core", ..Pci::nvme("15b3:1017", GEN3_X16, GEN3_X16) };
    m.pci(&port, "0000:12:00.0", card.numa(0));
    let drive = Nvme {
        model: "HPE J2000",
        firmware: "J2K00001",
        size: 100_000_000_000 / 4096 * 4096,
        formats: &[(9, 0, 1), (12, 0, 0)],
        volatile_cache: false,
        queues: 7,
        ..Nvme::default()
    };
    let below = "/sys/devices/virtual/nvme-fabrics/ctl";
    let mut drives = Vec::new();
    for subsystem in 0..5_u32 {
        let serial = format!("J2KSSD00{subsystem}");
        for path in 0..2 {
            let number = subsystem * 2 + path;
            let address = format!("traddr=192.168.{}.10,trsvcid=4420", path + 1);
            let controller = m.controller(below, number, &serial, drive, ("rdma", &address));
            m.file(
                format!("{controller}/nvme{subsystem}c{number}n1/ana_state"),
                if path == 0 { "optimized" } else { "non-optimized" },
            );
            m.link(format!("/sys/devices/virtual/nvme-subsystem/nvme-subsys{subsystem}/nvme{number}"), controller);
        }
        let directory = format!("/sys/devices/virtual/nvme-subsystem/nvme-subsys{subsystem}");
        m.link(format!("/sys/class/nvme-subsystem/nvme-subsys{subsystem}"), &directory);
        m.file(format!("{directory}/iopolicy"), "numa");
        for (file, value) in [("model", drive.model), ("serial", &serial), ("firmware_rev", drive.firmware)] {
            m.file(format!("{directory}/{file}"), value);
        }
        let name = m.namespace(&directory, &format!("nvme{subsystem}n1"), 1, drive);
        m.link(format!("{directory}/{name}/device"), &directory);
        drives.push(name);
    }
    let members: Vec<&str> = drives.iter().map(String::as_str).collect();
    let limits = Limits { minimum_io: 524_288, optimal_io: 3 * 524_288, discard_max: 0, ..Limits::default() };
    m.array("md0", "raid6", 524_288, &members, 299_600_000_000 / 524_288 * 524_288, limits);
    m.ext4("md0", "", 128, 384);
    m.mount("md0", "/mnt/test", "ext4", "stripe=384");
    m
}
