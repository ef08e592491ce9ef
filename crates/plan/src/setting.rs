//! Every option in force, in the study's words, with a mark where it is what comes of writing nothing.

use terms::layer::{
    Bcache, Btrfs, BtrfsProfile, CacheMode, Crypt, CryptFlags, Ext4, GptPartition, Integrity, Layer, Luks, Lvm,
    LvmIntegrity, Raid, RaidLevel, Writecache, Xfs, Zfs,
};
use terms::plan::Setting;
use terms::{LayerNode, Nanos};

type Values = Vec<(&'static str, String)>;

/// Options of a node, in a fixed order.
pub(crate) fn settings(node: &LayerNode) -> Vec<Setting> {
    let (values, defaults) = match &node.layer {
        Layer::Bare => (vec![], vec![]),
        Layer::Partition(partition) => (of_partition(partition), of_partition(&GptPartition::default())),
        Layer::Raid(raid) => (of_raid(raid), of_raid(&Raid { level: raid.level, ..Raid::default() })),
        Layer::Luks(luks) => (of_luks(luks), of_luks(&Luks::default())),
        Layer::Crypt(crypt) => (of_crypt(crypt), of_crypt(&Crypt::default())),
        Layer::Integrity(integrity) => {
            (of_integrity(integrity), of_integrity(&Integrity { mode: integrity.mode, ..Integrity::default() }))
        }
        Layer::Lvm(lvm) => (
            of_lvm(lvm),
            of_lvm(&Lvm { volume: lvm.volume, cache: lvm.cache.map(|_| CacheMode::Writethrough), ..Lvm::default() }),
        ),
        Layer::Bcache(bcache) => (of_bcache(bcache), of_bcache(&Bcache::default())),
        Layer::Writecache(cache) => (of_writecache(cache), of_writecache(&Writecache::default())),
        Layer::Ext4(ext4) => (of_ext4(ext4), of_ext4(&Ext4::default())),
        Layer::Xfs(xfs) => (of_xfs(xfs), of_xfs(&Xfs::default())),
        Layer::Btrfs(btrfs) => (of_btrfs(btrfs), of_btrfs(&btrfs_over(node.on.len()))),
        Layer::Zfs(zfs) => (of_zfs(zfs), of_zfs(&Zfs { layout: zfs.layout, ..Zfs::default() })),
    };
    let setting = |(option, value): (&'static str, String)| {
        let same = defaults.iter().any(|(other, theirs)| *other == option && *theirs == value);
        Setting {
            layer: node.name.clone(),
            default: same && !is_choice(&node.layer, option),
            option: option.to_owned(),
            value,
        }
    };
    values.into_iter().map(setting).collect()
}

/// Is it the option that decides which others there are, and was it chosen? The defaults above are those of the others
/// under that choice, so that the choice itself looks like one of them. A RAID level is always chosen.
fn is_choice(layer: &Layer, option: &str) -> bool {
    match (layer, option) {
        (Layer::Raid(_), "level") => true,
        (Layer::Integrity(integrity), "mode") => integrity.mode != Integrity::default().mode,
        (Layer::Lvm(lvm), "volume") => lvm.volume != Lvm::default().volume,
        (Layer::Zfs(zfs), "layout") => zfs.layout != Zfs::default().layout,
        _ => false,
    }
}

/// What mkfs.btrfs makes of so many devices: metadata is mirrored as soon as there is a second one.
fn btrfs_over(devices: usize) -> Btrfs {
    let base = Btrfs::default();
    Btrfs { metadata: if devices > 1 { BtrfsProfile::Raid1 } else { base.metadata }, ..base }
}

fn word(flag: bool) -> String {
    if flag { "yes" } else { "no" }.to_owned()
}

fn time(time: Nanos) -> String {
    time.to_string()
}

fn of_partition(partition: &GptPartition) -> Values {
    vec![("size", partition.size.map_or_else(|| "the rest of the drive".to_owned(), |size| size.to_string()))]
}

fn of_raid(raid: &Raid) -> Values {
    let mut values = vec![("level", raid.level.number().to_string())];
    if raid.level != RaidLevel::Raid1 {
        values.push(("chunk", raid.chunk.to_string()));
    }
    if raid.level == RaidLevel::Raid10 {
        values.push(("layout", raid.layout.word().to_owned()));
    }
    if raid.level != RaidLevel::Raid0 {
        let bitmap = match raid.bitmap {
            terms::layer::Bitmap::Internal => "internal",
            terms::layer::Bitmap::None => "none",
        };
        values.push(("bitmap", bitmap.to_owned()));
        values.push(("assume_clean", word(raid.assume_clean)));
        values.push(("state", raid.state.word().to_owned()));
        if raid.group_threads != 0 {
            values.push(("group_thread_cnt", raid.group_threads.to_string()));
        }
        if raid.stripe_cache != terms::layer::STRIPE_CACHE {
            values.push(("stripe_cache_size", raid.stripe_cache.to_string()));
        }
    }
    values.push(("metadata", raid.metadata.word().to_owned()));
    values
}

fn of_flags(flags: CryptFlags) -> Values {
    vec![
        ("same_cpu_crypt", word(flags.same_cpu_crypt)),
        ("submit_from_crypt_cpus", word(flags.submit_from_crypt_cpus)),
        ("no_read_workqueue", word(flags.no_read_workqueue)),
        ("no_write_workqueue", word(flags.no_write_workqueue)),
    ]
}

fn of_luks(luks: &Luks) -> Values {
    let pbkdf = match luks.pbkdf {
        terms::layer::Pbkdf::Argon2id => "argon2id",
        terms::layer::Pbkdf::Pbkdf2 => "pbkdf2, 1000 iterations",
    };
    let mut values = vec![
        ("cipher", luks.cipher.clone()),
        ("key_bits", luks.key_bits.to_string()),
        ("sector", luks.sector.map_or_else(|| "the drive's physical sector".to_owned(), |sector| sector.to_string())),
        ("pbkdf", pbkdf.to_owned()),
        ("integrity", luks.integrity.map_or("none", |_| "hmac-sha256").to_owned()),
        ("discards", word(luks.discards)),
    ];
    values.extend(of_flags(luks.flags));
    values
}

fn of_crypt(crypt: &Crypt) -> Values {
    let mut values = vec![
        ("cipher", crypt.cipher.clone()),
        ("key_bits", crypt.key_bits.to_string()),
        ("sector", crypt.sector.to_string()),
        ("format", crypt.format.word().to_owned()),
    ];
    values.extend(of_flags(crypt.flags));
    values
}

fn of_integrity(integrity: &Integrity) -> Values {
    use terms::layer::IntegrityMode::{Bitmap, Journal, NoJournal};
    let mut values = vec![
        ("mode", mode(integrity.mode).to_owned()),
        ("tag", integrity.tag.word().to_owned()),
        ("sector", integrity.sector.to_string()),
    ];
    match integrity.mode {
        Journal => values.push(("commit", time(integrity.commit))),
        Bitmap => values.push(("bitmap_flush", time(integrity.bitmap_flush))),
        NoJournal => {}
    }
    values
}

const fn mode(mode: terms::layer::IntegrityMode) -> &'static str {
    match mode {
        terms::layer::IntegrityMode::Journal => "journal",
        terms::layer::IntegrityMode::NoJournal => "no-journal",
        terms::layer::IntegrityMode::Bitmap => "bitmap",
    }
}

