//! Drives that somebody else uses by the time that a killed run is taken down or gone on with: nothing of theirs is
//! touched, byte by byte. And records that somebody else wrote, or changed: nothing is run because of them.

use std::path::PathBuf;

use host::Host;
use lab::Guest;

use crate::bench::{Bench, every};
use crate::claims::digest;
use crate::places::{PROGRAM, ROOT, bedplate, boot, fingerprint, shell};

const STUDY: &str = r#"
question = "Whose is it by now?"
[lab]
memory = "2 GiB"
drives = [{ name = "a", size = "128 MiB" }, { name = "b", size = "128 MiB" }, { name = "c", size = "128 MiB" }]
[[stack]]
name = "plain"
layers = [{ ext4 = {}, on = "a" }]
[[stack]]
name = "mirror"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }, { luks = { pbkdf = "pbkdf2" } }, { ext4 = {} }]
[[stack]]
name = "volume"
layers = [{ lvm = {}, on = "a" }, { ext4 = {} }]
[[stack]]
name = "pair"
layers = [{ btrfs = { data = "raid1", metadata = "raid1" }, on = ["a", "b"] }]
[[stack]]
name = "pool"
layers = [{ zfs = { layout = "mirror" }, on = ["a", "b"] }]
[[stack]]
name = "sums"
layers = [{ integrity = { mode = "bitmap" }, on = ["a", "b"] }, { raid = { level = 1 } }, { ext4 = {} }]
[[stack]]
name = "thin"
layers = [{ lvm = { thin_chunk = "64 KiB" }, on = "a" }, { ext4 = {} }]
[measure]
profiles = ["quick"]
rounds = 1
span = "16 MiB"
settle = "100 ms"
window = "30 s"
"#;

/// What a person does with drives between a killed run and its teardown.
struct Reuse {
    what: &'static str,
    /// Which stack stood, from 1.
    stack: u32,
    /// The journal's step at which the run is killed; after everything stands where it is empty.
    killed_in: &'static str,
    /// Shell, with nodes in `$a`, `$b`, `$c`.
    put: &'static str,
    /// Words of the refusal.
    said: &'static str,
    /// What takes it away again.
    clean: &'static str,
}

/// `whole` waits until the array has rebuilt itself: `mdadm --wait` also returns where that has not begun yet.
const WHOLE: &str = "whole() { until [ \"$(cat /sys/block/md*/md/degraded)$(cat /sys/block/md*/md/sync_action)\" = 0idle ]; do sleep 0.1; done; };";

const FREE: &str = "umount /mnt/bedplate/* 2>/dev/null; cryptsetup close bp-mirror-luks 2>/dev/null; mdadm --stop --scan --quiet 2>/dev/null; vgchange -an -q 2>/dev/null >&2;";

