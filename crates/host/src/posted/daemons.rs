//! What daemons write of arrays and pools into a journal or a mail: `mdadm --monitor` and ZED. Each becomes one line among messages, in the
//! order in which it happened.

use std::collections::{BTreeMap, BTreeSet};

use super::dmesg::push;
use super::kept::Event;
use super::when::{When, host, in_order};
use super::{Machine, Text};

/// `… mdadm[812]: Fail event detected on md device /dev/md0, component device /dev/sdb1`, `A Fail event had been detected on md device
/// /dev/md0.` of a mail, and `… zed[2509]: eid=15 class=statechange pool='tank' vdev=sdd1 vdev_state=UNAVAIL`.
fn event(line: &str) -> Option<Event> {
    let (before, said) =
        match line.split_once("]: ").and_then(|(before, said)| Some((before.rsplit_once('[')?.0, said))) {
            Some((before, said)) => (["mdadm", "zed"].iter().find_map(|program| before.strip_suffix(program))?, said),
            None => line.split_once(" mdadm: ").unwrap_or(("", line)),
        };
    let said = said.strip_prefix("mdadm: ").unwrap_or(said);
    let (number, of) = match said.strip_prefix("eid=") {
        // Without what it stands behind it is anybody's.
        Some(rest) if !before.is_empty() => (rest.split(' ').next()?.parse().ok(), pool(said).unwrap_or_default()),
        _ => (None, array(said)?),
    };
    let told = || (of.to_owned(), said.to_owned());
    let (of, said) = told();
    Some(Event { when: When::of(before), host: host(before).map(str::to_owned), number, of, said })
}

/// `/dev/md0` where the line begins with the event: what a person writes of it begins otherwise.
fn array(said: &str) -> Option<&str> {
    let (word, rest) = said.strip_prefix("A ").unwrap_or(said).split_once(' ')?;
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let rest = rest.strip_prefix("event ")?;
    let path = rest.strip_prefix("had been ").unwrap_or(rest).strip_prefix("detected on md device ")?;
    path.split([',', ' '])
        .next()
        .filter(|path| is_word && path.starts_with("/dev/"))
        .map(|path| path.trim_end_matches('.'))
}

fn pool(said: &str) -> Option<&str> {
    ["pool=", "pool_guid="].iter().find_map(|key| said.split(' ').find_map(|word| word.strip_prefix(key)))
}

pub(super) fn begins(line: &str) -> bool {
    event(line).is_some()
}

/// Keeps what a line tells; whether it tells anything.
pub(super) fn put(line: &str, machine: &mut Machine) -> bool {
    let found = event(line);
    let is_one = found.is_some();
    machine.events.extend(found);
    is_one
}

/// Keeps that the kernel started an array with all its members, which ends what was told of it before.
pub(super) fn put_start(line: &str, machine: &mut Machine) {
    let found = || {
        let (before, rest) = line.split_once("md/raid")?;
        let (array, rest) = rest.split_once(':')?.1.split_once(':')?;
        let (here, rest) = rest.split_once("active with ")?.1.split_once(" out of ")?;
        let when = When::of(before)?;
        let host = host(before.trim_end().strip_suffix("kernel:").unwrap_or_default()).map(str::to_owned);
        let said = format!("{STARTED} event detected on md device /dev/{array}");
        let is_whole = rest.split(' ').next() == Some(here);
        is_whole.then(|| Event { when: Some(when), host, number: None, of: format!("/dev/{array}"), said })
    };
    machine.events.extend(found());
}

/// How the kernel's start of an array stands among what `mdadm --monitor` writes, which has no word for it.
const STARTED: &str = "StartedWhole";

/// `ereport.fs.zfs.checksum`, as `zpool events` lists it behind its time.
pub(super) fn listed(line: &str) -> Option<&str> {
    let at = line.find(" ereport.fs.zfs.")?;
    line.get(at + 1..).filter(|event| !event.contains(' '))
}

