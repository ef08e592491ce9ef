//! Drives that somebody has or may buy, said in a word: `4x4TB:hdd`.

use std::fmt::Write as _;
use std::str::FromStr;

use terms::{Bytes, LabDriveKind};

/// Most drives of a study that is made of them.
const MOST: u32 = 64;

/// Kinds by the words that people type.
const KINDS: [(&str, LabDriveKind); 5] = [
    ("nvme", LabDriveKind::Nvme),
    ("ssd", LabDriveKind::Sata),
    ("sata", LabDriveKind::Sata),
    ("hdd", LabDriveKind::Hdd),
    ("disk", LabDriveKind::Hdd),
];

/// So many drives of a size and a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DriveSet {
    pub(crate) count: u32,
    pub(crate) size: Bytes,
    pub(crate) kind: LabDriveKind,
}

impl FromStr for DriveSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const SHAPE: &str = "write how many, how large and of which kind, such as `4x4TB:hdd` or `2x1TB:nvme`";
        let text = text.trim().to_ascii_lowercase();
        if text.contains(',') {
            return Err(format!("one set of drives that are alike; a study may have several kinds; {SHAPE}"));
        }
        let (amount, kind) = text.split_once(':').unwrap_or((&text, "nvme"));
        let (count, size) = amount.split_once(['x', '×', '*']).unwrap_or(("1", amount));
        let count: u32 =
            count.trim().parse().map_err(|_| format!("`{}` is no number of drives; {SHAPE}", count.trim()))?;
        if count == 0 || count > MOST {
            return Err(format!("from 1 to {MOST} drives, and not {count}"));
        }
        let size = Bytes::parse(&size.trim().to_ascii_uppercase().replace('I', "i"))
            .map_err(|_| format!("`{}` is no size; {SHAPE}", size.trim()))?;
        if size < Bytes::gib(1) {
            return Err(format!("drives of at least 1 GiB, and not {size}"));
        }
        let known = || KINDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let typed = kind.trim();
        let near = || spec::did_you_mean(typed, KINDS.map(|(word, _)| word));
        let kind = KINDS.iter().find(|(word, _)| *word == typed);
        let (_, kind) = kind.ok_or_else(|| format!("{}kinds of drives are {}; {SHAPE}", near(), known()))?;
        Ok(Self { count, size, kind: *kind })
    }
}

impl DriveSet {
    /// The size of each, exactly and as it is typed: `4TB`.
    pub(crate) fn size_word(self) -> String {
        const UNITS: [(u64, &str); 4] =
            [(1_000_000_000_000, "TB"), (1 << 40, "TiB"), (1_000_000_000, "GB"), (1 << 30, "GiB")];
        let unit = UNITS.into_iter().find(|(scale, _)| self.size.0.is_multiple_of(*scale));
        unit.map_or_else(|| format!("{}B", self.size.0), |(scale, unit)| format!("{}{unit}", self.size.0 / scale))
    }

    /// What was understood, as a person may not have said which kind: `4 drives of 4TB (nvme)`.
    pub(crate) fn describe(self) -> String {
        let kind = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(word, _)| word);
        let drives = if self.count == 1 { "1 drive".to_owned() } else { format!("{} drives", self.count) };
        format!("{drives} of {} ({kind})", self.size_word())
    }

    /// A study on such drives, small ones in the lab, with the workloads of profiles and one stack that stands for those
    /// that are yet to be found.
    pub(crate) fn study(self, profiles: &[String]) -> String {
        let mut out = String::from("question = \"Which layout for these drives?\"\n\n[lab]\ndrives = [\n");
        for at in 1..=self.count {
            out.push_str(&line(&format!("d{at}"), self.kind, Bytes::kib(4)));
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
pub(crate) fn line(name: &str, kind: LabDriveKind, lba: Bytes) -> String {
    let more = match kind {
        LabDriveKind::Sata => "kind = \"sata\"".to_owned(),
        LabDriveKind::Hdd => "kind = \"hdd\"".to_owned(),
        LabDriveKind::Ram => "kind = \"ram\"".to_owned(),
        LabDriveKind::Nvme | LabDriveKind::NvmeTcp | LabDriveKind::Flash => format!("lba = \"{} B\"", lba.0),
    };
    format!("    {{ name = \"{name}\", size = \"1 GiB\", {more} }},\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_read_as_people_write_them() {
        let hdds = DriveSet { count: 4, size: Bytes(4_000_000_000_000), kind: LabDriveKind::Hdd };
        for text in ["4x4TB:hdd", "4 x 4 TB : HDD", "4×4tb:disk", "4*4TB:hdd"] {
            assert_eq!(text.parse(), Ok(hdds), "{text}");
        }
        let words = ["4x4TB:hdd", "2TiB", "1500GB", "1.5GiB"].map(|text| text.parse::<DriveSet>().unwrap().size_word());
        assert_eq!(words, ["4TB", "2TiB", "1500GB", "1610612736B"]);
        assert_eq!("2TiB".parse(), Ok(DriveSet { count: 1, size: Bytes::gib(2048), kind: LabDriveKind::Nvme }));
        for text in
            ["", "x", "0x4TB:hdd", "65x4TB", "4x4", "4x4TB:tape", "fourx4TB", "4x1MB", "4x4TB:hdd:hdd", "-1x4TB"]
        {
            assert!(text.parse::<DriveSet>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_set_is_a_study_without_a_mistake() {
        for kind in ["nvme", "sata", "hdd"] {
            let set: DriveSet = format!("4x4TB:{kind}").parse().unwrap();
            let (design, notes) = spec::parse(&set.study(&["quick".to_owned(), "kdiskmark".to_owned()]));
            let drives = design.unwrap().lab.drives;
            assert!(notes.is_empty(), "{notes:?}");
            assert!(drives.len() == 4 && drives.iter().all(|drive| drive.kind == set.kind));
        }
    }
}
