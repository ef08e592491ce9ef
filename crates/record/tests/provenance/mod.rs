//! The provenance of the runs of these tests.

use record::sha256_hex;
use serde_json::json;
use terms::record::Provenance;

/// Of a run `r` of a study with the text `x`.
pub(crate) fn provenance() -> Provenance {
    serde_json::from_value(json!({
        "schema": 1, "run": "r", "question": "?", "started": "2026-01-02T00:00:00Z", "command": [], "version": "0",
        "build": "b", "study_sha256": sha256_hex(b"x"), "place": "lab", "accelerator": null, "drives": [], "seed": 1,
        "rounds": 1, "settle_ns": 0, "window_ns": 0, "span_bytes": 0, "stacks": [], "workloads": [],
    }))
    .expect("a provenance")
}
