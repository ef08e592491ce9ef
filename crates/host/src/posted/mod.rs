//! What people post: the output of programs as text, in whatever mixture, as a machine in which nothing else was looked
//! at.
//!
//! Each kind of text is found by how it begins and ends where the next one begins. What it says becomes the files and
//! the program output that tell the same on the machine itself, so that all else reads it as it reads a capture, and
//! what no text says was not captured. A line that cannot be understood within a text makes what it would say unknown;
//! a text of no known kind is told of.

mod alerts;
mod arcconf;
mod blkid;
mod btrfs;
mod btrfs_scrub;
mod btrfs_table;
mod btrfs_time;
mod crypt_status;
mod daemons;
mod df;
mod dmesg;
mod dmsetup;
mod edac;
mod examine;
mod ext;
mod fdisk;
mod files;
mod free;
mod fs_check;
mod fstab;
mod hdparm;
mod id_ctrl;
mod iostat;
mod ircu;
mod json;
mod kept;
mod leaves;
mod lsblk;
mod lspci;
mod lspci_tree;
mod luks;
mod lvm;
mod machine;
mod mdadm;
mod mdstat;
mod megacli;
mod mounts;
mod multipath;
mod nameless;
mod network;
mod nvme;
mod piece;
mod sayings;
mod smart;
mod smart_attribute;
mod smart_log;
mod smartd;
mod ssacli;
mod storcli;
mod storcli_json;
mod swaps;
mod sysctl;
mod text;
mod volumes;
mod when;
mod whole;
mod wipefs;
mod xfs;
mod zdb;
mod zfs_get;
mod zpool;
mod zpool_iostat;
mod zpool_json;
mod zpool_list;

use self::machine::Machine;
use self::text::Text;
use crate::capture::Capture;

/// A kind of text that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextKind {
    /// `lspci`, with or without `-vv` and `-nn`.
    Lspci,
    /// `lspci -tv`.
    LspciTree,
    /// `/proc/mdstat`.
    Mdstat,
    /// `mdadm --detail`.
    Mdadm,
    /// `mdadm --detail --scan`.
    Scan,
    /// `mdadm --examine`.
    Examine,
    /// `zpool status`.
    Zpool,
    /// `zpool list`, with or without `-v`.
    ZpoolList,
    /// `zdb -C`.
    Zdb,
    /// `zfs get` or `zpool get`.
    ZfsGet,
    /// `blkid`.
    Blkid,
    /// `nvme get-feature` of the volatile cache.
    Feature,
    /// `lsblk`, as a table.
    Lsblk,
    /// `smartctl -x` or `-a`.
    Smartctl,
    /// `nvme list`, as a table.
    NvmeList,
    /// `nvme id-ns`.
    IdNs,
    /// `nvme id-ctrl`.
    IdCtrl,
    /// `nvme smart-log`.
    SmartLog,
    /// `cryptsetup luksDump`.
    LuksDump,
    /// What `grep . FILE…` prints of files below `/sys`.
    Files,
    /// `df`.
    Df,
    /// `btrfs filesystem usage` or `show`.
    Btrfs,
    /// `btrfs filesystem df`.
    BtrfsShares,
    /// `btrfs device stats`.
    BtrfsCounters,
    /// `btrfs device usage`.
    BtrfsDevices,
    /// `btrfs scrub status`.
    BtrfsScrub,
    /// `btrfs balance status`.
    BtrfsBalance,
    /// `lvs`, `vgs` or `pvs`.
    Lvm,
    /// `mount`, or the kernel's list of mounts.
    Mounts,
    /// `cat /etc/fstab`.
    Fstab,
    /// `wipefs`.
    Wipefs,
    /// `multipath -ll`.
    Multipath,
    /// `cryptsetup status`.
    CryptStatus,
    /// `dmsetup table` or `dmsetup status`.
    Dmsetup,
    /// `fdisk -l`, `gdisk -l` or what `parted` prints.
    Fdisk,
    /// What programs say where they failed.
    Sayings,
    /// `cat /etc/mdadm/mdadm.conf`.
    MdadmConf,
    /// A mail of ZED.
    ZedMail,
    /// Alerts of TrueNAS.
    Alerts,
    /// `hdparm -W` or `hdparm -I`.
    Hdparm,
    /// What udev says of a device.
    Udev,
    /// `tune2fs -l` or `dumpe2fs -h`.
    Ext,
    /// `xfs_info`.
    Xfs,
    /// `lvdisplay` or `vgdisplay`.
    Volumes,
    /// `storcli` or `perccli`.
    Storcli,
    /// `MegaCli -PDList`, `-LDInfo` or `-AdpBbuCmd`.
    MegaCli,
    /// `ssacli`, `hpssacli` or `hpacucli`.
    Ssacli,
    /// `sas2ircu` or `sas3ircu`.
    Ircu,
    /// `arcconf GETCONFIG`.
    Arcconf,
    /// `cat /proc/swaps` or `swapon --show`.
    Swaps,
    /// `free`.
    Free,
    /// `sysctl`.
    Sysctl,
    /// `ip -s link` or `ethtool -S`.
    Network,
    /// `fsck -n` of an ext file system.
    Fsck,
    /// `xfs_repair -n`.
    XfsRepair,
    /// `zpool iostat -v -l`.
    ZpoolIostat,
    /// `iostat -x`.
    Iostat,
    /// What memory controllers count.
    Edac,
    /// A JSON document of one of these programs.
    Json,
    /// `dmesg`.
    Dmesg,
}

