//! Settings of md arrays that decide how fast they are.

use terms::Bytes;
use terms::inventory::{Md, MdMember};

use super::array::{is_parity, share_of_member};
use crate::check::{Check, Information, Round, Warning, finding};
use crate::condition::has_place_for_each_bay;
use crate::machine::{Machine, place, sysfs};
use crate::redundancy::of_level;
use crate::words::{duration, list, number, rate};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "array-stripe-cache",
        severity: Warning,
        looks_at: "`md/stripe_cache_size` of levels 4, 5 and 6 on flash",
        rule: "256, the default",
        fixes: true,
        look: stripe_cache,
    },
    Check {
        id: "array-group-threads",
        severity: Warning,
        looks_at: "`md/group_thread_cnt` of levels 4, 5 and 6 on flash",
        rule: "0, the default, on a machine with several processors",
        fixes: true,
        look: group_threads,
    },
    Check {
        id: "array-resync-cap",
        severity: Warning,
        looks_at: "`md/sync_speed_max`, links and lines to the drives",
        rule: "less than half of what the slowest line to a member carries: a warning while it resyncs, information otherwise",
        fixes: true,
        look: resync_cap,
    },
    Check {
        id: "array-mixed-media",
        severity: Warning,
        looks_at: "`queue/rotational` of the drives below members of RAID-1, `md/dev-*/state`",
        rule: "some are flash and some are not, and those are not `write_mostly`",
        fixes: false,
        look: media,
    },
];

/// A mirror of flash and hard disks. Reads go to whoever has less to do, unless a member is marked (`read_balance` in the kernel's
/// `drivers/md/raid1.c`).
fn media(machine: &Machine, round: &mut Round) {
    // The mirror that a storage box starts from is on whatever drives are put in.
    let is_of_box = |md: &Md| has_place_for_each_bay(md, md.degraded.known().copied().flatten().unwrap_or_default());
    for (node, md) in machine.arrays().filter(|(_, md)| md.level == "raid1" && !is_of_box(md)) {
        let at = place(node);
        round.look();
        let flash = |member: &MdMember, round: &mut Round| machine.is_flash(round, &at, &member.device);
        let kinds: Option<Vec<bool>> = md.members.iter().map(|member| flash(member, round)).collect();
        let Some(kinds) = kinds else { continue };
        let is_marked = |member: &MdMember| member.is("write_mostly");
        let members = md.members.iter().zip(&kinds);
        let slow: Vec<&str> = members
            .filter(|(member, is_flash)| !**is_flash && !is_marked(member))
            .map(|(member, _)| member.device.as_str())
            .collect();
        if slow.is_empty() || !kinds.contains(&true) {
            continue;
        }
        let found = finding(
            Warning,
            &at,
            format!("a mirror of flash and hard disks reads from {} as well", list(&slow)),
            "a read of a random block takes some 10 ms there and 0.1 ms on flash; writes wait for the slower one anyway",
        )
        .seen(sysfs(node, "md/dev-*/state"), format!("no write_mostly: {}", list(&slow)))
        .advise("Mark the hard disks: reads then go to flash as long as that is there. The array remembers it.");
        // The kernel's Documentation/admin-guide/md.rst, `state` of a member.
        round.find(slow.iter().fold(found, |found, member| {
            found.set(format!("echo writemostly > {}", sysfs(node, &format!("md/dev-{member}/state"))))
        }));
    }
}

/// `NR_STRIPES` in the kernel's `drivers/md/raid5.c`.
const STRIPES: u32 = 256;
/// What many found enough for NVMe; to be measured, from 4096 to 32768.
const MORE_STRIPES: u32 = 8192;
/// The unit that the cache counts in, for each member.
const STRIPE_PAGE: Bytes = Bytes(4096);

