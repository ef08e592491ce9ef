//! Where one text ends and the next begins, and which command printed it.

use super::text::Text;
use super::{TextKind, btrfs_scrub, fdisk, files, fstab, hdparm, id_ctrl, mdadm, smart_attribute, zpool};

/// Programs whose command lines people leave in what they post.
const PROGRAMS: [&str; 63] = [
    "sysctl",
    "ip",
    "ethtool",
    "xfs_repair",
    "e2fsck",
    "fsck",
    "systemctl",
    "arcconf",
    "swapon",
    "wipefs",
    "edac-util",
    "ras-mc-ctl",
    "ssacli",
    "hpssacli",
    "hpacucli",
    "sas2ircu",
    "sas3ircu",
    "iostat",
    "storcli2",
    "perccli2",
    "MegaCli",
    "MegaCli64",
    "megacli",
    "storcli",
    "storcli64",
    "perccli",
    "perccli64",
    "hdparm",
    "tune2fs",
    "dumpe2fs",
    "xfs_info",
    "lvdisplay",
    "vgdisplay",
    "udevadm",
    "integritysetup",
    "lspci",
    "lsblk",
    "smartctl",
    "nvme",
    "mdadm",
    "zpool",
    "zfs",
    "zdb",
    "cat",
    "cryptsetup",
    "dmesg",
    "grep",
    "df",
    "journalctl",
    "blkid",
    "fdisk",
    "gdisk",
    "sgdisk",
    "sfdisk",
    "parted",
    "btrfs",
    "lvs",
    "vgs",
    "pvs",
    "mount",
    "findmnt",
    "multipath",
    "dmsetup",
];

/// Words that follow such a program where no option does.
const VERBS: [&str; 24] = [
    "ctrl",
    "controller",
    "0",
    "1",
    "show",
    "scrub",
    "balance",
    "info",
    "dump",
    "list",
    "status",
    "id-ns",
    "id-ctrl",
    "smart-log",
    "luksDump",
    "get",
    "get-feature",
    "filesystem",
    "fi",
    "f",
    "device",
    "dev",
    "d",
    "table",
];

/// Comments in `/etc/fstab` that look like commands of root (partman-target's `finish.d/create_fstab_header`, `fstab.d/basic`).
const COMMENTS: [&str; 2] = ["/etc/fstab: static", " was on /dev/"];

/// The command on a line that begins with a prompt, or that is one without.
pub(super) fn command(line: &str) -> Option<&str> {
    let line = line.trim();
    for sign in ["$ ", "# "] {
        let Some((who, rest)) = line.split_once(sign) else { continue };
        let rest = rest.trim_start();
        if COMMENTS.iter().any(|comment| rest.contains(comment)) {
            return None;
        }
        // `  # open                 0` is a line of `lvdisplay`.
        if who.is_empty() && rest.starts_with("open  ") {
            return None;
        }
        let is_who = !who.contains(' ') || who.contains('@');
        // `# 1  Extended offline` and `ID# ATTRIBUTE_NAME` are lines of tables.
        let is_program = rest.split_whitespace().next().is_some_and(|program| PROGRAMS.contains(&program));
        if is_who && (is_program || rest.starts_with(|c: char| c.is_ascii_lowercase() || "/.~".contains(c))) {
            return Some(rest.trim());
        }
    }
    let bare = line.strip_prefix("sudo ").unwrap_or(line);
    let mut words = bare.split_whitespace();
    let is_program = words.next().is_some_and(|program| PROGRAMS.contains(&program));
    let goes_on = words.next().is_none_or(|word| word.starts_with(['-', '/']) || VERBS.contains(&word));
    (is_program && goes_on).then_some(bare)
}

/// The machine that a prompt names: `root@nas1:~# …`, `[root@nas1 ~]$ …`.
fn host(line: &str) -> Option<&str> {
    let (who, _) = line.trim().split_once(['$', '#']).filter(|_| command(line).is_some())?;
    let (user, rest) = who.split_once('@')?;
    let host = rest.split([':', ' ', ']', '[', '/', '~']).next()?;
    let is_plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    (is_plain(user.trim_start_matches('[')) && is_plain(host)).then_some(host)
}

/// Lines that only stand at the end of a text, so that they are whole also where the file ends in them.
const LAST: [&str; 4] = ["errors: No known data errors", "unused devices: <none>", "}", "```"];

/// What some programs print before all else, and others inside.
const HEADS: [&str; 2] = ["UUID: ", "WARNING: "];

/// Is it empty, or such a line?
pub(super) fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || HEADS.iter().any(|start| line.starts_with(start))
}

