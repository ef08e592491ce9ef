//! Hostile drives: whatever state a drive is in, looking at it changes no byte and finds what speaks against using it.
//!
//! One guest for all states. Drives are named by serial number, as a person would without udev. Digests are taken of the
//! drives' files on this side, where hashing is not emulated.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use build::{Claims, Memory};
use claim::{ClaimError, Class, Consent, Examination, Identity, Permission};
use host::Host;
use lab::Guest;
use sha2::{Digest, Sha256};
use terms::{Bytes, Cmd, Design, Nanos};

use crate::bench::Bench;

const STUDY: &str = r#"
question = "What may be touched?"
[lab]
memory = "2 GiB"
drives = [
    { name = "a", size = "192 MiB", lba = "512 B" },
    { name = "b", size = "192 MiB", lba = "512 B" },
    { name = "c", size = "320 MiB", lba = "4 KiB" },
    { name = "s", kind = "sata", size = "128 MiB" },
]
[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
rounds = 1
span = "64 MiB"
"#;

/// Drives of the study in its order, and the serial numbers that the lab gives them.
const DRIVES: [(&str, &str); 4] = [("A", "BP00-a"), ("B", "BP01-b"), ("C", "BP02-c"), ("S", "BP03-s")];

/// A state that a drive can be in.
struct State {
    what: &'static str,
    /// Shell, with the nodes in `$A`, `$B`, `$C`, `$S`.
    prepare: &'static str,
    clean: &'static str,
    /// The drive that is looked at, as an index into [`DRIVES`].
    victim: usize,
    /// What has to be found, each with words of it.
    expect: &'static [(Class, &'static str)],
}

/// The same state in fewer lines.
const fn state(
    what: &'static str,
    victim: usize,
    expect: &'static [(Class, &'static str)],
    prepare: &'static str,
    clean: &'static str,
) -> State {
    State { what, prepare, clean, victim, expect }
}

use Class::{Holds, InUse, Unfit};

