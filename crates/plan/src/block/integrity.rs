//! A stand-alone dm-integrity mapping.

use terms::layer::{Integrity, IntegrityMode};
use terms::{Bytes, Name, Word};

use super::wipe;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place};

/// Formats and opens the mapping.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, integrity: &Integrity, below: &Member) -> Result<Place, PlanError> {
    let Integrity { tag, sector, .. } = integrity;
    if *sector < below.place.lba {
        return Err(PlanError::impossible(
            layer,
            format!("it protects sectors of {sector} on a device whose smallest block is {}", below.place.lba),
        ));
    }
    let name = draft.naming.mapping(layer);
    let mapping = Word::from(format!("/dev/mapper/{name}"));
    let node = &below.place.node;
    draft.push(
        StepBuilder::run(
            layer,
            "format",
            "Every sector gets a checksum, and the full wipe makes all of them right: a block never written would otherwise be a read error.",
            words![
                "integritysetup", "format", "--batch-mode",
                "--sector-size", sector.0.to_string(),
                "--integrity", tag.word(),
                "--tag-size", tag.size().to_string(),
                node.clone(),
            ],
        )
        .limit(whole_device(below.place.size.most))
        .makes_signature(node, "DM_integrity", None)
        .erases(below.place.drive.iter().cloned().collect())
        .undo("A superblock left behind would pass for a formatted device.", wipe(node)),
    );
    draft.push(open(layer, integrity, node, &name, &mapping));
    Ok(place(integrity, mapping, &below.place))
}

fn open(layer: &Name, integrity: &Integrity, node: &Word, name: &str, mapping: &Word) -> StepBuilder {
    let mut argv = words!["integritysetup", "open", "--batch-mode", "--integrity", integrity.tag.word()];
    let why = match integrity.mode {
        IntegrityMode::Journal => {
            argv.extend(words!["--journal-commit-time", integrity.commit.as_millis().to_string()]);
            "Data and checksum go through a journal, so a power cut never separates them; everything is written twice."
        }
        IntegrityMode::NoJournal => {
            argv.extend(words!["--integrity-no-journal"]);
            "Without a journal data is written once, and a power cut leaves blocks whose checksum is wrong: they cannot be read."
        }
        IntegrityMode::Bitmap => {
            let flush = integrity.bitmap_flush.as_millis().to_string();
            argv.extend(words!["--integrity-bitmap-mode", "--bitmap-flush-time", flush]);
            "A bitmap marks regions being written; after a crash their checksums are computed anew, right or wrong."
        }
    };
    let why = format!("{why} Mode and checksum are not kept on the device, so they are said at every opening.");
    argv.extend(words![node.clone(), name]);
    StepBuilder::run(layer, "open", why, argv)
        .makes_node(mapping)
        .undo("Closing writes out what is still pending.", words!["integritysetup", "close", name])
}

/// Does dm-integrity's data area begin between two chunks of the array below? Superblock and journal before it take
/// whole blocks of 4 KiB, whatever the chunk is (drivers/md/dm-integrity.c, `calculate_device_limits`).
pub(crate) fn splits_chunks(below: &Place) -> bool {
    below.stripe.is_some_and(|stripe| stripe.unit > Bytes(4096))
}

fn place(integrity: &Integrity, node: Word, below: &Place) -> Place {
    Place {
        node,
        drive: None,
        kind: BlockKind::Mapping,
        exact: false,
        lba: below.lba.max(integrity.sector),
        detects: true,
        misaligned: below.misaligned || splits_chunks(below),
        ..below.clone()
    }
}
