//! Programs that outlive whoever started them: a run that is killed leaves its `mdadm` or `fio` at work.
//!
//! Every program that the door starts carries its owner in its environment ([`OWNER`]): the PID namespace, the process id in
//! it and the start time, which together name a process once and for all. Whoever cleans up after a killed run finds its programs by
//! it, and can wait for them or end them before it takes away what they work on.

use std::sync::OnceLock;

use terms::{Cmd, ProcessId, ProcessStat};

use crate::{Host, HostError};

/// Environment variable that says who started a program: `PID namespace:process id:start time in clock ticks since boot`.
pub(crate) const OWNER: &str = "BEDPLATE_OWNER";

/// Leads to the PID namespace of whoever looks.
const NAMESPACE: &str = "/proc/self/ns/pid";

/// A program at work whose owner is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Process id, which is also that of its process group.
    pub id: u32,
    /// Its command line.
    pub line: String,
}

/// This process, for the environment of what it starts; `None` where `/proc` is not mounted.
pub(crate) fn this_process() -> Option<&'static str> {
    static SELF: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let stat = ProcessStat::parse(&std::fs::read_to_string("/proc/self/stat").ok()?)?;
        let namespace = std::fs::read_link(NAMESPACE).ok()?;
        Some(format!("{}:{}", number(&namespace.to_string_lossy())?, stat.process()))
    };
    SELF.get_or_init(read).as_deref()
}

/// `pid:[4026531836]` (namespaces(7)).
fn number(namespace: &str) -> Option<&str> {
    namespace.strip_prefix("pid:[")?.strip_suffix(']')
}

/// By what programs are marked that are started through this door, on the machine that it leads to; `None` where nothing marks them.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn mark(host: &dyn Host) -> Result<Option<String>, HostError> {
    let told = host.run(&Cmd::new(["printenv", OWNER]))?;
    Ok(Some(told.text()).filter(|owner| told.ok() && !owner.is_empty()))
}

/// Programs of a machine that were started by one of these owners ([`mark`]), which is gone; with `None`, by any that is gone. In a container another Bedplate may be at work, whose
/// process ids mean nothing here: what was started in another PID namespace is left alone. Those that became services of their own (a
/// session of their own, as `dmeventd` does) are left out: they are meant to stay.
///
/// # Errors
/// Where the table of processes cannot be read. A process that ends meanwhile, or belongs to somebody else, is none.
pub fn find(host: &dyn Host, owners: Option<&[String]>) -> Result<Vec<Orphan>, HostError> {
    let namespace = host.run_ok(&Cmd::new(["readlink", NAMESPACE]))?.text();
    let Some(namespace) = number(&namespace) else { return Ok(Vec::new()) };
    let own = host.run_ok(&Cmd::new(["stat", "--format=%u", "/proc/self"]))?.text();
    let ids = host.list("/proc")?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    let marked = |id| orphan(host, namespace, owners, id);
    Ok(ids.filter_map(marked).filter(|orphan| is_of(host, orphan.id, &own)).collect())
}

fn orphan(host: &dyn Host, namespace: &str, owners: Option<&[String]>, id: u32) -> Option<Orphan> {
    let stat = ProcessStat::parse(&line(host, id)?)?;
    if stat.group != id || stat.session == id || stat.is_over() {
        return None;
    }
    let environment = host.read(&format!("/proc/{id}/environ")).ok()?;
    let owner = environment.split(|byte| *byte == 0).find_map(owner)?;
    if owners.is_some_and(|owners| !owners.contains(&owner)) {
        return None;
    }
    let owner = owner.strip_prefix(namespace)?.strip_prefix(':')?;
    if is_alive(host, owner) {
        return None;
    }
    let line = String::from_utf8_lossy(&host.read(&format!("/proc/{id}/cmdline")).ok()?).replace('\0', " ");
    Some(Orphan { id, line: line.trim_end().to_owned() })
}

