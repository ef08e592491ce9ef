//! Advice that would have hurt, each with what is said instead.

use terms::diagnosis::{Finding, Severity};
use terms::inventory::*;
use terms::{Bytes, DriveTransport, NvmeTransport};

use super::clean::{Known, clean};
use super::plant::*;
use crate::diagnose;

/// What a check finds after something was planted.
pub(super) fn found(check: &str, plant: impl Fn(&mut Inventory)) -> Vec<Finding> {
    let mut inventory = clean();
    plant(&mut inventory);
    diagnose(&inventory).findings.into_iter().filter(|found| found.check == check).collect()
}

pub(super) fn one(check: &str, plant: impl Fn(&mut Inventory)) -> Finding {
    let mut all = found(check, plant);
    assert_eq!(all.len(), 1, "{check}: {all:?}");
    all.remove(0)
}

pub(super) fn commands(found: &Finding) -> String {
    found.remedy.commands.join("\n")
}

pub(super) fn has(found: &Finding, words: &[&str]) {
    let text = format!("{} | {} | {:?} | {:?}", found.what, found.why, found.seen, found.remedy);
    for word in words {
        assert!(text.contains(word), "no “{word}” in {text}");
    }
}

pub(super) fn has_not(found: &Finding, words: &[&str]) {
    let text = format!("{} | {} | {:?} | {:?}", found.what, found.why, found.seen, found.remedy);
    for word in words {
        assert!(!text.contains(word), "“{word}” in {text}");
    }
}

/// A member of an array that is being filled.
fn fill(m: &mut Inventory, name: &str, member: usize) {
    let md = md(m, name);
    md.degraded = Known(Some(1));
    md.members[member].state = vec!["spare".into()];
    md.sync_action = Known(Some("recover".into()));
}

#[test]
fn a_conversion_of_btrfs_goes_to_the_profile_that_survives_most() {
    let said = one("btrfs-mixed-profiles", |m| profile(m, "data", &["raid1", "single"]));
    has(&said, &["btrfs balance start -dconvert=raid1,soft /pics", "btrfs balance status", "btrfs filesystem usage"]);
    let said = one("btrfs-mixed-profiles", |m| {
        profile(m, "metadata", &["dup", "raid1"]);
        profile(m, "data", &["raid0", "raid1"]);
    });
    has(&said, &["data is partly raid0 and raid1", "-dconvert=raid1,soft -mconvert=raid1,soft"]);
    let said = one("btrfs-mixed-profiles", |m| profile(m, "system", &["dup", "raid1"]));
    has(&said, &["-mconvert=raid1,soft"]);
    // Three copies want three devices.
    let said = one("btrfs-mixed-profiles", |m| profile(m, "data", &["raid1", "raid1c3"]));
    has_not(&said, &["convert="]);
}

#[test]
fn metadata_with_more_copies_keeps_them() {
    let said = one("btrfs-parity", |m| {
        profile(m, "data", &["raid5"]);
        profile(m, "metadata", &["raid1c4"]);
    });
    has_not(&said, &["convert="]);
}

#[test]
fn a_balance_that_is_under_way_is_let_alone() {
    let said = one("btrfs-mixed-profiles", |m| {
        profile(m, "data", &["raid1", "single"]);
        btrfs(m).operation = Known(Some("balance".into()));
    });
    assert_eq!(said.severity, Severity::Information);
    has_not(&said, &["balance start"]);
    has(&said, &["btrfs balance status"]);
}

#[test]
fn a_balance_that_is_paused_goes_on_before_another_begins() {
    let said = one("btrfs-mixed-profiles", |m| {
        profile(m, "data", &["raid1", "single"]);
        btrfs(m).operation = Known(Some("balance paused".into()));
    });
    assert_eq!(said.severity, Severity::Warning);
    has_not(&said, &["balance start"]);
    has(&said, &["btrfs balance resume /pics"]);
}

#[test]
fn ashift_is_one_that_zfs_takes_and_large_blocks_are_doubted() {
    let large = |m: &mut Inventory| {
        for name in ["nvme8n1p2", "nvme9n1p2"] {
            node(m, name).queue.physical_block = Known(Bytes::kib(256));
        }
    };
    for said in found("zfs-ashift", large) {
        assert_eq!(said.severity, Severity::Information);
        has_not(&said, &["ashift=18", "zpool create"]);
        assert_eq!(said.remedy.destroys, None);
    }
    let said = one("zfs-ashift", |m| {
        large(m);
        vdev(m, 1).ashift = Known(9);
        vdev(m, 0).ashift = Known(18);
        vdev(m, 2).ashift = Known(18);
    });
    has(&said, &["-o ashift=12 tank", "zfs send -R tank@moved"]);
}

#[test]
fn ashift_9_on_flash_is_worth_a_note_and_no_pool() {
    let said = one("zfs-ashift", |m| {
        for name in ["nvme8n1p2", "nvme9n1p2"] {
            node(m, name).queue.physical_block = Known(Bytes(512));
        }
        vdev(m, 1).ashift = Known(9);
    });
    assert_eq!(said.severity, Severity::Information);
    has(&said, &["512 bytes, on flash", "-o ashift=12"]);
    has_not(&said, &["zpool create"]);
}

#[test]
fn a_member_that_is_filled_is_not_missing() {
    let said = one("array-degraded", |m| fill(m, "md1", 3));
    has(&said, &["3 of 4 members are in sync", "nvme5n1p1 is being filled", "/proc/mdstat"]);
    has_not(&said, &["missing", "--add"]);
    assert_eq!(said.remedy.destroys, None);
    let said = one("array-degraded", |m| {
        fill(m, "md1", 3);
        md(m, "md1").sync_action = Known(Some("idle".into()));
    });
    has(&said, &["waits to be filled"]);
    has_not(&said, &["missing", "--add"]);
}

#[test]
fn what_is_delayed_waits_for_another_and_is_not_at_the_beginning() {
    let wait = |m: &mut Inventory| {
        fill(m, "md1", 3);
        md(m, "md1").sync_waits = true;
    };
    let said = one("array-resyncing", wait);
    has(&said, &["a rebuild waits for another", "delayed"]);
    has_not(&said, &["% are done"]);
    let said = one("array-degraded", wait);
    has(&said, &["waits for its turn"]);
    has_not(&said, &["missing", "--add"]);
}

