//! Drives: which may be written, and setting them up.

use build::{Authority, BuildError, Journal, JournalEntry, MemoryJournal, Prerequisites};
use fake::{FakeFault, FakeMachine};
use host::Host;
use terms::plan::{Act, Condition, Word, WorkPlace};
use terms::{Bytes, Cmd, DriveSetup, Name, Nanos, Plan};

use crate::real::{built, down};
use crate::yard::{EVERY_LAYER, Yard, apply};

fn refused(result: Result<impl Sized, BuildError>, wanted: fn(&BuildError) -> bool) -> String {
    let error = result.err().unwrap();
    assert!(wanted(&error), "{error:?}");
    error.to_string()
}

#[test]
fn drives_of_a_lab_that_hold_or_serve_anything_are_refused_and_keep_every_byte() {
    let held: [(&str, &[&str]); 9] = [
        ("ext4", &["mkfs.ext4 -q {}"]),
        ("xfs", &["mkfs.xfs -q {}"]),
        ("LVM2_member", &["pvcreate {}"]),
        ("crypto_LUKS", &["cryptsetup luksFormat --uuid 1-2 {}"]),
        ("DM_integrity", &["integritysetup format {}"]),
        ("bcache", &["make-bcache --cache {}"]),
        ("gpt", &["parted --script {} mklabel gpt mkpart x 1MiB 100%"]),
        ("mounted at", &["mkfs.ext4 -q {}", "mkdir /mnt/x", "mount {} /mnt/x"]),
        ("linux_raid_member", &["mdadm --create /dev/md/x --level=1 --raid-devices=2 {} /dev/nvme1n1"]),
    ];
    for (kind, lines) in held {
        let yard = Yard::lab(EVERY_LAYER);
        lines.iter().for_each(|line| drop(yard.machine.line(&line.replace("{}", yard.node("a")))));
        let before = yard.machine.now_is();
        let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
        let result = apply(yard.plan("LUKS with defaults"), &authority, &[], &mut MemoryJournal::default());
        let told = refused(result, |error| error.is_refusal() && matches!(error, BuildError::NotBlank { .. }));
        assert!(told.contains(kind), "{kind}: {told}");
        assert!(yard.machine.holds_the_same(yard.node("a"), &before), "{kind}");
    }
}

/// `blkid` and `wipefs` know nothing of it, and in a lab nobody looks for data that has no signature.
#[test]
fn a_cache_with_somebodys_writes_is_not_cleared_for_a_new_one() {
    let yard = Yard::lab(EVERY_LAYER);
    yard.machine.poke(yard.node("c"), 0, &0x2348_9321_u32.to_le_bytes());
    let before = yard.machine.now_is();
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let plan = yard.plan("dm-writecache on a mirror");
    let result = apply(plan, &authority, &[], &mut MemoryJournal::default());
    let told = refused(result, |error| error.is_refusal() && matches!(error, BuildError::NotBlank { .. }));
    assert!(told.contains("the cache of a dm-writecache"), "{told}");
    assert!(yard.drives.values().all(|node| yard.machine.holds_the_same(node, &before)));
}

