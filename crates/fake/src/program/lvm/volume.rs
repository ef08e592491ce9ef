//! Logical volumes: making, changing and removing them.

use super::group::{Extents, Group, Logical, Physical};
use super::{bad, failed};
use crate::device::{Kind, Piece, Target};
use crate::program::md::{alike, recover_leg};
use crate::program::{Call, Did, Reply, broken, device, done, say};
use crate::raid::Level;
use crate::state::State;

/// `group/volume`.
fn split(path: &str) -> Result<(&str, &str), Reply> {
    path.trim_start_matches("/dev/").split_once('/').ok_or_else(|| bad(format!("{path}: not a logical volume")))
}

pub(crate) fn lvcreate(state: &mut State, call: &Call<'_>) -> Did {
    let name = call.value("--name").unwrap_or("lvol0").to_owned();
    if call.has("--snapshot") {
        return snapshot(state, call, name);
    }
    let Some(group) = call.argv.iter().rev().find(|word| !word.starts_with("/dev/")) else {
        return Err(bad("No group"));
    };
    let mut group = state.whole_group(group)?;
    if group.volumes.iter().any(|volume| volume.name == name) {
        return Err(bad(format!("Logical Volume \"{name}\" already exists in volume group \"{}\"", group.name)));
    }
    let kind = call.value("--type").unwrap_or("linear").to_owned();
    let chunk = call.number("--stripesize").unwrap_or(64 << 10);
    let mut volume = Logical { name, kind, chunk, ..Logical::default() };
    if volume.kind == "thin" {
        volume.of = call.value("--thinpool").map(str::to_owned);
        volume.size = call.number("--virtualsize");
    } else {
        let on = named(state, &group, &call.nodes())?;
        lay(&group, &mut volume, &on, call)?;
    }
    group.volumes.push(volume.clone());
    state.put_group(&mut group)?;
    if call.value("--activate") != Some("n") {
        state.activate(&group, &volume);
        let node = state.device_at(&format!("/dev/mapper/{}", group.mapping(&volume.name))).unwrap_or_default();
        // With --wipesignatures y and --zero y nothing of what was there before shows.
        if volume.kind != "thin-pool" {
            let _ = state.wipe(&node).and_then(|_| state.erase(&node, 0, 4096));
        }
    }
    done()
}

/// Devices of a group by their nodes; all where none is named.
fn named(state: &mut State, group: &Group, nodes: &[&str]) -> Result<Vec<Physical>, Reply> {
    let here = state.physicals();
    let mut uuids = Vec::new();
    for node in nodes {
        uuids.push(here.get(&device(state, node).map_err(failed)?).cloned().unwrap_or_default());
    }
    let wanted = |of: &&Physical| nodes.is_empty() || uuids.contains(&of.uuid);
    Ok(group.physical.iter().filter(wanted).cloned().collect())
}

/// Finds extents for a volume.
fn lay(group: &Group, volume: &mut Logical, on: &[Physical], call: &Call<'_>) -> Result<(), Reply> {
    let share: u64 = call.value("--extents").and_then(|text| text.split('%').next()?.parse().ok()).unwrap_or(100);
    let free: u64 = on.iter().map(|of| group.free(of)).sum();
    let mut wanted = free * share / 100;
    let short = || bad("Insufficient suitable allocatable extents");
    if volume.kind == "thin-pool" {
        let first = on.first().ok_or_else(short)?;
        volume.beside = vec![vec![group.take(first, 1, 0)]];
        wanted = wanted.saturating_sub(1);
    }
    let used = |of: &Physical| {
        volume.beside.iter().flatten().filter(|taken| taken.on == of.uuid).map(|taken| taken.count).sum::<u64>()
    };
    let striped = call.value("--stripes").is_some() && !Level::parse(&volume.kind).is_some_and(Level::is_redundant);
    if striped {
        let each = wanted / on.len() as u64;
        let each = on.iter().map(|of| group.free(of) - used(of)).min().unwrap_or(0).min(each);
        volume.legs = on.iter().map(|of| vec![group.take(of, each, used(of))]).collect();
        volume.kind = if volume.kind == "thin-pool" { volume.kind.clone() } else { "striped".to_owned() };
    } else if Level::parse(&volume.kind).is_some() {
        let level = Level::parse(&volume.kind).ok_or_else(short)?;
        let least = if level == Level::Parity(2) { 5 } else { 2 };
        let each = (wanted / on.len() as u64).saturating_sub(1);
        let each = on.iter().map(|of| group.free(of)).min().unwrap_or(0).saturating_sub(1).min(each);
        if on.len() < least || each == 0 {
            return Err(short());
        }
        volume.legs = on.iter().map(|of| vec![group.take(of, each, 1)]).collect();
        volume.beside = on.iter().map(|of| vec![group.take(of, 1, 0)]).collect();
    } else {
        let mut leg: Vec<Extents> = Vec::new();
        for of in on {
            let count = (group.free(of) - used(of)).min(wanted);
            wanted -= count;
            leg.extend((count > 0).then(|| group.take(of, count, used(of))));
        }
        volume.legs = vec![leg];
    }
    if volume.legs.iter().any(Vec::is_empty) { Err(short()) } else { Ok(()) }
}

