//! An mdraid array.

use terms::layer::{ArrayState, Bitmap, Raid, RaidLevel, STRIPE_CACHE};
use terms::plan::Condition;
use terms::{LayerNode, Name, Word};

use super::at_least;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place, Stripe, drives, largest_lba, nodes};

/// Creates the array and waits until it is in sync.
pub(crate) fn lay(draft: &mut Draft, node: &LayerNode, raid: &Raid, members: &[Member]) -> Result<Place, PlanError> {
    at_least(node, raid.level.fewest(), members)?;
    let layer = &node.name;
    let name = draft.naming.array(layer);
    let array = Word::from(format!("/dev/md/{name}"));
    let redundant = raid.level != RaidLevel::Raid0;
    if raid.assume_clean && redundant {
        for member in members {
            prove_zero(draft, layer, member)?;
        }
    }
    draft.push(create(layer, raid, &name, &array, members));
    if matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6) {
        parity_settings(draft, layer, raid, &name);
    }
    if redundant {
        let limit_ns = whole_device(members.iter().map(|member| member.place.size.most).min().unwrap_or_default());
        draft.push(StepBuilder::wait(
            layer,
            "sync",
            synced_why(raid.state),
            Condition::MdIdle { node: array.clone(), limit_ns },
        ));
    }
    if let (ArrayState::Degraded, true, Some(last)) = (raid.state, redundant, members.last()) {
        draft.push(lose(layer, &array, last));
    }
    if raid.state == ArrayState::Resync && redundant {
        draft.resyncs.push(array.clone());
    }
    let detects = members.iter().any(|member| member.place.detects);
    // RAID-5 and 6 compare with the size of the stripe cache instead, and count none of dm-integrity's (drivers/md/raid5.c,
    // `raid5_end_read_request`).
    if detects && matches!(raid.level, RaidLevel::Raid1 | RaidLevel::Raid10) {
        draft.push(keep_members(layer, &name));
    }
    Ok(place(raid, array, members, redundant && detects))
}

/// Writes zeroes over a member and reads them back, without which `--assume-clean` would be a lie.
fn prove_zero(draft: &mut Draft, layer: &Name, member: &Member) -> Result<(), PlanError> {
    let Place { node, exact, size, .. } = &member.place;
    if !exact {
        return Err(PlanError::UnknownSize { layer: layer.clone(), member: member.name.clone() });
    }
    let limit = whole_device(size.most);
    draft.push(
        StepBuilder::run(
            layer,
            &format!("zero-{}", member.name),
            "Members that are all zeroes agree with each other and with their parity, so no first resync is needed.",
            words!["blkdiscard", "--zeroout", node.clone()],
        )
        .limit(limit)
        .erases(member.place.drive.iter().cloned().collect()),
    );
    draft.push(
        StepBuilder::run(
            layer,
            &format!("prove-{}", member.name),
            "Reading every byte back is the proof: on anything but zeroes the array would be silently inconsistent.",
            words!["cmp", format!("--bytes={}", size.most.0), node.clone(), "/dev/zero"],
        )
        .limit(limit),
    );
    Ok(())
}

fn create(layer: &Name, raid: &Raid, name: &str, array: &Word, members: &[Member]) -> StepBuilder {
    let mut argv = words!["mdadm", "--create", array.clone(), "--run", format!("--name={name}"), "--homehost=any"];
    argv.push(Word::from("--uuid=").then(Word::uuid(layer)));
    argv.push(Word::from(format!("--metadata={}", raid.metadata.word())));
    argv.push(Word::from(format!("--level={}", raid.level.number())));
    argv.push(Word::from(format!("--raid-devices={}", members.len())));
    if raid.level != RaidLevel::Raid1 {
        argv.push(Word::from(format!("--chunk={}K", raid.chunk.0 / 1024)));
    }
    if raid.level == RaidLevel::Raid10 {
        argv.push(Word::from(format!("--layout={}", raid.layout.word())));
    }
    if raid.level != RaidLevel::Raid0 {
        argv.push(Word::from(match raid.bitmap {
            Bitmap::Internal => "--bitmap=internal",
            Bitmap::None => "--bitmap=none",
        }));
        if raid.assume_clean {
            argv.push(Word::from("--assume-clean"));
        }
    }
    argv.extend(nodes(members));
    let mut doing = StepBuilder::run(layer, "create", create_why(raid), argv)
        .makes_node(array)
        .erases(drives(members))
        .undo("A stopped array lets go of its members.", words!["mdadm", "--stop", array.clone()]);
    for node in nodes(members) {
        doing = doing.marks(&node, "linux_raid_member", Some(Word::uuid(layer))).undo(
            "A superblock left behind would bring the array back at the next boot.",
            words!["mdadm", "--zero-superblock", node],
        );
    }
    doing
}

