//! The grammar of a machine's description: what its drives, links, cores and memory can do.

use terms::units::{KIB, MIB, TIB};

use super::{FIGURE, HOUR, Kind, Step, TITLE, Table, default, optional, required};

/// The whole file.
pub(crate) static MACHINE: Table = Table {
    name: "machine",
    written: "the top level",
    help: "A machine in a few lines, for predictions where none is at hand.",
    keys: &[
        required("machine", TITLE, "What it is called in reports."),
        optional(
            "cpu",
            TITLE,
            "a usual one, and wide",
            "The processor by name, as `lscpu` writes it: `\"AMD EPYC 7502P 32-Core Processor\"`.",
        ),
        optional("sockets", Kind::Integer { least: 1, most: 64 }, "1, or what `cores` says", "How many of `cpu`."),
        optional(
            "cores",
            Kind::Integer { least: 1, most: 4096 },
            "those of `cpu`, without which it is required",
            "Cores of all sockets.",
        ),
        optional(
            "threads",
            Kind::Integer { least: 1, most: 8192 },
            "those of `cpu`, or one for each core",
            "Hardware threads of all cores.",
        ),
        optional("kernel", FIGURE, "a new one", "Major and minor number of the kernel, such as `\"6.1\"`."),
        optional("memory", Kind::Table(&MEMORY), "that of a usual machine with as many cores", "Main memory."),
        optional(
            "submit",
            Kind::Duration { least: 10, most: HOUR, step: 1 },
            "by the table, and wide",
            "Time of a core for one random read of 4 KiB from a raw NVMe drive, where somebody measured it.",
        ),
        optional("cipher", FIGURE, "by the table, and wide", "AES-XTS of one core, such as `\"1.8 GB/s\"`."),
        optional("uplink", Kind::Tables(&UPLINK), "none", "Links and ports that several drives share."),
        required("drive", Kind::Tables(&DRIVE), "Drives, in groups of equals."),
    ],
    one_of: &[],
};

static MEMORY: Table = Table {
    name: "memory",
    written: "[memory]",
    help: "Main memory.",
    keys: &[
        required("channels", Kind::Integer { least: 1, most: 128 }, "Channels that have a module."),
        required(
            "speed",
            Kind::Integer { least: 100, most: 100_000 },
            "Transfers in a second, in millions: 3200 for DDR4-3200.",
        ),
        optional("size", SIZE, "unknown: caches may hold half of what they could", "All of it."),
    ],
    one_of: &[],
};

static UPLINK: Table = Table {
    name: "uplink",
    written: "[[uplink]]",
    help: "A link or port that several drives share: a switch, the chipset, a network.",
    keys: &[
        required("name", Kind::Name, "Its name, for `behind`."),
        optional("link", FIGURE, "a network port", "A PCIe link, such as `\"16 GT/s x4\"`."),
        optional("line", FIGURE, "a PCIe link", "Line rate of a network port, such as `\"12.5 GB/s\"` for 100 Gbit/s."),
        optional("payload", PAYLOAD, "`\"256 B\"`; `\"1024 B\"` for a network", "Largest payload of a packet."),
        default(
            "round_trip",
            Kind::Duration { least: 0, most: HOUR, step: 1 },
            "\"10 µs\"; \"50 µs\" over TCP",
            "There and back, of a network port.",
        ),
        default(
            "transport",
            Kind::Choice(&["rdma", "tcp"]),
            "\"rdma\"",
            "Who moves the bytes of a network port: itself, or the processors (NVMe over TCP, iSCSI).",
        ),
        optional("behind", Kind::Name, "none", "The uplink that it hangs under."),
    ],
    one_of: &["link", "line"],
};

