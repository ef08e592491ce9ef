//! What `bedplate expect` prints, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

mod program;

use program::run;

const STUDY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/quickstart.toml");
const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../model/tests/machines/two-sn770.toml");

fn narrow(text: &str) {
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn a_study_is_expected_in_80_columns() {
    let (status, text, said) = run(&["expect", STUDY, "--machine", MACHINE]);
    assert_eq!(status, 0, "{said}");
    narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn the_arithmetic_is_shown_with_its_sources() {
    let (status, text, said) = run(&["expect", STUDY, "--machine", MACHINE, "--only", "1", "--explain"]);
    assert_eq!(status, 0, "{said}");
    narrow(&text);
    for words in
        ["limits, the lowest first", "3.938 GB/s × 256/(256 + 24)", "guessed", "published", "10 % more of this buys"]
    {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {text}");
    }
    let (_, ascii, _) = run(&["expect", STUDY, "--machine", MACHINE, "--ascii", "--explain"]);
    assert!(ascii.is_ascii(), "{:?}", ascii.lines().find(|line| !line.is_ascii()));
}

#[test]
fn json_has_units_in_its_keys() {
    let (status, text, _) = run(&["expect", STUDY, "--machine", MACHINE, "--state", "resync", "--json"]);
    assert_eq!(status, 0);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "bedplate.expectation");
    let predictions = document["predictions"].as_array().unwrap();
    let resyncing = predictions.iter().filter(|one| one["resync_bytes_per_second"]["value"].is_number()).count();
    assert!(resyncing > 0 && resyncing < predictions.len(), "arrays are out of step, and only they");
    for key in ["throughput_bytes_per_second", "operations_per_second", "latency_mean_ns", "latency_p99_ns"] {
        assert!(predictions.iter().all(|one| one[key]["ninety"]["low"].is_number()), "{key}");
    }
}

#[test]
fn a_study_that_is_only_predicted_needs_no_lab() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let machine = file(
        "m.toml",
        "machine = \"NAS\"\ncpu = \"Intel N100\"\ndrive = [{ name = \"h\", count = 2, kind = \"hdd\" }]\n",
    );
    let study = "question = \"q\"\nstack = [{ name = \"mirror\", layers = [{ raid = { level = 1 }, on = [\"h0\", \"h1\"] }, { ext4 = {} }] }]\n\
        [[workload]]\nname = \"copy\"\npattern = \"write\"\nblock = \"1 MiB\"\npage_cache = \"cold\"\n";
    let study = file("s.toml", study);
    let (status, text, said) = run(&["expect", &study, "--machine", &machine]);
    assert_eq!(status, 0, "{said}");
    assert!(text.contains("SEQ 1 MiB Q1 T1 write, buffered") && text.contains("`size` in [memory]"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (status, _, said) = run(&["plan", &study]);
    assert!(status == 2 && said.contains("study-no-drives"), "{said}");
}

#[test]
fn this_machine_is_read_where_none_is_named() {
    let (status, text, said) = run(&["expect", STUDY, "--only", "1"]);
    assert_eq!(status, 0, "{said}");
    assert!(text.starts_with("Predicted for "), "{text}");
}

#[test]
fn a_description_with_faults_is_refused_with_their_places() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("board.toml");
    std::fs::write(&file, "machine = \"m\"\ncores = 4\n[[drive]]\nname = \"a\"\nread = \"fast\"\n").unwrap();
    let (status, text, said) = run(&["expect", STUDY, "--machine", file.to_str().unwrap()]);
    assert_eq!((status, text.as_str()), (2, ""));
    assert!(said.contains("machine-bad-value") && said.contains("^^^^^^"), "{said}");
}

/// The stacks of a study go through a plan and back, and what is expected of them is the same.
#[test]
fn a_plan_stands_in_the_place_of_its_study() {
    let directory = tempfile::tempdir().unwrap();
    let (status, plans, said) = run(&["plan", STUDY, "--json"]);
    assert_eq!(status, 0, "{said}");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let all = file("plans.json", &plans);
    let expect = |from: &str, more: &[&str]| run(&[&["expect", from, "--machine", MACHINE], more].concat());
    let (status, text, said) = expect(&all, &["--profile", "quick"]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(text, expect(STUDY, &["--profile", "quick"]).1);
    assert_eq!(text, expect(&all, &[]).1, "`quick` is what a plan gets");
    assert_ne!(text, expect(&all, &["--profile", "kdiskmark"]).1);
    // A run keeps one plan in each file, and nobody says how it is to be called.
    let list: Vec<serde_json::Value> = serde_json::from_str(&plans).unwrap();
    let one = file("first", &list[0].to_string());
    // It names its own drives only, which are listed above the figures.
    let figures = |text: &str| text.split_once("\n\n").unwrap().1.to_owned();
    let of_study = expect(STUDY, &["--profile", "quick", "--only", "1"]).1;
    assert_eq!(figures(&expect(&one, &[]).1), figures(&of_study));
    let (status, _, said) = expect(&one, &["--space"]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("real size of") && said.contains("--drive-size"), "{said}");
    let (status, text, said) = expect(&one, &["--space", "--years", "--drive-size", "2TB"]);
    assert_eq!(status, 0, "{said}");
    assert!(text.contains("2 TB") || text.contains("1.82 TiB"), "{text}");
}

#[test]
fn what_is_no_plan_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plan.json");
    let refused = |text: &str, words: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let (status, out, said) = run(&["expect", file.to_str().unwrap(), "--machine", MACHINE]);
        assert_eq!((status, out.as_str()), (2, ""), "{said}");
        for words in words {
            assert!(said.contains(words), "{words}: {said}");
        }
    };
    refused(
        "{\n  \"schema\": 1,\n  \"nodes\": [}\n",
        &["plan-not-json", "plan.json:3:", "^", "bedplate plan STUDY --json"],
    );
    refused("{\"schema\": 9, \"nodes\": []}", &["schema 9", "make the plan again"]);
    refused("[{\"cells\": []}]", &["no plan"]);
    refused("question = \"?\"", &["plan-not-json"]);
    let before = concat!(
        "{\"schema\": 1, \"stack\": \"ext4 at /data\", \"slug\": \"ext4-at-data\", \"nodes\": [], \"drives\": [], ",
        "\"needs\": [], \"options\": [], \"steps\": [], \"target\": {\"directory\": \"/data\"}}"
    );
    refused(before, &["`ext4 at /data`", "stood before"]);
    let (status, _, said) = run(&["plan", file.to_str().unwrap()]);
    assert_eq!(status, 2);
    assert!(said.contains("a study is TOML") && said.contains("bedplate expect"), "{said}");
}

