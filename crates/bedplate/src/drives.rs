//! Drives that somebody has or may buy, said in a word: `4x4TB:hdd`.

use std::fmt::Write as _;
use std::str::FromStr;

use terms::{Bytes, LabDriveKind};

/// Most drives of a study that is made of them.
const MOST: u32 = 64;
/// Largest size of a drive: that of `stands_for` in a study.
pub(crate) const LARGEST: Bytes = Bytes::gib(1 << 20);

/// Kinds by the words that people type, and what one of them is called.
const KINDS: [(&str, LabDriveKind, &str); 5] = [
    ("nvme", LabDriveKind::Nvme, "NVMe SSD"),
    ("ssd", LabDriveKind::Sata, "SATA SSD"),
    ("sata", LabDriveKind::Sata, "SATA SSD"),
    ("hdd", LabDriveKind::Hdd, "hard disk"),
    ("disk", LabDriveKind::Hdd, "hard disk"),
];

/// Bytes of the smallest sector.
const SECTOR: u64 = 512;

/// Words that leave open whether hard disks are meant.
const OPEN: [&str; 2] = ["", "sata"];

/// So many drives of a size and a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DriveSet {
    pub(crate) count: u32,
    pub(crate) size: Bytes,
    pub(crate) kind: LabDriveKind,
    /// May somebody who typed it have meant hard disks?
    pub(crate) is_open: bool,
}

impl FromStr for DriveSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const SHAPE: &str = "write how many, how large and of which kind, such as `4x4TB:hdd` or `2x1TB:nvme`";
        let text = text.trim();
        if text.contains([',', '+', ';', '/']) {
            return Err(format!("drives of one kind and size only: ask for each group by itself; {SHAPE}"));
        }
        let (amount, kind) = text.split_once(':').unwrap_or((text, ""));
        let (count, size) = amount.split_once(['x', 'X', '×', '*']).unwrap_or(("1", amount));
        let count: u32 =
            count.trim().parse().map_err(|_| format!("`{}` is not a number of drives; {SHAPE}", count.trim()))?;
        if count == 0 || count > MOST {
            return Err(format!("from 1 to {MOST} drives, not {count}"));
        }
        let known_size = Bytes::parse(&size.trim().to_ascii_uppercase().replace('I', "i")).ok();
        let size = known_size
            .filter(|size| (Bytes::gib(1)..=LARGEST).contains(size))
            .ok_or_else(|| format!("`{}` is not a size from 1 GiB to {LARGEST} with its unit; {SHAPE}", size.trim()))?;
        let kind = kind.trim().to_ascii_lowercase();
        let typed = kind.as_str();
        let known = || KINDS.map(|(word, ..)| word).join(", ");
        let near = || spec::did_you_mean(typed, KINDS.map(|(word, ..)| word));
        let is_it = |(word, ..): &&(&str, LabDriveKind, &str)| typed.is_empty() || *word == typed;
        let (_, kind, _) =
            KINDS.iter().find(is_it).ok_or_else(|| format!("{}kinds of drives are {}; {SHAPE}", near(), known()))?;
        Ok(Self { count, size, kind: *kind, is_open: OPEN.contains(&typed) })
    }
}

/// A size as people say it: exactly, in the largest unit that it is a multiple of.
pub(crate) fn said(size: Bytes) -> String {
    match exactly(size) {
        (_, "B") => size.to_string(),
        (number, unit) => format!("{number} {unit}"),
    }
}

/// What to type instead of a size in powers of two, as which `4T` is read: no drive is sold so.
pub(crate) fn as_sold(size: Bytes) -> Option<String> {
    let (number, unit) = exactly(size);
    let (letter, sold) = match unit {
        "TiB" => ("T", "TB"),
        "GiB" => ("G", "GB"),
        _ => return None,
    };
    Some(format!("`{number}{letter}` is {number} {unit}; drives are sold in {sold}: `{number}{sold}`"))
}

/// A size exactly: how many of which unit.
fn exactly(size: Bytes) -> (u64, &'static str) {
    const UNITS: [(u64, &str); 6] = [
        (1_000_000_000_000, "TB"),
        (1 << 40, "TiB"),
        (1_000_000_000, "GB"),
        (1 << 30, "GiB"),
        (1_000_000, "MB"),
        (1 << 20, "MiB"),
    ];
    let unit = UNITS.into_iter().find(|(scale, _)| size.0.is_multiple_of(*scale));
    unit.map_or((size.0, "B"), |(scale, unit)| (size.0 / scale, unit))
}

impl DriveSet {
    /// What was understood, and what to type for hard disks where those may have been meant.
    pub(crate) fn describe(self) -> String {
        let kind = KINDS.iter().find(|(_, kind, _)| *kind == self.kind).map_or("drive", |(.., called)| *called);
        let (number, unit) = exactly(self.size);
        let drives = format!("{} {kind}{} of {}", self.count, if self.count == 1 { "" } else { "s" }, said(self.size));
        if !self.is_open {
            return drives;
        }
        format!("{drives}; for hard disks: `--drives {}x{number}{unit}:hdd`", self.count)
    }