#[test]
fn nobody_writes_to_drives_that_nobody_agreed_to_lose() {
    let yard = Yard::real(EVERY_LAYER);
    refused(Authority::lab(&yard.machine, &yard.drives), |error| matches!(error, BuildError::NotThrowaway { .. }));
    refused(Authority::memory(&yard.machine, &yard.drives), |error| matches!(error, BuildError::NotThrowaway { .. }));
    let plan = yard.plan("bare NVMe");
    let none = build::Claims::new();
    let authority = Authority::held(&yard.machine, &none);
    let no = |error: &BuildError| matches!(error, BuildError::NotConsented { .. }) && error.is_refusal();
    refused(apply(plan, &authority, &[], &mut MemoryJournal::default()), no);
    refused(authority.bare(&plan.drives[0]), no);
    let claims = yard.claims(plan);
    let authority = Authority::held(&yard.machine, &claims);
    let never = |error: &BuildError| matches!(error, BuildError::NotThrowaway { .. });
    refused(authority.slice(&plan.drives[0], 16, 2), never);
    refused(authority.unslice(&plan.drives[0]), never);
    assert_eq!(authority.bare(&plan.drives[0]).unwrap().place(), &WorkPlace::Device(yard.node("a").to_owned()));
    refused(authority.writable(yard.node("b")), BuildError::is_refusal);
    assert!(yard.machine.deeds().len() == 2, "{:?}", yard.machine.deeds());
    // RAM drives of the kernel's go with it, on a machine of any kind.
    let ram =
        yard.drives.iter().filter(|(name, _)| name.as_str() == "r").map(|(name, node)| (name.clone(), node.clone()));
    let ram = ram.collect();
    let authority = Authority::memory(&yard.machine, &ram).unwrap();
    assert_eq!(authority.drives(), &ram);
    apply(yard.plan("ext4 on RAM"), &authority, &[], &mut MemoryJournal::default()).unwrap();
}

#[test]
fn a_drive_is_cut_into_slices_and_whole_again() {
    let yard = Yard::lab(EVERY_LAYER);
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let [a, other] = ["a", "zz"].map(|name| Name::new(name).unwrap());
    let shape = yard.machine.shape();
    authority.slice(&a, 16, 3).unwrap();
    for number in 1..=3 {
        let sectors = yard.machine.read_text(&format!("/sys/class/block/nvme0n1p{number}/size")).unwrap();
        assert_eq!(sectors, (Bytes::mib(16).0 / 512).to_string());
    }
    refused(authority.bare(&a), |error| matches!(error, BuildError::NotBlank { .. }));
    authority.unslice(&a).unwrap();
    assert_eq!(yard.machine.shape(), shape);
    refused(authority.slice(&other, 16, 3), |error| matches!(error, BuildError::NotConsented { .. }));
    let s = Name::new("s").unwrap();
    assert!(authority.discard(&a).unwrap() && !authority.discard(&s).unwrap(), "SATA drives here cannot");
}

fn prepared(yard: &Yard) -> Plan {
    let name = |text: &str| Name::new(text).unwrap();
    let format = |index, data, in_use| terms::inventory::LbaFormat {
        index,
        data: Bytes(data),
        metadata: Bytes(0),
        relative_performance: 0,
        in_use,
    };
    let drive = |drive: &str, transport: terms::DriveTransport| plan::PreparedDrive {
        name: name(drive),
        transport,
        formats: vec![format(0, 512, false), format(1, 4096, true)],
        format_takes_all: false,
        sanitize: vec![terms::design::Sanitize::BlockErase],
        shares_controller: false,
        cache_on: Some(true),
    };
    let setup = |drive: &str| DriveSetup {
        name: name(drive),
        lba: None,
        write_cache: Some(false),
        scheduler: Some("mq-deadline".to_owned()),
        sanitize: None,
    };
    let nvme = DriveSetup { lba: Some(Bytes(512)), sanitize: Some(terms::design::Sanitize::BlockErase), ..setup("a") };
    assert!(yard.drives.contains_key(&name("a")));
    plan::prepare(
        &[nvme, setup("s")],
        &[drive("a", terms::DriveTransport::Nvme), drive("s", terms::DriveTransport::Sata)],
    )
    .unwrap()
    .unwrap()
}