fn create_why(raid: &Raid) -> &'static str {
    match (raid.level, raid.bitmap) {
        (RaidLevel::Raid0, _) => {
            "Every question that mdadm might ask is answered in advance; any home host may assemble it."
        }
        (_, Bitmap::Internal) => {
            "The bitmap is said aloud because newer mdadm asks for it and, unanswered, makes none; it shortens the resync after a crash."
        }
        (_, Bitmap::None) => {
            "Without a bitmap writes cost less and a crash costs a full resync; said aloud because newer mdadm asks."
        }
    }
}

/// Why the array is waited for. A run starts resyncs itself (`resync::restart` of measure).
const fn synced_why(state: ArrayState) -> &'static str {
    match state {
        ArrayState::Resync => {
            "Built in sync, and left so: no step starts a resync. A run does before each workload, by writing `frozen` to \
             md/sync_action of the array, 0 to md/resync_start and `resync` to md/sync_action."
        }
        ArrayState::Whole | ArrayState::Degraded => "An array that is still resyncing measures the resync.",
    }
}

/// What of the parity thread is asked for and is not what md takes by itself.
fn parity_settings(draft: &mut Draft, layer: &Name, raid: &Raid, name: &str) {
    let mut set = |what: &str, why: &'static str, value: u32| {
        let path = Word::sysfs(&format!("/dev/md/{name}")).then(format!("/md/{}", what.replace('-', "_")));
        draft.push(StepBuilder::write(layer, what, why, path, &value.to_string()));
    };
    if raid.stripe_cache != STRIPE_CACHE {
        set("stripe-cache-size", "More stripes in memory let more writes be under way.", raid.stripe_cache);
    }
    if raid.group_threads != 0 {
        set("group-thread-cnt", "One thread does all work on parity unless others are asked for.", raid.group_threads);
    }
}

/// A member is lost as one that answers no longer.
fn lose(layer: &Name, array: &Word, member: &Member) -> StepBuilder {
    StepBuilder::run(
        layer,
        &format!("lose-{}", member.name),
        "The study asks how the array is without a member: the last one is set aside once all are in step.",
        words!["mdadm", "--manage", array.clone(), "--fail", member.place.node.clone()],
    )
}

/// On members that answer damage with read errors, md must repair and not give up (drivers/md/raid1-10.c,
/// `exceed_read_errors`).
fn keep_members(layer: &Name, name: &str) -> StepBuilder {
    StepBuilder::write(
        layer,
        "keep-members",
        "Each damaged block that dm-integrity finds counts as a read error, and RAID-10, since Linux 6.8 also RAID-1, evicts a member after 20 of them an hour instead of repairing it from the other.",
        Word::sysfs(&format!("/dev/md/{name}")).then("/md/max_read_errors"),
        "100000",
    )
}

fn place(raid: &Raid, node: Word, members: &[Member], heals: bool) -> Place {
    let count = members.len();
    let data = raid.level.data_members(count);
    // RAID-10 over an odd number deals half stripes; RAID-1 does not deal at all.
    let even = raid.level != RaidLevel::Raid10 || count.is_multiple_of(2);
    let stripe = if even { Stripe::new(raid.chunk, data) } else { None };
    Place {
        node,
        drive: None,
        kind: BlockKind::Mapping,
        exact: false,
        lba: largest_lba(members),
        stripe: stripe.or_else(|| through(raid.level, members)),
        detects: heals,
        misaligned: members.iter().any(|member| member.place.misaligned),
        ..members[0].place.clone()
    }
}

/// A mirror shows the striping of its legs, where all have the same.
fn through(level: RaidLevel, members: &[Member]) -> Option<Stripe> {
    let first = members.first()?.place.stripe;
    let same = members.iter().all(|member| member.place.stripe == first);
    if level == RaidLevel::Raid1 && same { first } else { None }
}
