//! File systems that are their own volume managers.

use super::super::{Cpu, Disk, Machine, Nvme, Pci, Port, uuid};
use super::MIB;

const GEN3_X4: (&str, u32) = ("8.0", 4);
const GEN3_X8: (&str, u32) = ("8.0", 8);
const GEN4_X4: (&str, u32) = ("16.0", 4);

/// Four hard disks on a SAS controller in two mirrors, and a special mirror of two NVMe drives.
pub(super) fn zfs_box() -> Machine {
    let mut m = Machine::new("Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    m.board("Supermicro", "Super Server");
    m.cpu(Cpu {
        model: "AMD EPYC 7302P 16-Core Processor",
        sockets: 1,
        cores: 16,
        threads: 2,
        flags: "ssse3 sse4_2 aes avx avx2 sha_ni pclmulqdq",
        governor: "schedutil",
    });
    m.memory(8, 16, "DDR4", 3200);
    m.numa(&["0-31"]);
    let port = m.pci(
        "pci0000:40",
        "0000:40:03.1",
        Pci::port(Port::Root, "1022:1483", GEN3_X8, ("16.0", 16)).payload(512, 512),
    );
    let controller = Pci { class: "0x010700", driver: "mpt3sas", ..Pci::nvme("1000:0097", GEN3_X8, GEN3_X8) };
    let controller = m.pci(&port, "0000:41:00.0", controller.payload(512, 4096));
    for (at, name) in ["sda", "sdb", "sdc", "sdd"].into_iter().enumerate() {
        let at = u32::try_from(at).unwrap();
        let disk = Disk {
            model: "HUH721010AL42C0",
            firmware: "A3Z4",
            size: 10_000_831_348_736,
            physical: 4096,
            rotational: true,
            cache: "write back",
            scheduler: "[mq-deadline] none",
        };
        m.sas_disk(&controller, at, name, &format!("2YHG00{at}D"), disk);
        let part = m.partition(name, 1, MIB, 10_000_829_251_584);
        m.signature(&part, "0x3f000", "zfs_member", "9876543210123456789", "tank");
    }
    for at in 0..2_u32 {
        let port = m.pci(
            "pci0000:00",
            &format!("0000:00:01.{}", at + 1),
            Pci::port(Port::Root, "1022:1483", GEN4_X4, GEN4_X4).payload(512, 512),
        );
        let pci =
            m.pci(&port, &format!("0000:0{}:00.0", at + 1), Pci::nvme("144d:a80a", GEN4_X4, GEN4_X4).payload(512, 512));
        let drive = Nvme {
            model: "SAMSUNG MZQL2960HCJR-00A07",
            firmware: "GDC5602Q",
            size: 960_197_124_096,
            formats: &[(9, 0, 0), (12, 0, 0)],
            volatile_cache: false,
            queues: 33,
            ..Nvme::default()
        };
        let name = m.nvme(&pci, at, &format!("S64FNE0R10000{at}"), drive);
        m.partition(&name, 1, MIB, 960_195_000_000);
    }
    m.zfs("2.1.11-1+deb12u1");
    let mirror = |number: u32, leaves: [&str; 2]| {
        let leaves = leaves.map(|leaf| format!("\t    /dev/{leaf}     ONLINE       0     0     0\n")).concat();
        format!("\t  mirror-{number}        ONLINE       0     0     0\n{leaves}")
    };
    let tree = [
        mirror(0, ["sda1", "sdb1"]),
        mirror(1, ["sdc1", "sdd1"]),
        "\tspecial\t\n".to_owned(),
        mirror(2, ["nvme0n1p1", "nvme1n1p1"]),
    ];
    m.pool("tank", &tree.concat(), &[("mirror", 12, &[]), ("mirror", 12, &[]), ("mirror", 12, &[])], "1048576");
    m
}

/// Two SATA SSDs as RAID-1 of btrfs, of which the second has counted errors.
pub(super) fn btrfs_box() -> Machine {
    let mut m = Machine::new("openSUSE Tumbleweed", "6.10.9-1-default");
    m.board("Micro-Star International Co., Ltd.", "MS-7C95");
    m.cpu(Cpu {
        model: "AMD Ryzen 5 5600G with Radeon Graphics",
        sockets: 1,
        cores: 6,
        threads: 2,
        flags: "ssse3 sse4_2 aes vaes avx avx2 sha_ni",
        governor: "powersave",
    });
    m.memory(2, 16, "DDR4", 3200);
    let port = m.pci("pci0000:00", "0000:00:02.1", Pci::port(Port::Root, "1022:1634", GEN3_X4, GEN3_X4));
    m.pci(&port, "0000:01:00.2", Pci::port(Port::Upstream, "1022:43e9", GEN3_X4, GEN3_X4));
    let sata = m.pci(&port, "0000:01:00.1", Pci { link: Some((GEN3_X4, GEN3_X4)), ..Pci::sata("1022:43eb") });
    let id = uuid(4242);
    for (at, name) in [(1_u32, "sda"), (2, "sdb")] {
        let disk = Disk {
            model: "CT2000MX500SSD1",
            firmware: "M3CR045",
            size: 2_000_398_934_016,
            physical: 4096,
            rotational: false,
            cache: "write back",
            scheduler: "none [mq-deadline] kyber bfq",
        };
        m.disk(&sata, at, name, &format!("2209E61A000{at}"), disk);
        let part = m.partition(name, 1, MIB, 2_000_397_868_544);
        m.signature(&part, "0x10040", "btrfs", &id, "home");
        let below = format!("/sys/fs/btrfs/{id}/devinfo/{at}");
        m.file(format!("{below}/missing"), 0);
        let corrupted = if at == 2 { 12 } else { 0 };
        m.file(
            format!("{below}/error_stats"),
            format!("write_errs 0\nread_errs 0\nflush_errs 0\ncorruption_errs {corrupted}\ngeneration_errs 0"),
        );
    }
    for (kind, profile) in [("data", "raid1"), ("metadata", "raid1"), ("system", "raid1")] {
        let allocation = format!("/sys/fs/btrfs/{id}/allocation/{kind}");
        m.file(format!("{allocation}/{profile}/used_bytes"), 1);
        m.file(format!("{allocation}/bytes_used"), 1 << 30);
        m.file(format!("{allocation}/total_bytes"), 2_u64 << 30);
    }
    m.file(format!("/sys/fs/btrfs/{id}/checksum"), "crc32c (crc32c-intel)");
    m.file(format!("/sys/fs/btrfs/{id}/sectorsize"), 4096);
    m.says("btrfs filesystem show --raw /home", format!("Label: 'home'  uuid: {id}\n\tTotal devices 2 FS bytes used 1\n\tdevid    1 size 1 used 1 path /dev/sda1\n\tdevid    2 size 1 used 1 path /dev/sdb1"));
    m.says(
        "btrfs scrub status -d /home",
        format!(
            "UUID:             {id}\nscrub device /dev/sda1 (id 1) history\nError summary:    no errors found\n\
            scrub device /dev/sdb1 (id 2) history\nError summary:    no errors found"
        ),
    );
    m.says("btrfs device stats /home", "[/dev/sda1].write_io_errs    0\n[/dev/sdb1].write_io_errs    0");
    m.mount_as("0:41", "/dev/sda1", "/home", "btrfs", "space_cache=v2,subvolid=256,subvol=/@home");
    m
}
