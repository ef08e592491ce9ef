//! Commands of README and docs are typed where nothing but files is needed, messages that troubleshooting tells exist, and
//! wrong things that people type are answered with what works.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "documented/typed.rs"]
mod typed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How far a command is typed here.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    /// To its end.
    Whole,
    /// Until it wants QEMU or fio, which are not on the path: its arguments, its study and its place are read. Tests of the
    /// lab and of directories run such commands whole.
    Begun,
    /// Not at all.
    Not(&'static str),
}

/// Verbs that need a guest, or minutes.
const LONG: [&str; 6] = ["run", "demo", "prove", "build", "bench", "check-model"];

fn how(line: &str) -> Depth {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[1] {
        _ if line.contains("ssh://") => Depth::Not("reaches another machine: lab tests `places`"),
        "calibrate" if words.contains(&"lab") => Depth::Begun,
        "check-model" if words.contains(&"--again") => Depth::Not("wants an earlier such run: lab tests `predicted`"),
        "calibrate" => Depth::Not("measures this machine for a minute: tests of the crate"),
        "init" => Depth::Not("asks on a terminal"),
        "lab" if words.get(2) == Some(&"shell") => Depth::Begun,
        verb if LONG.contains(&verb) => Depth::Begun,
        _ => Depth::Whole,
    }
}

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

/// What stands behind a prompt, without what is said of it, and what the tables of the README name.
fn typed(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("$ "));
    let lines = lines.map(|line| line.split("  #").next().unwrap().trim().trim_start_matches("sudo ").to_owned());
    let cells = text.lines().filter(|line| line.starts_with("| ")).flat_map(|line| line.split('`').skip(1).step_by(2));
    // `bedplate report --markdown`, `--card card.svg`: the verb is said once.
    let mut verb = String::new();
    let cells = cells.map(|cell| {
        if cell.starts_with("bedplate ") {
            verb = cell.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        }
        if cell.starts_with("--") && !verb.is_empty() { format!("{verb} {cell}") } else { cell.to_owned() }
    });
    let cells: Vec<String> = if text.starts_with("# Bedplate\n") { cells.collect() } else { Vec::new() };
    lines.chain(cells).filter(|line| line.starts_with("bedplate ")).collect()
}

/// What a page leaves open, filled in with what the stage has.
fn filled(line: &str) -> String {
    let fill = [
        (" FILE", " board.toml"),
        (" STUDY", " quickstart"),
        (" PATH", " ."),
        (" A B", " old/*-remote-two-hosts new/*-remote-two-hosts"),
        (" /data", " ."),
    ];
    fill.iter().fold(line.to_owned(), |line, (open, with)| line.replace(open, with))
}

/// A directory with the files that pages speak of, and two runs.
#[expect(clippy::disallowed_methods, reason = "a test unpacks a record")]
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
    for runs in ["old", "new"] {
        fs::create_dir(at(runs)).unwrap();
        let archive = root().join("evidence/remote-two-hosts.tar.zst");
        let unpacked = Command::new("tar").arg("--zstd").arg("-xf").arg(archive).arg("-C").arg(at(runs)).status();
        assert!(unpacked.unwrap().success());
    }
    home
}

fn shell(home: &Path, line: &str) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_bedplate"));
    typed_in(home, line, &format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap()))
}

/// A path with every program of this machine but for QEMU and fio.
fn without_engines(home: &Path) -> String {
    let bin = home.join("bin");
    fs::create_dir(&bin).unwrap();
    let directories = std::env::var("PATH").unwrap();
    for directory in directories.split(':').filter_map(|of| fs::read_dir(of).ok()) {
        for entry in directory.map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if !name.starts_with("qemu") && name != "fio" {
                // What comes first on the path counts.
                let _ = std::os::unix::fs::symlink(entry.path(), bin.join(name));
            }
        }
    }
    let _ = fs::remove_file(bin.join("bedplate"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bedplate"), bin.join("bedplate")).unwrap();
    bin.display().to_string()
}

#[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
fn typed_in(home: &Path, line: &str, path: &str) -> (i32, String) {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(home)
        .env("PATH", path)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("BEDPLATE_RUNS", home.join("old"))
        .env("NO_COLOR", "1");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.code().unwrap(), text)
}

/// Every command is typed in the order of its page, as far as it goes here; 1 is an answer, too.
#[test]
#[expect(clippy::print_stderr, reason = "how many are typed is told with --nocapture")]
fn what_pages_tell_to_type_works() {
    let pages = pages();
    let mut counts: BTreeMap<Depth, usize> = BTreeMap::new();
    // Side by side: each page is typed in a directory of its own.
    std::thread::scope(|scope| {
        let halves: Vec<_> = pages.chunks(pages.len().div_ceil(2)).map(|half| scope.spawn(|| type_all(half))).collect();
        for (how, count) in halves.into_iter().flat_map(|half| half.join().unwrap()) {
            *counts.entry(how).or_default() += count;
        }
    });
    eprintln!("commands of README and docs: {counts:#?}");
    assert!(counts[&Depth::Whole] >= 40 && counts[&Depth::Begun] >= 30, "{counts:#?}");
    let not: usize = counts.iter().filter(|(how, _)| matches!(how, Depth::Not(_))).map(|(_, count)| count).sum();
    assert!(not <= 6, "{counts:#?}");
}

/// Types what these pages tell to type; gives how many commands were typed how far.
fn type_all(pages: &[PathBuf]) -> BTreeMap<Depth, usize> {
    let mut counts: BTreeMap<Depth, usize> = BTreeMap::new();
    for page in pages {
        let lines = typed(&fs::read_to_string(page).unwrap());
        if lines.is_empty() {
            continue;
        }
        let home = stage();
        let path = without_engines(home.path());
        for line in lines {
            let how = how(&line);
            let line = filled(&line);
            match how {
                Depth::Whole => whole(home.path(), &line, page),
                Depth::Begun => begun(home.path(), &line, &path, page),
                Depth::Not(_) => {}
            }
            *counts.entry(how).or_default() += 1;
        }
    }
    counts
}

fn whole(home: &Path, line: &str, page: &Path) {
    let verb = line.split_whitespace().nth(1).unwrap();
    // What a page calls `capture` or `nas.capture` is a machine in a file; plans are made by the line before.
    if line.contains("capture") && verb != "capture" && !home.join("nas.capture").exists() {
        let made = shell(home, "bedplate capture nas.capture && cp nas.capture capture");
        assert_eq!(made.0, 0, "{}", made.1);
    }
    if line.contains("plans.json") && !line.contains('>') {
        shell(home, "bedplate plan studies/quickstart.toml --json > plans.json");
    }
    let (status, text) = shell(home, line);
    // The lab's programs may be missing here.
    let answers: &[i32] = match verb {
        "doctor" | "advise" | "compare" | "report" => &[0, 1],
        "lab" => &[0, 4],
        _ => &[0],
    };
    assert!(answers.contains(&status), "{}: {line}: {status}\n{text}", page.display());
}

/// What it stops at is the engine that is not there, or a drive that this machine has not.
fn begun(home: &Path, line: &str, path: &str, page: &Path) {
    let (status, text) = typed_in(home, line, path);
    let stops = [
        "no drive of this machine is named",
        "qemu-system-x86",
        "fio: not found",
        "`fio`",
        "no drive is `ID`",
        "is installed that can be a guest's",
        "only root",
        "needs root",
    ];
    let is_there = status != 0 && stops.iter().any(|stop| text.contains(stop));
    assert!(is_there && !text.contains("Usage:"), "{}: {line}: {status}\n{text}", page.display());
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