const CASES: [Reuse; 15] = [
    Reuse {
        what: "a file system of the same kind",
        stack: 1,
        killed_in: "",
        put: "wipefs -aq $a; mkfs.ext4 -q -L precious $a",
        said: "precious",
        clean: "",
    },
    Reuse {
        what: "one under another program's lock",
        stack: 1,
        killed_in: "",
        put: "wipefs -aq $a; mkfs.ext4 -q $a; setsid flock $a sleep 900 >/dev/null 2>&1 & sleep 1",
        said: "locked by another program",
        clean: "pkill -x flock; pkill -x sleep; sleep 0.5",
    },
    Reuse {
        what: "a mounted one",
        stack: 1,
        killed_in: "",
        put: "wipefs -aq $a; mkfs.ext4 -q $a; mount -o ro,noload $a /mnt/x",
        said: "mounted at `/mnt/x`",
        clean: "umount /mnt/x",
    },
    Reuse {
        what: "the run's own, mounted by a person",
        stack: 1,
        killed_in: "",
        put: "mount -o ro,noload $a /mnt/x",
        said: "mounted at `/mnt/x`",
        clean: "umount /mnt/x",
    },
    Reuse {
        what: "a node that a program holds",
        stack: 1,
        killed_in: "",
        put: "setsid sleep 901 <$a >/dev/null 2>&1 & sleep 1",
        said: "`sleep`) has it open",
        clean: "pkill -x sleep; sleep 0.5",
    },
    Reuse {
        what: "a file system made where ours was being made",
        stack: 1,
        killed_in: "ext4.make",
        put: "sleep 2; wipefs -aq $a; mkfs.ext4 -q $a",
        said: "ext4",
        clean: "",
    },
    Reuse {
        what: "the run's own, used since a mount that was cut short",
        stack: 1,
        killed_in: "ext4.mount",
        put: "mount $a /mnt/x; echo mine > /mnt/x/mine; umount /mnt/x",
        said: "so somebody",
        clean: "",
    },
    Reuse {
        what: "the run's own btrfs, used since a mount that was cut short",
        stack: 4,
        killed_in: "btrfs.mount",
        put: "mount $a /mnt/x; echo mine > /mnt/x/mine; umount /mnt/x",
        said: "so somebody",
        clean: "",
    },
    Reuse {
        what: "an array of two others under the old names",
        stack: 2,
        killed_in: "",
        put: "wipefs -aq $a $b; mdadm --create /dev/md/bp-mirror-raid --quiet --run --level=0 --raid-devices=2 $b $c; \
              mkfs.btrfs -q /dev/md/bp-mirror-raid",
        said: "linux_raid_member",
        clean: "mdadm --stop --quiet /dev/md/bp-mirror-raid",
    },
    Reuse {
        what: "the run's array with another content",
        stack: 2,
        killed_in: "",
        put: "mdadm --assemble --quiet /dev/md/bp-mirror-raid $a $b; wipefs -aq /dev/md/bp-mirror-raid; \
              mkfs.ext4 -q /dev/md/bp-mirror-raid; mdadm --readonly --quiet /dev/md/bp-mirror-raid",
        said: "which the run did not write",
        clean: "mdadm --stop --quiet /dev/md/bp-mirror-raid",
    },
    Reuse {
        what: "a stranger's array with the run's name and none of its drives",
        stack: 2,
        killed_in: "",
        put: "wipefs -aq $a $b; mdadm --create /dev/md/bp-mirror-raid --quiet --run --level=1 --force --raid-devices=1 $c; \
              mkfs.ext4 -q /dev/md/bp-mirror-raid; mdadm --readonly --quiet /dev/md/bp-mirror-raid",
        said: "does not rest on the run's drives",
        clean: "mdadm --stop --quiet /dev/md/bp-mirror-raid",
    },
    Reuse {
        what: "a volume group of the run's name on another drive",
        stack: 3,
        killed_in: "",
        put: "lvremove -qqy bp-volume-lvm; vgremove -qq bp-volume-lvm; pvremove -qq $a; \
              vgcreate -qq bp-volume-lvm $c; lvcreate -qq -n data -l 4 bp-volume-lvm; \
              mkfs.ext4 -q /dev/bp-volume-lvm/data; vgchange -qq -an bp-volume-lvm",
        said: "bp-volume-lvm",
        clean: "vgremove -qq -fy bp-volume-lvm; pvremove -qq $c",
    },
    Reuse {
        what: "a partition table and a file system in its partition",
        stack: 1,
        killed_in: "",
        put: "wipefs -aq $a; parted -s $a mklabel gpt mkpart x 1MiB 100%; udevadm settle 2>/dev/null; mkfs.ext4 -q ${a}p1",
        said: "gpt",
        clean: "",
    },
    Reuse {
        what: "the run's array under another name, with a file system in it, stopped",
        stack: 2,
        killed_in: "",
        put: "mdadm --assemble --quiet /dev/md/mine $a $b; wipefs -aq /dev/md/mine; mkfs.ext4 -q -L precious /dev/md/mine; \
              whole; mdadm --stop --quiet /dev/md/mine",
        said: "somebody closed it since",
        clean: "",
    },
    Reuse {
        what: "the run's volume with another file system, deactivated",
        stack: 3,
        killed_in: "",
        put: "vgchange -qq -ay bp-volume-lvm; wipefs -aq /dev/bp-volume-lvm/data; \
              mkfs.ext4 -q -L precious /dev/bp-volume-lvm/data; vgchange -qq -an bp-volume-lvm",
        said: "somebody closed it since",
        clean: "vgremove -qq -fy bp-volume-lvm; pvremove -qq $a",
    },
];

