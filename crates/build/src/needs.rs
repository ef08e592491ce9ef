//! What a plan needs of a machine and is not there.

use std::collections::BTreeMap;

use host::packages::{family, install_line, thing_for};
use host::{Host, HostError};
use terms::plan::{Plan, Prerequisite};
use terms::record::Missing;
use terms::{Cmd, Nanos};

/// Looks for what plans need, each thing once however many plans need it.
pub struct Prerequisites<'a> {
    host: &'a dyn Host,
    known: BTreeMap<Prerequisite, bool>,
}

impl<'a> Prerequisites<'a> {
    /// Nothing is known yet of this machine.
    #[must_use]
    pub const fn new(host: &'a dyn Host) -> Self {
        Self { host, known: BTreeMap::new() }
    }

    /// Loads the plan's modules and looks for its programs; what is missing comes back with the command that brings it.
    ///
    /// # Errors
    /// Where the machine cannot be asked.
    pub fn missing(&mut self, plan: &Plan) -> Result<Option<Missing>, HostError> {
        let mut absent = Vec::new();
        for need in &plan.needs {
            if !self.has(need)? {
                absent.push(need);
            }
        }
        if absent.is_empty() {
            return Ok(None);
        }
        let what = absent.iter().map(|need| match need {
            Prerequisite::Module(module) => format!("kernel module {module}"),
            Prerequisite::Program(program) => format!("program {program}"),
        });
        let things: Vec<&str> = absent.iter().map(|need| thing_for(need)).collect();
        Ok(Some(Missing {
            what: format!("{} not found", what.collect::<Vec<_>>().join(", ")),
            remedy: install_line(family(self.host)?, &things),
        }))
    }

    fn has(&mut self, need: &Prerequisite) -> Result<bool, HostError> {
        if let Some(known) = self.known.get(need) {
            return Ok(*known);
        }
        let found = has(self.host, need)?;
        self.known.insert(need.clone(), found);
        Ok(found)
    }
}

/// Is it there, though `modprobe` knows nothing of it? A machine without the tree of its kernel's modules has what is built in.
fn is_in_kernel(host: &dyn Host, module: &str) -> Result<bool, HostError> {
    let kinds = host.read_text("/proc/filesystems").unwrap_or_default();
    let is_kind = kinds.lines().any(|line| line.split_whitespace().next_back() == Some(module));
    Ok(is_kind || host.exists(&format!("/sys/module/{}", module.replace('-', "_")))?)
}

fn has(host: &dyn Host, need: &Prerequisite) -> Result<bool, HostError> {
    match need {
        Prerequisite::Module(module) => {
            Ok(host.run(&Cmd::new(["modprobe", module]).limit(Nanos::seconds(60)))?.ok() || is_in_kernel(host, module)?)
        }
        Prerequisite::Program(program) => Ok(host::find_program(host, program)?.is_some()),
    }
}
