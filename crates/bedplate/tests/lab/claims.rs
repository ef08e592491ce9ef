//! Hostile drives: whatever state a drive is in, looking at it changes no byte and finds what speaks against using it.
//!
//! One guest for all states. Drives are named by serial number, as a person would without udev. Digests are taken of the
//! drives' files on this side, where hashing is not emulated.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use build::{Authority, Claims, MemoryJournal};
use claim::Class::{self, Holds, Unfit};
use claim::{ClaimError, Consent, Examination, Identity, Permission};
use host::Host;
use lab::Guest;
use sha2::{Digest, Sha256};
use terms::{Bytes, Cmd, Design, Nanos};

use crate::bench::Bench;
use crate::hostile::{DRIVES, STATES, State};
use crate::places::{PROGRAM, QUICKSTART};

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

/// Size of the first drive, in bytes.
const DRIVE_A: u64 = 192 << 20;

/// The guest and what the states are made with.
struct Yard {
    guest: Guest,
    nodes: Vec<String>,
    files: Vec<PathBuf>,
}

/// A drive, and what a person may say of it.
struct Subject {
    identity: Identity,
    named: Consent,
    erased: Consent,
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

    /// Takes a state back and writes zeros over the drives that it wrote to.
    fn clean(&self, commands: &str, used: &[Option<String>]) {
        let used = DRIVES.iter().zip(used).filter(|(_, digest)| digest.is_some());
        let names = used.map(|((name, _), _)| format!("${name} ")).collect::<String>();
        let wipe = format!("for d in {names}; do blkdiscard -f -z $d; blockdev --rereadpt $d; done");
        self.shell(&format!("{commands}\n{wipe}"));
    }

    fn wipe(&self) {
        self.clean("", &self.digests());
    }

    fn subject(&self, drive: usize) -> Subject {
        let id = [format!("serial={}", DRIVES[drive].1)];
        Subject {
            identity: claim::resolve(&self.guest, &id[0]).unwrap(),
            named: Consent::given(&self.guest, &id, &[]).unwrap(),
            erased: Consent::given(&self.guest, &id, &id).unwrap(),
        }
    }
}

/// The digest of a file's content; `None` for nothing but zeros. Holes and blocks of zeros, which are most of a drive,
/// count by being left out: each block is digested with its place.
pub(crate) fn digest(path: &Path) -> Option<String> {
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
    crate::bench::understood(STUDY)
}

/// Says what was found, and checks it and that it refuses as it should.
fn check(subject: &Subject, state: &State, examination: &Examination) {
    let what = state.what;
    for (class, words) in state.expect {
        let said = examination.findings.iter().any(|found| found.class == *class && found.to_string().contains(words));
        assert!(said, "{what}: nothing is {class} and says `{words}`:\n{examination}");
    }
    assert_eq!(examination.of(Class::Unknown).count(), 0, "{what}: {examination}");
    let in_use = state.expect.iter().any(|(class, _)| *class != Holds);
    assert_eq!(examination.findings.iter().any(|found| found.class != Holds), in_use, "{what}: {examination}");
    let refused = Permission::grant(examination.clone(), &subject.named).unwrap_err();
    assert!(matches!(refused, ClaimError::Refused(_)) && refused.is_refusal(), "{what}: {refused}");
    let erased = Permission::grant(examination.clone(), &subject.erased);
    assert_eq!(erased.is_err(), in_use, "{what}: consent to erase overrides what it must not, or nothing: {erased:?}");
}

#[test]
fn claims_on_hostile_drives_are_refused_and_every_byte_is_kept() {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    let subjects = blank_drives_are_free(&yard);
    let mut looks = 0.0;
    for state in &STATES {
        yard.shell(state.prepare);
        let before = yard.digests();
        let subject = &subjects[state.victim];
        let start = Instant::now();
        let examination = claim::examine(&yard.guest, &subject.identity).unwrap();
        looks += start.elapsed().as_secs_f64();
        println!("--- {}\n{examination}", state.what);
        check(subject, state, &examination);
        assert_eq!(yard.digests(), before, "{}: bytes changed", state.what);
        yard.clean(state.clean, &before);
    }
    println!("one look takes {:.2} s on average in this guest", looks / STATES.len() as f64);
    names_that_mean_no_drive_are_refused(&yard, &subjects[0]);
    drives_that_cannot_serve_are_refused(&yard, &subjects[0]);
    whoever_is_not_shown_all_refuses_all(&yard);
    consent_is_for_what_was_named(&yard);
    permitted_drives_are_held_built_on_and_released(&yard, &subjects[0]);
    a_drive_that_moved_is_refused(&yard, &subjects[0]);
    a_loop_device_is_used_by_whoever_has_its_file(&yard);
}

