//! What puts a ZFS pool in order that is not: what is looked at, what is brought back, and what is replaced at last.

use terms::command::quote;
use terms::diagnosis::Place;
use terms::inventory::{Pool, Vdev};

use super::message_names;
use super::zfs_told::{damage, walk};
use crate::check::{Brought, Information, Nothing, Round, finding};
use crate::condition::resilvers;
use crate::remedy::Found;

/// What puts a pool in order: devices first, then what a scrub finds, and only then are counters reset.
pub(super) fn in_order(found: Found, pool: &Pool, gone: &[&Vdev]) -> Found {
    let name = quote(&pool.name);
    let found = found.look(format!("zpool status -v {name}"));
    if resilvers(pool) {
        return found
            .advise("A device is being filled: wait for it, and look again then.")
            .look(format!("zpool wait -t resilver {name}"));
    }
    let is_it = |(start, _): &&(&str, &str)| pool.status.as_deref().is_some_and(|status| status.starts_with(start));
    if let Some((_, advice)) = REASONS.iter().find(is_it) {
        return found.look("zpool import").advise(*advice);
    }
    if !["ONLINE", "DEGRADED"].contains(&pool.state.as_str()) {
        let found = found.look("zpool import");
        if !gone.is_empty() && gone.iter().all(|vdev| vdev.class == "log") {
            return found.advise(format!(
                "Only devices of its log are gone, and what it holds is on the others. Bring them back if they can be. Otherwise `zpool import \
                 -m {name}` imports the pool without them, and `zpool remove` takes them out after that. The last seconds of what programs were \
                 told is safe may be lost with them. Force nothing else: `-F` and `-X` step back in time."
            ));
        }
        return found.advise(
            "Too many of its devices are gone: until they are back it can neither be read nor repaired. See which are missing and bring them back; \
             then `zpool clear` lets it go on, or `zpool import` finds it again. Replace nothing, and do not scrub.",
        );
    }
    // What waits to be brought back comes first.
    let away = |vdev: &&&Vdev| !is_counted_out(vdev);
    let Some(first) = gone.iter().find(away).or_else(|| gone.first()) else {
        if pool.state != "ONLINE" {
            return found.advise("See which device it is, and why; nothing is to be replaced or reset before.");
        }
        let leaves = data_leaves(pool);
        let found = match leaves[..] {
            [only] => found.look(format!("smartctl -x {}", drive_of(&only.name))),
            _ => found,
        };
        let advice = if leaves.len() == 1 && damage(pool).is_some() {
            "Ask the device for its health, look for requests that failed, and test the memory: the pool has no second copy of data, so that a scrub \
             finds what is damaged and cannot repair it. Bring back the files that the status names from a copy, or remove them; snapshots that \
             hold them as well keep the errors. Reset the counters only when it is known why they counted. A mirror would have repaired it."
        } else if all_counted_alike(pool) {
            "Replace none of them: so many drives do not fail alike. What they have in common does: the memory, the controller, its cables or its \
             power. Look there first, and test the memory; bring back from a copy what the status names, if it names files. A scrub after that \
             shows whether it holds; reset the counters only when it is known why they counted."
        } else if damage(pool).is_some() {
            "Bring back the files that the status names from a copy, or remove them; snapshots that hold them as well keep the errors. Where \
             all devices counted alike it is the memory, the controller or its cables, and no drive. A scrub after that shows what is left; \
             reset the counters only when it is known why they counted."
        } else {
            "Read all of it, see what the scrub found, and reset the counters only when it is known why they counted."
        };
        // zpool-scrub(8), -w: it returns when all is read. Until then its counters are what tells which device is bad.
        return found
            .advise(advice)
            .run(Nothing, format!("zpool scrub -w {name}"))
            .look(format!("zpool status -v {name}"))
            .run(Nothing, format!("zpool clear {name}"));
    };
    let device = quote(&first.name);
    if is_being_replaced(pool, first) {
        // `spa_vdev_attach` in OpenZFS's `module/zfs/spa.c`: no device of a replacement is replaced.
        return found
            .advise(
                "It is one of the two of a replacement. Bring it back if it can be, and the replacement goes on. If it is gone for good it \
                 is taken out of the replacement, when a scrub has shown what the other one has (zpool-detach(8)); replace nothing \
                 before.",
            )
            .look(format!("smartctl -x {}", drive_of(&first.name)))
            .run(Nothing, format!("zpool {} {name} {device}", if is_counted_out(first) { "clear" } else { "online" }));
    }
    if counted_alike(gone) {
        let files = if damage(pool).is_some() { " Then bring back the files that it names from a copy." } else { "" };
        return found
            .advise(format!(
                "Replace none of them: so many drives do not fail alike. What they have in common does: the memory, the controller, its \
                 cables or its power. Look there first, and test the memory.{files} Clear what was counted, and a scrub shows whether it holds."
            ))
            .look("dmesg")
            .run(Nothing, format!("zpool clear {name}"))
            .run(Nothing, format!("zpool scrub -w {name}"))
            .look(format!("zpool status -v {name}"));
    }
    let replace = |found: Found| {
        found.run(
            Brought("everything on the device that is put in its place".to_owned()),
            format!("zpool replace {name} {device} NEW"),
        )
    };
    if is_counted_out(first) {
        let found = found
            .advise(
                "ZFS gave the device up because of errors that it counted. Look at its cable and ask it for its health first. If that was it, \
                 clear what was counted, and a scrub shows whether it holds. Only one that fails again, or whose label is gone, is replaced.",
            )
            .look(format!("smartctl -x {}", drive_of(&first.name)))
            .run(Nothing, format!("zpool clear {name} {device}"))
            .run(Nothing, format!("zpool scrub -w {name}"))
            .look(format!("zpool status -v {name}"));
        return replace(found);
    }
    let found = found
        .advise(
            "See which and why. A device that was away for a moment is brought back, and what it missed is filled. Only one that is \
             gone for good is replaced.",
        )
        .run(Nothing, format!("zpool online {name} {device}"));
    replace(found)
}