#[test]
fn a_spare_is_taken_by_the_array_itself() {
    let said = one("array-degraded", |m| {
        let md = md(m, "md1");
        md.degraded = Known(Some(1));
        (md.members[3].slot, md.members[3].state) = (None, vec!["spare".into()]);
    });
    has(&said, &["has a spare and takes it by itself"]);
    has_not(&said, &["--add"]);
}

#[test]
fn a_member_that_went_is_looked_at_before_another_is_added() {
    let said = one("array-degraded", |m| md(m, "md1").degraded = Known(Some(1)));
    let at = |word: &str| said.remedy.commands.iter().position(|command| command.contains(word)).unwrap();
    assert!(at("--examine") < at("--re-add") && at("--re-add") < at("--add NEW"));
    has(&said, &["destroys: Some(\"everything on the drive that is added\")"]);
}

#[test]
fn containers_of_firmware_are_always_inactive() {
    for metadata in ["external:imsm", "external:ddf"] {
        let all = found("array-not-running", |m| {
            let md = md(m, "md1");
            (md.state, md.metadata) = (Known("inactive".into()), Some(metadata.into()));
        });
        assert_eq!(all, []);
    }
    let all = found("array-not-running", |m| {
        let md = md(m, "md1");
        (md.state, md.metadata) = (Known("inactive".into()), Some("external:/md127/0".into()));
    });
    assert_eq!(all.len(), 1);
}

#[test]
fn a_partial_array_is_examined_before_it_is_started_without_a_member() {
    let said = one("array-not-running", |m| md(m, "md1").state = Known("inactive".into()));
    let at = |word: &str| said.remedy.commands.iter().position(|command| command.contains(word)).unwrap();
    assert!(at("--examine") < at("--incremental") && at("--incremental") < at("--run"));
    assert!(said.remedy.destroys.is_some());
    let said = one("array-not-running", |m| md(m, "md1").state = Known("broken".into()));
    has_not(&said, &["--run"]);
}

#[test]
fn full_metadata_of_a_thin_pool_is_extended_as_metadata() {
    let said = one("thin-pool-space", |m| thin(m).metadata_blocks = Known([970, 1_000]));
    has(&said, &["lvextend --poolmetadatasize +SIZE vg0/pool", "120 KiB of metadata"]);
    has_not(&said, &["lvextend -L"]);
    let said = one("thin-pool-space", |m| thin(m).data_blocks = Known([970, 1_000]));
    has(&said, &["lvextend -L +SIZE vg0/pool"]);
    has_not(&said, &["--poolmetadatasize"]);
    let said = one("thin-pool-space", |m| thin(m).mode = Known("ro".into()));
    has_not(&said, &["lvextend", "fstrim"]);
}

#[test]
fn luks1_is_converted_and_keeps_its_data() {
    let said = one("encryption-sector", |m| {
        crypt(m).sector = Bytes(512);
        dm(m, "dm-2").uuid = Some("CRYPT-LUKS1-1-secret".into());
    });
    let at = |word: &str| said.remedy.commands.iter().position(|command| command.contains(word)).unwrap();
    assert!(at("luksHeaderBackup") < at("close secret"));
    assert!(at("close secret") < at("convert --type luks2") && at("convert") < at("open /dev/md/mirror secret"));
    assert!(at("open /dev/md/mirror secret") < at("reencrypt --sector-size 4096"));
    has_not(&said, &["luksFormat", "--force"]);
    assert!(said.remedy.destroys.is_none() && said.remedy.weakens.is_some());
}

#[test]
fn a_refresh_repeats_the_flags_that_are_to_stay() {
    let said = one("discard-blocked", |m| {
        crypt(m).flags.retain(|flag| flag != "allow_discards");
        node(m, "dm-2").queue.discard_max = Known(Bytes(0));
    });
    has(&said, &["refresh --allow-discards --perf-no_read_workqueue --perf-no_write_workqueue --persistent secret"]);
    let said = one("encryption-queues", |m| crypt(m).flags = vec!["allow_discards".into(), "same_cpu_crypt".into()]);
    has(
        &said,
        &["--allow-discards --perf-same_cpu_crypt --perf-no_read_workqueue --perf-no_write_workqueue --persistent"],
    );
    let said = one("encryption-flags", |m| crypt(m).flags.push("same_cpu_crypt".into()));
    has(&said, &["refresh --allow-discards --perf-no_read_workqueue --perf-no_write_workqueue --persistent secret"]);
    let said = one("encryption-flags", |m| m.kernel = "6.1.0".into());
    has(&said, &["refresh --allow-discards --persistent secret"]);
    // LUKS1 has no room for flags.
    let said = one("encryption-queues", |m| {
        crypt(m).flags = vec!["allow_discards".into()];
        dm(m, "dm-2").uuid = Some("CRYPT-LUKS1-1-secret".into());
    });
    has(&said, &["refresh --allow-discards --perf-no_read_workqueue"]);
    has_not(&said, &["--persistent"]);
    // Flags that could not be read would be lost.
    let said = one("discard-blocked", |m| {
        dm(m, "dm-2").targets = unknown();
        node(m, "dm-2").queue.discard_max = Known(Bytes(0));
    });
    has_not(&said, &["refresh"]);
}

fn serial_drive(m: &mut Inventory, transport: DriveTransport) {
    let drive = drive(m, "nvme4n1");
    drive.transport = transport;
    drive.detail.as_mut().unwrap().write_cache_on = Known(Some(false));
}

#[test]
fn the_write_cache_is_switched_by_what_speaks_to_the_drive() {
    let said = one("write-cache-off", |m| serial_drive(m, DriveTransport::Nvme));
    has(&said, &["nvme set-feature /dev/nvme4 --feature-id=6 --value=1"]);
    has_not(&said, &[" -v ", "/dev/nvme4n1 "]);
    let said = one("write-cache-off", |m| serial_drive(m, DriveTransport::Sas));
    has(&said, &["sdparm --set WCE /dev/nvme4n1"]);
    has_not(&said, &["hdparm"]);
    let said = one("write-cache-off", |m| serial_drive(m, DriveTransport::Sata));
    has(&said, &["hdparm -W 1 /dev/nvme4n1", "device/rescan"]);
    // What was read is a file; no program ran.
    assert!(said.seen.iter().all(|seen| seen.source.starts_with("/sys/")), "{said:?}");
}

