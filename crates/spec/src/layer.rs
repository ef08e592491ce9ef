//! Makes layers of their options, and checks what the options of one layer mean together.

mod check;

use terms::Layer;
use terms::layer::{
    Bcache, Btrfs, BtrfsProfile, CacheMode, Crypt, CryptFlags, Ext4, GptPartition, Integrity, Luks, Lvm, LvmIntegrity,
    Raid, RaidLevel, Writecache, Xfs, Zfs, ZfsLayout,
};

use crate::fields::Fields;

pub(crate) use check::check;

/// The layer of that kind over so many devices. What was not written is the tool's default.
pub(crate) fn build(kind: &str, options: &Fields, below: usize) -> Option<Layer> {
    Some(match kind {
        "bare" => Layer::Bare,
        "partition" => Layer::Partition(GptPartition { size: options.size("size") }),
        "raid" => Layer::Raid(raid(options)),
        "luks" => Layer::Luks(luks(options)),
        "crypt" => Layer::Crypt(crypt(options)),
        "integrity" => Layer::Integrity(integrity(options)),
        "lvm" => Layer::Lvm(lvm(options)),
        "bcache" => Layer::Bcache(bcache(options)),
        "writecache" => Layer::Writecache(writecache(options)),
        "ext4" => Layer::Ext4(ext4(options)),
        "xfs" => Layer::Xfs(xfs(options)),
        "btrfs" => Layer::Btrfs(btrfs(options, below)),
        "zfs" => Layer::Zfs(zfs(options)),
        _ => return None,
    })
}

fn raid(options: &Fields) -> Raid {
    let base = Raid::default();
    Raid {
        level: options.integer("level").and_then(RaidLevel::from_number).unwrap_or(base.level),
        chunk: options.size("chunk").unwrap_or(base.chunk),
        bitmap: options.word("bitmap").unwrap_or(base.bitmap),
        metadata: options.word("metadata").unwrap_or(base.metadata),
        layout: options.word("layout").unwrap_or(base.layout),
        assume_clean: options.boolean("assume_clean").unwrap_or(base.assume_clean),
        state: options.word("state").unwrap_or(base.state),
        group_threads: options.number("group_thread_cnt").unwrap_or(base.group_threads),
        stripe_cache: options.number("stripe_cache_size").unwrap_or(base.stripe_cache),
    }
}

fn luks(options: &Fields) -> Luks {
    let base = Luks::default();
    Luks {
        cipher: options.text("cipher").map_or(base.cipher, str::to_owned),
        key_bits: options.number("key_bits").unwrap_or(base.key_bits),
        sector: options.size("sector"),
        pbkdf: options.word("pbkdf").unwrap_or(base.pbkdf),
        flags: flags(options),
        integrity: options.word("integrity"),
        discards: options.boolean("discards").unwrap_or(base.discards),
    }
}

fn crypt(options: &Fields) -> Crypt {
    let base = Crypt::default();
    Crypt {
        cipher: options.text("cipher").map_or(base.cipher, str::to_owned),
        key_bits: options.number("key_bits").unwrap_or(base.key_bits),
        sector: options.size("sector").unwrap_or(base.sector),
        flags: flags(options),
        format: options.word("format").unwrap_or(base.format),
    }
}

fn flags(options: &Fields) -> CryptFlags {
    let set = |key| options.boolean(key).unwrap_or(false);
    CryptFlags {
        same_cpu_crypt: set("same_cpu_crypt"),
        submit_from_crypt_cpus: set("submit_from_crypt_cpus"),
        no_read_workqueue: set("no_read_workqueue"),
        no_write_workqueue: set("no_write_workqueue"),
    }
}

fn integrity(options: &Fields) -> Integrity {
    let base = Integrity::default();
    Integrity {
        mode: options.word("mode").unwrap_or(base.mode),
        tag: options.word("tag").unwrap_or(base.tag),
        sector: options.size("sector").unwrap_or(base.sector),
        commit: options.duration("commit").unwrap_or(base.commit),
        bitmap_flush: options.duration("bitmap_flush").unwrap_or(base.bitmap_flush),
    }
}

