//! What is printed for three machines.

use report::{Style, diagnosis};
use terms::inventory::*;
use terms::{Bytes, Nanos};

use super::clean::{GEN3_X4, Known, clean};
use super::plant::*;
use crate::{checks, diagnose};

fn printed(inventory: &Inventory) -> String {
    diagnosis::text(&diagnose(inventory), &Style::default())
}

/// A mirror on checksums and an array with parity, as their tools leave them.
fn as_made() -> Inventory {
    let mut machine = clean();
    let m = &mut machine;
    md(m, "md0").max_read_errors = Known(Some(20));
    integrity(m).block = Bytes(512);
    integrity(m).mode = "D".into();
    crypt(m).sector = Bytes(512);
    let parity = md(m, "md1");
    (parity.stripe_cache_size, parity.group_thread_cnt) = (Known(Some(256)), Known(Some(0)));
    (parity.bitmap, parity.consistency_policy) = (Known(Some("none".into())), Known(Some("resync".into())));
    parity.sync_speed_max = Known(Some(Bytes::kib(200_000)));
    parity.sync_action = Known(Some("resync".into()));
    parity.sync_completed_sectors = Known(Some([100_000_000, 1_900_000_000]));
    geometry(m, "/data").stripe_unit = Bytes(0);
    machine
}

/// A machine whose parts are at fault and whose owner is not root.
fn worn() -> Inventory {
    let mut machine = clean();
    let m = &mut machine;
    detail(m).as_root = false;
    pci(m, "0000:10:00.0").link = Known(Some(Link { lanes: 2, ..GEN3_X4 }));
    pci(m, "0000:11:00.0").best = Known(Some(Link { speed: 16_000, lanes: 4 }));
    for drive in ["nvme2n1", "nvme3n1"] {
        namespace(m, drive).formats = unknown();
    }
    controller(m, "nvme4").latency_tolerance = Known(Some(Nanos::millis(100)));
    node(m, "nvme4n1").queue.scheduler = Known(Some("bfq".into()));
    health(m).used = Some(97);
    health(m).thermal_slowdowns = Some(12);
    detail(m).linux.messages = unknown();
    detail(m).cpu.governors = Known([("schedutil".to_owned(), 8)].into());
    machine
}

#[test]
fn a_clean_machine_is_one_line() {
    insta::assert_snapshot!("clean", printed(&clean()));
}

#[test]
fn arrays_as_their_tools_leave_them() {
    insta::assert_snapshot!("as-made", printed(&as_made()));
}

#[test]
fn worn_parts_seen_without_root() {
    insta::assert_snapshot!("worn", printed(&worn()));
}

#[test]
fn everything_fits_into_80_columns_without_colour_and_in_ascii() {
    let style = Style { ascii: true, ..Style::default() };
    for machine in [clean(), as_made(), worn()] {
        let text = diagnosis::text(&diagnose(&machine), &style);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(!text.contains('\x1b'));
    }
}

#[test]
fn colour_says_nothing_alone() {
    let style = Style { colour: true, ..Style::default() };
    let coloured = diagnosis::text(&diagnose(&as_made()), &style);
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    assert_eq!(plain, printed(&as_made()));
}

#[test]
fn json_has_what_the_text_has() {
    let diagnosis = diagnose(&as_made());
    let document: serde_json::Value = serde_json::from_str(&diagnosis::json(&diagnosis).unwrap()).unwrap();
    assert_eq!(document["schema"], "bedplate.diagnosis");
    assert_eq!(document["counts"]["errors"], 3);
    let back: terms::diagnosis::Diagnosis = serde_json::from_value(document).unwrap();
    assert_eq!(back, diagnosis);
}

#[test]
fn the_list_names_every_check() {
    let all: Vec<_> = checks().map(crate::Check::about).collect();
    let text = diagnosis::list(&all, &Style::default());
    assert!(checks().all(|check| text.contains(check.id)));
}
