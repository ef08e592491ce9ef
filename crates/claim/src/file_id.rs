//! Files by what the kernel knows them by.

use host::Devno;
use serde::{Deserialize, Serialize};
use terms::Bytes;

/// Which file it is, whatever path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// The device of its file system.
    pub device: Devno,
    /// Its number there.
    pub inode: u64,
}

/// What of a file a loop device is made of (losetup(8)): two parts of one file are two drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// The file.
    #[serde(flatten)]
    pub file: FileId,
    /// Where in the file it begins.
    #[serde(default, rename = "offset_bytes")]
    pub offset: Bytes,
    /// How much of the file it is at most; 0 is all.
    #[serde(default, rename = "limit_bytes")]
    pub limit: Bytes,
}

impl std::fmt::Display for FilePart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file)?;
        match (self.offset.0, self.limit.0) {
            (0, 0) => Ok(()),
            (offset, 0) => write!(f, " from byte {offset}"),
            (offset, limit) => write!(f, " from byte {offset}, {limit} bytes at most"),
        }
    }
}

impl std::fmt::Display for FileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inode {} of device {}", self.inode, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_is_another_than_the_whole() {
        let file = FileId { device: Devno { major: 8, minor: 1 }, inode: 7 };
        let part = |offset, limit| FilePart { file, offset: Bytes(offset), limit: Bytes(limit) };
        for (of, told) in [
            (part(0, 0), "inode 7 of device 8:1"),
            (part(4096, 0), "inode 7 of device 8:1 from byte 4096"),
            (part(0, 512), "inode 7 of device 8:1 from byte 0, 512 bytes at most"),
        ] {
            assert_eq!(of.to_string(), told);
            assert_eq!(serde_json::from_value::<FilePart>(serde_json::to_value(of).unwrap()).unwrap(), of);
        }
        // As journals of before have it.
        let old = serde_json::to_value(file).unwrap();
        assert_eq!(serde_json::from_value::<FilePart>(old).unwrap(), part(0, 0));
    }
}
