//! What `bedplate inspect` shows of machines built by hand.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "../../host/tests/machines/mod.rs"]
mod machines;
mod program;

use host::{Capture, inspect};
use program::run;
use report::Style;
use terms::inventory::Inventory;

fn inventories() -> Vec<(&'static str, Inventory)> {
    let inventory = |(name, machine): (&'static str, machines::Machine)| {
        let capture = Capture::parse(name, machine.text().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        (name, inspect::examine(&capture).unwrap())
    };
    machines::all().into_iter().map(inventory).collect()
}

#[test]
fn machines_are_shown_in_80_columns() {
    for (name, inventory) in inventories() {
        let text = report::machine_sheet(&inventory, &Style::default());
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{name}: {wide:#?}");
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn other_styles_hold_too() {
    for (name, inventory) in inventories() {
        let text = report::machine_sheet(&inventory, &Style { ascii: true, ..Style::default() });
        assert!(text.is_ascii(), "{name}: {:?}", text.lines().find(|line| !line.is_ascii()));
        let coloured = report::machine_sheet(&inventory, &Style { colour: true, ..Style::default() });
        let plain = report::machine_sheet(&inventory, &Style::default());
        assert_eq!(without_colour(&coloured), plain, "{name}");
        for width in [60, 100, 200] {
            let text = report::machine_sheet(&inventory, &Style { width, ..Style::default() });
            assert!(text.contains(&inventory.drives[0].kernel_name), "{name}");
        }
        let json = serde_json::to_string(&inventory).unwrap();
        assert_eq!(serde_json::from_str::<Inventory>(&json).unwrap(), inventory, "{name}");
    }
}

fn without_colour(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    out + rest
}

/// The program itself reads a captured machine, prints what it is asked for, and says where a file is wrong.
#[test]
fn a_file_is_read_by_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("r720");
    std::fs::write(&file, machines::all().into_iter().find(|(name, _)| *name == "r720").unwrap().1.text()).unwrap();
    let path = file.to_str().unwrap();
    let (status, table, _) = run(&["inspect", "--machine", path, "-o", "name,formats,numa,wear"]);
    insta::assert_snapshot!("columns", table);
    assert_eq!(status, 0);
    let (_, json, _) = run(&["inspect", "--machine", path, "--json"]);
    assert_eq!(serde_json::from_str::<Inventory>(&json).unwrap().drives.len(), 4);
    let again = directory.path().join("again");
    let (status, _, _) = run(&["capture", "--machine", path, again.to_str().unwrap()]);
    assert_eq!(status, 0);
    assert!(!std::fs::read_to_string(&again).unwrap().contains("PHOC1234"));
    let (status, _, said) = run(&["capture", "--machine", path, again.to_str().unwrap()]);
    assert_eq!((status, said.contains("name another file")), (2, true), "{said}");
    std::fs::write(&file, "bedplate capture 1\nlink /a >- /b\n").unwrap();
    let (status, _, said) = run(&["inspect", "--machine", path]);
    let place = "\n2 | link /a >- /b\n  |         ^";
    assert!(status == 2 && said.contains(place), "{said}");
}

const BIG_BLOCKS: &str = r#"
question = "Do larger blocks pay?"
[lab]
drives = [{ name = "a", size = "1 GiB" }, { name = "b", size = "1 GiB" }]
[[drive]]
name = "a"
lba = "4 KiB"
[[stack]]
name = "mirror"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }, { luks = {} }, { ext4 = {} }]
[measure]
profiles = ["quick"]
"#;

/// A study is planned for drives of a machine that is not here: as large as they are, set up as the study wants them.
#[test]
fn plans_are_made_for_a_machine_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let (file, study) = (directory.path().join("machine"), directory.path().join("study.toml"));
    let (_, machine) = machines::all().into_iter().find(|(name, _)| *name == "four-firecuda").unwrap();
    let machine = machine.text();
    std::fs::write(&file, &machine).unwrap();
    std::fs::write(&study, BIG_BLOCKS).unwrap();
    let capture = Capture::parse("machine", machine.as_bytes()).unwrap();
    let inventory = inspect::examine(&capture).unwrap();
    let ids: Vec<String> =
        inventory.drives.iter().map(|drive| format!("serial={}", drive.serial.as_ref().unwrap())).collect();
    let plan = |drives: &[String]| {
        let mut arguments: Vec<&str> = vec!["plan", study.to_str().unwrap(), "--machine", file.to_str().unwrap()];
        arguments.extend(drives.iter().flat_map(|drive| ["--drive", drive.as_str()]));
        run(&arguments)
    };
    let (status, text, said) = plan(&[format!("a={}", ids[0]), format!("b={}", ids[1])]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("drive a: ") && said.contains("FireCuda"), "{said}");
    let format = text.find("nvme format {drive:a} --lbaf=1").unwrap_or_else(|| panic!("{text}"));
    let create = text.find("mdadm --create").unwrap();
    assert!(format < create, "drives are set up first");
    let (status, _, said) = plan(&[format!("a={}", ids[0]), "b=serial=nobody".to_owned()]);
    assert!(status != 0 && said.contains("no drive is `serial=nobody`"), "{status} {said}");
    let today = inventory.drives[0].node();
    let (status, _, said) = plan(&[format!("a={today}"), format!("b={}", ids[1])]);
    let lasting = claim::id_of(&inventory.drives[0]).unwrap();
    assert!(status != 0 && said.contains("may mean another drive") && said.contains(&lasting), "{status} {said}");
    let (status, _, said) = plan(&[format!("a={}", ids[0])]);
    assert!(status != 0 && said.contains('b'), "{status} {said}");
}
