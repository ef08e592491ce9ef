//! What is too large for the tree, or no regular file: made when it is needed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::corpus::Kind;

/// Bytes of what is large.
const LARGE: usize = 10_000_000;
/// What is nested without need.
const DEEP: usize = 200_000;

/// Makes the case of that name at this place; a record is there already, as a good one.
pub(crate) fn make(kind: Kind, name: &str, place: &Path, outside: &Path) {
    match name {
        "pipe" => return pipe(place),
        "zero" => return symlink("/dev/zero", place).unwrap(),
        "link" => return symlink(outside.join("victim"), place).unwrap(),
        "directory" => return fs::create_dir(place).unwrap(),
        _ => {}
    }
    let text = match kind {
        Kind::Fio => job_file(name),
        Kind::Study => study(name),
        Kind::Plan => plan(name),
        Kind::Machine => machine(name),
        Kind::Capture => capture(name),
        Kind::Catalogue => catalogue(name),
        Kind::Record => return record(name, place),
        Kind::Runs | Kind::Calibration => None,
    };
    fs::write(place, text.unwrap_or_else(|| panic!("nothing makes {name}"))).unwrap();
}

/// Makes a pipe that nobody writes to.
pub(crate) fn pipe(place: &Path) {
    mknodat(CWD, place, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// The path, with the directories above it and nothing at it.
pub(crate) fn free(path: &Path) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        let _ = fs::remove_file(path);
    }
    path.to_owned()
}

/// Lines of this form, numbered, until they are large.
fn large(line: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(LARGE + 100);
    let mut number = 0;
    while text.len() < LARGE {
        text.push_str(&line(number));
        number += 1;
    }
    text
}

fn many(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn nested(open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP))
}

fn study(name: &str) -> Option<String> {
    const DRIVE: &str = "{ name = \"a\", size = \"512 MiB\" }";
    const STACK: &str = "[[stack]]\nname = \"s\"\nlayers = [{ ext4 = {}, on = \"a\" }]\n";
    let lab = |drives: &str| format!("question = \"?\"\n[lab]\ndrives = [{drives}]\n");
    let good = lab(DRIVE) + STACK;
    Some(match name {
        "unknown-keys" => large(|n| format!("key{n} = {n}\n")) + &good,
        "stacks" => lab(DRIVE) + &many(1500, |n| STACK.replacen("\"s\"", &format!("\"s{n}\""), 1)),
        "drives" => {
            let drives = many(3000, |n| format!("{{ name = \"d{n}\", size = \"512 MiB\" }},\n"));
            lab(&drives) + &STACK.replace("\"a\"", "\"d0\"")
        }
        "brackets" => format!("question = {}\n", nested("[", "]")),
        "tables" => format!("question = {}\n", nested("{a=", "}")),
        "dotted" => format!("a{} = 1\n", ".a".repeat(DEEP)),
        "text" => good.replacen("\"?\"", &format!("\"{}?\"", "long ".repeat(LARGE / 5)), 1),
        "name" => good.replacen("\"s\"", &format!("\"{}\"", "x".repeat(65_536)), 1),
        "comment" => large(|n| format!("# {n}\n")) + &good,
        "lines" => "\n".repeat(2_000_000) + "question = \n",
        _ => return None,
    })
}

fn job_file(name: &str) -> Option<String> {
    const JOB: &str = "rw=randread\nbs=4k\n";
    Some(match name {
        "options" => format!("[j]\n{JOB}") + &large(|n| format!("option{n}={n}\n")),
        "jobs" => many(20_000, |n| format!("[j{n}]\n{JOB}")),
        "line" => format!("[j]\n{JOB}option={}\n", "x".repeat(LARGE)),
        _ => return None,
    })
}

