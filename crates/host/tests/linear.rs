//! Captures are read in a time that grows with the file, whatever is in it. Run with `--nocapture` for the table.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and prints a table")]

use std::fmt::Write as _;
use std::time::Duration;

use host::{Capture, Host};

/// Ten times the file may take twice ten times the time.
const STEEPEST: f64 = 2.0;

/// What this thread took of a processor so far: what else the machine does is left out.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn all(n: usize, one: impl Fn(usize) -> String) -> String {
    (0..n).map(one).collect()
}

type Shape = (&'static str, fn(usize) -> String);

/// Texts of about a hundred bytes for each of `n`.
const SHAPES: [Shape; 6] = [
    ("files", |n| all(n * 2, |i| format!("file /sys/block/d{i}/size = 1953525168\n"))),
    ("lines of one file", |n| format!("file /a\n{}", all(n * 5, |i| format!("|line number {i}\n")))),
    ("lines of a command of great length", |n| {
        format!("run {}\n{}", "x".repeat(n * 50), "|a line\n!b\n".repeat(n * 5))
    }),
    ("names of one directory", |n| format!("directory /a\n{}", all(n * 5, |i| format!("|name-{i}\n")))),
    ("links to links", |n| all(n * 2, |i| format!("link /l{i} -> /l{}\n", i + 1))),
    ("deep paths", |n| all(n / 2 + 1, |i| format!("file {}/{i} = 1\n", "/a".repeat(90)))),
];

fn read(text: &str) {
    let capture = Capture::parse("file", text.as_bytes()).unwrap();
    assert!(capture.print().len() > 20);
    for path in ["/a", "/sys/block", "/l0", "/x"] {
        let _ = (capture.read(path), capture.list(path), capture.resolve(path));
    }
}

/// Times of the smaller and the larger text, and how many times as long a byte of the larger takes.
fn steepness(texts: &[String; 2], read: impl Fn(&str)) -> ([Duration; 2], f64) {
    let bytes = texts[1].len() as f64 / texts[0].len() as f64;
    let mut best = [Duration::MAX; 2];
    let mut steepness = f64::MAX;
    // Beside other work caches are shared, and only the best of some turns tells: the first good one ends it.
    for _ in 0..12 {
        for (best, text) in best.iter_mut().zip(texts) {
            let start = now();
            read(text);
            *best = (now() - start).min(*best);
        }
        steepness = best[1].as_secs_f64() / best[0].max(Duration::from_millis(1)).as_secs_f64() / bytes;
        if steepness <= STEEPEST {
            break;
        }
    }
    (best, steepness)
}

#[test]
fn time_grows_with_the_file_and_no_faster() {
    let mut table = String::new();
    let mut bent = Vec::new();
    for (name, make) in SHAPES {
        let texts = [1000, 10_000].map(|n| format!("bedplate capture 1\n{}", make(n)));
        let (best, steepness) = steepness(&texts, read);
        let [small, large] = best.map(|took| took.as_secs_f64() * 1e3);
        let _ =
            writeln!(table, "{name:36} {:6} KiB {small:8.1} ms {large:8.1} ms {steepness:.2}", texts[1].len() / 1024);
        if steepness > STEEPEST {
            bent.push(name);
        }
    }
    println!("{table}");
    assert!(bent.is_empty(), "{bent:?}\n{table}");
}

/// A machine with so many drives, as somebody might write it.
fn machine(n: usize) -> String {
    let head = "bedplate capture 1\nwhole /sys\nwhole /proc\nwhole /run\nwhole /etc\nwhole /dev\n";
    let drive = |i| {
        let at = format!("/sys/devices/pci0000:00/0000:00:1d.0/nvme/nvme{i}/nvme{i}n1");
        let files =
            [("size", "1953525168"), ("queue/logical_block_size", "512"), ("queue/rotational", "0"), ("dev", "259:0")];
        let files: String = files.iter().map(|(name, value)| format!("file {at}/{name} = {value}\n")).collect();
        format!("link /sys/block/nvme{i}n1 -> {at}\nlink /sys/class/block/nvme{i}n1 -> {at}\n{files}")
    };
    format!("{head}{}", all(n, drive))
}

#[test]
fn a_machine_of_ten_thousand_drives_is_inspected_in_a_straight_line() {
    let texts = [1000, 10_000].map(machine);
    let (best, steepness) = steepness(&texts, |text| {
        let capture = Capture::parse("file", text.as_bytes()).unwrap();
        let drives = text.matches("link /sys/block/").count();
        assert_eq!(host::inspect::inspect(&capture).unwrap().drives.len(), drives);
    });
    println!("{best:?}, {steepness:.2} times as long a byte");
    assert!(steepness <= STEEPEST, "{best:?}");
}

#[test]
fn paths_have_an_end() {
    let deep = format!("bedplate capture 1\nfile {} = 1\n", "/a".repeat(129));
    let error = Capture::parse("file", deep.as_bytes()).unwrap_err();
    assert!(error.what.contains("at most 128 names"), "{error}");
}
