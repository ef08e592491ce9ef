//! Options of one layer that contradict each other, or that have no effect.

use terms::layer::{
    ArrayState, Bitmap, Btrfs, Crypt, Ext4, Integrity, IntegrityMode, Luks, Lvm, Raid, RaidLevel, Volume, Zfs,
};
use terms::{Layer, Note};

use crate::fields::Fields;

/// Checks a layer against the options that it was made of.
pub(crate) fn check(layer: &Layer, options: &Fields, notes: &mut Vec<Note>) {
    match layer {
        Layer::Raid(raid) => check_raid(raid, options, notes),
        Layer::Luks(luks) => {
            check_cipher(&luks.cipher, luks.key_bits, options, notes);
            check_luks(luks, options, notes);
        }
        Layer::Crypt(crypt) => {
            check_cipher(&crypt.cipher, crypt.key_bits, options, notes);
            check_format(crypt, options, notes);
        }
        Layer::Integrity(integrity) => check_integrity(integrity, options, notes),
        Layer::Lvm(lvm) => check_lvm(lvm, options, notes),
        Layer::Writecache(cache) if cache.low_watermark > cache.high_watermark => notes.push(
            Note::error(
                "study-watermarks",
                Some(options.key("low_watermark")),
                "`low_watermark` is above `high_watermark`",
            )
            .label(format!("{} above {}", cache.low_watermark, cache.high_watermark))
            .hint("writing below begins at the high one and ends at the low one"),
        ),
        Layer::Ext4(ext4) => check_ext4(ext4, options, notes),
        Layer::Btrfs(btrfs) => check_btrfs(btrfs, options, notes),
        Layer::Zfs(zfs) => check_zfs(zfs, options, notes),
        // No two options of the others contradict each other.
        _ => {}
    }
}

/// A warning on a key that was written and does nothing.
fn no_effect(options: &Fields, key: &str, why: &str, notes: &mut Vec<Note>) {
    if options.has(key) && !options.is_wrong(key) {
        notes.push(
            Note::error("study-no-effect", Some(options.key(key)), format!("`{key}` has no effect here"))
                .as_warning()
                .label(why)
                .hint("leave it out"),
        );
    }
}

fn check_raid(raid: &Raid, options: &Fields, notes: &mut Vec<Note>) {
    if !options.has("level") || options.is_wrong("level") {
        return;
    }
    match raid.level {
        RaidLevel::Raid0 => {
            no_effect(options, "bitmap", "RAID-0 has no bitmap", notes);
            no_effect(options, "assume_clean", "RAID-0 has nothing to synchronise", notes);
            if !raid.state.is_whole() {
                let message = format!("RAID-0 cannot be in the state `{}`", raid.state.word());
                notes.push(
                    Note::error("study-state", Some(options.place("state")), message)
                        .label("it has nothing to lose a member with")
                        .hint("leave `state` out, or take a level with redundancy"),
                );
            }
        }
        RaidLevel::Raid1 => no_effect(options, "chunk", "RAID-1 has no chunk", notes),
        RaidLevel::Raid5 | RaidLevel::Raid6 | RaidLevel::Raid10 => {}
    }
    if raid.state == ArrayState::Resync && raid.bitmap == Bitmap::Internal && raid.level != RaidLevel::Raid0 {
        // A bitmap tells what is in step already: a resynchronisation would be over at once.
        notes.push(
            Note::error("study-state", Some(options.place("state")), "an array with a bitmap has nothing to resync")
                .label("the bitmap knows that all is in step")
                .hint("add bitmap = \"none\""),
        );
    }
    if !matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6) {
        no_effect(options, "group_thread_cnt", "only RAID-5 and 6 have a parity thread", notes);
        no_effect(options, "stripe_cache_size", "only RAID-5 and 6 have a stripe cache", notes);
    }
    if raid.level != RaidLevel::Raid10 {
        no_effect(options, "layout", "only RAID-10 has a choice of layouts", notes);
    }
}

