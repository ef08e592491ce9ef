//! Guards, provoked: the kernel of a guest is made to do what would spoil a number, and the cell must say so.
//!
//! `cargo test -p bedplate --features lab-tests --test lab guards -- --nocapture` prints what each one saw.

use std::sync::LazyLock;

use build::{Authority, Built, MemoryJournal};
use host::Host;
use lab::{Guest, GuestSpec, Saves};
use measure::{CellRequest, WorkPlace, Writable};
use terms::evidence::BottleneckKind;
use terms::record::{Cell, CellKey};
use terms::workload::FioKey;
use terms::{Bytes, Cmd, Design, Engine, Guard, LayerNode, MeasurePolicy, Name, Nanos, Pattern, Plan, Workload};

use crate::bench::Bench;

/// Every stack that a scene plays on, small; `r` is in memory.
const STUDY: &str = r#"
question = "Do the guards fire?"

[lab]
memory = "2560 MiB"
drives = [
    { name = "a", kind = "flash", size = "512 MiB", lba = "4 KiB" },
    { name = "b", kind = "flash", size = "512 MiB", lba = "4 KiB" },
    { name = "r", kind = "ram", size = "128 MiB" },
]

[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]

[[stack]]
name = "raid"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }]

[[stack]]
name = "zfs"
layers = [{ zfs = { layout = "mirror", primarycache = "all" }, on = ["a", "b"] }]

[[stack]]
name = "zfs compressing"
layers = [{ zfs = { compression = "lz4", primarycache = "metadata" }, on = "a" }]

[[stack]]
name = "btrfs"
layers = [{ btrfs = {}, on = "a" }]

[[stack]]
name = "luks"
layers = [{ luks = { pbkdf = "pbkdf2" }, on = "a" }]

[[stack]]
name = "lvm"
layers = [{ lvm = { volume = "raid1" }, on = ["a", "b"] }]

[measure]
profiles = ["quick"]
"#;

fn shell(guest: &dyn Host, script: &str) -> String {
    guest.run_ok(&Cmd::new(["bash", "-c", script]).limit(Nanos::seconds(120))).unwrap().text()
}

fn policy() -> MeasurePolicy {
    MeasurePolicy {
        settle: Nanos::millis(30),
        window: Nanos::millis(150),
        span: Bytes::mib(32),
        ..MeasurePolicy::default()
    }
}

fn random_reads() -> Workload {
    Workload { depth: 8, ..Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes::kib(4)) }
}

fn writes() -> Workload {
    Workload { depth: 4, ..Workload::new(Name::new("w").unwrap(), Pattern::Write, Bytes::kib(128)) }
}

fn with_key(mut workload: Workload, key: &str, value: &str) -> Workload {
    workload.keys.push(FioKey { key: key.to_owned(), value: value.to_owned() });
    workload
}

/// The first of these tests boots; the others begin where it stood.
static SAVES: LazyLock<Saves> = LazyLock::new(Saves::default);

/// A guest, and the stacks that can be built in it.
struct Stage {
    guest: Guest,
    design: Design,
    policy: MeasurePolicy,
}

/// A stack that stands.
struct Set {
    plan: Plan,
    built: Built,
    nodes: Vec<LayerNode>,
    journal: MemoryJournal,
}

impl Stage {
    fn new(bench: &Bench) -> Self {
        Self::of(bench, STUDY, policy())
    }

