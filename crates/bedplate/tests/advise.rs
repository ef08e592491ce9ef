//! What `bedplate advise` says, and that what it writes can be used.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

mod program;

use program::run;
use serde_json::Value;

const BOARD: &str = r#"
machine = "A board with four drives"
cores   = 16
threads = 32
kernel  = "6.1"

[[drive]]
name  = "d"
count = 4
kind  = "nvme"
read  = "7300 MB/s"
write = "6000 MB/s"
"#;

const STUDY: &str = r#"
question = "What is to become of four drives?"
[lab]
drives = [
    { name = "d0", size = "1 GiB", lba = "4 KiB" }, { name = "d1", size = "1 GiB", lba = "4 KiB" },
    { name = "d2", size = "1 GiB", lba = "4 KiB" }, { name = "d3", size = "1 GiB", lba = "4 KiB" },
]
[[stack]]
name = "all of them"
layers = [{ zfs = {}, on = ["d0", "d1", "d2", "d3"] }]
[measure]
profiles = ["quick"]
span = "64 MiB"
"#;

struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("board.toml"), BOARD).unwrap();
        std::fs::write(directory.path().join("study.toml"), STUDY).unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_string_lossy().into_owned()
    }

    fn advise(&self, more: &[&str]) -> (i32, String, String) {
        let (study, board) = (self.path("study.toml"), self.path("board.toml"));
        run(&[&["advise", &study, "--machine", &board, "--drive-size", "2TB"], more].concat())
    }
}

#[test]
fn needs_are_met_and_told_in_80_columns() {
    let stage = Stage::new();
    let needs = ["--encrypted", "--survive", "1", "--repair", "--snapshots", "--daily", "100GB", "--last", "5"];
    let (status, text, said) = stage.advise(&[&needs[..], &["--explain"]].concat());
    assert_eq!(status, 0, "{said}");
    // Layers are text for a study, and are never broken.
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80 && !line.contains('{')).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(text.contains("it would not be encrypted") && text.contains("WORN IN"), "{text}");
    let (_, json, _) = stage.advise(&[&needs[..], &["--json"]].concat());
    let advice: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(advice["schema"], "bedplate.advice");
    let front = advice["front"].as_array().unwrap();
    let speed = |one: &Value| one["speed_ratio"].as_f64().unwrap();
    let fastest = front.iter().map(speed).fold(0.0, f64::max);
    assert!(speed(&front[0]) >= 0.9 && (fastest - 1.0).abs() < 1e-12, "relative to the fastest: {front:?}");
    assert!(!front.is_empty() && front.len() <= 5);
    let layers = |one: &Value| one["layers"].as_str().unwrap().lines().count();
    let fewest = &front[usize::try_from(advice["fewest_layers"].as_u64().unwrap()).unwrap()];
    assert!(front.iter().all(|one| layers(one) >= layers(fewest)), "{fewest}");
    for one in front {
        assert!(one["layers"].as_str().unwrap().contains("luks"), "{one}");
        assert!(one["life_years"]["middle"].as_f64().unwrap() >= 5.0, "{one}");
    }
}

/// Sizes of the lab say nothing of capacity, life and risk; and of drives that differ the largest group counts.
#[test]
fn drives_of_a_study_have_their_real_size_and_are_alike() {
    let stage = Stage::new();
    let (study, board) = (stage.path("study.toml"), stage.path("board.toml"));
    let (status, _, said) = run(&["advise", &study, "--machine", &board]);
    assert!(status == 2 && said.contains("--drive-size 2TB"), "{said}");
    let first = "{ name = \"n\", size = \"2 GiB\", kind = \"hdd\" },";
    std::fs::write(&study, STUDY.replacen("drives = [", &format!("drives = [ {first}"), 1)).unwrap();
    let (status, text, said) = run(&["advise", &study, "--machine", &board, "--drive-size", "2TB"]);
    assert!(
        status == 0 && said.contains("left out, because they differ from `d0`") && text.contains("4 drives"),
        "{said}{text}"
    );
}

#[test]
fn what_is_advised_can_be_planned() {
    let stage = Stage::new();
    let written = stage.path("advised.toml");
    let (status, _, said) = stage.advise(&["--survive", "1", "--write-study", &written]);
    assert_eq!(status, 0, "{said}");
    let (status, plans, said) = run(&["plan", &written]);
    assert_eq!(status, 0, "{said}\n{}", std::fs::read_to_string(&written).unwrap());
    assert!(plans.contains("everything on them is lost"), "{plans}");
    let (status, _, said) = run(&["expect", &written, "--machine", &stage.path("board.toml")]);
    assert_eq!(status, 0, "{said}");
    let (status, _, said) = stage.advise(&["--survive", "1", "--write-study", &written]);
    assert!(
        status == 2 && said.contains("already") && said.contains("hint: "),
        "a file that is there is left alone: {said}"
    );
}

