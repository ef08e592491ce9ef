//! Are wrong bytes on a drive noticed, and put right?

use terms::layer::Copies;
use terms::{Name, Showing};

use crate::Came;
use crate::data::{BLOCKS, Data, ROW, Read, bypass_caches, forget};
use crate::error::FeatureCheckError;
use crate::place::{Change, Spots, spots};
use crate::scene::Scene;
use crate::{place, scrub};

/// Blocks that are changed on each drive.
const CHANGES: usize = 2;
/// Blocks of one piece that are changed lie at least so far apart: in other records and other stripes.
const APART: u64 = 300;

/// Changes bytes on every drive in turn, each time in other data so that redundancy is never asked for twice, then
/// reads, scrubs, and reads again.
pub(crate) fn hold(scene: &Scene<'_>) -> Result<Came, FeatureCheckError> {
    bypass_caches(scene)?;
    let drives = &scene.subject.plan.drives;
    let pieces: Vec<Data> = (0..drives.len() as u64).map(|number| Data::new(scene, "corruption", number)).collect();
    for piece in &pieces {
        piece.write(scene)?;
    }
    let spots = spots(scene, &pieces)?;
    let mut changes = Vec::new();
    let mut bare: Vec<String> = Vec::new();
    for (number, drive) in drives.iter().enumerate() {
        let chosen = choose(&spots, number, drive);
        if chosen.is_empty() {
            bare.push(format!("`{drive}`"));
        }
        for which in chosen {
            for spot in at(scene, &spots, which, drive) {
                changes.push(Change::make(scene, which, &spot)?);
            }
        }
    }
    if changes.is_empty() {
        return Ok((None, "No block of the data was found on any drive, so nothing could be changed.".to_owned()));
    }
    forget(scene)?;
    let before = read(scene, &pieces, &changes, "What is read of a block that was changed under the stack.")?;
    let scrubs = scrub::scrub(scene)?;
    forget(scene)?;
    let after = read(scene, &pieces, &changes, "The same block after scrubbing.")?;
    let mut whole = Vec::new();
    for piece in &pieces {
        whole.push(piece.compare(scene, "All of the data are read and compared.")?);
    }
    let mut gone = 0;
    for change in &changes {
        gone += usize::from(change.is_gone(scene)?);
    }
    let seen = Seen { before, after, whole, changes: changes.len(), gone };
    let mut says = vec![seen.words(drives.len() - bare.len())];
    says.extend(scrubs);
    if !bare.is_empty() {
        says.push(format!("No block of the data lies on {}.", bare.join(", ")));
    }
    let showing = seen.showing();
    if showing.is_none() {
        says.push("The changed bytes were never met, so nothing is shown.".to_owned());
    }
    Ok((showing, says.join(" ")))
}

/// Blocks of a piece that lie on a drive and are changed there: around the middle, never in the same row as those of
/// another drive. Those that lie there once come first: of two places one is left from a log, and nothing meets it.
fn choose(spots: &Spots, number: usize, drive: &Name) -> Vec<place::Which> {
    let count = |which: &place::Which| spots[which].iter().filter(|spot| &spot.drive == drive).count();
    let fits = |which: &place::Which| which.0 == number && which.1 % ROW == number as u64 % ROW;
    let mut all: Vec<place::Which> = spots.keys().copied().filter(|which| fits(which) && count(which) > 0).collect();
    all.sort_by_key(|which| (count(which), which.1.abs_diff(BLOCKS / 2)));
    let mut chosen: Vec<place::Which> = Vec::new();
    for which in all {
        if chosen.len() < CHANGES && chosen.iter().all(|other| other.1.abs_diff(which.1) >= APART) {
            chosen.push(which);
        }
    }
    chosen
}

/// Places of a block on a drive. All of them are changed: which one is of now and which is left from a journal or a log
/// nobody outside can tell. Where the stack keeps two copies on one drive, one is left as it is.
fn at(scene: &Scene<'_>, spots: &Spots, which: place::Which, drive: &Name) -> Vec<place::Spot> {
    let places = spots.get(&which).into_iter().flatten().filter(|spot| &spot.drive == drive);
    let mut places: Vec<place::Spot> = places.cloned().collect();
    if scene.nodes().iter().any(|node| node.layer.traits().copies == Copies::Doubled) {
        places.truncate(1);
    }
    places
}

