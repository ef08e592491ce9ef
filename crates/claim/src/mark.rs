//! What is written on a device.

use serde::{Deserialize, Serialize};

/// Something written on a device by which tools know what the device is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenMark {
    /// As `blkid` calls it: `ext4`, `crypto_LUKS`, `gpt`.
    pub kind: String,
    /// The identifier in it, as it is written there; `None` where it has none, or it could not be read.
    pub uuid: Option<String>,
}

impl WrittenMark {
    /// Is it this very one? Identifiers are compared by their letters and digits: tools put different marks between them.
    #[must_use]
    pub fn is(&self, found: &Self) -> bool {
        let plain = |uuid: &str| {
            uuid.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect::<String>()
        };
        let same = |made: &String, found: &String| plain(made) == plain(found);
        self.kind == found.kind
            && self.uuid.as_ref().zip(found.uuid.as_ref()).is_some_and(|(made, found)| same(made, found))
    }

    /// May it be this one, as far as is known of the one that was made? dm-integrity has no identifier, and a tool that
    /// was ended in the middle did not tell the one that it drew.
    pub(crate) fn may_be(&self, found: &Self) -> bool {
        self.uuid.is_none() && self.kind == found.kind
    }
}

/// One thing that is written on a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// As `blkid` calls it: `ext4`, `crypto_LUKS`, `gpt`.
    pub(crate) kind: String,
    /// Where its magic numbers were seen.
    pub(crate) places: Vec<u64>,
    /// Identifier and label, where they were read.
    pub(crate) uuid: Option<String>,
    pub(crate) label: Option<String>,
    /// What else is known, one clause each.
    pub(crate) details: Vec<String>,
}

impl Mark {
    pub(crate) fn signature(&self) -> WrittenMark {
        WrittenMark { kind: self.kind.clone(), uuid: self.uuid.clone() }
    }
}

pub(crate) fn merge(marks: &mut Vec<Mark>, mark: Mark) {
    // Two of one kind with two identifiers are two: somebody wrote over what somebody else left.
    let same = |known: &&mut Mark| {
        known.kind == mark.kind
            && (known.uuid.is_none() || mark.uuid.is_none() || known.signature().is(&mark.signature()))
    };
    let Some(known) = marks.iter_mut().find(same) else {
        marks.push(mark);
        return;
    };
    known.places.extend(mark.places);
    known.places.sort_unstable();
    known.places.dedup();
    known.uuid = known.uuid.take().or(mark.uuid);
    known.label = known.label.take().or(mark.label);
    known.details.extend(mark.details);
}
