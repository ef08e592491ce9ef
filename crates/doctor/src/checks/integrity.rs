//! dm-integrity: blocks, modes, what it found.

use terms::Bytes;
use terms::command::quote;
use terms::inventory::{IntegrityHeader, Node};

use crate::check::{Check, Data, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::{Machine, path, place, sectors, sysfs};
use crate::remedy::Found;
use crate::words::{count, float, percent};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "integrity-sector",
        severity: Warning,
        looks_at: "`block_size` in `dmsetup table`",
        rule: "checksums cover blocks of 512 bytes, which `integritysetup` takes unless it is told",
        fixes: false,
        look: sector,
    },
    Check {
        id: "integrity-direct",
        severity: Error,
        looks_at: "mode in `dmsetup table`",
        rule: "mode `D`: data and checksums are written without journal or bitmap",
        fixes: false,
        look: direct,
    },
    Check {
        id: "integrity-journal",
        severity: Information,
        looks_at: "mode in `dmsetup table`",
        rule: "mode `J`: everything is written twice",
        fixes: false,
        look: journal,
    },
    Check {
        id: "integrity-recalculating",
        severity: Warning,
        looks_at: "third field of `dmsetup status`",
        rule: "checksums are still being made; what has none yet is not protected",
        fixes: false,
        look: recalculating,
    },
    Check {
        id: "integrity-mismatches",
        severity: Error,
        looks_at: "first field of `dmsetup status`",
        rule: "checksums did not match since the mapping was opened",
        fixes: false,
        look: mismatches,
    },
];

/// The mapping's name, as it is typed.
fn name(node: &Node) -> String {
    quote(node.dm.as_ref().map_or(node.name.as_str(), |dm| dm.name.as_str()))
}

fn table(node: &Node) -> String {
    format!("dmsetup table {}", name(node))
}

fn below(machine: &Machine, node: &Node) -> String {
    node.on.first().and_then(|name| machine.node(name)).map_or_else(|| "DEVICE".to_owned(), path)
}

/// Is it the one that `cryptsetup` puts under an encrypted volume with authentication?
fn serves_encryption(node: &Node) -> bool {
    let uuid = node.dm.as_ref().and_then(|dm| dm.uuid.as_deref());
    uuid.is_some_and(|uuid| uuid.starts_with("CRYPT-SUBDEV")) || name(node).ends_with("_dif")
}

fn share(tag: Bytes, block: Bytes) -> f64 {
    tag.as_f64() / (tag.as_f64() + block.as_f64())
}

fn sector(machine: &Machine, round: &mut Round) {
    for (node, target, integrity) in machine.integrities(round) {
        round.look();
        if integrity.block >= Bytes(4096) {
            continue;
        }
        let tag = integrity.tag.unwrap_or(Bytes(4));
        let device = below(machine, node);
        let found = finding(
            Warning,
            &place(node),
            format!("each checksum covers {}", integrity.block),
            format!(
                "each 4 KiB need {} checksums instead of 1, and they take {} of the capacity instead of {}",
                4096 / integrity.block.0.max(1),
                percent(share(tag, integrity.block)),
                percent(share(tag, Bytes(4096)))
            ),
        )
        .seen(table(node), format!("{} …, block_size {}", target.kind, integrity.block.0));
        let (look, lost) = (format!("lsblk -f {device}"), Data(format!("everything on {device}")));
        let found = if serves_encryption(node) {
            found
                .advise("Copy what is on it elsewhere, then make the encrypted volume anew with larger sectors.")
                .look(look)
                .run(
                    lost,
                    format!("cryptsetup luksFormat --type luks2 --sector-size 4096 --integrity hmac-sha256 {device}"),
                )
        } else {
            found
                .advise("Copy what is on it elsewhere, then make it anew.")
                .look(look)
                .run(Nothing, format!("integritysetup close {}", name(node)))
                .run(lost, format!("integritysetup format --sector-size 4096 {device}"))
        };
        round.find(found);
    }
}

fn reopen(found: Found, machine: &Machine, node: &Node) -> Found {
    let device = below(machine, node);
    if serves_encryption(node) {
        found.run(Nothing, format!("cryptsetup close NAME && cryptsetup open --persistent {device} NAME"))
    } else {
        found.run(
            Nothing,
            format!("integritysetup close {0} && integritysetup open --integrity-bitmap-mode {device} {0}", name(node)),
        )
    }
}

