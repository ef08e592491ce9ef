//! What layers cost in virtual time, beside what they cost a real machine: drives in memory, so that only the processor
//! limits, in the kept record and in the benchmarks of t13a (2023).
//!
//! `cargo test -p bedplate --test evidence published -- --nocapture` prints the table of docs/virtual-time.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Deserializer, Value};

use super::unpacked;

/// What both have of a cell: bytes per second, and how often a thread of fio gave its processor up for an operation.
#[derive(Debug, Clone, Copy)]
struct Rate {
    bytes: f64,
    switches: f64,
}

/// By number of the configuration and test.
type Rates = BTreeMap<(u32, String), Rate>;

/// What giving a processor up and getting it back costs a real machine: two context switches, each of 1.2 µs where threads keep
/// to their processor and 2.2 µs where they do not (Bendersky, "Measuring context switching and memory overheads for Linux
/// threads", 2018). The lab counts the scheduler's instructions for it and nothing for cold caches. The least of these, in ns.
const SWITCH: f64 = 2.0 * 1200.0;

/// What a byte takes to be encrypted by AES-XTS with two keys of 256 bits, in ns: on a processor of the published machine's
/// generation at its speed (`cryptsetup benchmark` on a Core i7-4720HQ, 2004 MiB/s: jo-so.de, "Benchmark
/// Festplattenverschlüsselung", April 2017), and in the lab (`ciphers_and_hashes_take_instructions` in tests/lab/clock.rs).
const AES: Cost = Cost { published: 1e9 / (2004.0 * 1_048_576.0), lab: 0.735 };
/// The same of SHA-256 without SHA instructions: 7.80 cycles on that generation (OpenSSL, `sha512-x86_64.pl`, table of
/// performance, column AVX2), which the published machine runs 3.6 of in a nanosecond (Intel, "Xeon E5-1620 v3").
const SHA: Cost = Cost { published: 7.80 / 3.6, lab: 9.82 };

/// Nanoseconds for a byte.
#[derive(Debug, Clone, Copy)]
struct Cost {
    published: f64,
    lab: f64,
}

/// What is worked out for every byte of a configuration, by its number.
fn ciphers(number: u32) -> &'static [Cost] {
    match number {
        5 | 7 => &[AES],
        6 => &[AES, SHA],
        _ => &[],
    }
}

/// Published rows on RAM drives: class, number, name, test, bytes per second, …
fn published() -> Rates {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/data/t13a.csv");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let of = |row: Vec<&str>| {
        let rate = Rate { bytes: row[4].parse().unwrap(), switches: f64::NAN };
        ((row[1].parse().unwrap(), row[3].to_owned()), rate)
    };
    rows.filter(|row| row[0] == "RAM").map(of).collect()
}

/// The same stacks in the kept record.
fn in_the_lab() -> Rates {
    let directory = tempfile::tempdir().unwrap();
    let reader = record::RunReader::open(&unpacked("long-term-storage-ram", directory.path())).unwrap();
    let attempts = reader.attempts().unwrap();
    // Slugs begin with the number.
    let number = |stack: &str| stack.split('-').next().unwrap().parse().unwrap();
    let rate = |attempt: record::Attempt| {
        let cell = attempt.cell;
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        // The window that counts is the longer one, where there is one.
        let dir = cell.directory.unwrap();
        let raw = ["extended-fio.json", "fio.json"].map(|file| reader.raw(&dir, file).unwrap());
        let switches = switches(&raw.into_iter().flatten().next().unwrap());
        ((number(&cell.key.stack), cell.key.workload), Rate { bytes: reading.throughput().0, switches })
    };
    attempts.into_iter().map(rate).collect()
}

/// How often a thread of fio gave its processor up for an operation, as fio counts them.
fn switches(fio: &[u8]) -> f64 {
    let told: Value = Deserializer::from_slice(fio).into_iter().next().unwrap().unwrap();
    let jobs = told["jobs"].as_array().unwrap();
    let sum = |of: &dyn Fn(&Value) -> f64| jobs.iter().map(of).sum::<f64>();
    let operations = |job: &Value| ["read", "write"].map(|way| job[way]["total_ios"].as_f64().unwrap()).iter().sum();
    sum(&|job| job["ctx"].as_f64().unwrap()) / sum(&operations)
}

/// Nanoseconds for a byte that the lab does not know of: what a byte takes the published machine under ext4 alone with large
/// blocks, and not the lab. It is copied once, and memory has a price only there.
fn memory(lab: &Rates, published: &Rates, test: &str) -> f64 {
    let large = if test.ends_with("read") { "seq-1m-q8-t1-read" } else { "seq-1m-q8-t1-write" };
    let base = (1, large.to_owned());
    1e9 / published[&base].bytes - 1e9 / lab[&base].bytes
}

/// How many of these are within a factor.
fn within(factors: &[f64], most: f64) -> usize {
    factors.iter().filter(|factor| factor.max(factor.recip()) <= most).count()
}

#[expect(clippy::print_stdout, reason = "the table of docs/virtual-time.md")]
#[test]
fn layers_cost_in_virtual_time_what_was_published() {
    let (published, lab) = (published(), in_the_lab());
    let keys = || published.keys().filter(|key| key.0 > 1);
    let base = |key: &(u32, String)| (1, key.1.clone());
    let there = |key| published[key].bytes / published[&base(key)].bytes;
    let here = |key| lab[key].bytes / lab[&base(key)].bytes;
    let with = |key: &(u32, String), switch: f64| {
        let block = if key.1.contains("4k") { 4096.0 } else { 1_048_576.0 };
        let memory = memory(&lab, &published, &key.1);
        let took = |key: &(u32, String)| {
            let counted: f64 = ciphers(key.0).iter().map(|cost| cost.published - cost.lab).sum();
            1e9 / lab[key].bytes + memory + switch * lab[key].switches / block + counted
        };
        took(&base(key)) / took(key)
    };
    let (mut counted, mut charged) = (Vec::new(), Vec::new());
    for key in keys() {
        let (there, here, with) = (there(key), here(key), with(key, SWITCH));
        println!(
            "#{:<2} {:20} published {there:.3}; counted {here:.3}, {:.2} of it; charged {with:.3}, {:.2}",
            key.0,
            key.1,
            here / there,
            with / there
        );
        counted.push(here / there);
        charged.push(with / there);
    }
    for (name, factors) in [("counted", &counted), ("charged", &charged)] {
        println!("{name}: {} of 36 within 1.5, {} within 3", within(factors, 1.5), within(factors, 3.0));
    }
    assert_eq!((counted.len(), charged.len()), (36, 36));
    assert!(within(&charged, 1.5) >= 27 && within(&charged, 3.0) >= 33, "{charged:?}");
    // No figure that was picked for it: any from half of the least published to more than twice of it does.
    for switch in (1000..=5000).step_by(500).map(f64::from) {
        let charged: Vec<f64> = keys().map(|key| with(key, switch) / there(key)).collect();
        println!("{switch} ns: {} within 1.5", within(&charged, 1.5));
        assert!(within(&charged, 1.5) >= 26, "{switch} ns: {charged:?}");
    }
}
