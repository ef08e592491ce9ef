//! `multipath -ll`: each mapping with its paths, as the device mapper tells of them.

use super::{Machine, Text};

/// `mpatha (36006016…) dm-2 DGC,VRAID`, without the brackets where it has no name of its own.
pub(super) fn begins(line: &str) -> bool {
    mapping(line).is_some()
}

/// Its name and the kernel's.
fn mapping(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, kernel, maker) = match words[..] {
        [name, wwid, kernel, maker, ..] if wwid.starts_with('(') && wwid.ends_with(')') => (name, kernel, maker),
        [name, kernel, maker, ..] => (name, kernel, maker),
        _ => return None,
    };
    let number = kernel.strip_prefix("dm-").filter(|number| !number.is_empty())?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    (plain && maker.contains(',') && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((name, kernel))
}

/// `| |- 1:0:0:1 sdb 8:16 active ready running`: device, number, and what the device mapper does with it (multipath(8)). Old versions put
/// the last ones into brackets; of a device that is gone there are signs instead: `#:#:#:# - #:# failed undef unknown`.
fn path(line: &str) -> Option<(String, String, &'static str)> {
    let line = line.replace(['[', ']'], " ");
    let line = line.trim_start_matches(['|', '`', '-', '+', '\\', '_', ' ']);
    let [address, device, number, state, rest @ ..] = &line.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    // The checker finds a path dead before the device mapper does.
    let is_dead = rest.first() == Some(&"faulty");
    let state = [("active", "A"), ("failed", "F")].iter().find(|(word, _)| word == state)?.1;
    let state = if is_dead { "F" } else { state };
    let is_path = address.split(':').count() == 4 && number.split(':').count() == 2;
    is_path.then(|| ((*device).to_owned(), (*number).to_owned(), state))
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let starts: Vec<usize> = (0..text.lines.len()).filter(|at| begins(text.lines[*at])).collect();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.lines.len());
        let Some((name, kernel)) = mapping(text.lines[*start]) else { continue };
        machine.block_file(kernel, "dm/name", name);
        let mut status = format!("{name}: 0 1 multipath 2 0 0 0 1 1 A 0");
        for (device, number, state) in text.lines[*start..end].iter().filter_map(|line| path(line)) {
            status.push_str(&format!(" {number} {state} 0"));
            if device == "-" {
                continue;
            }
            let Some(device) = machine.node_of(&format!("/dev/{device}")) else { continue };
            machine.stands_on(kernel, &device);
            machine.block_file(&device, "dev", number);
        }
        machine.mapping(&format!("{name}: 0 1 multipath 0 0"), Some(&status));
    }
    starts.len()
}