#[test]
fn one_fact_is_one_finding() {
    assert_eq!(found("write-cache-belief", |m| serial_drive(m, DriveTransport::Nvme)), []);
}

#[test]
fn metadata_in_use_is_named_before_a_drive_is_formatted() {
    let format = |index, data, metadata, relative_performance, in_use| LbaFormat {
        index,
        data: Bytes(data),
        metadata: Bytes(metadata),
        relative_performance,
        in_use,
    };
    let plant = |m: &mut Inventory, protection: Readout<u32>| {
        namespace(m, "nvme10n1").formats = Known(vec![format(1, 512, 8, 3, true), format(2, 4096, 0, 0, false)]);
        namespace(m, "nvme10n1").protection = protection;
    };
    let said = one("lba-format", |m| plant(m, Known(1)));
    has(&said, &["512 B with 8 B of metadata each (protection information of type 1)", "nvme id-ns -H", "Ask first"]);
    has_not(&said, &["512-byte sectors by themselves"]);
    has(&one("lba-format", |m| plant(m, unknown())), &["protection information is not known"]);
    let said = one("lba-format", |m| {
        plant(m, Known(0));
        node(m, "nvme10n1").queue.physical_block = Known(Bytes(512));
    });
    has(&said, &["512-byte sectors by themselves", "no protection information"]);
}

#[test]
fn why_a_link_is_slow_is_not_claimed() {
    let said = one("link-below-both-ends", |m| {
        pci(m, "0000:10:00.0").link = Known(Some(Link { speed: 8_000, lanes: 2 }));
    });
    has_not(&said, &["neither the slot", "rest at a lower speed"]);
    has(&said, &["not wired", "bad contact", "LnkCtl2"]);
    let said = one("link-below-both-ends", |m| {
        pci(m, "0000:10:00.0").link = Known(Some(Link { speed: 2_500, lanes: 4 }));
    });
    has(&said, &["rest at a lower speed"]);
}

#[test]
fn a_journal_is_added_while_the_array_is_read_only_and_has_no_bitmap() {
    let said = one("array-write-hole", |m| {
        let md = md(m, "md1");
        (md.level, md.consistency_policy) = ("raid6".into(), Known(Some("bitmap".into())));
    });
    let at = |word: &str| said.remedy.commands.iter().position(|command| command.contains(word)).unwrap();
    assert!(at("--bitmap=none") < at("--readonly") && at("--readonly") < at("--add-journal"));
    has(&said, &["--readwrite"]);
    assert!(said.remedy.weakens.is_some() && said.remedy.destroys.is_some());
    // A log wants the room that the list of bad blocks may have, whatever the size of the members.
    let said = one("array-write-hole", |m| {
        node(m, "md1").size = Bytes::gib(3);
        md(m, "md1").consistency_policy = Known(Some("bitmap".into()));
    });
    let at = |word: &str| said.remedy.commands.iter().position(|command| command.contains(word)).unwrap();
    assert!(at("--examine") < at("--bitmap=none") && at("--bitmap=none") < at("--stop"), "{:?}", said.remedy.commands);
    assert!(at("--stop") < at("--update=no-bbl /dev/nvme2n1p1") && at("--update=no-bbl") < at("=ppl"));
    has(&said, &["offset below 24 sectors"]);
    // `mdadm` takes away no list that has blocks on it.
    let said = one("array-write-hole", |m| {
        let md = md(m, "md1");
        md.consistency_policy = Known(Some("bitmap".into()));
        md.members[2].bad_blocks = Some(3);
    });
    assert!(!commands(&said).contains("no-bbl") && !commands(&said).contains("--stop"), "{said:?}");
    has(&said, &["get the blocks off the lists first", "--consistency-policy=ppl"]);
}

#[test]
fn a_controller_is_reset_by_nobody_who_cannot() {
    // The kernel resets none that is not live (`nvme_change_ctrl_state` in its `drivers/nvme/host/core.c`).
    let said = one("controller-not-live", |m| {
        let controller = controller(m, "nvme3");
        (controller.state, controller.transport) = (Some("connecting".into()), NvmeTransport::Tcp);
        controller.pci_address = None;
    });
    has(&said, &["tries again by itself", "nvme list-subsys"]);
    has_not(&said, &["nvme reset", "remove"]);
    let said = one("controller-not-live", |m| controller(m, "nvme3").state = Some("resetting".into()));
    has(&said, &["Look again"]);
    has_not(&said, &["nvme reset", "remove"]);
}

fn cron(m: &mut Inventory, words: &[&str]) {
    let fields = words.iter().map(|word| (*word).to_owned()).collect();
    let line = ConfigLine { file: "/etc/cron.d/x".into(), line: 1, fields };
    detail(m).configuration.cron = Known(vec![line]);
}

#[test]
fn what_cron_does_needs_no_timer() {
    for (units, words) in
        [("mdcheck", &["checkarray"][..]), ("zfs-scrub", &["zfs", "scrub"]), ("btrfs-scrub", &["btrfs", "scrub"])]
    {
        let all = found("no-scrub-timer", |m| {
            without_unit(m, units);
            cron(m, words);
        });
        assert_eq!(all, [], "{units}");
    }
    let trim = |m: &mut Inventory| {
        known(&mut pool(m).properties).insert("autotrim".into(), "off".into());
    };
    assert_eq!(
        found("no-trim-timer", |m| {
            trim(m);
            cron(m, &["zfs", "trim"]);
        }),
        []
    );
    let all = found("no-scrub-timer", |m| {
        without_unit(m, "mdcheck");
        cron(m, &["zfs", "scrub"]);
    });
    assert_eq!(all.len(), 1);
}

#[test]
fn tables_of_cron_that_could_not_be_read_are_unknown() {
    let mut inventory = clean();
    without_unit(&mut inventory, "mdcheck");
    detail(&mut inventory).configuration.cron = unknown();
    let said = diagnose(&inventory);
    assert!(said.findings.iter().all(|found| found.check != "no-scrub-timer"));
    assert!(said.unknown.iter().any(|unknown| unknown.check == "no-scrub-timer"));
}