fn each_of_mode(machine: &Machine, round: &mut Round, mode: &str, judge: impl Fn(&mut Round, &Node, &IntegrityHeader)) {
    for (node, _, integrity) in machine.integrities(round) {
        round.look();
        if integrity.mode == mode {
            judge(round, node, integrity);
        }
    }
}

fn direct(machine: &Machine, round: &mut Round) {
    each_of_mode(machine, round, "D", |round, node, _| {
        // Cuts of power under random writes in a guest, with what was not flushed lost at random: 1 to 3 blocks each time.
        let found = finding(
            Error,
            &place(node),
            "it writes without journal or bitmap",
            "a cut of power leaves blocks whose checksum does not match: 1 to 3 blocks of 4 KiB could not be read any more after \
             each cut in tests, and none with journal or bitmap",
        )
        .seen(table(node), "mode D")
        .advise("Open it with a bitmap, which keeps nearly all of the speed. The mode is not stored: change what opens it at boot, too.");
        round.find(reopen(found, machine, node));
    });
}

fn journal(machine: &Machine, round: &mut Round) {
    each_of_mode(machine, round, "J", |round, node, _| {
        // Kernel commit 468dfca38b1a, which brought the bitmap: 1 MiB writes to a SATA SSD.
        let found = finding(
            Information,
            &place(node),
            "everything is written twice, to the journal first",
            "an SSD that writes 248 MB/s wrote 123 MB/s with a journal and 223 with a bitmap",
        )
        .seen(table(node), "mode J")
        .advise(
            "The journal is the default and safe. A bitmap is about as safe: after a cut of power it makes the checksums of regions \
             that were written to anew, and does not notice what went wrong there at that moment.",
        );
        round.find(if serves_encryption(node) { found } else { reopen(found, machine, node) });
    });
}

fn recalculating(machine: &Machine, round: &mut Round) {
    for (node, target, integrity) in machine.integrities(round) {
        let at = place(node);
        round.look();
        let Some(Some(done)) = round.ask(&at, &integrity.recalculated_sectors) else { continue };
        let all = target.length_sectors.max(1);
        // The kernel goes on telling how far it came when it has come to the end (tried with 6.1).
        if *done >= all {
            continue;
        }
        let left = sectors(all.saturating_sub(*done));
        round.find(
            finding(
                Warning,
                &at,
                format!("{} of the checksums are made", percent(float(*done) / float(all))),
                format!("{left} are not protected yet: what is wrong there is read without an error"),
            )
            .seen(format!("dmsetup status {}", name(node)), format!("recalculated {done} of {all} sectors"))
            .advise("Wait for it, and measure or test nothing before.")
            .look(format!("dmsetup status {}", name(node))),
        );
    }
}

fn mismatches(machine: &Machine, round: &mut Round) {
    for (node, _, integrity) in machine.integrities(round) {
        let at = place(node);
        round.look();
        let Some(found) = round.ask(&at, &integrity.mismatches).filter(|found| **found > 0) else { continue };
        let found = finding(
                Error,
                &at,
                format!("{} did not match", count(*found, "checksum")),
                format!(
                    "up to {} that were read were not what was written; one bad block is counted up to 3 times. With a mirror above \
                     it the other copy was read instead, otherwise reads failed",
                    Bytes(found.saturating_mul(integrity.block.0))
                ),
            )
            .seen(format!("dmsetup status {}", name(node)), format!("mismatches {found}"))
            .advise(
                "Scrub the array above it, which writes good copies over the bad ones. Then ask the drive for its health. It counts \
                 from when it was opened: what the scrub itself meets is counted, and a second scrub must add nothing.",
            );
        let above = machine.names_above(&node.name);
        let array = machine.arrays().find(|(array, _)| above.contains(array.name.as_str()));
        round.find(match array {
            Some((array, _)) => found
                .run(Nothing, format!("echo check > {}", sysfs(array, "md/sync_action")))
                .look(format!("mdadm --wait {}", path(array)))
                .look(format!("dmsetup status {}", name(node))),
            None => found.look(format!("dmsetup status {}", name(node))),
        });
    }
}
