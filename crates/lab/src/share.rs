//! What of this machine a guest sees: the directories of programs and libraries, and a few settings of `/etc`.
//!
//! The directories are shared over 9p, read-only, each by itself, so that nothing beside them can be named. The rest of
//! the guest's root is packed with its first process: empty directories, settings that programs do not work without, and
//! files of the guest's own in place of those that tell of this machine's people.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::LabError;
use crate::archive::Archive;

/// Directories of programs and libraries. Where one is a link into another, as on most machines, the guest has the link.
pub(crate) const DIRECTORIES: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Settings below `/etc` that a guest gets as they are, where everybody may read them: names of libraries and programs,
/// defaults of tools, options of modules. Not among them: who and what else is on this machine, and settings that may
/// hold a secret (`/etc/nvme` has keys of NVMe connections).
const SETTINGS: [&str; 20] = [
    "alternatives",
    "crypto-policies",
    "debian_version",
    "host.conf",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libaudit.conf",
    "localtime",
    "mke2fs.conf",
    "modprobe.d",
    "os-release",
    "protocols",
    "services",
    "shells",
    "ssl/openssl.cnf",
    "terminfo",
    "xattr.conf",
    "zfs/zpool.d",
];

/// Files of the guest's own.
const OWN: [(&str, &str); 5] = [
    ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"),
    ("etc/group", "root:x:0:\ndisk:x:6:\nnogroup:x:65534:\n"),
    ("etc/hosts", "127.0.0.1 localhost\n"),
    ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ("etc/hostname", "lab\n"),
];

/// Directories of the guest's own.
const EMPTY: [&str; 19] = [
    "boot",
    "dev",
    "etc",
    "etc/zfs",
    "home",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "var",
    "var/cache",
    "var/lib",
    "var/log",
    "var/tmp",
];

/// Links of the guest's own.
const LINKS: [(&str, &str); 3] = [("etc/mtab", "../proc/self/mounts"), ("var/run", "/run"), ("var/lock", "/run/lock")];

/// No setting is longer: what is, is no setting.
const LONGEST: u64 = 4 << 20;
/// A directory of settings is not deeper, and a link that leads back into it does not matter: links are not followed.
const DEEPEST: usize = 8;

/// The directories among them that are shared.
pub(crate) fn shared() -> impl Iterator<Item = &'static str> {
    DIRECTORIES.into_iter().filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()))
}

/// By what name a guest asks for a shared directory.
pub(crate) fn tag(directory: &str) -> String {
    format!("host{}", directory.replace('/', "-"))
}

/// Will a guest see this file of this machine, all links followed? Only where everybody may read it: QEMU is nobody.
pub(crate) fn is_seen(path: &str) -> bool {
    let resolved = fs::canonicalize(path).unwrap_or_default();
    let below = shared().any(|directory| resolved.starts_with(directory));
    below && fs::metadata(&resolved).is_ok_and(|metadata| metadata.mode() & 0o004 != 0)
}

/// Packs all of the guest's root that is not shared.
pub(crate) fn pack(archive: &mut Archive) -> Result<(), LabError> {
    EMPTY.iter().for_each(|directory| archive.directory(directory));
    for path in DIRECTORIES {
        match fs::read_link(path) {
            Ok(target) => archive.link(inside(path), &target),
            Err(_) if shared().any(|shared| shared == path) => archive.directory(inside(path)),
            Err(_) => {}
        }
    }
    OWN.iter().for_each(|(name, text)| archive.file(name, 0o644, text.as_bytes()));
    LINKS.iter().for_each(|(name, target)| archive.link(name, Path::new(target)));
    if let Ok(id) = fs::read_to_string("/etc/machine-id") {
        archive.file("etc/machine-id", 0o444, format!("{}\n", own_id(id.trim())).as_bytes());
    }
    for name in SETTINGS {
        for (at, _) in name.match_indices('/') {
            archive.directory(&format!("etc/{}", &name[..at]));
        }
        setting(archive, &Path::new("/etc").join(name), DEEPEST)?;
    }
    Ok(())
}

/// The guest's machine id: always the same on one machine, and not to be turned back into that machine's, which is nobody
/// else's business (machine-id(5)).
fn own_id(machine: &str) -> String {
    let digest = Sha256::digest(format!("bedplate lab {machine}"));
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file, a link, or a directory of them. What is not there, or not for everybody to read, the guest does without.
fn setting(archive: &mut Archive, path: &Path, deep: usize) -> Result<(), LabError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    let name = path.to_string_lossy();
    let name = inside(&name);
    let kind = metadata.file_type();
    if kind.is_symlink() {
        archive.link(name, &fs::read_link(path).map_err(LabError::file("follow", path))?);
    } else if metadata.mode() & 0o004 == 0 {
        return Ok(());
    } else if kind.is_dir() && deep > 0 {
        archive.directory(name);
        for path in entries(path)? {
            setting(archive, &path, deep - 1)?;
        }
    } else if kind.is_file() && metadata.len() <= LONGEST {
        archive.file(name, 0o644, &fs::read(path).map_err(LabError::file("read", path))?);
    }
    Ok(())
}

/// Paths in a directory, sorted.
pub(crate) fn entries(path: &Path) -> Result<Vec<PathBuf>, LabError> {
    let entries = fs::read_dir(path).map_err(LabError::file("list", path))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// A path without its first slash, as archives have it.
pub(crate) fn inside(path: &str) -> &str {
    path.trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_what_everybody_may_read_is_packed_and_no_link_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("open"), "for all").unwrap();
        fs::set_permissions(at("open"), Permissions::from_mode(0o644)).unwrap();
        fs::write(at("closed"), "canary").unwrap();
        fs::set_permissions(at("closed"), Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("closed", at("link")).unwrap();
        let pipe = rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o644),
            0,
        );
        pipe.unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let mut archive = Archive::default();
        setting(&mut archive, directory.path(), DEEPEST).unwrap();
        let bytes = String::from_utf8_lossy(&archive.finish()).into_owned();
        assert!(bytes.contains("for all") && bytes.contains("link") && !bytes.contains("canary"));
        assert!(!bytes.contains("pipe"));
    }

    #[test]
    fn nothing_of_this_machines_people_is_packed_or_shared() {
        let mut archive = Archive::default();
        pack(&mut archive).unwrap();
        let bytes = String::from_utf8_lossy(&archive.finish()).into_owned();
        for name in ["etc/shadow", "etc/ssh/", "etc/fstab", "etc/nvme", "etc/lvm", "zpool.cache"] {
            assert!(!bytes.contains(name), "{name}");
        }
        for directory in shared() {
            assert!(DIRECTORIES.contains(&directory) && Path::new(directory).is_dir());
        }
        assert!(!is_seen("/etc/passwd") && !is_seen("/proc/self/exe") && is_seen("/usr/bin/env"));
    }

    #[test]
    fn a_guests_id_is_not_its_machines() {
        let id = own_id("0123456789abcdef0123456789abcdef");
        assert_eq!((id.len(), id.as_str()), (32, own_id("0123456789abcdef0123456789abcdef").as_str()));
        assert_ne!(id, "0123456789abcdef0123456789abcdef");
    }
}
