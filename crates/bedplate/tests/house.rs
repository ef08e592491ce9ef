//! The rules of the house, as tests: who imports whom, who touches the system, how files look.
//!
//! Every rule reports everything it finds, with file and line. ARCHITECTURE.md says why the rules are as they are, and
//! its table of edges is the one that is checked.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "house/circles.rs"]
mod circles;
#[path = "house/edges.rs"]
mod edges;
#[path = "house/layers.rs"]
mod layers;
#[path = "house/names.rs"]
mod names;
#[path = "house/source.rs"]
mod source;
#[path = "house/words.rs"]
mod words;

use std::fs;

use source::{Source, collect, root, shown};

/// Longest file, tests left out.
const LONGEST: usize = 500;
/// Files that are lists and not logic, and their own limit.
const LISTS: [(&str, usize); 1] = [("crates/terms/src/layer.rs", 800)];

/// Rooms that are functions of their input: no files, processes, threads, clocks, environment.
const PURE: [&str; 10] =
    ["terms", "spec", "plan", "analyse", "report", "doctor", "capacity", "durability", "model", "advise"];
/// Rooms that reach a machine only through a host they are given.
const THROUGH_HOST: [&str; 4] = ["build", "claim", "measure", "feature_check"];

/// Rooms whose messages hold paths that somebody else may have named.
const SPELLING: [&str; 2] = ["bedplate", "record"];

/// Crates that would bring what the house does without.
const WITHOUT: [(&str, &str); 8] = [
    ("tokio", "threads and channels are enough"),
    ("async-std", "threads and channels are enough"),
    ("smol", "threads and channels are enough"),
    ("libudev-sys", "drives are read from sysfs, which can be captured and replayed"),
    ("devicemapper", "dmsetup can be shown and repeated by hand"),
    ("libcryptsetup-rs", "cryptsetup can be shown and repeated by hand"),
    ("libblkid-rs", "blkid can be shown and repeated by hand"),
    ("openssl-sys", "the binary is static"),
];

/// A rule over one file: lines, from 0, and what is wrong there.
type Rule = fn(&Source) -> Vec<(usize, String)>;

fn check(rule: Rule) {
    let found = source::all().iter().flat_map(|source| broken(rule, source)).collect::<Vec<_>>();
    none(&found);
}

fn broken(rule: Rule, source: &Source) -> Vec<String> {
    rule(source).into_iter().map(|(line, what)| format!("{}:{}: {what}", source.path, line + 1)).collect()
}

fn none(found: &[String]) {
    assert!(found.is_empty(), "{} to fix:\n{}", found.len(), found.join("\n"));
}

/// Lines of product code in which any of these occurs as a whole word.
fn with_words(source: &Source, words: &[&str], why: &str) -> Vec<(usize, String)> {
    if !source.is_product() {
        return Vec::new();
    }
    let hits = |line: &str| words.iter().find(|word| has_word(line, word)).map(|word| format!("`{word}`: {why}"));
    source.code.lines().enumerate().filter_map(|(number, line)| Some((number, hits(line)?))).collect()
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

// --- who imports whom ---

#[test]
fn rooms_import_only_what_the_architecture_allows() {
    let mut wrong = Vec::new();
    let document = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (order, edges) = edges::table(&document, &mut wrong);
    let rooms = edges::rooms();
    let listed = order.into_iter().collect();
    wrong.extend(
        rooms
            .symmetric_difference(&listed)
            .map(|room| format!("ARCHITECTURE.md: `{room}` is either in the table or under crates/, and not in both")),
    );
    for room in &rooms {
        let manifest = fs::read_to_string(root().join("crates").join(room).join("Cargo.toml")).unwrap();
        wrong.extend(edges::breaches(room, &manifest, &rooms, &edges));
        if !document.contains(&format!("### `crates/{room}`")) {
            wrong.push(format!("ARCHITECTURE.md: the code map has no `crates/{room}`"));
        }
    }
    none(&wrong);
}

#[test]
fn what_is_deliberately_absent_is_absent() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let has = |name: &str| lock.contains(&format!("\nname = \"{name}\"\n"));
    let found = WITHOUT.iter().filter(|(name, _)| has(name));
    let mut found: Vec<String> = found.map(|(name, why)| format!("Cargo.lock: {name}: {why}")).collect();
    let mut templates = Vec::new();
    collect(&root().join("crates/report/templates"), "html", &mut templates);
    for path in templates {
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        let scripts = text.lines().enumerate().filter(|(_, line)| line.contains("<script"));
        found.extend(scripts.map(|(n, _)| format!("{}:{}: reports have no scripts", shown(&path), n + 1)));
    }
    none(&found);
}