#[test]
fn drives_are_set_up_side_by_side_and_put_back() {
    for real in [false, true] {
        let yard = if real { Yard::real(EVERY_LAYER) } else { Yard::lab(EVERY_LAYER) };
        let plan = prepared(&yard);
        let claims = if real { yard.claims(&plan) } else { build::Claims::new() };
        let authority = if real {
            Authority::held(&yard.machine, &claims)
        } else {
            Authority::lab(&yard.machine, &yard.drives).unwrap()
        };
        let before = yard.machine.shape();
        let mut journal = MemoryJournal::default();
        journal.0.extend(real.then(|| yard.begin(&plan)));
        let built = apply(&plan, &authority, &[], &mut journal).unwrap();
        assert_eq!(built.changed, plan.steps.len());
        let now = yard.machine.shape();
        for wanted in ["nvme0n1 536870912 512", "nvme0n1 cache false", "sda cache false", "[mq-deadline]"] {
            assert!(now.contains(wanted), "{wanted} in\n{now}");
        }
        let past = journal.0.clone();
        assert_eq!(apply(&plan, &authority, &past, &mut journal).unwrap().changed, 0);
        let past = journal.0.clone();
        build::teardown(&plan, &authority, &past, &mut journal).unwrap();
        // A setting that was written stands in a line of its own, also where it is what it was.
        let without =
            |shape: &str| shape.lines().map(|line| line.split(" {").next().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(without(&yard.machine.shape()), without(&before));
        for name in ["nvme0n1", "sda"] {
            assert!(
                yard.machine.read_text(&format!("/sys/block/{name}/queue/scheduler")).unwrap().starts_with("[none]")
            );
        }
    }
}

/// Exchanges the drive of a step when the step is written down, and keeps what that drive was set to then.
struct Exchanging<'a> {
    yard: &'a Yard,
    step: &'a str,
    was: Vec<String>,
}

impl<'a> Exchanging<'a> {
    fn before(yard: &'a Yard, step: &'a str) -> Self {
        Self { yard, step, was: Vec::new() }
    }

    fn drive(&self) -> &'a str {
        self.yard.node(self.step.split('.').next().unwrap())
    }

    /// Block, cache and scheduler of the drive.
    fn is(&self) -> Vec<String> {
        let name = self.drive().trim_start_matches("/dev/");
        self.yard.machine.shape().lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
    }
}

impl Journal for Exchanging<'_> {
    fn note(&mut self, entry: &JournalEntry) -> std::io::Result<()> {
        let (JournalEntry::Before { step, .. } | JournalEntry::Undoing { step, .. }) = entry else { return Ok(()) };
        if step == self.step && self.was.is_empty() {
            self.yard.machine.swap_drive(self.drive());
            self.was = self.is();
        }
        Ok(())
    }
}

/// Another drive that comes under the name between the journal and the deed keeps its block, its cache and its scheduler.
#[test]
fn no_setting_reaches_a_drive_that_was_exchanged_before_it() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = prepared(&yard);
    let start = yard.machine.now_is();
    let past = built(&yard, &plan);
    let set = yard.machine.now_is();
    for step in ["a.format", "a.write-cache", "a.scheduler", "s.write-cache", "s.scheduler"] {
        for puts_back in [false, true] {
            let yard = yard.at(if puts_back { &set } else { &start });
            let mut journal = Exchanging::before(&yard, step);
            let error = if puts_back {
                let claims = yard.reclaimed(&plan, &past, false);
                build::teardown(&plan, &Authority::held(&yard.machine, &claims), &past, &mut journal).unwrap_err()
            } else {
                let claims = yard.claims(&plan);
                apply(&plan, &Authority::held(&yard.machine, &claims), &[], &mut journal).unwrap_err()
            };
            assert!(!journal.was.is_empty() && journal.is() == journal.was, "{step}, puts back {puts_back}: {error}");
        }
    }
}

/// What a drive is set to is not forgotten while nobody finds it.
#[test]
fn a_setting_of_a_drive_that_is_not_to_be_found_is_put_back_when_it_is() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = prepared(&yard);
    let mut journal = MemoryJournal(built(&yard, &plan));
    let scheduler = || yard.machine.read_text("/sys/block/sda/queue/scheduler").unwrap();
    let mut down = |yard: &Yard, is_found: bool| {
        let past = journal.0.clone();
        let mut claims = yard.reclaimed(&plan, &past, false);
        claims.retain(|name, _| is_found || name.as_str() != "s");
        build::teardown(&plan, &Authority::held(&yard.machine, &claims), &past, &mut journal)
    };
    let error = down(&yard, false).unwrap_err();
    assert!(matches!(error, BuildError::DriveAbsent { .. }) && scheduler().contains("[mq-deadline]"), "{error}");
    down(&yard, true).unwrap();
    assert!(scheduler().starts_with("[none]"), "{}", scheduler());
}

