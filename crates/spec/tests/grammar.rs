//! One table feeds the reader, the schema and the reference: here they are held to each other.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};
use terms::layer::{Btrfs, Crypt, Ext4, GptPartition, Integrity, Luks, Lvm, Raid, Xfs, Zfs};
use terms::{Design, Layer, MeasurePolicy, Nanos};

fn defs() -> Map<String, Value> {
    spec::schema()["$defs"].as_object().unwrap().clone()
}

/// Every default of a table as one line of TOML.
fn defaults(table: &str) -> String {
    let properties = defs()[table]["properties"].as_object().unwrap().clone();
    let keys = properties.iter().filter_map(|(key, value)| Some(format!("{key} = {}", value.get("default")?)));
    keys.collect::<Vec<_>>().join(", ")
}

fn parse(text: &str) -> Design {
    let (design, notes) = spec::parse(text);
    design.unwrap_or_else(|| panic!("{}", spec::render("x.toml", text, &notes, false)))
}

fn layer(options: &str, on: &str) -> Layer {
    let text = format!(
        "question = 'q'\nlab.drives = [{{ name = 'a', size = '1 GiB' }}, {{ name = 'b', size = '1 GiB' }}]\n\
         stack = [{{ name = 'x', layers = [{{ {options}, on = {on} }}] }}]\n"
    );
    parse(&text).stacks[0].nodes[0].layer.clone()
}

#[test]
fn defaults_of_layers_are_those_of_the_nouns() {
    for (kind, expect) in [
        ("partition", Layer::Partition(GptPartition::default())),
        ("luks", Layer::Luks(Luks::default())),
        ("crypt", Layer::Crypt(Crypt::default())),
        ("integrity", Layer::Integrity(Integrity::default())),
        ("lvm", Layer::Lvm(Lvm::default())),
        ("ext4", Layer::Ext4(Ext4::default())),
        ("xfs", Layer::Xfs(Xfs::default())),
        ("btrfs", Layer::Btrfs(Btrfs::default())),
        ("zfs", Layer::Zfs(Zfs::default())),
    ] {
        assert_eq!(layer(&format!("{kind} = {{}}"), "'a'"), expect, "{kind}, left alone");
        assert_eq!(layer(&format!("{kind} = {{ {} }}", defaults(kind)), "'a'"), expect, "{kind}, written out");
    }
    let raid = Layer::Raid(Raid::default());
    assert_eq!(layer("raid = { level = 1 }", "['a', 'b']"), raid);
    assert_eq!(layer(&format!("raid = {{ level = 1, {} }}", defaults("raid")), "['a', 'b']"), raid);
    let integrity =
        |inner: &str| layer(&format!("lvm = {{ volume = 'raid1', integrity = {{ {inner} }} }}"), "['a', 'b']");
    assert_eq!(integrity(&defaults("lvm-integrity")), integrity(""));
}

#[test]
fn defaults_of_the_rest_are_what_happens_without_them() {
    let text = |drive: &str, lab: &str, workload: &str, measure: &str| {
        format!(
            "question = 'q'\n\
             lab = {{ drives = [{{ name = 'a', size = '1 GiB'{drive} }}]{lab} }}\n\
             stack = [{{ name = 'x', layers = [{{ ext4 = {{}}, on = 'a' }}] }}]\n\
             workload = [{{ name = 'w', pattern = 'read', block = '4 KiB'{workload} }}]\n\
             measure = {{ {measure} }}\n"
        )
    };
    let more = |table: &str| format!(", {}", defaults(table));
    let bare = parse(&text("", "", "", ""));
    let full = parse(&text(&more("drive"), &more("lab"), &more("workload"), &defaults("measure")));
    assert_eq!(bare, full);
    // Times by the class of the slowest drive: here NVMe.
    let nvme = MeasurePolicy { settle: Nanos::seconds(3), window: Nanos::seconds(6), ..MeasurePolicy::default() };
    assert_eq!(bare.measure, nvme);
}