/// No lock on a loop device and no exclusive open of it tells that somebody has its file by another way.
fn a_loop_device_is_used_by_whoever_has_its_file(yard: &Yard) {
    yard.shell(
        "mkfs.ext4 -qF $A; mkdir -p /mnt/y; mount $A /mnt/y; cd /mnt/y; \
         for file in one two; do dd if=/dev/zero of=$file bs=1M count=64 status=none; done; \
         losetup /dev/loop5 /mnt/y/one; losetup /dev/loop6 /mnt/y/two; \
         mkdir -p /dev/disk/by-id; ln -sfn ../../loop5 /dev/disk/by-id/mine",
    );
    let mine = || claim::resolve(&yard.guest, "mine").unwrap();
    let consent = ["mine".to_owned()];
    let grant = || {
        let consent = Consent::given(&yard.guest, &consent, &consent).unwrap();
        Permission::grant(claim::examine(&yard.guest, &mine()).unwrap(), &consent)
    };
    let then = mine();
    grant().unwrap();
    let uses = [
        (
            "losetup /dev/loop4 /mnt/y/one; mkfs.ext4 -q /dev/loop4; mount -o ro,noload /dev/loop4 /mnt/x",
            "umount /mnt/x; losetup --detach /dev/loop4",
            "`/dev/loop4` is made of the same file, `/mnt/y/one`",
        ),
        (
            "setsid sleep 900 <>/mnt/y/one >/dev/null 2>&1 & sleep 1",
            "pkill -x sleep; sleep 0.5",
            "its file is `/mnt/y/one`, and process",
        ),
        (
            // What ld.so loads it maps and closes.
            "dd if=$(ldconfig -p | sed -n 's/.*=> //; /\\/libm\\.so\\.6/{p;q}') of=/mnt/y/one conv=notrunc status=none; \
             LD_PRELOAD=/mnt/y/one setsid sleep 900 >/dev/null 2>&1 </dev/null & sleep 1",
            "pkill -x sleep; sleep 0.5",
            "(`sleep`) has it open",
        ),
        (
            // The discard of `mkfs` left holes.
            "dd if=/dev/zero of=/mnt/y/one bs=1M count=64 conv=notrunc status=none; sync; \
             chmod 600 /mnt/y/one; mkswap /mnt/y/one; swapon /mnt/y/one",
            "swapoff /mnt/y/one",
            "the swap of this machine uses it as `/mnt/y/one`",
        ),
        (
            "modprobe target_core_file; c=/sys/kernel/config; mountpoint -q $c || mount -t configfs configfs $c; \
             cd $c/target/core; mkdir -p fileio_0/one; \
             echo fd_dev_name=/mnt/y/one,fd_dev_size=67108864 >fileio_0/one/control; echo 1 >fileio_0/one/enable",
            "cd /sys/kernel/config/target/core; rmdir fileio_0/one fileio_0",
            "the SCSI target `one` uses it as `/mnt/y/one`",
        ),
        (
            "cd /mnt/y; mkdir -p 'two words'; ln one 'two words/one'; zpool create -f -m none pond \"/mnt/y/two words/one\"",
            "zpool destroy pond; rm -r '/mnt/y/two words'",
            "the imported pool `pond` uses it as `/mnt/y/two words/one`",
        ),
    ];
    for (used, freed, words) in uses {
        yard.shell(used);
        let refused = grant().unwrap_err().to_string();
        println!("--- {words}\n{refused}");
        assert!(refused.contains(words), "{refused}");
        yard.shell(freed);
        // What is on it may go: that was said.
        grant().unwrap();
    }
    yard.shell("ln -sfn ../../loop6 /dev/disk/by-id/mine");
    let differences = then.differences(&mine()).join(", ");
    assert!(differences.contains("file behind it: was inode"), "{differences}");
    assert!(claim::confirm(&yard.guest, &then).is_err());
    yard.shell("losetup --detach-all; rm /dev/disk/by-id/mine; umount /mnt/y");
}

