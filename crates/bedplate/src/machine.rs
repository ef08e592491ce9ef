//! Which machine a reading verb reads: this one, a guest, or one in a file.

use std::path::Path;

use host::{Capture, Host, Rights};
use lab::Console;
use terms::spelling::{spell, spell_path};

use crate::address::Address;
use crate::cli::MachineArguments;
use crate::exit::Failure;
use crate::paint::tell;
use crate::settings::Settings;
use crate::site::Site;
use crate::{guest, input, studies};

/// Opens the machine that was asked for. A guest goes down when it is dropped.
pub(crate) fn open(arguments: &MachineArguments, settings: &Settings) -> Result<Box<dyn Host>, Failure> {
    if let Some(file) = &arguments.machine {
        return Ok(Box::new(captured(file)?));
    }
    match (arguments.on.as_str(), &arguments.study) {
        ("lab", Some(path)) => {
            let study = studies::load_whole(path, settings)?;
            Ok(Box::new(guest::boot(&study.design.lab, &[], Console::Log, settings)?))
        }
        (other, None) => named(other, settings),
        (other, Some(_)) => Err(Failure::told(format!(
            "error: `--study` needs `--on lab`, not `--on {other}`\n\nhint: leave it out, or use `--on lab`"
        ))),
    }
}

/// A machine that is there: `local` or `ssh://host`, with the rights that whoever asks has on it.
pub(crate) fn named(place: &str, settings: &Settings) -> Result<Box<dyn Host>, Failure> {
    match Address::parse(place)? {
        Address::Lab => {
            Err(Failure::told("error: `--on lab` needs the study whose guest is meant\n\nhint: add `--study STUDY`"))
        }
        address => Ok(Box::new(Site::open(&address, Rights::Person, settings)?)),
    }
}

/// What is expected of a file that is handed over.
const WHAT: &str = "capture or program output";

/// A machine in a file: a capture, or what programs printed.
pub(crate) fn captured(file: &Path) -> Result<Capture, Failure> {
    posted(std::slice::from_ref(&file))
}

/// A machine in files: one capture, or texts of programs in whatever mixture. `-` is standard input.
pub(crate) fn posted(files: &[impl AsRef<Path>]) -> Result<Capture, Failure> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for file in files.iter().map(AsRef::as_ref) {
        let bytes = input::bytes(file, WHAT, input::CAPTURE, |_| "`bedplate capture FILE` makes a capture")?;
        if files.len() == 1 && bytes.starts_with(b"bedplate capture") {
            return Capture::parse(&spell_path(file), &bytes).map_err(|error| {
                Failure::told(format!(
                    "error: the capture is not well formed\n{error}\n\nhint: docs/capture.md describes the format"
                ))
            });
        }
        texts.push((spell_path(file), String::from_utf8_lossy(&bytes).into_owned()));
    }
    let read = host::posted::read(texts.iter().map(|(file, text)| (file.as_str(), text.as_str())));
    for piece in &read.pieces {
        let entries = if piece.told == 1 { "1 entry".to_owned() } else { format!("{} entries", piece.told) };
        tell(&format!("{}:{}: output of `{}`, {entries}", piece.file, piece.line, piece.kind.command()));
    }
    read.refused.iter().for_each(|refused| tell(&spell(&format!("not read: {refused}"))));
    if !read.pieces.iter().any(|piece| piece.told > 0 || piece.whole) {
        let names: Vec<String> = texts.iter().map(|(file, _)| format!("`{file}`")).collect();
        let known: Vec<String> = host::posted::commands().map(|command| format!("`{command}`")).collect();
        return Err(Failure::told(format!(
            "error: nothing could be read in {}\n  because: it is neither a capture nor the whole output of a known program\n\nhint: \
             `bedplate capture FILE` packs all that is needed; outputs that are read are those of {}",
            names.join(", "),
            known.join(", ")
        )));
    }
    Ok(read.machine)
}
