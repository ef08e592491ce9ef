//! `zpool list`, also with `-v`: a table whose lines without an indent are pools.

use super::machine::POOL;
use super::{Machine, Text, zpool};

/// `NAME   SIZE  ALLOC   FREE  …  CAP  DEDUP  HEALTH  ALTROOT`.
pub(super) fn begins(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first() == Some(&"NAME") && ["SIZE", "ALLOC", "FREE", "CAP", "HEALTH"].iter().all(|word| words.contains(word))
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let [heading, rows @ ..] = &text.lines[..] else { return 0 };
    let names: Vec<&str> = heading.split_whitespace().collect();
    let mut told = 0;
    // Lines of virtual devices are indented, in old versions those of classes are not and have no number of columns.
    for row in rows.iter().filter(|row| !row.starts_with([' ', '\t']) && !row.trim().is_empty()) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let cell = |name: &str| Some(*cells.get(names.iter().position(|known| *known == name)?)?);
        // With `-p` it has no sign.
        let share = |name: &str| cell(name)?.trim_end_matches('%').parse::<u8>().ok().filter(|share| *share <= 100);
        let state = cell("HEALTH").filter(|state| zpool::is_state(state));
        let (Some(name), Some(state), Some(used)) =
            (cell("NAME").filter(|name| zpool::is_name(name)), state, share("CAP"))
        else {
            if cells.len() == names.len() && cells[1..].iter().any(|cell| *cell != "-") {
                machine.refused.push("a line does not fit under the headings".to_owned());
            }
            continue;
        };
        zpool::put(name, state, machine);
        let broken = share("FRAG").map_or_else(String::new, |share| format!("fragmentation\t{share}\n"));
        machine.run(format!("{POOL} {name}"), format!("capacity\t{used}\n{broken}"));
        told += 1;
    }
    told
}
