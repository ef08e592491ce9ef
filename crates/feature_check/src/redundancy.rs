//! Does a stack outlive a drive?

use terms::{Name, Showing};

use crate::Came;
use crate::data::{Data, Read, bypass_caches, forget};
use crate::error::FeatureCheckError;
use crate::expected::survives;
use crate::pull::pull;
use crate::replace::Replacement;
use crate::scene::Scene;

/// Pulls a drive under known data, reads, rebuilds onto a blank drive, and pulls another, so that the rebuilt one has
/// to serve.
pub(crate) fn hold(scene: &Scene<'_>) -> Result<Came, FeatureCheckError> {
    bypass_caches(scene)?;
    let before = Data::new(scene, "redundancy", 0);
    before.write(scene)?;
    if before.compare(scene, "The control: with all drives the data are right.")? != Read::Right {
        return Ok((None, "The data were not right with all drives in place.".to_owned()));
    }
    let Some((first, lasts)) = victim(scene) else {
        return Ok((None, "The stack has no drive of its own that could be pulled.".to_owned()));
    };
    let replacement = if lasts { Replacement::prepare(scene, &first)? } else { None };
    let pulled = pull(scene, &first)?;
    forget(scene)?;
    match before.compare(scene, "The data are read with the drive gone.")? {
        Read::Right => {}
        Read::Refused => return Ok((Some(Showing::Lost), format!("With `{first}` gone the data cannot be read."))),
        Read::Wrong => return Ok((Some(Showing::Lost), format!("With `{first}` gone other data are read."))),
    }
    let survived = format!("With `{first}` gone the data are right.");
    let Some(replacement) = replacement else {
        return Ok((Some(Showing::NotRebuilt), format!("{survived} No way to rebuild such a stack is known here.")));
    };
    let meanwhile = Data::new(scene, "redundancy", 1);
    meanwhile.write(scene)?;
    pulled.replace_with_blank(scene)?;
    if let Err(error) = replacement.rebuild(scene) {
        if error.ends_all() {
            return Err(error);
        }
        return Ok((Some(Showing::NotRebuilt), format!("{survived} The rebuild failed: {}", crate::told(&error))));
    }
    prove(scene, &first, &survived, &[before, meanwhile])
}

/// What was rebuilt is worth what it serves alone.
fn prove(scene: &Scene<'_>, first: &Name, survived: &str, pieces: &[Data]) -> Result<Came, FeatureCheckError> {
    let right = |why: &str| -> Result<bool, FeatureCheckError> {
        forget(scene)?;
        let mut right = true;
        for piece in pieces {
            right &= piece.compare(scene, why)? == Read::Right;
        }
        Ok(right)
    };
    if !right("The data from before and those written meanwhile are read after the rebuild.")? {
        let says = format!("{survived} After the rebuild onto a blank drive they are not.");
        return Ok((Some(Showing::NotRebuilt), says));
    }
    let says = format!("{survived} A blank drive was put in its place and rebuilt, and the data are right");
    let another =
        scene.subject.plan.drives.iter().find(|drive| *drive != first && survives(scene.subject.stack, drive));
    let Some(another) = another else { return Ok((Some(Showing::Survived), format!("{says}."))) };
    pull(scene, another)?;
    if right("Another drive is gone, so that the data have to come from the rebuilt one.")? {
        let says = format!("{says}, also with `{another}` gone, when they come from the new drive.");
        return Ok((Some(Showing::Survived), says));
    }
    Ok((
        Some(Showing::NotRebuilt),
        format!("{says}; with `{another}` gone they are not: the new drive does not serve."),
    ))
}

/// The drive to pull, and whether its loss should be survived: one whose loss should not be, where there is one.
fn victim(scene: &Scene<'_>) -> Option<(Name, bool)> {
    let drives = &scene.subject.plan.drives;
    let lasts = |drive: &Name| survives(scene.subject.stack, drive);
    let worst = drives.iter().find(|drive| !lasts(drive)).or(drives.first())?;
    Some((worst.clone(), lasts(worst)))
}
