//! A machine that is as fast as the model says with certain constants gives those constants back.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

use std::sync::{Arc, Mutex};

use build::Bindings;
use calibrate::{Means, calibrate, is_whole};
use fake::FakeMachine;
use model::{Conditions, Parameter, Site, predict};
use terms::calibration::{COUNTED_PROCESSOR, Calibration, Fingerprint, MeasuredConstant};
use terms::layer::{
    Bitmap, Btrfs, Crypt, CryptFlags, Ext4, Integrity, IntegrityMode, Lvm, Raid, RaidLevel, Zfs, ZfsCache,
};
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::workload::{Engine, FioKey};
use terms::{Bytes, Layer, LayerNode, Name, Nanos, Pattern, Ref, Stack, Workload};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn stack(layer: Layer, drives: usize) -> Stack {
    let on = (0..drives).map(|at| Ref::Drive(name(&format!("r{at}")))).collect();
    let node = LayerNode { name: name("layer0"), layer, on, special: Vec::new() };
    Stack { name: "calibration".to_owned(), note: None, nodes: vec![node] }
}

/// What a step builds; its second stack where it has one.
fn built(step: &str, second: bool) -> Stack {
    let crypt = |inline: bool, sector| {
        let flags = CryptFlags {
            same_cpu_crypt: inline,
            submit_from_crypt_cpus: inline,
            no_read_workqueue: inline,
            no_write_workqueue: inline,
        };
        Layer::Crypt(Crypt { sector, flags, ..Crypt::default() })
    };
    let tags = |mode, sector| Layer::Integrity(Integrity { mode, sector, ..Integrity::default() });
    let raid_of = |level| Raid { level, bitmap: Bitmap::None, assume_clean: true, ..Raid::default() };
    let (block, sector) = (Bytes::kib(4), Bytes(512));
    match step {
        "dm-crypt, inline" => stack(crypt(true, block), 1),
        "dm-crypt, sectors of 512 B" => stack(crypt(true, sector), 1),
        "dm-crypt, workers" => stack(crypt(false, block), 1),
        "files" => stack(Layer::Ext4(Ext4::default()), 1),
        "dm-integrity, no journal" => stack(tags(IntegrityMode::NoJournal, block), 1),
        "dm-integrity, journal" => stack(tags(IntegrityMode::Journal, if second { sector } else { block }), 1),
        "RAID-1" => stack(Layer::Raid(raid_of(RaidLevel::Raid1)), 2),
        "RAID-5" => stack(Layer::Raid(Raid { chunk: Bytes::kib(64), ..raid_of(RaidLevel::Raid5) }), 3),
        "LVM" => stack(Layer::Lvm(Lvm::default()), 1),
        "btrfs" => stack(Layer::Btrfs(Btrfs::default()), 1),
        "ZFS" => {
            let primarycache = if second { ZfsCache::Metadata } else { ZfsCache::All };
            stack(Layer::Zfs(Zfs { primarycache, ..Zfs::default() }), 3)
        }
        _ => stack(Layer::Bare, 1),
    }
}

/// The value of a key of a job file.
fn of<'t>(job: &'t str, key: &str) -> Option<&'t str> {
    job.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

fn workload(job: &str) -> Workload {
    let number = |key| of(job, key).and_then(|text| text.parse().ok()).unwrap_or(1);
    let pattern = match of(job, "rw").unwrap() {
        "read" => Pattern::Read,
        "write" => Pattern::Write,
        "randread" => Pattern::RandRead,
        _ => Pattern::RandWrite,
    };
    let engine = if of(job, "ioengine") == Some("psync") { Engine::Psync } else { Engine::default() };
    let work = Workload::new(name("point"), pattern, Bytes(u64::from(number("bs"))));
    let size = of(job, "size").map(|value| FioKey { key: "size".to_owned(), value: value.to_owned() });
    let work = Workload { keys: size.into_iter().collect(), ..work };
    Workload { depth: number("iodepth"), jobs: number("numjobs"), engine, ..work }
}

/// What fio says of so many operations per second.
fn said(work: &Workload, operations: f64, bytes: u64) -> String {
    let busy = f64::from(work.jobs) * f64::from(work.depth) / operations * 1e9;
    let flow = |counts: bool| {
        let (io, total) = if counts { (bytes, (bytes / work.block.0).max(1)) } else { (0, 0) };
        let iops = if counts { operations } else { 0.0 };
        serde_json::json!({
            "io_bytes": io, "bw_bytes": iops as u64 * work.block.0, "iops": iops, "runtime": 1000, "total_ios": total,
            "clat_ns": { "mean": busy, "max": busy as u64, "percentile": {} },
        })
    };
    let reads = matches!(work.pattern, Pattern::Read | Pattern::RandRead);
    let job = serde_json::json!({ "jobname": "point", "error": 0, "read": flow(reads), "write": flow(!reads), "usr_cpu": 20.0, "sys_cpu": 30.0 });
    serde_json::json!({ "fio version": "fio-3.33", "jobs": [job] }).to_string()
}