#[test]
fn pools_on_hard_disks_are_not_trimmed() {
    let all = found("no-trim-timer", |m| {
        known(&mut pool(m).properties).insert("autotrim".into(), "off".into());
        for name in ["nvme8n1", "nvme9n1", "nvme10n1"] {
            node(m, name).queue.rotational = Known(true);
        }
    });
    assert!(all.iter().all(|found| found.place.kind != "pool"), "{all:?}");
}

#[test]
fn the_module_for_aes_is_that_of_the_processor() {
    let software = |m: &mut Inventory| known(&mut detail(m).linux.crypto)[0].driver = "xts(ecb(aes-generic))".into();
    let said = one("aes-driver", |m| {
        software(m);
        detail(m).cpu.flags = vec!["aes".into(), "pmull".into(), "sha2".into()];
    });
    has(&said, &["modprobe aes-ce-blk"]);
    has_not(&said, &["aesni"]);
    let said = one("aes-driver", |m| {
        software(m);
        detail(m).cpu.flags = vec!["aes".into()];
    });
    has_not(&said, &["modprobe"]);
}

#[test]
fn counters_of_a_pool_are_reset_after_the_scrub() {
    let said = one("zfs-pool-state", |m| vdev(m, 0).children[1].errors = [0, 0, 9]);
    let at = |word: &str| said.remedy.commands.iter().position(|command| command.contains(word)).unwrap();
    assert!(at("zpool scrub -w tank") < at("zpool clear tank"));
    has_not(&said, &["&&"]);
}

#[test]
fn a_pool_that_cannot_be_read_or_is_filling_is_not_repaired() {
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "UNAVAIL".into();
        vdev(m, 0).children[1].state = "UNAVAIL".into();
    });
    has_not(&said, &["zpool scrub", "zpool replace"]);
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "DEGRADED".into();
        vdev(m, 0).children[1].state = "DEGRADED".into();
        pool(m).scan = Some("resilver in progress since Sun Nov 23 03:00:00 2025".into());
    });
    has_not(&said, &["zpool scrub", "zpool clear", "zpool replace"]);
    has(&said, &["wait for it"]);
}

#[test]
fn a_pool_counts_its_devices_and_not_their_groups() {
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "DEGRADED".into();
        vdev(m, 0).state = "DEGRADED".into();
        vdev(m, 0).children[1].state = "FAULTED".into();
        vdev(m, 0).children[1].errors = [0, 34, 0];
    });
    has(&said, &["1 device of 9 not in order", "zpool clear tank /dev/disk/by-id/nvme9n1p2"]);
    // `zpool online` leaves a device faulted that counted too many errors.
    has_not(&said, &["zpool online"]);
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "DEGRADED".into();
        vdev(m, 0).children[0].state = "FAULTED".into();
        vdev(m, 0).children[0].errors = [0, 34, 0];
        vdev(m, 0).children[1].state = "REMOVED".into();
    });
    has(&said, &["zpool online tank /dev/disk/by-id/nvme9n1p2", "zpool replace tank /dev/disk/by-id/nvme9n1p2 NEW"]);
    // One whose label cannot be read is called faulted too, and counted nothing.
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "DEGRADED".into();
        vdev(m, 0).children[1].state = "FAULTED".into();
    });
    has(&said, &["zpool online", "zpool replace"]);
    has_not(&said, &["zpool clear"]);
}

#[test]
fn a_volume_without_a_header_is_opened_otherwise_and_not_overwritten() {
    let plant = |m: &mut Inventory, uuid: &str| {
        crypt(m).sector = Bytes(512);
        dm(m, "dm-2").uuid = Some(uuid.into());
    };
    let said = one("encryption-sector", |m| {
        plant(m, "CRYPT-PLAIN-swap");
        known(&mut node(m, "dm-2").signatures)[0].kind = "swap".into();
    });
    has(&said, &["`sector-size=4096` among its options in `/etc/crypttab`", "destroys: None"]);
    has_not(&said, &["luksFormat"]);
    let said = one("encryption-sector", |m| plant(m, "CRYPT-PLAIN-data"));
    has(&said, &["--sector-size 4096", "copy it elsewhere", "destroys: None"]);
    has_not(&said, &["Only LUKS2", "luksFormat"]);
    has(&one("encryption-sector", |m| plant(m, "CRYPT-LOOPAES-a")), &["loop-AES knows only these"]);
    for uuid in ["CRYPT-BITLK-a", "CRYPT-FVAULT2-a"] {
        assert_eq!(found("encryption-sector", |m| plant(m, uuid)), [], "{uuid}");
    }
}

#[test]
fn blocks_of_two_sizes_are_made_one_by_what_speaks_to_the_drive() {
    let small = |m: &mut Inventory| node(m, "nvme3n1p1").queue.logical_block = Known(Bytes(512));
    has(&one("logical-blocks-mixed", small), &["nvme format DEVICE --block-size=4096"]);
    let said = one("logical-blocks-mixed", |m| {
        small(m);
        drive(m, "nvme3n1").transport = DriveTransport::Sata;
    });
    has_not(&said, &["nvme format"]);
    has(&said, &["destroys: None", "lsblk -o NAME,TRAN"]);
}

#[test]
fn packets_are_a_note_and_the_safe_way_first() {
    let said = found("payload-below-both-ends", |m| {
        for address in ["0000:10:00.0", "0000:00:00.0"] {
            pci(m, address).payload = Known(Some(Payload { current: Bytes(128), maximum: Bytes(512) }));
        }
    });
    assert!(said.iter().all(|found| found.severity == Severity::Information));
    let advice = &said[0].remedy.advice;
    assert!(advice.find("pcie_bus_safe").unwrap() < advice.find("pcie_bus_perf").unwrap(), "{advice}");
}

#[test]
fn errors_in_an_unknown_time_are_a_note_and_a_receivers_error_sends_nothing_again() {
    let plant = |m: &mut Inventory| {
        detail(m).taken.at = terms::Nanos(0);
        let kinds = [("RxErr".to_owned(), 1)].into();
        pci(m, "0000:10:00.0").errors = Known(Some(LinkErrors { correctable: 1, fatal: 0, nonfatal: 0, kinds }));
    };
    let said = one("link-errors", plant);
    assert_eq!(said.severity, Severity::Information);
    has(&said, &["of which 0 had packets sent again"]);
    has_not(&said, &["sent twice"]);
}

