//! The smallest block of a ZFS pool's devices.

use terms::command::quote;
use terms::diagnosis::{Place, Severity};
use terms::inventory::{Pool, Readout, Vdev};

use super::zfs_told::{place, pools, walk};
use crate::check::{Data, Error, Information, Nothing, Round, Warning, finding};
use crate::machine::Machine;
use crate::remedy::Found;

pub(super) fn ashift(machine: &Machine, round: &mut Round) {
    for pool in pools(machine, round) {
        for vdev in round.ask(&place(pool), &pool.vdevs).into_iter().flatten() {
            if ["cache", "spare"].contains(&vdev.class.as_str()) {
                continue;
            }
            let at = Place::new("virtual device", format!("{} of {}", vdev.name, pool.name));
            round.look();
            let mut leaves = Vec::new();
            walk(vdev, &mut leaves);
            // The status tells it of leaves that it does not suit.
            let configured = leaves.iter().find_map(|leaf| leaf.configured).map(|block| block.0.trailing_zeros());
            let told = configured.or_else(|| vdev.ashift.known().copied());
            // Also where the pool's property tells what they were most likely made with, it is not known.
            let by_property =
                if told.is_none() { round.ask(&at, &vdev.ashift).or(property(pool).as_ref()).copied() } else { None };
            let Some(ashift) = told.or(by_property) else { continue };
            let own = match (configured, by_property) {
                (Some(_), _) => {
                    (format!("zpool status {}", pool.name), format!("block size: {}B configured", 1_u64 << ashift))
                }
                (_, Some(_)) => (format!("zpool get ashift {}", pool.name), ashift.to_string()),
                _ => (format!("zdb -C {}", pool.name), format!("ashift: {ashift}")),
            };
            let mut worst = leaves.iter().filter_map(|leaf| Some((leaf.native?.0, leaf.name.as_str(), false))).max();
            for node in leaves.iter().filter_map(|leaf| machine.node(leaf.node.as_deref()?)) {
                let Some(physical) = round.ask(&at, &node.queue.physical_block) else { continue };
                worst = worst.max(Some((physical.0, node.name.as_str(), true)));
            }
            if worst.is_none() && leaves.iter().any(|leaf| leaf.kind == "disk") {
                round.unknown(&at, "the block of none of its drives is known");
            }
            let smallest = 1_u64.checked_shl(ashift).unwrap_or(u64::MAX);
            match worst {
                Some((physical, name, of_kernel)) if physical > smallest => {
                    let theirs = if of_kernel {
                        (format!("/sys/block/{name}/queue/physical_block_size"), physical.to_string())
                    } else {
                        (format!("zpool status {}", pool.name), format!("{physical}B native"))
                    };
                    let found = too_small(&at, ashift, (physical, name), [own, theirs]);
                    round.find(match by_property {
                        Some(_) => asked_first(found(Warning), pool),
                        None if smallest >= PAGE => doubted(found, physical),
                        None => made_anew(found(Error), pool, physical),
                    });
                }
                Some((_, name, _)) if by_property.is_none() && smallest < PAGE && on_flash(machine, &leaves) => round.find(
                    finding(
                        Information,
                        &at,
                        format!("its smallest block is {smallest} bytes, on flash"),
                        format!(
                            "{name} says that its blocks are no larger, and flash works with pages of {PAGE} bytes or more whatever it \
                             says"
                        ),
                    )
                    .seen(own.0, own.1)
                    .advise("It cannot be changed; give `-o ashift=12` to what is made next.")
                    .look(format!("zpool get ashift {}", quote(&pool.name))),
                ),
                _ => {}
            }
        }
    }
}

/// The page that flash has at least.
const PAGE: u64 = 4096;
/// Largest physical block that a drive is believed to have: flash has pages of 4 to 16 KiB. More is a hint for requests.
const BELIEVED: u64 = 16 << 10;
/// What ZFS takes (zpoolprops(7), `ashift`: "from 9 to 16, inclusive").
const LARGEST_SHIFT: u32 = 16;

fn on_flash(machine: &Machine, leaves: &[&Vdev]) -> bool {
    let mut nodes = leaves.iter().filter_map(|leaf| machine.node(leaf.node.as_deref()?)).peekable();
    nodes.peek().is_some()
        && nodes
            .all(|node| machine.bottom(&node.name).iter().all(|drive| drive.queue.rotational == Readout::Known(false)))
}

