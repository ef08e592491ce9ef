//! RAM drives of the kernel's own (`brd`), made for a calibration and gone after it.

use build::Bindings;
use host::Host;
use terms::{Bytes, Cmd, Name};

use crate::error::CalibrateError;
use crate::work::named;

/// Drives: three are the fewest that parity needs.
pub(crate) const DRIVES: usize = 3;
/// Smallest that all layers fit on: btrfs wants 109 MiB.
const LEAST: Bytes = Bytes::mib(160);
/// Share of memory that all of them may take when full: a machine in use keeps the rest.
const SHARE: u64 = 8;

/// RAM drives.
pub(crate) struct Ram<'a> {
    host: &'a dyn Host,
    drives: Vec<(Name, String, Bytes)>,
    /// Was the module loaded for this?
    made: bool,
}

impl<'a> Ram<'a> {
    /// Takes those that are there for this, or has the kernel make some.
    pub(crate) fn take(host: &'a dyn Host, given: &Bindings) -> Result<Self, CalibrateError> {
        if given.len() >= DRIVES {
            return Ok(Self { host, drives: sized(host, given)?, made: false });
        }
        if host.exists("/sys/module/brd")? || host.exists("/dev/ram0")? {
            return Err(told("left out: the kernel's RAM drives are somebody's (`rmmod brd` takes them away)"));
        }
        let memory = host::inspect::inspect(host)?.memory;
        let drives = u64::try_from(DRIVES).unwrap_or(u64::MAX);
        if memory.0 / SHARE < LEAST.0 * drives {
            return Err(told(format!("left out: {memory} of memory are too few for RAM drives")));
        }
        let size = Bytes::mib(192).0.min(memory.0 / SHARE / drives);
        let (count, kib) = (format!("rd_nr={DRIVES}"), format!("rd_size={}", size / 1024));
        let load = Cmd::new(["modprobe", "brd", &count, &kib, "max_part=1"]);
        let outcome = host.run(&load)?;
        if !outcome.ok() {
            let why = host::CommandFailure::new(&host.name(), &load, outcome);
            return Err(told(format!("left out: this kernel makes no RAM drives here\n{why}")));
        }
        let nodes = (0..DRIVES).map(|at| format!("/dev/ram{at}"));
        let named: Bindings = names(DRIVES)?.into_iter().zip(nodes).collect();
        Ok(Self { host, drives: sized(host, &named)?, made: true })
    }

    pub(crate) fn drives(&self) -> &[(Name, String, Bytes)] {
        &self.drives
    }

    /// Gives their memory back.
    pub(crate) fn give_back(self) -> Result<(), CalibrateError> {
        if self.made {
            self.host.run_ok(&Cmd::new(["rmmod", "brd"]))?;
        }
        Ok(())
    }
}

fn told(text: impl Into<String>) -> CalibrateError {
    CalibrateError::Told(text.into())
}

/// The names of so many RAM drives here.
pub(crate) fn names(drives: usize) -> Result<Vec<Name>, CalibrateError> {
    (0..drives).map(|at| named(&format!("r{at}"))).collect()
}

fn sized(host: &dyn Host, drives: &Bindings) -> Result<Vec<(Name, String, Bytes)>, CalibrateError> {
    let mut all = Vec::new();
    for (name, node) in drives {
        let kernel_name = node.rsplit('/').next().unwrap_or(node);
        let sectors = host.read_text(&format!("/sys/block/{kernel_name}/size"))?;
        let sectors: u64 =
            sectors.trim().parse().map_err(|_| told(format!("the kernel does not tell the size of {node}")))?;
        all.push((name.clone(), node.clone(), Bytes(sectors * 512)));
    }
    Ok(all)
}
