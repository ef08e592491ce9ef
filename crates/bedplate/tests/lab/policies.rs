//! How a study can be run: on slices, from one build, within a budget, beside other tools, along a load curve.

use record::RunReader;
use terms::finding::Findings;

use crate::bench::{BRIEF, Bench, text};

/// Two stacks on two drives.
const STUDY: &str = r#"
question = "Which of two?"

[lab]
cpus = 1
drives = [{ name = "a", size = "512 MiB", lba = "4 KiB" }, { name = "b", size = "512 MiB", lba = "4 KiB" }]

[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]

[[stack]]
name = "ext4 on a mirror"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }, { ext4 = {} }]

[[workload]]
name = "reads"
pattern = "randread"
block = "4 KiB"
depth = 16

[[workload]]
name = "writes"
pattern = "write"
block = "1 MiB"
depth = 4

[measure]
span = "32 MiB"
settle = "200 ms"
window = "600 ms"
"#;

/// Writes a study, runs it, and gives what came of it.
fn run(bench: &Bench, study: &str, arguments: &[&str]) -> (RunReader, Findings, std::process::Output) {
    let path = bench.labs().with_file_name("study.toml");
    std::fs::write(&path, study).unwrap();
    let path = path.to_string_lossy().into_owned();
    let output = bench.run(&[&["run", &path], arguments].concat());
    let reader = RunReader::open(&bench.only_run()).unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let (cells, builds) = (reader.cells().unwrap(), reader.builds().unwrap());
    let inventory = reader.inventory().unwrap().unwrap_or_default();
    let findings = analyse::study(reader.provenance(), &inventory, &cells, &builds);
    bench.assert_nothing_left();
    (reader, findings, output)
}

fn numbers(reader: &RunReader) -> usize {
    let cells = reader.newest_cells().unwrap();
    for cell in &cells {
        assert!(cell.reading.is_some(), "{:?}: {:?}", cell.key, cell.failure);
    }
    cells.iter().filter(|cell| !cell.key.is_control()).count()
}

/// Nodes that plans of a round were carried out on.
fn nodes(reader: &RunReader, round: u64) -> Vec<String> {
    let journal = reader.journal().unwrap();
    let begun = journal.iter().filter(|line| line["entry"] == "begin" && line["round"] == round);
    begun.map(|line| format!("{} {}", line["stack"], line["drives"])).collect()
}