fn lvm(options: &Fields) -> Lvm {
    let base = Lvm::default();
    Lvm {
        volume: options.word("volume").unwrap_or(base.volume),
        stripe: options.size("stripe").unwrap_or(base.stripe),
        integrity: options.table("integrity").map(|inner| {
            let base = LvmIntegrity::default();
            LvmIntegrity {
                block: inner.size("block").unwrap_or(base.block),
                mode: inner.word("mode").unwrap_or(base.mode),
            }
        }),
        thin_chunk: options.size("thin_chunk"),
        snapshot: options.boolean("snapshot").unwrap_or(base.snapshot),
        cache: options
            .names("cache")
            .filter(|devices| !devices.is_empty())
            .map(|_| options.word("cache_mode").unwrap_or(CacheMode::Writethrough)),
    }
}

fn bcache(options: &Fields) -> Bcache {
    let base = Bcache::default();
    Bcache {
        mode: options.word("mode").unwrap_or(base.mode),
        block: options.size("block"),
        bucket: options.size("bucket").unwrap_or(base.bucket),
        sequential_cutoff: options.size("sequential_cutoff").unwrap_or(base.sequential_cutoff),
    }
}

fn writecache(options: &Fields) -> Writecache {
    let base = Writecache::default();
    Writecache {
        block: options.size("block").unwrap_or(base.block),
        high_watermark: options.number("high_watermark").unwrap_or(base.high_watermark),
        low_watermark: options.number("low_watermark").unwrap_or(base.low_watermark),
        writeback_jobs: options.number("writeback_jobs"),
    }
}

fn ext4(options: &Fields) -> Ext4 {
    let base = Ext4::default();
    Ext4 {
        block: options.size("block").unwrap_or(base.block),
        reserved_percent: options.number("reserved_percent").unwrap_or(base.reserved_percent),
        lazy_init: options.boolean("lazy_init").unwrap_or(base.lazy_init),
        commit: options.duration("commit").unwrap_or(base.commit),
        journal: options.boolean("journal").unwrap_or(base.journal),
    }
}

fn xfs(options: &Fields) -> Xfs {
    let base = Xfs::default();
    Xfs {
        block: options.size("block").unwrap_or(base.block),
        reflink: options.boolean("reflink").unwrap_or(base.reflink),
    }
}

fn btrfs(options: &Fields, below: usize) -> Btrfs {
    let base = Btrfs::default();
    // As mkfs.btrfs 5.15 and later choose it.
    let metadata = if below > 1 { BtrfsProfile::Raid1 } else { BtrfsProfile::Dup };
    Btrfs {
        data: options.word("data").unwrap_or(base.data),
        metadata: options.word("metadata").unwrap_or(metadata),
        checksum: options.word("checksum").unwrap_or(base.checksum),
        commit: options.duration("commit").unwrap_or(base.commit),
        copy_on_write: options.boolean("copy_on_write").unwrap_or(base.copy_on_write),
    }
}

fn zfs(options: &Fields) -> Zfs {
    let base = Zfs::default();
    Zfs {
        layout: match options.text("layout") {
            // The one word of studies that is not the noun's own.
            Some("single") | None => ZfsLayout::Stripe,
            Some(_) => options.word("layout").unwrap_or(base.layout),
        },
        recordsize: options.size("recordsize").unwrap_or(base.recordsize),
        primarycache: options.word("primarycache").unwrap_or(base.primarycache),
        ashift: options.number("ashift"),
        compression: options.word("compression").unwrap_or(base.compression),
        special_small_blocks: options.size("special_small_blocks").unwrap_or(base.special_small_blocks),
        atime: options.boolean("atime").unwrap_or(base.atime),
    }
}