#[test]
fn a_small_array_without_a_bitmap_is_a_note() {
    let plant = |m: &mut Inventory, size: Bytes| {
        node(m, "md0").size = size;
        let md = md(m, "md0");
        (md.bitmap, md.consistency_policy) = (Known(Some("none".into())), Known(Some("resync".into())));
    };
    assert_eq!(one("array-no-bitmap", |m| plant(m, Bytes::gib(10))).severity, Severity::Information);
    assert_eq!(one("array-no-bitmap", |m| plant(m, Bytes::gib(101))).severity, Severity::Warning);
}

#[test]
fn a_special_mirror_under_double_parity_is_a_warning() {
    let said = one("zfs-special-redundancy", |m| vdev(m, 0).kind = "raidz2".into());
    assert_eq!(said.severity, Severity::Warning);
}

#[test]
fn firmware_is_got_where_the_maker_has_it() {
    let said = one("firmware-fault", |m| {
        let drive = drive(m, "nvme4n1");
        (drive.model, drive.firmware) = (Some("Samsung SSD 990 PRO 2TB".into()), Some("0B2QJXD7".into()));
    });
    assert!(!commands(&said).contains("fwupdmgr"), "{said:?}");
    has(&said, &["https://semiconductor.samsung.com/"]);
}

#[test]
fn a_flag_of_members_is_taken_away_and_no_member() {
    let said = one("array-failfast-integrity", |m| md(m, "md0").members[0].state.push("failfast".into()));
    has(&said, &["echo -failfast > /sys/block/md0/md/dev-dm-0/state"]);
    has_not(&said, &["--fail", "--remove"]);
}

#[test]
fn what_lies_on_a_partition_is_made_anew_there_and_not_on_the_whole_drive() {
    let said = one("volume-alignment", |m| group(m).physical[0].start = Bytes(192 * 1024 + 512));
    has(&said, &["pvmove /dev/nvme6n1p1", "b /dev/nvme6n1p1"]);
    let said = one("encryption-alignment", |m| {
        node(m, "dm-2").on = vec!["nvme4n1p1".into()];
        detail(m).nodes.retain(|node| node.name != "md1");
        crypt(m).offset_sectors = 4097;
    });
    assert!(commands(&said).lines().last().unwrap().ends_with(" /dev/nvme4n1p1"), "{said:?}");
}

#[test]
fn a_member_of_a_pool_or_array_is_not_formatted() {
    let said = one("lba-format", |m| {
        let format = |index, data, in_use| LbaFormat { index, data: Bytes(data), in_use, ..LbaFormat::default() };
        namespace(m, "nvme2n1").formats = Known(vec![format(0, 512, true), format(1, 4096, false)]);
    });
    has_not(&said, &["nvme format"]);
    has(&said, &["destroys all that is on the drive, and it holds something", "destroys: None"]);
}

#[test]
fn messages_of_what_has_no_medium_or_no_drive_say_nothing() {
    let quiet = |plant: &dyn Fn(&mut Inventory)| {
        for check in ["drive-went-away", "checksum-messages", "read-write-errors", "went-read-only"] {
            assert_eq!(found(check, plant), []);
        }
    };
    for line in [
        "blk_update_request: I/O error, dev fd0, sector 0 op 0x0:(READ)",
        "Buffer I/O error on dev sr0, logical block 0, async page read",
        "sd 6:0:0:0: Device not ready",
        "[drm:drm_edid_block_valid [drm]] *ERROR* EDID checksum failed, remainder is 130",
    ] {
        quiet(&|m| say(m, line));
    }
    quiet(&|m| {
        say(m, "ata5: hard resetting link");
        say(m, "ata5: SATA link down (SStatus 0 SControl 300)");
    });
    quiet(&|m| {
        say(m, "EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro,journal_checksum")
    });
    // A drive that died looks so, too, but for messages of its own.
    let said = one("read-write-errors", |m| {
        for line in ["ata5: hard resetting link", "ata5: SATA link down (SStatus 0 SControl 300)", "ata5.00: disabled"]
        {
            say(m, line);
        }
    });
    has(&said, &["ata5: hard resetting link"]);
}

#[test]
fn real_words_of_trouble_are_found() {
    for (check, line) in [
        ("read-write-errors", "nvme nvme0: I/O 123 QID 4 timeout, aborting"),
        ("read-write-errors", "ata3: limiting SATA link speed to 1.5 Gbps"),
        ("read-write-errors", "ata3.00: NCQ disabled due to excessive errors"),
        ("read-write-errors", "BTRFS error (device sda1): bdev /dev/sda1 errs: wr 1, rd 0, flush 0, corrupt 0, gen 0"),
        ("read-write-errors", "sd 7:0:0:0: [sdd] tag#3 uas_eh_abort_handler 0 uas-tag 4 inflight: CMD OUT"),
        (
            "checksum-messages",
            "BTRFS warning (device sda1): checksum verify failed on 30408704 wanted 0x1 found 0x2 level 0",
        ),
        ("checksum-messages", "device-mapper: integrity: dm-3: Checksum failed at sector 0x8"),
        ("went-read-only", "BTRFS info (device sda1: state E): forced readonly"),
        ("went-read-only", "XFS (sda1): Filesystem has been shut down due to log error (0x2)."),
        (
            "read-write-errors",
            "megaraid_sas 0000:03:00.0: 5631 (636892357s/0x0020/DEAD) - Fatal firmware error: Line 176",
        ),
    ] {
        let said = one(check, |m| say(m, line));
        has(&said, &[line]);
    }
}

#[test]
fn two_ways_to_one_drive_are_no_clones() {
    let planted = |m: &mut Inventory| {
        for name in ["nvme0n1", "nvme1n1"] {
            node(m, name).signatures = Known(vec![Signature {
                offset: Some(Bytes(0)),
                kind: "ext4".into(),
                uuid: Some("one".into()),
                label: None,
            }]);
        }
    };
    let found = |m: &Inventory| crate::diagnose(m).findings.iter().any(|found| found.what.contains("carry one UUID"));
    let mut inventory = clean();
    planted(&mut inventory);
    for name in ["nvme0n1", "nvme1n1"] {
        drive(&mut inventory, name).wwid = Some(format!("eui.{name}"));
    }
    assert!(found(&inventory));
    for name in ["nvme0n1", "nvme1n1"] {
        drive(&mut inventory, name).wwid = Some("naa.1".into());
    }
    assert!(!found(&inventory));
}