/// What a person adds to what a killed run left standing.
const ADDED: [Reuse; 8] = [
    Reuse {
        what: "a drive in the run's array",
        stack: 2,
        killed_in: "",
        put: "mdadm --grow --quiet /dev/md/bp-mirror-raid --raid-devices=3 --add $c >/dev/null 2>&1; whole",
        said: "is part of it, and is not one of its drives",
        clean: "",
    },
    Reuse {
        what: "a drive in place of one of the run's",
        stack: 2,
        killed_in: "",
        put: "mdadm --quiet /dev/md/bp-mirror-raid --add $c; mdadm --quiet /dev/md/bp-mirror-raid --fail $b; whole; \
              until mdadm --quiet /dev/md/bp-mirror-raid --remove $b; do sleep 0.1; done",
        said: "is part of it, and is not one of its drives",
        clean: "",
    },
    Reuse {
        what: "a drive in the run's btrfs",
        stack: 4,
        killed_in: "",
        put: "btrfs -q device add -f $c /mnt/bedplate/pair; cp /etc/services /mnt/bedplate/pair/precious; sync",
        said: "is part of it, and is not one of its drives",
        clean: "",
    },
    Reuse {
        what: "a volume in the run's group",
        stack: 3,
        killed_in: "",
        put: "umount /mnt/bedplate/volume; lvreduce -qqfy -l -4 bp-volume-lvm/data; \
              lvcreate -qq -n precious -l 2 bp-volume-lvm; mkfs.ext4 -q /dev/bp-volume-lvm/precious",
        said: "bp--volume--lvm-precious",
        clean: "lvremove -qqfy bp-volume-lvm/precious",
    },
    Reuse {
        what: "a file system over the run's mount",
        stack: 1,
        killed_in: "",
        put: "mkfs.ext4 -q $c; mount -o ro,noload $c /mnt/bedplate/plain",
        said: "what is mounted there is not on the run's drives",
        clean: "umount /mnt/bedplate/plain",
    },
    Reuse {
        what: "a file in the run's file system",
        stack: 1,
        killed_in: "",
        put: "cp /etc/services /mnt/bedplate/plain/precious; sync",
        said: "/mnt/bedplate/plain/precious` is not the run's",
        clean: "",
    },
    Reuse {
        what: "a file system that is frozen",
        stack: 1,
        killed_in: "",
        put: "fsfreeze --freeze /mnt/bedplate/plain",
        said: "it is frozen",
        clean: "fsfreeze --unfreeze /mnt/bedplate/plain",
    },
    Reuse {
        what: "a mapping that is suspended",
        stack: 2,
        killed_in: "",
        put: "umount /mnt/bedplate/mirror; dmsetup suspend bp-mirror-luks",
        said: "it is suspended",
        clean: "dmsetup resume bp-mirror-luks",
    },
];

struct Yard {
    guest: Guest,
    pairs: String,
    files: Vec<PathBuf>,
}

impl Yard {
    fn new(bench: &Bench) -> Self {
        let design = crate::bench::understood(STUDY);
        let (guest, pairs) = boot(bench, &design);
        guest.write(&format!("{ROOT}/reuse.toml"), STUDY.as_bytes()).unwrap();
        let files = (0..3).map(|index| guest.directory().join(format!("drive-{index}"))).collect();
        let yard = Self { guest, pairs, files };
        yard.shell("mkdir -p /mnt/x");
        yard
    }

