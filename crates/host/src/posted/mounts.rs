//! `mount`, `/proc/mounts` and `findmnt`: lines of the kernel's list of mounts.

use std::borrow::Cow;

use super::{Machine, Text};

/// `/dev/sda2 on / type ext4 (rw,relatime)`, `/dev/sda2 / ext4 rw,relatime 0 0`, or the heading of `findmnt`.
pub(super) fn begins(line: &str) -> bool {
    mounted(line).is_some() || mounted(&squeezed(line)).is_some() || is_heading(line)
}

/// `column -t` puts more than one blank between words.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `TARGET SOURCE FSTYPE OPTIONS`, which `findmnt` prints in this order where nobody asks for another.
fn is_heading(line: &str) -> bool {
    line.split_whitespace().eq(["TARGET", "SOURCE", "FSTYPE", "OPTIONS"])
}

/// The sign of signs comes last.
const SIGNS: [(&str, &str); 4] = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];

struct Mounted<'t> {
    source: &'t str,
    target: Cow<'t, str>,
    kind: &'t str,
    options: &'t str,
}

/// Only of devices: what else is mounted says nothing of storage.
fn mounted(line: &str) -> Option<Mounted<'_>> {
    let line = line.trim();
    let found = match line.split_once(" on ") {
        Some((source, rest)) => {
            let (target, rest) = rest.rsplit_once(" type ")?;
            let (kind, options) = rest.split_once(" (")?;
            Mounted { source, target: target.into(), kind, options: options.split_once(')')?.0 }
        }
        None => {
            let [source, target, kind, options, "0", "0"] = line.split(' ').collect::<Vec<_>>()[..] else {
                return None;
            };
            // As the kernel writes it: blanks and what would look like its signs by their numbers (`mangle_path` in its `fs/seq_file.c`).
            let plain = |text: String, (sign, character): &(&str, &str)| text.replace(sign, character);
            let target = SIGNS.iter().fold(target.to_owned(), plain).into();
            Mounted { source, target, kind, options }
        }
    };
    found.is_whole().then_some(found)
}

/// A row of `findmnt`, which draws a tree before the target.
fn row(line: &str) -> Option<Mounted<'_>> {
    let [target, source, kind, options] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let target = target.trim_start_matches(|c: char| !c.is_ascii());
    // `/dev/sda2[/@home]` is a part of it.
    let source = source.split('[').next()?;
    let found = Mounted { source, target: target.trim_start_matches(['|', '`', '-']).into(), kind, options };
    found.is_whole().then_some(found)
}

impl Mounted<'_> {
    fn is_whole(&self) -> bool {
        let word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        let set = self.options.split(',').next();
        self.source.starts_with("/dev/")
            && [self.source, self.kind, self.options].iter().all(|text| word(text))
            && self.target.starts_with('/')
            && matches!(set, Some("rw" | "ro"))
    }
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let has_heading = text.lines.first().is_some_and(|line| is_heading(line));
    let mut told = 0;
    for line in &text.lines {
        let squeezed = squeezed(line);
        let found = if has_heading { row(line) } else { mounted(line).or_else(|| mounted(&squeezed)) };
        let Some(Mounted { source, target, kind, options }) = found else { continue };
        // This enters the device that the path names. What another path leads to (`/dev/disk/by-uuid/…`) is not told; the mount is
        // there all the same.
        let _ = machine.node_of(source);
        machine.mount(source, &target, kind, options);
        told += 1;
    }
    told
}
