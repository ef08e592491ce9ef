//! Before the first step: what drives are beside what they should be, and no step at all where a link is too slow.

use doctor::preflight::{StudyDrive, preflight};
use terms::event::{EventKind, Stopped};
use terms::preflight::{CheckState, DriveCheck};

use crate::exit::Failure;
use crate::runner::Runner;

impl Runner<'_> {
    /// Looks at every drive of a run that goes by steps, and stops it where a link carries too little.
    pub(crate) fn look_first(&mut self) -> Result<(), Failure> {
        let Some(most) = self.design.measure.stop_beyond else { return Ok(()) };
        let site = self.ready(1)?;
        self.progress.now("looking at the drives");
        let wanted: Vec<StudyDrive> = site.drives().iter().map(|(name, node)| self.wanted(name, node)).collect();
        let checks = preflight(&host::inspect::examine(&*site)?, &wanted);
        for drive in &wanted {
            let of: Vec<&DriveCheck> = checks.iter().filter(|check| check.drive == drive.name).collect();
            self.progress.note(&format!("before the first step: drive {}: {}", drive.name, words(&of)));
        }
        self.writer.put_preflight(&checks)?;
        self.event("", 0, EventKind::Preflight { checks: checks.clone() })?;
        let slow = |check: &&DriveCheck| check.share.is_some_and(|share| 1.0 - share > most.share());
        if let Some(check) = checks.iter().find(slow) {
            let why = format!("drive {} is more than {most} slower than it should be: {}", check.drive, off(check));
            let drive = Some(check.drive.clone());
            self.stop("", 0, Stopped { why, drive, ..Stopped::default() })?;
        }
        Ok(())
    }

    fn wanted(&self, name: &terms::Name, node: &str) -> StudyDrive {
        let setup = self.design.setups.iter().find(|setup| setup.name == *name);
        StudyDrive { name: name.clone(), node: node.to_owned(), lba: setup.and_then(|setup| setup.lba) }
    }
}

/// A drive in a line: what was found, and what of it is not as it should be.
fn words(checks: &[&DriveCheck]) -> String {
    let (fine, rest): (Vec<&DriveCheck>, Vec<&DriveCheck>) =
        checks.iter().partition(|check| check.state == CheckState::AsExpected);
    let fine: Vec<String> = fine.iter().map(|check| format!("{} {}", check.looked_at, check.found)).collect();
    let fine = (!fine.is_empty()).then(|| format!("{} as expected", fine.join(", ")));
    fine.into_iter().chain(rest.iter().map(|check| off(check))).collect::<Vec<_>>().join("; ")
}

/// What is not as it should be: `link 8 GT/s x2, expected 8 GT/s x4: it carries …`.
fn off(check: &DriveCheck) -> String {
    let DriveCheck { looked_at, expected, found, why, .. } = check;
    if check.state == CheckState::Unknown {
        return format!("{looked_at} not known: {why}");
    }
    format!("{looked_at} {found}, expected {expected}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_told_in_a_line() {
        let check = |looked_at: &str, found: &str, state, why: &str| DriveCheck {
            drive: terms::Name::new("a").unwrap(),
            looked_at: looked_at.to_owned(),
            expected: "8 GT/s x4".to_owned(),
            found: found.to_owned(),
            state,
            why: why.to_owned(),
            share: None,
        };
        let checks = [
            check("block", "4 KiB", CheckState::AsExpected, ""),
            check("link", "8 GT/s x2", CheckState::Off, "half of it"),
            check("firmware", "", CheckState::Unknown, "it does not tell"),
        ];
        let told = words(&checks.iter().collect::<Vec<_>>());
        let expect = "block 4 KiB as expected; link 8 GT/s x2, expected 8 GT/s x4: half of it; \
                      firmware not known: it does not tell";
        assert_eq!(told, expect);
    }
}