#[test]
fn blocks_are_not_put_back_to_their_size_under_data_that_has_no_signature() {
    let yard = Yard::real(EVERY_LAYER);
    let plan = prepared(&yard);
    let past = built(&yard, &plan);
    yard.machine.poke(yard.node("a"), 1 << 20, &[1; 4096]);
    let before = yard.machine.now_is();
    refused(down(&yard, &plan, &past, false), BuildError::is_refusal);
    assert!(yard.machine.holds_the_same(yard.node("a"), &before), "a format would have taken it");
}

#[test]
fn a_drive_that_did_not_forget_is_told() {
    let yard = Yard::lab(EVERY_LAYER);
    let mut plan = prepared(&yard);
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let shorten = |limit: Nanos, plan: &mut Plan| {
        for step in &mut plan.steps {
            if let Act::Wait(Condition::Sanitized { limit_ns, .. }) = &mut step.act {
                *limit_ns = limit;
            }
        }
    };
    shorten(Nanos(0), &mut plan);
    let told = refused(apply(&plan, &authority, &[], &mut MemoryJournal::default()), |error| {
        matches!(error, BuildError::Timeout { .. })
    });
    assert!(told.contains("to be sanitized"), "{told}");
    shorten(Nanos::seconds(60), &mut plan);
    yard.machine.sanitizing_ends_with("/dev/nvme0n1", 3);
    let told = refused(apply(&plan, &authority, &[], &mut MemoryJournal::default()), |error| {
        matches!(error, BuildError::NotSanitized { .. })
    });
    assert!(told.contains("did not succeed"), "{told}");
}

#[test]
fn what_is_there_and_not_ours_is_never_built_over() {
    let yard = Yard::lab(EVERY_LAYER);
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    let plan = yard.plan("plain dm-crypt");
    yard.machine.line(&format!("cryptsetup open --type plain {} bp-plain-dm-crypt-crypt", yard.node("b")));
    let error = apply(plan, &authority, &[], &mut MemoryJournal::default()).unwrap_err();
    assert!(matches!(error, BuildError::AlreadyThere { .. }) && error.is_refusal(), "{error}");
    yard.machine.line("cryptsetup close bp-plain-dm-crypt-crypt");
    // A setting is one of the kernel's, and not a file of somebody's.
    let mut plan = yard.plan("RAID-1 and RAID-0 on partitions of the same drives").clone();
    for step in &mut plan.steps {
        if step.id == "lvm.label-safe" {
            step.act = Act::Write { path: Word::from("/sys/../etc/passwd"), text: "x".to_owned() };
        }
    }
    yard.machine.put_file("/etc/passwd", "root");
    let no_setting = |error: &BuildError| matches!(error, BuildError::Rollback { cause, .. } if matches!(**cause, BuildError::NoSetting { .. }));
    refused(apply(&plan, &authority, &[], &mut MemoryJournal::default()), no_setting);
    assert_eq!(yard.machine.read_text("/etc/passwd").unwrap(), "root");
}

#[test]
fn an_effect_that_does_not_come_is_no_success() {
    let yard = Yard::lab(EVERY_LAYER);
    let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
    yard.machine.fault(1, FakeFault::Nothing);
    let told = refused(apply(yard.plan("XFS on RAID-0"), &authority, &[], &mut MemoryJournal::default()), |error| {
        matches!(error, BuildError::NoEffect { .. })
    });
    assert!(told.contains("/dev/md/bp-xfs-on-raid-0-raid"), "{told}");
}

