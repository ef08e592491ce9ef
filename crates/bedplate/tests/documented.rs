//! Commands of README and docs are typed where nothing but files is needed, messages that troubleshooting tells exist, and
//! wrong things that people type are answered with what works.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "documented/typed.rs"]
mod typed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Verbs that need a guest, root, another machine, a finished run or minutes: typed by tests of the lab and of their own.
const ELSEWHERE: [&str; 11] =
    ["run", "demo", "prove", "build", "lab", "calibrate", "compare", "report", "runs", "teardown", "bench"];

const BOARD: &str = "machine = \"A board\"\ncores = 16\nthreads = 32\nkernel = \"6.1\"\n[[drive]]\nname = \"a\"\nkind = \"nvme\"\n\
                     read = \"7000 MB/s\"\nwrite = \"6000 MB/s\"\n[[drive]]\nname = \"d\"\ncount = 5\nkind = \"hdd\"\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs.chain([root().join("README.md")]).collect();
    pages.sort();
    pages
}

/// What stands behind a prompt, without what is said of it.
fn typed(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("$ "));
    let lines = lines.map(|line| line.split("  #").next().unwrap().trim().trim_start_matches("sudo ").to_owned());
    lines.filter(|line| line.starts_with("bedplate ")).collect()
}

/// A directory with the files that pages speak of.
fn stage() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir(at("studies")).unwrap();
    for entry in fs::read_dir(root().join("studies")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, at("studies").join(path.file_name().unwrap())).unwrap();
    }
    for name in ["study.toml", "nas.toml", "my-study.toml"] {
        fs::copy(at("studies/quickstart.toml"), at(name)).unwrap();
    }
    fs::write(at("board.toml"), BOARD).unwrap();
    fs::write(at("lspci.txt"), "00:00.0 Host bridge: Intel Corporation Device 1237 (rev 02)\n").unwrap();
    fs::write(at("zpool.txt"), "no pools available\n").unwrap();
    home
}

#[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
fn shell(home: &Path, line: &str) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_bedplate"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(home)
        .env("PATH", path)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("NO_COLOR", "1");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.code().unwrap(), text)
}

/// Every command that needs nothing but files is typed, in the order of its page; 1 is an answer, too.
#[test]
fn what_pages_tell_to_type_works() {
    let mut counts: BTreeMap<bool, usize> = BTreeMap::new();
    for page in pages() {
        let home = stage();
        for line in typed(&fs::read_to_string(&page).unwrap()) {
            let verb = line.split_whitespace().nth(1).unwrap();
            let is_here = !ELSEWHERE.contains(&verb) && !line.contains("ssh://");
            *counts.entry(is_here).or_default() += 1;
            if !is_here {
                continue;
            }
            // What a page calls `FILE`, `capture` or `nas.capture` is a machine in a file; plans are made by the line before.
            if line.contains("capture") && verb != "capture" && !home.path().join("nas.capture").exists() {
                let made = shell(home.path(), "bedplate capture nas.capture && cp nas.capture capture");
                assert_eq!(made.0, 0, "{}", made.1);
            }
            if line.contains("plans.json") && !line.contains('>') {
                shell(home.path(), "bedplate plan studies/quickstart.toml --json > plans.json");
            }
            let (status, text) = shell(home.path(), &line.replace(" FILE", " board.toml"));
            assert!(
                status == 0 || (status == 1 && ["doctor", "advise"].contains(&verb)),
                "{}: {line}: {status}\n{text}",
                page.display()
            );
        }
    }
    assert!(counts[&true] >= 30, "{counts:?}");
}

/// A heading in backticks is part of a message, and stands in the sources as it is.
#[test]
fn messages_that_troubleshooting_tells_exist() {
    let text = fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap();
    let told: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
    assert!(told.len() > 10, "{told:?}");
    let mut sources = String::new();
    let mut left = vec![root().join("crates")];
    while let Some(directory) = left.pop() {
        for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && path.to_string_lossy().contains("/src/")
            {
                sources.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    for message in told {
        assert!(sources.contains(message), "{message}");
    }
}
