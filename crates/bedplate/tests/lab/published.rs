//! What layers cost in virtual time, beside what they cost a real machine: drives in memory, so that only the processor
//! limits, in the guest and in the benchmarks of t13a (2023).
//!
//! `cargo test -p bedplate --features long-tests --test lab published -- --nocapture` prints every figure.

use std::collections::BTreeMap;

use crate::bench::{Bench, SHORT, root, text};

/// Throughput by number of the configuration and test.
type Rates = BTreeMap<(u32, String), f64>;

/// Published rows on RAM drives: class, number, name, test, bytes per second, …
fn published() -> Rates {
    let text = std::fs::read_to_string(root().join("crates/model/tests/data/t13a.csv")).unwrap();
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let of = |row: Vec<&str>| ((row[1].parse().unwrap(), row[3].to_owned()), row[4].parse().unwrap());
    rows.filter(|row| row[0] == "RAM").map(of).collect()
}

/// The same stacks of the study, in the lab.
fn in_the_lab(bench: &Bench, wanted: &Rates) -> Rates {
    let mut numbers: Vec<String> = wanted.keys().map(|(number, _)| number.to_string()).collect();
    numbers.dedup();
    let only = numbers.join(",");
    let study = ["run", "studies/long-term-storage.toml", "--lab-drives", "ram"];
    let output = bench.run(&[&study[..], &["--only", &only], &SHORT].concat());
    assert!(output.status.success(), "{}", text(&output));
    let cells = record::RunReader::open(&bench.only_run()).unwrap().newest_cells().unwrap();
    // Slugs begin with the number.
    let number = |stack: &str| stack.split('-').next().unwrap().parse().unwrap();
    let rate = |cell: terms::record::Cell| {
        let rate = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure)).throughput().0;
        ((number(&cell.key.stack), cell.key.workload), rate)
    };
    cells.into_iter().map(rate).collect()
}

/// Nanoseconds for a byte that the lab does not know of: what a byte takes the published machine under ext4 alone with large
/// blocks, and not the lab. It is copied once, and memory has a price only there.
fn memory(lab: &Rates, published: &Rates, test: &str) -> f64 {
    let large = if test.ends_with("read") { "seq-1m-q8-t1-read" } else { "seq-1m-q8-t1-write" };
    let base = (1, large.to_owned());
    1e9 / published[&base] - 1e9 / lab[&base]
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn layers_cost_in_virtual_time_what_was_published() {
    let bench = Bench::new();
    let published = published();
    let lab = in_the_lab(&bench, &published);
    let ratio = |of: &Rates, key: &(u32, String)| of[key] / of[&(1, key.1.clone())];
    let (mut factors, mut charged) = (Vec::new(), Vec::new());
    let rate = |of: &Rates, key: &(u32, String)| of[key] / 1e6;
    for key in published.keys() {
        let (here, there) = (ratio(&lab, key), ratio(&published, key));
        let memory = memory(&lab, &published, &key.1);
        let took = |key: &(u32, String)| 1e9 / lab[key] + memory;
        let with = took(&(1, key.1.clone())) / took(key);
        println!(
            "#{:<2} {:22} {:6.0} and {:6.0} MB/s; of ext4: lab {here:.3} with memory {with:.3} published {there:.3}; \
             over published {:.2} with memory {:.2}",
            key.0,
            key.1,
            rate(&lab, key),
            rate(&published, key),
            here / there,
            with / there
        );
        if key.0 > 1 {
            factors.push((here / there).ln().abs().exp());
            charged.push((with / there).ln().abs().exp());
        }
    }
    for (name, mut of) in [("as counted", factors), ("with memory", charged)] {
        assert_eq!(of.len(), 36);
        of.sort_by(f64::total_cmp);
        let within = |most: f64| of.iter().filter(|factor| **factor <= most).count();
        println!(
            "36 ratios to ext4, {name}: {} within 1.5, {} within 3, worst {:.2}",
            within(1.5),
            within(3.0),
            of[35]
        );
    }
}
