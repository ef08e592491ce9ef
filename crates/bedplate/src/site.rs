//! Where a study runs: a guest of the lab, this machine, or another one over ssh.
//!
//! All three are a [`Host`] with the study's drives on it. What differs is what a failure leaves: a guest goes with
//! all that stands in it, a machine has to be taken back step by step.

use build::{Bindings, Origin};
use claim::Permission;
use host::{Host, Local, Rights, Ssh};
use lab::Guest;
use terms::{Cmd, Name, Plan, Speed};

use crate::address::Address;
use crate::exit::Failure;
use crate::settings::Settings;

/// A machine with the study's drives.
pub(crate) struct Site {
    /// The other hosts of a lab; they go before the first, which has the network between them.
    others: Vec<Self>,
    first: bool,
    machine: Machine,
    drives: Bindings,
    /// Real drives that may be used.
    claims: Vec<Claimed>,
}

/// A real drive that a person named and that was proven free.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// What the study calls it.
    pub(crate) name: Name,
    /// Why it may be used.
    pub(crate) permission: Permission,
}

/// The machine itself.
enum Machine {
    Lab(Box<Guest>),
    Local(Local),
    Ssh(Box<Ssh>),
}

impl Site {
    /// A guest and the drives that it was booted with.
    pub(crate) fn lab(mut guest: Guest) -> Self {
        let others = guest.take_others().into_iter().map(|other| Self { first: false, ..Self::lab(other) }).collect();
        let drives = guest.drives().clone();
        Self { others, first: true, drives, machine: Machine::Lab(Box::new(guest)), claims: Vec::new() }
    }

    /// A machine that is there, its drives not yet known.
    ///
    /// # Errors
    /// Where another machine cannot be reached, or its agent cannot have the rights.
    pub(crate) fn open(address: &Address, rights: Rights, settings: &Settings) -> Result<Self, Failure> {
        let machine = match address {
            Address::Local => Machine::Local(Local::new()),
            Address::Ssh(uri) => {
                let own = std::env::current_exe().map_err(Failure::system("could not find this program's own file"))?;
                Machine::Ssh(Box::new(Ssh::connect(&settings.ssh, uri, crate::BUILD, &own, rights)?))
            }
            Address::Lab => return Err(Failure::told("error: a guest is booted, not opened")),
        };
        Ok(Self { others: Vec::new(), first: true, machine, drives: Bindings::new(), claims: Vec::new() })
    }

    /// The same machine with drives that were found on it.
    pub(crate) fn with_drives(self, drives: Bindings) -> Self {
        Self { drives, ..self }
    }

    /// The machine that something was begun on.
    ///
    /// # Errors
    /// [`Failure::Refused`] where another machine answers by now.
    pub(crate) fn of_origin(origin: &Origin, settings: &Settings) -> Result<Self, Failure> {
        // A directory needs no more rights than it was measured with.
        let rights = if origin.drives.is_empty() { Rights::Person } else { Rights::Root };
        let site = Self::open(&Address::parse(&origin.place)?, rights, settings)?;
        let now = site.machine_id()?;
        if now == origin.machine {
            return Ok(site);
        }
        let word = |id: &Option<String>| id.clone().unwrap_or_else(|| "not told".to_owned());
        Err(Failure::Refused(format!(
            "refused: `{}` is another machine than the run was begun on\n  because: its machine-id was {}, and is {}",
            origin.place,
            word(&origin.machine),
            word(&now)
        )))
    }

    /// The same machine with drives that may be used.
    pub(crate) fn with_claims(self, claims: Vec<Claimed>) -> Self {
        let node = |of: &Claimed| (of.name.clone(), of.permission.identity().node.clone());
        Self { drives: claims.iter().map(node).collect(), claims, ..self }
    }

    /// Tells one start of the machine from every other (random(4)).
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(crate) fn boot_id(&self) -> Result<String, Failure> {
        Ok(self.read_text(host::BOOT_ID)?)
    }