/// Parts of a file.
pub(super) fn texts(file: &str) -> Vec<Text<'_>> {
    let mut all: Vec<Text> = Vec::new();
    let mut command_before = None;
    let mut skip_to = 0;
    let mut offset = 0;
    let mut hosts: Vec<(usize, &str)> = Vec::new();
    for (at, raw) in file.split_inclusive('\n').enumerate() {
        let (start, line) = (offset, raw.trim_end_matches(['\n', '\r']));
        offset += raw.len();
        if start < skip_to {
            continue;
        }
        let fresh = |kind| Text { kind, line: at + 1, ..Text::default() };
        hosts.extend(host(line).map(|host| (at, host)));
        if let Some(typed) = command(line) {
            command_before = Some(typed);
            all.push(fresh(None));
            continue;
        }
        if line.trim_start().starts_with("```") {
            all.push(fresh(None));
            continue;
        }
        // Programs of LVM indent theirs.
        let is_indented = line.trim() == "{"
            && command_before.is_some_and(|typed: &str| typed.split_whitespace().any(|word| word == "json"));
        if line.starts_with('{') || is_indented {
            let length = document(&file[start..]);
            let text = file.get(start..start + length.unwrap_or(raw.len())).unwrap_or_default();
            let cut = length.is_none();
            all.push(Text { lines: vec![text], command: command_before.take(), cut, ..fresh(Some(TextKind::Json)) });
            skip_to = start + length.unwrap_or_else(|| cut_document(&file[start..]));
            // What follows is of another text.
            all.push(fresh(None));
            continue;
        }
        let open = all.last().and_then(|text| text.kind);
        // A row of `/etc/fstab` may look like one of `/proc/mounts`.
        let of_fstab =
            open == Some(TextKind::Fstab) || command_before.is_some_and(|typed: &str| typed.contains("fstab"));
        let is_shown = open.is_none() && command_before.is_some_and(|typed| files::shown(typed).is_some());
        let kind = match TextKind::of(line) {
            Some(TextKind::Mounts) if of_fstab => Some(TextKind::Fstab),
            Some(TextKind::Zpool) if all.last().is_some_and(Text::wants_pool) => None,
            Some(TextKind::Zpool) if open == Some(TextKind::ZedMail) && !zpool::is_pool(line) => None,
            None if is_shown && !line.trim().is_empty() => Some(TextKind::Files),
            None | Some(TextKind::Scan)
                if open == Some(TextKind::MdadmConf)
                    || command_before.is_some_and(|typed| fstab::is_of_mdadm(typed, line)) =>
            {
                Some(TextKind::MdadmConf)
            }
            None if open.is_none() => match command_before {
                Some(typed) if typed.contains("smartctl") && smart_attribute::is_part(line) => Some(TextKind::Smartctl),
                Some(typed) if typed.contains("id-ctrl") && id_ctrl::is_part(line) => Some(TextKind::IdCtrl),
                _ if mdadm::begins_nameless(line) => Some(TextKind::Mdadm),
                _ => None,
            },
            kind => kind,
        };
        // `smartctl` begins with its version, and with a heading where somebody left that away.
        let is_heading = line.starts_with("===") && all.last().is_some_and(|text| text.lines.len() < 4);
        let is_inside = open == Some(TextKind::Smartctl) && smart_attribute::is_inside(line);
        let is_same = is_heading || is_inside || all.last().is_some_and(|text| fdisk::goes_on(&text.lines, line));
        if all.is_empty() || kind.is_some_and(|kind| open != Some(kind) || (kind.stands_alone() && !is_same)) {
            let of_scrub = all.last_mut().filter(|_| kind == Some(TextKind::BtrfsScrub));
            let head = of_scrub.and_then(|text| uuid_before(&mut text.lines));
            let command = kind.and_then(|_| command_before.take());
            all.push(Text { command, lines: head.into_iter().collect(), ..fresh(kind) });
        } else if open.is_some_and(|open| open.ends(line)) {
            all.push(fresh(None));
        }
        if !raw.ends_with('\n') && !LAST.contains(&line.trim()) && all.last().is_some_and(|text| text.kind.is_some()) {
            all.last_mut().into_iter().for_each(|text| text.cut = true);
            continue;
        }
        if kind.is_none() && open.is_none() && !says_nothing(line) {
            // What the command printed is none of what is known, and what comes after that is not its.
            command_before = None;
        }
        all.last_mut().into_iter().for_each(|text| text.lines.push(line));
    }
    for text in &mut all {
        text.host = hosts.iter().rev().find(|(at, _)| *at < text.line).map(|(_, host)| *host);
    }
    for text in all.iter_mut().filter(|text| text.kind == Some(TextKind::Examine) && hdparm::is_of(&text.lines)) {
        text.kind = Some(TextKind::Hdparm);
    }
    all
}

/// How long a document is at most that is cut: to a prompt, or to a line that begins a text.
fn cut_document(text: &str) -> usize {
    let begins = |line: &str| command(line).is_some() || line.starts_with("```") || TextKind::of(line).is_some();
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    first + lines.take_while(|line| !begins(line.trim_end_matches(['\n', '\r']))).map(str::len).sum::<usize>()
}

/// Takes the UUID that a scrub's text begins with, before its first own line.
fn uuid_before<'t>(lines: &mut Vec<&'t str>) -> Option<&'t str> {
    let at = lines.iter().rposition(|line| !line.trim().is_empty())?;
    let uuid = lines[at];
    uuid.starts_with(btrfs_scrub::UUID).then(|| lines.truncate(at))?;
    Some(uuid)
}

/// How long the JSON document is that a text begins with; nothing where it is cut.
fn document(text: &str) -> Option<usize> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    stream.next()?.ok()?;
    Some(stream.byte_offset())
}
