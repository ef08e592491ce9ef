//! Two hosts behind one enclosure: drives of their own, work at the same time, and what each did.

use host::{Host, inspect};
use lab::Guest;
use terms::Cmd;

use crate::bench::{Bench, text};
use crate::places::shell;

/// Drives so slow that two emulated hosts can use them in full.
const STUDY: &str = r#"
    question = "Does a second host slow the first one down?"

    [lab]
    memory = "1 GiB"
    hosts = 2
    drives = [
        { name = "far", size = "64 MiB", kind = "nvme-tcp", read_iops = 100, write_iops = 100 },
        { name = "other", size = "64 MiB", kind = "nvme-tcp" },
        { name = "third", size = "64 MiB", kind = "nvme-tcp" },
        { name = "near", size = "64 MiB" },
    ]

    [[stack]]
    name = "far"
    layers = [{ ext4 = {}, on = "far" }]

    [[workload]]
    name = "alone"
    pattern = "randread"
    block = "4 KiB"
    jobs = 2
    depth = 2

    [[workload]]
    name = "both"
    pattern = "randread"
    block = "4 KiB"
    jobs = 2
    depth = 2
    hosts = 2

    [measure]
    rounds = 1
    anchor = "off"
    span = "16 MiB"
    settle = "500 ms"
    window = "3 s"
"#;

fn node<'a>(guest: &'a Guest, name: &str) -> &'a str {
    guest.drives().iter().find(|(known, _)| known.as_str() == name).unwrap().1
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn every_host_has_drives_that_no_other_host_can_reach() {
    let bench = Bench::alone();
    let (design, notes) = spec::parse(STUDY);
    let mut first = bench.boot(&design.unwrap_or_else(|| panic!("{notes:?}")));
    let others = first.take_others();
    assert_eq!((others.len(), bench.guests().len()), (1, 3), "two hosts and their enclosure");
    let second = &others[0];
    for name in ["far", "third", "near"] {
        shell(&first, &format!("printf first | dd of={} conv=fsync", node(&first, name)));
        shell(second, &format!("printf other | dd of={} conv=fsync", node(second, name)));
    }
    let begins = |guest: &Guest, name: &str| shell(guest, &format!("head -c 5 {}", node(guest, name)));
    for name in ["far", "third", "near"] {
        assert_eq!((begins(&first, name), begins(second, name)), ("first".to_owned(), "other".to_owned()), "{name}");
    }
    let serials = |guest: &Guest| -> Vec<String> {
        inspect::drives(guest).unwrap().into_iter().filter_map(|drive| drive.serial).collect()
    };
    assert!(serials(&first).iter().all(|serial| !serials(second).contains(serial)));
    let name = shell(&first, "cat /sys/class/nvme-subsystem/*/subsysnqn | grep bedplate | head -1");
    let argv = ["nvme", "connect", "--transport=tcp", "--traddr=10.0.1.1", "--trsvcid=4420", "--nqn", name.trim()];
    let id = shell(second, "cat /sys/class/nvme/*/hostid | head -1");
    let own = format!("nqn.2014-08.org.nvmexpress:uuid:{}", id.trim());
    let refused =
        second.run(&Cmd::new(argv.iter().copied().chain(["--hostnqn", &own, "--hostid", id.trim()]))).unwrap();
    assert!(!refused.ok(), "the second host connected to the first one's drive");
    drop((first, others));
    bench.assert_nothing_left();
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn hosts_that_work_at_once_are_distinguished_and_added_up() {
    let bench = Bench::alone();
    let directory = tempfile::tempdir().unwrap();
    let study = directory.path().join("study.toml");
    std::fs::write(&study, STUDY).unwrap();
    let output = bench.run(&["run", &study.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let cells = record::RunReader::open(&bench.only_run()).unwrap().newest_cells().unwrap();
    let cell = |name: &str| cells.iter().find(|cell| cell.key.workload == name).unwrap();
    let (alone, both) = (cell("alone"), cell("both"));
    assert!(both.failure.is_none() && alone.hosts.is_empty(), "{:?}", both.failure);
    let operations: Vec<u64> = both.hosts.iter().map(|of| of.reading.read.as_ref().unwrap().operations).collect();
    let whole = both.reading.as_ref().unwrap().read.as_ref().unwrap();
    assert_eq!((operations.len(), operations.iter().sum::<u64>()), (2, whole.operations));
    assert!(operations.iter().all(|operations| *operations > 0) && both.jobs.len() == 4, "{operations:?}");
    let moved = |name: &str| both.members.iter().find(|member| member.drive == name).map_or(0, |of| of.read.0);
    assert!(moved("far") > 0 && moved("far of host 2") > 0, "{:?}", both.members);
    assert!(both.hosts.iter().all(|of| of.samples.len() > 10 && of.samples.iter().any(|at| at.latency.is_some())));
    assert!(both.argv.iter().filter(|word| word.starts_with("--client=")).count() == 2, "{:?}", both.argv);
    assert!(text(&output).contains("Several hosts at once"), "{}", text(&output));
    bench.assert_nothing_left();
}