    /// What the machine's system calls itself (machine-id(5)); `None` where it does not tell.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub(crate) fn machine_id(&self) -> Result<Option<String>, Failure> {
        match self.read_text("/etc/machine-id") {
            Ok(id) => Ok(Some(id).filter(|id| !id.is_empty())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What a journal says of this machine and the drives that may be written; `None` in a guest.
    ///
    /// # Errors
    /// Where the machine cannot be asked.
    pub(crate) fn origin(&self, plan: &Plan) -> Result<Option<Box<Origin>>, Failure> {
        if self.is_lab() {
            return Ok(None);
        }
        let drive = |of: &Claimed| (of.name.clone(), of.permission.identity().clone());
        Ok(Some(Box::new(Origin {
            place: self.place(),
            machine: self.machine_id()?,
            boot: self.boot_id()?,
            owner: host::orphan::mark(self)?,
            plan_sha256: plan_sha256(plan)?,
            drives: self.claims.iter().map(drive).collect(),
        })))
    }

    /// Drives of a plan: the study's names and the nodes of today.
    pub(crate) fn drives_of(&self, plan: &Plan) -> Vec<(String, String)> {
        let node = |name: &Name| Some((name.to_string(), self.drives.get(name)?.clone()));
        plan.drives.iter().filter_map(node).collect()
    }

    /// Drives that work on a plan's target reaches: those of the plan, or all that are known where it builds on what is
    /// there.
    pub(crate) fn members(&self, plan: &Plan) -> Vec<(String, String)> {
        if plan.drives.is_empty() {
            return self.drives.iter().map(|(name, node)| (name.to_string(), node.clone())).collect();
        }
        self.drives_of(plan)
    }

    /// Waits for a path to be a block device.
    ///
    /// # Errors
    /// Where it is none after 5 seconds.
    pub(crate) fn await_node(&self, node: &str) -> Result<(), Failure> {
        for _ in 0..100 {
            if self.run(&Cmd::new(["test", "-b", node]))?.ok() {
                return Ok(());
            }
            self.pause(std::time::Duration::from_millis(50))?;
        }
        Err(Failure::Could(format!("`{node}` did not appear within 5 s").into()))
    }

    /// The other hosts, each with drives of its own that are called the same.
    pub(crate) fn others(&self) -> &[Self] {
        &self.others
    }

    /// Is it the host that records speak of? Every machine is, but for the others of a lab.
    pub(crate) const fn is_first(&self) -> bool {
        self.first
    }

    /// Where the other hosts reach it, if there are any.
    pub(crate) fn address(&self) -> Option<&str> {
        match &self.machine {
            Machine::Lab(guest) => guest.address(),
            Machine::Local(_) | Machine::Ssh(_) => None,
        }
    }

    /// Real drives that may be used.
    pub(crate) fn claims(&self) -> &[Claimed] {
        &self.claims
    }

    /// Nodes of today of the study's drives.
    pub(crate) const fn drives(&self) -> &Bindings {
        &self.drives
    }

    /// What records call it.
    pub(crate) fn place(&self) -> String {
        match &self.machine {
            Machine::Lab(_) => "lab".to_owned(),
            Machine::Local(_) => "local".to_owned(),
            Machine::Ssh(ssh) => ssh.name(),
        }
    }

    /// What runs a guest's instructions; `None` for a machine of its own.
    pub(crate) fn accelerator(&self) -> Option<&'static str> {
        match &self.machine {
            Machine::Lab(guest) => Some(guest.accelerator().word()),
            Machine::Local(_) | Machine::Ssh(_) => None,
        }
    }

    /// The processor that a guest under a virtual clock stands for; `None` for what has our clock.
    pub(crate) fn speed(&self) -> Option<Speed> {
        match &self.machine {
            Machine::Lab(guest) => guest.speed(),
            Machine::Local(_) | Machine::Ssh(_) => None,
        }
    }

    /// Does everything on it go when this value goes?
    pub(crate) const fn is_lab(&self) -> bool {
        matches!(self.machine, Machine::Lab(_))
    }

    fn host(&self) -> &dyn Host {
        match &self.machine {
            Machine::Lab(guest) => &**guest,
            Machine::Local(local) => local,
            Machine::Ssh(ssh) => &**ssh,
        }
    }
}

/// Tells a plan from every other.
///
/// # Errors
/// Where it cannot be written down.
pub(crate) fn plan_sha256(plan: &Plan) -> Result<String, Failure> {
    Ok(record::sha256_hex(&serde_json::to_vec(plan)?))
}

impl Host for Site {
    fn name(&self) -> String {
        self.host().name()
    }
    host::forward_host!(own => own.host());
    fn is_throwaway(&self) -> bool {
        self.host().is_throwaway()
    }
    fn network_path(&self, up: bool) -> Result<(), host::HostError> {
        self.host().network_path(up)
    }
}
