//! `arcconf GETCONFIG`: volumes, drives and the battery of a RAID controller of Adaptec. Each that is not in order is told of as `storcli` words
//! those of others.

use super::dmesg::push_of_controller;
use super::{Machine, Text};

const PROGRAM: &str = "arcconf";

/// `Controllers found: 1`, or what one of its parts begins with.
pub(super) fn begins(line: &str) -> bool {
    // Programs of other controllers have headings with other letters.
    let heads = ["Logical device information", "Physical Device information"];
    line.strip_prefix("Controllers found: ").is_some_and(is_number)
        || heads.contains(&line.trim_end())
        || numbered(line, "logical device number ").is_some()
}

fn is_number(text: &str) -> bool {
    !text.trim().is_empty() && text.trim().bytes().all(|byte| byte.is_ascii_digit())
}

fn numbered<'t>(line: &'t str, head: &str) -> Option<&'t str> {
    let own = line.trim();
    let number =
        own.get(head.len()..).filter(|_| own.get(..head.len()).is_some_and(|own| own.eq_ignore_ascii_case(head)))?;
    is_number(number).then_some(number)
}

/// How states begin, of what, and how `storcli` calls those of which something is told (Adaptec RAID Controller Command Line Utility User's
/// Guide, “getconfig”). A volume that survived a loss and could survive another is suboptimal.
const STATES: [(&str, &str, &str); 8] = [
    ("volume", "Degraded", "Dgrd"),
    ("volume", "Suboptimal", "Pdgd"),
    ("volume", "Failed", "Failed"),
    ("volume", "Offline", "OfLn"),
    ("drive", "Failed", "Failed"),
    ("drive", "Missing", "Msng"),
    ("drive", "Rebuilding", "Rbld"),
    ("cache", "Failed", "Failed"),
];

/// What lines are of.
enum Of {
    Other,
    Volume(String),
    Drive(String),
    Battery,
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    // `arcconf GETCONFIG 1 AL`; it counts controllers from 1.
    let mut typed = text.command.into_iter().flat_map(str::split_whitespace);
    let controller = typed.find(|word| is_number(word)).unwrap_or("1");
    let (mut of, mut told) = (Of::Other, 0);
    for line in &text.lines {
        if let Some(number) = numbered(line, "logical device number ") {
            of = Of::Volume(format!("/c{controller}/v{number}"));
            told += 1;
            continue;
        }
        if let Some(number) = numbered(line, "device #") {
            of = Of::Drive(format!("/c{controller}/s{number}"));
            told += 1;
            continue;
        }
        let Some((key, value)) = line.split_once(" : ").map(|(key, value)| (key.trim(), value.trim())) else {
            let heading = line.trim();
            if heading.ends_with("nformation") {
                of = if heading.contains("Battery") { Of::Battery } else { of };
            }
            continue;
        };
        let (kind, name) = match &of {
            Of::Volume(name) if key.eq_ignore_ascii_case("status of logical device") => ("volume", name.clone()),
            Of::Drive(name) if key == "State" => ("drive", name.clone()),
            Of::Battery if key == "Status" => ("cache", format!("/c{controller}")),
            _ => continue,
        };
        let found = STATES.iter().find(|(own, state, _)| *own == kind && value.starts_with(state));
        if let Some((_, _, state)) = found {
            push_of_controller(PROGRAM, &format!("{kind} {name} is {state}"), machine);
        }
    }
    told
}