static DRIVE: Table = Table {
    name: "machine-drive",
    written: "[[drive]]",
    help: "Equal drives. What is left out is that of a usual drive of the kind, with wide intervals.",
    keys: &[
        required("name", Kind::Name, "Their name; of several, numbers from 0 are put behind it."),
        default("count", Kind::Integer { least: 1, most: 100_000 }, "1", "How many."),
        default(
            "kind",
            Kind::Choice(&[
                "nvme",
                "nvme-enterprise",
                "optane",
                "sata-ssd",
                "sata-enterprise",
                "sas-ssd",
                "hdd",
                "sas-hdd",
                "ram",
            ]),
            "that of `model`, or `\"nvme\"`",
            "What they are.",
        ),
        optional(
            "model",
            TITLE,
            "by `kind`",
            "Maker, model and size, such as `\"Samsung 990 PRO 2TB\"`: its data sheet says what is left out here.",
        ),
        optional("rpm", Kind::Integer { least: 3600, most: 20_000 }, "`7200`", "Turns in a minute of hard disks."),
        default("measured", Kind::Boolean, "false", "Were the figures measured on them? From a data sheet otherwise."),
        optional("read", FIGURE, "usual", "Large reads, such as `\"7300 MB/s\"`."),
        optional("write", FIGURE, "usual", "Large writes, while the cache has room."),
        optional("read_iops", IOPS, "usual", "Random reads of 4 KiB."),
        optional("write_iops", IOPS, "usual", "Random writes of 4 KiB, while the cache has room."),
        optional("sustained", FIGURE, "usual", "Large writes once the cache is full."),
        optional("sustained_iops", IOPS, "usual", "Random writes of 4 KiB once the cache is full."),
        optional("cache", SIZE, "usual", "What the cache takes."),
        optional("read_latency", LATENCY, "usual", "One read of 4 KiB alone."),
        optional("write_latency", LATENCY, "usual", "One write of 4 KiB alone."),
        optional("flush", LATENCY, "usual", "One flush."),
        optional("fua", LATENCY, "a write and a flush", "One small write past the cache (FUA)."),
        default("write_cache", Kind::Boolean, "true", "Is a volatile write cache on, or none needed?"),
        optional("size", SIZE, "that in the study", "Bytes of each."),
        optional("link", FIGURE, "not a limit", "PCIe link of each, such as `\"16 GT/s x4\"`."),
        optional(
            "payload",
            PAYLOAD,
            "`\"256 B\"`, and wide",
            "Largest payload of a packet: `MaxPayload` in `DevCtl` of `lspci -vv`.",
        ),
        optional("behind", Kind::Name, "the processor itself", "The uplink that they hang under."),
        optional("baseline", Kind::Tables(&BASELINE), "none", "What one of them gave by itself, as it was measured."),
    ],
    one_of: &[],
};

static BASELINE: Table = Table {
    name: "machine-baseline",
    written: "{ … } in baseline",
    help: "A figure of one drive: the drive is taken to be such that it comes out.",
    keys: &[
        required(
            "pattern",
            Kind::Choice(&["read", "write", "randread", "randwrite"]),
            "Direction and order of accesses.",
        ),
        required(
            "block",
            Kind::Size { least: 512, most: 64 * MIB, step: Step::Multiple(512) },
            "Bytes of each access.",
        ),
        default("depth", Kind::Integer { least: 1, most: 65_536 }, "1", "Accesses under way in each job."),
        default("jobs", Kind::Integer { least: 1, most: 4096 }, "1", "Jobs."),
        default(
            "engine",
            Kind::Choice(&["libaio", "io-uring", "posix-aio", "psync"]),
            "\"libaio\"",
            "How accesses reach the kernel.",
        ),
        optional("fsync_every", Kind::Integer { least: 1, most: 1_000_000 }, "never", "Writes between two `fsync`."),
        optional(
            "files",
            Kind::Choice(&["ext4", "xfs"]),
            "the drive itself",
            "The file system it was measured through.",
        ),
        optional("rate", FIGURE, "`iops` says it", "What came, such as `\"3100 MB/s\"`."),
        optional("iops", IOPS, "`rate` says it", "What came, in operations."),
    ],
    one_of: &["rate", "iops"],
};

const SIZE: Kind = Kind::Size { least: MIB, most: 1024 * TIB, step: Step::Multiple(1) };
const IOPS: Kind = Kind::Integer { least: 1, most: 1_000_000_000 };
const LATENCY: Kind = Kind::Duration { least: 1, most: HOUR, step: 1 };
const PAYLOAD: Kind = Kind::Size { least: 64, most: 16 * KIB, step: Step::PowerOfTwo };
