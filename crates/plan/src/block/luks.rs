//! A LUKS2 mapping.

use terms::layer::{Luks, LuksIntegrity, Pbkdf};
use terms::{Name, Nanos, Word};

use super::integrity::splits_chunks;
use super::{crypt, wipe};
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place};

/// Formats and opens the mapping.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, luks: &Luks, below: &Member) -> Result<Place, PlanError> {
    if luks.integrity.is_some() && luks.discards {
        return Err(PlanError::impossible(layer, "dm-integrity under LUKS does not pass discards down"));
    }
    let name = draft.naming.mapping(layer);
    let mapping = Word::from(format!("/dev/mapper/{name}"));
    draft.push(format(layer, luks, &below.place));
    draft.push(open(layer, luks, &below.place.node, &name, &mapping));
    Ok(place(luks, mapping, &below.place))
}

fn format(layer: &Name, luks: &Luks, below: &Place) -> StepBuilder {
    let mut argv = words![
        "cryptsetup",
        "luksFormat",
        "--batch-mode",
        "--type",
        "luks2",
        "--cipher",
        luks.cipher.clone(),
        // Bits of the cipher's key alone: cryptsetup adds the key of an HMAC by itself.
        "--key-size",
        luks.key_bits.to_string(),
        "--hash",
        "sha256",
        "--uuid",
        Word::uuid(layer),
    ];
    argv.extend(match luks.pbkdf {
        Pbkdf::Argon2id => words!["--pbkdf", "argon2id"],
        Pbkdf::Pbkdf2 => words!["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"],
    });
    if let Some(sector) = luks.sector {
        argv.extend(words!["--sector-size", sector.0.to_string()]);
    }
    if let Some(LuksIntegrity::HmacSha256) = luks.integrity {
        argv.extend(words!["--integrity", "hmac-sha256"]);
    }
    argv.extend(words!["--key-file", "-", below.node.clone()]);
    let (why, limit) = if luks.integrity.is_some() {
        (
            "Every sector gets an HMAC under a second key, so tampering is found and not only hidden; formatting writes the whole device once.",
            whole_device(below.size.most),
        )
    } else {
        (
            "The header keeps a random volume key, locked by the key slot; cipher and sector size are fixed here for good.",
            Nanos::seconds(120),
        )
    };
    StepBuilder::run(layer, "format", why, argv)
        .key(layer)
        .limit(limit)
        .makes_signature(&below.node, "crypto_LUKS", Some(Word::uuid(layer)))
        .erases(below.drive.iter().cloned().collect())
        .undo(
            "Without key slots what is left on the device is noise for ever.",
            words!["cryptsetup", "erase", "--batch-mode", below.node.clone()],
        )
        .undo("A header left behind would pass for an encrypted volume.", wipe(&below.node))
}

fn open(layer: &Name, luks: &Luks, node: &Word, name: &str, mapping: &Word) -> StepBuilder {
    let mut argv = words!["cryptsetup", "open", "--batch-mode", "--type", "luks2", "--key-file", "-"];
    argv.extend(crypt::flags(luks.flags));
    if luks.discards {
        argv.extend(words!["--allow-discards"]);
    }
    argv.extend(words![node.clone(), name]);
    let why = if crypt::flags(luks.flags).is_empty() {
        "The mapping decrypts on reading and encrypts on writing, on the kernel's own worker queues."
    } else {
        "The mapping encrypts and decrypts; the flags trade hand-offs between queues for work on the submitting processor."
    };
    StepBuilder::run(layer, "open", why, argv)
        .key(layer)
        .limit(Nanos::seconds(120))
        .makes_node(mapping)
        .undo("The volume key leaves the kernel's memory.", words!["cryptsetup", "close", name])
}

fn place(luks: &Luks, node: Word, below: &Place) -> Place {
    Place {
        node,
        drive: None,
        kind: BlockKind::Mapping,
        exact: false,
        lba: below.lba.max(luks.sector.unwrap_or_default()),
        detects: below.detects || luks.integrity.is_some(),
        // cryptsetup adds the offset that the device below reports. Its own dm-integrity knows of no chunks.
        misaligned: luks.integrity.is_some() && splits_chunks(below),
        ..below.clone()
    }
}