/// A machine with two processors and three RAM drives.
fn machine() -> (FakeMachine, Bindings) {
    let machine = FakeMachine::throwaway();
    machine.line("modprobe zfs");
    let drives = (0..3).map(|at| (name(&format!("r{at}")), machine.ram(Bytes::mib(192)))).collect();
    let rates = r#"{"copied_bytes_per_second":2e10,"xored_bytes_per_second":8e9,"sha256_bytes_per_second":1e9}"#;
    machine.answer("exec /proc/$PPID/exe rates", Arc::new(move |_: &[String], _: &[u8]| rates.as_bytes().to_vec()));
    (machine, drives)
}

/// The model with these constants, on RAM drives.
fn site(machine: &FakeMachine, calibration: &Calibration) -> Site {
    let found = model::found(&host::inspect::examine(machine).unwrap());
    let drives = (0..3).map(|at| DriveGroup::unknown(name(&format!("r{at}")), DriveKind::Ram)).collect();
    Site::calibrated(&Machine { drives, uplinks: Vec::new(), ..found }, calibration)
}

fn means(ram: Bindings, seconds: f64) -> Means {
    Means {
        ram,
        own_drive: None,
        seconds,
        window: Nanos::millis(10),
        at: "2020-01-01T00:00:00Z".to_owned(),
        build: "x".to_owned(),
    }
}

const HIDDEN: [(Parameter, f64); 8] = [
    (Parameter::CpuFactor, 1.5),
    (Parameter::CryptReadByte, 1.4),
    (Parameter::CryptWriteByte, 0.8),
    (Parameter::NoJournalReadByte, 1.3),
    (Parameter::NoJournalWriteByte, 1.6),
    (Parameter::LinearRead, 1.7),
    (Parameter::BtrfsReadByte, 1.5),
    (Parameter::MirrorWrite, 1.5),
];

/// A figure that a step asked for, and what the machine gave.
type Asked = (Stack, Workload, f64);

/// What is learned of a machine whose constants are so many times the usual; the machine as it is, and what was asked.
fn learned(machine: &FakeMachine, drives: Bindings, hidden: &[(Parameter, f64)]) -> (Site, Calibration, Vec<Asked>) {
    let inventory = host::inspect::examine(machine).unwrap();
    let nothing = Calibration::begun(String::new(), String::new(), Fingerprint::of(&inventory));
    let usual = site(machine, &nothing);
    let constant = |(parameter, factor): &(Parameter, f64)| MeasuredConstant {
        key: parameter.key().to_owned(),
        value: usual.parameters.get(*parameter) * factor,
        sigma: 0.0,
        origin: String::new(),
    };
    let truth = site(machine, &Calibration { constants: hidden.iter().map(constant).collect(), ..nothing });
    // Which step asks, and how often it filled something.
    let now = Arc::new(Mutex::new((String::new(), 0)));
    let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let (step, points, true_site) = (Arc::clone(&now), Arc::clone(&asked), truth.clone());
    machine.answer(
        "fio",
        Arc::new(move |_: &[String], job: &[u8]| {
            let job = String::from_utf8_lossy(job).into_owned();
            if job.is_empty() {
                return b"fio-3.33\n".to_vec();
            }
            let work = workload(&job);
            let mut step = step.lock().unwrap();
            if of(&job, "time_based").is_none() && !job.lines().any(|line| line == "time_based") {
                step.1 += 1;
                return said(&work, 1000.0, 1 << 30).into_bytes();
            }
            let stack = built(&step.0, step.1 > 1);
            let operations = predict(&true_site, &stack, &work, &Conditions::default()).unwrap().operations.value;
            points.lock().unwrap().push((stack, work.clone(), operations));
            said(&work, operations, 1 << 30).into_bytes()
        }),
    );
    let told = |name: &str, step: Option<&_>| {
        if step.is_none() {
            *now.lock().unwrap() = (name.to_owned(), 0);
        }
    };
    let learned = calibrate(machine, &means(drives, 1e6), &told).unwrap();
    let asked = asked.lock().unwrap().clone();
    (truth, learned, asked)
}

#[test]
fn constants_that_a_machine_has_are_given_back() {
    let (machine, drives) = machine();
    let (truth, learned, asked) = learned(&machine, drives, &HIDDEN);
    let failed: Vec<_> = learned.steps.iter().filter(|step| !step.done).map(|step| (&step.name, &step.found)).collect();
    assert!(failed.iter().all(|(name, _)| *name == "drives, read only"), "{failed:#?}");
    assert!(!is_whole(&learned), "there were no drives to read");
    // With what was learned the model says what was measured.
    let again = site(&machine, &learned);
    assert!(asked.len() > 30, "{}", asked.len());
    let off = |(stack, work, was): &Asked| {
        let now = predict(&again, stack, work, &Conditions::default()).unwrap().operations.value;
        (now / was).max(was / now)
    };
    let far: Vec<String> = asked
        .iter()
        .filter(|one| off(one) > 1.2)
        .map(|one| format!("{} {:?} {}: {:.2}", one.0.nodes[0].layer.title(), one.1.pattern, one.1.block, off(one)))
        .collect();
    assert!(far.len() * 8 < asked.len(), "{} of {}: {far:#?}", far.len(), asked.len());
    for (parameter, _) in HIDDEN.iter().filter(|(parameter, _)| parameter.key().ends_with("Byte")) {
        let (is, was) = (again.parameters.get(*parameter), truth.parameters.get(*parameter));
        assert!((0.8..1.25).contains(&(is / was)), "{}: {is:e}, and it is {was:e}", parameter.key());
    }
    // Nothing was left on the drives.
    let told = machine.shape();
    assert!(!told.contains("dm-") && !told.contains("md1"), "{told}");
}

