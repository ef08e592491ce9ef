//! A guest whose clock counts its instructions says the same twice, whatever else the machine does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use record::RunReader;

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

/// Seconds of the guest for an operation, of every cell of a new run.
fn paces(bench: &Bench, study: &str) -> BTreeMap<String, f64> {
    let output = bench.run(&["run", study]);
    assert!(output.status.success(), "{}", text(&output));
    // Their names begin with their time.
    let runs = std::fs::read_dir(bench.runs()).unwrap().map(|entry| entry.unwrap().path());
    let newest = runs.filter(|path| path.is_dir() && !path.is_symlink()).max().unwrap();
    let reader = RunReader::open(&newest).unwrap();
    assert!(reader.provenance().has_virtual_clock(), "{:?}", reader.provenance().accelerator);
    let cells = reader.newest_cells().unwrap().into_iter();
    let mean = |cell: terms::record::Cell| {
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        (format!("{:?}", cell.key), 1.0 / reading.iops().0)
    };
    cells.map(mean).collect()
}

#[test]
fn a_virtual_clock_repeats_itself_beside_other_work() {
    let bench = Bench::new();
    let path = bench.labs().with_file_name("clock.toml");
    std::fs::write(&path, STUDY).unwrap();
    let study = path.to_string_lossy().into_owned();
    let alone = paces(&bench, &study);
    // Both cores are kept busy.
    let over = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        let work = || {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let loops = [scope.spawn(work), scope.spawn(work)];
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| paces(&bench, &study)));
        over.store(true, Ordering::Relaxed);
        drop(loops);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert!(alone.len() == 8 && alone.keys().eq(busy.keys()), "{alone:?}\n{busy:?}");
    for (cell, took) in &alone {
        let ratio = busy[cell] / took;
        eprintln!("{cell}: {ratio:.4}");
        assert!((ratio - 1.0).abs() <= terms::record::REPEATS, "{cell}: {ratio}");
    }
    bench.assert_nothing_left();
}

/// Bytes of large operations and count of small ones in a second, as docs/lab.md has them.
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
