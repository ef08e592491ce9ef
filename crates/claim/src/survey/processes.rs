//! Processes: which block devices they have open, and which mount namespaces they are in.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use host::{Devno, Host, HostError, inspect};
use terms::{Cmd, Nanos};

use super::exports::namespaces_of;
use super::listing::names;
use crate::device::{Device, present};
use crate::doubt::Doubt;

/// A look into every process takes one program instead of thousands of questions. Only devices are asked for their numbers:
/// those are few, and in base 16, for `stat` before coreutils 9.0 tells them in no other. A process whose first thread has
/// ended shows its descriptors with the others. Who may look is told too, for what is not shown looks like nothing. The last word
/// tells an answer that was cut short.
const LOOK: &str = r#"for process in /proc/[0-9]*; do
  set -- "$process"/fd/*
  [ -L "$1" ] || set -- "$process"/task/[0-9]*/fd/*
  for open; do
    if [ -b "$open" ]; then
      kind=block
    elif [ -c "$open" ] && ! [ "$open" -ef /dev/null ]; then
      kind=char
    else
      continue
    fi
    stat -L --format="$kind %t:%T %n" "$open" || { [ ! -b "$open" ] && [ ! -c "$open" ]; } || echo "closed $open"
  done
  [ -r "$process/fd" ] || [ ! -d "$process" ] || echo "closed $process"
done
while read -r name value; do
  [ "$name" != CapEff: ] || echo "rights $value"
done </proc/self/status
echo "within $(readlink /proc/self/ns/pid)"
stat -L --format='namespace %i %n' /proc/[0-9]*/ns/mnt
echo end"#;

/// Whose descriptors root may follow without it: only those of programs with no more rights than its own (kernel,
/// include/uapi/linux/capability.h).
const CAP_SYS_PTRACE: u32 = 19;

/// The PID namespace in which every process of a machine is (kernel, include/linux/proc_ns.h, `PROC_PID_INIT_INO`).
const ALL: &str = "pid:[4026531836]";

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
    /// The same of character devices, some of which lead to a drive.
    ways: Vec<Open>,
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
    let mut drives = BTreeMap::new();
    for open in std::mem::take(&mut processes.ways) {
        let drives = match drives.entry(open.devno) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(behind(host, open.devno)?),
        };
        processes.opens.extend(drives.iter().map(|devno| Open { devno: *devno, ..open.clone() }));
    }
    processes.opens.retain(|open| Some(open.process) != own);
    for open in &mut processes.opens {
        open.program = program(host, open.process)?;
    }
    Ok(processes)
}

/// Drives that a character device is another way to, past the node that others see: the generic ones of SCSI, which virtual
/// machines get, and of NVMe, and an NVMe controller (kernel, drivers/scsi/sg.c, block/bsg.c; drivers/nvme/host/core.c,
/// `nvme_cdev_add` and `nvme_dev_fops`).
fn behind(host: &dyn Host, way: Devno) -> Result<Vec<Devno>, HostError> {
    let directory = format!("/sys/dev/char/{way}");
    let Some(own) = present(host.resolve(&directory))? else { return Ok(Vec::new()) };
    let own = own.rsplit('/').next().unwrap_or_default();
    let mut found = names(host, &format!("{directory}/device/block"))?;
    found.extend(own.strip_prefix("ng").and_then(|rest| inspect::namespace_of(&format!("nvme{rest}"))));
    found.extend(namespaces_of(host, own)?);
    let mut drives = Vec::new();
    for name in found {
        drives.extend(Device::named(host, &name)?.map(|device| device.devno));
    }
    Ok(drives)
}

/// What a process calls itself.
pub(super) fn program(host: &dyn Host, process: u32) -> Result<String, HostError> {
    let name = present(host.read_text(&format!("/proc/{process}/comm")))?;
    Ok(name.unwrap_or_else(|| "ended since".to_owned()))
}

fn parse(text: &str) -> Result<Processes, Doubt> {
    let mut processes = Processes::default();
    let cut_short = || Doubt::words("the look into them was cut short");
    let text = text.strip_suffix("end").ok_or_else(cut_short)?;
    let (mut allowed, mut within) = (false, false);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let process = words.last().and_then(|path| process(path));
        match (words.as_slice(), process) {
            (["closed", path], _) => {
                return Err(Doubt::words(format!("`{path}` cannot be looked into; only root can")));
            }
            (["rights", rights], _) => match u64::from_str_radix(rights, 16) {
                Ok(rights) if rights >> CAP_SYS_PTRACE & 1 == 1 => allowed = true,
                Ok(_) => return Err(Doubt::words("those of others cannot be looked into without `CAP_SYS_PTRACE`")),
                Err(_) => return Err(not_understood(line)),
            },
            (["within", ALL], _) => within = true,
            (["within", namespace], _) => {
                return Err(Doubt::words(format!(
                    "those outside of this PID namespace ({namespace}) are not seen: a container needs that of its machine (`--pid=host`)"
                )));
            }
            ([kind @ ("block" | "char"), devno, _], Some(process)) => {
                let devno = of_base_16(devno).ok_or_else(|| not_understood(line))?;
                let open = Open { devno, process, program: String::new() };
                let opens = if *kind == "block" { &mut processes.opens } else { &mut processes.ways };
                if !opens.contains(&open) {
                    opens.push(open);
                }
            }
            (["namespace", number, _], Some(process)) => match number.parse() {
                Ok(number) => processes.namespaces.entry(number).or_default().push(process),
                Err(_) => return Err(not_understood(line)),
            },
            _ => return Err(not_understood(line)),
        }
    }
    if allowed && within { Ok(processes) } else { Err(cut_short()) }
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

    /// What a look of root's tells of itself.
    const WHOLE: &str = "rights 000001ffffffffff\nwithin pid:[4026531836]\n";

    #[test]
    fn what_processes_have_open_is_listed_once() {
        let text = "block 103:0 /proc/12/fd/3\nblock 103:0 /proc/12/task/13/fd/4\nblock 8:1 /proc/7/fd/0\nchar 15:0 /proc/7/fd/1\n\
                    namespace 4026531841 /proc/1/ns/mnt\nnamespace 4026531841 /proc/7/ns/mnt\nend";
        let processes = parse(&format!("{WHOLE}{text}")).unwrap();
        let opens: Vec<_> = processes.opens.iter().map(|open| (open.process, open.devno.to_string())).collect();
        assert_eq!(opens, [(12, "259:0".to_owned()), (7, "8:1".to_owned())]);
        assert_eq!((processes.ways[0].process, processes.ways[0].devno.major), (7, 21));
        assert_eq!(processes.namespaces[&4_026_531_841], [1, 7]);
    }

    #[test]
    fn what_cannot_be_seen_is_a_doubt() {
        assert!(parse(&format!("{WHOLE}end")).is_ok());
        for text in [
            "closed /proc/3",
            "block x /proc/1/fd/2",
            "char 1 /proc/1/fd/2",
            "what",
            "within pid:[4026532281]",
            "rights 000001fffff7ffff",
            "rights 0000000000000000",
            "rights x",
        ] {
            assert!(parse(&format!("{WHOLE}{text}\nend")).is_err(), "{text}");
        }
        for text in
            ["", "end", "block 103:0 /proc/12/fd/3", "rights 000001ffffffffff\nend", "within pid:[4026531836]\nend"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_it_is_understood_or_doubted(text in "((block|char|namespace|closed|rights|within|end) ?[0-9:/a-z ]{0,20}\n){0,5}(end)?") {
            let _ = parse(&text);
        }
    }
}
