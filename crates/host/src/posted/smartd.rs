//! What `smartd` writes into a journal or a mail: that a drive fails its own assessment, or counts bad blocks.

use serde_json::{Map, Value, json};

use super::kept::Watched;
use super::lsblk::is_drive;
use super::text::is_plain;
use super::{Machine, smart};

/// `Device: /dev/sda [SAT], 8 Currently unreadable (pending) sectors`, behind whatever a journal puts before it.
pub(super) fn begins(line: &str) -> bool {
    told(line).is_some()
}

/// What it tells, and what that is in the document of `smartctl` (`smartd.cpp` of smartmontools).
const COUNTS: [(&str, u32, &str); 2] = [
    (" Currently unreadable (pending) sectors", 197, "Current_Pending_Sector"),
    (" Offline uncorrectable sectors", 198, "Offline_Uncorrectable"),
];
const FAILED: &str = "FAILED SMART self-check";
/// It counts self-tests that failed since one of all of the drive passed (`SelfTestErrorCount` in `smartd.cpp`).
const SELF_TEST: [&str; 2] =
    ["Self-Test Log error count increased from ", "new Self-Test Log error at hour timestamp "];

/// A drive, and what a line tells of it.
pub(super) fn told(line: &str) -> Option<(&str, Watched)> {
    let rest = match line.strip_prefix("Device: /dev/") {
        Some(rest) => rest,
        None => line.split_once(" smartd[")?.1.split_once("]: Device: /dev/")?.1,
    };
    let (device, said) = rest.split_once(", ")?;
    let (name, kind) = device.split_once(' ').unwrap_or((device, ""));
    // Behind a RAID controller the name is that of its volume.
    let is_own = is_plain(name) && !kind.contains('_');
    let self_test = SELF_TEST.iter().any(|start| said.starts_with(start)).then(|| said.to_owned());
    let mut found = Watched { has_failed: said.starts_with(FAILED), self_test, ..Watched::default() };
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
    pub(super) fn join(&mut self, later: Self) {
        self.has_failed |= later.has_failed;
        self.self_test = later.self_test.or(self.self_test.take());
        for (own, later) in self.counts.iter_mut().zip(later.counts) {
            *own = later.or(*own);
        }
    }

    /// The document that `smartctl -j -x` makes of the same.
    pub(super) fn document(&self) -> Value {
        let mut said = Map::new();
        if self.has_failed {
            said.insert("smart_status".to_owned(), json!({"passed": false}));
        }
        if let Some(told) = &self.self_test {
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

/// It counts where no text of the drive itself tells more.
pub(super) fn put_all(machine: &mut Machine) {
    for (name, found) in std::mem::take(&mut machine.watched) {
        if is_drive(&name) {
            machine.drive(&name);
            machine.attached(&name, "sata");
            machine.run_if_untold(format!("{} /dev/{name}", smart::COMMAND), || found.document().to_string());
        }
    }
}
