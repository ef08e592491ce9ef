//! How drives are set up before anything is built on them.

use std::collections::HashSet;

use terms::{DriveSetup, LabDriveKind, Name, Note};

use crate::fields::Fields;
use crate::lab::Lab;
use crate::suggest::{either, is_worth_it};

/// Reads every `[[drive]]`.
pub(crate) fn read(study: &Fields, lab: &Lab, notes: &mut Vec<Note>) -> Vec<DriveSetup> {
    let mut setups: Vec<DriveSetup> = Vec::new();
    let mut seen = HashSet::new();
    for fields in study.tables("drive") {
        let Some(setup) = setup(fields) else { continue };
        if !seen.insert(setup.name.to_string()) {
            let message = format!("drive `{}` is set up twice", setup.name);
            let note = Note::error("study-same-setup", Some(fields.place("name")), message);
            notes.push(note.hint("say all of it in one `[[drive]]`"));
            continue;
        }
        check(fields, &setup, lab, notes);
        setups.push(setup);
    }
    setups
}

fn setup(fields: &Fields) -> Option<DriveSetup> {
    Some(DriveSetup {
        name: fields.name("name")?,
        lba: fields.size("lba"),
        write_cache: fields.boolean("write_cache"),
        scheduler: fields.text("scheduler").map(str::to_owned),
        sanitize: fields.word("sanitize"),
    })
}

fn check(fields: &Fields, setup: &DriveSetup, lab: &Lab, notes: &mut Vec<Note>) {
    let name = &setup.name;
    let Some(drive) = lab.drive(name.as_str()) else {
        if lab.complete {
            let message = format!("no drive is named `{name}`");
            let note = Note::error("study-unknown-drive", Some(fields.place("name")), message);
            let all = lab.spec.drives.iter().map(|drive| drive.name.as_str());
            notes.push(if is_worth_it(notes) { note.hint(format!("there is {}", either(all))) } else { note });
        }
        return;
    };
    let nothing = DriveSetup { name: name.clone(), lba: None, write_cache: None, scheduler: None, sanitize: None };
    if *setup == nothing {
        let note = Note::error("study-empty-setup", Some(fields.place("name")), format!("nothing is set on `{name}`"));
        notes.push(
            note.as_warning()
                .hint("name `lba`, `write_cache`, `scheduler` or `sanitize`, or leave the `[[drive]]` out"),
        );
    }
    match drive.kind {
        LabDriveKind::Nvme => {}
        LabDriveKind::Sata | LabDriveKind::Hdd => {
            refuse(fields, &["lba", "sanitize"], name, "SATA drives do not know it", notes)
        }
        LabDriveKind::NvmeTcp => {
            let why = "the enclosure does not pass it on";
            refuse(fields, &["lba", "write_cache", "sanitize"], name, why, notes);
        }
        LabDriveKind::Flash => {
            refuse(fields, &["lba", "sanitize"], name, "flash drives of the lab do not know it", notes);
            if setup.write_cache == Some(true) {
                refuse(fields, &["write_cache"], name, "flash drives of the lab have none", notes);
            }
        }
        LabDriveKind::Ram => {
            let why = "RAM drives have nothing to set";
            refuse(fields, &["lba", "write_cache", "scheduler", "sanitize"], name, why, notes);
        }
    }
}

fn refuse(fields: &Fields, keys: &[&str], name: &Name, why: &str, notes: &mut Vec<Note>) {
    for key in keys.iter().filter(|key| fields.has(key)) {
        let message = format!("`{key}` cannot be set on drive `{name}`: {why}");
        notes.push(Note::error("study-setup", Some(fields.key(key)), message).hint("leave it out"));
    }
}
