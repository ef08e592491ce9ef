//! Predictions made before a run, beside what was measured: on drives that are as slow as they were made.
//!
//! `cargo test -p bedplate --features long-tests --test lab predicted -- --nocapture` prints every figure.

use serde_json::Value;

use crate::bench::{Bench, text};

/// What limits a stack of `studies/foretold.toml`, by the beginning of its name, and how predictions call it.
const LIMITS: [(&str, &[&str]); 3] = [
    ("slow-link", &["switch0"]),
    ("processors", &["thread", "cores", "workers", "completions"]),
    ("", &["drive a", "drive b", "drive c", "drive d"]),
];

/// One cell: what was predicted, what came, and whether the limit that was said is the one that was made.
struct Outcome {
    title: String,
    error: f64,
    inside: bool,
    bottleneck: String,
    right: bool,
}

fn outcome(cell: &Value) -> Option<Outcome> {
    let said = &cell["foretold_bytes_per_second"];
    let measured = cell["measured_bytes_per_second"].as_f64()?;
    let number = |value: &Value| value.as_f64().unwrap();
    let stack = cell["stack"].as_str().unwrap();
    let bottleneck = cell["limiter"].as_str().unwrap_or("nothing alone").to_owned();
    let (_, words) = LIMITS.iter().find(|(start, _)| stack.starts_with(start)).unwrap();
    Some(Outcome {
        title: format!("{stack}, {}", cell["workload"].as_str().unwrap()),
        error: measured / number(&said["value"]) - 1.0,
        inside: (number(&said["ninety"]["low"])..=number(&said["ninety"]["high"])).contains(&measured),
        right: words.iter().any(|word| bottleneck.contains(word)),
        bottleneck,
    })
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn slow_drives_and_links_are_predicted() {
    let bench = Bench::alone();
    let study = "studies/foretold.toml";
    let calibrated = bench.run(&["calibrate", "--on", "lab", "--study", study, "--seconds", "300"]);
    assert_eq!(calibrated.status.code(), Some(0), "{}", text(&calibrated));
    let run = bench.run(&["run", study, "--on", "lab"]);
    let findings = std::fs::read(bench.only_run().join("reports/report.json")).unwrap();
    let findings: Value = serde_json::from_slice(&findings).unwrap();
    let cells = findings["foretold"]["cells"].as_array().unwrap_or_else(|| panic!("{}", text(&run)));
    let outcomes: Vec<Outcome> = cells.iter().filter_map(outcome).collect();
    for one in &outcomes {
        let marks = [if one.inside { "inside" } else { "outside" }, if one.right { "right" } else { "wrong" }];
        println!("{:<70} {:>+6.1} % {:<8} {:<6} {}", one.title, one.error * 100.0, marks[0], marks[1], one.bottleneck);
    }
    let share =
        |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|one| is(one)).count() as f64 / outcomes.len() as f64;
    let mut errors: Vec<f64> = outcomes.iter().map(|one| one.error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    let (inside, right) = (share(&|one| one.inside), share(&|one| one.right));
    println!(
        "{} cells: median error {:.1} %, {:.0} % inside 90 % intervals, the limiter named rightly in {:.0} %",
        outcomes.len(),
        median * 100.0,
        inside * 100.0,
        right * 100.0
    );
    assert!(outcomes.len() >= 40);
    assert!(median <= 0.1 && inside >= 0.85 && right >= 0.9);
    bench.assert_nothing_left();
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_calibration_makes_predictions_surer() {
    let bench = Bench::alone();
    let output = bench.run(&["calibrate", "--on", "lab", "--seconds", "40", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = told["steps"].as_array().unwrap();
    let width = |at: usize| steps[at]["half_width"].as_f64().unwrap();
    assert!(width(steps.len() - 1) < width(0), "{steps:#?}");
    let done = |name: &str| steps.iter().any(|step| step["name"] == name && step["done"] == true);
    assert!(done("calls and block layer") && done("drives, read only"), "{steps:#?}");
    assert!(told["drives"][0]["rated"]["write_iops"].as_f64().unwrap() > 0.0);
    bench.assert_nothing_left();
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn stacks_drawn_at_random_are_measured_predicted_and_predicted_again() {
    let bench = Bench::alone();
    let drawn = ["check-model", "--seed", "3", "--cells", "20", "--window", "100ms", "--seconds", "60", "--json"];
    let first = bench.run(&drawn);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let told: Value = serde_json::from_slice(&first.stdout).unwrap();
    let cells = told["cells"].as_array().unwrap();
    assert!(cells.len() >= 15, "{told:#}");
    // An instruction takes a nanosecond, so nothing is as far off as a unit that was mistaken.
    assert!(told["all"]["median_error"].as_f64().unwrap() < 1.0, "{told:#}");
    // The same program says the same of what it measured then.
    let again = bench.run(&["check-model", "--seed", "3", "--again", "--json"]);
    let said: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(said["cells"], told["cells"]);
    bench.assert_nothing_left();
}

/// Steps on drives that are as slow as it says.
const STEPS: &str = r#"
    question = "Do steps stop where they should?"
    [lab]
    drives = [
        { name = "a", size = "128 MiB", read = "8 MB/s", write = "8 MB/s" },
        { name = "b", size = "128 MiB", read = "8 MB/s", write = "8 MB/s" },
    ]
    [[drive]]
    name = "a"
    lba = "4 KiB"
    [measure]
    rounds = 1
    stop_beyond = "60 %"
    settle = "300 ms"
    window = "2 s"
    span = "16 MiB"
    anchor = "off"
    [[workload]]
    name = "large-reads"
    pattern = "read"
    block = "256 KiB"
    depth = 4
    [[stack]]
    name = "first"
    layers = [{ bare = {}, on = "a" }]
    [[stack]]
    name = "second"
    layers = [{ lvm = {}, on = "b" }]
    [[stack]]
    name = "third"
    layers = [{ ext4 = {}, on = "b" }]
    "#;

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_step_that_comes_out_wrong_is_the_last() {
    let bench = Bench::alone();
    let study = bench.labs().with_file_name("steps.toml");
    std::fs::write(&study, STEPS).unwrap();
    let study = study.to_string_lossy().into_owned();
    let calibrated = bench.run(&["calibrate", "--on", "lab", "--study", &study, "--seconds", "40"]);
    assert_eq!(calibrated.status.code(), Some(0), "{}", text(&calibrated));
    let whole = bench.run(&["run", &study, "--on", "lab"]);
    let said = text(&whole);
    assert!(said.contains("step 1: first: large-reads: said"), "{said}");
    for (drive, block) in [("a", "4 KiB"), ("b", "512 B")] {
        let line = said.lines().find(|line| line.contains(&format!("before the first step: drive {drive}:"))).unwrap();
        assert!(line.contains("firmware QEMU") && line.contains(&format!("block {block}")), "{line}");
        assert!(line.contains("link 2.5 GT/s x1"), "the link of an emulated drive: {line}");
    }
    assert!(said.contains("Before the first step: "), "the report counts what was looked at: {said}");
    // A calibration that says that such drives read 1 MB/s is believed, so the first step comes out eight times too fast.
    let kept = std::fs::read_dir(bench.runs().with_file_name("calibrations")).unwrap().next().unwrap().unwrap().path();
    let mut calibration: Value = serde_json::from_slice(&std::fs::read(&kept).unwrap()).unwrap();
    let slow = serde_json::json!(1e6);
    calibration["drives"][0]["rated"]["read_bytes_per_second"] = slow;
    std::fs::write(&kept, calibration.to_string()).unwrap();
    let stopped = bench.run(&["run", &study, "--on", "lab"]);
    let said = text(&stopped);
    assert!(said.contains("stopped: step 1 (first) is more than 60 % off its prediction"), "{said}");
    assert!(said.contains("not begun") && stopped.status.code() == Some(1), "{said}");
    bench.assert_nothing_left();
}
