//! Where blocks of known data lie on drives, and changing bytes there behind everybody's back.

use std::collections::BTreeMap;

use terms::{Cmd, LayerNode, Name};

use crate::data::{BLOCK, DIGITS, Data, ROW};
use crate::error::FeatureCheckError;
use crate::scene::Scene;
use crate::{search, wiring};

/// Bytes that are changed: one block of the usual ciphers, less than any sector.
const CHANGED: usize = 16;
/// Where in a block they lie: far from the mark at its beginning.
const WITHIN: u64 = BLOCK / 2;
/// Blocks of a piece that are followed down where a device cannot be searched for all of them: five around the middle,
/// in the row of the piece's drive, see `corruption`.
const FOLLOWED: [u64; 5] = [512, 704, 896, 1088, 1280];
/// Bytes of ciphertext that tell a block from all others.
const TEXT: usize = 32;

/// A block of data: which piece, and which block of it.
pub(crate) type Which = (usize, u64);

/// Where a block begins on a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) drive: Name,
    pub(crate) byte: u64,
}

/// Where blocks lie; one may lie in several places.
pub(crate) type Spots = BTreeMap<Which, Vec<Spot>>;

/// Finds blocks of data on the drives: by their marks where these stand there in the clear, else from the mappings above
/// downwards.
pub(crate) fn spots(scene: &Scene<'_>, pieces: &[Data]) -> Result<Spots, FeatureCheckError> {
    let mut spots = Spots::new();
    for drive in &scene.subject.plan.drives {
        let why = format!("Where the data lie on drive `{drive}`.");
        for (which, bytes) in marks(scene, &why, &scene.drive(drive)?, pieces)? {
            let here = bytes.into_iter().map(|byte| Spot { drive: drive.clone(), byte });
            spots.entry(which).or_default().extend(here);
        }
    }
    if !spots.is_empty() {
        return Ok(spots);
    }
    let hides = |node: &&LayerNode| node.layer.traits().encrypts;
    for node in scene.nodes().iter().rev().filter(hides) {
        let Some(mapping) = scene.device(&node.name)? else { continue };
        let why = format!("The drives hold ciphertext; above `{}` the data are in the clear.", node.name);
        let found = marks(scene, &why, &mapping, pieces)?;
        follow(scene, &mapping, &some_of(found), &mut spots)?;
    }
    Ok(spots)
}

/// Places of marks on a device.
fn marks(
    scene: &Scene<'_>,
    why: &str,
    node: &str,
    pieces: &[Data],
) -> Result<BTreeMap<Which, Vec<u64>>, FeatureCheckError> {
    let texts: Vec<Vec<u8>> = pieces.iter().map(Data::mark).collect();
    let length = texts.iter().map(Vec::len).max().unwrap_or(0) + DIGITS;
    let mut found = BTreeMap::new();
    for (mark, bytes) in search::find(scene, why, node, &texts, length)? {
        if let Some(which) = which(&mark) {
            found.insert(which, bytes);
        }
    }
    Ok(found)
}

/// Piece and block of a mark, the last two numbers in it.
fn which(mark: &[u8]) -> Option<Which> {
    let mut parts = std::str::from_utf8(mark).ok()?.rsplit('-');
    let block = parts.next()?.parse().ok()?;
    Some((parts.next()?.parse().ok()?, block))
}

/// A few blocks of each piece.
fn some_of(found: BTreeMap<Which, Vec<u64>>) -> BTreeMap<Which, Vec<u64>> {
    let row = |(piece, block): &Which| (block / ROW * ROW, block % ROW == *piece as u64 % ROW);
    let wanted = |which: &Which| row(which).1 && FOLLOWED.contains(&row(which).0);
    found.into_iter().filter(|(which, _)| wanted(which)).collect()
}

