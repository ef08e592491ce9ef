//! `bedplate studies`

use terms::record::ICOUNT;
use terms::{Clock, Design, LabDriveKind};

use crate::exit::{Exit, Failure};
use crate::library;
use crate::runner::{estimate, lanes};
use crate::settings::Settings;
use crate::studies;

/// Lists the studies that come with the program, each with its question, or prints the text of one.
pub(crate) fn studies(name: Option<&str>, settings: &Settings) -> Result<Exit, Failure> {
    if let Some(name) = name {
        let path = std::path::Path::new(name);
        let text = library::text(path).ok_or_else(|| {
            Failure::told(format!("error: no study is called `{name}`\n\nhint: {}", library::hint(path)))
        })?;
        settings.printer.data(text)?;
        return Ok(Exit::Yes);
    }
    let mut out = String::new();
    for (name, text) in library::ALL {
        let Some(design) = spec::parse(text).0 else { continue };
        let (stacks, workloads) = (design.stacks.len(), design.workloads.len());
        let time = time(&design, settings)?;
        let question = report::paragraph("    ", &design.question, settings.style.columns());
        out.push_str(&format!("{name}\n{question}    {stacks} stacks × {workloads} workloads, {time}\n"));
    }
    settings.printer.data(&out)?;
    settings.printer.say("\n`bedplate run NAME` runs one in the lab; `bedplate studies NAME` prints its text");
    Ok(Exit::Yes)
}

/// How long it takes in the lab, as it is estimated before a run. A study that gets a real clock is taken to run on emulated
/// processors.
fn time(design: &Design, settings: &Settings) -> Result<String, Failure> {
    let plans = studies::plans(design, &plan::DriveSize::of_lab(&design.lab))?;
    let is_virtual = design.lab.clock() == Clock::Virtual;
    let kind = estimate::Kind {
        place: "lab",
        accelerator: Some(if is_virtual { ICOUNT } else { "tcg" }),
        hard_disks: design.lab.drives.iter().any(|drive| drive.kind == LabDriveKind::Hdd),
        windows_decide: design.measure.windows_decide(),
    };
    let costs = estimate::learn(kind, &plans, settings).in_lanes(lanes::count(design, is_virtual));
    let (least, most) = (costs.run(design, &[]), costs.longest(design, &[]));
    let guess = if costs.runs == 0 { "about " } else { "" };
    Ok(match most > least {
        true => format!("{guess}{} to {}", estimate::span(least), estimate::span(most)),
        false => format!("{guess}{}", estimate::span(least)),
    })
}