fn blank_drives_are_free(yard: &Yard) -> Vec<Subject> {
    let subjects: Vec<Subject> = (0..DRIVES.len()).map(|drive| yard.subject(drive)).collect();
    for Subject { identity, named, .. } in &subjects {
        let examination = claim::examine(&yard.guest, identity).unwrap();
        assert!(examination.is_free(), "{examination}");
        Permission::grant(examination, named).unwrap();
        // The name that udev would give means the same drive.
        println!("{} is {} ({:?})", identity.describe(), identity.names.join(" "), identity.caveat());
        assert!(claim::resolve(&yard.guest, &identity.names[0]).unwrap().is_same_device(identity));
    }
    subjects
}

/// Whoever reaches the drive by another way does so past all that this kernel keeps of it, as the drive's file is written here.
fn another_machine_writes(yard: &Yard, held: &claim::LockedDrive<'_>) {
    let file = File::options().write(true).open(&yard.files[0]).unwrap();
    let end = DRIVE_A - 512;
    for (place, mark, kind) in [(0, &b"LUKS\xba\xbe\0\x02"[..], "crypto_LUKS"), (end, b"EFI PART", "gpt")] {
        held.recheck().unwrap();
        let write = |bytes: &[u8]| file.write_all_at(bytes, place).and_then(|()| file.sync_all()).unwrap();
        write(mark);
        let refused = held.recheck().unwrap_err().to_string();
        assert!(refused.contains(kind), "{refused}");
        write(&vec![0; mark.len()]);
    }
    held.recheck().unwrap();
}

/// Root may be less than root: what it is not shown is not taken for nothing.
fn whoever_is_not_shown_all_refuses_all(yard: &Yard) {
    crate::places::bring(&yard.guest);
    let look = |within: &str| {
        let plan = format!("{PROGRAM} plan {QUICKSTART} --only 1 --drive a=serial=BP00-a");
        // As the first process the program is a guest's own.
        yard.shell(&format!("{within} bash -c '{plan} 2>&1 || true'"))
    };
    yard.shell("setsid sleep 600 <$A >/dev/null 2>&1 & echo $! >/tmp/pid");
    for (within, words) in [
        ("", "(`sleep`) has it open"),
        ("setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace", "cannot be looked into without `CAP_SYS_PTRACE`"),
        ("unshare --pid --fork --mount-proc", "are not seen: a container needs that of its machine"),
    ] {
        let said = look(within);
        println!("--- {within}\n{said}");
        assert!(said.contains(words) && said.contains("would refuse it"), "{within}: {said}");
    }
    yard.shell("kill $(cat /tmp/pid)");
}

fn names_that_mean_no_drive_are_refused(yard: &Yard, subject: &Subject) {
    let refusal = |id: &str| {
        let error = claim::resolve(&yard.guest, id).unwrap_err();
        assert!(error.is_refusal(), "{error}");
        println!("--- the name {id}\n{error}");
        error.to_string()
    };
    let names = &subject.identity.names;
    for kernel in [yard.nodes[0].as_str(), yard.nodes[0].trim_start_matches("/dev/")] {
        assert!(refusal(kernel).contains(&format!("name `{}` instead", names[0])));
    }
    assert!(refusal("serial=nobody").contains(&names[0]));
    assert!(refusal("/dev/disk/by-path/pci-0000:00:01.0-nvme-1").contains("goes with a port"));
    assert!(refusal("").contains("says nothing"));
}

