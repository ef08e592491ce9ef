//! `fdisk -l`, and what `gdisk -l` and `parted … print` have like it: sizes, blocks, where partitions begin.

use terms::plan::partition_of;

use super::lsblk::is_drive;
use super::{Machine, Text};

/// `Disk /dev/sda: 931.51 GiB, 1000204886016 bytes, 1953525168 sectors`; `gdisk` and `parted` end it otherwise.
pub(super) fn begins(line: &str) -> bool {
    is_english(line) || is_before(line) || disk(line).is_some()
}

fn is_english(line: &str) -> bool {
    line.strip_prefix("Disk /dev/").is_some_and(|rest| rest.contains(": "))
}

/// `Disk /dev/sda: 111,8 GiB, 120034123776 bytes, 234441648 sectors` in English, of `Festplatte /dev/sda: …, 120034123776 Bytes, 234441648
/// Sektoren` and the same in other languages: the numbers stand in one order in all (`list_disk_geometry` in util-linux's
/// `disk-utils/fdisk-list.c`).
fn disk(line: &str) -> Option<String> {
    line.contains(" /dev/").then_some(())?;
    let line = line.replace('\u{a0}', " ").replace('：', ": ").replace('，', ", ");
    let (word, rest) = line.split_once(" /dev/")?;
    let (name, sizes) = rest.split_once(':')?;
    let sizes: Vec<&str> = sizes.trim().split(", ").collect();
    let [_, bytes, sectors] = sizes[..] else { return None };
    let number = |text: &str| text.split(' ').next()?.parse::<u64>().ok();
    let is_word = !word.is_empty() && word.chars().all(char::is_alphabetic);
    let name = name.trim();
    let (bytes, sectors) = (number(bytes)?, number(sectors)?);
    is_word.then(|| format!("Disk /dev/{name}: {bytes} bytes, {bytes} bytes, {sectors} sectors"))
}

/// `512/4096` of `Sektorgröße (logisch/physikalisch): 512 Bytes / 4096 Bytes`.
fn sizes(line: &str) -> Option<[u64; 2]> {
    let (before, after) = line.rsplit_once(['：', ':'])?;
    before.trim_end().ends_with([')', '）']).then_some(())?;
    let number = |text: &str| text.trim().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let (one, two) = after.split_once('/')?;
    Some([number(one)?, number(two)?])
}

/// The lines in English, as far as they are read. Sizes of blocks stand before those of requests.
fn in_english(lines: &[&str]) -> Option<Vec<String>> {
    let first = lines.first().filter(|line| !is_english(line))?;
    let mut all = vec![disk(first)?];
    // The model stands right below, before the line of units, which has a product in it.
    let model = lines.get(1).filter(|line| !line.contains('=')).and_then(|line| line.split_once([':', '：']));
    all.extend(model.map(|(_, model)| format!("Disk model: {}", model.trim())));
    let pairs = lines.iter().filter_map(|line| sizes(line));
    for (key, [one, two]) in ["Sector size (logical/physical)", "I/O size (minimum/optimal)"].iter().zip(pairs) {
        all.push(format!("{key}: {one} bytes / {two} bytes"));
    }
    // What kind of partition a row is of stands in that language; a table of DOS numbers it too, behind the size.
    let rows = lines.iter().filter(|line| line.starts_with("/dev/"));
    let of_list = |line: &&&str| line.split_whitespace().any(|word| ["5", "f", "85"].contains(&word));
    all.extend(rows.clone().filter(|line| !of_list(line)).map(|line| format!("{line} ?")));
    all.extend(rows.filter(of_list).map(|line| format!("{line} Extended")));
    Some(all)
}

/// Does a line go on with what the lines before it begin: is it the first that names a drive, behind what stands before that?
pub(super) fn goes_on(lines: &[&str], line: &str) -> bool {
    let names = |line: &str| line.starts_with("Disk /dev/");
    lines.first().is_some_and(|first| is_before(first)) && names(line) && !lines.iter().any(|line| names(line))
}

/// What stands before it: the version of `gdisk`, or the model and in brackets the way to it, of `parted`.
fn is_before(line: &str) -> bool {
    let model = line.strip_prefix("Model: ").and_then(|rest| rest.trim_end().strip_suffix(')')?.rsplit_once(" ("));
    line.starts_with("GPT fdisk (gdisk) version ") || model.is_some_and(|(_, way)| WAYS.contains(&way))
}

/// What `parted` calls ways to drives (`transport` in its `parted/parted.c`).
const WAYS: [&str; 9] = ["scsi", "nvme", "ide", "virtblk", "sd/mmc", "md", "dm", "loopback", "unknown"];

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    match in_english(&text.lines) {
        Some(lines) => read_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>(), machine),
        None => read_lines(&text.lines, machine),
    }
}

