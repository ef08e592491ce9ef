//! `bedplate lab`

use std::path::Path;

use host::Local;
use lab::Console;
use lab::check::Requirement;
use terms::spelling::spell_path;
use terms::{Bytes, LabDrive, LabSpec, Name};

use crate::cli::{LabArguments, LabCommand};
use crate::exit::{Exit, Failure};
use crate::settings::{self, Settings};
use crate::{guest, studies};

/// Opens a shell in a guest, or says what this machine lacks for one.
pub(crate) fn lab(arguments: &LabArguments, settings: &Settings) -> Result<Exit, Failure> {
    match &arguments.command {
        LabCommand::Shell { study } => shell(study.as_deref(), settings),
        LabCommand::Check { json } => check(*json, settings),
        LabCommand::Sweep => {
            for path in lab::sweep(&settings.lab) {
                settings.printer.say(&format!("removed {}", spell_path(&path)));
            }
            Ok(Exit::Yes)
        }
    }
}

fn shell(study: Option<&Path>, settings: &Settings) -> Result<Exit, Failure> {
    let machine = match study {
        Some(path) => studies::load_whole(path, settings)?.design.lab,
        None => default_machine()?,
    };
    settings.printer.say("booting; `exit` or Ctrl-D leaves the shell and ends the guest");
    // QEMU makes the terminal raw; what it was is put back even if QEMU is killed.
    let terminal = rustix::termios::tcgetattr(std::io::stdin()).ok();
    let result = run_shell(&machine, settings);
    if let Some(terminal) = terminal {
        let _ = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, &terminal);
    }
    result.map(|()| Exit::Yes)
}

fn run_shell(machine: &LabSpec, settings: &Settings) -> Result<(), Failure> {
    let guest = guest::boot(machine, &[], Console::Terminal, settings)?;
    let drives: Vec<String> = guest.drives().iter().map(|(name, node)| format!("{name}={node}")).collect();
    let up = format!(
        "up in {} under {}, kernel {}; drives {}\r",
        guest.boot_time(),
        guest.accelerator().word(),
        guest.kernel().release,
        drives.join(" ")
    );
    settings.printer.say(&up);
    let (rows, columns) = settings::terminal_size();
    Ok(guest.shell(rows, columns)?)
}

fn default_machine() -> Result<LabSpec, Failure> {
    let drive = |name: &str| -> Result<LabDrive, Failure> {
        let name = Name::new(name).map_err(|error| Failure::Could(error.into()))?;
        Ok(LabDrive::new(name, Bytes::gib(1)))
    };
    Ok(LabSpec { drives: vec![drive("a")?, drive("b")?], ..LabSpec::new(2, Bytes::gib(2)) })
}

fn check(json: bool, settings: &Settings) -> Result<Exit, Failure> {
    let checks = lab::check::check(&Local::new())?;
    if json {
        settings.printer.data(&serde_json::to_string_pretty(&checks)?)?;
    } else {
        let width = checks.iter().map(|check| check.what.len()).max().unwrap_or(0);
        settings.printer.data(&checks.iter().map(|check| line(check, width)).collect::<String>())?;
    }
    let stops = checks.iter().any(|check| check.required && check.found.is_none());
    if !json {
        let answer = if stops {
            "A lab cannot run here until what is MISSING is there."
        } else {
            "A lab can run here. Whether KVM works is found out at the first boot; without it the lab emulates."
        };
        settings.printer.data(&format!("\n{}", report::paragraph("", answer, settings.style.columns())))?;
    }
    Ok(if stops { Exit::NotHere } else { Exit::Yes })
}

fn line(check: &Requirement, width: usize) -> String {
    let mark = match (&check.found, check.required) {
        (Some(_), _) => "ok     ",
        (None, true) => "MISSING",
        (None, false) => "missing",
    };
    let found = check.found.as_deref().unwrap_or("");
    let mut text = format!("{mark}  {:<width$}  {}", check.what, if found.is_empty() { &check.why } else { found });
    text = text.trim_end().to_owned();
    if let Some(remedy) = &check.remedy {
        text.push_str(&format!("\n         get it: {remedy}"));
    }
    text + "\n"
}