fn snapshot(state: &mut State, call: &Call<'_>, name: String) -> Did {
    let (group, origin) = split(call.last())?;
    let mut group = state.whole_group(group)?;
    let thin = group.volume(origin)?.kind == "thin";
    let mut volume = Logical { name, kind: "snapshot".to_owned(), of: Some(origin.to_owned()), ..Logical::default() };
    if !thin {
        let on = group.physical.clone();
        lay(&group, &mut volume, &on, call)?;
    }
    group.volumes.push(volume.clone());
    state.put_group(&mut group)?;
    // A snapshot of a thin volume is not activated unless it is told to be (lvmthin(7)).
    if !thin || call.value("--setactivationskip") == Some("n") || origin == "data" {
        state.activate(&group, &volume);
    }
    done()
}

pub(crate) fn lvremove(state: &mut State, call: &Call<'_>) -> Did {
    let (group, name) = split(call.last())?;
    let mut group = state.whole_group(group)?;
    let (cache, origin) = (group.volume(name)?.cache.clone(), group.volume(name)?.of.clone());
    let depends = |volume: &&Logical| volume.of.as_deref() == Some(name);
    let dependent: Vec<String> = group.volumes.iter().filter(depends).map(|volume| volume.name.clone()).collect();
    let all: Vec<String> = dependent.into_iter().chain([name.to_owned()]).chain(cache).collect();
    for name in &all {
        deactivate(state, &group, name)?;
    }
    // The last snapshot of a volume is gone: its origin is what it was.
    let top =
        origin.and_then(|origin| Some((state.device_at(&format!("/dev/mapper/{}", group.mapping(&origin)))?, origin)));
    let is_last =
        |origin: &str| group.volumes.iter().filter(|volume| volume.of.as_deref() == Some(origin)).count() == 1;
    if let Some((top, origin)) = top.filter(|(_, origin)| is_last(origin)) {
        state.pull_up(&top, &format!("{}-real", group.mapping(&origin)));
    }
    group.volumes.retain(|volume| !all.contains(&volume.name));
    state.put_group(&mut group)
}

/// Closes every volume of a group, as `--activate n` does.
pub(crate) fn vgchange(state: &mut State, call: &Call<'_>) -> Did {
    let group = state.group(call.last())?;
    for volume in group.volumes.iter().rev() {
        deactivate(state, &group, &volume.name)?;
    }
    done()
}

fn deactivate(state: &mut State, group: &Group, name: &str) -> Result<(), Reply> {
    let nodes = state.nodes_of(group, name);
    for node in &nodes {
        if state.is_claimed(node) {
            return Err(bad(format!("Logical volume {}/{name} contains a filesystem in use.", group.name)));
        }
        state.remove(node);
    }
    Ok(())
}

pub(crate) fn lvconvert(state: &mut State, call: &Call<'_>) -> Did {
    let (group, name) = split(call.last())?;
    let mut group = state.whole_group(group)?;
    if call.has("--raidintegrity") {
        let block = call.number("--raidintegrityblocksize").unwrap_or(512);
        let with = group.clone();
        let volume = group.volume(name)?;
        for (beside, leg) in volume.beside.iter_mut().zip(&volume.legs) {
            let of = with.physical.iter().find(|of| of.uuid == leg[0].on).ok_or_else(|| bad("no such device"))?;
            beside.push(with.take(of, 2, 0));
        }
        volume.tagged = true;
        let volume = volume.clone();
        state.put_group(&mut group)?;
        state.protect(&group, &volume, block);
        return done();
    }
    if let Some(cache) = call.value("--cachevol") {
        group.volume(name)?.cache = Some(cache.to_owned());
        let volume = group.volume(cache)?.clone();
        state.put_group(&mut group)?;
        let beside = Logical { name: format!("{cache}_cvol"), ..volume };
        state.activate(&group, &beside);
        let cvol = state.device_at(&format!("/dev/{}/{cache}_cvol", group.name)).unwrap_or_default();
        // As drivers/md/dm-writecache.c and dm-cache-metadata.c begin what they keep.
        let (place, magic) = match call.value("--type") {
            Some("writecache") => (0, &0x2348_9321_u32.to_le_bytes()[..]),
            _ => (32, &0o6_142_003_u64.to_le_bytes()[..]),
        };
        state.write(&cvol, place, magic).map_err(|error| broken(&error))?;
        let Some(top) = state.device_at(&format!("/dev/mapper/{}", group.mapping(name))) else { return done() };
        let below = state.push_down(&top, &group.mapping(&format!("{name}_corig")));
        let pieces =
            vec![Piece { of: below, start: 0, length: state.size(&top) }, Piece { of: cvol, start: 0, length: 0 }];
        state.set_target(&top, Target::Linear(pieces));
        return done();
    }
    if call.has("--splitcache") {
        let Some(cache) = group.volume(name)?.cache.take() else { return Err(bad("LV is not a cache LV.")) };
        state.put_group(&mut group)?;
        if let Some(top) = state.device_at(&format!("/dev/mapper/{}", group.mapping(name))) {
            state.pull_up(&top, &group.mapping(&format!("{name}_corig")));
        }
        return deactivate(state, &group, &format!("{cache}_cvol")).map(|()| Reply::default());
    }
    if call.has("--repair") {
        return repair(state, group, name);
    }
    Err(bad("lvconvert: nothing to do"))
}

