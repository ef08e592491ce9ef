//! Texts that people post, whole, cut and mixed: what is read of them, and what is not.

use proptest::prelude::*;
use terms::inventory::{Inventory, Readout};

use super::{TextKind, read};
use crate::inspect;

const LSPCI: &str = "00:01.1 PCI bridge: AMD Bridge (prog-if 00 [Normal decode])\n\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n\tCapabilities: [58] Express (v2) Root Port (Slot+), MSI 00\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x4, ASPM L1\n\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x4\n\n01:00.0 Non-Volatile memory controller: Samsung (prog-if 02 [NVM Express])\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x4, ASPM L1\n\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x4 (ok)\n";
const MDSTAT: &str = "Personalities : [raid1] [raid6] [raid5]\nmd1 : active raid5 sdc1[3] sdb1[1] sda1[0]\n      200 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/2] [UU_]\n      [==>..................]  recovery = 12.6% (126/1000) finish=1.0min speed=100K/sec\n\nmd0 : active raid1 sdb2[1] sda2[0]\n      100 blocks [2/2] [UU]\n      \tresync=DELAYED\n\nunused devices: <none>\n";
const ZPOOL: &str = "  pool: tank\n state: DEGRADED\n  scan: none requested\nconfig:\n\n        NAME        STATE     READ WRITE CKSUM\n        tank        DEGRADED     0     0     0\n          mirror-0  DEGRADED     0     0     0\n            sda     ONLINE       0     0     0  block size: 512B configured, 4096B native\n            sdb     UNAVAIL      0     0     0\n\nerrors: No known data errors\n";
const DMESG: &str = "[    1.5] nvme nvme0: controller is down; will reset: CSTS=0xffffffff\n[    2.5] eth0: up\n";

fn inventory(text: &str) -> Inventory {
    inspect::examine(&read([("post", text)]).machine).unwrap()
}

#[test]
fn a_mixture_is_one_machine_with_its_sources() {
    let text = [LSPCI, MDSTAT, ZPOOL, DMESG].join("\n");
    let posted = read([("post", text.as_str())]);
    assert_eq!(posted.refused, Vec::<String>::new());
    let told: Vec<_> = posted.pieces.iter().map(|piece| (piece.kind, piece.told)).collect();
    assert_eq!(told, [(TextKind::Lspci, 2), (TextKind::Mdstat, 2), (TextKind::Zpool, 1), (TextKind::Dmesg, 2)]);
    let inventory = inventory(&text);
    let drive = inventory.pci_device("0000:01:00.0").unwrap();
    assert_eq!((drive.parent.as_deref(), drive.link.as_deref()), (Some("0000:00:01.1"), Some("8.0 GT/s x4")));
    assert_eq!(inventory.pci_device("0000:00:01.1").unwrap().role, terms::inventory::PciRole::RootPort);
    let md = inventory.node("md1").unwrap().md.clone().unwrap();
    assert_eq!((md.degraded, md.sync_completed_sectors), (Readout::Known(Some(1)), Readout::Known(Some([252, 2000]))));
    // The member that took the place of another is the one that is filled.
    let filled = md.members.iter().find(|member| member.device == "sdc1").unwrap();
    assert_eq!((filled.slot, &filled.state[..]), (Some(2), &["spare".to_owned()][..]));
    assert!(inventory.node("md0").unwrap().md.as_ref().unwrap().sync_waits);
    let detail = inventory.detail.as_ref().unwrap();
    let top = &detail.pools.known().unwrap()[0].vdevs.known().unwrap()[0];
    assert_eq!((top.children.len(), top.children[0].kind.as_str()), (2, "disk"));
    assert_eq!(top.children[0].native, Some(terms::Bytes(4096)));
    assert_eq!(detail.linux.messages.known().unwrap().len(), 1);
    // What no text tells is not known, and what else is there neither.
    assert!(detail.mounts.known().is_none() && inventory.why_unread("/sys/block").is_some());
    assert!(inventory.why_unread("/sys/bus/pci/devices").is_some());
}

#[test]
fn what_is_cut_or_of_no_known_kind_is_told() {
    for (text, words) in [
        ("Hello, my array is slow", "no program"),
        ("md0 : active raid1 sdb2[1] sda2[0]\n      100 blocks [2/", "md0"),
        ("  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\ttank ONLINE 0 0 0\n", "cut"),
    ] {
        let posted = read([("post", text)]);
        assert!(posted.refused.iter().any(|refused| refused.contains(words)), "{text}: {:?}", posted.refused);
    }
}

#[test]
fn texts_that_contradict_each_other_make_it_unknown() {
    let other = LSPCI.replace("Speed 8GT/s (downgraded), Width x4 (ok)", "Speed 16GT/s, Width x4");
    let posted = read([("one", LSPCI), ("two", other.as_str())]);
    assert!(posted.refused.iter().any(|refused| refused.contains("in another")), "{:?}", posted.refused);
}

#[test]
fn what_stands_before_a_table_of_partitions_is_part_of_it() {
    for text in [include_str!("samples/gdisk.txt"), include_str!("samples/parted.txt")] {
        let pieces: Vec<_> = read([("post", text)]).pieces.iter().map(|piece| (piece.line, piece.told)).collect();
        assert_eq!(pieces, [(2, 2)], "{text}");
        let twice = format!("{text}\n{}", text.replace("/dev/sd", "/dev/sda"));
        assert_eq!(read([("post", twice.as_str())]).pieces.len(), 2, "{twice}");
    }
}

