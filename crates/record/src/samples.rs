//! Made-up values for tests.

use terms::record::{BuildOutcome, Cell, CellKey, Provenance, RECORD_SCHEMA};
use terms::units::{Bytes, Nanos};

use crate::sha256_hex;

/// A provenance for a study with the text `x`.
pub(crate) fn provenance(run: &str) -> Provenance {
    Provenance {
        schema: RECORD_SCHEMA,
        run: run.into(),
        question: "Is it fast?".into(),
        started: "2026-11-20T19:21:33Z".into(),
        command: vec!["bedplate".into(), "run".into()],
        version: "0.1.0".into(),
        build: "b".into(),
        study_sha256: sha256_hex(b"x"),
        place: "lab".into(),
        accelerator: Some("tcg".into()),
        cpu: None,
        drives: Vec::new(),
        seed: 1,
        rounds: 3,
        settle: Nanos::seconds(1),
        window: Nanos::seconds(3),
        span: Bytes::mib(1),
        policy: None,
        stacks: vec![],
        workloads: vec![],
        charts: Vec::new(),
    }
}

/// A cell, failed or not.
pub(crate) fn cell(round: u32, stack: &str, workload: &str, failure: Option<&str>) -> Cell {
    let key = CellKey { round, stack: stack.into(), workload: workload.into() };
    Cell {
        failure: failure.map(Into::into),
        took: Nanos::seconds(4),
        ..Cell::begun(key, "2026-11-20T19:21:33Z".into(), vec!["fio".into()], 1)
    }
}

/// A build that went well.
pub(crate) fn build(round: u32, stack: &str, seconds: u64) -> BuildOutcome {
    BuildOutcome { round, stack: stack.into(), build: Nanos::seconds(seconds), fill: Nanos::seconds(1), failure: None }
}
