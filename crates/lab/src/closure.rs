//! What a guest that shares nothing with this machine brings along: programs, the libraries that they need, and modules.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::{Host, HostError, find_program};
use terms::Cmd;

use crate::archive::Archive;
use crate::kernel::GuestKernel;
use crate::{LabError, share};

/// Programs that plans, measurements, drills and their scripts run in a guest; one that is not installed is not there.
const PROGRAMS: &str = "\
    sh bash awk basename cat chmod chown cmp cp cut date dd df dirname du env expr false find fold grep head id ln ls md5sum \
    mkdir mkfifo mknod mktemp mv nproc od printf readlink realpath rm rmdir sed seq sha256sum sleep sort split stat sync tail tee \
    test timeout touch tr true truncate uname uniq wc xargs yes \
    blkdiscard blkid blockdev chrt dmesg fallocate findmnt flock fsfreeze getent getopt kill losetup lsblk lscpu mkswap mount \
    mountpoint parted partprobe partx pgrep pkill prlimit ps setpriv setsid sfdisk swapoff swapon sysctl taskset udevadm \
    umount wipefs depmod insmod lsmod modprobe rmmod gzip xz zstd \
    fio mdadm mdmon cryptsetup integritysetup veritysetup dmsetup lvm fsadm thin_check thin_dump thin_repair cache_check \
    cache_dump cache_repair cache_writeback pvs vgs lvs pvcreate pvremove pvresize vgcreate vgextend vgreduce vgremove \
    vgchange vgscan pvscan lvcreate lvconvert lvchange lvremove lvresize lvextend lvdisplay make-bcache bcache-super-show \
    mkfs e2fsck fsck fsck.ext4 mke2fs mkfs.ext4 tune2fs dumpe2fs resize2fs mkfs.xfs xfs_repair xfs_growfs xfs_info xfs_io \
    xfs_db mkfs.btrfs btrfs zpool zfs zdb mount.zfs fsck.zfs zgenhostid nvme hdparm smartctl ip";

/// Directories of libraries that programs open by name while they run.
const PLUGINS: [&str; 3] = ["fio", "cryptsetup", "ossl-modules"];
/// A library of the same kind: `pthread_cancel` wants it (pthread_cancel(3), "Notes" of glibc).
const OPENED: &str = "libgcc_s.so.1";

/// Where modules lie that a stack may need, below a release's directory; what no release brings is all taken.
const MODULES: [&str; 16] = [
    "kernel/arch/x86/crypto",
    "kernel/block",
    "kernel/crypto",
    "kernel/drivers/block",
    "kernel/drivers/dax",
    "kernel/drivers/md",
    "kernel/fs/btrfs",
    "kernel/fs/configfs",
    "kernel/fs/ext4",
    "kernel/fs/jbd2",
    "kernel/fs/mbcache.ko",
    "kernel/fs/xfs",
    "kernel/lib",
    "updates",
    "extra",
    "weak-updates",
];

/// Packs all of it under the paths that it has on this machine.
pub(crate) fn pack(archive: &mut Archive, host: &dyn Host, kernel: &GuestKernel) -> Result<(), LabError> {
    let mut packed = Packed { archive, seen: BTreeSet::new() };
    let programs = programs(host)?;
    for path in &programs {
        packed.file(Path::new(path))?;
    }
    for library in libraries(host, &programs)? {
        packed.file(Path::new(&library))?;
    }
    let modules = PathBuf::from(format!("/lib/modules/{}", kernel.release));
    for part in MODULES {
        packed.tree(&modules.join(part), "")?;
    }
    packed.tree(&modules, "modules.")
}

fn programs(host: &dyn Host) -> Result<Vec<String>, HostError> {
    let found = PROGRAMS.split_whitespace().map(|program| find_program(host, program));
    Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Every file that the loader maps for these programs (ldd(1)), and what they open by name, with what that needs.
fn libraries(host: &dyn Host, programs: &[String]) -> Result<Vec<String>, HostError> {
    let mut found = needed(host, programs)?;
    let directories: BTreeSet<PathBuf> =
        found.iter().filter_map(|path| Path::new(path).parent()).map(Into::into).collect();
    let mut opened = Vec::new();
    for directory in directories {
        let list = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        opened.extend(PLUGINS.iter().flat_map(|plugin| list(directory.join(plugin))));
        opened.extend([directory.join(OPENED)].into_iter().filter(|path| path.exists()));
    }
    let opened: Vec<String> = opened.into_iter().map(|path| path.to_string_lossy().into_owned()).collect();
    found.extend(needed(host, &opened)?);
    found.extend(opened);
    found.sort();
    found.dedup();
    Ok(found)
}

fn needed(host: &dyn Host, files: &[String]) -> Result<Vec<String>, HostError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    // Its status is 1 where one of them is a script.
    let outcome = host.run(&Cmd::new(["ldd".to_owned()].into_iter().chain(files.iter().cloned())))?;
    Ok(mapped(&outcome.text()))
}

