//! Hard disks: slower at random than in order, sorted by the drive, kept where somebody flushed.

use host::Host;
use terms::{Cmd, Name, Nanos};

use crate::bench::Bench;

const STUDY: &str = r#"
    question = "Does it seek?"
    [lab]
    clock = "real"
    drives = [{ name = "a", size = "512 MiB", kind = "hdd", outer = "60 MB/s", cache = "4 MiB" }]
    [measure]
    span = "64 MiB"
    [[stack]]
    name = "bare"
    layers = [{ bare = {}, on = "a" }]
    "#;

fn shell(guest: &dyn Host, script: &str) -> String {
    guest.run_ok(&Cmd::new(["bash", "-c", script]).limit(Nanos::seconds(120))).unwrap().text()
}

/// Operations in a second on the bare drive.
fn rate(guest: &dyn Host, node: &str, job: &str) -> f64 {
    let line = format!(
        "fio --name=x --filename={node} --direct=1 --ioengine=libaio --randrepeat=1 --time_based --ramp_time=1 \
         --runtime=5 --output-format=json {job}"
    );
    let told: serde_json::Value = serde_json::from_str(&shell(guest, &line)).unwrap();
    let job = &told["jobs"][0];
    let rate = job["read"]["iops"].as_f64().unwrap() + job["write"]["iops"].as_f64().unwrap();
    println!("{rate:9.1} a second: {line}");
    rate
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_hard_disk_seeks_sorts_and_keeps_what_was_flushed() {
    let bench = Bench::alone();
    let design = crate::bench::understood(STUDY);
    let kept = tempfile::tempdir_in(bench.labs().parent().unwrap()).unwrap();
    let guest = bench.boot_as_asked(&design);
    let node = guest.drives()[&Name::new("a").unwrap()].clone();
    let name = node.trim_start_matches("/dev/").to_owned();
    let queue = |key: &str| shell(&guest, &format!("cat /sys/block/{name}/queue/{key}")).trim().to_owned();
    assert_eq!((queue("rotational").as_str(), queue("discard_max_bytes").as_str()), ("1", "0"));
    assert_eq!(queue("write_cache"), "write back");
    let found = host::inspect::drives(&guest).unwrap();
    let found = found.iter().find(|drive| drive.node() == node).unwrap();
    assert!(found.rotational && found.transport == terms::DriveTransport::Sata, "{found:?}");

    let ordered = rate(&guest, &node, "--rw=read --bs=64k --iodepth=4") * 16.0;
    let alone = rate(&guest, &node, "--rw=randread --bs=4k --iodepth=1");
    let sorted = rate(&guest, &node, "--rw=randread --bs=4k --iodepth=32");
    let written = rate(&guest, &node, "--rw=randwrite --bs=4k --iodepth=1");
    let flushed = rate(&guest, &node, "--rw=randwrite --bs=4k --iodepth=1 --fsync=1");
    // Relations alone: in order is far above at random, a full queue above one, a cache above flushes.
    assert!(alone * 10.0 < ordered && alone * 1.2 < sorted && flushed < written, "{alone} {ordered} {sorted}");

    // 64 MiB that are flushed, and then some that are not.
    let sum = |guest: &dyn Host, node: &str| {
        shell(guest, &format!("dd if={node} bs=1M count=64 iflag=direct status=none | sha256sum"))
    };
    shell(&guest, &format!("dd if=/dev/urandom of={node} bs=1M count=64 oflag=direct conv=fsync status=none"));
    let before = sum(&guest, &node);
    assert_eq!(sum(&guest, &node), before);
    // Elsewhere, so many that the head is still at them when the power goes.
    let write = format!("dd if=/dev/urandom of={node} bs=4k count=1 oflag=direct conv=notrunc status=none");
    shell(&guest, &format!("for at in $(seq 40); do {write} seek=$((20000 + at * 256)); done"));
    guest.cut_power(kept.path()).unwrap();

    let guest = bench.boot_from(&design, Some(kept.path()));
    let node = guest.drives()[&Name::new("a").unwrap()].clone();
    assert_eq!(sum(&guest, &node), before, "what was flushed is there");
    drop(guest);
    bench.assert_nothing_left();
}