/// TrueCrypt's own way of encrypting is part of its format.
fn check_format(crypt: &Crypt, options: &Fields, notes: &mut Vec<Note>) {
    if crypt.format.is_plain() {
        return;
    }
    let usual = Crypt::default();
    let differs = [
        ("cipher", crypt.cipher != usual.cipher),
        ("key_bits", crypt.key_bits != usual.key_bits),
        ("sector", crypt.sector != usual.sector),
    ];
    for (key, _) in differs.into_iter().filter(|(key, differs)| *differs && !options.is_wrong(key)) {
        notes.push(
            Note::error("study-truecrypt", Some(options.place(key)), format!("TrueCrypt has no choice of `{key}`"))
                .label("volumes are AES-256-XTS on sectors of 512 bytes here")
                .hint("leave it out"),
        );
    }
}

/// Ciphers of the kernel that dm-crypt can use (its `crypto/Kconfig`). What follows behind a comma or a colon is how; behind `capi`
/// it is the kernel's own name of one.
const CIPHERS: [&str; 17] = [
    "aes",
    "aria",
    "blowfish",
    "camellia",
    "cast5",
    "cast6",
    "cipher_null",
    "des3_ede",
    "serpent",
    "sm4",
    "twofish",
    "xchacha12",
    "xchacha20",
    "anubis",
    "khazad",
    "tea",
    "capi",
];

/// Key sizes that the kernel's AES takes, in bits: 128, 192 and 256, and two of them for XTS.
/// (cryptsetup's 384-bit XTS works too, and nobody means it.) Other ciphers are left to cryptsetup.
fn check_cipher(cipher: &str, key_bits: u32, options: &Fields, notes: &mut Vec<Note>) {
    if options.is_wrong("cipher") || options.is_wrong("key_bits") {
        return;
    }
    let parts: Vec<&str> = cipher.split('-').collect();
    if parts.len() < 3 || parts.iter().any(|part| part.is_empty()) {
        notes.push(
            Note::error("study-cipher", Some(options.place("cipher")), format!("`{cipher}` is not a cipher"))
                .label("not cipher-mode-iv")
                .hint("write it like \"aes-xts-plain64\""),
        );
        return;
    }
    let own = parts[0].split([',', ':']).next().unwrap_or_default();
    if !CIPHERS.contains(&own) {
        let known = CIPHERS.iter().copied();
        notes.push(
            Note::error(
                "study-cipher",
                Some(options.place("cipher")),
                format!("the kernel has no cipher `{}`", own.escape_debug()),
            )
            .hint(crate::suggest::meant(own, known, || format!("it has {}", CIPHERS.join(", ")))),
        );
        return;
    }
    if !key_bits.is_multiple_of(8) {
        let place = if options.has("key_bits") { options.place("key_bits") } else { options.place("cipher") };
        notes.push(
            Note::error("study-key-bits", Some(place), format!("a key of {key_bits} bits is no number of bytes"))
                .hint("write a multiple of 8"),
        );
        return;
    }
    // An AEAD mode brings its own tags. cryptsetup wraps it in `authenc` with a hash, which the kernel has none of, and
    // without one dm-crypt takes it for a mode without tags (`lib/libdevmapper.c`, `cipher_c2dm`).
    if ["gcm", "ccm"].contains(&parts[1]) {
        let message = format!("`{cipher}` authenticates what it encrypts, which no layer here asks cryptsetup for");
        notes.push(
            Note::error("study-cipher", Some(options.place("cipher")), message)
                .label("takes `--integrity aead` alone")
                .hint("write \"aes-xts-plain64\"; luks takes integrity = \"hmac-sha256\" with it"),
        );
        return;
    }
    let takes: &[u32] = match (parts[0], parts[1]) {
        (_, "xts") => &[256, 512],
        ("aes", "cbc") => &[128, 192, 256],
        (_, "adiantum") => &[256],
        _ => return,
    };
    if !takes.contains(&key_bits) {
        let place = if options.has("key_bits") { options.place("key_bits") } else { options.place("cipher") };
        let sizes: Vec<String> = takes.iter().map(ToString::to_string).collect();
        notes.push(
            Note::error("study-key-bits", Some(place), format!("{cipher} takes no key of {key_bits} bits"))
                .hint(format!("write key_bits = {}", sizes.join(" or "))),
        );
    }
}