/// Paths in what ldd says: `libz.so.1 => /lib/libz.so.1 (0x…)`, or the loader itself without an arrow.
fn mapped(text: &str) -> Vec<String> {
    let path = |line: &str| {
        let (before, _) = line.trim().rsplit_once(" (0x")?;
        let path = before.rsplit_once("=> ").map_or(before, |(_, path)| path);
        path.starts_with('/').then(|| path.to_owned())
    };
    text.lines().filter_map(path).collect()
}

/// An archive that grows, and what is in it.
struct Packed<'a> {
    archive: &'a mut Archive,
    seen: BTreeSet<PathBuf>,
}

impl Packed<'_> {
    /// A file under its own path, with all links on the way to it.
    fn file(&mut self, path: &Path) -> Result<(), LabError> {
        let Some((parent, name)) = path.parent().zip(path.file_name()) else { return Ok(()) };
        let directory = self.directory(parent)?;
        let place = directory.join(name);
        if !self.seen.insert(place.clone()) {
            return Ok(());
        }
        let name = inside(&place);
        let Ok(metadata) = fs::symlink_metadata(&place) else { return Ok(()) };
        if metadata.is_symlink() {
            let target = fs::read_link(&place).map_err(LabError::file("follow", &place))?;
            self.archive.link(&name, &target);
            return self.file(&directory.join(target));
        }
        if metadata.is_file() && metadata.mode() & 0o004 != 0 {
            let content = fs::read(&place).map_err(LabError::file("read", &place))?;
            self.archive.file(&name, metadata.mode() & 0o755, &content);
        }
        Ok(())
    }

    /// Makes the directory where a path really lies, and gives it; the guest's root has the links at the top.
    fn directory(&mut self, path: &Path) -> Result<PathBuf, LabError> {
        let place = fs::canonicalize(path).map_err(LabError::file("follow", path))?;
        let above: Vec<&Path> = place.ancestors().filter(|above| above.parent().is_some()).collect();
        for above in above.into_iter().rev() {
            if self.seen.insert(above.to_owned()) {
                self.archive.directory(&inside(above));
            }
        }
        if place != path {
            self.links(path)?;
        }
        Ok(place)
    }

    /// The links among a path's directories.
    fn links(&mut self, path: &Path) -> Result<(), LabError> {
        for above in path.ancestors().filter(|above| above.parent().is_some()) {
            let Some((parent, name)) = above.parent().zip(above.file_name()) else { continue };
            if fs::symlink_metadata(above).is_ok_and(|metadata| metadata.is_symlink()) {
                let place = self.directory(parent)?.join(name);
                // Those at the top of the tree are packed with it.
                if parent != Path::new("/") && self.seen.insert(place.clone()) {
                    self.archive.link(&inside(&place), &fs::read_link(above).map_err(LabError::file("follow", above))?);
                }
            }
        }
        Ok(())
    }

    /// All files below a path whose names begin so; a path that is not there has none.
    fn tree(&mut self, path: &Path, begin: &str) -> Result<(), LabError> {
        if !path.is_dir() {
            return if path.exists() { self.file(path) } else { Ok(()) };
        }
        for path in share::entries(path)? {
            let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin));
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() && begin.is_empty() => self.tree(&path, begin)?,
                Ok(metadata) if metadata.is_file() && named => self.file(&path)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The name that an archive has for a path.
fn inside(path: &Path) -> String {
    share::inside(&path.to_string_lossy()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loader_maps_is_found_in_its_words() {
        let text = "/usr/bin/fio:\n\tlinux-vdso.so.1 (0x00007ffe)\n\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)\n\
                    \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n\tnot a dynamic executable\n";
        assert_eq!(mapped(text), ["/lib/x86_64-linux-gnu/libz.so.1", "/lib64/ld-linux-x86-64.so.2"]);
    }

    #[test]
    fn links_on_the_way_to_a_file_are_packed_with_it_once() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("real")).unwrap();
        fs::write(at("real/tool-1"), "content").unwrap();
        std::os::unix::fs::symlink("tool-1", at("real/tool")).unwrap();
        std::os::unix::fs::symlink("real", at("short")).unwrap();
        let mut archive = Archive::default();
        let mut packed = Packed { archive: &mut archive, seen: BTreeSet::new() };
        packed.file(&at("short/tool")).unwrap();
        packed.file(&at("real/tool")).unwrap();
        let bytes = String::from_utf8_lossy(&archive.finish()).into_owned();
        for (name, count) in [("real/tool-1\0", 1), ("real/tool\0", 1), ("/short\0", 1), ("content", 1)] {
            assert_eq!(bytes.matches(name).count(), count, "{name}");
        }
    }
}
