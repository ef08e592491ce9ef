//! The grammar of the lab: the guest, its drives and its switches.

use terms::units::{GIB, KIB, MIB, TIB};

use super::{FIGURE, Kind, MS, Step, Table, default, optional, required};

pub(crate) static LAB: Table = Table {
    name: "lab",
    written: "[lab]",
    help: "The guest to rehearse in: processors, memory, drives and where they are plugged in.",
    keys: &[
        default("cpus", Kind::Integer { least: 1, most: 64 }, "2", "Virtual processors."),
        default(
            "memory",
            Kind::Size { least: 512 * MIB, most: TIB, step: Step::Multiple(MIB) },
            "\"3 GiB\"",
            "Memory of the guest.",
        ),
        required("drives", Kind::Tables(&DRIVE), "Drives that stacks may use."),
        default(
            "hosts",
            Kind::Integer { least: 1, most: 4 },
            "1",
            "Guests like this one, each with drives of its own; remote drives of all are in one enclosure. Only \
             workloads that say `hosts` use more than the first.",
        ),
        optional(
            "clock",
            Kind::Choice(&["real", "virtual"]),
            "virtual where all drives are of kind `flash`, `hdd` or `ram` and hard disks fit, real otherwise",
            "What time is in the guest: `virtual` counts its instructions, so that numbers do not follow what else this \
             machine does. One processor, and only drives of kind `flash`, `hdd` and `ram`, all in the guest's memory.",
        ),
        optional(
            "cpu",
            FIGURE,
            "3.2 G instructions/s",
            "Under a virtual clock: how many instructions the one processor ends in a second. Times and rates, those of drives \
             too, are of a machine with this processor. Written like `\"3.2 G instructions/s\"`.",
        ),
        optional(
            "kernel",
            FIGURE,
            "the newest that has what the study needs",
            "Release of the guest's kernel, or the beginning of it, such as `\"6.12\"`: one that this machine has installed.",
        ),
        optional(
            "kernels",
            Kind::Names,
            "one kernel",
            "Several in place of `kernel`: `run` makes a run on each and compares them with the first; other commands take the \
             first.",
        ),
        optional("switches", Kind::Tables(&SWITCH), "no link is a limit", "PCIe switches whose uplink is slower."),
    ],
    one_of: &[],
};

static SWITCH: Table = Table {
    name: "switch",
    written: "an entry of `switches`",
    help: "A PCIe switch of the lab, and how fast all drives behind it may be together.",
    keys: &[
        required("port", SWITCH_PORT, "The switch, as drives name it in `port`."),
        optional("read", FIGURE, "as fast as it goes", "Bytes read in a second, such as `\"180 MB/s\"`."),
        optional("write", FIGURE, "as fast as it goes", "Bytes written in a second."),
    ],
    one_of: &[],
};

/// Switches of the lab.
const SWITCH_PORT: Kind =
    Kind::Choice(&["switch0", "switch1", "switch2", "switch3", "switch4", "switch5", "switch6", "switch7"]);

static DRIVE: Table = Table {
    name: "drive",
    written: "an entry of `drives`",
    help: "A drive that the lab makes.",
    keys: &[
        required("name", Kind::Name, "The name that stacks use."),
        default(
            "kind",
            Kind::Choice(&["nvme", "sata", "hdd", "ram", "flash", "nvme-tcp"]),
            "\"nvme\"",
            "What it appears as in the guest; `hdd` is a hard disk, as slow as its head, on SATA or under a virtual clock in the \
             guest's memory; `flash` is in the guest's memory and answers as late as a flash drive, under either clock; `nvme-tcp` is a namespace of a \
             second guest, reached over a network.",
        ),
        required("size", Kind::Size { least: 32 * MIB, most: 64 * TIB, step: Step::Multiple(4 * KIB) }, "Capacity."),
        optional(
            "stands_for",
            Kind::Size { least: 32 * MIB, most: 1024 * TIB, step: Step::Multiple(512) },
            "not known",
            "Size of the real drive that it stands for, which `expect` and `advise` use for capacity, life and risk. They predict on a span that is larger by the same factor.",
        ),
        default(
            "lba",
            Kind::Sizes(&[512, 4096]),
            "\"512 B\"",
            "Logical block; only NVMe drives, remote ones too, and flash drives offer 4 KiB.",
        ),
        default(
            "port",
            Kind::Choice(&[
                "cpu", "switch0", "switch1", "switch2", "switch3", "switch4", "switch5", "switch6", "switch7",
            ]),
            "\"cpu\"",
            "A root port of its own, or a port of the PCIe switch of that number (NVMe only).",
        ),
        optional("read", FIGURE, "as fast as it goes", "Bytes read in a second at most, such as `\"180 MB/s\"`."),
        optional("write", FIGURE, "as fast as it goes", "Bytes written in a second at most."),
        optional("read_iops", OPERATIONS, "as fast as it goes", "Reads in a second at most."),
        optional("write_iops", OPERATIONS, "as fast as it goes", "Writes in a second at most."),
        optional(
            "paths",
            Kind::Integer { least: 1, most: 2 },
            "2 where `kind` is `nvme-tcp`",
            "Network paths to a remote drive; with two, operations go over both in turn.",
        ),
        optional(
            "rpm",
            Kind::Integer { least: 5400, most: 15_000 },
            "7200 where `kind` is `hdd`",
            "Turns in a minute.",
        ),
        optional(
            "outer",
            FIGURE,
            "\"200 MB/s\" where `kind` is `hdd`",
            "Bytes in a second at the outer edge of a hard disk, where it begins; half of it at the inner edge.",
        ),
        optional(
            "seek",
            Kind::Duration { least: 2 * MS, most: 30 * MS, step: 1000 },
            "\"8.5 ms\" where `kind` is `hdd`",
            "The average way of its head, without waiting for the platter to turn.",
        ),
        optional(
            "cache",
            Kind::Size { least: 512 * KIB, most: GIB, step: Step::Multiple(KIB) },
            "\"8 MiB\" where `kind` is `hdd`",
            "Its volatile write cache, in which writes are answered at once; as much again holds what was read ahead.",
        ),
    ],
    one_of: &[],
};

/// Operations in a second.
const OPERATIONS: Kind = Kind::Integer { least: 1, most: 1_000_000_000 };