#[test]
fn a_device_that_was_added_beside_a_redundant_one_is_found() {
    let lone = |kind: &'static str| {
        move |m: &mut Inventory| {
            let mut added = vdev(m, 0).clone();
            (added.kind, added.name) = (kind.to_owned(), "added".to_owned());
            added.children.clear();
            known(&mut pool(m).vdevs).insert(1, added);
        }
    };
    let said = one("zfs-special-redundancy", lone("disk"));
    has(&said, &["the data device has no redundancy", "1 lost drive is enough", "zpool attach tank added NEW"]);
    assert_eq!(found("zfs-special-redundancy", lone("indirect")), []);
}

#[test]
fn a_pool_that_failed_says_nothing_else() {
    let said = one("thin-pool-space", |m| {
        let pool = thin(m);
        (pool.mode, pool.data_blocks, pool.metadata_blocks) = (Known("fail".into()), unknown(), unknown());
    });
    has(&said, &["the pool has failed", "leave it alone"]);
    has_not(&said, &["lvextend", "fstrim"]);
}

#[test]
fn inodes_are_not_called_space() {
    let plant = |of: Used| {
        move |m: &mut Inventory| {
            let usage = &mut known(&mut detail(m).usage)[0];
            (usage.used, usage.left, usage.of) = (100, "0".into(), of);
        }
    };
    let said = one("file-system-space", plant(Used::Inodes));
    has(&said, &["100 % of the inodes are used", "du --inodes"]);
    has_not(&said, &["of the space"]);
    has(&one("file-system-space", plant(Used::Space)), &["100 % of the space"]);
}

#[test]
fn what_has_no_header_is_not_given_one() {
    for (uuid, is_made_anew) in [("CRYPT-LUKS2-2-secret", true), ("CRYPT-BITLK-a", false), ("CRYPT-PLAIN-a", false)] {
        let said = one("encryption-alignment", |m| {
            crypt(m).offset_sectors = 4097;
            dm(m, "dm-2").uuid = Some(uuid.into());
        });
        assert_eq!(commands(&said).contains("luksFormat"), is_made_anew, "{uuid}: {said:?}");
    }
}

#[test]
fn metadata_of_a_small_btrfs_comes_in_small_pieces() {
    let plant = |size: Bytes, left: Bytes| {
        move |m: &mut Inventory| {
            btrfs(m).used = Known([("metadata".to_owned(), [990 << 20, 1000 << 20])].into());
            btrfs(m).unallocated = Known(Bytes(left.0 * 2));
            btrfs(m).devices.iter_mut().for_each(|device| device.unallocated = Some(left));
            ["nvme8n1p1", "nvme9n1p1"].iter().for_each(|name| node(m, name).size = size);
        }
    };
    assert_eq!(found("btrfs-metadata-space", plant(Bytes::gib(16), Bytes::mib(300))), []);
    assert_eq!(found("btrfs-metadata-space", plant(Bytes::gib(16), Bytes::mib(200))).len(), 1);
    assert_eq!(found("btrfs-metadata-space", plant(Bytes::gib(500), Bytes::mib(300))).len(), 1);
    // Not told of each: what is left of all is shared by two.
    let all = |m: &mut Inventory| {
        plant(Bytes::gib(500), Bytes::mib(1100))(m);
        btrfs(m).devices.iter_mut().for_each(|device| device.unallocated = None);
    };
    assert_eq!(found("btrfs-metadata-space", all), []);
}

#[test]
fn a_pool_that_the_machine_runs_from_is_not_exported() {
    let plant = |root: &'static str| {
        move |m: &mut Inventory| {
            known(&mut detail(m).configuration.zpool_paths).push("/dev/sdc1".into());
            vdev(m, 0).children[2].name = "/dev/sdc1".into();
            let mount = Mount { source: root.into(), target: "/".into(), kind: "zfs".into(), ..Mount::default() };
            known(&mut detail(m).mounts).push(mount);
        }
    };
    let said = one("kernel-names-in-files", plant("tank/ROOT/pve-1"));
    has(&said, &["ZPOOL_IMPORT_PATH", "nobody can export it"]);
    has_not(&said, &["zpool export", "zpool import"]);
    let said = one("kernel-names-in-files", plant("rpool/ROOT/pve-1"));
    has(&said, &["zpool export POOL", "One that the machine runs from cannot"]);
}

#[test]
fn a_device_that_is_replaced_and_still_there_is_missed_by_nobody() {
    let said = one("zfs-pool-state", |m| {
        pool(m).scan = Some("resilver in progress since Sun Nov 23 03:00:00 2025".into());
        let leaf = vdev(m, 0).children[0].clone();
        let both = Vdev {
            kind: "replacing".into(),
            name: "replacing-0".into(),
            children: vec![leaf.clone(), leaf.clone()],
            ..leaf
        };
        vdev(m, 0).children[0] = both;
    });
    assert_eq!(said.severity, Severity::Information);
    has(&said, &["takes the place of another", "0 copies are missing", "zpool wait -t resilver tank"]);
    has_not(&said, &["1 loss less"]);
}

#[test]
fn a_pool_that_went_back_to_writing_is_no_error() {
    let lines = |all: &'static [&'static str]| {
        move |m: &mut Inventory| {
            all.iter().for_each(|line| say(m, &format!("device-mapper: thin: {line}")));
        }
    };
    const STOPPED: &str = "253:4: switching pool to out-of-data-space (queue IO) mode";
    let said = one("went-read-only", lines(&[STOPPED, "253:4: switching pool to write mode"]));
    assert_eq!(said.severity, Severity::Warning);
    has(&said, &["takes them again"]);
    for all in
        [&[STOPPED, "253:9: switching pool to write mode"][..], &["253:4: switching pool to write mode", STOPPED]]
    {
        let found =
            found("went-read-only", |m| all.iter().for_each(|line| say(m, &format!("device-mapper: thin: {line}"))));
        assert_eq!(found.iter().map(|found| found.severity).collect::<Vec<_>>(), [Severity::Error], "{all:?}");
    }
    assert_eq!(found("went-read-only", lines(&["253:4: switching pool to write mode"])), []);
    let said = one(
        "went-read-only",
        lines(&[
            "253:4: metadata operation 'dm_pool_commit' failed: error = -28",
            "253:4: switching pool to write mode",
        ]),
    );
    assert_eq!(said.severity, Severity::Error);
}

