//! Kernel modules that a layer needs, by the names of their files.

use terms::layer::{BtrfsChecksum, CacheMode, IntegrityTag, RaidLevel, Volume};
use terms::layer::{Crypt, Layer, Luks, Lvm};

use crate::block::truecrypt;

/// Kernel modules that a layer needs. Hashes that every kernel builds in or loads by itself are left out.
pub(crate) fn modules(layer: &Layer) -> Vec<&'static str> {
    match layer {
        Layer::Raid(raid) => vec!["md-mod", personality(raid.level)],
        Layer::Luks(luks) => luks_modules(luks),
        Layer::Crypt(Crypt { cipher, format, .. }) => {
            // cryptsetup reads TrueCrypt's header through the kernel's own ciphers.
            let header: &[&str] = if format.is_plain() { &[] } else { &["algif_skcipher"] };
            [&["dm-mod", "dm-crypt"][..], mode(cipher), header].concat()
        }
        Layer::Integrity(integrity) => match integrity.tag {
            IntegrityTag::Xxhash64 => vec!["dm-mod", "dm-integrity", "xxhash_generic"],
            IntegrityTag::Crc32c | IntegrityTag::Sha256 => vec!["dm-mod", "dm-integrity"],
        },
        Layer::Lvm(lvm) => lvm_modules(lvm),
        Layer::Ext4(_) => vec!["ext4"],
        Layer::Xfs(_) => vec!["xfs"],
        Layer::Btrfs(btrfs) => match btrfs.checksum {
            BtrfsChecksum::Xxhash => vec!["btrfs", "xxhash_generic"],
            BtrfsChecksum::Blake2 => vec!["btrfs", "blake2b_generic"],
            BtrfsChecksum::Crc32c | BtrfsChecksum::Sha256 => vec!["btrfs"],
        },
        Layer::Zfs(_) => vec!["zfs"],
        // None, or what the layer's own file says.
        _ => vec![],
    }
}

/// Programs that a layer's scripts run, besides those that steps name themselves.
pub(crate) fn programs(layer: &Layer) -> &'static [&'static str] {
    match layer {
        Layer::Crypt(crypt) if !crypt.format.is_plain() => &truecrypt::PROGRAMS,
        // LVM starts no dm-cache whose metadata it has not checked (lvm.conf(5), `global/cache_check_executable`).
        Layer::Lvm(Lvm { cache: Some(CacheMode::Writethrough | CacheMode::Writeback), .. }) => &["cache_check"],
        _ => &[],
    }
}

/// md's module for a level.
const fn personality(level: RaidLevel) -> &'static str {
    match level {
        RaidLevel::Raid0 => "raid0",
        RaidLevel::Raid1 => "raid1",
        RaidLevel::Raid10 => "raid10",
        RaidLevel::Raid5 | RaidLevel::Raid6 => "raid456",
    }
}

/// The module of a cipher's chaining mode: the second part of `aes-xts-plain64`.
fn mode(cipher: &str) -> &'static [&'static str] {
    match cipher.split('-').nth(1) {
        Some("xts") => &["xts"],
        Some("adiantum") => &["adiantum"],
        _ => &[],
    }
}

fn luks_modules(luks: &Luks) -> Vec<&'static str> {
    let mut modules = [&["dm-mod", "dm-crypt"][..], mode(&luks.cipher)].concat();
    if luks.integrity.is_some() {
        modules.extend(["dm-integrity", "authenc"]);
    }
    modules
}

fn lvm_modules(lvm: &Lvm) -> Vec<&'static str> {
    let mut modules = vec!["dm-mod"];
    match lvm.volume {
        Volume::Linear | Volume::Striped => {}
        Volume::Raid1 => modules.extend(["dm-raid", "raid1"]),
        Volume::Raid10 => modules.extend(["dm-raid", "raid10"]),
        Volume::Raid5 | Volume::Raid6 => modules.extend(["dm-raid", "raid456"]),
    }
    if lvm.integrity.is_some() {
        modules.push("dm-integrity");
    }
    if lvm.thin_chunk.is_some() {
        modules.push("dm-thin-pool");
    } else if lvm.snapshot {
        modules.push("dm-snapshot");
    }
    match lvm.cache {
        Some(CacheMode::Writecache) => modules.push("dm-writecache"),
        Some(CacheMode::Writethrough | CacheMode::Writeback) => modules.extend(["dm-cache", "dm-cache-smq"]),
        None => {}
    }
    modules
}