fn drives_that_cannot_serve_are_refused(yard: &Yard, subject: &Subject) {
    yard.shell("blockdev --setro $A");
    let look = || claim::examine(&yard.guest, &subject.identity).unwrap();
    let read_only = look();
    yard.shell("blockdev --setrw $A");
    let small = look().at_least(Bytes::gib(1));
    for (examination, words) in [(read_only, "read-only"), (small, "too small")] {
        assert!(examination.of(Unfit).any(|found| found.what.contains(words)), "{examination}");
        assert!(Permission::grant(examination, &subject.erased).is_err());
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

fn permitted_drives_are_held_built_on_and_released(yard: &Yard, subject: &Subject) {
    yard.shell("mkfs.ext4 -q -F $A");
    let permit =
        |consent: &Consent| Permission::grant(claim::examine(&yard.guest, &subject.identity).unwrap(), consent);
    let permission = permit(&subject.erased).unwrap();
    assert!(permission.accepted()[0].what.contains("ext4"), "{permission:?}");
    // What is agreed to is one erasing: whatever comes onto the drive afterwards is refused.
    let mut held = permission.hold(&yard.guest).unwrap();
    build::erase(&mut held).unwrap();
    held.recheck().unwrap();
    yard.shell("mkfs.ext4 -q -F -L later $A");
    assert!(held.recheck().unwrap_err().to_string().contains("later"));
    assert!(held.permission().accepted().is_empty());
    build::erase(&mut held).unwrap();
    assert!(held.recheck().is_err(), "a consent that is used up erases nothing");
    drop(held);
    yard.wipe();
    let permission = permit(&subject.named).unwrap();
    let held = permission.clone().hold(&yard.guest).unwrap();
    // Nobody else gets it, and we see that it is ours.
    assert!(matches!(permission.clone().hold(&yard.guest), Err(ClaimError::Locked { .. })));
    assert_eq!(yard.shell("flock --nonblock $A true && echo free || echo locked"), "locked");
    held.confirm().unwrap();
    held.recheck().unwrap();
    another_machine_writes(yard, &held);

    let design = design();
    let plan = plan::plan(&design.stacks[0], &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let name = plan.drives[0].clone();
    let bindings = BTreeMap::from([(name.clone(), held.identity().node.clone())]);
    let claims: Claims<'_> = BTreeMap::from([(name.clone(), held)]);
    let mut journal = MemoryJournal::default();
    let authority = Authority::held(&yard.guest, &claims);
    let start = Instant::now();
    build::prove_blank(&yard.guest, &bindings, &plan.drives).unwrap();
    println!("a proof before a build takes {:.2} s in this guest", start.elapsed().as_secs_f64());
    let built = build::apply(&plan, &authority, &[], &mut journal, &|_| {}).unwrap();
    assert!(built.changed > 0);
    let in_use = claims.values().next().unwrap().recheck().unwrap_err();
    assert!(in_use.to_string().contains("mounted at"), "{in_use}");
    let past = journal.0.clone();
    build::teardown(&plan, &authority, &past, &mut journal).unwrap();
    claims.values().next().unwrap().recheck().unwrap();
    drop(claims);
    assert_eq!(yard.shell("flock --nonblock $A true && echo free"), "free");
    yard.wipe();
}

/// Two drives are taken out and come back in the other order, as after a reboot: names and numbers change hands.
fn a_drive_that_moved_is_refused(yard: &Yard, subject: &Subject) {
    claim::confirm(&yard.guest, &subject.identity).unwrap();
    let examination = claim::examine(&yard.guest, &subject.identity).unwrap();
    let permission = Permission::grant(examination, &subject.named).unwrap();
    yard.shell(
        "at() { readlink -f /sys/block/${1#/dev/}/device/device; }; a=$(at $A); b=$(at $B); \
         echo 1 >$a/remove; echo 1 >$b/remove; sleep 0.5; \
         echo 1 >$(echo ${b%/*}/pci_bus/*/rescan); for n in 1 2 3 4 5 6 7 8 9; do [ -b $A ] && break; sleep 0.3; done; \
         echo 1 >$(echo ${a%/*}/pci_bus/*/rescan); for n in 1 2 3 4 5 6 7 8 9; do [ -b $B ] && break; sleep 0.3; done",
    );
    let error = claim::confirm(&yard.guest, &subject.identity).unwrap_err();
    println!("--- moved\n{error}");
    assert!(matches!(&error, ClaimError::Moved { .. }) && error.is_refusal(), "{error}");
    assert!(error.to_string().contains("node: was /dev/nvme0n1, is /dev/nvme1n1"), "{error}");
    assert!(permission.hold(&yard.guest).is_err());
    // Gone altogether.
    yard.shell("echo 1 >/sys/block/${S#/dev/}/device/delete; sleep 1");
    let gone = claim::resolve(&yard.guest, "serial=BP03-s").unwrap_err();
    assert!(matches!(gone, ClaimError::NotFound { .. }), "{gone}");
}