fn read(scene: &Scene<'_>, pieces: &[Data], changes: &[Change], why: &str) -> Result<Vec<Read>, FeatureCheckError> {
    let mut reads = Vec::new();
    for change in changes {
        let (piece, block) = change.which;
        if let Some(piece) = pieces.get(piece) {
            reads.push(piece.read_block(scene, why, block)?);
        }
    }
    Ok(reads)
}

/// What was seen of the changed blocks.
struct Seen {
    before: Vec<Read>,
    after: Vec<Read>,
    whole: Vec<Read>,
    changes: usize,
    /// Changes that are not on the drive any more.
    gone: usize,
}

impl Seen {
    fn showing(&self) -> Option<Showing> {
        let any = |wanted| [&self.before, &self.after, &self.whole].iter().any(|reads| reads.contains(&wanted));
        let all_right = self.after.iter().chain(&self.whole).all(|read| *read == Read::Right);
        match () {
            () if any(Read::Wrong) => Some(Showing::Silent),
            () if all_right && self.gone == self.changes => Some(Showing::Repaired),
            () if any(Read::Refused) => Some(Showing::Detected),
            () => None,
        }
    }

    fn words(&self, drives: usize) -> String {
        let count = |reads: &[Read]| {
            let of = |wanted: Read| reads.iter().filter(|read| **read == wanted).count();
            let parts = [(of(Read::Right), "right"), (of(Read::Wrong), "wrong"), (of(Read::Refused), "with an error")];
            let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
            parts.collect::<Vec<_>>().join(", ")
        };
        format!(
            "Bytes were changed in {} places on {drives} {}. Reading those blocks gave: {}; after scrubbing: {}. {} of the \
             changes are gone from the drives.",
            self.changes,
            if drives == 1 { "drive" } else { "drives" },
            count(&self.before),
            count(&self.after),
            self.gone
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(before: Read, after: Read, gone: usize) -> Option<Showing> {
        Seen { before: vec![before], after: vec![after], whole: vec![after], changes: 1, gone }.showing()
    }

    #[test]
    fn one_wrong_read_is_silent_corruption_whatever_comes_later() {
        assert_eq!(seen(Read::Wrong, Read::Right, 1), Some(Showing::Silent));
        assert_eq!(seen(Read::Right, Read::Wrong, 0), Some(Showing::Silent));
    }

    #[test]
    fn repaired_is_what_is_right_and_right_on_the_drive() {
        assert_eq!(seen(Read::Right, Read::Right, 1), Some(Showing::Repaired));
        assert_eq!(seen(Read::Refused, Read::Right, 1), Some(Showing::Repaired));
        assert_eq!(seen(Read::Refused, Read::Refused, 0), Some(Showing::Detected));
        // Right data over changed bytes that nothing met show nothing.
        assert_eq!(seen(Read::Right, Read::Right, 0), None);
    }

    #[test]
    fn drives_are_never_changed_in_the_same_row() {
        let drives = [Name::new("a").unwrap(), Name::new("b").unwrap()];
        let mut spots = Spots::new();
        for piece in 0..2 {
            for block in 0..BLOCKS {
                let both = drives.iter().map(|drive| place::Spot { drive: drive.clone(), byte: block });
                spots.insert((piece, block), both.collect());
            }
        }
        let (a, b) = (choose(&spots, 0, &drives[0]), choose(&spots, 1, &drives[1]));
        assert_eq!((a.len(), b.len()), (CHANGES, CHANGES));
        assert!(a.iter().all(|x| b.iter().all(|y| x.1 % ROW != y.1 % ROW && x.0 != y.0)));
    }

    #[test]
    fn blocks_that_lie_on_a_drive_once_come_first() {
        let drive = Name::new("a").unwrap();
        let spot = |byte| place::Spot { drive: drive.clone(), byte };
        let mut spots = Spots::new();
        for block in 0..BLOCKS {
            // The middle was flushed, and a log holds it once more.
            let twice = (900..1200).contains(&block).then(|| spot(block + 1_000_000));
            spots.insert((0, block), [spot(block)].into_iter().chain(twice).collect());
        }
        let chosen = choose(&spots, 0, &drive);
        assert!(chosen.len() == CHANGES && chosen.iter().all(|which| spots[which].len() == 1), "{chosen:?}");
    }
}
