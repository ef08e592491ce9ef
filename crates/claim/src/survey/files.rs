//! Who else uses the files that loop devices are made of: neither a lock nor an exclusive open of the loop device tells.

use std::collections::BTreeMap;
use std::time::Duration;

use host::{Devno, Host};
use terms::Cmd;
use terms::command::quote;

use super::loops::Backing;
use super::mounts::{EROFS, Mount};
use super::processes::{self, LIMIT, process};
use crate::doubt::Doubt;
use crate::file_id::FileId;

/// A file that a table of the machine names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The path as it stands there.
    pub(super) path: String,
    /// Who uses it, in words: `the pool …`.
    pub(super) user: String,
}

/// A use of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileUse {
    /// The file; `None` where the path does not lead to it here.
    pub(crate) file: Option<FileId>,
    /// Who uses it, as the end of a sentence about its path.
    pub(crate) user: String,
    /// A command that shows more.
    pub(crate) hint: String,
}

/// How often a program that only passes by is waited for, and how long each time.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);

/// Uses of the files behind these loop devices: by processes, and by what the tables of the machine name.
pub(super) fn uses(host: &dyn Host, loops: &[Backing], named: Vec<Named>) -> Result<Vec<FileUse>, Doubt> {
    let files: Vec<FileId> = loops.iter().filter(|of| of.devno.is_none()).filter_map(|of| of.file).collect();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut uses = processes::until(host, (TRIES, PAUSE), || opens(host, &files), Vec::is_empty)?;
    let known = known_as(host, &named)?;
    for Named { path, user } in named {
        let file = known.get(&path).copied();
        if file.is_none_or(|file| files.contains(&file)) {
            uses.push(FileUse {
                file,
                user: format!("{user} uses it as `{path}`"),
                hint: format!("stat {}", quote(&path)),
            });
        }
    }
    Ok(uses)
}

/// Images that are mounted without a loop device.
pub(super) fn mounted(mounts: &[Mount]) -> impl Iterator<Item = Named> + '_ {
    let images = mounts.iter().filter(|mount| mount.kind == EROFS);
    images.map(|mount| Named { path: mount.source.clone(), user: format!("the mount at `{}`", mount.point) })
}

/// The device of a file as one number: `stat` before coreutils 9.0 does not tell its two.
fn device_of(text: &str) -> Option<Devno> {
    text.parse::<u64>().ok().map(Devno::from)
}

/// The files that these paths lead to; those that lead nowhere here are not among them. A path may hold any letter but the
/// one that ends it.
fn known_as(host: &dyn Host, named: &[Named]) -> Result<BTreeMap<String, FileId>, Doubt> {
    if named.is_empty() {
        return Ok(BTreeMap::new());
    }
    let stat = ["stat", "--dereference", r"--printf=%d %i %n\0", "--"];
    let argv = stat.into_iter().chain(named.iter().map(|named| named.path.as_str()));
    let said = host.run(&Cmd::new(argv).limit(LIMIT))?.stdout;
    let file = |line: &[u8]| {
        let line = String::from_utf8(line.to_vec()).ok()?;
        let [device, inode, path] = <[&str; 3]>::try_from(line.splitn(3, ' ').collect::<Vec<_>>()).ok()?;
        Some((path.to_owned(), FileId { device: device_of(device)?, inode: inode.parse().ok()? }))
    };
    Ok(said.split(|byte| *byte == 0).filter_map(file).collect())
}

/// Open and mapped files of these numbers, each with its process. The script opens a file of its own, maps the program that
/// runs it, and has to find itself both ways, so that a look which is refused is told from an answer of nobody; the last word
/// tells an answer that was cut short. What was closed meanwhile is in nobody's use.
const LOOK: &str = r#"tool=$(command -v find) && exec 9<"$tool" && own=$(stat -L --format=%i "$tool") || exit 1
shell=$(stat -L --format=%i "/proc/$$/exe") || exit 1
threads=$(for process in /proc/[0-9]*; do
  set -- "$process"/fd/*
  [ -L "$1" ] || echo "$process"/task/[0-9]*/fd
done)
echo "own $$"
find -L /proc/[0-9]*/fd /proc/[0-9]*/map_files $threads -mindepth 1 -maxdepth 1 -type f \
  \( "$@" -o -inum "$own" -o -inum "$shell" \) -exec stat -L --format='open %d %i %n' {} + 2>/dev/null
