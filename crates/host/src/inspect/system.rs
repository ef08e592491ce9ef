//! The system as a whole: its name, its board, its programs, and whether it is emulated.

use terms::inventory::{NumaNode, Program, Readout};
use terms::{Bytes, Outcome};

use super::source::{Source, field};

/// Programs whose versions belong in every record, and how to ask them.
const PROGRAMS: [(&str, &[&str]); 9] = [
    ("fio", &["fio", "--version"]),
    ("mdadm", &["mdadm", "--version"]),
    ("cryptsetup", &["cryptsetup", "--version"]),
    ("lvm", &["lvm", "version"]),
    ("mkfs.ext4", &["mkfs.ext4", "-V"]),
    ("mkfs.xfs", &["mkfs.xfs", "-V"]),
    ("mkfs.btrfs", &["mkfs.btrfs", "--version"]),
    ("zfs", &["zfs", "--version"]),
    ("nvme", &["nvme", "version"]),
];

/// The programs with what they say of themselves. One that a capture does not tell of is left out: nobody knows
/// whether it is installed.
pub(super) fn programs(source: &Source) -> Vec<Program> {
    let version = |outcome: &Outcome| {
        // Some tell their version on standard error.
        let said = [outcome.text(), outcome.error_text()];
        let mut lines = said.iter().flat_map(|text| text.lines()).map(str::trim);
        lines.find(|line| line.chars().any(|c| c.is_ascii_digit())).map(ToOwned::to_owned)
    };
    let program = |(name, argv): &(&str, &[&str])| {
        let version = match source.run(argv) {
            Readout::Known(outcome) => version(&outcome),
            Readout::Unknown(why) if why.contains("was not captured") => return None,
            Readout::Unknown(_) => None,
        };
        Some(Program { name: (*name).to_owned(), version })
    };
    PROGRAMS.iter().filter_map(program).collect()
}

/// What emulates the machine, if anything that is known does.
pub(super) fn emulator(source: &Source, cpuinfo: &str) -> Option<String> {
    if field(cpuinfo, "model name").is_some_and(|model| model.contains("QEMU TCG")) {
        return Some("QEMU TCG".to_owned());
    }
    source.told("/sys/class/dmi/id/sys_vendor").filter(|vendor| vendor == "QEMU")
}

/// The distribution's own name for itself.
pub(super) fn name(os_release: &str) -> String {
    let line = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

/// Maker and name of the machine, and its board where that is another.
pub(super) fn board(source: &Source) -> Option<String> {
    let told = |file: &str| source.told(&format!("/sys/class/dmi/id/{file}"));
    let join = |maker: Option<String>, name: Option<String>| match (maker, name) {
        (Some(maker), Some(name)) if !name.starts_with(&maker) => Some(format!("{maker} {name}")),
        (maker, name) => name.or(maker),
    };
    // Boards sold alone carry such words instead of a name.
    let filled_in =
        |name: &String| !["System Product Name", "To Be Filled By O.E.M.", "Default string"].contains(&&**name);
    let whole = join(told("sys_vendor"), told("product_name").filter(filled_in).filter(|name| !name.is_empty()));
    if told("product_name").as_ref().is_some_and(filled_in) {
        whole
    } else {
        join(told("board_vendor"), told("board_name")).or(whole)
    }
}

/// All memory that the kernel has.
pub(super) fn memory(meminfo: &str) -> Bytes {
    Bytes::kib(kilobytes(meminfo, "MemTotal").unwrap_or(0))
}

/// The number of a line such as `MemTotal:  3042300 kB`; lines of a node begin with `Node 0`.
fn kilobytes(meminfo: &str, name: &str) -> Option<u64> {
    let (_, rest) = meminfo.lines().find_map(|line| line.split_once(&format!("{name}:")))?;
    rest.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// NUMA nodes with their processors, memory and distances.
pub(super) fn numa(source: &Source) -> Readout<Vec<NumaNode>> {
    const NODES: &str = "/sys/devices/system/node";
    source.names(NODES).map(|names| {
        let mut numbers: Vec<u32> =
            names.unwrap_or_default().iter().filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
        numbers.sort_unstable();
        let read = |number| {
            let told = |file: &str| source.told(&format!("{NODES}/node{number}/{file}")).unwrap_or_default();
            NumaNode {
                node: number,
                cpus: told("cpulist"),
                memory: memory(&told("meminfo")),
                distances: told("distance").split_whitespace().filter_map(|text| text.parse().ok()).collect(),
            }
        };
        numbers.into_iter().map(read).collect()
    })
}

/// Does the one who asks have the rights of root there?
pub(super) fn as_root(source: &Source) -> bool {
    // The numbers are real, effective, saved and file system user.
    let status = source.told("/proc/self/status").unwrap_or_default();
    field(&status, "Uid").and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood() {
        assert_eq!(memory("MemTotal:        3042300 kB\nMemFree: 1 kB"), Bytes::kib(3_042_300));
        assert_eq!(memory("Node 1 MemTotal:       16448 kB\n"), Bytes::kib(16_448));
        assert_eq!(name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"), "Debian GNU/Linux 12");
        assert_eq!(field("model name\t: QEMU x\nflags\t: a aes", "flags"), Some("a aes"));
    }
}