/// Of writes to records that are dirty nearly all of the time, one in 32 is the first of its record.
#[test]
fn what_a_write_to_a_record_takes_is_told_by_a_guest_whose_instructions_are_counted() {
    let (machine, drives) = machine();
    machine.put_file("/proc/cpuinfo", &format!("processor : 0\nmodel name : {COUNTED_PROCESSOR}\nflags : aes"));
    machine.put_file("/sys/class/dmi/id/sys_vendor", "QEMU");
    let usual = |parameter: Parameter| model::parameter::TABLE[parameter as usize].value;
    let first = usual(Parameter::ZfsWriteAgain) / usual(Parameter::ZfsWriteIo);
    let hidden = [(Parameter::ZfsWriteAgain, 2.0), (Parameter::ZfsWriteIo, 2.0 * first)];
    let (truth, learned, _) = learned(&machine, drives, &hidden);
    let again = site(&machine, &learned);
    for (parameter, _) in hidden {
        let (is, was) = (again.parameters.get(parameter), truth.parameters.get(parameter));
        assert!((0.97..1.03).contains(&(is / was)), "{}: {is:e}, and it is {was:e}", parameter.key());
    }
}

#[test]
fn where_nothing_can_be_measured_it_is_said_why() {
    // No RAM drives and too little memory for some, no cipher.
    let machine = FakeMachine::new();
    machine.without("cryptsetup");
    machine.put_file("/proc/meminfo", "MemTotal: 100000 kB");
    let learned = calibrate(&machine, &means(Bindings::new(), 1e6), &|_, _| ()).unwrap();
    let found = |name: &str| learned.steps.iter().find(|step| step.name == name).unwrap().found.clone();
    assert!(found("layers on RAM drives").contains("too few for RAM drives"), "{}", found("layers on RAM drives"));
    assert!(found("drives, read only").contains("no drives"), "{}", found("drives, read only"));
    assert!(
        learned.constants.is_empty() && learned.steps.iter().skip(1).all(|step| !step.done),
        "{:#?}",
        learned.steps
    );
}

#[test]
fn ram_drives_that_are_made_for_it_go_with_it() {
    let machine = FakeMachine::new();
    machine.line("mkdir /mnt/bedplate");
    let before = machine.shape();
    machine.without("fio");
    let learned = calibrate(&machine, &means(Bindings::new(), 1e6), &|_, _| ()).unwrap();
    assert!(machine.deeds().iter().any(|deed| deed.starts_with("modprobe brd")) && machine.shape() == before);
    assert!(learned.steps.iter().any(|step| step.name == "RAID-1" && !step.done));
    // Those of somebody else are left alone.
    machine.line("modprobe brd rd_nr=1");
    let learned = calibrate(&machine, &means(Bindings::new(), 0.0), &|_, _| ()).unwrap();
    assert!(learned.steps.iter().any(|step| step.found.contains("no time")), "{:#?}", learned.steps);
    let why = learned.steps.iter().find(|step| step.name == "layers on RAM drives").unwrap();
    assert!(why.found.contains("somebody's"), "{}", why.found);
    assert!(machine.shape().contains("ram0"));
}

#[test]
fn drives_that_hold_nothing_say_nothing_and_others_are_read() {
    let machine = FakeMachine::throwaway();
    machine.put_file("/proc/meminfo", "MemTotal: 100000 kB");
    let [own, full, _empty] = [(); 3].map(|()| machine.nvme(Bytes::mib(64), Bytes(512)));
    machine.poke(&full, 0, &vec![1; 64 << 20]);
    let before = machine.now_is();
    let fio = Arc::new(|_: &[String], job: &[u8]| match String::from_utf8_lossy(job) {
        job if job.is_empty() => b"fio-3.33\n".to_vec(),
        job => said(&workload(&job), 50_000.0, 1 << 30).into_bytes(),
    });
    machine.answer("fio", fio);
    let means = Means { own_drive: Some(own), ..means(Bindings::new(), 1e6) };
    let learned = calibrate(&machine, &means, &|_, _| ()).unwrap();
    let found = &learned.steps.iter().find(|step| step.name == "drives, read only").unwrap().found;
    assert!(found.contains("nvme2n1 left out: 32 of 32 places hold nothing"), "{found}");
    // Only the one that is for it is written.
    let writes: Vec<bool> = learned.drives.iter().map(|drive| drive.rated.write.is_some()).collect();
    assert_eq!(writes, [true, false], "{found}");
    assert!(machine.holds_the_same(&full, &before));
    assert!(learned.constants.iter().any(|constant| constant.key == Parameter::NvmeIo.key()), "{found}");
}