fn read_lines(lines: &[&str], machine: &mut Machine) -> usize {
    let named = lines.iter().find_map(|line| line.strip_prefix("Disk /dev/"));
    let Some((name, size)) = named.and_then(|rest| rest.split_once(": ")) else {
        return 0;
    };
    // Names of mappings are not those of the kernel.
    if !is_whole(name) {
        return 0;
    }
    match name.starts_with("nvme") {
        true => drop(machine.namespace(name)),
        false if name.starts_with("md") => machine.block(name),
        false => machine.drive(name),
    }
    let blocks = lines.iter().find_map(|line| pair(line.strip_prefix("Sector size (logical/physical):")?));
    let logical = blocks.map_or(512, |[logical, _]| logical);
    let sectors = bytes(size, logical).filter(|size| size.is_multiple_of(512)).map(|size| size / 512);
    sectors.into_iter().for_each(|sectors| machine.block_file(name, "size", sectors.to_string()));
    let model = lines.iter().find_map(|line| line.strip_prefix("Disk model: "));
    model.into_iter().for_each(|model| machine.told(name, "device/model", model.trim()));
    let requests = lines.iter().find_map(|line| pair(line.strip_prefix("I/O size (minimum/optimal):")?));
    // Where the kernel tells no best size, the smallest is printed again (`recount_topology` in util-linux's `libfdisk/src/alignment.c`).
    let best = requests.and_then(|[least, best]| (best > least).then_some(best));
    for (file, value) in [
        ("queue/logical_block_size", blocks.map(|[logical, _]| logical)),
        ("queue/physical_block_size", blocks.map(|[_, physical]| physical)),
        ("queue/minimum_io_size", requests.map(|[least, _]| least)),
        ("queue/optimal_io_size", best),
    ] {
        value.into_iter().for_each(|value| machine.block_file(name, file, value.to_string()));
    }
    // Where it is 0 `fdisk` leaves it out (`list_disk_geometry` in util-linux's `disk-utils/fdisk-list.c`).
    let offset = lines.iter().find_map(|line| line.strip_prefix("Alignment offset: ")?.strip_suffix(" bytes"));
    let offset = offset.and_then(|offset| offset.parse::<u64>().ok());
    offset.into_iter().for_each(|offset| machine.block_file(name, "alignment_offset", offset.to_string()));
    if lines.iter().any(|line| line.starts_with("Units") && line.contains("cylinders")) {
        machine
            .refused
            .push("its partitions are told in cylinders, which are rounded: post `fdisk -l -u=sectors`".to_owned());
        return 1;
    }
    let heading = Heading::of(lines);
    let rows: Vec<(Part, Use)> = lines.iter().filter_map(|line| row(name, line, logical, &heading)).collect();
    if rows.len() > MOST {
        machine.refused.push(format!("it has {} rows of partitions, and no drive has more than {MOST}", rows.len()));
        return 1;
    }
    let told = rows.iter().filter(|(_, purpose)| *purpose != Use::Reserved);
    1 + told.map(|(part, purpose)| put(name, part, *purpose, logical, machine)).count()
}

/// So many partitions the kernel gives a drive (`DISK_MAX_PARTS` in its `include/linux/blkdev.h`).
const MOST: usize = 256;

/// A drive or an array as the kernel names it, and no partition.
fn is_whole(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let nvme = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n'));
    is_drive(name)
        || nvme.is_some_and(|(one, two)| digits(one) && digits(two))
        || ["mmcblk", "md"].iter().any(|start| name.strip_prefix(start).is_some_and(digits))
}

/// `512 bytes / 4096 bytes`, `512/4096 bytes`, `512B/4096B`.
fn pair(text: &str) -> Option<[u64; 2]> {
    let (one, two) = text.split_once('/')?;
    let number = |text: &str| -> Option<u64> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        // A number behind which nothing stands may be cut.
        let is_whole = text[end..].trim().is_empty() || ["B", "bytes"].contains(&text[end..].trim());
        text[..end].parse().ok().filter(|_| is_whole)
    };
    let unit = text.trim_end().ends_with('B') || text.trim_end().ends_with("bytes");
    unit.then(|| Some([number(one)?, number(two)?])).flatten().filter(|both| both.iter().all(|size| *size > 0))
}

/// The size in bytes, where it is not only told rounded: `…, 1000204886016 bytes`, `1953525168 sectors, …`, `1953525168s`.
fn bytes(text: &str, logical: u64) -> Option<u64> {
    let part = |unit: &str| text.split(", ").find_map(|part| part.strip_suffix(unit)?.parse::<u64>().ok());
    part(" bytes").or_else(|| part("B")).or_else(|| part(" sectors").or_else(|| part("s"))?.checked_mul(logical))
}

/// A partition: its name, and where it begins and how large it is, in logical blocks.
struct Part {
    name: String,
    number: String,
    start: u64,
    length: u64,
}