fn of_lvm(lvm: &Lvm) -> Values {
    use terms::layer::Volume;
    let mut values = vec![("volume", lvm.volume.word().to_owned())];
    if !matches!(lvm.volume, Volume::Linear | Volume::Raid1) {
        values.push(("stripe", lvm.stripe.to_string()));
    }
    if lvm.volume.is_raid() {
        let integrity = |i: &LvmIntegrity| format!("{}, blocks of {}", mode(i.mode), i.block);
        values.push(("integrity", lvm.integrity.as_ref().map_or_else(|| "none".to_owned(), integrity)));
    }
    values.push(("thin_chunk", lvm.thin_chunk.map_or_else(|| "not thin".to_owned(), |chunk| chunk.to_string())));
    values.push(("snapshot", word(lvm.snapshot)));
    if let Some(mode) = lvm.cache {
        values.push(("cache_mode", mode.word().to_owned()));
    }
    values
}

fn of_bcache(bcache: &Bcache) -> Values {
    vec![
        ("mode", bcache.mode.word().to_owned()),
        ("block", bcache.block.map_or_else(|| "the larger of both devices".to_owned(), |block| block.to_string())),
        ("bucket", bcache.bucket.to_string()),
        ("sequential_cutoff", bcache.sequential_cutoff.to_string()),
    ]
}

fn of_writecache(cache: &Writecache) -> Values {
    vec![
        ("block", cache.block.to_string()),
        ("high_watermark", format!("{} %", cache.high_watermark)),
        ("low_watermark", format!("{} %", cache.low_watermark)),
        ("writeback_jobs", cache.writeback_jobs.map_or_else(|| "no limit".to_owned(), |jobs| jobs.to_string())),
    ]
}

fn of_ext4(ext4: &Ext4) -> Values {
    vec![
        ("block", ext4.block.to_string()),
        ("reserved_percent", ext4.reserved_percent.to_string()),
        ("lazy_init", word(ext4.lazy_init)),
        ("commit", time(ext4.commit)),
        ("journal", word(ext4.journal)),
    ]
}

fn of_xfs(xfs: &Xfs) -> Values {
    vec![("block", xfs.block.to_string()), ("reflink", word(xfs.reflink))]
}

fn of_btrfs(btrfs: &Btrfs) -> Values {
    vec![
        ("data", btrfs.data.word().to_owned()),
        ("metadata", btrfs.metadata.word().to_owned()),
        ("checksum", btrfs.checksum.word().to_owned()),
        ("commit", time(btrfs.commit)),
        ("copy_on_write", word(btrfs.copy_on_write)),
    ]
}

fn of_zfs(zfs: &Zfs) -> Values {
    vec![
        ("layout", zfs.layout.word().to_owned()),
        ("recordsize", zfs.recordsize.to_string()),
        ("primarycache", zfs.primarycache.word().to_owned()),
        ("ashift", zfs.ashift.map_or_else(|| "the drive's sector".to_owned(), |ashift| ashift.to_string())),
        ("compression", zfs.compression.word().to_owned()),
        ("special_small_blocks", zfs.special_small_blocks.to_string()),
        ("atime", word(zfs.atime)),
    ]
}