// --- who touches the system ---

fn processes(source: &Source) -> Vec<(usize, String)> {
    if source.room() == "host" {
        return Vec::new();
    }
    with_words(source, &["process::Command", "Command::new"], "only `host` starts processes")
}

fn system_files(source: &Source) -> Vec<(usize, String)> {
    // The first process of a guest is the machine's own hands there, before there is a door to it.
    // A guest's first process, before there is a host; and who holds the lock of a record, which is where this program runs.
    let may = ["crates/lab/src/init.rs", "crates/record/src/lock.rs"];
    if !source.is_product() || source.room() == "host" || may.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut line = 0;
    for statement in source.words.split_inclusive([';', '{', '}']) {
        let system = ["\"/sys", "\"/proc", "\"/dev"].iter().find(|start| statement.contains(**start));
        let opens = ["fs::", "File::", "OpenOptions", "UnixStream::", "Path::new", "PathBuf::from"];
        if let Some(start) = system
            && opens.iter().any(|word| has_word(statement, word))
        {
            let above = statement[..statement.find(start).unwrap_or(0)].matches('\n').count();
            found.push((line + above, format!("{start}…\": only `host` touches the system's files")));
        }
        line += statement.matches('\n').count();
    }
    found
}

/// Programs that destroy what is on a drive, as a command would name them.
const DESTROYERS: [&str; 8] =
    ["\"wipefs\"", "\"blkdiscard\"", "\"parted\"", "\"sgdisk\"", "\"sfdisk\"", "\"shred\"", "\"dd\"", "\"mkfs."];
/// Who may name them: whoever plans, whoever carries plans out past an authority, whoever works in guests that are thrown
/// away, whoever plays them in a model, and whoever only says their names.
const MAY_DESTROY: [&str; 8] = ["plan", "build", "feature_check", "lab", "fake", "host", "doctor", "spec"];

fn destroying(source: &Source) -> Vec<(usize, String)> {
    // It lists, and says so to the program twice.
    let only_lists = source.path == "crates/claim/src/signature/wipefs.rs";
    // How long steps take, by how their commands begin.
    let only_reads = source.path == "crates/bedplate/src/runner/estimate/parts.rs";
    if !source.is_product() || MAY_DESTROY.contains(&source.room()) || only_lists || only_reads {
        return Vec::new();
    }
    let found = source.words.lines().enumerate();
    let names = |line: &str| DESTROYERS.iter().find(|name| line.contains(**name)).copied();
    found.filter_map(|(at, line)| Some((at, format!("{}: only past `build::Authority`", names(line)?)))).collect()
}

/// What fio prints, and the option that has it printed so.
const OF_FIO: [&str; 7] = ["--output-format", "usr_cpu", "bw_bytes", "total_ios", "clat_ns", "slat_ns", "job_runtime"];
/// Who names the program besides `measure`, which runs it, and `spec`, which reads its job files: whoever needs it to be
/// there or tells its version, and whoever plays it in a model.
const MAY_NAME_FIO: [&str; 7] = ["measure", "spec", "host", "lab", "plan", "report", "fake"];

fn fio(source: &Source) -> Vec<(usize, String)> {
    // A verb and options of ours have its name.
    let says_it = MAY_NAME_FIO.contains(&source.room()) || source.path.starts_with("crates/bedplate/src/cli/");
    let plays_it = ["measure", "fake"].contains(&source.room());
    if !source.is_product() || (says_it && plays_it) {
        return Vec::new();
    }
    let is_told = |line: &str| {
        (!says_it && line.contains("\"fio\"")) || (!plays_it && OF_FIO.iter().any(|word| has_word(line, word)))
    };
    let found = source.words.lines().enumerate().filter(|(_, line)| is_told(line));
    found.map(|(at, _)| (at, "only `measure` runs fio and reads what it prints".to_owned())).collect()
}

