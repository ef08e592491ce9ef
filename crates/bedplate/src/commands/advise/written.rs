//! A study of the stacks that were advised.

use std::fmt::Write as _;
use std::path::Path;

use terms::advice::Advice;
use terms::{Bytes, LabDrive};

use crate::drives::{LARGEST, line};
use crate::exit::Failure;
use crate::output;

/// Writes the advised stacks on the same drives, taken to be this large where that was said, with everything else as in the text of the study that was asked with.
pub(super) fn write(
    path: &Path,
    advice: &Advice,
    (drives, size): (&[LabDrive], Option<Bytes>),
    from: &str,
) -> Result<(), Failure> {
    let mut out = String::from(
        "# Layouts that Bedplate advises: `bedplate plan` shows how they are built, `bedplate run` measures them.\n\n",
    );
    out.push_str("question = \"Which of the advised layouts is fastest?\"\n\n");
    let size = |drive: &LabDrive| size.or(drive.stands_for).filter(|size| (Bytes::mib(32)..=LARGEST).contains(size));
    let is_said = drives.iter().any(|drive| size(drive).is_some());
    let said = if is_said { " `stands_for` is the size of yours, for `bedplate expect --space --years`." } else { "" };
    let _ = writeln!(out, "# Small drives of the virtual machine.{said}");
    out.push_str("[lab]\ndrives = [\n");
    for drive in drives {
        out.push_str(&line(drive.name.as_str(), drive.kind, drive.lba, size(drive)));
    }
    out.push_str("]\n");
    for (one, name) in advice.front.iter().zip(advise::study_names(&advice.front)) {
        let _ = writeln!(out, "\n[[stack]]\nname = \"{name}\"\nlayers = [\n{}]", one.layers);
    }
    out.push_str(&kept(from));
    output::write_new(path, &out)
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
