//! `edac-util -v`, `ras-mc-ctl --error-count`, and files of EDAC as `grep .` prints them: what memory controllers count. Each that is not 0
//! becomes a line among messages, as the kernel words it.

use super::dmesg::push;
use super::{Machine, Text};

/// `mc0: csrow0: CPU#0Channel#1_DIMM#0: 2817 Corrected Errors`, `/sys/devices/system/edac/mc/mc0/ce_count:0`, or the heading of
/// `ras-mc-ctl`.
pub(super) fn begins(line: &str) -> bool {
    of_util(line).is_some() || of_file(line).is_some() || is_heading(line)
}

struct Counted<'t> {
    count: u64,
    kind: &'static str,
    /// Of which module, or of which controller.
    of: &'t str,
}

/// How `edac-util` calls the two kinds.
const KINDS: [(&str, &str); 2] = [(" Corrected Errors", "CE"), (" Uncorrected Errors", "UE")];

fn of_util(line: &str) -> Option<Counted<'_>> {
    let (of, said) = line.trim().strip_suffix(" with no DIMM info").unwrap_or(line.trim()).rsplit_once(": ")?;
    let (count, kind) = KINDS.iter().find_map(|(own, kind)| Some((said.strip_suffix(own)?, *kind)))?;
    of.starts_with("mc").then_some(Counted { count: count.parse().ok()?, kind, of })
}

/// Of a whole controller: those below it tell the same of its parts.
fn of_file(line: &str) -> Option<Counted<'_>> {
    let (path, count) = line.trim().strip_prefix("/sys/devices/system/edac/mc/")?.split_once(':')?;
    let (of, file) = path.split_once('/')?;
    let kind = [("ce_count", "CE"), ("ue_count", "UE")].iter().find(|(own, _)| *own == file)?.1;
    Some(Counted { count: count.trim().parse().ok()?, kind, of })
}

fn is_heading(line: &str) -> bool {
    line.split_whitespace().eq(["Label", "CE", "UE"])
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let mut in_table = false;
    let mut told = 0;
    for line in &text.lines {
        in_table |= is_heading(line);
        // `mc#0csrow#3channel#0	0	0`: a label may have blanks.
        let row = || -> Option<[Counted; 2]> {
            let (rest, uncorrected) = line.trim().rsplit_once(char::is_whitespace).filter(|_| in_table)?;
            let (of, corrected) = rest.trim().rsplit_once(char::is_whitespace)?;
            let of = of.trim();
            let counted = |count: &str, kind| Some(Counted { count: count.parse().ok()?, kind, of });
            Some([counted(corrected, "CE")?, counted(uncorrected, "UE")?])
        };
        let counts: Vec<Counted> = match of_util(line).or_else(|| of_file(line)) {
            Some(counted) => vec![counted],
            None => row().into_iter().flatten().collect(),
        };
        told += counts.len();
        for Counted { count, kind, of } in counts.iter().filter(|counted| counted.count > 0) {
            push(&format!("edac-util: EDAC MC: {count} {kind} on {of}"), machine);
        }
    }
    told
}
