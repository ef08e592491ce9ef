//! Predictions of many stacks on one machine, to three digits: a change of a rule shows what it changes.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::fmt::Write as _;

use model::{Conditions, Site, predict};
use terms::units::significant;

const STUDY: &str = r#"
question = "What is expected?"
lab.drives = [ { name = "nvme0", size = "1 GiB" }, { name = "nvme1", size = "1 GiB" },
               { name = "nvme2", size = "1 GiB" }, { name = "nvme3", size = "1 GiB" } ]
[[stack]]
name = "bare"
layers = [ { bare = {}, on = "nvme0" } ]
[[stack]]
name = "RAID-0"
layers = [ { raid = { level = 0 }, on = ["nvme0", "nvme1", "nvme2", "nvme3"] } ]
[[stack]]
name = "RAID-10, LUKS, XFS"
layers = [ { raid = { level = 10 }, on = ["nvme0", "nvme1", "nvme2", "nvme3"] }, { luks = {} }, { xfs = {} } ]
[[stack]]
name = "LUKS under RAID-0"
layers = [ { luks = {}, on = ["nvme0", "nvme1", "nvme2", "nvme3"] }, { raid = { level = 0 } } ]
[[stack]]
name = "RAID-5 on dm-integrity"
layers = [ { integrity = {}, on = ["nvme0", "nvme1", "nvme2", "nvme3"] }, { raid = { level = 5 } }, { ext4 = {} } ]
[[stack]]
name = "RAID-6"
layers = [ { raid = { level = 6 }, on = ["nvme0", "nvme1", "nvme2", "nvme3"] } ]
[[stack]]
name = "LVM raid1 with integrity"
layers = [ { lvm = { volume = "raid1", integrity = { mode = "bitmap" } }, on = ["nvme0", "nvme1"] }, { ext4 = {} } ]
[[stack]]
name = "btrfs raid10"
layers = [ { btrfs = { data = "raid10" }, on = ["nvme0", "nvme1", "nvme2", "nvme3"] } ]
[[stack]]
name = "raidz1"
layers = [ { zfs = { layout = "raidz1" }, on = ["nvme0", "nvme1", "nvme2", "nvme3"] } ]
[[workload]]
name = "seq-read"
pattern = "read"
block = "1 MiB"
depth = 8
[[workload]]
name = "rnd-read"
pattern = "randread"
block = "4 KiB"
depth = 32
jobs = 16
[[workload]]
name = "seq-write"
pattern = "write"
block = "1 MiB"
depth = 8
[[workload]]
name = "rnd-write"
pattern = "randwrite"
block = "4 KiB"
depth = 32
jobs = 16
[[workload]]
name = "database"
pattern = "randmixed"
block = "16 KiB"
jobs = 4
fsync_every = 1
"#;

#[test]
fn predictions_of_many_stacks() {
    let (design, notes) = spec::parse(STUDY);
    let design = design.unwrap_or_else(|| panic!("{}", spec::render("study.toml", STUDY, &notes, false)));
    let (machine, _) = spec::parse_machine(include_str!("machines/four-firecuda-530.toml"));
    let site = Site::new(&machine.unwrap());
    let mut text = String::new();
    for stack in &design.stacks {
        writeln!(text, "{}", stack.name).unwrap();
        for work in &design.workloads {
            let said = predict(&site, stack, work, &Conditions::default()).unwrap();
            let mb = |rate: f64| significant(rate / 1e6);
            let range = said.throughput.ninety;
            let flags: Vec<&str> = said.flags.iter().map(|flag| flag.code.as_str()).collect();
            writeln!(
                text,
                "  {:9} {:>6} MB/s ({} to {}), {:>6} µs, {} µs of processors, writes × {}, {} {}",
                said.workload,
                mb(said.throughput.value),
                mb(range.low),
                mb(range.high),
                significant(said.latency.value / 1e3),
                significant(said.cpu.value / 1e3),
                said.write_amplification.map_or_else(|| "-".to_owned(), significant),
                said.limits.first().map_or("", |limit| &limit.resource),
                flags.join(" "),
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

/// A prediction is a document: what is written is read again, to the last bit.
#[test]
fn predictions_survive_json() {
    let (design, _) = spec::parse(STUDY);
    let (machine, _) = spec::parse_machine(include_str!("machines/four-firecuda-530.toml"));
    let design = design.unwrap();
    let site = Site::new(&machine.unwrap());
    let said = predict(&site, &design.stacks[2], &design.workloads[3], &Conditions::default()).unwrap();
    let text = serde_json::to_string(&said).unwrap();
    assert_eq!(serde_json::from_str::<terms::prediction::Prediction>(&text).unwrap(), said);
    // Every term of a demand adds up to it, and every value that is named is there.
    for demand in &said.demands {
        let sum: f64 = demand.terms.iter().map(|term| term.product).sum();
        assert!((sum - demand.demand).abs() <= 1e-9 * demand.demand.abs().max(1.0), "{demand:?}");
        for at in demand.terms.iter().flat_map(|term| &term.inputs) {
            assert!(said.inputs.get(*at).is_some_and(|input| !input.origin.is_empty()), "{demand:?}");
        }
    }
}