/// There is no rule for a cache. The other stacks are predicted all the same, and it is said of which nothing is.
#[test]
fn a_stack_without_a_rule_hides_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cached.toml");
    let text = "question = \"What does a cache give?\"\n[lab]\ndrives = [{ name = \"a\", size = \"1 GiB\" }, { name = \"b\", size = \
                \"1 GiB\" }]\n[[stack]]\nname = \"cached\"\nlayers = [{ lvm = { cache = \"b\" }, on = \"a\" }, { ext4 = {} }]\n\
                [[stack]]\nname = \"plain\"\nlayers = [{ ext4 = {}, on = \"a\" }]\n[measure]\nprofiles = [\"quick\"]\nspan = \
                \"96 MiB\"\n";
    std::fs::write(&file, text).unwrap();
    let study = file.to_str().unwrap();
    let (status, text, said) = run(&["expect", study, "--machine", MACHINE]);
    assert_eq!(status, 0, "{said}");
    narrow(&text);
    let end = text.split_once("\ncached\n  no prediction: ").unwrap_or_else(|| panic!("{text}")).1;
    assert!(end.contains("no rule") && text.contains("\nplain\n"), "{text}");
    let (_, json, _) = run(&["expect", study, "--machine", MACHINE, "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["unpredicted"][0]["stack"], "cached");
    assert!(document["predictions"].as_array().unwrap().iter().all(|of| of["stack"] == "plain"));
    let (status, text, said) = run(&["expect", study, "--machine", MACHINE, "--only", "cached"]);
    assert_eq!((status, text.as_str()), (2, ""));
    assert!(said.contains("could not predict `cached`") && said.contains("no rule"), "{said}");
}

/// Of a file that was written before, `fdatasync` waits for one flush, and `fsync` for that and a commit.
#[test]
fn jobs_of_a_file_take_the_place_of_the_workloads() {
    let directory = tempfile::tempdir().unwrap();
    let rate = |option: &str| {
        let path = directory.path().join(option);
        let job = format!("[log]\nrw=write\nbs=8k\nioengine=psync\ndirect=0\nsize=16m\nruntime=10\n{option}=1\n");
        std::fs::write(&path, job).unwrap();
        let (status, text, said) =
            run(&["expect", STUDY, "--machine", MACHINE, "--only", "1", "--fio", path.to_str().unwrap(), "--json"]);
        assert_eq!(status, 0, "{said}");
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["predictions"].as_array().unwrap().len(), 1, "{text}");
        assert_eq!(document["predictions"][0]["workload"], "log");
        document["predictions"][0]["operations_per_second"]["value"].as_f64().unwrap()
    };
    let times = rate("fdatasync") / rate("fsync");
    assert!((1.5..3.0).contains(&times), "{times}");
    let (status, _, said) = run(&["expect", STUDY, "--fio", "jobs.fio", "--profile", "quick"]);
    assert!(status == 2 && said.contains("cannot be used with"), "{status} {said}");
}

