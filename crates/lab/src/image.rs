//! The initial file system of a guest, which is its root: this program as its first process, the modules it needs to
//! find what is shared, and all else that is not.
//!
//! Format: newc, as in the kernel's `Documentation/driver-api/early-userspace/buffer-format.rst`. Times and owners
//! are zero and the order is fixed, so the same parts give the same bytes.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::Host;
use terms::Cmd;

use crate::LabError;
use crate::kernel::{BOOT_MODULES, Kernel};
use crate::share;

/// Where the guest's first process finds its modules, named so that sorting gives the order.
pub(crate) const MODULE_DIRECTORY: &str = "modules";

/// Packs the image.
pub(crate) fn pack(host: &dyn Host, agent: &Path, kernel: &Kernel) -> Result<Vec<u8>, LabError> {
    let mut archive = Archive::default();
    share::pack(&mut archive)?;
    archive.directory(MODULE_DIRECTORY);
    for (number, file) in kernel.modules.order(&BOOT_MODULES).iter().enumerate() {
        let name = crate::modules::name_of(file);
        archive.file(&format!("{MODULE_DIRECTORY}/{number:02}-{name}.ko"), 0o644, &module(host, file)?);
    }
    archive.file("init", 0o755, &host.read(&agent.to_string_lossy())?);
    Ok(archive.finish())
}

/// A module's bytes, unpacked if it is compressed: not every kernel unpacks them itself.
fn module(host: &dyn Host, file: &str) -> Result<Vec<u8>, LabError> {
    let unpack: &[&str] = match file.rsplit('.').next() {
        Some("xz") => &["xz", "--decompress", "--stdout"],
        Some("zst") => &["zstd", "--decompress", "--stdout"],
        Some("gz") => &["gzip", "--decompress", "--stdout"],
        _ => return Ok(host.read(file)?),
    };
    Ok(host.run_ok(&Cmd::new(unpack.iter().copied().chain([file])))?.stdout)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_aligned_and_end_with_a_trailer() {
        let mut archive = Archive::default();
        archive.directory("dev");
        archive.file("init", 0o755, b"hello");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        assert!(bytes.starts_with(b"070701") && bytes.windows(10).any(|part| part == b"TRAILER!!!"));
        // head of 110 bytes, "dev\0", padded to 116
        assert_eq!(&bytes[116..122], b"070701");
    }
}