#[test]
fn a_file_system_that_is_bound_elsewhere_is_one() {
    let bound = |m: &mut Inventory| {
        mount(m, "/home").options.push("data=writeback".into());
        let mut twin = mount(m, "/home").clone();
        (twin.target, twin.root) = ("/srv/me".into(), "/me".into());
        known(&mut detail(m).mounts).insert(0, twin);
    };
    has(&one("data-writeback", bound), &["umount /home"]);
}

#[test]
fn a_faulty_member_that_was_replaced_is_taken_out() {
    let said = one("array-degraded", |m| {
        let md = md(m, "md1");
        let failed =
            MdMember { slot: None, state: vec!["faulty".into()], device: "sdz1".into(), ..md.members[0].clone() };
        md.members.push(failed);
    });
    assert_eq!(said.severity, Severity::Warning);
    has(&said, &["sdz1 failed, and 4 members in sync without it", "mdadm /dev/md/parity --remove failed"]);
    has_not(&said, &["--add", "--re-add", "missing or faulty"]);
}

#[test]
fn a_journal_that_failed_is_no_member() {
    let plant = |state: &'static [&'static str]| {
        move |m: &mut Inventory| {
            let md = md(m, "md1");
            md.consistency_policy = Known(Some("journal".into()));
            if state.is_empty() {
                return;
            }
            let state = state.iter().map(|word| (*word).to_owned()).collect();
            md.members.push(MdMember { slot: None, state, device: "nvme7n1p9".into(), ..md.members[0].clone() });
        }
    };
    assert_eq!(found("array-degraded", plant(&["journal"])), []);
    for state in [&["faulty"][..], &["faulty", "journal"]] {
        let said = one("array-degraded", plant(state));
        assert_eq!(said.severity, Severity::Error);
        has(&said, &["has lost its journal", "--readonly", "--add-journal DEVICE", "--remove failed"]);
        has_not(&said, &["--re-add", "--add NEW"]);
    }
    has_not(&one("array-degraded", plant(&[])), &["--remove failed"]);
}

#[test]
fn a_list_of_bad_blocks_is_told_though_all_members_are_in_sync() {
    let said = one("array-member-errors", |m| md(m, "md1").members[2].bad_blocks = Some(3));
    has(&said, &["3 ranges", "mdadm --examine-badblocks /dev/nvme4n1p1", "smartctl -x /dev/nvme4n1"]);
    assert_eq!(found("array-member-errors", |m| md(m, "md1").members[2].bad_blocks = Some(0)), []);
}

#[test]
fn what_is_left_of_a_resync_is_told_at_the_speed_of_now() {
    let said = one("array-resyncing", |m| {
        let md = md(m, "md1");
        md.sync_action = Known(Some("resync".into()));
        md.sync_completed_sectors = Known(Some([0, 2 * 1024 * 1024 * 36]));
        md.sync_speed = Some(Bytes::mib(10));
    });
    has(&said, &["at the 10.5 MB/s of now", "1 h"]);
}

#[test]
fn a_pool_that_is_suspended_is_not_called_damaged() {
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "SUSPENDED".into();
        pool(m).errors = Some("List of errors unavailable: pool I/O is currently suspended".into());
    });
    has(&said, &["the pool is SUSPENDED"]);
    has_not(&said, &["damaged"]);
    let said = one("zfs-pool-state", |m| {
        pool(m).errors = Some("Permanent errors have been detected in the following files:".into());
    });
    has(&said, &["data is damaged", "Bring back the files", "in the following files |"]);
}

#[test]
fn an_array_of_firmware_gets_no_bitmap_that_it_may_have_no_room_for() {
    let said = one("array-no-bitmap", |m| {
        let md = md(m, "md0");
        md.metadata = Some("external:/md127/0".into());
        (md.bitmap, md.consistency_policy) = (Known(Some("none".into())), Known(Some("resync".into())));
    });
    assert_eq!(said.severity, Severity::Information);
    has_not(&said, &["--bitmap=internal"]);
}

#[test]
fn a_member_that_the_array_wants_out_gets_a_spare_beside_it() {
    let wanted = |m: &mut Inventory| md(m, "md1").members[1].state.push("want_replacement".into());
    has(&one("array-member-errors", wanted), &["wants another in its place", "mdadm /dev/md/parity --add NEW"]);
    let replaced = |m: &mut Inventory| {
        wanted(m);
        let md = md(m, "md1");
        md.members.push(MdMember { state: vec!["replacement".into(), "spare".into()], ..md.members[1].clone() });
    };
    assert_eq!(found("array-member-errors", replaced), []);
}

#[test]
fn an_array_that_somebody_holds_does_not_go_on_by_itself() {
    let said = one("array-degraded", |m| {
        fill(m, "md1", 3);
        md(m, "md1").sync_action = Known(Some("frozen".into()));
    });
    has(&said, &["echo idle > /sys/block/md1/md/sync_action", "`frozen`"]);
    has_not(&said, &["by itself, if not", "first write"]);
}

#[test]
fn a_drive_is_added_to_the_container_of_an_array_of_firmware() {
    let said = one("array-degraded", |m| {
        let md = md(m, "md1");
        (md.degraded, md.metadata) = (Known(Some(1)), Some("external:/md127/0".into()));
    });
    has(&said, &["mdadm /dev/md127 --add NEW", "mdadm --detail /dev/md127"]);
    has_not(&said, &["parity --add", "--re-add"]);
    let said = one("array-write-hole", |m| {
        let md = md(m, "md1");
        md.metadata = Some("external:/md127/0".into());
        md.consistency_policy = Known(Some("resync".into()));
        md.bitmap = Known(Some("+8".into()));
    });
    has_not(&said, &["--consistency-policy=ppl /dev", "--assemble"]);
}