/// The kernel has no more, and what is read of them is held against each other.
#[test]
fn more_partitions_than_a_drive_can_have_are_not_read() {
    let table = |count: u64| {
        let rows = (1..=count).map(|at| format!("/dev/sda{at} {} {} 2048 1M 83 Linux\n", at * 2048, at * 2048 + 2047));
        format!("Disk /dev/sda: 1.82 TiB, 2000398934016 bytes, 3907029168 sectors\n{}\n", rows.collect::<String>())
    };
    assert_eq!(read([("post", table(256).as_str())]).pieces[0].told, 257);
    let posted = read([("post", table(257).as_str())]);
    assert_eq!(posted.pieces[0].told, 1);
    assert!(posted.refused.iter().any(|refused| refused.contains("257 rows")), "{:?}", posted.refused);
}

/// What is read of file systems and groups is held against each other, and a number is no list.
#[test]
fn more_than_anybody_has_is_not_read() {
    let vgs = "  VG  #PV        #LV #SN Attr   VSize VFree\n  vg0 4294967295   1   0 wz--n- 1.82t    0 \n";
    let inventory = inventory(vgs);
    let groups = inventory.detail.as_ref().unwrap().volume_groups.known().unwrap();
    assert!((1..=4096).contains(&groups[0].physical.len()));
    let stats: String = (0..300).map(|at| format!("[/dev/sd{at}].write_io_errs 0\n")).collect();
    let posted = read([("post", stats.as_str())]);
    assert!(posted.refused.iter().any(|refused| refused.contains("more than anybody has")), "{:?}", posted.refused);
}

#[test]
fn a_prompt_may_have_more_than_one_blank() {
    for prompt in ["$ ", "$  ", "root@nas:~#   "] {
        let text = format!("{prompt}smartctl -A /dev/sdq\n{}", include_str!("samples/smartctl-a-desktop.txt"));
        let inventory = inventory(&text);
        assert!(inventory.drives.iter().any(|drive| drive.kernel_name == "sdq"), "{prompt}");
    }
}

/// What is known of links, arrays and pools, in words.
fn facts(inventory: &Inventory) -> Vec<String> {
    let mut all = Vec::new();
    for device in &inventory.pci {
        for link in [&device.link, &device.max_link].into_iter().flatten() {
            all.push(format!("{} {link}", device.address));
        }
    }
    let detail = inventory.detail.as_ref().unwrap();
    for node in &detail.nodes {
        let Some(md) = &node.md else { continue };
        all.extend(md.degraded.known().map(|degraded| format!("{} {degraded:?}", node.name)));
        all.extend(md.sync_action.known().map(|action| format!("{} {action:?}", node.name)));
    }
    all.extend(detail.pools.known().into_iter().flatten().map(|pool| format!("{} {}", pool.name, pool.state)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_text_cut_at_the_end_of_a_line_says_nothing_else(lines in 0_usize..40) {
        let text = [LSPCI, MDSTAT, ZPOOL, DMESG].join("\n");
        let cut: Vec<&str> = text.lines().take(lines).collect();
        let whole = facts(&inventory(&text));
        for fact in facts(&inventory(&cut.join("\n"))) {
            prop_assert!(whole.contains(&fact), "{}", fact);
        }
    }

    #[test]
    fn hostile_text_never_panics(noise in "(?s).{0,300}", at in any::<prop::sample::Index>()) {
        let mut text: Vec<char> = [LSPCI, MDSTAT, ZPOOL, DMESG].join("\n").chars().collect();
        let at = at.index(text.len());
        text.splice(at..at, noise.chars());
        let text: String = text.into_iter().collect();
        inventory(&text);
    }
}

/// A text that tells less than its words seem to say: nothing is missing, and nothing is mounted so.
#[test]
fn what_programs_say_to_others_than_root_is_not_believed() {
    let missing = |text: &str| {
        let inventory = inventory(text);
        let systems = inventory.detail.as_ref().map(|detail| format!("{:?}", detail.file_systems)).unwrap_or_default();
        systems.contains("missing: Known(true)")
    };
    let usage = |lost: &str| {
        format!(
            "$ btrfs filesystem usage /data\nOverall:\n    Device size:\t\t  2.00TiB\n    Device missing:\t\t  {lost}\n\nData,single: Size:1.00TiB, \
                 Used:900.00GiB\n   /dev/sda2\t  1.00TiB\n\nUnallocated:\n   /dev/sda2\t  1.00TiB\n"
        )
    };
    assert_eq!((missing(&usage("2.00TiB")), missing(&usage("1.00TiB"))), (false, true));
    let rows = |first: &str, second: &str| {
        format!(
            "$ btrfs filesystem show\nLabel: 'a'  uuid: 11111111-2222-3333-4444-555555555555\n\tTotal devices 2 FS bytes used 1.00GiB\n\
                 \tdevid    1 size 1.00TiB used 2.00GiB path /dev/sda1{first}\n\tdevid    2 size 1.00TiB used 2.00GiB path /dev/sdb1{second}\n"
        )
    };
    assert_eq!((missing(&rows(" MISSING", " MISSING")), missing(&rows("", " MISSING"))), (false, true));
}

#[test]
fn rows_of_a_table_to_come_are_no_mounts() {
    let text = "$ cat /etc/fstab\nUUID=1-2 / ext4 defaults 0 1\n/dev/sdb1 /data ext4 rw,noatime,nobarrier 0 0\n";
    assert_eq!(read([("post", text)]).pieces.len(), 1);
    let alone = read([("post", "$ cat /etc/fstab\n/dev/sdb1 /data ext4 rw,noatime,nobarrier 0 0\n")]);
    assert!(alone.pieces.iter().all(|piece| piece.kind == TextKind::Fstab), "{:?}", alone.pieces);
}