#[test]
fn slices_change_places_and_leave_nothing() {
    let bench = Bench::new();
    let (reader, findings, output) =
        run(&bench, STUDY, &[&["--replicate", "slices", "--rounds", "2", "--anchor", "note"][..], &BRIEF].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(numbers(&reader), 2 * 2 * 2);
    let controls = reader.newest_cells().unwrap().iter().filter(|cell| cell.key.is_control()).count();
    assert_eq!(controls, 4, "the free slice, first and last in each round");
    let (first, second) = (nodes(&reader, 1), nodes(&reader, 2));
    assert_eq!((first.len(), second.len()), (2, 2));
    let moved = |stack: &String| !second.contains(stack);
    assert!(first.iter().all(moved), "every stack lies elsewhere: {first:?} {second:?}");
    assert!(first.iter().all(|stack| stack.contains("p")), "on partitions: {first:?}");
    assert!(findings.cells.iter().all(|cell| cell.throughput.is_some()));
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn one_build_says_nothing_between_stacks() {
    let bench = Bench::alone();
    let (reader, findings, output) = run(&bench, STUDY, &["--replicate", "single", "--rounds", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(numbers(&reader), 2 * 2 * 3);
    assert_eq!(reader.builds().unwrap().len(), 2, "each stack is built once");
    assert_eq!(findings.comparisons.len(), 2);
    let open = |pair: &terms::finding::Comparison| {
        pair.verdict == terms::finding::Compared::CannotTell && pair.p_value.is_none()
    };
    assert!(findings.comparisons.iter().all(open), "{:?}", findings.comparisons);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_budget_is_kept_and_spent_where_it_decides() {
    let bench = Bench::alone();
    let begin = std::time::Instant::now();
    let arguments = ["--rounds", "2", "--max-rounds", "40", "--budget", "160s", "--precision", "0.1%"];
    let (reader, findings, output) = run(&bench, STUDY, &arguments);
    let took = begin.elapsed().as_secs();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    // Booting and reporting are not in the budget, and no cell is cut short.
    assert!(took < 160 + 30, "it took {took} s");
    let rounds = reader.newest_cells().unwrap().iter().map(|cell| cell.key.round).max().unwrap();
    assert!((3..40).contains(&rounds), "{rounds} rounds");
    assert!(findings.cells.iter().all(|cell| cell.throughput.is_some()));
    let events = reader.events().unwrap();
    assert!(events.iter().any(|event| event.kind == terms::event::EventKind::BudgetSpent {}), "{events:?}");
    // The same budget is spent, and a larger one goes on with the same record.
    let last = |reader: &RunReader| reader.newest_cells().unwrap().iter().map(|cell| cell.key.round).max().unwrap();
    let (same, _, _) = run(&bench, STUDY, &[&arguments[..], &["--resume"]].concat());
    assert_eq!((same.dir(), last(&same)), (reader.dir(), rounds));
    let larger = arguments.map(|argument| if argument == "160s" { "230s" } else { argument });
    let (more, _, output) = run(&bench, STUDY, &[&larger[..], &["--resume"]].concat());
    assert_eq!((more.dir(), output.status.code()), (reader.dir(), Some(0)), "{}", text(&output));
    assert!(last(&more) > rounds && more.is_sealed(), "{rounds} rounds, then {}", last(&more));
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn load_curves_rise_in_latency() {
    let bench = Bench::alone();
    // Drives that leave the processor time to offer operations one by one.
    let study = STUDY.replace("lba = ", "kind = \"flash\", read_iops = 40000, write_iops = 40000, lba = ");
    let arguments = ["--only", "ext4", "--rounds", "1", "--max-rounds", "1", "--curve", "--window", "300ms"];
    let (reader, findings, output) = run(&bench, &study, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(numbers(&reader), 2 + 4, "four rates of the random workload");
    let curve = &findings.curves[0];
    assert_eq!(curve.points.len(), 4 + 1, "{curve:?}");
    for point in &curve.points {
        let (done, latency) = (point.iops.unwrap().value, point.latency.as_ref().unwrap());
        // Of 3000 arrivals and more, two deviations are 3.7 %.
        assert!(point.offered_iops.is_none_or(|offered| (0.95..1.05).contains(&(done / offered))), "{point:?}");
        assert!(latency.mean.0 > 75_000, "a drive takes 80 µs: {point:?}");
    }
    let means: Vec<_> = curve.points.iter().map(|point| point.latency.as_ref().unwrap().mean).collect();
    assert!(means.is_sorted(), "{means:?}");
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn another_tools_figure_stands_beside_ours_with_the_reason() {
    let bench = Bench::alone();
    let arguments = [
        "--only",
        "ext4",
        "--rounds",
        "1",
        "--compat",
        "--profile",
        "gnome-disks",
        "--span",
        "256MiB",
        "--window",
        "2s",
    ];
    let (reader, findings, output) = run(&bench, STUDY, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(numbers(&reader), 3);
    // Access times are no rate: the mean of single random reads is what the tool shows, and ours too.
    for cell in findings.cells.iter().filter(|cell| cell.workload != "gnome-access") {
        let beside = cell.imitation.as_ref().unwrap_or_else(|| panic!("nothing beside {}", cell.workload));
        eprintln!("{}: {beside:?}", cell.workload);
    }
    // The graph over the drive: every sample of a pass, and a thousand accesses.
    let places = |name: &str| &findings.cells.iter().find(|cell| cell.workload == name).unwrap().probes;
    for (name, count) in [("gnome-read", 25), ("gnome-write", 25), ("gnome-access", 1000)] {
        let probes = places(name);
        assert_eq!(probes.len(), count, "{name}");
        let last = probes.last().unwrap().at;
        assert!(
            probes.is_sorted_by_key(|probe| probe.at) && last.0 > 200 << 20 && last.0 < 256 << 20,
            "{name}: {last}"
        );
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn files_are_copied_from_an_encrypted_source() {
    let bench = Bench::alone();
    let source = r#"
[[source]]
name = "old drive"
layers = [{ luks = { pbkdf = "pbkdf2" }, on = "c" }, { ext4 = {} }]
"#;
    let drive = r#"{ name = "c", size = "512 MiB", lba = "4 KiB" }, { name = "b","#;
    let study = STUDY.replace(r#"{ name = "b","#, drive);
    let study = study.replace("[measure]", &format!("{source}\n[measure]\nprofiles = [\"file-copy\"]"));
    let (reader, _, output) = run(&bench, &study, &["--only", "ext4", "--rounds", "1", "--span", "64MiB"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let cells = reader.newest_cells().unwrap();
    assert!(cells.iter().any(|cell| cell.key.workload == "file-copy" && cell.reading.is_some()), "{cells:?}");
    let journal = reader.journal().unwrap();
    let opened = journal.iter().any(|line| line["stack"] == "old-drive" && line["step"] == "luks.open");
    assert!(opened, "the source is the one that was named");
}

/// A guest under a virtual clock has the programs that make a tree of files.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn files_are_copied_in_virtual_time() {
    let bench = Bench::new();
    let study = STUDY.replace(r#""512 MiB", lba = "4 KiB" }"#, r#""320 MiB", kind = "flash" }"#);
    let study = study.replace("[measure]", "[measure]\nprofiles = [\"file-copy\"]");
    let (reader, _, output) = run(&bench, &study, &["--only", "ext4", "--rounds", "1", "--span", "32MiB"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let cells = reader.newest_cells().unwrap();
    assert!(cells.iter().any(|cell| cell.key.workload == "file-copy" && cell.reading.is_some()), "{cells:?}");
}

/// Every file system is mounted anew between filling and looking: a tree that memory still holds is a failed cell.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn what_memory_holds_of_files_is_forgotten() {
    let bench = Bench::alone();
    let others = r#"
[[stack]]
name = "XFS"
layers = [{ xfs = {}, on = "a" }]

[[stack]]
name = "btrfs on both"
layers = [{ btrfs = { data = "raid1" }, on = ["a", "b"] }]

[[stack]]
name = "ZFS on both"
layers = [{ zfs = { layout = "mirror" }, on = ["a", "b"] }]

[[workload]]
name = "reads"
"#;
    let study = STUDY.replacen("[[workload]]\nname = \"reads\"\n", others, 1);
    let study =
        study.replace("[measure]", "[measure]\nprofiles = [\"file-tree\"]\nquick = [\"tree-list\", \"tree-read\"]");
    let (reader, findings, output) = run(&bench, &study, &["--quick", "--span", "16MiB"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(numbers(&reader), 5 * 2);
    for cell in findings.cells.iter().filter(|cell| cell.workload == "tree-read") {
        let read: f64 = cell.drives.iter().map(|drive| drive.read.0).sum();
        assert!(read > 0.0, "{}: {:?}", cell.stack, cell.drives);
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_drive_is_written_to_until_it_settles() {
    let bench = Bench::alone();
    let arguments = ["--only", "ext4", "--rounds", "5", "--profile", "snia-wsat", "--window", "1s", "--anchor", "off"];
    let (reader, findings, output) = run(&bench, STUDY, &[&arguments[..], &["--replicate", "single"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(numbers(&reader), 5);
    let settled = findings.cells[0].snia.as_ref().unwrap_or_else(|| panic!("whether five rounds agree is not said"));
    eprintln!("{settled:?}");
}

#[test]
fn drives_become_another_kind_only_where_they_can() {
    let bench = Bench::new();
    for (study, more, kind, why) in [
        ("quickstart", &["--on", "local"][..], "ram", "`--lab-drives` changes drives of the lab only"),
        ("pcie-switch", &[], "hdd", "a guest has 6 SATA ports"),
        ("pcie-switch", &[], "ram", "more than half"),
        ("remote-two-hosts", &[], "hdd", "`read-both` needs drives behind a network"),
        ("remote-path-lost", &[], "nvme", "`path-lost` needs drives behind a network"),
        ("remote-two-hosts", &["--replicate", "slices"], "", "slices are on one"),
    ] {
        let path = format!("studies/{study}.toml");
        let kind = if kind.is_empty() { Vec::new() } else { vec!["--lab-drives", kind] };
        let output = bench.run(&[&["run", path.as_str()], more, kind.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(why), "{why}: {}", text(&output));
    }
    bench.assert_nothing_left();
}

/// One study on every class of drives that a lab can have.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_study_is_measured_on_every_class_of_drives() {
    for (kind, transport, made) in
        [("sata", "sata", "SATA drives"), ("hdd", "other", "hard disks"), ("ram", "ram", "RAM drives")]
    {
        let bench = Bench::alone();
        let arguments = ["run", crate::bench::TWO_NVME, "--quick", "--only", "1", "--lab-drives", kind];
        let output = bench.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let reader = record::RunReader::open(&bench.only_run()).unwrap();
        assert!(reader.newest_cells().unwrap().iter().all(|cell| cell.reading.is_some()), "{kind}");
        let drives = reader.inventory().unwrap().unwrap().drives;
        assert!(drives.iter().all(|drive| drive.transport.word() == transport), "{drives:?}");
        let words = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("drives of the lab made {made}")), "{words}");
        bench.assert_nothing_left();
    }
}