/// How a kind of text is found and read.
struct Form {
    kind: TextKind,
    /// The command that prints it.
    command: &'static str,
    /// Does a line begin a text of this kind?
    begins: fn(&str) -> bool,
    /// How many devices, arrays, pools or messages it told of.
    read: fn(&Text, &mut Machine) -> usize,
    /// Does each line that begins one begin another text?
    alone: bool,
    /// Does an empty line end it?
    table: bool,
}

const fn form(
    kind: TextKind,
    command: &'static str,
    begins: fn(&str) -> bool,
    read: fn(&Text, &mut Machine) -> usize,
) -> Form {
    Form { kind, command, begins, read, alone: false, table: false }
}

const fn alone(form: Form) -> Form {
    Form { alone: true, ..form }
}

const fn table(form: Form) -> Form {
    Form { table: true, alone: true, ..form }
}

/// What no command prints.
const MAIL: &str = "mail";
const MESSAGES: &str = "messages of programs";

/// In the order in which they are tried.
const FORMS: [Form; 60] = [
    form(TextKind::Mdstat, "cat /proc/mdstat", mdstat::begins, mdstat::read),
    alone(form(TextKind::Mdadm, "mdadm --detail", mdadm::begins, mdadm::read)),
    form(TextKind::Scan, "mdadm --detail --scan", mdadm::begins_scan, mdadm::read_scan),
    alone(form(TextKind::Examine, "mdadm --examine", examine::begins, examine::read)),
    table(form(TextKind::ZpoolList, "zpool list", zpool_list::begins, zpool_list::read)),
    form(TextKind::Zpool, "zpool status", zpool::begins, zpool::read),
    alone(form(TextKind::Zdb, "zdb -C", zdb::begins, zdb::read)),
    table(form(TextKind::ZfsGet, "zfs get", zfs_get::begins, zfs_get::read)),
    alone(form(TextKind::Smartctl, "smartctl -x", smart::begins, smart::read)),
    table(form(TextKind::Lsblk, "lsblk", lsblk::begins, lsblk::read)),
    table(form(TextKind::NvmeList, "nvme list", nvme::begins_list, nvme::read_list)),
    alone(form(TextKind::IdNs, "nvme id-ns", nvme::begins_namespace, nvme::read_namespace)),
    alone(form(TextKind::IdCtrl, "nvme id-ctrl", id_ctrl::begins, id_ctrl::read)),
    alone(form(TextKind::SmartLog, "nvme smart-log", smart_log::begins, smart_log::read)),
    alone(form(TextKind::Feature, nvme::FEATURE, nvme::begins_feature, nvme::read_feature)),
    alone(form(TextKind::LuksDump, "cryptsetup luksDump", luks::begins, luks::read)),
    form(TextKind::Files, "grep .", files::begins, files::read),
    table(form(TextKind::LspciTree, "lspci -tv", lspci_tree::begins, lspci_tree::read)),
    form(TextKind::Lspci, "lspci -vv", lspci::begins, lspci::read),
    table(form(TextKind::Lvm, "lvs", lvm::begins, lvm::read)),
    table(form(TextKind::Df, "df", df::begins, df::read)),
    alone(form(TextKind::Btrfs, "btrfs filesystem usage", btrfs::begins, btrfs::read)),
    form(TextKind::BtrfsShares, "btrfs filesystem df", btrfs::begins_shares, btrfs::read),
    form(TextKind::BtrfsCounters, "btrfs device stats", btrfs::begins_counters, btrfs::read),
    form(TextKind::BtrfsDevices, "btrfs device usage", btrfs::begins_devices, btrfs::read),
    form(TextKind::BtrfsScrub, "btrfs scrub status", btrfs_scrub::begins, btrfs_scrub::read),
    alone(form(TextKind::BtrfsBalance, "btrfs balance status", btrfs_scrub::begins_balance, btrfs_scrub::read_balance)),
    form(TextKind::Mounts, "mount", mounts::begins, mounts::read),
    form(TextKind::Fstab, "cat /etc/fstab", fstab::begins, fstab::read),
    form(TextKind::Multipath, "multipath -ll", multipath::begins, multipath::read),
    alone(form(TextKind::CryptStatus, "cryptsetup status", crypt_status::begins, crypt_status::read)),
    form(TextKind::Blkid, "blkid", blkid::begins, blkid::read),
    table(form(TextKind::Wipefs, "wipefs --no-act", wipefs::begins, wipefs::read)),
    form(TextKind::Dmsetup, "dmsetup status", dmsetup::begins, dmsetup::read),
    alone(form(TextKind::Fdisk, "fdisk -l", fdisk::begins, fdisk::read)),
    form(TextKind::Sayings, MESSAGES, |_| false, |_, _| 0),
    form(TextKind::MdadmConf, "cat /etc/mdadm/mdadm.conf", |_| false, fstab::read_mdadm),
    alone(form(TextKind::ZedMail, MAIL, daemons::begins_mail, daemons::read_mail)),
    form(TextKind::Alerts, MAIL, alerts::begins, alerts::read),
    form(TextKind::Hdparm, "hdparm -W", |_| false, hdparm::read),
    form(TextKind::Udev, "udevadm info", hdparm::begins_udev, hdparm::read_udev),
    form(TextKind::Ext, "dumpe2fs -h", ext::begins, ext::read),
    alone(form(TextKind::Xfs, "xfs_info", xfs::begins, xfs::read)),
    alone(form(TextKind::Volumes, "lvdisplay", volumes::begins, volumes::read)),
    form(TextKind::Storcli, "storcli", storcli::begins, storcli::read),
    form(TextKind::MegaCli, "MegaCli -PDList", megacli::begins, megacli::read),
    form(TextKind::Ssacli, "ssacli", ssacli::begins, ssacli::read),
    form(TextKind::Ircu, "sas3ircu", ircu::begins, ircu::read),
    form(TextKind::Arcconf, "arcconf GETCONFIG", arcconf::begins, arcconf::read),
    table(form(TextKind::Swaps, "cat /proc/swaps", swaps::begins, swaps::read)),
    table(form(TextKind::Free, "free", free::begins, free::read)),
    form(TextKind::Sysctl, "sysctl dev.raid", sysctl::begins, sysctl::read),
    form(TextKind::Network, "ip -s link", network::begins, network::read),
    form(TextKind::Fsck, "fsck -n", fs_check::begins, fs_check::read),
    form(TextKind::XfsRepair, "xfs_repair -n", fs_check::begins_xfs, fs_check::read_xfs),
    form(TextKind::ZpoolIostat, "zpool iostat -v -l", zpool_iostat::begins, zpool_iostat::read),
    form(TextKind::Iostat, "iostat -x", iostat::begins, iostat::read),
    form(TextKind::Edac, "edac-util -v", edac::begins, edac::read),
    form(TextKind::Json, "JSON", |_| false, json::read),
    form(TextKind::Dmesg, "dmesg", dmesg::begins, dmesg::read),
];