    /// The same on NVMe drives under our clock, for work that takes its time beside the window.
    fn under_our_clock(bench: &Bench) -> Self {
        let (settle, window) = (Nanos::millis(300), Nanos::seconds(2));
        Self::of(bench, &STUDY.replace(r#"kind = "flash", "#, ""), MeasurePolicy { settle, window, ..policy() })
    }

    fn of(bench: &Bench, study: &str, policy: MeasurePolicy) -> Self {
        let design = crate::bench::understood(study);
        let guest = lab::boot(&GuestSpec { saves: Some(&SAVES), ..bench.spec(&design) }).unwrap();
        shell(&guest, "modprobe zfs");
        Self { guest, design, policy }
    }

    fn node(&self, drive: &str) -> String {
        self.guest.drives()[&Name::new(drive).unwrap()].clone()
    }

    fn build(&self, stack: &str) -> Set {
        let stack = self.design.stacks.iter().find(|of| of.name == stack).unwrap();
        let plan = plan::plan(stack, &plan::DriveSize::of_lab(&self.design.lab)).unwrap();
        let mut journal = MemoryJournal::default();
        let authority = Authority::lab(&self.guest, self.guest.drives()).unwrap();
        let built = build::apply(&plan, &authority, &[], &mut journal, &|_| {}).unwrap();
        Set { plan, built, nodes: stack.nodes.clone(), journal }
    }

    fn take_down(&self, set: Set) {
        let Set { plan, mut journal, .. } = set;
        let past = journal.0.clone();
        build::teardown(&plan, &Authority::lab(&self.guest, self.guest.drives()).unwrap(), &past, &mut journal)
            .unwrap();
        for name in &plan.drives {
            let _ = self.guest.run(&Cmd::new(["blkdiscard", &self.guest.drives()[name]])).unwrap();
        }
    }

    /// Fills a place, lets `provoke` happen, measures, and lets `calm` end it. `on` are the drives beneath.
    fn cell(
        &self,
        place: Writable,
        on: &[&str],
        nodes: &[LayerNode],
        workload: &Workload,
        provoke: &str,
        calm: &str,
    ) -> Cell {
        let policy = &self.policy;
        let filled = measure::fill(&self.guest, (place, None), policy.span, 1, 1).unwrap();
        shell(&self.guest, provoke);
        let drives: Vec<(String, String)> = on.iter().map(|name| ((*name).to_owned(), self.node(name))).collect();
        let request = CellRequest {
            key: CellKey { round: 1, stack: "s".into(), workload: "w".into() },
            workload,
            policy,
            filled: &filled,
            address: None,
            others: &[],
            resyncs: &[],
            longer: None,
            watch: &|_, _| (),
            drives: &drives,
            seed: 7,
            started: String::new(),
            nodes,
            rate: None,
            source: None,
        };
        let cell = measure::measure(&self.guest, &request).unwrap().cell;
        shell(&self.guest, calm);
        println!("  failure: {:?}", cell.failure);
        for guard in &cell.guards {
            println!("  {}{}: {}", guard.guard, if guard.voids { " (void)" } else { "" }, guard.witness);
        }
        println!("  limiter: {:?}", cell.bottleneck);
        cell
    }

    /// The same on a stack that is built for it and taken down again.
    fn on(&self, stack: &str, workload: &Workload, provoke: &str, calm: &str) -> Cell {
        println!("{stack}: {}", provoke.lines().next().unwrap_or("nothing provoked"));
        let set = self.build(stack);
        let target = set.built.target.clone();
        let (WorkPlace::Device(path) | WorkPlace::Directory(path)) = target.place();
        let (provoke, calm) = (provoke.replace("TARGET", path), calm.replace("TARGET", path));
        let on: Vec<&str> = set.plan.drives.iter().map(Name::as_str).collect();
        let cell = self.cell(target.clone(), &on, &set.nodes, workload, &provoke, &calm);
        self.take_down(set);
        cell
    }
}

#[track_caller]
fn assert_void(cell: &Cell, guard: Guard) {
    assert!(cell.guards.iter().any(|note| note.guard == guard && note.voids), "{guard}: {:?}", cell.guards);
    assert!(cell.reading.is_none() && cell.failure.is_some(), "a void cell has no number: {:?}", cell.failure);
}

#[track_caller]
fn assert_label(cell: &Cell, guard: Guard) {
    assert!(cell.guards.iter().any(|note| note.guard == guard), "{guard}: {:?}", cell.guards);
    assert!(cell.reading.is_some(), "a label leaves the number: {:?}", cell.failure);
}

#[test]
fn work_of_the_machines_own_voids_a_number() {
    let bench = Bench::new();
    let stage = Stage::new(&bench);
    let (a, b) = (stage.node("a"), stage.node("b"));
    let slow =
        "cd /sys/block/$(basename $(readlink -f TARGET))/md; echo 100 > sync_speed_min; echo 2000 > sync_speed_max";
    let scrub = format!("{slow}; echo check > sync_action");
    let calm = "cd /sys/block/$(basename $(readlink -f TARGET))/md; echo idle > sync_action";
    assert_void(&stage.on("raid", &random_reads(), &scrub, calm), Guard::Resync);

    let rebuild = format!(
        "{slow}; m=$(readlink -f TARGET); mdadm -q $m --fail {b}; mdadm -q $m --remove {b}; mdadm -q --zero-superblock {b}; mdadm -q $m --add {b}"
    );
    let done = "cd /sys/block/$(basename $(readlink -f TARGET))/md; echo 900000 > sync_speed_max; while [ \"$(cat degraded)\" != 0 ]; do sleep 0.2; done";
    assert_void(&stage.on("raid", &random_reads(), &rebuild, done), Guard::Resync);

    // Something else reads the drive.
    let foreign = format!(
        "setsid bash -c 'while :; do dd if={a} of=/dev/null bs=1M iflag=direct; done' >/dev/null 2>&1 & echo $! > /tmp/foreign"
    );
    let end = "kill $(cat /tmp/foreign); sleep 0.5";
    assert_void(&stage.on("ext4", &random_reads(), &foreign, end), Guard::ForeignIo);

    let check = "lv=$(lvs --noheadings -o lv_full_name | head -1); lvchange --maxrecoveryrate 1M $lv; lvchange --syncaction check $lv";
    let calm = "lv=$(lvs --noheadings -o lv_full_name | head -1); lvchange --syncaction idle $lv || true";
    assert_void(&stage.on("lvm", &random_reads(), check, calm), Guard::LvmSync);
}

/// Longer than the others: each has to give a file system enough to do.
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn work_of_file_systems_voids_a_number() {
    let bench = Bench::alone();
    let stage = Stage::under_our_clock(&bench);
    let a = stage.node("a");

    let scrub = "m=TARGET; head -c 200M /dev/urandom > $m/ballast; sync; echo 4m > /sys/fs/btrfs/*-*/devinfo/1/scrub_speed_max; btrfs scrub start -q $m";
    let calm = "m=TARGET; btrfs scrub cancel $m || true; rm -f $m/ballast; while pgrep --exact --runstates D,R,S btrfs > /dev/null; do sleep 0.1; done";
    assert_void(&stage.on("btrfs", &random_reads(), scrub, calm), Guard::Scrub);

    // A pool's scrub has no speed: give it something to do.
    let scrub = "p=$(zpool list -H -o name); m=TARGET; head -c 250M /dev/urandom > $m/ballast; sync; zpool sync; echo 1 > /sys/module/zfs/parameters/zfs_vdev_scrub_max_active; echo 1048576 > /sys/module/zfs/parameters/zfs_scan_vdev_limit; zpool scrub $p";
    let calm = "p=$(zpool list -H -o name); zpool scrub -s $p || true";
    assert_void(&stage.on("zfs", &random_reads(), scrub, calm), Guard::Scrub);

    // Inode tables that are zeroed after the mount, slowly.
    println!("ext4 made with lazy initialisation");
    shell(
        &stage.guest,
        &format!(
            "mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1 -i 1024 {a}; mkdir -p /mnt/lazy; mount -o init_itable=50 {a} /mnt/lazy"
        ),
    );
    let cell = stage.cell(Writable::directory("/mnt/lazy".into()), &["a"], &[], &random_reads(), ":", ":");
    shell(&stage.guest, &format!("umount /mnt/lazy; wipefs -aq {a}"));
    assert!(cell.guards.iter().any(|note| note.guard == Guard::LazyInit), "{:?}", cell.guards);
}

#[test]
fn caches_and_compression_are_told() {
    let bench = Bench::new();
    let stage = Stage::new(&bench);
    let buffered = with_key(with_key(random_reads(), "direct", "0"), "invalidate", "0");
    // The kernel's thread that initialises ext4 ends some time after the file system is gone.
    let over = "while pgrep -x ext4lazyinit > /dev/null; do sleep 0.1; done";
    let cell = stage.on("ext4", &buffered, "cat TARGET/* > /dev/null 2>&1 || true", ":");
    shell(&stage.guest, over);
    // Without `invalidate=0` fio would drop the cache first; one of both keys is enough to keep some of it.
    assert!(cell.guards.iter().any(|note| note.guard == Guard::Cache), "page cache: {:?}", cell.guards);
    let cell = stage.on("zfs", &random_reads(), ":", ":");
    assert_label(&cell, Guard::Cache);
    assert_eq!(cell.bottleneck.as_ref().map(|bottleneck| bottleneck.kind), Some(BottleneckKind::Cache));
    // On a pool as small as these a transaction would be of a few writes (docs/lab.md).
    shell(&stage.guest, "test $(cat /sys/module/zfs/parameters/spa_asize_inflation) = 3");
    // A pool gathers writes for seconds: the window has to be longer than that. Slow ones leave the processor time to jump.
    let zeros = with_key(with_key(writes(), "zero_buffers", "1"), "rate", "8m");
    let zeros = Workload { window: Some(Nanos::seconds(8)), ..zeros };
    assert_label(&stage.on("zfs compressing", &zeros, ":", ":"), Guard::Compression);
}

#[test]
fn what_limits_is_named_and_errors_are_no_numbers() {
    let bench = Bench::new();
    let stage = Stage::new(&bench);
    // One thread that waits for nothing: a drive in memory answers within the call.
    println!("a drive in memory, one job");
    let psync = Workload { engine: Engine::Psync, depth: 1, ..random_reads() };
    let cell = stage.cell(Writable::passing(&stage.guest, &stage.node("r")).unwrap(), &["r"], &[], &psync, ":", ":");
    assert_label(&cell, Guard::Generator);
    assert_eq!(cell.bottleneck.as_ref().map(|bottleneck| bottleneck.kind), Some(BottleneckKind::Generator));
    // Encryption of large blocks on every processor.
    let encrypt = Workload { jobs: 2, depth: 8, block: Bytes::mib(1), pattern: Pattern::Read, ..random_reads() };
    let cell = stage.on("luks", &encrypt, ":", ":");
    let kind = cell.bottleneck.as_ref().map(|bottleneck| bottleneck.kind);
    assert!(matches!(kind, Some(BottleneckKind::Core | BottleneckKind::Thread)), "{kind:?}");
    // A drive that fails in the middle.
    println!("a mapping with a hole");
    let a = stage.node("a");
    shell(&stage.guest, &format!("echo 0 262144 linear {a} 0 | dmsetup create holed"));
    let hole = format!(
        "dmsetup suspend holed; printf '0 16384 linear {a} 0\\n16384 245760 error\\n' | dmsetup load holed; dmsetup resume holed"
    );
    let cell = stage.cell(
        Writable::passing(&stage.guest, "/dev/mapper/holed").unwrap(),
        &["a"],
        &[],
        &random_reads(),
        &hole,
        "dmsetup remove holed",
    );
    let why = cell.failure.unwrap_or_default();
    assert!(cell.reading.is_none() && why.contains("error 5"), "{why}");
}

#[test]
fn clean_windows_raise_no_alarm() {
    let bench = Bench::new();
    let stage = Stage::new(&bench);
    let workloads = [random_reads(), writes()];
    for (index, stack) in ["ext4", "raid", "luks", "lvm"].into_iter().enumerate() {
        // One of both in turn: a cell takes half a minute. The long tests have both on each.
        let chosen = if cfg!(feature = "long-tests") { &workloads[..] } else { &workloads[index % 2..][..1] };
        for workload in chosen {
            let cell = stage.on(stack, workload, ":", ":");
            let voids: Vec<_> = cell.guards.iter().filter(|note| note.voids).collect();
            assert!(voids.is_empty() && cell.reading.is_some(), "{stack}: {voids:?}");
            let false_alarm =
                cell.guards.iter().find(|note| !matches!(note.guard, Guard::Generator | Guard::Clock | Guard::Link));
            assert!(false_alarm.is_none(), "{stack}: {false_alarm:?}");
        }
    }
}
