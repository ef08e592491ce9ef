//! Whether all of an array, a pool or a file system is there, as what was read of it says.

use terms::inventory::{DmRaid, Md, MdMember, Pool};

use crate::redundancy::at_most_of_level;

/// What is not as it should be with the members of an array; `None` where all is well, or not told.
pub(crate) fn array_condition(md: &Md) -> Option<Condition> {
    let degraded = md.degraded.known().copied().flatten().unwrap_or(0);
    let members = Members::of(md, degraded);
    if has_failed(md, degraded) {
        Some(Condition::Failed)
    } else if is_at_work(md) || (degraded > 0 && !members.filling.is_empty()) {
        Some(Condition::Filling)
    } else {
        let short = degraded > 0 && !has_place_for_each_bay(md, degraded);
        (short || !members.faulty.is_empty()).then_some(Condition::Short)
    }
}

/// Is it the mirror that a storage box starts from, of which two members and more are in sync? Those of Synology have 8 to 16
/// places and those of QNAP 24 and more, one for every bay, and who makes a mirror for data gives it two to four.
pub(crate) fn has_place_for_each_bay(md: &Md, degraded: u32) -> bool {
    let devices = md.devices.known().copied().unwrap_or(0);
    md.level == "raid1" && devices >= 8 && devices.saturating_sub(degraded) >= 2
}

/// Has an array lost more members than it can do without? Those that are filled are no help to it.
pub(crate) fn has_failed(md: &Md, degraded: u32) -> bool {
    let devices = md.devices.known().copied().unwrap_or(0);
    devices > 0 && at_most_of_level(&md.level, devices).is_some_and(|most| degraded > most)
}

/// The same of an array of the device mapper: `D` dead, `a` not in sync.
pub(crate) fn mapped_condition(raid: &DmRaid) -> Option<Condition> {
    let idle = ["idle", "frozen", "check"];
    let at_work = raid.sync_action.known().is_some_and(|action| !idle.contains(&action.as_str()));
    let health = raid.health.known().map_or("", String::as_str);
    if at_work || health.contains('a') {
        Some(Condition::Filling)
    } else {
        health.contains('D').then_some(Condition::Short)
    }
}

/// What is not as it should be with the members of a group. The worse comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    /// A member is missing, and nothing fills its place.
    Short,
    /// A member is being filled, or waits for its turn: it repairs itself.
    Filling,
    /// More is missing than it can do without.
    Failed,
}

/// Does a pool fill a device anew, or wait to? So says its status while it does.
pub(crate) fn resilvers(pool: &Pool) -> bool {
    pool.scan
        .as_deref()
        .is_some_and(|scan| scan.starts_with("resilver in progress") || scan.contains("resilver deferred"))
}

/// How an array's members are.
pub(crate) struct Members<'a> {
    pub(crate) all: u32,
    /// Neither here nor on the way to be.
    pub(crate) missing: u32,
    /// In their places, and not filled yet.
    pub(crate) filling: Vec<&'a str>,
    /// Without a place: md takes them when it needs them.
    pub(crate) spare: Vec<&'a str>,
    pub(crate) faulty: Vec<&'a str>,
}

impl<'a> Members<'a> {
    /// Members that are filled count as lost in `degraded`. What stands in for another that is still there does not.
    pub(crate) fn of(md: &'a Md, degraded: u32) -> Self {
        let with = |state: &str, wanted: &dyn Fn(&MdMember) -> bool| -> Vec<&'a str> {
            let has = |member: &&MdMember| member.state.iter().any(|known| known == state) && wanted(member);
            md.members.iter().filter(has).map(|member| member.device.as_str()).collect()
        };
        let replaces = |member: &MdMember| member.state.iter().any(|state| state == "replacement");
        let filling = with("spare", &|member| member.slot.is_some() && !replaces(member));
        Self {
            all: md.devices.known().copied().unwrap_or(0),
            missing: degraded.saturating_sub(u32::try_from(filling.len()).unwrap_or(u32::MAX)),
            filling,
            spare: with("spare", &|member| member.slot.is_none()),
            faulty: with("faulty", &|_| true),
        }
    }
}

/// Is a member being filled, do copies become equal, or does the array wait for its turn? A check changes nothing.
pub(crate) fn is_at_work(md: &Md) -> bool {
    let action = md.sync_action.known().and_then(Option::as_deref);
    md.sync_waits || action.is_some_and(|action| !["idle", "frozen", "check"].contains(&action))
}