#[test]
fn a_job_that_no_drive_has_room_for_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let machine = |size: &str| {
        let text = format!("machine = \"m\"\ncores = 8\n[[drive]]\nname = \"d\"\ncount = 2\n{size}");
        file("machine.toml", &text)
    };
    let study = file(
        "study.toml",
        "question = \"q\"\n[[stack]]\nname = \"mirror\"\nlayers = [{ raid = { level = 1 }, on = [\"d0\", \"d1\"] }, { ext4 = {} }]\n",
    );
    let jobs = |size: &str| file("jobs.fio", &format!("[j]\nrw=randread\ndirect=1\nsize={size}\nruntime=10\n"));
    let expect = |machine: &str, jobs: &str| run(&["expect", &study, "--machine", machine, "--fio", jobs]);
    let two = machine("size = \"2 TB\"\n");
    let (status, text, said) = expect(&two, &jobs("3t"));
    assert_eq!((status, text.as_str()), (2, ""));
    assert!(said.contains("`mirror` holds 1.79 TiB") && said.contains("3 TiB") && said.contains("hint: "), "{said}");
    assert_eq!(expect(&two, &jobs("1t")).0, 0);
    // A drive of which no size is known is as large as a usual one.
    assert_eq!(expect(&machine(""), &jobs("1t")).0, 2);
    assert_eq!(expect(&machine(""), &jobs("100g")).0, 0);
    // Those of the lab are small, and stand for others.
    let jobs = jobs("100g");
    assert_eq!(run(&["expect", STUDY, "--machine", MACHINE, "--fio", &jobs]).0, 0);
}

/// What was typed is told as it was typed, and what a machine lacks as it is.
#[test]
fn years_are_told_in_the_words_of_whoever_asked() {
    let directory = tempfile::tempdir().unwrap();
    let expect = |kind: &str, more: &[&str]| {
        let path = directory.path().join("machine.toml");
        std::fs::write(&path, format!("machine = \"m\"\ncores = 8\n[[drive]]\nname = \"d\"\nkind = \"{kind}\"\n"))
            .unwrap();
        let asked = ["expect", STUDY, "--machine", path.to_str().unwrap()];
        let years = ["--years", "--daily", "50GB", "--drive-size", "2TB"];
        let (status, text, said) = run(&[&asked[..], &years, more].concat());
        assert_eq!(status, 0, "{said}");
        text
    };
    let text = expect("hdd", &[]);
    narrow(&text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("as the machine has none of this kind") && !text.contains("no other of"), "{text}");
    assert!(text.contains("50 GB are written in a day as the workloads write: 50 % sequential"), "{text}");
    assert!(expect("nvme", &[]).contains("as the machine has no other of this kind"));
    let document: serde_json::Value =
        serde_json::from_str(&expect("nvme", &["--common-cause", "200", "--json"])).unwrap();
    let outlook = &document["outlooks"][0];
    assert_eq!(outlook["loss"]["period_years"], 1);
    assert_eq!(
        (&outlook["common_cause"]["assumed"], &outlook["common_cause"]["times_per_year"]["low"]),
        (&false.into(), &0.005.into())
    );
}
