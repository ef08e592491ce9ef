//! The initial file system of a guest, which is its root: this program as its first process, the modules it needs to
//! find what is shared, and all else that is not.
//!
//! Format: newc, as in the kernel's `Documentation/driver-api/early-userspace/buffer-format.rst`. Times and owners
//! are zero and the order is fixed, so the same parts give the same bytes.

use std::fs;
use std::path::Path;

use host::Host;
use terms::Cmd;

use crate::archive::Archive;
use crate::disk::inside::{self, InsideDisks};
use crate::kernel::{BOOT_MODULES, GuestKernel};
use crate::machine::Mode;
use crate::{LabError, cage, closure, file, share};

/// Where the guest's first process finds its modules, named so that sorting gives the order.
pub(crate) const MODULE_DIRECTORY: &str = "modules";

/// Packs the image; `disks` are those that the guest serves to itself.
pub(crate) fn pack(
    host: &dyn Host,
    agent: &Path,
    kernel: &GuestKernel,
    disks: Option<&InsideDisks>,
    mode: Mode,
) -> Result<Vec<u8>, LabError> {
    let mut archive = Archive::default();
    share::pack(&mut archive)?;
    archive.directory(MODULE_DIRECTORY);
    let mut modules = Vec::new();
    match mode {
        Mode::Apart => closure::pack(&mut archive, host, kernel)?,
        Mode::Probe | Mode::Shared => modules.extend(BOOT_MODULES),
    }
    if let Some(disks) = disks {
        modules.push(inside::MODULE.0);
        archive.file(
            inside::FILE,
            0o644,
            &serde_json::to_vec(disks).map_err(|error| LabError::file("describe", inside::FILE)(error.into()))?,
        );
    }
    for (number, file) in kernel.modules.order(&modules).iter().enumerate() {
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

/// Writes the initial file system, and makes the file that the console goes to.
pub(crate) fn write_image(directory: &Path, image: &[u8]) -> Result<(), LabError> {
    make(directory, file::IMAGE, image)?;
    make_console(directory)
}

/// Makes the file that the console goes to.
pub(crate) fn make_console(directory: &Path) -> Result<(), LabError> {
    make(directory, file::CONSOLE, &[])
}

fn make(directory: &Path, name: &str, content: &[u8]) -> Result<(), LabError> {
    let path = directory.join(name);
    fs::write(&path, content).map_err(LabError::file("write", &path))?;
    cage::give(&path)
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
