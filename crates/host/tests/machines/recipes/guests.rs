//! Virtual machines.

use super::super::{Cpu, Limits, Machine, Nvme, Pci, Port};
use super::{GIB, MIB};

/// What QEMU shows of every NVMe drive's link, whatever the port can do.
const SHOWN: (&str, u32) = ("2.5", 1);

/// The shape of a guest of the lab: emulated NVMe drives on root ports and behind a switch.
pub(super) fn qemu_guest() -> Machine {
    let mut m = Machine::new("Debian GNU/Linux 12 (bookworm)", "6.1.0-32-amd64");
    m.board("QEMU", "Standard PC (Q35 + ICH9, 2009)");
    m.cpu(Cpu {
        model: "QEMU TCG CPU version 2.5+",
        sockets: 1,
        cores: 2,
        threads: 1,
        flags: "ssse3 sse4_2 aes",
        governor: "",
    });
    m.memory(1, 2, "RAM", 0);
    let drive = Nvme {
        model: "QEMU NVMe Ctrl",
        firmware: "7.2.22",
        size: 2 * GIB,
        formats: &[(9, 0, 0), (9, 8, 0), (9, 16, 0), (9, 64, 0), (12, 0, 0), (12, 8, 0), (12, 16, 0), (12, 64, 0)],
        queues: 3,
        used: 0,
        celsius: 50,
        ..Nvme::default()
    };
    let able = ("16.0", 32);
    for at in 0..2_u32 {
        let port = m.pci(
            "pci0000:00",
            &format!("0000:00:0{}.0", at + 3),
            Pci::port(Port::Root, "1b36:000c", SHOWN, able).payload(128, 128),
        );
        let pci =
            m.pci(&port, &format!("0000:0{}:00.0", at + 1), Pci::nvme("1b36:0010", SHOWN, SHOWN).payload(128, 128));
        m.nvme(&pci, at, &format!("bed{at}"), drive);
    }
    let port = m.pci("pci0000:00", "0000:00:05.0", Pci::port(Port::Root, "1b36:000c", SHOWN, able).payload(128, 128));
    let switch = m.pci(&port, "0000:03:00.0", Pci::port(Port::Upstream, "104c:8232", SHOWN, SHOWN).payload(128, 128));
    for at in 0..2_u32 {
        let none = ("Unknown", 0);
        let down = m.pci(
            &switch,
            &format!("0000:04:0{at}.0"),
            Pci::port(Port::Downstream, "104c:8233", none, SHOWN).payload(128, 128),
        );
        let pci =
            m.pci(&down, &format!("0000:0{}:00.0", at + 5), Pci::nvme("1b36:0010", SHOWN, SHOWN).payload(128, 128));
        m.nvme(&pci, at + 2, &format!("bed{}", at + 2), Nvme { format: 4, ..drive });
    }
    m
}

/// A virtual machine with paravirtual drives only, whose links and caches nobody tells of.
pub(super) fn virtio_vm() -> Machine {
    let mut m = Machine::new("Fedora Linux 40 (Cloud Edition)", "6.8.5-301.fc40.x86_64");
    m.board("Amazon EC2", "example.large");
    m.cpu(Cpu {
        model: "Intel Xeon Processor (Icelake)",
        sockets: 1,
        cores: 1,
        threads: 2,
        flags: "ssse3 sse4_2 aes vaes avx avx2 avx512f sha_ni",
        governor: "",
    });
    m.memory(1, 8, "RAM", 0);
    m.missing("nvme");
    m.missing("lvm");
    for (at, (name, size)) in [("vda", 40 * GIB), ("vdb", 200 * GIB)].into_iter().enumerate() {
        let plain = Pci { class: "0x010000", driver: "virtio-pci", link: None, ..Pci::nvme("1af4:1042", SHOWN, SHOWN) };
        let pci = m.pci("pci0000:00", &format!("0000:00:0{}.0", at + 4), plain);
        m.plain(
            &format!("{pci}/virtio{at}"),
            name,
            252,
            size,
            Limits { queues: 2, scheduler: "[none] mq-deadline", ..Limits::default() },
        );
    }
    let (root, swap) = (m.partition("vda", 1, MIB, 36 * GIB), m.partition("vda", 2, 36 * GIB + MIB, 4 * GIB - 2 * MIB));
    m.signature(&root, "0x0", "xfs", &super::super::uuid(31), "root");
    m.says("xfs_info /", "meta-data=/dev/vda1 isize=512 agcount=4, agsize=2359296 blks\n         = sectsz=512 attr=2\n         = crc=1 finobt=1\n         = reflink=1\ndata     = bsize=4096 blocks=9437184\n         = sunit=0 swidth=0 blks\nlog      =internal log bsize=4096");
    m.mount(&root, "/", "xfs", "attr2,inode64,noquota");
    m.signature(&swap, "0xff6", "swap", &super::super::uuid(32), "");
    m.swap(&swap, 4 * 1024 * 1024 - 2048);
    m
}
