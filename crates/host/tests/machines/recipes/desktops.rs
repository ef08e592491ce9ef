//! Desktops and laptops.

use super::super::{Cpu, Disk, Limits, Machine, Nvme, Pci, Port, uuid};
use super::{GIB, MIB};

const DEBIAN: (&str, &str) = ("Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
const GEN3_X4: (&str, u32) = ("8.0", 4);
const GEN4_X4: (&str, u32) = ("16.0", 4);
const ZEN: &str = "fpu ssse3 sse4_2 aes avx avx2 sha_ni pclmulqdq";

/// Two SN770 on an adapter in an x16 slot that is split x4/x4, on a board of PCIe 3: RAID-1 that is still resyncing,
/// LUKS, ext4. (A write-up of April 2023.)
pub(super) fn bifurcated_pair() -> Machine {
    let mut m = Machine::new(DEBIAN.0, DEBIAN.1);
    m.board("Example", "A board with PCIe 3.0");
    m.cpu(Cpu {
        model: "AMD Ryzen 5 2600 Six-Core Processor",
        sockets: 1,
        cores: 6,
        threads: 2,
        flags: ZEN,
        governor: "ondemand",
    });
    m.memory(2, 8, "DDR4", 2933);
    let root = "pci0000:00";
    let port = m.pci(root, "0000:00:01.1", Pci::port(Port::Root, "1022:1453", GEN3_X4, GEN3_X4));
    let system = m.pci(&port, "0000:01:00.0", Pci::nvme("15b7:5009", GEN3_X4, GEN3_X4));
    let system = m.nvme(
        &system,
        0,
        "WX0123456780",
        Nvme { model: "WDC WDS500G2B0C-00PXH0", size: 500_107_862_016, ..Nvme::default() },
    );
    chipset(&mut m);
    let mut drives = Vec::new();
    for (at, serial) in [(1, "23020A801234"), (2, "23020A805678")] {
        let port = m.pci(root, &format!("0000:00:03.{at}"), Pci::port(Port::Root, "1022:1453", GEN3_X4, GEN3_X4));
        let pci = m.pci(&port, &format!("0000:{:02x}:00.0", 0x0b + at), Pci::nvme("15b7:5017", GEN3_X4, GEN4_X4));
        let drive = Nvme {
            model: "WD_BLACK SN770 2TB",
            firmware: "731030WD",
            size: 2_000_398_934_016,
            queues: 13,
            ..Nvme::default()
        };
        drives.push(m.nvme(&pci, at, serial, drive));
    }
    let part = m.partition(&system, 1, MIB, 500_106_813_440);
    m.ext4(&part, "system", 0, 0);
    m.mount(&part, "/", "ext4", "errors=remount-ro");
    let size = 2_000_263_577_600;
    let members: Vec<&str> = drives.iter().map(String::as_str).collect();
    m.array("md2", "raid1", 0, &members, size, Limits::default());
    m.array_says("md2", "sync_action", "resync");
    m.array_says("md2", "sync_completed", "1217000448 / 3906764800");
    let open = m.luks("vault", "md2", size, 512, "", Limits { discard_max: 0, ..Limits::default() });
    m.ext4(&open, "vault", 0, 0);
    m.mount(&open, "/mnt/vault", "ext4", "");
    m
}

/// The chipset of the 400 series, with a hard disk.
fn chipset(m: &mut Machine) {
    let port = m.pci("pci0000:00", "0000:00:01.3", Pci::port(Port::Root, "1022:1453", GEN3_X4, GEN3_X4));
    let upstream = Pci::port(Port::Upstream, "1022:43c6", GEN3_X4, GEN3_X4);
    m.pci(&port, "0000:02:00.2", upstream);
    let sata = Pci { link: Some((GEN3_X4, GEN3_X4)), ..Pci::sata("1022:43c8") };
    let sata = m.pci(&port, "0000:02:00.1", sata);
    let disk = Disk {
        model: "ST4000VN008-2DR1",
        firmware: "SC60",
        size: 4_000_787_030_016,
        physical: 4096,
        rotational: true,
        cache: "write back",
        scheduler: "[mq-deadline] none",
    };
    let name = m.disk(&sata, 1, "sda", "ZDH0ABCD", disk);
    let part = m.partition(&name, 1, MIB, 4_000_785_981_440);
    m.ext4(&part, "files", 0, 0);
    m.mount(&part, "/srv", "ext4", "noatime");
}

/// A workstation with four FireCuda 530 in an x16 slot split x4/x4/x4/x4; the third has come up at half its speed.
/// (A write-up on an ASUS TUF X570-PLUS.)
pub(super) fn four_firecuda() -> Machine {
    let mut m = Machine::new("Debian GNU/Linux 12 (bookworm)", "6.1.0-13-amd64");
    m.board("ASUSTeK COMPUTER INC.", "TUF GAMING X570-PLUS");
    m.cpu(Cpu {
        model: "AMD Ryzen 9 5950X 16-Core Processor",
        sockets: 1,
        cores: 16,
        threads: 2,
        flags: ZEN,
        governor: "performance",
    });
    m.memory(4, 16, "DDR4", 3600);
    let root = "pci0000:00";
    let payload = |device: Pci| device.payload(512, 512);
    let port = m.pci(root, "0000:00:01.2", payload(Pci::port(Port::Root, "1022:1483", GEN4_X4, GEN4_X4)));
    let switch = m.pci(&port, "0000:02:00.0", payload(Pci::port(Port::Upstream, "1022:57ad", GEN4_X4, GEN4_X4)));
    for at in [1, 5, 8] {
        let slow = if at == 8 { ("16.0", 16) } else { ("2.5", 1) };
        m.pci(&switch, &format!("0000:03:0{at}.0"), payload(Pci::port(Port::Downstream, "1022:57a3", slow, slow)));
    }
    for at in 0..4_u32 {
        let (link, errors) = if at == 2 { (GEN3_X4, 7421) } else { (GEN4_X4, 0) };
        let port = Pci::port(Port::Root, "1022:1483", link, GEN4_X4).slot(u16::try_from(at).unwrap() + 1);
        let port = m.pci(root, &format!("0000:00:03.{}", at + 1), payload(port));
        let pci = m.pci(
            &port,
            &format!("0000:{:02x}:00.0", 0x0a + at),
            payload(Pci::nvme("1987:5018", link, GEN4_X4).errors(errors)),
        );
        let drive = Nvme {
            model: "Seagate FireCuda 530 ZP1000GM30013",
            firmware: "SU6SM003",
            queues: 17,
            celsius: 47 + at,
            ..Nvme::default()
        };
        m.nvme(&pci, at, &format!("7VR0{at}ABC{at}"), drive);
    }
    m
}

/// A laptop: one NVMe drive, LUKS on a partition, LVM in it, ext4 and swap.
pub(super) fn laptop() -> Machine {
    let mut m = Machine::new("Ubuntu 24.04.1 LTS", "6.8.0-45-generic");
    m.board("LENOVO", "20XW ThinkPad X1");
    m.cpu(Cpu {
        model: "11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz",
        sockets: 1,
        cores: 4,
        threads: 2,
        flags: "ssse3 sse4_2 aes vaes avx avx2 avx512f sha_ni",
        governor: "powersave",
    });
    m.memory(2, 8, "LPDDR4", 4267);
    m.file("/sys/firmware/acpi/platform_profile", "balanced");
    let port = m.pci("pci0000:00", "0000:00:06.0", Pci::port(Port::Root, "8086:9a09", GEN3_X4, GEN4_X4));
    let pci = m.pci(&port, "0000:04:00.0", Pci::nvme("144d:a808", GEN3_X4, GEN3_X4));
    let drive = Nvme {
        model: "SAMSUNG MZVLB512HBJQ-000L7",
        firmware: "5M2QEXF7",
        size: 512_110_190_592,
        formats: &[(9, 0, 0)],
        used: 11,
        ..Nvme::default()
    };
    let drive = m.nvme(&pci, 0, "S4ENNX0R123456", drive);
    let (efi, boot) = (m.partition(&drive, 1, MIB, 512 * MIB), m.partition(&drive, 2, 513 * MIB, 1024 * MIB));
    let rest = m.partition(&drive, 3, 1537 * MIB, 510_498_308_096);
    m.signature(&efi, "0x36", "vfat", "3C1F-9A22", "EFI");
    m.mount(&efi, "/boot/efi", "vfat", "umask=0077");
    m.ext4(&boot, "boot", 0, 0);
    m.mount(&boot, "/boot", "ext4", "");
    let open = m.luks("dm_crypt-0", &rest, 510_498_308_096, 512, "", Limits { discard_max: 0, ..Limits::default() });
    let volumes = m.volumes("ubuntu-vg", &open, &[("root", 400 * GIB), ("swap", 16 * GIB)], 475 * GIB);
    m.ext4(&volumes[0], "", 0, 0);
    m.mount(&volumes[0], "/", "ext4", "errors=remount-ro");
    m.signature(&volumes[1], "0xff6", "swap", &uuid(77), "");
    m.swap(&volumes[1], 16 * 1024 * 1024);
    m.file("/etc/crypttab", format!("dm_crypt-0 UUID={} none luks", uuid(501)));
    m.file(
        "/etc/fstab",
        "/dev/mapper/ubuntu--vg-root / ext4 errors=remount-ro 0 1\n/dev/nvme0n1p2 /boot ext4 defaults 0 2",
    );
    m
}

/// The same laptop, looked at without the rights of root.
pub(super) fn laptop_as_user() -> Machine {
    let mut m = laptop();
    m.without_root();
    // udev tells everybody some of what only root can read on the drive.
    for (name, kind) in [
        ("nvme0n1p1", "vfat"),
        ("nvme0n1p2", "ext4"),
        ("nvme0n1p3", "crypto_LUKS"),
        ("dm-0", "LVM2_member"),
        ("dm-1", "ext4"),
        ("dm-2", "swap"),
    ] {
        let number = m.number(name);
        m.file(format!("/run/udev/data/b{number}"), format!("E:ID_FS_TYPE={kind}\nE:ID_FS_USAGE=filesystem"));
    }
    m
}