/// Everything that can be the matter with a drive that is there and correctly named.
const STATES: [State; 31] = [
    state(
        "an ext4 at rest",
        0,
        &[(Holds, "ext4"), (Holds, "UUID"), (Holds, "label `old`"), (Holds, "last mounted at `/mnt/x`")],
        "mkfs.ext4 -q -F -L old -M /mnt/x $A",
        "",
    ),
    state(
        "a mounted ext4",
        0,
        &[(InUse, "mounted at `/mnt/x` (ext4)"), (InUse, "EBUSY"), (Holds, "ext4")],
        "mkfs.ext4 -q -F $A; mount -o ro $A /mnt/x",
        "umount /mnt/x",
    ),
    state(
        "mounted in another namespace only",
        0,
        &[(InUse, "mounted at `/mnt/x` (ext4)")],
        "mkfs.ext4 -q -F $A; setsid unshare --mount sh -c \"mount -o ro $A /mnt/x; exec sleep 600\" >/dev/null 2>&1 & \
         echo $! >/tmp/pid; for n in 1 2 3 4 5 6 7 8 9; do grep -q ext4 /proc/$(cat /tmp/pid)/mounts && break; sleep 0.2; done",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "mounted by a partition",
        0,
        &[(InUse, "p1: mounted at `/mnt/x`"), (Holds, "gpt"), (Holds, "p1: ext4")],
        "parted -s $A mklabel gpt mkpart x 1MiB 64MiB; mkfs.ext4 -q -F ${A}p1; mount -o ro ${A}p1 /mnt/x",
        "umount /mnt/x",
    ),
    state("an XFS at rest", 2, &[(Holds, "xfs"), (Holds, "UUID")], "mkfs.xfs -q $C", ""),
    state("swap in use", 0, &[(InUse, "swaps to it"), (InUse, "EBUSY")], "mkswap -q $A; swapon $A", "swapoff $A"),
    state("swap at rest", 0, &[(Holds, "swap")], "mkswap -q $A", ""),
    state(
        "a member of a running array",
        1,
        &[(InUse, "the array `md5`, raid1"), (InUse, "EBUSY"), (Holds, "linux_raid_member")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=1.2 --run $A $B; \
         mdadm --readonly /dev/md5; sleep 0.5",
        "mdadm --stop --quiet /dev/md5",
    ),
    state(
        "a member of a stopped array",
        0,
        &[(Holds, "linux_raid_member"), (Holds, "UUID"), (Holds, "of 2 devices")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=1.2 --run $A $B; \
         mdadm --stop --quiet /dev/md5",
        "",
    ),
    state(
        "an array's superblock at the end",
        1,
        &[(Holds, "linux_raid_member"), (Holds, "at byte 201318400")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=1.0 --run $A $B; \
         mdadm --stop --quiet /dev/md5",
        "",
    ),
    state(
        "an array's superblock of version 0.90",
        1,
        &[(Holds, "linux_raid_member")],
        "mdadm --create /dev/md5 --quiet --level=1 --raid-devices=2 --assume-clean --metadata=0.90 --run $A $B; \
         mdadm --stop --quiet /dev/md5",
        "",
    ),
    state(
        "a physical volume of no group",
        0,
        &[(Holds, "LVM2_member"), (Holds, "of no volume group")],
        "pvcreate -qq $A",
        "",
    ),
    state(
        "a physical volume at rest",
        0,
        &[(Holds, "LVM2_member"), (Holds, "of the volume group `tank`")],
        "pvcreate -qq $A; vgcreate -qq tank $A",
        "",
    ),
    state(
        "a physical volume in use",
        0,
        &[(InUse, "the logical volume `tank-one`"), (InUse, "EBUSY")],
        "pvcreate -qq $A; vgcreate -qq tank $A; lvcreate -qq --yes --name one --extents 4 tank",
        "vgchange -qq --activate n tank; vgremove -qq --force tank",
    ),
    state(
        "a LUKS header",
        0,
        &[(Holds, "crypto_LUKS"), (Holds, "LUKS2")],
        "echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $A -",
        "",
    ),
    state(
        "an opened LUKS",
        0,
        &[(InUse, "the opened encryption `secret`"), (InUse, "EBUSY"), (Holds, "crypto_LUKS")],
        "echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $A -; \
         echo k | cryptsetup open $A secret --key-file -",
        "cryptsetup close secret",
    ),
    state(
        "a LUKS2 whose first header is destroyed",
        0,
        &[(Holds, "crypto_LUKS"), (Holds, "first header is destroyed")],
        "echo k | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $A -; \
         dd if=/dev/zero of=$A bs=4096 count=4 conv=fsync status=none",
        "",
    ),
    state(
        "a device of an imported pool",
        0,
        &[(InUse, "the imported pool `pond`"), (InUse, "EBUSY"), (Holds, "zfs_member")],
        "parted -s $A mklabel gpt mkpart z 1MiB 100%; zpool create -f -m none pond ${A}p1; zpool export pond; \
         zpool import -o readonly=on -d /dev pond",
        "zpool export pond",
    ),
    state(
        "a device of an exported pool",
        0,
        &[(Holds, "p1: zfs_member"), (Holds, "of the pool `pond`")],
        "parted -s $A mklabel gpt mkpart z 1MiB 100%; zpool create -f -m none pond ${A}p1; zpool export pond",
        "",
    ),
    state(
        "labels of a pool at the end only",
        1,
        &[(Holds, "zfs_member"), (Holds, "2 of 4 labels are left")],
        "parted -s $A mklabel gpt mkpart z 1MiB 191MiB; zpool create -f -m none pond ${A}p1; zpool export pond; \
         dd if=${A}p1 of=$B bs=512K skip=379 seek=383 count=1 conv=fsync status=none",
        "",
    ),
    state(
        "the second device of a mounted btrfs",
        1,
        &[(InUse, "the mounted btrfs"), (InUse, "EBUSY"), (Holds, "device 2 of 2")],
        "mkfs.btrfs -q -m raid1 -d raid1 $A $B; btrfs device scan $A $B; mount -o ro $A /mnt/x",
        "umount /mnt/x; btrfs device scan --forget",
    ),
    state("a GPT", 0, &[(Holds, "gpt, a partition table")], "parted -s $A mklabel gpt", ""),
    state(
        "a GPT whose primary is destroyed",
        0,
        &[(Holds, "gpt"), (Holds, "primary copy is destroyed")],
        "parted -s $A mklabel gpt; dd if=/dev/zero of=$A bs=512 count=34 conv=fsync status=none",
        "",
    ),
    state("an MBR", 3, &[(Holds, "dos, a partition table")], "parted -s $S mklabel msdos", ""),
    state(
        "an EFI system partition",
        0,
        &[(InUse, "EFI system partition")],
        "parted -s $A mklabel gpt mkpart e 1MiB 64MiB set 1 esp on",
        "",
    ),
    state(
        "a loop device on a blank drive",
        0,
        &[(InUse, "the loop device `loop7`")],
        "losetup /dev/loop7 $A",
        "losetup -d /dev/loop7",
    ),
    state(
        "opened by a program, as a virtual machine would",
        0,
        &[(InUse, "(`sleep`) has it open")],
        "setsid sleep 600 <$A >/dev/null 2>&1 & echo $! >/tmp/pid",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "opened by a program for itself alone",
        0,
        &[(InUse, "EBUSY"), (InUse, "(`perl`) has it open")],
        "setsid perl -e 'use Fcntl; sysopen(F, $ARGV[0], O_RDONLY | O_EXCL) or die; sleep 600' $A </dev/null >/dev/null 2>&1 & \
         echo $! >/tmp/pid; sleep 1",
        "kill $(cat /tmp/pid)",
    ),
    state(
        "locked by a program",
        0,
        &[(InUse, "locked by another program")],
        "setsid flock --exclusive $A sleep 600 </dev/null >/dev/null 2>&1 & echo $! >/tmp/pid; sleep 1",
        "kill -- -$(cat /tmp/pid)",
    ),
    state(
        "data without a header",
        0,
        &[(Holds, "data nobody knows"), (Holds, "encrypted or compressed")],
        "dd if=/dev/urandom of=$A bs=1M seek=24 count=12 conv=fsync status=none",
        "",
    ),
    state(
        "a mapping on a blank drive",
        0,
        &[(InUse, "the mapping `held`"), (InUse, "EBUSY")],
        "echo 0 2048 linear $A 0 | dmsetup create held",
        "dmsetup remove held",
    ),
];

/// The guest and what the states are made with.
struct Yard {
    guest: Guest,
    nodes: Vec<String>,
    files: Vec<PathBuf>,
}

impl Yard {
    fn new(bench: &Bench) -> Self {
        let design = design();
        let guest = bench.boot(&design);
        let nodes = design.lab.drives.iter().map(|drive| guest.drives()[&drive.name].clone()).collect();
        let files = (0..DRIVES.len()).map(|index| guest.directory().join(format!("drive-{index}"))).collect();
        let yard = Self { guest, nodes, files };
        yard.shell("mkdir -p /mnt/x; modprobe -a loop ext4 btrfs raid1 dm_mod zfs");
        yard
    }

    fn shell(&self, script: &str) -> String {
        let nodes = DRIVES.iter().zip(&self.nodes).map(|((name, _), node)| format!("{name}={node}; "));
        let script = nodes.collect::<String>() + "set -e; " + script;
        self.guest.run_ok(&Cmd::new(["bash", "-c", &script]).limit(Nanos::seconds(90))).unwrap().text()
    }

    /// SHA-256 of all drives, with everything on them that the guest has written; `None` for a drive of zeros.
    fn digests(&self) -> Vec<Option<String>> {
        self.shell("sync; blockdev --flushbufs $A $B $C $S");
        self.files.iter().map(|file| digest(file)).collect()
    }

    /// Writes zeros over whatever is on drives.
    fn wipe(&self) {
        let left = self.digests();
        let used = DRIVES.iter().zip(left).filter(|(_, digest)| digest.is_some());
        let names = used.map(|((name, _), _)| format!("${name} ")).collect::<String>();
        self.shell(&format!("for d in {names}; do blkdiscard -f -z $d; blockdev --rereadpt $d; done"));
    }

    fn resolve(&self, drive: usize) -> Identity {
        claim::resolve(&self.guest, &format!("serial={}", DRIVES[drive].1)).unwrap()
    }
}

/// The digest of a file's content; `None` for nothing but zeros. Holes and blocks of zeros, which are most of a drive,
/// count by being left out: each block is digested with its place.
fn digest(path: &Path) -> Option<String> {
    let file = File::open(path).unwrap();
    let (mut block, zeros) = (vec![0; 1 << 18], vec![0; 1 << 18]);
    let mut sum = Sha256::new();
    let mut any = false;
    let mut place = 0;
    // Past the last data the answer is an error.
    while let Ok(data) = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(place)) {
        let begin = data / block.len() as u64 * block.len() as u64;
        let length = file.read_at(&mut block, begin).unwrap();
        if block[..length] != zeros[..length] {
            any = true;
            sum.update(begin.to_le_bytes());
            sum.update(&block[..length]);
        }
        place = begin + length as u64;
    }
    any.then(|| sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn design() -> Design {
    let (design, notes) = spec::parse(STUDY);
    design.unwrap_or_else(|| panic!("{notes:?}"))
}

fn erase(yard: &Yard, drive: usize) -> Consent {
    let id = format!("serial={}", DRIVES[drive].1);
    Consent::given(&yard.guest, std::slice::from_ref(&id), std::slice::from_ref(&id)).unwrap()
}

/// Says what was found, and checks it and that it refuses as it should.
fn check(yard: &Yard, state: &State, examination: &Examination) {
    let what = state.what;
    for (class, words) in state.expect {
        let said = examination.findings.iter().any(|found| found.class == *class && found.to_string().contains(words));
        assert!(said, "{what}: nothing is {class} and says `{words}`:\n{examination}");
    }
    assert_eq!(examination.of(Class::Unknown).count(), 0, "{what}: {examination}");
    let in_use = state.expect.iter().any(|(class, _)| *class != Holds);
    assert_eq!(examination.findings.iter().any(|found| found.class != Holds), in_use, "{what}: {examination}");
    let named = Consent::given(&yard.guest, &[examination.identity.id.clone()], &[]).unwrap();
    let refused = Permission::grant(examination.clone(), &named).unwrap_err();
    assert!(matches!(refused, ClaimError::Refused(_)) && refused.is_refusal(), "{what}: {refused}");
    let erased = Permission::grant(examination.clone(), &erase(yard, state.victim));
    assert_eq!(erased.is_err(), in_use, "{what}: consent to erase overrides what it must not, or nothing: {erased:?}");
}

#[test]
fn claims_on_hostile_drives_are_refused_and_every_byte_is_kept() {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    let mut looks = Vec::new();
    blank_drives_are_free(&yard);
    for state in &STATES {
        let begin = Instant::now();
        yard.shell(state.prepare);
        let prepared = begin.elapsed().as_secs_f64();
        let before = yard.digests();
        let identity = yard.resolve(state.victim);
        let start = Instant::now();
        let examination = claim::examine(&yard.guest, &identity).unwrap();
        looks.push(start.elapsed().as_secs_f64());
        let looked = start.elapsed().as_secs_f64();
        println!("--- {} (made in {prepared:.1} s, looked at in {looked:.1} s)\n{examination}", state.what);
        check(&yard, state, &examination);
        assert_eq!(yard.digests(), before, "{}: bytes changed", state.what);
        yard.shell(state.clean);
        yard.wipe();
        println!("all in {:.1} s", begin.elapsed().as_secs_f64());
    }
    println!("one look takes {:.2} s on average in this guest", looks.iter().sum::<f64>() / looks.len() as f64);
    names_that_mean_no_drive_are_refused(&yard);
    drives_that_cannot_serve_are_refused(&yard);
    consent_is_for_what_was_named(&yard);
    permitted_drives_are_held_built_on_and_released(&yard);
    a_drive_that_moved_is_refused(&yard);
}

fn blank_drives_are_free(yard: &Yard) {
    for drive in 0..DRIVES.len() {
        let identity = yard.resolve(drive);
        let examination = claim::examine(&yard.guest, &identity).unwrap();
        assert!(examination.is_free(), "{examination}");
        assert!(!identity.names.is_empty(), "{identity:?}");
        println!("{} is {} ({})", identity.describe(), identity.names.join(" "), identity.caveat().unwrap_or_default());
        // The name that udev would give means the same drive.
        let again = claim::resolve(&yard.guest, &identity.names[0]).unwrap();
        assert!(again.is_same_device(&identity), "{again:?}");
        let named = Consent::given(&yard.guest, &[identity.names[0].clone()], &[]).unwrap();
        Permission::grant(examination, &named).unwrap();
    }
}

fn names_that_mean_no_drive_are_refused(yard: &Yard) {
    let refusal = |id: &str| {
        let error = claim::resolve(&yard.guest, id).unwrap_err();
        assert!(error.is_refusal(), "{error}");
        println!("--- the name {id}\n{error}");
        error.to_string()
    };
    let names = yard.resolve(0).names;
    for kernel in [yard.nodes[0].as_str(), yard.nodes[0].trim_start_matches("/dev/")] {
        assert!(refusal(kernel).contains(&format!("name `{}` instead", names[0])));
    }
    assert!(refusal("serial=nobody").contains(&names[0]));
    assert!(refusal("/dev/disk/by-path/pci-0000:00:01.0-nvme-1").contains("goes with a port"));
    assert!(refusal("").contains("says nothing"));
}

fn drives_that_cannot_serve_are_refused(yard: &Yard) {
    yard.shell("blockdev --setro $A");
    let identity = yard.resolve(0);
    let look = || claim::examine(&yard.guest, &identity).unwrap();
    let read_only = look();
    yard.shell("blockdev --setrw $A");
    let small = look().at_least(Bytes::gib(1));
    for (examination, words) in [(read_only, "read-only"), (small, "too small")] {
        assert!(examination.of(Unfit).any(|found| found.what.contains(words)), "{examination}");
        assert!(Permission::grant(examination, &erase(yard, 0)).is_err());
    }
}

fn consent_is_for_what_was_named(yard: &Yard) {
    yard.shell("parted -s $A mklabel gpt mkpart x 1MiB 64MiB mkpart y 64MiB 128MiB");
    let (whole, first, second) = ("serial=BP00-a", "serial=BP00-a-part1", "serial=BP00-a-part2");
    let grant = |drive: &str, consented: &str| {
        let identity = claim::resolve(&yard.guest, drive).unwrap();
        let consent = Consent::given(&yard.guest, &[], &[consented.to_owned()]).unwrap();
        Permission::grant(claim::examine(&yard.guest, &identity).unwrap(), &consent)
    };
    for (drive, consented, words) in [
        (whole, first, "for a partition of it"),
        (first, whole, "for the whole drive"),
        (second, first, "for another partition"),
        (whole, "serial=BP01-b", "not yet a drive that a person agreed to lose"),
    ] {
        let error = grant(drive, consented).unwrap_err();
        assert!(matches!(error, ClaimError::NotConsented { .. }) && error.to_string().contains(words), "{error}");
    }
    let part = grant(second, second).unwrap();
    assert_eq!(part.identity().part.as_ref().unwrap().start, Bytes::mib(64));
    grant(whole, whole).unwrap();
    yard.wipe();
}

fn permitted_drives_are_held_built_on_and_released(yard: &Yard) {
    yard.shell("mkfs.ext4 -q -F $A");
    let id = "serial=BP00-a".to_owned();
    let permit = |consent: &Consent| {
        let identity = claim::resolve(&yard.guest, &id).unwrap();
        Permission::grant(claim::examine(&yard.guest, &identity).unwrap(), consent)
    };
    let permission = permit(&erase(yard, 0)).unwrap();
    assert!(permission.accepted()[0].what.contains("ext4"), "{permission:?}");
    yard.wipe();
    let permission = permit(&Consent::given(&yard.guest, &[id.clone()], &[]).unwrap()).unwrap();
    let held = permission.clone().hold(&yard.guest).unwrap();
    // Nobody else gets it, and we see that it is ours.
    assert!(matches!(permission.clone().hold(&yard.guest), Err(ClaimError::Locked { .. })));
    assert_eq!(yard.shell("flock --nonblock $A true && echo free || echo locked"), "locked");
    held.confirm().unwrap();
    held.recheck().unwrap();

    let design = design();
    let plan = plan::plan(&design.stacks[0], &plan::DriveFact::of_lab(&design.lab)).unwrap();
    let name = plan.drives[0].clone();
    let bindings = BTreeMap::from([(name.clone(), held.identity().node.clone())]);
    let claims: Claims<'_> = BTreeMap::from([(name.clone(), held)]);
    let mut journal = Memory::default();
    let elsewhere = BTreeMap::from([(name, yard.nodes[1].clone())]);
    let refused = build::apply(&plan, &yard.guest, &elsewhere, &claims, &[], &mut journal, &|_| {}).unwrap_err();
    assert!(refused.is_refusal() && journal.0.is_empty(), "{refused}");
    let built = build::apply(&plan, &yard.guest, &bindings, &claims, &[], &mut journal, &|_| {}).unwrap();
    assert!(built.changed > 0);
    let in_use = claims.values().next().unwrap().recheck().unwrap_err();
    assert!(in_use.to_string().contains("mounted at"), "{in_use}");
    let past = journal.0.clone();
    build::teardown(&plan, &yard.guest, &bindings, &past, &mut journal).unwrap();
    claims.values().next().unwrap().recheck().unwrap();
    drop(claims);
    assert_eq!(yard.shell("flock --nonblock $A true && echo free"), "free");
    yard.wipe();
}

/// Two drives are taken out and come back in the other order, as after a reboot: names and numbers change hands.
fn a_drive_that_moved_is_refused(yard: &Yard) {
    let identity = yard.resolve(0);
    claim::confirm(&yard.guest, &identity).unwrap();
    let examination = claim::examine(&yard.guest, &identity).unwrap();
    let consent = Consent::given(&yard.guest, &[identity.id.clone()], &[]).unwrap();
    let permission = Permission::grant(examination, &consent).unwrap();
    yard.shell(
        "at() { readlink -f /sys/block/${1#/dev/}/device/device; }; a=$(at $A); b=$(at $B); \
         echo 1 >$a/remove; echo 1 >$b/remove; sleep 0.5; \
         echo 1 >$(echo ${b%/*}/pci_bus/*/rescan); for n in 1 2 3 4 5 6 7 8 9; do [ -b $A ] && break; sleep 0.3; done; \
         echo 1 >$(echo ${a%/*}/pci_bus/*/rescan); for n in 1 2 3 4 5 6 7 8 9; do [ -b $B ] && break; sleep 0.3; done",
    );
    let error = claim::confirm(&yard.guest, &identity).unwrap_err();
    println!("--- moved\n{error}");
    assert!(matches!(&error, ClaimError::Moved { .. }) && error.is_refusal(), "{error}");
    assert!(error.to_string().contains("node: was /dev/nvme0n1, is /dev/nvme1n1"), "{error}");
    assert!(permission.hold(&yard.guest).is_err());
    // Gone altogether.
    yard.shell("echo 1 >/sys/block/${S#/dev/}/device/delete; sleep 1");
    let gone = claim::resolve(&yard.guest, "serial=BP03-s").unwrap_err();
    assert!(matches!(gone, ClaimError::NotFound { .. }), "{gone}");
}