/// Follows bytes of a mapping down to the drives: by tables as far as they lead, then by what stands there.
fn follow(
    scene: &Scene<'_>,
    mapping: &str,
    found: &BTreeMap<Which, Vec<u64>>,
    spots: &mut Spots,
) -> Result<(), FeatureCheckError> {
    let Some((first, bytes)) = found.first_key_value() else { return Ok(()) };
    // The way down is the same for all of them, so it is written down once, and followed again for each.
    let mut texts: BTreeMap<Vec<u8>, Which> = BTreeMap::new();
    let way = Way::of(scene, mapping, bytes.first().copied().unwrap_or(0))?;
    for (which, byte) in found.iter().flat_map(|(which, bytes)| bytes.iter().map(|byte| (*which, *byte))) {
        let (node, byte) = way.down(scene, mapping, byte)?;
        match scene.subject.plan.drives.iter().find(|drive| scene.drive(drive).is_ok_and(|of| of == node)) {
            Some(drive) => spots.entry(which).or_default().push(Spot { drive: drive.clone(), byte }),
            None => {
                let block = read(scene, &node, byte, which == *first)?;
                texts.insert(block[..TEXT.min(block.len())].to_vec(), which);
            }
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let wanted: Vec<Vec<u8>> = texts.keys().cloned().collect();
    for drive in &scene.subject.plan.drives {
        let why = format!("Where the ciphertext of these blocks lies on drive `{drive}`.");
        for (text, bytes) in search::find(scene, &why, &scene.drive(drive)?, &wanted, TEXT)? {
            let Some(which) = texts.get(&text) else { continue };
            let here = bytes.into_iter().map(|byte| Spot { drive: drive.clone(), byte });
            spots.entry(*which).or_default().extend(here);
        }
    }
    Ok(())
}

/// How many tables lead down from a mapping.
struct Way(usize);

impl Way {
    fn of(scene: &Scene<'_>, mapping: &str, byte: u64) -> Result<Self, FeatureCheckError> {
        let (mut node, mut byte, mut steps) = (mapping.to_owned(), byte, 0);
        while let Some((below, at)) = wiring::below(scene, &node, byte, true)? {
            (node, byte, steps) = (below, at, steps + 1);
        }
        Ok(Self(steps))
    }

    fn down(&self, scene: &Scene<'_>, mapping: &str, byte: u64) -> Result<(String, u64), FeatureCheckError> {
        let (mut node, mut byte) = (mapping.to_owned(), byte);
        for _ in 0..self.0 {
            if let Some((below, at)) = wiring::below(scene, &node, byte, false)? {
                (node, byte) = (below, at);
            }
        }
        Ok((node, byte))
    }
}

/// A change of bytes on a drive.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) which: Which,
    pub(crate) spot: Spot,
    /// The block of the drive that holds the bytes, as it is after the change.
    wrote: Vec<u8>,
}

impl Change {
    /// Changes bytes of a block on a drive, past every layer, and reads them again to see that it worked.
    pub(crate) fn make(scene: &Scene<'_>, which: Which, spot: &Spot) -> Result<Self, FeatureCheckError> {
        let node = scene.drive(&spot.drive)?;
        let byte = spot.byte + WITHIN;
        let (base, within) = (byte / BLOCK * BLOCK, (byte % BLOCK) as usize);
        let mut block = read(scene, &node, base, true)?;
        let changed = block.get_mut(within..within + CHANGED);
        let changed = changed.ok_or_else(|| FeatureCheckError::Strange(format!("`{node}` ends before byte {byte}")))?;
        changed.iter_mut().for_each(|byte| *byte ^= 0xff);
        let cmd = Cmd::new([
            "dd".to_owned(),
            format!("of={node}"),
            format!("bs={BLOCK}"),
            "count=1".to_owned(),
            format!("seek={}", base / BLOCK),
            "iflag=fullblock".to_owned(),
            "oflag=direct".to_owned(),
            "conv=notrunc".to_owned(),
            "status=none".to_owned(),
        ]);
        let why = format!("All bits of {CHANGED} bytes are turned over on drive `{}`, past every layer.", spot.drive);
        scene.run_ok(&why, &cmd.stdin(block.clone()))?;
        scene.seen(format!("bytes {byte} to {} of the drive, in block {} of piece {}", byte + 15, which.1, which.0));
        let change = Self { which, spot: spot.clone(), wrote: block };
        if change.is_gone(scene)? {
            return Err(FeatureCheckError::Strange(format!(
                "what was changed on `{node}` is not there when it is read again"
            )));
        }
        Ok(change)
    }

    /// Does the drive hold something else by now?
    pub(crate) fn is_gone(&self, scene: &Scene<'_>) -> Result<bool, FeatureCheckError> {
        let base = (self.spot.byte + WITHIN) / BLOCK * BLOCK;
        let now = read(scene, &scene.drive(&self.spot.drive)?, base, true)?;
        let gone = now != self.wrote;
        scene.seen(if gone { "not the changed bytes" } else { "the changed bytes" });
        Ok(gone)
    }
}

/// A block of a device, past the machine's memory.
fn read(scene: &Scene<'_>, node: &str, byte: u64, tell: bool) -> Result<Vec<u8>, FeatureCheckError> {
    let cmd = Cmd::new([
        "dd".to_owned(),
        format!("if={node}"),
        format!("bs={BLOCK}"),
        "count=1".to_owned(),
        format!("skip={byte}"),
        "iflag=direct,skip_bytes,fullblock".to_owned(),
        "status=none".to_owned(),
    ]);
    if !tell {
        return Ok(scene.subject.host.run_ok(&cmd)?.stdout);
    }
    let outcome = scene.run_ok("What stands on the device itself.", &cmd)?;
    scene.hide_output(outcome.stdout.len());
    Ok(outcome.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_say_which_block_they_are() {
        assert_eq!(which(b"BEDPLATE-TRIAL-0123456789abcdef-03-000017"), Some((3, 17)));
        assert_eq!(which(b"BEDPLATE-TRIAL"), None);
    }
}
