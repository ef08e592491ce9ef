//! The same study wherever it runs: in a guest on the guest's own drives, and from one network to another over ssh.

use std::collections::BTreeMap;

use host::Host;
use lab::Guest;
use terms::{Cmd, Design, Nanos};

use crate::bench::{Bench, design};

/// Directory inside the guest.
pub(crate) const ROOT: &str = "/root/places";
/// The program inside the guest: a copy, because a guest does not see the tree if that stands below `/tmp`.
pub(crate) const PROGRAM: &str = "/root/places/bedplate";
pub(crate) const QUICKSTART: &str = "/root/places/quickstart.toml";
/// A stack of more than twelve steps: two sealed members, a mirror, a cipher, a volume, a file system.
pub(crate) const DEEP: &str = r#"
question = "Is all of it taken down again?"
[lab]
drives = [{ name = "a", size = "128 MiB" }, { name = "b", size = "128 MiB" }]
[[stack]]
name = "deep"
layers = [
    { integrity = { mode = "bitmap", sector = "4 KiB" }, on = ["a", "b"] },
    { raid = { level = 1 } },
    { luks = { pbkdf = "pbkdf2" } },
    { lvm = {} },
    { ext4 = {} },
]
[measure]
profiles = ["quick"]
rounds = 1
span = "16 MiB"
settle = "100 ms"
window = "20 s"
"#;