fn plan(name: &str) -> Option<String> {
    const STEP: &str = r#"{"id": "a.b", "layer": "a", "why": "", "act": {"run": {"argv": ["canary"], "limit_ns": 1}},
        "effect": null, "undo": []}"#;
    Some(match name {
        "brackets" => format!("{{\"schema\": 1, \"nodes\": {}}}", nested("[", "]")),
        "steps" => format!(
            "{{\"schema\": 1, \"stack\": \"s\", \"slug\": \"s\", \"nodes\": [], \"drives\": [\"a\"], \"needs\": [],
            \"options\": [], \"steps\": [{}], \"target\": {{\"directory\": \"/mnt\"}}}}",
            vec![STEP; 20_000].join(",")
        ),
        _ => return None,
    })
}

fn machine(name: &str) -> Option<String> {
    const GOOD: &str = "machine = \"m\"\ncores = 4\n";
    const DRIVE: &str = "[[drive]]\nname = \"nvme\"\ncount = 2\n";
    const UPLINK: &str = "[[uplink]]\nlink = \"8 GT/s x4\"\n";
    let uplink = |n: usize| format!("{UPLINK}name = \"u{n}\"\nbehind = \"u{}\"\n", n + 1);
    Some(match name {
        "uplinks" => {
            format!("{GOOD}{}{UPLINK}name = \"u10000\"\n{DRIVE}behind = \"u0\"\n", many(10_000, uplink))
        }
        "unknown-keys" => large(|n| format!("key{n} = {n}\n")) + GOOD + DRIVE,
        _ => return None,
    })
}

fn capture(name: &str) -> Option<String> {
    let whole = "bedplate capture 1\nwhole /sys\nwhole /proc\nwhole /run\nwhole /etc\n";
    let drive = |n: usize| {
        let at = format!("/sys/devices/pci0000:00/0000:00:17.0/ata{n}/host{n}/block/sd{n}");
        format!(
            "link /sys/block/sd{n} -> {at}\nlink /sys/class/block/sd{n} -> {at}\nfile {at}/size = 1953525168\n\
             file {at}/dev = 8:{n}\nfile {at}/queue/rotational = 1\n"
        )
    };
    let processor = |n: usize| format!("|processor : {n}\n|physical id : {n}\n|core id : {n}\n|model name : P\n|\n");
    let text = match name {
        "drives" => many(3000, drive),
        "line" => format!("file /proc/cpuinfo = {}\n", "x".repeat(LARGE)),
        "links" => {
            many(20_000, |n| format!("link /sys/l{n} -> /sys/l{}\n", n + 1)) + "link /sys/block/sda -> /sys/l0\n"
        }
        "depth" => many(2000, |n| format!("file /sys/{n}{} = 1\n", "/a".repeat(2000))),
        "processors" => format!("file /proc/cpuinfo\n{}", many(100_000, processor)),
        _ => return None,
    };
    Some(whole.to_owned() + &text)
}

/// Catalogues that no statement makes.
fn catalogue(name: &str) -> Option<String> {
    Some(match name {
        "junk" => "this is not a database, and long enough to be sure of it".repeat(1000),
        "empty" => String::new(),
        _ => return None,
    })
}

/// Adds to a good record what makes it hostile.
fn record(name: &str, place: &Path) {
    let write = |file: &str, text: &str| fs::write(place.join(file), text).unwrap();
    match name {
        "journal" => {
            write("journal.jsonl", &format!("{{\"entry\":\"down\",\"stack\":\"{}\"}}\n", "x".repeat(LARGE)));
        }
        "seal" => {
            let files = many(DEEP, |n| format!("\"cells/{n}\": \"0\",\n"));
            write("sealed.json", &format!("{{\"schema\": 1, \"files\": {{{files}\"study.toml\": \"0\"}}}}"));
        }
        "brackets" => write("cells/1-s-w/cell.json", &nested("[", "]")),
        "cells" => {
            let cell = fs::read_to_string(place.join("cells/1-s-w/cell.json")).unwrap();
            for round in 2..=3000 {
                let name = format!("cells/{round}-s-w");
                fs::create_dir(place.join(&name)).unwrap();
                let of_round = cell.replace("\"round\": 1", &format!("\"round\": {round}"));
                write(&format!("{name}/cell.json"), &of_round);
            }
        }
        _ => panic!("nothing makes {name}"),
    }
}
