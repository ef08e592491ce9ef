//! Texts that people post: what is found in them, and that a part of one neither passes a check nor finds what the whole
//! does not.

use std::collections::BTreeSet;

use host::{inspect, posted};
use proptest::prelude::*;
use terms::diagnosis::{CheckEnd, Diagnosis, Severity};

use crate::diagnose;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../host/src/posted/samples/", $name))
    };
}

const TEXTS: [&str; 20] = [
    sample!("lspci-vv.txt"),
    sample!("lspci-tv.txt"),
    sample!("lsblk.txt"),
    sample!("lsblk-topology.txt"),
    sample!("lsblk.json"),
    sample!("mdstat.txt"),
    sample!("mdadm-detail-old.txt"),
    sample!("zpool-status.txt"),
    sample!("zdb.txt"),
    sample!("nvme-list-old.txt"),
    sample!("nvme-id-ns-H.txt"),
    sample!("nvme-smart-log.txt"),
    sample!("nvme-smart-log-old.txt"),
    sample!("smartctl-x-sata.txt"),
    sample!("smartctl-a-desktop.txt"),
    sample!("smartctl-x-sas.txt"),
    sample!("luksDump2.txt"),
    sample!("grep-scheduler.txt"),
    sample!("df.txt"),
    sample!("dmesg.txt"),
];

fn diagnosis(text: &str) -> Diagnosis {
    diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap())
}

fn found(diagnosis: &Diagnosis) -> Vec<(&str, &str, Severity)> {
    diagnosis.findings.iter().map(|found| (found.check.as_str(), found.place.name.as_str(), found.severity)).collect()
}

#[test]
fn faults_are_found_in_what_was_posted() {
    use Severity::{Error, Information, Warning};
    for (text, wanted) in [
        (
            sample!("smartctl-x-sata.txt"),
            &[
                ("drive-media-errors", "sda", Warning),
                ("drive-self-test", "sda", Error),
                ("drive-line-errors", "sda", Information),
                ("line-below-drive", "sda", Information),
            ][..],
        ),
        (
            sample!("smartctl-a-desktop.txt"),
            &[("drive-critical-warning", "sdX", Error), ("drive-media-errors", "sdX", Warning)],
        ),
        (sample!("smartctl-x-sas.txt"), &[("drive-media-errors", "sdf", Warning), ("drive-self-test", "sdf", Error)]),
        (
            sample!("nvme-smart-log.txt"),
            &[("drive-wear", "nvme0n1", Information), ("drive-throttled", "nvme0n1", Warning)],
        ),
        (
            sample!("nvme-smart-log-old.txt"),
            &[("drive-spare", "nvme1n1", Error), ("drive-critical-warning", "nvme1n1", Error)],
        ),
        (
            sample!("nvme-id-ns-H.txt"),
            &[("lba-format", "nvme2n1", Information), ("lba-metadata", "nvme2n1", Information)],
        ),
        (sample!("mdadm-detail.txt"), &[("array-degraded", "md0", Error), ("array-resyncing", "md0", Error)]),
        (sample!("luksDump2.txt"), &[("encryption-sector", "NAME (dm-X)", Information)]),
        (sample!("df.txt"), &[("file-system-space", "/srv", Warning)]),
        (sample!("lspci-vv.txt"), &[("link-below-both-ends", "0000:01:00.0", Error)]),
    ] {
        let diagnosis = diagnosis(text);
        let found = found(&diagnosis);
        for one in wanted {
            assert!(found.contains(one), "{one:?} not in {found:?}; unknown {:?}", diagnosis.unknown);
        }
    }
}

#[test]
fn a_drive_without_a_limit_in_an_array_is_found_without_the_kernels_side() {
    let limit =
        "SCT Error Recovery Control:\n           Read:     70 (7.0 seconds)\n          Write:     70 (7.0 seconds)";
    let off = "SCT Error Recovery Control:\n           Read: Disabled\n          Write: Disabled";
    let smart = sample!("smartctl-x-sata.txt").replace(limit, off);
    assert!(smart.contains(off));
    let array = "Personalities : [raid1]\nmd0 : active raid1 sdb[1] sda[0]\n      100 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n";
    let diagnosis = diagnosis(&format!("{array}{smart}"));
    let found = diagnosis.findings.iter().find(|found| found.check == "recovery-time-out").unwrap();
    assert!(found.why.contains("was not read; it is 30 s unless"), "{}", found.why);
    assert_eq!(found.remedy.commands, ["smartctl -l scterc /dev/sda", "smartctl -l scterc,70,70 /dev/sda"]);
}

/// What several texts together may tell, and none of them alone; and the nearer end of a link, which tells less than both.
const JOINED: [&str; 5] =
    ["bandwidth-message", "recovery-time-out", "link-below-both-ends", "encryption-sector", "link-below-drive"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_part_of_what_was_posted_passes_nothing_and_finds_nothing_else(
        parts in prop::collection::vec((0..TEXTS.len(), any::<prop::sample::Index>()), 1..4),
    ) {
        let (mut part, mut whole) = (String::new(), BTreeSet::new());
        for (which, lines) in parts {
            let all: Vec<&str> = TEXTS[which].split_inclusive('\n').collect();
            part.extend(all.iter().take(3 + lines.index(all.len())).copied());
            whole.extend(diagnosis(TEXTS[which]).findings.into_iter().map(|found| found.check));
        }
        let diagnosis = diagnosis(&part);
        for check in &diagnosis.checks {
            prop_assert!(check.state != CheckEnd::Passed, "{} passed", check.check);
        }
        for found in &diagnosis.findings {
            let known = whole.contains(&found.check) || JOINED.contains(&found.check.as_str());
            prop_assert!(known, "{}: {}", found.check, found.what);
        }
    }
}
