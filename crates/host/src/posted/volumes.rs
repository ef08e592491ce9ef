//! `lvdisplay` and `vgdisplay`: a paragraph for each volume and each group, as the reports of `lvs` and `vgs` in JSON.

use serde_json::{Value, json};

use super::lvm::{MOST, bytes_with_unit};
use super::{Machine, Text};

/// `  --- Logical volume ---`.
pub(super) fn begins(line: &str) -> bool {
    ["--- Logical volume ---", "--- Volume group ---"].contains(&line.trim())
}

/// A paragraph: names end where two blanks follow, at the latest in the 23rd column (`lvdisplay_full` in LVM's `lib/display/display.c`).
struct Said<'t>(&'t [&'t str]);

impl Said<'_> {
    fn value(&self, key: &str) -> Option<&str> {
        let mut lines = self.0.iter().filter_map(|line| line.trim_start().strip_prefix(key));
        lines.find(|rest| rest.starts_with(' ')).map(str::trim).filter(|value| !value.is_empty())
    }

    /// `98.71%`.
    fn share(&self, key: &str) -> Option<String> {
        let share = self.value(key)?.strip_suffix('%')?.replace(',', ".");
        share.parse::<f64>().is_ok().then_some(share)
    }

    fn size(&self, key: &str) -> Option<String> {
        self.value(key).and_then(bytes_with_unit).map(|size| size.to_string())
    }
}

pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let said = Said(&text.lines);
    let of_group = text.lines.first().is_some_and(|line| line.contains("Volume group"));
    let row = if of_group { group(&said) } else { volume(&said) };
    let Some(row) = row else {
        machine.refused.push("it names no volume and no group, or is cut".to_owned());
        return 0;
    };
    machine.cite_program(if of_group { "vgs" } else { "lvs" });
    let doubts = machine.lvm.add(if of_group { "vg" } else { "lv" }, row);
    machine.refused.extend(doubts);
    1
}

/// Attributes as `lvs` has them (lvs(8), `lv_attr`), as far as they follow: what kind of volume it is, and whether a snapshot is lost.
fn volume(said: &Said) -> Option<Value> {
    let (name, group) = (said.value("LV Name")?, said.value("VG Name")?);
    // Versions before 2.02.89 have the path there.
    let name = name.rsplit('/').next().unwrap_or(name);
    let snapshot = said.value("LV snapshot status").filter(|status| status.contains("destination for"));
    // One that is not active is no destination, either, and nothing is told of what it holds.
    let is_inactive = snapshot.is_some_and(|status| status.starts_with("INACTIVE"));
    let is_lost = is_inactive && said.value("LV Status") == Some("available");
    let (kind, data) = match (said.value("LV Pool metadata"), snapshot) {
        (Some(_), _) => ("twi-aotz--", said.share("Allocated pool data")),
        (_, Some(_)) if is_lost => ("swi-I-s---", Some("100.00".to_owned())),
        (_, Some(_)) if is_inactive => ("swi---s---", None),
        (_, Some(_)) => ("swi-a-s---", said.share("Allocated to snapshot")),
        _ => ("-wi-a-----", None),
    };
    Some(json!({
        "lv_name": name, "vg_name": group, "lv_attr": kind, "lv_size": said.size("LV Size"),
        "data_percent": data, "metadata_percent": said.share("Allocated metadata"),
    }))
}

/// `Cur PV` are all that there should be, `Act PV` those that are there (vgdisplay(8)).
fn group(said: &Said) -> Option<Value> {
    let count = |key: &str| said.value(key)?.parse::<u32>().ok();
    let (all, here) = (count("Cur PV")?, count("Act PV")?);
    (usize::try_from(all).ok()? <= MOST).then_some(())?;
    let free = said.value("Free  PE / Size").and_then(|free| free.split_once('/')).map(|(_, size)| size.trim());
    let free = free.and_then(|size| if size == "0" { Some(0) } else { bytes_with_unit(size) });
    Some(json!({
        "vg_name": said.value("VG Name")?, "vg_size": said.size("VG Size")?, "vg_free": free?.to_string(),
        "vg_missing_pv_count": all.checked_sub(here)?.to_string(), "volumes": all,
    }))
}
