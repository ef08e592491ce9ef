//! A guest whose clock counts its instructions says the same twice, whatever else the machine does, and one round finds
//! what is slower by a per cent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use record::RunReader;
use terms::finding::{Compared, RunComparison};

use crate::bench::{Bench, text};

const STUDY: &str = r#"
question = "Does it say the same twice?"
[lab]
memory = "2 GiB"
drives = [{ name = "a", kind = "ram", size = "128 MiB" }, { name = "b", kind = "ram", size = "128 MiB" }]
[[stack]]
name = "plain"
layers = [{ ext4 = {}, on = "a" }]
[[stack]]
name = "mirror"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }, { ext4 = {} }]
[measure]
profiles = ["quick"]
rounds = 1
span = "32 MiB"
settle = "60 ms"
window = "160 ms"
"#;

/// A new run of these stacks of the study.
fn run(bench: &Bench, study: &str, only: &str) -> PathBuf {
    let output = bench.run(&["run", study, "--only", only]);
    assert!(output.status.success(), "{}", text(&output));
    // Their names begin with their time.
    let runs = std::fs::read_dir(bench.runs()).unwrap().map(|entry| entry.unwrap().path());
    runs.filter(|path| path.is_dir() && !path.is_symlink()).max().unwrap()
}

/// Seconds of the guest for an operation, of every cell of a run.
fn paces(run: &Path) -> BTreeMap<String, f64> {
    let reader = RunReader::open(run).unwrap();
    assert!(reader.provenance().has_virtual_clock(), "{:?}", reader.provenance().accelerator);
    let cells = reader.newest_cells().unwrap().into_iter();
    let mean = |cell: terms::record::Cell| {
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        (format!("{:?}", cell.key), 1.0 / reading.iops().0)
    };
    cells.map(mean).collect()
}

/// What `compare` says of two runs, and whether it calls a cell slower by more than 1 %.
fn compared(bench: &Bench, [a, b]: [&Path; 2]) -> (RunComparison, bool) {
    let [a, b] = [a, b].map(|run| run.to_string_lossy().into_owned());
    let output = bench.run(&["compare", &a, &b, "--json", "--fail-slower", "1%"]);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{}", text(&output));
    (serde_json::from_slice(&output.stdout).unwrap(), code == Some(1))
}

#[test]
fn a_virtual_clock_repeats_itself_beside_other_work_and_finds_a_layer_more() {
    let bench = Bench::new();
    let path = bench.labs().with_file_name("clock.toml");
    std::fs::write(&path, STUDY).unwrap();
    let study = path.to_string_lossy().into_owned();
    let first = run(&bench, &study, "*");
    // Both cores are kept busy.
    let over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        let work = || {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let loops = [scope.spawn(work), scope.spawn(work)];
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&bench, &study, "*")));
        over.store(true, Ordering::Relaxed);
        drop(loops);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let (alone, busy) = (paces(&first), paces(&beside));
    assert!(alone.len() == 8 && alone.keys().eq(busy.keys()), "{alone:?}\n{busy:?}");
    for (cell, took) in &alone {
        let ratio = busy[cell] / took;
        eprintln!("{cell}: {ratio:.4}");
        assert!((ratio - 1.0).abs() <= terms::record::REPEATS, "{cell}: {ratio}");
    }
    let (same, slower) = compared(&bench, [&first, &beside]);
    assert!(same.repeats && !slower);
    assert_eq!(same.with(Some(Compared::Equivalent)).count(), 8, "{:?}", same.cells);
    // The first stack with one more layer.
    std::fs::write(&path, STUDY.replace(PLAIN, PLAIN_ON_LVM)).unwrap();
    let (planted, slower) = compared(&bench, [&first, &run(&bench, &study, "plain")]);
    assert!(planted.repeats && slower);
    assert!(planted.differences.iter().any(|of| of.what == "stack `plain`" && of.b == "lvm, ext4"), "{planted:?}");
    let cells: Vec<_> = planted.cells.iter().filter(|cell| cell.name == "plain").collect();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let ratio = cell.ratio.unwrap();
        eprintln!("with LVM, {}: {:.4} {:?} {:?}", cell.workload, ratio.value, cell.verdict, cell.changes);
        // What a mapping costs is of each operation: of one of 1 MiB it is less than a per cent.
        let small = cell.workload.starts_with("rnd-4k");
        let slower = cell.verdict == Some(Compared::Slower);
        assert!(slower || (!small && cell.verdict == Some(Compared::Equivalent)), "{cell:?}");
        assert!(!small || (ratio.high.unwrap() < 0.99 && !cell.changes.is_empty()), "{cell:?}");
    }
    bench.assert_nothing_left();
}

const PLAIN: &str = r#"layers = [{ ext4 = {}, on = "a" }]"#;
const PLAIN_ON_LVM: &str = r#"layers = [{ lvm = {}, on = "a" }, { ext4 = {} }]"#;

/// Bytes of large operations and count of small ones in a second, as docs/virtual-time.md has them.
#[test]
fn a_flash_drive_gives_what_it_is_told() {
    let bench = Bench::new();
    let output = bench.run(&["run", "crates/bedplate/tests/studies/flash.toml", "--only", "3,4"]);
    assert!(output.status.success(), "{}", text(&output));
    let cells = RunReader::open(&bench.only_run()).unwrap().newest_cells().unwrap();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        let told = if cell.key.stack.starts_with("550") { (550e6, 67e3) } else { (1000e6, 120e3) };
        let is_large = cell.key.workload.starts_with("seq");
        let given = if is_large { reading.throughput().0 / told.0 } else { reading.iops().0 / told.1 };
        eprintln!("{:?}: {given:.3}", cell.key);
        assert!((given - 1.0).abs() < 0.08, "{:?}: {given}", cell.key);
    }
    bench.assert_nothing_left();
}
