//! `df`, with `-h`, `-P`, `-T`, `-i` or none of them: as `df -P` would have it.

use terms::inventory::is_image;

use super::{Machine, Text};
use crate::inspect::kernel::EXCERPT;
use crate::inspect::usage;

/// `Filesystem      Size  Used Avail Use% Mounted on`, in whatever language; POSIX (`-P`) says `Capacity`.
pub(super) fn begins(line: &str) -> bool {
    let posix =
        line.starts_with("Filesystem ") && line.contains(" Capacity ") && line.trim_end().ends_with("Mounted on");
    posix || translated(line)
}

/// Whatever the language, no heading has a digit but that of the unit, one has the only percent sign, at its end (`Verw%`), three to five
/// stand before it (those of `-T` too; `Sys. de fichiers` are three words), and one behind it, of one to three words (the catalogues of
/// coreutils).
fn translated(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(share) = share(line) else { return false };
    let is_unit = |word: &&str| ["1K", "1M", "1G", "512", "1024"].iter().any(|unit| word.starts_with(unit));
    let others = words.iter().filter(|word| !is_unit(word));
    !line.starts_with(' ')
        && line.matches('%').count() == 1
        && (4..=8).contains(&share)
        && (1..=3).contains(&words[share + 1..].len())
        && others.clone().all(|word| !word.contains(|c: char| c.is_ascii_digit() || "/=:[]()".contains(c)))
}

/// Rows as they are, without a column for the kind of file system. Images are left out: they are full by nature.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let heading: Vec<&str> = text.lines.first().map_or_else(Vec::new, |line| line.split_whitespace().collect());
    // Each language has another word for it, and only with it the share is the sixth cell.
    let typed = heading.get(1) == Some(&"Type")
        || text.lines.iter().any(|line| line.starts_with("/dev/") && share(line) == Some(5));
    // BusyBox has columns of other names. All languages begin the one of shares with the letter.
    let counts_inodes =
        heading.iter().any(|word| ["IFree", "Inodes"].contains(word) || (word.starts_with('I') && word.ends_with('%')));
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

/// Which cell of a line is a share.
fn share(line: &str) -> Option<usize> {
    line.split_whitespace().position(|word| word.len() > 1 && word.ends_with('%'))
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
