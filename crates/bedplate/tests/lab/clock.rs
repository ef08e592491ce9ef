//! A guest whose clock counts its instructions says the same twice, whatever else the machine does, and one round finds
//! what is slower by a per cent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use host::Host;
use lab::Guest;
use record::RunReader;
use terms::finding::{Compared, RunComparison};
use terms::{Bytes, Cmd, Mechanics, Name, Nanos};

use crate::bench::{BRIEF, Bench, text, understood};

const STUDY: &str = r#"
question = "Does it say the same twice?"
[lab]
memory = "2 GiB"
drives = [{ name = "a", kind = "ram", size = "128 MiB" }, { name = "b", kind = "ram", size = "128 MiB" }]
[[stack]]
name = "plain"
layers = [{ ext4 = {}, on = "a" }]
[[stack]]
name = "mirror"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }, { ext4 = {} }]
[[workload]]
name = "small"
pattern = "randread"
block = "4 KiB"
depth = 32
[[workload]]
name = "large"
pattern = "write"
block = "1 MiB"
depth = 8
[measure]
rounds = 1
span = "32 MiB"
settle = "10 ms"
window = "100 ms"
# Windows are compared to the digit, so none has to be longer than it is asked for.
precision = "100%"
"#;

/// A new run of the plain stack of the study.
fn run(bench: &Bench, study: &str) -> PathBuf {
    let output = bench.run(&["run", study, "--only", "plain"]);
    assert!(output.status.success(), "{}", text(&output));
    bench.all_runs().pop().unwrap()
}

/// Seconds of the guest for an operation, of every cell of a run.
fn paces(run: &Path) -> BTreeMap<String, f64> {
    let reader = RunReader::open(run).unwrap();
    assert!(reader.provenance().has_virtual_clock(), "{:?}", reader.provenance().accelerator);
    let machine = terms::calibration::Fingerprint::of(&reader.inventory().unwrap().unwrap());
    assert!(machine.is_counted(), "{machine:?}");
    let cells = reader.newest_cells().unwrap().into_iter();
    let mean = |cell: terms::record::Cell| {
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        (format!("{:?}", cell.key), 1.0 / reading.iops().0)
    };
    cells.map(mean).collect()
}

/// What `compare` says of two runs, and whether it calls a cell slower by more than 1 %.
fn compared(bench: &Bench, [a, b]: [&Path; 2]) -> (RunComparison, bool) {
    let [a, b] = [a, b].map(|run| run.to_string_lossy().into_owned());
    let output = bench.run(&["compare", &a, &b, "--json", "--fail-slower", "1%"]);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{}", text(&output));
    (serde_json::from_slice(&output.stdout).unwrap(), code == Some(1))
}

#[test]
fn a_virtual_clock_repeats_itself_beside_other_work_and_finds_a_layer_more() {
    let bench = Bench::new();
    let path = bench.labs().with_file_name("clock.toml");
    std::fs::write(&path, STUDY).unwrap();
    let study = path.to_string_lossy().into_owned();
    let first = run(&bench, &study);
    // Both cores are kept busy, and no guest runs beside it.
    let over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        let work = || {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let loops = [scope.spawn(work), scope.spawn(work)];
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&bench, &study)));
        over.store(true, Ordering::Relaxed);
        drop(loops);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let (alone, busy) = (paces(&first), paces(&beside));
    assert!(alone.len() == 2 && busy.len() == 2, "{alone:?}\n{busy:?}");
    for (cell, took) in &busy {
        let ratio = took / alone[cell];
        eprintln!("{cell}: {ratio:.4}, to the digit: {}", took.to_bits() == alone[cell].to_bits());
        assert!((ratio - 1.0).abs() <= terms::record::REPEATS, "{cell}: {ratio}");
    }
    let (same, slower) = compared(&bench, [&first, &beside]);
    assert!(same.repeats && !slower);
    assert_eq!(same.with(Some(Compared::Equivalent)).count(), 2, "{:?}", same.cells);
    // The first stack with one more layer.
    std::fs::write(&path, STUDY.replace(PLAIN, PLAIN_ON_LVM)).unwrap();
    let (planted, slower) = compared(&bench, [&first, &run(&bench, &study)]);
    assert!(planted.repeats && slower);
    assert!(planted.differences.iter().any(|of| of.what == "stack `plain`" && of.b == "lvm, ext4"), "{planted:?}");
    let cells: Vec<_> = planted.cells.iter().filter(|cell| cell.name == "plain").collect();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        let ratio = cell.ratio.unwrap();
        eprintln!("with LVM, {}: {:.4} {:?} {:?}", cell.workload, ratio.value, cell.verdict, cell.changes);
        // What a mapping costs is of each operation: of one of 1 MiB it is less than a per cent.
        let small = cell.workload == "small";
        let slower = cell.verdict == Some(Compared::Slower);
        assert!(slower || (!small && cell.verdict == Some(Compared::Equivalent)), "{cell:?}");
        assert!(!small || (ratio.high.unwrap() < 0.99 && !cell.changes.is_empty()), "{cell:?}");
    }
    bench.assert_nothing_left();
}

