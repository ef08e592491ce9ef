//! A small server with old disks, of which each has something to tell.

use super::super::{Cpu, Disk, Limits, Machine, Pci};
use super::MIB;

const DISK: Disk = Disk {
    model: "ST4000DM004-2CV1",
    firmware: "0001",
    size: 4_000_787_030_016,
    physical: 4096,
    rotational: true,
    cache: "write back",
    scheduler: "none [mq-deadline]",
};

/// What `smartctl -j -x` says of one of them: pending blocks, wrong checksums, speed of the line, error recovery, and how
/// the newest self-test ended.
fn smart(pending: u64, wrong: u64, line: &str, recovery: &str, passed: bool) -> String {
    let attributes = [
        (5, "Reallocated_Sector_Ct", 0),
        (187, "Reported_Uncorrect", 0),
        (188, "Command_Timeout", 0),
        (197, "Current_Pending_Sector", pending),
        (198, "Offline_Uncorrectable", 0),
        (199, "UDMA_CRC_Error_Count", wrong),
    ];
    let rows = attributes.map(|(id, name, raw)| {
        format!("{{\"id\":{id},\"name\":\"{name}\",\"when_failed\":\"\",\"raw\":{{\"value\":{raw}}}}}")
    });
    format!(
        "{{\"smartctl\":{{\"exit_status\":0}},\"smart_status\":{{\"passed\":true}},\"temperature\":{{\"current\":36,\"limit_max\":60}},\
         \"power_on_time\":{{\"hours\":40000}},\"ata_smart_attributes\":{{\"table\":[{}]}},{recovery}\
         \"interface_speed\":{{\"max\":{{\"string\":\"6.0 Gb/s\"}},\"current\":{{\"string\":\"{line}\"}}}},\
         \"ata_smart_self_test_log\":{{\"standard\":{{\"table\":[{{\"type\":{{\"string\":\"Extended offline\"}},\
         \"status\":{{\"string\":\"x\",\"passed\":{passed}}},\"lifetime_hours\":39990}}]}}}}}}",
        rows.join(",")
    )
}

const LIMITED: &str =
    "\"ata_sct_erc\":{\"read\":{\"enabled\":true,\"deciseconds\":70},\"write\":{\"enabled\":true,\"deciseconds\":70}},";
const OFF: &str = "\"ata_sct_erc\":{\"read\":{\"enabled\":false},\"write\":{\"enabled\":false}},";
const WITHOUT: &str = "\"ata_sct_capabilities\":{\"error_recovery_control_supported\":false},";

/// Three disks in RAID-5: one whose error recovery is off and that has blocks waiting, one without error recovery control
/// on a bad cable, one that is well.
pub(super) fn nas() -> Machine {
    let mut m = Machine::new("Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    m.cpu(Cpu {
        model: "Intel(R) Celeron(R) J4125 CPU @ 2.00GHz",
        sockets: 1,
        cores: 4,
        threads: 1,
        flags: "ssse3 sse4_2 aes",
        governor: "schedutil",
    });
    m.memory(2, 8, "DDR4", 2400);
    m.installed("smartctl");
    let sata = m.pci("pci0000:00", "0000:00:12.0", Pci::sata("8086:31e3").numa(0));
    let told = [
        ("sda", smart(16, 0, "6.0 Gb/s", OFF, false)),
        ("sdb", smart(0, 5000, "1.5 Gb/s", WITHOUT, true)),
        ("sdc", smart(0, 0, "6.0 Gb/s", LIMITED, true)),
    ];
    let mut members = Vec::new();
    for (port, (name, says)) in (1..).zip(told) {
        m.disk(&sata, port, name, &format!("ZFN0000{port}"), DISK);
        m.says(format!("smartctl -j -x /dev/{name}"), says);
        let host = format!("{sata}/ata{port}/host{0}/target{0}:0:0/{0}:0:0:0", port - 1);
        m.file(format!("{host}/timeout"), 30);
        members.push(m.partition(name, 1, MIB, 4_000_785_964_544));
    }
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let limits = Limits { physical: 4096, rotational: true, discard_max: 0, ..Limits::default() };
    m.array("md0", "raid5", 512 << 10, &members, 8_001_302_888_448, limits);
    m.ext4("md0", "srv", 128, 256);
    m.mount("md0", "/srv", "ext4", "rw");
    m.says(
        "df -lPk",
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/md0 7813772352 7657496904 156275448 98% /srv",
    );
    m
}
