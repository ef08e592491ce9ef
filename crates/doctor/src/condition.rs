//! Whether all of an array, a pool or a file system is there, as what was read of it says.

use terms::inventory::{DmRaid, Md, MdMember, Pool};

use crate::redundancy::at_most_of_level;
use crate::words::list;

/// What is not as it should be with the members of an array; `None` where all is well, or not told.
pub(crate) fn array_condition(md: &Md) -> Option<Condition> {
    let degraded = md.degraded.known().copied().flatten().unwrap_or(0);
    let members = Members::of(md, degraded);
    if has_failed(md, degraded) {
        Some(Condition::Failed)
    } else if is_at_work(md) || (degraded > 0 && members.is_filled()) {
        Some(Condition::Filling)
    } else {
        let short = degraded > 0 && !has_place_for_each_bay(md, degraded);
        // What failed is listed until it is removed, also when another has taken its place.
        let failed = !members.faulty.is_empty() && md.degraded.known() != Some(&Some(0));
        (short || failed).then_some(Condition::Short)
    }
}

/// Is it the mirror that a storage box starts from, of which two members and more are in sync? Those of Synology have 8 to 16
/// places and those of QNAP 24 and more, one for every bay, and who makes a mirror for data gives it two to four.
pub(crate) fn has_place_for_each_bay(md: &Md, degraded: u32) -> bool {
    let places = md.devices.known().copied().unwrap_or(0);
    md.level == "raid1" && is_of_storage_box(places, places.saturating_sub(degraded))
}

/// The same of a mirror with so many places, of which so many are filled.
pub(crate) const fn is_of_storage_box(places: u32, here: u32) -> bool {
    places >= 8 && here >= 2
}

/// Has an array with a journal none that works? A journal that failed is listed until it is removed.
pub(crate) fn has_lost_journal(md: &Md) -> bool {
    let works = |member: &MdMember| member.state.is_empty() || (member.is("journal") && !member.is("faulty"));
    let wants = md.consistency_policy.known().and_then(Option::as_deref) == Some("journal");
    wants && !md.members.is_empty() && !md.members.iter().any(works)
}

/// Has an array lost more members than it can do without? Those that are filled are no help to it.
pub(crate) fn has_failed(md: &Md, degraded: u32) -> bool {
    let devices = md.devices.known().copied().unwrap_or(0);
    devices > 0 && at_most_of_level(&md.level, devices).is_some_and(|most| degraded > most)
}

/// Members that a rebuild writes, where all of them are known by name; a resync and a reshape write any.
pub(crate) fn filled_members(md: &Md) -> Vec<&str> {
    let rebuilds = md.sync_action.known().and_then(Option::as_deref) == Some("recover");
    let is_filled = |member: &&MdMember| member.is("spare") && (member.slot.is_some() || member.is("replacement"));
    let is_known = md.members.iter().all(|member| !member.state.is_empty());
    let filled = md.members.iter().filter(is_filled).map(|member| member.device.as_str());
    if rebuilds && is_known { filled.collect() } else { Vec::new() }
}

/// The same of an array of the device mapper: `D` dead, `a` not in sync.
pub(crate) fn mapped_condition(raid: &DmRaid) -> Option<Condition> {
    let idle = ["idle", "frozen", "check"];
    let at_work = raid.sync_action.known().is_some_and(|action| !idle.contains(&action.as_str()));
    let health = raid.health.known().map_or("", String::as_str);
    if has_failed_images(raid) {
        Some(Condition::Failed)
    } else if at_work || health.contains('a') {
        Some(Condition::Filling)
    } else {
        health.contains('D').then_some(Condition::Short)
    }
}

/// The same of an array of the device mapper.
pub(crate) fn has_failed_images(raid: &DmRaid) -> bool {
    let health = raid.health.known().map_or("", String::as_str);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let dead = count(health.matches('D').count());
    at_most_of_level(&raid.level, count(health.len())).is_some_and(|most| dead > most)
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

/// Does a member hold no copy: did it fail, does it wait as a spare, or is it being filled?
pub(crate) fn holds_nothing(member: &MdMember) -> bool {
    member.is("faulty") || member.is("spare")
}

/// How an array's members are.
pub(crate) struct Members<'a> {
    pub(crate) all: u32,
    /// Neither here nor on the way to be.
    pub(crate) missing: u32,
    /// In their places, and not filled yet.
    pub(crate) filling: Vec<&'a str>,
    /// How many more are filled, and of which nobody knows which they are.
    pub(crate) unnamed: u32,
    pub(crate) candidates: Vec<&'a str>,
    /// Without a place: md takes them when it needs them.
    pub(crate) spare: Vec<&'a str>,
    pub(crate) faulty: Vec<&'a str>,
}

impl<'a> Members<'a> {
    /// Members that are filled count as lost in `degraded`. What stands in for another that is still there does not.
    pub(crate) fn of(md: &'a Md, degraded: u32) -> Self {
        let with = |state: &str, wanted: &dyn Fn(&MdMember) -> bool| -> Vec<&'a str> {
            let has = |member: &&MdMember| member.is(state) && wanted(member);
            md.members.iter().filter(has).map(|member| member.device.as_str()).collect()
        };
        let replaces = |member: &MdMember| member.is("replacement");
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let filling = with("spare", &|member| member.slot.is_some() && !replaces(member));
        let all = md.devices.known().copied().unwrap_or(0);
        let candidates: Vec<&str> =
            md.members.iter().filter(|member| member.state.is_empty()).map(|member| member.device.as_str()).collect();
        // Those that are in sync are as many as the array says.
        let in_sync = number(with("in_sync", &|member| !replaces(member)).len());
        let unnamed = in_sync.saturating_add(number(candidates.len())).saturating_sub(all.saturating_sub(degraded));
        let unnamed = unnamed.min(number(candidates.len()));
        Self {
            all,
            missing: degraded.saturating_sub(number(filling.len())).saturating_sub(unnamed),
            filling,
            unnamed,
            candidates,
            spare: with("spare", &|member| member.slot.is_none() && !replaces(member)),
            faulty: with("faulty", &|_| true),
        }
    }
}

impl Members<'_> {
    /// Is one being filled, or does it wait to be?
    pub(crate) fn is_filled(&self) -> bool {
        !self.filling.is_empty() || self.unnamed > 0
    }

    /// Who is: `sdc1`, `1 of sdc1 and sdd1`.
    pub(crate) fn filled(&self) -> String {
        let unnamed = (self.unnamed > 0).then(|| format!("{} of {}", self.unnamed, list(&self.candidates)));
        let named = (!self.filling.is_empty()).then(|| list(&self.filling));
        named.into_iter().chain(unnamed).collect::<Vec<_>>().join(", and ")
    }
}

/// Is a member being filled, do copies become equal, or does the array wait for that? A check changes nothing, and where a list does not
/// tell what waits, it may be one unless a member is missing.
pub(crate) fn is_at_work(md: &Md) -> bool {
    match md.sync_action.known().and_then(Option::as_deref) {
        Some(action) => !["idle", "frozen", "check"].contains(&action),
        None => md.sync_waits && md.degraded.known() != Some(&Some(0)),
    }
}