    /// A study on such drives, small ones in the lab, with the workloads of profiles and one stack that stands for those
    /// that are yet to be found.
    pub(crate) fn study(self, profiles: &[String]) -> String {
        let mut out = String::from("question = \"Which layout for these drives?\"\n\n[lab]\ndrives = [\n");
        for at in 1..=self.count {
            out.push_str(&line(&format!("d{at}"), self.kind, Bytes::kib(4), Some(self.size)));
        }
        let all: Vec<String> = (1..=self.count).map(|at| format!("\"d{at}\"")).collect();
        let _ =
            writeln!(out, "]\n\n[[stack]]\nname = \"all\"\nlayers = [{{ zfs = {{}}, on = [{}] }}]\n", all.join(", "));
        let profiles = if profiles.is_empty() { "\"quick\"".to_owned() } else { format!("{profiles:?}") };
        let _ = writeln!(out, "[measure]\nprofiles = [{}]\nspan = \"64 MiB\"", profiles.trim_matches(['[', ']']));
        out
    }
}

/// A drive of a study: its kind, and its blocks where such a drive has any but the usual ones. What has more to it than a
/// kind is taken for an NVMe drive.
pub(crate) fn line(name: &str, kind: LabDriveKind, lba: Bytes, stands_for: Option<Bytes>) -> String {
    let more = match kind {
        LabDriveKind::Sata => "kind = \"sata\"".to_owned(),
        LabDriveKind::Hdd => "kind = \"hdd\"".to_owned(),
        LabDriveKind::Ram => "kind = \"ram\"".to_owned(),
        LabDriveKind::Nvme | LabDriveKind::NvmeTcp | LabDriveKind::Flash => format!("lba = \"{} B\"", lba.0),
    };
    // Drives hold whole sectors.
    let stands_for = stands_for.map(|size| exactly(Bytes(size.0 / SECTOR * SECTOR)));
    let stands_for = stands_for.map(|(number, unit)| format!("stands_for = \"{number} {unit}\", ")).unwrap_or_default();
    format!("    {{ name = \"{name}\", size = \"1 GiB\", {stands_for}{more} }},\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_read_as_people_write_them() {
        let hdds = DriveSet { count: 4, size: Bytes(4_000_000_000_000), kind: LabDriveKind::Hdd, is_open: false };
        for text in ["4x4TB:hdd", "4 x 4 TB : HDD", "4×4tb:disk", "4*4TB:hdd"] {
            assert_eq!(text.parse(), Ok(hdds), "{text}");
        }
        let sizes =
            ["4x4TB:hdd", "2TiB", "1500GB", "1.5GiB"].map(|text| exactly(text.parse::<DriveSet>().unwrap().size));
        assert_eq!(sizes, [(4, "TB"), (2, "TiB"), (1500, "GB"), (1536, "MiB")]);
        let nvme = DriveSet { count: 1, size: Bytes::gib(2048), kind: LabDriveKind::Nvme, is_open: true };
        assert_eq!("2TiB".parse(), Ok(nvme));
        for text in
            ["", "x", "0x4TB:hdd", "65x4TB", "4x4", "4x4TB:tape", "fourx4TB", "4x1MB", "4x4TB:hdd:hdd", "-1x4TB"]
        {
            assert!(text.parse::<DriveSet>().is_err(), "{text}");
        }
        for (text, size) in [("4x1EB:hdd", "`1EB`"), ("4x2PiB:hdd", "`2PiB`"), ("1x4", "`4`")] {
            let why = text.parse::<DriveSet>().unwrap_err();
            assert!(why.starts_with(&format!("{size} is not a size from 1 GiB to 1024 TiB with its unit;")), "{why}");
        }
    }

    #[test]
    fn what_was_understood_is_told_and_what_hard_disks_are() {
        let told = |text: &str| text.parse::<DriveSet>().unwrap().describe();
        assert_eq!(told("6x12TB:hdd"), "6 hard disks of 12 TB");
        assert_eq!(told("1x2TB:nvme"), "1 NVMe SSD of 2 TB");
        let sold = |text: &str| as_sold(text.parse::<DriveSet>().unwrap().size);
        assert_eq!(sold("3x4T:hdd").unwrap(), "`4T` is 4 TiB; drives are sold in TB: `4TB`");
        assert_eq!(sold("2x256G:nvme").unwrap(), "`256G` is 256 GiB; drives are sold in GB: `256GB`");
        assert_eq!(["3x4TB:hdd", "500GB", "1.5GiB"].map(sold), [None, None, None]);
        assert_eq!(told("6x12TB:sata"), "6 SATA SSDs of 12 TB; for hard disks: `--drives 6x12TB:hdd`");
        assert_eq!(told("6x12TB"), "6 NVMe SSDs of 12 TB; for hard disks: `--drives 6x12TB:hdd`");
    }

    #[test]
    fn every_set_is_a_study_without_a_mistake() {
        for (size, kind) in [("4TB", "nvme"), ("1.1GB", "sata"), ("500GB", "hdd")] {
            let set: DriveSet = format!("4x{size}:{kind}").parse().unwrap();
            let (design, notes) = spec::parse(&set.study(&["quick".to_owned(), "kdiskmark".to_owned()]));
            let drives = design.unwrap().lab.drives;
            assert!(notes.is_empty(), "{notes:?}");
            assert!(drives.len() == 4 && drives.iter().all(|drive| drive.kind == set.kind));
            // To the sector below.
            let kept = |drive: &terms::LabDrive| set.size.0 - drive.stands_for.unwrap().0;
            assert!(drives.iter().all(|drive| kept(drive) < SECTOR));
        }
    }
}