const PLAIN: &str = r#"layers = [{ ext4 = {}, on = "a" }]"#;
const PLAIN_ON_LVM: &str = r#"layers = [{ lvm = {}, on = "a" }, { ext4 = {} }]"#;

/// Bytes of large operations and count of small ones in a second, as docs/virtual-time.md has them.
#[test]
fn a_flash_drive_gives_what_it_is_told() {
    let bench = Bench::new();
    let study = ["run", "crates/bedplate/tests/studies/flash.toml", "--only", "3,4"];
    let output = bench.run(&[&study[..], &BRIEF].concat());
    assert!(output.status.success(), "{}", text(&output));
    let cells = RunReader::open(&bench.only_run()).unwrap().newest_cells().unwrap();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        let told = if cell.key.stack.starts_with("550") { (550e6, 67e3) } else { (1000e6, 120e3) };
        let is_large = cell.key.workload.starts_with("seq");
        let given = if is_large { reading.throughput().0 / told.0 } else { reading.iops().0 / told.1 };
        eprintln!("{:?}: {given:.3}", cell.key);
        assert!((given - 1.0).abs() < 0.08, "{:?}: {given}", cell.key);
    }
    bench.assert_nothing_left();
}

const DISKS: &str = r#"
question = "Is a hard disk in the guest as slow as its head?"
[lab]
drives = [
    { name = "slow", size = "256 MiB", kind = "hdd", outer = "100 MB/s", seek = "8 ms", cache = "1 MiB" },
    { name = "fast", size = "256 MiB", kind = "hdd", outer = "250 MB/s", seek = "8 ms", cache = "4 MiB" },
]
[measure]
span = "64 MiB"
[[stack]]
name = "bare"
layers = [{ bare = {}, on = "slow" }]
"#;

fn shell(guest: &Guest, script: &str) -> String {
    guest.run_ok(&Cmd::new(["bash", "-c", script]).limit(Nanos::seconds(120))).unwrap().text()
}

/// What fio took for all it read of a drive, by the machine's time.
fn took(guest: &Guest, drive: &str, job: &str) -> f64 {
    let node = &guest.drives()[&Name::new(drive).unwrap()];
    let line = format!("fio --name=x --filename={node} --direct=1 --ioengine=libaio --output-format=json {job}");
    let told: serde_json::Value = serde_json::from_str(&shell(guest, &line)).unwrap();
    let read = &told["jobs"][0]["read"];
    let seconds = read["io_bytes"].as_f64().unwrap() / read["bw_bytes"].as_f64().unwrap();
    seconds / guest.speed().expect("a virtual clock").factor()
}

/// What the head takes from each of these places to the next, without whoever asks.
fn head_takes(mechanics: &Mechanics, places: &[u64], len: u64) -> f64 {
    let (mut clock, mut head) = (Nanos(0), Bytes(places[0]));
    for place in places {
        let access = mechanics.access(clock, head, Bytes(*place));
        head = Bytes(place + len);
        clock = Nanos(clock.0 + access.0 + mechanics.transfer(Bytes(*place), head).0);
    }
    clock.as_seconds()
}

/// Seconds of 600 reads at random, and of a stretch in order on either drive; beside each what the head alone takes.
fn disks_take(bench: &Bench) -> [(f64, f64); 3] {
    let design = understood(DISKS);
    let guest = bench.boot_as_asked(&design);
    let mechanics = |drive: &str| {
        let drive = design.lab.drive(&Name::new(drive).unwrap()).unwrap();
        drive.spindle.unwrap().mechanics(drive.size)
    };
    let node = guest.drives()[&Name::new("slow").unwrap()].clone();
    let queue = format!("/sys/block/{}/queue", node.trim_start_matches("/dev/"));
    let told = shell(&guest, &format!("cd {queue} && cat rotational discard_max_bytes write_cache max_sectors_kb"));
    assert_eq!(told.lines().collect::<Vec<_>>(), ["1", "0", "write back", "1280"]);
    let found = host::inspect::drives(&guest).unwrap();
    let found = found.iter().find(|drive| drive.node() == node).unwrap();
    assert!(found.rotational && found.serial.as_deref() == Some("BP00-slow"), "{found:?}");

    let job = "--rw=randread --bs=4k --iodepth=1 --size=256M --io_size=2400k --norandommap --randrepeat=1 \
               --write_lat_log=/tmp/x --log_offset=1";
    let random = took(&guest, "slow", job);
    let log = shell(&guest, "cat /tmp/x_lat.1.log");
    // Time, latency, direction, length, place.
    let places: Vec<u64> = log.lines().map(|line| line.split(", ").nth(4).unwrap().trim().parse().unwrap()).collect();
    assert_eq!(places.len(), 600);
    let ordered = |drive| {
        let head = mechanics(drive).transfer(Bytes(0), Bytes::mib(64)).as_seconds();
        (took(&guest, drive, "--rw=read --bs=1m --iodepth=4 --size=64M"), head)
    };
    let slow = ordered("slow");
    [(random, head_takes(&mechanics("slow"), &places, 4096)), slow, ordered("fast")]
}