/// What the pool gives to devices that are added without another (zpoolprops(7)): 0 is what they say of themselves.
fn property(pool: &Pool) -> Option<u32> {
    pool.properties.known()?.get("ashift")?.parse().ok().filter(|shift| *shift > 0)
}

/// `seen` is where its own block and the drive's were read, and what was.
fn too_small(
    at: &Place,
    ashift: u32,
    (physical, drive): (u64, &str),
    seen: [(String, String); 2],
) -> impl Fn(Severity) -> Found {
    let smallest = 1_u64.checked_shl(ashift).unwrap_or(u64::MAX).max(1);
    move |severity| {
        let found = finding(
            severity,
            at,
            format!("its smallest block is {smallest} bytes and that of {drive} is {physical}"),
            format!(
                "a block of {smallest} bytes makes the drive read {physical} and write {physical}: {} times as much, for as long as \
                 the pool lives",
                physical / smallest
            ),
        );
        seen.iter().fold(found, |found, (source, value)| found.seen(source, value))
    }
}

/// Only the pool's property was read, which may have been set after its devices were made.
fn asked_first(found: Found, pool: &Pool) -> Found {
    let name = quote(&pool.name);
    found
        .advise(
            "That is what the pool gives to devices that are added, and most likely what these have: ask first what each has. It is fixed for \
             a virtual device; set the property before another one is added.",
        )
        .look(format!("zdb -C {name} | grep ashift"))
        .look("lsblk -o NAME,PHY-SEC,LOG-SEC,MODEL")
}

/// Blocks of 4096 bytes suit nearly all drives, and larger ones cost room.
fn doubted(found: impl Fn(Severity) -> Found, physical: u64) -> Found {
    let found = if physical > BELIEVED {
        found(Information).advise(
            "Doubt it: hardly a drive has blocks larger than 16 KiB, and some give the size of requests that they like. Measure before \
             anything is made anew.",
        )
    } else {
        found(Warning).advise(format!(
            "Compare `PHY-SEC` of all its drives first: what tells more than others like it, or only repeats what it lies on, is hardly \
             right. A pool with blocks of {physical} bytes gives each that much at least, so that small and compressed blocks take more \
             room, and RAID-Z fills up more: measure both before anything is made anew.",
        ))
    };
    found.look("lsblk -o NAME,PHY-SEC,LOG-SEC,MODEL")
}

fn made_anew(found: Found, pool: &Pool, physical: u64) -> Found {
    let name = quote(&pool.name);
    let shift = if physical > BELIEVED { PAGE } else { physical }.trailing_zeros().min(LARGEST_SHIFT);
    found
        .advise(
            "It is fixed for a virtual device. Send what is on it to another pool, compare what came there, and only then take this one \
             apart, make it anew and send all of it back. On other drives than its own nothing is lost.",
        )
        .look(format!("zfs list -t all -r {name}"))
        .run(Nothing, format!("zfs snapshot -r {name}@moved"))
        .run(Nothing, format!("zfs send -R {name}@moved | zfs receive -u OTHER/{name}"))
        .look(format!("zfs list -t all -r OTHER/{name}"))
        .run(
            Data(format!("everything on pool {}", pool.name)),
            format!("zpool create -o ashift={shift} {name} {}", layout(pool)),
        )
        .run(
            Data(format!("everything on pool {}", pool.name)),
            format!("zfs send -R OTHER/{name}@moved | zfs receive -F {name}"),
        )
}

/// The virtual devices of a pool, as `zpool create` takes them (zpoolconcepts(7)).
fn layout(pool: &Pool) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut class = "data";
    for vdev in pool.vdevs.known().into_iter().flatten() {
        if vdev.class != class {
            class = &vdev.class;
            words.push(class.to_owned());
        }
        if !vdev.children.is_empty() {
            words.push(vdev.kind.clone());
        }
        let mut leaves = Vec::new();
        crate::group::leaves(vdev, &mut leaves);
        words.extend(leaves.iter().map(|leaf| quote(&leaf.name)));
    }
    words.join(" ")
}
