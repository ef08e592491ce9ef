//! What `smartd` writes into a journal or a mail: that a drive fails its own assessment, or counts bad blocks.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::kept::Watched;
use super::lsblk::is_drive;
use super::text::is_plain;
use super::when::{When, host, in_order};
use super::{Machine, smart};

/// `Device: /dev/sda [SAT], 8 Currently unreadable (pending) sectors`, behind whatever a journal puts before it; of a journal also what says
/// nothing of health, such as how warm a drive is.
pub(super) fn begins(line: &str) -> bool {
    told(line).is_some()
        || message(line).is_some()
        || line.split_once("smartd[").is_some_and(|(_, rest)| rest.contains("]: Device: /dev/"))
}

/// What it tells, and what that is in the document of `smartctl` (`smartd.cpp` of smartmontools).
const COUNTS: [(&str, u32, &str); 2] = [
    (" Currently unreadable (pending) sectors", 197, "Current_Pending_Sector"),
    (" Offline uncorrectable sectors", 198, "Offline_Uncorrectable"),
];
/// Of SATA drives, and of SAS drives with what they predict.
const FAILED: [&str; 2] = ["FAILED SMART self-check", "SMART Failure: "];
/// What a SAS drive writes of itself that says nothing of how it will do: how warm it is, and a message that was asked for to try the way
/// (`scsiGetIEString` of smartmontools).
const NO_FAILURE: [&str; 2] = ["WARNING - SPECIFIED TEMPERATURE EXCEEDED", "(FALSE)"];
/// It counts self-tests that failed since one of all of the drive passed (`SelfTestErrorCount` in `smartd.cpp`).
const SELF_TEST: [&str; 2] =
    ["Self-Test Log error count increased from ", "new Self-Test Log error at hour timestamp "];

/// Where the drive counts none any more, for its log was overwritten or a later test passed.
fn is_of_no_self_test(said: &str) -> bool {
    said.contains("Self-Test Log does no longer report errors")
        || (said.starts_with("Self-Test Log error count decreased from ") && said.ends_with(" to 0"))
}

/// Keeps what a line tells; whether it tells anything.
pub(super) fn put(line: &str, machine: &mut Machine) -> bool {
    let Some((name, found)) = told(line) else { return false };
    machine.watched.entry(name.to_owned()).or_default().push(found);
    true
}

/// What stands before it, the device with its kind, and what is said of that.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = match line.strip_prefix("Device: /dev/") {
        Some(rest) => ("", rest),
        None => {
            let (before, rest) = line.split_once("smartd[")?;
            (before, rest.split_once("]: Device: /dev/")?.1)
        }
    };
    let (device, said) = rest.split_once(", ")?;
    Some((before, device, said))
}

/// Behind a RAID controller the name is that of its volume.
fn is_of_controller(device: &str) -> bool {
    device.split_once(' ').is_some_and(|(_, kind)| kind.contains('_'))
}

fn fails(said: &str) -> bool {
    FAILED.iter().any(|start| said.starts_with(start)) && !NO_FAILURE.iter().any(|words| said.contains(words))
}

/// What no other text tells: that a drive behind a controller fails its own assessment, that one is too warm, and that an NVMe drive warns.
pub(super) fn message(line: &str) -> Option<&str> {
    let (_, device, said) = parts(line)?;
    let warns = device.starts_with("nvme") && said.starts_with("Critical Warning (0x");
    let tells = (is_of_controller(device) && fails(said)) || said.contains(NO_FAILURE[0]) || warns;
    tells.then(|| &line[line.find("Device: /dev/").unwrap_or(0)..])
}