/// The bytes of a number of units, each of two to this power, that was rounded to at most two places behind one of these points.
fn rounded(number: &str, points: &[char], power: u32) -> Option<u64> {
    let (whole, part) = number.split_once(points).unwrap_or((number, "0"));
    let hundredths = whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(format!("{part:0<2}").parse().ok()?)?;
    let bytes = u128::from(hundredths) * 1_u128.checked_shl(power)? / 100;
    u64::try_from(bytes).ok().filter(|_| part.len() <= 2)
}

impl TextKind {
    /// The kind of text that a line begins.
    fn of(line: &str) -> Option<Self> {
        FORMS.iter().find(|form| (form.begins)(line)).map(|form| form.kind)
    }

    fn form(self) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.kind == self)
    }

    fn stands_alone(self) -> bool {
        self.form().is_some_and(|form| form.alone)
    }

    /// Does a line end a text of this kind?
    fn ends(self, line: &str) -> bool {
        line.trim().is_empty() && self.form().is_some_and(|form| form.table)
    }

    /// The command that prints it.
    #[must_use]
    pub fn command(self) -> &'static str {
        self.form().map_or("", |form| form.command)
    }
}

/// The commands whose output is understood.
pub fn commands() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.command).filter(|command| !["JSON", MAIL, MESSAGES].contains(command))
}