/// A drive that is to be another than it is.
const SET_UP: &str = r#"
question = "Does the block matter?"
[lab]
drives = [{ name = "a", size = "256 MiB" }]
[[drive]]
name = "a"
lba = "4 KiB"
write_cache = false
scheduler = "mq-deadline"
[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
span = "16 MiB"
"#;

pub(crate) fn shell(guest: &Guest, script: &str) -> String {
    let cmd = Cmd::new(["bash", "-c", script]).limit(Nanos::seconds(1500));
    guest.run_ok(&cmd).unwrap_or_else(|error| panic!("{error}")).text()
}

/// A guest with a study's drives, and how the study's drives are called there.
pub(crate) fn boot(bench: &Bench, design: &Design) -> (Guest, String) {
    let guest = bench.boot(design);
    let pairs = move_in(&guest).join(" ");
    (guest, pairs)
}

/// Takes the program and a study along; `--drive NAME=ID` for each drive of the guest.
pub(crate) fn move_in(guest: &Guest) -> Vec<String> {
    let serial = |node: &String| {
        let name = node.trim_start_matches("/dev/");
        guest.read_text(&format!("/sys/block/{name}/device/serial")).unwrap()
    };
    let pairs = guest.drives().iter().map(|(name, node)| format!("--drive {name}=serial={}", serial(node)));
    let pairs = pairs.collect::<Vec<_>>();
    bring(guest);
    pairs
}

/// The program and the study alone.
pub(crate) fn bring(guest: &Guest) {
    // What started the shell is the agent, and the agent is the program.
    shell(guest, &format!("mkdir -p {ROOT} && cp /proc/$PPID/exe {PROGRAM}"));
    guest.write(QUICKSTART, &std::fs::read(crate::bench::root().join(crate::bench::TWO_NVME)).unwrap()).unwrap();
}

/// `--erase ID` for each `--drive NAME=ID`.
fn erasing(drives: &str) -> String {
    let ids = drives.split(' ').filter_map(|word| Some(word.split_once('=')?.1));
    ids.map(|id| format!("--erase {id}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn bedplate(guest: &Guest, arguments: &str) -> (i32, String) {
    let line = format!("{PROGRAM} {arguments} 2>&1");
    let cmd = Cmd::new(["bash", "-c", &line]).limit(Nanos::seconds(600));
    let outcome = guest.run(&cmd).unwrap();
    eprintln!("# bedplate {arguments}\n{}", outcome.text());
    (outcome.status, outcome.text())
}

/// Text files of the only run in a directory, by path, whatever they say of time and place left out.
fn record(guest: &Guest, runs: &str) -> BTreeMap<String, String> {
    let run = shell(guest, &format!("ls -d {runs}/*/"));
    let run = run.trim().trim_end_matches('/');
    let names = shell(guest, &format!("cd {run} && find . -type f ! -path './reports/*' | sort"));
    names.lines().map(|name| (name.to_owned(), guest.read_text(&format!("{run}/{name}")).unwrap())).collect()
}

/// Prints everything of block devices, mappings, arrays and mounts, and every signature on the drives. Without udev the
/// node of a stopped array stays, and whoever opens it has the kernel make an empty array of no size: those are no trace.
pub(crate) fn looking(guest: &Guest) -> String {
    let nodes: Vec<&str> = guest.drives().values().map(String::as_str).collect();
    format!(
        "lsblk --noheadings --raw --output NAME,SIZE,TYPE,MOUNTPOINTS | grep -v ' 0B '; dmsetup ls; grep ^md /proc/mdstat; \
         grep /mnt/ /proc/mounts; for d in {}; do blkid -p $d; wipefs -n $d; done; true",
        nodes.join(" ")
    )
}

pub(crate) fn fingerprint(guest: &Guest) -> String {
    shell(guest, &looking(guest))
}

#[test]
fn a_study_is_the_same_in_the_machine_and_from_afar() {
    let bench = Bench::new();
    let (guest, drives) = boot(&bench, &design(crate::bench::TWO_NVME));
    let far = "ssh://root@10.99.0.2";
    shell(
        &guest,
        "modprobe veth && ip netns add far && ip link add near type veth peer name eth0 netns far \
         && ip addr add 10.99.0.1/24 dev near && ip link set near up \
         && ip -n far addr add 10.99.0.2/24 dev eth0 && ip -n far link set eth0 up && ip -n far link set lo up \
         && mkdir -p -m 700 /root/.ssh && rm -f /root/.ssh/* \
         && ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519 \
         && cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys \
         && printf 'StrictHostKeyChecking accept-new\nLogLevel ERROR\n' > /root/.ssh/config \
         && dropbearkey -t ed25519 -f /root/hostkey >/dev/null 2>&1 \
         && ip netns exec far dropbear -r /root/hostkey -p 10.99.0.2:22",
    );
    let before = fingerprint(&guest);
    let mut records = Vec::new();
    for place in ["local", far] {
        let runs = format!("{ROOT}/runs-{}", records.len());
        let arguments = format!("run {QUICKSTART} --on {place} {drives} --quick --only 3 --runs {runs}");
        let (status, said) = bedplate(&guest, &arguments);
        assert_eq!(status, 0, "{place}: {said}");
        assert!(said.contains("ext4 on RAID-1"), "{said}");
        assert_eq!(fingerprint(&guest), before, "something was left behind by {place}");
        records.push(record(&guest, &runs));
    }
    let (local, remote) = (&records[0], &records[1]);
    // Whether a window is made longer depends on how fast it was.
    let files = |of: &BTreeMap<String, String>| -> Vec<String> {
        of.keys().filter(|name| !name.contains("/extended-")).cloned().collect()
    };
    assert_eq!(files(local), files(remote), "the same files");
    for (name, text) in local.iter().filter(|(name, _)| name.contains("/plans/") || name.ends_with("study.toml")) {
        assert_eq!(text, &remote[name], "{name}");
    }
    let (here, there): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&local["./provenance.json"]).unwrap(),
        serde_json::from_str(&remote["./provenance.json"]).unwrap(),
    );
    for key in ["stacks", "workloads", "seed", "policy", "drives", "build", "study_sha256"] {
        assert_eq!(here[key], there[key], "{key}");
    }
    assert_eq!((&here["place"], &there["place"]), (&"local".into(), &far.into()));
    assert_eq!(here["drives"].as_array().unwrap().len(), 2, "{}", here["drives"]);
    a_run_with_sudo_is_its_callers(&guest, &drives);
    what_is_erased_is_typed_on_a_terminal(&guest, &drives);
}

/// Whoever had another number of drives in mind stops there, and nothing was changed.
fn what_is_erased_is_typed_on_a_terminal(guest: &Guest, drives: &str) {
    let before = fingerprint(guest);
    let typing = |typed: &str| {
        let line = format!("{PROGRAM} run {QUICKSTART} --on local {drives} --quick --only 1 --runs {ROOT}/typed");
        let script = format!("printf '{typed}\\n' | script -qec '{line}' /dev/null; echo status ${{PIPESTATUS[1]}}");
        let said = shell(guest, &script);
        assert_eq!(fingerprint(guest), before, "{typed}: {said}");
        said
    };
    for typed in ["erase 2", "yes", ""] {
        let said = typing(typed);
        assert!(said.contains("Type `erase 1` to go on") && said.contains("nothing was changed"), "{typed}: {said}");
        assert!(said.contains("status 3"), "{typed}: {said}");
    }
    let said = typing("erase 1");
    assert!(said.contains("status 0") && said.contains("bedplate report "), "{said}");
}

/// Made as root below the home of whoever called `sudo`, and theirs; the key that root trusts is not.
fn a_run_with_sudo_is_its_callers(guest: &Guest, drives: &str) {
    let said = shell(
        guest,
        &format!(
            "echo caller:x:4242:4243::/home/caller:/bin/sh >>/etc/passwd; install -d -o 4242 -g 4243 /home/caller
             rm -f /root/.local/state/bedplate/journal.key
             env -u XDG_STATE_HOME SUDO_UID=4242 {PROGRAM} run {QUICKSTART} --on local {drives} --quick --only 1 2>&1 ||
                 exit 1
             find /home/caller ! '(' -uid 4242 -gid 4243 ')' | sed 's/^/not theirs: /'
             stat --format='owner %u of the key' /root/.local/state/bedplate/journal.key
             ls -d /home/caller/.local/state/bedplate/runs/*/reports/report.html"
        ),
    );
    assert!(said.contains("owner 0 of the key") && said.contains("/reports/report.html"), "{said}");
    assert!(!said.contains("not theirs"), "{said}");
}

#[test]
fn killed_at_any_step_it_is_taken_down() {
    let bench = Bench::new();
    let (deep, notes) = spec::parse(DEEP);
    let (guest, drives) = boot(&bench, &deep.unwrap_or_else(|| panic!("{notes:?}")));
    guest.write(&format!("{ROOT}/deep.toml"), DEEP.as_bytes()).unwrap();
    // Killed as soon as the journal has so many steps; the last kills come while fio runs.
    let script = format!(
        r#"
set -u
bedplate={binary}
# Whoever looks again and again starts no program for it: the only processor is wanted elsewhere.
mkfifo {ROOT}/clock
exec {{clock}}<> {ROOT}/clock
steps=0
look() {{ {look}; }}
before=$(look)
failures=0
kill_at=1
while [ "$kill_at" -le 40 ]; do
    runs={ROOT}/kill-$kill_at-$failures
    $bedplate run {ROOT}/deep.toml --on local {drives} --anchor off --runs $runs >/dev/null 2>{ROOT}/err &
    id=$!
    while :; do
        read -t 0.05 -u "$clock"
        begun=0
        for journal in $runs/*/journal.jsonl; do
            while read -r line; do
                [[ $line == *'"entry":"before"'* ]] && begun=$((begun + 1))
            done 2>/dev/null < "$journal"
        done
        [ "$begun" -ge "$kill_at" ] && break
        [ -e /proc/$id ] || break
        # Everything stands: there are no more steps.
        for events in $runs/*/events.jsonl; do
            while read -r line; do
                [[ $line == *'"event":"filled"'* ]] && {{ echo "all of it stands"; break 3; }}
            done 2>/dev/null < "$events"
        done
    done
    if [ ! -e /proc/$id ]; then
        # Seen once: the kernel refuses dm-integrity's table with ENOMEM. That is no kill; nothing may be left all the same.
        failures=$((failures + 1))
        echo "ended by itself: $(cat {ROOT}/err; dmesg | tail -n 40; free -m)"
        after=$(look)
        [ "$failures" -le 1 ] && [ "$after" = "$before" ] || {{ echo "left: $after"; exit 1; }}
        continue
    fi
    kill -9 $id
    wait $id 2>/dev/null
    if ! $bedplate teardown --runs $runs >{ROOT}/down 2>&1; then
        # Of what has no identifier, or did not get to tell it, and is not open, a person is asked, and of nothing else.
        grep -qE 'holds: [^ ]+: (DM_integrity|LVM2_member)' {ROOT}/down ||
            {{ echo "teardown after $begun steps:"; cat {ROOT}/down; exit 1; }}
        grep -q -e '--erase' {ROOT}/down || {{ echo "no way on after $begun steps:"; cat {ROOT}/down; exit 1; }}
        $bedplate teardown --runs $runs {erase} >{ROOT}/down 2>&1 ||
            {{ echo "teardown --erase after $begun steps:"; cat {ROOT}/down; exit 1; }}
    fi
    after=$(look)
    [ "$after" = "$before" ] || {{ echo "left after $begun steps: $after"; exit 1; }}
    steps=$begun
    echo "killed after $begun steps"
    [ "$begun" -lt "$kill_at" ] && break
    kill_at=$((kill_at + {step}))
done
# Both are killed while the format goes on: its mapping stays, and is nobody's but the run's.
runs={ROOT}/kill-format
$bedplate run {ROOT}/deep.toml --on local {drives} --anchor off --runs $runs >/dev/null 2>{ROOT}/err &
id=$!
until ls /sys/block/*/holders/dm-* >/dev/null 2>&1; do
    [ -e /proc/$id ] || {{ echo "ended by itself: $(cat {ROOT}/err)"; exit 1; }}
done
kill -9 $id $(pgrep -x integritysetup)
wait $id 2>/dev/null
dmsetup ls | grep -q ^temporary-cryptsetup- || {{ echo "the format left no mapping: $(dmsetup ls)"; exit 1; }}
$bedplate teardown --runs $runs >{ROOT}/down 2>&1 || $bedplate teardown --runs $runs {erase} >{ROOT}/down 2>&1 ||
    {{ echo "teardown after a killed format:"; cat {ROOT}/down; exit 1; }}
after=$(look)
[ "$after" = "$before" ] || {{ echo "left after a killed format: $after"; exit 1; }}
echo "steps $steps"
"#,
        binary = PROGRAM,
        step = crate::bench::every(6),
        look = looking(&guest),
        erase = erasing(&drives),
    );
    let said = shell(&guest, &script);
    eprintln!("{said}");
    let steps: u32 = said.trim().rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{said}"));
    assert!(steps >= 12, "{said}");
    eprintln!("killed and taken down up to step {steps}");
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_pulled_drive_is_finished_with_when_it_is_back() {
    let bench = Bench::new();
    let design = design(crate::bench::TWO_NVME);
    let (guest, drives) = boot(&bench, &design);
    // The second drive of a mirror goes while fio works on it; then the only one of a cipher, whose run was killed before, and
    // another process takes down what it can.
    let killed = "kill -9 $id; pkill -x fio; while pgrep -x fio >/dev/null; do sleep 0.1; done";
    for (stack, controller, before, marked) in
        [(4, "nvme1", "sleep 1", "mdadm --zero-superblock"), (2, "nvme0", killed, "is not there")]
    {
        let runs = format!("{ROOT}/pulled-{stack}");
        let after = if stack == 4 {
            "wait $id".to_owned()
        } else {
            format!("{PROGRAM} teardown --runs {runs} >>{ROOT}/out 2>&1")
        };
        let said = shell(
            &guest,
            &format!(
                r#"
{PROGRAM} run {QUICKSTART} --on local {drives} --only {stack} --rounds 1 --anchor off --settle 100ms --window 20s --runs {runs} >{ROOT}/out 2>&1 &
id=$!
until grep -q filled {runs}/*/events.jsonl 2>/dev/null; do
    [ -e /proc/$id ] || {{ cat {ROOT}/out; exit 1; }}
    sleep 0.2
done
{before}
controller=$(readlink -f /sys/class/nvme/{controller}/device)
echo 1 > $controller/remove
{after}
echo "status $?"
cat {ROOT}/out
"#
            ),
        );
        eprintln!("{said}");
        assert!(!said.starts_with("status 0"), "{said}");
        assert!(said.contains("left to do") && said.contains(marked), "what is left is told: {said}");
        assert!(stack == 2 || said.contains("degraded"), "a mirror without its second drive gives no numbers: {said}");
        // What is not on that drive is taken down without it.
        let left = shell(&guest, "dmsetup ls; grep ^md /proc/mdstat; grep /mnt/ /proc/mounts; true");
        assert!(!left.contains("bp-") && !left.contains("active") && !left.contains("/mnt/"), "{left}");
        shell(&guest, "echo 1 > /sys/bus/pci/rescan; sleep 3; lsblk");
        let (status, said) = self::bedplate(&guest, &format!("teardown --runs {runs}"));
        assert_eq!(status, 0, "{said}");
        let left = fingerprint(&guest);
        assert!(!left.contains("active") && !left.contains("/mnt/") && !left.contains("linux_raid"), "{left}");
        // A run's bytes are on a drive that was away at its end, and a next run would refuse it.
        shell(&guest, "for d in /dev/nvme?n1; do blkdiscard -f $d; done");
    }
}

/// Block, scheduler and write cache of the first drive.
fn settings(guest: &Guest) -> String {
    let node = guest.drives().values().next().unwrap();
    let name = node.trim_start_matches("/dev/");
    shell(
        guest,
        &format!(
            "blockdev --getss {node}; cat /sys/block/{name}/queue/scheduler; \
             nvme get-feature {node} --feature-id=6 --human-readable"
        ),
    )
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn drives_are_set_up_and_put_back() {
    let bench = Bench::new();
    let (design, notes) = spec::parse(SET_UP);
    let (guest, drives) = boot(&bench, &design.unwrap_or_else(|| panic!("{notes:?}")));
    guest.write(&format!("{ROOT}/setup.toml"), SET_UP.as_bytes()).unwrap();
    let before = settings(&guest);
    assert!(before.starts_with("512\n[none]"), "{before}");
    let runs = format!("{ROOT}/setup");
    let (status, said) = bedplate(&guest, &format!("run {ROOT}/setup.toml --on local {drives} --quick --runs {runs}"));
    assert_eq!(status, 0, "{said}");
    let files = record(&guest, &runs);
    let journal = &files["./journal.jsonl"];
    for done in ["nvme format", "--feature-id=6 --value=0", "echo mq-deadline"] {
        assert!(journal.contains(done), "{done} in {journal}");
    }
    assert_eq!(settings(&guest), before, "put back");
    let raw = shell(&guest, &format!("grep -c undoing {runs}/*/journal.jsonl"));
    assert!(raw.trim().parse::<u32>().unwrap() >= 4, "{raw}");
}
