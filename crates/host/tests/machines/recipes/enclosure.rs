//! A large machine, made by a loop: 24 drives behind 6 switches.

use super::super::{Cpu, Limits, Machine, Nvme, Pci, Port};

/// Switches, and drives behind each.
const SWITCHES: u32 = 6;
const DRIVES: u32 = 4;

/// A server with 24 drives: each of 6 switches has 8 lanes of generation 4 upwards and four drives with four lanes
/// each, so twice as much can be asked of every uplink as it carries. RAID-10 over all, LUKS, XFS.
pub fn enclosure() -> Machine {
    let mut m = Machine::new("Debian GNU/Linux 13 (trixie)", "6.12.6-amd64");
    m.board("Example", "2U24 NVMe");
    m.cpu(Cpu {
        model: "AMD EPYC 9354 32-Core Processor",
        sockets: 2,
        cores: 32,
        threads: 2,
        flags: "ssse3 sse4_2 aes vaes avx avx2 avx512f sha_ni",
        governor: "performance",
    });
    m.memory(24, 32, "DDR5", 4800);
    m.numa(&["0-31,64-95", "32-63,96-127"]);
    let (gen4_x4, gen4_x8, gen5_x16) = (("16.0", 4), ("16.0", 8), ("32.0", 16));
    let drive = Nvme {
        model: "KIOXIA KCD81RUG3T84",
        firmware: "0105",
        size: 3_840_755_982_336,
        formats: &[(9, 0, 0), (12, 0, 0), (12, 8, 0), (12, 64, 0)],
        format: 1,
        volatile_cache: false,
        queues: 65,
        ..Nvme::default()
    };
    let mut names = Vec::new();
    for switch in 0..SWITCHES {
        let node = i32::from(switch >= SWITCHES / 2);
        let domain =
            ["pci0000:00", "pci0000:20", "pci0000:40", "pci0000:80", "pci0000:a0", "pci0000:c0"][switch as usize];
        let bus = u32::from_str_radix(&domain[8..], 16).unwrap();
        let payload = |device: Pci| device.payload(512, 512).numa(node);
        let port = m.pci(
            domain,
            &format!("0000:{bus:02x}:01.1"),
            payload(Pci::port(Port::Root, "1022:14ab", gen4_x8, gen5_x16)),
        );
        let up = m.pci(
            &port,
            &format!("0000:{:02x}:00.0", bus + 1),
            payload(Pci::port(Port::Upstream, "11f8:4036", gen4_x8, gen4_x8)),
        );
        for at in 0..DRIVES {
            let down = payload(
                Pci::port(Port::Downstream, "11f8:4036", gen4_x4, gen4_x4)
                    .slot(u16::try_from(switch * DRIVES + at + 1).unwrap()),
            );
            let down = m.pci(&up, &format!("0000:{:02x}:{at:02x}.0", bus + 2), down);
            let pci = m.pci(
                &down,
                &format!("0000:{:02x}:00.0", bus + 3 + at),
                payload(Pci::nvme("1e0f:0013", gen4_x4, gen4_x4)),
            );
            let number = switch * DRIVES + at;
            names.push(m.nvme(&pci, number, &format!("7CQ0A0{number:02}TLJ8"), drive));
        }
    }
    let members: Vec<&str> = names.iter().map(String::as_str).collect();
    let size = 46_088_000_000_000 / 524_288 * 524_288;
    let limits =
        Limits { logical: 4096, physical: 4096, minimum_io: 524_288, optimal_io: 12 * 524_288, ..Limits::default() };
    m.array("md0", "raid10", 524_288, &members, size, limits);
    let open = m.luks("data", "md0", size, 4096, "no_read_workqueue no_write_workqueue", limits);
    m.signature(&open, "0x0", "xfs", &super::super::uuid(2424), "data");
    m.says("xfs_info /data", "meta-data=/dev/dm-0 isize=512 agcount=32, agsize=1 blks\n         = sectsz=4096 attr=2\n         = crc=1 finobt=1\n         = reflink=1\ndata     = bsize=4096 blocks=11252\n         = sunit=128 swidth=1536 blks\nlog      =internal log bsize=4096");
    m.mount(&open, "/data", "xfs", "noatime,inode64,logbufs=8,sunit=1024,swidth=12288");
    m
}
