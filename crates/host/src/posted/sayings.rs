//! What programs say where they could not do what they were asked to: no text of a kind, and evidence all the same. Each becomes one line
//! among messages, behind the program's name.

use terms::inventory::OF_PROGRAM;

use super::dmesg::push;
use super::{Machine, Text, TextKind};

/// A program, and the words that it says one after the other.
const SAYINGS: [(&str, &[&str]); 36] = [
    ("fsck", &["/dev/", ": UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY"]),
    ("zpool import", &["cannot import '", "': I/O error"]),
    ("zpool import", &["cannot import '", "': one or more devices is currently unavailable"]),
    ("zpool import", &["cannot import '", "': insufficient replicas"]),
    ("zpool import", &["cannot import '", "': unsupported version or feature"]),
    ("cryptsetup", &["Device /dev/", " is not a valid LUKS device"]),
    ("mount", &["mount: ", "wrong fs type, bad option, bad superblock on /dev/"]),
    ("mdadm", &["mdadm: /dev/", " assembled from ", "not enough to start the array"]),
    ("mdadm", &["mdadm: Failed to restore critical section for reshape"]),
    ("systemd", &["Timed out waiting for device /dev/"]),
    ("systemd", &["Timed out waiting for device dev-"]),
    ("fstrim", &["FITRIM ioctl failed: Input/output error"]),
    ("fstrim", &["FITRIM ioctl failed: Remote I/O error"]),
    ("lvm", &["WARNING: PV ", " on /dev/", " was already found on /dev/"]),
    ("lvm", &["WARNING: PV ", " prefers device /dev/"]),
    ("f3probe", &["Bad news: The device `/dev/", "' is a counterfeit of type"]),
    ("f3probe", &["Bad news: The device `/dev/", "' is damaged"]),
    ("zpool", &["cannot import '", "': pool was previously in use from another system"]),
    ("zpool", &["cannot import '", "': pool may be in use from other system"]),
    ("zpool", &["cannot import '", "': pool is imported on host"]),
    ("lvm check", &["Check of pool ", " failed (status:", "Manual repair required"]),
    ("cryptsetup", &["LUKS2 header checksum error"]),
    ("cryptsetup", &["No key available with this passphrase"]),
    ("xfs_repair", &[": The filesystem has valuable metadata changes in a log"]),
    ("ceph-osd", &["bluestore(", "_verify_csum bad "]),
    ("smartctl", &["/dev/", ": Unknown USB bridge ["]),
    ("sg_ses", &["Predicted failure=1,", "status: "]),
    ("sg_ses", &["Predicted failure=", "status: Critical"]),
    ("sg_ses", &["Predicted failure=", "status: Noncritical"]),
    ("sg_ses", &["Predicted failure=", "status: Unrecoverable"]),
    // Rows of the error logs of ATA drives (`print_error` of smartmontools' `ataprint.cpp`).
    ("smartctl", &["  Error: ICRC"]),
    ("smartctl", &["  Error: UNC"]),
    ("mdadm monitor", &["No mail address or alert command - not monitoring"]),
    ("e2fsck", &["Warning!  /dev/", " is mounted."]),
    ("multipathd", &["multipathd[", ": mark as failed"]),
    ("multipathd", &["multipathd[", "remaining active paths: 0"]),
];

/// Programs that end a message of theirs as strerror(3) words EIO where a file or a drive could not be read or written.
const READERS: [&str; 8] = ["fio", "dd", "cp", "mv", "cat", "ls", "tar", "rsync"];

/// What a line says, and which program does.
fn said(line: &str) -> Option<(&'static str, &str)> {
    let has = |words: &[&str]| {
        let rest = words.iter().try_fold(line, |rest, word| Some(&rest[rest.find(word)? + word.len()..]));
        rest.is_some()
    };
    if is_lost_path(line) {
        return Some(("multipathd", line.trim()));
    }
    if is_bad_area(line) {
        return Some(("ddrescue", line.trim()));
    }
    let read = line.trim().split_once(": ").filter(|(_, rest)| rest.contains("Input/output error"));
    let reader = read.and_then(|(own, rest)| Some((*READERS.iter().find(|reader| **reader == own)?, rest)));
    if reader.is_some() {
        return reader;
    }
    let (program, _) = SAYINGS.iter().find(|(_, words)| has(words))?;
    // Without what a journal puts before it.
    let own = line.split_once("]: ").filter(|(before, _)| before.contains('[') && !before.starts_with('['));
    Some((program, own.map_or(line, |(_, own)| own).trim()))
}