    fn nodes(&self) -> String {
        self.guest.drives().iter().map(|(name, node)| format!("{name}={node}; ")).collect()
    }

    fn shell(&self, script: &str) -> String {
        shell(&self.guest, &format!("{}{script}", self.nodes()))
    }

    /// The drives whose `--drive` options a stack needs.
    fn options(&self, stack: u32) -> String {
        let wanted: &[&str] = if [2, 4, 5, 6].contains(&stack) { &[" a=", " b="] } else { &[" a="] };
        let pairs = self.pairs.split("--drive").filter(|pair| wanted.iter().any(|name| pair.starts_with(name)));
        pairs.map(|pair| format!("--drive{pair}")).collect()
    }

    fn run(&self, stack: u32, runs: &str) -> String {
        let drives = self.options(stack);
        format!(
            "{PROGRAM} run {ROOT}/reuse.toml --on local {drives} --only {stack} --anchor off --no-trials --runs {runs}"
        )
    }

    /// A run that is killed while its stack stands, or while a step is under way.
    fn killed(&self, stack: u32, step: &str, runs: &str) {
        let run = self.run(stack, runs);
        let sign = if step.is_empty() {
            format!("grep -q '\"event\":\"filled\"' {runs}/*/events.jsonl")
        } else {
            format!("grep -q '\"entry\":\"before\".*\"step\":\"{step}\"' {runs}/*/journal.jsonl")
        };
        self.shell(&format!(
            "{run} >{ROOT}/out 2>&1 & id=$!; until {sign} 2>/dev/null; do [ -e /proc/$id ] || {{ cat {ROOT}/out; exit 1; }}; sleep 0.1; done; \
             kill -9 $id; wait $id 2>/dev/null; \
             pkill -x fio; while pgrep -x fio >/dev/null; do sleep 0.1; done"
        ));
    }

    fn digests(&self) -> Vec<Option<String>> {
        self.shell("sync; blockdev --flushbufs $a $b $c");
        self.files.iter().map(|file| digest(file)).collect()
    }

    /// What stands: marks, mounts, and every file of what is mounted. What stands writes to its drives by itself, so that
    /// their bytes are never the same for long.
    fn standing(&self) -> String {
        self.shell(
            "for d in $a $b $c /dev/md/*; do [ -e $d ] && blkid -p $d; done; grep /bedplate/ /proc/mounts; dmsetup ls; \
             grep '^md' /proc/mdstat; find /mnt/bedplate -type f -exec sha256sum {} +; true",
        )
    }

    fn clean(&self, commands: &str) {
        self.shell(&format!(
            "{commands}\n{FREE} for d in $a $b $c; do wipefs -aqf $d; blkdiscard -f -z $d; blockdev --rereadpt $d; done; \
             rmdir /mnt/bedplate/* 2>/dev/null; true"
        ));
    }
}

#[test]
fn what_somebody_put_on_a_drive_since_is_not_taken_away() {
    refused(&CASES, FREE, |yard| format!("{:?}", yard.digests()));
}

#[test]
fn what_somebody_added_to_what_stands_is_not_taken_away() {
    refused(&ADDED, "", Yard::standing);
}

fn refused(cases: &[Reuse], free: &str, look: impl Fn(&Yard) -> String) {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    for (number, case) in cases.iter().enumerate().step_by(every(3)) {
        let runs = format!("{ROOT}/reuse-{number}");
        yard.killed(case.stack, case.killed_in, &runs);
        yard.shell(&format!("{WHOLE}\n{free}\n{}", case.put));
        let before = look(&yard);
        let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs}"));
        assert_eq!(status, 3, "{}: {said}", case.what);
        assert!(said.contains(case.said), "{}: {said}", case.what);
        assert!(look(&yard) == before, "{}: it changed\n{said}", case.what);
        yard.clean(case.clean);
    }
}

