//! One study on several kernels.

use terms::finding::RunComparison;

use crate::bench::{Bench, text};

const STUDY: &str = r#"
question = "What did the kernel change?"
[lab]
drives = [{ name = "a", kind = "ram", size = "128 MiB" }]
[[stack]]
name = "plain"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
rounds = 1
span = "32 MiB"
settle = "60 ms"
window = "160 ms"
"#;

/// Releases of the kernels that this machine has, oldest name first.
fn installed() -> Vec<String> {
    let releases = std::fs::read_dir("/lib/modules").unwrap().map(|entry| entry.unwrap().file_name());
    let releases = releases.map(|name| name.into_string().unwrap());
    let mut releases: Vec<String> =
        releases.filter(|release| std::fs::exists(format!("/boot/vmlinuz-{release}")).unwrap()).collect();
    releases.sort();
    releases
}

#[test]
fn names_of_kernels_that_mean_nothing_are_refused_before_a_guest_boots() {
    let bench = Bench::new();
    let here = installed().remove(0);
    let refused = |arguments: &[&str], code: i32, said: &str| {
        let output = bench.run(&[&["run", "quickstart"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains(said), "{}", text(&output));
    };
    refused(&["--kernel", "9.99"], 4, &here);
    refused(&["--kernel", &here, "--kernel", "9.99"], 4, "no kernel 9.99");
    refused(&["--kernel", &here, "--kernel", &here], 2, "named twice");
    refused(&["--kernel", &here, "--fail-slower", "5%"], 2, "several kernels");
    assert!(!bench.runs().exists());
}

#[test]
#[ignore = "wants a second kernel: scripts/install kernels"]
fn a_study_on_two_kernels_ends_in_their_comparison() {
    let bench = Bench::new();
    let path = bench.labs().with_file_name("kernels.toml");
    std::fs::write(&path, STUDY).unwrap();
    let study = path.to_string_lossy();
    let releases = installed();
    let kernels = ["run", &*study, "--kernel", &releases[0], "--kernel", &releases[1], "--json"];
    let output = bench.run(&kernels);
    assert!(output.status.success(), "{}", text(&output));
    let [compared]: [RunComparison; 1] = serde_json::from_slice(&output.stdout).unwrap();
    assert!(compared.repeats && compared.cells.len() == 4, "{compared:?}");
    let kernel = compared.differences.iter().find(|of| of.what == "kernel").unwrap();
    assert_eq!([&kernel.a, &kernel.b], [&releases[0], &releases[1]]);
    let both = bench.all_runs();
    assert_eq!(both.len(), 2);
    assert!(both[1].join("reports/comparison.html").is_file());
    // Both are whole: nothing is left to measure, and the comparison is the same.
    let again = bench.run(&[&kernels[..], &["--resume"]].concat());
    assert_eq!((bench.all_runs(), again.stdout), (both, output.stdout));
    bench.assert_nothing_left();
}
