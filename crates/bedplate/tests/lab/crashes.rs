//! What is left of a run on real drives when power goes, or room for its journal.

use host::Host;
use terms::Design;

use crate::bench::Bench;
use crate::places::{DEEP, QUICKSTART, ROOT, bedplate, boot, fingerprint, move_in, shell};

/// The deep stack's study with a third drive, which keeps the record.
fn with_a_drive_for_records() -> Design {
    let text = DEEP.replace(r#"{ name = "b","#, r#"{ name = "r", size = "128 MiB" }, { name = "b","#);
    crate::bench::understood(&text)
}

/// Signatures of the drives that the stack stood on.
fn signatures(guest: &lab::Guest) -> String {
    let nodes: Vec<&str> =
        ["a", "b"].iter().map(|name| guest.drives()[&terms::Name::new(*name).unwrap()].as_str()).collect();
    shell(guest, &format!("for d in {}; do blkid -p $d; wipefs -n $d; done; true", nodes.join(" ")))
}

/// What lasts on a machine lies on its disk: records, and the key that this person's journals are signed with.
fn keeping(records: &str) -> String {
    format!(
        "mkdir -p /mnt/records $HOME/.local/state && mount {records} /mnt/records && mkdir -p /mnt/records/state \
         && ln -sfn /mnt/records/state $HOME/.local/state/bedplate"
    )
}

#[test]
fn a_power_cut_is_recovered_from() {
    let bench = Bench::new();
    let design = with_a_drive_for_records();
    let kept = tempfile::tempdir_in(bench.labs().parent().unwrap()).unwrap();
    let guest = bench.boot(&design);
    let drives = move_in(&guest);
    let records = guest.drives()[&terms::Name::new("r").unwrap()].clone();
    let used: Vec<&String> = drives.iter().filter(|pair| !pair.contains(" r=")).collect();
    let pairs = used.iter().map(|pair| pair.as_str()).collect::<Vec<_>>().join(" ");
    guest.write(&format!("{ROOT}/deep.toml"), DEEP.as_bytes()).unwrap();
    shell(&guest, &format!("mkfs.ext4 -q {records} && {}", keeping(&records)));
    // Power goes while fio works on the finished stack.
    let said = shell(
        &guest,
        &format!(
            r#"
{program} run {ROOT}/deep.toml --on local {pairs} --anchor off --runs /mnt/records/runs >{ROOT}/out 2>&1 &
id=$!
until grep -q '"event":"filled"' /mnt/records/runs/*/events.jsonl 2>/dev/null; do
    [ -e /proc/$id ] || {{ cat {ROOT}/out; exit 1; }}
    sleep 0.2
done
sleep 1
lsblk --noheadings --raw --output NAME,TYPE
"#,
            program = crate::places::PROGRAM
        ),
    );
    assert!(said.contains("raid1") && said.contains("crypt") && said.contains("lvm"), "{said}");
    guest.cut_power(kept.path()).unwrap();

    let guest = bench.boot_from(&design, Some(kept.path()));
    move_in(&guest);
    let records = guest.drives()[&terms::Name::new("r").unwrap()].clone();
    shell(&guest, &keeping(&records));
    assert!(!signatures(&guest).is_empty(), "something survived");
    let (status, said) = bedplate(&guest, "teardown --runs /mnt/records/runs");
    assert_eq!(status, 3, "after a new start somebody has to say whose it is: {said}");
    assert!(said.contains("rebooted since") && said.contains("--erase"), "{said}");
    assert!(!signatures(&guest).is_empty(), "refused, and yet something was written");
    let erase = used.iter().map(|pair| format!("--erase {}", pair.split_once('=').unwrap().1)).collect::<Vec<_>>();
    let (status, said) = bedplate(&guest, &format!("teardown --runs /mnt/records/runs {}", erase.join(" ")));
    assert_eq!(status, 0, "{said}");
    assert_eq!(signatures(&guest), "", "{said}");
    let (status, said) = bedplate(&guest, "teardown --runs /mnt/records/runs");
    assert!(status == 0 && said.contains("nothing"), "{said}");
}

/// A run whose record lies on a small disk of its own, and what it says; nothing of it stands, and a teardown agrees.
fn runs_out_of_room(guest: &lab::Guest, run: &str, directory: &str, kib: u32) -> bool {
    // A teardown that could not be written down leaves the run's bytes, without a signature: nobody discards them.
    for node in guest.drives().values() {
        shell(guest, &format!("blkdiscard -f {node}"));
    }
    let before = fingerprint(guest);
    shell(guest, &format!("mkdir -p {directory} && mount -t tmpfs -o size={kib}k tmpfs {directory}"));
    // The stack is there when the rest of a disk that is large enough fills up: no word of taking it down is kept.
    if kib >= LARGE_KIB {
        shell(
            guest,
            &format!(
                "(until grep -qs '\"event\":\"filled\"' {directory}/runs/*/events.jsonl; do sleep 0.1; done; \
                 cat /dev/zero >{directory}/rest) >/dev/null 2>&1 &"
            ),
        );
    }
    let (status, said) = bedplate(guest, &format!("{run} --runs {directory}/runs"));
    eprintln!("{kib} KiB: exit {status}");
    assert!(status == 0 || said.contains("No space left on device"), "{kib} KiB: {said}");
    assert_eq!(fingerprint(guest), before, "{kib} KiB: something stands, because it could not be written down");
    shell(guest, &format!("rm -f {directory}/rest && mount -o remount,size=64m {directory}"));
    if !shell(guest, &format!("ls {directory}/runs/*/provenance.json 2>/dev/null || true")).is_empty() {
        let (status, said) = bedplate(guest, &format!("teardown --runs {directory}/runs"));
        assert_eq!(status, 0, "{kib} KiB: {said}");
    }
    status != 0
}

/// Larger than the whole record.
const LARGE_KIB: u32 = 4096;

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn a_full_disk_leaves_nothing_standing() {
    let bench = Bench::new();
    let (guest, drives) = boot(&bench, &crate::bench::design(crate::bench::TWO_NVME));
    let run = format!("run {QUICKSTART} --on local {drives} --quick --only 3");
    // Not below /mnt, where stacks are mounted.
    let failed = |kib: &u32| runs_out_of_room(&guest, &run, &format!("{ROOT}/full-{kib}"), *kib);
    let failures = [24, 140, 220, LARGE_KIB].iter().filter(|kib| failed(kib)).count();
    assert!(failures >= 3, "the record is smaller than it was: choose smaller disks");
}