fn stripe_cache(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays().filter(|(_, md)| is_parity(md)) {
        let at = place(node);
        let Some(true) = machine.is_flash(round, &at, &node.name) else { continue };
        round.look();
        let Some(Some(size)) = round.ask(&at, &md.stripe_cache_size) else { continue };
        if *size > STRIPES {
            continue;
        }
        let devices = md.devices.known().copied().map_or_else(|| number(md.members.len()), u64::from);
        // Bytes in flight on a member are at most the cache's pages for it; by Little's law a rate is that over the latency.
        let flight = Bytes(u64::from(*size) * STRIPE_PAGE.0);
        let memory = Bytes(u64::from(MORE_STRIPES) * STRIPE_PAGE.0 * devices);
        let cost = format!(
            "at most {flight} are on their way to each member: {} a member at 1 ms a write, {} at 0.3 ms. {MORE_STRIPES} take {memory} \
             of memory",
            rate(flight.as_f64() / 1e-3),
            rate(flight.as_f64() / 0.3e-3)
        );
        let file = sysfs(node, "md/stripe_cache_size");
        round.find(
            finding(Warning, &at, format!("the stripe cache has its default of {size} pages a member"), cost)
                .seen(file.clone(), size)
                .advise("Try from 4096 to 32768 and measure. It is not stored.")
                .fix(file, size.to_string(), MORE_STRIPES.to_string()),
        );
    }
}

fn group_threads(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays().filter(|(_, md)| is_parity(md)) {
        let at = place(node);
        let Some(true) = machine.is_flash(round, &at, &node.name) else { continue };
        round.look();
        let Some(Some(0)) = round.ask(&at, &md.group_thread_cnt) else { continue };
        let cpus = machine.inventory.cpus;
        if cpus < 2 {
            continue;
        }
        let threads = cpus.min(4);
        let file = sysfs(node, "md/group_thread_cnt");
        // A RAID-5 of nine drives with one thread and with four wrote 600 and 750 MB/s; RAID-6 rows took 3.6 µs each.
        let cost = format!(
            "1 of {cpus} processors does all parity. At 3.6 µs for a row of 4 KiB, which a RAID-6 of 12 NVMe drives took, it does 277 k \
             rows a second: {} for each drive",
            rate(STRIPE_PAGE.as_f64() / 3.6e-6)
        );
        round.find(
            finding(Warning, &at, "one thread does the work of the whole array", cost)
                .seen(file.clone(), 0)
                .advise("Try from 2 to 8 and measure. It is not stored.")
                .fix(file, "0", threads.to_string()),
        );
    }
}

fn is_running(md: &Md) -> bool {
    let action = md.sync_action.known().and_then(Option::as_deref);
    action.is_some_and(|action| ["resync", "recover", "check", "repair", "reshape"].contains(&action))
}

fn resync_cap(machine: &Machine, round: &mut Round) {
    for (node, md) in machine.arrays().filter(|(_, md)| of_level(&md.level, 2).is_some()) {
        let at = place(node);
        let Some(Some(cap)) = round.ask(&at, &md.sync_speed_max) else { continue };
        // What carries no line of a known rate (RAM, a guest's drives) has nothing to compare with.
        let Some(line) = machine.least_line_rate(round, &at, &node.name) else { continue };
        // A hard disk does some 250 MB/s whatever its line carries.
        let Some(true) = machine.is_flash(round, &at, &node.name) else { continue };
        round.look();
        if cap.0 == 0 || cap.as_f64() * 2.0 >= line {
            continue;
        }
        let share = share_of_member(node, md).unwrap_or(node.size);
        let severity = if is_running(md) { Warning } else { Information };
        let file = sysfs(node, "md/sync_speed_max");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates of links are far below 2^63"
        )]
        let wanted = (line / 1024.0) as u64;
        // What is not the array's own stands for the system's, and is written so.
        let system = machine.parameter("dev.raid.speed_limit_max").and_then(|text| text.parse::<u64>().ok());
        let old = if system == Some(cap.0 / 1024) { "system".to_owned() } else { (cap.0 / 1024).to_string() };
        round.find(
            finding(
                severity,
                &at,
                format!("resyncs are held at {} for each member", rate(cap.as_f64())),
                format!(
                    "{share} of a member take {} instead of {} at least, which is what the slowest line ({}) allows; so long a lost \
                     drive is not made good",
                    duration(share.as_f64() / cap.as_f64()),
                    duration(share.as_f64() / line),
                    rate(line)
                ),
            )
            .seen(file.clone(), format!("{} KiB/s", cap.0 / 1024))
            .advise("Raise it for the rebuild, and put it back where work must not suffer. The drives may do less than their lines.")
            .fix(file, old, wanted.to_string()),
        );
    }
}