/// What a status says of a pool that no device puts in order, and what does (`print_status_reason` in OpenZFS's `cmd/zpool/zpool_main.c`).
const REASONS: [(&str, &str); 4] = [
    (
        "The pool uses the following feature(s) not supported",
        "No device is at fault: the ZFS of this machine is too old for the pool. Import it where it was used last, or with a newer version \
         here; where all that is missing allows reading, `readonly=on` does (zpool-features(7)). Replace and repair nothing.",
    ),
    (
        "The pool can only be accessed in read-only mode",
        "No device is at fault: the ZFS of this machine is too old to write to the pool, and new enough to read it. Import it with \
         `-o readonly=on`, or where it was used last, or with a newer version here (zpool-features(7)). Replace and repair nothing.",
    ),
    (
        "The pool was last accessed by another system",
        "It is not imported. Export it where it was used last, and import it here; what is missing of it comes after that. Only when that \
         machine is off for good may its import be forced: two machines that write to one pool destroy it (zpool-import(8)).",
    ),
    (
        "An intent log record could not be read",
        "Devices of the log are gone or damaged, and hold the last seconds of what programs were told is safe. Bring them back and \
         `zpool online` them. `zpool clear` lets the pool go on without them, and gives that up: it is the last resort.",
    ),
];

/// Who imports a pool proves by the machine's number that no other has it.
pub(super) fn other_host(pool: &Pool, at: &Place, round: &mut Round) {
    let Some(status) = pool.status.as_deref().filter(|status| status.starts_with("Mismatch between pool hostid"))
    else {
        return;
    };
    let cost = "0 bytes are wrong; the next import may be refused, and nothing keeps another machine from importing it at the same time";
    round.find(
        finding(Information, at, "the pool was imported under another number than this machine's", cost)
            .seen(format!("zpool status {}", pool.name), status)
            .advise(
                "Give the machine a number that stays (zgenhostid(8)), also in its initial RAM disk. Then export the pool once when nothing \
                 uses it, and import it. Force no import while another machine may have it.",
            )
            .look("hostid"),
    );
}

/// Does it stand beside the device that takes its place, or beside the one whose place it takes?
fn is_being_replaced(pool: &Pool, device: &Vdev) -> bool {
    let mut all = Vec::new();
    pool.vdevs.known().into_iter().flatten().for_each(|vdev| walk(vdev, &mut all));
    let replaces = all.iter().filter(|vdev| vdev.kind == "replacing");
    replaces.flat_map(|vdev| &vdev.children).any(|child| child.name == device.name)
}

/// One whose label is not read is called faulted as well, and counted nothing.
fn is_counted_out(vdev: &Vdev) -> bool {
    COUNTED_OUT.contains(&vdev.state.as_str()) && vdev.errors.iter().any(|count| *count > 0)
}

/// What smartctl(8) is asked of for a device that a pool names by its node or by a link of `/dev/disk/by-id`: the drive and not its partition.
fn drive_of(name: &str) -> String {
    let (drive, _) = name.rsplit_once("-part").unwrap_or((name, ""));
    if ["ata-", "nvme-", "scsi-", "wwn-"].iter().any(|start| drive.starts_with(start)) {
        return quote(&format!("/dev/disk/by-id/{drive}"));
    }
    message_names::one(name).map_or_else(|| "DEVICE".to_owned(), |node| format!("/dev/{}", message_names::drive(&node)))
}

/// The devices that hold a pool's data.
fn data_leaves(pool: &Pool) -> Vec<&Vdev> {
    let mut leaves = Vec::new();
    let data = pool.vdevs.known().into_iter().flatten().filter(|vdev| vdev.class == "data");
    data.for_each(|vdev| crate::group::leaves(vdev, &mut leaves));
    leaves
}

/// Did all devices of a pool of several count errors of checksums, none of other kinds, and none more than twice as many as another?
fn all_counted_alike(pool: &Pool) -> bool {
    let leaves = data_leaves(pool);
    let counts = || leaves.iter().map(|leaf| leaf.errors[2]);
    let (most, least) = (counts().max().unwrap_or(0), counts().min().unwrap_or(0));
    leaves.len() > 1 && least > 0 && most <= 2 * least && leaves.iter().all(|leaf| leaf.errors[..2] == [0, 0])
}

/// Did several devices count as many errors of checksums each, and none of other kinds? A block that is wrong in all of its parts counts
/// against each of them.
fn counted_alike(gone: &[&Vdev]) -> bool {
    let [first, rest @ ..] = gone else { return false };
    let is_of_checksums = first.errors[0] == 0 && first.errors[1] == 0;
    !rest.is_empty() && is_of_checksums && gone.iter().all(|own| is_counted_out(own) && own.errors == first.errors)
}

/// States of a device that is there and that ZFS does not use, or not fully, for what it counted. `zpool online` leaves it faulted and
/// names `zpool clear` (`zpool_do_online` in OpenZFS's `cmd/zpool/zpool_main.c`).
const COUNTED_OUT: [&str; 2] = ["FAULTED", "DEGRADED"];