fn purity(source: &Source) -> Vec<(usize, String)> {
    let files = ["fs::", "std::fs", "std::env", "env::var", "std::net", "UnixStream", "std::process"];
    let clocks = ["std::thread", "thread::spawn", "Instant::now", "SystemTime", "Zoned::now", "Timestamp::now"];
    let room = source.room();
    if PURE.contains(&room) {
        return with_words(source, &[&files[..], &clocks[..]].concat(), "this room is a function of its input");
    }
    if THROUGH_HOST.contains(&room) {
        return with_words(source, &files, "this room reaches a machine only through a host");
    }
    Vec::new()
}

#[test]
fn only_host_starts_processes() {
    check(processes);
}

#[test]
fn only_an_authority_destroys() {
    check(destroying);
}

#[test]
fn only_measure_runs_fio_and_reads_what_it_prints() {
    check(fio);
}

#[test]
fn only_host_touches_the_files_of_the_system() {
    check(system_files);
}

#[test]
fn pure_rooms_are_pure() {
    check(purity);
}

// --- how files look ---

fn printing(source: &Source) -> Vec<(usize, String)> {
    let macros = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
    with_words(source, &macros, "rooms return text, and the binary's printer prints it")
}

fn paths(source: &Source) -> Vec<(usize, String)> {
    if !source.is_product() || !SPELLING.contains(&source.room()) {
        return Vec::new();
    }
    let lines = source.code.lines().enumerate().filter(|(_, line)| line.contains(".display()"));
    lines
        .map(|(number, _)| (number, "a path that is told goes through `terms::spelling::spell_path`".to_owned()))
        .collect()
}

fn unwrapping(source: &Source) -> Vec<(usize, String)> {
    if !source.is_product() {
        return Vec::new();
    }
    let lines = source.code.lines().enumerate().filter(|(_, line)| line.contains(".unwrap()"));
    lines.map(|(number, _)| (number, "`.unwrap()` outside tests".to_owned())).collect()
}

fn header(source: &Source) -> Vec<(usize, String)> {
    let has = source.text.starts_with("//! ");
    if has { Vec::new() } else { vec![(0, "does not open with `//!`: what it is, and what it is not".to_owned())] }
}

fn naming(source: &Source) -> Vec<(usize, String)> {
    let empty = |word: &str| {
        ["util", "helper"].iter().any(|start| word.starts_with(start))
            || ["common", "misc", "manager"].contains(&word)
            || ["_util", "_utils", "_helpers", "_manager"].iter().any(|end| word.ends_with(end))
    };
    let word = source.path.trim_end_matches(".rs").split('/').find(|word| empty(word));
    word.map(|word| vec![(0, format!("`{word}` does not say what is in it"))]).unwrap_or_default()
}

fn length(source: &Source) -> Vec<(usize, String)> {
    let limit = LISTS.iter().find(|(path, _)| *path == source.path).map_or(LONGEST, |(_, limit)| *limit);
    let lines = source.length();
    if !source.is_product() || lines <= limit {
        return Vec::new();
    }
    vec![(lines - 1, format!("{lines} lines without tests, {limit} are the limit"))]
}

fn promises(source: &Source) -> Vec<(usize, String)> {
    let words = ["TODO", "FIXME", "XXX"];
    let number = |line: &str| line.split('#').skip(1).any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let empty = |line: &str| words.iter().any(|word| has_word(line, word)) && !number(line);
    let lines = source.comments.lines().enumerate().filter(|(_, line)| empty(line));
    lines.map(|(at, _)| (at, "something to do without the number of its issue".to_owned())).collect()
}

#[test]
fn rooms_do_not_print() {
    check(printing);
}

#[test]
fn paths_in_messages_are_spelt() {
    check(paths);
}

#[test]
fn nothing_unwraps() {
    check(unwrapping);
}

#[test]
fn every_file_says_what_it_is() {
    check(header);
}

#[test]
fn names_say_what_is_inside() {
    check(naming);
}

