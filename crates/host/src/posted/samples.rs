//! Texts of real programs, old and new versions: what is read of each, and that nothing else is read of a part of it.

use proptest::prelude::*;
use terms::inventory::Inventory;

use super::lsblk::drive_of;
use super::{TextKind, read};
use crate::inspect;

macro_rules! samples {
    ($($name:literal: $kind:ident, $told:literal, [$($fact:literal),* $(,)?];)*) => {
        &[$(Sample {
            name: $name,
            text: include_str!(concat!("samples/", $name)),
            kind: TextKind::$kind,
            told: $told,
            facts: &[$($fact),*],
        }),*]
    };
}

struct Sample {
    name: &'static str,
    text: &'static str,
    kind: TextKind,
    told: usize,
    facts: &'static [&'static str],
}

const SAMPLES: &[Sample] = samples! {
    "lspci-vv.txt": Lspci, 2, ["0000:01:00.0 nvme under 0000:00:01.1", "0000:01:00.0 link 8.0 GT/s x4", "0000:01:00.0 best 16.0 GT/s x4"];
    "lspci-nn.txt": Lspci, 3, ["0000:00:17.0 sata", "0000:01:00.0 nvme"];
    "lspci-plain-guest.txt": Lspci, 2, ["0000:00:02.0 other", "0000:01:00.0 nvme"];
    "lspci-tv.txt": LspciTree, 9, [
        "0000:01:00.0 nvme under 0000:00:01.1",
        "0000:02:00.1 sata under 0000:00:01.3",
        "0000:04:00.0 nvme under 0000:03:00.0",
        "0000:03:00.0 bridge under 0000:02:00.2",
    ];
    "lspci-tv-domains.txt": LspciTree, 3, ["0000:81:00.0 nvme under 0000:80:01.0", "0000:00:17.0 sata"];
    "mdstat.txt": Mdstat, 1, ["md0 degraded 1", "md0 recover", "md0 sdc1 slot 2 spare", "md0 done 984535552 of 7813774336"];
    "mdadm-detail.txt": Mdadm, 1, ["md0 degraded 1", "md0 recover", "md0 sdc1 slot 2 spare", "md0 chunk 512 KiB", "md0 policy bitmap"];
    "mdadm-detail-old.txt": Mdadm, 1, ["md1 degraded 1", "md1 idle", "md1 sdb2 slot 0 in_sync"];
    "zpool-status.txt": Zpool, 1, ["pool tank DEGRADED", "pool tank resilver in progress since Sun Mar  3 12:00:00 2024"];
    "zdb.txt": Zdb, 1, [];
    "lsblk.txt": Lsblk, 12, ["sda1 on sda", "md0 on sda1", "md0 on sdb1", "dm-1 on md0", "nvme0n1p2 on nvme0n1", "dm-0 on nvme0n1p2", "dm-0 is crypt"];
    "lsblk-topology.txt": Lsblk, 4, [
        "sda sata", "sda spins", "sda physical 4096", "sda serial WD-WCC7K0AAAAAA", "sdc scheduler bfq", "nvme0n1 scheduler none",
        "sdc model Samsung SSD 860 EVO",
    ];
    "lsblk-f.txt": Lsblk, 6, ["sda1 on sda", "md0 on sda1", "nvme0n1p1 on nvme0n1"];
    "lsblk.json": Json, 3, ["sda sata", "sda spins", "sda size 4000787030016", "sda1 on sda", "md0 on sda1", "sda1 start 1048576"];
    "fdisk.txt": Fdisk, 7, [
        "sda size 1000204886016", "sda physical 4096", "sda model WDC WD10EZEX-08W", "sda1 start 1048576", "sda2 on sda", "sda5 start 256901120",
        "nvme0n1 logical 4096", "nvme0n1p1 start 1048576", "nvme0n1p2 start 537919488",
    ];
    "fdisk-old.txt": Fdisk, 2, ["sdb size 500107862016", "sdb physical 512", "sdb1 start 32256"];
    "gdisk.txt": Fdisk, 2, ["sdc size 4000787030016", "sdc physical 4096", "sdc1 start 1048576"];
    "parted.txt": Fdisk, 2, ["sdd size 4000787030016", "sdd physical 4096", "sdd1 start 1048576"];
    "nvme-list-old.txt": NvmeList, 2, ["nvme0n1 logical 512", "nvme0n1 model Samsung SSD 970 EVO Plus 500GB", "nvme1n1 logical 4096", "nvme1n1 metadata 8", "nvme1n1 firmware VDV10131"];
    "nvme-list-new.txt": NvmeList, 1, ["nvme0n1 serial 22260000AAAA", "nvme0n1 logical 512", "nvme0n1 metadata 0"];
    "nvme-list.json": Json, 1, ["nvme0n1 model CT1000P5PSSD8", "nvme0n1 firmware P7CR402"];
    "nvme-list-2.json": Json, 1, ["nvme0n1 model CT1000P5PSSD8", "nvme0n1 firmware P7CR402"];
    "nvme-id-ns.txt": IdNs, 1, ["nvme0n1 format 0: 512+0 rated 2 in use", "nvme0n1 format 1: 4096+0 rated 1", "nvme0n1 protection 0"];
    "nvme-id-ns-H.txt": IdNs, 1, ["nvme2n1 format 1: 512+8 rated 3 in use", "nvme2n1 format 2: 4096+0 rated 0", "nvme2n1 protection 1"];
    "nvme-smart-log.txt": SmartLog, 1, [
        "nvme0n1 temperature 47", "nvme0n1 used 85", "nvme0n1 media 2", "nvme0n1 log 17", "nvme0n1 spare 100", "nvme0n1 slowed 5", "nvme0n1 hours 12345",
    ];
    "nvme-smart-log-old.txt": SmartLog, 1, ["nvme1n1 warns 1", "nvme1n1 spare 4", "nvme1n1 used 100", "nvme1n1 temperature 35"];
    "smartctl-x-sata.txt": Smartctl, 1, [
        "sda sata", "sda spins", "sda size 4000787030016", "sda attribute 5: 8", "sda attribute 197: 3", "sda attribute 199: 120",
        "sda test 0 failed at 36700", "sda test 1 passed at 36000", "sda recovery Limited(Nanos(7000000000))", "sda line 30 of 60",
        "sda temperature 32", "sda limit 60", "sda hours 36712",
    ];
    "smartctl-a-desktop.txt": Smartctl, 1, [
        "sdX warns 4", "sdX attribute 187: 312", "sdX attribute 188: 5", "sdX attribute 5: 4032", "sdX line 60 of 60", "sdX hours 26543",
        "sdX temperature 32",
    ];
    "smartctl-x-sas.txt": Smartctl, 1, [
        "sdf sas", "sdf grown 7", "sdf uncorrected 2", "sdf test 0 failed at 41000", "sdf test 1 passed at 40000", "sdf temperature 41", "sdf limit 60",
        "sdf hours 41234",
    ];
    "smartctl-a-nvme.txt": Smartctl, 1, [
        "nvme1n1 temperature 44", "nvme1n1 used 4", "nvme1n1 format 0: 512+0 rated 2 in use", "nvme1n1 format 1: 4096+0 rated 1",
        "nvme1n1 model Samsung SSD 980 PRO 2TB", "nvme1n1 firmware 3B2QGXA7",
    ];
    "smartctl.json": Json, 1, ["sdb attribute 199: 5", "sdb line 60 of 60", "sdb hours 20000"];
    "nvme-id-ctrl.txt": IdCtrl, 1, ["nvme0n1 model WD_BLACK SN850X 2000GB", "nvme0n1 serial 23010000AAAA", "nvme0n1 firmware 620331WD", "nvme0 apst true", "nvme0 warns from 90"];
    "nvme-id-ctrl-H.txt": IdCtrl, 1, ["nvme1n1 model QEMU NVMe Ctrl", "nvme1 apst false", "nvme1 warns from 70"];
    "nvme-id-ctrl.json": Json, 1, ["nvme2n1 model CT1000P5PSSD8", "nvme2 apst true", "nvme2 warns from 83"];
    "mdadm-examine.txt": Examine, 1, ["sdb1 signed linux_raid_member at 4096"];
    "mdadm-examine-two.txt": Examine, 2, ["nvme0n1p3 signed linux_raid_member at 4096", "nvme1n1p3 signed linux_raid_member at 0"];
    "zpool-list-v.txt": ZpoolList, 2, ["pool tank DEGRADED", "pool tank capacity 83", "pool tank fragmentation 27", "pool rpool capacity 12"];
    "zpool-list-old.txt": ZpoolList, 1, ["pool data ONLINE", "pool data capacity 91"];
    "luksDump1.txt": LuksDump, 1, ["dm-X on sdc1", "dm-X sector 512"];
    "luksDump2.txt": LuksDump, 1, ["dm-X on nvme0n1p2", "dm-X sector 512"];
    "grep-scheduler.txt": Files, 3, ["nvme0n1 scheduler none", "sda scheduler bfq"];
    "df.txt": Df, 1, ["usage /dev/md0 98"];
    "df-T.txt": Df, 1, ["usage /dev/nvme0n1p2 52"];
    "dmesg-T.txt": Dmesg, 2, ["dmesg nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10"];
    "journal.txt": Dmesg, 3, ["dmesg ata3: hard resetting link", "sda sata"];
    "dmesg.txt": Dmesg, 2, ["dmesg ata3: hard resetting link"];
    "guest-lsblk.txt": Lsblk, 12, ["dm-0 on md127", "dm-0 is secret", "dm-1 on dm-0", "dm-1 is vg-data", "md127 on nvme0n1", "md127 on nvme1n1"];
    "guest-lsblk-f.txt": Lsblk, 12, ["md127 on nvme0n1", "md127 on nvme1n1", "sda1 on sda", "sda9 on sda"];
    "guest-lsblk.json": Json, 12, ["nvme0n1 model QEMU NVMe Ctrl", "sda firmware 2.5+", "dm-0 physical 4096", "md127 physical 4096", "sda spins", "sda1 on sda"];
    "guest-mdstat.txt": Mdstat, 1, ["md127 on nvme0n1", "md127 on nvme1n1", "md127 degraded 0", "md127 idle", "md127 nvme0n1 slot 0 in_sync", "md127 nvme1n1 slot 1 in_sync"];
    "guest-mdadm-examine.txt": Examine, 1, ["nvme0n1 signed linux_raid_member at 4096"];
    "guest-nvme-list.txt": NvmeList, 2, ["nvme0n1 model QEMU NVMe Ctrl", "nvme0n1 firmware 7.2.22", "nvme1n1 model QEMU NVMe Ctrl", "nvme1n1 firmware 7.2.22", "nvme0n1 logical 4096"];
    "guest-nvme-list.json": Json, 2, ["nvme0n1 model QEMU NVMe Ctrl", "nvme0n1 serial BP00-a", "nvme0n1 firmware 7.2.22", "nvme1n1 model QEMU NVMe Ctrl", "nvme1n1 serial BP01-b", "nvme1n1 firmware 7.2.22"];
    "guest-nvme-id-ns.txt": IdNs, 1, ["nvmeXn1 format 0: 512+0 rated 0", "nvmeXn1 format 1: 512+8 rated 0", "nvmeXn1 format 2: 512+16 rated 0", "nvmeXn1 format 3: 512+64 rated 0", "nvmeXn1 format 4: 4096+0 rated 0 in use", "nvmeXn1 format 5: 4096+8 rated 0"];
    "guest-nvme-id-ns-H.txt": IdNs, 1, ["nvmeXn1 format 0: 512+0 rated 0", "nvmeXn1 format 1: 512+8 rated 0", "nvmeXn1 format 2: 512+16 rated 0", "nvmeXn1 format 3: 512+64 rated 0", "nvmeXn1 format 4: 4096+0 rated 0 in use", "nvmeXn1 format 5: 4096+8 rated 0"];
    "guest-nvme-id-ctrl.txt": IdCtrl, 1, ["nvmeXn1 model QEMU NVMe Ctrl", "nvmeXn1 serial BP00-a", "nvmeXn1 firmware 7.2.22", "nvmeX apst false", "nvmeX warns from 70"];
    "guest-nvme-smart-log.txt": SmartLog, 1, ["nvme0n1 temperature 50", "nvme0n1 media 0", "nvme0n1 log 0", "nvme0n1 hours 0", "nvme0n1 slowed 0", "nvme0n1 used 0"];
    "guest-smartctl-sata.txt": Smartctl, 1, ["sdX sata", "sdX firmware 2.5+", "sdX hours 1", "sdX attribute 4: 100", "sdX attribute 12: 0"];
    "guest-smartctl-nvme.txt": Smartctl, 1, ["nvmeXn1 model QEMU NVMe Ctrl", "nvmeXn1 serial BP00-a", "nvmeXn1 firmware 7.2.22", "nvmeXn1 temperature 50", "nvmeXn1 media 0", "nvmeXn1 log 0"];
    "guest-df.txt": Df, 1, ["usage /dev/mapper/vg-data 1"];
    "guest-df-T.txt": Df, 1, ["usage /dev/mapper/vg-data 1"];
    "guest-dmesg.txt": Dmesg, 100, ["dmesg nvme nvme1: 2/0/0 default/read/poll queues", "dmesg nvme nvme0: 2/0/0 default/read/poll queues"];
    "guest-df-P.txt": Df, 2, ["usage /dev/sdb1 1"];
    "guest-df-hT.txt": Df, 2, ["usage /dev/mapper/old 4", "usage /dev/sdb1 1"];
    "guest-df-k.txt": Df, 2, ["usage /dev/mapper/old 4", "usage /dev/sdb1 1"];
    "guest-dmesg-T2.txt": Dmesg, 60, ["dmesg md/raid:md5: Disk failure on nvme2n1, disabling device."];
    "guest-dmesg-tail.txt": Dmesg, 60, ["dmesg md/raid:md5: Disk failure on nvme2n1, disabling device."];
    "guest-lsblk-J2.txt": Json, 11, ["dm-0 on sda", "dm-0 is old", "md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "sdb1 on sdb", "sdb2 on sdb"];
    "guest-lsblk-Jb.txt": Json, 11, ["nvme0n1 model QEMU NVMe Ctrl", "nvme1n1 size 268435456", "sda sata", "sdb sata", "dm-0 on sda", "md5 on nvme0n1", "md5 spins"];
    "guest-lsblk-d.txt": Lsblk, 5, ["nvme0n1 model QEMU NVMe Ctrl", "nvme1n1 model QEMU NVMe Ctrl", "nvme2n1 model QEMU NVMe Ctrl", "sda sata", "sdb sata", "sda spins"];
    "guest-lsblk-l.txt": Lsblk, 9, ["dm-0 is old"];
    "guest-lsblk-p.txt": Lsblk, 11, ["dm-0 on sda", "dm-0 is old", "md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "sdb1 on sdb", "sdb2 on sdb"];
    "guest-lsblk-plain.txt": Lsblk, 11, ["dm-0 on sda", "dm-0 is old", "md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "sdb1 on sdb", "sdb2 on sdb"];
    "guest-lsblk-sel.txt": Lsblk, 11, ["dm-0 on sda", "md5 on nvme0n1", "md5 logical 512", "nvme1n1 physical 512", "nvme2n1 logical 512", "sda scheduler mq-deadline", "sdb1 on sdb"];
    "guest-lsblk-t2.txt": Lsblk, 11, ["md5 on nvme0n1", "md5 physical 512", "nvme0n1 scheduler none", "nvme2n1 physical 512", "sda physical 4096", "sdb physical 4096", "sdb2 on sdb"];
    "guest-luks1.txt": LuksDump, 1, ["dm-X on sda", "dm-X is NAME", "dm-X sector 512"];
    "guest-luks2.txt": LuksDump, 1, ["dm-X on md5", "dm-X is NAME", "dm-X sector 4096"];
    "guest-mdadm-detail-degraded.txt": Mdadm, 1, ["md5 on nvme0n1", "md5 on nvme1n1", "md5 degraded 1", "md5 idle", "md5 chunk 64 KiB", "md5 policy resync", "md5 nvme0n1 slot 0 in_sync", "md5 nvme2n1 faulty"];
    "guest-mdadm-detail-raid5.txt": Mdadm, 1, ["md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "md5 degraded 0", "md5 idle", "md5 chunk 64 KiB", "md5 policy resync"];
    "guest-mdadm-detail-recover.txt": Mdadm, 1, ["md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "md5 degraded 1", "md5 recover", "md5 chunk 64 KiB", "md5 policy resync"];
    "guest-mdadm-examine-raid5.txt": Examine, 1, ["nvme0n1 signed linux_raid_member at 4096"];
    "guest-mdstat-degraded.txt": Mdstat, 1, ["md5 on nvme0n1", "md5 on nvme1n1", "md5 degraded 1", "md5 idle", "md5 nvme0n1 slot 0 in_sync", "md5 nvme1n1 slot 1 in_sync", "md5 nvme2n1 faulty"];
    "guest-mdstat-raid5.txt": Mdstat, 1, ["md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "md5 degraded 0", "md5 idle", "md5 nvme0n1 slot 0 in_sync", "md5 nvme1n1 slot 1 in_sync"];
    "guest-mdstat-recover.txt": Mdstat, 1, ["md5 on nvme0n1", "md5 on nvme1n1", "md5 on nvme2n1", "md5 degraded 1", "md5 recover", "md5 done 10232 of 522240", "md5 nvme0n1 slot 0 in_sync"];
    "guest-nvme-id-ctrl-H.txt": IdCtrl, 1, ["nvme1n1 model QEMU NVMe Ctrl", "nvme1n1 serial BP01-b", "nvme1n1 firmware 7.2.22", "nvme1 apst false", "nvme1 warns from 70"];
    "guest-nvme-id-ns2.txt": IdNs, 1, ["nvme1n1 format 0: 512+0 rated 0 in use", "nvme1n1 format 1: 512+8 rated 0", "nvme1n1 format 2: 512+16 rated 0", "nvme1n1 format 3: 512+64 rated 0", "nvme1n1 format 4: 4096+0 rated 0", "nvme1n1 format 5: 4096+8 rated 0", "nvme1n1 format 6: 4096+16 rated 0"];
    "guest-nvme-list3.txt": NvmeList, 3, ["nvme0n1 model QEMU NVMe Ctrl", "nvme0n1 firmware 7.2.22", "nvme1n1 model QEMU NVMe Ctrl", "nvme1n1 firmware 7.2.22", "nvme2n1 model QEMU NVMe Ctrl", "nvme2n1 firmware 7.2.22", "nvme0n1 logical 512"];
    "guest-nvme-smart-dec.txt": SmartLog, 1, ["nvme1n1 temperature 50", "nvme1n1 media 0", "nvme1n1 log 0", "nvme1n1 hours 0", "nvme1n1 slowed 0", "nvme1n1 used 0", "nvme1n1 spare 0"];
    "guest-smartctl-a.txt": Smartctl, 1, ["sdb sata", "sdb serial BP04-t", "sdb size 268435456", "sdb hours 1", "sdb attribute 3: 16", "sdb attribute 5: 0", "sdb attribute 12: 0"];
    "guest-smartctl-i.txt": Smartctl, 1, ["sda sata", "sda model QEMU HARDDISK", "sda serial BP03-s", "sda firmware 2.5+", "sda size 268435456", "sda logical 512"];
    "guest-smartctl-x-nvme2.txt": Smartctl, 1, ["nvme2n1 model QEMU NVMe Ctrl", "nvme2n1 firmware 7.2.22", "nvme2n1 format 1: 512+8 rated 0", "nvme2n1 format 3: 512+64 rated 0", "nvme2n1 format 5: 4096+8 rated 0", "nvme2n1 format 7: 4096+64 rated 0", "nvme2n1 media 0"];
};

fn inventory<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Inventory {
    inspect::examine(&read(texts).machine).unwrap()
}

/// All that is known, in words.
fn facts(inventory: &Inventory) -> Vec<String> {
    let mut all = Vec::new();
    for device in &inventory.pci {
        let (at, role) = (&device.address, device.role.word());
        all.push(device.parent.as_ref().map_or(format!("{at} {role}"), |parent| format!("{at} {role} under {parent}")));
        all.extend(device.link.iter().map(|link| format!("{at} link {link}")));
        all.extend(device.max_link.iter().map(|link| format!("{at} best {link}")));
    }
    let detail = inventory.detail.as_ref().unwrap();
    for drive in &inventory.drives {
        drive_facts(drive, &mut all);
    }
    for node in &detail.nodes {
        let name = &node.name;
        all.extend(node.on.iter().map(|under| format!("{name} on {under}")));
        if let Some(dm) = &node.dm {
            all.push(format!("{name} is {}", dm.name));
            let sector = dm.luks.known().and_then(Option::as_ref).and_then(|luks| luks.sector);
            all.extend(sector.map(|sector| format!("{name} sector {}", sector.0)));
        }
        for signature in node.signatures.known().into_iter().flatten() {
            let at = signature.offset.map_or(0, |offset| offset.0);
            all.push(format!("{name} signed {} at {at}", signature.kind));
        }
        if node.partition.is_some() {
            // Its queue is that of its drive, which another text may tell.
            all.extend(
                node.partition
                    .iter()
                    .filter(|part| part.start.0 > 0)
                    .map(|part| format!("{name} start {}", part.start.0)),
            );
            continue;
        }
        let queue = &node.queue;
        all.extend(queue.rotational.known().filter(|is_hdd| **is_hdd).map(|_| format!("{name} spins")));
        all.extend(queue.physical_block.known().map(|block| format!("{name} physical {}", block.0)));
        all.extend(queue.logical_block.known().map(|block| format!("{name} logical {}", block.0)));
        all.extend(
            queue.scheduler.known().into_iter().flatten().map(|scheduler| format!("{name} scheduler {scheduler}")),
        );
        let Some(md) = &node.md else { continue };
        all.extend(md.degraded.known().into_iter().flatten().map(|missing| format!("{name} degraded {missing}")));
        all.extend(md.sync_action.known().into_iter().flatten().map(|action| format!("{name} {action}")));
        all.extend(
            md.sync_completed_sectors
                .known()
                .into_iter()
                .flatten()
                .map(|[done, of]| format!("{name} done {done} of {of}")),
        );
        all.extend(md.chunk.known().map(|chunk| format!("{name} chunk {chunk}")));
        all.extend(md.consistency_policy.known().into_iter().flatten().map(|policy| format!("{name} policy {policy}")));
        for member in &md.members {
            let slot = member.slot.map_or(String::new(), |slot| format!(" slot {slot}"));
            all.push(format!("{name} {}{slot} {}", member.device, member.state.join(",")));
        }
    }
    for controller in &detail.controllers {
        let (name, Some(told)) = (&controller.name, controller.identity.known()) else { continue };
        all.push(format!("{name} apst {}", told.autonomous_power));
        all.extend(told.warning_temperature.map(|degrees| format!("{name} warns from {degrees}")));
    }
    for pool in detail.pools.known().into_iter().flatten() {
        all.push(format!("pool {} {}", pool.name, pool.state));
        let shares = pool.properties.known().into_iter().flatten();
        all.extend(shares.map(|(key, value)| format!("pool {} {key} {value}", pool.name)));
        all.extend(pool.scan.iter().map(|scan| format!("pool {} {scan}", pool.name)));
    }
    all.extend(
        detail.usage.known().into_iter().flatten().map(|usage| format!("usage {} {}", usage.source, usage.used)),
    );
    all.extend(detail.linux.messages.known().into_iter().flatten().map(|line| format!("dmesg {line}")));
    all
}

fn drive_facts(drive: &terms::Drive, all: &mut Vec<String>) {
    let name = &drive.kernel_name;
    let detail = drive.detail.as_ref().unwrap();
    if drive.transport != terms::DriveTransport::Other {
        all.push(format!("{name} {}", drive.transport));
    }
    for (key, value) in [("model", &drive.model), ("serial", &drive.serial), ("firmware", &drive.firmware)] {
        all.extend(value.iter().map(|value| format!("{name} {key} {value}")));
    }
    all.extend((drive.size.0 > 0).then(|| format!("{name} size {}", drive.size.0)));
    all.extend(detail.command_timeout.known().into_iter().flatten().map(|time| format!("{name} timeout {}", time.0)));
    if let Some(nvme) = &detail.nvme {
        for format in nvme.formats.known().into_iter().flatten() {
            let used = if format.in_use { " in use" } else { "" };
            let (data, metadata, rating) = (format.data.0, format.metadata.0, format.relative_performance);
            all.push(format!("{name} format {}: {data}+{metadata} rated {rating}{used}", format.index));
        }
        all.extend(nvme.protection.known().map(|kind| format!("{name} protection {kind}")));
        all.extend(nvme.metadata.known().into_iter().flatten().map(|bytes| format!("{name} metadata {}", bytes.0)));
    }
    let Some(Some(health)) = detail.health.known() else { return };
    all.extend((health.critical_warning > 0).then(|| format!("{name} warns {}", health.critical_warning)));
    all.extend(health.temperature.map(|degrees| format!("{name} temperature {degrees}")));
    let counts = [
        ("media", health.media_errors.filter(|_| health.smart.is_none())),
        ("log", health.error_log_entries),
        ("hours", health.power_on_hours),
        ("slowed", health.thermal_slowdowns),
        ("used", health.used.map(u64::from)),
        ("spare", health.spare.map(u64::from)),
    ];
    all.extend(counts.iter().filter_map(|(key, value)| value.map(|value| format!("{name} {key} {value}"))));
    let Some(smart) = &health.smart else { return };
    all.extend(
        smart.attributes.iter().map(|attribute| format!("{name} attribute {}: {}", attribute.id, attribute.raw)),
    );
    for (key, value) in [("grown", smart.grown_defects), ("uncorrected", smart.uncorrected)] {
        all.extend(value.map(|value| format!("{name} {key} {value}")));
    }
    for (at, test) in smart.self_tests.iter().flatten().enumerate() {
        let passed = test.passed.map_or("stopped", |passed| if passed { "passed" } else { "failed" });
        all.push(format!("{name} test {at} {passed} at {}", test.hours.unwrap_or(0)));
    }
    all.extend(smart.temperature_limit.map(|degrees| format!("{name} limit {degrees}")));
    all.extend(smart.recovery.known().map(|recovery| format!("{name} recovery {recovery:?}")));
    all.extend(smart.line.map(|line| format!("{name} line {} of {}", line.now, line.best)));
}

#[test]
fn each_text_tells_what_is_in_it() {
    let mut wrong = Vec::new();
    for sample in SAMPLES {
        let posted = read([(sample.name, sample.text)]);
        wrong.extend(posted.refused.iter().map(|refused| format!("refused: {refused}")));
        let told: usize = posted.pieces.iter().map(|piece| piece.told).sum();
        let kinds: Vec<TextKind> = posted.pieces.iter().map(|piece| piece.kind).collect();
        if told != sample.told || !kinds.contains(&sample.kind) {
            wrong.push(format!("{}: {kinds:?} told {told} and not {}", sample.name, sample.told));
        }
        let all = facts(&inventory([(sample.name, sample.text)]));
        let missing = sample.facts.iter().filter(|fact| !all.iter().any(|known| known == *fact));
        let missing: Vec<&&str> = missing.collect();
        if !missing.is_empty() {
            wrong.push(format!("{}: not {missing:?} in {all:#?}", sample.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A fact that names a drive by a letter, which another text may have named: what is said of it.
fn said(fact: &str) -> String {
    let nameless = [
        "dm-X ", "dm-Y ", "dm-Z ", "mdX ", "mdY ", "mdZ ", "sdX ", "sdY ", "sdZ ", "nvmeXn1 ", "nvmeYn1 ", "nvmeZn1 ",
        "nvmeX ", "nvmeY ", "nvmeZ ",
    ];
    lettered(nameless.iter().find_map(|name| fact.strip_prefix(name)).unwrap_or(fact))
}

/// The letter of a mapping counts those that were named before it.
fn lettered(fact: &str) -> String {
    ["dm-X", "dm-Y", "dm-Z"].iter().fold(fact.to_owned(), |fact, name| fact.replace(name, "dm-?"))
}

fn holds(whole: &[String], part: &[String]) -> Result<(), TestCaseError> {
    for fact in part {
        let same = |one: &str, other: &str| said(one) != one && lettered(other).ends_with(&said(one));
        let known = whole.iter().any(|known| known == fact || same(fact, known) || same(known, fact));
        // How a drive is attached, and under what a device hangs, is told in part where the other part was cut. Drives of
        // SATA have a time-out, and another text may tell that it is one.
        let place = fact.ends_with(" nvme")
            || fact.ends_with(" bridge")
            || fact.contains(" timeout ")
            || whole.iter().any(|known| known.starts_with(&format!("{fact} under ")));
        // What a device is to an array is not told where only `lsblk` names it, and where two texts do not agree.
        let on = fact.trim_end().replacen(' ', " on ", 1);
        let member = fact.ends_with(' ') && whole.iter().any(|known| *known == on || known.starts_with(fact.as_str()));
        // One text names a partition, and the other its drive.
        let by_name = fact.split_once(" on ").is_some_and(|(name, drive)| drive_of(name) == Some(drive));
        prop_assert!(known || place || member || by_name, "`{}` is in no whole text", fact);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_file_that_is_cut_anywhere_says_nothing_else(which in 0..SAMPLES.len(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let sample = &SAMPLES[which];
        let letters: Vec<char> = sample.text.chars().collect();
        let (from, to) = (from.index(letters.len() + 1), to.index(letters.len() + 1));
        // Half of them begin where the text begins.
        let from = if to % 2 == 0 { 0 } else { from.min(to) };
        let cut: String = letters[from..to].iter().collect();
        holds(&facts(&inventory([("whole", sample.text)])), &facts(&inventory([("cut", cut.as_str())])))?;
    }

    #[test]
    fn a_mixture_of_parts_says_nothing_else(
        parts in prop::collection::vec((0..SAMPLES.len(), any::<prop::sample::Index>()), 1..5),
    ) {
        let mut mixed = String::new();
        let mut whole: Vec<String> = Vec::new();
        for (which, lines) in parts {
            let sample = &SAMPLES[which];
            let all: Vec<&str> = sample.text.split_inclusive('\n').collect();
            // Not between a command and what it printed: then what follows seems to be its.
            mixed.extend(all.iter().take(3 + lines.index(all.len())).copied());
            whole.extend(facts(&inventory([("whole", sample.text)])));
        }
        holds(&whole, &facts(&inventory([("mixed", mixed.as_str())])))?;
    }
}