/// What a partition is for, as far as these programs tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Files,
    /// Nobody keeps files in it: its place says nothing.
    Reserved,
    /// It is a list of other partitions, to which the kernel gives two sectors of 512 bytes.
    List,
}

/// How `fdisk` calls what is not for files. What stands last in its rows is the kind, and never a name.
const KINDS: [(&str, Use); 9] = [
    ("BIOS boot", Use::Reserved),
    ("Microsoft reserved", Use::Reserved),
    ("Solaris reserved 1", Use::Reserved),
    ("PowerPC PReP boot", Use::Reserved),
    ("FreeBSD boot", Use::Reserved),
    ("Extended", Use::List),
    ("W95 Ext'd (LBA)", Use::List),
    ("Win95 Ext'd (LBA)", Use::List),
    ("Linux extended", Use::List),
];

/// The same kinds as `gdisk` numbers them (`AddAllTypes` in its `parttypes.cc`). Behind the number stands the name that a person gave it.
const CODES: [&str; 5] = ["EF02", "0C01", "BF07", "4100", "A501"];

/// The same kinds as flags of `parted` (`ped_partition_flag_get_name` in its `libparted/disk.c`).
const FLAGS: [&str; 3] = ["bios_grub", "msftres", "prep"];

/// What the heading of a table of `parted` says of its columns (`do_print` in its `parted/parted.c`).
#[derive(Default)]
struct Heading {
    /// The fifth column is the kind. Tables of GPT have none: there it may be a file system, or a name.
    has_kind: bool,
    /// Where the column of flags begins, behind that of names.
    flags: Option<usize>,
}

impl Heading {
    fn of(lines: &[&str]) -> Self {
        let heading = lines.iter().find(|line| line.starts_with("Number") && line.contains(" Flags"));
        heading.map_or_else(Self::default, |heading| Self {
            has_kind: heading.split_whitespace().nth(4) == Some("Type"),
            flags: heading.find("Flags"),
        })
    }

    /// What a row is for: its words from the third number on, and all of it.
    fn purpose(&self, words: &[&str], line: &str) -> Use {
        let flags = self.flags.and_then(|at| line.get(at..)).unwrap_or_default();
        match words.get(1) {
            Some(&"extended") if self.has_kind => Use::List,
            _ if flags.split(',').any(|flag| FLAGS.contains(&flag.trim())) => Use::Reserved,
            _ => Use::Files,
        }
    }
}

/// `/dev/sda1  *  2048 1050623 1048576 512M 83 Linux`, or ` 1  2048s  1050623s  1048576s  ext4` and so on: only where the row proves that it
/// is whole.
fn row(drive: &str, line: &str, logical: u64, heading: &Heading) -> Option<(Part, Use)> {
    let mut words: Vec<&str> = line.split_whitespace().filter(|word| *word != "*").collect();
    if words.len() < 4 {
        return None;
    }
    let first = words.remove(0);
    let number = match first.strip_prefix("/dev/") {
        Some(name) => name.strip_prefix(drive)?.trim_start_matches('p'),
        None => first,
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let plain = |word: &str| word.trim_end_matches(['s', '+']).parse::<u64>().ok();
    let (start, end) = (plain(words[0])?, plain(words[1])?);
    let length = end.checked_sub(start)?.checked_add(1)?;
    // How many sectors; how many KiB, of old versions; or a size that was rounded, which `gdisk` prints with its unit and a code behind it.
    let third = plain(words[2]);
    let code = (words.len() > 4 && words[3].ends_with("iB") && words[4].len() == 4).then(|| words[4]);
    let is_whole =
        third == Some(length) || third == length.checked_mul(logical).map(|bytes| bytes / 1024) || code.is_some();
    if !is_whole {
        return None;
    }
    let kind = KINDS.iter().find(|(kind, _)| line.trim_end().ends_with(kind));
    let purpose = match code {
        _ if first.starts_with('/') => kind.map_or(Use::Files, |(_, purpose)| *purpose),
        Some(code) if CODES.contains(&code) => Use::Reserved,
        Some(_) => Use::Files,
        None => heading.purpose(&words[2..], line),
    };
    Some((Part { name: partition_of(drive, number), number: number.to_owned(), start, length }, purpose))
}

/// The kernel counts in sectors of 512 bytes.
fn put(drive: &str, part: &Part, purpose: Use, logical: u64, machine: &mut Machine) {
    let length = if purpose == Use::List { (1024 / logical).max(1) } else { part.length };
    machine.partition(&part.name, drive);
    machine.block_file(&part.name, "partition", part.number.as_str());
    for (file, blocks) in [("start", part.start), ("size", length)] {
        let sectors = blocks.saturating_mul(logical) / 512;
        machine.block_file(&part.name, file, sectors.to_string());
    }
}
