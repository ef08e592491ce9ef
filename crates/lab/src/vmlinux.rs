//! The kernel unpacked once on this machine, so that emulated guests need not unpack it at every boot.
//!
//! Under emulation unpacking takes longer than all the rest of the boot. QEMU starts an ELF kernel directly if
//! it has a PVH entry. Layout of the packed image: the kernel's `Documentation/arch/x86/boot.rst`.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use host::Host;
use terms::{Bytes, Cmd, Nanos};

use crate::kernel::GuestKernel;

/// The unpacked kernel's file; `None` where this kernel cannot be started so, and the packed one must serve.
pub(crate) fn unpacked(host: &dyn Host, kernel: &GuestKernel, cache: &Path) -> Option<PathBuf> {
    let config = host.read_text(&format!("/boot/config-{}", kernel.release)).ok()?;
    if !config.lines().any(|line| line == "CONFIG_PVH=y") {
        return None;
    }
    let packed = host.read(&kernel.image).ok()?;
    let path = cache.join(format!("vmlinux-{}-{:016x}", kernel.release, fingerprint(&packed)));
    let payload = payload(&packed)?;
    // A file of another length was cut short by a crash.
    let whole = fs::metadata(&path)
        .is_ok_and(|metadata| Some(metadata.len()) == unpacked_size(payload).map(|size| size as u64));
    if !whole {
        let bytes = unpack(host, payload)?;
        fs::create_dir_all(cache).ok()?;
        // Under another name until it is whole: two labs may start at once. For all to read, so that guests' directories link it.
        let for_all = Permissions::from_mode(0o644);
        let mut part = tempfile::Builder::new().permissions(for_all).tempfile_in(cache).ok()?;
        part.write_all(&bytes).ok()?;
        part.persist(&path).ok()?;
    }
    Some(path)
}

/// The packed payload inside a bzImage.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| image.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let sectors = match *image.get(0x1f1)? {
        0 => 4,
        count => usize::from(count),
    };
    let start = (sectors + 1) * 512 + number(0x248)?;
    image.get(start..start + number(0x24c)?)
}

/// The last four bytes of the payload.
fn unpacked_size(payload: &[u8]) -> Option<usize> {
    payload.last_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes) as usize)
}

fn unpack(host: &dyn Host, payload: &[u8]) -> Option<Vec<u8>> {
    // The four bytes after the stream are its unpacked size; programs complain of them and still deliver.
    let argv: &[&str] = match payload.get(..4)? {
        [0xfd, b'7', b'z', b'X'] => &["xz", "--decompress", "--stdout", "--single-stream"],
        [0x28, 0xb5, 0x2f, 0xfd] => &["zstd", "--decompress", "--stdout"],
        [0x1f, 0x8b, ..] => &["gzip", "--decompress", "--stdout"],
        _ => return None,
    };
    let size = unpacked_size(payload)?;
    let cmd = Cmd::new(argv.iter().copied()).stdin(payload).limit(Nanos::seconds(60)).output(Bytes(size as u64));
    let bytes = host.run(&cmd).ok()?.stdout;
    (bytes.starts_with(b"\x7fELF") && bytes.len() == size).then_some(bytes)
}

/// FNV-1a: tells one build of the same release from the next.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_found_by_the_header() {
        let mut image = vec![0u8; 4096];
        image[0x1f1] = 2;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&16u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&5u32.to_le_bytes());
        image[1552..1557].copy_from_slice(b"hello");
        assert_eq!(payload(&image), Some(&b"hello"[..]));
        assert_eq!(payload(&image[..1555]), None);
        assert_eq!(payload(b"not a kernel"), None);
    }
}