#[test]
fn what_is_missing_is_told_with_what_brings_it() {
    let yard = Yard::lab(EVERY_LAYER);
    assert_eq!(Prerequisites::new(&yard.machine).missing(yard.plan("XFS on RAID-0")).unwrap(), None);
    let yard = Yard::lab(EVERY_LAYER);
    let plan = yard.plan("XFS on RAID-0");
    yard.machine.without("mkfs.xfs");
    yard.machine.without("raid0");
    yard.machine.put_file("/etc/os-release", "ID=debian");
    let mut needs = Prerequisites::new(&yard.machine);
    let missing = needs.missing(plan).unwrap().unwrap();
    assert!(
        missing.what.contains("kernel module raid0") && missing.what.contains("program mkfs.xfs"),
        "{}",
        missing.what
    );
    assert!(missing.remedy.contains("xfsprogs"), "{}", missing.remedy);
    assert_eq!(needs.missing(plan).unwrap(), Some(missing), "asked once");
}

/// Without the tree of a kernel's modules `modprobe` knows nothing of what is built in.
#[test]
fn what_the_kernel_has_built_in_is_not_missing() {
    let yard = Yard::lab(EVERY_LAYER);
    let plan = yard.plan("XFS on RAID-0");
    yard.machine.without("raid0");
    yard.machine.without("xfs");
    yard.machine.put_file("/proc/filesystems", "nodev\tsysfs\n\txfs\n");
    let missing = Prerequisites::new(&yard.machine).missing(plan).unwrap().unwrap();
    assert!(missing.what.contains("raid0") && !missing.what.contains("xfs"), "{}", missing.what);
    yard.machine.put_file("/sys/module/raid0/version", "");
    assert_eq!(Prerequisites::new(&yard.machine).missing(plan).unwrap(), None);
}

#[test]
fn a_directory_on_a_file_system_that_stands_is_made_and_taken_away() {
    let machine = FakeMachine::new();
    machine.line("mkdir -p /data");
    machine.answer("stat", std::sync::Arc::new(|_: &[String], _: &[u8]| b"7f\n".to_vec()));
    let stack = terms::Stack { name: "here".to_owned(), note: None, nodes: Vec::new() };
    let plan = plan::existing(&stack, "/data/.bedplate-1", "7f").unwrap();
    let none = build::Claims::new();
    let authority = Authority::held(&machine, &none);
    let mut journal = MemoryJournal::default();
    let built = apply(&plan, &authority, &[], &mut journal).unwrap();
    assert_eq!(built.target.place(), &WorkPlace::Directory("/data/.bedplate-1".to_owned()));
    let past = journal.0.clone();
    build::teardown(&plan, &authority, &past, &mut journal).unwrap();
    assert!(!machine.exists("/data/.bedplate-1").unwrap() && machine.exists("/data").unwrap());
    // Something else is mounted there by now, or nothing: the directory is not to be seen, and not gone either.
    apply(&plan, &authority, &[], &mut journal).unwrap();
    machine.line("rm --recursive --force /data/.bedplate-1");
    machine.answer("stat", std::sync::Arc::new(|_: &[String], _: &[u8]| b"99\n".to_vec()));
    let past = journal.0.clone();
    let error = build::teardown(&plan, &authority, &past, &mut journal).unwrap_err();
    assert!(matches!(error, BuildError::NotMounted { .. }) && error.is_refusal(), "{error}");
}

#[test]
fn programs_of_a_run_that_is_gone_are_waited_for() {
    let machine = FakeMachine::new();
    let owners = ["4026531836:4194304:1".to_owned()];
    assert_eq!(build::settle(&machine, &owners, &|_| {}).unwrap(), [""; 0]);
    machine.open("/dev/nothing", "mdadm", false);
    assert_eq!(build::settle(&machine, &owners, &|_| {}).unwrap(), [""; 0], "it is somebody else's");
    assert!(machine.run(&Cmd::new(["kill", "-s", "TERM", "--", "-100"])).unwrap().ok());
}
