//! An archive in the format of the initial file system, newc: the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An archive that grows.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    inode: u32,
}

impl Archive {
    /// A directory; one that is there already stays.
    pub(crate) fn directory(&mut self, name: &str) {
        self.entry(name, 0o040_755, &[]);
    }

    pub(crate) fn link(&mut self, name: &str, target: &Path) {
        self.entry(name, 0o120_777, target.as_os_str().as_bytes());
    }

    pub(crate) fn file(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entry(name, 0o100_000 | mode, content);
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.inode += 1;
        let size = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        // inode, mode, uid, gid, links, time, size, device (4), name length, check
        let fields = [self.inode, mode, 0, 0, 1, 0, size(content.len()), 0, 0, 0, 0, size(name.len() + 1), 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }
}