#[test]
fn what_a_person_agrees_to_lose_goes_with_what_the_run_left() {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    let before = fingerprint(&yard.guest);
    // Somebody's file system on the run's drive, and nothing of the run: it stays, whoever named the drive.
    let runs = format!("{ROOT}/agreed");
    yard.killed(1, "", &runs);
    yard.shell(&format!("{FREE} wipefs -aq $a; mkfs.btrfs -q $a"));
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs}"));
    assert!(status == 3 && said.contains("--erase serial=BP00-a"), "{said}");
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs} --erase serial=BP01-b"));
    assert_eq!(status, 3, "another drive was named: {said}");
    let theirs = yard.digests();
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs} --erase serial=BP00-a"));
    assert!(status == 0 && said.contains("holds nothing of the run") && said.contains("btrfs"), "{said}");
    assert!(yard.digests() == theirs, "it changed\n{said}");
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs}"));
    assert!(status == 0 && said.contains("nothing of run"), "{said}");
    yard.shell("wipefs -aq $a; blkdiscard -f $a");
    assert_eq!(fingerprint(&yard.guest), before);
    // A volume of somebody's in the run's group: LVM itself would ask before it removes it.
    let runs = format!("{ROOT}/agreed-volume");
    yard.killed(3, "", &runs);
    yard.shell(
        "umount /mnt/bedplate/volume; lvreduce -qqfy -l -4 bp-volume-lvm/data; lvcreate -qq -n precious -l 2 bp-volume-lvm; \
         lvchange -qq -an bp-volume-lvm/precious",
    );
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs}"));
    assert_eq!(status, 3, "{said}");
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs} --erase serial=BP00-a"));
    assert_eq!(status, 0, "{said}");
    assert_eq!(fingerprint(&yard.guest), before);
    // What is still the run's goes without a word.
    for stack in (1..=7).rev().step_by(every(3)) {
        let runs = format!("{ROOT}/own-{stack}");
        yard.killed(stack, "", &runs);
        let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs}"));
        assert_eq!(status, 0, "{said}");
        assert_eq!(fingerprint(&yard.guest), before);
        assert_eq!(yard.digests()[0], None, "what was only the run's is discarded");
    }
}

#[test]
fn a_run_goes_on_only_where_it_was_begun() {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    let runs = format!("{ROOT}/resumed");
    yard.killed(1, "", &runs);
    yard.shell(FREE);
    let before = yard.digests();
    let other = yard.pairs.split("--drive").find(|pair| pair.contains("BP01")).unwrap().replace(" b=", " a=");
    let resume = format!(
        "run {ROOT}/reuse.toml --on local --drive{other} --only 1 --anchor off --no-trials --runs {runs} --resume"
    );
    let (status, said) = bedplate(&yard.guest, &resume);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("cannot go on here") && said.contains("BP01-b"), "{said}");
    let (status, said) =
        bedplate(&yard.guest, &resume.replace("--on local", "--on lab").replace(&format!("--drive{other}"), ""));
    assert_ne!(status, 0, "another place: {said}");
    assert!(yard.digests() == before, "refused, and yet something was written");
    // The machine calls itself otherwise: a copy of its disk in another machine.
    yard.shell("cp /etc/machine-id /tmp/id 2>/dev/null || rm -f /tmp/id; echo 0123456789abcdef0123456789abcdef >/etc/machine-id");
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs}"));
    assert!(status == 3 && said.contains("another machine"), "{said}");
    yard.shell("if [ -e /tmp/id ]; then cp /tmp/id /etc/machine-id; else rm /etc/machine-id; fi");
    assert!(yard.digests() == before, "refused, and yet something was written");
    // It was freed by hand, so its drive has to be named.
    let (status, said) = bedplate(&yard.guest, &format!("teardown --runs {runs} --erase serial=BP00-a"));
    assert_eq!(status, 0, "{said}");
}