#[test]
fn files_are_short() {
    check(length);
}

#[test]
fn what_is_left_to_do_has_an_issue() {
    check(promises);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut documents = Vec::new();
    for entry in fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|ending| ending == "md") {
            documents.push(entry);
        }
    }
    collect(&root().join("docs"), "md", &mut documents);
    let mut dead = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for (number, line) in text.lines().enumerate() {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let local = !link.is_empty() && !link.contains("://");
                if local && !document.parent().is_some_and(|at| at.join(link).exists()) {
                    dead.push(format!("{}:{}: nothing at `{link}`", shown(&document), number + 1));
                }
            }
        }
    }
    none(&dead);
}

// --- the rules themselves ---

#[test]
fn rules_find_what_they_forbid() {
    let finds = |rule: Rule, path: &str, text: &str, expected: &[&str]| {
        let found = broken(rule, &Source::new(path, text));
        let places: Vec<String> = found.iter().map(|f| f.split(": ").next().unwrap().to_owned()).collect();
        assert_eq!(places, expected, "{text}");
    };
    let (plan, build) = ("crates/plan/src/a.rs", "crates/build/src/a.rs");
    let tests = "#[cfg(test)]\nmod tests {\n    fn a() { b.unwrap(); println!(); }\n}\n";
    for rule in [processes, system_files, purity, printing, unwrapping, naming, promises] {
        finds(rule, plan, "//! A.\n/// `x.unwrap()`, `println!`\nconst A: &str = \"Command::new std::fs\";\n", &[]);
        finds(rule, plan, tests, &[]);
    }
    finds(
        processes,
        build,
        "use std::process::Command;\nlet c = Command::new(1);",
        &["crates/build/src/a.rs:1", "crates/build/src/a.rs:2"],
    );
    finds(processes, "crates/host/src/a.rs", "Command::new(1);", &[]);
    finds(processes, "crates/lab/tests/a.rs", "Command::new(1);", &[]);
    finds(system_files, build, "let a = 1;\nfs::read(\n    \"/sys/block\",\n)?;\n", &["crates/build/src/a.rs:3"]);
    finds(system_files, build, "host.read_text(\"/proc/mounts\")?;\n", &[]);
    finds(system_files, "crates/lab/src/init.rs", "fs::read(\"/proc/cmdline\")?;\n", &[]);
    finds(destroying, "crates/measure/src/a.rs", "Cmd::new([\"wipefs\"])", &["crates/measure/src/a.rs:1"]);
    finds(destroying, plan, "words![\"wipefs\"]", &[]);
    finds(fio, build, "Cmd::new([\"fio\"])\n", &["crates/build/src/a.rs:1"]);
    finds(fio, plan, "[\"fio\", \"rm\"]\nlet usr_cpu = 1;\n", &["crates/plan/src/a.rs:2"]);
    finds(fio, "crates/measure/src/a.rs", "[\"fio\", \"--output-format=json\"]\n", &[]);
    finds(purity, plan, "let t = Instant::now();\n", &["crates/plan/src/a.rs:1"]);
    finds(purity, build, "let t = Instant::now();\nuse std::fs;\n", &["crates/build/src/a.rs:2"]);
    finds(purity, plan, "let c = offs::x();\n", &[]);
    finds(printing, plan, "eprintln!(\"a\");\n", &["crates/plan/src/a.rs:1"]);
    finds(paths, "crates/record/src/a.rs", "path.display()\n", &["crates/record/src/a.rs:1"]);
    finds(unwrapping, plan, "a\n    .unwrap();\n", &["crates/plan/src/a.rs:2"]);
    finds(header, plan, "use a;\n", &["crates/plan/src/a.rs:1"]);
    finds(naming, "crates/plan/src/utils/a.rs", "", &["crates/plan/src/utils/a.rs:1"]);
    finds(length, plan, &"a\n".repeat(501), &["crates/plan/src/a.rs:501"]);
    finds(length, plan, &format!("{}{tests}", "a\n".repeat(500)), &[]);
    finds(promises, plan, "// TODO later\n// TODO(#7) then\n", &["crates/plan/src/a.rs:1"]);
}