#[test]
fn every_word_of_the_grammar_is_one_of_the_nouns() {
    for kind in ["raid", "luks", "integrity", "lvm", "btrfs", "zfs"] {
        for (key, property) in defs()[kind]["properties"].as_object().unwrap() {
            for word in property["enum"].as_array().into_iter().flatten() {
                let level = if kind == "raid" && key != "level" { "level = 10, " } else { "" };
                let more = match key.as_str() {
                    // A bitmap would have nothing resynchronised.
                    "state" if word == "resync" => ", bitmap = 'none'",
                    "cache_mode" => ", cache = 'f'",
                    _ => "",
                };
                let options = format!("{kind} = {{ {level}{key} = {word}{more} }}");
                let drives = "{ name = 'a', size = '1 GiB' }, { name = 'b', size = '1 GiB' }, \
                              { name = 'c', size = '1 GiB' }, { name = 'd', size = '1 GiB' }, \
                              { name = 'e', size = '1 GiB' }, { name = 'f', size = '1 GiB' }";
                let on = if ["partition", "luks", "crypt", "integrity"].contains(&kind) {
                    "['a']"
                } else {
                    "['a', 'b', 'c', 'd', 'e']"
                };
                let text = format!(
                    "question = 'q'\nlab.drives = [{drives}]\n\
                     stack = [{{ name = 'x', layers = [{{ {options}, on = {on} }}] }}]\n"
                );
                let layer = serde_json::to_value(&parse(&text).stacks[0].nodes[0].layer).unwrap();
                let read = match &layer[kind][key] {
                    Value::String(read) if read.starts_with("raid") && kind == "raid" => Value::from(&read[4..]),
                    Value::String(read) if read == "stripe" => Value::from("single"),
                    other => other.clone(),
                };
                let wanted = word.as_str().map_or_else(|| word.to_string(), str::to_owned);
                assert_eq!(read, Value::from(wanted), "{options}");
            }
        }
    }
}

#[test]
fn the_schema_is_whole() {
    let schema = spec::schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let defs = defs();
    let text = schema.to_string();
    for (name, def) in &defs {
        assert!(text.contains(&format!("\"#/$defs/{name}\"")), "{name} is never used");
        assert_eq!(def["additionalProperties"], false, "{name}");
        assert!(def["description"].is_string(), "{name}");
    }
    for reference in text.split("\"#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(defs.contains_key(name), "{name} is not defined");
    }
}

#[test]
fn the_reference_has_every_key() {
    let reference = spec::reference();
    let schema = spec::schema();
    let defs = defs();
    let tables = defs.values().chain([&schema]);
    let keys: Vec<String> =
        tables.flat_map(|table| table["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()).collect();
    assert_eq!(reference.lines().filter(|line| line.starts_with("| `")).count(), keys.len());
    for key in keys {
        assert!(reference.contains(&format!("| `{key}` |")), "{key}");
    }
}

#[test]
fn keys_are_spelt_alike() {
    for (table, def) in defs() {
        for key in def["properties"].as_object().unwrap().keys() {
            assert!(key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{table}.{key}");
        }
    }
}

/// The page is the hand-written text with the reference between two marks. `BLESS=1` writes it anew.
#[test]
fn the_page_is_up_to_date() {
    const BEGIN: &str = "<!-- reference: begin -->\n";
    const END: &str = "<!-- reference: end -->";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/study.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let fresh = format!("{before}{BEGIN}\n{}\n{END}{after}", spec::reference());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/study.md is out of date: run with BLESS=1");
    }
}

#[test]
fn the_example_of_the_page_is_sound() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/study.md");
    let page = fs::read_to_string(path).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let (design, notes) = spec::parse(example);
    assert_eq!(notes, [], "{}", spec::render("docs/study.md", example, &notes, false));
    assert!(design.is_some());
}