#[test]
fn a_hard_disk_in_the_guest_takes_as_long_as_its_head_and_repeats_itself() {
    let bench = Bench::new();
    let (first, second) = (disks_take(&bench), disks_take(&bench));
    // In order fio counts some hundred milliseconds in whole ones, and what it begins with is a part of them.
    for ((run, again), (repeats, most)) in
        first.iter().zip(&second).zip([(terms::record::REPEATS, 0.02), (0.02, 0.05), (0.02, 0.05)])
    {
        let ((taken, head), (other, _)) = (run, again);
        eprintln!("{taken:.4} s, {other:.4} s, the head {head:.4} s");
        assert!((other / taken - 1.0).abs() <= repeats, "{taken} {other}");
        assert!((taken / head - 1.0).abs() <= most, "{taken} {head}");
    }
    bench.assert_nothing_left();
}

#[test]
fn layers_on_hard_disks_are_measured_under_a_virtual_clock() {
    let bench = Bench::new();
    let path = bench.labs().with_file_name("disks.toml");
    let disks = STUDY.replace("\"ram\", size = \"128 MiB\"", "\"hdd\", size = \"96 MiB\", cache = \"1 MiB\"");
    let disks = disks.replace("\"10 ms\"", "\"300 ms\"").replace("\"100 ms\"", "\"600 ms\"");
    std::fs::write(&path, disks).unwrap();
    let output = bench.run(&["run", &path.to_string_lossy(), "--only", "mirror"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("clock: virtual, because all drives can be in the guest"), "{}", text(&output));
    let reader = RunReader::open(&bench.only_run()).unwrap();
    assert!(reader.provenance().has_virtual_clock());
    for cell in reader.newest_cells().unwrap() {
        let reading = cell.reading.unwrap_or_else(|| panic!("{:?}: {:?}", cell.key, cell.failure));
        let (moved, guards) = (reading.throughput().0 / 1e6, &cell.guards);
        eprintln!("{:?}: {moved:.2} MB/s {guards:?}", cell.key);
        assert!(cell.members.iter().all(|member| member.read.0 + member.written.0 > 0), "{:?}", cell.members);
    }
    bench.assert_nothing_left();
}

/// Nanoseconds of the machine for a byte of 4 KiB, as the kernel's own test of its ciphers counts cycles for an operation.
fn takes(guest: &Guest, mode: u32, driver: &str, line: &str) -> f64 {
    // The module never stays: its initialisation is the test, and ends with an error.
    let told = shell(guest, &format!("dmesg --clear; modprobe tcrypt mode={mode} 2> /dev/null; dmesg --notime"));
    let of_driver = told.split("testing speed of ").find(|part| part.lines().next().unwrap().contains(driver)).unwrap();
    let result = of_driver.lines().find(|told| told.contains(line)).unwrap().split_once("): ").unwrap().1;
    let word = result.trim_start_matches("1 operation in ").split_whitespace().next().unwrap();
    word.parse::<f64>().unwrap() / 4096.0 / guest.speed().expect("a virtual clock").factor()
}

/// What docs/virtual-time.md charges for ciphers follows from these.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn ciphers_and_hashes_take_instructions() {
    let bench = Bench::new();
    let guest = bench.boot_as_asked(&understood(DISKS));
    // A cycle of the guest's processor is a nanosecond of the guest's clock.
    let clock = shell(&guest, "dmesg --notime | sed -n 's/^tsc: Detected \\([0-9]*\\).* MHz processor$/\\1/p'");
    assert!(["999", "1000"].contains(&clock.trim()), "{clock}");
    let aes = takes(&guest, 500, "xts-aes-aesni", "(512 bit key, 4096 byte blocks)");
    let sha = takes(&guest, 404, "sha256-avx2", "( 4096 byte blocks, 4096 bytes per update,   1 updates)");
    eprintln!("AES-XTS {aes:.3} ns, SHA-256 {sha:.3} ns for a byte");
    for (taken, known) in [(aes, AES_XTS), (sha, SHA_256)] {
        assert!((taken / known - 1.0).abs() < 0.02, "{taken} {known}");
    }
    drop(guest);
    bench.assert_nothing_left();
}

/// Nanoseconds for a byte, as tests/evidence/published.rs has them.
const AES_XTS: f64 = 0.735;
const SHA_256: f64 = 9.82;
