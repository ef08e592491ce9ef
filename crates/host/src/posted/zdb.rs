//! `zdb` of a pool: its configuration, as it is on its devices or in the cache of the machine.

use super::zpool::{STATUS, is_name, put_imported};
use super::{Machine, Text};

/// `MOS Configuration:`, which `zdb -C POOL` begins with, or the first line of a pool among those that `zdb` alone prints.
pub(super) fn begins(line: &str) -> bool {
    let cached = line.strip_prefix("    version: ");
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    line.trim() == "MOS Configuration:" || cached.is_some_and(|version| is_number(version.trim_end()))
}

/// The configuration as it is: whoever reads it takes what it finds, and what is cut is not found.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let name = text.lines.iter().find_map(|line| value(line, "name"));
    let Some(name) = name.filter(|name| is_name(name)) else {
        machine.refused.push("it does not tell the pool's name".to_owned());
        return 0;
    };
    machine.run(format!("{CONFIGURATION}{name}"), text.lines.join("\n") + "\n");
    1
}

const CONFIGURATION: &str = "zdb -C ";

fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    Some(line.trim().strip_prefix(key)?.strip_prefix(": ")?.trim_matches('\''))
}

/// A virtual device of a configuration, and its place in it.
#[derive(Default)]
struct Device<'t> {
    indent: usize,
    number: &'t str,
    kind: &'t str,
    parity: &'t str,
    path: Option<&'t str>,
    class: Option<&'static str>,
}

impl Device<'_> {
    /// As `zpool status -P` calls it (`zpool_vdev_name` in OpenZFS's `lib/libzfs/libzfs_pool.c`).
    fn name(&self) -> Option<String> {
        match self.kind {
            "disk" | "file" => self.path.map(ToOwned::to_owned),
            "raidz" => Some(format!("raidz{}-{}", self.parity, self.number)),
            "mirror" | "replacing" | "spare" => Some(format!("{}-{}", self.kind, self.number)),
            _ => None,
        }
    }
}

fn devices<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<Device<'t>> {
    let mut all: Vec<Device> = Vec::new();
    for line in lines {
        if let Some(rest) = line.trim().strip_prefix("children[") {
            let (indent, number) = (line.len() - line.trim_start().len(), rest.split(']').next().unwrap_or_default());
            all.push(Device { indent, number, ..Device::default() });
        }
        let Some(last) = all.last_mut() else { continue };
        match line.trim().split_once(": ") {
            Some(("type", kind)) => last.kind = kind.trim_matches('\''),
            Some(("nparity", parity)) => last.parity = parity,
            Some(("path", path)) => last.path = last.path.or(Some(path.trim_matches('\''))),
            Some(("is_log", "1")) => last.class = Some("logs"),
            Some(("alloc_bias", "'special'")) => last.class = Some("special"),
            Some(("alloc_bias", "'dedup'")) => last.class = Some("dedup"),
            _ => {}
        }
    }
    all
}

/// Pools of which nothing but their configuration was posted: which devices they have. How these are is not told.
pub(super) fn put_all(machine: &mut Machine) {
    let own = machine.runs.iter().filter_map(|(line, text)| Some((line.strip_prefix(CONFIGURATION)?, text)));
    let unknown = own.filter(|(name, _)| !machine.pool_states.contains_key(*name));
    let trees: Vec<(String, String)> =
        unknown.filter_map(|(name, text)| Some((name.to_owned(), tree(name, text)?))).collect();
    for (name, tree) in trees {
        put_imported(&name, machine);
        machine.run_if_untold(format!("{STATUS}{name}"), || tree);
    }
}

/// The list of devices as a status has it, without their states; nothing where one of them is of no known kind.
fn tree(name: &str, text: &str) -> Option<String> {
    let all = devices(text.lines());
    let top = all.iter().map(|device| device.indent).min()?;
    let step = all.iter().map(|device| device.indent - top).filter(|more| *more > 0).min().unwrap_or(1);
    let mut rows = vec![(None, 0, name.to_owned())];
    let mut class = None;
    for device in &all {
        let depth = (device.indent - top) / step;
        class = if depth == 0 { device.class } else { class };
        rows.push((class, depth + 1, device.name()?));
    }
    let mut said = "config:\n\n\tNAME\n".to_owned();
    for own in [None, Some("special"), Some("dedup"), Some("logs")] {
        let of_class: Vec<_> = rows.iter().filter(|(class, _, _)| *class == own).collect();
        if let Some(heading) = own.filter(|_| !of_class.is_empty()) {
            said.push_str(&format!("\t{heading}\n"));
        }
        said.extend(of_class.iter().map(|(_, depth, name)| format!("\t{}{name}\n", "  ".repeat(*depth))));
    }
    Some(said + "\nerrors:\n")
}
