//! What is said of the drives of a study before its first step.

use terms::inventory::Inventory;
use terms::preflight::{CheckState, DriveCheck};
use terms::{Bytes, Name};

use super::clean::clean;
use super::faults;
use crate::preflight::{StudyDrive, preflight};

fn wanted(node: &str, lba: Option<Bytes>) -> StudyDrive {
    StudyDrive { name: Name::new("a").unwrap(), node: format!("/dev/{node}"), lba }
}

/// Planted with the first fault of these words.
fn faulty(words: &str) -> Inventory {
    let all = faults::all();
    let fault = all.iter().find(|fault| fault.words.iter().any(|known| known.contains(words))).unwrap();
    let mut inventory = clean();
    (fault.plant)(&mut inventory);
    inventory
}

fn states(rows: &[DriveCheck]) -> Vec<(&str, CheckState)> {
    rows.iter().map(|row| (row.looked_at.as_str(), row.state)).collect()
}

#[test]
fn a_drive_as_it_should_be_is_told_with_what_was_found() {
    let rows = preflight(&clean(), &[wanted("nvme0n1", None)]);
    use CheckState::AsExpected;
    assert_eq!(states(&rows), [("firmware", AsExpected), ("block", AsExpected), ("link", AsExpected)]);
    assert_eq!((rows[2].expected.as_str(), rows[2].found.as_str()), ("8 GT/s x4", "8 GT/s x4"));
    assert_eq!(rows[2].share, Some(1.0));
    assert!(rows.iter().all(|row| row.why.is_empty() && !row.found.is_empty()));
}

#[test]
fn a_link_that_was_trained_down_is_off_by_its_share() {
    let rows = preflight(&faulty("both ends can do 8 GT/s x4"), &[wanted("nvme0n1", None), wanted("nvme1n1", None)]);
    assert_eq!(rows[2].state, CheckState::Off);
    assert_eq!((rows[2].expected.as_str(), rows[2].found.as_str()), ("8 GT/s x4", "8 GT/s x2"));
    assert!(rows[2].share.is_some_and(|share| (share - 0.5).abs() < 0.001));
    assert!(rows[2].why.contains("50 %"));
    assert_eq!(rows[5].state, CheckState::AsExpected, "the other drive has a link of its own");
}

#[test]
fn a_link_further_up_speaks_against_every_drive_behind_it() {
    let rows = preflight(&faulty("2.5 GT/s x8"), &[wanted("nvme6n1", None), wanted("nvme0n1", None)]);
    assert_eq!(states(&rows)[2..4], [("link", CheckState::AsExpected), ("link-below-both-ends", CheckState::Off)]);
    assert!(rows[3].found.contains("2.5 GT/s x8"));
    assert_eq!(rows.len(), 7, "and against no other");
}

#[test]
fn a_block_is_what_was_asked_for_or_the_best_there_is() {
    let rows = preflight(&clean(), &[wanted("nvme0n1", Some(Bytes(512)))]);
    assert_eq!((rows[1].expected.as_str(), rows[1].state), ("512 B", CheckState::Off));
    let rows = preflight(&clean(), &[wanted("nvme0n1", Some(Bytes(4096)))]);
    assert_eq!((rows[1].expected.as_str(), rows[1].state), ("4 KiB", CheckState::AsExpected));
    let mut small = faulty("blocks of 512 B are in use");
    small.drives.iter_mut().for_each(|drive| drive.logical_block = Bytes(512));
    let rows = preflight(&small, &[wanted("nvme10n1", None)]);
    assert_eq!((rows[1].found.as_str(), rows[1].state), ("512 B", CheckState::Off));
}

#[test]
fn what_cannot_be_read_is_not_as_expected() {
    let rows = preflight(&clean(), &[wanted("sdz", None)]);
    assert_eq!(states(&rows), [("drive", CheckState::Unknown)]);
    let bare = Inventory { detail: None, ..clean() };
    let rows = preflight(&bare, &[wanted("nvme0n1", None)]);
    assert_eq!(states(&rows), [("firmware", CheckState::Unknown), ("block", CheckState::Unknown)]);
}
