//! Whatever an inventory says, a diagnosis comes of it.

use proptest::prelude::*;
use serde_json::Value;
use terms::inventory::Inventory;

use super::clean::clean;
use crate::{checks, diagnose, diagnose_with};

/// How many values there are in a document, itself included.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(all) => all.values().map(size).sum(),
        _ => 0,
    }
}

/// The value at a place in a document, counted as `size` counts.
fn at(value: &mut Value, mut place: usize) -> Option<&mut Value> {
    if place == 0 {
        return Some(value);
    }
    place -= 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(all) => all.iter_mut().collect(),
        Value::Object(all) => all.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        let inside = size(child);
        if place < inside {
            return at(child, place);
        }
        place -= inside;
    }
    None
}

/// What a value may become instead: of its own kind where that is a number or a text, or unknown, or nothing.
fn other(value: &Value, choice: u64) -> Value {
    let numbers = [0, 1, 2, 511, 512, 4095, 4096, 65_535, u64::from(u32::MAX), u64::MAX];
    let pick = |count: u64| usize::try_from(choice / 8 % count).unwrap();
    match (value, choice % 8) {
        (_, 0) => serde_json::json!({"unknown": "not now"}),
        (_, 1) => Value::Null,
        (Value::Number(_), _) => numbers[pick(10)].into(),
        (Value::String(_), _) => {
            ["", "x", "é☃", "raid5", "0-4294967295", "nvme0n1", "0000:10:00.0", "D"][pick(8)].into()
        }
        (Value::Bool(on), _) => (!on).into(),
        (Value::Array(all), 2) => all.iter().chain(all).cloned().collect(),
        (Value::Array(_), _) => Vec::<Value>::new().into(),
        (other, _) => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_diagnosis_never_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..12)) {
        let mut document = serde_json::to_value(clean()).unwrap();
        for (place, choice) in changes {
            let before = document.clone();
            let all = size(&document);
            if let Some(value) = at(&mut document, place.index(all)) {
                *value = other(value, choice);
            }
            // What cannot be an inventory at all is no concern of the doctor's.
            if serde_json::from_value::<Inventory>(document.clone()).is_err() {
                document = before;
            }
        }
        let inventory: Inventory = serde_json::from_value(document).unwrap();
        let diagnosis = diagnose(&inventory);
        let counts = diagnosis.counts();
        prop_assert_eq!(diagnosis.checks.len(), checks().count());
        prop_assert_eq!(counts.errors + counts.warnings + counts.notes, diagnosis.findings.len());
        prop_assert_eq!(&diagnosis, &diagnose(&inventory));
        // A check alone says what it says among others.
        for finding in diagnosis.findings.iter().take(3) {
            let alone = diagnose_with(&inventory, |check| check.id == finding.check);
            prop_assert!(alone.findings.contains(finding));
        }
        // All of it can be printed in 80 columns and kept.
        let text = report::diagnosis::text(&diagnosis, &report::Style::default());
        prop_assert!(text.lines().next().is_some_and(|line| line.ends_with("passed")));
        prop_assert!(report::diagnosis::json(&diagnosis).is_ok());
    }
}