fn check_luks(luks: &Luks, options: &Fields, notes: &mut Vec<Note>) {
    if luks.discards && luks.integrity.is_some() {
        notes.push(
            Note::error(
                "study-no-effect",
                Some(options.key("discards")),
                "authenticated LUKS2 passes no discards down",
            )
            .as_warning()
            .label("dm-integrity below it takes none")
            .hint("leave out `discards` or `integrity`"),
        );
    }
}

fn check_integrity(integrity: &Integrity, options: &Fields, notes: &mut Vec<Note>) {
    if options.is_wrong("mode") {
        return;
    }
    if integrity.mode != IntegrityMode::Journal {
        no_effect(options, "commit", "there is no journal to commit", notes);
    }
    if integrity.mode != IntegrityMode::Bitmap {
        no_effect(options, "bitmap_flush", "there is no bitmap to flush", notes);
    }
}

fn check_lvm(lvm: &Lvm, options: &Fields, notes: &mut Vec<Note>) {
    if options.is_wrong("volume") {
        return;
    }
    if matches!(lvm.volume, Volume::Linear | Volume::Raid1) {
        no_effect(options, "stripe", &format!("a {} volume has no stripes", lvm.volume.word()), notes);
    }
    if lvm.integrity.is_some() && !lvm.volume.is_raid() {
        notes.push(
            Note::error(
                "study-lvm-integrity",
                Some(options.key("integrity")),
                format!("a {} volume takes no integrity", lvm.volume.word()),
            )
            .label("LVM keeps checksums only under raid legs")
            .hint("write volume = \"raid1\" (or raid5, raid6, raid10), or put an `integrity` layer below"),
        );
    }
    if lvm.cache.is_none() && !options.is_wrong("cache") {
        no_effect(options, "cache_mode", "the volume has no cache", notes);
    }
    let snapshot = ("snapshot", lvm.snapshot);
    let thin = ("thin_chunk", lvm.thin_chunk.is_some());
    let integrity = ("integrity", lvm.integrity.is_some());
    for (key, asked) in [snapshot, thin, integrity] {
        if asked && lvm.cache.is_some() {
            let message = format!("`{key}` and `cache` cannot be used together");
            let note = Note::error("study-lvm-cache", Some(options.key(key)), message);
            notes.push(note.hint("leave out one of the two"));
        }
    }
    // lvmraid(7): volumes with integrity take no snapshots and cannot serve a thin pool.
    for (key, asked) in [snapshot, thin] {
        if asked && lvm.integrity.is_some() && lvm.volume.is_raid() {
            notes.push(
                Note::error(
                    "study-lvm-integrity",
                    Some(options.key(key)),
                    format!("LVM has no `{key}` with integrity"),
                )
                .hint("leave out one of the two, or put an `integrity` layer below"),
            );
        }
    }
}

fn check_ext4(ext4: &Ext4, options: &Fields, notes: &mut Vec<Note>) {
    if !ext4.journal {
        no_effect(options, "commit", "there is no journal to commit", notes);
    }
}

fn check_btrfs(btrfs: &Btrfs, options: &Fields, notes: &mut Vec<Note>) {
    if !btrfs.copy_on_write {
        notes.push(
            Note::error(
                "study-no-checksums",
                Some(options.key("copy_on_write")),
                "without copy on write btrfs keeps no checksums of data",
            )
            .as_warning()
            .label("nothing can be found wrong or repaired")
            .hint("leave it out, unless this loss is what the study asks about"),
        );
    }
}

fn check_zfs(zfs: &Zfs, options: &Fields, notes: &mut Vec<Note>) {
    let special = options.names("special").unwrap_or_default();
    if special.is_empty() {
        if !options.is_wrong("special") {
            no_effect(options, "special_small_blocks", "the pool has no special vdev", notes);
        }
        return;
    }
    if zfs.special_small_blocks >= zfs.recordsize {
        notes.push(
            Note::error(
                "study-special-takes-all",
                Some(options.key("special_small_blocks")),
                format!("blocks up to {} go to the special vdev, and none is larger", zfs.special_small_blocks),
            )
            .as_warning()
            .label(format!("records are {}", zfs.recordsize))
            .hint("make it smaller than `recordsize`"),
        );
    }
}