/// `2:0:0:1 sdd 8:48 50 failed faulty running …` of `multipathd show paths`: address, device, number, priority, and what the device mapper, the
/// checker and the kernel say of it (multipathd(8)).
fn is_lost_path(line: &str) -> bool {
    let [address, _, number, priority, mapper, checker, ..] = &line.split_whitespace().collect::<Vec<_>>()[..] else {
        return false;
    };
    let numbers = |text: &str, count: usize| {
        text.split(':').count() == count
            && text.split(':').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    numbers(address, 4) && numbers(number, 2) && numbers(priority, 1) && (*mapper == "failed" || *checker == "faulty")
}

/// `rescued: 2000 GB, bad areas: 18, run time: …` of ddrescue(1).
fn is_bad_area(line: &str) -> bool {
    let count = line.split_once("bad areas:").and_then(|(_, rest)| rest.split(',').next());
    count.and_then(|count| count.trim().parse::<u64>().ok()).is_some_and(|count| count > 0)
}

/// Keeps what lines of a text say, of whatever kind it is; how many did.
pub(super) fn put(text: &Text, machine: &mut Machine) -> usize {
    // What `dmesg` lists is the kernel's, but for a journal.
    if text.kind == Some(TextKind::Json) {
        return 0;
    }
    let mut told = 0;
    let mut element = Element::default();
    for line in &text.lines {
        element.read(line);
        let Some((program, words)) = said(line) else { continue };
        let of = if program == "sg_ses" { element.name() } else { String::new() };
        say(program, &format!("{of}{words}"), machine);
        told += 1;
    }
    told
}

/// The part of an enclosure that lines of `sg_ses` are of.
#[derive(Default)]
struct Element<'t> {
    kind: &'t str,
    number: &'t str,
}

impl<'t> Element<'t> {
    /// `Element type: Power supply, subenclosure id: 0 [ti=2]`, and below it `Overall descriptor:` or `Element 1 descriptor:`.
    fn read(&mut self, line: &'t str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Element type: ") {
            self.kind = rest.split(',').next().unwrap_or_default();
            self.number = "";
        } else if let Some(rest) = line.strip_suffix(" descriptor:") {
            self.number = rest.strip_prefix("Element ").unwrap_or_default();
        }
    }

    fn name(&self) -> String {
        match (self.kind, self.number) {
            ("", _) => String::new(),
            (kind, "") => format!("{kind}: "),
            (kind, number) => format!("{kind} {number}: "),
        }
    }
}

/// A line among messages.
pub(super) fn say(program: &str, words: &str, machine: &mut Machine) {
    push(&format!("{OF_PROGRAM}{program}: {words}"), machine);
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn what_programs_say_is_known_by_their_words() {
        for (line, program, words) in [
            (
                "mint systemd-fsck[512]: /dev/sda3: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.",
                "fsck",
                "/dev/sda3: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.",
            ),
            ("cannot import 'tank': I/O error", "zpool import", "cannot import 'tank': I/O error"),
            (
                "  WARNING: PV aaa on /dev/sdb4 was already found on /dev/sda4.",
                "lvm",
                "WARNING: PV aaa on /dev/sdb4 was already found on /dev/sda4.",
            ),
            (
                "2:0:0:1 sdd 8:48  50  failed faulty running XX........ 2/10 ",
                "multipathd",
                "2:0:0:1 sdd 8:48  50  failed faulty running XX........ 2/10",
            ),
        ] {
            assert_eq!(said(line), Some((program, words)), "{line}");
        }
        for line in [
            "1:0:0:1  sdb 8:16  50  active ready  running XXXXX..... 11/20",
            "fstrim: /: FITRIM ioctl failed: Operation not supported",
            "non-tried: 0 B, bad areas: 0, run time: 4m 1s",
            "        Predicted failure=0, Disabled=0, Swap=0, status: OK",
            "cat: /etc/none: No such file or directory",
            "mdadm: /dev/md0 has been started with 3 drives.",
            "sda 8:0 0 465,8G 0 disk failed faulty",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
