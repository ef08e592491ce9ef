//! Names of arrays, mappings, groups, pools and directories, kept within each tool's limits.

use sha2::{Digest, Sha256};
use terms::Name;
use terms::plan::{MOUNT_ROOT, OUR_NAMES};

/// mdadm keeps at most 32 characters of an array's name in the superblock.
const MD_LIMIT: usize = 32;
/// Device-mapper names have at most 127 characters; authenticated LUKS adds `_dif`.
const MAPPING_LIMIT: usize = 96;
/// LVM doubles every dash and adds volume and suffix (`-data_rimage_0_imeta`): 2 x 48 plus those stays below 127.
const GROUP_LIMIT: usize = 48;

/// The names of one stack.
#[derive(Debug, Clone)]
pub(crate) struct Naming {
    slug: String,
}

impl Naming {
    /// Names under this slug.
    pub(crate) fn new(slug: &str) -> Self {
        Self { slug: slug.to_owned() }
    }

    fn full(&self, layer: &Name) -> String {
        format!("{OUR_NAMES}{}-{layer}", self.slug)
    }

    /// Name of an md array.
    pub(crate) fn array(&self, layer: &Name) -> String {
        fit(&self.full(layer), MD_LIMIT)
    }

    /// Name of a device-mapper mapping.
    pub(crate) fn mapping(&self, layer: &Name) -> String {
        fit(&self.full(layer), MAPPING_LIMIT)
    }

    /// Name of a volume group.
    pub(crate) fn group(&self, layer: &Name) -> String {
        fit(&self.full(layer), GROUP_LIMIT)
    }

    /// Name of a ZFS pool: it begins with a letter, as pools must.
    pub(crate) fn pool(&self, layer: &Name) -> String {
        fit(&self.full(layer), MAPPING_LIMIT)
    }

    /// Where the file system on top is mounted.
    pub(crate) fn directory(&self) -> String {
        format!("{MOUNT_ROOT}/{}", self.slug)
    }
}

/// The text, or where it is too long its beginning and eight hexadecimal digits of its SHA-256.
fn fit(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    let tail: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    // Names and slugs are ASCII, so every index is a character boundary.
    format!("{}-{tail}", text[..limit - 9].trim_end_matches(['-', '.', '_']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let naming = Naming::new("a-slug-of-the-greatest-length-there-is-x");
        let (one, two) = (Name::new("raid-one").unwrap(), Name::new("raid-two").unwrap());
        assert_eq!(naming.array(&one).len(), 32);
        assert_ne!(naming.array(&one), naming.array(&two));
        assert_eq!(Naming::new("s").array(&one), "bp-s-raid-one");
        assert!(naming.group(&one).len() <= 48);
    }
}
