//! A TrueCrypt volume, made by tcplay and opened by cryptsetup.

use terms::layer::Crypt;
use terms::{Name, Nanos, Word};

use super::crypt;
use crate::draft::{Draft, StepBuilder, words};
use crate::place::{BlockKind, Member, Place};

/// tcplay takes no key from a file alone: it asks twice for a passphrase and once whether it is meant, each time in a
/// reading of its own. Without a terminal it reads standard input, so it gets a session without one. The passphrase is
/// the key's digest, since TrueCrypt takes 64 printable characters at most.
const FORMAT: &str = r#"key=$(sha256sum | cut -c1-64); for answer in "$key" "$key" y; do sleep 1; printf '%s\n' "$answer"; done | setsid --wait tcplay --create --device "$1" --pbkdf-prf SHA512 --cipher AES-256-XTS --insecure-erase"#;

/// The same passphrase, and what follows it. Told the hash and the cipher, cryptsetup does not try all others first.
const OPEN: &str = r#"key=$(sha256sum | cut -c1-64); printf '%s\n' "$key" | cryptsetup open --batch-mode --type tcrypt --disable-veracrypt --hash sha512 --cipher aes "$@""#;

/// Both places of headers: the first and the last 128 KiB.
const FORGET: &str = r#"blkdiscard --zeroout --length 131072 "$1" && blkdiscard --zeroout --offset $(($(blockdev --getsize64 "$1") - 131072)) --length 131072 "$1""#;

/// Programs that the scripts above run.
pub(crate) const PROGRAMS: [&str; 5] = ["tcplay", "cryptsetup", "setsid", "blkdiscard", "blockdev"];

/// Makes and opens the volume.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, crypt: &Crypt, below: &Member) -> Place {
    let name = draft.naming.mapping(layer);
    let mapping = Word::from(format!("/dev/mapper/{name}"));
    let node = &below.place.node;
    draft.push(
        StepBuilder::run(
            layer,
            "format",
            "tcplay writes a header and a copy of it at the other end; both look like noise. VeraCrypt opens them in TrueCrypt mode up to 1.25.9; later versions have no such mode.",
            words!["sh", "-c", FORMAT, "sh", node.clone()],
        )
        .key(layer)
        .limit(Nanos::seconds(120))
        .erases(below.place.drive.iter().cloned().collect())
        .undo("Without headers what is left on the device is noise for ever.", words![
            "sh",
            "-c",
            FORGET,
            "sh",
            node.clone()
        ]),
    );
    let mut argv = words!["sh", "-c", OPEN, "sh"];
    argv.extend(crypt::flags(crypt.flags));
    argv.extend(words![node.clone(), name.clone()]);
    draft.push(
        StepBuilder::run(
            layer,
            "open",
            "cryptsetup reads the header and hands the rest to dm-crypt, which does the work as for any other mapping.",
            argv,
        )
        .key(layer)
        .limit(Nanos::seconds(120))
        .makes_node(&mapping)
        .undo("The volume's key leaves the kernel's memory.", words!["cryptsetup", "close", name]),
    );
    Place { node: mapping, drive: None, kind: BlockKind::Mapping, ..below.place.clone() }
}
