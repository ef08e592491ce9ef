//! fio's own examples that work on a file or a drive: which are taken, and for which reasons the others are not.
//!
//! Names and verdicts are here, the files are in fio's sources:
//! `FIO_EXAMPLES=…/fio/examples cargo test -p bedplate --test fio_jobs examples -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use spec::fio::Reader;
use terms::NoteLevel;

/// Name of the file, and the codes of the reasons; none where it is taken. As of fio 3.42.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("1mbs_clients", &["fio-together"]),
    ("aio-read", &[]),
    ("atomic-verify", &["fio-defeats", "fio-refused"]),
    ("backwards-read", &["fio-rw"]),
    ("basic-verify", &["fio-defeats"]),
    ("butterfly", &["fio-rw"]),
    ("cmdprio-bssplit", &["fio-defeats"]),
    ("cmdprio-percentage", &[]),
    ("cross-stripe-verify", &["fio-defeats", "fio-offset", "fio-refused", "fio-rw"]),
    ("dedupe-global", &["fio-defeats"]),
    ("disk-zone-profile", &[]),
    ("enospc-pressure", &["fio-defeats", "fio-refused", "fio-rw"]),
    ("example_latency_steadystate", &["fio-refused"]),
    ("exitwhat", &[]),
    ("fio-rand-RW", &[]),
    ("fio-rand-read", &[]),
    ("fio-rand-write", &[]),
    ("fio-seq-RW", &[]),
    ("fio-seq-read", &[]),
    ("fio-seq-write", &[]),
    ("fixed-rate-submission", &[]),
    ("flow", &[]),
    ("fsx", &[]),
    ("iometer-file-access-server", &["fio-defeats"]),
    ("jesd219", &["fio-defeats"]),
    ("latency-profile", &[]),
    ("numa", &[]),
    ("poisson-rate-submission", &[]),
    ("rand-zones", &[]),
    ("sprandom", &["fio-refused", "fio-variable"]),
    ("ssd-steadystate", &[]),
    ("ssd-test", &[]),
    ("steadystate", &["fio-refused"]),
    ("surface-scan", &["fio-defeats"]),
    ("tiobench-example", &[]),
    ("waitfor", &[]),
    ("zbd-rand-write-trim-gc", &["fio-bad-value", "fio-defeats", "fio-rw"]),
    ("zbd-rand-write-zone-reset-gc", &["fio-bad-value", "fio-defeats"]),
    ("zbd-rand-write", &["fio-defeats"]),
    ("zbd-seq-read", &["fio-defeats"]),
];

/// The codes of what is refused in a text.
fn refused(text: &str) -> Vec<String> {
    let nothing = |_: &str| Err("there is none".to_owned());
    let (_, notes) = Reader { forced: false, variables: &BTreeMap::new(), include: &nothing }.read(text);
    let errors = notes.iter().filter(|note| note.severity == NoteLevel::Error);
    let mut codes: Vec<String> = errors.map(|note| note.code.clone()).collect();
    codes.sort();
    codes.dedup();
    codes
}

#[test]
#[ignore = "wants fio's sources, in FIO_EXAMPLES"]
fn examples_of_fio_are_taken_or_refused_for_their_reasons() {
    let folder = PathBuf::from(std::env::var_os("FIO_EXAMPLES").unwrap());
    let (mut wrong, mut taken) = (Vec::new(), 0);
    for (name, codes) in EXAMPLES {
        let path = folder.join(format!("{name}.fio"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = refused(&text);
        if found != *codes {
            wrong.push(format!("{name}: {found:?} and not {codes:?}"));
        }
        let parsed = Command::new("fio").arg("--parse-only").arg(&path).output().unwrap();
        if found.is_empty() && !parsed.status.success() {
            wrong.push(format!("{name}: taken, and fio refuses it"));
        }
        taken += usize::from(found.is_empty());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((taken, EXAMPLES.len()), (21, 40));
}
