//! `free`: how much memory there is.

use super::{Machine, Text, lvm};

/// Its heading, which tells of buffers and of the cache apart before procps 3.3.10.
pub(super) fn begins(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    words == ["total", "used", "free", "shared"]
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let row = text.lines.iter().find_map(|line| line.trim().strip_prefix("Mem:"));
    let total = row.and_then(|row| row.split_whitespace().next());
    let Some(bytes) = total.and_then(|total| bytes(total, text.command)) else {
        machine.refused.push("`free`: nothing tells in which unit its numbers are".to_owned());
        return 0;
    };
    machine.file("/proc/meminfo".to_owned(), format!("MemTotal: {} kB\n", bytes / 1024));
    1
}

/// In the unit behind the number (`-h`), in that of an option, or in KiB (free(1)). Without its command a small number may be of any.
fn bytes(total: &str, command: Option<&str>) -> Option<u64> {
    let lower = total.to_lowercase();
    let Ok(number) = total.parse::<u64>() else { return lvm::bytes(lower.trim_end_matches('i')) };
    let scale = match command {
        None => (number >= LARGE).then_some(1 << 10)?,
        Some(command) => {
            let mut options = command.split_whitespace().filter(|word| word.starts_with('-'));
            options.find_map(|option| UNITS.iter().find(|(own, _)| own.contains(&option))).map_or(1 << 10, |of| of.1)
        }
    };
    number.checked_mul(scale)
}

/// A number so large is of KiB: as MiB it were more than 9 TiB.
const LARGE: u64 = 10_000_000;

const UNITS: [(&[&str], u64); 4] =
    [(&["-b", "--bytes"], 1), (&["-m", "--mebi"], 1 << 20), (&["-g", "--gibi"], 1 << 30), (&["--tebi"], 1 << 40)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_unit_of_the_command() {
        for (total, command, expect) in [
            ("31", Some("free -g"), Some(31 << 30)),
            ("31Gi", Some("free -h"), Some(31 << 30)),
            ("31G", None, Some(31 << 30)),
            ("32767", Some("free -m -t"), Some(32767 << 20)),
            ("32767", None, None),
            ("131072", None, None),
            ("32768000", None, Some(32_768_000 << 10)),
            ("32768000", Some("free"), Some(32_768_000 << 10)),
        ] {
            assert_eq!(bytes(total, command), expect, "{total} {command:?}");
        }
    }
}
