//! `bedplate run --dir`: what is there already is measured, and left as it was, however the program ends.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and talk")]
#![allow(clippy::disallowed_methods, reason = "tests start the program as a person would")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A directory on a disk of this machine: a file system of memory would do for fio, and tell less.
fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("bedplate-dir").tempdir_in("/var/tmp").unwrap()
}

fn command(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
    command.args(arguments).arg("--runs").arg(at.join("runs")).stdin(Stdio::null());
    command
}

fn run(at: &Path, arguments: &[&str]) -> Output {
    let output = command(at, arguments).output().unwrap();
    eprintln!("$ bedplate {}\n{}", arguments.join(" "), text(&output));
    output
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const BRIEF: [&str; 8] = ["--profile", "quick", "--rounds", "2", "--window", "500ms", "--settle", "100ms"];

#[test]
fn a_directory_is_measured_and_left_as_it_was() {
    let bench = directory();
    let data = bench.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("mine"), "precious").unwrap();
    let path = data.to_string_lossy().into_owned();
    let output = run(bench.path(), &[&["run", "--dir", &path, "--span", "16MiB", "--json"][..], &BRIEF].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = findings["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4, "{findings}");
    assert!(findings["provenance"]["place"] == "local", "{}", findings["provenance"]);
    assert_eq!(names(&data), ["mine"]);
    assert_eq!(std::fs::read(data.join("mine")).unwrap(), b"precious");
}

/// A run in a directory, as soon as it has come so far.
fn begun(bench: &Path, data: &Path, has_begun: impl Fn() -> bool) -> std::process::Child {
    let arguments =
        ["run", "--dir", data.to_str().unwrap(), "--span", "16MiB", "--profile", "quick", "--window", "20s"];
    let child = command(bench, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !has_begun() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was begun in a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn what_a_killed_run_left_is_taken_down() {
    let bench = directory();
    let data = bench.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let is_filled = || names(&data).first().is_some_and(|name| data.join(name).join("bedplate.dat").exists());
    let mut child = begun(bench.path(), &data, is_filled);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(&data).len(), 1, "what was begun is still there");
    // A link in its place leads to what is somebody's, whatever is called there as the run's was.
    let [moved, theirs] = ["moved", "theirs"].map(|name| bench.path().join(name));
    std::fs::create_dir_all(theirs.join(&names(&data)[0])).unwrap();
    std::fs::rename(&data, &moved).unwrap();
    std::os::unix::fs::symlink(&theirs, &data).unwrap();
    let refused = run(bench.path(), &["teardown"]);
    assert!(
        refused.status.code() == Some(3) && text(&refused).contains("a link leads there now"),
        "{}",
        text(&refused)
    );
    assert_eq!(names(&theirs), names(&moved));
    std::fs::remove_file(&data).unwrap();
    std::fs::rename(&moved, &data).unwrap();
    // So may another directory be that has its name.
    let own = data.join(&names(&data)[0]);
    std::fs::rename(&own, &moved).unwrap();
    std::fs::rename(&theirs, &own).unwrap();
    let refused = run(bench.path(), &["teardown"]);
    assert!(refused.status.code() == Some(3) && text(&refused).contains("not the directory"), "{}", text(&refused));
    std::fs::rename(&own, &theirs).unwrap();
    std::fs::rename(&moved, &own).unwrap();
    // Without its journal nobody knows what stands, which is not the same as nothing.
    let runs = bench.path().join("runs");
    let journal =
        names(&runs).iter().map(|name| runs.join(name).join("journal.jsonl")).find(|path| path.exists()).unwrap();
    std::fs::rename(&journal, &moved).unwrap();
    let unknown = run(bench.path(), &["teardown"]);
    assert!(unknown.status.code() == Some(2) && text(&unknown).contains("has no journal"), "{}", text(&unknown));
    std::fs::rename(&moved, &journal).unwrap();
    for expect in ["down", "nothing of run"] {
        let output = run(bench.path(), &["teardown"]);
        assert!(output.status.success() && text(&output).contains(expect), "{}", text(&output));
        assert_eq!(names(&data), Vec::<String>::new());
    }
}

/// A program that was left at work by whoever is marked so.
fn left_by(owner: &str) -> std::process::Child {
    use std::os::unix::process::CommandExt as _;
    Command::new("sleep").arg("600").env("BEDPLATE_OWNER", owner).process_group(0).spawn().unwrap()
}

/// `bedplate teardown | head` ends before the last line, and what is printed is not what was done.
#[test]
fn a_closed_pipe_keeps_nothing_standing_and_programs_of_other_runs_go_on() {
    let bench = directory();
    let data = bench.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut child = begun(bench.path(), &data, || !names(&data).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let runs = bench.path().join("runs");
    let begun = names(&runs).into_iter().map(|name| runs.join(name).join("journal.jsonl")).find(|path| path.exists());
    let journal = std::fs::read_to_string(begun.unwrap()).unwrap();
    let begin: serde_json::Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    let owner = begin["origin"]["owner"].as_str().unwrap();
    let (namespace, _) = owner.split_once(':').unwrap();
    // Another run was killed, too, and its load is at work.
    let (mut own, mut other) = (left_by(owner), left_by(&format!("{namespace}:4194304:1")));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command(bench.path(), &["teardown"]).stdout(writer).status().unwrap();
    let (ended, goes_on) = (own.try_wait().unwrap().is_some(), other.try_wait().unwrap().is_none());
    for child in [&mut own, &mut other] {
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(status.success() && names(&data).is_empty(), "{status}: {:?} stands", names(&data));
    assert!(ended && goes_on, "its own ended: {ended}, that of another goes on: {goes_on}");
}

#[test]
fn a_file_that_may_grow_no_further_ends_a_run_that_cleans_up() {
    let bench = directory();
    let data = bench.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let arguments = ["run", "--dir", data.to_str().unwrap(), "--span", "16MiB", "--profile", "quick"];
    for blocks in ["20", "120"] {
        let plain = command(bench.path(), &arguments);
        let limit = format!("ulimit -f {blocks}; exec \"$@\"");
        let mut limited = Command::new("sh");
        limited.args(["-c", &limit, "sh"]).arg(plain.get_program()).args(plain.get_args());
        limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = limited.output().unwrap();
        assert!(output.status.code().is_some_and(|code| code != 0), "{blocks}: {:?} {}", output.status, text(&output));
        assert_eq!(names(&data), Vec::<String>::new(), "{blocks}: {}", text(&output));
    }
}

#[test]
fn a_run_that_goes_on_is_not_taken_down_beneath_itself() {
    let bench = directory();
    let path = bench.path().join("data");
    std::fs::create_dir(&path).unwrap();
    let mut child = begun(bench.path(), &path, || !names(&path).is_empty());
    let output = run(bench.path(), &["teardown"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(names(&path).len(), 1, "it was taken away");
    // Asked to stop, it takes everything away itself.
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(&path), Vec::<String>::new());
}

#[test]
fn directories_that_cannot_be_measured_are_refused_with_what_to_do() {
    let bench = directory();
    let path = bench.path().to_string_lossy().into_owned();
    for (arguments, expect) in [
        (vec!["run", "--dir", "/nonexistent"], "/nonexistent"),
        (vec!["run", "--dir", "/proc", "--span", "1MiB"], "hint"),
        (vec!["run", "--dir", &path, "--on", "lab"], "--on local"),
        (vec!["run", "--dir", &path, "--span", "100000TiB"], "--span"),
        (vec!["run"], "STUDY"),
    ] {
        let output = run(bench.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expect), "{arguments:?}: {}", text(&output));
    }
}

/// A file beside the directory that is measured, a job file, and a run of it that is as short as it gets.
fn run_job(bench: &Path, data: &str, text: &str) -> Output {
    let (file, data) = (bench.join(format!("{data}.fio")), bench.join(data));
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(&file, text).unwrap();
    let (file, data) = (file.to_string_lossy().into_owned(), data.to_string_lossy().into_owned());
    run(bench, &["run", "--dir", &data, "--fio", &file, "--quick", "--span", "8MiB"])
}

/// Every file below, with its content.
fn everything(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            found.extend(everything(&path));
        } else {
            found.push((path.to_string_lossy().into_owned(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn a_strangers_job_file_runs_nothing_and_touches_no_other_file() {
    let bench = directory();
    let others = bench.path().join("others");
    std::fs::create_dir(&others).unwrap();
    std::fs::write(others.join("victim"), "precious".repeat(10_000)).unwrap();
    let before = everything(&others);
    let at = others.to_string_lossy();
    for (number, lines) in [
        format!("exec_prer=touch {at}/mark"),
        format!("exec_pos=touch {at}/mark"),
        format!("ioengine={at}/evil.so"),
        format!("ioengine=exec\nprogram=touch\narguments={at}/mark"),
        format!("opendi={at}\nrw=randwrite"),
        format!("aux-path={at}"),
        format!("trigger-timeout=1\ntrigger=touch {at}/mark"),
        format!("inflate-log={at}/victim"),
        format!("remote-config={at}/victim"),
        format!("write_iolo={at}/mark"),
        format!("ioengine=net\nhostname=localhost\nprotocol=tcp\nport=9\nexec_prer=touch {at}/mark"),
        "ioengine=http".to_owned(),
        "ioengine=nbd".to_owned(),
        "ioengine=filedelete".to_owned(),
        "verify=md5\nverify_state_save=1".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let output = run_job(bench.path(), &format!("data-{number}"), &format!("[j]\nrw=randread\nbs=4k\n{lines}\n"));
        assert_eq!(output.status.code(), Some(2), "{lines}: {}", text(&output));
        assert!(text(&output).contains("is never passed on"), "{lines}: {}", text(&output));
        assert!(everything(&others) == before, "{lines}: it touched what is beside the directory");
    }
}

fn cells(bench: &Path, runs: &str) -> Vec<(terms::record::Cell, std::path::PathBuf)> {
    let runs = bench.join(runs);
    let mut found = Vec::new();
    for name in names(&runs) {
        let run = runs.join(name);
        // The newest run has a second name, and a catalogue lies beside them.
        if run.is_symlink() || !run.is_dir() {
            continue;
        }
        for name in names(&run.join("cells")) {
            let cell = run.join("cells").join(name);
            let text = std::fs::read_to_string(cell.join("cell.json")).unwrap();
            found.push((serde_json::from_str(&text).unwrap(), cell));
        }
    }
    found
}

const ONE_JOB: &str = "[reads]\nrw=randread\nbs=4k\nioengine=psync\nruntime=1500ms\nramp_time=100ms\n";

/// Lines of a log of one job: their times in ms, and whether they are of writes.
fn lines(cell: &Path) -> Vec<(u64, bool)> {
    let text = std::fs::read_to_string(cell.join("throughput.log")).unwrap();
    let fields = text.lines().map(|line| line.split(", ").collect::<Vec<_>>());
    fields.map(|fields| (fields[0].parse().unwrap(), fields[2] == "1")).collect()
}

#[test]
fn a_link_that_somebody_planted_for_a_log_leads_nowhere() {
    let bench = directory();
    assert!(run_job(bench.path(), "data", ONE_JOB).status.success());
    let seed = cells(bench.path(), "runs")[0].0.seed;
    let victim = bench.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let links = ["bw", "lat", "slat", "clat"].map(|kind| format!("/tmp/bedplate-fio-{seed}_{kind}.log"));
    for link in &links {
        std::os::unix::fs::symlink(&victim, link).unwrap();
    }
    let output = run_job(bench.path(), "data", ONE_JOB);
    let untouched = links.iter().all(|link| std::fs::remove_file(link).is_ok());
    assert!(output.status.success());
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    assert!(untouched, "it knew the links");
}

#[test]
fn what_a_run_that_died_left_is_in_nobodys_log() {
    let bench = directory();
    assert!(run_job(bench.path(), "data", ONE_JOB).status.success());
    let seed = cells(bench.path(), "runs")[0].0.seed;
    let left = format!("/tmp/bedplate-fio-{seed}_bw.log");
    std::fs::write(&left, "100, 77777, 1, 0, 0\n200, 77777, 1, 0, 0\n").unwrap();
    assert!(run_job(bench.path(), "data", ONE_JOB).status.success());
    let untouched = std::fs::remove_file(&left).is_ok();
    let all = cells(bench.path(), "runs");
    assert_eq!(all.iter().filter(|(cell, _)| cell.seed == seed).count(), 2, "both would have used the file");
    for (cell, path) in all {
        assert!(lines(&path).iter().all(|(_, writes)| !writes) && !cell.samples.is_empty(), "{:?}", lines(&path));
    }
    assert!(untouched, "it knew the file");
}

#[test]
fn two_runs_of_one_job_at_once_have_each_their_own_samples() {
    let bench = directory();
    // The same but for the direction, by which one's lines are told from the other's: also what a stack is called is cut.
    let above = bench.path().join("with-a-name-that-is-longer-than-what-is-kept-of-it");
    let begin = |name: &str| {
        let (data, file) = (above.join(name), bench.path().join(format!("{name}.fio")));
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(&file, format!("{}stonewall\n", ONE_JOB.replace("randread", name)).repeat(4)).unwrap();
        let (data, file) = (data.to_string_lossy().into_owned(), file.to_string_lossy().into_owned());
        let arguments = ["run", "--dir", &data, "--fio", &file, "--rounds", "1", "--window", "500ms", "--span", "8MiB"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_bedplate"));
        command.args(arguments).arg("--runs").arg(bench.path().join(format!("runs-{name}")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runs = ["randread", "randwrite"].map(begin);
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    let seeds = |name: &str| {
        let mut seeds: Vec<u64> =
            cells(bench.path(), &format!("runs-{name}")).iter().map(|(cell, _)| cell.seed).collect();
        seeds.sort_unstable();
        seeds
    };
    assert_eq!(seeds("randread"), seeds("randwrite"), "they have nothing in common that could mix");
    // Jobs of both end within a moment of one another where the machine has time for both.
    for name in ["randread", "randwrite"] {
        let cells = cells(bench.path(), &format!("runs-{name}"));
        assert_eq!(cells.len(), 4);
        for (cell, path) in cells {
            let lines = lines(&path);
            assert!(!lines.is_empty() && !cell.samples.is_empty(), "it has none of its own");
            assert!(
                lines.iter().all(|(_, writes)| *writes == (name == "randwrite")),
                "some are the other's: {lines:?}"
            );
            assert!(lines.is_sorted(), "one job's time never goes back: {lines:?}");
        }
    }
}