/// A drive, and what a line tells of it.
pub(super) fn told(line: &str) -> Option<(&str, Watched)> {
    let (before, device, said) = parts(line)?;
    let (name, _) = device.split_once(' ').unwrap_or((device, ""));
    let is_own = is_plain(name) && !is_of_controller(device);
    let self_test = match () {
        () if is_of_no_self_test(said) => Some(None),
        () => SELF_TEST.iter().any(|start| said.starts_with(start)).then(|| Some(said.to_owned())),
    };
    let (when, host) = (When::of(before), host(before).map(str::to_owned));
    let mut found = Watched { when, host, has_failed: fails(said), self_test, ..Watched::default() };
    for (own, (words, _, _)) in found.counts.iter_mut().zip(COUNTS) {
        // `(changed +2)` may follow, and `No more Currently unreadable (pending) sectors` is said where they are gone.
        let number = said.split_once(words).map(|(number, _)| number);
        *own = number.and_then(|number| if number == "No more" { Some(0) } else { number.parse().ok() });
    }
    let tells = found.has_failed || found.self_test.is_some();
    (is_own && (tells || found.counts.iter().any(Option::is_some))).then_some((name, found))
}

impl Watched {
    /// What a later line tells as well.
    fn join(mut self, later: Self) -> Self {
        self.has_failed |= later.has_failed;
        self.self_test = later.self_test.or(self.self_test);
        for (own, later) in self.counts.iter_mut().zip(later.counts) {
            *own = later.or(*own);
        }
        self
    }

    /// Do both tell the same, as far as both tell it?
    fn agrees(&self, other: &Self) -> bool {
        let same = |(own, of): (&Option<u64>, &Option<u64>)| own.is_none() || of.is_none() || own == of;
        let tests = (self.self_test.as_ref().map(Option::is_some), other.self_test.as_ref().map(Option::is_some));
        let same_test = tests.0.is_none() || tests.1.is_none() || tests.0 == tests.1;
        same_test && self.counts.iter().zip(&other.counts).all(same)
    }

    /// The document that `smartctl -j -x` makes of the same.
    pub(super) fn document(&self) -> Value {
        let mut said = Map::new();
        if self.has_failed {
            said.insert("smart_status".to_owned(), json!({"passed": false}));
        }
        if let Some(Some(told)) = &self.self_test {
            let row = json!({"type": {"string": "Self-test"}, "status": {"string": told, "passed": false}});
            said.insert("ata_smart_self_test_log".to_owned(), json!({"standard": {"table": [row]}}));
        }
        let rows = self.counts.iter().zip(COUNTS).filter_map(|(count, (_, id, name))| {
            count.map(|count| json!({"id": id, "name": name, "raw": {"value": count}}))
        });
        said.insert("ata_smart_attributes".to_owned(), json!({"table": rows.collect::<Vec<_>>()}));
        Value::Object(said)
    }
}

/// All that lines tell of a drive; nothing where several machines have one of that name, or where nobody knows which is the last.
fn last(mut lines: Vec<Watched>) -> Option<Watched> {
    let hosts: BTreeSet<String> = lines.iter().filter_map(|line| line.host.clone()).collect();
    let agree = lines.iter().zip(lines.iter().skip(1)).all(|(one, next)| one.agrees(next));
    if hosts.len() > 1 {
        return None;
    }
    if !agree {
        let times = lines.into_iter().map(|line| (line.when.clone(), line)).collect();
        lines = in_order(times, |_| None)?;
    }
    lines.into_iter().reduce(Watched::join)
}

/// It counts where no text of the drive itself tells more.
pub(super) fn put_all(machine: &mut Machine) {
    for (name, lines) in std::mem::take(&mut machine.watched) {
        if !is_drive(&name) {
            continue;
        }
        machine.drive(&name);
        let Some(found) = last(lines) else {
            machine.refused.push(format!(
                "what was told of drive `{name}` differs, and is of several machines or in no known order"
            ));
            continue;
        };
        machine.speaks_ata(&name);
        let line = format!("{} /dev/{name}", smart::COMMAND);
        if !machine.runs.contains_key(&line) {
            machine.cite(format!("smartctl -x /dev/{name}"));
        }
        machine.run_if_untold(line, || found.document().to_string());
    }
}
