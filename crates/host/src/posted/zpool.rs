//! `zpool status`: one paragraph for each pool, from `pool:` on.

use super::{Machine, Text};
use crate::inspect::{CLASSES, UNTOLD};

/// `  pool: tank`, or the heading of its devices where what is above was left away.
pub(super) fn begins(line: &str) -> bool {
    is_pool(line) || is_heading(line) || is_status(line)
}

/// `status: One or more devices …`, where the name was left away above it.
fn is_status(line: &str) -> bool {
    let said = line.trim_start().strip_prefix("status: ");
    said.is_some_and(|said| STATUSES.iter().any(|start| said.starts_with(start)))
}

/// How what a status says begins (`print_status_reason` in OpenZFS's `cmd/zpool/zpool_main.c`).
const STATUSES: [&str; 5] =
    ["One or more devices", "An intent log record", "Some supported", "Mismatch between pool", "The pool "];

/// The lines with the pool's name and state above them where these were left away: the first row below the heading is the pool itself.
fn with_head(lines: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let Some(heading) = lines.iter().position(|line| is_heading(line)) else { return all };
    let above = &lines[..heading];
    let row = lines[heading + 1..].iter().find(|line| !line.trim().is_empty()).map(|row| row.split_whitespace());
    let Some((name, state)) = row.and_then(|mut words| Some((words.next()?, words.next()?))) else { return all };
    if above.iter().any(|line| is_pool(line)) || !is_name(name) {
        return all;
    }
    let has = |key: &str| above.iter().any(|line| line.trim_start().starts_with(key));
    if !has("config:") {
        all.insert(heading, "config:".to_owned());
    }
    if !has("state: ") {
        all.insert(0, format!(" state: {state}"));
    }
    all.insert(0, format!("  pool: {name}"));
    all
}

fn is_heading(line: &str) -> bool {
    line.split_whitespace().eq(["NAME", "STATE", "READ", "WRITE", "CKSUM"])
}

pub(super) fn is_pool(line: &str) -> bool {
    line.trim_start().strip_prefix("pool: ").is_some_and(|name| is_name(name.trim()))
}

/// What names of pools are made of (zpoolconcepts(7)).
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
}

/// Each pool with its state, and its paragraph as it is.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let lines = with_head(&text.lines);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let lines = &lines;
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_pool(lines[*at])).collect();
    let mut told = 0;
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let paragraph = &lines[*start..end];
        let value = |key: &str| {
            let mut lines = paragraph.iter().filter_map(|line| line.trim_start().strip_prefix(key)?.strip_prefix(": "));
            lines.next().map(str::trim)
        };
        let (Some(name), Some(state)) = (value("pool"), value("state").filter(|state| is_state(state))) else {
            machine.refused.push(format!("`{}`: it tells no state", lines[*start].trim()));
            continue;
        };
        // `zpool import` lists pools that are not imported, and has their numbers.
        let is_imported = value("id").is_none();
        if !is_imported && state == "ONLINE" {
            machine.refused.push(format!("pool `{name}` is not imported, and `zpool import` only lists it"));
            continue;
        }
        // Of a pool that cannot be opened, or was not, no errors are known, so that no line of them ends the list of its devices
        // (`status_callback` and `show_import` in OpenZFS's `cmd/zpool/zpool_main.c`).
        if value("errors").is_none() && (is_gone(state) || !is_imported) {
            put(name, state, machine);
            // Why is told above the list.
            let head = paragraph.iter().take_while(|line| line.trim() != "config:");
            let head: String = head.map(|line| format!("{line}\n")).collect();
            // Of one that can be, what is advised for its devices would want it imported.
            let list = if is_imported || !is_gone(state) { String::new() } else { list_of_import(paragraph) };
            machine.run_if_untold(format!("{STATUS}{name}"), || head + &list);
            told += 1;
            continue;
        }
        // Without its end a list of devices may be cut, and what is missing would look as if it were not there.
        if value("errors").is_none() || !paragraph.iter().any(|line| line.trim() == "config:") {
            machine
                .refused
                .push(format!("pool `{name}`: it is cut before `errors:`, so that its devices are not known"));
            // What its state tells against it stands above the cut.
            if state != "ONLINE" {
                put(name, state, machine);
                told += 1;
            }
            continue;
        }
        put(name, state, machine);
        match config_with_tabs(paragraph, text.command.is_some_and(resolves)) {
            Ok(text) => machine.run(format!("{STATUS}{name}"), text),
            Err(why) => machine.refused.push(format!("pool `{name}`: {why}")),
        }
        told += 1;
    }
    told
}

/// There is a pool. Where another text has another state of it, its state is not known.
pub(super) fn put(name: &str, state: &str, machine: &mut Machine) {
    machine.cite_program("zpool");
    let next = machine.pool_states.len();
    let (number, known) = machine.pool_states.get(name).cloned().unwrap_or((next, UNTOLD.to_owned()));
    let known = Some(known).filter(|known| known != UNTOLD);
    let what = doubt(name);
    let state = if state == UNTOLD { known.as_deref().unwrap_or(UNTOLD) } else { state };
    let is_doubtful = machine.contradicts(&what, |_| known.clone(), state) || machine.contradicted.contains(&what);
    let state = if is_doubtful { UNTOLD } else { state }.to_owned();
    machine.pool_states.insert(name.to_owned(), (number, state));
}

/// How a pool is called where its state is in doubt.
fn doubt(name: &str) -> String {
    format!("pool {name}")
}

