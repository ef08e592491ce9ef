//! A study of the stacks that were advised.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use terms::LabDrive;
use terms::advice::Advice;

use crate::drives::line;
use crate::exit::Failure;

/// Writes the advised stacks on the same drives, with everything else as in the text of the study that was asked with.
pub(super) fn write(path: &Path, advice: &Advice, drives: &[LabDrive], from: &str) -> Result<(), Failure> {
    let mut out = String::from(
        "# Layouts that Bedplate advises: `bedplate plan` shows how they are built, `bedplate run` measures them.\n\n",
    );
    out.push_str("question = \"Which of the advised layouts is fastest?\"\n\n");
    out.push_str("# Drives of the virtual machine, small ones: on real drives (`--on local`) each name stands for one of those.\n");
    out.push_str("[lab]\ndrives = [\n");
    for drive in drives {
        out.push_str(&line(drive.name.as_str(), drive.kind, drive.lba));
    }
    out.push_str("]\n");
    for one in &advice.front {
        let _ = writeln!(out, "\n[[stack]]\nname = \"{}\"\nlayers = [\n{}]", one.name, one.layers);
    }
    out.push_str(&kept(from));
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(Failure::file("make", path))?;
    file.write_all(out.as_bytes()).map_err(Failure::file("write", path))
}

/// The tables of a study that say what is measured: `[measure]` and each `[[workload]]`, as they stand there.
fn kept(text: &str) -> String {
    let mut out = String::new();
    let mut keep = false;
    for line in text.lines() {
        if line.starts_with('[') {
            keep = line.starts_with("[measure]") || line.starts_with("[[workload]]");
            if keep {
                out.push('\n');
            }
        }
        if keep {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