/// A risk that is known to a factor of several does not rule a simpler layout out unseen, and what is said to allow it does.
#[test]
fn what_a_risk_barely_rules_out_is_told() {
    let stage = Stage::new();
    let board = stage.path("board.toml");
    let advise = |more: &[&str]| {
        let drives = ["advise", "--drives", "6x8TB:hdd", "--survive", "2", "--machine", &board];
        let (status, text, said) = run(&[&drives[..], more].concat());
        assert_eq!(status, 0, "{said}");
        text
    };
    let words = |more: &[&str]| advise(more).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&[]);
    let barely = text.split_once(", a little above the limit ").unwrap_or_else(|| panic!("{text}")).1;
    let years = barely.split_once("(`--once-in ").unwrap().1;
    let years = years.split('`').next().unwrap();
    assert!((20..100).contains(&years.parse::<u32>().unwrap()), "{text}");
    let fitting = |text: &str| {
        text.split_once(" layouts that meet").unwrap().0.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert!(fitting(&words(&["--once-in", years])) > fitting(&text), "{text}");
}

/// Without a file: a sentence that says what to build, in a screen, and a study that every other verb takes.
#[test]
fn drives_in_a_word_are_enough() {
    let stage = Stage::new();
    let (written, board) = (stage.path("first.toml"), stage.path("board.toml"));
    let (status, text, said) = run(&["advise", "--drives", "4x4TB:hdd", "--encrypted", "--machine", &board]);
    assert_eq!(status, 0, "{said}");
    assert!(text.starts_with("Build ") && text.contains("survives the failure of any one drive"), "{text}");
    assert!(text.lines().count() <= 25 && !text.contains("no journal"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("it is predicted to be the fastest"), "{text}");
    let (status, text, said) = run(&["init", &written, "--drives", "3x8TB:hdd", "--repair"]);
    assert!(status == 0 && said.contains("bedplate run") && text.starts_with("Build "), "{said}{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(".toml --repair --explain`"), "the same question: {text}");
    assert!(said.contains("these predictions are for 465.66 GiB of data"), "{said}");
    assert!(!said.contains("are sold in"), "{said}");
    assert!(said.contains("1/16 of a drive") && !said.contains("of the study"), "nobody wrote one: {said}");
    let (_, _, said) = run(&["advise", "--drives", "3x4T:hdd", "--machine", &board]);
    assert!(said.contains("`4T` is 4 TiB; drives are sold in TB: `4TB`"), "{said}");
    let (_, _, said) = run(&["expect", &written, "--machine", &board, "--drive-size", "8T"]);
    assert!(said.contains("`8T` is 8 TiB; drives are sold in TB: `8TB`"), "{said}");
    for verb in ["plan", "expect"] {
        let (status, _, said) = run(&[verb, &written]);
        assert_eq!(status, 0, "{verb}: {said}");
    }
    let (status, years, said) = run(&["expect", &written, "--space", "--years", "--machine", &board]);
    assert!(status == 0 && years.contains("TiB"), "the study knows how large the drives are: {said}{years}");
    let before = std::fs::read(&written).unwrap();
    let (status, _, said) = run(&["init", &written, "--drives", "3x8TB:hdd"]);
    assert!(status == 2 && said.contains("already") && std::fs::read(&written).unwrap() == before, "{said}");
    let (status, _, said) = run(&["init", &stage.path("other.toml")]);
    assert!(status == 2 && said.contains("no terminal"), "{said}");
}

/// A guess that is part of every risk is told, can be replaced, and is named where a requirement fails by it alone.
#[test]
fn what_is_assumed_to_take_all_drives_is_told() {
    let stage = Stage::new();
    let board = stage.path("board.toml");
    let advise = |more: &[&str]| {
        let drives = ["advise", "--drives", "8x8TB:hdd", "--survive", "3", "--repair", "--machine", &board];
        let (status, text, said) = run(&[&drives[..], more].concat());
        assert!(status < 2, "{said}");
        (status, text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (status, text) = advise(&["--once-in", "1100"]);
    assert!(
        status == 1 && text.contains("without what takes all drives at once it would meet the requirement"),
        "{text}"
    );
    let assumed = "1 in 1000 a year is assumed for what takes all drives at once: `--common-cause YEARS`";
    assert!(text.contains(assumed) && advise(&[]).1.contains(assumed), "{text}");
    let (status, text) = advise(&["--once-in", "1100", "--common-cause", "100000"]);
    assert!(status == 0 && text.contains("1 in 100 k a year is given for what takes all drives at once"), "{text}");
    let common = |more: &[&str]| {
        let advice: Value = serde_json::from_str(&advise(&[&["--json"], more].concat()).1).unwrap();
        advice["needs"]["common_cause"].clone()
    };
    let (assumed, given) = (common(&[]), common(&["--common-cause", "500"]));
    assert!(assumed["assumed"] == true && given["assumed"] == false, "{assumed} {given}");
    assert_eq!(
        (&assumed["times_per_year"]["middle"], &given["times_per_year"]["high"]),
        (&0.001.into(), &0.002.into())
    );
}

/// Records that are larger than the writes of the study wear a drive sooner, and the answer says what is written.
#[test]
fn drives_wear_by_what_the_study_writes() {
    let stage = Stage::new();
    let board = stage.path("board.toml");
    let asked = ["advise", "--drives", "2x2TB:nvme", "--daily", "50GB", "--machine", &board];
    let said = |profile: &str| run(&[&asked[..], &["--profile", profile]].concat()).2.replace('\n', " ");
    let quick = said("quick");
    assert!(quick.contains("50 % sequential in blocks of 1 MiB; 50 % random in blocks of 4 KiB"), "{quick}");
}

/// What the advised layers do not do stands in the answer, and not in a document only.
#[test]
fn caveats_belong_to_the_answer() {
    let stage = Stage::new();
    let board = stage.path("board.toml");
    let advise = |more: &[&str]| {
        let (status, text, said) =
            run(&[&["advise", "--drives", "3x4TB:hdd", "--most", "50", "--machine", &board], more].concat());
        assert_eq!(status, 0, "{said}");
        text
    };
    let advice: Value = serde_json::from_str(&advise(&["--json"])).unwrap();
    let has = |one: &Value, code: &str| one["caveats"].as_array().unwrap().iter().any(|of| of["code"] == code);
    let front = advice["front"].as_array().unwrap();
    for one in front {
        let name = one["name"].as_str().unwrap();
        assert_eq!(has(one, "bitmap-may-miss"), name.contains("(bitmap)"), "{one}");
        assert_eq!(has(one, "write-hole"), ["RAID-5", "raid5"].iter().any(|of| name.contains(of)), "{one}");
    }
    assert!(front.iter().any(|one| has(one, "bitmap-may-miss")), "{advice}");
    let told = advise(&["--explain"]);
    assert!(told.contains("  ! a bitmap of dm-integrity may miss damage after a crash"), "{told}");
}

/// What is offered instead has its risk beside it, and a limit that nobody asked for says what it takes away.
#[test]
fn a_compromise_has_its_risk_and_a_limit_its_owner() {
    let stage = Stage::new();
    let board = stage.path("board.toml");
    let advise = |asked: &str| {
        let asked: Vec<&str> = asked.split(' ').collect();
        let (_, text, said) = run(&[&["advise", "--machine", &board], &asked[..]].concat());
        assert!(!text.is_empty(), "{said}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let none = advise("--drives 4x4TB:hdd --survive 1 --capacity 13TB");
    assert_eq!(none.matches("risk a year 1 in ").count(), none.matches("of which the closest is").count(), "{none}");
    assert!(none.contains("of losing everything 1 in 18"), "{none}");
    let asked = "--drives 2x2TB:nvme --encrypted --survive 0";
    let text = advise(asked);
    let more =
        text.split_once("the limit of 1 in 100 is assumed, and rules out ").unwrap_or_else(|| panic!("{text}")).1;
    let more: u64 = more.split(' ').next().unwrap().parse().unwrap();
    let json = |asked: &str| serde_json::from_str::<Value>(&advise(&format!("{asked} --json"))).unwrap();
    let (limited, all) = (json(asked), json(&format!("{asked} --once-in 1")));
    assert_eq!(
        (limited["risk_limit_assumed"].as_bool(), all["risk_limit_assumed"].as_bool()),
        (Some(true), Some(false))
    );
    assert_eq!(limited["fitting"].as_u64().unwrap() + more, all["fitting"].as_u64().unwrap());
}

#[test]
fn what_cannot_be_is_a_no() {
    let stage = Stage::new();
    let (status, text, _) = stage.advise(&["--capacity", "100TB"]);
    assert!(status == 1 && text.contains("No layout") && text.contains("with `--capacity` of"), "{text}");
    let (status, text, _) =
        run(&["advise", "--drives", "2x2TB:nvme", "--survive", "2", "--machine", &stage.path("board.toml")]);
    assert!(status == 1 && text.contains("with `--survive 1`"), "{text}");
    let (status, _, said) = run(&["advise"]);
    assert!(status == 2 && said.contains("--drives 4x4TB:hdd"), "{said}");
    let (status, _, said) = stage.advise(&["--last", "5"]);
    assert!(status == 2 && said.contains("--daily"), "{said}");
    let disks = ["advise", "--drives", "2x4TB:hdd"];
    let (status, _, said) = run(&[&disks[..], &["--last", "5", "--daily", "1TB"]].concat());
    assert!(status == 0 && said.contains("`--last` rules out nothing here"), "{said}");
    let (status, text, said) = run(&[&disks[..], &["--profile", "file-tree"]].concat());
    assert!(status != 0 && text.is_empty() && said.contains("`tree-list` is not predicted"), "{said}{text}");
}
