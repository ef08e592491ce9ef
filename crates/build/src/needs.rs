//! What a plan needs of a machine and is not there.

use host::packages::{family, install_line, thing_for};
use host::{Host, HostError};
use terms::plan::{Need, Plan};
use terms::record::Missing;
use terms::{Cmd, Nanos};

/// Loads the plan's modules and looks for its programs; what is missing comes back with the command that brings it.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn missing(host: &dyn Host, plan: &Plan) -> Result<Option<Missing>, HostError> {
    let mut absent = Vec::new();
    for need in &plan.needs {
        if !has(host, need)? {
            absent.push(need);
        }
    }
    if absent.is_empty() {
        return Ok(None);
    }
    let what = absent.iter().map(|need| match need {
        Need::Module(module) => format!("kernel module {module}"),
        Need::Program(program) => format!("program {program}"),
    });
    let things: Vec<&str> = absent.iter().map(|need| thing_for(need)).collect();
    Ok(Some(Missing {
        what: format!("{} not found", what.collect::<Vec<_>>().join(", ")),
        remedy: install_line(family(host)?, &things),
    }))
}

fn has(host: &dyn Host, need: &Need) -> Result<bool, HostError> {
    let cmd = match need {
        Need::Module(module) => Cmd::new(["modprobe", module]),
        Need::Program(program) => Cmd::new(["sh", "-c", "PATH=\"$PATH:/usr/sbin:/sbin\" command -v \"$0\"", program]),
    };
    Ok(host.run(&cmd.limit(Nanos::seconds(60)))?.ok())
}