/// A text of one kind within a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPiece {
    /// Its kind.
    pub kind: TextKind,
    /// The file.
    pub file: String,
    /// Its first line, from 1.
    pub line: usize,
    /// How many devices, arrays, pools or messages it told of.
    pub told: usize,
    /// Was all of it understood? It may tell of nothing: a machine without PCI devices.
    pub whole: bool,
}

/// What was read from texts.
#[derive(Debug, Default)]
pub struct Posted {
    /// The machine.
    pub machine: Capture,
    /// Where each part of it is from.
    pub pieces: Vec<TextPiece>,
    /// What could not be understood, and where: it is unknown, and nothing was guessed for it.
    pub refused: Vec<String>,
}

/// Reads texts, each with the name of its file.
#[must_use]
pub fn read<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Posted {
    let mut machine = Machine::default();
    let mut posted = Posted::default();
    for (file, text) in texts {
        // What was taken from a terminal has its colours.
        let plain = unquoted(&anstream::adapter::strip_str(text).to_string());
        for text in piece::texts(&plain) {
            let line = text.line;
            let missing: Vec<_> = text.lines.iter().filter_map(|line| lvm::missing(line)).collect();
            if text.kind.is_none() && !missing.is_empty() {
                machine.reading = "LVM";
                machine.cite_program("vgs");
                let (kind, file, whole) = (TextKind::Lvm, file.to_owned(), true);
                posted.pieces.push(TextPiece { kind, file, line, told: missing.len(), whole });
            }
            let of_lvm = !missing.is_empty();
            machine.lvm.1.extend(missing);
            let said = sayings::put(&text, &mut machine);
            let Some(form) = text.kind.and_then(TextKind::form) else {
                if said > 0 {
                    let (kind, file, whole) = (TextKind::Sayings, file.to_owned(), true);
                    posted.pieces.push(TextPiece { kind, file, line, told: said, whole });
                } else if !of_lvm && text.lines.iter().any(|line| !piece::says_nothing(line)) {
                    posted.refused.push(format!("{file}:{line}: this is the output of no program that is known here"));
                }
                continue;
            };
            let before = machine.refused.len();
            if text.cut {
                machine
                    .refused
                    .push("the file ends in the middle of it, so that its last line was left out".to_owned());
            }
            machine.reading = form.command;
            let uncut = machine.refused.len();
            let told = match (form.read)(&text, &mut machine) {
                // It is not refused for telling nothing else.
                0 if said > 0 => {
                    machine.refused.truncate(uncut);
                    said
                }
                told => told,
            };
            let whole = machine.refused.len() == before;
            for refused in machine.refused.iter_mut().skip(before) {
                *refused = format!("{file}:{line}: {}: {refused}", form.command);
            }
            posted.pieces.push(TextPiece { kind: form.kind, file: file.to_owned(), line, told, whole });
        }
    }
    let (machine, mut refused) = machine.capture();
    posted.refused.append(&mut refused);
    posted.machine = machine;
    posted
}

/// A text without what posting put before its lines: the signs of a quotation, or the blanks that make all of it code. A mark of the
/// order of bytes before it goes as well.
fn unquoted(text: &str) -> String {
    let mut text = text.trim_start_matches('\u{feff}').to_owned();
    for _ in 0..DEEPEST {
        let bare = |line: &str| line.strip_prefix("> ").or_else(|| line.strip_prefix('>')).unwrap_or(line).to_owned();
        text = text.split_inclusive('\n').map(bare).collect();
    }
    // Each line as code in a text.
    let code = |line: &str| {
        line.trim_end()
            .strip_prefix('`')?
            .strip_suffix('`')
            .filter(|line| !line.contains('`'))
            .map(|line| format!("{line}\n"))
    };
    text = text.split_inclusive('\n').map(|line| code(line).unwrap_or_else(|| untagged(line))).collect();
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let common = text.lines().filter(|line| !line.trim().is_empty()).map(blanks).min().unwrap_or(0);
    text.split_inclusive('\n').map(|line| line.get(common..).unwrap_or("\n")).collect()
}

/// A line without the tags of a forum that stand right before or behind what it says.
fn untagged(line: &str) -> String {
    let (own, end) = line.split_at(line.trim_end().len());
    let small = own.to_ascii_lowercase();
    let from = TAGS.iter().find(|tag| small.starts_with(**tag)).map_or(0, |tag| tag.len());
    let to = TAGS.iter().find(|tag| small.ends_with(**tag)).map_or(own.len(), |tag| own.len() - tag.len());
    // A tag alone is a line of nobody.
    if from < to { format!("{}{end}", &own[from..to]) } else { line.to_owned() }
}

const TAGS: [&str; 4] = ["[code]", "[/code]", "<pre>", "</pre>"];

/// So many quotations of quotations are taken off.
const DEEPEST: u32 = 8;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