/// What `zpool events -v` tells of an event, as ZED writes it: `pool = "tank"`, `vdev_path = "/dev/sda1"`.
pub(super) fn detail(line: &str) -> Option<String> {
    let (key, value) = line.trim().split_once(" = \"")?;
    let value = value.strip_suffix('"').filter(|value| !value.contains([' ', '"']))?;
    match key {
        "pool" => Some(format!("pool='{value}'")),
        "vdev_path" => Some(format!("vdev={}", value.rsplit('/').next()?)),
        _ => None,
    }
}

/// `    eid: 44`, with which a mail of ZED tells of an event (`cmd/zed/zed.d/statechange-notify.sh` of OpenZFS).
pub(super) fn begins_mail(line: &str) -> bool {
    value(line, "eid").is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    line.trim().strip_prefix(key)?.strip_prefix(':').map(str::trim)
}

/// As ZED writes the same into the journal. What is not told of a device is left out, for it says nothing.
pub(super) fn read_mail(text: &Text, machine: &mut Machine) -> usize {
    let told = |key: &str| text.lines.iter().find_map(|line| value(line, key)).filter(|value| !value.is_empty());
    let (Some(number), Some(class), Some(pool)) = (told("eid"), told("class"), told("pool")) else { return 0 };
    let pool = pool.split(' ').next().unwrap_or(pool);
    let device = told("vpath").or_else(|| told("vdev")).map(|path| path.rsplit('/').next().unwrap_or(path));
    let state = told("state").map_or_else(String::new, |state| format!(" vdev_state={state}"));
    let device = device.map_or_else(String::new, |device| format!(" vdev={device}{state}"));
    machine.events.push(Event {
        when: told("time").and_then(|time| When::of(&time.replacen(' ', "T", 1))),
        host: told("host").map(str::to_owned),
        number: number.parse().ok(),
        of: format!("'{pool}'"),
        said: format!("eid={number} class={class} pool='{pool}'{device}"),
    });
    1
}

/// All of them among messages: those of an array or a pool together. Where several machines wrote, each line begins with its own.
pub(super) fn put_all(machine: &mut Machine) {
    let mut events = std::mem::take(&mut machine.events);
    let hosts: BTreeSet<String> = events.iter().filter_map(|event| event.host.clone()).collect();
    if let (1, Some(only)) = (hosts.len(), hosts.first()) {
        events.iter_mut().for_each(|event| event.host = Some(only.clone()));
    }
    let mut all: BTreeMap<(Option<String>, String), Vec<Event>> = BTreeMap::new();
    for event in events {
        all.entry((event.host.clone(), event.of.clone())).or_default().push(event);
    }
    all.retain(|_, events| events.iter().any(|event| !event.said.starts_with(STARTED)));
    for ((host, of), events) in all {
        let times = events.iter().map(|event| (event.when.clone(), event.clone())).collect();
        let ordered = match in_order(times, |event: &Event| event.number) {
            Some(ordered) => ordered,
            None if events.iter().any(Event::ends) && events.iter().any(|event| !event.ends()) => {
                let why = format!("`{of}` lost something and had it back, and which of both was last is not told");
                machine.refused.push(why);
                continue;
            }
            None => events,
        };
        let before = host.filter(|_| hosts.len() > 1).map_or_else(String::new, |host| format!("{host}: "));
        for event in ordered.iter().filter(|event| !event.is_of_failed(&ordered)) {
            push(&format!("{before}{}", event.said), machine);
        }
    }
}

/// What tells that something is in order again, or no more what it was.
const ENDS: [&str; 4] = ["SpareActive ", "RebuildFinished ", "vdev_state=ONLINE", STARTED];

impl Event {
    fn ends(&self) -> bool {
        ENDS.iter().any(|end| self.said.contains(end))
    }

    /// A member that leaves its place is no spare that came to one, though `mdadm --monitor` tells both at once.
    fn is_of_failed(&self, all: &[Self]) -> bool {
        let failed = self.said.replace("SpareActive ", "Fail ");
        failed != self.said && self.when.is_some() && all.iter().any(|of| of.when == self.when && of.said == failed)
    }
}
