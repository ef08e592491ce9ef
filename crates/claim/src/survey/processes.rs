//! Processes: which block devices they have open, and which mount namespaces they are in.

use std::collections::BTreeMap;
use std::time::Duration;

use host::{Devno, Host, HostError};
use terms::{Cmd, Nanos};

use crate::device::present;
use crate::doubt::Doubt;

/// A look into every process takes one program instead of thousands of questions. Only block devices are asked for
/// their numbers: those are few, and in base 16, for `stat` before coreutils 9.0 tells them in no other. The last word tells an answer that was cut short.
const LOOK: &str = r#"for process in /proc/[0-9]*; do
  for open in "$process"/fd/*; do
    if [ -b "$open" ]; then
      stat -L --format='open %t:%T %n' "$open" || [ ! -b "$open" ] || echo "closed $open"
    fi
  done
  [ -r "$process/fd" ] || [ ! -d "$process" ] || echo "closed $process"
done
stat -L --format='namespace %i %n' /proc/[0-9]*/ns/mnt
echo end"#;

/// A machine may have thousands of processes, and the lab is slow.
pub(super) const LIMIT: Nanos = Nanos::seconds(120);

/// A block device that a process has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Open {
    /// The device.
    pub(crate) devno: Devno,
    /// The process.
    pub(crate) process: u32,
    /// What it calls itself.
    pub(crate) program: String,
}

/// What the processes of a machine say.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    /// Block devices that are open, by others than this program.
    pub(crate) opens: Vec<Open>,
    /// Processes in each mount namespace.
    pub(crate) namespaces: BTreeMap<u64, Vec<u32>>,
}

/// Programs that look at a drive for a moment whenever something about it changes.
const PASSING: [&str; 3] = ["(udev-worker)", "systemd-udevd", "udevd"];
/// How often they are waited for, and how long.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(200);

/// Looks into all processes, and again while udev has something open.
pub(crate) fn read(host: &dyn Host) -> Result<Processes, Doubt> {
    let is_passing = |open: &Open| PASSING.contains(&open.program.as_str());
    until(host, (TRIES, PAUSE), || look(host), |processes| !processes.opens.iter().any(is_passing))
}

/// Looks again, after a pause, until what is found is enough: so many times at most, and the last answer counts.
pub(super) fn until<T>(
    host: &dyn Host,
    (tries, pause): (u32, Duration),
    look: impl Fn() -> Result<T, Doubt>,
    is_enough: impl Fn(&T) -> bool,
) -> Result<T, Doubt> {
    let mut found = look()?;
    for _ in 1..tries {
        if is_enough(&found) {
            break;
        }
        host.pause(pause)?;
        found = look()?;
    }
    Ok(found)
}

fn look(host: &dyn Host) -> Result<Processes, Doubt> {
    // Whoever serves this host may hold the drive for us, under a lock.
    let own = host.resolve("/proc/self")?;
    let own = own.strip_prefix("/proc/").and_then(|id| id.parse().ok());
    let outcome = host.run_ok(&Cmd::new(["sh", "-c", LOOK]).limit(LIMIT))?;
    let mut processes = parse(&outcome.text())?;
    processes.opens.retain(|open| Some(open.process) != own);
    for open in &mut processes.opens {
        open.program = program(host, open.process)?;
    }
    Ok(processes)
}

/// What a process calls itself.
pub(super) fn program(host: &dyn Host, process: u32) -> Result<String, HostError> {
    let name = present(host.read_text(&format!("/proc/{process}/comm")))?;
    Ok(name.unwrap_or_else(|| "ended since".to_owned()))
}

fn parse(text: &str) -> Result<Processes, Doubt> {
    let mut processes = Processes::default();
    let Some(text) = text.strip_suffix("end") else { return Err(Doubt::words("the look into them was cut short")) };
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let process = words.last().and_then(|path| process(path));
        match (words.as_slice(), process) {
            (["closed", path], _) => {
                return Err(Doubt::words(format!("`{path}` cannot be looked into; only root can")));
            }
            (["open", devno, _], Some(process)) => match of_base_16(devno) {
                Some(devno) => {
                    let open = Open { devno, process, program: String::new() };
                    if !processes.opens.contains(&open) {
                        processes.opens.push(open);
                    }
                }
                None => return Err(not_understood(line)),
            },
            (["namespace", number, _], Some(process)) => match number.parse() {
                Ok(number) => processes.namespaces.entry(number).or_default().push(process),
                Err(_) => return Err(not_understood(line)),
            },
            _ => return Err(not_understood(line)),
        }
    }
    Ok(processes)
}

/// `103:0`, in base 16.
fn of_base_16(text: &str) -> Option<Devno> {
    let (major, minor) = text.split_once(':')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    Some(Devno { major: number(major)?, minor: number(minor)? })
}

/// The process in a path below `/proc`.
pub(super) fn process(path: &str) -> Option<u32> {
    path.strip_prefix("/proc/")?.split('/').next()?.parse().ok()
}

pub(super) fn not_understood(line: &str) -> Doubt {
    Doubt::words(format!("a line is not understood: {line}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_processes_have_open_is_listed_once() {
        let text = "open 103:0 /proc/12/fd/3\nopen 103:0 /proc/12/fd/4\nopen 8:1 /proc/7/fd/0\n\
                    namespace 4026531841 /proc/1/ns/mnt\nnamespace 4026531841 /proc/7/ns/mnt\nend";
        let processes = parse(text).unwrap();
        let opens: Vec<_> = processes.opens.iter().map(|open| (open.process, open.devno.to_string())).collect();
        assert_eq!(opens, [(12, "259:0".to_owned()), (7, "8:1".to_owned())]);
        assert_eq!(processes.namespaces[&4_026_531_841], [1, 7]);
    }

    #[test]
    fn what_cannot_be_seen_is_a_doubt() {
        for text in ["", "open 259:0 /proc/12/fd/3", "closed /proc/3\nend", "open x /proc/1/fd/2\nend", "what\nend"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_it_is_understood_or_doubted(text in "((open|namespace|closed|end) ?[0-9:/a-z ]{0,20}\n){0,5}(end)?") {
            let _ = parse(&text);
        }
    }
}