echo end"#;

/// Processes that have one of these files open.
fn opens(host: &dyn Host, files: &[FileId]) -> Result<Vec<FileUse>, Doubt> {
    let inodes = files.iter().map(|file| format!("-inum {}", file.inode)).collect::<Vec<_>>().join(" -o ");
    let argv = ["sh", "-c", LOOK, "sh"].into_iter().chain(inodes.split(' '));
    let mut uses = Vec::new();
    for (file, process) in open_files(&host.run_ok(&Cmd::new(argv).limit(LIMIT))?.text())? {
        if files.contains(&file) {
            let user = format!("process {process} (`{}`) has it open", processes::program(host, process)?);
            uses.push(FileUse {
                file: Some(file),
                user,
                hint: format!("ls -l /proc/{process}/fd /proc/{process}/map_files"),
            });
        }
    }
    Ok(uses)
}

/// `own 12`, then `open 8:1 1234 /proc/12/fd/3`, a line for each.
fn open_files(text: &str) -> Result<Vec<(FileId, u32)>, Doubt> {
    let cut_short = || Doubt::words("the look into them was cut short");
    let text = text.strip_suffix("end").ok_or_else(cut_short)?;
    let (own, lines) = text.strip_prefix("own ").and_then(|text| text.split_once('\n')).ok_or_else(cut_short)?;
    let mut found = Vec::new();
    let (mut open_itself, mut mapped_itself) = (false, false);
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let open = match words.as_slice() {
            ["open", device, inode, path] => device_of(device).zip(inode.parse().ok()).zip(process(path)),
            _ => None,
        };
        let Some(((device, inode), process)) = open else { return Err(processes::not_understood(line)) };
        let path = words.last().copied().unwrap_or_default();
        open_itself |= path == format!("/proc/{own}/fd/9");
        mapped_itself |= path.starts_with(&format!("/proc/{own}/map_files/"));
        let open = (FileId { device, inode }, process);
        if !found.contains(&open) {
            found.push(open);
        }
    }
    match (open_itself, mapped_itself) {
        (true, true) => Ok(found),
        (true, false) => {
            Err(Doubt::words("the look into those that are mapped does not find its own (CAP_CHECKPOINT_RESTORE)"))
        }
        (false, _) => Err(Doubt::words("the look into them does not find its own file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_a_file_open_is_listed_once_and_what_is_not_understood_is_a_doubt() {
        let own = "own 9\nopen 2049 5 /proc/9/fd/9\nopen 2049 6 /proc/9/map_files/1-2\n";
        let text = "open 2049 77 /proc/12/fd/3\nopen 2049 77 /proc/12/map_files/7f-80\n\
                    open 2049 78 /proc/7/task/8/fd/0\nend";
        let opens = open_files(&format!("{own}{text}")).unwrap();
        let numbers: Vec<_> = opens.iter().map(|(file, process)| (*process, file.inode)).collect();
        assert_eq!(numbers, [(9, 5), (9, 6), (12, 77), (7, 78)]);
        assert_eq!(opens[0].0.device, Devno { major: 8, minor: 1 });
        for text in [
            "open 2049 77 /proc/12/fd/3",
            "open 2049 /proc/12/fd/3\nend",
            "open ?d:?d 77 /proc/12/fd/3\nend",
            "open 2049 77 /etc/x\nend",
        ] {
            assert!(open_files(&format!("{own}{text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn a_look_that_does_not_find_itself_is_a_doubt() {
        const OPEN_ONLY: &str = "own 9\nopen 2049 5 /proc/9/fd/9\nend";
        for text in [
            "",
            "end",
            "own 9\nend",
            "own 9\nopen 2049 5 /proc/8/fd/9\nend",
            "open 2049 5 /proc/9/fd/9\nend",
            OPEN_ONLY,
        ] {
            assert!(open_files(text).is_err(), "{text}");
        }
    }
}