#[test]
fn a_degraded_pool_of_unknown_devices_is_looked_at_and_no_more() {
    let said = one("zfs-pool-state", |m| {
        pool(m).state = "DEGRADED".into();
        pool(m).vdevs = unknown();
    });
    has(&said, &["See which device it is", "zpool status -v tank"]);
    has_not(&said, &["zpool scrub", "zpool clear"]);
}

#[test]
fn what_the_loader_starts_from_may_be_nearly_full() {
    let plant = |used: u32| {
        move |m: &mut Inventory| {
            let usage = &mut known(&mut detail(m).usage)[0];
            (usage.target, usage.used, usage.left) = ("/boot".into(), used, "12M".into());
        }
    };
    assert_eq!(found("file-system-space", plant(99)), []);
    assert_eq!(one("file-system-space", plant(100)).severity, Severity::Warning);
}

/// Only where there is no reshape may it go on by itself.
#[test]
fn an_array_that_is_held_is_asked_for_a_reshape_first() {
    let said = one("array-degraded", |m| {
        fill(m, "md1", 3);
        md(m, "md1").sync_action = Known(Some("frozen".into()));
    });
    assert_eq!(
        said.remedy.commands,
        ["mdadm --detail /dev/md/parity", "cat /proc/mdstat", "cat /sys/block/md1/md/reshape_position"]
    );
    has(&said, &["mdadm --grow --continue /dev/md/parity", "--backup-file=FILE", "Where it says `none`"]);
}

/// `mdadm` takes nothing out of an array in a container.
#[test]
fn members_of_arrays_of_firmware_are_taken_out_of_their_container() {
    let said = one("array-degraded", |m| {
        let md = md(m, "md1");
        md.metadata = Some("external:/md127/0".into());
        md.members.push(MdMember {
            device: "sdz".into(),
            slot: None,
            state: vec!["faulty".into()],
            ..md.members[0].clone()
        });
    });
    has(&said, &["mdadm --detail /dev/md127", "from the container by its name (`mdadm /dev/md127 --remove`"]);
    has_not(&said, &["--remove failed", "parity --remove"]);
    let said = one("array-member-errors", |m| {
        let md = md(m, "md1");
        md.metadata = Some("external:/md127/0".into());
        md.members[1].state.push("want_replacement".into());
    });
    has(&said, &["mdadm /dev/md127 --add NEW", "mdadm --detail /dev/md127", "only when this one has left"]);
    has_not(&said, &["parity --add", "beside it by itself"]);
}

#[test]
fn a_member_may_be_wanted_out_because_somebody_asked() {
    let said = one("array-member-errors", |m| md(m, "md1").members[1].state.push("want_replacement".into()));
    has(&said, &["somebody asked for it (`mdadm --replace`)", "0 copies are missing"]);
}

#[test]
fn a_journal_that_is_lost_with_a_member_comes_first() {
    let plant = |members: u32, journal: &'static str| {
        move |m: &mut Inventory| {
            let md = md(m, "md1");
            md.consistency_policy = Known(Some("journal".into()));
            md.bitmap = Known(Some("none".into()));
            md.degraded = Known(Some(members));
            (0..members).for_each(|_| drop(md.members.pop()));
            md.members.push(MdMember {
                device: "nvme0n1p9".into(),
                slot: None,
                state: vec![journal.into()],
                ..md.members[0].clone()
            });
        }
    };
    let said = one("array-degraded", plant(1, "faulty"));
    has(
        &said,
        &["and its journal is lost", "--readonly", "--add-journal DEVICE", "until it has a journal it fills none"],
    );
    has_not(&said, &["--re-add", "--add NEW"]);
    let said = one("array-degraded", plant(1, "journal"));
    has_not(&said, &["its journal is lost", "--add-journal"]);
    // Nothing is written to what has failed.
    let said = one("array-degraded", plant(3, "faulty"));
    has(&said, &["cannot do without them, and its journal is lost", "Write nothing"]);
    has_not(&said, &["--add-journal"]);
}

/// A spare and a cache that are gone are distinguished, and hide no member that failed.
#[test]
fn a_spare_that_is_gone_is_not_replaced_and_hides_no_member() {
    for class in ["spare", "cache"] {
        let plant = |m: &mut Inventory| {
            let gone = Vdev {
                name: "1234".into(),
                kind: "disk".into(),
                class: class.into(),
                state: "UNAVAIL".into(),
                ..Vdev::default()
            };
            known(&mut pool(m).vdevs).insert(0, gone);
        };
        let said = one("zfs-pool-state", plant);
        assert_eq!((said.severity, said.place.name.as_str()), (Severity::Warning, "1234 of tank"));
        has(&said, &["zpool remove tank 1234", &format!("zpool add tank {class} NEW")]);
        has_not(&said, &["zpool online", "zpool replace"]);
        let all = found("zfs-pool-state", |m| {
            plant(m);
            pool(m).state = "DEGRADED".into();
            vdev(m, 1).children[1].state = "FAULTED".into();
            vdev(m, 1).children[1].errors = [0, 34, 0];
        });
        let of_pool = all.iter().find(|found| found.place.name == "tank").unwrap();
        assert_eq!((all.len(), of_pool.severity), (2, Severity::Error));
        has(of_pool, &["1 device of", "zpool clear tank /dev/disk/by-id/nvme9n1p2"]);
        has_not(of_pool, &["1234"]);
    }
}

#[test]
fn damage_that_is_only_counted_gets_the_advice_for_damage() {
    let said = one("zfs-pool-state", |m| pool(m).errors = Some("3 data errors, use '-v' for a list".into()));
    has(&said, &["data is damaged", "Bring back the files"]);
}

#[test]
fn many_messages_are_judged_in_one_pass() {
    let before = super::linear::worked();
    let diagnosis = found("read-write-errors", |m| {
        (0..40_000).for_each(|at| say(m, &format!("sd 0:0:{at}:0: Power-on or device reset occurred")));
    });
    assert_eq!(diagnosis, []);
    let said = one("went-read-only", |m| {
        (0..40_000).for_each(|at| say(m, &format!("device-mapper: thin: 253:{at}: switching pool to read-only mode")));
    });
    has(&said, &["40000 messages", "253:0:"]);
    // Each held against all others it takes minutes.
    assert!((super::linear::worked() - before).as_secs() < 60);
}