#[test]
fn a_record_that_somebody_wrote_or_changed_runs_nothing() {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    let runs = format!("{ROOT}/changed");
    yard.killed(1, "", &runs);
    yard.shell(FREE);
    let before = yard.digests();
    let refused = |what: &str, change: &str, environment: &str, words: &str| {
        yard.shell(&format!("rm -rf {ROOT}/copy; cp -a {runs} {ROOT}/copy; cd {ROOT}/copy/*/; {change}"));
        let line = format!("{environment} {PROGRAM} teardown --runs {ROOT}/copy 2>&1; echo \"status $?\"");
        let said = yard.shell(&line);
        assert!(said.contains("status 3") && said.contains(words), "{what}: {said}");
        assert_eq!(yard.shell(&format!("ls {ROOT}/canary 2>/dev/null; true")), "", "{what} ran");
        assert!(yard.digests() == before, "{what}: bytes changed");
    };
    let elsewhere = format!("XDG_STATE_HOME={ROOT}/nobody");
    refused("a record of another person", "true", &elsewhere, "was not written by you");
    let undo = format!("s#\"umount\"#\"touch\"#; s#\"/mnt/bedplate/plain\"#\"{ROOT}/canary\"#");
    refused("a plan that was changed", &format!("sed -i '{undo}' plans/plain.json"), "", "another plan");
    refused("a plan that is not there", "rm plans/plain.json", "", "does not hold");
    refused(
        "a line that was added",
        "tail -n 1 journal.jsonl | sed 's/\"proof\":\"[0-9a-f]*\"/\"proof\":\"00\"/' >>journal.jsonl",
        "",
        "was not written by you",
    );
    refused(
        "a line without proof",
        "sed -i 's/,\"proof\":\"[0-9a-f]*\"//' journal.jsonl",
        "",
        "was not written by you",
    );
    refused("a line that was taken out", "sed -i 2d journal.jsonl", "", "not after the line before it");
    refused("lines in another order", "tac journal.jsonl >x; cat x >journal.jsonl; rm x", "", "was not written by you");
    refused("another drive in a line", "sed -i 's/BP00-a/BP01-b/g' journal.jsonl", "", "was not written by you");
    refused(
        "a record that goes by another name",
        "sed -i 's/\"run\": \"/\"run\": \"x/' provenance.json",
        "",
        "was not written by you",
    );
}

#[test]
fn what_is_mounted_over_a_run_is_not_written_to() {
    let bench = Bench::new();
    let yard = Yard::new(&bench);
    yard.shell(
        "mkfs.ext4 -q $c; mount $c /mnt/x; dd if=/dev/urandom of=/mnt/x/bedplate.dat bs=1M count=20 status=none; umount /mnt/x",
    );
    let run = yard.run(1, &format!("{ROOT}/over"));
    let said = yard.shell(&format!(
        "mount -o ro,noload $c /mnt/x; before=$(sha256sum </mnt/x/bedplate.dat); umount /mnt/x\n\
         {run} --window 3s >{ROOT}/out 2>&1 & id=$!\n\
         until grep -q '\"event\":\"filled\"' {ROOT}/over/*/events.jsonl 2>/dev/null; do [ -e /proc/$id ] || {{ cat {ROOT}/out; exit 1; }}; sleep 0.1; done\n\
         until pgrep -x fio >/dev/null; do sleep 0.1; done; sleep 1\n\
         umount -l /mnt/bedplate/plain; mount $c /mnt/bedplate/plain; wait $id; echo \"status $?\"; cat {ROOT}/out\n\
         umount /mnt/bedplate/plain; mount -o ro,noload $c /mnt/x; after=$(sha256sum </mnt/x/bedplate.dat); umount /mnt/x\n\
         [ \"$before\" = \"$after\" ] && echo 'every byte is there'"
    ));
    assert!(said.contains("is not the one that was built or filled"), "{said}");
    assert!(said.contains("every byte is there") && !said.contains("status 0"), "{said}");
}