/// A leg on a device that left the group is made anew on one that has room.
fn repair(state: &mut State, mut group: Group, name: &str) -> Did {
    let node = state.device_at(&format!("/dev/mapper/{}", group.mapping(name))).unwrap_or_default();
    let volume = group.volume(name)?.clone();
    let is_here = |on: &str| group.physical.iter().any(|of| of.uuid == on);
    let Some(lost) = volume.legs.iter().position(|leg| !is_here(&leg[0].on)) else { return done() };
    let used: Vec<&str> = volume.legs.iter().map(|leg| leg[0].on.as_str()).collect();
    let Some(on) = group.physical.iter().find(|of| !used.contains(&of.uuid.as_str())).cloned() else {
        return Err(bad("Insufficient suitable allocatable extents"));
    };
    let (meta, count) = (volume.beside[lost].iter().map(|of| of.count).sum::<u64>(), volume.legs[lost][0].count);
    let leg = vec![group.take(&on, count, meta)];
    let mut behind = 0;
    let beside: Vec<Extents> = volume.beside[lost]
        .iter()
        .map(|of| {
            behind += of.count;
            group.take(&on, of.count, behind - of.count)
        })
        .collect();
    let entry = group.volume(name)?;
    (entry.legs[lost], entry.beside[lost]) = (leg, beside);
    let volume = entry.clone();
    state.put_group(&mut group)?;
    // The devices of the lost leg are made anew: those of the volume stay.
    let image = format!("{name}_rimage_{lost}");
    let of_leg =
        state.nodes_of(&group, &image).into_iter().chain(state.nodes_of(&group, &format!("{name}_rmeta_{lost}")));
    of_leg.collect::<Vec<_>>().iter().for_each(|node| drop(state.remove(node)));
    let new = state.make_leg(&group, &volume, lost);
    if let Some(legs) = state.legs_of(&node) {
        legs[lost] = crate::device::Leg { device: new.clone(), works: true };
    }
    if let Some(Kind::Mapping(mapping)) = state.devices.get(&node).map(|device| device.kind.clone())
        && let Target::Spread(spread) = mapping.target
    {
        recover_leg(state, &spread, 0, state.size(&node), &new);
    }
    done()
}

pub(crate) fn lvchange(state: &mut State, call: &Call<'_>) -> Did {
    let (group, name) = split(call.last())?;
    let mut group = state.group(group)?;
    group.volume(name)?;
    let node = state.device_at(&format!("/dev/mapper/{}", group.mapping(name))).unwrap_or_default();
    if let Some(Kind::Mapping(mapping)) = state.devices.get(&node).map(|device| device.kind.clone())
        && let Target::Spread(spread) = mapping.target
    {
        let size = state.size(&node);
        let mismatches = alike(state, &spread, 0, size, call.value("--syncaction") == Some("repair"));
        group.volume(name)?.mismatches = mismatches;
        return state.put_group(&mut group);
    }
    Err(bad("Command on LV is only possible with raid volumes"))
}

pub(crate) fn lvs(state: &mut State, call: &Call<'_>) -> Did {
    let wanted = call.last();
    let (name, only) = wanted.split_once('/').map_or((wanted, None), |(group, volume)| (group, Some(volume)));
    let group = state.group(name)?;
    let mut text = String::new();
    for volume in group.volumes.iter().filter(|volume| only.is_none_or(|only| volume.name == only)) {
        let raid = Level::parse(&volume.kind).is_some_and(Level::is_redundant);
        let field = |field: &str| match field {
            "sync_percent" if raid => "100.00".to_owned(),
            "raid_sync_action" if raid => "idle".to_owned(),
            "raid_mismatch_count" if raid => volume.mismatches.to_string(),
            "lv_name" => volume.name.clone(),
            _ => String::new(),
        };
        let fields: Vec<String> = call.value("--options").unwrap_or_default().split(',').map(field).collect();
        text.push_str(&format!("  {}\n", fields.join(" ")));
        if call.has("--all")
            && volume.tagged
            && call.value("--options").is_some_and(|options| options.contains("integritymismatches"))
        {
            (0..volume.legs.len()).for_each(|leg| text.push_str(&format!("  [{}_rimage_{leg}] 0\n", volume.name)));
        }
    }
    say(text)
}