/// Whoever may write an environment can claim to have been started by anybody: a program is ours if its user is.
fn is_of(host: &dyn Host, id: u32, user: &str) -> bool {
    let stat = Cmd::new(["stat", "--format=%u", &format!("/proc/{id}")]);
    host.run(&stat).is_ok_and(|outcome| outcome.ok() && outcome.text() == user)
}

fn line(host: &dyn Host, id: u32) -> Option<String> {
    host.read_text(&format!("/proc/{id}/stat")).ok()
}

fn owner(variable: &[u8]) -> Option<String> {
    std::str::from_utf8(variable).ok()?.strip_prefix(OWNER)?.strip_prefix('=').map(ToOwned::to_owned)
}

fn is_alive(host: &dyn Host, owner: &str) -> bool {
    let Some(owner) = ProcessId::parse(owner) else { return false };
    line(host, owner.id).is_some_and(|line| owner.is_at_work(&line))
}

#[cfg(test)]
mod tests {
    use terms::Nanos;

    use super::*;
    use crate::Local;

    /// A shell stands for a killed Bedplate: what it leaves carries the name of a process that is not there.
    #[test]
    fn what_a_dead_owner_left_is_found_until_it_ends() {
        let host = Local::new();
        let line = format!("sleep 600.{}", std::process::id());
        // Job control gives the program a process group of its own, as the door does.
        let (namespace, _) = this_process().unwrap().split_once(':').unwrap();
        let owner = format!("{namespace}:4194304:1");
        let script = format!("set -m; {OWNER}={owner} {line} >/dev/null 2>&1 & echo $!");
        let id: u32 = host.run_ok(&Cmd::new(["bash", "-c", &script])).unwrap().text().parse().unwrap();
        // The shell says the id as soon as it has forked: what it starts has its name and environment a little later.
        let is_among = |owners: Option<&[String]>| {
            let found = find(&host, owners).unwrap();
            found.into_iter().any(|orphan| orphan.id == id && orphan.line == line)
        };
        let is_of = |owner: &str| is_among(Some(&[owner.to_owned()]));
        let found = || is_of(&owner);
        assert!(comes(&found), "it was not found");
        assert!(!is_of(&format!("{namespace}:4194304:2")), "another that is gone started it");
        assert!(is_among(None), "whoever does not know who started it finds it, too");
        let end = Cmd::new(["kill".to_owned(), "--".to_owned(), format!("-{id}")]).limit(Nanos::seconds(5));
        host.run_ok(&end).unwrap();
        assert!(comes(&|| !found()), "it is still there");
    }

    /// Nobody has waited for it yet: whoever killed it does something else, or is no parent that does.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child that nobody waits for")]
    fn an_owner_that_ended_is_gone_also_where_nobody_waited_for_it() {
        let host = Local::new();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let stat = || ProcessStat::parse(&line(&host, child.id()).unwrap()).unwrap();
        let owner = stat().process().to_string();
        assert!(comes(&|| stat().is_over()), "{owner}");
        assert!(!is_alive(&host, &owner), "{owner}");
        child.wait().unwrap();
    }

    /// Whether something becomes true before five seconds are over.
    fn comes(is_so: &dyn Fn() -> bool) -> bool {
        (0..500).any(|_| {
            let so = is_so();
            if !so {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            so
        })
    }

    #[test]
    fn what_was_started_in_another_namespace_is_left_alone() {
        let host = Local::new();
        let script = format!("set -m; {OWNER}=1:4194304:1 sleep 600 >/dev/null 2>&1 & echo $!");
        let id: u32 = host.run_ok(&Cmd::new(["bash", "-c", &script])).unwrap().text().parse().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(200));
        let found = find(&host, None).unwrap();
        host.run_ok(&Cmd::new(["kill".to_owned(), "--".to_owned(), format!("-{id}")])).unwrap();
        assert!(found.iter().all(|orphan| orphan.id != id), "{found:?}");
    }

    #[test]
    fn what_a_living_owner_started_is_none() {
        let said = mark(&Local::new()).unwrap().unwrap();
        assert_eq!(said, this_process().unwrap());
        assert!(is_alive(&Local::new(), said.split_once(':').unwrap().1));
    }
}
