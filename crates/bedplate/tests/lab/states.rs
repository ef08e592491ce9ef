//! Arrays that are degraded or resynchronise while they are measured, and volumes of TrueCrypt.

use serde_json::Value;

use crate::bench::{Bench, text};

const STUDY: &str = r#"
    question = "Do states and volumes work?"
    [lab]
    drives = [
        { name = "a", size = "640 MiB", lba = "4 KiB", read = "64 MB/s", write = "64 MB/s" },
        { name = "b", size = "640 MiB", lba = "4 KiB", read = "64 MB/s", write = "64 MB/s" },
        { name = "c", size = "128 MiB" },
    ]
    [measure]
    rounds = 1
    settle = "300 ms"
    window = "1 s"
    span = "32 MiB"
    anchor = "off"
    [[workload]]
    name = "reads"
    pattern = "randread"
    block = "4 KiB"
    depth = 8
    [[workload]]
    name = "writes"
    pattern = "write"
    block = "256 KiB"
    depth = 4
    [[stack]]
    name = "resync"
    layers = [{ raid = { level = 1, bitmap = "none", state = "resync" }, on = ["a", "b"] }, { ext4 = {} }]
    [[stack]]
    name = "degraded"
    layers = [{ raid = { level = 1, state = "degraded" }, on = ["a", "b"] }]
    [[stack]]
    name = "volume"
    layers = [{ crypt = { format = "truecrypt" }, on = "a" }, { ext4 = {} }]
    [[stack]]
    name = "volume on small blocks"
    layers = [{ crypt = { format = "truecrypt", no_read_workqueue = true, no_write_workqueue = true }, on = "c" }]
    "#;

fn cell(run: &std::path::Path, stack: &str, workload: &str) -> Value {
    let path = run.join(format!("cells/1-{stack}-{workload}/cell.json"));
    serde_json::from_slice(&std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// Bytes that a drive read and wrote in the window.
fn moved(cell: &Value, drive: &str) -> (f64, f64) {
    let members = cell["members"].as_array().unwrap();
    let member = members.iter().find(|member| member["drive"] == drive).unwrap();
    (member["read_bytes"].as_f64().unwrap(), member["written_bytes"].as_f64().unwrap())
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn arrays_are_measured_in_the_state_that_is_asked_for() {
    let bench = Bench::alone();
    let study = bench.runs().with_file_name("states.toml");
    std::fs::write(&study, STUDY).unwrap();
    let output = bench.run(&["run", study.to_str().unwrap(), "--on", "lab"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = bench.only_run();
    // A resynchronisation reads one member and writes the other, whatever is asked of the array.
    let resync = cell(&run, "resync", "reads");
    assert!(moved(&resync, "b").1 > 1e6, "{resync:#}");
    let writes = cell(&run, "resync", "writes");
    assert!(moved(&writes, "a").0 > 1e6, "{writes:#}");
    // A member that is set aside is neither read nor written.
    for workload in ["reads", "writes"] {
        let degraded = cell(&run, "degraded", workload);
        assert_eq!(moved(&degraded, "b"), (0.0, 0.0), "{degraded:#}");
        assert!(degraded["failure"].is_null() && degraded["reading"].is_object(), "{degraded:#}");
    }
    for stack in ["volume", "volume-on-small-blocks"] {
        let read = cell(&run, stack, "reads");
        assert!(read["reading"].is_object(), "{read:#}");
    }
    bench.assert_nothing_left();
}
