//! Feature checks of stacks: what is hidden, survived, repaired and kept, in real guests.

use terms::{Showing, StackFeatureChecks};

use crate::bench::{Bench, text};

/// What each stack of a study showed, in the order of features.
fn proven(bench: &Bench, arguments: &[&str]) -> Vec<(String, Vec<Option<Showing>>)> {
    let output = bench.run(&[&["prove", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let stacks: Vec<StackFeatureChecks> = serde_json::from_value(document["stacks"].clone()).unwrap();
    let came =
        |of: StackFeatureChecks| (of.name, of.feature_checks.iter().map(|feature_check| feature_check.came).collect());
    stacks.into_iter().map(came).collect()
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn the_nineteen_show_what_is_expected_of_them() {
    use Showing::{Detected, Hidden, Kept, Lost, NotOffered, Readable, Repaired, Silent, Survived};
    let bench = Bench::alone();
    // As the kernel's documentation has them, written down by hand: not as our own derivation does.
    let expected = [
        [Readable, Lost, Silent, NotOffered],
        [Readable, Lost, Detected, NotOffered],
        [Readable, Lost, Detected, NotOffered],
        [Readable, Lost, Detected, NotOffered],
        [Hidden, Lost, Silent, NotOffered],
        [Hidden, Lost, Detected, NotOffered],
        [Hidden, Lost, Detected, NotOffered],
        [Readable, Survived, Silent, NotOffered],
        [Readable, Survived, Repaired, NotOffered],
        [Readable, Lost, Silent, Kept],
        [Readable, Survived, Silent, Kept],
        [Readable, Survived, Repaired, Kept],
        [Hidden, Survived, Repaired, Kept],
        [Readable, Lost, Detected, Kept],
        [Readable, Survived, Repaired, Kept],
        [Hidden, Survived, Repaired, Kept],
        [Readable, Lost, Detected, Kept],
        [Readable, Survived, Repaired, Kept],
        [Hidden, Survived, Repaired, Kept],
        [Hidden, Survived, Repaired, Kept],
    ];
    let proven = proven(&bench, &["studies/long-term-storage.toml"]);
    assert_eq!(proven.len(), expected.len());
    for ((name, came), expected) in proven.iter().zip(expected) {
        assert_eq!(came, &expected.map(Some), "{name}");
    }
    bench.assert_nothing_left();
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn feature_checks_of_a_run_are_in_its_record_and_its_report() {
    let bench = Bench::alone();
    let short = ["--rounds", "1", "--window", "1s", "--settle", "300ms", "--anchor", "off"];
    let output = bench.run(&[&["run", &*tried(&bench), "--only", "1", "--json"], &short[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = bench.only_run();
    let feature_checks = record::RunReader::open(&run).unwrap().feature_checks().unwrap();
    assert_eq!(feature_checks.len(), 1);
    assert!(
        feature_checks[0].feature_checks.iter().all(|feature_check| feature_check.is_as_expected()),
        "{feature_checks:?}"
    );
    let page = std::fs::read_to_string(run.join("reports/report.html")).unwrap();
    assert!(page.contains("href=\"#trial-ext4-corruption\"") && page.contains("id=\"trial-ext4-corruption\""));
    assert_eq!(bench.run(&["report", &run.to_string_lossy(), "--verify"]).status.code(), Some(0));
    bench.assert_nothing_left();
}

/// The quickstart with feature checks of everything.
fn tried(bench: &Bench) -> String {
    let study = std::fs::read_to_string(crate::bench::root().join(crate::bench::TWO_NVME)).unwrap();
    let path = bench.runs().with_file_name("tried.toml");
    std::fs::write(&path, study + "\n[trials]\n").unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn feature_checks_are_refused_where_drives_outlive_them() {
    let bench = Bench::new();
    let tried = tried(&bench);
    for arguments in [["prove", crate::bench::TWO_NVME, "--on", "local"], ["run", tried.as_str(), "--on", "local"]] {
        let output = bench.run(&arguments);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(text(&output).contains("in the lab only"), "{}", text(&output));
    }
    bench.assert_nothing_left();
}

/// One stack that hides nothing, loses everything, and returns wrong bytes: every control of every feature check in
/// some seconds.
#[test]
fn a_bare_file_system_is_found_out() {
    let bench = Bench::new();
    let output = bench.run(&["prove", crate::bench::TWO_NVME, "--only", "1", "--feature", "encryption,corruption"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("readable") && said.contains("silent"), "{said}");
    bench.assert_nothing_left();
}