/// The list of pools, in the order in which texts told of them.
pub(super) fn put_all(machine: &mut Machine) {
    let mut pools: Vec<(String, (usize, String))> = std::mem::take(&mut machine.pool_states).into_iter().collect();
    if pools.is_empty() {
        return;
    }
    pools.sort_by_key(|(_, (number, _))| *number);
    // Devices of a pool whose state is in doubt are those of one time, and nobody knows of which.
    for (name, _) in pools.iter().filter(|(name, _)| machine.contradicted.contains(&doubt(name))) {
        machine.runs.remove(&format!("{STATUS}{name}"));
    }
    machine.directories.entry("/sys/module/zfs".to_owned()).or_default();
    let rows = pools.iter().map(|(name, (_, state))| format!("{name}\t{state}\n"));
    machine.runs.insert(LIST.to_owned(), rows.collect());
}

/// A pool is imported, and its state is not told.
pub(super) fn put_imported(name: &str, machine: &mut Machine) {
    put(name, UNTOLD, machine);
}

const LIST: &str = "zpool list -H -o name,health";
/// Before the pool's name.
pub(super) const STATUS: &str = "zpool status -P ";

/// States of a pool (zpoolconcepts(7)).
pub(super) fn is_state(state: &str) -> bool {
    ["ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "REMOVED", "UNAVAIL", "SUSPENDED"].contains(&state)
}

/// Can a pool in a state not be opened?
fn is_gone(state: &str) -> bool {
    ["UNAVAIL", "FAULTED"].contains(&state)
}

/// Does a command show where links lead, and not the paths that the pool keeps (zpool-status(8), `-L`)?
fn resolves(command: &str) -> bool {
    command.split_whitespace().any(|word| word.starts_with('-') && word.contains('L'))
}

/// Posts lose the tab that begins each line of the list, or have blanks for it: the indent of its heading goes. Where all blanks are
/// lost and devices form groups, nothing tells where a group ends, and there is no text.
fn config_with_tabs(paragraph: &[&str], resolved: bool) -> Result<String, &'static str> {
    let mut out = String::new();
    let mut list = List::default();
    let mut inside = false;
    for line in paragraph {
        let word = line.trim();
        if word == "config:" {
            inside = true;
        } else if word.starts_with("errors:") {
            inside = false;
            out.push_str(&list.told()?);
        } else if inside && !word.is_empty() {
            if !is_row(word) {
                return Err("a name in the list of its devices has a blank, or begins like an option");
            }
            let row = if resolved { word.strip_prefix("/dev/").unwrap_or(word) } else { word };
            list.rows.push((line.len() - line.trim_start().len(), row.to_owned()));
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    Ok(out)
}

/// The list of devices of a pool that `zpool import` found, with the heading that it has in `zpool status` only. It ends at the first line that is
/// no row of it (`print_import_config` and `show_import` in OpenZFS's `cmd/zpool/zpool_main.c`). Where its blanks are lost there is none.
fn list_of_import(paragraph: &[&str]) -> String {
    let behind = paragraph.iter().skip_while(|line| line.trim() != "config:").skip(1);
    let is_of_list = |line: &&&str| {
        let mut words = line.split_whitespace();
        let (Some(name), state) = (words.next(), words.next()) else { return false };
        state.map_or_else(|| CLASSES.iter().any(|(heading, _)| *heading == name), is_state)
    };
    let rows = behind.skip_while(|line| line.trim().is_empty()).take_while(is_of_list);
    let rows = rows.map(|line| (line.len() - line.trim_start().len(), line.trim().to_owned()));
    let mut list = List { rows: rows.collect() };
    let Some((own, _)) = list.rows.first() else { return String::new() };
    list.rows.insert(0, (*own, "NAME STATE READ WRITE CKSUM".to_owned()));
    list.told().map_or_else(|_| String::new(), |rows| format!("config:\n{rows}"))
}

/// A name, and behind it a state in capitals, unless it is a heading. A name with a blank would be cut at it.
fn is_row(line: &str) -> bool {
    let state = line.split_whitespace().nth(1);
    !line.starts_with('-')
        && state.is_none_or(|state| state.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

/// The list of devices: how far each row is indented, and the row.
#[derive(Default)]
struct List {
    rows: Vec<(usize, String)>,
}

/// How names of groups begin (zpoolconcepts(7)).
const GROUPS: [&str; 5] = ["mirror", "raidz", "draid", "replacing-", "spare-"];

impl List {
    /// It as the program prints it.
    fn told(&self) -> Result<String, &'static str> {
        let own = self.rows.first().map_or(0, |(blanks, _)| *blanks);
        let is_flat = self.rows.len() > 2 && self.rows.iter().all(|(blanks, _)| *blanks == own);
        let has_groups = self.rows.iter().any(|(_, row)| GROUPS.iter().any(|group| row.starts_with(group)));
        if is_flat && has_groups {
            return Err("the blanks before its devices are lost, and without them nobody knows which belong together");
        }
        let depth = |at: usize, blanks: usize, row: &str| match (is_flat, at) {
            (false, _) => blanks.saturating_sub(own),
            (true, 0 | 1) => 0,
            (true, _) if CLASSES.iter().any(|(heading, _)| *heading == row) => 0,
            (true, _) => 2,
        };
        let rows = self.rows.iter().enumerate();
        Ok(rows.map(|(at, (blanks, row))| format!("\t{}{row}\n", " ".repeat(depth(at, *blanks, row)))).collect())
    }
}
