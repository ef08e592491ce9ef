//! `df`, with `-h`, `-P`, `-T`, `-i` or none of them: as `df -P` would have it.

use terms::inventory::is_image;

use super::{Machine, Text};
use crate::inspect::kernel::EXCERPT;
use crate::inspect::usage;

/// `Filesystem      Size  Used Avail Use% Mounted on`; POSIX (`-P`) says `Capacity`.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("Filesystem ")
        && line.trim_end().ends_with("Mounted on")
        && ["%", " Capacity "].iter().any(|word| line.contains(word))
}

/// Rows as they are, without a column for the kind of file system. Images are left out: they are full by nature.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let heading: Vec<&str> = text.lines.first().map_or_else(Vec::new, |line| line.split_whitespace().collect());
    let typed = heading.get(1) == Some(&"Type");
    // BusyBox has columns of other names.
    let counts_inodes = heading.contains(&"IFree") || heading.contains(&"Inodes");
    let mut said = format!("{EXCERPT}\n");
    let mut told = 0;
    for line in text.lines.iter().skip(1) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if typed && words.len() > 1 && is_image(words.remove(1)) {
            continue;
        }
        let line = words.join(" ");
        if !typed && may_be_image(&words) {
            machine.refused.push(format!("`{line}`: it may be an image, which is full by nature; `df -hT` tells"));
            continue;
        }
        told += usize::from(usage(&line).is_some());
        said.push_str(&(line + "\n"));
    }
    let command = if counts_inodes { "df -lPi" } else { "df -lPk" };
    machine.run(command.to_owned(), said);
    told
}

/// Is it less than 1 GiB, of which no root file system of a whole distribution is?
fn is_small(size: &str) -> bool {
    size.ends_with(['K', 'M']) || size.parse::<u64>().is_ok_and(|kib| kib < 1 << 20)
}

/// `/dev/root` is what the kernel started from, an image on small machines. All of such a one is used, to the last block, which of a file
/// system that is written keeps some for root.
fn may_be_image(words: &[&str]) -> bool {
    matches!(words, ["/dev/root", all, used, "0", "100%", target] if all == used && *target != "/rom" && is_small(all))
}
