//! What `bedplate inspect` shows of machines built by hand.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "../../host/tests/machines/mod.rs"]
mod machines;

use host::{Capture, inspect};
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
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_bedplate");
        #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
        let output = std::process::Command::new(program).args(arguments).env("NO_COLOR", "1").output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
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
    assert_eq!((status, said.contains("could not make")), (2, true), "{said}");
    std::fs::write(&file, "bedplate capture 1\nlink /a >- /b\n").unwrap();
    let (status, _, said) = run(&["inspect", "--machine", path]);
    let place = "\n2 | link /a >- /b\n  |         ^";
    assert!(status == 2 && said.contains(place), "{said}");
}
